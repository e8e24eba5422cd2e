//! Keeping a run in a file and taking it up again.
//!
//! The file holds the scene itself (text, overrides, folder of its meshes) and
//! the state of the world, so that nothing else is needed to continue.

use std::path::Path;

use pliant::World;
use pliant::observe::{Decoder, Encoder};
use pliant::scene::Scene;

use crate::error::CliError;

/// The bytes of a checkpoint.
pub fn encode(scene: &Scene, world: &World) -> Vec<u8> {
    let (text, file, folder, overrides) = scene.origin();
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let mut out = Encoder::default();
    out.text(&scene.name);
    out.text(file);
    out.text(text);
    out.text(&folder.to_string_lossy());
    out.u64(overrides.len() as u64);
    for pair in overrides {
        out.text(pair);
    }
    out.f64(scene.description.duration);
    world.save(&mut out);
    out.finish()
}

/// Reads the scene of a checkpoint, and returns the whole file for [`restore`].
pub fn read(path: &Path) -> Result<(Scene, Vec<u8>), CliError> {
    let bytes = std::fs::read(path).map_err(|source| CliError::Read {
        path: path.into(),
        source,
    })?;
    let (scene, _) = open(path, &bytes)?;
    Ok((scene, bytes))
}

/// Puts the state of a checkpoint into a world built from its scene.
pub fn restore(world: &mut World, path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let (_, mut from) = open(path, bytes)?;
    world
        .load(&mut from)
        .and_then(|()| from.finish())
        .map_err(|source| CliError::Checkpoint {
            path: path.into(),
            source,
        })
}

fn open<'a>(path: &Path, bytes: &'a [u8]) -> Result<(Scene, Decoder<'a>), CliError> {
    let damaged = |source| CliError::Checkpoint {
        path: path.into(),
        source,
    };
    let mut from = Decoder::open(bytes).map_err(damaged)?;
    let name = from.text().map_err(damaged)?;
    let file = from.text().map_err(damaged)?;
    let text = from.text().map_err(damaged)?;
    let folder = from.text().map_err(damaged)?;
    let count = from.count(8).map_err(damaged)?;
    let overrides: Result<Vec<String>, _> = (0..count).map(|_| from.text()).collect();
    let overrides = overrides.map_err(damaged)?;
    let duration = from.f64().map_err(damaged)?;
    let mut scene = Scene::parse(&name, &file, &text, Path::new(&folder), &overrides)?;
    scene.description.duration = duration;
    Ok((scene, from))
}
