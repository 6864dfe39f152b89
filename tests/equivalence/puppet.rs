//! The owners and their states: what a callback does is looked up in the program's table, and all that happens to an owner is
//! recorded in it.
//!
//! Nothing that an owner does depends on another, so that its trace must be the same wherever it is kept.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

use demeanor::{Change, Fsm, FsmSlice, Outcome, Owner, Refusal, State, StateRef};

use crate::polling::{Asker, Poll, is_refused};
use crate::program::{Callback, Guard, Id, Made, Program, Read, STATES, Verb};
use crate::told_panic::panic_as_told;
use crate::verbs::use_verb;

/// An owner.
#[derive(Clone)]
pub(crate) struct Puppet {
    pub(crate) number: usize,
    /// How many verbs its callbacks may still use, so that each operation ends.
    pub(crate) fuel: u32,
    /// How many more `update`s do anything.
    pub(crate) updates_left: u32,
    /// How many more calls of `after_update` are recorded.
    pub(crate) ends_left: u32,
    /// After how many more events it panics. 0: it does not.
    pub(crate) fuse: Cell<u32>,
    /// What it waits for, if it polls.
    pub(crate) poll: Option<Box<Poll>>,
    /// What a file asks of it.
    pub(crate) words: Words,
    counter: u32,
    events: RefCell<Vec<Event>>,
    /// Its changes in words.
    told: Vec<String>,
}

/// What a file asks of an owner, and what it draws next.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Words {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) is_lit: bool,
    luck: u32,
}

impl Words {
    pub(crate) fn draw(&mut self) -> f64 {
        self.luck = self.luck.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(self.luck >> 8) / f64::from(1 << 24)
    }
}

/// Who has sent a message.
#[derive(Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Origin {
    Game,
    Own,
}

/// Of a state: which it is, and how often it was edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mark {
    pub(crate) id: Id,
    edits: u8,
}

/// What a callback or a guard sees of the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seen {
    path: [Option<Mark>; 6],
    previous: Option<Mark>,
    /// How long each state of the path has been active, in seconds.
    times: [Option<f64>; 6],
    target: Option<Mark>,
    has_requests: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Event {
    Called(Id, Callback, Seen),
    /// The callback is about to return.
    Done(Id, Callback),
    Asked(Id, Guard, Seen, bool),
    /// What `on_change` was told: from, to, cause, the guard that refused or how it ended early, and the state of that.
    Told(Option<Mark>, Option<Mark>, &'static str, Option<(&'static str, Id)>),
    /// What `after_change` was told: from, to, cause.
    Completed(Option<Mark>, Option<Mark>, &'static str),
    /// What `after_update` sees.
    Updated(Seen),
    /// What `change_state_now` or `send_now` returned, and the target that the rest of the callback sees.
    Now(bool, Option<Mark>),
    /// It has panicked, and the callback goes on.
    Caught(Option<Mark>),
    /// An action of a file, with the bits of its number.
    Acted(u64),
}

impl Event {
    fn kind(self) -> Kind {
        match self {
            Self::Called(_, callback, _) | Self::Done(_, callback) => match callback {
                Callback::Enter => Kind::Enter,
                Callback::Update => Kind::Update,
                Callback::Exit => Kind::Exit,
                Callback::Message => Kind::Message,
                Callback::Suspend => Kind::Suspend,
                Callback::Resume => Kind::Resume,
            },
            Self::Asked(..) => Kind::Guard,
            Self::Told(..) => Kind::Told,
            Self::Completed(..) => Kind::Completed,
            Self::Updated(_) => Kind::AfterUpdate,
            Self::Now(..) | Self::Caught(_) | Self::Acted(_) => Kind::Now,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Enter,
    Update,
    Exit,
    Message,
    Suspend,
    Resume,
    Guard,
    Told,
    Completed,
    AfterUpdate,
    Now,
}

/// Something that the scripts should lead to now and then. *Among many*: directly after the same callback of another owner,
/// which one machine after the other would never do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Corner {
    AmongMany(Kind),
    RefusedAmongMany,
    RefusedBy(Read),
    AskedInEnterAmongMany,
    StayedAmongMany,
    NowInEnterAmongMany,
    Panicked(Kind),
    PanickedAmongMany(Kind),
    Caught,
    Edited,
}

/// The context: the program, and a clock.
pub(crate) struct Table<'p> {
    program: &'p Program,
    now: f64,
    last: Cell<Option<(usize, Kind)>>,
    /// Whether the callback that runs is among many.
    is_among_many: Cell<bool>,
    corners: RefCell<BTreeSet<Corner>>,
    hides_requests: bool,
}

impl<'p> Table<'p> {
    pub(crate) fn new(program: &'p Program, now: f64) -> Self {
        Self {
            program,
            now,
            last: Cell::new(None),
            is_among_many: Cell::new(false),
            corners: RefCell::default(),
            hides_requests: false,
        }
    }

    /// Has nobody record whether requests wait.
    pub(crate) fn hiding_requests(mut self) -> Self {
        self.hides_requests = true;
        self
    }

    pub(crate) fn into_corners(self) -> BTreeSet<Corner> {
        self.corners.into_inner()
    }

    pub(crate) fn reached(&self, corner: Corner) {
        self.corners.borrow_mut().insert(corner);
    }

    /// Notes whose event this is. Returns whether it is among many: the end of a callback, as its beginning was.
    fn is_among_many(&self, owner: usize, event: Event) -> bool {
        let kind = event.kind();
        match event {
            Event::Now(..) | Event::Caught(_) | Event::Acted(_) => return false,
            Event::Done(..) => {}
            Event::Called(..) | Event::Asked(..) | Event::Told(..) | Event::Completed(..) | Event::Updated(_) => {
                let last = self.last.get();
                self.is_among_many.set(last.is_some_and(|(other, of)| of == kind && other != owner));
            }
        }
        self.last.set(Some((owner, kind)));
        self.is_among_many.get()
    }
}

impl Owner for Puppet {
    type Context<'a> = Table<'a>;
    type Message = Origin;

    fn now(table: &Table<'_>) -> f64 {
        table.now
    }

    fn on_change(&mut self, change: &Change<'_, Self>, table: &mut Table<'_>) {
        let refused_by = match &change.outcome {
            Outcome::Taken => None,
            Outcome::Refused(Refusal::Enter(state)) => Some(("can_enter", mark(state).id)),
            Outcome::Refused(Refusal::Exit(state)) => Some(("can_exit", mark(state).id)),
            Outcome::Abandoned(state) => Some(("abandoned", mark(state).id)),
            Outcome::Stayed(state) => Some(("stayed", mark(state).id)),
            other => unreachable!("an outcome that is new here: {}", std::any::type_name_of_val(other)),
        };
        // What is no finite number counts as 0 (rule 18).
        let now = if table.now.is_finite() { table.now + 0.0 } else { 0.0 };
        self.told.push(in_words(change, now));
        if let Some(poll) = self.poll.as_mut().filter(|_| refused_by.is_none()) {
            poll.changed(change);
        }
        self.record(Event::Told(change.from.map(mark), change.to.map(mark), cause(change), refused_by), table);
    }

    fn after_change(&mut self, change: &Change<'_, Self>, table: &mut Table<'_>) {
        assert!(change.is_taken(), "nobody is told that a refused change is complete");
        self.record(Event::Completed(change.from.map(mark), change.to.map(mark), cause(change)), table);
    }

    fn after_update(&mut self, fsm: &Fsm<'_, Self>, table: &mut Table<'_>) {
        // A machine whose owner polls is updated even while the owner sleeps.
        if self.ends_left == 0 || table.hides_requests {
            return;
        }
        self.ends_left -= 1;
        self.record(Event::Updated(seen_by(fsm, table)), table);
    }
}

/// As an entry of a journal is displayed, without its owner.
fn in_words(change: &Change<'_, Puppet>, now: f64) -> String {
    let mut words = format!("{now} s: {change}");
    if change.is_taken() {
        // A journal keeps seven digits.
        #[expect(clippy::cast_possible_truncation, reason = "that is what is meant")]
        let time_in_state = change.time_in_state as f32;
        write!(words, ", after {time_in_state} s").expect("room");
    }
    words
}

fn cause(change: &Change<'_, Puppet>) -> &'static str {
    let causes = ["change", "force", "revert", "push", "pop", "resume"];
    causes.into_iter().find(|cause| change.cause.to_string() == *cause).expect("a cause known here")
}

impl Puppet {
    pub(crate) fn new(number: usize) -> Self {
        let counter = u32::try_from(number % 1000).expect("small");
        Self {
            number,
            fuel: 0,
            updates_left: u32::MAX,
            ends_left: u32::MAX,
            fuse: Cell::new(0),
            poll: None,
            words: Words { x: f64::from(counter % 3), y: f64::from(counter % 2), is_lit: false, luck: counter },
            counter,
            events: RefCell::default(),
            told: Vec::new(),
        }
    }

    /// What a journal should hold of it.
    pub(crate) fn told(&self) -> &[String] {
        &self.told
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.events.borrow().clone()
    }

    pub(crate) fn forget_told(&mut self) {
        self.told.clear();
    }

    pub(crate) fn forget_events(&mut self) {
        self.events.get_mut().clear();
        self.forget_told();
    }

    /// Whether anything has happened to it.
    pub(crate) fn has_events(&self) -> bool {
        !self.events.borrow().is_empty()
    }

    /// How many `update`s it has had.
    pub(crate) fn updates(&self) -> u32 {
        let is_update = |event: &&Event| matches!(event, Event::Called(_, Callback::Update, _));
        u32::try_from(self.events.borrow().iter().filter(is_update).count()).expect("few")
    }

    /// How many calls of `after_update` it has had.
    pub(crate) fn ends(&self) -> u32 {
        let is_end = |event: &&Event| matches!(event, Event::Updated(_));
        u32::try_from(self.events.borrow().iter().filter(is_end).count()).expect("few")
    }

    /// Puts an end to the limits of `update` and `after_update`.
    pub(crate) fn end_limits(&mut self) {
        (self.updates_left, self.ends_left) = (u32::MAX, u32::MAX);
    }

    pub(crate) fn record(&self, event: Event, table: &Table<'_>) {
        self.events.borrow_mut().push(event);
        let kind = event.kind();
        let among_many = table.is_among_many(self.number, event);
        if among_many {
            table.reached(Corner::AmongMany(kind));
        }
        if among_many && matches!(event, Event::Asked(_, _, _, false)) {
            table.reached(Corner::RefusedAmongMany);
        }
        match self.fuse.get() {
            0 => {}
            1 => {
                self.fuse.set(0);
                table.reached(if among_many { Corner::PanickedAmongMany(kind) } else { Corner::Panicked(kind) });
                panic_as_told();
            }
            left => self.fuse.set(left - 1),
        }
    }

    pub(crate) fn use_verb(
        &mut self,
        verb: Verb,
        asker: Asker,
        forms: &'static Forms,
        fsm: &mut Fsm<'_, Self>,
        table: &mut Table<'_>,
    ) {
        if self.fuel == 0 {
            return;
        }
        self.fuel -= 1;
        if self.poll.as_mut().is_some_and(|poll| poll.ask(verb, asker)) {
            return;
        }
        // Panics come from fuses here: one owner's, at one event.
        if verb == Verb::Panic {
            return;
        }
        let outcome = use_verb(verb, self, fsm, table, |id| forms.reference(id), &Origin::Own);
        if let Some(outcome) = outcome {
            let target = fsm.target().map(mark);
            if outcome.is_err() {
                table.reached(Corner::Caught);
            }
            self.record(outcome.map_or(Event::Caught(target), |done| Event::Now(done, target)), table);
        }
    }
}

/// A state. The kinds are types of their own: 0 and 1 are singletons and shared, 2 and 3 are owned.
pub(crate) struct Node<const KIND: u8> {
    pub(crate) id: Id,
    pub(crate) edits: u8,
    forms: &'static Forms,
}

impl<const KIND: u8> Clone for Node<KIND> {
    fn clone(&self) -> Self {
        Self::new(self.id, self.edits, self.forms)
    }
}

impl<const KIND: u8> Drop for Node<KIND> {
    fn drop(&mut self) {
        self.forms.live.fetch_sub(1, Relaxed);
    }
}

impl<const KIND: u8> Node<KIND> {
    pub(crate) fn new(id: Id, edits: u8, forms: &'static Forms) -> Self {
        forms.live.fetch_add(1, Relaxed);
        Self { id, edits, forms }
    }

    pub(crate) fn edit(&mut self) {
        self.edits = self.edits.wrapping_add(1);
    }
}

/// What is constant for the states of one program. The states refer to it wherever they run, so that it is never freed.
pub(crate) struct Forms {
    all: OnceLock<Vec<Form>>,
    /// How many states of the program there are.
    live: AtomicUsize,
    /// The states of a file, whose behaviors are the states of the program.
    #[cfg(feature = "definition")]
    pub(crate) definition: OnceLock<demeanor::definition::Definition<Puppet>>,
}

struct Form {
    reference: StateRef<Puppet>,
    /// Whether each mention makes a state anew.
    is_made_anew: bool,
    parent: Option<Id>,
    initial: Option<Id>,
    regions: Vec<Id>,
    region: usize,
    keeps_history: bool,
    is_passive: bool,
    order: Order,
}

/// In which order `update_all` goes through the owners.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    Forward,
    Backward,
    /// First those at even places, then the others.
    Twofold,
}

impl Forms {
    pub(crate) fn of(program: &Program, passive: &[Id], orders: &[Order]) -> &'static Self {
        let forms: &'static Self = Box::leak(Box::new(Self {
            all: OnceLock::new(),
            live: AtomicUsize::new(0),
            #[cfg(feature = "definition")]
            definition: OnceLock::new(),
        }));
        let form = |(id, row): (Id, &crate::program::StateRow)| {
            let is_leaf = row.initial.is_none() && program.states.iter().all(|other| other.parent != Some(id));
            let is_owned = matches!(row.made, Made::Owned);
            Form {
                reference: match (row.made, id % 2) {
                    (Made::Static, _) => (&*Box::leak(Box::new(Node::<0>::new(id, 0, forms)))).into(),
                    (Made::Shared, 0) => Arc::new(Node::<0>::new(id, 0, forms)).into(),
                    (Made::Shared, _) => Arc::new(Node::<1>::new(id, 0, forms)).into(),
                    (Made::Owned, 0) => Box::new(Node::<2>::new(id, 0, forms)).into(),
                    (Made::Owned, _) => Box::new(Node::<3>::new(id, 0, forms)).into(),
                },
                is_made_anew: is_owned && is_leaf && id % 4 < 2,
                parent: row.parent,
                initial: row.initial,
                regions: row.regions.clone(),
                region: row.region,
                keeps_history: row.keeps_history,
                is_passive: passive.contains(&id),
                order: orders[usize::from(id)],
            }
        };
        assert!(forms.all.set((0..).zip(&program.states).map(form).collect()).is_ok(), "set only here");
        forms
    }

    fn form(&self, id: Id) -> &Form {
        &self.all.get().expect("set at once")[usize::from(id)]
    }

    pub(crate) fn live_states(&self) -> usize {
        self.live.load(Relaxed)
    }

    /// The one object of a state, even of one that is made anew.
    #[cfg(feature = "serde")]
    pub(crate) fn fixed(&self, id: Id) -> StateRef<Puppet> {
        self.form(id).reference.clone()
    }

    pub(crate) fn reference(&'static self, id: Id) -> StateRef<Puppet> {
        #[cfg(feature = "definition")]
        if let Some(definition) = self.definition.get() {
            let renamed = || definition.state(&format!("s_1{id}"));
            return definition.state(&format!("s{id}")).or_else(renamed).expect("each file has a state of this number");
        }
        let form = self.form(id);
        match (form.is_made_anew, id % 2) {
            (false, _) => form.reference.clone(),
            (true, 0) => Box::new(Node::<2>::new(id, 0, self)).into(),
            (true, _) => Box::new(Node::<3>::new(id, 0, self)).into(),
        }
    }
}

/// Which state it is, whatever its type.
pub(crate) fn mark(state: &StateRef<Puppet>) -> Mark {
    fn of<const KIND: u8>(state: &StateRef<Puppet>) -> Option<Mark> {
        state.downcast_ref::<Node<KIND>>().map(|node| Mark { id: node.id, edits: node.edits })
    }
    let of_file = || {
        let digits: String = state.name().chars().filter(char::is_ascii_digit).collect();
        Mark { id: digits.parse().expect("the name of a state in a file has its number"), edits: 0 }
    };
    of::<0>(state)
        .or_else(|| of::<1>(state))
        .or_else(|| of::<2>(state))
        .or_else(|| of::<3>(state))
        .unwrap_or_else(of_file)
}

/// What a machine, a batch or a handle shows.
pub(crate) fn seen<'a>(
    path: impl Iterator<Item = &'a StateRef<Puppet>>,
    previous: Option<&StateRef<Puppet>>,
    time_in: impl Fn(&dyn State<Puppet>) -> Option<f64>,
) -> Seen {
    let (mut levels, mut times) = ([None; 6], [None; 6]);
    for (level, state) in path.enumerate() {
        levels[level] = Some(mark(state));
        times[level] = time_in(&**state);
        assert!(times[level].is_some(), "a state of the path is active");
    }
    Seen { path: levels, previous: previous.map(mark), times, target: None, has_requests: false }
}

/// What a handle shows.
fn seen_by(fsm: &Fsm<'_, Puppet>, table: &Table<'_>) -> Seen {
    let seen = seen(fsm.path(), fsm.previous(), |state| fsm.time_in(state, table));
    // In a region without a state, the path ends at the state whose region it is.
    assert!(fsm.current().is_none_or(|current| Some(current) == fsm.path().last()), "the path ends at current");
    let time = fsm.current().and_then(|_| seen.times.iter().flatten().last());
    assert!(time.is_none_or(|time| time.total_cmp(&fsm.time_in_state(table)).is_eq()), "it is the time of current");
    Seen { target: fsm.target().map(mark), has_requests: fsm.has_requests() && !table.hides_requests, ..seen }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the clock goes on by quarters of a second"
)]
fn quarters(time: f64) -> u32 {
    (time * 4.0).rem_euclid(8.0) as u32
}

impl<const KIND: u8> Node<KIND> {
    fn call(&self, callback: Callback, puppet: &mut Puppet, fsm: &mut Fsm<'_, Puppet>, table: &mut Table<'_>) -> bool {
        puppet.record(Event::Called(self.id, callback, seen_by(fsm, table)), table);
        let among_many = callback == Callback::Enter && table.is_among_many.get();
        let counter = puppet.counter;
        puppet.counter += 1;
        let asker = puppet.poll.as_ref().map(|poll| poll.asker(self.id));
        for verb in table.program.verbs(self.id, callback, counter) {
            if puppet.poll.is_some() && is_refused(verb, callback) {
                puppet.fuel = puppet.fuel.saturating_sub(1);
                continue;
            }
            if among_many && puppet.fuel > 0 {
                table.reached(match verb {
                    Verb::Stay => Corner::StayedAmongMany,
                    _ if verb.is_now() => Corner::NowInEnterAmongMany,
                    _ => Corner::AskedInEnterAmongMany,
                });
            }
            puppet.use_verb(verb, asker, self.forms, fsm, table);
        }
        puppet.record(Event::Done(self.id, callback), table);
        table.program.handles(self.id, counter)
    }

    fn ask(&self, guard: Guard, puppet: &Puppet, fsm: &Fsm<'_, Puppet>, table: &Table<'_>) -> bool {
        let id = |state: Option<&StateRef<Puppet>>| state.map_or(0, |state| u32::from(mark(state).id) + 1);
        let reads = table.program.states[usize::from(self.id)].reads;
        let number = match reads {
            Read::Counter => puppet.counter,
            Read::Time => quarters(fsm.time_in_state(table)),
            Read::Target => id(fsm.target()),
            Read::Previous => id(fsm.previous()),
            Read::Requests => u32::from(fsm.has_requests()),
        };
        let allowed = table.program.allows(self.id, guard, number);
        if !allowed {
            table.reached(Corner::RefusedBy(reads));
        }
        puppet.record(Event::Asked(self.id, guard, seen_by(fsm, table), allowed), table);
        allowed
    }
}

impl<const KIND: u8> State<Puppet> for Node<KIND> {
    fn name(&self) -> Cow<'_, str> {
        format!("{}.{KIND}", self.id).into()
    }

    fn enter(&self, puppet: &mut Puppet, fsm: &mut Fsm<'_, Puppet>, table: &mut Table<'_>) {
        self.call(Callback::Enter, puppet, fsm, table);
    }

    fn update(&self, puppet: &mut Puppet, fsm: &mut Fsm<'_, Puppet>, table: &mut Table<'_>) {
        if puppet.updates_left == 0 {
            return;
        }
        if let Some(poll) = &mut puppet.poll {
            poll.settle();
            if poll.is_asleep() {
                return;
            }
        }
        puppet.updates_left -= 1;
        self.call(Callback::Update, puppet, fsm, table);
    }

    fn exit(&self, puppet: &mut Puppet, fsm: &mut Fsm<'_, Puppet>, table: &mut Table<'_>) {
        self.call(Callback::Exit, puppet, fsm, table);
        puppet.poll.iter_mut().for_each(|poll| poll.leave(self.id, false));
    }

    fn on_message(&self, puppet: &mut Puppet, from: &Origin, fsm: &mut Fsm<'_, Puppet>, table: &mut Table<'_>) -> bool {
        if let (Some(poll), Origin::Game) = (&mut puppet.poll, from) {
            poll.settle();
        }
        let is_handled = self.call(Callback::Message, puppet, fsm, table);
        puppet.poll.iter_mut().filter(|_| is_handled).for_each(|poll| _ = poll.wake());
        is_handled
    }

    fn suspend(&self, puppet: &mut Puppet, fsm: &mut Fsm<'_, Puppet>, table: &mut Table<'_>) {
        let knows_stacks = table.program.states[usize::from(self.id)].knows_stacks;
        self.call(if knows_stacks { Callback::Suspend } else { Callback::Exit }, puppet, fsm, table);
        puppet.poll.iter_mut().for_each(|poll| poll.leave(self.id, true));
    }

    fn resume(&self, puppet: &mut Puppet, fsm: &mut Fsm<'_, Puppet>, table: &mut Table<'_>) {
        let knows_stacks = table.program.states[usize::from(self.id)].knows_stacks;
        puppet.poll.iter_mut().for_each(|poll| poll.resume(self.id));
        self.call(if knows_stacks { Callback::Resume } else { Callback::Enter }, puppet, fsm, table);
    }

    fn can_enter(&self, puppet: &Puppet, fsm: &Fsm<'_, Puppet>, table: &Table<'_>) -> bool {
        self.ask(Guard::CanEnter, puppet, fsm, table)
    }

    fn can_exit(&self, puppet: &Puppet, fsm: &Fsm<'_, Puppet>, table: &Table<'_>) -> bool {
        self.ask(Guard::CanExit, puppet, fsm, table)
    }

    fn parent(&self) -> Option<StateRef<Puppet>> {
        // A child knows its parent as one object, even if that is an owned state.
        self.forms.form(self.id).parent.map(|parent| self.forms.form(parent).reference.clone())
    }

    fn initial(&self) -> Option<StateRef<Puppet>> {
        self.forms.form(self.id).initial.map(|initial| self.forms.reference(initial))
    }

    fn regions(&self) -> Vec<StateRef<Puppet>> {
        self.forms.form(self.id).regions.iter().map(|initial| self.forms.reference(*initial)).collect()
    }

    fn region(&self) -> usize {
        self.forms.form(self.id).region
    }

    fn keeps_history(&self) -> bool {
        self.forms.form(self.id).keeps_history
    }

    fn is_passive(&self) -> bool {
        self.forms.form(self.id).is_passive
    }

    fn update_all(&self, puppets: &mut [Puppet], fsm: &mut FsmSlice<'_, Puppet>, table: &mut Table<'_>) {
        let len = puppets.len();
        let mut update = |i: usize| self.update(&mut puppets[i], fsm.at(i), table);
        match self.forms.form(self.id).order {
            Order::Forward => (0..len).for_each(update),
            Order::Backward => (0..len).rev().for_each(update),
            Order::Twofold => {
                (0..len).step_by(2).for_each(&mut update);
                (1..len).step_by(2).for_each(update);
            }
        }
    }
}

/// The states by number.
pub(crate) fn ids() -> std::ops::Range<Id> {
    0..STATES
}
