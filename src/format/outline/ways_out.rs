//! The ways out of states: exits, code, and changes that begin in other regions.

use std::collections::HashSet;

use super::effects::CodeTargets;
use super::{Outline, StateId, StateOutline};
use crate::format::leads::Leads;

/// The ways out of the states of a machine.
pub(crate) struct WaysOut<'o> {
    outline: &'o Outline,
    code: CodeTargets<'o>,
    /// The regions in which a change may begin that leads into another region, or out of all regions: for each, the state that
    /// has it, and its index.
    crossed: HashSet<(StateId, usize)>,
}

impl<'o> WaysOut<'o> {
    pub(crate) fn of(outline: &'o Outline) -> Self {
        let mut ways_out = Self { outline, code: CodeTargets::of(outline), crossed: HashSet::new() };
        let states = if outline.has_regions() { outline.states() } else { &[] };
        for state in states {
            let path = outline.path(state.id);
            let may_lead = ways_out.code.may_lead(state);
            for exit in state.exits.iter().map(Some).chain(may_lead.then_some(None)) {
                let to = exit.filter(|exit| exit.leads == Leads::To).map(|exit| outline.path(exit.to));
                let to: Vec<_> = to.iter().flat_map(|to| outline.regions_of(to)).collect();
                ways_out.crossed.extend(outline.regions_of(&path).filter(|region| !to.contains(region)));
            }
        }
        ways_out
    }

    /// Whether there is any way out of a state, whatever its condition is. An exit for the end of a machine leads out of final
    /// states only.
    pub(super) fn is_left(&self, state: &StateOutline) -> bool {
        let path = self.outline.path(state.id);
        let has_exit = |id: &StateId| self.outline.state(*id).exits.iter().any(|exit| !exit.is_done);
        self.is_left_otherwise(&path) || path.iter().chain(&self.outline.global).any(has_exit)
    }

    /// Whether a path may be left by other changes than those of its own exits and of the global state's: by the code of a
    /// state, or by a change that begins in another region.
    pub(crate) fn is_left_otherwise(&self, path: &[StateId]) -> bool {
        let may_lead = |id: &StateId| self.code.may_lead(self.outline.state(*id));
        let is_crossed = |(around, region): (StateId, usize)| {
            let mut regions = 0..self.outline.state(around).regions.len();
            regions.any(|other| other != region && self.crossed.contains(&(around, other)))
        };
        path.iter().chain(&self.outline.global).any(may_lead) || self.outline.regions_of(path).any(is_crossed)
    }
}
