//! Shared states that are created and dropped: is a batch that has known many such states as fast as one that has known few?

use std::sync::Arc;
use std::time::Instant;

use demeanor::{Fsm, State, StateRef};

use super::character::{Character, Scene};
use super::contenders::{Corner, Machines, Many};
use crate::contender::Contender;
use crate::workload::{Context, Wander};
use bench_runner::median;

/// Number of new states in each tick.
const FRESH: u32 = 16;

/// The approximate number of owner updates in a run.
const UPDATES: usize = 20_000_000;

pub(crate) const CORNER: Corner = Corner::new("fresh shared states", |_| errand(0)).with_share(0.1);

/// A state that is created during the game and shared by owners.
struct Errand {
    number: u32,
}

impl State<Character> for Errand {
    fn enter(&self, owner: &mut Character, _: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        owner.body.enter::<Wander>();
        owner.heard = owner.heard.wrapping_add(self.number);
    }

    fn update(&self, owner: &mut Character, fsm: &mut Fsm<'_, Character>, cx: &mut Scene<'_>) {
        if owner.act::<Wander>(cx) {
            let choice = (owner.body.luck() >> 8) as usize % cx.fresh.len();
            fsm.change_state(cx.fresh[choice].clone());
        }
    }

    fn exit(&self, owner: &mut Character, _: &mut Fsm<'_, Character>, _: &mut Scene<'_>) {
        owner.body.exit::<Wander>();
    }
}

fn errand(number: u32) -> StateRef<Character> {
    Arc::new(Errand { number }).into()
}

/// How long the ticks took, in nanoseconds per owner.
pub(crate) struct Ages {
    /// The median of an early tenth of the run.
    pub(crate) early: f64,
    /// The median of the last tenth.
    pub(crate) last: f64,
}

/// One run of the machines and the batch.
pub(crate) struct Run {
    pub(crate) ticks: usize,
    pub(crate) machines: Ages,
    pub(crate) batch: Ages,
}

/// Runs machines and batch tick by tick, in turns.
///
/// # Errors
///
/// When their checksums differ.
pub(crate) fn run(owners: usize) -> Result<Run, String> {
    let ticks = (UPDATES / owners.max(1)).clamp(100, 4_000);
    let (mut machines, mut batch) = (Machines::new(&CORNER, owners), Many::new(&CORNER, owners));
    let mut taken = [Vec::with_capacity(ticks), Vec::with_capacity(ticks)];
    for tick in 0..ticks as u32 {
        let fresh: Vec<_> = (0..FRESH).map(|i| errand(tick * FRESH + i)).collect();
        let mut cx = Scene { base: Context::with_churn(CORNER.share), fresh: &fresh };
        let start = Instant::now();
        machines.tick_in(&mut cx);
        let between = Instant::now();
        batch.tick_in(&mut cx);
        taken[0].push((between - start).as_nanos() as f64 / owners as f64);
        taken[1].push(between.elapsed().as_nanos() as f64 / owners as f64);
    }
    if machines.checksum() != batch.checksum() {
        return Err(format!("{}: the checksums of machines and batch differ", CORNER.name));
    }
    let [machines, batch] = taken.map(|ticks| Ages::of(&ticks));
    Ok(Run { ticks, machines, batch })
}

impl Ages {
    /// The first tenth is not counted: in it all owners leave their first state, and the batch's vectors grow.
    fn of(ticks: &[f64]) -> Self {
        let tenth = ticks.len() / 10;
        Self {
            early: median(ticks[tenth..2 * tenth].iter().copied()),
            last: median(ticks[ticks.len() - tenth..].iter().copied()),
        }
    }
}
