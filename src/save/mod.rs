//! Saving and loading: after loading, machines, agents, casts and batches continue as if they had not been saved (rule 27).
//!
//! A [`StateBook`] contains the states by name. With it, [`StateMachine::save`](crate::StateMachine::save),
//! [`Agent::save`](crate::Agent::save), `Batch::save` and [`Cast::save`](crate::Cast::save) return plain data for any format of
//! serde. The data begins with its version. The page [`saving`](crate::docs::saving) has examples: one character, a cast, a
//! crowd, a rollback, and a program that has changed since the game was saved.
//!
//! These parts of a machine are saved: the names of its current and previous state, its stack and its history; when each active
//! state was entered; the running timers, with their messages; whether it is asleep, and until when. Owned states are saved with
//! their data. A batch also saves everything that affects its future: the keys, including the free ones, and the order of its
//! states and of its owners.
//!
//! These parts are not saved, because they belong to the program: the code of the states, the context, and the global state,
//! which the game sets again. Timers of the global state last as long as the machine (rule 25), so they are saved. Requests need
//! not be saved, because no request is pending between two calls.
//!
//! A [`Replay`] is the start of a game and all input since then, so that the game can be played again.
//!
//! Saving machines and replays needs only `alloc`.

// This layer is above machines, casts and batches, which do not know it. Definitions are above this layer, and implement
// `NamedStates` for it. The code that turns a batch or a cast into data belongs to this layer, too, but is next to the code of
// batches and casts: in `batch/save/` and `cast/save.rs`.

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
