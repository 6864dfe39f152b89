//! A stage on which a puppet plays a machine, tick by tick: it says why the machine changes state or stays.

use std::io::Write;
use std::{iter, mem};

use demeanor::definition::{Definition, ExitOutline, ExitReport, PropertyWatch, StateId, Verdict};
use demeanor::{Flow, StateMachine, StateRef};
use indicatif::ProgressBar;

use crate::loaded::Loaded;
use crate::puppet::{CHANCE, Clock, Event, Names, Puppet, Told};
use crate::shown::escaped;
use crate::table::Moment;
use crate::written;

pub(crate) struct Stage<W> {
    pub(crate) definition: Definition<Puppet>,
    pub(crate) machine: StateMachine<Puppet>,
    pub(crate) puppet: Puppet,
    pub(crate) clock: Clock,
    /// The length of a tick, in seconds.
    tick: f64,
    names: Names,
    pub(crate) out: W,
    /// The reasons that were written last, if nothing has been written since.
    same: Option<Same>,
    /// What is known of the properties, if they are checked.
    pub(crate) watch: Option<PropertyWatch>,
    /// Whether a property has been violated.
    pub(crate) is_violated: bool,
    /// What has happened, each with its time in seconds, if this is recorded.
    pub(crate) recorded: Option<Vec<(f64, Event)>>,
    /// The exits of the changes that are recorded, as far as they are known: for each change, the state and the place of its exit.
    pub(crate) exits: Vec<Option<(StateId, usize)>>,
}

/// The reasons why a machine stays, and for how many more ticks they were the same.
struct Same {
    why: String,
    ticks: u64,
    until: f64,
}

impl Loaded {
    /// Plays the machine. Returns what happens, each with its time in seconds, and the states in which it ends.
    pub(crate) fn play(
        &self,
        moments: &[Moment],
        tick: f64,
        ticks: u64,
    ) -> Result<(Vec<(f64, Event)>, String), String> {
        let mut stage = Stage::new(self, self.definition.machine(), tick, 0, std::io::sink());
        stage.recorded = Some(Vec::new());
        written(stage.play(false, moments, ticks, &ProgressBar::hidden()))?;
        let end = stage.current();
        Ok((stage.recorded.unwrap_or_default(), end))
    }
}

impl<W: Write> Stage<W> {
    pub(crate) fn new(loaded: &Loaded, machine: StateMachine<Puppet>, tick: f64, seed: u64, out: W) -> Self {
        Self {
            definition: loaded.definition.clone(),
            machine,
            puppet: Puppet::new(vec![0.0; loaded.names.len()], seed),
            clock: Clock { now: 0.0, flow: Flow::new() },
            tick,
            names: loaded.names.clone(),
            out,
            same: None,
            watch: None,
            is_violated: false,
            recorded: None,
            exits: Vec::new(),
        }
    }

    pub(crate) fn play(
        &mut self,
        tells_why: bool,
        moments: &[Moment],
        ticks: u64,
        bar: &ProgressBar,
    ) -> std::io::Result<()> {
        let mut next = moments;
        self.begin()?;
        for tick in 0..=ticks {
            self.step(tick, &mut next, tells_why)?;
            if tick % 4096 == 0 {
                bar.set_position(tick);
            }
        }
        bar.finish_and_clear();
        self.end()
    }

    /// Says where the machine begins.
    pub(crate) fn begin(&mut self) -> std::io::Result<()> {
        let begins = self.initial(self.machine.current());
        self.line(&format!("{:>9}  begins in {begins}", "0.00 s"))
    }

    /// Plays one tick, after the moments that have come until then, which it takes from the list.
    pub(crate) fn step(&mut self, tick: u64, next: &mut &[Moment], tells_why: bool) -> std::io::Result<()> {
        self.clock.now = time(tick, self.tick);
        while let Some((moment, rest)) = next.split_first().filter(|(moment, _)| is_due(moment, self.clock.now)) {
            *next = rest;
            self.set(moment);
            if let Some(message) = &moment.message {
                self.start()?;
                self.send(message)?;
            }
        }
        self.start()?;
        self.tick(tells_why)
    }

    /// Says where the machine ends, and why it stays there.
    pub(crate) fn end(&mut self) -> std::io::Result<()> {
        let (state, time) = (self.current(), self.machine.time_in_state(&self.clock));
        self.line(&format!("{:>7.2} s  ends in {state}, after {time:.2} s in it", self.clock.now))?;
        let reports = self.explain();
        self.list(&state, &reports)?;
        self.out.flush()
    }

    /// Enters the first state, if this has not been done. The values for the beginning have been set.
    fn start(&mut self) -> std::io::Result<()> {
        if self.machine.is_started() {
            return Ok(());
        }
        self.machine.start(&mut self.puppet, &mut self.clock);
        self.tell_changes(Vec::new(), &[], None).map(drop)
    }

    pub(crate) fn set(&mut self, moment: &Moment) {
        for (name, value) in &moment.settings {
            if let Some((index, _)) = self.names.get(name) {
                self.puppet.values[*index] = value.number();
            } else if name == CHANCE {
                self.puppet.chance = Some(value.number());
            }
        }
    }

    fn tick(&mut self, tells_why: bool) -> std::io::Result<()> {
        let reports = self.explain();
        let (state, active) = (self.current(), self.active());
        self.machine.update(&mut self.puppet, &mut self.clock);
        let has_changed = self.puppet.events.iter().any(|event| matches!(event, Event::Change { .. }));
        let passed_over = self.tell_changes(active, &reports, None)?;
        if tells_why && !has_changed {
            self.stays(&state, &reports)?;
        } else if tells_why && passed_over > 0 {
            self.list(&state, &reports[..passed_over])?;
        }
        self.check_properties()
    }

    fn check_properties(&mut self) -> std::io::Result<()> {
        let Self { watch: Some(watch), definition, .. } = self else { return Ok(()) };
        let violated = self.machine.with(&mut self.puppet, &mut self.clock, |puppet, fsm, clock| {
            definition.check_properties(watch, puppet, fsm, clock)
        });
        for property in violated {
            self.is_violated = true;
            let path = self.active().join(" > ");
            self.line(&format!("{:>7.2} s  property {property} is violated in {path}", self.clock.now))?;
        }
        Ok(())
    }

    fn send(&mut self, told: &Told) -> std::io::Result<()> {
        let reports = self.explain_message(told);
        let message = told.name.as_str();
        let (state, active) = (self.current(), self.active());
        let is_handled = self.machine.send(&mut self.puppet, told, &mut self.clock);
        let outcome = if is_handled { "" } else { ": no exit is taken" };
        self.line(&format!("{:>7.2} s  message {message}{outcome}", self.clock.now))?;
        self.tell_changes(active, &reports, Some(message))?;
        if !is_handled {
            let waiting: Vec<_> = reports.into_iter().filter(|report| report.on.as_deref() == Some(message)).collect();
            self.list(&state, &waiting)?;
        }
        Ok(())
    }

    /// Says why the machine stays in a state. If this is as in the tick before, apart from the values, it is only counted.
    fn stays(&mut self, state: &str, reports: &[ExitReport]) -> std::io::Result<()> {
        let answer = |report: &ExitReport| {
            let answers: Vec<_> = report.questions.iter().map(|question| question.answer).collect();
            format!("{} {} {:?} {:?} {answers:?}", report.of, report.to, report.on, report.verdict)
        };
        let why = format!("{state}: {}", reports.iter().map(answer).collect::<Vec<_>>().join(", "));
        if self.same.as_ref().is_some_and(|same| same.why == why) {
            self.same.iter_mut().for_each(|same| (same.ticks, same.until) = (same.ticks + 1, self.clock.now));
            return Ok(());
        }
        self.line(&format!("{:>7.2} s  stays in {state}", self.clock.now))?;
        self.list(state, reports)?;
        self.same = Some(Same { why, ticks: 0, until: self.clock.now });
        Ok(())
    }

    /// Returns the results of the exits of a state that was entered just now. Exits with `always` are checked at once, so these
    /// come first.
    fn explain_entered(&mut self, name: &str) -> Vec<ExitReport> {
        let Some(state) = self.definition.state(name) else { return Vec::new() };
        let mut reports = self.definition.explain_entry(&state, &mut self.puppet.clone(), &mut self.clock);
        reports.extend(self.definition.explain(&state, &mut self.puppet.clone(), 0.0, &mut self.clock));
        reports
    }

    /// Returns the results of the exits. A copy of the puppet is used, so that the puppet itself draws the same random numbers
    /// again.
    pub(crate) fn explain(&mut self) -> Vec<ExitReport> {
        let definition = &self.definition;
        self.machine.with(&mut self.puppet.clone(), &mut self.clock, |puppet, fsm, clock| {
            definition.explain_with(puppet, fsm, clock)
        })
    }

    /// Returns the results of the exits that wait for a message.
    fn explain_message(&mut self, told: &Told) -> Vec<ExitReport> {
        let definition = &self.definition;
        self.machine.with(&mut self.puppet.clone(), &mut self.clock, |puppet, fsm, clock| {
            definition.explain_message(told, puppet, fsm, clock)
        })
    }

    /// Prints the changes that were made, each with the exit that it used, and the actions that ran; `reports` are the exits of the
    /// states that were `active` before. Returns the index of the exit that was taken first.
    fn tell_changes(
        &mut self,
        mut active: Vec<String>,
        reports: &[ExitReport],
        message: Option<&str>,
    ) -> std::io::Result<usize> {
        let mut passed_over = None;
        let mut actions = Vec::new();
        let events = mem::take(&mut self.puppet.events);
        if let Some(recorded) = &mut self.recorded {
            recorded.extend(events.iter().map(|event| (self.clock.now, event.clone())));
        }
        for event in events {
            let Event::Change { from, to, refused } = event else {
                if let Event::Action(action) = event {
                    actions.push(action);
                }
                continue;
            };
            self.tell_actions(&mut actions)?;
            if let Some(refused) = refused {
                self.line(&format!("{:>7.2} s  refused: {refused}", self.clock.now))?;
                continue;
            }
            // A state that was entered by one change may be left by another at once, or by its own exits in the same tick. Only a
            // change in a region leaves other states as they were.
            let is_own = active.contains(&from);
            let is_in_region = self.is_in_region(&from);
            active.retain(|state| is_in_region && *state != from);
            let entered = if is_own { Vec::new() } else { self.explain_entered(&from) };
            let reports = if is_own { reports } else { &entered };
            let taken = self.taken(reports, &to, message.filter(|_| is_own));
            if self.recorded.is_some() {
                self.exits.push(taken.and_then(|taken| self.place(reports, taken)));
            }
            passed_over = passed_over.or(taken.filter(|_| is_own));
            let why = match taken.map(|taken| &reports[taken]) {
                None => self.written(&from, &to, message.filter(|_| is_own)),
                Some(report) => {
                    let by = if report.of == from { String::new() } else { format!("by {}: ", report.of) };
                    let mut questions: Vec<_> = report.questions.iter().map(ToString::to_string).collect();
                    questions.extend(report.rank());
                    let why = match &report.on {
                        Some(on) if questions.is_empty() => format!("on {on}"),
                        None if questions.is_empty() => "always".to_owned(),
                        _ => questions.join(", "),
                    };
                    format!("{by}{why}")
                }
            };
            self.line(&format!("{:>7.2} s  {from} -> {to}: {why}", self.clock.now))?;
        }
        self.tell_actions(&mut actions)?;
        Ok(passed_over.unwrap_or(0))
    }

    fn tell_actions(&mut self, actions: &mut Vec<String>) -> std::io::Result<()> {
        if actions.is_empty() {
            return Ok(());
        }
        self.line(&format!("{:>7.2} s  does {}", self.clock.now, mem::take(actions).join(", ")))
    }

    /// Returns the exit that was taken to a state.
    fn taken(&self, reports: &[ExitReport], to: &str, message: Option<&str>) -> Option<usize> {
        // A change to a composite state ends in its initial child, and one into regions is reported as one to their state.
        let state = self.definition.state(to);
        let around = |state: Option<StateRef<Puppet>>| state.into_iter().flat_map(|state| outward(&state));
        let has_regions = state.as_ref().is_some_and(|state| !state.regions().is_empty());
        let leads = |report: &ExitReport| {
            around(state.clone()).any(|around| around.name() == report.to)
                || has_regions && around(self.definition.state(&report.to)).any(|around| around.name() == to)
        };
        let on = |report: &ExitReport| {
            // The end of a machine that a state runs is a message of its own.
            report.on.as_deref() == message || report.on.as_deref() == Some("done")
        };
        reports.iter().position(|report| on(report) && report.verdict == Verdict::Taken && leads(report))
    }

    /// Returns the state and the place of the exit of a report. The reports of a state's exits are in the order of the file, but those
    /// for messages come later.
    pub(crate) fn place(&self, reports: &[ExitReport], nth: usize) -> Option<(StateId, usize)> {
        let ExitReport { of, to, on, .. } = reports.get(nth)?;
        let outline = self.definition.outline();
        let state = outline.states().iter().find(|state| state.name() == of)?;
        let is_alike = |report: &&ExitReport| report.of == *of && report.on == *on;
        let before = reports[..nth].iter().filter(is_alike).count();
        let alike = || state.exits().iter().enumerate().filter(|(_, exit)| exit.on() == on.as_deref());
        let leads_there =
            |(_, exit): &(usize, &ExitOutline)| !exit.leads().is_named() || outline.state(exit.target()).name() == to;
        let exit = alike().nth(before).filter(leads_there).or_else(|| alike().find(leads_there));
        exit.map(|(exit, _)| (state.id(), exit))
    }

    /// Returns the reason for a change whose exit does not seem to be open any more: the exits that lead there, as they are
    /// written. Such an exit depends on a chance, or on the states that were active at the time of the change. If one of these
    /// states has a script, the script has probably asked for the change, unless an exit has a chance.
    fn written(&self, from: &str, to: &str, message: Option<&str>) -> String {
        let outline = self.definition.outline();
        let id_of = |name: &str| outline.states().iter().find(|state| state.name() == name).map(|state| state.id());
        let (Some(from), Some(to)) = (id_of(from), id_of(to)) else { return "by a script".to_owned() };
        let exits = outline.path(from).into_iter().rev().chain(outline.global()).flat_map(|of| {
            let leads_there =
                |exit: &&ExitOutline| !exit.leads().is_named() || outline.descent(exit.target()).last() == Some(&to);
            let exits = outline.state(of).exits().iter().filter(leads_there);
            exits.filter(|exit| exit.on() == message || exit.on() == Some("done")).map(move |exit| (of, exit.label()))
        });
        let label = |(of, label): (StateId, String)| {
            let by = if of == from { String::new() } else { format!("by {}: ", outline.state(of).name()) };
            format!("{by}{}", if label.is_empty() { "always" } else { &label })
        };
        let mut labels: Vec<_> = exits.map(label).collect();
        let mut around = outline.path(from).into_iter().chain(outline.global());
        if around.any(|id| outline.state(id).script().is_some()) {
            labels.retain(|label| label.contains("chance"));
            labels.insert(0, "by a script".into());
        } else if labels.is_empty() {
            labels.push("by the game's code".into());
        }
        labels.join(", or ")
    }

    /// Prints the exits of a state.
    fn list(&mut self, state: &str, reports: &[ExitReport]) -> std::io::Result<()> {
        // An exit of a parent to a state that is already active is left out.
        let reports: Vec<_> = reports.iter().filter(|report| report.verdict != Verdict::AlreadyThere).collect();
        if reports.is_empty() {
            return self.line("             no exits");
        }
        for report in reports {
            let of = if report.of == state { String::new() } else { format!("{}, ", report.of) };
            self.line(&format!("             {of}{report}"))?;
        }
        Ok(())
    }

    fn line(&mut self, line: &str) -> std::io::Result<()> {
        if let Some(Same { ticks, until, .. }) = self.same.take().filter(|same| same.ticks > 0) {
            let ticks = if ticks == 1 { "1 more tick".to_owned() } else { format!("{ticks} more ticks") };
            writeln!(self.out, "             the same until {until:.2} s, for {ticks}")?;
        }
        writeln!(self.out, "{}", escaped(line))
    }

    pub(crate) fn active(&self) -> Vec<String> {
        self.machine.active_states().map(ToString::to_string).collect()
    }

    /// Whether a state lies in a region of a state around it.
    fn is_in_region(&self, state: &str) -> bool {
        let parent = self.definition.state(state).and_then(|state| state.parent());
        iter::successors(parent, |around| around.parent()).any(|around| !around.regions().is_empty())
    }

    /// Returns the name of a state in which the machine begins, with those in which its regions begin.
    fn initial(&self, state: Option<&StateRef<Puppet>>) -> String {
        let Some(state) = state else { return String::new() };
        let inner = iter::successors(Some(state.clone()), |state| state.initial()).last().unwrap_or(state.clone());
        let begins = |(nth, initial): (usize, &StateRef<Puppet>)| {
            // With `--from`, the machine begins elsewhere in one of the regions.
            let is_in = |state: &StateRef<Puppet>| state.parent().as_ref() == Some(&inner) && state.region() == nth;
            let is_here = |placed: &&StateRef<Puppet>| outward(placed).any(|state| is_in(&state));
            self.initial(self.machine.regions(inner.clone()).find(is_here).or(Some(initial)))
        };
        let regions: Vec<_> = inner.regions().iter().enumerate().map(begins).collect();
        if regions.is_empty() { inner.to_string() } else { format!("{inner} ({})", regions.join(", ")) }
    }

    pub(crate) fn current(&self) -> String {
        self.machine.current().map(|current| self.with_regions(current)).unwrap_or_default()
    }

    /// Returns the name of an active state, with what is active in its regions: `combat (walk, ready)`.
    fn with_regions(&self, state: &StateRef<Puppet>) -> String {
        let regions: Vec<_> = self.machine.regions(state.clone()).map(|state| self.with_regions(state)).collect();
        if regions.is_empty() { state.to_string() } else { format!("{state} ({})", regions.join(", ")) }
    }
}

/// Returns a state and the states around it, innermost first.
fn outward(state: &StateRef<Puppet>) -> impl Iterator<Item = StateRef<Puppet>> + use<> {
    iter::successors(Some(state.clone()), |state| state.parent())
}

/// Returns the number of ticks in this time.
pub(crate) fn ticks(end: f64, tick: f64) -> Result<u64, String> {
    if !(tick > 0.0 && tick.is_finite()) {
        return Err(format!("a tick cannot take {tick} seconds: it must be more than 0"));
    }
    if end.is_nan() || end < 0.0 {
        return Err(format!("a run cannot last {end} seconds: it must be 0 or more"));
    }
    if end / tick >= 1e9 {
        return Err(format!("{end} seconds, in ticks of {tick}, are too many ticks: there can be 1000 million"));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be fewer than 1000 million"
    )]
    // Times are rounded to nanoseconds, and a tick may be as short as 0.1 ms.
    Ok((end / tick + 1e-5).floor() as u64)
}

/// Returns the time of a tick.
#[expect(clippy::cast_precision_loss, reason = "at most 1000 million")]
pub(crate) fn time(nth: u64, tick: f64) -> f64 {
    nth as f64 * tick
}

/// Returns whether the tick at this time plays a moment, if no earlier tick has.
pub(crate) fn is_due(moment: &Moment, now: f64) -> bool {
    moment.time <= now + 1e-9
}
