//! The pass: it updates the machine of each entity that has something to do.
//!
//! This file has the work for one entity, and the beginning and the end of a pass. How a pass iterates over the entities is in
//! `tables` and in `rows`.

use core::any::type_name;
use core::mem;
use std::sync::Arc;

use bevy_ecs::change_detection::{DetectChangesMut, Mut};
use bevy_ecs::entity::{Entities, EntityAllocator};
use bevy_ecs::system::{Commands, Local, ParamSet, Res, SystemParam, SystemParamItem, SystemParamValidationError};
use bevy_ecs::world::{CommandQueue, World};
use demeanor::{NextWake, Owner};
use log::debug;

use crate::clock::{Clock, ClockOf, Reading};
use crate::context::{EntityContext, lend};
use crate::follow::{Followers, Log};
use crate::indexing;
use crate::label::Names;
use crate::machine::Machine;
use crate::owner::{EntityOwner, OwnerChanges, ParallelOwner};
use crate::queue;
use crate::readers::refuse_hidden_readers;
use crate::shared::SharedParam;
use crate::waiting::{NextLook, Standstill};

/// The number of entities that share a context in a parallel pass. It determines the order of commands and events, so it must
/// not depend on the number of threads.
pub(crate) const CHUNK: usize = 1024;

/// The parameters of a pass besides the machines.
#[derive(SystemParam)]
pub(crate) struct Surroundings<'w, 's, T: EntityOwner> {
    /// Bevy applies these commands before the others.
    first: Commands<'w, 's>,
    param: Result<ParamSet<'w, 's, (<T as EntityOwner>::Param,)>, SystemParamValidationError>,
    commands: Commands<'w, 's>,
    clock: Clock<'w>,
    clock_of: Res<'w, ClockOf<T>>,
    names: Res<'w, Names>,
    followers: Res<'w, Followers<T>>,
    log: Local<'s, Log<T>>,
    standstill: Local<'s, Standstill>,
    /// Whether the last pass was skipped.
    is_skipped: Local<'s, bool>,
    /// Whether the parameter has been checked for message readers.
    is_param_known: Local<'s, bool>,
    /// The revision of [`NextWake`] in the last pass.
    revision: Local<'s, usize>,
    /// Whether the stored next looks of some machines may be no longer valid. A panic may end a pass before it has visited all.
    is_outdated: Local<'s, bool>,
}

/// The data of a running pass on one thread, or of a chunk of a parallel pass.
pub(crate) struct Begun<'a, T: EntityOwner> {
    pub(crate) param: SystemParamItem<'a, 'a, T::Param>,
    pub(crate) commands: Commands<'a, 'a>,
    pub(crate) reading: Reading,
    pub(crate) names: &'a Names,
    /// Whether the stored next looks of the machines are no longer valid.
    pub(crate) is_outdated: bool,
    /// The log for steps, if there are followers.
    pub(crate) log: Option<&'a mut Log<T>>,
}

impl<T: EntityOwner> Begun<'_, T> {
    pub(crate) fn wants_steps(&self) -> bool {
        self.log.as_deref().is_some_and(Log::wants_steps)
    }
}

impl<'a, T: ParallelOwner> Begun<'a, T> {
    /// Returns the data of each chunk of a parallel pass. Each chunk has an outcome of its own.
    pub(crate) fn each(
        self,
        outcomes: &'a mut [Outcome<T>],
        allocator: &'a EntityAllocator,
        entities: &'a Entities,
    ) -> impl Iterator<Item = Self> {
        let Self { param, reading, names, is_outdated, log, .. } = self;
        let is_followed = log.is_some();
        outcomes.iter_mut().map(move |Outcome { commands, log }| Self {
            param: T::Param::share(&param),
            commands: Commands::new_from_entities(commands, allocator, entities),
            reading: reading.clone(),
            names,
            is_outdated,
            log: is_followed.then_some(log),
        })
    }
}

impl<T: EntityOwner> Surroundings<'_, '_, T> {
    /// Begins a pass. Returns `None` if its parameter is not available now.
    pub(crate) fn begin(&mut self) -> Result<Option<Begun<'_, T>>, SystemParamValidationError> {
        let param = match &mut self.param {
            Ok(param) => param.p0(),
            Err(reason) => {
                let was_skipped = mem::replace(&mut *self.is_skipped, true);
                if !reason.skipped {
                    return Err(reason.clone());
                }
                if !was_skipped {
                    debug!("the pass over the machines of {} is skipped: {reason}", type_name::<T>());
                }
                return Ok(None);
            }
        };
        // Bevy counts a skipped pass as a run, so the change ticks do not show what was written to in the meantime.
        let was_skipped = mem::take(&mut *self.is_skipped);
        if !mem::replace(&mut *self.is_param_known, true) {
            self.first.queue(refuse_hidden_readers::<T>);
        }
        let revision = NextWake::revision();
        *self.is_outdated |= mem::replace(&mut *self.revision, revision) != revision || was_skipped;
        self.log.open(self.followers.is_told());
        Ok(Some(Begun {
            param,
            commands: self.commands.reborrow(),
            reading: Reading::of_pass(&self.clock, &self.clock_of),
            names: &self.names,
            is_outdated: *self.is_outdated,
            log: self.followers.is_anybody().then_some(&mut *self.log),
        }))
    }

    /// Ends a pass: the consequences of the steps are queued after the callbacks' commands.
    pub(crate) fn end(&mut self, waited: Waited) {
        *self.is_outdated = false;
        if waited.has_missed_clock {
            self.clock_of.warn_of_none();
        }
        if let Some(now) = waited.first {
            self.clock_of.note_first(now);
        }
        // Machines that are visited check this themselves; sleeping machines are not visited (rule 25).
        if let Some(now) = waited.at
            && self.standstill.stands(now)
        {
            debug!("machines of {} wait for a time, but their clock stands still at {now} s", type_name::<T>());
        }
        queue_following(&mut self.log, &self.followers, &mut self.first, &mut self.commands);
    }

    /// Collects the outcomes of the chunks of a parallel pass, in their order.
    pub(crate) fn gather(&mut self, outcomes: &mut [Outcome<T>]) {
        for outcome in outcomes {
            self.commands.append(&mut outcome.commands);
            self.log.append(&mut outcome.log);
        }
    }
}

/// The outcome of the updates of a chunk.
pub(crate) struct Outcome<T: Owner> {
    pub(crate) commands: CommandQueue,
    pub(crate) log: Log<T>,
}

impl<T: Owner> Outcome<T> {
    /// Prepares and returns the outcomes for a pass of at most `chunks` chunks. `wants_steps` is whether steps are recorded.
    pub(crate) fn prepare(outcomes: &mut Vec<Self>, chunks: usize, wants_steps: bool) -> &mut [Self] {
        if outcomes.len() < chunks {
            outcomes.resize_with(chunks, Self::default);
        }
        for outcome in &mut *outcomes {
            outcome.log.open(wants_steps);
        }
        &mut outcomes[..chunks]
    }
}

impl<T: Owner> Default for Outcome<T> {
    fn default() -> Self {
        Self { commands: CommandQueue::default(), log: Log::default() }
    }
}

/// Queues the consequences of the changes: indexes are updated before anything else, the rest follows once the commands of the
/// callbacks are applied. The consequences of these commands come after that.
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

/// Whether machines wait for the clock in a pass.
#[derive(Clone, Copy, Default)]
pub(crate) struct Waited {
    /// The time of the clock, if a machine sleeps until another time.
    at: Option<f64>,
    has_missed_clock: bool,
    /// The time of the clock, if nothing was known of it.
    first: Option<f64>,
}

impl Waited {
    /// Creates the value for a pass that has ended, or for a chunk of it.
    pub(crate) fn new<T: EntityOwner>(at: Option<f64>, cx: &mut EntityContext<'_, T>) -> Self {
        let has_missed_clock = cx.has_missed_clock();
        let first = cx.is_clock_to_be_known().then(|| lend(cx, |cx| T::now(cx)));
        Self { at, has_missed_clock, first }
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            at: other.at.or(self.at),
            has_missed_clock: self.has_missed_clock || other.has_missed_clock,
            first: other.first.or(self.first),
        }
    }
}

/// The work for a machine in this pass.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// The machine has something to do in every tick.
    Update,
    /// The machine's stored next look was unknown, or has come.
    UpdateDue,
    PassOver,
}

/// Returns the work for the machine of the current entity. If the machine has nothing to do, it is not touched, unless it has
/// been edited or its stored next look is outdated. Notes the time of its clock if it waits for another time.
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
    // An owner may have its own clock.
    let now = lend(cx, |cx| T::now(cx));
    if next_look.is_due(now) {
        return Look::UpdateDue;
    }
    *waited = Some(now);
    Look::PassOver
}

/// Updates a machine that has something to do. Returns whether it has changed state.
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

/// Returns whether an owner counts as changed as soon as a callback could write to it.
pub(crate) const fn is_changed_by_update<T: EntityOwner>() -> bool {
    matches!(T::CHANGES, OwnerChanges::WhenUpdated)
}

/// Counts an owner and its machine as changed.
pub(crate) fn mark_both<T: EntityOwner>((owner, machine): &mut (&mut Mut<'_, T>, &mut Mut<'_, Machine<T>>)) {
    owner.set_changed();
    machine.set_changed();
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
    let (has_changed, has_refused) = (recorded.has_changed(), recorded.has_refused());
    if has_changed || has_refused {
        cx.set_missed_clock(has_missed_clock);
    }
    // Without a change, made or refused, the machine has something to do in every tick until it sleeps: in a passive state, it may
    // only have had to try a change that was requested for this tick. If the states around regions are passive, it has nothing to
    // do once the regions sleep.
    if has_changed || has_refused || machine.is_asleep() || machine.has_open_regions() {
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
    // A callback may panic.
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
