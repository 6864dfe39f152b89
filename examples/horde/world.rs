//! The plain: the time of day, and the hero's place.
//!
//! The code uses no functions such as sines, which differ between systems, so that a run is the same everywhere.

pub(crate) const TICKS_PER_DAY: u32 = 240;
pub(crate) const TICKS_PER_HOUR: u32 = TICKS_PER_DAY / 24;
/// The hour of the first tick.
pub(crate) const FIRST_HOUR: u32 = 6;

/// The hour in which it begins to get light.
const DAWN: u16 = 5;

/// The distance from the middle of the plain to each side.
pub(crate) const REACH: f32 = 1.2;

/// The world during a tick. It is the same for all enemies.
pub(crate) struct World {
    pub(crate) tick: u32,
    /// 0 in the dark, 1 in full light.
    pub(crate) light: f32,
    /// The hero's place, if he is on the plain.
    pub(crate) hero: Option<[f32; 2]>,
    /// How much patience the enemies lose in a tick: 1, unless `--churn` says otherwise.
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

const HERO_COMES: f32 = WAY[0].0;
const HERO_IS_GONE: f32 = WAY[WAY.len() - 1].0;

/// The hero's place at each hour: he comes from the west, walks once around the middle, and leaves to the east.
const WAY: [(f32, [f32; 2]); 7] = [
    (9.0, [-1.4, 0.0]),
    (11.0, [-0.4, 0.0]),
    (12.0, [0.0, 0.4]),
    (13.0, [0.4, 0.0]),
    (14.0, [0.0, -0.4]),
    (15.0, [-0.4, 0.0]),
    (17.0, [1.4, 0.0]),
];

impl World {
    pub(crate) fn at(tick: u32, churn: u32) -> Self {
        let hour = hour_at(tick);
        // Both dawn and dusk take two hours; dusk begins at 19.
        let light = ((hour - f32::from(DAWN)) / 2.0).min((21.0 - hour) / 2.0).clamp(0.0, 1.0);
        #[expect(clippy::cast_precision_loss, reason = "nobody asks for a percentage that large")]
        let pace = churn as f32 / 100.0;
        Self { tick, light, hero: hero_at(hour), pace }
    }

    /// Returns the ticks until dawn while it is dark.
    pub(crate) fn ticks_until_dawn(&self) -> Option<u16> {
        let time = (self.tick + FIRST_HOUR * TICKS_PER_HOUR) % TICKS_PER_DAY;
        let ticks = (u32::from(DAWN) * TICKS_PER_HOUR + TICKS_PER_DAY - time) % TICKS_PER_DAY;
        u16::try_from(ticks).ok().filter(|_| self.light == 0.0)
    }
}

fn hero_at(hour: f32) -> Option<[f32; 2]> {
    let legs = WAY.iter().zip(&WAY[1..]);
    legs.filter(|((start, _), (end, _))| (*start..*end).contains(&hour))
        .map(|((start, from), (end, to))| {
            let part = (hour - start) / (end - start);
            [0, 1].map(|axis| from[axis] + part * (to[axis] - from[axis]))
        })
        .next()
}

#[expect(clippy::cast_precision_loss, reason = "a tick of the day is small")]
fn hour_at(tick: u32) -> f32 {
    let tick = (tick + FIRST_HOUR * TICKS_PER_HOUR) % TICKS_PER_DAY;
    tick as f32 / TICKS_PER_HOUR as f32
}
