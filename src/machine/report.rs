//! What a machine is doing at one moment, in words, for tools that show it.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

use super::regions::Tree;
use super::seat::{Seat, Suspended};
use super::waiting::{Scope, Timer};
use crate::fsm::time_since;
use crate::owner::{Label, Owner};
use crate::state::StateRef;

/// What a machine is doing at one moment: its states, its stack, its timers and its sleep, all with names.
///
/// It is for tools and for the log. [`StateMachine::report`](crate::StateMachine::report), `Batch::report` and
/// [`Members::report`](crate::Members::report) return one, and allocate memory for it.
///
/// # Examples
///
/// ```
/// use demeanor::{Owner, State, StateMachine};
///
/// struct Guard;
/// impl Owner for Guard { type Context<'a> = f64; type Message = (); fn now(seconds: &f64) -> f64 { *seconds } }
/// struct Patrol;
/// struct Rest;
/// impl State<Guard> for Patrol {}
/// impl State<Guard> for Rest {}
///
/// let mut machine = StateMachine::new(&Patrol);
/// machine.change_state(&mut Guard, &Rest, &mut 1.0);
/// machine.change_state_after(&mut Guard, 5.0, &Patrol, &mut 2.0);
///
/// let report = machine.report(&Guard, 3.0);
/// assert_eq!(report.path[0].to_string(), "Rest for 2 s");
/// assert_eq!(report.previous.as_deref(), Some("Patrol"));
/// assert_eq!(report.timers[0].to_string(), "change to Patrol in 4 s");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MachineReport {
    /// The owner's name, by [`Owner::label`].
    pub label: String,
    /// The active states, from the outermost to the current state. Empty when no state is active.
    pub path: Vec<StateReport>,
    /// The previous state.
    pub previous: Option<String>,
    /// The global state.
    pub global: Option<String>,
    /// The suspended paths, the oldest first. Each path lists its states, outermost first, and then the states that are suspended
    /// in its regions, region by region.
    pub stack: Vec<Vec<StateReport>>,
    /// The running timers, in the order in which they were set. The timers of suspended paths are left out.
    pub timers: Vec<TimerReport>,
    /// In how many seconds the sleep of the states in `path` is over, to the millisecond; infinite if only a timer, a message, a
    /// change or `wake` ends it. `None` while they are awake.
    pub sleeps_for: Option<f64>,
    /// The open [regions](crate::State::regions), in the order in which they are updated.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub regions: Vec<RegionReport>,
}

/// One open region of a [`MachineReport`].
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RegionReport {
    /// The state whose region it is.
    pub within: String,
    /// The index of the region, counted from 0.
    pub region: usize,
    /// The active states in the region, from the outermost to the innermost.
    pub path: Vec<StateReport>,
    /// The previous state of the region.
    pub previous: Option<String>,
    /// The suspended paths of the region, as in [`MachineReport::stack`].
    pub stack: Vec<Vec<StateReport>>,
    /// The running timers of the region's states, in the order in which they were set.
    pub timers: Vec<TimerReport>,
    /// In how many seconds the sleep of the region is over, as in [`MachineReport::sleeps_for`].
    pub sleeps_for: Option<f64>,
}

/// One state of a [`MachineReport`].
///
/// Displayed as `Rest for 2 s`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StateReport {
    /// The state's name.
    pub name: String,
    /// How many seconds it has been active. While another state is pushed over it, this time is paused ([rule
    /// 18](crate::docs::semantics#rule-18)).
    pub seconds: f64,
}

/// One running timer of a [`MachineReport`].
///
/// Displayed as `change to Patrol in 4 s`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TimerReport {
    /// What the timer requests when it is due: `change to Patrol`, `message to oneself`, or, after a state was replaced at
    /// loading, `enter the current state`.
    pub asks_for: String,
    /// The active state whose exit ends the timer. `None` if the timer lasts as long as the machine.
    pub ends_with: Option<String>,
    /// In how many seconds the timer is due, to the millisecond; 0 for a change in the next tick.
    pub due_in: f64,
}

impl fmt::Display for StateReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} for {} s", self.name, self.seconds)
    }
}

impl fmt::Display for TimerReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {} s", self.asks_for, self.due_in)
    }
}

impl MachineReport {
    /// Creates the report of a machine whose owner's clock shows `now`.
    pub(crate) fn new<T: Owner>(owner: &T, seat: &Seat<T>, global: Option<&StateRef<T>>, now: f64) -> Self {
        let mut regions = Vec::new();
        Tree::new(None, seat).each(&mut |seat, inside| {
            let active = inside.iter().enumerate().filter(|(_, seat)| seat.depth() > 0);
            regions.extend(active.map(|(nth, inside)| RegionReport {
                within: seat.current.name().into_owned(),
                region: nth,
                ..RegionReport::new(inside, now)
            }));
        });
        let RegionReport { path, previous, stack, timers, sleeps_for, .. } = RegionReport::new(seat, now);
        let global = global.map(|state| state.name().into_owned());
        Self { label: label_of(owner), path, previous, global, stack, timers, sleeps_for, regions }
    }

    /// Returns whether the machine is asleep: the states in `path`, and all regions.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.sleeps_for.is_some() && self.regions.iter().all(|region| region.sleeps_for.is_some())
    }
}

impl RegionReport {
    /// Creates the report of a seat, which may be that of a region.
    fn new<T: Owner>(seat: &Seat<T>, now: f64) -> Self {
        let name = |state: &StateRef<T>| state.name().into_owned();
        let view = seat.view(&StateRef::NONE);
        let path: Vec<_> = seat
            .path()
            .enumerate()
            .map(|(depth, state)| StateReport { name: name(state), seconds: time_since(view.entered_at(depth), now) })
            .collect();
        let mut report = Self { previous: seat.previous.as_option().map(name), ..Self::default() };
        if let Some(rare) = &*seat.rare {
            report.stack = rare.stack.iter().map(suspended).collect();
            // Notes are stored among the timers, but are never due.
            let timers = rare.waiting.timers.iter().filter(|timer| !timer.then.is_note());
            report.timers = timers.map(|timer| timer_report(timer, &path, now)).collect();
            report.sleeps_for = rare.waiting.wakes_at().map(|at| in_milliseconds(at - now));
        }
        report.path = path;
        report
    }
}

/// Returns the owner's label. If writing the label fails, returns the part written so far.
fn label_of<T: Owner>(owner: &T) -> String {
    let mut label = String::new();
    let _ = write!(label, "{}", Label(owner));
    label
}

fn suspended<T: Owner>(suspended: &Suspended<T>) -> Vec<StateReport> {
    let states = suspended.path.iter().zip(&suspended.times);
    let own = states.map(|(state, &seconds)| StateReport { name: state.name().into_owned(), seconds });
    // The states that were active in a suspended region are on top of the stack of the region's seat.
    let inside = suspended.regions.iter().flat_map(|regions| regions.seats());
    let inside = inside.filter_map(|seat| seat.rare.as_ref()?.stack.last());
    own.chain(inside.flat_map(self::suspended)).collect()
}

fn timer_report<T: Owner>(timer: &Timer<T>, path: &[StateReport], now: f64) -> TimerReport {
    let asks_for = match &timer.then {
        #[cfg(feature = "serde")]
        crate::machine::waiting::Then::Enter => String::from("enter the current state"),
        then => then.to_string(),
    };
    let ends_with = match timer.scope {
        Scope::State(depth) => path.get(usize::from(depth)).map(|state| state.name.clone()),
        Scope::Current => path.last().map(|state| state.name.clone()),
        Scope::Machine | Scope::Left => None,
    };
    let due_in = if timer.scope == Scope::Current { 0.0 } else { in_milliseconds(timer.due - now) };
    TimerReport { asks_for, ends_with, due_in }
}

/// Rounds to milliseconds. Otherwise the report would show the tolerance that is subtracted from a timer (rule 18).
fn in_milliseconds(seconds: f64) -> f64 {
    // `f64::round` needs `std`. Adding and then subtracting a number of this size rounds to a whole number.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    let thousands = seconds * 1000.0;
    if thousands.abs() < 1e15 { (thousands + WHOLE - WHOLE) / 1000.0 } else { seconds }
}
