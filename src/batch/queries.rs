//! Reading a batch: its owners, and the states of their machines.

use std::ops::Range;

use super::{Batch, Key};
use crate::fsm::{View, time_since};
use crate::machine::regions::Tree;
use crate::machine::report::MachineReport;
use crate::machine::seat::Seat;
use crate::machine::waiting::{NextWake, Pending};
use crate::owner::{Owner, now};
use crate::state::{IntoState, State, StateRef};

/// Reading a batch.
impl<T: Owner> Batch<T> {
    /// Returns the number of owners.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// let mut batch = Batch::new();
    /// batch.insert(Enemy, &Idle);
    /// batch.insert(Enemy, &Chase);
    /// assert_eq!(batch.len(), 2);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Returns whether there are no owners.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert!(!batch.is_empty());
    /// batch.remove(bob);
    /// assert!(batch.is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether there is an owner with this key.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert!(batch.contains_key(bob));
    /// batch.remove(bob);
    /// assert!(!batch.contains_key(bob));
    /// ```
    #[must_use]
    pub fn contains_key(&self, key: Key) -> bool {
        self.get(key).is_some()
    }

    /// Returns an owner, or `None` for a stale key.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/named_enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy("Bob"), &Idle);
    /// batch.change_state(bob, &Chase, &mut ());
    /// assert_eq!(batch.get(bob), Some(&Enemy("Bob")));
    /// ```
    #[must_use]
    pub fn get(&self, key: Key) -> Option<&T> {
        self.store.owner(key)
    }

    /// Returns an owner for editing, or `None` for a stale key.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/named_enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy("Bob"), &Idle);
    /// batch.get_mut(bob).unwrap().0 = "Miner Bob";
    /// assert_eq!(batch.get(bob), Some(&Enemy("Miner Bob")));
    /// ```
    pub fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        self.store.owner_mut(key)
    }

    /// Returns the global state, which runs beside each owner's own state.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// let batch = Batch::<Enemy>::new();
    /// assert!(batch.global().is_none());
    /// ```
    #[must_use]
    pub fn global(&self) -> Option<StateRef<T>> {
        self.store.global.settings.global.as_option().cloned()
    }

    /// Returns the most changes and messages to oneself that one callback of an owner may lead to. See
    /// [`set_limit`](Self::set_limit).
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.store.global.settings.limit()
    }

    /// Returns an owner's current state. `None` for a stale key, or when the owner has no state.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert_eq!(batch.state_of(bob).unwrap().name(), "Idle");
    /// ```
    #[must_use]
    pub fn state_of(&self, key: Key) -> Option<&StateRef<T>> {
        self.store.view(key)?.current.as_option()
    }

    /// Returns the state that was current for an owner before the last change. `None` for a stale key, or when there was no such
    /// state.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert!(batch.previous_of(bob).is_none());
    /// batch.change_state(bob, &Chase, &mut ());
    /// assert_eq!(batch.previous_of(bob).unwrap().name(), "Idle");
    /// ```
    #[must_use]
    pub fn previous_of(&self, key: Key) -> Option<&StateRef<T>> {
        self.store.view(key)?.previous.as_option()
    }

    /// Returns whether `state` is active for an owner: whether it is the current state or an ancestor of it. `false`
    /// for a stale key.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert!(batch.is_in_state(bob, &Idle));
    /// assert!(!batch.is_in_state(bob, &Chase));
    /// ```
    #[must_use]
    pub fn is_in_state<S: State<T> + ?Sized>(&self, key: Key, state: &S) -> bool {
        self.store.view(key).is_some_and(|view| view.is_in_state(state))
    }

    /// Returns whether any state of type `S` is active for an owner. `false` for a stale key.
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
    /// assert!(batch.is_in::<Patrol>(bob));
    /// ```
    #[must_use]
    pub fn is_in<S: State<T>>(&self, key: Key) -> bool {
        let is_one = |active: &StateRef<T>| active.is::<S>();
        let has_regions = || self.store.seat(key).is_some_and(|seat| seat.stamp().is_some());
        self.path(key).is_some_and(|mut path| path.any(is_one))
            || has_regions() && self.active_states(key).is_some_and(|mut states| states.any(is_one))
    }

    /// Returns how many owners are awake. The other owners [sleep](crate::Fsm::sleep): a tick does not touch them, except to
    /// update a global state or to carry out a timer that is due.
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
    /// assert_eq!(batch.awake(), 1);
    /// batch.sleep(bob);
    /// assert_eq!(batch.awake(), 0);
    /// ```
    #[must_use]
    pub fn awake(&self) -> usize {
        self.store.buckets.iter().map(|columns| columns.len() - columns.asleep).sum()
    }

    /// Returns when an owner's machine next has something to do. `None` for a stale key. See
    /// [`StateMachine::next_wake`](crate::StateMachine::next_wake).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, NextWake, Owner, State};
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
    /// struct Idle;
    /// impl State<Enemy> for Idle {}
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// assert_eq!(batch.next_wake(bob), Some(NextWake::EveryTick));
    /// batch.sleep_for(bob, 2.5, &10.0);
    /// // After 12.5 seconds, less the tolerance with which times are compared.
    /// assert!(matches!(batch.next_wake(bob), Some(NextWake::At(seconds)) if (12.499..=12.5).contains(&seconds)));
    /// ```
    #[must_use]
    pub fn next_wake(&self, key: Key) -> Option<NextWake> {
        if let Some(seat) = self.store.seat(key) {
            return Some(seat.next_wake(&self.store.global.settings.global));
        }
        let view = self.store.view(key)?;
        let is_updating = |state: &StateRef<T>| !state.is_passive();
        let is_awake = !self.store.is_asleep(key) || self.store.is_outdated(key);
        let mut path = view.ancestors.iter().chain(view.current.as_option());
        if self.store.global.is_updating || is_awake && path.any(is_updating) {
            return Some(NextWake::EveryTick);
        }
        Some(self.store.timers.next(key).map_or(NextWake::Never, NextWake::of))
    }

    /// Returns how long an owner's current state has been active, in seconds by [`Owner::now`]. Before any state was
    /// entered, the time counts from the clock's 0 ([rule 18](crate::docs::semantics#rule-18)). `None` for a stale key.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, GameTime, Owner, State};
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
    /// struct Idle;
    /// struct Chase;
    /// impl State<Enemy> for Idle {}
    /// impl State<Enemy> for Chase {}
    ///
    /// let mut time = GameTime::new();
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// time.advance(Duration::from_secs(2));
    /// batch.change_state(bob, &Chase, &mut time);
    /// time.advance(Duration::from_secs(3));
    /// assert_eq!(batch.time_in_state(bob, &time), Some(3.0));
    /// ```
    #[must_use]
    pub fn time_in_state(&self, key: Key, cx: &T::Context<'_>) -> Option<f64> {
        Some(time_since(self.store.view(key)?.entered_at, now::<T>(cx)))
    }

    /// Returns how long a state has been active for an owner, in seconds by [`Owner::now`]. `None` if the state is not active,
    /// and for a stale key. The time of an ancestor goes on while the states inside it change ([rule
    /// 18](crate::docs::semantics#rule-18)).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, GameTime, Owner, State};
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
    /// struct Idle;
    /// struct Chase;
    /// impl State<Enemy> for Idle {}
    /// impl State<Enemy> for Chase {}
    ///
    /// let mut time = GameTime::new();
    /// let mut batch = Batch::new();
    /// let bob = batch.spawn(Enemy, &Idle, &mut time);
    /// time.advance(Duration::from_secs(2));
    /// assert_eq!(batch.time_in(bob, &Idle, &time), Some(2.0));
    /// assert_eq!(batch.time_in(bob, &Chase, &time), None);
    /// ```
    #[must_use]
    pub fn time_in<S: State<T> + ?Sized>(&self, key: Key, state: &S, cx: &T::Context<'_>) -> Option<f64> {
        self.store.view(key)?.time_in(state, now::<T>(cx))
    }

    /// Returns an owner's active states, from the outermost ancestor down to the current state. `None` for a stale key.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Owner, State, StateRef};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// struct Combat;
    /// struct Aim;
    /// impl State<Enemy> for Combat {}
    /// impl State<Enemy> for Aim {
    ///     fn parent(&self) -> Option<StateRef<Enemy>> {
    ///         Some((&Combat).into())
    ///     }
    /// }
    ///
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Aim);
    /// let names: Vec<_> = batch.path(bob).unwrap().map(|state| state.name()).collect();
    /// assert_eq!(names, ["Combat", "Aim"]);
    /// ```
    pub fn path(&self, key: Key) -> Option<impl DoubleEndedIterator<Item = &StateRef<T>> + Clone> {
        let View { ancestors, current, .. } = self.store.view(key)?;
        Some(ancestors.iter().chain(current.as_option()))
    }

    /// Returns all active states of an owner: the outermost first, and after a state with regions, the states in its regions,
    /// region by region. `None` for a stale key. See [`StateMachine::active_states`](crate::StateMachine::active_states).
    pub fn active_states(&self, key: Key) -> Option<impl Iterator<Item = &StateRef<T>>> {
        let states = match self.store.seat(key) {
            Some(seat) => Tree::new(None, seat).active_states(),
            None => self.path(key)?.collect(),
        };
        Some(states.into_iter())
    }

    /// Returns the innermost active state of an owner in each open region of `composite`, in the order of the regions. `None` for
    /// a stale key. See [`StateMachine::regions`](crate::StateMachine::regions).
    pub fn regions(&self, key: Key, composite: impl IntoState<T>) -> Option<impl Iterator<Item = &StateRef<T>>> {
        let composite = composite.into_state();
        let regions = self.store.seat(key).map(|seat| Tree::new(None, seat).regions_of(&composite));
        self.contains_key(key).then(|| regions.unwrap_or_default().into_iter())
    }

    /// Returns the owners whose current state is `state`, as one slice, for example to draw all of them in one call. An owner
    /// with open [regions](State::regions) is found under the state that has them, not under the states in them.
    ///
    /// An owned state usually has one owner. If several owners share it by clones of one `StateRef`, only the first is returned.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/named_enemies.txt")]
    /// let mut batch = Batch::new();
    /// batch.insert(Enemy("Bob"), &Idle);
    /// batch.insert(Enemy("Elsa"), &Chase);
    /// batch.insert(Enemy("Joe"), &Idle);
    /// assert_eq!(batch.owners_in(&Idle), [Enemy("Bob"), Enemy("Joe")]);
    /// ```
    #[must_use]
    pub fn owners_in<S: State<T> + ?Sized>(&self, state: &S) -> &[T] {
        self.store.owners_in(state)
    }

    /// Returns how many owners are in each state, in the order in which the batch first saw the states.
    ///
    /// The owned states of one type count as one state, which is represented by the first of them; if no owner is in any of them,
    /// they are left out. A state that all owners have left, or that owners have only requested, may be in the list with no
    /// owners. Owners without a state are not counted.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// let mut batch = Batch::new();
    /// batch.insert(Enemy, &Idle);
    /// batch.insert(Enemy, &Chase);
    /// batch.insert(Enemy, &Idle);
    /// let census: Vec<_> = batch.census().map(|(state, owners)| (state.name(), owners)).collect();
    /// assert_eq!(census, [("Idle".into(), 2), ("Chase".into(), 1)]);
    /// ```
    pub fn census(&self) -> impl Iterator<Item = (&StateRef<T>, usize)> {
        self.store.census()
    }

    /// Iterates over a part of the owners, with the number of seconds for which each owner has been in its current state. `now`
    /// is the time in seconds that [`Owner::now`] returns.
    ///
    /// `places` are positions in the order of [`iter`](Self::iter). The time to reach the first position depends on the number of
    /// states, not of owners, so a tool can look at a large batch piece by piece.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Owner, State};
    ///
    /// #[derive(Debug, PartialEq)]
    /// struct Enemy(u32);
    /// impl Owner for Enemy { type Context<'a> = f64; type Message = (); fn now(seconds: &f64) -> f64 { *seconds } }
    /// struct Idle;
    /// impl State<Enemy> for Idle {}
    ///
    /// let mut batch = Batch::new();
    /// for number in 0..10 {
    ///     batch.spawn(Enemy(number), &Idle, &mut number.into());
    /// }
    /// let part: Vec<_> = batch.stays(4..6, 10.0).map(|(_, enemy, seconds)| (enemy.0, seconds)).collect();
    /// assert_eq!(part, [(4, 6.0), (5, 5.0)]);
    /// ```
    pub fn stays(&self, places: Range<usize>, now: f64) -> impl Iterator<Item = (Key, &T, f64)> {
        let mut before = 0;
        self.store.states.order().iter().flat_map(move |&bucket| {
            let columns = &self.store.buckets[bucket as usize];
            let slots = places.start.saturating_sub(before)..places.end.saturating_sub(before).min(columns.len());
            before += columns.len();
            let rows = self.store.rows(bucket);
            slots.map(move |slot| {
                let entered_at = columns.seats.get(slot).map_or_else(|| rows.entered_at(slot), |seat| seat.entered_at);
                (columns.tags[slot].key, &columns.owners[slot], time_since(entered_at, now))
            })
        })
    }

    /// Returns what an owner's machine is doing, in words. `now` is the time in seconds that [`Owner::now`] returns. `None` for a
    /// stale key.
    ///
    /// # Examples
    ///
    /// ```
    #[doc = include_str!("example/enemies.txt")]
    /// let mut batch = Batch::new();
    /// let bob = batch.insert(Enemy, &Idle);
    /// batch.change_state_after(bob, 5.0, &Chase, &mut ());
    /// assert_eq!(batch.report(bob, 0.0).unwrap().timers[0].to_string(), "change to Chase in 5 s");
    /// ```
    #[must_use]
    pub fn report(&self, key: Key, now: f64) -> Option<MachineReport> {
        let global = self.store.global.settings.global.as_option();
        self.with_seat(key, |owner, seat| MachineReport::new(owner, seat, global, now))
    }

    /// Returns the running timers of an owner's machine. `None` for a stale key. See
    /// [`StateMachine::pending`](crate::StateMachine::pending).
    #[must_use]
    pub fn pending(&self, key: Key) -> Option<Vec<Pending<T>>> {
        self.with_seat(key, |_, seat| Tree::new(None, seat).pending())
    }

    /// Calls `act` with an owner and its seat, or a copy of its seat. `None` for a stale key.
    fn with_seat<R>(&self, key: Key, act: impl FnOnce(&T, &Seat<T>) -> R) -> Option<R> {
        let place = self.store.places.get(key)?.get();
        let columns = &self.store.buckets[place.bucket as usize];
        let owner = columns.owners.get(place.slot())?;
        if let Some(seat) = columns.seats.get(place.slot()) {
            return Some(act(owner, seat));
        }
        let mut seat = Seat::empty();
        self.store.row(place).copy(0, &mut seat);
        Some(act(owner, &seat))
    }
}
