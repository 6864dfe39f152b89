//! The clock of the pass: Bevy's `Time`, if the world has it.

use core::any::type_name;
use core::cell::Cell;
use core::marker::PhantomData;
#[cfg(feature = "serialize")]
use core::sync::atomic::AtomicU64;
use core::sync::atomic::{AtomicBool, Ordering};

use bevy_app::{FixedMainScheduleOrder, MainScheduleOrder};
use bevy_ecs::intern::Interned;
use bevy_ecs::resource::Resource;
use bevy_ecs::schedule::ScheduleLabel;
#[cfg(feature = "time")]
use bevy_ecs::system::Res;
use bevy_ecs::world::World;
#[cfg(feature = "time")]
use bevy_time::{Fixed, Time, Virtual};
use demeanor::Owner;
use log::warn;
#[cfg(feature = "serialize")]
use std::sync::Arc;
use std::sync::OnceLock;

/// The clock as a parameter of the pass.
#[cfg(feature = "time")]
pub(crate) type Clock<'w> = Option<Res<'w, Time>>;
/// Without the feature `time`, there is no clock.
#[cfg(not(feature = "time"))]
pub(crate) type Clock<'w> = PhantomData<&'w ()>;

/// All clocks, as parameters of an observer, which may run in any schedule.
#[cfg(feature = "time")]
pub(crate) type Clocks<'w> = (Option<Res<'w, Time<Virtual>>>, Option<Res<'w, Time<Fixed>>>, Option<Res<'w, Time>>);
/// Without the feature `time`, there is no clock.
#[cfg(not(feature = "time"))]
pub(crate) type Clocks<'w> = PhantomData<&'w ()>;

/// The clock for commands, whenever they are applied. It is the same clock that the pass reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ClockOfCommands {
    /// The clock of a pass in a schedule that Bevy runs once per frame.
    #[default]
    Virtual,
    /// The clock of a pass in a schedule that Bevy runs once per fixed step.
    Fixed,
    /// The current clock of a pass in a schedule that the game runs, which the game may set.
    Current,
}

impl ClockOfCommands {
    /// Returns the clock that is current in a schedule. The game may have inserted a schedule of its own into those that Bevy runs.
    /// Their order can only be read while Bevy does not run them.
    pub(crate) fn in_schedule(schedule: Interned<dyn ScheduleLabel>, world: &World) -> Self {
        let usual = (FixedMainScheduleOrder::default(), MainScheduleOrder::default());
        let fixed = world.get_resource().unwrap_or(&usual.0);
        let frame = world.get_resource().unwrap_or(&usual.1);
        match () {
            () if fixed.labels.contains(&schedule) => Self::Fixed,
            () if frame.labels.contains(&schedule) => Self::Virtual,
            () => Self::Current,
        }
    }
}

/// The clock of the commands for machines of `T`.
#[derive(Resource)]
pub(crate) struct ClockOf<T> {
    kind: ClockOfCommands,
    /// Whether `Owner::now` is the default, which is no clock. A pass finds it out as soon as it visits an entity.
    is_there: OnceLock<bool>,
    /// Whether a warning about the missing clock has been logged.
    has_warned: AtomicBool,
    of: PhantomData<fn() -> T>,
}

impl<T> ClockOf<T> {
    pub(crate) fn new(kind: ClockOfCommands) -> Self {
        Self { kind, is_there: OnceLock::new(), has_warned: AtomicBool::new(false), of: PhantomData }
    }

    pub(crate) fn kind(&self) -> ClockOfCommands {
        self.kind
    }

    pub(crate) fn set_kind(&mut self, kind: ClockOfCommands) {
        self.kind = kind;
    }

    /// Returns whether `Owner::now` reads a clock, if this is known.
    pub(crate) fn is_there(&self) -> Option<bool> {
        self.is_there.get().copied()
    }

    /// Notes the first time that `Owner::now` has returned.
    pub(crate) fn note_first(&self, now: f64) {
        _ = self.is_there.set(now.to_bits() != (-0.0_f64).to_bits());
    }

    /// Logs, once, that a callback has read the time although there is no clock.
    #[cold]
    pub(crate) fn warn_of_none(&self) {
        self.warn("ask for the time, and it is always 0, because there is no resource Time. Add Bevy's TimePlugin");
    }

    /// Logs, once, that a machine waits for a time although its owner has no clock.
    #[cold]
    pub(crate) fn warn_of_no_now(&self) {
        self.warn(
            "wait for a time, and it is always 0, because their owner has no function `now`. Write \
             `fn now(cx: &Cx<'_, Self>) -> f64 { cx.now() }` in `impl Owner`, or `now = ..` in `#[owner(..)]`",
        );
    }

    fn warn(&self, what: &str) {
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            warn!("machines of {} {what}", type_name::<T>());
        }
    }

    pub(crate) fn has_warned(&self) -> bool {
        self.has_warned.load(Ordering::Relaxed)
    }
}

/// The time of a clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    #[cfg(feature = "time")]
    pub(crate) time: Time,
    /// Whether the world has a clock.
    #[cfg(feature = "time")]
    is_there: bool,
    /// Whether the time was read although there is no clock.
    missed: Cell<bool>,
    /// Whether the pass is to find out if `Owner::now` reads a clock.
    is_to_be_known: bool,
}

impl Reading {
    #[cfg_attr(
        not(feature = "time"),
        expect(clippy::trivially_copy_pass_by_ref, reason = "it is larger where there is one")
    )]
    pub(crate) fn of(clock: &Clock<'_>) -> Self {
        #[cfg(feature = "time")]
        return clock.as_ref().map_or_else(Self::default, |time| Self::at(**time));
        #[cfg(not(feature = "time"))]
        {
            let _ = clock;
            Self::default()
        }
    }

    pub(crate) fn of_pass<T>(clock: &Clock<'_>, clock_of: &ClockOf<T>) -> Self {
        Self { is_to_be_known: clock_of.is_there().is_none(), ..Self::of(clock) }
    }

    #[cfg(feature = "time")]
    fn at(time: Time) -> Self {
        Self { time, is_there: true, ..Self::default() }
    }

    /// Reads the clock for a command.
    pub(crate) fn for_command(clock: ClockOfCommands, world: &World) -> Self {
        #[cfg(feature = "time")]
        {
            Self::choose(clock, world.get_resource(), world.get_resource(), world.get_resource())
        }
        #[cfg(not(feature = "time"))]
        {
            let _ = (clock, world);
            Self::default()
        }
    }

    /// Reads the clock of commands for an observer.
    pub(crate) fn for_observer(clock: ClockOfCommands, clocks: &Clocks<'_>) -> Self {
        #[cfg(feature = "time")]
        {
            let (of_frames, fixed, current) = clocks;
            Self::choose(clock, of_frames.as_deref(), fixed.as_deref(), current.as_deref())
        }
        #[cfg(not(feature = "time"))]
        {
            let _ = (clock, clocks);
            Self::default()
        }
    }

    #[cfg(feature = "time")]
    fn choose(
        clock: ClockOfCommands,
        of_frames: Option<&Time<Virtual>>,
        fixed: Option<&Time<Fixed>>,
        current: Option<&Time>,
    ) -> Self {
        let specific = match clock {
            ClockOfCommands::Virtual => of_frames.map(Time::as_generic),
            ClockOfCommands::Fixed => fixed.map(Time::as_generic),
            ClockOfCommands::Current => None,
        };
        specific.or(current.copied()).map_or_else(Self::default, Self::at)
    }

    #[inline]
    pub(crate) fn now(&self) -> f64 {
        #[cfg(feature = "time")]
        if self.is_there {
            return self.time.elapsed_secs_f64();
        }
        self.missed.set(true);
        0.0
    }

    /// The time of the clock, if there is one.
    #[cfg(feature = "serialize")]
    pub(crate) fn shown(&self) -> Option<f64> {
        let now = self.now();
        (!self.has_been_missed()).then_some(now)
    }

    /// The time of the clock before it last advanced, if there is one.
    #[cfg(feature = "serialize")]
    pub(crate) fn shown_before(&self) -> Option<f64> {
        #[cfg(feature = "time")]
        return self.is_there.then(|| self.time.elapsed().saturating_sub(self.time.delta()).as_secs_f64());
        #[cfg(not(feature = "time"))]
        None
    }

    pub(crate) fn is_to_be_known(&self) -> bool {
        self.is_to_be_known
    }

    pub(crate) fn has_been_missed(&self) -> bool {
        self.missed.get()
    }

    /// Restores whether the time was missed before: a machine that changes state reads the clock itself.
    pub(crate) fn set_missed(&self, has_been_missed: bool) {
        self.missed.set(has_been_missed);
    }
}

/// Reads the clock for commands to machines of `T`.
pub(crate) fn read_clock<T: Owner>(world: &World) -> Reading {
    Reading::for_command(world.get_resource().map(ClockOf::<T>::kind).unwrap_or_default(), world)
}

/// The last time of an owner's clock, in seconds. It is stored here because a machine is saved without its owner.
#[cfg(feature = "serialize")]
#[derive(Resource)]
pub(crate) struct LastTime<T> {
    /// The bits of the time; NaN before the first time is known.
    bits: Arc<AtomicU64>,
    of: PhantomData<fn() -> T>,
}

#[cfg(feature = "serialize")]
impl<T> LastTime<T> {
    pub(crate) fn new() -> Self {
        Self { bits: Arc::new(AtomicU64::new(f64::NAN.to_bits())), of: PhantomData }
    }

    pub(crate) fn note(&self, now: f64) {
        // So that an owner without a clock is not saved with a negative zero.
        self.bits.store((now + 0.0).to_bits(), Ordering::Relaxed);
    }

    /// Returns the last noted time; 0 before the first.
    pub(crate) fn get(&self) -> f64 {
        let seconds = f64::from_bits(self.bits.load(Ordering::Relaxed));
        if seconds.is_nan() { 0.0 } else { seconds }
    }
}

#[cfg(feature = "serialize")]
impl<T> Clone for LastTime<T> {
    fn clone(&self) -> Self {
        Self { bits: self.bits.clone(), of: PhantomData }
    }
}
