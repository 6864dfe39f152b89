//! The pass: one update of each entity's machine that has something to do.
//!
//! Here is what is done for one entity, and what a pass begins and ends with. How a pass goes through the entities is in `tables`
//! and in `rows`.

use core::any::type_name;
use core::mem;
use std::panic::resume_unwind;
use std::sync::Arc;

use bevy_ecs::system::{Commands, Local, ParamSet, Res, SystemParam, SystemParamItem, SystemParamValidationError};
use bevy_ecs::world::{CommandQueue, World};
use demeanor::{NextWake, Owner};
use log::debug;

use crate::clock::{Clock, ClockOf, Reading};
use crate::context::{EntityContext, lend};
use crate::follow::{Followers, Log};
use crate::indexing;
use crate::label::{self, Names};
use crate::machine::Machine;
use crate::owner::{EntityOwner, OwnerChanges};
use crate::queue;
use crate::readers::refuse_hidden_readers;
use crate::waiting::{NextLook, Standstill};

/// How many entities share a context in a parallel pass. It decides the order of commands and events, so it must not depend
/// on the number of threads.
pub(crate) const CHUNK: usize = 1024;

/// What a pass needs beside the machines.
#[derive(SystemParam)]
pub(crate) struct Surroundings<'w, 's, T: EntityOwner> {
    /// Bevy applies these before the others.
    first: Commands<'w, 's>,
    param: Result<ParamSet<'w, 's, (<T as EntityOwner>::Param,)>, SystemParamValidationError>,
    commands: Commands<'w, 's>,
    clock: Clock<'w>,
    clock_of: Res<'w, ClockOf<T>>,
    names: Res<'w, Names>,
    followers: Res<'w, Followers<T>>,
    log: Local<'s, Log<T>>,
    standstill: Local<'s, Standstill>,
    /// Whether it was logged that the pass is skipped.
    is_skipped: Local<'s, bool>,
    /// Whether the parameter has been looked at for message readers.
    is_param_known: Local<'s, bool>,
    /// That of [`NextWake`] in the last pass.
    revision: Local<'s, usize>,
}

/// What a pass on one thread works with, and each chunk of one on many.
pub(crate) struct Begun<'a, T: EntityOwner> {
    pub(crate) param: SystemParamItem<'a, 'a, T::Param>,
    pub(crate) commands: Commands<'a, 'a>,
    pub(crate) reading: Reading,
    pub(crate) names: &'a Names,
    /// Whether what machines have said of when they next have something to do holds no more.
    pub(crate) is_outdated: bool,
    /// Where steps are written down, if they are followed.
    pub(crate) log: Option<&'a mut Log<T>>,
}

impl<T: EntityOwner> Surroundings<'_, '_, T> {
    /// Begins a pass. Returns nothing if its parameter cannot be had for now.
    pub(crate) fn begin(&mut self) -> Result<Option<Begun<'_, T>>, SystemParamValidationError> {
        let param = match &mut self.param {
            Ok(param) => param.p0(),
            Err(reason) if reason.skipped => {
                if !mem::replace(&mut *self.is_skipped, true) {
                    debug!("the pass over the machines of {} is skipped: {reason}", type_name::<T>());
                }
                return Ok(None);
            }
            Err(reason) => return Err(reason.clone()),
        };
        *self.is_skipped = false;
        if !mem::replace(&mut *self.is_param_known, true) {
            self.first.queue(refuse_hidden_readers::<T>);
        }
        let revision = NextWake::revision();
        let is_outdated = mem::replace(&mut *self.revision, revision) != revision;
        self.log.open(self.followers.is_told());
        Ok(Some(Begun {
            param,
            commands: self.commands.reborrow(),
            reading: Reading::of(&self.clock),
            names: &self.names,
            is_outdated,
            log: self.followers.is_anybody().then_some(&mut *self.log),
        }))
    }

    /// Ends a pass: what follows the steps is queued behind the callbacks' commands.
    pub(crate) fn end(&mut self, waited: Waited) {
        if waited.has_missed_clock {
            self.clock_of.warn_of_none();
        }
        // Those who are looked at see to this themselves; those who sleep are not looked at (rule 25).
        if let Some(now) = waited.at
            && self.standstill.stands(now)
        {
            debug!("machines of {} wait for a time, but their clock stands still at {now} s", type_name::<T>());
        }
        queue_following(&mut self.log, &self.followers, &mut self.first, &mut self.commands);
    }

    /// Takes over what the chunks of a parallel pass have led to, in their order.
    pub(crate) fn gather(&mut self, outcomes: &mut [Outcome<T>]) {
        for outcome in outcomes {
            self.commands.append(&mut outcome.commands);
            self.log.append(&mut outcome.log);
        }
    }
}

/// What the updates of a chunk have led to.
pub(crate) struct Outcome<T: Owner> {
    pub(crate) commands: CommandQueue,
    pub(crate) log: Log<T>,
}

impl<T: Owner> Outcome<T> {
    /// Prepares for a pass of at most a number of chunks, whose steps are written down or not.
    pub(crate) fn prepare(outcomes: &mut Vec<Self>, chunks: usize, wants_steps: bool) {
        if outcomes.len() < chunks {
            outcomes.resize_with(chunks, Self::default);
        }
        for outcome in &mut *outcomes {
            outcome.log.open(wants_steps);
        }
    }
}

impl<T: Owner> Default for Outcome<T> {
    fn default() -> Self {
        Self { commands: CommandQueue::default(), log: Log::default() }
    }
}

/// Has everything that follows the machines brought into step with them: indexes before anything else, the rest once the commands
/// of the callbacks are applied. What these lead to has its place behind it.
fn queue_following<T: Owner>(log: &mut Log<T>, followers: &Followers<T>, first: &mut Commands, last: &mut Commands) {
    let Some(log) = log.take_of_pass(&followers.spare) else { return };
    let (has_indexes, is_queued) = (followers.has_indexes, followers.is_queued());
    let spare = followers.spare.clone();
    let held = Arc::new(());
    let held_by = Arc::downgrade(&held);
    first.queue(move |world: &mut World| {
        if has_indexes {
            indexing::correct::<T>(&mut world.into(), log.entities());
        }
        if is_queued {
            queue::put_in(world, log.machines(), log.followed());
            queue::hold(world, held_by);
        } else {
            log.give_back(&spare);
        }
    });
    if is_queued {
        last.queue(|world: &mut World| {
            drop(held);
            queue::carry_out(world);
        });
    }
}

/// Joins what the chunks of a parallel pass have returned.
pub(crate) fn join(ends: Vec<std::thread::Result<Waited>>) -> Waited {
    let waited = ends.into_iter().map(|end| end.unwrap_or_else(|panic| resume_unwind(panic)));
    waited.fold(Waited::default(), Waited::or)
}

/// Who has waited for the clock in a pass.
#[derive(Clone, Copy, Default)]
pub(crate) struct Waited {
    /// What the clock shows, if a machine sleeps until it shows another time.
    at: Option<f64>,
    has_missed_clock: bool,
}

impl Waited {
    /// Of a pass that has ended, or of a chunk of one.
    pub(crate) fn new<T: EntityOwner>(at: Option<f64>, cx: &EntityContext<'_, T>) -> Self {
        label::leave();
        Self { at, has_missed_clock: cx.has_missed_clock() }
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self { at: other.at.or(self.at), has_missed_clock: self.has_missed_clock || other.has_missed_clock }
    }
}

/// What is to be done about a machine in this pass.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// It has something to do in every tick.
    Update,
    /// It was not known to have something to do, or has waited until now.
    UpdateDue,
    PassOver,
}

/// Looks when there is something to do for the machine of the entity that the context is at. The machine is not touched until
/// then, unless it is edited, or what it has said before is outdated. Notes what its clock shows, if it waits until that shows
/// another time.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call for each entity would be a fifth of what a pass takes")]
pub(crate) fn look<T: EntityOwner>(
    machine: &Machine<T>,
    next_look: &mut NextLook<T>,
    is_edited: bool,
    cx: &mut EntityContext<'_, T>,
    waited: &mut Option<f64>,
) -> Look {
    if next_look.is_every_tick() && !is_edited {
        return Look::Update;
    }
    if next_look.is_unknown() || is_edited {
        if machine.is_to_be_started() {
            return Look::UpdateDue;
        }
        next_look.ask(machine.next_wake());
        if next_look.is_every_tick() {
            return Look::UpdateDue;
        }
    }
    if next_look.is_never() {
        return Look::PassOver;
    }
    // An owner may have a clock of its own.
    let now = lend(cx, |cx| T::now(cx));
    if next_look.is_due(now) {
        return Look::UpdateDue;
    }
    *waited = Some(now);
    Look::PassOver
}

/// Updates a machine for which there is something to do. Returns whether it has changed state.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
pub(crate) fn update<T: EntityOwner>(
    look: Look,
    owner: &mut T,
    machine: &mut Machine<T>,
    next_look: &mut NextLook<T>,
    cx: &mut EntityContext<'_, T>,
    log: Option<&mut Log<T>>,
) -> bool {
    match look {
        Look::Update => update_one(owner, machine, next_look, cx, log),
        Look::UpdateDue => update_due(owner, machine, next_look, cx, log),
        Look::PassOver => false,
    }
}

/// Whether an owner counts as changed once a callback could write to it.
pub(crate) const fn is_changed_by_update<T: EntityOwner>() -> bool {
    matches!(T::CHANGES, OwnerChanges::WhenUpdated)
}

/// Updates a machine that has something to do in every tick. Returns whether it has changed state.
#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
fn update_one<T: EntityOwner>(
    owner: &mut T,
    machine: &mut Machine<T>,
    next_look: &mut NextLook<T>,
    cx: &mut EntityContext<'_, T>,
    mut log: Option<&mut Log<T>>,
) -> bool {
    let (entity, has_missed_clock) = (cx.entity, cx.has_missed_clock());
    let mut recorded = machine.machine.recording(log.as_deref_mut().and_then(|log| log.visit(entity)));
    lend(cx, |cx| recorded.update(owner, cx));
    let has_changed = recorded.has_changed();
    if has_changed || recorded.has_refused() {
        cx.set_missed_clock(has_missed_clock);
    }
    // Without a change, it has something to do in every tick until it sleeps.
    if has_changed || machine.is_asleep() {
        next_look.ask(machine.next_wake());
    }
    if let Some(log) = log {
        log.close(has_changed);
    }
    has_changed
}

/// Starts a machine if its current state has not been entered, and updates it. Returns whether it has changed state.
#[inline(never)]
fn update_due<T: EntityOwner>(
    owner: &mut T,
    machine: &mut Machine<T>,
    next_look: &mut NextLook<T>,
    cx: &mut EntityContext<'_, T>,
    mut log: Option<&mut Log<T>>,
) -> bool {
    // As long as a callback may panic.
    next_look.forget();
    let (entity, has_missed_clock) = (cx.entity, cx.has_missed_clock());
    let mut steps = log.as_deref_mut().and_then(|log| log.visit(entity));
    let is_started = machine.is_to_be_started();
    let (has_changed, has_refused) = lend(cx, |cx| {
        let has_changed = is_started && machine.start(steps.as_deref_mut(), owner, cx);
        let mut recorded = machine.machine.recording(steps);
        recorded.update(owner, cx);
        (has_changed || recorded.has_changed(), recorded.has_refused())
    });
    next_look.ask(machine.next_wake());
    if is_started || has_changed || has_refused {
        cx.set_missed_clock(has_missed_clock);
    }
    if let Some(log) = log {
        log.close(is_started || has_changed);
    }
    has_changed
}
