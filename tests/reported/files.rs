//! Faults in what is said of definition files.

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

/// A state of a linked machine that is left only by an exit of the state that runs the machine.
mod linked {
    use super::said;

    const FILE: &str = "
        [machines.guard]
        initial = 'patrol'
        [machines.guard.states.patrol]
        machine = 'round'
        exits = [{ to = 'alarm', when = 'noise' }]
        [machines.guard.states.alarm]
        exits = [{ to = 'patrol', after = 5 }]
        [machines.round]
        initial = 'walk'
        [machines.round.states.walk]
        exits = [{ to = 'home', after = 2 }]
        [machines.round.states.home]
    ";
    const STUCK: &str = "state `home` has no way out";
    const STUCK_WITHIN: &str = "state `patrol.home` has no way out";
    const NO_END: &str = "this exit is never taken: machine `round` has no final state";

    /// It was said to have no way out, because the linked machine was also looked at by itself.
    #[test]
    fn a_state_of_a_linked_machine_is_left_by_the_exit_around_it() {
        assert_eq!(said(FILE, &[]), [] as [&str; 0]);
        assert_eq!(said(&FILE.replace("when = 'noise'", "on = 'done'"), &[]), [NO_END, STUCK, STUCK_WITHIN]);
        let shut = FILE.replace("exits = [{ to = 'alarm', when = 'noise' }]", "");
        assert!(said(&shut, &[]).contains(&STUCK.to_owned()));
        let alike = FILE
            .replace("machine = 'round'", "")
            .replace("[machines.round]\n", "[machines.lazy]\nlike = 'round'\n[machines.round]\n");
        assert!(said(&alike, &[]).contains(&STUCK.to_owned()), "a machine that is like another runs by itself");
    }

    /// The proof took the end of the linked machine for an end of the whole machine.
    #[test]
    fn the_end_of_a_linked_machine_holds_back_only_its_own_exits() {
        let ends = format!("{FILE}final = true\n");
        assert_eq!(said(&ends, &[]), [] as [&str; 0]);
        let ears = "initial = 'walk'\nglobal = 'ears'\nstates.ears.exits = [{ to = 'walk', when = 'tired' }]";
        let never = "this exit is never taken: `patrol.home` is final, and the exit is not its own";
        assert_eq!(said(&ends.replace("initial = 'walk'", ears), &[]), [never]);
    }
}

/// After too many changes, the machine stays in a state of the circle. It has its turn in the same tick, which the proof denied.
#[test]
fn a_circle_that_is_cut_short_ends_in_a_state_whose_exits_are_tried_in_the_same_tick() {
    // In a tick, `a` is entered before its exits are tried, and left as soon as it is entered. After 4000 changes, one of them by
    // `ears`, a machine is in `a`, and goes to `c`.
    let file = "
        initial = 'a'
        global = 'ears'
        [states.ears]
        exits = [{ to = 'a', when = 'x', restart = true }]
        [states.a]
        exits = [{ to = 'c', when = 'x' }, { to = 'b', when = 'x', always = true }]
        [states.b]
        exits = [{ to = 'd', when = 'x', always = true }]
        [states.d]
        exits = [{ to = 'a', when = 'x', always = true }]
        [states.c]
        final = true
    ";
    let circle = "states `a`, `b` and `d` lead to each other without end within one tick, with `x = true`";
    let more = "not all circles of states that lead to each other were looked at";
    assert_eq!(said(file, &[]), [circle, more]);
    // Without the circle, nothing is cut short.
    let never = "this exit is never taken: an earlier exit of `ears`, to `a`, is taken whenever this condition holds";
    let straight = file.replace("{ to = 'a', when = 'x', always = true }", "{ to = 'a', when = 'x' }");
    let flicker = "states `d`, `a` and `b` lead to each other in every tick, with `x = true`";
    assert_eq!(said(&straight, &[]), [flicker, never, "state `c` can never be reached"]);
    // An exit for the end of a machine is also tried as soon as a state is entered.
    let done = "machine = 'm'\nexits = [{ to = 'a', when = 'x', on = 'done' }]";
    let linked = file.replace("exits = [{ to = 'a', when = 'x', always = true }]", done);
    let linked = linked.replace("initial", "[machines.g]\ninitial").replace("[states.", "[machines.g.states.");
    let linked = format!("{linked}[machines.m]\ninitial = 'e'\nstates.e.final = true\n");
    assert_eq!(said(&linked, &[]), [&circle.replace("`d`", "`d.e`"), more]);
}

/// A parent's exit is tried first in a tick. So what it excludes does not hold when the child's exit leads on in the same tick.
#[test]
fn an_exit_of_a_parent_excludes_an_exit_that_is_always_tried() {
    let file = "
        initial = 'p'
        [states.p]
        initial = 's'
        exits = [{ to = 'q', when = 'x' }]
        [states.s]
        parent = 'p'
        exits = [{ to = 't', when = 'y' }]
        [states.t]
        parent = 'p'
        exits = [{ to = 'u', always = true, when = 'x' }, { to = 's', after = 1 }]
        [states.u]
        parent = 'p'
        exits = [{ to = 's', after = 1 }]
        [states.q]
        exits = [{ to = 'p', after = 1 }]
    ";
    let never = "this exit is never taken: an earlier exit of `p`, to `q`, is taken whenever this condition holds";
    assert_eq!(said(file, &[]), [never, "state `u` can never be reached"]);
    // It is possible if the child is entered in the middle of the tick, behind the parent's exit, or left by a message.
    let outer = file.replace("[{ to = 'q'", "[{ to = 's', when = 'z', restart = true }, { to = 'q'");
    let message = file.replace("when = 'y'", "on = 'y'");
    for file in [outer, message] {
        let said = said(&file, &[]);
        assert!(!said.iter().any(|line| line.contains("never")), "{said:?}");
    }
}

/// An exit for several messages was called never taken if it is never taken for one of them.
#[test]
fn an_exit_for_several_messages_is_taken_if_it_is_taken_for_one() {
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', on = 'hit' }, { to = 'c', on = ['hit', 'heard'] }]
        [states.b]
        exits = [{ to = 'a', after = 1 }]
        [states.c]
        exits = [{ to = 'a', after = 1 }]
    ";
    assert_eq!(said(file, &[]), [] as [&str; 0]);
    let never = "this exit is never taken: an earlier exit, to `b`, is always taken";
    assert_eq!(said(&file.replace("on = 'hit'", "on = ['heard', 'hit']"), &[])[0], never);
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

/// With `within = 0`, `reach` has to hold at once. The proof gave it a tick.
#[test]
fn a_property_with_no_time_fails_at_once() {
    let file = "
        initial = 'a'
        [properties]
        p = { from = 'in(b)', reach = 'not in(b)', within = 0 }
        [states.a]
        exits = [{ to = 'b', after = 1 }]
        [states.b]
        exits = [{ to = 'a' }]
    ";
    assert_eq!(said(file, &[]), ["property `p` fails"]);
    assert_eq!(said(&file.replace("within = 0", "within = '1 ms'"), &[]), [] as [&str; 0]);
}

/// A pop in the middle of a tick leads back to states whose times go on, so that their exits may be open. The proof denied it.
#[test]
fn an_exit_is_open_at_once_where_a_pop_leads_back_to_its_state() {
    let file = "
        initial = 's'
        [states.s]
        initial = 'a'
        exits = [{ push = 'd', when = 'z' }, { to = 's', restart = true, when = 'w' }]
        [states.a]
        parent = 's'
        exits = [{ pop = true, always = true, when = 'y' }, { to = 'c', after = 1, when = 'w' }]
        [states.d]
        exits = [{ to = 's', after = 1 }]
        [states.c]
        exits = [{ to = 's', after = 1 }]
    ";
    let said = said(file, &[]);
    assert!(!said.iter().any(|line| line.contains("never")), "{said:?}");
}

/// The global state is never entered, but an exit of it that leads back counted as a way to it.
#[test]
fn a_global_state_is_not_reported_to_have_no_way_out() {
    let file = "
        initial = 'a'
        global = 'g'
        [states.g]
        exits = [{ to = '$previous', when = 'in(b)' }]
        [states.a]
        [states.b]
        entry = true
    ";
    let back = "not decided: choices of exits, cooldowns, deadlines, and where exits lead back";
    assert_eq!(said(file, &[]), ["state `a` has no way out", back]);
}

/// Each of these slips had a message that named another cause, or none.
mod messages {
    use demeanor::definition::{Outline, Problem, Words};

    /// Returns the messages with their help, without the places.
    fn told(file: &str, words: Option<&Words>) -> Vec<String> {
        let text = |problem: &Problem| problem.located().split_once("error: ").map(|(_, text)| text.to_owned());
        Outline::parse("", file, words)
            .map_or_else(|problems| problems.iter().filter_map(text).collect(), |_| Vec::new())
    }

    /// Returns what is said of an exit with these keys.
    fn of_exit(keys: &str) -> Vec<String> {
        told(&format!("initial = 'a'\nstates.a.exits = [{{ to = 'b', {keys} }}]\nstates.b.final = true\n"), None)
    }

    #[test]
    fn a_slip_in_a_number_is_named() {
        let end = "expected `and`, `or` or the end";
        for (keys, message) in [
            ("after = 2,5", "a number has a decimal point, not a comma: write `2.5`".to_owned()),
            ("when = 'x > 0x8000'", format!("{end}: write `32768`: numbers are decimal")),
            ("when = 'x > 32_768'", format!("{end}: write `32768`: a number has no `_`")),
            ("when = 'x > 1e5 s'", format!("{end}: times are in seconds in a condition: write `100000`")),
            ("when = 'x > 1e3%'", format!("{end}: write the number alone: `1e3`, or `10` where 1 is the whole")),
            (
                "after = '600 usec'",
                "`after` must be a duration: the shortest unit of time is `ms`: write the seconds: `0.0006`".into(),
            ),
        ] {
            assert_eq!(of_exit(keys), [message], "{keys}");
        }
        for right in ["after = '600 msec'", "after = '1e+1 s .. 2e+1 s'", "after = '1e-1 .. 2e-1 s'"] {
            assert_eq!(of_exit(right), [] as [&str; 0], "{right}");
        }
    }

    #[test]
    fn a_slip_in_a_condition_is_named() {
        let end = "expected `and`, `or` or the end";
        for (keys, message) in [
            ("when = 'if hour > 3'", format!("{end}: a condition has no `if`: write `hour > 3`")),
            ("when = 'if hour > 3 then seen'", format!("{end}: a condition has no `if`: write `hour > 3`")),
            ("when = 'hour > 1,000'", format!("{end}: write `1000`: a number has no `,`")),
            ("when = 'hour > 0,125'", format!("{end}: write `0.125`")),
            ("when = 'unless seen'", format!("{end}: a condition has no `unless`: write `not (seen)`")),
            (
                "when = ['x', 'y or z']",
                "`when` must be a string, not a list: write one text: `\"x and (y or z)\"`".into(),
            ),
        ] {
            assert_eq!(of_exit(keys), [message], "{keys}");
        }
        let nested = |deep: usize| of_exit(&format!("when = '{}x{}'", "(".repeat(deep), ")".repeat(deep)));
        assert_eq!(nested(64), [] as [&str; 0]);
        assert!(nested(65)[0].starts_with("the condition is nested deeper than 64 parentheses and `not`s"));
    }

    #[test]
    fn a_slip_in_a_name_or_a_header_is_named() {
        let back = "initial = 'a'\nstates.a.exits = [{ to = 'previous' }]\n";
        let go_back = "unknown state `previous`: an exit leads back to the state before with `to = \"$previous\"`";
        assert_eq!(told(back, None), [go_back]);

        let inside = "initial = 'a'\n[states.a]\ninitial = 'x'\n[states.a.states.x]\nexits = [{ to = 'a' }]\n";
        assert_eq!(told(inside, None), [] as [&str; 0]);
        let twice = "the state is in the table of `a`, its parent: remove `parent`, or write the state beside the other: `[states.name]`";
        assert_eq!(told(&format!("{inside}parent = 'a'\n"), None), [twice]);

        let header =
            "[machines.imp]\ninitial = 'a'\n[machines.ipm.states.a]\nexits = [{ to = 'b' }]\n[machines.imp.states.b]\n";
        assert_eq!(told(header, None), ["machine `ipm` has states, but no `initial`: did you mean `imp`?"]);

        let key = "initial = 'a'\nstates.a.behavior = [{ nam = 'walk', speed = 3 }]\n";
        assert_eq!(told(key, None), ["a behavior has no `name`: did you mean `name`?"]);
        let other = key.replace("nam =", "gait =");
        assert_eq!(
            told(&other, None),
            ["a behavior has no `name`: name what the owner does: `{ name = \"walk\", speed = 2 }`"]
        );
    }

    #[test]
    fn a_word_of_the_file_that_is_used_above_its_definition_is_no_value() {
        let file = "initial = 'a'\nconditions = { near = 'near' }\nstates.a.exits = [{ to = 'a', when = 'near' }]\n";
        let below = "`near` is a word of this file: a condition uses it below its definition, alone or in a comparison";
        assert_eq!(told(file, None), [format!("unknown value `near`: {below}")]);
    }

    #[test]
    fn what_is_no_name_of_a_value_is_neither_set_nor_waited_for() {
        let time = "name the value of the game that has this time, in seconds: `at = \"wave_end\"`";
        assert_eq!(of_exit("at = '18:00'"), [format!("`18:00` is not the name of a value: {time}")]);
        assert_eq!(of_exit("at = 5"), [format!("`at` must be the name of a value, not a whole number: {time}")]);
        let sets = "`set` gives values of the game a new number: `set = { ammo = 6 }`";
        assert_eq!(
            of_exit("set = { time_in_state = 0 }"),
            [format!("`time_in_state` is not the name of a value: {sets}")]
        );
    }

    #[test]
    fn a_slip_in_a_way_back_or_in_a_unit_of_one_letter_has_no_wrong_help() {
        let previous = "an exit leads back to the state before with `to = \"$previous\"`";
        for to in ["$prev", "Previous", "prev"] {
            let file = format!("initial = 'a'\nstates.a.exits = [{{ to = '{to}', when = 'x' }}]\n");
            assert_eq!(told(&file, None), [format!("unknown state `{to}`: {previous}")]);
        }
        let units = "units are `s`, `ms`, `min`, `h` and `ticks`";
        assert_eq!(
            of_exit("after = '5 m'"),
            [format!("`after` must be a duration: `m` is not a unit of time: {units}")]
        );
    }

    #[test]
    fn a_state_or_an_exit_in_the_wrong_place_is_named() {
        let file = "initial = 'a'\nstates.a.exits = [{ to = 'a', when = 'x' }]\n[states.a.aim]\nexits = []\n";
        let state = "unknown key `aim` in a state: write a state in another one as `[states.fight.states.aim]`";
        assert_eq!(told(file, None), [state]);
        let exit = "initial = 'a'\n[states.a]\nexit = { to = 'a', when = 'x' }\n";
        assert_eq!(told(exit, None), ["`exit` names no action: did you mean `exits`?"]);
        let actions = exit.replace("exit = { to = 'a', when = 'x' }", "enter = {}");
        assert_eq!(told(&actions, None), ["`enter` names no action: write the name of an action: `\"roar\"`"]);
    }

    #[test]
    fn the_end_of_a_machine_is_not_awaited_where_none_runs() {
        let file = "initial = 'a'\nstates.a.exits = [{ to = 'b', on = 'done' }]\nstates.b.final = true\n";
        let words = |messages: &str| Words::from_json(&format!("{{ \"messages\": [{messages}] }}")).unwrap();
        let runs_none = "state `a` runs no machine whose end it could wait for: write `machine = \"..\"` in the state, or wait for a \
                         message that the game offers";
        assert_eq!(told(file, Some(&words("\"hit\""))), [runs_none]);
        assert_eq!(told(file, Some(&words("\"done\""))), [] as [&str; 0]);
    }
}
