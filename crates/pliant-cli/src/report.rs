//! Rows of figures: as aligned text, as JSON lines, or as Markdown tables.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::FormatArgs;

/// How rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Aligned columns.
    Text,
    /// One object per line.
    Json,
    /// A table per heading.
    Markdown,
}

impl From<FormatArgs> for Format {
    fn from(args: FormatArgs) -> Format {
        if args.json {
            Format::Json
        } else if args.markdown {
            Format::Markdown
        } else {
            Format::Text
        }
    }
}

/// Prints rows table by table. JSON rows come out at once, tables when they end.
pub struct Report {
    format: Format,
    rows: Vec<Map<String, Value>>,
}

impl Report {
    /// A report in `format`.
    pub fn new(format: Format) -> Report {
        Report {
            format,
            rows: Vec::new(),
        }
    }

    /// The heading of a whole page, in Markdown only.
    pub fn page(&mut self, title: &str, about: &str) {
        if self.format == Format::Markdown {
            say!("# {title}\n\n{about}");
        }
    }

    /// Begins a table: `title` is the heading, `about` says what it shows.
    pub fn table(&mut self, title: &str, about: &str) {
        self.end();
        match self.format {
            Format::Text => say!("\n{title}\n{about}"),
            Format::Markdown => say!("\n## {title}\n\n{about}\n"),
            Format::Json => {}
        }
    }

    /// Adds a row: `kind` (`bench` or `validate`) and `case` come first, then the
    /// fields of `figures`.
    pub fn row(&mut self, first: &[(&str, &str)], figures: &impl Serialize) {
        let mut row = Map::new();
        for (key, value) in first {
            row.insert((*key).into(), Value::String((*value).into()));
        }
        if let Ok(Value::Object(figures)) = serde_json::to_value(figures) {
            row.extend(figures);
        }
        if self.format == Format::Json {
            say!("{}", Value::Object(row));
        } else {
            row.shift_remove("bench");
            self.rows.push(row);
        }
    }

    /// A remark below the table.
    pub fn note(&mut self, text: &str) {
        self.end();
        match self.format {
            Format::Text => say!("{text}"),
            Format::Markdown => say!("\n{text}"),
            Format::Json => {}
        }
    }

    /// Prints the table that is open, if any.
    pub fn end(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let mut columns: Vec<String> = Vec::new();
        for key in rows.iter().flat_map(Map::keys) {
            if !columns.contains(key) {
                columns.push(key.clone());
            }
        }
        if columns.is_empty() {
            return;
        }
        let cells: Vec<Vec<String>> = rows
            .iter()
            .map(|row| columns.iter().map(|c| cell(c, row.get(c))).collect())
            .collect();
        let heads: Vec<String> = columns.iter().map(|c| c.replace('_', " ")).collect();
        match self.format {
            Format::Markdown => {
                say!("| {} |", heads.join(" | "));
                say!("|{}", " --- |".repeat(heads.len()));
                for row in cells {
                    say!("| {} |", row.join(" | "));
                }
            }
            _ => {
                let widths: Vec<usize> = (0..heads.len())
                    .map(|c| {
                        let longest = cells.iter().map(|r| r[c].chars().count()).max();
                        longest.unwrap_or(0).max(heads[c].chars().count())
                    })
                    .collect();
                let line = |row: &[String]| {
                    let padded: Vec<String> = row
                        .iter()
                        .zip(&widths)
                        .map(|(cell, &width)| format!("{cell:>width$}"))
                        .collect();
                    say!("  {}", padded.join("  "));
                };
                line(&heads);
                cells.iter().for_each(|row| line(row));
            }
        }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        self.end();
    }
}

fn cell(column: &str, value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(s)) => s.clone(),
        Some(Value::Bool(true)) => "yes".into(),
        // A failure must not be overlooked.
        Some(Value::Bool(false)) if column == "pass" => "**NO**".into(),
        Some(Value::Bool(false)) => "no".into(),
        Some(Value::Number(n)) => match n.as_f64() {
            Some(v) if n.is_f64() => number(v),
            _ => n.to_string(),
        },
        Some(other) => other.to_string(),
    }
}

/// Four significant digits, without needless zeros.
pub fn number(v: f64) -> String {
    if v == 0.0 || !v.is_finite() {
        return v.to_string();
    }
    let magnitude = v.abs().log10().floor() as i32;
    if !(-4..7).contains(&magnitude) {
        return format!("{v:.3e}");
    }
    let decimals = (3 - magnitude).max(0) as usize;
    let text = format!("{v:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').into()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_keep_four_digits() {
        for (v, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (12.3456, "12.35"),
            (123_456.0, "123456"),
            (0.001_234_56, "0.001235"),
            (1.5e-9, "1.500e-9"),
            (-2.5, "-2.5"),
        ] {
            assert_eq!(number(v), text);
        }
    }
}
