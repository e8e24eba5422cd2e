//! The program `pliant`: runs, checks and measures scenes.
//!
//! Exit codes: 0 fine, 1 a validation case failed, 2 bad input or no output
//! possible, 130 stopped by Ctrl-C after writing a checkpoint.

mod bench;
mod cli;
mod error;
mod output;
mod report;
mod run;
mod scenes;
mod validate;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};
use error::CliError;
use report::{Format, Report};

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Scenes { show } => scenes::list(show.as_deref()),
        Command::Check(args) => scenes::check(&args),
        Command::Schema => scenes::schema(),
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

/// Runs `work` with this number of threads, or with one per core.
fn in_pool<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> Result<T, CliError> + Send,
) -> Result<T, CliError> {
    match threads {
        None => work(),
        Some(0) => Err(CliError::Usage("-n 0: at least one thread is needed".into())),
        Some(n) => rayon::ThreadPoolBuilder::new()
            .num_threads(n)
            .build()
            .map_err(|e| CliError::Usage(format!("cannot start {n} threads: {e}")))?
            .install(work),
    }
}
