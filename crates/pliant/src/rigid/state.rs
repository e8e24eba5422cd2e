//! A rigid body and its motion.

use std::sync::Arc;

use glam::{DMat3, Mat3, Mat3A, Quat, Vec3};
use thiserror::Error;

use super::mass::MassProperties;
use crate::contact::{Pose, Twist};
use crate::coupling::{LiquidContact, RigidMotion};
use crate::math::XyzVec;
use crate::mesh::TriMesh;
use crate::observe::{CheckpointError, Decoder, Encoder, StateHash, Totals};
use crate::world::{Matter, PerPoint, PointsView, SurfaceView};

/// Points that stand for the surface in contacts lie this share of its size apart.
const SAMPLES: f32 = 0.125;

/// What a rigid body is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidSettings {
    /// Name in reports and files.
    pub name: String,
    /// In kg/m³, everywhere inside the surface.
    pub density: f32,
    /// Share of the speed given back by a collision with obstacles, 0 to 1.
    pub restitution: f32,
    /// Coulomb friction coefficient with obstacles and other bodies.
    pub friction: f32,
    /// How liquids meet it.
    pub liquid: LiquidContact,
}

impl RigidSettings {
    /// A body of this density that neither bounces nor sticks.
    pub fn new(name: impl Into<String>, density: f32) -> RigidSettings {
        RigidSettings {
            name: name.into(),
            density,
            restitution: 0.0,
            friction: 0.3,
            liquid: LiquidContact::default(),
        }
    }
}

/// Why a rigid body cannot be made.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RigidError {
    /// Its surface has no inside.
    #[error("the surface of a rigid body must be closed: {0}")]
    Open(String),
    /// A setting out of range.
    #[error("`{key}` is {value}, but must be {right}")]
    Setting {
        /// Name of the setting.
        key: &'static str,
        /// Its value.
        value: f32,
        /// What would be right.
        right: &'static str,
    },
}

/// A rigid body.
#[derive(Clone, Debug)]
pub struct RigidBody {
    settings: RigidSettings,
    /// With the centre of mass at the origin.
    pub(crate) mesh: Arc<TriMesh>,
    /// Points of the surface that obstacles are tested against, in the body's frame.
    pub(crate) samples: Vec<Vec3>,
    mass: f32,
    inertia: Mat3,
    inverse_inertia: Mat3,
    /// Centre of mass.
    center: Vec3,
    rotation: Quat,
    velocity: Vec3,
    spin: Vec3,
    ids: Vec<u32>,
    inverse_point_mass: Vec<f32>,
    position_view: XyzVec,
    velocity_view: XyzVec,
}

impl RigidBody {
    /// A body at rest in the shape of `mesh`, a closed surface.
    pub fn new(settings: RigidSettings, mut mesh: TriMesh) -> Result<RigidBody, RigidError> {
        let bad = |key, value, right| Err(RigidError::Setting { key, value, right });
        if !(settings.density.is_finite() && settings.density > 0.0) {
            return bad("density", settings.density, "above 0");
        }
        if !(0.0..=1.0).contains(&settings.restitution) {
            return bad("restitution", settings.restitution, "0 to 1");
        }
        if !(settings.friction.is_finite() && settings.friction >= 0.0) {
            return bad("friction", settings.friction, "0 or more");
        }
        let check = mesh.check();
        if !check.is_closed() {
            return Err(RigidError::Open(check.to_string()));
        }
        if !check.faces_outwards() {
            mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        let found = MassProperties::of(&mesh);
        let center = found.center.as_vec3();
        mesh.vertices.iter_mut().for_each(|v| *v -= center);
        let density = f64::from(settings.density);
        let mass = (density * found.volume) as f32;
        let inertia = found.inertia * density;
        let n = mesh.vertices.len();
        let mut body = RigidBody {
            samples: samples(&mesh),
            mass,
            inertia: inertia.as_mat3(),
            inverse_inertia: inertia.inverse().as_mat3(),
            center,
            rotation: Quat::IDENTITY,
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            ids: (0..n as u32).collect(),
            inverse_point_mass: vec![n as f32 / mass; n],
            position_view: XyzVec::default(),
            velocity_view: XyzVec::default(),
            mesh: Arc::new(mesh),
            settings,
        };
        body.position_view.resize(n);
        body.velocity_view.resize(n);
        body.refresh_views();
        Ok(body)
    }

    /// Its settings.
    pub fn settings(&self) -> &RigidSettings {
        &self.settings
    }

    /// Mass in kg.
    pub fn mass(&self) -> f32 {
        self.mass
    }

    /// Centre of mass in metres.
    pub fn center(&self) -> Vec3 {
        self.center
    }

    /// Turn from the shape that it was made in.
    pub fn rotation(&self) -> Quat {
        self.rotation
    }

    /// Velocity of the centre of mass in m/s.
    pub fn velocity(&self) -> Vec3 {
        self.velocity
    }

    /// Spin in rad/s.
    pub fn spin(&self) -> Vec3 {
        self.spin
    }

    /// Sets the velocity of the centre of mass in m/s and the spin in rad/s.
    pub fn set_motion(&mut self, velocity: Vec3, spin: Vec3) {
        self.velocity = velocity;
        self.spin = spin;
        self.refresh_views();
    }

    /// The corners of its surface where they are now.
    pub fn vertices(&self) -> impl Iterator<Item = Vec3> + '_ {
        let pose = self.pose();
        self.mesh.vertices.iter().map(move |&v| pose.place(v))
    }

    /// How far its contacts look for obstacles, in metres; what moves further is caught
    /// on its way.
    pub(crate) fn contact_reach(&self) -> f32 {
        0.02 * self.mesh.aabb().size().max_element()
    }

    pub(crate) fn pose(&self) -> Pose {
        Pose {
            rotation: self.rotation,
            shift: self.center,
        }
    }

    pub(crate) fn twist(&self) -> Twist {
        Twist {
            velocity: self.velocity,
            spin: self.spin,
            center: self.center,
        }
    }

    /// Its motion, to be pushed.
    pub(crate) fn motion(&self) -> RigidMotion {
        let turn = Mat3::from_quat(self.rotation);
        RigidMotion {
            velocity: self.velocity.into(),
            spin: self.spin.into(),
            center: self.center.into(),
            inverse_mass: 1.0 / self.mass,
            inverse_inertia: Mat3A::from(turn * self.inverse_inertia * turn.transpose()),
        }
    }

    /// Takes its motion back.
    pub(crate) fn set_velocities(&mut self, motion: &RigidMotion) {
        self.set_motion(motion.velocity.into(), motion.spin.into());
    }

    /// Moves on by `dt` seconds. Turning keeps the angular momentum, not the spin.
    pub(crate) fn advance(&mut self, dt: f32) {
        // In double precision: single would lose momentum by and by.
        let (inertia, spin) = (self.inertia.as_dmat3(), self.spin.as_dvec3());
        let turn = DMat3::from_quat(self.rotation.as_dquat().normalize());
        let momentum = turn * (inertia * (turn.transpose() * spin));
        self.center += dt * self.velocity;
        let turned = Quat::from_scaled_axis(dt * self.spin) * self.rotation;
        self.rotation = turned.normalize();
        let turn = DMat3::from_quat(self.rotation.as_dquat().normalize());
        self.spin = (turn * (inertia.inverse() * (turn.transpose() * momentum))).as_vec3();
        self.refresh_views();
    }

    /// Largest speed of any of its points, in m/s.
    pub(crate) fn top_speed(&self) -> f32 {
        let far = self.mesh.vertices.iter().map(|v| v.length());
        self.velocity.length() + self.spin.length() * far.fold(0.0, f32::max)
    }

    fn refresh_views(&mut self) {
        let pose = self.pose();
        let twist = self.twist();
        for (i, &v) in self.mesh.vertices.iter().enumerate() {
            let place = pose.place(v);
            self.position_view.set(i, place);
            self.velocity_view.set(i, twist.at(place));
        }
    }

    /// Writes everything that changes while it moves.
    pub(crate) fn save(&self, out: &mut Encoder) {
        out.f32s(&self.center.to_array());
        out.f32s(&self.rotation.to_array());
        out.f32s(&self.velocity.to_array());
        out.f32s(&self.spin.to_array());
    }

    /// Reads what [`RigidBody::save`] wrote.
    pub(crate) fn load(&mut self, from: &mut Decoder<'_>) -> Result<(), CheckpointError> {
        let (mut v, mut q) = ([0.0; 3], [0.0; 4]);
        from.f32s(&mut v)?;
        self.center = v.into();
        from.f32s(&mut q)?;
        self.rotation = Quat::from_array(q);
        from.f32s(&mut v)?;
        self.velocity = v.into();
        from.f32s(&mut v)?;
        self.spin = v.into();
        self.refresh_views();
        Ok(())
    }

    pub(crate) fn fingerprint(&self, hash: &mut StateHash) {
        hash.text(&format!("{:?}", self.settings));
        for v in &self.mesh.vertices {
            hash.f32s(&v.to_array());
        }
        self.mesh
            .triangles
            .iter()
            .flatten()
            .for_each(|&v| hash.word(v));
    }
}

/// Corners of the surface, and points between them where edges are long.
fn samples(mesh: &TriMesh) -> Vec<Vec3> {
    let apart = SAMPLES * mesh.aabb().size().max_element();
    let mut points = mesh.vertices.clone();
    for &[a, b, c] in &mesh.triangles {
        for (a, b) in [(a, b), (b, c), (c, a)] {
            // Of the two triangles at an edge one sees it this way round.
            if a < b {
                let (a, b) = (mesh.vertices[a as usize], mesh.vertices[b as usize]);
                let parts = (a.distance(b) / apart).ceil() as u32;
                points.extend((1..parts).map(|k| a.lerp(b, k as f32 / parts as f32)));
            }
        }
    }
    points
}

impl Matter for RigidBody {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn points(&self) -> PointsView<'_> {
        PointsView {
            position: self.position_view.view(),
            velocity: self.velocity_view.view(),
            inverse_mass: PerPoint::Each(&self.inverse_point_mass),
            radius: 0.0,
            id: &self.ids,
        }
    }

    fn surface(&self) -> Option<SurfaceView<'_>> {
        Some(SurfaceView {
            points: self.points(),
            triangles: &self.mesh.triangles,
        })
    }

    fn scalars(&self) -> Vec<(&'static str, Vec<f32>)> {
        Vec::new()
    }

    /// Its corners stand for the surface, not for the mass.
    fn totals(&self, gravity: Vec3) -> Totals {
        let mass = f64::from(self.mass);
        let (x, v) = (self.center.as_dvec3(), self.velocity.as_dvec3());
        let turn = Mat3::from_quat(self.rotation);
        let spin = (turn * (self.inertia * (turn.transpose() * self.spin))).as_dvec3();
        Totals {
            mass,
            kinetic: 0.5 * (mass * v.length_squared() + spin.dot(self.spin.as_dvec3())),
            potential: -mass * gravity.as_dvec3().dot(x),
            momentum: mass * v,
            angular_momentum: mass * x.cross(v) + spin,
            moment: mass * x,
            max_speed: self.velocity.length(),
        }
    }

    fn bytes(&self) -> usize {
        (24 + 12 + 8) * self.ids.len() + 12 * (self.samples.len() + self.mesh.triangles.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Cuboid;

    /// A box thrown spinning about its middle axis tumbles, but keeps its angular
    /// momentum and, within the error of the step, its energy.
    #[test]
    fn tumbling_keeps_angular_momentum() {
        let mesh = Cuboid::new(Vec3::ZERO, Vec3::new(0.1, 0.2, 0.4))
            .build()
            .unwrap();
        let mut body = RigidBody::new(RigidSettings::new("box", 500.0), mesh).unwrap();
        body.set_motion(Vec3::new(0.5, 0.0, 0.0), Vec3::new(0.05, 6.0, 0.02));
        let start = body.totals(Vec3::ZERO);
        let mut turned_over = false;
        for _ in 0..3000 {
            body.advance(1e-3);
            turned_over |= (body.rotation() * Vec3::Y).y < -0.5;
        }
        let end = body.totals(Vec3::ZERO);
        assert!(turned_over, "the middle axis is not stable");
        let (a, b) = (start.angular_momentum, end.angular_momentum);
        assert!((a - b).length() < 1e-4 * a.length(), "{a} {b}");
        assert!((start.kinetic / end.kinetic - 1.0).abs() < 0.02);
        assert!((body.center() - Vec3::new(1.55, 0.1, 0.2)).length() < 1e-3);
    }

    #[test]
    fn an_open_surface_is_refused() {
        let mut mesh = Cuboid::new(Vec3::ZERO, Vec3::ONE).build().unwrap();
        mesh.triangles.pop();
        let found = RigidBody::new(RigidSettings::new("open", 1.0), mesh);
        assert!(matches!(found, Err(RigidError::Open(_))));
        let mesh = Cuboid::new(Vec3::ZERO, Vec3::ONE).build().unwrap();
        let found = RigidBody::new(RigidSettings::new("light", -1.0), mesh);
        assert!(matches!(
            found,
            Err(RigidError::Setting { key: "density", .. })
        ));
    }
}
