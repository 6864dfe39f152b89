use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Agent, Fsm, Owner, State, StateBook};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
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
    fn update(&self, dog: &mut Dog, _: &mut Fsm<'_, Dog>, _: &mut Yard) {
        dog.place += dog.step;
        if dog.place <= 0 || dog.place >= 6 {
            dog.step = -dog.step;
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
    fn enter(&self, _: &mut Dog, _: &mut Fsm<'_, Dog>, _: &mut Yard) {
        println!("Woof!");
    }

    fn update(&self, dog: &mut Dog, _: &mut Fsm<'_, Dog>, yard: &mut Yard) {
        dog.place += (yard.cat - dog.place).signum();
    }
}

/// The global state.
struct Needs;

impl State<Dog> for Needs {
    fn update(&self, dog: &mut Dog, _: &mut Fsm<'_, Dog>, _: &mut Yard) {
        dog.thirst += 1;
    }
}

struct Drink;

impl State<Dog> for Drink {
    fn update(&self, dog: &mut Dog, _: &mut Fsm<'_, Dog>, _: &mut Yard) {
        dog.thirst = dog.thirst.saturating_sub(3);
    }
}

enum Call {
    Whistle,
}

struct Sit;

impl State<Dog> for Sit {}

fn vocabulary() -> Vocabulary<Dog> {
    Vocabulary::new()
        .behavior("walk", &Walk)
        .behavior("chase", &Chase)
        .behavior("drink", &Drink)
        .behavior("sit", &Sit)
        .behavior("needs", &Needs)
        .value("thirst", |dog: &Dog, _| dog.thirst.into())
        .flag("sees_cat", |dog: &Dog, yard| dog.sees_cat(yard))
        .message("whistle", |call| matches!(call, Call::Whistle))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let definition = Definition::parse(include_str!("dog.toml"), &vocabulary())?;
    let book = StateBook::new().with_definition(&definition);
    let show = |dog: &Agent<Dog>, yard: &Yard| {
        println!("{} for {} s", dog.machine().current().unwrap().name(), dog.machine().time_in_state(yard));
    };

    let mut yard = Yard { cat: 9, seconds: 100.0 };
    let mut dog = Agent::new(Dog { place: 0, step: 1, thirst: 0 }, definition.machine());
    dog.send(&Call::Whistle, &mut yard);
    yard.seconds = 101.5;
    show(&dog, &yard);
    let file = serde_json::to_string(&dog.save(&book, yard.seconds)?)?;

    // The next day, the game's clock begins at 0.
    yard.seconds = 0.0;
    let mut dog: Agent<Dog> = Agent::load(serde_json::from_str(&file)?, &book, yard.seconds)?;
    dog.machine_mut().set_global(definition.global().expect("the file has one"));
    show(&dog, &yard);
    dog.send(&Call::Whistle, &mut yard);
    show(&dog, &yard);
    Ok(())
}
