//! Regions of states in files (rule 32): a machine in a file does what the same one by hand does, alone and in a batch.

use std::borrow::Cow;

use demeanor::definition::{Definition, ExitReport, Verdict, Vocabulary};
use demeanor::{Agent, Cast, Fsm, Owner, State, StateBook, StateMachine, StateRef, Telegram};
use proptest::prelude::*;

use crate::cases::cases;
use crate::guard::{Guard, Told, parsed, vocabulary};
use crate::trace::log::Trace;
use crate::troop::{Request, Troop, WAYS, Way};

const FILE: &str = "
    initial = 'wander'
    [states.wander]
    exits = [{ to = 'combat', when = 'enemy_visible' }, { to = 'shoot', on = 'hit', when = 'enemy_visible' }]
    [states.combat]
    regions = { legs = 'walk', arms = 'ready' }
    history = true
    exits = [
        { to = 'wander', when = 'not enemy_visible and ammo < 2' },
        { to = 'run', when = 'health < 30' },
        { to = 'wander', on = 'alarm' },
    ]
    [states.walk]
    parent = 'combat'
    exits = [{ to = 'run', when = 'health < 60' }, { to = 'shoot', on = 'hit', when = 'ammo > 4' }]
    [states.run]
    parent = 'combat'
    region = 0
    initial = 'jog'
    exits = [{ to = 'walk', when = 'health >= 60' }, { to = 'fall', when = 'health <= 5' }]
    [states.run.states.jog]
    exits = [{ to = 'dash', after = 1 }]
    [states.run.states.dash]
    exits = [{ to = 'jog', after = 0.5 }, { to = 'ready', when = 'ammo >= 5' }]
    [states.fall]
    parent = 'combat'
    region = 'legs'
    final = true
    [states.ready]
    parent = 'combat'
    region = 'arms'
    exits = [{ to = 'shoot', when = 'ammo > 0 and in(walk)' }]
    [states.shoot]
    parent = 'combat'
    region = 'arms'
    regions = ['hold', 'breathe']
    enter_when = 'health > 10'
    exits = [{ to = 'ready', after = 2 }]
    [states.hold]
    parent = 'shoot'
    exits = [{ to = 'loose', after = 0.5 }]
    [states.loose]
    parent = 'shoot'
    region = 'hold'
    exits = [{ to = 'hold', when = 'time_in(breathe) > 1' }]
    [states.breathe]
    parent = 'shoot'
    exits = [{ to = 'gasp', on = 'hit' }]
    [states.gasp]
    parent = 'shoot'
    region = 'breathe'
    exits = [{ to = 'breathe', after = 0.5 }, { to = 'wander', when = 'health < 20' }]
";

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

        fn all_by_hand() -> Vec<StateRef<Guard>> {
            vec![$((&$state).into()),*]
        }
    };
}

/// Where a state lies.
macro_rules! lies {
    (in $parent:ident $region:literal) => {
        fn parent(&self) -> Option<StateRef<Guard>> {
            Some((&$parent).into())
        }
        fn region(&self) -> usize {
            $region
        }
    };
    (around $($initial:ident)*) => {
        fn regions(&self) -> Vec<StateRef<Guard>> {
            vec![$((&$initial).into()),*]
        }
    };
}

/// Requests a change if a condition holds, and returns the condition.
fn go(fsm: &mut Fsm<'_, Guard>, to: &'static impl State<Guard>, when: bool) -> bool {
    if when {
        fsm.change_state(to);
    }
    when
}

fn is_hit(told: &Told) -> bool {
    matches!(told, Told::Hit { .. })
}

by_hand! {
    Wander "wander" {} |guard, fsm, clock| {
        go(fsm, &Combat, guard.enemy_visible);
    }, told => is_hit(told) && go(fsm, &Shoot, guard.enemy_visible && guard.health > 10.0);
    Combat "combat" {
        lies!(around Walk Ready);
        fn keeps_history(&self) -> bool {
            true
        }
    } |guard, fsm, clock| {
        let has_fallen = fsm.is_in_state(&Fall);
        let _ = go(fsm, &Wander, !guard.enemy_visible && guard.ammo < 2.0 && !has_fallen)
            || go(fsm, &Run, guard.health < 30.0 && !fsm.is_in_state(&Run) && !has_fallen);
    }, told => matches!(told, Told::Alarm) && go(fsm, &Wander, !fsm.is_in_state(&Fall));
    Walk "walk" { lies!(in Combat 0); } |guard, fsm, clock| {
        go(fsm, &Run, guard.health < 60.0);
    }, told => is_hit(told) && go(fsm, &Shoot, guard.ammo > 4.0 && !fsm.is_in_state(&Shoot) && guard.health > 10.0);
    Run "run" {
        lies!(in Combat 0);
        fn initial(&self) -> Option<StateRef<Guard>> {
            Some((&Jog).into())
        }
    } |guard, fsm, clock| {
        let _ = go(fsm, &Walk, guard.health >= 60.0) || go(fsm, &Fall, guard.health <= 5.0);
    }, told => false;
    Jog "jog" { lies!(in Run 0); } |guard, fsm, clock| {
        go(fsm, &Dash, fsm.time_in_state(clock) >= 1.0);
    }, told => false;
    Dash "dash" { lies!(in Run 0); } |guard, fsm, clock| {
        let _ = go(fsm, &Jog, fsm.time_in_state(clock) >= 0.5)
            || go(fsm, &Ready, guard.ammo >= 5.0 && !fsm.is_in_state(&Ready));
    }, told => false;
    Fall "fall" { lies!(in Combat 0); } |guard, fsm, clock| (), told => false;
    Ready "ready" { lies!(in Combat 1); } |guard, fsm, clock| {
        go(fsm, &Shoot, guard.ammo > 0.0 && fsm.is_in_state(&Walk) && guard.health > 10.0);
    }, told => false;
    Shoot "shoot" {
        lies!(in Combat 1);
        lies!(around Hold Breathe);
        fn can_enter(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &f64) -> bool {
            guard.health > 10.0
        }
    } |guard, fsm, clock| {
        go(fsm, &Ready, fsm.time_in_state(clock) >= 2.0);
    }, told => false;
    Hold "hold" { lies!(in Shoot 0); } |guard, fsm, clock| {
        go(fsm, &Loose, fsm.time_in_state(clock) >= 0.5);
    }, told => false;
    Loose "loose" { lies!(in Shoot 0); } |guard, fsm, clock| {
        go(fsm, &Hold, fsm.time_in(&Breathe, clock).is_some_and(|time| time > 1.0));
    }, told => false;
    Breathe "breathe" { lies!(in Shoot 1); } |guard, fsm, clock| (), told => go(fsm, &Gasp, is_hit(told));
    Gasp "gasp" { lies!(in Shoot 1); } |guard, fsm, clock| {
        let _ = go(fsm, &Breathe, fsm.time_in_state(clock) >= 0.5)
            || go(fsm, &Wander, guard.health < 20.0 && !fsm.is_in_state(&Fall));
    }, told => false;
}

/// What happens to the guards between two ticks.
#[derive(Clone, Debug)]
enum Event {
    /// So many eighths of a second pass, and all are updated.
    Tick(u8),
    Health(usize, u8),
    Ammo(usize, u8),
    Sees(usize, bool),
    Tell(usize, Told),
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
    let who = 0..9_usize;
    let told = prop_oneof![3 => Just(Told::hit(1.0)), 1 => Just(Told::Alarm), 1 => Just(Told::Noise)];
    prop_oneof![
        8 => (0..12_u8).prop_map(Event::Tick),
        3 => (who.clone(), 0..90_u8).prop_map(|(who, health)| Event::Health(who, health)),
        2 => (who.clone(), 0..6_u8).prop_map(|(who, ammo)| Event::Ammo(who, ammo)),
        2 => (who.clone(), prop::bool::weighted(0.8)).prop_map(|(who, sees)| Event::Sees(who, sees)),
        3 => (who.clone(), told).prop_map(|(who, told)| Event::Tell(who, told)),
        2 => (who.clone(), 0..26_usize).prop_map(|(who, state)| Event::Change(who, state)),
        1 => (who.clone(), 0..26_usize).prop_map(|(who, state)| Event::Push(who, state)),
        1 => who.clone().prop_map(Event::Pop),
        1 => who.clone().prop_map(Event::Revert),
        1 => who.prop_map(Event::Resume),
        1 => Just(Event::Save),
        1 => Just(Event::Reload),
    ]
}

fn run() -> impl Strategy<Value = (Vec<Guard>, Vec<Event>)> {
    let guard = (5..100_u8, 0..6_u8, prop::bool::weighted(0.8));
    let guard = guard.prop_map(|(health, ammo, enemy_visible)| Guard {
        health: health.into(),
        ammo: ammo.into(),
        enemy_visible,
        luck: health.into(),
        ..Guard::recording_changes()
    });
    (prop::collection::vec(guard, 1..9), prop::collection::vec(event(), 1..60))
}

/// The active states, each with its time.
fn active(machine: &StateMachine<Guard>, clock: f64) -> String {
    let times = machine
        .active_states()
        .map(|state| format!("{state} {}", machine.time_in(&**state, &clock).unwrap_or(f64::NAN)));
    times.collect::<Vec<_>>().join(", ")
}

/// A machine, by its states: the initial one first, and then the one that is resumed.
struct Played {
    states: Vec<StateRef<Guard>>,
    /// The file, if there is one.
    definition: Option<(Definition<Guard>, &'static str)>,
    /// With it, the guards are saved and loaded.
    book: Option<StateBook<Guard>>,
    /// Whether what `explain` says before each tick is compared with the tick.
    is_explained: bool,
}

impl Played {
    fn by_hand() -> Self {
        Self { states: all_by_hand(), definition: None, book: None, is_explained: false }
    }

    fn of_file(file: &'static str, is_saved: bool) -> Self {
        let definition = parsed(file, &vocabulary());
        assert_eq!(definition.warnings(), []);
        let book = is_saved.then(|| StateBook::new().with_definition(&definition));
        Self { states: definition.states(), definition: Some((definition, file)), book, is_explained: false }
    }

    fn state(&self, nth: usize) -> StateRef<Guard> {
        self.states[nth % self.states.len()].clone()
    }

    /// How much has happened to a guard, and the exits that are said to be taken in its next tick.
    fn explained(&self, troop: &mut Troop, who: usize, clock: f64) -> (usize, Vec<ExitReport>) {
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
    fn play(&self, way: Way, guards: &[Guard], events: &[Event]) -> Vec<Trace> {
        let mut troop = Troop::start(way, guards, &self.states[0], None);
        let (mut clock, count) = (0.0, troop.len());
        for event in events {
            let (who, request) = match *event {
                Event::Tick(eighths) => {
                    clock += f64::from(eighths) / 8.0;
                    let expected: Vec<_> = (0..count).map(|who| self.explained(&mut troop, who, clock)).collect();
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
        let ended = troop.end().into_iter().map(|(mut guard, machine)| {
            guard.note(active(&machine, clock));
            guard.take_trace()
        });
        ended.collect()
    }
}

/// A machine of which no state is written by hand: with turns, drawn times, cooldowns, a choice, actions, and exits that lead back.
const BUSY: &str = "
    initial = 'wander'
    [states.wander]
    exits = [{ to = 'combat', when = 'enemy_visible' }]
    [states.combat]
    regions = { legs = 'walk', arms = 'ready', mind = 'calm' }
    history = true
    exits = [
        { to = 'wander', when = 'not enemy_visible', do = 'shout' },
        { to = 'wander', on = 'alarm', when = 'ammo < 3', even_final = true, do = { lose = 2 } },
        { push = 'talk', on = 'noise', set = { patience = 'patience + 1' } },
    ]
    [states.walk]
    parent = 'combat'
    every = '0.5 s'
    exits = [{ to = 'run', when = 'health < 60', do = { lose = 1 }, cooldown = '2 s' }]
    [states.run]
    parent = 'combat'
    region = 'legs'
    regions = ['left', 'head up']
    exits = [{ to = 'walk', after = '1 s .. 3 s', set = { brave = true } }, { to = '$previous', on = 'alarm' }]
    [states.left]
    parent = 'run'
    exits = [{ to = 'right', after = '0.25 s .. 0.5 s' }]
    [states.right]
    parent = 'run'
    exits = [{ to = 'left', after = '0.25 s .. 0.5 s' }]
    [states.'head up']
    parent = 'run'
    enter = 'shout'
    exits = [{ pop = true, on = 'hit' }]
    [states.ready]
    parent = 'combat'
    exits = [{ push = 'aim', when = 'ammo > 0', do = 'shout' }]
    [states.aim]
    parent = 'combat'
    region = 'arms'
    exits = [{ pop = true, after = '0.5 s .. 1.5 s', set = { patience = 'patience + 1' } }, { to = 'ready', on = 'hit' }]
    [states.calm]
    parent = 'combat'
    every = '1 s .. 2 s'
    choose = 'random'
    exits = [{ to = 'rage', weight = 1 }, { to = 'dream', weight = 'ammo' }]
    [states.rage]
    parent = 'combat'
    region = 'mind'
    exits = [{ to = 'calm', after = 2 }]
    [states.dream]
    parent = 'combat'
    region = 'mind'
    final = true
    [states.talk]
    exits = [{ pop = true, after = 1 }, { resume = 'combat', on = 'alarm' }]
";

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn a_machine_with_regions_from_a_file_does_what_the_same_one_by_hand_does((guards, events) in run()) {
        let expected = Played::by_hand().play(Way::Alone, &guards, &events);
        for way in WAYS {
            let found = Played::of_file(FILE, true).play(*way, &guards, &events);
            prop_assert_eq!(&found, &expected, "{:?}", way);
        }
    }

    #[test]
    fn owners_with_regions_do_the_same_on_all_hosts_saved_and_reloaded_or_not((guards, events) in run()) {
        let explained = Played { is_explained: true, ..Played::of_file(BUSY, false) };
        let expected = explained.play(Way::Alone, &guards, &events);
        for way in WAYS {
            let found = Played::of_file(BUSY, true).play(*way, &guards, &events);
            prop_assert_eq!(&found, &expected, "{:?}", way);
        }
    }
}

/// The random runs are worth something only if they come through it all.
#[test]
fn the_runs_change_in_every_region() {
    use proptest::strategy::ValueTree as _;

    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..200 {
        let (guards, events) = run().new_tree(&mut runner).unwrap().current();
        for played in [Played::by_hand(), Played::of_file(BUSY, false)] {
            seen.extend(played.play(Way::Alone, &guards, &events).into_iter().flatten());
        }
    }
    for change in [
        "combat -> talk (push)",
        "talk -> combat (pop)",
        "talk -> combat (resume)",
        "walk -> run in combat (change)",
        "run -> walk in combat (revert)",
        "left -> right in run (change)",
        "ready -> aim in combat (push)",
        "aim -> ready in combat (pop)",
        "aim -> ready in combat (change)",
        "calm -> rage in combat (change)",
        "rage -> calm in combat (change)",
        "calm -> dream in combat (change)",
        "wander -> combat (change)",
        "combat -> wander (change)",
        "walk -> jog in combat (change)",
        "jog -> dash in combat (change)",
        "dash -> walk in combat (change)",
        "jog -> fall in combat (change)",
        "ready -> shoot in combat (change)",
        "shoot -> ready in combat (change)",
        "hold -> loose in shoot (change)",
        "loose -> hold in shoot (change)",
        "breathe -> gasp in shoot (change)",
        "gasp -> breathe in shoot (change)",
    ] {
        assert!(seen.contains(change), "no run has: {change}");
    }
}

/// Plays ticks of half a second, and returns what is active after each.
fn ticks(file: &str, count: u32, act: impl Fn(u32, &mut Guard)) -> Vec<String> {
    let definition = parsed(file, &vocabulary());
    let (mut machine, mut guard, mut clock) = (definition.machine(), Guard::recording_changes(), 0.0);
    machine.start(&mut guard, &mut clock);
    let tick = |tick| {
        act(tick, &mut guard);
        clock = f64::from(tick) / 2.0;
        machine.update(&mut guard, &mut clock);
        machine.active_states().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    (1..=count).map(tick).collect()
}

#[test]
fn a_cooldown_in_a_region_goes_on_when_the_region_is_left() {
    let file = "
        initial = 'fight'
        [states.fight]
        regions = ['walk', 'ready']
        exits = [{ to = 'rest', when = 'hungry' }]
        [states.walk]
        parent = 'fight'
        [states.ready]
        parent = 'fight'
        exits = [{ to = 'fire', when = 'enemy_visible', cooldown = 4 }]
        [states.fire]
        parent = 'fight'
        region = 1
        exits = [{ to = 'ready', after = 0.5 }]
        [states.rest]
        exits = [{ to = 'fight', when = 'not hungry' }]
    ";
    let active = ticks(file, 9, |tick, guard| {
        guard.enemy_visible = true;
        guard.is_hungry = tick == 4;
    });
    assert_eq!(
        active,
        [
            "fight walk fire",
            "fight walk ready",
            "fight walk ready",
            "rest",
            "fight walk ready",
            "fight walk ready",
            "fight walk ready",
            "fight walk ready",
            "fight walk fire",
        ]
    );
}

/// A state with open regions is not an innermost state, so its exits are those of a parent.
#[test]
fn a_state_with_regions_neither_pushes_nor_resumes_an_active_state() {
    let file = "
        initial = 'fight'
        [states.fight]
        initial = 'arms'
        history = true
        [states.arms]
        parent = 'fight'
        regions = ['ready', 'hold']
        exits = [{ resume = 'fight', when = 'hungry' }]
        [states.ready]
        parent = 'arms'
        exits = [{ to = 'fire', when = 'enemy_visible' }]
        [states.hold]
        parent = 'arms'
        [states.fire]
        parent = 'arms'
        region = 0
        exits = [{ to = 'ready', after = 1 }]
    ";
    // A new entry would begin the second of `fire` again.
    let act = |tick, guard: &mut Guard| {
        guard.enemy_visible = tick == 1;
        guard.is_hungry = tick == 2;
    };
    for way in ["resume", "push", "to"] {
        let active = ticks(&file.replace("resume = ", &format!("{way} = ")), 3, act);
        assert_eq!(active, ["fight arms fire hold", "fight arms fire hold", "fight arms ready hold"], "{way}");
    }
}

#[test]
fn the_turns_and_the_drawn_times_of_a_region_are_its_own() {
    let file = "
        initial = 'fight'
        [states.fight]
        regions = ['walk', 'ready']
        [states.walk]
        parent = 'fight'
        every = 1
        exits = [{ to = 'run', when = 'enemy_visible' }]
        [states.run]
        parent = 'fight'
        exits = [{ to = 'walk', after = '1 s .. 1.25 s' }]
        [states.ready]
        parent = 'fight'
        exits = [{ to = 'fire', after = 1.5 }]
        [states.fire]
        parent = 'fight'
        region = 1
        exits = [{ to = 'ready', after = 5 }]
    ";
    let active = ticks(file, 7, |tick, guard| guard.enemy_visible = tick > 0);
    assert_eq!(
        active,
        [
            "fight walk ready",
            "fight run ready",
            "fight run fire",
            "fight run fire",
            "fight walk fire",
            "fight walk fire",
            "fight run fire",
        ]
    );
}

/// A machine in whose regions exits wait for conditions and for a message.
const EXPLAINED: &str = "
    initial = 'fight'
    [states.fight]
    regions = ['walk', 'ready']
    exits = [{ to = 'rest', on = 'hit' }]
    [states.walk]
    parent = 'fight'
    exits = [
        { to = 'rest', when = 'hungry' },
        { to = 'run', when = 'enemy_visible' },
        { to = 'run', on = 'hit', when = 'enemy_visible' },
        { to = 'run', always = true, when = 'hungry' },
    ]
    [states.run]
    parent = 'fight'
    [states.ready]
    parent = 'fight'
    exits = [
        { to = 'fire', when = 'enemy_visible' },
        { to = 'fire', on = 'hit', when = 'enemy_visible' },
        { to = 'fire', always = true, when = 'health > 500' },
    ]
    [states.fire]
    parent = 'fight'
    region = 1
    [states.rest]
    exits = [{ to = 'fight' }]
";

/// Returns each report as the state, what it waits for, the target, and the verdict.
fn told(reports: &[ExitReport]) -> Vec<String> {
    let told = |report: &ExitReport| {
        let on = report.on.as_deref().map_or(String::new(), |on| format!(" on {on}"));
        format!("{} -> {}{on}: {}", report.of, report.to, report.verdict)
    };
    reports.iter().map(told).collect()
}

#[test]
fn reports_of_exits_say_what_each_region_does() {
    let definition = parsed(EXPLAINED, &vocabulary());
    let mut guard = Guard { enemy_visible: true, ..Guard::default() };
    let mut machine = definition.machine();
    machine.start(&mut guard, &mut 0.0);
    let mut explain = |guard: &mut Guard| {
        machine.with(guard, &mut 0.0, |guard, fsm, clock| told(&definition.explain_with(guard, fsm, clock)))
    };
    let on_hit = ["walk -> run on hit: yes", "ready -> fire on hit: yes", "fight -> rest on hit: not tried"];
    let in_ticks = [
        "walk -> rest: no",
        "walk -> run: yes",
        "walk -> run: not tried",
        "ready -> fire: yes",
        "ready -> fire: not tried",
    ];
    assert_eq!(explain(&mut guard), [&in_ticks[..], &on_hit].concat(), "an exit in a region leaves the others alone");
    guard.is_hungry = true;
    let in_ticks = [
        "walk -> rest: yes",
        "walk -> run: not tried",
        "walk -> run: not tried",
        "ready -> fire: not tried",
        "ready -> fire: not tried",
    ];
    assert_eq!(explain(&mut guard), [&in_ticks[..], &on_hit].concat(), "an exit out of the composite ends its tick");
    guard.is_hungry = false;
    let entry = told(&definition.explain_entry(&definition.initial(), &mut guard, &mut 0.0));
    assert_eq!(entry, ["walk -> run: no", "ready -> fire: no"], "all regions are entered");
}

#[test]
fn a_report_counts_the_time_of_an_exit_from_the_entry_into_its_state() {
    let file = "
        initial = 'fight'
        states.fight.regions = ['aim', 'walk']
        states.aim = { parent = 'fight', exits = [{ to = 'shoot', after = 2 }] }
        states.shoot = { parent = 'fight', region = 0, exits = [{ to = 'aim', after = 2 }] }
        states.walk.parent = 'fight'
    ";
    let (definition, mut guard) = (parsed(file, &vocabulary()), Guard::default());
    let mut machine = definition.machine();
    machine.start(&mut guard, &mut 0.0);
    machine.update(&mut guard, &mut 2.0);
    let reports = machine.with(&mut guard, &mut 3.0, |guard, fsm, clock| definition.explain_with(guard, fsm, clock));
    assert_eq!(reports[0].to_string(), "to aim: no: after 2 s (1 s left) does not hold");
}

/// A member of a cast, whose clock stands still, or an owner without a context.
struct Soldier<C>(f64, std::marker::PhantomData<fn() -> C>);

impl<C: 'static> Owner for Soldier<C> {
    type Context<'a> = C;
    type Message = Telegram<usize, ()>;
}

fn soldiers<C: 'static>() -> (Definition<Soldier<C>>, Agent<Soldier<C>>) {
    let vocabulary = Vocabulary::new().value("ammo", |soldier: &Soldier<C>, _| soldier.0).message("shot", |_| true);
    let file = "
        initial = 'combat'
        [states.combat]
        regions = { legs = 'walk', arms = 'ready' }
        exits = [{ to = 'rest', when = 'ammo > 8' }]
        [states.walk]
        parent = 'combat'
        exits = [{ push = 'run', when = 'ammo > 2' }]
        [states.run]
        parent = 'combat'
        exits = [{ pop = true, on = 'shot' }]
        [states.ready]
        parent = 'combat'
        exits = [{ to = 'fire', when = 'ammo > 4 and in(run)' }]
        [states.fire]
        parent = 'combat'
        region = 'arms'
        exits = [{ to = 'ready', on = 'shot' }]
        [states.rest]
        final = true
    ";
    let definition = Definition::parse(file, &vocabulary).unwrap_or_else(|problems| panic!("{problems}"));
    let agent = Agent::new(Soldier(0.0, std::marker::PhantomData), definition.machine());
    (definition, agent)
}

#[test]
fn an_agent_and_a_member_of_a_cast_have_regions_from_a_file() {
    type Play = Cast<usize, (), ()>;
    let expected = ["combat walk ready", "combat run ready", "combat run fire", "combat walk ready", "rest"];
    let ammo = |nth: usize| [0.0, 3.0, 5.0, 0.0, 9.0][nth];
    let active = |states: &mut dyn Iterator<Item = String>| states.collect::<Vec<_>>().join(" ");
    let (_definition, mut agent) = soldiers::<()>();
    let (_of_cast, member) = soldiers::<Play>();
    let mut cast = Play::new(());
    cast.add(7, member).unwrap();
    agent.start(&mut ());
    cast.start();
    for (nth, expected) in expected.into_iter().enumerate() {
        agent.0 = ammo(nth);
        cast.get_mut::<Soldier<Play>>(&7).unwrap().0 = ammo(nth);
        if nth == 3 {
            agent.send(&Telegram { sender: 1, receiver: 7, message: () }, &mut ());
            cast.send(1, 7, ());
        }
        agent.update(&mut ());
        cast.update();
        assert_eq!(active(&mut agent.machine().active_states().map(ToString::to_string)), expected);
        let member = cast.get::<Soldier<Play>>(&7).unwrap();
        assert_eq!(active(&mut member.machine().active_states().map(ToString::to_string)), expected);
    }
}
