//! What is drawn of a definition: all of it, or what is near a state.

use demeanor::definition::{ExitOutline, Outline, StateId, StateOutline};

/// The states that are drawn, with those around them.
pub(crate) struct View<'o> {
    outline: &'o Outline,
    /// By the index of their ids.
    is_shown: Vec<bool>,
    /// Those of each state, by the index of its id.
    children: Vec<Vec<StateId>>,
    outermost: Vec<StateId>,
}

impl<'o> View<'o> {
    /// All states.
    pub(crate) fn whole(outline: &'o Outline) -> Self {
        Self::of(outline, vec![true; outline.states().len()])
    }

    /// A state with what is in it, and the states that are no more than so many exits away, on the way there or back.
    pub(crate) fn around(outline: &'o Outline, state: StateId, depth: usize) -> Self {
        let mut is_shown = vec![false; outline.states().len()];
        let mut reached = vec![state];
        let mut within = vec![state];
        while let Some(id) = within.pop() {
            is_shown[id.index()] = true;
            reached.push(id);
            within.extend(outline.children(id));
        }
        let near = near(outline);
        for _ in 0..depth {
            let mut next = Vec::new();
            for id in reached {
                // An exit of a state around it is one of its own.
                for of in outline.path(id) {
                    next.extend(
                        near[of.index()].iter().filter(|to| !std::mem::replace(&mut is_shown[to.index()], true)),
                    );
                }
            }
            reached = next;
        }
        // What is shown is shown in what is around it.
        for id in (0..is_shown.len()).filter(|i| is_shown[*i]).map(|i| outline.states()[i].id()).collect::<Vec<_>>() {
            outline.path(id).into_iter().for_each(|around| is_shown[around.index()] = true);
        }
        Self::of(outline, is_shown)
    }

    fn of(outline: &'o Outline, is_shown: Vec<bool>) -> Self {
        let shown = |ids: &[StateId]| ids.iter().copied().filter(|id| is_shown[id.index()]).collect();
        let children = outline.states().iter().map(|state| shown(outline.children(state.id()))).collect();
        let outermost = shown(outline.children(None));
        Self { outline, is_shown, children, outermost }
    }

    /// How many states there are, shown or not.
    pub(crate) fn len(&self) -> usize {
        self.is_shown.len()
    }

    /// The shown states, in the order of the file.
    pub(crate) fn states(&self) -> impl Iterator<Item = &'o StateOutline> {
        self.outline.states().iter().filter(|state| self.is_shown[state.id().index()])
    }

    pub(crate) fn state(&self, id: StateId) -> &'o StateOutline {
        self.outline.state(id)
    }

    /// The shown states directly in a state; for `None`, those in none.
    pub(crate) fn children(&self, parent: Option<StateId>) -> &[StateId] {
        match parent {
            Some(parent) => &self.children[parent.index()],
            None => &self.outermost,
        }
    }

    /// Whether states are shown in it.
    pub(crate) fn is_composite(&self, id: StateId) -> bool {
        !self.children[id.index()].is_empty()
    }

    /// The exits of a state to shown ones.
    pub(crate) fn exits(&self, state: &'o StateOutline) -> impl Iterator<Item = &'o ExitOutline> {
        state.exits().iter().filter(|exit| self.is_shown[exit.target().index()])
    }

    /// Where a machine begins, if that is shown; or, within a state, its initial child.
    pub(crate) fn initial(&self, parent: Option<StateId>) -> Option<StateId> {
        let initial = match parent {
            Some(parent) => self.outline.state(parent).initial(),
            None => Some(self.outline.initial()),
        };
        initial.filter(|id| self.is_shown[id.index()])
    }

    pub(crate) fn is_global(&self, id: StateId) -> bool {
        self.outline.global() == Some(id)
    }

    /// The states around a state, outermost first, and itself.
    pub(crate) fn path(&self, id: StateId) -> Vec<StateId> {
        self.outline.path(id)
    }

    /// Whether a state is another one, or in it.
    pub(crate) fn is_within(&self, id: StateId, around: StateId) -> bool {
        std::iter::successors(Some(id), |id| self.state(*id).parent()).any(|id| id == around)
    }
}

/// For each state, where its exits lead, with the initial children there, and whose exits lead to it.
fn near(outline: &Outline) -> Vec<Vec<StateId>> {
    let mut near = vec![Vec::new(); outline.states().len()];
    for state in outline.states() {
        for exit in state.exits() {
            for entered in outline.descent(exit.target()) {
                near[state.id().index()].push(entered);
                near[entered.index()].push(state.id());
            }
        }
    }
    near
}
