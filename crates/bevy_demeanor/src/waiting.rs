//! What the pass knows of those who wait: when to look at a machine next, and whether their clock stands.

use core::marker::PhantomData;

use bevy_app::App;
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::lifecycle::Remove;
use bevy_ecs::observer::On;
use bevy_ecs::query::Allow;
use bevy_ecs::system::Query;
use demeanor::{NextWake, Owner};

/// When the pass next has to look at a machine. It holds until the machine is written to, which the machine's change tick tells.
/// A component of its own: within the machine, a pass would have to read a cache line of each that sleeps.
#[derive(Component)]
#[component(clone_behavior = clone::<Self>())]
pub(crate) struct NextLook<T: Owner> {
    /// In seconds by the owner's clock; no later than the machine has something to do.
    at: f64,
    of: PhantomData<fn() -> T>,
}

impl<T: Owner> NextLook<T> {
    const EVERY_TICK: f64 = f64::NEG_INFINITY;

    /// Has the machine asked in the next pass. Until a callback has returned, it may panic.
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

    /// Whether it is time. A clock may show no finite number: the machine knows what that counts as.
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

/// Has the machines asked of those entities that no pass has seen for a while: disabled, it may have been written to, and its
/// change tick be older than the last pass when they are back. Those who lacked something are seen to by `missing`.
pub(crate) fn watch_who_comes_back<T: Owner>(app: &mut App) {
    app.add_observer(|back: On<Remove<Disabled>>, mut looks: Query<&mut NextLook<T>, Allow<Disabled>>| {
        forget(back.entity, &mut looks);
    });
}

/// Has the machine of an entity asked in the next pass.
pub(crate) fn forget<T: Owner>(entity: Entity, looks: &mut Query<&mut NextLook<T>, Allow<Disabled>>) {
    if let Ok(mut next_look) = looks.get_mut(entity) {
        next_look.bypass_change_detection().forget();
    }
}

/// Whether a clock stands while a machine sleeps until it shows a time. A machine that is looked at sees to this itself; those
/// who sleep are not looked at.
#[derive(Debug, Default)]
pub(crate) struct Standstill {
    now: f64,
    /// In how many passes it has shown the same.
    passes: u8,
}

/// A game may be paused for a while, and may update several times at one time.
const SUSPICIOUSLY_MANY: u8 = 100;

impl Standstill {
    /// Notes what the clock of a sleeping machine shows in a pass. Returns true once, when it has stood still for suspiciously
    /// many.
    pub(crate) fn stands(&mut self, now: f64) -> bool {
        if self.now.to_bits() != now.to_bits() {
            *self = Self { now, passes: 0 };
        }
        self.passes = self.passes.saturating_add(1);
        self.passes == SUSPICIOUSLY_MANY
    }
}
