//! The states of a file, in the form in which they are written.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use demeanor::definition::Survey;
use toml_edit::{DocumentMut, InlineTable, Item, Key, Table, Value};

use super::comments::{comments, raw};

/// A file, and the states of its machines.
pub(super) struct Written {
    pub(super) document: DocumentMut,
    pub(super) machines: Vec<Machine>,
}

/// A machine: the keys above its states, and the states.
pub(super) struct Machine {
    pub(super) path: Vec<String>,
    pub(super) table: Table,
    pub(super) states: Vec<State>,
    /// The indices of the states, in the order of the file.
    pub(super) order: Vec<usize>,
}

/// A state, with the keys of its own table.
pub(super) struct State {
    /// The name that the state has, which may differ from its key if it is in the table of another state.
    pub(super) name: String,
    /// The key of its table.
    pub(super) key: String,
    /// The index of the state in whose table it is written.
    pub(super) within: Option<usize>,
    /// Its key `parent`.
    pub(super) parent: Option<String>,
    /// Whether it has no header of its own and no keys: only states in it have.
    pub(super) is_implicit: bool,
    pub(super) table: Table,
}

/// The places of the states, by the machine and the names of the states around them and their own.
type Places<'k> = HashMap<(Option<&'k str>, Vec<&'k str>), usize>;

impl Written {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let document: DocumentMut = text
            .trim_start_matches('\u{feff}')
            .parse()
            .map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
        let survey = Survey::of("", text, None, &|_| None, None);
        let mut places = HashMap::new();
        for (at, key) in survey.keys().iter().enumerate() {
            let names: Vec<&str> = key.around().iter().map(String::as_str).chain(key.state()).collect();
            places.entry((key.machine(), names)).or_insert(at);
        }
        let mut machines = vec![Machine::of(Vec::new(), document.as_table().clone(), &places)];
        if let Some(of_file) = table_in(document.as_table(), "machines") {
            for (name, _) in &of_file {
                if let Some(table) = table_in(&of_file, name) {
                    machines.push(Machine::of(vec!["machines".into(), name.into()], table, &places));
                }
            }
            if let Some(first) = machines.get_mut(1) {
                put_above(&mut first.table, &of_file);
            }
        }
        Ok(Self { document, machines })
    }

    /// Returns everything that the file says, by what it is about, but not in which order and form.
    pub(super) fn meaning(&self) -> BTreeMap<String, String> {
        let mut meaning = BTreeMap::new();
        for machine in &self.machines {
            let of = machine.path.get(1).map_or(String::new(), |name| format!(" of machine `{name}`"));
            let skips = ["states", "machines"];
            for (key, item) in machine.table.iter().filter(|(key, _)| !skips.contains(key)) {
                meaning.insert(format!("`{key}`{of}"), normal(item));
            }
            for (at, state) in machine.states.iter().enumerate() {
                let inherits = machine.table.contains_key("like");
                if state.is_implicit && inherits {
                    continue;
                }
                let others = state.table.iter().filter(|(key, _)| !["states", "parent"].contains(key));
                let keys: BTreeMap<_, _> = others.map(|(key, item)| (key.to_owned(), normal(item))).collect();
                let says = format!("{:?} {keys:?}", machine.parent(at));
                meaning.insert(format!("state `{}`{of}", state.name), says);
            }
        }
        meaning
    }
}

impl Machine {
    fn of(path: Vec<String>, table: Table, places: &Places<'_>) -> Self {
        let mut states = Vec::new();
        add(&table, None, &mut states);
        let mut names: BTreeSet<String> =
            states.iter().filter(|state| state.within.is_none()).map(|state| state.key.clone()).collect();
        // As the format has it: of several states with one name, those beside the others and the first one in the file keep it.
        let machine = path.get(1).map(String::as_str);
        let mut order: Vec<usize> = (0..states.len()).collect();
        order.sort_by_cached_key(|at| {
            let around = std::iter::successors(Some(*at), |at| states[*at].within);
            let mut names: Vec<_> = around.map(|at| states[at].key.as_str()).collect();
            names.reverse();
            places.get(&(machine, names)).copied()
        });
        for at in order.iter().copied() {
            let Some(around) = states[at].within else { continue };
            if names.contains(&states[at].key) {
                states[at].name = format!("{}.{}", states[around].name, states[at].key);
            }
            names.insert(states[at].name.clone());
        }
        Self { path, table, states, order }
    }

    /// Returns the name of a state's parent: of the state in whose table it is, or the one that its key `parent` or its name has.
    pub(super) fn parent(&self, at: usize) -> Option<&str> {
        let state = &self.states[at];
        let within = state.within.map(|within| self.states[within].name.as_str());
        within.or(state.parent.as_deref()).or_else(|| {
            let before = state.name.rmatch_indices('.').map(|(end, _)| &state.name[..end]);
            { before }.find(|before| self.states.iter().any(|other| other.name == *before))
        })
    }
}

/// Adds the states in the table of a machine or of a state, each before those in it.
fn add(around: &Table, within: Option<usize>, all: &mut Vec<State>) {
    let Some(states) = table_in(around, "states") else { return };
    let before = all.len();
    for (key, _) in &states {
        let Some(table) = table_in(&states, key) else { continue };
        let at = all.len();
        let is_implicit = table.iter().all(|(key, _)| key == "states") && (table.is_implicit() || table.is_dotted());
        let parent = table.get("parent").and_then(Item::as_str).map(str::to_owned);
        all.push(State { name: key.into(), key: key.into(), within, parent, is_implicit, table: table.clone() });
        add(&table, Some(at), all);
    }
    if let Some(first) = all[before..].iter_mut().find(|state| !state.is_implicit) {
        put_above(&mut first.table, &states);
    }
}

/// Adds the comments about a table that is written without its header to the first table in it.
fn put_above(first: &mut Table, around: &Table) {
    let [above, behind] = [around.decor().prefix(), around.decor().suffix()].map(raw);
    let end = if behind.contains('#') { "\n" } else { "" };
    if above.contains('#') || behind.contains('#') {
        let prefix = format!("{above}{behind}{end}{}", raw(first.decor().prefix()));
        first.decor_mut().set_prefix(prefix);
    }
}

fn table_in(around: &Table, key: &str) -> Option<Table> {
    around.get_key_value(key).and_then(|(key, item)| table_of(key, item))
}

/// Returns a table in another one. A table between `{` and `}` gets a header, to which the comments about its key belong.
pub(crate) fn table_of(key: &Key, item: &Item) -> Option<Table> {
    match item {
        Item::Table(table) => Some(table.clone()),
        Item::Value(Value::InlineTable(table)) => Some(with_header(key, table)),
        _ => None,
    }
}

/// Returns a table between `{` and `}` as a table with a header. A comment that is about no key of it comes before the header.
fn with_header(key: &Key, inline: &InlineTable) -> Table {
    let mut table = Table::new();
    let mut above = raw(key.leaf_decor().prefix()).to_owned();
    // The text between the last value and the next key.
    let mut between = String::new();
    for (name, value) in inline {
        between.push_str(raw(inline.key(name).and_then(|key| key.leaf_decor().prefix())));
        let rest = comments(put_behind(&mut table, &mut above, &between));
        let (mut key, mut value) = (Key::new(name), value.clone());
        if !rest.is_empty() {
            key.leaf_decor_mut().set_prefix(rest.join("\n") + "\n");
        }
        raw(value.decor().suffix()).clone_into(&mut between);
        value.decor_mut().clear();
        table.insert_formatted(&key, Item::Value(value));
    }
    between.push_str(raw(Some(inline.trailing())));
    let rest = put_behind(&mut table, &mut above, &between);
    put_lines(&mut above, rest);
    table.decor_mut().set_prefix(above);
    table.decor_mut().set_suffix(raw(inline.decor().suffix()));
    table
}

/// Puts the comment in the line of the last value behind it or, if there is no value, above the table. Returns the other lines.
fn put_behind<'b>(table: &mut Table, above: &mut String, between: &'b str) -> &'b str {
    let (same, rest) = between.split_once('\n').unwrap_or((between, ""));
    match table.iter_mut().last() {
        Some((_, Item::Value(last))) => last.decor_mut().set_suffix(same),
        _ => put_lines(above, same),
    }
    rest
}

/// Adds the comments of a text, in lines of their own.
fn put_lines(above: &mut String, text: &str) {
    for line in comments(text) {
        above.push_str(&line);
        above.push('\n');
    }
}

/// Returns a table, also one between `{` and `}`, without its style.
fn as_table(item: &Item) -> Option<Table> {
    match item {
        Item::Table(table) => Some(table.clone()),
        Item::Value(Value::InlineTable(table)) => Some(table.clone().into_table()),
        _ => None,
    }
}

/// Returns an item without its style.
fn normal(item: &Item) -> String {
    match item {
        Item::Value(Value::Array(list)) => {
            format!("{:?}", list.iter().map(|value| normal(&Item::Value(value.clone()))).collect::<Vec<_>>())
        }
        Item::ArrayOfTables(list) => {
            format!("{:?}", list.iter().map(|table| normal(&Item::Table(table.clone()))).collect::<Vec<_>>())
        }
        Item::Value(Value::String(text)) => format!("{:?}", text.value()),
        Item::Value(Value::Integer(number)) => number.value().to_string(),
        Item::Value(Value::Float(number)) => format!("{:?}", number.value()),
        Item::Value(Value::Boolean(is)) => is.value().to_string(),
        Item::Value(Value::Datetime(time)) => time.value().to_string(),
        Item::None => String::new(),
        table => {
            let keys = as_table(table).unwrap_or_default();
            let keys: BTreeMap<_, _> = keys.iter().map(|(key, item)| (key.to_owned(), normal(item))).collect();
            format!("{keys:?}")
        }
    }
}
