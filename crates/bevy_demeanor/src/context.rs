//! A ready-made context for the states of entities.

use core::fmt;
use core::ops::{Deref, DerefMut};

use bevy_ecs::entity::Entity;
use bevy_ecs::system::{Commands, EntityCommands, SystemParam, SystemParamItem};

/// A context that is a system parameter, the entity whose callback runs, and commands.
///
/// It dereferences to the parameter.
///
/// # Examples
///
/// ```
/// use bevy_demeanor::{EntityContext, EntityOwner};
/// use bevy_ecs::prelude::*;
/// use demeanor::{Fsm, Owner, State};
///
/// #[derive(Component)]
/// struct Mine;
///
/// #[derive(Resource)]
/// struct Range(f32);
///
/// impl Owner for Mine {
///     type Context<'a> = EntityContext<'a, Res<'static, Range>>;
///     type Message = f32;
/// }
///
/// impl EntityOwner for Mine {
///     type Param = Res<'static, Range>;
///
///     fn context<'a>(range: Res<'a, Range>, commands: Commands<'a, 'a>) -> Self::Context<'a> {
///         EntityContext::new(range, commands)
///     }
///
///     fn visit(cx: &mut Self::Context<'_>, entity: Entity) {
///         cx.visit(entity);
///     }
/// }
///
/// struct Armed;
/// impl State<Mine> for Armed {
///     fn on_message(&self, _: &mut Mine, step: &f32, _: &mut Fsm<'_, Mine>, cx: &mut <Mine as Owner>::Context<'_>) -> bool {
///         if *step < cx.0 {
///             cx.this().despawn();
///         }
///         true
///     }
/// }
/// ```
pub struct EntityContext<'a, P: SystemParam + 'static> {
    entity: Entity,
    commands: Commands<'a, 'a>,
    param: SystemParamItem<'a, 'a, P>,
}

impl<'a, P: SystemParam + 'static> EntityContext<'a, P> {
    /// Puts a context together, for [`EntityOwner::context`](crate::EntityOwner::context).
    pub fn new(param: SystemParamItem<'a, 'a, P>, commands: Commands<'a, 'a>) -> Self {
        Self { entity: Entity::PLACEHOLDER, commands, param }
    }

    /// Turns to an entity, for [`EntityOwner::visit`](crate::EntityOwner::visit).
    #[inline]
    pub fn visit(&mut self, entity: Entity) {
        self.entity = entity;
    }

    /// Returns the entity whose callback runs.
    #[inline]
    #[must_use]
    pub fn entity(&self) -> Entity {
        self.entity
    }

    /// Records commands, to be applied at the next sync point.
    pub fn commands(&mut self) -> &mut Commands<'a, 'a> {
        &mut self.commands
    }

    /// Records commands for the entity whose callback runs.
    pub fn this(&mut self) -> EntityCommands<'_> {
        self.commands.entity(self.entity)
    }
}

impl<'a, P: SystemParam + 'static> Deref for EntityContext<'a, P> {
    type Target = SystemParamItem<'a, 'a, P>;

    fn deref(&self) -> &Self::Target {
        &self.param
    }
}

impl<P: SystemParam + 'static> DerefMut for EntityContext<'_, P> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.param
    }
}

impl<P: SystemParam + 'static> fmt::Debug for EntityContext<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntityContext").field("entity", &self.entity).finish_non_exhaustive()
    }
}
