//! The same state with and without a bulk update: it shows when overriding `State::update_all` pays off.
//!
//! ```text
//! Bird
//! ├─ OneByOne   (initial in one flock)    reaches the center of a thermal: Roost
//! ├─ Together   (initial in the other)    the same, with its own `update_all`
//! └─ Roost      (passive)                 skipped by the batch
//! ```
//!
//! Thermals attract every bird, each by the inverse square of its distance. For one bird this is a chain of additions, whose
//! order the compiler must keep, and after it the bird may request a change. So the default loop of a batch, in which `update`
//! is inlined, handles one bird at a time. `Together` copies the coordinates of 64 birds into arrays and does each step for all
//! of them, without branches. The compiler turns this into SIMD instructions, without any unsafe code. The sum of each bird is
//! still added up in the same order. So both flocks end in exactly the same places, which the example asserts.
//!
//! ```text
//! cargo run --release --example flock
//! cargo run --release --example flock -- --birds 1000000 --ticks 20
//! ```
//!
//! The two flocks take turns, tick by tick, and the table shows the medians. With the four-wide registers that every x86-64
//! processor has, the bulk update was 2.8 times as fast with 16 thermals and 3.2 times with 64. With eight-wide registers
//! (`cargo rustc --release --example flock -- -C target-cpu=native`) it was more than 4 and 5 times as fast. With one
//! thermal it was 1.2 times as fast on both: if there is little to do for each bird, copying the coordinates takes most of
//! the time, and an override is not worth its lines.

#[path = "command_line/mod.rs"]
mod command_line;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use demeanor::{Batch, Fsm, FsmSlice, Owner, State};

const USAGE: &str = "usage: flock [--birds N] [--ticks N]";

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bird {
    position: [f32; 3],
    velocity: [f32; 3],
    /// Whether it has reached the center of a thermal.
    has_arrived: bool,
}

/// The context of the callbacks.
pub(crate) struct Sky {
    thermals: Vec<[f32; 3]>,
}

impl Owner for Bird {
    type Context<'a> = Sky;
    type Message = ();
}

impl Bird {
    #[inline]
    fn glide(&mut self, pull: [f32; 3], nearest: f32) {
        for ((place, speed), pull) in self.position.iter_mut().zip(&mut self.velocity).zip(pull) {
            *speed = (*speed + pull) * DRAG;
            *place += *speed;
        }
        self.has_arrived = nearest < CENTER;
    }
}

/// How strongly a thermal attracts.
const PULL: f32 = 0.000_02;
/// The share of its speed that a bird keeps from one tick to the next.
const DRAG: f32 = 0.98;
/// The square of the radius of a thermal's center.
const CENTER: f32 = 0.000_4;

/// The number of birds that `Together` handles at the same time: some full registers, so that the sums stay in the fastest
/// cache.
const LANES: usize = 64;

/// One bird at a time: the obvious way to write the update.
pub(crate) struct OneByOne;

impl State<Bird> for OneByOne {
    fn update(&self, bird: &mut Bird, fsm: &mut Fsm<'_, Bird>, sky: &mut Sky) {
        soar(bird, sky);
        if bird.has_arrived {
            fsm.change_state(&Roost);
        }
    }
}

/// The same, with a bulk update.
pub(crate) struct Together;

impl State<Bird> for Together {
    fn update(&self, bird: &mut Bird, fsm: &mut Fsm<'_, Bird>, sky: &mut Sky) {
        OneByOne.update(bird, fsm, sky);
    }

    fn update_all(&self, birds: &mut [Bird], fsm: &mut FsmSlice<'_, Bird>, sky: &mut Sky) {
        let mut blocks = birds.chunks_exact_mut(LANES);
        for block in &mut blocks {
            soar_together(block, sky);
        }
        for bird in blocks.into_remainder() {
            soar(bird, sky);
        }
        for (i, bird) in birds.iter().enumerate() {
            if bird.has_arrived {
                fsm.at(i).change_state(&Roost);
            }
        }
    }
}

/// A bird that stays in its place.
pub(crate) struct Roost;

impl State<Bird> for Roost {
    fn is_passive(&self) -> bool {
        true
    }
}

fn soar(bird: &mut Bird, sky: &Sky) {
    let [x, y, z] = bird.position;
    let mut pull = [0.0; 3];
    let mut nearest = f32::INFINITY;
    for thermal in &sky.thermals {
        let offset = [thermal[0] - x, thermal[1] - y, thermal[2] - z];
        let square = offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2];
        let strength = PULL / (square + CENTER);
        for axis in 0..3 {
            pull[axis] += offset[axis] * strength;
        }
        nearest = if square < nearest { square } else { nearest };
    }
    bird.glide(pull, nearest);
}

/// Does the same as [`soar`] for a block of birds, with the same steps in the same order.
fn soar_together(birds: &mut [Bird], sky: &Sky) {
    // There is one array per axis, so that a register contains the same coordinate of several birds.
    let [mut xs, mut ys, mut zs] = [[0.0; LANES]; 3];
    for (lane, bird) in birds.iter().enumerate() {
        [xs[lane], ys[lane], zs[lane]] = bird.position;
    }
    let [mut pull_x, mut pull_y, mut pull_z] = [[0.0; LANES]; 3];
    let mut nearest = [f32::INFINITY; LANES];
    for thermal in &sky.thermals {
        for lane in 0..LANES {
            let offset = [thermal[0] - xs[lane], thermal[1] - ys[lane], thermal[2] - zs[lane]];
            let square = offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2];
            let strength = PULL / (square + CENTER);
            pull_x[lane] += offset[0] * strength;
            pull_y[lane] += offset[1] * strength;
            pull_z[lane] += offset[2] * strength;
            nearest[lane] = if square < nearest[lane] { square } else { nearest[lane] };
        }
    }
    for (lane, bird) in birds.iter_mut().enumerate() {
        let pull = [pull_x[lane], pull_y[lane], pull_z[lane]];
        bird.glide(pull, nearest[lane]);
    }
}

fn main() -> ExitCode {
    ExitCode::from(answer(env::args_os().skip(1), &mut io::stdout(), &mut io::stderr()))
}

/// Runs the program with these arguments. Returns the exit code.
pub(crate) fn answer(arguments: impl IntoIterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    command_line::answer("flock", USAGE, parse(arguments), out, err, |options, out, _| compare(options, out))
}

struct Options {
    birds: u32,
    ticks: u32,
}

/// Parses the arguments, without the program's name. Returns `None` if the user asks for help.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, lexopt::Error> {
    use lexopt::{Arg, Parser, ValueExt};

    let mut parser = Parser::from_args(arguments);
    let mut options = Options { birds: 20_000, ticks: 100 };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("birds") => options.birds = parser.value()?.parse()?,
            Arg::Long("ticks") => options.ticks = parser.value()?.parse()?,
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            unexpected => return Err(unexpected.unexpected()),
        }
    }
    Ok(Some(options))
}

/// Compares two flocks that differ only in `update_all`, with more and more thermals.
fn compare(options: &Options, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} birds, {} ticks; ns per bird and tick\n", options.birds, options.ticks)?;
    writeln!(out, "{:>8}{:>14}{:>14}{:>10}{:>10}", "thermals", "one by one", "together", "ratio", "roosting")?;
    for thermals in [1, 4, 16, 64] {
        let mut dice = oorandom::Rand32::new(thermals);
        let mut sky = Sky { thermals: (0..thermals).map(|_| place(&mut dice)).collect() };
        let mut apart = flock(options.birds, &OneByOne);
        let mut together = flock(options.birds, &Together);
        let (mut times_apart, mut times_together) = (vec![], vec![]);
        for tick in 0..options.ticks {
            // The flocks take turns at going first, so that neither always has the warmer caches.
            if tick % 2 == 0 {
                times_apart.push(time_update(&mut apart, &mut sky));
            }
            times_together.push(time_update(&mut together, &mut sky));
            if tick % 2 == 1 {
                times_apart.push(time_update(&mut apart, &mut sky));
            }
        }
        assert!(apart.iter().eq(together.iter()), "a bulk update does exactly what single ones do");
        let roosting = together.owners_in(&Roost).len();
        assert_eq!(roosting, apart.owners_in(&Roost).len());

        let [apart, together] = [times_apart, times_together].map(|times| median(times) / f64::from(options.birds));
        let ratio = apart / together;
        writeln!(out, "{thermals:>8}{apart:>14.2}{together:>14.2}{ratio:>9.2}x{roosting:>10}")?;
    }
    Ok(())
}

fn flock(birds: u32, state: &'static impl State<Bird>) -> Batch<Bird> {
    let mut dice = oorandom::Rand32::new(7);
    let mut flock = Batch::new();
    for _ in 0..birds {
        let bird = Bird { position: place(&mut dice), velocity: [0.0; 3], has_arrived: false };
        flock.insert(bird, state);
    }
    flock
}

/// Returns a random place in a cube with sides of 1.
fn place(dice: &mut oorandom::Rand32) -> [f32; 3] {
    [(); 3].map(|()| dice.rand_float())
}

fn time_update(flock: &mut Batch<Bird>, sky: &mut Sky) -> Duration {
    let start = Instant::now();
    flock.update(sky);
    start.elapsed()
}

/// Returns the median in nanoseconds; 0 if there are no times.
#[expect(clippy::cast_precision_loss, reason = "a tick is far shorter than 2^53 ns")]
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_nanos() as f64)
}

#[cfg(test)]
#[path = "tests/flock.rs"]
mod tests;
