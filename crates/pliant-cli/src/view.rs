//! `pliant view`: a scene live in a window, or a picture with the live renderer.

use std::path::Path;
use std::process::ExitCode;

use pliant::World;
use pliant::scene::{Built, Scene};
use pliant_view::{
    Caption, Look, Mode, Offscreen, Shown, Stage, StateFiles, ViewerSettings, legend, show,
};

use crate::cli::ViewArgs;
use crate::error::CliError;
use crate::in_pool;
use crate::output::write_atomic;
use crate::run::checkpoint;

/// Shows a scene as the command line asks.
pub fn view(args: &ViewArgs) -> Result<ExitCode, CliError> {
    let mode = Mode::from_name(&args.mode).ok_or_else(|| {
        let names: Vec<&str> = Mode::ALL.iter().map(|m| m.name()).collect();
        CliError::Usage(format!(
            "--mode {}: there is no such mode; it is one of {}",
            args.mode,
            names.join(", ")
        ))
    })?;
    let look = Look {
        mode,
        field: args.field.clone(),
        ..Look::default()
    };
    let (scene, state) = match &args.resume {
        Some(path) => {
            let (scene, state) = checkpoint::read(path)?;
            (scene, Some((path, state)))
        }
        None => (Scene::open(&args.scene, &args.set)?, None),
    };
    let mut built = scene.build()?;
    if let Some((path, state)) = &state {
        checkpoint::restore(&mut built.world, path, state)?;
    }
    match &args.shot {
        Some(path) => in_pool(args.threads, || shot(args, &scene, built, look, path)),
        None => window(args, scene, built, look),
    }
}

/// Opens the window.
fn window(args: &ViewArgs, scene: Scene, built: Built, look: Look) -> Result<ExitCode, CliError> {
    // The window must stay in the first thread: the simulation's threads are the others.
    if let Some(threads) = args.threads {
        in_pool(Some(threads), || Ok(()))?;
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(|e| CliError::Usage(format!("cannot start {threads} threads: {e}")))?;
    }
    let settings = ViewerSettings {
        size: args.size,
        look,
        paused: args.paused,
        folder: args.out.clone(),
        trace: args.trace.clone(),
    };
    show(scene, built, settings, Box::new(Checkpoints))?;
    Ok(ExitCode::SUCCESS)
}

/// States are checkpoints, which `run --resume` takes, too.
struct Checkpoints;

impl StateFiles for Checkpoints {
    fn save(&self, path: &Path, scene: &Scene, world: &World) -> Result<(), String> {
        let bytes = checkpoint::encode(scene, world);
        write_atomic(path, &bytes).map_err(|e| e.to_string())
    }

    fn load(&self, path: &Path) -> Result<(Scene, Built), String> {
        let read = || -> Result<(Scene, Built), CliError> {
            let (scene, state) = checkpoint::read(path)?;
            let mut built = scene.build()?;
            checkpoint::restore(&mut built.world, path, &state)?;
            Ok((scene, built))
        };
        read().map_err(|e| e.to_string())
    }
}

/// A picture of a scene after some time.
fn shot(
    args: &ViewArgs,
    scene: &Scene,
    mut built: Built,
    mut look: Look,
    path: &Path,
) -> Result<ExitCode, CliError> {
    if !(args.after >= 0.0 && args.after.is_finite()) {
        return Err(CliError::Usage(format!(
            "--after {}: must be a time in seconds, not negative",
            args.after
        )));
    }
    // Before the work, which may be long.
    let mut offscreen = Offscreen::new()?;
    let mut stage = Stage::new(scene, &built, 0);
    let frame = scene.description.frame;
    for _ in 0..(args.after / f64::from(frame)).round() as u64 {
        built.world.step(frame)?;
    }
    let snapshot = stage.take(&built.world);
    if let Some(field) = &look.field
        && !snapshot.fields().contains(&field.as_str())
    {
        return Err(CliError::Usage(format!(
            "--field {field}: this scene has no such quantity; it has {}",
            snapshot.fields().join(", ")
        )));
    }
    if look.field.is_none() {
        look.range = Some((0.0, stage.speed_range));
    }
    let [width, height] = args.size;
    let camera = stage.camera(scene, width as f32 / height as f32);
    let caption = Caption {
        title: format!("{}   t = {:.2} s", scene.description.title, snapshot.time),
        legend: legend(&snapshot, &look),
        dark: look.mode.is_dark(),
        ..Caption::default()
    };
    let shown = Shown {
        snapshot: &snapshot,
        look: &look,
        camera: &camera,
        size: args.size,
    };
    let image = offscreen.picture(&shown, &caption)?;
    image.save_png(path)?;
    say!("{}", path.display());
    Ok(ExitCode::SUCCESS)
}
