//! The equations of several bodies at once, joined by their contacts.

use glam::{Mat3A, Vec3A};
use rayon::prelude::*;

use super::super::conjugate_gradient::{Freedom, Matrix, System};
use super::super::patches::group_by;

/// Links per task.
const CHUNK: usize = 512;

/// A contact as the solver sees it. The impulse on its point is
/// `given - matrix · v`, where v is how the point moves against the triangle; the
/// corners of the triangle share the opposite.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// The point and the corners of the triangle, in the numbering of all bodies.
    pub points: [u32; 4],
    /// 1, and minus the weights of the corners.
    pub weights: [f32; 4],
    /// In kg.
    pub matrix: Mat3A,
    /// In N s.
    pub given: Vec3A,
}

impl Link {
    /// How the point moves against the triangle, if points move by `x`.
    #[inline]
    pub fn relative(&self, x: &[Vec3A]) -> Vec3A {
        let terms = self.points.iter().zip(self.weights);
        terms.fold(Vec3A::ZERO, |sum, (&i, w)| sum + w * x[i as usize])
    }

    /// The impulse on the point for this relative velocity.
    pub fn impulse(&self, relative: Vec3A) -> Vec3A {
        self.given - self.matrix * relative
    }

    /// Adds an impulse on the point, and the opposite on the corners.
    pub fn spread(&self, impulse: Vec3A, to: &mut [Vec3A]) {
        for (&i, w) in self.points.iter().zip(self.weights) {
            to[i as usize] += w * impulse;
        }
    }
}

/// All links, and which of them each point has.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    pub list: Vec<Link>,
    start: Vec<u32>,
    /// Position in the flat list of four points per link.
    around: Vec<u32>,
}

impl Links {
    /// Links among `points` points.
    pub fn new(list: Vec<Link>, points: usize) -> Links {
        let (start, around) = group_by(points, list.iter().flat_map(|l| l.points));
        Links {
            list,
            start,
            around,
        }
    }

    /// The links of point `i` with its weights in them.
    #[inline]
    fn of(&self, i: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let range = self.start[i] as usize..self.start[i + 1] as usize;
        self.around[range].iter().map(|&place| {
            let (link, k) = (place as usize / 4, place as usize % 4);
            (link, self.list[link].weights[k])
        })
    }
}

/// The equations of bodies one after the other, and what joins them.
pub(super) struct Joint<'a> {
    pub parts: Vec<System<'a>>,
    /// First point of every part.
    pub start: &'a [usize],
    /// The part of every point.
    pub part: &'a [u32],
    pub links: &'a Links,
}

impl Matrix for Joint<'_> {
    fn links(&self, x: &[Vec3A], out: &mut Vec<Vec3A>) {
        let pull = |l: &Link| l.matrix * l.relative(x);
        let list = &self.links.list;
        if list.len() <= CHUNK {
            out.clear();
            out.extend(list.iter().map(pull));
        } else {
            let list = list.par_iter().with_min_len(CHUNK);
            list.map(pull).collect_into_vec(out);
        }
    }

    #[inline]
    fn row_times(&self, i: usize, x: &[Vec3A], links: &[Vec3A]) -> Vec3A {
        let part = self.part[i] as usize;
        let start = self.start[part];
        let own = self.parts[part].row_times(i - start, &x[start..], &[]);
        self.links
            .of(i)
            .fold(own, |sum, (link, w)| sum + w * links[link])
    }

    fn diagonal_block(&self, i: usize) -> Mat3A {
        let part = self.part[i] as usize;
        let own = self.parts[part].diagonal_block(i - self.start[part]);
        self.links.of(i).fold(own, |sum, (link, w)| {
            sum + self.links.list[link].matrix * (w * w)
        })
    }

    #[inline]
    fn freedom(&self, i: usize) -> Freedom {
        let part = self.part[i] as usize;
        self.parts[part].freedom[i - self.start[part]]
    }
}
