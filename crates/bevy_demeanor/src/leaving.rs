//! Calls `exit` for machines that are removed or replaced, or whose owners are removed or entities despawned.

use core::any::{TypeId, type_name};

use bevy_app::App;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::event::{EntityEvent, EventPattern};
use bevy_ecs::lifecycle::{Discard, Remove};
use bevy_ecs::observer::On;
use bevy_ecs::query::Allow;
use bevy_ecs::system::{Commands, ParamSet, Query, Res, SystemParamValidationError};
use bevy_ecs::world::World;
use log::debug;

use crate::clock::{ClockOf, Clocks, Reading};
use crate::context::{EntityContext, lend};
use crate::follow::{Followers, Log};
use crate::label::{self, Names};
use crate::machine::Machine;
use crate::owner::EntityOwner;
use crate::queue;

/// Adds observers that stop each machine before Bevy discards it or removes its owner.
///
/// They are observers and not hooks of the components, because `exit` gets a system parameter. An owner that is removed alone
/// takes its machine along: if another owner comes, a new machine begins.
pub(crate) fn stop_discarded<T: EntityOwner>(app: &mut App) {
    app.add_observer(stop::<T, Discard<Machine<T>>>);
    app.add_observer(stop::<T, Remove<T>>);
}

fn stop<T: EntityOwner, E: EventPattern<Event: EntityEvent>>(
    it: On<E>,
    mut machines: Query<(&mut T, &mut Machine<T>, T::Body), Allow<Disabled>>,
    mut param: Result<ParamSet<(T::Param,)>, SystemParamValidationError>,
    mut commands: Commands,
    clocks: Clocks,
    (clock_of, names, followers): (Res<ClockOf<T>>, Res<Names>, Res<Followers<T>>),
) {
    let entity = it.event_target();
    let Ok((mut owner, mut machine, body)) = machines.reborrow().get_inner(entity) else { return };
    if !machine.is_started() {
        return;
    }
    let param = match &mut param {
        Ok(param) => param.p0(),
        Err(reason) => {
            debug!("entity {entity}: exit of {} is skipped: {reason}", type_name::<T>());
            return;
        }
    };
    let mut log = Log::default();
    log.open(followers.is_told());
    label::enter(&names);
    let reading = Reading::for_observer(clock_of.kind(), &clocks);
    let mut cx = EntityContext::<T>::at(entity, body, param, commands.reborrow(), reading);
    cx.visit(entity);
    let mut stopped = machine.machine.recording(log.visit(entity));
    lend(&mut cx, |cx| stopped.stop(&mut owner, cx));
    log.close(true);
    label::leave();
    if followers.is_queued() {
        cx.commands.queue(move |world: &mut World| queue::put_in_for::<T>(world, entity, log.followed()));
    }
    if TypeId::of::<E>() == TypeId::of::<Remove<T>>() {
        cx.commands.entity(entity).try_remove::<Machine<T>>();
    }
}
