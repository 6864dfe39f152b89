//! When a telegram arrives that is posted or delayed, what the log says, and exchanges that have no end.

use std::time::Duration;

use demeanor::{Delivery, Telegram};

use crate::captured_log::log_lines;
use crate::players::{Act, Busy, Idle, Stage, happened, stage};

const HEARS: Act = |_, _, _| ();

/// The levels and texts of the lines about telegrams.
fn told(act: impl FnOnce()) -> Vec<String> {
    let lines = log_lines(act);
    lines
        .iter()
        .filter(|line| line.contains(" demeanor::cast: "))
        .map(|line| line.replace("demeanor::cast: ", ""))
        .collect()
}

fn errors(act: impl FnOnce()) -> Vec<String> {
    told(act).into_iter().filter(|line| line.starts_with("ERROR")).collect()
}

#[test]
fn what_is_posted_arrives_when_the_outermost_turn_is_over_in_the_order_of_posting() {
    let mut stage = stage([
        (
            "Ann",
            &[
                ("Idle.update", |ann, _, stage| {
                    stage.post("Ann", "Cat", "first");
                    stage.send("Ann", "Ben", "hello");
                    stage.post("Ann", "Ann", "third");
                    stage.send("Ann", "Ann", "put off");
                    ann.note("is done", stage);
                }),
                ("Idle: put off", HEARS),
                ("Idle: third", HEARS),
            ],
        ),
        ("Ben", &[("Idle: hello", |_, _, stage| stage.post("Ben", "Cat", "second"))]),
        ("Cat", &[("Idle: first", |_, _, stage| stage.post("Cat", "Ben", "fourth"))]),
    ]);
    stage.update_one(&"Ann");
    assert_eq!(
        happened(&mut stage),
        "Ann Idle.update; Ben Idle: hello; Ann is done; Ann Idle: put off; Cat Idle: first
         Cat Idle: second; Ann Idle: third; Ben Idle: fourth"
    );
}

#[test]
fn in_an_update_of_all_what_a_member_posts_arrives_before_the_next_has_its_turn() {
    let mut stage = stage([
        ("Ann", &[("Idle.update", |_, _, stage| stage.post("Ann", "Cat", "hello"))]),
        ("Ben", &[]),
        ("Cat", &[]),
    ]);
    stage.update();
    assert_eq!(happened(&mut stage), "Ann Idle.update; Cat Idle: hello; Ben Idle.update; Cat Idle.update");
}

#[test]
fn what_is_posted_outside_of_any_turn_arrives_at_once() {
    let mut stage = stage([("Ann", &[("Idle: hello", |_, _, stage| stage.post("Ann", "Ann", "and again"))])]);
    stage.post("Eve", "Ann", "hello");
    assert_eq!(happened(&mut stage), "Ann Idle: hello; Ann Idle: and again");
}

#[test]
fn the_log_tells_the_way_of_each_telegram() {
    let mut stage = stage([
        (
            "Ann",
            &[
                ("Idle.update", |_, _, stage| {
                    stage.send("Ann", "Ben", "hello");
                    stage.send("Ann", "Ben", "whatever");
                    stage.send("Ann", "Ann", "put off");
                    stage.send_after(1.5, "Ann", "Ben", "hello");
                    stage.post("Ann", "Ben", "hello");
                    stage.post("Ann", "Eve", "hello");
                    assert_eq!(stage.send("Ann", "Eve", "hello"), Delivery::UnknownReceiver);
                }),
                ("Idle: put off", HEARS),
            ],
        ),
        ("Ben", &[("Idle: hello", HEARS)]),
    ]);
    let lines = told(|| {
        stage.update_one(&"Ann");
    });
    assert_eq!(
        lines,
        [
            r#"TRACE "Ann" sends to "Ben""#,
            r#"TRACE "Ben" handles what "Ann" has sent"#,
            r#"TRACE "Ann" sends to "Ben""#,
            r#"DEBUG "Ben" declines what "Ann" has sent"#,
            r#"DEBUG "Ann" sends to "Ann": put off, "Ann" is acting"#,
            r#"DEBUG "Ann" sends to "Ben", to arrive in 1.5 s"#,
            r#"TRACE "Ann" posts to "Ben""#,
            r#"TRACE "Ann" posts to "Eve""#,
            r#"WARN there is no "Eve" to receive the telegram from "Ann""#,
            r#"TRACE "Ann" handles what "Ann" has sent"#,
            r#"TRACE "Ben" handles what "Ann" has sent"#,
            r#"WARN there is no "Eve" to receive the telegram from "Ann""#,
        ]
    );
}

#[test]
fn what_is_sent_while_what_is_due_is_delivered_waits_for_the_next_call() {
    let script: &[(&str, Act)] = &[("Idle: tick", |ann, _, stage| {
        ann.energy += 1;
        stage.send_after(1e-9, "Ann", "Ann", "tick");
        stage.dispatcher_mut().send_at(-5.0, Telegram::new("Ann", "Ben", "long overdue"));
        stage.dispatcher_mut().send_at(1.0, Telegram::new("Ann", "Ben", "just due"));
    })];
    let hears: &[(&str, Act)] = &[("Idle: last", HEARS), ("Idle: long overdue", HEARS), ("Idle: just due", HEARS)];
    let mut stage = stage([("Ann", script), ("Ben", hears)]);
    stage.send_after(1.0, "Ann", "Ann", "tick");
    stage.send_after(1.0, "Ann", "Ann", "tick");
    stage.send_after(1.0, "Ann", "Ben", "last");
    stage.advance(Duration::from_secs(1));
    stage.deliver_due();
    assert_eq!(happened(&mut stage), "Ann Idle: tick; Ann Idle: tick; Ben Idle: last");
    stage.deliver_due();
    let sent_meanwhile =
        ["Ben Idle: long overdue", "Ben Idle: long overdue", "Ben Idle: just due", "Ben Idle: just due"];
    assert_eq!(happened(&mut stage), sent_meanwhile, "the clock stands still");
    stage.advance(Duration::from_secs(1));
    stage.deliver_due();
    assert_eq!(happened(&mut stage), "Ann Idle: tick; Ann Idle: tick");
    assert_eq!(stage.dispatcher().len(), 6);
}

#[test]
fn a_handler_can_take_back_what_is_due_and_not_delivered_yet() {
    let mut stage = stage([(
        "Ann",
        &[("Idle: first", |_, _, stage| stage.dispatcher_mut().retain(|_, told| told.message != "second"))],
    )]);
    for message in ["first", "second", "third"] {
        stage.send_after(1.0, "Eve", "Ann", message);
    }
    stage.advance(Duration::from_secs(1));
    stage.deliver_due();
    assert_eq!(happened(&mut stage), "Ann Idle: first; Ann Idle: third");
}

#[test]
fn a_handler_that_delivers_what_is_due_itself_comes_to_an_end() {
    let mut stage = stage([(
        "Ann",
        &[("Idle: tick", |ann, _, stage| {
            ann.energy += 1;
            stage.dispatcher_mut().send_at(0.0, Telegram::new("Ann", "Ann", "tick"));
            stage.deliver_due();
        })],
    )]);
    let errors = errors(|| {
        stage.send("Eve", "Ann", "tick");
    });
    assert_eq!(
        errors,
        [
            r#"ERROR an exchange of telegrams has no end: telegrams were put off 1000 times in a row, most recently "Ann" to "Ann"; the next from "Ann" to "Ann" is dropped"#
        ]
    );
}

/// Each tells the two others, whatever it is told.
fn gossip(names: [&'static str; 3]) -> Stage {
    let pass_on: Act = |me, _, stage| {
        me.energy += 1;
        for other in ["Ann", "Ben", "Cat"] {
            if other != me.name {
                stage.send(me.name, other, "rumor");
            }
        }
    };
    let mut stage = Stage::new(crate::trace::Trace::default());
    for name in names {
        stage.add(name, crate::players::idle(name, &[("Idle: rumor", pass_on)])).unwrap();
    }
    stage
}

#[test]
fn three_who_each_pass_on_what_they_hear_come_to_an_end_and_nothing_else_is_lost() {
    let mut stage = gossip(["Ann", "Ben", "Cat"]);
    let tells: Act = |_, _, stage| {
        stage.post("Dan", "Eve", "posted before");
        stage.send("Dan", "Ann", "rumor");
        assert_eq!(stage.send("Dan", "Eve", "sent afterwards"), Delivery::Handled);
    };
    stage.add("Dan", crate::players::idle("Dan", &[("Idle.update", tells)])).unwrap();
    let hears: &[(&str, Act)] = &[("Idle: posted before", HEARS), ("Idle: sent afterwards", HEARS)];
    stage.add("Eve", crate::players::idle("Eve", hears)).unwrap();

    let errors = errors(|| {
        stage.update_one(&"Dan");
    });
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(
        errors,
        [
            r#"ERROR an exchange of telegrams has no end: telegrams were put off 1000 times in a row, most recently "Ben" to "Ann", "Ben" to "Cat", "Cat" to "Ann", "Cat" to "Ben"; the next from "Cat" to "Ben" is dropped"#
        ]
    );
    let all = happened(&mut stage);
    let rumors = all.iter().filter(|line| line.ends_with("rumor")).count();
    assert!((1000..=100_160).contains(&rumors), "100 000 at most, and 32 for each member: {rumors}");
    assert_eq!(
        all.iter().filter(|line| line.starts_with("Eve")).collect::<Vec<_>>(),
        ["Eve Idle: sent afterwards", "Eve Idle: posted before"]
    );

    // And it goes on working.
    stage.send("Dan", "Eve", "sent afterwards");
    assert_eq!(happened(&mut stage), ["Eve Idle: sent afterwards"]);
}

#[test]
fn one_who_sends_to_itself_in_exit_comes_to_an_end() {
    let goes_on: Act = |_, fsm, _| {
        fsm.change_state(&Busy);
        fsm.change_state(&Idle);
    };
    let sends: Act = |ann, _, stage| {
        ann.energy += 1;
        stage.send("Ann", "Ann", "go on");
    };
    let mut stage = stage([
        ("Ann", &[("Idle.exit", sends), ("Busy.exit", sends), ("Idle: go on", goes_on), ("Busy: go on", goes_on)]),
        ("Ben", &[]),
    ]);
    let errors = errors(|| {
        stage.send("Ben", "Ann", "go on");
    });
    assert_eq!(
        errors,
        [
            r#"ERROR an exchange of telegrams has no end: one telegram has led to 100064 others, most recently "Ann" to "Ann"; the next from "Ann" to "Ann" is dropped"#
        ]
    );
    assert_eq!(stage.get::<crate::players::Player>(&"Ann").unwrap().energy, 2 * 100_064);
}

#[test]
fn posts_without_end_come_to_an_end() {
    let mut stage = stage([
        ("Ann", &[("Idle: ball", |_, _, stage| stage.post("Ann", "Ben", "ball"))]),
        ("Ben", &[("Idle: ball", |_, _, stage| stage.post("Ben", "Ann", "ball"))]),
    ]);
    let errors = errors(|| stage.post("Eve", "Ann", "ball"));
    assert_eq!(
        errors,
        [
            r#"ERROR an exchange of telegrams has no end: telegrams were put off 1000 times in a row, most recently "Ann" to "Ben", "Ben" to "Ann"; the next from "Ben" to "Ann" is dropped"#
        ]
    );
    assert_eq!(happened(&mut stage).len(), 1000);
}

#[test]
fn updates_within_updates_come_to_an_end() {
    let mut stage = stage([(
        "Ann",
        &[("Idle.update", |ann, fsm, stage| {
            ann.energy += 1;
            stage.rejoin(&"Ann", ann, fsm, |stage| stage.update_one(&"Ann")).unwrap();
        })],
    )]);
    let errors = errors(|| {
        stage.update_one(&"Ann");
    });
    assert_eq!(errors, [r#"ERROR the turn of "Ann" is skipped: 64 turns are nested"#]);
    assert_eq!(happened(&mut stage).len(), 64);
}
