//! `pliant run` on small scenes: what it prints and what it leaves behind.

use crate::common::{DAM, Folder, JET, Run, is_png};

/// The scene of [`DAM`] in JSON.
const DAM_JSON: &str = r#"{
  "title": "Small dam break", "duration": 0.1, "frame": 0.01,
  "fluid": [{
    "name": "water", "material": "water", "surface_tension": 0, "spacing": 0.05,
    "fill": [{ "region": { "box": { "min": [0, 0, 0], "max": [0.3, 0.4, 0.3] } } }]
  }],
  "obstacle": [{
    "name": "tank", "shape": { "box": { "min": [0, 0, 0], "max": [0.8, 0.6, 0.3] } }
  }],
  "probe": [{ "name": "foot", "position": [0.1, 0.05, 0.15] }]
}"#;

#[test]
fn leaves_pictures_charts_and_data() {
    let folder = Folder::new("run-files");
    folder.write("dam.toml", DAM);
    let run = folder.pliant("run dam.toml --out o --duration 0.01").fine();
    for word in [
        "scene",
        "simulated",
        "wall time",
        "particles",
        "hash",
        "results",
    ] {
        assert!(run.stdout.contains(word), "{word}: {}", run.stdout);
    }
    assert_eq!(
        folder.list("o"),
        [
            "checkpoint.pliant",
            "data",
            "energy.png",
            "frames",
            "particles.pvd",
            "probes.csv",
            "probes_density.png",
            "probes_pressure.png",
            "probes_velocity.png",
            "scene.toml",
            "series.csv",
            "stages.png",
            "summary.json"
        ]
    );
    for picture in [
        "energy.png",
        "stages.png",
        "probes_pressure.png",
        "frames/frame_00000.png",
        "frames/frame_00001.png",
    ] {
        assert!(is_png(&folder.path(&format!("o/{picture}"))), "{picture}");
    }
    assert_eq!(folder.pvd("o/particles.pvd").len(), 2);
    assert_eq!(
        folder.list("o/data"),
        [
            "particles_00000.ply",
            "particles_00000.vtu",
            "particles_00001.ply",
            "particles_00001.vtu",
            "tank.vtu"
        ]
    );
    assert_eq!(folder.text("o/scene.toml"), DAM);
}

#[test]
fn writes_a_row_per_frame_and_a_summary() {
    let folder = Folder::new("run-rows");
    folder.write("dam.toml", DAM);
    let run = folder
        .pliant("run dam.toml --out o --json --quiet --no-pictures")
        .fine();
    assert_eq!(run.stdout.lines().count(), 1);
    assert_eq!(run.stderr, "");
    let summary = run.json();
    for key in [
        "scene",
        "steps",
        "simulated_s",
        "wall_s",
        "ms_per_step",
        "real_time_factor",
        "particles",
        "leaked",
        "kinetic_j",
        "hash",
    ] {
        assert!(!summary[key].is_null(), "{key} is missing: {summary}");
    }
    assert_eq!(summary["scene"], "dam");
    assert_eq!(summary["particles"], 6 * 8 * 6);
    assert_eq!(summary["leaked"], 0);
    assert_eq!(summary["interrupted"], false);
    assert!((summary["simulated_s"].as_f64().unwrap() - 0.1).abs() < 1e-6);
    let written: serde_json::Value = serde_json::from_str(&folder.text("o/summary.json")).unwrap();
    assert_eq!(written, summary);

    let series = folder.csv("o/series.csv");
    let frames: Vec<f64> = series.iter().map(|r| r[0]).collect();
    assert_eq!(frames, (0..=10).map(f64::from).collect::<Vec<_>>());
    let header = folder.text("o/series.csv");
    let columns = header.lines().next().unwrap();
    assert!(columns.starts_with("frame,time_s,") && columns.contains("force_tank_y_n"));
    let probes = folder.csv("o/probes.csv");
    assert_eq!(probes.len(), 11);
    // 0.05 m above the floor of a column of 0.4 m there is water.
    assert!(probes[10][2] > 500.0, "{:?}", probes[10]);

    let pvd = folder.pvd("o/particles.pvd");
    assert_eq!(pvd.len(), 11);
    for ((time, _), row) in pvd.iter().zip(&series) {
        assert_eq!(*time, row[1]);
    }
    assert!(folder.list("o/frames").is_empty());
    assert!(folder.list("o").iter().all(|f| f != "frames"));
}

#[test]
fn toml_and_json_threads_and_runs_agree_to_the_bit() {
    let folder = Folder::new("run-same");
    folder.write("dam.toml", DAM);
    folder.write("dam.json", DAM_JSON);
    folder.write("jet.toml", JET);
    let hash = |arguments: &str| {
        folder
            .pliant(&format!("run {arguments} --dry --json"))
            .fine()
            .hash()
    };
    let dam = hash("dam.toml -n 1");
    assert_eq!(hash("dam.toml -n 2"), dam);
    assert_eq!(hash("dam.toml"), dam);
    assert_eq!(hash("dam.json"), dam);
    assert_eq!(hash("jet.toml -n 1"), hash("jet.toml -n 2"));
    assert_eq!(folder.list(".").len(), 3);
}

#[test]
fn set_changes_a_value() {
    let folder = Folder::new("run-set");
    folder.write("dam.toml", DAM);
    let run = |set: &str| {
        folder
            .pliant(&format!("run dam.toml --dry --json {set}"))
            .fine()
            .json()
    };
    let plain = run("");
    let thick = run("--set fluid.0.viscosity=50");
    assert_ne!(plain["hash"], thick["hash"]);
    assert!(thick["kinetic_j"].as_f64() < plain["kinetic_j"].as_f64());
    // By name, and with a key that the file does not have.
    assert_eq!(thick["hash"], run("--set fluid.water.viscosity=50")["hash"]);
    let floating = run("--set gravity.acceleration=[0,0,0] --set duration=0.05");
    assert!(floating["kinetic_j"].as_f64() < Some(0.1));
    assert_eq!(floating["frames"], 5);
}

#[test]
fn dry_and_the_no_flags_leave_files_out() {
    let folder = Folder::new("run-no");
    folder.write("dam.toml", DAM);
    folder.pliant("run dam.toml --dry --duration 0.02").fine();
    assert_eq!(folder.list("."), ["dam.toml"]);
    folder
        .pliant("run dam.toml --no-data --no-pictures --duration 0.02 --out o")
        .fine();
    assert_eq!(
        folder.list("o"),
        [
            "checkpoint.pliant",
            "energy.png",
            "probes.csv",
            "probes_density.png",
            "probes_pressure.png",
            "probes_velocity.png",
            "scene.toml",
            "series.csv",
            "stages.png",
            "summary.json"
        ]
    );
}

#[test]
fn results_are_not_overwritten_unasked() {
    let folder = Folder::new("run-folders");
    folder.write("dam.toml", DAM);
    let run = |more: &str| {
        folder.pliant(&format!(
            "run dam.toml --no-data --no-pictures --quiet --duration 0.02 {more}"
        ))
    };
    for _ in 0..3 {
        run("").fine();
    }
    assert_eq!(folder.list("out"), ["dam", "dam-2", "dam-3"]);
    run("--out mine").fine();
    let before = folder.text("mine/summary.json");
    run("--out mine").refused(&["the folder mine is not empty", "--force"]);
    assert_eq!(folder.text("mine/summary.json"), before);
    // Forced, it replaces the results but not what somebody else put there.
    folder.write("mine/notes.txt", "keep");
    folder.write("mine/scene.json", "{}");
    run("--out mine --force").fine();
    assert_ne!(folder.text("mine/summary.json"), before);
    assert_eq!(folder.text("mine/notes.txt"), "keep");
    assert!(!folder.path("mine/scene.json").exists());
}

#[test]
fn names_of_obstacles_cannot_hide_each_other() {
    let folder = Folder::new("run-names");
    let plane = |name: &str, y: f32| {
        format!(
            "[[obstacle]]\nname = \"{name}\"\nshape = {{ box = {{ min = [0, {y}, 0], max = [1, {}, 1] }} }}\n",
            y + 0.5
        )
    };
    let names = [
        ("a b", -1.0),
        ("a-b", -2.0),
        ("particles_00001", -3.0),
        ("../x", -4.0),
    ];
    let more: String = names.iter().map(|(n, y)| plane(n, *y)).collect();
    folder.write("dam.toml", format!("{DAM}{more}"));
    folder
        .pliant("run dam.toml --no-pictures --duration 0.01 --out o")
        .fine();
    let data = folder.list("o/data");
    for mesh in ["a_b.vtu", "a_b_2.vtu", "___x.vtu", "00001_2.vtu"] {
        assert!(data.contains(&mesh.to_string()), "{mesh}: {data:?}");
    }
    let header = folder.text("o/series.csv");
    let mut columns: Vec<&str> = header.lines().next().unwrap().split(',').collect();
    let count = columns.len();
    columns.sort_unstable();
    columns.dedup();
    assert_eq!(columns.len(), count);
}

#[test]
fn lists_prints_and_checks_scenes() {
    let folder = Folder::new("run-scenes");
    let list = folder.pliant("scenes").fine().stdout;
    for (name, text) in pliant::scene::SHIPPED {
        assert!(list.contains(name), "{name}");
        let printed = folder.pliant(&format!("scenes {name}")).fine().stdout;
        assert_eq!(printed.trim_end(), text.trim_end());
        let check = folder.pliant(&format!("check {name}")).fine().stdout;
        assert!(
            ["particles", "tetrahedra", "springs"]
                .iter()
                .any(|word| check.contains(word)),
            "{check}"
        );
        assert!(check.contains("fine"), "{check}");
        assert!(!check.contains("wrong side"), "{check}");
    }
    folder.write("jet.toml", JET);
    let check = folder.pliant("check jet.toml").fine().stdout;
    assert!(check.contains("`floor`: a plane"), "{check}");
    assert!(check.contains("0.2 s in 10 frames"), "{check}");
    let schema = folder.pliant("schema").fine();
    let schema: serde_json::Value = serde_json::from_str(&schema.stdout).unwrap();
    assert_eq!(schema["title"], "Pliant scene");
    assert!(schema["properties"]["fluid"]["description"].is_string());
    assert!(folder.list(".") == ["jet.toml"]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new("run-pipe");
    let shell = |script: &str| {
        let mut command = std::process::Command::new("sh");
        command
            .args(["-c", script])
            .env("PLIANT", env!("CARGO_BIN_EXE_pliant"));
        Run::of(&mut command)
    };
    let run = shell(r#""$PLIANT" schema | true; "$PLIANT" scenes | head -1"#);
    assert_eq!(run.stderr, "");
    if cfg!(target_os = "linux") {
        shell(r#""$PLIANT" scenes > /dev/full"#).refused(&["cannot print"]);
    }
    drop(folder);
}

/// A ball that hangs in the air without weight: still from the start.
const BALL: &str = r#"
title = "A ball"
duration = 1.0
frame = 0.01
gravity = { acceleration = [0, 0, 0] }
[[soft]]
name = "ball"
shape = { ball = { center = [0, 0.2, 0], radius = 0.1, cuts = 1 } }
controls = { alpha = 1, beta = 0, gamma = 0, delta = 1 }
"#;

#[test]
fn ends_when_nothing_moves_any_more() {
    let folder = Folder::new("run-still");
    folder.write("ball.toml", BALL);
    let run = folder
        .pliant("run ball.toml --dry --json --until-still 0.001")
        .fine();
    let summary = run.json();
    assert_eq!(summary["frames"], 10);
    assert_eq!(summary["interrupted"], false);
}

#[test]
fn bodies_are_coloured_by_their_bumps() {
    let folder = Folder::new("run-bumps");
    folder.write("ball.toml", BALL);
    let picture = |set: &str| {
        folder
            .pliant(&format!(
                "run ball.toml --out o --force --duration 0.01 {set}"
            ))
            .fine();
        std::fs::read(folder.path("o/frames/frame_00001.png")).unwrap()
    };
    assert_ne!(picture(""), picture("--set picture.bodies=bumpiness"));
}
