//! What is wrong with times.

use demeanor::definition::{Outline, Problem};

/// What is found in a file of this one state.
#[track_caller]
fn found(state: &str) -> Vec<String> {
    let file = format!("initial = \"a\"\n[states.a]\n{state}\n");
    match Outline::parse("a.toml", &file, None) {
        Ok(outline) => outline.warnings().iter().map(Problem::located).collect(),
        Err(problems) => problems.iter().map(Problem::located).collect(),
    }
}

#[test]
fn times_that_are_no_times_are_told_with_what_to_write() {
    let exit = |after: &str| found(&format!("exits = [{{ to = \"a\", after = {after} }}]"));
    let forms = "write seconds, `2.5`, or a text with a unit: `\"200 ms\"`, `\"10 ticks\"`, `\"2 s .. 4 s\"`, \
                 or the name of a value";
    let wrong = |text: &str, why: &str| {
        assert_eq!(exit(&format!("\"{text}\"")), [format!("a.toml:3:30: error: `after` must be a duration: {why}")]);
    };
    wrong("3", "it has no unit: write `3` or `\"3 s\"`");
    wrong("3 sek", "`sek` is not a unit of time: did you mean `sec`?");
    wrong(
        "3 parsecs of space",
        "`parsecs of space` is not a unit of time: units are `s`, `ms`, `min`, `h` and `ticks`",
    );
    wrong("about 3 s", &format!("it does not begin with a number: {forms}"));
    wrong("-3 s", &format!("a time is not negative: {forms}"));
    wrong("", &format!("a time is missing: {forms}"));
    wrong("2 s ..", &format!("a time is missing: {forms}"));
    wrong(
        "1e999 s",
        "it is too long: write seconds, `2.5`, or a text with a unit: `\"200 ms\"`, `\"10 ticks\"`, `\"2 s .. 4 s\"`, or the name of a value",
    );
    wrong("4 .. 2 s", "it ends before it begins: write `\"2 s .. 4\"`");
    wrong("2.5 ticks", "a tick cannot be divided: write a whole number of ticks");
    assert_eq!(exit("\"7 ticks .. 0.1 s\""), [""; 0], "how long a tick is may be known to the game");
    assert_eq!(exit("[2.5]"), [format!("a.toml:3:30: error: `after` must be a duration, not a list: {forms}")]);
    for wrong in ["-1", "-0.5", "nan", "inf"] {
        assert_eq!(exit(wrong), ["a.toml:3:30: error: `after` must be a time in seconds, 0 or more"], "{wrong}");
    }
    assert_eq!(exit("0x10"), [""; 0]);
    let every = |every: &str| found(&format!("every = {every}\nexits = [{{ to = \"a\", after = 1 }}]"));
    for wrong in ["-1", "nan", "-inf"] {
        assert_eq!(every(wrong), ["a.toml:3:9: error: `every` must be a time in seconds, more than 0"], "{wrong}");
    }
    for nothing in ["0.0", "\"0 ticks\"", "\"0 s .. 1 s\""] {
        assert_eq!(
            every(nothing),
            ["a.toml:3:9: error: `every` must be a time in seconds, more than 0: \
              remove it, if the state is to be tried in each tick"],
            "{nothing}"
        );
    }
    assert_eq!(every("true"), [format!("a.toml:3:9: error: `every` must be a duration, not true or false: {forms}")]);
}

#[test]
fn times_that_say_nothing_are_warned_of() {
    assert_eq!(
        found("exits = [{ to = \"b\", after = 0 }]\n[states.b]\nfinal = true"),
        ["a.toml:3:30: warning: `after = 0` says nothing: an exit is open at once: \
          remove it, or write after how many seconds the exit is open: `after = 2.5`"]
    );
    assert_eq!(
        found("every = 0.5\nexits = [{ to = \"a\", on = \"call\" }]"),
        ["a.toml:3:9: warning: state `a` has nothing to do every 0.5 s: \
          remove it: exits that wait for a message do not wait for a turn"]
    );
    assert_eq!(
        found("exits = [{ to = \"a\" , after = 0.0 }]").len(),
        2,
        "it leaves for itself in every tick, and its time says nothing"
    );
    assert_eq!(
        found(
            "exits = [{ to = \"b\", on = \"call\" }]\n[states.b]\nevery = 1\nbehaviour = \"b\"\nexits = [{ to = \"a\" }]"
        ),
        [""; 0]
    );
}

#[test]
fn a_global_state_has_no_turns() {
    let file = "initial = \"a\"\nglobal = \"g\"\n[states.g]\nevery = 1\nexits = [{ to = \"a\", when = \"hurt\" }]\n\
                [states.a]\n";
    let problems = Outline::parse("a.toml", file, None).unwrap_err();
    let located: Vec<_> = problems.iter().map(Problem::located).collect();
    assert_eq!(
        located,
        ["a.toml:4:9: error: the global state `g` has an `every`, but is never entered: \
          remove it: the global state is tried in each tick"]
    );
}
