//! Files that are whole or absent.

use std::fs;
use std::path::Path;

use super::OutputError;

/// Writes a file under a temporary name in the same folder and renames it, so
/// that whoever looks at `path`, even after a crash of the program, sees the old
/// content or the new, never a part. Nothing is left behind on failure.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let temporary = path.with_file_name(name);
    let result = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    result.map_err(|source| {
        // The first error is the one worth reporting.
        let _ = fs::remove_file(&temporary);
        OutputError::io(path, source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::test_folder;

    #[test]
    fn replaces_the_old_content_and_leaves_no_temporary() {
        let dir = test_folder("atomic");
        let path = dir.join("a.txt");
        write_atomic(&path, b"old").unwrap();
        write_atomic(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_failure_names_the_path_and_leaves_nothing() {
        let dir = test_folder("atomic-failure");
        let missing = dir.join("missing/a.txt");
        let error = write_atomic(&missing, b"x").unwrap_err().to_string();
        assert!(error.contains("missing/a.txt"), "{error}");
        // A folder in the way lets the write succeed and the rename fail.
        let taken = dir.join("taken");
        fs::create_dir_all(taken.join("inside")).unwrap();
        assert!(write_atomic(&taken, b"x").is_err());
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
        fs::remove_dir_all(dir).unwrap();
    }
}
