//! Searches a crowd's owners, in pieces.

use demeanor::MachineReport;

use crate::crowd::Crowd;
use crate::picture::Found;
use crate::shared::Wanted;

/// The number of owners that are looked at in one tick.
const PIECE: usize = 1024;
/// The largest number of results that are listed.
const MOST: usize = 30;
/// The largest number of owners in a state that are listed.
const MOST_IN_STATE: usize = 1000;

pub(super) struct Search {
    page: u64,
    wanted: Wanted,
    found: Found,
    /// The number of listed results that match exactly. They come first.
    exact: usize,
    place: usize,
    is_through: bool,
    pub(super) is_posted: bool,
}

impl Search {
    pub(super) fn new(page: u64, crowd: &str, wanted: &Wanted) -> Self {
        let text = wanted.text().to_owned();
        let found = Found { crowd: crowd.to_owned(), text, owners: Vec::new(), matches: 0, seen: 0, of: 0 };
        Self { page, wanted: wanted.clone(), found, exact: 0, place: 0, is_through: false, is_posted: false }
    }

    pub(super) fn is(&self, page: u64, wanted: &Wanted) -> bool {
        self.page == page && self.wanted == *wanted
    }

    /// Searches the next owners.
    pub(super) fn go_on<C: Crowd + ?Sized>(&mut self, crowd: &C, cx: &C::Context<'_>) {
        if self.is_through {
            return;
        }
        self.is_posted = false;
        let Self { wanted, found, exact, place, .. } = self;
        let text = wanted.text().to_lowercase();
        let by_state = matches!(wanted, Wanted::State(_));
        let most = if by_state { MOST_IN_STATE } else { MOST };
        if *place == 0 && !by_state {
            // If the text is a complete key, its owner is found at once.
            let by_key = crowd.find(&found.text).map(|key| (found.text.clone(), crowd.label(key).unwrap_or_default()));
            found.owners.extend(by_key);
            *exact = found.owners.len();
            found.matches = *exact;
        }
        crowd.stays(*place..*place + PIECE, cx, &mut |key, _| {
            let (name, label) = (crowd.key_text(key), crowd.label(key).unwrap_or_default());
            let lower = label.to_lowercase();
            let (is_exact, is_match) = if by_state {
                (false, crowd.report(key, cx).is_some_and(|report| is_in(&report, wanted.text())))
            } else {
                (lower == text, name.to_lowercase().contains(&text) || lower.contains(&text))
            };
            if !is_match || found.owners.iter().any(|(other, _)| *other == name) {
                return;
            }
            found.matches += 1;
            if is_exact && *exact < most {
                found.owners.insert(*exact, (name, label));
                found.owners.truncate(most);
                *exact += 1;
            } else if found.owners.len() < most {
                found.owners.push((name, label));
            }
        });
        *place += PIECE;
        found.of = crowd.len();
        found.seen = found.of.min(*place);
        self.is_through = *place >= found.of;
    }

    /// Returns the results, if it is time to send them.
    pub(super) fn news(&self, is_due: bool) -> Option<(u64, Found)> {
        (!self.is_posted && (is_due || self.is_through)).then(|| (self.page, self.found.clone()))
    }
}

/// Returns whether a state is active.
fn is_in(report: &MachineReport, state: &str) -> bool {
    let regions = report.regions.iter().flat_map(|region| &region.path);
    report.path.iter().chain(regions).any(|active| active.name == state)
}
