//! The limit of stretching (Lesmes 2013, 3.12).

use glam::Vec3A;

use super::springs::SpringBody;

/// Sweeps over the edges that are too long; a body that hangs needs several.
const SWEEPS: usize = 8;
/// An edge longer than its limit by less than this share is not worth a sweep.
const CLOSE: f32 = 0.01;

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
    let stretched: Vec<usize> = body.stretched().collect();
    for _ in 0..SWEEPS {
        let mut worst = 0.0f32;
        for &e in &stretched {
            let [i, j] = body.patches.global_edges[e].map(|v| v as usize);
            let d = Vec3A::from(rest[i] - rest[j]) + (displacement[i] - displacement[j]);
            let (length, longest) = (d.length(), limit * body.length[e]);
            let (wi, wj) = (inverse_mass[i], inverse_mass[j]);
            if length <= longest || wi + wj == 0.0 {
                continue;
            }
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
            body.moved(i, displacement[i], velocity[i], h);
            body.moved(j, displacement[j], velocity[j], h);
        }
        if worst < CLOSE {
            break;
        }
    }
}
