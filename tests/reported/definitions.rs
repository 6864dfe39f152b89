//! Faults of machines from files.

use demeanor::definition::{Definition, ExitReport, LoadError, Verdict, Vocabulary};
use demeanor::{Fsm, Owner, State};
use miette::{GraphicalReportHandler, GraphicalTheme};

#[derive(Clone, Default)]
struct Guard {
    seen: bool,
    ammo: f64,
    is_bound: bool,
}

impl Owner for Guard {
    type Context<'a> = ();
    type Message = &'static str;
}

/// A behaviour that nobody can begin.
struct Shut;
impl State<Guard> for Shut {
    fn can_enter(&self, _: &Guard, _: &Fsm<'_, Guard>, (): &()) -> bool {
        false
    }
}

/// A behaviour that nobody can end who is bound.
struct Held;
impl State<Guard> for Held {
    fn can_exit(&self, guard: &Guard, _: &Fsm<'_, Guard>, (): &()) -> bool {
        !guard.is_bound
    }
}

fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new()
        .value("ammo", |guard: &Guard, ()| guard.ammo)
        .flag("seen", |guard: &Guard, ()| guard.seen)
        .behaviour("shut", &Shut)
        .behaviour("held", &Held)
        .message("noise", |told| *told == "noise")
}

#[track_caller]
fn definition(file: &str) -> Definition<Guard> {
    Definition::parse(file, &vocabulary()).unwrap_or_else(|problems| panic!("{problems}"))
}

/// What `explain` says of each exit, and the state that the tick then leads to.
fn explained(file: &str, guard: &Guard) -> (Vec<String>, String) {
    let definition = definition(file);
    let mut machine = definition.machine();
    let reports = definition.explain(machine.current().unwrap(), &mut guard.clone(), 0.0, &mut ());
    machine.update(&mut guard.clone(), &mut ());
    (reports.iter().map(ToString::to_string).collect(), machine.current().unwrap().to_string())
}

/// `explain` asked the target's `enter_when` alone.
#[test]
fn an_exit_into_a_state_whose_parent_cannot_be_entered_is_not_explained_as_taken() {
    let file = "
        initial = 'post'
        [states.post]
        exits = [{ to = 'aim', when = 'seen' }, { to = 'flee', when = 'seen' }]
        [states.fight]
        enter_when = 'ammo > 0'
        exits = [{ to = 'post', when = 'not seen' }]
        [states.aim]
        parent = 'fight'
        [states.flee]
        final = true
    ";
    let guard = Guard { seen: true, ..Guard::default() };
    assert_eq!(
        explained(file, &guard),
        (
            vec![
                "to aim: fight cannot be entered: seen holds, ammo > 0 (ammo = 0) does not hold".to_owned(),
                "to flee: yes: seen holds".to_owned(),
            ],
            "flee".to_owned()
        )
    );
    assert_eq!(
        explained(file, &Guard { ammo: 1.0, ..guard }),
        (
            vec!["to aim: yes: seen holds, ammo > 0 (ammo = 1) holds".to_owned(), "to flee: not tried".to_owned()],
            "aim".to_owned()
        )
    );
}

/// `explain` did not ask for what a composite's initial child allows.
#[test]
fn an_exit_into_a_state_whose_initial_child_cannot_be_entered_is_not_explained_as_taken() {
    let file = "
        initial = 'post'
        [states.post]
        exits = [{ to = 'fight' }]
        [states.fight]
        initial = 'aim'
        exits = [{ to = 'post' }]
        [states.aim]
        parent = 'fight'
        enter_when = 'ammo > 0'
    ";
    assert_eq!(
        explained(file, &Guard::default()),
        (vec!["to fight: aim cannot be entered: ammo > 0 (ammo = 0) does not hold".to_owned()], "post".to_owned())
    );
}

/// `explain` did not ask the behaviour.
#[test]
fn an_exit_into_a_state_whose_behaviour_refuses_is_not_explained_as_taken() {
    let file = "
        initial = 'post'
        [states.post]
        exits = [{ to = 'cell' }]
        [states.cell]
        behaviour = 'shut'
        exits = [{ to = 'post' }]
    ";
    assert_eq!(
        explained(file, &Guard::default()),
        (vec!["to cell: cell cannot be entered".to_owned()], "post".to_owned())
    );
}

/// The exit was explained as taken, and in every tick a change was asked for and refused.
#[test]
fn an_exit_out_of_a_state_that_cannot_be_left_is_passed_over_for_one_that_stays_within() {
    let file = "
        initial = 'aim'
        [states.fight]
        behaviour = 'held'
        exits = [{ to = 'flee', when = 'seen' }]
        [states.aim]
        parent = 'fight'
        exits = [{ to = 'flee' }, { to = 'shoot' }]
        [states.shoot]
        parent = 'fight'
        exits = [{ to = 'aim' }]
        [states.flee]
        final = true
    ";
    let guard = Guard { seen: true, is_bound: true, ..Guard::default() };
    assert_eq!(
        explained(file, &guard),
        (
            vec![
                "to flee: fight cannot be left: seen holds".to_owned(),
                "to flee: fight cannot be left".to_owned(),
                "to shoot: yes".to_owned()
            ],
            "shoot".to_owned()
        )
    );
    assert_eq!(
        explained(file, &Guard { is_bound: false, ..guard }),
        (
            vec![
                "to flee: yes: seen holds".to_owned(),
                "to flee: not tried".to_owned(),
                "to shoot: not tried".to_owned()
            ],
            "flee".to_owned()
        )
    );
}

/// `explain` looked the state up by its name, and found another one of that name.
#[test]
fn a_state_is_explained_by_what_it_is_and_not_by_its_name() {
    let file = "initial = 'post'\nstates.post.exits = [{ to = 'flee' }]\nstates.flee.final = true\n";
    let (definition, other) = (definition(file), definition(file));
    let explain = |state: &demeanor::StateRef<Guard>| -> Vec<Verdict> {
        let reports = definition.explain(state, &mut Guard::default(), 0.0, &mut ());
        reports.into_iter().map(|report: ExitReport| report.verdict).collect()
    };
    let post = definition.initial();
    assert_eq!(explain(&post), [Verdict::Taken]);
    assert_eq!(explain(&other.initial()), []);
    assert_eq!(explain(&(&Shut).into()), []);

    // A state that is nested differently is another one, though its name is the same.
    definition
        .reload(&format!("{file}states.post.parent = 'duty'\nstates.duty.exits = [{{ to = 'flee' }}]\n"))
        .unwrap();
    assert_eq!(explain(&post), []);
    assert_eq!(explain(&definition.initial()), [Verdict::Taken, Verdict::NotTried]);
}

/// Was reported as taken by each of two exits that wait for one message.
#[test]
fn of_two_exits_that_wait_for_a_message_the_inner_one_is_explained_as_taken() {
    let file = "
        initial = 'aim'
        global = 'always'
        [states.always]
        exits = [{ to = 'flee', on = 'noise' }]
        [states.fight]
        exits = [{ to = 'flee', on = 'noise' }]
        [states.aim]
        parent = 'fight'
        exits = [{ to = 'shoot', on = 'noise', when = 'seen' }, { to = 'shoot', on = 'noise', when = 'ammo > 0' }]
        [states.shoot]
        parent = 'fight'
        [states.flee]
        final = true
    ";
    let definition = definition(file);
    let mut guard = Guard { ammo: 1.0, ..Guard::default() };
    let mut machine = definition.machine();
    let reports = machine.with(&mut guard, &mut (), |guard, fsm, cx| definition.explain_with(guard, fsm, cx));
    let reports: Vec<_> = reports.iter().map(|report| format!("{}: {report}", report.of)).collect();
    assert_eq!(
        reports,
        [
            "aim: to shoot on noise: no: seen does not hold",
            "aim: to shoot on noise: waits for the message: ammo > 0 (ammo = 1) holds",
            "fight: to flee on noise: not tried",
            "always: to flee on noise: not tried",
        ]
    );
    assert!(machine.send(&mut guard, &"noise", &mut ()));
    assert_eq!(machine.current().unwrap().name(), "shoot");
}

/// `?` on a `LoadError` did not compile in a function that returns `miette::Result`.
#[test]
fn what_a_file_is_told_is_drawn_by_whoever_returns_it_as_a_report() {
    fn load(path: &std::path::Path) -> miette::Result<()> {
        Definition::load(path, &vocabulary())?;
        Ok(())
    }
    let path = std::env::temp_dir().join(format!("demeanor-report-{}.toml", std::process::id()));
    std::fs::write(&path, "initial = 'psot'\n[states.post]\nfinal = true\n").unwrap();
    let report = load(&path);
    std::fs::remove_file(&path).unwrap();
    let mut drawn = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_links(false);
    handler.render_report(&mut drawn, report.unwrap_err().as_ref()).unwrap();
    assert!(drawn.contains("╰── no state of this file"), "{drawn}");
    assert_eq!(drawn.matches("╰── no state of this file").count(), 1, "{drawn}");
    assert!(drawn.contains("help: did you mean `post`?"), "{drawn}");

    let missing = load("no/such/file.toml".as_ref()).unwrap_err();
    assert!(matches!(missing.downcast_ref::<LoadError>(), Some(LoadError::Io { .. })));
    assert_eq!(missing.code().map(|code| code.to_string()).as_deref(), Some("io"));
}

/// The second registration replaced the first one, and nobody was told.
#[test]
fn a_word_that_is_offered_twice_is_reported_where_it_is_first_used() {
    let vocabulary = vocabulary()
        .flag("seen", |_: &Guard, ()| true)
        .behaviour("held", &Shut)
        .message("noise", |_| true)
        .random(|_, ()| 0.0)
        .random(|_, ()| 1.0);
    let file = "initial = 'post'\n[states.post]\nbehaviour = 'held'\n\
                exits = [{ to = 'post', when = 'ammo > 1 or seen or chance(0.5)' }]\n";
    let problems = Definition::parse_named("guard.toml", file, &vocabulary).unwrap_err();
    let lines: Vec<_> = problems.iter().map(demeanor::definition::Problem::located).collect();
    let advice = "a programmer must remove or rename one of them in the vocabulary";
    assert_eq!(
        lines,
        [
            format!("guard.toml:1:1: error: the game offers the message `noise` twice: {advice}"),
            format!("guard.toml:3:13: error: the game offers the behavior `held` twice: {advice}"),
            format!("guard.toml:4:45: error: the game offers the value `seen` twice: {advice}"),
            format!("guard.toml:4:53: error: the game offers random numbers twice: {advice}"),
        ]
    );
    assert!(problems.iter().all(|problem| problem.code_name() == "duplicate-word"));
}

#[test]
fn a_value_and_a_behaviour_may_share_a_name() {
    let vocabulary = vocabulary().behaviour("ammo", &Held).message("ammo", |_| true);
    assert!(Definition::parse("initial = 'a'\n[states.a]\nbehaviour = 'ammo'\nfinal = true\n", &vocabulary).is_ok());
}

#[cfg(feature = "script")]
mod scripts {
    use demeanor::definition::{Definition, ScriptBudget};

    use super::{Guard, vocabulary};

    fn definition(file: &str, script: &str, budget: ScriptBudget) -> Definition<Guard> {
        let vocabulary = vocabulary()
            .script_budget(budget)
            .field("shots", |guard: &Guard, ()| guard.ammo, |guard, shots| guard.ammo = shots)
            .script("a.rhai", script);
        Definition::parse(file, &vocabulary).unwrap_or_else(|problems| panic!("{problems}"))
    }

    /// A call was stopped after 10 ms, and all calls of a tick after 100 ms: a batch and a machine differed when the computer was busy.
    #[test]
    fn a_script_that_takes_long_is_not_stopped_for_that() {
        let script = "fn update() { let n = 0; while n < 50000 { n += 1; } this.shots += n; }";
        let file = "initial = 'a'\nstates.a.script = 'a.rhai'\n";
        let definition = definition(file, script, ScriptBudget::new(10_000_000, 10_000_000));
        let (mut machine, mut guard) = (definition.machine(), Guard::default());
        machine.update(&mut guard, &mut ());
        assert!((guard.ammo - 50_000.0).abs() < 0.5, "{}", guard.ammo);
    }

    const GUARDED: &str = "
        initial = 'post'
        states.post.exits = [{ to = 'aim' }]
        [states.aim]
        final = true
        enter_when = { script = 'a.rhai' }
    ";

    /// After three owners for which it was stopped, the condition held for no owner: which ones depended on their order.
    #[test]
    fn a_condition_of_an_entry_that_is_stopped_for_three_owners_holds_for_the_fourth() {
        let definition = definition(GUARDED, "if this.seen { loop { } } true", ScriptBudget::default());
        let ends = [true, true, true, false].map(|seen| {
            let mut machine = definition.machine();
            machine.update(&mut Guard { seen, ..Guard::default() }, &mut ());
            machine.current().unwrap().to_string()
        });
        assert_eq!(ends, ["post", "post", "post", "aim"]);
    }

    /// The calls that were stopped while a debugger explained the exits were counted.
    #[test]
    fn a_script_that_is_stopped_in_an_explanation_is_not_stopped_in_the_game() {
        let definition = definition(GUARDED, "if this.seen { loop { } } true", ScriptBudget::default());
        let mut machine = definition.machine();
        for _ in 0..3 {
            let mut hung = Guard { seen: true, ..Guard::default() };
            drop(definition.explain(machine.current().unwrap(), &mut hung, 0.0, &mut ()));
        }
        machine.update(&mut Guard::default(), &mut ());
        assert_eq!(machine.current().unwrap().to_string(), "aim");
    }
}
