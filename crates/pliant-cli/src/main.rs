//! The program `pliant`.

#[cfg(test)]
mod output;

fn main() {}
