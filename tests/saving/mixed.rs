//! Files of another version or of another kind, and fields that are missing, renamed or there twice: in each format, an error that
//! says what is wrong.

use std::collections::BTreeSet;

use demeanor::save::VERSION;
use demeanor::{Agent, Batch, Dispatcher, SavedAgent, SavedBatch, SavedCast, SavedMachine, Telegram};
use serde_json::Value;

use crate::barracks::{Guard, batch, book, machines};
use crate::cast::{self, News, Town};
use crate::formats::Format;

/// What can be saved.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Machine,
    Agent,
    Batch,
    Cast,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Machine, Self::Agent, Self::Batch, Self::Cast];

    /// Several of it, from little to all that there is.
    fn write(self, format: Format) -> Vec<Vec<u8>> {
        let machines = || machines().into_iter();
        let written: Result<Vec<_>, _> = match self {
            Self::Machine => {
                machines().map(|(_, machine)| format.write(&machine.save(&book(), 4.9).unwrap())).collect()
            }
            Self::Agent => {
                let agents = machines().map(|(guard, machine)| Agent::new(guard, machine));
                agents.map(|agent| format.write(&agent.save(&book(), 4.9).unwrap())).collect()
            }
            Self::Batch => [Batch::new(), batch().0]
                .map(|batch| format.write(&batch.save(&book(), 4.9).unwrap()))
                .into_iter()
                .collect(),
            Self::Cast => {
                let mut town = cast::town();
                let empty = Town::new(vec![]);
                for _ in 0..5 {
                    cast::tick(&mut town);
                }
                town.send_after(0.5, 1, 2, News::StewReady);
                [empty, town].map(|town| format.write(&town.save(&cast::book()).unwrap())).into_iter().collect()
            }
        };
        written.unwrap()
    }

    /// Reads and loads it.
    fn read(self, format: Format, bytes: &[u8]) -> Result<(), String> {
        match self {
            Self::Machine => {
                let saved: SavedMachine = format.read(bytes)?;
                book().load(saved, 4.9).map(drop).map_err(|error| error.to_string())
            }
            Self::Agent => {
                let saved: SavedAgent<Guard> = format.read(bytes)?;
                Agent::load(saved, &book(), 4.9).map(drop).map_err(|error| error.to_string())
            }
            Self::Batch => {
                let saved: SavedBatch<Guard> = format.read(bytes)?;
                Batch::load(saved, &book(), 4.9).map(drop).map_err(|error| error.to_string())
            }
            Self::Cast => {
                let saved: SavedCast<u8, News> = format.read(bytes)?;
                Town::load(saved, &cast::book(), vec![]).map(drop).map_err(|error| error.to_string())
            }
        }
    }
}

#[test]
fn what_is_saved_as_one_kind_is_not_loaded_as_another_in_any_format() {
    for format in Format::ALL {
        for of in Kind::ALL {
            for (nth, bytes) in of.write(format).into_iter().enumerate() {
                assert_eq!(of.read(format, &bytes), Ok(()), "{of:?} in {format:?}");
                // Where fields have no names, an empty batch is written as an empty cast is.
                let is_empty = nth == 0 && matches!(of, Kind::Batch | Kind::Cast);
                if is_empty && !format.has_names() {
                    continue;
                }
                for other in Kind::ALL.into_iter().filter(|other| *other != of) {
                    let error = other.read(format, &bytes).expect_err(&format!("{of:?} as {other:?} in {format:?}"));
                    assert!(!error.is_empty());
                }
            }
        }
    }
}

#[test]
fn what_is_saved_in_one_format_is_not_read_in_another() {
    for written in Format::ALL {
        for read in Format::ALL {
            // Formats without names have no mark of their own either.
            if written.has_names() == read.has_names() && written.is_json() == read.is_json() {
                continue;
            }
            for of in Kind::ALL {
                for bytes in of.write(written) {
                    let error = of.read(read, &bytes).expect_err(&format!("{of:?} of {written:?} in {read:?}"));
                    assert!(!error.is_empty());
                }
            }
        }
    }
}

/// A value whose version is another, with the rest of it as it is, as something else, or not there.
fn of_version(version: u32, value: &Value) -> Vec<Value> {
    let mut same = value.clone();
    same["version"] = version.into();
    let mut other = same.clone();
    other["content"] = "who knows".into();
    let mut gone = same.clone();
    gone.as_object_mut().unwrap().remove("content");
    vec![same, other, gone]
}

#[test]
fn another_version_is_the_error_whatever_else_there_is() {
    for of in Kind::ALL {
        let text = of.write(Format::Json).pop().unwrap();
        let value: Value = serde_json::from_slice(&text).unwrap();
        for version in [0, 2, u32::MAX] {
            let says = Err(format!("it was saved in version {version}, and this program reads version {VERSION}"));
            for other in of_version(version, &value) {
                // In a value, the content comes before the version.
                assert_eq!(of.read(Format::JsonValue, other.to_string().as_bytes()), says, "{of:?}: {other}");
                let content = other.get("content").map(|content| format!(",\"content\":{content}"));
                let text = format!("{{\"version\":{version}{}}}", content.unwrap_or_default());
                assert_eq!(of.read(Format::Json, text.as_bytes()), says, "{of:?}: {text}");
            }
            let ron = String::from_utf8(of.write(Format::Ron).pop().unwrap()).unwrap();
            let ron = ron.replacen("version:1", &format!("version:{version}"), 1);
            assert_eq!(of.read(Format::Ron, ron.as_bytes()), says, "{of:?}: {ron}");
            let ron = format!("(version:{version},more:[1],content:\"who knows\")");
            assert_eq!(of.read(Format::Ron, ron.as_bytes()), says, "{of:?}: {ron}");
            for format in Format::ALL.into_iter().filter(|format| !format.has_names()) {
                // The version stands in front.
                let [one, other] = [VERSION, version].map(|version| format.write(&version).unwrap());
                let bytes = of.write(format).pop().unwrap();
                let rest = bytes.strip_prefix(&one[..]).unwrap();
                for rest in [rest, &[0xff; 9], &[]] {
                    assert_eq!(of.read(format, &[&other[..], rest].concat()), says, "{of:?} in {format:?}");
                }
            }
        }
    }
}

/// The ways to all fields in a value.
fn fields(value: &Value, path: &str, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let path = format!("{path}/{name}");
                fields(value, &path, all);
                all.insert(path);
            }
        }
        Value::Array(items) => {
            for (nth, item) in items.iter().enumerate() {
                fields(item, &format!("{path}/{nth}"), all);
            }
        }
        _ => {}
    }
}

/// Each field of what is saved, once for each place that the library gives it: the way to it, its name, and the value.
fn all_fields(of: Kind) -> Vec<(String, String, Value)> {
    let mut seen = BTreeSet::new();
    let mut all = vec![];
    for text in of.write(Format::Json) {
        let value: Value = serde_json::from_slice(&text).unwrap();
        let mut paths = BTreeSet::new();
        fields(&value, "", &mut paths);
        for path in paths {
            let kind: String =
                path.split('/').filter(|part| part.parse::<usize>().is_err()).collect::<Vec<_>>().join("/");
            let (_, name) = path.rsplit_once('/').unwrap();
            // The names of variants, and the game's own fields.
            let is_variant = name.starts_with(char::is_uppercase);
            let is_of_the_game = kind.contains("owner/") || kind.contains("owners/") || kind.contains("message/");
            if !is_variant && !is_of_the_game && seen.insert(kind) {
                all.push((path.clone(), name.to_string(), value.clone()));
            }
        }
    }
    assert!(all.len() > 15, "{all:?}");
    all
}

/// A text with the entry of a field written otherwise.
fn rewritten(value: &Value, path: &str, name: &str, write: impl Fn(&str, &Value) -> String) -> String {
    const MARK: &str = "the entry that is to be written otherwise";
    let (parent, _) = path.rsplit_once('/').unwrap();
    let mut marked = value.clone();
    let object = marked.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    let entry = object.remove(name).unwrap();
    object.insert(MARK.into(), 0.into());
    let text = marked.to_string().replacen(&format!("\"{MARK}\":0"), &write(name, &entry), 1);
    // What is left out leaves a comma behind.
    text.replace("{,", "{").replace(",,", ",").replace(",}", "}")
}

#[test]
fn a_field_that_is_missing_or_renamed_is_an_error_that_names_it() {
    for of in Kind::ALL {
        for (path, name, value) in all_fields(of) {
            let missing = rewritten(&value, &path, &name, |_, _| String::new());
            let renamed = rewritten(&value, &path, &name, |name, entry| format!("\"{name}_\":{entry}"));
            for text in [missing, renamed] {
                for format in [Format::Json, Format::JsonValue] {
                    let error = of.read(format, text.as_bytes()).expect_err(&format!("{of:?} without {path}: {text}"));
                    assert!(error.contains(&name), "{of:?} without {path}: {error}");
                }
            }
        }
    }
}

#[test]
fn a_field_that_is_there_twice_is_an_error_that_names_it() {
    for of in Kind::ALL {
        for (path, name, value) in all_fields(of) {
            let twice = rewritten(&value, &path, &name, |name, entry| format!("\"{name}\":{entry},\"{name}\":{entry}"));
            let error = of.read(Format::Json, twice.as_bytes()).expect_err(&format!("{of:?} with two {path}: {twice}"));
            assert!(error.contains(&format!("duplicate field `{name}`")), "{of:?} with two {path}: {error}");
        }
    }
}

#[test]
fn a_field_of_another_type_is_an_error_that_says_where() {
    for of in Kind::ALL {
        for (path, name, value) in all_fields(of) {
            for other in ["{\"what\":[]}", "\"what\"", "[[],{}]"] {
                let text = rewritten(&value, &path, &name, |name, _| format!("\n\"{name}\":{other}"));
                // A text is one in a text, where the game reads it.
                if let Err(error) = of.read(Format::Json, text.as_bytes()) {
                    assert!(!error.is_empty(), "{of:?} with another {path}");
                } else {
                    panic!("{of:?} with another {path}: {text}");
                }
            }
        }
    }
}

#[test]
fn a_dispatcher_with_a_field_that_is_missing_or_there_twice_is_an_error_that_names_it() {
    let mut post = Dispatcher::merging_within(0.25);
    post.send_at(1.0, Telegram::new(1, 2, 3));
    let value = serde_json::to_value(&post).unwrap();
    for name in ["merging_within", "queue"] {
        let path = format!("/{name}");
        for (text, says) in [
            (rewritten(&value, &path, name, |_, _| String::new()), "missing"),
            (
                rewritten(&value, &path, name, |name, entry| format!("\"{name}\":{entry},\"{name}\":{entry}")),
                "duplicate",
            ),
        ] {
            let read: Result<Dispatcher<i32, i32>, _> = serde_json::from_str(&text);
            let error = read.expect_err(&text).to_string();
            assert!(error.starts_with(&format!("{says} field `{name}`")), "{error}");
        }
    }
}
