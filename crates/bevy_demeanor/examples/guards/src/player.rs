//! The player, who sneaks to the middle of the yard.

use bevy_app::prelude::*;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;
use bevy_reflect::prelude::*;
use bevy_transform::prelude::*;
use moonshine_save::prelude::*;

use crate::guards::{Chase, Guard};
use crate::yard::{ENTRANCE, Incident, Intruder, Kind, Route, nearest};

#[derive(Component, Reflect, Owner)]
#[reflect(Component)]
#[require(Save, Machine<Player> = Machine::new(&Sneak))]
#[owner(body = &mut Transform, param = Query<&Transform, (With<InState<Chase>>, Without<Player>)>, message = Incident)]
pub struct Player {
    route: Route,
    pub caught: u32,
}

/// Can be caught by a guard who is on a chase.
struct Free;
impl MachineState<Player> for Free {
    fn update(&self, _: &mut Player, fsm: &mut Fsm<'_, Player>, cx: &mut Cx<'_, Player>) {
        if nearest(cx.param, cx.body.translation, 1.0).is_some() {
            fsm.change_state(&Caught);
        }
    }
}

/// Walks slowly until there is an alarm nearby.
struct Sneak;
impl MachineState<Player> for Sneak {
    fn update(&self, player: &mut Player, _: &mut Fsm<'_, Player>, cx: &mut Cx<'_, Player>) {
        cx.body.translation = player.route.walk(cx.body.translation, 2.0 * cx.time.delta_secs());
    }

    fn on_message(&self, _: &mut Player, it: &Incident, fsm: &mut Fsm<'_, Player>, _: &mut Cx<'_, Player>) -> bool {
        let Kind::Alarm = it.kind else { return false };
        fsm.change_state(&Run);
        true
    }

    fn parent(&self) -> Option<StateRef<Player>> {
        Some((&Free).into())
    }
}

/// Runs for a while.
struct Run;
impl MachineState<Player> for Run {
    fn enter(&self, _: &mut Player, fsm: &mut Fsm<'_, Player>, _: &mut Cx<'_, Player>) {
        fsm.change_state_after(3.0, &Sneak);
    }

    fn update(&self, player: &mut Player, _: &mut Fsm<'_, Player>, cx: &mut Cx<'_, Player>) {
        cx.body.translation = player.route.walk(cx.body.translation, 5.0 * cx.time.delta_secs());
    }

    fn parent(&self) -> Option<StateRef<Player>> {
        Some((&Free).into())
    }
}

/// Is held for a while, no intruder any more, and then begins again at the entrance.
struct Caught;
impl MachineState<Player> for Caught {
    fn enter(&self, player: &mut Player, fsm: &mut Fsm<'_, Player>, cx: &mut Cx<'_, Player>) {
        player.caught += 1;
        cx.this().remove::<Intruder>();
        fsm.change_state_after(4.0, &Sneak);
    }

    fn exit(&self, player: &mut Player, _: &mut Fsm<'_, Player>, cx: &mut Cx<'_, Player>) {
        player.route = Route::default();
        cx.body.translation = ENTRANCE;
        cx.this().insert(Intruder);
    }
}

pub fn plugin(app: &mut App) {
    let book = StateBook::new().with(&Free).with(&Sneak).with(&Run).with(&Caught);
    app.add_plugins(StateMachinePlugin::<Player>::new().in_schedule(FixedUpdate).with_book(book));
    app.configure_sets(FixedUpdate, Machines::<Player>::SET.after(Machines::<Guard>::SET));
}

pub fn spawn(world: &mut World) {
    let player = Player { route: Route::default(), caught: 0 };
    world.spawn((player, Intruder, Transform::from_translation(ENTRANCE)));
}
