//! What can be said of a scene's numbers before anything is built.

use glam::Vec3;

use super::Scene;
use super::description as d;
use super::error::{Key, SceneError};
use super::motion;
use super::probe;
use crate::coupling::Coupling;
use crate::field::{Action, Region};
use crate::fluid::PressureMethod;

/// Coordinates beyond this many metres are taken for a mistake; f32 resolves
/// 6 cm there.
const FARTHEST: f32 = 1e6;
/// Most frames of a scene: a run of a year at 30 frames per second is 1e9.
const MOST_FRAMES: f64 = 1e9;
/// Sensible distances between particles, in metres.
const SPACINGS: Rule = Rule::Between(1e-6, 1e4);

/// What a number must be.
#[derive(Clone, Copy)]
pub(super) enum Rule {
    /// Finite and above 0.
    Positive,
    /// Finite, 0 or more.
    NotNegative,
    /// Finite.
    Finite,
    /// Within limits, which count.
    Between(f64, f64),
}

impl Rule {
    fn allows(self, v: f64) -> bool {
        match self {
            Rule::Positive => v.is_finite() && v > 0.0,
            Rule::NotNegative => v.is_finite() && v >= 0.0,
            Rule::Finite => v.is_finite(),
            // Limits as the numbers of scenes are: an `f32` of 0.05 is above 0.05.
            Rule::Between(low, high) => (low as f32..=high as f32).contains(&(v as f32)),
        }
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Rule::Positive => f.write_str("a finite number above 0"),
            Rule::NotNegative => f.write_str("a finite number, 0 or more"),
            Rule::Finite => f.write_str("a finite number"),
            Rule::Between(low, high) => write!(f, "between {low} and {high}"),
        }
    }
}

impl Scene {
    /// Checks what can be checked without building.
    pub(super) fn check(&self) -> Result<(), SceneError> {
        let s = &self.description;
        let top = &Part::new(self, &[]);
        self.check_times()?;
        let step = &top.key("step");
        step.number("cfl", s.step.cfl, Rule::Positive)?;
        step.number("cfl", s.step.cfl, Rule::Between(0.0, 1.0))?;
        step.optional("fixed", s.step.fixed, Rule::Positive)?;
        step.number("max_substeps", s.step.max_substeps, Rule::Positive)?;
        top.key("gravity")
            .vector("acceleration", s.gravity.acceleration)?;
        if let Coupling::Gauss(gauss) = s.coupling
            && let Some((key, right)) = gauss.fault()
        {
            let here = top.key("coupling").key("gauss");
            return Err(here.error(key, format!("`{key}` must be {right}")));
        }
        self.check_matter()?;
        self.check_solids()?;
        self.check_softs()?;
        self.check_rigids()?;
        for (i, o) in s.obstacle.iter().enumerate() {
            let here = &top.item("obstacle", i);
            here.name(
                &o.name,
                s.obstacle[..i].iter().map(|o| &o.name),
                "obstacles",
            )?;
            here.number("restitution", o.restitution, Rule::Between(0.0, 1.0))?;
            here.number("contact_angle", o.contact_angle, Rule::Between(0.0, 180.0))?;
            here.number("friction", o.friction, Rule::NotNegative)?;
            here.number("scale", o.scale, Rule::Positive)?;
            here.number("opacity", o.opacity, Rule::Between(0.0, 1.0))?;
            here.optional("sdf_cell", o.sdf_cell, Rule::Positive)?;
            here.vector("rotate", o.rotate)?;
            here.place("translate", o.translate)?;
            if let Some(m) = &o.motion {
                motion::check(&here.key("motion"), m)?;
            }
        }
        for (i, f) in s.field.iter().enumerate() {
            let here = &top.item("field", i);
            here.region(&f.region)?;
            here.action(&f.action)?;
        }
        for (i, sink) in s.sink.iter().enumerate() {
            top.item("sink", i).region(&sink.region)?;
        }
        for (i, p) in s.probe.iter().enumerate() {
            let here = &top.item("probe", i);
            here.name(&p.name, s.probe[..i].iter().map(|p| &p.name), "probes")?;
            probe::check(here, p, s)?;
        }
        check_camera(&top.key("camera"), &s.camera)?;
        check_picture(&top.key("picture"), &s.picture)?;
        let cell = s.output.surface_cell;
        top.key("output")
            .number("surface_cell", cell, Rule::Between(0.05, 4.0))
    }

    fn check_times(&self) -> Result<(), SceneError> {
        let s = &self.description;
        for (key, seconds) in [("duration", s.duration), ("frame", s.frame.into())] {
            if !Rule::Positive.allows(seconds) {
                return Err(self.at(
                    &[Key::Name(key)],
                    format!("`{key}` is {seconds} s, but must be a positive time"),
                ));
            }
        }
        self.frames().map(|_| ())
    }

    /// Number of frames of the scene.
    pub fn frames(&self) -> Result<u64, SceneError> {
        let (duration, frame) = (self.description.duration, self.description.frame);
        let frames = (duration / f64::from(frame)).round();
        if frames < 1.0 {
            return Err(self
                .at(
                    &[Key::Name("frame")],
                    format!("a frame of {frame} s is longer than the whole duration, {duration} s"),
                )
                .with_help("make `frame` shorter or `duration` longer"));
        }
        if frames > MOST_FRAMES {
            return Err(self
                .at(
                    &[Key::Name("duration")],
                    format!(
                        "{duration} s in frames of {frame} s are {frames:.1e} frames, \
                         but at most {MOST_FRAMES:.0e} are possible"
                    ),
                )
                .with_help("make `frame` longer or `duration` shorter"));
        }
        Ok(frames as u64)
    }

    fn check_solids(&self) -> Result<(), SceneError> {
        let solids = &self.description.solid;
        for (i, s) in solids.iter().enumerate() {
            let here = &Part::new(self, &[Key::Name("solid"), Key::Item(i)]);
            here.name(&s.name, solids[..i].iter().map(|s| &s.name), "solids")?;
            here.number("scale", s.scale, Rule::Positive)?;
            here.vector("rotate", s.rotate)?;
            here.place("translate", s.translate)?;
            here.vector("velocity", s.velocity)?;
            s.liquid.check(&here.key("liquid"))?;
            here.number("opacity", s.opacity, Rule::Between(0.0, 1.0))?;
            for (k, pin) in s.pin.iter().enumerate() {
                let here = &here.item("pin", k);
                here.region(&pin.region)?;
                here.vector("velocity", pin.velocity)?;
            }
            for (k, load) in s.load.iter().enumerate() {
                let here = &here.item("load", k);
                here.region(&load.region)?;
                here.vector("force", load.force)?;
            }
            for (k, grab) in s.grab.iter().enumerate() {
                here.item("grab", k).region(&grab.region)?;
            }
        }
        Ok(())
    }

    fn check_matter(&self) -> Result<(), SceneError> {
        let fluids = &self.description.fluid;
        let Some(first) = fluids.first() else {
            let d = &self.description;
            if !(d.solid.is_empty() && d.soft.is_empty() && d.rigid.is_empty()) {
                return Ok(());
            }
            return Err(self.at(&[], "the scene has no matter").with_help(
                "add a [[fluid]] with `spacing` and a [[fluid.fill]] or a [[fluid.emitter]], or a \
                 [[solid]] or [[soft]] with a `shape`",
            ));
        };
        for (i, f) in fluids.iter().enumerate() {
            let here = &Part::new(self, &[Key::Name("fluid"), Key::Item(i)]);
            check_fluid(here, f)?;
            if i > 0 {
                check_companion(here, f, first)?;
            }
        }
        Ok(())
    }
}

fn check_fluid(here: &Part<'_>, f: &d::Fluid) -> Result<(), SceneError> {
    here.number("spacing", f.spacing, Rule::Positive)?;
    here.number("spacing", f.spacing, SPACINGS)?;
    here.optional("density", f.density, Rule::Positive)?;
    here.optional("viscosity", f.viscosity, Rule::NotNegative)?;
    here.optional("surface_tension", f.surface_tension, Rule::NotNegative)?;
    here.number("diffusivity", f.diffusivity, Rule::NotNegative)?;
    for (i, fill) in f.fill.iter().enumerate() {
        let here = &here.item("fill", i);
        here.region(&fill.region)?;
        here.vector("velocity", fill.velocity)?;
        if let Some(near) = fill.near {
            here.place("near", near)?;
        }
        if let Some(count) = fill.count {
            here.number("count", count as f64, Rule::Positive)?;
        }
        here.number("concentration", fill.concentration, Rule::Between(0.0, 1.0))?;
        here.number("jitter", fill.jitter, Rule::Between(0.0, 0.05))?;
    }
    for (i, e) in f.emitter.iter().enumerate() {
        check_emitter(&here.item("emitter", i), e, f)?;
    }
    Ok(())
}

/// Several liquids are one set of particles: what belongs to that must agree.
fn check_companion(here: &Part<'_>, f: &d::Fluid, first: &d::Fluid) -> Result<(), SceneError> {
    let differs = |key: &'static str, own: String, other: String| {
        let message = format!(
            "`{key}` is {own}, but {other} for `{}`; liquids of one scene share it",
            first.name
        );
        Err(here.error(key, message))
    };
    if first.pressure != PressureMethod::Dfsph || f.pressure != PressureMethod::Dfsph {
        return Err(here
            .error("pressure", "only incompressible liquids can be several")
            .with_help("choose `pressure = \"dfsph\"` for all of them"));
    }
    for (key, own, other) in [
        ("spacing", f.spacing, first.spacing),
        ("support", f.support, first.support),
        (
            "numerical_viscosity",
            f.numerical_viscosity,
            first.numerical_viscosity,
        ),
        ("vorticity", f.vorticity, first.vorticity),
        ("density_error", f.density_error, first.density_error),
        (
            "divergence_error",
            f.divergence_error,
            first.divergence_error,
        ),
        (
            "density_correction",
            f.density_correction,
            first.density_correction,
        ),
    ] {
        if own != other {
            return differs(key, own.to_string(), other.to_string());
        }
    }
    if f.name == first.name {
        return Err(here.error(
            "name",
            format!("there is another liquid called `{}`", f.name),
        ));
    }
    Ok(())
}

fn check_emitter(here: &Part<'_>, e: &d::Emitter, f: &d::Fluid) -> Result<(), SceneError> {
    here.place("position", e.position)?;
    here.number("radius", e.radius, Rule::Positive)?;
    here.optional("speed", e.speed, Rule::Positive)?;
    here.optional("rate", e.rate, Rule::Positive)?;
    here.number("start", e.start, Rule::Finite)?;
    here.number("concentration", e.concentration, Rule::Between(0.0, 1.0))?;
    here.direction("direction", e.direction)?;
    if e.speed.is_some() == e.rate.is_some() {
        return Err(here.error("speed", "give either `speed` (m/s) or `rate` (m³/s)"));
    }
    here.after_start("stop", e.start, e.stop)?;
    // A nozzle makes whole discs.
    let disc = std::f64::consts::PI * f64::from(e.radius / f.spacing).powi(2);
    if disc > f.max_particles as f64 {
        return Err(here
            .error(
                "radius",
                format!(
                    "a nozzle of this radius makes about {disc:.1e} particles at a time, \
                     but `max_particles` is {}",
                    f.max_particles
                ),
            )
            .with_help("make `radius` smaller or `spacing` larger"));
    }
    Ok(())
}

fn check_picture(here: &Part<'_>, p: &d::Picture) -> Result<(), SceneError> {
    for side in p.size {
        here.number("size", side, Rule::Between(16.0, 16_384.0))?;
    }
    here.number("samples", p.samples, Rule::Between(1.0, 4096.0))?;
    here.number("every", p.every, Rule::Positive)?;
    let xray = &here.key("xray");
    xray.number("volume_scale", p.xray.volume_scale, Rule::Positive)?;
    xray.place("volume_translate", p.xray.volume_translate)?;
    xray.number("wall", p.xray.wall, Rule::NotNegative)?;
    xray.optional("level", p.xray.level, Rule::Finite)?;
    xray.number("contrast", p.xray.contrast, Rule::Positive)?;
    xray.number("noise", p.xray.noise, Rule::NotNegative)
}

fn check_camera(here: &Part<'_>, c: &d::Camera) -> Result<(), SceneError> {
    for (key, place) in [("eye", c.eye), ("target", c.target)] {
        if let Some(place) = place {
            here.place(key, place)?;
        }
    }
    if let Some(direction) = c.direction {
        here.direction("direction", direction)?;
    }
    here.optional("fov", c.fov, Rule::Between(1.0, 170.0))?;
    here.optional("speed_range", c.speed_range, Rule::Positive)?;
    if c.eye.is_some() && c.eye == c.target {
        return Err(here.error("target", "`target` must not be where `eye` is"));
    }
    Ok(())
}

/// A table of the scene, and the way to it.
pub(super) struct Part<'a> {
    scene: &'a Scene,
    path: Vec<Key<'a>>,
}

impl<'a> Part<'a> {
    pub fn new(scene: &'a Scene, path: &[Key<'a>]) -> Part<'a> {
        Part {
            scene,
            path: path.to_vec(),
        }
    }

    pub fn key(&self, name: &'a str) -> Part<'a> {
        let mut path = self.path.clone();
        path.push(Key::Name(name));
        Part {
            scene: self.scene,
            path,
        }
    }

    pub fn item(&self, name: &'a str, i: usize) -> Part<'a> {
        let mut part = self.key(name);
        part.path.push(Key::Item(i));
        part
    }

    /// An error of the table as a whole.
    pub fn here(&self, message: impl Into<String>) -> SceneError {
        self.scene.at(&self.path, message)
    }

    pub fn error(&self, key: &'a str, message: impl Into<String>) -> SceneError {
        self.scene.at(&self.key(key).path, message)
    }

    pub fn number(&self, key: &'a str, v: impl Into<f64>, rule: Rule) -> Result<(), SceneError> {
        let v = v.into();
        if rule.allows(v) {
            return Ok(());
        }
        // f32 values carry f64 digits that nobody has written.
        let shown = v as f32;
        Err(self.error(key, format!("`{key}` is {shown}, but must be {rule}")))
    }

    pub(super) fn optional(
        &self,
        key: &'a str,
        v: Option<f32>,
        rule: Rule,
    ) -> Result<(), SceneError> {
        v.map_or(Ok(()), |v| self.number(key, v, rule))
    }

    pub fn vector(&self, key: &'a str, v: Vec3) -> Result<(), SceneError> {
        if v.is_finite() {
            return Ok(());
        }
        Err(self.error(
            key,
            format!("`{key}` is {v}, but must be three finite numbers"),
        ))
    }

    pub fn place(&self, key: &'a str, v: Vec3) -> Result<(), SceneError> {
        if is_near(v) {
            return Ok(());
        }
        Err(self.error(
            key,
            format!("`{key}` is {v}, but every number must be within ±{FARTHEST:.0e} m"),
        ))
    }

    /// The end of what begins at `start`, in seconds.
    pub fn after_start(
        &self,
        key: &'a str,
        start: f64,
        stop: Option<f64>,
    ) -> Result<(), SceneError> {
        match stop {
            Some(stop) if stop.is_nan() || stop <= start => Err(self.error(
                key,
                format!("`{key}` is {stop} s, but must be after `start`, {start} s"),
            )),
            _ => Ok(()),
        }
    }

    pub fn direction(&self, key: &'a str, v: Vec3) -> Result<(), SceneError> {
        if v.try_normalize().is_some() {
            return Ok(());
        }
        Err(self.error(
            key,
            format!("`{key}` is {v}, but must be finite and not zero"),
        ))
    }

    pub fn name<'b>(
        &self,
        name: &str,
        mut others: impl Iterator<Item = &'b String>,
        what: &str,
    ) -> Result<(), SceneError> {
        if name.trim().is_empty() {
            return Err(self.error("name", "`name` must not be empty"));
        }
        if others.any(|other| other == name) {
            return Err(self.error("name", format!("there are two {what} called `{name}`")));
        }
        Ok(())
    }

    pub(super) fn region(&self, region: &Region) -> Result<(), SceneError> {
        if let Some(problem) = region.nonsense() {
            return Err(self.error("region", problem));
        }
        match region.bounds() {
            Some(b) if !(is_near(b.min) && is_near(b.max)) => Err(self.error(
                "region",
                format!(
                    "the region reaches from {} to {}, but must be within ±{FARTHEST:.0e} m",
                    b.min, b.max
                ),
            )),
            _ => Ok(()),
        }
    }

    fn action(&self, action: &Action) -> Result<(), SceneError> {
        let fine = match action {
            Action::Uniform(a) => a.is_finite(),
            Action::Wind { velocity, rate } => velocity.is_finite() && rate.is_finite(),
            Action::Attract {
                center,
                acceleration,
            } => is_near(*center) && acceleration.is_finite(),
        };
        if fine {
            return Ok(());
        }
        Err(self.error("action", "every number of a field must be finite"))
    }
}

/// True if all coordinates are finite and not absurdly far away.
pub(super) fn is_near(p: Vec3) -> bool {
    p.abs().cmple(Vec3::splat(FARTHEST)).all()
}

/// Says so of a shape that is not.
pub(super) fn too_far() -> String {
    format!("every corner must be within ±{FARTHEST:.0e} m")
}
