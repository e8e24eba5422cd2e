//! The state of a body, and its step.

use glam::{DVec3, Vec3, Vec3A};
use rayon::prelude::*;

use super::assembly::ElasticBody;
use super::contact::{Environment, Way, sweep};
use super::explicit::Moving;
use super::implicit::TouchList;
use super::mass::{MassReport, inverse_masses};
use super::settings::{SolidError, SolidModel, SolidSettings};
use super::shape_matching::MatchedBody;
use super::split::Cracks;
use super::springs::SpringBody;
use super::stable_step::StableStep;
use super::strain_limit::limit_strain;
use crate::contact::Contact;
use crate::crew::Spread;
use crate::math::{Xyz, XyzVec};
use crate::mesh::TetMesh;
use crate::world::{Matter, PerPoint, PointsView, SurfaceView};

/// Sub-step of finite elements and shape matching, if none is given, in seconds.
const ELASTIC_STEP: f32 = 0.005;
/// Least number of points per task that copies them for the views.
const VIEW_CHUNK: usize = 4096;
/// Share of the longest stable step that springs take, if none is given: the
/// estimate is from below, and springs stiffen under load.
const SAFETY: f32 = 0.7;

/// A deformable body.
///
/// ```
/// use pliant::mesh::TetBall;
/// use pliant::solid::{Elastic, SolidModel, SolidSettings};
/// use pliant::{Obstacle, Vec3, World};
/// let mut world = World::new();
/// world.add_obstacle(Obstacle::plane("floor", Vec3::ZERO, Vec3::Y));
/// let ball = TetBall { center: Vec3::Y, radius: 0.2, tets: 500 }.build()?;
/// let jelly = SolidSettings::new("jelly", SolidModel::Elastic(Elastic::default()));
/// let jelly = world.add_solid(jelly, ball)?;
/// for _ in 0..10 {
///     world.step(0.01)?;
/// }
/// let volume = world.solid(jelly).map(|s| s.volume());
/// assert!((volume.unwrap_or(0.0) - 0.0335).abs() < 0.003);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Solid {
    pub(super) settings: SolidSettings,
    /// The rest shape; its tetrahedra are in an order of the body's own.
    pub(super) mesh: TetMesh,
    pub(super) surface: Vec<[u32; 3]>,
    /// How often it has changed.
    pub(super) surface_version: u32,
    pub(super) cracks: Cracks,
    /// What it was made as, as a fingerprint.
    pub(super) design: u64,
    /// Points of the surface, in order.
    pub(super) skin: Vec<u32>,
    pub(super) ids: Vec<u32>,
    pub(super) displacement: Vec<Vec3A>,
    pub(super) velocity: Vec<Vec3A>,
    /// Masses in kg, of pinned points too.
    pub(super) mass: Vec<f32>,
    /// 0 for pinned points.
    pub(super) inverse_mass: Vec<f32>,
    /// Forces from outside in N.
    pub(super) load: Vec<Vec3>,
    /// Impulses from outside and from pins that have not been booked yet, in N s.
    pub(super) given: (DVec3, DVec3),
    pub(super) touching: TouchList,
    /// Where they touch, from the beginning of a step to its end.
    touches: Vec<(u32, u32, crate::contact::Touch)>,
    pub(super) body: Body,
    pub(super) thickness: f32,
    pub(super) mass_report: MassReport,
    pub(super) stable: Option<StableStep>,
    /// Length of the last sub-step.
    pub(super) last_step: f32,
    /// Copies for the views.
    position_view: XyzVec,
    velocity_view: XyzVec,
}

/// The model with its data.
#[derive(Clone, Debug)]
pub(super) enum Body {
    Springs(Box<SpringBody>),
    Elastic(Box<ElasticBody>),
    Matched(Box<MatchedBody>),
}

impl Solid {
    /// A body at rest in the shape of `mesh`.
    pub fn new(settings: SolidSettings, mut mesh: TetMesh) -> Result<Solid, SolidError> {
        settings.check()?;
        mesh.validate()?;
        let body = match &settings.model {
            SolidModel::Springs(s) => {
                Body::Springs(Box::new(SpringBody::new(s.clone(), &mut mesh)))
            }
            SolidModel::Elastic(e) => Body::Elastic(Box::new(ElasticBody::new(e.clone(), &mesh))),
            SolidModel::Matching(m) => {
                let mass: Vec<f32> = inverse_masses(&mesh, &settings).0;
                let mass: Vec<f32> = mass.iter().map(|w| 1.0 / w).collect();
                Body::Matched(Box::new(MatchedBody::new(*m, &mesh, &mass)))
            }
        };
        let (inverse_mass, mass_report) = inverse_masses(&mesh, &settings);
        let surface = mesh.surface();
        let mut skin: Vec<u32> = surface.iter().flatten().copied().collect();
        skin.sort_unstable();
        skin.dedup();
        let n = mesh.points.len();
        let thickness = settings.thickness.unwrap_or_else(|| {
            let edges = mesh.edges();
            let length = |e: &[u32; 2]| {
                f64::from(mesh.points[e[0] as usize].distance(mesh.points[e[1] as usize]))
            };
            (0.05 * edges.iter().map(length).sum::<f64>() / edges.len() as f64) as f32
        });
        let mut solid = Solid {
            mass: inverse_mass.iter().map(|w| 1.0 / w).collect(),
            inverse_mass,
            mass_report,
            surface,
            surface_version: 0,
            cracks: Cracks::default(),
            design: 0,
            skin,
            ids: (0..n as u32).collect(),
            displacement: vec![Vec3A::ZERO; n],
            velocity: vec![Vec3A::ZERO; n],
            load: vec![Vec3::ZERO; n],
            given: Default::default(),
            touching: Vec::new(),
            touches: Vec::new(),
            body,
            thickness,
            stable: None,
            last_step: 0.0,
            position_view: XyzVec::default(),
            velocity_view: XyzVec::default(),
            settings,
            mesh,
        };
        if let Body::Springs(body) = &solid.body {
            solid.stable = Some(StableStep::of(body, &solid.mesh, &solid.inverse_mass));
        }
        solid.design = solid.design();
        solid.resize_views(n);
        solid.refresh_views();
        Ok(solid)
    }

    /// Its settings.
    pub fn settings(&self) -> &SolidSettings {
        &self.settings
    }

    /// The shape at rest; its tetrahedra are in the body's own order.
    pub fn rest(&self) -> &TetMesh {
        &self.mesh
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.displacement.len()
    }

    /// True if it has no points, which cannot be.
    pub fn is_empty(&self) -> bool {
        self.displacement.is_empty()
    }

    /// Positions of all points in metres.
    pub fn positions(&self) -> Xyz<'_> {
        self.position_view.view()
    }

    /// Velocities of all points in m/s.
    pub fn velocities(&self) -> Xyz<'_> {
        self.velocity_view.view()
    }

    /// Displacement of point `i` from its place at rest, in metres.
    pub fn displacement(&self, i: usize) -> Vec3 {
        self.displacement[i].into()
    }

    /// The present shape.
    pub fn shape(&self) -> TetMesh {
        TetMesh {
            points: self.positions().iter().collect(),
            tets: self.mesh.tets.clone(),
        }
    }

    /// The triangles of the surface, counter-clockwise from outside.
    pub fn surface(&self) -> &[[u32; 3]] {
        &self.surface
    }

    /// Distance at which its points touch obstacles, in metres.
    pub fn thickness(&self) -> f32 {
        self.thickness
    }

    /// How its mass was shared.
    pub fn mass_report(&self) -> &MassReport {
        &self.mass_report
    }

    /// The longest stable step; implicit finite elements have none.
    pub fn stable_step(&self) -> Option<&StableStep> {
        self.stable.as_ref()
    }

    /// The sub-step that it takes, in seconds.
    pub fn step_length(&self) -> f32 {
        let stable = self.stable.as_ref().map(|s| SAFETY * s.seconds);
        self.settings.step.unwrap_or(stable.unwrap_or(ELASTIC_STEP))
    }

    /// Solver iterations and relative residual of the last sub-step of finite
    /// elements.
    pub fn solver(&self) -> Option<(u32, f64)> {
        match &self.body {
            Body::Springs(_) | Body::Matched(_) => None,
            Body::Elastic(body) => Some((body.outcome.iterations, body.outcome.residual)),
        }
    }

    /// Holds the points whose place at rest is chosen; returns how many. They keep
    /// their present velocity, see [`Solid::drive_where`].
    pub fn pin_where(&mut self, chosen: impl Fn(Vec3) -> bool) -> usize {
        self.drive_where(chosen, Vec3::ZERO)
    }

    /// Moves the points whose place at rest is chosen with a velocity in m/s,
    /// whatever pulls them; returns how many.
    pub fn drive_where(&mut self, chosen: impl Fn(Vec3) -> bool, velocity: Vec3) -> usize {
        let found: Vec<usize> = self.choose(chosen);
        for &i in &found {
            self.inverse_mass[i] = 0.0;
            self.velocity[i] = velocity.into();
        }
        self.refresh_views();
        found.len()
    }

    /// Lets go of pinned points whose place at rest is chosen.
    pub fn release_where(&mut self, chosen: impl Fn(Vec3) -> bool) {
        for i in self.choose(chosen) {
            self.inverse_mass[i] = 1.0 / self.mass[i];
        }
    }

    /// Pulls the points whose place at rest is chosen with `force` in N, shared by
    /// mass, until [`Solid::clear_loads`]; returns how many.
    pub fn load_where(&mut self, chosen: impl Fn(Vec3) -> bool, force: Vec3) -> usize {
        let found = self.choose(chosen);
        let mass: f32 = found.iter().map(|&i| self.mass[i]).sum();
        for &i in &found {
            self.load[i] += force * (self.mass[i] / mass);
        }
        found.len()
    }

    /// Pulls one point with `force` in N until [`Solid::clear_loads`].
    pub fn add_load(&mut self, point: usize, force: Vec3) {
        self.load[point] += force;
    }

    /// Takes all forces from outside away.
    pub fn clear_loads(&mut self) {
        self.load.fill(Vec3::ZERO);
    }

    fn choose(&self, chosen: impl Fn(Vec3) -> bool) -> Vec<usize> {
        let points = self.mesh.points.iter().enumerate();
        points
            .filter(|(_, p)| chosen(**p))
            .map(|(i, _)| i)
            .collect()
    }

    /// Puts every point where a stored state has it. False, and nothing is changed, if
    /// there are not as many places and velocities as points.
    pub fn put_points(&mut self, places: Xyz<'_>, velocities: Xyz<'_>) -> bool {
        if places.len() != self.len() || velocities.len() != self.len() {
            return false;
        }
        for (i, &rest) in self.mesh.points.iter().enumerate() {
            self.displacement[i] = (places.get(i) - rest).into();
            self.velocity[i] = velocities.get(i).into();
        }
        self.forget_motion();
        true
    }

    /// Puts every point at `place(rest place)` with `velocity(rest place)`.
    pub fn put(&mut self, place: impl Fn(Vec3) -> Vec3, velocity: impl Fn(Vec3) -> Vec3) {
        for (i, &rest) in self.mesh.points.iter().enumerate() {
            self.displacement[i] = (place(rest) - rest).into();
            self.velocity[i] = velocity(rest).into();
        }
        self.forget_motion();
    }

    /// What was known of the way here is wrong: the points were put here.
    fn forget_motion(&mut self) {
        self.touching.clear();
        if let Body::Springs(body) = &mut self.body {
            body.previous.clear();
        }
        self.refresh_views();
    }

    /// Moves the body by `h` seconds; returns what it touched.
    pub fn advance(&mut self, h: f32, around: &Environment<'_>) -> Vec<Contact> {
        let mut contacts = self.solve_as(0, h, around);
        contacts.extend(self.finish_as(0, h, None, around));
        contacts
    }

    /// The first half of a step, as matter of this number: velocities at its end, and
    /// where the points would come by them.
    pub(crate) fn solve_as(
        &mut self,
        matter: u32,
        h: f32,
        around: &Environment<'_>,
    ) -> Vec<Contact> {
        self.begin(h, around);
        if let Body::Elastic(body) = &mut self.body {
            body.solve_alone(h);
        }
        self.end(matter, h, around)
    }

    /// The first part of a step: springs move, finite elements set up their equations.
    pub(crate) fn begin(&mut self, h: f32, around: &Environment<'_>) {
        let mut state = Moving {
            rest: &self.mesh.points,
            inverse_mass: &self.inverse_mass,
            load: &self.load,
            displacement: &mut self.displacement,
            velocity: &mut self.velocity,
        };
        match &mut self.body {
            Body::Springs(body) => {
                body.integrate(&mut state, h, around);
                limit_strain(
                    body,
                    &self.mesh.points,
                    &self.inverse_mass,
                    &mut self.displacement,
                    &mut self.velocity,
                    h,
                );
            }
            Body::Matched(body) => body.step(&mut state, h, around),
            Body::Elastic(body) => {
                self.touches = find_touches(
                    &self.skin,
                    &self.position_view,
                    &state,
                    self.thickness,
                    &mut self.touching,
                    around,
                );
                let (tets, mass) = (&self.mesh.tets, &self.mass);
                body.prepare(tets, mass, &state, &self.touching, h, around);
            }
        }
    }

    /// The last part of a step, when the equations are solved: moves the points past
    /// all obstacles, and returns what they touched.
    pub(crate) fn end(&mut self, matter: u32, h: f32, around: &Environment<'_>) -> Vec<Contact> {
        let mut contacts = Vec::new();
        if let Body::Elastic(body) = &mut self.body {
            let mut state = Moving {
                rest: &self.mesh.points,
                inverse_mass: &self.inverse_mass,
                load: &self.load,
                displacement: &mut self.displacement,
                velocity: &mut self.velocity,
            };
            let rubbing: Vec<Vec3A> = self
                .touching
                .iter()
                .map(|(_, t)| t.rubbing(around.friction_of(t.obstacle)))
                .collect();
            body.finish(&mut state, &mut self.touching, h, around);
            self.given.0 += body.outside;
            self.given.1 += body.held;
            for ((i, obstacle, touch), rubbing) in self.touches.drain(..).zip(rubbing) {
                let reaction = body.reaction[i as usize];
                let impulse = Vec3::from(reaction + rubbing);
                // Points that are squeezed bear so much that the last digits count.
                let exact = Vec3::from(reaction).as_dvec3() + Vec3::from(rubbing).as_dvec3();
                self.given.1 += exact - impulse.as_dvec3();
                contacts.push(Contact {
                    matter,
                    point_id: i,
                    obstacle,
                    triangle: touch.triangle,
                    barycentric: touch.barycentric,
                    place: touch.point,
                    impulse,
                });
            }
        }
        contacts
    }

    /// Moves all points from where the views still have them to where
    /// they want to be, past all obstacles.
    pub(super) fn pass_obstacles(
        &mut self,
        matter: u32,
        h: f32,
        around: &Environment<'_>,
        contacts: &mut Vec<Contact>,
    ) {
        // Inner points too: under a hard blow the skin alone would let them through.
        let way = |k: usize| {
            let to = self.mesh.points[k] + Vec3::from(self.displacement[k]);
            if self.inverse_mass[k] == 0.0 || around.surely_free(to, self.thickness) {
                return None;
            }
            Some(Way {
                point: k as u32,
                from: self.position_view.get(k),
                to,
                velocity: self.velocity[k].into(),
                mass: self.mass[k],
            })
        };
        for stopped in sweep(self.len(), way, self.thickness, matter, around, contacts) {
            let i = stopped.point as usize;
            self.displacement[i] = (stopped.place - self.mesh.points[i]).into();
            self.velocity[i] = stopped.velocity.into();
            if let Body::Springs(body) = &mut self.body {
                body.moved(i, self.displacement[i], self.velocity[i], h);
            }
        }
    }

    /// The first point whose place or velocity is not finite or that is faster than
    /// `most`, with its speed.
    pub(crate) fn runaway(&self, most: f32) -> Option<(u32, f32)> {
        let speeds = self.velocity.iter().map(|v| v.length());
        let wrong = |i: usize, v: f32| v.is_nan() || v > most || !self.displacement[i].is_finite();
        speeds
            .enumerate()
            .find(|&(i, v)| wrong(i, v))
            .map(|(i, v)| (i as u32, v))
    }

    pub(super) fn resize_views(&mut self, n: usize) {
        self.position_view.resize(n);
        self.velocity_view.resize(n);
    }

    pub(super) fn refresh_views(&mut self) {
        let (place, velocity) = (&mut self.position_view, &mut self.velocity_view);
        let place = (&mut place.x, &mut place.y, &mut place.z);
        let velocity = (&mut velocity.x, &mut velocity.y, &mut velocity.z);
        let (rest, displacement) = (&self.mesh.points, &self.displacement);
        (place, velocity, rest, displacement, &self.velocity)
            .into_par_iter()
            .with_min_len(VIEW_CHUNK)
            .spread(|((x, y, z), (u, v, w), rest, displacement, velocity)| {
                (*x, *y, *z) = (*rest + Vec3::from(*displacement)).into();
                (*u, *v, *w) = Vec3::from(*velocity).into();
            });
    }

    pub(super) fn refresh_view(&mut self, i: usize) {
        let place = self.mesh.points[i] + Vec3::from(self.displacement[i]);
        self.position_view.set(i, place);
        self.velocity_view.set(i, self.velocity[i].into());
    }
}

/// Finds the points that touch an obstacle now, and where.
fn find_touches(
    skin: &[u32],
    position: &XyzVec,
    state: &Moving<'_>,
    thickness: f32,
    touching: &mut TouchList,
    around: &Environment<'_>,
) -> Vec<(u32, u32, crate::contact::Touch)> {
    let before = std::mem::take(touching);
    let mut before = before.into_iter().peekable();
    let mut touches = Vec::new();
    if around.is_empty() {
        return touches;
    }
    for &i in skin {
        // Both lists are in order.
        let own = before.next_if(|(p, _)| *p == i).map(|(_, t)| t);
        let k = i as usize;
        if state.inverse_mass[k] == 0.0 {
            continue;
        }
        if let Some((t, touch)) = around.touch(position.get(k), state.velocity[k], thickness, own) {
            touches.push((i, t.obstacle, touch));
            touching.push((i, t));
        }
    }
    touches
}

impl Matter for Solid {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn points(&self) -> PointsView<'_> {
        PointsView {
            position: self.positions(),
            velocity: self.velocities(),
            inverse_mass: PerPoint::Each(&self.inverse_mass),
            radius: self.thickness,
            id: &self.ids,
        }
    }

    fn surface(&self) -> Option<SurfaceView<'_>> {
        Some(SurfaceView {
            points: self.points(),
            triangles: &self.surface,
        })
    }

    fn scalars(&self) -> Vec<(&'static str, Vec<f32>)> {
        let displacement = self.displacement.iter().map(|u| u.length()).collect();
        let mut scalars = vec![
            ("displacement", displacement),
            ("volume_ratio", self.to_points(&self.volume_ratios())),
        ];
        if let Some(stress) = self.von_mises() {
            scalars.push(("von_mises", self.to_points(&stress)));
        }
        scalars
    }

    fn bytes(&self) -> usize {
        let model = match &self.body {
            Body::Springs(body) => body.bytes(),
            Body::Elastic(body) => body.bytes(),
            Body::Matched(body) => body.bytes(),
        };
        model + 92 * self.len() + 16 * self.mesh.tets.len() + 12 * self.surface.len()
    }
}
