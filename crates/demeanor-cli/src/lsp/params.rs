//! The parameters of a behavior, from the JSON Schema in the vocabulary.

use demeanor::definition::Words;
use serde_json::Value;

/// A parameter of a behavior.
pub(super) struct Param<'w> {
    pub(super) name: &'w str,
    pub(super) says: &'w str,
    /// A description of its type, such as `a number`.
    pub(super) kind: String,
    pub(super) is_needed: bool,
    pub(super) is_flag: bool,
    /// Whether its value is the name of a state.
    pub(super) is_state: bool,
    /// The only possible texts.
    pub(super) words: Vec<&'w str>,
}

/// Returns the parameters of a behavior.
pub(super) fn of<'w>(words: &'w Words, behavior: &str) -> Vec<Param<'w>> {
    let Some(Some(schema)) = words.behaviors.get(behavior) else { return Vec::new() };
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(|(name, property)| param(schema, name, property)).collect()
}

fn param<'w>(schema: &'w Value, name: &'w str, property: &'w Value) -> Param<'w> {
    let followed = property["$ref"].as_str().and_then(|name| schema["$defs"].get(name.strip_prefix("#/$defs/")?));
    let of = followed.unwrap_or(property);
    let says = [property, of].into_iter().find_map(|of| of["description"].as_str()).unwrap_or_default();
    let is_state = |of: &Value| of["format"].as_str() == Some("state");
    let is_state = is_state(of) || is_state(&of["items"]);
    let words: Vec<_> = of["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let kind = if is_state {
        "a state".to_owned()
    } else if words.is_empty() {
        types(of).map(described).collect::<Vec<_>>().join(" or ")
    } else {
        words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ")
    };
    let needed = schema["required"].as_array().into_iter().flatten();
    Param {
        name,
        says,
        kind,
        is_needed: { needed }.any(|needed| needed.as_str() == Some(name)),
        is_flag: types(of).any(|one| one == "boolean"),
        is_state,
        words,
    }
}

/// Returns the types that a schema allows, without `null`.
pub(super) fn types(schema: &Value) -> impl Iterator<Item = &str> {
    let types = match &schema["type"] {
        Value::Array(several) => several.iter().collect(),
        one => vec![one],
    };
    types.into_iter().filter_map(Value::as_str).filter(|one| *one != "null")
}

fn described(of_type: &str) -> &str {
    match of_type {
        "number" => "a number",
        "integer" => "a whole number",
        "string" => "a string",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "a table",
        other => other,
    }
}
