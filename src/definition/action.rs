//! Actions as they run: what the game does when an exit is taken, or when a state is entered or left (rule 40).

use std::sync::Arc;

use smallvec::SmallVec;

use super::closures::ActionFn;
use super::formula::Formula;
use super::moment::Moment;
#[cfg(feature = "script")]
use super::script::Script;
use crate::format::hook::Hook;
use crate::fsm::{Action, Fsm};
use crate::owner::Owner;
use crate::state::StateRef;

/// The actions of an exit, or those at the entry or the exit of a state, in the order in which they run.
pub(crate) struct Actions<T: Owner>(pub(crate) Box<[Act<T>]>);

/// An action of the game, or a value that is set, with its argument.
pub(crate) struct Act<T: Owner> {
    pub(crate) run: ActionFn<T>,
    pub(crate) argument: Formula<T>,
}

/// What runs in the callbacks of a state besides its behavior: a script, and the actions at the entry and the exit. Few states
/// have any.
pub(crate) struct Hooks<T: Owner> {
    pub(crate) enter: Actions<T>,
    pub(crate) exit: Actions<T>,
    #[cfg(feature = "script")]
    pub(crate) script: Option<Script<T>>,
}

impl<T: Owner> Hooks<T> {
    /// Returns the actions of a callback.
    pub(crate) fn actions(&self, hook: Hook) -> Option<&Actions<T>> {
        match hook {
            Hook::Enter => Some(&self.enter),
            Hook::Exit => Some(&self.exit),
            Hook::Update => None,
        }
    }
}

impl<T: Owner> Actions<T> {
    /// Reads all arguments, and then runs the actions.
    pub(crate) fn run(
        &self,
        owner: &mut T,
        cx: &mut T::Context<'_>,
        argument: impl Fn(usize, &T, &T::Context<'_>) -> f64,
    ) {
        let arguments: SmallVec<[f64; 8]> = (0..self.0.len()).map(|nth| argument(nth, owner, cx)).collect();
        for (act, argument) in self.0.iter().zip(arguments) {
            (act.run)(owner, argument, cx);
        }
    }

    /// Returns the actions of a change that an exit of `state` requests. Fields of the message are read now; everything else is
    /// read when the change is made.
    pub(crate) fn of_change(self: &Arc<Self>, state: StateRef<T>, message: Option<&T::Message>) -> Action<T> {
        let read = message.filter(|_| self.0.iter().any(|act| act.argument.asks_message()));
        let with = |message| self.0.iter().map(|act| act.argument.with(message)).collect();
        let read: Option<Vec<_>> = read.and_then(with);
        let actions = Arc::clone(self);
        Box::new(move |owner, fsm, cx| {
            actions.run(owner, cx, |nth, owner, cx| {
                let argument = read.as_ref().map_or(&actions.0[nth].argument, |read| &read[nth]);
                argument.result(owner, cx, Moment::of(&*state, fsm))
            });
        })
    }

    /// Runs the actions in a callback of the state.
    pub(crate) fn run_in(
        &self,
        state: &dyn crate::state::State<T>,
        owner: &mut T,
        fsm: &Fsm<'_, T>,
        cx: &mut T::Context<'_>,
    ) {
        self.run(owner, cx, |nth, owner, cx| self.0[nth].argument.result(owner, cx, Moment::of(state, fsm)));
    }
}
