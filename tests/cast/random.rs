//! Runs members that cut each other's callbacks short at random: they rejoin, send each other telegrams, change within the
//! call, and panic anywhere. Debug builds check before each callback that a machine is whole. Here, the test checks between
//! any two turns that each member has the path of its state, and that saving and loading the cast, and saving it again, gives
//! the same data (rules 22, 27, 30).

use std::collections::BTreeSet;
use std::time::Duration;

use demeanor::{Agent, Cast, CastBook, Change, Fsm, Owner, State, StateBook, StateMachine, StateRef, Telegram};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde::{Deserialize, Serialize};

use crate::cases::cases;
use crate::told_panic::{caught, panic_as_told};

/// The world has the acts of the next callbacks, whichever member they belong to.
type Town = Cast<u8, u8, Script>;

#[derive(Default)]
struct Script {
    acts: Vec<Act>,
    next: usize,
    /// How many acts are left until the outermost turn ends.
    fuel: u32,
}

impl Script {
    fn next(&mut self) -> Option<Act> {
        self.fuel = self.fuel.checked_sub(1)?;
        self.next += 1;
        self.acts.get(self.next % self.acts.len().max(1)).cloned()
    }
}

#[derive(Clone, Debug)]
enum Act {
    Nothing,
    Request(Request),
    /// Changes state within the call.
    Now(u8),
    SendNow,
    After(u8, u8),
    Sleep(u8),
    /// Sends to the member with this key, within the call or at the end of the turn.
    Tell(u8, bool),
    /// Acts on the member's agent while it has rejoined.
    Rejoin(Outside),
    /// Continues if the act panics.
    Try(Box<Act>),
    Panic,
}

#[derive(Clone, Debug)]
enum Request {
    Change(u8),
    Push(u8),
    Pop,
    Revert,
    Resume(u8),
}

/// An act of the game on one member.
#[derive(Clone, Debug)]
enum Outside {
    Update,
    Start,
    Stop,
    SetCurrent(u8),
    Request(Request),
    Tell,
    Replace(u8),
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Walker(u8);

struct Site {
    id: u8,
    parent: Option<u8>,
    initial: Option<u8>,
    regions: &'static [u8],
    region: usize,
}

/// State 0 contains 1 and 2, and 1 contains 3. State 6 has two regions: 7 and 8 lie in the first, 9 and 10 in the second. State
/// 10 contains 11.
static SITES: [Site; 12] = [
    Site::new(0, None, Some(1)),
    Site::new(1, Some(0), None),
    Site::new(2, Some(0), None),
    Site::new(3, Some(1), None),
    Site::new(4, None, None),
    Site::new(5, None, None),
    Site { regions: &[7, 9], ..Site::new(6, None, None) },
    Site::new(7, Some(6), None),
    Site::new(8, Some(6), None),
    Site { region: 1, ..Site::new(9, Some(6), None) },
    Site { region: 1, ..Site::new(10, Some(6), Some(11)) },
    Site::new(11, Some(10), None),
];

impl Site {
    const fn new(id: u8, parent: Option<u8>, initial: Option<u8>) -> Self {
        Self { id, parent, initial, regions: &[], region: 0 }
    }
}

fn site(id: u8) -> &'static Site {
    &SITES[usize::from(id)]
}

impl Walker {
    fn act_next(&mut self, fsm: &mut Fsm<'_, Self>, town: &mut Town) {
        for _ in 0..2 {
            if let Some(act) = town.world.next() {
                self.act(&act, fsm, town);
            }
        }
    }

    fn act(&mut self, act: &Act, fsm: &mut Fsm<'_, Self>, town: &mut Town) {
        match act {
            Act::Nothing => {}
            Act::Request(Request::Change(to)) => fsm.change_state(site(*to)),
            Act::Request(Request::Push(over)) => fsm.push_state(site(*over)),
            Act::Request(Request::Pop) => fsm.pop_state(),
            Act::Request(Request::Revert) => fsm.revert_state(),
            Act::Request(Request::Resume(composite)) => fsm.resume_state(site(*composite)),
            Act::Now(to) => _ = fsm.change_state_now(self, site(*to), town),
            Act::SendNow => _ = fsm.send_now(self, &Telegram::new(self.0, self.0, 0), town),
            Act::After(seconds, to) => fsm.change_state_after(f64::from(*seconds), site(*to)),
            Act::Sleep(seconds) => fsm.sleep_for(f64::from(*seconds)),
            Act::Tell(key, false) => _ = town.send(self.0, *key, 0),
            Act::Tell(key, true) => town.post(self.0, *key, 0),
            Act::Rejoin(outside) => {
                let key = self.0;
                _ = town.rejoin(&key, self, fsm, |town| outside.act(key, town));
            }
            Act::Try(act) => _ = caught(|| self.act(act, fsm, town)),
            Act::Panic => panic_as_told(),
        }
    }
}

impl Outside {
    fn act(&self, key: u8, town: &mut Town) {
        match self {
            Self::Update => _ = town.update_one(&key),
            Self::Tell => _ = town.send(key, key, 0),
            outside => _ = town.with::<Walker, _>(&key, |agent, town| outside.act_on(agent, town)),
        }
    }

    fn act_on(&self, agent: &mut Agent<Walker>, town: &mut Town) {
        match self {
            Self::Start => agent.start(town),
            Self::Stop => agent.stop(town),
            Self::SetCurrent(to) => agent.machine_mut().set_current(site(*to)),
            Self::Replace(to) => *agent.machine_mut() = StateMachine::new(site(*to)),
            Self::Request(Request::Change(to)) => _ = agent.change_state(site(*to), town),
            Self::Request(Request::Push(over)) => _ = agent.push_state(site(*over), town),
            Self::Request(Request::Pop) => _ = agent.pop_state(town),
            Self::Request(Request::Revert) => _ = agent.revert_state(town),
            Self::Request(Request::Resume(composite)) => _ = agent.resume_state(site(*composite), town),
            Self::Update | Self::Tell => {}
        }
    }
}

impl Owner for Walker {
    type Context<'a> = Town;
    type Message = Telegram<u8, u8>;

    fn now(town: &Town) -> f64 {
        town.now()
    }

    fn on_change(&mut self, _: &Change<'_, Self>, town: &mut Town) {
        if matches!(town.world.next(), Some(Act::Panic)) {
            panic_as_told();
        }
    }
}

impl State<Walker> for Site {
    fn enter(&self, walker: &mut Walker, fsm: &mut Fsm<'_, Walker>, town: &mut Town) {
        walker.act_next(fsm, town);
    }

    fn update(&self, walker: &mut Walker, fsm: &mut Fsm<'_, Walker>, town: &mut Town) {
        walker.act_next(fsm, town);
    }

    fn exit(&self, walker: &mut Walker, fsm: &mut Fsm<'_, Walker>, town: &mut Town) {
        walker.act_next(fsm, town);
    }

    fn on_message(
        &self,
        walker: &mut Walker,
        _: &Telegram<u8, u8>,
        fsm: &mut Fsm<'_, Walker>,
        town: &mut Town,
    ) -> bool {
        walker.act_next(fsm, town);
        self.id % 2 == 0
    }

    fn parent(&self) -> Option<StateRef<Walker>> {
        self.parent.map(|parent| site(parent).into())
    }

    fn initial(&self) -> Option<StateRef<Walker>> {
        self.initial.map(|initial| site(initial).into())
    }

    fn regions(&self) -> Vec<StateRef<Walker>> {
        self.regions.iter().map(|&initial| site(initial).into()).collect()
    }

    fn region(&self) -> usize {
        self.region
    }

    fn keeps_history(&self) -> bool {
        self.id % 6 == 0
    }
}

fn book() -> CastBook<Town> {
    let sites = (0..12).fold(StateBook::new(), |book, id| book.with_name(id.to_string(), site(id)));
    CastBook::new().with("walker", sites)
}

/// Returns the saved town in bytes.
fn saved(town: &Town) -> Vec<u8> {
    postcard::to_allocvec(&town.save(&book()).expect("nobody is acting")).expect("it can be written")
}

fn check(town: &Town) {
    assert_eq!(town.iter::<Walker>().count(), town.len(), "nobody is lost");
    for (_, agent) in town.iter::<Walker>() {
        let path: Vec<_> = agent.machine().path().collect();
        let parents = path.iter().map(|state| state.parent());
        let around = [None].into_iter().chain(path.iter().map(|state| Some((*state).clone())));
        assert!(parents.eq(around.take(path.len())), "the path of one state: {path:?}");
        let active: Vec<_> = agent.machine().active_states().collect();
        let mut places = BTreeSet::new();
        for state in &active {
            let parent = state.parent();
            assert!(parent.as_ref().is_none_or(|parent| active.contains(&parent)), "a parent is active");
            let of = |state: StateRef<Walker>| state.downcast_ref::<Site>().map(|site| site.id);
            let place = (parent.and_then(of), state.region());
            assert!(places.insert(place), "one state is active in a region");
        }
    }
    let bytes = saved(town);
    let read = postcard::from_bytes(&bytes).expect("it has just been written");
    let loaded = Town::load(read, &book(), Script::default()).expect("it has just been saved");
    assert!(saved(&loaded) == bytes, "it is saved again the same");
}

fn id() -> impl Strategy<Value = u8> {
    0..12_u8
}

fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        4 => id().prop_map(Request::Change),
        3 => id().prop_map(Request::Push),
        3 => Just(Request::Pop),
        1 => Just(Request::Revert),
        1 => id().prop_map(Request::Resume),
    ]
}

fn outside() -> impl Strategy<Value = Outside> {
    prop_oneof![
        2 => Just(Outside::Update),
        1 => Just(Outside::Start),
        1 => Just(Outside::Stop),
        1 => id().prop_map(Outside::SetCurrent),
        4 => request().prop_map(Outside::Request),
        2 => Just(Outside::Tell),
        1 => id().prop_map(Outside::Replace),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let act = prop_oneof![
        8 => Just(Act::Nothing),
        4 => request().prop_map(Act::Request),
        3 => id().prop_map(Act::Now),
        2 => Just(Act::SendNow),
        4 => (0..4_u8, id()).prop_map(|(seconds, to)| Act::After(seconds, to)),
        1 => (0..4_u8).prop_map(Act::Sleep),
        2 => (0..3_u8, any::<bool>()).prop_map(|(key, is_posted)| Act::Tell(key, is_posted)),
        5 => outside().prop_map(Act::Rejoin),
        1 => Just(Act::Panic),
    ];
    (act, prop::bool::weighted(0.2)).prop_map(|(act, is_tried)| if is_tried { Act::Try(Box::new(act)) } else { act })
}

/// Plays steps from outside. Each has a member's key, an act, and the seconds that pass before it.
fn play(acts: Vec<Act>, steps: Vec<(u8, Outside, u64)>, fuel: u32) {
    let mut town = Town::new(Script { acts, next: 0, fuel: 0 });
    for key in 0..3 {
        town.add(key, Agent::new(Walker(key), StateMachine::new(site(key)))).expect("the key is free");
    }
    for (key, outside, seconds) in steps {
        town.advance(Duration::from_secs(seconds));
        town.world.fuel = fuel;
        let _ = caught(|| outside.act(key, &mut town));
        check(&town);
    }
}

#[test]
fn members_that_cut_each_other_short_stay_whole_and_are_saved() {
    let steps = vec((0..3_u8, outside(), 0..3_u64), 1..24);
    let outcome = TestRunner::new(cases(512)).run(&(vec(act(), 1..60), steps, 0..60_u32), |(acts, steps, fuel)| {
        play(acts, steps, fuel);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// The test above found this: a callback had replaced its own machine, and started the new one in a later call of the same
/// callback. The change around it did not notice that its path had been left, and entered the rest of the path.
#[test]
fn a_start_of_a_replaced_machine_within_a_callback_leaves_the_callbacks_state() {
    use Outside::{Replace, Start, Stop, Tell as TellIt, Update};
    use Request::{Change, Pop, Push};
    let ask = Act::Request;
    let rejoin = Act::Rejoin;
    let wait = || Act::After(0, 0);
    let mut acts = vec![ask(Push(0)), Act::SendNow, Act::SendNow, rejoin(TellIt), Act::Tell(0, false)];
    acts.extend([rejoin(Replace(3)), wait(), Act::Nothing, wait(), Act::Nothing, rejoin(Start), Act::Nothing]);
    acts.extend([wait(), ask(Pop), Act::Nothing, Act::Nothing, wait(), Act::Nothing, rejoin(Stop)]);
    acts.extend([Act::Nothing, Act::Nothing, Act::Nothing, ask(Change(0)), wait(), Act::Nothing]);
    let outside = Outside::Request;
    let steps = [(2, Start), (1, TellIt), (1, outside(Change(3))), (0, Stop), (1, Update), (1, outside(Pop))];
    play(acts, steps.map(|(key, what)| (key, what, 0)).to_vec(), 34);
}

/// The test above found these: a callback had set its own machine to another state in a region, while a change was under way.
/// The change went on from the path that had been left: its timers, its ancestors and its open regions stayed.
#[test]
fn a_machine_that_is_set_to_a_state_in_a_region_within_a_callback_keeps_nothing_of_the_path_that_it_has_left() {
    use Act::{After, Nothing, Now, Rejoin, SendNow, Tell as Say};
    use Outside::{SetCurrent, Stop, Tell, Update};
    use Request::{Change, Pop, Push, Resume};
    let ask = Act::Request;
    let outside = Outside::Request;
    play(vec![Nothing, Rejoin(SetCurrent(7))], vec![(0, outside(Push(0)), 0)], 1);
    let mut acts = vec![Nothing, Nothing, SendNow, SendNow, Rejoin(Stop), Now(4), Nothing, Say(2, false), Nothing];
    acts.extend([After(0, 0), Nothing, Nothing, SendNow, Nothing, Nothing, After(0, 0), After(0, 0)]);
    acts.extend([Rejoin(outside(Pop)), Nothing, Nothing, Nothing, Nothing, Rejoin(SetCurrent(4)), Nothing, Nothing]);
    acts.extend([After(0, 0), Nothing, After(0, 0), SendNow, Nothing, Nothing, ask(Resume(10)), After(0, 0)]);
    acts.extend([Nothing, Nothing, Rejoin(SetCurrent(9))]);
    acts.extend(vec![Nothing; 18]);
    let steps = [(1, Update), (0, outside(Push(0))), (1, outside(Change(6))), (0, Update)];
    play(acts, steps.map(|(key, what)| (key, what, 0)).to_vec(), 12);
    let mut acts = vec![After(0, 0), Nothing, After(2, 4), Rejoin(Tell), ask(Push(0)), ask(Pop), After(0, 0)];
    acts.extend([
        ask(Change(10)),
        ask(Push(10)),
        Rejoin(SetCurrent(9)),
        After(3, 0),
        Nothing,
        After(0, 0),
        After(0, 0),
    ]);
    let steps = [(2, Update), (1, Outside::Replace(0)), (1, Stop), (0, outside(Change(6)))];
    play(acts, steps.map(|(key, what)| (key, what, 0)).to_vec(), 51);
}
