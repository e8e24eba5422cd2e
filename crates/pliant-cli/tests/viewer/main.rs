//! The viewer in a real window: a virtual X server, a software graphics driver, and
//! mouse and keys as a person would use them.
//!
//! Needs the programs Xvfb, xdotool and xwd, and a Vulkan driver. Where they are missing
//! the tests say so and pass, unless PLIANT_NEEDS_DISPLAY is set (`check.sh` sets it
//! after installing them).

mod desktop;
mod picture;

use desktop::{Desktop, Viewer};

/// A small dam break that never ends, so that every test sees it move.
const DAM: &str = r#"title = "A small dam break"
duration = 100
frame = 0.01

[[fluid]]
name = "water"
surface_tension = 0
spacing = 0.04

[[fluid.fill]]
region = { box = { min = [0, 0, 0], max = [0.3, 0.4, 0.3] } }

[[obstacle]]
name = "tank"
shape = { box = { min = [0, 0, 0], max = [0.9, 0.6, 0.3] } }

[[obstacle]]
name = "floor"
shape = { plane = { point = [0, -0.01, 0], normal = [0, 1, 0] } }

[[probe]]
name = "foot"
position = [0.1, 0.05, 0.15]
"#;

/// Share of pixels that must differ for two pictures to be different.
const DIFFERENT: f64 = 0.01;

#[test]
fn keys_and_mouse_do_what_the_help_says() {
    let Some(desktop) = Desktop::new() else {
        return;
    };
    let mut viewer = Viewer::start(&desktop, DAM, &[]);

    // It runs by itself; Space stops it, and then nothing moves.
    let running = viewer.wait_drawn(|d| d.time > 0.02);
    assert!(running.playing);
    viewer.key("space");
    viewer.wait_for("pause");
    let still = viewer.wait_drawn(|d| !d.playing);
    let first = viewer.settled_picture();
    let later = viewer.settled_picture();
    assert!(first.difference(&later) < 0.001, "a paused scene moves");

    // N makes exactly one step.
    viewer.key("n");
    let stepped = viewer.wait_drawn(|d| d.time > still.time);
    assert!(!stepped.playing && stepped.time < still.time + 0.02);

    // Every display mode is another picture of the same moment.
    let names = [
        "particles",
        "surface",
        "surfels",
        "gas",
        "xray",
        "wireframe",
    ];
    let mut pictures = Vec::new();
    for name in names {
        viewer.click(&format!("mode-{name}"));
        viewer.wait_for(&format!("mode {name}"));
        pictures.push((name, viewer.settled_picture()));
    }
    for (i, (name, picture)) in pictures.iter().enumerate() {
        for (other_name, other) in &pictures[..i] {
            let differ = picture.difference(other);
            assert!(
                differ > DIFFERENT,
                "{name} looks like {other_name}: {differ}"
            );
        }
    }
    // X-rays are dark, the others are not.
    let lightness = |name: &str| {
        let found = pictures.iter().find(|(n, _)| *n == name);
        found.map_or(0.0, |(_, p)| p.mean())
    };
    assert!(lightness("xray") < 0.6 * lightness("particles"));

    // The same mode by key is the same picture.
    viewer.key("1");
    viewer.wait_for("mode particles");
    let again = viewer.settled_picture();
    assert!(again.difference(&pictures[0].1) < 0.01);

    // A drag with the right button goes around; the scene stays where it is.
    viewer.drag("view", 3, [0.5, 0.5], [0.7, 0.45]);
    let around = viewer.settled_picture();
    assert!(around.difference(&again) > DIFFERENT);
    viewer.close();
}

#[test]
fn a_grab_moves_the_liquid() {
    let Some(desktop) = Desktop::new() else {
        return;
    };
    let mut viewer = Viewer::start(&desktop, DAM, &["--set", "gravity.acceleration=[0,0,0]"]);
    viewer.wait_drawn(|d| d.time > 0.02);
    let before = viewer.settled_picture();
    viewer.key("g");
    viewer.wait_for("tool Grab");
    // The block is left of the middle.
    viewer.drag("view", 1, [0.36, 0.52], [0.5, 0.25]);
    viewer.wait_for("hold true");
    viewer.wait_for("let go");
    viewer.key("space");
    viewer.wait_for("pause");
    viewer.wait_drawn(|d| !d.playing);
    let after = viewer.settled_picture();
    // Weightless water at rest stays as it is unless a hand takes it along.
    assert!(before.difference(&after) > DIFFERENT);
    viewer.close();
}

#[test]
fn a_line_drawn_over_a_solid_cuts_it() {
    const JELLY: &str = r#"title = "A weightless jelly"
duration = 100
frame = 0.01

[gravity]
acceleration = [0, 0, 0]

[[solid]]
name = "jelly"
shape = { ball = { center = [0, 0.3, 0], radius = 0.2, tets = 600 } }
model = { elastic = { law = "neo-hookean", young = 6000, poisson = 0.45 } }

[[obstacle]]
name = "floor"
shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }
"#;
    let Some(desktop) = Desktop::new() else {
        return;
    };
    let mut viewer = Viewer::start(&desktop, JELLY, &[]);
    viewer.wait_drawn(|d| d.time > 0.02);
    viewer.key("k");
    viewer.wait_for("tool Cut");
    let opened = |line: String| -> usize { line.rsplit(' ').next().unwrap().parse().unwrap() };
    // From one side of the picture to the other, through the middle.
    viewer.drag("view", 1, [0.05, 0.45], [0.95, 0.55]);
    let line = viewer.wait_for("cut opened");
    assert!(opened(line.clone()) > 20, "{line}");
    // In a corner there is nothing to cut.
    viewer.drag("view", 1, [0.04, 0.05], [0.1, 0.05]);
    let line = viewer.wait_for("cut opened");
    assert_eq!(opened(line.clone()), 0, "{line}");
    viewer.close();
}

#[test]
fn a_slider_changes_a_parameter_of_the_running_scene() {
    let Some(desktop) = Desktop::new() else {
        return;
    };
    let mut viewer = Viewer::start(&desktop, DAM, &[]);
    let before = viewer.wait_drawn(|d| d.time > 0.02);
    // Without the plots there is room for the sliders of the first liquid.
    viewer.key("p");
    viewer.wait_for("place view");
    viewer.drag_slider("parameter-fluid.0.viscosity", 0.3, 0.55);
    let line = viewer.wait_for("set fluid.0.viscosity=");
    let value: f32 = line.rsplit('=').next().unwrap().trim().parse().unwrap();
    assert!(value > 2e-3, "water is at 1e-3 Pa·s: {line}");
    // It goes on from where it was.
    let after = viewer.wait_drawn(|d| d.time > before.time + 0.05);
    assert!(after.number > before.number);

    // A picture and a state are saved where they should be.
    viewer.key("s");
    viewer.wait_for("saved");
    assert!(viewer.file("scene_001.png").metadata().unwrap().len() > 1000);
    viewer.close();
}

#[test]
fn odd_windows_and_missing_displays_end_well() {
    let Some(desktop) = Desktop::new() else {
        return;
    };
    let mut viewer = Viewer::start(&desktop, DAM, &[]);
    viewer.wait_drawn(|d| d.time > 0.0);
    for size in [[40, 30], [1, 1], [900, 700]] {
        viewer.resize(size);
    }
    let before = viewer.last_drawn();
    viewer.wait_drawn(|d| d.time > before.time);
    // 0 or 2, whatever the viewer notices first: not the 101 of a panic.
    let status = viewer.destroy();
    assert!(matches!(status.code(), Some(0 | 2)), "{status:?}");

    let refused = desktop.run_without_display(DAM);
    assert_eq!(refused.status.code(), Some(2));
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(words.contains("no window can be opened"), "{words}");
    assert!(!words.contains("panicked"), "{words}");

    let refused = desktop.run_without_adapter(DAM);
    assert_eq!(refused.status.code(), Some(2));
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(words.contains("no graphics adapter"), "{words}");
    assert!(!words.contains("panicked"), "{words}");
}
