//! Colours in linear light.

use glam::Vec3;

/// A colour in linear light with the sRGB primaries, 0 to 1 per channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour {
    /// Red.
    pub r: f32,
    /// Green.
    pub g: f32,
    /// Blue.
    pub b: f32,
}

impl Colour {
    /// White paper.
    pub const WHITE: Colour = Colour::linear(1.0, 1.0, 1.0);
    /// Black ink.
    pub const BLACK: Colour = Colour::linear(0.0, 0.0, 0.0);

    /// A colour from linear-light channels.
    pub const fn linear(r: f32, g: f32, b: f32) -> Colour {
        Colour { r, g, b }
    }

    /// A colour as written in web pages, `0xRRGGBB`, sRGB encoded.
    pub fn hex(rgb: u32) -> Colour {
        let channel = |shift: u32| srgb_to_linear(((rgb >> shift) & 0xff) as f32 / 255.0);
        Colour::linear(channel(16), channel(8), channel(0))
    }

    /// The colour `t` of the way from `self` to `other`, in linear light.
    pub fn mix(self, other: Colour, t: f32) -> Colour {
        self.to_vec().lerp(other.to_vec(), t).into()
    }

    pub(crate) const fn to_vec(self) -> Vec3 {
        Vec3::new(self.r, self.g, self.b)
    }
}

impl From<Vec3> for Colour {
    fn from(v: Vec3) -> Colour {
        Colour::linear(v.x, v.y, v.z)
    }
}

/// The sRGB decoding curve (IEC 61966-2-1).
pub(crate) fn srgb_to_linear(s: f32) -> f32 {
    if s <= 0.04045 {
        s / 12.92
    } else {
        ((s + 0.055) / 1.055).powf(2.4)
    }
}

/// The sRGB encoding curve (IEC 61966-2-1).
pub(crate) fn linear_to_srgb(l: f32) -> f32 {
    if l <= 0.003_130_8 {
        l * 12.92
    } else {
        1.055 * l.powf(1.0 / 2.4) - 0.055
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_survives_decoding_and_encoding() {
        for byte in 0..=255u32 {
            let c = Colour::hex(byte << 16 | byte << 8 | byte);
            let back = (linear_to_srgb(c.g) * 255.0).round() as u32;
            assert_eq!(back, byte);
        }
    }
}
