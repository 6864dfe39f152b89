//! One machine written twice, in a file and by hand: over random runs both make the same callbacks and changes, alone and in
//! a batch.
#![cfg(feature = "definition")]

mod acts;
mod by_hand;

use demeanor::definition::Vocabulary;
use proptest::prelude::*;

use crate::cases::cases;
use crate::guard::{self, Guard};
use crate::runs::{Played, assert_runs_have, run};
use crate::troop::Way;
use acts::{Fire, Go, Heal, Speak};

const FILE: &str = r#"
initial = "wander"
global = "always"

[states.always]
behaviour = "speak"
params = { word = "alive" }
exits = [
    { to = "dead", when = "health <= 0" },
    { to = "run to cover", on = "alarm", when = "not (enemy_visible or ammo > 3)", even_final = true },
]

[states.wander]
behaviour = "go"
params = { to = "nowhere", speed = 1.5 }
exits = [
    { to = "fight", when = "enemy_visible and health > 20" },
    { to = "rest", when = "time_in_state >= 1 and not enemy_visible and chance(0.4)" },
    { to = "shoot", on = "hit", when = "enemy_visible == true" },
]

[states.fight]
behaviour = "speak"
params = { word = "fight" }
enter_when = "ammo != 0 or health > 80"
initial = "aim"
history = true
exits = [
    { to = "wander", when = "not enemy_visible" },
    { to = "run to cover", on = "hit", when = "health < 50" },
]

[states.aim]
parent = "fight"
behaviour = "go"
params = { to = "the enemy", speed = 0.5 }
exits = [{ to = "shoot", when = "time_in_state > 0.5 or chance(0.25)" }]

[states.shoot]
parent = "fight"
behaviour = "fire"
exits = [
    { to = "reload", when = "ammo == 0" },
    { to = "aim", when = "chance(0.5) and not chance(0.1)" },
    { to = "fight", when = "health > ammo and 2 < time_in_state" },
]

[states.reload]
parent = "fight"
enter_when = "health > 10"
exits = [{ to = "shoot", when = "time_in_state > 2" }]

[states."run to cover"]
behaviour = "go"
params = { to = "cover", speed = 3.0 }
exits = [
    { to = "rest", when = "health < 30 and not enemy_visible" },
    { to = "fight", when = "time_in_state >= 1" },
    { to = "wander", when = "time_in_state > 1.5" },
]

[states.rest]
behaviour = "heal"
exits = [{ to = "wander", when = "health >= 60 or enemy_visible" }]

[states.dead]
final = true
"#;

fn vocabulary() -> Vocabulary<Guard> {
    guard::vocabulary()
        .behaviour_with("go", |params: Go| params)
        .behaviour_with("speak", |params: Speak| params)
        .behaviour("fire", &Fire)
        .behaviour("heal", &Heal)
}

fn by_hand() -> Played {
    let mut states = by_hand::all_by_hand();
    let global = states.pop();
    Played::by_hand(states, global)
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn a_machine_from_a_file_does_what_the_same_one_by_hand_does((guards, events) in run(89)) {
        let (file, hand) = (Played::of_file(FILE, &vocabulary()), by_hand());
        let expected = hand.play(Way::Alone, &guards, &events);
        prop_assert_eq!(&file.play(Way::Alone, &guards, &events), &expected);
        prop_assert_eq!(&hand.play(Way::InTurn, &guards, &events), &expected);
        prop_assert_eq!(&file.play(Way::InTurn, &guards, &events), &expected);
    }
}

#[test]
fn the_runs_take_every_exit() {
    assert_runs_have(
        60,
        89,
        &[by_hand()],
        "
        wander -> aim (change)
        wander -> rest (change)
        wander -> shoot (change)
        aim -> shoot (change)
        shoot -> reload (change)
        shoot -> aim (change)
        reload -> shoot (change)
        aim -> wander (change)
        shoot -> run to cover (change)
        wander -> run to cover (change)
        run to cover -> rest (change)
        run to cover -> aim (change)
        run to cover -> wander (change)
        rest -> wander (change)
        aim -> dead (change)
        rest -> aim (resume), refused by fight.can_enter
        dead -> shoot (resume)
        ",
    );
}
