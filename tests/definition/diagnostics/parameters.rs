//! What is wrong with a behavior's parameters.

use super::assert_told;

#[test]
fn an_unknown_parameter() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "go_to"
params = { target = "cover", sped = 2.0 }
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"unknown-parameter

  × behavior `go_to` has no parameter `sped`
   ╭─[grunt.toml:5:30]
 4 │ behaviour = "go_to"
 5 │ params = { target = "cover", sped = 2.0 }
   ·                              ──┬─
   ·                                ╰── not a parameter
 6 │ exits = [{ to = "attack", when = "enemy_visible" }]
   ╰────
  help: did you mean `speed`?
"#,
    );
}

#[test]
fn a_parameter_where_none_is_taken() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "rest"
params = { hours = 2 }
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"unknown-parameter

  × behavior `rest` has no parameter `hours`
   ╭─[grunt.toml:5:12]
 4 │ behaviour = "rest"
 5 │ params = { hours = 2 }
   ·            ──┬──
   ·              ╰── not a parameter
 6 │ exits = [{ to = "attack", when = "enemy_visible" }]
   ╰────
  help: behavior `rest` takes no parameters
"#,
    );
}

#[test]
fn a_parameter_of_a_wrong_type() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "go_to"
params = { target = "cover", speed = "fast" }
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"parameter-type

  × parameter `speed` of behavior `go_to` must be a number, not a string
   ╭─[grunt.toml:5:38]
 4 │ behaviour = "go_to"
 5 │ params = { target = "cover", speed = "fast" }
   ·                                      ───┬──
   ·                                         ╰── expected a number
 6 │ exits = [{ to = "attack", when = "enemy_visible" }]
   ╰────
"#,
    );
}

#[test]
fn a_parameter_that_is_none_of_the_words() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "go_to"
params = { target = "home" }
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"parameter-type

  × parameter `target` of behavior `go_to` must be `cover` or `enemy`, not `home`
   ╭─[grunt.toml:5:21]
 4 │ behaviour = "go_to"
 5 │ params = { target = "home" }
   ·                     ───┬──
   ·                        ╰── expected `cover` or `enemy`
 6 │ exits = [{ to = "attack", when = "enemy_visible" }]
   ╰────
"#,
    );
}

#[test]
fn a_parameter_that_only_the_behavior_refuses() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "go_to"
params = { target = "cover", tries = 1000 }
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"parameter-type

  × behavior `go_to` refuses its parameters: invalid value: integer `1000`, expected u8
   ╭─[grunt.toml:5:38]
 4 │ behaviour = "go_to"
 5 │ params = { target = "cover", tries = 1000 }
   ·                                      ──┬─
   ·                                        ╰── refused
 6 │ exits = [{ to = "attack", when = "enemy_visible" }]
   ╰────
"#,
    );
}

#[test]
fn a_missing_parameter() {
    assert_told(
        r#"initial = "idle"

[states.idle]
behaviour = "go_to"
params = { speed = 1 }
exits = [{ to = "attack", when = "enemy_visible" }]

[states.attack]
exits = [{ to = "idle", when = "not enemy_visible" }]
"#,
        r#"missing-parameter

  × behavior `go_to` needs parameter `target`
   ╭─[grunt.toml:5:10]
 4 │ behaviour = "go_to"
 5 │ params = { speed = 1 }
   ·          ──────┬──────
   ·                ╰── needs `target`
 6 │ exits = [{ to = "attack", when = "enemy_visible" }]
   ╰────
"#,
    );
}
