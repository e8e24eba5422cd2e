//! How far, and which way, an iteration of the pressure equations goes.
//!
//! Conjugate gradients whose steps are made before it is known how long they should be. What a
//! direction does to the compressions is known only when the liquid has been pushed along it,
//! so every iteration goes a part of the way at once; then the best length of that direction
//! follows, and what is missing, or too much, is made good together with the next step.
//! Compared with Nesterov's extrapolation, which was here before, that saves up to two
//! iterations in five, most where bodies give way to a liquid that they enclose.
//!
//! Pressures that would be negative are cut off, and what has been cut off is not part of the
//! direction (`correction.rs`): otherwise the answer belongs to another direction, and beside
//! bodies much lighter than the liquid the iterations run away.

/// Sums over all particles in one iteration, and over those that have pressure or need it
/// where `q` occurs twice or with `e`. `e` is the compression, `d` the direction of the last
/// step, `q` how much compression a step along it takes away, `w` the step in pressure that
/// the diagonal of the equations asks for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    /// Compression left, and the room that pressure makes which is not needed any more.
    pub compression: f64,
    pub surplus: f64,
    /// `Σ d e`, `Σ d q`, `Σ w e q`, `Σ w q²`.
    pub along: f64,
    pub stiffness: f64,
    pub mixed: f64,
    pub answered: f64,
}

impl Sums {
    /// What is left to do: compression and surplus count each for itself, so that neither hides
    /// behind the noise of the other.
    pub fn left(&self) -> f64 {
        self.compression.max(self.surplus)
    }

    pub fn plus(self, other: &Sums) -> Sums {
        Sums {
            compression: self.compression + other.compression,
            surplus: self.surplus + other.surplus,
            along: self.along + other.along,
            stiffness: self.stiffness + other.stiffness,
            mixed: self.mixed + other.mixed,
            answered: self.answered + other.answered,
        }
    }
}

/// How far every direction is followed at first. The best lengths are around 1; what is left
/// of the compressions is least, on average, a little before.
const AT_ONCE: f32 = 0.7;

/// The shortest first part of the way.
const LEAST_AT_ONCE: f32 = 0.02;

/// More of the last direction is never kept. In exact conjugate gradients it would not be
/// needed; where pressures have just been cut off, the answer speaks of the past.
const MOST_KEPT: f64 = 2.0;

/// Where the next step goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// How much farther along the last direction.
    pub made_good: f32,
    /// How much of the last direction the next one keeps.
    pub kept: f32,
    /// How far along the next direction.
    pub at_once: f32,
}

impl Pace {
    /// The first step.
    pub const START: Pace = Pace {
        made_good: 0.0,
        kept: 0.0,
        at_once: AT_ONCE,
    };

    /// The next step after `last`, whose answer is known. The new direction is conjugate to the
    /// last, by the answer itself, so that it does not matter that bodies do not answer
    /// exactly. Where light bodies give way, the best lengths are far below 1; then the next
    /// direction is not followed farther than the last should have been.
    pub fn after(last: Pace, sums: &Sums) -> Pace {
        if sums.stiffness <= 0.0 {
            return Pace::START;
        }
        let made_good = sums.along / sums.stiffness;
        let kept = (made_good * sums.answered - sums.mixed) / sums.stiffness;
        let length = last.at_once + made_good as f32;
        Pace {
            made_good: made_good as f32,
            kept: kept.clamp(0.0, MOST_KEPT) as f32,
            at_once: length.clamp(LEAST_AT_ONCE, AT_ONCE),
        }
    }
}
