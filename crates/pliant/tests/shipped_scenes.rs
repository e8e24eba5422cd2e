//! Every shipped scene parses, builds and starts.

use pliant::scene::{SHIPPED, Scene};

/// As many steps of this length, in seconds, as each scene makes here.
const STEPS: usize = 3;
const STEP: f32 = 1e-3;

#[test]
fn every_shipped_scene_starts() {
    for (name, _) in SHIPPED {
        let scene = Scene::open(name, &[]).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut built = scene.build().unwrap_or_else(|e| panic!("{name}: {e}"));
        for step in 0..STEPS {
            if let Err(e) = built.world.step(STEP) {
                panic!("{name}, step {step}: {e}");
            }
        }
        let world = &built.world;
        assert_eq!(world.leaked(), 0, "{name} leaks");
        assert!(world.point_count() > 0, "{name} is empty");
        let totals = world.totals();
        assert!(
            totals.kinetic.is_finite() && totals.max_speed < 10.0,
            "{name}: {} m/s",
            totals.max_speed
        );
    }
}

#[test]
fn every_shipped_scene_explains_itself() {
    for (name, _) in SHIPPED {
        let scene = Scene::open(name, &[]).unwrap_or_else(|e| panic!("{name}: {e}"));
        let d = &scene.description;
        assert_eq!(scene.name, *name);
        assert!(!d.title.trim().is_empty(), "{name} has no title");
        assert!(
            d.description.split_whitespace().count() >= 10,
            "{name} has no description"
        );
        // A scene is a film: it has frames enough to see it move.
        assert!(
            d.duration / f64::from(d.frame) >= 20.0,
            "{name} has few frames"
        );
    }
}

#[test]
fn every_scene_file_is_shipped() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes");
    for entry in std::fs::read_dir(folder).expect("the scenes folder") {
        let path = entry.expect("a folder entry").path();
        let name = path.file_stem().and_then(|s| s.to_str()).unwrap_or("");
        assert!(
            SHIPPED.iter().any(|(n, _)| *n == name),
            "{} is not in shipped.rs",
            path.display()
        );
    }
}
