//! The regions of composite states (rule 32).
//!
//! While a composite with regions is current, its seat has a further seat for each region. A region's seat is like that of a
//! machine: its path begins below the composite. `Single` works on one seat at a time: it puts the seat of a region in the place
//! of the seat around it, and puts it back afterwards. So callbacks, changes and ticks in a region need no code of their own.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::idle::Quiet;
use super::seat::{Path, Rare, Seat, path_to};
use super::single::{ASKED_TO_SLEEP, Requests, Single};
use super::transition::lone::{RegionSeat, change_lone};
use super::waiting::{Awaited, Pending, Scope};
use crate::change::Cause;
use crate::fsm::{ActOnSeat, Fsm, Machines, NEVER, Order, Request, View};
use crate::owner::Owner;
use crate::state::{Place, State, StateRef};

/// The most regions that a state can have.
pub(crate) const MOST_REGIONS: usize = 16;

/// How often regions have been opened in this program.
static OPENED: AtomicUsize = AtomicUsize::new(0);

/// The open regions of a composite state.
pub(crate) struct Regions<T: Owner> {
    /// A number that no other open regions have. So whatever refers to a region finds out that it has been closed since.
    pub(crate) stamp: usize,
    list: Vec<Region<T>>,
}

/// An open region. Its seat is empty until its initial state is entered, and while `Single` works on the seat.
pub(super) struct Region<T: Owner> {
    pub(super) seat: Seat<T>,
    /// The values that `Single` has of the region while it works on the region's seat.
    pub(super) made: u32,
    pub(super) kept: usize,
    /// The memory for the seat around it, for the next time that `Single` works on the region's seat.
    spare: Option<Box<Outer<T>>>,
}

/// Which region of which open regions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RegionId {
    pub(crate) stamp: usize,
    pub(crate) nth: usize,
}

/// The regions that lie around a seat, outermost first; `None` for the seat of the machine itself.
pub(crate) type RegionPath = Option<Box<[RegionId]>>;

/// A request that was made in a region and that concerns the seat of this region.
pub(crate) struct InRegion<T: Owner> {
    pub(crate) at: RegionPath,
    pub(crate) request: Request<T>,
}

impl<T: Owner> InRegion<T> {
    /// Returns whether it was made in a region, not in one around or inside it.
    pub(super) fn is_of(&self, region: RegionId) -> bool {
        self.at.as_deref().and_then(<[RegionId]>::last) == Some(&region)
    }
}

/// The seat around the region on whose seat `Single` works.
pub(crate) struct Outer<T: Owner> {
    seat: Seat<T>,
    id: RegionId,
    made: u32,
    kept: usize,
    quiet: Quiet,
    around: Option<Box<Outer<T>>>,
    level: usize,
}

impl<T: Owner> Regions<T> {
    pub(crate) fn new(count: usize) -> Self {
        let region = || Region { seat: Seat::empty(), made: 0, kept: usize::MAX, spare: None };
        let stamp = OPENED.fetch_add(1, Ordering::Relaxed);
        Self { stamp, list: core::iter::repeat_with(region).take(count).collect() }
    }

    pub(crate) fn seats(&self) -> impl Iterator<Item = &Seat<T>> {
        self.list.iter().map(|region| &region.seat)
    }

    pub(crate) fn into_seats(self) -> impl ExactSizeIterator<Item = Seat<T>> {
        self.list.into_iter().map(|region| region.seat)
    }

    pub(crate) fn seats_mut(&mut self) -> impl Iterator<Item = &mut Seat<T>> {
        self.list.iter_mut().map(|region| &mut region.seat)
    }
}

impl<T: Owner> Clone for Regions<T> {
    fn clone(&self) -> Self {
        let mut clone = Self::new(self.list.len());
        clone.seats_mut().zip(self.seats()).for_each(|(to, seat)| to.clone_from(seat));
        clone
    }
}

impl<T: Owner> Outer<T> {
    #[cold]
    fn empty() -> Self {
        let id = RegionId { stamp: 0, nth: 0 };
        Self { seat: Seat::empty(), id, made: 0, kept: 0, quiet: Quiet::NONE, around: None, level: 0 }
    }

    pub(super) fn as_around(&self) -> Around<'_, T> {
        Around { seat: &self.seat, outer: self.around.as_deref(), further: &[] }
    }

    /// Returns the states around the region, outermost first.
    pub(super) fn path(&self) -> Vec<&StateRef<T>> {
        self.as_around().path()
    }

    /// Returns the seat of the machine itself.
    #[cold]
    fn root(&mut self) -> &mut Seat<T> {
        let mut outer = self;
        while let Some(around) = &mut outer.around {
            outer = around;
        }
        &mut outer.seat
    }

    /// Returns the seat of the machine itself, to read it.
    #[cold]
    pub(super) fn outermost(&self) -> &Seat<T> {
        self.outward().last().map_or(&self.seat, |outer| &outer.seat)
    }

    /// Returns the seats around the region, innermost first.
    fn outward(&self) -> impl Iterator<Item = &Self> {
        core::iter::successors(Some(self), |outer| outer.around.as_deref())
    }
}

/// The seats around a region.
pub(crate) struct Around<'v, T: Owner> {
    /// The seat of the state whose region it is.
    seat: &'v Seat<T>,
    /// The seats around that one.
    outer: Option<&'v Outer<T>>,
    /// The seats around that one, outermost first, if `Single` does not work on the seat of the region.
    further: &'v [&'v Seat<T>],
}

impl<'v, T: Owner> Around<'v, T> {
    /// Returns what is around a region, from the seats around it, outermost first. `None` if there are none.
    #[cfg(feature = "definition")]
    pub(crate) fn of(seats: &'v [&'v Seat<T>]) -> Option<Self> {
        seats.split_last().map(|(seat, further)| Self { seat, outer: None, further })
    }

    /// Returns the seats, innermost first.
    fn outward(&self) -> impl Iterator<Item = &'v Seat<T>> {
        let outer = self.outer.into_iter().flat_map(Outer::outward).map(|outer| &outer.seat);
        core::iter::once(self.seat).chain(outer).chain(self.further.iter().rev().copied())
    }

    /// Returns the states, outermost first.
    pub(crate) fn path(&self) -> Vec<&'v StateRef<T>> {
        let mut path: Vec<_> = self.outward().flat_map(|seat| seat.path().rev()).collect();
        path.reverse();
        path
    }
}

/// The states that a change enters in one seat, outermost first, and what it opens in the regions of the last one.
pub(crate) struct Branch<T: Owner> {
    pub(crate) path: Path<T>,
    pub(crate) regions: Vec<Branch<T>>,
}

impl<T: Owner> Branch<T> {
    /// Creates a branch of states without regions.
    pub(crate) fn flat(path: Path<T>) -> Self {
        Self { path, regions: Vec::new() }
    }

    /// Returns its states, outermost first, region by region.
    pub(crate) fn into_states(self) -> Path<T> {
        let mut states = self.path;
        self.regions.into_iter().for_each(|region| states.extend(region.into_states()));
        states
    }
}

impl<T: Owner> Seat<T> {
    fn open_regions(&self) -> Option<&Regions<T>> {
        self.rare.as_ref()?.regions.as_deref()
    }

    /// Returns the current state, if it is a singleton and the only active state besides those in its regions, which are open, and if
    /// nothing is due in this seat.
    #[inline]
    pub(crate) fn lone_with_regions(&self) -> Option<&'static dyn State<T>> {
        let state = self.current.as_singleton()?;
        let Rare { ancestors, regions, waiting, .. } = self.rare.as_deref()?;
        (regions.is_some() && ancestors.is_empty() && !waiting.is_waiting()).then_some(state)
    }

    #[inline]
    pub(crate) fn has_open_regions(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.regions.is_some())
    }

    /// Returns the stamp of the open regions, if there are any.
    #[inline]
    pub(crate) fn stamp(&self) -> Option<usize> {
        self.open_regions().map(|regions| regions.stamp)
    }

    /// Returns the seat of an open region.
    #[inline]
    pub(super) fn region(&self, nth: usize) -> Option<&Self> {
        self.open_regions()?.list.get(nth).map(|region| &region.seat)
    }

    /// Returns the seats of the open regions.
    pub(crate) fn regions(&self) -> impl Iterator<Item = &Seat<T>> {
        self.open_regions().into_iter().flat_map(Regions::seats)
    }

    pub(crate) fn regions_mut(&mut self) -> impl Iterator<Item = &mut Seat<T>> {
        self.rare.iter_mut().filter_map(|rare| rare.regions.as_mut()).flat_map(|regions| regions.seats_mut())
    }

    /// Calls `act` with this seat and all seats inside it.
    pub(crate) fn each(&mut self, act: &mut dyn FnMut(&mut Self)) {
        act(self);
        self.regions_mut().for_each(|seat| seat.each(act));
    }

    /// Returns whether the machine is asleep: this seat and all seats inside it.
    pub(crate) fn are_all_asleep(&self) -> bool {
        self.is_asleep() && self.regions().all(|seat| seat.depth() == 0 || seat.are_all_asleep())
    }

    /// Returns when the next timer is due or the next sleep is over, in this seat or inside it, in seconds; infinity for never.
    #[cfg(feature = "std")]
    pub(crate) fn next_due(&self) -> f64 {
        let own = self.rare.as_ref().map_or(f64::INFINITY, |rare| rare.waiting.next());
        self.regions().map(Self::next_due).fold(own, f64::min)
    }

    /// Puts the machine to sleep, this seat and all seats inside it, until a time, in seconds.
    pub(crate) fn sleep_all_until(&mut self, wakes_at: f64) {
        self.each(&mut |seat| seat.sleep_until(wakes_at));
    }

    /// Wakes the machine: this seat and all seats inside it. Returns whether it was asleep.
    pub(crate) fn wake_all(&mut self) -> bool {
        let was_asleep = self.are_all_asleep();
        self.each(&mut |seat| _ = seat.wake());
        was_asleep
    }

    /// Returns when an active state was entered, wherever it lies; `None` if it is not active.
    pub(crate) fn entry_of<S: State<T> + ?Sized>(&self, state: &S) -> Option<f64> {
        let view = self.view(&StateRef::NONE);
        let own = view.depth_of(state).map(|depth| view.entered_at(depth));
        own.or_else(|| self.regions().find_map(|seat| seat.entry_of(state)))
    }

    /// Makes a path through composites with regions the active one. Other regions that are open stay as they are.
    pub(super) fn place_regions(&mut self, path: &[StateRef<T>]) {
        let Some(at) = path.iter().position(|state| state.has_regions()) else {
            return self.place_path(path.into());
        };
        let (own, inside) = path.split_at(at + 1);
        let stays = self.shared_with(own) == own.len() && own.len() == self.depth();
        if !stays || inside.is_empty() {
            self.place_path(own.into());
        }
        if let Some(child) = inside.first() {
            let count = path[at].regions().len().min(MOST_REGIONS);
            let entered_at = self.entered_at;
            self.open(count);
            let regions = self.rare.as_mut().and_then(|rare| rare.regions.as_mut());
            if let Some(Region { seat, made, kept, .. }) = regions.and_then(|open| open.list.get_mut(child.region())) {
                if seat.depth() == 0 {
                    seat.entered_at = entered_at;
                }
                // So a change under way in the region notices it.
                (*made, *kept) = (made.wrapping_add(1), 0);
                seat.place_regions(inside);
            }
        }
    }

    /// Makes room for the states of `count` regions, unless they are open. Returns their stamp.
    pub(crate) fn open(&mut self, count: usize) -> usize {
        self.rare_mut().regions.get_or_insert_with(|| Box::new(Regions::new(count))).stamp
    }

    /// Returns the innermost active state on the first path through open regions, for a machine that has been placed there.
    pub(crate) fn placed(&self) -> &StateRef<T> {
        self.regions().find(|seat| seat.depth() > 0).map_or(&self.current, Seat::placed)
    }

    /// Takes out the open regions. All changes of the seat's current state do this before they replace it.
    #[inline]
    pub(crate) fn take_regions(&mut self) -> Option<Box<Regions<T>>> {
        self.rare.as_mut().and_then(|rare| rare.regions.take())
    }

    /// Suspends what is active in the regions of the path that was pushed onto the stack last. `now` is in seconds.
    pub(super) fn suspend_regions(&mut self, regions: Option<Box<Regions<T>>>, requests: &mut Requests<T>, now: f64) {
        let Some(mut regions) = regions else { return };
        let stamp = regions.stamp;
        for (nth, seat) in regions.seats_mut().enumerate() {
            let inside = seat.take_regions();
            let ended = requests.end_in(RegionId { stamp, nth }, 0);
            drop(seat.push(StateRef::NONE, |timers| ended.leave_timers(timers), now));
            seat.entered_at = NEVER;
            seat.suspend_regions(inside, requests, now);
        }
        if let Some(suspended) = self.rare.as_mut().and_then(|rare| rare.stack.last_mut()) {
            suspended.regions = Some(regions);
        }
    }

    /// Takes the timers of all states in open regions out of the queue.
    fn end_inside(&self, requests: &mut Requests<T>) {
        let Some(regions) = self.open_regions() else { return };
        for (nth, seat) in regions.seats().enumerate() {
            drop(requests.end_in(RegionId { stamp: regions.stamp, nth }, 0));
            seat.end_inside(requests);
        }
    }
}

/// A closure that gets a seat and the seats of its regions.
type SeeSeat<'a, 'v, T> = &'a mut dyn FnMut(&'v Seat<T>, &[&'v Seat<T>]);

/// The seats of a machine as a callback or the game sees them.
pub(crate) struct Tree<'v, T: Owner> {
    /// The seats around the innermost one, outermost first. In each, the region that is entered is empty.
    around: Vec<&'v Outer<T>>,
    seat: &'v Seat<T>,
}

impl<'v, T: Owner> Tree<'v, T> {
    pub(crate) fn new(outer: Option<&'v Outer<T>>, seat: &'v Seat<T>) -> Self {
        let mut around: Vec<_> = outer.into_iter().flat_map(Outer::outward).collect();
        around.reverse();
        Self { around, seat }
    }

    /// Calls `act` with each seat, outermost first, and with the seats of its regions. A seat may be without a state.
    pub(crate) fn each(&self, act: SeeSeat<'_, 'v, T>) {
        self.visit(self.root(), 0, act);
    }

    /// Returns the seat of the machine itself.
    pub(crate) fn root(&self) -> &'v Seat<T> {
        self.around.first().map_or(self.seat, |outer| &outer.seat)
    }

    fn visit(&self, seat: &'v Seat<T>, level: usize, act: SeeSeat<'_, 'v, T>) {
        let regions = self.regions(seat, level);
        act(seat, &regions);
        for region in regions {
            self.visit(region, level + 1, act);
        }
    }

    /// Returns the seats of the regions of a seat.
    fn regions(&self, seat: &'v Seat<T>, level: usize) -> Vec<&'v Seat<T>> {
        // On the way to the innermost seat, a region whose seat is empty is the one that is entered.
        let entered = self.around.get(level).filter(|outer| core::ptr::eq(&raw const outer.seat, seat));
        let mut regions: Vec<_> = seat.regions().collect();
        if let Some(outer) = entered {
            if let Some(region) = regions.get_mut(outer.id.nth) {
                *region = self.around.get(level + 1).map_or(self.seat, |outer| &outer.seat);
            }
        }
        regions
    }

    /// Returns the seats from that of the machine to that in which a state is active.
    #[cfg(feature = "definition")]
    pub(crate) fn way_to(&self, state: &StateRef<T>) -> Vec<&'v Seat<T>> {
        let mut way = Vec::new();
        self.find(self.root(), state, &mut way);
        way
    }

    #[cfg(feature = "definition")]
    fn find(&self, seat: &'v Seat<T>, state: &StateRef<T>, way: &mut Vec<&'v Seat<T>>) -> bool {
        way.push(seat);
        let is_here = seat.path().any(|active| active == state)
            || self.regions(seat, way.len() - 1).into_iter().any(|region| self.find(region, state, way));
        if !is_here {
            way.pop();
        }
        is_here
    }

    /// Returns the active states, outermost first, region by region.
    pub(crate) fn active_states(&self) -> Vec<&'v StateRef<T>> {
        let mut states = Vec::new();
        self.each(&mut |seat, _| states.extend(seat.path()));
        states
    }

    /// Returns the innermost active state in each open region, with its composite and the index of the region.
    pub(crate) fn memory(&self) -> Vec<(StateRef<T>, usize, StateRef<T>)> {
        let mut memory = Vec::new();
        self.each(&mut |seat, regions| {
            let active = regions.iter().enumerate().filter(|(_, region)| region.depth() > 0);
            memory.extend(active.map(|(nth, region)| (seat.current.clone(), nth, region.current.clone())));
        });
        memory
    }

    /// Returns the current state of the seat in which `state` is active.
    pub(crate) fn current_in(&self, state: &StateRef<T>) -> Option<&'v StateRef<T>> {
        let mut current = None;
        self.each(&mut |seat, _| {
            if seat.path().any(|active| active == state) {
                current = Some(&seat.current);
            }
        });
        current
    }

    /// Returns the innermost active state in each region of `composite`.
    pub(crate) fn regions_of(&self, composite: &StateRef<T>) -> Vec<&'v StateRef<T>> {
        let mut states = Vec::new();
        self.each(&mut |seat, regions| {
            if seat.current == *composite {
                states.extend(regions.iter().filter_map(|seat| seat.current.as_option()));
            }
        });
        states
    }
}

impl<T: Owner> View<'_, T> {
    /// Returns when a state was entered that is active, but not in the seat of this view.
    pub(crate) fn entry_elsewhere<S: State<T> + ?Sized>(&self, state: &S) -> Option<f64> {
        let inside = self.regions.and_then(|regions| regions.seats().find_map(|seat| seat.entry_of(state)));
        let around = || self.around.as_ref()?.outward().find_map(|seat| seat.entry_of(state));
        inside.or_else(around)
    }
}

/// Entering and leaving the seats of regions.
impl<T: Owner> Single<'_, T> {
    /// Returns how many regions lie around the seat.
    #[inline]
    pub(super) fn level(&self) -> usize {
        self.outer.as_ref().map_or(0, |outer| outer.level)
    }

    /// Returns the composite in whose region the seat lies; `None` for the seat of the machine itself.
    #[inline]
    pub(super) fn composite(&self) -> Option<StateRef<T>> {
        self.outer.as_ref().map(|outer| outer.seat.current.clone())
    }

    /// Returns the seat of the machine itself.
    #[inline]
    pub(super) fn root(&mut self) -> &mut Seat<T> {
        match &mut self.outer {
            Some(outer) => outer.root(),
            None => self.seat,
        }
    }

    /// Works on the seat of a region from now on.
    pub(super) fn enter_region(&mut self, nth: usize) {
        let regions = self.seat.rare.as_mut().and_then(|rare| rare.regions.as_mut()).expect("the regions are open");
        let (stamp, region) = (regions.stamp, &mut regions.list[nth]);
        let mut outer = region.spare.take().unwrap_or_else(|| Box::new(Outer::empty()));
        mem::swap(&mut outer.seat, &mut region.seat);
        outer.id = RegionId { stamp, nth };
        outer.made = mem::replace(&mut self.made, region.made);
        outer.kept = mem::replace(&mut self.kept, region.kept);
        outer.quiet = mem::replace(&mut self.quiet, Quiet::NONE);
        outer.level = self.level() + 1;
        outer.around = self.outer.take();
        mem::swap(&mut outer.seat, self.seat);
        self.outer = Some(outer);
    }

    /// Works on the seat around from now on.
    pub(super) fn leave_region(&mut self) {
        let Some(mut outer) = self.outer.take() else { return };
        mem::swap(&mut outer.seat, self.seat);
        self.outer = outer.around.take();
        self.quiet = outer.quiet;
        let made = mem::replace(&mut self.made, outer.made);
        let kept = mem::replace(&mut self.kept, outer.kept);
        let region = self.seat.rare.as_mut().and_then(|rare| rare.regions.as_mut()?.list.get_mut(outer.id.nth));
        if let Some(region) = region {
            mem::swap(&mut outer.seat, &mut region.seat);
            (region.made, region.kept, region.spare) = (made, kept, Some(outer));
        }
    }

    /// Returns the regions around the seat.
    #[inline]
    pub(super) fn region_path(&self) -> RegionPath {
        if self.outer.is_none() { None } else { self.path_of_regions() }
    }

    #[cold]
    fn path_of_regions(&self) -> RegionPath {
        let mut path: Vec<_> = self.outer.as_ref()?.outward().map(|outer| outer.id).collect();
        path.reverse();
        Some(path.into())
    }

    /// Calls `act` on the seat of the machine itself, and moves back to the region.
    pub(super) fn outside_regions<R>(&mut self, act: impl FnOnce(&mut Self) -> R) -> R {
        let region = self.region_path();
        self.move_to(&[]);
        let result = act(self);
        self.move_back(&region);
        result
    }

    /// Moves to the seat of a region as [`move_to`](Self::move_to) does.
    #[inline]
    pub(super) fn move_back(&mut self, to: &RegionPath) -> bool {
        (self.outer.is_none() && to.is_none()) || self.move_elsewhere(to.as_deref().unwrap_or_default())
    }

    /// Works on the seat of a region from now on; or, if it has been closed, on that of the innermost region around it that is
    /// open. Returns whether it was open.
    #[inline]
    pub(super) fn move_to(&mut self, to: &[RegionId]) -> bool {
        (self.outer.is_none() && to.is_empty()) || self.move_elsewhere(to)
    }

    #[cold]
    fn move_elsewhere(&mut self, to: &[RegionId]) -> bool {
        let is_here = |single: &Self| single.outer.as_ref().map(|outer| outer.id).as_ref() == to.last();
        if self.level() == to.len() && is_here(self) {
            return true;
        }
        while self.outer.is_some() {
            self.leave_region();
        }
        for id in to {
            if self.seat.stamp() != Some(id.stamp) {
                return false;
            }
            self.enter_region(id.nth);
        }
        true
    }

    /// Calls `act` for each open region, in order, with its seat. Stops if the composite is left meanwhile. Returns whether it
    /// is still active.
    pub(super) fn each_region(&mut self, act: &mut dyn FnMut(&mut Self, usize)) -> bool {
        let level = self.level();
        for nth in 0..self.seat.regions().count() {
            self.enter_region(nth);
            act(self, nth);
            if self.level() <= level {
                return false;
            }
            self.leave_region();
        }
        true
    }

    /// Returns a request as one of the region in which it is made, if it depends on the seat.
    #[inline]
    pub(super) fn inside(&self, request: Request<T>) -> Request<T> {
        if self.outer.is_none() { request } else { self.in_region(request) }
    }

    #[cold]
    pub(super) fn in_region(&self, request: Request<T>) -> Request<T> {
        if !request.depends_on_seat() {
            return request;
        }
        Request::InRegion(Box::new(InRegion { at: self.region_path(), request }))
    }

    /// Returns a push or a pop that a state in a region asks for within the call, as one of this region.
    #[cold]
    pub(super) fn asked_inside(&self, request: &Request<T>) -> Option<Request<T>> {
        match request {
            Request::Push(over) => Some(self.inside(Request::Push(over.clone()))),
            Request::Pop => Some(self.inside(Request::Pop)),
            _ => None,
        }
    }

    /// Returns whether a state lies beside the current state of a region, in the same region, and has no initial child.
    #[cold]
    pub(super) fn is_beside_in_region(&self, state: &StateRef<T>) -> bool {
        let Some(outer) = self.outer.as_ref().filter(|_| self.seat.depth() > 0) else { return false };
        match self.seat.ancestors().last() {
            Some(parent) => matches!(state.place(Some(parent)), Place::Beside(_)),
            None => state.place(Some(&outer.seat.current)) == Place::Beside(outer.id.nth),
        }
    }

    /// Makes a state of a region, with its ancestors there, the active path of the region's seat, as [`Seat::place`] does.
    #[cold]
    pub(super) fn place_inside(&mut self, state: &StateRef<T>) {
        let around = self.outer.as_ref().map_or(0, |outer| outer.path().len());
        let path = path_to(state).unwrap_or_default();
        self.seat.place_path(path.into_iter().skip(around).collect());
    }

    /// Returns the region on whose seat this works.
    pub(super) fn region_id(&self) -> Option<RegionId> {
        self.outer.as_ref().map(|outer| outer.id)
    }

    /// Takes the timers of the states that a change leaves out of the queue: those of this seat, all but the outermost `kept`,
    /// and those of the regions inside. Returns the former.
    #[cold]
    pub(super) fn end_timers(&mut self, kept: usize, cause: Cause) -> Requests<T> {
        // A push takes them with it.
        if cause != Cause::Push {
            self.seat.end_inside(&mut self.requests);
        }
        match &self.outer {
            Some(outer) => self.requests.end_in(outer.id, kept),
            None => self.requests.end_timers(kept),
        }
    }

    /// Forgets that any callback has requested to sleep.
    pub(super) fn forget_sleep(&mut self) {
        let forget = &mut |seat: &mut Seat<T>| {
            if let Some(rare) = &mut seat.rare {
                rare.waiting.wanted = None;
            }
        };
        self.seat.each(forget);
        let mut around = self.outer.as_deref_mut();
        while let Some(outer) = around {
            outer.seat.each(forget);
            around = outer.around.as_deref_mut();
        }
    }
}

/// Returns a request if it concerns a seat: that of a region, or that of the machine itself.
pub(super) fn own<T: Owner>(request: &Request<T>, seat: Option<RegionId>) -> Option<&Request<T>> {
    match (request, seat) {
        (Request::InRegion(inside), Some(id)) => inside.is_of(id).then_some(&inside.request),
        (Request::InRegion(_), None) => None,
        (request, None) => Some(request),
        (request, Some(_)) => (!request.depends_on_seat()).then_some(request),
    }
}

/// The machine while callbacks of a state in a region run. `Single` works on the region's seat as soon as a callback requests anything
/// that concerns this seat, and not before: seats rarely change places in this way.
pub(super) struct Visit<'s, 'a, T: Owner> {
    pub(super) single: &'s mut Single<'a, T>,
    /// Which of the open regions of the seat on which `single` works.
    nth: usize,
    /// Whether a callback has requested anything.
    has_asked: bool,
    stage: Stage,
    /// How many regions lie around the seat of the state whose region it is, if `single` has worked on the region's seat.
    level: usize,
}

/// On which seat `Single` works during a [`Visit`].
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// On the seat around the region's.
    Around,
    /// On the region's.
    Inside,
    /// On one further outside, because the region has been closed.
    Closed,
}

impl<'s, 'a, T: Owner> Visit<'s, 'a, T> {
    #[inline]
    pub(super) fn new(single: &'s mut Single<'a, T>, nth: usize) -> Self {
        Self { single, nth, has_asked: false, stage: Stage::Around, level: 0 }
    }

    /// Works on the region's seat from now on, unless it has been closed.
    #[cold]
    pub(super) fn enter(&mut self) -> &mut Single<'a, T> {
        self.has_asked = true;
        if self.stage == Stage::Around {
            self.level = self.single.level();
            self.single.enter_region(self.nth);
            self.stage = Stage::Inside;
        }
        self.single
    }

    /// Works on the seat around the region from now on, unless it has been closed.
    #[inline]
    pub(super) fn leave(&mut self) {
        if self.stage == Stage::Inside {
            let is_open = self.single.leave_from(self.level);
            self.stage = if is_open { Stage::Around } else { Stage::Closed };
        }
    }

    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.stage == Stage::Closed
    }

    #[inline]
    pub(super) fn has_asked(&self) -> bool {
        self.has_asked
    }

    fn region(&self) -> Option<&Seat<T>> {
        if self.stage == Stage::Around { self.single.seat.region(self.nth) } else { Some(self.single.seat) }
    }

    /// Returns the region, while `single` works on the seat around it.
    #[inline]
    pub(super) fn region_mut(&mut self) -> Option<&mut Region<T>> {
        if self.stage != Stage::Around {
            return None;
        }
        self.single.seat.rare.as_mut()?.regions.as_mut()?.list.get_mut(self.nth)
    }

    /// Carries out a change to a flat state beside the region's only active state, while nothing but these matters to the change (see
    /// [`is_alone`](Single::is_alone)). Returns whether the change was made; `None` if the change is another one.
    #[inline(never)]
    pub(super) fn change_beside(
        &mut self,
        to: &'static dyn State<T>,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> Option<bool> {
        let composite = &self.single.seat.current;
        if to.place(Some(composite)) != Place::Beside(self.nth) {
            return None;
        }
        let from = self.single.seat.region(self.nth)?.lone()?;
        if !self.single.is_alone() || self.single.root().is_lent() {
            return None;
        }
        let composite = self.single.seat.current.clone();
        self.has_asked = false;
        Some(change_lone(RegionSeat { visit: self, composite: &composite }, from, to, owner, cx))
    }

    /// Runs the part of a tick that belongs to the region: what is due in it, then the updates of its states. Returns whether a state
    /// was updated; `None` if there is no such region.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would be a tenth of what the tick of a region takes")]
    fn tick(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> Option<bool> {
        let region = self.region_mut()?;
        if let Some(state) = region.seat.lone() {
            return Some(self.tick_lone(state, owner, cx));
        }
        Some(self.tick_any(owner, cx))
    }

    /// Runs the part of a tick that belongs to the region, whatever its states are.
    #[inline(never)]
    fn tick_any(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        let Some(Region { seat, .. }) = self.region_mut() else { return false };
        if seat.depth() == 1 && !seat.is_waiting() && !seat.has_open_regions() {
            seat.rest();
            let state = seat.current.clone();
            return self.tick_lone(&*state, owner, cx);
        }
        let single = self.enter();
        single.carry_out_waiting(owner, cx);
        let is_updated = self.single.level() > self.level && self.single.tick_path::<true>(0, owner, cx);
        self.leave();
        self.has_asked = false;
        is_updated
    }

    /// Updates the only active state of the region, in which nothing is due, and carries out what it requests. Returns whether the
    /// state was updated.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would be a tenth of what the tick of a region takes")]
    fn tick_lone(&mut self, state: &dyn State<T>, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        self.single.scope = Scope::State(0);
        let mut fsm = Fsm::new(self, 0);
        state.tick(owner, &mut fsm, cx);
        let is_updated = !fsm.is_unused();
        if self.has_asked {
            self.settle(owner, cx);
        }
        is_updated
    }

    /// Carries out what a callback of the region has requested.
    #[inline(never)]
    fn settle(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        if self.stage == Stage::Around {
            if let Some(to) = self.single.requests.pop_singleton() {
                if self.change_beside(to, owner, cx).is_none() {
                    self.enter().execute_singleton(to, owner, cx);
                }
            }
        }
        if !self.single.requests.is_empty() || self.single.count & ASKED_TO_SLEEP != 0 || self.stage == Stage::Inside {
            self.enter().settle_callback(owner, cx);
            self.leave();
        }
        self.single.count = 0;
        self.has_asked = false;
    }
}

impl<T: Owner> Machines<T> for Visit<'_, '_, T> {
    fn ask_singleton(&mut self, nth: usize, to: &'static dyn State<T>) {
        self.has_asked = true;
        self.single.ask_singleton(nth, to);
    }

    fn ask(&mut self, nth: usize, request: Request<T>) {
        self.has_asked = true;
        if request.depends_on_seat() {
            self.enter();
        }
        self.single.ask(nth, request);
    }

    fn wait(&mut self, nth: usize, seconds: f64, awaited: Awaited<T>) -> bool {
        self.enter().wait(nth, seconds, awaited)
    }

    fn withdraw_changes(&mut self, nth: usize) {
        self.single.withdraw_changes(nth);
    }

    fn withdraw_all(&mut self, nth: usize) {
        self.enter().withdraw_all(nth);
    }

    fn cancel(&mut self, nth: usize, is_canceled: &mut dyn FnMut(&Pending<T>) -> bool) -> usize {
        self.enter().cancel(nth, is_canceled)
    }

    fn stay(&mut self, nth: usize) -> bool {
        self.enter().stay(nth)
    }

    fn execute_now(
        &mut self,
        nth: usize,
        order: Order,
        request: &Request<T>,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        Machines::execute_now(self.enter(), nth, order, request, owner, cx)
    }

    fn send_now(
        &mut self,
        nth: usize,
        order: Order,
        owner: &mut T,
        message: &T::Message,
        cx: &mut T::Context<'_>,
    ) -> bool {
        Machines::send_now(self.enter(), nth, order, owner, message, cx)
    }

    fn seat(&self, nth: usize) -> Option<&Seat<T>> {
        Machines::seat(self.single, nth)
    }

    fn lend(&mut self, nth: usize, owner: &mut T, cx: &mut T::Context<'_>, act: ActOnSeat<'_, T>) {
        self.enter().lend(nth, owner, cx, act);
    }

    fn view(&self, nth: usize) -> View<'_, T> {
        let single = &*self.single;
        match single.seat.region(self.nth).filter(|_| self.stage == Stage::Around) {
            None => single.view(nth),
            Some(region) => {
                let around = Around { seat: single.seat, outer: single.outer.as_deref(), further: &[] };
                View { around: Some(around), ..region.view(&single.target) }
            }
        }
    }

    fn tree(&self, nth: usize) -> Option<Tree<'_, T>> {
        self.single.tree(nth)
    }

    fn global(&self) -> &StateRef<T> {
        self.single.global()
    }

    fn has_requests(&self, nth: usize) -> bool {
        self.single.has_requests(nth)
    }

    fn noted(&self, nth: usize, by: Scope, key: u32) -> Option<f64> {
        // The machine's numbers are stored in its outermost seat.
        if by == Scope::Machine { Machines::noted(self.single, nth, by, key) } else { self.region()?.noted(by, key) }
    }

    fn look_back(&self, _: usize, look: &mut dyn FnMut(Option<&Rare<T>>)) {
        look(self.region().and_then(|region| region.rare.as_deref()));
    }

    fn asks_for_change(&self, nth: usize) -> bool {
        self.single.asks_for_change(nth)
    }
}

/// The ticks of regions.
impl<T: Owner> Single<'_, T> {
    /// Runs the part of a tick that belongs to the open regions, in their order (rule 32). Returns whether a state was updated.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would be a tenth of what the tick of a region takes")]
    pub(super) fn tick_regions(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        let mut is_updated = false;
        let mut visit = Visit::new(self, 0);
        while let Some(is_region_updated) = visit.tick(owner, cx) {
            is_updated |= is_region_updated;
            visit.nth += 1;
        }
        is_updated
    }

    /// Does what [`tick_regions`](Self::tick_regions) does, as a function of its own.
    #[inline(never)]
    pub(super) fn tick_open_regions(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> bool {
        self.tick_regions(owner, cx)
    }

    /// Leaves a region, unless it has been closed meanwhile. Returns whether it has not. `level` is that of the seat around it.
    fn leave_from(&mut self, level: usize) -> bool {
        let is_active = self.level() > level;
        if is_active {
            self.leave_region();
        }
        is_active
    }
}

/// Puts all seats in their places, and drops what a callback has requested to sleep, after a panic.
impl<T: Owner> Drop for Single<'_, T> {
    fn drop(&mut self) {
        let is_cut_short = self.outer.is_some() || self.count != 0 || self.exiting || !self.requests.is_empty();
        while self.outer.is_some() {
            self.leave_region();
        }
        if is_cut_short {
            self.forget_sleep();
        }
    }
}
