//! Nested states, two and six levels deep.

use demeanor::{Fsm, State, StateRef};

use super::character::{Character, Scene};
use super::contenders::Corner;
use crate::workload::{Idle, Wander};

pub(crate) const CORNERS: [Corner; 4] = [
    Corner::new("nested 2 deep, to a sibling", |n| Level::leaf(0, n % 2)),
    Corner::new("nested 6 deep, to a sibling", |n| Level::leaf(1, n % 2)),
    Corner::new("nested 6 deep, to the other branch", |n| Level::leaf(2, n % 2)),
    Corner::new("nested 6 deep, stay half-way", |n| Level::leaf(3, n % 2)),
];

/// The number of levels in the deepest nest.
const DEEPEST: usize = 6;

/// Two branches of states that have the outermost state in common.
struct Nest {
    depth: usize,
    common: usize,
    /// At which depth a change ends early, in each branch.
    stay: Option<usize>,
    branches: [[Level; DEEPEST]; 2],
}

/// A state of a nest.
pub(crate) struct Level {
    nest: usize,
    branch: usize,
    depth: usize,
}

static NESTS: [Nest; 4] =
    [Nest::new(0, 2, 1, None), Nest::new(1, 6, 5, None), Nest::new(2, 6, 1, None), Nest::new(3, 6, 1, Some(3))];

impl Nest {
    const fn new(number: usize, depth: usize, common: usize, stay: Option<usize>) -> Self {
        Self { depth, common, stay, branches: [Self::branch(number, 0), Self::branch(number, 1)] }
    }

    const fn branch(nest: usize, branch: usize) -> [Level; DEEPEST] {
        let mut levels = [const { Level { nest: 0, branch: 0, depth: 0 } }; DEEPEST];
        let mut depth = 0;
        while depth < DEEPEST {
            levels[depth] = Level { nest, branch, depth };
            depth += 1;
        }
        levels
    }

    fn level(&'static self, branch: usize, depth: usize) -> &'static Level {
        let branch = if depth < self.common { 0 } else { branch };
        &self.branches[branch][depth]
    }
}

impl Level {
    fn leaf(nest: usize, branch: usize) -> StateRef<Character> {
        Self::leaf_of(nest, branch).into()
    }

    fn leaf_of(nest: usize, branch: usize) -> &'static Self {
        let nest = &NESTS[nest];
        nest.level(branch, nest.depth - 1)
    }

    /// Returns a state five levels deep.
    pub(crate) fn fifth() -> StateRef<Character> {
        NESTS[1].level(0, 4).into()
    }
}

impl State<Character> for Level {
    fn enter(&self, owner: &mut Character, fsm: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        owner.body.enter::<Idle>();
        if NESTS[self.nest].stay == Some(self.depth) {
            fsm.stay();
        }
    }

    fn update(&self, owner: &mut Character, fsm: &mut Fsm<'_, Character>, cx: &mut Scene<'_>) {
        let nest = &NESTS[self.nest];
        if self.depth == nest.stay.unwrap_or(nest.depth - 1) {
            owner.act::<Wander>(cx);
            fsm.change_state(Self::leaf_of(self.nest, 1 - self.branch));
        } else {
            owner.body.act::<Idle>(&cx.base);
        }
    }

    fn exit(&self, owner: &mut Character, _: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        owner.body.exit::<Idle>();
    }

    fn parent(&self) -> Option<StateRef<Character>> {
        let outer = self.depth.checked_sub(1)?;
        Some(NESTS[self.nest].level(self.branch, outer).into())
    }
}
