//! The changes of many owners: a [`Journal`] lists them, and a [`Flow`] counts them (rule 29).

// This folder and `diagram` are the layer `journal`. The layer knows states and the keys of a batch. It does not know the
// code that writes the journal.

#[cfg(feature = "serde")]
mod data;
mod entry;
mod flow;
mod messages;
mod stays;
mod tally;
mod trace;
mod violation;

use std::collections::{HashMap, VecDeque};
use std::fmt;

use self::entry::Recorded;
pub use self::entry::{Ended, Entry, Refused};
pub(crate) use self::entry::{Symbol, Way};
pub use self::flow::{Flow, FlowChange, FlowEnd, FlowRefusal};
pub use self::messages::{LoggedMessage, MessageLog};
pub use self::stays::Stays;
use self::tally::Tally;
pub use self::trace::Trace;
pub use self::violation::Violation;
use crate::batch::known::key::Key;
use crate::change::{Cause, Change, Shortfall};
pub use crate::change::{End, Guard};
use crate::machine::seat::region_in;
use crate::machine::step::Step;
use crate::owner::Owner;
use crate::state::StateRef;

/// The last changes of some owners, made or refused, and counts of all their changes.
///
/// A batch writes a journal by itself when you pass it one with [`Batch::set_journal`](crate::Batch::set_journal). The
/// entries then have the order of [rule 19](crate::docs::semantics#rule-19), on any number of threads. A cast also writes
/// a journal by itself when you pass it one with [`Members::set_journal`](crate::Members::set_journal). For machines that
/// are in neither, call [`note`](Self::note) in [`Owner::on_change`]. `K` is the type that identifies an owner: a key, or
/// a number or entity of the game.
///
/// An entry takes 24 bytes if `K` takes 8. States are recorded by name: two states with one name are one state in a
/// journal. A journal knows about 65 000 names; all states with later names are recorded as `(others)`. The time for which
/// a state was active is kept to seven digits.
///
/// # Examples
///
/// ```
/// use demeanor::{Batch, Fsm, Journal, Owner, State};
///
/// struct Guard { tired: bool }
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
/// impl State<Guard> for Rest {
///     fn can_enter(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &f64) -> bool { guard.tired }
/// }
///
/// let mut batch = Batch::new();
/// batch.set_journal(Some(Journal::new(1000)));
/// let tired = batch.insert(Guard { tired: true }, &Patrol);
/// batch.insert(Guard { tired: false }, &Patrol);
///
/// batch.update(&mut 4.0);
/// let journal = batch.journal().unwrap();
/// assert_eq!(journal.of(tired).next().unwrap().to, Some("Rest"));
/// let flow = journal.flow();
/// assert_eq!(flow.changes().next().unwrap().count, 1);
/// assert_eq!(flow.refusals().next().unwrap().to_string(), "Patrol -> Rest (change), refused by Rest.can_enter: 1");
/// ```
#[derive(Clone)]
pub struct Journal<K = Key> {
    capacity: usize,
    entries: VecDeque<Recorded<K>>,
    /// The times at which entries were written, in seconds. Each time is listed once.
    moments: VecDeque<f64>,
    /// The number of the first time in `moments`. An entry stores the number of its time.
    first_moment: u32,
    names: Vec<Box<str>>,
    by_name: HashMap<Box<str>, Symbol>,
    /// The symbols that stand for states in regions. The name of such a state is in `names`, too.
    in_regions: HashMap<(Symbol, usize, Box<str>), Symbol>,
    /// The region that such a symbol stands for: the symbol of its composite, and its index.
    regions: HashMap<Symbol, (Symbol, usize)>,
    /// The counts of all changes that have been recorded since the journal was last cleared.
    tally: Tally,
    /// How many changes had been recorded when the journal was last cleared; 0 if it never was.
    cleared: u64,
    violations: VecDeque<Violation<K>>,
}

impl<K: Clone> Journal<K> {
    /// Creates a journal that keeps the last `entries` changes. If this number is 0, the journal only counts changes.
    #[must_use]
    pub fn new(entries: usize) -> Self {
        Self {
            capacity: entries,
            entries: VecDeque::new(),
            moments: VecDeque::new(),
            first_moment: 0,
            names: Vec::new(),
            by_name: HashMap::new(),
            in_regions: HashMap::new(),
            regions: HashMap::new(),
            tally: Tally::new(),
            cleared: 0,
            violations: VecDeque::new(),
        }
    }

    /// Records a change of an owner, made or refused, that [`Owner::on_change`] has received. `now` is the time, in seconds.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Change, Journal, Owner, State, StateMachine};
    ///
    /// struct Game { seconds: f64, journal: Journal<u32> }
    /// struct Door { number: u32 }
    ///
    /// impl Owner for Door {
    ///     type Context<'a> = Game;
    ///     type Message = ();
    ///
    ///     fn now(game: &Game) -> f64 {
    ///         game.seconds
    ///     }
    ///
    ///     fn on_change(&mut self, change: &Change<'_, Self>, game: &mut Game) {
    ///         game.journal.note(self.number, change, game.seconds);
    ///     }
    /// }
    ///
    /// struct Open;
    /// struct Closed;
    /// impl State<Door> for Open {}
    /// impl State<Door> for Closed {}
    ///
    /// let mut game = Game { seconds: 2.5, journal: Journal::new(100) };
    /// let (mut door, mut machine) = (Door { number: 7 }, StateMachine::new(&Closed));
    /// machine.change_state(&mut door, &Open, &mut game);
    /// let entry = game.journal.entries().next().unwrap();
    /// assert_eq!(entry.to_string(), "2.5 s: 7: Closed -> Open (change), after 2.5 s");
    /// ```
    pub fn note<T: Owner>(&mut self, owner: K, change: &Change<'_, T>, now: f64) {
        let &Change { from, to, cause, ref outcome, time_in_state, within } = change;
        self.write(owner, (from, to), within, cause, outcome.shortfall(), (now, time_in_state));
    }

    /// Records a step of an owner's machine from [`recording`](crate::StateMachine::recording), if this step is a change that was
    /// made or refused, or the early end of a change. Exits, enters, starts and stops are not recorded.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Journal, Owner, State, StateMachine};
    ///
    /// struct Door;
    /// impl Owner for Door { type Context<'a> = (); type Message = (); }
    /// struct Open;
    /// struct Closed;
    /// impl State<Door> for Open {}
    /// impl State<Door> for Closed {}
    ///
    /// let (mut machine, mut steps) = (StateMachine::new(&Closed), Vec::new());
    /// machine.recording(Some(&mut steps)).change_state(&mut Door, &Open, &mut ());
    ///
    /// let mut journal = Journal::new(100);
    /// for step in &steps {
    ///     journal.note_step("front door", step);
    /// }
    /// assert_eq!(journal.entries().next().unwrap().to, Some("Open"));
    /// ```
    pub fn note_step<T: Owner>(&mut self, owner: K, step: &Step<T>) {
        let shortfall = match step {
            Step::Refused { by: (guard, state), .. } => Some((Shortfall::Refused(*guard), state)),
            Step::Ended { end, state, .. } => Some(((*end).into(), state)),
            _ => None,
        };
        match step {
            Step::Changed { cause: Cause::Start | Cause::Stop, .. } | Step::Exited(_) | Step::Entered(_) => {}
            Step::Changed { from, to, cause, time, time_in_state, within }
            | Step::Refused { from, to, cause, time, time_in_state, within, .. }
            | Step::Ended { from, to, cause, time, time_in_state, within, .. } => {
                let states = (from.as_ref(), to.as_ref());
                self.write(owner, states, within.as_ref(), *cause, shortfall, (*time, *time_in_state));
            }
        }
    }

    fn write<T: Owner>(
        &mut self,
        owner: K,
        (from, to): (Option<&StateRef<T>>, Option<&StateRef<T>>),
        within: Option<&StateRef<T>>,
        cause: Cause,
        shortfall: Option<(Shortfall, &StateRef<T>)>,
        (now, time_in_state): (f64, f64),
    ) {
        let region = within.map(|composite| {
            let nth = to.or(from).and_then(|state| region_in(state, composite));
            (self.symbol(&composite.name()), nth.unwrap_or(0))
        });
        let mut symbol = |state: &StateRef<T>| match region {
            None => self.symbol(&state.name()),
            Some(region) => self.symbol_in(region, &state.name()),
        };
        let from = from.map_or(Symbol::NONE, &mut symbol);
        let to = to.map_or(Symbol::NONE, &mut symbol);
        let shortfall = shortfall.map(|(why, state)| (why, symbol(state)));
        let moment = self.moment(now);
        #[expect(clippy::cast_possible_truncation, reason = "a journal keeps seven digits of a time")]
        let time_in_state = time_in_state as f32;
        self.record(Way::new((from, to), cause, shortfall), moment, [(owner, time_in_state)].into_iter());
    }

    /// Returns how many entries are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether no entry is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns how many changes, made or refused, and early ends have been recorded, whether or not their entries are still kept.
    /// Subtract an earlier number to get the number of changes since then.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Journal, Owner, State};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Idle;
    /// impl State<Enemy> for Idle {}
    ///
    /// let mut batch = Batch::new();
    /// batch.set_journal(Some(Journal::new(1)));
    /// let bob = batch.insert(Enemy, &Idle);
    /// for _ in 0..3 {
    ///     batch.change_state(bob, &Idle, &mut ());
    /// }
    /// let journal = batch.journal().unwrap();
    /// assert_eq!((journal.written(), journal.len()), (3, 1));
    /// ```
    #[must_use]
    pub fn written(&self) -> u64 {
        self.cleared + self.tally.total()
    }

    /// Iterates over the entries that are kept, the oldest first.
    #[must_use]
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = Entry<'_, K>> + ExactSizeIterator {
        self.entries.iter().map(|recorded| self.entry(recorded))
    }

    /// Iterates over the entries of one owner that are kept, the oldest first.
    pub fn of(&self, owner: K) -> impl DoubleEndedIterator<Item = Entry<'_, K>>
    where
        K: PartialEq,
    {
        self.entries.iter().filter(move |recorded| recorded.owner == owner).map(|recorded| self.entry(recorded))
    }

    /// Returns the counts of all changes that have been recorded since the journal was last cleared, whether or not their
    /// entries are still kept.
    #[must_use]
    pub fn flow(&self) -> Flow {
        self.tally.flow(|symbol| self.name(symbol))
    }

    /// Removes all entries, all violations and all counts.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.violations.clear();
        self.moments.clear();
        self.cleared = self.written();
        self.tally = Tally::new();
    }

    fn entry(&self, recorded: &Recorded<K>) -> Entry<'_, K> {
        let time = self.moments[recorded.moment.wrapping_sub(self.first_moment) as usize];
        let region = |symbol| {
            let (composite, nth) = self.regions.get(&symbol)?;
            Some((self.name(*composite)?, *nth))
        };
        recorded.entry(time, |symbol| self.name(symbol), region)
    }

    fn name(&self, symbol: Symbol) -> Option<&str> {
        match symbol {
            Symbol::NONE => None,
            Symbol::OTHER => Some("(others)"),
            Symbol(nth) => self.names.get(usize::from(nth)).map(|name| &**name),
        }
    }
}

/// Methods for code that writes the journal.
impl<K: Clone> Journal<K> {
    /// Returns the symbol that stands for a name in the entries; [`Symbol::OTHER`] when the symbols have run out.
    pub(crate) fn symbol(&mut self, name: &str) -> Symbol {
        if let Some(symbol) = self.by_name.get(name) {
            return *symbol;
        }
        let Some(symbol) = Symbol::nth(self.names.len()) else { return Symbol::OTHER };
        self.names.push(name.into());
        self.by_name.insert(name.into(), symbol);
        symbol
    }

    /// Returns the symbol that stands for a name in a region. The region is given by the symbol of its composite and its index.
    pub(crate) fn symbol_in(&mut self, (composite, nth): (Symbol, usize), name: &str) -> Symbol {
        if let Some(symbol) = self.in_regions.get(&(composite, nth, name.into())) {
            return *symbol;
        }
        let Some(symbol) = Symbol::nth(self.names.len()) else { return Symbol::OTHER };
        self.names.push(name.into());
        self.in_regions.insert((composite, nth, name.into()), symbol);
        self.regions.insert(symbol, (composite, nth));
        symbol
    }

    /// Returns the number of the time `at`, in seconds. The next entries store this number instead of the time.
    pub(crate) fn moment(&mut self, at: f64) -> u32 {
        if self.entries.is_empty() {
            self.moments.clear();
        }
        if self.moments.back().is_none_or(|last| last.to_bits() != at.to_bits()) {
            self.moments.push_back(at);
        }
        #[expect(clippy::cast_possible_truncation, reason = "they are numbered in a circle")]
        let last = (self.moments.len() - 1) as u32;
        self.first_moment.wrapping_add(last)
    }

    /// Records changes that are counted together, each with its owner and the number of seconds for which the old state had been
    /// active.
    pub(crate) fn record(
        &mut self,
        way: Way,
        moment: u32,
        mut changes: impl ExactSizeIterator<Item = (K, f32)> + Clone,
    ) {
        self.tally.count(way, changes.clone().map(|(_, time_in_state)| time_in_state));
        let left_out = changes.len().saturating_sub(self.capacity);
        let forgotten = (self.entries.len() + changes.len() - left_out).saturating_sub(self.capacity);
        self.entries.drain(..forgotten);
        // With the iterator that `skip` returns, `extend` would push the entries one by one.
        if let Some(last) = left_out.checked_sub(1) {
            changes.nth(last);
        }
        self.entries.extend(changes.map(|(owner, time_in_state)| Recorded { owner, moment, time_in_state, way }));
        let oldest = self.entries.front().map_or(moment, |oldest| oldest.moment);
        while self.first_moment != oldest {
            self.first_moment = self.first_moment.wrapping_add(1);
            self.moments.pop_front();
        }
    }
}

impl<K: Clone + fmt::Debug> fmt::Debug for Journal<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, Recorded};

    #[test]
    fn an_entry_takes_24_bytes() {
        assert_eq!(size_of::<Recorded<Key>>(), 24);
    }
}
