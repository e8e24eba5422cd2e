//! What a soft body is made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::bed::Bed;
use super::lung::{Lung, LungError};
use super::models::Model;
use crate::coupling::LiquidContact;

/// Everything about a soft body but its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftSettings {
    /// Name in reports and files.
    pub name: String,
    /// How much each family of forces counts; may change while it runs.
    pub controls: Controls,
    /// Other controls from given times on, in order.
    pub changes: Vec<Change>,
    /// What the numbers below mean.
    pub scaling: Scaling,
    /// How heavy it is.
    pub mass: SurfaceMass,
    /// What keeps its shape: springs, or another model.
    pub model: Model,
    /// The springs that keep its shape.
    pub body: Springs,
    /// What makes its surface flow.
    pub fluidity: Fluidity,
    /// What fills it.
    pub volume: Volume,
    /// How motion follows from forces.
    pub integrator: SoftIntegrator,
    /// Sub-step in seconds.
    pub step: f32,
    /// Air drag in 1/s.
    pub drag: f32,
    /// How it touches.
    pub contact: Touching,
    /// How liquids meet it.
    pub liquid: LiquidContact,
    /// What holds it in its place, besides its own springs.
    pub bed: Option<Bed>,
}

impl SoftSettings {
    /// A body with the defaults of every part.
    pub fn new(name: impl Into<String>) -> SoftSettings {
        SoftSettings {
            name: name.into(),
            controls: Controls::default(),
            changes: Vec::new(),
            scaling: Scaling::default(),
            mass: SurfaceMass::default(),
            model: Model::Springs,
            body: Springs::default(),
            fluidity: Fluidity::default(),
            volume: Volume::default(),
            integrator: SoftIntegrator::default(),
            step: 0.002,
            drag: 0.0,
            contact: Touching::default(),
            liquid: LiquidContact::default(),
            bed: None,
        }
    }
}

/// The four numbers of the general model (Mesit 2010, 3.1):
/// `F = α F_body + β F_fluid + γ F_volume + δ F_gravity`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Controls {
    /// Body control: how strongly it keeps its shape; above 0.
    pub alpha: f32,
    /// Fluidity: pressure and viscosity along the surface.
    pub beta: f32,
    /// Volume control: pressure of the gas inside.
    pub gamma: f32,
    /// Gravity and fields.
    pub delta: f32,
}

impl Default for Controls {
    fn default() -> Self {
        Controls {
            alpha: 1.0,
            beta: 0.0,
            gamma: 1.0,
            delta: 1.0,
        }
    }
}

/// Other controls from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Since the body was made, in seconds.
    pub time: f32,
    /// The controls from then on.
    pub controls: Controls,
}

/// What the numbers of a body mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// Quantities of a sheet: a finer mesh of the same shape moves in the same way.
    #[default]
    Physical,
    /// Numbers per point and per spring, as printed in Mesit 2010: all points weigh the
    /// same, all springs are equally stiff, every corner gets the whole force of a
    /// triangle, and momentum is as the integrator leaves it.
    Literal,
}

/// How heavy a surface is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SurfaceMass {
    /// Mass of the whole body in kg.
    Total(f32),
    /// Mass per area in kg/m².
    Area(f32),
}

impl Default for SurfaceMass {
    fn default() -> Self {
        SurfaceMass::Area(1.0)
    }
}

/// Springs along the edges (Mesit 2010, 3.49-3.51).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Springs {
    /// Young's modulus times thickness of the sheet, in N/m; literal: k_s of every
    /// spring in N/m.
    pub stiffness: f32,
    /// How vibration ends.
    pub damping: Damping,
    /// Stiffness of springs across each edge, from tip to tip of its two triangles, in
    /// N/m: resists bending. These do not count among the edges.
    pub bend: f32,
    /// Length of a spring at rest over that of the edge at the start: below 1 the sheet
    /// is stretched from the beginning.
    pub rest: f32,
}

impl Default for Springs {
    fn default() -> Self {
        Springs {
            stiffness: 20.0,
            damping: Damping::default(),
            bend: 0.0,
            rest: 1.0,
        }
    }
}

/// How vibration ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Damping {
    /// k_d over k_s where the force is `k_d h (v_j - v_i)`, h the sub-step: (3.51) with
    /// the sign that slows. 1 is the term `H v h` of the implicit step (3.68).
    Steps(f32),
    /// Time in seconds, whatever the sub-step.
    Seconds(f32),
}

impl Default for Damping {
    fn default() -> Self {
        Damping::Steps(1.0)
    }
}

/// SPH over the points of the surface (Mesit 2010, 3.52-3.56).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fluidity {
    /// Core radius h_w over the mean edge.
    pub reach: f32,
    /// k of `p = k (ρ - ρ0)`, in m²/s²: the square of the speed of waves along the
    /// surface.
    pub stiffness: f32,
    /// Rest density ρ0 over the density at the start: below 1 the surface wants to be
    /// larger than it is and lies in waves.
    pub rest: f32,
    /// Kinematic viscosity in m²/s; literal: μ.
    pub viscosity: f32,
    /// Use `p_i - p_j` in the pressure force as printed in (3.54), which does not
    /// conserve momentum.
    pub printed_difference: bool,
    /// Search with the table of Mesit 2010, of this many buckets per axis (HT).
    pub hash_size: Option<u32>,
}

impl Default for Fluidity {
    fn default() -> Self {
        Fluidity {
            reach: 2.2,
            stiffness: 4.0,
            rest: 0.8,
            viscosity: 0.0,
            printed_difference: false,
            hash_size: None,
        }
    }
}

/// What fills a body (Mesit 2010, 3.57).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Volume {
    /// Pressure of the gas above that outside, at the volume at the start, in Pa.
    pub pressure: f32,
    /// N of (3.57), pressure times volume in J, in place of `pressure`.
    pub molecules: Option<f32>,
    /// Pressure outside in Pa that the gas inside must match as well: the larger, the
    /// less a given force changes the volume. 0 as in Mesit 2010.
    pub outside: f32,
    /// How the volume is measured.
    pub measure: VolumeMeasure,
    /// Keeps the volume at this multiple of that at the start, exactly.
    pub hold: Option<f32>,
    /// Pressure that changes by chance, as if it breathed.
    pub breathing: Option<Breathing>,
    /// Breathes as a lung does.
    pub lung: Option<Lung>,
}

impl Default for Volume {
    fn default() -> Self {
        Volume {
            pressure: 100.0,
            molecules: None,
            outside: 0.0,
            measure: VolumeMeasure::default(),
            hold: None,
            breathing: None,
            lung: None,
        }
    }
}

/// How the volume of a body is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VolumeMeasure {
    /// What the surface encloses.
    #[default]
    Mesh,
    /// The box along the axes around it (Mesit 2010): changes when the body turns.
    Box,
}

/// Pressure that changes by chance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Breathing {
    /// Seconds between two draws; the pressure goes smoothly from one to the next.
    pub period: f32,
    /// Largest change as a share of the pressure.
    pub amplitude: f32,
    /// Another seed, other breaths.
    #[serde(default)]
    pub seed: u64,
}

/// How motion follows from forces (Mesit 2010, 2.31-2.34 and 3.62-3.74).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SoftIntegrator {
    /// Velocities, then positions (2.31, 2.32): stable for short steps only.
    Symplectic,
    /// (3.70) with the neighbours' own change `F_j h / (m_j + k h² n_j)` as the estimate.
    #[default]
    Kang,
    /// The linear system (3.68) solved by conjugate gradients (Desbrun et al. 1999).
    Implicit,
    /// The same for the trapezoid rule.
    Trapezoid,
    /// `F h / (m + k h² n)`: without any neighbour.
    Diagonal,
    /// (3.74) as printed: it gains energy.
    Simplified,
    /// (3.74) with the sign that its own premise gives.
    SimplifiedMinus,
}

/// How a body touches others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Touching {
    /// Distance in metres at which its points touch; 20 % of the mean edge if left out.
    pub thickness: Option<f32>,
    /// Coulomb friction coefficient among soft bodies.
    pub friction: f32,
    /// Its own parts touch each other too.
    pub own: bool,
    /// Test points against points only, as Mesit 2010 does; otherwise points against
    /// triangles, so that faces do not pass through faces.
    pub points_only: bool,
}

impl Default for Touching {
    fn default() -> Self {
        Touching {
            thickness: None,
            friction: 0.3,
            own: false,
            points_only: false,
        }
    }
}

/// Why a soft body cannot be made.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SoftError {
    /// The mesh is no good.
    #[error("{0}")]
    Mesh(String),
    /// A number is no good.
    #[error("`{key}` is {value}, but must be {right}")]
    Setting {
        /// Name of the setting.
        key: &'static str,
        /// What was given.
        value: String,
        /// What would be right.
        right: &'static str,
    },
    /// The lung cannot breathe like that.
    #[error(transparent)]
    Lung(#[from] LungError),
}

fn require(key: &'static str, value: f32, ok: bool, right: &'static str) -> Result<(), SoftError> {
    if ok {
        return Ok(());
    }
    Err(SoftError::Setting {
        key,
        value: value.to_string(),
        right,
    })
}

fn positive(key: &'static str, value: f32) -> Result<(), SoftError> {
    let ok = value > 0.0 && value.is_finite();
    require(key, value, ok, "a finite number above 0")
}

fn not_negative(key: &'static str, value: f32) -> Result<(), SoftError> {
    let ok = value >= 0.0 && value.is_finite();
    require(key, value, ok, "a finite number, 0 or more")
}

impl Controls {
    /// Refuses numbers that the model does not have.
    pub fn check(&self) -> Result<(), SoftError> {
        positive("alpha", self.alpha)?;
        not_negative("beta", self.beta)?;
        not_negative("gamma", self.gamma)?;
        not_negative("delta", self.delta)
    }
}

impl SoftSettings {
    /// Refuses numbers that no body can have.
    pub fn check(&self) -> Result<(), SoftError> {
        self.controls.check()?;
        self.model.check()?;
        if self.model != Model::Springs && self.volume.lung.is_some() {
            return Err(SoftError::Mesh("a lung is made of springs".into()));
        }
        let mut last = 0.0;
        for change in &self.changes {
            change.controls.check()?;
            let later = change.time >= last && change.time.is_finite();
            require("time", change.time, later, "later than the change before")?;
            last = change.time;
        }
        let (SurfaceMass::Total(mass) | SurfaceMass::Area(mass)) = self.mass;
        positive("mass", mass)?;
        positive("stiffness", self.body.stiffness)?;
        let (Damping::Steps(damping) | Damping::Seconds(damping)) = self.body.damping;
        not_negative("damping", damping)?;
        not_negative("bend", self.body.bend)?;
        positive("rest", self.body.rest)?;
        let f = &self.fluidity;
        let some = (1.0..=6.0).contains(&f.reach);
        require("reach", f.reach, some, "from 1 to 6 mean edges")?;
        not_negative("stiffness", f.stiffness)?;
        not_negative("rest", f.rest)?;
        not_negative("viscosity", f.viscosity)?;
        if f.hash_size == Some(0) {
            require("hash_size", 0.0, false, "1 or more")?;
        }
        let v = &self.volume;
        let finite = v.pressure.is_finite();
        require("pressure", v.pressure, finite, "finite")?;
        not_negative("outside", v.outside)?;
        if let Some(molecules) = v.molecules {
            not_negative("molecules", molecules)?;
        }
        if let Some(hold) = v.hold {
            positive("hold", hold)?;
        }
        if let Some(b) = &v.breathing {
            positive("period", b.period)?;
            let some = (0.0..=1.0).contains(&b.amplitude);
            require("amplitude", b.amplitude, some, "from 0 to 1")?;
        }
        if let Some(lung) = &v.lung {
            lung.check()?;
        }
        if let Some(bed) = &self.bed {
            positive("stiffness", bed.stiffness)?;
            not_negative("damping", bed.damping)?;
        }
        positive("step", self.step)?;
        not_negative("drag", self.drag)?;
        not_negative("friction", self.contact.friction)?;
        self.contact
            .thickness
            .map_or(Ok(()), |t| positive("thickness", t))
    }
}
