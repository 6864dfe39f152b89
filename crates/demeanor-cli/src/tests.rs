//! `demeanor tests`: writes a table of runs that take every exit of a machine. `demeanor run --tests` runs them again.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{fs, iter};

use clap::Args;
use demeanor::definition::{ExitRuns, Leads, Meaning, Outline, StateId, Witness, WitnessValue, Words};
use serde::Deserialize;

use crate::input::{Input, spare};
use crate::loaded::Loaded;
use crate::puppet::{Event, Told};
use crate::setting::Setting;
use crate::shown::escaped;
use crate::stage::{is_due, ticks, time};
use crate::table::{self, Moment, parsed, sort};
use crate::witness::quoted_file;
use crate::{Exit, Outcome, WordsFile, complain, count, report, tell, whole_file};

#[derive(Args)]
pub(crate) struct Tests {
    /// The definition; `-` is standard input.
    file: PathBuf,
    /// Which of several machines in the file. By default all of them.
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    /// The file to write, instead of standard output.
    #[arg(long, short)]
    output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) words: WordsFile,
}

/// A run with what happens in it.
pub(crate) struct Test {
    /// The machine, if it is not that of the whole table.
    machine: Option<String>,
    tick: f64,
    /// Whether the run says how long its ticks are, because the table does not.
    has_tick: bool,
    seconds: f64,
    moments: Vec<Moment>,
    expect: Vec<String>,
}

/// A table of runs, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunsTable {
    /// The machine and the length of a tick, for each run that has none of its own.
    machine: Option<String>,
    tick: Option<f64>,
    #[serde(default)]
    run: Vec<RunsTableRun>,
}

/// A run in the table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunsTableRun {
    machine: Option<String>,
    tick: Option<f64>,
    seconds: f64,
    #[serde(default)]
    at: Vec<toml::Table>,
    expect: Vec<String>,
}

/// Writes the table.
pub(crate) fn tests(tests: &Tests, words: Option<&Words>) -> Outcome {
    let input = Input::new(&tests.file)?;
    spare(tests.output.as_deref(), iter::once(tests.file.as_path()).chain(tests.words.path()))?;
    let outlines = match input.outlines(words)? {
        Ok(outlines) => outlines,
        Err(problems) => {
            report(&problems);
            return Ok(Exit::Found);
        }
    };
    let chosen = match &tests.machine {
        Some(machine) => vec![input.machine(&outlines, Some(machine))?],
        None => outlines.iter().collect(),
    };
    let are_several = chosen.len() > 1;
    let (mut written, mut taken) = (Vec::new(), 0);
    let (mut never, mut with_script, mut other) = (Vec::new(), Vec::new(), Vec::new());
    for outline in &chosen {
        let machine = outline.machine().filter(|_| are_several);
        let name = |exit| {
            let name = name(outline, exit);
            machine.map_or(name.clone(), |machine| format!("{machine}: {name}"))
        };
        let exit_runs = ExitRuns::of(outline);
        let mut left = BTreeMap::new();
        for run in exit_runs.runs() {
            let witness = run.witness();
            let moments = moments(witness);
            let (tick, ticks) = (witness.tick(), ticks(witness.seconds(), witness.tick())?);
            let Some(loaded) = Loaded::new(&input, outline.machine(), &outlines, words.cloned(), tick, &moments)?
            else {
                return Ok(Exit::Found);
            };
            let (events, end) = loaded.play(&moments, tick, ticks)?;
            // With scripts, the machine may behave differently from the search, which has none.
            if is_same(&events, witness) {
                let expect = lines(&events, witness.seconds(), &end);
                taken += run.exits().count();
                let machine = machine.map(str::to_owned);
                let test = Test { machine, tick, has_tick: are_several, seconds: witness.seconds(), moments, expect };
                written.push((run.exits().map(name).collect::<Vec<_>>(), test));
            } else {
                left.extend(run.exits().map(|exit| (exit, None)));
            }
        }
        for exit in exit_runs.untaken() {
            match exit.never() {
                Some(why) => never.push(format!("{}: {why}", name(exit.exit()))),
                None => drop(left.insert(exit.exit(), exit.unfound())),
            }
        }
        for (exit, why) in left {
            if asks_script(outline, exit) {
                with_script.push(name(exit));
            } else {
                other.push(why.map_or(name(exit), |why| format!("{}: {why}", name(exit))));
            }
        }
    }
    let without_run = with_script.len() + other.len();
    let told = format!(
        "{}, which {} {taken} of {}; {} cannot be taken, and no run was found for {without_run}",
        count(written.len(), "run"),
        if written.len() == 1 { "takes" } else { "take" },
        count(taken + never.len() + without_run, "exit"),
        never.len(),
    );
    let file = tests.file.file_name().map(|name| quoted_file(&escaped(&name.to_string_lossy()))).unwrap_or_default();
    let mut table = format!(
        "# {told}.\n# Written by `demeanor tests {file}`. To run them again: `demeanor run {file} --tests` with the name of this file.\n"
    );
    for (what, exits) in [
        ("Exits that cannot be taken:", &never),
        ("Exits whose conditions ask a script, which the search does not run:", &with_script),
        ("Exits for which no run was found:", &other),
    ] {
        list(&mut table, what, exits);
    }
    table.push('\n');
    if let [Some(machine)] = chosen.iter().map(|outline| outline.machine()).collect::<Vec<_>>()[..] {
        let _ = writeln!(table, "machine = {}", quoted(machine));
    }
    let tick = written.first().map_or(0.1, |(_, test)| test.tick);
    // A table without runs has it, too, so that it is not empty.
    if !are_several || written.is_empty() {
        let _ = writeln!(table, "tick = {tick}");
    }
    for (exits, test) in &mut written {
        // Long waits have longer ticks.
        test.has_tick |= test.tick.to_bits() != tick.to_bits();
        table.push('\n');
        for exit in exits.iter() {
            let _ = writeln!(table, "# {}", escaped(exit));
        }
        let _ = write!(table, "{test}");
    }
    match &tests.output {
        Some(path) => {
            whole_file::write(path, &table).map_err(|error| format!("{}: {error}", path.display()))?;
            complain(&format!("{}: {told}", escaped(&path.display().to_string())));
        }
        None => tell(&table)?,
    }
    Ok(Exit::Fine)
}

/// Lists exits in the head of the table.
fn list(table: &mut String, what: &str, exits: &[String]) {
    if !exits.is_empty() {
        let _ = writeln!(table, "#\n# {what}");
    }
    for exit in exits {
        let _ = writeln!(table, "# - {}", escaped(exit));
    }
}

/// Runs the tests of a table again.
pub(crate) fn replay(input: &Input, table: &Path, machine: Option<&str>, words: Option<&Words>) -> Outcome {
    let shown = table.display().to_string();
    let named = |why: String| format!("{shown}: {why}");
    let text = fs::read_to_string(table).map_err(|error| named(error.to_string()))?;
    let mut table: RunsTable = parsed(&text).map_err(named)?;
    let runs = std::mem::take(&mut table.run);
    // `tests` writes a table without runs for a machine without exits, but with the length of a tick.
    if runs.is_empty() && table.tick.is_none() {
        return Err(named("there are no runs in it".into()));
    }
    let tests = runs
        .into_iter()
        .enumerate()
        .map(|(nth, run)| Test::read(run, &table).map_err(|why| named(format!("run {}: {why}", nth + 1))));
    let tests = tests.collect::<Result<Vec<_>, _>>()?;
    let outlines = match input.outlines(words)? {
        Ok(outlines) => outlines,
        Err(problems) => {
            report(&problems);
            return Ok(Exit::Found);
        }
    };
    let mut changed = 0;
    let is_wanted = |test: &&Test| machine.is_none() || test.machine.is_none() || test.machine.as_deref() == machine;
    let tests: Vec<_> = tests.iter().enumerate().filter(|(_, test)| is_wanted(test)).collect();
    if let (Some(machine), true) = (machine, tests.is_empty()) {
        return Err(named(format!("there is no run of the machine `{machine}` in it")));
    }
    for (nth, test) in &tests {
        let tick = test.tick;
        let machine = test.machine.as_deref().or(machine);
        // A word that the file has no longer does nothing.
        let Some(loaded) = Loaded::new(input, machine, &outlines, words.cloned(), tick, &test.moments)? else {
            return Ok(Exit::Found);
        };
        let ticks = ticks(test.seconds, tick).map_err(|why| named(format!("run {}: {why}", nth + 1)))?;
        let end = time(ticks, tick);
        if let Some(last) = test.moments.last().filter(|last| !is_due(last, end)) {
            let why = format!("there is a row at {} s, but the run ends at {} s", last.time, time_of(end));
            return Err(named(format!("run {}: {why}", nth + 1)));
        }
        let (events, end) = loaded.play(&test.moments, tick, ticks)?;
        let happens = lines(&events, test.seconds, &end);
        if happens != test.expect {
            changed += 1;
            complain(&format!("{}: run {} is not as before:", escaped(&shown), nth + 1));
            for line in difference(&test.expect, &happens) {
                complain(&escaped(&line));
            }
        }
    }
    let of = count(tests.len(), "run");
    let told = if changed == 0 { format!("{of} as before") } else { format!("{changed} of {of} not as before") };
    tell(&format!("{}: {told}\n", escaped(&shown)))?;
    Ok(if changed > 0 { Exit::Found } else { Exit::Fine })
}

impl Test {
    fn read(run: RunsTableRun, table: &RunsTable) -> Result<Self, String> {
        let tick = run.tick.or(table.tick).ok_or("there is no `tick` in it")?;
        let machine = run.machine.or_else(|| table.machine.clone());
        let mut moments = table::moments(&run.at)?;
        sort(&mut moments);
        Ok(Self { machine, tick, has_tick: true, seconds: run.seconds, moments, expect: run.expect })
    }

    /// Plays a run of this many ticks, and makes a test of what happens.
    pub(crate) fn of_run(
        loaded: &Loaded,
        machine: Option<&str>,
        mut moments: Vec<Moment>,
        tick: f64,
        ticks: u64,
    ) -> Result<Self, String> {
        let end = time(ticks, tick);
        // On the page, values can be set for the ticks that follow.
        moments.retain(|moment| is_due(moment, end));
        let seconds = time_of(end);
        let (events, end) = loaded.play(&moments, tick, ticks)?;
        let expect = lines(&events, seconds, &end);
        Ok(Self { machine: machine.map(str::to_owned), tick, has_tick: true, seconds, moments, expect })
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "[[run]]")?;
        if let Some(machine) = &self.machine {
            writeln!(f, "machine = {}", quoted(machine))?;
        }
        if self.has_tick {
            writeln!(f, "tick = {}", self.tick)?;
        }
        writeln!(f, "seconds = {}", self.seconds)?;
        if !self.moments.is_empty() {
            writeln!(f, "at = [")?;
            for Moment { time, settings, message } in &self.moments {
                write!(f, "    {{ time = {time}")?;
                for (name, value) in settings {
                    write!(f, ", {} = {}", key(&Witness::column(name)), written(*value))?;
                }
                if let Some(message) = message {
                    write!(f, ", message = {}", quoted(&message.to_string()))?;
                }
                writeln!(f, " }},")?;
            }
            writeln!(f, "]")?;
        }
        writeln!(f, "expect = [")?;
        self.expect.iter().try_for_each(|line| writeln!(f, "    {},", quoted(line)))?;
        writeln!(f, "]")
    }
}

/// Returns the rows of a run, as `run` plays them.
fn moments(witness: &Witness) -> Vec<Moment> {
    let setting = |(name, value): &(String, WitnessValue)| {
        let value = match value {
            WitnessValue::Number(number) => Setting::Number(*number),
            WitnessValue::Flag(is) => Setting::Flag(*is),
        };
        (name.clone(), value)
    };
    let rows = witness.rows().iter().map(|row| Moment {
        time: row.time,
        settings: row.values.iter().map(setting).collect(),
        message: row
            .message
            .as_ref()
            .map(|(name, fields)| Told { name: name.clone(), fields: fields.iter().map(setting).collect() }),
    });
    rows.collect()
}

/// Whether the machine has made the changes of a run.
fn is_same(events: &[(f64, Event)], witness: &Witness) -> bool {
    let changes = events.iter().filter_map(|(time, event)| match event {
        Event::Change { from, to, refused: None } => Some((time_of(*time), from, to)),
        _ => None,
    });
    changes.eq(witness.changes().iter().map(|change| (time_of(change.time), &change.from, &change.to)))
}

/// Returns what happens in a run, and where it ends.
fn lines(events: &[(f64, Event)], seconds: f64, end: &str) -> Vec<String> {
    let line = |(time, event): &(f64, Event)| {
        let what = match event {
            Event::Change { refused: Some(refused), .. } => format!("refused: {refused}"),
            Event::Change { from, to, refused: None } => format!("{from} -> {to}"),
            Event::Action(action) => format!("does {action}"),
        };
        format!("{} s  {what}", time_of(*time))
    };
    events.iter().map(line).chain([format!("{} s  ends in {end}", time_of(seconds))]).collect()
}

/// Returns a time without the error of its calculation.
pub(crate) fn time_of(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e9
}

/// Returns the lines that are the same at the beginning and at the end, and between them those of `before` and `now`.
fn difference(before: &[String], now: &[String]) -> Vec<String> {
    let same = before.iter().zip(now).take_while(|(before, now)| before == now).count();
    let (old, new) = (&before[same..], &now[same..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let lines = |sign: &'static str, lines: &[String]| lines.iter().map(|line| format!("{sign} {line}")).collect();
    let parts: [Vec<String>; 4] = [
        lines(" ", &before[..same]),
        lines("-", &old[..old.len() - end]),
        lines("+", &new[..new.len() - end]),
        lines(" ", &old[old.len() - end..]),
    ];
    parts.concat()
}

/// Whether the condition of an exit is a script.
fn asks_script(outline: &Outline, (of, nth): (StateId, usize)) -> bool {
    let at = outline.state(of).exits()[nth].span();
    let mut mentions = outline.mentions().iter();
    mentions.any(|mention| *mention.meaning() == Meaning::Script && at.contains(&mention.span().start))
}

/// Returns an exit with its state, its target and its label.
fn name(outline: &Outline, (of, nth): (StateId, usize)) -> String {
    let (from, exit) = (outline.state(of).name(), &outline.state(of).exits()[nth]);
    let to = match exit.leads() {
        Leads::Back | Leads::Pop => String::new(),
        _ => format!(" -> {}", outline.state(exit.target()).name()),
    };
    let label = exit.label();
    if label.is_empty() { format!("{from}{to}") } else { format!("{from}{to}: {label}") }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn key(name: &str) -> String {
    let is_bare = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if is_bare { name.into() } else { quoted(name) }
}

/// Returns a value as TOML writes it.
fn written(value: Setting) -> String {
    match value {
        Setting::Number(number) if number.fract() != 0.0 || number.abs() >= 1e15 => {
            toml::Value::from(number).to_string()
        }
        value => value.to_string(),
    }
}
