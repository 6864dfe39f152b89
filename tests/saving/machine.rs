//! One machine, and one agent.

use demeanor::save::{Missing, SavedState, SavedThen, Seconds};
use demeanor::{Batch, Fsm, NextWake, Owner, SaveError, SavedMachine, State, StateBook, StateMachine, StateRef};

use crate::barracks::{Aim, Combat, Flee, Guard, Idle, Nap, Patrol, Shoot, Stunned, Told, book, patrol, state};
use crate::changed::next;

#[test]
fn the_clock_may_start_elsewhere() {
    let mut machine = StateMachine::new(&Idle);
    let (mut guard, mut now) = (Guard::new(0), 100.0);
    machine.change_state(&mut guard, &Combat, &mut now);
    now = 100.5;
    machine.update(&mut guard, &mut now);
    let mut loaded = book().load(machine.save(&book(), now).unwrap(), 7.0).unwrap();
    assert_eq!([loaded.time_in(&Combat, &7.0), loaded.time_in(&Aim, &7.0)], [Some(0.5); 2]);

    // After 0.7 seconds in `Aim`, of which 0.5 are over.
    loaded.update(&mut guard, &mut 7.19);
    assert!(loaded.is_in_state(&Aim));
    loaded.update(&mut guard, &mut 7.21);
    assert!(loaded.is_in_state(&Shoot));

    // What lies below a push stands still.
    loaded.push_state(&mut guard, &Nap, &mut 8.0);
    let mut loaded = book().load(loaded.save(&book(), 8.0).unwrap(), -50.0).unwrap();
    let NextWake::At(at) = loaded.next_wake() else { panic!("{:?}", loaded.next_wake()) };
    assert!((at - -48.7).abs() < 1e-5, "{at}");
    loaded.pop_state(&mut guard, &mut -40.0);
    assert_eq!(loaded.time_in(&Combat, &-40.0), Some(1.5));
}

#[test]
fn an_owned_state_is_shared_again() {
    let mut machine = StateMachine::new(patrol(3));
    let mut guard = Guard::default();
    machine.push_state(&mut guard, &Idle, &mut 0.0);
    let saved = machine.save(&book(), 0.0).unwrap();
    let is_owned = |state: &&SavedState| matches!(state, SavedState::Owned { .. });
    assert_eq!(saved.content.states.iter().filter(is_owned).count(), 1);

    // It is previous, and below on the stack.
    let mut loaded = book().load(saved, 0.0).unwrap();
    let previous = loaded.previous().unwrap().clone();
    loaded.pop_state(&mut guard, &mut 0.0);
    assert_eq!(loaded.current(), Some(&previous));
    assert_eq!(previous.downcast_ref(), Some(&Patrol::to(3)));
    assert!(previous.is_owned());
}

#[test]
fn composites_are_remembered_in_the_order_in_which_they_were_left() {
    let book = book().with_name("Other", &next::Combat).with_name("OtherAim", &next::Aim);
    let (mut guard, mut machine) = (Guard::default(), StateMachine::new(&Idle));
    for to in [StateRef::from(&next::Aim), (&Combat).into(), (&Idle).into()] {
        machine.change_state(&mut guard, to, &mut 0.0);
    }
    let saved = machine.save(&book, 0.0).unwrap();
    let names: Vec<_> = saved.content.machine.more.history.iter().map(|(of, _)| *of as usize - 1).collect();
    let expected = ["Other", "Combat"].map(|name| SavedState::Name(name.into()));
    assert!(names.iter().map(|nth| &saved.content.states[*nth]).eq(&expected));
    assert_eq!(book.load(saved.clone(), 0.0).unwrap().save(&book, 0.0).unwrap(), saved);
}

#[test]
fn what_the_book_does_not_know_is_an_error_that_lists_all_of_it() {
    let (mut guard, mut machine) = (Guard::default(), StateMachine::new(&Idle));
    machine.change_state(&mut guard, &Combat, &mut 0.0);
    machine.push_state(&mut guard, patrol(1), &mut 0.0);
    let poor = StateBook::new().with(&Idle).with_messages();
    let error = machine.save(&poor, 0.0).unwrap_err();
    let names = ["Aim", "Combat", "Patrol", "Shoot"].map(String::from);
    assert_eq!(error, SaveError::UnknownStates { names: names.to_vec() });
    assert_eq!(
        error.to_string(),
        "the book does not know the states `Aim`, `Combat`, `Patrol`, `Shoot`: add each with `StateBook::with` or `with_owned`"
    );

    let error = poor.load(machine.save(&book(), 0.0).unwrap(), 0.0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the book does not know the states `Aim`, `Combat`, `Patrol`, `Shoot`: \
         add each with `StateBook::with_name`, or say with `on_missing` what replaces it"
    );
}

state!(Watch, |fsm| fsm.send_after(2.9, Told::Bell),);
state!(Look {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Watch).into())
    }
});

#[test]
fn a_state_around_the_current_one_is_found_by_it_and_need_not_be_in_the_book() {
    let (mut guard, mut machine) = (Guard::default(), StateMachine::new(&Idle));
    machine.change_state(&mut guard, &Look, &mut 1.0);
    machine.change_state(&mut guard, &Look, &mut 2.0);
    let poor = StateBook::new().with(&Idle).with(&Look).with_messages();
    let mut batch = Batch::new();
    let key = batch.insert_machine(guard.clone(), machine.clone()).unwrap();
    let report = machine.report(&guard, 3.0);
    assert_eq!((report.path[0].to_string().as_str(), report.timers.len()), ("Watch for 2 s", 1));
    let loaded = poor.load(machine.save(&poor, 3.0).unwrap(), 3.0).unwrap();
    assert_eq!(loaded.report(&guard, 3.0), report);
    let saved = batch.save(&poor, 3.0).unwrap().map_owners(Guard::clone);
    assert_eq!(Batch::load(saved, &poor, 3.0).unwrap().report(key, 3.0), Some(report));
    // The same is true of a suspended path.
    machine.push_state(&mut guard, &Idle, &mut 3.0);
    let mut loaded = poor.load(machine.save(&poor, 3.0).unwrap(), 3.0).unwrap();
    for machine in [&mut machine, &mut loaded] {
        machine.pop_state(&mut guard, &mut 3.5);
    }
    assert_eq!(loaded.report(&guard, 4.0), machine.report(&guard, 4.0));
}

#[test]
fn two_states_of_one_name_are_refused() {
    let machine = StateMachine::<Guard>::new(&Idle);
    let saved = machine.save(&book(), 0.0).unwrap();
    let says = "the book has two states named `Idle`: give one of them another name, with `with_name`, \
                or add it in `within(\"kind\", ..)`, which makes its name `kind/Idle`";
    for twice in [
        StateBook::<Guard>::new().with(&Idle).with_name("Idle", &Flee),
        StateBook::new().with(&Idle).with_owned_name::<Patrol>("Idle"),
        StateBook::new().with_owned_name::<Patrol>("Idle").with(&Idle),
    ] {
        assert_eq!(twice.check().unwrap_err().to_string(), says);
        assert_eq!(machine.save(&twice, 0.0).unwrap_err().to_string(), says);
        assert_eq!(twice.load(saved.clone(), 0.0).unwrap_err().to_string(), says);
    }
    let twice = StateBook::<Guard>::new().with_owned::<Patrol>().with_owned_name::<Patrol>("Walk");
    assert_eq!(
        twice.check().unwrap_err().to_string(),
        "the book has a type of owned states twice, as `Patrol` and as `Walk`"
    );
    // The same state twice is no contradiction.
    assert_eq!(StateBook::<Guard>::new().with(&Idle).with(&Idle).with_name("Rest", &Idle).check(), Ok(()));
}

#[test]
fn a_message_of_a_timer_is_saved_by_a_book_that_knows_messages() {
    let (mut guard, mut machine) = (Guard::default(), StateMachine::new(&Idle));
    machine.send_after(&mut guard, 1.0, Told::Weary { how: f64::NAN }, &mut 0.0);
    let without = StateBook::new().with(&Idle);
    let says = "a timer has a message, and the book does not know how to save messages: \
                call `StateBook::with_messages`";
    assert_eq!(machine.save(&without, 0.0).unwrap_err().to_string(), says);
    let saved = machine.save(&book(), 0.0).unwrap();
    assert_eq!(without.load(saved.clone(), 0.0).unwrap_err().to_string(), says);

    let mut loaded = book().load(saved, 0.0).unwrap();
    loaded.update(&mut guard, &mut 1.0);
    assert_eq!(guard.log[0].split(" [").next(), Some("Weary { how: NaN } Idle"));
}

#[test]
fn a_timer_that_pops_goes_on_after_loading() {
    let (mut guard, mut machine) = (Guard::default(), StateMachine::new(&Idle));
    machine.push_state(&mut guard, &Nap, &mut 0.0);
    machine.with(&mut guard, &mut 0.0, |_, fsm, _| fsm.pop_state_after(2.0));
    let saved = machine.save(&book(), 1.0).unwrap();
    let mut loaded = book().load(saved, 101.0).unwrap();
    loaded.update(&mut guard, &mut 101.9);
    assert!(loaded.is_in_state(&Nap));
    loaded.update(&mut guard, &mut 102.0);
    assert!(loaded.is_in_state(&Idle));
}

#[test]
fn a_repeating_timer_goes_on_with_its_next_message_after_loading() {
    let (mut guard, mut machine) = (Guard::default(), StateMachine::new(&Idle));
    machine.send_every(&mut guard, 2.0, Told::Bell, &mut 0.0);
    machine.update(&mut guard, &mut 2.0);
    let saved = machine.save(&book(), 3.0).unwrap();
    let SavedThen::Repeat { seconds, span, message } = &saved.content.machine.more.timers[0].then else {
        panic!("it repeats")
    };
    assert_eq!((seconds.0, span.0, &**message), (2.0, 4.0, "Bell"));

    guard.log.clear();
    let saved: SavedMachine = serde_json::from_str(&serde_json::to_string(&saved).unwrap()).unwrap();
    let mut loaded = book().load(saved.clone(), 103.0).unwrap();
    for now in [103.9, 104.0, 105.9, 106.0] {
        loaded.update(&mut guard, &mut { now });
    }
    let heard = guard.log.iter().filter(|line| line.starts_with("Bell")).count();
    assert_eq!(heard, 2, "{:?}", guard.log);
    assert_eq!(loaded.pending()[0].every(), Some(2.0));

    // A period that is no time is read as one of 0 seconds, or is an error.
    let mut strange = saved;
    let with = |strange: &mut SavedMachine, seconds: f64| {
        let message = "Bell".to_owned();
        let then = SavedThen::Repeat { seconds: Seconds(seconds), span: Seconds(4.0), message };
        strange.content.machine.more.timers[0].then = then;
    };
    with(&mut strange, -1.0);
    assert_eq!(book().load(strange.clone(), 3.0).unwrap().pending()[0].every(), Some(0.0));
    with(&mut strange, f64::NAN);
    assert!(book().load(strange, 3.0).unwrap_err().to_string().contains("the time is not a number"));
}

#[test]
fn shared_states_are_found_by_the_reference_that_the_book_has() {
    let [north, south] = [3, -3].map(|to| StateRef::<Guard>::from(std::sync::Arc::new(Patrol::to(to))));
    let book = StateBook::new().with_name("north", north.clone()).with_name("south", south.clone());
    let machine = StateMachine::new(south.clone());
    let loaded = book.load(machine.save(&book, 0.0).unwrap(), 0.0).unwrap();
    assert_eq!(loaded.current(), Some(&south));

    // One that the book does not have is no owned one, whatever its type.
    let book = StateBook::new().with_owned::<Patrol>().with_name("south", south);
    let error = StateMachine::new(north).save(&book, 0.0).unwrap_err();
    assert_eq!(error, SaveError::UnknownStates { names: vec!["Patrol".into()] });
}

#[test]
fn the_global_is_set_again_and_its_timers_go_on() {
    struct Alert;
    impl State<Guard> for Alert {}
    let (mut guard, mut machine) = (Guard::default(), StateMachine::new(&Idle).with_global(&Alert));
    machine.change_state_after(&mut guard, 1.0, &Flee, &mut 0.0);
    let mut loaded = book().load(machine.save(&book(), 0.5).unwrap(), 0.5).unwrap();
    assert_eq!(loaded.global(), None);
    loaded.set_global(&Alert);
    loaded.update(&mut guard, &mut 1.0);
    assert!(loaded.is_in_state(&Flee));
}

#[test]
fn a_change_in_the_next_tick_is_made_after_loading_in_any_format() {
    let (mut guard, mut machine) = (Guard::default(), StateMachine::new(&Idle));
    machine.change_state_next(&mut guard, &Combat, &mut 1.0);
    machine.push_state(&mut guard, &Stunned, &mut 1.0);
    machine.change_state_next(&mut guard, &Flee, &mut 1.0);
    let saved = machine.save(&book(), 1.0).unwrap();
    let text: SavedMachine = serde_json::from_str(&serde_json::to_string(&saved).unwrap()).unwrap();
    let bytes: SavedMachine = postcard::from_bytes(&postcard::to_allocvec(&saved).unwrap()).unwrap();
    for saved in [saved, text, bytes] {
        let mut loaded = book().load(saved.clone(), 50.0).unwrap();
        assert_eq!(loaded.next_wake(), NextWake::EveryTick);
        loaded.update(&mut guard, &mut 50.0);
        assert!(loaded.is_in_state(&Flee));

        let mut loaded = book().load(saved, 50.0).unwrap();
        loaded.pop_state(&mut guard, &mut 50.0);
        assert!(loaded.is_in_state(&Idle));
        loaded.update(&mut guard, &mut 50.0);
        assert!(loaded.is_in_state(&Combat));
    }
}

#[test]
fn a_change_in_the_next_tick_is_dropped_if_its_state_no_longer_exists() {
    let mut machine = StateMachine::<Guard>::new(&Nap);
    machine.change_state_next(&mut Guard::default(), &Flee, &mut 0.0);
    let saved = machine.save(&book(), 0.0).unwrap();
    let fewer = StateBook::new().with(&Flee).with(&Idle).on_missing(|_| Missing::Place((&Idle).into()));
    let mut loaded = fewer.load(saved, 0.0).unwrap();
    loaded.update(&mut Guard::default(), &mut 0.0);
    assert!(loaded.is_in_state(&Idle));
}

#[test]
fn saved_data_can_be_changed_before_it_is_loaded() {
    let mut machine = StateMachine::<Guard>::new(&Idle);
    machine.change_state_after(&mut Guard::default(), 5.0, &Flee, &mut 0.0);
    let mut saved = machine.save(&book(), 0.0).unwrap();
    for state in &mut saved.content.states {
        if let SavedState::Name(name) = state {
            *name = name.replace("Idle", "Nap");
        }
    }
    let SavedThen::Change(to) = saved.content.machine.more.timers[0].then else { panic!("it changes state") };
    assert_eq!(saved.content.states[to as usize - 1], SavedState::Name("Flee".into()));
    assert!(book().load(saved, 0.0).unwrap().is_in_state(&Nap));
}

#[test]
fn a_clock_that_shows_no_number_or_infinity_panics_nowhere() {
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let (mut guard, mut machine) = (Guard::default(), StateMachine::new(&Idle));
        machine.change_state(&mut guard, &Combat, &mut { odd });
        machine.push_state(&mut guard, &Stunned, &mut { odd });
        machine.change_state_after(&mut guard, 1.0, &Idle, &mut { odd });
        for [saved_at, now] in [[odd, odd], [odd, 1.0], [1.0, odd]] {
            let text = serde_json::to_string(&machine.save(&book(), saved_at).unwrap()).unwrap();
            let mut loaded = book().load(serde_json::from_str(&text).unwrap(), now).unwrap();
            loaded.update(&mut guard, &mut { now });
            loaded.pop_state(&mut guard, &mut { now });
            loaded.update(&mut guard, &mut 1e300);
        }
    }
}

#[test]
fn an_owner_without_a_clock_or_a_message_is_saved_too() {
    struct Door;
    impl Owner for Door {
        type Context<'a> = ();
        type Message = ();
    }
    struct Closed;
    impl State<Door> for Closed {}
    let book = StateBook::<Door>::new().with(&Closed);
    let machine = StateMachine::new(&Closed);
    assert!(book.load(machine.save(&book, 0.0).unwrap(), 0.0).unwrap().is_in_state(&Closed));
    let idle = book.load(StateMachine::idle().save(&book, 0.0).unwrap(), 0.0).unwrap();
    assert_eq!(idle.current(), None);
}
