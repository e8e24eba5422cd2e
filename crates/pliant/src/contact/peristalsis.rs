//! A wave of contraction that travels along a tube, as of the bowel: the one motion
//! that changes a mesh's shape.
//!
//! Every vertex moves towards the tube's axis and back. Before each sub-step the way
//! of all vertices is known; at its end they are moved (`skin.rs`).

use std::f64::consts::TAU;
use std::sync::Arc;

use glam::Vec3;
use rayon::prelude::*;

use super::skin::Skin;
use crate::crew::Spread;
use crate::mesh::TriMesh;

/// A train of ring-shaped contractions that travels along the axis of a tube:
/// `radius = rest radius * (1 - amplitude * ((1 + cos(2π (s - speed t) / wave_length)) / 2)^sharpness)`,
/// `s` along the axis. It grows from nothing within its first period, and is nothing
/// at the two ends of the tube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peristalsis {
    /// How far the tube closes: 0 not at all, 1 altogether.
    pub amplitude: f32,
    /// Distance between two contractions, in metres.
    pub wave_length: f32,
    /// In m/s along the axis; below 0 towards its beginning.
    pub speed: f32,
    /// 1 for a sine; the larger, the narrower the contractions.
    pub sharpness: f32,
    /// Begins at this time, in seconds.
    pub start: f64,
    /// Stands still from this time on, in seconds.
    pub stop: f64,
}

impl Peristalsis {
    /// Largest share of the radius by which the wall moves in a second.
    fn fastest(&self) -> f32 {
        let frequency = (self.speed / self.wave_length).abs();
        // The steepest flank of ((1 + cos θ) / 2)^n is below √n / 2 for n of 1 or
        // more; the growth of the wave is a smooth step, at most 3/2 per period.
        let flank = 0.5 * self.sharpness.max(1.0).sqrt();
        self.amplitude * frequency * (TAU as f32 * flank + 1.5)
    }

    /// The share of the radius by which the tube is contracted at each of `arcs`,
    /// metres along an axis of `length`.
    pub(crate) fn contraction(&self, time: f64, length: f32) -> impl Fn(f32) -> f32 + Sync + use<> {
        let wave = *self;
        let t = time.min(wave.stop).max(wave.start) - wave.start;
        let (speed, wave_length) = (f64::from(wave.speed), f64::from(wave.wave_length));
        let grown = smooth_step((t * speed.abs() / wave_length) as f32);
        move |arc| {
            let phase = ((f64::from(arc) - speed * t) / wave_length).fract();
            let ring = 0.5 * (1.0 + (TAU * phase).cos() as f32);
            let from_end = 2.0 * arc.min(length - arc) / wave.wave_length;
            wave.amplitude * grown * smooth_step(from_end) * ring.powf(wave.sharpness)
        }
    }
}

fn smooth_step(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// Where the points of a tube are along its axis.
#[derive(Clone, Debug)]
pub(crate) struct Spokes {
    /// For every point the nearest point of the axis and its place along it.
    pub list: Vec<(Vec3, f32)>,
    /// Of the axis, in metres.
    pub length: f32,
}

impl Spokes {
    /// From `axis`, a line of points, to `vertices` around it.
    pub fn of(vertices: &[Vec3], axis: &[Vec3]) -> Spokes {
        let mut arcs = vec![0.0f32; axis.len().max(1)];
        for i in 1..axis.len() {
            arcs[i] = arcs[i - 1] + axis[i].distance(axis[i - 1]);
        }
        let spoke = |&v: &Vec3| {
            let mut best = (f32::INFINITY, (v, 0.0));
            for (pair, arc) in axis.windows(2).zip(&arcs) {
                let along = pair[1] - pair[0];
                let t = (v - pair[0]).dot(along) / along.length_squared();
                let t = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) };
                let p = pair[0] + t * along;
                let d2 = v.distance_squared(p);
                if d2 < best.0 {
                    best = (d2, (p, arc + t * along.length()));
                }
            }
            best.1
        };
        Spokes {
            list: vertices.par_iter().spread_map(spoke),
            length: arcs[arcs.len() - 1],
        }
    }
}

/// A tube and the wave that runs along it.
#[derive(Clone)]
pub(super) struct WavingTube {
    wave: Peristalsis,
    pub rest: Arc<TriMesh>,
    /// The triangles as they are now.
    pub skin: Skin,
    /// For every vertex the nearest point of the axis and its place along it.
    spokes: Vec<(Vec3, f32)>,
    length: f32,
    /// Largest distance of a vertex from the axis.
    radius: f32,
    /// Share of the contraction at the time of `skin`, for every vertex.
    now: Vec<f32>,
    next: Vec<f32>,
}

impl WavingTube {
    /// Lets `wave` run along `axis`, a line of points inside `mesh`.
    pub fn new(mesh: Arc<TriMesh>, axis: &[Vec3], wave: Peristalsis) -> WavingTube {
        let Spokes {
            list: spokes,
            length,
        } = Spokes::of(&mesh.vertices, axis);
        let away = mesh.vertices.iter().zip(&spokes);
        let radius = away.fold(0.0, |r: f32, (v, s)| r.max(v.distance(s.0)));
        let count = spokes.len();
        let mut tube = WavingTube {
            wave,
            skin: Skin::new(mesh.clone(), false),
            rest: mesh,
            spokes,
            length,
            radius,
            now: vec![0.0; count],
            next: vec![0.0; count],
        };
        tube.move_to(0.0);
        tube
    }

    pub fn wave(&self) -> &Peristalsis {
        &self.wave
    }

    /// Nothing of it is faster than this from `time` on, in m/s.
    pub fn top_speed(&self, time: f64) -> f32 {
        if time >= self.wave.stop {
            return 0.0;
        }
        self.radius * self.wave.fastest()
    }

    /// Puts it where the wave has it at `time`.
    pub fn move_to(&mut self, time: f64) {
        self.begin_substep(time, time);
        self.advance();
        self.skin.set_travel(0.0, |_| Vec3::ZERO);
    }

    /// Finds the way of all vertices to where they are at `end`.
    pub fn begin_substep(&mut self, start: f64, end: f64) {
        let contraction = self.wave.contraction(end, self.length);
        (&mut self.next, &self.spokes)
            .into_par_iter()
            .with_min_len(512)
            .spread(|(next, (_, arc))| *next = contraction(*arc));
        let (now, next, spokes) = (&self.now, &self.next, &self.spokes);
        let vertices = &self.rest.vertices;
        self.skin.set_travel((end - start) as f32, |i| {
            (now[i] - next[i]) * (vertices[i] - spokes[i].0)
        });
    }

    /// Moves the vertices.
    pub fn advance(&mut self) {
        if self.next != self.now {
            std::mem::swap(&mut self.next, &mut self.now);
            let place = |((share, (center, _)), vertex): ((&f32, &(Vec3, f32)), &Vec3)| {
                *center + (1.0 - share) * (*vertex - *center)
            };
            let spokes = self.now.iter().zip(&self.spokes);
            let vertices = spokes.zip(&self.rest.vertices).map(place).collect();
            self.skin.refit(vertices);
        }
    }

    pub fn bytes(&self) -> usize {
        self.skin.bytes() + size_of_val(&*self.spokes) + 2 * size_of_val(&*self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Colon;
    use crate::space::{Bvh, TriangleIndex};

    const WAVE: Peristalsis = Peristalsis {
        amplitude: 0.6,
        wave_length: 0.15,
        speed: 0.1,
        sharpness: 3.0,
        start: 0.5,
        stop: 4.0,
    };

    fn colon() -> WavingTube {
        let (mesh, path) = Colon::coarse(1).build_with_path().unwrap();
        WavingTube::new(Arc::new(mesh), &path.points, WAVE)
    }

    /// The refitted tree answers as one built over the moved mesh.
    #[test]
    fn refitting_is_as_good_as_building() {
        let mut tube = colon();
        for k in 0..20 {
            tube.begin_substep(0.2 * f64::from(k), 0.2 * f64::from(k + 1));
            tube.advance();
            let mesh = tube.skin.tree.mesh().clone();
            let built = Bvh::build(mesh.clone());
            for v in mesh.vertices.iter().step_by(37) {
                let p = *v + Vec3::new(0.003, -0.002, 0.004);
                assert_eq!(tube.skin.tree.closest(p, 0.05), built.closest(p, 0.05));
                assert_eq!(tube.skin.tree.contains(p), built.contains(p));
                let to = p - Vec3::new(0.0, 0.02, 0.01);
                assert_eq!(
                    tube.skin.tree.first_crossing(p, to),
                    built.first_crossing(p, to)
                );
            }
        }
    }

    /// The tube stays closed, keeps its orientation, and its rest shape at the start.
    #[test]
    fn the_wave_squeezes_the_tube_and_travels() {
        let mut tube = colon();
        assert_eq!(tube.skin.tree.mesh().vertices, tube.rest.vertices);
        let rest = tube.rest.volume();
        let mut squeezed = Vec::new();
        for k in 0..6 {
            tube.move_to(2.5 + 0.25 * f64::from(k));
            let mesh = tube.skin.tree.mesh();
            assert!(mesh.check().faces_outwards());
            assert!(
                (0.5..0.9).contains(&(mesh.volume() / rest)),
                "{}",
                mesh.volume() / rest
            );
            let most = (0..tube.now.len()).max_by(|&a, &b| tube.now[a].total_cmp(&tube.now[b]));
            let share = tube.now[most.unwrap_or(0)];
            assert!(share > 0.5 && share <= WAVE.amplitude);
            squeezed.push(tube.now.clone());
        }
        // A quarter of a second later the same, 0.025 m further.
        let at = |time: f64, arc: f32| WAVE.contraction(time, 1.0)(arc);
        assert!((at(3.0, 0.4) - at(3.25, 0.425)).abs() < 1e-5);
        assert_ne!(squeezed[0], squeezed[1]);
    }

    /// Vertices move as told, and never faster than the bound.
    #[test]
    fn walls_move_with_the_velocity_told() {
        let mut tube = colon();
        let dt = 0.01;
        for k in 0..400 {
            let t = dt * f64::from(k);
            let before = tube.skin.tree.mesh().vertices.clone();
            tube.begin_substep(t, t + dt);
            let told = tube.skin.velocity(100, [1.0, 0.0, 0.0]);
            tube.advance();
            let v = tube.rest.triangles[100][0] as usize;
            let made = (tube.skin.tree.mesh().vertices[v] - before[v]) / dt as f32;
            assert!((told - made).length() < 1e-4, "{told} {made}");
            assert!(tube.skin.most_travel() <= 1.001 * dt as f32 * tube.top_speed(t) + 1e-7);
        }
        assert_eq!(tube.top_speed(4.0), 0.0);
    }
}
