//! What is wrong with states and how they lead to each other.

use super::{Mistake, assert_drawn, assert_told};

const MISTAKES: &[Mistake] = &[
    (
        "a state defined twice",
        r#"exits = [{ to = "idle", when = "not enemy_visible" }]"#,
        r#"exits = [{ to = "idle", when = "not enemy_visible" }]

[states.idle]
final = true"#,
        r#"duplicate-state

  × state `idle` is defined twice
   ╭─[grunt.toml:3:9]
 2 │
 3 │ [states.idle]
   ·         ──┬─
   ·           ╰── first defined here
 4 │ behaviour = "rest"
   ╰────
    ╭─[grunt.toml:10:9]
  9 │
 10 │ [states.idle]
    ·         ──┬─
    ·           ╰── defined again here
 11 │ final = true
    ╰────
  help: put both into one table, or rename one
"#,
    ),
    (
        "a missing initial state",
        "initial = \"idle\"\n",
        "",
        r#"missing-key

  × the file has no `initial`
   ╭─[grunt.toml:1:1]
 1 │
   · ▲
   · ╰── needs `initial`
 2 │ [states.idle]
 3 │ behaviour = "rest"
   ╰────
  help: name the state that a machine begins in: `initial = ".."`
"#,
    ),
    (
        "an unknown initial state",
        r#"initial = "idle""#,
        r#"initial = "idel""#,
        r#"unknown-state

  × unknown state `idel`
   ╭─[grunt.toml:1:11]
 1 │ initial = "idel"
   ·           ───┬──
   ·              ╰── no state of this file
 2 │
   ╰────
  help: did you mean `idle`?
"#,
    ),
    (
        "an exit to its own state without a condition",
        r#"when = "enemy_visible" }"#,
        r#"when = "enemy_visible" }, { to = "idle" }"#,
        r#"spins

  × state `idle` would change to itself in every tick
   ╭─[grunt.toml:5:53]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "enemy_visible" }, { to = "idle" }]
   ·                                                     ───────┬───────
   ·                                                            ╰── to itself, with no condition
 6 │
   ╰────
  help: give the exit a `when`, or remove it
"#,
    ),
    (
        "an initial child that is not a child",
        "[states.idle]",
        r#"[states.idle]
initial = "attack""#,
        r#"initial-not-a-child

  × `attack` is the initial state of `idle`, but not a child of it
   ╭─[grunt.toml:4:11]
 3 │ [states.idle]
 4 │ initial = "attack"
   ·           ────┬───
   ·               ╰── its parent is not `idle`
 5 │ behaviour = "rest"
   ╰────
  help: give `attack` the key `parent = "idle"`
"#,
    ),
    (
        "a global state that is a target",
        r#"initial = "idle""#,
        r#"global = "attack"
initial = "idle""#,
        r#"global

  × state `attack` is the global state: it cannot be changed to
   ╭─[grunt.toml:6:10]
 5 │ behaviour = "rest"
 6 │ exits = [{ to = "attack", when = "enemy_visible" }]
   ·          ────────────────────┬────────────────────
   ·                              ╰── runs beside every other state already
 7 │
   ╰────
"#,
    ),
];

#[test]
fn mistakes_in_states_are_drawn() {
    assert_drawn(MISTAKES);
}

#[test]
fn a_state_defined_twice_far_apart() {
    let between = "# nothing\n".repeat(20);
    assert_told(
        &format!(
            "initial = 'run to cover'\n[states.'run to cover']\nfinal = true\n{between}[states.'run to cover']\nfinal = true\n"
        ),
        r"duplicate-state

  × state `run to cover` is defined twice
   ╭─[grunt.toml:2:9]
 1 │ initial = 'run to cover'
 2 │ [states.'run to cover']
   ·         ───────┬──────
   ·                ╰── first defined here
 3 │ final = true
   ╰────
    ╭─[grunt.toml:24:9]
 23 │ # nothing
 24 │ [states.'run to cover']
    ·         ───────┬──────
    ·                ╰── defined again here
 25 │ final = true
    ╰────
  help: put both into one table, or rename one
",
    );
}

#[test]
fn parents_in_a_circle() {
    assert_told(
        r#"initial = "idle"

[states.idle]
parent = "attack"
behaviour = "rest"
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
parent = "idle"
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"parent-cycle

  × `idle` and `attack` are each other's parents
   ╭─[grunt.toml:4:10]
 3 │ [states.idle]
 4 │ parent = "attack"
   ·          ────┬───
   ·              ╰── closes the circle
 5 │ behaviour = "rest"
   ╰────
  help: one of them must have another parent, or none
"#,
    );
}
