//! Where a human colon runs and how wide it is.

use glam::Vec3;

use super::noise::along;

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
    [0.0, 2.0, -6.0, 18.0, 0.0],
    [1.0, 30.0, -20.0, 21.0, 2.0],
    [-5.0, 59.0, -28.0, 19.0, 5.0],
    // sigmoid: an S over to the left, before the rectum
    [-21.0, 87.0, -19.0, 16.0, 9.0],
    [-28.0, 112.0, 2.0, 16.0, 11.0],
    [0.0, 128.0, 22.0, 16.0, 12.0],
    [32.0, 110.0, 26.0, 16.0, 12.0],
    [50.0, 78.0, 20.0, 16.0, 12.0],
    [80.0, 62.0, 6.0, 16.0, 13.0],
    [110.0, 78.0, -10.0, 17.0, 14.0],
    // descending colon, at the back
    [122.0, 112.0, -22.0, 20.0, 16.0],
    [124.0, 170.0, -30.0, 22.0, 17.0],
    [124.0, 230.0, -36.0, 22.0, 18.0],
    [122.0, 276.0, -36.0, 23.0, 19.0],
    // splenic flexure: the highest place
    [108.0, 312.0, -24.0, 23.0, 19.0],
    [76.0, 318.0, 4.0, 23.0, 20.0],
    // transverse colon: sags, in front
    [46.0, 288.0, 28.0, 24.0, 22.0],
    [4.0, 260.0, 40.0, 25.0, 24.0],
    [-40.0, 262.0, 34.0, 26.0, 24.0],
    // hepatic flexure
    [-76.0, 290.0, 10.0, 26.0, 23.0],
    [-108.0, 286.0, -20.0, 26.0, 22.0],
    // ascending colon and caecum
    [-122.0, 242.0, -36.0, 27.0, 23.0],
    [-120.0, 184.0, -32.0, 29.0, 22.0],
    [-114.0, 130.0, -22.0, 31.0, 18.0],
    [-106.0, 80.0, -8.0, 32.0, 11.0],
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

/// The colon of another person: each control point moved by up to a quarter of the
/// radius per coordinate, radii changed by up to 10 %, times `variation`. Neighbours
/// move together, so that the bends stay about as wide as they were.
pub(super) fn vary(controls: &[ColonControl], seed: u64, variation: f32) -> Vec<ColonControl> {
    const TOGETHER: f32 = 4.0;
    let drift =
        |i: usize, channel: u64| variation * along(seed ^ (channel << 48), i as f32 / TOGETHER);
    let moved = |(i, c): (usize, &ColonControl)| ColonControl {
        point: c.point + 0.25 * c.radius * Vec3::new(drift(i, 1), drift(i, 2), drift(i, 3)),
        radius: c.radius * (1.0 + 0.1 * drift(i, 4)),
        fold_depth: c.fold_depth,
    };
    controls.iter().enumerate().map(moved).collect()
}
