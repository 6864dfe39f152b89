//! The special cases of the rules that the random programs should reach.

/// Lists the corners once, for the type and for [`Corner::ALL`].
macro_rules! corners {
    ($($(#[$doc:meta])* $corner:ident,)*) => {
        /// A special case that a generator of programs should reach now and then.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Corner {
            $($(#[$doc])* $corner,)*
        }

        impl Corner {
            pub(crate) const ALL: &[Self] = &[$(Self::$corner),*];
        }
    };
}

corners! {
    /// Rule 1.
    WentDownInStart,
    StartRefused,
    /// Rule 4.
    NotUpdated,
    /// Rule 5: a change made in an `enter` has abandoned the rest of the change, push, pop or start under way.
    Abandoned,
    AbandonedResume,
    /// Rule 5: a change was never complete although all its states had been entered.
    NeverComplete,
    /// Rule 8.
    RefusedExit,
    RefusedEnter,
    RefusedByTime,
    RefusedByTarget,
    RefusedByPrevious,
    RefusedByRequests,
    /// Rule 8: a handler of a message was called while a change was under way.
    HeardInEnter,
    /// Rule 9.
    NothingToRevertTo,
    /// Rule 11: a change within the call had earlier requests to carry out.
    NowAfterRequests,
    /// Rule 12.
    AskedInExit,
    NowInExit,
    SentNowInExit,
    /// Rule 13.
    Cycle,
    CycleOfNow,
    CycleOfMessages,
    /// Rule 24: the requests of a state that declined a message were carried out before those that waited behind the message.
    DeclinedBeforeOthers,
    /// Rules 11 and 24: something was done ahead of requests that waited; or a state declined a message that went ahead of them.
    Ahead,
    DeclinedAhead,
    /// Rule 37: a change took the place of those that waited, also where messages to oneself stayed; all that waited was cleared.
    Replaced,
    ReplacedBesideAMessage,
    Cleared,
    /// Rule 35: a tick updated nothing, or only the global state of a sleeping machine; a panic in `after_update`.
    NothingUpdated,
    EndedAsleep,
    EndPanicked,
    /// Rule 36: a change requested for the next tick was made, replaced another one, was dropped by a change, was canceled, or
    /// stood still under a push.
    Next,
    NextAskedAgain,
    NextDropped,
    NextCanceled,
    NextStoodStill,
    /// Rule 38: a change or a start ended in a state on the way down; or `stay` made no difference.
    Stayed,
    StayedInStart,
    StayedInResume,
    StayedInTheTarget,
    StayRefused,
    /// Rule 14: a state was not offered a message that it would have been.
    LeftBeforeItsTurn,
    /// Rule 15.
    PopOfNothing,
    PopToNoState,
    StackFull,
    /// Rule 16.
    HistoryUsed,
    HistoryNotUsedFromInside,
    ResumedFromInside,
    /// Rule 18: a parent was active for longer than its child; a time continued after a pop.
    OlderParent,
    TimeWentOn,
    /// Rule 15: a pop was cut short by a change or a panic, and a state with a timer was not resumed.
    NeverResumed,
    /// Rule 22.
    Panicked,
    Caught,
    CaughtWithRequests,
    /// Rule 24.
    EnsuredAlready,
    ForcedPastAGuard,
    SentToOneself,
    SentNow,
    SentWithinMessage,
    /// Rule 25: a timer came due.
    DueChange,
    DuePop,
    DueMessage,
    DueRefused,
    DueTogether,
    DueInACycle,
    /// A timer ended with its state: a running one, one in the queue, or one that was set after its state had been left.
    EndedWithItsState,
    EndedInTheQueue,
    AskedForTooLate,
    /// A timer stood still under a push: a running one, or one in the queue.
    StoodStill,
    StoodStillInTheQueue,
    OutlivedItsChild,
    OfTheMachine,
    ClockWentBack,
    /// Rule 39: a repeating timer came due, also late so that periods were left out.
    Repeated,
    RepeatsLeftOut,
    /// Rule 39: timers were canceled, also in the queue; or they were to be in `exit`.
    Canceled,
    CanceledInTheQueue,
    CanceledInExit,
    /// Rule 26.
    Slept,
    SleepVoid,
    NotUpdatedAsleep,
    WokeByTheClock,
    WokeByATimer,
    WokeByAChange,
    WokeByAMessage,
    WokeFromOutside,
    /// Rule 32.
    HeardInARegion,
    PushedElsewhere,
    RefusedInARegion,
    RegionOfARequestLeft,
    RegionsLeftInATick,
    RegionsNeverOpened,
}
