//! Folds states of a diagram: draws them without the states inside them.

use std::collections::BTreeMap;

use super::observe::add;
use super::{Arrow, Diagram, Seen};

impl Diagram {
    /// Draws each of these states as one box, without the states in it. The box says how many states are in it.
    ///
    /// The arrows of the states in a box begin and end at the box, and arrows within the box are not drawn. Several arrows from
    /// states in the box to the same state become one arrow, whose label says how many exits it stands for.
    ///
    /// Call this after [`observe`](Self::observe) and [`around`](Self::around).
    ///
    /// # Panics
    ///
    /// When the diagram does not have one of the states.
    #[must_use]
    pub fn fold(mut self, states: &[usize]) -> Self {
        let mut is_folded = vec![false; self.states.len()];
        for state in states {
            is_folded[*state] = true;
        }
        let drawn: Vec<usize> = (0..self.states.len())
            .map(|state| self.path(state).into_iter().find(|around| is_folded[*around]).unwrap_or(state))
            .collect();
        for (state, around) in drawn.iter().copied().enumerate().filter(|(state, around)| state != around) {
            self.states[around].hidden += usize::from(self.is_shown[state]);
            self.is_shown[state] = false;
            let seconds = self.states[state].visits.map_or(0.0, |visits| visits.seconds);
            if let Some(visits) = &mut self.states[around].visits {
                visits.seconds += seconds;
            }
        }
        self.initial = self.initial.map(|initial| drawn[initial]);
        // The arrows out of hidden states, by their new ends.
        let mut joined: BTreeMap<(usize, usize, bool), (usize, Arrow)> = BTreeMap::new();
        for mut arrow in std::mem::take(&mut self.arrows) {
            let (from, to) = (drawn[arrow.from], drawn[arrow.to]);
            if from == to && (from, to) != (arrow.from, arrow.to) {
                continue;
            }
            let is_hidden = from != arrow.from;
            (arrow.from, arrow.to) = (from, to);
            if !is_hidden {
                self.arrows.push(arrow);
                continue;
            }
            arrow.number = None;
            match joined.get_mut(&(from, to, arrow.is_unwritten)) {
                Some((count, first)) => {
                    *count += 1;
                    if let (Some(seen), Some(more)) = (&mut first.seen, arrow.seen) {
                        let Seen { at_least, at_most, refused, ended_early, .. } = more;
                        add(&mut seen.at_least, at_least);
                        add(&mut seen.at_most, at_most);
                        add(&mut seen.refused, refused);
                        add(&mut seen.ended_early, ended_early);
                    }
                }
                None => drop(joined.insert((from, to, arrow.is_unwritten), (1, arrow))),
            }
        }
        self.arrows.extend(joined.into_values().map(|(count, arrow)| match count {
            1 => arrow,
            _ => Arrow { label: format!("{count} {}", if arrow.is_unwritten { "ways" } else { "exits" }), ..arrow },
        }));
        self.arrows.sort_by_key(|arrow| arrow.from);
        if self.is_observed {
            self.set_shares();
        }
        self.find_children();
        self
    }
}
