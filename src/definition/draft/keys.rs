//! Where the names of states and machines stand as keys: in the headers of tables, in dotted keys, in inline tables.
//!
//! A name may be a key more than once, as in `[states.aim]` and `[[states.aim.exits]]`. The parser keeps the first of them; these
//! are the parser's own events, in which all of them are.

use std::borrow::Cow;
use std::ops::Range;

use toml_parser::decoder::Encoding;
use toml_parser::parser::{EventReceiver, parse_document};
use toml_parser::{ErrorSink, Source, Span};

/// How many keys lead to a state's name at most: `machines.imp.states`.
const DEEPEST: usize = 3;

/// One place of a file where the name of a state or of a machine is a key.
///
/// # Examples
///
/// ```
/// use demeanor::definition::Survey;
///
/// let file = "initial = 'aim'\n[states.aim]\n[[states.aim.exits]]\nto = 'aim'\n";
/// let survey = Survey::of("guard.toml", file, None, &|_| None, None);
/// let keys: Vec<_> = survey.keys().iter().map(|key| (key.state(), &file[key.span()])).collect();
/// assert_eq!(keys, [(Some("aim"), "aim"), (Some("aim"), "aim")]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    machine: Option<String>,
    state: Option<String>,
    span: Range<usize>,
}

impl Key {
    /// Returns the machine that is named, or whose state is; `None` in a file of one machine.
    #[must_use]
    pub fn machine(&self) -> Option<&str> {
        self.machine.as_deref()
    }

    /// Returns the state that is named; `None` if it is a machine.
    #[must_use]
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Returns where the name is written, with the quotes around it.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }
}

/// All of them, in the order of the file.
pub(crate) fn keys(text: &str) -> Vec<Key> {
    let source = Source::new(text);
    let tokens = source.lex().into_vec();
    let mut reader = Reader { source, tables: vec![Vec::new()], key: Vec::new(), is_header: false, keys: Vec::new() };
    parse_document(&tokens, &mut reader, &mut ());
    reader.keys
}

/// The names that lead to a table; no more of them than are looked at.
type Path<'i> = Vec<Cow<'i, str>>;

struct Reader<'i> {
    source: Source<'i>,
    /// The table of the last header, and the inline tables and lists that are open in it.
    tables: Vec<Path<'i>>,
    /// The key that is being read, or whose value is.
    key: Path<'i>,
    is_header: bool,
    keys: Vec<Key>,
}

impl Reader<'_> {
    fn open_header(&mut self) {
        self.tables.clear();
        self.tables.push(Vec::new());
        self.key.clear();
        self.is_header = true;
    }

    fn close_header(&mut self) {
        if self.is_header {
            self.tables = vec![std::mem::take(&mut self.key)];
            self.is_header = false;
        }
    }

    /// Goes into a table or a list. Returns whether a name that is looked for may be in it.
    fn open(&mut self, is_list: bool) -> bool {
        let mut path = self.tables.last().cloned().unwrap_or_default();
        path.append(&mut self.key);
        if is_list {
            // What is in a list has no name.
            path.resize(DEEPEST + 1, Cow::Borrowed(""));
        }
        let may_be_in_it = path.len() <= DEEPEST;
        path.truncate(DEEPEST + 1);
        self.tables.push(path);
        may_be_in_it
    }

    fn close(&mut self) {
        if self.tables.len() > 1 {
            self.tables.pop();
        }
        self.key.clear();
    }
}

impl EventReceiver for Reader<'_> {
    fn std_table_open(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.open_header();
    }

    fn std_table_close(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.close_header();
    }

    fn array_table_open(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.open_header();
    }

    fn array_table_close(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.close_header();
    }

    fn inline_table_open(&mut self, _: Span, _: &mut dyn ErrorSink) -> bool {
        self.open(false)
    }

    fn inline_table_close(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.close();
    }

    fn array_open(&mut self, _: Span, _: &mut dyn ErrorSink) -> bool {
        self.open(true)
    }

    fn array_close(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.close();
    }

    fn simple_key(&mut self, span: Span, encoding: Option<Encoding>, _: &mut dyn ErrorSink) {
        let none = Vec::new();
        let table = self.tables.last().unwrap_or(&none);
        if table.len() + self.key.len() > DEEPEST {
            return;
        }
        let mut name = Cow::Borrowed("");
        if let Some(raw) = self.source.get(span) {
            toml_parser::Raw::new_unchecked(raw.as_str(), encoding, span).decode_key(&mut name, &mut ());
        }
        let path: Vec<&str> = table.iter().chain(&self.key).map(AsRef::as_ref).collect();
        let named = match path[..] {
            ["machines"] => Some((Some(name.to_string()), None)),
            ["states"] => Some((None, Some(name.to_string()))),
            ["machines", machine, "states"] => Some((Some(machine.to_owned()), Some(name.to_string()))),
            _ => None,
        };
        if let Some((machine, state)) = named {
            self.keys.push(Key { machine, state, span: span.start()..span.end() });
        }
        self.key.push(name);
    }

    fn value_sep(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.key.clear();
    }

    fn newline(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.close_header();
        self.key.clear();
    }
}
