//! VTK XML unstructured grids (`.vtu`), as ParaView reads them: a small XML head
//! and all arrays as raw little-endian bytes behind it.

use std::fmt::Write;
use std::path::Path;

use pliant::math::Xyz;
use pliant::mesh::TriMesh;

use super::atomic::write_atomic;
use super::{OutputError, PointArray, Values};

const VERTEX: u8 = 1;
const TRIANGLE: u8 = 5;
const TETRAHEDRON: u8 = 10;

/// Writes particles: each a point with a vertex cell, and their arrays.
pub fn write_particles(
    path: &Path,
    positions: Xyz<'_>,
    arrays: &[PointArray<'_>],
) -> Result<(), OutputError> {
    let connectivity: Vec<i64> = (0..positions.len() as i64).collect();
    let points = Points::new(Values::Vector(positions), arrays);
    write_grid(path, points, &[], &connectivity, 1, VERTEX)
}

/// Writes a triangle mesh and arrays over its vertices.
pub fn write_mesh(
    path: &Path,
    mesh: &TriMesh,
    arrays: &[PointArray<'_>],
) -> Result<(), OutputError> {
    let vertices: pliant::math::XyzVec = mesh.vertices.iter().copied().collect();
    let connectivity: Vec<i64> = mesh.triangles.iter().flatten().map(|&v| v as i64).collect();
    let points = Points::new(Values::Vector(vertices.view()), arrays);
    write_grid(path, points, &[], &connectivity, 3, TRIANGLE)
}

/// Writes tetrahedra, arrays over their points and arrays over themselves.
pub fn write_tets(
    path: &Path,
    positions: Xyz<'_>,
    tets: &[[u32; 4]],
    arrays: &[PointArray<'_>],
    cell_arrays: &[PointArray<'_>],
) -> Result<(), OutputError> {
    let connectivity: Vec<i64> = tets.iter().flatten().map(|&v| v as i64).collect();
    let points = Points::new(Values::Vector(positions), arrays);
    write_grid(path, points, cell_arrays, &connectivity, 4, TETRAHEDRON)
}

/// Points and what belongs to them.
struct Points<'a> {
    places: Values<'a>,
    arrays: &'a [PointArray<'a>],
}

impl<'a> Points<'a> {
    fn new(places: Values<'a>, arrays: &'a [PointArray<'a>]) -> Points<'a> {
        Points { places, arrays }
    }
}

fn write_grid(
    path: &Path,
    points: Points<'_>,
    cell_arrays: &[PointArray<'_>],
    connectivity: &[i64],
    corners: usize,
    cell_type: u8,
) -> Result<(), OutputError> {
    let Points { places, arrays } = points;
    let count = match places {
        Values::Vector(p) => p.len(),
        Values::Scalar(_) | Values::Index(_) => 0,
    };
    OutputError::check_length(path, "the positions", count, places.len())?;
    for array in arrays {
        OutputError::check_length(path, array.name, count, array.values.len())?;
    }
    let cells = connectivity.len() / corners;
    for array in cell_arrays {
        OutputError::check_length(path, array.name, cells, array.values.len())?;
    }
    let mut head = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" \
         byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n",
    );
    let mut data = Appended::default();
    let _ = writeln!(
        head,
        "<Piece NumberOfPoints=\"{count}\" NumberOfCells=\"{cells}\">\n<PointData>"
    );
    for array in arrays {
        data.values(&mut head, array.name, &array.values, count);
    }
    head.push_str("</PointData>\n<CellData>\n");
    for array in cell_arrays {
        data.values(&mut head, array.name, &array.values, cells);
    }
    head.push_str("</CellData>\n<Points>\n");
    data.values(&mut head, "Points", &places, count);
    head.push_str("</Points>\n<Cells>\n");
    data.declare(&mut head, "Int64", 1, "connectivity");
    data.block(connectivity.iter().flat_map(|v| v.to_le_bytes()));
    data.declare(&mut head, "Int64", 1, "offsets");
    data.block((1..=cells).flat_map(|c| ((c * corners) as i64).to_le_bytes()));
    data.declare(&mut head, "UInt8", 1, "types");
    data.block(std::iter::repeat_n(cell_type, cells));
    head.push_str("</Cells>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_");

    let mut file = head.into_bytes();
    file.extend(data.bytes);
    file.extend(b"\n</AppendedData>\n</VTKFile>\n");
    write_atomic(path, &file)
}

/// The blocks behind the head: each its size in bytes, then its bytes.
#[derive(Default)]
struct Appended {
    bytes: Vec<u8>,
}

impl Appended {
    fn declare(&self, head: &mut String, kind: &str, components: usize, name: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(
            head,
            "<DataArray type=\"{kind}\" Name=\"{}\" NumberOfComponents=\"{components}\" \
             format=\"appended\" offset=\"{}\"/>",
            escaped(name),
            self.bytes.len(),
        );
    }

    fn block(&mut self, bytes: impl Iterator<Item = u8>) {
        let start = self.bytes.len();
        self.bytes.extend([0; 8]);
        self.bytes.extend(bytes);
        let size = (self.bytes.len() - start - 8) as u64;
        self.bytes[start..start + 8].copy_from_slice(&size.to_le_bytes());
    }

    fn values(&mut self, head: &mut String, name: &str, values: &Values<'_>, count: usize) {
        let (kind, components) = match values {
            Values::Scalar(_) => ("Float32", 1),
            Values::Vector(_) => ("Float32", 3),
            Values::Index(_) => ("UInt32", 1),
        };
        self.declare(head, kind, components, name);
        let mut bytes = Vec::with_capacity(4 * components * count);
        (0..count).for_each(|i| values.put(i, &mut bytes));
        self.block(bytes.into_iter());
    }
}

/// Text as an XML attribute value.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML 1.0 has no way to write these.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::test_folder;
    use pliant::Vec3;
    use pliant::math::XyzVec;

    /// The bytes of the block that the array `name` points at.
    fn block<'a>(file: &'a [u8], name: &str) -> &'a [u8] {
        let text = String::from_utf8_lossy(file);
        let at = text.find(&format!("Name=\"{name}\"")).unwrap();
        let offset = text[at..].split("offset=\"").nth(1).unwrap();
        let offset: usize = offset.split('"').next().unwrap().parse().unwrap();
        let marker = b"encoding=\"raw\">\n_";
        let start = file
            .windows(marker.len())
            .position(|w| w == marker)
            .unwrap()
            + marker.len()
            + offset;
        let size = u64::from_le_bytes(file[start..start + 8].try_into().unwrap()) as usize;
        &file[start + 8..start + 8 + size]
    }

    fn floats(bytes: &[u8]) -> Vec<f32> {
        bytes
            .chunks(4)
            .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
            .collect()
    }

    fn longs(bytes: &[u8]) -> Vec<i64> {
        bytes
            .chunks(8)
            .map(|b| i64::from_le_bytes(b.try_into().unwrap()))
            .collect()
    }

    #[test]
    fn particles_have_their_arrays_at_the_stated_offsets() {
        let dir = test_folder("vtu");
        let path = dir.join("p.vtu");
        let p: XyzVec = [Vec3::new(1.0, 2.0, 3.0), Vec3::new(-4.0, 5.5, 0.1)]
            .into_iter()
            .collect();
        let arrays = [
            PointArray {
                name: "density",
                values: Values::Scalar(&[1000.0, f32::NAN]),
            },
            PointArray {
                name: "velocity",
                values: Values::Vector(p.view()),
            },
            PointArray {
                name: "a<b",
                values: Values::Index(&[7, u32::MAX]),
            },
        ];
        write_particles(&path, p.view(), &arrays).unwrap();
        let file = std::fs::read(&path).unwrap();
        let expected = [1.0, 2.0, 3.0, -4.0, 5.5, 0.1];
        assert_eq!(floats(block(&file, "Points")), expected);
        assert_eq!(floats(block(&file, "velocity")), expected);
        let density = floats(block(&file, "density"));
        assert!(density[0] == 1000.0 && density[1].is_nan());
        assert_eq!(block(&file, "a&lt;b"), [7, 0, 0, 0, 255, 255, 255, 255]);
        assert_eq!(longs(block(&file, "connectivity")), [0, 1]);
        assert_eq!(longs(block(&file, "offsets")), [1, 2]);
        assert_eq!(block(&file, "types"), [1, 1]);
        assert!(file.ends_with(b"</AppendedData>\n</VTKFile>\n"));
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_mesh_has_triangle_cells() {
        let dir = test_folder("vtu-mesh");
        let path = dir.join("m.vtu");
        let mesh = TriMesh {
            vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
            triangles: vec![[0, 2, 1], [0, 1, 3]],
        };
        write_mesh(&path, &mesh, &[]).unwrap();
        let file = std::fs::read(&path).unwrap();
        assert_eq!(longs(block(&file, "connectivity")), [0, 2, 1, 0, 1, 3]);
        assert_eq!(longs(block(&file, "offsets")), [3, 6]);
        assert_eq!(block(&file, "types"), [5, 5]);
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn tetrahedra_have_arrays_of_their_own() {
        let dir = test_folder("vtu-tets");
        let path = dir.join("t.vtu");
        let p: XyzVec = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE]
            .into_iter()
            .collect();
        let stress = [PointArray {
            name: "von_mises",
            values: Values::Scalar(&[3.0, 4.0]),
        }];
        let tets = [[0, 1, 2, 3], [1, 2, 3, 4]];
        write_tets(&path, p.view(), &tets, &[], &stress).unwrap();
        let file = std::fs::read(&path).unwrap();
        assert_eq!(floats(block(&file, "von_mises")), [3.0, 4.0]);
        assert_eq!(block(&file, "types"), [10, 10]);
        let text = String::from_utf8_lossy(&file);
        let cells = text.find("<CellData>").unwrap();
        assert!(text.find("von_mises").unwrap() > cells);
        assert!(write_tets(&path, p.view(), &tets[..1], &[], &stress).is_err());
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn nothing_is_written_if_lengths_differ() {
        let dir = test_folder("vtu-length");
        let path = dir.join("p.vtu");
        let p: XyzVec = [Vec3::ONE].into_iter().collect();
        let short = [PointArray {
            name: "density",
            values: Values::Scalar(&[]),
        }];
        let error = write_particles(&path, p.view(), &short)
            .unwrap_err()
            .to_string();
        assert!(error.contains("density has 0 values where 1"), "{error}");
        let ragged = Xyz {
            x: &[1.0],
            y: &[],
            z: &[1.0],
        };
        assert!(write_particles(&path, ragged, &[]).is_err());
        assert!(!path.exists());
        write_particles(&path, XyzVec::default().view(), &[]).unwrap();
        std::fs::remove_dir_all(dir).unwrap();
    }
}
