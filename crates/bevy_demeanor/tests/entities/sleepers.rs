//! A pass does nothing for sleeping machines.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use bevy_app::{App, Update};
use bevy_demeanor::{
    CallbackContext, EntityContext, EntityOwner, Machine, MachineCommands, MachineSet, StateMachinePlugin,
};
use bevy_ecs::change_detection::ContiguousRef;
use bevy_ecs::prelude::*;
use demeanor::{Fsm, Owner, State};

/// Constructed at each call that is counted.
struct Counted<'a>(&'a Calls);

/// The counts of all calls that a pass can make for an entity.
#[derive(Resource, Default)]
struct Calls {
    visits: AtomicUsize,
    looks_at_the_clock: AtomicUsize,
    updates: AtomicUsize,
}

impl Calls {
    fn take(&self) -> [usize; 3] {
        [&self.visits, &self.looks_at_the_clock, &self.updates].map(|calls| calls.swap(0, Relaxed))
    }
}

macro_rules! bats {
    ($bat:ident, $storage:literal $(, $summary:meta)?) => {
        #[derive(Component, Default)]
        #[component(storage = $storage)]
        $(#[$summary])?
        struct $bat;

        impl Owner for $bat {
            type Context<'a> = Counted<'a>;
            type Message = ();

            fn now(cx: &Counted<'_>) -> f64 {
                cx.0.looks_at_the_clock.fetch_add(1, Relaxed);
                0.0
            }
        }

        impl EntityOwner for $bat {
            type Body = ();
            type Param = Res<'static, Calls>;
        }

        impl CallbackContext<$bat> for Counted<'_> {
            fn lend<R>(cx: &mut EntityContext<'_, $bat>, call: impl FnOnce(&mut Counted<'_>) -> R) -> R {
                cx.param.visits.fetch_add(1, Relaxed);
                call(&mut Counted(&cx.param))
            }
        }

        impl State<$bat> for Hang {
            fn update(&self, _: &mut $bat, _: &mut Fsm<'_, $bat>, cx: &mut <$bat as Owner>::Context<'_>) {
                cx.0.updates.fetch_add(1, Relaxed);
            }
        }
    };
}

struct Hang;

bats!(Bat, "Table");
bats!(Ghost, "SparseSet");
bats!(Fox, "Table", component(summary_tick));

/// Puts entities to sleep by a command. Returns the number of calls for them in two passes, and how many of them have one of
/// the two components marked as changed afterwards.
fn two_passes<T: EntityOwner + Default>(
    plugin: StateMachinePlugin<T>,
    entities: u32,
    command: fn(&mut EntityCommands<'_>),
) -> ([usize; 3], usize)
where
    Hang: State<T>,
{
    let mut app = App::new();
    app.init_resource::<Calls>();
    app.add_plugins(plugin);
    let bundles = (0..entities).map(|_| (T::default(), Machine::<T>::new(&Hang)));
    let entities: Vec<Entity> = app.world_mut().spawn_batch(bundles).collect();
    app.update();
    for entity in &entities {
        command(&mut app.world_mut().commands().entity(*entity));
    }
    app.world_mut().flush();
    let ticks = |app: &App| -> Vec<_> {
        let of = |entity: &Entity| {
            let entity = app.world().entity(*entity);
            let ticks = [entity.get_change_ticks::<T>(), entity.get_change_ticks::<Machine<T>>()];
            ticks.map(|ticks| ticks.unwrap().changed)
        };
        entities.iter().map(of).collect()
    };
    let before = ticks(&app);
    app.world().resource::<Calls>().take();
    app.update();
    app.update();
    let calls = app.world().resource::<Calls>().take();
    let changed = ticks(&app).iter().zip(before).filter(|(after, before)| *after != before).count();
    (calls, changed)
}

#[test]
fn a_pass_over_10_000_sleepers_calls_nothing_and_marks_nothing_as_changed() {
    for plugin in [StateMachinePlugin::<Bat>::new, || StateMachinePlugin::new().in_parallel()] {
        assert_eq!(two_passes(plugin(), 10_000, |bat| _ = bat.sleep::<Bat>()), ([0, 0, 0], 0));
        // Only the clock is read, because it may belong to the entity.
        let calls = [20_000, 20_000, 0];
        assert_eq!(two_passes(plugin(), 10_000, |bat| _ = bat.sleep_for::<Bat>(60.0)), (calls, 0));
        let (calls, changed) = two_passes(plugin(), 10_000, |bat| _ = bat.wake::<Bat>());
        assert_eq!((calls, changed), ([20_000, 0, 20_000], 10_000), "those awake");
    }
}

#[test]
fn owners_in_a_sparse_set_that_sleep_are_passed_over_too() {
    for plugin in [StateMachinePlugin::<Ghost>::new, || StateMachinePlugin::new().in_parallel()] {
        assert_eq!(two_passes(plugin(), 10, |ghost| _ = ghost.sleep::<Ghost>()), ([0, 0, 0], 0));
        assert_eq!(two_passes(plugin(), 10, |ghost| _ = ghost.wake::<Ghost>()), ([20, 0, 20], 10));
    }
}

#[test]
fn an_owners_summary_tick_tells_of_those_that_are_awake() {
    #[derive(Resource, Default)]
    struct Seen(Vec<Option<bool>>);

    for plugin in [StateMachinePlugin::<Fox>::new, || StateMachinePlugin::new().in_parallel()] {
        let mut app = App::new();
        app.init_resource::<Calls>();
        app.init_resource::<Seen>();
        app.add_plugins(plugin());
        app.add_systems(
            Update,
            (|foxes: Query<Ref<Fox>>, mut seen: ResMut<Seen>| {
                for table in foxes.contiguous_iter().unwrap() {
                    let (_, ticks) = ContiguousRef::split(table);
                    seen.0.push(ticks.summary_tick_is_changed());
                }
            })
            .in_set(MachineSet::Exit),
        );
        app.world_mut().spawn_batch((0..3).map(|_| (Fox, Machine::<Fox>::new(&Hang))));
        app.update();
        app.update();
        assert_eq!(app.world().resource::<Seen>().0, [Some(true), Some(true)]);
    }
}
