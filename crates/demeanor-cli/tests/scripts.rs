//! `demeanor run` on a file with scripts.

use running::Folder;

mod running;

const FILE: &str = "
initial = 'walk'
[states.walk]
script = 'walk.rhai'
exits = [{ to = 'rest', when = 'tired' }]
[states.rest]
final = true
";

const SCRIPT: &str =
    "fn update() { this.steps = this.steps + 1; if this.steps > this.limit { change_state(\"rest\"); } }";

fn folder(name: &str) -> Folder {
    Folder::new(name).with("guard.toml", FILE).with("walk.rhai", SCRIPT)
}

#[test]
fn without_a_vocabulary_a_script_knows_the_values_that_are_set() {
    let arguments = ["run", "guard.toml", "--set", "steps=7", "--set", "limit=9", "--set", "tired=false"];
    let (code, told, complained) = folder("scripts_set").run(&arguments);
    assert_eq!((code, complained.as_str()), (0, ""));
    let lines: Vec<_> = told.lines().map(str::trim).collect();
    assert_eq!(
        lines,
        [
            "0.00 s  begins in walk",
            "0.20 s  walk -> rest: by a script",
            "10.00 s  ends in rest, after 9.80 s in it",
            "no exits"
        ]
    );
}

#[test]
fn without_a_vocabulary_it_is_said_where_the_values_of_a_script_come_from() {
    let (code, told, complained) = folder("scripts_unset").run(&["run", "guard.toml", "--set", "steps=7"]);
    assert_eq!((code, told.as_str()), (1, ""));
    assert!(complained.contains("`limit` is not a value of the game"), "{complained}");
    let last = "without --vocabulary, the values of scripts must be given with --set or --values\n";
    assert!(complained.ends_with(last), "{complained}");
}

/// An exit was explained with other random numbers than those with which it was taken, and then `run` named a script as the cause.
#[test]
fn a_change_that_depends_on_a_chance_is_not_made_by_a_script() {
    let file = "
initial = 'walk'
states.walk.exits = [{ to = 'choose', after = 1 }]
states.choose.exits = [
    { to = 'shoot', always = true, when = 'chance(0.5)' },
    { to = 'rest', always = true, when = 'chance(0.5)' },
    { to = 'walk', always = true },
]
states.shoot.exits = [{ to = 'walk', after = 1 }]
states.rest.exits = [{ to = 'walk', after = 1 }]
";
    let (code, told, complained) =
        Folder::new("by_chance").with("guard.toml", file).run(&["run", "guard.toml", "--seconds", "30"]);
    assert_eq!((code, complained.as_str()), (0, ""));
    assert!(told.contains("s  choose -> rest: always [chance(0.5)]\n"), "{told}");
    assert!(!told.contains("by a script"), "{told}");
}

/// An exit that leads back names no state, so `run` took the change for one by the game's code.
#[test]
fn a_pop_on_entry_is_explained_by_its_exit() {
    let file = "
initial = 'walk'
states.walk.exits = [{ push = 'look', after = 1 }]
states.look.exits = [{ pop = true, always = true, when = 'dark' }]
";
    let run = ["run", "guard.toml", "--seconds", "1", "--set", "dark=true"];
    let (code, told, complained) = Folder::new("pop_on_entry").with("guard.toml", file).run(&run);
    assert_eq!((code, complained.as_str()), (0, ""));
    assert!(told.contains("s  look -> walk: pop always [dark]\n"), "{told}");
}
