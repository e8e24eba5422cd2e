//! The parts of surfaces, in boxes around the way that each of them goes in a step.

use glam::Vec3;

use super::broad::Moving;
use super::skin::View;
use crate::math::Aabb;
use crate::space::BoxSweep;

/// What bodies consist of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Of the skin.
    Point,
    Triangle,
    Edge,
    Tet,
}

impl Part {
    fn count(self, view: &View<'_>) -> usize {
        match self {
            Part::Point => view.solid.skin.len(),
            Part::Triangle => view.solid.surface.len(),
            Part::Edge => view.skin.edges.len(),
            Part::Tet => view.solid.mesh.tets.len(),
        }
    }

    /// The points of part `number`.
    fn points<'a>(self, view: &View<'a>, number: usize) -> &'a [u32] {
        match self {
            Part::Point => std::slice::from_ref(&view.solid.skin[number]),
            Part::Triangle => &view.solid.surface[number],
            Part::Edge => &view.skin.edges[number].ends,
            Part::Tet => &view.solid.mesh.tets[number],
        }
    }
}

/// Some parts of one kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    /// Body and number of every part.
    items: Vec<(u32, u32)>,
    boxes: Vec<Aabb>,
    pub sweep: BoxSweep,
}

impl Parts {
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Body and number of a part.
    pub fn item(&self, k: u32) -> (u32, u32) {
        self.items[k as usize]
    }

    /// Takes up the parts that are `asked` for, with the boxes that `around` makes of their
    /// points.
    fn build(
        &mut self,
        part: Part,
        views: &[View<'_>],
        asked: impl Fn(usize, &[u32]) -> bool,
        around: impl Fn(usize, &[u32]) -> Aabb,
        axis: usize,
    ) {
        self.items.clear();
        self.boxes.clear();
        for (body, view) in views.iter().enumerate() {
            for number in 0..part.count(view) {
                let points = part.points(view, number);
                if asked(body, points) {
                    self.items.push((body as u32, number as u32));
                    self.boxes.push(around(body, points));
                }
            }
        }
        self.sweep.build(&self.boxes, axis);
    }
}

/// Some parts of all kinds.
#[derive(Clone, Debug, Default)]
pub(super) struct AllParts {
    pub points: Parts,
    pub triangles: Parts,
    pub edges: Parts,
    pub tets: Parts,
}

impl AllParts {
    /// Takes up the parts that are `asked` for, given by body and points. The boxes are as wide
    /// as `can_touch` of `broad.rs` looks.
    pub fn build(
        &mut self,
        views: &[View<'_>],
        moving: &[Moving],
        axis: usize,
        asked: impl Fn(usize, &[u32]) -> bool + Sync,
    ) {
        let on_the_way = |body: usize, points: &[u32]| {
            let view = &views[body];
            let places = points.iter().map(|&i| i as usize);
            let moving = &moving[body];
            Aabb::of(places.flat_map(|i| [view.from[i], view.to[i]]))
                .grown(moving.reach(view, moving.own_way(points)))
        };
        // A point may lie on a face.
        let at_the_start = |body: usize, points: &[u32]| {
            let view = &views[body];
            Aabb::of(points.iter().map(|&i| view.from[i as usize])).grown(view.solid.thickness)
        };
        let (points, triangles) = (&mut self.points, &mut self.triangles);
        let (edges, tets) = (&mut self.edges, &mut self.tets);
        rayon::join(
            || {
                points.build(Part::Point, views, &asked, on_the_way, axis);
                edges.build(Part::Edge, views, &asked, on_the_way, axis);
            },
            || {
                triangles.build(Part::Triangle, views, &asked, on_the_way, axis);
                tets.build(Part::Tet, views, &asked, at_the_start, axis);
            },
        );
    }
}

/// The axis along which bodies are spread the most.
pub(super) fn widest(views: &[View<'_>]) -> usize {
    let all = || views.iter().flat_map(|v| v.from);
    let n = all().count().max(1) as f32;
    let mean = all().sum::<Vec3>() / n;
    let spread: Vec3 = all().map(|p| (p - mean) * (p - mean)).sum();
    spread.max_position()
}
