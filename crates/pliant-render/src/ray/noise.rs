//! Numbers that look random and depend on nothing but where they are asked for.

/// Numbers of a stream that are spread evenly over the samples of a pixel; those
/// after them are independent.
const SPREAD: usize = 6;
/// Steps from sample to sample: powers of the golden ratio's relative in six
/// dimensions (Roberts 2018).
const STEPS: [f64; SPREAD] = [
    0.898_653_717,
    0.807_578_503,
    0.725_733_424,
    0.652_183_039,
    0.586_086_719,
    0.526_689_015,
];

/// A stream of numbers for one sample of one pixel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noise {
    state: u32,
    pixel: u32,
    sample: u32,
    taken: u32,
}

impl Noise {
    /// The stream of sample `sample` at this pixel.
    pub fn new(x: u32, y: u32, sample: u32) -> Noise {
        let pixel = x
            .wrapping_mul(0x9e37_79b1)
            .wrapping_add(y.wrapping_mul(0x85eb_ca77));
        Noise {
            state: mix(pixel.wrapping_add(sample.wrapping_mul(0xc2b2_ae3d))),
            pixel: mix(pixel ^ 0x5bd1_e995),
            sample,
            taken: 0,
        }
    }

    /// The next number from 0 up to but not including 1.
    pub fn next(&mut self) -> f32 {
        let k = self.taken;
        self.taken = k.saturating_add(1);
        if let Some(step) = STEPS.get(k as usize) {
            let shift = unit(mix(self.pixel.wrapping_add(k.wrapping_mul(0x6d2b_79f5))));
            let place = f64::from(shift) + step * f64::from(self.sample);
            // Rounding to f32 must not give 1.
            return ((place - place.floor()) as f32).min(0.999_999_9);
        }
        self.state = self.state.wrapping_add(0x6d2b_79f5);
        unit(mix(self.state))
    }

    /// True if no number was asked for: the sample was no matter of chance.
    pub fn is_untouched(&self) -> bool {
        self.taken == 0
    }

    /// The next number of a bell curve with mean 0 and deviation 1 (Box & Muller
    /// 1958).
    pub fn normal(&mut self) -> f32 {
        let radius = (-2.0 * (1.0 - self.next()).ln()).sqrt();
        radius * (std::f32::consts::TAU * self.next()).cos()
    }
}

/// A word as a number from 0 up to but not including 1.
fn unit(word: u32) -> f32 {
    (word >> 8) as f32 / 16_777_216.0
}

/// Spreads the bits of a word over all of it (Steele et al. 2014, in 32 bits).
fn mix(mut v: u32) -> u32 {
    v = (v ^ v >> 16).wrapping_mul(0x21f0_aaad);
    v = (v ^ v >> 15).wrapping_mul(0x735a_2d97);
    v ^ v >> 15
}

/// Sample `k` of a pixel, spread evenly over the unit square by the golden ratio's
/// relative in two dimensions (Roberts 2018), shifted by `shift`.
pub(crate) fn spread(k: u32, shift: [f32; 2]) -> [f32; 2] {
    let wrap = |v: f64| (v - v.floor()) as f32;
    [
        wrap(f64::from(shift[0]) + 0.754_877_666 * f64::from(k)),
        wrap(f64::from(shift[1]) + 0.569_840_291 * f64::from(k)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fill_their_range_evenly() {
        let mut noise = Noise::new(3, 5, 7);
        let n = 20_000;
        let values: Vec<f32> = (0..n).map(|_| noise.next()).collect();
        let mean = values.iter().sum::<f32>() / n as f32;
        assert!((mean - 0.5).abs() < 0.01 && values.iter().all(|v| (0.0..1.0).contains(v)));
        let bell: Vec<f32> = (0..n).map(|_| noise.normal()).collect();
        let mean = bell.iter().sum::<f32>() / n as f32;
        let variance = bell.iter().map(|v| v * v).sum::<f32>() / n as f32;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05);
        assert_ne!(Noise::new(1, 2, 3).next(), Noise::new(2, 1, 3).next());
    }

    #[test]
    fn spread_samples_keep_their_distance() {
        let samples: Vec<[f32; 2]> = (0..16).map(|k| spread(k, [0.3, 0.9])).collect();
        for (i, a) in samples.iter().enumerate() {
            for b in &samples[..i] {
                let d = ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt();
                assert!(d > 0.1, "{a:?} {b:?}");
            }
        }
    }
}
