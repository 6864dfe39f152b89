//! Tests of each change, with the text before and after it, and of many random changes.

use std::path::Path;

use demeanor::definition::{Outline, Survey};

use super::{Edit, Of, Refused, edited, written_states};

fn change(text: &str, edit: &str) -> Result<String, Refused> {
    let edit: Edit = serde_json::from_str(edit).unwrap();
    edited(&of(), text, &edit)
}

fn of() -> Of<'static> {
    Of { path: Path::new("/no/such/folder/guard.toml"), root: Path::new("/no/such/folder"), machine: None }
}

/// Asserts which lines a change removes from a text, with `-`, and which it adds, with `+`.
#[track_caller]
fn assert_diff(text: &str, edit: &str, diff: &str) {
    let changed = change(text, edit).unwrap_or_else(|refused| panic!("{refused}"));
    assert_eq!(difference(text, &changed), diff, "\n{changed}");
}

#[track_caller]
fn assert_refused(text: &str, edit: &str, why: &str) {
    assert_eq!(change(text, edit).unwrap_err().why, why);
}

/// Returns the lines that are only in one of the texts: with `-` those of the first, with `+` those of the second.
fn difference(before: &str, after: &str) -> String {
    let (before, after): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    // The most lines that both texts have in common, in order, from each pair of lines on.
    let mut same = vec![vec![0; after.len() + 1]; before.len() + 1];
    for i in (0..before.len()).rev() {
        for j in (0..after.len()).rev() {
            same[i][j] =
                if before[i] == after[j] { same[i + 1][j + 1] + 1 } else { same[i + 1][j].max(same[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < before.len() || j < after.len() {
        if i < before.len() && j < after.len() && before[i] == after[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == after.len() || i < before.len() && same[i + 1][j] >= same[i][j + 1] {
            lines.push(format!("-{}", before[i]));
            i += 1;
        } else {
            lines.push(format!("+{}", after[j]));
            j += 1;
        }
    }
    lines.join("\n")
}

const GUARD: &str = r#"# The guard of the gate.

initial = "post" # at first

# Where it stands.
[states.post]
behavior = "stand"  # still
exits = [
    # It sees one.
    { to = "chase", when = "enemy_visible" }, # at once
    { to = "hide", on = "hit" },
]

# ---- In a fight

[states.chase]
initial = "run"
exits = [{ to = "post", when = "not enemy_visible" }]

[states.run]
parent = "chase"

[states.hide]
exits = [{ to = "post", after = 2 }, { to = "chase", when = "in(run)" }]

# The end.
"#;

const NESTED: &str = "initial = 'fight'\n\n[states.fight]\ninitial = 'aim'\n\n[states.fight.states.aim]\nexits = [{to='shoot'}]\n\n[states.fight.states.shoot]\n\n[states.rest]\n\n[[states.rest.exits]]\nto = 'fight'\nafter = 3\n\n# Later.\n[[states.rest.exits]]\nto = 'rest'\nset = { a = 1 }\n";

#[test]
fn a_state_is_added_behind_the_others() {
    assert_diff("", r#"{"act": "add_state", "name": "post"}"#, "+initial = \"post\"\n+\n+[states.post]");
    let of_comment = change("# The guard.\n", r#"{"act": "add_state", "name": "post"}"#).unwrap();
    assert_eq!(of_comment, "# The guard.\n\ninitial = \"post\"\n\n[states.post]\n");
    assert_diff(GUARD, r#"{"act": "add_state", "name": "run to cover"}"#, "+[states.\"run to cover\"]\n+");
    assert_refused(GUARD, r#"{"act": "add_state", "name": "hide"}"#, "there is a state `hide` already");
    assert_refused(
        GUARD,
        r#"{"act": "add_state", "name": " hide"}"#,
        "a name has no spaces at its ends, no control characters, and is not empty",
    );
    assert_refused(GUARD, r#"{"act": "add_state", "name": "$previous"}"#, "`$previous` means the previous state");
}

#[test]
fn a_state_is_added_in_another_one_as_the_file_has_it() {
    assert_diff(
        GUARD,
        r#"{"act": "add_state", "name": "hit", "parent": "chase"}"#,
        "+[states.hit]\n+parent = \"chase\"\n+",
    );
    assert_diff(
        GUARD,
        r#"{"act": "add_state", "name": "aim", "parent": "hide"}"#,
        "+initial = \"aim\"\n+[states.aim]\n+parent = \"hide\"\n+",
    );
    assert_diff(
        NESTED,
        r#"{"act": "add_state", "name": "load", "parent": "fight", "region": "arms"}"#,
        "+[states.fight.states.load]\n+region = 'arms'\n+",
    );
}

#[test]
fn a_parent_that_begins_with_no_state_in_it_still_begins_with_none() {
    let text = "initial = 'a'\n\n[states.a]\nexits = [{ to = 'b' }]\n\n[states.b]\nparent = 'a'\n\n[states.c]\n";
    let added = "+[states.d]\n+parent = 'a'\n+";
    assert_diff(text, r#"{"act": "add_state", "name": "d", "parent": "a"}"#, added);
    assert_diff(text, r#"{"act": "move_state", "state": "c", "parent": "a"}"#, "+parent = 'a'");
}

#[test]
fn a_state_is_renamed_wherever_it_is_named() {
    assert_diff(
        GUARD,
        r#"{"act": "rename_state", "state": "run", "name": "go"}"#,
        "-initial = \"run\"\n+initial = \"go\"\n-[states.run]\n+[states.go]\n\
         -exits = [{ to = \"post\", after = 2 }, { to = \"chase\", when = \"in(run)\" }]\n\
         +exits = [{ to = \"post\", after = 2 }, { to = \"chase\", when = \"in(go)\" }]",
    );
    assert_refused(
        GUARD,
        r#"{"act": "rename_state", "state": "run", "name": "hide"}"#,
        "there is a state `hide` already",
    );
}

#[test]
fn a_state_moves_by_its_key_or_by_its_header() {
    assert_diff(GUARD, r#"{"act": "move_state", "state": "hide", "parent": "chase"}"#, "+parent = \"chase\"");
    assert_diff(
        GUARD,
        r#"{"act": "move_state", "state": "run", "parent": "hide"}"#,
        "-initial = \"run\"\n-parent = \"chase\"\n+parent = \"hide\"\n+initial = \"run\"",
    );
    assert_diff(NESTED, r#"{"act": "move_state", "state": "shoot"}"#, "-[states.fight.states.shoot]\n+[states.shoot]");
    assert_diff(
        NESTED,
        r#"{"act": "move_state", "state": "shoot", "parent": "rest"}"#,
        "-[states.fight.states.shoot]\n+[states.rest.states.shoot]\n+initial = 'shoot'",
    );
    let regions = "initial = 'a'\n[states.a]\nregions = { x = 'b', y = 'c' }\n[states.b]\nparent = 'a'\n[states.c]\nparent = 'a'\n\
                   [states.d]\nparent = 'a'\nregion = 'y'\n[states.e]\n";
    assert_diff(
        regions,
        r#"{"act": "move_state", "state": "e", "parent": "a", "region": "x"}"#,
        "+parent = 'a'\n+region = 'x'",
    );
    assert_diff(
        regions,
        r#"{"act": "move_state", "state": "d", "parent": "a", "region": "x"}"#,
        "-region = 'y'\n+region = 'x'",
    );
    assert_diff(regions, r#"{"act": "move_state", "state": "d"}"#, "-parent = 'a'\n-region = 'y'");
    assert_refused(
        NESTED,
        r#"{"act": "move_state", "state": "aim"}"#,
        "`fight` begins with `aim`: choose another initial state first",
    );
    assert_refused(GUARD, r#"{"act": "move_state", "state": "chase", "parent": "run"}"#, "`chase` cannot be in itself");
}

#[test]
fn a_state_between_braces_moves_with_its_comments() {
    let text = "initial = \"rest\"\n\n[states.fight]\n# about hit\nstates.hit = { # first\n    note = \"x\", # note\n    # before\n    final = true,\n} # hit\nstates.aim = {}\n\n[states.rest]\n";
    let moved = change(text, r#"{ "act": "move_state", "state": "hit" }"#).unwrap();
    let hit = "\n# about hit\n# first\n[states.hit] # hit\nnote = \"x\" # note\n# before\nfinal = true\n";
    assert!(moved.contains(hit), "{moved}");
}

#[test]
fn a_change_between_braces_keeps_the_comments_of_the_other_keys() {
    let text =
        "initial = \"a\"\nstates.a = { # first\n    note = \"x\", # note\n    # before\n    exits = [],\n} # a\n";
    assert_diff(
        text,
        r#"{ "act": "set_state", "state": "a", "key": "every", "value": "2" }"#,
        "-    note = \"x\", # note\n+    note = \"x\", every = 2, # note",
    );
    assert_diff(text, r#"{ "act": "set_state", "state": "a", "key": "note" }"#, "-    note = \"x\", # note");
    let nested = "initial = \"a\"\nstates = { a = { states = { b = {}, c = {\n# why\nfinal = true } } } }\n";
    assert_refused(
        nested,
        r#"{ "act": "move_state", "state": "c" }"#,
        "`c` has comments, which would be lost here: move it in the text",
    );
    let text = nested.replace("\n# why\n", "note = \"#1\", ");
    let moved = change(&text, r#"{ "act": "move_state", "state": "c" }"#).map_err(|refused| refused.why).unwrap();
    assert!(moved.contains("note = \"#1\""), "{moved}");
}

#[test]
fn a_state_that_is_used_is_only_deleted_with_the_exits_to_it() {
    let refused = change(GUARD, r#"{"act": "delete_state", "state": "chase"}"#).unwrap_err();
    assert_eq!(refused.uses, ["the state `run` in it", "exit 1 of `post`", "exit 2 of `hide`"]);
    assert_diff(
        GUARD,
        r#"{"act": "delete_state", "state": "chase", "with_exits": true}"#,
        "-    # It sees one.\n-    { to = \"chase\", when = \"enemy_visible\" }, # at once\n\
         -[states.chase]\n-initial = \"run\"\n-exits = [{ to = \"post\", when = \"not enemy_visible\" }]\n-\n\
         -[states.run]\n-parent = \"chase\"\n-\n\
         -exits = [{ to = \"post\", after = 2 }, { to = \"chase\", when = \"in(run)\" }]\n+exits = [{ to = \"post\", after = 2 }]",
    );
    assert_diff(
        NESTED,
        r#"{"act": "delete_state", "state": "fight", "with_exits": true}"#,
        "-initial = 'fight'\n-\n-[states.fight]\n-initial = 'aim'\n-\n-[states.fight.states.aim]\n-exits = [{to='shoot'}]\n-\n\
         -[states.fight.states.shoot]\n+initial = 'rest'\n-[[states.rest.exits]]\n-to = 'fight'\n-after = 3\n-",
    );
    let only = "initial = \"a\"\n\n[states.a]\n";
    assert_diff(only, r#"{"act": "delete_state", "state": "a"}"#, "-initial = \"a\"\n-\n-[states.a]");
    let implicit = "initial = 'a'\n[states.a]\n\n[states.b.states.c]\nfinal = true\n";
    assert_diff(
        implicit,
        r#"{"act": "delete_state", "state": "c"}"#,
        "-[states.b.states.c]\n-final = true\n+[states.b]",
    );
}

#[test]
fn an_exit_is_added_in_the_form_of_the_file() {
    assert_diff(GUARD, r#"{"act": "add_exit", "state": "run", "to": "hide"}"#, "+exits = [{ to = \"hide\" }]");
    assert_diff(GUARD, r#"{"act": "add_exit", "state": "post", "to": "run"}"#, "+    { to = \"run\" },");
    assert_diff(
        GUARD,
        r#"{"act": "add_exit", "state": "chase", "to": "hide"}"#,
        "-exits = [{ to = \"post\", when = \"not enemy_visible\" }]\n\
         +exits = [\n+    { to = \"post\", when = \"not enemy_visible\" },\n+    { to = \"hide\" },\n+]",
    );
    assert_diff(
        GUARD,
        r#"{"act": "add_exit", "state": "hide", "to": "hide"}"#,
        "-exits = [{ to = \"post\", after = 2 }, { to = \"chase\", when = \"in(run)\" }]\n\
         +exits = [{ to = \"post\", after = 2 }, { to = \"chase\", when = \"in(run)\" }, { to = \"hide\" }]",
    );
    assert_diff(
        NESTED,
        r#"{"act": "add_exit", "state": "rest", "to": "aim"}"#,
        "+\n+[[states.rest.exits]]\n+to = 'aim'",
    );
    let tables =
        "initial = 'a'\n\n[states.a]\n\n[[states.a.exits]]\nto = 'b'\n\n[states.b]\nnote = 'x'\n\n[states.c]\n";
    assert_diff(tables, r#"{"act": "add_exit", "state": "b", "to": "a"}"#, "+[[states.b.exits]]\n+to = 'a'\n+");
    let comma = "[states.a]\nexits = [\n  { to = 'a' } # one\n]\n";
    assert_diff(
        comma,
        r#"{"act": "add_exit", "state": "a", "to": "a"}"#,
        "-  { to = 'a' } # one\n+  { to = 'a' }, # one\n+  { to = 'a' }",
    );
}

#[test]
fn a_key_of_an_exit_is_set_and_removed() {
    let set = |exit: u32, key: &str, value: &str| {
        format!(r#"{{"act": "set_exit", "state": "post", "exit": {exit}, "key": "{key}", "value": {value}}}"#)
    };
    let hide = "-    { to = \"hide\", on = \"hit\" },\n";
    let assert =
        |key: &str, value: &str, line: &str| assert_diff(GUARD, &set(1, key, value), &format!("{hide}+    {line},"));
    assert("after", "\"3 s\"", "{ to = \"hide\", on = \"hit\", after = \"3 s\" }");
    assert("after", "\"3\"", "{ to = \"hide\", on = \"hit\", after = 3 }");
    assert("cooldown", "\"2 s .. 4 s\"", "{ to = \"hide\", on = \"hit\", cooldown = \"2 s .. 4 s\" }");
    assert("on", "\"hit, heard\"", "{ to = \"hide\", on = [\"hit\", \"heard\"] }");
    assert("on", "null", "{ to = \"hide\" }");
    assert("to", "\"run\"", "{ to = \"run\", on = \"hit\" }");
    assert("to", "null", "{ on = \"hit\" }");
    assert("push", "\"run\"", "{ to = \"hide\", push = \"run\", on = \"hit\" }");
    assert("when", "\"in(\\\"run\\\")\"", "{ to = \"hide\", on = \"hit\", when = 'in(\"run\")' }");
    assert("when", "\"true\"", "{ to = \"hide\", on = \"hit\", when = \"true\" }");
    assert("set", "\"{ a = 1 }\"", "{ to = \"hide\", on = \"hit\", set = { a = 1 } }");
    assert_diff(
        GUARD,
        &set(0, "when", "null"),
        "-    { to = \"chase\", when = \"enemy_visible\" }, # at once\n+    { to = \"chase\" }, # at once",
    );
    assert_refused(GUARD, &set(2, "when", "null"), "there is no such exit");
    assert_refused(GUARD, &set(1, "when", "\" \""), "`when` needs a value");
    let rest =
        |key: &str| format!(r#"{{"act": "set_exit", "state": "rest", "exit": 0, "key": "{key}", "value": "x > 1"}}"#);
    assert_diff(NESTED, &rest("when"), "+when = 'x > 1'");
    let tight = "[states.post]\nexits = [{to='post'}]\n";
    assert_diff(tight, &set(0, "when", "\"a\""), "-exits = [{to='post'}]\n+exits = [{to='post', when = 'a'}]");
}

#[test]
fn an_exit_moves_with_its_comments() {
    let shift = |state: &str, exit: u32, to: u32| {
        format!(r#"{{"act": "move_exit", "state": "{state}", "exit": {exit}, "to": {to}}}"#)
    };
    assert_diff(
        GUARD,
        &shift("post", 1, 0),
        "+    { to = \"hide\", on = \"hit\" },\n-    { to = \"hide\", on = \"hit\" },",
    );
    assert_diff(
        GUARD,
        &shift("hide", 0, 1),
        "-exits = [{ to = \"post\", after = 2 }, { to = \"chase\", when = \"in(run)\" }]\n\
         +exits = [{ to = \"chase\", when = \"in(run)\" }, { to = \"post\", after = 2 }]",
    );
    assert_diff(
        NESTED,
        &shift("rest", 1, 0),
        "-[[states.rest.exits]]\n-to = 'fight'\n-after = 3\n-\n+\n+[[states.rest.exits]]\n+to = 'fight'\n+after = 3",
    );
    for (text, state) in [(GUARD, "post"), (GUARD, "hide"), (NESTED, "rest")] {
        let moved = change(text, &shift(state, 0, 1)).unwrap();
        assert_eq!(change(&moved, &shift(state, 1, 0)).unwrap(), text, "there and back");
    }
    assert_refused(GUARD, &shift("hide", 0, 2), "there is no such exit");
}

#[test]
fn an_exit_is_deleted_with_its_comments() {
    let delete = |state: &str, exit: u32| format!(r#"{{"act": "delete_exit", "state": "{state}", "exit": {exit}}}"#);
    assert_diff(
        GUARD,
        &delete("post", 0),
        "-    # It sees one.\n-    { to = \"chase\", when = \"enemy_visible\" }, # at once",
    );
    assert_diff(
        GUARD,
        &delete("hide", 0),
        "-exits = [{ to = \"post\", after = 2 }, { to = \"chase\", when = \"in(run)\" }]\n\
         +exits = [{ to = \"chase\", when = \"in(run)\" }]",
    );
    assert_diff(GUARD, &delete("chase", 0), "-exits = [{ to = \"post\", when = \"not enemy_visible\" }]");
    assert_diff(NESTED, &delete("rest", 0), "-[[states.rest.exits]]\n-to = 'fight'\n-after = 3\n-");
}

#[test]
fn a_key_of_a_state_is_set_and_removed() {
    let set = |state: &str, key: &str, value: &str| {
        format!(r#"{{"act": "set_state", "state": "{state}", "key": "{key}", "value": {value}}}"#)
    };
    assert_diff(
        GUARD,
        &set("post", "behavior", "\"look\""),
        "-behavior = \"stand\"  # still\n+behavior = \"look\"  # still",
    );
    assert_diff(GUARD, &set("post", "note", "\"It \\\"stands\\\".\""), "+note = 'It \"stands\".'");
    assert_diff(GUARD, &set("run", "final", "\"true\""), "+final = true");
    assert_diff(GUARD, &set("run", "parent", "null"), "-parent = \"chase\"");
    assert_diff(GUARD, r#"{"act": "set_machine", "key": "global", "value": "hide"}"#, "+global = \"hide\"");
    assert_diff(
        GUARD,
        r#"{"act": "set_machine", "key": "initial", "value": "hide"}"#,
        "-initial = \"post\" # at first\n+initial = \"hide\" # at first",
    );
    let alias = "[states.a]\nbehaviour = 'x'\n";
    assert_diff(alias, &set("a", "behavior", "\"y\""), "-behaviour = 'x'\n+behaviour = 'y'");
}

#[test]
fn every_form_of_a_table_is_changed() {
    let inline = "states = { a = { exits = [{ to = 'a' }] } }\ninitial = 'a'\n";
    let set = r#"{"act": "set_state", "state": "a", "key": "note", "value": "x"}"#;
    assert_diff(
        inline,
        set,
        "-states = { a = { exits = [{ to = 'a' }] } }\n+states = { a = { note = 'x', exits = [{ to = 'a' }] } }",
    );
    let add = r#"{"act": "add_state", "name": "b"}"#;
    assert_diff(
        inline,
        add,
        "-states = { a = { exits = [{ to = 'a' }] } }\n+states = { a = { exits = [{ to = 'a' }] }, b = {} }",
    );
    let dotted = "initial = 'a'\nstates.a.exits = [{ to = 'a' }]\n";
    assert_diff(dotted, set, "+states.a.note = 'x'");
    assert_diff(dotted, add, "+\n+[states.b]");
    let two = "[machines.one]\ninitial = 'a'\n[machines.one.states.a]\n\n[machines.two]\ninitial = 'b'\n[machines.two.states.b]\n";
    let of = Of { machine: Some("two"), ..of() };
    let edit: Edit = serde_json::from_str(r#"{"act": "add_state", "name": "c"}"#).unwrap();
    assert_eq!(difference(two, &edited(&of, two, &edit).unwrap()), "+\n+[machines.two.states.c]");
    let like = "[machines.one]\ninitial = 'a'\n[machines.one.states.a]\n[machines.two]\nlike = 'one'\n";
    let edit: Edit =
        serde_json::from_str(r#"{"act": "set_state", "state": "a", "key": "final", "value": "true"}"#).unwrap();
    let changed = edited(&of, like, &edit).unwrap();
    assert_eq!(difference(like, &changed), "+\n+[machines.two.states.a]\n+final = true");
}

#[test]
fn ends_of_lines_and_the_mark_at_the_beginning_stay() {
    let note = "note = \"\"\"one\ntwo\"\"\"\n";
    let windows = format!("\u{feff}{}{note}", GUARD.trim_end_matches("\n# The end.\n")).replace('\n', "\r\n");
    let changed = change(&windows, r#"{"act": "add_exit", "state": "run", "to": "hide"}"#).unwrap();
    assert_eq!(difference(&windows, &changed), "+exits = [{ to = \"hide\" }]");
    assert_eq!(changed.matches('\n').count(), changed.matches("\r\n").count());
    assert!(changed.starts_with('\u{feff}'));
}

#[test]
fn a_text_that_is_no_toml_is_not_changed() {
    let refused = change("[states.a", r#"{"act": "add_state", "name": "b"}"#).unwrap_err();
    assert!(refused.why.starts_with("the text has a mistake: "), "{refused}");
}

#[test]
fn what_is_written_is_read_as_a_designer_types_it() {
    let written = written_states(&of(), GUARD).unwrap();
    let post = written[0].as_ref().unwrap();
    let pairs =
        |keys: &[(String, String)]| keys.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>();
    assert_eq!(pairs(&post.keys), ["behavior=stand"]);
    assert_eq!(pairs(&post.exits[1]), ["to=hide", "on=hit"]);
    let rest = written_states(&of(), NESTED).unwrap().pop().unwrap().unwrap();
    assert_eq!(
        rest.exits.iter().map(|exit| pairs(exit)).collect::<Vec<_>>(),
        [vec!["to=fight", "after=3"], vec!["to=rest", "set={ a = 1 }"]]
    );
}

/// Returns a random text: states in both forms, with exits in each form, and comments.
fn random_text(random: &mut fastrand::Rng) -> String {
    let (has_tables, is_nested, is_multiline) = (random.bool(), random.bool(), random.bool());
    let mut lines = vec!["# A file.".to_owned(), String::new(), "initial = \"s0\"".into()];
    for i in 0..random.u32(1..6) {
        let parent = if i % 3 == 2 { Some(i - 1) } else { None };
        let around = parent.filter(|_| is_nested).map_or(String::new(), |parent| format!("states.s{parent}."));
        let name = format!("{around}states.s{i}");
        lines.extend([String::new(), format!("# About s{i}."), format!("[{name}]")]);
        lines.extend(parent.filter(|_| !is_nested).map(|parent| format!("parent = \"s{parent}\"")));
        if i % 3 == 1 && random.bool() {
            lines.push("behavior = 'walk' # slowly".into());
        }
        let exits: Vec<_> = (0..random.u32(0..4)).map(|_| ("to", random.u32(0..=i), i)).collect();
        let inline = |(key, to, i): &(_, _, _)| format!("{{ {key} = \"s{to}\", when = \"a > {i}\" }}");
        if has_tables {
            for (key, to, i) in exits {
                lines.extend([String::new(), "# An exit.".into(), format!("[[{name}.exits]]")]);
                lines.extend([format!("{key} = \"s{to}\""), format!("when = \"a > {i}\"")]);
            }
        } else if is_multiline {
            lines.push("exits = [".into());
            lines.extend(
                exits.iter().flat_map(|exit| ["    # An exit.".into(), format!("    {}, # {i}", inline(exit))]),
            );
            lines.push("]".into());
        } else {
            let exits: Vec<_> = exits.iter().map(inline).collect();
            lines.push(format!("exits = [{}] # {i}", exits.join(", ")));
        }
    }
    lines.join("\n") + "\n"
}

fn random_edit(random: &mut fastrand::Rng, text: &str) -> Edit {
    let survey = Survey::of("", text, None, &|_| None, None);
    let states: Vec<_> =
        survey.outlines().iter().flat_map(Outline::states).map(|state| state.name().to_owned()).collect();
    let state = random.choice(&states).cloned().unwrap_or_default();
    let other = random.choice(&states).cloned().unwrap_or_default();
    let (exit, name) = (random.usize(0..3), format!("n{}", random.u32(0..30)));
    let maybe = |random: &mut fastrand::Rng, value: &str| random.bool().then(|| value.to_owned());
    match random.u32(0..12) {
        0 => Edit::AddState { name, parent: maybe(random, &other), region: None },
        1 => Edit::RenameState { state, name },
        2 => Edit::MoveState { state, parent: maybe(random, &other), region: None },
        3 => Edit::DeleteState { state, with_exits: random.bool() },
        4 => Edit::SetState { state, key: "note".into(), value: maybe(random, "It's \"x\".") },
        5 => Edit::SetMachine { key: "initial".into(), value: Some(other) },
        6 | 7 => Edit::AddExit { state, to: other },
        8 => Edit::SetExit { state, exit, key: "when".into(), value: maybe(random, "b and c > 3") },
        9 => Edit::SetExit { state, exit, key: "after".into(), value: maybe(random, "3 s") },
        10 => Edit::MoveExit { state, exit, to: random.usize(0..3) },
        _ => Edit::DeleteExit { state, exit },
    }
}

#[test]
fn after_any_changes_the_text_is_toml_and_has_its_comments() {
    let mut made = 0;
    for seed in 0..10 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut text = random_text(&mut random);
        for _ in 0..200 {
            let edit = random_edit(&mut random, &text);
            let Ok(changed) = edited(&of(), &text, &edit) else { continue };
            changed.parse::<toml_edit::DocumentMut>().unwrap_or_else(|error| panic!("{edit:?}\n{error}\n{changed}"));
            let deletes = matches!(edit, Edit::DeleteState { .. } | Edit::DeleteExit { .. });
            if !deletes {
                let comments = |text: &str| text.matches('#').count();
                assert_eq!(comments(&text), comments(&changed), "{edit:?}\n{text}\n{changed}");
            }
            if let Edit::MoveExit { state, exit, to } = &edit {
                let back = Edit::MoveExit { state: state.clone(), exit: *to, to: *exit };
                let again = edited(&of(), &changed, &back).unwrap();
                assert_eq!(
                    difference(&text, &again).lines().filter(|line| line.contains("to =")).count() % 2,
                    0,
                    "{edit:?}\n{text}\n{again}"
                );
            }
            made += usize::from(changed != text);
            text = changed;
        }
    }
    assert!(made > 800, "most changes are made: {made}");
}

#[test]
fn in_the_examples_a_change_touches_one_line_and_its_reversal_gives_the_same_text() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut changed = 0;
    for name in ["boss/boss.fsm.toml", "shop/shopkeeper.fsm.toml", "ghosts/ghosts.fsm.toml"] {
        let path = examples.join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        let survey = Survey::of(name, &text, path.parent(), &|_| None, None);
        for outline in survey.outlines() {
            let of = Of { path: &path, root: &examples, machine: outline.machine() };
            for state in outline.states() {
                let set = |value: Option<&str>| Edit::SetState {
                    state: state.name().to_owned(),
                    key: "every".into(),
                    value: value.map(str::to_owned),
                };
                // A state that is written in another file cannot be changed here. One that is written in another machine gets a
                // table here.
                let Ok(with) = edited(&of, &text, &set(Some("7 s"))) else { continue };
                let lines = difference(&text, &with).lines().count();
                let had_one = state.every().is_some();
                let is_new = with.matches("\n[").count() > text.matches("\n[").count();
                assert_eq!(lines, if had_one { 2 } else { 1 } + if is_new { 2 } else { 0 }, "{name}, {}", state.name());
                if !had_one {
                    assert_eq!(edited(&of, &with, &set(None)).unwrap(), text, "{name}, {}", state.name());
                }
                changed += 1;
            }
        }
    }
    assert!(changed > 20, "{changed}");
}

const LIKE: &str = r#"[machines.imp]
initial = "stand"

[machines.imp.states.stand]
note = "waits"
behavior = "look"
exits = [{ to = "chase", on = "noise" }]

[machines.imp.states.chase]
exits = [{ to = "stand", after = "10 s" }]

[machines.imp.states.chase.states.bite]
note = "bites"

[machines.baron]
like = "imp"

[machines.baron.states.chase]
behavior = "run"
"#;

fn change_baron(edit: &str) -> Result<String, Refused> {
    let edit: Edit = serde_json::from_str(edit).unwrap();
    Ok(difference(LIKE, &edited(&Of { machine: Some("baron"), ..of() }, LIKE, &edit)?))
}

#[test]
fn a_key_of_an_inherited_state_is_written_in_the_machine_that_inherits_it() {
    let stand = change_baron(r#"{"act": "set_state", "state": "stand", "key": "note", "value": "sleeps"}"#);
    assert_eq!(stand.unwrap(), "+\n+[machines.baron.states.stand]\n+note = \"sleeps\"");
    let chase = change_baron(r#"{"act": "set_state", "state": "chase", "key": "note", "value": "hunts"}"#);
    assert_eq!(chase.unwrap(), "+note = \"hunts\"");
    let bite = change_baron(r#"{"act": "set_state", "state": "bite", "key": "note", "value": "chews"}"#);
    assert_eq!(bite.unwrap(), "+\n+[machines.baron.states.chase.states.bite]\n+note = \"chews\"");
    let exits = change_baron(r#"{"act": "take_exits", "state": "chase"}"#);
    assert_eq!(exits.unwrap(), "+exits = [{ to = \"stand\", after = \"10 s\" }]");
    let exits = change_baron(r#"{"act": "take_exits", "state": "stand"}"#);
    assert_eq!(exits.unwrap(), "+\n+[machines.baron.states.stand]\n+exits = [{ to = \"chase\", on = \"noise\" }]");
    let exit = change_baron(r#"{"act": "add_exit", "state": "chase", "to": "stand"}"#);
    assert_eq!(exit.unwrap_err().why, "`chase` has its exits from `imp`: write them here first");
    let renamed = change_baron(r#"{"act": "delete_state", "state": "stand", "with_exits": true}"#);
    assert_eq!(renamed.unwrap_err().why, "`stand` is written in the machine `imp`: change it there");
}

#[test]
fn what_a_state_inherits_is_told_apart_from_what_it_has() {
    let written = written_states(&Of { machine: Some("baron"), ..of() }, LIKE).unwrap();
    let told: Vec<_> = written.into_iter().map(Option::unwrap).collect();
    let keys = |keys: &[(String, String)]| keys.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>();
    let stand = told.iter().find(|state| keys(&state.inherited).contains(&"note=waits".into())).unwrap();
    assert_eq!(
        (keys(&stand.keys), keys(&stand.inherited)),
        (vec![], vec!["note=waits".into(), "behavior=look".into()])
    );
    assert!(stand.inherits_exits && stand.exits.len() == 1);
    let chase = told.iter().find(|state| keys(&state.keys) == ["behavior=run"]).unwrap();
    assert_eq!(keys(&chase.inherited), Vec::<String>::new());
    assert!(chase.inherits_exits);
}

#[test]
fn words_are_written_before_the_states_and_go_with_their_last_one() {
    let add = |name: &str, kind: &str, value: &str| {
        format!(r#"{{"act": "set_word", "kind": "{kind}", "name": "{name}", "value": {value}}}"#)
    };
    assert_diff(GUARD, &add("far", "constants", r#""30""#), "+[constants]\n+far = 30\n+");
    let text = change(GUARD, &add("far", "constants", r#""30""#)).unwrap();
    assert_diff(&text, &add("near", "constants", r#""2.5""#), "+near = 2.5");
    assert_diff(&text, &add("far", "constants", r#""31""#), "-far = 30\n+far = 31");
    assert_diff(&text, &add("far", "constants", "null"), "-[constants]\n-far = 30\n-");
    assert_diff(GUARD, &add("weak", "conditions", r#""health < 30""#), "+[conditions]\n+weak = \"health < 30\"\n+");
    let never = r#"{"act": "set_word", "kind": "properties", "name": "lives", "key": "never", "value": "in(hide)"}"#;
    assert_diff(GUARD, never, "+[properties]\n+lives = { never = \"in(hide)\" }\n+");
    let text = change(GUARD, never).unwrap();
    assert_diff(&text, &add("lives", "properties", "null"), "-[properties]\n-lives = { never = \"in(hide)\" }\n-");
    let gone = r#"{"act": "set_word", "kind": "properties", "name": "lives", "key": "never", "value": null}"#;
    assert_diff(&text, gone, "-[properties]\n-lives = { never = \"in(hide)\" }\n-");
    let of_machine = change_baron(never).unwrap();
    assert_eq!(of_machine, "+[machines.baron.properties]\n+lives = { never = \"in(hide)\" }\n+");
    assert!(change(GUARD, &add("", "constants", r#""1""#)).is_err());
    assert_refused(GUARD, &add("far", "constants", "null"), "there is no such word");
}
