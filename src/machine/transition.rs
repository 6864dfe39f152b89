//! The one algorithm: how requests are carried out, and in which order a change calls what.
//!
//! It works on a [`Seat`](crate::machine::seat::Seat), wherever that is kept. The rule numbers are those of `docs/semantics.md`.

#![expect(
    clippy::inline_always,
    reason = "so that a change to a singleton is compiled for itself: 25 ns rather than 31"
)]

mod change;
mod execute;
mod life;
mod wait;

use log::{Level, debug, warn};

use super::seat::{Path, path_to};
#[cfg(feature = "tracing")]
use crate::change::Outcome;
use crate::change::{Cause, Change, NameOf};
use crate::owner::{Label, Owner};
use crate::state::StateRef;

/// The most changes that one callback may lead to (rule 13).
const MOST_CHANGES: u32 = 64;

/// Why nothing can be asked for in `exit` (rule 12).
pub(crate) const BEING_LEFT: &str = "the state is being left";

/// The steps of a change: of one owner's here, of many owners' at once in a batch.
pub(crate) trait Steps {
    /// Asks the guards. Returns whether there is anything left to do.
    fn admit(&mut self) -> bool;
    fn exit(&mut self);
    /// Makes the new state the current one, and tells of it.
    fn swap(&mut self);
    /// Enters, and tells that the change is complete.
    fn enter(&mut self);
}

/// The order of a change, for one owner or many (rules 5, 8). Returns whether the change was made.
#[inline(always)]
pub(crate) fn carry_out(change: &mut impl Steps) -> bool {
    if !change.admit() {
        return false;
    }
    change.exit();
    change.swap();
    change.enter();
    true
}

/// Why a request is not carried out, and how bad that is.
struct Misuse {
    level: Level,
    why: &'static str,
}

impl Misuse {
    /// A path of states without an end (rule 6).
    fn endless(why: &'static str) -> Self {
        Self { level: Level::Error, why }
    }
}

/// Rule 23.
impl From<&'static str> for Misuse {
    fn from(why: &'static str) -> Self {
        Self { level: Level::Warn, why }
    }
}

/// What one change leaves and enters.
struct Plan<'p, T: Owner> {
    cause: Cause,
    /// How many of the active states stay, from the outermost.
    kept: usize,
    /// What is entered, outermost first; nothing when a pop leads back to no state.
    entered: &'p [StateRef<T>],
}

/// Says in the log why a request is not carried out (rule 23).
#[cfg(feature = "std")]
#[cold]
pub(crate) fn log_misuse<T: Owner>(
    owner: &T,
    request: &dyn core::fmt::Display,
    current: Option<&StateRef<T>>,
    why: &'static str,
) {
    warn!(target: "demeanor", "{}: {request} refused in state {}: {why}", Label(owner), NameOf(current));
}

/// Says in the log that an owner has fallen asleep in a state and does not wake by itself (rule 26).
pub(crate) fn tell_endless_sleep<T: Owner>(owner: &T, current: Option<&StateRef<T>>) {
    debug!(target: "demeanor", "{}: sleeps in state {} until a message or `wake`", Label(owner), NameOf(current));
}

/// Warns of a timer or a sleep whose seconds are negative or not a number.
#[cold]
pub(crate) fn tell_no_time<T: Owner>(
    seconds: f64,
    what: &dyn core::fmt::Display,
    owner: &T,
    current: Option<&StateRef<T>>,
) {
    let (owner, state) = (Label(owner), NameOf(current));
    warn!(target: "demeanor", "{owner}: {what} after {seconds} s, asked for in state {state}, counts as 0 s");
}

/// Tells the log and the owner of a change, made or refused (rules 8, 23).
#[inline]
pub(crate) fn tell<T: Owner>(owner: &mut T, change: &Change<'_, T>, cx: &mut T::Context<'_>) {
    log_change(owner, change);
    owner.on_change(change, cx);
}

/// Reports a change to the collector of events with fields, or else to the log: a collector often collects the log, too.
#[inline]
pub(crate) fn log_change<T: Owner>(owner: &T, change: &Change<'_, T>) {
    #[cfg(feature = "tracing")]
    if is_traced() {
        return trace_change(owner, change);
    }
    debug!(target: "demeanor", "{}: {change}", Label(owner));
}

/// Whether [`log_change`] has a receiver.
#[cfg(feature = "std")]
#[inline]
pub(crate) fn logs_changes() -> bool {
    #[cfg(feature = "tracing")]
    if is_traced() {
        return true;
    }
    log::log_enabled!(target: "demeanor", Level::Debug)
}

#[cfg(feature = "tracing")]
#[inline]
fn is_traced() -> bool {
    tracing::enabled!(target: "demeanor", tracing::Level::DEBUG)
}

#[cfg(feature = "tracing")]
#[cold]
fn trace_change<T: Owner>(owner: &T, change: &Change<'_, T>) {
    use tracing::field::display;

    let refused_by = match &change.outcome {
        Outcome::Taken => None,
        Outcome::Refused(refusal) => Some(display(refusal)),
    };
    tracing::debug!(
        target: "demeanor",
        owner = %Label(owner),
        from = change.from.map(display),
        to = change.to.map(display),
        cause = %change.cause,
        refused_by,
        time_in_state = change.time_in_state,
        "{}",
        if change.is_taken() { "changes state" } else { "may not change state" }
    );
}

/// The path from the outermost ancestor of `to` down through the `initial()` children.
fn descent<T: Owner>(to: &StateRef<T>) -> Result<Path<T>, Misuse> {
    let mut path = path_to(to).map_err(Misuse::endless)?;
    let mut innermost = to.clone();
    while let Some(child) = innermost.initial() {
        if child.parent().as_ref() != Some(&innermost) {
            return Err("the state that its `initial` returns has another parent".into());
        }
        if path.len() > 64 {
            return Err(Misuse::endless("its chain of `initial` states has no end"));
        }
        path.push(child.clone());
        innermost = child;
    }
    Ok(path)
}
