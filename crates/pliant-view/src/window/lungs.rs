//! The named volumes of lungs, as a table in the panel.

use egui::Ui;

use crate::simulation::Setup;

/// What the short names mean.
const MEANINGS: [(&str, &str); 9] = [
    ("target", "Volume asked for now"),
    ("V_T", "Tidal volume: air moved in a normal breath"),
    (
        "FRC",
        "Functional residual capacity: left after a normal exhalation",
    ),
    (
        "TLC",
        "Total lung capacity: at the end of a maximal inspiration",
    ),
    ("RV", "Residual volume: left after a maximal expiration"),
    (
        "VC",
        "Vital capacity: expelled after a maximal inspiration, forced (FVC)",
    ),
    (
        "IRV",
        "Inspiratory reserve: inhalable beyond a normal inhalation",
    ),
    (
        "ERV",
        "Expiratory reserve: exhalable beyond a normal exhalation",
    ),
    (
        "IC",
        "Inspiratory capacity: inhalable after a normal exhalation",
    ),
];

/// The lungs among the probes, and of each the places of its volumes in the order of
/// [`MEANINGS`].
fn lungs(probes: &[(String, &str)]) -> Vec<(String, [Option<usize>; MEANINGS.len()])> {
    let mut found: Vec<(String, [Option<usize>; MEANINGS.len()])> = Vec::new();
    for (place, (name, _)) in probes.iter().enumerate() {
        let Some((lung, part)) = name.split_once(": lung volume ") else {
            continue;
        };
        let Some(k) = MEANINGS.iter().position(|(short, _)| *short == part) else {
            continue;
        };
        if found.last().is_none_or(|(last, _)| last != lung) {
            found.push((lung.to_string(), [None; MEANINGS.len()]));
        }
        if let Some((_, places)) = found.last_mut() {
            places[k] = Some(place);
        }
    }
    found
}

/// Shows the volumes in litres; nothing if no probe watches a lung.
pub(super) fn show(ui: &mut Ui, setup: &Setup, values: &[f64]) {
    let lungs = lungs(&setup.probes);
    if lungs.is_empty() {
        return;
    }
    super::panels::heading(ui, "Lung volumes [l]");
    egui::Grid::new("lungs").striped(true).show(ui, |ui| {
        ui.label("");
        for (name, _) in &lungs {
            ui.strong(name);
        }
        ui.end_row();
        for (k, (short, meaning)) in MEANINGS.iter().enumerate() {
            ui.label(*short).on_hover_text(*meaning);
            for (_, places) in &lungs {
                let value = places[k].and_then(|place| values.get(place));
                ui.monospace(text(value.copied())).on_hover_text(*meaning);
            }
            ui.end_row();
        }
    });
}

/// A volume; what has not been breathed yet is a dash.
fn text(value: Option<f64>) -> String {
    match value.filter(|v| v.is_finite()) {
        Some(litres) => format!("{litres:.3}"),
        None => "–".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lungs_are_found_among_the_probes() {
        let names = [
            "water: volume",
            "left: volume",
            "left: lung volume target",
            "left: lung volume V_T",
            "right: lung volume target",
            "right: lung volume IC",
        ];
        let probes: Vec<(String, &str)> = names.iter().map(|n| (n.to_string(), "l")).collect();
        let found = lungs(&probes);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].0, "left");
        assert_eq!(found[0].1[..3], [Some(2), Some(3), None]);
        assert_eq!(found[1].1[0], Some(4));
        assert_eq!(found[1].1[8], Some(5));
    }

    #[test]
    fn what_has_not_been_breathed_is_a_dash() {
        assert_eq!(text(Some(f64::NAN)), "–");
        assert_eq!(text(None), "–");
        assert_eq!(text(Some(1.4256)), "1.426");
    }
}
