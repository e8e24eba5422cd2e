//! A fingerprint of a state, to compare runs bit by bit.

/// 64-bit FNV-1a over little-endian words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateHash(u64);

impl Default for StateHash {
    fn default() -> Self {
        StateHash(0xcbf2_9ce4_8422_2325)
    }
}

impl StateHash {
    /// Adds one word.
    #[inline]
    pub fn word(&mut self, word: u32) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Adds the bits of every number.
    pub fn f32s(&mut self, values: &[f32]) {
        for v in values {
            self.word(v.to_bits());
        }
    }

    /// Adds a text and its end.
    pub fn text(&mut self, text: &str) {
        for byte in text.bytes() {
            self.word(byte.into());
        }
        self.word(u32::MAX);
    }

    /// The fingerprint.
    pub fn value(self) -> u64 {
        self.0
    }
}

impl std::fmt::Display for StateHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
