//! The same village without a world: in one batch, and with one machine per villager. It uses one thread, one process and no
//! shards.

use std::collections::BTreeMap;

use demeanor::{Agent, Batch, Key, StateMachine};
use demeanor_world::digest;

use super::office::Simple;
use super::{Day, Oddity, Villager, first_of, global};

/// Returns the digest after each tick, of all villagers in one batch.
pub(crate) fn one_batch(shards: u32, ticks: u64) -> Vec<(u64, u64)> {
    let mut batch = Batch::<Villager>::new().with_global(global());
    let mut keys: BTreeMap<u64, Key> = BTreeMap::new();
    let mut office =
        Simple { born: (0..shards).flat_map(|shard| first_of(shard, shards)).collect(), ..Simple::default() };
    let mut digests = Vec::new();
    for tick in 0..ticks {
        let mut born = std::mem::take(&mut office.born);
        born.sort_by_key(|(villager, _)| villager.id);
        let ids: Vec<u64> = born.iter().map(|(villager, _)| villager.id).collect();
        let letters = office.sorted(|id| keys.contains_key(&id) || ids.binary_search(&id).is_ok());
        office.tick = tick;
        let mut day = Day { tick, shards, office: &mut office, oddity: Oddity::None };
        for (villager, state) in born {
            let id = villager.id;
            keys.insert(id, batch.spawn(villager, state, &mut day));
        }
        for (receiver, letter) in letters {
            batch.send(keys[&receiver], &letter, &mut day);
        }
        batch.update(&mut day);
        for id in std::mem::take(&mut office.dead) {
            batch.remove(keys.remove(&id).unwrap());
        }
        digests.push((tick, digest(&batch)));
    }
    digests
}

/// Returns the digest after each tick, of one machine per villager, updated in the order of their ids.
pub(crate) fn naive(shards: u32, ticks: u64) -> Vec<(u64, u64)> {
    let mut agents: BTreeMap<u64, Agent<Villager>> = BTreeMap::new();
    let mut office =
        Simple { born: (0..shards).flat_map(|shard| first_of(shard, shards)).collect(), ..Simple::default() };
    let mut digests = Vec::new();
    for tick in 0..ticks {
        let born = std::mem::take(&mut office.born);
        let ids: Vec<u64> = born.iter().map(|(villager, _)| villager.id).collect();
        for (villager, state) in born {
            let machine = StateMachine::new(state).with_global(global());
            agents.insert(villager.id, Agent::new(villager, machine));
        }
        let letters = office.sorted(|id| agents.contains_key(&id));
        office.tick = tick;
        let mut day = Day { tick, shards, office: &mut office, oddity: Oddity::None };
        for id in ids {
            agents.get_mut(&id).unwrap().start(&mut day);
        }
        for (receiver, letter) in letters {
            agents.get_mut(&receiver).unwrap().send(&letter, &mut day);
        }
        for agent in agents.values_mut() {
            agent.update(&mut day);
        }
        for id in std::mem::take(&mut office.dead) {
            agents.remove(&id);
        }
        let mut batch = Batch::<Villager>::new().with_global(global());
        for agent in agents.values() {
            let (villager, machine) = agent.clone().into_parts();
            batch.insert_machine(villager, machine).unwrap();
        }
        digests.push((tick, digest(&batch)));
    }
    digests
}
