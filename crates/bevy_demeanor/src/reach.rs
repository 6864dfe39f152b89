//! Lets a command reach an entity's machine, with its owner, its body and its clock.

use core::any::type_name;
#[cfg(feature = "serialize")]
use core::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::entity::Entity;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::query::Allow;
use bevy_ecs::resource::Resource;
use bevy_ecs::system::{Commands, ParamSet, Query, SystemParamValidationError, SystemState};
use bevy_ecs::world::{FromWorld, World};
use demeanor::{MachineMut, Owner, Step};
use log::debug;

#[cfg(feature = "serialize")]
use crate::clock::LastTime;
use crate::clock::{ClockOf, read_clock};
use crate::context::{EntityContext, lend};
use crate::despite_panics::OnPanic;
use crate::follow::{Followers, Log};
use crate::indexing;
use crate::label;
use crate::machine::Machine;
use crate::missing::BodyParts;
use crate::named_entity::NamedEntity;
use crate::owner::EntityOwner;
use crate::queue::{self, Reaching};
use crate::update::{is_changed_by_update, mark_both};
use crate::waiting::NextLook;

/// Sets the times of a loaded machine before a command reaches it.
#[cfg(feature = "serialize")]
#[derive(Resource)]
pub(crate) struct Settle<T: EntityOwner> {
    pub(crate) settle: fn(&mut World, Entity),
    pub(crate) of: PhantomData<fn() -> T>,
}

#[cfg(feature = "serialize")]
impl<T: EntityOwner> Settle<T> {
    fn settle_each(world: &mut World, entities: &[Entity]) {
        let Some(settle) = world.get_resource::<Self>().map(|settle| settle.settle) else { return };
        for entity in entities {
            settle(world, *entity);
        }
    }
}

/// The system state with which commands reach machines. It is kept from one command to the next.
#[derive(Resource)]
struct Reach<T: EntityOwner>(Option<SystemState<InReach<T>>>);

type InReach<T> = (
    Query<
        'static,
        'static,
        (&'static mut T, &'static mut Machine<T>, &'static mut NextLook<T>, <T as EntityOwner>::Body),
        Allow<Disabled>,
    >,
    Result<ParamSet<'static, 'static, (<T as EntityOwner>::Param,)>, SystemParamValidationError>,
    Commands<'static, 'static>,
);

/// What a command does with a machine.
type Act<'a, T> = dyn FnMut(&mut MachineMut<'_, T>, &mut T, &mut <T as Owner>::Context<'_>) + 'a;

pub(crate) fn reach<T: EntityOwner>(
    world: &mut World,
    entity: Entity,
    command: &str,
    act: impl FnOnce(&mut MachineMut<'_, T>, &mut T, &mut T::Context<'_>),
) -> bevy_ecs::error::Result {
    let mut act = Some(act);
    reach_each(world, &[entity], command, &mut |machine, owner, cx| {
        if let Some(act) = act.take() {
            act(machine, owner, cx);
        }
    })
}

/// Calls `act` with the machines of some entities, in this order. The consequences of their steps come after the last machine,
/// and the consequences of their callbacks' commands come after that. `act` is a reference, so that this is compiled once for
/// all commands of a type of owner.
pub(crate) fn reach_each<T: EntityOwner>(
    world: &mut World,
    entities: &[Entity],
    command: &str,
    act: &mut Act<'_, T>,
) -> bevy_ecs::error::Result {
    #[cfg(feature = "serialize")]
    Settle::<T>::settle_each(world, entities);
    let (mut reaching, entities) = Reaching::new::<T>(world, entities, command);
    if entities.is_empty() {
        return Ok(());
    }
    let mut state = take_state::<T>(reaching.world);
    label::enter_world(entities, reaching.world);
    let followers = reaching.world.get_resource::<Followers<T>>().filter(|followers| followers.is_anybody());
    let is_followed = followers.is_some();
    let has_indexes = followers.is_some_and(|followers| followers.has_indexes);
    let is_queued = followers.is_some_and(Followers::is_queued);
    let reading = read_clock::<T>(reaching.world);
    #[cfg(feature = "serialize")]
    let last_time = reaching.world.get_resource::<LastTime<T>>().cloned();
    let mut log = Log::default();
    log.open(followers.is_some_and(Followers::is_told));
    let (mut unreached, mut has_missed) = (Vec::new(), false);
    let acted = catch_unwind(AssertUnwindSafe(|| -> Result<_, SystemParamValidationError> {
        let (mut machines, mut param, mut commands) = state.get_mut(reaching.world)?;
        Ok(match &mut param {
            Err(reason) => Some(reason.clone()),
            Ok(param) => {
                for entity in entities {
                    let Ok((mut owner, mut machine, mut next_look, body)) = machines.reborrow().get_inner(*entity)
                    else {
                        unreached.push(*entity);
                        continue;
                    };
                    let (param, commands) = (param.p0(), commands.reborrow());
                    let mut cx = EntityContext::<T>::at(*entity, body, param, commands, reading.clone());
                    cx.visit(*entity);
                    let steps = if is_followed { log.visit(*entity) } else { None };
                    let has_missed_clock = cx.has_missed_clock();
                    if is_changed_by_update::<T>() {
                        owner.set_changed();
                    }
                    // A callback may panic.
                    next_look.forget();
                    let was_started = machine.is_started();
                    let mut unfinished = OnPanic::new((&mut owner, &mut machine), mark_both);
                    let (value, changing) = &mut unfinished.value;
                    let (value, changing) = (value.bypass_change_detection(), changing.bypass_change_detection());
                    let Reached { has_changed, has_read_clock } =
                        lend(&mut cx, |cx| reach_machine(changing, steps, value, cx, act));
                    unfinished.disarm();
                    if has_changed {
                        machine.set_changed();
                    }
                    if has_read_clock {
                        cx.set_missed_clock(has_missed_clock);
                    }
                    has_missed |= cx.has_missed_clock();
                    if cx.take_owner_changed() {
                        owner.set_changed();
                    }
                    next_look.ask(machine.next_wake());
                    #[cfg(feature = "serialize")]
                    if let Some(last_time) = &last_time {
                        last_time.note(lend(&mut cx, |cx| T::now(cx)));
                    }
                    log.close(is_followed && (has_changed || machine.is_started() != was_started));
                }
                None
            }
        })
    }));
    // After a panic, the machine that was visited may have changed.
    log.close_if_open();
    for entity in unreached {
        let why = why_unreached::<T>(entity, reaching.world);
        debug!("{command} of {} ignored: {why}", NamedEntity::of(entity, reaching.world));
    }
    if has_missed && let Some(clock) = reaching.world.get_resource::<ClockOf<T>>() {
        clock.warn_of_none();
    }
    // This comes before the commands of the callbacks, so that their consequences come later.
    let log = log.take();
    if let Some(log) = log.as_ref().filter(|_| has_indexes) {
        indexing::correct::<T>(&mut (&mut *reaching.world).into(), log.entities());
    }
    reaching.put_in::<T>(entities, log.filter(|_| is_queued).map(Log::followed));
    let error = match acted {
        Ok(error) => error?,
        Err(panic) => {
            drop(reaching);
            queue::carry_out(world);
            resume_unwind(panic)
        }
    };
    state.apply(reaching.world);
    reaching.world.insert_resource(Reach(Some(state)));
    drop(reaching);
    queue::carry_out(world);
    match error {
        Some(reason) if reason.skipped => {
            debug!("{command} of {} ignored: {reason}", type_name::<T>());
            Ok(())
        }
        Some(reason) => Err(reason.into()),
        None => Ok(()),
    }
}

/// Calls `f` with one machine, its owner and their context. Returns `None` if the machine cannot be reached.
#[cfg(feature = "reflect")]
pub(crate) fn visit<T: EntityOwner, R>(
    world: &mut World,
    entity: Entity,
    f: impl FnOnce(&mut Machine<T>, &mut T, &mut T::Context<'_>) -> R,
) -> Option<R> {
    let mut state = take_state::<T>(world);
    label::enter_world(&[entity], world);
    let reading = read_clock::<T>(world);
    #[cfg(feature = "serialize")]
    let last_time = world.get_resource::<LastTime<T>>().cloned();
    let mut result = None;
    if let Ok((mut machines, Ok(mut param), mut commands)) = state.get_mut(world)
        && let Ok((mut owner, mut machine, mut next_look, body)) = machines.get_mut(entity)
    {
        let mut cx = EntityContext::<T>::at(entity, body, param.p0(), commands.reborrow(), reading);
        cx.visit(entity);
        next_look.forget();
        result = Some(lend(&mut cx, |cx| f(&mut machine, owner.bypass_change_detection(), cx)));
        #[cfg(feature = "serialize")]
        if let Some(last_time) = &last_time {
            last_time.note(lend(&mut cx, |cx| T::now(cx)));
        }
    }
    state.apply(world);
    world.insert_resource(Reach(Some(state)));
    result
}

/// Takes the system state out of the world. It is created again if it does not come back: a callback may panic, and an observer
/// may reach another machine.
fn take_state<T: EntityOwner>(world: &mut World) -> SystemState<InReach<T>> {
    let kept = world.get_resource_mut::<Reach<T>>().and_then(|mut reach| reach.0.take());
    kept.unwrap_or_else(|| SystemState::new(world))
}

/// Returns the reason why the entity's machine cannot be reached.
fn why_unreached<T: EntityOwner>(entity: Entity, world: &mut World) -> String {
    let parts = BodyParts::<T>::from_world(world);
    match world.get_entity(entity) {
        Ok(entity) if entity.contains::<T>() && entity.contains::<Machine<T>>() => {
            format!("it {}", parts.lacking(&|part| entity.contains_id(part), world.components()))
        }
        _ => format!("there is no {} with a machine", type_name::<T>()),
    }
}

/// The result of a command on a machine.
struct Reached {
    /// Whether the machine has changed state or was stopped.
    has_changed: bool,
    /// Whether the machine itself has read the clock: for a start or a change, made or refused.
    has_read_clock: bool,
}

/// Starts the machine if its current state has not been entered, and calls `act` with it.
fn reach_machine<T: EntityOwner>(
    machine: &mut Machine<T>,
    mut steps: Option<&mut Vec<Step<T>>>,
    owner: &mut T,
    cx: &mut T::Context<'_>,
    act: &mut Act<'_, T>,
) -> Reached {
    let is_new = !machine.is_started();
    let has_changed = is_new && machine.start(steps.as_deref_mut(), owner, cx);
    let was_started = machine.is_started();
    let mut recorded = machine.machine.recording(steps);
    act(&mut recorded, owner, cx);
    let (has_changed, has_refused) = (has_changed || recorded.has_changed(), recorded.has_refused());
    let has_changed = has_changed || machine.is_started() != was_started;
    Reached { has_changed, has_read_clock: is_new || has_changed || has_refused }
}
