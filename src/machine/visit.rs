//! How a machine works in its regions (rule 32).
//!
//! `Single` works on one seat at a time: it puts the seat of a region in the place of the seat around it, and puts it back
//! afterwards. So callbacks, changes and ticks in a region need no code of their own.

use alloc::boxed::Box;
use core::mem;

use super::quiet::Quiet;
use super::regions::{Around, InRegion, Outer, Region, RegionId, RegionPath, Regions, Tree};
use super::seat::{Rare, Seat, behind, path_to};
use super::single::{ASKED_TO_SLEEP, HAS_CHANGED_INSIDE, Requests, Single};
use super::transition::sibling::{ChangingSeat, change_to_sibling};
use super::waiting::{Awaited, Pending, Scope};
use crate::boxed::{Boxed, RareBox};
use crate::change::Cause;
use crate::fsm::{ActOnSeat, Fsm, Machines, NEVER, Order, Request, View};
use crate::owner::Owner;
use crate::state::{Place, State, StateRef};

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
        match &mut *self.outer {
            Some(outer) => outer.root(),
            None => self.seat,
        }
    }

    /// Moves to the seat of a region: from now on, `Single` works on this seat.
    pub(super) fn enter_region(&mut self, nth: usize) {
        let regions = self.seat.rare.as_mut().and_then(|rare| rare.regions.as_mut()).expect("the regions are open");
        let (stamp, region) = (regions.stamp, &mut regions.list[nth]);
        let mut outer = region.spare.take().into_option().unwrap_or_else(|| Box::new(Outer::empty()));
        mem::swap(&mut outer.seat, &mut region.seat);
        outer.id = RegionId { stamp, nth };
        outer.made = mem::replace(&mut self.made, region.made);
        outer.kept = mem::replace(&mut self.kept, region.kept);
        outer.quiet = mem::replace(&mut self.quiet, Quiet::NONE);
        outer.level = self.level() + 1;
        outer.around = self.outer.take();
        mem::swap(&mut outer.seat, self.seat);
        *self.outer = Some(outer);
    }

    /// Moves back to the seat around the region.
    pub(super) fn leave_region(&mut self) {
        let Some(mut outer) = self.outer.take().into_option() else { return };
        mem::swap(&mut outer.seat, self.seat);
        self.outer = outer.around.take();
        self.quiet = outer.quiet;
        let made = mem::replace(&mut self.made, outer.made);
        let kept = mem::replace(&mut self.kept, outer.kept);
        let region = self.seat.rare.as_mut().and_then(|rare| rare.regions.as_mut()?.list.get_mut(outer.id.nth));
        if let Some(region) = region {
            mem::swap(&mut outer.seat, &mut region.seat);
            (region.made, region.kept, region.spare) = (made, kept, Some(outer).into());
        }
    }

    /// Returns the regions around the seat.
    #[inline]
    pub(super) fn region_path(&self) -> RegionPath {
        self.outer.as_ref().map(|outer| outer.region_path())
    }

    /// Calls `act` on the seat of the machine itself, and moves back to the region.
    pub(super) fn outside_regions<R>(&mut self, act: impl FnOnce(&mut Self) -> R) -> R {
        let region = self.move_outside();
        let result = act(self);
        self.return_to(region);
        result
    }

    /// Moves to the seat of the machine itself. Returns the region on whose seat `Single` has worked.
    fn move_outside(&mut self) -> RegionPath {
        let region = self.region_path();
        self.move_to(&[]);
        region
    }

    #[expect(clippy::needless_pass_by_value, reason = "so that no caller has to drop the path")]
    fn return_to(&mut self, region: RegionPath) {
        self.move_back(&region);
    }

    /// Moves to the seat of a region as [`move_to`](Self::move_to) does.
    #[inline]
    pub(super) fn move_back(&mut self, to: &RegionPath) -> bool {
        (self.outer.is_none() && to.is_none()) || self.move_elsewhere(to.as_deref().unwrap_or_default())
    }

    /// Moves to the seat of a region. If the region has been closed, moves to the seat of the innermost open region around it, or
    /// to that of the machine. Returns whether the region was open.
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

    /// Marks a request with the region in which it is made, if the request depends on the seat.
    #[inline]
    pub(super) fn inside(&self, request: Request<T>) -> Request<T> {
        if self.outer.is_none() { request } else { self.in_region(request) }
    }

    #[cold]
    pub(super) fn in_region(&self, request: Request<T>) -> Request<T> {
        if !request.depends_on_seat() {
            return request;
        }
        Request::InRegion(Boxed::new(InRegion { at: self.region_path(), request }))
    }

    /// Marks a push or a pop with the region whose state requests it within the call. Returns `None` for other requests.
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

    /// Makes a state and its ancestors in a region the active path of the region's seat, as [`Seat::place`] does.
    #[cold]
    pub(super) fn place_inside(&mut self, state: &StateRef<T>) {
        let around = self.outer.as_ref().map_or(0, |outer| outer.path().len());
        let path = path_to(state).unwrap_or_default();
        self.seat.place_path(behind(&path, around.min(path.len())));
    }

    /// Returns the region on whose seat `Single` works.
    pub(super) fn region_id(&self) -> Option<RegionId> {
        self.outer.as_ref().map(|outer| outer.id)
    }

    /// Removes from the queue the timers of the states that a change leaves: in this seat, the timers of all states but the
    /// outermost `kept`, and in the regions inside, all timers. Returns the timers of this seat.
    #[cold]
    pub(super) fn end_timers(&mut self, kept: usize, cause: Cause) -> Requests<T> {
        // A push suspends the states in the regions together with their timers.
        if cause != Cause::Push {
            self.seat.end_inside(&mut self.requests);
        }
        match &*self.outer {
            Some(outer) => self.requests.end_in(outer.id, kept),
            None => self.requests.end_timers(kept),
        }
    }

    /// Forgets that any callback has requested to sleep.
    pub(super) fn forget_sleep(&mut self) {
        self.seat.forget_sleep();
        let mut around = self.outer.as_deref_mut();
        while let Some(outer) = around {
            outer.seat.forget_sleep();
            around = outer.around.as_deref_mut();
        }
    }
}

/// The timers in regions that a change leaves.
impl<T: Owner> Seat<T> {
    /// Suspends the states that are active in the regions of the path that was pushed onto the stack last. `now` is in seconds.
    pub(super) fn suspend_regions(&mut self, regions: RareBox<Regions<T>>, requests: &mut Requests<T>, now: f64) {
        let Some(mut regions) = regions.into_option() else { return };
        let stamp = regions.stamp;
        for (nth, seat) in regions.seats_mut().enumerate() {
            let inside = seat.take_regions();
            let mut ended = requests.end_in(RegionId { stamp, nth }, 0);
            drop(seat.push(StateRef::NONE, &mut |timers| mem::take(&mut ended).leave_timers(timers), now));
            seat.entered_at = NEVER;
            seat.suspend_regions(inside, requests, now);
        }
        if let Some(suspended) = self.rare.as_mut().and_then(|rare| rare.stack.last_mut()) {
            *suspended.regions = Some(regions);
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

/// The machine while callbacks of a state in a region run. `Single` moves to the region's seat only when a callback requests
/// something that concerns this seat, so that seats rarely have to change places.
pub(super) struct Visit<'s, 'a, T: Owner> {
    pub(super) single: &'s mut Single<'a, T>,
    /// The index of the region among the open regions of the composite's seat.
    nth: usize,
    /// Whether a callback has requested anything.
    has_asked: bool,
    stage: OnSeat,
    /// How many regions lie around the composite's seat. It is set when `single` begins to work on the region's seat.
    level: usize,
}

/// The seat on which `Single` works during a [`Visit`].
#[derive(Clone, Copy, PartialEq)]
enum OnSeat {
    /// On the seat around the region's.
    Around,
    /// On the seat of the region.
    Inside,
    /// On a seat further outside, because the region has been closed.
    Closed,
}

impl<'s, 'a, T: Owner> Visit<'s, 'a, T> {
    #[inline]
    pub(super) fn new(single: &'s mut Single<'a, T>, nth: usize) -> Self {
        Self { single, nth, has_asked: false, stage: OnSeat::Around, level: 0 }
    }

    /// Moves to the region's seat, unless the region has been closed.
    #[cold]
    pub(super) fn enter(&mut self) -> &mut Single<'a, T> {
        self.has_asked = true;
        if self.stage == OnSeat::Around {
            self.level = self.single.level();
            self.single.enter_region(self.nth);
            self.stage = OnSeat::Inside;
        }
        self.single
    }

    /// Moves back to the seat around the region, unless the region has been closed.
    #[inline]
    pub(super) fn leave(&mut self) {
        if self.stage == OnSeat::Inside {
            let is_open = self.single.level() > self.level;
            if is_open {
                self.single.leave_region();
            }
            self.stage = if is_open { OnSeat::Around } else { OnSeat::Closed };
        }
    }

    fn region(&self) -> Option<&Seat<T>> {
        if self.stage == OnSeat::Around { self.single.seat.region(self.nth) } else { Some(self.single.seat) }
    }

    /// Returns the region, while `single` works on the seat around it.
    #[inline]
    pub(super) fn region_mut(&mut self) -> Option<&mut Region<T>> {
        if self.stage != OnSeat::Around {
            return None;
        }
        self.single.seat.rare.as_mut()?.regions.as_mut()?.list.get_mut(self.nth)
    }

    /// Carries out a change from the region's only active state to a flat state beside it, if nothing else matters to the change
    /// (see [`must_record`](Single::must_record)). Returns whether the change was made; `None` for all other changes.
    #[inline]
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
        if self.single.must_record() || !self.single.requests.is_empty() || self.single.root().is_lent() {
            return None;
        }
        Some(self.change_at_once((from, to), owner, cx))
    }

    /// Carries out the change of [`change_beside`](Self::change_beside). This is a function of its own because the compiler takes
    /// what is behind so many conditions to be rare, and inlines nothing there.
    #[inline(never)]
    fn change_at_once(
        &mut self,
        states: (&'static dyn State<T>, &'static dyn State<T>),
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        let composite = self.single.seat.current.clone();
        self.has_asked = false;
        change_to_sibling(RegionSeat { visit: self, composite: &composite }, (Cause::Change, 0), states, owner, cx)
    }

    /// Runs the part of a tick that belongs to the region: what is due in it, then the updates of its states. Returns whether a
    /// state was updated; `None` if there is no such region.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call would be a tenth of what the tick of a region takes")]
    fn tick(&mut self, owner: &mut T, cx: &mut T::Context<'_>) -> Option<bool> {
        let region = self.region_mut()?;
        if let Some(state) = region.seat.lone() {
            return Some(self.tick_lone(state, owner, cx));
        }
        Some(self.tick_any(owner, cx))
    }

    /// Runs the part of a tick that belongs to the region, for any number and kind of states.
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

    /// Updates the only active state of the region, in which nothing is due, and carries out its requests. Returns whether the
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

    /// Carries out the requests of a callback of the region.
    #[inline(never)]
    fn settle(&mut self, owner: &mut T, cx: &mut T::Context<'_>) {
        if self.stage == OnSeat::Around {
            if let Some(to) = self.single.requests.pop_singleton() {
                if self.change_beside(to, owner, cx).is_none() {
                    self.enter().execute_singleton(to, owner, cx);
                }
            }
        }
        if !self.single.requests.is_empty() || self.single.count & ASKED_TO_SLEEP != 0 || self.stage == OnSeat::Inside {
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
        match single.seat.region(self.nth).filter(|_| self.stage == OnSeat::Around) {
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

    fn asks_for_change(&self, nth: usize, is_beside: &dyn Fn(&StateRef<T>) -> bool) -> bool {
        self.single.asks_for_change(nth, is_beside)
    }
}

/// The seat of an open region.
struct RegionSeat<'v, 's, 'a, T: Owner> {
    visit: &'v mut Visit<'s, 'a, T>,
    /// The state to which the region belongs.
    composite: &'v StateRef<T>,
}

#[expect(clippy::inline_always, reason = "a change in a region is as fast as one in a machine")]
impl<'a, T: Owner> ChangingSeat<'a, T> for RegionSeat<'_, '_, 'a, T> {
    #[inline(always)]
    fn single_within(&mut self) -> (&mut Single<'a, T>, Option<&StateRef<T>>) {
        (self.visit.single, Some(self.composite))
    }

    /// Does nothing: a batch stores nothing beside the machine's seat that depends on a region without timers and sleep.
    #[inline(always)]
    fn touch(&mut self) {}

    #[inline(always)]
    fn is_closed(&self) -> bool {
        self.visit.stage == OnSeat::Closed
    }

    #[inline(always)]
    fn seat(&mut self) -> Option<(&mut Seat<T>, &mut u32, &mut usize)> {
        let Region { seat, made, kept, .. } = self.visit.region_mut()?;
        Some((seat, made, kept))
    }

    #[inline(always)]
    fn fsm(&mut self) -> Fsm<'_, T> {
        Fsm::new(self.visit, 0)
    }

    #[inline(always)]
    fn begin_exit(&mut self) -> usize {
        (self.visit.single.has_waiting, self.visit.single.exiting) = (false, true);
        0
    }

    #[inline(always)]
    fn end_timers(&mut self, _: usize, _: Cause) {}

    #[inline(always)]
    fn end_callback(&mut self) {
        self.visit.leave();
    }

    #[inline(always)]
    fn has_changed(&mut self, made: u32) -> bool {
        // A callback that has requested nothing has changed nothing.
        self.visit.has_asked && self.seat().is_none_or(|(_, now_made, _)| *now_made != made)
    }

    #[inline(always)]
    fn show(&mut self, cx: &mut T::Context<'_>) {
        self.visit.single.marks |= HAS_CHANGED_INSIDE;
        self.visit.single.show(cx);
    }

    #[inline(always)]
    fn end_quiet(&mut self, _: usize) {}

    #[inline(always)]
    fn work<R>(&mut self, act: impl FnOnce(&mut Single<'a, T>) -> R) -> R {
        let result = act(self.visit.enter());
        self.visit.leave();
        result
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
}

/// After a panic, puts all seats back in their places, and drops a callback's request to sleep.
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
