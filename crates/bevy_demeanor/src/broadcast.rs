//! One message for many machines.

use core::fmt;

use bevy_ecs::entity::Entity;
use bevy_ecs::error::Result;
use bevy_ecs::system::Command;
use bevy_ecs::world::World;

use crate::machine::Machine;
use crate::owner::EntityOwner;
use crate::reach::reach_each;
use crate::sets::Machines;
use crate::tables::InOrder;

impl<T: EntityOwner<Message: Send>> Machines<T> {
    /// Returns a command that offers a message to all machines of `T`, in the order of Bevy's tables. A pass over owners without a
    /// body updates them in this order, too. The command leaves out disabled entities.
    ///
    /// The consequences of its changes, such as markers and events, follow after the last machine.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::prelude::*;
    ///
    /// enum Told {
    ///     Alarm,
    /// }
    ///
    /// #[derive(Component, Owner)]
    /// #[owner(message = Told)]
    /// struct Guard;
    ///
    /// struct Sleep;
    /// struct Search;
    /// impl MachineState<Guard> for Search {}
    /// impl MachineState<Guard> for Sleep {
    ///     fn on_message(&self, _: &mut Guard, _: &Told, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) -> bool {
    ///         fsm.change_state(&Search);
    ///         true
    ///     }
    /// }
    ///
    /// let mut world = World::new();
    /// let guards = [(); 3].map(|()| world.spawn((Guard, Machine::<Guard>::new(&Sleep))).id());
    /// world.commands().queue(Machines::<Guard>::send_to([guards[1]], Told::Alarm));
    /// world.flush();
    /// let searching = |world: &World| guards.map(|guard| world.get::<Machine<Guard>>(guard).unwrap().is_in_state(&Search));
    /// assert_eq!(searching(&world), [false, true, false]);
    /// world.commands().queue(Machines::<Guard>::broadcast(Told::Alarm));
    /// world.flush();
    /// assert_eq!(searching(&world), [true; 3]);
    /// ```
    pub fn broadcast(message: T::Message) -> impl Command {
        move |world: &mut World| {
            let mut machines = world.query::<InOrder<(Entity, &T, &Machine<T>)>>();
            let entities: Vec<Entity> = machines.iter(world).filter_map(|(row,)| Some(row?.0)).collect();
            send_to_each::<T>(world, &entities, "broadcast", &message)
        }
    }

    /// Returns a command that offers a message to the machines of some entities, in this order: the entities of a query, for
    /// example. Disabled entities get it as well, because they are named.
    ///
    /// It skips an entity that is gone, or that has no machine of `T` or no owner; this is logged at level debug.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::prelude::*;
    ///
    /// #[derive(Clone, Copy)]
    /// struct Noise;
    /// #[derive(Component, Owner)]
    /// #[owner(message = Noise)]
    /// struct Guard;
    ///
    /// #[derive(Component)]
    /// struct Place(f32);
    ///
    /// fn shatter_glass(guards: Query<(Entity, &Place), With<Guard>>, mut commands: Commands) {
    ///     let near = guards.iter().filter(|(_, place)| place.0 < 10.0).map(|(guard, _)| guard);
    ///     commands.queue(Machines::<Guard>::send_to(near, Noise));
    /// }
    /// # bevy_ecs::system::assert_is_system(shatter_glass);
    /// ```
    pub fn send_to(entities: impl IntoIterator<Item = Entity>, message: T::Message) -> SendTo<T> {
        SendTo { entities: entities.into_iter().collect(), message }
    }
}

/// The command of [`Machines::send_to`].
#[must_use = "a command does nothing until it is queued"]
pub struct SendTo<T: EntityOwner<Message: Send>> {
    entities: Vec<Entity>,
    message: T::Message,
}

impl<T: EntityOwner<Message: Send>> Command for SendTo<T> {
    type Out = Result;

    fn apply(self, world: &mut World) -> Result {
        send_to_each::<T>(world, &self.entities, "send_to", &self.message)
    }
}

impl<T: EntityOwner<Message: Send>> fmt::Debug for SendTo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendTo").field("entities", &self.entities).finish_non_exhaustive()
    }
}

fn send_to_each<T: EntityOwner>(world: &mut World, entities: &[Entity], command: &str, message: &T::Message) -> Result {
    reach_each::<T>(world, entities, command, &mut |machine, owner, cx| {
        machine.send(owner, message, cx);
    })
}
