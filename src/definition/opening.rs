//! How long an exit waits and how often a state has its turn, as it runs.

use std::sync::Arc;

use super::values::Number;
use super::vocabulary::{Random, Value, Vocabulary};
use crate::format::duration::{Drawn, Duration, Length};
use crate::fsm::Fsm;
use crate::machine::waiting::Scope;
use crate::owner::Owner;
use crate::save::SavedNote;

/// When an exit is open.
pub(crate) enum Opening<T: Owner> {
    AtOnce,
    /// So many seconds after its state's entry.
    After(f64),
    /// After a time that is found at its state's entry.
    Kept(Box<KeptTime<T>>),
}

/// The time that an exit waits, found for an owner at its state's entry and kept until it leaves.
pub(crate) struct KeptTime<T: Owner> {
    /// Which of the state's exits it is.
    nth: u16,
    time: Interval<T>,
}

/// How long a duration is, or how often a state has its turn.
pub(crate) enum Interval<T: Owner> {
    /// In seconds. A state's turns are counted from its entry.
    Fixed(f64),
    /// Drawn each time.
    Drawn(Drawn, Random<T>),
    /// A value of the game, each time.
    Value(Arc<dyn Number<T>>),
}

impl<T: Owner> Opening<T> {
    /// That of a state's `nth` exit.
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

    /// How many seconds it is closed at most. `None` if it is not known yet.
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

    /// Keeps what the time of an owner depends on that enters the state.
    pub(crate) fn note(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        let number = match &self.time {
            // The random number itself: if the file is reloaded, it says how long the new duration is.
            Interval::Drawn(_, draw) => draw(owner, cx),
            time => time.seconds(owner, cx),
        };
        fsm.note(self.noted().key(), number);
    }

    /// How many seconds it is, if that has been kept of an owner in a state at a depth.
    pub(crate) fn seconds(&self, depth: usize, fsm: &Fsm<'_, T>) -> Option<f64> {
        let number = fsm.noted(Scope::state(depth), self.noted().key())?;
        Some(match &self.time {
            Interval::Drawn(drawn, _) => drawn.at(number),
            _ => number,
        })
    }

    /// How many seconds it is for an owner of whom nothing has been kept: it was put into the state, or the file has been
    /// reloaded.
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

    /// How many seconds it is this time.
    pub(crate) fn seconds(&self, owner: &mut T, cx: &mut T::Context<'_>) -> f64 {
        match self {
            Self::Fixed(seconds) => *seconds,
            Self::Drawn(drawn, draw) => drawn.at(draw(owner, cx)),
            Self::Value(value) => value.read(owner, cx),
        }
    }

    /// How many seconds it is at least. `None` if that is not known.
    pub(crate) fn least(&self) -> Option<f64> {
        match self {
            Self::Fixed(seconds) => Some(*seconds),
            Self::Drawn(drawn, _) => Some(drawn.least),
            Self::Value(_) => None,
        }
    }
}
