//! The builder of a world, which also runs it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Mutex;

use demeanor::{IntoState, Owner, StateBook, StateRef};

use crate::citizen::Citizen;
use crate::error::WorldError;
use crate::post::Post;
use crate::report::Census;
use crate::run::{self, Outcome};
#[cfg(feature = "inspector")]
use crate::setup::Inspect;
use crate::setup::{Checkpoints, Context, Observer, Populate, Setup, Tally};

/// Describes many owners that are updated on any number of threads, processes and computers, and runs them.
///
/// The owners are called [citizens](Citizen). The methods set the first citizens, their context, and what is observed and saved;
/// [`run`](Self::run) then runs all of them for a number of ticks. The result is the same on any number of threads, processes and
/// computers. [The page of the crate](crate) has an example.
///
/// # Order of calls
///
/// In each tick, new citizens enter their states, in the order of their ids. Then the messages of the previous tick are delivered,
/// sorted by receiver, sender and the order of sending. Then all citizens are updated, as in a [`Batch`](demeanor::Batch). Last,
/// citizens are removed or move, and messages are sent to where their receivers live now.
///
/// # When a callback panics
///
/// All processes end, and [`run`](Self::run) returns an error that says in which process it was.
pub struct World<T: Citizen> {
    book: StateBook<T>,
    shards: u32,
    seed: u64,
    global: Option<StateRef<T>>,
    populate: Option<Box<Populate<T>>>,
    context: Option<Box<Context<T>>>,
    checkpoint: Option<Checkpoints>,
    tally: Option<Box<Tally<T>>>,
    observer: Option<Box<Observer>>,
    observe_every: u64,
    shows_progress: bool,
    program: Option<String>,
    settings: Vec<(String, String)>,
    #[cfg(feature = "inspector")]
    inspector: Option<Box<Inspect>>,
}

impl<T: Citizen> World<T> {
    /// Creates a world whose states are those of `book`, with 1024 shards and no citizens.
    ///
    /// The book contains the names of the states, with which a citizen's state is sent to another process, and saved.
    #[must_use]
    pub fn new(book: StateBook<T>) -> Self {
        Self {
            book,
            shards: 1024,
            seed: 0,
            global: None,
            populate: None,
            context: None,
            checkpoint: None,
            tally: None,
            observer: None,
            observe_every: 1,
            shows_progress: false,
            program: None,
            settings: Vec::new(),
            #[cfg(feature = "inspector")]
            inspector: None,
        }
    }

    /// Sets the number of shards. It is a property of the world, and stays the same on any number of computers: use some
    /// hundred for each thread of the largest cluster on which the world may run.
    #[must_use]
    pub fn shards(mut self, shards: u32) -> Self {
        self.shards = shards;
        self
    }

    /// Sets the seed of all [random numbers](Post::random). The default is 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Gives all citizens a global state, as [`Batch::with_global`](demeanor::Batch::with_global) does.
    #[must_use]
    pub fn global(mut self, global: impl IntoState<T>) -> Self {
        self.global = Some(global.into_state());
        self
    }

    /// Sets the first citizens of each shard, with their states. They enter these states in the first tick.
    ///
    /// `make` is called once for each shard, on the thread that has the shard.
    #[must_use]
    pub fn populate<I, S>(mut self, make: impl Fn(u32) -> I + Send + Sync + 'static) -> Self
    where
        I: IntoIterator<Item = (T, S)>,
        S: IntoState<T>,
    {
        self.populate = Some(Box::new(move |shard| {
            make(shard).into_iter().map(|(citizen, state)| (citizen, state.into_state())).collect()
        }));
        self
    }

    /// Sets the function that creates the context of the callbacks, for each tick on each thread.
    ///
    /// The data that callbacks read in the context must be the same on every thread, and requests must go to the post: a count
    /// in a context would be the count of one thread.
    #[must_use]
    pub fn context(
        mut self,
        make: impl for<'a> Fn(u64, &'a mut Post<T>) -> <T as Owner>::Context<'a> + Send + Sync + 'static,
    ) -> Self {
        self.context = Some(Box::new(make));
        self
    }

    /// Writes a checkpoint to a folder after every `every` ticks. With the argument `--resume` the run continues from the last
    /// one.
    #[must_use]
    pub fn checkpoint(mut self, every: u64, folder: impl Into<PathBuf>) -> Self {
        self.checkpoint = Some(Checkpoints { every, folder: folder.into() });
        self
    }

    /// Calls a closure after each tick, in process 0. Its arguments are the tick, the number of citizens in each state, and the
    /// digest of all citizens.
    ///
    /// The digest costs more than a tick in which little happens: see [`observe_every`](Self::observe_every).
    #[must_use]
    pub fn observe(self, tell: impl FnMut(u64, &Census, u64) + Send + 'static) -> Self {
        self.observe_every(1, tell)
    }

    /// Like [`observe`](Self::observe), but only after every `ticks` ticks, and after the last one.
    #[must_use]
    pub fn observe_every(mut self, ticks: u64, tell: impl FnMut(u64, &Census, u64) + Send + 'static) -> Self {
        self.observer = Some(Box::new(tell));
        self.observe_every = ticks;
        self
    }

    /// Counts the citizens by a label, in ticks that are observed. A label can be, for example, region and state. See
    /// [`Census::tallies`].
    #[must_use]
    pub fn tally(mut self, label: impl Fn(&T, &StateRef<T>) -> String + Send + Sync + 'static) -> Self {
        self.tally = Some(Box::new(label));
        self
    }

    /// Shows the progress of the run in process 0, on standard error, about once per second.
    #[must_use]
    pub fn progress(mut self) -> Self {
        self.shows_progress = true;
        self
    }

    /// Shows the number of citizens in each state in a browser, for all processes together.
    ///
    /// `bind` is called in process 0, before the first tick. The other processes only send their sums.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use demeanor_inspector::Inspector;
    /// # fn inspected<T: demeanor_world::Citizen>(world: demeanor_world::World<T>) -> demeanor_world::World<T> {
    /// world.inspect(|| Inspector::bind("127.0.0.1:8765"))
    /// # }
    /// ```
    #[cfg(feature = "inspector")]
    #[must_use]
    pub fn inspect(
        mut self,
        bind: impl FnOnce() -> Result<demeanor_inspector::Inspector, demeanor_inspector::BindError> + Send + 'static,
    ) -> Self {
        self.inspector = Some(Box::new(bind));
        self
    }

    /// Sets the identity of the program, such as its name and version. It must be the same in all processes.
    ///
    /// By default it is the digest of the executable file. This is right if all processes run the same file. Computers with
    /// different processors or operating systems run different files: in this case, set the identity, and change it whenever
    /// the result of a tick changes. The program must then make sure that all computers calculate the same: functions such as
    /// [`f64::sin`] do not.
    #[must_use]
    pub fn program(mut self, program: impl fmt::Display) -> Self {
        self.program = Some(program.to_string());
        self
    }

    /// Adds a setting of the program that must be the same in all processes, such as the number of citizens.
    #[must_use]
    pub fn setting(mut self, name: impl Into<String>, value: impl fmt::Display) -> Self {
        self.settings.push((name.into(), value.to_string()));
        self
    }

    /// Runs this process's part of the world until `ticks` ticks have passed since its beginning.
    ///
    /// `args` are the arguments of the program without its name: `-n` with the number of processes, `-p` with the number of
    /// this process, `-h` with the hosts file, `-w` with the number of threads, `--resume` or `--continue`, `--secret` with a
    /// file or `--trust-network`, `--patience` and `--silence` with a number of seconds.
    ///
    /// # Errors
    ///
    /// When the arguments or the world are wrong, when processes cannot be reached or were started differently, when a callback
    /// panics, when a checkpoint cannot be written or read, or when another process ends. All processes end with the same
    /// error.
    pub fn run(self, args: impl IntoIterator<Item = impl Into<String>>, ticks: u64) -> Result<Outcome, WorldError> {
        let args = run::Arguments::parse(args.into_iter().map(Into::into).collect())?;
        run::run(self.complete()?, &args, ticks)
    }

    fn complete(self) -> Result<Setup<T>, WorldError> {
        let Self { book, shards, seed, global, populate, context, checkpoint, tally, observer, observe_every, .. } =
            self;
        let missing = |what: &str| WorldError::Setup(format!("the world has no {what}: call `World::{what}`"));
        book.check().map_err(|error| WorldError::Setup(error.to_string()))?;
        if shards == 0 {
            return Err(WorldError::Setup("the world has 0 shards: citizens need at least one to live in".to_owned()));
        }
        if observe_every == 0 {
            return Err(WorldError::Setup("the world is observed every 0 ticks: the least is 1".to_owned()));
        }
        if checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.every == 0) {
            return Err(WorldError::Setup("checkpoints are written every 0 ticks: the least is 1".to_owned()));
        }
        Ok(Setup {
            book,
            shards,
            seed,
            global,
            populate: populate.ok_or_else(|| missing("populate"))?,
            context: context.ok_or_else(|| missing("context"))?,
            checkpoint,
            tally,
            observer: observer.map(Mutex::new),
            observe_every,
            shows_progress: self.shows_progress,
            program: self.program,
            settings: self.settings,
            #[cfg(feature = "inspector")]
            is_inspected: self.inspector.is_some(),
            #[cfg(feature = "inspector")]
            bind: Mutex::new(self.inspector),
        })
    }
}

impl<T: Citizen> fmt::Debug for World<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("shards", &self.shards).field("seed", &self.seed).finish_non_exhaustive()
    }
}
