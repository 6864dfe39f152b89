//! The character of these tests: what conditions ask of it, what it can be told, and what happens to it.
//!
//! Each type of owner has a copy of the whole library compiled for it. So the tests share this one, except those that are about
//! an owner's types, or that measure.

use std::fmt;

use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Change, Fsm, Owner, State, StateMachine};

use crate::trace::log::{Log, Trace};

/// A guard. Unless a test says otherwise, its numbers are 0, and nothing is true of it.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is something that a condition asks")]
pub(crate) struct Guard {
    /// What the log calls it, instead of `Guard`.
    pub(crate) name: &'static str,
    pub(crate) health: f64,
    pub(crate) ammo: f64,
    pub(crate) speed: f64,
    pub(crate) patience: f64,
    pub(crate) is_brave: bool,
    pub(crate) is_hungry: bool,
    pub(crate) is_alarmed: bool,
    pub(crate) enemy_visible: bool,
    /// What it draws next: see [`draw`](Self::draw).
    pub(crate) luck: u32,
    /// What it panics at, after it has noted it.
    pub(crate) afraid_of: &'static str,
    pub(crate) records: Records,
    /// What has happened to it. The time is in its context.
    pub(crate) log: Log,
}

/// What a guard notes without a behavior that does so.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Records {
    #[default]
    Nothing,
    /// `a -> b (change)`
    Changes,
    /// `1.5: a -> b (change)`
    TimedChanges,
}

/// What a guard can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Told {
    Noise,
    Alarm,
    Pain,
    Hit { damage: f64, is_critical: bool },
}

impl Told {
    pub(crate) fn hit(damage: f64) -> Self {
        Self::Hit { damage, is_critical: false }
    }
}

impl Guard {
    /// A guard that notes its changes.
    pub(crate) fn recording_changes() -> Self {
        Self { records: Records::Changes, ..Self::default() }
    }

    pub(crate) fn with_luck(luck: u32) -> Self {
        Self { luck, ..Self::default() }
    }

    pub(crate) fn afraid_of(what: &'static str) -> Self {
        Self { afraid_of: what, ..Self::default() }
    }

    /// Notes what it does, and panics if that is what it is afraid of.
    pub(crate) fn note(&mut self, line: impl Into<String>) {
        let line = line.into();
        let is_afraid = !line.is_empty() && self.afraid_of == line;
        self.log.note(line);
        assert!(!is_afraid, "afraid of {}", self.afraid_of);
    }

    pub(crate) fn trace(&self) -> &Trace {
        &self.log.lines
    }

    pub(crate) fn take_trace(&mut self) -> Trace {
        std::mem::take(&mut self.log.lines)
    }

    /// Whether luck will have it, `p` times in one.
    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.draw() < p
    }

    /// Draws numbers from 0 to below 1: the same ones for each guard that begins with the same luck.
    pub(crate) fn draw(&mut self) -> f64 {
        self.luck = self.luck.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(self.luck >> 8) / f64::from(1 << 24)
    }
}

impl Owner for Guard {
    /// The time in seconds.
    type Context<'a> = f64;
    type Message = Told;

    fn now(clock: &f64) -> f64 {
        *clock
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.name.is_empty() { "Guard" } else { self.name })
    }

    fn on_change(&mut self, change: &Change<'_, Self>, clock: &mut f64) {
        match self.records {
            Records::Nothing => {}
            Records::Changes => self.note(change.to_string()),
            Records::TimedChanges => self.note(format!("{clock}: {change}")),
        }
    }
}

/// A behavior of some name that notes `enter aim`, `update aim` and `exit aim`. A hit takes health.
pub(crate) struct Notes(pub(crate) String);

impl Notes {
    pub(crate) fn new(name: impl Into<String>) -> std::sync::Arc<Self> {
        std::sync::Arc::new(Self(name.into()))
    }
}

impl State<Guard> for Notes {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note(format!("enter {}", self.0));
    }

    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note(format!("update {}", self.0));
    }

    fn exit(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut f64) {
        guard.note(format!("exit {}", self.0));
    }

    fn on_message(&self, guard: &mut Guard, told: &Told, _: &mut Fsm<'_, Guard>, _: &mut f64) -> bool {
        if let Told::Hit { damage, .. } = told {
            guard.health -= damage;
        }
        false
    }
}

/// What conditions can ask of a guard, and what exits can wait for.
pub(crate) fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new()
        .value("health", |guard: &Guard, _| guard.health)
        .value("ammo", |guard: &Guard, _| guard.ammo)
        .field("patience", |guard: &Guard, _| guard.patience, |guard, patience| guard.patience = patience)
        .flag_field("brave", |guard: &Guard, _| guard.is_brave, |guard, is_brave| guard.is_brave = is_brave)
        .action("shout", |guard: &mut Guard, _| guard.note("shout"))
        .action_with("lose", |guard, health, _| {
            guard.health -= health;
            guard.note(format!("lose {health}"));
        })
        .flag("hungry", |guard: &Guard, _| guard.is_hungry)
        .flag("enemy_visible", |guard: &Guard, _| guard.enemy_visible)
        .random(|guard: &mut Guard, _| guard.draw())
        .message("noise", |told| *told == Told::Noise)
        .message("alarm", |told| *told == Told::Alarm)
        .message("pain", |told| *told == Told::Pain)
        .message("hit", |told| matches!(told, Told::Hit { .. }))
        .message_value("hit", "damage", |told| if let Told::Hit { damage, .. } = told { *damage } else { f64::NAN })
        .message_flag("hit", "is_critical", |told| matches!(told, Told::Hit { is_critical: true, .. }))
}

/// The definition of a file in which nothing is wrong.
#[track_caller]
pub(crate) fn parsed(file: &str, vocabulary: &Vocabulary<Guard>) -> Definition<Guard> {
    Definition::parse(file, vocabulary).unwrap_or_else(|problems| panic!("{problems}\n{file}"))
}

/// The name of the innermost state.
pub(crate) fn current(machine: &StateMachine<Guard>) -> String {
    machine.current().map(ToString::to_string).unwrap_or_default()
}
