//! Smooth curves through points, and frames that follow them without twisting.

use glam::{DVec3, Vec3};

/// The natural cubic spline through a row of points, its parameter running by
/// the distance between them. Curvature is continuous.
pub(super) struct Spline {
    knots: Vec<f64>,
    points: Vec<DVec3>,
    /// Second derivatives at the points.
    bends: Vec<DVec3>,
}

impl Spline {
    /// Needs at least two points, no two neighbours equal.
    pub(super) fn through(points: &[Vec3]) -> Spline {
        let points: Vec<DVec3> = points.iter().map(|p| p.as_dvec3()).collect();
        let mut knots = vec![0.0];
        for w in points.windows(2) {
            knots.push(knots[knots.len() - 1] + w[0].distance(w[1]));
        }
        // The bends solve a tridiagonal system (de Boor 1978, ch. IV), here by
        // elimination forwards and substitution backwards.
        let n = points.len();
        let mut bends = vec![DVec3::ZERO; n];
        let mut ratio = vec![0.0; n];
        for i in 1..n - 1 {
            let (h, k) = (knots[i] - knots[i - 1], knots[i + 1] - knots[i]);
            let jump = (points[i + 1] - points[i]) / k - (points[i] - points[i - 1]) / h;
            let pivot = 2.0 * (h + k) - h * ratio[i - 1];
            ratio[i] = k / pivot;
            bends[i] = (6.0 * jump - h * bends[i - 1]) / pivot;
        }
        for i in (1..n - 1).rev() {
            bends[i] = bends[i] - ratio[i] * bends[i + 1];
        }
        Spline {
            knots,
            points,
            bends,
        }
    }

    /// The point's number and the fraction towards the next one, at parameter `t`.
    fn span(&self, t: f64) -> (usize, f64) {
        let last = self.knots.len() - 2;
        let i = self.knots.partition_point(|&k| k <= t).saturating_sub(1);
        let i = i.min(last);
        (i, (t - self.knots[i]) / (self.knots[i + 1] - self.knots[i]))
    }

    fn at(&self, t: f64) -> DVec3 {
        let (i, b) = self.span(t);
        let a = 1.0 - b;
        let h2 = (self.knots[i + 1] - self.knots[i]).powi(2);
        a * self.points[i]
            + b * self.points[i + 1]
            + h2 / 6.0 * ((a * a * a - a) * self.bends[i] + (b * b * b - b) * self.bends[i + 1])
    }

    /// Samples so dense that straight lines between them stand for the curve.
    pub(super) fn samples(&self, per_span: usize) -> Vec<CurveSample> {
        let spans = self.points.len() - 1;
        let mut out: Vec<CurveSample> = Vec::with_capacity(spans * per_span + 1);
        for i in 0..=spans * per_span {
            let position = i as f64 / per_span as f64;
            let span = (i / per_span).min(spans - 1);
            let fraction = position - span as f64;
            let t = self.knots[span] + fraction * (self.knots[span + 1] - self.knots[span]);
            let point = self.at(t);
            let arc = out.last().map_or(0.0, |s| s.arc + s.point.distance(point));
            out.push(CurveSample {
                arc,
                position,
                point,
            });
        }
        out
    }
}

/// A point of a curve.
#[derive(Clone, Copy)]
pub(super) struct CurveSample {
    /// Length of the curve up to here, in metres.
    pub arc: f64,
    /// Which control point this is, with the fraction towards the next.
    pub position: f64,
    /// Where it is.
    pub point: DVec3,
}

/// The sample at length `arc`, between the two nearest of `samples`.
pub(super) fn sample_at(samples: &[CurveSample], arc: f64) -> CurveSample {
    let after = samples.partition_point(|s| s.arc < arc);
    let after = after.clamp(1, samples.len() - 1);
    let (a, b) = (samples[after - 1], samples[after]);
    let f = ((arc - a.arc) / (b.arc - a.arc)).clamp(0.0, 1.0);
    CurveSample {
        arc: a.arc + f * (b.arc - a.arc),
        position: a.position + f * (b.position - a.position),
        point: a.point.lerp(b.point, f),
    }
}

/// A right-handed frame on a curve: `normal` x `binormal` = `tangent`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub point: Vec3,
    pub tangent: Vec3,
    pub normal: Vec3,
    pub binormal: Vec3,
}

/// Frames along points with given tangents that turn about the curve as little as
/// possible, by double reflection (Wang et al. 2008, "Computation of rotation
/// minimizing frames", table I).
pub(super) fn frames(points: &[Vec3], tangents: &[Vec3]) -> Vec<Frame> {
    let mut out: Vec<Frame> = Vec::with_capacity(points.len());
    for (&point, &tangent) in points.iter().zip(tangents) {
        let normal = match out.last() {
            None => tangent.any_orthonormal_vector(),
            Some(before) => {
                let step = point - before.point;
                let reflect = |v: Vec3, axis: Vec3| {
                    let length = axis.length_squared();
                    if length > 0.0 {
                        v - 2.0 / length * axis.dot(v) * axis
                    } else {
                        v
                    }
                };
                let halfway = reflect(before.tangent, step);
                let normal = reflect(reflect(before.normal, step), tangent - halfway);
                // Rounding must not add up along the curve.
                (normal - normal.dot(tangent) * tangent).normalize()
            }
        };
        out.push(Frame {
            point,
            tangent,
            normal,
            binormal: tangent.cross(normal),
        });
    }
    out
}

/// Unit tangents by central differences.
pub(super) fn tangents(points: &[Vec3]) -> Vec<Vec3> {
    let last = points.len() - 1;
    (0..=last)
        .map(|i| (points[(i + 1).min(last)] - points[i.saturating_sub(1)]).normalize_or(Vec3::Y))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spline_passes_through_its_points_smoothly() {
        let points = [
            Vec3::ZERO,
            Vec3::new(1.0, 0.5, 0.0),
            Vec3::new(1.5, 2.0, 1.0),
            Vec3::new(0.0, 3.0, 1.0),
        ];
        let spline = Spline::through(&points);
        for (p, &k) in points.iter().zip(&spline.knots) {
            assert!(spline.at(k).distance(p.as_dvec3()) < 1e-12);
        }
        // First and second derivatives agree on both sides of the inner knots.
        let e = 1e-4;
        for &k in &spline.knots[1..3] {
            let slope = |t: f64| (spline.at(t + e) - spline.at(t - e)) / (2.0 * e);
            let bend = |t: f64| (slope(t + e) - slope(t - e)) / (2.0 * e);
            assert!(slope(k - 2.0 * e).distance(slope(k + 2.0 * e)) < 4e-3);
            assert!(bend(k - 3.0 * e).distance(bend(k + 3.0 * e)) < 1e-2);
        }
    }

    #[test]
    fn samples_measure_a_straight_line() {
        let spline = Spline::through(&[Vec3::ZERO, Vec3::X, 3.0 * Vec3::X]);
        let samples = spline.samples(10);
        assert!((samples[20].arc - 3.0).abs() < 1e-9);
        let s = sample_at(&samples, 2.0);
        assert!((s.position - 1.5).abs() < 1e-9 && (s.point.x - 2.0).abs() < 1e-9);
        assert_eq!(sample_at(&samples, 99.0).arc, samples[20].arc);
    }

    #[test]
    fn frames_on_a_circle_do_not_twist() {
        let n = 200;
        let points: Vec<Vec3> = (0..=n)
            .map(|i| {
                let a = 3.0 * i as f32 / n as f32;
                Vec3::new(a.cos(), a.sin(), 0.0)
            })
            .collect();
        let frames = frames(&points, &tangents(&points));
        // The part of the normal along the circle's axis never changes.
        let kept = frames[0].normal.z;
        for f in &frames {
            assert!((f.normal.z - kept).abs() < 1e-4);
            assert!(f.normal.cross(f.binormal).distance(f.tangent) < 1e-5);
            assert!((f.normal.length() - 1.0).abs() < 1e-5);
        }
    }
}
