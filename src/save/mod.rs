//! Saving and loading: machines, agents, casts and batches go on as if they had not been saved (rule 27).
//!
//! A [`StateBook`] says which name is which state. With it, [`StateMachine::save`](crate::StateMachine::save),
//! [`Agent::save`](crate::Agent::save), `Batch::save` and [`Cast::save`](crate::Cast::save) make plain data with a version in
//! front, for any format of serde. [A page](crate::docs::saving) shows one character, a cast, a crowd, a rollback and a program that has
//! changed since.
//!
//! What is saved of a machine: its states by name, with the state before, the stack and the history; since when each state is
//! active; the running timers, with their messages; whether it is asleep, and until when. Owned states are saved with their
//! data. A batch also saves all that decides what comes next: the keys, with the free ones, and every order.
//!
//! What is not saved, because it is the program's: what the states do, the context, and the global, which the game sets again.
//! Timers of the global last as long as the machine (rule 25), and are saved. Between two calls no request waits.
//!
//! [`Replay`] is a start and what came from outside since, to be played again.
//!
//! For machines and replays this needs `alloc` alone.

// The highest layer but the crate's root: it knows machines, casts, batches and definitions, and none of them knows it. What
// turns a batch and a cast into data lies beside these, in `batch/save/` and `cast/save.rs`.

mod book;
mod cast;
mod data;
mod dispatcher;
mod error;
mod machine;
mod read;
mod replay;
mod seconds;
mod version;
mod write;

pub(crate) use self::book::NamedStates;
pub use self::book::{Missing, StateBook};
pub use self::cast::{CastBook, CastContent, SavedCast, SavedMember, SavedTelegram};
pub use self::data::{
    AgentContent, MachineContent, SavedAgent, SavedMachine, SavedMore, SavedNote, SavedPath, SavedSeat, SavedState,
    SavedStates, SavedThen, SavedTimer,
};
pub(crate) use self::dispatcher::borrowed;
pub use self::error::{BookError, LoadError, SaveError, VERSION};
pub(crate) use self::read::time;
#[cfg(feature = "std")]
pub(crate) use self::read::{Depths, How, Reader};
pub use self::replay::Replay;
pub use self::seconds::Seconds;
pub use self::version::Saved;
#[cfg(feature = "std")]
pub(crate) use self::write::Writer;
#[cfg(feature = "std")]
pub use crate::batch::save::{BatchContent, SavedBatch, SavedBucket, SavedKey, SavedRow};
