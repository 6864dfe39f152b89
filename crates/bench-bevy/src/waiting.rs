//! The rows of waiting: some entities work in every tick; the others sleep for some seconds, work for one tick, and sleep
//! again.

use bevy_app::{App, Update};
use bevy_demeanor::{CallbackContext, EntityContext, EntityOwner, Machine, MachineCommands, StateMachinePlugin};
use bevy_ecs::prelude::*;
use demeanor::{Fsm, Owner, State};

use crate::body::chance;

/// A character of 64 bytes.
#[derive(Clone, Component)]
#[repr(C)]
pub struct Sleeper {
    place: [f32; 2],
    speed: [f32; 2],
    /// The end of the nap, in seconds, for machines that poll.
    until: f64,
    random: u32,
    worked: u32,
    naps: u32,
    stretched: u32,
    /// The shortest nap, in seconds. The longest is ten times as long.
    least: f32,
    rest: [u32; 5],
}

impl Sleeper {
    fn new(i: u32, crowd: Crowd) -> Self {
        let least = crowd.least;
        let random = chance(i ^ 0x5EED);
        let speed = [(random & 0xFF) as f32 / 256.0 - 0.5, (random >> 8 & 0xFF) as f32 / 256.0 - 0.5];
        Self { place: [0.0; 2], speed, until: 0.0, random, worked: 0, naps: 0, stretched: 0, least, rest: [0; 5] }
    }

    /// The work of an awake entity in a tick.
    #[inline]
    fn work(&mut self) {
        self.worked += 1;
        for (place, speed) in self.place.iter_mut().zip(&mut self.speed) {
            *place += *speed * 0.016;
            if !(-1.0..=1.0).contains(place) {
                *speed = -*speed;
            }
        }
    }

    /// The work of an entity that has just woken up.
    #[inline]
    fn stretch(&mut self) {
        self.stretched += 1;
        self.place[0] += 0.001;
    }

    /// Starts a nap. Returns its length in seconds. The first nap has already started.
    #[inline]
    fn nap(&mut self) -> f64 {
        let whole = f64::from(self.least) * (1.0 + 9.0 * self.draw());
        self.naps += 1;
        if self.naps == 1 { whole * self.draw() } else { whole }
    }

    fn draw(&mut self) -> f64 {
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(self.random >> 8) / f64::from(1_u32 << 24)
    }

    /// Returns a checksum. It is the same in two rows that did the same work.
    fn checksum(&self) -> u64 {
        let [x, y] = self.place.map(f32::to_bits);
        let words = [x, y, self.random, self.worked, self.naps, self.stretched];
        words.iter().fold(0, |sum: u64, &word| sum.rotate_left(5) ^ u64::from(word).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

pub fn checksum(app: &mut App) -> u64 {
    app.world_mut().query::<&Sleeper>().iter(app.world()).map(Sleeper::checksum).fold(0, u64::wrapping_add)
}

/// The entities of a row.
#[derive(Clone, Copy)]
pub struct Crowd {
    pub entities: u32,
    /// The percentage of entities that take naps. They are mixed with the others, as in a game.
    pub percent_asleep: u32,
    /// The shortest nap, in seconds. The longest is ten times as long.
    pub least: f32,
}

impl Crowd {
    fn takes_naps(self, i: u32) -> bool {
        chance(i) % 100 < self.percent_asleep
    }
}

/// The clock: 64 ticks a second, so that each time is exact as a floating-point number.
#[derive(Resource, Clone, Copy)]
pub struct Clock {
    seconds: f64,
}

fn app() -> App {
    let mut app = App::new();
    app.insert_resource(Clock { seconds: 0.0 });
    app
}

fn tick(mut clock: ResMut<Clock>) {
    clock.seconds += 1.0 / 64.0;
}

#[derive(Component)]
struct Works;

/// The end of a nap, in seconds.
#[derive(Component)]
struct Timer(f64);

/// By hand: one system updates the entities that work, and one checks each timer.
pub fn with_timer_component(crowd: Crowd) -> App {
    let mut app = app();
    for i in 0..crowd.entities {
        let mut sleeper = Sleeper::new(i, crowd);
        if crowd.takes_naps(i) {
            let timer = Timer(sleeper.nap());
            app.world_mut().spawn((sleeper, timer));
        } else {
            app.world_mut().spawn((sleeper, Works));
        }
    }
    let work = |mut sleepers: Query<&mut Sleeper, With<Works>>| {
        for mut sleeper in &mut sleepers {
            sleeper.work();
        }
    };
    let wake = |mut sleepers: Query<(&mut Sleeper, &mut Timer)>, clock: Res<Clock>| {
        let now = clock.seconds;
        for (mut sleeper, mut timer) in &mut sleepers {
            if timer.0 <= now {
                sleeper.stretch();
                timer.0 = now + sleeper.nap();
            }
        }
    };
    app.add_systems(Update, (tick, work, wake).chain());
    app
}

impl Owner for Sleeper {
    type Context<'a> = Clock;
    type Message = ();

    #[inline]
    fn now(clock: &Clock) -> f64 {
        clock.seconds
    }
}

impl EntityOwner for Sleeper {
    type Body = ();
    type Param = Res<'static, Clock>;
}

impl CallbackContext<Sleeper> for Clock {
    #[inline]
    fn lend<R>(cx: &mut EntityContext<'_, Sleeper>, call: impl FnOnce(&mut Clock) -> R) -> R {
        call(&mut cx.param.clone())
    }
}

struct Work;
struct Nap;
struct Up;
struct PolledNap;

impl State<Sleeper> for Work {
    fn update(&self, sleeper: &mut Sleeper, _: &mut Fsm<'_, Sleeper>, _: &mut Clock) {
        sleeper.work();
    }
}

impl State<Sleeper> for Nap {
    fn enter(&self, sleeper: &mut Sleeper, fsm: &mut Fsm<'_, Sleeper>, _: &mut Clock) {
        fsm.change_state_after(sleeper.nap(), &Up);
        fsm.sleep();
    }
}

impl State<Sleeper> for Up {
    fn update(&self, sleeper: &mut Sleeper, fsm: &mut Fsm<'_, Sleeper>, _: &mut Clock) {
        sleeper.stretch();
        fsm.change_state(&Nap);
    }
}

impl State<Sleeper> for PolledNap {
    fn enter(&self, sleeper: &mut Sleeper, _: &mut Fsm<'_, Sleeper>, clock: &mut Clock) {
        sleeper.until = clock.seconds + sleeper.nap();
    }

    fn update(&self, sleeper: &mut Sleeper, fsm: &mut Fsm<'_, Sleeper>, clock: &mut Clock) {
        if sleeper.until <= clock.seconds {
            // This row has one change less than the rows with timers, which have a separate state for the tick between two
            // naps.
            sleeper.stretch();
            fsm.change_state(&PolledNap);
        }
    }
}

fn with_machines(crowd: Crowd, nap: &'static dyn State<Sleeper>) -> App {
    let mut app = app();
    app.add_plugins(StateMachinePlugin::<Sleeper>::new());
    for i in 0..crowd.entities {
        let state: &'static dyn State<Sleeper> = if crowd.takes_naps(i) { nap } else { &Work };
        let entity = app.world_mut().spawn((Sleeper::new(i, crowd), Machine::<Sleeper>::new(state))).id();
        // Any command starts a machine, so the first naps begin at 0, as in the other rows.
        app.world_mut().commands().entity(entity).ensure_state::<Sleeper>(state);
    }
    app.world_mut().flush();
    app.add_systems(Update, tick.before(bevy_demeanor::MachineSet::Update));
    app
}

/// Machines that sleep, with timers.
pub fn asleep(crowd: Crowd) -> App {
    with_machines(crowd, &Nap)
}

/// Machines that check in each tick whether the nap is over.
pub fn polling(crowd: Crowd) -> App {
    with_machines(crowd, &PolledNap)
}
