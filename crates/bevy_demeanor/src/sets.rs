//! The parts of a tick, as system sets.

use core::any::type_name;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

use bevy_ecs::schedule::SystemSet;
use demeanor::Owner;

/// The parts of a tick, in this order. Commands in one part are applied before the next part.
///
/// | set | the plugin's systems | systems to add |
/// |---|---|---|
/// | `Enter` | none | systems whose results the states need: senses, timers, orders. A `change_state` or `send` here is carried out before this tick's updates |
/// | `Update` | the pass over the machines, [`Machines<T>`] | systems over `With<InState<Patrol>>`, which run in parallel to the pass if they access other data |
/// | `Exit` | none | systems that react to this tick's changes: markers are up to date, messages can be read, observers have run |
///
/// All plugins in a schedule share the sets. To pause machines, add a run condition to a set: on `Update` it also pauses the
/// user's systems in the set; on [`Machines<T>`] it pauses only the pass.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MachineSet {
    /// Before the machines are updated.
    Enter,
    /// The update of the machines.
    Update,
    /// After the machines have been updated and the consequences of their changes carried out.
    Exit,
}

/// The pass over the machines of `T`, a set within [`MachineSet::Update`]. Use it to order the pass, or to give it a run
/// condition.
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
