//! The part of the format to which a table belongs: the file, a state, an exit.

use demeanor::definition::{Cursor, Outline, StateOutline, Survey};

use super::schema::Table;

/// The meaning of a table.
#[derive(Debug, PartialEq)]
pub(super) enum Place {
    /// A table whose keys are defined by the format.
    Of(Table),
    /// The parameters of a behavior, whose name may be unknown. They have their own table, or share one with the behavior's
    /// `name`.
    Params { behavior: Option<String>, has_name: bool },
    /// Actions with their numbers.
    Actions,
    /// Values that are set.
    Set,
    /// Conditions by name.
    Conditions,
    /// Initial states by the names of their regions.
    Regions,
    /// A table whose keys are names, or a table that the format does not have.
    Other,
}

/// The machine, the state and the table in which a position lies.
pub(super) struct Located<'c> {
    pub(super) machine: Option<&'c str>,
    pub(super) state: Option<&'c str>,
    pub(super) place: Place,
}

impl<'c> Located<'c> {
    pub(super) fn of(cursor: &'c Cursor, survey: Option<&Survey>) -> Self {
        let mut path: Vec<&str> = cursor.table().iter().map(String::as_str).collect();
        let mut machine = None;
        if let ["machines", name, ..] = path[..] {
            machine = Some(name);
            path.drain(..2);
        }
        // A state may be written in the table of its parent.
        while let ["states", _, "states", _, ..] = path[..] {
            path.drain(..2);
        }
        let state = match path[..] {
            ["states", state, ..] => Some(state),
            _ => None,
        };
        let mut located = Self { machine, state, place: Place::Other };
        located.place = match path[..] {
            [] if machine.is_some() => Place::Of(Table::Machine),
            [] => Place::Of(Table::File),
            ["conditions"] => Place::Conditions,
            ["properties", _] => Place::Of(Table::Property),
            ["states", _] => Place::Of(Table::State),
            ["states", _, "exits"] => Place::Of(Table::Exit),
            ["states", _, "enter_when"] | ["states", _, "exits", "when"] => Place::Of(Table::Script),
            ["states", _, "enter" | "exit"] | ["states", _, "exits", "do"] => Place::Actions,
            ["states", _, "exits", "set"] => Place::Set,
            ["states", _, "regions"] => Place::Regions,
            ["states", _, "behavior" | "behaviour"] => {
                Place::Params { behavior: cursor.value("name").map(str::to_owned), has_name: true }
            }
            ["states", _, "params"] => {
                let is_behavior = |(key, _): &&(String, Option<String>)| key == "behavior" || key == "behaviour";
                let written = cursor.around().iter().find(is_behavior).and_then(|(_, value)| value.clone());
                let read = || survey.and_then(|survey| Some(located.read(survey)?.behaviors().next()?.to_owned()));
                Place::Params { behavior: written.or_else(read), has_name: false }
            }
            _ => Place::Other,
        };
        located
    }

    /// Returns whether the value of a key is a condition or a calculation.
    pub(super) fn is_condition(&self, key: &str) -> bool {
        match self.place {
            Place::Of(Table::Exit) => matches!(key, "when" | "score" | "weight"),
            Place::Of(Table::State) => key == "enter_when",
            Place::Of(Table::Property) => matches!(key, "never" | "always" | "from" | "reach"),
            Place::Conditions | Place::Actions | Place::Set => true,
            _ => false,
        }
    }

    /// Returns the machine, if it has been read.
    pub(super) fn outline<'s>(&self, survey: &'s Survey) -> Option<&'s Outline> {
        survey.outlines().iter().find(|outline| outline.machine() == self.machine)
    }

    /// Returns the state, if it has been read.
    fn read<'s>(&self, survey: &'s Survey) -> Option<&'s StateOutline> {
        self.outline(survey)?.states().iter().find(|state| Some(state.name()) == self.state).map(AsRef::as_ref)
    }
}
