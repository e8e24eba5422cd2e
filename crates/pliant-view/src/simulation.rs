//! The simulation in a thread of its own: it takes commands and publishes snapshots, so
//! that a slow step does not stop the window.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use glam::Vec3;
use pliant::World;
use pliant::observe::{STAGES, Timers};
use pliant::scene::{Built, Scene};
use pliant::solid::Blade;
use pliant_render::Camera;

use crate::parameters::{Parameter, parameters};
use crate::snapshot::{Snapshot, Stage, scene_camera};
use crate::touch::{Hand, Touch};

/// Longest step in simulated seconds: pictures follow each other this fast.
const LONGEST: f32 = 1.0 / 60.0;
/// A step that takes longer is shown while it goes on.
const PICTURE: Duration = Duration::from_millis(33);
/// A simulation that is later than this does not try to catch up, in seconds.
const LATE: f64 = 0.25;

/// Reads and writes files that hold a scene and a state of its world.
pub trait StateFiles: Send {
    /// Writes one.
    fn save(&self, path: &Path, scene: &Scene, world: &World) -> Result<(), String>;
    /// Reads one.
    fn load(&self, path: &Path) -> Result<(Scene, Built), String>;
}

/// What the window can ask of the simulation.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Run or pause.
    Play(bool),
    /// One step.
    Step,
    /// Back to the start.
    Reset,
    /// Simulated seconds per second.
    Speed(f32),
    /// Another scene.
    Open(String),
    /// A parameter, as `--set` has it.
    Set(String, String),
    /// What the hand does.
    Touch(Option<Touch>),
    /// Cut bodies along the way of a blade.
    Cut(Blade),
    /// Write the state.
    Save(PathBuf),
    /// Read a state.
    Load(PathBuf),
}

/// What stays the same until a parameter or the scene changes.
pub struct Setup {
    /// The scene.
    pub scene: Scene,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Speed at the end of the colour scale, in m/s.
    pub speed_range: f32,
    /// Names and units of what the probes read.
    pub probes: Vec<(String, &'static str)>,
    /// Another number, another scene: the view starts again.
    pub number: u64,
}

/// Numbers of one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Simulated time in seconds.
    pub time: f64,
    /// Milliseconds of each stage, in the order of [`STAGES`].
    pub stages: Vec<f32>,
    /// In joules.
    pub kinetic: f64,
    /// In joules.
    pub potential: f64,
    /// What the probes read.
    pub probes: Vec<f64>,
}

/// What the window sees of the simulation.
#[derive(Clone)]
pub struct Published {
    /// The world.
    pub snapshot: Arc<Snapshot>,
    /// The scene.
    pub setup: Arc<Setup>,
    /// It runs.
    pub playing: bool,
    /// Simulated seconds per second, lately.
    pub rate: f64,
    /// Milliseconds of the last step.
    pub step_ms: f64,
    /// What the user should know.
    pub message: Option<String>,
}

impl Published {
    /// The camera that the scene asks for, for a picture of this shape.
    pub fn camera(&self, aspect: f32) -> Camera {
        scene_camera(&self.setup.scene, self.snapshot.bounds, aspect)
    }
}

struct Shared {
    published: Published,
    samples: Vec<Sample>,
}

/// The simulation's thread, seen from the window.
pub struct Simulation {
    commands: Option<Sender<Command>>,
    shared: Arc<Mutex<Shared>>,
    thread: Option<JoinHandle<()>>,
}

impl Simulation {
    /// Builds a scene and starts the thread; `wake` is called when there is news.
    pub fn start(
        scene: Scene,
        built: Built,
        playing: bool,
        files: Box<dyn StateFiles>,
        wake: impl Fn() + Send + 'static,
    ) -> Simulation {
        let mut runner = Runner::new(scene, built, playing, files);
        let shared = Arc::new(Mutex::new(Shared {
            published: runner.published(),
            samples: Vec::new(),
        }));
        let (commands, inbox) = channel();
        let window = Window {
            inbox,
            waiting: Vec::new(),
            gone: false,
            shared: shared.clone(),
            wake,
        };
        let thread = std::thread::spawn(move || runner.run(window));
        Simulation {
            commands: Some(commands),
            shared,
            thread: Some(thread),
        }
    }

    /// Sends a command; it takes effect before the next step.
    pub fn send(&self, command: Command) {
        if let Some(commands) = &self.commands {
            // A thread that has ended has nothing to do any more.
            let _ = commands.send(command);
        }
    }

    /// What there is to see now.
    pub fn latest(&self) -> Published {
        self.lock().published.clone()
    }

    /// Numbers of the steps since the last call.
    pub fn samples(&self) -> Vec<Sample> {
        std::mem::take(&mut self.lock().samples)
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            // A step that panicked has said why already.
            let _ = thread.join();
        }
    }
}

/// The window, seen from the thread.
struct Window<W> {
    inbox: Receiver<Command>,
    /// Commands that came while a step was going on.
    waiting: Vec<Command>,
    /// It has been closed.
    gone: bool,
    shared: Arc<Mutex<Shared>>,
    wake: W,
}

impl<W: Fn()> Window<W> {
    /// All commands there are, for the first of which it waits so long; `None` if the window
    /// is gone.
    fn commands(&mut self, wait: Duration) -> Option<Vec<Command>> {
        if !self.is_waiting() {
            match self.inbox.recv_timeout(wait) {
                Ok(first) => self.waiting.push(first),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.gone = true,
            }
            self.is_waiting();
        }
        (!self.gone).then(|| std::mem::take(&mut self.waiting))
    }

    /// True if it wants something.
    fn is_waiting(&mut self) -> bool {
        loop {
            match self.inbox.try_recv() {
                Ok(command) => self.waiting.push(command),
                Err(TryRecvError::Empty) => return self.gone || !self.waiting.is_empty(),
                Err(TryRecvError::Disconnected) => {
                    self.gone = true;
                    return true;
                }
            }
        }
    }

    /// Shows the world in the middle of a step.
    fn show(&self, snapshot: Arc<Snapshot>) {
        self.lock().published.snapshot = snapshot;
        (self.wake)();
    }

    /// Shows what a step or a command has changed.
    fn publish(&self, published: Published, samples: Vec<Sample>) {
        {
            let mut held = self.lock();
            held.published = published;
            held.samples.extend(samples);
        }
        (self.wake)();
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread's own side.
struct Runner {
    setup: Arc<Setup>,
    built: Built,
    stage: Stage,
    snapshot: Arc<Snapshot>,
    playing: bool,
    speed: f32,
    hand: Hand,
    message: Option<String>,
    files: Box<dyn StateFiles>,
    rate: f64,
    step_ms: f64,
    numbers: u64,
    timers: Timers,
}

impl Runner {
    fn new(scene: Scene, built: Built, playing: bool, files: Box<dyn StateFiles>) -> Runner {
        let mut stage = Stage::new(&scene, &built, 0);
        let snapshot = Arc::new(stage.take(&built.world));
        Runner {
            setup: Arc::new(setup(scene, &built, &stage, 1)),
            timers: *built.world.timers(),
            built,
            stage,
            snapshot,
            playing,
            speed: 1.0,
            hand: Hand::default(),
            message: None,
            files,
            rate: 0.0,
            step_ms: 0.0,
            numbers: 1,
        }
    }

    fn run(&mut self, mut window: Window<impl Fn() + Send>) {
        let mut due = Instant::now();
        loop {
            let wait = if self.playing {
                due.saturating_duration_since(Instant::now())
            } else {
                Duration::from_secs(3600)
            };
            let Some(changes) = window.commands(wait) else {
                return;
            };
            let mut step = false;
            let changed = !changes.is_empty();
            for command in latest_only(changes) {
                step |= command == Command::Step;
                self.obey(command);
            }
            let now = Instant::now();
            let mut samples = Vec::new();
            if step || (self.playing && now >= due) {
                let dt = self
                    .setup
                    .scene
                    .description
                    .frame
                    .min(LONGEST * self.speed.max(0.01));
                let before = self.built.world.time();
                samples.extend(self.step(dt, &mut window));
                let made = self.built.world.time() - before;
                let pause = made / f64::from(self.speed.max(1e-3));
                if now.saturating_duration_since(due).as_secs_f64() > LATE {
                    due = now;
                }
                due += Duration::from_secs_f64(pause);
            } else if !changed {
                continue;
            }
            window.publish(self.published(), samples);
        }
    }

    fn published(&self) -> Published {
        Published {
            snapshot: self.snapshot.clone(),
            setup: self.setup.clone(),
            playing: self.playing,
            rate: self.rate,
            step_ms: self.step_ms,
            message: self.message.clone(),
        }
    }

    /// Makes a step of `dt` seconds. One that fails pauses the scene. While one takes longer
    /// than a picture, the window sees every sub-step, and commands end it.
    fn step(&mut self, dt: f32, window: &mut Window<impl Fn() + Send>) -> Option<Sample> {
        let clock = Instant::now();
        let (stage, mut shown) = (&mut self.stage, clock);
        let outcome = self.hand.step(&mut self.built, dt, |world| {
            if shown.elapsed() < PICTURE {
                return true;
            }
            shown = Instant::now();
            window.show(Arc::new(stage.take(world)));
            !window.is_waiting()
        });
        let wall = clock.elapsed().as_secs_f64();
        self.step_ms = 1e3 * wall;
        let made = *outcome.as_ref().unwrap_or(&dt);
        let rate = f64::from(made) / wall.max(f64::from(made / self.speed.max(1e-3)));
        self.rate = if self.rate > 0.0 {
            0.9 * self.rate + 0.1 * rate
        } else {
            rate
        };
        if let Err(e) = outcome {
            self.playing = false;
            self.message = Some(format!("{e}\nThe scene has stopped; reset it to go on."));
            return None;
        }
        self.snapshot = Arc::new(self.stage.take(&self.built.world));
        let spent = self.built.world.timers().since(&self.timers);
        self.timers = *self.built.world.timers();
        let totals = self.built.world.totals();
        Some(Sample {
            time: self.built.world.time(),
            stages: STAGES
                .iter()
                .map(|(stage, _)| 1e3 * spent.spent(*stage).as_secs_f32())
                .collect(),
            kinetic: totals.kinetic,
            potential: totals.potential,
            probes: self
                .built
                .probes
                .iter()
                .flat_map(|p| p.read(&self.built.world))
                .collect(),
        })
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Play(playing) => self.playing = playing,
            Command::Step => self.playing = false,
            Command::Reset => {
                let scene = self.setup.scene.clone();
                self.rebuild(scene, |_, _| false, false);
            }
            Command::Speed(speed) => self.speed = speed.clamp(0.01, 100.0),
            Command::Open(name) => match Scene::open(&name, &[]) {
                Ok(scene) => self.rebuild(scene, |_, _| false, true),
                Err(e) => self.message = Some(e.to_string()),
            },
            Command::Set(key, value) => self.set(&key, &value),
            Command::Touch(touch) => self.hand.touch(touch),
            Command::Cut(blade) => self.hand.cut(blade),
            Command::Save(path) => {
                let saved = self.files.save(&path, &self.setup.scene, &self.built.world);
                self.message = Some(match saved {
                    Ok(()) => format!("saved {}", path.display()),
                    Err(e) => e,
                });
            }
            Command::Load(path) => match self.files.load(&path) {
                Ok((scene, built)) => {
                    self.take(scene, built, true);
                    self.message = Some(format!("loaded {}", path.display()));
                }
                Err(e) => self.message = Some(e),
            },
        }
    }

    /// Changes a parameter: at once if the state can go on with it, else from the start.
    fn set(&mut self, key: &str, value: &str) {
        let old = &self.setup;
        let (text, file, folder, overrides) = old.scene.origin();
        let begins = format!("{key}=");
        let mut pairs: Vec<String> = overrides
            .iter()
            .filter(|pair| !pair.starts_with(&begins))
            .map(|pair| pair.to_string())
            .collect();
        pairs.push(format!("{key}={value}"));
        let scene = match Scene::parse(&old.scene.name, file, text, folder, &pairs) {
            Ok(scene) => scene,
            Err(e) => {
                self.message = Some(e.to_string());
                return;
            }
        };
        if key.starts_with("gravity.") {
            self.built.world.gravity = scene.description.gravity.acceleration;
            let mut next = setup(scene, &self.built, &self.stage, old.number);
            next.speed_range = old.speed_range;
            self.setup = Arc::new(next);
            self.message = None;
            self.snapshot = Arc::new(self.stage.take(&self.built.world));
            return;
        }
        let parameter = old.parameters.iter().find(|p| p.key == key);
        let restarts = parameter.is_some_and(|p| p.restarts);
        self.rebuild(
            scene,
            |built, before| !restarts && built.world.continue_from(&before.world).is_ok(),
            false,
        );
    }

    /// Builds a scene; `carry` takes over what was before, or says that it cannot.
    fn rebuild(&mut self, scene: Scene, carry: impl Fn(&mut Built, &Built) -> bool, another: bool) {
        match scene.build() {
            Ok(mut built) => {
                if !carry(&mut built, &self.built) {
                    match scene.build() {
                        Ok(fresh) => built = fresh,
                        Err(e) => self.message = Some(e.to_string()),
                    }
                }
                self.take(scene, built, another);
            }
            Err(e) => self.message = Some(e.to_string()),
        }
    }

    fn take(&mut self, scene: Scene, built: Built, another: bool) {
        self.stage = Stage::new(&scene, &built, self.stage.number());
        self.numbers += u64::from(another);
        self.timers = *built.world.timers();
        self.built = built;
        self.snapshot = Arc::new(self.stage.take(&self.built.world));
        self.setup = Arc::new(setup(scene, &self.built, &self.stage, self.numbers));
        self.message = None;
    }
}

fn setup(scene: Scene, built: &Built, stage: &Stage, number: u64) -> Setup {
    let probes = built.probes.iter().flat_map(|p| {
        let quantities = p.quantities().iter();
        quantities.map(move |q| {
            let name = format!("{}: {} {}", p.name, q.kind, q.part);
            (name.trim_end().to_string(), q.unit)
        })
    });
    Setup {
        parameters: parameters(&scene),
        speed_range: stage.speed_range,
        probes: probes.collect(),
        number,
        scene,
    }
}

/// Of several changes of one thing only the last counts: a slider sends many.
fn latest_only(commands: Vec<Command>) -> Vec<Command> {
    let same = |a: &Command, b: &Command| match (a, b) {
        (Command::Set(a, _), Command::Set(b, _)) => a == b,
        (Command::Touch(_), Command::Touch(_)) | (Command::Speed(_), Command::Speed(_)) => true,
        _ => false,
    };
    let mut kept: Vec<Command> = Vec::new();
    for command in commands {
        kept.retain(|earlier| !same(earlier, &command));
        kept.push(command);
    }
    kept
}

/// The direction of gravity, turned by a drag over the screen.
pub fn turned(gravity: Vec3, axis: Vec3, angle: f32) -> Vec3 {
    glam::Quat::from_axis_angle(axis.normalize_or(Vec3::Z), angle) * gravity
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoFiles;

    impl StateFiles for NoFiles {
        fn save(&self, _: &Path, _: &Scene, _: &World) -> Result<(), String> {
            Err("no files here".into())
        }

        fn load(&self, _: &Path) -> Result<(Scene, Built), String> {
            Err("no files here".into())
        }
    }

    /// A step of many short sub-steps of many particles takes far longer than a picture: the
    /// window sees moments of it that no step ends at, and a command ends it.
    #[test]
    fn slow_steps_are_shown_while_they_go_on_and_end_by_commands() {
        let settings = ["fluid.0.spacing=0.0016".into(), "step.cfl=0.2".into()];
        let scene = Scene::open("vessel", &settings).unwrap();
        let step = f64::from(LONGEST.min(scene.description.frame));
        let built = scene.build().unwrap();
        let simulation = Simulation::start(scene, built, true, Box::new(NoFiles), || {});
        let within = |time: f64| (time / step - (time / step).round()).abs() > 0.01;
        let patience = Instant::now() + Duration::from_secs(60);
        let mut seen = 0;
        while seen < 2 && Instant::now() < patience {
            let time = simulation.latest().snapshot.time;
            seen += u32::from(within(time));
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(seen, 2);
        simulation.send(Command::Play(false));
        let mut paused = simulation.latest();
        while paused.playing && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(5));
            paused = simulation.latest();
        }
        assert!(!paused.playing);
    }
}
