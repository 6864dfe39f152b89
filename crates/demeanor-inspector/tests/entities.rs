//! Machines on Bevy's entities in the page.

#[path = "server/client.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod client;

use std::time::Duration;

use bevy_app::App;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use client::Page;
use demeanor::State;
use demeanor_inspector::Inspector;
use demeanor_inspector::bevy::{AppExtInspector, InspectorPlugin};
use serde_json::json;

#[derive(Component)]
struct Guard;

impl demeanor::Owner for Guard {
    type Context<'a> = ();
    type Message = ();
}

impl EntityOwner for Guard {
    type Body = ();
    type Param = ();
}

struct Idle;
struct Chase;
impl State<Guard> for Idle {}
impl State<Guard> for Chase {}

#[test]
fn the_machines_of_entities_are_shown_with_their_journal() {
    let inspector = Inspector::bind("127.0.0.1:0").unwrap();
    let address = inspector.address();
    let mut app = App::new();
    app.add_plugins((TimePlugin, InspectorPlugin::new(inspector)));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(250)));
    app.add_plugins(StateMachinePlugin::<Guard>::new().with_journal(10));
    app.show_machines::<Guard>("guards");
    let world = app.world_mut();
    let bob = world.spawn((Guard, Machine::<Guard>::new(&Idle))).id();
    world.spawn((Guard, Machine::<Guard>::new(&Idle)));
    world.commands().entity(bob).change_state::<Guard>(&Chase);

    let page = Page::open(address, &format!("?crowd=guards&owner={bob}"));
    let mut told = page.wait("picture", || app.update(), |told| told["owners"] == 2);
    let counts = told["states"].take();
    assert_eq!(counts, json!([{ "path": ["Chase"], "owners": 1 }, { "path": ["Idle"], "owners": 1 }]));
    assert_eq!(told["flow"]["changes"].as_array().map(Vec::len), Some(1), "{told}");
    let told = page.wait("owner", || app.update(), |_| true);
    assert_eq!((&told["owner"], &told["report"]["path"][0]["name"]), (&json!(bob.to_string()), &json!("Chase")));
}
