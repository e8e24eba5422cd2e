//! The program `pliant`.

mod bench;

fn main() -> Result<(), serde_json::Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.len() >= 2 && arguments[..2] == ["bench", "neighbours"] {
        let quick = arguments.iter().any(|a| a == "--quick");
        for row in bench::neighbours::moving_points(quick) {
            println!("{}", serde_json::to_string(&row)?);
        }
        for row in bench::neighbours::cell_sizes(quick) {
            println!("{}", serde_json::to_string(&row)?);
        }
        for row in bench::neighbours::cell_grid(quick) {
            println!("{}", serde_json::to_string(&row)?);
        }
    }
    Ok(())
}
