//! How a machine refers to a state, how code names a state, and when two references refer to the same state.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::sync::Weak;
use core::any::TypeId;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;

use dyn_clone::DynClone;

use super::State;
#[cfg(feature = "std")]
use super::mover::Mover;
use crate::change::Guard;
use crate::machine::seat::Seat;
use crate::machine::state_machine::Tick;
use crate::owner::Owner;
#[cfg(feature = "std")]
use crate::slice::FsmSlice;

/// An owned state: a [`State`] that can be cloned behind its trait object.
trait OwnedState<T: Owner>: State<T> + DynClone {
    fn as_state(&self) -> &dyn State<T>;
    fn as_state_mut(&mut self) -> &mut dyn State<T>;
}

impl<T: Owner, S: State<T> + Clone> OwnedState<T> for S {
    fn as_state(&self) -> &dyn State<T> {
        self
    }

    fn as_state_mut(&mut self) -> &mut dyn State<T> {
        self
    }
}

dyn_clone::clone_trait_object!(<T> OwnedState<T> where T: Owner);

/// A reference to a state: a singleton, a state that many owners share, or an owner's own state.
///
/// | made from | the state is | to change to the same state again |
/// |---|---|---|
/// | `&Idle`, a `static`, `&'static dyn State<T>` | a singleton | write `&Idle` again |
/// | `Arc<S>` | one object shared by many owners, such as a state read from a file | clone the `StateRef` |
/// | `Box<S>` where `S: Clone` | an owner's own state, with its own data | clone the `StateRef` |
///
/// Creating or cloning a reference to a singleton costs nothing. Creating a reference from an `Arc` or a `Box` allocates memory;
/// cloning such a reference increments a reference count. If changes are frequent, store the `StateRef` rather than the `Arc`.
///
/// # Identity
///
/// Two references are equal when they refer to the same state ([rule 17](crate::docs::semantics#rule-17)): the concrete type
/// is the same and, for a type whose size is not zero, so is the object.
///
/// # Examples
///
/// ```
/// use demeanor::{Owner, State, StateRef};
/// struct Guard;
/// impl Owner for Guard { type Context<'a> = (); type Message = (); }
///
/// struct Idle;
/// impl State<Guard> for Idle {}
///
/// #[derive(Clone)]
/// struct Patrol { route: Vec<(i32, i32)> }
/// impl State<Guard> for Patrol {}
///
/// let idle: StateRef<Guard> = (&Idle).into();
/// assert_eq!(idle, StateRef::from(&Idle));
/// assert_eq!(idle.name(), "Idle");
///
/// let north = StateRef::<Guard>::from(Box::new(Patrol { route: vec![(0, 9)] }));
/// let south = StateRef::<Guard>::from(Box::new(Patrol { route: vec![(0, -9)] }));
/// assert_eq!(north, north.clone());
/// assert_ne!(north, south);
/// assert_eq!(south.downcast_ref::<Patrol>().unwrap().route, [(0, -9)]);
/// ```
pub struct StateRef<T: Owner>(Repr<T>);

/// A `Repr` takes only two words, because the vtable pointer also tells the variants apart. The size matters, because a machine
/// holds three: for the current, the previous and the global state.
enum Repr<T: Owner> {
    Singleton(&'static dyn State<T>),
    Held(Option<Arc<Held<T>>>),
}

enum Held<T: Owner> {
    /// A state that is a [`Delegate`] has a second reference.
    Shared(Arc<dyn State<T>>, Option<Arc<dyn Delegate<T>>>),
    Owned(Box<dyn OwnedState<T>>),
}

/// A shared state of which more is known, so that less work has to be done for its callbacks.
pub(crate) trait Delegate<T: Owner>: Send + Sync {
    /// If a callback does nothing but call the same callback of another state, returns that other state; [`StateRef::NONE`] if
    /// the callback does nothing at all. `None` if it does more. A batch calls the callback of the other state for many owners
    /// at once.
    fn delegate(&self, callback: Callback) -> Option<StateRef<T>>;
    /// If an update does nothing but request at most one change, returns the target of this change; [`StateRef::NONE`] if it
    /// requests none. `None` if the update may do more, and must be called. The state is active in the seat at this depth. The
    /// machine has no global state and no open regions, and no request is pending.
    fn decide(&self, seat: &Seat<T>, depth: usize, owner: &mut T, cx: &mut T::Context<'_>) -> Option<StateRef<T>>;
    /// Returns the function that runs a tick of a machine in this state.
    fn tick(&self) -> Tick<T>;
}

/// A callback that a batch calls for many owners at once.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "std"), expect(dead_code, reason = "only a batch has many owners"))]
pub(crate) enum Callback {
    Guard(Guard),
    Exit,
    Enter,
}

/// A reference that does not keep its state alive. The graph of a definition refers to its states in this way, because the
/// states keep the graph alive: ordinary references would form a cycle, and nothing would be dropped.
pub(crate) struct WeakStateRef<T: Owner>(Weak<Held<T>>);

impl<T: Owner> WeakStateRef<T> {
    /// Returns a reference to the state, if the state still exists.
    #[inline]
    pub(crate) fn upgrade(&self) -> Option<StateRef<T>> {
        self.0.upgrade().map(|held| StateRef(Repr::Held(Some(held))))
    }
}

/// The state to which [`StateRef::NONE`] dereferences. It does nothing.
struct Nowhere;
impl<T: Owner> State<T> for Nowhere {}

impl<T: Owner> StateRef<T> {
    /// No state. This value never leaves the crate: public methods return `Option<&StateRef<T>>`.
    pub(crate) const NONE: Self = Self(Repr::Held(None));

    pub(crate) fn as_option(&self) -> Option<&Self> {
        (!self.is_none()).then_some(self)
    }

    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        matches!(self.0, Repr::Held(None))
    }

    /// Returns the singleton, if this refers to one. Copying the returned reference costs nothing.
    #[inline]
    pub(crate) fn as_singleton(&self) -> Option<&'static dyn State<T>> {
        match self.0 {
            Repr::Singleton(state) => Some(state),
            Repr::Held(_) => None,
        }
    }

    /// Returns the singleton, or else the reference itself.
    #[inline]
    pub(crate) fn into_singleton(self) -> Result<&'static dyn State<T>, Self> {
        match self.0 {
            Repr::Singleton(state) => Ok(state),
            held @ Repr::Held(_) => Err(Self(held)),
        }
    }

    /// Returns whether dropping the reference can run code of the game: the `Drop` of its state.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        matches!(self.0, Repr::Held(Some(_)))
    }

    /// Returns whether this is the only reference that keeps the state alive. A singleton is always alive, so the answer is
    /// `false`.
    pub(crate) fn is_unreachable(&self) -> bool {
        match &self.0 {
            Repr::Held(Some(held)) => {
                Arc::strong_count(held) == 1
                    && match &**held {
                        Held::Shared(state, delegate) => {
                            Arc::strong_count(state) == 1 + usize::from(delegate.is_some())
                        }
                        Held::Owned(_) => true,
                    }
            }
            Repr::Singleton(_) | Repr::Held(None) => false,
        }
    }

    /// Returns whether the state can be shared by many owners, and lives only as long as there is a reference to it.
    #[cfg(feature = "std")]
    pub(crate) fn is_shared(&self) -> bool {
        self.is_held() && !self.is_owned()
    }

    #[inline]
    fn state(&self) -> &dyn State<T> {
        match &self.0 {
            Repr::Singleton(state) => *state,
            Repr::Held(held) => Held::state(held),
        }
    }

    /// Returns the state, if it is an owned state of type `S`. If there is another reference to the state, this method first
    /// replaces the state with a clone of it.
    pub(crate) fn owned_mut<S: State<T>>(&mut self) -> Option<&mut S> {
        if !self.is::<S>() {
            return None;
        }
        if !self.is_owned() {
            return None;
        }
        let Repr::Held(Some(held)) = &mut self.0 else { return None };
        match Arc::make_mut(held) {
            Held::Owned(state) => state.as_state_mut().downcast_mut(),
            Held::Shared(..) => None,
        }
    }

    /// Returns a reference that does not keep the state alive. `None` for a singleton, which is never dropped.
    pub(crate) fn downgrade(&self) -> Option<WeakStateRef<T>> {
        match &self.0 {
            Repr::Held(Some(held)) => Some(WeakStateRef(Arc::downgrade(held))),
            _ => None,
        }
    }

    /// Returns whether this is an owner's own state, made from a `Box`. A boxed state of size zero is no such state: it is the
    /// singleton of its type ([rule 17](crate::docs::semantics#rule-17)).
    #[must_use]
    pub fn is_owned(&self) -> bool {
        match &self.0 {
            Repr::Held(Some(held)) => match &**held {
                Held::Owned(state) => size_of_val(state.as_state()) > 0,
                Held::Shared(..) => false,
            },
            _ => false,
        }
    }
}

impl<T: Owner> StateRef<T> {
    #[inline]
    fn as_delegate(&self) -> Option<&dyn Delegate<T>> {
        let Repr::Held(Some(held)) = &self.0 else { return None };
        let Held::Shared(_, Some(delegate)) = &**held else { return None };
        Some(&**delegate)
    }

    /// Does what [`Delegate::tick`] does. Returns `None` if the state is no delegate.
    #[inline]
    pub(crate) fn tick_of_delegate(&self) -> Option<Tick<T>> {
        self.as_delegate().map(Delegate::tick)
    }

    /// Does what [`Delegate::decide`] does. Returns `None` if the state is no delegate.
    #[inline]
    pub(crate) fn decide(&self, seat: &Seat<T>, depth: usize, owner: &mut T, cx: &mut T::Context<'_>) -> Option<Self> {
        self.as_delegate()?.decide(seat, depth, owner, cx)
    }
}

/// Callbacks for many owners. They do what the methods of [`Bulk`](super::Bulk) with the same names do.
#[cfg(feature = "std")]
impl<T: Owner> StateRef<T> {
    /// Creates a reference to a shared state. Some of its callbacks only call the callbacks of another state.
    #[cfg_attr(not(feature = "definition"), expect(dead_code, reason = "only states from files do so"))]
    pub(crate) fn delegating<S: State<T> + Delegate<T>>(state: Arc<S>) -> Self {
        let delegate = Arc::clone(&state);
        Self(Repr::Held(Some(Arc::new(Held::Shared(state, Some(delegate))))))
    }

    #[inline]
    fn delegate(&self, callback: Callback) -> Option<Self> {
        self.as_delegate()?.delegate(callback)
    }

    #[inline]
    pub(crate) fn guard_each(
        &self,
        guard: Guard,
        owners: &[T],
        movers: &[Mover],
        fsm: &mut FsmSlice<'_, T>,
        cx: &T::Context<'_>,
        refuse: &mut dyn FnMut(usize),
    ) {
        let delegate = self.delegate(Callback::Guard(guard));
        delegate.as_ref().unwrap_or(self).state().guard_each(guard, owners, movers, fsm, cx, refuse);
    }

    #[inline]
    pub(crate) fn exit_each(
        &self,
        owners: &mut [T],
        movers: &[Mover],
        fsm: &mut FsmSlice<'_, T>,
        cx: &mut T::Context<'_>,
    ) {
        self.delegate(Callback::Exit).as_ref().unwrap_or(self).state().exit_each(owners, movers, fsm, cx);
    }

    #[inline]
    pub(crate) fn enter_each(
        &self,
        owners: &mut [T],
        movers: &[Mover],
        fsm: &mut FsmSlice<'_, T>,
        cx: &mut T::Context<'_>,
    ) {
        self.delegate(Callback::Enter).as_ref().unwrap_or(self).state().enter_each(owners, movers, fsm, cx);
    }
}

/// The identity of a state: two states are the same if their identities are equal
/// ([rule 17](crate::docs::semantics#rule-17)).
///
/// An identity consists of the state's type and, unless its size is zero, its address. The address of the vtable is not part of
/// it, because one type can have several vtables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Identity {
    pub(crate) type_id: TypeId,
    address: usize,
}

impl Identity {
    #[inline]
    pub(crate) fn of<T: Owner, S: State<T> + ?Sized>(state: &S) -> Self {
        let address = if size_of_val(state) == 0 { 0 } else { core::ptr::from_ref(state).addr() };
        Self { type_id: state.concrete_type(), address }
    }
}

/// Returns whether two states are the same ([rule 17](crate::docs::semantics#rule-17)). The function compares the addresses
/// first: if the size is not zero and the addresses differ, the types need not be compared.
pub(crate) fn same<T: Owner, A: State<T> + ?Sized, B: State<T> + ?Sized>(a: &A, b: &B) -> bool {
    let is_sized = size_of_val(a) != 0;
    let has_same_address = core::ptr::from_ref(a).addr() == core::ptr::from_ref(b).addr();
    (!is_sized || has_same_address) && Identity::of(a) == Identity::of(b)
}

impl<T: Owner> Clone for StateRef<T> {
    #[inline]
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Repr::Singleton(state) => Repr::Singleton(*state),
            Repr::Held(held) => Repr::Held(Held::share(held)),
        })
    }
}

/// These functions are not inlined, because each of the many places that clone or look up a reference would contain a copy.
#[expect(clippy::ref_option, reason = "the check for `None` is not inlined, either")]
impl<T: Owner> Held<T> {
    #[inline(never)]
    fn share(held: &Option<Arc<Self>>) -> Option<Arc<Self>> {
        held.clone()
    }

    #[inline(never)]
    fn state(held: &Option<Arc<Self>>) -> &dyn State<T> {
        match held.as_deref() {
            Some(Self::Shared(state, _)) => &**state,
            Some(Self::Owned(state)) => state.as_state(),
            None => &Nowhere,
        }
    }
}

impl<T: Owner> Clone for Held<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Shared(state, delegate) => Self::Shared(Arc::clone(state), delegate.clone()),
            Self::Owned(state) => Self::Owned(state.clone()),
        }
    }
}

impl<T: Owner> Deref for StateRef<T> {
    type Target = dyn State<T>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        self.state()
    }
}

impl<T: Owner> PartialEq for StateRef<T> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.state(), other.state());
        // If the address and the vtable are the same, so is the type. This comparison is faster.
        core::ptr::eq(a, b) || same(a, b)
    }
}

impl<T: Owner> Eq for StateRef<T> {}

impl<T: Owner> Hash for StateRef<T> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        Identity::of(self.state()).hash(hasher);
    }
}

impl<T: Owner> fmt::Debug for StateRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl<T: Owner> fmt::Display for StateRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name())
    }
}

/// A value that names a state, such as `&Chase` in `fsm.change_state(&Chase)`.
///
/// | written | the state is |
/// |---|---|
/// | `&Chase`, a `static` | a singleton |
/// | an `Arc<S>` | a state that many owners share |
/// | a `Box<S>` where `S: Clone` | the owner's own state |
/// | a [`StateRef`], such as `previous.clone()` | the state to which it refers |
///
/// A machine stores the reference, so the reference must be `'static`. For a unit struct `Chase`, `&Chase` is `'static` wherever
/// it is written. For a state with data that is not a `static`, the compiler reports "does not live long enough".
///
/// # Examples
///
/// ```
/// use demeanor::{Fsm, IntoState, Owner, State, StateMachine};
/// struct Enemy;
/// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
///
/// struct Idle;
/// impl State<Enemy> for Idle {}
///
/// #[derive(Clone)]
/// struct Patrol { route: Vec<(i32, i32)> }
/// impl State<Enemy> for Patrol {}
///
/// /// Changes state, and prints the name of the new state.
/// fn change_aloud(fsm: &mut Fsm<'_, Enemy>, to: impl IntoState<Enemy>) {
///     let to = to.into_state();
///     println!("and now: {to}");
///     fsm.change_state(to);
/// }
///
/// let mut machine = StateMachine::idle();
/// machine.with(&mut Enemy, &mut (), |_, fsm, ()| change_aloud(fsm, &Idle));
/// machine.with(&mut Enemy, &mut (), |_, fsm, ()| change_aloud(fsm, Box::new(Patrol { route: vec![(0, 9)] })));
/// assert_eq!(machine.previous().unwrap().name(), "Idle");
/// assert_eq!(machine.current().unwrap().name(), "Patrol");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a state of `{T}`",
    label = "this does not name a state of `{T}`",
    note = "write `&Idle` for a state without data; its type needs `impl State<{T}> for Idle`",
    note = "write `Box::new(patrol)` for a state with data that belongs to one owner; its type must implement `Clone`, and cannot be `dyn State`",
    note = "write `Arc::new(patrol)` for a state with data that several owners share",
    note = "write `previous.clone()` for a `StateRef` that is borrowed",
    note = "write `definition.state(\"chase\")` for a state of a definition, and unwrap the `Option`"
)]
pub trait IntoState<T: Owner> {
    /// Returns the reference to the state.
    fn into_state(self) -> StateRef<T>;
}

impl<T: Owner> IntoState<T> for StateRef<T> {
    #[inline]
    fn into_state(self) -> Self {
        self
    }
}

impl<T: Owner, S: State<T>> IntoState<T> for &'static S {
    #[inline]
    fn into_state(self) -> StateRef<T> {
        StateRef(Repr::Singleton(self))
    }
}

impl<T: Owner> IntoState<T> for &'static dyn State<T> {
    #[inline]
    fn into_state(self) -> StateRef<T> {
        StateRef(Repr::Singleton(self))
    }
}

impl<T: Owner, S: State<T>> IntoState<T> for Arc<S> {
    fn into_state(self) -> StateRef<T> {
        (self as Arc<dyn State<T>>).into_state()
    }
}

impl<T: Owner> IntoState<T> for Arc<dyn State<T>> {
    fn into_state(self) -> StateRef<T> {
        StateRef(Repr::Held(Some(Arc::new(Held::Shared(self, None)))))
    }
}

// Without this attribute, the compiler says only that a `Box<dyn State<T>>` is not `Clone`.
#[diagnostic::do_not_recommend]
impl<T: Owner, S: State<T> + Clone> IntoState<T> for Box<S> {
    fn into_state(self) -> StateRef<T> {
        StateRef(Repr::Held(Some(Arc::new(Held::Owned(self)))))
    }
}

impl<T: Owner, S: State<T>> From<&'static S> for StateRef<T> {
    fn from(state: &'static S) -> Self {
        state.into_state()
    }
}

impl<T: Owner> From<&'static dyn State<T>> for StateRef<T> {
    fn from(state: &'static dyn State<T>) -> Self {
        state.into_state()
    }
}

impl<T: Owner, S: State<T>> From<Arc<S>> for StateRef<T> {
    fn from(state: Arc<S>) -> Self {
        state.into_state()
    }
}

impl<T: Owner> From<Arc<dyn State<T>>> for StateRef<T> {
    fn from(state: Arc<dyn State<T>>) -> Self {
        state.into_state()
    }
}

impl<T: Owner, S: State<T> + Clone> From<Box<S>> for StateRef<T> {
    fn from(state: Box<S>) -> Self {
        state.into_state()
    }
}
