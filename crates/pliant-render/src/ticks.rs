//! Round numbers for axes, and how they are written.

/// The largest of 1, 2, 5 times a power of ten that is not above `rough`,
/// or 1 if `rough` is no positive number.
pub(crate) fn nice_step(rough: f64) -> f64 {
    if !(rough.is_finite() && rough > 0.0) {
        return 1.0;
    }
    let power = 10f64.powf(rough.log10().floor());
    let lead = rough / power;
    let nice = if lead >= 5.0 {
        5.0
    } else if lead >= 2.0 {
        2.0
    } else {
        1.0
    };
    nice * power
}

/// Values to mark between `low` and `high`, about `count` of them, multiples of
/// a round step.
pub(crate) fn linear_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let span = high - low;
    if !(span.is_finite() && span > 0.0) {
        return Vec::new();
    }
    let mut step = nice_step(span / count.max(1) as f64);
    if span / step > 1.35 * count as f64 {
        step = nice_step(step * 2.6);
    }
    let first = (low / step - 1e-9).ceil();
    let last = (high / step + 1e-9).floor();
    // Multiples of the step beyond 2^53 cannot be told apart: no ticks then.
    if !(0.0..=1000.0).contains(&(last - first)) || first.abs() > 9e15 {
        return Vec::new();
    }
    // Adding 0 turns -0 into 0.
    (0..=(last - first) as i64)
        .map(|k| (first + k as f64) * step + 0.0)
        .collect()
}

/// Powers of ten between `low` and `high` (both positive); if there are fewer
/// than two, their multiples by 2 and 5 as well.
pub(crate) fn log_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    if !(low > 0.0 && high.is_finite() && high > low) {
        return Vec::new();
    }
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = (last - first).max(1) as usize;
    let every = decades.div_ceil(count.max(1)) as i32;
    let inside = |v: &f64| *v >= low * (1.0 - 1e-9) && *v <= high * (1.0 + 1e-9);
    let powers = |leads: &[f64]| -> Vec<f64> {
        (first..=last)
            .filter(|p| p % every == 0)
            .flat_map(|p| leads.iter().map(move |lead| lead * 10f64.powi(p)))
            .filter(inside)
            .collect()
    };
    let sparse = powers(&[1.0]);
    if sparse.len() >= 3 {
        sparse
    } else {
        powers(&[1.0, 2.0, 5.0])
    }
}

/// A number as an axis label: plain if short, else with an exponent. `step` is
/// the distance to the next label and sets the digits.
pub(crate) fn label(value: f64, step: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let size = value.abs().max(step.abs());
    if !(1e-4..1e6).contains(&size) {
        let power = value.abs().log10().floor();
        let lead = value / 10f64.powf(power);
        let digits = (power - step.abs().log10().floor()).clamp(0.0, 6.0) as usize;
        let lead = trimmed(format!("{lead:.digits$}"));
        return format!("{lead}e{power}");
    }
    let digits = (-(step.abs().log10() + 1e-9).floor()).clamp(0.0, 9.0) as usize;
    trimmed(format!("{value:.digits$}"))
}

/// A single number with three significant digits, more before the point if it
/// needs them.
pub(crate) fn short(value: f64) -> String {
    if !value.is_finite() {
        return format!("{value}");
    }
    let step = 10f64
        .powf(value.abs().max(1e-300).log10().floor() - 2.0)
        .min(1.0);
    label((value / step).round() * step, step)
}

fn trimmed(number: String) -> String {
    if !number.contains('.') {
        return number;
    }
    number
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!(nice_step(0.13), 0.1);
        assert_eq!(nice_step(4.9), 2.0);
        assert_eq!(nice_step(70.0), 50.0);
        assert_eq!(nice_step(f64::NAN), 1.0);
    }

    #[test]
    fn ticks_cover_the_range_at_round_values() {
        assert_eq!(linear_ticks(0.0, 10.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(linear_ticks(-0.3, 0.3, 6).len(), 7);
        assert_eq!(log_ticks(1.0, 1000.0, 6), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(log_ticks(2.0, 30.0, 6), [2.0, 5.0, 10.0, 20.0]);
        assert!(linear_ticks(1e300, 1.0000001e300, 5).len() < 20);
    }

    #[test]
    fn labels_have_the_digits_of_their_step() {
        assert_eq!(label(0.30000000000000004, 0.1), "0.3");
        assert_eq!(label(1500.0, 500.0), "1500");
        assert_eq!(label(2e7, 1e7), "2e7");
        assert_eq!(label(-2.5e-6, 5e-7), "-2.5e-6");
        assert_eq!(short(0.123456), "0.123");
        assert_eq!(short(1234.4), "1234");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(f64::NAN), "NaN");
    }
}
