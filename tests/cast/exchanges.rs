//! When a posted or delayed telegram arrives, what the log says, and endless exchanges.

use crate::captured_log::log_lines;
use crate::play::{happened, learn, play, stage};

#[test]
fn posts_and_delays() {
    play(
        r#"
        # what_is_posted_arrives_when_the_outermost_turn_is_over_in_the_order_of_posting
        cast Ann, Ben, Cat
        Ann Idle.update: post Cat first; send Ben hello; post Ann third; send Ann put off; note is done
        Ann Idle.put off: nothing
        Ann Idle.third: nothing
        Ben Idle.hello: post Cat second
        Cat Idle.first: post Ben fourth
        update Ann => Ann Idle.update; Ben Idle.hello; Ann is done; Ann Idle.put off; Cat Idle.first
            Cat Idle.second; Ann Idle.third; Ben Idle.fourth

        # in_an_update_of_all_what_a_member_posts_arrives_before_the_next_has_its_turn
        cast Ann, Ben, Cat
        Ann Idle.update: post Cat hello
        update => Ann Idle.update; Cat Idle.hello; Ben Idle.update; Cat Idle.update

        # what_is_posted_outside_of_any_turn_arrives_at_once
        cast Ann
        Ann Idle.hello: post Ann and again
        post Ann hello => Ann Idle.hello; Ann Idle.and again

        # the_log_tells_the_way_of_each_telegram
        cast Ann, Ben
        Ann Idle.update: send Ben hello; send Ben whatever; send Ann put off; delay 1.5 Ben hello; post Ben hello
        Ann Idle.update: post Eve hello; send Eve hello is UnknownReceiver
        Ann Idle.put off: nothing
        Ben Idle.hello: nothing
        update Ann
        log => TRACE "Ann" sends to "Ben"; TRACE "Ben" handles what "Ann" has sent
            TRACE "Ann" sends to "Ben"; DEBUG "Ben" declines what "Ann" has sent
            DEBUG "Ann" sends to "Ann": put off, "Ann" is acting
            DEBUG "Ann" sends to "Ben", to arrive in 1.5 s
            TRACE "Ann" posts to "Ben"
            TRACE "Ann" posts to "Eve"
            WARN there is no "Eve" to receive the telegram from "Ann"
            TRACE "Ann" handles what "Ann" has sent
            TRACE "Ben" handles what "Ann" has sent
            WARN there is no "Eve" to receive the telegram from "Ann"

        # what_is_sent_while_what_is_due_is_delivered_waits_for_the_next_call
        // At the second call, the clock has not advanced.
        cast Ann, Ben
        Ann Idle.tick: delay 1e-9 Ann tick; at -5 Ben long overdue; at 1 Ben just due
        delay 1 Ann tick; delay 1 Ann tick; delay 1 Ben last; advance 1
        deliver => Ann Idle.tick; Ann Idle.tick; Ben Idle.last
        deliver => Ben Idle.long overdue; Ben Idle.long overdue; Ben Idle.just due; Ben Idle.just due
        advance 1; deliver => Ann Idle.tick; Ann Idle.tick
        queued 6

        # a_handler_can_take_back_what_is_due_and_not_delivered_yet
        cast Ann
        Ann Idle.first: take back second
        delay 1 Ann first; delay 1 Ann second; delay 1 Ann third; advance 1
        deliver => Ann Idle.first; Ann Idle.third
        "#,
    );
}

#[test]
fn exchanges_without_end() {
    play(
        r#"
        # a_handler_that_delivers_what_is_due_itself_comes_to_an_end
        cast Ann
        Ann Idle.tick: at 0 Ann tick; deliver
        send Ann tick
        warnings => ERROR an exchange of telegrams has no end: telegrams were put off 1000 times in a row, most recently "Ann" to "Ann"; the next from "Ann" to "Ann" is dropped

        # three_who_each_pass_on_what_they_hear_come_to_an_end_and_nothing_else_is_lost
        // There are at most 100 000 rumors, and 32 for each member. The cast continues to work.
        cast Ann, Ben, Cat, Dan, Eve
        Ann Idle.rumor: send Ben rumor; send Cat rumor
        Ben Idle.rumor: send Ann rumor; send Cat rumor
        Cat Idle.rumor: send Ann rumor; send Ben rumor
        Dan Idle.update: post Eve posted before; send Ann rumor; send Eve sent afterwards is Handled
        Eve Idle.posted before: nothing
        Eve Idle.sent afterwards: nothing
        update Dan
        count rumor => 100085
        only Eve => Eve Idle.sent afterwards; Eve Idle.posted before
        warnings => ERROR an exchange of telegrams has no end: telegrams were put off 1000 times in a row, most recently "Ben" to "Ann", "Ben" to "Cat", "Cat" to "Ann", "Cat" to "Ben"; the next from "Cat" to "Ben" is dropped
        send Eve sent afterwards => Eve Idle.sent afterwards

        # one_who_sends_to_itself_in_exit_comes_to_an_end
        cast Ann
        Ann Idle.exit: gain 1; send Ann go on
        Ann Busy.exit: gain 1; send Ann go on
        Ann Idle.go on: change Busy; change Idle
        send Ann go on; energy Ann 200064
        warnings => ERROR an exchange of telegrams has no end: one telegram has led to 100032 others, most recently "Ann" to "Ann"; the next from "Ann" to "Ann" is dropped

        # telegrams_that_are_put_off_endlessly_are_dropped
        // Two telegrams at once, and two for each of 1000 that were put off. The cast continues to work.
        cast Ann, Ben
        Ann Idle.echo: gain 1; send Ben echo
        Ben Idle.echo: gain 1; send Ann echo
        send Ben echo; energy Ann 1001; energy Ben 1001
        send Ben echo is Handled; energy Ann 2002; energy Ben 2002

        # posts_without_end_come_to_an_end
        cast Ann, Ben
        Ann Idle.ball: post Ben ball
        Ben Idle.ball: post Ann ball
        post Ann ball
        count ball => 1000
        warnings => ERROR an exchange of telegrams has no end: telegrams were put off 1000 times in a row, most recently "Ann" to "Ben", "Ben" to "Ann"; the next from "Ben" to "Ann" is dropped

        # an_error_does_not_name_those_whose_long_exchange_has_ended_by_itself
        cast Ann, Ben, Cat, Dan
        Cat Idle.ball: gain 1; below 490 post Dan ball
        Dan Idle.ball: post Cat ball
        Ann Idle.ball: post Ben ball
        Ben Idle.ball: post Ann ball
        post Cat ball
        warnings =>
        post Ann ball
        warnings => ERROR an exchange of telegrams has no end: telegrams were put off 1000 times in a row, most recently "Ann" to "Ben", "Ben" to "Ann"; the next from "Ben" to "Ann" is dropped

        # what_was_put_off_before_a_panic_leads_to_exchanges_that_come_to_an_end
        // The panic leaves a telegram of the turn's second exchange, and the turn of Cat ends all exchanges.
        cast Ann, Ben, Cat
        Ann Idle.update, 1x: post Ben hello; send Ann rumor; panic
        Ann Idle.rumor, 1x: send Ann echo
        Ann Idle.echo: gain 1; below 200000 2x send Ann echo
        panicking update Ann; update Cat; update Ann; energy Ann 100096
        warnings => ERROR an exchange of telegrams has no end: one telegram has led to 100096 others, most recently "Ann" to "Ann"; the next from "Ann" to "Ann" is dropped

        # updates_within_updates_come_to_an_end
        cast Ann
        Ann Idle.update: rejoin update Ann is tried
        update Ann
        count update => 64
        warnings => ERROR the turn of "Ann" is skipped: 64 turns are nested
        "#,
    );
}

/// Without the limit, a chain of members that spawn each other overflowed the stack.
#[test]
fn a_member_that_is_spawned_within_64_turns_is_not_started() {
    let mut stage = stage("cast Ann");
    assert!(learn(&mut stage, "Ann Idle.update: spawn 2"));
    for nth in 2..100 {
        assert!(learn(&mut stage, format!("{nth} Idle.enter: spawn {}", nth + 1).leak()));
    }
    let logged = log_lines(|| assert!(stage.update_one(&"Ann")));
    assert_eq!(logged, ["ERROR demeanor::cast: the turn of \"65\" is skipped: 64 turns are nested"]);
    assert_eq!(happened(&mut stage).last().map(String::as_str), Some("64 Idle.enter"));
    assert!(stage.contains(&"65"));
}
