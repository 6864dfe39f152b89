//! The table of threads: a batch on one thread and on all threads, with the serial share of its ticks. Some shapes of a batch
//! are easy to divide among threads, and others are not.

mod made_up;
mod serial;
mod shapes;
mod stamps;
mod thinker;
mod troop;

use comfy_table::Table;

use self::serial::{Pools, Share};
use self::shapes::Shape;
use self::stamps::Stamps;
use self::troop::Troop;
use crate::contender::{Contender, Entrant};
use crate::runner::Race;
use crate::workload::Context;

/// The approximate number of owner updates in one round. It is small, because owners that compute take long.
const UPDATES_PER_ROUND: usize = 500_000;

/// Measures the rows whose names `is_wanted` accepts.
///
/// # Errors
///
/// When the batches have not done the same work, or there are no threads.
pub(crate) fn table<const PAD: usize>(
    owners: usize,
    churns: &[f64],
    rounds: usize,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Table, String> {
    let pools = Pools::new()?;
    let header = ["", "1 thread", "all threads", "speed-up", "serial %", "at most", "8 cores", "16 cores", "64 cores"];
    let mut rows = Vec::new();
    if is_wanted(made_up::NAME) {
        let mut row = vec![made_up::NAME.to_owned(), String::new(), String::new(), String::new()];
        row.extend(shown(&pools.share(made_up::tick, rounds)));
        rows.push(row);
    }
    for shape in Shape::ALL {
        for computes in [false, true] {
            let work = if computes { "computing" } else { "light" };
            for &churn in churns {
                let name = format!("{}: {work} {churn} %", shape.name());
                if is_wanted(&name) {
                    let mut row = vec![name];
                    row.extend(measured::<PAD>(&pools, shape, computes, owners, churn / 100.0, rounds)?);
                    rows.push(row);
                }
            }
        }
    }
    Ok(bench_runner::table(header.map(String::from).to_vec(), rows))
}

fn measured<const PAD: usize>(
    pools: &Pools,
    shape: Shape,
    computes: bool,
    owners: usize,
    churn: f64,
    rounds: usize,
) -> Result<Vec<String>, String> {
    let troop = |is_parallel| Box::new(Troop::<PAD>::new(owners, shape, computes, is_parallel));
    let race = Race { owners, churn, rounds, updates: UPDATES_PER_ROUND };
    let (times, _) = race.run(vec![
        Entrant { name: "one thread", contender: troop(false) },
        Entrant { name: "all threads", contender: troop(true) },
    ])?;
    let mut troop = troop(true);
    troop.scatter();
    let cx = Context::with_churn(churn);
    let parts = pools.share(|stamps: Option<&Stamps>| troop.par_tick(&cx, stamps), rounds);
    let mut row = vec![
        format!("{:.2}", times[0].median),
        format!("{:.2}", times[1].median),
        format!("{:.2}", 1.0 / times[1].ratio),
    ];
    row.extend(shown(&parts));
    Ok(row)
}

/// Returns the serial share (upper bound and estimate), and the speed-up that it allows on 8, 16 and 64 cores.
fn shown(share: &Share) -> [String; 5] {
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let speed_up = |cores| format!("{:.1}", share.speed_up(cores));
    [percent(share.serial), percent(share.at_most), speed_up(8.0), speed_up(16.0), speed_up(64.0)]
}
