//! Observers that despawn entities and remove their components, in combination with other settings. The notifications are
//! compared with those of a simple model.

use bevy_app::App;
use bevy_demeanor::{Entered, Exited, InState, Machine, MachineCommands, StateChanged, StateMachinePlugin};
use bevy_ecs::prelude::*;
use demeanor::StateMachine;

use crate::soldier::{Idle, Order, Patrol, Soldier, StateName, app, soldier};

/// The settings of the plugin.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is asked for by itself")]
struct Asked {
    markers: bool,
    name: bool,
    triggers: bool,
    events: bool,
    messages: bool,
}

impl Asked {
    fn all() -> impl Iterator<Item = Self> {
        (0..32).map(|bits| {
            let is_asked = |bit| bits >> bit & 1 == 1;
            Self {
                markers: is_asked(0),
                name: is_asked(1),
                triggers: is_asked(2),
                events: is_asked(3),
                messages: is_asked(4),
            }
        })
    }

    fn plugin(self) -> StateMachinePlugin<Soldier> {
        let mut plugin = StateMachinePlugin::new();
        if self.markers {
            plugin = plugin.with_marker::<Idle>().with_marker::<Patrol>();
        }
        #[cfg(feature = "reflect")]
        if self.name {
            plugin = plugin.with_current_state([(&Idle).into(), (&Patrol).into()]);
        }
        if self.triggers {
            plugin = plugin.with_triggers::<Idle>().with_triggers::<Patrol>();
        }
        if self.events {
            plugin = plugin.with_change_events();
        }
        if self.messages {
            plugin = plugin.with_change_messages();
        }
        plugin
    }
}

/// A notification.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    /// A marker was added; the number is its index in `Idle`, `Patrol`.
    Marked(usize),
    /// A marker was removed.
    Unmarked(usize),
    Exited,
    Changed,
    Entered,
}

const TOLD: [Told; 7] = [
    Told::Marked(0),
    Told::Marked(1),
    Told::Unmarked(0),
    Told::Unmarked(1),
    Told::Exited,
    Told::Changed,
    Told::Entered,
];

#[derive(Clone, Copy, Debug)]
enum Deed {
    Despawn,
    RemoveMachine,
    RemoveOwner,
    /// Replaces the machine with another one, which is in `Idle`.
    Replace,
}

const DEEDS: [Deed; 4] = [Deed::Despawn, Deed::RemoveMachine, Deed::RemoveOwner, Deed::Replace];

/// The place from which the soldiers are ordered to `Patrol`.
#[derive(Clone, Copy, Debug)]
enum From {
    Pass,
    ParallelPass,
    Commands,
}

/// An observer that performs an operation, once, when it is notified of the second of three soldiers.
#[derive(Resource, Clone, Copy, Debug)]
struct Plot {
    when: Told,
    deed: Deed,
    /// The soldier on which the operation is performed.
    victim: usize,
    is_done: bool,
}

#[derive(Resource)]
struct Soldiers([Entity; 3]);

#[derive(Resource, Default)]
struct Reports(Vec<(Told, usize)>);

fn report(told: Told, entity: Entity, world: &mut World) {
    let soldiers = world.resource::<Soldiers>().0;
    let of = soldiers.iter().position(|soldier| *soldier == entity).expect("it is one of the three");
    world.resource_mut::<Reports>().0.push((told, of));
    let mut plot = world.resource_mut::<Plot>();
    if plot.is_done || plot.when != told || of != 1 {
        return;
    }
    plot.is_done = true;
    let (deed, victim) = (plot.deed, soldiers[plot.victim]);
    let mut commands = world.commands();
    let mut victim = commands.entity(victim);
    match deed {
        Deed::Despawn => victim.despawn(),
        Deed::RemoveMachine => _ = victim.remove::<Machine<Soldier>>(),
        Deed::RemoveOwner => _ = victim.remove::<Soldier>(),
        Deed::Replace => _ = victim.insert(Machine::<Soldier>::started(StateMachine::new(&Idle))),
    }
}

fn observe(app: &mut App) {
    fn tell(told: Told, entity: Entity, commands: &mut Commands) {
        // This is a command, because an observer of a removal cannot get the world itself.
        commands.queue(move |world: &mut World| report(told, entity, world));
    }
    app.add_observer(|it: On<Add<InState<Idle>>>, mut commands: Commands| {
        tell(Told::Marked(0), it.entity, &mut commands);
    });
    app.add_observer(|it: On<Add<InState<Patrol>>>, mut commands: Commands| {
        tell(Told::Marked(1), it.entity, &mut commands);
    });
    app.add_observer(|it: On<Remove<InState<Idle>>>, mut commands: Commands| {
        tell(Told::Unmarked(0), it.entity, &mut commands);
    });
    app.add_observer(|it: On<Remove<InState<Patrol>>>, mut commands: Commands| {
        tell(Told::Unmarked(1), it.entity, &mut commands);
    });
    app.add_observer(|it: On<Exited<Idle>>, mut commands: Commands| tell(Told::Exited, it.entity, &mut commands));
    app.add_observer(|it: On<StateChanged<Soldier>>, mut commands: Commands| {
        tell(Told::Changed, it.entity, &mut commands);
    });
    app.add_observer(|it: On<Entered<Patrol>>, mut commands: Commands| tell(Told::Entered, it.entity, &mut commands));
}

/// One soldier in the simple model.
#[derive(Clone, Copy)]
struct Modeled {
    lives: bool,
    has_owner: bool,
    /// The state of its machine.
    state: Option<usize>,
    marks: [bool; 2],
}

struct Model {
    asked: Asked,
    plot: Plot,
    soldiers: [Modeled; 3],
    reports: Vec<(Told, usize)>,
    messages: Vec<usize>,
    /// Soldiers whose machine was inserted or removed by an operation.
    to_mark: Vec<usize>,
}

impl Model {
    fn new(asked: Asked, plot: Plot) -> Self {
        let soldier = Modeled { lives: true, has_owner: true, state: Some(0), marks: [asked.markers, false] };
        Self { asked, plot, soldiers: [soldier; 3], reports: vec![], messages: vec![], to_mark: vec![] }
    }

    fn tell(&mut self, told: Told, of: usize) {
        self.reports.push((told, of));
        if self.plot.is_done || self.plot.when != told || of != 1 {
            return;
        }
        self.plot.is_done = true;
        let victim = self.plot.victim;
        let soldier = &mut self.soldiers[victim];
        if !soldier.lives {
            return;
        }
        match self.plot.deed {
            Deed::Despawn => {
                let marks = soldier.marks;
                *soldier = Modeled { lives: false, has_owner: false, state: None, marks: [false; 2] };
                for mark in [0, 1].into_iter().filter(|mark| marks[*mark]) {
                    self.tell(Told::Unmarked(mark), victim);
                }
            }
            Deed::RemoveMachine => {
                soldier.state = None;
                self.to_mark.push(victim);
            }
            Deed::RemoveOwner => soldier.has_owner = false,
            Deed::Replace => {
                soldier.state = Some(0);
                self.to_mark.push(victim);
            }
        }
    }

    fn mark(&mut self, of: usize) {
        let before = self.soldiers[of].state;
        for wanted in [false, true] {
            for mark in [0, 1] {
                let Modeled { lives, state, marks, .. } = &mut self.soldiers[of];
                let is_in = *state == Some(mark);
                let was_in = before == Some(mark);
                if *lives && self.asked.markers && marks[mark] != is_in && is_in == wanted && was_in == wanted {
                    marks[mark] = is_in;
                    self.tell(if is_in { Told::Marked(mark) } else { Told::Unmarked(mark) }, of);
                }
            }
        }
    }

    /// Adds the notifications after these soldiers have changed to `Patrol`.
    fn follow(&mut self, changed: &[usize]) {
        for of in changed {
            self.mark(*of);
        }
        for of in changed {
            for told in [Told::Exited, Told::Changed, Told::Entered] {
                let is_change = told == Told::Changed;
                if is_change && self.asked.messages {
                    self.messages.push(*of);
                }
                if (if is_change { self.asked.events } else { self.asked.triggers }) && self.soldiers[*of].lives {
                    self.tell(told, *of);
                }
            }
        }
        for of in std::mem::take(&mut self.to_mark) {
            self.mark(of);
        }
    }

    fn run(&mut self, from: From) {
        if let From::Commands = from {
            for of in 0..3 {
                let soldier = &mut self.soldiers[of];
                if soldier.lives && soldier.has_owner && soldier.state.is_some() {
                    soldier.state = Some(1);
                    self.follow(&[of]);
                }
            }
        } else {
            for soldier in &mut self.soldiers {
                soldier.state = Some(1);
            }
            self.follow(&[0, 1, 2]);
        }
    }
}

fn check(asked: Asked, plot: Plot, from: From) {
    let plugin = if let From::ParallelPass = from { asked.plugin().in_parallel() } else { asked.plugin() };
    let mut app = app(plugin);
    let is_by_order = !matches!(from, From::Commands);
    let orders = [Order::Nothing, if is_by_order { Order::Change(StateName::Patrol) } else { Order::Nothing }];
    let soldiers = [(); 3].map(|()| app.world_mut().spawn(soldier(orders)).id());
    app.update();
    let mut messages = app.world_mut().get_resource_or_init::<Messages<StateChanged<Soldier>>>();
    messages.clear();
    app.insert_resource(Soldiers(soldiers)).insert_resource(plot).init_resource::<Reports>();
    observe(&mut app);
    if is_by_order {
        app.update();
    } else {
        for soldier in soldiers {
            app.world_mut().commands().entity(soldier).change_state(&Patrol);
        }
        app.world_mut().flush();
    }

    let mut model = Model::new(asked, plot);
    model.run(from);
    let told = std::mem::take(&mut app.world_mut().resource_mut::<Reports>().0);
    assert_eq!(told, model.reports, "{from:?}, {asked:?}, {plot:?}");
    let mut messages = app.world_mut().resource_mut::<Messages<StateChanged<Soldier>>>();
    let place = |of: Entity| soldiers.iter().position(|soldier| *soldier == of).expect("it is one of the three");
    let messages: Vec<usize> = messages.drain().map(|change| place(change.entity)).collect();
    assert_eq!(messages, model.messages, "{from:?}, {asked:?}, {plot:?}");
    for (soldier, modeled) in soldiers.into_iter().zip(model.soldiers) {
        let there = app.world().get_entity(soldier).ok();
        let marks = there.map(|soldier| [soldier.contains::<InState<Idle>>(), soldier.contains::<InState<Patrol>>()]);
        assert_eq!(marks, modeled.lives.then_some(modeled.marks), "{from:?}, {asked:?}, {plot:?}");
    }
    app.update();
}

#[test]
fn an_observer_may_take_away_any_entity_machine_or_owner_whatever_else_is_registered() {
    for asked in Asked::all() {
        for when in TOLD {
            let is_told = match when {
                Told::Marked(_) | Told::Unmarked(_) => asked.markers,
                Told::Exited | Told::Entered => asked.triggers,
                Told::Changed => asked.events,
            };
            if !is_told {
                continue;
            }
            for deed in DEEDS {
                for victim in 0..3 {
                    for from in [From::Pass, From::ParallelPass, From::Commands] {
                        if asked.name && !matches!(from, From::Pass) {
                            // No notification reports the name, so one test of it is enough.
                            continue;
                        }
                        check(asked, Plot { when, deed, victim, is_done: false }, from);
                    }
                }
            }
        }
    }
}
