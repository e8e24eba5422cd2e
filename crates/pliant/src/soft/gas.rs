//! What fills a body: gas by the volume that it has (Mesit 2010, 3.57), a volume that is
//! held, the breath of a lung.

use glam::{DVec3, Vec3, Vec3A};

use super::lung::Wall;
use super::parallel::{fill, sum};
use super::settings::VolumeMeasure;
use super::state::Soft;
use super::topology::area_normal;
use crate::mesh::chance;

/// A gas is never pressed below this share of its volume at the start: what is flat has
/// no volume to divide by.
const LEAST_VOLUME: f64 = 0.02;
/// Below this share of it the push of the gas is bounded (`Soft::gas`).
const PRESSED: f64 = 0.5;

/// What a gas does at the present volume.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Gas {
    /// Pressure above that outside in Pa, without γ.
    pub pressure: f32,
    /// By how much that falls as the volume grows, in Pa/m³.
    pub slope: f64,
}

impl Soft {
    /// The volume whose gradient is known, in m³. It is of the third degree in the places,
    /// so it is a third of the sum of places times gradient; about a point of the body:
    /// differences keep their digits far from the origin.
    pub(super) fn volume_by_gradient(&self) -> f64 {
        let (about, position, gradient) = (self.position[0], &self.position, &self.gradient);
        let three = sum(gradient.len(), |i| {
            f64::from((position[i] - about).dot(gradient[i]))
        });
        three / 3.0
    }

    /// Finds normals, the enclosed volume and its gradient at the present places.
    pub(super) fn find_normals(&mut self) {
        let (position, triangles) = (&self.position, &self.topology.triangles);
        fill(&mut self.normal, |t| {
            let [a, b, c] = triangles[t];
            area_normal(
                position[a as usize],
                position[b as usize],
                position[c as usize],
            )
        });
        // By the divergence theorem, about a point of the body: differences keep their
        // digits far from the origin.
        let (about, normal) = (position[0], &self.normal);
        let six = sum(normal.len(), |t| {
            let corner = position[triangles[t][0] as usize] - about;
            f64::from(corner.dot(normal[t]))
        });
        self.enclosed = six / 6.0;
        let topology = &self.topology;
        fill(&mut self.gradient, |i| {
            let around = topology.corners_of(i).iter();
            let six = around.fold(Vec3A::ZERO, |sum, &t| sum + normal[t as usize]);
            six / 6.0
        });
    }

    /// True if anything inside pushes.
    pub(super) fn is_filled(&self) -> bool {
        self.settings.controls.gamma > 0.0 || self.breath.is_some()
    }

    /// Pressure above that outside (3.57: N / B), in a sub-step of `h` seconds. That of a
    /// lung is found with the motion.
    ///
    /// N / B knows no bound, and a body that is pressed flat or turned inside out would be
    /// torn by it: no more pressure is used than would bring the skin, against its inertia
    /// alone, back to the volume of the start within the sub-step. Shorter sub-steps allow
    /// more.
    pub(super) fn gas(&self, h: f32) -> Gas {
        let gamma = f64::from(self.settings.controls.gamma);
        if gamma == 0.0 || self.breath.is_some() {
            return Gas::default();
        }
        let volume = match self.settings.volume.measure {
            VolumeMeasure::Mesh => self.enclosed,
            VolumeMeasure::Box => {
                let size = self.bounds().size().as_dvec3();
                size.x * size.y * size.z
            }
        };
        let v = &self.settings.volume;
        let amount = match v.molecules {
            Some(n) => f64::from(n),
            None => f64::from(v.pressure + v.outside) * self.rest_volume,
        };
        let share = v.breathing.map_or(1.0, |b| b.share(self.clock));
        let rest = self.rest_volume.abs();
        let room = volume.max(LEAST_VOLUME * rest).max(1e-30);
        let inside = f64::from(share) * amount;
        let outside = f64::from(v.outside);
        let (pressure, slope) = (inside / room - outside, (inside / room / room).max(0.0));
        let law = Gas {
            pressure: pressure as f32,
            slope,
        };
        let roomy = self.enclosed >= PRESSED * rest || self.rest_volume <= 0.0;
        if roomy || v.measure != VolumeMeasure::Mesh {
            return law;
        }
        let squares = sum(self.gradient.len(), |i| {
            f64::from(self.inverse_mass[i] * self.gradient[i].length_squared())
        });
        let missing = self.rest_volume - self.enclosed;
        let at_start = inside / rest.max(1e-30) - outside;
        let h = f64::from(h);
        let most = (missing / (gamma * h * h * squares.max(1e-30))).max(at_start);
        if pressure <= most {
            return law;
        }
        Gas {
            pressure: most as f32,
            slope: (most - at_start) / missing,
        }
    }

    /// Finds the pressures in a lung that bring its volume where it should be, or as far
    /// as the muscles can, from how the volume changes without any and with one Pa.
    pub(super) fn breathe(&mut self, h: f32) {
        let (Some(lung), Some(mut breath)) = (self.settings.volume.lung.clone(), self.breath)
        else {
            return;
        };
        let mut response = std::mem::take(&mut self.response);
        response.resize(self.len(), Vec3A::ZERO);
        let gradient = std::mem::take(&mut self.gradient);
        self.solve(&gradient, &mut response, h);
        self.gradient = gradient;
        let Pair(rate, answer) = sum(self.len(), |i| {
            let g = self.gradient[i];
            let now = self.velocity[i] + self.change[i];
            Pair(f64::from(g.dot(now)), f64::from(g.dot(response[i])))
        });
        let controls = self.settings.controls;
        let volume = self.enclosed as f32;
        let more = volume - breath.rest;
        let [chest, tissue] = lung.elastances();
        let strength = controls.alpha * lung.condition.stiffness() / lung.balanced_at;
        let recoil = super::CM_H2O * lung.recoil;
        let wall = Wall {
            rate,
            response: answer,
            gamma: controls.gamma.into(),
            chest: (breath.chest - chest * more).into(),
            tissue: (strength * (recoil + tissue * more)).into(),
            stiffness: [chest, strength * tissue].map(|e| f64::from(h * e)),
            resistance: lung.airway_resistance().into(),
        };
        let drive = breath.advance(&lung, volume, h);
        let [gas, outwards] = wall.pressures(&drive);
        self.breath = Some(breath);
        self.pressure = gas as f32;
        for (change, response) in self.change.iter_mut().zip(&response) {
            *change += outwards as f32 * *response;
        }
        self.response = response;
    }

    /// The gas answers to the volume at the end of the sub-step, not at its start: a change
    /// of all velocities along the volume's gradient g, weighed by inverse masses w, that
    /// solves `(1 + s g·w g) λ = s g·v` with `s = -γ h² dp/dV`. However stiff the gas, the
    /// volume does not vibrate.
    pub(super) fn yield_to_gas(&mut self, h: f32) {
        let v = &self.settings.volume;
        if self.settings.controls.gamma == 0.0 || v.measure != VolumeMeasure::Mesh {
            return;
        }
        let scale = self.gas_rigidity() * f64::from(h) * f64::from(h);
        let Pair(rate, squares) = sum(self.position.len(), |i| {
            let (g, v) = (self.gradient[i], self.velocity[i] + self.change[i]);
            let weighed = self.inverse_mass[i] * g.length_squared();
            Pair(f64::from(g.dot(v)), f64::from(weighed))
        });
        let lambda = (scale * rate / (1.0 + scale * squares)) as f32;
        for (i, change) in self.change.iter_mut().enumerate() {
            *change -= (lambda * self.inverse_mass[i]) * self.gradient[i];
        }
    }

    /// By how much the push of the gas falls as the volume grows: `-γ dp/dV` in Pa/m³.
    pub(super) fn gas_rigidity(&self) -> f64 {
        f64::from(self.settings.controls.gamma) * self.gas_slope
    }

    /// Moves the points along the gradient of the volume until it is `wanted`: a
    /// constraint of position based dynamics (Müller et al. 2007), which conserves
    /// momentum.
    pub(super) fn hold_volume(&mut self, wanted: f64, h: f32) {
        for _ in 0..2 {
            self.find_normals();
            let missing = wanted - self.enclosed;
            if missing.abs() <= 1e-6 * wanted.abs() {
                return;
            }
            let gradient = &self.gradient;
            let squares = sum(gradient.len(), |i| {
                f64::from(self.inverse_mass[i] * gradient[i].length_squared())
            });
            if squares <= 0.0 {
                return;
            }
            let step = (missing / squares) as f32;
            for (i, g) in gradient.iter().enumerate() {
                let way = step * self.inverse_mass[i] * *g;
                self.position[i] += way;
                self.velocity[i] += way / h;
            }
        }
    }

    /// Force of the gas and its torque about the origin, of all points together, in N and
    /// N m: zero for a closed surface.
    pub fn gas_force(&mut self) -> (DVec3, DVec3) {
        self.find_normals();
        let pressure = f64::from(self.settings.controls.gamma * self.pressure);
        let wide = |v: Vec3A| Vec3::from(v).as_dvec3();
        let mut sums = (DVec3::ZERO, DVec3::ZERO);
        for (t, &n) in self.normal.iter().enumerate() {
            let push = pressure / 6.0 * wide(n);
            for v in self.topology.triangles[t] {
                sums.0 += push;
                sums.1 += wide(self.position[v as usize]).cross(push);
            }
        }
        sums
    }
}

/// Two sums at once.
#[derive(Default)]
struct Pair(f64, f64);

impl std::ops::Add for Pair {
    type Output = Pair;

    fn add(self, other: Pair) -> Pair {
        Pair(self.0 + other.0, self.1 + other.1)
    }
}

impl super::Breathing {
    /// Factor on the pressure at `time`: smooth between one draw per period.
    fn share(&self, time: f64) -> f32 {
        let x = time / f64::from(self.period);
        let k = x.floor();
        let t = (x - k) as f32;
        let draw = |k: f64| chance(self.seed, k as i64 as u64);
        let smooth = t * t * (3.0 - 2.0 * t);
        1.0 + self.amplitude * (draw(k) + smooth * (draw(k + 1.0) - draw(k)))
    }
}
