//! Repeatable randomness: numbers that depend on nothing but their keys.

/// SplitMix64's output function (Steele, Lea & Flood 2014).
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A number in [0, 1) for each pair of seed and index.
pub(in crate::mesh) fn unit(seed: u64, index: u64) -> f32 {
    // 24 bits: all that f32 holds.
    (mix(mix(seed) ^ index) >> 40) as f32 / (1 << 24) as f32
}

/// A number in [-1, 1) for each pair of seed and index.
pub(crate) fn signed(seed: u64, index: u64) -> f32 {
    2.0 * unit(seed, index) - 1.0
}

/// 3t² - 2t³, from 0 to 1 with level ends.
pub(super) fn smooth(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Smooth noise in [-1, 1] along a line, with one free value per unit.
pub(super) fn along(seed: u64, x: f32) -> f32 {
    let cell = x.floor();
    let at = |i: i64| signed(seed, (cell as i64).wrapping_add(i) as u64);
    let t = smooth(x - cell);
    at(0) + t * (at(1) - at(0))
}

/// Smooth noise in [-1, 1] over a plane, with one free value per unit square.
pub(super) fn over(seed: u64, x: f32, z: f32) -> f32 {
    let cell = z.floor();
    let row = |i: i64| along(mix(seed ^ (cell as i64).wrapping_add(i) as u64), x);
    let t = smooth(z - cell);
    row(0) + t * (row(1) - row(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_evenly() {
        let n = 10_000u64;
        let values: Vec<f32> = (0..n).map(|i| unit(7, i)).collect();
        assert!(values.iter().all(|v| (0.0..1.0).contains(v)));
        let mean = values.iter().sum::<f32>() / n as f32;
        // Standard error of the mean is 0.0029.
        assert!((mean - 0.5).abs() < 0.012, "{mean}");
        assert_ne!(unit(7, 0), unit(8, 0));
    }

    #[test]
    fn noise_is_continuous() {
        for i in 0..2_000 {
            let x = -5.0 + 0.005 * i as f32;
            assert!((along(3, x + 1e-3) - along(3, x)).abs() < 4e-3);
            assert!((over(3, x, 0.3 + 1e-3) - over(3, x, 0.3)).abs() < 4e-3);
        }
    }
}
