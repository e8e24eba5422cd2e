//! Scenes that cannot be simulated: diagnosed, never a panic.

use crate::common::{DAM, Folder, JET, is_png};

#[test]
fn a_scene_that_blows_up_is_diagnosed() {
    let folder = Folder::new("messages-blow-up");
    // A pull that tears the liquid apart once it has moved into its region.
    let pull = "[[field]]\nregion = { box = { min = [0.33, -1, -1], max = [2, 2, 2] } }\n\
                action = { uniform = [1e9, 0, 0] }\n[step]\nfixed = 1e-3\n";
    let scene = format!("{DAM}{pull}").replace("duration = 0.1", "duration = 1");
    folder.write("s.toml", scene);
    let run = folder
        .pliant("run s.toml --no-pictures --quiet --out o")
        .refused(&[
            "has blown up",
            "m/s",
            "step.cfl",
            "the last good state, frame ",
            "o/checkpoint.pliant",
        ]);
    let frame = run.stderr.split("state, frame ").nth(1).unwrap();
    let frame: usize = frame.split(' ').next().unwrap().parse().unwrap();
    assert!(frame > 0, "{}", run.stderr);
    let rows = folder.csv("o/series.csv");
    assert_eq!(rows.len(), frame + 1);
    assert!(rows.iter().flatten().all(|v| v.is_finite()));
    assert_eq!(folder.pvd("o/particles.pvd").len(), frame + 1);
    assert!(is_png(&folder.path("o/energy.png")));
    // It is not taken for a whole run.
    assert!(!folder.path("o/summary.json").exists());
    // The state that was kept is the one before.
    folder
        .pliant("run --resume o/checkpoint.pliant --dry --quiet")
        .refused(&["has blown up"]);
}

#[test]
fn absurd_numbers_never_panic() {
    let folder = Folder::new("messages-absurd");
    folder.write("s.toml", DAM);
    folder.write("jet.toml", JET);
    for (scene, set) in [
        ("s", "gravity.acceleration=[0,-1e30,0]"),
        ("s", "gravity.acceleration=[0,-1e38,0]"),
        ("s", "fluid.0.fill.0.velocity=[1e30,0,0]"),
        ("s", "fluid.0.fill.0.velocity=[1e6,0,0]"),
        ("s", "fluid.0.viscosity=1e30"),
        ("s", "fluid.0.density=1e-30"),
        ("s", "fluid.0.density=1e38"),
        ("s", "fluid.0.surface_tension=1e30"),
        ("s", "fluid.0.sound_speed=1e30"),
        ("s", "fluid.0.sound_speed=1e-30"),
        ("s", "fluid.0.numerical_viscosity=1e30"),
        ("s", "step.fixed=1e-30"),
        ("s", "step.cfl=1e-30"),
        ("s", "step.max_substeps=1"),
        ("s", "obstacle.0.friction=1e30"),
        ("s", "obstacle.0.scale=1e-30"),
        ("s", "obstacle.0.scale=1e30"),
        ("jet", "fluid.0.emitter.0.speed=1e30"),
        ("jet", "fluid.0.emitter.0.radius=1e-30"),
    ] {
        let run = folder.pliant(&format!(
            "run {scene}.toml --dry --quiet --duration 0.02 --set step.max_substeps=200 --set {set}"
        ));
        assert!(!run.stderr.contains("panicked"), "{set}: {}", run.stderr);
        assert!(matches!(run.code, Some(0 | 2)), "{set}: {:?}", run.code);
    }
}
