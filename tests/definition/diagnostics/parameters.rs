//! What is wrong with a behavior's parameters.

use super::{Mistake, assert_drawn};

const MISTAKES: &[Mistake] = &[
    (
        "an unknown parameter",
        r#"behaviour = "rest""#,
        r#"behaviour = "go_to"
params = { target = "cover", sped = 2.0 }"#,
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
    ),
    (
        "a parameter where none is taken",
        r#"behaviour = "rest""#,
        r#"behaviour = "rest"
params = { hours = 2 }"#,
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
    ),
    (
        "a parameter of a wrong type",
        r#"behaviour = "rest""#,
        r#"behaviour = "go_to"
params = { target = "cover", speed = "fast" }"#,
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
    ),
    (
        "a parameter that is none of the words",
        r#"behaviour = "rest""#,
        r#"behaviour = "go_to"
params = { target = "home" }"#,
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
    ),
    (
        "a parameter that only the behavior refuses",
        r#"behaviour = "rest""#,
        r#"behaviour = "go_to"
params = { target = "cover", tries = 1000 }"#,
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
    ),
    (
        "a missing parameter",
        r#"behaviour = "rest""#,
        r#"behaviour = "go_to"
params = { speed = 1 }"#,
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
    ),
];

#[test]
fn mistakes_in_parameters_are_drawn() {
    assert_drawn(MISTAKES);
}
