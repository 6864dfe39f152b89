//! A batch of [`demeanor`] on many threads, processes and machines.

mod alarm;
mod checkpoint;
mod citizen;
mod directory;
mod error;
mod exchange;
#[cfg(feature = "inspector")]
mod inspect;
mod local;
mod mail;
mod network;
mod outbound;
mod parcel;
mod post;
mod progress;
mod random;
mod report;
mod residents;
mod run;
mod setup;
mod shards;
mod tick;
mod world;

pub use self::citizen::{Citizen, digest};
pub use self::error::WorldError;
pub use self::local::Local;
pub use self::post::Post;
pub use self::random::random;
pub use self::report::Census;
pub use self::run::Outcome;
pub use self::world::World;
