//! States with two regions.

use demeanor::{Fsm, State, StateRef};

use super::character::{Alarm, Character, Scene};
use super::contenders::Corner;
use crate::workload::{Idle, Wander};

pub(crate) const CORNERS: [Corner; 3] = [
    Corner::new("two regions, a change in each", |_| (&BODIES[POSE]).into()),
    Corner::new("two regions, left and opened", |_| (&BODIES[FALL]).into()),
    Corner::new("two regions, messages to all, two changes", |_| (&BODIES[HEAR]).into()).with_messages(),
];

/// What the limbs of a body do: change their pose in each tick, change it at each alarm, or make the body fall in each tick.
const POSE: usize = 0;
const HEAR: usize = 1;
const FALL: usize = 2;

/// The state with the two regions.
struct Body {
    deed: usize,
}

/// A pose of one of the two limbs of a body: the state of a region.
struct Limb {
    deed: usize,
    region: usize,
    pose: usize,
}

/// The state of a body that has fallen.
struct Down;

static BODIES: [Body; 3] = [Body { deed: POSE }, Body { deed: HEAR }, Body { deed: FALL }];
static LIMBS: [[[Limb; 2]; 2]; 3] = [limbs(POSE), limbs(HEAR), limbs(FALL)];

const fn limbs(deed: usize) -> [[Limb; 2]; 2] {
    [
        [Limb { deed, region: 0, pose: 0 }, Limb { deed, region: 0, pose: 1 }],
        [Limb { deed, region: 1, pose: 0 }, Limb { deed, region: 1, pose: 1 }],
    ]
}

impl State<Character> for Body {
    fn regions(&self) -> Vec<StateRef<Character>> {
        LIMBS[self.deed].iter().map(|[first, _]| first.into()).collect()
    }
}

impl Limb {
    fn change(&self, fsm: &mut Fsm<'_, Character>) {
        fsm.change_state(&LIMBS[self.deed][self.region][1 - self.pose]);
    }
}

impl State<Character> for Limb {
    fn enter(&self, owner: &mut Character, _: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        owner.body.enter::<Idle>();
    }

    fn update(&self, owner: &mut Character, fsm: &mut Fsm<'_, Character>, cx: &mut Scene<'_>) {
        owner.act::<Wander>(cx);
        match (self.deed, self.region) {
            (POSE, _) => self.change(fsm),
            (FALL, 1) => fsm.change_state(&Down),
            _ => {}
        }
    }

    fn exit(&self, owner: &mut Character, _: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        owner.body.exit::<Idle>();
    }

    fn on_message(&self, owner: &mut Character, _: &Alarm, fsm: &mut Fsm<'_, Character>, _: &mut Scene<'_>) -> bool {
        owner.heard += 1;
        self.change(fsm);
        true
    }

    fn parent(&self) -> Option<StateRef<Character>> {
        Some((&BODIES[self.deed]).into())
    }

    fn region(&self) -> usize {
        self.region
    }
}

impl State<Character> for Down {
    fn enter(&self, owner: &mut Character, _: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        owner.body.enter::<Wander>();
    }

    fn update(&self, owner: &mut Character, fsm: &mut Fsm<'_, Character>, cx: &mut Scene<'_>) {
        owner.act::<Idle>(cx);
        fsm.change_state(&BODIES[FALL]);
    }
}
