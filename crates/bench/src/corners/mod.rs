//! The table of corners: tasks that a batch cannot do in its usual way, compared with one machine per owner.
//!
//! The usual way is one plain change between flat states. This table has the other cases: changes that are refused, several
//! requests, stacks, nested states, owned states, regions, messages, many timers. The cost of an owner's request must not depend on how
//! many other owners make requests (rule 31), so the ratio of batch to machines must stay the same for any number of owners.

mod character;
mod contenders;
mod flat;
mod fresh;
mod nested;
mod owned;
mod regions;
mod timers;

use comfy_table::Table;

use self::contenders::Corner;
use crate::runner::Race;

/// The number of owner updates in one round. It is small, because a slow corner takes seconds.
const UPDATES_PER_ROUND: usize = 200_000;

/// Measures the corners whose names `is_wanted` accepts.
///
/// # Errors
///
/// When batch and machines have not done the same work.
pub(crate) fn table(
    owners: &[u32],
    rounds: impl Fn(usize) -> usize,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Table, String> {
    let corners = || flat::CORNERS.into_iter().chain(nested::CORNERS).chain(owned::CORNERS).chain(regions::CORNERS);
    let mut header = vec![String::from("owners")];
    for count in owners {
        header.extend([format!("{count}: machines"), String::from("batch"), String::from("ratio")]);
    }
    let mut rows = Vec::new();
    for corner in corners().filter(|corner| is_wanted(corner.name)) {
        let mut row = vec![corner.name.to_owned()];
        for &owners in owners {
            row.extend(measured(&corner, owners as usize, rounds(owners as usize))?);
        }
        rows.push(row);
    }
    Ok(bench_runner::table(header, rows))
}

fn measured(corner: &Corner, owners: usize, rounds: usize) -> Result<[String; 3], String> {
    let race = Race { owners, churn: corner.share, rounds, updates: UPDATES_PER_ROUND };
    let (times, _) = race.run(corner.contenders(owners)).map_err(|why| format!("{}: {why}", corner.name))?;
    Ok([format!("{:.1}", times[0].median), format!("{:.1}", times[1].median), format!("{:.2}", times[1].ratio)])
}

/// Measures many timers of one owner, if `is_wanted` accepts their name.
///
/// # Errors
///
/// When batch and machines have not done the same work.
pub(crate) fn timers_of_one(is_wanted: impl Fn(&str) -> bool) -> Result<Option<Table>, String> {
    if !is_wanted(timers::NAME) {
        return Ok(None);
    }
    let header = [
        timers::NAME,
        "number",
        "machine, a quarter",
        "all",
        "all / quarter",
        "batch, a quarter",
        "all",
        "all / quarter",
    ];
    Ok(Some(bench_runner::table(header.map(String::from).to_vec(), timers::rows()?)))
}

/// Measures fresh shared states, if `is_wanted` accepts their name.
///
/// # Errors
///
/// When batch and machines have not done the same work.
pub(crate) fn fresh_states(owners: &[u32], is_wanted: impl Fn(&str) -> bool) -> Result<Option<Table>, String> {
    if !is_wanted(fresh::CORNER.name) {
        return Ok(None);
    }
    let header = [fresh::CORNER.name, "ticks", "machines, early", "last", "batch, early", "last", "last / early"];
    let mut rows = Vec::new();
    for &owners in owners {
        let fresh::Run { ticks, machines, batch } = fresh::run(owners as usize)?;
        let mut row = vec![owners.to_string(), ticks.to_string()];
        row.extend([machines.early, machines.last, batch.early, batch.last].map(|time| format!("{time:.1}")));
        row.push(format!("{:.2}", batch.last / batch.early));
        rows.push(row);
    }
    Ok(Some(bench_runner::table(header.map(String::from).to_vec(), rows)))
}
