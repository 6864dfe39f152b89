//! What is there goes on as if nothing had been saved or loaded that could not be: because the game's own code fails or panics, or
//! because the file is damaged.

use std::cell::Cell;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use demeanor::{
    Agent, Batch, Cast, CastBook, Dispatcher, Fsm, Owner, SavedAgent, SavedBatch, SavedCast, SavedMachine, State,
    StateBook, StateMachine, StateRef, Telegram,
};
use proptest::prelude::*;
use proptest::sample::Index;
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::barracks::{Guard, batch, book, go_on, go_on_together, machines};
use crate::cast::{self, News, Town};
use crate::formats::Format;
use crate::garbage::{change, damage, damaged, saved_batch, saved_machine};

/// How a piece of the game's code fails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Error,
    Panic,
}

thread_local! {
    /// Which piece fails, after how many more calls, and how.
    static ARMED: Cell<Option<(&'static str, u32, Way)>> = const { Cell::new(None) };
}

const SAYS: &str = "it is fragile";

/// Fails if it is this piece's turn.
fn trip(piece: &str) -> Result<(), &'static str> {
    match ARMED.get() {
        Some((armed, 0, way)) if armed == piece => {
            ARMED.set(None);
            match way {
                Way::Error => Err(SAYS),
                // Without the panic hook's message: it is expected.
                Way::Panic => resume_unwind(Box::new(SAYS)),
            }
        }
        Some((armed, left, way)) if armed == piece => {
            ARMED.set(Some((armed, left - 1, way)));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// How an attempt with an armed piece has ended. `None`: the piece has not been called so often.
fn attempt<R>(piece: &'static str, nth: u32, way: Way, act: impl FnOnce() -> Result<R, String>) -> Option<String> {
    ARMED.set(Some((piece, nth, way)));
    let result = catch_unwind(AssertUnwindSafe(|| act().map(drop)));
    let has_failed = ARMED.take().is_none();
    match result {
        Ok(Ok(())) => {
            assert!(!has_failed, "a failure is passed on");
            None
        }
        Ok(Err(error)) => {
            assert!(has_failed && way == Way::Error, "{error}");
            Some(error)
        }
        Err(payload) => {
            assert!(has_failed && way == Way::Panic && payload.downcast_ref() == Some(&SAYS), "the library panicked");
            Some(String::new())
        }
    }
}

/// Each failure of the pieces: at the first call of a piece, at the second, and so on, until there are no more calls.
fn each_failure(pieces: &[&'static str], mut act: impl FnMut(&'static str, u32, Way) -> Option<String>) -> u32 {
    let mut failures = 0;
    for piece in pieces {
        for way in [Way::Error, Way::Panic] {
            let mut nth = 0;
            while let Some(error) = act(piece, nth, way) {
                if way == Way::Error {
                    assert!(!error.is_empty(), "{piece}");
                }
                nth += 1;
                failures += 1;
            }
        }
    }
    failures
}

macro_rules! fragile {
    ($($type:ident($data:ty), $write:literal, $read:literal;)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                trip($write).map_err(S::Error::custom)?;
                self.0.serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let data = <$data>::deserialize(deserializer)?;
                trip($read).map_err(D::Error::custom)?;
                Ok(Self(data))
            }
        }
    )*};
}

/// The owners, with what has happened to them.
#[derive(Clone, Debug, PartialEq)]
struct Porter(Vec<String>);
#[derive(Clone, Debug, PartialEq)]
struct Sailor(Vec<String>);
#[derive(Clone, Debug, PartialEq)]
struct Parcel(u32);
#[derive(Clone, Debug, PartialEq)]
struct Carry(u32);
struct Rest;
struct Dock;

fragile! {
    Porter(Vec<String>), "owner.write", "owner.read";
    Sailor(Vec<String>), "owner.write", "owner.read";
    Parcel(u32), "message.write", "message.read";
    Carry(u32), "state.write", "state.read";
}

const WRITES: [&str; 3] = ["owner.write", "state.write", "message.write"];
const READS: [&str; 3] = ["owner.read", "state.read", "message.read"];

type Harbor = Cast<u8, Parcel, ()>;

impl Owner for Porter {
    type Context<'a> = f64;
    type Message = Parcel;

    fn now(seconds: &f64) -> f64 {
        *seconds
    }
}

impl Owner for Sailor {
    type Context<'a> = Harbor;
    type Message = Telegram<u8, Parcel>;

    fn now(harbor: &Harbor) -> f64 {
        harbor.now()
    }
}

macro_rules! states {
    ($owner:ident, $context:ty, $message:ty, $parcel:expr) => {
        impl State<$owner> for Dock {}

        impl State<$owner> for Rest {
            fn enter(&self, _: &mut $owner, fsm: &mut Fsm<'_, $owner>, _: &mut $context) {
                fsm.send_after(1.5, $parcel);
            }

            fn on_message(
                &self,
                owner: &mut $owner,
                message: &$message,
                fsm: &mut Fsm<'_, $owner>,
                _: &mut $context,
            ) -> bool {
                owner.0.push(format!("{message:?}"));
                fsm.change_state(Box::new(Carry(u32::try_from(owner.0.len()).unwrap_or(0))));
                true
            }

            fn parent(&self) -> Option<StateRef<$owner>> {
                Some((&Dock).into())
            }
        }

        impl State<$owner> for Carry {
            fn update(&self, owner: &mut $owner, fsm: &mut Fsm<'_, $owner>, cx: &mut $context) {
                owner.0.push(format!("carries {} for {}", self.0, fsm.time_in_state(cx)));
                if fsm.time_in_state(cx) > 1.0 {
                    fsm.push_state(&Rest);
                }
            }
        }
    };
}

states!(Porter, f64, Parcel, Parcel(7));
states!(Sailor, Harbor, Telegram<u8, Parcel>, Telegram::new(1, 2, Parcel(8)));

fn porters() -> StateBook<Porter> {
    StateBook::new().with(&Rest).with(&Dock).with_owned::<Carry>().with_messages()
}

fn sailors() -> CastBook<Harbor> {
    let book = StateBook::<Sailor>::new().with(&Rest).with(&Dock).with_owned::<Carry>().with_messages();
    CastBook::new().with("sailor", book).with_merging()
}

/// What can be saved and loaded, and goes on.
trait Host: Sized {
    type Saved: DeserializeOwned;

    fn make() -> Self;
    fn write(&self, format: Format) -> Result<Vec<u8>, String>;
    fn load(saved: Self::Saved) -> Result<Self, String>;
    fn tick(&mut self, seconds: f64);
    fn fate(&self) -> String;

    /// What happens to it from now on.
    fn goes_on(mut self) -> Vec<String> {
        let mut fates = vec![self.fate()];
        for tick in 20..35 {
            self.tick(f64::from(tick) / 4.0);
            fates.push(self.fate());
        }
        fates
    }
}

fn begun<H: Host>(mut host: H) -> H {
    for tick in 0..20 {
        host.tick(f64::from(tick) / 4.0);
    }
    host
}

impl Host for StateMachine<Porter> {
    type Saved = SavedMachine;

    fn make() -> Self {
        let mut machine = StateMachine::new(&Dock);
        machine.push_state(&mut Porter(vec![]), &Rest, &mut 0.0);
        begun(machine)
    }

    fn write(&self, format: Format) -> Result<Vec<u8>, String> {
        format.write(&self.save(&porters(), 4.75).map_err(|error| error.to_string())?)
    }

    fn load(saved: SavedMachine) -> Result<Self, String> {
        porters().load(saved, 4.75).map_err(|error| error.to_string())
    }

    fn tick(&mut self, mut seconds: f64) {
        self.update(&mut Porter(vec![]), &mut seconds);
    }

    fn fate(&self) -> String {
        format!("{self:?} {}", self.digest())
    }
}

impl Host for Agent<Porter> {
    type Saved = SavedAgent<Porter>;

    fn make() -> Self {
        let mut agent = Self::new(Porter(vec![]), StateMachine::new(&Dock));
        agent.change_state(&Rest, &mut 0.0);
        begun(agent)
    }

    fn write(&self, format: Format) -> Result<Vec<u8>, String> {
        format.write(&self.save(&porters(), 4.75).map_err(|error| error.to_string())?)
    }

    fn load(saved: SavedAgent<Porter>) -> Result<Self, String> {
        Self::load(saved, &porters(), 4.75).map_err(|error| error.to_string())
    }

    fn tick(&mut self, mut seconds: f64) {
        self.update(&mut seconds);
    }

    fn fate(&self) -> String {
        format!("{self:?} {:?} {}", self.0, self.machine().digest())
    }
}

impl Host for Batch<Porter> {
    type Saved = SavedBatch<Porter>;

    fn make() -> Self {
        let mut batch = Self::new();
        let shared: StateRef<Porter> = Box::new(Carry(100)).into();
        for nth in 0..9_u32 {
            let key = match nth % 3 {
                0 => batch.insert(Porter(vec![]), shared.clone()),
                1 => batch.insert(Porter(vec![]), &Dock),
                _ => batch.insert(Porter(vec![]), Box::new(Carry(nth))),
            };
            if nth % 2 == 0 {
                batch.push_state(key, &Rest, &mut f64::from(nth));
            }
            if nth == 7 {
                batch.remove(key);
            }
        }
        begun(batch)
    }

    fn write(&self, format: Format) -> Result<Vec<u8>, String> {
        format.write(&self.save(&porters(), 4.75).map_err(|error| error.to_string())?)
    }

    fn load(saved: SavedBatch<Porter>) -> Result<Self, String> {
        Self::load(saved, &porters(), 4.75).map_err(|error| error.to_string())
    }

    fn tick(&mut self, mut seconds: f64) {
        self.update(&mut seconds);
    }

    fn fate(&self) -> String {
        let digest = self.digest(|porter, hasher| std::hash::Hash::hash(&porter.0, hasher));
        format!("{self:?} {digest} {:?}", self.iter())
    }
}

impl Host for Harbor {
    type Saved = SavedCast<u8, Parcel>;

    fn make() -> Self {
        let mut harbor = Self::new(()).with_dispatcher(Dispatcher::merging_within(0.25));
        for key in 0..4 {
            let mut agent = Agent::new(Sailor(vec![]), StateMachine::new(Box::new(Carry(key.into()))));
            agent.machine_mut().set_previous(&Dock);
            harbor.add(key, agent).unwrap();
        }
        harbor.send_after(6.0, 1, 3, Parcel(1));
        harbor.send_after(f64::INFINITY, 1, 3, Parcel(2));
        // Put off, and left behind by a panic.
        let left = catch_unwind(AssertUnwindSafe(|| {
            _ = harbor.with::<Sailor, _>(&2, |_, harbor| {
                harbor.send(1, 2, Parcel(3));
                harbor.post(1, 2, Parcel(4));
                resume_unwind(Box::new(SAYS));
            });
        }));
        assert!(left.is_err());
        begun_with_telegrams(harbor)
    }

    fn write(&self, format: Format) -> Result<Vec<u8>, String> {
        format.write(&self.save(&sailors()).map_err(|error| error.to_string())?)
    }

    fn load(saved: SavedCast<u8, Parcel>) -> Result<Self, String> {
        Self::load(saved, &sailors(), ()).map_err(|error| error.to_string())
    }

    fn tick(&mut self, _: f64) {
        self.advance(Duration::from_millis(250));
        self.update();
        self.deliver_due();
    }

    fn fate(&self) -> String {
        let members = self.iter::<Sailor>().map(|(key, sailor)| format!("{key} {:?} {sailor:?}", sailor.0));
        format!("{:?} {:?} {:?}", self.time(), members.collect::<Vec<_>>(), self.dispatcher())
    }
}

/// Only some members have their turns, so that telegrams still wait for another.
fn begun_with_telegrams(mut harbor: Harbor) -> Harbor {
    for _ in 0..19 {
        harbor.advance(Duration::from_millis(250));
        harbor.update_one(&0);
    }
    harbor
}

fn is_untouched_by_failed_saving<H: Host + Debug>() {
    let host = H::make();
    let expected = H::make().goes_on();
    let intact = Format::ALL.map(|format| host.write(format).unwrap());
    for (format, intact) in Format::ALL.into_iter().zip(&intact) {
        let failures = each_failure(&WRITES, |piece, nth, way| {
            let error = attempt(piece, nth, way, || host.write(format));
            if let Some(error) = error.as_ref().filter(|_| way == Way::Error && format.has_names()) {
                assert!(error.contains(SAYS), "{piece}: {error}");
            }
            assert_eq!(host.write(format).as_ref(), Ok(intact), "after {piece} has failed");
            error
        });
        assert!(failures >= 2, "{format:?}: {failures}");
    }
    assert_eq!(host.goes_on(), expected);
}

fn is_untouched_by_failed_loading<H: Host + Debug>() {
    let host = H::make();
    let expected = H::make().goes_on();
    for format in Format::ALL {
        let intact = host.write(format).unwrap();
        let failures = each_failure(&READS, |piece, nth, way| {
            let error = attempt(piece, nth, way, || H::load(format.read(&intact)?));
            if let Some(error) = error.as_ref().filter(|_| way == Way::Error && format.has_names()) {
                assert!(error.contains(SAYS), "{piece}: {error}");
            }
            error
        });
        assert!(failures >= 2, "{format:?}: {failures}");
        let loaded = H::load(format.read(&intact).unwrap()).unwrap();
        assert_eq!(loaded.goes_on(), expected, "what is loaded afterwards, in {format:?}");
        assert_eq!(host.write(format).unwrap(), intact);
    }
    assert_eq!(host.goes_on(), expected);
}

/// Rules 22 and 27.
#[test]
fn a_save_in_which_the_games_code_fails_or_panics_changes_nothing() {
    is_untouched_by_failed_saving::<StateMachine<Porter>>();
    is_untouched_by_failed_saving::<Agent<Porter>>();
    is_untouched_by_failed_saving::<Batch<Porter>>();
    is_untouched_by_failed_saving::<Harbor>();
}

/// Rules 22 and 27.
#[test]
fn a_load_in_which_the_games_code_fails_or_panics_changes_nothing() {
    is_untouched_by_failed_loading::<StateMachine<Porter>>();
    is_untouched_by_failed_loading::<Agent<Porter>>();
    is_untouched_by_failed_loading::<Batch<Porter>>();
    is_untouched_by_failed_loading::<Harbor>();
}

proptest! {
    #![proptest_config({
        let usual = ProptestConfig::default();
        ProptestConfig { cases: usual.cases.div_ceil(4), failure_persistence: None, ..usual }
    })]

    /// Rule 27: what is there when something damaged is loaded with its book goes on as its twin, and so does what is loaded later.
    #[test]
    fn what_is_there_goes_on_as_its_twin_whatever_is_loaded_beside_it(
        damages in prop::collection::vec(prop::collection::vec(damage(), 1..4), 1..8),
        changes in prop::collection::vec((prop::collection::vec(any::<Index>(), 1..9), 0..12_u8, any::<u32>()), 1..8),
    ) {
        let (book, cast_book) = (book(), cast::book());
        let (mut there, _) = batch();
        let nth = damages.len() % 8;
        let (mut guard, mut machine) = machines().swap_remove(nth);
        let mut town = cast::town();
        for _ in 0..10 {
            cast::tick(&mut town);
        }
        let cast_bytes = postcard::to_allocvec(&town.save(&cast_book).unwrap()).unwrap();
        let batch_bytes = postcard::to_allocvec(&saved_batch()).unwrap();
        let machine_bytes = postcard::to_allocvec(&saved_machine(nth)).unwrap();
        let queue = serde_json::to_vec(town.dispatcher()).unwrap();
        for damages in &damages {
            if let Ok(saved) = postcard::from_bytes(&damaged(batch_bytes.clone(), damages)) {
                _ = Batch::load(saved, &book, 4.9);
            }
            if let Ok(saved) = postcard::from_bytes(&damaged(machine_bytes.clone(), damages)) {
                _ = book.load(saved, 4.9);
            }
            if let Ok(saved) = postcard::from_bytes(&damaged(cast_bytes.clone(), damages)) {
                _ = Town::load(saved, &cast_book, vec![]);
            }
            _ = serde_json::from_slice::<Dispatcher<u8, News>>(&damaged(queue.clone(), damages));
        }
        for (path, how, number) in &changes {
            let mut value = serde_json::to_value(saved_batch()).unwrap();
            change(&mut value, &mut path.iter().copied(), *how, *number);
            if let Ok(saved) = serde_json::from_value(value) {
                _ = Batch::load(saved, &book, 4.9);
            }
            let mut value = serde_json::to_value(town.save(&cast_book).unwrap()).unwrap();
            change(&mut value, &mut path.iter().copied(), *how, *number);
            if let Ok(saved) = serde_json::from_value::<SavedCast<u8, News>>(value) {
                _ = Town::load(saved, &cast_book, vec![]);
            }
        }
        let update = |batch: &mut Batch<Guard>, now: f64| batch.update(&mut { now });
        let mut loaded = Batch::load(saved_batch(), &book, 4.9).unwrap();
        let expected = go_on_together(&mut batch().0, update);
        prop_assert_eq!(go_on_together(&mut there, update), expected.clone());
        prop_assert_eq!(go_on_together(&mut loaded, update), expected);
        let (mut twin, mut of_twin) = machines().swap_remove(nth);
        prop_assert_eq!(go_on(&mut guard, &mut machine), go_on(&mut twin, &mut of_twin));
        let mut twin = Town::load(postcard::from_bytes(&cast_bytes).unwrap(), &cast_book, town.world.clone()).unwrap();
        for _ in 0..20 {
            cast::tick(&mut town);
            cast::tick(&mut twin);
        }
        prop_assert_eq!(&town.world, &twin.world);
    }
}
