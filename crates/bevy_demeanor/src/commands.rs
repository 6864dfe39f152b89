//! State changes from outside: the methods of a machine, as commands.

use bevy_ecs::system::EntityCommands;
use bevy_ecs::world::World;
use demeanor::{IntoState, MachineMut};

use crate::owner::EntityOwner;
use crate::reach::reach;

/// The methods of a machine on `commands.entity(enemy)`.
///
/// They take effect when the commands are applied, in the given order, including all requests of the callbacks. A machine whose
/// current state has not been entered yet is started first. Disabled entities are reached as well, because they are named.
///
/// A command for an entity that is gone, or that has no machine of `T` or no owner, has no effect; this is logged at level
/// debug.
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
/// // `Idle` is a state of only one type of owner, so the compiler infers the type of the machine.
/// world.commands().entity(enemy).change_state(&Idle).revert_state::<Enemy>();
/// world.flush();
/// assert!(world.get::<Machine<Enemy>>(enemy).unwrap().is_in_state(&Alert));
///
/// // `can_exit` of `Stagger` refuses changes, but `force_state` does not call it; then `ensure_state` has nothing to do.
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
    /// Changes to `to`. For a state of several owners, name the owner: `change_state::<Legs>(&Idle)`.
    fn change_state<T: EntityOwner>(&mut self, to: impl IntoState<T>) -> &mut Self;

    /// Changes to `to`, unless it is active already: in this case, nothing happens, and no guard is called.
    fn ensure_state<T: EntityOwner>(&mut self, to: impl IntoState<T>) -> &mut Self;

    /// Changes to `to` without calling any `can_exit`; `can_enter` is called.
    fn force_state<T: EntityOwner>(&mut self, to: impl IntoState<T>) -> &mut Self;

    /// Changes to the previous state.
    fn revert_state<T: EntityOwner>(&mut self) -> &mut Self;

    /// Suspends the current state and enters `over`.
    fn push_state<T: EntityOwner>(&mut self, over: impl IntoState<T>) -> &mut Self;

    /// Leaves the current state and resumes the path below it.
    fn pop_state<T: EntityOwner>(&mut self) -> &mut Self;

    /// Changes to the last active descendant of `composite`, or to its initial one.
    fn resume_state<T: EntityOwner>(&mut self, composite: impl IntoState<T>) -> &mut Self;

    /// Offers a message to the machine's states.
    fn send<T: EntityOwner<Message: Send>>(&mut self, message: T::Message) -> &mut Self
    where
        T::Message: 'static;

    /// Sets a timer of the machine: when the owner's clock has advanced by `seconds`, it requests a change to `to`. The pass
    /// carries it out (rule 25).
    fn change_state_after<T: EntityOwner>(&mut self, seconds: f64, to: impl IntoState<T>) -> &mut Self;

    /// Requests a change to `to` at the beginning of the owner's next update (rule 36).
    fn change_state_next<T: EntityOwner>(&mut self, to: impl IntoState<T>) -> &mut Self;

    /// Sets a timer of the machine: when the owner's clock has advanced by `seconds`, it sends a message.
    fn send_after<T: EntityOwner<Message: Send + Sync>>(&mut self, seconds: f64, message: T::Message) -> &mut Self;

    /// Sets a repeating timer of the machine: it sends a message every so many seconds by the owner's clock (rule 39).
    fn send_every<T: EntityOwner<Message: Send + Sync>>(&mut self, seconds: f64, message: T::Message) -> &mut Self;

    /// Puts the machine to sleep: its states are not updated until it wakes (rule 26).
    fn sleep<T: EntityOwner>(&mut self) -> &mut Self;

    /// Puts the machine to sleep for a number of seconds by the owner's clock.
    fn sleep_for<T: EntityOwner>(&mut self, seconds: f64) -> &mut Self;

    /// Wakes the machine.
    fn wake<T: EntityOwner>(&mut self) -> &mut Self;

    /// Exits the active states; the machine then has none. Removing the component instead calls no callback.
    fn stop_machine<T: EntityOwner>(&mut self) -> &mut Self;

    /// Calls a function with the machine, its owner and their context: for all methods of a machine that are no commands, and for
    /// several in one command.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_app::prelude::*;
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::prelude::*;
    ///
    /// #[derive(Component, Owner)]
    /// struct Guard {
    ///     wounds: u32,
    /// }
    /// struct Patrol;
    /// struct Limp;
    /// impl MachineState<Guard> for Patrol {}
    /// impl MachineState<Guard> for Limp {}
    ///
    /// let mut app = App::new();
    /// app.add_state_machine::<Guard>();
    /// let guard = app.world_mut().spawn((Guard { wounds: 0 }, Machine::<Guard>::new(&Patrol))).id();
    /// app.world_mut().commands().entity(guard).with_machine(|machine, guard: &mut Guard, cx| {
    ///     guard.wounds += 1;
    ///     machine.change_state(guard, &Limp, cx);
    ///     machine.sleep();
    /// });
    /// app.update();
    /// let machine = app.world().get::<Machine<Guard>>(guard).unwrap();
    /// assert!(machine.is_in_state(&Limp) && machine.is_asleep());
    /// ```
    fn with_machine<T: EntityOwner>(
        &mut self,
        act: impl FnOnce(&mut MachineMut<'_, T>, &mut T, &mut T::Context<'_>) + Send + 'static,
    ) -> &mut Self;
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

    fn change_state_next<T: EntityOwner>(&mut self, to: impl IntoState<T>) -> &mut Self {
        let to = to.into_state();
        queue(self, "change_state_next", move |machine, owner, cx| {
            machine.change_state_next(owner, to, cx);
        })
    }

    fn send_after<T: EntityOwner<Message: Send + Sync>>(&mut self, seconds: f64, message: T::Message) -> &mut Self {
        queue::<T>(self, "send_after", move |machine, owner, cx| {
            machine.send_after(owner, seconds, message, cx);
        })
    }

    fn send_every<T: EntityOwner<Message: Send + Sync>>(&mut self, seconds: f64, message: T::Message) -> &mut Self {
        queue::<T>(self, "send_every", move |machine, owner, cx| {
            machine.send_every(owner, seconds, message, cx);
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

    fn with_machine<T: EntityOwner>(
        &mut self,
        act: impl FnOnce(&mut MachineMut<'_, T>, &mut T, &mut T::Context<'_>) + Send + 'static,
    ) -> &mut Self {
        queue::<T>(self, "with_machine", act)
    }
}

fn queue<'c, 'w, T: EntityOwner>(
    commands: &'c mut EntityCommands<'w>,
    command: &'static str,
    act: impl FnOnce(&mut MachineMut<'_, T>, &mut T, &mut T::Context<'_>) + Send + 'static,
) -> &'c mut EntityCommands<'w> {
    let entity = commands.id();
    // Not queued on the entity, because this code decides what happens if the entity is gone.
    commands.commands_mut().queue(move |world: &mut World| reach(world, entity, command, act));
    commands
}
