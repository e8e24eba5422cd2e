//! Tables of numbers that grow during a run.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::OutputError;
use super::atomic::write_atomic;

/// A CSV file with a header line. Each row goes to the system in one piece, so
/// that an interrupted run leaves whole rows.
#[derive(Debug)]
pub struct CsvWriter {
    path: PathBuf,
    file: File,
    columns: usize,
}

impl CsvWriter {
    /// Creates the file with a header and, if an earlier run is continued, its
    /// rows. Until they are all on disk an older file stays as it is.
    pub fn create(
        path: impl AsRef<Path>,
        columns: &[&str],
        rows: &[Vec<f64>],
    ) -> Result<CsvWriter, OutputError> {
        let path = path.as_ref().to_path_buf();
        let header: Vec<String> = columns.iter().map(|c| quoted(c)).collect();
        let mut text = header.join(",") + "\n";
        for row in rows {
            OutputError::check_length(&path, "the row", columns.len(), row.len())?;
            text += &line(row);
        }
        write_atomic(&path, text.as_bytes())?;
        let file = File::options().append(true).open(&path);
        Ok(CsvWriter {
            file: file.map_err(|e| OutputError::io(&path, e))?,
            path,
            columns: columns.len(),
        })
    }

    /// Appends a row with as many digits as it takes to read the same numbers
    /// back.
    pub fn row(&mut self, values: &[f64]) -> Result<(), OutputError> {
        OutputError::check_length(&self.path, "the row", self.columns, values.len())?;
        let io = |e| OutputError::io(&self.path, e);
        let whole = self.file.metadata().map_err(io)?.len();
        self.file.write_all(line(values).as_bytes()).map_err(|e| {
            // A full disk may have taken a part of the row.
            let _ = self.file.set_len(whole);
            io(e)
        })
    }
}

/// A row as text, with its end.
fn line(values: &[f64]) -> String {
    let cells: Vec<String> = values.iter().map(|v| format!("{v:?}")).collect();
    cells.join(",") + "\n"
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
        let mut csv = CsvWriter::create(&path, &["time [s]", "a, b"], &[]).unwrap();
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
    fn rows_of_an_earlier_run_come_first() {
        let dir = test_folder("csv-again");
        let path = dir.join("t.csv");
        let earlier = [vec![1.0, 0.1], vec![2.0, 0.2]];
        let mut csv = CsvWriter::create(&path, &["a", "b"], &earlier).unwrap();
        csv.row(&[3.0, 0.3]).unwrap();
        assert_eq!(read_csv(&path), [[1.0, 0.1], [2.0, 0.2], [3.0, 0.3]]);
        assert!(CsvWriter::create(&path, &["a"], &earlier).is_err());
        assert_eq!(read_csv(&path).len(), 3);
        let missing = dir.join("missing/t.csv");
        let error = CsvWriter::create(missing, &["t"], &[]).unwrap_err();
        assert!(error.to_string().contains("missing/t.csv"), "{error}");
        std::fs::remove_dir_all(dir).unwrap();
    }
}
