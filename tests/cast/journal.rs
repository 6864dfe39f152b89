//! A cast's journal (rule 29).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use demeanor::{Agent, Cast, Change, Fsm, Journal, Owner, State, StateMachine, Step, Telegram};

/// The world is what `on_change` has been told.
type Street = Cast<&'static str, &'static str, Vec<String>>;

#[derive(Default)]
struct Shop {
    name: &'static str,
    /// Who is told when this one has opened, while it is a member like the others.
    neighbor: Option<&'static str>,
    is_broke: bool,
}

impl Owner for Shop {
    type Context<'a> = Street;
    type Message = Telegram<&'static str, &'static str>;

    fn now(street: &Street) -> f64 {
        street.now()
    }

    fn on_change(&mut self, change: &Change<'_, Self>, street: &mut Street) {
        let time = street.now();
        let after = if change.is_taken() { format!(", after {} s", change.time_in_state) } else { String::new() };
        street.world.push(format!("{time} s: {:?}: {change}{after}", self.name));
    }
}

struct Closed;
struct Open;
struct Break;

impl State<Shop> for Closed {
    fn update(&self, _: &mut Shop, fsm: &mut Fsm<'_, Shop>, _: &mut Street) {
        fsm.change_state(&Open);
    }

    fn on_message(
        &self,
        _: &mut Shop,
        _: &Telegram<&'static str, &'static str>,
        fsm: &mut Fsm<'_, Shop>,
        _: &mut Street,
    ) -> bool {
        fsm.change_state(&Open);
        true
    }
}

impl State<Shop> for Open {
    fn can_enter(&self, shop: &Shop, _: &Fsm<'_, Shop>, _: &Street) -> bool {
        !shop.is_broke
    }

    fn enter(&self, shop: &mut Shop, fsm: &mut Fsm<'_, Shop>, street: &mut Street) {
        let (name, Some(neighbor)) = (shop.name, shop.neighbor) else { return };
        // An agent that has been put elsewhere is nobody who could rejoin.
        let _ = street.rejoin(&name, shop, fsm, |street| {
            street.with::<Shop, _>(&name, |shop, street| shop.push_state(&Break, street)).unwrap();
            street.send(name, neighbor, "open, too");
        });
    }

    fn update(&self, _: &mut Shop, fsm: &mut Fsm<'_, Shop>, _: &mut Street) {
        fsm.revert_state();
    }
}

impl State<Shop> for Break {
    fn enter(&self, shop: &mut Shop, _: &mut Fsm<'_, Shop>, _: &mut Street) {
        assert_ne!(shop.name, "smithy", "no breaks");
    }

    fn update(&self, _: &mut Shop, fsm: &mut Fsm<'_, Shop>, _: &mut Street) {
        fsm.pop_state();
    }
}

fn shop(name: &'static str, neighbor: Option<&'static str>, is_broke: bool) -> Agent<Shop> {
    Agent::new(Shop { name, neighbor, is_broke }, StateMachine::new(&Closed))
}

fn street() -> Street {
    let mut street = Street::new(Vec::new());
    street.set_journal(Some(Journal::new(1000)));
    street.add("bakery", shop("bakery", Some("dairy"), false)).unwrap();
    street.add("dairy", shop("dairy", None, false)).unwrap();
    street.add("smithy", shop("smithy", None, false)).unwrap();
    street.add("arcade", shop("arcade", None, true)).unwrap();
    street
}

/// Rule 29.
#[test]
fn a_cast_writes_what_on_change_is_told_in_the_same_order() {
    let mut street = street();
    street.start();
    for _ in 0..4 {
        street.advance(Duration::from_millis(250));
        street.update();
    }
    street.with::<Shop, _>(&"dairy", |dairy, street| dairy.force_state(&Break, street)).unwrap();
    let fallen = catch_unwind(AssertUnwindSafe(|| {
        street.with::<Shop, _>(&"smithy", |smithy, street| smithy.push_state(&Break, street))
    }));
    assert!(fallen.is_err());
    street.stop();
    let journal = street.set_journal(None).unwrap();
    let entries: Vec<String> = journal.entries().map(|entry| entry.to_string()).collect();
    assert_eq!(entries, street.world);
    for text in ["(revert)", "(push)", "(pop)", "(force)", "refused by Open.can_enter", "\"smithy\": Closed -> Break"] {
        assert!(street.world.iter().any(|told| told.contains(text)), "{text} occurs in {:#?}", street.world);
    }
    assert!(street.journal().is_none());
}

/// Rule 29.
#[test]
fn an_agent_that_was_lent_and_is_put_elsewhere_is_in_nobodys_journal() {
    let mut street = street();
    let new = shop("bakery", None, false);
    let old = street.with::<Shop, _>(&"bakery", |bakery, _| std::mem::replace(bakery, new));
    let mut old = old.unwrap();
    old.update(&mut street);
    assert_eq!(old.machine().current().unwrap().name(), "Open");
    assert_eq!(street.state_of(&"bakery").as_deref(), Some("Closed"));
    assert_eq!(street.world, ["0 s: \"bakery\": Closed -> Open (change), after 0 s"]);
    assert!(street.journal().unwrap().is_empty());
}

/// Rule 29.
#[test]
fn recorded_steps_make_the_journal_that_on_change_makes() {
    struct Door;
    struct House(Journal<u32>, f64);
    impl Owner for Door {
        type Context<'a> = House;
        type Message = ();

        fn now(house: &House) -> f64 {
            house.1
        }

        fn on_change(&mut self, change: &Change<'_, Self>, house: &mut House) {
            house.0.note(7, change, house.1);
        }
    }
    struct Shut;
    struct Ajar;
    struct Locked;
    impl State<Door> for Shut {}
    impl State<Door> for Ajar {}
    impl State<Door> for Locked {
        fn can_exit(&self, _: &Door, _: &Fsm<'_, Door>, _: &House) -> bool {
            false
        }
    }

    let mut house = House(Journal::new(100), 0.5);
    let (mut machine, mut steps): (_, Vec<Step<Door>>) = (StateMachine::new(&Shut), Vec::new());
    let mut recorded = machine.recording(Some(&mut steps));
    recorded.start(&mut Door, &mut house);
    for _ in 0..2 {
        house.1 += 0.75;
        recorded.change_state(&mut Door, &Ajar, &mut house);
        recorded.push_state(&mut Door, &Shut, &mut house);
        recorded.pop_state(&mut Door, &mut house);
        recorded.change_state(&mut Door, &Locked, &mut house);
        recorded.change_state(&mut Door, &Shut, &mut house);
    }
    recorded.stop(&mut Door, &mut house);
    let mut journal = Journal::new(100);
    for step in &steps {
        journal.note_step(7, step);
    }
    assert_eq!(journal.entries().collect::<Vec<_>>(), house.0.entries().collect::<Vec<_>>());
    assert_eq!(journal.flow(), house.0.flow());
    assert!(journal.entries().any(|entry| entry.refused.is_some()));
    assert!(
        matches!(&steps[..], [Step::Changed { time, time_in_state, .. }, ..] if (*time, *time_in_state) == (0.5, 0.0))
    );
}
