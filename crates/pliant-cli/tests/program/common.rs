//! What the tests of the program share: a folder of its own for each test, small
//! scenes, and the program itself.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// Ten frames of a small collapsing column: 288 particles.
pub const DAM: &str = r#"title = "Small dam break"
duration = 0.1
frame = 0.01

[[fluid]]
name = "water"
material = "water"
surface_tension = 0
spacing = 0.05

[[fluid.fill]]
region = { box = { min = [0, 0, 0], max = [0.3, 0.4, 0.3] } }

[[obstacle]]
name = "tank"
shape = { box = { min = [0, 0, 0], max = [0.8, 0.6, 0.3] } }

[[probe]]
name = "foot"
position = [0.1, 0.05, 0.15]
"#;

/// A jet from a nozzle, which is still running when the scene ends, and a sink.
pub const JET: &str = r#"title = "A jet onto a floor"
duration = 0.2
frame = 0.02

[[fluid]]
spacing = 0.05
surface_tension = 0
sound_speed = 15

[[fluid.emitter]]
position = [0, 0.5, 0]
direction = [0, -1, 0]
radius = 0.12
speed = 3

[[obstacle]]
name = "floor"
shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }

[[sink]]
region = { box = { min = [-1, -0.1, -1], max = [1, 0.08, -0.02] } }
"#;

/// A folder that is removed when the test ends well.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// An empty folder called after the test.
    pub fn new(test: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("pliant-{test}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder { path }
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file into it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// A file in it, as text.
    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Names of everything in it or in a folder in it, sorted; none if it is missing.
    pub fn list(&self, name: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(name)).into_iter().flatten();
        let mut names: Vec<String> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The program, about to be run in this folder.
    pub fn program(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pliant"));
        command.current_dir(&self.path);
        command
    }

    /// Runs the program with arguments divided by spaces.
    pub fn pliant(&self, arguments: &str) -> Run {
        Run::of(self.program().args(arguments.split_whitespace()))
    }

    /// The numbers of a CSV file, without its header.
    pub fn csv(&self, name: &str) -> Vec<Vec<f64>> {
        let text = self.text(name);
        let rows = text.lines().skip(1);
        rows.map(|l| l.split(',').map(|c| c.parse().unwrap()).collect())
            .collect()
    }

    /// The times and files that a `.pvd` names; all files must exist.
    pub fn pvd(&self, name: &str) -> Vec<(f64, String)> {
        let text = self.text(name);
        assert!(text.trim_end().ends_with("</VTKFile>"), "{text}");
        let folder = self.path(name).parent().unwrap().to_path_buf();
        let attribute = |line: &str, key: &str| -> String {
            let start = line.find(&format!("{key}=\"")).unwrap() + key.len() + 2;
            line[start..].split('"').next().unwrap().to_string()
        };
        let entries = text.lines().filter(|l| l.starts_with("<DataSet"));
        entries
            .map(|line| {
                let file = attribute(line, "file");
                assert!(folder.join(&file).is_file(), "{file} is missing");
                (attribute(line, "timestep").parse().unwrap(), file)
            })
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// What the program did.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// Runs a command to its end.
    pub fn of(command: &mut Command) -> Run {
        Run::from(command.output().unwrap())
    }

    /// Asserts that it went well.
    pub fn fine(self) -> Run {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that it was refused with exit code 2, and that the message on
    /// standard error has all these parts and is no panic.
    pub fn refused(self, parts: &[&str]) -> Run {
        assert_eq!(self.code, Some(2), "{}{}", self.stdout, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        for part in parts {
            assert!(
                self.stderr.contains(part),
                "`{part}` is not in:\n{}",
                self.stderr
            );
        }
        self
    }

    /// The last line of the output as JSON.
    pub fn json(&self) -> Value {
        let line = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))
    }

    /// The hash of the final state.
    pub fn hash(&self) -> String {
        self.json()["hash"].as_str().unwrap().to_string()
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// True if the file begins and ends as a PNG does.
pub fn is_png(path: &Path) -> bool {
    let bytes = std::fs::read(path).unwrap_or_default();
    bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.ends_with(b"IEND\xae\x42\x60\x82")
}
