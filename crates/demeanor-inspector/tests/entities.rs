//! Machines on Bevy's entities in the page.

#[path = "server/client.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod client;

use std::time::Duration;

use bevy_app::App;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;
use bevy_time::{Time, TimePlugin, TimeUpdateStrategy};
use client::{Page, command_while};
use demeanor::State;
use demeanor_inspector::Inspector;
use demeanor_inspector::bevy::{AppExtInspector, InspectorPlugin};
use serde::{Serialize, Serializer};
use serde_json::json;

#[derive(Component)]
struct Guard;

impl Serialize for Guard {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("on guard")
    }
}

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

/// Number of updates of the machines.
#[derive(Resource, Default)]
struct Updates(u32);

struct Count;
impl State<Counted> for Count {
    fn update(&self, _: &mut Counted, _: &mut demeanor::Fsm<'_, Counted>, cx: &mut Cx<'_, Counted>) {
        cx.param.0 += 1;
    }
}
impl State<Counted> for Chase {}

#[derive(Component)]
struct Counted;

impl demeanor::Owner for Counted {
    type Context<'a> = EntityContext<'a, Self>;
    type Message = ();
}

impl EntityOwner for Counted {
    type Body = ();
    type Param = ResMut<'static, Updates>;
}

#[test]
fn machines_of_entities_are_paused_and_changed_by_hand() {
    let inspector = Inspector::bind("127.0.0.1:0").unwrap().allow_commands();
    let address = inspector.address();
    let mut app = App::new();
    app.add_plugins((TimePlugin, InspectorPlugin::new(inspector)));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(250)));
    app.init_resource::<Updates>();
    app.add_plugins(StateMachinePlugin::<Counted>::new());
    app.show_machines::<Counted>("counted").obey_machines::<Counted>("counted");
    let bob = app.world_mut().spawn((Counted, Machine::<Counted>::new(&Count))).id();
    let updates = |app: &App| app.world().resource::<Updates>().0;
    let seconds = |app: &App| app.world().resource::<Time>().elapsed_secs_f64();
    app.update();
    app.update();
    assert_eq!(updates(&app), 2);

    let page = Page::open(address, &format!("?crowd=counted&owner={bob}"));
    let ask = |app: &mut App, body| command_while(address, &page.token, &body, || app.update());
    assert_eq!(ask(&mut app, json!({ "do": "pause" })).0, 202);
    app.update();
    let (before, at) = (updates(&app), seconds(&app));
    (0..3).for_each(|_| app.update());
    assert_eq!((updates(&app), seconds(&app)), (before, at));
    // One step is one frame.
    assert_eq!(ask(&mut app, json!({ "do": "step" })).0, 202);
    (0..3).for_each(|_| app.update());
    assert_eq!((updates(&app), seconds(&app)), (before + 1, at + 0.25));

    // Changes by hand, while the game is paused.
    let by_hand = |owner: String, kind: &str, state: Option<&str>| json!({ "do": "owner", "crowd": "counted", "owner": owner, "kind": kind, "state": state });
    let unknown = (404, "no state Chase is known: no owner is in it".to_owned());
    assert_eq!(ask(&mut app, by_hand(bob.to_string(), "change", Some("Chase"))), unknown);
    let elsa = app.world_mut().spawn((Counted, Machine::<Counted>::new(&Chase))).id();
    assert_eq!(ask(&mut app, by_hand(bob.to_string(), "change", Some("Chase"))), (200, "done".to_owned()));
    let state = |app: &App, entity| app.world().get::<Machine<Counted>>(entity).unwrap().current().unwrap().to_string();
    assert_eq!(state(&app, bob), "Chase");
    assert_eq!(ask(&mut app, by_hand(elsa.to_string(), "push", Some("Count"))).0, 200);
    assert_eq!(state(&app, elsa), "Count");
    assert_eq!(ask(&mut app, by_hand("99v9".into(), "pop", None)).0, 404);
    assert_eq!(updates(&app), before + 1);

    assert_eq!(ask(&mut app, json!({ "do": "resume" })).0, 202);
    app.update();
    app.update();
    assert!(updates(&app) > before + 1 && seconds(&app) > at + 0.25);
}

#[test]
fn the_machines_of_entities_are_shown_with_their_journal() {
    let inspector = Inspector::bind("127.0.0.1:0").unwrap();
    let address = inspector.address();
    let mut app = App::new();
    app.add_plugins((TimePlugin, InspectorPlugin::new(inspector)));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(250)));
    app.add_plugins(StateMachinePlugin::<Guard>::new().with_journal(10));
    app.show_machines_with_data::<Guard>("guards");
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
    assert_eq!(told["data"], "on guard");
}
