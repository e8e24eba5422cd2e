//! The state of a soft body.

use glam::{Vec3, Vec3A};

use super::bed::BedState;
use super::fluidity::{Surface, SurfaceFluid};
use super::integrate::Scratch;
use super::lung::{Breath, LungVolumes};
use super::models::{ModelState, Start, outer_points_only};
use super::rows::{Rows, Tension};
use super::settings::{Controls, SoftError, SoftSettings};
use super::topology::Topology;
use crate::math::{Aabb, Xyz, XyzVec};
use crate::mesh::{TetMesh, TriMesh};
use crate::world::{Matter, PerPoint, PointsView, SurfaceView};

/// Sub-steps in which a lung comes to rest before its first breath.
const RESTING_STEPS: u32 = 400;
/// Drag meanwhile, in 1/s.
const RESTING_DRAG: f32 = 20.0;

/// A soft body: a surface of springs with a fluid skin, filled with gas.
///
/// ```
/// use pliant::mesh::IcoSphere;
/// use pliant::soft::SoftSettings;
/// use pliant::{Obstacle, Vec3, World};
/// let mut world = World::new();
/// world.add_obstacle(Obstacle::plane("floor", Vec3::ZERO, Vec3::Y));
/// let ball = IcoSphere { center: 0.3 * Vec3::Y, radius: 0.1, cuts: 2 }.build()?;
/// let ball = world.add_soft(SoftSettings::new("ball"), ball)?;
/// for _ in 0..30 {
///     world.step(1.0 / 60.0)?;
/// }
/// let soft = world.soft(ball).expect("it is still there");
/// assert!(soft.volume() > 0.5 * soft.rest_volume());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Soft {
    pub(super) settings: SoftSettings,
    pub(super) topology: Topology,
    pub(super) ids: Vec<u32>,
    /// The shape at the start.
    pub(super) start: Vec<Vec3>,
    pub(super) position: Vec<Vec3A>,
    pub(super) velocity: Vec<Vec3A>,
    /// Where the points were at the start of the sub-step.
    pub(super) previous: Vec<Vec3A>,
    /// 0 for pinned points.
    pub(super) inverse_mass: Vec<f32>,
    pub(super) pinned: bool,
    /// Sum of the stiffness of the springs of each point, without α.
    pub(super) stiffness: Vec<f32>,
    /// Normals of the triangles, twice their area long.
    pub(super) normal: Vec<Vec3A>,
    /// How the enclosed volume changes with the place of each point, in m².
    pub(super) gradient: Vec<Vec3A>,
    /// The enclosed volume in m³ that belongs to `normal`.
    pub(super) enclosed: f64,
    /// What the springs do in this sub-step.
    pub(super) tension: Tension,
    /// The springs, eight points at a time.
    pub(super) rows: Rows,
    pub(super) force: Vec<Vec3A>,
    /// Change of velocity by one Pa in a lung.
    pub(super) response: Vec<Vec3A>,
    /// Last change of velocity by inner forces.
    pub(super) change: Vec<Vec3A>,
    pub(super) scratch: Scratch,
    /// Made when fluidity is first switched on.
    pub(super) fluid: Option<SurfaceFluid>,
    /// Distance of each point to the nearest obstacle, at least.
    pub(super) room: Vec<f32>,
    pub(super) thickness: f32,
    pub(super) rest_volume: f64,
    /// Area at the start in m².
    pub(super) rest_area: f32,
    /// How many of the settings' changes have been made.
    pub(super) changed: usize,
    /// Seconds that it has moved.
    pub(super) clock: f64,
    /// Pressure of the gas above that outside in the last sub-step, in Pa, without γ.
    pub(super) pressure: f32,
    /// By how much that falls as the volume grows, in Pa/m³.
    pub(super) gas_slope: f64,
    pub(super) breath: Option<Breath>,
    /// What keeps its shape in place of springs.
    pub(super) model: Option<ModelState>,
    pub(super) bed: Option<BedState>,
    position_view: XyzVec,
    pub(super) velocity_view: XyzVec,
}

/// A point that moves this many sizes of its body in a sub-step has left it.
const SIZES: f32 = 5.0;

impl Soft {
    /// A body at rest in the shape of `mesh`.
    pub fn new(settings: SoftSettings, mesh: TriMesh) -> Result<Soft, SoftError> {
        Soft::with_tets(settings, mesh, &[])
    }

    /// A solid at rest for [`super::Energies`]: its tetrahedra keep their volumes. All its
    /// points must lie on its surface, as those of a bar or a plate of one cell do.
    pub fn solid(settings: SoftSettings, mesh: TetMesh) -> Result<Soft, SoftError> {
        let surface = mesh.surface();
        if !outer_points_only(mesh.points.len(), &surface) {
            let message = "a soft solid must be one cell thick: it has points inside";
            return Err(SoftError::Mesh(message.into()));
        }
        let skin = TriMesh {
            vertices: mesh.points,
            triangles: surface,
        };
        Soft::with_tets(settings, skin, &mesh.tets)
    }

    fn with_tets(
        settings: SoftSettings,
        mesh: TriMesh,
        tets: &[[u32; 4]],
    ) -> Result<Soft, SoftError> {
        settings.check()?;
        let topology = Topology::of(&mesh, &settings)?;
        let n = mesh.vertices.len();
        let volume = f64::from(mesh.volume());
        let triangles = 0..mesh.triangles.len();
        let area = triangles.map(|t| 0.5 * mesh.area_normal(t).length()).sum();
        let position: Vec<Vec3A> = mesh.vertices.iter().map(|&v| v.into()).collect();
        if topology.open_edges == 0 && volume < 0.0 {
            // Gas would press it in, and what touches it would be drawn inside.
            let message = "the surface faces inwards: turn its triangles around";
            return Err(SoftError::Mesh(message.into()));
        }
        if settings.volume.lung.is_some() && (topology.open_edges > 0 || volume <= 0.0) {
            let message = "a lung needs a closed surface that faces outwards";
            return Err(SoftError::Mesh(message.into()));
        }
        let stiffness = (0..n)
            .map(|i| topology.stiff_links_of(i).map(|l| l.1).sum())
            .collect();
        let thickness = settings.contact.thickness;
        let start = Start {
            place: &mesh.vertices,
            topology: &topology,
            tets,
        };
        let model = ModelState::new(&settings.model, &start)?;
        let bed = settings.bed.as_ref();
        let bed = bed.map(|bed| BedState::new(bed, &mesh.vertices, &topology));
        let mut soft = Soft {
            bed,
            thickness: thickness.unwrap_or(0.2 * topology.mean_edge),
            breath: None,
            model,
            inverse_mass: topology.mass.iter().map(|m| 1.0 / m).collect(),
            pinned: false,
            stiffness,
            normal: vec![Vec3A::ZERO; topology.triangles.len()],
            gradient: vec![Vec3A::ZERO; n],
            enclosed: volume,
            tension: Tension::default(),
            rows: Rows::new(&topology),
            ids: (0..n as u32).collect(),
            start: mesh.vertices,
            previous: position.clone(),
            position,
            velocity: vec![Vec3A::ZERO; n],
            force: vec![Vec3A::ZERO; n],
            response: Vec::new(),
            change: vec![Vec3A::ZERO; n],
            scratch: Scratch::default(),
            fluid: None,
            room: vec![0.0; n],
            rest_volume: volume,
            rest_area: area,
            changed: 0,
            clock: 0.0,
            pressure: 0.0,
            gas_slope: 0.0,
            position_view: XyzVec::default(),
            velocity_view: XyzVec::default(),
            settings,
            topology,
        };
        // The rest density is that of the start, whenever fluidity is switched on.
        soft.fluid = Some(SurfaceFluid::new(
            &soft.surface_fluid(),
            soft.topology.mean_edge,
        ));
        soft.find_balance();
        soft.position_view.resize(n);
        soft.velocity_view.resize(n);
        soft.refresh_views();
        Ok(soft)
    }

    /// Lets a lung come to rest at its volume, healthy and with the α at which it is
    /// balanced, and notes the pressure of the chest that this takes: the skin has its say
    /// besides the tissue.
    fn find_balance(&mut self) {
        let Some(lung) = self.settings.volume.lung.clone() else {
            return;
        };
        let mut breath = Breath::new(self.rest_volume as f32, super::CM_H2O * lung.recoil);
        breath.resting = true;
        self.breath = Some(breath);
        let (controls, drag) = (self.settings.controls, self.settings.drag);
        self.settings.controls = Controls {
            alpha: lung.balanced_at / lung.condition.stiffness(),
            gamma: 1.0,
            ..controls
        };
        self.settings.drag = RESTING_DRAG;
        self.position_view.resize(self.len());
        self.velocity_view.resize(self.len());
        let nowhere = super::Surroundings::new(Vec3::ZERO, &[], []);
        let mut pressures = 0.0;
        for step in 0..RESTING_STEPS {
            self.advance(self.settings.step, &nowhere);
            if 2 * step >= RESTING_STEPS {
                pressures += self.pressure;
            }
        }
        (self.settings.controls, self.settings.drag) = (controls, drag);
        self.velocity.fill(Vec3A::ZERO);
        self.change.fill(Vec3A::ZERO);
        self.previous.copy_from_slice(&self.position);
        (self.clock, self.changed) = (0.0, 0);
        let chest = 2.0 * pressures / RESTING_STEPS as f32;
        self.breath = Some(Breath::new(self.rest_volume as f32, chest));
    }

    pub(super) fn surface_fluid(&self) -> Surface<'_> {
        Surface {
            settings: &self.settings.fluidity,
            scaling: self.settings.scaling,
            position: &self.position,
            velocity: &self.velocity,
            mass: &self.topology.mass,
        }
    }

    /// Its settings.
    pub fn settings(&self) -> &SoftSettings {
        &self.settings
    }

    /// α, β, γ, δ.
    pub fn controls(&self) -> Controls {
        self.settings.controls
    }

    /// Changes α, β, γ, δ from the next sub-step on.
    pub fn set_controls(&mut self, controls: Controls) -> Result<(), SoftError> {
        controls.check()?;
        self.settings.controls = controls;
        Ok(())
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// True if it has no points, which cannot be.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Its edges; each is a spring.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.topology.edges
    }

    /// Its triangles, counter-clockwise from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.topology.triangles
    }

    /// True if its surface has no holes.
    pub fn is_closed(&self) -> bool {
        self.topology.open_edges == 0
    }

    /// Mean length of its edges at the start, in metres.
    pub fn mean_edge(&self) -> f32 {
        self.topology.mean_edge
    }

    /// Positions of all points in metres.
    pub fn positions(&self) -> Xyz<'_> {
        self.position_view.view()
    }

    /// Velocities of all points in m/s.
    pub fn velocities(&self) -> Xyz<'_> {
        self.velocity_view.view()
    }

    /// The present shape.
    pub fn shape(&self) -> TriMesh {
        TriMesh {
            vertices: self.positions().iter().collect(),
            triangles: self.topology.triangles.clone(),
        }
    }

    /// The box around it.
    pub fn bounds(&self) -> Aabb {
        let ends = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        let points = self.position.iter();
        let (min, max) = points.fold(ends, |(min, max), p| (min.min(*p), max.max(*p)));
        Aabb {
            min: min.into(),
            max: max.into(),
        }
    }

    /// Distance at which its points touch others, in metres.
    pub fn thickness(&self) -> f32 {
        self.thickness
    }

    /// Volume at the start in m³.
    pub fn rest_volume(&self) -> f64 {
        self.rest_volume
    }

    /// Pressure of the gas above that outside in the last sub-step, in Pa, without γ.
    pub fn pressure(&self) -> f32 {
        self.pressure
    }

    /// The named volumes of a lung; `None` if it is none.
    pub fn lung_volumes(&self) -> Option<LungVolumes> {
        self.breath.as_ref().map(LungVolumes::of)
    }

    /// Where its joints are, from end to end; empty if it has no bones.
    pub fn joints(&self) -> Vec<Vec3> {
        let skeleton = self.model.as_ref().and_then(ModelState::skeleton);
        skeleton.map_or(Vec::new(), |s| s.joints())
    }

    /// Largest gap of its joints in metres; 0 if it has no bones.
    pub fn joint_gap(&self) -> f32 {
        let skeleton = self.model.as_ref().and_then(ModelState::skeleton);
        skeleton.map_or(0.0, |s| s.largest_gap())
    }

    /// Points within the core radius of each point, on average: n_k of Mesit 2010, 4.5.
    pub fn mean_neighbours(&self) -> f64 {
        let fluid = self.fluid.as_ref();
        fluid.map_or(0.0, |f| f.mean_neighbours(&self.position))
    }

    /// Holds the points whose place at the start is chosen; returns how many. They keep
    /// their present velocity, see [`Soft::drive_where`].
    pub fn pin_where(&mut self, chosen: impl Fn(Vec3) -> bool) -> usize {
        self.drive_where(chosen, Vec3::ZERO)
    }

    /// Moves the points whose place at the start is chosen with a velocity in m/s,
    /// whatever pulls them; returns how many.
    pub fn drive_where(&mut self, chosen: impl Fn(Vec3) -> bool, velocity: Vec3) -> usize {
        let mut found = 0;
        for (i, _) in self.start.iter().enumerate().filter(|(_, p)| chosen(**p)) {
            self.inverse_mass[i] = 0.0;
            self.velocity[i] = velocity.into();
            found += 1;
        }
        self.pinned |= found > 0;
        self.refresh_views();
        found
    }

    /// Lets go of pinned points whose place at the start is chosen.
    pub fn release_where(&mut self, chosen: impl Fn(Vec3) -> bool) {
        for (i, _) in self.start.iter().enumerate().filter(|(_, p)| chosen(**p)) {
            self.inverse_mass[i] = 1.0 / self.topology.mass[i];
        }
        self.pinned = self.inverse_mass.contains(&0.0);
    }

    /// Puts every point at `place(start)` with `velocity(start)`.
    pub fn put(&mut self, place: impl Fn(Vec3) -> Vec3, velocity: impl Fn(Vec3) -> Vec3) {
        for (i, &start) in self.start.iter().enumerate() {
            self.position[i] = place(start).into();
            self.velocity[i] = velocity(start).into();
        }
        self.previous.copy_from_slice(&self.position);
        self.forget_obstacles();
        self.refresh_views();
    }

    /// Puts every point where a stored state has it. False, and nothing is changed, if
    /// there are not as many places and velocities as points.
    pub fn put_points(&mut self, places: Xyz<'_>, velocities: Xyz<'_>) -> bool {
        if places.len() != self.len() || velocities.len() != self.len() {
            return false;
        }
        for i in 0..places.len() {
            self.position[i] = places.get(i).into();
            self.velocity[i] = velocities.get(i).into();
        }
        self.previous.copy_from_slice(&self.position);
        self.forget_obstacles();
        self.refresh_views();
        true
    }

    /// Obstacles have come or gone: distances to them must be found again.
    pub(crate) fn forget_obstacles(&mut self) {
        self.room.fill(0.0);
    }

    /// Half the sides of cells in which obstacles should find their triangles.
    pub(crate) fn contact_reach(&self) -> f32 {
        (1.1 * self.thickness).max(0.6 * self.topology.mean_edge)
    }

    /// The first point whose place or velocity is not finite, that is faster than `most`, or
    /// that leaves its body behind in a sub-step of `h` seconds; with its speed.
    pub(crate) fn runaway(&self, most: f32, h: f32) -> Option<(u32, f32)> {
        let sum: Vec3A = self.velocity.iter().sum();
        let mean = sum / self.len().max(1) as f32;
        // Of a body that holds together no point goes many times around it.
        let apart = SIZES * self.topology.mean_edge * (self.len() as f32).sqrt() / h;
        let right = |i: &usize| {
            let v = self.velocity[*i];
            v.length_squared() <= most * most
                && v.distance_squared(mean) <= apart * apart
                && self.position[*i].is_finite()
        };
        let wrong = (0..self.len()).find(|i| !right(i))?;
        Some((wrong as u32, self.velocity[wrong].length()))
    }

    pub(super) fn refresh_views(&mut self) {
        let copy = |from: &[Vec3A], to: &mut XyzVec| {
            let to = to.x.iter_mut().zip(&mut to.y).zip(&mut to.z);
            for (v, ((x, y), z)) in from.iter().zip(to) {
                [*x, *y, *z] = v.to_array();
            }
        };
        copy(&self.position, &mut self.position_view);
        copy(&self.velocity, &mut self.velocity_view);
    }
}

impl Matter for Soft {
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
            triangles: &self.topology.triangles,
        })
    }

    fn scalars(&self) -> Vec<(&'static str, Vec<f32>)> {
        vec![
            ("bumpiness", self.bumpiness_of_points()),
            ("stretch", self.stretches()),
        ]
    }

    fn bytes(&self) -> usize {
        let fluid = self.fluid.as_ref().map_or(0, SurfaceFluid::bytes);
        self.topology.bytes()
            + fluid
            + 236 * self.len()
            + 16 * self.normal.len()
            + self.rows.bytes()
    }
}
