//! The pass, column by column of Bevy's tables: for owners whose callbacks get no other components of their entities.

use bevy_ecs::change_detection::{ContiguousComponentTicksMut, ContiguousMut, Tick};
use bevy_ecs::component::Component;
use bevy_ecs::entity::{Entities, Entity, EntityAllocator};
use bevy_ecs::error::Result;
use bevy_ecs::query::{AnyOf, QueryItem, With};
use bevy_ecs::system::{Local, Query};

use crate::context::EntityContext;
use crate::despite_panics::OnPanic;
use crate::follow::Log;
use crate::label;
use crate::machine::Machine;
use crate::owner::{EntityOwner, ParallelOwner};
use crate::threads::{Job, Pace, run_on_all};
use crate::update::{Begun, CHUNK, Look, Outcome, Surroundings, Waited, is_changed_by_update, look, update};
use crate::waiting::NextLook;

/// Query data whose entities come in the order of Bevy's tables. Otherwise, Bevy finds new tables by one of the required components,
/// in the order of a hash table. The parts of an `AnyOf` are not required. This costs a pass over tables nothing; a pass over
/// rows would execute half as many instructions again for each entity.
pub(crate) type InOrder<D> = AnyOf<(D,)>;

type Machines<T> = InOrder<(Entity, &'static mut T, &'static mut Machine<T>, &'static mut NextLook<T>)>;

/// Updates the machines of all entities that have something to do, one after the other.
pub(crate) fn update_tables<T: EntityOwner>(
    mut machines: Query<Machines<T>>,
    mut nothing: Query<T::Body, With<Machine<T>>>,
    mut surroundings: Surroundings<T>,
) -> Result {
    let waited = match surroundings.begin()? {
        Some(begun) => update_in_order(tables(machines.reborrow()), bodies::<T>(nothing.reborrow()), begun),
        None => return Ok(()),
    };
    surroundings.end(waited);
    Ok(())
}

fn update_in_order<'a, T: EntityOwner>(
    tables: impl Iterator<Item = Contiguous<'a, T>>,
    mut bodies: impl Iterator<Item = QueryItem<'a, 'a, T::Body>>,
    Begun { param, commands, reading, names, is_outdated, mut log }: Begun<'a, T>,
) -> Waited {
    let Some(body) = bodies.next() else { return Waited::default() };
    label::enter(names);
    let mut cx = EntityContext::at(Entity::PLACEHOLDER, body, param, commands, reading);
    let mut waited = None;
    for table in tables {
        waited = Table::new(table).rows(is_outdated).update(&mut cx, log.as_deref_mut()).or(waited);
    }
    Waited::new(waited, &mut cx)
}

/// Updates the machines of all entities that have something to do, in chunks.
pub(crate) fn update_tables_in_parallel<T: ParallelOwner>(
    mut machines: Query<Machines<T>>,
    mut nothing: Query<T::Body, With<Machine<T>>>,
    mut surroundings: Surroundings<T>,
    (allocator, entities): (&EntityAllocator, &Entities),
    mut outcomes: Local<Vec<Outcome<T>>>,
    mut pace: Local<Pace>,
) -> Result {
    // The steps before a panic in the pass before are told first.
    surroundings.gather(&mut outcomes);
    let Some(begun) = surroundings.begin()? else { return Ok(()) };
    let count = machines.iter().size_hint().1.expect("a query knows how many there can be");
    let (tables, bodies) = (tables(machines.reborrow()), bodies::<T>(nothing.reborrow()));
    let mut columns: Vec<Table<T>> = Vec::new();
    let waited = pace.run(count, |on_all| {
        if !on_all {
            return update_in_order(tables, bodies, begun);
        }
        columns.extend(tables.map(Table::new));
        let chunks = columns.iter_mut().flat_map(|table| table.rows(begun.is_outdated).chunks());
        let chunks: Vec<Rows<T>> = chunks.collect();
        let outcomes = Outcome::prepare(&mut outcomes, chunks.len(), begun.wants_steps());
        let each = begun.each(outcomes, allocator, entities);
        let mut chunks = chunks.into_iter().zip(each).zip(bodies);
        run_on_all(&mut || chunks.next().map(|chunk| -> Job { Box::new(|| update_chunk(chunk)) }))
    });
    surroundings.gather(&mut outcomes);
    surroundings.end(waited);
    Ok(())
}

/// A chunk, and the body of its context.
type ChunkOf<'a, T> = ((Rows<'a, T>, Begun<'a, T>), QueryItem<'a, 'a, <T as EntityOwner>::Body>);

fn update_chunk<T: EntityOwner>(((rows, begun), body): ChunkOf<'_, T>) -> Waited {
    let Begun { param, commands, reading, names, log, .. } = begun;
    label::enter(names);
    let mut cx = EntityContext::at(Entity::PLACEHOLDER, body, param, commands, reading);
    let waited = rows.update(&mut cx, log);
    Waited::new(waited, &mut cx)
}

fn bodies<'a, T: EntityOwner>(
    nothing: Query<'a, 'a, T::Body, With<Machine<T>>>,
) -> impl Iterator<Item = QueryItem<'a, 'a, T::Body>> {
    nothing.into_iter()
}

fn tables<'a, T: EntityOwner>(machines: Query<'a, 'a, Machines<T>>) -> impl Iterator<Item = Contiguous<'a, T>> {
    machines.contiguous_iter_inner().expect("owners of this pass lie in tables").filter_map(|(table,)| table)
}

/// The columns of one of Bevy's tables.
struct Table<'w, T: EntityOwner> {
    entities: &'w [Entity],
    owners: Column<'w, T>,
    machines: Column<'w, Machine<T>>,
    next_looks: &'w mut [NextLook<T>],
}

/// A table in the form in which Bevy returns it.
type Contiguous<'w, T> =
    (&'w [Entity], ContiguousMut<'w, T>, ContiguousMut<'w, Machine<T>>, ContiguousMut<'w, NextLook<T>>);

struct Column<'w, C> {
    values: &'w mut [C],
    ticks: ContiguousComponentTicksMut<'w>,
}

impl<'w, C: Component> Column<'w, C> {
    /// Creates a column in which no row is marked as changed yet.
    fn new(column: ContiguousMut<'w, C>) -> Self {
        let (values, mut ticks) = ContiguousMut::bypass_change_detection_split(column);
        if C::HAS_SUMMARY_TICK {
            // This marks the column as possibly changed. Only `mark_all_as_changed` sets this, here for zero rows.
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

    fn rows(&mut self, is_outdated: bool) -> Rows<'_, T> {
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
            is_outdated,
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
    /// The tick in which the pass last ran.
    before: Tick,
    now: Tick,
    is_outdated: bool,
}

impl<'w, T: EntityOwner> Rows<'w, T> {
    fn chunks(self) -> impl Iterator<Item = Rows<'w, T>> {
        let owners = self.owners.chunks_mut(CHUNK).zip(self.owners_changed.chunks_mut(CHUNK));
        let machines = self.machines.chunks_mut(CHUNK).zip(self.machines_changed.chunks_mut(CHUNK));
        let entities = self.entities.chunks(CHUNK).zip(self.next_looks.chunks_mut(CHUNK));
        let (before, now, is_outdated) = (self.before, self.now, self.is_outdated);
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
                is_outdated,
            },
        )
    }

    /// Updates the rows. Returns the time of the clock if a machine sleeps until another time.
    fn update(self, cx: &mut EntityContext<'_, T>, log: Option<&mut Log<T>>) -> Option<f64> {
        // There are two loops, so that a pass without followers does not check for them at each entity.
        match log {
            None => self.update_each(cx, None),
            followed => self.update_each(cx, followed),
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a call for each entity would be a fifth of what a pass takes")]
    fn update_each(self, cx: &mut EntityContext<'_, T>, mut log: Option<&mut Log<T>>) -> Option<f64> {
        let mut waited = None;
        let owners = self.owners.iter_mut().zip(self.owners_changed);
        let machines = self.machines.iter_mut().zip(self.machines_changed);
        let entities = self.entities.iter().zip(self.next_looks);
        for (((entity, next_look), (owner, owner_changed)), (machine, machine_changed)) in
            entities.zip(owners).zip(machines)
        {
            cx.visit(*entity);
            let is_edited = self.is_outdated || machine_changed.is_newer_than(self.before, self.now);
            let look = look(machine, next_look, is_edited, cx, &mut waited);
            if look == Look::PassOver {
                continue;
            }
            if is_changed_by_update::<T>() {
                // Before the callbacks, because one of them may panic after it has written.
                *owner_changed = self.now;
            }
            let unfinished = OnPanic::new([&mut *owner_changed, &mut *machine_changed], |ticks| {
                for changed in ticks {
                    **changed = self.now;
                }
            });
            let has_changed = update(look, owner, machine, next_look, cx, log.as_deref_mut());
            unfinished.disarm();
            if has_changed {
                *machine_changed = self.now;
            }
            if !is_changed_by_update::<T>() && cx.take_owner_changed() {
                *owner_changed = self.now;
            }
        }
        waited
    }
}
