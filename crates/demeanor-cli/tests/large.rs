//! Machines with many states: the stack does not overflow, and the layout of pictures ends.

use std::fmt::Write as _;

use running::Folder;

mod running;

/// Returns a machine of `states` states, each with an exit to the next one.
fn chain(states: usize) -> String {
    let mut text = String::from("initial = 's0'\n");
    for i in 0..states {
        writeln!(text, "[states.s{i}]\nexits = [{{ to = 's{}', after = 1 }}]", (i + 1) % states).unwrap();
    }
    text
}

#[test]
fn a_chain_of_a_hundred_thousand_states_is_checked_drawn_and_run() {
    let folder = Folder::new("chain").with("chain.toml", &chain(100_000));
    let (code, told, _) = folder.run(&["check", "chain.toml"]);
    assert_eq!((code, told.as_str()), (0, "chain.toml: 100000 states, 0 warnings\n"));
    for format in ["dot", "svg"] {
        let (code, _, complained) = folder.run(&["graph", "chain.toml", "--format", format, "--output", "chain.txt"]);
        assert_eq!((code, complained.as_str()), (0, ""), "{format}");
    }
    let (code, told, _) = folder.run(&["run", "chain.toml", "--seconds", "2", "--tick", "1"]);
    assert!(code == 0 && told.contains("ends in s2, "), "{told}");
}

#[test]
fn machines_that_run_or_copy_each_other_in_a_long_chain_are_reported() {
    let (mut runs, mut like) = (String::new(), String::new());
    for i in 0..5_000 {
        writeln!(runs, "[machines.m{i}]\ninitial = 'a'\nstates.a.machine = 'm{}'", i + 1).unwrap();
        writeln!(like, "[machines.m{i}]\nlike = 'm{}'", i + 1).unwrap();
    }
    let last = "[machines.m5000]\ninitial = 'a'\nstates.a.final = true\n";
    let folder = Folder::new("machines").with("runs.toml", &(runs + last)).with("like.toml", &(like + last));
    let (code, _, complained) = folder.run(&["check", "runs.toml"]);
    assert_eq!(code, 1);
    assert!(complained.contains("machines run each other more than 64 deep"), "{}", &complained[..2_000]);
    assert_eq!(folder.run(&["check", "like.toml"]).0, 0);
}

#[test]
fn two_thousand_states_with_exits_to_anywhere_are_drawn() {
    let mut text = String::from("initial = 's0'\n");
    let mut random = 1_u64;
    for i in 0..2_000 {
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % 2_000
        };
        let (a, b, c) = (next(), next(), next());
        writeln!(text, "[states.s{i}]\nexits = [{{ to = 's{a}', when = 'x > {i}' }}, {{ to = 's{b}', when = 'y > {i}' }}, {{ to = 's{c}', on = 'z' }}]").unwrap();
    }
    let folder = Folder::new("two_thousand").with("many.toml", &text);
    for (format, arrows) in [("mermaid", " --> "), ("dot", " -> "), ("svg", "marker-end")] {
        let (code, told, _) = folder.run(&["graph", "many.toml", "--format", format]);
        assert_eq!(code, 0, "{format}");
        // One more arrow leads to the initial state. In DOT, an arrow is an edge to its label and one from there.
        let edges = if format == "dot" { 12_001 } else { 6_001 };
        assert_eq!(told.matches(arrows).count(), edges, "{format}");
    }
}
