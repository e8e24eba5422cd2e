//! `pliant run`: steps a scene frame by frame and writes what a person wants to see.
//!
//! `folder.rs` decides where results go, `recorder.rs` writes files and charts,
//! `checkpoint.rs` keeps and restores the state, `picture.rs` draws a frame.

mod checkpoint;
mod folder;
mod picture;
mod recorder;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pliant::scene::{Built, Scene};
use serde::Serialize;

use crate::cli::RunArgs;
use crate::error::CliError;
use crate::in_pool;
use folder::Folder;
use recorder::Recorder;

/// What a run did: the summary, and the last line of `--json`.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name of the scene.
    pub scene: String,
    /// Sub-steps made by this run.
    pub steps: u64,
    /// Frames made by this run.
    pub frames: u64,
    /// Simulated time at the end, in seconds.
    pub simulated_s: f64,
    /// Wall time spent simulating, in seconds.
    pub wall_s: f64,
    /// Wall time spent writing pictures and files, in seconds.
    pub output_s: f64,
    /// Wall time from the start of the program to the first step, in seconds.
    pub start_s: f64,
    /// Wall time per sub-step.
    pub ms_per_step: f64,
    /// Simulated seconds per second of simulating.
    pub real_time_factor: f64,
    /// Particles at the end.
    pub particles: usize,
    /// Particles on the wrong side of a wall at any frame.
    pub leaked: usize,
    /// Kinetic energy at the end.
    pub kinetic_j: f64,
    /// Kinetic and potential energy at the end minus that at the start.
    pub energy_change_j: f64,
    /// Largest speed at the end.
    pub max_speed_m_per_s: f32,
    /// What limited the sub-step last.
    pub step_limit: String,
    /// Fingerprint of the final state.
    pub hash: String,
    /// True if Ctrl-C ended it early.
    pub interrupted: bool,
    /// Where the results are.
    pub out: Option<String>,
}

/// Runs a scene from the command line.
pub fn run(args: &RunArgs) -> Result<ExitCode, CliError> {
    let started = Instant::now();
    in_pool(args.threads, || {
        let summary = run_scene(args, started)?;
        if args.json {
            println!("{}", serde_json::json!(summary));
        } else {
            print_summary(&summary);
        }
        Ok(if summary.interrupted {
            ExitCode::from(130)
        } else {
            ExitCode::SUCCESS
        })
    })
}

fn run_scene(args: &RunArgs, started: Instant) -> Result<Summary, CliError> {
    let (mut scene, resumed) = match &args.resume {
        Some(path) => {
            let (scene, state) = checkpoint::read(path)?;
            (scene, Some((path, state)))
        }
        None => {
            let what = args.scene.as_deref().unwrap_or_default();
            (Scene::open(what, &args.set)?, None)
        }
    };
    if let Some(duration) = args.duration {
        if !(duration.is_finite() && duration > 0.0) {
            return Err(CliError::Usage(format!(
                "--duration {duration}: must be a positive time in seconds"
            )));
        }
        scene.description.duration = duration;
    }
    let mut built = scene.build()?;
    if let Some((path, state)) = &resumed {
        checkpoint::restore(&mut built.world, path, state)?;
    }
    let folder = match (args.dry, &resumed) {
        (true, _) => None,
        (false, Some((path, _))) => Some(Folder::of_checkpoint(args.out.as_deref(), path)?),
        (false, None) => Some(Folder::create(args.out.as_deref(), &scene.name, args.force)?),
    };

    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    // A second Ctrl-C ends the program at once.
    let _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });

    let frame = scene.description.frame;
    let frames = (scene.description.duration / f64::from(frame)).round().max(1.0) as u64;
    let done = built.world.steps().0;
    let bar = progress_bar(frames, done, args);
    let mut recorder = match &folder {
        Some(folder) => Some(Recorder::new(folder, &scene, &built, args)?),
        None => None,
    };
    if let Some(recorder) = &mut recorder {
        recorder.begin(&scene, &built)?;
    }
    let energy_at_start = energy(&built);
    let substeps_at_start = built.world.steps().1;
    let start_s = started.elapsed().as_secs_f64();
    let mut stepping = Duration::ZERO;
    let mut writing = Duration::ZERO;
    let mut leaked = built.world.leaked();
    let mut limit = String::new();
    let mut frames_made = 0;
    for k in done..frames {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let clock = Instant::now();
        let report = match built.world.step(frame) {
            Ok(report) => report,
            Err(e) => {
                bar.abandon();
                return Err(e.into());
            }
        };
        stepping += clock.elapsed();
        frames_made += 1;
        limit = report.limit.to_string();
        let clock = Instant::now();
        leaked = leaked.max(built.world.leaked());
        if let Some(recorder) = &mut recorder {
            recorder.frame(k + 1, &built, &report)?;
            if args.checkpoint_every.is_some_and(|n| n > 0 && (k + 1) % n == 0) {
                recorder.checkpoint(&scene, &built)?;
            }
        }
        writing += clock.elapsed();
        bar.set_position(k + 1);
        bar.set_message(format!(
            "{:.2} s, {} particles, {:.2}x real time",
            built.world.time(),
            built.world.point_count(),
            f64::from(frame) * frames_made as f64 / stepping.as_secs_f64().max(1e-9)
        ));
    }
    bar.finish_and_clear();
    let clock = Instant::now();
    if let Some(recorder) = &mut recorder {
        recorder.checkpoint(&scene, &built)?;
        recorder.charts()?;
    }
    writing += clock.elapsed();

    let (steps_done, substeps) = built.world.steps();
    let steps = substeps - substeps_at_start;
    let simulated = f64::from(frame) * frames_made as f64;
    let totals = built.world.totals();
    let wall = stepping.as_secs_f64();
    let summary = Summary {
        scene: scene.name.clone(),
        steps,
        frames: frames_made,
        simulated_s: built.world.time(),
        wall_s: wall,
        output_s: writing.as_secs_f64(),
        start_s,
        ms_per_step: if steps > 0 { 1e3 * wall / steps as f64 } else { 0.0 },
        real_time_factor: if wall > 0.0 { simulated / wall } else { 0.0 },
        particles: built.world.point_count(),
        leaked,
        kinetic_j: totals.kinetic,
        energy_change_j: energy(&built) - energy_at_start,
        max_speed_m_per_s: totals.max_speed,
        step_limit: limit,
        hash: built.world.hash().to_string(),
        interrupted: steps_done < frames,
        out: folder.as_ref().map(|f| f.path().display().to_string()),
    };
    if let Some(folder) = &folder {
        folder.write_summary(&summary)?;
    }
    Ok(summary)
}

fn energy(built: &Built) -> f64 {
    let totals = built.world.totals();
    totals.kinetic + totals.potential
}

fn progress_bar(frames: u64, done: u64, args: &RunArgs) -> ProgressBar {
    let bar = ProgressBar::new(frames);
    if args.quiet {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) =
        ProgressStyle::with_template("{bar:30} {pos}/{len} frames, {eta} left  {msg}")
    {
        bar.set_style(style);
    }
    bar.set_position(done);
    bar.reset_eta();
    bar
}

fn print_summary(s: &Summary) {
    if s.interrupted {
        println!("stopped early at {:.3} s", s.simulated_s);
    }
    println!("scene            {}", s.scene);
    println!("simulated        {:.3} s in {} frames, {} sub-steps", s.simulated_s, s.frames, s.steps);
    println!(
        "wall time        {:.2} s ({:.3} ms per sub-step, {:.2}x real time), {:.2} s writing, \
         {:.0} ms to the first step",
        s.wall_s,
        s.ms_per_step,
        s.real_time_factor,
        s.output_s,
        1e3 * s.start_s
    );
    println!("particles        {} ({} leaked)", s.particles, s.leaked);
    println!(
        "energy           {:.4} J kinetic, change of the total {:.4} J, fastest {:.3} m/s",
        s.kinetic_j, s.energy_change_j, s.max_speed_m_per_s
    );
    println!("sub-step set by  {}", s.step_limit);
    println!("hash             {}", s.hash);
    if let Some(out) = &s.out {
        println!("results          {out}");
        if s.interrupted {
            println!("continue with    pliant run --resume {out}/checkpoint.pliant");
        }
    }
}
