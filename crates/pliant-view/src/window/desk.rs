//! What the user has chosen: the view, the tool, open panels.

use std::collections::BTreeMap;
use std::path::PathBuf;

use egui::Pos2;
use glam::Vec3;
use pliant_render::Camera;

use super::plots::Plots;
use crate::look::Look;
use crate::orbit::Orbit;
use crate::parameters::Setting;
use crate::pick::Picked;
use crate::simulation::Published;
use crate::snapshot::Snapshot;

/// What the left mouse button does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    Orbit,
    Grab,
    Push,
    Pour,
    Cut,
    Inspect,
    Tilt,
}

impl Tool {
    pub const ALL: [Tool; 7] = [
        Tool::Orbit,
        Tool::Grab,
        Tool::Push,
        Tool::Pour,
        Tool::Cut,
        Tool::Inspect,
        Tool::Tilt,
    ];

    /// Name, key, and what a drag does.
    pub fn words(self) -> (&'static str, egui::Key, &'static str) {
        match self {
            Tool::Orbit => ("Orbit", egui::Key::O, "drag to go around the scene"),
            Tool::Grab => ("Grab", egui::Key::G, "drag matter along"),
            Tool::Push => ("Push", egui::Key::U, "hold to push matter away from you"),
            Tool::Pour => ("Pour", egui::Key::L, "hold to pour liquid"),
            Tool::Cut => (
                "Cut",
                egui::Key::K,
                "drag a line to cut the solids behind it",
            ),
            Tool::Inspect => (
                "Inspect",
                egui::Key::I,
                "click a particle or body to read it",
            ),
            Tool::Tilt => ("Tilt", egui::Key::T, "drag to turn gravity"),
        }
    }
}

/// What is to be done after this frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Screenshot,
    Record,
    Quit,
}

/// Everything that the user has chosen.
pub(super) struct Desk {
    pub look: Look,
    pub orbit: Orbit,
    pub tool: Tool,
    /// Radius of the hand, as a share of the scene's size.
    pub reach: f32,
    pub picked: Option<Picked>,
    /// Where the hand holds on, while a button is down.
    pub held: Option<Vec3>,
    /// Where a cut begins on the screen, while a button is down.
    pub cut_from: Option<Pos2>,
    /// The last cut, until it is known what it has opened: the snapshot before it, and
    /// the points of bodies in it.
    pub cut: Option<(u64, usize)>,
    pub speed: f32,
    pub show_panel: bool,
    pub show_plots: bool,
    pub show_help: bool,
    /// Sliders that are being dragged.
    pub edits: BTreeMap<String, Setting>,
    pub filter: String,
    pub plots: Plots,
    pub wishes: Vec<Wish>,
    pub recording: bool,
    /// A word to the user, and until when, in seconds.
    pub toast: Option<(String, f64)>,
    /// Where files go.
    pub folder: PathBuf,
    /// The scene that the view was chosen for.
    number: u64,
    /// Ends of the colour scale so far.
    range: Option<(String, (f32, f32))>,
}

impl Desk {
    pub fn new(look: Look, camera: Camera, folder: PathBuf) -> Desk {
        Desk {
            look,
            orbit: camera.into(),
            tool: Tool::Orbit,
            reach: 0.12,
            picked: None,
            held: None,
            cut_from: None,
            cut: None,
            speed: 1.0,
            show_panel: true,
            show_plots: true,
            show_help: false,
            edits: BTreeMap::new(),
            filter: String::new(),
            plots: Plots::default(),
            wishes: Vec::new(),
            recording: false,
            toast: None,
            folder,
            number: 1,
            range: None,
        }
    }

    /// Another scene is looked at from its own place. True if it is another one.
    pub fn follow(&mut self, now: &Published, camera: impl Fn() -> Camera) -> bool {
        if now.setup.number == self.number {
            return false;
        }
        self.number = now.setup.number;
        self.orbit = camera().into();
        self.picked = None;
        self.held = None;
        self.cut_from = None;
        self.cut = None;
        self.edits.clear();
        self.plots.clear();
        self.range = None;
        let known = now.snapshot.fields();
        if self
            .look
            .field
            .as_deref()
            .is_some_and(|f| !known.contains(&f))
        {
            self.look.field = None;
        }
        true
    }

    /// Chooses the ends of the colour scale: they grow with the values, so that colours
    /// keep their meaning from one picture to the next.
    pub fn scale(&mut self, snapshot: &Snapshot, speed_range: f32) {
        let Some(field) = &self.look.field else {
            self.look.range = Some((0.0, speed_range));
            return;
        };
        let seen = snapshot.range_of(field);
        let before = self.range.take().filter(|(name, _)| name == field);
        let range = match (before, seen) {
            (Some((_, (a, b))), Some((c, d))) => Some((a.min(c), b.max(d))),
            (Some((_, old)), None) => Some(old),
            (None, seen) => seen,
        };
        self.look.range = range;
        self.range = range.map(|r| (field.clone(), r));
    }

    /// Where the state of a scene is kept.
    pub fn state_file(&self, scene: &str) -> PathBuf {
        self.folder.join(format!("{scene}.pliant"))
    }

    /// Shows a word for a few seconds.
    pub fn say(&mut self, text: impl Into<String>, now: f64) {
        self.toast = Some((text.into(), now + 4.0));
    }
}
