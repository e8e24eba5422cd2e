//! What a person would name of the scenes of Mesit 2010, as numbers.

use pliant::Soft;
use pliant::scene::Scene;
use rayon::prelude::*;

use super::{Row, fault};
use crate::error::CliError;

/// Fixed before the first run.
const ROUND_TOLERANCE: f64 = 0.03;
const COLLAPSED: f64 = 0.5;
const RETURN_TOLERANCE: f64 = 0.02;
/// Seconds after which the bodies are looked at.
const GLASS_TIME: f64 = 1.2;
const FACE_TIME: f64 = 1.0;
/// Five breaths of four seconds.
const LUNG_TIME: f64 = 20.0;

/// The first soft body of a scene after `seconds`.
fn after(scene: &str, set: &[String], seconds: f64) -> Result<Soft, CliError> {
    let mut built = Scene::open(scene, set)?.build()?;
    let frames = (seconds / 0.02).round() as u32;
    for _ in 0..frames {
        built.world.step(0.02).map_err(fault)?;
    }
    let soft = built.world.softs().next();
    soft.cloned()
        .ok_or_else(|| fault(format!("{scene} has no soft body")))
}

/// `less` must be below `more`.
fn below(quantity: impl Into<String>, less: f64, more: f64) -> Row {
    Row::with_error(quantity, less, more, less / more, 1.0)
}

fn share(soft: &Soft) -> f64 {
    soft.volume() / soft.rest_volume()
}

/// Tables 5-1 and 5-2.
pub(super) fn glasses_and_faces() -> Result<Vec<Row>, CliError> {
    let glass = |letter: &str| after(&format!("wine-glass-{letter}"), &[], GLASS_TIME);
    let [a, b, c] = [glass("a")?, glass("b")?, glass("c")?];
    let [d, e, f] = [glass("d")?, glass("e")?, glass("f")?];
    let mut rows = vec![
        below(
            "wine glass: bumpiness of A, which must be below that of B, in degrees",
            a.bumpiness(),
            b.bumpiness(),
        ),
        below(
            "wine glass: bumpiness of B, which must be below that of C, in degrees",
            b.bumpiness(),
            c.bumpiness(),
        ),
    ];
    for (letter, soft) in [("D", &d), ("E", &e)] {
        rows.push(Row::absolute(
            format!("wine glass: sphericity of {letter}"),
            soft.sphericity(),
            1.0,
            ROUND_TOLERANCE,
        ));
    }
    rows.push(below(
        "wine glass: volume of F over that at the start, which must be below a half",
        share(&f),
        COLLAPSED,
    ));
    let face = |letter: &str| {
        Ok::<_, CliError>(share(&after(&format!("face-{letter}"), &[], FACE_TIME)?) - 1.0)
    };
    let [a, b, c] = [face("a")?, face("b")?, face("c")?];
    let [d, e, f] = [face("d")?, face("e")?, face("f")?];
    for (less, more, low, high) in [
        ("D", "E", d, e),
        ("E", "F", e, f),
        ("D", "A", d, a),
        ("E", "B", e, b),
        ("F", "C", f, c),
    ] {
        rows.push(below(
            format!("face: growth of {less}, which must be below that of {more}"),
            low,
            high,
        ));
    }
    Ok(rows)
}

/// The scenes of chapter 6 that differ in α, β and γ, five breaths each, side by side.
pub(super) fn lungs() -> Result<Vec<Row>, CliError> {
    let runs = [
        ("alpha", 3.0f32),
        ("alpha", 0.25),
        ("alpha", 1.0),
        ("alpha", 4.0),
        ("gamma", 1.5),
        ("gamma", 2.0),
        ("beta", 0.25),
        ("beta", 0.5),
        ("beta", 0.75),
        ("beta", 2.0),
    ];
    let lung = |(name, value): (&str, f32)| {
        let set = [0, 1].map(|k| format!("soft.{k}.controls.{name}={value}"));
        after("lung", &set, LUNG_TIME)
    };
    let softs: Vec<Soft> = runs.into_par_iter().map(lung).collect::<Result<_, _>>()?;
    let volume = |k: usize| share(&softs[k]);
    let mut rows = vec![
        Row::absolute(
            "lung, alpha 3, gamma 1: volume after five breaths over that at the start",
            volume(0),
            1.0,
            RETURN_TOLERANCE,
        ),
        below(
            "lung, alpha 0.25: it must not return: 1.02 over its volume over that at the start",
            1.0 + RETURN_TOLERANCE,
            volume(1),
        ),
        below(
            "lung, alpha 1: volume, which must be below that of alpha 0.25",
            volume(2),
            volume(1),
        ),
        below(
            "lung, alpha 4: volume over that at the start, which must be below 1",
            volume(3),
            1.0,
        ),
        below(
            "lung, gamma 1.5: it must end larger: 1.02 over its volume over that at the start",
            1.0 + RETURN_TOLERANCE,
            volume(4),
        ),
        below(
            "lung, gamma 1.5: volume, which must be below that of gamma 2",
            volume(4),
            volume(5),
        ),
    ];
    // "The volume of the lung is increased for both inhalation and exhalation" (6.4.2).
    let full = |k: usize| {
        let named = softs[k].lung_volumes();
        named.map_or(f64::NAN, |v| v.functional_residual + v.tidal)
    };
    for (less, more, low, high) in [("1", "1.5", 0, 4), ("1.5", "2", 4, 5)] {
        rows.push(below(
            format!(
                "lung, gamma {less}: litres at the end of an inhalation, which must be below \
                 those of gamma {more}"
            ),
            full(low),
            full(high),
        ));
    }
    let by_beta = [(0.25, 6), (0.5, 7), (0.75, 8), (1.0, 0), (2.0, 9)];
    for pair in by_beta.windows(2) {
        let [(less, low), (more, high)] = [pair[0], pair[1]];
        rows.push(below(
            format!(
                "lung: bumpiness with beta {less}, which must be below that with {more}, in degrees"
            ),
            softs[low].bumpiness(),
            softs[high].bumpiness(),
        ));
    }
    Ok(rows)
}
