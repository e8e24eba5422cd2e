//! Tables of numbers that grow during a run.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::OutputError;

/// A CSV file with a header line. Each row goes to the system in one piece, so
/// that an interrupted run leaves whole rows.
#[derive(Debug)]
pub struct CsvWriter {
    path: PathBuf,
    file: File,
    columns: usize,
}

impl CsvWriter {
    /// Creates the file and writes the header.
    pub fn create(path: impl AsRef<Path>, columns: &[&str]) -> Result<CsvWriter, OutputError> {
        let path = path.as_ref().to_path_buf();
        let file = File::create(&path).map_err(|e| OutputError::io(&path, e))?;
        let mut writer = CsvWriter {
            path,
            file,
            columns: columns.len(),
        };
        let header: Vec<String> = columns.iter().map(|c| quoted(c)).collect();
        writer.line(header.join(","))?;
        Ok(writer)
    }

    /// Appends a row with as many digits as it takes to read the same numbers
    /// back.
    pub fn row(&mut self, values: &[f64]) -> Result<(), OutputError> {
        OutputError::check_length(&self.path, "the row", self.columns, values.len())?;
        let cells: Vec<String> = values.iter().map(|v| format!("{v:?}")).collect();
        self.line(cells.join(","))
    }

    fn line(&mut self, mut line: String) -> Result<(), OutputError> {
        line.push('\n');
        let written = self.file.write_all(line.as_bytes());
        written.map_err(|e| OutputError::io(&self.path, e))
    }
}

/// The rows of a file that [`CsvWriter`] wrote, up to the first that is not whole;
/// nothing if the file cannot be read.
pub fn read_csv(path: &Path) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .skip(1)
        .map_while(|line| line.split(',').map(|cell| cell.parse().ok()).collect())
        .collect()
}

/// A header cell, in quotes if it needs them (RFC 4180).
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::test_folder;

    #[test]
    fn rows_are_on_disk_at_once_and_round_trip() {
        let dir = test_folder("csv");
        let path = dir.join("t.csv");
        let mut csv = CsvWriter::create(&path, &["time [s]", "a, b"]).unwrap();
        let rows = [
            [0.1 + 0.2, -1e-300],
            [f64::MAX, 3.0],
            [f64::NAN, f64::INFINITY],
        ];
        for (k, row) in rows.iter().enumerate() {
            csv.row(row).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text.lines().count(), k + 2);
            assert!(text.ends_with('\n'));
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().next(), Some("time [s],\"a, b\""));
        for (line, row) in text.lines().skip(1).zip(rows) {
            for (cell, value) in line.split(',').zip(row) {
                let read: f64 = cell.parse().unwrap();
                assert!(read == value || (read.is_nan() && value.is_nan()));
            }
        }
        let error = csv.row(&[1.0]).unwrap_err().to_string();
        assert!(error.contains("1 values where 2"), "{error}");
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let error = CsvWriter::create("/dev/full", &["t"])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("/dev/full") && error.contains("space"),
            "{error}"
        );
    }
}
