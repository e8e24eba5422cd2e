//! ParaView collections (`.pvd`): which file shows which time.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::OutputError;
use super::atomic::write_atomic;
use super::vtu::escaped;

/// A collection that is whole on disk after every append, so that an interrupted
/// run can be opened.
#[derive(Debug)]
pub struct PvdCollection {
    path: PathBuf,
    entries: String,
}

impl PvdCollection {
    /// Starts a collection of times, parts and files that are there already, and
    /// writes it.
    pub fn create(
        path: impl Into<PathBuf>,
        earlier: &[(f64, u32, String)],
    ) -> Result<PvdCollection, OutputError> {
        let mut collection = PvdCollection {
            path: path.into(),
            entries: String::new(),
        };
        for (time, part, file) in earlier {
            collection.add(*time, *part, Path::new(file));
        }
        collection.write()?;
        Ok(collection)
    }

    /// Adds a file that shows the state at `time` in seconds. `file` is relative
    /// to the collection's folder. Several files of one time are parts of it.
    pub fn append(&mut self, time: f64, part: u32, file: &Path) -> Result<(), OutputError> {
        self.add(time, part, file);
        self.write()
    }

    fn add(&mut self, time: f64, part: u32, file: &Path) {
        // Forward slashes are understood everywhere.
        let name = escaped(&file.to_string_lossy().replace('\\', "/"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.entries,
            "<DataSet timestep=\"{time:?}\" part=\"{part}\" file=\"{name}\"/>"
        );
    }

    fn write(&self) -> Result<(), OutputError> {
        let text = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" \
             byte_order=\"LittleEndian\">\n<Collection>\n{}</Collection>\n</VTKFile>\n",
            self.entries
        );
        write_atomic(&self.path, text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::test_folder;

    #[test]
    fn the_file_is_whole_after_every_append() {
        let dir = test_folder("pvd");
        let path = dir.join("run.pvd");
        let earlier = [(0.0, 0, "frames/0000.vtu".to_string())];
        let mut collection = PvdCollection::create(&path, &earlier).unwrap();
        for k in 1..3 {
            collection
                .append(0.1 * k as f64, 0, Path::new(&format!("frames/{k:04}.vtu")))
                .unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text.matches("<DataSet ").count(), k + 1);
            assert!(text.ends_with("</Collection>\n</VTKFile>\n"));
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("timestep=\"0.2\" part=\"0\" file=\"frames/0002.vtu\""));
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
        std::fs::remove_dir_all(dir).unwrap();
    }
}
