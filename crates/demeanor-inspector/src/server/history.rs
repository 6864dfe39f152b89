//! How many owners were in each state since the game began, for pages that are opened later.

use std::collections::{HashMap, VecDeque};

use demeanor_loopback::Answer;
use serde::{Serialize, Serializer};

use crate::picture::Sample;

/// The time between two moments, in seconds. Pictures come more often.
const STEP: f64 = 0.9;
/// The largest number of moments of a crowd: twenty minutes.
const MOST_MOMENTS: usize = 1200;
/// The largest number of counts, for all crowds together. Each takes 8 bytes.
const MOST_COUNTS: usize = 1 << 20;

#[derive(Default)]
pub(super) struct History {
    crowds: Vec<CrowdHistory>,
    /// The number of counts in all crowds.
    counts: usize,
}

#[derive(Serialize)]
struct CrowdHistory {
    crowd: String,
    /// The path to each state.
    paths: Vec<Vec<String>>,
    /// The index in `paths`.
    #[serde(skip)]
    places: HashMap<Vec<String>, u32>,
    moments: VecDeque<Moment>,
}

#[derive(Serialize)]
struct Moment {
    at: f64,
    seconds: f64,
    owners: usize,
    /// The states that owners were in, each as an index in `paths`, with the number of owners.
    #[serde(serialize_with = "flat")]
    counts: Box<[(u32, u32)]>,
}

fn flat<S: Serializer>(counts: &[(u32, u32)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(counts.iter().flat_map(|(place, owners)| [place, owners]))
}

impl History {
    /// Keeps a sample, unless the last one has only just been taken. Forgets the oldest if there are too many.
    pub(super) fn note(&mut self, sample: &Sample) {
        let place = self.crowds.iter().position(|crowd| crowd.crowd == sample.crowd).unwrap_or_else(|| {
            self.crowds.push(CrowdHistory::new(&sample.crowd));
            self.crowds.len() - 1
        });
        let crowd = &mut self.crowds[place];
        if crowd.moments.back().is_some_and(|last| sample.at - last.at < STEP) {
            return;
        }
        self.counts += crowd.note(sample);
        while self.crowds[place].moments.len() > MOST_MOMENTS {
            self.forget(place);
        }
        while self.counts > MOST_COUNTS {
            let age = |crowd: &CrowdHistory| crowd.moments.front().map_or(f64::INFINITY, |first| first.at);
            let ages = self.crowds.iter().map(age).enumerate();
            let Some((oldest, _)) = ages.min_by(|(_, one), (_, other)| one.total_cmp(other)) else { break };
            self.forget(oldest);
        }
    }

    /// Forgets the first moment of a crowd.
    fn forget(&mut self, place: usize) {
        if let Some(moment) = self.crowds[place].moments.pop_front() {
            self.counts -= moment.counts.len();
        }
    }

    /// Returns the answer to a page.
    pub(super) fn answer(&self, crowd: &str) -> Answer {
        let known = self.crowds.iter().find(|known| known.crowd == crowd);
        match known.map(serde_json::to_string) {
            Some(Ok(content)) => Answer::of(200, "application/json", content),
            Some(Err(why)) => Answer::text(500, why.to_string()),
            None => Answer::text(404, format!("there is no crowd {crowd}")),
        }
    }
}

impl CrowdHistory {
    fn new(crowd: &str) -> Self {
        Self { crowd: crowd.to_owned(), paths: Vec::new(), places: HashMap::new(), moments: VecDeque::new() }
    }

    /// Keeps a sample, unless nothing has happened since the last one: the game is paused. Returns the number of its counts.
    fn note(&mut self, sample: &Sample) -> usize {
        let Self { paths, places, moments, .. } = self;
        let inhabited = sample.states.iter().filter(|state| state.owners > 0);
        let counts = inhabited.filter_map(|state| {
            let place = places.get(&state.path).copied().or_else(|| {
                // A game may make up states without end.
                let place = u32::try_from(paths.len()).ok().filter(|place| *place < MOST_PATHS)?;
                paths.push(state.path.clone());
                places.insert(state.path.clone(), place);
                Some(place)
            })?;
            Some((place, u32::try_from(state.owners).unwrap_or(u32::MAX)))
        });
        let counts: Box<[_]> = counts.collect();
        if moments
            .back()
            .is_some_and(|last| last.seconds.to_bits() == sample.seconds.to_bits() && last.counts == counts)
        {
            return 0;
        }
        let length = counts.len();
        moments.push_back(Moment { at: sample.at, seconds: sample.seconds, owners: sample.owners, counts });
        length
    }
}

/// The largest number of states of a crowd that are kept.
const MOST_PATHS: u32 = 4096;

#[cfg(test)]
mod tests {
    use super::{History, MOST_COUNTS, MOST_MOMENTS};
    use crate::picture::{Sample, StatePicture};

    fn sample(crowd: &str, at: f64, states: usize) -> Sample {
        let states = (0..states).map(|nth| StatePicture { path: vec![format!("s{nth}")], owners: 1 });
        Sample { crowd: crowd.to_owned(), at, seconds: at, owners: 7, states: states.collect() }
    }

    #[test]
    fn the_history_keeps_one_moment_a_second_and_forgets_the_oldest() {
        let mut history = History::default();
        for quarter in 0..8_000 {
            history.note(&sample("few", f64::from(quarter) / 4.0, 2));
        }
        assert_eq!(history.crowds[0].moments.len(), MOST_MOMENTS);
        history.note(&Sample { at: 2001.0, ..sample("few", 1999.0, 2) });
        assert_eq!(history.crowds[0].moments.back().unwrap().at.to_string(), "1999", "the game was paused");
        assert_eq!(history.crowds[0].moments.front().unwrap().at.to_string(), "800");
        for second in 0..600 {
            history.note(&sample("many", 2000.0 + f64::from(second), 3000));
        }
        assert!(history.counts <= MOST_COUNTS, "{}", history.counts);
        let counts = history.crowds.iter().flat_map(|crowd| &crowd.moments).map(|moment| moment.counts.len());
        assert_eq!(counts.sum::<usize>(), history.counts);
        assert_eq!(history.crowds[1].moments.back().unwrap().at.to_string(), "2599");
    }
}
