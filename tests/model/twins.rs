//! Rule 32: a machine with regions does the same as one machine for each region, as long as no region requests anything outside of
//! itself. The same random programs run in both ways, and the traces are compared.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt;

use demeanor::{Change, Fsm, NextWake, Owner, State, StateMachine, StateRef};
use proptest::prelude::*;

use crate::cases::cases;
use crate::compared;
#[cfg(feature = "serde")]
use crate::driven::saving;
use crate::program::{Callback, Guard, Id, LIMIT, Program, Read, STATES, StateRow, Step, Verb, program};
use crate::told_panic::{caught, panic_as_told};
use crate::verbs::use_verb;

proptest! {
    #![proptest_config(cases(128))]

    /// A single region is like a machine, also with messages to oneself.
    #[test]
    fn a_region_does_what_a_machine_does(program in program()) {
        compare(&[program])?;
    }

    #[test]
    fn two_regions_do_what_two_machines_do(programs in [program(), program()]) {
        compare(&programs)?;
    }
}

fn compare(programs: &[Program]) -> Result<(), TestCaseError> {
    let (expected, seen) = (run(programs, false), run(programs, true));
    match compared::difference("regions", &seen, &expected) {
        Some(difference) => Err(TestCaseError::fail(difference)),
        None => Ok(()),
    }
}

/// The states of a program begin at these numbers. Each has a further state, in which its machine begins.
const EACH: Id = STATES + 1;
const BEGIN: Id = STATES;
const COMPOSITE: Id = 2 * EACH;

struct Node(Id);

static NODES: [Node; COMPOSITE as usize + 1] = {
    let mut nodes = [const { Node(0) }; COMPOSITE as usize + 1];
    let mut id = 0;
    while id <= COMPOSITE {
        nodes[id as usize] = Node(id);
        id += 1;
    }
    nodes
};

/// The owner: the number of requests that its callbacks may still make, and what has happened.
#[derive(Default)]
struct Twin {
    fuel: u32,
    fuse: Cell<u32>,
    events: RefCell<Vec<String>>,
}

struct Table<'p> {
    programs: &'p [Program],
    counter: u32,
    seconds: f64,
}

thread_local! {
    static PROGRAMS: RefCell<Vec<Program>> = const { RefCell::new(Vec::new()) };
    static HAS_REGIONS: Cell<bool> = const { Cell::new(false) };
}

impl Owner for Twin {
    type Context<'a> = Table<'a>;
    type Message = ();

    fn now(table: &Table<'_>) -> f64 {
        table.seconds + if table.programs[0].clock_counts { f64::from(table.counter) } else { 0.0 }
    }

    fn on_change(&mut self, change: &Change<'_, Self>, _: &mut Table<'_>) {
        self.record(format!("{}", Shown(change)));
    }

    fn after_change(&mut self, change: &Change<'_, Self>, _: &mut Table<'_>) {
        self.record(format!("complete: {}", Shown(change)));
    }
}

/// A change without the name of the state in whose region it is.
struct Shown<'c>(&'c Change<'c, Twin>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(change) = self;
        let of = change.within.map(|state| state.name().into_owned());
        assert_eq!(of, HAS_REGIONS.get().then(|| COMPOSITE.to_string()), "a change in a region says so");
        f.write_str(&change.to_string().replace(&format!(" in {COMPOSITE} "), " "))
    }
}

impl Twin {
    fn record(&self, event: String) {
        self.events.borrow_mut().push(event);
        let is_last = self.fuse.get() == 1;
        self.fuse.set(self.fuse.get().saturating_sub(1));
        if is_last {
            panic_as_told();
        }
    }

    /// Makes a request of a state of one program, unless it would reach another region.
    fn use_verb(&mut self, verb: Verb, first: Id, fsm: &mut Fsm<'_, Self>, table: &mut Table<'_>) {
        if self.fuel == 0 {
            return;
        }
        self.fuel -= 1;
        let to = |id: Id| StateRef::from(&NODES[usize::from(first + id)]);
        let is_message =
            matches!(verb, Verb::Send | Verb::SendAfter(_) | Verb::SendEvery(_) | Verb::SendAhead | Verb::SendNow);
        let outcome = match verb {
            // What a callback does after it has caught a panic differs (rule 32).
            Verb::TryChangeNow(_) | Verb::TrySendNow => None,
            // Messages to oneself reach all regions.
            _ if is_message && table.programs.len() > 1 => None,
            Verb::CancelTo(id) => Some(Ok(fsm.cancel(|pending| pending.is_to(&*to(id))) > 0)),
            _ => use_verb(verb, self, fsm, table, to, &()),
        };
        if let Some(Ok(done)) = outcome {
            self.record(format!("{done:?} to {:?}", fsm.target().map(StateRef::to_string)));
        }
    }
}

/// Returns what a handle shows, without the state whose regions the programs run in.
fn seen(fsm: &Fsm<'_, Twin>, table: &Table<'_>) -> String {
    let around = usize::from(HAS_REGIONS.get());
    let path: Vec<_> = fsm.path().skip(around).map(|state| (state.to_string(), fsm.time_in(&**state, table))).collect();
    assert_eq!(fsm.current().map(StateRef::to_string), path.last().map(|(name, _)| name.clone()));
    assert!(fsm.path().all(|state| fsm.is_in_state(&**state)), "all states of a path are active");
    let (previous, target) = (fsm.previous().map(StateRef::to_string), fsm.target().map(StateRef::to_string));
    format!("{path:?}, was {previous:?}, to {target:?}, {}, {}", fsm.has_requests(), fsm.time_in_state(table))
}

impl Node {
    fn program(&self) -> usize {
        usize::from(self.0 / EACH)
    }

    /// Returns the number of the state in its program; `None` for the states that are in no program.
    fn id(&self) -> Option<Id> {
        Some(self.0 % EACH).filter(|id| *id < STATES && self.0 != COMPOSITE)
    }

    fn row<R>(&self, read: impl FnOnce(&StateRow) -> R) -> Option<R> {
        let id = self.id()?;
        PROGRAMS.with_borrow(|programs| Some(read(&programs[self.program()].states[usize::from(id)])))
    }

    fn sibling(&self, id: Id) -> StateRef<Twin> {
        (&NODES[usize::from(self.0 - self.0 % EACH + id)]).into()
    }

    fn call(&self, callback: Callback, twin: &mut Twin, fsm: &mut Fsm<'_, Twin>, table: &mut Table<'_>) -> bool {
        let Some(id) = self.id() else { return false };
        twin.record(format!("{}.{callback:?}: {}", self.0, seen(fsm, table)));
        let counter = table.counter;
        table.counter += 1;
        let program = &table.programs[self.program()];
        for verb in program.verbs(id, callback, counter) {
            twin.use_verb(verb, self.0 - id, fsm, table);
        }
        program.handles(id, counter)
    }

    fn ask(&self, guard: Guard, twin: &Twin, fsm: &Fsm<'_, Twin>, table: &Table<'_>) -> bool {
        let Some(id) = self.id() else { return true };
        let number = |state: Option<&StateRef<Twin>>| {
            state.and_then(|state| state.downcast_ref::<Node>()).map_or(0, |node| u32::from(node.0) + 1)
        };
        let program = &table.programs[self.program()];
        let read = match program.states[usize::from(id)].reads {
            Read::Counter => table.counter,
            Read::Time => u32::from(fsm.time_in_state(table) > 3.0),
            Read::Target => number(fsm.target()),
            Read::Previous => number(fsm.previous()),
            Read::Requests => u32::from(fsm.has_requests()),
        };
        let allowed = program.allows(id, guard, read);
        twin.record(format!("{}.{guard:?}: {}, {allowed}", self.0, seen(fsm, table)));
        allowed
    }
}

impl State<Twin> for Node {
    fn enter(&self, twin: &mut Twin, fsm: &mut Fsm<'_, Twin>, table: &mut Table<'_>) {
        self.call(Callback::Enter, twin, fsm, table);
    }

    fn update(&self, twin: &mut Twin, fsm: &mut Fsm<'_, Twin>, table: &mut Table<'_>) {
        self.call(Callback::Update, twin, fsm, table);
    }

    fn exit(&self, twin: &mut Twin, fsm: &mut Fsm<'_, Twin>, table: &mut Table<'_>) {
        self.call(Callback::Exit, twin, fsm, table);
    }

    fn on_message(&self, twin: &mut Twin, (): &(), fsm: &mut Fsm<'_, Twin>, table: &mut Table<'_>) -> bool {
        self.call(Callback::Message, twin, fsm, table)
    }

    fn suspend(&self, twin: &mut Twin, fsm: &mut Fsm<'_, Twin>, table: &mut Table<'_>) {
        self.call(Callback::Suspend, twin, fsm, table);
    }

    fn resume(&self, twin: &mut Twin, fsm: &mut Fsm<'_, Twin>, table: &mut Table<'_>) {
        self.call(Callback::Resume, twin, fsm, table);
    }

    fn can_enter(&self, twin: &Twin, fsm: &Fsm<'_, Twin>, table: &Table<'_>) -> bool {
        self.ask(Guard::CanEnter, twin, fsm, table)
    }

    fn can_exit(&self, twin: &Twin, fsm: &Fsm<'_, Twin>, table: &Table<'_>) -> bool {
        self.ask(Guard::CanExit, twin, fsm, table)
    }

    fn parent(&self) -> Option<StateRef<Twin>> {
        let around = (HAS_REGIONS.get() && self.0 != COMPOSITE).then(|| (&NODES[usize::from(COMPOSITE)]).into());
        self.row(|row| row.parent).flatten().map(|id| self.sibling(id)).or(around)
    }

    fn initial(&self) -> Option<StateRef<Twin>> {
        self.row(|row| row.initial).flatten().map(|id| self.sibling(id))
    }

    fn regions(&self) -> Vec<StateRef<Twin>> {
        let count = if self.0 == COMPOSITE { PROGRAMS.with_borrow(Vec::len) } else { 0 };
        (0..count).map(|nth| begin(nth).into()).collect()
    }

    fn region(&self) -> usize {
        self.program()
    }

    fn keeps_history(&self) -> bool {
        self.row(|row| row.keeps_history).unwrap_or(false)
    }

    fn is_passive(&self) -> bool {
        self.row(|row| row.is_passive).unwrap_or(true)
    }

    fn name(&self) -> Cow<'_, str> {
        self.0.to_string().into()
    }
}

/// Returns the state in which the machine of a program begins.
fn begin(nth: usize) -> &'static Node {
    &NODES[nth * usize::from(EACH) + usize::from(BEGIN)]
}

/// Runs the programs on one machine with regions, or each on a machine of its own. Returns the trace.
fn run(programs: &[Program], has_regions: bool) -> Vec<String> {
    PROGRAMS.set(programs.to_vec());
    HAS_REGIONS.set(has_regions);
    let mut twin = Twin::default();
    let mut table = Table { programs, counter: 0, seconds: 0.0 };
    let mut machines: Vec<StateMachine<Twin>> = if has_regions {
        vec![StateMachine::new(&NODES[usize::from(COMPOSITE)])]
    } else {
        // The global state declines each message behind the others, as the state with regions does.
        let global = &NODES[usize::from(COMPOSITE)];
        (0..programs.len()).map(|nth| StateMachine::new(begin(nth)).with_global(global)).collect()
    };
    for machine in &mut machines {
        machine.set_limit(LIMIT);
        machine.start(&mut twin, &mut table);
    }
    for (nth, program) in programs.iter().enumerate() {
        let machine = nth.min(machines.len() - 1);
        let first = Step::Outside(Verb::Change(program.current.unwrap_or(0)));
        for step in [first].iter().chain(&program.steps) {
            twin.fuel = program.fuel;
            twin.events.borrow_mut().push(format!("{step:?}"));
            let outcome = caught(|| take(step, nth, machine, &mut machines, &mut twin, &mut table));
            #[cfg(feature = "serde")]
            for machine in &mut machines {
                let loaded = saving::saved_and_loaded(machine, &NODES, Twin::now(&table));
                if *step == Step::Load {
                    *machine = loaded.with_limit(LIMIT);
                }
            }
            twin.events.borrow_mut().push(format!("{outcome:?} {}", shown(&machines, &table)));
        }
    }
    twin.events.take()
}

/// Returns the active states between two steps, with their times, and whether there is anything to update.
fn shown(machines: &[StateMachine<Twin>], table: &Table<'_>) -> String {
    let active = machines.iter().flat_map(|machine| machine.active_states().map(move |state| (machine, state)));
    let active = active.filter(|(_, state)| state.name() != COMPOSITE.to_string());
    let times: Vec<_> = active.map(|(machine, state)| (state.to_string(), machine.time_in(&**state, table))).collect();
    let pending: Vec<_> = machines.iter().flat_map(StateMachine::pending).map(|timer| timer.to_string()).collect();
    let sleep = machines.iter().all(|machine| machine.next_wake() != NextWake::EveryTick);
    format!("{times:?} {pending:?} {sleep}")
}

/// Takes a step of the program `nth`. Returns whether something was done.
fn take(
    step: &Step,
    nth: usize,
    machine: usize,
    machines: &mut [StateMachine<Twin>],
    twin: &mut Twin,
    table: &mut Table<'_>,
) -> bool {
    let to = |id: Id| &NODES[nth * usize::from(EACH) + usize::from(id)];
    match step {
        Step::Advance(seconds) => table.seconds += f64::from(i32::try_from(*seconds).unwrap_or(i32::MAX)),
        Step::Update => machines.iter_mut().for_each(|machine| machine.update(twin, table)),
        Step::Send => {
            let mut is_handled = false;
            for machine in machines {
                is_handled |= machine.send(twin, &(), table);
            }
            return is_handled;
        }
        Step::Wake => machines.iter_mut().for_each(|machine| _ = machine.wake()),
        Step::Clone => machines.iter_mut().for_each(|machine| *machine = machine.clone()),
        Step::Fuse(events) => twin.fuse.set(*events),
        Step::Outside(Verb::Change(id)) => return machines[machine].change_state(twin, to(*id), table),
        Step::Outside(Verb::Ensure(id)) => return machines[machine].ensure_state(twin, to(*id), table),
        Step::Outside(Verb::Force(id)) => return machines[machine].force_state(twin, to(*id), table),
        Step::Outside(Verb::Resume(id)) => return machines[machine].resume_state(twin, to(*id), table),
        Step::SetCurrent(id) => machines[machine].set_current(to(*id)),
        // The other steps concern the whole machine.
        _ => {}
    }
    false
}
