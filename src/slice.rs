//! The handles of many owners in one state, and the book in which their requests are written down.
//!
//! A batch passes over its owners a chunk at a time. The handle of one of them is an ordinary [`Fsm`] on a seat that all
//! owners of the state share, with a [`Row`] that tells them apart. What the owners ask for is written in a [`Book`]: eight
//! bytes for what nearly all of them ask, one change to a singleton; and an entry aside for anything else.

use alloc::boxed::Box;
use alloc::vec::{Drain, Vec};
use core::hash::{Hash, Hasher};
use core::iter::Peekable;
use core::mem;
use core::ops::Range;
use core::ptr;

use crate::fsm::Fsm;
use crate::owner::Owner;
use crate::request::{Request, Requests};
use crate::seat::{Rare, Seat};
use crate::state::{State, StateRef};
use crate::transition::BEING_LEFT;

/// The handles of many owners of one state, for [`State::update_all`].
pub struct FsmSlice<'a, T: Owner> {
    fsm: Fsm<'a, T>,
}

impl<'a, T: Owner> FsmSlice<'a, T> {
    pub(crate) fn new(seat: &'a mut Seat<T>, global: &'a StateRef<T>, row: Row<'a, T>) -> Self {
        let mut fsm = Fsm::new(seat, global);
        fsm.row = Some(row);
        Self { fsm }
    }

    /// Returns the handle of the `i`-th owner.
    ///
    /// Where there is no `i`-th owner, nothing can be asked for: that is an error in the log.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Fsm, FsmSlice, Owner, State};
    ///
    /// struct Boid {
    ///     x: f32,
    /// }
    ///
    /// impl Owner for Boid {
    ///     type Context<'a> = ();
    ///     type Message = ();
    /// }
    ///
    /// struct Fly;
    /// struct Land;
    ///
    /// impl State<Boid> for Fly {
    ///     fn update(&self, boid: &mut Boid, fsm: &mut Fsm<'_, Boid>, _: &mut ()) {
    ///         boid.x += 1.0;
    ///         if boid.x > 2.0 {
    ///             fsm.change_state(&Land);
    ///         }
    ///     }
    ///
    ///     // The same for many: a loop without branches, then one that looks for who is there.
    ///     fn update_all(&self, boids: &mut [Boid], fsm: &mut FsmSlice<'_, Boid>, _: &mut ()) {
    ///         for boid in boids.iter_mut() {
    ///             boid.x += 1.0;
    ///         }
    ///         for (i, boid) in boids.iter().enumerate() {
    ///             if boid.x > 2.0 {
    ///                 fsm.at(i).change_state(&Land);
    ///             }
    ///         }
    ///     }
    /// }
    /// impl State<Boid> for Land {}
    ///
    /// let mut flock = Batch::new();
    /// for i in 0..3_u8 {
    ///     flock.insert(Boid { x: f32::from(i) }, &Fly);
    /// }
    /// flock.update(&mut ());
    /// assert_eq!(flock.owners_in(&Land).len(), 1);
    /// ```
    #[inline]
    pub fn at(&mut self, i: usize) -> &mut Fsm<'a, T> {
        self.fsm.nth = i;
        &mut self.fsm
    }
}

/// What a batch sets before it hands the slice out, and looks at when a callback has panicked.
impl<T: Owner> FsmSlice<'_, T> {
    /// The slot of the owner whose handle was asked for last.
    pub(crate) fn last(&self) -> u32 {
        self.fsm.row().map_or(u32::MAX, |(_, slot)| slot)
    }

    /// Drops what that owner has asked for.
    pub(crate) fn forget_last(&mut self) {
        let slot = self.last();
        if let Some(row) = &mut self.fsm.row {
            row.book.forget(slot);
        }
    }

    /// The callbacks to be called are `exit`s of the state that all owners leave: it is previous, too (rule 5).
    pub(crate) fn begin_exits(&mut self, from: &StateRef<T>) {
        if self.fsm.exiting {
            return;
        }
        self.fsm.seat.previous = from.clone();
        self.fsm.exiting = true;
        if let Some(row) = &mut self.fsm.row {
            row.book.write_aside();
        }
    }

    /// Refuses what has been asked for in the `exit`s (rule 12).
    pub(crate) fn end_exits(&mut self, owners: &[T]) {
        self.fsm.exiting = false;
        let Some(asked) = self.fsm.row.as_mut().and_then(|row| row.book.take_asides()) else { return };
        for (slot, request) in asked {
            self.fsm.misused(&request, &owners[slot as usize], BEING_LEFT);
        }
    }

    /// The callbacks to be called are `enter`s, of a change made at a time for all owners.
    pub(crate) fn begin_enters(&mut self, entered_at: f64) {
        self.fsm.changes = 1;
        self.fsm.seat.entered_at = entered_at;
        if let Some(row) = &mut self.fsm.row {
            row.entered_at = &[];
        }
    }

    /// The owners are in this state now.
    pub(crate) fn set_current(&mut self, current: StateRef<T>) {
        self.fsm.seat.current = current;
    }
}

impl<'a, T: Owner> Fsm<'a, T> {
    /// Of one of many owners, its row and slot.
    #[inline]
    fn row(&self) -> Option<(&Row<'a, T>, u32)> {
        let row = self.row.as_ref()?;
        Some((row, row.slot(self.nth)?))
    }

    /// The seat that holds the owner's current state: of one of many, the one they share, until a change has been made at
    /// once.
    pub(crate) fn view(&self) -> &Seat<T> {
        self.row().and_then(|(row, slot)| row.book.seat(slot)).unwrap_or(self.seat)
    }

    pub(crate) fn own_previous(&self) -> &StateRef<T> {
        match self.row() {
            Some((row, slot)) if row.has_previous && row.book.seat(slot).is_none() => row.rows.previous(slot),
            _ => &self.view().previous,
        }
    }

    pub(crate) fn own_entered_at(&self) -> f64 {
        match self.row() {
            Some((row, slot)) if row.book.seat(slot).is_none() => {
                row.entered_at.get(slot as usize).copied().unwrap_or(self.seat.entered_at)
            }
            _ => self.view().entered_at,
        }
    }

    /// Makes a change at once of one of many owners, which is taken out of its row into a seat of its own.
    #[cold]
    pub(crate) fn execute_seated(&mut self, request: &Request<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        let mut seat = self.seat.clone();
        seat.previous = self.own_previous().clone();
        seat.entered_at = self.own_entered_at();
        let changes = self.changes;
        let Some(row) = &mut self.row else { return false };
        let Some(slot) = row.slot(self.nth) else { return false };
        if let Some(rare) = row.rows.rare(slot) {
            seat.rare_mut().recall(rare);
        }
        let requests = row.book.take_requests(slot, row.rows);
        let seated = row.book.seat_or_insert(Seated { slot, seat, changes });
        let mut fsm = Fsm::new(&mut seated.seat, self.global);
        fsm.requests = requests;
        fsm.changes = seated.changes;
        let done = fsm.execute_now(request, owner, cx);
        seated.changes = fsm.changes;
        done
    }
}

/// What tells one owner's handle from those of the others in its chunk.
pub(crate) struct Row<'a, T: Owner> {
    pub(crate) rows: &'a dyn Rows<T>,
    /// The slots of the slice's owners.
    pub(crate) slots: Range<u32>,
    pub(crate) book: &'a mut Book<T>,
    /// When each owner changed to current. Empty when it is as the shared seat has it.
    pub(crate) entered_at: &'a [f64],
    /// Whether each owner has a previous state of its own, rather than the shared seat's.
    pub(crate) has_previous: bool,
}

impl<T: Owner> Row<'_, T> {
    /// The slot of the `nth` owner, if there is one.
    #[inline]
    pub(crate) fn slot(&self, nth: usize) -> Option<u32> {
        if nth < self.slots.len() {
            #[expect(clippy::cast_possible_truncation, reason = "there are fewer slots than 2^32")]
            return Some(self.slots.start + nth as u32);
        }
        self.no_such_owner(nth);
        None
    }

    #[cold]
    fn no_such_owner(&self, nth: usize) {
        log::error!(target: "demeanor", "a handle is used of owner {nth} of {}: there is none", self.slots.len());
    }
}

/// What a chunk's columns tell of its owners, where a handle needs it seldom.
pub(crate) trait Rows<T: Owner> {
    /// The number that a state is known by, if a request to change to it can be written in short.
    fn index_of(&self, state: &dyn State<T>) -> Option<u32>;
    /// The state known by a number.
    fn state(&self, index: u32) -> &StateRef<T>;
    fn previous(&self, slot: u32) -> &StateRef<T>;
    /// The stack and the history, if there are any.
    fn rare(&self, slot: u32) -> Option<&Rare<T>>;
}

/// A request in short: the owner at a slot asks for a change to the state known by a number.
///
/// One word, so that it is copied as one.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Mover(u64);

impl Mover {
    #[inline]
    fn new(slot: u32, target: u32) -> Self {
        Self(u64::from(target) << 32 | u64::from(slot))
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    pub(crate) fn slot(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    pub(crate) fn target(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// An owner that something out of the ordinary happened to, with its seat.
pub(crate) struct Seated<T: Owner> {
    pub(crate) slot: u32,
    pub(crate) seat: Seat<T>,
    /// How many changes its callback has led to.
    pub(crate) changes: u32,
}

/// What the owner at a slot has asked for.
pub(crate) type Asked<T> = (u32, Request<T>);

/// What the owners of a chunk have asked for.
pub(crate) struct Book<T: Owner> {
    /// One change of one owner each, in the order of slots.
    pub(crate) movers: Vec<Mover>,
    /// All other requests, in the order made; of one owner, after its mover.
    pub(crate) odd: Vec<Asked<T>>,
    /// The owners that a callback has changed at once.
    pub(crate) seated: Vec<Seated<T>>,
    /// The lowest slot from which on a request may be a mover.
    pub(crate) open_from: u32,
    /// How many entries there were in `odd` when everything began to be written aside.
    asked_before: usize,
    known: Box<[Known<T>; KNOWN]>,
}

/// The index that a reference to a singleton has been found to have. A type's vtable has several addresses, so that there
/// may be several entries for one state; a wrong index there cannot be.
struct Known<T: Owner> {
    state: Option<&'static dyn State<T>>,
    index: u32,
}

const KNOWN: usize = 256;

impl<T: Owner> Book<T> {
    pub(crate) fn new() -> Self {
        Self {
            movers: Vec::new(),
            odd: Vec::new(),
            seated: Vec::new(),
            open_from: 0,
            asked_before: 0,
            known: Box::new([const { Known { state: None, index: 0 } }; KNOWN]),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.movers.is_empty() && self.odd.is_empty() && self.seated.is_empty()
    }

    /// Whether anything is written down of the owner at `slot`.
    #[cfg(feature = "definition")]
    pub(crate) fn has_entry(&self, slot: u32) -> bool {
        slot < self.open_from
            && (self.movers.binary_search_by_key(&slot, |mover| mover.slot()).is_ok()
                || self.odd.iter().any(|(of, _)| *of == slot)
                || self.seat(slot).is_some())
    }

    /// Writes down that the owner at `slot` asks for a change to a singleton.
    ///
    /// As [`ask`](Self::ask), which is left to do all that needs a call.
    #[inline]
    pub(crate) fn change(&mut self, slot: u32, state: &'static dyn State<T>, rows: &dyn Rows<T>) {
        let known = &self.known[Entry::of(state)];
        let has_room = self.movers.len() < self.movers.capacity();
        if slot >= self.open_from && has_room && known.state.is_some_and(|seen| ptr::eq(seen, state)) {
            self.movers.push(Mover::new(slot, known.index));
            self.open_from = slot + 1;
        } else {
            self.change_to_new(slot, state, rows);
        }
    }

    #[cold]
    fn change_to_new(&mut self, slot: u32, state: &'static dyn State<T>, rows: &dyn Rows<T>) {
        let index = rows.index_of(state);
        if let Some(index) = index {
            self.known[Entry::of(state)] = Known { state: Some(state), index };
        }
        self.write(slot, Request::Change(StateRef::from(state)), index);
    }

    /// Writes down any request.
    pub(crate) fn ask(&mut self, slot: u32, request: Request<T>, rows: &dyn Rows<T>) {
        let index = match &request {
            Request::Change(state) => rows.index_of(&**state),
            _ => None,
        };
        self.write(slot, request, index);
    }

    /// Writes a request down: in short, if it is a change to the state known by `index` and nothing of its owner stands there.
    fn write(&mut self, slot: u32, request: Request<T>, index: Option<u32>) {
        match index {
            Some(target) if slot >= self.open_from => {
                self.movers.push(Mover::new(slot, target));
                self.open_from = slot + 1;
            }
            _ => self.ask_aside(slot, request),
        }
    }

    #[cold]
    fn ask_aside(&mut self, slot: u32, request: Request<T>) {
        self.odd.push((slot, request));
        self.open_from = self.open_from.max(slot.saturating_add(1));
    }

    /// From here on everything is written aside, behind what is there.
    fn write_aside(&mut self) {
        self.open_from = u32::MAX;
        self.asked_before = self.odd.len();
    }

    /// Takes out what has been written since then.
    fn take_asides(&mut self) -> Option<Vec<Asked<T>>> {
        (self.odd.len() > self.asked_before).then(|| self.odd.drain(self.asked_before..).collect())
    }

    /// Takes out the movers that have asked for nothing else, and adds them to `movers`.
    pub(crate) fn take_movers(&mut self, movers: &mut Vec<Mover>) {
        if self.odd.is_empty() && self.seated.is_empty() {
            mem::swap(&mut self.movers, movers);
            self.movers.clear();
            return;
        }
        let (odd, seated) = (&self.odd, &self.seated);
        self.movers.retain(|mover| {
            let slot = mover.slot();
            let is_odd = odd.iter().any(|(of, _)| *of == slot) || seated.iter().any(|seated| seated.slot == slot);
            if !is_odd {
                movers.push(*mover);
            }
            is_odd
        });
    }

    /// Takes out everything, each owner's by ascending slot.
    pub(crate) fn drain(&mut self) -> Entries<'_, T> {
        // An override may have asked in another order.
        if !self.odd.is_sorted_by_key(|(slot, _)| *slot) {
            self.odd.sort_by_key(|(slot, _)| *slot);
        }
        self.seated.sort_unstable_by_key(|seated| seated.slot);
        Entries {
            movers: self.movers.drain(..).peekable(),
            odd: self.odd.drain(..).peekable(),
            seated: self.seated.drain(..).peekable(),
        }
    }

    /// Drops what the owner at `slot` has asked for.
    pub(crate) fn forget(&mut self, slot: u32) {
        self.movers.retain(|mover| mover.slot() != slot);
        self.odd.retain(|(of, _)| *of != slot);
    }

    /// Takes out what the owner at `slot` has asked for, in the order it did.
    pub(crate) fn take_requests(&mut self, slot: u32, rows: &dyn Rows<T>) -> Requests<T> {
        let mut requests = Requests::new();
        if let Some(at) = self.movers.iter().rposition(|mover| mover.slot() == slot) {
            requests.push(Request::Change(rows.state(self.movers.remove(at).target()).clone()));
        }
        let mut at = 0;
        while at < self.odd.len() {
            if self.odd[at].0 == slot {
                requests.push(self.odd.remove(at).1);
            } else {
                at += 1;
            }
        }
        requests
    }

    /// The seat of the owner at `slot`, if a callback has changed it at once.
    #[inline]
    pub(crate) fn seat(&self, slot: u32) -> Option<&Seat<T>> {
        if slot >= self.open_from {
            return None;
        }
        self.seated.iter().rev().find_map(|seated| (seated.slot == slot).then_some(&seated.seat))
    }

    /// That owner's seat; `otherwise` if it had none yet.
    fn seat_or_insert(&mut self, otherwise: Seated<T>) -> &mut Seated<T> {
        let slot = otherwise.slot;
        self.open_from = self.open_from.max(slot.saturating_add(1));
        let at = self.seated.iter().rposition(|seated| seated.slot == slot).unwrap_or_else(|| {
            self.seated.push(otherwise);
            self.seated.len() - 1
        });
        &mut self.seated[at]
    }
}

/// All that was in a book.
pub(crate) struct Entries<'b, T: Owner> {
    movers: Peekable<Drain<'b, Mover>>,
    odd: Peekable<Drain<'b, Asked<T>>>,
    pub(crate) seated: Peekable<Drain<'b, Seated<T>>>,
}

impl<T: Owner> Entries<'_, T> {
    /// The lowest slot that anything is left of.
    pub(crate) fn first(&mut self) -> Option<u32> {
        let mover = self.movers.peek().map(|mover| mover.slot());
        let odd = self.odd.peek().map(|(slot, _)| *slot);
        let seated = self.seated.peek().map(|seated| seated.slot);
        [mover, odd, seated].into_iter().flatten().min()
    }

    /// The next request of the owner at `slot`, which must be the lowest: its mover comes before what else it asked for.
    pub(crate) fn next_of(&mut self, slot: u32, rows: &dyn Rows<T>) -> Option<Request<T>> {
        if let Some(mover) = self.movers.next_if(|mover| mover.slot() == slot) {
            return Some(Request::Change(rows.state(mover.target()).clone()));
        }
        self.odd.next_if(|(of, _)| *of == slot).map(|(_, request)| request)
    }
}

/// Finds the entry of a reference in the cache. Both words of it count, since all singletons without a size may share an
/// address.
struct Entry(u64);

impl Entry {
    #[inline]
    fn of<T: Owner>(state: &'static dyn State<T>) -> usize {
        let mut entry = Self(0);
        ptr::from_ref(state).hash(&mut entry);
        // Knuth's multiplicative hash: every bit of the words counts in the highest eight.
        let [.., highest] = entry.finish().wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
        highest.into()
    }
}

impl Hasher for Entry {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.0 = self.0.rotate_left(32) ^ word as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
