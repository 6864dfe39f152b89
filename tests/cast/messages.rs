//! Telegrams that members of a cast send from within their callbacks.

use crate::play::{Player, agent, happened, learn, play, stage, with_many};
use demeanor::Telegram;

#[test]
fn telegrams() {
    play(
        r#"
        # a_telegram_is_delivered_within_the_call_depth_first
        cast Ann, Ben, Cat
        Ann Idle.one: send Ben two is Handled; note goes on
        Ben Idle.two: send Cat three is Handled; note goes on
        Cat Idle.three: nothing
        send Ann one is Handled => Ann Idle.one; Ben Idle.two; Cat Idle.three; Ben goes on; Ann goes on

        # the_sender_learns_that_a_telegram_was_declined
        cast Ann, Ben
        Ann Idle.well?: send Ben and you? is Declined
        send Ann well? is Declined => Ann Idle.well?; Ben Idle.and you?

        # a_telegram_to_a_member_who_is_acting_is_put_off_until_its_turn_is_over
        cast Ann, Ben
        Ann Idle.go: send Ben ask is Handled; note is done
        Ben Idle.ask: send Ann answer is PutOff; note has answered
        send Ann go => Ann Idle.go; Ben Idle.ask; Ben has answered; Ann is done; Ann Idle.answer

        # a_member_can_send_to_itself
        cast Ann
        Ann Idle.go: send Ann first is PutOff; send Ann second is PutOff; note is done
        Ann Idle.first: send Ann third is PutOff
        send Ann go => Ann Idle.go; Ann is done; Ann Idle.first; Ann Idle.second; Ann Idle.third

        # a_telegram_to_oneself_that_is_handled_within_the_call_is_one_of_send_now
        // In C++ both are handled within the call. With `send`, the telegram waits for the end of the turn.
        cast Ann
        Ann Idle.update: send Ann sent is PutOff; hear sent now is done; note goes on
        Ann Idle.sent: nothing
        Ann Idle.sent now: nothing
        update => Ann Idle.update; Ann Idle.sent now; Ann goes on; Ann Idle.sent

        # the_changes_a_turn_asked_for_are_made_before_what_was_put_off_arrives
        cast Ann, Ben
        Ann Idle.go: change Busy; send Ben ask is Handled
        Ben Idle.ask: send Ann answer is PutOff
        send Ann go => Ann Idle.go; Ben Idle.ask; Ann Idle.exit; Ann Busy.enter; Ann Idle -> Busy (change)
            Ann Busy.answer

        # a_telegram_put_off_for_an_inner_member_arrives_before_the_outer_one_goes_on
        // Cat sends to Ben, who is handling Ann's telegram and has sent to Cat.
        cast Ann, Ben, Cat
        Ann Idle.go: send Ben ask is Handled; note is done
        Ben Idle.ask: send Cat ask is Handled; note goes on
        Cat Idle.ask: send Ben to Ben is PutOff; send Ann to Ann is PutOff
        send Ann go => Ann Idle.go; Ben Idle.ask; Cat Idle.ask; Ben goes on; Ben Idle.to Ben; Ann is done; Ann Idle.to Ann

        # an_unknown_receiver_is_noticed_by_the_sender_who_goes_on
        cast Ann
        Ann Idle.go: send Eve hello is UnknownReceiver; note goes on
        send Ann go => Ann Idle.go; Ann goes on

        # the_log_tells_of_telegrams_that_reach_nobody
        // Ann sends to Dan, who does not exist. Then Ben sends to Ann, who is dismissed before she can receive it.
        cast Ann, Ben
        Ann Idle.go: send Dan hello; send Ben ask; dismiss Ann
        Ben Idle.ask: send Ann answer
        send Ann go
        warnings => WARN there is no "Dan" to receive the telegram from "Ann"
            WARN there is no "Ann" to receive the telegram from "Ben"

        # delayed_telegrams_arrive_in_order_once_they_are_due
        cast Ann, Ben, Cat
        Ann Idle.go: delay 2 Ben late is Delayed; delay 1 Cat early is Delayed; delay 1 Cat early, too is Delayed
        Ann Idle.go: delay 0 Ben at once is Handled; delay NaN Ann at the end is PutOff; note is done
        Ben Idle.at once: nothing
        Cat Idle.early: delay 1 Ann later still is Delayed
        send Ann go => Ann Idle.go; Ben Idle.at once; Ann is done; Ann Idle.at the end
        advance 0.999; deliver =>
        advance 1.001; deliver => Cat Idle.early; Cat Idle.early, too; Ben Idle.late
        advance 1; deliver => Ann Idle.later still
        queued 0

        # a_dispatcher_that_merges_can_be_given_to_a_cast
        cast Ben; merging 0.25
        delay 1.5 Ben once is Delayed; delay 1.5 Ben once is Delayed; delay 1.5 Ben once is Delayed; advance 2
        deliver => Ben Idle.once

        # a_turn_with_a_member_delivers_what_it_was_sent_meanwhile
        cast Ann
        with Ann send Ann hello is PutOff + change Busy => Ann Idle.exit; Ann Busy.enter; Ann Idle -> Busy (change)
            Ann Busy.hello

        # a_panic_in_a_callback_loses_neither_members_nor_telegrams
        cast Ann, Ben, Cat
        Ann Idle.go: send Ann was put off is PutOff; send Ben ask
        Ben Idle.ask: send Cat ask
        Cat Idle.ask: panic
        Cat Idle.hello: nothing
        panicking send Ann go => Ann Idle.go; Ben Idle.ask; Cat Idle.ask
        look => Ann in Idle, Ben in Idle, Cat in Idle
        send Cat hello is Handled => Cat Idle.hello
        update => Ann Idle.update; Ann Idle.was put off; Ben Idle.update; Cat Idle.update
        "#,
    );
}

#[test]
fn members() {
    play(
        r"
        # members_are_started_updated_and_stopped_in_the_order_in_which_they_joined
        cast Cat, Ann, Ben
        start => Cat Idle.enter; Ann Idle.enter; Ben Idle.enter
        update => Cat Idle.update; Ann Idle.update; Ben Idle.update
        stop => Cat Idle.exit; Ann Idle.exit; Ben Idle.exit
        look => Cat in no state, Ann in no state, Ben in no state

        # a_member_that_joins_in_a_callback_can_be_sent_to_at_once_and_is_updated_from_the_next_tick
        cast Ann
        Ann Idle.update: spawn Eve; send Eve hello is Handled; change Busy
        Eve Idle.hello: nothing
        update => Ann Idle.update; Eve Idle.enter; Eve Idle.hello; Ann Idle.exit; Ann Busy.enter
            Ann Idle -> Busy (change)
        update => Ann Busy.update; Eve Idle.update
        look => Ann in Busy, Eve in Idle

        # a_member_that_is_acting_is_lent_out_but_still_a_member
        cast Ann, Ben, Cat
        with Ann look + remove Ann is Err(Acting) => Ann in Idle acts, Ben in Idle, Cat in Idle
        look => Ann in Idle, Ben in Idle, Cat in Idle

        # a_member_can_dismiss_itself_and_others_in_its_callback
        cast Ann, Cat, Ben
        Ann Idle.update: dismiss Cat; dismiss Ann; send Ann hello is UnknownReceiver; note goes on to the end of its turn
        update => Ann Idle.update; Ann goes on to the end of its turn; Ben Idle.update
        look => Ben in Idle

        # a_member_that_takes_the_key_of_a_member_dismissed_in_its_own_turn_is_not_lost
        cast Ann
        Ann Idle.update: dismiss Ann; add Ann as Anna; send Ann hello is Handled; note goes on
        Anna Idle.hello: nothing
        update => Ann Idle.update; Anna Idle.hello; Ann goes on
        update => Anna Idle.update

        # what_was_put_off_for_a_member_that_dismisses_itself_is_not_delivered
        cast Ann, Ben, Cat
        Ann Idle.go: send Ann too late is PutOff; dismiss Ann; send Ben hello
        send Ann go => Ann Idle.go; Ben Idle.hello
        update => Ben Idle.update; Cat Idle.update

        # an_update_of_all_from_within_a_callback_leaves_out_who_is_acting
        cast Ann, Ben
        Ann Idle.update: update
        update => Ann Idle.update; Ben Idle.update; Ben Idle.update

        # states_can_ask_how_long_they_have_been_in_by_the_clock_of_the_cast
        cast Ann
        Ann Idle.go: change Busy
        advance 3; send Ann go; advance 4
        time Ann => 4
        clock 7 4
        ",
    );
}

#[test]
fn an_unknown_receiver_is_an_error_with_the_telegram_in_it() {
    let mut stage = stage("cast Ann");
    let unknown = stage.deliver(Telegram::new("Ann", "Eve", "hello")).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no \"Eve\" to receive the telegram from \"Ann\"");
    assert_eq!(unknown.telegram, Telegram::new("Ann", "Eve", "hello"));
}

#[test]
fn a_telegram_that_is_due_after_its_receiver_has_left_is_handed_back() {
    let mut stage = stage("cast Ann, Ben, Cat");
    stage.send_after(1.0, "Ann", "Ben", "too late");
    stage.send_after(1.0, "Ann", "Cat", "in time");
    assert!(stage.remove::<Player>(&"Ben").is_ok());
    stage.advance(std::time::Duration::from_secs(1));
    let unknown = stage.deliver_due();
    let telegrams: Vec<_> = unknown.into_iter().map(|unknown| unknown.telegram).collect();
    assert_eq!(telegrams, [Telegram::new("Ann", "Ben", "too late")]);
    assert_eq!(happened(&mut stage), ["Cat Idle.in time"]);
}

#[test]
fn a_caller_can_deliver_what_is_due_one_by_one() {
    let mut stage = stage(
        "cast Ann, Ben
        Ann Idle.here: nothing",
    );
    stage.send_after(1.0, "Eve", "Ann", "here");
    stage.send_after(1.0, "Eve", "Ben", "well?");
    stage.advance(std::time::Duration::from_secs(1));
    while let Some(telegram) = stage.pop_due() {
        stage.world.trace.push(format!("for {}", telegram.receiver));
        let delivery = stage.deliver(telegram).unwrap();
        stage.world.trace.push(format!("{delivery:?}"));
    }
    assert_eq!(happened(&mut stage), "for Ann; Ann Idle.here; Handled; for Ben; Ben Idle.well?; Declined");
}

#[test]
fn a_key_can_be_taken_once() {
    let mut stage = stage("cast Ann, Ben");
    let taken = stage.add("Ben", agent("Ben", "Benno", "Idle")).unwrap_err();
    assert_eq!(taken.to_string(), "there is a member \"Ben\" already");
    assert_eq!((taken.key, taken.agent.name), ("Ben", "Benno"));
    assert!(stage.spawn("Ben", taken.agent).is_err());
    assert!(happened(&mut stage).is_empty(), "nothing has been entered");
    assert_eq!(stage.get::<Player>(&"Ben").unwrap().name, "Ben", "the first Ben is still there");
}

#[test]
fn a_long_chain_of_telegrams_reaches_its_end() {
    const LINKS: usize = 10_000;
    let mut stage = with_many(LINKS, "Idle.pass on", |nth| format!("send {} pass on; note goes on", nth + 1));
    stage.send("Ann", "0", "pass on");
    let mut trace = happened(&mut stage);
    trace.retain(|line| line.ends_with("goes on"));
    // 64 telegrams are nested, all of them return, and then the next 64 follow.
    let expected = (0..LINKS).step_by(64).flat_map(|first| (first..LINKS.min(first + 64)).rev());
    assert_eq!(*trace, expected.map(|nth| format!("{nth} goes on")).collect::<Vec<_>>());
}

#[test]
fn a_member_that_is_told_by_many_while_it_acts_hears_them_all() {
    let mut stage = with_many(3000, "Idle.update", |_| "send Ann hello".to_owned());
    learn(&mut stage, "Ann Idle.update: update");
    stage.update();
    let heard = happened(&mut stage).iter().filter(|line| *line == "Ann Idle.hello").count();
    assert_eq!(heard, 6000, "once in the update within Ann's, once in the one around it");
}
