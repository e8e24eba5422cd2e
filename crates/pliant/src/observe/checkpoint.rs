//! The binary form of a state: little-endian, versioned, checksummed.
//!
//! Layout: the 8 bytes `PLIANTCK`, format version (u32), length of the body
//! (u64), CRC-32 of the body (u32), body.

use thiserror::Error;

/// Changes whenever the body's layout changes.
pub const FORMAT_VERSION: u32 = 9;

const MAGIC: &[u8; 8] = b"PLIANTCK";
const HEADER: usize = 8 + 4 + 8 + 4;

/// Why a checkpoint cannot be used.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CheckpointError {
    /// Not a checkpoint at all.
    #[error("this is not a pliant checkpoint (it does not begin with `PLIANTCK`)")]
    NotACheckpoint,
    /// Written by another version.
    #[error(
        "the checkpoint has format version {found}, but this program reads version {FORMAT_VERSION}"
    )]
    Version {
        /// Version in the file.
        found: u32,
    },
    /// Cut off or changed.
    #[error("the checkpoint is damaged: {0}")]
    Damaged(&'static str),
    /// Belongs to another world.
    #[error("the checkpoint does not fit this world: {0}")]
    Mismatch(String),
}

/// Collects the body of a checkpoint.
#[derive(Debug, Default)]
pub struct Encoder {
    body: Vec<u8>,
}

impl Encoder {
    /// Appends a 32-bit word.
    pub fn u32(&mut self, v: u32) {
        self.body.extend(v.to_le_bytes());
    }

    /// Appends a 64-bit word.
    pub fn u64(&mut self, v: u64) {
        self.body.extend(v.to_le_bytes());
    }

    /// Appends a number, bit by bit.
    pub fn f32(&mut self, v: f32) {
        self.u32(v.to_bits());
    }

    /// Appends a number, bit by bit.
    pub fn f64(&mut self, v: f64) {
        self.u64(v.to_bits());
    }

    /// Appends an array whose length the reader knows.
    pub fn f32s(&mut self, values: &[f32]) {
        self.body.reserve(4 * values.len());
        for v in values {
            self.f32(*v);
        }
    }

    /// Appends an array whose length the reader knows.
    pub fn u32s(&mut self, values: &[u32]) {
        self.body.reserve(4 * values.len());
        for v in values {
            self.u32(*v);
        }
    }

    /// Appends a text with its length.
    pub fn text(&mut self, text: &str) {
        self.u64(text.len() as u64);
        self.body.extend(text.as_bytes());
    }

    /// The whole file.
    pub fn finish(self) -> Vec<u8> {
        let mut file = Vec::with_capacity(HEADER + self.body.len());
        file.extend(MAGIC);
        file.extend(FORMAT_VERSION.to_le_bytes());
        file.extend((self.body.len() as u64).to_le_bytes());
        file.extend(crc32fast::hash(&self.body).to_le_bytes());
        file.extend(self.body);
        file
    }
}

/// Reads the body of a checkpoint; never past its end.
#[derive(Debug)]
pub struct Decoder<'a> {
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    /// Checks the header and the checksum of a whole file.
    pub fn open(file: &'a [u8]) -> Result<Decoder<'a>, CheckpointError> {
        let mut header = Decoder { rest: file };
        if header.take(8) != Ok(MAGIC) {
            return Err(CheckpointError::NotACheckpoint);
        }
        let version = header.u32()?;
        if version != FORMAT_VERSION {
            return Err(CheckpointError::Version { found: version });
        }
        let length = header.u64()?;
        let checksum = header.u32()?;
        if header.rest.len() as u64 != length {
            return Err(CheckpointError::Damaged("its length is wrong"));
        }
        if crc32fast::hash(header.rest) != checksum {
            return Err(CheckpointError::Damaged("its checksum is wrong"));
        }
        Ok(header)
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], CheckpointError> {
        let (head, rest) = self
            .rest
            .split_at_checked(n)
            .ok_or(CheckpointError::Damaged("it ends too early"))?;
        self.rest = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CheckpointError> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    /// Reads a 32-bit word.
    pub fn u32(&mut self) -> Result<u32, CheckpointError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Reads a 64-bit word.
    pub fn u64(&mut self) -> Result<u64, CheckpointError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Reads a number.
    pub fn f32(&mut self) -> Result<f32, CheckpointError> {
        Ok(f32::from_bits(self.u32()?))
    }

    /// Reads a number.
    pub fn f64(&mut self) -> Result<f64, CheckpointError> {
        Ok(f64::from_bits(self.u64()?))
    }

    /// Reads a number of items of at least `item_bytes` each, and makes sure that
    /// the file is long enough to hold them.
    pub fn count(&mut self, item_bytes: usize) -> Result<usize, CheckpointError> {
        let n = self.u64()?;
        if n.saturating_mul(item_bytes as u64) > self.rest.len() as u64 {
            return Err(CheckpointError::Damaged("a count is larger than the file"));
        }
        Ok(n as usize)
    }

    /// Fills an array.
    pub fn f32s(&mut self, out: &mut [f32]) -> Result<(), CheckpointError> {
        let bytes = self.take(4 * out.len())?;
        for (v, b) in out.iter_mut().zip(bytes.chunks_exact(4)) {
            *v = f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        }
        Ok(())
    }

    /// Fills an array.
    pub fn u32s(&mut self, out: &mut [u32]) -> Result<(), CheckpointError> {
        let bytes = self.take(4 * out.len())?;
        for (v, b) in out.iter_mut().zip(bytes.chunks_exact(4)) {
            *v = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        }
        Ok(())
    }

    /// Reads a text.
    pub fn text(&mut self) -> Result<String, CheckpointError> {
        let n = self.count(1)?;
        String::from_utf8(self.take(n)?.to_vec())
            .map_err(|_| CheckpointError::Damaged("a text is not UTF-8"))
    }

    /// Makes sure that everything was read.
    pub fn finish(self) -> Result<(), CheckpointError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(CheckpointError::Damaged("it has left-over bytes"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut out = Encoder::default();
        out.text("colon");
        out.u64(2);
        out.f32s(&[1.5, -0.0]);
        out.f64(0.1);
        out.finish()
    }

    #[test]
    fn reads_back_what_was_written() {
        let file = sample();
        let mut from = Decoder::open(&file).unwrap();
        assert_eq!(from.text().unwrap(), "colon");
        let n = from.count(4).unwrap();
        let mut values = vec![0.0; n];
        from.f32s(&mut values).unwrap();
        assert_eq!(values[0], 1.5);
        assert!(values[1].is_sign_negative());
        assert_eq!(from.f64().unwrap(), 0.1);
        from.finish().unwrap();
    }

    #[test]
    fn any_flipped_byte_and_any_cut_is_noticed() {
        let file = sample();
        for i in 0..file.len() {
            let mut bad = file.clone();
            bad[i] ^= 0x10;
            assert!(Decoder::open(&bad).is_err(), "byte {i}");
            assert!(Decoder::open(&file[..i]).is_err(), "cut at {i}");
        }
    }
}
