//! The corners of the rules that the random programs are to lead to.

/// Something that a generator of programs should lead to now and then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Corner {
    /// Rule 1.
    WentDownInStart,
    StartRefused,
    /// Rule 4.
    NotUpdated,
    /// Rule 5: a change made in an `enter` has abandoned the rest of the one under way, in a change, push, pop, start.
    Abandoned,
    AbandonedResume,
    /// Rule 5: a change was never complete, though all of it was entered.
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
    /// Rules 11 and 24: something was done ahead of requests that waited.
    Ahead,
    /// Rule 37: changes that waited were withdrawn for another, and messages to oneself stayed; all that waited was.
    Replaced,
    ReplacedBesideAMessage,
    Cleared,
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
    /// Rule 18: a parent was active for longer than its child; a time went on after a pop.
    OlderParent,
    TimeWentOn,
    /// Rule 15: a pop that was cut short, by a change or a panic, has not resumed a state that had a timer.
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
    DueMessage,
    DueRefused,
    DueTogether,
    DueInACycle,
    /// A timer ended with its state: one that ran, one in the queue, one whose state had been left before it was asked for.
    EndedWithItsState,
    EndedInTheQueue,
    AskedForTooLate,
    /// A timer stood still under a push: one that ran, one in the queue.
    StoodStill,
    StoodStillInTheQueue,
    OutlivedItsChild,
    OfTheMachine,
    ClockWentBack,
    /// Rule 26.
    Slept,
    SleepVoid,
    NotUpdatedAsleep,
    WokeByTheClock,
    WokeByATimer,
    WokeByAChange,
    WokeByAMessage,
    WokeFromOutside,
}

impl Corner {
    pub(crate) const ALL: [Self; 64] = [
        Self::WentDownInStart,
        Self::StartRefused,
        Self::NotUpdated,
        Self::Abandoned,
        Self::AbandonedResume,
        Self::NeverComplete,
        Self::RefusedExit,
        Self::RefusedEnter,
        Self::RefusedByTime,
        Self::RefusedByTarget,
        Self::RefusedByPrevious,
        Self::RefusedByRequests,
        Self::HeardInEnter,
        Self::NothingToRevertTo,
        Self::NowAfterRequests,
        Self::AskedInExit,
        Self::NowInExit,
        Self::SentNowInExit,
        Self::Cycle,
        Self::CycleOfNow,
        Self::CycleOfMessages,
        Self::Ahead,
        Self::Replaced,
        Self::ReplacedBesideAMessage,
        Self::Cleared,
        Self::LeftBeforeItsTurn,
        Self::PopOfNothing,
        Self::PopToNoState,
        Self::StackFull,
        Self::HistoryUsed,
        Self::HistoryNotUsedFromInside,
        Self::ResumedFromInside,
        Self::OlderParent,
        Self::TimeWentOn,
        Self::NeverResumed,
        Self::Panicked,
        Self::Caught,
        Self::CaughtWithRequests,
        Self::EnsuredAlready,
        Self::ForcedPastAGuard,
        Self::SentToOneself,
        Self::SentNow,
        Self::SentWithinMessage,
        Self::DueChange,
        Self::DueMessage,
        Self::DueRefused,
        Self::DueTogether,
        Self::DueInACycle,
        Self::EndedWithItsState,
        Self::EndedInTheQueue,
        Self::AskedForTooLate,
        Self::StoodStill,
        Self::StoodStillInTheQueue,
        Self::OutlivedItsChild,
        Self::OfTheMachine,
        Self::ClockWentBack,
        Self::Slept,
        Self::SleepVoid,
        Self::NotUpdatedAsleep,
        Self::WokeByTheClock,
        Self::WokeByATimer,
        Self::WokeByAChange,
        Self::WokeByAMessage,
        Self::WokeFromOutside,
    ];
}
