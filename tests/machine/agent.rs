//! An agent does what its machine does to its owner.

use crate::trace::places::{A, B};
use crate::trace::{Actor, Place};
use demeanor::{Agent, GameTime, StateMachine};

static DUNGEON: Place = Place::new("Dungeon").opening_on(&GATE).keeping_history();
static GATE: Place = Place::new("Gate").inside(&DUNGEON);
static CELL: Place = Place::new("Cell").inside(&DUNGEON);

#[test]
fn every_verb_is_the_machines() {
    let mut time = GameTime::new();
    let mut agent = Agent::new(Actor::default(), StateMachine::new(&CELL));
    agent.start(&mut time);
    agent.update(&mut time);
    assert!(!agent.send(&"hit", &mut time));
    assert!(agent.change_state(&A, &mut time));
    assert!(agent.resume_state(&DUNGEON, &mut time));
    assert!(agent.revert_state(&mut time));
    assert!(agent.push_state(&B, &mut time));
    assert!(agent.pop_state(&mut time));
    assert!(!agent.pop_state(&mut time));
    assert!(agent.with(&mut time, |actor, fsm, _| {
        fsm.change_state(&B);
        actor.note("asked");
        fsm.is_in_state(&A)
    }));
    agent.note("through the owner");
    agent.machine_mut().set_current(&A);
    assert!(agent.machine().is_in_state(&A));
    agent.stop(&mut time);

    let (mut actor, machine) = agent.into_parts();
    assert!(machine.current().is_none());
    assert_eq!(
        actor.take_trace(),
        "Dungeon.enter; Cell.enter
         Dungeon.update; Cell.update
         Cell.hit; Dungeon.hit
         Cell.exit; Dungeon.exit; Cell -> A (change); A.enter
         A.exit; A -> Cell (resume); Dungeon.enter; Cell.enter
         Cell.exit; Dungeon.exit; Cell -> A (revert); A.enter
         A.suspend; A -> B (push); B.enter
         B.exit; B -> A (pop); A.resume; asked
         A.exit; A -> B (change); B.enter; through the owner
         A.exit"
    );
}
