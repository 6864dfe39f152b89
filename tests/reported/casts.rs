//! Faults of casts.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use demeanor::{Agent, Cast, Fsm, Owner, State, StateMachine, Telegram};

/// The world is who has been updated.
type Town = Cast<&'static str, (), Vec<&'static str>>;

#[derive(Default)]
struct Citizen(&'static str);

impl Owner for Citizen {
    type Context<'a> = Town;
    type Message = Telegram<&'static str, ()>;
}

struct Leaving;

impl State<Citizen> for Leaving {
    fn update(&self, citizen: &mut Citizen, fsm: &mut Fsm<'_, Citizen>, town: &mut Town) {
        town.world.push(citizen.0);
        let name = citizen.0;
        _ = town.rejoin(&name, citizen, fsm, |town| {
            assert!(town.dismiss(&name));
            town.update();
        });
    }
}

struct Staying;

impl State<Citizen> for Staying {
    fn update(&self, citizen: &mut Citizen, _: &mut Fsm<'_, Citizen>, town: &mut Town) {
        town.world.push(citizen.0);
    }
}

/// Rule 30: who is dismissed is no member any more. It was still in its place, where an update of all came by. Found by
/// `a_cast_does_what_the_rules_say`.
#[test]
fn a_member_that_is_dismissed_after_it_has_rejoined_has_no_turn_in_an_update_of_all() {
    let mut town = Town::new(vec![]);
    town.add("Ann", Agent::new(Citizen("Ann"), StateMachine::new(&Leaving))).unwrap();
    town.add("Ben", Agent::new(Citizen("Ben"), StateMachine::new(&Staying))).unwrap();
    town.update();
    assert_eq!(town.world, ["Ann", "Ben", "Ben"]);
    assert_eq!(town.keys().collect::<Vec<_>>(), [&"Ben"]);
}

struct Parting;

impl State<Citizen> for Parting {
    fn exit(&self, citizen: &mut Citizen, fsm: &mut Fsm<'_, Citizen>, town: &mut Town) {
        let name = citizen.0;
        _ = town.rejoin(&name, citizen, fsm, |town| town.send("Eve", name, ()));
    }

    fn on_message(
        &self,
        citizen: &mut Citizen,
        _: &Telegram<&'static str, ()>,
        fsm: &mut Fsm<'_, Citizen>,
        _: &mut Town,
    ) -> bool {
        fsm.change_state_after(0.0, &Parting);
        if citizen.0 == "Ben" {
            fsm.sleep();
        }
        true
    }
}

/// Rules 25 and 26: in a change from one flat state to another, nothing was looked for that waits. Found by
/// `a_cast_does_what_the_rules_say`.
#[test]
fn what_waits_since_a_member_has_rejoined_in_exit_ends_with_its_state() {
    let mut town = Town::new(vec![]);
    for name in ["Ann", "Ben"] {
        town.add(name, Agent::new(Citizen(name), StateMachine::new(&Parting))).unwrap();
        town.with::<Citizen, _>(&name, |citizen, town| citizen.change_state(&Staying, town)).unwrap();
    }
    town.update();
    town.update();
    assert_eq!(town.world, ["Ann", "Ben", "Ann", "Ben"]);
}

thread_local! {
    static LIVE: Cell<i32> = const { Cell::new(0) };
}

/// A state that panics when it is dropped.
#[derive(Clone)]
struct Fragile(#[expect(dead_code, reason = "gives it a size")] u8);

impl State<Citizen> for Fragile {}

impl Drop for Fragile {
    fn drop(&mut self) {
        LIVE.set(LIVE.get() - 1);
        resume_unwind(Box::new("dropped"));
    }
}

/// Rule 22: the state that the cast had noted was dropped between the end of the turn and the end of the member, which then stayed.
#[test]
fn a_member_that_is_dismissed_in_a_turn_whose_end_panics_has_left() {
    struct Guest;
    impl Owner for Guest {
        type Context<'a> = Cast<u8, (), ()>;
        type Message = Telegram<u8, ()>;
    }
    impl Drop for Guest {
        fn drop(&mut self) {
            LIVE.set(LIVE.get() - 1);
        }
    }
    impl State<Guest> for Staying {}
    impl State<Guest> for Fragile {}
    let mut town: Cast<u8, (), ()> = Cast::new(());
    LIVE.set(2);
    town.add(1, Agent::new(Guest, StateMachine::new(Box::new(Fragile(1))))).unwrap();
    let left = catch_unwind(AssertUnwindSafe(|| {
        _ = town.with::<Guest, _>(&1, |guest, town| {
            assert!(town.dismiss(&1));
            // From here on, only the cast has the state.
            *guest.machine_mut() = StateMachine::new(&Staying);
        });
    }));
    assert_eq!(left.unwrap_err().downcast_ref(), Some(&"dropped"));
    assert_eq!(LIVE.get(), 0, "the guest has left with its state");
}

/// A message that panics when it is dropped.
struct Fuse;

impl Drop for Fuse {
    fn drop(&mut self) {
        resume_unwind(Box::new("dropped"));
    }
}

/// Owners with a number, whose telegrams panic when they are dropped.
#[derive(Default)]
struct Sapper(u8);

type Camp = Cast<u8, Fuse, ()>;

impl Owner for Sapper {
    type Context<'a> = Camp;
    type Message = Telegram<u8, Fuse>;
}

impl Drop for Sapper {
    fn drop(&mut self) {
        LIVE.set(LIVE.get() - i32::from(self.0));
    }
}

impl State<Sapper> for Leaving {
    fn update(&self, sapper: &mut Sapper, fsm: &mut Fsm<'_, Sapper>, camp: &mut Camp) {
        camp.send(1, 1, Fuse);
        let rejoined = catch_unwind(AssertUnwindSafe(|| {
            _ = camp.rejoin(&1, sapper, fsm, |camp| camp.dismiss(&1));
        }));
        assert_eq!((rejoined.is_err(), sapper.0), (true, 1));
    }
}
impl State<Sapper> for Staying {}

/// Rules 22 and 30: a member that had been dismissed stayed in its slot, and was saved with the cast. A member that had rejoined
/// lost its owner.
#[test]
fn a_member_leaves_though_a_message_that_was_put_off_for_it_panics() {
    let leave: [fn(&mut Camp); 2] = [|camp| assert!(camp.dismiss(&1)), |camp| drop(camp.remove::<Sapper>(&1))];
    for leave in leave {
        let mut camp = Camp::new(());
        LIVE.set(1);
        camp.add(1, Agent::new(Sapper(1), StateMachine::new(&Staying))).unwrap();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            _ = camp.with::<Sapper, ()>(&1, |_, camp| {
                camp.send(1, 1, Fuse);
                resume_unwind(Box::new("left"));
            });
        }));
        assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"left"));
        let left = catch_unwind(AssertUnwindSafe(|| leave(&mut camp)));
        assert_eq!(left.unwrap_err().downcast_ref(), Some(&"dropped"));
        assert_eq!((LIVE.get(), camp.len()), (0, 0));
    }
    let mut camp = Camp::new(());
    camp.add(1, Agent::new(Sapper(1), StateMachine::new(&Leaving))).unwrap();
    camp.update();
    assert!(camp.is_empty());
}

/// Rule 30: a telegram that a panic had left for a member arrived before its next turn, when another member left in its own turn.
#[test]
fn a_telegram_that_a_panic_has_left_waits_while_another_member_leaves() {
    type Street = Cast<u8, u8, Vec<u8>>;
    struct Porter;
    impl Owner for Porter {
        type Context<'a> = Street;
        type Message = Telegram<u8, u8>;
    }
    impl State<Porter> for Staying {
        fn on_message(
            &self,
            _: &mut Porter,
            telegram: &Telegram<u8, u8>,
            _: &mut Fsm<'_, Porter>,
            street: &mut Street,
        ) -> bool {
            street.world.push(telegram.message);
            true
        }
    }
    let mut street = Street::new(vec![]);
    for key in 1..=4 {
        street.add(key, Agent::new(Porter, StateMachine::new(&Staying))).unwrap();
    }
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        _ = street.with::<Porter, ()>(&2, |_, street| {
            street.send(2, 2, 7);
            resume_unwind(Box::new("left"));
        });
    }));
    assert!(panicked.is_err());
    assert!(street.dismiss(&3) && street.dismiss(&4));
    street
        .with::<Porter, _>(&1, |_, street| {
            street.post(1, 9, 8);
            street.dismiss(&1);
        })
        .unwrap();
    assert!(street.world.is_empty());
    street.update();
    assert_eq!(street.world, [7]);
}
