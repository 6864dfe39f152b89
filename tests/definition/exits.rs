//! What an exit may say besides its condition: `always`, `restart` and `even_final`.
#![cfg(feature = "definition")]

use demeanor::definition::{Definition, ExitOutline, Outline, Verdict, Vocabulary};
use demeanor::{Fsm, State};

use crate::alone_and_many::AloneAndMany;
use crate::guard::{self, Guard, Notes, Told, parsed};
use crate::trace::log::Trace;

/// Takes health.
struct Hurts;

impl State<Guard> for Hurts {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.health -= 10.0;
    }
}

/// A hungry guard asks for a change.
struct Asks;

impl State<Guard> for Asks {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        if guard.is_hungry {
            fsm.change_state(&ByCode);
        }
    }
}

struct ByCode;

impl State<Guard> for ByCode {}

fn vocabulary() -> Vocabulary<Guard> {
    let names = ["a", "b", "c", "d", "fight", "aim", "shoot"];
    let vocabulary = guard::vocabulary().behaviour("hurt", std::sync::Arc::new(Hurts));
    names.into_iter().fold(vocabulary, |vocabulary, name| vocabulary.behaviour(name, Notes::new(name)))
}

fn definition(file: &str) -> Definition<Guard> {
    parsed(file, &vocabulary())
}

/// What a guard goes through at the start and in some ticks, alone; each of many in a batch must go through the same. Before the
/// ticks that `tell` names, it is told something.
#[track_caller]
fn trace(file: &str, guard: &Guard, ticks: u8, tell: &[(u8, Told)]) -> Trace {
    let mut guards = AloneAndMany::start(&definition(file), guard);
    for tick in 1..=ticks {
        for (_, told) in tell.iter().filter(|(at, _)| *at == tick) {
            guards.tell(*told, tick.into());
        }
        guards.update(tick.into());
    }
    guards.trace()
}

#[test]
fn an_exit_that_is_always_tried_is_taken_before_any_update() {
    let file = "
        initial = 'a'
        [states.a]
        behaviour = 'a'
        exits = [{ to = 'b' }]
        [states.b]
        behaviour = 'b'
        exits = [{ to = 'c', always = true }]
        [states.c]
        behaviour = 'c'
        exits = [{ to = 'a', always = true, when = 'health < 0' }, { to = 'd', always = true }]
        [states.d]
        behaviour = 'd'
        final = true
    ";
    assert_eq!(
        trace(file, &Guard::recording_changes(), 2, &[]),
        "enter a
         update a
         exit a; a -> b (change); enter b
         exit b; b -> c (change); enter c
         exit c; c -> d (change); enter d
         update d"
    );
}

#[test]
fn an_exit_that_is_always_tried_and_not_taken_is_tried_in_each_tick() {
    let file = "
        initial = 'a'
        states.a = { behaviour = 'a', exits = [{ to = 'b', always = true, when = 'time_in_state >= 2' }] }
        states.b = { behaviour = 'b', final = true }
    ";
    let expected = ["enter a", "update a", "update a", "exit a", "a -> b (change)", "enter b", "update b"];
    assert_eq!(trace(file, &Guard::recording_changes(), 3, &[]), expected);
}

#[test]
fn a_machine_begins_where_the_first_states_of_no_length_lead() {
    let file = "
        initial = 'a'
        states.a = { behaviour = ['a', 'hurt'], exits = [{ to = 'b', always = true, when = 'health < 0' }] }
        states.b = { exits = [{ to = 'c', always = true, when = 'brave' }, { to = 'd', always = true }] }
        states.c = { final = true }
        states.d = { final = true }
    ";
    let definition = definition(file);
    for (is_brave, end) in [(true, "c"), (false, "d")] {
        let mut guard = Guard { is_brave, ..Guard::recording_changes() };
        let mut machine = definition.machine();
        machine.start(&mut guard, &mut 0.0);
        assert_eq!(machine.current().unwrap().name(), end);
        let to_the_end = format!("b -> {end} (change)");
        assert_eq!(guard.trace(), ["enter a", "exit a", "a -> b (change)", &to_the_end], "the behavior comes first");
    }
}

#[test]
fn the_exit_of_a_parent_that_is_always_tried_is_taken_once_its_children_are_entered() {
    let file = "
        initial = 'a'
        states.a = { exits = [{ to = 'fight' }] }
        [states.fight]
        behaviour = 'fight'
        initial = 'aim'
        every = 0.5
        exits = [{ to = 'shoot', always = true, when = 'brave', after_is = 0 }]
        [states.aim]
        parent = 'fight'
        behaviour = 'aim'
        exits = [{ to = 'a', always = true }]
        [states.shoot]
        parent = 'fight'
        behaviour = 'shoot'
    "
    .replace(", after_is = 0", "");
    let guard = Guard { is_brave: true, ..Guard::recording_changes() };
    // The child's own exit is not tried: the change of the parent is under way. The parent has its turns.
    assert_eq!(
        trace(&file, &guard, 2, &[]),
        "a -> aim (change); enter fight; enter aim
         exit aim; aim -> shoot (change); enter shoot
         update fight; update shoot"
    );
    // In a child of a state that has set a timer, the exit is taken all the same.
    assert_eq!(
        trace(&file, &Guard::recording_changes(), 1, &[]),
        "a -> aim (change); enter fight; enter aim
         exit aim; exit fight; aim -> a (change)"
    );
}

#[test]
fn states_of_no_length_that_would_go_on_for_ever_are_stopped_by_rule_13() {
    let file = "
        initial = 'a'
        states.a.exits = [{ to = 'b', always = true, when = 'health == 0' }]
        states.b.exits = [{ to = 'a', always = true, when = 'health == 0' }]
    ";
    let trace = trace(file, &Guard::recording_changes(), 0, &[]);
    assert_eq!(trace.len(), 64);
}

#[test]
fn an_exit_that_restarts_is_taken_where_it_leads_to_what_is_active() {
    let file = |restart: bool| {
        format!(
            "
            initial = 'fight'
            global = 'ears'
            [states.ears]
            exits = [{{ to = 'aim', on = 'noise', restart = {restart} }}]
            [states.fight]
            behaviour = 'fight'
            initial = 'aim'
            exits = [{{ to = 'aim', on = 'pain', restart = {restart} }}]
            [states.aim]
            parent = 'fight'
            behaviour = 'aim'
            exits = [{{ to = 'shoot', when = 'brave' }}]
            [states.shoot]
            parent = 'fight'
        "
        )
    };
    let told = [(1, Told::Pain), (2, Told::Noise)];
    assert_eq!(
        trace(&file(true), &Guard::recording_changes(), 2, &told),
        "enter fight; enter aim
         exit aim; aim -> aim (change); enter aim
         update fight; update aim
         exit aim; aim -> aim (change); enter aim
         update fight; update aim"
    );
    assert_eq!(
        trace(&file(false), &Guard::recording_changes(), 2, &told),
        "enter fight; enter aim
         update fight; update aim; update fight; update aim"
    );
}

/// Neither is a condition asked, nor a random number drawn.
#[test]
fn exits_behind_one_that_the_behaviors_request_supersedes_are_not_tried() {
    let vocabulary = Vocabulary::new()
        .behavior("ask", &Asks)
        .flag("hungry", |guard: &Guard, _| guard.is_hungry)
        .flag("in_peace", |guard: &Guard, _| {
            assert!(!guard.is_hungry, "this exit is behind the one that is superseded");
            true
        })
        .random(|guard: &mut Guard, _| {
            guard.note("draws");
            guard.draw()
        });
    let file = "
        initial = 'a'
        [states.a]
        behavior = 'ask'
        exits = [
            { to = 'b', when = 'hungry' },
            { to = 'c', when = 'chance(0)' },
            { to = 'd', when = 'in_peace' },
        ]
        [states.b]
        final = true
        [states.c]
        final = true
        [states.d]
        final = true
    ";
    let definition = parsed(file, &vocabulary);
    let trace = |is_hungry| {
        let mut guards = AloneAndMany::start(&definition, &Guard { is_hungry, ..Guard::recording_changes() });
        guards.update(1.0);
        guards.trace()
    };
    assert_eq!(trace(false), "draws; a -> d (change)");
    assert_eq!(trace(true), "a -> ByCode (change)");
}

#[test]
fn no_exit_of_a_parent_or_of_the_global_state_leads_out_of_a_final_state_unless_it_says_so() {
    let file = |even_final: bool| {
        format!(
            "
            initial = 'fight'
            global = 'ears'
            [states.ears]
            exits = [{{ to = 'd', on = 'noise', even_final = {even_final} }}]
            [states.fight]
            initial = 'a'
            exits = [{{ to = 'c', when = 'time_in_state >= 2', even_final = {even_final} }}]
            [states.a]
            parent = 'fight'
            final = true
            exits = [{{ to = 'b', on = 'pain' }}]
            [states.b]
            parent = 'fight'
            [states.c]
            final = true
            [states.d]
            final = true
        "
        )
    };
    let ends = |even_final: bool, told: &[(u8, Told)]| {
        let mut trace = trace(&file(even_final), &Guard::recording_changes(), 3, told);
        trace.retain(|line| line.contains("->"));
        trace
    };
    assert_eq!(ends(false, &[]), [""; 0]);
    assert_eq!(ends(true, &[]), ["a -> c (change)"]);
    assert_eq!(ends(false, &[(1, Told::Noise)]), [""; 0]);
    assert_eq!(ends(true, &[(1, Told::Noise)]), ["a -> d (change)"]);
    // Its own exit leads out.
    assert_eq!(ends(false, &[(1, Told::Pain)]), ["a -> b (change)", "b -> c (change)"]);

    let definition = definition(&file(false));
    let reports = definition.explain(&definition.initial(), &mut Guard::default(), 5.0, &mut 5.0);
    assert_eq!(reports[0].verdict, Verdict::Final("a".into()));
    assert_eq!(reports[0].to_string(), "to c: a is final: time_in_state >= 2 (time_in_state = 5) holds");
}

#[test]
fn the_label_of_an_arrow_names_what_the_exit_says() {
    let file = "initial = 'a'\nglobal = 'g'\nstates.g.exits = [{ to = 'a', on = 'noise', restart = true, even_final = true }]\n\
                states.a.exits = [{ to = 'b', always = true, when = 'brave' }]\nstates.b.final = true";
    let outline = Outline::parse("a.toml", file, None).unwrap();
    let labels: Vec<_> = outline.states().iter().flat_map(|state| state.exits()).map(ExitOutline::label).collect();
    assert_eq!(labels, ["noise (restart) (even final)", "always [brave]"]);
}
