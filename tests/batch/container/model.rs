//! Random operations on a batch, and on a plain map that says what it should hold.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use demeanor::{Batch, Fsm, Key, Owner, State, StateRef};
use proptest::collection::vec;
use proptest::prelude::*;

/// How many states there are that are made at run time. Of all threads: a parallel pass drops some on its own. One test alone
/// makes them.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// A cow does, in the next tick, what it is told.
#[derive(Clone, Debug, Default)]
struct Cow {
    number: u32,
    ticks: u32,
    goes_to: Option<StateRef<Cow>>,
}

impl Owner for Cow {
    type Context<'a> = ();
    type Message = ();
}

fn tick(cow: &mut Cow, fsm: &mut Fsm<'_, Cow>) {
    cow.ticks += 1;
    if let Some(state) = cow.goes_to.take() {
        fsm.change_state(state);
    }
}

/// A state that is made at run time, and that is another each time.
struct Field(u32);

impl Field {
    fn new(number: u32) -> Self {
        LIVE.fetch_add(1, Relaxed);
        Self(number)
    }
}

impl Clone for Field {
    fn clone(&self) -> Self {
        Self::new(self.0)
    }
}

impl Drop for Field {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Relaxed);
    }
}

struct Barn;
struct Yard;
/// Is in the yard.
struct Trough;

impl State<Cow> for Field {
    fn update(&self, cow: &mut Cow, fsm: &mut Fsm<'_, Cow>, (): &mut ()) {
        tick(cow, fsm);
    }

    fn name(&self) -> std::borrow::Cow<'_, str> {
        format!("Field {}", self.0).into()
    }
}

impl State<Cow> for Barn {
    fn update(&self, cow: &mut Cow, fsm: &mut Fsm<'_, Cow>, (): &mut ()) {
        tick(cow, fsm);
    }
}

impl State<Cow> for Yard {
    fn update(&self, cow: &mut Cow, fsm: &mut Fsm<'_, Cow>, (): &mut ()) {
        // Not once more for those at the trough.
        if fsm.current().is_some_and(|current| current.is::<Self>()) {
            tick(cow, fsm);
        }
    }

    fn initial(&self) -> Option<StateRef<Cow>> {
        Some((&Trough).into())
    }
}

impl State<Cow> for Trough {
    fn update(&self, cow: &mut Cow, fsm: &mut Fsm<'_, Cow>, (): &mut ()) {
        tick(cow, fsm);
    }

    fn parent(&self) -> Option<StateRef<Cow>> {
        Some((&Yard).into())
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Insert(u8),
    Extend(Vec<u8>),
    Remove(u8),
    Change(u8, u8),
    SetCurrent(u8, u8),
    SetPrevious(u8, u8),
    Revert(u8),
    Push(u8, u8),
    Pop(u8),
    Stop(u8),
    Write(u8),
    /// Each cow to a state by its number, in one tick.
    Update(u8),
    ParUpdate(u8),
    Retain(u8),
    Drain(u8),
    Clear,
    Clone,
    CloneFrom,
    Reserve(u8, u8),
    Shrink,
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    let byte = any::<u8>;
    prop_oneof![
        8 => byte().prop_map(Insert),
        2 => vec(byte(), 0..6).prop_map(Extend),
        4 => byte().prop_map(Remove),
        4 => (byte(), byte()).prop_map(|(at, state)| Change(at, state)),
        2 => (byte(), byte()).prop_map(|(at, state)| SetCurrent(at, state)),
        2 => (byte(), byte()).prop_map(|(at, state)| SetPrevious(at, state)),
        2 => byte().prop_map(Revert),
        3 => (byte(), byte()).prop_map(|(at, state)| Push(at, state)),
        2 => byte().prop_map(Pop),
        1 => byte().prop_map(Stop),
        2 => byte().prop_map(Write),
        5 => byte().prop_map(Update),
        2 => byte().prop_map(ParUpdate),
        1 => byte().prop_map(Retain),
        1 => byte().prop_map(Drain),
        1 => Just(Clear),
        1 => Just(Clone),
        1 => Just(CloneFrom),
        1 => (byte(), byte()).prop_map(|(count, state)| Reserve(count, state)),
        1 => Just(Shrink),
    ]
}

/// What a cow should be like, its states by name; "" is no state.
#[derive(Clone, Debug, PartialEq)]
struct Expected {
    number: u32,
    ticks: u32,
    current: String,
    previous: String,
    stack: Vec<String>,
}

impl Expected {
    fn change(&mut self, to: String) {
        // A change from no state keeps previous.
        if !self.current.is_empty() {
            self.previous.clone_from(&self.current);
        }
        self.current = to;
    }

    fn update(&mut self, to: Option<String>) {
        if self.current.is_empty() {
            return;
        }
        self.ticks += 1;
        if let Some(to) = to {
            self.change(to);
        }
    }
}

#[derive(Default)]
struct Herd {
    batch: Batch<Cow>,
    expected: BTreeMap<Key, Expected>,
    snapshot: Option<(Batch<Cow>, BTreeMap<Key, Expected>)>,
    next: u32,
}

impl Herd {
    /// A state of a kind, and the name of where a change to it leads.
    fn state(&mut self, kind: u8) -> (StateRef<Cow>, String) {
        let fresh = Field::new(self.next);
        self.next += 1;
        match kind % 5 {
            0 => ((&Barn).into(), "Barn".into()),
            1 => ((&Yard).into(), "Trough".into()),
            2 => ((&Trough).into(), "Trough".into()),
            3 => (Arc::new(fresh.clone()).into(), format!("Field {}", fresh.0)),
            _ => (Box::new(fresh.clone()).into(), format!("Field {}", fresh.0)),
        }
    }

    fn insert(&mut self, kind: u8) {
        let (state, _) = self.state(kind);
        let number = self.next;
        let current = state.to_string();
        let key = self.batch.insert(Cow { number, ..Cow::default() }, state);
        let cow = Expected { number, ticks: 0, current, previous: String::new(), stack: Vec::new() };
        assert_eq!(self.expected.insert(key, cow), None, "a new key");
    }

    /// Tells about half of the cows where to go in the next tick.
    fn tell(&mut self, seed: u8) {
        for (key, expected) in mem::take(&mut self.expected) {
            let mut expected = expected;
            let way = (expected.number * 31 + u32::from(seed)).wrapping_mul(0x9E37_79B9).to_be_bytes()[0];
            let (state, name) = self.state(way);
            let goes = way % 2 == 0 && !expected.current.is_empty();
            self.batch[key].goes_to = goes.then_some(state);
            expected.update(goes.then_some(name));
            self.expected.insert(key, expected);
        }
    }

    fn run(&mut self, operation: Operation) {
        use Operation::*;
        let at = |index: u8| self.expected.keys().nth(usize::from(index) % self.expected.len().max(1)).copied();
        match operation {
            Insert(kind) => self.insert(kind),
            Extend(kinds) => {
                let mut added = Vec::new();
                for kind in kinds {
                    let (state, _) = self.state(kind);
                    added.push((Cow { number: self.next, ..Cow::default() }, state));
                }
                let names: BTreeMap<_, _> = added.iter().map(|(cow, state)| (cow.number, state.to_string())).collect();
                self.batch.extend(added);
                for (key, cow) in &self.batch {
                    self.expected.entry(key).or_insert_with(|| Expected {
                        number: cow.number,
                        ticks: 0,
                        current: names[&cow.number].clone(),
                        previous: String::new(),
                        stack: Vec::new(),
                    });
                }
            }
            Remove(index) => {
                let key = at(index).unwrap_or_default();
                let removed = self
                    .batch
                    .remove(key)
                    .map(|(cow, machine)| (cow.number, machine.current().map(ToString::to_string).unwrap_or_default()));
                assert_eq!(removed, self.expected.remove(&key).map(|cow| (cow.number, cow.current)));
            }
            Update(seed) => {
                self.tell(seed);
                self.batch.update(&mut ());
            }
            ParUpdate(seed) => {
                self.tell(seed);
                #[cfg(feature = "parallel")]
                self.batch.par_update(|_| ());
                #[cfg(not(feature = "parallel"))]
                self.batch.update_part(0, 1, &mut ());
            }
            Retain(part) => {
                let is_kept = |number: u32| number % 3 != u32::from(part % 3);
                self.batch.retain(|_, cow| is_kept(cow.number));
                self.expected.retain(|_, cow| is_kept(cow.number));
            }
            Drain(count) => {
                let taken: Vec<_> =
                    self.batch.drain().take(usize::from(count)).map(|(key, cow, _)| (key, cow.number)).collect();
                let in_order: Vec<_> = self.expected.iter().map(|(key, cow)| (*key, cow.number)).collect();
                assert_eq!(taken.iter().copied().collect::<BTreeSet<_>>().len(), taken.len());
                assert!(taken.iter().all(|cow| in_order.contains(cow)));
                assert_eq!(taken.len(), in_order.len().min(count.into()));
                self.expected.clear();
            }
            Clear => {
                self.batch.clear();
                self.expected.clear();
            }
            Clone => self.snapshot = Some((self.batch.clone(), self.expected.clone())),
            CloneFrom => {
                if let Some((batch, expected)) = &self.snapshot {
                    self.batch.clone_from(batch);
                    self.expected.clone_from(expected);
                }
            }
            Reserve(count, kind) => {
                let (state, _) = self.state(kind);
                self.batch.reserve(count.into(), state);
            }
            Shrink => self.batch.shrink_to_fit(),
            Change(index, _)
            | SetCurrent(index, _)
            | SetPrevious(index, _)
            | Revert(index)
            | Push(index, _)
            | Pop(index)
            | Stop(index)
            | Write(index) => {
                if let Some(key) = at(index) {
                    self.run_on(key, &operation);
                }
            }
        }
        self.check();
    }

    /// What concerns one cow.
    fn run_on(&mut self, key: Key, operation: &Operation) {
        use Operation::*;
        let (state, target) = match operation {
            Change(_, kind) | SetCurrent(_, kind) | SetPrevious(_, kind) | Push(_, kind) => self.state(*kind),
            _ => self.state(0),
        };
        let (batch, cow) = (&mut self.batch, self.expected.get_mut(&key).expect("it is there"));
        match operation {
            Change(..) => {
                assert!(batch.change_state(key, state, &mut ()));
                cow.change(target);
            }
            SetCurrent(..) => {
                cow.current = state.to_string();
                assert!(batch.set_current(key, state));
            }
            SetPrevious(..) => {
                cow.previous = state.to_string();
                assert!(batch.set_previous(key, state));
            }
            Revert(_) => {
                let has_previous = !cow.previous.is_empty();
                assert_eq!(batch.revert_state(key, &mut ()), has_previous);
                if has_previous {
                    // A change to a composite goes down to its initial child.
                    let to = if cow.previous == "Yard" { "Trough".into() } else { cow.previous.clone() };
                    cow.change(to);
                }
            }
            Push(..) => {
                let is_deep = cow.stack.len() == 64;
                assert_eq!(batch.push_state(key, state, &mut ()), !is_deep);
                if !is_deep {
                    cow.stack.push(cow.current.clone());
                    cow.change(target);
                }
            }
            Pop(_) => {
                let below = cow.stack.pop();
                assert_eq!(batch.pop_state(key, &mut ()), below.is_some());
                if let Some(below) = below {
                    cow.change(below);
                }
            }
            Stop(_) => {
                assert!(batch.stop(key, &mut ()));
                cow.change(String::new());
                cow.stack.clear();
            }
            _ => {
                batch[key].ticks += 100;
                cow.ticks += 100;
            }
        }
    }

    fn check(&self) {
        let Self { batch, expected, .. } = self;
        assert_eq!((batch.len(), batch.is_empty()), (expected.len(), expected.is_empty()));
        assert!(batch.keys().collect::<BTreeSet<_>>().into_iter().eq(expected.keys().copied()));
        let name = |state: Option<&StateRef<Cow>>| state.map(ToString::to_string).unwrap_or_default();
        for (key, cow) in expected {
            let found = Expected {
                number: batch[*key].number,
                ticks: batch[*key].ticks,
                current: name(batch.state_of(*key)),
                previous: name(batch.previous_of(*key)),
                stack: cow.stack.clone(),
            };
            assert_eq!(found, *cow);
            assert_eq!(batch.is_in_state(*key, &Yard), ["Yard", "Trough"].contains(&cow.current.as_str()));
        }
        // The rows lie by state, in the order in which the census names the states.
        let rows: BTreeMap<_, _> = batch.iter().map(|(key, cow)| (key, cow.number)).collect();
        assert!(rows.into_iter().eq(expected.iter().map(|(key, cow)| (*key, cow.number))));
        let mut in_rows = batch.iter().filter(|(key, _)| batch.state_of(*key).is_some());
        for (state, count) in batch.census() {
            let here: Vec<_> = in_rows.by_ref().take(count).collect();
            assert_eq!(here.len(), count);
            for (key, _) in here {
                let own = batch.state_of(key).expect("it is in one");
                assert!(own == state || own.is_owned() && state.is_owned(), "{own} lies with {state}");
            }
        }
        assert!(in_rows.next().is_none());
    }

    /// The batch has forgotten all states that nobody is in, comes from or goes back to.
    fn check_memory(&mut self) {
        self.snapshot = None;
        // One that nobody of the game can see, which is to be forgotten, too.
        let guest = self.batch.insert(Cow::default(), Arc::new(Field::new(u32::MAX)));
        drop(self.batch.remove(guest));
        // The batch looks for such states within 64 ticks, however many owners there are.
        (0..64).for_each(|_| self.batch.update(&mut ()));
        let named = self.expected.values().flat_map(|cow| [&cow.current, &cow.previous].into_iter().chain(&cow.stack));
        let needed: BTreeSet<_> = named.filter(|name| name.starts_with("Field")).collect();
        assert_eq!(LIVE.load(Relaxed), needed.len(), "{needed:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_batch_holds_what_a_plain_map_holds(operations in vec(operation(), 1..60)) {
        let mut herd = Herd::default();
        for operation in operations {
            herd.run(operation);
        }
        herd.check_memory();
        drop(herd);
        assert_eq!(LIVE.load(Relaxed), 0);
    }
}
