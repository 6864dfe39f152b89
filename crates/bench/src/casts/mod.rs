//! The table of casts: members that are updated and send each other telegrams. They are compared with a `Vec` of agents, which
//! cannot send telegrams to each other.
//!
//! A cast has two costs: it lends a member for each turn, and finds the receiver of a telegram by its key. The callbacks do
//! almost no work, so that the table shows these costs.

mod delayed;
mod players;

use comfy_table::Table;

use crate::contender::Entrant;
use crate::runner::Race;

/// The number of callbacks that one round measures.
const CALLS_PER_ROUND: usize = 400_000;

/// One row of the table, with the number of members.
struct Row {
    name: &'static str,
    /// Creates the contenders: the one to compare with, and the cast.
    contenders: fn(usize) -> Vec<Entrant>,
    members: &'static [usize],
}

const ROWS: [Row; 4] = [
    Row { name: "update beside Vec<Agent>", contenders: players::updates, members: &[12, 1_000, 100_000] },
    Row { name: "send beside Agent::send", contenders: players::sends, members: &[12, 1_000, 100_000] },
    Row { name: "update with a rejoin beside one without", contenders: players::rejoins, members: &[12, 1_000] },
    Row {
        name: "pop and queue a telegram beside a heap",
        contenders: delayed::telegrams,
        members: &[1_000, 1_000_000],
    },
];

/// Measures the rows whose names `is_wanted` accepts.
///
/// # Errors
///
/// When the contenders of a row have not done the same work.
pub(crate) fn table(rounds: usize, is_wanted: impl Fn(&str) -> bool) -> Result<Table, String> {
    let header = ["", "members", "beside", "fastest", "cast", "fastest", "ratio"].map(String::from).to_vec();
    let mut rows = Vec::new();
    for row in ROWS.iter().filter(|row| is_wanted(row.name)) {
        for &members in row.members {
            // A tick of few members is too short for the clock, so it runs many times.
            let race =
                Race { owners: players::calls(members), churn: 0.0, rounds, updates: CALLS_PER_ROUND.max(2 * members) };
            let (times, _) = race.run((row.contenders)(members)).map_err(|why| format!("{}: {why}", row.name))?;
            let mut cells = vec![row.name.to_owned(), members.to_string()];
            for time in &times {
                cells.extend([format!("{:.1}", time.median), format!("{:.1}", time.fastest)]);
            }
            cells.push(format!("{:.2}", times[1].ratio));
            rows.push(cells);
        }
    }
    Ok(bench_runner::table(header, rows))
}
