//! The chapter "Change": guards, rule 8.

use crate::play::{EVERYWHERE, play};
use crate::trace::places::open::{HALL, HOUSE, KITCHEN, STOVE, TABLE};
use crate::trace::places::{A, ALWAYS, B, C};
use crate::trace::{Actor, Place, Stage};
use demeanor::{Fsm, State, StateRef};

#[test]
fn guards() {
    play(
        EVERYWHERE,
        r"
        # guards_are_asked_once_each_before_anything_runs (rule 8)
        in Stove; open; guards
        change Stairs => Stove.can_exit?; Kitchen.can_exit?; Hall.can_enter?; Stairs.can_enter?
            Stove.exit; Kitchen.exit; Stove -> Stairs (change); Hall.enter; Stairs.enter; done

        # initial_states_are_resolved_before_the_guards (rules 6 and 8)
        in Stairs; open; guards
        change Kitchen => Stairs.can_exit?; Hall.can_exit?; Kitchen.can_enter?; Stove.can_enter?
            Stairs.exit; Hall.exit; Stairs -> Stove (change); Kitchen.enter; Stove.enter; done

        # a_change_to_the_current_state_asks_both_its_guards (rules 7 and 8)
        in A; guards
        change A => A.can_exit?; A.can_enter?; A.exit; A -> A (change); A.enter; done

        # the_first_guard_that_refuses_is_the_last_that_is_asked (rule 8)
        in Stove; open; guards; refusing Kitchen.can_exit; refusing Hall.can_enter
        change Stairs =>
            Stove.can_exit?; Kitchen.can_exit?; Stove -> Stairs (change), refused by Kitchen.can_exit; not done
        view => House/Kitchen/Stove

        # a_state_that_may_not_be_entered_changes_nothing (rule 8)
        in A; open; refusing Stove.can_enter
        change B
        change House => B -> Stove (change), refused by Stove.can_enter; not done
        view => B, was A
        revert => B.exit; B -> A (revert); A.enter; done

        # a_guards_refusal_is_logged_at_debug (rules 8 and 23)
        in A; refusing B.can_enter
        change B
        log => DEBUG demeanor: Elsa: A -> B (change), refused by B.can_enter

        # guards_see_the_machine_as_the_change_finds_it (rule 8)
        in Stove; open; guards; view
        previous B
        change Stairs => Stove.can_exit? (House/Kitchen/Stove, was B); Kitchen.can_exit? (House/Kitchen/Stove, was B)
            Hall.can_enter? (House/Kitchen/Stove, was B); Stairs.can_enter? (House/Kitchen/Stove, was B)
            Stove.exit (House/Kitchen/Stove, was Stove); Kitchen.exit (House/Kitchen/Stove, was Stove)
            Stove -> Stairs (change); Hall.enter (House/Hall, was Stove); Stairs.enter (House/Hall/Stairs, was Stove)
            done

        # the_target_is_told_in_every_guard_and_callback_of_a_change_and_in_no_other (rule 8)
        in Hall; open; global Always; guards; target
        start => House.enter; Hall.enter
        update => Always.update; House.update; Hall.update
        send hit => Hall.hit; House.hit; Always.hit; not handled
        change Kitchen => Hall.can_exit? [to Stove]; Kitchen.can_enter? [to Stove]; Stove.can_enter? [to Stove]
            Hall.exit [to Stove]; Hall -> Stove (change); Kitchen.enter [to Stove]; Stove.enter [to Stove]; done
        update => Always.update; House.update; Kitchen.update; Stove.update
        push A =>
            A.can_enter? [to A]; Stove.suspend [to A]; Kitchen.suspend [to A]; House.suspend [to A]; Stove -> A (push)
            A.enter [to A]; done
        pop => A.can_exit? [to Stove]; A.exit [to Stove]; A -> Stove (pop)
            House.resume [to Stove]; Kitchen.resume [to Stove]; Stove.resume [to Stove]; done
        stop => Stove.exit; Kitchen.exit; House.exit

        # a_pop_to_no_state_has_no_target (rules 8 and 15)
        in no state; guards; target
        push A
        pop => A.can_exit?; A.exit; A -> (no state) (pop); done

        # after_a_change_now_in_an_enter_the_change_under_way_has_no_target_any_more (rules 8 and 11)
        in A; open; target
        House.enter: now B is done; target
        change Table => A.exit [to Table]; A -> Table (change); House.enter [to Table]
            House.exit [to B]; House -> B (change); B.enter [to B]; to nowhere
            A -> Table (change), abandoned in House; not done

        # after_a_change_now_that_is_refused_the_target_is_that_of_the_change_under_way_again (rules 8 and 11)
        in A; open; guards; target; refusing B.can_enter
        House.enter: now B is refused; target
        change Hall => A.can_exit? [to Hall]; House.can_enter? [to Hall]; Hall.can_enter? [to Hall]
            A.exit [to Hall]; A -> Hall (change); House.enter [to Hall]
            House.can_exit? [to B]; B.can_enter? [to B]; House -> B (change), refused by B.can_enter; to Hall
            Hall.enter [to Hall]; done

        # a_handler_of_a_message_sent_in_an_enter_sees_no_target (rules 8 and 24)
        // A state that handles the message is not part of the change whose `enter` sends it.
        in A; open; target; handling House
        House.enter: hear hit is done; target
        change Hall =>
            A.exit [to Hall]; A -> Hall (change); House.enter [to Hall]; House.hit; to Hall; Hall.enter [to Hall]; done
        ",
    );
}

/// Rule 8.
#[test]
fn every_query_answers_in_a_guard() {
    let mut stage = Stage::new(&KITCHEN).global(&ALWAYS).asking("Kitchen.can_exit", |actor, fsm, time| {
        let name = |state: Option<&StateRef<_>>| state.map_or("nothing".to_owned(), ToString::to_string);
        actor.note(format!("{} was {}", name(fsm.current()), name(fsm.previous())));
        actor.note(format!("beside {}, to {}", name(fsm.global().as_ref()), name(fsm.target())));
        actor.note(format!("on {:?}", fsm.path().collect::<Vec<_>>()));
        actor.note(format!("in {} {}", fsm.is_in_state(&HOUSE), fsm.is_in_state(&HALL)));
        actor.note(format!("of a type {} {}", fsm.is_in::<Place>(), fsm.is_in::<Elsewhere>()));
        actor.note(format!("for {} s", fsm.time_in_state(time)));
        let times = (fsm.time_in(&HOUSE, time), fsm.time_in(&KITCHEN, time), fsm.time_in(&HALL, time));
        actor.note(format!("each {times:?}"));
        actor.note(format!("waiting: {}", fsm.has_requests()));
        false
    });
    stage.machine.set_current(&HALL);
    stage.start();
    stage.advance(1);
    stage.change_state(&TABLE);
    stage.advance(2);
    assert_eq!(
        stage.with(|_, fsm, _| {
            fsm.change_state(&B);
            fsm.pop_state();
        }),
        "Table was Hall; beside Always, to B; on [House, Kitchen, Table]; in true false; of a type true false
         for 2 s; each (Some(3.0), Some(2.0), None); waiting: true
         Table -> B (change), refused by Kitchen.can_exit"
    );
    assert_eq!(stage.change_state(&B)[7], "waiting: false");
}

struct Elsewhere;
impl State<Actor> for Elsewhere {}

/// Rules 8 and 18: not before two seconds.
#[test]
fn a_guard_can_refuse_by_the_time_in_a_state() {
    let mut stage = Stage::new(&A).asking("A.can_exit", |_, fsm, time| fsm.time_in_state(time) >= 2.0);
    stage.start();
    stage.advance(1);
    assert_eq!(stage.change_state(&B), "A -> B (change), refused by A.can_exit; not done");
    stage.advance(1);
    assert_eq!(stage.change_state(&B), "A.exit; A -> B (change); B.enter; done");
}

/// Rule 8: only from B.
#[test]
fn a_guard_can_refuse_by_where_the_owner_comes_from() {
    let mut stage = Stage::new(&A).asking("C.can_enter", |_, fsm, _| fsm.is_in_state(&B));
    assert_eq!(stage.change_state(&C), "A -> C (change), refused by C.can_enter; not done");
    stage.change_state(&B);
    assert_eq!(stage.change_state(&C), "B.exit; B -> C (change); C.enter; done");
}

/// Rules 6 and 8: the target is the innermost state that is entered.
#[test]
fn a_guard_can_refuse_by_where_the_change_leads_to() {
    let mut stage = Stage::new(&A)
        .asking("A.can_exit", |_, fsm, _| fsm.target().is_some_and(|target| *target == StateRef::from(&STOVE)));
    assert_eq!(stage.change_state(&B), "A -> B (change), refused by A.can_exit; not done");
    assert_eq!(stage.change_state(&HALL), "A -> Hall (change), refused by A.can_exit; not done");
    assert_eq!(
        stage.change_state(&HOUSE),
        "A.exit; A -> Stove (change); House.enter; Kitchen.enter; Stove.enter; done"
    );
}

/// Records the target of the change under way.
fn note_target(actor: &Actor, fsm: &Fsm<'_, Actor>) {
    actor.note(fsm.target().map_or("to nowhere".to_owned(), |target| format!("to {target}")));
}

/// Rules 8 and 22.
#[test]
fn a_change_that_panicked_is_no_longer_under_way() {
    for callback in ["A.can_exit", "B.can_enter", "A.exit", "on_change", "B.enter", "after_change"] {
        let mut stage = Stage::new(&A).recording_target().panicking_in(callback);
        stage.catch(|stage| stage.change_state(&B));
        let trace = stage.update();
        assert!(trace == ["A.update"] || trace == ["B.update"], "{callback}: {trace:?}");
        let mut stage =
            Stage::new(&C).recording_target().panicking_in(callback).when("C.update", |actor, fsm, time| {
                let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    fsm.change_state_now(actor, &A, time);
                    fsm.change_state_now(actor, &B, time);
                }));
                assert!(caught.is_err());
                note_target(actor, fsm);
            });
        assert_eq!(stage.update().last().unwrap(), "to nowhere", "{callback}");
    }
}

/// Rule 8.
#[test]
fn guards_see_the_owner_as_the_change_finds_it() {
    let mut stage = Stage::new(&A).asking("A.can_exit", |actor, _, _| actor.count > 0);
    assert_eq!(stage.change_state(&B), "A -> B (change), refused by A.can_exit; not done");
    stage.actor.count = 1;
    assert_eq!(stage.change_state(&B), "A.exit; A -> B (change); B.enter; done");
}
