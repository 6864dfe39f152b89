//! A member that is acting is a member again for the length of a call (rule 30).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use demeanor::{Agent, Delivery, NotActing, Unavailable};

use crate::captured_log::log_lines;
use crate::players::{Act, Always, Away, Busy, Idle, Left, Player, Right, Stage, happened, idle, stage};
use crate::trace::Trace;

/// Sends a telegram from Ann to Ben while Ann is a member again.
const ASK_BEN: Act = |ann, fsm, stage| {
    let became = stage.rejoin(&"Ann", ann, fsm, |stage| stage.send("Ann", "Ben", "ask"));
    ann.note(format_args!("goes on: {became:?}"), stage);
};

/// Sends Ann the telegram `answer`.
const ANSWER_ANN: Act = |ben, _, stage| {
    let became = stage.send("Ben", "Ann", "answer");
    ben.note(format_args!("has answered: {became:?}"), stage);
};

/// A stage on which Ben answers when Ann asks.
fn asking(ann: &[(&'static str, Act)]) -> Stage {
    stage([("Ann", ann), ("Ben", &[("Idle: ask", ANSWER_ANN)])])
}

fn alone(ann: &[(&'static str, Act)]) -> Stage {
    stage([("Ann", ann)])
}

/// What happens in Ann's turn.
fn turn(stage: &mut Stage) -> Trace {
    stage.update_one(&"Ann");
    happened(stage)
}

const CHANGE_TO_BUSY: Act = |_, fsm, _| fsm.change_state(&Busy);

#[test]
fn who_rejoins_is_told_within_the_call() {
    let mut stage = asking(&[("Idle.update", ASK_BEN), ("Idle: answer", |ann, _, _| ann.energy += 7)]);
    assert_eq!(
        turn(&mut stage),
        "Ann Idle.update; Ben Idle: ask; Ann Idle: answer; Ben has answered: Handled
         Ann goes on: Ok(Handled)"
    );
    assert_eq!(stage.get::<Player>(&"Ann").unwrap().energy, 7);
}

#[test]
fn who_rejoins_is_read_and_changed_by_others() {
    let mut stage = stage([
        (
            "Ann",
            &[("Idle.update", |ann, fsm, stage| {
                ann.energy = 5;
                let seen = stage.rejoin(&"Ann", ann, fsm, |stage| {
                    let ann = stage.get_mut::<Player>(&"Ann").unwrap();
                    ann.energy += 1;
                    let energy = ann.energy;
                    let turned = stage.with::<Player, _>(&"Ann", |ann, stage| ann.change_state(&Busy, stage));
                    let all = stage.iter::<Player>().map(|(key, _)| *key).collect::<Vec<_>>();
                    (energy, stage.is_acting(&"Ann"), turned, stage.state_of(&"Ann").map(Into::into), all)
                });
                assert_eq!(seen, Ok((6, false, Ok(true), Some("Busy".to_string()), vec!["Ann", "Ben"])));
                assert_eq!(ann.energy, 6);
                assert!(fsm.is_in_state(&Busy));
                assert_eq!(fsm.previous().unwrap().name(), "Idle");
                assert!(stage.is_acting(&"Ann"));
            })],
        ),
        ("Ben", &[]),
    ]);
    assert_eq!(turn(&mut stage), "Ann Idle.update; Ann Idle.exit; Ann Busy.enter; Ann Idle -> Busy (change)");
}

#[test]
fn what_was_asked_for_before_is_carried_out_before_the_member_rejoins() {
    let mut stage = asking(&[
        ("Idle.update", |ann, fsm, stage| {
            fsm.change_state(&Busy);
            ASK_BEN(ann, fsm, stage);
        }),
        ("Busy: answer", |_, _, _| ()),
    ]);
    assert_eq!(
        turn(&mut stage),
        "Ann Idle.update; Ann Idle.exit; Ann Busy.enter; Ann Idle -> Busy (change); Ben Idle: ask
         Ann Busy: answer; Ben has answered: Handled; Ann goes on: Ok(Handled)"
    );
}

#[test]
fn what_is_asked_for_meanwhile_is_carried_out_when_its_handler_returns() {
    let mut stage = asking(&[("Idle.update", ASK_BEN), ("Idle: answer", CHANGE_TO_BUSY)]);
    assert_eq!(
        turn(&mut stage),
        "Ann Idle.update; Ben Idle: ask; Ann Idle: answer; Ann Idle.exit; Ann Busy.enter
         Ann Idle -> Busy (change); Ben has answered: Handled; Ann goes on: Ok(Handled)"
    );
    assert_eq!(turn(&mut stage), ["Ann Busy.update"]);
}

/// Each passes the word on to the other until it has gone round three times.
#[test]
fn members_rejoin_as_deep_as_they_call_each_other() {
    fn pass_on(player: &mut Player, fsm: &mut demeanor::Fsm<'_, Player>, stage: &mut Stage) {
        let (me, other) = if player.name == "Ann" { ("Ann", "Ben") } else { ("Ben", "Ann") };
        player.energy += 1;
        if player.energy <= 3 {
            let became = stage.rejoin(&me, player, fsm, |stage| stage.send(me, other, "pass on"));
            assert_eq!(became, Ok(Delivery::Handled));
        }
        player.note(player.energy, stage);
    }
    let script: &[(&str, Act)] = &[("Idle: pass on", pass_on)];
    let mut stage = stage([("Ann", script), ("Ben", script)]);
    stage.send("Ben", "Ann", "pass on");
    let calls = ["Ann", "Ben", "Ann", "Ben", "Ann", "Ben", "Ann"].map(|name| format!("{name} Idle: pass on"));
    // What each has when it goes on is what the innermost has left to it.
    let returns = ["Ann 4", "Ben 3", "Ann 4", "Ben 3", "Ann 4", "Ben 3", "Ann 4"].map(String::from);
    assert_eq!(*happened(&mut stage), [calls, returns].concat());
}

#[test]
fn a_tick_goes_on_along_the_path_to_which_the_member_has_changed_meanwhile() {
    let mut stage = asking(&[("Inside.update", ASK_BEN), ("Inside: answer", |_, fsm, _| fsm.change_state(&Right))]);
    stage.get_mut::<Player>(&"Ann").unwrap().machine_mut().set_current(&Left);
    assert_eq!(
        turn(&mut stage),
        "Ann Inside.update; Ben Idle: ask; Ann Left: answer; Ann Inside: answer; Ann Left.exit
         Ann Right.enter; Ann Left -> Right (change); Ben has answered: Handled; Ann goes on: Ok(Handled)
         Ann Right.update"
    );
}

#[test]
fn a_global_state_can_rejoin_and_the_state_entered_meanwhile_is_updated_in_the_same_tick() {
    let mut stage = asking(&[("Always.update", ASK_BEN), ("Idle: answer", CHANGE_TO_BUSY)]);
    stage.get_mut::<Player>(&"Ann").unwrap().machine_mut().set_global(&Always);
    assert_eq!(
        turn(&mut stage),
        "Ann Always.update; Ben Idle: ask; Ann Idle: answer; Ann Idle.exit; Ann Busy.enter
         Ann Idle -> Busy (change); Ben has answered: Handled; Ann goes on: Ok(Handled); Ann Busy.update"
    );
}

#[test]
fn states_that_a_member_leaves_while_it_has_rejoined_are_not_offered_the_rest_of_a_message() {
    let mut stage =
        asking(&[("Left: poke?", ASK_BEN), ("Left: answer", CHANGE_TO_BUSY), ("Inside: poke?", |_, _, _| ())]);
    stage.get_mut::<Player>(&"Ann").unwrap().machine_mut().set_current(&Left);
    assert_eq!(stage.send("Ben", "Ann", "poke?"), Delivery::Declined);
    assert_eq!(
        happened(&mut stage),
        "Ann Left: poke?; Ben Idle: ask; Ann Left: answer; Ann Left.exit; Ann Inside.exit; Ann Busy.enter
         Ann Left -> Busy (change); Ben has answered: Handled; Ann goes on: Ok(Handled)"
    );
}

#[test]
fn a_change_in_an_enter_that_rejoins_is_complete_when_the_machine_has_not_changed_meanwhile() {
    let mut stage = asking(&[
        ("Idle.update", CHANGE_TO_BUSY),
        ("Busy.enter", |ann, fsm, stage| {
            ASK_BEN(ann, fsm, stage);
            ann.note(format_args!("leads to {}", fsm.target().unwrap().name()), stage);
        }),
        ("Busy: answer", |ann, fsm, stage| {
            assert!(fsm.target().is_none(), "the handler is not part of the change");
            ann.note(format_args!("comes from {}", fsm.previous().unwrap().name()), stage);
        }),
    ]);
    assert_eq!(
        turn(&mut stage),
        "Ann Idle.update; Ann Idle.exit; Ann Busy.enter; Ben Idle: ask; Ann Busy: answer
         Ann comes from Idle; Ben has answered: Handled; Ann goes on: Ok(Handled); Ann leads to Busy
         Ann Idle -> Busy (change)"
    );
}

#[test]
fn a_change_made_while_a_member_has_rejoined_in_enter_abandons_the_rest_of_the_outer_change() {
    let mut stage = asking(&[
        ("Idle.update", |_, fsm, _| fsm.change_state(&Left)),
        ("Inside.enter", |ann, fsm, stage| {
            ASK_BEN(ann, fsm, stage);
            assert!(fsm.target().is_none(), "the outer change is abandoned");
        }),
        ("Inside: answer", |_, fsm, _| fsm.change_state(&Away)),
    ]);
    assert_eq!(
        turn(&mut stage),
        "Ann Idle.update; Ann Idle.exit; Ann Inside.enter; Ben Idle: ask; Ann Inside: answer
         Ann Inside.exit; Ann Away.enter; Ann Inside -> Away (change); Ben has answered: Handled
         Ann goes on: Ok(Handled)"
    );
    assert_eq!(stage.state_of(&"Ann").as_deref(), Some("Away"));
}

#[test]
fn who_rejoins_in_exit_is_told_and_cannot_change_state() {
    let mut stage = asking(&[
        ("Idle.update", CHANGE_TO_BUSY),
        ("Idle.exit", ASK_BEN),
        ("Idle: answer", |ann, fsm, stage| {
            fsm.change_state(&Away);
            assert!(!fsm.change_state_now(ann, &Away, stage));
        }),
    ]);
    let lines = log_lines(|| {
        stage.update_one(&"Ann");
    });
    assert_eq!(
        happened(&mut stage),
        "Ann Idle.update; Ann Idle.exit; Ben Idle: ask; Ann Idle: answer; Ben has answered: Handled
         Ann goes on: Ok(Handled); Ann Busy.enter; Ann Idle -> Busy (change)"
    );
    let warnings: Vec<_> = lines.iter().filter(|line| line.starts_with("WARN")).collect();
    assert_eq!(warnings, ["WARN demeanor: Ann: change to Away refused in state Idle: the state is being left"; 2]);
}

#[test]
fn a_machine_that_stops_cannot_be_started_or_stopped_while_its_owner_has_rejoined() {
    let mut stage = alone(&[("Idle.exit", |ann, fsm, stage| {
        let rejoined = stage.rejoin(&"Ann", ann, fsm, |stage| {
            stage.with::<Player, _>(&"Ann", Agent::start).unwrap();
            stage.with::<Player, _>(&"Ann", Agent::stop).unwrap();
        });
        assert_eq!(rejoined, Ok(()));
    })]);
    let lines = log_lines(|| stage.stop());
    let refused = |what| format!("WARN demeanor: Ann: {what} refused in state Idle: the state is being left");
    assert_eq!(lines, [refused("start"), refused("stop")]);
    assert_eq!(happened(&mut stage), ["Ann Idle.exit"]);
    assert_eq!(stage.state_of(&"Ann"), None);
}

#[test]
fn a_panic_leaves_everybody_in_place_and_a_callback_that_catches_it_goes_on_with_its_owner() {
    let mut stage = stage([
        (
            "Ann",
            &[
                ("Idle.update", |ann, fsm, stage| {
                    ann.energy = 3;
                    let caught = catch_unwind(AssertUnwindSafe(|| ASK_BEN(ann, fsm, stage)));
                    assert!(caught.is_err());
                    ann.note(format_args!("has {}", ann.energy), stage);
                    fsm.change_state(&Away);
                }),
                ("Idle: answer", CHANGE_TO_BUSY),
            ],
        ),
        (
            "Ben",
            &[("Idle: ask", |ben, fsm, stage| {
                ANSWER_ANN(ben, fsm, stage);
                panic!("Ben falls off the stage")
            })],
        ),
    ]);
    assert_eq!(
        turn(&mut stage),
        "Ann Idle.update; Ben Idle: ask; Ann Idle: answer; Ann Idle.exit; Ann Busy.enter
         Ann Idle -> Busy (change); Ben has answered: Handled; Ann has 3; Ann Busy.exit; Ann Away.enter
         Ann Busy -> Away (change)"
    );
    assert_eq!(["Ann", "Ben"].map(|name| stage.is_acting(&name)), [false; 2]);
    assert_eq!(stage.get::<Player>(&"Ann").unwrap().energy, 3);
}

#[test]
fn a_panic_that_nobody_catches_leaves_everybody_in_place() {
    let mut stage = asking(&[("Idle.update", ASK_BEN), ("Idle: answer", |_, _, _| panic!("Ann falls off the stage"))]);
    let panic = catch_unwind(AssertUnwindSafe(|| stage.update_one(&"Ann"))).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"Ann falls off the stage"));
    assert_eq!(stage.iter::<Player>().map(|(_, player)| player.name).collect::<Vec<_>>(), ["Ann", "Ben"]);
    happened(&mut stage);
    stage.send("Ann", "Ben", "hello");
    stage.update_one(&"Ben");
    assert_eq!(happened(&mut stage), "Ben Idle: hello; Ben Idle.update");
}

#[test]
fn who_is_dismissed_meanwhile_goes_on_with_its_owner_and_is_dropped_afterwards() {
    let mut stage = stage([
        (
            "Ann",
            &[("Idle.update", |ann, fsm, stage| {
                ann.energy = 9;
                ASK_BEN(ann, fsm, stage);
                fsm.change_state(&Busy);
                ann.note(format_args!("has {}", ann.energy), stage);
            })],
        ),
        (
            "Ben",
            &[("Idle: ask", |ben, _, stage| {
                assert!(stage.dismiss(&"Ann"));
                assert_eq!((stage.len(), stage.contains(&"Ann"), stage.iter::<Player>().count()), (1, false, 0));
                ben.note(format_args!("sends: {:?}", stage.send("Ben", "Ann", "answer")), stage);
                stage.add("Ann", idle("the new Ann", &[])).unwrap();
            })],
        ),
    ]);
    stage.update();
    assert_eq!(
        happened(&mut stage),
        "Ann Idle.update; Ben Idle: ask; Ben sends: UnknownReceiver; Ann goes on: Ok(Handled); Ann has 9
         Ann Idle.exit; Ann Busy.enter; Ann Idle -> Busy (change); Ben Idle.update"
    );
    assert_eq!(stage.get::<Player>(&"Ann").unwrap().name, "the new Ann");
    assert_eq!(stage.keys().collect::<Vec<_>>(), [&"Ben", &"Ann"]);
}

#[test]
fn who_has_rejoined_is_not_removed() {
    let mut stage = alone(&[("Idle.update", |ann, fsm, stage| {
        let removed = stage.rejoin(&"Ann", ann, fsm, |stage| stage.remove::<Player>(&"Ann").err());
        assert_eq!(removed, Ok(Some(Unavailable::Acting)));
    })]);
    stage.update();
    assert_eq!(stage.remove::<Player>(&"Ann").unwrap().name, "Ann");
}

#[test]
fn who_is_not_acting_or_not_that_member_does_not_rejoin_and_nothing_happens() {
    let mut stage = stage([
        (
            "Ann",
            &[("Idle.update", |ann, fsm, stage| {
                fsm.change_state(&Busy);
                let refused = [&"Eve", &"Ben", &"Cat"].map(|key| stage.rejoin(key, ann, fsm, |_| unreachable!()));
                let causes = [NotActing::Unknown, NotActing::NoCallback, NotActing::AnotherOwner];
                assert_eq!(refused, causes.map(Err::<(), _>));

                // The right key and handle, and another owner.
                let mut other = Player::default();
                assert_eq!(
                    stage.rejoin(&"Ann", &mut other, fsm, |_| unreachable!()),
                    Err::<(), _>(NotActing::AnotherOwner)
                );
                assert!(fsm.has_requests(), "the change still waits");
            })],
        ),
        ("Ben", &[]),
        ("Cat", &[("Idle.update", |_, _, stage| assert!(stage.update_one(&"Ann")))]),
    ]);
    stage.update_one(&"Cat");
    assert_eq!(
        happened(&mut stage),
        "Cat Idle.update; Ann Idle.update; Ann Idle.exit; Ann Busy.enter; Ann Idle -> Busy (change)"
    );
}

#[test]
fn an_agent_that_is_no_member_does_not_rejoin_in_the_place_of_one() {
    let mut stage = alone(&[("Idle.update", |_, _, stage| {
        let script: &[(&str, Act)] = &[("Idle.update", |twin, fsm, stage| {
            let rejoined = stage.rejoin(&"Ann", twin, fsm, |_| unreachable!());
            assert_eq!(rejoined, Err::<(), _>(NotActing::AnotherOwner));
        })];
        idle("a twin", script).update(stage);
    })]);
    stage.update();
    assert_eq!(happened(&mut stage), "Ann Idle.update; a twin Idle.update");
}

#[test]
fn what_was_put_off_before_a_member_rejoins_waits_until_its_turn_is_over() {
    let mut stage = asking(&[
        ("Idle.update", |ann, fsm, stage| {
            assert_eq!(stage.send("Ann", "Ann", "put off"), Delivery::PutOff);
            ASK_BEN(ann, fsm, stage);
        }),
        ("Idle: answer", |_, _, _| ()),
        ("Idle: put off", |_, _, _| ()),
    ]);
    stage.update();
    assert_eq!(
        happened(&mut stage),
        "Ann Idle.update; Ben Idle: ask; Ann Idle: answer; Ben has answered: Handled
         Ann goes on: Ok(Handled); Ann Idle: put off; Ben Idle.update"
    );
}

#[test]
fn what_was_put_off_for_a_member_that_is_dismissed_while_it_has_rejoined_is_dropped_with_a_warning() {
    let mut stage = stage([
        (
            "Ann",
            &[("Idle.update", |ann, fsm, stage| {
                assert_eq!(stage.send("Ann", "Ann", "put off"), Delivery::PutOff);
                assert_eq!(stage.rejoin(&"Ann", ann, fsm, |stage| stage.dismiss(&"Ann")), Ok(true));
            })],
        ),
        ("Ben", &[]),
    ]);
    let mut lines = log_lines(|| stage.update());
    lines.retain(|line| line.starts_with("WARN"));
    assert_eq!(lines, ["WARN demeanor::cast: there is no \"Ann\" to receive the telegram from \"Ann\""]);
    assert_eq!(happened(&mut stage), "Ann Idle.update; Ben Idle.update");
}

#[test]
fn what_was_put_off_before_a_member_rejoins_comes_before_what_a_panic_left_over_meanwhile() {
    let mut stage = alone(&[
        ("Idle.update", |ann, fsm, stage| {
            assert_eq!(stage.send("Ann", "Ann", "first"), Delivery::PutOff);
            let rejoined = stage.rejoin(&"Ann", ann, fsm, |stage| {
                let panic = catch_unwind(AssertUnwindSafe(|| {
                    stage.with::<Player, _>(&"Ann", |_, stage| {
                        assert_eq!(stage.send("Ann", "Ann", "second"), Delivery::PutOff);
                        panic!("Ann falls off the stage");
                    })
                }));
                panic.is_err()
            });
            assert_eq!(rejoined, Ok(true));
        }),
        ("Idle: first", |_, _, _| ()),
        ("Idle: second", |_, _, _| ()),
    ]);
    stage.update();
    assert_eq!(happened(&mut stage), "Ann Idle.update; Ann Idle: first; Ann Idle: second");
}

#[test]
fn times_and_stack_are_as_they_were_when_the_member_has_rejoined() {
    let mut stage = alone(&[("Busy.update", |ann, fsm, stage| {
        let time =
            stage.rejoin(&"Ann", ann, fsm, |stage| stage.get::<Player>(&"Ann").unwrap().machine().time_in_state(stage));
        assert_eq!(time, Ok(2.0));
        assert!((fsm.time_in_state(stage) - 2.0).abs() < 1e-9);
        fsm.pop_state();
    })]);
    stage.advance(Duration::from_secs(1));
    stage.with::<Player, _>(&"Ann", |ann, stage| ann.push_state(&Busy, stage)).unwrap();
    stage.advance(Duration::from_secs(2));
    stage.update();
    assert_eq!(stage.state_of(&"Ann").as_deref(), Some("Idle"));
}

#[test]
fn another_machine_that_is_put_in_place_meanwhile_is_the_one_that_goes_on() {
    let mut stage = alone(&[("Inside.enter", |ann, fsm, stage| {
        let rejoined = stage.rejoin(&"Ann", ann, fsm, |stage| {
            let ann = stage.get_mut::<Player>(&"Ann").unwrap();
            *ann.machine_mut() = demeanor::StateMachine::new(&Away);
        });
        assert_eq!(rejoined, Ok(()));
    })]);
    stage.with::<Player, _>(&"Ann", |ann, stage| ann.change_state(&Left, stage)).unwrap();
    stage.update();
    assert_eq!(happened(&mut stage), "Ann Idle.exit; Ann Inside.enter; Ann Away.update");
}

/// Rule 25.
#[test]
fn a_timer_of_a_state_that_is_still_to_be_resumed_does_not_come_due_while_its_owner_has_rejoined() {
    let mut stage = alone(&[
        ("Left.enter", |ann, fsm, _| {
            if ann.energy == 0 {
                ann.energy = 1;
                fsm.change_state_after(1.0, &Away);
            }
        }),
        ("Inside.enter", |ann, fsm, stage| {
            if ann.energy == 1 {
                let rejoined = stage.rejoin(&"Ann", ann, fsm, |stage| {
                    stage.advance(Duration::from_secs(5));
                    stage.update_one(&"Ann");
                });
                assert_eq!(rejoined, Ok(()));
            }
        }),
    ]);
    stage.with::<Player, _>(&"Ann", |ann, stage| ann.change_state(&Left, stage)).unwrap();
    stage.with::<Player, _>(&"Ann", |ann, stage| ann.push_state(&Busy, stage)).unwrap();
    happened(&mut stage);
    stage.with::<Player, _>(&"Ann", Agent::pop_state).unwrap();
    assert_eq!(
        happened(&mut stage),
        "Ann Busy.exit; Ann Inside.enter; Ann Inside.update; Ann Left.enter; Ann Busy -> Left (pop)"
    );
    stage.update();
    assert_eq!(
        happened(&mut stage),
        "Ann Left.exit; Ann Inside.exit; Ann Away.enter; Ann Left -> Away (change); Ann Away.update"
    );
}

/// The path had pieces of two.
#[test]
fn a_machine_that_is_set_elsewhere_in_an_exit_ends_on_the_whole_path_of_the_target() {
    const SET_TO_BUSY: Act = |ann, fsm, stage| {
        stage
            .rejoin(&"Ann", ann, fsm, |stage| {
                stage.get_mut::<Player>(&"Ann").unwrap().machine_mut().set_current(&Busy);
            })
            .unwrap();
    };
    const SET_TO_LEFT: Act = |ann, fsm, stage| {
        stage
            .rejoin(&"Ann", ann, fsm, |stage| {
                stage.get_mut::<Player>(&"Ann").unwrap().machine_mut().set_current(&Left);
            })
            .unwrap();
    };
    let mut stage = stage([("Ann", &[("Left.exit", SET_TO_BUSY), ("Idle.exit", SET_TO_LEFT)])]);
    let path = |stage: &Stage| {
        let ann = stage.get::<Player>(&"Ann").unwrap();
        ann.machine().path().map(ToString::to_string).collect::<Vec<_>>()
    };
    stage.with::<Player, _>(&"Ann", |ann, stage| ann.change_state(&Away, stage)).unwrap();
    assert_eq!(path(&stage), ["Away"]);
    stage.with::<Player, _>(&"Ann", |ann, stage| ann.change_state(&Left, stage)).unwrap();
    stage.with::<Player, _>(&"Ann", |ann, stage| ann.change_state(&Right, stage)).unwrap();
    assert_eq!(path(&stage), ["Inside", "Right"]);
}

/// In C++ this overflows the stack.
#[test]
fn members_that_call_each_other_without_end_come_to_an_end() {
    fn pass_on(player: &mut Player, fsm: &mut demeanor::Fsm<'_, Player>, stage: &mut Stage) {
        let (me, other) = if player.name == "Ann" { ("Ann", "Ben") } else { ("Ben", "Ann") };
        player.energy += 1;
        stage.rejoin(&me, player, fsm, |stage| stage.send(me, other, "pass on")).unwrap();
    }
    let script: &[(&str, Act)] = &[("Idle: pass on", pass_on)];
    let mut stage = stage([("Ann", script), ("Ben", script)]);
    let lines = log_lines(|| {
        stage.send("Ben", "Ann", "pass on");
    });
    let errors: Vec<_> = lines.iter().filter(|line| line.starts_with("ERROR")).collect();
    assert_eq!(
        errors,
        [
            "ERROR demeanor::cast: an exchange of telegrams has no end: telegrams were put off 1000 times in a row, most recently \
          \"Ann\" to \"Ben\", \"Ben\" to \"Ann\"; the next from \"Ben\" to \"Ann\" is dropped"
        ]
    );
    let energy = ["Ann", "Ben"].map(|name| stage.get::<Player>(&name).unwrap().energy);
    assert_eq!(energy, [32 * 1001; 2], "64 deep, and 64 for each of 1000 that were put off");
}

#[test]
fn the_requests_of_a_callback_that_rejoins_often_are_no_cycle() {
    let mut stage = asking(&[
        ("Idle.update", |ann, fsm, stage| {
            for _ in 0..20 {
                ASK_BEN(ann, fsm, stage);
            }
            fsm.change_state(&Away);
        }),
        ("Idle: answer", CHANGE_TO_BUSY),
        ("Busy: answer", |_, fsm, _| fsm.change_state(&Idle)),
    ]);
    stage.update_one(&"Ann");
    assert_eq!(stage.state_of(&"Ann").as_deref(), Some("Away"));
}
