//! A defined machine of six states in a batch, against the same machine written in Rust; and how long a large file takes.
//!
//! `cargo bench --features definition --bench definition`

use std::fmt::Write as _;
use std::time::Instant;

use demeanor::definition::{Definition, Vocabulary};
use demeanor::{Batch, Fsm, Owner, State, StateRef};

/// 64 bytes.
#[derive(Clone, Default)]
struct Enemy {
    x: f32,
    y: f32,
    vx: f32,
    vy: f32,
    health: f32,
    ammo: f32,
    clock: f32,
    rng: u32,
    sees: bool,
    _more: [u32; 7],
}

impl Owner for Enemy {
    type Context<'a> = ();
    type Message = ();
}

impl Enemy {
    fn step(&mut self, pull: f32) {
        self.x += self.vx * 0.016;
        self.y += self.vy * 0.016;
        self.vx -= self.x * pull;
        self.vy -= self.y * pull;
        self.rng = self.rng.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.clock += 0.016;
    }
    /// Something that changes, for one owner in about a hundred in each tick.
    fn luck(&self) -> u32 {
        self.rng >> 16
    }
}

/// The six behaviours, and what leads from each to the next.
macro_rules! six {
    ($($behaviour:ident, $written:ident, $pull:expr, $next:ident;)*) => {
        $(
            struct $behaviour;
            impl State<Enemy> for $behaviour {
                fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, (): &mut ()) {
                    enemy.clock = 0.0;
                }
                fn update(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, (): &mut ()) {
                    enemy.step($pull);
                }
            }
            struct $written;
            impl State<Enemy> for $written {
                fn enter(&self, enemy: &mut Enemy, _: &mut Fsm<'_, Enemy>, (): &mut ()) {
                    enemy.clock = 0.0;
                }
                fn update(&self, enemy: &mut Enemy, fsm: &mut Fsm<'_, Enemy>, (): &mut ()) {
                    enemy.step($pull);
                    if f64::from(enemy.luck()) < 650.0 && enemy.health > 10.0 {
                        fsm.change_state(&$next);
                    } else if enemy.ammo == 0.0 && !enemy.sees {
                        fsm.change_state(&A2);
                    }
                }
            }
        )*
    };
}

six! {
    A, A2, 0.01, B2;
    B, B2, 0.02, C2;
    C, C2, 0.03, D2;
    D, D2, 0.04, E2;
    E, E2, 0.05, F2;
    F, F2, 0.06, A2;
}

fn vocabulary() -> Vocabulary<Enemy> {
    Vocabulary::new()
        .value("health", |enemy: &Enemy, ()| enemy.health.into())
        .value("ammo", |enemy: &Enemy, ()| enemy.ammo.into())
        .value("luck", |enemy: &Enemy, ()| enemy.luck().into())
        .flag("sees", |enemy: &Enemy, ()| enemy.sees)
        .behaviour("a", &A)
        .behaviour("b", &B)
        .behaviour("c", &C)
        .behaviour("d", &D)
        .behaviour("e", &E)
        .behaviour("f", &F)
}

fn six_states() -> String {
    let mut file = String::from("initial = \"a\"\n");
    let names = ["a", "b", "c", "d", "e", "f"];
    for (i, name) in names.iter().enumerate() {
        let next = names[(i + 1) % 6];
        writeln!(
            file,
            "[states.{name}]\nbehaviour = \"{name}\"\nexits = [\n    {{ to = \"{next}\", when = \"luck < 650 and health > 10\" }},\n    \
             {{ to = \"a\", when = \"ammo == 0 and not sees\" }},\n]"
        )
        .unwrap();
    }
    file
}

/// Nanoseconds per owner and tick, the best of several rounds, and a checksum.
fn measure(states: &[StateRef<Enemy>], owners: usize) -> (f64, f64) {
    let mut batch = Batch::new();
    for i in 0..owners {
        #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a seed")]
        let enemy = Enemy {
            x: i as f32 * 0.001,
            vx: 1.0,
            health: 50.0,
            ammo: 5.0,
            rng: (i as u32).wrapping_mul(2_654_435_761),
            ..Enemy::default()
        };
        batch.insert(enemy, states[i % 6].clone());
    }
    let ticks = (8_000_000 / owners).clamp(5, 400);
    let mut best = f64::MAX;
    for _ in 0..7 {
        let start = Instant::now();
        for _ in 0..ticks {
            batch.update(&mut ());
        }
        #[expect(clippy::cast_precision_loss, reason = "a measurement")]
        let each = start.elapsed().as_secs_f64() * 1e9 / (ticks * owners) as f64;
        best = best.min(each);
    }
    let sum = states.iter().flat_map(|state| batch.owners_in(&**state)).map(|enemy| f64::from(enemy.clock)).sum();
    (best, sum)
}

fn main() {
    let definition = Definition::parse(&six_states(), &vocabulary()).unwrap();
    let defined = definition.states();
    let written: [StateRef<Enemy>; 6] =
        [(&A2).into(), (&B2).into(), (&C2).into(), (&D2).into(), (&E2).into(), (&F2).into()];
    println!("| owners | written in Rust | defined | ratio |\n|-------:|----------------:|--------:|------:|");
    for owners in [10_000, 100_000, 1_000_000] {
        let (rust, first) = measure(&written, owners);
        let (file, second) = measure(&defined, owners);
        assert!((first - second).abs() <= first.abs() * 1e-6, "{first} is not {second}");
        println!("| {owners} | {rust:.2} ns | {file:.2} ns | {:.2} |", file / rust);
    }

    let mut file = String::from("initial = \"s0\"\n");
    for i in 0..1000 {
        writeln!(file, "[states.s{i}]\nbehaviour = \"a\"\nexits = [").unwrap();
        for to in 1..5 {
            let to = (i + to * 7) % 1000;
            writeln!(
                file,
                "    {{ to = \"s{to}\", when = \"health < {i} and (ammo == 0 or not sees) and time_in_state > 2.5\" }},"
            )
            .unwrap();
        }
        writeln!(file, "]").unwrap();
    }
    let mut best = f64::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        Definition::parse(&file, &vocabulary()).unwrap();
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    println!("\na file of 1000 states with 4 exits each: {best:.1} ms");
}
