//! The interface between villagers and the post: the post of a world, or a simple one that stores everything in one list.

use std::collections::BTreeMap;

use demeanor::StateRef;
use demeanor_world::{Post, random};
use oorandom::Rand64;

use super::{Letter, SEED, Villager};

pub(crate) trait Office {
    fn send(&mut self, sender: &Villager, receiver: u64, letter: Letter);
    fn spawn(&mut self, child: Villager, state: StateRef<Villager>);
    fn remove(&mut self, villager: &Villager);
    fn random(&self, villager: &Villager, purpose: u64) -> Rand64;
    fn returned(&self, villager: &Villager) -> Vec<u64>;
}

impl Office for Post<Villager> {
    fn send(&mut self, sender: &Villager, receiver: u64, letter: Letter) {
        Post::send(self, sender, receiver, letter);
    }

    fn spawn(&mut self, child: Villager, state: StateRef<Villager>) {
        Post::spawn(self, child, state);
    }

    fn remove(&mut self, villager: &Villager) {
        Post::remove(self, villager);
    }

    fn random(&self, villager: &Villager, purpose: u64) -> Rand64 {
        self.random_for(villager, purpose)
    }

    fn returned(&self, villager: &Villager) -> Vec<u64> {
        Post::returned(self, villager).to_vec()
    }
}

/// The simplest post office.
#[derive(Default)]
pub(crate) struct Simple {
    pub(crate) tick: u64,
    /// Sender, receiver and letter, in the order of sending.
    pub(crate) letters: Vec<(u64, u64, Letter)>,
    pub(crate) born: Vec<(Villager, StateRef<Villager>)>,
    pub(crate) dead: Vec<u64>,
    pub(crate) returned: BTreeMap<u64, Vec<u64>>,
}

impl Simple {
    /// Returns the letters to living villagers, sorted by receiver, then by sender, and stores the others as returned.
    pub(crate) fn sorted(&mut self, lives: impl Fn(u64) -> bool) -> Vec<(u64, Letter)> {
        let mut letters = std::mem::take(&mut self.letters);
        letters.sort_by_key(|(sender, receiver, _)| (*receiver, *sender));
        self.returned.clear();
        let mut delivered = Vec::new();
        for (sender, receiver, letter) in letters {
            if lives(receiver) {
                delivered.push((receiver, letter));
            } else {
                self.returned.entry(sender).or_default().push(receiver);
            }
        }
        delivered
    }
}

impl Office for Simple {
    fn send(&mut self, sender: &Villager, receiver: u64, letter: Letter) {
        self.letters.push((sender.id, receiver, letter));
    }

    fn spawn(&mut self, child: Villager, state: StateRef<Villager>) {
        self.born.push((child, state));
    }

    fn remove(&mut self, villager: &Villager) {
        self.dead.push(villager.id);
    }

    fn random(&self, villager: &Villager, purpose: u64) -> Rand64 {
        random(SEED, villager.id, self.tick, purpose)
    }

    fn returned(&self, villager: &Villager) -> Vec<u64> {
        self.returned.get(&villager.id).cloned().unwrap_or_default()
    }
}
