//! The table of casts: members that are updated and send each other telegrams, beside a `Vec` of agents, which cannot.
//!
//! What a cast costs is the lending of a member for each turn, and finding the receiver of a telegram by its key. The work in
//! the callbacks is next to nothing, so that this is what is seen.

mod delayed;
mod players;

use comfy_table::Table;

use crate::contender::Entrant;
use crate::runner::Race;

/// How many callbacks one round times.
const CALLS_PER_ROUND: usize = 400_000;

/// What is measured with how many members.
struct Row {
    name: &'static str,
    /// What it is measured against, and the cast.
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

/// Measures the rows whose names are wanted.
///
/// # Errors
///
/// When the contenders of a row have not done the same work.
pub(crate) fn table(rounds: usize, is_wanted: impl Fn(&str) -> bool) -> Result<Table, String> {
    let header = ["", "members", "beside", "fastest", "cast", "fastest", "ratio"].map(String::from).to_vec();
    let mut rows = Vec::new();
    for row in ROWS.iter().filter(|row| is_wanted(row.name)) {
        for &members in row.members {
            // A tick of few members is run many times over, or the clock is measured.
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
