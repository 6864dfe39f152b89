//! What ends a run early: the first error, for all threads of a process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};

use crate::error::WorldError;

/// Raised by the worker that finds something wrong; asked by all workers of the process while they wait.
#[derive(Default)]
pub(crate) struct Alarm {
    error: OnceLock<WorldError>,
    is_over: AtomicBool,
    workers: Mutex<Vec<Thread>>,
    listeners: Mutex<Vec<Listener>>,
}

type Listener = Box<dyn Fn(&WorldError) + Send>;

/// An alarm has been raised: the worker stops where it is.
#[derive(Debug)]
pub(crate) struct Stopped;

impl Alarm {
    /// Has this thread woken when the alarm is raised.
    pub(crate) fn watch(&self) {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).push(thread::current());
    }

    /// Has the error told to another process.
    pub(crate) fn tell(&self, listener: impl Fn(&WorldError) + Send + 'static) {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(listener));
    }

    /// Ends the run. What comes after the first error, or after the end, is its consequence, and is dropped.
    pub(crate) fn raise(&self, error: WorldError) {
        if self.is_over.load(Ordering::SeqCst) || self.error.set(error).is_err() {
            return;
        }
        if let Some(error) = self.error.get() {
            self.listeners.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|listener| listener(error));
        }
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(Thread::unpark);
    }

    /// All workers of this process are done: what other processes do now does not matter here.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    pub(crate) fn check(&self) -> Result<(), Stopped> {
        if self.error.get().is_some() { Err(Stopped) } else { Ok(()) }
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.error.get().is_some()
    }

    pub(crate) fn error(&self) -> Option<&WorldError> {
        self.error.get()
    }
}
