//! Rule 21: a parallel tick leaves the batch as an ordinary one does, row by row, on any number of threads.
#![cfg(feature = "parallel")]

use demeanor::{Batch, Fsm, Key, Owner, State, StateRef};
use proptest::prelude::*;
use rayon::ThreadPool;

use crate::cases::cases;
use crate::pool;

/// An owner that goes where chance takes it.
#[derive(Clone, Debug, PartialEq)]
struct Nomad {
    seed: u64,
    entered: u32,
}

/// What the owners of a tick are told.
#[derive(Clone, Copy, Debug)]
struct Season {
    now: f64,
    /// How many in a thousand of the owners move.
    moving: u64,
    /// How many in a thousand of those move to where they are.
    returning: u64,
    /// How many in a thousand of those do it at once or by a push, which is carried out for each. Above a thousand, all push.
    at_once: u64,
    /// Where all go.
    target: Option<usize>,
    /// In how many camps they are.
    camps: usize,
    /// Only those in this camp move, if it is given.
    from: Option<usize>,
}

/// In which nobody moves.
const STILL: Season = Season { now: 0.0, moving: 0, returning: 0, at_once: 0, target: None, camps: 1, from: None };

impl Owner for Nomad {
    type Context<'a> = Season;
    type Message = ();

    fn now(season: &Season) -> f64 {
        season.now
    }
}

impl Nomad {
    fn next(&mut self) -> u64 {
        // The constants of Knuth's MMIX generator.
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.seed >> 33
    }

    fn choose(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count as u64).expect("it is less than the count")
    }
}

/// One state for each place in the list.
struct Camp(usize);

static CAMPS: [Camp; 400] = {
    let mut camps = [const { Camp(0) }; 400];
    let mut number = 0;
    while number < camps.len() {
        camps[number].0 = number;
        number += 1;
    }
    camps
};

impl State<Nomad> for Camp {
    fn enter(&self, nomad: &mut Nomad, _: &mut Fsm<'_, Nomad>, _: &mut Season) {
        nomad.entered += 1;
    }

    fn update(&self, nomad: &mut Nomad, fsm: &mut Fsm<'_, Nomad>, season: &mut Season) {
        if nomad.next() % 1000 >= season.moving || season.from.is_some_and(|from| from != self.0) {
            return;
        }
        let mut to = season.target.unwrap_or(nomad.choose(season.camps));
        if nomad.next() % 1000 < season.returning {
            to = self.0;
        }
        if nomad.next() % 1000 < season.at_once {
            if season.at_once > 1000 || nomad.next() % 2 == 0 {
                fsm.push_state(&CAMPS[to]);
            } else {
                fsm.change_state_now(nomad, &CAMPS[to], season);
            }
        } else {
            fsm.change_state(&CAMPS[to]);
        }
    }
}

/// All that is known of an owner.
type Row = (Key, Nomad, Option<StateRef<Nomad>>, Option<StateRef<Nomad>>, Option<f64>);

/// The owners as they lie.
fn rows(batch: &Batch<Nomad>) -> Vec<Row> {
    let season = Season { now: 1000.0, ..STILL };
    let row = |(key, nomad): (Key, &Nomad)| {
        let (state, previous) = (batch.state_of(key).cloned(), batch.previous_of(key).cloned());
        (key, nomad.clone(), state, previous, batch.time_in_state(key, &season))
    };
    batch.iter().map(row).collect()
}

fn pools() -> [ThreadPool; 3] {
    [1, 2, 4].map(pool)
}

/// Runs the same ticks on a batch by `update`, and on clones by `par_update` on several numbers of threads.
fn assert_all_equal(pools: &[ThreadPool], batch: &Batch<Nomad>, seasons: &[Season]) {
    let mut batch = batch.clone();
    let mut others: Vec<_> = pools.iter().map(|_| batch.clone()).collect();
    for season in seasons {
        batch.update(&mut season.clone());
        let expected = rows(&batch);
        for (pool, other) in pools.iter().zip(&mut others) {
            pool.install(|| other.par_update(|_| *season));
            let seen = rows(other);
            let at = seen.iter().zip(&expected).position(|(seen, expected)| seen != expected);
            assert!(
                at.is_none() && seen.len() == expected.len(),
                "{season:?} on {} threads: row {at:?} of {}: {:?} and not {:?}",
                pool.current_num_threads(),
                expected.len(),
                at.map(|at| &seen[at]),
                at.map(|at| &expected[at]),
            );
            for (key, nomad, ..) in &expected {
                assert_eq!(other.get(*key), Some(nomad), "the key leads to its owner");
            }
        }
    }
}

/// So many owners in each camp.
fn batch_of(owners: &[usize]) -> Batch<Nomad> {
    let mut batch = Batch::new();
    let mut seed = 0;
    for (camp, count) in CAMPS.iter().zip(owners) {
        for _ in 0..*count {
            seed += 1;
            batch.insert(Nomad { seed: seed * 7919, entered: 0 }, camp);
        }
    }
    batch
}

fn season(camps: usize) -> impl Strategy<Value = Season> {
    let share = || prop_oneof![Just(0_u64), Just(1), Just(5), Just(100), Just(500), Just(900), Just(997), Just(1000)];
    let target = prop::option::of(0..camps);
    let from = prop::option::weighted(0.2, 0..camps);
    let at_once = prop_oneof![4 => Just(0_u64), 1 => Just(1), 1 => Just(300)];
    let returning = prop_oneof![3 => Just(0_u64), 1 => Just(200), 1 => Just(1000)];
    (share(), returning, at_once, target, from).prop_map(move |(moving, returning, at_once, target, from)| Season {
        moving,
        returning,
        at_once,
        target,
        camps,
        from,
        ..STILL
    })
}

/// The number of owners in a camp: around the limits of chunks, and in between.
fn len() -> impl Strategy<Value = usize> {
    let around = (0..6_usize, -2..3_isize).prop_map(|(chunks, more)| (chunks * 2048).saturating_add_signed(more));
    prop_oneof![around, 0..9000_usize]
}

/// Some ticks, of which the first ones are before the clock begins.
fn case() -> impl Strategy<Value = (Vec<usize>, Vec<Season>)> {
    prop::collection::vec(len(), 1..5).prop_flat_map(|owners| {
        let camps = owners.len() + 1;
        let seasons = prop::collection::vec(season(camps), 1..6);
        (Just(owners), seasons, 0..4_usize).prop_map(|(owners, mut seasons, timeless)| {
            for (tick, season) in (0..).zip(&mut seasons).skip(timeless) {
                season.now = f64::from(tick);
            }
            (owners, seasons)
        })
    })
}

#[test]
fn a_parallel_tick_leaves_every_row_as_an_ordinary_one_does() {
    let pools = pools();
    // Each case is as long as a thousand of others.
    proptest!(cases(4), |((owners, seasons) in case())| {
        assert_all_equal(&pools, &batch_of(&owners), &seasons);
    });
}

#[test]
fn many_short_buckets_end_as_in_an_ordinary_tick() {
    let pools = pools();
    for (owners, camps) in [(vec![30; 400], 400), (vec![0; 400], 400), ([vec![9000], vec![20; 300]].concat(), 301)] {
        let wave = |tick: u32, moving| Season { now: f64::from(tick), moving, returning: 10, camps, ..STILL };
        let seasons = [wave(0, 1000), wave(1, 100), Season { at_once: 3, ..wave(2, 300) }, wave(3, 1000)];
        assert_all_equal(&pools, &batch_of(&owners), &seasons);
    }
}

#[test]
fn all_but_a_few_move_as_in_an_ordinary_tick() {
    let pools = pools();
    for moving in [990, 998, 999] {
        for (camps, target) in [(3, None), (3, Some(2))] {
            let season = Season { now: 1.0, moving, target, camps, ..STILL };
            assert_all_equal(&pools, &batch_of(&[20_000, 5000, 0]), &[season, Season { now: 2.0, ..season }]);
        }
    }
}

/// The chunks' clocks differ here, which only the contexts of a parallel tick can.
#[test]
fn a_clock_that_begins_within_a_tick_gives_those_moved_before_the_time_0() {
    let ticked = |threads: usize| {
        let pool = pool(threads);
        let mut batch = batch_of(&[3000, 20_000, 3000, 5]);
        let still = Season { moving: 1000, camps: 4, ..STILL };
        let make = |chunk: usize| match chunk {
            // The first camp's two chunks and the last camps', whose owners are moved one by one.
            0 | 1 => Season { at_once: 2000, ..still },
            12.. => Season { at_once: 2000, now: 7.0, ..still },
            _ => still,
        };
        pool.install(|| batch.par_update(make));
        rows(&batch)
    };
    let expected = ticked(1);
    let at = |time: f64| expected.iter().filter(|row| row.4 == Some(time)).count();
    assert_eq!((at(1000.0), at(993.0)), (23_000, 3005));
    for threads in [2, 4] {
        assert!(ticked(threads) == expected, "on {threads} threads");
    }
}

/// Only the contexts of a parallel tick can differ from chunk to chunk: one thread is what others are compared with.
#[test]
fn chunks_of_which_each_has_its_own_time_and_moves_end_alike_on_any_number_of_threads() {
    for has_target in [false, true] {
        for moving in [[1000; 3], [500, 0, 900]] {
            let ticked = |threads: usize| {
                let pool = pool(threads);
                let mut batch = batch_of(&[40_000, 10_000, 5, 5]);
                let mut after_ticks = Vec::new();
                for tick in 1..5_u32 {
                    let target = has_target.then_some(if tick % 2 == 0 { 0 } else { 3 });
                    let make = |chunk: usize| {
                        let now = f64::from(tick) + f64::from(u8::try_from(chunk).expect("there are few")) / 256.0;
                        Season { now, moving: moving[(chunk + tick as usize) % 3], target, camps: 4, ..STILL }
                    };
                    pool.install(|| batch.par_update(make));
                    after_ticks.push(rows(&batch));
                }
                after_ticks
            };
            let expected = ticked(1);
            for threads in [2, 4] {
                assert!(ticked(threads) == expected, "on {threads} threads, {has_target}, {moving:?}");
            }
        }
    }
}

#[test]
fn states_that_come_and_go_keep_the_order() {
    let pools = pools();
    let mut batch = batch_of(&[6000, 100, 3000]);
    let shared = |camp: usize| StateRef::from(std::sync::Arc::new(Camp(camp)));
    // Their numbers are given away again, so that the numbers are no longer in order.
    for round in 0..50 {
        let nomad = |seed| Nomad { seed, entered: 0 };
        let state = shared(round);
        let keys: Vec<_> = (0..40).map(|seed| batch.insert(nomad(seed), state.clone())).collect();
        for key in keys.into_iter().skip(round % 3) {
            batch.remove(key);
        }
        batch.update(&mut { STILL });
    }
    let season = Season { now: 1.0, moving: 700, returning: 50, camps: 5, ..STILL };
    assert_all_equal(&pools, &batch, &[season, Season { now: 2.0, at_once: 1, ..season }, season]);
}

/// A camp in which some sleep until they move on to a camp that nobody has seen.
struct Bivouac;

/// Where they move on to, and those of another camp at once.
struct Unseen;

/// The first camp, whose owners are the first to see it.
struct Outpost;

impl State<Nomad> for Unseen {}

impl State<Nomad> for Outpost {
    fn update(&self, _: &mut Nomad, fsm: &mut Fsm<'_, Nomad>, _: &mut Season) {
        fsm.change_state(&Unseen);
    }
}

impl State<Nomad> for Bivouac {
    fn update(&self, nomad: &mut Nomad, fsm: &mut Fsm<'_, Nomad>, _: &mut Season) {
        if nomad.seed % 3 == 1 {
            fsm.change_state_after(5.0, &Unseen);
            fsm.sleep();
        }
    }
}

/// In an ordinary tick the batch has got to know a state when it comes to the owners who wait to change to it, and these are
/// put to sleep together. In a parallel tick it has not, and each is put to sleep by itself.
#[test]
fn an_owner_that_waits_for_a_state_that_is_first_seen_in_the_tick_sleeps_where_it_does_in_an_ordinary_one() {
    let mut batch = Batch::new();
    for camp in [StateRef::from(&Outpost), StateRef::from(&Bivouac)] {
        for seed in 0..5000 {
            batch.insert(Nomad { seed, entered: 0 }, camp.clone());
        }
    }
    assert_all_equal(&pools(), &batch, &[STILL; 3]);
    batch.update(&mut { STILL });
    assert_eq!(batch.awake(), 10_000 - 1667);
}
