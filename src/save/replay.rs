//! What happened since some tick, so that it can be played again.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// A start, and what has come from outside since, by tick: enough to play the game again to any tick.
///
/// `S` is all that the game's ticks depend on: a batch, or a struct with several, the clock, the world and the random numbers.
/// `I` is whatever comes from outside: the players' input, methods called, messages sent. All else follows from these, if the
/// game's ticks are deterministic; those of a [`Batch`](crate::Batch) are, on any number of threads. Callbacks that ask the
/// system for the time or for random numbers are not, unless the game records the answers.
///
/// Ticks are counted from the start: the state at tick 3 is the one after three ticks, and an input of tick 3 is one that the
/// fourth of them is given.
///
/// It is serializable, with a version in front. As a batch is saved by its book, what is written is a replay that starts with a
/// [`SavedBatch`](crate::SavedBatch): [`as_ref`](Self::as_ref) and [`try_map`](Self::try_map) lead there, and `try_map` back.
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
    inputs: BTreeMap<u64, Vec<I>>,
    /// After how many ticks a state is kept; 0 is never.
    every: u64,
    /// The states that have been kept on the way. They follow from the rest.
    #[serde(skip)]
    kept: BTreeMap<u64, S>,
}

/// The version that this crate writes.
const VERSION: u32 = 1;

impl<S, I> Replay<S, I> {
    /// Creates a replay of nothing yet.
    pub fn new(start: S) -> Self {
        Self { version: VERSION, start, inputs: BTreeMap::new(), every: 0, kept: BTreeMap::new() }
    }

    /// Keeps the state of every so many ticks when it plays, so that going back does not begin at the start each time. They take
    /// memory, and are not saved. 0, the default, keeps none.
    #[must_use]
    pub fn with_keyframes(mut self, every: u64) -> Self {
        self.every = every;
        self.kept.clear();
        self
    }

    /// Adds something that came from outside in a tick, after what has been recorded of that tick so far.
    ///
    /// It may come late, as over a network: what has been kept of the ticks behind it is forgotten.
    pub fn record(&mut self, tick: u64, input: I) {
        self.inputs.entry(tick).or_default().push(input);
        self.kept.split_off(&tick.saturating_add(1));
    }

    /// Plays to a tick, and returns the state there: what `tick` inputs lead to from the start on.
    ///
    /// `advance` plays one tick with what came from outside in it. It has to do what the game has done. Beyond the last input, it
    /// is given none.
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

    /// Where it begins.
    pub fn start(&self) -> &S {
        &self.start
    }

    /// What came from outside in a tick, in the order of recording.
    pub fn inputs_of(&self, tick: u64) -> &[I] {
        self.inputs.get(&tick).map_or(&[], Vec::as_slice)
    }

    /// All that came from outside, with its tick, in the order of time.
    pub fn inputs(&self) -> impl DoubleEndedIterator<Item = (u64, &I)> {
        self.inputs.iter().flat_map(|(&tick, inputs)| inputs.iter().map(move |input| (tick, input)))
    }

    /// The same replay, borrowed, to be written without a copy.
    pub fn as_ref(&self) -> Replay<&S, &I> {
        let inputs = self.inputs.iter().map(|(&tick, inputs)| (tick, inputs.iter().collect())).collect();
        Replay { version: self.version, start: &self.start, inputs, every: self.every, kept: BTreeMap::new() }
    }

    /// Exchanges the start for another form of it: what is saved of it, or what is loaded from that.
    ///
    /// # Errors
    ///
    /// Those of `form`.
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
