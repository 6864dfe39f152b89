//! Changes from outside: the methods of a machine, as commands.

use core::any::type_name;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::entity::Entity;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::query::Allow;
use bevy_ecs::resource::Resource;
use bevy_ecs::system::{Commands, EntityCommands, ParamSet, Query, SystemParamValidationError, SystemState};
use bevy_ecs::world::{FromWorld, World};
use demeanor::{IntoState, MachineMut, Owner, Step};
use log::debug;

use crate::clock::{ClockOf, Reading};
use crate::context::{EntityContext, lend};
use crate::follow::{Followers, Log};
use crate::indexing;
use crate::label;
use crate::machine::Machine;
use crate::missing::{BodyParts, Named};
use crate::owner::EntityOwner;
use crate::queue::{self, Reaching};
#[cfg(feature = "serialize")]
use crate::saved::{self, SavedBy};
use crate::update::is_changed_by_update;
use crate::waiting::NextLook;

/// The methods of a machine on `commands.entity(enemy)`.
///
/// They act when the commands are applied, in the order given, and with all that a callback asks for. A machine whose current
/// state has not been entered yet is started first. A disabled entity is reached as well, since it is meant.
///
/// A command for an entity that is gone, or has no machine of `T` or no owner, does nothing; that is logged at debug.
///
/// # Examples
///
/// ```
/// use bevy_demeanor::{EntityOwner, Machine, MachineCommands};
/// use bevy_ecs::prelude::*;
/// use demeanor::{Fsm, Owner, State};
///
/// #[derive(Component)]
/// struct Enemy;
/// enum Told { Noise }
///
/// impl Owner for Enemy { type Context<'a> = (); type Message = Told; }
/// impl EntityOwner for Enemy {
///     type Body = ();
///     type Param = ();
/// }
///
/// struct Idle;
/// struct Alert;
/// struct Stagger;
/// struct Dead;
/// impl State<Enemy> for Idle {
///     fn on_message(&self, _: &mut Enemy, _: &Told, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) -> bool {
///         fsm.change_state(&Alert);
///         true
///     }
/// }
/// impl State<Enemy> for Alert {}
/// impl State<Enemy> for Stagger {
///     fn can_exit(&self, _: &Enemy, _: &Fsm<'_, Enemy>, _: &()) -> bool {
///         false
///     }
/// }
/// impl State<Enemy> for Dead {}
///
/// let mut world = World::new();
/// let enemy = world.spawn((Enemy, Machine::<Enemy>::new(&Idle))).id();
///
/// world.commands().entity(enemy).send::<Enemy>(Told::Noise);
/// world.flush();
/// assert!(world.get::<Machine<Enemy>>(enemy).unwrap().is_in_state(&Alert));
///
/// // `Idle` is a state of nobody else, so whose machine is meant goes without saying.
/// world.commands().entity(enemy).change_state(&Idle).revert_state::<Enemy>();
/// world.flush();
/// assert!(world.get::<Machine<Enemy>>(enemy).unwrap().is_in_state(&Alert));
///
/// // `Stagger` refuses to be left; `force_state` does not ask it, and `ensure_state` has nothing left to do.
/// world.commands().entity(enemy).change_state(&Stagger).change_state(&Idle);
/// world.flush();
/// assert!(world.get::<Machine<Enemy>>(enemy).unwrap().is_in_state(&Stagger));
/// world.commands().entity(enemy).force_state(&Dead).ensure_state(&Dead);
/// world.flush();
/// let machine = world.get::<Machine<Enemy>>(enemy).unwrap();
/// assert!(machine.is_in_state(&Dead));
/// assert_eq!(machine.previous().unwrap().name(), "Stagger");
/// ```
pub trait MachineCommands {
    /// Changes to `to`. For a state of several owners, say whose: `change_state::<Legs>(&Idle)`.
    fn change_state<T: EntityOwner>(&mut self, to: impl IntoState<T>) -> &mut Self;

    /// Changes to `to`, unless it is active already: then nothing happens, and no guard is asked.
    fn ensure_state<T: EntityOwner>(&mut self, to: impl IntoState<T>) -> &mut Self;

    /// Changes to `to` without asking any `can_exit`; `can_enter` is asked.
    fn force_state<T: EntityOwner>(&mut self, to: impl IntoState<T>) -> &mut Self;

    /// Changes to the previous state.
    fn revert_state<T: EntityOwner>(&mut self) -> &mut Self;

    /// Suspends current and enters `over`.
    fn push_state<T: EntityOwner>(&mut self, over: impl IntoState<T>) -> &mut Self;

    /// Leaves the current state and resumes the path below it.
    fn pop_state<T: EntityOwner>(&mut self) -> &mut Self;

    /// Changes to the descendant last active in `composite`, or to its initial one.
    fn resume_state<T: EntityOwner>(&mut self, composite: impl IntoState<T>) -> &mut Self;

    /// Offers a message to the machine's states.
    fn send<T: EntityOwner<Message: Send>>(&mut self, message: T::Message) -> &mut Self
    where
        T::Message: 'static;

    /// Sets a timer that lasts as long as the machine: asks for a change to `to` when the owner's clock has advanced by
    /// `seconds`. The pass carries it out (rule 25).
    fn change_state_after<T: EntityOwner>(&mut self, seconds: f64, to: impl IntoState<T>) -> &mut Self;

    /// Sets a timer that lasts as long as the machine: sends a message when the owner's clock has advanced by `seconds`.
    fn send_after<T: EntityOwner<Message: Send + Sync>>(&mut self, seconds: f64, message: T::Message) -> &mut Self;

    /// Puts the machine to sleep: its states are not updated until it wakes (rule 26).
    fn sleep<T: EntityOwner>(&mut self) -> &mut Self;

    /// Puts the machine to sleep for a number of seconds by the owner's clock.
    fn sleep_for<T: EntityOwner>(&mut self, seconds: f64) -> &mut Self;

    /// Wakes the machine.
    fn wake<T: EntityOwner>(&mut self) -> &mut Self;

    /// Exits the active states; the machine then has none. Removing the component instead calls nothing.
    fn stop_machine<T: EntityOwner>(&mut self) -> &mut Self;
}

impl MachineCommands for EntityCommands<'_> {
    fn change_state<T: EntityOwner>(&mut self, to: impl IntoState<T>) -> &mut Self {
        let to = to.into_state();
        queue(self, "change_state", move |machine, owner, cx| {
            machine.change_state(owner, to, cx);
        })
    }

    fn ensure_state<T: EntityOwner>(&mut self, to: impl IntoState<T>) -> &mut Self {
        let to = to.into_state();
        queue(self, "ensure_state", move |machine, owner, cx| {
            machine.ensure_state(owner, to, cx);
        })
    }

    fn force_state<T: EntityOwner>(&mut self, to: impl IntoState<T>) -> &mut Self {
        let to = to.into_state();
        queue(self, "force_state", move |machine, owner, cx| {
            machine.force_state(owner, to, cx);
        })
    }

    fn revert_state<T: EntityOwner>(&mut self) -> &mut Self {
        queue::<T>(self, "revert_state", |machine, owner, cx| {
            machine.revert_state(owner, cx);
        })
    }

    fn push_state<T: EntityOwner>(&mut self, over: impl IntoState<T>) -> &mut Self {
        let over = over.into_state();
        queue(self, "push_state", move |machine, owner, cx| {
            machine.push_state(owner, over, cx);
        })
    }

    fn pop_state<T: EntityOwner>(&mut self) -> &mut Self {
        queue::<T>(self, "pop_state", |machine, owner, cx| {
            machine.pop_state(owner, cx);
        })
    }

    fn resume_state<T: EntityOwner>(&mut self, composite: impl IntoState<T>) -> &mut Self {
        let composite = composite.into_state();
        queue(self, "resume_state", move |machine, owner, cx| {
            machine.resume_state(owner, composite, cx);
        })
    }

    fn send<T: EntityOwner<Message: Send>>(&mut self, message: T::Message) -> &mut Self
    where
        T::Message: 'static,
    {
        queue::<T>(self, "send", move |machine, owner, cx| {
            machine.send(owner, &message, cx);
        })
    }

    fn change_state_after<T: EntityOwner>(&mut self, seconds: f64, to: impl IntoState<T>) -> &mut Self {
        let to = to.into_state();
        queue(self, "change_state_after", move |machine, owner, cx| {
            machine.change_state_after(owner, seconds, to, cx);
        })
    }

    fn send_after<T: EntityOwner<Message: Send + Sync>>(&mut self, seconds: f64, message: T::Message) -> &mut Self {
        queue::<T>(self, "send_after", move |machine, owner, cx| {
            machine.send_after(owner, seconds, message, cx);
        })
    }

    fn sleep<T: EntityOwner>(&mut self) -> &mut Self {
        queue::<T>(self, "sleep", |machine, _, _| machine.sleep())
    }

    fn sleep_for<T: EntityOwner>(&mut self, seconds: f64) -> &mut Self {
        queue::<T>(self, "sleep_for", move |machine, owner, cx| machine.sleep_for(owner, seconds, cx))
    }

    fn wake<T: EntityOwner>(&mut self) -> &mut Self {
        queue::<T>(self, "wake", |machine, _, _| {
            machine.wake();
        })
    }

    fn stop_machine<T: EntityOwner>(&mut self) -> &mut Self {
        queue::<T>(self, "stop_machine", |machine, owner, cx| machine.stop(owner, cx))
    }
}

fn queue<'c, 'w, T: EntityOwner>(
    commands: &'c mut EntityCommands<'w>,
    command: &'static str,
    act: impl FnOnce(&mut MachineMut<'_, T>, &mut T, &mut T::Context<'_>) + Send + 'static,
) -> &'c mut EntityCommands<'w> {
    let entity = commands.id();
    // Not queued on the entity: what to do if it is gone is decided here.
    commands.commands_mut().queue(move |world: &mut World| reach(world, entity, command, act));
    commands
}

/// How a command reaches machines, kept from one to the next.
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

pub(crate) fn reach<T: EntityOwner>(
    world: &mut World,
    entity: Entity,
    command: &str,
    act: impl FnOnce(&mut MachineMut<'_, T>, &mut T, &mut T::Context<'_>),
) -> bevy_ecs::error::Result {
    let mut act = Some(act);
    reach_each(world, &[entity], command, |machine, owner, cx| {
        if let Some(act) = act.take() {
            act(machine, owner, cx);
        }
    })
}

/// Acts on the machines of some entities, in this order. What follows their steps comes after the last, and what their callbacks have
/// commanded leads to something after that.
pub(crate) fn reach_each<T: EntityOwner>(
    world: &mut World,
    entities: &[Entity],
    command: &str,
    mut act: impl FnMut(&mut MachineMut<'_, T>, &mut T, &mut T::Context<'_>),
) -> bevy_ecs::error::Result {
    #[cfg(feature = "serialize")]
    for entity in entities {
        saved::settle::<T>(world, *entity);
    }
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
    let book = reaching.world.get_resource::<SavedBy<T>>().cloned();
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
                    // As long as a callback may panic.
                    next_look.forget();
                    let was_started = machine.is_started();
                    let (value, changing) = (owner.bypass_change_detection(), machine.bypass_change_detection());
                    let Reached { has_changed, has_read_clock } =
                        lend(&mut cx, |cx| reach_machine(changing, steps, value, cx, &mut act));
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
                    next_look.ask(&machine);
                    #[cfg(feature = "serialize")]
                    if let Some(book) = &book {
                        book.note(lend(&mut cx, |cx| T::now(cx)));
                    }
                    log.close(is_followed && (has_changed || machine.is_started() != was_started));
                }
                label::leave();
                None
            }
        })
    }));
    // After a panic, the machine that was visited may have changed.
    log.close_if_open();
    for entity in unreached {
        let why = why_unreached::<T>(entity, reaching.world);
        debug!("{command} of {} ignored: {why}", Named::of(entity, reaching.world));
    }
    if has_missed && let Some(clock) = reaching.world.get_resource::<ClockOf<T>>() {
        clock.warn_of_none();
    }
    // Before what the callbacks have commanded: that comes after it.
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

/// Has `f` see to one machine, with its owner and their context. Returns `None` if there is none to be had.
#[cfg(feature = "reflect")]
pub(crate) fn visit<T: EntityOwner, R>(
    world: &mut World,
    entity: Entity,
    f: impl FnOnce(&mut Machine<T>, &mut T, &mut T::Context<'_>) -> R,
) -> Option<R> {
    let mut state = take_state::<T>(world);
    label::enter_world(&[entity], world);
    let reading = read_clock::<T>(world);
    let mut result = None;
    if let Ok((mut machines, Ok(mut param), mut commands)) = state.get_mut(world)
        && let Ok((mut owner, mut machine, mut next_look, body)) = machines.get_mut(entity)
    {
        let mut cx = EntityContext::<T>::at(entity, body, param.p0(), commands.reborrow(), reading);
        cx.visit(entity);
        next_look.forget();
        result = Some(lend(&mut cx, |cx| f(&mut machine, owner.bypass_change_detection(), cx)));
        label::leave();
    }
    state.apply(world);
    world.insert_resource(Reach(Some(state)));
    result
}

/// Takes out how machines are reached. It is made again if it does not come back: a callback may panic, and an observer may reach
/// again.
fn take_state<T: EntityOwner>(world: &mut World) -> SystemState<InReach<T>> {
    let kept = world.get_resource_mut::<Reach<T>>().and_then(|mut reach| reach.0.take());
    kept.unwrap_or_else(|| SystemState::new(world))
}

/// Reads the clock that the commands for machines of `T` go by.
pub(crate) fn read_clock<T: Owner>(world: &World) -> Reading {
    Reading::for_command(world.get_resource().map(ClockOf::<T>::kind).unwrap_or_default(), world)
}

fn why_unreached<T: EntityOwner>(entity: Entity, world: &mut World) -> String {
    let parts = BodyParts::<T>::from_world(world);
    match world.get_entity(entity) {
        Ok(entity) if entity.contains::<T>() && entity.contains::<Machine<T>>() => {
            format!("it {}", parts.lacking(|part| entity.contains_id(part), world.components()))
        }
        _ => format!("there is no {} with a machine", type_name::<T>()),
    }
}

/// What has become of a machine.
struct Reached {
    /// Whether it has changed state, or was stopped.
    has_changed: bool,
    /// Whether the machine has read the clock by itself: for a start or a change, made or refused.
    has_read_clock: bool,
}

/// Starts the machine if its current state has not been entered, and acts on it.
fn reach_machine<T: EntityOwner>(
    machine: &mut Machine<T>,
    mut steps: Option<&mut Vec<Step<T>>>,
    owner: &mut T,
    cx: &mut T::Context<'_>,
    act: &mut impl FnMut(&mut MachineMut<'_, T>, &mut T, &mut T::Context<'_>),
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
