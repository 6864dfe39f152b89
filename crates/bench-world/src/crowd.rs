//! The owners that are measured. They have 64 bytes each and two states; in each tick, one owner in a hundred changes state.

use std::hash::{Hash, Hasher};

use demeanor::{DigestHasher, Fsm, Owner, State, StateBook};
use demeanor_world::{Citizen, Post};
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Body<const MOVES: bool> {
    pub(crate) id: u64,
    pub(crate) home: u32,
    pub(crate) count: u32,
    rest: [u64; 6],
}

/// The work of the owners in a tick.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Work {
    pub(crate) owners: u64,
    pub(crate) shards: u32,
    /// Rounds of arithmetic in each update; ten take about 10 ns.
    pub(crate) heavy: u32,
    /// Whether each owner sends a telegram in each tick.
    pub(crate) writes: bool,
    /// One owner in `moves` moves in each tick; 0 if owners do not move.
    pub(crate) moves: u64,
}

pub(crate) struct Turn<'a, const MOVES: bool> {
    pub(crate) work: Work,
    pub(crate) tick: u64,
    /// The post of a world; `None` in a plain batch.
    pub(crate) post: Option<&'a mut Post<Body<MOVES>>>,
}

impl<const MOVES: bool> Owner for Body<MOVES> {
    type Context<'a> = Turn<'a, MOVES>;
    type Message = u64;
}

impl<const MOVES: bool> Citizen for Body<MOVES> {
    const MOVES: bool = MOVES;

    fn id(&self) -> u64 {
        self.id
    }

    fn home(&self) -> u32 {
        self.home
    }

    fn digest(&self, hasher: &mut DigestHasher) {
        self.count.hash(hasher);
        hasher.write_u64(self.rest[0]);
    }
}

pub(crate) struct Walk;
pub(crate) struct Rest;

impl<const MOVES: bool> Body<MOVES> {
    /// Returns the owners of a shard. Owners with neighboring numbers are in different shards.
    pub(crate) fn first_of(shard: u32, work: Work) -> impl Iterator<Item = Self> {
        let ids = (u64::from(shard)..work.owners).step_by(work.shards as usize);
        ids.map(move |id| Self { id, home: shard, count: u32::try_from(id % 100).unwrap_or(0), rest: [0; 6] })
    }

    #[inline]
    fn act(&mut self, turn: &mut Turn<'_, MOVES>) -> bool {
        self.count += 1;
        let mut sum = self.rest[0];
        for _ in 0..turn.work.heavy {
            sum = (sum ^ self.id).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17);
        }
        self.rest[0] = sum;
        let work = turn.work;
        if work.moves > 0 && (self.id + turn.tick).is_multiple_of(work.moves) {
            self.home = (self.home + 1) % work.shards;
        }
        if work.writes
            && let Some(post) = &mut turn.post
        {
            let receiver = (self.id + turn.tick * 7919 + 1) % work.owners;
            post.send(self, receiver, turn.tick);
        }
        self.count.is_multiple_of(100)
    }
}

impl<const MOVES: bool> State<Body<MOVES>> for Walk {
    fn update(&self, body: &mut Body<MOVES>, fsm: &mut Fsm<'_, Body<MOVES>>, turn: &mut Turn<'_, MOVES>) {
        if body.act(turn) {
            fsm.change_state(&Rest);
        }
    }

    fn on_message(
        &self,
        body: &mut Body<MOVES>,
        what: &u64,
        _: &mut Fsm<'_, Body<MOVES>>,
        _: &mut Turn<'_, MOVES>,
    ) -> bool {
        body.rest[1] += what;
        true
    }
}

impl<const MOVES: bool> State<Body<MOVES>> for Rest {
    fn update(&self, body: &mut Body<MOVES>, fsm: &mut Fsm<'_, Body<MOVES>>, turn: &mut Turn<'_, MOVES>) {
        if body.act(turn) {
            fsm.change_state(&Walk);
        }
    }

    fn on_message(
        &self,
        body: &mut Body<MOVES>,
        what: &u64,
        _: &mut Fsm<'_, Body<MOVES>>,
        _: &mut Turn<'_, MOVES>,
    ) -> bool {
        body.rest[2] += what;
        true
    }
}

pub(crate) fn book<const MOVES: bool>() -> StateBook<Body<MOVES>> {
    StateBook::new().with(&Walk).with(&Rest)
}
