//! Recorded changes in diagrams, and the exits that were not taken.

use std::fmt::Write as _;

use running::Folder;

mod running;

const GUARD: &str = "initial = 'post'
[states.post]
exits = [{ to = 'fight', when = 'seen' }]
[states.fight]
initial = 'aim'
exits = [{ to = 'post', when = 'not seen' }]
[states.aim]
parent = 'fight'
exits = [{ to = 'shoot', after = 1 }, { to = 'flee', when = 'hurt' }]
[states.shoot]
parent = 'fight'
exits = [{ to = 'aim', after = 1 }]
[states.flee]
exits = [{ to = 'post', after = 9 }]
";

/// Returns a folder with the guard's file, and with the recorded changes of a run of ten seconds.
fn observed(test: &str) -> Folder {
    let folder =
        Folder::new(test).with("guard.toml", GUARD).with("values.csv", "time,seen,hurt\n0,true,false\n9,false,false\n");
    let (code, _, complained) =
        folder.run(&["run", "guard.toml", "--values", "values.csv", "--seconds", "10", "--flow", "flow.json"]);
    assert_eq!((code, complained.as_str()), (0, ""));
    folder
}

#[test]
fn a_run_writes_what_it_has_seen_and_the_exits_that_it_never_took_are_listed() {
    let folder = observed("observed_run");
    let arguments = ["graph", "guard.toml", "--observed", "flow.json", "--output", "guard.mmd"];
    let (code, told, complained) = folder.run(&[&arguments[..], &["--fail-under", "90"]].concat());
    assert_eq!((code, told.as_str()), (1, ""));
    assert_eq!(
        complained,
        "guard.toml: 66.7 %, less than 90 %: 4 of 6 exits were taken
never taken:
  aim -> flee: hurt
  flee -> post: after 9 s
never entered: flee
"
    );
    let (code, _, complained) = folder.run(&[&arguments[..], &["--fail-under", "66.6"]].concat());
    assert_eq!((code, complained.as_str()), (0, "guard.toml: 66.7 %: 4 of 6 exits were taken\n"));
}

#[test]
fn what_was_seen_is_in_each_kind_of_picture() {
    let folder = observed("observed_pictures");
    let drawn = |format| folder.run(&["graph", "guard.toml", "--observed", "flow.json", "--format", format]).1;
    assert_eq!(
        drawn("mermaid"),
        r#"flowchart TD
    start(( )):::dot
    s0("post<br/>1 stay of 0 s")
    subgraph s1["fight"]
        c1(( )):::dot
        s2("aim<br/>5 stays, mean 1.0 s")
        s3("shoot<br/>4 stays, mean 1.0 s")
    end
    c1 --> s2
    s4("flee<br/>never entered")
    start --> s0
    s0 -->|"seen<br/>1×"| s1
    s1 -->|"not seen<br/>1×"| s0
    s2 -->|"1#58; after 1 s<br/>4×"| s3
    s2 -.->|"2#58; hurt<br/>never"| s4
    s3 -->|"after 1 s<br/>4×"| s2
    s4 -.->|"after 9 s<br/>never"| s0
    classDef dot fill:#4a6178,stroke:#4a6178
    style s0 fill:#eef3f8,color:#1d2733
    style s2 fill:#143d66,color:#ffffff
    style s3 fill:#2b5075,color:#ffffff
    style s4 fill:#eef3f8,color:#1d2733,stroke-dasharray:5 3
    linkStyle 2 stroke-width:4.6px
    linkStyle 3 stroke-width:4.6px
    linkStyle 4 stroke-width:8.0px
    linkStyle 5 stroke-width:1.2px,stroke-dasharray:5 3
    linkStyle 6 stroke-width:8.0px
    linkStyle 7 stroke-width:1.2px,stroke-dasharray:5 3
"#
    );
    let dot = drawn("dot");
    for line in [
        "    s4 [label = \"flee\\nnever entered\", style = \"rounded,filled,dashed\", fillcolor = \"#eef3f8\", fontcolor = \"#1d2733\"];",
        "    e0 [shape = plain, fontsize = 10, label = \"seen\\n1×\"];",
        "    s0 -> e0 [arrowhead = none, penwidth = 4.6, color = \"#7a8b9c\"];",
        "    e0 -> s2 [lhead = cluster_1, penwidth = 4.6, color = \"#7a8b9c\"];",
        "    e3 -> s4 [penwidth = 1.2, style = dashed, color = \"#7a8b9c\"];",
    ] {
        assert!(dot.lines().any(|drawn| drawn == line), "no line {line}\n{dot}");
    }
    let svg = drawn("svg");
    for text in
        [">5 stays, mean 1.0 s<", ">never entered<", "class=\"arrow never\"", "stroke-width: 8.0", "fill: #143d66"]
    {
        assert!(svg.contains(text), "no {text}\n{svg}");
    }
    assert!(!svg.contains("NaN"));
}

#[test]
fn which_exits_were_taken_is_a_document_for_programs() {
    let folder = observed("observed_json");
    let arguments = ["graph", "guard.toml", "--observed", "flow.json", "--format", "json", "--fail-under", "90"];
    let (code, told, complained) = folder.run(&arguments);
    assert_eq!((code, complained.as_str()), (1, "guard.toml: 66.7 %, less than 90 %: 4 of 6 exits were taken\n"));
    let document: serde_json::Value = serde_json::from_str(&told).unwrap();
    let exit = |from: &str, to: &str, label: &str| serde_json::json!({ "from": from, "to": to, "label": label, "at_least": 0, "at_most": 0, "refused": 0, "ended_early": 0 });
    assert_eq!(
        document["never_taken"],
        serde_json::json!([exit("aim", "flee", "hurt"), exit("flee", "post", "after 9 s")])
    );
    assert_eq!(document["never_entered"], serde_json::json!(["flee"]));
    assert_eq!(document["exits"].as_array().unwrap().len(), 6);
    assert_eq!((&document["version"], &document["machine"]), (&serde_json::json!(1), &serde_json::Value::Null));
}

#[test]
fn several_flows_are_added_up() {
    let folder = observed("observed_twice");
    let twice = ["graph", "guard.toml", "--observed", "flow.json", "--observed", "flow.json", "--format", "dot"];
    let (_, told, _) = folder.run(&twice);
    assert!(told.contains("label = \"after 1 s\\n8×\""), "{told}");
}

#[test]
fn a_machine_in_code_is_drawn_without_a_file() {
    let folder = observed("observed_alone");
    let (code, told, complained) =
        folder.run(&["graph", "--observed", "flow.json", "--state", "post", "--format", "dot"]);
    assert_eq!((code, complained.as_str()), (0, ""));
    assert!(told.contains("e0 [shape = plain, fontsize = 10, label = \"1×\"];"), "{told}");
    assert!(!told.contains("shoot"), "{told}");
    let (code, _, complained) = folder.run(&["graph", "--observed", "flow.json", "--state", "pots"]);
    assert_eq!(code, 2);
    assert_eq!(complained, "error: flow.json: there is no state `pots`; there are: aim, post, shoot\n");
}

#[test]
fn a_flow_of_another_machine_names_the_states_that_are_unknown() {
    let folder = observed("observed_other")
        .with("door.toml", "initial = 'shut'\nstates.shut.entry = true\nstates.post.entry = true\n");
    let (code, told, complained) = folder.run(&["graph", "door.toml", "--observed", "flow.json"]);
    assert_eq!((code, told.as_str()), (2, ""));
    assert_eq!(complained, "error: door.toml: the flow names states that this machine does not have: aim, shoot\n");
}

const TWO: &str = "[machines.imp]
initial = 'stand'
states.stand.exits = [{ to = 'fall', after = 1 }]
states.fall.exits = [{ to = 'stand', after = 1 }]
[machines.guard]
initial = 'patrol'
states.patrol.exits = [{ to = 'stand', after = 1 }]
states.stand.exits = [{ to = 'patrol', after = 1 }]
";

#[test]
fn what_only_other_machines_of_the_file_have_is_left_out_and_said() {
    let folder = Folder::new("observed_machines").with("two.toml", TWO);
    for machine in ["imp", "guard"] {
        let flow = format!("{machine}.json");
        folder.run(&["run", "two.toml", "--machine", machine, "--seconds", "4", "--flow", &flow]);
    }
    let both = [
        "graph",
        "two.toml",
        "--machine",
        "guard",
        "--observed",
        "imp.json",
        "--observed",
        "guard.json",
        "--format",
        "dot",
    ];
    let (code, told, complained) = folder.run(&both);
    assert_eq!(code, 0);
    assert_eq!(
        complained,
        "two.toml, machine guard: left out, because only other machines of the file have them: fall
two.toml, machine guard: counted here, though other machines have states of the same name: stand
two.toml, machine guard: 100.0 %: 2 of 2 exits were taken\n"
    );
    assert!(told.contains("label = \"after 1 s\\n2×\""), "{told}");
}

#[test]
fn what_cannot_be_done_with_a_flow_is_told_in_a_line() {
    let folder = observed("observed_wrong")
        .with("rubbish.json", "[1")
        .with("later.json", r#"{"version":2,"changes":[],"refusals":[],"stays":[]}"#);
    for (arguments, complaint) in [
        (&["--observed", "nowhere.json"][..], "error: nowhere.json: "),
        (&["--observed", "rubbish.json"], "error: rubbish.json is not a flow: "),
        (
            &["--observed", "later.json"],
            "error: later.json is not a flow: a flow of version 2; this program knows version 1",
        ),
        (&["--format", "json"], "error: --format json says which exits were taken, and needs --observed"),
        (&["--fail-under", "50"], "error: the following required arguments were not provided:"),
        (
            &["--observed", "flow.json", "--fail-under", "101"],
            "error: invalid value '101' for '--fail-under <PERCENT>': it must be a number from 0 to 100",
        ),
    ] {
        let (code, _, complained) = folder.run(&[&["graph", "guard.toml"], arguments].concat());
        assert_eq!(code, 2, "{complained}");
        assert!(complained.starts_with(complaint), "{complained}");
    }
    let (code, _, complained) = folder.run(&["graph"]);
    assert!(code == 2 && complained.contains("<FILE>"), "{complained}");
}

#[test]
fn two_thousand_states_with_three_exits_each_are_drawn_with_what_was_seen() {
    let mut text = String::from("initial = 's0'\n");
    let mut changes = Vec::new();
    let mut random = 1_u64;
    for i in 0..2_000 {
        writeln!(text, "[states.s{i}]\nexits = [").unwrap();
        for exit in 0..3 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let to = (random >> 33) % 2_000;
            writeln!(text, "{{ to = 's{to}', when = 'x > {i}' }},").unwrap();
            if exit > 0 {
                let (from, to) = (format!("s{i}"), format!("s{to}"));
                changes.push(serde_json::json!({ "from": from, "to": to, "cause": "change", "count": random >> 50 }));
            }
        }
        text.push_str("]\n");
    }
    let flow = serde_json::json!({ "version": 1, "changes": changes, "refusals": [], "stays": [] });
    let folder = Folder::new("observed_many").with("many.toml", &text).with("flow.json", &flow.to_string());
    // In DOT, an arrow is an edge to its label and one from there. The SVG has one more arrowhead, for the arrow to the initial state.
    for (format, arrow, count) in
        [("mermaid", "linkStyle", 6_000), ("dot", "penwidth", 12_000), ("svg", "class=\"head\"", 6_001)]
    {
        let (code, told, _) = folder.run(&["graph", "many.toml", "--observed", "flow.json", "--format", format]);
        assert_eq!((code, told.matches(arrow).count()), (0, count), "{format}");
    }
}
