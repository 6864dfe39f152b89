//! Saving and loading: after loading, machines, agents, casts and batches continue as if they had not been saved (rule 27).
//!
//! A [`StateBook`] says which name belongs to which state. With it, [`StateMachine::save`](crate::StateMachine::save),
//! [`Agent::save`](crate::Agent::save), `Batch::save` and [`Cast::save`](crate::Cast::save) return plain data for any format
//! of serde. The data begins with its version. [A page](crate::docs::saving) shows one character, a cast, a crowd, a rollback,
//! and a program that has changed since the game was saved.
//!
//! The following is saved of a machine: the names of its current and previous state, its stack and its history; when each
//! active state was entered; the running timers, with their messages; whether it is asleep, and until when. Owned states are
//! saved with their data. A batch also saves everything that affects its future: the keys, including the free ones, and every
//! order.
//!
//! The following is not saved, because it belongs to the program: the code of the states, the context, and the global state,
//! which the game sets again. Timers of the global state last as long as the machine (rule 25), so they are saved. Between two
//! calls no request is pending.
//!
//! A [`Replay`] is the start of a game and all input since, so that the game can be played again.
//!
//! Saving machines and replays needs only `alloc`.

// The highest layer below the crate's root. It knows machines, casts, batches and definitions; none of them knows this layer.
// The code that turns a batch and a cast into data is next to theirs, in `batch/save/` and `cast/save.rs`.

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
