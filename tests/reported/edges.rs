//! Faults at the edges: what the crate is used with, rather than what it does.

use std::thread;

use demeanor::{Agent, Cast, Fsm, Owner, State, StateMachine, Telegram};

/// The world is how often the bell has rung.
type Tower = Cast<u8, &'static str, u32>;

struct Bell;

impl Owner for Bell {
    type Context<'a> = Tower;
    type Message = Telegram<u8, &'static str>;
}

struct Ringing;

impl State<Bell> for Ringing {
    fn update(&self, _: &mut Bell, _: &mut Fsm<'_, Bell>, tower: &mut Tower) {
        tower.world += 1;
    }
}

/// The members were behind a trait object that was neither `Send` nor `Sync`, whatever the owners were.
#[test]
fn a_cast_can_be_shared_with_and_moved_to_another_thread() {
    const fn is_send_and_sync<T: Send + Sync>() {}
    const { is_send_and_sync::<Tower>() };

    let mut tower = Tower::new(0);
    tower.add(7, Agent::new(Bell, StateMachine::new(&Ringing))).unwrap();
    let rung = thread::spawn(move || {
        tower.update();
        tower.world
    });
    assert_eq!(rung.join().unwrap(), 1);
}
