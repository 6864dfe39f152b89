//! A machine that is a field of its owner and is taken out of it for a call: what is lost, and the warning of a debug build.

use std::mem;

use crate::captured_log::log_lines;
use demeanor::{Agent, Fsm, Owner, State, StateMachine};

/// The machine is a member, as in C#.
#[derive(Default)]
struct Enemy {
    machine: StateMachine<Enemy>,
    asks: Ask,
    trace: Vec<&'static str>,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Ask {
    #[default]
    Nothing,
    Handle,
    ChangeOfItsMember,
    MessageToItsMember,
    UpdateOfItsMember,
}

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

impl Enemy {
    /// Takes the machine out of its owner for a call.
    fn with(&mut self, act: impl FnOnce(&mut StateMachine<Self>, &mut Self)) {
        let mut machine = mem::take(&mut self.machine);
        act(&mut machine, self);
        self.machine = machine;
    }

    fn update(&mut self) {
        self.with(|machine, enemy| machine.update(enemy, &mut ()));
    }

    fn flee(&mut self) {
        self.with(|machine, enemy| _ = machine.change_state(enemy, &Flee, &mut ()));
    }

    fn hear(&mut self) {
        self.with(|machine, enemy| _ = machine.send(enemy, &(), &mut ()));
    }
}

struct Idle;
struct Flee;

impl State<Enemy> for Idle {
    fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, (): &mut ()) {
        enemy.trace.push("Idle.update");
        match enemy.asks {
            Ask::Nothing => {}
            Ask::Handle => fsm.change_state(&Flee),
            Ask::ChangeOfItsMember => enemy.flee(),
            Ask::MessageToItsMember => enemy.hear(),
            Ask::UpdateOfItsMember => enemy.update(),
        }
    }

    fn exit(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, (): &mut ()) {
        enemy.trace.push("Idle.exit");
    }
}

impl State<Enemy> for Flee {
    fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, (): &mut ()) {
        enemy.trace.push("Flee.enter");
    }

    fn update(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, (): &mut ()) {
        enemy.trace.push("Flee.update");
    }
}

/// Updates an enemy in `Idle` twice, which makes a request in its first `update`. Returns the trace and the warnings.
fn two_ticks(asks: Ask) -> (Vec<&'static str>, Vec<String>) {
    let mut enemy = Enemy { machine: StateMachine::new(&Idle), asks, ..Enemy::default() };
    let warnings = log_lines(|| {
        enemy.update();
        enemy.asks = Ask::Nothing;
        enemy.update();
    });
    (enemy.trace, warnings.into_iter().filter(|line| line.starts_with("WARN")).collect())
}

/// Returns the warning, in builds that log it.
fn warning(asked: &str) -> Vec<String> {
    let line = format!(
        "WARN demeanor: Enemy: {asked} went to an empty machine while this owner's own machine is running: if `mem::take` left it \
        behind, the effect is lost. Ask `fsm` instead, and keep the machine beside its owner"
    );
    if cfg!(all(debug_assertions, feature = "std")) { vec![line] } else { vec![] }
}

#[test]
fn what_is_asked_of_a_machine_that_was_taken_out_is_lost_with_a_warning() {
    for (asks, trace, asked) in [
        // The lost machine has entered a state that is never updated or exited.
        (Ask::ChangeOfItsMember, &["Idle.update", "Flee.enter", "Idle.update"][..], "change to Flee"),
        (Ask::MessageToItsMember, &["Idle.update", "Idle.update"], "message"),
        (Ask::UpdateOfItsMember, &["Idle.update", "Idle.update"], "update"),
    ] {
        assert_eq!(two_ticks(asks), (trace.to_vec(), warning(asked)));
    }
}

#[test]
fn what_is_asked_of_the_handle_is_done_without_a_warning() {
    let (trace, warnings) = two_ticks(Ask::Handle);
    assert_eq!(trace, ["Idle.update", "Idle.exit", "Flee.enter", "Flee.update"]);
    assert_eq!(warnings, [] as [&str; 0]);
}

#[test]
fn the_first_change_of_a_default_machine_is_no_mistake() {
    let mut enemy = Enemy::default();
    assert_eq!(log_lines(|| enemy.flee()), ["DEBUG demeanor: Enemy: (no state) -> Flee (change)"]);
    assert!(enemy.machine.is_in_state(&Flee));
    // There is no warning after the machine has run either.
    enemy.update();
    enemy.machine = StateMachine::default();
    assert_eq!(log_lines(|| enemy.flee()), ["DEBUG demeanor: Enemy: (no state) -> Flee (change)"]);
}

/// A body with a machine for its legs. The states of this machine change the machine for the hands.
#[derive(Default)]
struct Body {
    is_aiming: bool,
}

impl Owner for Body {
    type Context<'a> = StateMachine<Body>;
    type Message = ();
}

struct Run;
struct Aim;

impl State<Body> for Run {
    fn update(&self, body: &mut Body, _: &mut Fsm<'_, Body>, hands: &mut StateMachine<Body>) {
        hands.change_state(body, &Aim, &mut StateMachine::idle());
    }
}

impl State<Body> for Aim {
    fn enter(&self, body: &mut Body, _: &mut Fsm<'_, Body>, _: &mut StateMachine<Body>) {
        body.is_aiming = true;
    }
}

#[test]
fn a_second_machine_of_the_same_owner_that_was_created_idle_is_no_mistake() {
    let (mut body, mut legs, mut hands) = (Body::default(), StateMachine::new(&Run), StateMachine::idle());
    let lines = log_lines(|| legs.update(&mut body, &mut hands));
    assert_eq!(lines, ["DEBUG demeanor: Body: (no state) -> Aim (change)"]);
    assert!(body.is_aiming && hands.is_in_state(&Aim));
}

/// A sentry that, in its callback, wakes up another sentry with an empty machine.
#[derive(Default)]
struct Sentry {
    is_calling: bool,
}

impl Owner for Sentry {
    type Context<'a> = Option<Agent<Sentry>>;
    type Message = ();
}

struct Watch;

impl State<Sentry> for Watch {
    fn update(&self, sentry: &mut Sentry, _: &mut Fsm<'_, Sentry>, other: &mut Option<Agent<Sentry>>) {
        sentry.is_calling = true;
        if let Some(other) = other {
            other.change_state(&Watch, &mut None);
        }
    }
}

#[test]
fn an_empty_machine_of_somebody_else_is_no_mistake() {
    let mut sentry = Agent::new(Sentry::default(), StateMachine::new(&Watch));
    let mut other = Some(Agent::new(Sentry::default(), StateMachine::default()));
    let lines = log_lines(|| sentry.update(&mut other));
    assert_eq!(lines, ["DEBUG demeanor: Sentry: (no state) -> Watch (change)"]);
    assert!(sentry.is_calling);
}
