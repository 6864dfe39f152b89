//! A character in a program without `std`, such as one for a console or a microcontroller.
//!
//! It has its own panic handler. If the crate or one of its dependencies used `std`, there would be a second panic handler, and
//! the compiler would report error E0152.
#![no_std]

use demeanor::{Fsm, Owner, State, StateBook, StateMachine};

struct Lamp {
    brightness: u8,
}

impl Owner for Lamp {
    type Context<'a> = ();
    type Message = ();
}

struct Off;
struct On;

impl State<Lamp> for Off {
    fn update(&self, _: &mut Lamp, fsm: &mut Fsm<'_, Lamp>, _: &mut ()) {
        fsm.change_state(&On);
    }
}

impl State<Lamp> for On {
    fn enter(&self, lamp: &mut Lamp, _: &mut Fsm<'_, Lamp>, _: &mut ()) {
        lamp.brightness = 255;
    }
}

/// Turns a lamp on. Returns its brightness.
#[must_use]
pub fn turn_on() -> u8 {
    let mut lamp = Lamp { brightness: 0 };
    StateMachine::new(&Off).update(&mut lamp, &mut ());
    lamp.brightness
}

/// Saves and loads a lamp's machine. Returns whether it is in the same state.
#[must_use]
pub fn save() -> bool {
    let book = StateBook::<Lamp>::new().with(&Off).with(&On);
    let machine = StateMachine::new(&On);
    let loaded = machine.save(&book, 0.0).ok().and_then(|saved| book.load(saved, 0.0).ok());
    loaded.is_some_and(|loaded| loaded.is_in_state(&On))
}

#[panic_handler]
fn halt(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
