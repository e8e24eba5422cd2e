//! A record of what happens in the window, for tests and for reports of mistakes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes one line per event; does nothing without a file.
#[derive(Default)]
pub(super) struct Trace {
    out: Option<BufWriter<File>>,
    places: std::collections::BTreeMap<String, [i32; 4]>,
}

impl Trace {
    /// A trace into `path`.
    pub fn to(path: &Path) -> std::io::Result<Trace> {
        Ok(Trace {
            out: Some(BufWriter::new(File::create(path)?)),
            places: Default::default(),
        })
    }

    /// True if anybody reads it.
    pub fn is_on(&self) -> bool {
        self.out.is_some()
    }

    /// Writes a line.
    pub fn say(&mut self, line: impl AsRef<str>) {
        if let Some(out) = &mut self.out {
            // A full disk is no reason to stop looking.
            let _ = writeln!(out, "{}", line.as_ref());
            let _ = out.flush();
        }
    }

    /// Notes where a control is, in pixels, if it has moved.
    pub fn place(&mut self, name: &str, response: &egui::Response) {
        if self.out.is_none() {
            return;
        }
        let (rect, scale) = (response.rect, response.ctx.pixels_per_point());
        let place = [rect.left(), rect.top(), rect.right(), rect.bottom()];
        let place = place.map(|v| (v * scale).round() as i32);
        if self.places.get(name) != Some(&place) {
            self.places.insert(name.into(), place);
            let [left, top, right, bottom] = place;
            self.say(format!("place {name} {left} {top} {right} {bottom}"));
        }
    }
}
