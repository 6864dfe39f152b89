//! Runs the program on a real machine, with states that look up their acts in the program.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use demeanor::{Change, Fsm, NextWake, Outcome, Owner, Refusal, State, StateMachine, StateRef};

use crate::program::{
    Callback, End, Event, Guard, Id, LIMIT, Made, Program, Read, STATES, Seen, Step, Verb, Wait, Wake,
};
use crate::told_panic::{Panicked, caught, panic_as_told};
use crate::verbs::use_verb;

/// The owner of the machine.
#[derive(Default)]
struct Puppet {
    fuel: u32,
    /// After how many more events an event panics; 0 if none does.
    fuse: Cell<u32>,
    events: RefCell<Vec<Event>>,
}

/// The context: the program, a counter of callbacks, and a clock.
struct Table<'p> {
    program: &'p Program,
    counter: u32,
    /// The clock's time, without the callbacks that it may count.
    seconds: i64,
}

impl Owner for Puppet {
    type Context<'a> = Table<'a>;
    type Message = ();

    fn now(table: &Table<'_>) -> f64 {
        may_be_trapped();
        let counted = if table.program.clock_counts { f64::from(table.counter) } else { 0.0 };
        exact(table.seconds) + counted
    }

    fn on_change(&mut self, change: &Change<'_, Self>, _: &mut Table<'_>) {
        let refused_by = match &change.outcome {
            Outcome::Taken => None,
            Outcome::Refused(Refusal::Enter(state)) => Some((Guard::CanEnter, id_of(state))),
            Outcome::Refused(Refusal::Exit(state)) => Some((Guard::CanExit, id_of(state))),
            Outcome::Abandoned(state) => return self.record_end(change, End::Abandoned, state),
            Outcome::Stayed(state) => return self.record_end(change, End::Stayed, state),
            other => unreachable!("an outcome that is new here: {}", std::any::type_name_of_val(other)),
        };
        let cause = cause_of(change);
        self.record(Event::Told(change.from.map(id_of), change.to.map(id_of), cause, refused_by));
    }

    fn after_change(&mut self, change: &Change<'_, Self>, _: &mut Table<'_>) {
        assert!(change.is_taken(), "nobody is told that a refused change is complete");
        self.record(Event::Completed(change.from.map(id_of), change.to.map(id_of), cause_of(change)));
    }

    fn after_update(&mut self, fsm: &Fsm<'_, Self>, table: &mut Table<'_>) {
        self.record(Event::Updated(seen_by(fsm, table)));
    }
}

/// Returns the cause of a change, and the state in whose region it is made.
fn cause_of(change: &Change<'_, Puppet>) -> String {
    let within = change.within.map(id_of);
    within.map_or_else(|| change.cause.to_string(), |within| format!("{} in {within}", change.cause))
}

impl Puppet {
    fn record_end(&self, change: &Change<'_, Self>, end: End, state: &StateRef<Self>) {
        let cause = cause_of(change);
        self.record(Event::Ended(change.from.map(id_of), change.to.map(id_of), cause, end, id_of(state)));
    }

    fn note(&self, event: Event) {
        self.events.borrow_mut().push(event);
    }

    fn record(&self, event: Event) {
        self.note(event);
        let is_last = self.fuse.get() == 1;
        self.fuse.set(self.fuse.get().saturating_sub(1));
        if is_last {
            panic_as_told();
        }
    }

    fn use_verb(&mut self, verb: Verb, fsm: &mut Fsm<'_, Self>, table: &mut Table<'_>) {
        if self.fuel == 0 {
            return;
        }
        self.fuel -= 1;
        if let Some(outcome) = use_verb(verb, self, fsm, table, reference, &()) {
            let target = fsm.target().map(id_of);
            self.record(outcome.map_or(Event::Caught(target), |done| Event::Now(done, target)));
        }
    }
}

#[derive(Clone)]
struct Node(Id);

static POOL: [Node; STATES as usize] = [Node(0), Node(1), Node(2), Node(3), Node(4), Node(5), Node(6), Node(7)];

/// The methods of a state that are constant and are called without a context.
struct Form {
    reference: StateRef<Puppet>,
    parent: Option<Id>,
    initial: Option<Id>,
    regions: Vec<Id>,
    region: usize,
    keeps_history: bool,
    is_passive: bool,
}

thread_local! {
    static FORMS: RefCell<Vec<Form>> = const { RefCell::new(Vec::new()) };
    /// Every how many calls the clock or a method of a state panics, and how many calls are left until the next panic.
    static TRAP: Cell<Option<(u32, u32)>> = const { Cell::new(None) };
}

/// Panics at the calls that the trap is set for. Called by the game's code that a machine asks for data.
fn may_be_trapped() {
    if let Some((every, left)) = TRAP.get() {
        TRAP.set(Some((every, if left == 1 { every } else { left - 1 })));
        // A second panic during unwinding would end the process.
        if left == 1 && !std::thread::panicking() {
            panic_as_told();
        }
    }
}

fn reference(state: Id) -> StateRef<Puppet> {
    FORMS.with_borrow(|forms| forms[usize::from(state)].reference.clone())
}

fn id_of(state: &StateRef<Puppet>) -> Id {
    let id = state.downcast_ref::<Node>().expect("all states are nodes").0;
    assert_eq!(*state, reference(id), "a reference stays the same state");
    id
}

/// Returns what a handle or a machine shows.
fn seen<'a>(
    current: Option<&StateRef<Puppet>>,
    previous: Option<&StateRef<Puppet>>,
    path: impl Iterator<Item = &'a StateRef<Puppet>>,
    active: impl Iterator<Item = &'a StateRef<Puppet>>,
    is_in: impl Fn(&dyn State<Puppet>) -> bool,
    time_in: impl Fn(&dyn State<Puppet>) -> Option<f64>,
) -> Seen {
    let path: Vec<_> = path.map(id_of).collect();
    // In a region without a state, the path ends at the state whose region it is.
    assert!(current.is_none_or(|current| path.last() == Some(&id_of(current))), "the path ends at current");
    let active: Vec<_> = active.map(id_of).collect();
    assert!(path.iter().all(|state| active.contains(state)), "the path is active");
    for state in 0..STATES {
        let is_active = active.contains(&state);
        assert_eq!(is_in(&*reference(state)), is_active, "is_in_state agrees with the path");
        assert_eq!(time_in(&*reference(state)).is_some(), is_active, "time_in agrees with the path");
    }
    let times = path.iter().map(|state| whole(time_in(&*reference(*state)).expect("it is active"))).collect();
    Seen { previous: previous.map(id_of), path, times, target: None, has_requests: false }
}

#[expect(clippy::cast_possible_truncation, reason = "the clock shows whole seconds, fewer than 2^53")]
fn whole(time: f64) -> i64 {
    time as i64
}

#[expect(clippy::cast_precision_loss, reason = "the clock shows fewer than 2^53 seconds")]
fn exact(seconds: i64) -> f64 {
    seconds as f64
}

fn seen_by(fsm: &Fsm<'_, Puppet>, table: &Table<'_>) -> Seen {
    let is_in = |state: &dyn State<Puppet>| fsm.is_in_state(state);
    let time_in = |state: &dyn State<Puppet>| fsm.time_in(state, table);
    let seen = seen(fsm.current(), fsm.previous(), fsm.path(), fsm.active_states(), is_in, time_in);
    let last = seen.times.last().copied().filter(|_| fsm.current().is_some());
    let time = last.unwrap_or_else(|| whole(Puppet::now(table)));
    assert_eq!(whole(fsm.time_in_state(table)), time, "time_in_state is the time of current");
    Seen { target: fsm.target().map(id_of), has_requests: fsm.has_requests(), ..seen }
}

impl Node {
    fn call(&self, callback: Callback, puppet: &mut Puppet, fsm: &mut Fsm<'_, Puppet>, table: &mut Table<'_>) -> bool {
        puppet.record(Event::Called(self.0, callback, seen_by(fsm, table)));
        let counter = table.counter;
        table.counter += 1;
        for verb in table.program.verbs(self.0, callback, counter) {
            puppet.use_verb(verb, fsm, table);
        }
        table.program.handles(self.0, counter)
    }

    fn ask(&self, guard: Guard, puppet: &Puppet, fsm: &Fsm<'_, Puppet>, table: &Table<'_>) -> bool {
        let number = match table.program.states[usize::from(self.0)].reads {
            Read::Counter => table.counter,
            Read::Time => whole(fsm.time_in_state(table)).rem_euclid(8).try_into().expect("below 8"),
            Read::Target => fsm.target().map_or(0, |state| u32::from(id_of(state)) + 1),
            Read::Previous => fsm.previous().map_or(0, |state| u32::from(id_of(state)) + 1),
            Read::Requests => u32::from(fsm.has_requests()),
        };
        let allowed = table.program.allows(self.0, guard, number);
        puppet.record(Event::Asked(self.0, guard, seen_by(fsm, table), allowed));
        allowed
    }
}

impl State<Puppet> for Node {
    fn enter(&self, puppet: &mut Puppet, fsm: &mut Fsm<'_, Puppet>, table: &mut Table<'_>) {
        self.call(Callback::Enter, puppet, fsm, table);
    }

    fn update(&self, puppet: &mut Puppet, fsm: &mut Fsm<'_, Puppet>, table: &mut Table<'_>) {
        self.call(Callback::Update, puppet, fsm, table);
    }

    fn exit(&self, puppet: &mut Puppet, fsm: &mut Fsm<'_, Puppet>, table: &mut Table<'_>) {
        self.call(Callback::Exit, puppet, fsm, table);
    }

    fn on_message(&self, puppet: &mut Puppet, (): &(), fsm: &mut Fsm<'_, Puppet>, table: &mut Table<'_>) -> bool {
        self.call(Callback::Message, puppet, fsm, table)
    }

    fn suspend(&self, puppet: &mut Puppet, fsm: &mut Fsm<'_, Puppet>, table: &mut Table<'_>) {
        let knows_stacks = table.program.states[usize::from(self.0)].knows_stacks;
        self.call(if knows_stacks { Callback::Suspend } else { Callback::Exit }, puppet, fsm, table);
    }

    fn resume(&self, puppet: &mut Puppet, fsm: &mut Fsm<'_, Puppet>, table: &mut Table<'_>) {
        let knows_stacks = table.program.states[usize::from(self.0)].knows_stacks;
        self.call(if knows_stacks { Callback::Resume } else { Callback::Enter }, puppet, fsm, table);
    }

    fn can_enter(&self, puppet: &Puppet, fsm: &Fsm<'_, Puppet>, table: &Table<'_>) -> bool {
        self.ask(Guard::CanEnter, puppet, fsm, table)
    }

    fn can_exit(&self, puppet: &Puppet, fsm: &Fsm<'_, Puppet>, table: &Table<'_>) -> bool {
        self.ask(Guard::CanExit, puppet, fsm, table)
    }

    fn parent(&self) -> Option<StateRef<Puppet>> {
        may_be_trapped();
        FORMS.with_borrow(|forms| forms[usize::from(self.0)].parent).map(reference)
    }

    fn initial(&self) -> Option<StateRef<Puppet>> {
        may_be_trapped();
        FORMS.with_borrow(|forms| forms[usize::from(self.0)].initial).map(reference)
    }

    fn regions(&self) -> Vec<StateRef<Puppet>> {
        may_be_trapped();
        FORMS.with_borrow(|forms| forms[usize::from(self.0)].regions.clone()).into_iter().map(reference).collect()
    }

    fn region(&self) -> usize {
        may_be_trapped();
        FORMS.with_borrow(|forms| forms[usize::from(self.0)].region)
    }

    fn keeps_history(&self) -> bool {
        may_be_trapped();
        FORMS.with_borrow(|forms| forms[usize::from(self.0)].keeps_history)
    }

    fn is_passive(&self) -> bool {
        may_be_trapped();
        FORMS.with_borrow(|forms| forms[usize::from(self.0)].is_passive)
    }
}

/// Runs the program on a machine. Returns its events.
pub(crate) fn run(program: &Program) -> Vec<Event> {
    run_with(program, None)
}

/// Runs the program on a machine. Every `every`-th call of the clock or of a state's method panics. Guards and callbacks do
/// not count.
pub(crate) fn run_into_traps(program: &Program, every: u32) {
    run_with(program, Some((every, every)));
}

fn run_with(program: &Program, mut trap: Option<(u32, u32)>) -> Vec<Event> {
    let forms = (0..).zip(&program.states).map(|(id, row)| Form {
        reference: match row.made {
            Made::Static => (&POOL[usize::from(id)]).into(),
            Made::Shared => Arc::new(Node(id)).into(),
            Made::Owned => Box::new(Node(id)).into(),
        },
        parent: row.parent,
        initial: row.initial,
        regions: row.regions.clone(),
        region: row.region,
        keeps_history: row.keeps_history,
        is_passive: row.is_passive,
    });
    FORMS.set(forms.collect());

    let mut machine = program.current.map_or_else(StateMachine::idle, |state| StateMachine::new(reference(state)));
    if let Some(global) = program.global {
        machine.set_global(reference(global));
    }
    machine.set_limit(LIMIT);
    let mut puppet = Puppet::default();
    let mut table = Table { program, counter: 0, seconds: 0 };
    for step in &program.steps {
        puppet.fuel = program.fuel;
        puppet.note(Event::Step(step.clone()));
        TRAP.set(trap);
        let outcome = caught(|| take(step, &mut machine, &mut puppet, &mut table));
        trap = TRAP.replace(None);
        match outcome {
            Ok(Some(returned)) => puppet.note(Event::Returned(returned)),
            Ok(None) => {}
            Err(Panicked) => puppet.note(Event::Panicked),
        }
        #[cfg(feature = "serde")]
        {
            let loaded = saving::saved_and_loaded(&machine, (0..STATES).map(reference), Puppet::now(&table));
            if *step == Step::Load {
                machine = loaded.with_limit(LIMIT);
            }
        }
        let is_in = |state: &dyn State<Puppet>| machine.is_in_state(state);
        let time_in = |state: &dyn State<Puppet>| machine.time_in(state, &table);
        let active = machine.active_states();
        let seen = seen(machine.current(), machine.previous(), machine.path(), active, is_in, time_in);
        let time = seen.times.last().copied().unwrap_or_else(|| whole(Puppet::now(&table)));
        assert_eq!(whole(machine.time_in_state(&table)), time, "time_in_state is the time of current");
        let wake = match machine.next_wake() {
            NextWake::EveryTick => Wake::EveryTick,
            NextWake::At(seconds) => Wake::At(seconds),
            NextWake::Never => Wake::Never,
        };
        puppet.note(Event::At(seen, machine.active_states().map(id_of).collect(), wake));
    }
    puppet.events.take()
}

fn take(step: &Step, machine: &mut StateMachine<Puppet>, puppet: &mut Puppet, table: &mut Table<'_>) -> Option<bool> {
    match step {
        Step::Advance(seconds) => table.seconds += seconds,
        Step::Wake => return Some(machine.wake()),
        Step::Start => machine.start(puppet, table),
        Step::Stop => machine.stop(puppet, table),
        Step::Update => machine.update(puppet, table),
        Step::Send => return Some(machine.send(puppet, &(), table)),
        Step::Outside(verb) => {
            return match *verb {
                Verb::Change(to) => Some(machine.change_state(puppet, reference(to), table)),
                Verb::Ensure(to) => Some(machine.ensure_state(puppet, reference(to), table)),
                Verb::Force(to) => Some(machine.force_state(puppet, reference(to), table)),
                Verb::Revert => Some(machine.revert_state(puppet, table)),
                Verb::Push(over) => Some(machine.push_state(puppet, reference(over), table)),
                Verb::Pop => Some(machine.pop_state(puppet, table)),
                Verb::Resume(composite) => Some(machine.resume_state(puppet, reference(composite), table)),
                Verb::ChangeAfter(wait, to) => {
                    Some(machine.change_state_after(puppet, wait.seconds(), reference(to), table))
                }
                Verb::ChangeNext(to) => Some(machine.change_state_next(puppet, reference(to), table)),
                Verb::SendAfter(wait) => Some(machine.send_after(puppet, wait.seconds(), (), table)),
                Verb::SendEvery(wait) => Some(machine.send_every(puppet, wait.seconds(), (), table)),
                Verb::Sleep(wait) => {
                    match wait {
                        Wait::ForEver => machine.sleep(),
                        wait => machine.sleep_for(puppet, wait.seconds(), table),
                    }
                    None
                }
                verb => {
                    assert!(verb.is_of_a_handle(), "a machine has it");
                    None
                }
            };
        }
        Step::With(verbs) => machine.with(puppet, table, |puppet, fsm, table| {
            for verb in verbs {
                puppet.use_verb(*verb, fsm, table);
            }
        }),
        Step::SetCurrent(state) => machine.set_current(reference(*state)),
        Step::SetPrevious(state) => machine.set_previous(reference(*state)),
        Step::SetGlobal(state) => machine.set_global(reference(*state)),
        Step::Clone => *machine = machine.clone(),
        // Loading happens after this step.
        Step::Load => {}
        Step::Fuse(events) => puppet.fuse.set(*events),
    }
    None
}

#[cfg(feature = "serde")]
pub(crate) mod saving {
    //! A saved machine is loaded and saved again. Both saved values are the same (rule 27).

    use demeanor::{IntoState, Owner, StateBook, StateMachine};

    pub(crate) fn saved_and_loaded<T: Owner<Message = ()>>(
        machine: &StateMachine<T>,
        states: impl IntoIterator<Item = impl IntoState<T>>,
        now: f64,
    ) -> StateMachine<T> {
        let named = states.into_iter().enumerate();
        let book = named.fold(StateBook::new(), |book, (id, state)| book.with_name(id.to_string(), state));
        let book = book.with_messages();
        let saved = machine.save(&book, now).expect("the book knows all states");
        let bytes = postcard::to_allocvec(&saved).expect("it can be written");
        let mut loaded = book.load(saved, now).expect("it has just been saved");
        let again = loaded.save(&book, now).expect("the book knows all states");
        assert_eq!(postcard::to_allocvec(&again).expect("it can be written"), bytes, "it is saved again the same");
        assert_eq!(loaded.digest(), machine.digest(), "the digest");
        if let Some(global) = machine.global() {
            loaded.set_global(global);
        }
        loaded
    }
}
