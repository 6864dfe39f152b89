//! Searches a crowd's owners, in pieces.

use crate::crowd::Crowd;
use crate::picture::Found;

/// The number of labels that are read in one tick.
const PIECE: usize = 1024;
/// The largest number of results.
const MOST: usize = 30;

pub(super) struct Search {
    page: u64,
    text: String,
    found: Found,
    /// The number of results that match exactly. They come first.
    exact: usize,
    place: usize,
    is_through: bool,
    pub(super) is_posted: bool,
}

impl Search {
    pub(super) fn new(page: u64, crowd: &str, text: &str) -> Self {
        let found = Found { crowd: crowd.to_owned(), text: text.to_owned(), owners: Vec::new(), seen: 0, of: 0 };
        Self { page, text: text.to_lowercase(), found, exact: 0, place: 0, is_through: false, is_posted: false }
    }

    pub(super) fn is(&self, page: u64, text: &str) -> bool {
        self.page == page && self.found.text == text
    }

    /// Searches the next owners.
    pub(super) fn go_on<C: Crowd + ?Sized>(&mut self, crowd: &C, cx: &C::Context<'_>) {
        if self.is_through {
            return;
        }
        self.is_posted = false;
        let Self { text, found, exact, place, .. } = self;
        if *place == 0 {
            // If the text is a complete key, its owner is found at once.
            let by_key = crowd.find(&found.text).map(|key| (found.text.clone(), crowd.label(key).unwrap_or_default()));
            found.owners.extend(by_key);
            *exact = found.owners.len();
        }
        crowd.stays(*place..*place + PIECE, cx, &mut |key, _| {
            let (name, label) = (crowd.key_text(key), crowd.label(key).unwrap_or_default());
            let lower = label.to_lowercase();
            let is_exact = lower == *text;
            let is_match = is_exact || name.to_lowercase().contains(&*text) || lower.contains(&*text);
            if !is_match || found.owners.iter().any(|(other, _)| *other == name) {
                return;
            }
            if is_exact && *exact < MOST {
                found.owners.insert(*exact, (name, label));
                found.owners.truncate(MOST);
                *exact += 1;
            } else if found.owners.len() < MOST {
                found.owners.push((name, label));
            }
        });
        *place += PIECE;
        found.of = crowd.len();
        found.seen = found.of.min(*place);
        self.is_through = *place >= found.of || *exact == MOST;
    }

    /// Returns the results, if it is time to send them.
    pub(super) fn news(&self, is_due: bool) -> Option<(u64, Found)> {
        (!self.is_posted && (is_due || self.is_through)).then(|| (self.page, self.found.clone()))
    }
}
