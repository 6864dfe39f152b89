//! Reads the properties of a machine.

use super::duration::{DraftDuration, DraftLength};
use super::format::PROPERTY_KEYS;
use super::read::{DraftReader, missing_key};
use super::tree::{Key, Table};
use crate::format::expression::When;
use crate::format::name::Name;
use crate::format::problems::{Mistake, Origin};
use crate::format::property::{Property, PropertyRule};

impl<'i> DraftReader<'_, 'i> {
    /// Reads the properties of a machine, in the order of the file.
    pub(super) fn properties(&mut self, machine: &Table<'i>) -> Vec<Property<Box<When>, DraftDuration>> {
        let properties = machine.get("properties").and_then(|properties| self.table(properties, "`properties`"));
        let property = |(name, property): (&Key<'i>, _)| {
            let name = Name { text: name.get_ref().to_string(), span: name.span() };
            self.good_name(&name, "a property");
            let table = self.table(property, "a property")?;
            self.known_keys(table, "a property", PROPERTY_KEYS);
            let rule = self.rule(&name, table)?;
            Some(Property { name, rule })
        };
        properties.into_iter().flat_map(Table::in_order).filter_map(property).collect()
    }

    fn rule(&mut self, name: &Name, table: &Table<'i>) -> Option<PropertyRule<Box<When>, DraftDuration>> {
        let given: Vec<_> = PROPERTY_KEYS.iter().filter(|key| table.contains_key(key)).collect();
        match given[..] {
            [&"never"] => self.asked(table, "never").map(PropertyRule::Never),
            [&"always"] => self.asked(table, "always").map(PropertyRule::Always),
            [&"from", &"reach", &"within"] => {
                let (from, reach) = (self.asked(table, "from"), self.asked(table, "reach"));
                let within = self.duration(table, "within")?;
                if !matches!(within.length, DraftLength::Fixed(_)) {
                    return Mistake::error("property", within.span, "`within` must be a fixed time")
                        .label("not always the same time")
                        .help("write the longest time: `within = \"5 s\"`")
                        .fail(self.findings);
                }
                Some(PropertyRule::Reach { from: from?, reach: reach?, within })
            }
            // A misspelled key has already been reported.
            [] if table.keys().next().is_some() => None,
            [] => missing_key("never", "a property", name.span.clone()).fail(self.findings),
            _ => Mistake::error("property", name.span.clone(), format!("property `{name}` does not say one thing"))
                .label(format!("has {}", given.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")))
                .help("write `never`, or `always`, or all of `from`, `reach` and `within`")
                .origin(Origin::MayFollow)
                .fail(self.findings),
        }
    }

    fn asked(&mut self, table: &Table<'i>, key: &str) -> Option<Box<When>> {
        let when = self.condition(table.get(key)?, &format!("`{key}`"))?;
        match &*when {
            When::Script(script) => Mistake::error("property", script.span.clone(), "a property cannot ask a script")
                .label("a script")
                .help("write a condition: a script may change what happens")
                .fail(self.findings),
            When::Expr { .. } => Some(when),
        }
    }
}
