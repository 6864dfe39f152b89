//! Guards whose updates take longer than those of the other tables, on one thread and on all.

use bevy_app::{App, Plugin};
use bevy_demeanor::{EntityContext, EntityOwner, Machine, ParallelOwner, StateMachinePlugin};
use bevy_ecs::bundle::{Bundle, NoBundleEffect};
use bevy_ecs::component::Component;
use demeanor::{Fsm, Owner, State, StateMachine};

use crate::body::chance;

/// A thought, and how many steps each next thought takes.
#[derive(Component, Clone, Copy)]
pub struct Mind {
    thought: u32,
    steps: u32,
}

impl Mind {
    fn think(&mut self) {
        for _ in 0..self.steps {
            self.thought = chance(self.thought);
        }
    }
}

/// A guard with its mind in itself.
#[derive(Component)]
pub struct Guard(Mind);

impl Owner for Guard {
    type Context<'a> = ();
    type Message = ();
}

impl EntityOwner for Guard {
    type Body = ();
    type Param = ();
}

/// A guard with its mind in a component of its own.
#[derive(Component)]
pub struct Watch;

impl Owner for Watch {
    type Context<'a> = EntityContext<'a, Self>;
    type Message = ();
}

impl EntityOwner for Watch {
    type Body = &'static mut Mind;
    type Param = ();
}

struct Think;

impl State<Guard> for Think {
    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, (): &mut ()) {
        guard.0.think();
    }
}

impl State<Watch> for Think {
    fn update(&self, _: &mut Watch, _: &mut Fsm<'_, Watch>, cx: &mut EntityContext<'_, Watch>) {
        cx.body.think();
    }
}

fn app<T: ParallelOwner, B: Bundle<Effect: NoBundleEffect>>(
    (guards, steps, in_parallel): (u32, u32, bool),
    bundle: impl Fn(Mind) -> B + Send + Sync + 'static,
) -> App
where
    Think: State<T>,
    StateMachinePlugin<T>: Plugin,
{
    let mut app = App::new();
    let plugin = StateMachinePlugin::<T>::new();
    app.add_plugins(if in_parallel { plugin.in_parallel() } else { plugin });
    let machine = || Machine::<T>::started(StateMachine::new(&Think));
    app.world_mut().spawn_batch((0..guards).map(move |thought| (bundle(Mind { thought, steps }), machine())));
    app
}

/// Guards whose updates take `steps` steps each.
pub fn guards(guards: u32, steps: u32, in_parallel: bool) -> App {
    app::<Guard, _>((guards, steps, in_parallel), Guard)
}

/// The same, with their minds beside them.
pub fn guards_with_body(guards: u32, steps: u32, in_parallel: bool) -> App {
    app::<Watch, _>((guards, steps, in_parallel), |mind| (Watch, mind))
}

pub fn checksum(app: &mut App) -> u64 {
    let sum = |thought: u32, sum: u64| sum.wrapping_add(u64::from(thought));
    let inside = app.world_mut().query::<&Guard>().iter(app.world()).fold(0, |all, guard| sum(guard.0.thought, all));
    app.world_mut().query::<&Mind>().iter(app.world()).fold(inside, |all, mind| sum(mind.thought, all))
}
