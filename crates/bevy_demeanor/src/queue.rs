//! The queue of consequences, such as markers and events: one queue in the world, for the machines of all owners.
//!
//! A pass or a command adds an entry with its consequences. The queue carries out the entries one after the other, each to its
//! end. Bevy runs an observer's commands as soon as the observer has returned, in the middle of an entry; the consequences of
//! these commands go to the end of the queue. So all events come in the order in which the changes happened, and observers that
//! change states do not call each other recursively.

use core::any::type_name;
use core::{fmt, mem};
use std::collections::VecDeque;
use std::sync::Weak;

use bevy_ecs::entity::{Entity, EntityHashSet};
use bevy_ecs::resource::Resource;
use bevy_ecs::world::{CommandQueue, World};
use demeanor::Owner;
use log::error;

use crate::machine::Machine;
use crate::named_entity::NamedEntity;
use crate::owner::EntityOwner;

/// The longest chain of changes in which each is requested because of the previous one. As in rule 13, a longer one is a cycle.
///
/// The limit of rule 13 is no measure for it: that one belongs to a single machine, and a chain can lead through many, each with a
/// limit of its own. It would also be too high. Ten thousand machines in a cycle make 640 000 changes before they reach 64 links each,
/// with their observers and commands; before 4000 links, they would make 40 million, all in one frame.
const LONGEST_CHAIN: u32 = 64;

/// The consequences of a pass or a command.
pub(crate) trait Followed: Send + Sync {
    /// Carries out the next part of the consequences. Returns whether there was any. The functions that it calls may do
    /// anything to the world.
    fn go_on(&mut self, world: &mut World) -> bool;
}

/// The consequences that have not been carried out yet.
#[derive(Resource, Default)]
pub(crate) struct Queue {
    waiting: VecDeque<(u32, Box<dyn Followed>)>,
    /// Whether the queue is being carried out.
    is_carried_out: bool,
    /// Whether the commands of a machine's callbacks are being applied. Their consequences come after those of the machine.
    is_held: bool,
    /// Each is alive while the commands of a pass are being applied. One of these commands may run another pass.
    held_by: Vec<Weak<()>>,
    /// Length of the chain of changes from a system of the game to the current entry. Each change is the reason for the next.
    chain: Option<u32>,
    /// The machines that have been reached since the queue was last empty.
    reached: Reached,
}

/// Counts of the machines that were reached from outside, and as a consequence, since the queue was last empty.
#[derive(Default)]
struct Reached {
    from_outside: usize,
    in_chains: EntityHashSet,
    times_in_chains: usize,
    /// The last states that machines have entered, recorded when there may be a cycle.
    trail: VecDeque<(Entity, String)>,
    has_complained: bool,
}

impl Reached {
    /// Returns how often machines may be reached in chains. A change that causes two others does not need a long chain to go on
    /// forever. The number never falls while it is counted.
    fn most(&self) -> usize {
        let longest = LONGEST_CHAIN as usize;
        // An observer may send many messages to few machines.
        longest * (self.from_outside + self.in_chains.len()).max(longest)
    }
}

/// The largest number of states that the error names.
const TRAIL: usize = 16;

impl Queue {
    /// Returns the length of the chain for a change that is requested now.
    fn next_in_chain(&self) -> u32 {
        self.chain.map_or(0, |chain| chain + 1)
    }

    /// Returns whether a change that is requested now is part of a cycle.
    pub(crate) fn is_cycle(&self) -> bool {
        self.next_in_chain() > LONGEST_CHAIN || self.reached.times_in_chains >= self.reached.most()
    }

    /// Returns whether no cycle is suspected, so that states need not be recorded. Twice as many are recorded as the error names.
    fn is_usual(&self) -> bool {
        let is_far = self.reached.times_in_chains + 2 * TRAIL < self.reached.most();
        self.next_in_chain() < LONGEST_CHAIN / 2 && is_far
    }

    /// Counts a machine that is reached. Returns `false` if it is part of a cycle.
    fn admit(&mut self, entity: Entity) -> bool {
        self.rest();
        if self.chain.is_none() {
            self.reached.from_outside += 1;
            return true;
        }
        if self.is_cycle() {
            return false;
        }
        self.reached.in_chains.insert(entity);
        self.reached.times_in_chains += 1;
        true
    }

    fn rest(&mut self) {
        if self.waiting.is_empty() && !self.is_carried_out && self.chain.is_none() {
            self.reached = Reached::default();
        }
    }
}

/// Adds the consequences of the steps of a pass over `machines` machines.
pub(crate) fn put_in(world: &mut World, machines: usize, followed: Box<dyn Followed>) {
    let mut queue = world.get_resource_or_init::<Queue>();
    queue.rest();
    let chain = queue.next_in_chain();
    queue.reached.from_outside += machines;
    queue.waiting.push_back((chain, followed));
}

/// Adds the consequences of the insertion or removal of a component, and carries out the queue.
pub(crate) fn put_in_for<T: Owner>(world: &mut World, entity: Entity, followed: Box<dyn Followed>) {
    let mut queue = world.get_resource_or_init::<Queue>();
    if !queue.admit(entity) {
        return complain(world, entity, format_args!("a component of {} that came or went is", type_name::<T>()));
    }
    let chain = queue.next_in_chain();
    queue.waiting.push_back((chain, followed));
    note::<T>(world, entity);
    carry_out(world);
}

const EXIT: &str = "exit on removal";

/// Adds the consequences of an `exit` on removal, applies the commands that it has recorded, and carries out the queue.
pub(crate) fn put_in_exit<T: EntityOwner>(
    world: &mut World,
    entity: Entity,
    followed: Option<Box<dyn Followed>>,
    mut recorded: CommandQueue,
) {
    let entities = [entity];
    let (mut reaching, admitted) = Reaching::new::<T>(world, &entities, EXIT);
    if !admitted.is_empty() {
        reaching.put_in::<T>(admitted, followed);
        recorded.apply(reaching.world);
    }
    drop(reaching);
    carry_out(world);
}

/// Logs that an `exit` on removal is not called, because it is part of a cycle.
pub(crate) fn refuse_exit<T: EntityOwner>(world: &mut World, entity: Entity) {
    complain(world, entity, format_args!("{EXIT} of {} is", type_name::<T>()));
}

/// Records the state of a machine, if an error may soon have to name it.
fn note<T: Owner>(world: &mut World, entity: Entity) {
    if world.get_resource::<Queue>().is_none_or(Queue::is_usual) {
        return;
    }
    let state = world.get::<Machine<T>>(entity).and_then(|machine| machine.current());
    let Some(name) = state.map(|state| state.name().into_owned()) else { return };
    let trail = &mut world.get_resource_or_init::<Queue>().into_inner().reached.trail;
    if trail.len() == TRAIL {
        trail.pop_front();
    }
    trail.push_back((entity, name));
}

/// Carries out the queue, unless this is already happening or the queue is held.
pub(crate) fn carry_out(world: &mut World) {
    loop {
        let Some(mut queue) = world.get_resource_mut::<Queue>() else { return };
        if queue.is_carried_out || queue.is_held || queue.held_by.iter().any(is_alive) {
            return;
        }
        let Some((chain, followed)) = queue.waiting.pop_front() else { return queue.rest() };
        queue.is_carried_out = true;
        queue.chain = Some(chain);
        let mut under_way = UnderWay { world, chain, followed: Some(followed) };
        under_way.finish();
    }
}

/// Holds the queue as long as `held_by` lives: until the commands of a pass's callbacks have been applied, or dropped after a
/// panic. The consequences of these commands come after those of the pass.
pub(crate) fn hold(world: &mut World, held_by: Weak<()>) {
    let held = &mut world.get_resource_or_init::<Queue>().into_inner().held_by;
    held.retain(is_alive);
    held.push(held_by);
}

fn is_alive(held_by: &Weak<()>) -> bool {
    held_by.strong_count() > 0
}

/// Holds the queue until `f` has returned, and then carries out the consequences.
#[cfg(feature = "reflect")]
pub(crate) fn carry_out_after(world: &mut World, f: impl FnOnce(&mut World)) {
    struct Held<'w>(&'w mut World, bool);
    impl Drop for Held<'_> {
        fn drop(&mut self) {
            self.0.get_resource_or_init::<Queue>().is_held = self.1;
        }
    }
    let was_held = mem::replace(&mut world.get_resource_or_init::<Queue>().is_held, true);
    f(Held(world, was_held).0);
    carry_out(world);
}

/// An entry of the queue that is being carried out. If an observer panics, the next call that carries out the queue continues
/// the entry.
struct UnderWay<'w> {
    world: &'w mut World,
    chain: u32,
    followed: Option<Box<dyn Followed>>,
}

impl UnderWay<'_> {
    fn finish(&mut self) {
        while self.followed.as_mut().is_some_and(|followed| followed.go_on(self.world)) {}
        self.followed = None;
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let Some(mut queue) = self.world.get_resource_mut::<Queue>() else { return };
        queue.is_carried_out = false;
        queue.chain = None;
        if let Some(rest) = self.followed.take() {
            queue.waiting.push_front((self.chain, rest));
        }
    }
}

/// The machines that a command reaches, until the commands of their callbacks have been applied.
pub(crate) struct Reaching<'w> {
    pub(crate) world: &'w mut World,
    before: Option<u32>,
    was_held: bool,
}

impl<'w> Reaching<'w> {
    /// Returns the entities that may be reached: all before the first one that is part of a cycle (rule 13). The first one is
    /// logged.
    pub(crate) fn new<'e, T: EntityOwner>(
        world: &'w mut World,
        entities: &'e [Entity],
        command: &str,
    ) -> (Self, &'e [Entity]) {
        let mut queue = world.get_resource_or_init::<Queue>();
        let admitted = entities.iter().take_while(|entity| queue.admit(**entity)).count();
        let (before, was_held) = (queue.chain, queue.is_held);
        if let Some(refused) = entities.get(admitted) {
            complain(world, *refused, format_args!("{command} of {} is", type_name::<T>()));
        }
        (Self { world, before, was_held }, &entities[..admitted])
    }

    /// Adds the consequences of the machines' steps. Until `self` is dropped, the queue is held, and new requests are
    /// consequences of this command.
    pub(crate) fn put_in<T: EntityOwner>(&mut self, entities: &[Entity], followed: Option<Box<dyn Followed>>) {
        for entity in entities {
            note::<T>(self.world, *entity);
        }
        let mut queue = self.world.get_resource_or_init::<Queue>();
        let chain = queue.next_in_chain();
        queue.waiting.extend(followed.map(|followed| (chain, followed)));
        queue.chain = Some(chain);
        queue.is_held = true;
    }
}

impl Drop for Reaching<'_> {
    fn drop(&mut self) {
        if let Some(mut queue) = self.world.get_resource_mut::<Queue>() {
            queue.chain = self.before;
            queue.is_held = self.was_held;
        }
    }
}

/// Logs a cycle, with the states that a machine has passed through.
fn complain(world: &mut World, entity: Entity, what: fmt::Arguments<'_>) {
    let who = NamedEntity::of(entity, world).to_string();
    let mut queue = world.get_resource_or_init::<Queue>();
    if mem::replace(&mut queue.reached.has_complained, true) {
        return;
    }
    let of_it = queue.reached.trail.iter().filter(|(of, _)| *of == entity);
    let states: Vec<&str> = of_it.map(|(_, state)| &**state).collect();
    error!(
        "{who}: {what} ignored, as is all that follows: observers and commands have led from one change of \
         state to the next without end, most recently through {}",
        states.join(" -> "),
    );
}
