//! Files of another version or of another kind, and fields that are missing, renamed or there twice: in each format, an error that
//! says what is wrong.

use std::collections::BTreeSet;

use demeanor::save::VERSION;
use demeanor::{Dispatcher, Telegram};
use serde_json::Value;

use crate::formats::Format;
use crate::kinds::{KINDS, Kind};

#[test]
fn what_is_saved_as_one_kind_is_not_loaded_as_another_in_any_format() {
    for format in Format::ALL {
        for Kind { name, write, read } in KINDS {
            for (nth, bytes) in write(format).into_iter().enumerate() {
                assert_eq!(read(format, &bytes), Ok(()), "{name} in {format:?}");
                // Where fields have no names, an empty batch is written as an empty cast is.
                let is_empty = nth == 0 && ["batch", "cast"].contains(&name);
                if is_empty && !format.has_names() {
                    continue;
                }
                for other in KINDS.iter().filter(|other| other.name != name) {
                    let read = (other.read)(format, &bytes);
                    let error = read.expect_err(&format!("{name} as {} in {format:?}", other.name));
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
            for of in KINDS {
                for bytes in (of.write)(written) {
                    let says = format!("{} of {written:?} in {read:?}", of.name);
                    let error = (of.read)(read, &bytes).expect_err(&says);
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
    for Kind { name, write, read } in KINDS {
        let text = write(Format::Json).pop().unwrap();
        let value: Value = serde_json::from_slice(&text).unwrap();
        for version in [0, 2, u32::MAX] {
            let says = Err(format!("it was saved in version {version}, and this program reads version {VERSION}"));
            for other in of_version(version, &value) {
                // In a value, the content comes before the version.
                assert_eq!(read(Format::JsonValue, other.to_string().as_bytes()), says, "{name}: {other}");
                let content = other.get("content").map(|content| format!(",\"content\":{content}"));
                let text = format!("{{\"version\":{version}{}}}", content.unwrap_or_default());
                assert_eq!(read(Format::Json, text.as_bytes()), says, "{name}: {text}");
            }
            let ron = String::from_utf8(write(Format::Ron).pop().unwrap()).unwrap();
            let ron = ron.replacen("version:1", &format!("version:{version}"), 1);
            assert_eq!(read(Format::Ron, ron.as_bytes()), says, "{name}: {ron}");
            let ron = format!("(version:{version},more:[1],content:\"who knows\")");
            assert_eq!(read(Format::Ron, ron.as_bytes()), says, "{name}: {ron}");
            for format in Format::ALL.into_iter().filter(|format| !format.has_names()) {
                // The version stands in front.
                let [one, other] = [VERSION, version].map(|version| format.write(&version).unwrap());
                let bytes = write(format).pop().unwrap();
                let rest = bytes.strip_prefix(&one[..]).unwrap();
                for rest in [rest, &[0xff; 9], &[]] {
                    assert_eq!(read(format, &[&other[..], rest].concat()), says, "{name} in {format:?}");
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
fn all_fields(of: &Kind) -> Vec<(String, String, Value)> {
    let mut seen = BTreeSet::new();
    let mut all = vec![];
    for text in (of.write)(Format::Json) {
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

/// Writes each field of each kind otherwise, and gives what is read with its name. Nothing of it can be read.
fn each_field(format: Format, write: impl Fn(&str, &Value) -> String, check: impl Fn(&str, String)) {
    for kind in KINDS {
        for (path, name, value) in all_fields(&kind) {
            let text = rewritten(&value, &path, &name, &write);
            match (kind.read)(format, text.as_bytes()) {
                Err(error) => check(&name, error),
                Ok(()) => panic!("{} with another {path} in {format:?}: {text}", kind.name),
            }
        }
    }
}

#[test]
fn a_field_that_is_missing_or_renamed_is_an_error_that_names_it() {
    let is_named = |name: &str, error: String| assert!(error.contains(name), "{name}: {error}");
    for format in [Format::Json, Format::JsonValue] {
        each_field(format, |_, _| String::new(), is_named);
        each_field(format, |name, entry| format!("\"{name}_\":{entry}"), is_named);
    }
}

#[test]
fn a_field_that_is_there_twice_is_an_error_that_names_it() {
    let twice = |name: &str, entry: &Value| format!("\"{name}\":{entry},\"{name}\":{entry}");
    each_field(Format::Json, twice, |name, error| {
        assert!(error.contains(&format!("duplicate field `{name}`")), "{name}: {error}");
    });
}

#[test]
fn a_field_of_another_type_is_an_error_that_says_where() {
    for other in ["{\"what\":[]}", "\"what\"", "[[],{}]"] {
        let write = |name: &str, _: &Value| format!("\n\"{name}\":{other}");
        each_field(Format::Json, write, |name, error| assert!(!error.is_empty(), "{name}"));
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
