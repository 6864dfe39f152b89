//! The states that a batch knows. Each has a number, which is also the number of its bucket. Shared states that no owner needs
//! are forgotten.

#[cfg(feature = "serde")]
mod restore;

use std::any::TypeId;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::{mem, ptr};

use rustc_hash::FxBuildHasher;

use super::panics::{Discarded, FirstPanic};
use crate::owner::Owner;
use crate::state::{Identity, State, StateRef};

/// The number of "no state".
pub(crate) const NOWHERE: u32 = 0;

/// Numbers are smaller than this.
pub(crate) const MOST_STATES: u32 = (1 << 30) - 1;

pub(crate) struct States<T: Owner> {
    list: Vec<KnownState<T>>,
    by_identity: HashMap<Identity, u32, FxBuildHasher>,
    /// The singletons that were looked up last, with their numbers.
    singletons: Numbers<T>,
    by_owned_type: HashMap<TypeId, u32, FxBuildHasher>,
    /// By the identity of a state with children: the number of the state in which a change to it ends, if such changes can be
    /// made in bulk.
    innermost: HashMap<Identity, u32, FxBuildHasher>,
    /// Whether the batch has ever known a state with ancestors.
    pub(crate) has_nested: bool,
    /// The numbers in the order in which the batch first saw their states.
    order: Vec<u32>,
    /// The numbers of states that are no longer known.
    free: Vec<u32>,
    pub(crate) unused: UnusedStates,
}

/// Shared states without owners, until they are forgotten.
///
/// A state whose bucket is empty may still be the previous state of some owner. To find out, the batch looks through all rows.
/// It does so only when enough other work has been done since the last time, so that this costs little in comparison.
#[derive(Default)]
pub(crate) struct UnusedStates {
    /// The numbers of states that may be unused, some of them more than once.
    pub(crate) candidates: Vec<u32>,
    /// Whether a state is unused, by its number. Valid only while the rows are looked through.
    marks: Vec<bool>,
    /// How many rows may be looked through. Each bucket that becomes empty, each tick, and each call for one owner adds to this
    /// number.
    pub(crate) credit: usize,
}

impl UnusedStates {
    /// Notes that a state is some owner's previous state.
    #[inline]
    pub(crate) fn note_previous(&mut self, index: u32) {
        if mem::replace(&mut self.marks[index as usize], false) {
            self.candidates.push(index);
        }
    }
}

/// How many rows may be looked through for each state whose bucket has become empty.
const ROWS_PER_STATE: usize = 16;

/// A state, or a type of owned states, that the batch knows.
pub(crate) struct KnownState<T: Owner> {
    /// `StateRef::NONE` for "no state", and for a type of owned states, where each owner has its own state.
    current: StateRef<T>,
    /// The ancestors of the state, outermost first.
    pub(crate) ancestors: Vec<StateRef<T>>,
    /// The identities of the ancestors and then of the state itself, so that paths can be compared without calling a method of
    /// a state.
    identities: Vec<Identity>,
    /// Whether each owner in the bucket has a seat of its own, because its machine does not fit into columns: the states are
    /// owned, or the state has regions.
    pub(crate) has_seats: bool,
    /// Whether the state is forgotten when it is no owner's current or previous state. This is so for shared states, because
    /// there may be many of them.
    pub(crate) is_transient: bool,
    /// Whether changes from and to this state can be made in bulk: it has no initial child, and no ancestor of it keeps a
    /// history.
    pub(crate) is_bulk: bool,
    /// The depths of the states on its path that are not passive, outermost first.
    pub(crate) updating: Vec<usize>,
}

impl<T: Owner> KnownState<T> {
    fn nowhere() -> Self {
        Self {
            current: StateRef::NONE,
            ancestors: Vec::new(),
            identities: Vec::new(),
            has_seats: false,
            is_transient: false,
            is_bulk: false,
            updating: Vec::new(),
        }
    }

    /// Sets the state, and asks it and its ancestors for everything that is constant. If a method panics, the state is treated
    /// as one that updates, that may have regions, and whose changes cannot be made in bulk.
    fn learn(&mut self, current: &StateRef<T>, ancestors: &[StateRef<T>], panic: &mut FirstPanic) {
        self.current = current.clone();
        self.ancestors.extend_from_slice(ancestors);
        self.identities.extend(ancestors.iter().chain([current]).map(|state| Identity::of(&**state)));
        self.has_seats = panic.catch(|| current.has_regions()).unwrap_or(true);
        let is_innermost = !self.has_seats && panic.catch(|| current.initial().is_none()).unwrap_or(false);
        let keeps_history = |panic: &mut FirstPanic| {
            panic.catch(|| ancestors.iter().any(|ancestor| ancestor.keeps_history())).unwrap_or(true)
        };
        self.is_bulk = is_innermost && !keeps_history(panic);
        // A shared state without a size is the same as the singleton of its type.
        self.is_transient = current.is_shared() && size_of_val(&**current) > 0;
        for (depth, state) in ancestors.iter().chain([current]).enumerate() {
            if !panic.catch(|| state.is_passive()).unwrap_or(false) {
                self.updating.push(depth);
            }
        }
    }

    /// Removes the state, but keeps the memory.
    fn forget(&mut self, discarded: &mut Discarded<T>) {
        discarded.add(mem::replace(&mut self.current, StateRef::NONE));
        discarded.extend(self.ancestors.drain(..));
        self.identities.clear();
        self.updating.clear();
        self.is_bulk = false;
        self.has_seats = false;
        self.is_transient = false;
    }

    /// Returns whether this is a type of owned states.
    pub(crate) fn is_owned(&self) -> bool {
        self.has_seats && self.current.is_none()
    }

    pub(crate) fn state(&self) -> &StateRef<T> {
        &self.current
    }

    /// Iterates over the active states of its owners, outermost first.
    pub(crate) fn path(&self) -> impl DoubleEndedIterator<Item = &StateRef<T>> + Clone {
        self.ancestors.iter().chain(self.current.as_option())
    }

    /// Returns whether the state has neither a parent nor an initial child.
    pub(crate) fn is_flat(&self) -> bool {
        self.is_bulk && self.ancestors.is_empty()
    }

    /// Returns the depths of the active states from a depth on, outermost first.
    #[inline]
    pub(crate) fn depths(&self, from: usize) -> Range<usize> {
        let end = self.ancestors.len() + 1;
        from..end
    }

    /// Returns the active state at a depth.
    pub(crate) fn at(&self, depth: usize) -> &StateRef<T> {
        self.ancestors.get(depth).unwrap_or(&self.current)
    }
}

impl<T: Owner> States<T> {
    pub(crate) fn new() -> Self {
        Self {
            list: vec![KnownState::nowhere()],
            by_identity: HashMap::default(),
            singletons: Numbers::new(),
            by_owned_type: HashMap::default(),
            innermost: HashMap::default(),
            has_nested: false,
            order: vec![NOWHERE],
            free: Vec::new(),
            unused: UnusedStates::default(),
        }
    }

    /// Returns one more than the highest number.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the numbers, in the order in which the batch first saw the states.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    #[inline]
    pub(crate) fn get(&self, index: u32) -> &KnownState<T> {
        &self.list[index as usize]
    }

    /// Returns the entry with a number, or `None` if there is no such number.
    #[inline]
    pub(crate) fn find(&self, index: u32) -> Option<&KnownState<T>> {
        self.list.get(index as usize)
    }

    /// Returns the number of a singleton or shared state.
    pub(crate) fn index_of<S: State<T> + ?Sized>(&self, state: &S) -> Option<u32> {
        self.by_identity.get(&Identity::of(state)).copied()
    }

    /// Returns the number of an owned state's bucket.
    pub(crate) fn index_of_owned(&self, identity: Identity) -> Option<u32> {
        self.by_owned_type.get(&identity.type_id).copied()
    }

    /// Returns the number of a state's bucket. An owned state is in the bucket of its type.
    pub(crate) fn bucket_of(&self, state: &StateRef<T>) -> Option<u32> {
        if state.is_none() {
            Some(NOWHERE)
        } else if state.is_owned() {
            self.index_of_owned(Identity::of(&**state))
        } else {
            self.index_of(&**state)
        }
    }

    /// Returns the number of a singleton or shared state, found quickly if it was looked up recently.
    pub(crate) fn number_of(&mut self, state: &StateRef<T>) -> Option<u32> {
        let singleton = state.as_singleton();
        let cached = singleton.and_then(|state| self.singletons.get(state));
        cached.or_else(|| {
            let index = self.bucket_of(state).filter(|&index| !self.get(index).is_owned())?;
            if let Some(state) = singleton {
                self.singletons.set(state, index);
            }
            Some(index)
        })
    }

    /// Returns the number of a state's bucket. If the state is new, it becomes known, with its ancestors.
    ///
    /// # Panics
    ///
    /// When all numbers are in use.
    pub(crate) fn bucket_for(&mut self, state: &StateRef<T>, ancestors: &[StateRef<T>], panic: &mut FirstPanic) -> u32 {
        let singleton = state.as_singleton();
        if let Some(index) = singleton.and_then(|state| self.singletons.get(state)) {
            return index;
        }
        let known = self.bucket_of(state);
        let index = known.unwrap_or_else(|| self.add());
        if let (Some(state), Some(_)) = (singleton, known) {
            self.singletons.set(state, index);
        }
        if known.is_none() {
            self.give(index, state, ancestors, panic);
        }
        index
    }

    /// Gives a number to a state that has none. For an owned state, the type gets the number.
    fn give(&mut self, index: u32, state: &StateRef<T>, ancestors: &[StateRef<T>], panic: &mut FirstPanic) {
        let identity = Identity::of(&**state);
        if state.is_owned() {
            self.list[index as usize].has_seats = true;
            self.by_owned_type.insert(identity.type_id, index);
        } else {
            self.list[index as usize].learn(state, ancestors, panic);
            self.note_innermost(index, panic);
            self.by_identity.insert(identity, index);
        }
    }

    /// Notes the ancestors whose initial children lead to a state, so that changes to them end in this state.
    fn note_innermost(&mut self, index: u32, panic: &mut FirstPanic) {
        let known = &self.list[index as usize];
        self.has_nested |= !known.ancestors.is_empty();
        if !known.is_bulk {
            return;
        }
        let mut child = &known.current;
        for ancestor in known.ancestors.iter().rev() {
            let is_initial = panic.catch(|| ancestor.initial().as_ref() == Some(child)).unwrap_or(false);
            if ancestor.is_owned() || !is_initial {
                return;
            }
            self.innermost.insert(Identity::of(&**ancestor), index);
            child = ancestor;
        }
    }

    /// Returns the number of the state in which a change from `from` to `to` ends, if the change can be made in bulk.
    pub(crate) fn innermost_of(&self, from: &KnownState<T>, to: &StateRef<T>) -> Option<u32> {
        let own = self.bucket_of(to);
        if let Some(index) = own.filter(|&index| self.get(index).is_bulk) {
            return Some(index);
        }
        if self.innermost.is_empty() || to.is_none() {
            return None;
        }
        // A change to an active state leaves this state and enters it again (rule 6), so it is not the same as a change to the
        // state in which it ends.
        let is_active = || from.path().any(|active| active == to);
        self.innermost.get(&Identity::of(&**to)).copied().filter(|_| !is_active())
    }

    /// Returns how many active states, counted from the outermost, a change from one state to another does not leave.
    pub(crate) fn kept(&self, from: u32, to: u32) -> usize {
        if !self.has_nested {
            return 0;
        }
        let (from, to) = (self.get(from), self.get(to));
        let paths = from.identities.iter().zip(&to.identities);
        let shared = paths.take_while(|(active, entered)| active == entered).count();
        shared.min(to.ancestors.len())
    }

    /// Returns whether a state has ancestors.
    pub(crate) fn is_nested(&self, index: u32) -> bool {
        self.has_nested && !self.get(index).ancestors.is_empty()
    }

    fn add(&mut self) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.list.push(KnownState::nowhere());
            let index = u32::try_from(self.list.len() - 1).ok().filter(|&index| index < MOST_STATES);
            index.expect("a batch knows fewer than 2^30 - 1 states")
        });
        self.order.push(index);
        index
    }

    /// Notes that the bucket with a number has become empty.
    #[inline]
    pub(crate) fn note_empty(&mut self, index: u32) {
        if self.get(index).is_transient {
            self.unused.candidates.push(index);
            self.unused.credit += ROWS_PER_STATE;
        }
    }

    /// Increases the credit for a tick that has visited `rows` rows.
    pub(crate) fn pay(&mut self, rows: usize) {
        if !self.unused.candidates.is_empty() {
            self.unused.credit += rows / 64;
        }
    }

    /// Returns whether all rows may be looked through now for unused states. Each tick, and each call for one owner, pays for a
    /// part of this work.
    pub(crate) fn may_look_through(&mut self, rows: usize) -> bool {
        let UnusedStates { candidates, credit, .. } = &mut self.unused;
        if candidates.is_empty() {
            return false;
        }
        *credit += ROWS_PER_STATE;
        let is_time = *credit >= rows;
        if is_time {
            *credit = 0;
        }
        is_time
    }

    /// Marks the shared states whose buckets are empty as unused.
    pub(crate) fn mark_unused(&mut self, is_empty: impl Fn(u32) -> bool) {
        let Self { list, unused: UnusedStates { candidates, marks, .. }, .. } = self;
        marks.clear();
        marks.resize(list.len(), false);
        for index in candidates.drain(..) {
            marks[index as usize] = list[index as usize].is_transient && is_empty(index);
        }
    }

    /// Forgets the states that are still marked as unused. Returns their numbers.
    pub(crate) fn forget_unused(&mut self, discarded: &mut Discarded<T>) -> Vec<u32> {
        let marks = mem::take(&mut self.unused.marks);
        self.forget(&|index| marks[index as usize], discarded);
        let mut forgotten = Vec::new();
        for (index, is_unused) in (0..).zip(&marks) {
            if *is_unused {
                forgotten.push(index);
            }
        }
        self.unused.marks = marks;
        forgotten
    }

    /// Forgets the states for whose numbers `is_forgotten` returns `true`.
    pub(crate) fn forget(&mut self, is_forgotten: &dyn Fn(u32) -> bool, discarded: &mut Discarded<T>) {
        let Self { list, by_identity, innermost, order, free, .. } = self;
        order.retain(|&index| {
            if is_forgotten(index) {
                let known = &mut list[index as usize];
                by_identity.remove(&Identity::of(&*known.current));
                for ancestor in &known.ancestors {
                    let identity = Identity::of(&**ancestor);
                    if innermost.get(&identity) == Some(&index) {
                        innermost.remove(&identity);
                    }
                }
                known.forget(discarded);
                free.push(index);
            }
            !is_forgotten(index)
        });
    }
}

impl<T: Owner> States<T> {
    /// Copies `source`, and reuses the existing memory.
    pub(crate) fn copy_from(&mut self, source: &Self) {
        self.list.clone_from(&source.list);
        self.by_identity.clone_from(&source.by_identity);
        self.singletons.clear();
        self.by_owned_type.clone_from(&source.by_owned_type);
        self.innermost.clone_from(&source.innermost);
        self.has_nested = source.has_nested;
        self.order.clone_from(&source.order);
        self.free.clone_from(&source.free);
        self.unused.candidates.clone_from(&source.unused.candidates);
        self.unused.credit = source.unused.credit;
    }
}

impl<T: Owner> Clone for KnownState<T> {
    fn clone(&self) -> Self {
        let mut clone = Self::nowhere();
        clone.clone_from(self);
        clone
    }

    fn clone_from(&mut self, source: &Self) {
        self.current.clone_from(&source.current);
        self.ancestors.clone_from(&source.ancestors);
        self.identities.clone_from(&source.identities);
        self.has_seats = source.has_seats;
        self.is_transient = source.is_transient;
        self.is_bulk = source.is_bulk;
        self.updating.clone_from(&source.updating);
    }
}

/// A cache that finds the numbers of singletons by their references, which is faster than by their identities.
///
/// The vtable of a type may have several addresses, so there may be several entries for one state. No entry is ever wrong,
/// because singletons keep their numbers.
pub(crate) struct Numbers<T: Owner>(Box<[NumberedState<T>; SIZE]>);

struct NumberedState<T: Owner> {
    state: Option<&'static dyn State<T>>,
    index: u32,
}

const SIZE: usize = 256;

impl<T: Owner> Numbers<T> {
    pub(crate) fn new() -> Self {
        Self(Box::new([const { NumberedState { state: None, index: 0 } }; SIZE]))
    }

    #[inline]
    pub(crate) fn get(&self, state: &'static dyn State<T>) -> Option<u32> {
        let number = &self.0[CacheEntry::of(state)];
        number.state.is_some_and(|known| ptr::eq(known, state)).then_some(number.index)
    }

    pub(crate) fn clear(&mut self) {
        self.0.iter_mut().for_each(|number| number.state = None);
    }

    pub(crate) fn set(&mut self, state: &'static dyn State<T>, index: u32) {
        self.0[CacheEntry::of(state)] = NumberedState { state: Some(state), index };
    }
}

/// Finds the entry of a reference in the cache. Both words of the reference (address and vtable) are hashed, because all
/// singletons without a size may share an address.
struct CacheEntry(u64);

impl CacheEntry {
    #[inline]
    fn of<T: Owner>(state: &'static dyn State<T>) -> usize {
        let mut entry = Self(0);
        ptr::from_ref(state).hash(&mut entry);
        // Knuth's multiplicative hash: every bit of the words affects the highest eight bits.
        let [.., highest] = entry.finish().wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
        highest.into()
    }
}

impl Hasher for CacheEntry {
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
