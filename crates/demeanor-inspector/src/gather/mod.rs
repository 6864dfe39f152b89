//! The data that the game's thread collects of one crowd: a picture four times a second, and the watched owners.
//!
//! Functions that visit all owners or entries do this in pieces of a fixed size, one in each tick, so that no tick takes long.

mod breaks;
mod longest;
mod messages;
mod recent;
mod search;
mod watched;

use std::sync::Arc;
use std::time::{Duration, Instant};

use self::breaks::Breaks;
use self::longest::Sweep;
use self::recent::Recently;
use self::search::Search;
pub(crate) use self::watched::Watched;
use crate::crowd::{Count, Crowd, Exit};
use crate::picture::{ExitPicture, LongStay, Picture, Sample, StatePicture};
use crate::shared::{Attention, News, Shared, Wanted, Watch};

/// How long a picture is up to date.
pub(crate) const PICTURE: Duration = Duration::from_millis(250);
/// How long the exits of a file are up to date: it may be reloaded.
const EXITS: Duration = Duration::from_secs(2);

/// The largest number of state names that are stored.
const MOST_STATES: usize = 256;

/// The data of a crowd whose owners have keys of type `K`.
pub(crate) struct Gather<K> {
    next_picture: Option<Instant>,
    exits: Option<Arc<[ExitPicture]>>,
    next_exits: Option<Instant>,
    sweep: Sweep<K>,
    recently: Recently<K>,
    pub(crate) watched: Vec<Watched<K>>,
    searches: Vec<Search>,
    breaks: Breaks<K>,
    /// The version of the wishes for `watched` and `searches`.
    wishes: u64,
    /// The request for samples that was answered last.
    sampled: Attention,
    /// A picture that the server had no time to take.
    unposted: Option<Picture>,
    /// The states that owners have been in, in the order in which they were seen.
    pub(crate) states: Vec<String>,
}

/// The time of a call.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) now: Instant,
    /// The seconds since the inspector was created.
    pub(crate) at: f64,
}

impl<K: Copy + Eq + std::hash::Hash> Gather<K> {
    pub(crate) fn new() -> Self {
        Self {
            next_picture: None,
            exits: None,
            next_exits: None,
            sweep: Sweep::new(),
            recently: Recently::new(),
            watched: Vec::new(),
            searches: Vec::new(),
            breaks: Breaks::new(),
            wishes: 0,
            sampled: Attention::default(),
            unposted: None,
            states: Vec::new(),
        }
    }

    /// Updates the watched owners and the searches of this crowd from the pages' wishes; unchanged ones are kept.
    pub(crate) fn set_wishes(&mut self, version: u64, name: &str, watches: &[Watch]) {
        if self.wishes == version {
            return;
        }
        self.wishes = version;
        let mut owners = std::mem::take(&mut self.watched);
        let mut searches = std::mem::take(&mut self.searches);
        for Watch { page, wanted, .. } in watches.iter().filter(|watch| watch.crowd == name) {
            match wanted {
                Wanted::Owner(text) => {
                    let known = owners.iter().position(|owner| owner.page == *page && owner.text == *text);
                    let known = known.map(|place| owners.swap_remove(place));
                    self.watched.push(known.unwrap_or_else(|| Watched::new(*page, text)));
                }
                Wanted::Search(_) | Wanted::State(_) => {
                    let known = searches.iter().position(|search| search.is(*page, wanted));
                    let known = known.map(|place| searches.swap_remove(place));
                    self.searches.push(known.unwrap_or_else(|| Search::new(*page, name, wanted)));
                }
            }
        }
    }

    /// Collects the data of a crowd, and hands it to the server.
    pub(crate) fn look<C>(&mut self, name: &str, crowd: &C, cx: &C::Context<'_>, moment: Moment, shared: &Shared)
    where
        C: Crowd<Key = K> + ?Sized,
    {
        let is_due = self.next_picture.is_none_or(|next| next <= moment.now);
        self.sweep.go_on(crowd, cx, is_due);
        if let Some(journal) = crowd.journal() {
            self.recently.go_on(journal, moment.now);
        }
        if let Some(journal) = crowd.journal() {
            self.breaks.go_on(name, crowd, cx, journal, shared);
        }
        for search in &mut self.searches {
            search.go_on(crowd, cx);
            if let Some(found) = search.news(is_due) {
                search.is_posted = shared.post(found, News::add_found).is_none();
            }
        }
        for watched in &mut self.watched {
            if let Some(picture) = watched.picture(name, crowd, cx, moment) {
                // A lost picture is replaced by the next one.
                shared.post((watched.page, picture), News::add_owner);
            }
        }
        if is_due {
            self.next_picture = Some(moment.now + PICTURE);
            self.unposted = Some(self.picture(name, crowd, cx, moment));
        }
        if let Some(picture) = self.unposted.take() {
            self.unposted = shared.post(picture, News::add_picture);
        }
    }

    /// Hands the number of owners in each state to the server, while no page is open. Returns `false` if this has been done for this
    /// request.
    pub(crate) fn sample<C>(
        &mut self,
        name: &str,
        crowd: &C,
        cx: &C::Context<'_>,
        at: f64,
        (request, shared): (Attention, &Shared),
    ) -> bool
    where
        C: Crowd<Key = K> + ?Sized,
    {
        let is_new = std::mem::replace(&mut self.sampled, request) != request;
        if is_new {
            // If the server is busy, the next sample comes a second later.
            shared.post(sample(name, crowd, crowd.census(cx), cx, at), News::add_sample);
        }
        is_new
    }

    fn picture<C>(&mut self, name: &str, crowd: &C, cx: &C::Context<'_>, Moment { now, at }: Moment) -> Picture
    where
        C: Crowd<Key = K> + ?Sized,
    {
        if self.next_exits.is_none_or(|next| next <= now) {
            self.next_exits = Some(now + EXITS);
            self.exits = crowd.exits().map(|exits| exits.into_iter().map(ExitPicture::from).collect());
        }
        let states = crowd.census(cx);
        self.breaks.note(&states);
        for name in states.iter().flat_map(|count| &count.path) {
            if self.states.len() < MOST_STATES && !self.states.contains(name) {
                self.states.push(name.clone());
            }
        }
        Picture {
            sample: sample(name, crowd, states, cx, at),
            awake: crowd.awake(),
            exits: self.exits.clone(),
            flow: crowd.journal().map(demeanor::Journal::flow),
            longest: self.longest(crowd, cx),
            recent: crowd.journal().map(|journal| self.recently.picture(crowd, journal)),
            messages: crowd.messages().map(|log| messages::picture(crowd, log)),
        }
    }

    /// Returns the owners with the longest stays that are still in the state in which they were found.
    fn longest<C>(&self, crowd: &C, cx: &C::Context<'_>) -> Vec<LongStay>
    where
        C: Crowd<Key = K> + ?Sized,
    {
        let mut stays: Vec<_> = self
            .sweep
            .found()
            .filter_map(|(found, key)| {
                let report = crowd.report(key, cx)?;
                let current = report.path.into_iter().next_back()?;
                // An owner that has changed since it was found may be followed by any number of others that stayed longer.
                if current.seconds < found {
                    return None;
                }
                let owner = crowd.key_text(key);
                Some(LongStay { owner, label: report.label, state: current.name, seconds: current.seconds })
            })
            .collect();
        stays.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        stays
    }
}

fn sample<C: Crowd + ?Sized>(name: &str, crowd: &C, states: Vec<Count>, cx: &C::Context<'_>, at: f64) -> Sample {
    let states = states.into_iter().map(|count| StatePicture { path: count.path, owners: count.owners });
    Sample { crowd: name.to_owned(), at, seconds: crowd.now(cx), owners: crowd.len(), states: states.collect() }
}

impl From<Exit> for ExitPicture {
    fn from(Exit { from, to, label }: Exit) -> Self {
        Self { from, to, label }
    }
}
