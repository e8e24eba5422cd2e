//! What a mesh must be to be simulated.

use thiserror::Error;

use super::TetMesh;
use super::topology::EDGES;

/// A tetrahedron of less volume than this share of its longest edge cubed is flat:
/// rounding its corners to f32 could turn it over.
const FLAT: f64 = 1e-7;

/// Why a mesh cannot be simulated.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TetMeshError {
    /// There is nothing.
    #[error("the mesh has no tetrahedra")]
    Empty,
    /// Some parts are wrong.
    #[error("{count} {fault}; the first is number {first} (from 0): {detail}")]
    Faulty {
        /// What is wrong with them.
        fault: TetFault,
        /// How many there are.
        count: usize,
        /// The first of them.
        first: usize,
        /// What it looks like, and what would be right.
        detail: String,
    },
}

/// What can be wrong with a part of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TetFault {
    /// Points that are infinite or not numbers.
    Points,
    /// Tetrahedra with a corner that does not exist.
    Corners,
    /// Tetrahedra that use a point twice.
    Repeated,
    /// Edges without length.
    Edges,
    /// Tetrahedra without volume.
    Flat,
    /// Tetrahedra that are inside out.
    Inverted,
    /// Faces that more than two tetrahedra share.
    Faces,
    /// Points that no tetrahedron uses.
    Unused,
}

impl std::fmt::Display for TetFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TetFault::Points => "points are not finite",
            TetFault::Corners => "tetrahedra have corners that do not exist",
            TetFault::Repeated => "tetrahedra use a point twice",
            TetFault::Edges => "tetrahedra have an edge without length",
            TetFault::Flat => "tetrahedra have no volume",
            TetFault::Inverted => "tetrahedra are inside out",
            TetFault::Faces => "faces belong to more than two tetrahedra",
            TetFault::Unused => "points belong to no tetrahedron",
        })
    }
}

impl TetMesh {
    /// Refuses a mesh that cannot be simulated, with the number of faulty parts
    /// and the first of them.
    pub fn validate(&self) -> Result<(), TetMeshError> {
        if self.tets.is_empty() {
            return Err(TetMeshError::Empty);
        }
        let points = self.points.len();
        first_of(TetFault::Points, self.points.iter(), |p| {
            (!p.is_finite()).then(|| format!("({}, {}, {})", p.x, p.y, p.z))
        })?;
        first_of(TetFault::Corners, self.tets.iter(), |t| {
            let corner = t.iter().find(|&&v| v as usize >= points)?;
            Some(format!("corner {corner}, but there are {points} points"))
        })?;
        first_of(TetFault::Repeated, self.tets.iter(), |t| {
            let twice = EDGES.iter().any(|&[i, j]| t[i] == t[j]);
            twice.then(|| format!("{t:?}"))
        })?;
        let corners = || (0..self.tets.len()).map(|t| self.corners(t));
        first_of(TetFault::Edges, corners(), |c| {
            let [i, j] = EDGES.into_iter().find(|&[i, j]| c[i] == c[j])?;
            Some(format!("corners {i} and {j} are both at {}", c[i]))
        })?;
        first_of(TetFault::Flat, 0..self.tets.len(), |t| {
            let (volume, cube) = (self.volume_of(t), self.longest_edge(t).powi(3));
            (volume.abs() <= FLAT * cube).then(|| {
                format!(
                    "{:?} has {volume:.3e} m³ at an edge of {:.3e} m",
                    self.tets[t],
                    self.longest_edge(t)
                )
            })
        })?;
        first_of(TetFault::Inverted, 0..self.tets.len(), |t| {
            let volume = self.volume_of(t);
            (volume < 0.0).then(|| format!("{:?}: swap its last two corners", self.tets[t]))
        })?;
        let faces = self.sorted_faces();
        first_of(TetFault::Faces, faces.chunk_by(|a, b| a.0 == b.0), |same| {
            let shared = same.len() > 2;
            shared.then(|| format!("{:?} has {} tetrahedra", same[0].0, same.len()))
        })?;
        let mut used = vec![false; points];
        for &v in self.tets.iter().flatten() {
            used[v as usize] = true;
        }
        first_of(TetFault::Unused, used.into_iter(), |used| {
            (!used).then(|| "it would have no mass; leave it out".into())
        })
    }

    fn longest_edge(&self, t: usize) -> f64 {
        let c = self.corners(t);
        let lengths = EDGES.map(|[i, j]| f64::from(c[i].distance(c[j])));
        lengths.into_iter().fold(0.0, f64::max)
    }
}

/// Counts the parts that have the fault, and keeps the detail of the first.
fn first_of<T>(
    fault: TetFault,
    parts: impl Iterator<Item = T>,
    detail: impl Fn(T) -> Option<String>,
) -> Result<(), TetMeshError> {
    let mut found = parts
        .enumerate()
        .filter_map(|(i, part)| Some((i, detail(part)?)));
    let Some((first, detail)) = found.next() else {
        return Ok(());
    };
    Err(TetMeshError::Faulty {
        fault,
        count: 1 + found.count(),
        first,
        detail,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn mesh() -> TetMesh {
        TetMesh {
            points: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, -Vec3::ONE],
            tets: vec![[0, 1, 2, 3], [0, 1, 3, 4]],
        }
    }

    fn fault(mesh: &TetMesh) -> (TetFault, usize, usize) {
        match mesh.validate() {
            Err(TetMeshError::Faulty {
                fault,
                count,
                first,
                ..
            }) => (fault, count, first),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn names_count_and_first_offender_of_every_fault() {
        assert_eq!(mesh().validate(), Ok(()));
        assert_eq!(TetMesh::default().validate(), Err(TetMeshError::Empty));
        let mut m = mesh();
        m.points[3].y = f32::NAN;
        assert_eq!(fault(&m), (TetFault::Points, 1, 3));
        let mut m = mesh();
        m.tets[1][2] = 9;
        assert_eq!(fault(&m), (TetFault::Corners, 1, 1));
        let mut m = mesh();
        m.tets[0] = [0, 1, 1, 3];
        assert_eq!(fault(&m), (TetFault::Repeated, 1, 0));
        let mut m = mesh();
        m.points[4] = m.points[0];
        assert_eq!(fault(&m), (TetFault::Edges, 1, 1));
        let mut m = mesh();
        m.points[0] = Vec3::splat(1.0 / 3.0);
        assert_eq!(fault(&m), (TetFault::Flat, 1, 0));
        let mut m = mesh();
        m.tets[0].swap(0, 1);
        m.tets[1].swap(0, 1);
        assert_eq!(fault(&m), (TetFault::Inverted, 2, 0));
        assert_eq!(m.orient(), 2);
        assert_eq!(m.validate(), Ok(()));
        let mut m = mesh();
        m.tets.push([0, 1, 3, 4]);
        m.tets.push([0, 1, 3, 4]);
        assert_eq!(fault(&m).0, TetFault::Faces);
        let mut m = mesh();
        m.points.push(Vec3::ONE);
        assert_eq!(fault(&m), (TetFault::Unused, 1, 5));
        assert_eq!(
            m.validate().unwrap_err().to_string(),
            "1 points belong to no tetrahedron; the first is number 5 (from 0): it would have \
             no mass; leave it out"
        );
    }
}
