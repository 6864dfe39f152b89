//! The errors when a member is not available, or cannot rejoin.

use core::error::Error;
use core::fmt;

/// The error when a member of a [`Cast`](crate::Cast) is not available.
///
/// # Examples
///
/// ```
/// use demeanor::{Agent, Cast, Owner, State, StateMachine, Telegram, Unavailable};
/// struct Goblin;
/// impl Owner for Goblin { type Context<'a> = Cast<u32, (), ()>; type Message = Telegram<u32, ()>; }
/// struct Troll;
/// impl Owner for Troll { type Context<'a> = Cast<u32, (), ()>; type Message = Telegram<u32, ()>; }
/// struct Lurk;
/// impl State<Goblin> for Lurk {}
///
/// let mut level: Cast<u32, (), ()> = Cast::new(());
/// level.add(7, Agent::new(Goblin, StateMachine::new(&Lurk)))?;
///
/// assert_eq!(level.get::<Goblin>(&8).err(), Some(Unavailable::Unknown));
/// assert_eq!(level.get::<Troll>(&7).err(), Some(Unavailable::WrongType));
/// level.with::<Goblin, _>(&7, |_, level| {
///     assert_eq!(level.get::<Goblin>(&7).err(), Some(Unavailable::Acting));
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unavailable {
    /// There is no member with that key.
    Unknown,
    /// The member's owner is of another type.
    WrongType,
    /// A callback of the member is running, and the member is lent to it.
    Acting,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "there is no member with that key",
            Self::WrongType => "the member with that key has an owner of another type",
            Self::Acting => "a callback of the member with that key is running",
        })
    }
}

impl Error for Unavailable {}

/// The error when a member cannot [rejoin](crate::Cast::rejoin) its cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NotActing {
    /// There is no member with that key.
    Unknown,
    /// No callback of the member with that key is running.
    NoCallback,
    /// A callback of the member with that key is running, but the owner and the handle are not its arguments.
    AnotherOwner,
}

impl fmt::Display for NotActing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "there is no member with that key to rejoin its cast",
            Self::NoCallback => "no callback of the member with that key is running, so it cannot rejoin its cast",
            Self::AnotherOwner => "the owner that is to rejoin its cast is not the member with that key",
        })
    }
}

impl Error for NotActing {}
