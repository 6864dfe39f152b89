//! A batch as a crowd. A batch knows how many owners are in each state.

use std::ops::Range;

use demeanor::{Batch, Fsm, Journal, Key, MachineReport, Owner, StateRef};
use slotmap::{Key as _, KeyData};

use super::agents::Tally;
use super::{Count, Crowd, CrowdMut, label_of, state_among};

impl<T: Owner> Crowd for Batch<T> {
    type Key = Key;
    type Context<'a> = T::Context<'a>;

    fn now(&self, cx: &T::Context<'_>) -> f64 {
        super::now::<T>(cx)
    }

    fn len(&self) -> usize {
        Self::len(self)
    }

    fn awake(&self) -> Option<usize> {
        Some(Self::awake(self))
    }

    fn census(&self, _: &T::Context<'_>) -> Vec<Count> {
        let mut tally = Tally::default();
        let mut has_regions = false;
        for (state, owners) in Self::census(self) {
            tally.add(state, owners);
            has_regions |= owners > 0 && !state.regions().is_empty();
        }
        // Only where there are regions, each owner is looked at.
        for key in self.keys().filter(|_| has_regions) {
            if let Some(current) = self.state_of(key) {
                tally.add_inside(current, &|composite| {
                    self.regions(key, composite.clone()).into_iter().flatten().collect()
                });
            }
        }
        tally.counts()
    }

    fn stays(&self, places: Range<usize>, cx: &T::Context<'_>, visit: &mut dyn FnMut(Key, f64)) {
        Self::stays(self, places, super::now::<T>(cx)).for_each(|(key, _, seconds)| visit(key, seconds));
    }

    fn label(&self, key: Key) -> Option<String> {
        self.get(key).map(label_of)
    }

    fn report(&self, key: Key, cx: &T::Context<'_>) -> Option<MachineReport> {
        Self::report(self, key, super::now::<T>(cx))
    }

    /// For example `12v1`: the key's slot, and how often the slot has been used.
    fn key_text(&self, key: Key) -> String {
        format!("{:?}", key.data())
    }

    fn find(&self, text: &str) -> Option<Key> {
        let (index, version) = text.split_once('v')?;
        let (index, version): (u32, u32) = (index.parse().ok()?, version.parse().ok()?);
        let key = KeyData::from_ffi(u64::from(version) << 32 | u64::from(index)).into();
        self.contains_key(key).then_some(key)
    }

    fn journal(&self) -> Option<&Journal> {
        Self::journal(self)
    }
}

impl<T: Owner> CrowdMut<T> for Batch<T> {
    fn with<R>(
        &mut self,
        key: Key,
        cx: &mut T::Context<'_>,
        act: impl FnOnce(&mut T, &mut Fsm<'_, T>, &mut T::Context<'_>) -> R,
    ) -> Option<R> {
        Self::with(self, key, cx, act)
    }

    fn state(&self, name: &str) -> Option<StateRef<T>> {
        state_among(Self::census(self).map(|(state, _)| state), name)
    }
}
