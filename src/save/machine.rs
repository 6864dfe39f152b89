//! Saves and loads one machine or one agent.

use super::book::StateBook;
use super::data::{AgentContent, MachineContent, SavedAgent, SavedMachine};
use super::error::{LoadError, SaveError};
use super::read::Reader;
use super::seconds::Seconds;
use super::version::Saved;
use super::write::Writer;
use crate::machine::agent::Agent;
use crate::machine::seat::Seat;
use crate::machine::settings::Settings;
use crate::machine::state_machine::StateMachine;
use crate::owner::{Owner, clock_time};

impl<T: Owner> StateMachine<T> {
    /// Saves the machine: the names of its states, its stack and history, its times, timers and sleep
    /// ([rule 27](crate::docs::semantics#rule-27)). The global state is not saved. `now` is the time that the owner's clock
    /// shows, in seconds; use 0 if there is no clock.
    ///
    /// An ancestor of the current state may be missing from the book: see [`StateBook`].
    ///
    /// # Errors
    ///
    /// - When the book does not contain one of the states. The error lists all missing states.
    /// - When the book does not say how to save the message of a timer.
    /// - When the data of a state or of a message cannot be written.
    /// - When the book has a mistake, such as two states with the same name. See [`StateBook::check`].
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Owner, State, StateBook, StateMachine};
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Idle;
    /// struct Chase;
    /// impl State<Enemy> for Idle {}
    /// impl State<Enemy> for Chase {}
    ///
    /// let machine = StateMachine::<Enemy>::new(&Chase);
    /// let error = machine.save(&StateBook::new().with(&Idle), 0.0).unwrap_err();
    /// assert!(error.to_string().starts_with("the book does not know the state `Chase`"));
    /// ```
    pub fn save(&self, book: &StateBook<T>, now: f64) -> Result<SavedMachine, SaveError> {
        content(self.seat(), book, now).map(Saved::new)
    }
}

pub(super) fn content<T: Owner>(seat: &Seat<T>, book: &StateBook<T>, now: f64) -> Result<MachineContent, SaveError> {
    let mut writer = Writer::new(book)?;
    let machine = writer.seat(seat);
    let states = writer.finish()?;
    Ok(MachineContent { clock: Seconds(clock_time(now)), definitions: book.definitions_digest(), states, machine })
}

impl<T: Owner> StateBook<T> {
    /// Loads a saved machine, without any callback. The machine continues as if it had not been saved and loaded. Set its global
    /// state again, with [`with_global`](StateMachine::with_global).
    ///
    /// `now` is the time that the owner's clock shows at loading, in seconds; use 0 if there is no clock. The times and timers
    /// of the machine are shifted by the difference between `now` and the `now` that was given to
    /// [`save`](StateMachine::save). If the two are equal, every time is the same to the bit.
    ///
    /// # Errors
    ///
    /// - When the saved value has a version that this program does not know.
    /// - When the book does not know one of the names, and has no [replacement](Self::on_missing) for it. The error lists all
    ///   such names.
    /// - When the data of an owned state or of a message cannot be read, or when the book does not say how to load messages.
    /// - When the saved value is damaged.
    /// - When the book has a mistake, such as two states with the same name. See [`check`](Self::check).
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Owner, State, StateBook, StateMachine};
    /// struct Enemy;
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Idle;
    /// struct Awareness;
    /// impl State<Enemy> for Idle {}
    /// impl State<Enemy> for Awareness {}
    ///
    /// let book = StateBook::<Enemy>::new().with(&Idle);
    /// let saved = StateMachine::new(&Idle).with_global(&Awareness).save(&book, 0.0)?;
    /// let machine = book.load(saved, 0.0)?.with_global(&Awareness);
    /// assert!(machine.is_in_state(&Idle));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load(&self, saved: SavedMachine, now: f64) -> Result<StateMachine<T>, LoadError> {
        machine(saved.known()?, self, now)
    }
}

pub(super) fn machine<T: Owner>(
    content: MachineContent,
    book: &StateBook<T>,
    now: f64,
) -> Result<StateMachine<T>, LoadError> {
    let MachineContent { clock, definitions, states, machine } = content;
    let mut reader = Reader::new(book, states, clock, definitions, now)?;
    let seat = reader.seat(&machine)?;
    reader.finish()?;
    Ok(StateMachine::from_seat(seat, Settings::DEFAULT))
}

impl<T: Owner> Agent<T> {
    /// Saves the owner and its machine. See [`StateMachine::save`].
    ///
    /// # Errors
    ///
    /// As for [`StateMachine::save`].
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::{Agent, Owner, State, StateBook, StateMachine};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Enemy { health: u32 }
    /// impl Owner for Enemy { type Context<'a> = (); type Message = (); }
    /// struct Idle;
    /// impl State<Enemy> for Idle {}
    ///
    /// let book = StateBook::<Enemy>::new().with(&Idle);
    /// let enemy = Agent::new(Enemy { health: 7 }, StateMachine::new(&Idle));
    /// let file = serde_json::to_string(&enemy.save(&book, 0.0)?)?;
    ///
    /// let enemy = Agent::load(serde_json::from_str(&file)?, &book, 0.0)?;
    /// assert_eq!(enemy.health, 7);
    /// assert!(enemy.machine().is_in_state(&Idle));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, book: &StateBook<T>, now: f64) -> Result<SavedAgent<&T>, SaveError> {
        let machine = content(self.machine().seat(), book, now)?;
        Ok(Saved::new(AgentContent { owner: Some(&**self), machine }))
    }

    /// Loads an owner and its machine, without any callback. The machine has no global state:
    /// [`set_global`](StateMachine::set_global) sets it. See [`StateBook::load`].
    ///
    /// # Errors
    ///
    /// As for [`StateBook::load`].
    pub fn load(saved: SavedAgent<T>, book: &StateBook<T>, now: f64) -> Result<Self, LoadError> {
        let AgentContent { owner, machine } = saved.known()?;
        let owner = owner.ok_or_else(|| LoadError::damaged("owner", "there is none"))?;
        Ok(Self::new(owner, self::machine(machine, book, now)?))
    }
}

impl<O> SavedAgent<O> {
    /// Replaces the owner with the value that `map` returns for it. The value that [`Agent::save`] returns contains a reference
    /// to the owner. If `map` clones the owner, the agent can be loaded without a file.
    pub fn map_owner<P>(self, map: impl FnOnce(O) -> P) -> SavedAgent<P> {
        let Self { version, content: AgentContent { owner, machine } } = self;
        Saved { version, content: AgentContent { owner: owner.map(map), machine } }
    }
}
