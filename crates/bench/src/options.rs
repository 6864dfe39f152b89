//! The command line.

use clap::{Parser, ValueEnum};

use crate::contender::Entry;
use crate::contenders;

/// Measures state machines side by side.
#[derive(Parser)]
pub(crate) struct Options {
    /// The table to measure.
    #[arg(value_enum, default_value_t = Tables::Machines)]
    pub(crate) table: Tables,
    /// Number of owners. By default 10000,1000000; definitions also 100000; corners 2000,20000,1000000; threads 100000,1000000;
    /// waiting and save 1000000.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    owners: Vec<u32>,
    /// The percentage of owners that change state in a tick. By default 1; threads 1,10,100. Corners have their own shares.
    #[arg(long, value_delimiter = ',')]
    churn: Vec<f64>,
    /// The size of an owner, in bytes; 32 and 256 need the feature `sizes`. The owners of corners always have 64.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "64")]
    pub(crate) size: Vec<Size>,
    /// The number of rounds. Corners and threads run a third of them for 500 000 owners and more.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) rounds: u16,
    /// Measure only the contenders or rows whose names contain one of these.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Tables {
    /// A machine with conditions, in Rust and from a file (`--only values` or `--only time` for their ratio); a table of 200
    /// states beside an interpreter by hand (`--only flat` or `--only nested`); and how long a large file takes to load.
    Definitions,
    /// One machine per owner.
    Machines,
    /// Many owners, sorted by state or not.
    Batch,
    /// Tasks that a batch does owner by owner, beside one machine per owner: refused changes, several requests, stacks, nested
    /// and owned states, messages to all, and shared states that come and go.
    Corners,
    /// Owners that mostly sleep, each until a different time: with timers, and with polling.
    Waiting,
    /// A batch on one thread and on all, by the shape of its buckets; how much of a tick runs on one thread only, and the
    /// speed-up that this allows on 8, 16 and 64 cores.
    Threads,
    /// A batch written and read as postcard, and cloned into a batch with enough room, beside its owners alone in a `Vec`.
    Save,
    /// Members of a cast that are updated and send each other telegrams, beside agents in a `Vec`.
    Cast,
    /// What each further kind of character costs a game to compile, in processor seconds. A round takes about three minutes.
    Compile,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Size {
    #[cfg(feature = "sizes")]
    #[value(name = "32")]
    Small,
    #[value(name = "64")]
    Medium,
    #[cfg(feature = "sizes")]
    #[value(name = "256")]
    Large,
}

/// Calls a function whose parameter is the number of bytes that an owner of a size has beyond 32.
macro_rules! of_size {
    ($size:expr, $($function:ident)::+ ($($argument:expr),*)) => {
        match $size {
            #[cfg(feature = "sizes")]
            $crate::options::Size::Small => $($function)::+::<0>($($argument),*),
            $crate::options::Size::Medium => $($function)::+::<32>($($argument),*),
            #[cfg(feature = "sizes")]
            $crate::options::Size::Large => $($function)::+::<224>($($argument),*),
        }
    };
}
pub(crate) use of_size;

impl Options {
    pub(crate) fn owners(&self) -> &[u32] {
        if self.owners.is_empty() { self.table.owners() } else { &self.owners }
    }

    pub(crate) fn churn(&self) -> &[f64] {
        if self.churn.is_empty() { self.table.churn() } else { &self.churn }
    }

    pub(crate) fn is_wanted(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part))
    }

    /// Returns the number of rounds for the tables that take long.
    pub(crate) fn rounds_for(&self, owners: usize) -> usize {
        let rounds = usize::from(self.rounds);
        if owners < 500_000 { rounds } else { rounds.div_ceil(3) }
    }
}

impl Tables {
    fn owners(self) -> &'static [u32] {
        match self {
            Self::Definitions => &[10_000, 100_000, 1_000_000],
            Self::Machines | Self::Batch => &[10_000, 1_000_000],
            Self::Corners => &[2_000, 20_000, 1_000_000],
            Self::Threads => &[100_000, 1_000_000],
            Self::Waiting | Self::Save => &[1_000_000],
            Self::Cast | Self::Compile => &[],
        }
    }

    fn churn(self) -> &'static [f64] {
        if self == Self::Threads { &[1.0, 10.0, 100.0] } else { &[1.0] }
    }
}

impl Size {
    pub(crate) fn bytes(self) -> usize {
        match self {
            #[cfg(feature = "sizes")]
            Self::Small => 32,
            Self::Medium => 64,
            #[cfg(feature = "sizes")]
            Self::Large => 256,
        }
    }

    pub(crate) fn definitions(self) -> &'static [Entry] {
        of_size!(self, contenders::definitions())
    }

    pub(crate) fn timed(self) -> &'static [&'static [Entry]] {
        of_size!(self, contenders::timed())
    }

    pub(crate) fn machines(self) -> &'static [Entry] {
        of_size!(self, contenders::machines())
    }

    pub(crate) fn regions(self) -> &'static [Entry] {
        of_size!(self, contenders::regions())
    }

    pub(crate) fn batch(self) -> &'static [Entry] {
        of_size!(self, contenders::batch())
    }
}
