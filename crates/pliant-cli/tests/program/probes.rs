//! What probes of every kind record, and what is said of probes that cannot be.

use crate::common::{DAM, Folder, is_png};

/// One probe of every kind for [`DAM`].
const PROBES: &str = r#"
[[probe]]
name = "gate"
kind = "section"
corners = [[0.3, 0, 0], [0.3, 0.6, 0], [0.3, 0.6, 0.3], [0.3, 0, 0.3]]

[[probe]]
name = "round gate"
kind = "section"
center = [0.3, 0.3, 0.15]
direction = [-1, 0, 0]
radius = 2

[[probe]]
name = "tank"
kind = "obstacle"
obstacle = "tank"

[[probe]]
name = "water"
kind = "fluid"
axis = [1, 0, 0]

[[probe]]
name = "right"
kind = "volume"
region = { box = { min = [0.3, 0, 0], max = [0.8, 0.6, 0.3] } }

[[probe]]
name = "all"
kind = "volume"
obstacle = "tank"
"#;

const HEADER: &str = "frame,time_s,\
foot.density_kg_per_m3,foot.pressure_pa,\
foot.velocity_x_m_per_s,foot.velocity_y_m_per_s,foot.velocity_z_m_per_s,\
gate.flow_m3_per_s,gate.mass_flow_kg_per_s,gate.passed_m3,gate.passed_kg,\
round_gate.flow_m3_per_s,round_gate.mass_flow_kg_per_s,round_gate.passed_m3,round_gate.passed_kg,\
tank.force_x_n,tank.force_y_n,tank.force_z_n,tank.wetted_m2,tank.ever_wetted_m2,\
water.volume_m3,water.center_x_m,water.center_y_m,water.center_z_m,\
water.min_x_m,water.min_y_m,water.min_z_m,water.max_x_m,water.max_y_m,water.max_z_m,\
water.front_m,right.volume_m3,all.volume_m3";

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * b.abs().max(1e-3)
}

#[test]
fn every_kind_has_its_columns_and_charts() {
    let folder = Folder::new("probes-all");
    folder.write("s.toml", format!("{DAM}{PROBES}"));
    let run = folder
        .pliant("run s.toml --out o --json --quiet --no-pictures --no-data --duration 0.3")
        .fine();
    let text = folder.text("o/probes.csv");
    assert_eq!(text.lines().next(), Some(HEADER));
    let names: Vec<&str> = HEADER.split(',').collect();
    let rows = folder.csv("o/probes.csv");
    assert_eq!(rows.len(), 31);
    let value = |row: &[f64], name: &str| row[names.iter().position(|n| *n == name).unwrap()];
    let (first, last) = (&rows[0], &rows[30]);

    // The start is known.
    assert!(close(value(first, "water.volume_m3"), 0.3 * 0.4 * 0.3));
    assert!(close(value(first, "all.volume_m3"), 0.3 * 0.4 * 0.3));
    assert!(close(value(first, "water.center_y_m"), 0.2));
    assert!(close(value(first, "water.front_m"), 0.3));
    assert_eq!(value(first, "right.volume_m3"), 0.0);
    assert_eq!(value(first, "gate.passed_m3"), 0.0);
    let wet = 0.3 * 0.3 + 0.4 * 3.0 * 0.3;
    assert!((value(first, "tank.wetted_m2") / wet - 1.0).abs() < 0.3);

    // What is right of the gate has come through it, and the flow adds up to it.
    let passed = value(last, "gate.passed_m3");
    assert!(passed > 0.01, "{passed}");
    assert!(close(value(last, "right.volume_m3"), passed));
    assert!(close(value(last, "round_gate.passed_m3"), -passed));
    assert!(close(value(last, "gate.passed_kg"), 998.0 * passed));
    let sum: f64 = rows
        .iter()
        .map(|r| 0.01 * value(r, "gate.flow_m3_per_s"))
        .sum();
    assert!(close(sum, passed), "{sum} {passed}");
    assert!(close(
        value(last, "water.front_m"),
        value(last, "water.max_x_m")
    ));
    assert!(value(last, "water.front_m") > 0.5);
    assert!(value(last, "tank.ever_wetted_m2") >= value(last, "tank.wetted_m2"));
    assert!(value(last, "tank.force_y_n") < 0.0);

    for kind in [
        "density",
        "pressure",
        "velocity",
        "flow",
        "mass_flow",
        "volume_passed",
        "mass_passed",
        "force",
        "wetted_area",
        "volume",
        "centre_of_mass",
        "extent",
        "front",
    ] {
        let chart = format!("o/probes_{kind}.png");
        assert!(is_png(&folder.path(&chart)), "{chart}");
    }
    let summary = run.json();
    assert_eq!(summary["probes"][1]["probe"], "gate");
    let shown = summary["probes"][1]["values"]["passed_m3"].as_f64();
    assert_eq!(shown, Some(passed));
    // Charts of an earlier run are results like others.
    folder.write("s.toml", DAM);
    folder
        .pliant("run s.toml --out o --force --quiet --no-pictures --no-data --duration 0.01")
        .fine();
    assert!(!folder.path("o/probes_flow.png").exists());
}

#[test]
fn a_resumed_run_goes_on_counting() {
    let folder = Folder::new("probes-resume");
    folder.write("s.toml", format!("{DAM}{PROBES}"));
    let quick = "--quiet --no-pictures --no-data";
    let run = |arguments: &str| folder.pliant(&format!("run {arguments} {quick}")).fine();
    run("s.toml --out whole --duration 0.2");
    run("s.toml --out parts --duration 0.1");
    run("--resume parts/checkpoint.pliant --duration 0.2");
    assert_eq!(
        folder.text("whole/probes.csv"),
        folder.text("parts/probes.csv")
    );
    let shown = folder.pliant("run s.toml --dry --quiet").fine().stdout;
    assert!(
        shown.contains("probe            gate: flow_m3_per_s "),
        "{shown}"
    );
}

#[test]
fn probes_that_cannot_be() {
    let folder = Folder::new("probes-messages");
    // The name of the probe is line 19 of the file.
    for (probe, parts) in [
        (
            "kind = \"sektion\"",
            &[
                "s.toml:20:8: unknown value `sektion`",
                "did you mean `section`?",
            ][..],
        ),
        (
            "kind = \"obstacle\"\nobstacle = \"tnak\"",
            &[
                "s.toml:21:12: there is no obstacle called `tnak`",
                "did you mean `tank`?",
            ],
        ),
        (
            "kind = \"fluid\"\nfluid = \"milk\"",
            &[
                "s.toml:21:9: there is no fluid called `milk`",
                "known: water",
            ],
        ),
        (
            "kind = \"fluid\"\naxis = [0, 0, 0]",
            &["s.toml:21:8: `axis` is [0, 0, 0], but must be finite and not zero"],
        ),
        (
            "kind = \"section\"\ncorners = [[0, 0, 0], [1, 1, 1], [2, 2, 2]]",
            &["s.toml:21:11: the corners enclose no area"],
        ),
        (
            "kind = \"section\"\ncorners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.5]]",
            &["s.toml:21:11: corner ", "off the plane"],
        ),
        (
            "kind = \"section\"\ncorners = [[0, 0, 0], [1, 1, 1]]",
            &["s.toml:21:11: a section needs at least 3 corners, but has 2"],
        ),
        (
            "kind = \"section\"\ncenter = [0, 0, 0]\nradius = -1\ndirection = [1, 0, 0]",
            &["s.toml:22:10: `radius` is -1", "above 0"],
        ),
        (
            "kind = \"section\"\ncenter = [0, 0, 0]\nradius = 1",
            &[
                "s.toml:19:8: the shape of this section is not clear",
                "`direction`",
            ],
        ),
        (
            "kind = \"point\"",
            &["s.toml:19:8: a probe of kind `point` needs `position`"],
        ),
        (
            "kind = \"volume\"\nobstacle = \"tank\"\nradius = 3",
            &[
                "s.toml:22:10: a probe of kind `volume` has no `radius`",
                "`region`",
            ],
        ),
        (
            "kind = \"volume\"",
            &["needs `region` or `obstacle`", "closed"],
        ),
        (
            "kind = \"volume\"\nregion = { sphere = { center = [0, 0, 0], radius = 0 } }",
            &["s.toml:21:10: radius 0 must be above 0"],
        ),
        (
            "kind = \"volume\"\nobstacle = \"floor\"\n[[obstacle]]\nname = \"floor\"\n\
             shape = { plane = { point = [0, -1, 0], normal = [0, 1, 0] } }",
            &["s.toml:21:12: `floor` is open", "closed surface"],
        ),
        (
            "kind = \"volume\"\nobstacle = \"pipe\"\n[[obstacle]]\nname = \"pipe\"\n\
             shape = { tube = { from = [2, 0, 0], to = [3, 0, 0], radius = 0.2, capped = false } }",
            &["s.toml:21:12: `pipe` is open"],
        ),
    ] {
        let old = "position = [0.1, 0.05, 0.15]";
        assert!(DAM.contains(old));
        folder.write("s.toml", DAM.replace(old, probe));
        folder.pliant("run s.toml --quiet").refused(parts);
        assert!(
            !folder.path("out").exists(),
            "{probe}: something was written"
        );
    }
}
