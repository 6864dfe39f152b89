//! moonshine-behavior. It is spared its hooks: `exit` and `enter` run where the change is asked for.

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
    /// Nothing is to come back to, so its stack stays short.
    fn is_resumable(&self) -> bool {
        false
    }
}

pub fn checksum(app: &mut App) -> u64 {
    app.world_mut().query::<&Character>().iter(app.world()).map(|it| it.0.checksum()).fold(0, u64::wrapping_add)
}

fn tick(mut characters: Query<(&mut Character, BehaviorMut<Mode>)>) {
    for (mut character, mut behavior) in &mut characters {
        let body = &mut character.0;
        macro_rules! states {
            ($($state:ident $n:literal -> $next:ident $m:literal;)*) => {
                match *behavior.current() {
                    $(Mode::$state => if body.update::<$n>() {
                        body.exit::<$n>();
                        behavior.start(Mode::$next);
                        body.enter::<$m>();
                    })*
                }
            };
        }
        states! { S0 0 -> S1 1; S1 1 -> S2 2; S2 2 -> S3 3; S3 3 -> S4 4; S4 4 -> S5 5; S5 5 -> S0 0; }
    }
}

pub fn app(entities: u32, period: u32) -> App {
    let mut app = App::new();
    app.add_plugins(BehaviorPlugin::<Mode>::default());
    app.add_systems(Update, (tick, transition::<Mode>).chain());
    let modes = [Mode::S0, Mode::S1, Mode::S2, Mode::S3, Mode::S4, Mode::S5];
    for i in 0..entities {
        app.world_mut().spawn((Character(Body::new(i, period)), modes[usize::from(Body::first_state(i))]));
    }
    app
}
