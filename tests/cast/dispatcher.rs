//! The queue of delayed telegrams.

use demeanor::{Dispatcher, Telegram};

fn letter(message: &'static str) -> Telegram<u8, &'static str> {
    Telegram::new(1, 2, message)
}

/// Creates a queue with telegrams that were sent at `now`, each with its delay.
fn sent(now: f64, telegrams: &[(f64, &'static str)]) -> Dispatcher<u8, &'static str> {
    let mut post = Dispatcher::new();
    for (delay, message) in telegrams {
        assert!(post.send_after(*delay, letter(message), now));
    }
    post
}

fn arrivals(post: &mut Dispatcher<u8, &'static str>, now: f64) -> Vec<&'static str> {
    std::iter::from_fn(|| post.pop_due(now)).map(|telegram| telegram.message).collect()
}

#[test]
fn telegrams_arrive_in_the_order_of_their_due_times() {
    let mut post = sent(10.0, &[(3.0, "c"), (1.0, "a"), (2.0, "b"), (4.0, "later")]);
    assert_eq!(post.next_due(), Some(11.0));
    assert_eq!(arrivals(&mut post, 10.9), [] as [&str; 0]);
    assert_eq!(arrivals(&mut post, 13.0), ["a", "b", "c"]);
    assert_eq!(post.len(), 1);
}

#[test]
fn telegrams_with_equal_due_times_all_arrive_in_the_order_of_sending() {
    let messages = ["a", "b", "a", "a", "c", "b"];
    let mut post = sent(0.0, &messages.map(|message| (1.0, message)));
    assert_eq!(arrivals(&mut post, 1.0), messages);
}

#[test]
fn a_delay_that_is_negative_or_not_a_number_is_none() {
    let telegrams =
        [(f64::NAN, "nan"), (-3.0, "negative"), (-0.0, "minus zero"), (0.0, "zero"), (f64::INFINITY, "never")];
    let mut post = sent(5.0, &telegrams);
    assert_eq!(arrivals(&mut post, 4.9), [] as [&str; 0]);
    assert_eq!(arrivals(&mut post, 5.0), ["nan", "negative", "minus zero", "zero"]);
    assert_eq!(arrivals(&mut post, f64::MAX), [] as [&str; 0]);
}

#[test]
fn telegrams_that_never_come_due_are_merged_too() {
    for (window, queued) in [(0.25, 2), (f64::INFINITY, 2), (0.0, 4), (f64::NAN, 4)] {
        let mut post = Dispatcher::merging_within(window);
        for due in [f64::INFINITY, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            post.send_at(due, letter("again"));
        }
        assert_eq!(post.len(), queued, "{window}");
    }
}

#[test]
fn the_two_zeros_are_one_due_time() {
    let mut post = Dispatcher::new();
    post.send_at(0.0, letter("first"));
    post.send_at(-0.0, letter("second"));
    assert_eq!(arrivals(&mut post, -0.0), ["first", "second"]);
}

#[test]
fn a_clock_that_is_not_a_number_loses_nothing() {
    let mut post = Dispatcher::new();
    post.send_after(1.0, letter("sent without a clock"), f64::NAN);
    post.send_after(1.0, letter("sent in time"), 0.0);
    assert_eq!(arrivals(&mut post, f64::NAN), [] as [&str; 0]);
    assert_eq!(arrivals(&mut post, 1.0), ["sent without a clock", "sent in time"]);
}

#[test]
fn the_same_can_be_sent_again_while_it_is_being_delivered() {
    let mut post = Dispatcher::new();
    post.send_after(0.0, letter("tick"), 0.0);
    let mut arrived = 0;
    for now in [0.0, 1.0, 2.0, 3.0] {
        while let Some(telegram) = post.pop_due(now) {
            arrived += 1;
            post.send_after(1.0, telegram, now);
        }
    }
    assert_eq!(arrived, 4);
    assert_eq!(post.len(), 1);
}

#[test]
fn merging_drops_what_resembles_a_queued_telegram_and_nothing_else() {
    let mut post = Dispatcher::merging_within(0.25);
    assert!(post.send_at(1.0, letter("stew")));
    assert!(!post.send_at(1.0, letter("stew")));
    assert!(!post.send_at(1.125, letter("stew")));
    assert!(!post.send_at(0.875, letter("stew")));
    assert!(post.send_at(1.25, letter("stew")), "the window is open at its end");
    assert!(post.send_at(0.75, letter("stew")), "and at its beginning");
    assert!(post.send_at(1.0, letter("beans")), "another message with the same due time");
    assert!(post.send_at(1.0, Telegram::new(2, 1, "stew")), "another sender and receiver");
    assert_eq!(arrivals(&mut post, 9.0), ["stew", "stew", "beans", "stew", "stew"]);
    assert!(post.send_at(1.0, letter("stew")), "it has been delivered");
}

#[test]
fn the_queue_shows_its_telegrams_in_the_order_in_which_they_will_arrive() {
    let mut post = sent(0.0, &[(2.0, "c"), (1.0, "a"), (1.0, "b"), (3.0, "d")]);
    let shown: Vec<_> = post.iter().map(|(due, telegram)| (due, telegram.message)).collect();
    assert_eq!(shown, [(1.0, "a"), (1.0, "b"), (2.0, "c"), (3.0, "d")]);

    let mut copy = Dispatcher::new();
    for (due, telegram) in post.iter() {
        copy.send_at(due, *telegram);
    }
    post.retain(|_, telegram| telegram.message != "b");
    assert_eq!(arrivals(&mut post, 2.0), ["a", "c"]);
    post.clear();
    assert!(post.is_empty());
    assert_eq!(arrivals(&mut copy, 9.0), ["a", "b", "c", "d"]);
}
