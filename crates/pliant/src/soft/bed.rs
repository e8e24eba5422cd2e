//! What holds a surface in its place: the tissue around an organ, as an elastic bed, and
//! muscles that draw it together.
//!
//! Every point hangs on a spring to its place at the start. Where a wave of contraction
//! runs along the body, these places move towards its axis and back; how far the wall
//! follows depends on what is inside.

use glam::{Vec3, Vec3A};

use super::topology::Topology;
use crate::contact::{Peristalsis, Spokes};

/// An elastic bed.
#[derive(Clone, Debug, PartialEq)]
pub struct Bed {
    /// Pressure per way that the wall gives, in Pa/m.
    pub stiffness: f32,
    /// Time in seconds over which motion in it is damped.
    pub damping: f32,
    /// Muscles.
    pub wave: Option<Wave>,
}

/// A wave of contraction along an axis inside the body.
#[derive(Clone, Debug, PartialEq)]
pub struct Wave {
    /// Points of the axis in metres.
    pub axis: Vec<Vec3>,
    /// How it runs.
    pub peristalsis: Peristalsis,
}

/// The bed of one body.
#[derive(Clone, Debug)]
pub(super) struct BedState {
    /// Of each point in N/m.
    pub stiffness: Vec<f32>,
    /// In seconds.
    pub damping: f32,
    wave: Option<(Peristalsis, Spokes)>,
}

impl BedState {
    /// The bed of a surface that starts at `start`.
    pub fn new(bed: &Bed, start: &[Vec3], topology: &Topology) -> BedState {
        let mut stiffness = vec![0.0; start.len()];
        for corners in &topology.triangles {
            let [a, b, c] = corners.map(|v| start[v as usize]);
            let third = (b - a).cross(c - a).length() / 6.0;
            for v in corners {
                stiffness[*v as usize] += bed.stiffness * third;
            }
        }
        let spokes = |w: &Wave| (w.peristalsis, Spokes::of(start, &w.axis));
        BedState {
            stiffness,
            damping: bed.damping,
            wave: bed.wave.as_ref().map(spokes),
        }
    }

    /// Where every point would be at `time` without any other force.
    pub fn places<'a>(
        &'a self,
        start: &'a [Vec3],
        time: f64,
    ) -> impl Fn(usize) -> Vec3A + Sync + 'a {
        let wave = self
            .wave
            .as_ref()
            .map(|(peristalsis, spokes)| (peristalsis.contraction(time, spokes.length), spokes));
        move |i| {
            let place = start[i];
            Vec3A::from(match &wave {
                None => place,
                Some((contraction, spokes)) => {
                    let (center, arc) = spokes.list[i];
                    center + (1.0 - contraction(arc)) * (place - center)
                }
            })
        }
    }
}
