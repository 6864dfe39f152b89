//! What a state is: the trait that a game implements, and what a machine refers to a state by.

mod bulk;
mod name;
mod reference;

use alloc::borrow::Cow;
use core::any::type_name;

use downcast_rs::{DowncastSync, impl_downcast};

pub(crate) use self::bulk::Bulk;
#[cfg(feature = "std")]
pub(crate) use self::bulk::Mover;
pub(crate) use self::name::short_name;
#[cfg(feature = "definition")]
pub(crate) use self::reference::WeakStateRef;
pub(crate) use self::reference::{Identity, same};
pub use self::reference::{IntoState, StateRef};
use crate::fsm::Fsm;
use crate::owner::Owner;
use crate::slice::FsmSlice;

/// One state of an owner's behavior: what it does on entering, in each tick, and on leaving.
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
    label = "needs `impl State<{T}> for {Self}`"
)]
pub trait State<T: Owner>:
    // All owners share a state, on all threads: what changes, such as a `Cell`, belongs in the owner.
    Send + Sync + 'static + DowncastSync + Bulk<T>
{
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
    ///
    /// The handle answers every query: where the owner is, for how long, and [where it is about to go](Fsm::target).
    fn can_enter(&self, owner: &T, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
        let _ = (owner, fsm, cx);
        true
    }

    /// Returns whether the owner may leave this state. Asked before anything of a change runs (rule 8);
    /// [`force_state`](Fsm::force_state) does not ask.
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
        let _ = (owner, fsm, cx);
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

    /// Returns whether a machine remembers which descendant was active last, for
    /// [`resume_state`](crate::Fsm::resume_state). Constant for a state (rule 16).
    fn keeps_history(&self) -> bool {
        false
    }

    /// Returns whether [`update`](Self::update) has nothing to do: then it is never called, and a batch skips this state's
    /// owners at no cost. Constant for a state (rule 4).
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
}

impl_downcast!(sync State<T> where T: Owner);
