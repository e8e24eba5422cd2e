//! VTK unstructured grids with appended raw arrays.

use super::{Particles, vectors};

/// Reads the points and their velocities.
pub fn read(bytes: &[u8]) -> Result<Particles, String> {
    let (head, data) = split(bytes)?;
    let positions = floats(&head, data, "Points")?.ok_or("there is no array `Points`")?;
    let velocities = floats(&head, data, "velocity")?;
    let liquid = floats(&head, data, "liquid")?.unwrap_or_default();
    let positions = vectors(&positions);
    let mut velocities = velocities.map_or_else(Default::default, |v| vectors(&v));
    velocities.resize(positions.len());
    Ok(Particles {
        positions,
        velocities,
        liquid: liquid.into_iter().map(|l| l as u8).collect(),
    })
}

/// Reads one number per point.
pub fn scalars(bytes: &[u8], name: &str) -> Result<Vec<f32>, String> {
    let (head, data) = split(bytes)?;
    floats(&head, data, name)?.ok_or_else(|| format!("there is no array `{name}`"))
}

/// The XML head and the bytes that offsets count from.
fn split(bytes: &[u8]) -> Result<(String, &[u8]), String> {
    const MARKER: &[u8] = b"encoding=\"raw\">";
    let marker = bytes
        .windows(MARKER.len())
        .position(|w| w == MARKER)
        .ok_or("only VTU files with appended raw data are read, as `pliant run` writes them")?;
    let after = &bytes[marker + MARKER.len()..];
    let start = after
        .iter()
        .position(|&b| b == b'_')
        .ok_or("the appended data has no `_` before it")?;
    let head = String::from_utf8_lossy(&bytes[..marker]).into_owned();
    Ok((head, &after[start + 1..]))
}

/// The values of a Float32 array; `None` if there is no array of that name.
fn floats(head: &str, data: &[u8], name: &str) -> Result<Option<Vec<f32>>, String> {
    let tag = format!("Name=\"{name}\"");
    let Some(at) = head.find(&tag) else {
        return Ok(None);
    };
    let open = head[..at].rfind('<').unwrap_or(0);
    let element = head[open..].split('>').next().unwrap_or_default();
    let attribute = |key: &str| {
        let value = element.split(&format!("{key}=\"")).nth(1)?;
        value.split('"').next()
    };
    if attribute("type") != Some("Float32") {
        return Err(format!("the array `{name}` must be of type Float32"));
    }
    let offset: usize = attribute("offset")
        .and_then(|v| v.parse().ok())
        .ok_or_else(|| format!("the array `{name}` has no offset"))?;
    let early = || format!("the file ends early, in the array `{name}`");
    let block = data.get(offset..).ok_or_else(early)?;
    // The head says UInt64 in all files of ours.
    let (size, values) = block.split_first_chunk::<8>().ok_or_else(early)?;
    let size = usize::try_from(u64::from_le_bytes(*size)).map_err(|_| early())?;
    let values = values.get(..size).ok_or_else(early)?;
    let float = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    Ok(Some(values.chunks_exact(4).map(float).collect()))
}
