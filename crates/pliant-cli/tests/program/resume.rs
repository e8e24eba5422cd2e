//! Stopping and going on: to the bit as if nothing had happened.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{DAM, Folder, JET, Run, is_png};

const QUICK: &str = "--no-pictures --quiet --json";

/// Everything in `series.csv` that does not depend on the machine's speed.
fn physics(folder: &Folder, run: &str) -> Vec<Vec<f64>> {
    let name = format!("{run}/series.csv");
    let header = folder.text(&name);
    let columns: Vec<bool> = header
        .lines()
        .next()
        .unwrap()
        .split(',')
        .map(|c| !c.ends_with("_ms"))
        .collect();
    let keep = |row: Vec<f64>| {
        row.into_iter()
            .zip(&columns)
            .filter(|(_, k)| **k)
            .map(|(v, _)| v)
            .collect()
    };
    folder.csv(&name).into_iter().map(keep).collect()
}

fn assert_same_results(folder: &Folder, a: &str, b: &str) {
    assert_eq!(physics(folder, a), physics(folder, b));
    assert_eq!(
        folder.pvd(&format!("{a}/particles.pvd")),
        folder.pvd(&format!("{b}/particles.pvd"))
    );
    assert_eq!(
        folder.list(&format!("{a}/data")),
        folder.list(&format!("{b}/data"))
    );
}

#[test]
fn two_halves_are_a_whole() {
    for (name, scene, half) in [("dam", DAM, 0.05), ("jet", JET, 0.1)] {
        let folder = Folder::new(&format!("resume-{name}"));
        folder.write("s.toml", scene);
        let whole = folder
            .pliant(&format!("run s.toml {QUICK} --out whole"))
            .fine();
        let first = folder
            .pliant(&format!("run s.toml {QUICK} --out parts --duration {half}"))
            .fine();
        assert_ne!(first.hash(), whole.hash());
        let second = folder
            .pliant(&format!(
                "run --resume parts/checkpoint.pliant {QUICK} --duration {}",
                2.0 * half
            ))
            .fine();
        assert_eq!(second.hash(), whole.hash(), "{name}");
        assert_eq!(second.json()["frames"], 5);
        assert_same_results(&folder, "whole", "parts");
        if name == "dam" {
            assert_eq!(
                folder.csv("whole/probes.csv"),
                folder.csv("parts/probes.csv")
            );
        }
        // Nothing is left to do now, and a third part is possible.
        folder
            .pliant("run --resume parts/checkpoint.pliant")
            .refused(&["parts/checkpoint.pliant", "already", "--duration"]);
        folder
            .pliant(&format!(
                "run --resume parts/checkpoint.pliant {QUICK} --dry --duration {}",
                2.2 * half
            ))
            .fine();
    }
}

#[test]
fn goes_on_from_another_place_with_overrides_and_meshes() {
    let folder = Folder::new("resume-place");
    std::fs::create_dir_all(folder.path("a/b")).unwrap();
    folder.write("a/tank.obj", TANK);
    let scene = DAM.replace(
        "{ box = { min = [0, 0, 0], max = [0.8, 0.6, 0.3] } }",
        "{ mesh = { file = \"tank.obj\", closed = true } }",
    );
    folder.write("a/s.toml", scene);
    let pliant = |place: &str, arguments: &str| {
        Run::of(
            folder
                .program()
                .current_dir(folder.path(place))
                .args(arguments.split_whitespace()),
        )
        .fine()
    };
    let set = "--set fluid.0.viscosity=2";
    let whole = pliant("a", &format!("run s.toml {set} {QUICK} --dry"));
    pliant(
        "a",
        &format!("run s.toml {set} {QUICK} --out ../o --duration 0.03"),
    );
    let rest = pliant(
        "a/b",
        &format!("run --resume ../../o/checkpoint.pliant {QUICK} --out ../../p --duration 0.1"),
    );
    assert_eq!(rest.hash(), whole.hash());
    // A new folder has the rest only.
    let rows = folder.csv("p/series.csv");
    assert_eq!((rows.len(), rows[0][0]), (7, 4.0));
    assert_eq!(folder.pvd("p/particles.pvd").len(), 7);

    // The mesh is part of the state.
    folder.write("a/tank.obj", TANK.replace("0.8", "0.9"));
    folder
        .pliant("run --resume o/checkpoint.pliant --duration 0.1")
        .refused(&["o/checkpoint.pliant", "does not fit this world", "meshes"]);
    std::fs::remove_file(folder.path("a/tank.obj")).unwrap();
    folder
        .pliant("run --resume o/checkpoint.pliant --duration 0.1")
        .refused(&["tank.obj"]);
}

#[test]
fn an_older_checkpoint_rewrites_what_came_after_it() {
    let folder = Folder::new("resume-older");
    folder.write("s.toml", DAM);
    let whole = folder
        .pliant(&format!("run s.toml {QUICK} --out whole"))
        .fine();
    folder
        .pliant(&format!("run s.toml {QUICK} --out o --duration 0.03"))
        .fine();
    std::fs::copy(folder.path("o/checkpoint.pliant"), folder.path("o/early")).unwrap();
    folder
        .pliant(&format!(
            "run --resume o/checkpoint.pliant {QUICK} --duration 0.08"
        ))
        .fine();
    let again = folder
        .pliant(&format!("run --resume o/early {QUICK} --duration 0.1"))
        .fine();
    assert_eq!(again.hash(), whole.hash());
    assert_same_results(&folder, "whole", "o");
}

#[test]
#[cfg(unix)]
fn an_interrupt_keeps_everything() {
    for (name, scene, frame) in [("dam", DAM, 0.01), ("jet", JET, 0.02)] {
        let folder = Folder::new(&format!("resume-interrupt-{name}"));
        folder.write("s.toml", scene);
        // Far longer than the test waits.
        let child = folder
            .program()
            .args("run s.toml --no-pictures --out o --json --duration 1000".split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let rows = || {
            std::fs::read_to_string(folder.path("o/series.csv")).map_or(0, |t| t.lines().count())
        };
        let clock = Instant::now();
        while rows() < 5 {
            assert!(clock.elapsed() < Duration::from_secs(60), "no rows");
            std::thread::sleep(Duration::from_millis(2));
        }
        let kill = Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        let run = Run::from(child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(130), "{}", run.stderr);
        let summary = run.json();
        assert_eq!(summary["interrupted"], true);
        let done = summary["frames"].as_u64().unwrap();
        assert_eq!(folder.csv("o/series.csv").len() as u64, done + 1);
        assert_eq!(folder.pvd("o/particles.pvd").len() as u64, done + 1);
        assert!(is_png(&folder.path("o/energy.png")) && is_png(&folder.path("o/stages.png")));
        assert!(folder.list("o").iter().all(|f| !f.contains(".part")));

        let duration = (done + 3) as f64 * frame;
        let whole = folder
            .pliant(&format!(
                "run s.toml {QUICK} --out whole --duration {duration}"
            ))
            .fine();
        let rest = folder
            .pliant(&format!(
                "run --resume o/checkpoint.pliant {QUICK} --duration {duration}"
            ))
            .fine();
        assert_eq!(rest.hash(), whole.hash(), "{name}");
        assert_same_results(&folder, "whole", "o");
    }
}

/// A limit on the size of files stands in for a disk that fills up.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_whole_files_and_the_last_good_state() {
    let folder = Folder::new("resume-full");
    folder.write("s.toml", DAM.replace("spacing = 0.05", "spacing = 0.1"));
    let arguments = "--no-pictures --no-data --out o --duration 0.5";
    let script = format!("trap '' XFSZ; ulimit -f 24; exec \"$PLIANT\" run s.toml {arguments}");
    let mut limited = Command::new("sh");
    limited
        .args(["-c", &script])
        .env("PLIANT", env!("CARGO_BIN_EXE_pliant"))
        .current_dir(folder.path("."));
    let run = Run::of(&mut limited).refused(&[
        "cannot write o/series.csv",
        "the last good state, frame ",
        "is kept in o/checkpoint.pliant",
    ]);
    let frame = run.stderr.split("state, frame ").nth(1).unwrap();
    let frame: usize = frame.split(' ').next().unwrap().parse().unwrap();
    let rows = folder.csv("o/series.csv");
    assert_eq!(rows.len(), frame + 1);
    assert!(rows.iter().all(|r| r.len() == rows[0].len()));
    assert!(folder.text("o/series.csv").ends_with('\n'));
    assert!(!folder.path("o/summary.json").exists());
    assert!(folder.list("o").iter().all(|f| !f.contains(".part")));

    let rest = folder
        .pliant("run --resume o/checkpoint.pliant --no-pictures --no-data --quiet --json")
        .fine();
    let whole = folder
        .pliant("run s.toml --no-pictures --no-data --quiet --json --out whole --duration 0.5")
        .fine();
    assert_eq!(rest.hash(), whole.hash());
    assert_eq!(physics(&folder, "o"), physics(&folder, "whole"));
}

/// The walls of the tank of [`DAM`].
const TANK: &str = "v 0 0 0\nv 0.8 0 0\nv 0.8 0.6 0\nv 0 0.6 0\n\
    v 0 0 0.3\nv 0.8 0 0.3\nv 0.8 0.6 0.3\nv 0 0.6 0.3\n\
    f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 1 5 8 4\nf 2 3 7 6\n";
