//! Parses a text statement by statement into a tree.

use std::ops::Range;

use super::statements::{Statement, Statements};
use super::tree::{Key, RefusedKey, Table, TableOrigin};

/// A parsed text.
#[derive(Default)]
pub(crate) struct Document<'i> {
    pub(crate) table: Table<'i>,
    /// The first part that is not valid TOML: the reason and the place.
    pub(super) error: Option<(String, Range<usize>)>,
    /// The first keys and headers that repeat an earlier one, in the order of their statements.
    pub(super) repeated: Vec<RepeatedKey>,
    /// How many more repeated keys and headers there are.
    pub(super) more_repeated: usize,
    /// The path of the table to which the next keys belong: the table of the last header. `None` if this table cannot exist.
    path: Option<Vec<Key<'i>>>,
}

/// A key that repeats an earlier one.
pub(super) struct RepeatedKey {
    pub(super) key: Range<usize>,
    /// Where the earlier key is.
    pub(super) first: Option<Range<usize>>,
    /// Whether it is the name of a state in a header.
    pub(super) is_state: bool,
}

impl<'i> Document<'i> {
    /// Parses a text up to the first statement that is not valid TOML. If `goes_on` is true, continues after it with the
    /// statements that can be read.
    pub(crate) fn read(text: &'i str, goes_on: bool) -> Self {
        let mut document = Self { path: Some(Vec::new()), ..Self::default() };
        for statement in Statements::of(text) {
            document.add(statement);
            if document.error.is_some() && !goes_on {
                break;
            }
        }
        document
    }

    /// Whether all of the text is valid TOML.
    pub(crate) fn is_right(&self) -> bool {
        self.error.is_none() && self.repeated.is_empty()
    }

    fn add(&mut self, statement: Statement<'i>) {
        if statement.is_too_long {
            self.fails("too long", statement.span.clone());
        }
        if let Some((why, at)) = statement.error {
            self.fails(&why, at);
        }
        for refused in statement.refused {
            self.refuse(refused, false);
        }
        let Some(last) = statement.keys.last() else { return };
        if let Some(header) = statement.header {
            let above = &statement.keys[..statement.keys.len() - 1];
            let refused = self.table.open(above, last, header.is_list, header.span).err();
            let is_twice = refused.as_ref().is_some_and(|refused| refused.key == last.span());
            // If a table is opened a second time, the following statements still belong to it.
            let is_open = refused.is_none() || is_twice && !header.is_list;
            if let Some(refused) = refused {
                self.refuse(refused, is_twice && above.last().is_some_and(|key| key.get_ref() == "states"));
            }
            self.path = is_open.then_some(statement.keys);
        } else if let Some((path, value)) = self.path.as_ref().zip(statement.value) {
            let table = self.table.descend(path, TableOrigin::ByHeader);
            if let Err(refused) = table.and_then(|table| table.add(statement.keys, value)) {
                self.refuse(refused, false);
            }
        }
    }

    fn refuse(&mut self, RefusedKey { key, first, of_type }: RefusedKey, is_state: bool) {
        // More than are listed, because repeated keys that only follow from a repeated state are left out.
        const MOST_KEPT: usize = 1000;
        match of_type {
            Some(of_type) => self.fails(&format!("cannot extend value of type {of_type} with a dotted key"), key),
            None if self.repeated.len() < MOST_KEPT => self.repeated.push(RepeatedKey { key, first, is_state }),
            None => self.more_repeated += 1,
        }
    }

    fn fails(&mut self, why: &str, at: Range<usize>) {
        if self.error.as_ref().is_none_or(|(_, first)| at.start < first.start) {
            self.error = Some((why.to_owned(), at));
        }
    }
}

#[cfg(test)]
mod tests;
