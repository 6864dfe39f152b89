//! Parts of a machine: the states near a state, and a run that begins in a state.

use std::fmt::Write as _;

use running::Folder;

mod running;

const GUARD: &str = "initial = 'post'
ticks_per_second = 4
[states.post]
exits = [{ to = 'fight', when = 'seen' }]
[states.fight]
initial = 'aim'
behavior = 'look'
exits = [{ to = 'rest', when = 'not seen' }, { to = 'shoot', on = 'order' }]
[states.aim]
parent = 'fight'
exits = [{ to = 'shoot', after = '2 ticks' }]
[states.shoot]
parent = 'fight'
behavior = ['shoot', 'look']
exits = [{ to = 'fight', after = 1 }]
[states.rest]
exits = [{ to = 'sleep', after = 9 }]
[states.sleep]
exits = [{ to = 'dream', after = 9 }]
[states.dream]
final = true
";

#[test]
fn a_picture_of_what_is_near_a_state() {
    let folder = Folder::new("near").with("guard.toml", GUARD);
    let (code, told, _) = folder.run(&["graph", "guard.toml", "--state", "sleep"]);
    assert_eq!(code, 0);
    assert_eq!(
        told,
        "stateDiagram-v2
    state \"rest\" as s4
    state \"sleep\" as s5
    state \"dream\" as s6
    s4 --> s5 : after 9 s
    s5 --> s6 : after 9 s
    s6 --> [*]
"
    );
    // An exit of the parent is also an exit of the child; the state around it is shown.
    let (_, told, _) = folder.run(&["graph", "guard.toml", "--state", "shoot", "--depth", "1"]);
    assert_eq!(
        told,
        "stateDiagram-v2
    state \"fight\" as s1
    state s1 {
        [*] --> s2
        state \"aim\" as s2
        state \"shoot\" as s3
        s3 : shoot
        s3 : look
    }
    state \"rest\" as s4
    s1 --> s4 : 1#58; not seen
    s1 --> s3 : 2#58; order
    s2 --> s3 : after 2 ticks
    s3 --> s1 : after 1 s
    note right of s1 : look
"
        .replace("    state \"fight\"", "    [*] --> s0\n    state \"post\" as s0\n    state \"fight\"")
        .replace("    s1 --> s4", "    s0 --> s1 : seen\n    s1 --> s4")
    );
    let (_, told, _) = folder.run(&["graph", "guard.toml", "--state", "dream", "--depth", "0", "--format", "dot"]);
    assert!(told.contains("s6 [label = \"dream\", peripheries = 2];\n}\n"), "{told}");
    let (code, _, complained) = folder.run(&["graph", "guard.toml", "--state", "slep"]);
    assert_eq!(code, 2);
    assert_eq!(
        complained,
        "error: guard.toml: there is no state `slep`; there are: post, fight, aim, shoot, rest, sleep, dream\n"
    );
}

#[test]
fn arrows_from_a_composite_begin_at_it() {
    let folder = Folder::new("composite").with("guard.toml", GUARD);
    let (_, told, _) = folder.run(&["graph", "guard.toml", "--format", "dot"]);
    assert_eq!(
        told,
        "digraph {
    compound = true;
    node [shape = box, style = rounded, fontname = \"sans-serif\"];
    start [shape = point];
    s0 [label = \"post\"];
    subgraph cluster_1 {
        label = \"fight\\nlook\";
        style = rounded;
        c1 [shape = point];
        c1 -> s2;
        s2 [label = \"aim\"];
        s3 [label = \"shoot\\nshoot\\nlook\"];
        e3 [shape = plain, fontsize = 10, label = \"after 2 ticks\"];
    }
    s4 [label = \"rest\"];
    s5 [label = \"sleep\"];
    s6 [label = \"dream\", peripheries = 2];
    e0 [shape = plain, fontsize = 10, label = \"seen\"];
    e1 [shape = plain, fontsize = 10, label = \"1: not seen\"];
    e2 [shape = plain, fontsize = 10, label = \"2: order\"];
    e4 [shape = plain, fontsize = 10, label = \"after 1 s\"];
    e5 [shape = plain, fontsize = 10, label = \"after 9 s\"];
    e6 [shape = plain, fontsize = 10, label = \"after 9 s\"];
    start -> s0;
    s0 -> e0 [arrowhead = none];
    e0 -> s2 [lhead = cluster_1];
    s2 -> e1 [ltail = cluster_1, arrowhead = none];
    e1 -> s4;
    c1 -> e2 [arrowhead = none];
    e2 -> s3;
    s2 -> e3 [arrowhead = none];
    e3 -> s3;
    s3 -> e4 [arrowhead = none];
    e4 -> c1;
    s4 -> e5 [arrowhead = none];
    e5 -> s5;
    s5 -> e6 [arrowhead = none];
    e6 -> s6;
}
"
    );
}

#[test]
fn a_run_begins_in_a_state_and_ticks_as_the_file_says() {
    let folder = Folder::new("from").with("guard.toml", GUARD);
    let (code, told, complained) =
        folder.run(&["run", "guard.toml", "--from", "fight", "--seconds", "1", "--set", "seen=true"]);
    assert_eq!((code, complained.as_str()), (0, ""));
    assert_eq!(
        told,
        "   0.00 s  begins in aim
   0.50 s  aim -> shoot: after 2 ticks (time_in_state = 0.5) holds
   1.00 s  ends in shoot, after 0.50 s in it
             fight, to rest: no: seen holds
             to fight: no: after 1 s (0.5 s left) does not hold
"
    );
    // A tick is a quarter of a second.
    let (_, told, _) =
        folder.run(&["run", "guard.toml", "--from", "aim", "--seconds", "0.5", "--why", "--set", "seen=true"]);
    assert!(told.contains("the same until 0.25 s, for 1 more tick"), "{told}");
    let of_option =
        ["run", "guard.toml", "--from", "aim", "--seconds", "0.5", "--tick", "0.5", "--why", "--set", "seen=true"];
    let (_, told, _) = folder.run(&of_option);
    assert!(told.contains("stays in aim") && !told.contains("the same"), "{told}");
    let (code, _, complained) = folder.run(&["run", "guard.toml", "--from", "aims"]);
    assert_eq!(code, 2);
    assert_eq!(
        complained.lines().last().unwrap(),
        "error: there is no state `aims`; there are: post, fight, aim, shoot, rest, sleep, dream"
    );
}

#[test]
fn states_are_folded_from_a_level_on() {
    let folder = Folder::new("fold").with("guard.toml", GUARD);
    let (code, told, complained) = folder.run(&["graph", "guard.toml", "--fold"]);
    assert_eq!((code, complained.as_str()), (0, ""));
    assert_eq!(
        told,
        "stateDiagram-v2
    [*] --> s0
    state \"post\" as s0
    state \"fight\" as s1
    s1 : look
    s1 : 2 states in it
    state \"rest\" as s4
    state \"sleep\" as s5
    state \"dream\" as s6
    s0 --> s1 : seen
    s1 --> s4 : 1#58; not seen
    s4 --> s5 : after 9 s
    s5 --> s6 : after 9 s
    s6 --> [*]
"
    );
    let whole = folder.run(&["graph", "guard.toml"]);
    assert_eq!(folder.run(&["graph", "guard.toml", "--fold", "2"]), whole, "no state has more levels");
    // The state that was asked for is drawn with what is in it.
    let near = ["graph", "guard.toml", "--state", "aim", "--depth", "9"];
    assert_eq!(folder.run(&[&near[..], &["--fold"]].concat()), folder.run(&near));
    let (code, _, complained) = folder.run(&["graph", "guard.toml", "--fold", "0"]);
    assert_eq!(code, 2);
    assert!(complained.contains("it must be a number from 1, or `never`"), "{complained}");
}

#[test]
fn more_than_sixty_states_are_folded_until_they_are_fewer() {
    let file = |leaves: usize| {
        let mut text = "initial = 'a'\n[states.a]\n[states.b]\nparent = 'a'\n".to_owned();
        for at in 0..leaves {
            let parent = if at < 10 { 'a' } else { 'b' };
            writeln!(text, "[states.s{at}]\nparent = '{parent}'\nexits = [{{ to = 'a', on = 'x' }}]").unwrap();
        }
        text
    };
    let folder = Folder::new("fold_many").with("sixty.toml", &file(58)).with("more.toml", &file(59));
    let drawn = |arguments: &[&str]| {
        let (code, told, complained) = folder.run(&[&["graph"], arguments].concat());
        assert_eq!(code, 0, "{complained}");
        (told.matches(" as s").count(), complained)
    };
    assert_eq!(drawn(&["sixty.toml"]), (60, String::new()));
    let told = "more.toml: 61 states are drawn as with `--fold 2`; `--fold never` draws them all\n";
    assert_eq!(drawn(&["more.toml"]), (12, told.to_owned()));
    assert_eq!(drawn(&["more.toml", "--fold", "never"]), (61, String::new()));
    assert_eq!(drawn(&["more.toml", "--fold", "1"]), (1, String::new()));
}
