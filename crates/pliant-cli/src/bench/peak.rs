//! What the cores could do at most, to say how far a loop is from it.

use std::hint::black_box;
use std::time::Instant;

use rayon::prelude::*;

const LANES: usize = 96;
const ROUNDS: usize = 2_000_000;

/// Billions of f32 multiply-adds (two operations each) per second on all threads
/// of the current pool: the best of three runs.
pub fn gflops() -> f64 {
    let threads = rayon::current_num_threads();
    let mut best: f64 = 0.0;
    for _ in 0..3 {
        let clock = Instant::now();
        (0..threads).into_par_iter().for_each(|t| {
            black_box(chains(black_box(t as f32)));
        });
        let operations = (threads * LANES * ROUNDS * 2) as f64;
        best = best.max(operations / clock.elapsed().as_secs_f64() / 1e9);
    }
    best
}

fn chains(seed: f32) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: both features were just detected.
        return unsafe { chains_fma(seed) };
    }
    chains_portable(seed)
}

/// Independent chains of x = x * a + b, wide enough to fill every pipeline.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn chains_fma(seed: f32) -> f32 {
    let mut x = [seed; LANES];
    for _ in 0..ROUNDS {
        for v in &mut x {
            *v = v.mul_add(0.999_9, 1e-4);
        }
    }
    x.iter().sum()
}

fn chains_portable(seed: f32) -> f32 {
    let mut x = [seed; LANES];
    for _ in 0..ROUNDS {
        for v in &mut x {
            *v = *v * 0.999_9 + 1e-4;
        }
    }
    x.iter().sum()
}
