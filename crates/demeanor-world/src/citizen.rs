//! The trait of the owners that live in a world.

use demeanor::{Batch, DigestHasher, Owner};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// An owner that lives in a [`World`](crate::World): it has an id, which never changes, and a home.
///
/// # Examples
///
/// ```
/// use demeanor::{DigestHasher, Owner};
/// use demeanor_world::{Citizen, Post};
/// use serde::{Deserialize, Serialize};
/// use std::hash::Hash;
///
/// #[derive(Clone, Hash, Serialize, Deserialize)]
/// struct Villager {
///     id: u64,
///     village: u32,
///     coins: i64,
/// }
///
/// #[derive(Clone, Serialize, Deserialize)]
/// enum Letter {
///     Payment { coins: i64 },
/// }
///
/// struct Day<'a> {
///     number: u64,
///     post: &'a mut Post<Villager>,
/// }
///
/// impl Owner for Villager {
///     type Context<'a> = Day<'a>;
///     type Message = Letter;
///
///     fn now(day: &Day<'_>) -> f64 {
///         day.number as f64
///     }
/// }
///
/// impl Citizen for Villager {
///     fn id(&self) -> u64 {
///         self.id
///     }
///
///     fn home(&self) -> u32 {
///         self.village
///     }
///
///     fn digest(&self, hasher: &mut DigestHasher) {
///         self.hash(hasher);
///     }
/// }
/// ```
pub trait Citizen:
    Owner<Message: Clone + Send + Serialize + DeserializeOwned> + Clone + Send + Serialize + DeserializeOwned
{
    /// Whether citizens can move. If `false`, the world does not ask each citizen for its home after each tick, which would
    /// take a few nanoseconds per citizen.
    const MOVES: bool = true;

    /// Returns the citizen's id: a number that no other citizen has, and that never changes.
    fn id(&self) -> u64;

    /// Returns the shard in which the citizen lives, counted from 0.
    ///
    /// This is called after each tick. If the shard belongs to another thread or process, the citizen moves there before the
    /// next tick, with its machine, its timers, and the messages to it that are not yet delivered.
    fn home(&self) -> u32;

    /// Adds the citizen's data to a digest, usually by [`Hash`](std::hash::Hash).
    ///
    /// The id, the home and the machine are already in the digest.
    fn digest(&self, hasher: &mut DigestHasher);
}

/// Returns the digest of a batch of citizens for the digest of a world: the wrapping sum of the digests of the parts is the
/// same, however the citizens are divided.
#[must_use]
pub fn digest<T: Citizen>(batch: &Batch<T>) -> u64 {
    use std::hash::Hasher;
    batch.digest_without_keys(|citizen, hasher| {
        hasher.write_u64(citizen.id());
        hasher.write_u32(citizen.home());
        citizen.digest(hasher);
    })
}
