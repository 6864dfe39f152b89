//! The plain: what time it is, and where the hero is.

use std::f32::consts::{PI, TAU};

pub(crate) const TICKS_PER_DAY: u32 = 240;
pub(crate) const TICKS_PER_HOUR: u32 = TICKS_PER_DAY / 24;
/// The hour in which the first tick is.
pub(crate) const FIRST_HOUR: u32 = 6;

/// How far the plain reaches from its middle, to each side.
pub(crate) const REACH: f32 = 1.2;

/// The same for all enemies during a tick.
pub(crate) struct World {
    /// 0 in the dark, 1 in full light.
    pub(crate) light: f32,
    /// Where the hero is, if he is about.
    pub(crate) hero: Option<[f32; 2]>,
    /// How much of their patience passes in a tick: 1 unless they are to change more often, or less.
    pub(crate) pace: f32,
}

/// A time of the day.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Morning,
    Raid,
    Evening,
    Night,
}

impl Phase {
    pub(crate) const ALL: [Self; 4] = [Self::Morning, Self::Raid, Self::Evening, Self::Night];

    pub(crate) fn at(tick: u32) -> Self {
        match hour_at(tick) {
            4.0..HERO_COMES => Self::Morning,
            HERO_COMES..HERO_IS_GONE => Self::Raid,
            HERO_IS_GONE..20.0 => Self::Evening,
            _ => Self::Night,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Morning => "morning",
            Self::Raid => "raid",
            Self::Evening => "evening",
            Self::Night => "night",
        }
    }
}

const HERO_COMES: f32 = 9.0;
const HERO_STAYS: f32 = 11.0;
const HERO_LEAVES: f32 = 15.0;
const HERO_IS_GONE: f32 = 17.0;

impl World {
    pub(crate) fn at(tick: u32, churn: u32) -> Self {
        let hour = hour_at(tick);
        // Noon is the lightest; dawn is at 6 and dusk at 20, each about two hours long.
        let light = (0.5 + 4.0 * ((hour - 13.0) / 24.0 * TAU).cos() + 1.0).clamp(0.0, 1.0);
        #[expect(clippy::cast_precision_loss, reason = "a percentage that large is not asked for")]
        let pace = churn as f32 / 100.0;
        Self { light, hero: hero_at(hour), pace }
    }
}

/// The hero walks in from the west, circles about the middle, and leaves to the east.
fn hero_at(hour: f32) -> Option<[f32; 2]> {
    let way = |from: f32, to: f32| (hour - from) / (to - from);
    match hour {
        HERO_COMES..HERO_STAYS => Some([-1.4 + way(HERO_COMES, HERO_STAYS), 0.0]),
        HERO_STAYS..HERO_LEAVES => {
            let angle = PI - 2.0 * TAU * way(HERO_STAYS, HERO_LEAVES);
            Some([0.4 * angle.cos(), 0.4 * angle.sin()])
        }
        HERO_LEAVES..HERO_IS_GONE => Some([-0.4 + 1.8 * way(HERO_LEAVES, HERO_IS_GONE), 0.0]),
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a tick of the day is small")]
fn hour_at(tick: u32) -> f32 {
    let tick = (tick + FIRST_HOUR * TICKS_PER_HOUR) % TICKS_PER_DAY;
    tick as f32 / TICKS_PER_HOUR as f32
}
