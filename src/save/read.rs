//! Turns plain data into a machine's seat. All data is checked as it is read.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use smallvec::SmallVec;

use super::book::{Missing, StateBook};
use super::data::{SavedMore, SavedNote, SavedPath, SavedSeat, SavedState, SavedStates, SavedThen, SavedTimer};
use super::error::LoadError;
use super::seconds::Seconds;
use crate::fsm::{NEVER, time_or_zero};
use crate::machine::regions::{MOST_REGIONS, Regions};
use crate::machine::seat::{DEEPEST, MOST_PUSHED, MOST_REMEMBERED, Path, Seat, Suspended, path_to, region_in};
use crate::machine::waiting::{Note, Scope, Then, Timer, Timers};
use crate::owner::{Owner, clock_time};
use crate::state::StateRef;

/// Reads states by number. Names that the book does not know are collected, and reported at the end.
pub(crate) struct Reader<'b, T: Owner> {
    pub(crate) book: &'b StateBook<T>,
    pub(crate) clock: Clock,
    /// Whether the definitions have changed since the value was saved.
    is_redefined: bool,
    states: SavedStates,
    found: Vec<Option<FoundState<T>>>,
    unknown: BTreeSet<String>,
    failed: Option<LoadError>,
}

/// The state that a number refers to.
pub(crate) struct FoundState<T: Owner> {
    pub(crate) state: StateRef<T>,
    pub(crate) how: How,
}

/// How a state was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// By its name.
    Named,
    /// It replaces a state that no longer exists.
    InPlace,
    /// It replaces a state that no longer exists, and must be entered.
    ToEnter,
}

impl<T: Owner> Clone for FoundState<T> {
    fn clone(&self) -> Self {
        Self { state: self.state.clone(), how: self.how }
    }
}

impl<'b, T: Owner> Reader<'b, T> {
    pub(crate) fn new(
        book: &'b StateBook<T>,
        states: SavedStates,
        clock: Seconds,
        definitions: u64,
        now: f64,
    ) -> Result<Self, LoadError> {
        book.check()?;
        Ok(Self {
            book,
            clock: Clock::new(time(clock, "clock")?, now),
            is_redefined: definitions != book.definitions_digest(),
            found: states.iter().map(|_| None).collect(),
            states,
            unknown: BTreeSet::new(),
            failed: None,
        })
    }

    /// Fails if the book did not know all names that were looked up. The error lists the unknown names.
    pub(crate) fn finish(&mut self) -> Result<(), LoadError> {
        if !self.unknown.is_empty() {
            return Err(LoadError::UnknownStates { names: mem::take(&mut self.unknown).into_iter().collect() });
        }
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Returns the state with the given number. The number 0 stands for no state.
    pub(crate) fn state(&mut self, number: u32) -> Result<FoundState<T>, LoadError> {
        let Some(nth) = number.checked_sub(1) else {
            return Ok(FoundState { state: StateRef::NONE, how: How::Named });
        };
        let nth = nth as usize;
        let Some(known) = self.found.get(nth) else {
            let why = format!("there are only {}", self.states.len());
            return Err(LoadError::damaged(format_args!("state {number}"), why));
        };
        if let Some(found) = known {
            return Ok(found.clone());
        }
        let found = self.find(nth)?;
        self.found[nth] = Some(found.clone());
        Ok(found)
    }

    fn find(&mut self, nth: usize) -> Result<FoundState<T>, LoadError> {
        let (name, data) = match &self.states[nth] {
            SavedState::Name(name) => (&**name, None),
            SavedState::Owned { name, data } => (self.name(*name)?, Some(data)),
            SavedState::Region(_) => {
                return Err(LoadError::damaged(format_args!("state {}", nth + 1), "it is a region"));
            }
        };
        let unreadable = |why| LoadError::OwnedState { name: name.into(), why };
        let known = match data {
            None => self.book.state_of(name),
            Some(data) => self.book.owned_type(name).map(|owned| (owned.read)(data)).transpose().map_err(unreadable)?,
        };
        if let Some(state) = known {
            return Ok(FoundState { state, how: How::Named });
        }
        let name = String::from(name);
        Ok(match self.book.stand_in(&name) {
            Missing::Enter(state) => FoundState { state, how: How::ToEnter },
            Missing::Place(state) => FoundState { state, how: How::InPlace },
            Missing::Refuse => {
                self.unknown.insert(name);
                FoundState { state: StateRef::NONE, how: How::InPlace }
            }
        })
    }

    /// Returns whether the book knows the name with a number.
    #[cfg(feature = "std")]
    pub(crate) fn is_known(&self, number: u32) -> bool {
        self.name(number).is_ok_and(|name| self.book.state_of(name).is_some())
    }

    fn saved(&self, number: u32) -> Option<&SavedState> {
        self.states.get(number.checked_sub(1)? as usize)
    }

    /// Returns the name with a number.
    pub(crate) fn name(&self, number: u32) -> Result<&str, LoadError> {
        match self.saved(number) {
            Some(SavedState::Name(name)) => Ok(name),
            _ => Err(LoadError::damaged(format!("state {number}"), "it is no name")),
        }
    }

    /// Returns the former ancestors of a state whose ancestors are `now`; no state in the place of each one that is gone. An
    /// ancestor that the book did not know at saving has the number 0: it is the one that has its place now.
    pub(crate) fn ancestors(
        &mut self,
        numbers: impl ExactSizeIterator<Item = u32>,
        now: &[StateRef<T>],
        how: How,
    ) -> Result<Vec<StateRef<T>>, LoadError> {
        let is_as_deep = how == How::Named && numbers.len() == now.len();
        let ancestor = |(depth, number): (usize, u32)| {
            let is_known = match self.saved(number) {
                Some(SavedState::Name(name)) => self.book.state_of(name).is_some(),
                Some(SavedState::Owned { name, .. }) => self.book.owned_type(self.name(*name)?).is_some(),
                None if number == 0 && is_as_deep => return Ok(now[depth].clone()),
                Some(SavedState::Region(_)) | None => true,
            };
            if is_known { self.state(number).map(|found| found.state) } else { Ok(StateRef::NONE) }
        };
        numbers.enumerate().map(ancestor).collect()
    }

    pub(crate) fn seat(&mut self, saved: &SavedSeat) -> Result<Seat<T>, LoadError> {
        self.seat_in(None, saved)
    }

    /// Reads the seat of a region, or of a machine.
    fn seat_in(&mut self, region: Option<RegionOf<'_, T>>, saved: &SavedSeat) -> Result<Seat<T>, LoadError> {
        let found = self.state(saved.current)?;
        if saved.ancestors.len() > DEEPEST {
            return Err(LoadError::damaged("ancestors", "there are more than 64"));
        }
        let mut seat = placed(region, &found.state)?;
        let clock = self.clock;
        let entered = |at: Option<Seconds>| -> Result<f64, LoadError> {
            at.map_or(Ok(NEVER), |at| Ok(clock.at(time(at, "entered_at")?)))
        };
        let numbers = saved.ancestors.iter().map(|(number, _)| *number);
        let before = self.ancestors(numbers, seat.ancestors(), found.how)?;
        if found.how != How::ToEnter {
            seat.entered_at = entered(saved.entered_at)?;
            let at = seat.entered_at;
            if let Some(rare) = &mut *seat.rare {
                rare.ancestors_entered_at.fill(at);
                for (state, entered_at) in rare.ancestors.iter().zip(&mut rare.ancestors_entered_at) {
                    if let Some(nth) = before.iter().position(|before| before == state) {
                        *entered_at = entered(saved.ancestors[nth].1)?;
                    }
                }
            }
        }
        seat.previous = self.state(saved.previous)?.state;
        let depths = Depths::new(&before, &seat, found.how);
        let entered_at = |depth| time_or_zero(seat.view(&StateRef::NONE).entered_at(depth));
        let entered_at: SmallVec<[f64; 4]> = (0..seat.depth()).map(entered_at).collect();
        self.more_in(region, &saved.more, &depths, &|depth| entered_at[depth], &mut seat)?;
        if saved.is_asleep && found.how == How::Named {
            self.put_to_sleep(&mut seat, self.wakes_at(&saved.more)?, saved.is_outdated);
        }
        debug_assert!(seat.is_whole(), "a machine is loaded with what belongs to no state of it");
        Ok(seat)
    }

    /// Reads the data that only some machines have, except for the sleep. `entered_at` returns when the state at a depth was
    /// entered.
    pub(crate) fn more(
        &mut self,
        saved: &SavedMore,
        depths: &Depths,
        entered_at: &dyn Fn(usize) -> f64,
        seat: &mut Seat<T>,
    ) -> Result<(), LoadError> {
        self.more_in(None, saved, depths, entered_at, seat)
    }

    fn more_in(
        &mut self,
        region: Option<RegionOf<'_, T>>,
        saved: &SavedMore,
        depths: &Depths,
        entered_at: &dyn Fn(usize) -> f64,
        seat: &mut Seat<T>,
    ) -> Result<(), LoadError> {
        let SavedMore { stack, history, timers, wakes_at: _ } = saved;
        // A suspended region has one more path on its stack: the states that were active in it.
        let most_pushed = MOST_PUSHED + usize::from(region.is_some() && seat.current.is_none());
        let lists =
            [("stack", stack.len(), "paths", most_pushed), ("history", history.len(), "entries", MOST_REMEMBERED)];
        if let Some((at, len, of, most)) = lists.into_iter().find(|(_, len, _, most)| len > most) {
            return Err(LoadError::damaged(at, format_args!("it has {len} {of}; the most are {most}")));
        }
        for (nth, path) in stack.iter().enumerate() {
            let suspended =
                self.path(region, path).map_err(|error| error.within(format_args!("path {nth} of the stack")))?;
            seat.rare_mut().stack.push(suspended);
        }
        for (nth, &entry) in history.iter().enumerate() {
            self.remember(entry, &history[..nth], seat)?;
        }
        for (nth, timer) in timers.iter().enumerate() {
            if let SavedThen::Regions(numbers) = &timer.then {
                let regions = self.regions(numbers, &seat.current, depths.how)?;
                only_once(mem::replace(&mut seat.rare_mut().regions, regions))?;
                continue;
            }
            let clock = self.clock;
            let timer = self.timer(timer, depths, Some(Scope::Machine), |due| clock.at(due), entered_at);
            let timer = timer.map_err(|error| error.within(format_args!("timer {nth}")))?;
            if let Some(timer) = timer {
                seat.rare_mut().waiting.timers.push(timer);
            }
        }
        if depths.how == How::ToEnter {
            let timer = Timer { due: f64::NEG_INFINITY, scope: Scope::Machine, then: Then::Enter };
            seat.rare_mut().waiting.timers.push(timer);
        }
        Ok(())
    }

    /// Puts a machine to sleep. If its state has changed since it was saved, the machine wakes in the next tick ([rule
    /// 26](crate::docs::semantics#rule-26)).
    pub(crate) fn put_to_sleep(&self, seat: &mut Seat<T>, wakes_at: f64, is_outdated: bool) {
        seat.sleep_until(wakes_at);
        let revision = self.revision(&seat.current, is_outdated);
        seat.rare_mut().waiting.revision = revision;
    }

    /// Returns when a machine wakes by itself; infinity if it does not. Earlier versions saved the turn of a state as a timer,
    /// which also wakes the machine.
    pub(crate) fn wakes_at(&self, saved: &SavedMore) -> Result<f64, LoadError> {
        let turns = saved.timers.iter().filter(|timer| matches!(timer.then, SavedThen::Turn)).map(|timer| timer.due);
        let mut first = f64::INFINITY;
        for at in turns.chain(saved.wakes_at) {
            first = first.min(self.clock.at(time(at, "wakes_at")?));
        }
        Ok(first)
    }

    /// Returns the revision to note for machines that sleep in a state: the revision that the state has now, or a different one
    /// if the state has changed since they fell asleep.
    pub(crate) fn revision(&self, state: &StateRef<T>, is_outdated: bool) -> usize {
        let is_redefined = self.is_redefined && self.book.is_defined(state);
        state.revision().wrapping_sub(usize::from(is_outdated || is_redefined))
    }

    /// Reads the states that are active or suspended in the regions of a state. `None` if the state replaces another one.
    fn regions(&mut self, numbers: &[u32], of: &StateRef<T>, how: How) -> Result<Option<Box<Regions<T>>>, LoadError> {
        if how != How::Named || of.is_none() {
            return Ok(None);
        }
        let mut regions = Regions::new(of.regions().len().min(MOST_REGIONS));
        for (nth, &number) in numbers.iter().enumerate() {
            let place = (number as usize).wrapping_sub(1);
            let Some(SavedState::Region(saved)) = self.states.get_mut(place) else {
                let why = "it is no region, or it has been read already";
                return Err(LoadError::damaged(format_args!("state {number}"), why));
            };
            let saved = mem::take(saved);
            // The entry is replaced, so that no region is read twice, or within itself.
            self.states[place] = SavedState::Name(String::new());
            let seat = self.seat_in(Some((of, nth)), &saved)?;
            if let Some(region) = regions.seats_mut().nth(nth) {
                *region = seat;
            }
        }
        Ok(Some(Box::new(regions)))
    }

    fn path(&mut self, region: Option<RegionOf<'_, T>>, saved: &SavedPath) -> Result<Suspended<T>, LoadError> {
        let Some((&(current, seconds), around)) = saved.states.split_last() else {
            return Err(LoadError::damaged("states", "there is none"));
        };
        if around.len() > DEEPEST {
            return Err(LoadError::damaged("states", "there are more than 65"));
        }
        let found = self.state(current)?;
        let seat = placed(region, &found.state)?;
        let before = self.ancestors(around.iter().map(|(number, _)| *number), seat.ancestors(), found.how)?;
        let depths = Depths::new(&before, &seat, found.how);
        let of_current = time(seconds, "seconds")?;
        let path: Path<T> = seat.path().cloned().collect();
        let mut spent: SmallVec<[f64; 4]> = SmallVec::new();
        for (depth, state) in path.iter().enumerate() {
            let as_ancestor = before.iter().position(|before| before == state && depth + 1 < path.len());
            spent.push(as_ancestor.map_or(Ok(of_current), |nth| time(around[nth].1, "seconds"))?);
        }
        let mut timers = Timers::new();
        let mut regions = None;
        for timer in &saved.timers {
            if let SavedThen::Regions(numbers) = &timer.then {
                let read = self.regions(numbers, &found.state, found.how)?;
                only_once(mem::replace(&mut regions, read))?;
                continue;
            }
            timers.extend(self.timer(timer, &depths, None, |remaining| remaining, |depth| -spent[depth])?);
        }
        Ok(Suspended { path, times: spent, timers, regions: regions.into() })
    }

    /// Reads an entry of the history. The entry is dropped if one of its states was replaced, if the state that was active last
    /// is no longer inside the composite state, or if there is an entry for the same region already.
    fn remember(&mut self, entry: (u32, u32), before: &[(u32, u32)], seat: &mut Seat<T>) -> Result<(), LoadError> {
        if entry.0 == 0 || entry.1 == 0 {
            return Err(LoadError::damaged("history", "it remembers no state"));
        }
        let (of, last) = (self.state(entry.0)?, self.state(entry.1)?);
        if before.contains(&entry) {
            return Err(LoadError::damaged("history", format!("it remembers {} twice", of.state)));
        }
        if of.how != How::Named || last.how != How::Named {
            return Ok(());
        }
        let (of, last) = (of.state, last.state);
        if !path_to(&last).is_ok_and(|path| path.contains(&of)) {
            return Ok(());
        }
        let history = &mut seat.rare_mut().history;
        let is_of_region = |other: &StateRef<T>| !of.has_regions() || region_in(other, &of) == region_in(&last, &of);
        // A state that had regions and has none now has an entry for each of them. The first one counts.
        if !history.iter().any(|(other, last)| *other == of && is_of_region(last)) {
            history.push((of, last));
        }
        Ok(())
    }

    /// Reads a timer. `None` if it belongs to a state that is no longer active, or if it sends a message and the book knows no
    /// messages. A timer without a depth gets the scope `of_no_depth`.
    fn timer(
        &mut self,
        saved: &SavedTimer,
        depths: &Depths,
        of_no_depth: Option<Scope>,
        at: impl Fn(f64) -> f64,
        entered_at: impl Fn(usize) -> f64,
    ) -> Result<Option<Timer<T>>, LoadError> {
        let due = at(time(saved.due, "due")?);
        let scope = match saved.depth {
            None if matches!(saved.then, SavedThen::Next(_)) => depths.is_current().then_some(Scope::Current),
            None if of_no_depth.is_none() => {
                let why = "a timer of a suspended path belongs to one of its states";
                return Err(LoadError::damaged("depth", why));
            }
            None => of_no_depth,
            Some(depth) => depths.get(depth)?.map(Scope::state),
        };
        let then = match &saved.then {
            SavedThen::Change(0) | SavedThen::Next(0) => {
                return Err(LoadError::damaged("then", "it changes to no state"));
            }
            SavedThen::Change(to) => Then::Change(self.state(*to)?.state),
            SavedThen::Next(to) => {
                let timer = Timer::next(self.state(*to)?.state);
                return Ok(scope.map(|_| timer));
            }
            SavedThen::Send(data) | SavedThen::Repeat { message: data, .. } => {
                let Some(messages) = &self.book.messages else {
                    self.failed.get_or_insert(LoadError::NoMessages);
                    return Ok(None);
                };
                let message = (messages.read)(data).map_err(|why| LoadError::Message { why })?;
                match saved.then {
                    SavedThen::Repeat { seconds, span, .. } => {
                        Then::repeating(time(seconds, "seconds")?, time(span, "span")?, message)
                    }
                    _ => Then::Send(message),
                }
            }
            SavedThen::Turn => {
                let Some(Scope::State(depth)) = scope else { return Ok(None) };
                let number = due - entered_at(depth.into());
                let then = Then::Note(Note { key: SavedNote::Turn.key(), number });
                return Ok(scope.map(|scope| Timer { due: f64::INFINITY, scope, then }));
            }
            SavedThen::Enter => Then::Enter,
            SavedThen::Pop => Then::Pop,
            SavedThen::Regions(_) => return Ok(None),
            SavedThen::Note { of, number: Seconds(number) } => {
                let number = match of {
                    // The global state notes a time of the clock, other states the seconds since their entry.
                    SavedNote::Tried if saved.depth.is_none() => at(*number),
                    SavedNote::Cooldown(_) => at(*number),
                    SavedNote::Turn => time(Seconds(*number), "number")?,
                    _ => *number,
                };
                Then::Note(Note::new(of.key(), number))
            }
        };
        Ok(scope.map(|scope| Timer { due, scope, then }))
    }
}

/// Fails if the regions of a path have been read before.
fn only_once<T: Owner>(before: Option<Box<Regions<T>>>) -> Result<(), LoadError> {
    before.map_or(Ok(()), |_| Err(LoadError::damaged("timers", "they have the regions twice")))
}

/// A state with regions, and the index of one of them.
type RegionOf<'a, T> = (&'a StateRef<T>, usize);

/// Creates the seat of a machine or of a region in a state. Fails if the state lies elsewhere.
fn placed<T: Owner>(region: Option<RegionOf<'_, T>>, state: &StateRef<T>) -> Result<Seat<T>, LoadError> {
    let refused = |region, of: &StateRef<T>| {
        let (state, of) = (state.name().into_owned(), of.name().into_owned());
        LoadError::Region { state, region, of }
    };
    let mut path = if state.is_none() { Path::new() } else { path_to(state).unwrap_or_default() };
    if let (Some((of, nth)), false) = (region, state.is_none()) {
        let is_inside = region_in(state, of) == Some(nth) && nth < of.regions().len();
        let around = path.iter().position(|around| around == of).filter(|_| is_inside);
        drop(path.drain(..=around.ok_or_else(|| refused(Some(nth), of))?));
    }
    if let Some(around) = path.iter().rev().skip(1).find(|around| around.has_regions()) {
        return Err(refused(None, around));
    }
    let mut seat = Seat::empty();
    match region {
        None => seat.place(state),
        Some(_) => seat.place_path(path),
    }
    Ok(seat)
}

/// The current depths of the states of a path, by their depths when the path was saved.
pub(crate) struct Depths {
    now: Vec<Option<usize>>,
    how: How,
}

impl Depths {
    fn new<T: Owner>(before: &[StateRef<T>], seat: &Seat<T>, how: How) -> Self {
        let ancestors = seat.ancestors();
        let is_kept = how != How::ToEnter;
        let around = before.iter().map(|state| ancestors.iter().position(|now| now == state && is_kept));
        let current = (how == How::Named && !seat.current.is_none()).then_some(ancestors.len());
        Self { now: around.chain([current]).collect(), how }
    }

    /// Creates the depths of a path that has not changed.
    #[cfg(feature = "std")]
    pub(crate) fn unchanged(len: usize) -> Self {
        Self { now: (0..len).map(Some).collect(), how: How::Named }
    }

    /// Returns whether the current state is still the same.
    fn is_current(&self) -> bool {
        self.how == How::Named
    }

    fn get(&self, depth: u8) -> Result<Option<usize>, LoadError> {
        let now = self.now.get(usize::from(depth)).copied();
        now.ok_or_else(|| LoadError::damaged("depth", format!("no state is active at depth {depth}")))
    }
}

/// The clock's time when the value was saved, and its time now.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    saved: f64,
    now: f64,
}

impl Clock {
    fn new(saved: f64, now: f64) -> Self {
        Self { saved: clock_time(saved), now: clock_time(now) }
    }

    /// Returns whether both times are the same.
    pub(crate) fn is_same(self) -> bool {
        self.saved.to_bits() == self.now.to_bits()
    }

    /// Converts a saved time to the clock at loading: the result is as far from the time now as the saved time was from the
    /// time of saving. If both clocks show the same time, the result is the same to the bit.
    pub(crate) fn at(self, time: f64) -> f64 {
        if self.is_same() || time.is_infinite() {
            return time;
        }
        self.now - (self.saved - time)
    }
}

/// Returns a saved time. Fails if it is NaN.
pub(crate) fn time(Seconds(time): Seconds, at: &str) -> Result<f64, LoadError> {
    // Adding zero turns -0 into 0.
    if time.is_nan() { Err(LoadError::damaged(at, "the time is not a number")) } else { Ok(time + 0.0) }
}
