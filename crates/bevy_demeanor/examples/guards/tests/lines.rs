//! How long the game is, and how much of that is glue.
//!
//! Lines of code are those that are not blank and no comment. Glue is every line with one of the words below: what registers
//! something with Bevy or with the plugin, and what says of a type that it owns a machine, can be saved, or needs another type.
//! What a state takes, such as `struct Chase;`, `impl MachineState<Guard> for Chase` and `parent`, is the game.

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

/// Counts the lines of code of some files, and those of glue among them.
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
    // The same program with the guards by hand, which have no plugin, and whose clock is saved.
    let main = main
        .replace("use bevy_demeanor::StateMachinePlugin;\n", "use bevy_time::prelude::*;\n")
        .replace("StateMachinePlugin::new().in_parallel()", "")
        .replace("into_file(&file)", "into_file(&file).include_resource::<Time<Fixed>>()");
    let by_hand = lines(&[lib, &main, yard, include_str!("../src/by_hand.rs")]);
    assert_eq!((machines, by_hand), ((230, 19), (228, 9)));
}
