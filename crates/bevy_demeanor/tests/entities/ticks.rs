//! Timers and sleeps that take whole ticks last the same number of frames at every rate, also for entities that are saved and
//! loaded in between (rules 18, 25, 26, 27).

use std::time::Duration;

use bevy_app::prelude::*;
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;
use bevy_reflect::Reflect;
use bevy_time::{Fixed, Time, TimePlugin, TimeUpdateStrategy};
use demeanor::StateBook;
use proptest::prelude::*;

use crate::cases::cases;
use crate::guard::{Sequence, load, save};

/// The lengths of the sentry's activities, in seconds, and its events in the frame.
#[derive(Component, Owner, Reflect, Default, Clone)]
#[reflect(Component)]
struct Sentry {
    seconds: [f64; 3],
    log: Vec<String>,
}

/// A state that lasts until its time is over. The test pushes an errand onto it.
struct Watch;
/// Sleeps, and ends when it wakes up.
struct Errand;
/// Sleeps.
struct Rest;

impl MachineState<Sentry> for Watch {
    fn enter(&self, sentry: &mut Sentry, fsm: &mut Fsm<'_, Sentry>, _: &mut Cx<'_, Sentry>) {
        sentry.log.push("watch".to_owned());
        fsm.change_state_after(sentry.seconds[0], &Rest);
    }

    fn resume(&self, sentry: &mut Sentry, _: &mut Fsm<'_, Sentry>, _: &mut Cx<'_, Sentry>) {
        sentry.log.push("watch again".to_owned());
    }
}

impl MachineState<Sentry> for Errand {
    fn enter(&self, sentry: &mut Sentry, fsm: &mut Fsm<'_, Sentry>, _: &mut Cx<'_, Sentry>) {
        sentry.log.push("errand".to_owned());
        fsm.sleep_for(sentry.seconds[1]);
    }

    fn update(&self, _: &mut Sentry, fsm: &mut Fsm<'_, Sentry>, _: &mut Cx<'_, Sentry>) {
        fsm.pop_state();
    }
}

impl MachineState<Sentry> for Rest {
    fn enter(&self, sentry: &mut Sentry, fsm: &mut Fsm<'_, Sentry>, _: &mut Cx<'_, Sentry>) {
        sentry.log.push("rest".to_owned());
        fsm.sleep_for(sentry.seconds[2]);
    }

    fn update(&self, _: &mut Sentry, fsm: &mut Fsm<'_, Sentry>, _: &mut Cx<'_, Sentry>) {
        fsm.change_state(&Watch);
    }
}

/// Number of frames in a run, after the first.
const FRAMES: usize = 90;

/// Returns an app that has run for some frames. All frames take the same time, except the first, in which no time passes.
fn app(is_fixed: bool, frame: Duration, frames: usize) -> App {
    let mut app = App::new();
    app.add_plugins(TimePlugin);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    app.insert_resource(Time::<Fixed>::from_duration(frame));
    app.register_type::<Sentry>();
    let plugin = StateMachinePlugin::<Sentry>::new();
    let plugin = plugin.with_book(StateBook::new().with(&Watch).with(&Errand).with(&Rest));
    app.add_state_machine_with(if is_fixed { plugin.in_schedule(FixedUpdate) } else { plugin });
    for _ in 0..frames {
        app.update();
    }
    app
}

/// The number of frames of each of the sentries' activities, and the frame in which each is sent on an errand.
#[derive(Clone, Debug)]
struct Plan {
    frames: Vec<[u32; 3]>,
    sent_in: usize,
}

impl Plan {
    fn spawn(&self, app: &mut App, frame: f64) -> Vec<Entity> {
        let sentry =
            |frames: &[u32; 3]| Sentry { seconds: frames.map(|frames| f64::from(frames) * frame), log: vec![] };
        let sentries = self.frames.iter().map(|frames| (sentry(frames), Machine::<Sentry>::new(&Watch)));
        sentries.map(|sentry| app.world_mut().spawn(sentry).id()).collect()
    }

    /// Runs one frame. Returns the events of each sentry in it.
    fn run(&self, app: &mut App, sentries: &[Entity], frame: usize) -> Vec<Vec<String>> {
        if frame == self.sent_in {
            for sentry in sentries {
                app.world_mut().commands().entity(*sentry).push_state(&Errand);
            }
        }
        app.update();
        let world = app.world_mut();
        sentries.iter().map(|sentry| std::mem::take(&mut world.get_mut::<Sentry>(*sentry).unwrap().log)).collect()
    }
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn frames_are_as_many_at_every_rate_before_and_after_loading(
        rate in prop::sample::select(vec![30, 50, 60, 64, 72, 90, 100, 120, 144]),
        frames in prop::collection::vec(prop::array::uniform3(prop_oneof![3 => 1..20_u32, 1 => 1..60_u32]), 1..6),
        (sent_in, saved_after) in (0..FRAMES, 1..FRAMES),
        // The app has run for about as many frames as the app that is saved, or for any number.
        loaded_after in prop_oneof![(0..5_usize).prop_map(Err), (1..120_usize).prop_map(Ok)],
        is_fixed in any::<bool>(),
    ) {
        let plan = Plan { frames, sent_in };
        // Each frame is a quarter of a second, which no clock rounds.
        let mut exact = app(is_fixed, Duration::from_millis(250), 3);
        let sentries = plan.spawn(&mut exact, 0.25);
        let expected: Vec<_> = (0..FRAMES).map(|frame| plan.run(&mut exact, &sentries, frame)).collect();

        let seconds = 1.0 / f64::from(rate);
        let duration = Duration::from_secs_f64(seconds);
        let mut saving = app(is_fixed, duration, 3);
        let sentries = plan.spawn(&mut saving, seconds);
        for (frame, expected) in expected.iter().enumerate().take(saved_after) {
            prop_assert_eq!(&plan.run(&mut saving, &sentries, frame), expected, "in frame {}", frame);
        }
        let scene = save(&saving, &sentries).unwrap();
        let loaded_after = loaded_after.unwrap_or_else(|off| 3 + saved_after + off - 2);
        let mut loading = app(is_fixed, duration, loaded_after);
        let sentries = load(&mut loading, &scene, Sequence::Forward).unwrap();
        for (frame, expected) in expected.iter().enumerate().skip(saved_after) {
            prop_assert_eq!(&plan.run(&mut loading, &sentries, frame), expected, "in frame {} after loading", frame);
        }
    }
}
