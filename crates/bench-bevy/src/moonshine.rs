//! moonshine-behavior. The rows run the work of entering and leaving either in its observers, as its documentation recommends,
//! or inline, where the change is requested. The inline rows measure the crate without the cost of its observers.

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use moonshine_behavior::prelude::*;

use crate::body::Body;

#[derive(Component)]
struct Character(Body);

#[derive(Component, Clone, Copy, Debug, Reflect)]
#[reflect(Component)]
enum Mode {
    S0,
    S1,
    S2,
    S3,
    S4,
    S5,
}

impl Behavior for Mode {
    /// No state is resumed, so the stack stays short.
    fn is_resumable(&self) -> bool {
        false
    }
}

pub fn checksum(app: &mut App) -> u64 {
    app.world_mut().query::<&Character>().iter(app.world()).map(|it| it.0.checksum()).fold(0, u64::wrapping_add)
}

/// Updates each body, and requests the next state for each body whose time has come.
fn tick(
    characters: &mut Query<(&mut Character, BehaviorMut<Mode>)>,
    mut due: impl FnMut(&mut Body, fn(&mut Body), fn(&mut Body)),
) {
    for (mut character, mut behavior) in characters {
        let body = &mut character.0;
        macro_rules! states {
            ($($state:ident $n:literal -> $next:ident $m:literal;)*) => {
                match *behavior.current() {
                    $(Mode::$state => if body.update::<$n>() {
                        behavior.start(Mode::$next);
                        due(body, Body::exit::<$n>, Body::enter::<$m>);
                    })*
                }
            };
        }
        states! { S0 0 -> S1 1; S1 1 -> S2 2; S2 2 -> S3 3; S3 3 -> S4 4; S4 4 -> S5 5; S5 5 -> S0 0; }
    }
}

fn on_stop(event: OnStop<Mode>, mut characters: Query<&mut Character>) {
    let Ok(mut character) = characters.get_mut(event.instance.entity()) else { return };
    match event.behavior {
        Mode::S0 => character.0.exit::<0>(),
        Mode::S1 => character.0.exit::<1>(),
        Mode::S2 => character.0.exit::<2>(),
        Mode::S3 => character.0.exit::<3>(),
        Mode::S4 => character.0.exit::<4>(),
        Mode::S5 => character.0.exit::<5>(),
    }
}

fn on_start(event: OnStart<Mode>, mut characters: Query<(&mut Character, BehaviorRef<Mode>)>) {
    // The entities of the other rows do not enter their first state either.
    if event.initial {
        return;
    }
    let Ok((mut character, behavior)) = characters.get_mut(event.instance.entity()) else { return };
    match behavior[event.index] {
        Mode::S0 => character.0.enter::<0>(),
        Mode::S1 => character.0.enter::<1>(),
        Mode::S2 => character.0.enter::<2>(),
        Mode::S3 => character.0.enter::<3>(),
        Mode::S4 => character.0.enter::<4>(),
        Mode::S5 => character.0.enter::<5>(),
    }
}

pub fn app(entities: u32, period: u32) -> App {
    let mut app = spawned(entities, period);
    let tick = |mut characters: Query<(&mut Character, BehaviorMut<Mode>)>| tick(&mut characters, |_, _, _| {});
    app.add_systems(Update, (tick, transition::<Mode>).chain());
    app.add_observer(on_stop);
    app.add_observer(on_start);
    app
}

pub fn inline(entities: u32, period: u32) -> App {
    let mut app = spawned(entities, period);
    let tick = |mut characters: Query<(&mut Character, BehaviorMut<Mode>)>| {
        tick(&mut characters, |body, exit, enter| {
            exit(body);
            enter(body);
        });
    };
    app.add_systems(Update, (tick, transition::<Mode>).chain());
    app
}

fn spawned(entities: u32, period: u32) -> App {
    let mut app = App::new();
    app.add_plugins(BehaviorPlugin::<Mode>::default());
    let modes = [Mode::S0, Mode::S1, Mode::S2, Mode::S3, Mode::S4, Mode::S5];
    for i in 0..entities {
        app.world_mut().spawn((Character(Body::new(i, period)), modes[usize::from(Body::first_state(i))]));
    }
    app
}
