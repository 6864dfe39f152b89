//! At run time: how long an exit waits, and how often a state with `every` has its turn.

use std::sync::Arc;

use super::values::Number;
use super::vocabulary::{Random, Value, Vocabulary};
use crate::format::duration::{Drawn, Duration, Length};
use crate::fsm::Fsm;
use crate::machine::waiting::Scope;
use crate::owner::Owner;
use crate::save::SavedNote;

/// When an exit opens.
pub(crate) enum Opening<T: Owner> {
    AtOnce,
    /// This number of seconds after the owner enters the state.
    After(f64),
    /// After a time that is determined when the owner enters the state.
    Kept(Box<KeptTime<T>>),
}

/// The time that an exit waits. It is determined when an owner enters the state, and kept until the owner leaves the state.
pub(crate) struct KeptTime<T: Owner> {
    /// The index of the exit in its state.
    nth: u16,
    time: Interval<T>,
}

/// The length of a duration, or the time between two turns of a state.
pub(crate) enum Interval<T: Owner> {
    /// In seconds. For `every`, the turns are counted from the entry into the state.
    Fixed(f64),
    /// A random length, drawn each time.
    Drawn(Drawn, Random<T>),
    /// The current value of a number of the game, read each time.
    Value(Arc<dyn Number<T>>),
}

impl<T: Owner> Opening<T> {
    /// Creates the opening of the `nth` exit of a state.
    pub(crate) fn new(after: Option<&Duration>, nth: usize, vocabulary: &Vocabulary<T>) -> Self {
        match after.map(|after| Interval::new(after, vocabulary)) {
            None => Self::AtOnce,
            Some(Interval::Fixed(seconds)) => Self::After(seconds),
            Some(time) => Self::Kept(Box::new(KeptTime { nth: u16::try_from(nth).unwrap_or(u16::MAX), time })),
        }
    }

    pub(crate) fn kept(&self) -> Option<&KeptTime<T>> {
        match self {
            Self::Kept(kept) => Some(kept),
            _ => None,
        }
    }

    /// Returns the number of seconds after which the exit is certainly open. `None` if this is not known yet.
    pub(crate) fn most(&self) -> Option<f64> {
        match self {
            Self::AtOnce => Some(0.0),
            Self::After(seconds) => Some(*seconds),
            Self::Kept(kept) => match &kept.time {
                Interval::Drawn(drawn, _) => Some(drawn.most),
                _ => None,
            },
        }
    }
}

impl<T: Owner> KeptTime<T> {
    fn noted(&self) -> SavedNote {
        match self.time {
            Interval::Drawn(..) => SavedNote::Luck(self.nth),
            _ => SavedNote::Seconds(self.nth),
        }
    }

    /// Notes the number that determines the time, for an owner that enters the state.
    pub(crate) fn note(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        let number = match &self.time {
            // The random number itself is noted. After a reload, it still determines the length in the new range.
            Interval::Drawn(_, draw) => draw(owner, cx),
            time => time.seconds(owner, cx),
        };
        fsm.note(self.noted().key(), number);
    }

    /// Returns the time in seconds, if a number was noted for the owner in the state at `depth`.
    pub(crate) fn seconds(&self, depth: usize, fsm: &Fsm<'_, T>) -> Option<f64> {
        let number = fsm.noted(Scope::state(depth), self.noted().key())?;
        Some(match &self.time {
            Interval::Drawn(drawn, _) => drawn.at(number),
            _ => number,
        })
    }

    /// Returns the time in seconds for an owner for which no number was noted: the owner was placed in the state without
    /// entering it, or the file has been reloaded.
    pub(crate) fn otherwise(&self, owner: &T, cx: &T::Context<'_>) -> f64 {
        match &self.time {
            Interval::Fixed(seconds) => *seconds,
            Interval::Drawn(drawn, _) => drawn.most,
            Interval::Value(value) => value.read(owner, cx),
        }
    }
}

impl<T: Owner> Interval<T> {
    pub(crate) fn new(duration: &Duration, vocabulary: &Vocabulary<T>) -> Self {
        match &duration.length {
            Length::Fixed(seconds) => Self::Fixed(*seconds),
            Length::Drawn(drawn) => {
                vocabulary.random.clone().map_or(Self::Fixed(drawn.most), |draw| Self::Drawn(*drawn, draw))
            }
            Length::Value(name) => {
                let number = vocabulary.value_of(&name.text).and_then(Value::<T>::number);
                number.map_or(Self::Fixed(f64::INFINITY), Self::Value)
            }
        }
    }

    /// Returns the length in seconds. Draws or reads it again on each call.
    pub(crate) fn seconds(&self, owner: &mut T, cx: &mut T::Context<'_>) -> f64 {
        match self {
            Self::Fixed(seconds) => *seconds,
            Self::Drawn(drawn, draw) => drawn.at(draw(owner, cx)),
            Self::Value(value) => value.read(owner, cx),
        }
    }

    /// Returns the minimum length in seconds. `None` if it is not known.
    pub(crate) fn least(&self) -> Option<f64> {
        match self {
            Self::Fixed(seconds) => Some(*seconds),
            Self::Drawn(drawn, _) => Some(drawn.least),
            Self::Value(_) => None,
        }
    }
}
