//! Faults of batches.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

#[cfg(feature = "parallel")]
use demeanor::StateRef;
use demeanor::{Batch, Fsm, FsmSlice, GameTime, Owner, Pending, State};

use crate::captured_log::{log_lines, on_record};
use crate::play::{EVERYWHERE, play};
use crate::trace::places::{FIGHT, RUN};
use crate::trace::{Actor, Place, Stage};

static A: Place = Place::new("A");
static B: Place = Place::new("B");
static C: Place = Place::new("C");
static HOUSE: Place = Place::new("House");
static KITCHEN: Place = Place::new("Kitchen").inside(&HOUSE);

fn panics(act: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(act)).is_err()
}

/// Rules 18 and 21: in the first tick with a clock, what one chunk had come to was taken for the time of the next one's
/// owners, if the same thread ran both.
#[cfg(feature = "parallel")]
#[test]
fn on_one_thread_as_on_many_the_time_in_a_state_is_the_owners_own() {
    let changing = || Stage::new(&A).when("A.update", |_, fsm, _| fsm.change_state(&B)).actor;
    let telling = || {
        let tell = |actor: &mut Actor, fsm: &mut Fsm<'_, Actor>, time: &mut GameTime| {
            actor.note(format!("for {} s", fsm.time_in_state(time)));
        };
        Stage::new(&C).when("C.update", tell).actor
    };
    let mut batch = Batch::new();
    batch.insert(changing(), &A);
    batch.insert(telling(), &C);
    // Others, so that those two are in one half of the work.
    batch.insert(Actor::default(), &B);
    batch.insert(Actor::default(), &HOUSE);
    let mut time = GameTime::new();
    time.advance(std::time::Duration::from_secs(5));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(|| batch.par_update(|_| time));
    assert_eq!(batch.owners_in(&B).len(), 2);
    let key = batch.keys().find(|key| batch.is_in_state(*key, &C)).expect("one is there");
    assert_eq!(batch.get_mut(key).expect("the key is not stale").take_trace(), ["C.update", "for 5 s"]);
}

/// Rule 22: what the owners had asked for was left behind, and in the next tick the owners of another state changed in their place. Found
/// by `keys_owners_and_states_agree_after_each_panic_of_a_random_program`.
#[test]
fn a_logger_that_panics_when_it_is_asked_whether_it_is_enabled_leaves_no_change_to_others() {
    thread_local! {
        static IS_ARMED: Cell<bool> = const { Cell::new(true) };
    }
    let changing = || Stage::new(&A).when("A.update", |_, fsm, _| fsm.change_state(&B)).actor;
    let mut batch = Batch::new();
    let calm = batch.insert(Actor::default(), &C);
    // The first change to a state that the batch has not met is made owner by owner.
    batch.insert(changing(), &A);
    batch.update(&mut GameTime::new());
    let keys = [batch.insert(changing(), &A), batch.insert(changing(), &A)];
    on_record(|method| {
        if method == "logger.enabled" && IS_ARMED.replace(false) {
            resume_unwind(Box::new("no room for a line"));
        }
    });
    let mut has_panicked = false;
    log_lines(|| has_panicked = panics(|| batch.update(&mut GameTime::new())));
    on_record(|_| ());
    assert!(has_panicked);
    for _ in 0..2 {
        assert!(keys.iter().all(|key| batch.is_in_state(*key, &B)) && batch.is_in_state(calm, &C));
        batch.update(&mut GameTime::new());
    }
}

#[test]
fn panics_in_a_tick() {
    play(
        EVERYWHERE,
        r"
        # a_tick_ends_for_an_owner_with_its_panic_even_after_a_change_at_once (rule 22)
        // It was updated further down its path.
        in Kitchen; panicking House.update
        House.update: now Kitchen
        panicking update => House.update; Kitchen.exit; Kitchen -> Kitchen (change); Kitchen.enter

        # what_was_asked_for_in_an_exit_that_panicked_is_dropped (rules 12 and 22)
        // The only owner of a chunk to change had its request carried out.
        in A; panicking A.exit
        A.update: change B
        A.exit: change C
        panicking update => A.update; A.exit
        view => A, was A
        ",
    );
}

/// Rule 22: in a change made in bulk that enters several states, an owner whose `on_change` panicked went to the innermost.
#[test]
fn a_panic_in_on_change_leaves_an_owner_of_a_batch_where_it_leaves_a_machine() {
    let stage = || Stage::new(&A).when("A.update", |_, fsm, _| fsm.change_state(&KITCHEN)).panicking_in("on_change");
    let mut alone = stage();
    alone.catch(Stage::update);
    assert_eq!(alone.view(), "House, was A");

    let mut batch = Batch::new();
    // So that the batch knows the states, and the changes are made in bulk.
    for state in [&HOUSE, &KITCHEN] {
        batch.insert(Actor::default(), state);
    }
    let keys = [(); 2].map(|()| batch.insert(stage().actor, &A));
    assert!(panics(|| batch.update(&mut GameTime::new())));
    for key in keys {
        assert_eq!(batch.state_of(key).expect("it is there").name(), "House");
        assert_eq!(batch.path(key).expect("it is there").count(), 1);
        assert!(batch.previous_of(key).is_some_and(|state| state.name() == "A"));
    }
}

/// A batch held a place for a panic, which only one thread may look at.
#[test]
fn threads_may_share_a_batch_and_hand_it_on() {
    struct Plain;
    impl Owner for Plain {
        type Context<'a> = ();
        type Message = ();
    }
    fn is_shared_and_sent<S: Send + Sync>(_: &S) {}
    is_shared_and_sent(&Batch::<Plain>::new());
}

/// Rule 22: a panic of the clock, or of what is asked of a state only when a batch first sees it, lost the batch its order.
#[test]
fn owners_are_where_their_states_say_whatever_panics() {
    /// Counts down to a panic.
    #[derive(Default)]
    struct Clock(Cell<Option<u32>>);
    struct Walker(u32);
    impl Owner for Walker {
        type Context<'a> = Clock;
        type Message = ();

        fn now(clock: &Clock) -> f64 {
            assert!(clock.0.get() != Some(0), "the clock is broken");
            clock.0.set(clock.0.get().map(|left| left - 1));
            0.0
        }
    }
    struct Left;
    struct Right;
    struct Up;
    struct Broken;
    impl State<Walker> for Left {
        fn update(&self, walker: &mut Walker, fsm: &mut Fsm<'_, Walker>, _: &mut Clock) {
            if walker.0 == 7 { fsm.change_state(&Broken) } else { fsm.change_state(&Right) }
        }
    }
    impl State<Walker> for Right {
        fn update(&self, _: &mut Walker, fsm: &mut Fsm<'_, Walker>, _: &mut Clock) {
            fsm.change_state(&Up);
        }
    }
    impl State<Walker> for Up {}
    impl State<Walker> for Broken {
        fn is_passive(&self) -> bool {
            panic!("nobody is to ask");
        }
    }

    let agrees = |batch: &Batch<Walker>| {
        let here: Vec<_> = batch.keys().map(|key| batch.get(key).expect("its owner is there").0).collect();
        assert_eq!(here, [5, 6, 7, 8]);
        for (state, count) in batch.census() {
            assert_eq!(batch.owners_in(&**state).len(), count);
            assert_eq!(batch.keys().filter(|key| batch.state_of(*key) == Some(state)).count(), count);
        }
    };
    let mut batch = Batch::new();
    batch.insert(Walker(5), &Right);
    for number in 6..9 {
        batch.insert(Walker(number), &Left);
    }
    // The clock is read for the change of 5, which then waits to be taken up; then for those of 6 and 8. What is asked of
    // `Broken` is asked once.
    assert!(panics(|| batch.update(&mut Clock(Cell::new(Some(1))))));
    agrees(&batch);
    batch.update(&mut Clock::default());
    agrees(&batch);
    assert_eq!(batch.owners_in(&Broken).len(), 1);
    let key = batch.keys().nth(2).expect("there are four");
    assert!(batch.remove(key).is_some_and(|(walker, _)| walker.0 == 7));
    (0..3).for_each(|_| batch.update(&mut Clock::default()));
    assert_eq!(batch.owners_in(&Up).len(), 3);
}

/// Rule 23: when an `on_change` panicked, the changes of the owners after it were logged a second time.
#[test]
fn a_change_is_logged_once_though_the_on_change_of_another_panics() {
    let mut batch = Batch::new();
    // So that the batch knows the state, and the changes are made in bulk.
    batch.insert(Actor::default(), &B);
    for is_faulty in [false, true, false] {
        let stage = Stage::new(&A).when("A.update", |_, fsm, _| fsm.change_state(&B));
        batch.insert(if is_faulty { stage.panicking_in("on_change").actor } else { stage.actor }, &A);
    }
    let lines = log_lines(|| assert!(panics(|| batch.update(&mut GameTime::new()))));
    assert_eq!(lines.iter().filter(|line| line.contains("A -> B")).count(), 3, "{lines:?}");
}

/// A handle beyond an override's owners was that of somebody else, or of nobody; its requests moved owners twice.
#[test]
fn a_handle_beyond_the_slice_asks_for_nothing() {
    struct Sheep;
    impl Owner for Sheep {
        type Context<'a> = Vec<bool>;
        type Message = ();
    }
    struct Graze;
    struct Flee;
    impl State<Sheep> for Graze {
        fn update_all(&self, sheep: &mut [Sheep], fsm: &mut FsmSlice<'_, Sheep>, done: &mut Vec<bool>) {
            for beyond in [sheep.len(), sheep.len() + 1, usize::MAX, 1 << 32] {
                fsm.at(beyond).change_state(&Flee);
                fsm.at(beyond).revert_state();
                let is_done = fsm.at(beyond).change_state_now(&mut sheep[0], &Flee, done);
                done.push(is_done);
                assert!(fsm.at(beyond).previous().is_none());
            }
        }
    }
    impl State<Sheep> for Flee {}

    let mut batch = Batch::new();
    batch.insert(Sheep, &Flee);
    (0..3).for_each(|_| {
        batch.insert(Sheep, &Graze);
    });
    let mut done = Vec::new();
    batch.update(&mut done);
    // In runs of one owner each, what lies beyond is another.
    (0..2).for_each(|k| batch.update_part(k, 2, &mut done));
    assert!(done.iter().all(|done| !done));
    assert_eq!((batch.owners_in(&Graze).len(), batch.owners_in(&Flee).len()), (3, 1));
    assert_eq!(batch.iter().count(), 4);
}

/// Rule 17: the owners in a boxed state without data were not found by the state that it is.
#[test]
fn owners_in_a_boxed_state_without_data_are_owners_in_its_singleton() {
    #[derive(Clone, Copy)]
    struct Lazy;
    impl State<Actor> for Lazy {}
    static BOARD: Place = Place::new("Board");

    let mut batch = Batch::new();
    batch.insert(Actor::default(), Box::new(Lazy));
    batch.insert(Actor::default(), &BOARD);
    assert_eq!(batch.owners_in(&Lazy).len(), 1);
    batch.insert(Actor::default(), &Lazy);
    batch.insert(Actor::default(), std::sync::Arc::new(Lazy));
    let moved = batch.insert(Actor::default(), &BOARD);
    assert!(batch.change_state(moved, Box::new(Lazy), &mut GameTime::new()));
    let census: Vec<_> = batch.census().map(|(state, count)| (state.to_string(), count)).collect();
    assert_eq!(census, [("Lazy".into(), 4), ("Board".into(), 1)]);
    assert_eq!((batch.owners_in(&Lazy).len(), batch.owners_in(&*Box::new(Lazy)).len()), (4, 4));
    assert_eq!(batch.iter().count(), 5);
}

/// A state that is edited in place would be cloned if anybody else referred to it.
#[derive(Default)]
struct Copies(u32);

impl Clone for Copies {
    fn clone(&self) -> Self {
        panic!("{} is not to be cloned", self.0)
    }
}

impl State<Actor> for Copies {}

/// A pass kept the owned state that it had ticked last, so that it was cloned when it was edited.
#[test]
fn an_owned_state_is_edited_in_place_after_it_has_been_ticked() {
    let mut batch = Batch::new();
    let keys = [1, 2, 3].map(|number| batch.insert(Actor::default(), Box::new(Copies(number))));
    let ticks: [fn(&mut Batch<Actor>, demeanor::Key); 7] = [
        |batch, _| batch.update(&mut GameTime::new()),
        |batch, _| batch.update_in_key_order(&mut GameTime::new()),
        |batch, _| batch.update_part(0, 2, &mut GameTime::new()),
        |batch, key| assert!(!batch.send(key, &"hit", &mut GameTime::new())),
        |batch, key| assert!(batch.with(key, &mut GameTime::new(), |_, _, _| {}).is_some()),
        |batch, key| assert!(batch.set_previous(key, &A)),
        |batch, _| {
            #[cfg(feature = "parallel")]
            drop(batch.par_update(|_| GameTime::new()));
            #[cfg(not(feature = "parallel"))]
            batch.update(&mut GameTime::new());
        },
    ];
    for tick in ticks {
        for key in keys {
            tick(&mut batch, key);
            batch.current_mut::<Copies>(key).expect("it is its own").0 += 1;
        }
    }
}

/// A mock in a batch was kept by the pass: it was cloned without being told to, and not verified.
#[cfg(feature = "mock")]
#[test]
fn a_mock_in_a_batch_is_edited_and_verified_as_in_a_machine() {
    use demeanor::mock::MockState;

    let mut batch = Batch::new();
    let mut mock = MockState::<Actor>::named("Mock");
    mock.expect_update().times(2).return_const(());
    let key = batch.insert(Actor::default(), Box::new(mock));
    batch.update(&mut GameTime::new());
    batch.update(&mut GameTime::new());
    let mock = batch.current_mut::<MockState<Actor>>(key).expect("it is its own");
    mock.checkpoint();
    mock.expect_update().times(2).return_const(());
    batch.update(&mut GameTime::new());
    let removed = batch.remove(key);
    assert!(panics(|| drop(removed)), "it expects another update");

    let mut mock = MockState::<Actor>::named("Mock");
    mock.expect_update().times(1).return_const(());
    let key = batch.insert(Actor::default(), Box::new(mock));
    batch.update(&mut GameTime::new());
    drop(batch.remove(key));
}

/// Rule 22: if `regions` panicked while a batch learned a state, `par_extend` then added rows without seats to the bucket, which has them.
#[cfg(feature = "parallel")]
#[test]
fn owners_are_added_on_all_cores_to_a_state_whose_regions_panicked_when_it_was_first_seen() {
    struct Enemy;
    impl Owner for Enemy {
        type Context<'a> = ();
        type Message = ();
    }
    struct Idle;
    impl State<Enemy> for Idle {}
    struct Hidden;
    thread_local! {
        static CALLS_LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    impl State<Enemy> for Hidden {
        fn regions(&self) -> Vec<StateRef<Enemy>> {
            match CALLS_LEFT.get() {
                0 => resume_unwind(Box::new("no regions yet")),
                left => CALLS_LEFT.set(left - 1),
            }
            Vec::new()
        }
    }
    for calls in 0..6 {
        let mut batch = Batch::new();
        let key = batch.insert(Enemy, &Idle);
        CALLS_LEFT.set(calls);
        panics(|| _ = batch.change_state(key, &Hidden, &mut ()));
        panics(|| batch.par_extend(vec![Enemy, Enemy], &Hidden));
        CALLS_LEFT.set(usize::MAX);
        let before = batch.owners_in(&Hidden).len();
        batch.par_extend(vec![Enemy, Enemy], &Hidden);
        batch.update(&mut ());
        assert_eq!(batch.owners_in(&Hidden).len(), before + 2, "after {calls} calls");
    }
}

/// Rule 39: a batch left out the timers of the states in regions.
#[test]
fn a_batch_lists_the_timers_of_the_states_in_regions() {
    let walking = || Stage::new(&FIGHT).when("Walk.enter", |_, fsm, _| fsm.change_state_after(5.0, &RUN));
    let mut stage = walking();
    stage.start();
    let mut batch = Batch::new();
    let key = batch.spawn(walking().actor, &FIGHT, &mut GameTime::new());
    let timers = |timers: Vec<Pending<Actor>>| timers.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(timers(stage.machine.pending()), ["change to Run"]);
    assert_eq!(timers(batch.pending(key).expect("the key is not stale")), ["change to Run"]);
}

/// Rules 17 and 32: after a change within the call into a state with regions, the rest of a callback in a batch did not see the
/// states in the regions.
#[test]
fn a_callback_in_a_batch_sees_the_regions_that_it_has_opened_within_the_call() {
    let look = |actor: &mut Actor, fsm: &mut Fsm<'_, Actor>| {
        let active: Vec<_> = fsm.active_states().map(ToString::to_string).collect();
        let inside: Vec<_> = fsm.regions(&FIGHT).map(ToString::to_string).collect();
        actor.note(format!("{active:?} {inside:?}"));
    };
    let fighting = || {
        Stage::new(&A).when("A.update", move |actor, fsm, time| {
            fsm.change_state_now(actor, &FIGHT, time);
            look(actor, fsm);
        })
    };
    let mut batch = Batch::new();
    let key = batch.insert(fighting().actor, &A);
    batch.update(&mut GameTime::new());
    let trace = batch[key].take_trace();
    assert_eq!(trace.last().map(String::as_str), Some(r#"["Fight", "Walk", "Ready"] ["Walk", "Ready"]"#));
    assert_eq!(fighting().update(), trace);
}
