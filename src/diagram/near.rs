//! The part of a diagram that is near a state.

use std::mem;

use super::Diagram;

impl Diagram {
    /// Shows only a state with its descendants, the states that are at most `depth` arrows away in either direction, and the
    /// ancestors of all of these.
    ///
    /// # Panics
    ///
    /// When the diagram has no such state.
    #[must_use]
    pub fn around(mut self, state: usize, depth: usize) -> Self {
        let mut is_shown = vec![false; self.states.len()];
        let mut reached = vec![state];
        let mut within = vec![state];
        while let Some(state) = within.pop() {
            is_shown[state] = true;
            reached.push(state);
            within.extend(self.children(state));
        }
        let near = self.near();
        for _ in 0..depth {
            if reached.is_empty() {
                break;
            }
            let mut next = Vec::new();
            for state in reached {
                // An exit of an ancestor is also an exit of the state.
                for of in self.outward(state) {
                    next.extend(near[of].iter().copied().filter(|to| !mem::replace(&mut is_shown[*to], true)));
                }
            }
            reached = next;
        }
        for state in (0..is_shown.len()).filter(|state| is_shown[*state]).collect::<Vec<_>>() {
            self.outward(state).for_each(|around| is_shown[around] = true);
        }
        self.is_shown = is_shown;
        self.find_children();
        self
    }

    /// Returns, for each state, the states that are one arrow away: the states to which its arrows lead, with the initial
    /// descendants of these states, and the states from which it is reached in this way.
    fn near(&self) -> Vec<Vec<usize>> {
        let mut near = vec![Vec::new(); self.states.len()];
        for arrow in &self.arrows {
            for entered in self.descent(arrow.to) {
                near[arrow.from].push(entered);
                near[entered].push(arrow.from);
            }
        }
        near
    }
}
