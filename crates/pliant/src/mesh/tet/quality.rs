//! How good the elements are: ranges and histograms (Lesmes 2013, figure 5.2).

use super::TetMesh;
use super::topology::{EDGES, FACES};

/// Smallest, mean and largest of some numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Smallest.
    pub min: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
}

impl Spread {
    /// Of all `values`; not a number if there are none.
    pub fn of(values: &[f64]) -> Spread {
        Spread {
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            mean: values.iter().sum::<f64>() / values.len() as f64,
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// Counts of values in bins of equal width, of their logarithm where they are
/// spread over more than three decades.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Lower border of every bin, and the upper border of the last.
    pub borders: Vec<f64>,
    /// Number of values per bin.
    pub counts: Vec<usize>,
}

impl Histogram {
    /// Sorts finite `values` into `bins` bins.
    pub fn of(values: &[f64], bins: usize) -> Histogram {
        let bins = bins.max(1);
        let spread = Spread::of(values);
        let log = spread.min > 0.0 && spread.max > 1e3 * spread.min;
        let to = |v: f64| if log { v.log10() } else { v };
        let from = |v: f64| if log { 10f64.powf(v) } else { v };
        let (low, high) = (to(spread.min), to(spread.max));
        let width = (high - low) / bins as f64;
        let mut counts = vec![0; bins];
        for &v in values {
            let bin = if width > 0.0 {
                ((to(v) - low) / width) as usize
            } else {
                0
            };
            counts[bin.min(bins - 1)] += 1;
        }
        Histogram {
            borders: (0..=bins).map(|i| from(low + width * i as f64)).collect(),
            counts,
        }
    }
}

/// What the elements of a mesh look like.
#[derive(Clone, Debug, PartialEq)]
pub struct TetQuality {
    /// Volumes in m³.
    pub volume: Spread,
    /// Lengths of unique edges in m.
    pub edge_length: Spread,
    /// Smallest and largest angle between two faces of an element, in degrees.
    pub dihedral: Spread,
    /// Three times the radius of the inner ball over that of the outer one:
    /// 1 for a regular tetrahedron, 0 for a flat one.
    pub radius_ratio: Spread,
    /// Histogram of volumes.
    pub volumes: Histogram,
    /// Histogram of edge lengths.
    pub edge_lengths: Histogram,
}

impl TetMesh {
    /// Measures every element; `bins` for the histograms.
    pub fn quality(&self, bins: usize) -> TetQuality {
        let tets = 0..self.tets.len();
        let volumes: Vec<f64> = tets.clone().map(|t| self.volume_of(t)).collect();
        let length = |[a, b]: [u32; 2]| self.points[a as usize].distance(self.points[b as usize]);
        let lengths: Vec<f64> = self.edges().into_iter().map(|e| length(e).into()).collect();
        let dihedral: Vec<f64> = tets.clone().flat_map(|t| self.dihedral_angles(t)).collect();
        let ratios: Vec<f64> = tets.map(|t| self.radius_ratio(t)).collect();
        TetQuality {
            volume: Spread::of(&volumes),
            edge_length: Spread::of(&lengths),
            dihedral: Spread::of(&dihedral),
            radius_ratio: Spread::of(&ratios),
            volumes: Histogram::of(&volumes, bins),
            edge_lengths: Histogram::of(&lengths, bins),
        }
    }

    /// Angles between the faces of tetrahedron `t`, in degrees.
    fn dihedral_angles(&self, t: usize) -> [f64; 6] {
        let c = self.corners(t).map(|p| p.as_dvec3());
        let normals = FACES.map(|[i, j, k]| (c[j] - c[i]).cross(c[k] - c[i]).normalize_or_zero());
        EDGES.map(|[i, j]| {
            (-normals[i].dot(normals[j]))
                .clamp(-1.0, 1.0)
                .acos()
                .to_degrees()
        })
    }

    /// 3 r / R of tetrahedron `t`: with volume V and surface S the inner radius is
    /// 3 V / S; the outer one is |Σ| / (12 V) with the sum below.
    fn radius_ratio(&self, t: usize) -> f64 {
        let [a, b, c, d] = self.corners(t).map(|p| p.as_dvec3());
        let (e1, e2, e3) = (b - a, c - a, d - a);
        let six_v = e1.dot(e2.cross(e3)).abs();
        let sum = e1.length_squared() * e2.cross(e3)
            + e2.length_squared() * e3.cross(e1)
            + e3.length_squared() * e1.cross(e2);
        let corners = [a, b, c, d];
        let area: f64 = FACES
            .iter()
            .map(|&[i, j, k]| {
                (corners[j] - corners[i])
                    .cross(corners[k] - corners[i])
                    .length()
                    / 2.0
            })
            .sum();
        let (inner, outer) = (0.5 * six_v / area, sum.length() / (2.0 * six_v));
        if six_v > 0.0 {
            3.0 * inner / outer
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn a_regular_tetrahedron_is_perfect() {
        let mesh = TetMesh {
            points: vec![
                Vec3::new(1.0, 1.0, 1.0),
                Vec3::new(-1.0, -1.0, 1.0),
                Vec3::new(-1.0, 1.0, -1.0),
                Vec3::new(1.0, -1.0, -1.0),
            ],
            tets: vec![[0, 1, 2, 3]],
        };
        let q = mesh.quality(4);
        let angle = (1.0f64 / 3.0).acos().to_degrees();
        assert!((q.dihedral.min - angle).abs() < 1e-5 && (q.dihedral.max - angle).abs() < 1e-5);
        assert!((q.radius_ratio.min - 1.0).abs() < 1e-6);
        assert!((q.edge_length.mean - 8f64.sqrt()).abs() < 1e-6);
        assert_eq!(q.edge_lengths.counts.iter().sum::<usize>(), 6);
    }

    #[test]
    fn histograms_count_everything_once() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let h = Histogram::of(&values, 10);
        assert_eq!(h.counts, [10; 10]);
        let decades: Vec<f64> = (0..8).map(|i| 10f64.powi(i)).collect();
        let h = Histogram::of(&decades, 7);
        assert_eq!(h.counts.iter().sum::<usize>(), 8);
        assert!((h.borders[1] - 10.0).abs() < 1e-9);
    }
}
