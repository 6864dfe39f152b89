//! The guards, written as state machines.

use bevy_app::prelude::*;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_reflect::prelude::*;
use bevy_time::prelude::*;
use bevy_transform::prelude::*;
use moonshine_save::prelude::*;

use crate::yard::{HEALTH, Incident, Intruder, Kind, nearest, posts};

#[derive(Component, Reflect, Owner)]
#[reflect(Component)]
#[require(Save, Machine<Guard> = Machine::new(&Patrol).with_global(&Mortal))]
#[owner(body = &mut Transform, param = Query<&Transform, (With<Intruder>, Without<Guard>)>, message = Incident)]
pub struct Guard {
    post: Vec3,
    goal: Vec3,
    health: f32,
    pub deaths: u32,
}

/// Goes somewhere, looks around, and listens.
struct OnDuty;
impl MachineState<Guard> for OnDuty {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        cx.body.translation = cx.body.translation.move_towards(guard.goal, 1.5 * cx.time.delta_secs());
        if nearest(cx.param, cx.body.translation, 5.0).is_some() {
            fsm.change_state(&Chase);
        }
    }

    fn on_message(&self, guard: &mut Guard, it: &Incident, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) -> bool {
        let (Kind::Noise | Kind::Alarm) = it.kind else { return false };
        guard.goal = it.place;
        fsm.ensure_state(&Investigate);
        true
    }
}

/// Walks back and forth.
struct Patrol;
impl MachineState<Guard> for Patrol {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        guard.goal = guard.post + if fsm.time_in_state(cx) % 4.0 < 2.0 { Vec3::X * 3.0 } else { Vec3::ZERO };
    }

    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&OnDuty).into())
    }
}

/// Goes to the place of a noise, or of an alarm.
struct Investigate;
impl MachineState<Guard> for Investigate {
    fn enter(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) {
        fsm.change_state_after(6.0, &Patrol);
    }

    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&OnDuty).into())
    }
}

/// Runs after an intruder.
pub struct Chase;
impl MachineState<Guard> for Chase {
    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        match nearest(cx.param, cx.body.translation, 8.0) {
            Some(intruder) => guard.goal = intruder,
            None => fsm.change_state(&Investigate),
        }
        cx.body.translation = cx.body.translation.move_towards(guard.goal, 4.0 * cx.time.delta_secs());
    }
}

/// Runs until no intruder is near.
struct Flee;
impl MachineState<Guard> for Flee {
    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        match nearest(cx.param, cx.body.translation, 12.0) {
            Some(from) => cx.body.translation = cx.body.translation.move_towards(from, -3.0 * cx.time.delta_secs()),
            None => fsm.change_state(&Patrol),
        }
    }
}

/// Does nothing for a while, and then returns to the previous state.
struct Stunned;
impl MachineState<Guard> for Stunned {
    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        if fsm.time_in_state(cx) >= 1.5 {
            fsm.revert_state();
        }
    }
}

/// Lies there until another guard comes to the post.
struct Dead;
impl MachineState<Guard> for Dead {
    fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) {
        guard.deaths += 1;
        fsm.change_state_after(5.0, &Patrol);
    }

    fn exit(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        guard.health = HEALTH;
        cx.body.translation = guard.post;
    }
}

/// The global state: events that can happen to a guard in every state.
struct Mortal;
impl MachineState<Guard> for Mortal {
    fn on_message(&self, guard: &mut Guard, it: &Incident, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) -> bool {
        match it.kind {
            Kind::Flash if guard.health > 0.0 => fsm.ensure_state(&Stunned),
            Kind::Blow if guard.health > 0.0 => {
                guard.health -= 1.0;
                if guard.health <= 0.0 {
                    fsm.change_state(&Dead);
                } else if guard.health < 2.0 && !fsm.is_in_state(&Stunned) {
                    fsm.ensure_state(&Flee);
                }
            }
            _ => {}
        }
        true
    }
}

/// Work that all guards in one state do can be written as a system.
fn rest(time: Res<Time>, mut patrols: Query<&mut Guard, With<InState<Patrol>>>) {
    for mut guard in &mut patrols {
        guard.health = (guard.health + 0.25 * time.delta_secs()).min(HEALTH);
    }
}

pub fn plugin(app: &mut App, plugin: StateMachinePlugin<Guard>) {
    let book = StateBook::new().with(&OnDuty).with(&Patrol).with(&Investigate).with(&Chase).with(&Flee);
    let book = book.with(&Stunned).with(&Dead).with(&Mortal);
    let plugin = plugin.in_schedule(FixedUpdate).with_marker::<Patrol>().with_marker::<Chase>();
    app.add_plugins(plugin.with_book(book)).add_systems(FixedUpdate, rest.in_set(MachineSet::Exit));
}

pub fn spawn(world: &mut World) {
    for post in posts() {
        world.spawn((Guard { post, goal: post, health: HEALTH, deaths: 0 }, Transform::from_translation(post)));
    }
}
