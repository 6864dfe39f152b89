//! The errors of saving and loading.

use alloc::string::String;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;

/// The version of saved machines, agents, batches and casts that this crate writes and reads.
pub const VERSION: u32 = 1;

/// A mistake in a book, such as two states with the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BookError {
    /// Two states, or two types of owned states, have the same name.
    SameName {
        /// The name.
        name: String,
    },
    /// A type of owned states was added twice.
    SameType {
        /// The names with which the type was added.
        names: [String; 2],
    },
    /// Two types of members of a cast have the same name, or a type of members was added twice.
    SameMember {
        /// The name that was added last.
        name: String,
    },
}

impl fmt::Display for BookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameName { name } => {
                write!(
                    f,
                    "the book has two states named `{name}`: give one of them another name, with `with_name`, \
                     or add it in `within(\"kind\", ..)`, which makes its name `kind/{name}`"
                )
            }
            Self::SameType { names: [one, other] } => {
                write!(f, "the book has a type of owned states twice, as `{one}` and as `{other}`")
            }
            Self::SameMember { name } => {
                write!(f, "the book of the cast has two types of members for `{name}`, or that type twice")
            }
        }
    }
}

impl Error for BookError {}

/// The error when a machine, an agent, a batch or a cast cannot be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SaveError {
    /// The book has a mistake.
    Book(BookError),
    /// The book does not know all states.
    UnknownStates {
        /// The names of the unknown states, in alphabetical order.
        names: Vec<String>,
    },
    /// A timer sends a message, and the book does not know how to save messages.
    NoMessages,
    /// The data of an owned state cannot be written.
    OwnedState {
        /// The name of its type.
        name: String,
        /// The reason.
        why: String,
    },
    /// A timer's message cannot be written.
    Message {
        /// The reason.
        why: String,
    },
    /// The owner of a member of a cast cannot be written.
    Member {
        /// The member's key.
        member: String,
        /// The reason.
        why: String,
    },
    /// A member of a cast is acting.
    Acting {
        /// The member's key.
        member: String,
    },
    /// The book of the cast does not know the type of a member.
    UnknownMember {
        /// The member's key.
        member: String,
    },
    /// The cast's queue merges telegrams, and the book of the cast does not [know how](super::CastBook::with_merging).
    NoMerging,
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Book(error) => error.fmt(f),
            Self::UnknownStates { names } => {
                let states = state_names(names);
                write!(f, "the book does not know {states}: add each with `StateBook::with` or `with_owned`")
            }
            Self::NoMessages => f.write_str(NO_MESSAGES),
            Self::OwnedState { name, why } => write!(f, "the owned state `{name}` cannot be written: {why}"),
            Self::Message { why } => write!(f, "the message of a timer cannot be written: {why}"),
            Self::Member { member, why } => write!(f, "the owner of member {member} cannot be written: {why}"),
            Self::Acting { member } => write!(f, "member {member} is acting: save between two turns"),
            Self::UnknownMember { member } => {
                write!(
                    f,
                    "the book of the cast does not know the type of member {member}: add it with `CastBook::with`"
                )
            }
            Self::NoMerging => f.write_str(NO_MERGING),
        }
    }
}

const NO_MESSAGES: &str =
    "a timer has a message, and the book does not know how to save messages: call `StateBook::with_messages`";
const NO_MERGING: &str = "the queue of telegrams merges some of them, and the book of the cast does not know how: call `CastBook::with_merging`";

/// The error when a saved value cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// The book has a mistake.
    Book(BookError),
    /// The saved value has a version that this program does not know.
    Version {
        /// The version.
        found: u32,
    },
    /// The saved value has names of states that the book does not know.
    UnknownStates {
        /// The names, in alphabetical order.
        names: Vec<String>,
    },
    /// A timer sends a message, and the book does not know how to load messages.
    NoMessages,
    /// The data of an owned state cannot be read.
    OwnedState {
        /// The name of its type.
        name: String,
        /// The reason.
        why: String,
    },
    /// A timer's message cannot be read.
    Message {
        /// The reason.
        why: String,
    },
    /// The owner of a member of a cast cannot be read.
    Member {
        /// The member's key.
        member: String,
        /// The reason.
        why: String,
    },
    /// The book of the cast does not know a type of members.
    UnknownMember {
        /// The name of the type.
        name: String,
    },
    /// The saved queue merges telegrams, and the book of the cast does not [know how](super::CastBook::with_merging).
    NoMerging,
    /// A state does not lie in the [region](crate::State::regions) in which it was saved, or lies in a region and was saved
    /// outside.
    Region {
        /// The name of the state.
        state: String,
        /// The index of the region in which it was saved; `None` if it was saved outside of the region in which it lies.
        region: Option<usize>,
        /// The name of the state whose region it is.
        of: String,
    },
    /// The saved value is damaged: it has data that no machine, batch or cast can have.
    Damaged {
        /// The part of the value.
        at: String,
        /// The reason.
        why: String,
    },
}

impl LoadError {
    pub(crate) fn damaged(at: impl fmt::Display, why: impl fmt::Display) -> Self {
        use alloc::string::ToString;
        Self::Damaged { at: at.to_string(), why: why.to_string() }
    }

    /// Adds the place that contains the damaged part to an error about damage. Other errors stay as they are.
    pub(crate) fn within(self, outer: impl fmt::Display) -> Self {
        match self {
            Self::Damaged { at, why } => Self::Damaged { at: alloc::format!("{outer}, {at}"), why },
            other => other,
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Book(error) => error.fmt(f),
            Self::Version { found } => {
                write!(f, "it was saved in version {found}, and this program reads version {VERSION}")
            }
            Self::UnknownStates { names } => write!(
                f,
                "the book does not know {}: add each with `StateBook::with_name`, or say with `on_missing` what replaces it",
                state_names(names)
            ),
            Self::NoMessages => f.write_str(NO_MESSAGES),
            Self::OwnedState { name, why } => write!(f, "the data of an owned state `{name}` cannot be read: {why}"),
            Self::Message { why } => write!(f, "the message of a timer cannot be read: {why}"),
            Self::Member { member, why } => write!(f, "the owner of member {member} cannot be read: {why}"),
            Self::UnknownMember { name } => {
                write!(f, "the book of the cast does not know members of type `{name}`: add it with `CastBook::with`")
            }
            Self::NoMerging => f.write_str(NO_MERGING),
            Self::Region { state, region: Some(region), of } => {
                write!(f, "the state `{state}` was saved in region {region} of `{of}`, and does not lie in it")
            }
            Self::Region { state, region: None, of } => {
                write!(f, "the state `{state}` lies in a region of `{of}`, and was saved outside of it")
            }
            Self::Damaged { at, why } => write!(f, "{at}: {why}"),
        }
    }
}

macro_rules! with_book_error {
    ($($error:ident)*) => {
        $(impl Error for $error {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                if let Self::Book(error) = self { Some(error) } else { None }
            }
        }

        impl From<BookError> for $error {
            fn from(error: BookError) -> Self {
                Self::Book(error)
            }
        })*
    };
}

with_book_error!(SaveError LoadError);

/// Formats names as `the state `Idle`` or `the states `Idle`, `Chase``.
fn state_names(names: &[String]) -> String {
    let states = if names.len() == 1 { "the state" } else { "the states" };
    alloc::format!("{states} `{}`", names.join("`, `"))
}
