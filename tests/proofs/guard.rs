//! The owner of the machines, with all that conditions ask of it.

use demeanor::definition::Vocabulary;
use demeanor::{Change, Owner};

/// A guard that notes its changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) a: bool,
    /// What it draws next.
    pub(crate) luck: u32,
    /// What it draws each time, instead.
    pub(crate) fixed_luck: Option<f64>,
    /// Its changes since they were last taken: `a -> b (change)`.
    pub(crate) changes: Vec<String>,
}

/// A hit that does so much damage.
#[derive(Clone, Debug)]
pub(crate) struct Hit(pub(crate) f64);

impl Owner for Guard {
    /// The time in seconds.
    type Context<'a> = f64;
    type Message = Hit;

    fn now(clock: &f64) -> f64 {
        *clock
    }

    fn on_change(&mut self, change: &Change<'_, Self>, _: &mut f64) {
        self.changes.push(change.to_string());
    }
}

impl Guard {
    /// Draws numbers from 0 to below 1: the same ones for each guard that begins with the same luck.
    fn draw(&mut self) -> f64 {
        if let Some(fixed) = self.fixed_luck {
            return fixed;
        }
        self.luck = self.luck.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(self.luck >> 8) / f64::from(1 << 24)
    }
}

pub(crate) fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new()
        .field("x", |guard: &Guard, _| guard.x, |guard, x| guard.x = x)
        .field("y", |guard: &Guard, _| guard.y, |guard, y| guard.y = y)
        .flag_field("a", |guard: &Guard, _| guard.a, |guard, a| guard.a = a)
        .action("swap", |guard: &mut Guard, _| std::mem::swap(&mut guard.x, &mut guard.y))
        .random(|guard: &mut Guard, _| guard.draw())
        .message("hit", |_| true)
        .message_value("hit", "damage", |Hit(damage)| *damage)
}
