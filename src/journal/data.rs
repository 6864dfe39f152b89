//! A flow as plain data, for any file format.

use serde::{Deserialize, Serialize};

use super::flow::{Flow, NamedWay};
use super::stays::Stays;
use crate::change::{Cause, End, Guard, Shortfall};

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(expecting = "a flow: a version, changes, refusals and stays")]
pub(super) struct Data {
    version: u32,
    changes: Vec<ChangeData>,
    refusals: Vec<RefusalData>,
    stays: Vec<StaysData>,
    /// Older files have none.
    #[serde(default)]
    ended: Vec<EndData>,
}

#[derive(Serialize, Deserialize)]
struct ChangeData {
    from: Option<Box<str>>,
    to: Option<Box<str>>,
    cause: Cause,
    count: u64,
}

#[derive(Serialize, Deserialize)]
struct RefusalData {
    from: Option<Box<str>>,
    to: Option<Box<str>>,
    cause: Cause,
    guard: Guard,
    state: Box<str>,
    count: u64,
}

#[derive(Serialize, Deserialize)]
struct EndData {
    from: Option<Box<str>>,
    to: Option<Box<str>>,
    cause: Cause,
    end: End,
    state: Box<str>,
    count: u64,
}

#[derive(Serialize, Deserialize)]
struct StaysData {
    state: Box<str>,
    seconds: f64,
    /// The number of stays in each range of lengths, the shortest lengths first.
    lengths: Vec<u64>,
}

impl From<Flow> for Data {
    fn from(flow: Flow) -> Self {
        let (mut changes, mut refusals, mut ended) = (Vec::new(), Vec::new(), Vec::new());
        for (NamedWay { from, to, cause, shortfall }, count) in flow.counts {
            match shortfall {
                None => changes.push(ChangeData { from, to, cause, count }),
                Some((shortfall, state)) => match shortfall.guard() {
                    Ok(guard) => refusals.push(RefusalData { from, to, cause, guard, state, count }),
                    Err(end) => ended.push(EndData { from, to, cause, end, state, count }),
                },
            }
        }
        let stays = flow.stays.into_iter().map(|(state, Stays { counts, seconds })| StaysData {
            state,
            seconds,
            lengths: counts.to_vec(),
        });
        Self { version: VERSION, changes, refusals, stays: stays.collect(), ended }
    }
}

impl TryFrom<Data> for Flow {
    type Error = String;

    fn try_from(data: Data) -> Result<Self, String> {
        if data.version != VERSION {
            return Err(format!("a flow of version {}; this program knows version {VERSION}", data.version));
        }
        let mut flow = Self::new();
        for ChangeData { from, to, cause, count } in data.changes {
            flow.add(NamedWay { from, to, cause, shortfall: None }, count);
        }
        for RefusalData { from, to, cause, guard, state, count } in data.refusals {
            flow.add(NamedWay { from, to, cause, shortfall: Some((Shortfall::Refused(guard), state)) }, count);
        }
        for EndData { from, to, cause, end, state, count } in data.ended {
            flow.add(NamedWay { from, to, cause, shortfall: Some((end.into(), state)) }, count);
        }
        for StaysData { state, seconds, lengths } in data.stays {
            let found = lengths.len();
            let counts =
                lengths.try_into().map_err(|_| format!("state {state} has {found} lengths of stays, not 32"))?;
            if !seconds.is_finite() || seconds < 0.0 {
                return Err(format!("owners cannot have stayed in state {state} for {seconds} seconds"));
            }
            flow.add_stays(state, &Stays { counts, seconds });
        }
        Ok(flow)
    }
}
