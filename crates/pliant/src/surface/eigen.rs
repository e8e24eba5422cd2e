//! Eigenvalues and eigenvectors of symmetric 3x3 matrices.

use glam::{Mat3, Vec3};

/// Eigenvalues and, as columns, unit eigenvectors of the symmetric matrix with
/// the entries xx, yy, zz, xy, xz, yz, by Jacobi's rotations. The columns form a
/// rotation; values are in no order.
pub(crate) fn symmetric_eigen(m: [f32; 6]) -> (Vec3, Mat3) {
    let [xx, yy, zz, xy, xz, yz] = m.map(f64::from);
    let mut a = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
    let mut v = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let scale = xx.abs().max(yy.abs()).max(zz.abs());
    // Convergence is quadratic: a handful of sweeps reaches rounding.
    for _ in 0..8 {
        let off = a[0][1].abs() + a[0][2].abs() + a[1][2].abs();
        if off <= 1e-12 * scale {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            for row in &mut a {
                (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
            }
            let (ap, aq) = (a[p], a[q]);
            for k in 0..3 {
                a[p][k] = c * ap[k] - s * aq[k];
                a[q][k] = s * ap[k] + c * aq[k];
            }
            for row in &mut v {
                (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
            }
        }
    }
    let column = |k: usize| Vec3::new(v[0][k] as f32, v[1][k] as f32, v[2][k] as f32);
    (
        Vec3::new(a[0][0] as f32, a[1][1] as f32, a[2][2] as f32),
        Mat3::from_cols(column(0), column(1), column(2)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_vectors_rebuild_the_matrix() {
        let cases = [
            [2.0, 3.0, 5.0, 0.5, -0.25, 1.0],
            [1.0, 1.0, 1.0, 0.0, 0.0, 0.0],
            [4.0, 4.0, 1.0, 3.9, 0.0, 0.0],
            [0.0; 6],
        ];
        for m in cases {
            let (values, axes) = symmetric_eigen(m);
            assert!((axes.transpose() * axes).abs_diff_eq(Mat3::IDENTITY, 1e-5));
            let back = axes * Mat3::from_diagonal(values) * axes.transpose();
            let [xx, yy, zz, xy, xz, yz] = m;
            let whole = Mat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]);
            assert!(back.abs_diff_eq(whole, 1e-5), "{back} {whole}");
        }
    }
}
