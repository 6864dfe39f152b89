//! Two crowds for the inspector: five thousand guards whose states are in code, and three hundred wolves whose machine is in a
//! file.
//!
//! ```text
//! cargo run --release -p demeanor-inspector --features definition --example crowd
//! cargo run --release -p demeanor-inspector --features definition --example crowd -- 127.0.0.1:8080
//! ```
//!
//! It prints the address of the page, and runs until it is stopped. The wolves' machine is in `wolf.fsm.toml`, which is reloaded when
//! it is saved. The studio shows them in its picture:
//!
//! ```text
//! demeanor studio crates/demeanor-inspector/examples/crowd --game 127.0.0.1:7878
//! ```

mod guard;
mod wolf;

use std::error::Error;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use demeanor::definition::{Definition, Watch};
use demeanor::{Batch, Journal};
use demeanor_inspector::{Crowd, Inspector};

use guard::{Guard, Patrol, World};
use wolf::Wolf;

const TICK: Duration = Duration::from_millis(20);

fn main() -> ExitCode {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7878".to_owned());
    let mut inspector = match Inspector::bind(&*address) {
        Ok(inspector) => inspector.allow_commands(),
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    println!("{}", inspector.url());

    let mut world = World { seconds: 0.0 };
    let mut guards = Batch::new();
    guards.set_journal(Some(Journal::new(100_000)));
    for number in 0..5000 {
        guards.spawn(Guard::new(number), &Patrol, &mut world);
    }
    let (definition, mut watch) = match wolves() {
        Ok(wolves) => wolves,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    let mut wolves = Batch::new();
    wolves.set_journal(Some(Journal::new(20_000)));
    for number in 0..300 {
        wolves.spawn(Wolf::new(number), definition.initial(), &mut world.seconds);
    }

    loop {
        let tick = Instant::now();
        if let Err(problems) = watch.poll() {
            eprintln!("{problems}");
        }
        inspector.obey("guards", &mut guards, &mut world);
        inspector.obey("wolves", &mut wolves, &mut world.seconds);
        if inspector.should_update() {
            world.seconds += TICK.as_secs_f64();
            guards.update(&mut world);
            wolves.iter_mut().for_each(|(_, wolf)| wolf.live());
            wolves.update(&mut world.seconds);
        }
        inspector.explain("wolves", &definition, &mut wolves, &mut world.seconds);
        inspector.show("guards", &guards, &world);
        inspector.show("wolves", &wolves.with_definition(&definition), &world.seconds);
        thread::sleep(TICK.saturating_sub(tick.elapsed()));
    }
}

fn wolves() -> Result<(Definition<Wolf>, Watch<Wolf>), Box<dyn Error>> {
    let definition = wolf::definition()?;
    let watch = Watch::new(&definition, wolf::FILE)?;
    Ok((definition, watch))
}
