//! Probes of a scene: which keys each kind takes, and how they watch the world.

use glam::Vec3;

use super::Scene;
use super::check::{Part, Rule};
use super::description as d;
use super::error::{Key, SceneError, nearest};
use super::solid_keys as sk;
use crate::contact::Obstacle;
use crate::fluid::Fluid;
use crate::observe::{Probe, Section, SectionError, Watch};
use crate::slots::Handle;
use crate::soft::Soft;
use crate::solid::Solid;
use crate::world::{Matter, World};

impl d::ProbeKind {
    fn name(self) -> &'static str {
        match self {
            d::ProbeKind::Point => "point",
            d::ProbeKind::Section => "section",
            d::ProbeKind::Obstacle => "obstacle",
            d::ProbeKind::Fluid => "fluid",
            d::ProbeKind::Volume => "volume",
            d::ProbeKind::Solid => "solid",
            d::ProbeKind::Soft => "soft",
        }
    }

    /// The keys it takes besides `name` and `kind`.
    fn keys(self) -> &'static [&'static str] {
        match self {
            d::ProbeKind::Point => &["position"],
            d::ProbeKind::Section => &["center", "direction", "radius", "corners"],
            d::ProbeKind::Obstacle => &["obstacle"],
            d::ProbeKind::Fluid => &["fluid", "axis"],
            d::ProbeKind::Volume => &["region", "obstacle"],
            d::ProbeKind::Solid => &["solid"],
            d::ProbeKind::Soft => &["soft"],
        }
    }
}

/// Checks what can be checked without building.
pub(super) fn check(here: &Part<'_>, p: &d::Probe, s: &d::Description) -> Result<(), SceneError> {
    let kind = p.kind.name();
    let given = [
        ("position", p.position.is_some()),
        ("center", p.center.is_some()),
        ("direction", p.direction.is_some()),
        ("radius", p.radius.is_some()),
        ("corners", p.corners.is_some()),
        ("obstacle", p.obstacle.is_some()),
        ("fluid", p.fluid.is_some()),
        ("solid", p.solid.is_some()),
        ("axis", p.axis.is_some()),
        ("region", p.region.is_some()),
        ("soft", p.soft.is_some()),
    ];
    let takes = p.kind.keys();
    for (key, given) in given {
        if given && !takes.contains(&key) {
            let takes = takes.join("`, `");
            return Err(here
                .error(key, format!("a probe of kind `{kind}` has no `{key}`"))
                .with_help(format!("it takes `{takes}`; see `kind`")));
        }
    }
    let needs = |key: &str, example: &str| {
        here.error("name", format!("a probe of kind `{kind}` needs `{key}`"))
            .with_help(format!("for example `{key} = {example}`"))
    };
    match p.kind {
        d::ProbeKind::Point => {
            let position = p.position.ok_or_else(|| needs("position", "[0, 0.1, 0]"))?;
            here.place("position", position)
        }
        d::ProbeKind::Section => check_section(here, p),
        d::ProbeKind::Obstacle => {
            let name = p.obstacle.as_ref();
            let name = name.ok_or_else(|| needs("obstacle", "\"floor\""))?;
            known(here, "obstacle", name, s.obstacle.iter().map(|o| &o.name))
        }
        d::ProbeKind::Fluid => {
            if let Some(axis) = p.axis {
                here.direction("axis", axis)?;
            }
            match &p.fluid {
                Some(name) => known(here, "fluid", name, s.fluid.iter().map(|f| &f.name)),
                None if s.fluid.len() > 1 => Err(needs("fluid", &format!("{:?}", s.fluid[0].name))),
                None => Ok(()),
            }
        }
        d::ProbeKind::Solid => match &p.solid {
            Some(name) => known(here, "solid", name, s.solid.iter().map(|b| &b.name)),
            None if s.solid.len() == 1 => Ok(()),
            None => Err(needs("solid", "\"jelly\"")),
        },
        d::ProbeKind::Soft => match &p.soft {
            None if s.soft.len() != 1 => Err(needs("soft", "\"balloon\"")),
            _ => Ok(()),
        },
        d::ProbeKind::Volume => match (&p.region, &p.obstacle) {
            (Some(region), None) => here.region(region),
            (None, Some(name)) => {
                known(here, "obstacle", name, s.obstacle.iter().map(|o| &o.name))?;
                let of_name = s.obstacle.iter().find(|o| o.name == *name);
                match of_name.map(|o| &o.shape) {
                    Some(
                        d::Shape::Plane { .. }
                        | d::Shape::River { .. }
                        | d::Shape::Heightfield { .. },
                    ) => Err(open(here.error("obstacle", no_inside(name)))),
                    _ => Ok(()),
                }
            }
            _ => Err(here
                .error(
                    "region",
                    "a probe of kind `volume` needs `region` or `obstacle`",
                )
                .with_help(
                    "`region` is a box or a sphere, `obstacle` the name of a closed one; give one",
                )),
        },
    }
}

fn check_section(here: &Part<'_>, p: &d::Probe) -> Result<(), SceneError> {
    if let Some(center) = p.center {
        here.place("center", center)?;
    }
    here.optional("radius", p.radius, Rule::Positive)?;
    if let Some(direction) = p.direction {
        here.direction("direction", direction)?;
    }
    for &corner in p.corners.iter().flatten() {
        here.place("corners", corner)?;
    }
    section(p).map(drop).map_err(|e| match e {
        NoSection::Keys => here
            .error("name", "the shape of this section is not clear")
            .with_help(
                "give a disc by `center`, `direction` and `radius`, or a flat polygon by `corners`",
            ),
        NoSection::Shape(e) => here.error(key_of(&e), e.to_string()),
    })
}

enum NoSection {
    /// Too few keys, or both shapes.
    Keys,
    Shape(SectionError),
}

fn key_of(e: &SectionError) -> &'static str {
    match e {
        SectionError::Radius(_) => "radius",
        SectionError::Direction(_) => "direction",
        SectionError::Place(_) => "center",
        SectionError::TooFewCorners(_) | SectionError::NoArea | SectionError::NotFlat { .. } => {
            "corners"
        }
    }
}

fn section(p: &d::Probe) -> Result<Section, NoSection> {
    let made = match (p.center, p.radius, p.direction, &p.corners) {
        (Some(center), Some(radius), Some(direction), None) => {
            Section::disc(center, direction, radius)
        }
        (None, None, direction, Some(corners)) => {
            let towards = |s: Section| direction.map_or(s.clone(), |d| s.facing(d));
            Section::polygon(corners).map(towards)
        }
        _ => return Err(NoSection::Keys),
    };
    made.map_err(NoSection::Shape)
}

fn known<'a>(
    here: &Part<'_>,
    key: &'static str,
    name: &str,
    names: impl Iterator<Item = &'a String> + Clone,
) -> Result<(), SceneError> {
    if names.clone().any(|n| n == name) {
        return Ok(());
    }
    let error = here.error(key, format!("there is no {key} called `{name}`"));
    let list: Vec<&str> = names.map(String::as_str).collect();
    let near = nearest(name, list.iter().copied())
        .map_or(String::new(), |n| format!("did you mean `{n}`? "));
    Err(if list.is_empty() {
        error.with_help(format!("the scene has no [[{key}]]"))
    } else {
        error.with_help(format!("{near}known: {}", list.join(", ")))
    })
}

fn no_inside(name: &str) -> String {
    format!("`{name}` is open: it has no inside that liquid could fill")
}

fn open(error: SceneError) -> SceneError {
    error.with_help("name an obstacle with a closed surface, or give a `region`")
}

impl Scene {
    /// Makes the probes, and lets the world watch what they need.
    pub(super) fn probes(
        &self,
        world: &mut World,
        fluids: &[Handle<Fluid>],
        solids: &[Handle<Solid>],
        softs: &[Handle<Soft>],
        obstacles: &[Handle<Obstacle>],
    ) -> Result<Vec<Probe>, SceneError> {
        let s = &self.description;
        let spacings = s.fluid.iter().map(|f| f.spacing);
        let patch = spacings.fold(f32::INFINITY, f32::min);
        let mut probes = Vec::new();
        for (i, p) in s.probe.iter().enumerate() {
            let wrong = |key: &'static str, message: String| {
                self.at(&[Key::Name("probe"), Key::Item(i), Key::Name(key)], message)
            };
            let obstacle = p.obstacle.as_ref().and_then(|name| {
                let position = s.obstacle.iter().position(|o| o.name == *name)?;
                obstacles.get(position).copied()
            });
            let watch = match (p.kind, obstacle) {
                (d::ProbeKind::Point, _) => Watch::Point(p.position.unwrap_or(Vec3::ZERO)),
                (d::ProbeKind::Section, _) => match section(p) {
                    Ok(section) => Watch::Section(world.add_section(section)),
                    Err(_) => return Err(wrong("name", "this section cannot be".into())),
                },
                (d::ProbeKind::Obstacle, Some(obstacle)) => Watch::Obstacle {
                    obstacle,
                    wetting: world
                        .add_wetting(obstacle, patch)
                        .map_err(|e| wrong("obstacle", e.to_string()))?,
                },
                (d::ProbeKind::Fluid, _) => {
                    let named = |f: &d::Fluid| p.fluid.as_ref().is_none_or(|name| f.name == *name);
                    let of_name = s.fluid.iter().position(named);
                    let Some(&fluid) = of_name.and_then(|k| fluids.get(k)) else {
                        return Err(wrong("fluid", "there is no such liquid".into()));
                    };
                    Watch::Fluid {
                        fluid,
                        axis: p.axis,
                    }
                }
                (d::ProbeKind::Solid, _) => {
                    let named = |b: &sk::Solid| p.solid.as_ref().is_none_or(|n| b.name == *n);
                    let of_name = s.solid.iter().position(named);
                    let Some(&solid) = of_name.and_then(|k| solids.get(k)) else {
                        return Err(wrong("solid", "there is no such body".into()));
                    };
                    Watch::Solid(solid)
                }
                (d::ProbeKind::Volume, Some(obstacle)) => {
                    if world.volume_inside(obstacle).is_none() {
                        let name = p.obstacle.as_deref().unwrap_or_default();
                        return Err(open(wrong("obstacle", no_inside(name))));
                    }
                    Watch::Inside(obstacle)
                }
                (d::ProbeKind::Soft, _) => {
                    let named = |h: &&Handle<Soft>| {
                        let name = world.soft(**h).map(|s| s.settings().name.as_str());
                        p.soft.is_none() || name == p.soft.as_deref()
                    };
                    let Some(&soft) = softs.iter().find(named) else {
                        let known: Vec<&str> = world.softs().map(|s| s.name()).take(8).collect();
                        return Err(wrong("soft", "there is no such soft body".into())
                            .with_help(format!("known: {}", known.join(", "))));
                    };
                    let lung = world.soft(soft).is_some_and(|s| s.lung_volumes().is_some());
                    Watch::Soft { soft, lung }
                }
                (d::ProbeKind::Volume, None) => Watch::Region(p.region.unwrap_or_default()),
                (d::ProbeKind::Obstacle, None) => {
                    return Err(wrong("obstacle", "there is no such obstacle".into()));
                }
            };
            probes.push(Probe {
                name: p.name.clone(),
                watch,
            });
        }
        Ok(probes)
    }
}
