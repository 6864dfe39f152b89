//! The alarm, with which the first error ends the run of all threads of a process.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};

use crate::error::WorldError;

/// The worker that finds an error raises it; all workers of the process check it while they wait.
#[derive(Default)]
pub(crate) struct Alarm {
    error: OnceLock<WorldError>,
    workers: Mutex<Vec<Thread>>,
    listeners: Mutex<Vec<Listener>>,
}

type Listener = Box<dyn Fn(&WorldError) + Send>;

/// An alarm has been raised; the worker must stop.
#[derive(Debug)]
pub(crate) struct Stopped;

impl Alarm {
    /// Makes the alarm wake this thread when it is raised.
    pub(crate) fn watch(&self) {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).push(thread::current());
    }

    /// Adds a listener that tells another process about the error.
    pub(crate) fn tell(&self, listener: impl Fn(&WorldError) + Send + 'static) {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(listener));
    }

    /// Ends the run with this error. Later errors are consequences and are ignored.
    pub(crate) fn raise(&self, error: WorldError) {
        if self.error.set(error).is_err() {
            return;
        }
        if let Some(error) = self.error.get() {
            self.listeners.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|listener| listener(error));
        }
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(Thread::unpark);
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
