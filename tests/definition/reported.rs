//! Faults that were found in machines from files, each with the test that would have found it first. Those of explanations are cases
//! in `case_files/questions.txt`, and those of a behavior that changes at once in `case_files/changes.txt`.
#![cfg(feature = "definition")]

use std::sync::Arc;

use demeanor::definition::{Definition, ExitReport, LoadError, Verdict, Vocabulary};
use demeanor::{Fsm, State, StateRef};
use miette::{GraphicalReportHandler, GraphicalTheme};

use crate::guard::{Guard, Notes, Told, current, parsed, vocabulary};
use crate::troop::{Alike, Request, Troop, WAYS, in_all_ways};

/// `explain` looked the state up by its name, and found another one of that name.
#[test]
fn a_state_is_explained_by_what_it_is_and_not_by_its_name() {
    let file = "initial = 'post'\nstates.post.exits = [{ to = 'flee' }]\nstates.flee.final = true\n";
    let (definition, other) = (parsed(file, &vocabulary()), parsed(file, &vocabulary()));
    let explain = |state: &StateRef<Guard>| -> Vec<Verdict> {
        let reports = definition.explain(state, &mut Guard::default(), 0.0, &mut 0.0);
        reports.into_iter().map(|report: ExitReport| report.verdict).collect()
    };
    let post = definition.initial();
    assert_eq!(explain(&post), [Verdict::Taken]);
    assert_eq!(explain(&other.initial()), []);
    assert_eq!(explain(&Notes::new("post").into()), []);

    // A state that is nested differently is another one, though its name is the same.
    definition
        .reload(&format!("{file}states.post.parent = 'duty'\nstates.duty.exits = [{{ to = 'flee' }}]\n"))
        .unwrap();
    assert_eq!(explain(&post), []);
    assert_eq!(explain(&definition.initial()), [Verdict::Taken, Verdict::NotTried]);
}

/// Exits that wait for a message and exits with `always` were explained after they had gone: as leading to whatever state was at
/// their target's place.
#[test]
fn a_state_that_is_no_longer_in_its_file_has_no_exits_to_explain() {
    let file = "
        initial = 'post'
        states.post.exits = [{ to = 'flee', on = 'noise' }, { to = 'flee', always = true, when = 'brave' }]
        states.flee.final = true
    ";
    let definition = parsed(file, &vocabulary());
    let (mut guard, mut machine) = (Guard { is_brave: true, ..Guard::default() }, definition.machine());
    let post = definition.initial();
    let mut explained = || {
        let with_message = machine
            .with(&mut guard, &mut 0.0, |guard, fsm, cx| definition.explain_message(&Told::Noise, guard, fsm, cx));
        let reports = with_message.into_iter().chain(definition.explain_entry(&post, &mut guard, &mut 0.0));
        reports.map(|report| report.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(explained(), ["to flee on noise: waits for the message", "to flee: yes: brave holds"]);
    definition.reload("initial = 'rest'\nstates.rest.final = true\n").unwrap();
    assert_eq!(explained(), [] as [&str; 0]);
}

/// `?` on a `LoadError` did not compile in a function that returns `miette::Result`.
#[test]
fn the_words_about_a_file_are_drawn_by_a_main_that_returns_them_as_a_report() {
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
        .flag("brave", |_: &Guard, _| true)
        .behaviour("held", Notes::new("held"))
        .behaviour("held", Notes::new("held"))
        .message("noise", |told| *told == Told::Noise)
        .random(|_, _| 1.0);
    let file = "initial = 'post'\n[states.post]\nbehaviour = 'held'\n\
                exits = [{ to = 'post', when = 'ammo > 1 or brave or chance(0.5)' }]\n";
    let problems = Definition::parse_named("guard.toml", file, &vocabulary).unwrap_err();
    let lines: Vec<_> = problems.iter().map(demeanor::definition::Problem::located).collect();
    let advice = "a programmer must remove or rename one of them in the vocabulary";
    assert_eq!(
        lines,
        [
            format!("guard.toml:1:1: error: the game offers the message `noise` twice: {advice}"),
            format!("guard.toml:3:13: error: the game offers the behavior `held` twice: {advice}"),
            format!("guard.toml:4:45: error: the game offers the value `brave` twice: {advice}"),
            format!("guard.toml:4:54: error: the game offers random numbers twice: {advice}"),
        ]
    );
    assert!(problems.iter().all(|problem| problem.code_name() == "duplicate-word"));

    let file = "initial = 'post'\nproperties.calm.never = 'ammo > 1 and brave'\n[states.post]\nfinal = true\n";
    let problems = Definition::parse_named("guard.toml", file, &vocabulary).unwrap_err();
    assert!(
        problems.iter().any(|problem| problem.located()
            == format!("guard.toml:2:39: error: the game offers the value `brave` twice: {advice}")),
        "{problems}"
    );
}

#[test]
fn a_value_and_a_behaviour_may_share_a_name() {
    let vocabulary = vocabulary().behaviour("ammo", Notes::new("ammo")).message("ammo", |_| true);
    assert!(Definition::parse("initial = 'a'\n[states.a]\nbehaviour = 'ammo'\nfinal = true\n", &vocabulary).is_ok());
}

/// The sum of large weights was infinite, and their last exit was always taken. Products of small weights were rounded to 0.
#[test]
fn very_large_and_very_small_weights_are_drawn_in_proportion() {
    let file = "
        initial = 'a'
        [states.a]
        choose = 'random'
        exits = [{ to = 'b', weight = 1e308 }, { to = 'c', weight = 1.5e308 }]
        [states.b]
        final = true
        [states.c]
        final = true
    ";
    for (luck, to) in [(0.0, "b"), (0.39, "b"), (0.41, "c"), (0.99, "c")] {
        for file in [file, &file.replace("e308", "e-323")] {
            let definition = parsed(file, &Vocabulary::new().random(move |_: &mut Guard, _| luck));
            let mut machine = definition.machine();
            machine.update(&mut Guard::default(), &mut 0.0);
            assert_eq!(current(&machine), to, "{luck} {file}");
        }
    }
}

/// So many turns had passed that their number was infinite, and the next turn never came.
#[test]
fn a_state_with_a_very_short_every_has_a_turn_in_each_tick() {
    let file = "
        initial = 'a'
        [states.a]
        every = 5e-324
        exits = [{ to = 'b', when = 'alarm' }]
        [states.b]
        final = true
    ";
    let definition = parsed(file, &Vocabulary::new().flag("alarm", |guard: &Guard, _| guard.is_alarmed));
    let (mut guard, mut machine) = (Guard::default(), definition.machine());
    machine.start(&mut guard, &mut 0.0);
    machine.update(&mut guard, &mut 1.0);
    guard.is_alarmed = true;
    machine.update(&mut guard, &mut 2.0);
    assert_eq!(current(&machine), "b");
}

/// What the state noted behind its push stood beside the note before it, and the turn that it had taken came again after the pop.
#[test]
fn a_state_that_pushes_in_its_turn_waits_for_the_next_turn_after_the_pop() {
    let file = "
        initial = 'a'
        [states.a]
        every = 'ammo'
        exits = [{ push = 'b', when = 'alarm' }]
        [states.b]
        exits = [{ pop = true, after = 1 }]
    ";
    let vocabulary =
        Vocabulary::new().value("ammo", |_: &Guard, _| 2.0).flag("alarm", |guard: &Guard, _| guard.is_alarmed);
    let definition = parsed(file, &vocabulary);
    let (mut guard, mut machine) = (Guard { is_alarmed: true, ..Guard::default() }, definition.machine());
    machine.start(&mut guard, &mut 0.0);
    let states = [2.0, 3.0, 4.0, 5.0].map(|mut now| {
        machine.update(&mut guard, &mut now);
        current(&machine)
    });
    assert_eq!(states, ["b", "a", "a", "b"]);
}

/// Asks for something in each update, and when it is hit.
struct Asks(fn(&mut Fsm<'_, Guard>));

impl State<Guard> for Asks {
    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        self.0(fsm);
    }

    fn on_message(&self, _: &mut Guard, told: &Told, fsm: &mut Fsm<'_, Guard>, _: &mut f64) -> bool {
        let is_hit = *told == Told::hit(0.0);
        if is_hit {
            self.0(fsm);
        }
        is_hit
    }
}

fn that_asks(ask: fn(&mut Fsm<'_, Guard>)) -> Vocabulary<Guard> {
    Vocabulary::new()
        .behavior("ask", Arc::new(Asks(ask)))
        .message("hit", |told| *told == Told::hit(0.0))
        .message("noise", |told| *told == Told::Noise)
        .message("alarm", |told| *told == Told::Alarm)
}

/// A behavior that did so in each tick kept its owner from ever taking an exit.
#[test]
fn a_message_a_timer_and_sleep_that_a_behavior_asks_for_keep_no_exit_from_being_taken() {
    let file = "
        initial = 'a'
        [states.a]
        behavior = 'ask'
        exits = [{ to = 'b', after = 1 }, { to = 'c', on = 'hit' }]
        [states.b]
        exits = [{ to = 'a', on = 'hit' }]
        [states.c]
        final = true
    ";
    let asks: [fn(&mut Fsm<'_, Guard>); 5] = [
        |fsm| fsm.send(Told::Pain),
        |fsm| fsm.send_after(9.0, Told::Pain),
        |fsm| fsm.change_state_next(fsm.current().cloned().unwrap()),
        |fsm| fsm.sleep_for(0.1),
        |fsm| fsm.sleep(),
    ];
    for ask in asks {
        let mut guards = Alike::start(&parsed(file, &that_asks(ask)), &Guard::recording_changes());
        guards.update(1.0);
        for _ in 0..2 {
            guards.each(|troop, who| assert!(troop.ask(who, Request::Send(Told::hit(0.0)), 1.0)));
        }
        assert_eq!(guards.take_trace(), "a -> b (change); b -> a (change); a -> c (change)");
    }
}

/// Of two messages that a behavior sent to its owner, or whose timers were due together, the exits of the first one were not
/// taken: the second one, which waited, counted as a change that the behavior had asked for.
#[test]
fn a_message_to_oneself_takes_its_exit_though_another_message_waits() {
    let file = "
        initial = 'both'
        [states.both]
        regions = ['x', 'a']
        behavior = 'ask'
        [states.a]
        parent = 'both'
        region = 'a'
        exits = [{ to = 'b', on = 'noise' }, { to = 'c', on = 'alarm' }]
        [states.b]
        parent = 'both'
        region = 'a'
        exits = [{ to = 'c', on = 'alarm' }]
        [states.c]
        parent = 'both'
        region = 'a'
        [states.x]
        parent = 'both'
        exits = [{ to = 'y', on = 'alarm' }]
        [states.y]
        parent = 'both'
        region = 'x'
    ";
    let at_once: fn(&mut Fsm<'_, Guard>) = |fsm| {
        fsm.send(Told::Noise);
        fsm.send(Told::Alarm);
    };
    let later: fn(&mut Fsm<'_, Guard>) = |fsm| {
        fsm.send_after(1.0, Told::Noise);
        fsm.send_after(1.0, Told::Alarm);
    };
    for (ask, ticks) in [(at_once, 0), (later, 1)] {
        let mut guards = Alike::start(&parsed(file, &that_asks(ask)), &Guard::recording_changes());
        guards.each(|troop, who| assert!(troop.ask(who, Request::Send(Told::hit(0.0)), 0.0)));
        for _ in 0..ticks {
            guards.update(1.0);
        }
        // The change to `b` waits while the alarm is offered. So no other exit of `a` is taken, but that of `x` is.
        assert_eq!(guards.take_trace(), "x -> y in both (change); a -> b in both (change)");
    }
}

/// It was left in the next tick.
#[test]
fn a_state_that_takes_no_time_is_left_at_once_though_a_message_waits() {
    let file = "
        initial = 'a'
        [states.a]
        exits = [{ to = 'b', when = 'false' }]
        [states.b]
        entry = true
        exits = [{ to = 'c', always = true }, { to = 'd', on = 'noise' }]
        [states.c]
        final = true
        [states.d]
        final = true
    ";
    let definition = parsed(file, &vocabulary());
    let mut guards = Alike::start(&definition, &Guard::recording_changes());
    guards.each(|troop, who| {
        troop.with(who, 0.0, |_, fsm, _| {
            fsm.change_state(definition.state("b").unwrap());
            fsm.send(Told::Noise);
        });
    });
    // The noise is offered while the change to `c` waits.
    assert_eq!(guards.take_trace(), "a -> b (change); b -> c (change)");
}

#[cfg(feature = "script")]
mod scripts {
    use demeanor::definition::ScriptBudget;

    use crate::guard::{Guard, current};
    use crate::script::{FILE, definition};

    /// A call was stopped after 10 ms, and all calls of a tick after 100 ms: a batch and a machine differed when the computer was busy.
    #[test]
    fn a_script_that_takes_long_is_not_stopped_for_that() {
        let script = "fn update() { let n = 0; while n < 50000 { n += 1; } this.speed += n; }";
        let definition = definition(FILE, script, ScriptBudget::new(10_000_000, 10_000_000));
        let (mut machine, mut guard) = (definition.machine(), Guard::default());
        machine.update(&mut guard, &mut 0.0);
        assert!((guard.speed - 50_000.0).abs() < 0.5, "{}", guard.speed);
    }

    const GUARDED: &str = "
        initial = 'post'
        states.post.exits = [{ to = 'aim' }]
        [states.aim]
        final = true
        enter_when = { script = 'a.rhai' }
    ";

    /// The calls that were stopped while a debugger explained the exits were counted.
    #[test]
    fn a_script_that_is_stopped_in_an_explanation_is_not_stopped_in_the_game() {
        let definition = definition(GUARDED, "if this.alarm { loop { } } true", ScriptBudget::default());
        let mut machine = definition.machine();
        for _ in 0..3 {
            let mut hung = Guard { is_alarmed: true, ..Guard::default() };
            drop(definition.explain(machine.current().unwrap(), &mut hung, 0.0, &mut 0.0));
        }
        machine.update(&mut Guard::default(), &mut 0.0);
        assert_eq!(current(&machine), "aim");
    }
}

/// Asks in `enter` whether requests wait.
struct HasRequests;

impl State<Guard> for HasRequests {
    fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note(format!("requests wait: {}", fsm.has_requests()));
    }
}

/// The number that an outer state stores for its `every` seemed to be a request, on a machine and not in a batch.
#[test]
fn a_number_that_a_state_stores_is_no_request() {
    let file = "
        initial = 'rest'
        states.rest.exits = [{ to = 'fight', after = 1 }]
        states.fight = { initial = 'aim', every = 3 }
        states.aim = { parent = 'fight', behavior = 'asks' }
    ";
    let definition = parsed(file, &vocabulary().behavior("asks", &HasRequests));
    let guards = vec![Guard::default(); 3];
    for (guard, _) in in_all_ways(&definition, &definition.initial(), &guards, &[0.0, 1.0, 2.0]) {
        assert_eq!(*guard.trace(), ["requests wait: false"]);
    }
}

/// In a batch, the change was made before the number was stored, so that the owner did not know its next turn, and stayed awake.
#[test]
fn a_number_that_an_outer_state_stores_is_stored_before_the_change_of_an_inner_one() {
    let file = "
        initial = 'inner'
        global = 'always'
        states.always.exits = [{ to = 'outer', when = 'chance_per_second(0)' }]
        states.outer = { every = 1 }
        states.inner = { parent = 'outer', every = 1, exits = [{ to = 'inner', when = 'time_in_state > 0' }] }
    ";
    let definition = parsed(file, &vocabulary());
    let ends = WAYS.iter().map(|way| {
        let mut troop = Troop::start(*way, &[Guard::default()], &definition.initial(), definition.global());
        troop.update(1.0);
        let (_, machine) = troop.end().remove(0);
        machine.digest()
    });
    let digests: Vec<_> = ends.collect();
    assert_eq!(digests, vec![digests[0]; WAYS.len()]);
}
