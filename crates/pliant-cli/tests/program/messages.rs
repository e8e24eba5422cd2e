//! What is wrong is said on standard error, with file, line and what would be
//! right; exit code 2; nothing is written.

use std::time::{Duration, Instant};

use crate::common::{DAM, Folder, JET};

/// Runs [`DAM`] with one part replaced, and expects a message with these parts.
fn refuses(folder: &Folder, old: &str, new: &str, parts: &[&str]) {
    assert!(DAM.contains(old), "{old}");
    folder.write("s.toml", DAM.replace(old, new));
    let clock = Instant::now();
    let run = folder.pliant("run s.toml --quiet");
    run.refused(parts);
    assert!(clock.elapsed() < Duration::from_secs(5), "{new}: too slow");
    assert!(!folder.path("out").exists(), "{new}: something was written");
}

#[test]
fn keys_and_types() {
    let folder = Folder::new("messages-keys");
    for (old, new, parts) in [
        (
            "spacing = 0.05",
            "spaceing = 0.05",
            &[
                "s.toml:9:1: unknown key `spaceing`",
                "did you mean `spacing`?",
                "^^^^^^^^",
            ][..],
        ),
        (
            "duration = 0.1",
            "duration = \"long\"",
            &["s.toml:2:12: this is the text \"long\", but a number is needed here"],
        ),
        (
            "spacing = 0.05\n",
            "",
            &["s.toml:5:1: the key `spacing` is missing"],
        ),
        (
            "duration = 0.1\n",
            "",
            &[
                "s.toml:1:1: the key `duration` is missing",
                "help: `duration`: Simulated time",
            ],
        ),
        (
            "max = [0.3, 0.4, 0.3]",
            "max = [0.3, 0.4]",
            &["s.toml:12:43: this is a list of 2, but a list of 3 numbers is needed"],
        ),
        (
            "shape = { box",
            "shape = { boks",
            &["s.toml:16:11: unknown value `boks`", "did you mean `box`?"],
        ),
        (
            "duration = 0.1",
            "duration 0.1",
            &["s.toml:2:10: ", "expected `=`"],
        ),
        (
            "material = \"water\"",
            "material = \"watre\"",
            &[
                "s.toml:7:12: there is no material `watre`",
                "did you mean `water`?",
                "honey",
            ],
        ),
        (
            "name = \"tank\"",
            "name = \"\"",
            &["s.toml:15:8: `name` must not be empty"],
        ),
        (
            "[[probe]]",
            "[[fluid]]\nname = \"oil\"\nspacing = 0.04\n[[probe]]",
            &[
                "s.toml:20:11: `spacing` is 0.04, but 0.05 for `water`",
                "liquids of one scene share it",
            ],
        ),
        (
            "[[fluid.fill]]\nregion = { box = { min = [0, 0, 0], max = [0.3, 0.4, 0.3] } }\n",
            "",
            &[
                "s.toml:5:1: fluid `water` has no particles",
                "[[fluid.fill]]",
            ],
        ),
    ] {
        refuses(&folder, old, new, parts);
    }
}

#[test]
fn numbers_that_make_no_sense() {
    let folder = Folder::new("messages-numbers");
    let time = "but must be a positive time";
    for (old, new, parts) in [
        (
            "surface_tension = 0",
            "density = -5",
            &["s.toml:8:11: `density` is -5", "above 0"][..],
        ),
        (
            "surface_tension = 0",
            "viscosity = -1",
            &["s.toml:8:13: `viscosity` is -1", "0 or more"],
        ),
        (
            "spacing = 0.05",
            "spacing = -0.05",
            &["s.toml:9:11: `spacing` is -0.05", "above 0"],
        ),
        (
            "spacing = 0.05",
            "spacing = nan",
            &["s.toml:9:11: `spacing` is NaN", "above 0"],
        ),
        (
            "spacing = 0.05",
            "spacing = 1e-9",
            &["s.toml:9:11", "between 0.000001 and 10000"],
        ),
        (
            "spacing = 0.05",
            "spacing = 0.05\nsupport = 9",
            &["s.toml:10:11", "between 1.2 and 4"],
        ),
        (
            "frame = 0.01",
            "frame = 0",
            &["s.toml:3:9: `frame` is 0 s", time],
        ),
        (
            "frame = 0.01",
            "frame = -1",
            &["s.toml:3:9: `frame` is -1 s", time],
        ),
        (
            "frame = 0.01",
            "frame = nan",
            &["s.toml:3:9: `frame` is NaN s", time],
        ),
        (
            "frame = 0.01",
            "frame = 3",
            &["s.toml:3:9", "longer than the whole duration, 0.1 s"],
        ),
        (
            "duration = 0.1",
            "duration = 0",
            &["s.toml:2:12: `duration` is 0 s", time],
        ),
        (
            "duration = 0.1",
            "duration = -2",
            &["s.toml:2:12: `duration` is -2 s", time],
        ),
        (
            "duration = 0.1",
            "duration = inf",
            &["s.toml:2:12: `duration` is inf s", time],
        ),
        (
            "duration = 0.1",
            "duration = 1e30",
            &["s.toml:2:12", "frames", "at most"],
        ),
        (
            "position = [0.1, ",
            "position = [nan, ",
            &["s.toml:20:12: `position`", "within ±1e6 m"],
        ),
        (
            "[[probe]]",
            "[camera]\nfov = 0\n[[probe]]",
            &["s.toml:19:7: `fov` is 0", "between 1 and 170"],
        ),
        (
            "name = \"tank\"",
            "name = \"tank\"\nfriction = -1",
            &["s.toml:16:12: `friction` is -1", "0 or more"],
        ),
        (
            "max = [0.8, 0.6, 0.3]",
            "max = [0.8, -0.6, 0.3]",
            &["s.toml:16:9: obstacle `tank`"],
        ),
    ] {
        refuses(&folder, old, new, parts);
    }
}

#[test]
fn fills_and_emitters() {
    let folder = Folder::new("messages-fills");
    refuses(
        &folder,
        "max = [0.3, 0.4, 0.3]",
        "max = [0.02, 0.4, 0.3]",
        &["s.toml:11:1: the space holds no particle", "larger"],
    );
    refuses(
        &folder,
        "max = [0.3, 0.4, 0.3]",
        "max = [300, 400, 300]",
        &[
            "s.toml:11:1: the space would hold about 2.9e11 particles",
            "max_particles",
            "raise",
        ],
    );
    refuses(
        &folder,
        "spacing = 0.05",
        "spacing = 0.05\nmax_particles = 100",
        &[
            "s.toml:12:1: the space would hold about 2.9e2 particles",
            "`max_particles` is 100",
        ],
    );
    refuses(
        &folder,
        "[[obstacle]]",
        "[[fluid.fill]]\nregion = { box = { min = [0.02, 0.2, 0.02], max = [0.22, 0.5, 0.22] } }\n[[obstacle]]",
        &[
            "s.toml:14:1: fluid `water`: particles of fill 1 and fill 2 overlap",
            "move the fills apart",
        ],
    );
    refuses(
        &folder,
        "[[obstacle]]",
        "[[fluid.fill]]\nmesh = \"tonk\"\n[[obstacle]]",
        &["s.toml:14:1", "`tonk`", "known: tank"],
    );
    refuses(
        &folder,
        "[[fluid.fill]]\nregion = { box = { min = [0, 0, 0], max = [0.3, 0.4, 0.3] } }",
        "[[fluid.fill]]\ncount = 10",
        &["s.toml:11:1: a fill needs a box, a ball or a closed mesh"],
    );
    folder.write("jet.toml", JET.replace("radius = 0.12", "radius = 1e5"));
    folder
        .pliant("run jet.toml --dry")
        .refused(&["jet.toml:13:10: a nozzle of this radius", "smaller"]);
    folder.write("jet.toml", JET.replace("speed = 3", "speed = 3\nrate = 1"));
    folder
        .pliant("run jet.toml --dry")
        .refused(&["jet.toml:14:9: give either `speed` (m/s) or `rate`"]);
}

#[test]
fn json_scenes_have_lines_too() {
    let folder = Folder::new("messages-json");
    let scene = |fluid: &str| {
        format!(
            "{{\n  \"title\": \"x\", \"duration\": 1,\n  \"fluid\": [{{\n    {fluid}\n  }}]\n}}\n"
        )
    };
    let fill =
        "\"fill\": [{ \"region\": { \"sphere\": { \"center\": [0, 0, 0], \"radius\": 1 } } }]";
    for (fluid, parts) in [
        (
            format!("\"spacing\": -1, {fill}"),
            &["s.json:4:16: `spacing` is -1", "4 |", "^^"][..],
        ),
        (
            format!("\"spacing\": 0.2, \"materal\": \"oil\", {fill}"),
            &["s.json:4:", "did you mean `material`?"],
        ),
        (
            format!("\"spacing\": \"wide\", {fill}"),
            &["s.json:4:", "a number is needed here"],
        ),
        (
            format!("\"spacing\": 5, {fill}"),
            &["s.json:4:28: the space holds no particle"],
        ),
        (
            format!("\"spacing\": 0.2 {fill}"),
            &["s.json:4:", "expected `,` or `}`"],
        ),
    ] {
        folder.write("s.json", scene(&fluid));
        folder.pliant("run s.json").refused(parts);
    }
    // A long line is shown in part.
    let long = format!(
        "{{\"title\": \"{}\", \"duration\": -1}}",
        "x".repeat(100_000)
    );
    folder.write("s.json", long);
    let run = folder.pliant("run s.json").refused(&["`duration` is -1 s"]);
    assert!(run.stderr.len() < 1000, "{}", run.stderr.len());
    assert!(!folder.path("out").exists());
}

#[test]
fn meshes() {
    let folder = Folder::new("messages-meshes");
    let box_shape = "{ box = { min = [0, 0, 0], max = [0.8, 0.6, 0.3] } }";
    let mesh = "{ mesh = { file = \"tank.obj\", closed = true } }";
    refuses(
        &folder,
        box_shape,
        mesh,
        &["s.toml:16:9: obstacle `tank`", "tank.obj", "No such file"],
    );
    // A tetrahedron without its last face.
    folder.write(
        "tank.obj",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n",
    );
    refuses(
        &folder,
        box_shape,
        mesh,
        &[
            "s.toml:16:9: obstacle `tank`: a closed mesh is needed",
            "3 border edges",
            "close the hole",
        ],
    );
    refuses(
        &folder,
        "name = \"tank\"\nshape = { box = { min = [0, 0, 0], max = [0.8, 0.6, 0.3] } }",
        "name = \"tank\"\nshape = { mesh = { file = \"tank.obj\" } }\nindex = \"sdf\"",
        &["s.toml:17:9: obstacle `tank`", "use index = \"hash\""],
    );
    folder.write("tank.obj", "v 0 0 0\nv 1 0 0\nv 0 one 0\nf 1 2 3\n");
    refuses(
        &folder,
        box_shape,
        mesh,
        &["s.toml:16:9", "tank.obj", "line 3", "one"],
    );
    folder.write("tank.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n");
    refuses(
        &folder,
        box_shape,
        mesh,
        &["s.toml:16:9", "tank.obj", "line 4", "9"],
    );
    folder.write("tank.obj", "");
    refuses(
        &folder,
        box_shape,
        mesh,
        &["s.toml:16:9: obstacle `tank`", "no vertices"],
    );
    refuses(
        &folder,
        box_shape,
        "{ sphere = { center = [0, 0, 0], radius = 1, segments = 4000000 } }",
        &["s.toml:16:9", "`segments` is 4000000", "at most"],
    );
}

#[test]
fn the_command_line() {
    let folder = Folder::new("messages-line");
    folder.write("s.toml", DAM);
    for (arguments, parts) in [
        ("", &["Usage: pliant <COMMAND>", "run"][..]),
        ("run", &["<SCENE>"]),
        ("runn s.toml", &["'runn'", "'run'"]),
        (
            "run colom",
            &["colom: there is no shipped scene", "did you mean `colon`?"],
        ),
        ("check colom", &["did you mean `colon`?"]),
        ("scenes colom", &["did you mean `colon`?"]),
        (
            "run missing.toml",
            &["missing.toml: cannot read the scene", "No such file"],
        ),
        ("run .", &[".: cannot read the scene"]),
        ("run s.toml -n 0", &["-n 0", "from 1 to"]),
        ("run s.toml -n 99999999", &["-n 99999999", "from 1 to"]),
        ("bench -n 0", &["-n 0"]),
        (
            "run s.toml --duration 0",
            &["--duration 0: must be a positive time"],
        ),
        (
            "run s.toml --duration -1",
            &["--duration -1: must be a positive time"],
        ),
        (
            "run s.toml --duration nan",
            &["--duration NaN: must be a positive time"],
        ),
        (
            "run s.toml --duration 0.001",
            &["s.toml:3:9: a frame of 0.01 s is longer"],
        ),
        (
            "run s.toml --set viscosity",
            &["--set viscosity: this is not of the form key=value"],
        ),
        (
            "run s.toml --set dration=1",
            &["--set dration=1: unknown key", "did you mean `duration`?"],
        ),
        (
            "run s.toml --set fluid.7.spacing=1",
            &["--set fluid.7.spacing=1: there is no `7`", "list of 1"],
        ),
        (
            "run s.toml --set rigid.0.density=1",
            &["--set rigid.0.density=1: this scene has no `rigid`"],
        ),
        (
            "run s.toml --set title.x=1",
            &["--set title.x=1", "has no keys"],
        ),
        (
            "run s.toml --set frame=fast",
            &["--set frame=fast: this is the text \"fast\"", "a number"],
        ),
        (
            "run s.toml --set frame=-1",
            &["--set frame=-1: `frame` is -1 s"],
        ),
        (
            "run s.toml --set fluid.water.viscosity=nan",
            &["viscosity=nan", "finite"],
        ),
        (
            "run s.toml --set fluid.water.spacing=-1",
            &["--set fluid.water.spacing=-1: `spacing` is -1"],
        ),
        ("run --resume none.pliant", &["none.pliant", "No such file"]),
        ("run s.toml --resume x", &["cannot be used with"]),
        (
            "bench nonsense",
            &["no benchmark `nonsense`", "known: neighbours"],
        ),
        (
            "validate nonsense",
            &["no case `nonsense`", "known: hydrostatic"],
        ),
        (
            "run s.toml --out s.toml/below",
            &["s.toml/below", "cannot write"],
        ),
        ("run s.toml --out s.toml", &["s.toml", "cannot write"]),
    ] {
        folder.pliant(arguments).refused(parts);
        assert_eq!(
            folder.list("."),
            ["s.toml"],
            "{arguments}: something was written"
        );
    }
    assert_eq!(folder.text("s.toml"), DAM);
}

#[test]
fn checkpoints() {
    let folder = Folder::new("messages-checkpoints");
    folder.write("s.toml", DAM);
    folder
        .pliant("run s.toml --no-pictures --no-data --quiet --out o --duration 0.02")
        .fine();
    let good = std::fs::read(folder.path("o/checkpoint.pliant")).unwrap();
    let resume = |name: &str, bytes: &[u8], parts: &[&str]| {
        folder.write(name, bytes);
        folder
            .pliant(&format!("run --resume {name} --out p --duration 0.1"))
            .refused(&[&[name], parts].concat());
        assert!(!folder.path("p").exists());
    };
    for at in [30, good.len() / 2, good.len() - 1] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        resume("flipped", &bad, &["damaged", "checksum"]);
    }
    resume("cut", &good[..good.len() - 100], &["damaged", "length"]);
    resume("short", &good[..15], &["damaged", "too early"]);
    resume("empty", &[], &["not a pliant checkpoint"]);
    resume("other", b"v 0 0 0\nf 1 1 1\n", &["not a pliant checkpoint"]);
    let mut old = good.clone();
    old[8..12].copy_from_slice(&99u32.to_le_bytes());
    resume("version", &old, &["format version 99", "reads version"]);
}

#[test]
fn a_fixed_step_too_large_is_refused_before_anything_is_written() {
    let folder = Folder::new("messages-fixed");
    refuses(
        &folder,
        "frame = 0.01\n",
        "frame = 0.01\n\n[step]\nfixed = 0.5\n",
        &[
            "s.toml:6:9",
            "a fixed sub-step of 5.000e-1 s is too large",
            "acceleration",
            "at most",
        ],
    );
    folder
        .pliant("check s.toml --set fluid.0.pressure=weakly-compressible")
        .refused(&["s.toml:6:9", "too large", "lower `sound_speed`"]);
    folder.write("s.toml", DAM);
    let compressible = "--set fluid.0.pressure=weakly-compressible";
    folder
        .pliant(&format!(
            "run s.toml {compressible} --set fluid.0.viscosity=1e6 --set step.fixed=1e-4"
        ))
        .refused(&[
            "--set step.fixed=1e-4",
            "viscosity allows at most",
            "lower `viscosity`",
        ]);
    assert!(!folder.path("out").exists());
}
