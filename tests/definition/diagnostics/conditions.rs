//! What is wrong with conditions.

use demeanor::definition::Vocabulary;

use super::{Mistake, assert_drawn};
use crate::guard::Guard;

const MISTAKES: &[Mistake] = &[
    (
        "a condition too deep",
        r#"when = "enemy_visible""#,
        r#"when = "(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((enemy_visible)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))""#,
        r#"condition-too-deep

  × the condition is nested deeper than 64 parentheses and `not`s
   ╭─[grunt.toml:5:99]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((enemy_visible)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))" }]
   ·                                                                                                   ┬
   ·                                                                                                   ╰── too deep from here
 6 │
   ╰────
  help: let the game offer the answer as one value, or split the state
"#,
    ),
    (
        "a condition that breaks off",
        r#"when = "enemy_visible""#,
        r#"when = "enemy_visible and""#,
        r#"condition

  × expected a value, a number, `not` or `(`
   ╭─[grunt.toml:5:52]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "enemy_visible and" }]
   ·                                                    ▲
   ·                                                    ╰── here
 6 │
   ╰────
"#,
    ),
    (
        "a condition with another language's operators",
        r#"when = "enemy_visible""#,
        r#"when = "enemy_visible && health < 20""#,
        r#"condition

  × expected `and`, `or` or the end
   ╭─[grunt.toml:5:49]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "enemy_visible && health < 20" }]
   ·                                                 ─┬
   ·                                                  ╰── here
 6 │
   ╰────
  help: write `and`
"#,
    ),
    (
        "an assignment for a comparison",
        r#"when = "enemy_visible""#,
        r#"when = "health = 20""#,
        r#"condition

  × expected `and`, `or` or the end
   ╭─[grunt.toml:5:42]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "health = 20" }]
   ·                                          ┬
   ·                                          ╰── here
 6 │
   ╰────
  help: write `==`
"#,
    ),
    (
        "a chain of comparisons",
        r#"when = "enemy_visible""#,
        r#"when = "0 < health < 20""#,
        r#"condition

  × comparisons cannot be chained
   ╭─[grunt.toml:5:46]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "0 < health < 20" }]
   ·                                              ┬
   ·                                              ╰── a second comparison
 6 │
   ╰────
  help: join them by `and`, as in `1 < health and health < 5`
"#,
    ),
    (
        "a number where a flag should be",
        r#"when = "enemy_visible""#,
        r#"when = "not health""#,
        r#"comparison

  × `health` is a number, which is neither true nor false
   ╭─[grunt.toml:5:39]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "not health" }]
   ·                                       ───┬──
   ·                                          ╰── a number
 6 │
   ╰────
  help: compare it, as in `health > 0`
"#,
    ),
    (
        "a flag where a number should be",
        r#"when = "enemy_visible""#,
        r#"when = "enemy_visible > 1""#,
        r#"comparison

  × `enemy_visible` is true or false, not a number
   ╭─[grunt.toml:5:35]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "enemy_visible > 1" }]
   ·                                   ──────┬──────
   ·                                         ╰── true or false
 6 │
   ╰────
  help: write `enemy_visible` or `not enemy_visible`
"#,
    ),
    (
        "a comparison of nothing",
        r#"when = "enemy_visible""#,
        r#"when = "1 < 2""#,
        r#"comparison

  × the comparison is always the same
   ╭─[grunt.toml:5:35]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "1 < 2" }]
   ·                                   ──┬──
   ·                                     ╰── neither side is a value
 6 │
   ╰────
  help: name a value of the game on one side
"#,
    ),
    (
        "a chance above one",
        r#"when = "enemy_visible""#,
        r#"when = "chance(10)""#,
        r#"chance

  × a chance is a number from 0 to 1
   ╭─[grunt.toml:5:42]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "chance(10)" }]
   ·                                          ─┬
   ·                                           ╰── not from 0 to 1
 6 │
   ╰────
  help: 10 percent are `0.1`
"#,
    ),
    (
        "a chance without random numbers",
        r#"when = "enemy_visible""#,
        r#"when = "chance(0.1)""#,
        r#"chance

  × the game offers no random numbers to definitions
   ╭─[grunt.toml:5:35]
 4 │ behaviour = "rest"
 5 │ exits = [{ to = "attack", when = "chance(0.1)" }]
   ·                                   ─────┬─────
   ·                                        ╰── needs random numbers
 6 │
   ╰────
  help: a programmer can add them with `Vocabulary::random`
"#,
    ),
    (
        "time in an entry condition",
        "[states.attack]",
        r#"[states.attack]
enter_when = "time_in_state > 2""#,
        r#"entry-condition

  × `time_in_state` cannot be asked in `enter_when`
   ╭─[grunt.toml:8:15]
 7 │ [states.attack]
 8 │ enter_when = "time_in_state > 2"
   ·               ──────┬──────
   ·                     ╰── unknown before the state is entered
 9 │ exits = [{ to = "idle", when = "not enemy_visible" }]
   ╰────
  help: put it into the `when` of the exits that lead here
"#,
    ),
    (
        "a condition over several lines",
        r#"when = "enemy_visible""#,
        r#"when = """
    enemy_visible
    and helth < 20
    """"#,
        r#"unknown-value

  × unknown value `helth`
   ╭─[grunt.toml:7:9]
 6 │     enemy_visible
 7 │     and helth < 20
   ·         ──┬──
   ·           ╰── no value that the game offers
 8 │     """ }]
   ╰────
  help: did you mean `health`?
"#,
    ),
];

#[test]
fn mistakes_in_conditions_are_drawn_with_what_to_write() {
    assert_drawn(MISTAKES);
}

#[test]
fn a_word_that_cannot_be_written_in_a_condition_is_no_value() {
    let result = std::panic::catch_unwind(|| Vocabulary::<Guard>::new().value("2 health", |_, _| 0.0));
    assert!(result.is_err());
}
