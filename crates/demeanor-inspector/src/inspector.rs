//! The inspector and its methods for the game.

use std::any::{Any, type_name};
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Instant;

use demeanor::Owner;
#[cfg(feature = "definition")]
use demeanor::definition::Definition;

use crate::address::{BindError, listen};
use crate::command::{Command, CommandKind, Outcome};
use crate::crowd::{Crowd, CrowdMut};
use crate::gather::{Gather, Moment};
use crate::guards;
use crate::kinds::Kinds;
#[cfg(feature = "definition")]
use crate::picture::Explained;
use crate::server;
use crate::shared::{Attention, Shared, Watch, Wishes};
use crate::waiting::Waiting;

/// The largest number of crowds. Otherwise a game that makes up names would fill the memory.
const MOST_CROWDS: usize = 64;

/// Serves a page that shows the game's crowds, until it is dropped. See the [crate](crate).
pub struct Inspector {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: Option<JoinHandle<()>>,
    began: Instant,
    /// The collected data of each crowd: `Gather<K>`.
    gathers: Vec<(String, Box<dyn Any + Send + Sync>)>,
    has_too_many: bool,
    /// The types of the crowds.
    kinds: Kinds,
    /// The pages' wishes, and their version.
    watches: Vec<Watch>,
    wishes: u64,
    commands: Waiting,
    /// The attention for which all crowds have been sampled.
    idle: Attention,
}

impl Inspector {
    /// Listens on an address that only this computer can reach.
    ///
    /// With port 0, the system takes a free one: see [`address`](Self::address).
    ///
    /// # Errors
    ///
    /// When the port is taken, or when other computers could reach the address.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor_inspector::{BindError, Inspector};
    ///
    /// let inspector = Inspector::bind("127.0.0.1:0")?;
    /// let again = Inspector::bind(inspector.address());
    /// assert!(matches!(again, Err(BindError::Taken { .. })));
    /// assert!(matches!(Inspector::bind("0.0.0.0:0"), Err(BindError::NotLocal { .. })));
    /// # Ok::<(), BindError>(())
    /// ```
    pub fn bind(address: impl ToSocketAddrs + fmt::Debug) -> Result<Self, BindError> {
        Self::listening(address, true)
    }

    /// Listens on any address. Other computers may then see the game: every program that can reach the address sees it.
    ///
    /// # Errors
    ///
    /// When the port is taken, or the address is not one of this computer.
    pub fn bind_anywhere(address: impl ToSocketAddrs + fmt::Debug) -> Result<Self, BindError> {
        Self::listening(address, false)
    }

    fn listening(address: impl ToSocketAddrs + fmt::Debug, is_local: bool) -> Result<Self, BindError> {
        let (listener, address) = listen(address, is_local)?;
        let (shared, server) = server::start(listener).map_err(|why| BindError::Io { address, why })?;
        Ok(Self {
            address,
            shared,
            server: Some(server),
            began: Instant::now(),
            gathers: Vec::new(),
            has_too_many: false,
            kinds: Kinds::default(),
            watches: Vec::new(),
            wishes: 0,
            commands: Waiting::default(),
            idle: Attention::default(),
        })
    }

    /// Allows the page to pause the game and to change the states of owners. The game must call
    /// [`should_update`](Self::should_update) and [`obey`](Self::obey) for it.
    #[must_use]
    pub fn allow_commands(self) -> Self {
        self.shared.allows_commands.store(true, Ordering::Relaxed);
        self
    }

    /// Returns the address on which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL of the page, for a browser.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Returns whether any page is open.
    #[inline]
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.shared.attention().has_listeners()
    }

    /// Shows the current state of a crowd under a name. Call it once in each tick, after the update.
    ///
    /// Each crowd needs its own name. If two crowds are shown under one name, the page alternates between them; if they have
    /// different types, a warning is logged.
    ///
    /// While no page is open, this counts the owners in each state once a second, for the history that a page shows later.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Owner, State};
    /// use demeanor_inspector::Inspector;
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Idle;
    /// impl State<Enemy> for Idle {}
    ///
    /// let mut inspector = Inspector::bind("127.0.0.1:0")?;
    /// let mut batch = Batch::new();
    /// batch.insert(Enemy, &Idle);
    /// batch.update(&mut ());
    /// inspector.show("enemies", &batch, &());
    /// # Ok::<(), demeanor_inspector::BindError>(())
    /// ```
    #[inline]
    pub fn show<C: Crowd + ?Sized>(&mut self, name: &str, crowd: &C, cx: &C::Context<'_>) {
        let attention = self.shared.attention();
        if attention != self.idle {
            self.look(name, crowd, cx, attention);
        }
    }

    /// Like [`show`](Self::show), but the crowd is only created while a page is open, and once a second.
    #[inline]
    pub fn show_with<C: Crowd>(&mut self, name: &str, crowd: impl FnOnce() -> C, cx: &C::Context<'_>) {
        let attention = self.shared.attention();
        if attention != self.idle {
            self.look(name, &crowd(), cx, attention);
        }
    }

    #[cold]
    fn look<C: Crowd + ?Sized>(&mut self, name: &str, crowd: &C, cx: &C::Context<'_>, attention: Attention) {
        if attention.has_listeners() {
            self.take_wishes();
            self.commands.shown(name, &self.shared);
        }
        let now = Instant::now();
        let moment = Moment { now, at: now.duration_since(self.began).as_secs_f64() };
        let Some(place) = self.place_of::<C::Key>(name) else { return };
        if let Some([one, other]) = self.kinds.see(place, type_name::<C>()) {
            log::warn!(
                target: "demeanor_inspector",
                "two crowds are shown under the name {name}, a {one} and a {other}: give each a name of its own"
            );
        }
        let Self { gathers, shared, watches, wishes, idle, .. } = self;
        let Some(gather) = gathers[place].1.downcast_mut::<Gather<C::Key>>() else { return };
        if attention.has_listeners() {
            gather.set_wishes(*wishes, name, watches);
            gather.look(name, crowd, cx, moment, shared);
        } else if !gather.sample(name, crowd, cx, moment.at, (attention, shared)) {
            // This crowd is shown for the second time, so all crowds of a tick have been sampled.
            *idle = attention;
        }
    }

    /// Explains the exits of the watched owners' definitions: whether each would be taken now, and why.
    ///
    /// Call it once in each tick, before [`show`](Self::show). While no page watches an owner of this crowd, it does nothing;
    /// otherwise it calls [`Definition::explain_with`] four times a second. This draws the random numbers of a `chance`, so
    /// that the game's random numbers advance: a run in which an owner with a `chance` is watched differs from one in which it
    /// is not.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Owner};
    /// use demeanor::definition::{Definition, Vocabulary};
    /// use demeanor_inspector::{Crowd, Inspector};
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// let file = "initial = 'stand'\nstates.stand.exits = [{ to = 'rest' }]\nstates.rest.final = true\n";
    /// let definition = Definition::parse(file, &Vocabulary::<Enemy>::new()).unwrap();
    /// let mut batch = Batch::new();
    /// batch.insert(Enemy, definition.initial());
    ///
    /// let mut inspector = Inspector::bind("127.0.0.1:0")?;
    /// batch.update(&mut ());
    /// inspector.explain("enemies", &definition, &mut batch, &mut ());
    /// inspector.show("enemies", &batch.with_definition(&definition), &());
    /// # Ok::<(), demeanor_inspector::BindError>(())
    /// ```
    #[cfg(feature = "definition")]
    pub fn explain<T, C>(&mut self, name: &str, definition: &Definition<T>, crowd: &mut C, cx: &mut T::Context<'_>)
    where
        T: Owner,
        C: CrowdMut<T> + ?Sized,
    {
        let Some(gather) = self.gather::<C::Key>(name) else { return };
        let now = Instant::now();
        for watched in &mut gather.watched {
            let Some(key) = watched.takes_explanation(now, |text| crowd.find(text)) else { continue };
            let reports = crowd.with(key, cx, |owner, fsm, cx| definition.explain_with(owner, fsm, cx));
            watched.explain(reports.into_iter().flatten().map(Explained::from).collect(), false);
        }
    }

    /// Asks, for the watched owners, the guards of states in code about a change to each state that an owner has been in: the
    /// `can_exit` of the states that would be left, and the `can_enter` of the states that would be entered.
    ///
    /// Only the code of the states knows whether such a change is ever requested. The guards are really called, four times a
    /// second while a page watches an owner of this crowd, and [`Fsm::target`](demeanor::Fsm::target) is `None` in them. Call
    /// it once in each tick, before [`show`](Self::show), and after [`explain`](Self::explain): what a definition explains of an
    /// owner goes first.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Fsm, Owner, State};
    /// use demeanor_inspector::Inspector;
    ///
    /// struct Enemy { arrows: u32 }
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Shoot;
    /// impl State<Enemy> for Shoot {
    ///     fn can_enter(&self, enemy: &Enemy, _: &Fsm<'_, Enemy>, (): &()) -> bool {
    ///         enemy.arrows > 0
    ///     }
    /// }
    ///
    /// let mut inspector = Inspector::bind("127.0.0.1:0")?;
    /// let mut batch = Batch::new();
    /// batch.insert(Enemy { arrows: 0 }, &Shoot);
    /// batch.update(&mut ());
    /// inspector.explain_guards("enemies", &mut batch, &mut ());
    /// inspector.show("enemies", &batch, &());
    /// # Ok::<(), demeanor_inspector::BindError>(())
    /// ```
    pub fn explain_guards<T, C>(&mut self, name: &str, crowd: &mut C, cx: &mut T::Context<'_>)
    where
        T: Owner,
        C: CrowdMut<T> + ?Sized,
    {
        let Some(gather) = self.gather::<C::Key>(name) else { return };
        let now = Instant::now();
        for watched in &mut gather.watched {
            let Some(key) = watched.takes_explanation(now, |text| crowd.find(text)) else { continue };
            let states: Vec<_> = gather.states.iter().filter_map(|name| crowd.state(name)).collect();
            let said = crowd.with(key, cx, |owner, fsm, cx| guards::ask(&states, owner, fsm, cx));
            watched.explain(said.unwrap_or_default(), true);
        }
    }

    /// Returns whether the game should update in this tick: always, unless it has been paused in the page. Each step that the
    /// page requests is one tick.
    ///
    /// A paused game continues some seconds after the last page was closed.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Batch, Owner};
    /// use demeanor_inspector::Inspector;
    ///
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    ///
    /// let mut inspector = Inspector::bind("127.0.0.1:0")?.allow_commands();
    /// let mut batch = Batch::<Enemy>::new();
    ///
    /// // In each tick:
    /// inspector.obey("enemies", &mut batch, &mut ());
    /// if inspector.should_update() {
    ///     batch.update(&mut ());
    /// }
    /// inspector.show("enemies", &batch, &());
    /// # Ok::<(), demeanor_inspector::BindError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn should_update(&mut self) -> bool {
        self.shared.takes_tick()
    }

    /// Carries out the page's requests for the owners of a crowd. Returns how many were carried out.
    ///
    /// States are found by name among those that the crowd knows: see [`CrowdMut::state`]. To reach other states, or the members
    /// of a cast, take the [`commands`](Self::commands) yourself. Requests that cannot be carried out are logged, and the page
    /// gets the reason.
    pub fn obey<T, C>(&mut self, name: &str, crowd: &mut C, cx: &mut T::Context<'_>) -> usize
    where
        T: Owner,
        C: CrowdMut<T> + ?Sized,
    {
        self.obey_with(name, |command| obey(command, crowd, cx))
    }

    /// Does the same with a function that carries out a command.
    pub(crate) fn obey_with(&mut self, name: &str, mut obey: impl FnMut(&Command) -> Outcome) -> usize {
        let mut done = 0;
        self.take_wishes();
        for sent in self.commands.take(name) {
            let outcome = obey(&sent.command);
            if outcome == Outcome::Done {
                done += 1;
            } else {
                log::warn!(target: "demeanor_inspector", "{}: {outcome}", sent.command);
            }
            self.commands.note(sent.number, outcome);
        }
        self.commands.tell(&self.shared);
        done
    }

    /// Takes the page's requests for a crowd that [`obey`](Self::obey) cannot handle.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Agent, Cast, Owner, State, StateMachine, Telegram};
    /// use demeanor_inspector::{CommandKind, Crowd, Inspector};
    ///
    /// struct Miner;
    /// impl Owner for Miner { type Context<'a> = Town; type Message = Telegram<&'static str, ()>; }
    /// type Town = Cast<&'static str, (), ()>;
    /// struct Dig;
    /// struct Rest;
    /// impl State<Miner> for Dig {}
    /// impl State<Miner> for Rest {}
    ///
    /// let mut inspector = Inspector::bind("127.0.0.1:0")?.allow_commands();
    /// let mut town = Town::new(());
    /// town.spawn("Bob", Agent::new(Miner, StateMachine::new(&Dig))).unwrap();
    ///
    /// for command in inspector.commands("town") {
    ///     let Some(key) = town.find(&command.owner) else { continue };
    ///     if command.kind == CommandKind::Force("Rest".into()) {
    ///         town.with::<Miner, _>(&key, |miner, town| miner.force_state(&Rest, town)).ok();
    ///     }
    /// }
    /// # Ok::<(), demeanor_inspector::BindError>(())
    /// ```
    pub fn commands(&mut self, name: &str) -> Vec<Command> {
        self.take_wishes();
        let taken = self.commands.take(name);
        for sent in &taken {
            self.commands.note(sent.number, Outcome::Taken);
        }
        self.commands.tell(&self.shared);
        taken.into_iter().map(|sent| sent.command).collect()
    }

    fn take_wishes(&mut self) {
        if let Some(Wishes { watches, commands, .. }) = self.shared.take_wishes(&mut self.wishes) {
            self.watches = watches;
            self.commands.add(commands);
        }
    }

    /// Returns the data of a crowd with this name, while a page is connected.
    fn gather<K: Copy + Eq + std::hash::Hash + Send + Sync + 'static>(&mut self, name: &str) -> Option<&mut Gather<K>> {
        if !self.is_watched() {
            return None;
        }
        let (_, gather) = self.gathers.iter_mut().find(|(other, _)| other == name)?;
        gather.downcast_mut()
    }

    /// Returns the index of a crowd's data.
    fn place_of<K: Copy + Eq + std::hash::Hash + Send + Sync + 'static>(&mut self, name: &str) -> Option<usize> {
        if let Some(place) = self.gathers.iter().position(|(other, _)| other == name) {
            if !self.gathers[place].1.is::<Gather<K>>() {
                // A crowd of another type was shown under this name before.
                self.gathers[place].1 = Box::new(Gather::<K>::new());
            }
            return Some(place);
        }
        if self.gathers.len() == MOST_CROWDS {
            if !self.has_too_many {
                self.has_too_many = true;
                log::warn!(target: "demeanor_inspector", "{name} is not shown: there are {MOST_CROWDS} crowds already");
            }
            return None;
        }
        self.gathers.push((name.to_owned(), Box::new(Gather::<K>::new())));
        Some(self.gathers.len() - 1)
    }
}

fn obey<T, C>(command: &Command, crowd: &mut C, cx: &mut T::Context<'_>) -> Outcome
where
    T: Owner,
    C: CrowdMut<T> + ?Sized,
{
    let Some(key) = crowd.find(&command.owner) else { return Outcome::no_owner(command) };
    let state = command.kind.state().map(|name| crowd.state(name).ok_or(name)).transpose();
    let state = match state {
        Ok(state) => state,
        Err(name) => return Outcome::no_state(name),
    };
    let done = crowd.with(key, cx, |_, fsm, _| match (&command.kind, state) {
        (CommandKind::Change(_), Some(state)) => fsm.change_state(state),
        (CommandKind::Force(_), Some(state)) => fsm.force_state(state),
        (CommandKind::Push(_), Some(state)) => fsm.push_state(state),
        (CommandKind::Revert, _) => fsm.revert_state(),
        (CommandKind::Pop, _) => fsm.pop_state(),
        (CommandKind::Change(_) | CommandKind::Force(_) | CommandKind::Push(_), None) => {}
    });
    if done.is_some() { Outcome::Done } else { Outcome::no_owner(command) }
}

impl fmt::Debug for Inspector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inspector").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Closes the connections and frees the port.
impl Drop for Inspector {
    fn drop(&mut self) {
        self.shared.is_closing.store(true, Ordering::Relaxed);
        let is_woken = self.shared.waker.wake().is_ok();
        if let Some(server) = self.server.take().filter(|_| is_woken) {
            // A server that has panicked has closed its connections, too.
            let _ = server.join();
        }
    }
}
