//! Records the start and the inputs of a game, so that the game can be played again.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// The start of a game, and the input of each tick. With these, the game can be played again to any tick.
///
/// `S` contains everything that the ticks depend on: a batch, or a struct with several batches, the clock, the world and the
/// random numbers. `I` is the type of the inputs from outside: the input of the players, calls of methods, messages. Everything
/// else follows from `S` and `I`, if the ticks are deterministic. The ticks of a [`Batch`](crate::Batch) are deterministic, on
/// any number of threads. If a callback reads the time or random numbers from the operating system, the game has to record what
/// the callback has read.
///
/// Ticks are counted from the start: the state at tick 3 is the state after three ticks, and an input of tick 3 is an input of
/// the fourth tick.
///
/// A replay can be serialized, and then begins with its version. A batch itself cannot be serialized: it needs its book to
/// become a [`SavedBatch`](crate::SavedBatch). So call [`as_ref`](Self::as_ref) and [`try_map`](Self::try_map) to get a replay
/// that starts with a `SavedBatch`. After reading the file, `try_map` converts it back.
///
/// # Examples
///
/// ```
/// use demeanor::save::Replay;
/// use demeanor::{Batch, Fsm, Owner, State, StateBook};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
/// struct Sheep { fear: u32 }
/// impl Owner for Sheep { type Context<'a> = (); type Message = u32; }
///
/// struct Graze;
/// struct Flee;
/// impl State<Sheep> for Flee {}
/// impl State<Sheep> for Graze {
///     fn on_message(&self, sheep: &mut Sheep, bark: &u32, fsm: &mut Fsm<'_, Sheep>, _: &mut ()) -> bool {
///         sheep.fear += bark;
///         if sheep.fear > 10 { fsm.change_state(&Flee); }
///         true
///     }
/// }
///
/// fn tick(flock: &mut Batch<Sheep>, barks: &[u32]) {
///     for bark in barks { flock.broadcast(bark, &mut ()); }
///     flock.update(&mut ());
/// }
///
/// let mut flock = Batch::new();
/// let bess = flock.insert(Sheep { fear: 0 }, &Graze);
/// let mut replay = Replay::new(flock.clone());
/// for bark in 1..=6 {
///     replay.record(bark, bark as u32);
/// }
/// let book = StateBook::new().with(&Graze).with(&Flee);
/// let file = serde_json::to_string(&replay.as_ref().try_map(|flock| flock.save(&book, 0.0))?)?;
///
/// // Elsewhere: when did she flee?
/// let replay: Replay<_, u32> = serde_json::from_str(&file)?;
/// let mut replay = replay.try_map(|saved| Batch::load(saved, &book, 0.0))?;
/// assert!(replay.play_to(5, tick).is_in_state(bess, &Graze));
/// assert!(replay.play_to(6, tick).is_in_state(bess, &Flee));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>, I: Deserialize<'de>"))]
pub struct Replay<S, I> {
    #[serde(deserialize_with = "known_version")]
    version: u32,
    start: S,
    #[serde(deserialize_with = "each_tick_once")]
    inputs: BTreeMap<u64, Vec<I>>,
    /// The number of ticks from one copy of the state to the next; 0 if no copies are made.
    every: u64,
    /// The copies of the state, by tick. They are not saved, because the start and the inputs determine them.
    #[serde(skip)]
    kept: BTreeMap<u64, S>,
}

/// The version of replays that this crate writes and reads.
const VERSION: u32 = 1;

impl<S, I> Replay<S, I> {
    /// Creates a replay without inputs.
    pub fn new(start: S) -> Self {
        Self { version: VERSION, start, inputs: BTreeMap::new(), every: 0, kept: BTreeMap::new() }
    }

    /// Makes the replay store a copy of the state at each tick that is a multiple of `every` while it plays. So going back to an
    /// earlier tick does not begin at the start each time. The copies take memory, and are not saved. With 0, the default, the
    /// replay stores no copies.
    #[must_use]
    pub fn with_keyframes(mut self, every: u64) -> Self {
        self.every = every;
        self.kept.clear();
        self
    }

    /// Adds an input of a tick, after the inputs that were already recorded for this tick.
    ///
    /// The input may come late, for example over a network: the stored copies of later states are then dropped.
    pub fn record(&mut self, tick: u64, input: I) {
        self.inputs.entry(tick).or_default().push(input);
        self.kept.split_off(&tick.saturating_add(1));
    }

    /// Plays to a tick, and returns the state after that many ticks.
    ///
    /// `advance` plays one tick with the inputs of that tick, and must do the same as the game did. After the last recorded tick,
    /// `advance` gets no inputs.
    pub fn play_to(&mut self, tick: u64, mut advance: impl FnMut(&mut S, &[I])) -> S
    where
        S: Clone,
    {
        let last = self.kept.range(..=tick).next_back();
        let (mut at, mut state) = last.map_or_else(|| (0, self.start.clone()), |(&at, state)| (at, state.clone()));
        while at < tick {
            advance(&mut state, self.inputs_of(at));
            at += 1;
            if self.every > 0 && at % self.every == 0 {
                self.kept.insert(at, state.clone());
            }
        }
        state
    }

    /// Returns the start.
    pub fn start(&self) -> &S {
        &self.start
    }

    /// Returns the inputs of a tick, in the order in which they were recorded.
    pub fn inputs_of(&self, tick: u64) -> &[I] {
        self.inputs.get(&tick).map_or(&[], Vec::as_slice)
    }

    /// Iterates over all inputs, each with its tick, in the order of the ticks.
    pub fn inputs(&self) -> impl DoubleEndedIterator<Item = (u64, &I)> {
        self.inputs.iter().flat_map(|(&tick, inputs)| inputs.iter().map(move |input| (tick, input)))
    }

    /// Returns a replay that borrows the start and the inputs, so that they can be written without being cloned.
    pub fn as_ref(&self) -> Replay<&S, &I> {
        let inputs = self.inputs.iter().map(|(&tick, inputs)| (tick, inputs.iter().collect())).collect();
        Replay { version: self.version, start: &self.start, inputs, every: self.every, kept: BTreeMap::new() }
    }

    /// Converts the start, for example into a saved batch, or from a saved batch into a batch.
    ///
    /// # Errors
    ///
    /// The error that `form` returns.
    pub fn try_map<R, E>(self, form: impl FnOnce(S) -> Result<R, E>) -> Result<Replay<R, I>, E> {
        let Self { version, start, inputs, every, kept: _ } = self;
        Ok(Replay { version, start: form(start)?, inputs, every, kept: BTreeMap::new() })
    }
}

fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let found = u32::deserialize(deserializer)?;
    if found == VERSION {
        return Ok(found);
    }
    Err(D::Error::custom(format!("this is a replay of version {found}, and this program knows version {VERSION}")))
}

/// Reads the inputs. Fails if a tick is there twice, because only one of the two would be kept.
fn each_tick_once<'de, D: Deserializer<'de>, I: Deserialize<'de>>(
    deserializer: D,
) -> Result<BTreeMap<u64, Vec<I>>, D::Error> {
    struct Inputs<I>(PhantomData<I>);

    impl<'de, I: Deserialize<'de>> Visitor<'de> for Inputs<I> {
        type Value = BTreeMap<u64, Vec<I>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the inputs of each tick")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut ticks: A) -> Result<Self::Value, A::Error> {
            let mut inputs = BTreeMap::new();
            while let Some((tick, of_tick)) = ticks.next_entry()? {
                if inputs.insert(tick, of_tick).is_some() {
                    return Err(A::Error::custom(format!("the inputs of tick {tick} are there twice")));
                }
            }
            Ok(inputs)
        }
    }

    deserializer.deserialize_map(Inputs(PhantomData))
}
