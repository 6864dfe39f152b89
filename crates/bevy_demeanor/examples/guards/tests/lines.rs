//! Counts the lines of the game, and how many of them are glue.
//!
//! Lines of code are lines that are neither blank nor comments, also those of the file of the cameras. Glue is every line that contains one of the words below: lines
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
    let is_comment = |line: &str| line.starts_with("//") || line.starts_with("# ");
    let is_code = |line: &&str| !line.trim().is_empty() && !is_comment(line.trim_start());
    let lines = || files.iter().flat_map(|file| file.lines()).filter(is_code);
    (lines().count(), lines().filter(|line| GLUE.iter().any(|word| line.contains(word))).count())
}

#[test]
fn both_versions_have_as_many_lines_as_the_readme_says() {
    let (lib, main, yard) =
        (include_str!("../src/lib.rs"), include_str!("../src/main.rs"), include_str!("../src/yard.rs"));
    // Each version has its own modules, and both have the yard and `main`.
    let lib: String = lib
        .lines()
        .filter(|line| ["//", "pub mod level;", "pub mod yard;"].iter().any(|start| line.starts_with(start)))
        .map(|line| line.to_owned() + "\n")
        .collect();
    let machines = [
        include_str!("../src/level.rs"),
        include_str!("../src/guards.rs"),
        include_str!("../src/camera.rs"),
        include_str!("../src/player.rs"),
        include_str!("../assets/camera.fsm.toml"),
        "mod camera;\nmod guards;\nmod player;\n",
    ];
    let by_hand = [
        include_str!("../src/by_hand/mod.rs"),
        include_str!("../src/by_hand/guards.rs"),
        include_str!("../src/by_hand/camera.rs"),
        include_str!("../src/by_hand/player.rs"),
    ];
    // The main program for the level by hand needs no plugin for it, and saves the clock.
    let main_by_hand = main
        .replace("use bevy_demeanor::StateMachinePlugin;\n", "use bevy_time::prelude::*;\n")
        .replace("StateMachinePlugin::new().in_parallel(), ", "")
        .replace("into_file(&file)", "into_file(&file).include_resource::<Time<Fixed>>()");
    let shared = lines(&[&lib, main, yard]).0;
    let machines = lines(&[&[lib.as_str(), main, yard][..], &machines].concat());
    let by_hand = lines(&[&[lib.as_str(), &main_by_hand, yard][..], &by_hand].concat());
    let readme = include_str!("../../../README.md");
    let row = |start: &str, (machines, by_hand)| {
        let row = readme.lines().find(|line| line.starts_with(start)).expect("the table has the row");
        assert!(row.ends_with(&format!("| {machines} | {by_hand} |")), "{row}: {machines}, {by_hand}");
    };
    row("| lines of the whole program", (machines.0, by_hand.0));
    row("| of which glue", (machines.1, by_hand.1));
    row("| of which both share", (shared, shared));
    let page = include_str!("../../../docs/coming-from.md");
    let stated = format!("takes {} lines with it, and {} with states", by_hand.0, machines.0);
    assert!(page.contains(&stated), "docs/coming-from.md does not say that the game {stated}");
}
