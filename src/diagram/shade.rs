//! The width and the color in which observed arrows and states are drawn. They are the same in every format.

use std::fmt;

use super::{Arrow, Seen, Visits};

/// A color, displayed as `#16324d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color {
    /// The red part.
    pub red: u8,
    /// The green part.
    pub green: u8,
    /// The blue part.
    pub blue: u8,
}

/// The color that fills a state, and a color in which text on it is readable.
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

/// The color of observed arrows that the file defines.
pub(super) const WRITTEN: Color = Color { red: 0x7a, green: 0x8b, blue: 0x9c };
/// The color of all other observed arrows.
pub(super) const UNWRITTEN: Color = Color { red: 0xb3, green: 0x63, blue: 0x1b };

/// The width of the thinnest arrow, in points.
const THINNEST: f64 = 1.2;
/// How much wider the widest arrow is, in points.
const WIDER: f64 = 6.8;

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

impl Arrow {
    /// Returns the width in which the arrow is drawn, in points: from 1.2 to 8.
    #[must_use]
    pub fn width(&self) -> f64 {
        THINNEST + WIDER * self.seen.map_or(0.0, |Seen { share, .. }| share)
    }
}

impl Visits {
    /// Returns the colors of the state.
    #[must_use]
    pub fn shade(&self) -> Shade {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it lies between the two")]
        let mix = |from: u8, to: u8| (f64::from(from) + (f64::from(to) - f64::from(from)) * self.share).round() as u8;
        let fill = Color {
            red: mix(LIGHTEST.red, DARKEST.red),
            green: mix(LIGHTEST.green, DARKEST.green),
            blue: mix(LIGHTEST.blue, DARKEST.blue),
        };
        // Above this share, white text has the better contrast.
        Shade { fill, text: if self.share > 0.55 { LIGHT_TEXT } else { DARK_TEXT } }
    }
}
