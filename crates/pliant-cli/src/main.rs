//! The program `pliant`.

use std::process::ExitCode;

mod bench;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["bench", "colliders"] => bench_colliders(),
        _ => {
            eprintln!("usage: pliant bench colliders");
            ExitCode::from(2)
        }
    }
}

fn bench_colliders() -> ExitCode {
    let result = bench::colliders::run(&mut |row| match serde_json::to_string(&row) {
        Ok(line) => println!("{line}"),
        Err(error) => eprintln!("{error}"),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
