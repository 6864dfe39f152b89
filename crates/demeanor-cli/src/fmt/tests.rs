use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use demeanor::definition::Outline;
use proptest::prelude::*;

use super::{Form, formatted};
use crate::cases::cases;

const FORMS: [Form; 3] = [Form::AsItIs, Form::Nested, Form::Flat];

/// Returns what the library reads from a file, but not where it stands. `None` if the file has an error by itself.
fn meaning(text: &str) -> Option<Vec<String>> {
    let mut meaning = Vec::new();
    for outline in Outline::parse_all("file.toml", text, None).ok()? {
        let name = |id| outline.state(id).name().to_owned();
        for state in outline.states() {
            let exits: Vec<_> = state
                .exits()
                .iter()
                .map(|exit| (exit.label(), name(exit.target()), exit.leads(), exit.note()))
                .collect();
            let path: Vec<_> = outline.path(state.id()).into_iter().map(name).collect();
            let behaviors: Vec<_> = state.behaviors().collect();
            let is = [state.is_final(), state.is_entry(), state.keeps_history(), outline.initial() == state.id()];
            meaning.push(format!(
                "{:?} {path:?} {:?} {is:?} {behaviors:?} {:?} {:?} {exits:?}",
                outline.machine(),
                state.initial().map(name),
                state.every().map(ToString::to_string),
                state.enter_when()
            ));
        }
    }
    meaning.sort();
    Some(meaning)
}

#[track_caller]
fn assert_formatted(text: &str) {
    for form in FORMS {
        let once = match formatted(text, form) {
            Ok(once) => once,
            // If states change their order, another one may be the first one with its name.
            Err(_) if form == Form::Nested && text.matches("'same name'").count() > 1 => continue,
            Err(why) => panic!("{why}, {form:?}\n{text}"),
        };
        assert_eq!(meaning(&once), meaning(text), "{form:?}\n{text}\n=>\n{once}");
        assert_eq!(formatted(&once, form).unwrap(), once, "{form:?}\n{text}");
        assert_eq!(formatted(&once, Form::AsItIs).unwrap(), once, "{form:?}\n{text}");
        assert_eq!(once.matches('#').count(), text.matches('#').count(), "{form:?}\n{text}\n=>\n{once}");
    }
}

#[test]
fn a_file_has_one_order_and_style_and_keeps_its_comments() {
    let text = r#"# About the file.
#   Still.

global='ears'   # who hears
# where it begins
initial  =  "walk"
[states.walk]
exits=[{when='seen and "x" != y' ,to="run"},   # the first
   # the second
   {  to = 'sit', after=3, note = "it's late" }]
behavior = { speed=1.50, name = 'walk' }


# ── others ──

[states.'sit down']  # rarely
final = true
exits = [{ on = 'noise', to = 'walk' }]
states.ears.exits = []
# the end
"#;
    let expected = r#"# About the file.
#   Still.

# where it begins
initial = "walk"
global = "ears" # who hears

[states.walk]
behavior = { name = "walk", speed = 1.50 }
exits = [
    { to = "run", when = 'seen and "x" != y' }, # the first
    # the second
    { to = "sit", after = 3, note = "it's late" },
]

# ── others ──

[states."sit down"] # rarely
final = true
exits = [{ to = "walk", on = "noise" }]

[states."sit down".states.ears]
exits = []

# the end
"#;
    assert_eq!(formatted(text, Form::AsItIs).unwrap(), expected);
    assert_formatted(text);
}

#[test]
fn what_a_file_defines_and_its_properties_come_before_its_states() {
    let text = r#"initial = "walk"
[properties]
rests = { within = 3, reach = "in(walk)", from = "x > 1" }
[states.walk]
final = true
# never both
[properties.one]
always = "x < 5"
[conditions]
far = "x > near"
[constants]
near = 2
"#;
    let expected = r#"initial = "walk"

[constants]
near = 2

[conditions]
far = "x > near"

[properties]
rests = { from = "x > 1", reach = "in(walk)", within = 3 }

# never both
[properties.one]
always = "x < 5"

[states.walk]
final = true
"#;
    assert_eq!(formatted(text, Form::AsItIs).unwrap(), expected);
    assert_formatted(text);
    let of_machine = "[machines.m.properties.p]\nwithin = 1\nreach = \"in(a)\"\nfrom = \"in(b)\"\n";
    let text = format!("[machines.m]\ninitial = \"a\"\n\n{of_machine}\n[machines.m.states.a]\nfinal = true\n");
    let ordered = "from = \"in(b)\"\nreach = \"in(a)\"\nwithin = 1\n";
    assert!(formatted(&text, Form::AsItIs).unwrap().contains(ordered));
}

#[test]
fn states_with_a_parent_are_written_in_its_table_or_beside_it() {
    let flat = r#"initial = "fight"

[states.fight]
initial = "aim"

# at the enemy
[states.aim]
parent = "fight"
exits = [{ to = "rest", after = 1 }]

[states.rest]
exits = [{ to = "fight", after = 1 }]

[states."rest.aim"]
final = true

[states.shoot]
parent = "fight"
"#;
    let nested = r#"initial = "fight"

[states.fight]
initial = "aim"

# at the enemy
[states.fight.states.aim]
exits = [{ to = "rest", after = 1 }]

[states.fight.states.shoot]

[states.rest]
exits = [{ to = "fight", after = 1 }]

[states."rest.aim"]
final = true
"#;
    assert_eq!(formatted(flat, Form::AsItIs).unwrap(), flat);
    assert_eq!(formatted(flat, Form::Nested).unwrap(), nested);
    assert_eq!(formatted(nested, Form::AsItIs).unwrap(), nested);
    assert_formatted(flat);
    let back = formatted(nested, Form::Flat).unwrap();
    assert_eq!(meaning(&back), meaning(flat));
    assert!(!back.contains(".states."), "{back}");
}

#[test]
fn a_comment_about_a_parent_stays_with_the_state() {
    let text = r#"initial = "p"

[states.p]
initial = "a"

# above
[states.a] # header
# why
parent = "p" # behind
"#;
    assert_formatted(text);
    let nested = text.replace(
        "[states.a] # header\n# why\nparent = \"p\" # behind",
        "# why\n# behind\n[states.p.states.a] # header",
    );
    assert_eq!(formatted(text, Form::Nested).unwrap(), nested);
}

/// Each form of table is written with a header or between `{` and `}`, whatever it was before.
#[test]
fn comments_stay_when_a_table_is_written_in_another_form() {
    let text = r#"initial = "sit"
conditions.far = "x > 1" # far
# near
conditions.near = "x < 1"

# about the states
[states] # all
# about sit
sit = { # first
    note = "Ears up.", # behind note
    # about exits
    exits = [{ to = "eat", after = 1 }] # behind exits
    # last
} # behind sit
# about eat
eat.behavior.name = "eat" # eats
# fast
eat.behavior.speed = 2
"#;
    let expected = r#"initial = "sit"
# far
# near
conditions = { far = "x > 1", near = "x < 1" }

# about the states
# all
# about sit
# first
# last
[states.sit] # behind sit
note = "Ears up." # behind note
# about exits
exits = [{ to = "eat", after = 1 }] # behind exits

[states.eat]
# about eat
# eats
# fast
behavior = { name = "eat", speed = 2 }
"#;
    assert_eq!(formatted(text, Form::AsItIs).unwrap(), expected);
    assert_formatted(text);
    assert_formatted(
        "# about the file\n\n# about all\n[states]\n# sit\nsit = { states = { up = {}, # up\n } }\n# the end\n",
    );
    assert_formatted(
        "# the machines\n[machines] # all\n# m\nm = { initial = 'a', states = { a = { final = true } } } # one\n",
    );
}

#[test]
fn a_line_for_editors_stays_the_first_one() {
    let text = "#:schema definition.schema.json\n# who hears\nglobal = 'ears'\ninitial = 'ears'\n[states.ears]\n";
    let expected =
        "#:schema definition.schema.json\n\ninitial = \"ears\"\n# who hears\nglobal = \"ears\"\n\n[states.ears]\n";
    assert_eq!(formatted(text, Form::AsItIs).unwrap(), expected);
    assert_formatted(text);
}

#[test]
fn a_comment_that_becomes_the_first_line_is_one_for_editors() {
    let text = "ticks_per_second = 10\n#: about\n# more\ninitial = 'a'\n[states.a]\nfinal = true\n";
    let expected = "#: about\n\n# more\ninitial = \"a\"\nticks_per_second = 10\n\n[states.a]\nfinal = true\n";
    assert_eq!(formatted(text, Form::AsItIs).unwrap(), expected);
    assert_formatted(text);
}

#[test]
fn a_comment_like_the_one_about_the_file_stays() {
    let text = "# walk\n\nglobal = 'a'\ninitial = 'a'\n# walk\n\nticks_per_second = 9\n[states.a]\n# walk\n\n# more\n[states.b]\n";
    assert_formatted(text);
}

#[test]
fn lines_end_as_they_did() {
    let text = "# About the file.\n\n# begin\nglobal = 'a'\ninitial = 'a'\n\n# ── others ──\n\n[states.a]\nnote = '''\nlong\nnote'''\n";
    for (form, count) in FORMS.into_iter().flat_map(|form| [(form, usize::MAX), (form, 3)]) {
        let with_crlf = formatted(&text.replacen('\n', "\r\n", count), form).unwrap();
        assert_eq!(with_crlf, formatted(text, form).unwrap().replace('\n', "\r\n"));
    }
}

#[test]
fn a_text_that_is_not_toml_is_refused() {
    assert!(formatted("[states.a", Form::AsItIs).is_err());
}

/// The first of several states with one name keeps it, and another one would come first.
#[test]
fn a_form_that_would_change_a_state_is_refused_with_its_name() {
    let states = "[states.a]\nexits = [{ to = 'x' }, { to = 'a.x' }]\n[states.b]\n[states.b.states.x]\nfinal = true\n[states.a.states.x]\n";
    let why = "the file cannot be written in this form without another meaning of state `";
    let file = format!("initial = 'a'\n{states}");
    assert_eq!(formatted(&file, Form::Nested), Err(format!("{why}a.x`")));
    let file = format!("[machines.m]\ninitial = 'a'\n{}", states.replace("[states.", "[machines.m.states."));
    assert_eq!(formatted(&file, Form::Nested), Err(format!("{why}a.x` of machine `m`")));
    assert_formatted("initial = 'a'\n[states.a]\nfinal = true\n");
}

fn each_file(folder: &Path, see: &mut dyn FnMut(&str, &str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            each_file(&path, see);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            see(path.to_str().unwrap(), &fs::read_to_string(&path).unwrap_or_default());
        }
    }
}

#[test]
fn all_examples_mean_the_same_in_one_style() {
    let mut count = 0;
    for folder in ["examples", "fuzz/seeds/definition", "crates/demeanor-cli/tests/files"] {
        each_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder), &mut |_, text| {
            if meaning(text).is_some() {
                assert_formatted(text);
                count += 1;
            }
        });
    }
    let page = include_str!("../../../../docs/definitions.md");
    for block in page.split("```toml\n").skip(1).filter_map(|block| block.split("```").next()) {
        if meaning(block).is_some() {
            assert_formatted(block);
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

/// A state: its parent among those before it, whether it is written in the parent's table, its keys, and a comment.
type RandomState = (Option<usize>, bool, u8, bool);

fn random_file(states: &[RandomState], in_machine: bool) -> String {
    let around = if in_machine { "machines.m." } else { "" };
    let mut text = if in_machine { "[machines.m]\ninitial = 's0'\n".into() } else { String::from("initial = 's0'\n") };
    let mut headers: Vec<String> = Vec::new();
    for (at, (parent, is_nested, keys, has_comment)) in states.iter().enumerate() {
        let parent = parent.filter(|_| at > 0).map(|parent| parent % at);
        // Some states in different tables have one name.
        let name = if *is_nested && keys & 1 == 1 { "'same name'".into() } else { format!("s{at}") };
        let mut header = format!("{around}states.{name}");
        let mut given = String::new();
        match parent {
            Some(parent) if *is_nested => header = format!("{}.states.{name}", headers[parent]),
            Some(parent) if !headers[parent].contains("same") => {
                let parent = headers[parent].rsplit('.').next().unwrap();
                writeln!(given, "parent = '{parent}'").unwrap();
            }
            _ => {}
        }
        if headers.contains(&header) {
            header = format!("{around}states.s{at}");
        }
        if *has_comment {
            writeln!(text, "# about {at}\n").unwrap();
        }
        writeln!(text, "[{header}] # {at}").unwrap();
        if keys & 2 == 2 {
            writeln!(text, "exits=[{{when = 'x > {at}', to='s0' }} # one\n,{{ to = 's0', do = {{ n = 3 }}, on='m' }}]")
                .unwrap();
        }
        text.push_str(&given);
        if keys & 4 == 4 {
            writeln!(text, "every  = '2 s' # turns\nbehavior = ['a',   {{ speed = 1, name='b' }}]").unwrap();
        }
        headers.push(header);
    }
    text
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn any_file_means_the_same_in_one_style(
        states in prop::collection::vec((prop::option::of(0..8_usize), any::<bool>(), 0..8_u8, any::<bool>()), 1..8),
        in_machine in any::<bool>(),
    ) {
        let text = random_file(&states, in_machine);
        if meaning(&text).is_some() {
            assert_formatted(&text);
        }
    }
}
