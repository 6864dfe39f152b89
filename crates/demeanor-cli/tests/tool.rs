//! The tool on the command line.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

/// Runs the tool in the folder of its files. Returns the exit code, the output, and the error output.
fn demeanor(arguments: &[&str]) -> (i32, String, String) {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let output = Command::cargo_bin("demeanor").unwrap().current_dir(files).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn scratch(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn check_without_a_vocabulary_lists_what_it_could_not_check() {
    let (code, told, complained) = demeanor(&["check", "guard.toml"]);
    assert_eq!(complained, "");
    assert_eq!(
        told,
        "guard.toml: 7 states, 0 warnings; the game's words are not checked without --vocabulary\n\
         guard.toml: values not checked: distance, enemy_visible, health\n\
         guard.toml: behaviors not checked: go_to\n\
         guard.toml: messages not checked: took_damage\n"
    );
    assert_eq!(code, 0);
}

#[test]
fn check_with_a_vocabulary_tells_every_mistake_and_exits_with_1() {
    let words = scratch(
        "words.json",
        r#"{ "values": { "health": "number", "enemy_visible": "flag", "distance": "number" }, "random": true,
             "behaviors": { "goto": { "type": "object", "properties": { "speed": { "type": "number" } } } } }"#,
    );
    let (code, told, complained) = demeanor(&["check", "guard.toml", "--vocabulary", words.to_str().unwrap()]);
    assert_eq!(code, 1);
    assert_eq!(told, "guard.toml: 2 errors, 0 warnings\n");
    assert_eq!(
        complained.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim(),
        "unknown-message

  × unknown message `took_damage`
    ╭─[guard.toml:10:25]
  9 │     { to = \"chase\", when = \"enemy_visible and health > 20\" },
 10 │     { to = \"hide\", on = \"took_damage\" },
    ·                         ──────┬──────
    ·                               ╰── no message that the game offers
 11 │ ]
    ╰────

unknown-behaviour

  × unknown behavior `go_to`
    ╭─[guard.toml:19:12]
 18 │ parent = \"chase\"
 19 │ behavior = \"go_to\"
    ·            ───┬───
    ·               ╰── no behavior that the game offers
 20 │ params = { speed = 2 }
    ╰────
  help: did you mean `goto`?"
    );
    fs::remove_file(words).unwrap();
}

#[test]
fn check_goes_on_behind_a_file_that_is_not_there() {
    let (code, told, complained) = demeanor(&["check", "no.toml", "guard.toml"]);
    assert_eq!(code, 2);
    assert!(complained.starts_with("error: no.toml: "), "{complained}");
    assert!(told.starts_with("guard.toml: 7 states"), "{told}");
}

#[test]
fn a_mermaid_diagram_has_nested_states_nested() {
    let (code, told, _) = demeanor(&["graph", "guard.toml"]);
    assert_eq!(code, 0);
    assert_eq!(
        told,
        "stateDiagram-v2
    [*] --> s1
    state \"always\" as s0
    state \"post\" as s1
    state \"chase\" as s2
    state s2 {
        [*] --> s3
        state \"run\" as s3
        s3 : go_to
        state \"hit\" as s4
    }
    state \"hide\" as s5
    state \"dead\" as s6
    s0 --> s6 : health #lt;= 0
    s1 --> s2 : 1#58; enemy_visible and health #gt; 20
    s1 --> s5 : 2#58; took_damage
    s2 --> s1 : not enemy_visible
    s3 --> s4 : distance #lt; 1
    s4 --> s3 : distance #gt;= 1
    s5 --> s1 : time_in_state #gt; 1 or chance(0.5)
    s6 --> [*]
    note right of s0 : beside every other state
    note right of s5 : if health #lt; 50
"
    );
}

#[test]
fn a_dot_diagram_has_nested_states_in_clusters() {
    let (_, told, _) = demeanor(&["graph", "guard.toml", "--format", "dot"]);
    for line in [
        "    subgraph cluster_2 {",
        "        s3 [label = \"run\\ngo_to\"];",
        "    s5 [label = \"hide\\nif health < 50\"];",
        "    start -> s1;",
        "        c2 -> s3;",
        "    e1 [shape = plain, fontsize = 10, label = \"1: enemy_visible\\nand health > 20\"];",
        "    s1 -> e1 [arrowhead = none];",
        "    e1 -> s3 [lhead = cluster_2];",
        "    s3 -> e3 [ltail = cluster_2, arrowhead = none];",
        "        e4 [shape = plain, fontsize = 10, label = \"distance < 1\"];",
    ] {
        assert!(told.lines().any(|told| told == line), "no line {line:?} in:\n{told}");
    }
}

#[test]
fn a_picture_has_every_state_and_condition_and_is_the_same_every_time() {
    let path = scratch("guard.svg", "");
    let draw = || {
        let (code, told, _) = demeanor(&["graph", "guard.toml", "--format", "svg", "--output", path.to_str().unwrap()]);
        assert_eq!((code, told.as_str()), (0, ""));
        fs::read_to_string(&path).unwrap()
    };
    let drawn = draw();
    for text in [
        "always",
        "post",
        "chase",
        "run",
        "go_to",
        "hit",
        "hide",
        "if health &lt; 50",
        "dead",
        "2: took_damage",
        "distance &lt; 1",
        "not enemy_visible",
    ] {
        assert!(drawn.contains(&format!(">{text}</text>")), "{text}");
    }
    assert!(!drawn.contains("NaN"));
    assert_eq!(drawn, draw());
    fs::remove_file(path).unwrap();
}

/// Set `UPDATE` to draw the pictures again.
#[test]
fn the_pictures_in_the_pages_are_what_the_tool_draws() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let grunt = root.join("examples/arena/grunt.toml");
    let (grunt, flow) = (grunt.to_str().unwrap(), scratch("grunt.json", ""));
    let flow = flow.to_str().unwrap();
    let (code, _, complained) = demeanor(&["run", grunt, "--values", "grunt.csv", "--seconds", "32", "--flow", flow]);
    assert_eq!((code, complained.as_str()), (0, ""));
    let boss = root.join("examples/boss/boss.fsm.toml");
    let pictures = [
        ("grunt.svg", grunt, &[][..]),
        ("grunt-seen.svg", grunt, &["--observed", flow]),
        ("boss-states.svg", boss.to_str().unwrap(), &[]),
    ];
    for (picture, file, observed) in pictures {
        let (code, drawn, _) = demeanor(&[&["graph", file, "--format", "svg"], observed].concat());
        assert_eq!(code, 0);
        let published = root.join("docs/images").join(picture);
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&published, &drawn).unwrap();
        }
        assert!(fs::read_to_string(published).unwrap() == drawn, "docs/images/{picture} is not what the tool draws");
    }
}

#[test]
fn a_run_tells_what_caused_each_change_and_why_the_last_state_is_stayed_in() {
    let (code, told, complained) =
        demeanor(&["run", "guard.toml", "--values", "values.csv", "--seed", "3", "--tick", "0.25"]);
    assert_eq!((code, complained.as_str()), (0, ""));
    assert_eq!(
        told,
        "   0.00 s  begins in post
   0.50 s  post -> run: enemy_visible holds, health > 20 (health = 80) holds
   1.00 s  run -> hit: distance < 1 (distance = 0.5) holds
   1.50 s  message took_damage: no exit is taken
             no exits
   1.50 s  hit -> post: by chase: enemy_visible does not hold
   2.25 s  message took_damage
   2.25 s  post -> hide: health < 50 (health = 40) holds
   2.50 s  hide -> post: time_in_state > 1 (time_in_state = 0.25) does not hold, chance(0.5) (drew 0.317) holds
   5.00 s  post -> dead: by always: health <= 0 (health = 0) holds
   5.50 s  ends in dead, after 0.50 s in it
             no exits
"
    );
}

#[test]
fn a_run_on_values_that_are_set_tells_why_not() {
    let (_, told, _) = demeanor(&[
        "run",
        "guard.toml",
        "--set",
        "health=15",
        "--set",
        "enemy_visible=true",
        "--set",
        "distance=3",
        "--seconds",
        "1",
    ]);
    assert_eq!(
        told,
        "   0.00 s  begins in post
   1.00 s  ends in post, after 1.00 s in it
             always, to dead: no: health <= 0 (health = 15) does not hold
             to chase: no: enemy_visible holds, health > 20 (health = 15) does not hold
             to hide on took_damage: waits for the message: health < 50 (health = 15) holds
"
    );
}

/// The target of the first exit refuses every change, so the second exit is taken. A state to which the global state leads is
/// left again in the same tick.
#[test]
fn a_run_that_tells_why_tells_which_exits_were_passed_over() {
    let file = scratch(
        "passed_over.toml",
        "initial = 'post'
global = 'always'
[states.always]
exits = [{ to = 'hit', when = 'hurt' }]
[states.post]
exits = [{ to = 'attack', when = 'seen' }, { to = 'flee', when = 'seen' }]
[states.attack]
enter_when = 'ammo > 0'
exits = [{ to = 'post' }]
[states.flee]
final = true
[states.hit]
exits = [{ to = 'flee' }]
",
    );
    let file = file.to_str().unwrap();
    let (_, told, _) = demeanor(&["run", file, "--set", "seen=true", "--seconds", "0", "--why"]);
    assert_eq!(
        told,
        "   0.00 s  begins in post
   0.00 s  post -> flee: seen holds
             always, to hit: no: hurt does not hold
             to attack: attack cannot be entered: seen holds, ammo > 0 (ammo = 0) does not hold
   0.00 s  ends in flee, after 0.00 s in it
             always, to hit: no: hurt does not hold
"
    );
    let (_, told, _) = demeanor(&["run", file, "--set", "hurt=true", "--seconds", "0"]);
    assert_eq!(
        told,
        "   0.00 s  begins in post
   0.00 s  post -> hit: by always: hurt holds
   0.00 s  hit -> flee: always
   0.00 s  ends in flee, after 0.00 s in it
             always, to hit: flee is final: hurt holds
"
    );
}

#[test]
fn a_run_plays_the_last_row_or_says_which_rows_it_does_not_play() {
    let file = "initial = 'a'\nstates.a.exits = [{ to = 'b', on = 'hit' }]\nstates.b.final = true\n";
    let (file, table) = (scratch("last_row.toml", file), scratch("last_row.csv", "time,message\n0,\n1.04,hit\n"));
    let (file, table) = (file.to_str().unwrap(), table.to_str().unwrap());
    let run = |more: &[&str]| demeanor(&[&["run", file, "--tick", "0.1", "--values", table], more].concat());
    let hit = "   1.10 s  message hit\n   1.10 s  a -> b: on hit\n";
    for (more, is_hit, expected) in [
        (&[][..], true, String::new()),
        (&["--send", "hit@1.1"], true, String::new()),
        (&["--seconds", "1.1"], true, String::new()),
        (&["--seconds", "1.04"], false, format!("{table}: rows from 1.04 s on are not played: the run ends at 1 s\n")),
    ] {
        let (code, told, complained) = run(more);
        assert_eq!((code, complained), (0, expected), "{more:?}");
        assert_eq!(told.contains(hit), is_hit, "{more:?}: {told}");
    }
}

/// The machine sets the value when it starts, after the first row has set it.
#[test]
fn the_first_row_sets_values_once() {
    let text = "initial = 'a'\nstates.a.exits = [{ to = 'b', always = true, set = { x = 0 } }]\n\
                states.b.exits = [{ to = 'c', when = 'x > 0' }]\nstates.c.final = true\n";
    let file = scratch("first_row.toml", text);
    let table = scratch("first_row.csv", "time,x\n0,3\n1,4\n");
    let (_, told, _) =
        demeanor(&["run", file.to_str().unwrap(), "--values", table.to_str().unwrap(), "--seconds", "2"]);
    assert!(told.contains("   1.00 s  b -> c: x > 0 (x = 4) holds"), "{told}");
}

#[test]
fn a_run_that_tells_why_counts_the_ticks_in_which_the_reasons_are_the_same() {
    let text =
        "initial = 'a'\n[states.a]\nexits = [{ to = 'b', after = 1, when = 'x > 2' }]\n[states.b]\nfinal = true\n";
    let file = scratch("same.toml", text);
    let table = scratch("same.csv", "time,x\n0,0\n2,3\n");
    let arguments = ["run", file.to_str().unwrap(), "--values", table.to_str().unwrap(), "--tick", "0.5", "--why"];
    let (_, told, _) = demeanor(&[&arguments[..], &["--seconds", "2.5"]].concat());
    assert_eq!(
        told,
        "   0.00 s  begins in a
   0.00 s  stays in a
             to b: no: after 1 s (1 s left) does not hold
             the same until 0.50 s, for 1 more tick
   1.00 s  stays in a
             to b: no: after 1 s (time_in_state = 1) holds, x > 2 (x = 0) does not hold
             the same until 1.50 s, for 1 more tick
   2.00 s  a -> b: after 1 s (time_in_state = 2) holds, x > 2 (x = 3) holds
   2.50 s  stays in b
             no exits
   2.50 s  ends in b, after 0.50 s in it
             no exits
"
    );
}

#[test]
fn a_run_goes_through_states_of_no_length_and_counts_ticks_as_it_makes_them() {
    let file = scratch(
        "no_length.toml",
        "initial = 'walk'
[states.walk]
exits = [{ to = 'choose', after = '4 ticks' }]
[states.choose]
exits = [{ to = 'shoot', always = true, when = 'seen' }, { to = 'walk', always = true }]
[states.shoot]
final = true
",
    );
    let file = file.to_str().unwrap();
    let (_, told, _) = demeanor(&["run", file, "--set", "seen=true", "--seconds", "1", "--tick", "0.125"]);
    assert_eq!(
        told,
        "   0.00 s  begins in walk
   0.50 s  walk -> choose: after 4 ticks (time_in_state = 0.5) holds
   0.50 s  choose -> shoot: seen holds
   1.00 s  ends in shoot, after 0.50 s in it
             no exits
"
    );
    let (_, told, _) = demeanor(&["graph", file]);
    assert!(told.contains("s0 --> s1 : after 4 ticks\n    s1 --> s2 : 1#58; always [seen]\n"), "{told}");
}

#[test]
fn a_run_names_the_exit_that_was_taken_as_a_state_was_entered() {
    let file = scratch(
        "entered.toml",
        "initial = 'q'
[states.q]
exits = [{ to = 'p', after = 1 }]
[states.p]
initial = 'a'
exits = [{ to = 'a', always = true, when = 'y' }]
[states.a]
parent = 'p'
exits = [{ to = 'q', after = 1 }, { to = 'a', when = 'not y' }]
",
    );
    let file = file.to_str().unwrap();
    let (_, told, _) = demeanor(&["run", file, "--set", "y=true", "--seconds", "1", "--tick", "0.5"]);
    assert_eq!(
        told,
        "   0.00 s  begins in q
   1.00 s  q -> a: after 1 s (time_in_state = 1) holds
   1.00 s  a -> a: by p: y holds
   1.00 s  ends in a, after 0.00 s in it
             to q: no: after 1 s (1 s left) does not hold
             to a: no: y holds
"
    );
    let (_, told, _) = demeanor(&["run", file, "--from", "p", "--set", "y=true", "--seconds", "0"]);
    assert!(told.contains("   0.00 s  a -> a: by p: y holds\n"), "{told}");
}

#[test]
fn a_run_tells_which_actions_run_and_sets_values() {
    let file = scratch(
        "actions.toml",
        "initial = 'a'
[states.a]
exit = 'smoke'
exits = [{ to = 'b', when = 'x > 1', do = ['roar', { spawn = 'x' }], set = { x = 'x - 1', y = true } }]
[states.b]
enter = { spawn = 'x' }
exits = [{ to = 'a', when = 'y', after = 1 }]
",
    );
    let (_, told, complaints) =
        demeanor(&["run", file.to_str().unwrap(), "--set", "x=3", "--seconds", "1", "--tick", "1"]);
    assert_eq!(complaints, "not set, treated as 0 or false: y\n");
    assert_eq!(
        told,
        "   0.00 s  begins in a
   0.00 s  does smoke, roar, spawn 3
   0.00 s  a -> b: x > 1 (x = 3) holds
   0.00 s  does spawn 2
   1.00 s  b -> a: after 1 s (time_in_state = 1) holds, y holds
   1.00 s  ends in a, after 0.00 s in it
             to b: yes: x > 1 (x = 2) holds
"
    );
}

#[test]
fn a_run_tells_what_caused_each_change_in_a_region() {
    let file = scratch(
        "regions.toml",
        r#"
        initial = "sleep"
        [states.sleep]
        exits = [{ to = "run", when = "distance < 8" }]
        [states.fight]
        regions = ["aim", "walk"]
        exits = [{ to = "stagger", on = "hit", when = "poise < 5" }]
        [states.fight.states.aim]
        exits = [{ to = "shoot", after = 0.2, when = "distance < 9" }]
        [states.fight.states.shoot]
        exits = [{ to = "aim", after = 1 }]
        [states.fight.states.stagger]
        exits = [{ to = "aim", after = 1 }]
        [states.fight.states.walk]
        region = 1
        [states.fight.states.run]
        region = 1
        exits = [{ to = "walk", after = 0.2, when = "poise < 9" }]
        "#,
    );
    let values = ["--set", "distance=2", "--set", "poise=3", "--tick", "0.1", "--send", "hit@0.4", "--seconds", "0.5"];
    let (code, printed, complained) = demeanor(&[&["run", file.to_str().unwrap()], &values[..]].concat());
    assert_eq!((code, complained.as_str()), (0, ""));
    let expected = "   0.00 s  begins in sleep
   0.00 s  sleep -> fight: distance < 8 (distance = 2) holds
   0.20 s  aim -> shoot: after 0.2 s (time_in_state = 0.2) holds, distance < 9 (distance = 2) holds
   0.20 s  run -> walk: after 0.2 s (time_in_state = 0.2) holds, poise < 9 (poise = 3) holds
   0.40 s  message hit
   0.40 s  shoot -> stagger: by fight: poise < 5 (poise = 3) holds
   0.50 s  ends in fight (stagger, walk), after 0.50 s in it
             stagger, to aim: no: after 1 s (0.9 s left) does not hold
";
    assert_eq!(printed, expected);
}

#[test]
fn each_of_several_machines_is_checked_drawn_and_run() {
    let file = scratch(
        "machines.toml",
        "[machines.imp]
initial = 'stand'
states.stand.exits = [{ to = 'fall', on = 'hit', when = 'message.damage > 30' }]
states.fall.final = true
[machines.guard]
initial = 'patrol'
[machines.guard.states.patrol]
machine = 'imp'
exits = [{ to = 'rest', on = 'done', when = 'tired' }]
[machines.guard.states.rest]
final = true
",
    );
    let file = file.to_str().unwrap();
    let (code, told, _) = demeanor(&["check", file]);
    assert_eq!(code, 0);
    assert_eq!(
        told.replace(file, "FILE"),
        "FILE: 6 states in 2 machines, 0 warnings; the game's words are not checked without --vocabulary
FILE: values not checked: tired
FILE: messages not checked: hit
FILE: fields not checked: hit.damage
"
    );
    let (_, told, _) = demeanor(&["graph", file, "--machine", "guard"]);
    assert!(
        told.contains("    s2 --> s3 : hit [message.damage #gt; 30]\n")
            && told.contains("    s0 --> s1 : done [tired]\n"),
        "{told}"
    );
    let run = ["run", file, "--machine", "guard", "--set", "tired=true", "--seconds", "1", "--tick", "0.5"];
    let (_, told, _) = demeanor(&[&run[..], &["--send", "hit(damage=10)@0.5", "--send", "hit(damage=40)@1"]].concat());
    assert_eq!(
        told,
        "   0.00 s  begins in patrol.stand
   0.50 s  message hit: no exit is taken
             to patrol.fall on hit: no: message.damage > 30 (message.damage = 10) does not hold
   1.00 s  message hit
   1.00 s  patrol.stand -> patrol.fall: message.damage > 30 (message.damage = 40) holds
   1.00 s  patrol.fall -> rest: by patrol: tired holds
   1.00 s  ends in rest, after 0.00 s in it
             no exits
"
    );
    let (code, _, complaint) = demeanor(&["run", file, "--machine", "baron"]);
    assert!(code == 2 && complaint.contains("there is no machine `baron`; there are: imp, guard"), "{complaint}");
}

const WAITING: &str = "initial = 'aim'
[states.aim]
exits = [
    { to = 'fire', after = 0.75 },
    { to = 'look', after = 0.25, when = 'alarmed' },
    { to = 'hide', on = 'hit', after = 0.5 },
]
[states.fire]
exits = [{ to = 'look', after = 0.5 }]
[states.look]
every = 0.5
exits = [{ to = 'hide', when = 'alarmed' }]
[states.hide]
final = true
";

#[test]
fn a_run_tells_how_long_is_left() {
    let file = scratch("waiting.toml", WAITING);
    let file = file.to_str().unwrap();
    let run = |more: &[&str]| {
        let set = ["run", file, "--set", "alarmed=false", "--tick", "0.25"];
        demeanor(&[&set, more].concat()).1
    };
    assert_eq!(
        run(&["--send", "hit@0.25", "--seconds", "0.25"]),
        "   0.00 s  begins in aim
   0.25 s  message hit: no exit is taken
             to hide on hit: no: after 0.5 s (0.25 s left) does not hold
   0.25 s  ends in aim, after 0.25 s in it
             to fire: no: after 0.75 s (0.5 s left) does not hold
             to look: no: after 0.25 s (time_in_state = 0.25) holds, alarmed does not hold
             to hide on hit: no: after 0.5 s (0.25 s left) does not hold
"
    );
    assert_eq!(
        run(&["--seconds", "1.5"]),
        "   0.00 s  begins in aim
   0.75 s  aim -> fire: after 0.75 s (time_in_state = 0.75) holds
   1.25 s  fire -> look: after 0.5 s (time_in_state = 0.5) holds
   1.50 s  ends in look, after 0.25 s in it
             to hide: not its turn: every 0.5 s (0.25 s left) does not hold
"
    );
}

#[test]
fn diagrams_have_times_on_the_arrows() {
    let file = scratch("times.toml", WAITING);
    let drawn = |format| demeanor(&["graph", file.to_str().unwrap(), "--format", format]).1;
    let (mermaid, dot, svg) = (drawn("mermaid"), drawn("dot"), drawn("svg"));
    for line in [
        "    s0 --> s1 : 1#58; after 0.75 s",
        "    s0 --> s2 : 2#58; after 0.25 s [alarmed]",
        "    s0 --> s3 : 3#58; hit after 0.5 s",
        "    note right of s2 : every 0.5 s",
    ] {
        assert!(mermaid.lines().any(|drawn| drawn == line), "no line {line}\n{mermaid}");
    }
    for line in [
        "    e0 [shape = plain, fontsize = 10, label = \"1: after 0.75 s\"];",
        "    s2 [label = \"look\\nevery 0.5 s\"];",
    ] {
        assert!(dot.lines().any(|drawn| drawn == line), "no line {line}\n{dot}");
    }
    for text in [">1: after 0.75 s<", ">every 0.5 s<"] {
        assert!(svg.contains(text), "no {text}\n{svg}");
    }
}

/// The bar appears only on a terminal.
#[test]
fn a_long_run_into_a_pipe_tells_nothing_but_what_happens() {
    let (code, told, complained) =
        demeanor(&["run", "guard.toml", "--seconds", "12000", "--set", "health=50", "--set", "enemy_visible=false"]);
    assert_eq!(code, 0, "{complained}");
    assert_eq!(complained, "not set, treated as 0 or false: distance\n");
    assert!(told.contains("12000.00 s  ends in post"), "{told}");
    assert!(!told.contains('%'), "{told}");
}

#[test]
fn a_name_that_is_not_asked_for_cannot_be_set() {
    let (code, _, complained) = demeanor(&["run", "guard.toml", "--set", "helth=15"]);
    assert_eq!(code, 2);
    assert_eq!(complained, "error: there is no value `helth`; there are: distance, enemy_visible, health\n");
}

#[test]
fn what_the_command_line_gets_wrong_is_told_in_a_line() {
    for (arguments, expected) in [
        (&["--set", "health=true"][..], "`health` is a number: it cannot be set to true"),
        (&["--set", "enemy_visible=1"], "`enemy_visible` is true or false: it cannot be set to 1"),
        (&["--set", "chance=1.5"], "`chance` is a number from 0 to 1: it cannot be set to 1.5"),
        (&["--set", "chance=true"], "`chance` is a number from 0 to 1: it cannot be set to true"),
        (&["--send", "took_demage@1"], "there is no message `took_demage`; there are: took_damage"),
        (&["--tick", "0"], "a tick cannot take 0 seconds: it must be more than 0"),
        (
            &["--seconds", "1e12"],
            "1000000000000 seconds, in ticks of 0.1, are too many ticks: there can be 1000 million",
        ),
        (&["--seconds", "-1"], "a run cannot last -1 seconds: it must be 0 or more"),
        (&["--tick", "-1"], "a tick cannot take -1 seconds: it must be more than 0"),
        (
            &["--send", "took_damage@99", "--seconds", "0.2"],
            "`took_damage` would be sent at 99 s, but the run ends at 0.2 s",
        ),
        (
            &["--send", "took_damage@1.04", "--seconds", "1.04"],
            "`took_damage` would be sent at 1.04 s, but the run ends at 1 s",
        ),
        (&["--seconds", "nan"], "a run cannot last NaN seconds: it must be 0 or more"),
        (
            &["--vocabulary", "values.csv"],
            "values.csv is not a vocabulary that a game has written: expected ident at line 1 column 2",
        ),
    ] {
        let (code, told, complained) = demeanor(&[&["run", "guard.toml"], arguments].concat());
        assert_eq!((code, told.as_str()), (2, ""));
        assert_eq!(complained, format!("error: {expected}\n"));
    }
}

#[test]
fn a_row_of_a_table_with_a_wrong_value_is_named_by_its_time() {
    let values = scratch("wrong_value.csv", "time,health,helth\n0,50,\n1.5,,3\n");
    let values = values.to_str().unwrap();
    let (code, told, complained) = demeanor(&["run", "guard.toml", "--values", values]);
    assert_eq!((code, told.as_str()), (2, ""));
    let why = "there is no value `helth`; there are: distance, enemy_visible, health";
    assert_eq!(complained, format!("error: {values}: at 1.5 s: {why}\n"));
    let still = scratch("still.toml", "initial = 'a'\nstates.a.final = true\n");
    let (_, _, complained) = demeanor(&["run", still.to_str().unwrap(), "--set", "health=1"]);
    assert_eq!(complained, "error: there is no value `health`; there are: none\n");
}

#[test]
fn a_result_does_not_replace_a_file_that_is_read() {
    let files = [
        ("spared.toml", "initial = 'a'\nstates.a.final = true\n"),
        ("spared.csv", "time\n0\n"),
        ("spared_words.json", "{}\n"),
        ("spared_flow.json", &serde_json::to_string(&demeanor::Flow::new()).unwrap()),
    ];
    let paths = files.map(|(name, text)| scratch(name, text));
    let [file, values, words, flow] = [0, 1, 2, 3].map(|nth| paths[nth].to_str().unwrap());
    for arguments in [
        &["graph", file, "-o", file][..],
        &["tests", file, "-o", file],
        &["run", file, "--flow", file],
        &["run", file, "--values", values, "--flow", values],
        &["run", file, "--vocabulary", words, "--flow", words],
        &["tests", file, "--vocabulary", words, "-o", words],
        &["graph", file, "--observed", flow, "-o", flow],
        &["graph", "--observed", flow, "-o", flow],
    ] {
        let (code, told, complained) = demeanor(arguments);
        let replaced = arguments.last().unwrap();
        let expected = format!("error: {replaced}: the result would replace a file that is read\n");
        assert_eq!((code, &*told, complained), (2, "", expected));
    }
    for (path, (_, text)) in paths.iter().zip(files) {
        assert_eq!(fs::read_to_string(path).unwrap(), text);
    }
}

/// Runs the tool, and closes the pipe after its first line, as `head` does. Returns the exit code, the line, and the error output.
fn head(arguments: &[&str]) -> (i32, String, String) {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut command = Command::new(env!("CARGO_BIN_EXE_demeanor"));
    command.current_dir(files).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap(), line, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_reader_that_stops_reading_is_no_error() {
    let read = head(&["run", "guard.toml", "--seconds", "1000", "--why", "--set", "health=50"]);
    let complained = "not set, treated as 0 or false: distance, enemy_visible\n".to_owned();
    assert_eq!(read, (0, "   0.00 s  begins in post\n".to_owned(), complained));
}

#[test]
fn a_run_counts_and_checks_every_tick_although_its_reader_stops_reading() {
    let file = "initial = 'a'\nstates.a.exits = [{ to = 'b' }]\nstates.b.exits = [{ to = 'a' }]\n\
                properties.early = { never = 'time_in(a) > 5 or late' }\n";
    let file = scratch("there_and_back.toml", file);
    let values = scratch("late.csv", "time,late\n0,false\n900,true\n");
    let flow = scratch("there_and_back.json", "");
    let [file, values, flow_file] = [&file, &values, &flow].map(|path| path.to_str().unwrap());
    let (code, _, complained) =
        head(&["run", file, "--values", values, "--seconds", "1000", "--watch-properties", "--flow", flow_file]);
    assert_eq!(code, 1, "{complained}");
    let flow: demeanor::Flow = serde_json::from_str(&fs::read_to_string(&flow).unwrap()).unwrap();
    assert_eq!(flow.changes().map(|change| change.count).collect::<Vec<_>>(), [5001, 5000]);
}

#[test]
fn the_schema_is_json() {
    let (code, told, _) = demeanor(&["schema"]);
    assert_eq!(code, 0);
    assert!(told.starts_with('{') && told.contains("enter_when"));
}

#[test]
fn a_message_at_no_time_and_a_machine_that_has_no_name_are_refused() {
    for time in ["nan", "-1"] {
        let (code, _, complained) = demeanor(&["run", "guard.toml", "--send", &format!("took_damage@{time}")]);
        assert!(
            code == 2 && complained.contains(&format!("the time `{time}` is not a number from 0 on")),
            "{complained}"
        );
    }
    let (code, _, complained) = demeanor(&["run", "guard.toml", "--machine", "imp"]);
    assert_eq!((code, &*complained), (2, "error: guard.toml: there is no machine `imp`; its machine has no name\n"));
}
