//! A body that breathes as a lung does (Mesit 2010, chapter 6).
//!
//! The volume to be reached follows the sigmoid pressure-volume curve of Venegas et
//! al. 1998. Mesit 2010 switches the amount of gas between two values; here every
//! sub-step finds the effort of the muscles that brings the volume there, as far as they
//! can.
//!
//! A lung is full of tissue, a foam whose pull on the surface grows with the volume, times
//! α. Springs of the surface alone do not do: a bag that is not round takes in a fifth more
//! without any of them getting longer, and has no reason to give it back. The chest around
//! it holds it open, the less the larger it is. Both are in balance at the volume of the
//! start; a normal breath is let out without effort, to where they are in balance again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Pa per cmH2O.
pub const CM_H2O: f32 = 98.0665;
/// m³ per litre.
const LITRE: f32 = 1e-3;
/// Time in which a missing volume is made up, in seconds.
const FOLLOWING: f32 = 0.04;

/// How a lung breathes. Volumes in litres, pressures in cmH2O as in medicine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Lung {
    /// Seconds of breathing in.
    pub inhale: f32,
    /// Seconds of breathing out.
    pub exhale: f32,
    /// Volume of a normal breath, b of the curve.
    pub tidal: f32,
    /// More that can be breathed in (IRV).
    pub inspiratory_reserve: f32,
    /// More that can be breathed out (ERV).
    pub expiratory_reserve: f32,
    /// After this many normal breaths one as deep as possible, in and out; none if left
    /// out.
    pub deep_breath_after: Option<u32>,
    /// Pressure of maximal compliance while breathing in.
    pub inhale_inflection: f32,
    /// Pressure of maximal compliance while breathing out.
    pub exhale_inflection: f32,
    /// Range of pressure with most of the change, d.
    pub range: f32,
    /// Pressure at the end of the inhalation; the curve is followed from 0 to here.
    pub span: f32,
    /// Measured curve in place of the sigmoid: pressure, volume while breathing in,
    /// volume while breathing out. The tidal volume is then that of the curve.
    #[serde(skip)]
    pub patient: Option<Vec<[f32; 3]>>,
    /// Pull of the tissue at the start, with which the chest is in balance.
    pub recoil: f32,
    /// Volume per pressure by which the tissue gives way, in l/cmH2O.
    pub compliance: f32,
    /// The same of the chest around it.
    pub chest_compliance: f32,
    /// Shear modulus of the tissue, in cmH2O: how it keeps its shape. Inflated lungs have
    /// about 0.7 of their recoil (Lai-Fook et al. 1976).
    pub shear: f32,
    /// α at which the tissue pulls as above; otherwise in proportion to it.
    pub balanced_at: f32,
    /// Largest pressure of the muscles beyond that of the chest.
    pub effort: f32,
    /// Resistance of the airways, in cmH2O s/l.
    pub resistance: f32,
    /// What ails it.
    pub condition: Condition,
}

impl Default for Lung {
    fn default() -> Self {
        Lung {
            inhale: 1.6,
            exhale: 2.4,
            tidal: 0.25,
            inspiratory_reserve: 1.5,
            expiratory_reserve: 0.6,
            deep_breath_after: None,
            inhale_inflection: 20.0,
            exhale_inflection: 10.0,
            range: 5.0,
            span: 40.0,
            patient: None,
            recoil: 5.0,
            compliance: 0.1,
            chest_compliance: 0.1,
            shear: 3.5,
            balanced_at: 1.0,
            effort: 25.0,
            resistance: 2.0,
            condition: Condition::Healthy,
        }
    }
}

/// What ails a lung.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// Nothing.
    #[default]
    Healthy,
    /// Stiff tissue: three times the pull, so that the lung is small and takes in less.
    Fibrosis,
    /// Floppy tissue: a third of it, so that the lung stays too full.
    Emphysema,
    /// A narrow airway: forty times the resistance.
    Obstruction,
}

impl Condition {
    /// Factor on the stiffness of the tissue.
    pub fn stiffness(self) -> f32 {
        match self {
            Condition::Fibrosis => 3.0,
            Condition::Emphysema => 1.0 / 3.0,
            Condition::Healthy | Condition::Obstruction => 1.0,
        }
    }

    /// Factor on the resistance of the airways.
    pub fn resistance(self) -> f32 {
        match self {
            Condition::Obstruction => 40.0,
            _ => 1.0,
        }
    }
}

/// Why a lung cannot breathe.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum LungError {
    /// A number is no good.
    #[error("`lung.{key}` is {value}, but must be {right}")]
    Number {
        /// Name of the setting.
        key: &'static str,
        /// Its value.
        value: f32,
        /// What would be right.
        right: &'static str,
    },
    /// A measured curve is no good.
    #[error("the patient's curve, line {line}: {problem}")]
    Curve {
        /// Line of the file.
        line: usize,
        /// What is wrong.
        problem: String,
    },
}

impl Lung {
    pub(super) fn check(&self) -> Result<(), LungError> {
        let positive = [
            ("inhale", self.inhale),
            ("exhale", self.exhale),
            ("tidal", self.tidal),
            ("range", self.range),
            ("span", self.span),
            ("compliance", self.compliance),
            ("chest_compliance", self.chest_compliance),
            ("balanced_at", self.balanced_at),
            ("effort", self.effort),
        ];
        let others = [
            ("inspiratory_reserve", self.inspiratory_reserve),
            ("expiratory_reserve", self.expiratory_reserve),
            ("inhale_inflection", self.inhale_inflection),
            ("exhale_inflection", self.exhale_inflection),
            ("recoil", self.recoil),
            ("shear", self.shear),
            ("resistance", self.resistance),
        ];
        let wrong = |key, value, right| Err(LungError::Number { key, value, right });
        for (key, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return wrong(key, value, "a finite number above 0");
            }
        }
        for (key, value) in others {
            if !(value >= 0.0 && value.is_finite()) {
                return wrong(key, value, "a finite number, 0 or more");
            }
        }
        Ok(())
    }

    /// Seconds of one breath.
    pub fn period(&self) -> f32 {
        self.inhale + self.exhale
    }

    /// Reads a measured curve: lines of pressure in cmH2O, volume while breathing in and
    /// volume while breathing out in litres, with rising pressures; a first line without
    /// numbers is a heading.
    pub fn read_curve(text: &str) -> Result<Vec<[f32; 3]>, LungError> {
        let mut curve: Vec<[f32; 3]> = Vec::new();
        let fault = |line: usize, problem: String| LungError::Curve { line, problem };
        for (k, line) in text.lines().enumerate() {
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            if line.trim().is_empty() || (k == 0 && cells[0].parse::<f32>().is_err()) {
                continue;
            }
            let numbers: Vec<f32> = cells
                .iter()
                .filter_map(|c| c.parse().ok().filter(|v: &f32| v.is_finite()))
                .collect();
            let &[pressure, inhale, exhale] = &numbers[..] else {
                let problem = "three numbers are needed: pressure, volume in, volume out";
                return Err(fault(k + 1, problem.into()));
            };
            if curve.last().is_some_and(|last| pressure <= last[0]) {
                return Err(fault(
                    k + 1,
                    format!("the pressure {pressure} does not rise"),
                ));
            }
            curve.push([pressure, inhale, exhale]);
        }
        match (curve.first(), curve.last()) {
            (Some(a), Some(b)) if b[1] > a[1] && b[2] > a[2] => Ok(curve),
            _ => Err(fault(
                0,
                "two lines or more with a rising volume are needed".into(),
            )),
        }
    }

    /// Share of the breath's volume that is in the lung when the share `x` of the
    /// inhalation (or exhalation) has passed: `V = a + b / (1 + exp(-(P - c) / d))` while
    /// P goes from 0 to `span`, or back, measured between its ends so that every breath
    /// closes.
    pub fn filled(&self, inhaling: bool, x: f32) -> f32 {
        let x = if inhaling { x } else { 1.0 - x };
        if let Some(curve) = &self.patient {
            let column = if inhaling { 1 } else { 2 };
            return measured(curve, column, x);
        }
        let c = if inhaling {
            self.inhale_inflection
        } else {
            self.exhale_inflection
        };
        let sigmoid = |p: f32| 1.0 / (1.0 + (-(p - c) / self.range).exp());
        let (low, high) = (sigmoid(0.0), sigmoid(self.span));
        (sigmoid(self.span * x) - low) / (high - low)
    }

    /// Pa by which the tissue of a lung and the chest around it answer to a m³: of the
    /// chest, of the tissue.
    pub(super) fn elastances(&self) -> [f32; 2] {
        [self.chest_compliance, self.compliance].map(|c| CM_H2O / (LITRE * c))
    }

    /// Pressure lost per flow in the airways, in Pa s/m³.
    pub(super) fn airway_resistance(&self) -> f32 {
        CM_H2O / LITRE * self.resistance * self.condition.resistance()
    }

    /// Volume of a normal breath in m³.
    pub fn tidal_volume(&self) -> f32 {
        let measured = self.patient.as_ref().and_then(|c| {
            let (first, last) = (c.first()?, c.last()?);
            Some(last[1] - first[1])
        });
        LITRE * measured.unwrap_or(self.tidal)
    }
}

/// Where a measured curve is between its ends.
fn measured(curve: &[[f32; 3]], column: usize, x: f32) -> f32 {
    let (first, last) = (curve[0], curve[curve.len() - 1]);
    let p = first[0] + x * (last[0] - first[0]);
    let k = curve
        .partition_point(|row| row[0] <= p)
        .clamp(1, curve.len() - 1);
    let (a, b) = (curve[k - 1], curve[k]);
    let v = a[column] + (b[column] - a[column]) * (p - a[0]) / (b[0] - a[0]);
    (v - first[column]) / (last[column] - first[column])
}

/// What a lung is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Breath {
    /// Seconds since it began.
    pub clock: f64,
    /// Volume at rest, FRC, in m³.
    pub rest: f32,
    /// Pressure of the chest at that volume, in Pa.
    pub chest: f32,
    /// Stays at rest instead of breathing.
    pub resting: bool,
    /// Volume asked for in m³.
    pub target: f32,
    /// Volume in m³ with which this inhalation began, and the last exhalation.
    pub from: [f32; 2],
    /// Volumes in m³ at the end of the last normal inhalation and exhalation and of the
    /// last deep ones; NaN until there was one.
    pub ends: [f32; 4],
    /// Phase of the last step: breath, and if it was inhaling.
    pub phase: (u32, bool),
}

impl Breath {
    pub fn new(rest: f32, chest: f32) -> Breath {
        Breath {
            chest,
            resting: false,
            clock: 0.0,
            rest,
            target: rest,
            from: [rest; 2],
            ends: [f32::NAN; 4],
            phase: (0, true),
        }
    }

    /// Goes on by `h` seconds at the present volume, and returns what the muscles do.
    pub fn advance(&mut self, lung: &Lung, volume: f32, h: f32) -> Drive {
        if self.resting {
            let most = self.chest + CM_H2O * lung.effort;
            return Drive {
                rate: (self.rest - volume) / FOLLOWING,
                least: -most,
                most,
            };
        }
        let period = f64::from(lung.period());
        let number = (self.clock / period).floor();
        let within = (self.clock - number * period) as f32;
        let inhaling = within < lung.inhale;
        let phase = (number as u32, inhaling);
        let deep = |breath: u32| {
            lung.deep_breath_after
                .is_some_and(|n| breath % (n + 1) == n)
        };
        if phase != self.phase {
            let (breath, inhaled) = self.phase;
            let slot = usize::from(!inhaled) + 2 * usize::from(deep(breath));
            self.ends[slot] = volume;
            self.from[usize::from(!inhaling)] = volume;
            self.phase = phase;
        }
        let x = if inhaling {
            within / lung.inhale
        } else {
            (within - lung.inhale) / lung.exhale
        };
        let filled = lung.filled(inhaling, x.clamp(0.0, 1.0));
        // A breath is drawn on top of what is there: lungs that stay too full breathe above
        // their start, with the same tidal volume. What is let out goes towards the start.
        let [mut bottom, mut top] = if inhaling {
            [self.from[0], self.from[0] + lung.tidal_volume()]
        } else {
            [self.rest, self.from[1]]
        };
        if deep(phase.0) && inhaling {
            top = self.rest + lung.tidal_volume() + LITRE * lung.inspiratory_reserve;
        } else if deep(phase.0) {
            bottom -= LITRE * lung.expiratory_reserve;
        }
        self.target = bottom + filled * (top - bottom);
        self.clock += f64::from(h);
        let effort = CM_H2O * lung.effort;
        let forced = deep(phase.0);
        // A normal exhalation is passive: muscles brake it, and let go with the air that is
        // left to go. At its end only tissue and chest are there, and tissue that pulls
        // harder than it should makes the lung smaller than it was.
        let braking = if inhaling || forced { 1.0 } else { filled };
        Drive {
            rate: (self.target - volume) / h.max(FOLLOWING),
            least: if forced { -effort } else { 0.0 },
            most: braking * effort,
        }
    }
}

/// What the muscles want and can do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drive {
    /// Wanted change of the volume in m³/s.
    pub rate: f32,
    /// Least pressure in Pa.
    pub least: f32,
    /// Largest pressure in Pa.
    pub most: f32,
}

/// What the surface of a lung does in a sub-step, and what acts on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wall {
    /// Change of the volume in m³/s without any pressure.
    pub rate: f64,
    /// More of it per Pa.
    pub response: f64,
    /// γ: how much the gas counts.
    pub gamma: f64,
    /// Pressure of the chest now, in Pa.
    pub chest: f64,
    /// Pull of the tissue now, in Pa.
    pub tissue: f64,
    /// How much less the chest and how much more the tissue will press and pull at the end
    /// of the sub-step, per m³/s.
    pub stiffness: [f64; 2],
    /// Pressure lost in the airways, per m³/s.
    pub resistance: f64,
}

impl Wall {
    /// The pressure of the gas and all that pushes outwards, in Pa: both at the end of the
    /// sub-step, with the change of volume that they make.
    pub fn pressures(&self, drive: &Drive) -> [f64; 2] {
        let [chest, tissue] = self.stiffness;
        let given_back = self.gamma * (chest + self.resistance) + tissue;
        let slowed = 1.0 + self.response * given_back;
        let passive = self.rate + self.response * (self.gamma * self.chest - self.tissue);
        let effect = self.gamma * self.response;
        let (least, most) = (f64::from(drive.least), f64::from(drive.most));
        let muscles = if effect > 0.0 {
            let wanted = f64::from(drive.rate) * slowed - passive;
            (wanted / effect).clamp(least, most)
        } else {
            least
        };
        let rate = (passive + effect * muscles) / slowed;
        let gas = self.chest + muscles - (chest + self.resistance) * rate;
        [gas, self.gamma * gas - self.tissue - tissue * rate]
    }
}

/// The named volumes of a lung in litres, as measured; NaN until there was such a breath.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LungVolumes {
    /// Volume asked for now.
    pub target: f64,
    /// Air moved in a normal breath (V_T).
    pub tidal: f64,
    /// Left after a normal exhalation (FRC).
    pub functional_residual: f64,
    /// At the end of a maximal inspiration (TLC).
    pub total: f64,
    /// Left after a maximal expiration (RV).
    pub residual: f64,
    /// Expelled after a maximal inspiration (VC, and FVC as every deep breath is forced).
    pub vital: f64,
    /// Inhalable beyond a normal inhalation (IRV).
    pub inspiratory_reserve: f64,
    /// Exhalable beyond a normal exhalation (ERV).
    pub expiratory_reserve: f64,
    /// Inhalable after a normal exhalation (IC).
    pub inspiratory: f64,
}

impl LungVolumes {
    pub(super) fn of(breath: &Breath) -> LungVolumes {
        let [top, bottom, total, residual] = breath.ends.map(|v| f64::from(v) / f64::from(LITRE));
        LungVolumes {
            target: f64::from(breath.target) / f64::from(LITRE),
            tidal: top - bottom,
            functional_residual: bottom,
            total,
            residual,
            vital: total - residual,
            inspiratory_reserve: total - top,
            expiratory_reserve: bottom - residual,
            inspiratory: total - bottom,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_goes_from_empty_to_full_and_back_with_hysteresis() {
        let lung = Lung::default();
        assert_eq!(lung.filled(true, 0.0), 0.0);
        assert!((lung.filled(true, 1.0) - 1.0).abs() < 1e-6);
        assert!((lung.filled(false, 0.0) - 1.0).abs() < 1e-6);
        assert!(lung.filled(false, 1.0).abs() < 1e-6);
        // At the same pressure there is more air while breathing out.
        assert!(lung.filled(false, 0.5) > lung.filled(true, 0.5) + 0.2);
        let rising: Vec<f32> = (0..=20)
            .map(|k| lung.filled(true, k as f32 / 20.0))
            .collect();
        assert!(rising.windows(2).all(|w| w[1] > w[0]));
    }

    #[test]
    fn a_patients_curve_is_read_and_bad_lines_are_named() {
        let good = "pressure,in,out\n0,2.4,2.4\n10,2.6,2.9\n20,3.0,3.0\n";
        let curve = Lung::read_curve(good).unwrap();
        let lung = Lung {
            patient: Some(curve),
            ..Lung::default()
        };
        assert!((lung.tidal_volume() - 0.0006).abs() < 1e-8);
        assert!((lung.filled(true, 0.5) - 1.0 / 3.0).abs() < 1e-5);
        for (text, line) in [
            ("0,1,1\n0,2,2", 2),
            ("0,1\n", 1),
            ("0,1,1\n1,x,2", 2),
            ("", 0),
        ] {
            let Err(LungError::Curve { line: found, .. }) = Lung::read_curve(text) else {
                panic!("{text} was taken");
            };
            assert_eq!(found, line, "{text}");
        }
    }
}
