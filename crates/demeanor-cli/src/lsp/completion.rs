//! Completion: the format's keys, states, machines, and the game's words that can be written at a position.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;

use demeanor::definition::{Choose, Cursor, CursorPart, Key, Meaning, Mention, Outline, Survey, ValueKind, Words};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionTextEdit, Documentation, MarkupContent, MarkupKind,
    TextEdit,
};

use super::condition::{Asked, WORDS, Word, asked};
use super::documents::Documents;
use super::hover::{action, behavior, described, description, message, parameter};
use super::params::{self, Param};
use super::place::{Located, Place};
use super::position::Text;
use super::schema::{self, Table};
use crate::workspace::{File, files_below, in_condition, in_quotes};

/// The largest number of completions at one time. If there are more, only those that begin with the text before the cursor are
/// offered.
const MOST_OFFERED: usize = 500;

/// Returns the completions at a byte of a document.
pub(super) fn complete(documents: &mut Documents, file: &File, byte: usize) -> Option<CompletionList> {
    let survey = documents.latest(file)?;
    let source = documents.source(file)?;
    let good = documents.good(file);
    let words = documents.workspace.words(file);
    let cursor = Cursor::at(&source.text, byte);
    let located = Located::of(&cursor, Some(&survey));
    let surveys: Vec<&Survey> = [Some(&*survey), good.as_deref()].into_iter().flatten().collect();
    let writer =
        Writer { source: &source, byte, path: file.path(), surveys, words: words.as_deref(), cursor: &cursor, located };
    let (span, mut offers) = match cursor.part() {
        CursorPart::Header => (cursor.span(), writer.tables()),
        CursorPart::Value { key, quote, .. } => writer.values(key, quote),
        _ => (cursor.span(), writer.keys()),
    };
    let written = source.text.get(span.start..byte.max(span.start)).unwrap_or_default().trim_start_matches(['"', '\'']);
    let is_incomplete = offers.len() > MOST_OFFERED;
    if is_incomplete {
        let begin = written.to_lowercase();
        offers.retain(|offer| offer.label.to_lowercase().starts_with(&begin));
        offers.truncate(MOST_OFFERED);
    }
    let range = source.range(&span);
    let items = offers.into_iter().map(|offer| offer.item(range)).collect();
    Some(CompletionList { is_incomplete, items })
}

/// A completion.
struct Offer {
    label: String,
    kind: CompletionItemKind,
    detail: Option<String>,
    says: Option<String>,
    insert: String,
}

impl Offer {
    fn new(label: impl Into<String>, kind: CompletionItemKind) -> Self {
        let label = label.into();
        Self { insert: label.clone(), label, kind, detail: None, says: None }
    }

    fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into()).filter(|detail| !detail.is_empty());
        self
    }

    fn says(mut self, says: impl Into<String>) -> Self {
        self.says = Some(says.into()).filter(|says| !says.is_empty());
        self
    }

    fn insert(mut self, insert: impl Into<String>) -> Self {
        self.insert = insert.into();
        self
    }

    fn item(self, range: lsp_types::Range) -> CompletionItem {
        let markup = |value| Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value });
        CompletionItem {
            // An editor compares the text before the cursor, including its quote, with `filter_text`.
            filter_text: Some(self.insert.clone()).filter(|insert| *insert != self.label),
            label: self.label,
            kind: Some(self.kind),
            detail: self.detail,
            documentation: self.says.map(markup),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, self.insert))),
            ..CompletionItem::default()
        }
    }
}

struct Writer<'c> {
    source: &'c Text,
    byte: usize,
    path: Option<&'c Path>,
    /// The survey of the current document, and the survey of the last version without errors.
    surveys: Vec<&'c Survey>,
    words: Option<&'c Words>,
    cursor: &'c Cursor,
    located: Located<'c>,
}

impl Writer<'_> {
    /// Returns the names of tables.
    fn tables(&self) -> Vec<Offer> {
        let written = self.source.text.get(self.cursor.span()).unwrap_or_default();
        if written.contains('.') {
            return Vec::new();
        }
        let tables = [
            ("states.", "A state, by its name."),
            ("machines.", "One of several machines, by its name."),
            ("constants", "Numbers by name."),
            ("conditions", "Conditions by name."),
            ("properties.", "A property that the tool proves, by its name."),
        ];
        tables.into_iter().map(|(name, says)| Offer::new(name, CompletionItemKind::MODULE).says(says)).collect()
    }

    /// Returns the keys that the table does not have yet.
    fn keys(&self) -> Vec<Offer> {
        let is_given = |name: &str| self.cursor.beside().iter().any(|(given, _)| given == name);
        let mut offers: Vec<Offer> = Vec::new();
        match &self.located.place {
            Place::Of(table) => {
                for key in schema::keys(*table) {
                    // These are two spellings of one key.
                    let is_other = key.name == "behaviour" || key.name == "behavior" && is_given("behaviour");
                    if !is_given(&key.name) && !is_other {
                        offers.push(Offer::new(key.name, CompletionItemKind::PROPERTY).says(key.says));
                    }
                }
            }
            Place::Params { behavior, has_name } => {
                if *has_name && !is_given("name") {
                    let says = "The behavior: a word of the game's vocabulary.";
                    offers.push(Offer::new("name", CompletionItemKind::PROPERTY).says(says));
                }
                for param in self.params(behavior.as_deref()).into_iter().filter(|param| !is_given(param.name)) {
                    let offer = Offer::new(param.name, CompletionItemKind::FIELD).says(parameter(&param));
                    offers.push(offer.detail(param.kind));
                }
            }
            Place::Actions => offers.extend(self.actions().into_iter().filter(|offer| !is_given(&offer.label))),
            Place::Set => offers.extend(self.settable().filter(|offer| !is_given(&offer.label))),
            Place::Conditions | Place::Regions | Place::Other => {}
        }
        offers
    }

    fn params(&self, behavior: Option<&str>) -> Vec<Param<'_>> {
        self.words.zip(behavior).map(|(words, behavior)| params::of(words, behavior)).unwrap_or_default()
    }

    /// Returns the possible values of a key, and the range that they replace.
    fn values(&self, key: &str, quote: &str) -> (Range<usize>, Vec<Offer>) {
        let span = self.cursor.span();
        let Some(first) = quote.chars().next() else {
            let quoted = self.texts(key).into_iter().map(|offer| {
                let insert = in_quotes(&offer.label, '"');
                offer.insert(insert)
            });
            return (span, self.flags(key).into_iter().chain(quoted).collect());
        };
        if self.located.is_condition(key) {
            return self.condition(key, &span, first);
        }
        let offers = self.texts(key).into_iter().filter_map(|offer| {
            let quoted = in_quotes(&offer.label, first);
            let insert = quoted.strip_prefix(first)?.strip_suffix(first)?.to_owned();
            Some(offer.insert(insert))
        });
        (span, offers.collect())
    }

    /// Returns `true` and `false`, if the key's value is a boolean.
    fn flags(&self, key: &str) -> Vec<Offer> {
        let is_flag = match &self.located.place {
            Place::Of(table) => schema::key(*table, key).is_some_and(|key| key.is_flag),
            Place::Params { behavior, .. } => {
                self.params(behavior.as_deref()).iter().any(|param| param.name == key && param.is_flag)
            }
            Place::Set => self.words.is_some_and(|words| words.values.get(key) == Some(&ValueKind::Flag)),
            Place::Actions | Place::Conditions | Place::Regions | Place::Other => false,
        };
        let offers = ["true", "false"].into_iter().map(|word| Offer::new(word, CompletionItemKind::CONSTANT));
        offers.filter(|_| is_flag).collect()
    }

    /// Returns the texts that the value of a key can be.
    fn texts(&self, key: &str) -> Vec<Offer> {
        match (&self.located.place, key) {
            (Place::Of(Table::Exit), "to") => {
                let back = Offer::new("$previous", CompletionItemKind::KEYWORD).says("Back to the previous state.");
                self.states().into_iter().chain([back]).collect()
            }
            (Place::Of(_), "initial" | "regions" | "parent" | "global" | "push" | "resume") | (Place::Regions, _) => {
                self.states()
            }
            (Place::Of(Table::State), "region") => self.regions(),
            (Place::Of(Table::Machine), "like") => self.machines(),
            (Place::Of(Table::State), "machine") => self.machines().into_iter().chain(self.files("toml")).collect(),
            (Place::Of(Table::State | Table::Script), "script") => {
                let offered = self.words.into_iter().flat_map(|words| &words.script_files);
                offered.map(|name| Offer::new(name, CompletionItemKind::FILE)).chain(self.files("rhai")).collect()
            }
            (Place::Of(Table::Exit), "on") | (Place::Of(Table::State), "ignore") => self.messages(),
            (Place::Of(Table::Exit), "do") | (Place::Of(Table::State), "enter" | "exit") => self.actions(),
            (Place::Of(Table::State), "behavior" | "behaviour") | (Place::Params { has_name: true, .. }, "name") => {
                self.behaviors()
            }
            (Place::Of(Table::Exit), "at") => self.numbers(),
            (Place::Of(Table::State), "every") | (Place::Of(Table::Exit), "after" | "cooldown") => {
                self.units().chain(self.defined(false)).chain(self.numbers()).collect()
            }
            (Place::Of(Table::Property), "within") => self.units().collect(),
            (Place::Of(Table::State), "choose") => {
                let words = [Choose::First, Choose::Best, Choose::Random];
                words.map(|word| Offer::new(word.to_string(), CompletionItemKind::ENUM_MEMBER)).into()
            }
            (Place::Params { behavior, .. }, param) => {
                let params = self.params(behavior.as_deref());
                let Some(param) = params.into_iter().find(|one| one.name == param) else { return Vec::new() };
                if param.is_state {
                    return self.states();
                }
                let words = param.words.into_iter();
                words.map(|word| Offer::new(word, CompletionItemKind::ENUM_MEMBER)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the states of the machine.
    fn states(&self) -> Vec<Offer> {
        let mut seen = BTreeSet::new();
        let mut offers = Vec::new();
        let mut add = |name: &str, detail: String| {
            if seen.insert(name.to_owned()) {
                offers.push(Offer::new(name, CompletionItemKind::CLASS).detail(detail));
            }
        };
        for outline in self.surveys.iter().filter_map(|survey| self.located.outline(survey)) {
            for state in outline.states() {
                add(state.name(), state.behaviors().collect::<Vec<_>>().join(", "));
            }
        }
        // A state that cannot be read may still have a readable header.
        let keys = self.surveys.iter().flat_map(|survey| survey.keys());
        let names = keys.filter(|key| key.machine() == self.located.machine).filter_map(Key::state);
        names.for_each(|name| add(name, String::new()));
        offers
    }

    /// Returns the names of the regions of the parent that is written; without a parent, of all states.
    fn regions(&self) -> Vec<Offer> {
        let mut seen = BTreeSet::new();
        let parent = self.cursor.value("parent");
        let outlines = self.surveys.iter().filter_map(|survey| self.located.outline(survey));
        let states = outlines.flat_map(Outline::states);
        let states =
            states.filter(|state| parent.is_none_or(|parent| state.name() == parent || state.part() == parent));
        let names = states.flat_map(|state| state.region_names().map(move |(name, _)| (name, state.name())));
        let new = names.filter(|(name, _)| seen.insert(*name));
        new.map(|(name, of)| Offer::new(name, CompletionItemKind::ENUM_MEMBER).detail(format!("of {of}"))).collect()
    }

    fn machines(&self) -> Vec<Offer> {
        let names = self.surveys.iter().flat_map(|survey| survey.outlines()).filter_map(Outline::machine);
        let names: BTreeSet<_> = names.filter(|name| Some(*name) != self.located.machine).collect();
        names.into_iter().map(|name| Offer::new(name, CompletionItemKind::MODULE)).collect()
    }

    fn messages(&self) -> Vec<Offer> {
        let runs = self.cursor.around().iter().any(|(key, _)| key == "machine");
        let done =
            Offer::new("done", CompletionItemKind::EVENT).says("When the machine of this state has come to an end.");
        let names = self.words.into_iter().flat_map(|words| words.messages.iter().map(String::as_str));
        let names = names.chain(self.named(&Meaning::Message));
        let offers = names.map(|name| Offer::new(name, CompletionItemKind::EVENT).says(message(name, self.words)));
        offers.chain(Some(done).filter(|_| runs)).collect()
    }

    fn actions(&self) -> Vec<Offer> {
        let actions = self.words.into_iter().flat_map(|words| words.actions.keys());
        actions.map(|name| Offer::new(name, CompletionItemKind::FUNCTION).says(action(name, self.words))).collect()
    }

    /// Returns the values that the game lets exits set.
    fn settable(&self) -> impl Iterator<Item = Offer> {
        let values = self
            .words
            .into_iter()
            .flat_map(|words| words.values.iter().filter(|(name, _)| words.fields.contains(*name)));
        values.map(|(name, kind)| self.value(name, *kind))
    }

    fn behaviors(&self) -> Vec<Offer> {
        let names = self.words.into_iter().flat_map(|words| words.behaviors.keys());
        names.map(|name| Offer::new(name, CompletionItemKind::FUNCTION).says(behavior(name, self.words))).collect()
    }

    fn value(&self, name: &str, kind: ValueKind) -> Offer {
        let says = self.words.map(|words| description(words, name)).unwrap_or_default();
        Offer::new(name, CompletionItemKind::VARIABLE).detail(described(kind)).says(says.trim_start())
    }

    /// Returns the values that are numbers.
    fn numbers(&self) -> Vec<Offer> {
        let values = self.words.into_iter().flat_map(|words| &words.values);
        let numbers = values.filter(|(_, kind)| **kind == ValueKind::Number);
        let named = self.named(&Meaning::Value).into_iter().map(|name| Offer::new(name, CompletionItemKind::VARIABLE));
        numbers.map(|(name, kind)| self.value(name, *kind)).chain(named).collect()
    }

    /// Returns the words with a meaning that the file uses, if the words of the game are not known.
    fn named(&self, meaning: &Meaning) -> BTreeSet<&str> {
        if self.words.is_some() {
            return BTreeSet::new();
        }
        let mentions = self.surveys.iter().flat_map(|survey| survey.outlines()).flat_map(Outline::mentions);
        let here = self.cursor.span();
        let others = mentions.filter(|mention| mention.span().end <= here.start || here.end <= mention.span().start);
        others.filter(|mention| mention.meaning() == meaning).map(Mention::name).collect()
    }

    /// Returns durations: the number before the cursor with each unit.
    fn units(&self) -> impl Iterator<Item = Offer> + use<> {
        let written = self.source.text.get(self.cursor.span().start..self.byte).unwrap_or_default();
        // The beginning of a unit may already be written.
        let is_of_unit = |c: char| c.is_ascii_alphabetic() || c == ' ';
        let begin = written.trim_start_matches(['"', '\'']).trim_end_matches(is_of_unit).to_owned();
        let units: &[&str] =
            if begin.ends_with(|c: char| c.is_ascii_digit()) { &["s", "ms", "min", "h", "ticks"] } else { &[] };
        units.iter().map(move |unit| Offer::new(format!("{begin} {unit}"), CompletionItemKind::UNIT))
    }

    /// Returns the other files with this extension, beside the document and in folders below.
    fn files(&self, extension: &str) -> Vec<Offer> {
        let Some(folder) = self.path.and_then(Path::parent) else { return Vec::new() };
        let mut files = files_below(&[folder.into()], extension);
        files.sort();
        let names = files.iter().filter(|path| Some(&***path) != self.path).filter_map(|path| {
            let parts: Option<Vec<_>> = path.strip_prefix(folder).ok()?.iter().map(OsStr::to_str).collect();
            Some(parts?.join("/"))
        });
        names.map(|name| Offer::new(name, CompletionItemKind::FILE)).collect()
    }

    /// Returns the constants of the file and, if `has_conditions` is set, its conditions.
    fn defined(&self, has_conditions: bool) -> impl Iterator<Item = Offer> {
        let outlines = self.surveys.iter().filter_map(|survey| self.located.outline(survey));
        let words = outlines.flat_map(move |outline| {
            let names = outline.defined_words().map(|(name, _)| name);
            names.filter(move |name| has_conditions || outline.is_constant(name))
        });
        let names: BTreeSet<_> = words.collect();
        names.into_iter().map(|name| Offer::new(name, CompletionItemKind::CONSTANT).detail("defined in this file"))
    }

    /// Returns the completions in a condition or a calculation.
    fn condition(&self, key: &str, inner: &Range<usize>, quote: char) -> (Range<usize>, Vec<Offer>) {
        let before = self.source.text.get(inner.start..self.byte.max(inner.start)).unwrap_or_default();
        let to = self.byte.max(inner.start);
        match asked(before) {
            Asked::State(start) => {
                let named = self.states().into_iter().filter_map(|offer| {
                    let insert = in_condition(&offer.label, quote)?;
                    Some(offer.insert(insert))
                });
                (inner.start + start..to, named.collect())
            }
            Asked::Field(start) => {
                let on = self.cursor.value("on");
                let fields = self.words.zip(on).and_then(|(words, on)| words.message_fields.get(on));
                let fields = fields.into_iter().flatten();
                let offer =
                    |(name, kind): (&String, &_)| Offer::new(name, CompletionItemKind::FIELD).detail(described(*kind));
                (inner.start + start..to, fields.map(offer).collect())
            }
            Asked::Word(start) => {
                let values = self.words.into_iter().flat_map(|words| &words.values);
                let values =
                    values.map(|(name, kind)| Offer::new(name, CompletionItemKind::VARIABLE).detail(described(*kind)));
                let in_file = self.named(&Meaning::Value).into_iter();
                let values = values.chain(in_file.map(|name| Offer::new(name, CompletionItemKind::VARIABLE)));
                let of_message = self
                    .cursor
                    .value("on")
                    .map(|on| Offer::new("message.", CompletionItemKind::FIELD).says(message(on, self.words)));
                // A property belongs to no state, and draws no chance.
                let is_property = self.located.place == Place::Of(Table::Property);
                let is_calculation =
                    matches!(self.located.place, Place::Actions | Place::Set) || matches!(key, "score" | "weight");
                let has = |word: &&Word| {
                    !(is_property && matches!(word.name, "time_in_state" | "chance" | "chance_per_second"))
                        && (word.is_number || !is_calculation)
                };
                let functions = WORDS.iter().filter(has).map(|word| {
                    let is_function = word.insert.ends_with('(');
                    let kind = if is_function { CompletionItemKind::FUNCTION } else { CompletionItemKind::KEYWORD };
                    Offer::new(word.name, kind).detail(word.shown).says(word.says).insert(word.insert)
                });
                let of_file = self.defined(!is_calculation);
                (inner.start + start..to, of_file.chain(values).chain(of_message).chain(functions).collect())
            }
        }
    }
}
