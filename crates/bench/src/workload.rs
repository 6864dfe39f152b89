//! The work of every contender: an owner, six states, and the work of each state on the owner.
//!
//! A contender decides how owners are stored, how the current state is found and how a change is carried out. All other code is
//! here and shared, so the sum over the owners must be the same for all contenders, in whatever order they update the owners.

use bevy_ecs::component::Component;
use bevy_ecs::resource::Resource;

/// A character of 32 bytes, and `PAD` more bytes for the data that states seldom use.
#[derive(Clone, Component)]
#[repr(C)]
pub(crate) struct Owner<const PAD: usize> {
    position: [f32; 2],
    velocity: [f32; 2],
    timer: u32,
    random: u32,
    entered: u32,
    exited: u32,
    rest: [u8; PAD],
}

/// The context of a tick.
#[derive(Clone, Copy, Resource)]
pub(crate) struct Context {
    /// An owner changes state when its random 32-bit number is below this.
    pub(crate) threshold: u64,
    pub(crate) seconds: f32,
}

impl Context {
    /// Creates a tick in which the given share of the owners changes state: 0.01 is one in a hundred.
    pub(crate) fn with_churn(churn: f64) -> Self {
        let whole = f64::from(u32::MAX) + 1.0;
        Self { threshold: (churn.clamp(0.0, 1.0) * whole) as u64, seconds: 1.0 / 64.0 }
    }
}

/// Names a state where a value is needed rather than a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Name {
    Idle,
    Think,
    Wander,
    Chase,
    Flee,
    Rest,
}

impl Name {
    pub(crate) const ALL: [Self; 6] = [Self::Idle, Self::Think, Self::Wander, Self::Chase, Self::Flee, Self::Rest];
}

/// The work of a state: a little arithmetic, different for each.
pub(crate) trait Behaviour: Send + Sync + 'static {
    const NAME: Name;
    /// The value to which `enter` sets the owner's timer.
    const PATIENCE: u32;
    fn act<const PAD: usize>(owner: &mut Owner<PAD>, cx: &Context);
}

impl<const PAD: usize> Owner<PAD> {
    /// Creates the `number`-th owner.
    pub(crate) fn new(number: usize) -> Self {
        let mut random = fastrand::Rng::with_seed(number as u64);
        Self {
            position: [random.f32(), random.f32()],
            velocity: [random.f32() - 0.5, random.f32() - 0.5],
            timer: 0,
            random: random.u32(..),
            entered: 0,
            exited: 0,
            rest: [0; PAD],
        }
    }

    /// Runs one tick in the state `B`. Returns the state to change to, which is never `B`.
    #[inline(always)]
    pub(crate) fn update<B: Behaviour>(&mut self, cx: &Context) -> Option<Name> {
        B::act(self, cx);
        self.timer = self.timer.wrapping_sub(1);
        if u64::from(self.next_random()) >= cx.threshold {
            return None;
        }
        let onward = 1 + ((u64::from(self.next_random()) * 5) >> 32) as usize;
        Some(Name::ALL[(B::NAME as usize + onward) % 6])
    }

    /// Some hundred nanoseconds of arithmetic, in which each step waits for the previous one.
    pub(crate) fn ponder(&mut self, cx: &Context) {
        for _ in 0..32 {
            let [x, y] = self.position;
            let distance = (x * x + y * y + 1.0).sqrt();
            self.position = [x + (1.0 - x / distance) * cx.seconds, y + (1.0 - y / distance) * cx.seconds];
        }
    }

    #[inline(always)]
    pub(crate) fn enter<B: Behaviour>(&mut self) {
        self.entered = self.entered.wrapping_add(1 + B::NAME as u32);
        self.timer = B::PATIENCE;
    }

    #[inline(always)]
    pub(crate) fn exit<B: Behaviour>(&mut self) {
        self.exited = self.exited.wrapping_add(self.timer ^ B::PATIENCE);
    }

    /// Knuth's linear congruential generator. Its high bits are good, and only these decide.
    #[inline(always)]
    fn next_random(&mut self) -> u32 {
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.random
    }

    /// Like [`update`](Self::update), but never requests a change.
    #[inline(always)]
    pub(crate) fn act<B: Behaviour>(&mut self, cx: &Context) {
        B::act(self, cx);
        self.timer = self.timer.wrapping_sub(1);
        self.next_random();
    }

    /// Returns the random number of this tick.
    #[inline(always)]
    pub(crate) fn luck(&self) -> u32 {
        self.random
    }

    /// Returns the owner's part of the checksum, which must be the same for all contenders.
    pub(crate) fn checksum(&self) -> u64 {
        let [x, y] = self.position.map(f32::to_bits);
        let [u, v] = self.velocity.map(f32::to_bits);
        let fields = [x, y, u, v, self.timer, self.random, self.entered, self.exited];
        fields
            .iter()
            .fold(0, |sum: u64, &field| (sum ^ u64::from(field)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29))
    }
}

/// Returns the sum over the owners; their order does not matter.
pub(crate) fn checksum<'a, const PAD: usize>(owners: impl IntoIterator<Item = &'a Owner<PAD>>) -> u64 {
    owners.into_iter().fold(0, |sum, owner| sum.wrapping_add(owner.checksum()))
}

macro_rules! states {
    ($($state:ident, $patience:literal, |$owner:ident, $cx:ident| $act:block)*) => {$(
        #[derive(Component)]
        pub(crate) struct $state;

        impl Behaviour for $state {
            const NAME: Name = Name::$state;
            const PATIENCE: u32 = $patience;

            #[inline(always)]
            fn act<const PAD: usize>($owner: &mut Owner<PAD>, $cx: &Context) $act
        }
    )*};
}

// No velocity approaches zero: arithmetic on denormal numbers is slow on some processors, and would be measured instead.
states! {
    Idle, 100, |owner, cx| {
        owner.position[1] += owner.velocity[1] * cx.seconds;
    }
    Think, 20, |owner, _cx| {
        owner.velocity.swap(0, 1);
    }
    Wander, 300, |owner, cx| {
        owner.position[0] += owner.velocity[0] * cx.seconds;
        owner.position[1] += owner.velocity[1] * cx.seconds;
    }
    Chase, 200, |owner, cx| {
        owner.velocity[0] -= owner.position[0] * cx.seconds;
        owner.position[0] += owner.velocity[0] * cx.seconds;
    }
    Flee, 60, |owner, cx| {
        owner.position[0] -= owner.velocity[0] * cx.seconds;
        owner.position[1] -= owner.velocity[1] * cx.seconds;
    }
    Rest, 500, |owner, cx| {
        owner.position[0] += (1.0 - owner.position[0]) * cx.seconds;
    }
}
