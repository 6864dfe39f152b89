//! What is collected of one crowd, on the game's thread: a picture four times a second, and who is watched.
//!
//! What walks owners or entries does so in pieces of a fixed size, one in each tick, so that no tick takes long.

mod longest;
mod recent;
mod search;
mod watched;

use std::sync::Arc;
use std::time::{Duration, Instant};

use self::longest::Sweep;
use self::recent::Recently;
use self::search::Search;
pub(crate) use self::watched::Watched;
use crate::crowd::{Crowd, Exit};
use crate::picture::{ExitPicture, LongStay, Picture, StatePicture};
use crate::shared::{News, Shared, Wanted, Watch};

/// How long a picture is up to date.
pub(crate) const PICTURE: Duration = Duration::from_millis(250);
/// How long a file's exits are: it may be reloaded.
const EXITS: Duration = Duration::from_secs(2);

/// No more names of states are kept.
const MOST_STATES: usize = 256;

/// Of a crowd whose owners have keys of type `K`.
pub(crate) struct Gather<K> {
    next_picture: Option<Instant>,
    exits: Option<Arc<[ExitPicture]>>,
    next_exits: Option<Instant>,
    sweep: Sweep<K>,
    recently: Recently<K>,
    pub(crate) watched: Vec<Watched<K>>,
    searches: Vec<Search>,
    /// The version of the wishes that `watched` and `searches` are of.
    wishes: u64,
    /// A picture for which the server had no time.
    unposted: Option<Picture>,
    /// The states that an owner has been in, in the order in which they were seen.
    pub(crate) states: Vec<String>,
}

/// When a look is taken.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) now: Instant,
    /// In seconds since the inspector has been there.
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
            wishes: 0,
            unposted: None,
            states: Vec::new(),
        }
    }

    /// Takes up what the pages want to see of this crowd, keeping what is there already.
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
                Wanted::Search(text) => {
                    let known = searches.iter().position(|search| search.is(*page, text));
                    let known = known.map(|place| searches.swap_remove(place));
                    self.searches.push(known.unwrap_or_else(|| Search::new(*page, name, text)));
                }
            }
        }
    }

    /// Takes a look at a crowd, and hands the server what there is to see.
    pub(crate) fn look<C>(&mut self, name: &str, crowd: &C, cx: &C::Context<'_>, moment: Moment, shared: &Shared)
    where
        C: Crowd<Key = K> + ?Sized,
    {
        let is_due = self.next_picture.is_none_or(|next| next <= moment.now);
        self.sweep.go_on(crowd, cx, is_due);
        if let Some(journal) = crowd.journal() {
            self.recently.go_on(journal, moment.now);
        }
        for search in &mut self.searches {
            search.go_on(crowd, cx);
            if let Some(found) = search.news(is_due) {
                search.is_posted = shared.post(found, News::add_found).is_none();
            }
        }
        for watched in &mut self.watched {
            if let Some(picture) = watched.picture(name, crowd, cx, moment) {
                // What is lost comes again with the next.
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

    fn picture<C>(&mut self, name: &str, crowd: &C, cx: &C::Context<'_>, Moment { now, at }: Moment) -> Picture
    where
        C: Crowd<Key = K> + ?Sized,
    {
        if self.next_exits.is_none_or(|next| next <= now) {
            self.next_exits = Some(now + EXITS);
            self.exits = crowd.exits().map(|exits| exits.into_iter().map(ExitPicture::from).collect());
        }
        let states = crowd.census(cx);
        for name in states.iter().flat_map(|count| &count.path) {
            if self.states.len() < MOST_STATES && !self.states.contains(name) {
                self.states.push(name.clone());
            }
        }
        let states = states.into_iter();
        Picture {
            crowd: name.to_owned(),
            at,
            seconds: crowd.now(cx),
            owners: crowd.len(),
            awake: crowd.awake(),
            states: states.map(|count| StatePicture { path: count.path, owners: count.owners }).collect(),
            exits: self.exits.clone(),
            flow: crowd.journal().map(demeanor::Journal::flow),
            longest: self.longest(crowd, cx),
            recent: crowd.journal().map(|_| self.recently.picture(crowd)),
        }
    }

    /// Those who have been in their state longest, as they are now: some may have left it since they were found.
    fn longest<C>(&self, crowd: &C, cx: &C::Context<'_>) -> Vec<LongStay>
    where
        C: Crowd<Key = K> + ?Sized,
    {
        let mut stays: Vec<_> = self
            .sweep
            .found()
            .filter_map(|key| {
                let report = crowd.report(key, cx)?;
                let current = report.path.into_iter().next_back()?;
                let owner = crowd.key_text(key);
                Some(LongStay { owner, label: report.label, state: current.name, seconds: current.seconds })
            })
            .collect();
        stays.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        stays
    }
}

impl From<Exit> for ExitPicture {
    fn from(Exit { from, to, label }: Exit) -> Self {
        Self { from, to, label }
    }
}
