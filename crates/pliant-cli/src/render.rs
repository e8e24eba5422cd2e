//! `pliant render`: pictures of a stored run, or of a scene at its start.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pliant::fluid::{Content, NewParticle};
use pliant::scene::description::Style;
use pliant::scene::{Built, Scene};
use pliant::{Fluid, Handle};
use pliant_render::{GifWriter, write_mp4};

use crate::cli::{RenderArgs, StyleArg};
use crate::error::CliError;
use crate::in_pool;
use crate::input::{Particles, read_particles, read_scalars};
use crate::output::OutputError;
use crate::picture::Painter;
use crate::run::{checkpoint, data_file, film_file};

/// Makes pictures as the command line asks.
pub fn render(args: &RenderArgs) -> Result<ExitCode, CliError> {
    in_pool(args.threads, || {
        let target = Path::new(&args.target);
        if target.is_dir() {
            run_folder(args, target)
        } else {
            start_of_scene(args)
        }
    })
}

/// One picture of a scene before its first step, or after some time.
fn start_of_scene(args: &RenderArgs) -> Result<ExitCode, CliError> {
    let mut scene = Scene::open(&args.target, &args.set)?;
    let mut built = scene.build()?;
    apply(args, &mut scene);
    let frames = (args.time.unwrap_or(0.0) / f64::from(scene.description.frame)).round();
    for _ in 0..frames as u64 {
        built.world.step(scene.description.frame)?;
    }
    let painter = Painter::new(&scene, &built)?;
    let path = match &args.out {
        Some(path) => path.clone(),
        None => PathBuf::from(format!("{}.png", scene.name)),
    };
    let time = built.world.time();
    painter.draw(&built, time, frames as u64)?.save_png(&path)?;
    say!("{}", path.display());
    Ok(ExitCode::SUCCESS)
}

/// Pictures of the stored frames of a run.
fn run_folder(args: &RenderArgs, folder: &Path) -> Result<ExitCode, CliError> {
    let mut scene = scene_of(folder, &args.set)?;
    let mut built = scene.build()?;
    apply(args, &mut scene);
    let painter = Painter::new(&scene, &built)?;
    let frames = stored_frames(folder, args)?;
    let style = match scene.description.picture.style {
        Style::Quick => "quick",
        Style::Ray => "ray",
        Style::Xray => "xray",
    };
    let out = args.out.clone().unwrap_or_else(|| folder.join(style));
    let single =
        (out.extension().is_some_and(|e| e == "png") && frames.len() == 1).then(|| out.clone());
    if single.is_none() {
        std::fs::create_dir_all(&out).map_err(|e| OutputError::io(&out, e))?;
    }
    let [width, height] = scene.description.picture.size;
    let shown = args
        .pause
        .unwrap_or(scene.description.frame * args.every.max(1) as f32);
    let mut gif = match &args.gif {
        Some(path) => Some(GifWriter::create(path, (width, height), shown)?),
        None => None,
    };
    for (n, k) in frames.iter().enumerate() {
        show(&mut built, folder, *k)?;
        let time = *k as f64 * f64::from(scene.description.frame);
        let image = painter.draw(&built, time, *k)?;
        let path = single
            .clone()
            .unwrap_or_else(|| out.join(format!("frame_{n:05}.png")));
        image.save_png(&path)?;
        if let Some(gif) = &mut gif {
            gif.add(&image)?;
        }
        say!("{}  ({} of {})", path.display(), n + 1, frames.len());
    }
    if let (Some(gif), Some(path)) = (gif, &args.gif) {
        gif.finish()?;
        say!("{}", path.display());
    }
    if let Some(path) = &args.mp4 {
        write_mp4(path, &out.join("frame_%05d.png"), 0, 1.0 / shown)?;
        say!("{}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// The scene of a run, with the overrides it was run with.
fn scene_of(folder: &Path, set: &[String]) -> Result<Scene, CliError> {
    let kept = folder.join("checkpoint.pliant");
    if kept.exists() && set.is_empty() {
        return Ok(checkpoint::read(&kept)?.0);
    }
    for name in ["scene.toml", "scene.json"] {
        let path = folder.join(name);
        if path.exists() {
            return Ok(Scene::open(&path.to_string_lossy(), set)?);
        }
    }
    Err(CliError::Usage(format!(
        "{} is not the folder of a run: it has no scene.toml",
        folder.display()
    )))
}

/// What the command line changes in the pictures.
fn apply(args: &RenderArgs, scene: &mut Scene) {
    let picture = &mut scene.description.picture;
    if let Some(style) = args.style {
        picture.style = match style {
            StyleArg::Quick => Style::Quick,
            StyleArg::Ray => Style::Ray,
            StyleArg::Xray => Style::Xray,
        };
    }
    if let Some(size) = args.size {
        picture.size = size;
    }
    if let Some(samples) = args.samples {
        picture.samples = samples;
    }
    picture.particles |= args.particles;
}

/// Numbers of the stored frames that are asked for.
fn stored_frames(folder: &Path, args: &RenderArgs) -> Result<Vec<u64>, CliError> {
    let data = folder.join("data");
    let entries = std::fs::read_dir(&data).map_err(|source| CliError::Read {
        path: data.clone(),
        source,
    })?;
    let number = |path: &Path| -> Option<u64> {
        let name = path.file_name()?.to_str()?.strip_suffix(".vtu")?;
        let (matter, number) = name.rsplit_once('_')?;
        let stored = matter.starts_with("particles") || matter.starts_with("body_");
        number.parse().ok().filter(|_| stored)
    };
    let mut frames: Vec<u64> = entries
        .flatten()
        .filter_map(|e| number(&e.path()))
        .collect();
    frames.sort_unstable();
    frames.dedup();
    let every = args.every.max(1) as u64;
    frames.retain(|k| match args.frame {
        Some(frame) => *k == frame,
        None => k.is_multiple_of(every),
    });
    if frames.is_empty() {
        let wanted = args
            .frame
            .map_or(String::new(), |k| format!(" of frame {k}"));
        return Err(CliError::Usage(format!(
            "{} has no files of particles or bodies{wanted}; was the run made with --no-data?",
            data.display()
        )));
    }
    Ok(frames)
}

/// Puts stored particles, bodies and films into the world.
fn show(built: &mut Built, folder: &Path, k: u64) -> Result<(), CliError> {
    let fluids = built.world.fluids().count() as u32;
    if let Some(&fluid) = built.fluids.first() {
        let stored = read_particles(&folder.join(data_file(built, 0, k, "vtu")))?;
        show_particles(built, fluid, &stored);
    }
    let solids = built.solids.len();
    // Rigid bodies come between them.
    let rigids = built.world.rigids().count();
    for body in 0..solids + built.softs.len() {
        let before = if body < solids { 0 } else { rigids };
        let part = fluids + (before + body) as u32;
        let path = folder.join(data_file(built, part, k, "vtu"));
        let stored = read_particles(&path)?;
        let (places, velocities) = (stored.positions.view(), stored.velocities.view());
        let world = &mut built.world;
        let fits = if body < solids {
            let solid = world.solid_mut(built.solids[body]);
            solid.is_none_or(|s| s.put_points(places, velocities))
        } else {
            let soft = world.soft_mut(built.softs[body - solids]);
            soft.is_none_or(|s| s.put_points(places, velocities))
        };
        if !fits {
            return Err(CliError::Usage(format!(
                "{}: it has {} points, another number than the body of the scene. Pictures of \
                 bodies after they have torn cannot be made from files yet: `run` draws them. \
                 Or was the scene changed since the run?",
                path.display(),
                places.len()
            )));
        }
    }
    for (i, handle) in &built.coatings {
        let path = folder.join(film_file(*i, k));
        if path.exists() {
            let film = read_scalars(&path, "film")?;
            if let Some(coating) = built.world.coating_mut(*handle) {
                coating.restore(&film);
            }
        }
    }
    Ok(())
}

/// Puts stored particles into a liquid.
fn show_particles(built: &mut Built, fluid: Handle<Fluid>, stored: &Particles) {
    let liquids = built.world.fluid(fluid).map_or(0, |f| f.liquids().len());
    built.world.remove_particles(fluid);
    for liquid in 0..liquids {
        let particles: Vec<NewParticle> = stored
            .positions
            .view()
            .iter()
            .zip(stored.velocities.view().iter())
            .enumerate()
            .filter(|(i, _)| usize::from(stored.liquid.get(*i).copied().unwrap_or(0)) == liquid)
            .map(|(_, (position, velocity))| NewParticle { position, velocity })
            .collect();
        let content = Content {
            liquid: liquid as u8,
            concentration: 0.0,
        };
        built.world.add_content(fluid, &particles, content);
    }
}
