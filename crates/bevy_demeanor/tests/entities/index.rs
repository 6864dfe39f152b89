//! Lists of the entities in a state.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use bevy_app::{App, Update};
use bevy_demeanor::{
    InState, Machine, MachineCommands, MachineSet, QueryInState, StateChanged, StateIndex, StateMachinePlugin,
    any_in_state,
};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemState;
use demeanor::{Owner, State, StateMachine, StateRef};

use crate::soldier::{Aim, Chase, Fight, Idle, Officer, Order, Patrol, Rank, Soldier, StateName, Watch, app, soldier};

fn indexing() -> StateMachinePlugin<Soldier> {
    StateMachinePlugin::new()
        .with_index::<Idle>()
        .with_index::<Patrol>()
        .with_index::<Chase>()
        .with_index::<Fight>()
        .with_index::<Aim>()
}

fn entities<S: 'static>(world: &World) -> Vec<Entity> {
    world.resource::<StateIndex<S>>().iter().copied().collect()
}

/// Returns the names of the states whose indexes contain the entity.
fn listed(world: &World, entity: Entity) -> String {
    let states = [
        ("Idle", entities::<Idle>(world)),
        ("Patrol", entities::<Patrol>(world)),
        ("Chase", entities::<Chase>(world)),
        ("Fight", entities::<Fight>(world)),
        ("Aim", entities::<Aim>(world)),
    ];
    let names: Vec<&str> =
        states.iter().filter(|(_, entities)| entities.contains(&entity)).map(|(name, _)| *name).collect();
    names.join(" ")
}

#[test]
fn an_index_follows_every_change_and_ancestors_too() {
    let mut app = app(indexing());
    let entity = app
        .world_mut()
        .spawn(soldier([
            Order::Nothing,
            Order::Change(StateName::Patrol),
            Order::ChangeTwice(StateName::Patrol, StateName::Chase),
            Order::Change(StateName::Fight),
            // Both Fight and Aim are updated: the first order belongs to Fight.
            Order::Nothing,
            Order::Push(StateName::Idle),
            Order::Pop,
            Order::Nothing,
            Order::Force(StateName::Patrol),
            Order::Revert,
        ]))
        .id();
    let mut seen = vec![listed(app.world(), entity)];
    for _ in 0..8 {
        app.update();
        seen.push(listed(app.world(), entity));
    }
    assert_eq!(seen, ["", "Idle", "Patrol", "Chase", "Fight Aim", "Idle", "Fight Aim", "Patrol", "Fight Aim"]);
}

#[test]
fn an_index_agrees_with_machines_that_come_are_replaced_and_go() {
    let mut app = app(indexing());
    let entity = app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Patrol))).id();
    assert_eq!(listed(app.world(), entity), "", "it is not yet entered");
    app.update();
    assert_eq!(listed(app.world(), entity), "Patrol");
    app.world_mut().entity_mut(entity).insert(Machine::<Soldier>::started(StateMachine::new(&Aim)));
    assert_eq!(listed(app.world(), entity), "Fight Aim");
    let clone = app.world_mut().entity_mut(entity).clone_and_spawn_with_opt_out(|builder| {
        builder.deny::<Soldier>();
    });
    assert_eq!(listed(app.world(), clone), "Fight Aim");
    app.world_mut().entity_mut(entity).insert(Machine::<Soldier>::new(&Idle));
    assert_eq!(listed(app.world(), entity), "");
    app.update();
    assert_eq!(listed(app.world(), entity), "Idle");
    app.world_mut().entity_mut(entity).remove::<Machine<Soldier>>();
    assert_eq!(listed(app.world(), entity), "");
    assert_eq!(entities::<Fight>(app.world()), [clone]);
    app.world_mut().despawn(clone);
    assert_eq!(entities::<Fight>(app.world()), []);
}

#[test]
fn a_command_corrects_the_index_before_what_its_callbacks_have_commanded() {
    let mut app = app(indexing().with_change_events());
    app.init_resource::<Seen>();
    app.add_observer(|change: On<StateChanged<Soldier>>, chase: Res<StateIndex<Chase>>, mut seen: ResMut<Seen>| {
        seen.0.push(format!("{:?}: {}", change.cause, chase.contains(change.entity)));
    });
    let entity = app.world_mut().spawn(soldier([])).id();
    app.world_mut().commands().entity(entity).change_state(&Chase);
    app.world_mut().flush();
    assert_eq!(listed(app.world(), entity), "Chase");
    app.world_mut().commands().entity(entity).stop_machine::<Soldier>();
    app.world_mut().flush();
    assert_eq!(listed(app.world(), entity), "");
    // The start is also reported after the machine has made the change.
    assert_eq!(app.world().resource::<Seen>().0, ["Start: true", "Change: true", "Stop: false"]);
}

#[derive(Resource, Default)]
struct Seen(Vec<String>);

#[test]
fn an_index_is_right_when_the_first_command_of_the_pass_is_applied_and_as_it_was_until_then() {
    /// Goes on patrol, and commands that its index is looked up.
    struct Spy;
    impl State<Soldier> for Spy {
        fn update(
            &self,
            _: &mut Soldier,
            fsm: &mut demeanor::Fsm<'_, Soldier>,
            cx: &mut <Soldier as Owner>::Context<'_>,
        ) {
            let entity = cx.entity;
            cx.commands.queue(move |world: &mut World| {
                let listed = listed(world, entity);
                world.resource_mut::<Seen>().0.push(listed);
            });
            fsm.change_state(&Patrol);
        }
    }
    let mut app = app(indexing());
    app.init_resource::<Seen>();
    let see = |patrol: Res<StateIndex<Patrol>>, mut seen: ResMut<Seen>| seen.0.push(patrol.len().to_string());
    app.add_systems(Update, (see.in_set(MachineSet::Enter), see.in_set(MachineSet::Exit)));
    app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Spy)));
    app.update();
    assert_eq!(app.world().resource::<Seen>().0, ["0", "Patrol", "1"]);
}

#[test]
fn the_last_takes_the_place_of_one_that_goes() {
    let mut app = app(indexing());
    let orders = [vec![], vec![Order::Nothing, Order::Change(StateName::Chase)], vec![], vec![]];
    let [a, b, c, d] = orders.map(|orders| app.world_mut().spawn(soldier(orders)).id());
    app.update();
    assert_eq!(entities::<Idle>(app.world()), [a, b, c, d]);
    app.update();
    assert_eq!(entities::<Idle>(app.world()), [a, d, c]);
    assert_eq!(entities::<Chase>(app.world()), [b]);
    app.world_mut().commands().entity(b).revert_state::<Soldier>();
    app.world_mut().flush();
    assert_eq!(entities::<Idle>(app.world()), [a, d, c, b]);
}

#[test]
fn a_query_in_a_state_goes_through_its_entities_as_a_query_does() {
    let mut app = app(indexing());
    let mut ranks = [4, 5, 6, 7].map(|rank| app.world_mut().spawn((soldier([]), Rank(rank))).id()).into_iter();
    let [_, off_duty, chasing, _] = [(); 4].map(|()| ranks.next().unwrap());
    let without_rank = app.world_mut().spawn(soldier([])).id();
    app.update();
    app.world_mut().entity_mut(off_duty).insert(Disabled);
    app.world_mut().commands().entity(chasing).change_state(&Chase);
    app.update();
    let mut state = SystemState::<QueryInState<Idle, &mut Rank>>::new(app.world_mut());
    let mut idle = state.get_mut(app.world_mut()).expect("there is an index");
    for mut rank in &mut idle {
        rank.0 *= 10;
    }
    let ranks = |idle: &QueryInState<Idle, &mut Rank>| idle.iter().map(|rank| rank.0).collect::<Vec<u32>>();
    assert_eq!(ranks(&idle), [40, 70]);
    assert_eq!((&idle).into_iter().count(), 2);
    idle.iter_mut().next().expect("somebody is idle").0 += 1;
    assert_eq!(ranks(&idle), [41, 70]);
    assert_eq!(idle.index().len(), 4, "with who is disabled, and who has no rank");
    assert!(idle.get(off_duty).is_none() && idle.get(chasing).is_none() && idle.get_mut(without_rank).is_none());
}

#[test]
fn a_query_in_a_state_takes_a_filter() {
    type HighRanks<'w, 's> = QueryInState<'w, 's, Chase, &'static Rank, Without<InState<Patrol>>>;
    fn high_ranks(mut chasing: HighRanks, mut seen: ResMut<Seen>) {
        seen.0.extend(chasing.iter_mut().map(|rank| rank.0.to_string()));
    }
    let mut app = app(indexing());
    app.init_resource::<Seen>();
    app.add_systems(Update, high_ranks.in_set(MachineSet::Exit));
    app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Chase), Rank(3)));
    app.update();
    assert_eq!(app.world().resource::<Seen>().0, ["3"]);
}

#[test]
fn whether_any_entity_is_in_a_state_is_told_by_its_index_too_and_the_disabled_do_not_count() {
    let mut app = app(indexing());
    app.init_resource::<Seen>();
    let note = |mut seen: ResMut<Seen>| seen.0.push("chased".to_owned());
    app.add_systems(Update, note.run_if(any_in_state::<Chase>).in_set(MachineSet::Exit));
    let entity = app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Chase))).id();
    app.update();
    assert_eq!(app.world().resource::<Seen>().0, ["chased"]);
    app.world_mut().entity_mut(entity).insert(Disabled);
    app.update();
    assert_eq!(app.world().resource::<Seen>().0, ["chased"]);
}

#[test]
#[should_panic(expected = "has 65 indexes; there can be at most 64")]
fn there_can_be_sixty_four_indexes_for_one_type_of_owner() {
    struct Numbered<const N: u8>;
    impl<const N: u8> State<Soldier> for Numbered<N> {}
    macro_rules! with_indexes {
        ($plugin:expr, $($tens:literal)*) => {
            $plugin$(
                .with_index::<Numbered<$tens>>()
                .with_index::<Numbered<{ $tens + 1 }>>()
                .with_index::<Numbered<{ $tens + 2 }>>()
                .with_index::<Numbered<{ $tens + 3 }>>()
                .with_index::<Numbered<{ $tens + 4 }>>()
                .with_index::<Numbered<{ $tens + 5 }>>()
            )*
        };
    }
    // The limit is 64; the 65th makes the plugin panic.
    _ = app(with_indexes!(indexing(), 0 10 20 30 40 50 60 70 80 90));
}

#[test]
fn after_a_panic_in_a_callback_the_next_pass_corrects_the_index() {
    let mut app = app(indexing().with_marker::<Patrol>());
    let before = app.world_mut().spawn(soldier([Order::Change(StateName::Chase)])).id();
    let panics = app.world_mut().spawn(soldier([Order::Send(StateName::Patrol), Order::Panic])).id();
    let last = app.world_mut().spawn(soldier([Order::Change(StateName::Patrol), Order::Panic])).id();
    let mut schedule = app.world_mut().resource_mut::<Schedules>().remove(Update).unwrap();
    schedule.run(app.world_mut());
    for _ in [panics, last] {
        assert!(catch_unwind(AssertUnwindSafe(|| schedule.run(app.world_mut()))).is_err());
        // Bevy treats this run as the rest of the run that panicked.
        schedule.run(app.world_mut());
    }
    schedule.run(app.world_mut());
    for entity in [before, panics, last] {
        let machine = app.world().get::<Machine<Soldier>>(entity).unwrap();
        assert_eq!(listed(app.world(), entity), machine.current().unwrap().name());
    }
    assert!(app.world().get::<InState<Patrol>>(panics).is_some());
}

#[test]
fn after_a_panic_the_index_knows_an_entity_that_has_got_the_number_of_one_that_is_gone() {
    let mut app = app(indexing());
    let gone = app.world_mut().spawn(soldier([Order::Panic])).id();
    let mut schedule = app.world_mut().resource_mut::<Schedules>().remove(Update).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| schedule.run(app.world_mut()))).is_err());
    // Bevy uses the number again at some time; here it does at once.
    let next = app.world_mut().despawn_no_free(gone).unwrap();
    let machine = Machine::<Soldier>::started(StateMachine::new(&Chase));
    app.world_mut().spawn_at(next, (Soldier::default(), machine)).unwrap();
    schedule.run(app.world_mut());
    schedule.run(app.world_mut());
    assert_eq!(listed(app.world(), next), "Chase");
    app.world_mut().commands().entity(next).change_state::<Soldier>(&Idle);
    app.world_mut().flush();
    assert_eq!(listed(app.world(), next), "Idle");
}

/// Panics in `enter`.
struct Trap;
impl State<Soldier> for Trap {
    fn enter(&self, _: &mut Soldier, _: &mut demeanor::Fsm<'_, Soldier>, _: &mut <Soldier as Owner>::Context<'_>) {
        panic!("a trap");
    }
}

#[test]
fn after_a_panic_in_a_commands_callback_index_and_markers_are_right() {
    let mut app = app(indexing().with_marker::<Idle>());
    let entity = app.world_mut().spawn(soldier([])).id();
    app.update();
    assert_eq!(listed(app.world(), entity), "Idle");
    app.world_mut().commands().entity(entity).change_state(&Trap);
    assert!(catch_unwind(AssertUnwindSafe(|| app.world_mut().flush())).is_err());
    assert!(app.world().get::<Machine<Soldier>>(entity).unwrap().is_in_state(&Trap));
    assert_eq!(listed(app.world(), entity), "");
    assert!(app.world().get::<InState<Idle>>(entity).is_none());
}

/// Whether the next call of `name` of `Nameless` panics.
static IS_ARMED: AtomicBool = AtomicBool::new(false);

struct Nameless;
impl State<Soldier> for Nameless {
    fn name(&self) -> Cow<'_, str> {
        assert!(!IS_ARMED.swap(false, Ordering::Relaxed), "it has no name");
        "nameless".into()
    }
}

struct Arm;
impl State<Soldier> for Arm {
    fn enter(&self, _: &mut Soldier, _: &mut demeanor::Fsm<'_, Soldier>, _: &mut <Soldier as Owner>::Context<'_>) {
        IS_ARMED.store(true, Ordering::Relaxed);
    }
}

/// Represents a name.
struct OfName;

#[test]
fn after_a_panic_in_the_name_of_a_state_all_other_machines_are_in_the_index_and_have_their_markers() {
    let indexed = indexing().with_index::<Arm>().with_index_named::<OfName>("nameless");
    let marked = StateMachinePlugin::new().with_marker::<Chase>().with_marker::<Arm>().with_marker::<Patrol>();
    for plugin in [indexed, marked.with_marker_named::<OfName>("nameless")] {
        fn is_in<S: 'static>(app: &App, entity: Entity) -> bool {
            match app.world().get_resource::<StateIndex<S>>() {
                Some(index) => index.contains(entity),
                None => app.world().entity(entity).contains::<InState<S>>(),
            }
        }
        let mut app = app(plugin);
        let states: [StateRef<Soldier>; 3] = [(&Chase).into(), (&Nameless).into(), (&Arm).into()];
        let [first, nameless, last] =
            states.map(|state| app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(state))).id());
        let mut schedule = app.world_mut().resource_mut::<Schedules>().remove(Update).unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| schedule.run(app.world_mut()))).is_err());
        assert!(is_in::<Chase>(&app, first) && is_in::<Arm>(&app, last));
        app.world_mut().commands().entity(nameless).change_state(&Patrol);
        app.world_mut().flush();
        assert!(is_in::<Patrol>(&app, nameless));
    }
}

#[test]
fn a_state_that_refuses_to_be_entered_first_counts_as_entered_in_its_index_too() {
    struct Closed;
    impl State<Soldier> for Closed {
        fn can_enter(&self, _: &Soldier, _: &demeanor::Fsm<'_, Soldier>, _: &<Soldier as Owner>::Context<'_>) -> bool {
            false
        }
    }
    let mut app = app(indexing().with_index::<Closed>().with_marker::<Closed>());
    let entity = app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(&Closed))).id();
    app.update();
    let machine = app.world().get::<Machine<Soldier>>(entity).unwrap();
    assert!(machine.is_started() && machine.is_in::<Closed>());
    assert_eq!(entities::<Closed>(app.world()), [entity]);
    assert!(app.world().get::<InState<Closed>>(entity).is_some());
}

#[test]
#[should_panic(expected = "is kept for")]
fn one_index_cannot_tell_of_two_owners() {
    let mut app = app(StateMachinePlugin::new().with_index::<Idle>());
    app.add_plugins(StateMachinePlugin::<Officer>::new().with_index::<Idle>());
}

struct Luck(u64);

impl Luck {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn state(&mut self) -> StateName {
        [
            StateName::Idle,
            StateName::Patrol,
            StateName::Chase,
            StateName::Fight,
            StateName::Aim,
            StateName::Stagger,
            StateName::Rest,
            StateName::Nap,
        ][usize::try_from(self.below(8)).unwrap()]
    }

    fn order(&mut self) -> Order {
        match self.below(10) {
            0 => Order::ChangeTwice(self.state(), self.state()),
            1 => Order::Push(self.state()),
            2 => Order::Pop,
            3 => Order::Revert,
            4 => Order::Force(self.state()),
            5 => Order::SleepFor(1.0),
            6 => Order::SendNow(self.state()),
            7 => Order::Nothing,
            _ => Order::Change(self.state()),
        }
    }
}

/// Performs a random operation on one of the soldiers.
fn act(luck: &mut Luck, soldiers: &mut Vec<Entity>, app: &mut App) {
    let world = app.world_mut();
    if soldiers.len() < 40 || luck.below(8) == 0 {
        let orders: Vec<Order> = (0..luck.below(9)).map(|_| luck.order()).collect();
        soldiers.push(world.spawn(soldier(orders)).id());
        return;
    }
    let number = usize::try_from(luck.below(soldiers.len() as u64)).unwrap();
    let entity = soldiers[number];
    match luck.below(12) {
        0 => _ = world.despawn(soldiers.swap_remove(number)),
        1 => _ = world.entity_mut(entity).remove::<Machine<Soldier>>(),
        2 => _ = world.entity_mut(entity).insert(Machine::<Soldier>::new(luck.state().state())),
        3 => {
            world.entity_mut(entity).insert(Machine::<Soldier>::started(StateMachine::new(luck.state().state())));
        }
        4 => _ = world.entity_mut(entity).insert(Disabled),
        5 => _ = world.entity_mut(entity).remove::<Disabled>(),
        6 => _ = world.commands().entity(entity).stop_machine::<Soldier>(),
        7 => _ = world.commands().entity(entity).push_state(luck.state().state()),
        8 => _ = world.commands().entity(entity).revert_state::<Soldier>().pop_state::<Soldier>(),
        9 => _ = world.commands().entity(entity).change_state_after(1.0, luck.state().state()),
        _ => _ = world.commands().entity(entity).change_state(luck.state().state()),
    }
    world.flush();
}

/// Compares the indexes with the states of the machines.
fn check<S: State<Soldier>>(world: &mut World) -> Vec<Entity> {
    let mut machines = world.query_filtered::<(Entity, &Machine<Soldier>), Or<(With<Disabled>, ())>>();
    let is_in = machines.iter(world).filter(|(_, machine)| machine.is_started() && machine.is_in::<S>());
    let mut expected: Vec<Entity> = is_in.map(|(entity, _)| entity).collect();
    let listed = entities::<S>(world);
    let mut sorted = listed.clone();
    sorted.sort();
    expected.sort();
    assert_eq!(sorted, expected);
    listed
}

fn run(plugin: StateMachinePlugin<Soldier>, seed: u64) -> Vec<[Vec<Entity>; 5]> {
    let mut app = app(plugin);
    let (mut luck, mut soldiers, mut orders) = (Luck(seed), Vec::new(), Vec::new());
    for _ in 0..60 {
        for _ in 0..luck.below(30) {
            act(&mut luck, &mut soldiers, &mut app);
        }
        app.world_mut().resource_mut::<Watch>().0 += 0.5;
        app.update();
        let world = app.world_mut();
        orders.push([
            check::<Idle>(world),
            check::<Patrol>(world),
            check::<Chase>(world),
            check::<Fight>(world),
            check::<Aim>(world),
        ]);
    }
    assert!(orders.last().unwrap().iter().all(|listed| !listed.is_empty()), "too little has happened");
    orders
}

#[test]
fn after_random_operations_indexes_agree_with_the_machines_and_in_parallel_in_the_same_order() {
    for seed in 0..20 {
        let in_order = run(indexing(), seed);
        assert!(in_order == run(indexing().in_parallel(), seed), "the orders differ, seed {seed}");
        // With other entities, or in a different order.
        run(indexing().with_marker::<Patrol>().with_change_events(), seed);
    }
}

#[test]
#[should_panic(expected = "has been asked for twice, for")]
fn one_index_cannot_be_asked_for_twice() {
    let _ = app(StateMachinePlugin::new().with_index::<Idle>().with_index::<Idle>());
}

#[test]
fn a_query_by_an_index_that_nobody_keeps_is_an_error_that_names_what_is_missing() {
    use bevy_ecs::error::{BevyError, ErrorContext, FallbackErrorHandler};

    #[expect(clippy::needless_pass_by_value, reason = "as Bevy's handlers")]
    fn note(error: BevyError, _: ErrorContext) {
        ERRORS.lock().unwrap().push(error.to_string());
    }
    static ERRORS: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());

    let mut app = app(StateMachinePlugin::new());
    app.insert_resource(FallbackErrorHandler(note));
    app.add_systems(bevy_app::Update, |_: QueryInState<Idle, &Soldier>| {});
    app.update();
    let errors = ERRORS.lock().unwrap();
    let says = "nobody keeps an index for the state: StateMachinePlugin::with_index::<S>() is missing";
    assert!(errors.len() == 1 && errors[0].contains(says), "{errors:?}");
}
