//! The limit of stretching (Lesmes 2013, 3.12).

use glam::Vec3A;

use super::springs::SpringBody;

/// Sweeps over the edges that are too long; a body that hangs needs several.
const SWEEPS: usize = 8;
/// An edge longer than its limit by less than this share is not worth a sweep.
const CLOSE: f32 = 0.01;

/// An edge near or beyond its limit.
#[derive(Clone, Debug)]
pub(super) struct Held {
    ends: [u32; 2],
    /// The vector from the second end to the first, at rest.
    rest: Vec3A,
    /// Its limit in metres.
    longest: f32,
    /// 1 / mass of its ends.
    share: [f32; 2],
    drawn: bool,
}

/// Draws together the ends of edges that are longer than the limit allows, lighter
/// ends more, and takes away the speed at which they part. Edge by edge, so that
/// every correction conserves momentum; few edges need it, so one thread is enough.
/// The printed signs push ends apart; these are the right ones.
pub(super) fn limit_strain(
    body: &mut SpringBody,
    rest: &[glam::Vec3],
    inverse_mass: &[f32],
    displacement: &mut [Vec3A],
    velocity: &mut [Vec3A],
    h: f32,
) {
    let Some(limit) = body.settings.strain_limit else {
        return;
    };
    let mut held = std::mem::take(&mut body.held);
    held.clear();
    held.extend(body.stretched().map(|e| {
        let ends = body.patches.global_edges[e];
        let [i, j] = ends.map(|v| v as usize);
        Held {
            ends,
            rest: Vec3A::from(rest[i] - rest[j]),
            longest: limit * body.length[e],
            share: [inverse_mass[i], inverse_mass[j]],
            drawn: false,
        }
    }));
    held.retain(|edge| edge.share[0] + edge.share[1] > 0.0);
    for _ in 0..SWEEPS {
        let mut worst = 0.0f32;
        for edge in &mut held {
            let [i, j] = edge.ends.map(|v| v as usize);
            let d = edge.rest + (displacement[i] - displacement[j]);
            let (square, longest) = (d.length_squared(), edge.longest);
            if square <= longest * longest {
                continue;
            }
            edge.drawn = true;
            let length = square.sqrt();
            let [wi, wj] = edge.share;
            // m_j / (m_i + m_j) is w_i / (w_i + w_j).
            let along = d / (length * (wi + wj));
            let excess = length - longest;
            worst = worst.max(excess / longest);
            displacement[i] -= wi * excess * along;
            displacement[j] += wj * excess * along;
            let parting = (velocity[i] - velocity[j]).dot(d / length);
            if parting > 0.0 {
                velocity[i] -= wi * parting * along;
                velocity[j] += wj * parting * along;
            }
        }
        if worst < CLOSE {
            break;
        }
    }
    for edge in held.iter().filter(|edge| edge.drawn) {
        for i in edge.ends.map(|v| v as usize) {
            body.moved(i, displacement[i], velocity[i], h);
        }
    }
    body.held = held;
}
