//! The context of the callbacks of an entity's machine.

use core::any::type_name;
use core::fmt;
use core::mem;

use bevy_ecs::bundle::Bundle;
use bevy_ecs::entity::Entity;
use bevy_ecs::query::QueryItem;
use bevy_ecs::system::{Commands, EntityCommands, SystemParamItem};
use bevy_ecs::world::World;
#[cfg(feature = "time")]
use bevy_time::Time;
use demeanor::Owner;

use crate::clock::Reading;
use crate::label;
use crate::owner::EntityOwner;

/// The context of `T`'s callbacks, for the signatures of states: `cx: &mut Cx<'_, Guard>`.
///
/// It is [`EntityContext`] for an owner that derives [`Owner`]; otherwise it is `Owner::Context`.
pub type Cx<'a, T> = <T as Owner>::Context<'a>;

/// The context of an entity's callbacks: its entity, the components that [`T::Body`](EntityOwner::Body) names, the rest of the
/// world that [`T::Param`](EntityOwner::Param) names, commands, and the time.
///
/// All of these are fields, which can be borrowed at the same time. The plugin creates the context for each pass and each
/// command.
///
/// # Examples
///
/// ```
/// use bevy_demeanor::prelude::*;
/// use bevy_ecs::prelude::*;
///
/// #[derive(Component)]
/// struct Place(f32);
/// #[derive(Resource)]
/// struct Range(f32);
/// #[derive(Component)]
/// struct Blast;
///
/// #[derive(Component, Owner)]
/// #[owner(body = &mut Place, param = Res<Range>, message = f32)]
/// struct Mine;
///
/// struct Armed;
/// impl MachineState<Mine> for Armed {
///     fn on_message(&self, _: &mut Mine, step: &f32, _: &mut Fsm<'_, Mine>, cx: &mut Cx<'_, Mine>) -> bool {
///         if (*step - cx.body.0).abs() < cx.param.0 {
///             cx.commands.spawn((Blast, Place(cx.body.0)));
///             cx.this().despawn();
///         }
///         true
///     }
/// }
/// ```
#[non_exhaustive]
pub struct EntityContext<'a, T: EntityOwner> {
    /// The entity whose callback runs.
    pub entity: Entity,
    /// Its components, as `T::Body` names them.
    pub body: QueryItem<'a, 'a, T::Body>,
    /// The parameter of type `T::Param`.
    pub param: SystemParamItem<'a, 'a, T::Param>,
    /// Records commands. They are applied at the next sync point; the commands of a pass are in the order of the entities.
    pub commands: Commands<'a, 'a>,
    /// The time of `Res<Time>` in the schedule of the pass: the virtual time, or the fixed time in `FixedUpdate`. It is 0 if
    /// the world has no `Time`.
    #[cfg(feature = "time")]
    pub time: Time,
    reading: Reading,
    is_owner_changed: bool,
    is_logged: bool,
    _visits: label::Visits,
}

impl<'a, T: EntityOwner> EntityContext<'a, T> {
    /// Creates a context, to call a state's callbacks without a pass, for example in a test. Its time is 0.
    pub fn new(
        entity: Entity,
        body: QueryItem<'a, 'a, T::Body>,
        param: SystemParamItem<'a, 'a, T::Param>,
        commands: Commands<'a, 'a>,
    ) -> Self {
        Self::at(entity, body, param, commands, Reading::default())
    }

    pub(crate) fn at(
        entity: Entity,
        body: QueryItem<'a, 'a, T::Body>,
        param: SystemParamItem<'a, 'a, T::Param>,
        commands: Commands<'a, 'a>,
        reading: Reading,
    ) -> Self {
        #[cfg(feature = "time")]
        let time = reading.time;
        Self {
            entity,
            body,
            param,
            commands,
            #[cfg(feature = "time")]
            time,
            reading,
            is_owner_changed: false,
            is_logged: label::is_wanted(),
            _visits: label::Visits::begin(),
        }
    }

    /// Records commands for the entity whose callback runs.
    pub fn this(&mut self) -> EntityCommands<'_> {
        self.commands.entity(self.entity)
    }

    /// Returns the time of the context's clock, in seconds: for [`Owner::now`].
    #[inline]
    #[must_use]
    pub fn now(&self) -> f64 {
        self.reading.now()
    }

    /// Writes the description of an owner, for [`Owner::label`]: its type and the entity whose callback runs, such as
    /// `Guard 4v0`, and the entity's `Name`, such as `Guard 4v0 (Anna)`. So the log lines of a machine name the entity.
    ///
    /// # Errors
    ///
    /// When the formatter fails.
    pub fn write_label(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        label::write::<T>(f)
    }

    /// Sets the entity for the next callbacks.
    #[inline]
    pub(crate) fn visit(&mut self, entity: Entity) {
        self.entity = entity;
        if self.is_logged {
            label::visit(entity);
        }
    }

    /// Marks the owner as changed. Only owners with [`OwnerChanges::WhenTold`](crate::OwnerChanges::WhenTold) need this.
    pub fn mark_owner_changed(&mut self) {
        self.is_owner_changed = true;
    }

    /// Spawns an entity when the commands are applied. It has the same id on any number of threads. `commands.spawn` takes an
    /// id at once, and in parallel passes this id depends on the other threads.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_demeanor::prelude::*;
    /// use bevy_ecs::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Egg;
    ///
    /// #[derive(Component, Owner)]
    /// struct Hen;
    ///
    /// struct Lay;
    /// impl MachineState<Hen> for Lay {
    ///     fn update(&self, _: &mut Hen, _: &mut Fsm<'_, Hen>, cx: &mut Cx<'_, Hen>) {
    ///         cx.spawn_later(Egg);
    ///     }
    /// }
    ///
    /// let mut app = bevy_app::App::new();
    /// app.add_state_machine_with(StateMachinePlugin::<Hen>::new().in_parallel());
    /// app.world_mut().spawn((Hen, Machine::<Hen>::new(&Lay)));
    /// app.update();
    /// assert_eq!(app.world_mut().query::<&Egg>().iter(app.world()).count(), 1);
    /// ```
    pub fn spawn_later(&mut self, bundle: impl Bundle) {
        self.commands.queue(move |world: &mut World| {
            world.spawn(bundle);
        });
    }

    /// Returns whether a callback has marked the owner as changed since the last call of this function.
    #[inline]
    pub(crate) fn take_owner_changed(&mut self) -> bool {
        mem::take(&mut self.is_owner_changed)
    }

    /// Returns whether the time was read although there is no clock.
    #[inline]
    pub(crate) fn has_missed_clock(&self) -> bool {
        self.reading.has_been_missed()
    }

    /// Returns whether the pass is to find out if `Owner::now` reads a clock.
    pub(crate) fn is_clock_to_be_known(&self) -> bool {
        self.reading.is_to_be_known()
    }

    /// Forgets that the time was read without a clock, if the machine read it for a change or a refused change, and not its
    /// states.
    #[inline]
    pub(crate) fn set_missed_clock(&self, has_missed: bool) {
        self.reading.set_missed(has_missed);
    }
}

impl<T: EntityOwner> fmt::Debug for EntityContext<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("EntityContext");
        debug.field("owner", &type_name::<T>()).field("entity", &self.entity).finish_non_exhaustive()
    }
}

/// A type that can be the context of the callbacks of an owner `T` on an entity.
///
/// [`EntityContext`] and `()` implement it. Implement it for a context of your game, which is then created from the
/// `EntityContext` for each call: so the same states run in Bevy and outside of it.
///
/// # Examples
///
/// ```
/// use bevy_app::prelude::*;
/// use bevy_demeanor::prelude::*;
/// use bevy_ecs::prelude::*;
///
/// // The context of the states, in Bevy and outside of it.
/// struct Surroundings<'a> {
///     place: &'a mut f32,
///     gravity: f32,
/// }
///
/// #[derive(Component)]
/// struct Ball;
/// impl Owner for Ball {
///     type Context<'a> = Surroundings<'a>;
///     type Message = ();
/// }
///
/// struct Fall;
/// impl demeanor::State<Ball> for Fall {
///     fn update(&self, _: &mut Ball, _: &mut Fsm<'_, Ball>, cx: &mut Surroundings<'_>) {
///         *cx.place -= cx.gravity;
///     }
/// }
///
/// // Outside of Bevy.
/// let mut place = 20.0;
/// StateMachine::new(&Fall).update(&mut Ball, &mut Surroundings { place: &mut place, gravity: 9.8 });
/// assert_eq!(place, 10.2);
///
/// // In Bevy.
/// #[derive(Component)]
/// struct Place(f32);
/// #[derive(Resource)]
/// struct Gravity(f32);
///
/// impl EntityOwner for Ball {
///     type Body = &'static mut Place;
///     type Param = Res<'static, Gravity>;
/// }
///
/// impl CallbackContext<Ball> for Surroundings<'_> {
///     fn lend<R>(cx: &mut EntityContext<'_, Ball>, call: impl FnOnce(&mut Surroundings<'_>) -> R) -> R {
///         call(&mut Surroundings { place: &mut cx.body.0, gravity: cx.param.0 })
///     }
/// }
///
/// let mut app = App::new();
/// app.insert_resource(Gravity(9.8)).add_state_machine::<Ball>();
/// let ball = app.world_mut().spawn((Ball, Place(20.0), Machine::<Ball>::new(&Fall))).id();
/// app.update();
/// assert_eq!(app.world().get::<Place>(ball).unwrap().0, 10.2);
/// ```
///
/// Without this impl, the compiler says what to write:
///
/// ```compile_fail,E0277
/// use bevy_demeanor::prelude::*;
/// use bevy_ecs::prelude::*;
///
/// #[derive(Component)]
/// struct Lamp;
/// impl Owner for Lamp {
///     type Context<'a> = demeanor::GameTime;
///     type Message = ();
/// }
/// // "the plugin cannot give the callbacks of `Lamp` a `GameTime` as their context"
/// impl EntityOwner for Lamp {
///     type Body = ();
///     type Param = ();
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the plugin cannot give the callbacks of `{T}` a `{Self}` as their context",
    label = "not a context of an entity",
    note = "write `type Context<'a> = EntityContext<'a, {T}>` in `impl Owner for {T}`, or derive `Owner`",
    note = "for a context of your own, implement `CallbackContext<{T}>` for it"
)]
pub trait CallbackContext<T: Owner> {
    /// Creates the context and calls `call` with it. This runs for each entity of a pass, so it should be cheap.
    fn lend<R>(cx: &mut EntityContext<'_, T>, call: impl FnOnce(&mut T::Context<'_>) -> R) -> R
    where
        T: EntityOwner;
}

impl<T> CallbackContext<T> for EntityContext<'_, T>
where
    T: EntityOwner + for<'a> Owner<Context<'a> = EntityContext<'a, T>>,
{
    #[inline]
    fn lend<R>(cx: &mut EntityContext<'_, T>, call: impl FnOnce(&mut T::Context<'_>) -> R) -> R {
        call(cx)
    }
}

impl<T: for<'a> Owner<Context<'a> = ()>> CallbackContext<T> for () {
    #[inline]
    fn lend<R>(_: &mut EntityContext<'_, T>, call: impl FnOnce(&mut T::Context<'_>) -> R) -> R
    where
        T: EntityOwner,
    {
        call(&mut ())
    }
}

/// Calls a function with the context of the callbacks of `T`.
#[inline]
pub(crate) fn lend<T: EntityOwner, R>(cx: &mut EntityContext<'_, T>, call: impl FnOnce(&mut T::Context<'_>) -> R) -> R {
    <T::Context<'static> as CallbackContext<T>>::lend(cx, call)
}
