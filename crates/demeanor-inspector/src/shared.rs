//! What the game's thread and the server's have in common. The game never waits for a lock: if the server holds it, the game tries
//! again in the next tick.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mio::Waker;

use crate::command::{Command, Outcome, Sent};
use crate::picture::{Found, OwnerPicture, Picture};

/// No more commands wait for the game.
const MOST_COMMANDS: usize = 256;
/// No more steps wait for the game.
const MOST_STEPS: u32 = 1000;

pub(crate) struct Shared {
    pub(crate) waker: Waker,
    /// How many pages are open.
    listeners: AtomicUsize,
    /// Counts up with every change of `wishes`.
    wishes_version: AtomicU64,
    wishes: Mutex<Wishes>,
    news: Mutex<News>,
    pub(crate) allows_commands: AtomicBool,
    pub(crate) is_paused: AtomicBool,
    steps: AtomicU32,
    pub(crate) is_closing: AtomicBool,
}

/// From the pages to the game.
#[derive(Default)]
pub(crate) struct Wishes {
    pub(crate) watches: Vec<Watch>,
    pub(crate) commands: VecDeque<Sent>,
    /// How many there have been.
    sent: u64,
}

/// What one page wants to see besides the crowds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Watch {
    pub(crate) page: u64,
    pub(crate) crowd: String,
    pub(crate) wanted: Wanted,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wanted {
    /// The owner of this key.
    Owner(String),
    /// The owners whose key or label has this in it.
    Search(String),
}

/// From the game to the pages.
#[derive(Default)]
pub(crate) struct News {
    /// One of each crowd: the newest.
    pub(crate) pictures: Vec<Picture>,
    /// One of each page: the newest.
    pub(crate) owners: Vec<(u64, OwnerPicture)>,
    pub(crate) found: Vec<(u64, Found)>,
    /// What has become of commands, by their numbers.
    pub(crate) outcomes: Vec<(u64, Outcome)>,
}

impl Shared {
    pub(crate) fn new(waker: Waker) -> Self {
        Self {
            waker,
            listeners: AtomicUsize::new(0),
            wishes_version: AtomicU64::new(0),
            wishes: Mutex::default(),
            news: Mutex::default(),
            allows_commands: AtomicBool::new(false),
            is_paused: AtomicBool::new(false),
            steps: AtomicU32::new(0),
            is_closing: AtomicBool::new(false),
        }
    }

    #[inline]
    pub(crate) fn has_listeners(&self) -> bool {
        self.listeners.load(Ordering::Relaxed) > 0
    }
}

/// What the server does.
impl Shared {
    pub(crate) fn set_listeners(&self, listeners: usize) {
        self.listeners.store(listeners, Ordering::Relaxed);
    }

    pub(crate) fn set_watches(&self, watches: Vec<Watch>) {
        let mut wishes = lock(&self.wishes);
        if wishes.watches != watches {
            wishes.watches = watches;
            self.wishes_version.fetch_add(1, Ordering::Release);
        }
    }

    /// Returns the command's number; `None` if there is no room for it.
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

/// What the game does.
impl Shared {
    /// Takes the commands and the watches, if they have changed since the version that the game has seen.
    pub(crate) fn take_wishes(&self, seen: &mut u64) -> Option<Wishes> {
        if self.wishes_version.load(Ordering::Acquire) == *seen {
            return None;
        }
        let mut wishes = self.wishes.try_lock().ok()?;
        *seen = self.wishes_version.load(Ordering::Acquire);
        let commands = std::mem::take(&mut wishes.commands);
        Some(Wishes { watches: wishes.watches.clone(), commands, sent: wishes.sent })
    }

    /// Whether the game is to update now.
    pub(crate) fn takes_tick(&self) -> bool {
        if !self.is_paused.load(Ordering::Relaxed) {
            return true;
        }
        self.steps.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |steps| steps.checked_sub(1)).is_ok()
    }

    /// Hands something to the server. Returns it if the server is taking what was handed to it before.
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
        match self.pictures.iter_mut().find(|other| other.crowd == picture.crowd) {
            Some(other) => *other = picture,
            None => self.pictures.push(picture),
        }
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

/// A panic while it was held leaves nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
