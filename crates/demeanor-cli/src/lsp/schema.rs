//! The keys of the format, with their descriptions from its schema.

use std::sync::OnceLock;

use serde_json::Value;

/// The kind of table that contains the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    File,
    Machine,
    State,
    Exit,
    /// The table of a condition that is a script.
    Script,
    Property,
}

/// A key, with its description from the schema.
pub(super) struct KeyOf {
    pub(super) name: String,
    pub(super) says: String,
    pub(super) is_flag: bool,
}

/// Returns the keys of a table, in alphabetical order.
pub(super) fn keys(table: Table) -> Vec<KeyOf> {
    let schema = schema();
    let of = match table {
        Table::File => schema,
        Table::Machine => &schema["$defs"]["Machine"],
        Table::State => &schema["$defs"]["DefinedState"],
        Table::Exit => &schema["$defs"]["Exit"],
        Table::Script => &schema["$defs"]["ConditionScript"],
        Table::Property => &schema["$defs"]["Property"],
    };
    let properties = of["properties"].as_object();
    let key = |(name, of): (&String, &Value)| KeyOf {
        name: name.clone(),
        says: of["description"].as_str().unwrap_or_default().to_owned(),
        is_flag: super::params::types(of).any(|one| one == "boolean"),
    };
    properties.into_iter().flatten().map(key).collect()
}

/// Returns a key of a table.
pub(super) fn key(table: Table, name: &str) -> Option<KeyOf> {
    keys(table).into_iter().find(|key| key.name == name)
}

fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(demeanor::definition::schema)
}
