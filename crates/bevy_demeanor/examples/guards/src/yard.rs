//! The yard, which both versions of the guards share: the intruders, the saving of the game, and the visible data.

use bevy_app::prelude::*;
use bevy_asset::AssetPlugin;
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_reflect::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy, prelude::*};
use bevy_transform::prelude::*;
use moonshine_save::prelude::*;

pub const HEALTH: f32 = 4.0;
/// 80 meters by 40.
const SIZE: Vec3 = Vec3::new(80.0, 40.0, 1.0);

/// An event that guards nearby notice.
#[derive(Event, Clone, Copy)]
pub struct Incident {
    pub kind: Kind,
    pub place: Vec3,
    pub range: f32,
}

#[derive(Clone, Copy)]
pub enum Kind {
    Noise,
    Blow,
    Flash,
}

/// Crosses the yard from wall to wall. Makes noise, strikes guards nearby, and sometimes blinds them.
#[derive(Component, Reflect)]
#[reflect(Component)]
#[require(Save, Transform)]
pub struct Intruder {
    speed: Vec3,
    seconds: f32,
}

/// Creates a game without guards and intruders. Each update advances it by 1/64 of a second.
pub fn yard() -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin, AssetPlugin::default()));
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app.add_observer(save_on_default_event).add_observer(load_on_default_event).add_systems(FixedPreUpdate, sneak);
    app
}

/// Returns the posts of the guards, in 10 rows of 20.
pub fn posts() -> impl Iterator<Item = Vec3> {
    (0_u8..200).map(|i| Vec3::new(f32::from(i % 20), f32::from(i / 20), 0.0) * 4.0)
}

pub fn spawn_intruders(mut commands: Commands) {
    // The intruders never appear at the same time, so that their order does not matter.
    for (x, y, seconds) in [(3.0, 1.9, 16.0), (2.6, 2.2, 16.125), (1.7, 3.5, 16.25)] {
        commands.spawn(Intruder { speed: Vec3::new(x, y, 0.0), seconds });
    }
}

fn sneak(time: Res<Time>, mut intruders: Query<(&mut Intruder, &mut Transform)>, mut commands: Commands) {
    for (mut intruder, mut transform) in &mut intruders {
        intruder.seconds += time.delta_secs();
        transform.translation = SIZE - (intruder.speed * intruder.seconds % (2.0 * SIZE) - SIZE).abs();
        for (kind, range, pause) in [(Kind::Noise, 10.0, 1.0), (Kind::Blow, 2.0, 0.5), (Kind::Flash, 4.0, 5.0)] {
            if intruder.seconds % pause == 0.0 {
                commands.trigger(Incident { kind, place: transform.translation, range });
            }
        }
    }
}

/// Returns the place of the nearest intruder.
pub fn nearest<'a>(intruders: impl IntoIterator<Item = &'a Transform>, here: Vec3, range: f32) -> Option<Vec3> {
    let near = intruders.into_iter().map(|it| it.translation).filter(|it| it.distance(here) < range);
    near.min_by(|one, other| one.distance(here).total_cmp(&other.distance(here)))
}

/// The visible data of a guard: its place, the name of its state, and how often it has died.
pub type Seen = (Vec3, String, u32);

/// Plays for some seconds. Returns the number of guards in each state, and a map. The map shows guards as the first letters of
/// their states, guards on patrol as dots, and intruders as `~`.
pub fn play(app: &mut App, seconds: u32, seen: fn(&mut App) -> Vec<Seen>) -> String {
    (0..seconds * 64).for_each(|_| app.update());
    let mut guards = seen(app);
    let count = |state| format!("{state} {}, ", guards.iter().filter(|(_, name, _)| name == state).count());
    let counts = ["Patrol", "Investigate", "Chase", "Flee", "Stunned", "Dead"].map(count).concat();
    let mut intruders = app.world_mut().query_filtered::<&Transform, With<Intruder>>();
    guards.extend(intruders.iter(app.world()).map(|it| (it.translation, "~".to_owned(), 0)));
    let mut map = [[' '; 81]; 21];
    for (place, state, _) in &guards {
        let sign = if state == "Patrol" { '.' } else { state.chars().next().unwrap_or('?') };
        let [x, y, _] = place.clamp(Vec3::ZERO, SIZE).as_u16vec3().to_array().map(usize::from);
        map[y / 2][x] = map[y / 2][x].max(sign);
    }
    let lines = map.map(|line| String::from_iter(line).trim_end().to_owned() + "\n").concat();
    format!("{counts}died {} times\n{lines}", guards.iter().map(|(_, _, deaths)| deaths).sum::<u32>())
}
