//! A program whose states are others than when it saved.

use demeanor::{Batch, Fsm, LoadError, Missing, NextWake, State, StateBook, StateMachine, StateRef};

use crate::barracks::{Flee, Guard, Idle, Patrol, Stunned, Told, book, patrol, state};

/// The next version of the game: combat is inside of duty, and nobody shoots any more.
pub(crate) mod next {
    use super::*;

    state!(Duty);
    state!(Combat {
        fn parent(&self) -> Option<StateRef<Guard>> {
            Some((&Duty).into())
        }

        fn keeps_history(&self) -> bool {
            true
        }
    });
    state!(Aim {
        fn parent(&self) -> Option<StateRef<Guard>> {
            Some((&Combat).into())
        }
    });

    pub(super) fn book() -> StateBook<Guard> {
        let book = StateBook::new().with(&Idle).with(&Flee).with(&Stunned).with(&Duty).with(&Combat).with(&Aim);
        book.with_owned::<Patrol>().with_messages()
    }
}

/// Machines of the last version: in `Aim`, in `Shoot`, pushed over `Shoot`, and with a timer that leads there.
fn old() -> (Vec<StateMachine<Guard>>, Batch<Guard>) {
    use crate::barracks::{Combat, Shoot};
    let guard = &mut Guard::default();
    let mut machines = vec![StateMachine::new(&Idle); 4];
    machines[0].change_state(guard, &Combat, &mut 1.0);
    machines[1].change_state(guard, &Shoot, &mut 2.0);
    machines[2].change_state(guard, &Shoot, &mut 2.0);
    machines[2].push_state(guard, &Stunned, &mut 3.0);
    machines[3].change_state_after(guard, 4.0, &Shoot, &mut 3.0);
    machines[3].change_state(guard, &Shoot, &mut 3.0);
    machines[3].change_state(guard, &Idle, &mut 3.0);
    let mut batch = Batch::new();
    for (number, machine) in (0..).zip(&machines) {
        batch.insert_machine(Guard::new(number), machine.clone()).unwrap();
    }
    (machines, batch)
}

/// Each machine loaded by a book, and the batch.
fn load(book: &StateBook<Guard>) -> Result<(Vec<StateMachine<Guard>>, Batch<Guard>), LoadError> {
    let (machines, batch) = old();
    let saved = batch.save(&crate::barracks::book(), 4.0).unwrap().map_owners(Guard::clone);
    let batch = Batch::load(saved, book, 4.0);
    let machines = machines.iter().map(|machine| book.load(machine.save(&crate::barracks::book(), 4.0).unwrap(), 4.0));
    let machines = machines.collect::<Result<_, _>>();
    assert_eq!(machines.as_ref().err().is_some(), batch.as_ref().err().is_some());
    Ok((machines?, batch?))
}

/// The path and the times of each machine, and of each owner of the batch the same.
fn paths((machines, batch): &(Vec<StateMachine<Guard>>, Batch<Guard>), now: f64) -> Vec<Vec<(String, f64)>> {
    let of_machines = machines.iter().map(|machine| {
        machine.path().map(|state| (state.to_string(), machine.time_in(&**state, &now).unwrap())).collect()
    });
    let of_machines: Vec<Vec<_>> = of_machines.collect();
    let mut of_batch = vec![vec![]; machines.len()];
    for (key, guard) in batch {
        of_batch[guard.number as usize] = batch
            .path(key)
            .unwrap()
            .map(|state| (state.to_string(), batch.time_in(key, &**state, &now).unwrap()))
            .collect();
    }
    assert_eq!(of_batch, of_machines);
    of_machines
}

#[test]
fn a_state_that_is_nested_otherwise_has_its_path_found_anew() {
    let book = next::book().on_missing(|_| Missing::Place((&Flee).into()));
    let loaded = load(&book).unwrap();
    let at = |name: &str, seconds: f64| (name.to_string(), seconds);
    assert_eq!(paths(&loaded, 4.0)[0], [at("Duty", 3.0), at("Combat", 3.0), at("Aim", 3.0)]);
}

/// A later version, in which another state is around `Aim`.
mod later {
    use super::*;

    state!(Melee);
    state!(Aim {
        fn parent(&self) -> Option<StateRef<Guard>> {
            Some((&Melee).into())
        }
    });
}

#[test]
fn a_parent_that_is_gone_leaves_neither_its_time_nor_its_timers_to_the_one_in_its_place() {
    use crate::barracks::{Combat, Shoot};
    let (mut guard, mut machine) = (Guard::default(), StateMachine::new(&Idle));
    machine.change_state(&mut guard, &Combat, &mut 1.0);
    machine.change_state(&mut guard, &Shoot, &mut 2.0);
    machine.change_state(&mut guard, &crate::barracks::Aim, &mut 2.5);
    assert_eq!(machine.pending().len(), 2);
    let mut batch = Batch::new();
    let key = batch.insert_machine(guard, machine.clone()).unwrap();
    for stand_in in [StateRef::from(&Idle), (&later::Melee).into()] {
        let book = StateBook::new().with(&Idle).with(&later::Melee).with(&later::Aim).with_messages();
        let book = book.on_missing(move |_| Missing::Place(stand_in.clone()));
        let loaded = book.load(machine.save(&crate::barracks::book(), 3.0).unwrap(), 3.0).unwrap();
        let saved = batch.save(&crate::barracks::book(), 3.0).unwrap().map_owners(Guard::clone);
        let batch = Batch::load(saved, &book, 3.0).unwrap();
        assert_eq!((loaded.time_in(&later::Melee, &3.0), loaded.pending().len()), (Some(0.5), 1));
        assert_eq!((batch.time_in(key, &later::Melee, &3.0), batch.pending(key).unwrap().len()), (Some(0.5), 1));
    }
}

#[test]
fn what_stands_in_is_put_in_place() {
    let book = next::book().on_missing(|name| {
        assert_eq!(name, "Shoot");
        Missing::Place((&Flee).into())
    });
    let mut loaded = load(&book).unwrap();
    let at = |name: &str, seconds: f64| vec![(name.to_string(), seconds)];
    assert_eq!(paths(&loaded, 4.0)[1..], [at("Flee", 2.0), at("Stunned", 1.0), at("Idle", 1.0)]);
    let mut guards = vec![Guard::default(); 4];
    for (guard, machine) in guards.iter_mut().zip(&mut loaded.0) {
        machine.pop_state(guard, &mut 4.0);
        machine.update(guard, &mut 7.0);
    }
    let keys: Vec<_> = loaded.1.keys().collect();
    for key in keys {
        loaded.1.pop_state(key, &mut 4.0);
    }
    loaded.1.update(&mut 7.0);
    // It takes the place of the other on the stack, and where a timer leads.
    assert_eq!(paths(&loaded, 7.0)[1..], [at("Flee", 5.0), at("Flee", 4.0), at("Flee", 0.0)]);
    let entered = |guard: &Guard| guard.log.iter().filter(|line| line.starts_with("enter")).count();
    assert_eq!(guards.iter().map(entered).collect::<Vec<_>>(), [1, 0, 1, 1]);
}

#[test]
fn what_stands_in_is_entered_at_the_beginning_of_the_next_tick() {
    let book = next::book().on_missing(|_| Missing::Enter((&next::Combat).into()));
    let (mut machines, mut batch) = load(&book).unwrap();
    let machine = &mut machines[1];
    assert!(machine.is_in_state(&next::Combat) && !machine.is_started());
    let mut guard = Guard::new(1);
    machine.update(&mut guard, &mut 5.0);
    let lines = |guard: &Guard| -> Vec<String> {
        guard.log.iter().map(|line| line.split(" [").next().unwrap().to_string()).collect()
    };
    let expected = ["enter Duty", "enter Combat", "update Duty", "update Combat"];
    assert_eq!(lines(&guard), expected);
    assert!(machine.is_started() && machine.time_in(&next::Duty, &5.0) == Some(0.0));
    machine.update(&mut guard, &mut 6.0);
    assert_eq!(lines(&guard)[4..], ["update Duty", "update Combat"]);

    batch.update(&mut 5.0);
    let (key, guard) = batch.iter().find(|(_, guard)| guard.number == 1).unwrap();
    assert_eq!(lines(guard), expected);
    assert_eq!(batch.time_in(key, &next::Duty, &5.0), Some(0.0));
}

#[test]
fn what_stands_in_is_entered_once_even_if_the_game_starts_it() {
    let book = next::book().on_missing(|_| Missing::Enter((&Idle).into()));
    let (mut machines, _) = load(&book).unwrap();
    let mut guard = Guard::default();
    machines[1].start(&mut guard, &mut 4.0);
    machines[1].update(&mut guard, &mut 5.0);
    let entered = guard.log.iter().filter(|line| line.starts_with("enter")).count();
    assert_eq!(entered, 1);
    // And if it is saved before.
    let (machines, _) = load(&book).unwrap();
    let mut again = book.load(machines[1].save(&book, 4.0).unwrap(), 4.0).unwrap();
    let mut guard = Guard::default();
    again.update(&mut guard, &mut 5.0);
    assert!(guard.log[0].starts_with("enter Idle"));
}

#[test]
fn a_name_that_is_gone_is_refused_with_all_others() {
    let error = load(&StateBook::new().with(&Idle)).err().unwrap();
    let LoadError::UnknownStates { names } = error else { panic!("{error}") };
    // Of a batch all names at once; here of the first machine that is refused.
    assert_eq!(names, ["Aim", "Shoot"]);
    let (_, batch) = old();
    let saved = batch.save(&book(), 4.0).unwrap().map_owners(Guard::clone);
    let error = Batch::load(saved, &StateBook::new().with(&Idle), 4.0).unwrap_err();
    assert_eq!(
        error,
        LoadError::UnknownStates { names: ["Aim", "Combat", "Flee", "Shoot", "Stunned"].map(String::from).to_vec() }
    );
}

#[test]
fn a_state_that_has_been_renamed_is_found_by_its_old_name() {
    let (machines, _) = old();
    let book = next::book().with_name("Shoot", &Flee);
    let mut machine = book.load(machines[1].save(&crate::barracks::book(), 4.0).unwrap(), 4.0).unwrap();
    assert!(machine.is_in_state(&Flee) && machine.is_started());
    // It is saved under the name that was given first.
    let text = serde_json::to_string(&machine.save(&book, 4.0).unwrap()).unwrap();
    assert!(text.contains("Flee") && !text.contains("Shoot"), "{text}");
    machine.update(&mut Guard::default(), &mut 4.0);
}

#[test]
fn a_type_of_owned_states_that_is_gone_can_be_stood_in_for() {
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..4).map(|number| batch.insert(Guard::new(number), patrol(9))).collect();
    batch.sleep(keys[1]);
    batch.change_state(keys[2], &Idle, &mut 1.0);
    let saved = batch.save(&book(), 2.0).unwrap().map_owners(Guard::clone);
    let without = StateBook::new().with(&Idle).with(&Flee);
    let error = Batch::load(saved.clone(), &without, 2.0).unwrap_err();
    assert_eq!(error, LoadError::UnknownStates { names: vec!["Patrol".into()] });

    let book = without.on_missing(|_| Missing::Enter((&Flee).into()));
    let mut loaded = Batch::load(saved, &book, 2.0).unwrap();
    assert_eq!((loaded.owners_in(&Flee).len(), loaded.awake()), (3, 4));
    assert_eq!(loaded.previous_of(keys[2]).unwrap().name(), "Flee");
    loaded.update(&mut 3.0);
    assert!(loaded[keys[1]].log[0].starts_with("enter Flee"));
}

#[test]
fn several_states_that_are_gone_can_have_one_stand_in_that_owners_are_in_already() {
    let mut batch = Batch::new();
    let states = [StateRef::from(&Idle), (&Stunned).into(), (&Flee).into(), (&Idle).into(), (&Flee).into()];
    let keys: Vec<_> =
        (0..).zip(&states).map(|(number, state)| batch.insert(Guard::new(number), state.clone())).collect();
    batch.sleep(keys[2]);
    batch.sleep(keys[3]);
    batch.change_state(keys[1], &Idle, &mut 1.0);
    batch.change_state(keys[1], &Flee, &mut 1.5);
    batch.send_after(keys[4], 3.0, Told::Bell, &mut 1.5);
    let saved = batch.save(&book(), 2.0).unwrap().map_owners(Guard::clone);
    let book = StateBook::new().with(&Flee).with_messages().on_missing(|_| Missing::Place((&Flee).into()));
    let mut loaded = Batch::load(saved, &book, 2.0).unwrap();
    assert_eq!(loaded.owners_in(&Flee).len(), 5);
    // Only whose state is still there sleeps on.
    assert_eq!((loaded.awake(), loaded.next_wake(keys[2])), (4, Some(NextWake::Never)));
    loaded.update(&mut 5.0);
    assert!(loaded[keys[4]].log.iter().any(|line| line.starts_with("Bell")));
    assert_eq!(loaded.len(), 5);
}

#[test]
fn a_state_that_is_gone_and_that_nobody_needs_is_no_matter() {
    let mut batch = Batch::new();
    let key = batch.insert(Guard::default(), &Stunned);
    batch.change_state(key, &Idle, &mut 1.0);
    batch.change_state(key, &Flee, &mut 1.0);
    let saved = batch.save(&book(), 2.0).unwrap().map_owners(Guard::clone);
    let mut loaded = Batch::load(saved, &StateBook::new().with(&Idle).with(&Flee), 2.0).unwrap();
    loaded.change_state(key, &Stunned, &mut 3.0);
    loaded.update(&mut 9.0);
    assert!(loaded.is_in_state(key, &Flee));
}

#[test]
fn history_of_what_is_no_longer_inside_is_forgotten() {
    use crate::barracks::{Combat, Shoot};
    let (mut guard, mut machine) = (Guard::default(), StateMachine::new(&Idle));
    machine.change_state(&mut guard, &Shoot, &mut 0.0);
    machine.change_state(&mut guard, &Idle, &mut 0.0);
    // `Shoot` is another state now, and in no other.
    let next = StateBook::new().with(&Idle).with(&Combat).with_name("Shoot", &Flee).with_messages();
    let mut loaded = next.load(machine.save(&book(), 0.0).unwrap(), 0.0).unwrap();
    loaded.resume_state(&mut guard, &Combat, &mut 0.0);
    assert!(loaded.is_in_state(&crate::barracks::Aim), "where combat begins");
}
