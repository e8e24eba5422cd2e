//! `pliant run`: steps a scene frame by frame and writes what a person wants to see.
//!
//! `folder.rs` decides where results go, `recorder.rs` writes files and charts,
//! `probes.rs` those of what the scene measures, `checkpoint.rs` keeps and restores the
//! state.

pub mod checkpoint;
mod folder;
mod probes;
mod recorder;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pliant::scene::{Built, Scene};
use pliant::{StepError, World};
use serde::Serialize;

use crate::cli::RunArgs;
use crate::error::CliError;
use crate::in_pool;
use crate::report::number;
use folder::Folder;
use probes::LastValues;
use recorder::Recorder;

pub use recorder::{data_file, film_file};

/// Length in seconds of a step that is made only to see whether it can be.
const TRIAL_STEP: f32 = 1e-9;
/// Frames in a row that must be slow before a world counts as still.
const STILL_FRAMES: u32 = 10;

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
    /// What the probes read at the end.
    pub probes: Vec<LastValues>,
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
            say!("{}", serde_json::json!(summary));
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
    let frames = scene.frames()?;
    let mut built = scene.build()?;
    if let Some((path, state)) = &resumed {
        checkpoint::restore(&mut built.world, path, state)?;
        if built.world.steps().0 >= frames {
            return Err(CliError::Usage(format!(
                "{}: the run has reached {:.4} s already; give a longer --duration to continue",
                path.display(),
                built.world.time()
            )));
        }
    }
    if built.world.settings.fixed.is_some() {
        // A sub-step that is too long is refused before anything is written.
        try_step(&scene, &mut built.world.clone())?;
    }
    let folder = match (args.dry, &resumed) {
        (true, _) => None,
        (false, Some((path, _))) => Some(Folder::of_checkpoint(args, path)?),
        (false, None) => Some(Folder::create(args, &scene.name)?),
    };

    let stop = stop_on_interrupt();
    let bar = progress_bar(frames, built.world.steps().0, args);
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
    let mut way = Way::new(&built);
    while built.world.steps().0 < frames && !way.is_still() && !stop.load(Ordering::SeqCst) {
        // The state that is kept if this frame fails: a step that fails leaves none.
        let good = recorder
            .as_ref()
            .map(|_| checkpoint::encode(&scene, &built.world));
        let (frame, time) = (built.world.steps().0, built.world.time());
        if let Err(e) = way.frame(&scene, &mut built, recorder.as_mut(), args) {
            bar.abandon();
            return Err(match (&recorder, good) {
                (Some(recorder), Some(good)) => stopped(e, recorder, &good, frame, time),
                _ => e,
            });
        }
        bar.set_position(built.world.steps().0);
        bar.set_message(format!(
            "{:.2} s, {} particles, {:.2}x real time",
            built.world.time(),
            built.world.point_count(),
            way.simulated / way.stepping.as_secs_f64().max(1e-9)
        ));
    }
    bar.finish_and_clear();
    let clock = Instant::now();
    if let Some(recorder) = &mut recorder {
        recorder.checkpoint(&checkpoint::encode(&scene, &built.world))?;
        recorder.finish()?;
    }
    way.writing += clock.elapsed();

    let (steps_done, substeps) = built.world.steps();
    let steps = substeps - substeps_at_start;
    let totals = built.world.totals();
    let wall = way.stepping.as_secs_f64();
    let summary = Summary {
        scene: scene.name.clone(),
        steps,
        frames: way.frames,
        simulated_s: built.world.time(),
        wall_s: wall,
        output_s: way.writing.as_secs_f64(),
        start_s,
        ms_per_step: if steps > 0 {
            1e3 * wall / steps as f64
        } else {
            0.0
        },
        real_time_factor: if wall > 0.0 {
            way.simulated / wall
        } else {
            0.0
        },
        particles: built.world.point_count(),
        leaked: way.leaked,
        kinetic_j: totals.kinetic,
        energy_change_j: energy(&built) - energy_at_start,
        max_speed_m_per_s: totals.max_speed,
        step_limit: way.limit.clone(),
        probes: probes::last_values(&built),
        hash: built.world.hash().to_string(),
        interrupted: steps_done < frames && !way.is_still(),
        out: folder.as_ref().map(|f| f.path().display().to_string()),
    };
    if let Some(folder) = &folder {
        folder.write_summary(&summary)?;
    }
    Ok(summary)
}

/// Makes a tiny step: it finds what only the numbers show, such as a fixed
/// sub-step that is too long.
pub fn try_step(scene: &Scene, world: &mut World) -> Result<(), CliError> {
    match world.step(TRIAL_STEP) {
        Ok(_) => Ok(()),
        Err(e @ StepError::FixedTooLarge { .. }) => {
            Err(scene.complaint("step.fixed", e.to_string()).into())
        }
        Err(e) => Err(e.into()),
    }
}

/// What a run adds up on its way.
struct Way {
    frames: u64,
    /// Seconds simulated.
    simulated: f64,
    stepping: Duration,
    writing: Duration,
    /// Most particles on the wrong side of a wall at any frame.
    leaked: usize,
    /// What limited the last sub-step.
    limit: String,
    /// Frames since anything was faster than `--until-still` asks for.
    still: u32,
}

impl Way {
    fn new(built: &Built) -> Way {
        Way {
            frames: 0,
            simulated: 0.0,
            stepping: Duration::ZERO,
            writing: Duration::ZERO,
            leaked: built.world.leaked(),
            limit: String::new(),
            still: 0,
        }
    }

    fn is_still(&self) -> bool {
        self.still >= STILL_FRAMES
    }

    /// Makes the next frame and writes it.
    fn frame(
        &mut self,
        scene: &Scene,
        built: &mut Built,
        recorder: Option<&mut Recorder<'_>>,
        args: &RunArgs,
    ) -> Result<(), CliError> {
        let clock = Instant::now();
        let report = built.world.step(scene.description.frame)?;
        self.stepping += clock.elapsed();
        self.frames += 1;
        self.simulated += f64::from(scene.description.frame);
        self.limit = report.limit.to_string();
        let slow = |speed: f32| built.world.totals().max_speed <= speed;
        let slow = args.until_still.is_some_and(slow);
        self.still = if slow { self.still + 1 } else { 0 };
        let clock = Instant::now();
        self.leaked = self.leaked.max(built.world.leaked());
        if let Some(recorder) = recorder {
            let k = built.world.steps().0;
            recorder.frame(k, built, &report)?;
            if args
                .checkpoint_every
                .is_some_and(|n| n > 0 && k.is_multiple_of(n))
            {
                recorder.checkpoint(&checkpoint::encode(scene, &built.world))?;
            }
        }
        self.writing += clock.elapsed();
        Ok(())
    }
}

/// Keeps the last good state of a run that has failed, and says where it is.
fn stopped(e: CliError, recorder: &Recorder<'_>, good: &[u8], frame: u64, time: f64) -> CliError {
    // The charts often show why; that they cannot be drawn is not worth a word.
    let _ = recorder.charts();
    let kept = match recorder.checkpoint(good) {
        Ok(path) => format!(
            "the last good state, frame {frame} at {time:.4} s, is kept in {}",
            path.display()
        ),
        Err(why) => {
            format!("the last good state, frame {frame} at {time:.4} s, could not be kept: {why}")
        }
    };
    CliError::Stopped {
        source: Box::new(e),
        kept,
    }
}

/// A flag that Ctrl-C sets; a second Ctrl-C ends the program at once.
fn stop_on_interrupt() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    // Without a handler Ctrl-C still ends the program, only less politely.
    let _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
    stop
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
        say!("stopped early at {:.3} s", s.simulated_s);
    }
    say!("scene            {}", s.scene);
    say!(
        "simulated        {:.3} s in {} frames, {} sub-steps",
        s.simulated_s,
        s.frames,
        s.steps
    );
    say!(
        "wall time        {:.2} s ({:.3} ms per sub-step, {:.2}x real time), {:.2} s writing, \
         {:.0} ms to the first step",
        s.wall_s,
        s.ms_per_step,
        s.real_time_factor,
        s.output_s,
        1e3 * s.start_s
    );
    say!("particles        {} ({} leaked)", s.particles, s.leaked);
    say!(
        "energy           {:.4} J kinetic, change of the total {:.4} J, fastest {:.3} m/s",
        s.kinetic_j,
        s.energy_change_j,
        s.max_speed_m_per_s
    );
    say!("sub-step set by  {}", s.step_limit);
    for last in &s.probes {
        let values = last.values.iter();
        let values: Vec<String> = values.map(|(q, v)| format!("{q} {}", number(*v))).collect();
        say!("probe            {}: {}", last.probe, values.join(", "));
    }
    say!("hash             {}", s.hash);
    if let Some(out) = &s.out {
        say!("results          {out}");
        if s.interrupted {
            say!("continue with    pliant run --resume {out}/checkpoint.pliant");
        }
    }
}
