//! Where the results of a run go.

use std::path::{Path, PathBuf};

use crate::cli::RunArgs;
use crate::error::CliError;
use crate::output::{OutputError, write_atomic};
use crate::run::Summary;

const SUMMARY: &str = "summary.json";

/// Files that a run leaves besides frames and data.
const RESULTS: [&str; 10] = [
    SUMMARY,
    "checkpoint.pliant",
    "scene.toml",
    "scene.json",
    "series.csv",
    "probes.csv",
    "particles.pvd",
    "animation.gif",
    "energy.png",
    "stages.png",
];

/// The folder of one run.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// A fresh folder: `out/SCENE`, or `out/SCENE-2` and so on if that is taken.
    /// A folder named by the user must be empty unless `--force` is given.
    pub fn create(args: &RunArgs, scene: &str) -> Result<Folder, CliError> {
        let path = match &args.out {
            Some(path) => {
                if !args.force && !is_empty(path) {
                    return Err(CliError::Usage(format!(
                        "the folder {} is not empty; choose another, or overwrite it with --force",
                        path.display()
                    )));
                }
                path.clone()
            }
            None => {
                let base = Path::new("out");
                let free = (2..).map(|k| base.join(format!("{scene}-{k}")));
                std::iter::once(base.join(scene))
                    .chain(free)
                    .find(|p| args.force || is_empty(p))
                    .unwrap_or_else(|| base.join(scene))
            }
        };
        let folder = Folder { path };
        folder.make(args)?;
        if args.force {
            folder.clear()?;
        }
        Ok(folder)
    }

    /// The folder that a checkpoint lies in, or another one.
    pub fn of_checkpoint(args: &RunArgs, checkpoint: &Path) -> Result<Folder, CliError> {
        let parent = checkpoint.parent().filter(|p| !p.as_os_str().is_empty());
        let path = args.out.as_deref().or(parent).unwrap_or(Path::new("."));
        let folder = Folder { path: path.into() };
        folder.make(args)?;
        Ok(folder)
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file in it.
    pub fn file(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    /// Writes the summary of the run.
    pub fn write_summary(&self, summary: &Summary) -> Result<(), CliError> {
        let text = format!("{:#}\n", serde_json::json!(summary));
        Ok(write_atomic(&self.file(SUMMARY), text.as_bytes())?)
    }

    fn make(&self, args: &RunArgs) -> Result<(), CliError> {
        let mut folders = vec![self.path.clone()];
        folders.extend((!args.no_pictures).then(|| self.file("frames")));
        folders.extend((!args.no_data).then(|| self.file("data")));
        for path in folders {
            std::fs::create_dir_all(&path).map_err(|source| OutputError::io(&path, source))?;
        }
        Ok(())
    }

    /// Removes what an earlier run left, so that a run that fails is not taken for
    /// the earlier one, and its frames do not mix with ours.
    fn clear(&self) -> Result<(), CliError> {
        let mut old: Vec<PathBuf> = RESULTS.iter().map(|name| self.file(name)).collect();
        let charts = std::fs::read_dir(&self.path).into_iter().flatten();
        old.extend(charts.flatten().map(|e| e.path()).filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("probes_") && name.ends_with(".png")
        }));
        for name in ["frames", "data"] {
            let entries = std::fs::read_dir(self.file(name)).into_iter().flatten();
            old.extend(entries.flatten().map(|e| e.path()).filter(|path| {
                path.extension().is_some_and(|e| {
                    ["png", "vtu", "ply", "obj", "stl"]
                        .iter()
                        .any(|ours| e == *ours)
                })
            }));
        }
        for path in old.iter().filter(|path| path.is_file()) {
            std::fs::remove_file(path).map_err(|e| OutputError::io(path, e))?;
        }
        Ok(())
    }
}

fn is_empty(path: &Path) -> bool {
    match std::fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => true,
    }
}
