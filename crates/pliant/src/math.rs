//! Small geometric types that every module shares.

use glam::Vec3;
use serde::{Deserialize, Serialize};

/// A borrowed list of vectors, one slice per coordinate, so that eight
/// neighbouring points fill three vector registers.
#[derive(Clone, Copy, Debug)]
pub struct Xyz<'a> {
    /// First coordinates.
    pub x: &'a [f32],
    /// Second coordinates.
    pub y: &'a [f32],
    /// Third coordinates.
    pub z: &'a [f32],
}

impl<'a> Xyz<'a> {
    /// Number of vectors.
    #[inline]
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// True if there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Vector `i`.
    #[inline]
    pub fn get(&self, i: usize) -> Vec3 {
        Vec3::new(self.x[i], self.y[i], self.z[i])
    }

    /// All vectors in order.
    pub fn iter(self) -> impl Iterator<Item = Vec3> + 'a {
        (0..self.len()).map(move |i| self.get(i))
    }
}

/// An owned list of vectors, one array per coordinate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct XyzVec {
    /// First coordinates.
    pub x: Vec<f32>,
    /// Second coordinates.
    pub y: Vec<f32>,
    /// Third coordinates.
    pub z: Vec<f32>,
}

impl XyzVec {
    /// Number of vectors.
    #[inline]
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// True if there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Vector `i`.
    #[inline]
    pub fn get(&self, i: usize) -> Vec3 {
        Vec3::new(self.x[i], self.y[i], self.z[i])
    }

    /// Overwrites vector `i`.
    #[inline]
    pub fn set(&mut self, i: usize, v: Vec3) {
        self.x[i] = v.x;
        self.y[i] = v.y;
        self.z[i] = v.z;
    }

    /// Appends a vector.
    pub fn push(&mut self, v: Vec3) {
        self.x.push(v.x);
        self.y.push(v.y);
        self.z.push(v.z);
    }

    /// Sets the length, filling with zero.
    pub fn resize(&mut self, len: usize) {
        for a in [&mut self.x, &mut self.y, &mut self.z] {
            a.resize(len, 0.0);
        }
    }

    /// Borrows the arrays.
    #[inline]
    pub fn view(&self) -> Xyz<'_> {
        Xyz {
            x: &self.x,
            y: &self.y,
            z: &self.z,
        }
    }
}

impl FromIterator<Vec3> for XyzVec {
    fn from_iter<I: IntoIterator<Item = Vec3>>(vectors: I) -> Self {
        let mut out = XyzVec::default();
        for v in vectors {
            out.push(v);
        }
        out
    }
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aabb {
    /// Smallest corner.
    pub min: Vec3,
    /// Largest corner.
    pub max: Vec3,
}

impl Aabb {
    /// The box that contains nothing; grows by [`Aabb::include`].
    pub const EMPTY: Aabb = Aabb {
        min: Vec3::INFINITY,
        max: Vec3::NEG_INFINITY,
    };

    /// The smallest box around `points`.
    pub fn of(points: impl IntoIterator<Item = Vec3>) -> Aabb {
        let mut b = Aabb::EMPTY;
        for p in points {
            b.include(p);
        }
        b
    }

    /// Grows the box to contain `p`.
    #[inline]
    pub fn include(&mut self, p: Vec3) {
        self.min = self.min.min(p);
        self.max = self.max.max(p);
    }

    /// The smallest box around both.
    #[inline]
    pub fn union(&self, other: &Aabb) -> Aabb {
        Aabb {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// The box moved outwards by `margin` on every side.
    #[inline]
    pub fn grown(&self, margin: f32) -> Aabb {
        Aabb {
            min: self.min - Vec3::splat(margin),
            max: self.max + Vec3::splat(margin),
        }
    }

    /// True if `p` is inside or on the border.
    #[inline]
    pub fn contains(&self, p: Vec3) -> bool {
        p.cmpge(self.min).all() && p.cmple(self.max).all()
    }

    /// True if the boxes share a point.
    #[inline]
    pub fn overlaps(&self, other: &Aabb) -> bool {
        self.min.cmple(other.max).all() && self.max.cmpge(other.min).all()
    }

    /// Squared distance from `p` to the box, 0 inside.
    #[inline]
    pub fn distance_squared(&self, p: Vec3) -> f32 {
        (p - p.clamp(self.min, self.max)).length_squared()
    }

    /// Middle of the box.
    #[inline]
    pub fn center(&self) -> Vec3 {
        0.5 * (self.min + self.max)
    }

    /// Edge lengths; negative for an empty box.
    #[inline]
    pub fn size(&self) -> Vec3 {
        self.max - self.min
    }
}
