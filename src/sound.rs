//! What holds of every seat between two callbacks. Debug builds check it.

use crate::owner::Owner;
use crate::seat::{DEEPEST, MOST_REMEMBERED, Seat, Suspended};
use crate::transition::MOST_PUSHED;
use crate::waiting::{Scope, Timer};

impl<T: Owner> Seat<T> {
    /// Returns what is wrong with the seat. It calls no code of the game.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let rare = self.rare.as_ref()?;
        let depth = self.depth();
        let faults = [
            (self.current.is_none() && !rare.ancestors.is_empty(), "ancestors without a current state"),
            (rare.ancestors.len() != rare.ancestors_entered_at.len(), "not one time for each ancestor"),
            (depth > DEEPEST + 1, "a path that is too deep"),
            (!are_sound(rare.waiting.timers.iter(), depth), "a timer of a state that is not active"),
            (!rare.stack.iter().all(is_sound), "a timer or a time of a state that is not suspended"),
            (rare.stack.len() > MOST_PUSHED, "a stack that is too high"),
            (rare.history.len() > MOST_REMEMBERED, "a history that is too long"),
        ];
        { faults }.into_iter().find_map(|(is_wrong, fault)| is_wrong.then_some(fault))
    }
}

fn is_sound<T: Owner>(suspended: &Suspended<T>) -> bool {
    let Suspended { current, time, ancestors, timers } = suspended;
    let depth = if current.is_none() { 0 } else { ancestors.len() + 1 };
    let is_time = |time: f64| !time.is_nan();
    are_sound(timers.iter(), depth) && is_time(*time) && ancestors.iter().all(|(_, time)| is_time(*time))
}

/// Whether each timer is of the machine or of one of the `depth` states of its path.
fn are_sound<'t, T: Owner>(mut timers: impl Iterator<Item = &'t Timer<T>>, depth: usize) -> bool {
    timers.all(|timer| timer.scope != Scope::Left && !timer.scope.ends_with(depth) && !timer.due.is_nan())
}
