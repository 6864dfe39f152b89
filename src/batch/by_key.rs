//! The methods of a machine, called for one owner of a batch by its key, or for all owners.

use std::borrow::Borrow;
use std::sync::Arc;

use super::known::key::SharedPlace;
use super::rows::chunk::PassPart;
use super::{Batch, Key};
use crate::fsm::{Fsm, Request};
use crate::machine::seat::Seat;
#[cfg(doc)]
use crate::machine::state_machine::StateMachine;
use crate::machine::waiting::{Scope, Then};
use crate::owner::{Owner, now};
use crate::state::{IntoState, State};

/// The methods of a [`StateMachine`], by key. For a stale key (a key whose owner has been removed) they do nothing, and return
/// `false` or `None`.
impl<T: Owner> Batch<T> {
    /// Sets the global state, which runs beside each owner's own state, without calling any callback ([rule
    /// 3](crate::docs::semantics#rule-3)).
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Chase);
    /// batch.set_global(&Idle);
    /// assert_eq!(batch.global().unwrap().name(), "Idle");
    /// assert!(!batch.is_in_state(bob, &Idle));
    /// ```
    pub fn set_global(&mut self, global: impl IntoState<T>) {
        self.store.set_global(global.into_state());
    }

    /// Sets the most changes and messages to oneself that one callback of an owner may lead to. If a callback leads to more, this
    /// counts as a cycle ([rule 13](crate::docs::semantics#rule-13)). Without this call, the limit is 4000. 0 counts as 1.
    ///
    /// All owners have this limit. A machine that is added with [`insert_machine`](Self::insert_machine) loses its own limit, and
    /// a machine that [`remove`](Self::remove) returns keeps the limit of the batch. A clone of the batch has the same limit. A
    /// saved batch does not contain the limit.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Fsm, Owner, State};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = u32; type Message = (); }
    ///
    /// struct Turn;
    /// impl State<Enemy> for Turn {
    ///     fn enter(&self, _: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, turns: &mut u32) {
    ///         *turns += 1;
    ///         fsm.change_state(&Turn);
    ///     }
    /// }
    ///
    /// let (mut batch, mut turns) = (Batch::new(), 0);
    /// batch.set_limit(100);
    /// let enemy = batch.insert(Enemy, &Turn);
    /// batch.change_state(enemy, &Turn, &mut turns);
    /// assert_eq!((turns, batch.limit()), (100, 100));
    /// ```
    pub fn set_limit(&mut self, changes: u32) {
        self.store.global.settings.set_limit(changes);
    }

    /// Runs `enter` along an owner's active path, outermost first, and then that of the `initial` children of the current state.
    /// Returns `false` for a stale key. See [`StateMachine::start`].
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/logging_enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy::default(), &Idle);
    /// assert!(batch.start(bob, &mut ()));
    /// assert_eq!(batch.get(bob).unwrap().log, ["enters Idle"]);
    /// ```
    pub fn start(&mut self, key: Key, cx: &mut T::Context<'_>) -> bool {
        self.store.with_single(key, |owner, single| single.start(owner, cx)).is_some()
    }

    /// Runs `exit` along an owner's active path, innermost first. After that the owner has no state. Returns `false` for a stale
    /// key. See [`StateMachine::stop`].
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/logging_enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy::default(), &Idle);
    /// assert!(batch.stop(bob, &mut ()));
    /// assert_eq!(batch.get(bob).unwrap().log, ["exits Idle"]);
    /// assert!(batch.state_of(bob).is_none());
    /// ```
    pub fn stop(&mut self, key: Key, cx: &mut T::Context<'_>) -> bool {
        self.store.with_single(key, |owner, single| single.stop(owner, cx)).is_some()
    }

    /// Runs one tick for one owner: what is due for it, its updates, its changes, and `after_update`. Returns `false` for a stale
    /// key. See [`StateMachine::update`].
    ///
    /// It is for games whose list of characters has an order of its own, such as the order of spawning: the
    /// [cookbook](crate::docs::cookbook#a-list-in-the-order-of-spawning) has a loop in which characters come and go. If you call
    /// this method twice for an owner, the owner has two ticks; if you do not call it, the owner has none ([rule
    /// 19](crate::docs::semantics#rule-19)). [`update`](Self::update) is faster for all owners, and
    /// [`update_in_key_order`](Self::update_in_key_order) updates all of them in the order of their keys.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Fsm, Owner, State};
    ///
    /// struct Enemy(u32);
    /// impl Owner for Enemy { type Context<'a> = Vec<u32>; type Message = (); }
    ///
    /// struct Walk;
    /// impl State<Enemy> for Walk {
    ///     fn update(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, turns: &mut Vec<u32>) { turns.push(enemy.0); }
    /// }
    ///
    /// let mut batch = Batch::new();
    /// let mut enemies: Vec<_> = (0..3).map(|number| batch.insert(Enemy(number), &Walk)).collect();
    /// batch.remove(enemies.remove(0));
    /// enemies.push(batch.insert(Enemy(3), &Walk));
    ///
    /// let mut turns = vec![];
    /// enemies.iter().for_each(|enemy| assert!(batch.update_one(*enemy, &mut turns)));
    /// assert_eq!(turns, [1, 2, 3]);
    ///
    /// // The newest enemy has taken the place of the removed one among the keys.
    /// turns.clear();
    /// batch.update_in_key_order(&mut turns);
    /// assert_eq!(turns, [3, 1, 2]);
    /// ```
    pub fn update_one(&mut self, key: Key, cx: &mut T::Context<'_>) -> bool {
        let Some(place) = self.store.places.get(key).map(SharedPlace::get) else { return false };
        self.store.wake_outdated(place.bucket);
        if self.store.has_turn(key, now::<T>(cx)) {
            self.store.with_single(key, |owner, single| single.tick(owner, cx));
        }
        true
    }

    /// Offers a message to an owner's machine. Returns whether the machine handled it. See [`StateMachine::send`].
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Fsm, Owner, State};
    ///
    /// struct Enemy;
    /// enum Told { Noise }
    /// impl Owner for Enemy { type Context<'a> = (); type Message = Told; }
    /// struct Idle;
    /// struct Chase;
    /// impl State<Enemy> for Idle {
    ///     fn on_message(&self, _: &mut Enemy, _: &Told, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) -> bool {
    ///         fsm.change_state(&Chase);
    ///         true
    ///     }
    /// }
    /// impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert!(batch.send(bob, &Told::Noise, &mut ()));
    /// assert!(batch.is_in_state(bob, &Chase));
    /// // Chase handles no messages.
    /// assert!(!batch.send(bob, &Told::Noise, &mut ()));
    /// ```
    pub fn send(&mut self, key: Key, message: &T::Message, cx: &mut T::Context<'_>) -> bool {
        self.store.with_single(key, |owner, single| single.send(owner, message, cx)).unwrap_or(false)
    }

    /// Offers each message to the machine of one owner, one after the other, in the order of `messages`. Returns how many
    /// messages were handled. A message for a stale key is dropped.
    ///
    /// Everything that one message leads to is complete before the next one is offered, as if each had been sent by
    /// [`send`](Self::send). If a callback panics, the remaining messages are not offered.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Fsm, Owner, State};
    ///
    /// struct Enemy { health: i32 }
    /// struct Hit(i32);
    /// impl Owner for Enemy {
    ///     type Context<'a> = ();
    ///     type Message = Hit;
    /// }
    ///
    /// struct Fight;
    /// struct Dead;
    /// impl State<Enemy> for Fight {
    ///     fn on_message(&self, enemy: &mut Enemy, hit: &Hit, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) -> bool {
    ///         enemy.health -= hit.0;
    ///         if enemy.health <= 0 {
    ///             fsm.change_state(&Dead);
    ///         }
    ///         true
    ///     }
    /// }
    /// impl State<Enemy> for Dead {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy { health: 10 }, &Fight);
    /// let elsa = batch.insert(Enemy { health: 10 }, &Fight);
    /// let handled = batch.send_each([(bob, Hit(4)), (elsa, Hit(5)), (bob, Hit(6)), (bob, Hit(7))], &mut ());
    /// assert_eq!(handled, 3);
    /// assert!(batch.is_in_state(bob, &Dead));
    /// assert_eq!(batch[elsa].health, 5);
    /// ```
    pub fn send_each<M: Borrow<T::Message>>(
        &mut self,
        messages: impl IntoIterator<Item = (Key, M)>,
        cx: &mut T::Context<'_>,
    ) -> usize {
        messages.into_iter().filter(|(key, message)| self.send(*key, message.borrow(), cx)).count()
    }

    /// Offers a message to the machine of every owner, sleeping owners included. The order of the owners is that of
    /// [`update`](Self::update), and in each state the sleeping owners come last. Returns how many machines handled the message.
    ///
    /// If a callback panics, the owners after the panicking one are not offered the message.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Fsm, Owner, State};
    ///
    /// struct Enemy;
    /// enum Told { Noise }
    /// impl Owner for Enemy { type Context<'a> = (); type Message = Told; }
    /// struct Idle;
    /// struct Chase;
    /// impl State<Enemy> for Idle {
    ///     fn on_message(&self, _: &mut Enemy, _: &Told, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) -> bool {
    ///         fsm.change_state(&Chase);
    ///         true
    ///     }
    /// }
    /// impl State<Enemy> for Chase {}
    ///
    /// let mut batch = Batch::new();
    /// batch.insert(Enemy, &Chase);
    /// batch.insert(Enemy, &Idle);
    /// batch.insert(Enemy, &Idle);
    /// assert_eq!(batch.broadcast(&Told::Noise, &mut ()), 2);
    /// assert_eq!(batch.owners_in(&Chase).len(), 3);
    /// ```
    pub fn broadcast(&mut self, message: &T::Message, cx: &mut T::Context<'_>) -> usize {
        // A broadcast that panicked may have left its count here.
        self.pass.outcome.handled = 0;
        self.go_over(PassPart::ALL, true, |pass, chunk| pass.offer(message, chunk, cx));
        self.pass.outcome.handled
    }

    /// Changes an owner's state. Returns whether the change was made. See [`StateMachine::change_state`].
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/logging_enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy::default(), &Idle);
    /// assert!(batch.change_state(bob, &Chase, &mut ()));
    /// assert_eq!(batch.get(bob).unwrap().log, ["exits Idle", "enters Chase"]);
    /// ```
    pub fn change_state(&mut self, key: Key, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::change(to.into_state()), cx)
    }

    /// Changes an owner's state, unless the state is already active. Returns whether the state was already active or the change
    /// was made. See [`StateMachine::ensure_state`].
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert!(batch.ensure_state(bob, &Chase, &mut ()));
    /// assert!(batch.ensure_state(bob, &Chase, &mut ()));
    /// assert_eq!(batch.previous_of(bob).unwrap().name(), "Idle");
    /// ```
    pub fn ensure_state(&mut self, key: Key, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::Ensure(to.into_state()), cx)
    }

    /// Changes an owner's state without calling any `can_exit`. Returns whether the change was made. See
    /// [`StateMachine::force_state`].
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Fsm, Owner, State};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Chase;
    /// impl State<Enemy> for Chase {}
    ///
    /// struct Stagger;
    /// impl State<Enemy> for Stagger {
    ///     fn can_exit(&self, _: &Enemy, _: &Fsm<'_, Enemy>, _: &()) -> bool {
    ///         false
    ///     }
    /// }
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Stagger);
    /// assert!(!batch.change_state(bob, &Chase, &mut ()));
    /// assert!(batch.force_state(bob, &Chase, &mut ()));
    /// ```
    pub fn force_state(&mut self, key: Key, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::Force(to.into_state()), cx)
    }

    /// Changes an owner to its previous state. Returns whether the change was made. See [`StateMachine::revert_state`].
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert!(!batch.revert_state(bob, &mut ()), "there is no previous state");
    /// batch.change_state(bob, &Chase, &mut ());
    /// assert!(batch.revert_state(bob, &mut ()));
    /// assert!(batch.is_in_state(bob, &Idle));
    /// ```
    pub fn revert_state(&mut self, key: Key, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::Revert, cx)
    }

    /// Suspends an owner's current state and enters `over`. Returns whether this was done. See [`StateMachine::push_state`].
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert!(batch.push_state(bob, &Chase, &mut ()));
    /// assert!(batch.is_in_state(bob, &Chase));
    /// ```
    pub fn push_state(&mut self, key: Key, over: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::Push(over.into_state()), cx)
    }

    /// Leaves an owner's current state and resumes the state that is suspended below it. Returns whether this was done. See
    /// [`StateMachine::pop_state`].
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// batch.push_state(bob, &Chase, &mut ());
    /// assert!(batch.pop_state(bob, &mut ()));
    /// assert!(batch.is_in_state(bob, &Idle));
    /// assert!(!batch.pop_state(bob, &mut ()), "nothing is suspended");
    /// ```
    pub fn pop_state(&mut self, key: Key, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::Pop, cx)
    }

    /// Changes an owner to the state that was active last in `composite`. Returns whether the change was made. See
    /// [`StateMachine::resume_state`].
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// use demeanor::StateRef;
    ///
    /// struct Patrol;
    /// struct North;
    /// struct South;
    /// impl State<Enemy> for Patrol {
    ///     fn initial(&self) -> Option<StateRef<Enemy>> { Some((&North).into()) }
    ///     fn keeps_history(&self) -> bool { true }
    /// }
    /// impl State<Enemy> for North {
    ///     fn parent(&self) -> Option<StateRef<Enemy>> { Some((&Patrol).into()) }
    /// }
    /// impl State<Enemy> for South {
    ///     fn parent(&self) -> Option<StateRef<Enemy>> { Some((&Patrol).into()) }
    /// }
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &South);
    /// batch.change_state(bob, &Chase, &mut ());
    /// assert!(batch.resume_state(bob, &Patrol, &mut ()));
    /// assert!(batch.is_in_state(bob, &South));
    /// ```
    pub fn resume_state(&mut self, key: Key, composite: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::Resume(composite.into_state()), cx)
    }

    /// Sets a timer that changes an owner to `to` after a number of seconds. Returns `false` for a stale key. See
    /// [`StateMachine::change_state_after`].
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Owner, State};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy {
    ///     type Context<'a> = f64;
    ///     type Message = ();
    ///
    ///     fn now(seconds: &f64) -> f64 {
    ///         *seconds
    ///     }
    /// }
    /// struct Hide;
    /// struct Attack;
    /// impl State<Enemy> for Hide {}
    /// impl State<Enemy> for Attack {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Hide);
    /// batch.change_state_after(bob, 5.0, &Attack, &mut 0.0);
    ///
    /// batch.update(&mut 4.0);
    /// assert!(batch.is_in_state(bob, &Hide));
    /// batch.update(&mut 5.0);
    /// assert!(batch.is_in_state(bob, &Attack));
    /// ```
    pub fn change_state_after(
        &mut self,
        key: Key,
        seconds: f64,
        to: impl IntoState<T>,
        cx: &mut T::Context<'_>,
    ) -> bool {
        self.execute(key, &Request::after(seconds, Then::Change(to.into_state())), cx)
    }

    /// Requests a change of an owner at the beginning of its next tick. Returns `false` for a stale key. See
    /// [`StateMachine::change_state_next`].
    pub fn change_state_next(&mut self, key: Key, to: impl IntoState<T>, cx: &mut T::Context<'_>) -> bool {
        self.execute(key, &Request::Next(to.into_state()), cx)
    }

    /// Sets a timer that offers a message to an owner's machine after a number of seconds. Returns `false` for a stale key. See
    /// [`StateMachine::send_after`].
    pub fn send_after(&mut self, key: Key, seconds: f64, message: T::Message, cx: &mut T::Context<'_>) -> bool
    where
        T::Message: Send + Sync,
    {
        self.execute(key, &Request::after(seconds, Then::Send(Arc::new(message))), cx)
    }

    /// Sets a timer that offers a message to an owner's machine every so many seconds. Returns `false` for a stale key. See
    /// [`StateMachine::send_every`].
    pub fn send_every(&mut self, key: Key, seconds: f64, message: T::Message, cx: &mut T::Context<'_>) -> bool
    where
        T::Message: Send + Sync,
    {
        self.execute(key, &Request::after(seconds, Then::repeating(seconds, seconds, Arc::new(message))), cx)
    }

    /// Puts an owner to sleep. Returns `false` for a stale key. See [`Fsm::sleep`].
    ///
    /// Sleeping owners are stored apart from awake owners. A tick does not touch them, except to update a global state or to
    /// carry out a timer that is due.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Owner, State};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Idle;
    /// impl State<Enemy> for Idle {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// batch.insert(Enemy, &Idle);
    /// batch.sleep(bob);
    /// assert_eq!((batch.len(), batch.awake()), (2, 1));
    ///
    /// assert!(batch.wake(bob));
    /// assert_eq!(batch.awake(), 2);
    /// ```
    pub fn sleep(&mut self, key: Key) -> bool {
        self.touch(key, |seat| seat.sleep_all_until(f64::INFINITY))
    }

    /// Puts an owner to sleep for a number of seconds. Returns `false` for a stale key. See [`Fsm::sleep_for`].
    pub fn sleep_for(&mut self, key: Key, seconds: f64, cx: &T::Context<'_>) -> bool {
        self.store.with_single(key, |owner, single| single.sleep_all_for(seconds, owner, cx)).is_some()
    }

    /// Wakes an owner. Returns whether it was asleep; `false` for a stale key. See [`StateMachine::wake`].
    pub fn wake(&mut self, key: Key) -> bool {
        let woken = self.store.with_single(key, |_, single| {
            single.is_touched = true;
            single.seat.wake_all()
        });
        woken.unwrap_or(false)
    }

    /// Calls `act` like a callback, with an owner and its handle, and then carries out the requests that `act` has made. Returns
    /// the result of `act`, or `None` for a stale key. See [`StateMachine::with`].
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/logging_enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy::default(), &Idle);
    /// let was_idle = batch.with(bob, &mut (), |_, fsm, ()| {
    ///     fsm.change_state(&Chase);
    ///     fsm.is_in_state(&Idle)
    /// });
    /// assert_eq!(was_idle, Some(true));
    /// assert_eq!(batch.get(bob).unwrap().log, ["exits Idle", "enters Chase"]);
    /// ```
    pub fn with<R>(
        &mut self,
        key: Key,
        cx: &mut T::Context<'_>,
        act: impl FnOnce(&mut T, &mut Fsm<'_, T>, &mut T::Context<'_>) -> R,
    ) -> Option<R> {
        self.store.with_single(key, |owner, single| {
            single.scope = Scope::Machine;
            let result = act(owner, &mut single.fsm(), cx);
            single.settle_callback(owner, cx);
            result
        })
    }

    /// Sets an owner's current state without calling any callback. Returns `false` for a stale key.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/logging_enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy::default(), &Idle);
    /// assert!(batch.set_current(bob, &Chase));
    /// assert!(batch.is_in_state(bob, &Chase));
    /// assert!(batch.get(bob).unwrap().log.is_empty());
    /// ```
    pub fn set_current(&mut self, key: Key, current: impl IntoState<T>) -> bool {
        let current = current.into_state();
        self.touch(key, |seat| seat.place(&current))
    }

    /// Sets an owner's previous state without calling any callback. Returns `false` for a stale key.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Chase);
    /// assert!(batch.set_previous(bob, &Idle));
    /// assert_eq!(batch.previous_of(bob).unwrap().name(), "Idle");
    /// ```
    pub fn set_previous(&mut self, key: Key, previous: impl IntoState<T>) -> bool {
        let previous = previous.into_state();
        self.touch(key, |seat| seat.previous = previous)
    }

    /// Returns an owner's current state for editing, if it is an owned state of type `S`. See [`StateMachine::current_mut`].
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// #[derive(Clone)]
    /// struct Patrol { stops: Vec<u32> }
    /// impl State<Enemy> for Patrol {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, Box::new(Patrol { stops: vec![1, 2] }));
    /// batch.current_mut::<Patrol>(bob).unwrap().stops.push(3);
    /// assert_eq!(batch.state_of(bob).unwrap().downcast_ref::<Patrol>().unwrap().stops, [1, 2, 3]);
    /// assert!(batch.current_mut::<Idle>(bob).is_none());
    /// ```
    pub fn current_mut<S: State<T>>(&mut self, key: Key) -> Option<&mut S> {
        self.store.own_state_mut(key)?.owned_mut()
    }

    /// Changes an owner's seat, without calling any callback. Returns `false` for a stale key.
    fn touch(&mut self, key: Key, act: impl FnOnce(&mut Seat<T>)) -> bool {
        let touched = self.store.with_single(key, |_, single| {
            single.is_touched = true;
            act(single.seat);
        });
        touched.is_some()
    }

    fn execute(&mut self, key: Key, request: &Request<T>, cx: &mut T::Context<'_>) -> bool {
        self.store.with_single(key, |owner, single| single.execute_alone(request, owner, cx)).unwrap_or(false)
    }
}
