//! The panels around the picture.

use egui::{Button, Color32, Key, Rect, RichText, ScrollArea, Slider, Ui, vec2};
use pliant::scene::SHIPPED;

use super::desk::{Desk, Tool, Wish};
use super::lungs;
use super::sign::Sign;
use super::trace::Trace;
use crate::look::Mode;
use crate::parameters::{Parameter, Setting};
use crate::pick;
use crate::simulation::{Command, Published, Simulation};

/// Shows all panels and returns what is left for the picture, in points.
pub(super) fn panels(
    ui: &mut Ui,
    desk: &mut Desk,
    now: &Published,
    simulation: &Simulation,
    trace: &mut Trace,
) -> Rect {
    keys(ui, desk, now, simulation, trace);
    egui::Panel::top("transport").show(ui, |ui| {
        ui.add_space(3.0);
        ui.horizontal(|ui| transport(ui, desk, now, simulation, trace));
        ui.add_space(3.0);
    });
    if desk.show_plots {
        egui::Panel::bottom("plots")
            .exact_size(160.0)
            .show(ui, |ui| desk.plots.show(ui, &now.setup));
    }
    if desk.show_panel {
        egui::Panel::left("settings")
            .exact_size(296.0)
            .show(ui, |ui| {
                ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                    ui.add_space(4.0);
                    display(ui, desk, now, trace);
                    tools(ui, desk, now, trace);
                    inspector(ui, desk, now);
                    lungs::show(ui, &now.setup, desk.plots.probes_now());
                    parameters(ui, desk, now, simulation, trace);
                });
            });
    }
    help(ui, desk);
    ui.available_rect_before_wrap()
}

pub(super) fn heading(ui: &mut Ui, text: &str) {
    ui.add_space(6.0);
    ui.label(RichText::new(text).strong().size(14.0));
    ui.separator();
}

/// Keys of the whole window.
fn keys(ui: &Ui, desk: &mut Desk, now: &Published, simulation: &Simulation, trace: &mut Trace) {
    let context = ui.ctx();
    if context.text_edit_focused() {
        return;
    }
    // Events know which modifiers were held; the state at the end of a slow frame does not.
    let taken = |modifiers, key| context.input_mut(|i| i.consume_key(modifiers, key));
    if taken(egui::Modifiers::COMMAND, Key::Q) {
        desk.wishes.push(Wish::Quit);
    }
    let pressed = |key| taken(egui::Modifiers::NONE, key);
    if pressed(Key::Space) {
        play(simulation, trace, !now.playing);
    }
    if pressed(Key::N) | pressed(Key::ArrowRight) {
        simulation.send(Command::Step);
        trace.say("step");
    }
    if pressed(Key::R) {
        simulation.send(Command::Reset);
        trace.say("reset");
    }
    let numbers = [
        Key::Num1,
        Key::Num2,
        Key::Num3,
        Key::Num4,
        Key::Num5,
        Key::Num6,
    ];
    for (key, mode) in numbers.into_iter().zip(Mode::ALL) {
        if pressed(key) {
            choose(desk, trace, mode);
        }
    }
    for tool in Tool::ALL {
        if pressed(tool.words().1) {
            desk.tool = tool;
            trace.say(format!("tool {}", tool.words().0));
        }
    }
    for (key, shown) in [
        (Key::Tab, &mut desk.show_panel),
        (Key::P, &mut desk.show_plots),
        (Key::H, &mut desk.show_help),
        (Key::W, &mut desk.look.walls),
    ] {
        if pressed(key) {
            *shown = !*shown;
        }
    }
    desk.show_help |= pressed(Key::F1);
    if pressed(Key::F12) | pressed(Key::S) {
        desk.wishes.push(Wish::Screenshot);
    }
    if pressed(Key::F11) | pressed(Key::C) {
        desk.wishes.push(Wish::Record);
    }
}

fn play(simulation: &Simulation, trace: &mut Trace, playing: bool) {
    simulation.send(Command::Play(playing));
    trace.say(if playing { "play" } else { "pause" });
}

fn choose(desk: &mut Desk, trace: &mut Trace, mode: Mode) {
    desk.look.mode = mode;
    trace.say(format!("mode {}", mode.name()));
}

/// Scene, play, pause, step, reset, speed, and what the simulation is doing.
fn transport(
    ui: &mut Ui,
    desk: &mut Desk,
    now: &Published,
    simulation: &Simulation,
    trace: &mut Trace,
) {
    let scene = &now.setup.scene;
    egui::ComboBox::from_id_salt("scene")
        .width(170.0)
        .height(420.0)
        .selected_text(RichText::new(&scene.name).strong())
        .show_ui(ui, |ui| {
            for (name, _) in SHIPPED {
                if ui.selectable_label(*name == scene.name, *name).clicked() {
                    simulation.send(Command::Open((*name).into()));
                    trace.say(format!("open {name}"));
                }
            }
        })
        .response
        .on_hover_text(&scene.description.title);
    let (sign, words) = if now.playing {
        (Sign::Pause, "Pause (Space)")
    } else {
        (Sign::Play, "Play (Space)")
    };
    let response = sign.button(ui).on_hover_text(words);
    trace.place("play", &response);
    if response.clicked() {
        play(simulation, trace, !now.playing);
    }
    let response = Sign::Step.button(ui).on_hover_text("One step (N)");
    trace.place("step", &response);
    if response.clicked() {
        simulation.send(Command::Step);
        trace.say("step");
    }
    let response = Sign::Reset
        .button(ui)
        .on_hover_text("Back to the start (R)");
    trace.place("reset", &response);
    if response.clicked() {
        simulation.send(Command::Reset);
        trace.say("reset");
    }
    ui.separator();
    ui.label("Speed");
    ui.spacing_mut().slider_width = 90.0;
    let slider = Slider::new(&mut desk.speed, 0.05..=4.0)
        .logarithmic(true)
        .suffix("×");
    if ui
        .add(slider)
        .on_hover_text("Simulated seconds per second, if the processor can")
        .changed()
    {
        simulation.send(Command::Speed(desk.speed));
    }
    ui.separator();
    ui.monospace(format!("{:8.3} s", now.snapshot.time));
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        ui.toggle_value(&mut desk.show_help, "Help")
            .on_hover_text("Keys and mouse (H)");
        ui.toggle_value(&mut desk.show_plots, "Plots")
            .on_hover_text("Live plots (P)");
        ui.toggle_value(&mut desk.show_panel, "Panel")
            .on_hover_text("Settings (Tab)");
        ui.separator();
        let record = if desk.recording { "Stop" } else { "Record" };
        if ui
            .selectable_label(desk.recording, record)
            .on_hover_text("Record an animation (C)")
            .clicked()
        {
            desk.wishes.push(Wish::Record);
        }
        let response = ui.button("Picture").on_hover_text("Save a PNG (S)");
        trace.place("picture", &response);
        if response.clicked() {
            desk.wishes.push(Wish::Screenshot);
        }
        let file = desk.state_file(&scene.name);
        let hover = |what: &str| format!("{what} {}", file.display());
        if ui
            .button("Load")
            .on_hover_text(hover("Load the state in"))
            .clicked()
        {
            simulation.send(Command::Load(file.clone()));
        }
        if ui
            .button("Save")
            .on_hover_text(hover("Save the state to"))
            .clicked()
        {
            simulation.send(Command::Save(file.clone()));
        }
    });
}

/// What is drawn.
fn display(ui: &mut Ui, desk: &mut Desk, now: &Published, trace: &mut Trace) {
    heading(ui, "Show");
    egui::Grid::new("modes")
        .num_columns(3)
        .spacing([4.0, 4.0])
        .show(ui, |ui| {
            for (i, mode) in Mode::ALL.into_iter().enumerate() {
                let name = match mode {
                    Mode::Xray => "X-ray".to_string(),
                    _ => capital(mode.name()),
                };
                let chosen = desk.look.mode == mode;
                let button = Button::selectable(chosen, name).min_size(vec2(88.0, 24.0));
                let hover = format!("Key {}", i + 1);
                let response = ui.add(button).on_hover_text(hover);
                trace.place(&format!("mode-{}", mode.name()), &response);
                if response.clicked() {
                    choose(desk, trace, mode);
                }
                if i % 3 == 2 {
                    ui.end_row();
                }
            }
        });
    ui.add_space(4.0);
    let look = &mut desk.look;
    if look.mode == Mode::Xray {
        ui.add(
            Slider::new(&mut look.exposure, 0.1..=10.0)
                .logarithmic(true)
                .text("exposure"),
        );
        ui.checkbox(&mut look.inverted, "dense is dark");
    } else if look.mode != Mode::Surface {
        ui.horizontal(|ui| {
            ui.label("Colour");
            let own = "material".to_string();
            let shown = look.field.clone().unwrap_or_else(|| own.clone());
            egui::ComboBox::from_id_salt("field")
                .width(150.0)
                .selected_text(shown.replace('_', " "))
                .show_ui(ui, |ui| {
                    ui.selectable_value(&mut look.field, None, own);
                    for field in now.snapshot.fields() {
                        let words = field.replace('_', " ");
                        ui.selectable_value(&mut look.field, Some(field.into()), words);
                    }
                });
        });
    }
    ui.horizontal(|ui| {
        ui.checkbox(&mut look.walls, "walls").on_hover_text("Key W");
        ui.checkbox(&mut look.films, "coating");
        ui.checkbox(&mut look.facets, "facets");
    });
    if look.walls && look.mode != Mode::Xray {
        ui.add(Slider::new(&mut look.wall_opacity, 0.0..=3.0).text("wall opacity"));
    }
    let mut smooth = look.samples > 1;
    if ui
        .checkbox(&mut smooth, "smooth edges")
        .on_hover_text("Draws four pixels for one")
        .changed()
    {
        look.samples = if smooth { 2 } else { 1 };
    }
}

/// What the left mouse button does.
fn tools(ui: &mut Ui, desk: &mut Desk, now: &Published, trace: &mut Trace) {
    heading(ui, "Left mouse button");
    let liquid = !now.snapshot.clouds.is_empty();
    let bodies = !now.snapshot.bodies.is_empty();
    egui::Grid::new("tools")
        .num_columns(3)
        .spacing([4.0, 4.0])
        .show(ui, |ui| {
            for (i, tool) in Tool::ALL.into_iter().enumerate() {
                let (name, key, what) = tool.words();
                let chosen = desk.tool == tool;
                let button = Button::selectable(chosen, name).min_size(vec2(88.0, 24.0));
                let hover = format!("{} (key {})", capital(what), key.name());
                let usable = match tool {
                    Tool::Pour => liquid,
                    Tool::Cut => bodies,
                    _ => true,
                };
                let response = ui.add_enabled(usable, button).on_hover_text(hover);
                trace.place(&format!("tool-{name}"), &response);
                if response.clicked() {
                    desk.tool = tool;
                    trace.say(format!("tool {name}"));
                }
                if i % 3 == 2 {
                    ui.end_row();
                }
            }
        });
    ui.weak(capital(desk.tool.words().2));
    if matches!(desk.tool, Tool::Grab | Tool::Push | Tool::Pour) {
        ui.add(Slider::new(&mut desk.reach, 0.02..=0.4).text("reach"));
    }
    if desk.tool == Tool::Tilt {
        let g = now.snapshot.gravity;
        ui.monospace(format!("{:6.2} {:6.2} {:6.2} m/s²", g.x, g.y, g.z));
    }
}

/// The fields of the picked point.
fn inspector(ui: &mut Ui, desk: &mut Desk, now: &Published) {
    let Some(picked) = desk.picked else { return };
    heading(ui, "Inspect");
    let Some(reading) = pick::read(&now.snapshot, &picked) else {
        ui.weak("It is gone.");
        return;
    };
    egui::Grid::new("reading").num_columns(2).show(ui, |ui| {
        let row = |ui: &mut Ui, name: &str, text: String| {
            ui.label(name);
            ui.monospace(text);
            ui.end_row();
        };
        let kind = if picked.body { "point" } else { "particle" };
        row(ui, reading.matter, format!("{kind} {}", picked.id));
        let vector = |v: glam::Vec3| format!("{:.4} {:.4} {:.4}", v.x, v.y, v.z);
        row(ui, "place [m]", vector(reading.place));
        row(ui, "velocity [m/s]", vector(reading.velocity));
        for (name, value) in &reading.values {
            row(ui, &name.replace('_', " "), format!("{value:.5}"));
        }
    });
    if ui.small_button("forget").clicked() {
        desk.picked = None;
    }
}

/// Sliders for everything that the scene declares.
fn parameters(
    ui: &mut Ui,
    desk: &mut Desk,
    now: &Published,
    simulation: &Simulation,
    trace: &mut Trace,
) {
    heading(ui, "Parameters");
    ui.add(
        egui::TextEdit::singleline(&mut desk.filter)
            .hint_text("find a parameter")
            .desired_width(f32::INFINITY),
    );
    let wanted = desk.filter.trim().to_lowercase();
    let all = &now.setup.parameters;
    let fits = |p: &Parameter| wanted.is_empty() || p.key.to_lowercase().contains(&wanted);
    let mut groups: Vec<&str> = Vec::new();
    for p in all.iter().filter(|p| fits(p)) {
        if groups.last() != Some(&p.group.as_str()) {
            groups.push(&p.group);
        }
    }
    for (i, group) in groups.into_iter().enumerate() {
        let own = all.iter().filter(|p| p.group == group && fits(p));
        egui::CollapsingHeader::new(group)
            .id_salt((group, now.setup.scene.name.as_str()))
            .default_open(i < 2)
            .open((!wanted.is_empty()).then_some(true))
            .show(ui, |ui| {
                for p in own {
                    parameter(ui, desk, p, simulation, trace);
                }
            });
    }
    ui.add_space(12.0);
}

/// One parameter. What is dragged takes effect when it is let go.
fn parameter(
    ui: &mut Ui,
    desk: &mut Desk,
    p: &Parameter,
    simulation: &Simulation,
    trace: &mut Trace,
) {
    let mark = if p.restarts { "restarts" } else { "" };
    let unit = if p.unit.is_empty() {
        String::new()
    } else {
        format!(" [{}]", p.unit)
    };
    let again = if p.restarts {
        "\nChanging it starts the scene again."
    } else {
        ""
    };
    let hover = format!("{}\n\n--set {}=…{again}", p.doc, p.key);
    let mut setting = desk.edits.get(&p.key).cloned().unwrap_or(p.setting.clone());
    ui.horizontal(|ui| {
        ui.label(format!("{}{unit}", p.label)).on_hover_text(&hover);
        ui.small(mark);
    });
    let response = match &mut setting {
        Setting::Number {
            value,
            range,
            logarithmic,
            whole,
        } => {
            ui.spacing_mut().slider_width = 170.0;
            let mut slider = Slider::new(value, range[0]..=range[1])
                .logarithmic(*logarithmic)
                .clamping(egui::SliderClamping::Never);
            if *whole {
                slider = slider.integer();
            }
            ui.add(slider)
        }
        Setting::Flag(value) => ui.checkbox(value, if *value { "yes" } else { "no" }),
        Setting::Choice { value, options } => {
            let before = value.clone();
            let mut response = egui::ComboBox::from_id_salt(&p.key)
                .width(170.0)
                .selected_text(value.as_str())
                .show_ui(ui, |ui| {
                    for option in options.iter() {
                        ui.selectable_value(value, option.clone(), option);
                    }
                })
                .response;
            if *value != before {
                response.mark_changed();
            }
            response
        }
        Setting::Vector(v) => ui
            .horizontal(|ui| {
                let speed = 0.01 * v.iter().fold(0.1f64, |a, b| a.max(b.abs()));
                let drags = v
                    .iter_mut()
                    .map(|x| ui.add(egui::DragValue::new(x).speed(speed)));
                let mut all: Option<egui::Response> = None;
                for drag in drags.collect::<Vec<_>>() {
                    all = Some(match all {
                        Some(a) => a | drag,
                        None => drag,
                    });
                }
                all
            })
            .inner
            .unwrap_or_else(|| ui.label("")),
    };
    let response = response.on_hover_text(&hover);
    trace.place(&format!("parameter-{}", p.key), &response);
    if response.changed() {
        desk.edits.insert(p.key.clone(), setting.clone());
    }
    let settled = response.drag_stopped() || (response.changed() && !response.dragged());
    if settled && let Some(setting) = desk.edits.get(&p.key) {
        let value = match setting {
            Setting::Number { value, whole, .. } if *whole => format!("{value:.0}"),
            Setting::Number { value, .. } => format!("{}", *value as f32),
            Setting::Flag(value) => value.to_string(),
            Setting::Choice { value, .. } => format!("{value:?}"),
            Setting::Vector([x, y, z]) => format!("[{x}, {y}, {z}]"),
        };
        trace.say(format!("set {}={value}", p.key));
        simulation.send(Command::Set(p.key.clone(), value));
    }
    // What the scene says by now.
    if !response.dragged() && desk.edits.get(&p.key).is_some_and(|e| same(e, &p.setting)) {
        desk.edits.remove(&p.key);
    }
}

/// True if two settings have the same value, whatever the ends of their sliders.
fn same(a: &Setting, b: &Setting) -> bool {
    match (a, b) {
        (Setting::Number { value: a, .. }, Setting::Number { value: b, .. }) => {
            *a as f32 == *b as f32
        }
        _ => a == b,
    }
}

/// What keys and mouse do.
fn help(ui: &Ui, desk: &mut Desk) {
    let lines = [
        ("Space", "play and pause"),
        ("N or →", "one step"),
        ("R", "back to the start"),
        (
            "1 to 6",
            "particles, surface, surfels, gas, X-ray, wireframe",
        ),
        (
            "O G U L K I T",
            "orbit, grab, push, pour, cut, inspect, tilt gravity",
        ),
        ("left mouse", "the chosen tool"),
        ("right mouse", "go around"),
        ("middle mouse", "move the view (also Shift and right)"),
        ("wheel", "nearer and farther"),
        ("W", "walls"),
        ("S or F12", "save a picture"),
        ("C or F11", "record an animation, and stop it"),
        ("Tab, P, H", "settings, plots, this help"),
        ("Ctrl and Q", "quit"),
    ];
    egui::Window::new("Help")
        .open(&mut desk.show_help)
        .collapsible(false)
        .resizable(false)
        .anchor(egui::Align2::CENTER_CENTER, [120.0, -40.0])
        .show(ui.ctx(), |ui| {
            egui::Grid::new("help")
                .num_columns(2)
                .spacing([18.0, 6.0])
                .show(ui, |ui| {
                    for (keys, what) in lines {
                        ui.label(
                            RichText::new(keys)
                                .strong()
                                .color(Color32::from_rgb(120, 180, 250)),
                        );
                        ui.label(what);
                        ui.end_row();
                    }
                });
            ui.add_space(6.0);
            ui.weak("Hold the mouse over a parameter to read what it does.");
        });
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}
