//! Scene files: TOML (or JSON with the same keys) -> [`World`](crate::World).
//!
//! `description.rs` declares every key once, with its unit and default; the JSON
//! Schema and the documentation come from there (those of obstacles,
//! pictures and bodies in `obstacle_keys.rs`, `picture_keys.rs`, `rigid_keys.rs`,
//! `solid_keys.rs` and `soft_keys.rs`). `check.rs` looks at the numbers,
//! `build.rs` makes the world, `probe.rs` what is measured of it,
//! `solid_build.rs` and `soft_build.rs` the bodies, `error.rs` points at the line that is wrong,
//! `overrides.rs` changes keys without editing the file, `shipped.rs` lists the
//! scenes inside the program.

mod build;
mod check;
pub mod description;
mod error;
mod json_place;
mod motion;
mod obstacle_keys;
mod overrides;
mod picture_keys;
mod probe;
mod rigid_keys;
mod shape;
mod shipped;
mod soft_build;
mod soft_keys;
mod solid_build;
mod solid_keys;

use std::path::{Path, PathBuf};

pub use build::Built;
pub use description::Description;
pub use error::SceneError;
pub use shipped::SHIPPED;

use error::{Key, Source};
use overrides::Override;

/// A scene that has been read and understood.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Short name, for output folders.
    pub name: String,
    /// What the file says, after overrides.
    pub description: Description,
    source: Source,
    /// Folder that mesh files are relative to.
    folder: PathBuf,
    overrides: Vec<Override>,
}

impl Scene {
    /// The shipped scene called `what`, or the scene file at that path.
    /// `overrides` are `key=value` pairs such as `fluid.0.viscosity=2`.
    pub fn open(what: &str, overrides: &[String]) -> Result<Scene, SceneError> {
        if let Some((name, text)) = SHIPPED.iter().find(|(name, _)| *name == what) {
            return Scene::parse(
                name,
                &format!("{name}.toml"),
                text,
                Path::new("."),
                overrides,
            );
        }
        let path = Path::new(what);
        let looks_like_path = path.extension().is_some() || what.contains(std::path::is_separator);
        if !looks_like_path && !path.exists() {
            return Err(error::unknown_scene(what));
        }
        let text = std::fs::read_to_string(path)
            .map_err(|e| SceneError::new(what, format!("cannot read the scene: {e}")))?;
        let name = path.file_stem().map_or_else(
            || "scene".into(),
            |stem| stem.to_string_lossy().into_owned(),
        );
        // The parent of a bare file name is the empty path.
        let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new("."));
        Scene::parse(&name, what, &text, folder, overrides)
    }

    /// Reads a scene from `text`; `file` is its name in messages, and decides the
    /// format: JSON if it ends in `.json`, TOML otherwise.
    pub fn parse(
        name: &str,
        file: &str,
        text: &str,
        folder: &Path,
        overrides: &[String],
    ) -> Result<Scene, SceneError> {
        let source = Source::new(file, text);
        let mut description = source.read()?;
        let mut changes = Vec::new();
        if !overrides.is_empty() {
            (description, changes) = overrides::apply(&source, overrides)?;
        }
        let scene = Scene {
            name: name.into(),
            description,
            source,
            folder: folder.into(),
            overrides: changes,
        };
        scene.check()?;
        Ok(scene)
    }

    /// The text it was read from, the file's name, its folder and the overrides:
    /// all that is needed to read it again.
    pub fn origin(&self) -> (&str, &str, &Path, Vec<&str>) {
        (
            &self.source.text,
            &self.source.file,
            &self.folder,
            self.overrides.iter().map(|o| o.pair.as_str()).collect(),
        )
    }

    /// An error about a key such as `step.fixed` that shows only when the world
    /// moves.
    pub fn complaint(&self, key: &str, message: impl Into<String>) -> SceneError {
        let path: Vec<Key<'_>> = key.split('.').map(Key::Name).collect();
        self.at(&path, message)
    }

    /// An error about the value at `path`: in the file, or in the override that
    /// changed it.
    fn at(&self, path: &[Key<'_>], message: impl Into<String>) -> SceneError {
        match self.overrides.iter().rev().find(|o| o.concerns(path)) {
            Some(o) => SceneError::new(&o.place(), message),
            None => self.source.at(path, message),
        }
    }

    /// The JSON Schema of scene files.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Description).into()
    }
}
