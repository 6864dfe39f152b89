//! A part of a flow.

use super::flow::Flow;

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
        let is_all_meant = |names: [Option<&str>; 2]| names.into_iter().flatten().all(&is_meant);
        let mut part = Self::new();
        for change in self.changes().filter(|change| is_all_meant([change.from, change.to])) {
            part.add_changes((change.from, change.to, change.cause), change.count);
        }
        for refusal in self.refusals().filter(|refusal| is_all_meant([refusal.from, refusal.to])) {
            let refused = (refusal.refused.guard, refusal.refused.state);
            part.add_refusals((refusal.from, refusal.to, refusal.cause), refused, refusal.count);
        }
        self.stays().filter(|(state, _)| is_meant(state)).for_each(|(state, stays)| part.add_stays(state, stays));
        part
    }
}
