//! A checked duration of a file: fixed, drawn at random, or a value of the game.

use std::fmt;
use std::ops::Range;

use super::name::Name;

/// How long an exit waits, or how often a state has its turn.
///
/// It is displayed as it is written. A plain number gets its unit: `2.5 s`, `10 ticks`, `2 s .. 4 s`, `patience`.
///
/// # Examples
///
/// ```
/// use demeanor::definition::Outline;
///
/// let file = "
///     initial = 'aim'
///     ticks_per_second = 35
///     states.aim.exits = [{ to = 'shoot', after = '7 ticks' }]
///     states.shoot.exits = [{ to = 'aim', after = '2 s .. 4 s' }]
/// ";
/// let outline = Outline::parse("guard.toml", file, None)?;
/// let after = |state: usize| outline.states()[state].exits()[0].after().unwrap();
/// assert_eq!((after(0).to_string().as_str(), after(0).seconds()), ("7 ticks", Some(0.2)));
/// assert_eq!((after(1).to_string().as_str(), after(1).range()), ("2 s .. 4 s", Some((2.0, 4.0))));
/// # Ok::<(), demeanor::definition::Problems>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Duration {
    /// The text on one line. A plain number has the unit `s`.
    pub(crate) text: String,
    pub(crate) length: Length,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Length {
    /// In seconds. NaN for ticks of unknown length, which are an error if the game's words are known.
    Fixed(f64),
    Drawn(Drawn),
    Value(Name),
}

/// A random duration: any time in a range in seconds, or a whole number of ticks in this range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Drawn {
    pub(crate) least: f64,
    pub(crate) most: f64,
    /// The length of a tick in seconds, if a whole number of ticks is drawn.
    pub(crate) tick: Option<f64>,
}

impl Drawn {
    /// Returns the duration in seconds for a random number from 0 to below 1.
    pub(crate) fn at(self, luck: f64) -> f64 {
        let Self { least, most, tick } = self;
        let luck = luck.clamp(0.0, 1.0);
        match tick {
            Some(tick) => {
                let choices = ((most - least) / tick).round() + 1.0;
                (least + (luck * choices).floor() * tick).min(most)
            }
            None => least + luck * (most - least),
        }
    }
}

impl Duration {
    /// Returns the seconds, if the duration is fixed. NaN for ticks, if neither the file nor the game says how long a tick is.
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        match self.length {
            Length::Fixed(seconds) => Some(seconds),
            _ => None,
        }
    }

    /// Returns the shortest and the longest time in seconds, if the duration is random.
    #[must_use]
    pub fn range(&self) -> Option<(f64, f64)> {
        match self.length {
            Length::Drawn(Drawn { least, most, .. }) => Some((least, most)),
            _ => None,
        }
    }

    /// Returns the name of the value that gives the duration in seconds, if it is a value of the game.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        match &self.length {
            Length::Value(name) => Some(&name.text),
            _ => None,
        }
    }

    /// Returns the minimum and the maximum in seconds. `None` for a value of the game.
    fn bounds(&self) -> Option<(f64, f64)> {
        self.seconds().map(|seconds| (seconds, seconds)).or_else(|| self.range())
    }

    /// Returns the minimum in seconds. 0 for a value of the game.
    pub(crate) fn least(&self) -> f64 {
        self.bounds().map_or(0.0, |(least, _)| least)
    }

    /// Returns the maximum in seconds. `None` for a value of the game.
    pub(crate) fn most(&self) -> Option<f64> {
        self.bounds().map(|(_, most)| most)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::Drawn;

    #[test]
    fn whole_ticks_are_drawn_evenly_with_both_ends() {
        let drawn = Drawn { least: 0.5, most: 1.0, tick: Some(0.25) };
        let at = [0.0, 0.3, 0.34, 0.66, 0.67, 0.999_999, 1.0].map(|luck| drawn.at(luck).to_bits());
        assert_eq!(at, [0.5, 0.5, 0.75, 0.75, 1.0, 1.0, 1.0].map(f64::to_bits));
    }

    #[test]
    fn a_random_number_beyond_its_bounds_draws_an_end() {
        let drawn = Drawn { least: 2.0, most: 4.0, tick: None };
        let at = [-3.0, 0.0, 0.25, 7.0].map(|luck| drawn.at(luck).to_bits());
        assert_eq!(at, [2.0, 2.0, 2.5, 4.0].map(f64::to_bits));
    }
}
