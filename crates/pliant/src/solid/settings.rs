//! What a body is made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::fracture::Fracture;
use super::split::can_open;
use crate::coupling::LiquidContact;
use crate::mesh::TetMeshError;

/// Everything about a body but its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct SolidSettings {
    /// Name in reports and files.
    pub name: String,
    /// How it resists deformation.
    pub model: SolidModel,
    /// How heavy it is.
    pub mass: Mass,
    /// How its mass is shared among its points.
    pub mass_sharing: MassSharing,
    /// Points lighter than the inverse of this get that mass, in 1/kg (Lesmes 2013,
    /// table 5.2); it lets bad meshes take longer steps and makes the body heavier.
    pub max_inverse_mass: Option<f32>,
    /// Sub-step in seconds. Springs: the longest stable one if left out. Finite
    /// elements: 5 ms if left out.
    pub step: Option<f32>,
    /// Distance at which its points touch obstacles, in metres; 5 % of the mean
    /// edge if left out.
    pub thickness: Option<f32>,
    /// Coefficient of friction with other bodies; two bodies have the geometric mean of
    /// theirs. Obstacles bring their own.
    pub friction: f32,
    /// Whether its parts touch each other.
    pub self_contact: bool,
    /// How liquids meet it.
    pub liquid: LiquidContact,
    /// When it breaks; never if left out. Finite elements only.
    pub fracture: Option<Fracture>,
}

impl SolidSettings {
    /// Coefficient of friction, if none is given.
    pub const FRICTION: f32 = 0.5;

    /// A body of a model, with the density of water.
    pub fn new(name: impl Into<String>, model: SolidModel) -> SolidSettings {
        SolidSettings {
            name: name.into(),
            model,
            mass: Mass::default(),
            mass_sharing: MassSharing::default(),
            max_inverse_mass: None,
            step: None,
            thickness: None,
            friction: SolidSettings::FRICTION,
            self_contact: true,
            liquid: LiquidContact::default(),
            fracture: None,
        }
    }
}

/// How a body resists deformation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SolidModel {
    /// Springs along edges and forces that keep volumes (Lesmes 2013).
    Springs(Springs),
    /// Finite elements with the moduli of a material.
    Elastic(Elastic),
    /// Shape matching: not a material, but stable for any step (Müller et al. 2005).
    Matching(ShapeMatching),
}

/// Shape matching: points are drawn to where the shape at rest fits them best.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ShapeMatching {
    /// How the shape at rest may be changed to fit.
    pub fit: Fit,
    /// Share of the way to the fitted shape that points go in 10 ms, above 0 to 1.
    pub stiffness: f32,
    /// Share of the change that fits best, 0 to 1; the rest is a rotation.
    pub yielding: f32,
    /// Half the width of the overlapping boxes of points that keep a shape together, in
    /// metres; the whole body if left out.
    pub cluster: Option<f32>,
}

impl Default for ShapeMatching {
    fn default() -> Self {
        ShapeMatching {
            fit: Fit::default(),
            stiffness: 0.3,
            yielding: 0.5,
            cluster: None,
        }
    }
}

/// How a shape may be changed to fit its points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fit {
    /// Turned only.
    Rigid,
    /// Turned, stretched and sheared.
    #[default]
    Linear,
    /// Also bent and twisted.
    Quadratic,
}

impl Fit {
    /// Number of terms of the map.
    pub(super) fn terms(self) -> usize {
        match self {
            Fit::Rigid | Fit::Linear => 3,
            Fit::Quadratic => 9,
        }
    }
}

impl ShapeMatching {
    fn check(&self) -> Result<(), SolidError> {
        let (stiffness, yielding) = (self.stiffness, self.yielding);
        let right = stiffness > 0.0 && stiffness <= 1.0;
        require("stiffness", stiffness, right, "above 0, at most 1")?;
        let right = (0.0..=1.0).contains(&yielding);
        require("yielding", yielding, right, "from 0 to 1")?;
        self.cluster.map_or(Ok(()), |c| positive("cluster", c))
    }
}

/// How heavy a body is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mass {
    /// Mass of the whole body in kg.
    Total(f32),
    /// Mass per volume in kg/m³.
    Density(f32),
}

impl Default for Mass {
    fn default() -> Self {
        Mass::Density(1000.0)
    }
}

/// How mass is shared among points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MassSharing {
    /// A quarter of each element to each of its corners: what finite elements have.
    #[default]
    Lumped,
    /// By the mean volume of the elements around a point (Lesmes 2013, 3.13).
    MeanVolume,
}

/// Springs along edges and forces that keep volumes. Stiffness is not that of a
/// material: it changes with the size of the elements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Springs {
    /// k_D of (3.10) in N/m; in J if normalised.
    pub distance_stiffness: f32,
    /// k_d of (3.10) in N s/m.
    pub distance_damping: f32,
    /// k_V of (3.8) in N/m⁵ (`unit-damped`: N/m³); in J if normalised.
    pub volume_stiffness: f32,
    /// k_d of (3.9) in N s/m⁵, or of (3.11) in N s/m.
    pub volume_damping: f32,
    /// Which volume force.
    pub volume_force: VolumeForce,
    /// Divide changes of length and volume by those at rest, as the energies (3.4)
    /// and (3.5) have it and the forces (3.7) and (3.8) do not.
    pub normalised: bool,
    /// Edges stretched beyond this many times their length are drawn together (3.12).
    pub strain_limit: Option<f32>,
    /// How motion follows from forces.
    pub integrator: Integrator,
    /// Which passes compute the forces.
    pub passes: Passes,
}

impl Default for Springs {
    fn default() -> Self {
        Springs {
            distance_stiffness: 50.0,
            distance_damping: 0.001,
            volume_stiffness: 25.0,
            volume_damping: 0.01,
            volume_force: VolumeForce::default(),
            normalised: false,
            strain_limit: Some(1.1),
            integrator: Integrator::default(),
            passes: Passes::default(),
        }
    }
}

/// Which volume force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VolumeForce {
    /// (3.8), without damping.
    Gradient,
    /// (3.8) with the damping of (3.9): conserves momentum.
    #[default]
    GradientDamped,
    /// (3.11) as printed: unit directions, so that momentum is conserved only by
    /// regular elements.
    UnitDamped,
}

/// How motion follows from forces (Lesmes 2013, 3.15-3.18).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Integrator {
    /// Explicit Euler (3.15).
    Euler,
    /// Midpoint (3.16): two force evaluations.
    Midpoint,
    /// Verlet (3.17).
    Verlet,
    /// Euler-Cromer (3.18), symplectic.
    #[default]
    EulerCromer,
}

/// Which passes compute the forces of springs (Lesmes 2013, section 3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Passes {
    /// Edges once each, then elements for volumes: the right one.
    #[default]
    Hybrid,
    /// Elements only: their six edges too, so that shared edges count several times.
    ElementCentric,
    /// Edges only: no volume is kept.
    EdgeCentric,
}

/// Finite elements with the moduli of a material.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Elastic {
    /// The law of the material.
    pub law: ElasticLaw,
    /// Young's modulus in Pa.
    pub young: f32,
    /// Poisson's ratio, 0 to below 0.5.
    pub poisson: f32,
    /// Rayleigh damping by mass, in 1/s: slows all motion.
    pub mass_damping: f32,
    /// Rayleigh damping by stiffness, in s: slows vibration only.
    pub stiffness_damping: f32,
    /// Keeps part of large deformations; corotational only.
    pub plasticity: Option<Plasticity>,
    /// Most iterations of the solver per sub-step: the budget that keeps frame
    /// rates steady.
    pub iterations: u32,
    /// The solver ends when the residual is this share of the right-hand side.
    pub tolerance: f32,
}

impl Default for Elastic {
    fn default() -> Self {
        Elastic {
            law: ElasticLaw::default(),
            young: 1e5,
            poisson: 0.4,
            mass_damping: 0.0,
            stiffness_damping: 0.002,
            plasticity: None,
            iterations: 60,
            tolerance: 1e-4,
        }
    }
}

/// The law of an elastic material.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ElasticLaw {
    /// Linear in the strain that is left when rotation is taken out (Müller &
    /// Gross 2004): the fastest.
    #[default]
    Corotational,
    /// Stable neo-Hookean (Smith et al. 2018): for large strains, flesh and rubber.
    NeoHookean,
}

/// Deformation that stays (Müller & Gross 2004, section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plasticity {
    /// Strain (Frobenius norm) above which it flows.
    pub yield_strain: f32,
    /// Share of the elastic strain that becomes plastic per second.
    pub creep: f32,
    /// Largest plastic strain.
    pub limit: f32,
}

/// Why a body cannot be made.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SolidError {
    /// The mesh is no good.
    #[error("{0}")]
    Mesh(#[from] TetMeshError),
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
}

impl SolidSettings {
    /// Refuses numbers that no body can have.
    pub fn check(&self) -> Result<(), SolidError> {
        let (Mass::Total(mass) | Mass::Density(mass)) = self.mass;
        positive("mass", mass)?;
        for (key, value) in [
            ("max_inverse_mass", self.max_inverse_mass),
            ("step", self.step),
            ("thickness", self.thickness),
        ] {
            if let Some(value) = value {
                positive(key, value)?;
            }
        }
        not_negative("friction", self.friction)?;
        if let Some(fracture) = &self.fracture {
            fracture.check()?;
            if !can_open(self) {
                return Err(SolidError::Setting {
                    key: "fracture",
                    value: "a body of springs".into(),
                    right: "of finite elements: choose `elastic`",
                });
            }
        }
        match &self.model {
            SolidModel::Springs(s) => s.check(),
            SolidModel::Elastic(e) => e.check(),
            SolidModel::Matching(m) => m.check(),
        }
    }
}

impl Springs {
    fn check(&self) -> Result<(), SolidError> {
        not_negative("distance_stiffness", self.distance_stiffness)?;
        not_negative("distance_damping", self.distance_damping)?;
        not_negative("volume_stiffness", self.volume_stiffness)?;
        not_negative("volume_damping", self.volume_damping)?;
        let limit = self.strain_limit.unwrap_or(1.1);
        require(
            "strain_limit",
            limit,
            limit > 1.0 && limit.is_finite(),
            "above 1",
        )
    }
}

impl Elastic {
    fn check(&self) -> Result<(), SolidError> {
        positive("young", self.young)?;
        let poisson = self.poisson;
        require(
            "poisson",
            poisson,
            (0.0..=0.495).contains(&poisson),
            "from 0 to 0.495",
        )?;
        not_negative("mass_damping", self.mass_damping)?;
        not_negative("stiffness_damping", self.stiffness_damping)?;
        positive("tolerance", self.tolerance)?;
        let (iterations, some) = (self.iterations as f32, self.iterations > 0);
        require("iterations", iterations, some, "1 or more")?;
        let Some(p) = self.plasticity else {
            return Ok(());
        };
        positive("yield_strain", p.yield_strain)?;
        not_negative("creep", p.creep)?;
        positive("limit", p.limit)?;
        require(
            "plasticity",
            p.yield_strain,
            self.law == ElasticLaw::Corotational,
            "left out: only the corotational law has it",
        )
    }

    /// Lamé's constants λ and μ in Pa.
    pub fn lame(&self) -> (f32, f32) {
        let (e, nu) = (self.young, self.poisson);
        (
            e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)),
            e / (2.0 * (1.0 + nu)),
        )
    }
}

fn require(key: &'static str, value: f32, ok: bool, right: &'static str) -> Result<(), SolidError> {
    if ok {
        return Ok(());
    }
    Err(SolidError::Setting {
        key,
        value: value.to_string(),
        right,
    })
}

pub(super) fn positive(key: &'static str, value: f32) -> Result<(), SolidError> {
    let ok = value > 0.0 && value.is_finite();
    require(key, value, ok, "a finite number above 0")
}

pub(super) fn not_negative(key: &'static str, value: f32) -> Result<(), SolidError> {
    let ok = value >= 0.0 && value.is_finite();
    require(key, value, ok, "a finite number, 0 or more")
}
