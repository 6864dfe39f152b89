//! What a state is, how a machine refers to one, and when two references are the same state.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
#[cfg(feature = "definition")]
use alloc::sync::Weak;
use core::any::{Any, TypeId, type_name};
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;

use downcast_rs::{DowncastSync, impl_downcast};
use dyn_clone::DynClone;

use crate::fsm::Fsm;
use crate::owner::Owner;
use crate::slice::{FsmSlice, Mover};

/// One state of an owner's behaviour: what it does on entering, in each tick, and on leaving.
///
/// Every method is provided; write those that the state needs. States take `&self` and are shared by all owners: what
/// belongs to one character lives in the owner. A unit struct is its own singleton: `&Idle` is the same state everywhere
/// it is written.
///
/// The order in which a machine calls what is in `docs/semantics.md`; the rule numbers below are its.
///
/// # Examples
///
/// ```
/// use demeanor::{Fsm, GameTime, Owner, State, StateMachine};
/// use std::time::Duration;
///
/// struct Enemy {
///     rethink: Duration,
/// }
///
/// impl Owner for Enemy {
///     type Context<'a> = GameTime;
///     type Message = ();
/// }
///
/// struct Idle;
/// struct Think;
///
/// impl State<Enemy> for Idle {
///     fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, _: &mut GameTime) {
///         enemy.rethink = Duration::from_secs(5);
///     }
///
///     fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, time: &mut GameTime) {
///         enemy.rethink = enemy.rethink.saturating_sub(time.elapsed());
///         if enemy.rethink.is_zero() {
///             fsm.change_state(&Think);
///         }
///     }
/// }
///
/// impl State<Enemy> for Think {}
///
/// let mut enemy = Enemy { rethink: Duration::ZERO };
/// let mut time = GameTime::new();
/// let mut machine = StateMachine::new(&Idle);
/// machine.start(&mut enemy, &mut time);
/// for _ in 0..5 {
///     assert!(machine.is_in_state(&Idle));
///     time.advance(Duration::from_secs(1));
///     machine.update(&mut enemy, &mut time);
/// }
/// assert!(machine.is_in_state(&Think));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state of `{T}`",
    label = "needs `impl State<{T}> for {Self}`",
    note = "a state is passed as a singleton (`&Idle`), a shared `Arc`, or an owned `Box` whose type is `Clone`"
)]
pub trait State<T: Owner>: DowncastSync {
    /// Called when the owner comes to be in this state: after the old state's [`exit`](Self::exit), or by
    /// [`StateMachine::start`](crate::StateMachine::start). A request made here is carried out after the whole change under
    /// way (rule 12).
    fn enter(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        let _ = (owner, fsm, cx);
    }

    /// Called once a tick: the global's first, then the active path's from the outermost to the innermost (rule 4). A state
    /// entered by its own predecessor's request is first updated in the next tick.
    fn update(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        let _ = (owner, fsm, cx);
    }

    /// Called when the owner leaves this state, before the new state's [`enter`](Self::enter). Current and previous are
    /// both the state being left; a request made here is refused with a warning (rule 12).
    fn exit(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        let _ = (owner, fsm, cx);
    }

    /// Called when a message is offered: to current first, then its ancestors outward, then the global, until one returns
    /// `true` for "handled" (rule 14).
    fn on_message(&self, owner: &mut T, message: &T::Message, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) -> bool {
        let _ = (owner, message, fsm, cx);
        false
    }

    /// Called instead of [`exit`](Self::exit) when another state is pushed over this one. Calls `exit` by default, so that
    /// a state that knows nothing of stacks is right (rule 15).
    fn suspend(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.exit(owner, fsm, cx);
    }

    /// Called instead of [`enter`](Self::enter) when the state pushed over this one is popped. Calls `enter` by default
    /// (rule 15).
    fn resume(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.enter(owner, fsm, cx);
    }

    /// Returns whether the owner may come to be in this state. Asked before anything of a change runs (rule 8).
    fn can_enter(&self, owner: &T, cx: &T::Context<'_>) -> bool {
        let _ = (owner, cx);
        true
    }

    /// Returns whether the owner may leave this state. Asked before anything of a change runs (rule 8).
    fn can_exit(&self, owner: &T, cx: &T::Context<'_>) -> bool {
        let _ = (owner, cx);
        true
    }

    /// Returns the state around this one, whose `update` and `on_message` run too. Constant for a state (rule 6).
    fn parent(&self) -> Option<StateRef<T>> {
        None
    }

    /// Returns the child that is entered when this state is the target of a change. Its [`parent`](Self::parent) must be
    /// this state. Constant for a state (rule 6).
    fn initial(&self) -> Option<StateRef<T>> {
        None
    }

    /// Returns whether this state has neither a parent nor an initial child: one call, where asking would take two.
    #[doc(hidden)]
    fn is_flat(&self) -> bool {
        self.parent().is_none() && self.initial().is_none()
    }

    /// Returns whether a machine remembers which descendant was active last, for
    /// [`resume_state`](crate::Fsm::resume_state). Constant for a state (rule 16).
    fn keeps_history(&self) -> bool {
        false
    }

    /// Returns whether [`update`](Self::update) does nothing, so that a batch may skip this state's owners at no cost.
    fn is_passive(&self) -> bool {
        false
    }

    /// Returns the state's name, for people, logs and files; never for identity. By default the name of the type, without
    /// its path.
    fn name(&self) -> Cow<'_, str> {
        short_name(type_name::<Self>())
    }

    /// Updates many owners of one state; a batch calls it for each chunk of its owners. By default it calls
    /// [`update`](Self::update) on each, in order.
    ///
    /// Override it for work that is faster in bulk. An override updates each owner once, as `update` would, takes the handle
    /// of the `i`-th owner from [`FsmSlice::at`], and must not exchange owners: their keys go by place.
    fn update_all(&self, owners: &mut [T], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>) {
        for (i, owner) in owners.iter_mut().enumerate() {
            self.update(owner, fsm.at(i), cx);
        }
    }

    // What follows is a batch's: one virtual call for many owners, in which the state's own method is inlined. They are not
    // for overriding.

    /// Asks [`can_exit`](Self::can_exit) of `movers[*next..]` in turn. `*next` is the one being asked, and in the end the
    /// one who may not, if any.
    #[doc(hidden)]
    fn can_exit_each(&self, owners: &[T], movers: &[Mover], next: &mut usize, cx: &T::Context<'_>) {
        while let Some(mover) = movers.get(*next) {
            // Never out of bounds; but said so, this loop vanishes where the guard is the provided one.
            if owners.get(mover.slot() as usize).is_some_and(|owner| !self.can_exit(owner, cx)) {
                break;
            }
            *next += 1;
        }
    }

    /// As [`can_exit_each`](Self::can_exit_each), of [`can_enter`](Self::can_enter).
    #[doc(hidden)]
    fn can_enter_each(&self, owners: &[T], movers: &[Mover], next: &mut usize, cx: &T::Context<'_>) {
        while let Some(mover) = movers.get(*next) {
            // Never out of bounds; but said so, this loop vanishes where the guard is the provided one.
            if owners.get(mover.slot() as usize).is_some_and(|owner| !self.can_enter(owner, cx)) {
                break;
            }
            *next += 1;
        }
    }

    /// Calls [`exit`](Self::exit) on each.
    #[doc(hidden)]
    fn exit_each(&self, owners: &mut [T], movers: &[Mover], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>) {
        for mover in movers {
            let slot = mover.slot() as usize;
            self.exit(&mut owners[slot], fsm.at(slot), cx);
        }
    }

    /// Calls [`enter`](Self::enter) on each.
    #[doc(hidden)]
    fn enter_each(&self, owners: &mut [T], movers: &[Mover], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>) {
        for mover in movers {
            let slot = mover.slot() as usize;
            self.enter(&mut owners[slot], fsm.at(slot), cx);
        }
    }
}

impl_downcast!(sync State<T> where T: Owner);

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

/// A reference to a state: a singleton, one that many owners share, or an owner's own.
///
/// | made from | the state is | to change to it again |
/// |---|---|---|
/// | `&Idle`, a `static`, `&'static dyn State<T>` | a singleton | write it again |
/// | `Arc<S>` | one object shared by many owners, such as a state read from a file | clone the `StateRef` |
/// | `Box<S>` where `S: Clone` | an owner's own, with data of its own | clone the `StateRef` |
///
/// Making one from a singleton costs nothing, and so does cloning it. Making one from an `Arc` or a `Box` allocates;
/// cloning counts a reference. Keep the `StateRef`, rather than the `Arc`, where changes are frequent.
///
/// # Identity
///
/// Two references are equal when they are the same state (rule 17): the concrete type is the same and, for a type that has a
/// size, so is the object.
///
/// # Examples
///
/// ```
/// use demeanor::{Owner, State, StateRef};
/// # struct Guard;
/// # impl Owner for Guard { type Context<'a> = (); type Message = (); }
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

/// Two words: the vtable's pointer tells the variants apart. A machine holds three of these, so it matters.
enum Repr<T: Owner> {
    Singleton(&'static dyn State<T>),
    Held(Option<Arc<Held<T>>>),
}

enum Held<T: Owner> {
    Shared(Arc<dyn State<T>>),
    Owned(Box<dyn OwnedState<T>>),
}

/// A reference that does not keep its state: defined states lead to each other in circles.
#[cfg(feature = "definition")]
pub(crate) struct WeakStateRef<T: Owner>(Weak<Held<T>>);

#[cfg(feature = "definition")]
impl<T: Owner> WeakStateRef<T> {
    /// The state, if anybody keeps it.
    #[inline]
    pub(crate) fn upgrade(&self) -> Option<StateRef<T>> {
        self.0.upgrade().map(|held| StateRef(Repr::Held(Some(held))))
    }
}

/// Stands where there is no state.
struct Nowhere;
impl<T: Owner> State<T> for Nowhere {}

impl<T: Owner> StateRef<T> {
    /// No state. Never leaves the crate: what is handed out is `Option<&StateRef<T>>`.
    pub(crate) const NONE: Self = Self(Repr::Held(None));

    pub(crate) fn as_option(&self) -> Option<&Self> {
        (!self.is_none()).then_some(self)
    }

    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        matches!(self.0, Repr::Held(None))
    }

    /// The singleton, if it is one: then the reference is free to copy.
    #[inline]
    pub(crate) fn as_singleton(&self) -> Option<&'static dyn State<T>> {
        match self.0 {
            Repr::Singleton(state) => Some(state),
            Repr::Held(_) => None,
        }
    }

    /// The singleton, or else itself.
    #[inline]
    pub(crate) fn into_singleton(self) -> Result<&'static dyn State<T>, Self> {
        match self.0 {
            Repr::Singleton(state) => Ok(state),
            held @ Repr::Held(_) => Err(Self(held)),
        }
    }

    fn state(&self) -> &dyn State<T> {
        match &self.0 {
            Repr::Singleton(state) => *state,
            Repr::Held(Some(held)) => match &**held {
                Held::Shared(state) => &**state,
                Held::Owned(state) => state.as_state(),
            },
            Repr::Held(None) => &Nowhere,
        }
    }

    /// The owned state of type `S`, cloned first if anybody else refers to it.
    pub(crate) fn owned_mut<S: State<T>>(&mut self) -> Option<&mut S> {
        if !self.is::<S>() {
            return None;
        }
        match &mut self.0 {
            Repr::Held(Some(held)) if matches!(**held, Held::Owned(_)) => match Arc::make_mut(held) {
                Held::Owned(state) => state.as_state_mut().downcast_mut(),
                Held::Shared(_) => None,
            },
            _ => None,
        }
    }

    /// A reference that does not keep the state. A singleton, which nobody keeps, has none.
    #[cfg(feature = "definition")]
    pub(crate) fn downgrade(&self) -> Option<WeakStateRef<T>> {
        match &self.0 {
            Repr::Held(Some(held)) => Some(WeakStateRef(Arc::downgrade(held))),
            _ => None,
        }
    }

    /// Returns whether this is an owner's own state, made from a `Box`.
    #[must_use]
    pub fn is_owned(&self) -> bool {
        matches!(&self.0, Repr::Held(Some(held)) if matches!(**held, Held::Owned(_)))
    }
}

/// What decides whether two states are the same one (rule 17).
///
/// The type, and the address unless the type has no size. A vtable's address is no part of it: one type has several, in
/// several modules.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub(crate) type_id: TypeId,
    address: usize,
}

impl Identity {
    #[inline]
    pub(crate) fn of<T: Owner, S: State<T> + ?Sized>(state: &S) -> Self {
        let address = if size_of_val(state) == 0 { 0 } else { core::ptr::from_ref(state).addr() };
        Self { type_id: Any::type_id(state.as_any()), address }
    }
}

impl<T: Owner> Clone for StateRef<T> {
    #[inline]
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Repr::Singleton(state) => Repr::Singleton(*state),
            Repr::Held(held) => Repr::Held(held.clone()),
        })
    }
}

impl<T: Owner> Clone for Held<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Shared(state) => Self::Shared(Arc::clone(state)),
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
    fn eq(&self, other: &Self) -> bool {
        Identity::of(self.state()) == Identity::of(other.state())
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

impl<T: Owner, S: State<T>> From<&'static S> for StateRef<T> {
    #[inline]
    fn from(state: &'static S) -> Self {
        Self(Repr::Singleton(state))
    }
}

impl<T: Owner> From<&'static dyn State<T>> for StateRef<T> {
    #[inline]
    fn from(state: &'static dyn State<T>) -> Self {
        Self(Repr::Singleton(state))
    }
}

impl<T: Owner, S: State<T>> From<Arc<S>> for StateRef<T> {
    fn from(state: Arc<S>) -> Self {
        Self::from(state as Arc<dyn State<T>>)
    }
}

impl<T: Owner> From<Arc<dyn State<T>>> for StateRef<T> {
    fn from(state: Arc<dyn State<T>>) -> Self {
        Self(Repr::Held(Some(Arc::new(Held::Shared(state)))))
    }
}

impl<T: Owner, S: State<T> + Clone> From<Box<S>> for StateRef<T> {
    fn from(state: Box<S>) -> Self {
        Self(Repr::Held(Some(Arc::new(Held::Owned(state)))))
    }
}

/// The name of a type without the paths in it: `GoTo<Cover>` for `enemy::GoTo<level::Cover>`.
pub(crate) fn short_name(full: &str) -> Cow<'_, str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let plain = full.rsplit("::").next().unwrap_or(full);
    if full.chars().all(|c| is_word(c) || c == ':') {
        return Cow::Borrowed(plain);
    }
    let mut short = String::with_capacity(full.len());
    let mut word_start = 0;
    let mut rest = full.chars().peekable();
    while let Some(c) = rest.next() {
        if c == ':' && rest.peek() == Some(&':') {
            rest.next();
            short.truncate(word_start);
        } else {
            short.push(c);
            if !is_word(c) {
                word_start = short.len();
            }
        }
    }
    Cow::Owned(short)
}

#[cfg(test)]
mod tests {
    use super::short_name;

    #[test]
    fn a_short_name_has_no_paths() {
        assert_eq!(short_name("Idle"), "Idle");
        assert_eq!(short_name("game::enemy::Idle"), "Idle");
        assert_eq!(short_name("game::GoTo<game::level::Cover>"), "GoTo<Cover>");
        assert_eq!(short_name("a::Both<b::C, (d::E, [f::G; 3])>"), "Both<C, (E, [G; 3])>");
        assert_eq!(short_name("a::main::{{closure}}"), "{{closure}}");
    }
}
