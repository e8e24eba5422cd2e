//! Arithmetic that every point structure shares: the side of a cell, the cell of
//! a coordinate, the bounding box and the distance test.
//!
//! The distance test is done in f32 and may accept points a rounding error
//! farther than the radius. Cells are therefore a hair larger than the radius
//! and computed in f64, so that an accepted point is never two cells away,
//! whatever the magnitude of the coordinates.

use glam::Vec3;

use crate::math::{Aabb, Xyz};

/// Cells exceed the radius by this factor: far above the rounding error of the
/// f32 distance test (below 1e-6), far below anything that costs time.
const PAD: f64 = 1.0 + 1e-5;

/// The smallest cell side, in metres. Below it the squares of the distance test
/// leave the normal range of f32 and lose their relative accuracy.
const SMALLEST_SIDE: f64 = 1e-15;

/// Radii from here on have squares that may overflow f32: one cell holds all.
const LARGEST_RADIUS: f64 = 1e18;

/// Side of a cell such that points accepted by the f32 distance test for
/// `radius` are strictly less than one cell apart on every axis.
pub(super) fn padded_side(radius: f32) -> f64 {
    let radius = f64::from(radius.abs());
    if radius >= LARGEST_RADIUS {
        f64::INFINITY
    } else {
        (radius * PAD).max(SMALLEST_SIDE)
    }
}

/// The cell of coordinate `x` on one axis, modulo 2³².
///
/// This is `floor(x / side)` up to which of two cells owns their common border.
/// The sum with 1.5·2⁵² leaves the rounded quotient in the low bits of the
/// mantissa: no branch, no library call, and it vectorises. Quotients beyond
/// 2⁵¹ give some cell, always the same one for the same coordinate, and that is
/// enough: so far out, two different f32 are more than a cell apart.
#[inline]
pub(super) fn wrapped_cell(x: f32, inverse_side: f64) -> u32 {
    const ROUND: f64 = 1.5 * (1u64 << 52) as f64;
    let quotient = f64::from(x) * inverse_side;
    ((quotient - 0.5) + ROUND).to_bits() as u32
}

/// `floor(x / side)`, held within ±2⁵² so that sums of cells cannot overflow.
#[inline]
pub(super) fn floor_cell(x: f64, inverse_side: f64) -> i64 {
    const LIMIT: f64 = (1u64 << 52) as f64;
    (x * inverse_side).floor().clamp(-LIMIT, LIMIT) as i64
}

/// The distance test of [`super::NeighbourSearch::for_each_within`].
#[inline]
pub(super) fn is_within(points: Xyz<'_>, i: u32, center: Vec3, radius_squared: f32) -> bool {
    (points.get(i as usize) - center).length_squared() <= radius_squared
}

/// The box around the points whose coordinates are all finite.
pub(super) fn finite_bounds(points: Xyz<'_>) -> Aabb {
    Aabb::of(points.iter().filter(|p| p.is_finite()))
}

/// Heap memory of a vector, in bytes.
pub(super) fn heap_bytes<T>(v: &Vec<T>) -> usize {
    v.capacity() * size_of::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_cell_is_floor_away_from_borders() {
        for k in [-1_000_000_i64, -3, -2, -1, 0, 1, 2, 5, 8_000_000] {
            for fraction in [0.25, 0.5, 0.75] {
                let x = (k as f64 + fraction) as f32;
                let expected = f64::from(x).floor() as i64;
                if f64::from(x) != expected as f64 {
                    assert_eq!(wrapped_cell(x, 1.0), expected as u32, "x = {x}");
                }
            }
        }
    }

    #[test]
    fn accepted_neighbours_are_never_two_cells_apart() {
        // Pairs one radius apart after rounding, at every magnitude where f32
        // still tells the two points apart.
        let mut checked = 0;
        for radius in [1.0f32, 0.1, 0.037, 1e-7, 3e5] {
            let inverse_side = 1.0 / padded_side(radius);
            for step in 0..40_000 {
                let a = radius * (step as f32 * 0.731) * 1.0003f32.powi(step % 20_000);
                let mut b = a + radius;
                for _ in 0..4 {
                    let d = b - a;
                    if d * d <= radius * radius {
                        let cells = wrapped_cell(b, inverse_side)
                            .wrapping_sub(wrapped_cell(a, inverse_side));
                        assert!(cells <= 1, "{a} and {b}: {cells} cells apart");
                        checked += 1;
                    }
                    b = b.next_up();
                }
            }
        }
        assert!(checked > 10_000, "only {checked} pairs checked");
    }

    #[test]
    fn absurd_coordinates_have_a_cell() {
        for x in [f32::MAX, f32::MIN, f32::INFINITY, f32::NAN, 1e30, -1e30] {
            for radius in [0.0, 1e-30, 1.0, f32::MAX, f32::INFINITY, f32::NAN] {
                let inverse_side = 1.0 / padded_side(radius);
                assert_eq!(
                    wrapped_cell(x, inverse_side),
                    wrapped_cell(x, inverse_side),
                    "{x} {radius}"
                );
                floor_cell(f64::from(x), inverse_side);
            }
        }
    }
}
