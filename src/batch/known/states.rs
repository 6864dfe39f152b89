//! The states that a batch knows, each by a number: that of its bucket.

#[cfg(feature = "serde")]
mod restore;

use std::any::TypeId;
use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::numbers::Numbers;
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
    /// For a state around others, the number of the one that a change to it ends in, if that can be done in bulk.
    innermost: HashMap<Identity, u32, FxBuildHasher>,
    /// Whether any state has had states around it.
    has_nested: bool,
    /// The numbers in the order in which the batch first saw their states.
    order: Vec<u32>,
    /// The numbers of states that are no longer known.
    free: Vec<u32>,
}

/// A state, or a type of owned states, that owners have been in.
pub(crate) struct KnownState<T: Owner> {
    /// Not for "no state", nor for a type of owned states, whose owners have a state each.
    current: StateRef<T>,
    /// The states around it, outermost first.
    pub(crate) ancestors: Vec<StateRef<T>>,
    /// What decides which these are, then itself: so that paths are compared without a call of a state.
    identities: Vec<Identity>,
    pub(crate) is_owned: bool,
    /// Whether it is forgotten when no owner is in it or comes from it: a shared state, which may be one of many.
    pub(crate) is_transient: bool,
    /// Whether its owners can change in bulk, and others to it: it has no initial child, and no state around it keeps history.
    pub(crate) is_bulk: bool,
    /// The depths of its path at which a state updates the owners, outermost first: none where all are passive.
    pub(crate) updating: Vec<usize>,
}

impl<T: Owner> KnownState<T> {
    fn nowhere() -> Self {
        Self {
            current: StateRef::NONE,
            ancestors: Vec::new(),
            identities: Vec::new(),
            is_owned: false,
            is_transient: false,
            is_bulk: false,
            updating: Vec::new(),
        }
    }

    /// Takes over a state: asks the state, and its ancestors, for all that is constant. A state that panics is treated as one
    /// that updates.
    fn learn(&mut self, current: &StateRef<T>, ancestors: &[StateRef<T>], panic: &mut FirstPanic) {
        self.current = current.clone();
        self.ancestors.extend_from_slice(ancestors);
        self.identities.extend(ancestors.iter().chain([current]).map(|state| Identity::of(&**state)));
        let is_innermost = panic.catch(|| current.initial().is_none()).unwrap_or(false);
        let keeps_history = |panic: &mut FirstPanic| {
            panic.catch(|| ancestors.iter().any(|ancestor| ancestor.keeps_history())).unwrap_or(true)
        };
        self.is_bulk = is_innermost && !keeps_history(panic);
        // One without a size is the same as the singleton of its type.
        self.is_transient = current.is_shared() && size_of_val(&**current) > 0;
        for (depth, state) in ancestors.iter().chain([current]).enumerate() {
            if !panic.catch(|| state.is_passive()).unwrap_or(false) {
                self.updating.push(depth);
            }
        }
    }

    /// Forgets its state, but keeps its room.
    fn forget(&mut self, discarded: &mut Discarded<T>) {
        discarded.add(std::mem::replace(&mut self.current, StateRef::NONE));
        discarded.extend(self.ancestors.drain(..));
        self.identities.clear();
        self.updating.clear();
        self.is_bulk = false;
        self.is_transient = false;
    }

    pub(crate) fn state(&self) -> &StateRef<T> {
        &self.current
    }

    /// The active states of its owners, outermost first.
    pub(crate) fn path(&self) -> impl DoubleEndedIterator<Item = &StateRef<T>> + Clone {
        self.ancestors.iter().chain(self.current.as_option())
    }

    /// Whether it has neither a parent nor an initial child.
    pub(crate) fn is_flat(&self) -> bool {
        self.is_bulk && self.ancestors.is_empty()
    }

    /// The active state at a depth.
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
        }
    }

    /// One more than the highest number.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The numbers, in the order in which the batch first saw the states.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    #[inline]
    pub(crate) fn get(&self, index: u32) -> &KnownState<T> {
        &self.list[index as usize]
    }

    /// As [`get`](Self::get), for a number of which that is not certain.
    #[inline]
    pub(crate) fn find(&self, index: u32) -> Option<&KnownState<T>> {
        self.list.get(index as usize)
    }

    /// The number of a singleton or shared state.
    pub(crate) fn index_of<S: State<T> + ?Sized>(&self, state: &S) -> Option<u32> {
        self.by_identity.get(&Identity::of(state)).copied()
    }

    /// The number of an owned state's bucket.
    pub(crate) fn index_of_owned(&self, identity: Identity) -> Option<u32> {
        self.by_owned_type.get(&identity.type_id).copied()
    }

    /// The number of a state's bucket: its own, or for an owned state that of its type.
    pub(crate) fn bucket_of(&self, state: &StateRef<T>) -> Option<u32> {
        if state.is_none() {
            Some(NOWHERE)
        } else if state.is_owned() {
            self.index_of_owned(Identity::of(&**state))
        } else {
            self.index_of(&**state)
        }
    }

    /// The number of a singleton or shared state, found quickly if it was looked up recently.
    pub(crate) fn number_of(&mut self, state: &StateRef<T>) -> Option<u32> {
        let singleton = state.as_singleton();
        let cached = singleton.and_then(|state| self.singletons.get(state));
        cached.or_else(|| {
            let index = self.bucket_of(state).filter(|&index| !self.get(index).is_owned)?;
            if let Some(state) = singleton {
                self.singletons.set(state, index);
            }
            Some(index)
        })
    }

    /// The number of a state's bucket, which becomes known if it was not, with the states around it.
    ///
    /// # Panics
    ///
    /// When there are as many states as there are numbers.
    pub(crate) fn bucket_for(&mut self, state: &StateRef<T>, ancestors: &[StateRef<T>], panic: &mut FirstPanic) -> u32 {
        let singleton = state.as_singleton();
        if let Some(index) = singleton.and_then(|state| self.singletons.get(state)) {
            return index;
        }
        if let Some(index) = self.bucket_of(state) {
            if let Some(state) = singleton {
                self.singletons.set(state, index);
            }
            return index;
        }
        let identity = Identity::of(&**state);
        if state.is_owned() {
            let index = self.add();
            self.list[index as usize].is_owned = true;
            self.by_owned_type.insert(identity.type_id, index);
            index
        } else {
            let index = self.add();
            self.list[index as usize].learn(state, ancestors, panic);
            self.note_innermost(index, panic);
            self.by_identity.insert(identity, index);
            index
        }
    }

    /// Notes of which states around it a state is the innermost initial child.
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

    /// The number of the state that a change to `to` ends in, if owners of a state can make it in bulk.
    pub(crate) fn innermost_of(&self, from: &KnownState<T>, to: &StateRef<T>) -> Option<u32> {
        let own = self.bucket_of(to);
        if let Some(index) = own.filter(|&index| self.get(index).is_bulk) {
            return Some(index);
        }
        if self.innermost.is_empty() || to.is_none() {
            return None;
        }
        // A change to a state that is active leaves more than one to the state that it ends in.
        let is_active = || from.path().any(|active| active == to);
        self.innermost.get(&Identity::of(&**to)).copied().filter(|_| !is_active())
    }

    /// How many active states, from the outermost, a change from one state to another leaves alone.
    pub(crate) fn kept(&self, from: u32, to: u32) -> usize {
        if !self.has_nested {
            return 0;
        }
        let (from, to) = (self.get(from), self.get(to));
        let paths = from.identities.iter().zip(&to.identities);
        let shared = paths.take_while(|(active, entered)| active == entered).count();
        shared.min(to.ancestors.len())
    }

    /// Whether a state has states around it.
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

    /// Forgets states.
    pub(crate) fn forget(&mut self, is_forgotten: impl Fn(u32) -> bool, discarded: &mut Discarded<T>) {
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

impl<T: Owner> Clone for States<T> {
    fn clone(&self) -> Self {
        Self {
            list: self.list.clone(),
            by_identity: self.by_identity.clone(),
            singletons: Numbers::new(),
            by_owned_type: self.by_owned_type.clone(),
            innermost: self.innermost.clone(),
            has_nested: self.has_nested,
            order: self.order.clone(),
            free: self.free.clone(),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        self.list.clone_from(&source.list);
        self.by_identity.clone_from(&source.by_identity);
        self.singletons.clear();
        self.by_owned_type.clone_from(&source.by_owned_type);
        self.innermost.clone_from(&source.innermost);
        self.has_nested = source.has_nested;
        self.order.clone_from(&source.order);
        self.free.clone_from(&source.free);
    }
}

impl<T: Owner> Clone for KnownState<T> {
    fn clone(&self) -> Self {
        Self {
            current: self.current.clone(),
            ancestors: self.ancestors.clone(),
            identities: self.identities.clone(),
            is_owned: self.is_owned,
            is_transient: self.is_transient,
            is_bulk: self.is_bulk,
            updating: self.updating.clone(),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        self.current.clone_from(&source.current);
        self.ancestors.clone_from(&source.ancestors);
        self.identities.clone_from(&source.identities);
        self.is_owned = source.is_owned;
        self.is_transient = source.is_transient;
        self.is_bulk = source.is_bulk;
        self.updating.clone_from(&source.updating);
    }
}
