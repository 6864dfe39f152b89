//! Measures the cost of `show` on the game's thread. It only prints the result.
//!
//! ```text
//! cargo test --release -p demeanor-inspector --test cost -- --ignored --nocapture --test-threads 1
//! ```

#[path = "server/client.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod client;
#[path = "../../../examples/horde/enemy.rs"]
#[expect(dead_code, reason = "the example needs more of it")]
mod enemy;
#[path = "../../../examples/horde/world.rs"]
#[expect(dead_code, reason = "the example needs more of it")]
mod world;

use std::hint::black_box;

use client::Page;
use cpu_time::ThreadTime;
use demeanor::{Batch, Journal};
use demeanor_inspector::Inspector;
use enemy::{Enemy, Rest, View};
use world::World;

const OWNERS: u32 = 1_000_000;
const TICKS: u32 = 480;
/// The number of ticks for each picture: 60 ticks and four pictures per second.
const TICKS_PER_PICTURE: f64 = 15.0;

fn microseconds(since: ThreadTime) -> f64 {
    since.elapsed().as_secs_f64() * 1e6
}

fn quantile(share: f64, times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place")]
    let place = (share * (sorted.len() - 1) as f64) as usize;
    sorted[place]
}

#[test]
#[ignore = "it measures"]
fn a_show_with_no_page_open() {
    let mut inspector = Inspector::bind("127.0.0.1:0").unwrap();
    let horde = Batch::<Enemy>::new();
    let world = World::at(0, 100);
    let view = View { world: &world, changes: 0 };
    let shows = 10_000_000;
    let rounds: Vec<f64> = (0..15)
        .map(|_| {
            let start = ThreadTime::now();
            for _ in 0..shows {
                black_box(&mut inspector).show("horde", black_box(&horde), black_box(&view));
            }
            microseconds(start) * 1e3 / f64::from(shows)
        })
        .collect();
    println!("no page open: {:.2} ns per show, median of 15 rounds", quantile(0.5, &rounds));
}

#[test]
#[ignore = "it measures"]
fn a_show_of_a_million_with_a_page_open() {
    for (what, query) in [("a page", ""), ("a page that watches one owner", "?crowd=horde&owner=7v1")] {
        let mut inspector = Inspector::bind("127.0.0.1:0").unwrap();
        let mut horde = Batch::new();
        horde.set_journal(Some(Journal::new(100_000)));
        for seed in 0..OWNERS {
            horde.insert(Enemy::new(seed.into()), &Rest);
        }
        let page = Page::open(inspector.address(), query);
        let (mut updates, mut shows) = (Vec::new(), Vec::new());
        for tick in 0..TICKS {
            let world = World::at(tick, 100);
            let mut view = View { world: &world, changes: 0 };
            let start = ThreadTime::now();
            horde.update(&mut view);
            updates.push(microseconds(start));
            let start = ThreadTime::now();
            inspector.show("horde", &horde, &view);
            shows.push(microseconds(start));
        }
        let update = quantile(0.5, &updates);
        let plain = quantile(0.5, &shows);
        // Calls that make a picture take much longer.
        let pictures: Vec<f64> = shows.iter().copied().filter(|show| *show > 3.0 * plain).collect();
        let picture = quantile(0.5, &pictures);
        let share = (plain + (picture - plain) / TICKS_PER_PICTURE) / update;
        println!("{OWNERS} owners, {what}, {TICKS} ticks, CPU time of the thread:");
        println!("  update: {update:.0} us, median; {:.0} on average", updates.iter().sum::<f64>() / f64::from(TICKS));
        println!("  show: {plain:.1} us, median; with a picture {picture:.0} us, {} of them", pictures.len());
        println!("  all shows / all updates: {:.2} %", 100.0 * shows.iter().sum::<f64>() / updates.iter().sum::<f64>());
        println!("  at 60 ticks a second: {:.2} % of a tick", 100.0 * share);
        page.close();
    }
}
