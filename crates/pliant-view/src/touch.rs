//! What a hand does to matter: grab, push, pour, cut.

use glam::Vec3;
use pliant::fluid::NewParticle;
use pliant::scene::Built;
use pliant::solid::Blade;
use pliant::{Action, Field, Region, StepError, Stroke, World};

/// How fast matter in the hand takes up its speed, in 1/s.
const GRIP: f32 = 40.0;
/// Particles are not poured nearer to others than this, in spacings.
const ROOM: f32 = 0.9;

/// What the hand does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Takes matter along.
    Grab,
    /// Blows it away from the eye.
    Push,
    /// Pours liquid.
    Pour,
}

/// A hand in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// What it does.
    pub deed: Deed,
    /// Where it is, in metres.
    pub place: Vec3,
    /// Reach in metres.
    pub radius: f32,
    /// Where it pushes or pours to.
    pub direction: Vec3,
    /// How fast it pushes or pours, in m/s.
    pub speed: f32,
}

/// Remembers where the hand was.
#[derive(Default)]
pub(crate) struct Hand {
    touch: Option<Touch>,
    /// Where it was at the end of the last step.
    before: Option<Vec3>,
    /// How far the poured column has moved since its last disc, in metres.
    poured: f32,
    /// What the blade does in the next step.
    cuts: Vec<Blade>,
}

impl Hand {
    /// Moves or lifts the hand.
    pub fn touch(&mut self, touch: Option<Touch>) {
        if touch.is_none() {
            self.before = None;
            self.poured = f32::INFINITY;
        }
        self.touch = touch;
    }

    /// Cuts along the way of a blade in the next step.
    pub fn cut(&mut self, blade: Blade) {
        self.cuts.push(blade);
    }

    /// One step of the world with the hand in it. The hand's fields and blades last only
    /// as long as the step: the world is as the scene made it whenever it is saved. Returns
    /// the seconds made, which are less than `dt` if `go_on` has ended the step.
    pub fn step(
        &mut self,
        built: &mut Built,
        dt: f32,
        mut go_on: impl FnMut(&World) -> bool + Send,
    ) -> Result<f32, StepError> {
        let mut fields = Vec::new();
        if let Some(touch) = self.touch {
            let gravity = built.world.gravity;
            let region = Region::Sphere {
                center: touch.place,
                radius: touch.radius,
            };
            let wind = |velocity, rate| Field {
                region,
                action: Action::Wind { velocity, rate },
            };
            match touch.deed {
                Deed::Grab => {
                    let velocity = self.before.map_or(Vec3::ZERO, |b| (touch.place - b) / dt);
                    fields.push(wind(
                        velocity.clamp_length_max(20.0 * touch.radius / dt),
                        GRIP,
                    ));
                    fields.push(Field {
                        region,
                        action: Action::Uniform(-gravity),
                    });
                }
                Deed::Push => fields.push(wind(touch.speed * touch.direction, 0.5 * GRIP)),
                Deed::Pour => self.pour(built, &touch, dt),
            }
            self.before = Some(touch.place);
        }
        let handles: Vec<_> = fields
            .into_iter()
            .map(|f| built.world.add_field(f))
            .collect();
        let start = built.world.time();
        let strokes: Vec<_> = std::mem::take(&mut self.cuts)
            .into_iter()
            .map(|Blade { from, to }| {
                let stop = start + f64::from(dt);
                built.world.add_stroke(Stroke {
                    from,
                    to,
                    start,
                    stop,
                })
            })
            .collect();
        // A cut is made to its end.
        let cuts = !strokes.is_empty();
        let outcome = built.world.step_while(dt, |world| go_on(world) || cuts);
        for handle in handles {
            built.world.remove_field(handle);
        }
        for handle in strokes {
            built.world.remove_stroke(handle);
        }
        let made = outcome?.length;
        if let Some(touch) = self.touch.filter(|t| t.deed == Deed::Pour) {
            self.poured -= touch.speed * (dt - made);
        }
        Ok(made)
    }

    /// Lets discs of particles go, one spacing after the other.
    fn pour(&mut self, built: &mut Built, touch: &Touch, dt: f32) {
        let Some(&handle) = built.fluids.first() else {
            return;
        };
        let Some(fluid) = built.world.fluid(handle) else {
            return;
        };
        let settings = fluid.settings();
        let spacing = settings.spacing;
        self.poured += touch.speed * dt;
        if self.poured < spacing {
            return;
        }
        self.poured = if self.poured.is_finite() {
            self.poured - spacing
        } else {
            0.0
        };
        let (u, v) = touch
            .direction
            .normalize_or(Vec3::NEG_Y)
            .any_orthonormal_pair();
        let reach = (touch.radius / spacing).floor().clamp(1.0, 12.0) as i32;
        let near: Vec<Vec3> = fluid
            .positions()
            .iter()
            .filter(|p| p.distance(touch.place) < touch.radius + 2.0 * spacing)
            .collect();
        let places = (-reach..=reach).flat_map(|i| (-reach..=reach).map(move |j| (i, j)));
        let mut particles: Vec<NewParticle> = places
            .map(|(i, j)| spacing * (i as f32 * u + j as f32 * v))
            .filter(|offset| offset.length() <= touch.radius)
            .map(|offset| touch.place + offset)
            .filter(|p| near.iter().all(|q| q.distance(*p) >= ROOM * spacing))
            .map(|position| NewParticle {
                position,
                velocity: touch.speed * touch.direction,
            })
            .collect();
        particles.truncate(settings.max_particles.saturating_sub(fluid.len()));
        built.world.add_particles(handle, &particles);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant::scene::Scene;

    const TANK: &str = r#"
title = "tank"
duration = 1
[[fluid]]
spacing = 0.05
surface_tension = 0
[[fluid.fill]]
region = { box = { min = [0, 0, 0], max = [0.4, 0.2, 0.2] } }
[[obstacle]]
name = "tank"
shape = { box = { min = [0, 0, 0], max = [0.4, 0.8, 0.2] } }
"#;

    /// From above the tank.
    const POURING: Touch = Touch {
        deed: Deed::Pour,
        place: Vec3::new(0.2, 0.6, 0.1),
        radius: 0.08,
        direction: Vec3::NEG_Y,
        speed: 1.0,
    };

    fn tank() -> Built {
        let scene = Scene::parse("tank", "tank.toml", TANK, std::path::Path::new("."), &[]);
        scene.unwrap().build().unwrap()
    }

    fn mean_height(built: &Built) -> f32 {
        let fluid = built.world.fluids().next().unwrap();
        fluid.positions().iter().map(|p| p.y).sum::<f32>() / fluid.len() as f32
    }

    #[test]
    fn a_grab_lifts_liquid_and_leaves_no_field_behind() {
        let mut built = tank();
        let mut hand = Hand::default();
        let before = mean_height(&built);
        let design = pliant_state(&built);
        for k in 0..20 {
            hand.touch(Some(Touch {
                deed: Deed::Grab,
                place: Vec3::new(0.2, 0.1 + 0.02 * k as f32, 0.1),
                radius: 0.12,
                direction: Vec3::NEG_Z,
                speed: 0.0,
            }));
            hand.step(&mut built, 0.02, |_| true).unwrap();
        }
        assert!(mean_height(&built) > before + 0.05);
        hand.touch(None);
        // A world with other fields would refuse the state of a fresh one.
        let mut fresh = tank();
        let mut from = pliant::observe::Decoder::open(&design).unwrap();
        built.world.load(&mut from).unwrap();
        let state = pliant_state(&built);
        let mut from = pliant::observe::Decoder::open(&state).unwrap();
        fresh.world.load(&mut from).unwrap();
    }

    fn pliant_state(built: &Built) -> Vec<u8> {
        let mut out = pliant::observe::Encoder::default();
        built.world.save(&mut out);
        out.finish()
    }

    #[test]
    fn a_cut_opens_a_body_once() {
        const BALL: &str = r#"
title = "ball"
duration = 1
[gravity]
acceleration = [0, 0, 0]
[[solid]]
name = "jelly"
shape = { ball = { center = [0, 0.5, 0], radius = 0.2, tets = 600 } }
model = { elastic = { law = "neo-hookean", young = 6000, poisson = 0.45 } }
"#;
        let scene = Scene::parse("ball", "ball.toml", BALL, std::path::Path::new("."), &[]);
        let mut built = scene.unwrap().build().unwrap();
        let mut hand = Hand::default();
        let before = built.world.point_count();
        hand.step(&mut built, 0.01, |_| true).unwrap();
        assert_eq!(built.world.point_count(), before);
        // Edges along z, drawn down through the middle.
        let edge = |y: f32| [Vec3::new(0.003, y, -1.0), Vec3::new(0.003, y, 1.0)];
        hand.cut(Blade {
            from: edge(1.0),
            to: edge(0.0),
        });
        hand.step(&mut built, 0.01, |_| true).unwrap();
        let opened = built.world.point_count();
        assert!(opened > before + 20, "{before} {opened}");
        hand.step(&mut built, 0.01, |_| true).unwrap();
        assert_eq!(built.world.point_count(), opened);
    }

    /// However often the step is ended by other commands, as much is poured per second.
    #[test]
    fn steps_that_end_early_pour_no_more() {
        let mut added = Vec::new();
        for early in [false, true] {
            let mut built = tank();
            let before = built.world.point_count();
            let mut hand = Hand::default();
            hand.touch(Some(POURING));
            let mut steps = 0;
            while built.world.time() < 0.3 {
                let made = hand.step(&mut built, 0.05, |_| !early).unwrap();
                assert!(made <= 0.05);
                steps += 1;
            }
            assert_eq!(early, steps > 6, "{steps}");
            added.push(built.world.point_count() - before);
        }
        assert!(added[0].abs_diff(added[1]) <= 15, "{added:?}");
    }

    #[test]
    fn pouring_adds_particles_that_do_not_overlap() {
        let mut built = tank();
        let before = built.world.point_count();
        let mut hand = Hand::default();
        hand.touch(Some(POURING));
        for _ in 0..20 {
            hand.step(&mut built, 0.01, |_| true).unwrap();
        }
        let fluid = built.world.fluids().next().unwrap();
        let added = fluid.len() - before;
        // 0.2 m of a column of 9 particles per disc: about four discs.
        assert!((18..=60).contains(&added), "{added}");
        let all: Vec<Vec3> = fluid.positions().iter().collect();
        for (i, a) in all.iter().enumerate() {
            for b in &all[..i] {
                assert!(a.distance(*b) > 0.5 * 0.05, "{a} {b}");
            }
        }
        assert_eq!(built.world.leaked(), 0);
    }
}
