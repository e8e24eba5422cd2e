//! Where a human colon runs and how wide it is.

use glam::Vec3;

use super::noise::signed;

/// A control point of a colon's axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColonControl {
    /// Position in metres.
    pub point: Vec3,
    /// Mean radius of the wall here, in metres.
    pub radius: f32,
    /// Depth of the haustral folds here, as a fraction of the radius, 0 for smooth.
    pub fold_depth: f32,
}

/// The course of a colon in a standing person seen from the front: y up, z forwards,
/// +x the person's left (the viewer's right). In millimetres: x, y, z, radius; then
/// the fold depth in percent. From the anus to the blind end of the caecum.
const COURSE: [[f32; 5]; 25] = [
    // rectum: along the sacrum, backwards then forwards
    [0.0, 2.0, -6.0, 17.0, 0.0],
    [1.0, 30.0, -24.0, 20.0, 2.0],
    [-3.0, 58.0, -34.0, 18.0, 5.0],
    // sigmoid: an S over to the left, before the rectum
    [-24.0, 84.0, -22.0, 16.0, 9.0],
    [-28.0, 112.0, 2.0, 16.0, 11.0],
    [0.0, 128.0, 22.0, 16.0, 12.0],
    [32.0, 110.0, 26.0, 16.0, 12.0],
    [50.0, 78.0, 20.0, 16.0, 12.0],
    [80.0, 62.0, 6.0, 16.0, 13.0],
    [110.0, 78.0, -10.0, 17.0, 14.0],
    // descending colon, at the back
    [122.0, 112.0, -22.0, 19.0, 16.0],
    [126.0, 170.0, -28.0, 20.0, 18.0],
    [126.0, 230.0, -31.0, 21.0, 19.0],
    [122.0, 284.0, -28.0, 22.0, 20.0],
    // splenic flexure: the highest place
    [96.0, 320.0, -10.0, 22.0, 20.0],
    [60.0, 302.0, 14.0, 23.0, 22.0],
    // transverse colon: sags, in front
    [36.0, 260.0, 30.0, 24.0, 24.0],
    [-4.0, 238.0, 38.0, 25.0, 25.0],
    [-46.0, 252.0, 30.0, 25.0, 25.0],
    // hepatic flexure
    [-78.0, 284.0, 10.0, 25.0, 24.0],
    [-112.0, 280.0, -16.0, 25.0, 24.0],
    // ascending colon and caecum
    [-124.0, 234.0, -30.0, 26.0, 25.0],
    [-120.0, 180.0, -28.0, 28.0, 24.0],
    [-114.0, 128.0, -20.0, 31.0, 20.0],
    [-106.0, 80.0, -8.0, 32.0, 12.0],
];

/// The course of a typical colon, about 0.30 m wide and 0.35 m tall.
pub(super) fn course() -> Vec<ColonControl> {
    let control = |&[x, y, z, radius, depth]: &[f32; 5]| ColonControl {
        point: 1e-3 * Vec3::new(x, y, z),
        radius: 1e-3 * radius,
        fold_depth: 1e-2 * depth,
    };
    COURSE.iter().map(control).collect()
}

/// The colon of another person: each control point moved by up to 0.2 radii per
/// coordinate, radii changed by up to 8 %, times `variation`. Neighbours move
/// together, so that the bends stay as wide as they were.
pub(super) fn vary(controls: &[ColonControl], seed: u64, variation: f32) -> Vec<ColonControl> {
    let raw = |i: usize, channel: u64| signed(seed, 4 * i as u64 + channel);
    // A mean over neighbours, enlarged back to about the spread of one number.
    let smooth = |i: usize, channel: u64| {
        let around = i.saturating_sub(2)..=(i + 2).min(controls.len() - 1);
        let n = around.clone().count() as f32;
        around.map(|j| raw(j, channel)).sum::<f32>() / n.sqrt()
    };
    let moved = |(i, c): (usize, &ColonControl)| ColonControl {
        point: c.point
            + 0.2 * variation * c.radius * Vec3::new(smooth(i, 0), smooth(i, 1), smooth(i, 2)),
        radius: c.radius * (1.0 + 0.08 * variation * smooth(i, 3)),
        fold_depth: c.fold_depth,
    };
    controls.iter().enumerate().map(moved).collect()
}
