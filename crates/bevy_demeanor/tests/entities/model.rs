//! Random operations on entities, and observers that perform more of them, compared with a simple model of the plugin.
//!
//! The model keeps a `StateMachine` for each entity and updates it in every tick. Each notification takes a number from a
//! pseudorandom sequence, which determines what the observer does; so if one notification comes in a different order, the
//! plugin and the model diverge.

use std::array;
use std::collections::{BTreeMap, VecDeque};
use std::mem;

use bevy_app::{App, Update};
use bevy_demeanor::{
    CurrentState, Entered, EntityOwner, Exited, InSparseSet, InState, InTable, Machine, MachineCommands, MachineSet,
    StateChanged, StateIndex, StateMachinePlugin,
};
use bevy_ecs::entity::Entities;
use bevy_ecs::event::EventPattern;
use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use demeanor::{Fsm, Owner, State, StateBook, StateMachine, StateRef, Step};

use crate::guard::{Luck, Sequence, load, save};

/// In each update, does what its own pseudorandom sequence says.
#[derive(Component, Reflect, Clone, Debug, PartialEq)]
#[reflect(Component)]
struct Actor {
    luck: u64,
    log: Vec<String>,
}

#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[reflect(Component)]
struct Label(usize);

impl Owner for Actor {
    type Context<'a> = ();
    type Message = usize;
}

impl EntityOwner for Actor {
    type Body = ();
    type Param = ();
}

fn act(actor: &mut Actor, fsm: &mut Fsm<'_, Actor>) {
    let mut luck = Luck(actor.luck);
    match luck.below(8) {
        0 => fsm.change_state(state(luck.below(STATES))),
        1 => fsm.push_state(state(luck.below(STATES))),
        2 => fsm.pop_state(),
        3 => fsm.revert_state(),
        4 => fsm.sleep(),
        _ => {}
    }
    actor.luck = luck.0;
}

/// Defines the states, and what the plugin and the tests do for each of them.
macro_rules! states {
    ($($number:literal $name:ident with $with_marker:ident($storage:ident) { $($methods:tt)* })*) => {
        $(
            struct $name;
            impl State<Actor> for $name {
                fn enter(&self, actor: &mut Actor, _: &mut Fsm<'_, Actor>, (): &mut ()) {
                    actor.log.push(concat!("enter ", stringify!($name)).into());
                }
                fn update(&self, actor: &mut Actor, fsm: &mut Fsm<'_, Actor>, (): &mut ()) {
                    actor.log.push(concat!("update ", stringify!($name)).into());
                    act(actor, fsm);
                }
                fn exit(&self, actor: &mut Actor, _: &mut Fsm<'_, Actor>, (): &mut ()) {
                    actor.log.push(concat!("exit ", stringify!($name)).into());
                }
                fn on_message(&self, actor: &mut Actor, to: &usize, fsm: &mut Fsm<'_, Actor>, (): &mut ()) -> bool {
                    actor.log.push(format!(concat!(stringify!($name), " is told {}"), to));
                    fsm.change_state(state(*to));
                    true
                }
                $($methods)*
            }
        )*

        const NAMES: [&str; STATES] = [$(stringify!($name)),*];

        fn state(which: usize) -> StateRef<Actor> {
            match which {
                $($number => (&$name).into(),)*
                _ => unreachable!("there is no state {which}"),
            }
        }

        fn book() -> StateBook<Actor> {
            StateBook::new()$(.with(&$name))*
        }

        fn follow(plugin: StateMachinePlugin<Actor>) -> StateMachinePlugin<Actor> {
            plugin$(.$with_marker::<$name>().with_index::<$name>().with_triggers::<$name>())*
        }

        fn observe(app: &mut App) {
            $(
                observe_one::<Add<InState<$name, $storage>>>(app, Told::Marked($number));
                observe_one::<Remove<InState<$name, $storage>>>(app, Told::Unmarked($number));
                observe_one::<Exited<$name>>(app, Told::Exited($number));
                observe_one::<Entered<$name>>(app, Told::Entered($number));
            )*
            observe_one::<StateChanged<Actor>>(app, Told::Changed);
        }

        fn marks(entity: EntityRef<'_>) -> Marks {
            [$(entity.contains::<InState<$name, $storage>>()),*]
        }

        fn indexes(world: &World) -> [Vec<Entity>; STATES] {
            [$(sorted(world.resource::<StateIndex<$name>>().iter().copied())),*]
        }
    };
}

const STATES: usize = 6;

/// Which markers an entity has.
type Marks = [bool; STATES];

// `D` and `E` are in one region of `C`, and `F` is in the other.
states! {
    0 A with with_marker(InTable) {}
    1 B with with_sparse_marker(InSparseSet) {}
    2 C with with_marker(InTable) {
        fn regions(&self) -> Vec<StateRef<Actor>> {
            vec![(&D).into(), (&F).into()]
        }
    }
    3 D with with_marker(InTable) {
        fn parent(&self) -> Option<StateRef<Actor>> {
            Some((&C).into())
        }
    }
    4 E with with_marker(InTable) {
        fn parent(&self) -> Option<StateRef<Actor>> {
            Some((&C).into())
        }
    }
    5 F with with_marker(InTable) {
        fn parent(&self) -> Option<StateRef<Actor>> {
            Some((&C).into())
        }
        fn region(&self) -> usize {
            1
        }
    }
}

/// Returns which states are active in a machine that has been started.
fn active(machine: Option<&StateMachine<Actor>>) -> Marks {
    let mut marks = [false; STATES];
    for state in machine.filter(|machine| machine.is_started()).into_iter().flat_map(StateMachine::active_states) {
        marks[which(state)] = true;
    }
    marks
}

fn sorted(entities: impl Iterator<Item = Entity>) -> Vec<Entity> {
    let mut entities: Vec<Entity> = entities.collect();
    entities.sort();
    entities
}

/// A notification.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    Marked(usize),
    Unmarked(usize),
    Exited(usize),
    Changed,
    Entered(usize),
}

/// An operation on the entity with a label, by an observer or between two ticks.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Nothing,
    Spawn,
    Despawn,
    RemoveMachine,
    RemoveOwner,
    InsertOwner,
    InsertNew(usize),
    InsertStarted(usize),
    Name(usize),
    Change(usize),
    Send(usize),
    Stop,
}

const LABELS: usize = 10;

fn deed(luck: &mut Luck) -> (Deed, usize) {
    let of = luck.below(LABELS);
    let which = luck.below(STATES);
    let deed = match luck.below(16) {
        0 | 1 => Deed::Spawn,
        2 => Deed::Despawn,
        3 => Deed::RemoveMachine,
        4 => Deed::RemoveOwner,
        5 | 6 => Deed::InsertOwner,
        7 => Deed::InsertNew(which),
        8 => Deed::InsertStarted(which),
        9 => Deed::Name(which),
        10..=12 => Deed::Change(which),
        13 | 14 => Deed::Send(which),
        _ => Deed::Stop,
    };
    (deed, of)
}

/// Returns the operation of an observer. Mostly it is none, so that the chain of notifications ends.
fn reaction(luck: &mut Luck) -> (Deed, usize) {
    if luck.below(6) == 0 { deed(luck) } else { (Deed::Nothing, 0) }
}

fn owner(of: usize) -> Actor {
    Actor { luck: of as u64 * 77, log: vec![] }
}

// ---- The plugin ----

#[derive(Resource)]
struct Observers {
    luck: Luck,
    told: Vec<(Told, usize)>,
    /// While a scene is being loaded, notifications are not recorded.
    is_muted: bool,
}

#[derive(Resource, Default)]
struct PassOrder(Vec<usize>);

fn find(world: &mut World, of: usize) -> Option<Entity> {
    let mut labels = world.query::<(Entity, &Label)>();
    labels.iter(world).find(|(_, label)| label.0 == of).map(|(entity, _)| entity)
}

fn tell(told: Told, entity: Entity, label: Option<&Label>, commands: &mut Commands) {
    let label = label.copied();
    commands.queue(move |world: &mut World| {
        let Some(Label(of)) = label else { unreachable!("{entity} has no label") };
        let mut observers = world.resource_mut::<Observers>();
        if observers.is_muted {
            return;
        }
        observers.told.push((told, of));
        let (deed, of) = reaction(&mut observers.luck);
        carry_out(deed, of, world);
        check_indexes(world);
    });
}

fn carry_out(deed: Deed, of: usize, world: &mut World) {
    let there = find(world, of);
    let Some(entity) = there else {
        if let Deed::Spawn = deed {
            world.spawn((Label(of), owner(of), Machine::<Actor>::new(&A)));
        }
        return;
    };
    let mut commands = world.commands();
    let mut commands = commands.entity(entity);
    match deed {
        Deed::Nothing | Deed::Spawn => {}
        Deed::Despawn => commands.despawn(),
        Deed::RemoveMachine => _ = commands.remove::<Machine<Actor>>(),
        Deed::RemoveOwner => _ = commands.remove::<Actor>(),
        Deed::InsertOwner => _ = commands.insert_if_new(owner(of)),
        Deed::InsertNew(which) => _ = commands.insert(Machine::<Actor>::new(state(which))),
        Deed::InsertStarted(which) => {
            commands.insert(Machine::<Actor>::started(StateMachine::new(state(which))));
        }
        Deed::Name(which) => _ = commands.insert(CurrentState::<Actor>::named(NAMES[which])),
        Deed::Change(which) => _ = commands.change_state::<Actor>(state(which)),
        Deed::Send(which) => _ = commands.send::<Actor>(which),
        Deed::Stop => _ = commands.stop_machine::<Actor>(),
    }
    world.flush();
}

/// At every notification, the indexes agree with the machines.
fn check_indexes(world: &mut World) {
    let mut machines = world.query::<(Entity, &Machine<Actor>)>();
    let machines: Vec<(Entity, Marks)> =
        machines.iter(world).map(|(entity, machine)| (entity, active(Some(machine)))).collect();
    let in_state = |which: usize| machines.iter().filter(move |(_, active)| active[which]).map(|(entity, _)| *entity);
    assert_eq!(indexes(world), array::from_fn(|which| sorted(in_state(which))));
}

fn plugin_app(is_parallel: bool, seed: u64) -> App {
    let plugin = follow(StateMachinePlugin::new())
        .with_change_events()
        .with_change_messages()
        .with_current_state((0..STATES).map(state))
        .with_book(book());
    let mut app = App::new();
    app.register_type::<Actor>().register_type::<Label>().init_resource::<PassOrder>();
    app.insert_resource(Observers { luck: Luck(seed), told: vec![], is_muted: false });
    app.add_plugins(if is_parallel { plugin.in_parallel() } else { plugin });
    app.add_systems(
        Update,
        (|machines: Query<(Entity, &Label, &Actor, &Machine<Actor>)>,
          entities: &Entities,
          mut order: ResMut<PassOrder>| {
            let mut machines: Vec<_> = machines.iter().collect();
            machines.sort_by_key(|(entity, ..)| entities.get_spawned(*entity).unwrap().table_id.as_usize());
            order.0 = machines.iter().map(|(_, label, ..)| label.0).collect();
        })
        .in_set(MachineSet::Enter),
    );
    observe(&mut app);
    app
}

fn observe_one<E: EventPattern<Event: EntityEvent>>(app: &mut App, told: Told) {
    app.add_observer(move |it: On<E>, labels: Query<&Label>, mut commands: Commands| {
        let entity = it.event_target();
        tell(told, entity, labels.get(entity).ok(), &mut commands);
    });
}

// ---- The model ----

#[derive(Default)]
struct Body {
    /// The number of the body, because labels are reused.
    id: usize,
    owner: Option<Actor>,
    machine: Option<StateMachine<Actor>>,
    marks: Marks,
    name: Option<String>,
}

/// The entity of a notification: its label, and the number of its body.
type Who = (usize, usize);

/// Pending notifications: first the entities whose markers must be updated, then the steps.
type Batch = (Vec<Who>, Vec<(Who, Step<Actor>)>);

struct Model {
    bodies: BTreeMap<usize, Body>,
    luck: Luck,
    told: Vec<(Told, usize)>,
    messages: usize,
    queue: VecDeque<Batch>,
    is_under_way: bool,
    spawned: usize,
}

fn which(state: &StateRef<Actor>) -> usize {
    NAMES.iter().position(|name| state.name() == *name).expect("it is one of them")
}

impl Model {
    fn tell(&mut self, told: Told, of: usize) {
        self.told.push((told, of));
        let (deed, of) = reaction(&mut self.luck);
        self.carry_out(deed, of);
    }

    fn mark(&mut self, of: usize) {
        let Some(body) = self.bodies.get(&of) else { return };
        let before = active(body.machine.as_ref());
        for wanted in [false, true] {
            for mark in (0..STATES).filter(|mark| before[*mark] == wanted) {
                let Some(body) = self.bodies.get_mut(&of) else { return };
                if body.marks[mark] != wanted && active(body.machine.as_ref())[mark] == wanted {
                    body.marks[mark] = wanted;
                    self.tell(if wanted { Told::Marked(mark) } else { Told::Unmarked(mark) }, of);
                }
            }
        }
        if let Some(body) = self.bodies.get_mut(&of) {
            let name = |machine: &StateMachine<Actor>| {
                machine.current().map_or_else(String::new, |state| state.name().into_owned())
            };
            body.name = body.machine.as_ref().map(name);
        }
    }

    fn is_there(&self, (of, id): Who) -> bool {
        self.bodies.get(&of).is_some_and(|body| body.id == id)
    }

    fn who(&self, of: usize) -> Who {
        (of, self.bodies[&of].id)
    }

    /// Notes that an entity's machine has been inserted or removed.
    fn put_in_mark(&mut self, of: usize) {
        let who = self.who(of);
        self.put_in((vec![who], vec![]));
    }

    fn put_in(&mut self, batch: Batch) {
        self.queue.push_back(batch);
        if mem::replace(&mut self.is_under_way, true) {
            return;
        }
        while let Some((marked, steps)) = self.queue.pop_front() {
            for (of, id) in marked {
                if self.is_there((of, id)) {
                    self.mark(of);
                }
            }
            for ((of, id), step) in steps {
                if let Step::Changed { .. } = step {
                    self.messages += 1;
                }
                if self.is_there((of, id)) {
                    self.tell(
                        match step {
                            Step::Exited(state) => Told::Exited(which(&state)),
                            Step::Changed { .. } => Told::Changed,
                            Step::Entered(state) => Told::Entered(which(&state)),
                            _ => unreachable!("there are three kinds of steps"),
                        },
                        of,
                    );
                }
            }
        }
        self.is_under_way = false;
    }

    fn start(machine: &mut StateMachine<Actor>, owner: &mut Actor, steps: &mut Vec<Step<Actor>>) {
        if !machine.is_started() && machine.current().is_some() {
            machine.recording(Some(steps)).start(owner, &mut ());
        }
    }

    fn reach(&mut self, of: usize, f: impl FnOnce(&mut demeanor::MachineMut<'_, Actor>, &mut Actor)) {
        let Some(Body { owner: Some(owner), machine: Some(machine), .. }) = self.bodies.get_mut(&of) else { return };
        let mut steps = vec![];
        Self::start(machine, owner, &mut steps);
        f(&mut machine.recording(Some(&mut steps)), owner);
        if !steps.is_empty() {
            let who = self.who(of);
            self.put_in((vec![who], steps.into_iter().map(|step| (who, step)).collect()));
        }
    }

    fn carry_out(&mut self, deed: Deed, of: usize) {
        if let Deed::Spawn = deed
            && !self.bodies.contains_key(&of)
        {
            self.spawned += 1;
            let (owner, machine) = (Some(owner(of)), Some(StateMachine::new(&A)));
            self.bodies.insert(of, Body { id: self.spawned, owner, machine, ..Body::default() });
            return self.put_in_mark(of);
        }
        let Some(body) = self.bodies.get_mut(&of) else { return };
        match deed {
            Deed::Nothing | Deed::Spawn => {}
            Deed::Despawn => {
                let marks = mem::take(body).marks;
                self.bodies.remove(&of);
                for mark in (0..STATES).filter(|mark| marks[*mark]) {
                    self.tell(Told::Unmarked(mark), of);
                }
            }
            Deed::RemoveMachine => {
                if body.machine.take().is_some() {
                    self.put_in_mark(of);
                }
            }
            Deed::RemoveOwner => body.owner = None,
            Deed::InsertOwner => _ = body.owner.get_or_insert_with(|| owner(of)),
            Deed::InsertNew(which) | Deed::InsertStarted(which) => {
                let mut machine = StateMachine::new(state(which));
                if let Deed::InsertStarted(_) = deed {
                    machine.set_entered(0.0);
                }
                body.machine = Some(machine);
                self.put_in_mark(of);
            }
            Deed::Name(which) => {
                let is_there = |machine: &StateMachine<Actor>| {
                    machine.current().is_some_and(|current| self::which(current) == which)
                };
                match &mut body.machine {
                    Some(machine) if machine.is_started() || machine.current().is_none() => {
                        if !is_there(machine) {
                            self.reach(of, |machine, owner| _ = machine.force_state(owner, state(which), &mut ()));
                        }
                    }
                    machine => {
                        let machine = machine.get_or_insert_with(|| StateMachine::new(state(which)));
                        // The name of a state with regions is that of a machine that is to start in one of them.
                        if !is_there(machine) {
                            machine.set_current(state(which));
                        }
                        machine.set_entered(0.0);
                        self.put_in_mark(of);
                    }
                }
            }
            Deed::Change(which) => self.reach(of, |machine, owner| {
                machine.change_state(owner, state(which), &mut ());
            }),
            Deed::Send(which) => self.reach(of, |machine, owner| {
                machine.send(owner, &which, &mut ());
            }),
            Deed::Stop => self.reach(of, |machine, owner| machine.stop(owner, &mut ())),
        }
    }

    fn pass(&mut self, order: &[usize]) {
        let mut batch: Batch = (vec![], vec![]);
        for of in order {
            let Some(Body { id, owner: Some(owner), machine: Some(machine), .. }) = self.bodies.get_mut(of) else {
                unreachable!("it has both");
            };
            let mut steps = vec![];
            Self::start(machine, owner, &mut steps);
            machine.recording(Some(&mut steps)).update(owner, &mut ());
            if !steps.is_empty() {
                batch.0.push((*of, *id));
                batch.1.extend(steps.into_iter().map(|step| ((*of, *id), step)));
            }
        }
        self.put_in(batch);
    }
}

fn in_words(machine: Option<&StateMachine<Actor>>) -> String {
    let Some(machine) = machine else { return "none".to_owned() };
    let name = |state: Option<&StateRef<Actor>>| state.map_or("none".to_owned(), |state| state.name().into_owned());
    let active: Vec<_> = machine.active_states().map(|state| state.name()).collect();
    let (current, previous) = (name(machine.current()), name(machine.previous()));
    let (active, is_started, is_asleep) = (active.join(" "), machine.is_started(), machine.is_asleep());
    format!("{current} in {active} from {previous}, started: {is_started}, asleep: {is_asleep}")
}

/// The state of the world, label by label.
type Picture = Vec<(usize, Option<Actor>, String, Marks, Option<String>)>;

fn picture(app: &App) -> Picture {
    let mut picture = Picture::new();
    for entity in app.world().iter_entities() {
        let Some(label) = entity.get::<Label>() else { continue };
        let name = entity.get::<CurrentState<Actor>>().map(|name| name.name().to_owned());
        let machine = in_words(entity.get::<Machine<Actor>>().map(|machine| &**machine));
        picture.push((label.0, entity.get::<Actor>().cloned(), machine, marks(entity), name));
    }
    picture.sort_by_key(|(label, ..)| *label);
    picture
}

fn model_picture(model: &Model) -> Picture {
    let body = |(of, body): (&usize, &Body)| {
        (*of, body.owner.clone(), in_words(body.machine.as_ref()), body.marks, body.name.clone())
    };
    model.bodies.iter().map(body).collect()
}

/// Saves all entities, despawns them, and loads them again.
fn save_and_load(app: &mut App) {
    app.world_mut().resource_mut::<Observers>().is_muted = true;
    let mut labels = app.world_mut().query::<(Entity, &Label)>();
    let mut all: Vec<(Label, Entity)> = labels.iter(app.world()).map(|(entity, label)| (*label, entity)).collect();
    all.sort();
    let all: Vec<Entity> = all.into_iter().map(|(_, entity)| entity).collect();
    let scene = save(app, &all).expect("the book knows all states");
    for entity in all {
        app.world_mut().despawn(entity);
    }
    load(app, &scene, Sequence::Backward).expect("it was saved by the same book");
    app.world_mut().resource_mut::<Observers>().is_muted = false;
}

fn check(seed: u64, is_parallel: bool, frames: usize) {
    let mut app = plugin_app(is_parallel, seed);
    let mut model = Model {
        bodies: BTreeMap::new(),
        luck: Luck(seed),
        told: vec![],
        messages: 0,
        queue: VecDeque::new(),
        is_under_way: false,
        spawned: 0,
    };
    let mut luck = Luck(seed ^ 0x5555_5555);
    let mut total = 0;
    for frame in 0..frames {
        for _ in 0..luck.below(4) {
            let (deed, of) = deed(&mut luck);
            carry_out(deed, of, app.world_mut());
            model.carry_out(deed, of);
        }
        if luck.below(16) == 0 {
            save_and_load(&mut app);
            // A scene contains a name for each machine, and no markers.
            for body in model.bodies.values_mut() {
                body.marks = active(body.machine.as_ref());
            }
        }
        app.update();
        check_indexes(app.world_mut());
        model.pass(&mem::take(&mut app.world_mut().resource_mut::<PassOrder>().0));
        let told = mem::take(&mut app.world_mut().resource_mut::<Observers>().told);
        total += told.len();
        assert_eq!(told, mem::take(&mut model.told), "seed {seed}, frame {frame}");
        assert_eq!(picture(&app), model_picture(&model), "seed {seed}, frame {frame}");
        let messages = app.world_mut().resource_mut::<Messages<StateChanged<Actor>>>().drain().count();
        assert_eq!(messages, mem::take(&mut model.messages), "seed {seed}, frame {frame}");
        for body in model.bodies.values_mut().filter_map(|body| body.owner.as_mut()) {
            body.log.clear();
        }
        let mut actors = app.world_mut().query::<&mut Actor>();
        for mut actor in actors.iter_mut(app.world_mut()) {
            actor.bypass_change_detection().log.clear();
        }
    }
    assert!(total > frames, "too little has happened: {total}");
}

#[test]
fn random_operations_and_observers_that_do_more_of_them_agree_with_a_naive_model() {
    for seed in 0..30 {
        check(seed, seed % 2 == 1, 200);
    }
}

#[test]
#[ignore = "a minute and more"]
fn a_hundred_thousand_frames_agree_with_a_naive_model() {
    for (seed, is_parallel) in [(1, false), (2, true)] {
        check(seed, is_parallel, 50_000);
    }
}
