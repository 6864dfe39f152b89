//! The pass: one update of each entity's machine that has something to do.

use core::any::type_name;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use bevy_ecs::change_detection::{ContiguousComponentTicksMut, ContiguousMut, DetectChanges, DetectChangesMut, Tick};
use bevy_ecs::component::Component;
use bevy_ecs::entity::{Entities, Entity, EntityAllocator, EntityHashSet};
use bevy_ecs::name::Name;
use bevy_ecs::query::{With, Without};
use bevy_ecs::system::{Commands, Local, ParamSet, Query, Res};
use bevy_ecs::world::{CommandQueue, World};
use bevy_tasks::{ComputeTaskPool, TaskPool};
use demeanor::Owner;
use log::{debug, warn};

use crate::follow::{Followers, Log};
use crate::machine::Machine;
use crate::owner::{EntityOwner, ParallelOwner};
use crate::queue;
use crate::waiting::{NextLook, Standstill};

/// How many entities share a context in a parallel pass. It decides the order of commands and events, so it must not depend
/// on the number of threads.
const CHUNK: usize = 1024;

/// Updates the machines of all entities that have something to do, one after the other.
pub(crate) fn update_machines<T: EntityOwner>(
    mut machines: Query<(Entity, &mut T, &mut Machine<T>, &mut NextLook<T>)>,
    mut param: ParamSet<(T::Param,)>,
    // Bevy applies these before the others.
    mut first: Commands,
    mut commands: Commands,
    followers: Res<Followers<T>>,
    mut log: Local<Log<T>>,
    mut clock: Local<Standstill>,
) {
    // What a pass that panicked has left.
    log.close();
    let log_followed = followers.is_anybody().then_some(&mut *log);
    let waited = update_in_order(&mut machines, &mut param, commands.reborrow(), log_followed);
    watch_clock::<T>(&mut clock, waited);
    queue_following(&mut log, &mut first, &mut commands);
}

/// Updates the machines of all entities that have something to do, in chunks, on all threads.
pub(crate) fn update_machines_in_parallel<T: ParallelOwner + Send>(
    mut machines: Query<(Entity, &mut T, &mut Machine<T>, &mut NextLook<T>)>,
    mut param: ParamSet<(T::Param,)>,
    (mut first, mut commands): (Commands, Commands),
    (allocator, entities): (&EntityAllocator, &Entities),
    followers: Res<Followers<T>>,
    (mut log, mut outcomes, mut clock): (Local<Log<T>>, Local<Vec<Outcome<T>>>, Local<Standstill>),
) where
    for<'a> T::Context<'a>: Send,
{
    // What a pass that panicked has left.
    log.close();
    outcomes.iter_mut().for_each(|outcome| outcome.log.close());
    let is_followed = followers.is_anybody();
    let waited = if let Ok(iter) = machines.contiguous_iter_mut() {
        let mut tables: Vec<Table<T>> = iter.map(Table::new).collect();
        let chunks: Vec<Rows<T>> = tables.iter_mut().flat_map(|table| table.rows().chunks()).collect();
        if outcomes.len() < chunks.len() {
            outcomes.resize_with(chunks.len(), Outcome::default);
        }
        let param = param.p0();
        // A pool without threads would wait for ever for a task that panicked.
        let ends = ComputeTaskPool::get_or_init(TaskPool::default).scope(|scope| {
            for (rows, outcome) in chunks.into_iter().zip(outcomes.iter_mut()) {
                let commands = Commands::new_from_entities(&mut outcome.commands, allocator, entities);
                let mut cx = T::shared_context(&param, commands);
                let log = is_followed.then_some(&mut outcome.log);
                scope.spawn(async move { catch_unwind(AssertUnwindSafe(|| rows.update(&mut cx, log))) });
            }
        });
        let waited = ends.into_iter().map(|end| end.unwrap_or_else(|panic| resume_unwind(panic)));
        waited.fold(None, |waited, chunk| chunk.or(waited))
    } else {
        // The owner lies in a sparse set, where there are no chunks to take.
        update_in_order(&mut machines, &mut param, commands.reborrow(), is_followed.then_some(&mut *log))
    };
    watch_clock::<T>(&mut clock, waited);
    for outcome in &mut *outcomes {
        commands.append(&mut outcome.commands);
        log.append(&mut outcome.log);
    }
    queue_following(&mut log, &mut first, &mut commands);
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

/// Has everything that follows the machines brought into step with them, once the commands of the callbacks are applied. What
/// these lead to has its place behind it.
fn queue_following<T: Owner>(log: &mut Log<T>, first: &mut Commands, last: &mut Commands) {
    if let Some(log) = log.take() {
        let held = Arc::new(());
        let held_by = Arc::downgrade(&held);
        first.queue(|world: &mut World| {
            queue::put_in(world, log.machines(), log.followed());
            queue::hold(world, held_by);
        });
        last.queue(|world: &mut World| {
            drop(held);
            queue::carry_out(world);
        });
    }
}

/// Logs, once, that those who sleep wait for a clock that stands (rule 25).
fn watch_clock<T>(clock: &mut Standstill, waited: Option<f64>) {
    if let Some(now) = waited.filter(|now| clock.stands(*now)) {
        debug!("machines of {} wait for a clock that stands at {now} s", type_name::<T>());
    }
}

/// Returns what the clock shows, if anybody sleeps until it shows another time.
fn update_in_order<T: EntityOwner>(
    machines: &mut Query<(Entity, &mut T, &mut Machine<T>, &mut NextLook<T>)>,
    param: &mut ParamSet<(T::Param,)>,
    mut commands: Commands,
    mut log: Option<&mut Log<T>>,
) -> Option<f64> {
    let mut cx = T::context(param.p0(), commands.reborrow());
    let mut waited = None;
    if let Ok(tables) = machines.contiguous_iter_mut() {
        for table in tables {
            waited = Table::new(table).rows().update(&mut cx, log.as_deref_mut()).or(waited);
        }
        return waited;
    }
    for (entity, mut owner, mut marked, mut next_look) in machines {
        let is_edited = marked.is_changed();
        let next_look = next_look.bypass_change_detection();
        let machine = marked.bypass_change_detection();
        let has_changed = match look(entity, machine, next_look, is_edited, &mut cx, &mut waited) {
            Look::Update => update_one::<T>(entity, &mut owner, machine, next_look, &mut cx, log.as_deref_mut()),
            Look::UpdateDue => update_due::<T>(entity, &mut owner, machine, next_look, &mut cx, log.as_deref_mut()),
            Look::PassOver => false,
        };
        if has_changed {
            marked.set_changed();
        }
    }
    waited
}

/// The columns of one of Bevy's tables.
struct Table<'w, T: EntityOwner> {
    entities: &'w [Entity],
    owners: Column<'w, T>,
    machines: Column<'w, Machine<T>>,
    next_looks: &'w mut [NextLook<T>],
}

/// A table as Bevy gives it.
type Contiguous<'w, T> =
    (&'w [Entity], ContiguousMut<'w, T>, ContiguousMut<'w, Machine<T>>, ContiguousMut<'w, NextLook<T>>);

struct Column<'w, C> {
    values: &'w mut [C],
    ticks: ContiguousComponentTicksMut<'w>,
}

impl<'w, C: Component> Column<'w, C> {
    /// A column in which nothing counts as changed yet.
    fn new(column: ContiguousMut<'w, C>) -> Self {
        let (values, mut ticks) = ContiguousMut::bypass_change_detection_split(column);
        if C::HAS_SUMMARY_TICK {
            // Which says that something in the column may have changed. Nothing but this sets it, here without a row.
            ticks.reborrow().slice(0..0).mark_all_as_changed();
        }
        Self { values, ticks }
    }
}

impl<'w, T: EntityOwner> Table<'w, T> {
    fn new((entities, owners, machines, next_looks): Contiguous<'w, T>) -> Self {
        let (next_looks, _) = ContiguousMut::bypass_change_detection_split(next_looks);
        Self { entities, owners: Column::new(owners), machines: Column::new(machines), next_looks }
    }

    fn rows(&mut self) -> Rows<'_, T> {
        let (before, now) = (self.machines.ticks.last_run(), self.machines.ticks.this_run());
        Rows {
            entities: self.entities,
            owners: self.owners.values,
            owners_changed: self.owners.ticks.changed_mut(),
            machines: self.machines.values,
            machines_changed: self.machines.ticks.changed_mut(),
            next_looks: self.next_looks,
            before,
            now,
        }
    }
}

/// Some of a table's rows.
struct Rows<'w, T: EntityOwner> {
    entities: &'w [Entity],
    owners: &'w mut [T],
    owners_changed: &'w mut [Tick],
    machines: &'w mut [Machine<T>],
    machines_changed: &'w mut [Tick],
    next_looks: &'w mut [NextLook<T>],
    /// When the pass ran last.
    before: Tick,
    now: Tick,
}

impl<'w, T: EntityOwner> Rows<'w, T> {
    fn chunks(self) -> impl Iterator<Item = Rows<'w, T>> {
        let owners = self.owners.chunks_mut(CHUNK).zip(self.owners_changed.chunks_mut(CHUNK));
        let machines = self.machines.chunks_mut(CHUNK).zip(self.machines_changed.chunks_mut(CHUNK));
        let entities = self.entities.chunks(CHUNK).zip(self.next_looks.chunks_mut(CHUNK));
        let (before, now) = (self.before, self.now);
        entities.zip(owners).zip(machines).map(
            move |(((entities, next_looks), (owners, owners_changed)), (machines, machines_changed))| Rows {
                entities,
                owners,
                owners_changed,
                machines,
                machines_changed,
                next_looks,
                before,
                now,
            },
        )
    }

    /// Returns what the clock shows, if anybody sleeps until it shows another time.
    fn update(self, cx: &mut T::Context<'_>, log: Option<&mut Log<T>>) -> Option<f64> {
        // Two loops, so that the one of a pass that nobody follows does not ask for each entity.
        match log {
            None => self.update_each(cx, None),
            followed => self.update_each(cx, followed),
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call for each entity would be a fifth of what a pass takes")]
    fn update_each(self, cx: &mut T::Context<'_>, mut log: Option<&mut Log<T>>) -> Option<f64> {
        let mut waited = None;
        let owners = self.owners.iter_mut().zip(self.owners_changed);
        let machines = self.machines.iter_mut().zip(self.machines_changed);
        let entities = self.entities.iter().zip(self.next_looks);
        for (((entity, next_look), (owner, owner_changed)), (machine, machine_changed)) in
            entities.zip(owners).zip(machines)
        {
            let is_edited = machine_changed.is_newer_than(self.before, self.now);
            let has_changed = match look(*entity, machine, next_look, is_edited, cx, &mut waited) {
                Look::Update => {
                    *owner_changed = self.now;
                    update_one(*entity, owner, machine, next_look, cx, log.as_deref_mut())
                }
                Look::UpdateDue => {
                    *owner_changed = self.now;
                    update_due(*entity, owner, machine, next_look, cx, log.as_deref_mut())
                }
                Look::PassOver => continue,
            };
            if has_changed {
                *machine_changed = self.now;
            }
        }
        waited
    }
}

/// What is to be done about a machine in this pass.
enum Look {
    /// It has something to do in every tick.
    Update,
    /// It was not known to have something to do, or has waited until now.
    UpdateDue,
    PassOver,
}

/// Looks when there is something to do for a machine, which is not touched until then, unless it is edited. Notes what its clock shows, if it waits until that shows another time.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
fn look<T: EntityOwner>(
    entity: Entity,
    machine: &Machine<T>,
    next_look: &mut NextLook<T>,
    is_edited: bool,
    cx: &mut T::Context<'_>,
    waited: &mut Option<f64>,
) -> Look {
    if next_look.is_every_tick() && !is_edited {
        return Look::Update;
    }
    if next_look.is_unknown() || is_edited {
        if machine.is_to_be_started() {
            return Look::UpdateDue;
        }
        next_look.ask(machine);
    }
    if next_look.is_never() {
        return Look::PassOver;
    }
    // An owner may have a clock of its own.
    T::visit(cx, entity);
    let now = T::now(cx);
    if next_look.is_due(now) {
        return Look::UpdateDue;
    }
    *waited = Some(now);
    Look::PassOver
}

/// Updates a machine that has something to do in every tick. Returns whether it has changed state.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
fn update_one<T: EntityOwner>(
    entity: Entity,
    owner: &mut T,
    machine: &mut Machine<T>,
    next_look: &mut NextLook<T>,
    cx: &mut T::Context<'_>,
    mut log: Option<&mut Log<T>>,
) -> bool {
    T::visit(cx, entity);
    let mut recorded = machine.machine.recording(log.as_deref_mut().map(|log| log.visit(entity)));
    recorded.update(owner, cx);
    let has_changed = recorded.has_changed();
    // Without a change, it has something to do in every tick until it sleeps.
    if has_changed || machine.is_asleep() {
        next_look.ask(machine);
    }
    if let Some(log) = log {
        log.close();
    }
    has_changed
}

/// Starts a machine if its current state has not been entered, and updates it. Returns whether it has changed state.
#[inline(never)]
fn update_due<T: EntityOwner>(
    entity: Entity,
    owner: &mut T,
    machine: &mut Machine<T>,
    next_look: &mut NextLook<T>,
    cx: &mut T::Context<'_>,
    mut log: Option<&mut Log<T>>,
) -> bool {
    // As long as a callback may panic.
    next_look.forget();
    T::visit(cx, entity);
    let mut steps = log.as_deref_mut().map(|log| log.visit(entity));
    let mut has_changed = machine.is_to_be_started() && machine.start(steps.as_deref_mut(), owner, cx);
    let mut recorded = machine.machine.recording(steps);
    recorded.update(owner, cx);
    has_changed |= recorded.has_changed();
    next_look.ask(machine);
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
