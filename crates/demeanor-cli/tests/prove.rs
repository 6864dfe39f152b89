//! `demeanor check --prove`: the findings, and their witnesses, which `demeanor run` plays.

use std::collections::BTreeSet;

use serde_json::Value;

use running::Folder;

mod running;

/// A file with every kind of fault.
const FAULTY: &str = "
initial = 'rest'

[states.rest]
exits = [
    { to = 'fight', when = 'health > 20 and enemy_visible' },
    { to = 'run to cover', on = 'hit', when = 'message.damage > 30' },
    { to = 'hide', on = 'hit', when = 'message.damage > 40' },
    { to = 'hide', when = 'health < 3 and health > 5' },
    { to = 'guarded', when = 'alarm' },
    { to = 'late', when = 'ammo == 0 and not alarm' },
    { to = 'choose', when = 'ammo == 1 and not alarm' },
]

[states.fight]
exits = [{ to = 'rest', when = 'health < 50 or not enemy_visible' }]

[states.'run to cover']
exits = [{ to = 'rest', after = 2 }]

[states.hide]
exits = [{ to = 'rest', after = 1 }]

[states.guarded]
enter_when = 'ammo > 3 and ammo < 2'
exits = [{ to = 'rest', after = 1 }]

[states.late]
exits = [{ to = 'rest', when = 'enemy_visible and time_in_state < 1.5' }]

[states.choose]
exits = [{ to = 'aim', always = true, when = 'ammo > 0' }, { to = 'rest', after = 1 }]

[states.aim]
exits = [{ to = 'choose', always = true, when = 'ammo < 5' }, { to = 'rest', after = 1 }]
";

fn proved(folder: &Folder, file: &str) -> Vec<Value> {
    let (_, told, complained) = folder.run(&["check", "--prove", "--format", "json", file]);
    assert_eq!(complained, "");
    let document: Value = serde_json::from_str(&told).unwrap();
    document["files"][0]["problems"].as_array().unwrap().clone()
}

/// Returns the changes that `demeanor run` prints: time, from, to.
fn changes(told: &str) -> Vec<(String, String, String)> {
    let change = |line: &str| {
        let (time, rest) = line.trim_start().split_once(" s  ")?;
        let (from, rest) = rest.split_once(" -> ")?;
        let (to, _) = rest.split_once(": ")?;
        Some((time.to_owned(), from.to_owned(), to.to_owned()))
    };
    told.lines().filter_map(change).collect()
}

/// Plays the witness of a problem, and checks that the result is the one that the witness predicts.
fn replay(folder: &Folder, file: &str, problem: &Value) {
    let witness = &problem["witness"];
    let text = |value: &Value| value.to_string();
    let (tick, seconds) = (text(&witness["tick"]), text(&witness["seconds"]));
    let mut arguments = vec!["run", file, "--tick", &tick, "--seconds", &seconds, "--values", "-"];
    for (option, value) in [("--from", &witness["from"]), ("--machine", &problem["machine"])] {
        if let Some(value) = value.as_str() {
            arguments.extend([option, value]);
        }
    }
    let (code, told, complained) = folder.run_with(&arguments, witness["table"].as_str().unwrap());
    assert_eq!(code, 0, "{complained}");
    let name = |value: &Value| value.as_str().unwrap().to_owned();
    let expected = witness["changes"].as_array().unwrap().iter();
    let mut expected: Vec<_> = expected
        .map(|change| (format!("{:.2}", change["time"].as_f64().unwrap()), name(&change["from"]), name(&change["to"])))
        .collect();
    let mut made = changes(&told);
    if problem["code"] == "endless-circle" {
        // The proof follows a circle for fewer rounds than a machine does.
        for changes in [&mut made, &mut expected] {
            let mut seen = BTreeSet::new();
            changes.retain(|change| seen.insert(change.clone()));
        }
    }
    assert_eq!(made, expected, "{problem}\n{told}");
    assert!(told.contains(&format!("ends in {}, ", name(&witness["end"]))), "{told}");
}

#[test]
fn each_witness_shows_its_finding_when_it_is_run() {
    let folder = Folder::new("prove_replay").with("guard.toml", FAULTY);
    let problems = proved(&folder, "guard.toml");
    let codes: Vec<_> = problems.iter().map(|problem| problem["code"].as_str().unwrap()).collect();
    assert_eq!(
        codes,
        [
            "flicker",
            "never-taken",
            "contradiction",
            "flicker",
            "unreachable",
            "unreachable",
            "guard-never-holds",
            "no-way-out",
            "endless-circle",
        ]
    );
    for problem in &problems {
        replay(&folder, "guard.toml", problem);
    }
}

#[test]
fn what_is_proved_counts_as_warnings_and_circles_within_a_tick_as_errors() {
    let flickers = "initial = 'a'\n[states.a]\nexits = [{ to = 'b', when = 'x' }]\n[states.b]\nexits = [{ to = 'a', when = 'x' }]\n";
    let circles = flickers.replace("to =", "always = true, to =");
    let right = flickers.replace("'b', when = 'x'", "'b', when = 'not x'");
    let folder = Folder::new("prove_codes")
        .with("flickers.toml", flickers)
        .with("circles.toml", &circles)
        .with("right.toml", &right);
    for (arguments, code) in [
        (&["check", "flickers.toml", "circles.toml"][..], 0),
        (&["check", "--prove", "right.toml", "flickers.toml"], 0),
        (&["check", "--prove", "--deny-warnings", "right.toml"], 0),
        (&["check", "--prove", "--deny-warnings", "flickers.toml"], 1),
        (&["check", "--prove", "circles.toml"], 1),
    ] {
        assert_eq!(folder.run(arguments).0, code, "{arguments:?}");
    }
}

#[test]
fn of_a_state_that_is_never_reached_it_is_not_said_that_nobody_leaves_it() {
    let file = "initial = 'a'
[states.a]
exits = [{ to = 'b', when = 'x and not x' }, { to = 'c', when = 'x' }]
[states.b]
[states.c]
behavior = 'walk'
exits = [{ to = 'a', when = 'not x' }, { to = 'a', when = 'not x' }]
";
    let folder = Folder::new("prove_moot").with("file.toml", file);
    let codes = |arguments: &[&str]| -> Vec<(String, serde_json::Value)> {
        let document: serde_json::Value = serde_json::from_str(&folder.run(arguments).1).unwrap();
        let problems = document["files"][0]["problems"].as_array().unwrap();
        problems.iter().map(|of| (of["code"].as_str().unwrap().to_owned(), of["assumed"].clone())).collect()
    };
    let null = serde_json::Value::Null;
    assert_eq!(
        codes(&["check", "--format", "json", "file.toml"]),
        [("no-way-out".into(), null.clone()), ("never-taken".into(), null)]
    );
    assert_eq!(
        codes(&["check", "--prove", "--format", "json", "file.toml"]),
        [
            ("contradiction".into(), false.into()),
            ("unreachable".into(), false.into()),
            ("never-taken".into(), true.into())
        ]
    );
    let (_, _, complained) = folder.run(&["check", "--prove", "file.toml"]);
    assert_eq!(complained.matches("  assumed: no behavior refuses a change\n").count(), 1, "{complained}");
}

#[test]
fn the_page_shows_a_finding_with_the_command_that_shows_it() {
    let page = include_str!("../../../docs/definitions.md");
    let (_, section) = page.split_once("## Proofs").unwrap();
    let block = |kind: &str| section.split_once(&format!("```{kind}\n")).unwrap().1.split_once("```").unwrap().0;
    let folder = Folder::new("prove_page").with("guard.toml", block("toml"));
    let (code, told, complained) = folder.run(&["check", "--prove", "guard.toml"]);
    assert_eq!(
        (code, told.as_str()),
        (
            0,
            "guard.toml: 3 states, 3 warnings; the game's words are not checked without --vocabulary\n\
             guard.toml: values not checked: health\n"
        )
    );
    let (first, _) = complained.split_once("\nnever-taken\n").unwrap();
    let first: Vec<_> = first.lines().map(str::trim_end).collect();
    assert_eq!(first.join("\n").trim(), block("text").trim());
    let command = block("text").lines().last().unwrap();
    let arguments: Vec<_> = command.split(' ').skip(1).collect();
    let (code, told, _) = folder.run(&arguments);
    let changes = changes(&told);
    assert_eq!((code, changes.len()), (0, 7));
    assert!(changes.iter().all(|(_, from, _)| from == "rest" || from == "fight"), "{told}");
}

#[test]
fn the_files_of_the_examples_are_proved() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let folder = Folder::new("prove_examples");
    let [words, giant, shop, maze] =
        ["bestiary", "boss", "shop", "ghosts"].map(|example| format!("{examples}/{example}/words.json"));
    for (file, more) in [
        ("arena/grunt.toml", &[][..]),
        ("arena/sniper.toml", &[]),
        ("dragon/dragon.fsm.toml", &[]),
        ("boss/boss.fsm.toml", &["--vocabulary", giant.as_str()]),
        ("shop/shopkeeper.fsm.toml", &["--vocabulary", shop.as_str()]),
        ("ghosts/ghosts.fsm.toml", &["--vocabulary", maze.as_str()]),
        ("bestiary/bestiary.fsm.toml", &["--vocabulary", words.as_str()]),
    ] {
        let file = format!("{examples}/{file}");
        let arguments = [&["check", "--prove", "--deny-warnings", &file], more].concat();
        let (code, told, complained) = folder.run(&arguments);
        assert_eq!((code, complained.as_str()), (0, ""), "{file}");
        // All of the properties are proved.
        assert!(told.lines().all(|line| !line.contains(": property ") || line.contains(" holds")), "{told}");
    }
}

#[test]
fn the_values_at_the_beginning_are_there_while_the_first_state_is_entered() {
    let file =
        "initial = 'a'\n[states.a]\nexits = [{ to = 'b', always = true, when = 'not x' }]\n[states.b]\nfinal = true\n";
    let folder = Folder::new("prove_begin").with("guard.toml", file);
    let (_, told, _) = folder.run(&["run", "guard.toml", "--seconds", "0", "--set", "x=true"]);
    assert_eq!(changes(&told), []);
    let (_, told, _) = folder.run_with(&["run", "guard.toml", "--values", "-"], "time,x\n0,true\n1,false\n");
    assert_eq!(changes(&told), [("1.00".into(), "a".into(), "b".into())]);
    let (code, _, complained) = folder.run_with(&["run", "-", "--values", "-"], file);
    assert_eq!(
        (code, complained.as_str()),
        (2, "error: the definition and its values cannot both come by standard input\n")
    );
}

#[test]
fn each_property_is_answered_and_the_run_of_one_that_fails_breaks_it() {
    let file = "initial = 'rest'
[properties]
calm = { never = 'in(fight) and afraid' }
rests = { always = 'in(rest)' }
returns = { from = 'in(fight)', reach = 'in(rest)', within = 1 }
ends = { never = 'in(fight) and time_in(fight) > 2 and ammo < armor' }
[states.rest]
exits = [{ to = 'fight', on = 'hit', when = 'message.damage > 3 and not afraid' }]
[states.fight]
exits = [{ to = 'rest', when = 'afraid' }]
";
    let folder = Folder::new("prove_properties").with("guard.toml", file);
    let (code, told, complained) = folder.run(&["check", "--prove", "guard.toml"]);
    assert_eq!(code, 1);
    let answers: Vec<_> = told.lines().filter_map(|line| line.strip_prefix("guard.toml: property ")).collect();
    assert_eq!(
        answers,
        [
            "calm holds",
            "rests fails",
            "returns fails",
            "ends is not decided: it depends on whether a tick can end in `fight`, with `afraid = false`, and on `ammo < armor`",
        ],
        "{complained}"
    );
    let (_, told, _) = folder.run(&["check", "--prove", "--format", "json", "guard.toml"]);
    let document: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(document["files"][0]["proof"]["properties"][1]["answer"], "fails");
    for command in complained.lines().filter(|line| line.starts_with("demeanor run")) {
        assert!(command.contains(" --watch-properties"), "{command}");
    }
    for problem in proved(&folder, "guard.toml") {
        let witness = &problem["witness"];
        let (tick, seconds) = (witness["tick"].to_string(), witness["seconds"].to_string());
        let arguments =
            ["run", "guard.toml", "--watch-properties", "--tick", &tick, "--seconds", &seconds, "--values", "-"];
        let (code, told, _) = folder.run_with(&arguments, witness["table"].as_str().unwrap());
        let name = problem["message"].as_str().unwrap().split('`').nth(1).unwrap().to_owned();
        assert_eq!(code, 1, "{told}");
        assert!(told.contains(&format!("property {name} is violated in fight")), "{told}");
    }
}
