//! A guard that runs back and forth in a window, and is red on the way back.

use bevy::prelude::*;
use bevy_demeanor::prelude::*;

/// Both preludes together.
mod both {
    #[expect(unused_imports, reason = "a glob is there for what it might hide")]
    pub use bevy::prelude::*;
    pub use bevy_demeanor::prelude::*;
}

/// All names of the plugin's prelude. If Bevy had the same name, the compiler would report an ambiguity here.
#[expect(unused_imports, reason = "they are named, not used")]
mod names {
    use crate::both::{
        AppExtMachines, CallbackContext, Cause, Change, CurrentState, Cx, Entered, EntityContext, EntityOwner, Exited,
        Fsm, InSparseSet, InState, IntoState, Machine, MachineCommands, MachineSet, MachineState, Machines, NextWake,
        Owner, OwnerChanges, ParallelOwner, QueryInState, SharedParam, StateBook, StateChanged, StateIndex,
        StateMachine, StateMachinePlugin, StateRef, any_in_state, any_machine_changed, any_machine_in,
        every_machine_in,
    };
}

/// The states of the app, such as a menu. This `State` is Bevy's.
#[derive(States, Clone, Copy, Default, Debug, PartialEq, Eq, Hash)]
enum AppState {
    #[default]
    Playing,
    Paused,
}

#[derive(Component, Reflect, Owner, Default)]
#[reflect(Component)]
#[require(Machine<Guard> = Machine::new(&Leave))]
#[owner(body = (&mut Transform, &mut Sprite), param = Res<State<AppState>>)]
struct Guard {
    laps: u32,
}

struct Leave;
impl MachineState<Guard> for Leave {
    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        cx.body.0.translation.x += 100.0 * cx.time.delta_secs();
        if cx.body.0.translation.x > 200.0 {
            fsm.change_state(&Return);
        }
    }
}

struct Return;
impl MachineState<Guard> for Return {
    fn enter(&self, _: &mut Guard, _: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        cx.body.1.color = Color::srgb(1.0, 0.0, 0.0);
    }

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        cx.body.0.translation.x -= 100.0 * cx.time.delta_secs();
        if cx.body.0.translation.x < -200.0 {
            guard.laps += 1;
            fsm.change_state(&Leave);
        }
    }

    fn exit(&self, _: &mut Guard, _: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        cx.body.1.color = Color::WHITE;
    }
}

fn spawn(mut commands: Commands) {
    commands.spawn(Camera2d);
    commands.spawn((Guard::default(), Sprite::from_color(Color::WHITE, Vec2::splat(20.0))));
}

fn pause(keys: Res<ButtonInput<KeyCode>>, mut next: ResMut<NextState<AppState>>) {
    if keys.just_pressed(KeyCode::Space) {
        next.set(AppState::Paused);
    }
}

fn report(lap: On<Exited<Return>>, guards: Query<&Guard>) -> Result {
    info!("lap {}", guards.get(lap.entity)?.laps);
    Ok(())
}

/// Uses types of Bevy and of the plugin together.
fn count(returning: Query<(), With<InState<Return>>>, state: Res<State<AppState>>) {
    debug!("{} return in {:?}", returning.iter().count(), state.get());
}

fn main() {
    let book = StateBook::new().with(&Leave).with(&Return);
    App::new()
        .add_plugins(DefaultPlugins)
        .init_state::<AppState>()
        .add_state_machine_with(
            StateMachinePlugin::<Guard>::new().with_marker::<Return>().with_triggers::<Return>().with_book(book),
        )
        .configure_sets(Update, Machines::<Guard>::SET.run_if(in_state(AppState::Playing)))
        .add_systems(Startup, spawn)
        .add_systems(Update, (pause.in_set(MachineSet::Enter), count.in_set(MachineSet::Exit)))
        .add_observer(report)
        .run();
}
