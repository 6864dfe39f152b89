//! Guards that run back and forth in a window and are red on the way back, lamps, and gates from a file.
//!
//! The program uses every public name of the plugin, with both preludes imported by globs: if Bevy's had the same name, the
//! compiler would report an ambiguity. A test of the plugin (`tests/entities/names.rs`) fails if a name is missing here.

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy_demeanor::demeanor::definition::Vocabulary;
use bevy_demeanor::prelude::*;
use bevy_demeanor::{InTable, MachineJournal, MarkerStorage, SendTo, demeanor};

/// The states of the app, such as a menu. This `State` is Bevy's.
#[derive(States, Clone, Copy, Default, Debug, PartialEq, Eq, Hash)]
enum AppState {
    #[default]
    Playing,
    Paused,
}

// ---- Guards, whose states use Bevy's context.

#[derive(Component, Reflect, Owner, Default)]
#[reflect(Component)]
#[require(Machine<Guard> = guard_machine(&Leave))]
#[owner(body = (&mut Transform, &mut Sprite), param = Res<State<AppState>>, message = Noise, on_change = Guard::count)]
struct Guard {
    laps: u32,
}

#[derive(Clone, Copy)]
struct Noise;

impl Guard {
    fn count(&mut self, change: &Change<'_, Self>, _: &mut Cx<'_, Self>) {
        self.laps += u32::from(change.is_taken() && change.from.is_some_and(|from| from.is::<Return>()));
    }
}

fn guard_machine(first: impl IntoState<Guard>) -> Machine<Guard> {
    StateMachine::new(first).into()
}

fn move_by(x: f32, cx: &mut EntityContext<'_, Guard>) -> f32 {
    cx.body.0.translation.x += x * cx.time.delta_secs();
    cx.body.0.translation.x
}

struct Run;
impl MachineState<Guard> for Run {
    fn initial(&self) -> Option<StateRef<Guard>> {
        Some((&Leave).into())
    }
}

struct Leave;
impl MachineState<Guard> for Leave {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Run).into())
    }

    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        if move_by(100.0, cx) > 200.0 {
            fsm.change_state(&Return);
        }
    }

    fn on_message(&self, _: &mut Guard, _: &Noise, fsm: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) -> bool {
        fsm.change_state(&Return);
        true
    }
}

struct Return;
impl MachineState<Guard> for Return {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Run).into())
    }

    fn enter(&self, _: &mut Guard, _: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        cx.body.1.color = Color::srgb(1.0, 0.0, 0.0);
    }

    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        if move_by(-100.0, cx) < -200.0 {
            fsm.change_state(&Leave);
        }
    }

    fn exit(&self, _: &mut Guard, _: &mut Fsm<'_, Guard>, cx: &mut Cx<'_, Guard>) {
        cx.body.1.color = Color::WHITE;
    }
}

// ---- Lamps, which have a context of the game's own and are updated in parallel.

#[derive(Component)]
struct Lamp;

/// What the states of a lamp get.
struct Surroundings<'a> {
    sprite: &'a mut Sprite,
    is_paused: bool,
    now: f64,
}

#[derive(SystemParam, SharedParam)]
struct Senses<'w> {
    app: Res<'w, State<AppState>>,
}

impl Owner for Lamp {
    type Context<'a> = Surroundings<'a>;
    type Message = ();

    fn now(surroundings: &Surroundings<'_>) -> f64 {
        surroundings.now
    }
}

impl EntityOwner for Lamp {
    type Body = &'static mut Sprite;
    type Param = Senses<'static>;
    const CHANGES: OwnerChanges = OwnerChanges::WhenTold;
}

impl CallbackContext<Lamp> for Surroundings<'_> {
    fn lend<R>(cx: &mut EntityContext<'_, Lamp>, call: impl FnOnce(&mut Surroundings<'_>) -> R) -> R {
        let (is_paused, now) = (*cx.param.app.get() == AppState::Paused, cx.now());
        call(&mut Surroundings { sprite: &mut cx.body, is_paused, now })
    }
}

struct Glow;
impl demeanor::State<Lamp> for Glow {
    fn update(&self, _: &mut Lamp, fsm: &mut Fsm<'_, Lamp>, surroundings: &mut Surroundings<'_>) {
        let brightness = if surroundings.is_paused { 0.2 } else { 1.0 };
        surroundings.sprite.color = Color::srgb(brightness, brightness, 0.0);
        fsm.sleep_for(0.5);
    }
}

fn in_parallel<T: ParallelOwner>() -> StateMachinePlugin<T> {
    StateMachinePlugin::new().in_parallel()
}

// ---- Gates, whose machine comes from a file.

#[derive(Component, Owner)]
struct Gate {
    is_locked: bool,
}

fn vocabulary() -> Vocabulary<Gate> {
    Vocabulary::new().flag("locked", |gate: &Gate, _| gate.is_locked)
}

fn report_files(
    gates: Query<&DefinedMachine<Gate>>,
    files: Res<Assets<DefinitionFile>>,
    loaded: Res<LoadedDefinitions<Gate>>,
) {
    for gate in &gates {
        let machine = files.get(gate.file()).and_then(DefinitionFile::machine);
        debug!("{machine:?} has problems: {}", loaded.problems(gate.file()).is_some());
    }
}

// ---- Systems and observers that use names of Bevy and of the plugin together.

fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    commands.spawn(Camera2d);
    let square = Sprite::from_color(Color::WHITE, Vec2::splat(20.0));
    commands.spawn((Guard::default(), square.clone()));
    commands.spawn((Lamp, Machine::<Lamp>::new(&Glow), square, Transform::from_xyz(0.0, 100.0, 0.0)));
    commands.spawn((Gate { is_locked: true }, DefinedMachine::<Gate>::new(assets.load("gate.fsm.toml"))));
}

fn pause(keys: Res<ButtonInput<KeyCode>>, mut next: ResMut<NextState<AppState>>) {
    if keys.just_pressed(KeyCode::Space) {
        next.set(AppState::Paused);
    }
}

fn noise(guards: impl IntoIterator<Item = Entity>) -> SendTo<Guard> {
    Machines::<Guard>::send_to(guards, Noise)
}

fn alarm(keys: Res<ButtonInput<KeyCode>>, guards: Query<Entity, With<Guard>>, mut commands: Commands) {
    if keys.just_pressed(KeyCode::KeyA) {
        commands.queue(noise(&guards));
    }
    if keys.just_pressed(KeyCode::KeyR) {
        guards.iter().for_each(|guard| turn(&mut commands.entity(guard)));
    }
}

fn turn(guard: &mut impl MachineCommands) {
    guard.change_state::<Guard>(&Return);
}

fn count<K: MarkerStorage>(returning: Query<(), With<InState<Return, K>>>, state: Res<State<AppState>>) {
    debug!("{} return in {:?}", returning.iter().count(), state.get());
}

fn look(
    mut leaving: QueryInState<Leave, (&mut Sprite, &CurrentState<Guard>)>,
    index: Res<StateIndex<Leave>>,
    lamps: Query<&Machine<Lamp>>,
    journal: Res<MachineJournal<Guard>>,
) {
    for (mut sprite, state) in leaving.iter_mut() {
        sprite.flip_x = state.name() == "Leave";
    }
    let waiting = lamps.iter().filter(|lamp| matches!(lamp.next_wake(), NextWake::At(_))).count();
    debug!("{} leave, {waiting} lamps wait, {} changes", index.len(), journal.len());
}

fn report_lap(lap: On<Exited<Return>>, guards: Query<&Guard>) -> Result {
    info!("lap {}", guards.get(lap.entity)?.laps);
    Ok(())
}

fn report_return(guard: On<Entered<Return>>) {
    info!("{} returns", guard.entity);
}

fn report_changes(mut changes: MessageReader<StateChanged<Guard>>) {
    for change in changes.read().filter(|change| change.cause != Cause::Start) {
        info!("{change:?}");
    }
}

fn guards() -> StateMachinePlugin<Guard> {
    let states: [StateRef<Guard>; 3] = [(&Run).into(), (&Leave).into(), (&Return).into()];
    StateMachinePlugin::new()
        .with_marker::<Return>()
        .with_sparse_marker::<Return>()
        .with_index::<Leave>()
        .with_triggers::<Return>()
        .with_change_messages()
        .with_journal(1000)
        .with_current_state(states)
        .with_book(StateBook::new().with(&Run).with(&Leave).with(&Return))
}

fn add_lamps(app: &mut impl AppExtMachines) {
    app.add_state_machine_with(in_parallel::<Lamp>());
}

fn main() {
    let mut app = App::new();
    app.add_plugins(DefaultPlugins).init_state::<AppState>();
    app.add_state_machine_with(guards());
    app.add_state_machine_with(StateMachinePlugin::<Gate>::new().with_definitions(vocabulary()));
    add_lamps(&mut app);
    app.configure_sets(Update, Machines::<Guard>::SET.run_if(in_state(AppState::Playing)))
        .add_systems(Startup, spawn)
        .add_systems(Update, (pause, alarm).in_set(MachineSet::Enter))
        .add_systems(
            Update,
            (
                count::<InTable>.run_if(any_in_state::<Return>),
                count::<InSparseSet>.run_if(any_machine_in::<Guard, Return>),
                look.run_if(every_machine_in::<Guard, Run>),
                report_changes.run_if(any_machine_changed::<Guard>),
                report_files,
            )
                .in_set(MachineSet::Exit),
        )
        .add_observer(report_lap)
        .add_observer(report_return)
        .run();
}
