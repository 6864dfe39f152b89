//! The journal of an owner's machines (rule 29 of the library).

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use bevy_ecs::entity::Entity;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use demeanor::{Journal, Owner, Step};

/// The last changes of the machines of `T`, made or refused, if the plugin has
/// [`with_journal`](crate::StateMachinePlugin::with_journal).
///
/// It dereferences to the [`Journal`], in which entities are the owners: `journal.of(entity)` is the history of one entity, and
/// `journal.flow()` counts the changes of all. An entry is added when the consequences of the change are carried out: at the
/// sync point after the pass, or after the command.
///
/// # Examples
///
/// ```
/// use bevy_app::prelude::*;
/// use bevy_demeanor::prelude::*;
/// use bevy_demeanor::MachineJournal;
/// use bevy_ecs::prelude::*;
///
/// #[derive(Component, Owner)]
/// struct Guard;
///
/// struct Patrol;
/// struct Rest;
/// impl MachineState<Guard> for Patrol {
///     fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) {
///         fsm.change_state(&Rest);
///     }
/// }
/// impl MachineState<Guard> for Rest {}
///
/// let mut app = App::new();
/// app.add_state_machine_with(StateMachinePlugin::<Guard>::new().with_journal(1000));
/// let guard = app.world_mut().spawn((Guard, Machine::<Guard>::new(&Patrol))).id();
/// app.update();
///
/// let journal = app.world().resource::<MachineJournal<Guard>>();
/// assert_eq!(journal.of(guard).next().unwrap().to, Some("Rest"));
/// ```
#[derive(Resource)]
pub struct MachineJournal<T: Owner> {
    journal: Journal<Entity>,
    of: PhantomData<fn() -> T>,
}

impl<T: Owner> MachineJournal<T> {
    pub(crate) fn new(entries: usize) -> Self {
        Self { journal: Journal::new(entries), of: PhantomData }
    }
}

/// Records a step, if there is a journal.
pub(crate) fn note<T: Owner>(step: &Step<T>, entity: Entity, world: &mut World) {
    if let Some(mut journal) = world.get_resource_mut::<MachineJournal<T>>() {
        journal.note_step(entity, step);
    }
}

impl<T: Owner> Deref for MachineJournal<T> {
    type Target = Journal<Entity>;

    fn deref(&self) -> &Journal<Entity> {
        &self.journal
    }
}

impl<T: Owner> DerefMut for MachineJournal<T> {
    fn deref_mut(&mut self) -> &mut Journal<Entity> {
        &mut self.journal
    }
}

impl<T: Owner> fmt::Debug for MachineJournal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MachineJournal").field(&self.journal).finish()
    }
}
