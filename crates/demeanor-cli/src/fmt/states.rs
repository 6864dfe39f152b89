//! The states of a file, in the form in which they are written.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use demeanor::definition::Survey;
use toml_edit::{DocumentMut, Item, Table, Value};

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
        if let Some(of_file) = document.get("machines").and_then(as_table) {
            for (name, machine) in &of_file {
                if let Some(table) = as_table(machine) {
                    machines.push(Machine::of(vec!["machines".into(), name.into()], table, &places));
                }
            }
        }
        Ok(Self { document, machines })
    }

    /// Returns everything that the file says, but not in which order and form.
    pub(super) fn meaning(&self) -> BTreeMap<String, String> {
        let mut meaning = BTreeMap::new();
        for machine in &self.machines {
            let path = machine.path.join(".");
            let skips = ["states", "machines"];
            for (key, item) in machine.table.iter().filter(|(key, _)| !skips.contains(key)) {
                meaning.insert(format!("{path}:{key}"), normal(item));
            }
            for (at, state) in machine.states.iter().enumerate() {
                let inherits = machine.table.contains_key("like");
                if state.is_implicit && inherits {
                    continue;
                }
                let others = state.table.iter().filter(|(key, _)| !["states", "parent"].contains(key));
                let keys: BTreeMap<_, _> = others.map(|(key, item)| (key.to_owned(), normal(item))).collect();
                let says = format!("{:?} {keys:?}", machine.parent(at));
                meaning.insert(format!("{path}/{}", state.name), says);
            }
        }
        meaning
    }
}

impl Machine {
    fn of(path: Vec<String>, table: Table, places: &Places<'_>) -> Self {
        let mut states = Vec::new();
        add(table.get("states"), None, &mut states);
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

/// Adds the states of a table, each before those in it.
fn add(states: Option<&Item>, within: Option<usize>, all: &mut Vec<State>) {
    let Some(states) = states.and_then(as_table) else { return };
    for (key, item) in &states {
        let Some(table) = as_table(item) else { continue };
        let at = all.len();
        let inner = table.get("states").cloned();
        let is_implicit = table.iter().all(|(key, _)| key == "states") && (table.is_implicit() || table.is_dotted());
        let parent = table.get("parent").and_then(Item::as_str).map(str::to_owned);
        all.push(State { name: key.into(), key: key.into(), within, parent, is_implicit, table });
        add(inner.as_ref(), Some(at), all);
    }
}

/// Returns a table, also one between `{` and `}`.
pub(super) fn as_table(item: &Item) -> Option<Table> {
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
