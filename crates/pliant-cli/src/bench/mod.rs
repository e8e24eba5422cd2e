//! `pliant bench`: measurements of speed and memory, beside published figures.

mod body_time;
mod colliders;
mod colon;
mod coupling;
mod dam_break;
mod fem;
mod hash_size;
mod nearest;
mod neighbours;
#[cfg(feature = "peers")]
mod parry;
mod peak;
mod soft;
mod sph;
mod splishsplash;
mod springs;
mod surface;

use std::process::ExitCode;

use crate::cli::BenchArgs;
use crate::error::CliError;
use crate::report::Report;

type Bench = fn(&BenchArgs, &mut Report) -> Result<(), CliError>;

const ALL: [(&str, Bench); 11] = [
    ("neighbours", neighbours::bench),
    ("colliders", colliders::bench),
    ("nearest", nearest::bench),
    ("sph", sph::bench),
    ("dam-break", dam_break::bench),
    ("colon", colon::bench),
    ("surface", surface::bench),
    ("springs", springs::bench),
    ("fem", fem::bench),
    ("soft", soft::bench),
    ("coupling", coupling::bench),
];

/// Runs the named benchmark, or all of them.
pub fn run(args: &BenchArgs, report: &mut Report) -> Result<ExitCode, CliError> {
    let wanted = |name: &str| args.name.as_deref().is_none_or(|n| n == name);
    if !ALL.iter().any(|(name, _)| wanted(name)) {
        let known: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
        return Err(CliError::Usage(format!(
            "there is no benchmark `{}`; known: {}",
            args.name.as_deref().unwrap_or_default(),
            known.join(", ")
        )));
    }
    if args.peer && args.name.as_deref() != Some("dam-break") {
        return Err(CliError::Usage(
            "--peer is for the benchmark `dam-break`".into(),
        ));
    }
    report.page(
        "Benchmarks",
        &format!(
            "This page is printed by `pliant bench --markdown --out docs`. Figures are medians of \
             one quiet run with {} threads ({}). Charts of the collider table: \
             [500](docs/colliders_500.png), [8,040](docs/colliders_8040.png) and \
             [40,000](docs/colliders_40000.png) triangles.",
            rayon::current_num_threads(),
            std::env::consts::ARCH,
        ),
    );
    for (name, bench) in ALL {
        if wanted(name) {
            bench(args, report)?;
            report.end();
        }
    }
    Ok(ExitCode::SUCCESS)
}
