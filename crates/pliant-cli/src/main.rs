//! The program `pliant`.

fn main() {}
