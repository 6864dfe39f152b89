//! What a script says that could only fail when it runs: found when the file is loaded.
#![cfg(feature = "script")]

use demeanor::definition::{Definition, ScriptBudget};

use crate::script::vocabulary;

/// What is said of a script, with its line and column, when the file is loaded.
fn told(script: &str) -> Vec<String> {
    let vocabulary = vocabulary(ScriptBudget::default()).script("a.rhai", script);
    let file = "initial = 'a'\n[states.a]\nscript = 'a.rhai'\n[states.flee]\nfinal = true\n";
    match Definition::parse(file, &vocabulary) {
        Ok(_) => Vec::new(),
        Err(problems) => problems
            .iter()
            .map(|problem| {
                let why = problem.to_string().replace("a script of `definition`: ", "");
                format!("{}:{}: {why}", problem.line(), problem.column())
            })
            .collect(),
    }
}

#[test]
fn a_script_that_is_right_is_loaded() {
    let script = "const MOST = 3;\nfn half(x) { x / 2 }\n\
                  fn update() {\n    let t = this;\n    let list = [1, 2];\n    list.push(half(MOST));\n\
                  if t.health < 20 && this.time_in_state > 1.0 { this.speed = abs(t.health); change_state(\"flee\"); }\n\
                  print(`${list.len()} ${type_of(t)} ${\"a\".to_upper()}`);\n}";
    assert_eq!(told(script), [""; 0]);
}

#[test]
fn what_is_no_word_of_the_game_is_found() {
    for (body, expected) in [
        ("this.speed = this.helth;", "1:33: `helth` is not a value of the game: did you mean `health`?"),
        ("this.sped = 5;", "1:20: `sped` is not a value of the game: did you mean `speed`?"),
        ("if this.health < 3 {\n change_state(\"fle\"); }", "2:15: unknown state `fle`: did you mean `flee`?"),
        ("this = 5;", "1:15: `this` cannot be written: write one of its values, as in `this.speed = 2.0`"),
        ("this[\"health\"] = 5;", "1:20: `health` can be read, but not written"),
        ("this.health = 5;", "1:20: `health` can be read, but not written"),
        ("let list = [1];\n list.sort();", "2:7: there is no function `sort`"),
        ("sleep(3);", "1:15: there is no function `sleep`"),
        ("this.speed = haste(3);", "1:28: there is no function `haste`"),
    ] {
        assert_eq!(told(&format!("fn update() {{ {body} }}")), [expected], "{body}");
    }
}

#[test]
fn what_is_written_to_a_copy_is_lost_and_found() {
    let copy = "`t` is a copy of `this`, so that what is written to it is lost: write to `this` itself";
    assert_eq!(told("fn update() {\n    let t = this;\n    t.speed = 5.0;\n}"), [format!("2:5: {copy}")]);
    assert_eq!(told("fn haste(t) { t.speed = 9.0; }\nfn update() {\n    haste(this);\n}"), [format!("3:11: {copy}")]);
}

#[test]
fn a_function_that_nothing_calls_is_named() {
    assert_eq!(told("fn updat() { }"), ["1:4: nothing calls `updat`: did you mean `update`?"]);
    assert_eq!(
        told("fn update(x) { }"),
        ["1:4: `update` is called without anything: write `fn update()`; what it needs is in `this`"]
    );
    // Who calls it may call it so.
    assert_eq!(told("fn updat() { 1 }\nfn enter() { updat(); }"), [""; 0]);
}
