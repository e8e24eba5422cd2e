//! What a person would name of the scenes of Mesit 2010, as numbers.

use pliant::Soft;
use pliant::scene::Scene;

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

/// The scenes of chapter 6 that differ in α, β and γ, five breaths each.
pub(super) fn lungs() -> Result<Vec<Row>, CliError> {
    let lung = |name: &str, value: f32| {
        let set = [0, 1].map(|k| format!("soft.{k}.controls.{name}={value}"));
        after("lung", &set, LUNG_TIME)
    };
    let best = lung("alpha", 3.0)?;
    let mut rows = vec![Row::absolute(
        "lung, alpha 3, gamma 1: volume after five breaths over that at the start",
        share(&best),
        1.0,
        RETURN_TOLERANCE,
    )];
    let floppy = share(&lung("alpha", 0.25)?);
    rows.push(below(
        "lung, alpha 0.25: it must not return: 2 % over how far it is off",
        RETURN_TOLERANCE,
        (floppy - 1.0).abs(),
    ));
    let strong = share(&lung("alpha", 4.0)?);
    rows.push(below(
        "lung, alpha 4: volume over that at the start, which must be below 1",
        strong,
        1.0,
    ));
    for gamma in [1.5, 2.0] {
        let wide = share(&lung("gamma", gamma)?);
        rows.push(below(
            format!("lung, gamma {gamma}: it must end larger: 1.02 over its volume"),
            1.0 + RETURN_TOLERANCE,
            wide,
        ));
    }
    let mut last = lung("beta", 0.25)?.bumpiness();
    for beta in [0.5f32, 0.75, 1.0, 2.0] {
        let next = if beta == 1.0 {
            best.bumpiness()
        } else {
            lung("beta", beta)?.bumpiness()
        };
        rows.push(below(
            format!("lung: bumpiness before that of beta {beta}, which must be larger, in degrees"),
            last,
            next,
        ));
        last = next;
    }
    Ok(rows)
}
