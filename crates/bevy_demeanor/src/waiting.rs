//! The pass's data about waiting machines: when to visit each machine next, and whether the clock stands still.

use core::marker::PhantomData;

use bevy_app::App;
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::lifecycle::Remove;
use bevy_ecs::observer::On;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::DeferredWorld;
use demeanor::{NextWake, Owner};

/// The time at which the pass must visit a machine next. It is valid until the machine is written to, which the machine's
/// change tick shows. It is a separate component: if it were in the machine, a pass would have to read a cache line of each
/// sleeping machine.
#[derive(Component)]
#[component(clone_behavior = clone::<Self>())]
pub(crate) struct NextLook<T: Owner> {
    /// The time in seconds by the owner's clock. It is not later than the time at which the machine has something to do.
    at: f64,
    of: PhantomData<fn() -> T>,
}

impl<T: Owner> NextLook<T> {
    const EVERY_TICK: f64 = f64::NEG_INFINITY;

    /// Makes the next pass visit the machine. Until a callback has returned, it may panic.
    pub(crate) fn forget(&mut self) {
        self.at = f64::NAN;
    }

    #[inline]
    pub(crate) fn ask(&mut self, next_wake: NextWake) {
        self.at = match next_wake {
            NextWake::EveryTick => Self::EVERY_TICK,
            NextWake::At(seconds) => seconds,
            NextWake::Never => f64::INFINITY,
        };
    }

    #[inline]
    pub(crate) fn is_every_tick(&self) -> bool {
        self.at == Self::EVERY_TICK
    }

    #[inline]
    pub(crate) fn is_unknown(&self) -> bool {
        self.at.is_nan()
    }

    #[inline]
    pub(crate) fn is_never(&self) -> bool {
        self.at == f64::INFINITY
    }

    /// Returns whether the time has come. If the clock's time is not a finite number, the machine decides.
    #[inline]
    pub(crate) fn is_due(&self, now: f64) -> bool {
        now >= self.at || !now.is_finite()
    }
}

impl<T: Owner> Default for NextLook<T> {
    fn default() -> Self {
        Self { at: f64::NAN, of: PhantomData }
    }
}

impl<T: Owner> Clone for NextLook<T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

/// For each type of owner with a plugin, the function that makes the next pass visit the machine of an entity.
#[derive(Resource, Default)]
struct Visits(Vec<fn(&mut DeferredWorld<'_>, Entity)>);

/// Makes the next pass visit the machines of entities that return after a time without passes: while they were disabled, they
/// may have been written to, and the change tick may be older than the last pass. `missing` does this for entities that lacked
/// components. There is one observer for all types of owners, because each would have to be compiled.
pub(crate) fn watch_who_comes_back<T: Owner>(app: &mut App) {
    if !app.world().contains_resource::<Visits>() {
        app.init_resource::<Visits>();
        app.add_observer(|back: On<Remove<Disabled>>, mut world: DeferredWorld| {
            let mut nth = 0;
            while let Some(visit) = world.get_resource::<Visits>().and_then(|Visits(all)| all.get(nth).copied()) {
                visit(&mut world, back.entity);
                nth += 1;
            }
        });
    }
    app.world_mut().resource_mut::<Visits>().0.push(visit_next::<T>);
}

/// Makes the next pass visit the machine of an entity.
pub(crate) fn visit_next<T: Owner>(world: &mut DeferredWorld<'_>, entity: Entity) {
    if let Some(mut next_look) = world.get_mut::<NextLook<T>>(entity) {
        next_look.bypass_change_detection().forget();
    }
}

/// Detects whether a clock stands still while a machine sleeps. A machine that is visited checks this itself; sleeping machines
/// are not visited.
#[derive(Debug, Default)]
pub(crate) struct Standstill {
    now: f64,
    /// Number of passes in which the clock has shown the same time.
    passes: u8,
}

/// The limit is high, because a game may be paused for a while, and may update several times at the same time.
const SUSPICIOUSLY_MANY: u8 = 100;

impl Standstill {
    /// Notes the time of a sleeping machine's clock in a pass. Returns `true` once, when the time has stayed the same for
    /// suspiciously many passes.
    pub(crate) fn stands(&mut self, now: f64) -> bool {
        if self.now.to_bits() != now.to_bits() {
            *self = Self { now, passes: 0 };
        }
        self.passes = self.passes.saturating_add(1);
        self.passes == SUSPICIOUSLY_MANY
    }
}
