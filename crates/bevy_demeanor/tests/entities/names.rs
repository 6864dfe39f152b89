//! The prelude's names, beside Bevy's.

use std::collections::HashSet;

/// Each name of the prelude is used through a glob import, beside the preludes of all of Bevy's crates that this crate uses. If
/// Bevy had the same name, the compiler would report an ambiguity.
mod beside_bevys {
    #![expect(unused_imports, reason = "a glob is there for what it might hide")]

    use bevy_app::prelude::*;
    use bevy_demeanor::prelude::*;
    use bevy_ecs::prelude::*;
    #[cfg(feature = "reflect")]
    use bevy_reflect::prelude::*;
    use bevy_state::prelude::*;
    use bevy_time::prelude::*;

    #[derive(Component, Owner)]
    #[cfg_attr(feature = "reflect", derive(TypePath))]
    #[owner(on_change = Guard::told, after_change = Guard::told, changes = WhenTold)]
    struct Guard(bool);

    impl Guard {
        fn told(&mut self, change: &Change<'_, Self>, _: &mut Cx<'_, Self>) {
            self.0 = change.is_taken();
        }
    }

    #[derive(bevy_ecs::system::SystemParam, SharedParam)]
    struct Nothing;

    struct Idle;
    impl MachineState<Guard> for Idle {
        fn update(&self, _: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut Cx<'_, Guard>) {}
    }

    #[expect(clippy::type_complexity, reason = "a system's parameters")]
    fn system(
        _: Query<(&Machine<Guard>, Option<&InState<Idle>>, Option<&InState<Idle, InSparseSet>>)>,
        _: MessageReader<StateChanged<Guard>>,
        mut commands: Commands,
        guards: Query<Entity, With<Machine<Guard>>>,
    ) {
        for guard in &guards {
            MachineCommands::change_state::<Guard>(&mut commands.entity(guard), &Idle);
        }
        commands.queue(Machines::<Guard>::broadcast(()));
    }

    fn observe_enter(_: On<Entered<Idle>>) {}
    fn observe_exit(_: On<Exited<Idle>>) {}

    fn names<T: EntityOwner + ParallelOwner>(to: impl IntoState<Guard>) {
        let _: StateRef<Guard> = to.into_state();
        let _: [OwnerChanges; 2] = [T::CHANGES, Guard::CHANGES];
        let _: (Cause, NextWake) = (Cause::Start, StateMachine::<Guard>::new(&Idle).next_wake());
        let _: Option<EntityContext<'_, Guard>> = None;
        let _ = |mut cx: EntityContext<'_, Guard>| {
            <EntityContext<'_, Guard> as CallbackContext<Guard>>::lend(&mut cx, |_| ());
        };
        let _ = <Nothing as SharedParam>::share;
        #[cfg(feature = "reflect")]
        let _: Option<CurrentState<Guard>> = None;
        #[cfg(feature = "serialize")]
        let _: Option<StateBook<Guard>> = None;
    }

    #[test]
    fn no_name_of_the_prelude_is_one_of_bevys() {
        names::<Guard>(&Idle);
        let mut app = App::new();
        app.add_plugins(TaskPoolPlugin::default());
        AppExtMachines::add_state_machine_with(&mut app, StateMachinePlugin::<Guard>::new().with_change_messages());
        app.add_systems(Update, system.in_set(MachineSet::Exit));
        for condition in [any_in_state::<Idle>.into_configs_of(), any_machine_in::<Guard, Idle>.into_configs_of()] {
            app.add_systems(Update, condition);
        }
        app.add_systems(Update, (|| {}).run_if(every_machine_in::<Guard, Idle>).run_if(any_machine_changed::<Guard>));
        app.add_observer(observe_enter).add_observer(observe_exit);
        app.update();
    }

    /// A condition, as a system that ignores its result.
    trait IntoConfigsOf<M> {
        fn into_configs_of(self) -> bevy_ecs::schedule::ScheduleConfigs<bevy_ecs::system::ScheduleSystem>;
    }

    impl<M, C: SystemCondition<M>> IntoConfigsOf<M> for C {
        fn into_configs_of(self) -> bevy_ecs::schedule::ScheduleConfigs<bevy_ecs::system::ScheduleSystem> {
            (|| {}).run_if(self)
        }
    }
}

/// Returns the names that a file exports.
fn exports(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter_map(|line| line.strip_prefix("pub use ")).flat_map(|path| {
        let list = path.trim_end_matches(';').rsplit("::").next().unwrap_or_default();
        let names = list.trim_matches(['{', '}']).split(',');
        names.map(|name| name.rsplit(" as ").next().unwrap_or_default().trim())
    })
}

#[test]
fn the_program_with_both_preludes_uses_every_public_name() {
    let program = include_str!("../../../../tests/bevy_window/src/main.rs");
    let uses = |line: &&str| !["//", "use "].iter().any(|start| line.trim_start().starts_with(start));
    let code: Vec<&str> = program.lines().filter(uses).collect();
    let code = code.join("\n");
    let words: HashSet<&str> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let of_the_prelude: Vec<&str> = exports(include_str!("../../src/prelude.rs")).collect();
    let others: Vec<&str> = exports(include_str!("../../src/lib.rs")).collect();
    assert!(of_the_prelude.contains(&"LoadedDefinitions") && others.contains(&"SendTo"), "{others:?}");
    let missing: Vec<&str> = of_the_prelude.into_iter().chain(others).filter(|name| !words.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
