//! A program: the acts of each callback of each member, and the steps of the game.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// The key of a member.
pub(crate) type Key = u8;

/// The number of a state. The last one is a member's own state.
pub(crate) type Id = u8;

pub(crate) const STATES: u8 = 4;

/// The sender of the game's telegrams.
pub(crate) const GAME: Key = 200;

/// The number of members with their own acts. Further members repeat these acts in turn.
pub(crate) const ACTORS: u8 = 5;

#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) members: u8,
    pub(crate) lines: Vec<Line>,
    pub(crate) steps: Vec<Step>,
    /// The number of acts available to the callbacks of one step, so that each step ends.
    pub(crate) fuel: u32,
    /// The window in which similar telegrams are merged, in quarters of a second.
    pub(crate) merges_within: Option<u8>,
    /// The handled messages, as bits for each state and word.
    pub(crate) handles: u32,
}

/// The acts of a callback. They happen always, or in one of three phases of the count of callbacks.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// `None` stands for all members.
    pub(crate) member: Option<Key>,
    pub(crate) state: Option<Id>,
    pub(crate) callback: Callback,
    pub(crate) phase: Option<u32>,
    pub(crate) acts: Vec<Act>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callback {
    Enter,
    Update,
    Exit,
    Message(u8),
}

/// An act of a callback. Times are in quarters of a second.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Do(Deed),
    Change(Id),
    ChangeNow(Id),
    Push(Id),
    Pop,
    Tell(u8),
    TellNow(u8),
    ChangeAfter(u8, Id),
    TellAfter(u8, u8),
    TellEvery(u8, u8),
    /// Cancels the timers for a word.
    CancelTold(u8),
    SleepFor(u8),
    Rejoin(Vec<Deed>),
}

/// An act on the cast, in a callback or from outside.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deed {
    Send(Key, u8),
    Post(Key, u8),
    SendAfter(i8, Key, u8),
    /// Sends to the member with the next key.
    PassOn(u8),
    UpdateOne(Key),
    Update,
    DeliverDue,
    Dismiss(Key),
    Remove(Key),
    Spawn(Key, Id),
    /// Dismisses a member, and adds another one with its key.
    Replace(Key, Id),
    /// Removes the queued telegrams for a member.
    TakeBack(Key),
    Look,
    Panic,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Deed(Deed),
    Advance(u8),
    /// Changes a member that is lent to the game.
    With(Key, Id, Deed),
    SaveAndLoad,
}

impl Program {
    pub(crate) fn acts(&self, member: Key, state: Id, callback: Callback, count: u32) -> Vec<Act> {
        let is_now = |line: &&Line| {
            line.member.is_none_or(|of| of == member % ACTORS)
                && line.callback == callback
                && line.state.is_none_or(|of| of == state)
                && line.phase.is_none_or(|phase| phase == count % 3)
        };
        self.lines.iter().filter(is_now).flat_map(|line| line.acts.iter().cloned()).collect()
    }

    pub(crate) fn handles(&self, member: Key, state: Id, word: u8) -> bool {
        self.handles >> ((member % ACTORS * 5 + state * 3 + word) % 32) & 1 == 1
    }
}

fn key() -> impl Strategy<Value = Key> {
    0..=ACTORS
}

fn word() -> impl Strategy<Value = u8> {
    0..3_u8
}

fn id() -> impl Strategy<Value = Id> {
    0..STATES
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        12 => (key(), word()).prop_map(|(to, word)| Deed::Send(to, word)),
        6 => (key(), word()).prop_map(|(to, word)| Deed::Post(to, word)),
        6 => (-1..8_i8, key(), word()).prop_map(|(delay, to, word)| Deed::SendAfter(delay, to, word)),
        6 => word().prop_map(Deed::PassOn),
        3 => key().prop_map(Deed::UpdateOne),
        1 => Just(Deed::Update),
        3 => Just(Deed::DeliverDue),
        2 => key().prop_map(Deed::Dismiss),
        1 => key().prop_map(Deed::Remove),
        3 => (key(), id()).prop_map(|(key, state)| Deed::Spawn(key, state)),
        1 => (key(), id()).prop_map(|(key, state)| Deed::Replace(key, state)),
        1 => key().prop_map(Deed::TakeBack),
        1 => Just(Deed::Look),
        1 => Just(Deed::Panic),
    ]
}

/// Generates an act. In one program the members rejoin, in another they sleep. Programs with both are not tested.
fn act(rejoins: bool) -> impl Strategy<Value = Act> {
    let pause = if rejoins {
        vec(deed(), 1..4).prop_map(Act::Rejoin).boxed()
    } else {
        (0..8_u8).prop_map(Act::SleepFor).boxed()
    };
    prop_oneof![
        16 => deed().prop_map(Act::Do),
        6 => id().prop_map(Act::Change),
        3 => id().prop_map(Act::ChangeNow),
        2 => id().prop_map(Act::Push),
        3 => Just(Act::Pop),
        2 => word().prop_map(Act::Tell),
        2 => word().prop_map(Act::TellNow),
        3 => (0..8_u8, id()).prop_map(|(after, to)| Act::ChangeAfter(after, to)),
        2 => (0..8_u8, word()).prop_map(|(after, word)| Act::TellAfter(after, word)),
        1 => (0..8_u8, word()).prop_map(|(every, word)| Act::TellEvery(every, word)),
        1 => word().prop_map(Act::CancelTold),
        6 => pause,
    ]
}

fn callback() -> impl Strategy<Value = Callback> {
    prop_oneof![
        3 => Just(Callback::Update),
        2 => Just(Callback::Enter),
        1 => Just(Callback::Exit),
        5 => word().prop_map(Callback::Message),
    ]
}

fn line(rejoins: bool) -> impl Strategy<Value = Line> {
    let acts = vec(act(rejoins), 1..4);
    (option::weighted(0.8, 0..ACTORS), option::weighted(0.3, id()), callback(), option::of(0..3_u32), acts)
        .prop_map(|(member, state, callback, phase, acts)| Line { member, state, callback, phase, acts })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Deed(Deed::Update)),
        8 => deed().prop_map(Step::Deed),
        4 => (0..6_u8).prop_map(Step::Advance),
        2 => (key(), id(), deed()).prop_map(|(key, state, deed)| Step::With(key, state, deed)),
        2 => Just(Step::SaveAndLoad),
    ]
}

pub(crate) fn program() -> impl Strategy<Value = Program> {
    any::<bool>().prop_flat_map(|rejoins| {
        // The larger size is big enough for telegrams to be nested deeper than 64.
        let size = prop_oneof![30 => (2..=ACTORS, 0..60_u32), 1 => (Just(70_u8), Just(300_u32))];
        let merges_within = option::weighted(0.3, 0..6_u8);
        (size, vec(line(rejoins), 1..20), vec(step(), 1..24), merges_within, any::<u32>()).prop_map(
            move |((members, fuel), mut lines, steps, merges_within, handles)| {
                if members > ACTORS {
                    let acts = vec![Act::Do(Deed::PassOn(0)), Act::Do(Deed::UpdateOne(0))];
                    let callback = Callback::Message(0);
                    lines.push(Line { member: None, state: None, callback, phase: None, acts });
                }
                Program { members, lines, steps, fuel, merges_within, handles }
            },
        )
    })
}
