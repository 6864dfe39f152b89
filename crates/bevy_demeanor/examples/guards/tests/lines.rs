//! Counts the lines of the game, and how many of them are glue.
//!
//! Lines of code are lines that are neither blank nor comments. Glue is every line that contains one of the words below: lines
//! that register something with Bevy or with the plugin, and lines that say that a type owns a machine, can be saved, or needs
//! another type. Lines that belong to a state, such as `struct Chase;`, `impl MachineState<Guard> for Chase` and `parent`, are
//! the game.

const GLUE: [&str; 12] = [
    "bevy_demeanor",
    "Owner",
    "#[owner",
    "#[reflect",
    "#[require",
    "StateBook",
    "book.with",
    "StateMachinePlugin",
    "add_plugins",
    "add_observer",
    "add_systems",
    "insert_resource",
];

/// Counts the lines of code of some files, and the lines of glue among them.
fn lines(files: &[&str]) -> (usize, usize) {
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let lines = || files.iter().flat_map(|file| file.lines()).filter(is_code);
    (lines().count(), lines().filter(|line| GLUE.iter().any(|word| line.contains(word))).count())
}

#[test]
fn the_game_with_machines_is_as_long_as_the_one_by_hand() {
    let (lib, main, yard) =
        (include_str!("../src/lib.rs"), include_str!("../src/main.rs"), include_str!("../src/yard.rs"));
    let machines = lines(&[lib, main, yard, include_str!("../src/guards.rs")]);
    // The main program for the guards by hand needs no plugin for them, and saves their clock.
    let main = main
        .replace("use bevy_demeanor::StateMachinePlugin;\n", "use bevy_time::prelude::*;\n")
        .replace("StateMachinePlugin::new().in_parallel()", "")
        .replace("into_file(&file)", "into_file(&file).include_resource::<Time<Fixed>>()");
    let by_hand = lines(&[lib, &main, yard, include_str!("../src/by_hand.rs")]);
    assert_eq!((machines, by_hand), ((230, 19), (228, 9)));
}
