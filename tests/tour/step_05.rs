use demeanor::{Fsm, Owner, State, StateMachine};

struct Dog {
    place: i32,
    step: i32,
    thirst: u32,
}

struct Yard {
    cat: i32,
    seconds: f64,
}

impl Owner for Dog {
    type Context<'a> = Yard;
    type Message = ();

    fn now(yard: &Yard) -> f64 {
        yard.seconds
    }
}

/// The dog walks up and down along the fence.
struct Walk;

impl State<Dog> for Walk {
    fn update(&self, dog: &mut Dog, fsm: &mut Fsm<'_, Dog>, yard: &mut Yard) {
        dog.place += dog.step;
        if dog.place <= 0 || dog.place >= 6 {
            dog.step = -dog.step;
        }
        if dog.sees_cat(yard) {
            fsm.change_state(&Chase);
        }
    }
}

impl Dog {
    fn sees_cat(&self, yard: &Yard) -> bool {
        (yard.cat - self.place).abs() <= 2
    }
}

struct Chase;

impl State<Dog> for Chase {
    fn can_exit(&self, _: &Dog, fsm: &Fsm<'_, Dog>, yard: &Yard) -> bool {
        fsm.time_in_state(yard) >= 2.0
    }

    fn enter(&self, _: &mut Dog, _: &mut Fsm<'_, Dog>, _: &mut Yard) {
        println!("Woof!");
    }

    fn update(&self, dog: &mut Dog, fsm: &mut Fsm<'_, Dog>, yard: &mut Yard) {
        dog.place += (yard.cat - dog.place).signum();
        if !dog.sees_cat(yard) {
            fsm.change_state(&Walk);
        }
    }
}

/// The global state.
struct Needs;

impl State<Dog> for Needs {
    fn update(&self, dog: &mut Dog, fsm: &mut Fsm<'_, Dog>, _: &mut Yard) {
        dog.thirst += 1;
        if dog.thirst >= 4 {
            fsm.ensure_state(&Drink);
        }
    }
}

struct Drink;

impl State<Dog> for Drink {
    fn update(&self, dog: &mut Dog, fsm: &mut Fsm<'_, Dog>, _: &mut Yard) {
        dog.thirst = dog.thirst.saturating_sub(3);
        if dog.thirst == 0 {
            fsm.revert_state();
        }
    }
}

fn main() {
    let mut dog = Dog { place: 0, step: 1, thirst: 1 };
    let mut yard = Yard { cat: 9, seconds: 0.0 };
    let mut machine = StateMachine::new(&Walk).with_global(&Needs);
    machine.start(&mut dog, &mut yard);
    for cat in [9, 4, 4, 4, 4, 4] {
        yard.cat = cat;
        yard.seconds += 1.0;
        machine.update(&mut dog, &mut yard);
        println!("{:5}  dog at {}, cat at {cat}, thirst {}", machine.current().unwrap().name(), dog.place, dog.thirst);
    }
}
