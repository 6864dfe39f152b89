//! A part of a flow.

use super::flow::{Flow, Path};

impl Flow {
    /// Returns the part of the counts that belongs to some states: the changes and refusals that lead from one of these
    /// states to one of them, and how long owners stayed in them.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Change, Owner, State, StateMachine};
    /// use demeanor::Flow;
    /// struct Open;
    /// struct Closed;
    /// impl State<Door> for Open {}
    /// impl State<Door> for Closed {}
    /// struct Door;
    /// impl Owner for Door {
    ///     type Context<'a> = Flow;
    ///     type Message = ();
    ///     fn on_change(&mut self, change: &Change<'_, Self>, flow: &mut Flow) { flow.note(change); }
    /// }
    ///
    /// let mut flow = Flow::new();
    /// StateMachine::new(&Closed).change_state(&mut Door, &Open, &mut flow);
    /// assert!(flow.of_states(|state| state != "Open").is_empty());
    /// ```
    #[must_use]
    pub fn of_states(&self, is_meant: impl Fn(&str) -> bool) -> Self {
        let mut part = self.clone();
        let is_all_meant = |(from, to, _): &Path| from.iter().chain(to).all(|name| is_meant(name));
        part.changes.retain(|path, _| is_all_meant(path));
        part.refusals.retain(|(path, ..), _| is_all_meant(path));
        part.stays.retain(|state, _| is_meant(state));
        part
    }
}
