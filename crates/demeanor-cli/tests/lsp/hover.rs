//! The text for the word under the pointer.

use crate::editor::{Editor, range};

const FILE: &str = "initial = 'fight'
global = 'ears'
properties.wakes = { from = 'in(rest)', reach = 'not in(rest)', within = '5 s' }

[states.ears]
exits = [{ to = 'fight', on = 'hit', when = 'message.damage > 3', restart = true }]

[states.fight]
initial = 'aim'
every = '0.5 s'
enter_when = 'health > 3 and not in(rest)'

[states.'fight.aim']
behavior = { name = 'walk', speed = 3, then = 'rest' }
exits = [{ to = 'rest', after = '2 s', when = 'chance(0.5)' }, { to = 'fight', note = 'at once' }]

[states.rest]
note = '''
  Sleeps
  till morning.'''
final = true
enter = [{ spawn = 'health * 2' }, 'roar']
";

/// Returns the text for the first `word` after `behind`, and its range.
#[track_caller]
fn assert_said(behind: &str, word: &str, expected: Option<&str>) {
    let begin = FILE.find(behind).unwrap();
    let at = begin + FILE[begin..].find(word).unwrap();
    let mut editor = Editor::new();
    let hover = editor.at("textDocument/hover", &format!("{}|{}", &FILE[..=at], &FILE[at + 1..])).unwrap();
    let said = hover["contents"]["value"].as_str();
    assert_eq!(said, expected);
    if said.is_some() {
        let line = FILE[..at].matches('\n').count();
        let column = FILE[..at].rsplit('\n').next().unwrap().len();
        assert_eq!(range(&hover["range"]), format!("{line}:{column}-{line}:{}", column + word.len()));
    }
    editor.close();
}

#[test]
fn a_state_is_told_with_its_place_its_behaviors_and_its_exits() {
    let aim = "state `fight / aim`\n- does `walk`\n\nexits:\n1. to `rest`: after 2 s [chance(0.5)]\n\
               1. to `fight` (at once)";
    assert_said("[states.'fight.aim", "aim", Some(aim));
    let fight = "state `fight`\n- a machine begins in it\n- begins with `aim`\n- every 0.5 s\n\
                 - can be entered when `health > 3 and not in(rest)`";
    assert_said("initial", "fight", Some(fight));
    assert_said("[states.'fight", "fight", Some(fight));
    let rest = "state `rest`\n\nSleeps till morning.\n- is final\n- does `spawn health * 2`, `roar` at its entry";
    assert_said("not in(rest)'\n", "rest", Some(rest));
    assert_said("from", "rest", Some(rest));
    assert_said("then =", "rest", Some(rest));
}

#[test]
fn a_word_of_the_game_is_told_as_the_vocabulary_has_it() {
    assert_said("enter_when", "health", Some("value `health`: a number\n\nFrom 0 to 100."));
    assert_said("exits", "message.damage", Some("field `message.damage`: a number\n\nWhat armor has left."));
    assert_said("enter = [", "spawn", Some("action `spawn`, with a number\n\nChildren appear."));
    assert_said("enter = [", "'roar'", Some("action `roar`"));
    assert_said("enter = [", "health", Some("value `health`: a number\n\nFrom 0 to 100."));
    assert_said(
        "on =",
        "'hit'",
        Some("message `hit`\n- `message.damage`: a number\n- `message.is_critical`: true or false"),
    );
    assert_said(
        "name =",
        "'walk'",
        Some(
            "behavior `walk`\n\nWalks somewhere.\n\nparameters:\n- `gait`: `slow` or `fast`\n- `quietly`: true or false\n\
             - `speed`: a number, needed. In meters a second.\n- `then`: a state",
        ),
    );
    assert_said("'walk'", "speed", Some("parameter `speed`: a number, needed. In meters a second. of `walk`"));
}

#[test]
fn a_word_of_the_format_is_told_as_the_schema_has_it() {
    assert_said(
        "exits",
        "restart",
        Some(
            "`restart`\n\nWhether the exit of a parent or of the global state is also taken while its target is active already.",
        ),
    );
    assert_said(
        "every",
        "every",
        Some(
            "`every`\n\nHow often the behavior is updated and the exits are tried, counted from the state's entry. Without it, in each tick.",
        ),
    );
    assert_said(
        "'chance",
        "chance",
        Some("`chance(p)`\n\nHolds with the chance `p`, from 0 to 1, each time that it is asked."),
    );
    let is_in = "`in(state)`\n\nWhether a state is active, or a state in it.";
    assert_said("not in(rest)'\n", "in", Some(is_in));
    assert_said("from", "in", Some(is_in));
    assert_said("within", "within", Some("`within`\n\nHow long it may take: a fixed time."));
}

#[test]
fn nothing_is_said_where_nothing_stands() {
    assert_said("[states.ears]", "states", None);
    assert_said("after", "= '", None);
}

#[test]
fn an_exit_that_names_no_state_leads_to_none() {
    let mut editor = Editor::new();
    let file = "initial = 'a'\n[states.|a]\nexits = [{ push = 'b', on = 'hit' }, { to = '$previous', after = 3 }]\n\
                [states.b]\nexits = [{ pop = true, after = 1 }]\n";
    let hover = |editor: &mut Editor, file: &str| {
        editor.at("textDocument/hover", file).unwrap()["contents"]["value"].as_str().unwrap().to_owned()
    };
    let a = "state `a`\n- a machine begins in it\n\nexits:\n1. to `b`: push hit\n1. back after 3 s";
    assert_eq!(hover(&mut editor, file), a);
    let b = "state `b`\n\nexits:\n1. pop after 1 s";
    assert_eq!(hover(&mut editor, &file.replace('|', "").replace("[states.b]", "[states.|b]")), b);
    editor.close();
}
