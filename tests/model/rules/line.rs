//! The queue of requests.

use std::collections::VecDeque;

/// The requests of an outermost callback, first in, first out (rule 10). Those that wait behind a message that is being offered are
/// set aside until then (rule 24).
#[derive(Clone)]
pub(crate) struct Line<R> {
    /// The requests that are carried out now.
    requests: VecDeque<R>,
    /// The requests behind each message that is being offered, the innermost last.
    set_aside: Vec<VecDeque<R>>,
}

impl<R> Default for Line<R> {
    fn default() -> Self {
        Self { requests: VecDeque::new(), set_aside: Vec::new() }
    }
}

impl<R> Line<R> {
    pub(crate) fn set_aside(&mut self) {
        self.set_aside.push(std::mem::take(&mut self.requests));
    }

    /// Puts the requests that were set aside last before the others.
    pub(crate) fn take_back(&mut self) {
        let mut waiting = self.set_aside.pop().unwrap_or_default();
        waiting.append(&mut self.requests);
        self.requests = waiting;
    }

    pub(crate) fn push(&mut self, request: R) {
        self.requests.push_back(request);
    }

    /// Takes the next request that is not set aside.
    pub(crate) fn pop(&mut self) -> Option<R> {
        self.requests.pop_front()
    }

    /// Returns all requests, in the order in which they were made.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &R> {
        self.set_aside.iter().flatten().chain(&self.requests)
    }

    pub(crate) fn len(&self) -> usize {
        self.iter().count()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn retain(&mut self, is_kept: impl Fn(&R) -> bool) {
        self.set_aside.iter_mut().chain([&mut self.requests]).for_each(|requests| requests.retain(&is_kept));
    }

    /// Drops all requests. Nothing is taken back later.
    pub(crate) fn clear(&mut self) {
        self.retain(|_| false);
    }
}

impl<R> Extend<R> for Line<R> {
    fn extend<I: IntoIterator<Item = R>>(&mut self, requests: I) {
        self.requests.extend(requests);
    }
}
