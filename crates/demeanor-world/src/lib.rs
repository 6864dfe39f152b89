//! A batch of [`demeanor`] on many threads, processes and computers.
//!
//! A [`World`] has [`Citizen`]s: owners with an id that never changes, and a home. They send messages to each other
//! through the [`Post`], move, are created and are removed. The result does not depend on the number of threads and
//! processes. [`Local`] starts several processes on this computer. `docs/world.md` says what happens in a tick, how to
//! start a world on several computers, and what it costs.
//!
//! ```
//! use demeanor::{DigestHasher, Fsm, Owner, State, StateBook};
//! use demeanor_world::{Citizen, Post, World};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Clone, Serialize, Deserialize)]
//! struct Player { id: u64, village: u32, balls: u32 }
//!
//! struct Turn<'a> { post: &'a mut Post<Player> }
//!
//! impl Owner for Player {
//!     type Context<'a> = Turn<'a>;
//!     type Message = u32;
//! }
//!
//! impl Citizen for Player {
//!     fn id(&self) -> u64 { self.id }
//!     fn home(&self) -> u32 { self.village }
//!     fn digest(&self, hasher: &mut DigestHasher) { std::hash::Hash::hash(&self.balls, hasher) }
//! }
//!
//! /// Throws all its balls to a random player.
//! struct Throw;
//! impl State<Player> for Throw {
//!     fn update(&self, player: &mut Player, _: &mut Fsm<'_, Player>, turn: &mut Turn<'_>) {
//!         let receiver = turn.post.random(player).rand_range(0..100);
//!         let balls = std::mem::take(&mut player.balls);
//!         turn.post.send(player, receiver, balls);
//!     }
//!
//!     fn on_message(&self, player: &mut Player, balls: &u32, _: &mut Fsm<'_, Player>, _: &mut Turn<'_>) -> bool {
//!         player.balls += balls;
//!         true
//!     }
//! }
//!
//! let run = |threads: &str| {
//!     let world = World::new(StateBook::new().with(&Throw)).shards(10).populate(|village| {
//!         (0..10).map(move |nth| (Player { id: u64::from(village * 10 + nth), village, balls: 1 }, &Throw))
//!     });
//!     world.context(|_, post| Turn { post }).run(["-w", threads], 50)
//! };
//! let alone = run("1")?;
//! assert_eq!((alone.census.citizens, alone.census.sent), (100, 100));
//! assert_eq!(run("3")?.digest, alone.digest);
//! # Ok::<(), demeanor_world::WorldError>(())
//! ```

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
mod program;
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
pub use oorandom::Rand64;
