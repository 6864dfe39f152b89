//! One row of the tables: an implementation, with the runs that it has made.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use cpu_time::ThreadTime;

use crate::model::{Counts, STEPS, World};
use crate::statistics::Runs;

pub struct Contender {
    pub name: String,
    pub runs: Runs,
    /// Each run has another seed. All contenders have the same.
    next_seed: u64,
    run: Box<MakeRun>,
}

/// Makes a run with a seed.
type MakeRun = dyn FnMut(&World, u64) -> Run;

struct Run {
    /// The processor time, in seconds, including that for setting up the world.
    seconds: f64,
    counts: Vec<Counts>,
}

impl Contender {
    /// Creates a contender that runs in this process.
    pub fn of(name: &str, mut run: impl FnMut(&World, u64) -> Vec<Counts> + 'static) -> Self {
        Self::new(name, move |world, seed| {
            let begin = ThreadTime::now();
            let counts = run(world, seed);
            Run { seconds: begin.elapsed().as_secs_f64(), counts }
        })
    }

    /// Creates a contender that runs in another program.
    pub fn program(name: &str, mut program: Program) -> Self {
        Self::new(name, move |world, seed| program.run(world, seed))
    }

    fn new(name: &str, run: impl FnMut(&World, u64) -> Run + 'static) -> Self {
        Self { name: name.into(), runs: Runs::default(), next_seed: 0, run: Box::new(run) }
    }

    /// Forgets the runs, before those in another world.
    pub fn reset(&mut self) {
        self.runs = Runs::default();
        self.next_seed = 0;
    }

    /// Makes a run, and returns its processor time in seconds.
    pub fn run(&mut self, world: &World) -> f64 {
        let run = (self.run)(world, self.next_seed);
        self.next_seed += 1;
        self.runs.push(&run.counts);
        run.seconds
    }
}

/// A program that runs the model. It reads a line of numbers for each run: the width of the world, the numbers of sheep and wolves, the
/// steps of regrowth, the probabilities with which sheep and wolves reproduce, the number of steps, and a seed. It writes a line for
/// each run: the processor time in seconds, and the numbers of sheep, wolves and grown patches after each step.
pub struct Program {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Program {
    /// Starts the program. The words of the command are separated by spaces.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub fn start(command: &str) -> Self {
        let mut words = command.split(' ');
        let mut command = Command::new(words.next().unwrap_or_default());
        let mut process =
            command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
        let (input, output) = (process.stdin.take(), process.stdout.take());
        Self { process, input: input.expect("it is piped"), output: BufReader::new(output.expect("it is piped")) }
    }

    fn run(&mut self, world: &World, seed: u64) -> Run {
        let World { width, sheep, wolves, regrowth, sheep_births, wolf_births, .. } = world;
        writeln!(self.input, "{width} {sheep} {wolves} {regrowth} {sheep_births} {wolf_births} {STEPS} {seed}")
            .expect("the program reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the program writes");
        let mut numbers = line.split_whitespace();
        let seconds = numbers.next().and_then(|seconds| seconds.parse().ok()).expect("the program writes a time");
        let counts: Vec<usize> = numbers.map(|number| number.parse().expect("the program writes counts")).collect();
        assert_eq!(counts.len(), 3 * STEPS as usize, "the program writes three counts for each step");
        let counts = counts.chunks(3).map(|of| Counts { sheep: of[0], wolves: of[1], grass: of[2] }).collect();
        Run { seconds, counts }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
