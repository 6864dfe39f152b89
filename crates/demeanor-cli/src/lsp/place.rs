//! In what part of the format a table is: that of the file, of a state, of an exit.

use demeanor::definition::{Cursor, Outline, StateOutline, Survey};

use super::schema::Table;

/// What a table is for.
#[derive(Debug, PartialEq)]
pub(super) enum Place {
    /// One whose keys are the format's.
    Of(Table),
    /// The parameters of a behavior, if it is known which: a table of its own, or one that has the behavior's `name`, too.
    Params { behavior: Option<String>, has_name: bool },
    /// One whose keys are names, or that the format does not have.
    Other,
}

/// Where a place is: in which machine and state, and in what table of that.
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
        let state = match path[..] {
            ["states", state, ..] => Some(state),
            _ => None,
        };
        let mut located = Self { machine, state, place: Place::Other };
        located.place = match path[..] {
            [] if machine.is_some() => Place::Of(Table::Machine),
            [] => Place::Of(Table::File),
            ["states", _] => Place::Of(Table::State),
            ["states", _, "exits"] => Place::Of(Table::Exit),
            ["states", _, "enter_when"] | ["states", _, "exits", "when"] => Place::Of(Table::Script),
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

    /// The machine, as it has been read.
    pub(super) fn outline<'s>(&self, survey: &'s Survey) -> Option<&'s Outline> {
        survey.outlines().iter().find(|outline| outline.machine() == self.machine)
    }

    /// The state, as it has been read.
    fn read<'s>(&self, survey: &'s Survey) -> Option<&'s StateOutline> {
        self.outline(survey)?.states().iter().find(|state| Some(state.name()) == self.state).map(AsRef::as_ref)
    }
}
