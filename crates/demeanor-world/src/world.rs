//! A world, put together and run.

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

/// Many citizens that run on as many threads, processes and machines as there are.
///
/// What happens does not depend on how many these are.
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
    /// Creates a world whose states are those of `book`, with 1024 shards and no citizen in it.
    ///
    /// The book says under which name a citizen's state is sent to another process, and saved.
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

    /// Sets how many shards there are. It is a property of the world, and stays the same on any number of machines: have some
    /// hundred for each thread of the largest cluster that it may run on.
    #[must_use]
    pub fn shards(mut self, shards: u32) -> Self {
        self.shards = shards;
        self
    }

    /// Sets the seed of all [random numbers](Post::random). It is 0 by default.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Gives all citizens a state that runs beside every other, as [`Batch::with_global`](demeanor::Batch::with_global) does.
    #[must_use]
    pub fn global(mut self, global: impl IntoState<T>) -> Self {
        self.global = Some(global.into_state());
        self
    }

    /// Sets who lives in each shard in the beginning, and in which state. Their lives begin with the first tick, by `enter`.
    ///
    /// `make` is called once for each shard, on the thread that has it.
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

    /// Sets how the context of the callbacks is made, for each tick on each thread.
    ///
    /// What a callback reads there must be the same on every thread, and what it writes must go to the post: a count that is
    /// kept in a context is one thread's.
    #[must_use]
    pub fn context(
        mut self,
        make: impl for<'a> Fn(u64, &'a mut Post<T>) -> <T as Owner>::Context<'a> + Send + Sync + 'static,
    ) -> Self {
        self.context = Some(Box::new(make));
        self
    }

    /// Has a checkpoint written to a folder after every so many ticks. With the argument `--resume` the run goes on from the last
    /// one.
    #[must_use]
    pub fn checkpoint(mut self, every: u64, folder: impl Into<PathBuf>) -> Self {
        self.checkpoint = Some(Checkpoints { every, folder: folder.into() });
        self
    }

    /// Has a closure told of each tick, on process 0: the tick, who is in which state everywhere, and the digest of all
    /// citizens.
    ///
    /// The digest costs more than a tick in which little happens: see [`observe_every`](Self::observe_every).
    #[must_use]
    pub fn observe(self, tell: impl FnMut(u64, &Census, u64) + Send + 'static) -> Self {
        self.observe_every(1, tell)
    }

    /// As [`observe`](Self::observe), after every so many ticks, and after the last one.
    #[must_use]
    pub fn observe_every(mut self, ticks: u64, tell: impl FnMut(u64, &Census, u64) + Send + 'static) -> Self {
        self.observer = Some(Box::new(tell));
        self.observe_every = ticks;
        self
    }

    /// Has the citizens counted by a label, in ticks that are observed: such as by region and state. See [`Census::tallies`].
    #[must_use]
    pub fn tally(mut self, label: impl Fn(&T, &StateRef<T>) -> String + Send + Sync + 'static) -> Self {
        self.tally = Some(Box::new(label));
        self
    }

    /// Shows on process 0 how the run goes on, on standard error, about once in a second.
    #[must_use]
    pub fn progress(mut self) -> Self {
        self.shows_progress = true;
        self
    }

    /// Shows in a browser how many citizens are in which state, everywhere together.
    ///
    /// `bind` is called on process 0, before the first tick. The others only send their sums.
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

    /// Sets which program this is, such as its name and version. All processes must have the same.
    ///
    /// By default it is the digest of the executable file. That is right where all processes run the same file. Computers with
    /// different processors or operating systems run different files: set this, and change it whenever what happens in a tick
    /// changes. Then it is up to the program to calculate the same on all of them: functions such as [`f64::sin`] do not.
    #[must_use]
    pub fn program(mut self, program: impl fmt::Display) -> Self {
        self.program = Some(program.to_string());
        self
    }

    /// Adds a setting of the program that has to be the same in all processes, such as how many citizens it makes.
    #[must_use]
    pub fn setting(mut self, name: impl Into<String>, value: impl fmt::Display) -> Self {
        self.settings.push((name.into(), value.to_string()));
        self
    }

    /// Runs this process's part of the world until `ticks` ticks have passed since its beginning.
    ///
    /// `args` are the arguments of the program without its name: `-n` processes, `-p` which of them this is, `-h` the hosts file,
    /// `-w` threads, `--resume` or `--continue`, `--secret` with a file or `--trust-network`, `--patience` and `--silence` with a
    /// number of seconds.
    ///
    /// # Errors
    ///
    /// When the arguments or the world are wrong, when processes cannot be reached or were started differently, when a callback
    /// panics, when a checkpoint cannot be written or read, or when another process ends. All processes end with the same error.
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
