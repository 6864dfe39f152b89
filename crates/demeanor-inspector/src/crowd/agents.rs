//! Agents in a slice or `Vec` as a crowd. The key of an agent is its index.

use std::collections::HashMap;
use std::ops::Range;

use demeanor::{Agent, Fsm, MachineReport, Owner, StateMachine, StateRef};

use super::{Count, Crowd, CrowdMut, label_of, state_among};

/// Returns the number of machines in each state, in the order in which the states are found. A machine whose state has open regions
/// is in this state and in a state of each region.
pub(crate) fn count<'m, T: Owner>(machines: impl Iterator<Item = &'m StateMachine<T>>) -> Vec<Count> {
    let mut tally = Tally::default();
    for machine in machines {
        let Some(current) = machine.current() else { continue };
        tally.add(current, 1);
        if machine.has_open_regions() {
            tally.add_inside(current, &|composite| machine.regions(composite.clone()).collect());
        }
    }
    tally.counts()
}

/// How many owners are in each state.
pub(super) struct Tally<'m, T: Owner> {
    places: HashMap<&'m StateRef<T>, usize>,
    counts: Vec<(&'m StateRef<T>, usize)>,
}

impl<'m, T: Owner> Tally<'m, T> {
    pub(super) fn add(&mut self, state: &'m StateRef<T>, owners: usize) {
        let place = *self.places.entry(state).or_insert_with(|| {
            self.counts.push((state, 0));
            self.counts.len() - 1
        });
        self.counts[place].1 += owners;
    }

    /// Adds an owner to the innermost states in the regions of `composite`, and in the regions of these states. `regions` returns the
    /// innermost state in each region of a state.
    pub(super) fn add_inside(
        &mut self,
        composite: &StateRef<T>,
        regions: &dyn Fn(&StateRef<T>) -> Vec<&'m StateRef<T>>,
    ) {
        for state in regions(composite) {
            self.add(state, 1);
            self.add_inside(state, regions);
        }
    }

    pub(super) fn counts(self) -> Vec<Count> {
        together(self.counts.into_iter().map(|(state, owners)| Count::new(state, owners)))
    }
}

impl<T: Owner> Default for Tally<'_, T> {
    fn default() -> Self {
        Self { places: HashMap::new(), counts: Vec::new() }
    }
}

/// Combines the counts of states with the same path: many owners may be in owned states.
pub(super) fn together(counts: impl Iterator<Item = Count>) -> Vec<Count> {
    let mut places = HashMap::new();
    let mut together: Vec<Count> = Vec::new();
    for Count { path, owners } in counts {
        let place = *places.entry(path.clone()).or_insert_with(|| {
            together.push(Count { path, owners: 0 });
            together.len() - 1
        });
        together[place].owners += owners;
    }
    together
}

impl<T: Owner> Crowd for [Agent<T>] {
    type Key = usize;
    type Context<'a> = T::Context<'a>;

    fn now(&self, cx: &T::Context<'_>) -> f64 {
        super::now::<T>(cx)
    }

    fn len(&self) -> usize {
        <[_]>::len(self)
    }

    fn awake(&self) -> Option<usize> {
        Some(self.iter().filter(|agent| !agent.is_asleep()).count())
    }

    fn census(&self, _: &T::Context<'_>) -> Vec<Count> {
        count(self.iter().map(Agent::machine))
    }

    fn stays(&self, places: Range<usize>, cx: &T::Context<'_>, visit: &mut dyn FnMut(usize, f64)) {
        let agents = self.iter().enumerate().take(places.end).skip(places.start);
        agents.for_each(|(place, agent)| visit(place, agent.machine().time_in_state(cx)));
    }

    fn label(&self, key: usize) -> Option<String> {
        self.get(key).map(|agent| label_of(&**agent))
    }

    fn report(&self, key: usize, cx: &T::Context<'_>) -> Option<MachineReport> {
        Some(self.get(key)?.report(super::now::<T>(cx)))
    }

    fn find(&self, text: &str) -> Option<usize> {
        text.parse().ok().filter(|key| *key < self.len())
    }
}

impl<T: Owner> CrowdMut<T> for [Agent<T>] {
    fn with<R>(
        &mut self,
        key: usize,
        cx: &mut T::Context<'_>,
        act: impl FnOnce(&mut T, &mut Fsm<'_, T>, &mut T::Context<'_>) -> R,
    ) -> Option<R> {
        Some(self.get_mut(key)?.with(cx, act))
    }

    fn state(&self, name: &str) -> Option<StateRef<T>> {
        let machines = self.iter().map(Agent::machine);
        state_among(machines.flat_map(|machine| machine.active_states().chain(machine.previous())), name)
    }
}

impl<T: Owner> Crowd for Vec<Agent<T>> {
    type Key = usize;
    type Context<'a> = T::Context<'a>;

    fn now(&self, cx: &T::Context<'_>) -> f64 {
        super::now::<T>(cx)
    }

    fn len(&self) -> usize {
        Self::len(self)
    }

    fn awake(&self) -> Option<usize> {
        self.as_slice().awake()
    }

    fn census(&self, cx: &T::Context<'_>) -> Vec<Count> {
        self.as_slice().census(cx)
    }

    fn stays(&self, places: Range<usize>, cx: &T::Context<'_>, visit: &mut dyn FnMut(usize, f64)) {
        self.as_slice().stays(places, cx, visit);
    }

    fn label(&self, key: usize) -> Option<String> {
        self.as_slice().label(key)
    }

    fn report(&self, key: usize, cx: &T::Context<'_>) -> Option<MachineReport> {
        self.as_slice().report(key, cx)
    }

    fn find(&self, text: &str) -> Option<usize> {
        self.as_slice().find(text)
    }
}

impl<T: Owner> CrowdMut<T> for Vec<Agent<T>> {
    fn with<R>(
        &mut self,
        key: usize,
        cx: &mut T::Context<'_>,
        act: impl FnOnce(&mut T, &mut Fsm<'_, T>, &mut T::Context<'_>) -> R,
    ) -> Option<R> {
        self.as_mut_slice().with(key, cx, act)
    }

    fn state(&self, name: &str) -> Option<StateRef<T>> {
        self.as_slice().state(name)
    }
}
