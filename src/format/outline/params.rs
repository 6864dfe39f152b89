//! Checks the parameters of a behavior against the JSON Schema of its parameters.
//!
//! It reports all mistakes at once: unknown parameters, missing parameters, and parameters of a wrong type. It needs only the
//! schema, not the code of the behavior. All other rules of the schema are left to the deserializer of the behavior's own
//! type.

use serde_json::Value as Schema;

use crate::format::draft::tree::{SpannedValue, Table, TreeValue};
use crate::format::draft::{Params, type_of};
use crate::format::name::Name;
use crate::format::problems::{Findings, Mistake};

/// The value of `format` in the schema of a parameter that names a state.
pub(crate) const STATE_FORMAT: &str = "state";

pub(crate) fn check(findings: &mut Findings, behaviour: &Name, schema: Option<&Schema>, params: Option<&Params<'_>>) {
    let none = Table::default();
    let given = params.and_then(|params| params.get_ref().as_table()).unwrap_or(&none);
    let schema = schema.unwrap_or(&Schema::Null);
    let properties = schema["properties"].as_object();
    for (name, value) in given.iter() {
        let name_text: &str = name.get_ref();
        match properties.and_then(|properties| properties.get(name_text)) {
            Some(property) => check_type(findings, behaviour, name_text, value, schema, property),
            None if takes_any(schema) => {}
            None => {
                let known = properties.into_iter().flatten().map(|(name, _)| name.as_str());
                let nearest = findings.nearest(name_text, known);
                let message = format!("behavior `{behaviour}` has no parameter `{name_text}`");
                let mistake = Mistake::error("unknown-parameter", name.span(), message).label("not a parameter");
                findings.add(if properties.is_none_or(serde_json::Map::is_empty) {
                    mistake.help(format!("behavior `{behaviour}` takes no parameters"))
                } else {
                    mistake.meant(nearest)
                });
            }
        }
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Schema::as_str) {
        // A misspelled parameter has already been reported as unknown.
        let is_known = |given: &str| properties.is_some_and(|known| known.contains_key(given));
        let is_meant = |given: &str| !is_known(given) && findings.nearest(given, [name]).is_some();
        if !given.contains_key(name) && !given.keys().any(|given| is_meant(given.get_ref())) {
            let span = params.map_or(behaviour.span.clone(), |params| params.span());
            let message = format!("behavior `{behaviour}` needs parameter `{name}`");
            findings.add(Mistake::error("missing-parameter", span, message).label(format!("needs `{name}`")));
        }
    }
}

/// Returns the names of states in the parameters. The schema says which parameters name states.
pub(crate) fn states(schema: Option<&Schema>, params: Option<&Params<'_>>) -> Vec<Name> {
    let mut states = Vec::new();
    let given = params.and_then(|params| params.get_ref().as_table());
    let (Some(schema), Some(given)) = (schema, given) else { return states };
    for (name, value) in given.iter() {
        let property = &schema["properties"][name.get_ref().as_ref()];
        match value.get_ref() {
            TreeValue::Array(list) if names_state(&property["items"]) => states.extend(list.iter().filter_map(state)),
            _ if names_state(property) => states.extend(state(value)),
            _ => {}
        }
    }
    states
}

fn names_state(property: &Schema) -> bool {
    property["format"].as_str() == Some(STATE_FORMAT)
}

fn state(value: &SpannedValue<'_>) -> Option<Name> {
    Some(Name { text: value.get_ref().as_str()?.into(), span: value.span() })
}

/// Whether a parameter may have a name that is not in the schema's `properties`: the schema describes a map or the variants of
/// an enum, or refers to other schemas. Then the deserializer checks the name.
fn takes_any(schema: &Schema) -> bool {
    let more = &schema["additionalProperties"];
    more.as_bool() == Some(true)
        || more.is_object()
        || ["oneOf", "anyOf", "allOf", "$ref"].iter().any(|key| schema.get(key).is_some())
}

fn check_type(
    findings: &mut Findings,
    behaviour: &Name,
    name: &str,
    value: &SpannedValue<'_>,
    root: &Schema,
    property: &Schema,
) {
    let Some(allowed) = allowed(root, property) else { return };
    let found = value.get_ref();
    if allowed.types.is_empty() || allowed.types.iter().any(|of_type| is_of(found, of_type)) {
        let Some(text) = found.as_str().filter(|_| !allowed.words.is_empty()) else { return };
        if allowed.words.iter().any(|word| word == text) {
            return;
        }
    }
    let expected = if allowed.words.is_empty() {
        allowed.types.iter().map(|of_type| describe(of_type)).collect::<Vec<_>>().join(" or ")
    } else {
        allowed.words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ")
    };
    let found = match found.as_str() {
        Some(text) if !allowed.words.is_empty() => format!("`{text}`"),
        _ => type_of(found).into(),
    };
    let message = format!("parameter `{name}` of behavior `{behaviour}` must be {expected}, not {found}");
    let mistake = Mistake::error("parameter-type", value.span(), message);
    findings.add(mistake.label(format!("expected {expected}")));
}

/// The allowed values of a property, if the schema describes them in a simple way.
struct Allowed {
    types: Vec<String>,
    /// The only allowed strings, if they are limited.
    words: Vec<String>,
}

/// Returns the allowed values of a property. `None` if its schema is too complex. Then only the deserializer checks the value.
fn allowed(root: &Schema, property: &Schema) -> Option<Allowed> {
    let mut property = property;
    if let Some(name) = property["$ref"].as_str() {
        property = &root["$defs"][name.strip_prefix("#/$defs/")?];
    }
    if ["oneOf", "anyOf", "allOf", "$ref", "const"].iter().any(|key| property.get(key).is_some()) {
        return None;
    }
    let strings = |value: &Schema| match value {
        Schema::String(one) => vec![one.clone()],
        Schema::Array(many) => many.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    };
    let mut types = strings(&property["type"]);
    types.retain(|of_type| of_type != "null");
    Some(Allowed { types, words: strings(&property["enum"]) })
}

fn is_of(value: &TreeValue<'_>, of_type: &str) -> bool {
    let (found, described) = (type_of(value), describe(of_type));
    // A whole number is also a number. An unknown type allows any value.
    found == described || of_type == "number" && found == describe("integer") || described == of_type
}

fn describe(of_type: &str) -> &str {
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
