//! The table of waiting: many owners that mostly sleep, each until a different time.
//!
//! Some owners work in every tick. The others sleep for some seconds, work for one tick, and sleep again. A contender that
//! polls checks each sleeping owner in each tick; a contender with timers visits only the owners whose time has come.

mod by_hand;
mod contenders;
mod sleeper;

use comfy_table::Table;

use self::contenders::Crowd;
use self::sleeper::Naps;
use crate::contender::{Contender, Entrant};
use crate::runner::Race;

/// The percentages of sleeping owners.
const SHARES: [f64; 5] = [0.0, 50.0, 90.0, 99.0, 99.9];

/// The number of owner updates in one round.
const UPDATES_PER_ROUND: usize = 30_000_000;

/// The ranges of a nap's length, in seconds.
pub(crate) const NAPS: [(f64, f64); 2] = [(1.0, 10.0), (10.0, 100.0)];

/// A way to store owners that mostly sleep.
struct Way {
    name: &'static str,
    make: fn(&Crowd) -> Box<dyn Contender>,
}

/// The others are compared with the first.
const WAYS: [Way; 6] = [
    Way { name: "Batch that polls", make: |crowd| Box::new(contenders::Many::polling(crowd)) },
    Way { name: "Batch with timers and sleep", make: |crowd| Box::new(contenders::Many::waiting(crowd)) },
    Way { name: "machines that poll", make: |crowd| Box::new(contenders::Machines::polling(crowd)) },
    Way { name: "loop by hand that polls", make: |crowd| Box::new(by_hand::Polling::new(crowd)) },
    Way { name: "loop by hand with a BinaryHeap", make: |crowd| Box::new(by_hand::Heap::new(crowd)) },
    Way { name: "bevy_ecs with a timer component", make: |crowd| Box::new(by_hand::Bevy::new(crowd)) },
];

/// Measures the ways whose names `is_wanted` accepts, with naps of the given length.
///
/// # Errors
///
/// When they have not done the same work.
pub(crate) fn table(
    owners: usize,
    (least, most): (f64, f64),
    rounds: usize,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Table, String> {
    let mut header = vec![String::from("ms per tick")];
    let ways: Vec<_> = WAYS.iter().filter(|way| is_wanted(way.name)).collect();
    let mut rows: Vec<Vec<String>> = ways.iter().map(|way| vec![way.name.to_owned()]).collect();
    let mut alone = vec![String::from("those awake, in a batch of their own")];
    let mut due = vec![String::from("owners that come due in a tick")];
    let mut each = vec![String::from("timers and sleep: ns for each of these")];
    for share in SHARES {
        let naps = Naps { least, most };
        let crowd = Crowd { owners, sleepers: (owners as f64 * share / 100.0).round() as usize, naps };
        let race = |owners, updates| Race { owners, churn: 0.0, rounds, updates };
        let entrants = ways.iter().map(|way| Entrant { name: way.name, contender: (way.make)(&crowd) }).collect();
        let (times, _) = race(owners, UPDATES_PER_ROUND).run(entrants)?;
        let ms = |time: f64, owners: usize| time * owners as f64 / 1e6;
        header.extend([format!("{share} % sleep"), String::from("ratio")]);
        for (row, time) in rows.iter_mut().zip(&times) {
            row.extend([format!("{:.3}", ms(time.median, owners)), format!("{:.3}", time.ratio)]);
        }
        let awake = Crowd { owners: owners - crowd.sleepers, sleepers: 0, ..crowd };
        let ticks = UPDATES_PER_ROUND / owners;
        let entrant = Entrant { name: "alone", contender: Box::new(contenders::Many::polling(&awake)) };
        let (time, _) = race(awake.owners, awake.owners * ticks).run(vec![entrant])?;
        let alone_ms = ms(time[0].median, awake.owners);
        alone.extend([format!("{alone_ms:.3}"), String::new()]);
        let come_due = crowd.come_due();
        due.extend([format!("{come_due:.0}"), String::new()]);
        let waiting = ways.iter().position(|way| way.name.contains("timers and sleep"));
        let beyond = waiting.filter(|_| come_due > 0.0).map(|at| ms(times[at].median, owners) - alone_ms);
        each.extend([beyond.map_or(String::new(), |ms| format!("{:.0}", ms * 1e6 / come_due)), String::new()]);
    }
    rows.extend([alone, due, each]);
    Ok(bench_runner::table(header, rows))
}
