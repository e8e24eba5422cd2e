//! Particles as binary PLY, which Blender, MeshLab and CloudCompare read.

use std::path::Path;

use pliant::math::Xyz;

use super::atomic::write_atomic;
use super::{OutputError, PointArray, Values};

/// Writes particles with the properties `x y z vx vy vz` and those of `extra`; a
/// vector array becomes three properties that end in `_x`, `_y` and `_z`.
pub fn write_particles(
    path: &Path,
    positions: Xyz<'_>,
    velocities: Xyz<'_>,
    extra: &[PointArray<'_>],
) -> Result<(), OutputError> {
    let count = positions.len();
    let (positions, velocities) = (Values::Vector(positions), Values::Vector(velocities));
    let mut columns = vec![positions, velocities];
    OutputError::check_length(path, "the positions", count, positions.len())?;
    OutputError::check_length(path, "the velocities", count, velocities.len())?;
    let mut properties: Vec<String> = ["x", "y", "z", "vx", "vy", "vz"]
        .map(|n| format!("float {n}"))
        .to_vec();
    for array in extra {
        OutputError::check_length(path, array.name, count, array.values.len())?;
        check_name(path, array.name)?;
        match array.values {
            Values::Scalar(_) => properties.push(format!("float {}", array.name)),
            Values::Index(_) => properties.push(format!("uint {}", array.name)),
            Values::Vector(_) => {
                properties
                    .extend(["x", "y", "z"].map(|axis| format!("float {}_{axis}", array.name)));
            }
        }
        columns.push(array.values);
    }
    let mut head = format!("ply\nformat binary_little_endian 1.0\nelement vertex {count}\n");
    for property in &properties {
        head.push_str(&format!("property {property}\n"));
    }
    head.push_str("end_header\n");
    let mut file = head.into_bytes();
    file.reserve(4 * count * properties.len());
    for i in 0..count {
        columns.iter().for_each(|column| column.put(i, &mut file));
    }
    write_atomic(path, &file)
}

/// A property's name ends at the first blank, so it must have none.
fn check_name(path: &Path, name: &str) -> Result<(), OutputError> {
    if !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic()) {
        return Ok(());
    }
    Err(OutputError::Name {
        path: path.to_path_buf(),
        name: name.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::test_folder;
    use pliant::Vec3;
    use pliant::math::XyzVec;

    #[test]
    fn the_head_describes_the_bytes() {
        let dir = test_folder("ply");
        let path = dir.join("p.ply");
        let p: XyzVec = [Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, 5.0, 6.0)]
            .into_iter()
            .collect();
        let v: XyzVec = [Vec3::X, Vec3::NEG_Y].into_iter().collect();
        let extra = [
            PointArray {
                name: "density",
                values: Values::Scalar(&[998.5, 1002.0]),
            },
            PointArray {
                name: "id",
                values: Values::Index(&[3, 9]),
            },
        ];
        write_particles(&path, p.view(), v.view(), &extra).unwrap();
        let file = std::fs::read(&path).unwrap();
        let head = "ply\nformat binary_little_endian 1.0\nelement vertex 2\n\
            property float x\nproperty float y\nproperty float z\n\
            property float vx\nproperty float vy\nproperty float vz\n\
            property float density\nproperty uint id\nend_header\n";
        assert!(file.starts_with(head.as_bytes()));
        let body = &file[head.len()..];
        assert_eq!(body.len(), 2 * 8 * 4);
        let float = |k: usize| f32::from_le_bytes(body[4 * k..4 * k + 4].try_into().unwrap());
        assert_eq!(
            (0..7).map(float).collect::<Vec<_>>(),
            [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 998.5]
        );
        assert_eq!(body[28..32], 3u32.to_le_bytes());
        assert_eq!(
            (8..15).map(float).collect::<Vec<_>>(),
            [4.0, 5.0, 6.0, 0.0, -1.0, 0.0, 1002.0]
        );

        let bad = [PointArray {
            name: "two words",
            values: Values::Scalar(&[0.0, 0.0]),
        }];
        assert!(matches!(
            write_particles(&path, p.view(), v.view(), &bad),
            Err(OutputError::Name { .. })
        ));
        std::fs::remove_dir_all(dir).unwrap();
    }
}
