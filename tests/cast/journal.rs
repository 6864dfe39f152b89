//! A cast's journal (rule 29).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use demeanor::Journal;

use crate::play::{Player, Stage, agent, learn, place, stage};

/// Creates four shops, which open (`Busy`), close, and take breaks (`Away`). The bakery takes a break as soon as it opens, and
/// makes the dairy open, too. The smithy takes no breaks, and the arcade is broke.
fn street() -> Stage {
    let mut street = stage(
        "cast bakery, dairy, smithy, arcade
        bakery Busy.enter: rejoin with bakery push Away & send dairy open too
        smithy Away.enter: panic
        arcade Busy.can_enter: refuse",
    );
    for shop in ["bakery", "dairy", "smithy", "arcade"] {
        for line in
            ["Idle.update: change Busy", "Idle.open too: change Busy", "Busy.update: revert", "Away.update: pop"]
        {
            assert!(learn(&mut street, format!("{shop} {line}").leak()));
        }
    }
    street.set_journal(Some(Journal::new(1000)));
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
    street.with::<Player, _>(&"dairy", |dairy, street| dairy.force_state(place("Away"), street)).unwrap();
    let fallen = catch_unwind(AssertUnwindSafe(|| {
        street.with::<Player, _>(&"smithy", |smithy, street| smithy.push_state(place("Away"), street))
    }));
    assert!(fallen.is_err());
    street.stop();
    let journal = street.set_journal(None).unwrap();
    let entries: Vec<String> = journal.entries().map(|entry| entry.to_string()).collect();
    assert_eq!(entries, street.world.told);
    for text in ["(revert)", "(push)", "(pop)", "(force)", "refused by Busy.can_enter", "\"smithy\": Idle -> Away"] {
        assert!(entries.iter().any(|told| told.contains(text)), "{text} occurs in {entries:#?}");
    }
    assert!(street.journal().is_none());
}

/// Rule 29.
#[test]
fn an_agent_that_was_lent_and_is_put_elsewhere_is_in_nobodys_journal() {
    let mut street = street();
    let new = agent("dairy", "dairy", "Idle");
    let old = street.with::<Player, _>(&"dairy", |dairy, _| std::mem::replace(dairy, new));
    let mut old = old.unwrap();
    old.update(&mut street);
    assert_eq!(old.machine().current().unwrap().name(), "Busy");
    assert_eq!(street.state_of(&"dairy").as_deref(), Some("Idle"));
    assert_eq!(street.world.told, ["0 s: \"dairy\": Idle -> Busy (change), after 0 s"]);
    assert!(street.journal().unwrap().is_empty());
}
