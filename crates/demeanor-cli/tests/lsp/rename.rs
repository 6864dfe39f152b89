//! Renaming a state.

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
