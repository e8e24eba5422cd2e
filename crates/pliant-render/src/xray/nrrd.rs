//! Density volumes as NRRD files (`.nrrd`, or `.nhdr` with raw data beside it).

use std::fs;
use std::path::{Path, PathBuf};

use glam::Vec3;

use super::volume::Volume;

/// Why a volume could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum VolumeError {
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The head of the file makes no sense, or asks for what is not supported.
    #[error("{}: line {line}: {problem}", path.display())]
    Head {
        /// The file.
        path: PathBuf,
        /// Line of the head, from 1.
        line: usize,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// There are fewer values than the head promises.
    #[error("{}: the data has {found} bytes where {expected} are needed", path.display())]
    Short {
        /// The file with the data.
        path: PathBuf,
        /// Bytes that are there.
        found: usize,
        /// Bytes that the head asks for.
        expected: usize,
    },
}

/// Types of values: names, bytes, and how a value is read.
type Kind = (&'static [&'static str], usize, fn(&[u8], bool) -> f32);

const KINDS: [Kind; 8] = [
    (&["signed char", "int8", "int8_t"], 1, |b, _| {
        f32::from(b[0] as i8)
    }),
    (
        &["uchar", "unsigned char", "uint8", "uint8_t"],
        1,
        |b, _| f32::from(b[0]),
    ),
    (
        &["short", "short int", "signed short", "int16", "int16_t"],
        2,
        |b, big| f32::from(i16::from_le_bytes(ordered(b, big))),
    ),
    (
        &["ushort", "unsigned short", "uint16", "uint16_t"],
        2,
        |b, big| f32::from(u16::from_le_bytes(ordered(b, big))),
    ),
    (&["int", "signed int", "int32", "int32_t"], 4, |b, big| {
        i32::from_le_bytes(ordered(b, big)) as f32
    }),
    (
        &["uint", "unsigned int", "uint32", "uint32_t"],
        4,
        |b, big| u32::from_le_bytes(ordered(b, big)) as f32,
    ),
    (&["float"], 4, |b, big| f32::from_le_bytes(ordered(b, big))),
    (&["double"], 8, |b, big| {
        f64::from_le_bytes(ordered(b, big)) as f32
    }),
];

/// The bytes of one value, least first. There are `N` of them.
fn ordered<const N: usize>(bytes: &[u8], big: bool) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[..N]);
    if big {
        out.reverse();
    }
    out
}

/// What a head says.
#[derive(Default)]
struct Head {
    kind: Option<Kind>,
    sizes: Option<[usize; 3]>,
    spacing: Option<Vec3>,
    origin: Option<Vec3>,
    big: bool,
    data_file: Option<String>,
}

impl Volume {
    /// Reads a NRRD file with three dimensions and raw data. Lengths in the file
    /// are multiplied by `metres_per_unit`: 0.001 for millimetres.
    pub fn read_nrrd(path: &Path, metres_per_unit: f32) -> Result<Volume, VolumeError> {
        let io = |path: &Path, source| VolumeError::Io {
            path: path.to_path_buf(),
            source,
        };
        let bytes = fs::read(path).map_err(|e| io(path, e))?;
        let (head, data_start) = head(path, &bytes)?;
        let fail = |problem: String| VolumeError::Head {
            path: path.to_path_buf(),
            line: 1,
            problem,
        };
        let missing = |what: &str| fail(format!("the head has no `{what}` line"));
        let (_, width, read) = head.kind.ok_or_else(|| missing("type"))?;
        let size = head.sizes.ok_or_else(|| missing("sizes"))?;
        let expected = size
            .iter()
            .try_fold(width, |n, &s| n.checked_mul(s))
            .ok_or_else(|| fail(format!("{size:?} nodes are too many")))?;
        let outside;
        let (data, data_path) = match &head.data_file {
            None => (&bytes[data_start..], path.to_path_buf()),
            Some(name) => {
                let beside = path.with_file_name(name);
                outside = fs::read(&beside).map_err(|e| io(&beside, e))?;
                (&outside[..], beside)
            }
        };
        if data.len() < expected {
            return Err(VolumeError::Short {
                path: data_path,
                found: data.len(),
                expected,
            });
        }
        let values = data[..expected]
            .chunks_exact(width)
            .map(|b| read(b, head.big));
        Ok(Volume {
            size,
            origin: metres_per_unit * head.origin.unwrap_or(Vec3::ZERO),
            spacing: metres_per_unit * head.spacing.unwrap_or(Vec3::ONE),
            values: values.collect(),
        })
    }

    /// Writes a NRRD file with lengths in metres.
    pub fn write_nrrd(&self, path: &Path) -> Result<(), VolumeError> {
        let ([x, y, z], s, o) = (self.size, self.spacing, self.origin);
        let mut file = format!(
            "NRRD0004\ntype: float\ndimension: 3\nsizes: {x} {y} {z}\nspace dimension: 3\n\
             space directions: ({:?},0,0) (0,{:?},0) (0,0,{:?})\nspace origin: ({:?},{:?},{:?})\n\
             endian: little\nencoding: raw\n\n",
            s.x, s.y, s.z, o.x, o.y, o.z
        )
        .into_bytes();
        file.extend(self.values.iter().flat_map(|v| v.to_le_bytes()));
        fs::write(path, file).map_err(|source| VolumeError::Io {
            path: path.to_path_buf(),
            source,
        })
    }
}

/// Reads the head; the second result is where data in the same file starts.
fn head(path: &Path, bytes: &[u8]) -> Result<(Head, usize), VolumeError> {
    let mut head = Head::default();
    let mut at = 0;
    let mut line = 0;
    loop {
        let rest = &bytes[at..];
        let end = rest.iter().position(|&b| b == b'\n');
        let text = String::from_utf8_lossy(&rest[..end.unwrap_or(rest.len())]);
        let text = text.trim_end_matches('\r');
        at += end.map_or(rest.len(), |e| e + 1);
        line += 1;
        let fail = |problem: String| VolumeError::Head {
            path: path.to_path_buf(),
            line,
            problem,
        };
        if line == 1 {
            if !text.starts_with("NRRD") {
                return Err(fail(
                    "not a NRRD file: the first line must start with NRRD".into(),
                ));
            }
        } else if text.is_empty() {
            return Ok((head, at));
        } else if !text.starts_with('#') {
            field(&mut head, text).map_err(fail)?;
        }
        if end.is_none() {
            return Ok((head, at));
        }
    }
}

/// Takes one line of the head.
fn field(head: &mut Head, text: &str) -> Result<(), String> {
    let Some((name, value)) = text.split_once(':') else {
        return Err(format!("{text:?} is not `field: value`"));
    };
    let value = value.trim();
    match name.trim().to_ascii_lowercase().as_str() {
        "type" => {
            let kind = KINDS.iter().find(|(names, ..)| names.contains(&value));
            head.kind = Some(*kind.ok_or_else(|| format!("type {value:?} is not known"))?);
        }
        "dimension" if value != "3" => {
            return Err(format!("dimension is {value}; only 3 is supported"));
        }
        "sizes" => {
            let sizes = value.split_whitespace().map(str::parse);
            let sizes: Vec<usize> = sizes
                .collect::<Result<_, _>>()
                .map_err(|_| format!("sizes {value:?} are not whole numbers"))?;
            match <[usize; 3]>::try_from(sizes) {
                Ok(sizes) if sizes.iter().all(|&n| n > 0) => head.sizes = Some(sizes),
                _ => return Err(format!("sizes {value:?} must be three numbers above 0")),
            }
        }
        "spacings" => head.spacing = Some(positive(vector(value)?, value)?),
        "space origin" => head.origin = Some(vector(value)?),
        "space directions" => {
            let rows: Vec<Vec3> = value
                .split(')')
                .filter(|r| !r.trim().is_empty())
                .map(vector)
                .collect::<Result<_, _>>()?;
            let [a, b, c] = rows[..] else {
                return Err(format!("space directions {value:?} must be three vectors"));
            };
            let off = a.y.abs() + a.z.abs() + b.x.abs() + b.z.abs() + c.x.abs() + c.y.abs();
            if off > 1e-6 * (a.x + b.y + c.z).abs() {
                return Err("turned volumes are not supported: resample along the axes".into());
            }
            head.spacing = Some(positive(Vec3::new(a.x, b.y, c.z), value)?);
        }
        "encoding" if value != "raw" => {
            return Err(format!(
                "encoding {value:?} is not supported; save the volume with encoding raw"
            ));
        }
        "endian" => head.big = value == "big",
        "data file" | "datafile" => head.data_file = Some(value.to_string()),
        _ => {}
    }
    Ok(())
}

fn vector(text: &str) -> Result<Vec3, String> {
    let numbers: Vec<f32> = text
        .split(|c: char| c.is_whitespace() || "(),".contains(c))
        .filter(|w| !w.is_empty())
        .map(str::parse)
        .collect::<Result<_, _>>()
        .map_err(|_| format!("{text:?} is not a vector"))?;
    match numbers[..] {
        [x, y, z] if numbers.iter().all(|v| v.is_finite()) => Ok(Vec3::new(x, y, z)),
        _ => Err(format!("{text:?} must have three finite numbers")),
    }
}

fn positive(v: Vec3, text: &str) -> Result<Vec3, String> {
    if v.cmpgt(Vec3::ZERO).all() {
        Ok(v)
    } else {
        Err(format!("{text:?}: distances between nodes must be above 0"))
    }
}
