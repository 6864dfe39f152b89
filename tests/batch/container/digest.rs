//! The digest of a batch: the same for all that holds the same, and for nothing else.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::clones::{Climb, Eat, Follow, Goat, Hill, Look, Rest};
use demeanor::{Batch, DigestHasher, Fsm, Key, State, StateMachine, StateRef};

fn digest(batch: &Batch<Goat>) -> u64 {
    batch.digest(Hash::hash)
}

/// The digest of one goat that has been through `life`.
fn after(life: impl FnOnce(&mut Batch<Goat>, Key)) -> u64 {
    let mut batch = Batch::new();
    let key = batch.spawn(Goat(7), &Eat, &mut 1.0);
    life(&mut batch, key);
    digest(&batch)
}

#[test]
fn all_that_rule_28_names_changes_the_digest() {
    let plain = after(|_, _| {});
    let all = [
        ("nothing", plain),
        ("the owner", after(|batch, key| batch[key].0 = 8)),
        (
            "its key",
            after(|batch, key| {
                batch.remove(key);
                batch.spawn(Goat(7), &Eat, &mut 1.0);
            }),
        ),
        ("one owner more", after(|batch, _| _ = batch.insert(Goat(7), &Eat))),
        ("no owner", after(|batch, _| batch.clear())),
        ("the current state", after(|batch, key| assert!(batch.set_current(key, &Climb)))),
        ("its parent", after(|batch, key| assert!(batch.set_current(key, &Rest)))),
        ("the previous state", after(|batch, key| assert!(batch.set_previous(key, &Climb)))),
        ("another previous state", after(|batch, key| assert!(batch.set_previous(key, &Hill)))),
        ("when it was entered", after(|batch, key| assert!(batch.change_state(key, &Eat, &mut 2.0)))),
        (
            "that it was not entered",
            after(|batch, _| {
                batch.clear();
                batch.insert(Goat(7), &Eat);
            }),
        ),
        ("that it sleeps", after(|batch, key| assert!(batch.sleep(key)))),
        ("that it sleeps for a while", after(|batch, key| assert!(batch.sleep_for(key, 1.0, &1.0)))),
        ("a timer", after(|batch, key| assert!(batch.change_state_after(key, 1.0, &Climb, &mut 1.0)))),
        ("a later timer", after(|batch, key| assert!(batch.change_state_after(key, 2.0, &Climb, &mut 1.0)))),
        ("a timer for another state", after(|batch, key| assert!(batch.change_state_after(key, 1.0, &Hill, &mut 1.0)))),
        ("that it has no state", after(|batch, key| assert!(batch.stop(key, &mut 1.0)))),
    ];
    for (nth, (what, found)) in all.iter().enumerate() {
        for (other, same) in &all[..nth] {
            assert_ne!(found, same, "{what}, and {other}");
        }
    }
}

/// A goat with a stack: it climbed after `climbed`, rested after `rested`, and looks around.
fn pushed(climbed: f64, rested: f64) -> u64 {
    after(|batch, key| {
        batch.change_state(key, &Rest, &mut climbed.clone());
        batch.push_state(key, &Look, &mut rested.clone());
    })
}

/// Whoever differs by its machine in a batch, differs by itself.
#[test]
fn a_machine_has_the_same_digest_as_its_clone_and_no_other() {
    let lives: [fn(&mut StateMachine<Goat>, &mut Goat); 8] = [
        |_, _| {},
        |machine, goat| assert!(machine.change_state(goat, &Rest, &mut 1.0)),
        |machine, goat| assert!(machine.change_state(goat, &Rest, &mut 2.0)),
        |machine, goat| assert!(machine.push_state(goat, &Rest, &mut 1.0)),
        |machine, goat| assert!(machine.change_state_after(goat, 1.0, &Rest, &mut 1.0)),
        |machine, goat| machine.sleep_for(goat, 1.0, &1.0),
        |machine, _| machine.sleep(),
        |machine, _| machine.set_previous(&Look),
    ];
    let digests: Vec<_> = lives
        .into_iter()
        .map(|life| {
            let (mut goat, mut machine) = (Goat(7), StateMachine::new(&Eat));
            machine.start(&mut goat, &mut 1.0);
            life(&mut machine, &mut goat);
            assert_eq!(machine.clone().digest(), machine.digest());
            machine.digest()
        })
        .collect();
    for (nth, digest) in digests.iter().enumerate() {
        assert_eq!(digests.iter().position(|other| other == digest), Some(nth));
    }
}

/// Sets a timer for a goat that is small.
struct Doze;

impl State<Goat> for Doze {
    fn enter(&self, goat: &mut Goat, fsm: &mut Fsm<'_, Goat>, _: &mut f64) {
        if goat.0 < 5 {
            fsm.change_state_after(1.0, &Climb);
        }
    }
}

/// A change ends the timer of a state, and does not end the timer of the machine.
#[test]
fn the_state_that_a_timer_belongs_to_changes_the_digest() {
    let dozing = |number: u32| {
        let mut batch = Batch::new();
        let key = batch.spawn(Goat(number), &Doze, &mut 1.0);
        if number >= 5 {
            batch.change_state_after(key, 1.0, &Climb, &mut 1.0);
        }
        let machine = batch.clone().remove(key).expect("it is there").1;
        (batch.digest(|_, _| {}), machine.digest())
    };
    let (of_state, of_machine) = (dozing(4), dozing(5));
    assert_eq!(of_state, dozing(3));
    assert_ne!(of_state.0, of_machine.0);
    assert_ne!(of_state.1, of_machine.1);
}

#[test]
fn what_lies_on_the_stack_and_its_times_change_the_digest() {
    let looks = pushed(2.0, 4.0);
    assert_eq!(looks, pushed(2.0, 4.0));
    let same_time_on_top = pushed(3.0, 4.0);
    assert_ne!(looks, same_time_on_top, "one rested for two seconds, the other for one");
    let twice = after(|batch, key| {
        batch.change_state(key, &Rest, &mut 2.0);
        batch.push_state(key, &Look, &mut 4.0);
        batch.push_state(key, &Look, &mut 4.0);
    });
    assert_ne!(looks, twice);
}

#[test]
fn what_history_remembers_and_when_a_parent_was_entered_change_the_digest() {
    let left_from = |first: &'static dyn State<Goat>, second: &'static dyn State<Goat>| {
        after(|batch, key| {
            batch.change_state(key, first, &mut 2.0);
            batch.change_state(key, second, &mut 3.0);
            batch.change_state(key, &Eat, &mut 4.0);
            batch.set_previous(key, &Climb);
        })
    };
    assert_ne!(left_from(&Rest, &Look), left_from(&Look, &Rest));
    let since = |at: f64| {
        after(|batch, key| {
            batch.change_state(key, &Rest, &mut at.clone());
            batch.change_state(key, &Look, &mut 9.0);
        })
    };
    assert_ne!(since(2.0), since(3.0));
    assert_eq!(since(2.0), since(2.0));
}

#[test]
fn the_digest_depends_on_no_row_and_no_number_of_a_state() {
    let mut batch: Batch<Goat> = (0..3000).map(|number| (Goat(number), &Eat)).collect();
    let mut by_key = Batch::new();
    // Its states have other numbers.
    let keys = [by_key.insert(Goat(0), Arc::new(Follow(1))), by_key.insert(Goat(0), &Climb)];
    by_key.clone_from(&batch);
    assert!(keys.iter().all(|key| by_key.contains_key(*key)), "the keys of the other batch");
    for tick in 1..20 {
        let mut clock = f64::from(tick);
        batch.update(&mut clock);
        by_key.update_in_key_order(&mut clock);
        assert_eq!(digest(&batch), digest(&by_key), "tick {tick}");
    }
    let rows = |batch: &Batch<Goat>| batch.keys().zip(batch).map(|(_, (key, _))| key).collect::<Vec<_>>();
    assert_ne!(rows(&batch), rows(&by_key), "the rows lie in another order");
}

#[test]
fn the_digest_depends_on_no_address() {
    let shared = after(|batch, key| assert!(batch.change_state(key, Arc::new(Follow(1)), &mut 2.0)));
    assert_eq!(shared, after(|batch, key| assert!(batch.change_state(key, Arc::new(Follow(1)), &mut 2.0))));
    assert_eq!(shared, after(|batch, key| assert!(batch.change_state(key, Box::new(Follow(1)), &mut 2.0))));
    let left = |state: StateRef<Goat>| {
        after(|batch, key| {
            batch.change_state(key, state, &mut 2.0);
            batch.change_state(key, &Climb, &mut 3.0);
        })
    };
    assert_eq!(left(Arc::new(Follow(1)).into()), left(Box::new(Follow(1)).into()));
}

/// On every machine: what a network game compares has to be this number on both sides.
#[test]
fn the_digest_is_the_same_in_every_process() {
    assert_eq!(after(|_, _| {}), 2_045_076_048_622_266_369);
    let hashed = |write: fn(&mut DigestHasher)| {
        let mut found = 0;
        let batch: Batch<Goat> = [(Goat(0), &Eat)].into_iter().collect();
        let with = batch.digest(|_, hasher| {
            write(hasher);
            found = hasher.finish();
        });
        assert_ne!(with, batch.digest(|_, _| {}));
        found
    };
    assert_eq!(hashed(|hasher| hasher.write_usize(5)), hashed(|hasher| hasher.write_u64(5)));
    assert_eq!(hashed(|hasher| hasher.write_isize(-5)), hashed(|hasher| hasher.write_i64(-5)));
    assert_eq!(hashed(|hasher| hasher.write_u32(0x0102_0304)), hashed(|hasher| hasher.write(&[4, 3, 2, 1])));
}
