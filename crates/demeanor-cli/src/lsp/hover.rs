//! The text for the word under the pointer.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use demeanor::definition::{Cursor, CursorPart, Meaning, Mention, Outline, StateOutline, Survey, ValueKind, Words};
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};

use super::condition::{WORDS, word_at};
use super::documents::Documents;
use super::place::{Located, Place};
use super::{params, schema};
use crate::workspace::{File, Read, Site, target};

/// Returns the text for the word at a byte, if there is any.
pub(super) fn hover(documents: &mut Documents, file: &File, byte: usize) -> Option<Hover> {
    let read = documents.workspace.read_file(file)?;
    let words = documents.workspace.words(file);
    let (text, span) = of_state(&read, file, byte)
        .or_else(|| of_word(&read.survey, words.as_deref(), byte))
        .or_else(|| of_format(&read, words.as_deref(), byte))?;
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text });
    Some(Hover { contents, range: Some(documents.with_lines(&read.source).range(&span)) })
}

type Said = Option<(String, Range<usize>)>;

fn of_state(read: &Read, file: &File, byte: usize) -> Said {
    let target = target(read, file, byte)?;
    let mut told = Vec::new();
    for site in &target.sites {
        let named = read.survey.outlines().iter().find_map(|outline| {
            let is_it = |state: &&Arc<StateOutline>| Site::of(outline, state.id(), file) == *site;
            Some((outline, outline.states().iter().find(is_it)?))
        });
        told.extend(named.map(|(outline, state)| about(outline, state)).or_else(|| of_region(read, site)));
    }
    (!told.is_empty()).then(|| (told.join("\n\n---\n\n"), target.span))
}

/// Describes a region, if there is one at a site.
fn of_region(read: &Read, site: &Site) -> Option<String> {
    read.survey.outlines().iter().find_map(|outline| {
        let at = |state: &StateOutline| state.region_names().position(|(_, at)| at == site.span());
        let (of, nth) = outline.states().iter().find_map(|state| Some((state, at(state)?)))?;
        let inside = outline.children(of.id()).iter().map(|child| outline.state(*child));
        let states: Vec<_> =
            inside.filter(|state| state.region() == nth).map(|state| format!("`{}`", state.part())).collect();
        let name = of.region_names().nth(nth)?.0;
        Some(format!("region `{name}` of `{}`\n\nstates: {}", of.name(), states.join(", ")))
    })
}

/// Describes a state: its parents, how long it lasts, its behavior, and its exits.
fn about(outline: &Outline, state: &StateOutline) -> String {
    let path = outline.path(state.id()).into_iter().map(|id| outline.state(id).part());
    let mut text = format!("state `{}`", path.collect::<Vec<_>>().join(" / "));
    if let Some(machine) = outline.machine() {
        let _ = write!(text, " of machine `{machine}`");
    }
    if let Some(note) = state.note() {
        let _ = write!(text, "\n\n{}", note.replace('`', "'"));
    }
    let mut facts = Vec::new();
    for (is_so, fact) in [
        (outline.initial() == state.id(), "a machine begins in it"),
        (outline.global() == Some(state.id()), "runs beside every other state"),
        (state.is_final(), "is final"),
        (state.is_entry(), "the game's code changes to it"),
        (state.keeps_history(), "the game can come back to the child that was left last"),
    ] {
        if is_so {
            facts.push(fact.to_owned());
        }
    }
    let behaviors: Vec<_> = state.behaviors().map(|name| format!("`{name}`")).collect();
    if !behaviors.is_empty() {
        facts.push(format!("does {}", behaviors.join(", ")));
    }
    for (when, actions) in
        [("at its entry", listed(state.enter_actions())), ("when it is left", listed(state.exit_actions()))]
    {
        facts.extend(actions.map(|actions| format!("does {actions} {when}")));
    }
    let around = state.parent().map(|parent| outline.state(parent));
    let region = around.and_then(|around| Some((around, around.region_names().nth(state.region())?.0)));
    facts.extend(region.map(|(around, region)| format!("lies in region `{region}` of `{}`", around.part())));
    let regions: Vec<_> = state.region_names().map(|(name, _)| format!("`{name}`")).collect();
    facts.extend((!regions.is_empty()).then(|| format!("has the regions {}", regions.join(", "))));
    facts.extend(state.machine().map(|machine| format!("runs the machine `{machine}`")));
    facts.extend(state.initial().map(|child| format!("begins with `{}`", outline.state(child).part())));
    facts.extend(state.every().map(|every| format!("every {every}")));
    facts.extend(state.enter_when().map(|when| format!("can be entered when `{when}`")));
    for fact in facts {
        let _ = write!(text, "\n- {fact}");
    }
    if !state.exits().is_empty() {
        text.push_str("\n\nexits:");
    }
    for exit in state.exits() {
        let to = exit.leads().is_named().then(|| format!("to `{}`", outline.state(exit.target()).name()));
        let label = Some(exit.label().replace('`', "'")).filter(|label| !label.is_empty());
        let _ = write!(text, "\n1. {}", to.into_iter().chain(label).collect::<Vec<_>>().join(": "));
        if let Some(note) = exit.note() {
            let _ = write!(text, " ({})", note.replace('`', "'"));
        }
    }
    text
}

fn listed(actions: impl Iterator<Item = String>) -> Option<String> {
    let actions: Vec<_> = actions.map(|action| format!("`{}`", action.replace('`', "'"))).collect();
    (!actions.is_empty()).then(|| actions.join(", "))
}

fn of_word(survey: &Survey, words: Option<&Words>, byte: usize) -> Said {
    let mentions = survey.outlines().iter().flat_map(Outline::mentions);
    let is_here = |mention: &&Mention| (mention.span().start..=mention.span().end).contains(&byte);
    let mention = { mentions }.find(is_here)?;
    let name = mention.name();
    let text = match mention.meaning() {
        Meaning::Behavior => behavior(name, words),
        Meaning::Value => kinded("value", name, words, |words| words.values.get(name)),
        Meaning::Message => message(name, words),
        Meaning::Action => action(name, words),
        Meaning::Field { message } => {
            let field = kinded("field", &format!("message.{name}"), words, |words| {
                words.message_fields.get(message)?.get(name)
            });
            let says = words.map(|words| description(words, &format!("{message}.{name}"))).unwrap_or_default();
            field + says.as_str()
        }
        Meaning::Script => format!("script `{name}`"),
        _ => return None,
    };
    Some((text, mention.span()))
}

/// Describes a word of the vocabulary, if there is one.
fn kinded(what: &str, name: &str, words: Option<&Words>, kind: impl FnOnce(&Words) -> Option<&ValueKind>) -> String {
    let Some(words) = words else { return format!("{what} `{name}`") };
    let kind = kind(words).map_or("the game does not offer it", |kind| described(*kind));
    format!("{what} `{name}`: {kind}{}", description(words, name))
}

/// Returns the game's description of a word, as a paragraph.
pub(super) fn description(words: &Words, name: &str) -> String {
    words.descriptions.get(name).map(|says| format!("\n\n{says}")).unwrap_or_default()
}

/// Describes the kind of a value.
pub(super) fn described(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Number => "a number",
        ValueKind::Flag => "true or false",
    }
}

/// Describes a behavior, with the schema of its parameters.
pub(super) fn behavior(name: &str, words: Option<&Words>) -> String {
    let mut text = format!("behavior `{name}`");
    let Some(words) = words else { return text };
    let Some(schema) = words.behaviors.get(name) else {
        text.push_str(": the game does not offer it");
        return text;
    };
    text.push_str(&description(words, name));
    if let Some(says) = schema.as_ref().and_then(|schema| schema["description"].as_str()) {
        let _ = write!(text, "\n\n{says}");
    }
    let params = params::of(words, name);
    if !params.is_empty() {
        text.push_str("\n\nparameters:");
    }
    for param in params {
        let _ = write!(text, "\n- {}", parameter(&param));
    }
    text
}

/// Describes a parameter.
pub(super) fn parameter(param: &params::Param<'_>) -> String {
    let mut text = format!("`{}`", param.name);
    if !param.kind.is_empty() {
        let _ = write!(text, ": {}", param.kind);
    }
    if param.is_needed {
        text.push_str(", needed");
    }
    if !param.says.is_empty() {
        let _ = write!(text, ". {}", param.says);
    }
    text
}

/// Describes an action.
pub(super) fn action(name: &str, words: Option<&Words>) -> String {
    let mut text = format!("action `{name}`");
    let Some(words) = words else { return text };
    text.push_str(match words.actions.get(name) {
        None => ": the game does not offer it",
        Some(None) => "",
        Some(Some(_)) => ", with a number",
    });
    text + description(words, name).as_str()
}

/// Describes a message and its fields.
pub(super) fn message(name: &str, words: Option<&Words>) -> String {
    let mut text = format!("message `{name}`");
    text.push_str(&words.map(|words| description(words, name)).unwrap_or_default());
    let fields = words.and_then(|words| words.message_fields.get(name));
    for (field, kind) in fields.into_iter().flatten() {
        let _ = write!(text, "\n- `message.{field}`: {}", described(*kind));
    }
    text
}

/// Describes the format's own words: keys, parameters, functions in conditions.
fn of_format(read: &Read, words: Option<&Words>, byte: usize) -> Said {
    let text = &read.source;
    let cursor = Cursor::at(text, end_of_word(text, byte));
    let located = Located::of(&cursor, Some(&read.survey));
    let span = cursor.span();
    match cursor.part() {
        CursorPart::Key => {
            let name = text.get(span.clone())?.trim_matches(['"', '\'']);
            let said = match &located.place {
                Place::Of(table) => schema::key(*table, name)?.says,
                Place::Params { behavior: Some(behavior), .. } => {
                    let params = params::of(words?, behavior);
                    let param = params.iter().find(|param| param.name == name)?;
                    return Some((format!("parameter {} of `{behavior}`", parameter(param)), span));
                }
                _ => return None,
            };
            Some((format!("`{name}`\n\n{said}"), span))
        }
        CursorPart::Value { key, quote, .. } if !quote.is_empty() && located.is_condition(key) => {
            let word = word_at(text.get(span.clone())?, byte.checked_sub(span.start)?);
            let span = span.start + word.start..span.start + word.end;
            let name = text.get(span.clone())?;
            let word = WORDS.iter().find(|word| word.name == name)?;
            Some((format!("`{}`\n\n{}", word.shown, word.says), span))
        }
        _ => None,
    }
}

/// Returns the end of the word at a byte: keys are searched from their ends.
fn end_of_word(text: &str, byte: usize) -> usize {
    let rest = text.get(byte..).unwrap_or_default();
    byte + rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
}
