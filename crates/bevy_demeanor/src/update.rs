//! The pass: one update of each entity's machine.

use core::any::type_name;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use bevy_ecs::change_detection::{ContiguousComponentTicksMut, ContiguousMut, DetectChangesMut, Tick};
use bevy_ecs::entity::{Entities, Entity, EntityAllocator, EntityHashSet};
use bevy_ecs::name::Name;
use bevy_ecs::query::{With, Without};
use bevy_ecs::system::{Commands, Local, ParamSet, Query, Res};
use bevy_ecs::world::{CommandQueue, World};
use bevy_tasks::{ComputeTaskPool, TaskPool};
use demeanor::Owner;
use log::warn;

use crate::follow::{Followers, Log};
use crate::machine::Machine;
use crate::owner::{EntityOwner, ParallelOwner};

/// How many entities share a context in a parallel pass. It decides the order of commands and events, so it must not depend
/// on the number of threads.
const CHUNK: usize = 1024;

/// Updates the machines of all entities, one after the other.
pub(crate) fn update_machines<T: EntityOwner>(
    mut machines: Query<(Entity, &mut T, &mut Machine<T>)>,
    mut param: ParamSet<(T::Param,)>,
    mut commands: Commands,
    followers: Res<Followers<T>>,
    mut log: Local<Log<T>>,
) {
    // What a pass that panicked has left.
    log.close();
    update_in_order(&mut machines, &mut param, commands.reborrow(), followers.is_anybody().then_some(&mut *log));
    queue_following(&mut log, &mut commands);
}

/// Updates the machines of all entities, in chunks, on all threads.
pub(crate) fn update_machines_in_parallel<T: ParallelOwner + Send>(
    mut machines: Query<(Entity, &mut T, &mut Machine<T>)>,
    mut param: ParamSet<(T::Param,)>,
    mut commands: Commands,
    (allocator, entities): (&EntityAllocator, &Entities),
    followers: Res<Followers<T>>,
    mut log: Local<Log<T>>,
    mut outcomes: Local<Vec<Outcome<T>>>,
) where
    for<'a> T::Context<'a>: Send,
{
    // What a pass that panicked has left.
    log.close();
    outcomes.iter_mut().for_each(|outcome| outcome.log.close());
    let is_followed = followers.is_anybody();
    if let Ok(iter) = machines.contiguous_iter_mut() {
        let mut tables: Vec<Table<T>> = iter.map(Table::new).collect();
        let chunks: Vec<Rows<T>> = tables.iter_mut().flat_map(|table| table.rows().chunks()).collect();
        if outcomes.len() < chunks.len() {
            outcomes.resize_with(chunks.len(), Outcome::default);
        }
        let param = param.p0();
        // A pool without threads would wait for ever for a task that panicked.
        let panics = ComputeTaskPool::get_or_init(TaskPool::default).scope(|scope| {
            for (rows, outcome) in chunks.into_iter().zip(outcomes.iter_mut()) {
                let commands = Commands::new_from_entities(&mut outcome.commands, allocator, entities);
                let mut cx = T::shared_context(&param, commands);
                let log = is_followed.then_some(&mut outcome.log);
                scope.spawn(async move { catch_unwind(AssertUnwindSafe(|| rows.update(&mut cx, log))).err() });
            }
        });
        if let Some(panic) = panics.into_iter().flatten().next() {
            resume_unwind(panic);
        }
    } else {
        // The owner lies in a sparse set, where there are no chunks to take.
        update_in_order(&mut machines, &mut param, commands.reborrow(), is_followed.then_some(&mut *log));
    }
    for outcome in &mut *outcomes {
        commands.append(&mut outcome.commands);
        log.append(&mut outcome.log);
    }
    queue_following(&mut log, &mut commands);
}

/// What the updates of a chunk have led to.
pub(crate) struct Outcome<T: Owner> {
    commands: CommandQueue,
    log: Log<T>,
}

impl<T: Owner> Default for Outcome<T> {
    fn default() -> Self {
        Self { commands: CommandQueue::default(), log: Log::default() }
    }
}

fn queue_following<T: Owner>(log: &mut Log<T>, commands: &mut Commands) {
    if let Some(log) = log.take() {
        commands.queue(|world: &mut World| log.follow(world));
    }
}

fn update_in_order<T: EntityOwner>(
    machines: &mut Query<(Entity, &mut T, &mut Machine<T>)>,
    param: &mut ParamSet<(T::Param,)>,
    mut commands: Commands,
    mut log: Option<&mut Log<T>>,
) {
    let mut cx = T::context(param.p0(), commands.reborrow());
    if let Ok(tables) = machines.contiguous_iter_mut() {
        for table in tables {
            Table::new(table).rows().update(&mut cx, log.as_deref_mut());
        }
        return;
    }
    for (entity, mut owner, mut machine) in machines {
        if update_one::<T>(entity, &mut owner, machine.bypass_change_detection(), &mut cx, log.as_deref_mut()) {
            machine.set_changed();
        }
    }
}

/// The columns of one of Bevy's tables.
struct Table<'w, T: EntityOwner> {
    entities: &'w [Entity],
    owners: &'w mut [T],
    machines: &'w mut [Machine<T>],
    ticks: ContiguousComponentTicksMut<'w>,
}

impl<'w, T: EntityOwner> Table<'w, T> {
    fn new((entities, owners, machines): (&'w [Entity], ContiguousMut<'w, T>, ContiguousMut<'w, Machine<T>>)) -> Self {
        let (owners, _) = ContiguousMut::split(owners);
        let (machines, ticks) = ContiguousMut::bypass_change_detection_split(machines);
        Self { entities, owners, machines, ticks }
    }

    fn rows(&mut self) -> Rows<'_, T> {
        let now = self.ticks.this_run();
        Rows {
            entities: self.entities,
            owners: self.owners,
            machines: self.machines,
            changed: self.ticks.changed_mut(),
            now,
        }
    }
}

/// Some of a table's rows.
struct Rows<'w, T: EntityOwner> {
    entities: &'w [Entity],
    owners: &'w mut [T],
    machines: &'w mut [Machine<T>],
    changed: &'w mut [Tick],
    now: Tick,
}

impl<'w, T: EntityOwner> Rows<'w, T> {
    fn chunks(self) -> impl Iterator<Item = Rows<'w, T>> {
        let columns = self.entities.chunks(CHUNK).zip(self.owners.chunks_mut(CHUNK));
        let ticked = self.machines.chunks_mut(CHUNK).zip(self.changed.chunks_mut(CHUNK));
        let now = self.now;
        columns.zip(ticked).map(move |((entities, owners), (machines, changed))| Rows {
            entities,
            owners,
            machines,
            changed,
            now,
        })
    }

    fn update(self, cx: &mut T::Context<'_>, log: Option<&mut Log<T>>) {
        // Two loops, so that the one of a pass that nobody follows does not ask for each entity.
        match log {
            None => self.update_each(cx, None),
            followed => self.update_each(cx, followed),
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call for each entity would be a fifth of what a pass takes")]
    fn update_each(self, cx: &mut T::Context<'_>, mut log: Option<&mut Log<T>>) {
        let columns = self.entities.iter().zip(self.owners).zip(self.machines).zip(self.changed);
        for (((entity, owner), machine), changed) in columns {
            if update_one(*entity, owner, machine, cx, log.as_deref_mut()) {
                *changed = self.now;
            }
        }
    }
}

/// Starts the machine if its current state has not been entered, and updates it. Returns whether it has changed state.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
fn update_one<T: EntityOwner>(
    entity: Entity,
    owner: &mut T,
    machine: &mut Machine<T>,
    cx: &mut T::Context<'_>,
    mut log: Option<&mut Log<T>>,
) -> bool {
    T::visit(cx, entity);
    let mut steps = log.as_deref_mut().map(|log| log.visit(entity));
    let mut has_changed = !machine.is_started() && machine.start(steps.as_deref_mut(), owner, cx);
    let mut machine = machine.machine.recording(steps);
    machine.update(owner, cx);
    has_changed |= machine.has_changed();
    if let Some(log) = log {
        log.close();
    }
    has_changed
}

/// Logs a warning for each entity that has a machine and no owner for it, once until it has one.
pub(crate) fn warn_of_orphans<T: EntityOwner>(
    orphans: Query<(Entity, Option<&Name>), (With<Machine<T>>, Without<T>)>,
    mut warned: Local<EntityHashSet>,
) {
    if !warned.is_empty() {
        warned.retain(|entity| orphans.contains(*entity));
    }
    for (entity, name) in &orphans {
        if warned.insert(entity) {
            let owner = type_name::<T>();
            let name = name.map_or("unnamed", Name::as_str);
            warn!("entity {entity} ({name}) has a Machine<{owner}>, but no {owner}: its machine does nothing");
        }
    }
}
