//! The description of a world, which all workers of a process share.

use std::path::PathBuf;
use std::sync::Mutex;

use demeanor::{StateBook, StateRef};

use crate::citizen::Citizen;
use crate::post::Post;
use crate::report::Census;

pub(crate) type Populate<T> = dyn Fn(u32) -> Vec<(T, StateRef<T>)> + Send + Sync;
pub(crate) type Context<T> = dyn for<'a> Fn(u64, &'a mut Post<T>) -> <T as demeanor::Owner>::Context<'a> + Send + Sync;
pub(crate) type Tally<T> = dyn Fn(&T, &StateRef<T>) -> String + Send + Sync;
#[cfg(feature = "inspector")]
pub(crate) type Inspect = dyn FnOnce() -> Result<demeanor_inspector::Inspector, demeanor_inspector::BindError> + Send;
pub(crate) type Observer = dyn FnMut(u64, &Census, u64) + Send;

pub(crate) struct Setup<T: Citizen> {
    pub(crate) book: StateBook<T>,
    pub(crate) shards: u32,
    pub(crate) seed: u64,
    pub(crate) global: Option<StateRef<T>>,
    pub(crate) populate: Box<Populate<T>>,
    pub(crate) context: Box<Context<T>>,
    pub(crate) checkpoint: Option<Checkpoints>,
    pub(crate) tally: Option<Box<Tally<T>>>,
    pub(crate) observer: Option<Mutex<Box<Observer>>>,
    pub(crate) observe_every: u64,
    pub(crate) shows_progress: bool,
    /// The identity of the program. By default it is the digest of the executable file.
    pub(crate) program: Option<String>,
    /// The settings of the program: names and values.
    pub(crate) settings: Vec<(String, String)>,
    #[cfg(feature = "inspector")]
    pub(crate) is_inspected: bool,
    /// Process 0 takes it.
    #[cfg(feature = "inspector")]
    pub(crate) bind: Mutex<Option<Box<Inspect>>>,
}

impl<T: Citizen> Setup<T> {
    /// Returns whether process 0 needs the census of each tick.
    pub(crate) fn is_watched(&self) -> bool {
        #[cfg(feature = "inspector")]
        if self.is_inspected {
            return true;
        }
        self.shows_progress
    }
}

/// When and where checkpoints are written.
pub(crate) struct Checkpoints {
    pub(crate) every: u64,
    pub(crate) folder: PathBuf,
}
