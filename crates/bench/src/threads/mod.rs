//! The table of threads: a batch on one thread and on all, in shapes that are easy to share among threads and in shapes that
//! are not, with the serial share of its ticks.

mod serial;
mod shapes;
mod stamps;
mod thinker;
mod troop;

use comfy_table::Table;

use self::serial::Pools;
use self::shapes::Shape;
use self::troop::Troop;
use crate::contender::{Contender, Entrant};
use crate::runner::{Race, UPDATES_PER_ROUND};
use crate::table;
use crate::workload::Context;

/// Measures the rows whose names are wanted.
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
    for shape in Shape::ALL {
        for computes in [false, true] {
            let work = if computes { "computing" } else { "light" };
            for &churn in churns {
                let name = format!("{}, {work}, {churn} %", shape.name());
                if is_wanted(&name) {
                    let mut row = vec![name];
                    row.extend(measured::<PAD>(&pools, shape, computes, owners, churn / 100.0, rounds)?);
                    rows.push(row);
                }
            }
        }
    }
    Ok(table::of(header.map(String::from).to_vec(), rows))
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
    let parts = pools.share(&mut troop, &Context::with_churn(churn), rounds);
    let mut row = vec![
        format!("{:.2}", times[0].median),
        format!("{:.2}", times[1].median),
        format!("{:.2}", 1.0 / times[1].ratio),
        format!("{:.1}", 100.0 * parts.serial),
        format!("{:.1}", 100.0 * parts.at_most),
    ];
    row.extend([8.0, 16.0, 64.0].map(|cores| format!("{:.1}", parts.speed_up(cores))));
    Ok(row)
}
