//! States that run other machines: of the same file, and of files beside it.
#![cfg(feature = "definition")]

use std::fs;
use std::path::{Path, PathBuf};

use demeanor::definition::{Definition, LoadError, Outline, Proof, PropertyAnswer, Vocabulary};

use crate::guard::Guard;
use crate::reports::lines;
use crate::trace::log::Trace;
use crate::troop::Alike;

fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new().flag("brave", |guard: &Guard, _| guard.is_brave).message("noise", |_| true)
}

/// The changes of a guard in so many seconds.
#[track_caller]
fn trace(definition: &Definition<Guard>, guard: &Guard, seconds: u8) -> Trace {
    let mut guards = Alike::start(definition, guard);
    for second in 1..=seconds {
        guards.update(second.into());
    }
    guards.take_trace()
}

/// A folder for a test's files, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("definition_links").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("below")).unwrap();
    folder
}

const MAIN: &str = "initial = 'a'\nticks_per_second = 1\n[states.a]\nmachine = 'below/round.fsm.toml'\n\
                    exits = [{ to = 'b', on = 'done' }]\n[states.b]\nfinal = true\n";

#[test]
fn a_state_runs_a_machine_of_a_file_beside_it() {
    let folder = folder("beside");
    fs::write(folder.join("main.toml"), MAIN).unwrap();
    // Its ticks are its own; it links to a file beside itself, which has two machines, and whose global state is around all.
    fs::write(
        folder.join("below/round.fsm.toml"),
        "initial = 'walk'\nticks_per_second = 2\n[states.walk]\nexits = [{ to = 'look', after = '2 ticks' }]\n\
         [states.look]\nmachine = 'more.toml#eyes'\nexits = [{ to = 'end', on = 'done' }]\n[states.end]\nfinal = true\n",
    )
    .unwrap();
    fs::write(
        folder.join("below/more.toml"),
        "[machines.ears]\ninitial = 'x'\nstates.x.final = true\n[machines.eyes]\ninitial = 'left'\nglobal = 'both'\n\
         states.both.exits = [{ to = 'shut', when = 'brave' }]\nstates.left.exits = [{ to = 'shut', after = 3 }]\n\
         states.shut.final = true\n",
    )
    .unwrap();
    let definition = Definition::load(folder.join("main.toml"), &vocabulary()).unwrap();
    assert_eq!(definition.warnings(), []);
    assert_eq!(
        trace(&definition, &Guard::recording_changes(), 6),
        "a.walk -> a.look.left (change)
         a.look.left -> a.look.shut (change)
         a.look.shut -> a.end (change)
         a.end -> b (change)"
    );
    let brave = Guard { is_brave: true, ..Guard::recording_changes() };
    assert_eq!(
        trace(&definition, &brave, 6),
        "a.walk -> a.look.left (change)
         a.look.left -> a.look.shut (change)
         a.look.shut -> a.end (change)
         a.end -> b (change)"
    );
    let outline = definition.outline();
    let names: Vec<_> = outline.states().iter().map(|state| state.name()).collect();
    assert_eq!(names, ["a", "b", "a.walk", "a.look", "a.end", "a.look.both", "a.look.left", "a.look.shut"]);
    assert_eq!(outline.states()[0].machine(), Some("below/round.fsm.toml"));
    assert_eq!(definition.initial().name(), "a.walk");
    let left = outline.states().iter().find(|state| state.name() == "a.look.left").unwrap();
    let path: Vec<_> = outline.path(left.id()).into_iter().map(|id| outline.state(id).name()).collect();
    assert_eq!(path, ["a", "a.look", "a.look.both", "a.look.left"]);
    // What it links to is read again when it is reloaded.
    fs::write(folder.join("below/round.fsm.toml"), "initial = 'end'\n[states.end]\nfinal = true\n").unwrap();
    definition.reload_from(folder.join("main.toml")).unwrap();
    assert_eq!(trace(&definition, &Guard::recording_changes(), 1), "a.end -> b (change)");
}

/// What is wrong with `main.toml` of a folder.
#[track_caller]
fn wrong(folder: &Path) -> Vec<String> {
    match Definition::load(folder.join("main.toml"), &vocabulary()).map(|_| ()).unwrap_err() {
        LoadError::Problems(problems) => problems
            .iter()
            .map(|problem| {
                let located = problem.located();
                located.split_once("main.toml").unwrap().1.to_owned()
            })
            .collect(),
        other => panic!("{other}"),
    }
}

#[test]
fn a_link_is_found_wherever_its_state_is_written() {
    let folder = folder("nested");
    fs::write(
        folder.join("below/round.fsm.toml"),
        "initial = 'walk'\n[states.walk]\nexits = [{ to = 'end', after = 1 }]\n[states.end]\nfinal = true\n",
    )
    .unwrap();
    let rest = "machine = 'below/round.fsm.toml'\nexits = [{ to = 'rest', on = 'done' }]\n";
    let trace_of = |patrol: &str| {
        let text =
            format!("initial = 'duty'\n[states.duty]\ninitial = 'patrol'\n[states.rest]\nfinal = true\n{patrol}{rest}");
        fs::write(folder.join("main.toml"), text).unwrap();
        let definition = Definition::load(folder.join("main.toml"), &vocabulary()).unwrap();
        trace(&definition, &Guard::recording_changes(), 3)
    };
    let flat = trace_of("[states.patrol]\nparent = 'duty'\n");
    assert_eq!(trace_of("[states.duty.states.patrol]\n"), flat);
}

#[test]
fn what_is_wrong_with_a_linked_file_is_said_at_the_link() {
    let folder = folder("wrong");
    fs::write(folder.join("main.toml"), MAIN).unwrap();
    let link = |text: &str| {
        fs::write(folder.join("below/round.fsm.toml"), text).unwrap();
        wrong(&folder)
    };
    assert_eq!(
        link("initial = 'walk'\n[states.walk]\nexits = [{ to = 'wolk' }, { to = 'walk', when = 'brav' }]\n"),
        [
            ":4:11: error: `below/round.fsm.toml` cannot be linked: below/round.fsm.toml:3:17: error: unknown state `wolk`: \
           did you mean `walk`? (and 1 more)"
        ]
    );
    let syntax = link("initial = \n");
    assert!(
        syntax[0].starts_with(":4:11: error: `below/round.fsm.toml` cannot be linked: below/round.fsm.toml:1:"),
        "{syntax:?}"
    );
    assert_eq!(
        link("initial = 'a'\n[states.a]\nmachine = '../main.toml'\n"),
        [
            ":4:11: error: `below/round.fsm.toml` cannot be linked: below/round.fsm.toml:3:11: error: `../main.toml` cannot be linked: \
           a linked file lies in the definition's folder, or in one below it"
        ]
    );
    assert_eq!(
        link("initial = 'a'\n[states.a]\nmachine = 'round.fsm.toml'\n"),
        [":4:11: error: `below/round.fsm.toml` cannot be linked: below/round.fsm.toml:3:11: error: \
           machines run each other in a circle: `below/round.fsm.toml` -> `below/round.fsm.toml`: \
           a machine cannot run itself: let one of them end, and an exit lead on"]
    );
    fs::remove_file(folder.join("below/round.fsm.toml")).unwrap();
    let [missing] = &wrong(&folder)[..] else { panic!() };
    assert!(missing.starts_with(":4:11: error: `below/round.fsm.toml` cannot be linked: "), "{missing}");
    fs::create_dir(folder.join("below/round.fsm.toml")).unwrap();
    assert_eq!(wrong(&folder), [":4:11: error: `below/round.fsm.toml` cannot be linked: it is not a file"]);
}

#[cfg(unix)]
#[test]
fn a_backslash_in_a_path_is_answered_with_a_slash() {
    let folder = folder("backslash");
    fs::write(folder.join("main.toml"), "initial = 'a'\n[states.a]\nmachine = 'below\\round.fsm.toml'\n").unwrap();
    let told = wrong(&folder);
    assert!(told[0].ends_with(": did you mean `below/round.fsm.toml`?"), "{told:?}");
    fs::write(folder.join("main.toml"), "initial = 'a'\n[states.a]\nscript = 'below\\a.rhai'\n").unwrap();
    let told = wrong(&folder);
    assert!(!cfg!(feature = "script") || told[0].ends_with(": did you mean `below/a.rhai`?"), "{told:?}");
}

/// A regression test: the name of the file ended at its first `#`.
#[test]
fn the_name_of_a_linked_file_may_contain_the_sign_before_its_machine() {
    let folder = folder("sign");
    let two =
        "[machines.x]\ninitial = 'y'\nstates.y.final = true\n[machines.z]\ninitial = 'w'\nstates.w.final = true\n";
    fs::write(folder.join("below/c#.toml"), two).unwrap();
    for (link, expected) in [("below/c#.toml", "a.y"), ("below/c#.toml#z", "a.w")] {
        fs::write(folder.join("main.toml"), format!("initial = 'a'\nstates.a.machine = '{link}'\n")).unwrap();
        assert_eq!(Definition::load(folder.join("main.toml"), &vocabulary()).unwrap().initial().name(), expected);
    }
}

#[test]
fn states_that_are_missing_because_of_a_mistake_in_a_link_are_not_reported() {
    let folder = folder("only_the_link");
    fs::write(folder.join("below/round.fsm.toml"), "initial = 'walk'\n[states.walk]\nfinal = 1\n").unwrap();
    for state in
        ["machine = 'below/round.fsm.toml'", "machine = 'rund'", "machine = 'below/round.fsm.toml'\ninitial = 'b'"]
    {
        let main = format!(
            "initial = 'a'\n[states.a]\n{state}\nexits = [{{ to = 'b', on = 'done' }}]\n\
             [states.b]\nexits = [{{ to = 'a.walk', after = 1, when = 'not in(walk)' }}]\n"
        );
        fs::write(folder.join("main.toml"), main).unwrap();
        let all = wrong(&folder);
        assert!(all.len() == 1 && !all[0].contains("unknown state"), "{all:?}");
    }
}

/// Each machine runs the next one twice.
#[test]
fn links_that_double_again_and_again_are_refused() {
    use std::fmt::Write as _;

    let mut file = String::new();
    for i in 0..40 {
        writeln!(file, "[machines.m{i}]\ninitial = 'a'\nstates.a = {{ machine = 'm{}' }}", i + 1).unwrap();
        writeln!(file, "states.b = {{ machine = 'm{}', entry = true }}", i + 1).unwrap();
    }
    writeln!(file, "[machines.m40]\ninitial = 'a'\nstates.a.final = true").unwrap();
    let found = lines(&file);
    assert!(found.iter().any(|line| line.contains("links lead to more than 20000 states")), "{found:?}");
}

/// The run that would break the property has no scripts.
#[test]
#[cfg_attr(not(feature = "script"), ignore = "needs the feature `script`")]
fn where_a_linked_file_asks_a_script_no_property_counts_as_broken() {
    let folder = folder("asked");
    let of_main = "\n[properties.ends]\nfrom = 'in(a)'\nreach = 'in(b)'\nwithin = 5\n";
    let round = |when: &str| {
        format!("initial = 'walk'\nstates.walk.exits = [{{ to = 'home', when = {when} }}]\nstates.home.final = true\n")
    };
    fs::write(folder.join("main.toml"), [MAIN, of_main].concat()).unwrap();
    fs::write(folder.join("below/ask.rhai"), "true").unwrap();
    let [asked, plain] = ["{ script = 'ask.rhai' }", "'brave'"].map(|when| {
        fs::write(folder.join("below/round.fsm.toml"), round(when)).unwrap();
        let proof = Proof::of(&Outline::load_all(folder.join("main.toml"), None).unwrap());
        proof.properties()[0].answer().clone()
    });
    assert!(matches!(asked, PropertyAnswer::NotDecided(_)), "{asked:?}");
    assert!(matches!(plain, PropertyAnswer::Fails(_)), "{plain:?}");
}

/// The file between is right in `b`, where the ticks have a length, although it is wrong in `a`.
#[test]
fn a_linked_file_is_checked_with_the_ticks_of_each_file_that_links_to_it() {
    let folder = folder("two_rates");
    for (file, text) in [
        (
            "main.toml",
            "initial = 'a'\nstates.a.machine = 'below/between.toml'\nstates.b = { machine = 'below/timed.toml', entry = true }\n",
        ),
        ("below/timed.toml", "ticks_per_second = 8\ninitial = 'go'\nstates.go.machine = 'between.toml'\n"),
        (
            "below/between.toml",
            "initial = 'run'\nstates.run.machine = 'last.toml'\nstates.rest = { exits = [{ to = 'run.x' }], entry = true }\n",
        ),
        (
            "below/last.toml",
            "initial = 'x'\nstates.x.exits = [{ to = 'y', after = '4 ticks' }]\nstates.y.final = true\n",
        ),
    ] {
        fs::write(folder.join(file), text).unwrap();
    }
    let [of_a] = &wrong(&folder)[..] else { panic!("{:?}", wrong(&folder)) };
    assert!(
        of_a.starts_with(":2:20: error: `below/between.toml` cannot be linked: ")
            && of_a.contains("nobody says how long a tick is"),
        "{of_a}"
    );
}

#[test]
fn the_ticks_of_a_linked_file_are_as_long_as_the_file_says_that_links_to_it() {
    let folder = folder("ticks");
    fs::write(
        folder.join("below/last.toml"),
        "initial = 'x'\nstates.x.exits = [{ to = 'y', after = '4 ticks' }]\nstates.y.final = true\n",
    )
    .unwrap();
    let between = "initial = 'run'\nstates.run.machine = 'last.toml'\n";
    let main = "initial = 'a'\nstates.a.machine = 'below/between.toml'\n";
    let after = |main: &str, between: &str| {
        fs::write(folder.join("main.toml"), main).unwrap();
        fs::write(folder.join("below/between.toml"), between).unwrap();
        let definition =
            Definition::load(folder.join("main.toml"), &vocabulary()).map_err(|error| error.to_string())?;
        let outline = definition.outline();
        let state = outline.states().iter().find(|state| state.name() == "a.run.x").unwrap();
        Ok::<_, String>(state.exits()[0].after().and_then(demeanor::definition::Duration::seconds))
    };
    // The nearest file that says it.
    assert_eq!(after(&format!("ticks_per_second = 2\n{main}"), between), Ok(Some(2.0)));
    assert_eq!(
        after(&format!("ticks_per_second = 2\n{main}"), &format!("ticks_per_second = 8\n{between}")),
        Ok(Some(0.5))
    );
    let error = after(main, between).unwrap_err();
    assert!(error.contains("nobody says how long a tick is"), "{error}");
}
