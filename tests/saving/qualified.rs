//! States of several modules that have the same name: a book qualifies their names.

use demeanor::{Agent, Batch, CastBook, Key, LoadError, State, StateBook, StateMachine, StateRef};
use serde::{Deserialize, Serialize};

use crate::barracks::{Guard, Idle, Patrol, patrol};
use crate::cast::{Miner, Town};

/// A kind with two states. Both kinds have the same names, but not the same timers.
macro_rules! kind {
    ($kind:ident, $seconds:literal) => {
        mod $kind {
            use demeanor::{Fsm, State, StateRef};

            use crate::barracks::{Guard, Told, state};
            use crate::cast::{Miner, Town};

            state!(Kind {
                fn initial(&self) -> Option<StateRef<Guard>> {
                    Some((&Walk).into())
                }
            });
            state!(Walk, |fsm| fsm.change_state_after($seconds, &Rest), {
                fn parent(&self) -> Option<StateRef<Guard>> {
                    Some((&Kind).into())
                }
            });
            state!(Rest, |fsm| fsm.change_state_after(2.0 * $seconds, &Walk), {
                fn parent(&self) -> Option<StateRef<Guard>> {
                    Some((&Kind).into())
                }
            });

            impl State<Miner> for Walk {
                fn update(&self, _: &mut Miner, fsm: &mut Fsm<'_, Miner>, town: &mut Town) {
                    town.world.push(format!("walks like a {} for {}", stringify!($kind), fsm.time_in_state(town)));
                }
            }
        }
    };
}
kind!(bat, 0.3);
kind!(crab, 0.7);

mod far {
    use super::*;

    /// An owned state with the name of another type of owned states.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub(crate) struct Patrol(pub(crate) u32);
    impl State<Guard> for Patrol {}
}

fn book() -> StateBook<Guard> {
    StateBook::new()
        .with(&Idle)
        .within("bat", |book| book.with(&bat::Kind).with(&bat::Walk).with(&bat::Rest))
        .within("crab", |book| book.with(&crab::Kind).with(&crab::Walk).with(&crab::Rest))
        .with_owned::<Patrol>()
        .within("far", StateBook::with_owned::<far::Patrol>)
}

fn kind(number: u32) -> StateRef<Guard> {
    if number % 2 == 0 { (&bat::Kind).into() } else { (&crab::Kind).into() }
}

#[test]
fn machines_in_states_of_one_name_are_saved_and_go_on() {
    for (number, name) in [(0, "bat/Walk"), (1, "crab/Walk")] {
        let (mut guard, mut machine) = (Guard::new(number), StateMachine::new(kind(number)));
        machine.start(&mut guard, &mut 0.0);
        guard.log.clear();
        let text = serde_json::to_string(&machine.save(&book(), 0.1).unwrap()).unwrap();
        assert!(text.contains(name), "{text}");
        let mut loaded = book().load(serde_json::from_str(&text).unwrap(), 0.1).unwrap();
        let mut other = guard.clone();
        for tick in 1..40 {
            machine.update(&mut guard, &mut (f64::from(tick) / 10.0));
            loaded.update(&mut other, &mut (f64::from(tick) / 10.0));
        }
        assert!(guard.log.iter().any(|line| line.starts_with("enter Rest")), "{:?}", guard.log);
        assert_eq!((other, loaded.digest()), (guard, machine.digest()));
    }
}

#[test]
fn a_batch_with_states_of_one_name_is_saved_and_goes_on() {
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..20).map(|number| batch.spawn(Guard::new(number), kind(number), &mut 0.0)).collect();
    let patrols = [StateRef::from(Box::new(far::Patrol(7))), patrol(3)];
    patrols.into_iter().zip(&keys).for_each(|(patrol, key)| assert!(batch.change_state(*key, patrol, &mut 0.0)));
    batch.sleep(keys[2]);
    let bytes = postcard::to_allocvec(&batch.save(&book(), 0.1).unwrap()).unwrap();
    let mut loaded = Batch::load(postcard::from_bytes(&bytes).unwrap(), &book(), 0.1).unwrap();
    let far = loaded.state_of(keys[0]).and_then(|state| state.downcast_ref());
    assert_eq!(far, Some(&far::Patrol(7)));
    assert!(loaded.is_in_state(keys[2], &bat::Walk) && loaded.is_in_state(keys[3], &crab::Walk));
    for tick in 1..40 {
        for batch in [&mut batch, &mut loaded] {
            batch.update(&mut (f64::from(tick) / 10.0));
        }
    }
    let rows = |batch: &Batch<Guard>| -> Vec<(Key, Guard, Option<StateRef<Guard>>)> {
        // An owned state is another object after loading.
        let state = |key| batch.state_of(key).filter(|state| !state.is_owned()).cloned();
        batch.iter().map(|(key, guard)| (key, guard.clone(), state(key))).collect()
    };
    assert_eq!(rows(&loaded), rows(&batch));
    assert!(batch.iter().any(|(key, _)| batch.is_in_state(key, &crab::Rest)));
}

#[test]
fn a_cast_with_states_of_one_name_is_saved_and_goes_on() {
    let miners = StateBook::<Miner>::new()
        .within("bat", |book| book.with(&bat::Walk))
        .within("crab", |book| book.with(&crab::Walk));
    let book = CastBook::<Town>::new().with("miner", miners);
    let mut town = Town::new(vec![]);
    for (key, machine) in [(1, StateMachine::new(&crab::Walk)), (2, StateMachine::new(&bat::Walk))] {
        town.add(key, Agent::new(Miner { gold: 0 }, machine)).unwrap();
    }
    let text = serde_json::to_string(&town.save(&book).unwrap()).unwrap();
    let mut loaded = Town::load(serde_json::from_str(&text).unwrap(), &book, vec![]).unwrap();
    loaded.update();
    assert_eq!(loaded.world, ["walks like a crab for 0", "walks like a bat for 0"]);
}

/// Within `within`, every method adds qualified names, and behind it none does.
#[test]
fn names_are_qualified_by_all_that_is_around_them() {
    let book = StateBook::<Guard>::new()
        .within("cave", |book| {
            book.with_name("home", &Idle).within("bat", |book| book.with(&bat::Walk).with_owned_name::<Patrol>("way"))
        })
        .with(&crab::Walk);
    assert_eq!(
        format!("{book:?}"),
        r#"StateBook { names: ["Walk", "cave/bat/Walk", "cave/bat/way", "cave/home"], .. }"#
    );
    assert_eq!(book.check(), Ok(()));
}

#[test]
fn a_save_from_before_the_names_were_qualified_is_loaded_by_a_second_name() {
    let old = StateBook::<Guard>::new().with(&bat::Walk);
    let saved = StateMachine::new(&bat::Walk).save(&old, 0.0).unwrap();
    assert_eq!(book().load(saved.clone(), 0.0).unwrap_err(), LoadError::UnknownStates { names: vec!["Walk".into()] });
    let book = book().with_name("Walk", &bat::Walk);
    let machine = book.load(saved, 0.0).unwrap();
    assert_eq!(machine.current(), Some(&StateRef::from(&bat::Walk)));
    let text = serde_json::to_string(&machine.save(&book, 0.0).unwrap()).unwrap();
    assert!(text.contains("bat/Walk"), "it is saved with its first name: {text}");
}

#[test]
fn two_states_of_one_qualified_name_are_refused_with_what_to_write() {
    let book = StateBook::<Guard>::new().within("bat", |book| book.with(&bat::Walk).with(&crab::Walk));
    assert_eq!(
        book.check().unwrap_err().to_string(),
        "the book has two states named `bat/Walk`: give one of them another name, with `with_name`, \
         or add it in `within(\"kind\", ..)`, which makes its name `kind/bat/Walk`"
    );
    let plain = StateBook::<Guard>::new().with(&bat::Walk).within("crab", |book| book.with(&crab::Walk));
    assert_eq!(plain.check(), Ok(()), "one of two need not be qualified");
}
