//! The order of markers, events and messages, and where a cycle of observers ends.

use bevy_app::App;
use bevy_demeanor::{Entered, Exited, InState, Machine, MachineCommands, Machines, StateChanged, StateMachinePlugin};
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_ecs::world::DeferredWorld;
use demeanor::{Fsm, Owner, State};

use crate::faults::{lines_with, listen};
use crate::soldier::{Chase, Fight, Idle, Officer, Order, Patrol, Soldier, StateName, app, soldier};

#[derive(Resource, Default)]
struct Seen(Vec<String>);

fn take(app: &mut App) -> Vec<String> {
    std::mem::take(&mut app.world_mut().resource_mut::<Seen>().0)
}

fn note(what: &'static str) -> impl Fn(Entity, &mut World) + Copy {
    move |entity, world| {
        let who = world.get::<Name>(entity).map_or("?".to_owned(), |name| name.as_str().to_owned());
        world.resource_mut::<Seen>().0.push(format!("{what} {who}"));
    }
}

fn named(of: Option<&demeanor::StateRef<Soldier>>) -> String {
    of.map_or("none".to_owned(), |state| state.name().into_owned())
}

/// Records all notifications of `Idle`, `Patrol` and `Chase`.
fn watch(app: &mut App) {
    app.init_resource::<Seen>();
    macro_rules! watch {
        ($($event:ty: $what:literal,)*) => {$(
            app.add_observer(|it: On<$event>, mut commands: Commands| {
                let entity = it.entity;
                commands.queue(move |world: &mut World| note($what)(entity, world));
            });
        )*};
    }
    watch! {
        Add<InState<Idle>>: "+Idle", Add<InState<Patrol>>: "+Patrol", Add<InState<Chase>>: "+Chase",
        Remove<InState<Idle>>: "-Idle", Remove<InState<Patrol>>: "-Patrol", Remove<InState<Chase>>: "-Chase",
        Entered<Idle>: "entered Idle", Entered<Patrol>: "entered Patrol", Entered<Chase>: "entered Chase",
        Exited<Idle>: "exited Idle", Exited<Patrol>: "exited Patrol", Exited<Chase>: "exited Chase",
    }
    app.add_observer(|it: On<StateChanged<Soldier>>, names: Query<&Name>, mut seen: ResMut<Seen>| {
        let who = names.get(it.entity).map_or("?", Name::as_str);
        seen.0.push(format!("{} to {} {who}", named(it.from.as_ref()), named(it.to.as_ref())));
    });
}

fn told_of_everything() -> StateMachinePlugin<Soldier> {
    StateMachinePlugin::new()
        .with_marker::<Idle>()
        .with_marker::<Patrol>()
        .with_marker::<Chase>()
        .with_triggers::<Idle>()
        .with_triggers::<Patrol>()
        .with_triggers::<Chase>()
        .with_change_events()
        .with_change_messages()
}

/// Returns an app with two soldiers in `Idle` that are about to go on patrol. It records all notifications.
fn two_soldiers() -> (App, [Entity; 2]) {
    let mut app = app(told_of_everything());
    let soldiers = ["A", "B"].map(|name| {
        let orders = [Order::Nothing, Order::Change(StateName::Patrol)];
        app.world_mut().spawn((soldier(orders), Name::new(name))).id()
    });
    app.update();
    app.world_mut().resource_mut::<Messages<StateChanged<Soldier>>>().clear();
    watch(&mut app);
    (app, soldiers)
}

fn messages(app: &mut App) -> Vec<String> {
    let changes: Vec<_> = app.world_mut().resource_mut::<Messages<StateChanged<Soldier>>>().drain().collect();
    let name = |entity| app.world().get::<Name>(entity).map_or("?", Name::as_str);
    let line = |it: &StateChanged<Soldier>| {
        format!("{} to {} {}", named(it.from.as_ref()), named(it.to.as_ref()), name(it.entity))
    };
    changes.iter().map(line).collect()
}

#[test]
fn first_all_markers_of_a_pass_then_its_events_entity_by_entity() {
    let (mut app, _) = two_soldiers();
    app.update();
    assert_eq!(
        take(&mut app),
        [
            "-Idle A",
            "+Patrol A",
            "-Idle B",
            "+Patrol B",
            "exited Idle A",
            "Idle to Patrol A",
            "entered Patrol A",
            "exited Idle B",
            "Idle to Patrol B",
            "entered Patrol B"
        ]
    );
    assert_eq!(messages(&mut app), ["Idle to Patrol A", "Idle to Patrol B"]);
}

/// The notifications when A and then B go on patrol, and A is at once made to chase.
const A_IS_MADE_TO_CHASE: [&str; 15] = [
    "-Idle A",
    "+Patrol A",
    "-Idle B",
    "+Patrol B",
    "exited Idle A",
    "Idle to Patrol A",
    "entered Patrol A",
    "exited Idle B",
    "Idle to Patrol B",
    "entered Patrol B",
    "-Patrol A",
    "+Chase A",
    "exited Patrol A",
    "Patrol to Chase A",
    "entered Chase A",
];

#[test]
fn what_an_observers_change_leads_to_comes_after_all_that_was_recorded_before() {
    type Observe = fn(&mut App, Entity);
    fn chase(entity: Entity, a: Entity, mut commands: Commands) {
        if entity == a {
            commands.entity(a).change_state(&Chase);
        }
    }
    let observers: [Observe; 4] = [
        |app, a| _ = app.add_observer(move |it: On<Exited<Idle>>, commands: Commands| chase(it.entity, a, commands)),
        |app, a| _ = app.add_observer(move |it: On<Entered<Patrol>>, commands: Commands| chase(it.entity, a, commands)),
        |app, a| {
            app.add_observer(move |it: On<StateChanged<Soldier>>, commands: Commands| {
                if named(it.to.as_ref()) == "Patrol" {
                    chase(it.entity, a, commands);
                }
            });
        },
        |app, a| _ = app.world_mut().entity_mut(a).observe(move |_: On<Entered<Patrol>>, c: Commands| chase(a, a, c)),
    ];
    for observe in observers {
        let (mut app, [a, _]) = two_soldiers();
        observe(&mut app, a);
        app.update();
        assert_eq!(take(&mut app), A_IS_MADE_TO_CHASE);
        assert_eq!(messages(&mut app), ["Idle to Patrol A", "Idle to Patrol B", "Patrol to Chase A"]);
    }
}

#[test]
fn a_change_by_an_observer_of_a_marker_comes_after_all_that_was_recorded_before() {
    let (mut app, [a, _]) = two_soldiers();
    app.world_mut().entity_mut(a).observe(|it: On<Add<InState<Patrol>>>, mut commands: Commands| {
        commands.entity(it.entity).change_state(&Chase);
    });
    app.update();
    assert_eq!(take(&mut app), A_IS_MADE_TO_CHASE);

    // This is before the new marker exists, which would be wrong by now.
    let (mut app, [a, _]) = two_soldiers();
    app.world_mut().entity_mut(a).observe(|it: On<Remove<InState<Idle>>>, mut commands: Commands| {
        commands.entity(it.entity).change_state(&Chase);
    });
    app.update();
    assert_eq!(
        take(&mut app),
        [
            "-Idle A",
            "-Idle B",
            "+Patrol B",
            "exited Idle A",
            "Idle to Patrol A",
            "entered Patrol A",
            "exited Idle B",
            "Idle to Patrol B",
            "entered Patrol B",
            "+Chase A",
            "exited Patrol A",
            "Patrol to Chase A",
            "entered Chase A"
        ]
    );
}

#[test]
fn several_observers_changes_are_told_in_the_order_in_which_they_were_made() {
    let (mut app, [a, b]) = two_soldiers();
    app.add_observer(move |it: On<Exited<Idle>>, mut commands: Commands| {
        let other = if it.entity == a { b } else { a };
        commands.entity(other).change_state(&Chase);
    });
    app.update();
    assert_eq!(
        take(&mut app)[4..],
        [
            "exited Idle A",
            "Idle to Patrol A",
            "entered Patrol A",
            "exited Idle B",
            "Idle to Patrol B",
            "entered Patrol B",
            "-Patrol B",
            "+Chase B",
            "exited Patrol B",
            "Patrol to Chase B",
            "entered Chase B",
            "-Patrol A",
            "+Chase A",
            "exited Patrol A",
            "Patrol to Chase A",
            "entered Chase A"
        ]
    );
}

/// Orders another soldier to chase, by a command in `enter`.
#[derive(Clone)]
struct Whistle(Entity);
impl State<Soldier> for Whistle {
    fn enter(&self, _: &mut Soldier, _: &mut Fsm<'_, Soldier>, cx: &mut <Soldier as Owner>::Context<'_>) {
        cx.commands.entity(self.0).change_state(&Chase);
    }
}

/// Changes to `Whistle` in `update`.
#[derive(Clone)]
struct Lips(Entity);
impl State<Soldier> for Lips {
    fn update(&self, _: &mut Soldier, fsm: &mut Fsm<'_, Soldier>, _: &mut <Soldier as Owner>::Context<'_>) {
        fsm.change_state(Box::new(Whistle(self.0)));
    }
}

#[test]
fn what_a_callbacks_command_leads_to_is_told_after_the_change_that_it_was_made_in() {
    for plugin in [told_of_everything(), told_of_everything().in_parallel()] {
        let mut app = app(plugin);
        let a = app.world_mut().spawn((soldier([]), Name::new("A"))).id();
        app.update();
        watch(&mut app);
        app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(Box::new(Lips(a))), Name::new("B")));
        app.update();
        assert_eq!(
            take(&mut app),
            [
                "none to Lips B",
                "Lips to Whistle B",
                "-Idle A",
                "+Chase A",
                "exited Idle A",
                "Idle to Chase A",
                "entered Chase A"
            ]
        );

        app.world_mut().commands().entity(a).change_state::<Soldier>(&Idle).change_state(Box::new(Whistle(a)));
        app.world_mut().flush();
        assert_eq!(
            take(&mut app),
            [
                "-Chase A",
                "+Idle A",
                "exited Chase A",
                "Chase to Idle A",
                "entered Idle A",
                "-Idle A",
                "+Chase A",
                "exited Idle A",
                "Idle to Whistle A",
                "Whistle to Chase A",
                "entered Chase A"
            ],
            "the markers are of the state that the machine has come to be in"
        );
    }
}

/// On any message, makes all soldiers chase, by a command.
struct Cry;
impl State<Soldier> for Cry {
    fn on_message(
        &self,
        _: &mut Soldier,
        _: &StateName,
        fsm: &mut Fsm<'_, Soldier>,
        cx: &mut <Soldier as Owner>::Context<'_>,
    ) -> bool {
        fsm.change_state(&Idle);
        cx.commands.queue(Machines::<Soldier>::broadcast(StateName::Chase));
        true
    }
}

#[test]
fn what_a_broadcast_leads_to_comes_after_its_last_machine_and_before_what_its_callbacks_command_leads_to() {
    let mut app = app(StateMachinePlugin::new().with_change_messages().with_change_events().with_marker::<Patrol>());
    let crier = demeanor::StateMachine::new(&Cry);
    app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::started(crier), Name::new("A")));
    app.world_mut().spawn((soldier([]), Name::new("B")));
    app.update();
    messages(&mut app);
    watch(&mut app);
    app.world_mut().commands().queue(Machines::<Soldier>::broadcast(StateName::Patrol));
    app.world_mut().flush();
    let changes = ["Cry to Idle A", "Idle to Patrol B", "Idle to Chase A", "Patrol to Chase B"];
    assert_eq!(messages(&mut app), changes);
    // The markers of the first broadcast follow after its commands, which have already made B chase.
    assert_eq!(take(&mut app), changes);
}

#[test]
fn the_order_holds_among_machines_of_several_owners() {
    struct Calm;
    struct Angry;
    impl State<Officer> for Calm {}
    impl State<Officer> for Angry {}

    let (mut app, [a, _]) = two_soldiers();
    app.add_plugins(StateMachinePlugin::<Officer>::new().with_triggers::<Angry>().with_marker::<Angry>());
    let officer = app.world_mut().spawn((Officer, Machine::<Officer>::new(&Calm), Name::new("O"))).id();
    app.add_observer(move |it: On<Exited<Idle>>, mut commands: Commands| {
        if it.entity == a {
            commands.entity(officer).change_state(&Angry);
        }
    });
    app.add_observer(|_: On<Entered<Angry>>, mut seen: ResMut<Seen>| seen.0.push("entered Angry O".into()));
    app.add_observer(|_: On<Add<InState<Angry>>>, mut seen: ResMut<Seen>| seen.0.push("+Angry O".into()));
    app.update();
    assert_eq!(take(&mut app)[9..], ["entered Patrol B", "+Angry O", "entered Angry O"]);
}

#[test]
fn what_a_machine_that_comes_or_goes_leads_to_has_its_place_in_the_order_too() {
    let (mut app, [a, b]) = two_soldiers();
    app.add_observer(move |it: On<Exited<Idle>>, mut commands: Commands| {
        if it.entity == a {
            commands.entity(b).remove::<Machine<Soldier>>();
        }
    });
    app.update();
    assert_eq!(take(&mut app)[7..], ["exited Idle B", "Idle to Patrol B", "entered Patrol B", "-Patrol B"]);
}

#[cfg(feature = "reflect")]
mod by_name {
    use bevy_demeanor::CurrentState;

    use super::*;

    /// Returns what is told when B goes on patrol, an observer of this change acts, and A is another soldier.
    fn told_when(a: impl Bundle, act: impl Fn(Commands, [Entity; 2]) + Send + Sync + 'static) -> Vec<String> {
        let states = [StateName::Idle, StateName::Patrol, StateName::Chase].map(StateName::state);
        let mut app = app(told_of_everything().with_current_state(states));
        let b = app.world_mut().spawn((soldier([]), Name::new("B"))).id();
        let a = app.world_mut().spawn((a, Name::new("A"))).id();
        app.update();
        watch(&mut app);
        app.world_mut().entity_mut(a).observe(move |_: On<Add<InState<Patrol>>>, commands: Commands| {
            both_chase(commands, [a, b]);
        });
        app.world_mut().entity_mut(b).observe(move |_: On<Entered<Patrol>>, commands: Commands| act(commands, [a, b]));
        app.world_mut().commands().entity(b).change_state(&Patrol);
        app.world_mut().flush();
        take(&mut app)[5..].to_vec()
    }

    fn both_chase(mut commands: Commands, [a, b]: [Entity; 2]) {
        commands.entity(b).change_state(&Chase);
        commands.entity(a).change_state(&Chase);
    }

    const B_CHASES: [&str; 5] = ["-Patrol B", "+Chase B", "exited Patrol B", "Patrol to Chase B", "entered Chase B"];
    const A_CHASES: [&str; 5] = ["-Patrol A", "+Chase A", "exited Patrol A", "Patrol to Chase A", "entered Chase A"];

    #[test]
    fn what_changes_after_a_state_was_named_comes_in_its_own_place() {
        let go_on_patrol = |mut commands: Commands, [a, _]: [Entity; 2]| {
            commands.entity(a).insert(CurrentState::<Soldier>::named("Patrol"));
        };
        // A gets a machine.
        let told = told_when(Soldier::default(), go_on_patrol);
        assert_eq!(told, [&["+Patrol A"][..], &B_CHASES, &A_CHASES].concat());
        // A has a machine, whose state is forced.
        let told = told_when(soldier([]), go_on_patrol);
        let forced = ["-Idle A", "+Patrol A", "exited Idle A", "Idle to Patrol A", "entered Patrol A"];
        assert_eq!(told, [&forced[..], &B_CHASES, &A_CHASES].concat());
    }

    #[test]
    fn a_name_that_changes_nothing_has_no_place_in_the_order() {
        let told = told_when(soldier([]), |mut commands, [a, b]| {
            commands.entity(a).insert(CurrentState::<Soldier>::named("Idle"));
            both_chase(commands, [a, b]);
        });
        let a_chases = ["-Idle A", "+Chase A", "exited Idle A", "Idle to Chase A", "entered Chase A"];
        assert_eq!(told, [B_CHASES, a_chases].concat());
    }
}

#[test]
fn after_a_panic_in_an_observer_what_comes_after_it_is_told_with_the_next() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    let (mut app, [a, _]) = two_soldiers();
    app.world_mut().entity_mut(a).observe(|_: On<Entered<Patrol>>| panic!("an observer panics"));
    let mut schedule = app.world_mut().resource_mut::<Schedules>().remove(bevy_app::Update).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| schedule.run(app.world_mut()))).is_err());
    // The observer that recorded this has run, but its command was still waiting.
    assert_eq!(take(&mut app).pop().as_deref(), Some("Idle to Patrol A"));
    app.world_mut().commands().entity(a).change_state::<Soldier>(&Idle);
    app.world_mut().flush();
    assert_eq!(
        take(&mut app),
        [
            "entered Patrol A",
            "exited Idle B",
            "Idle to Patrol B",
            "entered Patrol B",
            "-Patrol A",
            "+Idle A",
            "exited Patrol A",
            "Patrol to Idle A",
            "entered Idle A"
        ]
    );
}

/// Goes on patrol, with a command that panics.
struct Fuse;
impl State<Soldier> for Fuse {
    fn update(&self, _: &mut Soldier, fsm: &mut Fsm<'_, Soldier>, cx: &mut <Soldier as Owner>::Context<'_>) {
        cx.commands.queue(|_: &mut World| panic!("a command panics"));
        fsm.change_state(&Patrol);
    }
}

#[test]
fn after_a_panic_in_a_callbacks_command_the_pass_is_told_of_with_the_next() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    let (mut app, [a, _]) = two_soldiers();
    app.world_mut().entity_mut(a).insert(Machine::<Soldier>::started(demeanor::StateMachine::new(&Fuse)));
    take(&mut app);
    let mut schedule = app.world_mut().resource_mut::<Schedules>().remove(bevy_app::Update).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| schedule.run(app.world_mut()))).is_err());
    assert_eq!(take(&mut app), [] as [&str; 0]);
    app.world_mut().commands().entity(a).change_state(&Chase);
    app.world_mut().flush();
    assert_eq!(
        take(&mut app),
        [
            "+Chase A",
            "-Idle B",
            "+Patrol B",
            "Fuse to Patrol A",
            "entered Patrol A",
            "exited Idle B",
            "Idle to Patrol B",
            "entered Patrol B",
            "exited Patrol A",
            "Patrol to Chase A",
            "entered Chase A"
        ]
    );
}

/// Returns an app in which a soldier with this name goes on patrol in the second tick.
fn about_to_patrol(name: &'static str) -> (App, Entity) {
    listen();
    let mut app = app(told_of_everything());
    let orders = [Order::Nothing, Order::Change(StateName::Patrol)];
    let entity = app.world_mut().spawn((soldier(orders), Name::new(name))).id();
    app.update();
    app.world_mut().resource_mut::<Messages<StateChanged<Soldier>>>().clear();
    (app, entity)
}

fn check_cycle(app: &mut App, entity: Entity, name: &str, command: &str, states: &str) {
    let owner = std::any::type_name::<Soldier>();
    assert_eq!(
        lines_with(&format!("({name})")),
        [format!(
            "ERROR: entity {entity} ({name}): {command} of {owner} is ignored, as is all that follows: observers and commands have \
             led from one change of state to the next without end, most recently through {states}"
        )]
    );
    // The machine stays in the state in which the limit was reached, with the right markers; the next tick is normal.
    let machine = app.world().get::<Machine<Soldier>>(entity).unwrap();
    let is_in = [machine.is_in_state(&Idle), machine.is_in_state(&Patrol), machine.is_in_state(&Chase)];
    let marked = app.world().entity(entity);
    let marks =
        [marked.contains::<InState<Idle>>(), marked.contains::<InState<Patrol>>(), marked.contains::<InState<Chase>>()];
    assert_eq!(marks, is_in);
}

fn alternately(states: [&str; 2], n: usize) -> String {
    let all: Vec<&str> = states.into_iter().cycle().take(n).collect();
    all.join(" -> ")
}

#[test]
fn observers_that_change_states_in_turn_end_after_sixty_four_changes_with_an_error_that_names_the_states() {
    let (mut app, entity) = about_to_patrol("Ping");
    app.add_observer(|it: On<Entered<Patrol>>, mut commands: Commands| {
        commands.entity(it.entity).change_state(&Chase);
    });
    app.add_observer(|it: On<Entered<Chase>>, mut commands: Commands| {
        commands.entity(it.entity).change_state(&Patrol);
    });
    app.update();
    assert_eq!(messages(&mut app).len(), 65);
    check_cycle(&mut app, entity, "Ping", "change_state", &alternately(["Chase", "Patrol"], 16));
    // In the next tick there are no notifications.
    app.update();
    assert_eq!(messages(&mut app), [] as [&str; 0]);
    // The next cycle is a separate error.
    app.world_mut().commands().entity(entity).change_state(&Patrol);
    app.world_mut().flush();
    assert_eq!(lines_with("(Ping)").len(), 2);
}

#[test]
fn observers_of_markers_that_change_states_in_turn_end_likewise() {
    let (mut app, entity) = about_to_patrol("Marked");
    app.add_observer(|it: On<Add<InState<Patrol>>>, mut commands: Commands| {
        commands.entity(it.entity).change_state(&Chase);
    });
    app.add_observer(|it: On<Add<InState<Chase>>>, mut commands: Commands| {
        commands.entity(it.entity).change_state(&Patrol);
    });
    app.update();
    assert_eq!(messages(&mut app).len(), 65);
    check_cycle(&mut app, entity, "Marked", "change_state", &alternately(["Chase", "Patrol"], 16));
}

#[test]
fn an_observer_that_asks_for_two_changes_at_once_ends_likewise() {
    let (mut app, entity) = about_to_patrol("Twofold");
    app.add_observer(|it: On<StateChanged<Soldier>>, mut commands: Commands| {
        commands.entity(it.entity).change_state(&Chase).change_state(&Patrol);
    });
    app.update();
    assert_eq!(messages(&mut app).len(), 1 + 64 * 64, "the one in the pass, and as many as for 64 machines");
    check_cycle(&mut app, entity, "Twofold", "change_state", &alternately(["Chase", "Patrol"], 16));
}

/// Changes to itself by a command in each `enter`.
struct Restless;
impl State<Soldier> for Restless {
    fn enter(&self, _: &mut Soldier, _: &mut Fsm<'_, Soldier>, cx: &mut <Soldier as Owner>::Context<'_>) {
        cx.this().change_state(&Restless);
    }
}

#[test]
fn a_callback_that_commands_a_change_each_time_ends_likewise() {
    let (mut app, entity) = about_to_patrol("Restless");
    app.world_mut().commands().entity(entity).change_state(&Restless);
    app.world_mut().flush();
    assert_eq!(messages(&mut app).len(), 65);
    check_cycle(&mut app, entity, "Restless", "change_state", &["Restless"; 16].join(" -> "));
}

#[test]
fn broadcasts_that_lead_to_each_other_end_likewise() {
    let (mut app, entity) = about_to_patrol("Crier");
    app.add_observer(|_: On<Entered<Patrol>>, mut commands: Commands| {
        commands.queue(Machines::<Soldier>::broadcast(StateName::Chase));
    });
    app.add_observer(|_: On<Entered<Chase>>, mut commands: Commands| {
        commands.queue(Machines::<Soldier>::broadcast(StateName::Patrol));
    });
    app.update();
    assert_eq!(messages(&mut app).len(), 65);
    check_cycle(&mut app, entity, "Crier", "broadcast", &alternately(["Chase", "Patrol"], 16));
}

#[test]
fn a_marker_that_is_replaced_by_a_machine_in_turn_ends_likewise() {
    use demeanor::StateMachine;
    let (mut app, entity) = about_to_patrol("Replaced");
    app.add_observer(|it: On<Add<InState<Patrol>>>, mut commands: Commands| {
        commands.entity(it.entity).insert(Machine::<Soldier>::started(StateMachine::new(&Chase)));
    });
    app.add_observer(|it: On<Add<InState<Chase>>>, mut commands: Commands| {
        commands.entity(it.entity).insert(Machine::<Soldier>::started(StateMachine::new(&Patrol)));
    });
    app.update();
    let owner = std::any::type_name::<Soldier>();
    assert_eq!(
        lines_with("(Replaced)"),
        [format!(
            "ERROR: entity {entity} (Replaced): a component of {owner} that came or went is ignored, as is all that follows: \
             observers and commands have led from one change of state to the next without end, most recently through {}",
            alternately(["Chase", "Patrol"], 16)
        )]
    );
}

#[test]
fn a_marker_that_is_replaced_by_two_machines_in_turn_ends_likewise() {
    use demeanor::StateMachine;
    let (mut app, entity) = about_to_patrol("Doubled");
    app.add_observer(|it: On<Add<InState<Patrol>>>, mut commands: Commands| {
        for _ in 0..2 {
            commands.entity(it.entity).insert(Machine::<Soldier>::started(StateMachine::new(&Chase)));
            commands.entity(it.entity).insert(Machine::<Soldier>::started(StateMachine::new(&Patrol)));
        }
    });
    app.add_observer(|it: On<Add<InState<Chase>>>, mut commands: Commands| {
        for _ in 0..2 {
            commands.entity(it.entity).insert(Machine::<Soldier>::started(StateMachine::new(&Patrol)));
            commands.entity(it.entity).insert(Machine::<Soldier>::started(StateMachine::new(&Chase)));
        }
    });
    app.update();
    app.world_mut().entity_mut(entity).insert(Machine::<Soldier>::started(StateMachine::new(&Chase)));
    assert!(app.world().get::<Machine<Soldier>>(entity).is_some());
}

/// Puts this many machines, one after the other, in its own place when it is exited.
#[derive(Clone)]
struct Stubborn(usize);
impl State<Soldier> for Stubborn {
    fn exit(&self, _: &mut Soldier, _: &mut Fsm<'_, Soldier>, cx: &mut <Soldier as Owner>::Context<'_>) {
        for _ in 0..self.0 {
            cx.this().insert(Machine::<Soldier>::started(demeanor::StateMachine::new(Box::new(Self(self.0)))));
        }
    }
}

#[test]
fn an_exit_on_removal_that_commands_the_next_removal_ends_likewise() {
    listen();
    for (replacements, name) in [(1, "Mule"), (2, "Mules")] {
        let mut app = app(StateMachinePlugin::new().with_exit_on_removal());
        let machine = || Machine::<Soldier>::started(demeanor::StateMachine::new(Box::new(Stubborn(replacements))));
        let entity = app.world_mut().spawn((Soldier::default(), Name::new(name), machine())).id();
        app.update();
        app.world_mut().entity_mut(entity).insert(machine());
        let owner = std::any::type_name::<Soldier>();
        let lines = lines_with(&format!("({name})"));
        let beginning = format!("ERROR: entity {entity} ({name}): exit on removal of {owner} is ignored");
        assert!(lines.len() == 1 && lines[0].starts_with(&beginning), "{lines:?}");
        let machine = app.world().get::<Machine<Soldier>>(entity).unwrap();
        assert!(machine.current().is_some_and(|state| state.name() == "Stubborn"));
    }
}

/// Has another soldier chase when it is exited.
#[derive(Clone)]
struct Bond(Entity);
impl State<Soldier> for Bond {
    fn exit(&self, _: &mut Soldier, _: &mut Fsm<'_, Soldier>, cx: &mut <Soldier as Owner>::Context<'_>) {
        cx.commands.entity(self.0).change_state(&Chase);
    }
}

#[test]
fn what_an_exit_on_removal_commands_is_told_of_after_it() {
    let mut app = app(StateMachinePlugin::new().with_exit_on_removal().with_change_messages());
    let other = app.world_mut().spawn((soldier([]), Name::new("other"))).id();
    let bound = app.world_mut().spawn((Soldier::default(), Machine::<Soldier>::new(Box::new(Bond(other))))).id();
    app.update();
    messages(&mut app);
    app.world_mut().despawn(bound);
    assert_eq!(messages(&mut app), ["Bond to none ?", "Idle to Chase other"]);
}

#[test]
fn many_changes_that_are_not_each_others_reason_are_no_cycle() {
    listen();
    let mut app = app(told_of_everything());
    let leader = app.world_mut().spawn((soldier([]), Name::new("Leader"))).id();
    let squad: Vec<Entity> = (0..200).map(|_| app.world_mut().spawn(soldier([])).id()).collect();
    app.update();
    app.world_mut().resource_mut::<Messages<StateChanged<Soldier>>>().clear();
    // Each soldier notifies the leader, which is at most one step away from the command.
    app.add_observer(move |it: On<Entered<Patrol>>, mut commands: Commands| {
        if it.entity != leader {
            commands.entity(leader).change_state(&Chase);
        }
    });
    let fight: Vec<Entity> = squad.clone();
    app.world_mut().entity_mut(leader).observe(move |_: On<Entered<Idle>>, mut commands: Commands| {
        for entity in &fight {
            commands.entity(*entity).change_state(&Patrol);
        }
    });
    app.world_mut().commands().entity(leader).change_state(&Fight).change_state::<Soldier>(&Idle);
    app.world_mut().flush();
    assert_eq!(messages(&mut app).len(), 2 + 200 + 200);
    assert_eq!(lines_with("Leader"), [] as [&str; 0]);
}

#[test]
fn many_messages_of_one_observer_to_one_machine_are_no_cycle() {
    listen();
    let mut app = app(told_of_everything());
    let boss = app.world_mut().spawn((soldier([]), Name::new("Boss"))).id();
    let archer = app.world_mut().spawn(soldier([])).id();
    app.update();
    app.world_mut().resource_mut::<Messages<StateChanged<Soldier>>>().clear();
    app.world_mut().entity_mut(archer).observe(move |_: On<Entered<Chase>>, mut commands: Commands| {
        for _ in 0..300 {
            commands.entity(boss).send::<Soldier>(StateName::Patrol);
        }
    });
    app.world_mut().commands().entity(archer).change_state(&Chase);
    app.world_mut().flush();
    assert_eq!(lines_with("Boss"), [] as [&str; 0]);
    assert_eq!(messages(&mut app).len(), 1 + 300);
}

/// A component whose hook removes the machine when the component is inserted.
#[derive(Component)]
#[component(on_add = disarm)]
struct Disarmed;

fn disarm(mut world: DeferredWorld, context: HookContext) {
    world.commands().entity(context.entity).remove::<Machine<Soldier>>();
}

#[test]
fn a_hook_that_an_observer_sets_off_may_remove_the_machine() {
    let (mut app, [a, _]) = two_soldiers();
    app.world_mut().entity_mut(a).observe(|it: On<Remove<InState<Idle>>>, mut commands: Commands| {
        commands.entity(it.entity).insert(Disarmed);
    });
    app.update();
    assert_eq!(take(&mut app)[..3], ["-Idle A", "-Idle B", "+Patrol B"]);
    assert!(!app.world().entity(a).contains::<Machine<Soldier>>());
}

/// The schedule of the guests.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
struct Turn;

#[derive(Component, bevy_demeanor::Owner)]
struct Host;
struct Invite;
struct Greet;

impl State<Host> for Invite {
    fn update(&self, _: &mut Host, fsm: &mut Fsm<'_, Host>, cx: &mut bevy_demeanor::Cx<'_, Host>) {
        fsm.change_state(&Greet);
        let host = cx.entity;
        cx.commands.queue(|world: &mut World| world.run_schedule(Turn));
        cx.commands.queue(move |world: &mut World| {
            let line = if world.entity(host).contains::<InState<Greet>>() { "too early" } else { "in time" };
            world.resource_mut::<Seen>().0.push(line.to_owned());
        });
    }
}
impl State<Host> for Greet {}

#[derive(Component, bevy_demeanor::Owner)]
struct Guest;
struct Knock;
struct Sit;

impl State<Guest> for Knock {
    fn update(&self, _: &mut Guest, fsm: &mut Fsm<'_, Guest>, _: &mut bevy_demeanor::Cx<'_, Guest>) {
        fsm.change_state(&Sit);
    }
}
impl State<Guest> for Sit {}

#[test]
fn a_pass_that_a_command_of_another_pass_runs_does_not_bring_forward_what_follows_the_commands() {
    let mut app = App::new();
    app.init_resource::<Seen>().init_schedule(Turn);
    app.add_plugins(StateMachinePlugin::<Host>::new().with_marker::<Greet>());
    app.add_plugins(StateMachinePlugin::<Guest>::new().in_schedule(Turn).with_marker::<Sit>());
    let host = app.world_mut().spawn((Host, Machine::<Host>::new(&Invite))).id();
    let guest = app.world_mut().spawn((Guest, Machine::<Guest>::new(&Knock))).id();
    app.update();
    assert_eq!(take(&mut app), ["in time"]);
    assert!(app.world().entity(host).contains::<InState<Greet>>());
    assert!(app.world().entity(guest).contains::<InState<Sit>>());
}
