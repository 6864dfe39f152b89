//! The tables of measurements.

use std::time::Duration;

use comfy_table::Table;

use crate::crowd::Work;
use crate::process::{Cost, Run};

type Measure = fn(u64, usize) -> Result<Table, String>;

pub(crate) const ALL: [(&str, Measure); 6] = [
    ("owners: a tick beside a plain batch, processor time in ns per owner", owners),
    ("telegrams: each owner sends one in each tick, processor time in ns per telegram", telegrams),
    ("moves: a tenth of the owners goes to another worker in each tick, processor time in ns per move", moves),
    ("processes: states that compute, on one process and on two", processes),
    ("checkpoints: one after each tick", checkpoints),
    ("latency: an empty world's tick, with a network that takes its time", latency),
];

fn run(owners: u64) -> Run {
    let work = Work { owners, shards: 1024, heavy: 0, writes: false, moves: 0 };
    Run { work, ticks: 44, processes: 1, threads: 1, checkpoints: None, stays: false, latency: Duration::ZERO }
}

/// The costs of a run in each round: the sum of all processes, and the busiest process.
struct Costs {
    sum: Vec<Cost>,
    busiest: Vec<f64>,
}

/// Measures the runs in turns.
fn measure(runs: &[Run], rounds: usize) -> Result<Vec<Costs>, String> {
    let mut all: Vec<_> = runs.iter().map(|_| Costs { sum: Vec::new(), busiest: Vec::new() }).collect();
    for _ in 0..rounds {
        for (run, costs) in runs.iter().zip(&mut all) {
            let each = run.cost()?;
            let total = |of: fn(&Cost) -> f64| each.iter().map(of).sum::<f64>();
            let wall = each.iter().map(|cost| cost.wall).fold(0.0, f64::max);
            costs.sum.push(Cost { cpu: total(|cost| cost.cpu), wall, sent: total(|cost| cost.sent) });
            costs.busiest.push(each.iter().map(|cost| cost.cpu).fold(0.0, f64::max));
        }
    }
    Ok(all)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

impl Costs {
    fn cpu(&self) -> Vec<f64> {
        self.sum.iter().map(|cost| cost.cpu).collect()
    }

    fn wall(&self) -> Vec<f64> {
        self.sum.iter().map(|cost| cost.wall).collect()
    }

    fn sent(&self) -> f64 {
        median(self.sum.iter().map(|cost| cost.sent).collect())
    }
}

fn ratio(of: &[f64], to: &[f64]) -> f64 {
    median(of.iter().zip(to).map(|(of, to)| of / to).collect())
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::ASCII_MARKDOWN).set_header(header);
    table
}

fn owners(owners: u64, rounds: usize) -> Result<Table, String> {
    let mut table = table(&["", "ns", "to the batch, median", "fastest", "slowest"]);
    let rows = [
        ("states that do next to nothing, nobody can move", 0, true),
        ("states that do next to nothing", 0, false),
        ("states that compute for about 100 ns", 100, false),
    ];
    for (name, heavy, stays) in rows {
        let mut one = run(owners);
        (one.work.heavy, one.stays) = (heavy, stays);
        let batch = Run { processes: 0, ..one.clone() };
        let [batch, one]: [Costs; 2] = measure(&[batch, one], rounds)?.try_into().map_err(|_| "two runs")?;
        let (of_batch, of_one) = (batch.cpu(), one.cpu());
        let mut ratios: Vec<f64> = of_one.iter().zip(&of_batch).map(|(one, batch)| one / batch).collect();
        ratios.sort_by(f64::total_cmp);
        let per = |costs: &[f64]| format!("{:.1}", median(costs.to_vec()) / owners as f64);
        table.add_row(vec![format!("batch, {name}"), per(&of_batch), "1".into(), String::new(), String::new()]);
        let [first, last] = [ratios.first(), ratios.last()].map(|ratio| format!("{:.2}", ratio.unwrap_or(&f64::NAN)));
        table.add_row(vec![format!("world, {name}"), per(&of_one), format!("{:.2}", median(ratios)), first, last]);
    }
    Ok(table)
}

fn telegrams(owners: u64, rounds: usize) -> Result<Table, String> {
    let mut table = table(&["", "ns per telegram", "bytes sent per telegram that goes to another process"]);
    for (name, processes, threads) in [("one thread", 1, 1), ("two threads", 1, 2), ("two processes", 2, 1)] {
        let without = Run { processes, threads, ..run(owners) };
        let mut with = without.clone();
        with.work.writes = true;
        let costs = measure(&[without, with], rounds)?;
        let each = |nth: usize| median(costs[nth].cpu()) / owners as f64;
        let bytes = (costs[1].sent() - costs[0].sent()) / (owners as f64 / 2.0);
        let bytes = if processes > 1 { format!("{bytes:.1}") } else { String::new() };
        table.add_row(vec![name.to_owned(), format!("{:.0}", each(1) - each(0)), bytes]);
    }
    Ok(table)
}

fn moves(owners: u64, rounds: usize) -> Result<Table, String> {
    let mut table = table(&["", "ns per move", "bytes per move"]);
    for (name, processes, threads) in [("two threads", 1, 2), ("two processes", 2, 1)] {
        let without = Run { processes, threads, ..run(owners) };
        let mut with = without.clone();
        with.work.moves = 10;
        let costs = measure(&[without, with], rounds)?;
        let moves = owners as f64 / 10.0;
        let each = (median(costs[1].cpu()) - median(costs[0].cpu())) / moves;
        let bytes =
            if processes > 1 { format!("{:.0}", (costs[1].sent() - costs[0].sent()) / moves) } else { String::new() };
        table.add_row(vec![name.to_owned(), format!("{each:.0}"), bytes]);
    }
    Ok(table)
}

fn processes(owners: u64, rounds: usize) -> Result<Table, String> {
    let mut table = table(&[
        "ns per update",
        "by the clock, median",
        "fastest of two to fastest of one",
        "by processor time of the busiest",
    ]);
    for heavy in [100, 300] {
        let mut one = run(owners);
        one.work.heavy = heavy;
        let two = Run { processes: 2, ..one.clone() };
        let costs = measure(&[one, two], rounds)?;
        let best = |nth: usize| costs[nth].wall().into_iter().fold(f64::INFINITY, f64::min);
        table.add_row(vec![
            format!("{:.0}", median(costs[0].cpu()) / owners as f64),
            format!("{:.2}", ratio(&costs[0].wall(), &costs[1].wall())),
            format!("{:.2}", best(0) / best(1)),
            format!("{:.2}", ratio(&costs[0].busiest, &costs[1].busiest)),
        ]);
    }
    Ok(table)
}

fn checkpoints(owners: u64, rounds: usize) -> Result<Table, String> {
    let mut table = table(&["", "ms by the clock", "ns of processor time per owner", "bytes per owner"]);
    for processes in [1, 2] {
        let mut cpu = Vec::new();
        let mut wall = Vec::new();
        let mut bytes = 0;
        for _ in 0..rounds {
            let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
            let without = Run { processes, ticks: 9, ..run(owners) };
            let with = Run { checkpoints: Some(folder.path().to_owned()), ..without.clone() };
            let costs = measure(&[without, with], 1)?;
            cpu.push(costs[1].cpu()[0] - costs[0].cpu()[0]);
            wall.push(costs[1].wall()[0] - costs[0].wall()[0]);
            bytes = size_of(&folder.path().join("tick-000000000009")).map_err(|error| error.to_string())?;
        }
        table.add_row(vec![
            format!("{processes} processes"),
            format!("{:.0}", median(wall) / 1e6),
            format!("{:.0}", median(cpu) / owners as f64),
            format!("{:.1}", bytes as f64 / owners as f64),
        ]);
    }
    Ok(table)
}

fn size_of(folder: &std::path::Path) -> std::io::Result<u64> {
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.metadata()?.len())).sum()
}

fn latency(_: u64, rounds: usize) -> Result<Table, String> {
    let mut table = table(&["processes", "latency, ms", "a tick, ms, median", "fastest", "latencies in a tick"]);
    for processes in [2, 3] {
        let mut base = f64::NAN;
        for latency in [0, 5, 20] {
            let each = Run { processes, ticks: 60, latency: Duration::from_millis(latency), ..run(100) };
            let costs = measure(&[each], rounds.min(3))?;
            let wall = median(costs[0].wall()) / 1e6;
            let fastest = costs[0].wall().into_iter().fold(f64::INFINITY, f64::min) / 1e6;
            base = if latency == 0 { wall } else { base };
            let times = if latency == 0 { String::new() } else { format!("{:.1}", (wall - base) / latency as f64) };
            table.add_row(vec![
                processes.to_string(),
                latency.to_string(),
                format!("{wall:.2}"),
                format!("{fastest:.2}"),
                times,
            ]);
        }
    }
    Ok(table)
}
