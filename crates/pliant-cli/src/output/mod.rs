//! Data files of a run: particles and meshes for ParaView and Blender, numbers
//! for spreadsheets.
//!
//! - [`vtu`] and [`pvd`]: VTK files per frame and the collection over time.
//! - [`ply`]: particles as PLY.
//! - [`csv`]: time series, a row at a time.
//! - [`atomic`]: whole files or none, under all but the last.

pub mod atomic;
pub mod csv;
pub mod ply;
pub mod pvd;
pub mod vtu;

use std::path::{Path, PathBuf};

use pliant::math::Xyz;

pub use atomic::write_atomic;

/// Why a data file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The system refused.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The file that was asked for.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Arrays that belong together differ in length.
    #[error("cannot write {}: {name} has {found} values where {expected} are needed", path.display())]
    Length {
        /// The file that was asked for.
        path: PathBuf,
        /// The array.
        name: String,
        /// Values it must have.
        expected: usize,
        /// Values it has.
        found: usize,
    },
    /// A name that the format cannot hold.
    #[error("cannot write {}: {name:?} cannot be the name of a property", path.display())]
    Name {
        /// The file that was asked for.
        path: PathBuf,
        /// The name.
        name: String,
    },
}

impl OutputError {
    /// The system refused to write `path`.
    pub fn io(path: &Path, source: std::io::Error) -> OutputError {
        OutputError::Io {
            path: path.to_path_buf(),
            source,
        }
    }

    /// Fails unless `found == expected`.
    fn check_length(
        path: &Path,
        name: &str,
        expected: usize,
        found: usize,
    ) -> Result<(), OutputError> {
        if found == expected {
            return Ok(());
        }
        Err(OutputError::Length {
            path: path.to_path_buf(),
            name: name.to_string(),
            expected,
            found,
        })
    }
}

/// Values that belong to particles or vertices, one each.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Numbers.
    Scalar(&'a [f32]),
    /// Vectors.
    Vector(Xyz<'a>),
    /// Whole numbers, such as identities.
    Index(&'a [u32]),
}

/// Values with a name.
#[derive(Clone, Copy, Debug)]
pub struct PointArray<'a> {
    /// The name in the file.
    pub name: &'a str,
    /// The values.
    pub values: Values<'a>,
}

impl Values<'_> {
    /// Number of values; of the coordinate that differs, if one does.
    fn len(&self) -> usize {
        match self {
            Values::Scalar(v) => v.len(),
            Values::Index(v) => v.len(),
            Values::Vector(v) if v.y.len() != v.x.len() => v.y.len(),
            Values::Vector(v) if v.z.len() != v.x.len() => v.z.len(),
            Values::Vector(v) => v.len(),
        }
    }

    /// Appends value `i`, little endian.
    fn put(&self, i: usize, out: &mut Vec<u8>) {
        match self {
            Values::Scalar(v) => out.extend(v[i].to_le_bytes()),
            Values::Index(v) => out.extend(v[i].to_le_bytes()),
            Values::Vector(v) => {
                for c in [v.x[i], v.y[i], v.z[i]] {
                    out.extend(c.to_le_bytes());
                }
            }
        }
    }
}

/// An empty folder of its own for a test.
#[cfg(test)]
pub fn test_folder(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("pliant-output-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}
