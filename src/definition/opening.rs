//! The times of a running definition: how long an exit waits, and how often a state with `every` has its turn.

use std::sync::Arc;

use super::closures::Random;
use super::values::Number;
use crate::format::duration::Drawn;
use crate::fsm::Fsm;
use crate::machine::waiting::Scope;
use crate::owner::{Owner, now};
use crate::save::SavedNote;
use crate::span::{Span, opens_at};

/// When an exit opens.
pub(crate) enum Opening<T: Owner> {
    /// When the owner enters the state.
    AtOnce,
    /// This number of seconds after the owner enters the state.
    After(f64),
    /// After a time that is determined when the owner enters the state.
    Kept(Box<KeptTime<T>>),
    /// At a time of the clock, which is a value of the game.
    At(Box<(Arc<dyn Number<T>>, Box<str>)>),
    /// Like another opening, but not until some time after the exit was taken.
    Cooled(Box<Cooldown<T>>),
}

/// The cooldown of an exit. After an owner has taken the exit, the owner does not take it again for this time, even if it leaves
/// the state in the meantime.
pub(crate) struct Cooldown<T: Owner> {
    pub(crate) opens: Opening<T>,
    pub(crate) written: Box<str>,
    /// The number of the exit among all exits of the definition that have a cooldown.
    pub(super) number: u32,
    pub(super) time: Interval<T>,
}

/// The waiting time of an exit that is determined for each owner when it enters the state, and kept until it leaves the state.
pub(crate) struct KeptTime<T: Owner> {
    /// The index of the exit in its state.
    pub(super) nth: u16,
    pub(super) time: Interval<T>,
}

/// The length of a duration, or the time between two turns of a state.
pub(crate) enum Interval<T: Owner> {
    /// A fixed number of seconds. For an `every`, the turns come at multiples of this number after the entry into the state.
    Fixed(f64),
    /// A random length, which is drawn each time.
    Drawn(Drawn, Random<T>),
    /// A number of the game, in seconds, which is read each time.
    Value(Arc<dyn Number<T>>),
}

impl<T: Owner> Opening<T> {
    pub(crate) fn kept(&self) -> Option<&KeptTime<T>> {
        match self {
            Self::Kept(kept) => Some(kept),
            Self::Cooled(cooldown) => cooldown.opens.kept(),
            _ => None,
        }
    }

    /// Returns the number of seconds after which the exit is certainly open, if it has no cooldown. `None` if it depends on a
    /// value of the game.
    pub(crate) fn most(&self) -> Option<f64> {
        match self {
            Self::AtOnce => Some(0.0),
            Self::After(seconds) => Some(*seconds),
            Self::Kept(kept) => match &kept.time {
                Interval::Drawn(drawn, _) => Some(drawn.most),
                _ => None,
            },
            Self::At(_) => None,
            Self::Cooled(cooldown) => cooldown.opens.most(),
        }
    }
}

impl<T: Owner> Cooldown<T> {
    /// Notes when the exit was taken, as a time of the clock. For a cooldown that is random or a value of the game, the noted
    /// time is later, by the difference between this cooldown and the shortest one.
    pub(crate) fn begin(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        let longer = self.time.seconds(owner, cx) - self.shortest();
        fsm.note(SavedNote::Cooldown(self.number).key(), now::<T>(cx) + longer);
    }

    /// Returns for how many more seconds the exit is not taken. `None` if it can be taken.
    pub(crate) fn left(&self, fsm: &Fsm<'_, T>, now: f64) -> Option<f64> {
        let begun = fsm.noted(Scope::Machine, SavedNote::Cooldown(self.number).key())?;
        (!Span::of(self.shortest(), now).has_passed(begun)).then(|| begun + self.shortest() - now)
    }

    /// Returns when the exit can be taken again, by the clock. Negative infinity if it was not taken.
    pub(crate) fn ends(&self, fsm: &Fsm<'_, T>) -> f64 {
        let begun = fsm.noted(Scope::Machine, SavedNote::Cooldown(self.number).key());
        begun.map_or(f64::NEG_INFINITY, |begun| opens_at(self.shortest(), begun))
    }

    fn shortest(&self) -> f64 {
        self.time.least().unwrap_or(0.0)
    }
}

impl<T: Owner> KeptTime<T> {
    fn noted(&self) -> SavedNote {
        match self.time {
            Interval::Drawn(..) => SavedNote::Luck(self.nth),
            _ => SavedNote::Seconds(self.nth),
        }
    }

    /// Notes the number that determines the waiting time of an owner that enters the state.
    pub(crate) fn note(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        let number = match &self.time {
            // The random number itself is noted. After a reload, it still determines the length in the new range.
            Interval::Drawn(_, draw) => draw(owner, cx),
            time => time.seconds(owner, cx),
        };
        fsm.note(self.noted().key(), number);
    }

    /// Returns the waiting time in seconds, if a number was noted for the owner in the state at `depth`.
    pub(crate) fn seconds(&self, depth: usize, fsm: &Fsm<'_, T>) -> Option<f64> {
        let number = fsm.noted(Scope::state(depth), self.noted().key())?;
        Some(match &self.time {
            Interval::Drawn(drawn, _) => drawn.at(number),
            _ => number,
        })
    }

    /// Returns the waiting time in seconds of an owner for which no number was noted: the owner was put into the state without
    /// entering it, or a reload has changed the exit.
    pub(crate) fn otherwise(&self, owner: &T, cx: &T::Context<'_>) -> f64 {
        match &self.time {
            Interval::Fixed(seconds) => *seconds,
            Interval::Drawn(drawn, _) => drawn.most,
            Interval::Value(value) => value.read(owner, cx),
        }
    }
}

impl<T: Owner> Interval<T> {
    /// Returns the length in seconds. Each call draws or reads it again.
    pub(crate) fn seconds(&self, owner: &mut T, cx: &mut T::Context<'_>) -> f64 {
        match self {
            Self::Fixed(seconds) => *seconds,
            Self::Drawn(drawn, draw) => drawn.at(draw(owner, cx)),
            Self::Value(value) => value.read(owner, cx),
        }
    }

    /// Returns the minimum length in seconds. `None` if the length is a value of the game.
    pub(crate) fn least(&self) -> Option<f64> {
        match self {
            Self::Fixed(seconds) => Some(*seconds),
            Self::Drawn(drawn, _) => Some(drawn.least),
            Self::Value(_) => None,
        }
    }
}
