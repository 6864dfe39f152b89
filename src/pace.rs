//! Whether a pass over many owners runs on one thread or on all: the faster way, which is found out by measuring.
//!
//! The module is public but hidden, because the plugin for Bevy uses it, too.

/// Decides for each of many passes whether it runs on one thread or on all. The results of a pass must not depend on it.
///
/// The first eight passes are measured: four on all threads, then four on one. For each way, the shortest pass counts: the others
/// may be slow because the data is still in another processor's cache, or because a game does more in each second tick. Then the
/// faster way is used until the next measurement: all threads only if they take nine tenths of the time at most. The clearer the
/// lead is, the later the next measurement comes, so that the passes of the slower way take at most 2 % of the time. It comes soon
/// when there are more than twice or less than half as many owners. The first measurements come soon, too, because memory that is
/// used for the first time makes a pass slow.
///
/// A measurement that is held up by other programs changes little: it can make the time of a way a quarter longer at most.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The number of owners when the measurement began.
    owners: usize,
    /// How many passes of the measurement have ended.
    measured: usize,
    /// The least seconds that a measured pass has taken for each owner: on one thread, and on all. With each measurement, the older
    /// values become longer.
    least: [f64; 2],
    /// For how many more passes the measurement holds.
    left: u32,
    /// How many passes there have been.
    passes: u32,
}

/// Whether the passes of a measurement run on all threads.
const MEASURED: [bool; 8] = [true, true, true, true, false, false, false, false];

/// The share of the time on one thread that a pass may take on all threads at most, so that their use is worth it.
const MOST_ON_ALL: f64 = 0.9;

/// How many times as long the earlier times count in a measurement.
const FADING: f64 = 1.25;

/// For how many passes a measurement holds if both ways are equally fast.
const PASSES: u32 = 256;

/// How many times as many passes a measurement holds for at most.
const MOST: f64 = 64.0;

/// For how many passes a measurement holds at most if the number of owners is another one.
const FEW: u32 = 32;

impl Default for Pace {
    fn default() -> Self {
        Self { owners: 0, measured: 0, least: [f64::INFINITY; 2], left: 0, passes: 0 }
    }
}

impl Pace {
    /// Calls `pass`, which takes care of `owners` owners. Its argument says whether it runs on all threads. `clock` returns the
    /// time in seconds.
    pub fn run<R>(&mut self, owners: usize, clock: impl Fn() -> f64, pass: impl FnOnce(bool) -> R) -> R {
        let (on_all, is_measured) = self.next(owners);
        if !is_measured {
            return pass(on_all);
        }
        let begin = clock();
        let result = pass(on_all);
        self.note(on_all, clock() - begin, owners);
        result
    }

    /// Begins a pass. Returns whether it runs on all threads, and whether it is measured.
    fn next(&mut self, owners: usize) -> (bool, bool) {
        let is_other_number = owners / 2 > self.owners || self.owners / 2 > owners;
        if is_other_number {
            self.left = self.left.min(FEW);
        }
        if self.left == 0 && self.measured == MEASURED.len() {
            let least = if is_other_number { [f64::INFINITY; 2] } else { self.least.map(|least| FADING * least) };
            *self = Self { measured: 0, least, ..*self };
        }
        if self.measured == 0 {
            self.owners = owners;
        }
        self.passes = self.passes.saturating_add(1);
        if let Some(&on_all) = MEASURED.get(self.measured) {
            return (on_all, true);
        }
        self.left -= 1;
        (self.least[1] < MOST_ON_ALL * self.least[0], false)
    }

    /// Ends a measured pass.
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2^32 owners")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the factor is between 1 and `MOST`")]
    fn note(&mut self, on_all: bool, seconds: f64, owners: usize) {
        let least = &mut self.least[usize::from(on_all)];
        // A clock in a browser may show no time. Without a least time, nothing could be said of the lead.
        *least = least.min((seconds / owners as f64).max(f64::MIN_POSITIVE));
        self.measured += 1;
        let [one, all] = self.least;
        let lead = (one / all).max(all / one);
        // The slower way takes `lead` times as long, and so its passes are a share of `lead / passes` of all passes' time.
        self.left = self.passes.min(PASSES * (lead * lead).clamp(1.0, MOST) as u32);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Runs passes of which the `n`-th takes the seconds that `seconds` returns. Returns which of them ran on all threads.
    fn run(pace: &mut Pace, owners: usize, passes: u32, seconds: impl Fn(u32, bool) -> f64) -> Vec<bool> {
        let run_one = |n| {
            let (on_all, is_measured) = pace.next(owners);
            if is_measured {
                pace.note(on_all, seconds(n, on_all), owners);
            }
            on_all
        };
        (0..passes).map(run_one).collect()
    }

    /// Returns a pace that has been used for long.
    fn used() -> Pace {
        Pace { passes: 1_000_000, ..Pace::default() }
    }

    fn slow_on_one(_: u32, on_all: bool) -> f64 {
        if on_all { 1.0 } else { 1.5 }
    }

    #[test]
    fn the_faster_way_is_used_until_the_next_measurement() {
        let mut pace = used();
        assert_eq!(run(&mut pace, 5000, 8, slow_on_one), MEASURED);
        assert_eq!(run(&mut pace, 5000, 512, slow_on_one), [true; 512]);
        assert_eq!(run(&mut pace, 5000, 8, |_, on_all| if on_all { 1.5 } else { 1.0 }), MEASURED);
        assert_eq!(run(&mut pace, 5000, 256, slow_on_one), [false; 256]);
        assert_eq!(run(&mut pace, 5000, 8, slow_on_one), MEASURED);
    }

    #[test]
    fn the_first_measurements_hold_for_as_many_passes_as_there_have_been() {
        let mut pace = Pace::default();
        for passes in [8, 24, 56, 120, 248] {
            assert_eq!(run(&mut pace, 5000, 8, slow_on_one), MEASURED);
            assert!(run(&mut pace, 5000, passes, slow_on_one).iter().all(|on_all| *on_all));
        }
    }

    #[test]
    fn a_clear_lead_is_measured_again_later() {
        let mut pace = used();
        run(&mut pace, 5000, 8, |_, on_all| if on_all { 1.0 } else { 60.0 });
        assert_eq!(run(&mut pace, 5000, 64 * PASSES, slow_on_one), [true; 64 * PASSES as usize]);
        assert_eq!(run(&mut pace, 5000, 8, slow_on_one), MEASURED);
    }

    #[test]
    fn many_more_or_fewer_owners_are_measured_soon() {
        for owners in [10_002, 2499] {
            let mut pace = used();
            run(&mut pace, 5000, 8, slow_on_one);
            assert_eq!(run(&mut pace, owners, 32, slow_on_one), [true; 32]);
            assert_eq!(run(&mut pace, owners, 8, slow_on_one), MEASURED);
        }
        let mut pace = used();
        run(&mut pace, 5000, 8, slow_on_one);
        assert_eq!(run(&mut pace, 9999, 60, slow_on_one), [true; 60]);
        assert_eq!(run(&mut pace, 2500, 60, slow_on_one), [true; 60]);
    }

    #[test]
    fn passes_that_other_programs_have_held_up_decide_nothing() {
        let mut pace = used();
        let held_up = |n, on_all| if n < 3 { 10.0 } else { slow_on_one(n, on_all) };
        assert_eq!(run(&mut pace, 5000, 520, held_up)[8..], [true; 512]);
        assert_eq!(run(&mut pace, 5000, 264, |_, on_all| if on_all { 10.0 } else { 1.5 })[8..], [true; 256]);
    }

    #[test]
    fn a_clock_that_shows_no_time_is_measured_no_more_often_than_others() {
        let mut pace = used();
        assert_eq!(run(&mut pace, 5000, 8, |_, _| 0.0), MEASURED);
        assert_eq!(run(&mut pace, 5000, 256, |_, _| 0.0), [false; 256]);
        assert_eq!(run(&mut pace, 5000, 8, |_, _| 0.0), MEASURED);
    }

    #[test]
    fn work_in_each_second_pass_decides_nothing() {
        for parity in 0..2 {
            let seconds = |n, on_all| slow_on_one(n, on_all) * if n % 2 == parity { 10.0 } else { 1.0 };
            assert_eq!(run(&mut used(), 5000, 16, seconds)[8..], [true; 8]);
        }
    }

    #[test]
    fn a_pass_that_panics_is_not_measured() {
        let mut pace = used();
        let run = |pace: &mut Pace, on: &mut Vec<bool>| pace.run(5000, || 0.0, |on_all| on.push(on_all));
        let mut on = Vec::new();
        let panics = std::panic::AssertUnwindSafe(|| pace.run(5000, || 0.0, |_| panic!("a callback panics")));
        std::panic::catch_unwind(panics).expect_err("it panics");
        (0..8).for_each(|_| run(&mut pace, &mut on));
        assert_eq!(on, MEASURED);
    }
}
