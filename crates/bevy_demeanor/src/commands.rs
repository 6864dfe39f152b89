//! Changes from outside: the verbs of a machine, as commands.

use core::any::type_name;

use bevy_ecs::entity::Entity;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::query::Allow;
use bevy_ecs::resource::Resource;
use bevy_ecs::system::{Commands, EntityCommands, ParamSet, Query, SystemState};
use bevy_ecs::world::World;
use demeanor::{StateRef, Watched};
use log::debug;

use crate::follow::{Followers, Log};
use crate::machine::Machine;
use crate::owner::EntityOwner;

/// The verbs of a machine on `commands.entity(enemy)`.
///
/// They act when the commands are applied, in the order given, and with all that a callback asks for. A machine that has not
/// been started yet is started first. A disabled entity is reached as well, since it is meant.
///
/// An entity that is no more, or has no machine of `T` or no owner, is left alone; that is logged at debug.
///
/// # Examples
///
/// ```
/// use bevy_demeanor::{Machine, MachineCommands};
/// use bevy_ecs::prelude::*;
/// # use bevy_demeanor::EntityOwner;
/// # use demeanor::{Fsm, Owner, State};
/// #
/// # #[derive(Component)]
/// # struct Enemy;
/// # enum Told { Noise }
/// # impl Owner for Enemy { type Context<'a> = (); type Message = Told; }
/// # impl EntityOwner for Enemy {
/// #     type Param = ();
/// #     fn context<'a>((): (), _: Commands<'a, 'a>) {}
/// # }
/// # struct Idle;
/// # struct Alert;
/// # struct Dead;
/// # impl State<Enemy> for Idle {
/// #     fn on_message(&self, _: &mut Enemy, _: &Told, fsm: &mut Fsm<'_, Enemy>, _: &mut ()) -> bool {
/// #         fsm.change_state(&Alert);
/// #         true
/// #     }
/// # }
/// # impl State<Enemy> for Alert {}
/// # impl State<Enemy> for Dead {}
/// let mut world = World::new();
/// let enemy = world.spawn((Enemy, Machine::<Enemy>::new(&Idle))).id();
///
/// world.commands().entity(enemy).send::<Enemy>(Told::Noise);
/// world.flush();
/// assert!(world.get::<Machine<Enemy>>(enemy).unwrap().is_in_state(&Alert));
///
/// // `Dead` is a state of nobody else, so whose machine is meant goes without saying.
/// world.commands().entity(enemy).change_state(&Dead).revert_state::<Enemy>();
/// world.flush();
/// assert!(world.get::<Machine<Enemy>>(enemy).unwrap().is_in_state(&Alert));
/// ```
pub trait MachineCommands {
    /// Changes to `to`. For a state of several owners, say whose: `change_state::<Legs>(&Idle)`.
    fn change_state<T: EntityOwner>(&mut self, to: impl Into<StateRef<T>>) -> &mut Self;

    /// Changes to the previous state.
    fn revert_state<T: EntityOwner>(&mut self) -> &mut Self;

    /// Suspends current and enters `over`.
    fn push_state<T: EntityOwner>(&mut self, over: impl Into<StateRef<T>>) -> &mut Self;

    /// Leaves current and resumes what it was pushed over.
    fn pop_state<T: EntityOwner>(&mut self) -> &mut Self;

    /// Changes to the descendant last active in `composite`, or to its initial one.
    fn resume_state<T: EntityOwner>(&mut self, composite: impl Into<StateRef<T>>) -> &mut Self;

    /// Offers a message to the machine's states.
    fn send<T: EntityOwner<Message: Send>>(&mut self, message: T::Message) -> &mut Self
    where
        T::Message: 'static;

    /// Exits the active states; the machine then has none. Removing the component instead calls nothing.
    fn stop_machine<T: EntityOwner>(&mut self) -> &mut Self;
}

impl MachineCommands for EntityCommands<'_> {
    fn change_state<T: EntityOwner>(&mut self, to: impl Into<StateRef<T>>) -> &mut Self {
        let to = to.into();
        queue(self, "change_state", move |machine, owner, cx| {
            machine.change_state(owner, to, cx);
        })
    }

    fn revert_state<T: EntityOwner>(&mut self) -> &mut Self {
        queue::<T>(self, "revert_state", |machine, owner, cx| {
            machine.revert_state(owner, cx);
        })
    }

    fn push_state<T: EntityOwner>(&mut self, over: impl Into<StateRef<T>>) -> &mut Self {
        let over = over.into();
        queue(self, "push_state", move |machine, owner, cx| {
            machine.push_state(owner, over, cx);
        })
    }

    fn pop_state<T: EntityOwner>(&mut self) -> &mut Self {
        queue::<T>(self, "pop_state", |machine, owner, cx| {
            machine.pop_state(owner, cx);
        })
    }

    fn resume_state<T: EntityOwner>(&mut self, composite: impl Into<StateRef<T>>) -> &mut Self {
        let composite = composite.into();
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

    fn stop_machine<T: EntityOwner>(&mut self) -> &mut Self {
        queue::<T>(self, "stop_machine", |machine, owner, cx| machine.stop(owner, cx))
    }
}

fn queue<'c, 'w, T: EntityOwner>(
    commands: &'c mut EntityCommands<'w>,
    verb: &'static str,
    act: impl FnOnce(&mut Watched<'_, T>, &mut T, &mut T::Context<'_>) + Send + 'static,
) -> &'c mut EntityCommands<'w> {
    let entity = commands.id();
    // Not queued on the entity: that there is none any more is for us to judge.
    commands.commands_mut().queue(move |world: &mut World| reach(world, entity, verb, act));
    commands
}

/// How a command reaches one machine, kept from one to the next.
#[derive(Resource)]
struct Reach<T: EntityOwner>(Option<SystemState<Reached<T>>>);

type Reached<T> = (
    Query<'static, 'static, (&'static mut T, &'static mut Machine<T>), Allow<Disabled>>,
    ParamSet<'static, 'static, (<T as EntityOwner>::Param,)>,
    Commands<'static, 'static>,
);

fn reach<T: EntityOwner>(
    world: &mut World,
    entity: Entity,
    verb: &str,
    act: impl FnOnce(&mut Watched<'_, T>, &mut T, &mut T::Context<'_>),
) -> bevy_ecs::error::Result {
    // Taken out, and made anew if it does not come back: a callback may panic, and an observer may reach again.
    let kept = world.get_resource_mut::<Reach<T>>().and_then(|mut reach| reach.0.take());
    let mut state = kept.unwrap_or_else(|| SystemState::new(world));
    let is_followed = world.get_resource::<Followers<T>>().is_some_and(Followers::is_anybody);
    let mut log = Log::default();
    {
        let (mut machines, mut param, mut commands) = state.get_mut(world)?;
        if let Ok((mut owner, mut machine)) = machines.get_mut(entity) {
            let mut cx = T::context(param.p0(), commands.reborrow());
            T::visit(&mut cx, entity);
            let machine = &mut *machine;
            let mut watched = machine.machine.watched(is_followed.then(|| log.visit(entity)));
            if !machine.is_started {
                machine.is_started = true;
                watched.start(&mut owner, &mut cx);
            }
            act(&mut watched, &mut owner, &mut cx);
        } else {
            debug!("{verb} of entity {entity} ignored: there is no {} with a machine", type_name::<T>());
        }
    }
    state.apply(world);
    world.insert_resource(Reach(Some(state)));
    log.close();
    if let Some(log) = log.take() {
        log.follow(world);
    }
    Ok(())
}
