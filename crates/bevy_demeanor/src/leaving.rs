//! Calls `exit` for machines that are removed or replaced, or whose owners are removed or entities despawned.

use core::any::{TypeId, type_name};

use bevy_app::App;
use bevy_ecs::entity::{Entities, EntityAllocator};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::error::Result;
use bevy_ecs::event::{EntityEvent, EventPattern};
use bevy_ecs::lifecycle::{Discard, Remove};
use bevy_ecs::observer::On;
use bevy_ecs::query::Allow;
use bevy_ecs::system::{Commands, ParamSet, Query, Res, SystemParamValidationError};
use bevy_ecs::world::{CommandQueue, World};
use log::debug;

use crate::clock::{ClockOf, Clocks, Reading};
use crate::context::{EntityContext, lend};
use crate::follow::{Followers, Log};
use crate::label::{self, Names};
use crate::machine::Machine;
use crate::owner::EntityOwner;
use crate::queue::{self, Queue};

/// Adds observers that stop each machine before Bevy discards it or removes its owner.
///
/// They are observers and not hooks of the components, because `exit` gets a system parameter. An owner that is removed alone
/// takes its machine along: if another owner comes, a new machine begins.
pub(crate) fn stop_discarded<T: EntityOwner>(app: &mut App) {
    app.init_resource::<Queue>();
    app.add_observer(stop::<T, Discard<Machine<T>>>);
    app.add_observer(stop::<T, Remove<T>>);
}

fn stop<T: EntityOwner, E: EventPattern<Event: EntityEvent>>(
    it: On<E>,
    mut machines: Query<(&mut T, &mut Machine<T>, Option<T::Body>), Allow<Disabled>>,
    mut param: Result<ParamSet<(T::Param,)>, SystemParamValidationError>,
    mut commands: Commands,
    clocks: Clocks,
    (clock_of, names, followers, queue): (Res<ClockOf<T>>, Res<Names>, Res<Followers<T>>, Res<Queue>),
    (allocator, entities): (&EntityAllocator, &Entities),
) -> Result {
    let entity = it.event_target();
    let mut recorded = CommandQueue::default();
    let Ok((mut owner, mut machine, body)) = machines.reborrow().get_inner(entity) else { return Ok(()) };
    if !machine.is_started() {
        return Ok(());
    }
    let mut end = Ok(());
    let given = match (&mut param, body) {
        (Err(reason), _) => {
            if reason.skipped {
                debug!("entity {entity}: exit of {} is skipped: {reason}", type_name::<T>());
            } else {
                end = Err(reason.clone().into());
            }
            None
        }
        (_, None) => {
            let owner = type_name::<T>();
            debug!("entity {entity}: exit of {owner} is skipped: it lacks a component that its states are given");
            None
        }
        _ if queue.is_cycle() => {
            commands.queue(move |world: &mut World| queue::refuse_exit::<T>(world, entity));
            None
        }
        (Ok(param), Some(body)) => Some((param.p0(), body)),
    };
    let of_exit = Commands::new_from_entities(&mut recorded, allocator, entities);
    let log = given.map(|(param, body)| {
        let mut log = Log::default();
        log.open(followers.is_told());
        label::enter(&names);
        let reading = Reading::for_observer(clock_of.kind(), &clocks);
        let mut cx = EntityContext::<T>::at(entity, body, param, of_exit, reading);
        cx.visit(entity);
        let mut stopped = machine.machine.recording(log.visit(entity));
        lend(&mut cx, |cx| stopped.stop(&mut owner, cx));
        log.close(true);
        log
    });
    let followed = log.filter(|_| followers.is_queued()).map(Log::followed);
    if followed.is_some() || !recorded.is_empty() {
        commands.queue(move |world: &mut World| queue::put_in_exit::<T>(world, entity, followed, recorded));
    }
    if TypeId::of::<E>() == TypeId::of::<Remove<T>>() {
        commands.entity(entity).try_remove::<Machine<T>>();
    }
    end
}
