//! The cameras. Their states are in the file `assets/camera.fsm.toml`; the words of the file are here.

use bevy_app::prelude::*;
use bevy_asset::{AssetServer, Handle};
use bevy_demeanor::demeanor::definition::Vocabulary;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_reflect::prelude::*;
use bevy_transform::prelude::*;
use moonshine_save::prelude::*;

use crate::player::Player;
use crate::yard::{Incident, Intruder, Kind, cameras, in_view, spot};

#[derive(Component, Reflect, Owner)]
#[reflect(Component)]
#[require(Save)]
#[owner(body = &Transform, param = Query<&Transform, With<Intruder>>, message = Incident)]
pub struct Camera {
    /// The place on the ground that the camera looks at.
    pub spot: Vec3,
    /// How long the camera has swept the yard, in seconds.
    swept: f32,
    pub alarms: u32,
}

/// Sweeps the yard from side to side.
struct Sweep;
impl MachineState<Camera> for Sweep {
    fn update(&self, camera: &mut Camera, _: &mut Fsm<'_, Camera>, cx: &mut Cx<'_, Camera>) {
        camera.swept += cx.time.delta_secs();
        camera.spot = spot(cx.body.translation, camera.swept);
    }
}

/// Keeps looking at the intruder.
struct Follow;
impl MachineState<Camera> for Follow {
    fn update(&self, camera: &mut Camera, _: &mut Fsm<'_, Camera>, cx: &mut Cx<'_, Camera>) {
        camera.spot = in_view(cx.param, cx.body.translation, camera.spot).unwrap_or(camera.spot);
    }
}

fn raise_alarm(camera: &mut Camera, cx: &mut Cx<'_, Camera>) {
    camera.alarms += 1;
    cx.commands.trigger(Incident { kind: Kind::Alarm, place: camera.spot, range: 12.0 });
}

fn vocabulary() -> Vocabulary<Camera> {
    Vocabulary::new()
        .behavior("sweep", &Sweep)
        .behavior("follow", &Follow)
        .action("raise_alarm", raise_alarm)
        .flag("sees", |camera, cx: &Cx<'_, Camera>| in_view(cx.param, cx.body.translation, camera.spot).is_some())
        .message("flash", |it: &Incident| matches!(it.kind, Kind::Flash))
}

#[derive(Resource)]
pub struct CameraFile(pub Handle<DefinitionFile>);

pub fn plugin(app: &mut App) {
    let plugin = StateMachinePlugin::<Camera>::new().with_definitions(vocabulary()).with_book(StateBook::new());
    app.add_plugins(plugin.in_schedule(FixedUpdate));
    app.configure_sets(FixedUpdate, Machines::<Camera>::SET.after(Machines::<Player>::SET));
    let file = app.world().resource::<AssetServer>().load("camera.fsm.toml");
    app.world_mut().resource_mut::<LoadedDefinitions<Camera>>().prepare(file.clone());
    app.insert_resource(CameraFile(file));
}

/// Whether the file has been loaded, so that cameras can be spawned, or loaded from a saved game.
pub fn is_ready(world: &World) -> bool {
    world.resource::<LoadedDefinitions<Camera>>().get(&world.resource::<CameraFile>().0).is_some()
}

pub fn spawn(world: &mut World) {
    let file = world.resource::<CameraFile>().0.clone();
    for place in cameras() {
        let camera = Camera { spot: place, swept: 0.0, alarms: 0 };
        world.spawn((camera, DefinedMachine::<Camera>::new(file.clone()), Transform::from_translation(place)));
    }
}
