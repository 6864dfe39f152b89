//! The parts of a tick, as sets of systems.

use core::any::type_name;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

use bevy_ecs::schedule::SystemSet;
use demeanor::Owner;

/// The parts of a tick, in this order. Commands given in one are applied before the next.
///
/// | set | what is there | what to add |
/// |---|---|---|
/// | `Enter` | nothing of the plugin's | what the states are to find: senses, timers, orders. A `change_state` or `send` given here is carried out before this tick's updates |
/// | `Update` | the pass over the machines, [`Machines<T>`] | systems over `With<InState<Patrol>>`, which run beside the pass where they touch other things |
/// | `Exit` | nothing of the plugin's | what reacts to this tick's changes: markers are true, messages can be read, observers have run |
///
/// The sets are shared by all owners' plugins in a schedule. To pause machines, give a set a run condition: on this one it also
/// pauses the user's systems in it, on [`Machines<T>`] only the pass.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MachineSet {
    /// Before the machines are updated.
    Enter,
    /// In which the machines are updated.
    Update,
    /// After the machines were updated, and all that follows their changes.
    Exit,
}

/// The pass over the machines of `T`, a set within [`MachineSet::Update`]: to order it, or to give it a run condition.
///
/// # Examples
///
/// ```
/// use bevy_app::{App, Update};
/// use bevy_demeanor::Machines;
/// use bevy_ecs::prelude::*;
/// use demeanor::Owner;
/// #[derive(Component)]
/// struct Legs;
/// #[derive(Component)]
/// struct Weapon;
/// impl Owner for Legs { type Context<'a> = (); type Message = (); }
/// impl Owner for Weapon { type Context<'a> = (); type Message = (); }
/// #[derive(Resource)]
/// struct IsPaused(bool);
///
/// let mut app = App::new();
/// app.configure_sets(Update, Machines::<Legs>::SET.before(Machines::<Weapon>::SET));
/// app.configure_sets(Update, Machines::<Weapon>::SET.run_if(|paused: Res<IsPaused>| !paused.0));
/// ```
pub struct Machines<T: Owner>(PhantomData<fn() -> T>);

impl<T: Owner> Machines<T> {
    /// The set.
    pub const SET: Self = Self(PhantomData);
}

impl<T: Owner> SystemSet for Machines<T> {
    fn dyn_clone(&self) -> Box<dyn SystemSet> {
        Box::new(Self::SET)
    }
}

impl<T: Owner> fmt::Debug for Machines<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Machines<{}>", type_name::<T>())
    }
}

impl<T: Owner> PartialEq for Machines<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T: Owner> Eq for Machines<T> {}

impl<T: Owner> Hash for Machines<T> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
