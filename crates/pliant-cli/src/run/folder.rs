//! Where the results of a run go.

use std::path::{Path, PathBuf};

use crate::error::CliError;
use crate::output::{OutputError, write_atomic};
use crate::run::Summary;

/// Name of the file that marks a folder as ours.
const SUMMARY: &str = "summary.json";

/// The folder of one run.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// A fresh folder: `out/SCENE`, or `out/SCENE-2` and so on if that is taken.
    /// A folder named by the user must be empty unless `force` is given.
    pub fn create(wanted: Option<&Path>, scene: &str, force: bool) -> Result<Folder, CliError> {
        let path = match wanted {
            Some(path) => {
                if !force && !is_empty(path) {
                    return Err(CliError::Usage(format!(
                        "the folder {} is not empty; choose another, or overwrite it with --force",
                        path.display()
                    )));
                }
                path.to_path_buf()
            }
            None => {
                let base = Path::new("out");
                let free = (2..).map(|k| base.join(format!("{scene}-{k}")));
                std::iter::once(base.join(scene))
                    .chain(free)
                    .find(|p| force || is_empty(p))
                    .unwrap_or_else(|| base.join(scene))
            }
        };
        let folder = Folder { path };
        folder.make()?;
        if force {
            folder.clear()?;
        }
        Ok(folder)
    }

    /// The folder that a checkpoint lies in, or another one.
    pub fn of_checkpoint(wanted: Option<&Path>, checkpoint: &Path) -> Result<Folder, CliError> {
        let parent = checkpoint.parent().filter(|p| !p.as_os_str().is_empty());
        let path = wanted.or(parent).unwrap_or(Path::new("."));
        let folder = Folder { path: path.into() };
        folder.make()?;
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

    fn make(&self) -> Result<(), CliError> {
        for path in [self.path.clone(), self.file("frames"), self.file("data")] {
            std::fs::create_dir_all(&path).map_err(|source| OutputError::io(&path, source))?;
        }
        Ok(())
    }

    /// Removes what an earlier run left, so that its frames do not mix with ours.
    fn clear(&self) -> Result<(), CliError> {
        for name in ["frames", "data"] {
            let folder = self.file(name);
            let entries = std::fs::read_dir(&folder).map_err(|e| OutputError::io(&folder, e))?;
            for entry in entries.flatten() {
                let path = entry.path();
                let ours = path
                    .extension()
                    .is_some_and(|e| ["png", "vtu", "ply"].iter().any(|ours| e == *ours));
                if ours {
                    std::fs::remove_file(&path).map_err(|e| OutputError::io(&path, e))?;
                }
            }
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
