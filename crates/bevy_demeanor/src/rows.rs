//! The pass, entity by entity: for owners whose callbacks get other components of their entities, and for owners that are
//! stored in sparse sets.

use std::sync::{Mutex, PoisonError};

use bevy_ecs::change_detection::{DetectChanges, DetectChangesMut, Mut};
use bevy_ecs::entity::{Entities, Entity, EntityAllocator};
use bevy_ecs::error::Result;
use bevy_ecs::query::QueryItem;
use bevy_ecs::system::{Local, Query};

use crate::context::EntityContext;
use crate::despite_panics::OnPanic;
use crate::label;
use crate::machine::Machine;
use crate::owner::{EntityOwner, ParallelOwner};
use crate::threads::{Pace, run_on_all};
use crate::update::{Begun, CHUNK, Look, Outcome, Surroundings, Waited, is_changed_by_update, look, mark_both, update};
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

/// Updates the machines of all entities that have something to do, in chunks.
pub(crate) fn update_rows_in_parallel<T: ParallelOwner>(
    mut machines: Query<Machines<T>>,
    mut surroundings: Surroundings<T>,
    (allocator, entities): (&EntityAllocator, &Entities),
    (mut outcomes, buffers): (Local<Vec<Outcome<T>>>, Local<Buffers<T>>),
    mut pace: Local<Pace>,
) -> Result {
    // The steps before a panic in the pass before are told first.
    surroundings.gather(&mut outcomes);
    let Some(begun) = surroundings.begin()? else { return Ok(()) };
    let rows = rows(machines.reborrow());
    let count = rows.size_hint().1.expect("a query knows how many there can be");
    let waited = pace.run(count, |on_all| {
        if !on_all {
            return update_each(rows, begun);
        }
        let outcomes = Outcome::prepare(&mut outcomes, count.div_ceil(CHUNK), begun.wants_steps());
        update_chunks(rows, begun.each(outcomes, allocator, entities), &buffers)
    });
    surroundings.gather(&mut outcomes);
    surroundings.end(waited);
    Ok(())
}

/// The memory for the rows of chunks, which is used again and again.
type Buffers<T> = Mutex<Vec<Vec<Row<'static, T>>>>;

fn update_chunks<'a, T: ParallelOwner>(
    mut rows: impl Iterator<Item = Row<'a, T>>,
    mut chunks: impl Iterator<Item = Begun<'a, T>>,
    buffers: &Buffers<T>,
) -> Waited {
    let buffers = &|| buffers.lock().unwrap_or_else(PoisonError::into_inner);
    run_on_all(&mut || {
        let begun = chunks.next()?;
        let mut chunk = emptied(buffers().pop().unwrap_or_default());
        chunk.extend(rows.by_ref().take(CHUNK));
        Some(Box::new(move || {
            let waited = update_each(chunk.drain(..), begun);
            buffers().push(emptied(chunk));
            waited
        }))
    })
}

/// Returns the memory of rows for rows of another lifetime: `collect` reuses it.
fn emptied<'b, T: EntityOwner>(mut rows: Vec<Row<'_, T>>) -> Vec<Row<'b, T>> {
    rows.clear();
    rows.into_iter().map(|_| unreachable!("there are no rows")).collect()
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
            let mut unfinished = OnPanic::new((&mut owner, &mut machine), mark_both);
            let (value, changing) = &mut unfinished.value;
            let (value, changing) = (value.bypass_change_detection(), changing.bypass_change_detection());
            let has_changed = update(look, value, changing, next_look_at, &mut cx, log.as_deref_mut());
            unfinished.disarm();
            if has_changed {
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
