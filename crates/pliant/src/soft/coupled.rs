//! What liquids need of a soft body that they push.
//!
//! Among liquids a body of springs takes an implicit step whose equations are solved, not
//! estimated: a sheet may bear a hundred times its own mass of liquid, and must give way to
//! it in the pressure solve just as it will move.

use glam::{DMat3, DVec3, Mat3A, Vec3, Vec3A};

use super::contact::Surroundings;
use super::settings::{Scaling, VolumeMeasure};
use super::state::Soft;
use crate::contact::Contact;
use crate::solid::{Budget, Freedom, Matrix, Scratch, conjugate_gradients};

/// What is left of an impulse that has not been shared out, at most.
const TOLERANCE: f64 = 1e-3;
/// Most iterations for one change of the impulses; the next goes on where this one ends.
const ITERATIONS: u32 = 60;
/// A volume that is held resists this many times as much as the masses.
const HELD: f64 = 1e4;
/// Springs shorter than this, in metres, have no direction.
const SHORTEST: f32 = 1e-12;

/// How a body of springs gives way to impulses within a sub-step of h seconds:
/// `(m + h d K + h² T + s g gᵀ) Δv = J`. K is the stiffness of the springs along themselves
/// and that of a bed, T that across springs as far as they are stretched; d the time of
/// damping, at least h; g the gradient of the volume and `s = h² γ p / V` the stiffness of
/// the gas.
#[derive(Clone, Debug)]
pub(crate) struct SoftEquations {
    springs: Springs,
    scratch: Scratch,
    place: Vec<Vec3A>,
    /// All that has been given so far, in N s.
    pub impulse: Vec<Vec3A>,
    /// What has come of it, in m/s.
    pub change: Vec<Vec3A>,
}

/// The matrix.
#[derive(Clone, Debug)]
struct Springs {
    /// Where the arms of each point start.
    start: Vec<u32>,
    arms: Vec<Arm>,
    mass: Vec<f32>,
    /// What a bed adds to each mass; empty without.
    bed: Vec<f32>,
    freedom: Vec<Freedom>,
    /// Gradient of the volume times the root of the gas's stiffness; empty without gas.
    gas: Vec<Vec3A>,
}

/// A spring as one of its ends sees it.
#[derive(Clone, Copy, Debug)]
struct Arm {
    /// Its direction times the root of what it is stiffer along than across.
    along: Vec3A,
    across: f32,
    other: u32,
}

impl Springs {
    fn diagonal(&self, i: usize) -> f32 {
        self.mass[i] + self.bed.get(i).copied().unwrap_or(0.0)
    }

    fn arms_of(&self, i: usize) -> &[Arm] {
        &self.arms[self.start[i] as usize..self.start[i + 1] as usize]
    }
}

impl Matrix for Springs {
    fn links(&self, x: &[Vec3A], out: &mut Vec<Vec3A>) {
        out.clear();
        if !self.gas.is_empty() {
            let grown = self.gas.iter().zip(x).map(|(g, x)| f64::from(g.dot(*x)));
            out.push(Vec3A::splat(grown.sum::<f64>() as f32));
        }
    }

    #[inline]
    fn row_times(&self, i: usize, x: &[Vec3A], links: &[Vec3A]) -> Vec3A {
        let own = x[i];
        let mut sum = self.diagonal(i) * own;
        for arm in self.arms_of(i) {
            let apart = own - x[arm.other as usize];
            sum += arm.across * apart + arm.along.dot(apart) * arm.along;
        }
        match links.first() {
            Some(grown) => sum + *grown * self.gas[i],
            None => sum,
        }
    }

    fn diagonal_block(&self, i: usize) -> Mat3A {
        let mut sum = Mat3A::from_diagonal(Vec3::splat(self.diagonal(i)));
        for arm in self.arms_of(i) {
            sum += Mat3A::from_diagonal(Vec3::splat(arm.across)) + outer(arm.along);
        }
        match self.gas.get(i) {
            Some(&g) => sum + outer(g),
            None => sum,
        }
    }

    fn freedom(&self, i: usize) -> Freedom {
        self.freedom[i]
    }
}

fn outer(v: Vec3A) -> Mat3A {
    Mat3A::from_cols(v * v.x, v * v.y, v * v.z)
}

impl SoftEquations {
    /// Finds the change of velocity that belongs to the impulses.
    pub fn respond(&mut self) {
        let mass = self.springs.mass.iter().map(|&m| f64::from(m)).sum();
        conjugate_gradients(
            &self.springs,
            &self.impulse,
            &mut self.change,
            Budget::of_step(ITERATIONS, TOLERANCE, mass),
            &mut self.scratch,
        );
        let springs = &self.springs;
        if springs.bed.is_empty() && springs.freedom.iter().all(|f| *f == Freedom::Free) {
            keep_momentum(&self.impulse, &springs.mass, &self.place, &mut self.change);
        }
    }

    /// How far point `i` moves by a unit impulse if all others stay, in 1/kg.
    pub fn mobility(&self, i: usize) -> f32 {
        self.springs.mobility(i)
    }

    /// Everything so far has happened: from now on only what is new is given.
    fn begin_again(&mut self) {
        self.impulse.fill(Vec3A::ZERO);
        self.change.fill(Vec3A::ZERO);
    }
}

/// What the solver has left over must neither move nor turn a free body as a whole.
fn keep_momentum(impulse: &[Vec3A], mass: &[f32], place: &[Vec3A], change: &mut [Vec3A]) {
    let wide = |v: Vec3A| Vec3::from(v).as_dvec3();
    let about = place[0];
    let (mut whole, mut first) = (0.0, DVec3::ZERO);
    let (mut push, mut twist) = (DVec3::ZERO, DVec3::ZERO);
    let mut spread = DMat3::ZERO;
    for i in 0..change.len() {
        let (m, p) = (f64::from(mass[i]), wide(place[i] - about));
        let missing = wide(impulse[i]) - m * wide(change[i]);
        whole += m;
        first += m * p;
        push += missing;
        twist += p.cross(missing);
        spread += DMat3::from_cols(p * p.x, p * p.y, p * p.z) * m;
    }
    let center = first / whole;
    let shifted = DMat3::from_cols(center * center.x, center * center.y, center * center.z);
    let spread = spread - shifted * whole;
    let trace = spread.x_axis.x + spread.y_axis.y + spread.z_axis.z;
    let inertia = DMat3::from_diagonal(DVec3::splat(trace)) - spread;
    // A body on a line has no inertia about it.
    let solid = inertia.determinant().abs() > 1e-12 * trace.powi(3);
    let spin = if solid {
        inertia.inverse() * (twist - center.cross(push))
    } else {
        DVec3::ZERO
    };
    let drift = push / whole;
    for (change, place) in change.iter_mut().zip(place) {
        let arm = wide(*place - about) - center;
        *change += (drift + spin.cross(arm)).as_vec3a();
    }
}

impl Soft {
    /// Velocities of all points in m/s.
    pub(crate) fn velocity_list(&self) -> &[Vec3A] {
        &self.velocity
    }

    /// 1 / mass of all points in 1/kg; 0 for pinned ones.
    pub(crate) fn inverse_masses(&self) -> &[f32] {
        &self.inverse_mass
    }

    /// The shape at the start.
    pub(crate) fn start(&self) -> &[Vec3] {
        &self.start
    }

    /// Largest speed of any point in m/s.
    pub(crate) fn top_speed(&self) -> f32 {
        let squared = self.velocity.iter().map(|v| v.length_squared());
        squared.fold(0.0, f32::max).sqrt()
    }

    /// True if what is inside is not for liquids.
    pub(crate) fn holds_gas(&self) -> bool {
        self.is_closed() && self.is_filled()
    }

    /// Something has pushed the points: these are their velocities now.
    pub(crate) fn set_velocities(&mut self, velocity: &[Vec3A]) {
        self.velocity.copy_from_slice(velocity);
        self.refresh_views();
    }

    /// How the body gives way within the coming sub-step of `h` seconds, if that follows
    /// from its springs; lungs and other models answer by their masses.
    pub(crate) fn equations(&mut self, h: f32) -> Option<SoftEquations> {
        let plain = self.model.is_none() && self.breath.is_none();
        if !plain || self.settings.scaling != Scaling::Physical {
            return None;
        }
        let damping = self.damping(h).max(h);
        self.apply_changes();
        self.find_forces(damping, h);
        let (topology, position) = (&self.topology, &self.position);
        let scale = h * damping * self.settings.controls.alpha;
        let mut arms = Vec::with_capacity(topology.links.len());
        for (i, &place) in position.iter().enumerate() {
            for link in topology.links_of(i) {
                let spring = &topology.springs[link.spring as usize];
                let way = position[link.other as usize] - place;
                let length = way.length().max(SHORTEST);
                let along = scale * spring.stiffness;
                let stretched = (1.0 - spring.rest / length).max(0.0);
                let across = h / damping * along * stretched;
                arms.push(Arm {
                    along: ((along - across).max(0.0).sqrt() / length) * way,
                    across,
                    other: link.other,
                });
            }
        }
        let stiff = self.gas_stiffness(h).sqrt() as f32;
        let gas = if stiff > 0.0 {
            self.gradient.iter().map(|g| stiff * *g).collect()
        } else {
            Vec::new()
        };
        let freedom = self.inverse_mass.iter().map(|&w| Freedom::of(w));
        let bed = self.bed.iter().flat_map(|b| {
            let scale = h * (h + b.damping);
            b.stiffness.iter().map(move |k| scale * k)
        });
        Some(SoftEquations {
            springs: Springs {
                start: topology.link_start.clone(),
                arms,
                mass: topology.mass.clone(),
                bed: bed.collect(),
                freedom: freedom.collect(),
                gas,
            },
            scratch: Scratch::default(),
            place: position.clone(),
            impulse: vec![Vec3A::ZERO; self.len()],
            change: vec![Vec3A::ZERO; self.len()],
        })
    }

    /// s of [`SoftEquations`].
    fn gas_stiffness(&self, h: f32) -> f64 {
        let volume = &self.settings.volume;
        if volume.hold.is_some() {
            let squares = self.gradient.iter().zip(&self.inverse_mass);
            let squares = squares.map(|(g, w)| f64::from(w * g.length_squared()));
            return HELD / squares.sum::<f64>().max(1e-30);
        }
        match volume.measure {
            VolumeMeasure::Mesh => self.gas_rigidity() * f64::from(h * h),
            VolumeMeasure::Box => 0.0,
        }
    }

    /// The first half of a sub-step of `h` seconds: all forces act, besides what the
    /// equations have been given; points go past obstacles. Points that touch one move
    /// along it from then on.
    pub(crate) fn predict(
        &mut self,
        matter: u32,
        h: f32,
        equations: &mut SoftEquations,
        around: &Surroundings<'_>,
    ) -> Vec<Contact> {
        let weight = h * self.settings.controls.delta;
        let springs = &equations.springs;
        let gas = &springs.gas;
        let growing = gas.iter().zip(&self.velocity).map(|(g, v)| g.dot(*v));
        let growing: f32 = growing.sum();
        for (i, impulse) in equations.impulse.iter_mut().enumerate() {
            let (p, v) = (self.position[i].into(), self.velocity[i].into());
            let pulled = Vec3A::from(around.acceleration(p, v));
            *impulse += h * self.force[i] + (weight * self.topology.mass[i]) * pulled;
            if let Some(g) = gas.get(i) {
                *impulse -= growing * *g;
            }
            // What forces along springs have not: the turning of stretched ones.
            let own = self.velocity[i];
            for arm in springs.arms_of(i) {
                *impulse -= arm.across * (own - self.velocity[arm.other as usize]);
            }
        }
        if let Some(bed) = &self.bed {
            let place = bed.places(&self.start, self.clock + f64::from(h));
            for (i, impulse) in equations.impulse.iter_mut().enumerate() {
                let back = place(i) - self.position[i] - (h + bed.damping) * self.velocity[i];
                *impulse += (h * bed.stiffness[i]) * back;
            }
        }
        equations.respond();
        self.previous.copy_from_slice(&self.position);
        let kept = 1.0 / (1.0 + h * self.settings.drag);
        for (i, change) in equations.change.iter().enumerate() {
            if self.inverse_mass[i] > 0.0 {
                self.velocity[i] = kept * (self.velocity[i] + *change);
            }
            self.position[i] += h * self.velocity[i];
        }
        self.clock += f64::from(h);
        let contacts = self.pass_obstacles(matter, around);
        for contact in &contacts {
            let i = contact.point_id as usize;
            let freedom = &mut equations.springs.freedom[i];
            let normal = self.position[i] - Vec3A::from(contact.place);
            *freedom = match (*freedom, normal.try_normalize()) {
                (Freedom::Free, Some(normal)) => Freedom::Plane(normal),
                (Freedom::Plane(before), Some(normal)) if before.dot(normal) > 0.999 => *freedom,
                _ => Freedom::Fixed,
            };
        }
        equations.begin_again();
        contacts
    }

    /// The second half: points that the first has sent on their way go with `velocity`
    /// instead.
    pub(crate) fn finish(
        &mut self,
        matter: u32,
        h: f32,
        velocity: &[Vec3A],
        around: &Surroundings<'_>,
    ) -> Vec<Contact> {
        for (i, &velocity) in velocity.iter().enumerate() {
            self.position[i] += h * (velocity - self.velocity[i]);
            self.velocity[i] = velocity;
        }
        if let Some(ratio) = self.settings.volume.hold {
            self.hold_volume(f64::from(ratio) * self.rest_volume, h);
        }
        self.pass_obstacles(matter, around)
    }
}
