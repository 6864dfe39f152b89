//! One owner's machine while it runs: its seat, and what its callbacks have asked for.

use core::mem;

use super::idle::Quiet;
use super::observer::Observer;
use super::requests::Requests;
use super::seat::{Seat, SeatLoan};
use super::waiting::Scope;
use crate::fsm::{ActOnSeat, Fsm, Machines, Order, Request, View};
use crate::owner::Owner;
use crate::state::{State, StateRef};

#[expect(clippy::struct_excessive_bools, reason = "they have nothing to do with each other, and are set in one store")]
pub(crate) struct Single<'a, T: Owner> {
    pub(crate) seat: &'a mut Seat<T>,
    /// `StateRef::NONE` when there is none.
    pub(crate) global: &'a StateRef<T>,
    pub(crate) requests: Requests<T>,
    /// Where the change under way leads to; `StateRef::NONE` when none is.
    pub(crate) target: StateRef<T>,
    /// Whether an `exit` or `suspend` is running.
    pub(crate) exiting: bool,
    /// Whether requests wait until that is over.
    pub(crate) has_waiting: bool,
    /// How many changes and messages to oneself the outermost callback has led to; and in the highest bit, whether a request of
    /// it to sleep has had its turn. In one number, so that whether there is anything to settle is one look.
    pub(crate) count: u32,
    /// How many changes have been made since the machine began to run. A number rather than a flag, so that it is set to 0 in
    /// one store with the one before it.
    pub(crate) made: u32,
    /// How many of the active states, from the outermost, no change has left since the last message was offered.
    pub(crate) kept: usize,
    /// The state whose callback is running.
    pub(crate) scope: Scope,
    /// Whether the seat may have changed: since an exit has begun, or a start.
    pub(crate) is_touched: bool,
    /// Whether a guard has refused a change.
    pub(crate) has_refused: bool,
    pub(crate) observer: Option<&'a mut dyn Observer<T>>,
    /// What its states have said of ticks in which they have nothing to do.
    pub(crate) quiet: Quiet,
}

/// See [`Single::count`].
pub(crate) const ASKED_TO_SLEEP: u32 = 1 << 31;

impl<'a, T: Owner> Single<'a, T> {
    #[inline]
    pub(crate) fn new(seat: &'a mut Seat<T>, global: &'a StateRef<T>) -> Self {
        Self {
            seat,
            global,
            requests: Requests::new(),
            target: StateRef::NONE,
            exiting: false,
            has_waiting: false,
            count: 0,
            made: 0,
            kept: 0,
            scope: Scope::State(0),
            is_touched: false,
            has_refused: false,
            observer: None,
            quiet: Quiet::NONE,
        }
    }

    /// Tells the observer that the machine is in another state.
    #[inline]
    pub(crate) fn show(&mut self, cx: &mut T::Context<'_>) {
        if let Some(observer) = &mut self.observer {
            observer.moved(self.seat, cx);
        }
    }

    /// How many changes and messages to oneself the outermost callback has led to.
    #[inline]
    pub(crate) fn led_to(&self) -> u32 {
        self.count & !ASKED_TO_SLEEP
    }

    /// The handle for a callback.
    #[inline]
    pub(crate) fn fsm(&mut self) -> Fsm<'_, T> {
        debug_assert!(self.seat.is_whole(), "a machine keeps what belongs to no state of it");
        Fsm::new(self, 0)
    }
}

impl<T: Owner> Single<'_, T> {
    /// Drops all that is asked for and not carried out yet: after a panic, or a cycle.
    pub(crate) fn forget_requests(&mut self) {
        self.count &= !ASKED_TO_SLEEP;
        if let Some(rare) = &mut self.seat.rare {
            rare.waiting.take_wanted();
        }
        self.requests = Requests::new();
    }
}

/// What runs within a call of a callback. A change may be under way around it, which has its target again afterwards; and the
/// callback may catch a panic that it has caused.
struct WithinCallback<'s, 'a, T: Owner> {
    single: &'s mut Single<'a, T>,
    target: StateRef<T>,
    made: u32,
    kept: usize,
    scope: Scope,
    exiting: bool,
}

impl<'s, 'a, T: Owner> WithinCallback<'s, 'a, T> {
    fn new(single: &'s mut Single<'a, T>) -> Self {
        let target = mem::replace(&mut single.target, StateRef::NONE);
        let kept = mem::replace(&mut single.kept, usize::MAX);
        let (made, exiting, scope) = (single.made, single.exiting, single.scope);
        Self { single, target, made, kept, scope, exiting }
    }

    fn end(mut self) {
        self.go_back();
        mem::forget(self);
    }

    /// Back to the callback. A change made at once has cut the one around it short, and may have left the callback's state.
    fn go_back(&mut self) {
        let Self { single, target, made, kept, scope, .. } = self;
        let target = mem::replace(target, StateRef::NONE);
        single.target = if single.made == *made { target } else { StateRef::NONE };
        single.scope = if scope.ends_with(single.kept) { Scope::Left } else { *scope };
        single.kept = single.kept.min(*kept);
    }
}

/// After a panic, which the callback may catch.
impl<T: Owner> Drop for WithinCallback<'_, '_, T> {
    fn drop(&mut self) {
        self.go_back();
        self.single.exiting = self.exiting;
        self.single.forget_requests();
    }
}

/// A seat that a callback has lent. When this is dropped, the machine learns what has happened to it, after a panic, too.
struct Loan<'s, 'a, T: Owner> {
    single: &'s mut Single<'a, T>,
    /// What was noted of the loan around this one.
    outer: Option<SeatLoan>,
}

impl<'s, 'a, T: Owner> Loan<'s, 'a, T> {
    fn begin(single: &'s mut Single<'a, T>) -> Self {
        let outer = single.seat.begin_loan(single.exiting);
        Self { single, outer }
    }
}

impl<T: Owner> Drop for Loan<'_, '_, T> {
    fn drop(&mut self) {
        let (made, kept) = self.single.seat.end_loan(self.outer.take());
        self.single.changed_while_lent(made, kept);
    }
}

impl<T: Owner> Machines<T> for Single<'_, T> {
    fn ask_singleton(&mut self, _: usize, to: &'static dyn State<T>) {
        self.requests.push(Request::ChangeSingleton(to));
    }

    fn ask(&mut self, _: usize, request: Request<T>) {
        let request = request.of(self.scope);
        if !self.exiting {
            self.seat.note(&request);
        }
        self.requests.push(request);
    }

    fn withdraw_changes(&mut self, _: usize) {
        if !self.exiting {
            self.requests.withdraw(Request::is_change);
        }
    }

    fn withdraw_all(&mut self, _: usize) {
        if !self.exiting {
            self.requests.withdraw_all(&mut self.count, self.seat);
        }
    }

    fn execute_now(
        &mut self,
        _: usize,
        order: Order,
        request: &Request<T>,
        owner: &mut T,
        cx: &mut T::Context<'_>,
    ) -> bool {
        let now = WithinCallback::new(self);
        let is_done = now.single.execute_now(order, request, owner, cx);
        now.end();
        is_done
    }

    fn send_now(
        &mut self,
        _: usize,
        order: Order,
        owner: &mut T,
        message: &T::Message,
        cx: &mut T::Context<'_>,
    ) -> bool {
        let now = WithinCallback::new(self);
        let is_handled = now.single.send_now(order, owner, message, cx);
        now.end();
        is_handled
    }

    fn seat(&self, _: usize) -> Option<&Seat<T>> {
        Some(self.seat)
    }

    fn lend(&mut self, _: usize, owner: &mut T, cx: &mut T::Context<'_>, act: ActOnSeat<'_, T>) {
        let now = WithinCallback::new(self);
        if !now.single.exiting {
            now.single.settle(owner, cx);
        }
        let loan = Loan::begin(now.single);
        act(owner, loan.single.seat, loan.single.global, cx);
        drop(loan);
        now.end();
    }

    fn view(&self, _: usize) -> View<'_, T> {
        self.seat.view(&self.target)
    }

    fn noted(&self, _: usize, by: Scope, key: u32) -> Option<f64> {
        self.seat.rare.as_ref()?.waiting.timers.noted(by, key)
    }

    fn asks_for_change(&self, _: usize) -> bool {
        self.requests.ask_for_change()
    }

    fn be_quiet(&mut self, _: usize, seconds: f64, revision: usize) {
        self.quiet.note(self.seat, self.scope, seconds, revision);
    }

    fn global(&self) -> &StateRef<T> {
        self.global
    }

    fn has_requests(&self, _: usize) -> bool {
        // What an exit asks for is refused.
        if self.exiting { self.has_waiting } else { !self.requests.is_empty() }
    }
}
