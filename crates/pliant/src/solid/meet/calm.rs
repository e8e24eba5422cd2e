//! Points of bodies that cannot touch others of their own piece in a step.
//!
//! Places of a body that are near each other at rest never meet (`broad.rs`). Far ones meet
//! only where a piece is bent or folded: two points that are both near where they would be in a
//! rigid piece have not come near enough. That spares most bodies the search for themselves.

use glam::{Mat3A, Quat, Vec3A};

use super::super::corotational::rotation;
use super::APART;
use super::skin::View;

/// What is compared is taken for this much larger, for the sake of rounding.
const ROUNDING: f32 = 1.001;

/// A piece of a body, and the rigid one that is most like it.
#[derive(Clone, Copy, Debug)]
struct Piece {
    points: f32,
    /// Its middle at rest and now.
    rest: Vec3A,
    now: Vec3A,
    turn: Quat,
    /// How far a point is from the middle at rest, in metres.
    radius: f32,
}

/// Which points cannot touch each other, by body and point.
#[derive(Clone, Debug, Default)]
pub(super) struct Calm(Vec<Vec<bool>>);

impl Calm {
    /// `reach` tells, for body and point, how far it goes and how far from there half of the
    /// gap is to what it can touch, in metres.
    pub fn find(views: &[View<'_>], reach: impl Fn(usize, usize) -> f32) -> Calm {
        let bodies = views.iter().enumerate();
        Calm(
            bodies
                .map(|(b, view)| calm_points(view, |i| reach(b, i)))
                .collect(),
        )
    }

    /// True if no two of the parts of one piece for which this is true can touch.
    #[inline]
    pub fn are(&self, body: usize, points: &[u32]) -> bool {
        points.iter().all(|&i| self.0[body][i as usize])
    }

    /// Body and number of the piece with the most such points.
    pub fn largest_piece(&self, views: &[View<'_>]) -> Option<(usize, u32)> {
        let mut largest = (0, None);
        for (body, (view, calm)) in views.iter().zip(&self.0).enumerate() {
            let mut points = vec![0u32; view.skin.pieces];
            for (&p, &calm) in view.skin.piece.iter().zip(calm) {
                points[p as usize] += u32::from(calm);
            }
            for (p, &n) in points.iter().enumerate() {
                if n > largest.0 {
                    largest = (n, Some((body, p as u32)));
                }
            }
        }
        largest.1
    }
}

fn calm_points(view: &View<'_>, reach: impl Fn(usize) -> f32) -> Vec<bool> {
    let skin = view.skin;
    let rest = |i: usize| Vec3A::from(view.solid.mesh.points[i]);
    let now = |i: usize| Vec3A::from(view.from[i]);
    let all = || (0..view.from.len()).map(|i| (i, skin.piece[i] as usize));
    let none = Piece {
        points: 0.0,
        rest: Vec3A::ZERO,
        now: Vec3A::ZERO,
        turn: Quat::IDENTITY,
        radius: 0.0,
    };
    let mut pieces = vec![none; skin.pieces];
    for (i, p) in all() {
        pieces[p].points += 1.0;
        pieces[p].rest += rest(i);
        pieces[p].now += now(i);
    }
    for piece in &mut pieces {
        piece.rest /= piece.points;
        piece.now /= piece.points;
    }
    let mut moments = vec![Mat3A::ZERO; skin.pieces];
    for (i, p) in all() {
        let piece = &mut pieces[p];
        let (r, x) = (rest(i) - piece.rest, now(i) - piece.now);
        piece.radius = piece.radius.max(r.length());
        moments[p] += Mat3A::from_cols(x * r.x, x * r.y, x * r.z);
    }
    for (piece, moment) in pieces.iter_mut().zip(moments) {
        let size = piece.points * piece.radius * piece.radius;
        piece.turn = rotation(moment * size.recip(), Quat::IDENTITY);
    }
    let apart = 0.5 * APART * skin.edge;
    let calm = |(i, p): (usize, usize)| {
        let piece = &pieces[p];
        let rigid = piece.now + piece.turn * (rest(i) - piece.rest);
        let bent = rigid.distance(now(i));
        ROUNDING * piece.radius < apart || ROUNDING * (bent + reach(i)) < apart
    };
    all().map(calm).collect()
}
