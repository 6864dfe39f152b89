//! The trait of components that own a machine. It names the data that the machine's callbacks get from the world.

use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::query::{IterQueryData, QueryData};
use bevy_ecs::system::SystemParam;
use demeanor::Owner;

use crate::context::CallbackContext;
use crate::shared::SharedParam;

/// A component whose entities have state machines.
///
/// It names the data of the world that its states' callbacks get: components of the same entity, and a system parameter. Both
/// are in the callbacks' context, [`EntityContext`](crate::EntityContext), with the entity and commands. `#[derive(Owner)]`
/// writes this trait and [`Owner`].
///
/// An entity that has the owner and a machine but lacks a component of [`Body`](EntityOwner::Body) is skipped. A warning with
/// its name is logged once.
///
/// # A context of the game's own
///
/// States that also run outside of Bevy have a context without Bevy's types. [`CallbackContext`] creates it.
///
/// # How owners see each other
///
/// The pass uses `Query<(&mut Self, &mut Machine<Self>, Self::Body)>` and `Self::Param`. If these conflict, Bevy reports it
/// when it builds the schedule, and ends the program. So the data of an owner that other owners must see belongs in a separate
/// component. If the pass also writes this component, as a part of `Body`, copy it to another component before the pass; all
/// owners that the pass updates then see the same copy.
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
/// /// A wolf's hunger and place, for the other wolves.
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
/// There are two traits to implement, because Rust does not let this crate implement [`Owner`] for all types that implement this
/// trait. The lifetimes in the types must be written `'static`, because Rust does not let you omit them here.
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
    /// The components of its own entity that a callback gets, as a query names them: `()`, `&'static mut Transform`,
    /// `(&'static mut Transform, &'static Name)`, a struct that derives [`QueryData`]. Use an `Option` for a component that may
    /// be missing.
    type Body: IterQueryData + 'static;

    /// The other data of the world that a callback gets: `()`, `Res<'static, Alarm>`, a tuple, a struct that derives
    /// [`SystemParam`].
    ///
    /// It is created once for each pass and once for each command of [`MachineCommands`](crate::MachineCommands). The pass, the
    /// commands and `exit` on removal have a state of it each, such as the value of a `Local`, and do not share this. If it is
    /// optional and cannot be created, as a `Single` that finds no entity, the pass and the commands are skipped, and this is
    /// logged at level debug. If it is required, as a `Res`, its absence is an error of the system or command, which goes to
    /// Bevy's error handler; by default, the handler panics.
    ///
    /// All entities share it. With a `MessageReader`, the first entity would read all messages and the others none. So a reader
    /// makes the plugin panic when it is added; if the reader is hidden in a struct, the first pass panics, with the feature
    /// `debug`. Instead, let a system in `MachineSet::Enter` read messages and send them on, with
    /// [`Machines::broadcast`](crate::Machines::broadcast) or [`Machines::send_to`](crate::Machines::send_to).
    type Param: SystemParam + 'static;

    /// When the owner counts as changed, for `Changed<Self>`.
    const CHANGES: OwnerChanges = OwnerChanges::WhenUpdated;
}

/// When an owner counts as changed, for Bevy's change detection.
///
/// This is about callbacks, and the function that is given to [`with_machine`](crate::MachineCommands::with_machine). A system of
/// the game marks the component by writing to it, as any other component.
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
/// // First spawned, then hit, then only updated.
/// assert_eq!(app.world().resource::<Seen>().0, [1, 1, 0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerChanges {
    /// When one of its callbacks could have written to it: in each pass that updates its machine, and by each command. This is
    /// every pass, unless the machine is asleep or in a passive state.
    WhenUpdated,
    /// When a callback calls [`EntityContext::mark_owner_changed`](crate::EntityContext::mark_owner_changed), or panics.
    WhenTold,
}

/// An [`EntityOwner`] that can be updated on many threads at the same time. An owner is one automatically if its parameter is a
/// [`SharedParam`], and if the owner and the items of its body can be sent to another thread.
///
/// The entities are divided into chunks of 1024. Each chunk has its own context, with a share of the one parameter, and its own
/// commands, which are applied in the order of the chunks. So the result does not depend on the number of threads. See
/// [`in_parallel`](crate::StateMachinePlugin::in_parallel) for the only exception.
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
