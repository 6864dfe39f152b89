//! Changes that are cut short half-way. They left the machine with what belongs to states that are not active.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use demeanor::{Agent, Fsm, GameTime, State, StateMachine, StateRef};

use crate::play::{EVERYWHERE, play};
use crate::trace::{Act, Actor, Place, Stage};

static HOUSE: Place = Place::new("House");
static KITCHEN: Place = Place::new("Kitchen").inside(&HOUSE);
static YARD: Place = Place::new("Yard");
static ROAD: Place = Place::new("Road");
static SEA: Place = Place::new("Sea");

/// What cuts a pop back to Kitchen short.
struct Cut {
    script: &'static [(&'static str, Act)],
    panics: Option<&'static str>,
    /// Where the machine is then, and after the timer of House.
    ends_in: [&'static str; 2],
}

const POPS: (&str, Act) = ("Yard.leave", |_, fsm, _| fsm.pop_state());

const CUTS: [Cut; 6] = [
    // The push waits in the queue, and the message that is sent now carries it out.
    Cut {
        script: &[
            POPS,
            ("House.resume", |actor, fsm, time| {
                fsm.push_state(&ROAD);
                fsm.send_now(actor, &"hello", time);
            }),
        ],
        panics: None,
        ends_in: ["Road, was House", "Road, was House"],
    },
    Cut {
        script: &[
            POPS,
            ("House.resume", |actor, fsm, time| {
                fsm.push_state(&YARD);
                fsm.change_state_now(actor, &ROAD, time);
            }),
        ],
        panics: None,
        ends_in: ["Road, was Yard", "Road, was Yard"],
    },
    Cut {
        script: &[POPS, ("House.resume", |actor, fsm, time| _ = fsm.change_state_now(actor, &ROAD, time))],
        panics: None,
        ends_in: ["Road, was House", "Road, was House"],
    },
    Cut { script: &[POPS], panics: Some("on_change"), ends_in: ["House, was Yard", "Road, was House"] },
    Cut { script: &[POPS], panics: Some("House.resume"), ends_in: ["House, was Yard", "Road, was House"] },
    // The callback that the pop is made in goes on.
    Cut {
        script: &[("Yard.leave", |actor, fsm, time| {
            fsm.pop_state();
            assert!(catch_unwind(AssertUnwindSafe(|| fsm.send_now(actor, &"hello", time))).is_err());
        })],
        panics: Some("House.resume"),
        ends_in: ["House, was Yard", "Road, was House"],
    },
];

impl Cut {
    /// A stage on which House and Kitchen have set a timer each before Yard was pushed over.
    fn stage(&self) -> Stage {
        let mut stage = Stage::new(&KITCHEN)
            .when("House.enter", |_, fsm, _| fsm.change_state_after(7.0, &ROAD))
            .when("Kitchen.enter", |_, fsm, _| fsm.change_state_after(3.0, &SEA));
        for (callback, act) in self.script {
            stage = stage.when(callback, *act);
        }
        stage.start();
        stage.advance(1);
        stage.push_state(&YARD);
        if let Some(callback) = self.panics {
            stage = stage.panicking_in(callback);
        }
        stage
    }
}

/// What is saved of a machine is loaded, and saved again the same.
#[cfg(feature = "serde")]
#[track_caller]
fn is_saved_and_loaded(machine: &StateMachine<Actor>, time: &GameTime) {
    let now = time.total().as_secs_f64();
    let book = book();
    let saved = machine.save(&book, now).expect("the book knows all states");
    let loaded = book.load(saved.clone(), now).expect("it has just been saved");
    assert_eq!(loaded.save(&book, now).expect("it has just been loaded"), saved);
}

#[cfg(feature = "serde")]
fn book() -> demeanor::StateBook<Actor> {
    let book = demeanor::StateBook::new().with(&Duck);
    [&HOUSE, &KITCHEN, &YARD, &ROAD, &SEA].into_iter().fold(book, demeanor::StateBook::with)
}

#[cfg(not(feature = "serde"))]
fn is_saved_and_loaded(_: &StateMachine<Actor>, _: &GameTime) {}

/// Rules 15 and 25: the timer of Kitchen, which was never resumed, led to Sea two seconds later. What was saved until then could
/// not be loaded.
#[test]
fn a_pop_that_is_cut_short_ends_the_timers_of_the_states_that_it_has_not_resumed() {
    for cut in CUTS {
        let mut stage = cut.stage();
        _ = catch_unwind(AssertUnwindSafe(|| stage.send("leave")));
        stage.actor.stop_panicking();
        assert_eq!(stage.view(), cut.ends_in[0]);
        is_saved_and_loaded(&stage.machine, &stage.time);
        stage.advance(2);
        stage.update();
        assert_eq!(stage.view(), cut.ends_in[0]);
        stage.advance(4);
        stage.update();
        assert_eq!(stage.view(), cut.ends_in[1]);
        is_saved_and_loaded(&stage.machine, &stage.time);
        // Nor is it on the stack.
        stage.pop_state();
        stage.advance(9);
        stage.update();
        assert!(!stage.machine.is_in_state(&SEA), "{}", stage.view());
        is_saved_and_loaded(&stage.machine, &stage.time);
    }
}

/// Rules 15 and 25, in a batch: none of its owners could be loaded.
#[cfg(feature = "std")]
#[test]
fn a_pop_that_is_cut_short_in_a_batch_ends_the_timers_of_the_states_that_it_has_not_resumed() {
    use demeanor::Batch;

    for cut in CUTS {
        let mut batch = Batch::new();
        let Stage { actor, machine, mut time, .. } = cut.stage();
        let keys = [
            batch.insert_machine(Actor::default(), machine.clone()).expect("neither has a global"),
            batch.insert_machine(actor, machine).expect("neither has a global"),
        ];
        _ = catch_unwind(AssertUnwindSafe(|| batch.send(keys[1], &"leave", &mut time)));
        let view = |batch: &Batch<Actor>| {
            let path = batch.path(keys[1]).expect("it is there").map(ToString::to_string).collect::<Vec<_>>();
            format!("{}, was {}", path.join("/"), batch.previous_of(keys[1]).expect("there is one"))
        };
        let saves = |batch: &Batch<Actor>, time: &GameTime| {
            #[cfg(feature = "serde")]
            {
                let now = time.total().as_secs_f64();
                let bytes = |batch: &Batch<Actor>| {
                    postcard::to_allocvec(&batch.save(&book(), now).expect("the book knows all").map_owners(|_| ()))
                        .expect("it can be written")
                };
                let saved = bytes(batch);
                let owners: demeanor::SavedBatch<()> = postcard::from_bytes(&saved).expect("it has just been written");
                let loaded = Batch::load(owners.map_owners(|()| Actor::default()), &book(), now);
                assert!(bytes(&loaded.expect("it has just been saved")) == saved);
            }
            #[cfg(not(feature = "serde"))]
            let _ = (batch, time);
        };
        batch.get_mut(keys[1]).expect("it is there").stop_panicking();
        assert_eq!(view(&batch), cut.ends_in[0]);
        saves(&batch, &time);
        for (seconds, ends_in) in [(2, cut.ends_in[0]), (4, cut.ends_in[1])] {
            time.advance(Duration::from_secs(seconds));
            batch.update(&mut time);
            assert_eq!(view(&batch), ends_in);
            saves(&batch, &time);
        }
        batch.pop_state(keys[1], &mut time);
        time.advance(Duration::from_secs(9));
        batch.update(&mut time);
        assert!(!batch.is_in_state(keys[1], &SEA));
        saves(&batch, &time);
    }
}

/// Rule 18: the time of a state that is resumed behind another one goes on, too, if the first has the machine popped and pushed
/// over again.
#[test]
fn a_pop_within_a_pop_gives_each_path_its_own_times() {
    let mut stage = Stage::new(&KITCHEN).when("House.resume", |actor, fsm, time| {
        if actor.count == 0 {
            actor.count = 1;
            fsm.push_state(&ROAD);
            fsm.pop_state();
            fsm.send_now(actor, &"hello", time);
        }
    });
    stage.start();
    stage.advance(5);
    stage.push_state(&YARD);
    stage.advance(2);
    stage.pop_state();
    assert_eq!(stage.view(), "House, was Road");
    assert_eq!(stage.machine.time_in_state(&stage.time).to_bits(), 5.0_f64.to_bits());
    is_saved_and_loaded(&stage.machine, &stage.time);
}

thread_local! {
    /// Whether the `Drop` of ponds panics.
    static IS_DRY: Cell<bool> = const { Cell::new(false) };
}

/// A composite that its child makes each time it is asked, so that only the machine refers to it.
struct Pond(StateRef<Actor>);

impl State<Actor> for Pond {
    fn parent(&self) -> Option<StateRef<Actor>> {
        Some(self.0.clone())
    }
}

impl Drop for Pond {
    fn drop(&mut self) {
        if IS_DRY.get() {
            resume_unwind(Box::new("the pond is dry"));
        }
    }
}

struct Duck;

impl State<Actor> for Duck {
    fn parent(&self) -> Option<StateRef<Actor>> {
        Some(std::sync::Arc::new(Pond((&HOUSE).into())).into())
    }

    fn enter(&self, _: &mut Actor, fsm: &mut Fsm<'_, Actor>, _: &mut GameTime) {
        fsm.change_state_after(3.0, &SEA);
    }
}

/// Rules 22 and 25: the timers of the states that were left went on.
#[test]
fn the_drop_of_an_ancestor_that_panics_ends_the_timers_of_the_states_that_are_left() {
    for to in [&ROAD, &KITCHEN] {
        let mut agent = Agent::new(Actor::default(), StateMachine::new(&YARD));
        let mut time = GameTime::new();
        assert!(agent.change_state(&Duck, &mut time));
        IS_DRY.set(true);
        assert!(catch_unwind(AssertUnwindSafe(|| agent.change_state(to, &mut time))).is_err());
        IS_DRY.set(false);
        assert!(agent.machine().is_in_state(to), "{:?}", agent.machine().current());
        is_saved_and_loaded(agent.machine(), &time);
        time.advance(Duration::from_secs(9));
        agent.update(&mut time);
        assert!(agent.machine().is_in_state(to), "{:?}", agent.machine().current());
    }
}

#[test]
fn panics_that_a_callback_catches() {
    play(
        EVERYWHERE,
        r"
        # what_waits_when_a_callback_catches_a_panic_is_dropped_on_a_machine_as_in_a_batch (rule 22)
        // On a machine the requests were carried out, unless it was an `exit` that panicked; in a batch they were dropped, apart
        // from sleep, which was the other way around.
        in A; panicking B.enter
        A.update: sleep; change B; change C; catch hear hello; requests
        update => A.update; A.exit; A -> B (change); B.enter; caught; none waits
        view => B, was A
        asleep => no
        in A; panicking A.exit
        A.update: sleep; change B; change C; catch hear hello; requests
        update => A.update; A.exit; caught; none waits
        view => A, was A
        asleep => no
        in A; panicking on_change
        A.update: sleep; change B; change C; catch hear hello; requests
        update => A.update; A.exit; A -> B (change); caught; none waits
        view => B, was A
        asleep => no

        # an_owner_that_catches_a_panic_in_the_message_that_led_elsewhere_sets_no_timer_and_is_offered_no_more (rules 14, 22 and 25)
        // It was believed that the message had led nowhere.
        in Kitchen; panicking B.hello
        Kitchen.go: change B; catch hear hello; after 1 change C
        send go => Kitchen.go; Kitchen.exit; House.exit; Kitchen -> B (change); B.enter; B.hello; caught; not handled
        advance 2; update => B.update
        ",
    );
}
