//! What the rasteriser draws: spheres and triangles in view space.

use glam::{DVec3, Vec2, Vec3};
use pliant::mesh::TriMesh;

use crate::camera::View;
use crate::tiles::PixelRect;

/// A sphere in view space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sphere {
    pub centre: Vec3,
    pub radius: f32,
    pub colour: Vec3,
}

impl Sphere {
    /// The depth at which a ray (z = 1) enters the sphere.
    ///
    /// The discriminant is taken from the ray's distance to the centre, which
    /// does not cancel for small, far spheres (Haines et al. 2019).
    #[inline]
    pub fn hit(&self, ray: Vec3) -> Option<f32> {
        let dd = ray.length_squared();
        let closest = ray.dot(self.centre) / dd;
        let miss = (self.centre - ray * closest).length_squared();
        let inside = self.radius * self.radius - miss;
        (inside > 0.0).then(|| closest - (inside / dd).sqrt())
    }

    /// The pixels the sphere can cover. Along each axis the outline is where a
    /// plane through the eye is tangent to the sphere (Mara & McGuire 2013).
    pub fn bounds(&self, view: &View, width: u32, height: u32) -> PixelRect {
        let (c, r) = (self.centre, self.radius);
        let usable = c.is_finite() && r.is_finite() && r > 0.0;
        if !usable || c.z + r <= 0.0 || c.length_squared() <= r * r {
            return PixelRect::EMPTY;
        }
        if c.z <= r {
            return PixelRect::around([0.0; 2], [f32::MAX; 2], width, height);
        }
        let slopes = |a: f32| {
            let root = r * (a * a + c.z * c.z - r * r).max(0.0).sqrt();
            let below = c.z * c.z - r * r;
            ((a * c.z - root) / below, (a * c.z + root) / below)
        };
        let ((left, right), (low, high)) = (slopes(c.x), slopes(c.y));
        let x = |slope: f32| view.centre.x + view.focal * slope;
        let y = |slope: f32| view.centre.y - view.focal * slope;
        PixelRect::around([x(left), y(high)], [x(right), y(low)], width, height)
    }
}

/// A triangle in view space, as three linear functions of the pixel coordinates
/// that are positive inside. They need no clipping, whatever lies behind the
/// camera (Olano & Greer 1997).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle {
    edges: [[f64; 3]; 3],
    /// True if a sample exactly on the edge belongs to this triangle rather than
    /// to its neighbour.
    owns_edge: [bool; 3],
    determinant: f64,
    normals: [Vec3; 3],
    pub mesh: u32,
    /// Its number in the mesh.
    pub number: u32,
}

impl Triangle {
    /// `None` if the triangle is edge-on, degenerate or not finite.
    pub fn new(
        view: &View,
        corners: [Vec3; 3],
        normals: [Vec3; 3],
        [mesh, number]: [u32; 2],
    ) -> Option<Triangle> {
        let v = corners.map(|c| c.as_dvec3());
        let planes = [v[1].cross(v[2]), v[2].cross(v[0]), v[0].cross(v[1])];
        let determinant = v[0].dot(planes[0]);
        if !determinant.is_finite() || determinant == 0.0 {
            return None;
        }
        // Negation is exact, so two triangles see the same value on their
        // shared edge and leave neither a gap nor an overlap.
        let planes = planes.map(|p| if determinant < 0.0 { -p } else { p });
        Some(Triangle {
            edges: planes.map(|p| view.plane_over_pixels(p)),
            owns_edge: planes.map(is_canonical),
            determinant: determinant.abs(),
            normals,
            mesh,
            number,
        })
    }

    #[inline]
    fn weights(&self, pixel: Vec2) -> [f64; 3] {
        let (x, y) = (pixel.x as f64, pixel.y as f64);
        self.edges.map(|[a, b, c]| a * x + b * y + c)
    }

    /// False if no sample of the pixel around `centre` can be inside.
    #[inline]
    pub fn may_cover(&self, centre: Vec2) -> bool {
        let (x, y) = (centre.x as f64, centre.y as f64);
        self.edges
            .iter()
            .all(|[a, b, c]| a * x + b * y + c + 0.5 * (a.abs() + b.abs()) >= 0.0)
    }

    /// The depth of the triangle on the ray through a pixel coordinate.
    #[inline]
    pub fn hit(&self, pixel: Vec2) -> Option<f32> {
        let w = self.weights(pixel);
        let inside = (0..3).all(|k| w[k] > 0.0 || (w[k] == 0.0 && self.owns_edge[k]));
        inside.then(|| (self.determinant / (w[0] + w[1] + w[2])) as f32)
    }

    /// The depth and the interpolated unit normal of the triangle's plane at a
    /// pixel coordinate, which may lie slightly outside.
    pub fn surface(&self, pixel: Vec2) -> (f32, Vec3) {
        let w = self.weights(pixel).map(|w| w.max(0.0));
        let sum = w[0] + w[1] + w[2];
        let normal = self.mixed(pixel, self.normals);
        (
            (self.determinant / sum) as f32,
            normal.normalize_or(Vec3::NEG_Z),
        )
    }

    /// What the corners have, mixed at a pixel coordinate, which may lie slightly outside.
    pub fn mixed(&self, pixel: Vec2, of_corners: [Vec3; 3]) -> Vec3 {
        let w = self.weights(pixel).map(|w| w.max(0.0));
        let sum = w[0] + w[1] + w[2];
        let share = |k: usize| (w[k] / sum) as f32;
        of_corners[0] * share(0) + of_corners[1] * share(1) + of_corners[2] * share(2)
    }

    /// The pixels a triangle with these view-space corners can cover.
    pub fn bounds(corners: [Vec3; 3], view: &View, width: u32, height: u32) -> PixelRect {
        if corners.iter().all(|c| c.z <= 0.0) {
            return PixelRect::EMPTY;
        }
        if corners.iter().any(|c| c.z <= 0.0) {
            return PixelRect::around([0.0; 2], [f32::MAX; 2], width, height);
        }
        let p = corners.map(|c| view.project_view(c));
        let (min, max) = (p[0].min(p[1]).min(p[2]), p[0].max(p[1]).max(p[2]));
        PixelRect::around(min.to_array(), max.to_array(), width, height)
    }
}

/// One of the two orientations of a plane, chosen once for both.
fn is_canonical(n: DVec3) -> bool {
    n.x > 0.0 || (n.x == 0.0 && (n.y > 0.0 || (n.y == 0.0 && n.z > 0.0)))
}

/// Triangles whose unit normals have a smaller product than this, 60° apart, meet in an edge
/// that is seen.
const CREASE: f32 = 0.5;

/// Unit normals of a mesh in view space, three per triangle: if `smooth`, the area-weighted
/// mean of those triangles around each vertex that no crease divides from this one, else
/// the triangle's own.
pub(crate) fn corner_normals(mesh: &TriMesh, view: &View, smooth: bool) -> Vec<[Vec3; 3]> {
    let turned = |n: Vec3| {
        let n = n.normalize_or_zero();
        Vec3::new(n.dot(view.right), n.dot(view.up), n.dot(view.forward))
    };
    let count = mesh.vertices.len();
    let valid = |t: &[u32; 3]| t.iter().all(|&v| (v as usize) < count);
    let flat: Vec<Vec3> = mesh
        .triangles
        .iter()
        .enumerate()
        .map(|(t, corners)| {
            let n = if valid(corners) {
                mesh.area_normal(t)
            } else {
                Vec3::ZERO
            };
            if n.is_finite() { n } else { Vec3::ZERO }
        })
        .collect();
    if !smooth {
        return flat.into_iter().map(|n| [turned(n); 3]).collect();
    }
    // The triangles around vertex v are around[start[v]..start[v + 1]].
    let mut start = vec![0u32; count + 1];
    let corners = || mesh.triangles.iter().enumerate().filter(|(_, t)| valid(t));
    for (_, triangle) in corners() {
        triangle.iter().for_each(|&v| start[v as usize + 1] += 1);
    }
    for v in 0..count {
        start[v + 1] += start[v];
    }
    let mut next = start.clone();
    let mut around = vec![0u32; start[count] as usize];
    for (t, triangle) in corners() {
        for &v in triangle {
            around[next[v as usize] as usize] = t as u32;
            next[v as usize] += 1;
        }
    }
    let unit: Vec<Vec3> = flat.iter().map(|n| n.normalize_or_zero()).collect();
    let corner = |t: usize, v: u32| {
        let Some(&end) = start.get(v as usize + 1) else {
            return Vec3::ZERO;
        };
        let others = &around[start[v as usize] as usize..end as usize];
        let level = others.iter().map(|&o| o as usize);
        let level = level.filter(|&o| unit[t] == Vec3::ZERO || unit[o].dot(unit[t]) >= CREASE);
        turned(level.map(|o| flat[o]).sum())
    };
    let triangles = mesh.triangles.iter().enumerate();
    triangles.map(|(t, v)| v.map(|v| corner(t, v))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::Camera;

    fn view() -> View {
        Camera {
            eye: Vec3::ZERO,
            target: Vec3::NEG_Z,
            up: Vec3::Y,
            vertical_fov_degrees: 60.0,
        }
        .view(200, 100)
    }

    #[test]
    fn cubes_have_edges_and_spheres_have_none() {
        let view = view();
        let cube = pliant::mesh::Cuboid::new(-Vec3::ONE, Vec3::ONE);
        let cube = cube.build().unwrap();
        let flat = corner_normals(&cube, &view, false);
        for (smooth, flat) in corner_normals(&cube, &view, true).iter().zip(flat) {
            assert!(smooth.iter().all(|n| n.distance(flat[0]) < 1e-5));
        }
        let ball = pliant::mesh::IcoSphere {
            radius: 1.0,
            ..Default::default()
        };
        let ball = ball.build().unwrap();
        let smooth = corner_normals(&ball, &view, true);
        for (normals, triangle) in smooth.iter().zip(&ball.triangles) {
            for (n, &v) in normals.iter().zip(triangle) {
                let p = ball.vertices[v as usize].normalize();
                let p = Vec3::new(p.dot(view.right), p.dot(view.up), p.dot(view.forward));
                assert!(n.distance(p) < 0.05, "{n} {p}");
            }
        }
    }

    #[test]
    fn sphere_depth_is_exact_on_its_axis() {
        let sphere = Sphere {
            centre: Vec3::new(0.0, 0.0, 1000.0),
            radius: 0.01,
            colour: Vec3::ONE,
        };
        assert_eq!(sphere.hit(Vec3::Z), Some(1000.0 - 0.01));
        assert_eq!(sphere.hit(Vec3::new(1.2e-5, 0.0, 1.0)), None);
    }

    #[test]
    fn sphere_bounds_hold_every_pixel_it_covers_and_are_tight() {
        let view = view();
        for centre in [Vec3::new(0.7, -0.3, 2.0), Vec3::new(-0.7, 0.2, 1.6)] {
            let sphere = Sphere {
                centre,
                radius: 0.4,
                colour: Vec3::ONE,
            };
            let rect = sphere.bounds(&view, 200, 100);
            let (mut min, mut max) = (Vec2::splat(1e9), Vec2::splat(-1e9));
            for (x, y) in PixelRect::around([0.0; 2], [1e9; 2], 200, 100).pixels() {
                let p = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                if sphere.hit(view.ray(p)).is_some() {
                    assert!(x >= rect.x0 && x < rect.x1 && y >= rect.y0 && y < rect.y1);
                    (min, max) = (min.min(p), max.max(p));
                }
            }
            assert!(min.x - rect.x0 as f32 <= 1.6 && rect.x1 as f32 - max.x <= 1.6);
            assert!(min.y - rect.y0 as f32 <= 1.6 && rect.y1 as f32 - max.y <= 1.6);
        }
    }

    #[test]
    fn triangles_that_share_an_edge_cover_each_sample_once() {
        let view = view();
        // A square cut along its diagonal, with pixel centres on the diagonal.
        let z = 100.0 / (2.0 * 30f32.to_radians().tan());
        let p = |x: f32, y: f32| Vec3::new(x, y, z);
        let (a, b, c, d) = (
            p(-20.0, -20.0),
            p(20.0, -20.0),
            p(20.0, 20.0),
            p(-20.0, 20.0),
        );
        let n = [Vec3::NEG_Z; 3];
        let one = Triangle::new(&view, [a, b, c], n, [0, 0]).unwrap();
        let two = Triangle::new(&view, [a, c, d], n, [0, 1]).unwrap();
        let mut covered = 0;
        for (x, y) in PixelRect::around([0.0; 2], [1e9; 2], 200, 100).pixels() {
            let s = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
            let hits = one.hit(s).is_some() as u32 + two.hit(s).is_some() as u32;
            assert!(hits < 2);
            covered += hits;
        }
        assert_eq!(covered, 40 * 40);
    }

    #[test]
    fn triangle_depth_is_perspective_correct_even_from_behind_the_eye() {
        let view = view();
        // The floor y = -1 runs from behind the camera to far away.
        let corners = [
            Vec3::new(-50.0, -1.0, -5.0),
            Vec3::new(50.0, -1.0, -5.0),
            Vec3::new(0.0, -1.0, 500.0),
        ];
        let floor = Triangle::new(&view, corners, [Vec3::Y; 3], [0, 0]).unwrap();
        for y in [60.5, 75.5, 99.5] {
            let pixel = Vec2::new(100.0, y);
            let expected = -1.0 / view.ray(pixel).y;
            let depth = floor.hit(pixel).unwrap();
            assert!((depth / expected - 1.0).abs() < 1e-5);
            assert!((floor.surface(pixel).1 - Vec3::Y).length() < 1e-6);
        }
        assert!(floor.hit(Vec2::new(100.0, 20.0)).is_none());
    }
}
