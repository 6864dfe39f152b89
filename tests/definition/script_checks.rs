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
        // What waits or cannot be interrupted is not there.
        ("sleep(1e300);", "1:15: there is no function `sleep`"),
        ("timestamp();", "1:15: there is no function `timestamp`"),
        ("parse_json(\"1\");", "1:15: there is no function `parse_json`"),
        ("exit(1);", "1:15: there is no function `exit`"),
        ("this.speed = haste(3);", "1:28: there is no function `haste`"),
    ] {
        assert_eq!(told(&format!("fn update() {{ {body} }}")), [expected], "{body}");
    }
}

#[test]
fn a_name_of_several_states_is_a_mistake_that_lists_them() {
    let vocabulary = vocabulary(ScriptBudget::default()).script("a.rhai", "fn update() { change_state(\"aim\"); }");
    let file = "initial = 'a'\nstates.a.script = 'a.rhai'\nstates.b = { initial = 'b.aim' }\n\
                states.c = { initial = 'c.aim' }\nstates.'b.aim' = {}\nstates.'c.aim' = {}\n";
    assert_eq!(
        Definition::parse(file, &vocabulary).unwrap_err().to_string(),
        "a.rhai:1:28: error: a script of `definition`: `aim` is the name of several states: write one of `b.aim`, `c.aim`"
    );
}

#[test]
fn what_shares_or_calls_back_is_a_mistake() {
    for text in ["let f = |x| x;", "let f = Fn(\"update\");", "update.call();", "update.curry(1);", "eval(\"1\");"] {
        assert_ne!(told(&format!("fn update() {{ {text} }}")), [""; 0], "{text}");
    }
}

/// The engine counts one operation for a `switch` and for the use of a name, however many ranges or letters there are.
#[test]
fn what_takes_long_in_one_operation_is_a_mistake() {
    let told = |body: &str| told(&format!("fn update() {{ let x = 5; {body} }}"));
    let ranges = |count: usize| format!("switch x {{ {} _ => 0 }}", "1000..2000 => 1, ".repeat(count));
    let name = |length: usize| format!("let {} = x;", "a".repeat(length));
    for (fine, wrong, why) in [
        (ranges(100), ranges(101), "a `switch` has more than 100 ranges"),
        (name(900), name(1001), "a word is longer than 1000 bytes"),
    ] {
        assert_eq!(told(&fine), [""; 0]);
        assert!(told(&wrong)[0].ends_with(why), "{why}: {:?}", told(&wrong));
    }
}

#[test]
fn what_stands_outside_of_the_functions_without_effect_is_a_mistake() {
    let write = "write `const x`, or put it into a function";
    for (outside, why) in [
        ("let x = 3;", format!("`x` is a variable outside of the functions, which do not know it: {write}")),
        ("loop { }", "it takes more than 100000 operations".into()),
        ("nothing();", "there is no function `nothing`".into()),
    ] {
        let told = told(&format!("{outside}\nfn update() {{ }}"));
        assert!(told.last().is_some_and(|told| told.ends_with(&why)), "{told:?}");
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
