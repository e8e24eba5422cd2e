//! A virtual screen, and the viewer on it.

use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::picture::Picture;

/// Longest wait for anything: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);
/// Size of the screen and of the window.
const SIZE: [u32; 2] = [1100, 760];

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A virtual X server, ended with the test.
pub struct Desktop {
    server: Child,
    display: String,
    folder: PathBuf,
}

impl Desktop {
    /// Starts one; `None` if this machine cannot.
    pub fn new() -> Option<Desktop> {
        for program in ["Xvfb", "xdotool", "xwd"] {
            let found = Command::new("which").arg(program).output();
            if !found.is_ok_and(|o| o.status.success()) {
                let needed = std::env::var_os("PLIANT_NEEDS_DISPLAY").is_some();
                assert!(!needed, "{program} is missing");
                eprintln!("skipped: {program} is not installed");
                return None;
            }
        }
        let drivers = std::fs::read_dir("/usr/share/vulkan/icd.d");
        if !drivers.is_ok_and(|mut list| list.next().is_some()) {
            eprintln!("skipped: there is no Vulkan driver");
            return None;
        }
        let k = NEXT.fetch_add(1, Ordering::SeqCst);
        let folder = std::env::temp_dir().join(format!("pliant-view-{}-{k}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        // Numbers that no real screen has.
        let display = format!(":{}", 200 + (std::process::id() * 8 + k) % 3000);
        let [width, height] = SIZE;
        let server = Command::new("Xvfb")
            .args([&display, "-screen", "0", &format!("{width}x{height}x24")])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let desktop = Desktop {
            server,
            display,
            folder,
        };
        let deadline = Instant::now() + PATIENCE;
        while !desktop.tool(&["getdisplaygeometry"]).status.success() {
            assert!(Instant::now() < deadline, "the X server does not start");
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(desktop)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("DISPLAY", &self.display)
            .env_remove("WAYLAND_DISPLAY")
            .env("XDG_RUNTIME_DIR", &self.folder)
            .current_dir(&self.folder);
        command
    }

    fn tool(&self, args: &[&str]) -> Output {
        self.command("xdotool").args(args).output().unwrap()
    }

    fn viewer(&self, scene: &str, args: &[&str]) -> Command {
        std::fs::write(self.folder.join("scene.toml"), scene).unwrap();
        let mut command = self.command(env!("CARGO_BIN_EXE_pliant"));
        command.args(["view", "scene.toml"]).args(args);
        command
    }

    /// The viewer where there is no screen.
    pub fn run_without_display(&self, scene: &str) -> Output {
        let mut command = self.viewer(scene, &[]);
        command.env_remove("DISPLAY").output().unwrap()
    }

    /// A picture where there is nothing to draw with.
    pub fn run_without_adapter(&self, scene: &str) -> Output {
        let mut command = self.viewer(scene, &["--shot", "a.png"]);
        let nothing = [
            ("VK_ICD_FILENAMES", "/nowhere.json"),
            ("VK_DRIVER_FILES", "/nowhere.json"),
        ];
        command.envs(nothing).output().unwrap()
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        // Ended already if something went wrong.
        let _ = self.server.kill();
        let _ = self.server.wait();
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

/// What the viewer says of a picture that it has drawn.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    pub number: u64,
    pub time: f64,
    pub playing: bool,
}

/// A running viewer.
pub struct Viewer<'a> {
    desktop: &'a Desktop,
    program: Child,
    /// Lines of the trace that a test has seen already.
    read: usize,
}

impl<'a> Viewer<'a> {
    /// Starts the viewer on a scene and waits for its window.
    pub fn start(desktop: &'a Desktop, scene: &str, args: &[&str]) -> Viewer<'a> {
        let [width, height] = SIZE;
        let size = format!("{width}x{height}");
        let own = ["--trace", "trace.txt", "--size", &size];
        let program = desktop
            .viewer(scene, &[args, &own].concat())
            .spawn()
            .unwrap();
        let mut viewer = Viewer {
            desktop,
            program,
            read: 0,
        };
        viewer.wait_for("drawn");
        let window = viewer.window();
        // Without a window manager nobody gives the window the keys.
        desktop.tool(&["windowfocus", "--sync", &window]);
        viewer
    }

    fn window(&self) -> String {
        let id = self.program.id().to_string();
        let found = self
            .desktop
            .tool(&["search", "--sync", "--name", "pliant:"]);
        let text = String::from_utf8_lossy(&found.stdout).into_owned();
        let window = text.lines().next().map(str::to_string);
        window.unwrap_or_else(|| panic!("no window of process {id}"))
    }

    fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.file("trace.txt")).unwrap_or_default();
        text.lines().map(str::to_string).collect()
    }

    /// Waits until `found` finds something in the trace.
    fn wait<T>(&mut self, what: &str, found: impl Fn(&[String]) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let lines = self.lines();
            if let Some(found) = found(&lines) {
                return found;
            }
            let ended = self.program.try_wait().unwrap();
            assert!(
                ended.is_none(),
                "the viewer ended ({ended:?}) before {what}"
            );
            let tail = lines[lines.len().saturating_sub(12)..].join("\n");
            assert!(Instant::now() < deadline, "no {what} after:\n{tail}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Waits for a new line that begins with `words`.
    pub fn wait_for(&mut self, words: &str) -> String {
        let read = self.read;
        let (k, line) = self.wait(words, |lines| {
            let new = lines.iter().enumerate().skip(read);
            let mut fits = new.filter(|(_, l)| l.starts_with(words));
            fits.next().map(|(k, l)| (k, l.clone()))
        });
        self.read = k + 1;
        line
    }

    /// The last picture that was drawn.
    pub fn last_drawn(&mut self) -> Drawn {
        self.wait("a picture", |lines| {
            lines.iter().rev().find_map(|l| drawn(l))
        })
    }

    /// Waits until a picture has been drawn that `fits`.
    pub fn wait_drawn(&mut self, fits: impl Fn(&Drawn) -> bool) -> Drawn {
        self.wait("such a picture", |lines| {
            let last = lines.iter().rev().find_map(|l| drawn(l));
            last.filter(&fits)
        })
    }

    /// Where a control is, in pixels.
    fn place(&mut self, name: &str) -> [i32; 4] {
        let words = format!("place {name} ");
        self.wait(&words, |lines| {
            let line = lines.iter().rev().find(|l| l.starts_with(&words))?;
            let numbers = line[words.len()..].split(' ').map(|n| n.parse().unwrap());
            numbers.collect::<Vec<i32>>().try_into().ok()
        })
    }

    fn xdotool(&self, args: &[&str]) {
        let done = self.desktop.tool(args);
        assert!(done.status.success(), "xdotool {args:?}: {done:?}");
        std::thread::sleep(Duration::from_millis(60));
    }

    /// Presses a key.
    pub fn key(&mut self, key: &str) {
        self.xdotool(&["key", key]);
    }

    fn move_to(&self, [x, y]: [i32; 2]) {
        self.xdotool(&["mousemove", &x.to_string(), &y.to_string()]);
    }

    /// Clicks the middle of a control.
    pub fn click(&mut self, name: &str) {
        let [left, top, right, bottom] = self.place(name);
        self.move_to([(left + right) / 2, (top + bottom) / 2]);
        self.xdotool(&["click", "1"]);
    }

    /// Drags with a button between two places, given in shares of a control.
    pub fn drag(&mut self, name: &str, button: u32, from: [f32; 2], to: [f32; 2]) {
        let [left, top, right, bottom] = self.place(name).map(|v| v as f32);
        let at = |share: f32, of: [f32; 2], to: [f32; 2]| {
            let mix = |k: usize| of[k] + share * (to[k] - of[k]);
            [
                (left + mix(0) * (right - left)) as i32,
                (top + mix(1) * (bottom - top)) as i32,
            ]
        };
        let button = button.to_string();
        self.move_to(at(0.0, from, to));
        self.xdotool(&["mousedown", &button]);
        for k in 1..=12 {
            self.move_to(at(k as f32 / 12.0, from, to));
            std::thread::sleep(Duration::from_millis(60));
        }
        self.xdotool(&["mouseup", &button]);
    }

    /// Drags the handle of a slider.
    pub fn drag_slider(&mut self, name: &str, from: f32, to: f32) {
        self.drag(name, 1, [from, 0.5], [to, 0.5]);
    }

    /// The picture in the window, without the panels, when it has come to rest: with the
    /// mouse away from it, two in a row that are the same.
    pub fn settled_picture(&mut self) -> Picture {
        let view = self.place("view");
        self.read = self.lines().len();
        // A viewer at rest draws only what changes, and a mouse that is there already does
        // not move: so by way of another place.
        self.move_to([view[0] - 24, view[1] + 8]);
        self.move_to([view[0] - 20, view[1] + 5]);
        // What was traced so far is in the next picture.
        self.wait_for("frame");
        let mut before = self.screen().part(view);
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            std::thread::sleep(Duration::from_millis(400));
            let now = self.screen().part(view);
            let same = now.difference(&before) == 0.0;
            if same || Instant::now() > deadline {
                return now;
            }
            before = now;
        }
    }

    fn screen(&self) -> Picture {
        let mut command = self.desktop.command("xwd");
        let dump = command.args(["-root", "-silent"]).output().unwrap();
        assert!(dump.status.success(), "xwd: {dump:?}");
        Picture::from_xwd(&dump.stdout)
    }

    /// Makes the window another size.
    pub fn resize(&mut self, [width, height]: [u32; 2]) {
        let window = self.window();
        self.xdotool(&[
            "windowsize",
            &window,
            &width.to_string(),
            &height.to_string(),
        ]);
        std::thread::sleep(Duration::from_millis(500));
        let ended = self.program.try_wait().unwrap();
        assert!(ended.is_none(), "the viewer ended at {width} x {height}");
    }

    /// A file that the viewer writes.
    pub fn file(&self, name: &str) -> PathBuf {
        self.desktop.folder.join(name)
    }

    /// Ends the viewer by its key, and expects a good end.
    pub fn close(mut self) {
        self.key("ctrl+q");
        let status = self.ended();
        assert!(status.success(), "{status:?}");
        assert!(self.lines().iter().any(|l| l == "closed"));
    }

    /// Takes the window away from under the viewer, and returns how it ended.
    pub fn destroy(mut self) -> ExitStatus {
        let window = self.window();
        self.xdotool(&["windowclose", &window]);
        self.ended()
    }

    fn ended(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.program.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "the viewer does not end");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Viewer<'_> {
    fn drop(&mut self) {
        // A viewer that has ended well is gone already.
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// Reads `drawn NUMBER TIME PLAYING`.
fn drawn(line: &str) -> Option<Drawn> {
    let mut words = line.strip_prefix("drawn ")?.split(' ');
    Some(Drawn {
        number: words.next()?.parse().ok()?,
        time: words.next()?.parse().ok()?,
        playing: words.next()?.parse().ok()?,
    })
}
