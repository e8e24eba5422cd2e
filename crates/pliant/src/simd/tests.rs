use super::*;

fn exercise<L: Lanes>(l: L, a: &[f32], b: &[f32]) -> Vec<u32> {
    // SAFETY: both inputs hold at least eight numbers.
    let (x, y) = unsafe { (l.load(a, 0), l.load(b, 0)) };
    let mask = l.and(l.less(x, y), l.first(5));
    let values = [
        l.add(x, y),
        l.sub(x, y),
        l.mul(x, y),
        l.div(x, y),
        l.sqrt(l.mul(x, x)),
        l.max(x, y),
        l.min(x, y),
        l.select(x, y, mask),
        l.keep(x, mask),
        l.splat(a[3]),
    ];
    let mut bits: Vec<u32> = values.iter().map(|&v| l.sum(v).to_bits()).collect();
    bits.push(u32::from(l.any(mask)));
    bits.push(l.bits(mask));
    let (mut packed, mut index) = ([0.0; 16], [0; 16]);
    // SAFETY: both hold sixteen.
    let n = unsafe { l.pack(x, mask, 40, &mut packed, &mut index, 3) };
    bits.push(n as u32);
    bits.extend(packed[3..3 + n].iter().map(|v| v.to_bits()));
    bits.extend(&index[3..3 + n]);
    let numbers = [9, 3, 5, 0, 7, 1, 8, 2];
    // SAFETY: both hold sixteen.
    let n = unsafe { l.pack_numbered(y, mask, &numbers, &mut packed, &mut index, 2) };
    bits.push(n as u32);
    bits.extend(packed[2..2 + n].iter().map(|v| v.to_bits()));
    bits.extend(&index[2..2 + n]);
    // SAFETY: sixteen again.
    unsafe { l.store(y, &mut packed, 8) };
    bits.extend(packed[8..].iter().map(|v| v.to_bits()));
    let columns = l.columns([x, y, values[0], values[1], values[2], x, y, values[6]]);
    for column in columns {
        // SAFETY: sixteen again.
        unsafe { l.store(column, &mut packed, 0) };
        bits.extend(packed[..8].iter().map(|v| v.to_bits()));
    }
    let mut sums = [[0.5; 4]; 6];
    let quads = l.quads([x, y, values[1]]);
    // SAFETY: all rows are below six.
    unsafe { l.add_quads(quads, &mut sums, &[0, 1, 1, 5, 4, 2, 0, 5]) };
    unsafe { l.sub_quads(quads, &mut sums, &[3, 3, 3, 2, 1, 0, 1, 2]) };
    bits.extend(sums.as_flattened().iter().map(|v| v.to_bits()));
    let rows = [5, 0, 3, 3, 1, 2, 4, 0];
    // SAFETY: all rows are below six.
    let gathered = unsafe { l.gather(&sums, &rows) };
    for v in gathered {
        bits.extend(l.to_array(v).map(f32::to_bits));
    }
    let vectors = l.to_vectors([x, l.numbers(&l.to_array(y)), values[0]]);
    // SAFETY: all rows are below eight.
    let turned = unsafe { l.gather_vectors(&vectors, &[7, 6, 5, 4, 3, 2, 1, 0]) };
    for v in turned.into_iter().chain(l.vectors(&vectors)) {
        bits.extend(l.to_array(v).map(f32::to_bits));
    }
    let axes = [x, y, values[1]].map(|v| l.to_array(v).repeat(5));
    let points = Xyz {
        x: &axes[0],
        y: &axes[1],
        z: &axes[2],
    };
    for range in [0..32, 3..20, 7..8, 5..5] {
        let (mut squares, mut index) = ([0.0; 50], [0; 50]);
        let reach = (Vec3::new(a[0], b[0], 0.5), 40.0);
        // SAFETY: forty points, and room for fifty.
        let end =
            unsafe { l.pack_near(points, range, reach, (&mut squares[..], &mut index[..]), 1) };
        bits.extend(squares[1..end].iter().map(|v| v.to_bits()));
        bits.extend(&index[1..end]);
    }
    let rows: Vec<Row> = sums.map(|s| Row(s.map(f64::from))).to_vec();
    let weights = l.to_array(x);
    // SAFETY: all rows are below six.
    let first = unsafe { l.weighted_rows(&rows, &[5, 0, 3, 3, 1, 2, 4, 0], &weights) };
    let more = unsafe { l.weighted_rows(&rows, &[1, 1, 2, 0, 5, 4, 3, 2], &weights) };
    for keep in [false, true] {
        let sum = l.go_on(l.go_on(l.no_rows(), true, first), keep, more);
        for v in l.total(sum).0 {
            bits.extend([v.to_bits() as u32, (v.to_bits() >> 32) as u32]);
        }
    }
    bits
}

#[cfg(target_arch = "x86_64")]
#[test]
fn all_lanes_agree_to_the_bit() {
    let mut seed = 1u32;
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / 1e6 - 8.0
    };
    for _ in 0..1000 {
        let a: Vec<f32> = (0..8).map(|_| next()).collect();
        let b: Vec<f32> = (0..8).map(|_| next()).collect();
        let portable = exercise(Portable, &a, &b);
        if let Some(avx2) = Avx2::detect() {
            assert_eq!(exercise(avx2, &a, &b), portable);
        }
        if let Some(avx512) = Avx512::detect() {
            assert_eq!(exercise(avx512, &a, &b), portable);
        }
    }
}

#[test]
fn first_sets_that_many_lanes() {
    for n in 0..=8 {
        let kept = Portable.keep(Portable.splat(1.0), Portable.first(n));
        assert_eq!(Portable.sum(kept), n as f32);
    }
}
