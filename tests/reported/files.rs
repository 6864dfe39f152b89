//! Faults in what is said of definition files.

#[path = "../definition/case_files.rs"]
#[allow(dead_code, reason = "only texts are found here")]
mod case_files;

use std::path::Path;

use demeanor::definition::{Outline, Proof, PropertyAnswer, Survey, Words};

/// Returns what is said of a file with these scripts: its problems, and then the findings and the notes of the proof.
fn said(file: &str, scripts: &[(&str, &str)]) -> Vec<String> {
    let open = |path: &Path| {
        let script = scripts.iter().find(|(name, _)| Path::new(name) == path);
        script.map(|(_, text)| (*text).to_owned())
    };
    let survey = Survey::of("guard.toml", file, Some(Path::new("no/folder")), &open, None);
    let proof = Proof::of(survey.outlines());
    let problems = survey.problems().iter().map(ToString::to_string);
    let findings = proof.findings().iter().map(|finding| finding.problem().to_string());
    problems.chain(findings).chain(proof.notes().iter().cloned()).collect()
}

mod scripts {
    use super::said;

    const FILE: &str = "
        initial = 'walk'
        [states.walk]
        script = 'walk.rhai'
        exits = [{ to = 'rest', when = 'tired' }]
        [states.rest]
        [states.lost]
        exits = [{ to = 'walk', when = 'tired' }]
    ";
    const STUCK: &str = "state `rest` has no way out";
    const LOST: &str = "state `lost` can never be reached";
    const SCRIPTS: &str = "not decided: results of scripts";

    fn said_with(script: &str) -> Vec<String> {
        said(FILE, &[("walk.rhai", script)])
    }

    /// A script in one state switched off what is said of states that are not reached or not left, in the whole machine.
    #[test]
    fn a_script_that_changes_no_state_leads_nowhere() {
        for script in ["fn enter() { let x = this.speed; x += 1.0; }", "fn update() { print(`${this.speed}`); }"] {
            assert_eq!(said_with(script), [STUCK, LOST, STUCK, LOST], "{script}");
        }
        assert_eq!(said_with("fn enter() { this.cooldown = 3.0; }"), [STUCK, LOST, STUCK, LOST, SCRIPTS]);
    }

    #[test]
    fn a_script_leads_to_the_states_that_it_names() {
        let asked = "fn update() { switch this.x { 1.0 => { if this.y > 2.0 { change_state(\"lost\"); } } _ => {} } }";
        assert_eq!(said_with(asked), [STUCK, STUCK, SCRIPTS]);
        let within = "fn lose() { change_state(\"lost\") } fn update() { lose(); }";
        assert_eq!(said_with(within), [STUCK, STUCK, SCRIPTS]);
    }

    #[test]
    fn a_script_whose_change_is_not_known_may_lead_to_any_state() {
        let computed = "fn update() { let to = \"lo\"; to += \"st\"; change_state(to); }";
        let method = "fn update() { let to = \"lost\"; to.change_state(); }";
        for script in [computed, method] {
            assert_eq!(said_with(script), [STUCK, STUCK, SCRIPTS], "{script}");
        }
        assert_eq!(said(FILE, &[]), [STUCK, STUCK, SCRIPTS]);
    }

    /// The script of a state that is never active leads nowhere, and a script in the state itself leads out of it.
    #[test]
    fn only_the_scripts_of_active_states_lead_to_others() {
        let file = "
            initial = 'rest'
            [states.rest]
            script = 'walk.rhai'
            [states.walk]
            exits = [{ to = 'rest', when = 'tired' }]
            [states.lost]
            script = 'lost.rhai'
        ";
        let scripts = [
            ("walk.rhai", "fn update() { change_state(\"walk\"); }"),
            ("lost.rhai", "fn update() { change_state(\"rest\"); }"),
        ];
        assert_eq!(said(file, &scripts), [LOST, LOST, SCRIPTS]);
    }

    /// `a` is left by `far` before `near` is tried, if `d` stays as it is. But the script writes it, after `far` was tried.
    #[test]
    fn a_value_that_a_script_writes_is_not_the_same_all_the_time() {
        let file = "
            initial = 'a'
            [states.outer]
            initial = 'a'
            exits = [{ to = 'far', when = 'd < 20' }]
            [states.a]
            parent = 'outer'
            script = 'a.rhai'
            exits = [{ to = 'near', when = 'd < 10' }]
            [states.far]
            exits = [{ to = 'a', after = 1 }]
            [states.near]
            exits = [{ to = 'a', after = 1 }]
        ";
        let covered =
            "this exit is never taken: an earlier exit of `outer`, to `far`, is taken whenever this condition holds";
        let unreachable = "state `near` can never be reached";
        let said_with = |script: &str| said(file, &[("a.rhai", script)]);
        assert_eq!(said_with("fn update() { print(this.d); }"), [covered, unreachable]);
        for script in ["fn update() { this.d = 3.0; }", "fn update() { this[\"d\"] = 3.0; }"] {
            assert_eq!(said_with(script), [SCRIPTS], "{script}");
        }
        assert_eq!(said_with("fn update() { this[`${this.x}`] = 3.0; }"), [SCRIPTS]);
        assert_eq!(said_with("fn update() { this.e = 3.0; }"), [covered, unreachable, SCRIPTS]);
        // If `outer` asks for a change that is refused, its exits are not tried, but those of `a` are.
        let script = "initial = 'a'\n            script = 'a.rhai'";
        let outer = file.replacen("            script = 'a.rhai'\n", "", 1);
        let outer = outer.replacen(
            "[states.outer]\n            initial = 'a'",
            &format!("[states.outer]\n            {script}"),
            1,
        );
        assert_eq!(said(&outer, &[("a.rhai", "fn update() { change_state(\"a\"); }")]), [SCRIPTS]);
    }

    /// The states lead to each other in every tick only as long as the value stays as it is.
    #[test]
    fn a_script_that_changes_a_state_or_a_value_ends_a_circle() {
        let file = "
            initial = 'a'
            [states.a]
            script = 'a.rhai'
            exits = [{ to = 'b', when = 'x < 10', always = true }]
            [states.b]
            exits = [{ to = 'a', when = 'x < 10', always = true }]
        ";
        let circle = "states `a` and `b` lead to each other without end within one tick, with `x = 0`";
        let more = "not all circles of states that lead to each other were looked at";
        let said_with = |script: &str| said(file, &[("a.rhai", script)]);
        assert_eq!(said_with("fn enter() { print(this.x); }"), [circle, more]);
        assert_eq!(said_with("fn enter() { this.x += 1.0; }"), [SCRIPTS]);
        assert_eq!(said_with("fn enter() { change_state(\"b\"); }"), [SCRIPTS]);
    }
}

#[test]
fn what_is_said_of_a_file_is_true() {
    case_files::assert_texts("reported.txt", |file| said(file, &[]).join("\n"));
}

/// A property failed with a number that the value never has.
#[test]
fn a_value_stays_in_its_range() {
    let words = r#"{ "values": { "hour": "number" }, "fields": ["hour"], "ranges": { "hour": [0, 24] } }"#;
    let words = Words::from_json(words).unwrap();
    let file = "
        initial = 'day'
        [properties]
        p = { never = 'in(late)' }
        [states.day]
        exits = [{ to = 'late', when = 'hour - 5 > 20' }]
        [states.late]
        exits = [{ to = 'day', when = 'hour < 8' }]
    ";
    let answer = |file: &str| {
        let proof = Proof::of(&Outline::parse_all("guard.toml", file, Some(&words)).unwrap());
        proof.properties()[0].answer().clone()
    };
    assert_eq!(answer(file), PropertyAnswer::Holds);
    // What the file sets may be any number, as far as the proof knows.
    let sets = file.replace("when = 'hour < 8'", "when = 'hour < 8', set = { hour = 'hour * 2' }");
    assert!(matches!(answer(&sets), PropertyAnswer::Fails(_)));
    let wrong = file.replace("when = 'hour < 8'", "when = 'hour < 8', set = { hour = 25 }");
    let problems = Outline::parse_all("guard.toml", &wrong, Some(&words)).unwrap_err();
    assert_eq!(problems.iter().next().unwrap().to_string(), "`hour` is from 0 to 24");
}
