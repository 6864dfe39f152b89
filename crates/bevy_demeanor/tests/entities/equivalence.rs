//! An entity's machine makes the callbacks that a `StateMachine` by itself makes.

use bevy_demeanor::{EntityContext, Machine, MachineCommands, StateMachinePlugin};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemState;
use bevy_ecs::world::CommandQueue;
use demeanor::StateMachine;
use proptest::prelude::*;

use crate::soldier::{Alarm, Order, Senses, Soldier, StateName, app, soldier};

fn name() -> impl Strategy<Value = StateName> {
    prop_oneof![
        Just(StateName::Idle),
        Just(StateName::Patrol),
        Just(StateName::Chase),
        Just(StateName::Fight),
        Just(StateName::Aim)
    ]
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![
        Just(Order::Nothing),
        name().prop_map(Order::Change),
        (name(), name()).prop_map(|(first, second)| Order::ChangeTwice(first, second)),
        Just(Order::Revert),
        name().prop_map(Order::Push),
        Just(Order::Pop),
        Just(Order::Salute),
    ]
}

/// What is done to the soldier in one tick, before its update.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Nothing,
    Change(StateName),
    Revert,
    Push(StateName),
    Pop,
    Send(StateName),
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        3 => Just(Deed::Nothing),
        1 => name().prop_map(Deed::Change),
        1 => Just(Deed::Revert),
        1 => name().prop_map(Deed::Push),
        1 => Just(Deed::Pop),
        1 => name().prop_map(Deed::Send),
    ]
}

fn in_bevy(orders: &[Order], deeds: &[Deed], plugin: StateMachinePlugin<Soldier>) -> Vec<String> {
    let mut app = app(plugin);
    // Soldiers around it must not matter.
    app.world_mut().spawn(soldier([Order::Change(StateName::Chase)]));
    let entity = app.world_mut().spawn(soldier(orders.iter().copied())).id();
    app.update();
    for deed in deeds {
        let mut commands = app.world_mut().commands();
        let mut commands = commands.entity(entity);
        match *deed {
            Deed::Nothing => &mut commands,
            Deed::Change(to) => commands.change_state(to.state()),
            Deed::Revert => commands.revert_state::<Soldier>(),
            Deed::Push(over) => commands.push_state(over.state()),
            Deed::Pop => commands.pop_state::<Soldier>(),
            Deed::Send(told) => commands.send::<Soldier>(told),
        };
        app.update();
    }
    std::mem::take(&mut app.world_mut().get_mut::<Soldier>(entity).unwrap().trace)
}

fn alone(orders: &[Order], deeds: &[Deed]) -> Vec<String> {
    let mut world = World::new();
    world.init_resource::<Alarm>();
    let mut state = SystemState::<Senses<'static, 'static>>::new(&mut world);
    let entity = world.spawn_empty().id();
    let mut queue = CommandQueue::default();
    let senses = state.get_mut(&mut world).unwrap();
    // The commands go nowhere.
    let elsewhere = World::new();
    let mut cx = EntityContext::<Senses<'static, 'static>>::new(senses, Commands::new(&mut queue, &elsewhere));
    cx.visit(entity);
    let (mut owner, machine) = soldier(orders.iter().copied());
    let mut machine: StateMachine<Soldier> = Machine::clone(&machine).bypass().clone();
    machine.start(&mut owner, &mut cx);
    machine.update(&mut owner, &mut cx);
    for deed in deeds {
        match *deed {
            Deed::Nothing => true,
            Deed::Change(to) => machine.change_state(&mut owner, to.state(), &mut cx),
            Deed::Revert => machine.revert_state(&mut owner, &mut cx),
            Deed::Push(over) => machine.push_state(&mut owner, over.state(), &mut cx),
            Deed::Pop => machine.pop_state(&mut owner, &mut cx),
            Deed::Send(told) => machine.send(&mut owner, &told, &mut cx),
        };
        machine.update(&mut owner, &mut cx);
    }
    owner.trace
}

proptest! {
    // Each builds three apps.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_same_program_makes_the_same_callbacks(
        orders in prop::collection::vec(order(), 0..30),
        deeds in prop::collection::vec(deed(), 0..20),
    ) {
        let expected = alone(&orders, &deeds);
        prop_assert_eq!(&in_bevy(&orders, &deeds, StateMachinePlugin::new()), &expected);
        let followed = StateMachinePlugin::new().with_change_events().with_marker::<crate::soldier::Patrol>();
        prop_assert_eq!(&in_bevy(&orders, &deeds, followed), &expected);
        prop_assert_eq!(&in_bevy(&orders, &deeds, StateMachinePlugin::new().in_parallel()), &expected);
    }
}
