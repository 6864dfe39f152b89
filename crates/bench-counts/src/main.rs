//! Fixed workloads whose instructions `.ci/counts` counts. Unlike times, counts do not depend on the load of the computer.
//!
//! Run with the name of a workload and a number of ticks. Without a name, it lists the workloads.

mod crowd;
mod file;
mod states;

use std::hint::black_box;
use std::process::ExitCode;

use self::file::{FLAT, nested};

/// How many owners each workload has.
const OWNERS: u32 = 1000;

/// A workload: its name, and what runs it for a number of ticks.
type Workload = (&'static str, fn(u32));

/// All workloads. No owner changes its state, unless the name of the workload says so.
const WORKLOADS: [Workload; 26] = [
    ("machine", |ticks| states::machines(&states::IDLE, 0, ticks)),
    ("machine, 1 % change", |ticks| states::machines(&states::IDLE, 10, ticks)),
    ("machine, all change", |ticks| states::machines(&states::IDLE, 1000, ticks)),
    ("machine, three states deep", |ticks| states::machines(&states::AIM, 0, ticks)),
    ("machine, three states deep, all change", |ticks| states::machines(&states::AIM, 1000, ticks)),
    ("two machines of one owner", |ticks| states::several_machines([&states::IDLE; 2], 0, ticks)),
    ("two machines of one owner, all change", |ticks| states::several_machines([&states::IDLE; 2], 1000, ticks)),
    ("machine with two regions", |ticks| states::machines(&states::WHOLE, 0, ticks)),
    ("machine with two regions, a change in each", |ticks| states::machines(&states::WHOLE, 1000, ticks)),
    ("machine with a global state", states::machines_with_global),
    ("machine that waits for a timer", |ticks| states::machines(&states::WAIT, 0, ticks)),
    ("machine that has had a timer", |ticks| states::machines(&states::SOON, 0, ticks)),
    ("machine, 97 % asleep", |ticks| states::machines(&states::NAP, 0, ticks)),
    ("machine from a file", |ticks| file::machines(FLAT, 1.0, ticks)),
    ("machine from a file, all change", |ticks| file::machines(FLAT, -1.0, ticks)),
    ("batch", |ticks| crowd::batch(&states::IDLE, 0, ticks)),
    ("batch, 1 % change", |ticks| crowd::batch(&states::IDLE, 10, ticks)),
    ("batch, all change", |ticks| crowd::batch(&states::IDLE, 1000, ticks)),
    ("batch, 97 % asleep", |ticks| crowd::batch(&states::NAP, 0, ticks)),
    ("batch with two regions", |ticks| crowd::batch(&states::WHOLE, 0, ticks)),
    ("batch with two regions, a change in each", |ticks| crowd::batch(&states::WHOLE, 1000, ticks)),
    ("batch from a file", |ticks| file::batch(FLAT, 1.0, ticks)),
    ("batch from a file, all change", |ticks| file::batch(FLAT, -1.0, ticks)),
    ("nested machine from a file", |ticks| file::machines(&nested(false), 1.0, ticks)),
    ("nested machine with turns from a file", |ticks| file::machines(&nested(true), 1.0, ticks)),
    ("nested batch with turns from a file", |ticks| file::batch(&nested(true), 1.0, ticks)),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        for (name, _) in WORKLOADS {
            println!("{name}");
        }
        return ExitCode::SUCCESS;
    };
    let ticks = arguments.next().and_then(|ticks| ticks.parse().ok());
    let workload = WORKLOADS.iter().find(|(known, _)| *known == name);
    if let (Some((_, run)), Some(ticks)) = (workload, ticks) {
        run(black_box(ticks));
        return ExitCode::SUCCESS;
    }
    eprintln!("expected the name of a workload, and a number of ticks");
    ExitCode::FAILURE
}
