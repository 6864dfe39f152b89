//! The regions of composite states (rule 32).
//!
//! While a composite with regions is current, its seat has a further seat for each region. A region's seat is like that of a
//! machine: its path begins below the composite. `Single` works on one seat at a time: see [`visit`](super::visit).

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::quiet::Quiet;
use super::seat::{Path, Rare, Seat};
use super::waiting::Pending;
use crate::boxed::RareBox;
use crate::fsm::{Request, View};
use crate::owner::Owner;
use crate::state::{State, StateRef};

/// The most regions that a state can have.
pub(crate) const MOST_REGIONS: usize = 16;

/// How often regions have been opened in this program.
static OPENED: AtomicUsize = AtomicUsize::new(0);

/// The open regions of a composite state.
pub(crate) struct Regions<T: Owner> {
    /// A number that no other open regions have. A `RegionId` contains this number, which shows whether the region has been
    /// closed since.
    pub(crate) stamp: usize,
    pub(super) list: Vec<Region<T>>,
}

/// An open region. Its seat is empty until its initial state is entered, and while `Single` works on the seat.
pub(super) struct Region<T: Owner> {
    pub(super) seat: Seat<T>,
    /// The values of `made` and `kept` for this region, while `Single` works on another seat.
    pub(super) made: u32,
    pub(super) kept: usize,
    /// The memory for the seat around it, for the next time that `Single` works on the region's seat.
    pub(super) spare: RareBox<Outer<T>>,
}

/// Identifies an open region.
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
    /// Returns whether the request was made in this region itself, not in a region around or inside it.
    pub(super) fn is_of(&self, region: RegionId) -> bool {
        self.at.as_deref().and_then(<[RegionId]>::last) == Some(&region)
    }
}

/// Returns a request if it concerns a seat: that of the region `seat` or, for `None`, that of the machine itself.
pub(super) fn own<T: Owner>(request: &Request<T>, seat: Option<RegionId>) -> Option<&Request<T>> {
    match (request, seat) {
        (Request::InRegion(inside), Some(id)) => inside.is_of(id).then_some(&inside.request),
        (Request::InRegion(_), None) => None,
        (request, None) => Some(request),
        (request, Some(_)) => (!request.depends_on_seat()).then_some(request),
    }
}

/// The seat around the region on whose seat `Single` works.
pub(crate) struct Outer<T: Owner> {
    pub(super) seat: Seat<T>,
    pub(super) id: RegionId,
    pub(super) made: u32,
    pub(super) kept: usize,
    pub(super) quiet: Quiet,
    pub(super) around: RareBox<Outer<T>>,
    pub(super) level: usize,
}

impl<T: Owner> Regions<T> {
    pub(crate) fn new(count: usize) -> Self {
        let mut list = Vec::with_capacity(count);
        for _ in 0..count {
            list.push(Region { seat: Seat::empty(), made: 0, kept: usize::MAX, spare: RareBox::NONE });
        }
        Self { stamp: new_stamp(), list }
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
        clone.clone_from(self);
        clone
    }

    fn clone_from(&mut self, source: &Self) {
        if self.list.len() != source.list.len() {
            *self = Self::new(source.list.len());
        }
        self.stamp = new_stamp();
        self.seats_mut().zip(source.seats()).for_each(|(to, seat)| to.clone_from(seat));
    }
}

/// Returns a number that no other open regions have.
fn new_stamp() -> usize {
    OPENED.fetch_add(1, Ordering::Relaxed)
}

impl<T: Owner> Outer<T> {
    #[cold]
    pub(super) fn empty() -> Self {
        let id = RegionId { stamp: 0, nth: 0 };
        Self { seat: Seat::empty(), id, made: 0, kept: 0, quiet: Quiet::NONE, around: RareBox::NONE, level: 0 }
    }

    pub(super) fn as_around(&self) -> Around<'_, T> {
        Around { seat: &self.seat, outer: self.around.as_deref(), further: &[] }
    }

    /// Returns the states around the region, outermost first.
    pub(super) fn path(&self) -> Vec<&StateRef<T>> {
        self.as_around().path()
    }

    /// Returns whether a state around the region keeps history.
    pub(super) fn keeps_history(&self) -> bool {
        outward(Some(self)).any(|outer| outer.seat.path().any(|state| state.keeps_history()))
    }

    /// Returns the regions that have been entered, from the outermost one to this one.
    #[cold]
    pub(super) fn region_path(&self) -> Box<[RegionId]> {
        let mut path = Vec::new();
        for outer in outward(Some(self)) {
            path.push(outer.id);
        }
        path.reverse();
        path.into()
    }

    /// Returns the seat of the machine itself.
    #[cold]
    pub(super) fn root(&mut self) -> &mut Seat<T> {
        let mut outer = self;
        while let Some(around) = &mut *outer.around {
            outer = around;
        }
        &mut outer.seat
    }

    /// Returns the seat of the machine itself, to read it.
    #[cold]
    pub(super) fn outermost(&self) -> &Seat<T> {
        outward(Some(self)).last().map_or(&self.seat, |outer| &outer.seat)
    }
}

/// Iterates over the seats around a seat, from the innermost to the outermost.
fn outward<T: Owner>(innermost: Option<&Outer<T>>) -> impl Iterator<Item = &Outer<T>> {
    core::iter::successors(innermost, |outer| outer.around.as_deref())
}

/// The seats around a region.
pub(crate) struct Around<'v, T: Owner> {
    /// The seat of the state whose region it is.
    pub(super) seat: &'v Seat<T>,
    /// The seats around `seat`, while `Single` works on the region's seat.
    pub(super) outer: Option<&'v Outer<T>>,
    /// The seats around `seat`, outermost first, while `Single` does not work on the region's seat.
    pub(super) further: &'v [&'v Seat<T>],
}

impl<'v, T: Owner> Around<'v, T> {
    /// Creates the value from the seats around a region, outermost first. Returns `None` if there are no such seats.
    #[cfg(feature = "definition")]
    pub(crate) fn of(seats: &'v [&'v Seat<T>]) -> Option<Self> {
        seats.split_last().map(|(seat, further)| Self { seat, outer: None, further })
    }

    /// Calls `act` with each seat, innermost first.
    fn each_outward(&self, act: &mut dyn FnMut(&'v Seat<T>)) {
        act(self.seat);
        for outer in outward(self.outer) {
            act(&outer.seat);
        }
        for seat in self.further.iter().rev() {
            act(seat);
        }
    }

    /// Returns the states, outermost first.
    pub(crate) fn path(&self) -> Vec<&'v StateRef<T>> {
        let mut path = Vec::new();
        self.each_outward(&mut |seat| {
            path.extend(seat.current.as_option());
            path.extend(seat.ancestors().iter().rev());
        });
        path.reverse();
        path
    }
}

/// The states that a change enters in one seat, outermost first, and the branches that it opens in the regions of the last one.
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
    pub(super) fn open_regions(&self) -> Option<&Regions<T>> {
        self.rare.as_ref()?.regions.as_deref()
    }

    /// Returns the current state, if it is a singleton without ancestors, its regions are open, and this seat has no timers and
    /// is not asleep.
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
        self.open_regions().map_or(&[][..], |open| &open.list).iter().map(|region| &region.seat)
    }

    pub(crate) fn regions_mut(&mut self) -> impl Iterator<Item = &mut Seat<T>> {
        let open = self.rare.as_mut().and_then(|rare| rare.regions.as_mut());
        open.map_or(&mut [][..], |open| &mut open.list).iter_mut().map(|region| &mut region.seat)
    }

    /// Forgets that any callback has requested to sleep, in this seat and in all seats inside it.
    pub(crate) fn forget_sleep(&mut self) {
        self.each(&mut |seat| {
            if let Some(rare) = &mut *seat.rare {
                rare.waiting.wanted = None;
            }
        });
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
                // If a change is under way in the region, these values tell it that the path has changed.
                (*made, *kept) = (made.wrapping_add(1), 0);
                seat.place_regions(inside);
            }
        }
    }

    /// Opens `count` regions, with empty seats, unless regions are open.
    pub(crate) fn open(&mut self, count: usize) {
        self.rare_mut().regions.get_or_insert_with(|| Box::new(Regions::new(count)));
    }

    /// Returns the innermost active state on the first path through open regions, for a machine that has been placed there.
    pub(crate) fn placed(&self) -> &StateRef<T> {
        self.regions().find(|seat| seat.depth() > 0).map_or(&self.current, Seat::placed)
    }

    /// Takes out the open regions. All changes of the seat's current state do this before they replace it.
    #[inline]
    pub(crate) fn take_regions(&mut self) -> RareBox<Regions<T>> {
        self.rare.as_mut().map_or(RareBox::NONE, |rare| rare.regions.take())
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
        let mut around = Vec::new();
        for outer in outward(outer) {
            around.push(outer);
        }
        around.reverse();
        Self { around, seat }
    }

    /// Calls `act` with each seat, outermost first, and with the seats of its regions. A seat may be without a state.
    pub(crate) fn each(&self, act: SeeSeat<'_, 'v, T>) {
        self.visit(self.root(), 0, act);
    }

    /// Returns the running timers of all seats.
    pub(crate) fn pending(&self) -> Vec<Pending<T>> {
        let mut pending = Vec::new();
        self.each(&mut |seat, _| seat.each_pending(&mut |_, timer| pending.push(timer)));
        pending
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
        // The region through which the way to the innermost seat leads has an empty seat here. Its states are in the next seat of
        // `around` or, after the last one, in `self.seat`.
        let entered = self.around.get(level).filter(|outer| core::ptr::eq(&raw const outer.seat, seat));
        let mut regions = Vec::new();
        for region in seat.regions() {
            regions.push(region);
        }
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
            for (nth, region) in regions.iter().enumerate() {
                if region.depth() > 0 {
                    memory.push((seat.current.clone(), nth, region.current.clone()));
                }
            }
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
        let mut entry = self.regions.and_then(|regions| regions.seats().find_map(|seat| seat.entry_of(state)));
        if let Some(around) = &self.around {
            around.each_outward(&mut |seat| entry = entry.or_else(|| seat.entry_of(state)));
        }
        entry
    }
}
