//! Particle files that `pliant run` writes, read back.

mod ply;
mod vtu;

use std::path::{Path, PathBuf};

use pliant::math::XyzVec;

/// Particles of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Particles {
    /// Places in metres.
    pub positions: XyzVec,
    /// Velocities in m/s; zero if the file has none.
    pub velocities: XyzVec,
    /// Number of each particle's liquid; empty if all are of one.
    pub liquid: Vec<u8>,
}

/// Why a particle file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The system refused.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("{}: {problem}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong and what would be right.
        problem: String,
    },
}

/// Reads a `.vtu` or `.ply` file.
pub fn read_particles(path: &Path) -> Result<Particles, InputError> {
    let fail = |problem: String| InputError::Format {
        path: path.to_path_buf(),
        problem,
    };
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    let read = match extension.to_str() {
        Some("vtu") => vtu::read,
        Some("ply") => ply::read,
        _ => return Err(fail("particles are read from .vtu and .ply files".into())),
    };
    let bytes = std::fs::read(path).map_err(|source| InputError::Io {
        path: path.to_path_buf(),
        source,
    })?;
    read(&bytes).map_err(fail)
}

/// Reads one number per point from a `.vtu` file.
pub fn read_scalars(path: &Path, name: &str) -> Result<Vec<f32>, InputError> {
    let bytes = std::fs::read(path).map_err(|source| InputError::Io {
        path: path.to_path_buf(),
        source,
    })?;
    vtu::scalars(&bytes, name).map_err(|problem| InputError::Format {
        path: path.to_path_buf(),
        problem,
    })
}

/// Makes particles of rows of three numbers.
fn vectors(values: &[f32]) -> XyzVec {
    values
        .chunks_exact(3)
        .map(|v| glam::Vec3::new(v[0], v[1], v[2]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{PointArray, Values, test_folder};
    use glam::Vec3;

    #[test]
    fn what_a_run_writes_comes_back() {
        let dir = test_folder("input");
        let p: XyzVec = [Vec3::new(1.0, 2.0, 3.0), Vec3::new(-4.0, 5.5, 0.1)]
            .into_iter()
            .collect();
        let v: XyzVec = [Vec3::X, Vec3::NEG_Y].into_iter().collect();
        let arrays = [
            PointArray {
                name: "velocity",
                values: Values::Vector(v.view()),
            },
            PointArray {
                name: "id",
                values: Values::Index(&[7, 9]),
            },
        ];
        let (vtu, ply) = (dir.join("p.vtu"), dir.join("p.ply"));
        crate::output::vtu::write_particles(&vtu, p.view(), &arrays).unwrap();
        crate::output::ply::write_particles(&ply, p.view(), v.view(), &arrays[1..]).unwrap();
        for path in [&vtu, &ply] {
            let read = read_particles(path).unwrap();
            assert_eq!((read.positions, read.velocities), (p.clone(), v.clone()));
        }
        std::fs::write(
            dir.join("text.ply"),
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty double z\nproperty float x\n\
             property uchar q\nproperty float y\nend_header\n3 1 255 2\n",
        )
        .unwrap();
        let read = read_particles(&dir.join("text.ply")).unwrap();
        assert_eq!(read.positions.get(0), Vec3::new(1.0, 2.0, 3.0));
        assert_eq!(read.velocities.get(0), Vec3::ZERO);
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn damaged_files_are_explained() {
        let dir = test_folder("input-damaged");
        let cases: [(&str, &[u8], &str); 6] = [
            ("a.vtu", b"<VTKFile></VTKFile>", "appended raw"),
            ("b.ply", b"plywood", "not a PLY"),
            (
                "c.ply",
                b"ply\nformat ascii 1.0\nelement vertex 9\nend_header\n",
                "x, y and z",
            ),
            (
                "d.ply",
                b"ply\nformat binary_little_endian 1.0\nelement vertex 99999999999\n\
                  property float x\nproperty float y\nproperty float z\nend_header\nabc",
                "ends early",
            ),
            ("e.xyz", b"", ".vtu and .ply"),
            (
                "f.vtu",
                b"<AppendedData encoding=\"raw\">\n_",
                "no array `Points`",
            ),
        ];
        for (name, bytes, message) in cases {
            std::fs::write(dir.join(name), bytes).unwrap();
            let error = read_particles(&dir.join(name)).unwrap_err().to_string();
            assert!(error.contains(message) && error.contains(name), "{error}");
        }
        assert!(read_particles(&dir.join("none.ply")).is_err());
        std::fs::remove_dir_all(dir).unwrap();
    }
}
