//! Enemies of an arcade game, as they look after a port from C: hoppers, bats and gunners.
//!
//! In C, each of these enemies is one function with a `switch` over `npc->action`. A case counts ticks, and sets `action` to
//! the number of the case that runs in the next tick. Some cases only begin the next one: they set it up, and fall through. Behind
//! the `switch` comes a tail that runs in every tick: gravity, movement, the floor. Here, each pair of cases is a state:
//!
//! | in C | here |
//! |---|---|
//! | `case 3: .. npc->action = 4; /* fall through */ case 4: ..` | the `enter` and the `update` of one state |
//! | `npc->action = 3`, which the `switch` sees in the next tick | `fsm.change_state_next(&Hop)` |
//! | `npc->count = 0` beside such an assignment | the same line beside the request, because it runs in this tick |
//! | the tail behind the `switch` | `Owner::after_update` |
//! | `npc->action = 80` in another function, such as one for damage | `change_state_next`, on the machine or the batch |
//! | one function for each kind of enemy | a state that is the parent of the kind's states |
//! | a case that several kinds have | one type of state, with a static for each kind |
//!
//! ```text
//! Critter
//! ├─ Hopper    Wait, Crouch, Hop, Reel
//! ├─ Bat       Hang, Flit, Dive, Reel
//! ├─ Gunner    Stand, Aim, Retreat, Reel
//! └─ Dead      (passive)
//! ```
//!
//! The player (`@`) walks past them, and hits each critter that it touches. The picture shows the street every ten ticks:
//!
//! ```text
//! cargo run --example critters
//! cargo run --example critters -- --ticks 600 --seed 5
//! ```

#[path = "command_line/mod.rs"]
mod command_line;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use demeanor::{Batch, Fsm, Key, Owner, State, StateRef};

const USAGE: &str = "usage: critters [--ticks N] [--seed N]";

/// The number of units in a pixel. All places and speeds are in units.
pub(crate) const PIXEL: i32 = 16;
/// The y coordinate of the floor. The y axis points down.
pub(crate) const FLOOR: i32 = 96 * PIXEL;
/// The x coordinate of the right wall. The left one is at 0.
pub(crate) const WALL: i32 = 480 * PIXEL;

/// An enemy. These are the fields that the C code has, but for `action`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Critter {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) vx: i32,
    pub(crate) vy: i32,
    /// -1 if it looks to the left, 1 if it looks to the right.
    pub(crate) faces: i32,
    /// Counts ticks, up or down, as the state likes.
    pub(crate) count: i32,
    /// The picture of the sprite.
    pub(crate) frame: i32,
    /// The height to which a bat returns.
    pub(crate) anchor: i32,
    pub(crate) life: i32,
    pub(crate) is_on_floor: bool,
}

/// The context of the callbacks.
pub(crate) struct Level {
    /// The player's x coordinate.
    pub(crate) player: i32,
    /// All critters draw from the same numbers, so the order in which they are updated matters.
    pub(crate) dice: oorandom::Rand32,
    /// The x coordinates at which shots were fired, and their directions.
    pub(crate) shots: Vec<(i32, i32)>,
}

impl Level {
    pub(crate) fn new(seed: u64) -> Self {
        Self { player: 0, dice: oorandom::Rand32::new(seed), shots: Vec::new() }
    }

    /// Returns a random number from `low` to `high`.
    pub(crate) fn random(&mut self, low: i32, high: i32) -> i32 {
        let count = u32::try_from(high - low + 1).unwrap_or(1);
        low + i32::try_from(self.dice.rand_range(0..count)).unwrap_or(0)
    }
}

impl Owner for Critter {
    type Context<'a> = Level;
    type Message = ();

    /// The tail behind the `switch`.
    fn after_update(&mut self, fsm: &Fsm<'_, Self>, _: &mut Level) {
        if fsm.is_in_state(&Bat) {
            self.bounce_off_walls();
            self.x += self.vx;
            self.y += self.vy;
        } else {
            self.vy = (self.vy + 3).min(90);
            self.x = (self.x + self.vx).clamp(0, WALL);
            self.y += self.vy;
            self.is_on_floor = self.y >= FLOOR;
            if self.is_on_floor {
                (self.y, self.vy) = (FLOOR, 0);
            }
        }
    }
}

impl Critter {
    pub(crate) fn new(x: i32, y: i32) -> Self {
        Self { x: x * PIXEL, y: y * PIXEL, faces: -1, life: 3, ..Self::default() }
    }

    fn bounce_off_walls(&mut self) {
        if self.x < 0 {
            self.vx = self.vx.abs();
        } else if self.x > WALL {
            self.vx = -self.vx.abs();
        }
    }

    fn is_near(&self, level: &Level, pixels: i32) -> bool {
        (level.player - self.x).abs() < pixels * PIXEL
    }

    fn face_player(&mut self, level: &Level) {
        self.faces = if level.player < self.x { -1 } else { 1 };
    }

    /// Takes a hit from outside. Returns the state that begins in the next tick.
    pub(crate) fn hit(&mut self, reel: &'static Reel) -> StateRef<Critter> {
        self.life -= 1;
        self.count = 0;
        if self.life > 0 { reel.into() } else { (&Dead).into() }
    }
}

/// The kinds. Code that stands before the `switch` of a kind would be their `update`.
pub(crate) struct Hopper;
pub(crate) struct Bat;
pub(crate) struct Gunner;

/// Defines a state inside a kind.
macro_rules! state {
    ($name:ident in $kind:ident { $($method:item)* }) => {
        pub(crate) struct $name;

        impl State<Critter> for $name {
            fn parent(&self) -> Option<StateRef<Critter>> {
                Some((&$kind).into())
            }

            $($method)*
        }
    };
}

impl State<Critter> for Hopper {
    fn is_passive(&self) -> bool {
        true
    }
}

impl State<Critter> for Bat {
    fn is_passive(&self) -> bool {
        true
    }
}

impl State<Critter> for Gunner {
    fn is_passive(&self) -> bool {
        true
    }
}

state!(Wait in Hopper {
    fn update(&self, critter: &mut Critter, fsm: &mut Fsm<'_, Critter>, level: &mut Level) {
        critter.count += 1;
        critter.frame = i32::from(critter.is_near(level, 120));
        if critter.frame == 1 {
            critter.face_player(level);
        }
        if critter.count >= 10 && critter.is_near(level, 80) {
            fsm.change_state_next(&Crouch);
            critter.count = 0;
        }
    }
});

state!(Crouch in Hopper {
    fn update(&self, critter: &mut Critter, fsm: &mut Fsm<'_, Critter>, _: &mut Level) {
        critter.frame = 2;
        critter.count += 1;
        if critter.count > 6 {
            fsm.change_state_next(&Hop);
        }
    }
});

state!(Hop in Hopper {
    fn enter(&self, critter: &mut Critter, _: &mut Fsm<'_, Critter>, level: &mut Level) {
        critter.frame = 3;
        critter.vy = -level.random(50, 70);
        critter.vx = critter.faces * level.random(10, 20);
        critter.is_on_floor = false;
    }

    fn update(&self, critter: &mut Critter, fsm: &mut Fsm<'_, Critter>, _: &mut Level) {
        if critter.is_on_floor {
            critter.vx = 0;
            critter.count = 0;
            fsm.change_state_next(&Wait);
        }
    }
});

state!(Hang in Bat {
    fn enter(&self, critter: &mut Critter, _: &mut Fsm<'_, Critter>, level: &mut Level) {
        critter.anchor = critter.y;
        critter.count = level.random(20, 50);
    }

    fn update(&self, critter: &mut Critter, fsm: &mut Fsm<'_, Critter>, level: &mut Level) {
        critter.count -= 1;
        if critter.count <= 0 {
            critter.face_player(level);
            critter.vx = critter.faces * 12;
            critter.count = 0;
            fsm.change_state_next(&Flit);
        }
    }
});

state!(Flit in Bat {
    fn update(&self, critter: &mut Critter, fsm: &mut Fsm<'_, Critter>, level: &mut Level) {
        critter.count += 1;
        critter.frame = critter.count / 4 % 2;
        critter.vy = (critter.vy + if critter.y < critter.anchor { 2 } else { -2 }).clamp(-24, 24);
        if critter.count > 60 && level.random(0, 7) == 0 && critter.is_near(level, 100) {
            fsm.change_state_next(&Dive);
        }
    }
});

state!(Dive in Bat {
    fn enter(&self, critter: &mut Critter, _: &mut Fsm<'_, Critter>, level: &mut Level) {
        critter.face_player(level);
        critter.frame = 2;
        critter.vx = critter.faces * 20;
        critter.vy = 40;
    }

    fn update(&self, critter: &mut Critter, fsm: &mut Fsm<'_, Critter>, _: &mut Level) {
        if critter.y >= FLOOR {
            critter.vy = -40;
            critter.count = 0;
            fsm.change_state_next(&Flit);
        }
    }
});

state!(Stand in Gunner {
    fn update(&self, critter: &mut Critter, fsm: &mut Fsm<'_, Critter>, level: &mut Level) {
        critter.face_player(level);
        critter.frame = 0;
        critter.count += 1;
        if critter.count > 40 && critter.is_near(level, 160) {
            fsm.change_state_next(&Aim);
            critter.count = 0;
        }
    }
});

state!(Aim in Gunner {
    fn update(&self, critter: &mut Critter, fsm: &mut Fsm<'_, Critter>, level: &mut Level) {
        critter.count += 1;
        critter.frame = 1;
        if critter.count % 8 == 0 {
            critter.frame = 2;
            level.shots.push((critter.x, critter.faces));
        }
        if critter.count == 24 {
            critter.count = 0;
            // Of several requests for the next tick, the last one counts, like the last assignment in C.
            fsm.change_state_next(&Stand);
            if level.random(0, 1) == 0 {
                fsm.change_state_next(&Retreat);
            }
        }
    }
});

state!(Retreat in Gunner {
    fn enter(&self, critter: &mut Critter, _: &mut Fsm<'_, Critter>, level: &mut Level) {
        critter.vx = -critter.faces * 24;
        critter.count = level.random(20, 30);
    }

    fn update(&self, critter: &mut Critter, fsm: &mut Fsm<'_, Critter>, _: &mut Level) {
        critter.count -= 1;
        critter.frame = 3 + critter.count / 4 % 2;
        if critter.count <= 0 {
            critter.vx = 0;
            fsm.change_state_next(&Stand);
        }
    }
});

/// Staggers after a hit. All kinds do the same, so there is one type, and a static for each kind.
pub(crate) struct Reel {
    name: &'static str,
    kind: fn() -> StateRef<Critter>,
    then: fn() -> StateRef<Critter>,
}

pub(crate) static HOPPER_REELS: Reel = Reel { name: "HopperReels", kind: || (&Hopper).into(), then: || (&Wait).into() };
pub(crate) static BAT_REELS: Reel = Reel { name: "BatReels", kind: || (&Bat).into(), then: || (&Flit).into() };
pub(crate) static GUNNER_REELS: Reel =
    Reel { name: "GunnerReels", kind: || (&Gunner).into(), then: || (&Stand).into() };

impl State<Critter> for Reel {
    fn name(&self) -> std::borrow::Cow<'static, str> {
        self.name.into()
    }

    fn parent(&self) -> Option<StateRef<Critter>> {
        Some((self.kind)())
    }

    fn update(&self, critter: &mut Critter, fsm: &mut Fsm<'_, Critter>, _: &mut Level) {
        critter.frame = 7;
        critter.count += 1;
        if critter.count > 12 {
            critter.count = 0;
            fsm.change_state_next((self.then)());
        }
    }
}

pub(crate) struct Dead;

impl State<Critter> for Dead {
    fn enter(&self, critter: &mut Critter, _: &mut Fsm<'_, Critter>, _: &mut Level) {
        critter.frame = 9;
        critter.vx = 0;
    }

    /// It is not updated, so the tail does not run for it either.
    fn is_passive(&self) -> bool {
        true
    }
}

fn main() -> ExitCode {
    ExitCode::from(answer(env::args_os().skip(1), &mut io::stdout(), &mut io::stderr()))
}

/// Runs the program with these arguments. Returns the exit code.
pub(crate) fn answer(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    command_line::answer("critters", USAGE, parse(arguments), out, err, |options, out, _| play(options, out))
}

struct Options {
    ticks: i32,
    seed: u64,
}

/// Parses the arguments, without the program's name. Returns `None` if the user asks for help.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, lexopt::Error> {
    use lexopt::{Arg, Parser, ValueExt};

    let mut parser = Parser::from_args(arguments);
    let mut options = Options { ticks: 400, seed: 1 };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("ticks") => options.ticks = parser.value()?.parse()?,
            Arg::Long("seed") => options.seed = parser.value()?.parse()?,
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            unexpected => return Err(unexpected.unexpected()),
        }
    }
    Ok(Some(options))
}

/// The letter of a kind in the picture, and the state in which a critter of the kind reels.
type Kind = (char, &'static Reel);

fn play(options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut level = Level::new(options.seed);
    let mut batch = Batch::new();
    let mut critters: Vec<(Key, Kind)> = Vec::new();
    for (x, y) in [(120, 96), (360, 96)] {
        critters.push((batch.spawn(Critter::new(x, y), &Wait, &mut level), ('h', &HOPPER_REELS)));
    }
    critters.push((batch.spawn(Critter::new(200, 20), &Hang, &mut level), ('b', &BAT_REELS)));
    critters.push((batch.spawn(Critter::new(300, 96), &Stand, &mut level), ('g', &GUNNER_REELS)));
    for tick in 0..=options.ticks {
        level.player = (tick % 320) * 3 / 2 * PIXEL;
        if tick % 10 == 0 {
            draw(tick, &batch, &critters, &mut level, out)?;
        }
        for &(key, (_, reel)) in &critters {
            let Some(critter) = batch.get_mut(key) else { continue };
            let is_touched = critter.is_near(&level, 4) && critter.y > FLOOR - 24 * PIXEL && critter.frame < 7;
            if is_touched {
                let next = critter.hit(reel);
                batch.change_state_next(key, next, &mut level);
            }
        }
        // The critters draw from the same random numbers, so their order must not depend on their states.
        batch.update_in_key_order(&mut level);
    }
    Ok(())
}

/// Prints the street: the living critters by their letters, the dead ones as `x`, and the player. Then the shots since the last
/// picture.
fn draw(
    tick: i32,
    batch: &Batch<Critter>,
    critters: &[(Key, Kind)],
    level: &mut Level,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut rows = vec![vec![' '; 61]; 4];
    let mut put = |x: i32, y: i32, letter| {
        let row = usize::try_from(y * 3 / FLOOR).unwrap_or(0).min(3);
        let column = usize::try_from(x * 60 / WALL).unwrap_or(0).min(60);
        rows[row][column] = letter;
    };
    put(level.player, FLOOR, '@');
    for &(key, (letter, _)) in critters {
        if let Some(critter) = batch.get(key) {
            put(critter.x, critter.y, if batch.is_in_state(key, &Dead) { 'x' } else { letter });
        }
    }
    let states = critters.iter().filter_map(|(key, _)| batch.state_of(*key)).map(|state| state.name().into_owned());
    writeln!(out, "tick {tick}: {}", states.collect::<Vec<_>>().join(", "))?;
    for row in rows {
        writeln!(out, "|{}|", row.into_iter().collect::<String>())?;
    }
    match level.shots.len() {
        0 => {}
        1 => writeln!(out, "1 shot")?,
        shots => writeln!(out, "{shots} shots")?,
    }
    level.shots.clear();
    Ok(())
}

#[cfg(test)]
#[path = "tests/critters.rs"]
mod tests;
