//! `demeanor run`: steps a machine on given values, and says why it changes state or stays.

use std::collections::BTreeSet;
use std::io::BufWriter;
use std::path::PathBuf;
use std::{iter, slice};

use clap::Args;
use demeanor::definition::{Outline, PropertyWatch, ValueKind, Words};
use indicatif::ProgressDrawTarget;

use crate::input::{Input, is_standard, spare};
use crate::loaded::Loaded;
use crate::progress::{Above, bar};
use crate::puppet::{CHANCE, Names, Told};
use crate::setting::Setting;
use crate::shown::{escaped, listed};
use crate::stage::{Stage, is_due, ticks, time};
use crate::table::{self, Moment, sort};
use crate::tests::{self, time_of};
use crate::{Exit, Outcome, WordsFile, complain, report, whole_file, written};

#[derive(Args)]
pub(crate) struct Run {
    /// The definition; `-` is standard input.
    file: PathBuf,
    /// Which of several machines in the file. By default the first.
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    /// Set a value: `--set health=30 --set enemy_visible=true`.
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<(String, Setting)>,
    /// A message to send, and the time in seconds: `--send took_damage@1.5`, `--send 'hit(damage=40)@2'`.
    #[arg(long, value_name = "MESSAGE@TIME", value_parser = sending)]
    send: Vec<(Told, f64)>,
    /// A table of values over time: CSV with a column `time`, or TOML with `[[at]]`. `-` is standard input, in CSV.
    #[arg(long, value_name = "FILE")]
    values: Option<PathBuf>,
    /// How long to run, in seconds. By default until the last row of the table of values has been played, or 10.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    seconds: Option<f64>,
    /// How long a tick is, in seconds. By default, the file's `ticks_per_second` says it, or else the game's; or else it is 0.1.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    tick: Option<f64>,
    /// The state to begin in, instead of the initial one.
    #[arg(long, value_name = "STATE")]
    from: Option<String>,
    /// The seed for random numbers: the same seed gives the same run. `--set chance=0.3` makes each random number 0.3.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    /// After every tick, say why the machine stays in its state, or why no earlier exit was taken. Without this, only at the end.
    #[arg(long)]
    why: bool,
    /// Check the properties of the file after every tick, say which are violated, and exit with 1 if there are any.
    #[arg(long)]
    watch_properties: bool,
    /// The file for how often each state led to each other state, as JSON, for `graph --observed`.
    #[arg(long, value_name = "FILE")]
    flow: Option<PathBuf>,
    /// A table of runs that `demeanor tests` has written. Each of them is run again, and the exit code is 1 if the machine behaves
    /// differently in one.
    #[arg(
        long,
        value_name = "TABLE",
        conflicts_with_all = ["set", "send", "values", "seconds", "tick", "from", "seed", "why", "watch_properties", "flow"]
    )]
    tests: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) words: WordsFile,
}

fn setting(text: &str) -> Result<(String, Setting), String> {
    let (name, value) = text.split_once('=').ok_or("it must be NAME=VALUE")?;
    Ok((name.trim().into(), Setting::parse(value)?))
}

fn sending(text: &str) -> Result<(Told, f64), String> {
    let (message, time) = text.rsplit_once('@').unwrap_or((text, "0"));
    Ok((Told::parse(message)?, table::time(time)?))
}

pub(crate) fn run(run: &Run, words: Option<Words>) -> Outcome {
    let input = Input::new(&run.file)?;
    let inputs = iter::once(&run.file).chain(&run.values).map(PathBuf::as_path);
    spare(run.flow.as_deref(), inputs.chain(run.words.path()))?;
    if let Some(table) = &run.tests {
        return tests::replay(&input, table, run.machine.as_deref(), words.as_ref());
    }
    let table = match &run.values {
        Some(path) if is_standard(path) && is_standard(&run.file) => {
            return Err("the definition and its values cannot both come by standard input".into());
        }
        Some(path) => table::read(path)?,
        None => Vec::new(),
    };
    let end = run.seconds.or(table.last().map(|last| last.time)).unwrap_or(10.0);
    let mut moments = table.clone();
    moments.push(Moment { time: f64::MIN, settings: run.set.clone(), message: None });
    let sent = || {
        run.send.iter().map(|(name, time)| Moment { time: *time, settings: Vec::new(), message: Some(name.clone()) })
    };
    moments.extend(sent());
    sort(&mut moments);

    let outlines = match input.outlines(words.as_ref())? {
        Ok(outlines) => outlines,
        Err(problems) => {
            report(&problems);
            return Ok(Exit::Found);
        }
    };
    let tick = run.tick.unwrap_or_else(|| tick_of(&outlines, words.as_ref()));
    let mut ticks = ticks(end, tick)?;
    if run.seconds.is_none() && table.last().is_some_and(|last| !is_due(last, time(ticks, tick))) {
        ticks += 1;
    }
    let end = time(ticks, tick);
    if let Some(Moment { time, message: Some(Told { name, .. }), .. }) = sent().find(|sent| !is_due(sent, end)) {
        return Err(format!("`{name}` would be sent at {time} s, but the run ends at {} s", time_of(end)));
    }
    let Some(loaded) = Loaded::new(&input, run.machine.as_deref(), &outlines, words, tick, &moments)? else {
        return Ok(Exit::Found);
    };
    report(&loaded.definition.warnings());
    for (path, moment) in run.values.iter().flat_map(|path| table.iter().map(move |moment| (path, moment))) {
        check_settings(slice::from_ref(moment), &loaded.names, &loaded.words)
            .map_err(|why| format!("{}: at {} s: {why}", path.display(), moment.time))?;
    }
    check_settings(&moments, &loaded.names, &loaded.words)?;
    let given: BTreeSet<_> = moments.iter().flat_map(|moment| &moment.settings).map(|(name, _)| name).collect();
    let unset: Vec<_> = loaded.names.keys().filter(|name| !given.contains(name)).map(String::as_str).collect();
    if !unset.is_empty() {
        complain(&format!("not set, treated as 0 or false: {}", listed(unset)));
    }

    if let (Some(path), Some(late)) = (&run.values, table.iter().find(|row| !is_due(row, end))) {
        let path = escaped(&path.display().to_string());
        complain(&format!("{path}: rows from {} s on are not played: the run ends at {} s", late.time, time_of(end)));
    }

    let bar = bar(ticks, ProgressDrawTarget::stderr());
    let machine = loaded.machine(run.from.as_deref())?;
    let has_result = run.flow.is_some() || run.watch_properties;
    let out = BufWriter::new(Above { bar: bar.clone(), out: std::io::stdout().lock(), has_result });
    let mut stage = Stage::new(&loaded, machine, tick, run.seed, out);
    stage.watch = run.watch_properties.then(PropertyWatch::default);
    written(stage.play(run.why, &moments, ticks, &bar))?;
    if let Some(path) = &run.flow {
        let flow = serde_json::to_string_pretty(&stage.clock.flow).map_err(|error| error.to_string())?;
        whole_file::write(path, &(flow + "\n")).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(if stage.is_violated { Exit::Found } else { Exit::Fine })
}

/// Returns how long a tick is, in seconds: as the file says, or else the game.
pub(crate) fn tick_of(outlines: &[Outline], words: Option<&Words>) -> f64 {
    let of_file = outlines.first().and_then(Outline::ticks_per_second);
    let of_game = words.and_then(|words| words.ticks_per_second).filter(|rate| *rate > 0.0);
    of_file.or(of_game).map_or(0.1, |rate| 1.0 / rate)
}

/// Checks that the machine can read every value that is set, and handle every message that is sent.
pub(crate) fn check_settings(moments: &[Moment], names: &Names, words: &Words) -> Result<(), String> {
    for moment in moments {
        for (name, value) in &moment.settings {
            match names.get(name) {
                None if name == CHANCE => {
                    let is_random = matches!(value, Setting::Number(number) if (0.0..=1.0).contains(number));
                    if !is_random {
                        return Err(format!("`{CHANCE}` is a number from 0 to 1: it cannot be set to {value}"));
                    }
                }
                None => {
                    return Err(format!("there is no value `{name}`; there are: {}", listed(names.keys())));
                }
                Some((_, kind)) if *kind != value.kind() => {
                    let is = match kind {
                        ValueKind::Number => "a number",
                        ValueKind::Flag => "true or false",
                    };
                    return Err(format!("`{name}` is {is}: it cannot be set to {value}"));
                }
                Some(_) => {}
            }
        }
        let Some(Told { name: message, fields }) = &moment.message else { continue };
        if !words.messages.contains(message) {
            return Err(format!("there is no message `{message}`; there are: {}", listed(&words.messages)));
        }
        let known = words.message_fields.get(message);
        for (field, value) in fields {
            if known.and_then(|known| known.get(field)) != Some(&value.kind()) {
                let known = listed(known.into_iter().flatten().map(|(name, _)| name));
                return Err(format!("message `{message}` has no `{field}` that is {value}; it has: {known}"));
            }
        }
    }
    Ok(())
}
