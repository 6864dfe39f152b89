use demeanor::{Fsm, Owner, State, StateMachine};

struct Dog {
    place: i32,
    step: i32,
}

struct Yard;

impl Owner for Dog {
    type Context<'a> = Yard;
    type Message = (); // the dog is sent no messages
}

/// The dog walks up and down along the fence.
struct Walk;

impl State<Dog> for Walk {
    fn update(&self, dog: &mut Dog, _: &mut Fsm<'_, Dog>, _: &mut Yard) {
        dog.place += dog.step;
        if dog.place <= 0 || dog.place >= 6 {
            dog.step = -dog.step;
        }
    }
}

fn main() {
    let mut dog = Dog { place: 4, step: 1 };
    let mut yard = Yard;
    let mut machine = StateMachine::new(&Walk);
    machine.start(&mut dog, &mut yard);
    for _ in 0..4 {
        machine.update(&mut dog, &mut yard);
        println!("{:5}  dog at {}", machine.current().unwrap().name(), dog.place);
    }
}
