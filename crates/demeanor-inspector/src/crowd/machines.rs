//! Machines that a game stores in its own way, lent to the inspector.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Range;
use std::sync::OnceLock;

use demeanor::{MachineReport, Owner, StateMachine};
use rustc_hash::FxBuildHasher;

use super::agents::count;
use super::{Count, Crowd, label_of};

/// Machines and their owners, wherever the game stores them, lent to an inspector for one call.
///
/// # Examples
///
/// ```
/// use demeanor::{Owner, State, StateMachine};
/// use demeanor_inspector::{Inspector, Machines};
///
/// struct Door;
/// impl Owner for Door { type Context<'a> = (); type Message = (); }
/// struct Closed;
/// impl State<Door> for Closed {}
///
/// let mut inspector = Inspector::bind("127.0.0.1:0")?;
/// let (front, machine) = (Door, StateMachine::new(&Closed));
/// inspector.show_with("doors", || Machines::new([("front", &front, &machine)]), &());
/// # Ok::<(), demeanor_inspector::BindError>(())
/// ```
pub struct Machines<'m, K, T: Owner> {
    list: Vec<(K, &'m T, &'m StateMachine<T>)>,
    /// The index of each key, once one has been looked up: a search looks up many.
    places: OnceLock<HashMap<K, usize, FxBuildHasher>>,
}

impl<'m, K: Copy, T: Owner> Machines<'m, K, T> {
    /// Lends machines, each with its key and its owner.
    #[must_use]
    pub fn new(machines: impl IntoIterator<Item = (K, &'m T, &'m StateMachine<T>)>) -> Self {
        Self { list: machines.into_iter().collect(), places: OnceLock::new() }
    }
}

impl<K: Copy + Eq + Hash, T: Owner> Machines<'_, K, T> {
    fn get(&self, key: K) -> Option<(&T, &StateMachine<T>)> {
        // The first of several machines with one key.
        let keys = || self.list.iter().enumerate().rev().map(|(place, (key, ..))| (*key, place)).collect();
        let (_, owner, machine) = self.list[*self.places.get_or_init(keys).get(&key)?];
        Some((owner, machine))
    }
}

impl<K, T> Crowd for Machines<'_, K, T>
where
    K: Copy + Eq + Hash + Debug + Send + Sync + 'static,
    T: Owner,
{
    type Key = K;
    type Context<'a> = T::Context<'a>;

    fn now(&self, cx: &T::Context<'_>) -> f64 {
        super::now::<T>(cx)
    }

    fn len(&self) -> usize {
        self.list.len()
    }

    fn awake(&self) -> Option<usize> {
        Some(self.list.iter().filter(|(.., machine)| !machine.is_asleep()).count())
    }

    fn census(&self, _: &T::Context<'_>) -> Vec<Count> {
        count(self.list.iter().map(|(.., machine)| *machine))
    }

    fn stays(&self, places: Range<usize>, cx: &T::Context<'_>, visit: &mut dyn FnMut(K, f64)) {
        let list = self.list.iter().take(places.end).skip(places.start);
        list.for_each(|(key, _, machine)| visit(*key, machine.time_in_state(cx)));
    }

    fn label(&self, key: K) -> Option<String> {
        self.get(key).map(|(owner, _)| label_of(owner))
    }

    fn report(&self, key: K, cx: &T::Context<'_>) -> Option<MachineReport> {
        let (owner, machine) = self.get(key)?;
        Some(machine.report(owner, super::now::<T>(cx)))
    }

    fn find(&self, text: &str) -> Option<K> {
        self.list.iter().map(|(key, ..)| *key).find(|key| self.key_text(*key) == text)
    }
}
