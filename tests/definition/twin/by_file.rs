//! The machine in a file.

use demeanor::definition::Definition;

use super::acts::{Fire, Go, Heal, Speak};
use crate::guard::{self, Guard, parsed};

pub(crate) fn definition() -> Definition<Guard> {
    let vocabulary = guard::vocabulary()
        .behaviour_with("go", |params: Go| params)
        .behaviour_with("speak", |params: Speak| params)
        .behaviour("fire", &Fire)
        .behaviour("heal", &Heal);
    let definition = parsed(FILE, &vocabulary);
    assert_eq!(definition.warnings(), []);
    definition
}

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
