//! The data that the game's thread and the server's thread share. The game never waits for a lock: if the server holds it, the
//! game tries again in the next tick.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use demeanor_loopback::Waker;
use serde::{Deserialize, Serialize};

use crate::command::{Command, Outcome, Sent};
use crate::picture::{Found, OwnerPicture, Picture, Sample};

/// The largest number of commands that wait for the game.
const MOST_COMMANDS: usize = 256;
/// The largest number of steps that wait for the game.
const MOST_STEPS: u32 = 1000;
/// The largest number of breakpoints.
const MOST_BREAKPOINTS: usize = 32;

pub(crate) struct Shared {
    pub(crate) waker: Arc<Waker>,
    /// The number of open pages, and above it in the upper half the number of samples that the server has asked for.
    attention: AtomicU64,
    /// Increases with every change of `wishes`.
    wishes_version: AtomicU64,
    wishes: Mutex<Wishes>,
    pub(crate) news: Mutex<News>,
    pub(crate) allows_commands: AtomicBool,
    pub(crate) is_paused: AtomicBool,
    steps: AtomicU32,
    /// The number of `breakpoints`, which the game reads in each tick.
    breaks: AtomicUsize,
    pub(crate) breakpoints: Mutex<Vec<Breakpoint>>,
    pub(crate) is_closing: AtomicBool,
}

/// How much the game has to do: nothing, as long as this is what it was when the game had done all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Attention(u64);

/// The bits of an [`Attention`] that count the open pages.
const LISTENERS: u64 = u32::MAX as u64;

impl Attention {
    #[inline]
    pub(crate) fn has_listeners(self) -> bool {
        self.0 & LISTENERS > 0
    }
}

/// Data from the pages to the game.
#[derive(Default)]
pub(crate) struct Wishes {
    pub(crate) watches: Vec<Watch>,
    pub(crate) commands: VecDeque<Sent>,
    /// The number of commands so far.
    sent: u64,
}

/// The owner or the search that one page wants, besides the pictures of the crowds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Watch {
    pub(crate) page: u64,
    pub(crate) crowd: String,
    pub(crate) wanted: Wanted,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wanted {
    /// The owner with this key.
    Owner(String),
    /// The owners whose key or label contains this text.
    Search(String),
    /// The owners in the state with this name.
    State(String),
}

impl Wanted {
    pub(crate) fn text(&self) -> &str {
        let (Self::Owner(text) | Self::Search(text) | Self::State(text)) = self;
        text
    }
}

/// When the game pauses.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Breakpoint {
    pub(crate) crowd: String,
    #[serde(flatten)]
    pub(crate) at: StopAt,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StopAt {
    /// When an owner enters this state from outside, or a state in it.
    State(String),
    /// When the crowd's journal notes that an owner violates this property; with `None`, any property.
    Property(Option<String>),
}

/// Why the game has paused at a breakpoint.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Stop {
    pub(crate) crowd: String,
    pub(crate) owner: String,
    pub(crate) why: String,
}

/// Data from the game to the pages.
#[derive(Default)]
pub(crate) struct News {
    /// The newest picture of each crowd.
    pub(crate) pictures: Vec<Picture>,
    /// The newest sample of each crowd.
    pub(crate) samples: Vec<Sample>,
    /// The newest picture of the owner that each page watches, by the page's number.
    pub(crate) owners: Vec<(u64, OwnerPicture)>,
    /// The newest results of each page's search, by the page's number.
    pub(crate) found: Vec<(u64, Found)>,
    /// The outcomes of commands, by their numbers.
    pub(crate) outcomes: Vec<(u64, Outcome)>,
    /// Why the game has paused at a breakpoint.
    pub(crate) stop: Option<Stop>,
}

impl Shared {
    pub(crate) fn new(waker: Arc<Waker>) -> Self {
        Self {
            waker,
            attention: AtomicU64::new(0),
            wishes_version: AtomicU64::new(0),
            wishes: Mutex::default(),
            news: Mutex::default(),
            allows_commands: AtomicBool::new(false),
            is_paused: AtomicBool::new(false),
            steps: AtomicU32::new(0),
            breaks: AtomicUsize::new(0),
            breakpoints: Mutex::default(),
            is_closing: AtomicBool::new(false),
        }
    }

    #[inline]
    pub(crate) fn attention(&self) -> Attention {
        Attention(self.attention.load(Ordering::Relaxed))
    }
}

/// The operations of the server.
impl Shared {
    pub(crate) fn set_listeners(&self, listeners: usize) {
        let Attention(before) = self.attention();
        self.attention.store(before & !LISTENERS | listeners as u64 & LISTENERS, Ordering::Relaxed);
    }

    /// Asks the game for a sample of each crowd.
    pub(crate) fn ask_for_samples(&self) {
        self.attention.fetch_add(LISTENERS + 1, Ordering::Relaxed);
    }

    pub(crate) fn set_watches(&self, watches: Vec<Watch>) {
        let mut wishes = lock(&self.wishes);
        if wishes.watches != watches {
            wishes.watches = watches;
            self.wishes_version.fetch_add(1, Ordering::Release);
        }
    }

    /// Adds a command. Returns its number; `None` if there is no room.
    pub(crate) fn add_command(&self, command: Command) -> Option<u64> {
        let mut wishes = lock(&self.wishes);
        if wishes.commands.len() >= MOST_COMMANDS {
            return None;
        }
        wishes.sent += 1;
        let number = wishes.sent;
        wishes.commands.push_back(Sent { number, command });
        self.wishes_version.fetch_add(1, Ordering::Release);
        Some(number)
    }

    pub(crate) fn pause(&self, is_paused: bool) {
        self.steps.store(0, Ordering::Relaxed);
        self.is_paused.store(is_paused, Ordering::Relaxed);
    }

    /// Adds a breakpoint. Returns `false` if there are too many.
    pub(crate) fn add_breakpoint(&self, breakpoint: Breakpoint) -> bool {
        self.change_breakpoints(|all| {
            all.retain(|other| *other != breakpoint);
            let has_room = all.len() < MOST_BREAKPOINTS;
            all.extend(has_room.then_some(breakpoint));
            has_room
        })
    }

    pub(crate) fn remove_breakpoint(&self, breakpoint: &Breakpoint) {
        self.change_breakpoints(|all| all.retain(|other| other != breakpoint));
    }

    pub(crate) fn remove_breakpoints(&self) {
        self.change_breakpoints(Vec::clear);
    }

    fn change_breakpoints<R>(&self, change: impl FnOnce(&mut Vec<Breakpoint>) -> R) -> R {
        let mut all = lock(&self.breakpoints);
        let result = change(&mut all);
        self.breaks.store(all.len(), Ordering::Relaxed);
        result
    }

    pub(crate) fn breakpoints(&self) -> Vec<Breakpoint> {
        lock(&self.breakpoints).clone()
    }

    pub(crate) fn step(&self) {
        self.is_paused.store(true, Ordering::Relaxed);
        let add = |steps: u32| Some((steps + 1).min(MOST_STEPS));
        // The closure never refuses.
        let _ = self.steps.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    pub(crate) fn take_news(&self) -> News {
        std::mem::take(&mut *lock(&self.news))
    }
}

/// The operations of the game.
impl Shared {
    /// Returns the commands and the watches, if they have changed since the version `seen`.
    pub(crate) fn take_wishes(&self, seen: &mut u64) -> Option<Wishes> {
        if self.wishes_version.load(Ordering::Acquire) == *seen {
            return None;
        }
        let mut wishes = self.wishes.try_lock().ok()?;
        *seen = self.wishes_version.load(Ordering::Acquire);
        let commands = std::mem::take(&mut wishes.commands);
        Some(Wishes { watches: wishes.watches.clone(), commands, sent: wishes.sent })
    }

    /// Returns where the game pauses, as far as it concerns this crowd. `None` if the server is holding the lock.
    pub(crate) fn stops(&self, crowd: &str) -> Option<Vec<StopAt>> {
        if self.breaks.load(Ordering::Relaxed) == 0 {
            return Some(Vec::new());
        }
        let all = self.breakpoints.try_lock().ok()?;
        let of_crowd = all.iter().filter(|breakpoint| breakpoint.crowd == crowd);
        Some(of_crowd.map(|breakpoint| breakpoint.at.clone()).collect())
    }

    /// Returns whether the game should update now.
    pub(crate) fn takes_tick(&self) -> bool {
        if !self.is_paused.load(Ordering::Relaxed) {
            return true;
        }
        self.steps.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |steps| steps.checked_sub(1)).is_ok()
    }

    /// Hands data to the server. Returns the data if the server is holding the lock.
    pub(crate) fn post<N>(&self, news: N, add: impl FnOnce(&mut News, N)) -> Option<N> {
        let Ok(mut all) = self.news.try_lock() else { return Some(news) };
        add(&mut all, news);
        drop(all);
        if let Err(why) = self.waker.wake() {
            log::debug!(target: "demeanor_inspector", "the inspector's server cannot be woken: {why}");
        }
        None
    }
}

impl News {
    pub(crate) fn add_picture(&mut self, picture: Picture) {
        match self.pictures.iter_mut().find(|other| other.sample.crowd == picture.sample.crowd) {
            Some(other) => *other = picture,
            None => self.pictures.push(picture),
        }
    }

    pub(crate) fn add_sample(&mut self, sample: Sample) {
        self.samples.retain(|other| other.crowd != sample.crowd);
        self.samples.push(sample);
    }

    pub(crate) fn add_owner(&mut self, of_page: (u64, OwnerPicture)) {
        self.owners.retain(|(page, _)| *page != of_page.0);
        self.owners.push(of_page);
    }

    pub(crate) fn add_found(&mut self, of_page: (u64, Found)) {
        self.found.retain(|(page, _)| *page != of_page.0);
        self.found.push(of_page);
    }
}

/// A panic while the lock was held leaves the data consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
