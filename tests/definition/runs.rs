//! What may happen to guards whose machine is from a file or written by hand: whoever has the same machine does the same.

use std::collections::BTreeSet;

use demeanor::definition::{Definition, ExitReport, Verdict, Vocabulary};
use demeanor::{Fsm, State, StateBook, StateMachine, StateRef};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use crate::guard::{Guard, Told, parsed};
use crate::trace::log::Trace;
use crate::troop::{Request, Troop, Way};

/// A state by hand: its name and its place, what an update does, and what a message does.
macro_rules! by_hand {
    ($($state:ident $name:literal { $($place:tt)* } |$guard:ident, $fsm:ident, $clock:ident| $update:expr, $told:ident => $answer:expr;)*) => {
        $(
            struct $state;
            impl State<Guard> for $state {
                fn name(&self) -> Cow<'_, str> {
                    $name.into()
                }
                $($place)*
                fn update(&self, $guard: &mut Guard, $fsm: &mut Fsm<'_, Guard>, $clock: &mut f64) {
                    let _ = (&$guard, &$fsm, &$clock);
                    $update
                }
                fn on_message(&self, $guard: &mut Guard, $told: &Told, $fsm: &mut Fsm<'_, Guard>, $clock: &mut f64) -> bool {
                    let _ = (&$guard, &$fsm, &$clock, $told);
                    $answer
                }
            }
        )*

        pub(crate) fn all_by_hand() -> Vec<StateRef<Guard>> {
            vec![$((&$state).into()),*]
        }
    };
}

pub(crate) use by_hand;

/// Requests a change if a condition holds, and returns the condition.
pub(crate) fn go(fsm: &mut Fsm<'_, Guard>, to: &'static impl State<Guard>, when: bool) -> bool {
    if when {
        fsm.change_state(to);
    }
    when
}

pub(crate) fn is_hit(told: &Told) -> bool {
    matches!(told, Told::Hit { .. })
}

/// What happens to the guards between two ticks.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// So many eighths of a second pass, and all are updated.
    Tick(u8),
    Health(usize, i8),
    Ammo(usize, u8),
    Sees(usize, bool),
    Tell(usize, Told),
    TellAll(Told),
    /// Verbs from outside.
    Change(usize, usize),
    Push(usize, usize),
    Pop(usize),
    Revert(usize),
    Resume(usize),
    /// All are saved and loaded, or the file is reloaded.
    Save,
    Reload,
}

fn event() -> impl Strategy<Value = Event> {
    let who = 0..90_usize;
    let hit = (1..40_u8).prop_map(|damage| Told::hit(damage.into()));
    let told = prop_oneof![3 => hit, 1 => Just(Told::Alarm), 1 => Just(Told::Noise)];
    prop_oneof![
        8 => (0..12_u8).prop_map(Event::Tick),
        3 => (who.clone(), -5..100_i8).prop_map(|(who, health)| Event::Health(who, health)),
        2 => (who.clone(), 0..6_u8).prop_map(|(who, ammo)| Event::Ammo(who, ammo)),
        2 => (who.clone(), prop::bool::weighted(0.7)).prop_map(|(who, sees)| Event::Sees(who, sees)),
        3 => (who.clone(), told.clone()).prop_map(|(who, told)| Event::Tell(who, told)),
        1 => told.prop_map(Event::TellAll),
        2 => (who.clone(), 0..26_usize).prop_map(|(who, state)| Event::Change(who, state)),
        1 => (who.clone(), 0..26_usize).prop_map(|(who, state)| Event::Push(who, state)),
        1 => who.clone().prop_map(Event::Pop),
        1 => who.clone().prop_map(Event::Revert),
        1 => who.prop_map(Event::Resume),
        1 => Just(Event::Save),
        1 => Just(Event::Reload),
    ]
}

/// Up to so many guards, and what happens to them.
pub(crate) fn run(guards: usize) -> impl Strategy<Value = (Vec<Guard>, Vec<Event>)> {
    let guard = (5..100_i8, 0..6_u8, prop::bool::weighted(0.7), any::<u32>());
    let guard = guard.prop_map(|(health, ammo, enemy_visible, luck)| Guard {
        health: health.into(),
        ammo: ammo.into(),
        enemy_visible,
        luck,
        ..Guard::recording_changes()
    });
    (prop::collection::vec(guard, 1..=guards), prop::collection::vec(event(), 1..60))
}

/// The active states, each with its time.
fn active(machine: &StateMachine<Guard>, clock: f64) -> String {
    let times = machine
        .active_states()
        .map(|state| format!("{state} {}", machine.time_in(&**state, &clock).unwrap_or(f64::NAN)));
    times.collect::<Vec<_>>().join(", ")
}

/// A machine, by its states: the initial one first, and then the one that is resumed.
pub(crate) struct Played {
    states: Vec<StateRef<Guard>>,
    global: Option<StateRef<Guard>>,
    /// The file, if there is one.
    definition: Option<(Definition<Guard>, &'static str)>,
    /// With it, the guards are saved and loaded.
    book: Option<StateBook<Guard>>,
    /// Whether what `explain` says before each tick is compared with the tick.
    is_explained: bool,
}

impl Played {
    pub(crate) fn by_hand(states: Vec<StateRef<Guard>>, global: Option<StateRef<Guard>>) -> Self {
        Self { states, global, definition: None, book: None, is_explained: false }
    }

    pub(crate) fn of_file(file: &'static str, vocabulary: &Vocabulary<Guard>) -> Self {
        let definition = parsed(file, vocabulary);
        assert_eq!(definition.warnings(), []);
        let (mut states, global) = (definition.states(), definition.global());
        states.retain(|state| global.as_ref() != Some(state));
        Self { states, global, definition: Some((definition, file)), book: None, is_explained: false }
    }

    pub(crate) fn saved(self) -> Self {
        let book = self.definition.as_ref().map(|(definition, _)| StateBook::new().with_definition(definition));
        Self { book, ..self }
    }

    pub(crate) fn explained(self) -> Self {
        Self { is_explained: true, ..self }
    }

    fn state(&self, nth: usize) -> StateRef<Guard> {
        self.states[nth % self.states.len()].clone()
    }

    /// How much has happened to a guard, and the exits that are said to be taken in its next tick.
    fn exits_of_next_tick(&self, troop: &mut Troop, who: usize, clock: f64) -> (usize, Vec<ExitReport>) {
        let mut reports = Vec::new();
        if let Some((definition, _)) = self.definition.as_ref().filter(|_| self.is_explained) {
            troop.with(who, clock, |guard, fsm, clock| {
                // Numbers that are drawn are drawn again in the tick.
                reports = definition.explain_with(&mut guard.clone(), fsm, clock);
            });
        }
        reports.retain(|report| report.on.is_none() && report.verdict == Verdict::Taken);
        (troop.guard(who).trace().len(), reports)
    }

    /// Lets events happen to guards. Returns what became of them.
    pub(crate) fn play(&self, way: Way, guards: &[Guard], events: &[Event]) -> Vec<Trace> {
        let mut troop = Troop::start(way, guards, &self.states[0], self.global.clone());
        let (mut clock, count) = (0.0, troop.len());
        for event in events {
            let (who, request) = match *event {
                Event::Tick(eighths) => {
                    clock += f64::from(eighths) / 8.0;
                    let expected: Vec<_> =
                        (0..count).map(|who| self.exits_of_next_tick(&mut troop, who, clock)).collect();
                    troop.update(clock);
                    for (who, (before, expected)) in expected.into_iter().enumerate().filter(|_| self.is_explained) {
                        let trace = &troop.guard(who).trace()[before..];
                        let changes = trace.iter().filter(|line| line.contains(" -> ")).count();
                        assert_eq!(changes, expected.len(), "{trace:?} is explained by {expected:?}");
                    }
                    continue;
                }
                Event::Health(who, health) => {
                    troop.guard(who % count).health = health.into();
                    continue;
                }
                Event::Ammo(who, ammo) => {
                    troop.guard(who % count).ammo = ammo.into();
                    continue;
                }
                Event::Sees(who, sees) => {
                    troop.guard(who % count).enemy_visible = sees;
                    continue;
                }
                Event::TellAll(told) => {
                    troop.tell_all(told, clock);
                    continue;
                }
                Event::Save => {
                    self.book.iter().for_each(|book| troop.save_and_load(book, clock));
                    continue;
                }
                Event::Reload => {
                    self.definition.iter().for_each(|(definition, file)| definition.reload(file).unwrap());
                    continue;
                }
                Event::Tell(who, told) => (who, Request::Send(told)),
                Event::Change(who, to) => (who, Request::Change(self.state(to))),
                Event::Push(who, over) => (who, Request::Push(self.state(over))),
                Event::Pop(who) => (who, Request::Pop),
                Event::Revert(who) => (who, Request::Revert),
                Event::Resume(who) => (who, Request::Resume(self.state(1))),
            };
            let is_done = troop.ask(who % count, request, clock);
            troop.guard(who % count).note(format!("{event:?}: {is_done}"));
        }
        if way != Way::Alone {
            let in_buckets: usize = self.states.iter().map(|state| troop.count_in(state)).sum();
            assert_eq!(in_buckets, count, "each state has one bucket");
        }
        let ended = troop.end().into_iter().map(|(mut guard, machine)| {
            let active = active(&machine, clock);
            guard.note(format!("{active}: health {}, ammo {}, luck {}", guard.health, guard.ammo, guard.luck));
            guard.take_trace()
        });
        ended.collect()
    }
}

/// The random runs are worth something only if they come through it all: each change is in one of so many.
#[track_caller]
pub(crate) fn assert_runs_have(count: u32, guards: usize, played: &[Played], changes: &str) {
    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    for _ in 0..count {
        let (guards, events) = run(guards).new_tree(&mut runner).unwrap().current();
        for played in played {
            seen.extend(played.play(Way::Alone, &guards, &events).into_iter().flatten());
        }
    }
    let is_missing = |change: &&str| !change.is_empty() && !seen.contains(*change);
    assert_eq!(changes.lines().map(str::trim).filter(is_missing).collect::<Vec<_>>(), [] as [&str; 0], "no run has it");
}
