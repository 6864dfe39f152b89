//! How wide and how dark what was seen is drawn: the same in every format.

use std::fmt;

use super::{Arrow, Seen, Visits};

/// A color, displayed as `#16324d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color {
    /// How much red there is in it.
    pub red: u8,
    /// How much green.
    pub green: u8,
    /// How much blue.
    pub blue: u8,
}

/// What a state is filled with, and in which color its text can be read on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shade {
    /// The color of the box.
    pub fill: Color,
    /// The color of the text.
    pub text: Color,
}

const LIGHTEST: Color = Color { red: 0xee, green: 0xf3, blue: 0xf8 };
const DARKEST: Color = Color { red: 0x14, green: 0x3d, blue: 0x66 };
const DARK_TEXT: Color = Color { red: 0x1d, green: 0x27, blue: 0x33 };
const LIGHT_TEXT: Color = Color { red: 0xff, green: 0xff, blue: 0xff };

/// The color of arrows that were seen: of arrows that a file has, and of others.
pub(super) const WRITTEN: Color = Color { red: 0x7a, green: 0x8b, blue: 0x9c };
pub(super) const UNWRITTEN: Color = Color { red: 0xb3, green: 0x63, blue: 0x1b };

/// How wide the thinnest arrow is, and how much wider the widest.
const THINNEST: f64 = 1.2;
const WIDER: f64 = 6.8;

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

impl Arrow {
    /// Returns how wide it is drawn, in points: from 1.2 to 8.
    #[must_use]
    pub fn width(&self) -> f64 {
        THINNEST + WIDER * self.seen.map_or(0.0, |Seen { share, .. }| share)
    }
}

impl Visits {
    /// Returns how the state is shaded.
    #[must_use]
    pub fn shade(&self) -> Shade {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it lies between the two")]
        let mix = |from: u8, to: u8| (f64::from(from) + (f64::from(to) - f64::from(from)) * self.share).round() as u8;
        let fill = Color {
            red: mix(LIGHTEST.red, DARKEST.red),
            green: mix(LIGHTEST.green, DARKEST.green),
            blue: mix(LIGHTEST.blue, DARKEST.blue),
        };
        // From there on white has the better contrast.
        Shade { fill, text: if self.share > 0.55 { LIGHT_TEXT } else { DARK_TEXT } }
    }
}
