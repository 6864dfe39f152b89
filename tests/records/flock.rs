//! Sheep whose changes are recorded.
#![cfg(feature = "std")]

use demeanor::{Batch, Change, Fsm, Journal, Key, Owner, State, StateRef};

/// The time, what `on_change` was told, in order, and a journal for sheep that are in no batch.
pub(crate) struct World {
    pub(crate) seconds: f64,
    pub(crate) told: Vec<String>,
    pub(crate) journal: Journal<u32>,
}

impl World {
    pub(crate) fn at(seconds: f64) -> Self {
        Self { seconds, told: Vec::new(), journal: Journal::new(2_000_000) }
    }
}

#[derive(Clone, Default)]
pub(crate) struct Sheep {
    pub(crate) number: u32,
    pub(crate) is_tired: bool,
    /// Panics in `enter`.
    pub(crate) falls: bool,
    /// Whether its changes are noted by hand, in the world's journal.
    pub(crate) is_noted: bool,
}

impl Owner for Sheep {
    type Context<'a> = World;
    type Message = ();

    fn now(world: &World) -> f64 {
        world.seconds
    }

    fn on_change(&mut self, change: &Change<'_, Self>, world: &mut World) {
        if self.is_noted {
            world.journal.note(self.number, change, world.seconds);
        }
        world.told.push(format!("{}: {change} {}", self.number, change.time_in_state));
    }
}

/// Contains `Graze` and `Drink`.
pub(crate) struct Meadow;
pub(crate) struct Graze;
pub(crate) struct Drink;
pub(crate) struct Sleep;
pub(crate) struct Startle;

impl State<Sheep> for Meadow {
    fn initial(&self) -> Option<StateRef<Sheep>> {
        Some((&Graze).into())
    }
}

impl State<Sheep> for Graze {
    fn parent(&self) -> Option<StateRef<Sheep>> {
        Some((&Meadow).into())
    }

    fn update(&self, sheep: &mut Sheep, fsm: &mut Fsm<'_, Sheep>, _: &mut World) {
        match sheep.number % 4 {
            0 => fsm.change_state(&Drink),
            1 => fsm.change_state(&Sleep),
            2 => fsm.push_state(&Startle),
            _ => {}
        }
    }
}

impl State<Sheep> for Drink {
    fn parent(&self) -> Option<StateRef<Sheep>> {
        Some((&Meadow).into())
    }

    fn can_exit(&self, sheep: &Sheep, _: &Fsm<'_, Sheep>, _: &World) -> bool {
        !sheep.is_tired
    }

    fn update(&self, _: &mut Sheep, fsm: &mut Fsm<'_, Sheep>, _: &mut World) {
        fsm.revert_state();
    }
}

impl State<Sheep> for Sleep {
    fn can_enter(&self, sheep: &Sheep, _: &Fsm<'_, Sheep>, _: &World) -> bool {
        sheep.is_tired
    }

    fn enter(&self, sheep: &mut Sheep, _: &mut Fsm<'_, Sheep>, _: &mut World) {
        assert!(!sheep.falls, "as it was to");
    }
}

impl State<Sheep> for Startle {
    fn enter(&self, _: &mut Sheep, fsm: &mut Fsm<'_, Sheep>, _: &mut World) {
        fsm.pop_state();
    }
}

/// A flock that writes a journal of so many entries, and the sheep's keys.
pub(crate) fn flock(count: u32, entries: usize) -> (Batch<Sheep>, Vec<Key>) {
    let mut batch = Batch::new();
    let sheep = (0..count).map(|number| Sheep { number, is_tired: number % 3 == 0, ..Sheep::default() });
    let keys = sheep.map(|sheep| batch.insert(sheep, &Graze)).collect();
    batch.set_journal(Some(Journal::new(entries)));
    (batch, keys)
}
