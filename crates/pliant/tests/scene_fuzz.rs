//! Scenes with random damage: refused or built, never a panic, quickly, and with
//! a message that has a place where there is one.

use std::path::Path;
use std::time::{Duration, Instant};

use pliant::scene::{SHIPPED, Scene};

const SCENE: &str = r#"title = "Everything a scene can hold – in one"
description = """
Two lines,
the second with "quotes"."""
duration = 0.1
frame = 0.01
step = { cfl = 0.4, max_substeps = 1000 }
gravity = { acceleration = [0, -9.81, 0.0] }
camera = { direction = [0.1, -0.2, -1.0], fov = 40, speed_range = 2.5 }

[[fluid]]
name = "wäter"
material = "water"
viscosity = 0.01
spacing = 0.05
support = 2.0
max_particles = 1500

[[fluid.fill]]
region = { box = { min = [0, 0, 0], max = [0.3, 0.4, 0.3] } }
velocity = [0.1, 0, 0]

[[fluid.fill]]
mesh = "ball"
count = 5
near = [1, 1, 1]

[[fluid.emitter]]
position = [0.5, 0.5, 0.1]
direction = [0, -1, 0]
radius = 0.06
rate = 0.01
stop = 0.5
limit = 100

[[obstacle]]
name = "tank"
shape = { box = { min = [0, 0, 0], max = [0.8, 0.6, 0.3] } }
friction = 0.1
opacity = 0.5

[[obstacle]]
name = "ball"
shape = { sphere = { center = [1.5, 1, 1], radius = 0.3, segments = 12 } }
index = "bvh"
rotate = [10, 20, 30]

[[obstacle]]
name = "ground"
shape = { heightfield = { origin = [-1, -1, -1], spacing = 2.0, heights = [[0, 0.1], [0.2, 0]] } }

[[obstacle]]
name = "floor"
shape = { plane = { point = [0, -2, 0], normal = [0, 1, 0] } }

[[field]]
region = { sphere = { center = [0, 0, 0], radius = 1.0 } }
action = { wind = { velocity = [1, 0, 0], rate = 2.0 } }

[[sink]]
region = { box = { min = [-9, -9, -9], max = [9, -8, 9] } }

[[probe]]
name = "foot"
position = [0.1, 0.05, 0.15]
"#;

/// Probes of the other kinds, for the same scene.
const PROBES: &str = r#"
[[probe]]
name = "gate"
kind = "section"
center = [0.4, 0.2, 0.15]
direction = [1, 0, 0]
radius = 0.2

[[probe]]
name = "door"
kind = "section"
corners = [[0.4, 0, 0], [0.4, 0.5, 0], [0.4, 0.5, 0.3]]

[[probe]]
name = "walls"
kind = "obstacle"
obstacle = "tank"

[[probe]]
name = "water"
kind = "fluid"
axis = [1, 0, 0]

[[probe]]
name = "corner"
kind = "volume"
region = { box = { min = [0, 0, 0], max = [0.1, 0.1, 0.1] } }

[[probe]]
name = "in the ball"
kind = "volume"
obstacle = "ball"
"#;

/// Numerical Recipes' generator: repeatable on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

/// Byte ranges of the numbers in a text.
fn numbers(text: &str) -> Vec<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let part = |b: u8| b.is_ascii_digit() || b == b'.' || b == b'-';
    let mut found = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        let start = i;
        while i < bytes.len() && part(bytes[i]) {
            i += 1;
        }
        if bytes[start..i].iter().any(u8::is_ascii_digit) {
            found.push(start..i);
        }
        i += 1;
    }
    found
}

fn damaged(text: &str, random: &mut Random) -> String {
    let mut text = text.to_string();
    for _ in 0..=random.below(3) {
        let mut at = random.below(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        match random.below(7) {
            // Mostly numbers: these get past the parser.
            0..=2 => {
                let odd = [
                    "0",
                    "-1",
                    "1e30",
                    "-1e30",
                    "nan",
                    "inf",
                    "-inf",
                    "1e-30",
                    "1e400",
                    "3",
                    "\"\"",
                    "1000000",
                    "4294967295",
                    "18446744073709551616",
                    "[]",
                    "{}",
                    "0.5",
                    "true",
                    "",
                ];
                let all = numbers(&text);
                let range = all[random.below(all.len())].clone();
                text.replace_range(range, odd[random.below(odd.len())]);
            }
            3 => {
                text.remove(at);
            }
            4 => {
                let c = [
                    '"', '[', ']', '{', '}', '=', '\n', '\0', 'é', '#', ',', '.', '\'', '\t',
                ];
                text.insert(at, c[random.below(c.len())]);
            }
            5 => {
                let lines: Vec<&str> = text.lines().collect();
                let k = random.below(lines.len());
                let mut lines = lines.clone();
                lines.insert(k, lines[random.below(lines.len())]);
                text = lines.join("\n");
            }
            _ => {
                let mut lines: Vec<&str> = text.lines().collect();
                lines.remove(random.below(lines.len()));
                text = lines.join("\n");
            }
        }
        if text.is_empty() || numbers(&text).is_empty() {
            break;
        }
    }
    text
}

/// Reads, builds and steps a text; true if it got so far.
fn survives(file: &str, text: &str) -> bool {
    let clock = Instant::now();
    let scene = Scene::parse("fuzz", file, text, Path::new("."), &[]);
    let mut scene = match scene {
        Ok(scene) => scene,
        Err(e) => {
            let message = e.to_string();
            assert!(message.starts_with(file), "{message}");
            return false;
        }
    };
    for fluid in &mut scene.description.fluid {
        fluid.max_particles = fluid.max_particles.min(1500);
    }
    scene.description.step.max_substeps = scene.description.step.max_substeps.min(20);
    let stepped = match scene.build() {
        Err(e) => {
            assert!(e.to_string().starts_with(file), "{e}");
            false
        }
        Ok(mut built) => {
            assert!(built.world.point_count() <= 1500);
            let stepped = built.world.step(scene.description.frame.min(0.01)).is_ok();
            for probe in &built.probes {
                assert_eq!(probe.read(&built.world).len(), probe.quantities().len());
            }
            stepped
        }
    };
    assert!(
        clock.elapsed() < Duration::from_secs(5),
        "too slow:\n{text}"
    );
    stepped
}

#[test]
fn damaged_scenes_are_refused_or_work() {
    assert!(survives("s.toml", SCENE));
    let mut random = Random(1);
    let mut worked = 0;
    for _ in 0..600 {
        worked += usize::from(survives("s.toml", &damaged(SCENE, &mut random)));
    }
    // Enough of them must get past the parser for the test to mean anything.
    assert!((60..540).contains(&worked), "{worked} of 600 worked");
}

#[test]
fn damaged_probes_are_refused_or_work() {
    assert!(survives("s.toml", &format!("{SCENE}{PROBES}")));
    let mut random = Random(4);
    let mut worked = 0;
    for _ in 0..300 {
        let text = format!("{SCENE}{}", damaged(PROBES, &mut random));
        worked += usize::from(survives("s.toml", &text));
    }
    assert!((10..270).contains(&worked), "{worked} of 300 worked");
}

#[test]
fn damaged_json_scenes_are_refused_or_work() {
    let value: serde_json::Value = toml::from_str(SCENE).unwrap();
    let text = serde_json::to_string_pretty(&value).unwrap();
    assert!(survives("s.json", &text));
    let mut random = Random(2);
    let mut worked = 0;
    for _ in 0..400 {
        worked += usize::from(survives("s.json", &damaged(&text, &mut random)));
    }
    assert!((10..360).contains(&worked), "{worked} of 400 worked");
}

#[test]
fn absurd_texts_are_refused() {
    let deep = |open: &str| format!("title = {}", open.repeat(100_000));
    for text in [
        "",
        "\0",
        "\u{feff}",
        "=",
        "title",
        "[[fluid",
        "a.b.c.d = 1",
        "\r\n\r\r",
    ]
    .map(String::from)
    .into_iter()
    .chain([
        deep("["),
        deep("{a="),
        "a.".repeat(100_000),
        "é".repeat(1000),
    ]) {
        assert!(!survives("s.toml", &text));
        assert!(!survives("s.json", &text));
    }
    assert!(!survives("s.json", &"[".repeat(1_000_000)));
}

#[test]
fn shipped_scenes_survive_damage_to_the_parser() {
    let mut random = Random(3);
    for (name, text) in SHIPPED {
        for _ in 0..50 {
            let text = damaged(text, &mut random);
            // Reading only: shipped scenes are not small.
            let _ = Scene::parse(name, "s.toml", &text, Path::new("."), &[]);
        }
    }
}
