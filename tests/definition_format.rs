//! The format as it is published, and what any text at all comes to.
#![cfg(feature = "definition")]

use std::fs;
use std::path::Path;

use demeanor::Owner;
use demeanor::definition::{Definition, Outline, Vocabulary, Words, schema};
use proptest::prelude::*;

#[derive(Debug)]
struct Owned {
    a: f64,
    b: f64,
    yes: bool,
}

impl Owner for Owned {
    type Context<'a> = f64;
    type Message = ();

    fn now(seconds: &f64) -> f64 {
        *seconds
    }
}

fn vocabulary() -> Vocabulary<Owned> {
    Vocabulary::new()
        .value("a", |owner: &Owned, _| owner.a)
        .value("b", |owner: &Owned, _| owner.b)
        .flag("yes", |owner: &Owned, _| owner.yes)
}

/// What is published is what the code says. Set `UPDATE` to publish anew.
#[test]
fn the_published_schema_is_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/definition.schema.json");
    let json = format!("{:#}\n", schema());
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &json).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap() == json, "docs/definition.schema.json is not what the code says");
}

#[test]
fn every_block_of_toml_in_the_designers_page_is_a_definition() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/definitions.md")).unwrap();
    let blocks: Vec<_> = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 3);
    for block in blocks {
        let outline =
            Outline::parse("docs/definitions.md", block, None).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(outline.warnings(), []);
    }
}

#[test]
fn a_vocabulary_comes_back_from_json_as_it_was() {
    let words = vocabulary().export();
    assert_eq!(Words::from_json(&words.to_json()).unwrap(), words);
}

/// What the fuzzer begins with, as a test.
#[test]
fn no_seed_of_the_fuzzer_panics() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/definition");
    let mut read = 0;
    for entry in fs::read_dir(seeds).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        let _ = Outline::from_bytes("seed", &bytes, Some(&vocabulary().export()));
        read += 1;
    }
    assert!(read >= 5);
}

/// A condition, with what it should come to for an owner.
#[derive(Clone, Debug)]
struct Said {
    text: String,
    answer: fn(&Said, &Owned, f64) -> bool,
    parts: Vec<Said>,
    number: f64,
}

fn atom() -> impl Strategy<Value = Said> {
    let said = |text: String, number: f64, answer: fn(&Said, &Owned, f64) -> bool| Said {
        text,
        answer,
        parts: vec![],
        number,
    };
    prop_oneof![
        Just(said("yes".into(), 0.0, |_, owner, _| owner.yes)),
        Just(said("yes == false".into(), 0.0, |_, owner, _| !owner.yes)),
        Just(said("true".into(), 0.0, |_, _, _| true)),
        (-4_i8..4).prop_map(move |n| said(format!("a < {n}"), n.into(), |said, owner, _| owner.a < said.number)),
        (-4_i8..4).prop_map(move |n| said(format!("{n} >= b"), n.into(), |said, owner, _| said.number >= owner.b)),
        (-4_i8..4).prop_map(move |n| said(format!("a != {n}"), n.into(), |said, owner, _| {
            owner.a.partial_cmp(&said.number).is_some_and(std::cmp::Ordering::is_ne)
        })),
        (0_i8..4).prop_map(move |n| said(format!("time_in_state > {n}"), n.into(), |said, _, time| time > said.number)),
        Just(said("a <= b".into(), 0.0, |_, owner, _| owner.a <= owner.b)),
    ]
}

fn condition() -> impl Strategy<Value = Said> {
    atom().prop_recursive(4, 32, 4, |inner| {
        let joined = |by: &'static str, answer: fn(&Said, &Owned, f64) -> bool| {
            move |parts: Vec<Said>| {
                let text: Vec<_> = parts.iter().map(|part| format!("({})", part.text)).collect();
                Said { text: text.join(by), answer, parts, number: 0.0 }
            }
        };
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(joined(" and ", |said, owner, time| {
                said.parts.iter().all(|part| (part.answer)(part, owner, time))
            })),
            prop::collection::vec(inner.clone(), 1..4).prop_map(joined(" or ", |said, owner, time| {
                said.parts.iter().any(|part| (part.answer)(part, owner, time))
            })),
            inner.prop_map(|part| Said {
                text: format!("not ({})", part.text),
                answer: |said, owner, time| !(said.parts[0].answer)(&said.parts[0], owner, time),
                parts: vec![part],
                number: 0.0,
            }),
        ]
    })
}

fn owner() -> impl Strategy<Value = Owned> {
    let number = prop_oneof![9 => (-4_i8..4).prop_map(f64::from), 1 => Just(f64::NAN)];
    (number.clone(), number, any::<bool>()).prop_map(|(a, b, yes)| Owned { a, b, yes })
}

proptest! {
    #[test]
    fn a_condition_comes_to_what_its_parts_say_for_one_owner_and_for_many(
        said in condition(),
        owners in prop::collection::vec(owner(), 1..150),
    ) {
        let file = format!("initial = \"x\"\n[states.x]\nexits = [{{ to = \"y\", when = \"{}\" }}]\n[states.y]\n", said.text);
        let definition = Definition::parse(&file, &vocabulary()).unwrap();
        let mut time = 2.0;
        let mut batch = demeanor::Batch::new();
        let mut expected = Vec::new();
        let mut keys = Vec::new();
        for owner in owners {
            let answer = (said.answer)(&said, &owner, time);
            let mut copy = Owned { ..owner };
            let mut machine = definition.machine();
            machine.update(&mut copy, &mut time);
            prop_assert_eq!(machine.current().unwrap().name() == "y", answer);
            expected.push(answer);
            keys.push(batch.insert(owner, definition.initial()));
        }
        batch.update(&mut time);
        for (key, expected) in keys.into_iter().zip(expected) {
            prop_assert_eq!(batch.state_of(key).unwrap().name() == "y", expected);
        }
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,200}") {
        let _ = Outline::parse("any", &text, Some(&vocabulary().export()));
    }

    #[test]
    fn any_condition_is_read_without_a_panic(text in "[ a-z0-9<>=!()&|.\\-]{0,60}|((a|not|and|or|\\(|\\)|<|1|yes|chance) ?){0,30}") {
        let file = format!("initial = \"x\"\n[states.x]\nexits = [{{ to = \"y\", when = '{text}' }}]\n[states.y]\n");
        let _ = Outline::parse("any", &file, Some(&vocabulary().export()));
    }
}
