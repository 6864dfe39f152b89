use demeanor::{Batch, Fsm, Owner, State};

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
    type Message = Call;

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

    fn on_message(&self, _: &mut Dog, call: &Call, fsm: &mut Fsm<'_, Dog>, _: &mut Yard) -> bool {
        match call {
            Call::Whistle => fsm.force_state(&Sit),
        }
        true
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

enum Call {
    Whistle,
}

struct Sit;

impl State<Dog> for Sit {
    fn on_message(&self, _: &mut Dog, call: &Call, fsm: &mut Fsm<'_, Dog>, _: &mut Yard) -> bool {
        match call {
            Call::Whistle => fsm.change_state(&Walk),
        }
        true
    }
}

fn main() {
    let mut yard = Yard { cat: 5, seconds: 0.0 };
    let mut dogs = Batch::new().with_global(&Needs);
    let keys = [0, 3, 6].map(|place| dogs.insert(Dog { place, step: 1, thirst: 0 }, &Walk));
    for tick in 1..=3 {
        yard.seconds += 1.0;
        dogs.update(&mut yard);
        if tick == 2 {
            println!("You whistle to the second dog.");
            dogs.send(keys[1], &Call::Whistle, &mut yard);
        }
        let states = keys.map(|key| dogs.state_of(key).unwrap().name());
        println!("{}, {}, {}", states[0], states[1], states[2]);
    }
    let places: Vec<i32> = dogs.owners_in(&Chase).iter().map(|dog| dog.place).collect();
    println!("places of the dogs that chase: {places:?}");
}
