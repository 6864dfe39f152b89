//! A run for the page: the stage of `demeanor run`, played tick by tick, with what happened in each.

use demeanor::Owner as _;
use demeanor::definition::{ExitReport, PropertyWatch, Verdict};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::project::Project;
use super::source::{OfText, Refusal};
use crate::loaded::Loaded;
use crate::puppet::{Event, Told};
use crate::setting::Setting;
use crate::simulate::{check_settings, tick_of};
use crate::stage::{Stage, is_due, time};
use crate::table::Moment;

/// No run is longer, in ticks.
const LONGEST: u64 = 1_000_000;

/// What the page wants to see: a machine, played from its beginning to a tick.
#[derive(Deserialize)]
pub(super) struct OfRun {
    #[serde(flatten)]
    pub(super) of: OfText,
    /// The length of a tick, in seconds. By default as the file or the game says.
    pub(super) tick: Option<f64>,
    /// The state to begin in, instead of the initial one.
    from: Option<String>,
    /// What is set and sent, in the order of ticks.
    #[serde(default)]
    pub(super) inputs: Vec<RunInput>,
    /// The last tick.
    pub(super) to: u64,
    /// The first tick whose events are wanted.
    #[serde(default)]
    since: u64,
}

/// What is set and sent in a tick.
#[derive(Clone, Deserialize)]
pub(super) struct RunInput {
    tick: u64,
    #[serde(default)]
    values: Map<String, Value>,
    message: Option<String>,
}

/// A run that can be continued.
pub(super) struct Runner {
    of: OfText,
    tick: f64,
    from: Option<String>,
    loaded: Loaded,
    stage: Stage<Vec<u8>>,
    /// What has been set and sent so far.
    played: Vec<Moment>,
    /// The tick that is played next.
    next: u64,
}

/// Plays a machine until a tick. Continues the run before if it has begun in the same way.
pub(super) fn play(project: &Project, run: &OfRun, before: Option<Runner>) -> Result<(Runner, Value), Refusal> {
    if run.to > LONGEST {
        return Err(Refusal::new(422, format!("a run is at most {LONGEST} ticks long")));
    }
    let input = run.of.input(project)?;
    let outlines = run.of.outlines(&input, project)?;
    let tick = run.tick.filter(|tick| *tick > 0.0).unwrap_or_else(|| tick_of(&outlines, project.words.as_ref()));
    let moments = moments(&run.inputs, tick)?;
    let (now, later) = moments.split_at(moments.partition_point(|moment| is_due(moment, time(run.to, tick))));
    let mut runner = if let Some(before) = before.filter(|before| before.begins(run, tick, now)) {
        before
    } else {
        let words = project.words.clone();
        let loaded = Loaded::load(&input, run.of.machine.as_deref(), &outlines, words, tick, &moments)?;
        let loaded = loaded.map_err(|problems| run.of.broken(&problems))?;
        Runner::new(run, tick, loaded)?
    };
    check_settings(&moments, &runner.loaded.names, &runner.loaded.words)?;
    let content = runner.play(run, now, later)?;
    Ok((runner, content))
}

/// Returns the inputs as `demeanor run` reads them.
pub(super) fn moments(inputs: &[RunInput], tick: f64) -> Result<Vec<Moment>, String> {
    let moment = |input: &RunInput| {
        let setting = |(name, value): (&String, &Value)| {
            let value = match value {
                Value::Bool(is) => Setting::Flag(*is),
                Value::Number(number) => Setting::Number(number.as_f64().unwrap_or_default()),
                Value::String(text) => Setting::parse(text)?,
                _ => return Err(format!("{name}: neither a number nor true or false")),
            };
            Ok((name.clone(), value))
        };
        Ok(Moment {
            time: time(input.tick, tick),
            settings: input.values.iter().map(setting).collect::<Result<_, String>>()?,
            message: input.message.as_deref().map(Told::parse).transpose()?,
        })
    };
    let mut moments = inputs.iter().map(moment).collect::<Result<Vec<_>, String>>()?;
    crate::table::sort(&mut moments);
    Ok(moments)
}

impl Runner {
    fn new(run: &OfRun, tick: f64, loaded: Loaded) -> Result<Self, String> {
        let mut stage = Stage::new(&loaded, loaded.machine(run.from.as_deref())?, tick, 0, Vec::new());
        stage.watch = Some(PropertyWatch::default());
        stage.recorded = Some(Vec::new());
        stage.begin().map_err(|why| why.to_string())?;
        let (of, from) = (run.of.clone(), run.from.clone());
        Ok(Self { of, tick, from, loaded, stage, played: Vec::new(), next: 0 })
    }

    /// Returns whether a wanted run begins as this one, and needs no tick of it again.
    fn begins(&self, run: &OfRun, tick: f64, moments: &[Moment]) -> bool {
        let OfText { path, text, machine } = &run.of;
        let is_same = self.of.path == *path && self.of.text == *text && self.of.machine == *machine;
        let is_later = run.to + 1 >= self.next && run.since >= self.next;
        #[expect(clippy::float_cmp, reason = "the same number")]
        let is_same_time = self.tick == tick && self.from == run.from;
        is_same && is_later && is_same_time && moments.starts_with(&self.played) && {
            // What has been set since must not be for a tick that has been played.
            let rest = &moments[self.played.len()..];
            rest.first().is_none_or(|moment| moment.time > time(self.next, tick) - tick / 2.0)
        }
    }

    fn play(&mut self, run: &OfRun, moments: &[Moment], later: &[Moment]) -> Result<Value, String> {
        let mut left = &moments[self.played.len()..];
        let mut ticks = Vec::new();
        while self.next <= run.to {
            self.stage.step(self.next, &mut left, false).map_err(|why| why.to_string())?;
            let frame = self.frame();
            if self.next >= run.since {
                ticks.push(frame);
            }
            self.next += 1;
        }
        self.played = moments.to_vec();
        let puppet = self.stage.puppet.clone();
        for moment in later {
            self.stage.set(moment);
        }
        let reports = self.stage.explain();
        self.stage.puppet = puppet;
        let values = self.loaded.names.iter().map(|(name, (index, kind))| {
            let number = self.stage.puppet.values[*index];
            let is_flag = *kind == demeanor::definition::ValueKind::Flag;
            (name.clone(), if is_flag { json!(number != 0.0) } else { json!(number) })
        });
        let values: Map<_, _> = values.collect();
        Ok(json!({
            "tick": self.tick,
            "at": run.to,
            "seconds": crate::puppet::Puppet::now(&self.stage.clock),
            "current": self.stage.current(),
            "active": self.active(),
            "seconds_in_state": self.stage.machine.time_in_state(&self.stage.clock),
            "values": values,
            "exits": (0..reports.len()).map(|nth| self.exit(&reports, nth)).collect::<Vec<_>>(),
            "ticks": ticks,
        }))
    }

    /// Takes what has happened in the tick that was played last.
    fn frame(&mut self) -> Value {
        let stage = &mut self.stage;
        let events = stage.recorded.as_mut().map(std::mem::take).unwrap_or_default();
        let lines = String::from_utf8_lossy(&std::mem::take(&mut stage.out)).into_owned();
        let mut exits = std::mem::take(&mut stage.exits).into_iter();
        let events: Vec<_> = events
            .into_iter()
            .map(|(_, event)| match event {
                Event::Action(action) => json!({ "action": action }),
                Event::Change { from, to, refused: Some(refused) } => {
                    json!({ "from": from, "to": to, "refused": refused })
                }
                Event::Change { from, to, refused: None } => {
                    let exit = exits.next().flatten().map(|(state, exit)| (state.index(), exit));
                    json!({ "from": from, "to": to, "exit": exit })
                }
            })
            .collect();
        json!({
            "tick": self.next,
            "current": self.stage.current(),
            "active": self.active(),
            "events": events,
            "lines": lines.lines().collect::<Vec<_>>(),
        })
    }

    fn active(&self) -> Vec<usize> {
        let outline = self.stage.definition.outline();
        let active = self.stage.active();
        let ids = active.iter().filter_map(|name| outline.states().iter().find(|state| state.name() == name));
        ids.map(|state| state.id().index()).collect()
    }

    /// Says what becomes of an exit now.
    fn exit(&self, reports: &[ExitReport], nth: usize) -> Value {
        let report = &reports[nth];
        let place = self.stage.place(reports, nth).map(|(state, exit)| (state.index(), exit));
        json!({
            "of": report.of,
            "to": report.to,
            "on": report.on,
            "exit": place,
            "is_taken": report.verdict == Verdict::Taken && report.on.is_none(),
            "is_moot": report.verdict == Verdict::AlreadyThere,
            "why": report.to_string(),
        })
    }
}
