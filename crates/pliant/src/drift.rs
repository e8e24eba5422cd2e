//! Liquids move to where the sub-step ends, past everything in their way.

use glam::Vec3;
use rayon::prelude::*;

use crate::contact::{Ball, Contact, Hit, Mover, Obstacles, friction};
use crate::coupling::{Blow, Bodies, Way, collide};
use crate::crew::Spread;
use crate::fluid::{CHUNK, Motion};
use crate::world::World;

impl World {
    /// Moves every particle past all obstacles to its new place (7.2), with friction
    /// where walls press on it, and notes the contacts. Gives bodies what they have not
    /// had yet.
    pub(crate) fn drift(&mut self, dt: f32, bodies: &mut Bodies) {
        let obstacles: Obstacles<'_> = self.obstacles.iter().chain(self.skins.iter()).collect();
        let first = self.contacts.len();
        let boundary = self.acts_by_boundary();
        for (matter, fluid) in self.fluids.iter_mut() {
            // Boundary particles push the harder the nearer, and need room for that.
            let radius = if boundary {
                0.25 * fluid.settings().spacing
            } else {
                fluid.contact_radius()
            };
            // The time over which the walls' pressure has just acted.
            let incompressible = fluid.is_incompressible();
            let pushed = if incompressible {
                dt
            } else {
                0.5 * (self.previous_dt + dt)
            };
            // Of bodies with boundary particles the liquid does not know how far they are.
            let free = if boundary { 0.0 } else { fluid.free_distance() };
            let Motion {
                position: [x, y, z],
                velocity: [vx, vy, vz],
                id,
                inverse_mass,
                walls,
                ..
            } = fluid.motion_mut();
            let still = &*bodies;
            let parts: Vec<(Vec<Contact>, Vec<Blow>)> = (
                x.par_chunks_mut(CHUNK),
                y.par_chunks_mut(CHUNK),
                z.par_chunks_mut(CHUNK),
                vx.par_chunks_mut(CHUNK),
                vy.par_chunks_mut(CHUNK),
                vz.par_chunks_mut(CHUNK),
                id.par_chunks(CHUNK),
                inverse_mass.par_chunks(CHUNK),
                &walls.chunks,
            )
                .into_par_iter()
                .enumerate()
                .spread_map(|(c, (x, y, z, vx, vy, vz, id, inverse_mass, walls))| {
                    let mut contacts: Vec<Contact> = Vec::new();
                    let mut blows = Vec::new();
                    let mut strike = |i: usize, contact: (usize, &Contact), impulse, way| {
                        let (number, contact) = contact;
                        if let Some(body) = still.of(contact.obstacle) {
                            let place = contact.place.into();
                            let (triangle, weights) = (contact.triangle, contact.barycentric);
                            blows.push(Blow {
                                particle: c * CHUNK + i,
                                contact: number,
                                grasp: still.grasp(body, triangle, weights, place),
                                impulse,
                                way,
                            });
                        }
                    };
                    let mut mover = Mover::new(&obstacles);
                    for i in 0..x.len() {
                        let from = Vec3::new(x[i], y[i], z[i]);
                        let mass = 1.0 / inverse_mass[i];
                        let mut velocity = Vec3::new(vx[i], vy[i], vz[i]);
                        for mirror in walls.of(i).iter().filter(|m| m.acts()) {
                            let (normal, pressing) = (mirror.wall.normal, pushed * mirror.push);
                            let index = mirror.obstacle;
                            let coefficient = obstacles.friction_of(index);
                            let sliding = velocity - mirror.wall.velocity;
                            let rubbed = friction(sliding, normal, pressing.max(0.0), coefficient);
                            velocity += rubbed;
                            let triangle = mirror.wall.triangle;
                            let (place, barycentric) =
                                obstacles.place_on(index, triangle, from, normal);
                            let contact = Contact {
                                matter: matter as u32,
                                point_id: id[i],
                                obstacle: index,
                                triangle,
                                barycentric,
                                place,
                                impulse: mass * (pressing * normal + pushed * mirror.drag + rubbed),
                            };
                            // Of an incompressible liquid bodies have had all but friction.
                            let left = if incompressible {
                                mass * rubbed
                            } else {
                                contact.impulse
                            };
                            strike(i, (contacts.len(), &contact), left, Way::Pushed);
                            contacts.push(contact);
                        }
                        let ball = Ball {
                            from,
                            to: from + dt * velocity,
                            velocity,
                            radius,
                        };
                        // What the liquid knows of its walls spares most searches.
                        let walls = walls.of(i).iter();
                        let nearest = walls.map(|m| m.wall.at_least).fold(free, f32::min);
                        if obstacles.out_of_reach(&ball, nearest) {
                            [x[i], y[i], z[i]] = ball.to.to_array();
                            [vx[i], vy[i], vz[i]] = velocity.to_array();
                            continue;
                        }
                        let (place, velocity) = mover.resolve(ball, &mut |hit: Hit| {
                            let contact = Contact {
                                matter: matter as u32,
                                point_id: id[i],
                                obstacle: hit.obstacle as u32,
                                triangle: hit.touch.triangle,
                                barycentric: hit.touch.barycentric,
                                place: hit.touch.point,
                                impulse: mass * hit.velocity_change,
                            };
                            let way = if hit.wedged {
                                Way::Wedged
                            } else {
                                Way::Collided(hit.touch.normal)
                            };
                            strike(i, (contacts.len(), &contact), contact.impulse, way);
                            contacts.push(contact);
                        });
                        [x[i], y[i], z[i]] = place.to_array();
                        [vx[i], vy[i], vz[i]] = velocity.to_array();
                    }
                    (contacts, blows)
                });
            let mut all_blows = Vec::new();
            for (contacts, blows) in parts {
                let before = self.contacts.len();
                self.contacts.extend(contacts);
                all_blows.extend(blows.into_iter().map(|blow| Blow {
                    contact: before + blow.contact,
                    ..blow
                }));
            }
            let (contacts, velocity) = (&mut self.contacts[..], [vx, vy, vz]);
            collide(
                &all_blows,
                bodies,
                &obstacles,
                inverse_mass,
                contacts,
                velocity,
            );
        }
        self.push_obstacles(first);
    }
}
