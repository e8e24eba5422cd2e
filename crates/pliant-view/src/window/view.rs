//! The picture itself: mouse, hand, and what is written over it.

use egui::{PointerButton, Pos2, Rect, Sense, Ui};
use glam::{Vec2, Vec3};
use pliant::solid::Blade;
use pliant_render::{Colour, View};

use super::desk::{Desk, Tool};
use super::trace::Trace;
use crate::look::Mode;
use crate::overlay::Caption;
use crate::pick;
use crate::renderer::{Mark, floor_square, legend};
use crate::simulation::{Command, Published, Simulation, turned};
use crate::touch::{Deed, Touch};

/// The place of the picture, in points, and what marks it.
pub(super) struct Scenery {
    pub area: Rect,
    pub marks: Vec<Mark>,
    pub caption: Caption,
}

/// Lets the mouse act on the picture in `area`.
pub(super) fn interact(
    ui: &mut Ui,
    area: Rect,
    desk: &mut Desk,
    now: &Published,
    simulation: &Simulation,
    trace: &mut Trace,
) -> Scenery {
    let response = ui.allocate_rect(area, Sense::click_and_drag());
    trace.place("view", &response);
    let [width, height] = [area.width().max(1.0), area.height().max(1.0)];
    let view = desk.orbit.camera().view(width as u32, height as u32);
    let to_vec = |v: egui::Vec2| Vec2::new(v.x, v.y);
    let drag = to_vec(response.drag_delta());
    let shift = ui.input(|i| i.modifiers.shift);
    if response.dragged_by(PointerButton::Secondary) && !shift {
        desk.orbit.orbit(drag / height);
    }
    if response.dragged_by(PointerButton::Middle)
        || (shift && response.dragged_by(PointerButton::Secondary))
    {
        desk.orbit.pan(&view, drag);
    }
    if response.contains_pointer() {
        let wheel = ui.input(|i| i.smooth_scroll_delta().y);
        let pinch = ui.input(|i| i.zoom_delta());
        desk.orbit.zoom((0.004 * wheel).exp() * pinch);
    }
    let size = now.snapshot.bounds.size().length().max(1e-6);
    let mouse = response.interact_pointer_pos().or(response.hover_pos());
    let ray =
        |p: Pos2| view.direction_to_world(view.ray(Vec2::new(p.x - area.left(), p.y - area.top())));
    let primary = response.dragged_by(PointerButton::Primary)
        || (response.is_pointer_button_down_on()
            && ui.input(|i| i.pointer.button_down(PointerButton::Primary)));
    let mut marks = Vec::new();
    match desk.tool {
        Tool::Orbit => {
            if response.dragged_by(PointerButton::Primary) {
                desk.orbit.orbit(drag / height);
            }
        }
        Tool::Tilt => {
            if response.dragged_by(PointerButton::Primary) && drag != Vec2::ZERO {
                let g = turned(now.snapshot.gravity, view.forward, -2.0 * drag.x / height);
                let g = turned(g, view.right, -2.0 * drag.y / height);
                let value = format!("[{}, {}, {}]", g.x, g.y, g.z);
                simulation.send(Command::Set("gravity.acceleration".into(), value));
                trace.say("tilt");
            }
        }
        Tool::Cut => {
            if response.drag_started_by(PointerButton::Primary) {
                desk.cut_from = ui.input(|i| i.pointer.press_origin());
            }
            if let (Some(from), Some(to)) = (desk.cut_from, mouse) {
                let line = egui::Stroke::new(2.0, egui::Color32::from_rgb(240, 160, 48));
                ui.painter().line_segment([from, to], line);
                if response.drag_stopped_by(PointerButton::Primary) {
                    let edge = |p: Pos2| edge_behind(view.eye, ray(p), now);
                    simulation.send(Command::Cut(Blade {
                        from: edge(from),
                        to: edge(to),
                    }));
                    desk.cut = Some((now.snapshot.number, now.snapshot.body_points()));
                    trace.say("cut");
                }
            }
            if !primary {
                desk.cut_from = None;
            }
        }
        Tool::Inspect => {
            if response.clicked_by(PointerButton::Primary)
                && let Some(p) = mouse
            {
                let found = pick::pick(&now.snapshot, view.eye, ray(p));
                desk.picked = found.map(|(picked, _)| picked);
                trace.say(format!("picked {:?}", desk.picked.map(|p| p.id)));
            }
        }
        Tool::Grab | Tool::Push | Tool::Pour => {
            let touch = mouse.filter(|_| primary).map(|p| {
                let place = reach_to(desk, now, &view, ray(p), trace);
                let radius = desk.reach * 0.5 * size;
                marks.push(Mark {
                    centre: place,
                    radius,
                    colour: Colour::hex(0xf0a030),
                });
                hand(desk.tool, place, radius, &view, now, size)
            });
            if touch.is_none() && desk.held.take().is_some() {
                trace.say("let go");
                simulation.send(Command::Touch(None));
            }
            if let Some(touch) = touch {
                simulation.send(Command::Touch(Some(touch)));
            }
        }
    }
    tell_of_cut(ui, desk, now, trace);
    if let Some(reading) = desk.picked.and_then(|p| pick::read(&now.snapshot, &p)) {
        marks.push(Mark {
            centre: reading.place,
            radius: 0.012 * size,
            colour: Colour::hex(0xff6a00),
        });
    }
    Scenery {
        area,
        marks,
        caption: caption(desk, now),
    }
}

/// Where the hand is: on what was under the mouse when the button went down, and from
/// then on at the same depth.
fn reach_to(desk: &mut Desk, now: &Published, view: &View, ray: Vec3, trace: &mut Trace) -> Vec3 {
    let anchor = *desk.held.get_or_insert_with(|| {
        let found = pick::pick(&now.snapshot, view.eye, ray);
        trace.say(format!("hold {}", found.is_some()));
        found.map_or(desk.orbit.target, |(_, place)| place)
    });
    let depth = (anchor - view.eye).dot(view.forward);
    view.eye + ray * (depth / ray.dot(view.forward))
}

/// The edge of a blade that reaches from before the eye through all that is there.
fn edge_behind(eye: Vec3, ray: Vec3, now: &Published) -> [Vec3; 2] {
    let bounds = now.snapshot.bounds;
    let far = eye.distance(bounds.center()) + bounds.size().length();
    let ray = ray.normalize_or(Vec3::NEG_Z);
    [eye + 1e-3 * far * ray, eye + far * ray]
}

/// Says what the last cut has opened, once a step has been made with it.
fn tell_of_cut(ui: &Ui, desk: &mut Desk, now: &Published, trace: &mut Trace) {
    /// Snapshots after which a cut has met nothing.
    const PATIENCE: u64 = 3;
    let Some((number, before)) = desk.cut else {
        return;
    };
    let opened = now.snapshot.body_points().saturating_sub(before);
    if opened == 0 && now.snapshot.number < number + PATIENCE {
        return;
    }
    desk.cut = None;
    trace.say(format!("cut opened {opened}"));
    let words = match opened {
        0 => "the cut has met no solid".into(),
        n => format!("cut: {n} new points on its sides"),
    };
    desk.say(words, ui.ctx().time());
}

fn hand(tool: Tool, place: Vec3, radius: f32, view: &View, now: &Published, size: f32) -> Touch {
    let down = now.snapshot.gravity.normalize_or(Vec3::NEG_Y);
    // About the speed of a fall through a third of the scene.
    let speed = (2.0 * 9.81 * 0.33 * size).sqrt();
    match tool {
        Tool::Push => Touch {
            deed: Deed::Push,
            place,
            radius,
            direction: view.forward,
            speed,
        },
        Tool::Pour => Touch {
            deed: Deed::Pour,
            place,
            radius: 0.5 * radius,
            direction: down,
            speed: 0.4 * speed,
        },
        _ => Touch {
            deed: Deed::Grab,
            place,
            radius,
            direction: view.forward,
            speed: 0.0,
        },
    }
}

/// Title, scale and legend of the picture.
fn caption(desk: &Desk, now: &Published) -> Caption {
    let snapshot = &now.snapshot;
    let square = floor_square(snapshot);
    let scale = if square >= 1.0 {
        format!("{square} m")
    } else if square >= 0.01 {
        format!("{:.0} cm", 100.0 * square)
    } else {
        format!("{:.0} mm", 1000.0 * square)
    };
    let mut note = format!(
        "{} points,  {:.1} ms per step",
        snapshot.points(),
        now.step_ms
    );
    if now.playing {
        note += &format!(",  {:.2} × real time", now.rate);
    }
    if snapshot.floor.is_some() && desk.look.mode != Mode::Xray {
        note += &format!(",  floor squares {scale}");
    }
    Caption {
        title: format!(
            "{}   t = {:.2} s",
            now.setup.scene.description.title, snapshot.time
        ),
        note,
        legend: legend(snapshot, &desk.look),
        dark: desk.look.mode.is_dark(),
    }
}
