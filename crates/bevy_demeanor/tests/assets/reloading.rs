//! Files that are saved while machines run on them.

use bevy_asset::Assets;
use bevy_demeanor::demeanor::definition::Files;
use bevy_demeanor::prelude::*;

use crate::stage::{Guard, PATROL, Stage, Told, lines_with, listen};

#[test]
fn guards_keep_their_state_by_name_without_a_callback_and_do_what_the_file_says_now() {
    let mut stage = Stage::new();
    stage.save("kept.fsm.toml", PATROL);
    let file = stage.load("kept.fsm.toml");
    stage.until_loaded(&file);
    let guard = stage.guard(&file);
    stage.ticks(3);
    stage.take_trace(guard);
    let definition = stage.definition(&file);
    stage.save("kept.fsm.toml", &PATROL.replace("behavior = 'walk'", "behavior = 'run'"));
    stage.until_reloaded(&file);
    stage.take_trace(guard);
    stage.ticks(1);
    assert_eq!(stage.take_trace(guard), ["run update"]);
    assert_eq!(stage.state(guard), "walk");
    assert_eq!(stage.definition(&file), definition);
    stage.app.world_mut().commands().entity(guard).send::<Guard>(Told::Noise);
    stage.ticks(1);
    assert_eq!(stage.take_trace(guard), ["run exit", "stand enter", "stand update"]);
}

#[test]
fn guards_whose_state_is_gone_change_to_the_initial_one() {
    let mut stage = Stage::new();
    stage.save("gone_state.fsm.toml", PATROL);
    let file = stage.load("gone_state.fsm.toml");
    stage.until_loaded(&file);
    let guard = stage.guard(&file);
    stage.ticks(3);
    stage.save("gone_state.fsm.toml", "initial = 'run'\nstates.run = { behavior = 'run', final = true }\n");
    stage.until(|world| world.get::<Machine<Guard>>(guard).unwrap().is_in_named("run"));
    let trace = stage.take_trace(guard);
    assert_eq!(trace[trace.len() - 2..], ["walk exit", "run enter"]);
}

#[test]
fn guards_who_sleep_look_at_what_the_file_says_now() {
    let file = |after: u32| {
        format!(
            "initial = 'rest'\n[states.rest]\nexits = [{{ to = 'up', after = {after} }}]\n[states.up]\nfinal = true\n"
        )
    };
    let mut stage = Stage::new();
    stage.save("sleep.fsm.toml", &file(1000));
    let handle = stage.load("sleep.fsm.toml");
    stage.until_loaded(&handle);
    let guard = stage.guard(&handle);
    stage.ticks(10);
    assert!(stage.app.world().get::<Machine<Guard>>(guard).unwrap().is_asleep());
    stage.save("sleep.fsm.toml", &file(5));
    stage.until_reloaded(&handle);
    stage.ticks(1);
    assert_eq!(stage.state(guard), "up");
}

#[test]
fn a_file_of_which_only_one_machine_is_in_use_is_reloaded_as_well() {
    listen();
    let machine =
        |name: &str| format!("[machines.{name}]\n{}", PATROL.replace("[states.", &format!("[machines.{name}.states.")));
    let mut stage = Stage::new();
    stage.save("label.fsm.toml", &[machine("imp"), machine("baron")].concat());
    let file = stage.load("label.fsm.toml#baron");
    stage.until_loaded(&file);
    let guard = stage.guard(&file);
    stage.ticks(1);
    stage.take_trace(guard);
    let run = [machine("imp"), machine("baron")].concat().replace("behavior = 'stand'", "behavior = 'run'");
    stage.save("label.fsm.toml", &run);
    stage.until_reloaded(&file);
    stage.take_trace(guard);
    stage.ticks(1);
    assert_eq!(stage.take_trace(guard)[0], "run update");

    // A machine that is no longer in the file stays as it was.
    stage.save("label.fsm.toml", &machine("imp"));
    stage.until(|_| !lines_with("machine baron is no longer in label.fsm.toml").is_empty());
    stage.take_trace(guard);
    stage.ticks(1);
    assert_eq!(stage.take_trace(guard), ["run update", "run exit", "walk enter"]);
}

#[test]
fn who_waits_for_a_machine_that_the_file_does_not_have_gets_it_when_the_file_does() {
    let machine = |name: &str| {
        format!("[machines.{name}]\ninitial = 'stand'\nstates.stand = {{ behavior = '{name}', final = true }}\n")
    };
    let files = |machines: &[&str]| {
        let text: String = machines.iter().map(|name| machine(name)).collect();
        DefinitionFile::new(Files::new("built in", text))
    };
    listen();
    let mut stage = Stage::new();
    let mut assets = stage.app.world_mut().resource_mut::<Assets<DefinitionFile>>();
    let walk = assets.add(files(&["walk"]));
    let run = assets.add(files(&["walk"]).with_machine("run"));
    let guards = [stage.guard(&walk), stage.guard(&run)];
    stage.ticks(2);
    assert_eq!(guards.map(|guard| stage.state(guard)), ["stand", ""]);
    let mut assets = stage.app.world_mut().resource_mut::<Assets<DefinitionFile>>();
    assets.insert(&run, files(&["walk", "run"]).with_machine("run")).unwrap();
    stage.ticks(2);
    assert_eq!(stage.take_trace(guards[1]), ["run enter", "run update"]);
    assert_eq!(lines_with("built in has no machine `run`").len(), 1);
}

#[test]
fn a_linked_file_that_is_saved_has_the_file_reloaded() {
    let mut stage = Stage::new();
    let round = |behavior: &str| format!("initial = 'go'\nstates.go = {{ behavior = '{behavior}', final = true }}\n");
    stage.save("posts/linking.fsm.toml", "initial = 'patrol'\nstates.patrol.machine = 'rounds/short.fsm.toml'\n");
    stage.save("posts/rounds/short.fsm.toml", &round("walk"));
    let file = stage.load("posts/linking.fsm.toml");
    stage.until_loaded(&file);
    let guard = stage.guard(&file);
    stage.ticks(1);
    assert_eq!(stage.take_trace(guard), ["walk enter", "walk update"]);
    assert_eq!(stage.state(guard), "patrol.go");
    stage.save("posts/rounds/short.fsm.toml", &round("run"));
    stage.until_reloaded(&file);
    stage.take_trace(guard);
    stage.ticks(1);
    assert_eq!(stage.take_trace(guard), ["run update"]);
}

/// Only this thread's allocations are counted.
#[cfg(not(feature = "multi_threaded"))]
#[test]
fn a_thousand_reloads_take_no_more_memory_than_a_hundred() {
    let mut stage = Stage::new();
    stage.save("often.fsm.toml", PATROL);
    let file = stage.load("often.fsm.toml");
    stage.until_loaded(&file);
    let guards: Vec<_> = (0..3).map(|_| stage.guard(&file)).collect();
    let mut reload = |times: u32| {
        let info = allocation_counter::measure(|| {
            for nth in 0..times {
                // Each version renames a state that no guard is in.
                stage.save(
                    "often.fsm.toml",
                    &format!("{PATROL}\n[states.new_{}]\nentry = true\nfinal = true\n", nth % 7),
                );
                stage.until_reloaded(&file);
                stage.app.update();
                for guard in &guards {
                    stage.take_trace(*guard);
                }
            }
        });
        info.bytes_current
    };
    reload(100);
    let grown = reload(1000);
    assert!(grown < 10_000, "{grown} bytes more");
    assert_eq!(stage.app.world().resource::<Assets<DefinitionFile>>().len(), 1);
}

#[test]
fn who_sleeps_wakes_when_the_game_reloads_a_definition_without_any_assets() {
    use bevy_app::App;
    use bevy_demeanor::demeanor::definition::{Definition, Vocabulary};

    use crate::stage::Sheep;

    for plugin in [StateMachinePlugin::<Sheep>::new(), StateMachinePlugin::new().in_parallel()] {
        let file = |exit: &str| {
            format!("initial = 'graze'\nstates.graze.exits = [{{ to = 'run', {exit} }}]\nstates.run.final = true\n")
        };
        let definition = Definition::parse(&file("after = 1000"), &Vocabulary::new()).unwrap();
        let mut app = App::new();
        app.add_state_machine_with(plugin);
        let sheep = app.world_mut().spawn((Sheep, Machine::<Sheep>::from(definition.machine()))).id();
        let machine = |app: &App| app.world().get::<Machine<Sheep>>(sheep).unwrap().clone();
        app.update();
        app.update();
        assert!(machine(&app).is_asleep());
        definition.reload(&file("after = 0")).unwrap();
        app.update();
        assert!(machine(&app).is_in_named("run"));
    }
}
