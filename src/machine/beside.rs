//! What a machine keeps beside its seat, and most machines do without.

use alloc::boxed::Box;
use core::mem;

use super::idle::Idle;
use crate::owner::Owner;
use crate::state::StateRef;

/// A global state, and ticks that have nothing to do: one word of the machine, where there are neither.
pub(crate) struct Beside<T: Owner>(Option<Box<BesideSeat<T>>>);

struct BesideSeat<T: Owner> {
    /// `StateRef::NONE` when there is none.
    global: StateRef<T>,
    idle: Idle,
}

impl<T: Owner> Beside<T> {
    #[inline]
    pub(crate) fn new(global: StateRef<T>) -> Self {
        let mut beside = Self(None);
        if !global.is_none() {
            beside.set_global(global);
        }
        beside
    }

    /// The global state; `StateRef::NONE` when there is none.
    #[inline]
    pub(crate) fn global(&self) -> &StateRef<T> {
        self.0.as_ref().map_or(StateRef::NOWHERE, |kept| &kept.global)
    }

    pub(crate) fn set_global(&mut self, global: StateRef<T>) {
        self.kept().global = global;
    }

    /// Whether a tick of a machine in this state has nothing to do.
    #[inline]
    pub(crate) fn is_idle(&mut self, current: &StateRef<T>, now: impl FnOnce() -> f64) -> bool {
        self.0.as_mut().is_some_and(|kept| kept.global.is_none() && kept.idle.lasts(current, now))
    }

    /// Forgets what is known of the next tick, so that it is carried out in full. Returns what was known.
    #[inline]
    pub(crate) fn end_idle(&mut self) -> Idle {
        match &mut self.0 {
            Some(kept) if !kept.idle.is_not() => mem::replace(&mut kept.idle, Idle::NOT),
            _ => Idle::NOT,
        }
    }

    /// Notes what is known of the next tick, about which nothing was known before.
    #[inline]
    pub(crate) fn be_idle(&mut self, idle: Idle) {
        if !idle.is_not() {
            self.kept().idle = idle;
        }
    }

    fn kept(&mut self) -> &mut BesideSeat<T> {
        self.0.get_or_insert_with(|| Box::new(BesideSeat { global: StateRef::NONE, idle: Idle::NOT }))
    }
}

/// A clone looks at its first tick in full.
impl<T: Owner> Clone for Beside<T> {
    fn clone(&self) -> Self {
        Self::new(self.global().clone())
    }

    fn clone_from(&mut self, source: &Self) {
        match &mut self.0 {
            Some(kept) => {
                kept.idle = Idle::NOT;
                kept.global.clone_from(source.global());
            }
            None => *self = source.clone(),
        }
    }
}
