//! Scripts beside the files, read by the asset server.

use crate::stage::{Stage, lines_with, listen};

fn limping(script: &str) -> String {
    format!(
        "initial = 'limp'\n[states.limp]\nscript = '{script}'\nexits = [{{ to = 'lie', when = {{ script = 'low.rhai' }} }}]\n[states.lie]\nfinal = true\n"
    )
}

#[test]
fn scripts_are_read_from_the_source_of_the_file_and_reloaded_when_they_are_saved() {
    let mut stage = Stage::new();
    stage.save("posts/limp.fsm.toml", &limping("scripts/limp.rhai"));
    stage.save("posts/scripts/limp.rhai", "fn update() { this.speed = this.health / 50.0; }");
    stage.save("posts/low.rhai", "this.health < 10");
    let file = stage.load("posts/limp.fsm.toml");
    stage.until_loaded(&file);
    let guard = stage.guard(&file);
    stage.ticks(1);
    assert_eq!(stage.speed(guard).to_bits(), 2_f64.to_bits());
    stage.save("posts/scripts/limp.rhai", "fn update() { this.speed = 7.0; }");
    stage.until_reloaded(&file);
    stage.ticks(1);
    assert_eq!(stage.speed(guard).to_bits(), 7_f64.to_bits());
    stage.save("posts/low.rhai", "true");
    stage.until_reloaded(&file);
    stage.ticks(1);
    assert_eq!(stage.state(guard), "lie");
}

#[test]
fn a_mistake_in_a_script_is_shown_in_the_script_and_mended_there() {
    listen();
    let mut stage = Stage::new();
    stage.save("posts/torn.fsm.toml", &limping("torn.rhai"));
    stage.save("posts/torn.rhai", "fn update() { this.speed = ; }");
    stage.save("posts/low.rhai", "false");
    let file = stage.load("posts/torn.fsm.toml");
    stage.until_loaded(&file);
    let guard = stage.guard(&file);
    stage.ticks(1);
    assert_eq!(stage.state(guard), "");
    let lines = lines_with("torn.fsm.toml");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("╭─[posts/torn.rhai:1:28]"), "{lines:?}");
    stage.save("posts/torn.rhai", "fn update() { this.speed = 1.0; }");
    stage.until_reloaded(&file);
    stage.ticks(1);
    assert_eq!(stage.state(guard), "limp");
}

#[test]
fn scripts_outside_of_the_files_folder_are_refused_and_not_read() {
    listen();
    for (nth, outside) in ["../secret.rhai", "/secret.rhai", "scripts/../../secret.rhai"].into_iter().enumerate() {
        let path = format!("posts/outside{nth}.fsm.toml");
        let mut stage = Stage::new();
        stage.save(&path, &limping(outside));
        stage.save("secret.rhai", "fn update() { }");
        stage.save("posts/low.rhai", "false");
        let file = stage.load(&path);
        stage.until_loaded(&file);
        let guard = stage.guard(&file);
        stage.ticks(1);
        assert_eq!(stage.state(guard), "");
        let lines = lines_with(&path);
        assert_eq!(lines.len(), 1, "{lines:?}");
        let why = format!("script `{outside}`: it leads out of the definition's folder");
        assert!(lines[0].contains(&why), "{lines:?}");
    }
}

#[test]
fn a_script_that_is_not_there_is_a_mistake_of_the_file() {
    listen();
    let mut stage = Stage::new();
    stage.save("nowhere.fsm.toml", &limping("nowhere.rhai"));
    stage.save("low.rhai", "false");
    let file = stage.load("nowhere.fsm.toml");
    stage.until_loaded(&file);
    stage.guard(&file);
    stage.ticks(1);
    let lines = lines_with("nowhere.fsm.toml");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("script `nowhere.rhai`: Path not found: nowhere.rhai"), "{lines:?}");
}
