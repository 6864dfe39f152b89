//! The runner of the page is the runner of `demeanor run`.

use std::fmt::Write as _;
use std::process::Command;

use serde_json::{Value, json};

use super::client::{GUARD, Studio};

/// Returns what `demeanor run` writes for the same inputs, without its end.
fn on_the_command_line(studio: &Studio, inputs: &[Value], ticks: u32) -> Vec<String> {
    let mut table = "time,health,enemy_visible,distance,message\n".to_owned();
    let shown = |value: &Value| if value.is_null() { String::new() } else { value.to_string() };
    for input in inputs {
        let values = &input["values"];
        let cells = ["health", "enemy_visible", "distance"].map(|name| shown(&values[name]));
        let time = input["tick"].as_f64().unwrap() * 0.1;
        let message = input["message"].as_str().unwrap_or_default();
        let _ = writeln!(table, "{time},{},{message}", cells.join(","));
    }
    std::fs::write(studio.outside().join("inputs.csv"), table).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_demeanor"))
        .arg("run")
        .arg(studio.path("guard.toml"))
        .arg("--watch-properties")
        .arg("--values")
        .arg(studio.outside().join("inputs.csv"))
        .args(["--tick", "0.1", "--seconds", &(f64::from(ticks) * 0.1).to_string()])
        .output()
        .unwrap();
    let written = String::from_utf8(output.stdout).unwrap();
    let lines = written.lines().map(str::to_owned);
    lines.take_while(|line| !line.contains("  ends in ")).collect()
}

fn random_inputs(random: &mut fastrand::Rng, ticks: u32) -> Vec<Value> {
    let mut inputs = Vec::new();
    for tick in 0..=ticks {
        if random.u32(..3) > 0 {
            continue;
        }
        let mut values = json!({});
        if random.bool() {
            values["health"] = json!(random.i32(-5..100));
        }
        if random.bool() {
            values["enemy_visible"] = json!(random.bool());
        }
        if random.bool() {
            values["distance"] = json!(f64::from(random.u32(..40)) / 10.0);
        }
        let message = (random.u32(..3) == 0).then_some("took_damage");
        inputs.push(json!({ "tick": tick, "values": values, "message": message }));
    }
    inputs
}

#[test]
fn a_run_is_the_same_as_on_the_command_line() {
    let studio = Studio::new(&[("guard.toml", GUARD)]);
    let mut random = fastrand::Rng::with_seed(33);
    for _ in 0..20 {
        let ticks = random.u32(1..40);
        let inputs = random_inputs(&mut random, ticks);
        // The page asks for some ticks at a time, and sometimes looks back at one that has been.
        let (mut lines, mut next) = (Vec::new(), 0);
        while next <= ticks {
            let to = (next + random.u32(..5)).min(ticks);
            let known: Vec<_> =
                inputs.iter().filter(|input| input["tick"].as_u64().unwrap() <= u64::from(to) + 1).collect();
            let (status, told) = studio
                .ask("run", &json!({ "path": "guard.toml", "text": GUARD, "inputs": known, "to": to, "since": next }));
            assert_eq!(status, 200, "{told}");
            for tick in told["ticks"].as_array().unwrap() {
                assert_eq!(tick["tick"], next);
                next += 1;
                lines.extend(tick["lines"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()));
            }
            if random.bool() {
                let back = random.u32(..next);
                let of = json!({ "path": "guard.toml", "text": GUARD, "inputs": known, "to": back, "since": back });
                let (_, told) = studio.ask("run", &of);
                assert_eq!(told["at"], back);
            }
        }
        assert_eq!(lines, on_the_command_line(&studio, &inputs, ticks), "{inputs:?}");
    }
}

#[test]
fn a_change_names_its_exit_and_the_others_say_why_not() {
    let studio = Studio::new(&[("guard.toml", GUARD)]);
    let inputs = json!([{ "tick": 0, "values": { "health": 40, "enemy_visible": true, "distance": 3 } }, { "tick": 1, "message": "took_damage" }]);
    let mut of = json!({ "path": "guard.toml", "text": GUARD, "inputs": inputs, "to": 0, "since": 0 });
    let (status, told) = studio.ask("run", &of);
    assert_eq!(status, 200, "{told}");
    let changes: Vec<_> =
        told["ticks"][0]["events"].as_array().unwrap().iter().map(|event| event["exit"].to_string()).collect();
    assert_eq!(changes, ["[1,0]"]);
    assert_eq!(told["current"], "run");
    let why: Vec<_> = told["exits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|exit| (exit["exit"].to_string(), exit["why"].as_str().unwrap()))
        .collect();
    assert_eq!(
        why,
        [
            ("[0,0]".to_owned(), "to dead: no: health <= 0 (health = 40) does not hold"),
            ("[2,0]".to_owned(), "to post: no: enemy_visible holds"),
            ("[3,0]".to_owned(), "to hit: no: distance < 1 (distance = 3) does not hold"),
        ]
    );
    of["inputs"] = json!([{ "tick": 0, "values": { "helth": 40 } }]);
    assert_eq!(
        studio.ask("run", &of).1["error"],
        "there is no value `helth`; there are: distance, enemy_visible, health"
    );
}

#[test]
fn a_run_that_is_kept_is_a_test_of_the_tool() {
    let studio = Studio::new(&[("guard.fsm.toml", GUARD)]);
    for health in [60, 10] {
        let inputs = json!([
            { "tick": 0, "values": { "health": health, "enemy_visible": true } },
            { "tick": 4, "values": { "enemy_visible": false }, "message": "took_damage" },
            { "tick": 13, "values": { "enemy_visible": true } },
        ]);
        let of = json!({ "path": "guard.fsm.toml", "text": GUARD, "inputs": inputs, "to": 12 });
        let (status, told) = studio.ask("keep", &of);
        assert_eq!((status, &told["table"]), (200, &json!("guard.tests.toml")), "{told}");
    }
    let replay = || {
        let mut run = Command::new(env!("CARGO_BIN_EXE_demeanor"));
        run.arg("run").arg(studio.path("guard.fsm.toml")).arg("--tests").arg(studio.path("guard.tests.toml"));
        run.output().unwrap()
    };
    let written = String::from_utf8(replay().stdout).unwrap();
    assert!(written.ends_with("guard.tests.toml: 2 runs as before\n"), "{written}");
    std::fs::write(studio.path("guard.fsm.toml"), GUARD.replace("health > 20", "health > 90")).unwrap();
    assert_eq!(replay().status.code(), Some(1));
}
