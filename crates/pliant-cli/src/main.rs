//! The program `pliant`: runs, checks and measures scenes.
//!
//! Exit codes: 0 fine, 1 a validation case failed, 2 bad input or no output
//! possible, 130 stopped by Ctrl-C after writing a checkpoint.

/// Prints a line, as `println!` does, but does not panic if nobody can read it.
macro_rules! say {
    ($($text:tt)*) => { crate::print::line(format_args!($($text)*)) };
}

mod bench;
mod cli;
mod error;
mod input;
mod mesh;
mod output;
mod picture;
mod print;
mod render;
mod report;
mod run;
mod scenes;
mod surface;
mod validate;
#[cfg(feature = "view")]
mod view;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};
use error::CliError;
use report::{Format, Report};

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Render(args) => render::render(&args),
        #[cfg(feature = "view")]
        Command::View(args) => view::view(&args),
        #[cfg(not(feature = "view"))]
        Command::View(_) => Err(CliError::Usage(NO_VIEW.into())),
        Command::Surface(args) => surface::surface(&args),
        Command::Scenes { show } => scenes::list(show.as_deref()),
        Command::Check(args) => scenes::check(&args),
        Command::Schema => scenes::schema(),
        Command::Mesh(command) => mesh::run(&command),
        Command::Bench(args) => in_pool(args.threads, || {
            let mut report = Report::new(Format::from(args.format));
            bench::run(&args, &mut report)
        }),
        Command::Validate(args) => in_pool(args.threads, || {
            let mut report = Report::new(Format::from(args.format));
            validate::run(&args, &mut report)
        }),
    };
    match outcome {
        Ok(code) => code,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::from(2)
        }
    }
}

/// The graphics libraries double the time of a build: who wants no window does without.
#[cfg(not(feature = "view"))]
const NO_VIEW: &str = "this program was built without the viewer; build it with \
    `cargo run --release --features view -- view SCENE`";

/// More threads than this are taken for a mistake.
const MOST_THREADS: usize = 1024;

/// Runs `work` with this number of threads, or with one per core.
fn in_pool<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> Result<T, CliError> + Send,
) -> Result<T, CliError> {
    match threads {
        None => work(),
        Some(n) if !(1..=MOST_THREADS).contains(&n) => Err(CliError::Usage(format!(
            "-n {n}: the number of threads must be from 1 to {MOST_THREADS}"
        ))),
        Some(n) => rayon::ThreadPoolBuilder::new()
            .num_threads(n)
            .build()
            .map_err(|e| CliError::Usage(format!("cannot start {n} threads: {e}")))?
            .install(work),
    }
}
