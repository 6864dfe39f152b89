//! The same game without this crate: loops written by hand, and an ECS with a timer component.

#![expect(clippy::needless_pass_by_value, reason = "that is how a system is given what it asks for")]

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::SingleThreadedExecutor;

use super::contenders::Crowd;
use super::sleeper::{Clock, Sleeper};
use crate::contender::Contender;
use crate::workload::Context;

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Work,
    Nap,
}

impl Mode {
    fn of(crowd: &Crowd, number: usize) -> Self {
        if crowd.takes_naps(number) { Self::Nap } else { Self::Work }
    }
}

/// Runs one tick of an owner that polls.
#[inline(always)]
fn poll(owner: &mut Sleeper, mode: Mode, now: f64) {
    match mode {
        Mode::Work => owner.work(),
        Mode::Nap if owner.until <= now => {
            owner.stretch();
            owner.until = now + owner.nap();
        }
        Mode::Nap => {}
    }
}

fn begin(crowd: &Crowd, number: usize) -> (Sleeper, Mode) {
    let (mut owner, mode) = (crowd.owner(number), Mode::of(crowd, number));
    if mode == Mode::Nap {
        owner.until = owner.nap();
    }
    (owner, mode)
}

/// A loop that checks all owners in each tick.
pub(crate) struct Polling {
    owners: Vec<(Sleeper, Mode)>,
    clock: Clock,
}

impl Polling {
    pub(crate) fn new(crowd: &Crowd) -> Self {
        Self { owners: (0..crowd.owners).map(|number| begin(crowd, number)).collect(), clock: Clock::default() }
    }
}

impl Contender for Polling {
    fn tick(&mut self, _: &Context) {
        self.clock.tick();
        let now = self.clock.now();
        for (owner, mode) in &mut self.owners {
            poll(owner, *mode, now);
        }
    }

    fn checksum(&self) -> u64 {
        self.owners.iter().fold(0, |sum, (owner, _)| sum.wrapping_add(owner.checksum()))
    }
}

#[derive(PartialEq)]
struct Due(f64);

impl Eq for Due {}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The working owners, then the sleeping ones, and a heap with the times at which these wake up.
pub(crate) struct Heap {
    owners: Vec<Sleeper>,
    working: usize,
    naps: BinaryHeap<Reverse<(Due, usize)>>,
    clock: Clock,
}

impl Heap {
    pub(crate) fn new(crowd: &Crowd) -> Self {
        let owners: Vec<_> = (0..crowd.owners).map(|number| begin(crowd, number).0).collect();
        let working = crowd.owners - crowd.sleepers;
        let naps = (working..owners.len()).map(|number| Reverse((Due(owners[number].until), number))).collect();
        Self { owners, working, naps, clock: Clock::default() }
    }
}

impl Contender for Heap {
    fn tick(&mut self, _: &Context) {
        self.clock.tick();
        let now = self.clock.now();
        for owner in &mut self.owners[..self.working] {
            owner.work();
        }
        while let Some(mut first) = self.naps.peek_mut() {
            let Reverse((due, number)) = &mut *first;
            if due.0 > now {
                break;
            }
            let owner = &mut self.owners[*number];
            owner.stretch();
            due.0 = now + owner.nap();
        }
    }

    fn checksum(&self) -> u64 {
        self.owners.iter().fold(0, |sum, owner| sum.wrapping_add(owner.checksum()))
    }
}

#[derive(Component)]
struct Works;

/// The end of a nap, in seconds.
#[derive(Component)]
struct Timer(f64);

#[derive(Resource)]
struct Now(f64);

/// One system updates the owners that work, and one checks each timer.
pub(crate) struct Bevy {
    world: World,
    schedule: Schedule,
    clock: Clock,
}

impl Bevy {
    pub(crate) fn new(crowd: &Crowd) -> Self {
        let mut schedule = Schedule::default();
        schedule.set_executor(SingleThreadedExecutor::new());
        schedule.add_systems((work, wake));
        let mut world = World::new();
        world.insert_resource(Now(0.0));
        for number in 0..crowd.owners {
            let (owner, mode) = begin(crowd, number);
            match mode {
                Mode::Work => world.spawn((owner, Works)),
                Mode::Nap => {
                    let timer = Timer(owner.until);
                    world.spawn((owner, timer))
                }
            };
        }
        Self { world, schedule, clock: Clock::default() }
    }
}

fn work(mut owners: Query<&mut Sleeper, With<Works>>) {
    for mut owner in &mut owners {
        owner.work();
    }
}

fn wake(mut owners: Query<(&mut Sleeper, &mut Timer)>, now: Res<Now>) {
    for (mut owner, mut timer) in &mut owners {
        if timer.0 <= now.0 {
            owner.stretch();
            timer.0 = now.0 + owner.nap();
        }
    }
}

impl Contender for Bevy {
    fn tick(&mut self, _: &Context) {
        self.clock.tick();
        self.world.insert_resource(Now(self.clock.now()));
        self.schedule.run(&mut self.world);
    }

    fn checksum(&self) -> u64 {
        let mut owners = self.world.try_query::<&Sleeper>().expect("there are some");
        owners.iter(&self.world).fold(0, |sum, owner| sum.wrapping_add(owner.checksum()))
    }
}
