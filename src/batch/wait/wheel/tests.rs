//! Compares the wheel with a plain list of timers, and measures its memory.

use std::collections::HashSet;

use allocation_counter::measure;
use proptest::prelude::*;

use super::Wheel;

/// The reference: a list of timers, oldest first, each with its owner, its due time and its action.
#[derive(Clone, Default)]
struct Plain(Vec<(u32, f64, u32)>);

impl Plain {
    fn of(&self, owner: u32) -> Vec<(f64, u32)> {
        self.0.iter().rev().filter(|timer| timer.0 == owner).map(|&(_, due, what)| (due, what)).collect()
    }

    /// Returns the owners with a timer that is due, in ascending order.
    fn due(&self, now: f64) -> Vec<u32> {
        let is_due = |due: f64| due <= now && due < f64::INFINITY;
        let mut owners: Vec<_> = self.0.iter().filter(|timer| is_due(timer.1)).map(|timer| timer.0).collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }
}

#[derive(Clone, Debug)]
enum Step {
    Set {
        owner: u32,
        delay: f64,
        what: u32,
    },
    /// Removes the timers of an owner whose action is a multiple of `multiple`.
    Remove {
        owner: u32,
        multiple: u32,
    },
    /// Advances by some seconds, and then removes the due timers of every second reported owner.
    Advance {
        by: f64,
    },
    /// Clones this wheel into the other one, and continues with the other wheel.
    CloneOver,
    ShrinkToFit,
    Clear,
}

const OWNERS: u32 = 150;

fn delays() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.0..2.0,
        4 => 0.0..100.0,
        1 => Just(0.0),
        1 => Just(1.5),
        1 => -50.0..0.0,
        1 => 0.0..1e9,
        1 => prop_oneof![
            Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(f64::MAX), Just(f64::MIN), Just(1e17), Just(-1e17)
        ],
    ]
}

fn advances() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => 0.0..0.1,
        3 => 0.0..20.0,
        1 => Just(0.0),
        1 => -0.01..0.0,
        1 => -100.0..0.0,
        1 => 0.0..1e6,
        1 => prop_oneof![Just(1e12), Just(-1e12), Just(1e300), Just(-1e300)],
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Four owners have many timers each, and the others have hardly any.
    let owners = || prop_oneof![0..4_u32, 0..OWNERS];
    let step = prop_oneof![
        30 => (owners(), delays(), 0..10_u32).prop_map(|(owner, delay, what)| Step::Set { owner, delay, what }),
        8 => (owners(), 1..4_u32).prop_map(|(owner, multiple)| Step::Remove { owner, multiple }),
        15 => advances().prop_map(|by| Step::Advance { by }),
        1 => Just(Step::CloneOver),
        1 => Just(Step::ShrinkToFit),
        1 => Just(Step::Clear),
    ];
    prop::collection::vec(step, 0..300)
}

fn due_at(wheel: &mut Wheel, now: f64) -> Vec<u32> {
    let mut due = Vec::new();
    wheel.advance(now, &mut due);
    let mut reported = HashSet::new();
    due.retain(|owner| reported.insert(*owner));
    due
}

fn run(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let (mut wheel, mut other, mut plain) = (Wheel::new(), Wheel::new(), Plain::default());
    let mut now = 0.0;
    for step in steps {
        match step {
            Step::Set { owner, delay, what } => {
                wheel.set((owner, 1), now + delay, what);
                plain.0.push((owner, now + delay, what));
            }
            Step::Remove { owner, multiple } => {
                let mut asked = Vec::new();
                wheel.remove_if(owner, |due, what| {
                    asked.push((due, what));
                    what % multiple == 0
                });
                prop_assert_eq!(asked, plain.of(owner));
                plain.0.retain(|timer| timer.0 != owner || timer.2 % multiple != 0);
            }
            Step::Advance { by } => {
                now += by;
                let mut due = due_at(&mut wheel, now);
                for &owner in due.iter().step_by(2) {
                    wheel.remove_if(owner, |due, _| due <= now);
                }
                let removed: Vec<_> = due.iter().copied().step_by(2).collect();
                due.sort_unstable();
                prop_assert_eq!(due, plain.due(now));
                plain.0.retain(|timer| timer.1 > now || !removed.contains(&timer.0));
            }
            Step::CloneOver => {
                other.clone_from(&wheel);
                std::mem::swap(&mut wheel, &mut other);
                // Changes to the old wheel must not affect the clone.
                other.set((0, 1), now, 0);
                due_at(&mut other, now + 10.0);
            }
            Step::ShrinkToFit => wheel.shrink_to_fit(),
            Step::Clear => {
                wheel.clear();
                plain.0.clear();
            }
        }
        prop_assert_eq!((wheel.len(), wheel.is_empty()), (plain.0.len(), plain.0.is_empty()));
        for owner in 0..OWNERS {
            let timers = plain.of(owner);
            prop_assert_eq!(wheel.has(owner), !timers.is_empty());
            prop_assert_eq!(wheel.next_due(owner), timers.iter().map(|timer| timer.0).min_by(f64::total_cmp));
            prop_assert_eq!(wheel.of(owner).collect::<Vec<_>>(), timers);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_wheel_reports_and_holds_what_a_plain_list_does(steps in steps()) {
        run(steps)?;
    }

    #[test]
    fn a_clone_reports_in_the_same_order(delays in prop::collection::vec((0..OWNERS, delays()), 0..200)) {
        let mut wheel = Wheel::new();
        for (what, &(owner, delay)) in (0..).zip(&delays) {
            wheel.set((owner, 1), delay, what);
            wheel.remove_if(owner / 2, |_, what| what % 3 == 0);
        }
        let mut clone = Wheel::new();
        clone.set((7, 1), 1.0, 0);
        clone.clone_from(&wheel);
        for now in [0.5, 0.6, 1.7, 60.0, 3.0, 1e10] {
            prop_assert_eq!(due_at(&mut clone, now), due_at(&mut wheel, now));
        }
    }
}

#[test]
fn a_timer_is_reported_at_each_advance_from_its_time_on_until_it_is_removed() {
    let mut wheel = Wheel::new();
    wheel.set((3, 1), 1.0, 0);
    let reported: Vec<_> = [0.999, 1.0, 1.001, 50.0, 0.5, 1.0].map(|now| due_at(&mut wheel, now).len()).into();
    wheel.remove_if(3, |_, _| true);
    assert_eq!(reported, [0, 1, 1, 1, 0, 1]);
    assert_eq!((due_at(&mut wheel, 60.0), wheel.len()), (vec![], 0));
}

#[test]
fn nothing_is_due_at_a_time_that_is_not_a_number_and_infinity_is_never_due() {
    let mut wheel = Wheel::new();
    wheel.set((0, 1), f64::INFINITY, 0);
    wheel.set((1, 1), f64::NEG_INFINITY, 0);
    wheel.set((2, 1), f64::MAX, 0);
    let due = [0.0, f64::NAN, f64::MAX, f64::INFINITY, f64::NEG_INFINITY].map(|now| {
        let mut due = due_at(&mut wheel, now);
        due.sort_unstable();
        due
    });
    assert_eq!(due, [vec![1], vec![], vec![1, 2], vec![1, 2], vec![1]]);
}

#[test]
#[should_panic(expected = "capacity overflow")]
fn an_owner_beyond_the_last_one_is_a_capacity_overflow() {
    Wheel::new().set((1 << 30, 1), 0.0, 0);
}

#[test]
fn timers_that_are_removed_long_before_they_are_due_take_no_memory() {
    let mut wheel = Wheel::new();
    // A thousand timers keep running, so that the wheel is never empty.
    for owner in 0..1000 {
        wheel.set((owner, 1), 2000.0, 0);
    }
    let memory = measure(|| {
        for what in 0..10_000_000 {
            let owner = 1000 + what % 1000;
            wheel.set((owner, 1), 1000.0 + f64::from(what % 1000), what);
            wheel.remove_if(owner, |_, _| true);
        }
    });
    assert!(memory.bytes_max < 200_000, "{memory:?}");
    assert_eq!(wheel.len(), 1000);
}

/// Returns a wheel with one timer for each of `owners` owners, due in 1 to 10 seconds.
fn filled(owners: u32) -> Wheel {
    let mut wheel = Wheel::new();
    due_at(&mut wheel, 0.0);
    for owner in 0..owners {
        wheel.set((owner, 1), 1.0 + f64::from(owner.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24) * 9.0, 0);
    }
    wheel
}

#[test]
fn a_running_timer_takes_about_28_bytes() {
    let mut wheel = None;
    let memory = measure(|| wheel = Some(filled(100_000)));
    let bytes_per_timer = f64::from(u32::try_from(memory.bytes_current).unwrap()) / 100_000.0;
    assert!(bytes_per_timer <= 28.5, "{bytes_per_timer}");
}

#[test]
fn a_wheel_without_timers_has_allocated_nothing() {
    let memory = measure(|| {
        let mut wheel = Wheel::new();
        due_at(&mut wheel, 5.0);
        wheel.remove_if(3, |_, _| true);
        assert!(!wheel.has(70));
        wheel.clear();
        drop(wheel.clone());
    });
    assert_eq!(memory.count_total, 0);
}

#[test]
fn a_clone_into_a_wheel_with_room_allocates_nothing() {
    let source = filled(20_000);
    let mut wheel = filled(30_000);
    let memory = measure(|| wheel.clone_from(&source));
    assert_eq!(memory.count_total, 0);
    assert_eq!(due_at(&mut wheel, 20.0).len(), 20_000);
}

#[test]
fn a_cleared_wheel_has_kept_its_room_and_a_shrunken_one_has_not() {
    let mut wheel = filled(20_000);
    let memory = measure(|| {
        wheel.clear();
        for owner in 0..20_000 {
            wheel.set((owner, 1), 5.0, 0);
        }
        wheel.clear();
    });
    assert_eq!(memory.count_total, 0);
    let freed = measure(|| wheel.shrink_to_fit()).bytes_current;
    assert!(freed < -400_000, "{freed}");
}
