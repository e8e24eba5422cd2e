//! `pliant render` and `pliant surface` on a small stored run.

use crate::common::{DAM, Folder, is_png};

/// A stored run of two frames with a coated wall, surfaces and an animation.
fn stored(test: &str) -> Folder {
    let folder = Folder::new(test);
    let scene = DAM.replace("name = \"tank\"\n", "name = \"tank\"\ncoating = {}\n");
    let scene = format!(
        "{scene}\n[picture]\nsize = [64, 48]\nanimation = true\n\n[output]\nsurface = \"obj\"\n"
    );
    folder.write("dam.toml", scene);
    folder
        .pliant("run dam.toml --out o --duration 0.02 -q")
        .fine();
    folder
}

#[test]
fn a_run_leaves_surfaces_films_and_an_animation_if_asked() {
    let folder = stored("pictures-run");
    let data = folder.list("o/data");
    for file in [
        "film_0_00000.vtu",
        "film_0_00002.vtu",
        "surface_water_00000.obj",
        "surface_water_00002.obj",
    ] {
        assert!(data.iter().any(|f| f == file), "{file} in {data:?}");
    }
    let gif = std::fs::read(folder.path("o/animation.gif")).unwrap();
    assert!(gif.starts_with(b"GIF89a"));
}

#[test]
fn every_style_draws_a_stored_run() {
    let folder = stored("pictures-styles");
    for style in ["quick", "ray", "xray"] {
        folder
            .pliant(&format!(
                "render o --style {style} --size 40x30 --samples 2 --gif {style}.gif"
            ))
            .fine();
        for k in 0..3 {
            assert!(is_png(&folder.path(&format!("o/{style}/frame_{k:05}.png"))));
        }
        assert!(folder.path(&format!("{style}.gif")).exists());
    }
    folder
        .pliant("render dam.toml --style xray --size 40x30 -o one.png")
        .fine();
    assert!(is_png(&folder.path("one.png")));
}

#[test]
fn surfaces_of_a_sequence_are_closed() {
    let folder = stored("pictures-surface");
    let run = folder
        .pliant("surface o/data/particles_{}.vtu -o mesh_{}.ply --spacing 0.05 --check")
        .fine();
    assert_eq!(run.stdout.matches("closed and manifold").count(), 3);
    for k in 0..3 {
        assert!(folder.path(&format!("mesh_{k:05}.ply")).exists());
    }
    let plain = folder.pliant("surface o/data/particles_00002.ply -o a.stl --plain");
    assert!(plain.fine().stdout.contains("triangles"));
}

#[test]
fn wrong_requests_are_explained() {
    let folder = stored("pictures-wrong");
    folder
        .pliant("render o --frame 99")
        .refused(&["no files of particles or bodies of frame 99"]);
    folder
        .pliant("render o --size 4x4")
        .refused(&["not a size such as 1280x720"]);
    folder
        .pliant("render o/data")
        .refused(&["not the folder of a run"]);
    folder
        .pliant("surface none.vtu")
        .refused(&["cannot read none.vtu"]);
    folder
        .pliant("surface o/data/particles_00000.vtu -o a.png --spacing 0.05")
        .refused(&["a.png", ".ply, .obj, .stl or .vtu"]);
    folder
        .pliant("surface o/data/particles_00000.vtu --spacing 0.05 --cell 0")
        .refused(&["cell is 0"]);
    folder.write("b.toml", format!("{DAM}\n[picture]\nsamples = 0\n"));
    folder
        .pliant("check b.toml")
        .refused(&["b.toml", "`samples` is 0"]);
    let volume = "[picture]\nstyle = \"xray\"\nxray = { volume = \"none.nrrd\" }\n";
    folder.write("v.toml", format!("{DAM}\n{volume}"));
    folder
        .pliant("render v.toml")
        .refused(&["v.toml", "none.nrrd"]);
}

/// A soft cube that falls on a floor: no liquid at all.
const CUBE: &str = r#"title = "A falling cube"
duration = 0.3
frame = 0.15

[[solid]]
name = "cube"
shape = { block = { min = [-0.1, 0.5, -0.1], max = [0.1, 0.7, 0.1], cells = [2, 2, 2] } }
model = { elastic = { young = 20000 } }

[[obstacle]]
name = "floor"
shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }

[camera]
eye = [0, 0.4, 3]
target = [0, 0.4, 0]

[picture]
size = [60, 60]
xray = { noise = 0 }
"#;

#[test]
fn stored_bodies_are_drawn_where_they_were() {
    let folder = Folder::new("pictures-bodies");
    folder.write("cube.toml", CUBE);
    folder.pliant("run cube.toml --out o -q").fine();
    for style in ["quick", "xray"] {
        folder.pliant(&format!("render o --style {style}")).fine();
        let picture = |k: u32| std::fs::read(folder.path(&format!("o/{style}/frame_{k:05}.png")));
        let (first, second, last) = (
            picture(0).unwrap(),
            picture(1).unwrap(),
            picture(2).unwrap(),
        );
        assert!(first != second && second != last, "{style}: nothing moves");
    }
    // X-rays see bodies: without one the picture is another.
    let empty = CUBE.replace(
        "0.5, -0.1], max = [0.1, 0.7",
        "90.5, -0.1], max = [0.1, 90.7",
    );
    folder.write("empty.toml", empty);
    for (scene, picture) in [("cube", "with.png"), ("empty", "without.png")] {
        folder
            .pliant(&format!("render {scene}.toml --style xray -o {picture}"))
            .fine();
    }
    let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert_ne!(read("with.png"), read("without.png"));
}
