//! The game: a tick of all creatures, then their actions on each other.

use std::collections::BTreeMap;
use std::mem;

use oorandom::Rand64;

use super::creature::{Creature, Id, Side, Told};
use super::crowd::{Crowd, Kind, deal};
use super::halls::{Halls, distance};
use super::world::{Deed, Sighting, TICKS_PER_SECOND, View, World};

/// The ticks between two strikes of the abbey's bell.
const HOUR: u32 = 50 * TICKS_PER_SECOND;

pub(crate) struct Game {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) world: World,
    pub(crate) crowd: Crowd,
    /// The kind of each creature, by its id.
    pub(crate) kind_of: Vec<usize>,
    /// The actions that messages have caused. They happen after the next tick.
    reactions: Vec<(Id, Deed)>,
    /// The counts of each kind.
    pub(crate) counts: Vec<Counts>,
}

/// Counts of the events of a kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    /// How often each message was sent, in the order of [`Told::NAMES`], and how often it was handled.
    pub(crate) told: [(u32, u32); Told::NAMES.len()],
    /// The seconds that the creatures have spent in each state.
    pub(crate) seconds: BTreeMap<String, u32>,
}

impl Game {
    /// Creates the creatures of all kinds, and distributes them among the halls.
    pub(crate) fn new(kinds: Vec<Kind>, creatures: usize, seed: u64, is_batched: bool) -> Self {
        let kind_of = deal(&kinds, creatures);
        let world = World::new(Halls::for_creatures(kind_of.len()));
        let mut dice = Rand64::new(seed.into());
        let halls = u64::try_from(world.halls.count()).unwrap_or(u64::MAX);
        let born = kind_of.iter().enumerate().map(|(id, kind)| {
            // The abbey gets the first of two random halls, and the brood the last. So most of the abbey's creatures are in the
            // first rows, and most of the brood in the last.
            let two = [0, 1].map(|_| usize::try_from(dice.rand_range(0..halls)).unwrap_or(0));
            let [first, last] = [two[0].min(two[1]), two[0].max(two[1])];
            let hall = if kinds[*kind].side == Side::Abbey { first } else { last };
            let at = world.halls.place_in(hall, dice.rand_float(), dice.rand_float());
            (Creature::new(id, at, seed), *kind)
        });
        let born = born.collect();
        let mut view = View::new(&world);
        let crowd = Crowd::new(born, &kinds, is_batched, &mut view);
        let reactions = view.deeds;
        let counts = vec![Counts::default(); kinds.len()];
        Self { kinds, world, crowd, kind_of, reactions, counts }
    }

    pub(crate) fn tick(&mut self) {
        self.world.tick += 1;
        let seen: Vec<Sighting> = self.crowd.creatures().map(|creature| creature.sighting(&self.world)).collect();
        self.world.see(seen);

        let mut deeds = mem::take(&mut self.reactions);
        deeds.extend(self.crowd.update(&self.world));
        // The sort is stable: the actions of one creature stay in order.
        deeds.sort_by_key(|(by, _)| *by);
        for (by, deed) in deeds {
            self.carry_out(by, deed);
        }
        if self.world.tick % HOUR == 0 {
            let tolls = 1 + (self.world.tick / HOUR - 1) % 12;
            for id in 0..self.crowd.len() {
                self.tell(id, Told::Bell { tolls });
            }
        }
        if self.world.tick % TICKS_PER_SECOND == 0 {
            self.count_states();
        }
    }

    fn carry_out(&mut self, by: Id, deed: Deed) {
        let Sighting { at, hall, side, .. } = self.world.seen[by];
        match deed {
            Deed::Blow { to, damage } => self.hit(by, to, damage, false),
            Deed::Blast { radius, damage, is_fire } => {
                for to in self.near(by, [hall], radius) {
                    let other = &self.world.seen[to];
                    if other.side != side || other.is_corpse() {
                        self.hit(by, to, damage, is_fire);
                    }
                }
            }
            Deed::Noise { loudness } => {
                for to in self.near(by, self.world.halls.around(hall), loudness) {
                    let distance = distance(self.world.seen[to].at, at);
                    let hears = self.crowd.creature_mut(to);
                    if hears.is_alive() {
                        if hears.enemy_seen(&self.world).is_none() {
                            hears.trail = at;
                        }
                        self.tell(to, Told::Noise { loudness, distance });
                    }
                }
            }
            Deed::Fright { strength, radius } => {
                for to in self.near(by, [hall], radius) {
                    if self.world.seen[to].side != side && self.crowd.creature(to).is_alive() {
                        let distance = distance(self.world.seen[to].at, at);
                        self.tell(to, Told::Dread { strength, distance });
                    }
                }
            }
            Deed::Raise { corpse } => {
                let distance = distance(self.world.seen[corpse].at, at);
                self.tell(corpse, Told::Raise { distance });
            }
        }
    }

    /// Returns the other creatures in these halls that are within `radius` of a creature.
    fn near(&self, by: Id, halls: impl IntoIterator<Item = usize>, radius: f64) -> Vec<Id> {
        let seen = &self.world.seen;
        let all = halls.into_iter().flat_map(|hall| self.world.in_hall(hall)).copied();
        all.filter(|id| *id != by && distance(seen[*id].at, seen[by].at) <= radius).collect()
    }

    fn hit(&mut self, by: Id, to: Id, damage: f64, is_fire: bool) {
        let hurt = self.crowd.creature_mut(to);
        let was_alive = hurt.is_alive();
        let damage = (damage - hurt.body.armor - hurt.brace).max(0.5);
        if was_alive {
            hurt.health = (hurt.health - damage).max(0.0);
        }
        if was_alive && !hurt.is_alive() {
            self.crowd.creature_mut(by).kills += 1;
            self.tell(to, Told::Killed { damage });
        } else {
            self.tell(to, Told::Hit { damage, is_fire });
        }
    }

    fn tell(&mut self, to: Id, told: Told) {
        let mut view = View::new(&self.world);
        let is_heard = self.crowd.send(to, &told, &mut view);
        self.reactions.extend(view.deeds);
        let (times, heard) = &mut self.counts[self.kind_of[to]].told[told.index()];
        *times += 1;
        *heard += u32::from(is_heard);
    }

    fn count_states(&mut self) {
        for (id, kind) in self.kind_of.iter().enumerate() {
            let Some(state) = self.crowd.state(id) else { continue };
            let (name, seconds) = (state.name(), &mut self.counts[*kind].seconds);
            match seconds.get_mut(outermost(&name)) {
                Some(seconds) => *seconds += 1,
                None => _ = seconds.insert(outermost(&name).to_owned(), 1),
            }
        }
    }
}

/// Returns the outermost state of a state's name: `hunt` of `hunt.left foot`.
pub(crate) fn outermost(name: &str) -> &str {
    name.split_once('.').map_or(name, |(outermost, _)| outermost)
}
