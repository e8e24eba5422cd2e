//! What a run records of its probes: a table, charts, and the last values.

use std::collections::BTreeMap;

use pliant::scene::Built;
use pliant_render::{LineChart, PALETTE, Series};
use serde::Serialize;

use super::folder::Folder;
use super::recorder::{kept_rows, plain};
use crate::error::CliError;
use crate::output::csv::CsvWriter;

/// The numbers of one probe at the end of a run.
#[derive(Clone, Debug, Serialize)]
pub struct LastValues {
    /// Name of the probe.
    pub probe: String,
    /// Column and number; those that do not exist are null.
    pub values: BTreeMap<&'static str, f64>,
}

/// What the probes of a scene read now.
pub fn last_values(built: &Built) -> Vec<LastValues> {
    let of = |probe: &pliant::observe::Probe| LastValues {
        probe: probe.name.clone(),
        values: probe
            .quantities()
            .iter()
            .map(|q| q.column)
            .zip(probe.read(&built.world))
            .collect(),
    };
    built.probes.iter().map(of).collect()
}

/// The table of a run's probes: `probes.csv`.
pub struct ProbeTable {
    csv: CsvWriter,
    rows: Vec<Vec<f64>>,
    columns: Vec<Column>,
}

/// A column after those of frame and time.
struct Column {
    /// Kind of quantity and its unit: one chart each.
    kind: (&'static str, &'static str),
    /// Name of the line in the chart.
    line: String,
}

impl ProbeTable {
    /// Opens the table, and keeps the rows that an earlier run wrote up to frame
    /// `done`; `None` if the scene has no probes.
    pub fn open(folder: &Folder, built: &Built) -> Result<Option<ProbeTable>, CliError> {
        if built.probes.is_empty() {
            return Ok(None);
        }
        let mut header = vec!["frame".to_string(), "time_s".to_string()];
        let mut columns = Vec::new();
        let names = plain(built.probes.iter().map(|p| &p.name));
        for (probe, name) in built.probes.iter().zip(names) {
            for q in probe.quantities() {
                header.push(format!("{name}.{}", q.column));
                columns.push(Column {
                    kind: (q.kind, q.unit),
                    line: format!("{} {}", probe.name, q.part).trim_end().to_string(),
                });
            }
        }
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let path = folder.file("probes.csv");
        let rows = kept_rows(&path, header.len(), built.world.steps().0);
        Ok(Some(ProbeTable {
            csv: CsvWriter::create(&path, &header, &rows)?,
            rows,
            columns,
        }))
    }

    /// Writes the row of frame `k`.
    pub fn row(&mut self, k: u64, built: &Built) -> Result<(), CliError> {
        let mut row = vec![k as f64, built.world.time()];
        row.extend(built.probes.iter().flat_map(|p| p.read(&built.world)));
        self.csv.row(&row)?;
        self.rows.push(row);
        Ok(())
    }

    /// Draws a chart of every kind of quantity.
    pub fn charts(&self, folder: &Folder) -> Result<(), CliError> {
        let mut kinds: Vec<(&str, &str)> = Vec::new();
        for column in &self.columns {
            if !kinds.contains(&column.kind) {
                kinds.push(column.kind);
            }
        }
        for (kind, unit) in kinds {
            let of_kind = self.columns.iter().enumerate();
            let lines: Vec<Series> = of_kind
                .filter(|(_, c)| c.kind == (kind, unit))
                .map(|(k, c)| {
                    let points = self.rows.iter().map(|r| (r[1], r[2 + k])).collect();
                    Series::line(c.line.clone(), points)
                })
                .collect();
            // As many lines to a chart as colours can tell apart.
            for (page, series) in lines.chunks(PALETTE.len()).enumerate() {
                let page = match page {
                    0 => String::new(),
                    more => format!("_{}", more + 1),
                };
                let file = format!("probes_{}{page}.png", kind.replace(' ', "_"));
                LineChart {
                    title: capitalised(kind),
                    x_label: "time [s]".into(),
                    y_label: format!("{kind} [{unit}]"),
                    series: series.to_vec(),
                    ..LineChart::default()
                }
                .save_png(folder.file(file))?;
            }
        }
        Ok(())
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
