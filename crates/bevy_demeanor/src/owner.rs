//! What a component must say to be the owner of a machine: what of the world its callbacks are given.

use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::query::{IterQueryData, QueryData};
use bevy_ecs::system::SystemParam;
use demeanor::Owner;

use crate::context::CallbackContext;
use crate::shared::SharedParam;

/// A component whose entities have state machines.
///
/// It names what of the world its states' callbacks are given: components of the same entity, and a system parameter. Both are
/// in the callbacks' context, [`EntityContext`](crate::EntityContext), with the entity and commands. `#[derive(Owner)]` writes
/// this trait and [`Owner`].
///
/// An entity that has the owner and a machine and lacks a component of [`Body`](EntityOwner::Body) is skipped. A warning says so,
/// once, with its name.
///
/// # A context of the game's own
///
/// States that also run elsewhere have a context that knows nothing of Bevy. [`CallbackContext`] makes it.
///
/// # What owners see of each other
///
/// The pass holds `Query<(&mut Self, &mut Machine<Self>, Self::Body)>` and `Self::Param`. Where these conflict, Bevy says so when
/// the schedule is built, and ends the program. So what other owners must see of an owner lies in a component of its own. If the
/// pass also writes it, as a part of `Body`, it is copied into another before the pass, and is then the same for all whom the
/// pass updates.
///
/// ```
/// use bevy_app::prelude::*;
/// use bevy_demeanor::prelude::*;
/// use bevy_ecs::prelude::*;
///
/// #[derive(Component, Owner)]
/// #[owner(body = &mut Place, param = Query<&Growl>)]
/// struct Wolf {
///     hunger: u32,
///     rival: Option<Entity>,
/// }
///
/// #[derive(Component)]
/// struct Place(i32);
///
/// /// A wolf's hunger and place, as the others see them.
/// #[derive(Component, Default)]
/// struct Growl {
///     hunger: u32,
///     place: i32,
/// }
///
/// fn growl(mut wolves: Query<(&Wolf, &Place, &mut Growl)>) {
///     for (wolf, place, mut growl) in &mut wolves {
///         *growl = Growl { hunger: wolf.hunger, place: place.0 };
///     }
/// }
///
/// struct Prowl;
/// impl MachineState<Wolf> for Prowl {
///     fn update(&self, wolf: &mut Wolf, _: &mut Fsm<'_, Wolf>, cx: &mut Cx<'_, Wolf>) {
///         let Some(rival) = wolf.rival.and_then(|rival| cx.param.get(rival).ok()) else { return };
///         let toward = (rival.place - cx.body.0).signum();
///         cx.body.0 += if wolf.hunger > rival.hunger { toward } else { -toward };
///     }
/// }
///
/// let mut app = App::new();
/// app.add_state_machine::<Wolf>();
/// app.add_systems(Update, growl.in_set(MachineSet::Enter));
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
/// # Without the derive
///
/// Two traits, since Rust lets no other crate implement [`Owner`] for all that implement this one. The types' lifetimes are
/// written `'static`, since Rust lets none be left out here.
///
/// ```
/// use bevy_demeanor::prelude::*;
/// use bevy_ecs::prelude::*;
/// #[derive(Resource)]
/// struct Alarm;
/// #[derive(Component)]
/// struct Place;
///
/// #[derive(Component)]
/// struct Guard;
///
/// impl Owner for Guard {
///     type Context<'a> = EntityContext<'a, Self>;
///     type Message = ();
///
///     fn now(cx: &Cx<'_, Self>) -> f64 {
///         cx.now()
///     }
/// }
///
/// impl EntityOwner for Guard {
///     type Body = &'static mut Place;
///     type Param = Res<'static, Alarm>;
/// }
/// ```
pub trait EntityOwner: for<'a> Owner<Context<'a>: CallbackContext<Self>> + Component<Mutability = Mutable> {
    /// Which components of its own entity a callback is given, as a query names them: `()`, `&'static mut Transform`,
    /// `(&'static mut Transform, &'static Name)`, a struct that derives [`QueryData`]. An `Option` for what may be missing.
    type Body: IterQueryData + 'static;

    /// What else of the world a callback is given: `()`, `Res<'static, Alarm>`, a tuple, a struct that derives [`SystemParam`].
    ///
    /// It is made once for each pass and once for each command of [`MachineCommands`](crate::MachineCommands). When it cannot be
    /// made because it may be missing, such as a `Single` that finds no entity, the pass and the commands are skipped, and a
    /// line at debug says so. When it must be there, such as a `Res`, its absence is an error of the system or command, which
    /// Bevy's error handler is given; by default, it panics.
    ///
    /// All entities share it. Of a `MessageReader`, the first would read all messages and the others none, so it is refused when
    /// the plugin is added; and by the first pass, with the feature `debug`, if it is hidden in a struct. Have a system in
    /// `MachineSet::Enter` read messages and send them on, by [`Machines::broadcast`](crate::Machines::broadcast) or
    /// [`Machines::send_to`](crate::Machines::send_to).
    type Param: SystemParam + 'static;

    /// When the owner counts as changed, for `Changed<Self>`.
    const CHANGES: OwnerChanges = OwnerChanges::WhenUpdated;
}

/// When an owner counts as changed, for Bevy's change detection.
///
/// For what a command of [`MachineCommands`](crate::MachineCommands) or a system does, see there: these write to the component as
/// any system does.
///
/// # Examples
///
/// ```
/// use bevy_app::prelude::*;
/// use bevy_demeanor::prelude::*;
/// use bevy_ecs::prelude::*;
///
/// /// Counts as changed when it is hit, not whenever it is updated.
/// #[derive(Component, Owner)]
/// #[owner(message = u32, changes = WhenTold)]
/// struct Guard {
///     health: u32,
///     bored_for: u32,
/// }
///
/// struct Idle;
/// impl MachineState<Guard> for Idle {
///     fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
///         guard.bored_for += 1;
///         if guard.bored_for == 2 {
///             guard.health -= 1;
///             cx.mark_owner_changed();
///         }
///     }
/// }
///
/// #[derive(Resource, Default)]
/// struct Seen(Vec<usize>);
///
/// let mut app = App::new();
/// app.init_resource::<Seen>().add_state_machine::<Guard>();
/// let count = |changed: Query<(), Changed<Guard>>, mut seen: ResMut<Seen>| seen.0.push(changed.iter().count());
/// app.add_systems(Update, count.in_set(MachineSet::Exit));
/// app.world_mut().spawn((Guard { health: 9, bored_for: 0 }, Machine::<Guard>::new(&Idle)));
/// for _ in 0..3 {
///     app.update();
/// }
/// // Spawned, hit, and only bored.
/// assert_eq!(app.world().resource::<Seen>().0, [1, 1, 0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerChanges {
    /// When one of its callbacks could have written to it: in each pass that updates its machine. That is each pass, but for
    /// machines that are asleep or in a passive state.
    WhenUpdated,
    /// When a callback calls [`EntityContext::mark_owner_changed`](crate::EntityContext::mark_owner_changed).
    WhenTold,
}

/// An [`EntityOwner`] that can be updated on many threads at once. Every owner is one whose parameter is a [`SharedParam`] and
/// can be sent to another thread, as the items of its body.
///
/// Entities are taken in chunks of 1024. Each chunk has a context of its own, with a share of the one parameter, and commands of
/// its own, applied in the order of the chunks. So what happens does not depend on the number of threads. See
/// [`in_parallel`](crate::StateMachinePlugin::in_parallel) for what does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be updated in parallel",
    note = "its `Param` has to be a `SharedParam`, such as `Res` or a read-only `Query`, or a struct that derives it",
    note = "its `Param` and `Body` have to be `Send`"
)]
pub trait ParallelOwner:
    EntityOwner<
        Param: SharedParam + for<'w, 's> SystemParam<Item<'w, 's>: Send>,
        Body: for<'w, 's> QueryData<Item<'w, 's>: Send>,
    >
{
}

impl<T> ParallelOwner for T where
    T: EntityOwner<
            Param: SharedParam + for<'w, 's> SystemParam<Item<'w, 's>: Send>,
            Body: for<'w, 's> QueryData<Item<'w, 's>: Send>,
        >
{
}
