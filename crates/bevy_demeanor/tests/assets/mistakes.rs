//! Files with mistakes: no part of them runs, and each is logged once.

use bevy_asset::AssetServer;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;

use crate::stage::{Guard, PATROL, Stage, lines_with, listen};

#[test]
fn a_mistake_is_logged_once_as_it_is_drawn_by_check_and_the_machines_begin_without_it() {
    listen();
    let mut stage = Stage::new();
    stage.save("helth.fsm.toml", "initial = 'stand'\n[states.stand]\nexits = [{ to = 'stand', when = 'helth < 5' }]\n");
    let file = stage.load("helth.fsm.toml");
    let guards = [stage.guard(&file), stage.guard(&file)];
    stage.until_loaded(&file);
    stage.ticks(3);
    assert_eq!(guards.map(|guard| stage.state(guard)), ["", ""]);
    let report = "ERROR: helth.fsm.toml cannot be used for assets::stage::Guard, its machines do not start:
unknown-value

  × unknown value `helth`
   ╭─[helth.fsm.toml:3:34]
 2 │ [states.stand]
 3 │ exits = [{ to = 'stand', when = 'helth < 5' }]
   ·                                  ──┬──
   ·                                    ╰── no value that the game offers
   ╰────
  help: did you mean `health`?

";
    assert_eq!(lines_with("helth.fsm.toml"), [report]);
    let problems = stage.app.world().resource::<LoadedDefinitions<Guard>>().problems(&file).map(ToString::to_string);
    assert_eq!(problems.unwrap(), "helth.fsm.toml:3:34: error: unknown value `helth`: did you mean `health`?");

    stage.save("helth.fsm.toml", PATROL);
    stage.until_reloaded(&file);
    stage.ticks(1);
    assert_eq!(guards.map(|guard| stage.state(guard)), ["stand", "stand"]);
    assert!(stage.app.world().resource::<LoadedDefinitions<Guard>>().problems(&file).is_none());
}

#[test]
fn a_file_that_is_broken_while_machines_run_on_it_changes_nothing() {
    listen();
    let mut stage = Stage::new();
    stage.save("broken.fsm.toml", PATROL);
    let file = stage.load("broken.fsm.toml");
    stage.until_loaded(&file);
    let guard = stage.guard(&file);
    stage.ticks(1);
    stage.save("broken.fsm.toml", &PATROL.replace("to = 'walk'", "to = 'wolk'"));
    stage.until_reloaded(&file);
    stage.ticks(2);
    assert_eq!(stage.state(guard), "walk");
    let lines = lines_with("broken.fsm.toml");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("its previous content stays in use:\n") && lines[0].contains("did you mean `walk`?"),
        "{lines:?}"
    );
    assert!(stage.app.world().resource::<LoadedDefinitions<Guard>>().problems(&file).is_some());
}

#[test]
fn a_file_that_is_no_toml_fails_to_load_which_is_logged_once_for_all_handles() {
    listen();
    let mut stage = Stage::new();
    stage.save("quote.fsm.toml", "initial = 'stand\n[machines.imp]\n");
    let file = stage.load("quote.fsm.toml");
    let imp = stage.load("quote.fsm.toml#imp");
    let guards = [stage.guard(&file), stage.guard(&imp)];
    stage.until(|world| {
        let server = world.resource::<AssetServer>();
        server.load_state(&file).is_failed() && server.load_state(&imp).is_failed()
    });
    stage.ticks(3);
    let lines = lines_with("quote.fsm.toml");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains(" could not be loaded:\nsyntax\n\n  × a quote is missing"), "{lines:?}");

    stage.save("quote.fsm.toml", &format!("[machines.imp]\n{}", PATROL.replace("[states.", "[machines.imp.states.")));
    stage.until_loaded(&file);
    stage.until_loaded(&imp);
    stage.ticks(1);
    assert_eq!(guards.map(|guard| stage.state(guard)), ["stand", "stand"]);
}

#[test]
fn bytes_that_are_no_text_are_reported_as_such() {
    listen();
    let mut stage = Stage::new();
    stage.save_bytes("bytes.fsm.toml", b"initial = '\xff'\n");
    let file = stage.load("bytes.fsm.toml");
    let is_failed = |world: &World| world.resource::<AssetServer>().load_state(&file).is_failed();
    stage.until(is_failed);
    stage.ticks(1);
    let lines = lines_with("bytes.fsm.toml");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("the file is not UTF-8 text"), "{lines:?}");
}
