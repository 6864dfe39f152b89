//! The trait that a game implements for its states, and the reference through which a machine holds a state.

// This folder is part of the layer `machine`, because states, the handle `Fsm` and the machine name each other in their
// signatures. They do not know files, batches, casts or saved data.

mod mover;
mod name;
mod reference;

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::any::{TypeId, type_name};
use core::mem;

use downcast_rs::{DowncastSync, impl_downcast};

#[cfg(feature = "std")]
pub(crate) use self::mover::Kind;
pub(crate) use self::mover::Mover;
pub(crate) use self::name::short_name;
#[cfg(any(feature = "std", feature = "serde"))]
pub(crate) use self::reference::Identity;
#[cfg(feature = "definition")]
pub(crate) use self::reference::{Callback, Delegate};
pub use self::reference::{IntoState, StateRef};
pub(crate) use self::reference::{WeakStateRef, same};
use crate::change::Guard;
use crate::fsm::Fsm;
use crate::owner::Owner;
use crate::slice::FsmSlice;

/// One state of an owner's behavior: the code for entering it, for each tick in it, and for leaving it.
///
/// Every method has a default; write the methods that the state needs. The methods take `&self`, because many owners share the
/// state. The data of one owner belongs in the owner. A unit struct is a singleton: `&Idle` is the same state wherever it is
/// written.
///
/// # Order of calls
///
/// | when | calls |
/// |---|---|
/// | in a tick | `update` of the global state, then of the active states, the outermost first |
/// | at a change | `can_exit`, the innermost first, and `can_enter`, the outermost first; if all of them return `true`, `exit`, the innermost first, and `enter`, the outermost first |
/// | at a message | `on_message` of the current state, then of its ancestors, then of the global state, until one returns `true` |
/// | at a push | `can_enter` of the new states; then `suspend` of the active states, and `enter` of the new states |
/// | at a pop | `can_exit` of the active states; then their `exit`, and `resume` of the suspended states |
///
/// The requests of a callback are carried out when it has returned; the requests of `enter`, when the change is complete. [The
/// rules](crate::docs::semantics) have the details.
///
/// # Panics
///
/// A panic in a method reaches the caller of the machine's method. [Rule 22](crate::docs::semantics#rule-22) says in which state
/// the owner is then.
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
    note = "write `&*state` for a `StateRef`, such as one of a definition"
)]
#[expect(unused_variables, reason = "the provided methods do nothing, and their arguments have names for the docs")]
pub trait State<T: Owner>:
    // Many owners share a state, on all threads. Data that changes, such as a `Cell`, belongs in the owner.
    Send + Sync + 'static + DowncastSync + Bulk<T>
{
    /// Called when the owner enters this state: after the old state's [`exit`](Self::exit), or by
    /// [`StateMachine::start`](crate::StateMachine::start). A request made here is carried out when the current change is
    /// complete ([rule 12](crate::docs::semantics#rule-12)).
    fn enter(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {}

    /// Called once a tick: on the global state first, then on the active states from the outermost to the innermost
    /// ([rule 4](crate::docs::semantics#rule-4)). If the current state requests a change here, the `update` of the new
    /// state runs in the next tick for the first time.
    fn update(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {}

    /// Called when the owner leaves this state, before the new state's [`enter`](Self::enter). The current and the
    /// previous state are both the state being left. A request made here is refused with a warning
    /// ([rule 12](crate::docs::semantics#rule-12)).
    fn exit(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {}

    /// Called when a message is offered: on the current state first, then on its ancestors, innermost first, then on the
    /// global state, until one of them returns `true` for "handled" ([rule 14](crate::docs::semantics#rule-14)).
    ///
    /// To answer with more than `true`, set [a field of the message](crate::docs::cookbook#an-answer-to-a-message).
    fn on_message(&self, owner: &mut T, message: &T::Message, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) -> bool {
        false
    }

    /// Called instead of [`exit`](Self::exit) when another state is pushed over this one. By default it calls `exit`,
    /// which suits a state that does the same when it is suspended as when it is left
    /// ([rule 15](crate::docs::semantics#rule-15)).
    fn suspend(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.exit(owner, fsm, cx);
    }

    /// Called instead of [`enter`](Self::enter) when the state that was pushed over this one is popped. By default it
    /// calls `enter` ([rule 15](crate::docs::semantics#rule-15)).
    fn resume(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.enter(owner, fsm, cx);
    }

    /// Returns whether the owner may enter this state. Called before any callback of a change runs
    /// ([rule 8](crate::docs::semantics#rule-8)). A start and a [pop](Fsm::pop_state) do not call it.
    ///
    /// Every query of the handle works here: which states are active, for how long, and [where the change
    /// leads](Fsm::target).
    ///
    /// # Examples
    ///
    /// An ambush can be entered only from cover:
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// struct Cover;
    /// struct Wander;
    /// struct Ambush;
    /// impl State<Enemy> for Cover {}
    /// impl State<Enemy> for Wander {}
    /// impl State<Enemy> for Ambush {
    ///     fn can_enter(&self, _: &Enemy, fsm: &Fsm<'_, Enemy>, _: &()) -> bool {
    ///         fsm.is_in_state(&Cover)
    ///     }
    /// }
    ///
    /// let mut machine = StateMachine::new(&Wander);
    /// assert!(!machine.change_state(&mut Enemy, &Ambush, &mut ()));
    /// machine.change_state(&mut Enemy, &Cover, &mut ());
    /// assert!(machine.change_state(&mut Enemy, &Ambush, &mut ()));
    /// ```
    fn can_enter(&self, owner: &T, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
        true
    }

    /// Returns whether the owner may leave this state. Called before any callback of a change runs
    /// ([rule 8](crate::docs::semantics#rule-8)). [`force_state`](Fsm::force_state), [`push_state`](Fsm::push_state) and
    /// [`stop`](crate::StateMachine::stop) do not call it.
    ///
    /// # Examples
    ///
    /// A stagger lasts half a second, unless the owner dies:
    ///
    /// ```
    /// use demeanor::{Fsm, GameTime, Owner, State, StateMachine};
    /// use std::time::Duration;
    ///
    /// struct Enemy;
    /// impl Owner for Enemy {
    ///     type Context<'a> = GameTime;
    ///     type Message = ();
    ///
    ///     fn now(time: &GameTime) -> f64 {
    ///         time.total().as_secs_f64()
    ///     }
    /// }
    ///
    /// struct Stagger;
    /// struct Attack;
    /// struct Dead;
    /// impl State<Enemy> for Attack {}
    /// impl State<Enemy> for Dead {}
    /// impl State<Enemy> for Stagger {
    ///     fn can_exit(&self, _: &Enemy, fsm: &Fsm<'_, Enemy>, time: &GameTime) -> bool {
    ///         fsm.time_in_state(time) >= 0.5 || fsm.target().is_some_and(|to| to.is::<Dead>())
    ///     }
    /// }
    ///
    /// let (mut enemy, mut time) = (Enemy, GameTime::new());
    /// let mut machine = StateMachine::new(&Stagger);
    /// machine.start(&mut enemy, &mut time);
    /// assert!(!machine.change_state(&mut enemy, &Attack, &mut time));
    /// assert!(machine.change_state(&mut enemy, &Dead, &mut time));
    /// ```
    fn can_exit(&self, owner: &T, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
        true
    }

    /// Returns the state that contains this one. While this state is active, so is its parent, whose `update` and `on_message`
    /// run, too. Always return the same parent ([rule 6](crate::docs::semantics#rule-6)).
    fn parent(&self) -> Option<StateRef<T>> {
        None
    }

    /// Returns the child that is entered when a change, or [`start`](crate::StateMachine::start), leads to this state.
    /// The child's [`parent`](Self::parent) must be this state. Always return the same child
    /// ([rule 6](crate::docs::semantics#rule-6)).
    fn initial(&self) -> Option<StateRef<T>> {
        None
    }

    /// Returns the initial state of each region of this state. A state with regions is active together with one child in each
    /// region: legs that walk while arms aim. Override either this method or [`initial`](Self::initial), and always return the
    /// same states ([rule 32](crate::docs::semantics#rule-32)).
    ///
    /// Each state that is returned must have this state as its [`parent`](Self::parent), and its own index in the list as its
    /// [`region`](Self::region). A state may have up to 16 regions. In a batch, the owners in such a state are ticked one by one.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Owner, State, StateMachine, StateRef};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// struct Combat;
    /// struct Walk;
    /// struct Run;
    /// struct Aim;
    /// impl State<Enemy> for Combat {
    ///     fn regions(&self) -> Vec<StateRef<Enemy>> { vec![(&Walk).into(), (&Aim).into()] }
    /// }
    /// impl State<Enemy> for Walk {
    ///     fn parent(&self) -> Option<StateRef<Enemy>> { Some((&Combat).into()) }
    /// }
    /// impl State<Enemy> for Run {
    ///     fn parent(&self) -> Option<StateRef<Enemy>> { Some((&Combat).into()) }
    /// }
    /// impl State<Enemy> for Aim {
    ///     fn parent(&self) -> Option<StateRef<Enemy>> { Some((&Combat).into()) }
    ///     fn region(&self) -> usize { 1 }
    /// }
    ///
    /// let mut machine = StateMachine::new(&Combat);
    /// machine.start(&mut Enemy, &mut ());
    /// machine.change_state(&mut Enemy, &Run, &mut ());
    /// assert!(machine.is_in_state(&Run) && machine.is_in_state(&Aim));
    /// assert_eq!(machine.current().unwrap().name(), "Combat");
    /// ```
    fn regions(&self) -> Vec<StateRef<T>> {
        Vec::new()
    }

    /// Returns the number of the parent's [region](Self::regions) in which this state lies, counted from 0. Always
    /// return the same number ([rule 32](crate::docs::semantics#rule-32)).
    fn region(&self) -> usize {
        0
    }

    /// Returns whether a machine remembers which descendant of this state was current when the state was last left, for
    /// [`resume_state`](crate::Fsm::resume_state). Always return the same value
    /// ([rule 16](crate::docs::semantics#rule-16)).
    fn keeps_history(&self) -> bool {
        false
    }

    /// Returns whether [`update`](Self::update) has nothing to do. Then neither a machine nor a batch ever calls
    /// `update`, and a batch skips this state's owners at no cost. Always return the same value
    /// ([rule 4](crate::docs::semantics#rule-4)).
    fn is_passive(&self) -> bool {
        false
    }

    /// Returns a number that changes whenever the behavior of this state has been replaced. An owner that
    /// [sleeps](Fsm::sleep) in the state then wakes in the next tick ([rule 26](crate::docs::semantics#rule-26)).
    ///
    /// Override it in a state whose data can be replaced while machines run, as a reload replaces a
    /// [definition](crate::docs::definitions). A machine or a batch calls it on the current state, not on its ancestors: when
    /// an owner falls asleep, and at the beginning of each tick while an owner is asleep in the state. By default it always
    /// returns 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Fsm, Owner, State, StateMachine};
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// struct Shop;
    /// impl Owner for Shop { type Context<'a> = (); type Message = (); }
    ///
    /// /// How often the prices have been changed.
    /// static PRICES: AtomicUsize = AtomicUsize::new(0);
    ///
    /// struct Closed;
    /// struct Open;
    /// impl State<Shop> for Open {}
    /// impl State<Shop> for Closed {
    ///     fn update(&self, _: &mut Shop, fsm: &mut Fsm<'_, Shop>, _: &mut ()) {
    ///         if PRICES.load(Ordering::Relaxed) > 0 {
    ///             fsm.change_state(&Open);
    ///         } else {
    ///             fsm.sleep();
    ///         }
    ///     }
    ///
    ///     fn revision(&self) -> usize {
    ///         PRICES.load(Ordering::Relaxed)
    ///     }
    /// }
    ///
    /// let mut machine = StateMachine::new(&Closed);
    /// machine.update(&mut Shop, &mut ());
    /// PRICES.store(1, Ordering::Relaxed);
    /// machine.update(&mut Shop, &mut ());
    /// assert!(machine.is_in_state(&Open));
    /// ```
    fn revision(&self) -> usize {
        0
    }

    /// Returns the state's name, for people, logs and files. States are never compared by name. By default, this is the
    /// name of the type without its path.
    fn name(&self) -> Cow<'_, str> {
        short_name(type_name::<Self>())
    }

    /// Updates many owners that are in this state. A batch calls it for each chunk of these owners. By default it calls
    /// [`update`](Self::update) for each owner, in order.
    ///
    /// Override it for work that is faster in bulk; [`FsmSlice::at`] has an example. An override must update each owner
    /// once, as `update` would, and get the handle of the `i`-th owner from [`FsmSlice::at`]. It must not swap owners in the
    /// slice, because the key of each owner refers to the owner's position.
    fn update_all(&self, owners: &mut [T], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>) {
        for (i, owner) in owners.iter_mut().enumerate() {
            self.update(owner, fsm.at(i), cx);
        }
    }
}

impl_downcast!(sync State<T> where T: Owner);

/// The sealed part of [`State`], implemented once for all states. One virtual call of its methods replaces several calls of the
/// state's own methods, which the compiler inlines.
pub trait Bulk<T: Owner> {
    /// Calls [`update`](State::update). If the state is passive, marks `fsm` as unused instead ([rule
    /// 4](crate::docs::semantics#rule-4)).
    fn tick(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>);

    /// Returns whether this state has regions (rule 32).
    fn has_regions(&self) -> bool;

    /// Returns the concrete type of this state.
    fn concrete_type(&self) -> TypeId;

    /// Returns the place of this state in the hierarchy, compared with a current state that has the parent `parent`.
    fn place(&self, parent: Option<&StateRef<T>>) -> Place;

    /// Asks a guard for each mover, and calls `refuse` with the slot of each mover that the guard refuses. If a guard panics,
    /// `fsm.last()` is the index of the owner for which the guard was asked.
    fn guard_each(
        &self,
        guard: Guard,
        owners: &[T],
        movers: &[Mover],
        fsm: &mut FsmSlice<'_, T>,
        cx: &T::Context<'_>,
        refuse: &mut dyn FnMut(usize),
    );

    /// Calls [`exit`](State::exit) for each mover.
    fn exit_each(&self, owners: &mut [T], movers: &[Mover], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>);

    /// Calls [`enter`](State::enter) for each mover.
    fn enter_each(&self, owners: &mut [T], movers: &[Mover], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>);
}

/// The place of a state in the hierarchy, compared with the current state.
#[derive(Clone, Copy, PartialEq)]
pub enum Place {
    /// The state has neither a parent nor an initial child nor regions.
    Outermost,
    /// The state lies in this region of the current state's parent, and has neither an initial child nor regions.
    Beside(usize),
    /// The state has another parent, or it has an initial child or regions.
    Elsewhere,
}

impl<T: Owner, S: State<T>> Bulk<T> for S {
    fn tick(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        // No code follows the call of `update`, so that the compiler turns the call into a jump, without a stack frame here.
        if self.is_passive() { fsm.mark_unused() } else { self.update(owner, fsm, cx) }
    }

    fn has_regions(&self) -> bool {
        let regions = self.regions();
        let are_any = !regions.is_empty();
        if !are_any {
            // An empty list owns no memory. The compiler does not see this, and would add 20 instructions to each change.
            mem::forget(regions);
        }
        are_any
    }

    fn concrete_type(&self) -> TypeId {
        TypeId::of::<S>()
    }

    fn place(&self, parent: Option<&StateRef<T>>) -> Place {
        if self.has_regions() || self.initial().is_some() {
            return Place::Elsewhere;
        }
        match (self.parent(), parent) {
            (None, _) => Place::Outermost,
            (Some(own), Some(parent)) if own == *parent => Place::Beside(self.region()),
            _ => Place::Elsewhere,
        }
    }

    fn guard_each(
        &self,
        guard: Guard,
        owners: &[T],
        movers: &[Mover],
        fsm: &mut FsmSlice<'_, T>,
        cx: &T::Context<'_>,
        refuse: &mut dyn FnMut(usize),
    ) {
        ask_each(owners, movers, fsm, refuse, |owner, fsm| match guard {
            Guard::CanExit => self.can_exit(owner, fsm, cx),
            Guard::CanEnter => self.can_enter(owner, fsm, cx),
        });
    }

    fn exit_each(&self, owners: &mut [T], movers: &[Mover], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>) {
        call_each(owners, movers, fsm, |owner, fsm| self.exit(owner, fsm, cx));
    }

    fn enter_each(&self, owners: &mut [T], movers: &[Mover], fsm: &mut FsmSlice<'_, T>, cx: &mut T::Context<'_>) {
        call_each(owners, movers, fsm, |owner, fsm| self.enter(owner, fsm, cx));
    }
}

/// Asks `guard` for each mover. A slot is never out of bounds. The loop skips slots that are out of bounds anyway, because the
/// compiler can then remove the whole loop if the guard is the provided one. If indexing could panic, it could not remove the
/// loop. [`call_each`] does the same.
#[inline(always)]
#[expect(clippy::inline_always, reason = "so that a guard or callback that does nothing takes no time")]
fn ask_each<T: Owner>(
    owners: &[T],
    movers: &[Mover],
    fsm: &mut FsmSlice<'_, T>,
    refuse: &mut dyn FnMut(usize),
    guard: impl Fn(&T, &Fsm<'_, T>) -> bool,
) {
    for mover in movers {
        let slot = mover.slot();
        let Some(owner) = owners.get(slot) else { continue };
        if !fsm.with(slot, |fsm| guard(owner, fsm)) {
            refuse(slot);
        }
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "so that a guard or callback that does nothing takes no time")]
fn call_each<T: Owner>(
    owners: &mut [T],
    movers: &[Mover],
    fsm: &mut FsmSlice<'_, T>,
    mut callback: impl FnMut(&mut T, &mut Fsm<'_, T>),
) {
    for mover in movers {
        let slot = mover.slot();
        let Some(owner) = owners.get_mut(slot) else { continue };
        fsm.with(slot, |fsm| callback(owner, fsm));
    }
}
