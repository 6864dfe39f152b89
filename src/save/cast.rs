//! The saved data of a cast, and `CastBook`, which contains the types of its members.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::any::{Any, TypeId};
use core::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::book::StateBook;
use super::data::MachineContent;
use super::error::{BookError, LoadError, SaveError};
use super::machine::{content, machine};
use super::seconds::Seconds;
use super::version::Saved;
use crate::cast::{CastContext, Members};
use crate::machine::agent::Agent;
use crate::message::{Dispatcher, Telegram};
use crate::owner::Owner;
use crate::time::GameTime;

/// A saved [`Cast`](crate::Cast), without its world. `K` is the type of the keys. `M` is the type of the messages; in the value
/// that `save` returns, it is the type of references to the messages.
pub type SavedCast<K, M> = Saved<CastContent<K, M>>;

/// The saved data of a cast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CastContent<K, M> {
    /// The cast's clock.
    pub time: GameTime,
    /// The window within which the queue merges telegrams, in seconds. `None` if it does not merge them.
    #[serde(deserialize_with = "Option::deserialize")]
    pub merging_within: Option<Seconds>,
    /// The delayed telegrams, in the order in which they arrive.
    pub queue: Vec<SavedTelegram<K, M>>,
    /// The members, in the order in which they joined.
    pub members: Vec<SavedMember<K, M>>,
    /// Telegrams that wait for the end of a turn. There are such telegrams only after a panic.
    pub after_turn: Vec<Telegram<K, M>>,
}

/// A delayed telegram.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedTelegram<K, M> {
    /// When the telegram arrives, in seconds by the cast's clock.
    pub due: Seconds,
    /// The telegram.
    pub telegram: Telegram<K, M>,
}

/// A member of a cast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedMember<K, M> {
    /// The member's key.
    pub key: K,
    /// The name of the member's type in the [`CastBook`].
    pub of: String,
    /// The owner, in RON.
    pub owner: String,
    /// The member's machine.
    pub machine: MachineContent,
    /// Telegrams that wait for the member's next turn. There are such telegrams only after a panic.
    pub put_off: Vec<Telegram<K, M>>,
}

impl<K, M> Default for CastContent<K, M> {
    fn default() -> Self {
        let (queue, members, after_turn) = (Vec::new(), Vec::new(), Vec::new());
        Self { time: GameTime::new(), merging_within: None, queue, members, after_turn }
    }
}

/// The types of a cast's members, for saving and loading: for each type of owner, a name and a [`StateBook`].
///
/// # Examples
///
/// ```
/// use demeanor::{Agent, Cast, CastBook, Owner, State, StateBook, StateMachine, Telegram};
/// use serde::{Deserialize, Serialize};
///
/// type Level = Cast<u32, String, ()>;
///
/// #[derive(Serialize, Deserialize)]
/// struct Goblin { gold: u32 }
/// impl Owner for Goblin { type Context<'a> = Level; type Message = Telegram<u32, String>; }
///
/// struct Lurk;
/// impl State<Goblin> for Lurk {}
///
/// let book = CastBook::<Level>::new().with("goblin", StateBook::<Goblin>::new().with(&Lurk));
///
/// let mut level = Level::new(());
/// level.add(7, Agent::new(Goblin { gold: 3 }, StateMachine::new(&Lurk)))?;
/// level.send_after(1.5, 7, 7, "wake up".to_string());
/// let file = serde_json::to_string(&level.save(&book)?)?;
///
/// let level = Level::load(serde_json::from_str(&file)?, &book, ())?;
/// assert_eq!(level.get::<Goblin>(&7)?.gold, 3);
/// assert_eq!(level.dispatcher().next_due(), Some(1.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CastBook<C: CastContext> {
    types: BTreeMap<TypeId, MemberType<C>>,
    names: BTreeMap<String, TypeId>,
    merging: Option<MergingDispatcher<C>>,
    mistake: Option<BookError>,
}

struct MemberType<C: CastContext> {
    name: String,
    save: Box<Save>,
    load: Box<Load<C>>,
}

type Save = dyn Fn(&dyn Any, &dyn fmt::Debug, f64) -> Result<(String, MachineContent), SaveError> + Send + Sync;
type Load<C> = dyn Fn(&mut MembersOf<C>, SavedMemberOf<C>) -> Result<(), LoadError> + Send + Sync;
type MergingDispatcher<C> = fn(f64) -> Dispatcher<<C as CastContext>::Key, <C as CastContext>::Message>;
type SavedMemberOf<C> = SavedMember<<C as CastContext>::Key, <C as CastContext>::Message>;
type MembersOf<C> = Members<<C as CastContext>::Key, <C as CastContext>::Message, C>;

impl<C: CastContext> CastBook<C> {
    /// Creates a book without types.
    #[must_use]
    pub fn new() -> Self {
        Self { types: BTreeMap::new(), names: BTreeMap::new(), merging: None, mistake: None }
    }

    /// Adds a type of members, with a name and the book of its states.
    #[must_use]
    pub fn with<T>(mut self, name: impl Into<String>, book: StateBook<T>) -> Self
    where
        T: for<'a> Owner<Context<'a> = C, Message = Telegram<C::Key, C::Message>> + Serialize + DeserializeOwned,
        Agent<T>: Send + Sync,
        C::Message: 'static,
    {
        let name = name.into();
        if let Err(mistake) = book.check() {
            self.mistake.get_or_insert(mistake);
        }
        let book = alloc::sync::Arc::new(book);
        let for_loading = book.clone();
        let of = MemberType {
            name: name.clone(),
            save: Box::new(move |member, key, now| {
                let agent = member.downcast_ref::<Agent<T>>();
                let unknown = || SaveError::UnknownMember { member: format!("{key:?}") };
                let agent = agent.ok_or_else(unknown)?;
                let owner = ron::to_string(&**agent)
                    .map_err(|error| SaveError::Member { member: format!("{key:?}"), why: error.to_string() })?;
                Ok((owner, content(agent.machine().seat(), &book, now)?))
            }),
            load: Box::new(move |members, SavedMember { key, owner, machine: saved, .. }| {
                let owner: T = ron::from_str(&owner)
                    .map_err(|error| LoadError::Member { member: format!("{key:?}"), why: error.to_string() })?;
                let machine = machine(saved, &for_loading, members.now())?;
                members.add(key, Agent::new(owner, machine)).map_err(|taken| LoadError::damaged("members", taken))
            }),
        };
        let is_new = self.names.insert(name.clone(), TypeId::of::<T>()).is_none();
        if self.types.insert(TypeId::of::<T>(), of).is_some() || !is_new {
            self.mistake.get_or_insert(BookError::SameMember { name });
        }
        self
    }

    /// Enables saving and loading a queue that [merges telegrams](Dispatcher::merging_within). The loaded queue merges them, too.
    /// Other queues do not need this.
    #[must_use]
    pub fn with_merging(mut self) -> Self
    where
        C::Message: PartialEq,
    {
        self.merging = Some(Dispatcher::merging_within);
        self
    }

    /// Checks that no two types of members have the same name, that no type was added twice, and that the
    /// [book](StateBook::check) of each type has no mistake. `save` and `load` check this, too.
    ///
    /// # Errors
    ///
    /// When two types of members have the same name. When a type was added twice. When the book of a type has a mistake.
    pub fn check(&self) -> Result<(), BookError> {
        self.mistake.clone().map_or(Ok(()), Err)
    }

    /// Returns a member as data: the name of its type, its owner and its machine.
    pub(crate) fn save(
        &self,
        of: TypeId,
        member: &dyn Any,
        key: &dyn fmt::Debug,
        now: f64,
    ) -> Result<(String, String, MachineContent), SaveError> {
        let unknown = || SaveError::UnknownMember { member: format!("{key:?}") };
        let of = self.types.get(&of).ok_or_else(unknown)?;
        let (owner, machine) = (of.save)(member, key, now)?;
        Ok((of.name.clone(), owner, machine))
    }

    /// Loads a member and adds it to `members`.
    pub(crate) fn load(&self, members: &mut MembersOf<C>, saved: SavedMemberOf<C>) -> Result<(), LoadError> {
        let at = format!("member {:?}", saved.key);
        let of = self.names.get(&saved.of).and_then(|of| self.types.get(of));
        let of = of.ok_or_else(|| LoadError::UnknownMember { name: saved.of.clone() })?;
        (of.load)(members, saved).map_err(|error| error.within(at))
    }

    pub(crate) fn can_merge(&self) -> bool {
        self.merging.is_some()
    }

    /// Creates an empty queue, which merges telegrams if `merging_within` is given.
    pub(crate) fn dispatcher(
        &self,
        merging_within: Option<Seconds>,
    ) -> Result<Dispatcher<C::Key, C::Message>, LoadError> {
        match (merging_within, self.merging) {
            (None, _) => Ok(Dispatcher::new()),
            (Some(Seconds(window)), Some(merging)) => Ok(merging(window)),
            (Some(_), None) => Err(LoadError::NoMerging),
        }
    }
}

impl<C: CastContext> Default for CastBook<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: CastContext> fmt::Debug for CastBook<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CastBook").field("types", &self.names.keys()).finish_non_exhaustive()
    }
}
