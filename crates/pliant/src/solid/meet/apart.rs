//! The last word: surfaces that would pass through each other stop before.
//!
//! Contacts of the solve bring bodies to rest, but what they assume of a step need not
//! come true: elements fold, other bodies push, obstacles stop points. Here every point
//! goes only as far along its way as its surface stays apart from all others. As nothing
//! overlaps at the start of a step, nothing does at its end. Velocities stay as they are,
//! and momentum with them: the next solve meets the surfaces next to each other.

use glam::Vec3;
use rayon::prelude::*;

use super::broad::Broad;
use super::find::LEAST;
use super::skin::View;
use super::swept::first_touch;

/// Most rounds of shortening ways; after the first half points stay where they were, and
/// after the last all do.
const ROUNDS: u32 = 40;
/// Pairs per task.
const CHUNK: usize = 256;

/// The share of its way that every point of every body may go; nothing if all may go to
/// their ends.
pub(super) fn shares(views: &[View<'_>], broad: &Broad) -> Vec<Vec<f32>> {
    let mut shares: Option<Vec<Vec<f32>>> = None;
    let mut changed: Vec<Vec<bool>> = Vec::new();
    for round in 0..ROUNDS {
        let known = shares.as_deref();
        let hits: Vec<(usize, f32)> = broad
            .pairs
            .par_iter()
            .enumerate()
            .with_min_len(CHUNK)
            .filter_map(|(k, pair)| {
                let moved = |b: u32, i: u32| changed[b as usize][i as usize];
                if known.is_some() && !pair.map(moved).contains(&true) {
                    return None;
                }
                if broad.tangled(pair.bodies) {
                    return None;
                }
                let [a, b] = pair.bodies.map(|b| &views[b as usize]);
                let keep = a.solid.thickness + b.solid.thickness;
                let from = pair.map(|b, i| views[b as usize].from[i as usize]);
                let to = pair.map(|b, i| {
                    let (view, i) = (&views[b as usize], i as usize);
                    let share = known.map_or(1.0, |s| s[b as usize][i]);
                    place(view, i, share)
                });
                let (time, _) = first_touch(pair, from, to, LEAST * keep)?;
                Some((k, time))
            })
            .collect();
        if hits.is_empty() {
            break;
        }
        let lists = || views.iter().map(|v| v.from.len());
        let shares = shares.get_or_insert_with(|| lists().map(|n| vec![1.0; n]).collect());
        changed = lists().map(|n| vec![false; n]).collect();
        if round + 1 == ROUNDS {
            for (share, view) in shares.iter_mut().zip(views) {
                let weights = &view.solid.inverse_mass;
                let free = share.iter_mut().zip(weights).filter(|(_, w)| **w > 0.0);
                free.for_each(|(share, _)| *share = 0.0);
            }
            break;
        }
        let before = shares.clone();
        for (k, time) in hits {
            let pair = &broad.pairs[k];
            let time = if round < ROUNDS / 2 { time } else { 0.0 };
            for (p, &i) in pair.points.iter().enumerate() {
                let (b, i) = (pair.bodies[pair.side(p)] as usize, i as usize);
                // Pinned points go where they are driven.
                if views[b].solid.inverse_mass[i] > 0.0 {
                    let most = time * before[b][i];
                    if most < shares[b][i] {
                        shares[b][i] = most;
                        changed[b][i] = true;
                    }
                }
            }
        }
    }
    shares.unwrap_or_default()
}

/// Where a point is after a share of its way.
pub(super) fn place(view: &View<'_>, i: usize, share: f32) -> Vec3 {
    if share == 1.0 {
        view.to[i]
    } else {
        view.from[i] + share * (view.to[i] - view.from[i])
    }
}
