//! `after_message`: which state has handled a message.

use std::sync::Arc;

use demeanor::{Batch, Fsm, Owner, State, StateMachine, StateRef};

#[derive(Default)]
struct Guard {
    log: Vec<String>,
}

impl Owner for Guard {
    type Context<'a> = ();
    type Message = &'static str;

    fn after_message(&mut self, message: &&'static str, handled_by: Option<&StateRef<Self>>, (): &mut ()) {
        self.log.push(format!("{message}: {}", handled_by.map_or("nobody".to_owned(), ToString::to_string)));
    }
}

/// Defines a state that handles messages that contain a word.
macro_rules! state {
    ($name:ident handles $word:literal $(in $parent:ident, $region:literal)? $(has $regions:expr)?) => {
        struct $name;
        impl State<Guard> for $name {
            fn on_message(&self, guard: &mut Guard, message: &&'static str, fsm: &mut Fsm<'_, Guard>, (): &mut ()) -> bool {
                if message.contains("go") {
                    fsm.change_state(&Rest);
                    guard.log.push(format!("{} asks", stringify!($name)));
                }
                message.contains($word)
            }
            fn exit(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, (): &mut ()) {
                guard.log.push(format!("{} is left", stringify!($name)));
            }
            $(fn parent(&self) -> Option<StateRef<Guard>> {
                Some((&$parent).into())
            }
            fn region(&self) -> usize {
                $region
            })?
            $(fn regions(&self) -> Vec<StateRef<Guard>> {
                $regions
            })?
        }
    };
}
state!(Rest handles "sleep");
state!(Duty handles "go");
state!(Patrol handles "walk" in Duty, 0);
state!(Combat handles "stop" has vec![(&Legs).into(), (&Arms).into()]);
state!(Legs handles "both" in Combat, 0);
state!(Arms handles "b" in Combat, 1);

fn after(state: StateRef<Guard>, messages: &[&'static str]) -> Vec<String> {
    let (mut guard, mut machine) = (Guard::default(), StateMachine::new(state));
    machine.start(&mut guard, &mut ());
    for message in messages {
        machine.send(&mut guard, message, &mut ());
    }
    guard.log
}

#[test]
fn the_owner_is_told_which_state_has_handled_a_message_or_that_none_has() {
    assert_eq!(after((&Patrol).into(), &["walk", "sing"]), ["walk: Patrol", "sing: nobody"]);
    // Patrol is left before the message comes to Duty, which is left, too.
    assert_eq!(after((&Patrol).into(), &["go"]), ["Patrol asks", "Patrol is left", "Duty is left", "go: nobody"]);
    assert_eq!(after((&Duty).into(), &["go"]), ["Duty asks", "go: Duty", "Duty is left"]);
    let held = StateRef::from(Arc::new(Rest));
    assert_eq!(after(held, &["sleep", "walk"]), ["sleep: Rest", "walk: nobody"]);
}

#[test]
fn the_owner_is_told_of_each_region_that_handles_a_message() {
    assert_eq!(after((&Combat).into(), &["both"]), ["both: Legs", "both: Arms"]);
    assert_eq!(after((&Combat).into(), &["b"]), ["b: Arms"]);
    assert_eq!(after((&Combat).into(), &["stop", "sing"]), ["stop: Combat", "sing: nobody"]);
}

#[test]
fn an_owner_of_a_batch_is_told_too() {
    let mut batch = Batch::new();
    let bob = batch.insert(Guard::default(), &Patrol);
    batch.send(bob, &"walk", &mut ());
    batch.broadcast(&"sing", &mut ());
    assert_eq!(batch[bob].log, ["walk: Patrol", "sing: nobody"]);
}
