//! Cutting with a blade.
//!
//! A blade is a straight edge. In a sub-step it sweeps a piece of a surface; the faces
//! between tetrahedra whose centres come to lie on different sides of it are opened
//! (`split.rs`). The cut follows faces, so it is as fine as the tetrahedra are.

use glam::{Vec3, Vec3A};

use super::split::Joint;
use super::state::Solid;
use crate::contact::triangle::segment_triangle;

/// What a blade does in one sweep: its edge goes from one place to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blade {
    /// The two ends of the edge before, in metres.
    pub from: [Vec3; 2],
    /// The two ends after.
    pub to: [Vec3; 2],
}

impl Blade {
    /// True if the way from `p` to `q` crosses what it has swept.
    fn crosses(&self, p: Vec3, q: Vec3) -> bool {
        let ([a, b], [c, d]) = (self.from, self.to);
        [[a, b, c], [b, d, c]]
            .into_iter()
            .any(|triangle| segment_triangle(p, q, triangle).is_some())
    }
}

impl Solid {
    /// Cuts the body along the way of a blade; returns how many points have been copied,
    /// 0 if the blade has missed it, or only begun to come between its tetrahedra.
    /// Bodies of springs are not cut.
    pub fn cut(&mut self, blade: &Blade) -> usize {
        let centers: Vec<Vec3> = self
            .mesh
            .tets
            .iter()
            .map(|tet| {
                let sum: Vec3A = tet.iter().map(|&v| self.place(v)).sum();
                (0.25 * sum).into()
            })
            .collect();
        let joints = self.joints();
        let open: Vec<Joint> = joints
            .iter()
            .filter(|&&(a, b)| blade.crosses(centers[a as usize], centers[b as usize]))
            .copied()
            .collect();
        self.open_joints(open)
    }
}
