//! A state whose calls a test expects, with [mockall](https://docs.rs/mockall). It needs the feature `mock`.
//!
//! Use a [`MockState`] wherever a machine takes a state. First, the test says which callbacks it expects, with which arguments
//! and how often, and what they do. An unexpected call panics at once. A missing call panics when the mock is dropped. A
//! machine owns its mock, so **dropping the machine verifies the mock**.
//!
//! The callbacks [`enter`](State::enter), [`update`](State::update), [`exit`](State::exit) and
//! [`on_message`](State::on_message) are always mocked. [`suspend`](State::suspend), [`resume`](State::resume) and the guards
//! [`can_enter`](State::can_enter) and [`can_exit`](State::can_exit) are each mocked as soon as the test expects a call of it.
//! Until then, it is the default method of the trait: the guards allow every change, `suspend` calls `exit`, and `resume` calls
//! `enter`. The other methods are always the default ones, except for the [name](MockState::named). So a mock has no parent.
//!
//! # Examples
//!
//! In this test, the machine changes to a mock:
//!
//! ```
//! use demeanor::mock::MockState;
//! use demeanor::{Fsm, Owner, State, StateMachine};
//!
//! struct Guard {
//!     sees_thief: bool,
//! }
//!
//! impl Owner for Guard {
//!     type Context<'a> = ();
//!     type Message = ();
//! }
//!
//! struct Patrol;
//! impl State<Guard> for Patrol {}
//!
//! let mut chase = MockState::named("Chase");
//! chase.expect_enter().times(1).withf(|guard: &Guard, _, _| guard.sees_thief).return_const(());
//! chase.expect_update().times(2).return_const(());
//!
//! let mut guard = Guard { sees_thief: true };
//! let mut machine = StateMachine::new(&Patrol);
//! machine.change_state(&mut guard, Box::new(chase), &mut ());
//! machine.update(&mut guard, &mut ());
//! machine.update(&mut guard, &mut ());
//! assert_eq!(machine.current().unwrap().name(), "Chase");
//! drop(machine); // Panics if `chase` was not entered once and updated twice.
//! ```
//!
//! A missing call is found when the machine is dropped:
//!
//! ```should_panic
//! use demeanor::mock::MockState;
//! use demeanor::{Owner, StateMachine};
//!
//! struct Guard;
//! impl Owner for Guard { type Context<'a> = (); type Message = (); }
//!
//! let mut patrol = MockState::<Guard>::new();
//! patrol.expect_update().times(1).return_const(());
//!
//! let machine = StateMachine::new(Box::new(patrol));
//! drop(machine); // MockState::update: Expectation(<anything>) called 0 time(s) which is fewer than expected 1
//! ```
//!
//! The test says what a callback does. In this example, the callback requests a change, and a [`Sequence`] checks the order of
//! the calls of both mocks:
//!
//! ```
//! use demeanor::{Owner, StateMachine};
//! use demeanor::StateRef;
//! use demeanor::mock::{MockState, Sequence};
//! struct Guard;
//! impl Owner for Guard { type Context<'a> = (); type Message = (); }
//!
//! let mut order = Sequence::new();
//! let mut patrol = MockState::<Guard>::named("Patrol");
//! let mut chase = MockState::<Guard>::named("Chase");
//! patrol.expect_update().times(1).in_sequence(&mut order).returning(|_, fsm, _| {
//!     let chase = fsm.previous().cloned().unwrap();
//!     fsm.change_state(chase);
//! });
//! patrol.expect_exit().times(1).in_sequence(&mut order).return_const(());
//! chase.expect_enter().times(1).in_sequence(&mut order).return_const(());
//!
//! let mut machine = StateMachine::new(Box::new(patrol));
//! machine.set_previous(Box::new(chase));
//! machine.update(&mut Guard, &mut ());
//! assert_eq!(machine.current().unwrap().name(), "Chase");
//! ```
//!
//! In this test, a mock is pushed over another one. It refuses the first pop and allows the second:
//!
//! ```
//! use demeanor::mock::MockState;
//! use demeanor::{Owner, StateMachine};
//! struct Guard;
//! impl Owner for Guard { type Context<'a> = (); type Message = (); }
//!
//! let mut patrol = MockState::<Guard>::named("Patrol");
//! patrol.expect_suspend().times(1).return_const(());
//! patrol.expect_resume().times(1).return_const(());
//! let mut menu = MockState::<Guard>::named("Menu");
//! menu.expect_enter().times(1).return_const(());
//! menu.expect_can_exit().times(1).return_const(false);
//! menu.expect_can_exit().times(1).return_const(true);
//! menu.expect_exit().times(1).return_const(());
//!
//! let mut machine = StateMachine::new(Box::new(patrol));
//! machine.push_state(&mut Guard, Box::new(menu), &mut ());
//! assert!(!machine.pop_state(&mut Guard, &mut ()));
//! assert!(machine.pop_state(&mut Guard, &mut ()));
//! ```
//!
//! # When a mock is verified
//!
//! A mock is verified when the last reference to it is dropped, or when [`checkpoint`](Expectations::checkpoint) is called. The
//! current, previous and global state of a machine are such references; its stack, history and timers contain others. A
//! vocabulary that has the mock as a behavior contains one, too, and so does each definition that was made with the vocabulary. A
//! clone of a machine or of a [`StateRef`](crate::StateRef) refers to the same mock. If the closures of two mocks contain
//! references to each other, the mocks are never dropped, so they are never verified.
//!
//! The mock itself is cloned only if [`current_mut`](crate::StateMachine::current_mut) is called while the mock is the current
//! state and there is another reference to it. This call must be expected, too (`expect_clone`).
//!
//! # Closures that hold an `Rc`
//!
//! States are `Send + Sync`, and so are mocks. Therefore the closure for `returning` must be `Send`. For a closure that is not
//! `Send`, use `returning_st` of mockall. The owner, its context and its messages need not be `Send` or `Sync`.

use alloc::borrow::Cow;
use core::any::type_name;
use core::ops::{Deref, DerefMut};

use calls::__mock_MockState::{__can_enter, __can_exit, __resume, __suspend};
pub use calls::{ByOwner, MockState as Expectations, Of};
/// The order of calls across several mocks. This is mockall's type.
pub use mockall::Sequence;

use crate::fsm::Fsm;
use crate::owner::Owner;
use crate::state::{State, short_name};

/// A state whose calls a test expects. See the [module](self).
///
/// It dereferences to its [`Expectations`]: `expect_enter`, `expect_update`, `expect_exit`, `expect_on_message`,
/// `expect_clone` and `checkpoint` are found there. The other `expect_` methods are its own.
///
/// # Panics
///
/// An unexpected callback panics. Dropping a mock panics if an expected call is missing, unless the thread is already panicking.
///
/// # Examples
///
/// ```
/// use demeanor::mock::MockState;
/// use demeanor::{Owner, StateMachine};
///
/// struct Door;
/// impl Owner for Door {
///     type Context<'a> = ();
///     type Message = &'static str;
/// }
///
/// let mut closed = MockState::<Door>::new();
/// closed.expect_on_message().withf(|_, message, _, _| *message == "knock").times(1).return_const(true);
/// closed.expect_on_message().times(1).return_const(false);
///
/// let mut machine = StateMachine::new(Box::new(closed));
/// assert!(machine.send(&mut Door, &"knock", &mut ()));
/// assert!(!machine.send(&mut Door, &"push", &mut ()));
/// ```
pub struct MockState<T: Owner> {
    name: Option<&'static str>,
    /// Which methods are mocked besides the four callbacks that are always mocked.
    mocked: Mocked,
    expectations: Expectations<Of<T>>,
}

#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each method is mocked or not")]
struct Mocked {
    suspend: bool,
    resume: bool,
    can_enter: bool,
    can_exit: bool,
}

impl<T: Owner> MockState<T> {
    /// Creates a mock that expects no call.
    #[must_use]
    pub fn new() -> Self {
        Self { name: None, mocked: Mocked::default(), expectations: Expectations::new() }
    }

    /// Creates a mock that expects no call, with a name for logs and traces.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::mock::MockState;
    /// use demeanor::{Owner, State};
    /// struct Guard;
    /// impl Owner for Guard { type Context<'a> = (); type Message = (); }
    ///
    /// assert_eq!(MockState::<Guard>::named("Patrol").name(), "Patrol");
    /// assert_eq!(MockState::<Guard>::new().name(), "MockState<Guard>");
    /// ```
    #[must_use]
    pub fn named(name: &'static str) -> Self {
        Self { name: Some(name), ..Self::new() }
    }

    /// Expects a call of [`State::suspend`]. From now on, `suspend` does not call `exit`, and a call that is not expected panics.
    pub fn expect_suspend(&mut self) -> &mut __suspend::Expectation<Of<T>> {
        self.mocked.suspend = true;
        self.expectations.expect_suspend()
    }

    /// Expects a call of [`State::resume`]. From now on, `resume` does not call `enter`, and a call that is not expected panics.
    pub fn expect_resume(&mut self) -> &mut __resume::Expectation<Of<T>> {
        self.mocked.resume = true;
        self.expectations.expect_resume()
    }

    /// Expects a call of [`State::can_enter`]. The returned expectation sets what the guard returns. From now on, a call that is
    /// not expected panics.
    pub fn expect_can_enter(&mut self) -> &mut __can_enter::Expectation<Of<T>> {
        self.mocked.can_enter = true;
        self.expectations.expect_can_enter()
    }

    /// Expects a call of [`State::can_exit`]. The returned expectation sets what the guard returns. From now on, a call that is
    /// not expected panics.
    pub fn expect_can_exit(&mut self) -> &mut __can_exit::Expectation<Of<T>> {
        self.mocked.can_exit = true;
        self.expectations.expect_can_exit()
    }
}

impl<T: Owner> State<T> for MockState<T> {
    fn enter(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.expectations.enter(owner, fsm, cx);
    }

    fn update(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.expectations.update(owner, fsm, cx);
    }

    fn exit(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        self.expectations.exit(owner, fsm, cx);
    }

    fn on_message(&self, owner: &mut T, message: &T::Message, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) -> bool {
        self.expectations.on_message(owner, message, fsm, cx)
    }

    fn suspend(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        if self.mocked.suspend {
            self.expectations.suspend(owner, fsm, cx);
        } else {
            self.exit(owner, fsm, cx);
        }
    }

    fn resume(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        if self.mocked.resume {
            self.expectations.resume(owner, fsm, cx);
        } else {
            self.enter(owner, fsm, cx);
        }
    }

    fn can_enter(&self, owner: &T, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
        !self.mocked.can_enter || self.expectations.can_enter(owner, fsm, cx)
    }

    fn can_exit(&self, owner: &T, fsm: &Fsm<'_, T>, cx: &T::Context<'_>) -> bool {
        !self.mocked.can_exit || self.expectations.can_exit(owner, fsm, cx)
    }

    fn name(&self) -> Cow<'_, str> {
        self.name.map_or_else(|| short_name(type_name::<Self>()), Cow::Borrowed)
    }
}

/// A mock that expects no call.
impl<T: Owner> Default for MockState<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the state that `expect_clone` was told to return.
impl<T: Owner> Clone for MockState<T> {
    fn clone(&self) -> Self {
        self.expectations.clone()
    }
}

impl<T: Owner> Deref for MockState<T> {
    type Target = Expectations<Of<T>>;

    fn deref(&self) -> &Self::Target {
        &self.expectations
    }
}

impl<T: Owner> DerefMut for MockState<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.expectations
    }
}

/// The mock that mockall generates. The name of this mock appears in mockall's messages. Its type parameter stands for the owner.
mod calls {
    use core::marker::PhantomData;

    use mockall::mock;

    use crate::fsm::Fsm;
    use crate::owner::Owner;

    /// Stands for the owner `T` where a type must be `Send + Sync`, which `T` need not be.
    ///
    /// mockall stores a `PhantomData` of each parameter of a mock, and a state must be `Send + Sync`.
    pub struct Of<T>(PhantomData<fn() -> T>);

    /// Maps an [`Of`] to its owner.
    pub trait ByOwner: Send + Sync + 'static {
        /// The owner.
        type Owner: Owner;
    }

    impl<T: Owner> ByOwner for Of<T> {
        type Owner = T;
    }

    mock! {
        /// The calls that a [`MockState`](super::MockState) expects.
        ///
        /// Each `expect_` method adds an expectation and returns it. Then say how often the callback is called (`times`), with
        /// which arguments (`withf`), in which order (`in_sequence`), and what it does (`returning`, or `return_const(())` for
        /// nothing). Expectations are tried in the order in which they were added.
        pub State<M: ByOwner> {
            /// Takes the call of [`State::enter`](crate::State::enter).
            pub fn enter<'f, 'c>(
                &self,
                owner: &mut M::Owner,
                fsm: &mut Fsm<'f, M::Owner>,
                cx: &mut <M::Owner as Owner>::Context<'c>,
            );

            /// Takes the call of [`State::update`](crate::State::update).
            pub fn update<'f, 'c>(
                &self,
                owner: &mut M::Owner,
                fsm: &mut Fsm<'f, M::Owner>,
                cx: &mut <M::Owner as Owner>::Context<'c>,
            );

            /// Takes the call of [`State::exit`](crate::State::exit).
            pub fn exit<'f, 'c>(
                &self,
                owner: &mut M::Owner,
                fsm: &mut Fsm<'f, M::Owner>,
                cx: &mut <M::Owner as Owner>::Context<'c>,
            );

            /// Takes the call of [`State::on_message`](crate::State::on_message). Returns whether it was handled.
            pub fn on_message<'f, 'c>(
                &self,
                owner: &mut M::Owner,
                message: &<M::Owner as Owner>::Message,
                fsm: &mut Fsm<'f, M::Owner>,
                cx: &mut <M::Owner as Owner>::Context<'c>,
            ) -> bool;

            /// Takes the call of [`State::suspend`](crate::State::suspend).
            pub fn suspend<'f, 'c>(
                &self,
                owner: &mut M::Owner,
                fsm: &mut Fsm<'f, M::Owner>,
                cx: &mut <M::Owner as Owner>::Context<'c>,
            );

            /// Takes the call of [`State::resume`](crate::State::resume).
            pub fn resume<'f, 'c>(
                &self,
                owner: &mut M::Owner,
                fsm: &mut Fsm<'f, M::Owner>,
                cx: &mut <M::Owner as Owner>::Context<'c>,
            );

            /// Takes the call of [`State::can_enter`](crate::State::can_enter).
            pub fn can_enter<'f, 'c>(
                &self,
                owner: &M::Owner,
                fsm: &Fsm<'f, M::Owner>,
                cx: &<M::Owner as Owner>::Context<'c>,
            ) -> bool;

            /// Takes the call of [`State::can_exit`](crate::State::can_exit).
            pub fn can_exit<'f, 'c>(
                &self,
                owner: &M::Owner,
                fsm: &Fsm<'f, M::Owner>,
                cx: &<M::Owner as Owner>::Context<'c>,
            ) -> bool;

            /// Takes the call of the mock's `Clone`.
            pub fn clone(&self) -> super::MockState<M::Owner>;
        }
    }
}
