//! A crowd whose machines come from a file.

use std::ops::Range;

use demeanor::definition::{Definition, ExitOutline, Outline};
use demeanor::journal::MessageLog;
use demeanor::{Journal, MachineReport, Owner};

use super::{Count, Crowd, Data, Exit};

/// A crowd with the definition of its machines. [`Crowd::with_definition`] creates it.
pub struct WithDefinition<'c, C: Crowd + ?Sized, T: Owner> {
    pub(super) crowd: &'c C,
    pub(super) definition: &'c Definition<T>,
}

impl<C: Crowd + ?Sized, T: Owner> Crowd for WithDefinition<'_, C, T> {
    type Key = C::Key;
    type Context<'a> = C::Context<'a>;

    super::delegate!(journal, messages, data);

    fn exits(&self) -> Option<Vec<Exit>> {
        Some(exits_of(&self.definition.outline()))
    }
}

fn exits_of(outline: &Outline) -> Vec<Exit> {
    let mut exits = Vec::new();
    for state in outline.states() {
        let from = (Some(state.id()) != outline.global()).then(|| state.name().to_owned());
        exits.extend(state.exits().iter().map(|exit: &ExitOutline| Exit {
            from: from.clone(),
            to: outline.state(exit.target()).name().to_owned(),
            label: exit.label(),
        }));
    }
    exits
}
