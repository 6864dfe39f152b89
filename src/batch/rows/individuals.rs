//! Individuals: owners of a chunk whose requests cannot be carried out in bulk. Each of them gets a seat, and finishes its tick
//! alone, as a machine does.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::range::Rows;
use crate::batch::known::panics::FirstPanic;
use crate::batch::known::slots::CHUNK;
use crate::change::End;
use crate::fsm::Request;
use crate::machine::observer::Observer;
use crate::machine::seat::Seat;
use crate::machine::settings::Settings;
use crate::machine::single::{ASKED_TO_SLEEP, Requests, Single};
use crate::machine::waiting::{Note, Scope, Then, Timer};
use crate::owner::Owner;
use crate::state::{Kind, Mover, StateRef};

pub(crate) struct Individual<T: Owner> {
    pub(crate) slot: usize,
    /// Empty until it is loaded.
    pub(crate) seat: Seat<T>,
    pub(crate) requests: Requests<T>,
    /// How many changes and messages to itself its callback has led to. The highest bit, `ASKED_TO_SLEEP`, says whether a request
    /// to sleep has been carried out, so that the owner falls asleep when its callback is settled.
    pub(crate) count: u32,
    /// How many immediate changes its callbacks have made.
    pub(crate) made: u32,
    /// How many active states, counted from the outermost, its callbacks have not left by immediate changes.
    kept: usize,
    /// The depth of the state in whose `enter` the owner last called `stay` or a method that acts within the call.
    pub(crate) entering: usize,
    /// Whether `stay` ends its change in bulk (rule 38).
    pub(crate) has_stayed: bool,
    /// Whether its seat has been loaded.
    pub(crate) is_loaded: bool,
    /// Whether its seat may have changed since it was loaded.
    pub(crate) is_touched: bool,
}

impl<T: Owner> Individual<T> {
    /// Loads its seat from its row, unless the seat is already loaded.
    pub(crate) fn load(&mut self, rows: &Rows<'_, T>) {
        if !self.is_loaded {
            self.is_loaded = true;
            rows.load(self.slot, &mut self.seat);
        }
    }

    /// Returns how its change in bulk has ended early, if it has, and the depth of the state whose `enter` has ended it.
    pub(crate) fn ended_early(&self) -> Option<(End, usize)> {
        let end = if self.made > 0 { End::Abandoned } else { End::Stayed };
        (self.made > 0 || self.has_stayed).then_some((end, self.entering))
    }

    /// Enters a child of its current state, as the next step of its change in bulk. No callback of the child has run yet.
    pub(crate) fn descend(&mut self, state: StateRef<T>, at: f64) {
        self.seat.descend(state, at);
        self.kept = usize::MAX;
    }

    /// Adds a request of a callback.
    pub(crate) fn ask(&mut self, request: Request<T>, scope: Scope) {
        let request = request.of(if scope.ends_with(self.kept) { Scope::Left } else { scope });
        self.seat.note(&request);
        self.requests.push(request);
    }

    /// Stores a number for a state with the scope `by`.
    pub(crate) fn note(&mut self, by: Scope, note: Note) {
        let timer = Timer { due: f64::INFINITY, scope: by, then: Then::Note(note) };
        self.seat.rare_mut().waiting.set(timer);
        self.is_touched = true;
    }

    /// Returns whether a request of its callback is still pending, a sleep included.
    pub(crate) fn has_asked(&self) -> bool {
        !self.requests.is_empty() || self.count & ASKED_TO_SLEEP != 0
    }

    /// Adds the change of a mover as a request.
    pub(crate) fn ask_as(&mut self, mover: Mover, rows: &Rows<'_, T>) {
        let target = || rows.states().get(mover.target()).state().clone();
        self.requests.push(match mover.kind() {
            Kind::Change => Request::change(target()),
            Kind::Force => Request::Force(target()),
            Kind::Revert => Request::Revert,
            // The state is no longer active if an immediate change has been made ahead of the request.
            Kind::Nothing => Request::Ensure(rows.known().at(mover.target() as usize).clone()),
        });
    }

    /// Returns whether its seat must be stored. If the seat has not changed, puts back the data that `load` took from beside
    /// the row.
    pub(crate) fn is_left_over(&mut self, rows: &Rows<'_, T>) -> bool {
        if self.is_loaded && !self.is_touched {
            rows.put_back(self.slot, &mut self.seat);
        }
        self.is_touched
    }

    /// Runs `act` on the individual's machine.
    pub(crate) fn run<'r>(
        &'r mut self,
        settings: &'r Settings<T>,
        observer: Option<&'r mut dyn Observer<T>>,
        act: &mut dyn FnMut(&mut Single<'_, T>),
    ) {
        // The individual counts as touched until `act` returns, because `act` may panic.
        let was_touched = mem::replace(&mut self.is_touched, true);
        let mut single = Single::new(&mut self.seat, Some(settings));
        // Copying an empty queue costs more than checking that it is empty.
        if !self.requests.is_empty() {
            single.requests = mem::take(&mut self.requests);
        }
        single.count = self.count;
        single.kept = self.kept;
        single.observer = observer;
        // The callback that has called this function may catch the panic and go on, so the fields are updated first.
        let result = catch_unwind(AssertUnwindSafe(|| act(&mut single)));
        if result.is_err() {
            single.forget_requests();
        }
        self.made += single.made;
        self.kept = single.kept;
        self.is_touched = was_touched || single.is_touched || result.is_err();
        self.count = single.count;
        if !single.requests.is_empty() {
            self.requests = mem::take(&mut single.requests);
        }
        match result {
            // Its requests have been moved out and it has no target, so nothing is left to drop.
            Ok(()) => mem::forget(single),
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// The individuals of a chunk. They stay in the list until their rows have been moved. Their seats are reused.
pub(crate) struct Individuals<T: Owner> {
    /// The individuals in use, then empty ones.
    list: Vec<Individual<T>>,
    in_use: usize,
    /// How many individuals have finished their tick. They come first in the list.
    finished: usize,
    /// By slot: the place in the list, counted from 1, of the individual that has not finished its tick; or 0.
    places: Vec<u16>,
    /// An empty seat.
    spare: Seat<T>,
}

impl<T: Owner> Individuals<T> {
    pub(crate) const fn new() -> Self {
        Self { list: Vec::new(), in_use: 0, finished: 0, places: Vec::new(), spare: Seat::empty() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.in_use == 0
    }

    /// Returns whether any individual has not finished its tick.
    pub(crate) fn has_unfinished(&self) -> bool {
        self.finished < self.in_use
    }

    /// Returns the place of the owner at a slot, if it is an individual that has not finished its tick.
    #[inline]
    pub(crate) fn place(&self, slot: usize) -> Option<usize> {
        if !self.has_unfinished() {
            return None;
        }
        usize::from(*self.places.get(slot)?).checked_sub(1)
    }

    #[inline]
    pub(crate) fn at(&mut self, place: usize) -> &mut Individual<T> {
        &mut self.list[place]
    }

    /// Returns the owner at a slot, if it is an individual that has not finished its tick.
    #[inline]
    pub(crate) fn get(&self, slot: usize) -> Option<&Individual<T>> {
        Some(&self.list[self.place(slot)?])
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: usize) -> Option<&mut Individual<T>> {
        let place = self.place(slot)?;
        Some(&mut self.list[place])
    }

    /// Makes the owner at a slot an individual. It must not be one already.
    pub(crate) fn add(&mut self, slot: usize) -> &mut Individual<T> {
        let place = self.in_use;
        if place == self.list.len() {
            self.list.push(Individual {
                slot,
                seat: Seat::empty(),
                requests: Requests::new(),
                count: 0,
                made: 0,
                kept: usize::MAX,
                entering: 0,
                has_stayed: false,
                is_loaded: false,
                is_touched: false,
            });
        }
        if self.places.len() <= slot {
            self.places.resize(CHUNK.max(slot + 1), 0);
        }
        self.in_use += 1;
        self.places[slot] = u16::try_from(self.in_use).unwrap_or(u16::MAX);
        let individual = &mut self.list[place];
        individual.slot = slot;
        individual.count = 0;
        individual.made = 0;
        individual.kept = usize::MAX;
        individual.has_stayed = false;
        individual.is_loaded = false;
        individual.is_touched = false;
        individual
    }

    /// Runs `act` on the machine of an owner. The owner becomes an individual only if its seat may have changed: a seat for each
    /// owner of the chunk would take too much memory. Returns the result of `act`, or `None` if `act` panicked.
    #[inline]
    pub(crate) fn run_if_touched<R>(
        &mut self,
        (slot, rows): (usize, &Rows<'_, T>),
        settings: &Settings<T>,
        observer: Option<&mut dyn Observer<T>>,
        panic: &mut FirstPanic,
        act: impl FnOnce(&mut Single<'_, T>) -> R,
    ) -> Option<R> {
        rows.load(slot, &mut self.spare);
        let observer = observer.map(|observer| observer as _);
        let (result, is_touched) = run_on_seat(&mut self.spare, settings, observer, panic, act);
        if is_touched || result.is_none() {
            self.add_spare(slot);
        } else {
            rows.put_back(slot, &mut self.spare);
            empty(&mut self.spare, panic);
        }
        result
    }

    /// Makes the owner at a slot an individual with the spare seat.
    fn add_spare(&mut self, slot: usize) {
        let seat = mem::replace(&mut self.spare, Seat::empty());
        let individual = self.add(slot);
        (individual.is_loaded, individual.is_touched) = (true, true);
        self.spare = mem::replace(&mut individual.seat, seat);
    }

    /// Calls `finish` for each individual that has not finished its tick. Keeps the individuals for which `finish` returns
    /// `true`.
    pub(crate) fn finish_each(
        &mut self,
        panic: &mut FirstPanic,
        mut finish: impl FnMut(&mut Individual<T>, &mut FirstPanic) -> bool,
    ) {
        let Self { list, in_use, finished, places, .. } = self;
        let unfinished = *finished..mem::replace(in_use, *finished);
        for at in unfinished {
            let individual = &mut list[at];
            places[individual.slot] = 0;
            if finish(individual, panic) {
                if *in_use < at {
                    list.swap(*in_use, at);
                }
                *in_use += 1;
            } else {
                empty(&mut individual.seat, panic);
            }
        }
        *finished = *in_use;
    }

    /// Drops the requests of the owner at a slot. Returns whether the owner is an individual.
    pub(crate) fn forget(&mut self, slot: usize, panic: &mut FirstPanic) -> bool {
        let Some(individual) = self.get_mut(slot) else { return false };
        let requests = mem::take(&mut individual.requests);
        individual.count &= !ASKED_TO_SLEEP;
        individual.seat.forget_sleep();
        panic.catch(|| drop(requests));
        true
    }

    /// Returns the individuals, sorted by slot. All of them must have finished their tick.
    pub(crate) fn by_slot(&mut self) -> &mut [Individual<T>] {
        let individuals = &mut self.list[..self.in_use];
        if !individuals.is_sorted_by_key(|individual| individual.slot) {
            individuals.sort_unstable_by_key(|individual| individual.slot);
        }
        individuals
    }

    /// Removes all individuals. Their seats must be empty.
    pub(crate) fn clear(&mut self) {
        self.in_use = 0;
        self.finished = 0;
    }

    /// Frees memory that only an unusual tick needs.
    #[cfg(feature = "parallel")]
    pub(crate) fn give_back(&mut self) {
        self.list.truncate(1);
        self.list.shrink_to(1);
        self.places = Vec::new();
    }
}

/// Drops all that a seat holds. The seat keeps its memory.
fn empty<T: Owner>(seat: &mut Seat<T>, panic: &mut FirstPanic) {
    seat.empty_into(|dropped| {
        if dropped.is_held() {
            panic.catch(|| drop(dropped));
        }
    });
}

/// Runs `act` on a machine with this seat. Returns the result of `act`, or `None` if `act` panicked, and whether the seat may
/// have changed.
#[inline]
pub(crate) fn run_on_seat<'s, T: Owner, R>(
    seat: &'s mut Seat<T>,
    settings: &'s Settings<T>,
    observer: Option<&'s mut dyn Observer<T>>,
    panic: &mut FirstPanic,
    act: impl FnOnce(&mut Single<'_, T>) -> R,
) -> (Option<R>, bool) {
    let mut single = Single::new(seat, Some(settings));
    single.observer = observer;
    let result = panic.catch(|| act(&mut single));
    let is_touched = single.is_touched;
    if result.is_none() {
        // This also drops the pending requests.
        panic.catch(|| drop(single));
    } else {
        // All requests are carried out, so nothing is left to drop. The compiler does not know this, and would add code that
        // checks it.
        mem::forget(single);
    }
    (result, is_touched)
}
