//! Renaming a state.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::editor::{Editor, cursor, edited};

/// Returns the file after the state at its `|` has been renamed to `new`; or why it cannot be renamed.
fn renamed(text: &str, new: &str) -> Result<String, String> {
    let mut editor = Editor::new();
    let (plain, line, column) = cursor(text);
    editor.open("guard.toml", &plain);
    let edit = editor.ask_at("textDocument/rename", "guard.toml", line, column, &json!({ "newName": new }));
    let uri = editor.uri("guard.toml");
    editor.close();
    edit.map(|edit| edited(&plain, &edit["changes"][&uri]))
}

const FILE: &str = "initial = \"fight\"
[states.fight]
initial = 'a|im'
exits = [{ to = \"hunt\", when = \"time_in(aim) > 3 and not in(hunt.aim)\" }]
[states.'fight.aim']
[[states.'fight.aim'.exits]]
to = 'hunt'
when = '''
  not in(aim)'''
[states.hunt]
initial = 'aim'
[states.'hunt.aim']
behavior = { name = 'walk', speed = 3, then = 'fight.aim' }
";

#[test]
fn a_state_is_renamed_wherever_it_is_named_and_nowhere_else() {
    let expected = "initial = \"fight\"
[states.fight]
initial = 'look'
exits = [{ to = \"hunt\", when = \"time_in(look) > 3 and not in(hunt.aim)\" }]
[states.'fight.look']
[[states.'fight.look'.exits]]
to = 'hunt'
when = '''
  not in(look)'''
[states.hunt]
initial = 'aim'
[states.'hunt.aim']
behavior = { name = 'walk', speed = 3, then = 'fight.look' }
";
    assert_eq!(renamed(FILE, "look"), Ok(expected.to_owned()));
}

#[test]
fn the_names_of_states_within_it_are_written_again() {
    let file = FILE.replace("a|im", "aim").replace("[states.fight]", "[states.f|ight]");
    let expected = "initial = \"take aim\"
[states.\"take aim\"]
initial = 'aim'
exits = [{ to = \"hunt\", when = \"time_in(aim) > 3 and not in(hunt.aim)\" }]
[states.'take aim.aim']
[[states.'take aim.aim'.exits]]
to = 'hunt'
when = '''
  not in(aim)'''
[states.hunt]
initial = 'aim'
[states.'hunt.aim']
behavior = { name = 'walk', speed = 3, then = 'take aim.aim' }
";
    assert_eq!(renamed(&file, "take aim"), Ok(expected.to_owned()));
}

#[test]
fn a_name_is_written_in_conditions_with_the_quotes_that_it_needs() {
    let file = "initial = 'a'\n[states.a]\nexits = [{ to = 'b', when = \"in(a)\" }, { to = 'b', when = 'time_in(a) > 1' }]\n[states.|b]\nenter_when = \"not in(b)\"\n[states.c]\nexits = [{ to = 'b', when = 'in(b) and in(\"b\")' }]\nentry = true\n";
    let expected = "initial = 'a'\n[states.a]\nexits = [{ to = 'be it', when = \"in(a)\" }, { to = 'be it', when = 'time_in(a) > 1' }]\n[states.\"be it\"]\nenter_when = \"not in('be it')\"\n[states.c]\nexits = [{ to = 'be it', when = 'in(\"be it\") and in(\"be it\")' }]\nentry = true\n";
    assert_eq!(renamed(file, "be it"), Ok(expected.to_owned()));
}

#[test]
fn a_name_that_is_taken_or_is_none_is_refused() {
    let hunt = FILE.replace("a|im", "aim").replace("[states.hunt]", "[states.hu|nt]");
    assert_eq!(renamed(&hunt, "fight"), Err("there is a state `fight` already".into()));
    let bad = "a name has no spaces at its ends, no control characters, and is not empty";
    for name in ["", " ", "a ", "a\nb"] {
        assert_eq!(renamed(FILE, name), Err(bad.into()), "{name:?}");
    }
    assert_eq!(renamed(FILE, "$previous"), Err("`$previous` means the previous state".into()));
    let nothing = FILE.replace("a|im", "aim").replace("[states.hunt]", "[sta|tes.hunt]");
    assert_eq!(renamed(&nothing, "x"), Err("there is no name of a state here".into()));
}

#[test]
fn a_name_with_which_another_one_would_mean_something_else_is_refused() {
    let file = "initial = 'rest'\n[states.rest]\nexits = [{ to = 'fight' }]\n[states.fight]\ninitial = 'aim'\nexits = [{ to = 'rest', after = 3 }]\n[states.a|im]\nparent = 'fight'\n";
    assert_eq!(renamed(file, "rest"), Err("there is a state `rest` already".into()));
    let file = file.replace("states.a|im]\nparent = 'fight'", "states.'fight.a|im']");
    assert_eq!(renamed(FILE, "hunt.aim"), Err("`hunt.aim` would then mean another state".into()));
    assert_eq!(renamed(&file, "rest"), Err("`rest` would then mean another state".into()));
    let file = "initial = 'rest'\n[states.rest]\nexits = [{ to = 'look', when = 'in(look)' }]\n[states.l|ook]\n";
    assert_eq!(renamed(file, "it's \"so\""), Err("`it's \"so\"` cannot be written in a condition".into()));
    assert!(renamed(file, "rest.look").is_err());
}

#[test]
fn machines_that_are_alike_are_renamed_together() {
    let file = "[machines.imp]\ninitial = 'stand'\n[machines.imp.states.stand]\nexits = [{ to = 'chase', after = 3 }]\n[machines.imp.states.chase]\nentry = true\n[machines.imp.states.roar]\nentry = true\n[machines.baron]\nlike = 'imp'\n[machines.baron.states.ch|ase]\nfinal = true\n[machines.baron.states.roar]\nfinal = true\n[machines.other]\ninitial = 'chase'\nstates.chase.final = true\n";
    let expected = "[machines.imp]\ninitial = 'stand'\n[machines.imp.states.stand]\nexits = [{ to = 'hunt', after = 3 }]\n[machines.imp.states.hunt]\nentry = true\n[machines.imp.states.roar]\nentry = true\n[machines.baron]\nlike = 'imp'\n[machines.baron.states.hunt]\nfinal = true\n[machines.baron.states.roar]\nfinal = true\n[machines.other]\ninitial = 'chase'\nstates.chase.final = true\n";
    assert_eq!(renamed(file, "hunt"), Ok(expected.to_owned()));
    // No text names both states, but one replaces the other.
    let file = file.replace("ch|ase", "chase").replace("baron.states.roar", "baron.states.ro|ar");
    let after = renamed(&file, "cry").unwrap();
    assert_eq!((after.matches("roar").count(), after.matches("states.cry]").count()), (0, 2));
}

#[test]
fn a_state_of_a_linked_file_is_renamed_in_all_files() {
    let mut editor = Editor::new();
    let round = "initial = 'walk'\n[states.walk]\nexits = [{ to = 'home', after = 3 }]\n[states.home]\nfinal = true\n";
    editor.write("rounds/round.toml", round);
    let guard = "initial = 'patrol'\n[states.patrol]\nmachine = 'rounds/round.toml'\nexits = [{ to = 'patrol.walk', after = 9 }]\n";
    editor.write("guard.toml", guard);
    let open = guard.replace("after = 9", "on = 'done'");
    editor.open("other.toml", &open);
    let edit = editor.ask_at("textDocument/rename", "other.toml", 3, 26, &json!({ "newName": "stroll" })).unwrap();
    let changes = edit["changes"].as_object().unwrap();
    let after = |file: &str, text: &str| edited(text, &changes[&editor.uri(file)]);
    assert_eq!(changes.len(), 3);
    assert_eq!(after("rounds/round.toml", round), round.replace("walk", "stroll"));
    assert_eq!(after("guard.toml", guard), guard.replace("walk", "stroll"));
    assert_eq!(after("other.toml", &open), open.replace("walk", "stroll"));

    // In the file that links to this one, its name belongs to another state.
    let why = editor.ask_at("textDocument/rename", "other.toml", 3, 26, &json!({ "newName": "home" }));
    assert_eq!(why, Err("there is a state `patrol.home` already".into()));
    editor.close();
}

/// Asks for a new name at the `|` of `guard.toml`, and checks the texts of all files that change.
#[track_caller]
fn renames(editor: &mut Editor, text: &str, new: &str, expected: &[(&str, &str)]) {
    let (plain, line, column) = cursor(text);
    editor.open("guard.toml", &plain);
    let edit = editor.ask_at("textDocument/rename", "guard.toml", line, column, &json!({ "newName": new })).unwrap();
    let after = edit["changes"].as_object().unwrap().iter().map(|(uri, edits)| {
        let file = uri.strip_prefix(&editor.uri("")).unwrap().trim_start_matches('/').to_owned();
        let before = if file == "guard.toml" { plain.clone() } else { fs::read_to_string(editor.path(&file)).unwrap() };
        (file, edited(&before, edits))
    });
    let expected = expected.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned()));
    assert_eq!(after.collect::<BTreeMap<_, _>>(), expected.collect());
}

/// `shoot` in `fight` has the script `fight.rhai`, and `shoot` in `hunt` has the script `hunt.rhai`.
const SCRIPTED: &str = "initial = 'fight'
[states.fight]
initial = 'shoot'
exits = [{ to = 'hunt', after = 2 }]
[states.fight.states.aim]
exits = [{ to = 'shoot', after = 1 }]
[states.fight.states.shoot]
script = 'fight.rhai'
[states.hunt]
initial = 'shoot'
exits = [{ to = 'fight', after = 2 }]
[states.hunt.states.aim]
exits = [{ to = 'shoot', after = 1 }]
[states.hunt.states.shoot]
script = 'hunt.rhai'
";

#[test]
fn a_state_is_renamed_in_the_scripts_of_those_states_that_mean_it() {
    let mut editor = Editor::new();
    editor.write("fight.rhai", "fn update() { change_state(\"aim\"); }");
    editor.write(
        "hunt.rhai",
        "// aim\nfn update() { if this.health < 3 { change_state(`aim`); } change_state(\"hunt.aim\"); }",
    );
    let text = SCRIPTED.replace("hunt.states.aim", "hunt.states.a|im");
    let renamed = SCRIPTED.replace("hunt.states.aim", "hunt.states.look");
    let script = "// aim\nfn update() { if this.health < 3 { change_state(\"look\"); } change_state(\"hunt.look\"); }";
    renames(&mut editor, &text, "look", &[("guard.toml", &renamed), ("hunt.rhai", script)]);
    // In `a.b`, the new name is that of another state.
    editor.write("b.rhai", "fn update() { change_state(\"c\"); }");
    let text = "initial = 'a'\n[states.a]\ninitial = 'a.b'\n[states.'a.b']\nscript = 'b.rhai'\n[states.'a.d']\nfinal = true\n[states.c]\nfinal = true\n";
    editor.replace("guard.toml", 2, text);
    let why = editor.ask_at("textDocument/rename", "guard.toml", 7, 8, &json!({ "newName": "d" }));
    assert_eq!(why, Err("`d` would then mean another state".into()));
    editor.close();
}

#[test]
fn states_that_a_script_means_by_one_name_are_renamed_together() {
    let mut editor = Editor::new();
    editor.write("fight.rhai", "fn update() { change_state(\"aim\"); }");
    // A file that has nothing but the script in common with the first one.
    let other = "initial = 'shoot'\n[states.shoot]\nscript = 'fight.rhai'\n[states.aim]\nfinal = true\n";
    editor.write("other.toml", other);
    let text = SCRIPTED.replace("hunt.rhai", "fight.rhai");
    let renamed = text.replace("states.aim", "states.look");
    renames(
        &mut editor,
        &text.replace("hunt.states.aim", "hunt.states.a|im"),
        "look",
        &[
            ("fight.rhai", "fn update() { change_state(\"look\"); }"),
            ("guard.toml", &renamed),
            ("other.toml", &other.replace("aim", "look")),
        ],
    );
    editor.close();
}

#[test]
fn a_script_is_renamed_once_however_files_name_it() {
    let mut editor = Editor::new();
    editor.write("fight.rhai", "fn update() { change_state(\"aim\"); }");
    editor.write("parts/empty.txt", "");
    let other = "initial = 'shoot'\n[states.shoot]\nscript = 'parts/../fight.rhai'\n[states.aim]\nfinal = true\n";
    editor.write("other.toml", other);
    let text = other.replace("parts/..", ".");
    renames(
        &mut editor,
        &text.replace("states.aim", "states.a|im"),
        "look",
        &[
            ("fight.rhai", "fn update() { change_state(\"look\"); }"),
            ("guard.toml", &text.replace("aim", "look")),
            ("other.toml", &other.replace("aim", "look")),
        ],
    );
    editor.close();
}

#[test]
fn a_state_of_a_linked_file_is_renamed_in_the_scripts_of_that_file() {
    let mut editor = Editor::new();
    let round = "initial = 'walk'\n[states.walk]\nscript = 'walk.rhai'\n[states.look]\nfinal = true\n";
    editor.write("rounds/round.toml", round);
    editor.write("rounds/walk.rhai", "fn update() { change_state(\"look\"); }");
    editor.write("walk.rhai", "fn update() { change_state(\"look\"); }");
    let guard = "initial = 'patrol'\n[states.patrol]\nmachine = 'rounds/round.toml'
        exits = [{ to = 'patrol.look', after = 9 }]\n[states.rest]\nscript = 'walk.rhai'\nentry = true\n[states.look]\nfinal = true\n";
    renames(
        &mut editor,
        &guard.replace("patrol.look", "patrol.l|ook"),
        "see",
        &[
            ("guard.toml", &guard.replace("patrol.look", "patrol.see")),
            ("rounds/round.toml", &round.replace("look", "see")),
            ("rounds/walk.rhai", "fn update() { change_state(\"see\"); }"),
        ],
    );
    editor.close();
}

/// A regression test: such a file was left out, and then linked to a state that was gone.
#[test]
fn a_state_is_not_renamed_if_a_file_that_may_name_it_cannot_be_read() {
    let mut editor = Editor::new();
    editor.write("settings.toml", "title = 'other'");
    fs::write(editor.path("settings.toml"), b"title = '\xff'").unwrap();
    renames(
        &mut editor,
        "initial = 'a'\nstates.|a.final = true\n",
        "b",
        &[("guard.toml", "initial = 'b'\nstates.b.final = true\n")],
    );
    fs::write(editor.path("settings.toml"), b"states.x.machine = 'guard.toml' # \xff").unwrap();
    let why = editor.ask_at("textDocument/rename", "guard.toml", 1, 7, &json!({ "newName": "b" }));
    let path = editor.path("settings.toml");
    assert_eq!(why, Err(format!("{} may name the state, too, but cannot be read", path.display())));
    editor.close();
}

#[test]
fn what_is_renamed_is_shown_before() {
    let mut editor = Editor::new();
    let (text, line, column) = cursor(FILE);
    editor.open("guard.toml", &text);
    let prepared = editor.ask_at("textDocument/prepareRename", "guard.toml", line, column, &json!({})).unwrap();
    let range: Value = json!({ "start": { "line": 2, "character": 11 }, "end": { "line": 2, "character": 14 } });
    assert_eq!(prepared, json!({ "range": range, "placeholder": "aim" }));
    let nothing = editor.ask_at("textDocument/prepareRename", "guard.toml", 0, 3, &json!({}));
    assert_eq!(nothing, Err("there is no name of a state here".into()));
    editor.close();
}

#[test]
fn a_state_is_renamed_in_a_file_with_other_mistakes() {
    let file = "initial = 'a'\n[states.|a]\nexits = [{ to = 'a', after = 2 }, { to = 'nowhere' }]\nfinl = true\n";
    let expected = "initial = 'b'\n[states.b]\nexits = [{ to = 'b', after = 2 }, { to = 'nowhere' }]\nfinl = true\n";
    assert_eq!(renamed(file, "b"), Ok(expected.to_owned()));
}

#[test]
fn a_parent_in_the_header_of_its_child_is_renamed_whatever_its_name() {
    // `a` is also a letter of `states`, and one header has quotes that the other has not.
    for (header, name) in [("a", "look"), ("\"a\"", "look"), ("a", "take aim")] {
        let file = format!(
            "initial = 'a'\n[states.{header}]\ninitial = 'b'\nexits = [{{ to = 'b', when = \"in(b)\", after = 3 }}]\n\
             [states.'a.n']\nexits = [{{ to = '|a', after = 1 }}]\n[states.a.states.b]\nexits = [{{ to = 'n', after = 1 }}]\n"
        );
        let after = renamed(&file, name);
        assert_eq!(after.as_deref().map(|after| after.matches(name).count()), Ok(5), "{header}: {after:?}");
    }
}
