//! The yard, which both versions of the level share: the intruders, where everybody stands and walks, what a camera can see, the
//! saving of the game, and the visible data.

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

/// The place where the player begins, outside of the yard.
pub const ENTRANCE: Vec3 = Vec3::new(84.0, 42.0, 0.0);
/// The folder with the level's files.
pub const ASSETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");

/// An event that characters nearby notice.
#[derive(Event, Clone, Copy)]
pub struct Incident {
    pub kind: Kind,
    pub place: Vec3,
    pub range: f32,
}

impl Incident {
    pub fn is_near(&self, place: Vec3) -> bool {
        place.distance(self.place) < self.range
    }
}

#[derive(Clone, Copy)]
pub enum Kind {
    Noise,
    Alarm,
    Blow,
    Flash,
}

/// Is chased by guards, and seen by cameras.
#[derive(Component, Reflect, Default)]
#[reflect(Component)]
#[require(Save, Transform)]
pub struct Intruder;

/// Crosses the yard from wall to wall. Makes noise, strikes guards nearby, and sometimes blinds them.
#[derive(Component, Reflect)]
#[reflect(Component)]
#[require(Intruder)]
pub struct Prowler {
    speed: Vec3,
    seconds: f32,
}

/// The player's way, along the wall, to the middle of the yard, and back: the number of the corner to which it leads.
#[derive(Reflect, Clone, Copy, Default)]
pub struct Route(usize);

impl Route {
    /// Returns the place that is a distance farther on the way.
    pub fn walk(&mut self, here: Vec3, distance: f32) -> Vec3 {
        const CORNERS: [Vec3; 4] =
            [Vec3::new(56.0, 42.0, 0.0), Vec3::new(40.0, 20.0, 0.0), Vec3::new(24.0, 42.0, 0.0), ENTRANCE];
        let there = here.move_towards(CORNERS[self.0], distance);
        if there == CORNERS[self.0] {
            self.0 = (self.0 + 1) % CORNERS.len();
        }
        there
    }
}

/// Creates a game without characters, whose files are in a folder. Each update advances it by 1/64 of a second.
pub fn yard(assets: &str) -> App {
    let mut app = App::new();
    let assets = AssetPlugin { file_path: assets.to_owned(), ..AssetPlugin::default() };
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin, assets));
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app.add_observer(save_on_default_event).add_observer(load_on_default_event).add_systems(FixedPreUpdate, prowl);
    app
}

/// Returns the posts of the guards, in 10 rows of 20.
pub fn posts() -> impl Iterator<Item = Vec3> {
    (0_u8..200).map(|i| Vec3::new(f32::from(i % 20), f32::from(i / 20), 0.0) * 4.0)
}

/// Returns the places of the cameras, on the long walls.
pub fn cameras() -> impl Iterator<Item = Vec3> {
    [(13.0, 0.0), (40.0, 0.0), (67.0, 0.0), (13.0, 40.0), (40.0, 40.0), (67.0, 40.0)]
        .map(|(x, y)| Vec3::new(x, y, 0.0))
        .into_iter()
}

/// Returns the place at which a camera looks that has swept the yard for some seconds.
pub fn spot(camera: Vec3, seconds: f32) -> Vec3 {
    let inward = if camera.y > 0.0 { Vec3::NEG_Y } else { Vec3::Y };
    camera + inward * 6.0 + Vec3::X * ((seconds % 8.0 - 4.0).abs() - 2.0) * 4.0
}

/// Returns the intruder nearest to the place at which a camera looks, if the camera sees it.
pub fn in_view<'a>(intruders: impl IntoIterator<Item = &'a Transform>, camera: Vec3, spot: Vec3) -> Option<Vec3> {
    nearest(intruders, spot, 3.0).filter(|it| it.distance(camera) < 14.0)
}

pub fn spawn_prowlers(world: &mut World) {
    // They never appear at the same time, so that their order does not matter.
    for (x, y, seconds) in [(3.0, 1.9, 16.0), (2.6, 2.2, 16.125), (1.7, 3.5, 16.25)] {
        world.spawn(Prowler { speed: Vec3::new(x, y, 0.0), seconds });
    }
}

fn prowl(time: Res<Time>, mut prowlers: Query<(&mut Prowler, &mut Transform)>, mut commands: Commands) {
    for (mut prowler, mut transform) in &mut prowlers {
        prowler.seconds += time.delta_secs();
        transform.translation = SIZE - (prowler.speed * prowler.seconds % (2.0 * SIZE) - SIZE).abs();
        for (kind, range, pause) in [(Kind::Noise, 10.0, 1.0), (Kind::Blow, 2.0, 0.5), (Kind::Flash, 4.0, 5.0)] {
            if prowler.seconds % pause == 0.0 {
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

/// The visible data of a character: its place, the name of its state, and how often it has died, has raised an alarm, or was
/// caught. A camera's place is the one at which it looks.
pub type Character = (Vec3, String, u32);

/// The visible data of all characters.
#[derive(Debug, PartialEq)]
pub struct Seen {
    pub guards: Vec<Character>,
    pub cameras: Vec<Character>,
    pub player: Vec<Character>,
}

impl Seen {
    /// Brings the characters into an order that does not depend on the entities.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        for characters in [&mut self.guards, &mut self.cameras, &mut self.player] {
            characters.sort_by(|(a, one, first), (b, other, second)| {
                a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then_with(|| (one, first).cmp(&(other, second)))
            });
        }
        self
    }
}

/// Returns the places of the intruders other than the player.
pub fn prowlers(app: &mut App) -> Vec<Vec3> {
    let mut prowlers = app.world_mut().query_filtered::<&Transform, With<Prowler>>();
    prowlers.iter(app.world()).map(|it| it.translation).collect()
}

/// Plays for some seconds. Returns the number of guards in each state, and a map. The map shows guards as the first letters of
/// their states, guards on patrol as dots, places at which cameras look as small letters, the player as `@`, and the other
/// intruders as `~`.
pub fn play(app: &mut App, seconds: u32, seen: fn(&mut App) -> Seen) -> String {
    (0..seconds * 64).for_each(|_| app.update());
    let Seen { guards, cameras, player } = seen(app);
    let count = |state| format!("{state} {}, ", guards.iter().filter(|(_, name, _)| name == state).count());
    let counts = ["Patrol", "Investigate", "Chase", "Flee", "Stunned", "Dead"].map(count).concat();
    let sum = |characters: &[Character]| characters.iter().map(|(_, _, count)| count).sum::<u32>();
    let sums = (sum(&guards), sum(&cameras), sum(&player));
    let sign = |state: &str| state.chars().next().filter(|_| state != "Patrol").unwrap_or('.');
    let signs = guards.iter().chain(&cameras).map(|(place, state, _)| (*place, sign(state)));
    let signs = signs.chain(prowlers(app).into_iter().map(|it| (it, '~'))).chain(player.iter().map(|it| (it.0, '@')));
    let mut map = [[' '; 81]; 21];
    for (place, sign) in signs {
        let [x, y, _] = place.clamp(Vec3::ZERO, SIZE).as_u16vec3().to_array().map(usize::from);
        map[y / 2][x] = map[y / 2][x].max(sign);
    }
    let lines = map.map(|line| String::from_iter(line).trim_end().to_owned() + "\n").concat();
    format!("{counts}died {} times, {} alarms, caught {} times\n{lines}", sums.0, sums.1, sums.2)
}
