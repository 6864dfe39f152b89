//! The game: its data, the player's actions, and the saved data.

use std::fmt;
use std::io::{self, Write};

use demeanor::{Batch, Key, LoadError, Owner, SaveError, SavedBatch};
use oorandom::Rand32;
use serde::{Deserialize, Serialize};

use super::guard::{CORRIDOR, Corridor, Guard, Patrol, Stunned, Whistle, book};

/// Everything that a tick depends on, except the player's actions in it.
#[derive(Clone)]
pub(crate) struct Game {
    tick: u64,
    player: i32,
    guards: Batch<Guard>,
}

/// The same data in a form that can be saved.
#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "O: Deserialize<'de>"))]
pub(crate) struct SavedGame<O> {
    tick: u64,
    player: i32,
    guards: SavedBatch<O>,
}

/// An action of the player.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Deed {
    Step(i32),
    Whistle,
    /// Throws a stone at a guard.
    Throw(Key),
}

/// Returns the actions of a random player in a tick.
pub(crate) fn random_deeds(player: &mut Rand32, game: &Game) -> Vec<Deed> {
    match player.rand_range(0..20) {
        0..4 => vec![Deed::Step(1)],
        4..7 => vec![Deed::Step(-1)],
        7 => vec![Deed::Step(2), Deed::Whistle],
        8 => {
            let nth = player.rand_range(0..10_000) as usize;
            let key = game.guards.keys().nth(nth % game.guards.len().max(1));
            key.map(Deed::Throw).into_iter().collect()
        }
        _ => vec![],
    }
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(steps) => write!(f, "the player goes {steps:+}"),
            Self::Whistle => f.write_str("the player whistles"),
            Self::Throw(key) => write!(f, "the player hits {key:?} with a stone"),
        }
    }
}

impl Game {
    pub(crate) fn new(guards: u32) -> Self {
        let guards = (0..guards).map(|number| (Guard::new(number), &Patrol)).collect();
        Self { tick: 0, player: CORRIDOR / 2, guards }
    }

    /// Advances the game by one tick.
    pub(crate) fn advance(&mut self, deeds: &[Deed]) {
        self.tick += 1;
        let mut corridor = Corridor { tick: self.tick, player: self.player };
        for deed in deeds {
            match deed {
                Deed::Step(steps) => corridor.player = (corridor.player + steps).clamp(0, CORRIDOR - 1),
                Deed::Whistle => _ = self.guards.broadcast(&Whistle, &mut corridor),
                Deed::Throw(key) => _ = self.guards.change_state(*key, &Stunned, &mut corridor),
            }
        }
        self.guards.update(&mut corridor);
        self.player = corridor.player;
    }

    pub(crate) fn save(&self) -> Result<SavedGame<&Guard>, SaveError> {
        let Self { tick, player, ref guards } = *self;
        Ok(SavedGame { tick, player, guards: guards.save(&book(), Guard::now(&self.corridor()))? })
    }

    pub(crate) fn load(SavedGame { tick, player, guards }: SavedGame<Guard>) -> Result<Self, LoadError> {
        let guards = Batch::load(guards, &book(), Guard::now(&Corridor { tick, player }))?;
        Ok(Self { tick, player, guards })
    }

    /// Prints the place and the state of each guard.
    pub(crate) fn show(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "tick {} of the game, the player is at {}", self.tick, self.player)?;
        let mut guards: Vec<_> = self.guards.iter().collect();
        guards.sort_by_key(|(_, guard)| guard.number);
        for (key, guard) in guards {
            let state = self.guards.state_of(key).map(|state| state.name().into_owned()).unwrap_or_default();
            let ticks = self.guards.time_in_state(key, &self.corridor()).unwrap_or(0.0);
            writeln!(out, "guard {:>2} at {:>2}: {state} for {ticks} ticks", guard.number, guard.at)?;
        }
        Ok(())
    }

    fn corridor(&self) -> Corridor {
        Corridor { tick: self.tick, player: self.player }
    }
}
