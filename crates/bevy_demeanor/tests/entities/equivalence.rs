//! An entity's machine makes the callbacks that a `StateMachine` by itself makes.

use bevy_demeanor::{EntityContext, Machine, MachineCommands, StateMachinePlugin};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemState;
use bevy_ecs::world::CommandQueue;
use demeanor::{Owner, StateMachine};
use proptest::prelude::*;

use crate::soldier::{Alarm, Order, Senses, Soldier, StateName, Watch, app, soldier};

fn name() -> impl Strategy<Value = StateName> {
    prop_oneof![
        Just(StateName::Idle),
        Just(StateName::Patrol),
        Just(StateName::Chase),
        Just(StateName::Fight),
        Just(StateName::Aim),
        Just(StateName::Stagger),
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
        name().prop_map(Order::Ensure),
        name().prop_map(Order::Force),
        name().prop_map(Order::Send),
        name().prop_map(Order::SendNow),
        Just(Order::TellTimes),
        Just(Order::Salute),
    ]
}

/// What is done to the soldier in one tick, before its update.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Nothing,
    Change(StateName),
    Ensure(StateName),
    Force(StateName),
    Revert,
    Push(StateName),
    Pop,
    Send(StateName),
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        3 => Just(Deed::Nothing),
        1 => name().prop_map(Deed::Change),
        1 => name().prop_map(Deed::Ensure),
        1 => name().prop_map(Deed::Force),
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
        app.world_mut().resource_mut::<Watch>().0 += 1.0;
        let mut commands = app.world_mut().commands();
        let mut commands = commands.entity(entity);
        match *deed {
            Deed::Nothing => &mut commands,
            Deed::Change(to) => commands.change_state(to.state()),
            Deed::Ensure(to) => commands.ensure_state(to.state()),
            Deed::Force(to) => commands.force_state(to.state()),
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
    world.init_resource::<Watch>();
    let entity = world.spawn_empty().id();
    let (mut owner, machine) = soldier(orders.iter().copied());
    let mut machine: StateMachine<Soldier> = Machine::clone(&machine).bypass().clone();
    in_context(&mut world, entity, |cx| {
        machine.start(&mut owner, cx);
        machine.update(&mut owner, cx);
    });
    for deed in deeds {
        world.resource_mut::<Watch>().0 += 1.0;
        in_context(&mut world, entity, |cx| {
            match *deed {
                Deed::Nothing => true,
                Deed::Change(to) => machine.change_state(&mut owner, to.state(), cx),
                Deed::Ensure(to) => machine.ensure_state(&mut owner, to.state(), cx),
                Deed::Force(to) => machine.force_state(&mut owner, to.state(), cx),
                Deed::Revert => machine.revert_state(&mut owner, cx),
                Deed::Push(over) => machine.push_state(&mut owner, over.state(), cx),
                Deed::Pop => machine.pop_state(&mut owner, cx),
                Deed::Send(told) => machine.send(&mut owner, &told, cx),
            };
            machine.update(&mut owner, cx);
        });
    }
    owner.trace
}

/// Acts with the context that the plugin would make.
fn in_context(world: &mut World, entity: Entity, act: impl FnOnce(&mut <Soldier as Owner>::Context<'_>)) {
    let mut state = SystemState::<Senses<'static, 'static>>::new(world);
    let senses = state.get_mut(world).unwrap();
    // The commands go nowhere.
    let (elsewhere, mut queue) = (World::new(), CommandQueue::default());
    let mut cx = EntityContext::<Senses<'static, 'static>>::new(senses, Commands::new(&mut queue, &elsewhere));
    cx.visit(entity);
    act(&mut cx);
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
