//! The program on a real machine: states that look up in the table what to do.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use demeanor::{Change, Fsm, Outcome, Owner, Refusal, State, StateMachine, StateRef};

use crate::program::{Callback, Event, Guard, Id, Made, Program, STATES, Seen, Step, Verb};

/// The puppet that the states move.
#[derive(Default)]
struct Puppet {
    fuel: u32,
    events: RefCell<Vec<Event>>,
}

/// The program, and a clock that counts callbacks.
struct Table<'p> {
    program: &'p Program,
    counter: u32,
}

impl Owner for Puppet {
    type Context<'a> = Table<'a>;
    type Message = ();

    fn now(table: &Table<'_>) -> f64 {
        f64::from(table.counter)
    }

    fn on_change(&mut self, change: &Change<'_, Self>, _: &mut Table<'_>) {
        let refused_by = match &change.outcome {
            Outcome::Taken => None,
            Outcome::Refused(Refusal::Enter(state)) => Some((Guard::CanEnter, id_of(state))),
            Outcome::Refused(Refusal::Exit(state)) => Some((Guard::CanExit, id_of(state))),
            other => unreachable!("an outcome that is new here: {}", std::any::type_name_of_val(other)),
        };
        let cause = match change.cause.to_string().as_str() {
            "change" => "change",
            "revert" => "revert",
            "push" => "push",
            "pop" => "pop",
            "resume" => "resume",
            other => unreachable!("a cause that is new here: {other}"),
        };
        self.record(Event::Told(change.from.map(id_of), change.to.map(id_of), cause, refused_by));
    }
}

impl Puppet {
    fn record(&self, event: Event) {
        self.events.borrow_mut().push(event);
    }

    fn use_verb(&mut self, verb: Verb, fsm: &mut Fsm<'_, Self>, table: &mut Table<'_>) {
        if self.fuel == 0 {
            return;
        }
        self.fuel -= 1;
        match verb {
            Verb::Change(to) => fsm.change_state(reference(to)),
            Verb::ChangeNow(to) => {
                let done = fsm.change_state_now(self, reference(to), table);
                self.record(Event::Now(done));
            }
            Verb::Revert => fsm.revert_state(),
            Verb::Push(over) => fsm.push_state(reference(over)),
            Verb::Pop => fsm.pop_state(),
            Verb::Resume(composite) => fsm.resume_state(reference(composite)),
            // Without the panic hook's message: it is expected.
            Verb::Panic => resume_unwind(Box::new("told to panic")),
        }
    }
}

#[derive(Clone)]
struct Node(Id);

static POOL: [Node; STATES as usize] = [Node(0), Node(1), Node(2), Node(3), Node(4), Node(5), Node(6), Node(7)];

/// What is constant for a state and asked for without a context.
struct Form {
    reference: StateRef<Puppet>,
    parent: Option<Id>,
    initial: Option<Id>,
    keeps_history: bool,
}

thread_local! {
    static FORMS: RefCell<Vec<Form>> = const { RefCell::new(Vec::new()) };
}

fn reference(state: Id) -> StateRef<Puppet> {
    FORMS.with_borrow(|forms| forms[usize::from(state)].reference.clone())
}

fn id_of(state: &StateRef<Puppet>) -> Id {
    let id = state.downcast_ref::<Node>().expect("all states are nodes").0;
    assert_eq!(*state, reference(id), "a reference stays the same state");
    id
}

fn seen<'a>(
    current: Option<&StateRef<Puppet>>,
    previous: Option<&StateRef<Puppet>>,
    path: impl Iterator<Item = &'a StateRef<Puppet>>,
    is_in: impl Fn(&dyn State<Puppet>) -> bool,
    entered_at: f64,
) -> Seen {
    let path: Vec<_> = path.map(id_of).collect();
    for state in 0..STATES {
        assert_eq!(is_in(&*reference(state)), path.contains(&state), "is_in_state agrees with the path");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it counts callbacks")]
    Seen { current: current.map(id_of), previous: previous.map(id_of), path, entered_at: entered_at as u32 }
}

impl Node {
    fn call(&self, callback: Callback, puppet: &mut Puppet, fsm: &mut Fsm<'_, Puppet>, table: &mut Table<'_>) -> bool {
        let entered_at = f64::from(table.counter) - fsm.time_in_state(table);
        let seen = seen(fsm.current(), fsm.previous(), fsm.path(), |state| fsm.is_in_state(state), entered_at);
        puppet.record(Event::Called(self.0, callback, seen));
        let counter = table.counter;
        table.counter += 1;
        for verb in table.program.verbs(self.0, callback, counter) {
            puppet.use_verb(verb, fsm, table);
        }
        table.program.handles(self.0, counter)
    }

    fn ask(&self, guard: Guard, puppet: &Puppet, table: &Table<'_>) -> bool {
        let allowed = table.program.allows(self.0, guard, table.counter);
        puppet.record(Event::Asked(self.0, guard, allowed));
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

    fn can_enter(&self, puppet: &Puppet, table: &Table<'_>) -> bool {
        self.ask(Guard::CanEnter, puppet, table)
    }

    fn can_exit(&self, puppet: &Puppet, table: &Table<'_>) -> bool {
        self.ask(Guard::CanExit, puppet, table)
    }

    fn parent(&self) -> Option<StateRef<Puppet>> {
        FORMS.with_borrow(|forms| forms[usize::from(self.0)].parent).map(reference)
    }

    fn initial(&self) -> Option<StateRef<Puppet>> {
        FORMS.with_borrow(|forms| forms[usize::from(self.0)].initial).map(reference)
    }

    fn keeps_history(&self) -> bool {
        FORMS.with_borrow(|forms| forms[usize::from(self.0)].keeps_history)
    }
}

/// Runs the program on a machine and returns what happens.
pub(crate) fn run(program: &Program) -> Vec<Event> {
    let forms = (0..).zip(&program.states).map(|(id, row)| Form {
        reference: match row.made {
            Made::Static => (&POOL[usize::from(id)]).into(),
            Made::Shared => Arc::new(Node(id)).into(),
            Made::Owned => Box::new(Node(id)).into(),
        },
        parent: row.parent,
        initial: row.initial,
        keeps_history: row.keeps_history,
    });
    FORMS.set(forms.collect());

    let mut machine = program.current.map_or_else(StateMachine::idle, |state| StateMachine::new(reference(state)));
    if let Some(global) = program.global {
        machine.set_global(reference(global));
    }
    let mut puppet = Puppet::default();
    let mut table = Table { program, counter: 0 };
    for step in &program.steps {
        puppet.fuel = program.fuel;
        puppet.record(Event::Step(step.clone()));
        match catch_unwind(AssertUnwindSafe(|| take(step, &mut machine, &mut puppet, &mut table))) {
            Ok(Some(returned)) => puppet.record(Event::Returned(returned)),
            Ok(None) => {}
            Err(payload) if payload.is::<&str>() && payload.downcast_ref() == Some(&"told to panic") => {
                puppet.record(Event::Panicked);
            }
            Err(payload) => resume_unwind(payload),
        }
        let entered_at = f64::from(table.counter) - machine.time_in_state(&table);
        let is_in = |state: &dyn State<Puppet>| machine.is_in_state(state);
        let seen = seen(machine.current(), machine.previous(), machine.path(), is_in, entered_at);
        puppet.record(Event::At(seen));
    }
    puppet.events.take()
}

fn take(step: &Step, machine: &mut StateMachine<Puppet>, puppet: &mut Puppet, table: &mut Table<'_>) -> Option<bool> {
    match step {
        Step::Start => machine.start(puppet, table),
        Step::Stop => machine.stop(puppet, table),
        Step::Update => machine.update(puppet, table),
        Step::Send => return Some(machine.send(puppet, &(), table)),
        Step::Outside(verb) => {
            return match *verb {
                Verb::Change(to) => Some(machine.change_state(puppet, reference(to), table)),
                Verb::Revert => Some(machine.revert_state(puppet, table)),
                Verb::Push(over) => Some(machine.push_state(puppet, reference(over), table)),
                Verb::Pop => Some(machine.pop_state(puppet, table)),
                Verb::Resume(composite) => Some(machine.resume_state(puppet, reference(composite), table)),
                Verb::ChangeNow(_) | Verb::Panic => None,
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
    }
    None
}
