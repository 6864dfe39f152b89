//! What a component must say to be the owner of a machine: where its callbacks' context comes from.

use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::entity::Entity;
use bevy_ecs::system::{Commands, SystemParam, SystemParamItem};
use demeanor::Owner;

/// A component whose entities have state machines.
///
/// It names a [`SystemParam`], and makes of it the context that the states' callbacks are given. So states can read the
/// time, resources and other entities, write what the parameter lets them, and record commands. States that know nothing of
/// Bevy run as they are: their context is made here. [`EntityContext`](crate::EntityContext) is a context that needs no
/// making.
///
/// # What owners see of each other
///
/// The pass holds `Query<(&mut Self, &mut Machine<Self>)>`. A parameter that reads or writes these two components conflicts
/// with it, which Bevy reports when the schedule is built. So what other owners must see of an owner lies in a component of
/// its own, such as its place; or is copied into one before the pass, and is then the same for all whom the pass updates.
///
/// ```
/// use bevy_app::{App, Update};
/// use bevy_demeanor::{EntityContext, EntityOwner, Machine, StateMachinePlugin, StateSet};
/// use bevy_ecs::prelude::*;
/// use bevy_ecs::system::SystemParam;
/// use demeanor::{Fsm, Owner, State};
///
/// #[derive(Component)]
/// struct Wolf {
///     hunger: u32,
///     rival: Option<Entity>,
/// }
///
/// /// Where it is: written by its own states, read by the others'.
/// #[derive(Component)]
/// struct Place(i32);
///
/// /// A wolf's hunger, as the others see it.
/// #[derive(Component, Default)]
/// struct Growl(u32);
///
/// fn growl(mut wolves: Query<(&Wolf, &mut Growl)>) {
///     for (wolf, mut growl) in &mut wolves {
///         growl.0 = wolf.hunger;
///     }
/// }
///
/// #[derive(SystemParam)]
/// struct Senses<'w, 's> {
///     places: Query<'w, 's, &'static mut Place>,
///     growls: Query<'w, 's, &'static Growl>,
/// }
///
/// impl Owner for Wolf {
///     type Context<'a> = EntityContext<'a, Senses<'static, 'static>>;
///     type Message = ();
/// }
///
/// impl EntityOwner for Wolf {
///     type Param = Senses<'static, 'static>;
///
///     fn context<'a>(senses: Senses<'a, 'a>, commands: Commands<'a, 'a>) -> Self::Context<'a> {
///         EntityContext::new(senses, commands)
///     }
///
///     fn visit(cx: &mut Self::Context<'_>, entity: Entity) {
///         cx.visit(entity);
///     }
/// }
///
/// struct Prowl;
/// impl State<Wolf> for Prowl {
///     fn update(&self, wolf: &mut Wolf, _: &mut Fsm<'_, Wolf>, cx: &mut <Wolf as Owner>::Context<'_>) {
///         let (this, Some(rival)) = (cx.entity(), wolf.rival) else { return };
///         let Ok(theirs) = cx.places.get(rival).map(|place| place.0) else { return };
///         let is_hungrier = cx.growls.get(rival).is_ok_and(|growl| wolf.hunger > growl.0);
///         if let Ok(mut place) = cx.places.get_mut(this) {
///             let toward = (theirs - place.0).signum();
///             place.0 += if is_hungrier { toward } else { -toward };
///         }
///     }
/// }
///
/// let mut app = App::new();
/// app.add_plugins(StateMachinePlugin::<Wolf>::new());
/// app.add_systems(Update, growl.in_set(StateSet::Enter));
/// let mut wolf = |hunger, place| {
///     let wolf = Wolf { hunger, rival: None };
///     app.world_mut().spawn((wolf, Place(place), Growl::default(), Machine::<Wolf>::new(&Prowl))).id()
/// };
/// let (lean, fat) = (wolf(9, 0), wolf(1, 5));
/// app.world_mut().get_mut::<Wolf>(lean).unwrap().rival = Some(fat);
/// app.world_mut().get_mut::<Wolf>(fat).unwrap().rival = Some(lean);
/// app.update();
/// assert_eq!(app.world().get::<Place>(lean).unwrap().0, 1);
/// assert_eq!(app.world().get::<Place>(fat).unwrap().0, 6);
/// ```
///
/// # Examples
///
/// ```
/// use bevy_demeanor::{EntityOwner, Machine};
/// use bevy_ecs::prelude::*;
/// use demeanor::{Fsm, GameTime, Owner, State};
///
/// # #[derive(Resource, Default)]
/// # struct Clock(GameTime);
/// #[derive(Component)]
/// struct Guard;
///
/// // These two know nothing of Bevy.
/// impl Owner for Guard {
///     type Context<'a> = GameTime;
///     type Message = ();
/// }
/// struct Sleep;
/// impl State<Guard> for Sleep {}
///
/// impl EntityOwner for Guard {
///     type Param = Res<'static, Clock>;
///
///     fn context<'a>(clock: Res<'a, Clock>, _: Commands<'a, 'a>) -> GameTime {
///         clock.0
///     }
/// }
/// ```
pub trait EntityOwner: Owner + Component<Mutability = Mutable> {
    /// What of the world the context is made from: `()`, a tuple, a struct that derives [`SystemParam`]. Its lifetimes are
    /// written `'static` here.
    type Param: SystemParam + 'static;

    /// Makes the context, once for each pass over the entities and once for each command of
    /// [`MachineCommands`](crate::MachineCommands).
    ///
    /// The commands are applied at the next sync point; the pass's in the order recorded.
    fn context<'a>(param: SystemParamItem<'a, 'a, Self::Param>, commands: Commands<'a, 'a>) -> Self::Context<'a>;

    /// Tells the context whose callbacks are about to run. Called for each entity, so it should be small.
    fn visit(cx: &mut Self::Context<'_>, entity: Entity) {
        let _ = (cx, entity);
    }
}

/// An [`EntityOwner`] that can be updated on many threads at once.
///
/// Entities are taken in chunks of 1024. Each chunk has a context of its own, made from one parameter that all share, and
/// commands of its own, applied in the order of the chunks. So what happens does not depend on the number of threads.
///
/// # Examples
///
/// ```
/// use bevy_demeanor::{EntityContext, EntityOwner, ParallelOwner};
/// use bevy_ecs::prelude::*;
/// use bevy_ecs::system::{SystemParam, SystemParamItem};
/// use demeanor::Owner;
///
/// #[derive(Resource)]
/// struct Gravity(f32);
/// #[derive(Component)]
/// struct Place(f32, f32);
/// #[derive(Component)]
/// struct Bird;
///
/// #[derive(SystemParam)]
/// struct Senses<'w, 's> {
///     gravity: Res<'w, Gravity>,
///     places: Query<'w, 's, &'static Place>,
/// }
///
/// impl Owner for Bird {
///     type Context<'a> = EntityContext<'a, Senses<'static, 'static>>;
///     type Message = ();
/// }
///
/// impl EntityOwner for Bird {
///     type Param = Senses<'static, 'static>;
///
///     fn context<'a>(senses: Senses<'a, 'a>, commands: Commands<'a, 'a>) -> Self::Context<'a> {
///         EntityContext::new(senses, commands)
///     }
///
///     fn visit(cx: &mut Self::Context<'_>, entity: Entity) {
///         cx.visit(entity);
///     }
/// }
///
/// impl ParallelOwner for Bird {
///     fn shared_context<'a>(senses: &Senses<'a, 'a>, commands: Commands<'a, 'a>) -> Self::Context<'a> {
///         let senses = Senses { gravity: Res::clone(&senses.gravity), places: senses.places };
///         EntityContext::new(senses, commands)
///     }
/// }
/// ```
pub trait ParallelOwner: EntityOwner {
    /// Makes the context of one chunk, from a parameter that the other chunks share.
    ///
    /// A read-only `Query` can be copied, and `Res::clone` gives another `Res`.
    fn shared_context<'a>(
        param: &SystemParamItem<'a, 'a, Self::Param>,
        commands: Commands<'a, 'a>,
    ) -> Self::Context<'a>;
}
