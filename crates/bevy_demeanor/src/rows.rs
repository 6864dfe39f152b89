//! The pass, entity by entity: for owners whose callbacks get other components of their entities, and for owners that are
//! stored in sparse sets.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bevy_ecs::change_detection::{DetectChanges, DetectChangesMut, Mut};
use bevy_ecs::entity::{Entities, Entity, EntityAllocator};
use bevy_ecs::error::Result;
use bevy_ecs::query::QueryItem;
use bevy_ecs::system::{Commands, Local, Query};
use bevy_tasks::{ComputeTaskPool, TaskPool};

use crate::context::EntityContext;
use crate::follow::Log;
use crate::label;
use crate::machine::Machine;
use crate::owner::{EntityOwner, ParallelOwner};
use crate::shared::SharedParam;
use crate::update::{Begun, CHUNK, Look, Outcome, Surroundings, Waited, is_changed_by_update, join, look, update};
use crate::waiting::NextLook;

type Machines<T> =
    (Entity, &'static mut T, &'static mut Machine<T>, &'static mut NextLook<T>, <T as EntityOwner>::Body);

/// An entity's item of the pass's query.
type Row<'a, T> =
    (Entity, Mut<'a, T>, Mut<'a, Machine<T>>, Mut<'a, NextLook<T>>, QueryItem<'a, 'a, <T as EntityOwner>::Body>);

/// Updates the machines of all entities that have something to do, one after the other.
pub(crate) fn update_rows<T: EntityOwner>(
    mut machines: Query<Machines<T>>,
    mut surroundings: Surroundings<T>,
) -> Result {
    let Some(begun) = surroundings.begin()? else { return Ok(()) };
    let waited = update_each(rows(machines.reborrow()), begun);
    surroundings.end(waited);
    Ok(())
}

/// Updates the machines of all entities that have something to do, in chunks, on all threads.
pub(crate) fn update_rows_in_parallel<T: ParallelOwner>(
    mut machines: Query<Machines<T>>,
    mut surroundings: Surroundings<T>,
    (allocator, entities): (&EntityAllocator, &Entities),
    mut outcomes: Local<Vec<Outcome<T>>>,
) -> Result {
    let waited = match surroundings.begin()? {
        Some(begun) => update_chunks(rows(machines.reborrow()), begun, allocator, entities, &mut outcomes),
        None => return Ok(()),
    };
    surroundings.gather(&mut outcomes);
    surroundings.end(waited);
    Ok(())
}

fn update_chunks<'a, T: ParallelOwner>(
    mut rows: impl Iterator<Item = Row<'a, T>>,
    Begun { param, reading, names, is_outdated, log, .. }: Begun<'a, T>,
    allocator: &'a EntityAllocator,
    entities: &'a Entities,
    outcomes: &'a mut Vec<Outcome<T>>,
) -> Waited {
    let at_most = rows.size_hint().1.expect("a query knows how many there can be");
    Outcome::prepare(outcomes, at_most.div_ceil(CHUNK), log.as_deref().is_some_and(Log::wants_steps));
    let is_followed = log.is_some();
    // A pool without threads would wait forever for a task that panicked.
    let ends = ComputeTaskPool::get_or_init(TaskPool::default).scope(|scope| {
        for Outcome { commands, log } in outcomes {
            // While this fetches the next chunk, threads already work on the previous ones.
            let chunk: Vec<Row<T>> = rows.by_ref().take(CHUNK).collect();
            if chunk.is_empty() {
                break;
            }
            let begun = Begun {
                param: T::Param::share(&param),
                commands: Commands::new_from_entities(commands, allocator, entities),
                reading: reading.clone(),
                names,
                is_outdated,
                log: is_followed.then_some(log),
            };
            scope.spawn(async move { catch_unwind(AssertUnwindSafe(|| update_each(chunk.into_iter(), begun))) });
        }
    });
    join(ends)
}

fn rows<'a, T: EntityOwner>(machines: Query<'a, 'a, Machines<T>>) -> impl Iterator<Item = Row<'a, T>> {
    machines.into_iter()
}

fn update_each<'a, T: EntityOwner>(mut rows: impl Iterator<Item = Row<'a, T>>, begun: Begun<'a, T>) -> Waited {
    let Some((entity, mut owner, mut machine, mut next_look, body)) = rows.next() else { return Waited::default() };
    let Begun { param, commands, reading, names, is_outdated, mut log } = begun;
    label::enter(names);
    let mut cx = EntityContext::at(entity, body, param, commands, reading);
    cx.visit(entity);
    let mut waited = None;
    // `for_each`, with a context that its first call creates, took a tenth longer.
    loop {
        let is_edited = is_outdated || machine.is_changed();
        let next_look_at = next_look.bypass_change_detection();
        let look = look(machine.bypass_change_detection(), next_look_at, is_edited, &mut cx, &mut waited);
        if look != Look::PassOver {
            if is_changed_by_update::<T>() {
                // Before the callbacks, because one of them may panic after it has written.
                owner.set_changed();
            }
            let (value, changing) = (owner.bypass_change_detection(), machine.bypass_change_detection());
            if update(look, value, changing, next_look_at, &mut cx, log.as_deref_mut()) {
                machine.set_changed();
            }
            if !is_changed_by_update::<T>() && cx.take_owner_changed() {
                owner.set_changed();
            }
        }
        let Some(row) = rows.next() else { return Waited::new(waited, &mut cx) };
        (owner, machine, next_look) = (row.1, row.2, row.3);
        cx.visit(row.0);
        cx.body = row.4;
    }
}
