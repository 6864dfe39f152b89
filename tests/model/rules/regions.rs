//! Regions, rule 32: each open region has a seat of its own. The seat whose callback is running is in the place of the machine's.

use super::program::Id;
use super::{Machine, Rules, Seat, Suspended};

/// Where a seat is: the composites around it, outermost first, each with the index of the region and the number of its opening.
/// Empty for the seat of the machine.
pub(crate) type At = Vec<(Id, usize, u32)>;

/// What is or was active last in a region: its composite, its index, and the state.
pub(crate) type Memory = Vec<(Id, usize, Id)>;

/// The states that are entered in one seat, outermost first, and what is opened in the regions of the last one.
pub(crate) struct Branch {
    pub(crate) path: Vec<Id>,
    pub(crate) regions: Vec<Branch>,
}

impl Branch {
    /// Adds all its states, in the order of entering.
    pub(super) fn add_to(&self, states: &mut Vec<Id>) {
        states.extend(&self.path);
        self.regions.iter().for_each(|branch| branch.add_to(states));
    }
}

impl<W> Machine<W> {
    /// Moves to a seat; or, if it has been closed, to the innermost one around it that is open. Returns whether it is open.
    pub(crate) fn move_to(&mut self, to: &[(Id, usize, u32)]) -> bool {
        let mut open = to.to_vec();
        while open != self.at && !self.others.contains_key(&open) {
            open.pop();
        }
        let is_open = open.len() == to.len();
        if let Some(seat) = self.others.remove(&open) {
            let at = std::mem::replace(&mut self.at, open);
            let left = std::mem::replace(&mut self.seat, seat);
            self.others.insert(at, left);
        }
        is_open
    }

    /// Returns the open regions of the current state, in their order.
    pub(crate) fn regions(&self) -> Vec<At> {
        let is_inside = |at: &&At| at.len() == self.at.len() + 1 && at.starts_with(&self.at);
        self.others.keys().filter(is_inside).cloned().collect()
    }

    /// Opens the regions of the current state, unless they are open. They have no states yet.
    pub(super) fn open(&mut self, count: usize) {
        let Some(current) = self.current.filter(|_| self.regions().is_empty()) else { return };
        self.openings += 1;
        for nth in 0..count {
            let mut at = self.at.clone();
            at.push((current, nth, self.openings));
            self.others.insert(at, Seat { current: None, previous: None, ..Seat::empty() });
        }
    }

    /// Closes the regions of the current state.
    pub(super) fn close_seats(&mut self) -> Vec<Id> {
        let Self { at, others, .. } = self;
        let closed: Vec<_> = others.keys().filter(|inside| inside.starts_with(at) && *inside != at).cloned().collect();
        closed.iter().filter_map(|at| others.remove(at)?.current).collect()
    }

    /// Calls `act` for each seat, with the machine at this seat.
    pub(crate) fn each_seat(&mut self, mut act: impl FnMut(&mut Self)) {
        let here = self.at.clone();
        let all: Vec<_> = self.others.keys().chain([&here]).cloned().collect();
        for at in all {
            self.move_to(&at);
            act(self);
        }
        self.move_to(&here);
    }

    /// Drops all requests to sleep.
    pub(crate) fn forget_sleep(&mut self) {
        self.is_due_to_sleep = false;
        self.wanted = None;
        self.others.values_mut().for_each(|seat| seat.wanted = None);
    }

    /// Returns the composite in whose region the seat is.
    pub(super) fn composite(&self) -> Option<Id> {
        self.at.last().map(|(composite, ..)| *composite)
    }

    /// Returns the innermost active state on the first path through open regions.
    pub(crate) fn placed(&self) -> Option<Id> {
        let (mut at, mut placed) = (At::new(), None);
        for (inside, seat) in self.all_seats() {
            if seat.current.is_some() && inside.starts_with(&at) && (inside.is_empty() || inside.len() == at.len() + 1)
            {
                (at, placed) = (inside.clone(), seat.current);
            }
        }
        placed
    }

    /// Returns all seats: each before those of its regions.
    pub(crate) fn all_seats(&self) -> impl Iterator<Item = (&At, &Seat<W>)> {
        let mut seats: Vec<_> = self.others.iter().chain([(&self.at, &self.seat)]).collect();
        seats.sort_by_key(|(at, _)| *at);
        seats.into_iter()
    }
}

impl<W> Seat<W> {
    fn empty() -> Self {
        Self { current: None, previous: None, next: None, sleeps_until: None, wanted: None, stack: Vec::new(), made: 0 }
    }
}

impl<R: Rules + ?Sized> Regions for R {}

/// What the rules of regions are made of.
pub(crate) trait Regions: Rules {
    /// Returns the states around the region of the seat.
    fn around(&self) -> Vec<Id> {
        self.composite().map_or(Vec::new(), |composite| self.path(Some(composite)))
    }

    /// Returns the active states of the seat.
    fn seat_path(&self) -> Vec<Id> {
        self.path_in(&self.at, &self.seat)
    }

    /// Returns the active states of a seat.
    fn path_in(&self, at: &At, seat: &Seat<Self::Word>) -> Vec<Id> {
        let around = at.last().map_or(0, |(composite, ..)| self.path(Some(*composite)).len());
        self.path(seat.current).into_iter().skip(around).collect()
    }

    /// Returns all active states: those of each seat, then those of its regions.
    fn active_states(&self) -> Vec<Id> {
        self.all_seats().flat_map(|(at, seat)| self.path_in(at, seat)).collect()
    }

    /// Returns the current state of the seat in which a state is active.
    fn current_around(&self, state: Id) -> Option<Id> {
        self.all_seats().find(|(at, seat)| self.path_in(at, seat).contains(&state))?.1.current
    }

    fn memory(&self) -> Memory {
        let active =
            self.all_seats().filter_map(|(at, seat)| at.last().map(|(of, nth, _)| Some((*of, *nth, seat.current?))));
        let remembered = self.history.iter().filter_map(|((of, nth), last)| Some((*of, (*nth)?, *last)));
        active.flatten().chain(remembered).collect()
    }

    /// Closes the regions of the current state.
    fn close(&mut self) {
        let left = self.close_seats();
        for state in left.into_iter().flat_map(|state| self.path(Some(state))).collect::<Vec<_>>() {
            if !self.path(self.current).contains(&state) {
                self.entered_at.remove(&state);
                self.stays.remove(&state);
            }
        }
    }

    /// Returns how many active states stay in a change to the path of `to`, and what is entered. Moves to the seat in which the
    /// change is made. States from `left` on are left.
    fn route(&mut self, to: Id, left: Id, memory: &Memory) -> (usize, Branch) {
        let mut path = self.path(Some(to));
        let mut above = path.iter().position(|state| *state == left).unwrap_or(path.len());
        loop {
            let old = self.seat_path();
            let shared = old.iter().zip(&path).take_while(|(a, b)| a == b).count();
            let is_inside = shared > 0 && shared == old.len() && shared < path.len() && shared <= above;
            let regions = self.current.map_or(0, |current| self.row(current).regions.len());
            if !is_inside || regions == 0 {
                let kept = shared.min(above);
                return (kept, self.branch(&path, kept, memory));
            }
            self.open(regions);
            let at = self.regions()[self.row(path[shared]).region].clone();
            self.move_to(&at);
            (path, above) = (path[shared..].to_vec(), above - shared);
        }
    }

    /// Returns what is entered on a path, of whose states the outermost `kept` are active.
    fn branch(&self, path: &[Id], kept: usize, memory: &Memory) -> Branch {
        let Some(at) = (kept..path.len()).find(|at| !self.row(path[*at]).regions.is_empty()) else {
            return Branch { path: path.to_vec(), regions: Vec::new() };
        };
        let (own, inside) = path.split_at(at + 1);
        let composite = own[at];
        let below = |state: Id| -> Vec<Id> {
            let path = self.path(Some(self.descend(state)));
            path.into_iter().skip_while(|state| *state != composite).skip(1).collect()
        };
        let regions = self.row(composite).regions.iter().enumerate().map(|(nth, initial)| {
            let remembered = memory.iter().find(|(of, region, _)| (*of, *region) == (composite, nth));
            let path = match inside.first() {
                Some(child) if self.row(*child).region == nth => inside.to_vec(),
                _ => below(remembered.map_or(*initial, |(.., last)| *last)),
            };
            self.branch(&path, 0, memory)
        });
        Branch { path: own.to_vec(), regions: regions.collect() }
    }

    /// Takes the path of the seat, with its regions, for the stack (rules 15, 18).
    fn suspend(&mut self, now: f64) -> Suspended<Self::Word> {
        let (at, path) = (self.at.clone(), self.seat_path());
        let mut regions = Vec::new();
        for region in self.regions() {
            self.move_to(&region);
            let suspended = self.suspend(now);
            self.stack.push(suspended);
            (self.current, self.sleeps_until, self.wanted) = (None, None, None);
            self.move_to(&at);
            regions.extend(self.others.remove(&region));
        }
        #[expect(clippy::cast_possible_truncation, reason = "the clock shows whole seconds, fewer than 2^53")]
        let time_in = |state: Id| now as i64 - self.entered_at.get(&state).copied().unwrap_or(0);
        let times = path.iter().map(|state| (*state, time_in(*state))).collect();
        let timers = self.suspend_timers(&path, now);
        let next = self.suspend_next();
        for state in path {
            self.entered_at.remove(&state);
            self.stays.remove(&state);
        }
        Suspended { current: self.current, times, timers, next, regions }
    }
}
