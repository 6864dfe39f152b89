//! What can be saved: machines, agents, batches and casts, from little to all that there is.

use std::hash::Hash;
use std::time::Duration;

use demeanor::{Agent, Batch, Dispatcher, SavedAgent, SavedBatch, SavedCast, SavedMachine, StateMachine};
use serde::de::DeserializeOwned;

use crate::barracks::{Combat, Guard, Idle, Told, batch, go_on, go_on_together, machines};
use crate::cast::{self, News, Town};
use crate::formats::Format;
use crate::regions::{self, book};

/// What can be saved and loaded, and goes on.
pub(crate) trait Host: Sized {
    type Saved: DeserializeOwned;

    fn all() -> Vec<Self>;
    fn write(&self, format: Format) -> Result<Vec<u8>, String>;
    fn load(saved: Self::Saved) -> Result<Self, String>;

    /// What happens to it from now on.
    fn goes_on(self) -> Vec<String>;

    /// Does with it what a game does, even if what was loaded is damaged.
    fn put_to_use(self) {}
}

impl Host for StateMachine<Guard> {
    type Saved = SavedMachine;

    fn all() -> Vec<Self> {
        machines().into_iter().chain(regions::machines()).map(|(_, machine)| machine).collect()
    }

    fn write(&self, format: Format) -> Result<Vec<u8>, String> {
        format.write(&self.save(&book(), 4.9).map_err(|error| error.to_string())?)
    }

    fn load(saved: SavedMachine) -> Result<Self, String> {
        book().load(saved, 4.9).map_err(|error| error.to_string())
    }

    fn goes_on(mut self) -> Vec<String> {
        let shown = format!("{:?} {} {}", self.next_wake(), self.is_started(), self.digest());
        [vec![shown], go_on(&mut Guard::default(), &mut self)].concat()
    }

    fn put_to_use(mut self) {
        let mut guard = Guard::default();
        for now in [4.9, 5.0, 100.0] {
            let now = &mut { now };
            self.update(&mut guard, now);
            self.send(&mut guard, &Told::Bell, now);
            self.pop_state(&mut guard, now);
            self.revert_state(&mut guard, now);
        }
        self.stop(&mut guard, &mut 101.0);
        self.save(&book(), 102.0).unwrap();
    }
}

impl Host for Agent<Guard> {
    type Saved = SavedAgent<Guard>;

    fn all() -> Vec<Self> {
        machines().into_iter().chain(regions::machines()).map(|(guard, machine)| Self::new(guard, machine)).collect()
    }

    fn write(&self, format: Format) -> Result<Vec<u8>, String> {
        format.write(&self.save(&book(), 4.9).map_err(|error| error.to_string())?)
    }

    fn load(saved: SavedAgent<Guard>) -> Result<Self, String> {
        Self::load(saved, &book(), 4.9).map_err(|error| error.to_string())
    }

    fn goes_on(self) -> Vec<String> {
        let (mut guard, mut machine) = self.into_parts();
        [go_on(&mut guard, &mut machine), vec![guard.number.to_string()]].concat()
    }

    fn put_to_use(self) {
        self.into_parts().1.put_to_use();
    }
}

impl Host for Batch<Guard> {
    type Saved = SavedBatch<Guard>;

    fn all() -> Vec<Self> {
        let mut batch = batch().0;
        for (guard, machine) in regions::machines() {
            batch.insert_machine(guard, machine).expect("the same global state");
        }
        vec![Self::new(), batch]
    }

    fn write(&self, format: Format) -> Result<Vec<u8>, String> {
        format.write(&self.save(&book(), 4.9).map_err(|error| error.to_string())?)
    }

    fn load(saved: SavedBatch<Guard>) -> Result<Self, String> {
        Self::load(saved, &book(), 4.9).map_err(|error| error.to_string())
    }

    fn goes_on(mut self) -> Vec<String> {
        let digest = |batch: &Self| batch.digest(|guard, hasher| guard.number.hash(hasher));
        let wakes: Vec<_> = self.keys().map(|key| self.next_wake(key)).collect();
        let begins = format!("{} {} {wakes:?}", digest(&self), self.awake());
        let guards = go_on_together(&mut self, |batch, mut now| batch.update(&mut now));
        vec![begins, format!("{guards:?}"), digest(&self).to_string()]
    }

    fn put_to_use(mut self) {
        let keys: Vec<_> = self.keys().collect();
        assert_eq!(keys.len(), self.len());
        for now in [4.9, 5.0, 7.0, 100.0] {
            self.update(&mut { now });
            self.broadcast(&Told::Bell, &mut { now });
            self.insert(Guard::default(), &Idle);
        }
        for (nth, key) in keys.iter().enumerate() {
            assert!(self.contains_key(*key) && self.path(*key).is_some());
            match nth % 4 {
                0 => _ = self.pop_state(*key, &mut 101.0),
                1 => _ = self.revert_state(*key, &mut 101.0),
                2 => _ = self.resume_state(*key, &Combat, &mut 101.0),
                _ => assert!(self.remove(*key).is_some()),
            }
        }
        let mut clone = self.clone();
        clone.update_in_key_order(&mut 200.0);
        self.update(&mut 200.0);
        self.save(&book(), 200.0).unwrap();
    }
}

impl Host for Town {
    type Saved = SavedCast<u8, News>;

    fn all() -> Vec<Self> {
        let mut town = cast::town().with_dispatcher(Dispatcher::merging_within(0.25));
        // Only the miner has its turns, so that telegrams still wait for the wife.
        for _ in 0..4 {
            town.advance(Duration::from_millis(100));
            town.update_one(&1);
        }
        cast::panic_over_telegrams(&mut town);
        town.world.clear();
        town.send_after(0.2, 1, 2, News::Home { in_seconds: 3.0 });
        town.send_after(f64::INFINITY, 1, 2, News::StewReady);
        vec![Self::new(vec![]), town]
    }

    fn write(&self, format: Format) -> Result<Vec<u8>, String> {
        let book = cast::book().with_merging();
        format.write(&self.save(&book).map_err(|error| error.to_string())?)
    }

    fn load(saved: SavedCast<u8, News>) -> Result<Self, String> {
        Self::load(saved, &cast::book().with_merging(), vec![]).map_err(|error| error.to_string())
    }

    fn goes_on(mut self) -> Vec<String> {
        (0..20).for_each(|_| cast::tick(&mut self));
        [self.world.clone(), vec![format!("{:?}", self.dispatcher())]].concat()
    }
}

/// A kind of hosts.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// All of the kind, written down.
    pub(crate) write: fn(Format) -> Vec<Vec<u8>>,
    pub(crate) read: fn(Format, &[u8]) -> Result<(), String>,
}

pub(crate) const KINDS: [Kind; 4] = [
    Kind::of::<StateMachine<Guard>>("machine"),
    Kind::of::<Agent<Guard>>("agent"),
    Kind::of::<Batch<Guard>>("batch"),
    Kind::of::<Town>("cast"),
];

impl Kind {
    const fn of<H: Host>(name: &'static str) -> Self {
        Self {
            name,
            write: |format| H::all().iter().map(|host| host.write(format).unwrap()).collect(),
            read: |format, bytes| H::load(format.read(bytes)?).map(drop),
        }
    }
}
