//! Telegrams in a cast whose members send from within their callbacks.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use demeanor::{Agent, Cast, Delivery, Dispatcher, Fsm, Owner, State, StateMachine, Telegram, Unavailable};

use crate::captured_log::log_lines;
use crate::trace::Trace;

/// The world is a record of what has happened.
type Stage = Cast<Name, Script, Trace>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Ann,
    Ben,
    Cat,
    Eve,
    Link(u32),
}
use Name::{Ann, Ben, Cat, Eve, Link};

/// What a player is told to do, by a telegram or in its updates.
type Script = Vec<Act>;

#[derive(Clone, Debug, PartialEq)]
enum Act {
    Say(&'static str),
    /// Sends, and notes what became of it.
    Send(Name, Script),
    SendAfter(f64, Name, Script),
    /// Passes its own telegram on to the next link of the chain.
    PassOn,
    Enlist(Name),
    Dismiss(Name),
    Move,
    UpdateAll,
    Panic,
    Decline,
}
use Act::{Decline, Dismiss, Enlist, Move, Panic, PassOn, Say, Send, SendAfter, UpdateAll};

/// One type of owner for each `KIND`.
#[derive(Debug)]
struct Player<const KIND: u8> {
    name: Name,
    on_update: Script,
}

impl<const KIND: u8> Owner for Player<KIND> {
    type Context<'a> = Stage;
    type Message = Telegram<Name, Script>;

    fn now(stage: &Stage) -> f64 {
        stage.now()
    }
}

struct Playing;
struct Moved;

impl<const KIND: u8> State<Player<KIND>> for Playing {
    fn enter(&self, player: &mut Player<KIND>, _: &mut Fsm<'_, Player<KIND>>, stage: &mut Stage) {
        stage.world.push(format!("{:?} enters", player.name));
    }

    fn exit(&self, player: &mut Player<KIND>, _: &mut Fsm<'_, Player<KIND>>, stage: &mut Stage) {
        stage.world.push(format!("{:?} leaves", player.name));
    }

    fn update(&self, player: &mut Player<KIND>, fsm: &mut Fsm<'_, Player<KIND>>, stage: &mut Stage) {
        let script = player.on_update.clone();
        perform(&script, player, &script, fsm, stage);
    }

    fn on_message(
        &self,
        player: &mut Player<KIND>,
        telegram: &Telegram<Name, Script>,
        fsm: &mut Fsm<'_, Player<KIND>>,
        stage: &mut Stage,
    ) -> bool {
        perform(&telegram.message, player, &telegram.message, fsm, stage);
        !telegram.message.contains(&Decline)
    }
}

impl<const KIND: u8> State<Player<KIND>> for Moved {
    fn enter(&self, player: &mut Player<KIND>, _: &mut Fsm<'_, Player<KIND>>, stage: &mut Stage) {
        stage.world.push(format!("{:?} has moved", player.name));
    }

    fn on_message(
        &self,
        player: &mut Player<KIND>,
        telegram: &Telegram<Name, Script>,
        fsm: &mut Fsm<'_, Player<KIND>>,
        stage: &mut Stage,
    ) -> bool {
        stage.world.push(format!("{:?} is told after its move", player.name));
        perform(&telegram.message, player, &telegram.message, fsm, stage);
        true
    }
}

fn perform<const KIND: u8>(
    script: &[Act],
    player: &mut Player<KIND>,
    whole: &Script,
    fsm: &mut Fsm<'_, Player<KIND>>,
    stage: &mut Stage,
) {
    let me = player.name;
    for act in script {
        match act {
            Say(what) => stage.world.push(format!("{me:?}: {what}")),
            Send(to, script) => {
                let became = stage.send(me, *to, script.clone());
                stage.world.push(format!("{me:?} to {to:?}: {became:?}"));
            }
            SendAfter(delay, to, script) => {
                let became = stage.send_after(*delay, me, *to, script.clone());
                stage.world.push(format!("{me:?} to {to:?}: {became:?}"));
            }
            PassOn => {
                if let Link(n) = me {
                    stage.send(me, Link(n + 1), whole.clone());
                    stage.world.push(format!("{n}"));
                }
            }
            Enlist(name) => stage.spawn(*name, player_of::<2>(*name, vec![Say("new here")])).unwrap(),
            Dismiss(name) => assert!(stage.dismiss(name)),
            Move => fsm.change_state(&Moved),
            UpdateAll => stage.update(),
            Panic => panic!("{me:?} falls off the stage"),
            Decline => {}
        }
    }
}

fn player_of<const KIND: u8>(name: Name, on_update: Script) -> Agent<Player<KIND>> {
    Agent::new(Player { name, on_update }, StateMachine::new(&Playing))
}

/// Ann and Ben, who are of different types, and Cat, who is of Ann's. Nobody does anything in an update.
fn stage() -> Stage {
    let mut stage = Stage::new(Trace::default());
    stage.add(Ann, player_of::<0>(Ann, vec![])).unwrap();
    stage.add(Ben, player_of::<1>(Ben, vec![])).unwrap();
    stage.add(Cat, player_of::<0>(Cat, vec![])).unwrap();
    stage
}

/// What happens when Eve, who is not in the cast, tells Ann to perform a script.
fn performed_by_ann(script: Script) -> (Stage, Delivery) {
    let mut stage = stage();
    let delivery = stage.send(Eve, Ann, script);
    (stage, delivery)
}

#[test]
fn a_telegram_is_delivered_within_the_call_depth_first() {
    let (stage, delivery) = performed_by_ann(vec![
        Say("one"),
        Send(Ben, vec![Say("two"), Send(Cat, vec![Say("three")]), Say("four")]),
        Say("five"),
    ]);
    assert_eq!(delivery, Delivery::Handled);
    assert_eq!(
        stage.world,
        "Ann: one; Ben: two; Cat: three; Ben to Cat: Handled; Ben: four; Ann to Ben: Handled; Ann: five"
    );
}

#[test]
fn the_sender_learns_that_a_telegram_was_declined() {
    let (stage, delivery) = performed_by_ann(vec![Send(Ben, vec![Decline]), Decline]);
    assert_eq!(delivery, Delivery::Declined);
    assert!(!delivery.is_handled());
    assert_eq!(stage.world, ["Ann to Ben: Declined"]);
}

#[test]
fn a_telegram_to_a_member_who_is_acting_is_put_off_until_its_turn_is_over() {
    let (stage, _) = performed_by_ann(vec![
        Send(Ben, vec![Send(Ann, vec![Say("the answer")]), Say("has answered")]),
        Say("is done"),
    ]);
    assert_eq!(
        stage.world,
        "Ben to Ann: PutOff; Ben: has answered; Ann to Ben: Handled; Ann: is done; Ann: the answer"
    );
}

#[test]
fn a_member_can_send_to_itself() {
    let (stage, _) = performed_by_ann(vec![
        Send(Ann, vec![Say("first"), Send(Ann, vec![Say("third")])]),
        Send(Ann, vec![Say("second")]),
    ]);
    assert_eq!(
        stage.world,
        "Ann to Ann: PutOff; Ann to Ann: PutOff; Ann: first; Ann to Ann: PutOff; Ann: second; Ann: third"
    );
}

#[test]
fn the_changes_a_turn_asked_for_are_made_before_what_was_put_off_arrives() {
    let (stage, _) = performed_by_ann(vec![Move, Send(Ben, vec![Send(Ann, vec![Say("hello")])])]);
    assert_eq!(
        stage.world,
        "Ben to Ann: PutOff; Ann to Ben: Handled; Ann leaves; Ann has moved; Ann is told after its move
         Ann: hello"
    );
}

#[test]
fn a_telegram_put_off_for_an_inner_member_arrives_before_the_outer_one_goes_on() {
    // Cat tells Ben, who is told by Ann and has sent to Cat.
    let (stage, _) = performed_by_ann(vec![
        Send(Ben, vec![Send(Cat, vec![Send(Ben, vec![Say("to Ben")]), Send(Ann, vec![Say("to Ann")])])]),
        Say("is done"),
    ]);
    assert_eq!(
        stage.world,
        "Cat to Ben: PutOff; Cat to Ann: PutOff; Ben to Cat: Handled; Ben: to Ben; Ann to Ben: Handled
         Ann: is done; Ann: to Ann"
    );
}

#[test]
fn an_unknown_receiver_is_an_error_with_the_telegram_in_it() {
    let mut stage = stage();
    let unknown = stage.deliver(Telegram::new(Ann, Eve, vec![Say("hello")])).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no Eve to receive the telegram from Ann");
    assert_eq!(unknown.telegram, Telegram::new(Ann, Eve, vec![Say("hello")]));

    let (stage, _) = performed_by_ann(vec![Send(Eve, vec![]), Say("goes on")]);
    assert_eq!(stage.world, "Ann to Eve: UnknownReceiver; Ann: goes on");
}

#[test]
fn the_log_tells_of_telegrams_that_reach_nobody() {
    // Ann sends to Eve, who is not there; then Ben to Ann, who will not wait for it.
    let mut lines = log_lines(|| {
        let (mut stage, _) = performed_by_ann(vec![Send(Eve, vec![])]);
        stage.send(Eve, Ann, vec![Send(Ben, vec![Send(Ann, vec![])]), Dismiss(Ann)]);
    });
    lines.retain(|line| !line.starts_with("TRACE") && !line.starts_with("DEBUG"));
    assert_eq!(
        lines,
        [
            "WARN demeanor::cast: there is no Eve to receive the telegram from Ann",
            "WARN demeanor::cast: there is no Ann to receive the telegram from Ben"
        ]
    );
}

#[test]
fn delayed_telegrams_arrive_in_order_once_they_are_due() {
    let mut stage = stage();
    stage.send(
        Eve,
        Ann,
        vec![
            SendAfter(2.0, Ben, vec![Say("late")]),
            SendAfter(1.0, Cat, vec![Say("early"), SendAfter(1.0, Ann, vec![Say("later still")])]),
            SendAfter(1.0, Cat, vec![Say("early, too")]),
            SendAfter(0.0, Ben, vec![Say("at once")]),
            SendAfter(f64::NAN, Ann, vec![Say("when Ann is done")]),
        ],
    );
    assert_eq!(
        stage.world,
        "Ann to Ben: Delayed; Ann to Cat: Delayed; Ann to Cat: Delayed; Ben: at once; Ann to Ben: Handled
         Ann to Ann: PutOff; Ann: when Ann is done"
    );
    stage.world.clear();
    stage.advance(Duration::from_millis(999));
    assert_eq!(stage.deliver_due(), []);
    assert_eq!(stage.world, [] as [&str; 0]);
    stage.advance(Duration::from_millis(1001));
    assert_eq!(stage.deliver_due(), []);
    assert_eq!(stage.world, "Cat: early; Cat to Ann: Delayed; Cat: early, too; Ben: late");
    stage.advance(Duration::from_secs(1));
    stage.deliver_due();
    assert_eq!(stage.world.last().unwrap(), "Ann: later still");
    assert!(stage.dispatcher().is_empty());
}

#[test]
fn a_telegram_that_is_due_after_its_receiver_has_left_is_handed_back() {
    let mut stage = stage();
    stage.send_after(1.0, Ann, Ben, vec![Say("too late")]);
    stage.send_after(1.0, Ann, Cat, vec![Say("in time")]);
    assert!(stage.remove::<Player<1>>(&Ben).is_ok());
    stage.advance(Duration::from_secs(1));
    let unknown = stage.deliver_due();
    let telegrams: Vec<_> = unknown.into_iter().map(|unknown| unknown.telegram).collect();
    assert_eq!(telegrams, [Telegram::new(Ann, Ben, vec![Say("too late")])]);
    assert_eq!(stage.world, ["Cat: in time"]);
}

#[test]
fn a_caller_can_deliver_what_is_due_one_by_one() {
    let mut stage = stage();
    stage.send_after(1.0, Eve, Ann, vec![Say("here")]);
    stage.send_after(1.0, Eve, Ben, vec![Decline]);
    stage.advance(Duration::from_secs(1));
    while let Some(telegram) = stage.pop_due() {
        let receiver = telegram.receiver;
        stage.world.push(format!("for {receiver:?}"));
        let delivery = stage.deliver(telegram).unwrap();
        stage.world.push(format!("{delivery:?}"));
    }
    assert_eq!(stage.world, "for Ann; Ann: here; Handled; for Ben; Declined");
}

#[test]
fn a_dispatcher_that_merges_can_be_given_to_a_cast() {
    let mut stage = stage().with_dispatcher(Dispatcher::merging_within(0.25));
    for _ in 0..3 {
        assert_eq!(stage.send_after(1.5, Ann, Ben, vec![Say("once")]), Delivery::Delayed);
    }
    stage.advance(Duration::from_secs(2));
    stage.deliver_due();
    assert_eq!(stage.world, ["Ben: once"]);
}

#[test]
fn members_are_started_updated_and_stopped_in_the_order_in_which_they_joined() {
    let mut stage = Stage::new(Trace::default());
    for name in [Cat, Ann, Ben] {
        stage.add(name, player_of::<0>(name, vec![Say("acts")])).unwrap();
    }
    stage.start();
    stage.update();
    stage.stop();
    assert_eq!(
        stage.world,
        "Cat enters; Ann enters; Ben enters; Cat: acts; Ann: acts; Ben: acts; Cat leaves; Ann leaves
         Ben leaves"
    );
    assert_eq!(stage.keys().copied().collect::<Vec<_>>(), [Cat, Ann, Ben]);
}

#[test]
fn who_joins_in_a_callback_can_be_sent_to_at_once_and_is_updated_from_the_next_tick() {
    let mut stage = Stage::new(Trace::default());
    let script = vec![Enlist(Eve), Send(Eve, vec![Say("hello")]), Move];
    stage.add(Ann, player_of::<0>(Ann, script)).unwrap();
    stage.update();
    assert_eq!(stage.world, "Eve enters; Eve: hello; Ann to Eve: Handled; Ann leaves; Ann has moved");
    stage.world.clear();
    stage.update();
    assert_eq!(stage.world, ["Eve: new here"]);
    assert_eq!(stage.len(), 2);
}

#[test]
fn a_key_can_be_taken_once() {
    let mut stage = stage();
    let taken = stage.add(Ben, player_of::<2>(Ben, vec![])).unwrap_err();
    assert_eq!(taken.to_string(), "there is a member Ben already");
    assert_eq!((taken.key, taken.agent.name), (Ben, Ben));
    assert!(stage.spawn(Ben, taken.agent).is_err());
    assert!(stage.world.is_empty(), "nothing has been entered");
    assert!(stage.get::<Player<1>>(&Ben).is_ok(), "the first Ben is still there");
}

#[test]
fn members_are_found_by_key_and_type() {
    let mut stage = stage();
    assert_eq!(stage.get::<Player<1>>(&Ben).unwrap().name, Ben);
    assert_eq!(stage.get::<Player<0>>(&Ben).err(), Some(Unavailable::WrongType));
    assert_eq!(stage.get::<Player<0>>(&Eve).err(), Some(Unavailable::Unknown));
    stage.get_mut::<Player<0>>(&Cat).unwrap().on_update = vec![Say("acts")];
    stage.update();
    assert_eq!(stage.world, ["Cat: acts"]);
}

#[test]
fn a_member_of_another_type_is_not_removed() {
    let mut stage = stage();
    assert_eq!(stage.remove::<Player<0>>(&Ben).err(), Some(Unavailable::WrongType));
    assert!(stage.contains(&Ben));
    assert_eq!(stage.remove::<Player<1>>(&Ben).unwrap().name, Ben);
    assert!(!stage.contains(&Ben));
    assert_eq!(stage.remove::<Player<1>>(&Ben).err(), Some(Unavailable::Unknown));
    assert!(!stage.dismiss(&Ben));
    assert_eq!(stage.len(), 2);
}

#[test]
fn a_member_that_is_acting_is_lent_out_but_still_a_member() {
    let mut stage = stage();
    let seen = stage.with::<Player<0>, _>(&Ann, |_, stage| {
        let seen = (stage.contains(&Ann), stage.is_acting(&Ann), stage.is_acting(&Ben), stage.len());
        assert_eq!(stage.get::<Player<0>>(&Ann).err(), Some(Unavailable::Acting));
        assert_eq!(stage.remove::<Player<0>>(&Ann).err(), Some(Unavailable::Acting));
        assert_eq!(stage.with::<Player<0>, _>(&Ann, |_, _| ()), Err(Unavailable::Acting));
        seen
    });
    assert_eq!(seen, Ok((true, true, false, 3)));
    assert!(!stage.is_acting(&Ann));
}

#[test]
fn a_turn_with_a_member_delivers_what_it_was_sent_meanwhile() {
    let mut stage = stage();
    let delivery = stage.with(&Ann, |ann: &mut Agent<Player<0>>, stage| {
        let delivery = stage.send(Ben, Ann, vec![Say("hello")]);
        assert!(ann.change_state(&Moved, stage));
        delivery
    });
    assert_eq!(delivery, Ok(Delivery::PutOff));
    assert_eq!(stage.world, "Ann leaves; Ann has moved; Ann is told after its move; Ann: hello");
}

#[test]
fn a_member_can_dismiss_itself_and_others_in_its_callback() {
    let mut stage = Stage::new(Trace::default());
    let script = vec![Dismiss(Cat), Dismiss(Ann), Send(Ann, vec![]), Say("goes on to the end of its turn")];
    stage.add(Ann, player_of::<0>(Ann, script)).unwrap();
    stage.add(Cat, player_of::<0>(Cat, vec![Say("never gets here")])).unwrap();
    stage.add(Ben, player_of::<1>(Ben, vec![Say("acts")])).unwrap();
    stage.update();
    assert_eq!(stage.world, "Ann to Ann: UnknownReceiver; Ann: goes on to the end of its turn; Ben: acts");
    assert_eq!(stage.keys().collect::<Vec<_>>(), [&Ben]);
}

#[test]
fn who_takes_the_key_of_a_member_dismissed_in_its_own_turn_is_not_lost() {
    let mut stage = Stage::new(Trace::default());
    let script = vec![Dismiss(Ann), Enlist(Ann), Send(Ann, vec![Say("I am the new Ann")])];
    stage.add(Ann, player_of::<0>(Ann, script)).unwrap();
    stage.update();
    stage.update();
    assert_eq!(stage.world, "Ann enters; Ann: I am the new Ann; Ann to Ann: Handled; Ann: new here");
    assert!(stage.get::<Player<2>>(&Ann).is_ok());
}

#[test]
fn what_was_put_off_for_a_member_that_dismisses_itself_is_not_delivered() {
    let (mut stage, _) =
        performed_by_ann(vec![Send(Ann, vec![Say("too late")]), Dismiss(Ann), Send(Ben, vec![Say("hello")])]);
    assert_eq!(stage.world, "Ann to Ann: PutOff; Ben: hello; Ann to Ben: Handled");
    stage.update();
    assert_eq!(stage.len(), 2);
}

#[test]
fn an_update_of_all_from_within_a_callback_leaves_out_who_is_acting() {
    let mut stage = Stage::new(Trace::default());
    stage.add(Ann, player_of::<0>(Ann, vec![Say("acts"), UpdateAll])).unwrap();
    stage.add(Ben, player_of::<1>(Ben, vec![Say("acts")])).unwrap();
    stage.update();
    assert_eq!(stage.world, "Ann: acts; Ben: acts; Ben: acts");
}

#[test]
fn a_panic_in_a_callback_loses_neither_members_nor_telegrams() {
    let mut stage = stage();
    let script = vec![Send(Ann, vec![Say("was put off")]), Send(Ben, vec![Send(Cat, vec![Panic])])];
    let panic = catch_unwind(AssertUnwindSafe(|| stage.send(Eve, Ann, script))).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "Cat falls off the stage");

    assert_eq!([Ann, Ben, Cat].map(|name| stage.is_acting(&name)), [false; 3]);
    assert_eq!(stage.world, ["Ann to Ann: PutOff"]);
    assert_eq!(stage.send(Eve, Cat, vec![Say("is well")]), Delivery::Handled);
    stage.update();
    assert_eq!(stage.world[1..], ["Cat: is well", "Ann: was put off"]);
    assert_eq!(stage.len(), 3);
}

#[test]
fn a_long_chain_of_telegrams_reaches_its_end() {
    const LINKS: u32 = 10_000;
    let mut stage = Stage::new(Trace::default());
    for n in 0..LINKS {
        stage.add(Link(n), player_of::<0>(Link(n), vec![])).unwrap();
    }
    stage.send(Eve, Link(0), vec![PassOn]);
    // 64 deep, then all the way back out, before the next 64.
    let expected = (0..LINKS).step_by(64).flat_map(|first| (first..LINKS.min(first + 64)).rev());
    assert_eq!(*stage.world, expected.map(|n| n.to_string()).collect::<Vec<_>>());
}

#[test]
fn telegrams_that_are_put_off_endlessly_are_dropped() {
    thread_local! {
        static REPLIES: RefCell<u32> = const { RefCell::new(0) };
    }
    struct Echo;
    impl Owner for Echo {
        type Context<'a> = Cast<u8, (), ()>;
        type Message = Telegram<u8, ()>;
    }
    struct Reply;
    impl State<Echo> for Reply {
        fn on_message(
            &self,
            _: &mut Echo,
            telegram: &Telegram<u8, ()>,
            _: &mut Fsm<'_, Echo>,
            cast: &mut Cast<u8, (), ()>,
        ) -> bool {
            REPLIES.with_borrow_mut(|replies| *replies += 1);
            cast.send(telegram.receiver, telegram.sender, ());
            true
        }
    }
    let mut cast = Cast::new(());
    cast.add(0, Agent::new(Echo, StateMachine::new(&Reply))).unwrap();
    cast.add(1, Agent::new(Echo, StateMachine::new(&Reply))).unwrap();
    cast.send(0, 1, ());
    assert_eq!(REPLIES.take(), 2002, "two at once, and two for each of 1000 that were put off");
    assert_eq!(cast.send(0, 1, ()), Delivery::Handled);
    assert_eq!(REPLIES.take(), 2002, "the cast goes on working");
}

#[test]
fn a_member_that_is_told_by_many_while_it_acts_hears_them_all() {
    let mut stage = stage();
    for n in 0..3000 {
        let script = vec![Send(Ann, vec![Say("heard")])];
        stage.add(Link(n), player_of::<1>(Link(n), script)).unwrap();
    }
    stage.get_mut::<Player<0>>(&Ann).unwrap().on_update = vec![UpdateAll];
    stage.update();
    let heard = stage.world.iter().filter(|line| *line == "Ann: heard").count();
    assert_eq!(heard, 6000, "once in the update within Ann's, once in the one around it");
}

#[test]
fn states_can_ask_how_long_they_have_been_in_by_the_clock_of_the_cast() {
    let mut stage = stage();
    stage.advance(Duration::from_secs(3));
    stage.send(Eve, Ann, vec![Move]);
    stage.advance(Duration::from_secs(4));
    let ann = stage.get::<Player<0>>(&Ann).unwrap();
    assert!((ann.machine().time_in_state(&stage) - 4.0).abs() < 1e-9);
    assert_eq!(stage.time().elapsed(), Duration::from_secs(4));
    assert!((stage.now() - 7.0).abs() < 1e-9);
}
