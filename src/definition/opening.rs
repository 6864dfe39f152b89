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
    varying: Varying<T>,
}

/// A duration that is another one from time to time.
pub(crate) enum Varying<T: Owner> {
    Drawn(Drawn, Random<T>),
    Value(Arc<dyn Number<T>>),
}

/// How often a state has its turn.
pub(crate) enum Every<T: Owner> {
    /// In seconds, counted from its entry.
    Fixed(f64),
    /// So long after its last turn.
    Varying(Varying<T>),
}

impl<T: Owner> Opening<T> {
    /// That of a state's `nth` exit.
    pub(crate) fn new(after: Option<&Duration>, nth: usize, vocabulary: &Vocabulary<T>) -> Self {
        let Some(after) = after else { return Self::AtOnce };
        match Varying::new(&after.length, vocabulary) {
            Ok(varying) => Self::Kept(Box::new(KeptTime { nth: u16::try_from(nth).unwrap_or(u16::MAX), varying })),
            Err(seconds) => Self::After(seconds),
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
            Self::Kept(kept) => match &kept.varying {
                Varying::Drawn(drawn, _) => Some(drawn.most),
                Varying::Value(_) => None,
            },
        }
    }
}

impl<T: Owner> KeptTime<T> {
    fn noted(&self) -> SavedNote {
        match self.varying {
            Varying::Drawn(..) => SavedNote::Luck(self.nth),
            Varying::Value(_) => SavedNote::Seconds(self.nth),
        }
    }

    /// Keeps what the time of an owner depends on that enters the state.
    pub(crate) fn note(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        let number = match &self.varying {
            // The random number itself: if the file is reloaded, it says how long the new duration is.
            Varying::Drawn(_, draw) => draw(owner, cx),
            Varying::Value(value) => value.read(owner, cx),
        };
        fsm.note(self.noted().key(), number);
    }

    /// How many seconds it is, if that has been kept of an owner in a state at a depth.
    pub(crate) fn seconds(&self, depth: usize, fsm: &Fsm<'_, T>) -> Option<f64> {
        let number = fsm.noted(Scope::state(depth), self.noted().key())?;
        Some(match &self.varying {
            Varying::Drawn(drawn, _) => drawn.at(number),
            Varying::Value(_) => number,
        })
    }

    /// How many seconds it is for an owner of whom nothing has been kept: it was put into the state, or the file has been
    /// reloaded.
    pub(crate) fn otherwise(&self, owner: &T, cx: &T::Context<'_>) -> f64 {
        match &self.varying {
            Varying::Drawn(drawn, _) => drawn.most,
            Varying::Value(value) => value.read(owner, cx),
        }
    }
}

impl<T: Owner> Varying<T> {
    /// `Err` with the seconds of a duration that is always the same.
    fn new(length: &Length, vocabulary: &Vocabulary<T>) -> Result<Self, f64> {
        match length {
            Length::Fixed(seconds) => Err(*seconds),
            Length::Drawn(drawn) => vocabulary.random_source().map(|draw| Self::Drawn(*drawn, draw)).ok_or(drawn.most),
            Length::Value(name) => {
                let number = vocabulary.value_of(&name.text).and_then(Value::<T>::number);
                number.map(Self::Value).ok_or(f64::INFINITY)
            }
        }
    }

    /// How many seconds it is this time.
    pub(crate) fn seconds(&self, owner: &mut T, cx: &mut T::Context<'_>) -> f64 {
        match self {
            Self::Drawn(drawn, draw) => drawn.at(draw(owner, cx)),
            Self::Value(value) => value.read(owner, cx),
        }
    }
}

impl<T: Owner> Every<T> {
    pub(crate) fn new(every: &Duration, vocabulary: &Vocabulary<T>) -> Self {
        Varying::new(&every.length, vocabulary).map_or_else(Self::Fixed, Self::Varying)
    }

    /// The shortest time between two turns, in seconds. `None` if it is not known.
    pub(crate) fn least(&self) -> Option<f64> {
        match self {
            Self::Fixed(seconds) => Some(*seconds),
            Self::Varying(Varying::Drawn(drawn, _)) => Some(drawn.least),
            Self::Varying(Varying::Value(_)) => None,
        }
    }
}
