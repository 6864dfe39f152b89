//! Writing a journal as a trace that Perfetto and Chrome can open.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::io::{self, Write};

use super::{Ended, Entry, Journal};
use crate::change::{Cause, End};
use crate::machine::seat::path_to;
use crate::owner::Owner;
use crate::state::StateRef;

/// A [`Journal`] as a trace in Chrome's format, which [Perfetto](https://ui.perfetto.dev) can open, too.
///
/// Each owner has its own track, and a further track for each [region](crate::State::regions) with entries of its own. The tracks
/// have the order of their first entries in the journal. A state is a slice on the track, from when it was entered until it was
/// left. The ancestors of a state are slices around it, if they are [known](Self::with_states). A refusal is an instant.
///
/// A journal contains only changes, made or refused. So an owner without an entry has no track, and messages are not in the
/// trace. A journal does not record `stop` and `start`. If a stop and a start have led an owner to another state, the trace
/// calculates the beginning of this state from the `time_in_state` of the owner's next entry. The slice of the old state lasts
/// until then. If a clock is set back, the time in the trace stands still until the clock has caught up.
///
/// # Examples
///
/// ```
/// use demeanor::{Batch, Fsm, Journal, Owner, State};
///
/// struct Guard;
/// impl Owner for Guard {
///     type Context<'a> = f64;
///     type Message = ();
///     fn now(seconds: &f64) -> f64 { *seconds }
/// }
/// struct Patrol;
/// struct Rest;
/// impl State<Guard> for Patrol {
///     fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) { fsm.change_state(&Rest); }
/// }
/// impl State<Guard> for Rest {}
///
/// let mut batch = Batch::new();
/// batch.set_journal(Some(Journal::new(1000)));
/// batch.insert(Guard, &Patrol);
/// batch.update(&mut 4.0);
///
/// let mut file = Vec::new();
/// batch.journal().unwrap().trace().until(6.0).write_to(&mut file)?;
/// let trace = String::from_utf8(file).unwrap();
/// assert!(trace.contains(r#"{"ph":"B","pid":1,"tid":1,"ts":4000000,"name":"Rest","args":{"cause":"change"}}"#));
/// assert!(trace.contains(r#"{"ph":"E","pid":1,"tid":1,"ts":6000000}"#));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Trace<'j, K> {
    journal: &'j Journal<K>,
    /// For the name of a state, the names of its ancestors, outermost first.
    around: HashMap<String, Vec<String>>,
    label: Box<dyn Fn(K) -> String + 'j>,
    is_meant: Box<dyn Fn(K) -> bool + 'j>,
    until: Option<f64>,
}

impl<K: Copy> Journal<K> {
    /// Returns the entries of the journal as a trace, which can be written to a file.
    #[must_use]
    pub fn trace(&self) -> Trace<'_, K>
    where
        K: fmt::Debug,
    {
        Trace {
            journal: self,
            around: HashMap::new(),
            label: Box::new(|owner| format!("{owner:?}")),
            is_meant: Box::new(|_| true),
            until: None,
        }
    }
}

impl<'j, K: Copy + Eq + Hash> Trace<'j, K> {
    /// Draws the ancestors of these states, too: pass the states of `Definition::states`, or states in code.
    ///
    /// An ancestor is one slice for as long as states inside it follow each other, even if the ancestor itself was left and
    /// entered between them. The journal does not record this.
    #[must_use]
    pub fn with_states<T: Owner>(mut self, states: impl IntoIterator<Item = StateRef<T>>) -> Self {
        for state in states {
            let Ok(mut path) = path_to(&state) else { continue };
            path.pop();
            if !path.is_empty() {
                let around = path.iter().map(|state| state.name().into_owned()).collect();
                self.around.insert(state.name().into_owned(), around);
            }
        }
        self
    }

    /// Names the tracks. By default the name of a track is the owner's `Debug` output.
    #[must_use]
    pub fn labeled(self, label: impl Fn(K) -> String + 'j) -> Self {
        Self { label: Box::new(label), ..self }
    }

    /// Leaves out all owners for which `is_meant` returns `false`. Perfetto is slow with more than a few thousand tracks.
    #[must_use]
    pub fn only(self, is_meant: impl Fn(K) -> bool + 'j) -> Self {
        Self { is_meant: Box::new(is_meant), ..self }
    }

    /// Sets the time, in seconds, at which states that have not been left end in the trace. By default, and if `seconds` is
    /// earlier, they end at the time of the last entry.
    #[must_use]
    pub fn until(self, seconds: f64) -> Self {
        Self { until: Some(seconds), ..self }
    }

    /// Writes the trace as JSON, ordered by time, in microseconds.
    ///
    /// A first pass over the journal collects the tracks. A second pass writes the trace, entry by entry. So the memory that
    /// this takes depends on the number of owners, and on how often they were started, but not on the number of entries.
    ///
    /// # Errors
    ///
    /// When `out` cannot be written to. If `out` is a file, pass a `BufWriter`: there are several writes for each entry.
    pub fn write_to(&self, out: impl Write) -> io::Result<()> {
        let Tracks { numbers, inside, begins } = self.tracks();
        let mut writer = TraceWriter { out, is_first: true };
        writer.out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
        let mut named: Vec<_> = numbers.iter().map(|(owner, track)| (*track, *owner)).collect();
        named.sort_unstable_by_key(|(track, _)| *track);
        for (track, TrackKey { owner, within, region }) in named {
            let mut label = (self.label)(owner);
            if let (Some(within), Some(region)) = (within, region) {
                label = format!("{label}, region {region} of {within}");
            }
            let label = JsonText(label);
            writer.event('M', track, None, format_args!(",\"name\":\"thread_name\",\"args\":{{\"name\":{label}}}"))?;
        }
        let mut open: Vec<Vec<&str>> = vec![Vec::new(); numbers.len()];
        let mut begins = begins.into_iter().peekable();
        let mut clock = TraceClock::default();
        for (nth, entry) in self.entries().enumerate() {
            let at = clock.show(entry.time);
            while let Some(begin) = begins.next_if(|begin| begin.at <= at && begin.after <= nth) {
                let path = self.path(begin.state, begin.within);
                writer.enter(begin.track, begin.at, &mut open[begin.track], &path, None)?;
            }
            let track = numbers[&TrackKey::of(&entry)];
            if moves(&entry) {
                for closed in closed_by(&entry, &inside, |track| open[track].last().copied()) {
                    writer.enter(closed, at, &mut open[closed], &[], None)?;
                }
                let path = reached(&entry).map(|to| self.path(to, entry.within)).unwrap_or_default();
                writer.enter(track, at, &mut open[track], &path, Some(entry.cause))?;
            }
            let mark = match (entry.refused, entry.ended) {
                (Some(refused), _) => format!("refused by {refused}"),
                (None, Some(ended)) => ended.to_string(),
                (None, None) => continue,
            };
            let (name, to) = (JsonText(mark), JsonText(entry.to.unwrap_or("(no state)")));
            let cause = entry.cause;
            writer.event(
                'i',
                track,
                Some(at),
                format_args!(",\"s\":\"t\",\"name\":{name},\"args\":{{\"cause\":\"{cause}\",\"to\":{to}}}"),
            )?;
        }
        let end = clock.show(self.until.unwrap_or(f64::MIN));
        for (track, open) in open.iter_mut().enumerate() {
            writer.enter(track, end, open, &[], None)?;
        }
        writer.out.write_all(b"\n]}\n")?;
        writer.out.flush()
    }

    fn entries(&self) -> impl Iterator<Item = Entry<'j, K>> {
        self.journal.entries().filter(|entry| (self.is_meant)(entry.owner))
    }

    /// Returns the names of a state and its ancestors, outermost first. For a state in a region, leaves out the ancestors outside
    /// of the region.
    fn path<'s>(&'s self, state: &'s str, within: Option<&str>) -> Vec<&'s str> {
        let around = self.around.get(state).map_or(&[][..], Vec::as_slice);
        let outside = around.iter().position(|name| Some(&**name) == within).map_or(0, |at| at + 1);
        around[outside..].iter().map(String::as_str).chain([state]).collect()
    }

    /// Finds the tracks, and the states that owners have entered without an entry in the journal.
    fn tracks(&self) -> Tracks<'j, K> {
        let mut numbers: HashMap<TrackKey<'_, K>, usize> = HashMap::new();
        let mut inside: HashMap<K, Vec<(&str, usize)>> = HashMap::new();
        // By the number of the track.
        let mut now_in: Vec<TracedOwner<'_>> = Vec::new();
        let mut begins = Vec::new();
        let mut clock = TraceClock::default();
        for (nth, entry) in self.entries().enumerate() {
            let at = clock.show(entry.time);
            let next = numbers.len();
            let track = *numbers.entry(TrackKey::of(&entry)).or_insert(next);
            if track == now_in.len() {
                now_in.push(TracedOwner { state: None, since: i64::MIN, after: 0 });
                if let Some(within) = entry.within {
                    inside.entry(entry.owner).or_default().push((within, track));
                }
            }
            if moves(&entry) {
                for closed in closed_by(&entry, &inside, |track| now_in[track].state) {
                    now_in[closed] = TracedOwner { state: None, since: at, after: nth + 1 };
                }
            }
            // The end of a change is reported when the owner may already be in another state. A request in the `enter` of an
            // ancestor may be refused before the owner is in the state that is known.
            let is_entering = entry.refused.is_some() && now_in[track].state.is_some() && now_in[track].since == at;
            let left = entry.from.filter(|_| entry.ended.is_none() && !is_entering);
            if let Some(from) = left.filter(|from| now_in[track].state != Some(*from)) {
                // A state in a region was not active before the state whose region it is.
                let outside = numbers.get(&TrackKey { owner: entry.owner, within: None, region: None });
                let mut tracks = inside.get(&entry.owner).into_iter().flatten().map(|(_, track)| track).chain(outside);
                let around = tracks.find(|track| entry.within.is_some() && now_in[**track].state == entry.within);
                let known = [&now_in[track], &now_in[*around.unwrap_or(&track)]];
                let since = known.map(|traced| traced.since).into_iter().fold(at.min(0), i64::max);
                let after = known.map(|traced| traced.after).into_iter().fold(0, usize::max);
                // A journal stores only seven digits of a time in state, so the calculated beginning may be slightly too
                // early.
                let begin = (at - micros(entry.time_in_state)).clamp(since, at);
                begins.push(Begin { at: begin, after, track, state: from, within: entry.within });
                now_in[track] = TracedOwner { state: Some(from), since: begin, after };
            }
            if moves(&entry) {
                now_in[track] = TracedOwner { state: reached(&entry), since: at, after: nth + 1 };
            }
        }
        // The sort is stable: states that begin at the same time keep the order of the journal.
        begins.sort_by_key(|begin| (begin.at, begin.after));
        Tracks { numbers, inside, begins }
    }
}

/// Returns whether the owner is in another state after an entry.
fn moves<K>(entry: &Entry<'_, K>) -> bool {
    entry.is_taken() || matches!(entry.ended, Some(Ended { end: End::Stayed, .. }))
}

/// Returns the state to which an entry moves its owner.
fn reached<'j, K>(entry: &Entry<'j, K>) -> Option<&'j str> {
    entry.ended.map_or(entry.to, |ended| Some(ended.state))
}

/// Returns the tracks of the regions that an entry closes: the regions of the state that is left, and in turn the regions of the
/// states in these. `state_of` returns the state that a track is in.
fn closed_by<'j, K: Eq + Hash>(
    entry: &Entry<'j, K>,
    inside: &HashMap<K, Vec<(&'j str, usize)>>,
    state_of: impl Fn(usize) -> Option<&'j str>,
) -> Vec<usize> {
    let Some(inside) = inside.get(&entry.owner) else { return Vec::new() };
    let mut closed = Vec::new();
    let mut left: Vec<_> = entry.from.into_iter().collect();
    while let Some(state) = left.pop() {
        for &(_, track) in inside.iter().filter(|(within, _)| *within == state) {
            if !closed.contains(&track) {
                closed.push(track);
                left.extend(state_of(track));
            }
        }
    }
    closed
}

/// Identifies a track, which shows an owner's states outside of regions, or its states in one region.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct TrackKey<'j, K> {
    owner: K,
    within: Option<&'j str>,
    region: Option<usize>,
}

impl<'j, K: Copy> TrackKey<'j, K> {
    fn of(entry: &Entry<'j, K>) -> Self {
        Self { owner: entry.owner, within: entry.within, region: entry.region }
    }
}

/// The findings of the first pass over a journal.
struct Tracks<'j, K> {
    /// The number of each track, in the order of their first entries.
    numbers: HashMap<TrackKey<'j, K>, usize>,
    /// The tracks of each owner's regions, with the states whose regions they are.
    inside: HashMap<K, Vec<(&'j str, usize)>>,
    begins: Vec<Begin<'j>>,
}

/// The beginning of a state that an owner has entered without an entry in the journal: the owner's first state in the journal, or
/// a state that `start` led to.
struct Begin<'j> {
    /// The time of the beginning, in microseconds.
    at: i64,
    /// How many entries have to be written before it. The time alone does not show the order: the owner's previous entry may
    /// have the same time.
    after: usize,
    track: usize,
    state: &'j str,
    within: Option<&'j str>,
}

/// The state that a track is in, since when (in microseconds), and after how many entries.
struct TracedOwner<'j> {
    state: Option<&'j str>,
    since: i64,
    after: usize,
}

/// A clock that shows microseconds and never goes back.
#[derive(Default)]
struct TraceClock(Option<i64>);

impl TraceClock {
    fn show(&mut self, seconds: f64) -> i64 {
        let at = micros(seconds).max(self.0.unwrap_or(i64::MIN));
        self.0 = Some(at);
        at
    }
}

/// Converts seconds to microseconds. The result is at most 285 years, because JSON cannot represent larger integers exactly.
fn micros(seconds: f64) -> i64 {
    const MOST: f64 = 9e15;
    #[expect(clippy::cast_possible_truncation, reason = "it is no more than that")]
    let micros = (seconds * 1e6).round().clamp(-MOST, MOST) as i64;
    micros
}

struct TraceWriter<W> {
    out: W,
    is_first: bool,
}

impl<W: Write> TraceWriter<W> {
    /// Ends the slices that are not part of a path, and begins the missing ones. The innermost slice is always begun again.
    fn enter<'s>(
        &mut self,
        track: usize,
        at: i64,
        open: &mut Vec<&'s str>,
        path: &[&'s str],
        cause: Option<Cause>,
    ) -> io::Result<()> {
        let kept = open.iter().zip(path).take_while(|(open, entered)| open == entered).count();
        let kept = kept.min(path.len().saturating_sub(1));
        while open.len() > kept {
            open.pop();
            self.event('E', track, Some(at), format_args!(""))?;
        }
        for &state in &path[kept..] {
            open.push(state);
            let name = JsonText(state);
            match cause {
                Some(cause) => {
                    self.event(
                        'B',
                        track,
                        Some(at),
                        format_args!(",\"name\":{name},\"args\":{{\"cause\":\"{cause}\"}}"),
                    )?;
                }
                None => self.event('B', track, Some(at), format_args!(",\"name\":{name}"))?,
            }
        }
        Ok(())
    }

    fn event(&mut self, kind: char, track: usize, at: Option<i64>, more: fmt::Arguments<'_>) -> io::Result<()> {
        let comma = if std::mem::take(&mut self.is_first) { "" } else { "," };
        write!(self.out, "{comma}\n{{\"ph\":\"{kind}\",\"pid\":1,\"tid\":{}", track + 1)?;
        if let Some(at) = at {
            write!(self.out, ",\"ts\":{at}")?;
        }
        write!(self.out, "{more}}}")
    }
}

/// A text as a JSON string. It is written here because only the feature `definition` has the dependency `serde_json`.
struct JsonText<S>(S);

impl<S: AsRef<str>> fmt::Display for JsonText<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.as_ref().chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                c if c < ' ' => write!(f, "\\u{:04x}", u32::from(c))?,
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}
