//! Colours for numbers.

use crate::colour::Colour;

/// A scale of colours from a low to a high value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColourMap {
    /// Dark violet over green to yellow; evenly rising lightness, readable with
    /// colour-blindness and in print.
    #[default]
    Meadow,
    /// Deep blue to white foam, for the speed of liquids.
    Water,
    /// Chalk white at rest to blue, for contrast liquids.
    Barium,
    /// Dark to bright red and pale, for blood.
    Blood,
    /// Amber to pale yellow, for honey.
    Honey,
    /// Olive green to pale yellow, for oil.
    Oil,
    /// Blue over light grey to red, for values around a middle.
    CoolWarm,
}

impl ColourMap {
    /// Every map, for menus and tests.
    pub const ALL: [ColourMap; 7] = [
        ColourMap::Meadow,
        ColourMap::Water,
        ColourMap::Barium,
        ColourMap::Blood,
        ColourMap::Honey,
        ColourMap::Oil,
        ColourMap::CoolWarm,
    ];

    /// The name in options; maps for a liquid are called like its material.
    pub fn name(self) -> &'static str {
        match self {
            ColourMap::Meadow => "meadow",
            ColourMap::Water => "water",
            ColourMap::Barium => "barium",
            ColourMap::Blood => "blood",
            ColourMap::Honey => "honey",
            ColourMap::Oil => "oil",
            ColourMap::CoolWarm => "cool-warm",
        }
    }

    /// The map of that name.
    pub fn from_name(name: &str) -> Option<ColourMap> {
        ColourMap::ALL.into_iter().find(|m| m.name() == name)
    }

    /// Evenly spaced colours, sRGB encoded.
    fn stops(self) -> &'static [u32] {
        match self {
            ColourMap::Meadow => &[
                0x3f0a58, 0x443b84, 0x33628d, 0x21898c, 0x2fb07a, 0x7fd04e, 0xf6e62a,
            ],
            ColourMap::Water => &[
                0x1c63b0, 0x2b7cc6, 0x4698da, 0x70b4e8, 0xa2d0f2, 0xd0e8fa, 0xf8fdff,
            ],
            ColourMap::Barium => &[
                0xf8f4ea, 0xdde5e4, 0xb0cfd9, 0x78b1cd, 0x428dbd, 0x1f69a4, 0x124782,
            ],
            ColourMap::Blood => &[
                0x8a0c14, 0xa91219, 0xc8221f, 0xe04a34, 0xf07e58, 0xfbba92, 0xffeedd,
            ],
            ColourMap::Honey => &[
                0xd8860c, 0xe39817, 0xeca92b, 0xf3bd4c, 0xf9d279, 0xfde6a8, 0xfff8e2,
            ],
            ColourMap::Oil => &[
                0x8f8b1f, 0xa8a22b, 0xbfb83f, 0xd3cb5b, 0xe3db80, 0xf0eaab, 0xfbf8da,
            ],
            ColourMap::CoolWarm => &[
                0x3a4cc0, 0x6f90ee, 0xa8c4fb, 0xdddddd, 0xf4b798, 0xe27a5d, 0xb4152c,
            ],
        }
    }

    /// The colour at `t` from 0 (low) to 1 (high), clamped; a value that is not
    /// a number is magenta, so that it is seen.
    pub fn colour(self, t: f32) -> Colour {
        if t.is_nan() {
            return Colour::hex(0xff00ff);
        }
        let stops = self.stops();
        let place = t.clamp(0.0, 1.0) * (stops.len() - 1) as f32;
        let k = (place as usize).min(stops.len() - 2);
        let f = place - k as f32;
        // Mixed in encoded values, where equal steps look equal.
        let channel = |shift: u32| {
            let byte = |rgb: u32| ((rgb >> shift) & 0xff) as f32;
            let mixed = byte(stops[k]) * (1.0 - f) + byte(stops[k + 1]) * f;
            crate::colour::srgb_to_linear(mixed / 255.0)
        };
        Colour::linear(channel(16), channel(8), channel(0))
    }

    /// The colour of `value` on a scale from `low` to `high`; if the scale has no
    /// length, the middle colour.
    pub fn colour_in(self, value: f32, (low, high): (f32, f32)) -> Colour {
        let length = high - low;
        if length > 0.0 && length.is_finite() {
            self.colour((value - low) / length)
        } else {
            self.colour(if value.is_nan() { value } else { 0.5 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lightness(c: Colour) -> f32 {
        0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b
    }

    #[test]
    fn one_way_maps_change_lightness_all_the_way() {
        for map in ColourMap::ALL {
            // Chalk can only get darker.
            let sign = match map {
                ColourMap::CoolWarm => continue,
                ColourMap::Barium => -1.0,
                _ => 1.0,
            };
            for i in 0..100 {
                let at = |i: i32| lightness(map.colour(i as f32 / 100.0));
                assert!(sign * (at(i + 1) - at(i)) > 0.0, "{} at {i}", map.name());
            }
        }
    }

    #[test]
    fn cool_warm_is_lightest_in_the_middle() {
        let middle = lightness(ColourMap::CoolWarm.colour(0.5));
        assert!(middle > 3.0 * lightness(ColourMap::CoolWarm.colour(0.0)));
        assert!(middle > 3.0 * lightness(ColourMap::CoolWarm.colour(1.0)));
    }

    #[test]
    fn odd_values_have_a_colour() {
        let map = ColourMap::Water;
        assert_eq!(map.colour(-3.0), map.colour(0.0));
        assert_eq!(map.colour(f32::INFINITY), map.colour(1.0));
        assert_eq!(map.colour(f32::NAN), Colour::hex(0xff00ff));
        assert_eq!(map.colour_in(7.0, (7.0, 7.0)), map.colour(0.5));
        assert_eq!(ColourMap::from_name("barium"), Some(ColourMap::Barium));
        assert_eq!(ColourMap::from_name("rainbow"), None);
    }
}
