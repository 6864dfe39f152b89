//! A script: a program of states, and what a game does with many owners that run it.

use std::fmt;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;

#[cfg(feature = "definition")]
use crate::files::file;
use crate::program::{
    Callback, Id, Line, Made, Program, STATES, Verb, Wait, id, line, states, states_with_regions, verb,
};
use crate::puppet::Order;

#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) program: Program,
    pub(crate) passive: Vec<Id>,
    pub(crate) orders: Vec<Order>,
    pub(crate) deeds: Vec<Deed>,
    /// The file of the states, and the one that it is edited to; none if the states are those of the program.
    pub(crate) files: Option<[File; 2]>,
}

/// The text of a definition file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct File(pub(crate) String);

/// One line for each row, line and deed, and then the files as they are written.
impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Program { states, lines, global, fuel, .. } = &self.program;
        writeln!(f, "global {global:?}, fuel {fuel}, passive {:?}, {:?}", self.passive, self.orders)?;
        states.iter().try_for_each(|row| writeln!(f, "{row:?}"))?;
        lines.iter().try_for_each(|line| writeln!(f, "{line:?}"))?;
        self.deeds.iter().try_for_each(|deed| writeln!(f, "{deed:?}"))?;
        self.files.iter().flatten().try_for_each(|File(text)| write!(f, "\n{text}"))
    }
}

impl Script {
    pub(crate) fn is_of_a_file(&self) -> bool {
        self.files.is_some()
    }

    /// Whether the states of the file become others.
    pub(crate) fn is_edited(&self) -> bool {
        self.files.as_ref().is_some_and(|[file, other]| file != other)
    }

    /// Changes verbs wherever the script has some.
    pub(crate) fn map_verbs(mut self, change: impl Fn(Verb) -> Verb) -> Self {
        let lines = self.program.lines.iter_mut().flat_map(|line| &mut line.verbs);
        let deeds = self.deeds.iter_mut().flat_map(|deed| match deed {
            Deed::To(_, Act::With(verbs)) => &mut verbs[..],
            Deed::To(_, Act::Verb(verb)) => std::slice::from_mut(verb),
            _ => &mut [],
        });
        lines.chain(deeds).for_each(|verb| *verb = change(*verb));
        self
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Deed {
    Tick,
    /// A tick in so many parts.
    Parts(usize),
    /// The clock goes on by so many quarters of a second, or back.
    Advance(i32),
    /// The clock shows something odd until it goes on.
    Odd(f64),
    Insert(Id, usize),
    Spawn(Id),
    /// A machine that has been in use before: what it is in, what it was in, what it was pushed over.
    InsertMachine(Option<Id>, Option<Id>, Option<Id>),
    /// The owner goes on alone.
    Remove(usize),
    /// So does every so-manieth.
    RemoveEvery(usize),
    Broadcast,
    SetGlobal(Id),
    /// Every so-manieth owner panics at its so-manieth event from now on.
    Fuse(usize, u32),
    /// Taken apart into machines, and built of them.
    Rebuild,
    Clone,
    /// Cloned into from what it was when it was cloned the last time.
    Restore,
    Extend(Vec<Id>),
    /// All but every so-manieth owner.
    Retain(usize),
    /// So many owners go on alone, and the others are dropped.
    Drain(usize),
    Clear,
    Reserve(Id, usize),
    Shrink,
    /// Something is done to one owner.
    To(usize, Act),
    /// One owner's numbers and its flag are others.
    Set(usize, [u8; 2], bool),
    /// The first or the second file is loaded.
    Reload(usize),
}

#[derive(Clone, Debug)]
pub(crate) enum Act {
    Send,
    Verb(Verb),
    With(Vec<Verb>),
    Start,
    Stop,
    SetCurrent(Id),
    SetPrevious(Id),
    Edit,
    Wake,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => Just(Act::Send),
        6 => verb().prop_map(Act::Verb),
        2 => vec(verb(), 0..6).prop_map(Act::With),
        1 => Just(Act::Start),
        1 => Just(Act::Stop),
        1 => id().prop_map(Act::SetCurrent),
        1 => id().prop_map(Act::SetPrevious),
        3 => Just(Act::Edit),
        1 => Just(Act::Wake),
    ]
}

/// A few seconds, as a rule.
fn advance() -> impl Strategy<Value = i32> {
    prop_oneof![12 => 0..9_i32, 2 => 0..200_i32, 1 => Just(1 << 30), 2 => -9..0_i32]
}

/// What a clock does not show: rule 18 says how it counts. And what it hardly shows.
const ODD: [f64; 8] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324, 1e300, -1e300, -1e-9];

/// What any container can do.
fn of_container() -> impl Strategy<Value = Deed> {
    prop_oneof![
        2 => vec(id(), 0..6).prop_map(Deed::Extend),
        2 => (2..5_usize).prop_map(Deed::Retain),
        1 => (0..12_usize).prop_map(Deed::Drain),
        1 => Just(Deed::Clear),
        2 => Just(Deed::Restore),
        1 => (id(), 0..200_usize).prop_map(|(id, count)| Deed::Reserve(id, count)),
        1 => Just(Deed::Shrink),
    ]
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        12 => Just(Deed::Tick),
        2 => (1..5_usize).prop_map(Deed::Parts),
        5 => advance().prop_map(Deed::Advance),
        1 => proptest::sample::select(&ODD).prop_map(Deed::Odd),
        3 => (id(), 1..8_usize).prop_map(|(id, count)| Deed::Insert(id, count)),
        1 => id().prop_map(Deed::Spawn),
        2 => (option::weighted(0.8, id()), option::of(id()), option::of(id()))
            .prop_map(|(current, previous, under)| Deed::InsertMachine(current, previous, under)),
        2 => any::<usize>().prop_map(Deed::Remove),
        1 => (2..9_usize).prop_map(Deed::RemoveEvery),
        2 => Just(Deed::Broadcast),
        1 => id().prop_map(Deed::SetGlobal),
        3 => (1..6_usize, prop_oneof![1..24_u32, 3..9_u32]).prop_map(|(every, after)| Deed::Fuse(every, after)),
        1 => Just(Deed::Rebuild),
        1 => Just(Deed::Clone),
        14 => (any::<usize>(), act()).prop_map(|(number, act)| Deed::To(number, act)),
    ]
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![6 => Just(Order::Forward), 1 => Just(Order::Backward), 1 => Just(Order::Twofold)]
}

fn script(
    program: impl Strategy<Value = Program>,
    deeds: impl Strategy<Value = Vec<Deed>>,
) -> impl Strategy<Value = Script> {
    (program, vec(id(), 0..3), vec(order(), usize::from(STATES)), deeds)
        .prop_map(|(program, passive, orders, deeds)| Script { program, passive, orders, deeds, files: None })
}

/// Every state, callback and verb there is, and a few owners.
pub(crate) fn intricate() -> impl Strategy<Value = Script> {
    let program =
        (states(), vec(line(), 0..24), option::of(id()), 0..160_u32).prop_map(|(states, lines, global, fuel)| {
            Program { states, lines, current: None, global, steps: vec![], clock_counts: false, fuel }
        });
    script(program, beginning_with(3, vec(deed(), 1..24)))
}

/// The intricate ones, with states whose children lie in regions. States with regions are not owned: after an edit or
/// a load, an owned state is no longer the parent of its children.
pub(crate) fn split() -> impl Strategy<Value = Script> {
    (intricate(), states_with_regions()).prop_map(|(mut script, states)| {
        script.program.states = states;
        for row in script.program.states.iter_mut().filter(|row| !row.regions.is_empty()) {
            if let Made::Owned = row.made {
                row.made = Made::Shared;
            }
        }
        script
    })
}

/// The deeds behind the insertion of so many owners.
fn beginning_with(count: usize, deeds: impl Strategy<Value = Vec<Deed>>) -> impl Strategy<Value = Vec<Deed>> {
    deeds.prop_map(move |deeds| [vec![Deed::Insert(0, count)], deeds].concat())
}

/// The intricate ones, in which most deeds are those of a container.
pub(crate) fn restless() -> impl Strategy<Value = Script> {
    let deeds = vec(prop_oneof![2 => deed(), 1 => of_container(), 1 => Just(Deed::Clone)], 1..60);
    (intricate(), beginning_with(5, deeds)).prop_map(|(script, deeds)| Script { deeds, ..script })
}

/// More timers than a machine looks at one by one.
fn many_timers() -> impl Strategy<Value = Vec<Verb>> {
    let timer = prop_oneof![
        (0..10_u8, id()).prop_map(|(seconds, to)| Verb::ChangeAfter(Wait::Seconds(seconds), to)),
        (0..10_u8).prop_map(|seconds| Verb::SendAfter(Wait::Seconds(seconds))),
        (1..10_u8).prop_map(|seconds| Verb::SendEvery(Wait::Seconds(seconds))),
    ];
    vec(timer, 17..45)
}

/// The intricate ones, with states that set many timers at once, timers that last as long as the machine, and a state that sets
/// one behind what its parent does within the call.
pub(crate) fn patient() -> impl Strategy<Value = Script> {
    let callback = prop_oneof![Just(Callback::Enter), Just(Callback::Update)];
    let line = (id(), callback, option::of(0..3_u32), many_timers());
    let line = line.prop_map(|(state, callback, phase, verbs)| Line { state, callback, phase, verbs });
    let set = vec((any::<Index>(), any::<usize>(), many_timers()), 1..4);
    let now = proptest::sample::select(&[Verb::SendNow, Verb::SendAhead, Verb::TrySendNow]);
    (intricate(), vec(line, 1..4), set, id(), now).prop_map(|(mut script, lines, set, child, now)| {
        script.program.lines.extend(lines);
        if let Some(parent) = script.program.states[usize::from(child)].parent {
            let enter = |state, verb| Line { state, callback: Callback::Enter, phase: None, verbs: vec![verb] };
            script.program.lines.extend([enter(parent, now), enter(child, Verb::SendAfter(Wait::Seconds(1)))]);
            script.deeds.extend([Deed::To(0, Act::Verb(Verb::ChangeNext(child))), Deed::Tick]);
        }
        script.program.fuel += 100;
        for (at, number, verbs) in set {
            let at = 1 + at.index(script.deeds.len());
            script.deeds.insert(at, Deed::To(number, Act::With(verbs)));
        }
        script
    })
}

/// Flat states, mostly singletons, most of whose requests are changes: what a batch does in bulk.
fn flat() -> impl Strategy<Value = Program> {
    let flat_states = states().prop_map(|mut states| {
        for (id, row) in states.iter_mut().enumerate() {
            row.parent = None;
            row.initial = None;
            if id < 6 {
                row.made = if id < 5 { Made::Static } else { Made::Shared };
            }
        }
        states
    });
    let change =
        (id(), prop_oneof![3 => Just(None), 1 => (0..3_u32).prop_map(Some)], id()).prop_map(|(state, phase, to)| {
            Line { state, callback: Callback::Update, phase, verbs: vec![Verb::Change(to)] }
        });
    (
        flat_states,
        vec(change, 2..10),
        vec(line(), 0..8),
        option::weighted(0.2, id()),
        prop_oneof![4 => 0..40_u32, 1 => 100..160_u32],
    )
        .prop_map(|(states, mut lines, more, global, fuel)| {
            lines.extend(more);
            Program { states, lines, current: None, global, steps: vec![], clock_counts: false, fuel }
        })
}

/// A flat program and a few owners.
pub(crate) fn plain() -> impl Strategy<Value = Script> {
    script(flat(), beginning_with(7, vec(deed(), 1..24)))
}

/// A flat program and owners for several chunks.
pub(crate) fn crowded() -> impl Strategy<Value = Script> {
    let deed = prop_oneof![
        10 => Just(Deed::Tick),
        2 => advance().prop_map(Deed::Advance),
        6 => deed(),
        1 => of_container(),
        1 => (id(), 1000..2000_usize).prop_map(|(id, count)| Deed::Insert(id, count)),
        2 => (100..1500_usize, 1..12_u32).prop_map(|(every, after)| Deed::Fuse(every, after)),
    ];
    let deeds = (id(), 2000..2600_usize, vec(deed, 3..9)).prop_map(|(id, count, mut deeds)| {
        deeds.insert(0, Deed::Insert(id, count));
        deeds
    });
    script(flat(), deeds)
}

/// The intricate ones, whose states are from a file. The other file is the same one, or it has other states, also of other names.
/// In half of them, hardly anything but the file leads to a change.
#[cfg(feature = "definition")]
pub(crate) fn from_files(is_edited: bool) -> impl Strategy<Value = Script> {
    let deed = prop_oneof![
        6 => Just(Deed::Tick),
        4 => (1..9_i32).prop_map(Deed::Advance),
        4 => (any::<usize>(), [0..6_u8, 0..4_u8], any::<bool>()).prop_map(|(number, xy, lit)| Deed::Set(number, xy, lit)),
        1 => (0..2_usize).prop_map(Deed::Reload),
        1 => of_container(),
        8 => deed(),
    ];
    // Owners that have entered their states, and owners that have not: as many as are asked together, or more.
    let count = prop_oneof![12 => Just(3), 1 => Just(70)];
    let deeds = (count, vec(deed, 1..32)).prop_map(|(count, deeds)| {
        let [initial, other] = [0, 1].map(Deed::Spawn);
        [vec![Deed::Insert(0, count), initial, other], deeds].concat()
    });
    let tables = || prop_oneof![states(), states_with_regions()];
    let scripts = (intricate(), deeds, vec(id(), 0..6), any::<bool>());
    (scripts, tables(), tables(), any::<bool>(), vec(id(), 0..3))
        .prop_flat_map(move |((mut script, deeds, passive, is_calm), rows, others, is_nested_as_before, renamed)| {
            (script.deeds, script.passive) = (deeds, passive);
            script.program.states.clone_from(&rows);
            if is_calm {
                script.program.lines.truncate(2);
            }
            script.program.fuel = script.program.fuel.min(40);
            let has_global = script.program.global.is_some();
            // No exit leads to the global state of a file.
            script.deeds.retain(|deed| !matches!(deed, Deed::SetGlobal(_)));
            let other = file(if is_nested_as_before { rows.clone() } else { others }, has_global);
            (file(rows, has_global), other, Just((script, renamed)))
        })
        .prop_map(move |(file, mut other, (mut script, renamed))| {
            other = renamed.iter().fold(other, |file, id| file.renamed(*id));
            script.files = Some([file.clone(), if is_edited { other } else { file }]);
            script
        })
}
