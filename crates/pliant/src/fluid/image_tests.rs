//! Images beside those that are found pair by pair.

use glam::Vec3A;

use super::{block, bowl, corner, prepared};
use crate::fluid::corner::SAME_WALL;
use crate::fluid::images::{ChunkImages, Sums};
use crate::fluid::test_random::Random;
use crate::fluid::walls::{Mirror, Walls};
use crate::fluid::{CHUNK, Fluid};
use crate::simd::{Lanes, Portable};

/// Images of the first chunk, with what they add to fullness, share, squares and closing.
fn found<L: Lanes>(l: L, fluid: &Fluid) -> (ChunkImages, [Vec<f32>; 4]) {
    let solver = fluid.solver.as_ref().unwrap();
    let scene = solver.images.scene(&fluid.walls, &solver.kernel);
    let n = fluid.len().min(CHUNK);
    let mut sums = [(); 4].map(|()| vec![0.0; n]);
    let [fullness, share, squares, closing] = &mut sums;
    let mut images = ChunkImages::default();
    let added = Sums {
        fullness,
        share,
        squares,
        closing,
    };
    images.find_with(l, 0, &solver.pairs.chunks[0], scene, added);
    (images, sums)
}

/// Liquid before walls that move, of which some grip less than others, some have something
/// beyond them, and two of the same obstacle may look nearly the same way.
fn scenes() -> Vec<Fluid> {
    let mut scenes = Vec::new();
    for (walls, turned) in [(corner(), 0.0), (corner(), 0.8), (bowl(), 0.4)] {
        let mut fluid = prepared(&block(6, 0.3, 1.0), &walls);
        let mut random = Random(3);
        for c in 0..fluid.walls.chunks.len() {
            for k in 0..fluid.walls.chunks[c].len() {
                for mirror in fluid.walls.chunks[c].of_mut(k) {
                    let wall = &mut mirror.wall;
                    wall.normal = (wall.normal + turned * random.vector()).normalize();
                    wall.velocity = random.vector();
                    wall.drag = 0.8 + 0.2 * random.next();
                    mirror.backed = random.next() < -0.8;
                    mirror.obstacle /= 2;
                }
            }
        }
        let n = fluid.len();
        let Fluid { solver, walls, .. } = &mut fluid;
        let solver = solver.as_mut().unwrap();
        let mut sums = [(); 4].map(|()| vec![0.0; n]);
        let [fullness, share, squares, closing] = &mut sums;
        let added = Sums {
            fullness,
            share,
            squares,
            closing,
        };
        let (x, kernel) = (&solver.x, &solver.kernel);
        solver.images.find(x, &solver.pairs, walls, kernel, added);
        scenes.push(fluid);
    }
    scenes
}

/// The one of `walls` that is most likely the same wall as `mirror`, if any is.
fn best_match(mirror: &Mirror, walls: &[Mirror]) -> Option<usize> {
    let (mut best, mut found) = (SAME_WALL, None);
    for (k, wall) in walls.iter().enumerate() {
        let alike = wall.wall.normal.dot(mirror.wall.normal);
        let backed = wall.backed || mirror.backed;
        if alike > best && wall.obstacle == mirror.obstacle && !backed {
            (best, found) = (alike, Some(k));
        }
    }
    found
}

/// An image: neighbour, walls, both gradients, lift, slope.
type Plain = (u32, Vec<(usize, usize)>, Vec3A, Vec3A, [f32; 3], f32);

/// The images of `j` that `i` sees, and what they add to fullness, share, squares and closing.
fn plain(
    fluid: &Fluid,
    walls: &Walls,
    (i, j, direct): (usize, usize, f32),
) -> (Vec<Plain>, [f32; 4]) {
    let solver = fluid.solver.as_ref().unwrap();
    let (x, h) = (&solver.x, solver.kernel.support_radius);
    let (own, other) = (walls.of(i), walls.of(j));
    let shared: Vec<(usize, usize)> = (0..own.len())
        .filter_map(|k| {
            let l = best_match(&own[k], other)?;
            (best_match(&other[l], own) == Some(k)).then_some((k, l))
        })
        .collect();
    let d = x[i] - x[j];
    let (mut images, mut sums, mut others) = (Vec::new(), [0.0; 4], Vec3A::ZERO);
    for set in 1usize..1 << shared.len() {
        let chosen = (0..shared.len()).filter(|k| set >> k & 1 == 1);
        let matched: Vec<(usize, usize)> = chosen.map(|k| shared[k]).collect();
        let (mut r_squared, mut closing, mut weight) = (d.length_squared(), 0.0, 1.0);
        let (mut to_image, mut from_image, mut lift) = (d, -d, [0.0; 3]);
        for &(k, l) in &matched {
            let (a, b) = (&own[k].wall, &other[l].wall);
            r_squared += 4.0 * a.distance * b.distance;
            to_image += 2.0 * b.distance * Vec3A::from(a.normal);
            from_image += 2.0 * a.distance * Vec3A::from(b.normal);
            closing -= 2.0 * b.distance * a.normal.dot(a.velocity);
            closing -= 2.0 * a.distance * b.normal.dot(b.velocity);
            lift[k] = 2.0 * b.distance;
            weight *= (a.drag * b.drag).sqrt();
        }
        if r_squared >= h * h {
            continue;
        }
        let (value, slope) = solver.kernel.volume_value_and_slope(r_squared);
        let slope = weight * slope;
        sums[0] += weight * value;
        sums[1] -= slope * r_squared / 3.0;
        sums[3] += slope * closing;
        others += slope * from_image;
        let (own, other) = (slope * to_image, slope * from_image);
        let lift = lift.map(|l| slope * l);
        images.push((j as u32, matched, own, other, lift, slope));
    }
    if j != i {
        sums[2] = others.dot(others - 2.0 * direct * d);
    }
    (images, sums)
}

#[test]
fn images_are_those_of_single_pairs() {
    let (mut corners, mut most) = (0, 0);
    for fluid in scenes() {
        let solver = fluid.solver.as_ref().unwrap();
        let (images, sums) = found(Portable, &fluid);
        let steep = solver.kernel.slope;
        let long = steep * solver.kernel.support_radius;
        for k in 0..fluid.len().min(CHUNK) {
            let (mut expected, mut added, mut sum) = (Vec::new(), [0.0; 4], Vec3A::ZERO);
            let backing = fluid.walls.chunks[0].backing(k);
            assert_eq!(backing.share, 0.0);
            let (near, slope) = solver.pairs.chunks[0].of(k);
            for (&j, &direct) in near.iter().zip(slope) {
                let (images, sums) = plain(&fluid, &fluid.walls, (k, j as usize, direct));
                expected.extend(images);
                (0..4).for_each(|s| added[s] += sums[s]);
            }
            let seen = images.of(k);
            let mut got: Vec<Plain> = (0..seen.neighbour.len())
                .map(|m| {
                    let matched = seen.matched[m].iter().collect();
                    let (own, other) = (seen.own[m], seen.other[m]);
                    let (lift, slope) = (seen.lift[m], seen.slope[m]);
                    (seen.neighbour[m], matched, own, other, lift, slope)
                })
                .collect();
            // At the edge of the kernel rounding decides, and nothing is to be seen.
            for list in [&mut expected, &mut got] {
                list.retain(|image| image.5.abs() > 1e-6 * steep);
                list.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
            }
            assert_eq!(got.len(), expected.len(), "{k}");
            for (a, b) in got.iter().zip(&expected) {
                assert_eq!((a.0, &a.1), (b.0, &b.1), "{k}");
                assert!((a.2 - b.2).length() < 1e-5 * long, "{k}: {a:?} {b:?}");
                assert!((a.3 - b.3).length() < 1e-5 * long, "{k}: {a:?} {b:?}");
                let lifts = a.4.iter().zip(b.4);
                assert!(lifts.clone().all(|(a, b)| (a - b).abs() < 1e-5 * long));
                assert!((a.5 - b.5).abs() < 1e-5 * steep, "{k}: {a:?} {b:?}");
                sum += b.2;
                corners += usize::from(a.1.len() > 1);
                most = most.max(a.1.len());
            }
            assert!((seen.sum - sum).length() < 1e-4 * long, "{k}");
            let sizes = [1.0, 1.0, long * long, long];
            for s in 0..4 {
                let off = (sums[s][k] - added[s]).abs();
                assert!(off < 3e-5 * sizes[s], "{k} {s}: {off} {}", added[s]);
            }
        }
    }
    assert!(corners > 50 && most == 3, "{corners} {most}");
}

/// Images are the same to the bit whatever instructions the processor has.
#[cfg(target_arch = "x86_64")]
#[test]
fn images_are_the_same_on_all_processors() {
    let same = |a: &(ChunkImages, [Vec<f32>; 4]), b: &(ChunkImages, [Vec<f32>; 4])| {
        assert!(a.1 == b.1);
        assert!((0..a.1[0].len()).all(|k| a.0.of(k) == b.0.of(k)));
    };
    for fluid in scenes() {
        let portable = found(Portable, &fluid);
        let solver = fluid.solver.as_ref().unwrap();
        same(
            &(solver.images.chunks[0].clone(), portable.1.clone()),
            &portable,
        );
        if let Some(avx2) = crate::simd::Avx2::detect() {
            same(&found(avx2, &fluid), &portable);
        }
        if let Some(avx512) = crate::simd::Avx512::detect() {
            same(&found(avx512, &fluid), &portable);
        }
    }
}
