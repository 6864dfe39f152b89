//! An entity's machine runs the same callbacks as a single `StateMachine` that is updated in every tick.

use bevy_demeanor::{EntityContext, Machine, MachineCommands, StateMachinePlugin};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemState;
use bevy_ecs::world::CommandQueue;
use demeanor::{NextWake, Owner, StateMachine};
use proptest::prelude::*;

use crate::cases::cases;
use crate::soldier::{Alarm, Ears, Order, Senses, Soldier, StateName, Vigilance, Watch, app, soldier, take_trace};

fn name() -> impl Strategy<Value = StateName> {
    prop_oneof![
        Just(StateName::Idle),
        Just(StateName::Patrol),
        Just(StateName::Chase),
        Just(StateName::Fight),
        Just(StateName::Aim),
        Just(StateName::Stagger),
        Just(StateName::Rest),
        Just(StateName::Nap),
        Just(StateName::March),
        Just(StateName::Run),
        Just(StateName::Ready),
        Just(StateName::Shoot),
        Just(StateName::Draw),
        Just(StateName::Loose),
        Just(StateName::Hold),
    ]
}

fn seconds() -> impl Strategy<Value = f64> {
    prop::sample::select(vec![0.0, 0.5, 1.0, 1.5, 3.0, 10.0, -1.0, f64::NAN, f64::INFINITY])
}

/// By how many seconds the clock advances from one tick to the next. It may stand still, and go back.
fn step() -> impl Strategy<Value = f64> {
    prop_oneof![8 => Just(1.0), 2 => Just(0.25), 1 => Just(0.0), 1 => Just(100.0), 1 => Just(-2.0)]
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
        (seconds(), name()).prop_map(|(seconds, to)| Order::ChangeAfter(seconds, to)),
        name().prop_map(Order::ChangeNext),
        (seconds(), name()).prop_map(|(seconds, told)| Order::SendAfter(seconds, told)),
        Just(Order::Sleep),
        seconds().prop_map(Order::SleepFor),
        Just(Order::TellTimes),
        Just(Order::Salute),
    ]
}

/// An operation on the soldier in one tick, before its update.
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
    ChangeAfter(f64, StateName),
    ChangeNext(StateName),
    SendAfter(f64, StateName),
    Sleep,
    SleepFor(f64),
    Wake,
    Stop,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        9 => Just(Deed::Nothing),
        1 => name().prop_map(Deed::Change),
        1 => name().prop_map(Deed::Ensure),
        1 => name().prop_map(Deed::Force),
        1 => Just(Deed::Revert),
        1 => name().prop_map(Deed::Push),
        1 => Just(Deed::Pop),
        1 => name().prop_map(Deed::Send),
        1 => (seconds(), name()).prop_map(|(seconds, to)| Deed::ChangeAfter(seconds, to)),
        1 => name().prop_map(Deed::ChangeNext),
        1 => (seconds(), name()).prop_map(|(seconds, told)| Deed::SendAfter(seconds, told)),
        1 => Just(Deed::Sleep),
        1 => seconds().prop_map(Deed::SleepFor),
        1 => Just(Deed::Wake),
        1 => Just(Deed::Stop),
    ]
}

/// A soldier's life.
#[derive(Clone, Debug)]
struct Script {
    global: Option<Global>,
    orders: Vec<Order>,
    /// Each deed, with the seconds that pass before it.
    deeds: Vec<(f64, Deed)>,
}

#[derive(Clone, Copy, Debug)]
enum Global {
    Vigilance,
    Ears,
}

fn script() -> impl Strategy<Value = Script> {
    let global = prop_oneof![2 => Just(None), 1 => Just(Some(Global::Vigilance)), 1 => Just(Some(Global::Ears))];
    let orders = prop::collection::vec(order(), 0..30);
    let deeds = prop::collection::vec((step(), deed()), 0..40);
    (global, orders, deeds).prop_map(|(global, orders, deeds)| Script { global, orders, deeds })
}

impl Script {
    fn soldier(&self) -> (Soldier, Machine<Soldier>) {
        let (soldier, machine) = soldier(self.orders.iter().copied());
        let machine = match self.global {
            None => machine,
            Some(Global::Vigilance) => machine.with_global(&Vigilance),
            Some(Global::Ears) => machine.with_global(&Ears),
        };
        (soldier, machine)
    }
}

/// The callbacks of each tick, and which states were then active and how the machine waited.
type Ticks = Vec<(Vec<String>, String, NextWake)>;

fn active(machine: &StateMachine<Soldier>) -> String {
    machine.active_states().map(|state| state.name()).collect::<Vec<_>>().join(" ")
}

fn in_bevy(script: &Script, plugin: StateMachinePlugin<Soldier>) -> Ticks {
    let mut app = app(plugin);
    // Other soldiers must not make a difference.
    app.world_mut().spawn(soldier([Order::Change(StateName::Chase), Order::SleepFor(2.0)]));
    let entity = app.world_mut().spawn(script.soldier()).id();
    let mut ticks = Vec::new();
    for (step, deed) in [(0.0, Deed::Nothing)].iter().chain(&script.deeds) {
        app.world_mut().resource_mut::<Watch>().0 += step;
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
            Deed::ChangeAfter(seconds, to) => commands.change_state_after(seconds, to.state()),
            Deed::ChangeNext(to) => commands.change_state_next(to.state()),
            Deed::SendAfter(seconds, told) => commands.send_after::<Soldier>(seconds, told),
            Deed::Sleep => commands.sleep::<Soldier>(),
            Deed::SleepFor(seconds) => commands.sleep_for::<Soldier>(seconds),
            Deed::Wake => commands.wake::<Soldier>(),
            Deed::Stop => commands.stop_machine::<Soldier>(),
        };
        app.update();
        let trace = take_trace(&mut app, entity);
        let machine = app.world().get::<Machine<Soldier>>(entity).unwrap();
        ticks.push((trace, active(machine), machine.next_wake()));
    }
    ticks
}

fn alone(script: &Script) -> Ticks {
    let mut world = World::new();
    world.init_resource::<Alarm>();
    world.init_resource::<Watch>();
    let entity = world.spawn_empty().id();
    let (mut owner, machine) = script.soldier();
    let mut machine: StateMachine<Soldier> = Machine::clone(&machine).bypass().clone();
    in_context(&mut world, entity, |cx| machine.start(&mut owner, cx));
    let mut ticks = Vec::new();
    for (step, deed) in [(0.0, Deed::Nothing)].iter().chain(&script.deeds) {
        world.resource_mut::<Watch>().0 += step;
        in_context(&mut world, entity, |cx| {
            match *deed {
                Deed::Nothing => {}
                Deed::Change(to) => _ = machine.change_state(&mut owner, to.state(), cx),
                Deed::Ensure(to) => _ = machine.ensure_state(&mut owner, to.state(), cx),
                Deed::Force(to) => _ = machine.force_state(&mut owner, to.state(), cx),
                Deed::Revert => _ = machine.revert_state(&mut owner, cx),
                Deed::Push(over) => _ = machine.push_state(&mut owner, over.state(), cx),
                Deed::Pop => _ = machine.pop_state(&mut owner, cx),
                Deed::Send(told) => _ = machine.send(&mut owner, &told, cx),
                Deed::ChangeAfter(seconds, to) => {
                    machine.change_state_after(&mut owner, seconds, to.state(), cx);
                }
                Deed::ChangeNext(to) => _ = machine.change_state_next(&mut owner, to.state(), cx),
                Deed::SendAfter(seconds, told) => _ = machine.send_after(&mut owner, seconds, told, cx),
                Deed::Sleep => machine.sleep(),
                Deed::SleepFor(seconds) => machine.sleep_for(&owner, seconds, cx),
                Deed::Wake => _ = machine.wake(),
                Deed::Stop => machine.stop(&mut owner, cx),
            }
            machine.update(&mut owner, cx);
        });
        ticks.push((std::mem::take(&mut owner.trace), active(&machine), machine.next_wake()));
    }
    ticks
}

/// Runs `act` with the context that the plugin would create.
fn in_context(world: &mut World, entity: Entity, act: impl FnOnce(&mut <Soldier as Owner>::Context<'_>)) {
    let mut state = SystemState::<Senses<'static, 'static>>::new(world);
    let senses = state.get_mut(world).unwrap();
    // The commands are not applied.
    let (elsewhere, mut queue) = (World::new(), CommandQueue::default());
    act(&mut EntityContext::new(entity, (), senses, Commands::new(&mut queue, &elsewhere)));
}

proptest! {
    // Each case builds three apps.
    #![proptest_config(cases(48))]

    #[test]
    fn the_same_script_makes_the_same_callbacks_in_each_tick(script in script()) {
        let expected = alone(&script);
        prop_assert_eq!(&in_bevy(&script, StateMachinePlugin::new()), &expected);
        let followed = StateMachinePlugin::new().with_change_events().with_marker::<crate::soldier::Patrol>();
        prop_assert_eq!(&in_bevy(&script, followed), &expected);
        prop_assert_eq!(&in_bevy(&script, StateMachinePlugin::new().in_parallel()), &expected);
    }
}
