//! Faults of waiting.

use std::time::Duration;

use demeanor::{Batch, Fsm, GameTime, State, StateMachine};

use crate::play::{EVERYWHERE, IN_A_BATCH, play};
use crate::trace::{Actor, Place};

static A: Place = Place::new("A");
static B: Place = Place::new("B");

#[test]
fn what_is_asked_for_together() {
    play(
        EVERYWHERE,
        r"
        # a_timer_asked_for_behind_a_change_now_ends_at_once
        // In a batch, it ran in the new state. Owners that sleep show what else they wait for.
        in A
        A.update: now B; after 1 change A
        start; update
        sleep; next => never

        # a_timer_asked_for_behind_a_message_sent_now_runs
        // In a batch, it ended at once: a message sent now was taken for a change.
        in A
        A.update: hear hello; after 1 change B
        start; update
        sleep; next => at 0.999998

        # sleep_asked_for_before_a_change_now_that_is_refused_is_not_lost
        // In a batch, it stayed awake: nothing was left to be carried out.
        in A; refusing A.can_exit
        A.update: sleep; now B is refused
        start; update
        next => never

        # a_timer_of_an_inner_state_runs_though_the_outer_one_has_sent_a_message_within_its_enter
        // In a batch, it ended at once when the owners changed in bulk: the inner state was not active when the message was sent.
        in A; handling House
        House.enter: hear hello is done
        Kitchen.enter: after 1 send fire; after 3 change B
        A.update: change Kitchen
        start; update
        pending => message to oneself fire at 1 of Kitchen, change to B at 3 of Kitchen

        # and_so_it_does_in_a_change_that_was_due
        in A; handling House
        House.enter: hear-ahead hello is done
        Kitchen.enter: after 1 send fire
        change-next Kitchen; update
        pending => message to oneself fire at 1 of Kitchen

        # and_when_the_message_has_panicked
        in A; panicking House.on_message
        House.enter: catch hear hello
        Kitchen.enter: after 1 send fire
        change-next Kitchen; update
        pending => message to oneself fire at 1 of Kitchen

        # the_warning_about_negative_seconds_names_the_state_that_has_been_entered
        // In a batch, it named the one before when the owners changed in bulk.
        in A
        Kitchen.enter: after -2 change C; sleep -1
        B.enter: after -1 change C
        B.update: after -3 change C; change D
        change-next Kitchen; update
        warnings => WARN demeanor: Elsa: change to C after -2 s, asked for in state Kitchen, counts as 0 s
            WARN demeanor: Elsa: sleep after -1 s, asked for in state Kitchen, counts as 0 s
        change-next B; update
        warnings => WARN demeanor: Elsa: change to C after -1 s, asked for in state B, counts as 0 s
            WARN demeanor: Elsa: change to C after -3 s, asked for in state B, counts as 0 s
        ",
    );
    play(
        IN_A_BATCH,
        r"
        # the_timers_of_owners_that_change_together_end_and_those_from_outside_go_on
        // Nothing was wrong there; only random programs would have seen it.
        in A, A, A; knows B
        A.enter: after 1 change A
        A.update: change B
        start
        1 after 5 change C
        update
        sleep; next => never 0; at 4.999994 1; never 2
        advance 5; update
        where => B C B
        ",
    );
}

/// In a batch, it was carried out in the tick in which it was set: the owner had come to those in owned states before they were
/// updated.
#[test]
fn a_timer_without_a_length_that_is_set_in_a_change_that_was_due_is_carried_out_in_the_next_tick_in_a_batch() {
    struct Fuse;
    /// Of each owner's own.
    #[derive(Clone)]
    struct Spark(f64);

    impl State<Actor> for Fuse {
        fn enter(&self, _: &mut Actor, fsm: &mut Fsm<'_, Actor>, _: &mut GameTime) {
            fsm.change_state(Box::new(Spark(0.0)));
        }
    }

    impl State<Actor> for Spark {
        fn enter(&self, _: &mut Actor, fsm: &mut Fsm<'_, Actor>, _: &mut GameTime) {
            fsm.change_state_after(self.0, &A);
        }
    }

    let mut time = GameTime::new();
    let mut machine = StateMachine::new(&B);
    let mut alone = Actor::default();
    let mut batch = Batch::new();
    let key = batch.spawn(Actor::default(), &B, &mut time);
    machine.start(&mut alone, &mut time);
    batch.change_state_after(key, 1.0, &Fuse, &mut time);
    machine.change_state_after(&mut alone, 1.0, &Fuse, &mut time);
    time.advance(Duration::from_secs(1));
    for is_in_spark in [true, false] {
        batch.update(&mut time);
        machine.update(&mut alone, &mut time);
        assert_eq!((batch.is_in::<Spark>(key), machine.is_in::<Spark>()), (is_in_spark, is_in_spark));
    }
}
