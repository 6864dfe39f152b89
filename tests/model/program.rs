//! A program: states in a table, the requests of their callbacks, and the steps of the game. Also the events of its run.
#![allow(dead_code, reason = "the tests of equivalence share the tables, not the steps and events")]

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// The limit of rule 13, so low that programs reach it.
pub(crate) const LIMIT: u32 = 64;

/// The number of a state in the program's table.
pub(crate) type Id = u8;

/// The number of states of a program.
pub(crate) const STATES: u8 = 8;

#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) states: Vec<StateRow>,
    pub(crate) lines: Vec<Line>,
    /// The machine's initial state. `None` for an idle machine.
    pub(crate) current: Option<Id>,
    pub(crate) global: Option<Id>,
    pub(crate) steps: Vec<Step>,
    /// Whether each callback advances the clock. [`Step::Advance`] changes it in any case.
    pub(crate) clock_counts: bool,
    /// The number of requests available to the callbacks of one step, so that each step ends.
    pub(crate) fuel: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct StateRow {
    pub(crate) parent: Option<Id>,
    pub(crate) initial: Option<Id>,
    /// The initial state of each region; none if it has no regions (rule 32).
    pub(crate) regions: Vec<Id>,
    /// In which of its parent's regions it lies.
    pub(crate) region: usize,
    pub(crate) keeps_history: bool,
    /// Whether it has its own `suspend` and `resume`.
    pub(crate) knows_stacks: bool,
    pub(crate) is_passive: bool,
    pub(crate) made: Made,
    /// The number on which the answers of its guards depend, modulo 8.
    pub(crate) reads: Read,
    /// The guards refuse for the numbers whose bits are set.
    pub(crate) refuses_enter: u8,
    pub(crate) refuses_exit: u8,
    /// It handles messages when the bit of the owner's counter is set.
    pub(crate) handles: u8,
}

/// The number that a guard reads (rule 8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Read {
    /// The owner's counter.
    #[default]
    Counter,
    /// The time in the current state.
    Time,
    Target,
    Previous,
    /// Whether there are pending requests.
    Requests,
}

/// The kind of reference to a state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Made {
    #[default]
    Static,
    Shared,
    Owned,
}

/// The acts of one callback of a state. They happen always, or in one of three phases of the owner's counter.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) state: Id,
    pub(crate) callback: Callback,
    pub(crate) phase: Option<u32>,
    pub(crate) verbs: Vec<Verb>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callback {
    Enter,
    Update,
    Exit,
    Message,
    Suspend,
    Resume,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    CanEnter,
    CanExit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Change(Id),
    /// In place of the changes that wait.
    Replace(Id),
    ChangeNow(Id),
    ChangeAhead(Id),
    PushNow(Id),
    PopNow,
    Ensure(Id),
    Force(Id),
    Revert,
    Push(Id),
    Pop,
    Resume(Id),
    Send,
    SendNow,
    SendAhead,
    /// Takes out all that waits.
    Clear,
    /// Ends the change under way here.
    Stay,
    /// Within the call, and the callback goes on if that panics.
    TryChangeNow(Id),
    TrySendNow,
    ChangeAfter(Wait, Id),
    ChangeNext(Id),
    SendAfter(Wait),
    SendEvery(Wait),
    PopAfter(Wait),
    /// Cancels the timers that change to this state.
    CancelTo(Id),
    CancelMessages,
    Sleep(Wait),
    Panic,
}

impl Verb {
    /// Returns whether only a handle has this method.
    pub(crate) fn is_of_a_handle(self) -> bool {
        self.is_now()
            || matches!(
                self,
                Self::Send
                    | Self::Replace(_)
                    | Self::Clear
                    | Self::CancelTo(_)
                    | Self::CancelMessages
                    | Self::Stay
                    | Self::PopAfter(_)
                    | Self::Panic
            )
    }

    /// Whether it acts within the call.
    pub(crate) fn is_now(self) -> bool {
        matches!(
            self,
            Self::ChangeNow(_)
                | Self::ChangeAhead(_)
                | Self::PushNow(_)
                | Self::PopNow
                | Self::SendNow
                | Self::SendAhead
                | Self::TryChangeNow(_)
                | Self::TrySendNow
        )
    }

    /// Whether it asks for a change of which the machine knows no more than that (rule 37).
    pub(crate) fn is_change(self) -> bool {
        matches!(
            self,
            Self::Change(_)
                | Self::Ensure(_)
                | Self::Force(_)
                | Self::Revert
                | Self::Push(_)
                | Self::Pop
                | Self::Resume(_)
        )
    }
}

/// For how many seconds to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Seconds(u8),
    Negative,
    NotANumber,
    ForEver,
}

impl Wait {
    pub(crate) fn seconds(self) -> f64 {
        match self {
            Self::Seconds(seconds) => seconds.into(),
            Self::Negative => -3.0,
            Self::NotANumber => f64::NAN,
            Self::ForEver => f64::INFINITY,
        }
    }
}

/// A step of the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The clock advances by a number of seconds, or goes back.
    Advance(i64),
    Wake,
    Start,
    Stop,
    Update,
    Send,
    /// A method of the machine. Methods that only a handle has do nothing here.
    Outside(Verb),
    /// Several requests through a lent handle.
    With(Vec<Verb>),
    SetCurrent(Id),
    SetPrevious(Id),
    SetGlobal(Id),
    /// Continues with a clone.
    Clone,
    /// Continues with a machine that has been saved and loaded.
    Load,
    /// After this many more events, an event panics.
    Fuse(u32),
}

/// The data of a machine that a callback or a guard can query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) previous: Option<Id>,
    pub(crate) path: Vec<Id>,
    /// How long each state of the path has been active, in seconds.
    pub(crate) times: Vec<i64>,
    pub(crate) target: Option<Id>,
    pub(crate) has_requests: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    Step(Step),
    Called(Id, Callback, Seen),
    Asked(Id, Guard, Seen, bool),
    /// The change that `on_change` received: from, to, cause, the guard that refused.
    Told(Option<Id>, Option<Id>, String, Option<(Guard, Id)>),
    /// The change that `after_change` received: from, to, cause.
    Completed(Option<Id>, Option<Id>, String),
    /// What `after_update` sees of the machine.
    Updated(Seen),
    /// The change that ended early, as `on_change` received it: from, to, cause, how and in which state.
    Ended(Option<Id>, Option<Id>, String, End, Id),
    /// The result of `change_state_now` or `send_now`, and the target for the rest of the callback.
    Now(bool, Option<Id>),
    /// A request has panicked, and the callback continues.
    Caught(Option<Id>),
    /// The result of the step's method.
    Returned(bool),
    Panicked,
    /// The machine between two steps, all its active states, and when it next has something to do.
    At(Seen, Vec<Id>, Wake),
}

/// How a change ended early (rule 38).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Abandoned,
    Stayed,
}

/// When a machine next has something to do (rule 26).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wake {
    EveryTick,
    At(f64),
    Never,
}

impl Program {
    /// Returns the requests of a callback. `counter` is the owner's.
    pub(crate) fn verbs(&self, state: Id, callback: Callback, counter: u32) -> Vec<Verb> {
        let is_now = |line: &&Line| {
            line.state == state && line.callback == callback && line.phase.is_none_or(|phase| phase == counter % 3)
        };
        self.lines.iter().filter(is_now).flat_map(|line| line.verbs.iter().copied()).collect()
    }

    /// Returns the answer of a guard that has [read](Read) `number`.
    pub(crate) fn allows(&self, state: Id, guard: Guard, number: u32) -> bool {
        let row = &self.states[usize::from(state)];
        let refuses = match guard {
            Guard::CanEnter => row.refuses_enter,
            Guard::CanExit => row.refuses_exit,
        };
        refuses >> (number % 8) & 1 == 0
    }

    pub(crate) fn handles(&self, state: Id, counter: u32) -> bool {
        self.states[usize::from(state)].handles >> (counter % 8) & 1 == 1
    }
}

pub(crate) fn id() -> impl Strategy<Value = Id> {
    0..STATES
}

/// Generates the numbers for which a guard refuses. Usually there are none.
fn refusals() -> impl Strategy<Value = u8> {
    prop_oneof![12 => Just(0), 2 => any::<u8>(), 2 => (0..8_u8).prop_map(|bit| 1 << bit), 1 => Just(u8::MAX)]
}

fn wait() -> impl Strategy<Value = Wait> {
    prop_oneof![
        12 => (0..6_u8).prop_map(Wait::Seconds),
        2 => any::<u8>().prop_map(Wait::Seconds),
        1 => Just(Wait::Negative),
        1 => Just(Wait::NotANumber),
        1 => Just(Wait::ForEver),
    ]
}

pub(crate) fn verb() -> impl Strategy<Value = Verb> {
    prop_oneof![
        12 => id().prop_map(Verb::Change),
        6 => id().prop_map(Verb::Replace),
        8 => id().prop_map(Verb::ChangeNow),
        3 => id().prop_map(Verb::ChangeAhead),
        3 => id().prop_map(Verb::PushNow),
        3 => Just(Verb::PopNow),
        6 => id().prop_map(Verb::Ensure),
        4 => id().prop_map(Verb::Force),
        6 => Just(Verb::Revert),
        6 => id().prop_map(Verb::Push),
        6 => Just(Verb::Pop),
        6 => id().prop_map(Verb::Resume),
        4 => Just(Verb::Send),
        3 => Just(Verb::SendNow),
        2 => Just(Verb::SendAhead),
        1 => Just(Verb::Clear),
        6 => Just(Verb::Stay),
        3 => id().prop_map(Verb::TryChangeNow),
        2 => Just(Verb::TrySendNow),
        8 => (wait(), id()).prop_map(|(wait, to)| Verb::ChangeAfter(wait, to)),
        6 => id().prop_map(Verb::ChangeNext),
        5 => wait().prop_map(Verb::SendAfter),
        4 => wait().prop_map(Verb::SendEvery),
        4 => wait().prop_map(Verb::PopAfter),
        3 => id().prop_map(Verb::CancelTo),
        2 => Just(Verb::CancelMessages),
        6 => prop_oneof![Just(Wait::ForEver), wait()].prop_map(Verb::Sleep),
        1 => Just(Verb::Panic),
    ]
}

fn callback() -> impl Strategy<Value = Callback> {
    prop_oneof![
        4 => Just(Callback::Enter),
        4 => Just(Callback::Update),
        1 => Just(Callback::Exit),
        3 => Just(Callback::Message),
        1 => Just(Callback::Suspend),
        3 => Just(Callback::Resume),
    ]
}

pub(crate) fn line() -> impl Strategy<Value = Line> {
    (id(), callback(), option::of(0..3_u32), vec(verb(), 1..4)).prop_map(|(state, callback, phase, verbs)| Line {
        state,
        callback,
        phase,
        verbs,
    })
}

/// Generates the seconds by which the clock advances. Usually there are few.
fn advance() -> impl Strategy<Value = i64> {
    prop_oneof![10 => 0..5_i64, 2 => 0..300_i64, 1 => Just(1 << 40), 2 => -4..0_i64, 1 => Just(-(1 << 30))]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => Just(Step::Start),
        1 => Just(Step::Stop),
        8 => Just(Step::Update),
        4 => advance().prop_map(Step::Advance),
        1 => Just(Step::Wake),
        4 => Just(Step::Send),
        6 => verb().prop_map(Step::Outside),
        2 => vec(verb(), 0..6).prop_map(Step::With),
        1 => id().prop_map(Step::SetCurrent),
        1 => id().prop_map(Step::SetPrevious),
        1 => id().prop_map(Step::SetGlobal),
        1 => Just(Step::Clone),
        2 => Just(Step::Load),
        1 => (1..12_u32).prop_map(Step::Fuse),
    ]
}

/// Generates one step, usually. Sometimes it generates a push and a pop in which an event may panic.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let back_and_forth = (id(), option::of(1..9_u32)).prop_map(|(over, fuse)| {
        let pop = Step::Outside(Verb::Pop);
        [Step::Outside(Verb::Push(over))].into_iter().chain(fuse.map(Step::Fuse)).chain([pop]).collect()
    });
    vec(prop_oneof![16 => step().prop_map(|step| vec![step]), 1 => back_and_forth], 1..24)
        .prop_map(|steps| steps.concat())
}

/// Generates a row that is not yet fitted into the tree. Its parent and initial state are arbitrary numbers.
fn loose_row() -> impl Strategy<Value = StateRow> {
    let made = prop_oneof![4 => Just(Made::Static), 1 => Just(Made::Shared), 1 => Just(Made::Owned)];
    let reads = prop_oneof![
        3 => Just(Read::Counter),
        1 => Just(Read::Time),
        1 => Just(Read::Target),
        1 => Just(Read::Previous),
        1 => Just(Read::Requests),
    ];
    let flags = (any::<bool>(), any::<bool>(), prop::bool::weighted(0.1));
    let numbers = ((0..STATES * 2).prop_map(Some), (0..STATES).prop_map(Some));
    (numbers, flags, made, reads, (refusals(), refusals(), refusals())).prop_map(
        |((parent, initial), (keeps_history, knows_stacks, is_passive), made, reads, bits)| {
            let (refuses_enter, refuses_exit, handles) = bits;
            StateRow {
                parent,
                initial,
                regions: Vec::new(),
                region: 0,
                keeps_history,
                knows_stacks,
                is_passive,
                made,
                reads,
                refuses_enter,
                refuses_exit,
                handles,
            }
        },
    )
}

/// Generates states in a forest of at most four levels. A parent comes before its children, and an initial state is one of
/// them.
pub(crate) fn states() -> impl Strategy<Value = Vec<StateRow>> {
    vec(loose_row(), usize::from(STATES)).prop_map(|mut rows| {
        let mut depths = Vec::new();
        for (i, row) in (0..).zip(&mut rows) {
            row.parent = row.parent.filter(|parent| *parent < i && depths[usize::from(*parent)] < 4);
            depths.push(row.parent.map_or(1, |parent| depths[usize::from(parent)] + 1));
        }
        for i in 0..STATES {
            let is_child = |child: &Id| rows[usize::from(*child)].parent == Some(i);
            let children: Vec<_> = (0..STATES).filter(is_child).collect();
            let row = &mut rows[usize::from(i)];
            row.initial = row.initial.and_then(|nth| children.get(usize::from(nth) % (children.len() + 1)).copied());
        }
        rows
    })
}

/// Generates the same, with some states whose children lie in regions. `split` has a number for each state.
pub(crate) fn states_with_regions() -> impl Strategy<Value = Vec<StateRow>> {
    (states(), vec(any::<u8>(), usize::from(STATES))).prop_map(|(mut rows, split)| {
        for i in 0..STATES {
            let children: Vec<_> = (0..STATES).filter(|child| rows[usize::from(*child)].parent == Some(i)).collect();
            let count = children.len().min(usize::from(split[usize::from(i)] % 4));
            if count == 0 {
                continue;
            }
            for (nth, child) in children.iter().enumerate() {
                let other = usize::from(split[usize::from(*child)]) % count;
                rows[usize::from(*child)].region = if nth < count { nth } else { other };
            }
            let row = &mut rows[usize::from(i)];
            (row.initial, row.regions) = (None, children[..count].to_vec());
        }
        rows
    })
}

/// Generates programs with regions. What the rules leave open is left out: to set the machine to a state in a region, and what a
/// callback in a region does after it has caught a panic.
pub(crate) fn program_with_regions() -> impl Strategy<Value = Program> {
    (program(), states_with_regions()).prop_map(|(mut program, states)| {
        let outside = |state: Id| {
            let around: Vec<_> = std::iter::successors(Some(state), |id| states[usize::from(*id)].parent).collect();
            let composite = around[1..].iter().rev().find(|id| !states[usize::from(**id)].regions.is_empty());
            composite.copied().unwrap_or(state)
        };
        program.current = program.current.map(outside);
        for step in &mut program.steps {
            if let Step::SetCurrent(state) = step {
                *state = outside(*state);
            }
        }
        let lines = program.lines.iter_mut().flat_map(|line| &mut line.verbs);
        let steps = program.steps.iter_mut().flat_map(|step| match step {
            Step::With(verbs) => verbs.as_mut_slice(),
            _ => &mut [],
        });
        for verb in lines.chain(steps) {
            match *verb {
                Verb::TryChangeNow(to) => *verb = Verb::ChangeNow(to),
                Verb::TrySendNow => *verb = Verb::SendNow,
                _ => {}
            }
        }
        Program { states, ..program }
    })
}

pub(crate) fn program() -> impl Strategy<Value = Program> {
    let machine = (option::weighted(0.9, id()), option::of(id()));
    (states(), vec(line(), 0..24), machine, steps(), any::<bool>(), 0..160_u32).prop_map(
        |(states, lines, (current, global), steps, clock_counts, fuel)| Program {
            states,
            lines,
            current,
            global,
            steps,
            clock_counts,
            fuel,
        },
    )
}
