//! The order in which whatever follows machines is brought into step with them: one queue in the world, for the machines of all
//! owners.
//!
//! A pass or a command puts in what it has led to. It is carried out bit by bit, to the end, before the next is. Bevy carries out
//! an observer's commands as soon as the observer has returned, before it goes on with what the observer was told of; what these
//! lead to goes to the end of the queue. So everything is told in the order in which it happened, and observers that change
//! states in turn do not call each other ever deeper.

use core::any::type_name;
use core::{fmt, mem};
use std::collections::VecDeque;
use std::sync::Weak;

use bevy_ecs::entity::{Entity, EntityHashSet};
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use demeanor::Owner;
use log::error;

use crate::machine::Machine;
use crate::named_entity::NamedEntity;
use crate::owner::EntityOwner;

/// The longest chain of changes, each asked for because of the one before (rule 13).
const LONGEST_CHAIN: u32 = 64;

/// What a pass or a command has led to.
pub(crate) trait Followed: Send + Sync {
    /// Brings the next bit of what follows into step. Returns whether there was any. Whatever is called here may do anything to
    /// the world.
    fn go_on(&mut self, world: &mut World) -> bool;
}

/// What is to be brought into step with machines.
#[derive(Resource, Default)]
pub(crate) struct Queue {
    waiting: VecDeque<(u32, Box<dyn Followed>)>,
    /// Whether it is being carried out.
    is_carried_out: bool,
    /// Whether the commands of one machine's callbacks are being applied, whose consequences come after it.
    is_held: bool,
    /// Lives as long as those of a pass are being applied.
    held_by: Weak<()>,
    /// How many changes lie between a system of the game and what is under way, each the reason for the next.
    chain: Option<u32>,
    /// Whether machines have been reached since there was nothing to do.
    reached: Reached,
}

/// Who has been reached since there was nothing to do, from outside and by what that has led to.
#[derive(Default)]
struct Reached {
    from_outside: usize,
    in_chains: EntityHashSet,
    times_in_chains: usize,
    /// In which states machines have come to be lately, once that looks like a cycle.
    trail: VecDeque<(Entity, String)>,
    has_complained: bool,
}

/// How many states the error names at most.
const TRAIL: usize = 16;

impl Queue {
    /// The length of the chain that whatever is asked for now belongs to.
    fn next_in_chain(&self) -> u32 {
        self.chain.map_or(0, |chain| chain + 1)
    }

    /// Whether what is asked for now belongs to a cycle.
    fn is_cycle(&self) -> bool {
        let machines = self.reached.from_outside + self.reached.in_chains.len();
        // One that asks for two changes at once needs no long chain to go on for ever.
        self.next_in_chain() > LONGEST_CHAIN || self.reached.times_in_chains >= LONGEST_CHAIN as usize * machines.max(1)
    }

    /// Whether no error is near that would have to name states.
    fn is_usual(&self) -> bool {
        self.next_in_chain() < LONGEST_CHAIN / 2 && self.reached.times_in_chains < LONGEST_CHAIN as usize / 2
    }

    /// Counts one who is reached. Returns whether that is no part of a cycle.
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

/// Puts in what the steps of a pass over a number of machines have led to.
pub(crate) fn put_in(world: &mut World, machines: usize, followed: Box<dyn Followed>) {
    let mut queue = world.get_resource_or_init::<Queue>();
    queue.rest();
    let chain = queue.next_in_chain();
    queue.reached.from_outside += machines;
    queue.waiting.push_back((chain, followed));
}

/// Puts in what the insertion or removal of a component has led to, and carries it out in its turn.
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

/// Notes where a machine is, if there may soon be an error to name it.
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

/// Carries out what is there, unless that is under way already, or is to wait.
pub(crate) fn carry_out(world: &mut World) {
    loop {
        let Some(mut queue) = world.get_resource_mut::<Queue>() else { return };
        if queue.is_carried_out || queue.is_held || queue.held_by.strong_count() > 0 {
            return;
        }
        let Some((chain, followed)) = queue.waiting.pop_front() else { return queue.rest() };
        queue.is_carried_out = true;
        queue.chain = Some(chain);
        let mut under_way = UnderWay { world, chain, followed: Some(followed) };
        under_way.finish();
    }
}

/// Has what follows wait as long as `held_by` lives: until the commands of a pass's callbacks have been applied, or dropped after
/// a panic. What these lead to has its place behind what the pass has led to.
pub(crate) fn hold(world: &mut World, held_by: Weak<()>) {
    world.get_resource_or_init::<Queue>().held_by = held_by;
}

/// Has what `f` leads to wait until it has returned, and carries it out then.
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

/// One entry of the queue. If an observer panics, the rest of it is left to the next call that carries out the queue.
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

/// Machines that are being reached by a command, until what their callbacks have commanded is applied.
pub(crate) struct Reaching<'w> {
    pub(crate) world: &'w mut World,
    before: Option<u32>,
    was_held: bool,
}

impl<'w> Reaching<'w> {
    /// Returns who of the entities may be reached, from the first on: all before the one that is part of a cycle (rule 13); the
    /// first of it is logged.
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

    /// Puts in what the machines' steps have led to. Until `self` is dropped, it waits, and what is asked for is its consequence.
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

/// Logs a cycle, by the states through which a machine has gone.
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
