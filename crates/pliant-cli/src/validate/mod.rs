//! `pliant validate`: physics against analytic and measured references.
//!
//! Every case states its tolerance before the run; a case that fails is reported
//! as failed and ends the command with exit code 1.

mod buoyancy;
mod cantilever;
mod conservation;
mod dam_break;
mod drops;
mod exchange;
mod glass;
mod honey;
mod hydrostatic;
mod ideal_column;
mod leaks;
mod pile;
mod poiseuille;
mod soft;
mod soft_scenes;
mod soft_tube;
mod solids;
mod tension;
mod water_on_plate;

use std::process::ExitCode;

use serde::Serialize;

use crate::cli::ValidateArgs;
use crate::error::CliError;
use crate::report::Report;

/// One comparison with a reference.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What is compared, with its unit.
    pub quantity: String,
    /// What the engine gives.
    pub value: f64,
    /// What it should give.
    pub reference: f64,
    /// The difference, relative unless the quantity says otherwise.
    pub error: f64,
    /// The largest difference allowed, fixed beforehand.
    pub tolerance: f64,
    /// True if the error is within the tolerance.
    pub pass: bool,
}

impl Row {
    /// Compares relative to the reference.
    pub fn relative(
        quantity: impl Into<String>,
        value: f64,
        reference: f64,
        tolerance: f64,
    ) -> Row {
        let error = (value - reference).abs() / reference.abs().max(f64::MIN_POSITIVE);
        Row::with_error(quantity, value, reference, error, tolerance)
    }

    /// Compares by difference.
    pub fn absolute(
        quantity: impl Into<String>,
        value: f64,
        reference: f64,
        tolerance: f64,
    ) -> Row {
        let error = (value - reference).abs();
        Row::with_error(quantity, value, reference, error, tolerance)
    }

    /// A comparison whose error was measured in its own way.
    pub fn with_error(
        quantity: impl Into<String>,
        value: f64,
        reference: f64,
        error: f64,
        tolerance: f64,
    ) -> Row {
        Row {
            quantity: quantity.into(),
            value,
            reference,
            error,
            tolerance,
            // A NaN is a failure.
            pass: error <= tolerance,
        }
    }
}

/// A group of comparisons that one simulation, or a few, answer.
struct Case {
    name: &'static str,
    about: &'static str,
    run: fn(&ValidateArgs) -> Result<Vec<Row>, CliError>,
}

const CASES: [Case; 18] = [
    hydrostatic::CASE,
    dam_break::CASE,
    conservation::CASE,
    leaks::CASE,
    leaks::BODIES_CASE,
    poiseuille::CASE,
    honey::CASE,
    glass::CASE,
    tension::CASE,
    cantilever::CASE,
    solids::CASE,
    pile::CASE,
    drops::CASE,
    soft::CASE,
    buoyancy::CASE,
    water_on_plate::CASE,
    exchange::CASE,
    soft_tube::CASE,
];

/// What cannot be built is reported as it is.
fn fault(e: impl std::fmt::Display) -> CliError {
    CliError::Usage(e.to_string())
}

/// Runs the named case, or all.
pub fn run(args: &ValidateArgs, report: &mut Report) -> Result<ExitCode, CliError> {
    let wanted = |case: &&Case| args.name.as_deref().is_none_or(|n| n == case.name);
    if CASES.iter().filter(wanted).count() == 0 {
        let known: Vec<&str> = CASES.iter().map(|c| c.name).collect();
        return Err(CliError::Usage(format!(
            "there is no case `{}`; known: {}",
            args.name.as_deref().unwrap_or_default(),
            known.join(", ")
        )));
    }
    let mut failed = 0;
    report.page(
        "Validation",
        "This page is printed by `pliant validate --markdown --out docs`; `--full` adds the long \
         runs. Tolerances are fixed before the first run of a case and not widened after it; where the way of measuring was changed later, the case says so. Chart of the dam break: \
         [docs/dam_break.png](docs/dam_break.png).",
    );
    for case in CASES.iter().filter(wanted) {
        report.table(case.name, case.about);
        for row in (case.run)(args)? {
            failed += usize::from(!row.pass);
            report.row(&[("case", case.name)], &row);
        }
        report.end();
    }
    if failed > 0 {
        report.note(&format!("{failed} comparisons failed"));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
