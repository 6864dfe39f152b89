//! An acting member rejoins its cast for the length of a call (rule 30).

use demeanor::{Agent, Cast, Fsm, Owner, State, StateMachine, Telegram};

use crate::play::play;

#[test]
fn rejoining() {
    play(
        r"
        # a_member_that_rejoins_is_told_within_the_call
        cast Ann, Ben
        Ann Idle.update: rejoin send Ben ask is Handled; note goes on
        Ann Idle.answer: gain 7
        Ben Idle.ask: send Ann answer is Handled; note has answered
        update Ann => Ann Idle.update; Ben Idle.ask; Ann Idle.answer; Ben has answered; Ann goes on
        energy Ann 7

        # a_member_that_rejoins_is_read_and_changed_by_others
        cast Ann, Ben
        Ann Idle.update: gain 5; rejoin charge Ann 1 & energy Ann 6 & with Ann change Busy & look; has; previous; look
        update Ann => Ann Idle.update; Ann Idle.exit; Ann Busy.enter; Ann Idle -> Busy (change)
            Ann in Busy, Ben in Idle; Ann has 6; Ann was Idle; Ann in Busy acts, Ben in Idle

        # what_was_asked_for_before_is_carried_out_before_the_member_rejoins
        cast Ann, Ben
        Ann Idle.update: change Busy; rejoin send Ben ask is Handled; note goes on
        Ann Busy.answer: nothing
        Ben Idle.ask: send Ann answer is Handled; note has answered
        update Ann => Ann Idle.update; Ann Idle.exit; Ann Busy.enter; Ann Idle -> Busy (change); Ben Idle.ask
            Ann Busy.answer; Ben has answered; Ann goes on

        # what_is_asked_for_meanwhile_is_carried_out_when_its_handler_returns
        cast Ann, Ben
        Ann Idle.update: rejoin send Ben ask is Handled; note goes on
        Ann Idle.answer: change Busy
        Ben Idle.ask: send Ann answer is Handled; note has answered
        update Ann => Ann Idle.update; Ben Idle.ask; Ann Idle.answer; Ann Idle.exit; Ann Busy.enter
            Ann Idle -> Busy (change); Ben has answered; Ann goes on
        update Ann => Ann Busy.update

        # members_rejoin_as_deep_as_they_call_each_other
        // Each passes the word on to the other for three rounds. When a member continues, its energy includes everything that
        // the inner calls have added.
        cast Ann, Ben
        Ann Idle.pass on: gain 1; below 4 rejoin send Ben pass on is Handled; has
        Ben Idle.pass on: gain 1; below 4 rejoin send Ann pass on is Handled; has
        send Ann pass on => 3x Ann Idle.pass on, Ben Idle.pass on; Ann Idle.pass on
            3x Ann has 4, Ben has 3; Ann has 4
        ",
    );
}

#[test]
fn changes_while_a_member_has_rejoined() {
    play(
        r"
        # after_a_request_to_sleep_a_change_meanwhile_is_one_change_and_no_cycle
        cast Ann, Ben
        Ann Idle.update: sleep; rejoin send Ben ask; change Idle
        Ann Idle.answer: change Busy
        Ben Idle.ask: send Ann answer is Handled
        update Ann => Ann Idle.update; Ben Idle.ask; Ann Idle.answer; Ann Idle.exit; Ann Busy.enter
            Ann Idle -> Busy (change); Ann Busy.exit; Ann Idle.enter; Ann Busy -> Idle (change)

        # a_tick_goes_on_along_the_path_to_which_the_member_has_changed_meanwhile
        cast Ann in Left, Ben
        Ann Inside.update: rejoin send Ben ask; note goes on
        Ann Inside.answer: change Right
        Ben Idle.ask: send Ann answer is Handled; note has answered
        update Ann => Ann Inside.update; Ben Idle.ask; Ann Left.answer; Ann Inside.answer; Ann Left.exit
            Ann Right.enter; Ann Left -> Right (change); Ben has answered; Ann goes on; Ann Right.update

        # a_global_state_can_rejoin_and_the_state_entered_meanwhile_is_updated_in_the_same_tick
        cast Ann beside Always, Ben
        Ann Always.update: rejoin send Ben ask; note goes on
        Ann Idle.answer: change Busy
        Ben Idle.ask: send Ann answer is Handled; note has answered
        update Ann => Ann Always.update; Ben Idle.ask; Ann Idle.answer; Ann Idle.exit; Ann Busy.enter
            Ann Idle -> Busy (change); Ben has answered; Ann goes on; Ann Busy.update

        # states_that_a_member_leaves_while_it_has_rejoined_are_not_offered_the_rest_of_a_message
        cast Ann in Left, Ben
        Ann Left.poke?: rejoin send Ben ask; note goes on
        Ann Left.answer: change Busy
        Ann Inside.poke?: nothing
        Ben Idle.ask: send Ann answer is Handled; note has answered
        send Ann poke? is Declined => Ann Left.poke?; Ben Idle.ask; Ann Left.answer; Ann Left.exit; Ann Inside.exit
            Ann Busy.enter; Ann Left -> Busy (change); Ben has answered; Ann goes on

        # a_change_in_an_enter_that_rejoins_is_complete_when_the_machine_has_not_changed_meanwhile
        // The handler is not part of the change.
        cast Ann, Ben
        Ann Idle.update: change Busy
        Ann Busy.enter: rejoin send Ben ask; note goes on; target
        Ann Busy.answer: target; previous
        Ben Idle.ask: send Ann answer is Handled; note has answered
        update Ann => Ann Idle.update; Ann Idle.exit; Ann Busy.enter; Ben Idle.ask; Ann Busy.answer
            Ann to nowhere; Ann was Idle; Ben has answered; Ann goes on; Ann to Busy; Ann Idle -> Busy (change)

        # a_change_made_while_a_member_has_rejoined_in_enter_abandons_the_rest_of_the_outer_change
        cast Ann, Ben
        Ann Idle.update: change Left
        Ann Inside.enter: rejoin send Ben ask; note goes on; target
        Ann Inside.answer: change Away
        Ben Idle.ask: send Ann answer is Handled; note has answered
        update Ann => Ann Idle.update; Ann Idle.exit; Ann Inside.enter; Ben Idle.ask; Ann Inside.answer
            Ann Inside.exit; Ann Away.enter; Ann Inside -> Away (change); Ben has answered; Ann goes on; Ann to nowhere
        look => Ann in Away, Ben in Idle

        # a_member_that_rejoins_in_exit_is_told_and_cannot_change_state
        cast Ann, Ben
        Ann Idle.update: change Busy
        Ann Idle.exit: rejoin send Ben ask; note goes on
        Ann Idle.answer: change Away; now Away is refused
        Ben Idle.ask: send Ann answer is Handled; note has answered
        update Ann => Ann Idle.update; Ann Idle.exit; Ben Idle.ask; Ann Idle.answer; Ben has answered; Ann goes on
            Ann Busy.enter; Ann Idle -> Busy (change)
        warnings => 2x WARN Ann: change to Away refused in state Idle: the state is being left

        # a_machine_that_stops_cannot_be_started_or_stopped_while_its_owner_has_rejoined
        cast Ann
        Ann Idle.exit: rejoin with Ann begin & with Ann end
        stop => Ann Idle.exit
        warnings => WARN Ann: start refused in state Idle: the state is being left
            WARN Ann: stop refused in state Idle: the state is being left
        look => Ann in no state
        ",
    );
}

#[test]
fn what_becomes_of_members_that_have_rejoined() {
    play(
        r#"
        # a_panic_leaves_everybody_in_place_and_a_callback_that_catches_it_goes_on_with_its_owner
        cast Ann, Ben
        Ann Idle.update: gain 3; catch rejoin send Ben ask; has; change Away
        Ann Idle.answer: change Busy
        Ben Idle.ask: send Ann answer is Handled; note has answered; panic
        update Ann => Ann Idle.update; Ben Idle.ask; Ann Idle.answer; Ann Idle.exit; Ann Busy.enter
            Ann Idle -> Busy (change); Ben has answered; Ann caught; Ann has 3; Ann Busy.exit; Ann Away.enter
            Ann Busy -> Away (change)
        look => Ann in Away, Ben in Idle
        energy Ann 3

        # a_panic_that_nobody_catches_leaves_everybody_in_place
        cast Ann, Ben
        Ann Idle.update: rejoin send Ben ask
        Ann Idle.answer: panic
        Ben Idle.ask: send Ann answer
        panicking update Ann => Ann Idle.update; Ben Idle.ask; Ann Idle.answer
        look => Ann in Idle, Ben in Idle
        send Ben hello; update Ben => Ben Idle.hello; Ben Idle.update

        # a_member_that_is_dismissed_meanwhile_goes_on_with_its_owner_and_is_dropped_afterwards
        cast Ann, Ben
        Ann Idle.update: gain 9; rejoin send Ben ask is Handled; note goes on; change Busy; has
        Ben Idle.ask: dismiss Ann; look; send Ann answer is UnknownReceiver; add Ann as Anna
        update => Ann Idle.update; Ben Idle.ask; Ben in Idle acts; Ann goes on; Ann has 9
            Ann Idle.exit; Ann Busy.enter; Ann Idle -> Busy (change); Ben Idle.update
        look => Ben in Idle, Ann in Idle
        update Ann => Anna Idle.update

        # a_member_that_has_rejoined_is_not_removed
        cast Ann
        Ann Idle.update: rejoin remove Ann is Err(Acting)
        update => Ann Idle.update
        remove Ann is Ok("Ann")

        # a_member_that_is_not_acting_or_not_that_member_does_not_rejoin_and_nothing_happens
        // The change is still pending. `another` has the right key and handle, but another owner.
        cast Ann, Ben, Cat
        Ann Idle.update: change Busy; rejoin as Eve is Unknown; rejoin as Ben is NoCallback; rejoin as Cat is AnotherOwner
        Ann Idle.update: rejoin as another is AnotherOwner; requests
        Cat Idle.update: update Ann
        update Cat => Cat Idle.update; Ann Idle.update; Ann some wait; Ann Idle.exit; Ann Busy.enter
            Ann Idle -> Busy (change)

        # an_agent_that_is_no_member_does_not_rejoin_in_the_place_of_one
        cast Ann
        Ann Idle.update: twin rejoin as Ann is AnotherOwner
        update => Ann Idle.update; twin Idle.update

        # what_was_put_off_before_a_member_rejoins_waits_until_its_turn_is_over
        cast Ann, Ben
        Ann Idle.update: send Ann put off is PutOff; rejoin send Ben ask; note goes on
        Ann Idle.answer: nothing
        Ann Idle.put off: nothing
        Ben Idle.ask: send Ann answer is Handled; note has answered
        update => Ann Idle.update; Ben Idle.ask; Ann Idle.answer; Ben has answered; Ann goes on; Ann Idle.put off
            Ben Idle.update

        # what_was_put_off_for_a_member_that_is_dismissed_while_it_has_rejoined_is_dropped_with_a_warning
        cast Ann, Ben
        Ann Idle.update: send Ann put off is PutOff; rejoin dismiss Ann
        update => Ann Idle.update; Ben Idle.update
        warnings => WARN there is no "Ann" to receive the telegram from "Ann"

        # what_was_put_off_before_a_member_rejoins_comes_before_what_a_panic_left_over_meanwhile
        cast Ann
        Ann Idle.update: send Ann first is PutOff; rejoin catch with Ann send Ann second is PutOff + panic
        Ann Idle.first: nothing
        Ann Idle.second: nothing
        update => Ann Idle.update; caught; Ann Idle.first; Ann Idle.second
        "#,
    );
}

#[test]
fn what_a_callback_finds_when_its_member_has_rejoined() {
    play(
        r#"
        # times_and_stack_are_as_they_were_when_the_member_has_rejoined
        cast Ann
        Ann Busy.update: rejoin time Ann; time; pop
        advance 1; with Ann push Busy; advance 2
        update => Ann Busy.update; 2; Ann 2; Ann Busy.exit; Ann Idle.enter; Ann Busy -> Idle (pop)
        look => Ann in Idle

        # another_machine_that_is_put_in_place_meanwhile_is_the_one_that_goes_on
        cast Ann
        Ann Inside.enter: rejoin replace Ann Away
        with Ann change Left is abandoned; update => Ann Idle.exit; Ann Inside.enter; Ann Away.update

        # a_timer_of_a_state_that_is_still_to_be_resumed_does_not_come_due_while_its_owner_has_rejoined (rule 25)
        cast Ann in Left
        Ann Left.wait: after 1 change Away
        Ann Inside.enter: rejoin advance 5 & update Ann
        send Ann wait; with Ann push Busy
        with Ann pop => Ann Busy.exit; Ann Inside.enter; Ann Inside.update; Ann Left.enter; Ann Busy -> Left (pop)
        update => Ann Left.exit; Ann Inside.exit; Ann Away.enter; Ann Left -> Away (change); Ann Away.update

        # a_machine_that_is_set_elsewhere_in_an_exit_ends_on_the_whole_path_of_the_target
        // The path must not be composed of parts of two paths.
        cast Ann
        Ann Left.exit: rejoin set Ann Busy
        Ann Idle.exit: rejoin set Ann Left
        with Ann change Away
        path Ann => Away
        with Ann change Left; with Ann change Right
        path Ann => Inside/Right

        # a_pass_that_is_asked_for_is_made_and_supported_before_the_asker_goes_on
        // A chain of calls from a match in Buckland's soccer game, in the order of the C++ code. There, a supporting player
        // asks for a pass within its own `Execute`. `Dispatcher::DispatchMsg` calls the passer's `HandleMessage` within the
        // call. The passer kicks and dispatches `Msg_ReceiveBall`, which calls the asker's `HandleMessage` within the asker's
        // own `Execute`. `ChangeState` in there leaves `SupportAttacker` and enters `ReceiveBall` at once. Then the passer
        // looks for support, which sends a message to a third player. Only then do all calls return.
        cast Team in Attacking, Asker in SupportAttacker beside Global, Passer in KickBall beside Global, Third in Wait beside Global
        Asker SupportAttacker.update: rejoin send Passer PassToMe is Handled; note goes on
        Passer Global.PassToMe: note kicks; rejoin send Asker ReceiveBall is Handled; now Wait is done
        Passer Global.PassToMe: rejoin send Team FindSupport is Handled; note has passed
        Asker Global.ReceiveBall: now ReceiveBall is done
        Team Attacking.FindSupport: look; send Third SupportAttacker is Handled
        Third Global.SupportAttacker: now SupportAttacker is done
        update Asker => Asker Global.update; Asker SupportAttacker.update; Passer KickBall.PassToMe; Passer Global.PassToMe
            Passer kicks; Asker SupportAttacker.ReceiveBall; Asker Global.ReceiveBall
            Asker SupportAttacker.exit; Asker ReceiveBall.enter; Asker SupportAttacker -> ReceiveBall (change)
            Passer KickBall.exit; Passer Wait.enter; Passer KickBall -> Wait (change); Team Attacking.FindSupport
            Team in Attacking acts, Asker in ReceiveBall, Passer in Wait, Third in Wait
            Third Wait.SupportAttacker; Third Global.SupportAttacker
            Third Wait.exit; Third SupportAttacker.enter; Third Wait -> SupportAttacker (change)
            Passer has passed; Asker goes on
        update Asker => Asker Global.update; Asker ReceiveBall.update

        # members_that_call_each_other_without_end_come_to_an_end
        // In C++ this overflows the stack. Here, 64 calls are nested, and 64 more for each of 1000 telegrams that were put
        // off.
        cast Ann, Ben
        Ann Idle.pass on: gain 1; rejoin send Ben pass on
        Ben Idle.pass on: gain 1; rejoin send Ann pass on
        send Ann pass on; energy Ann 32032; energy Ben 32032
        warnings => ERROR an exchange of telegrams has no end: telegrams were put off 1000 times in a row, most recently "Ann" to "Ben", "Ben" to "Ann"; the next from "Ben" to "Ann" is dropped

        # the_requests_of_a_callback_that_rejoins_often_are_no_cycle
        cast Ann, Ben
        Ann Idle.update: 20x rejoin send Ben ask; change Away
        Ann Idle.answer: change Busy
        Ann Busy.answer: change Idle
        Ben Idle.ask: send Ann answer is Handled
        update Ann
        look => Ann in Away, Ben in Idle
        "#,
    );
}

#[derive(Default)]
struct Restless;

/// The world is how often the state has been entered.
type Yard = Cast<u8, (), u32>;

impl Owner for Restless {
    type Context<'a> = Yard;
    type Message = Telegram<u8, ()>;
}

/// Is entered again and again.
struct Pace;
impl State<Restless> for Pace {
    fn enter(&self, _: &mut Restless, fsm: &mut Fsm<'_, Restless>, yard: &mut Yard) {
        yard.world += 1;
        fsm.change_state(&Pace);
    }

    /// Rejoins, and is told to change by the cast.
    fn update(&self, restless: &mut Restless, fsm: &mut Fsm<'_, Restless>, yard: &mut Yard) {
        yard.rejoin(&1, restless, fsm, |yard| {
            yard.with(&1, |agent: &mut Agent<Restless>, yard| agent.change_state(&Pace, yard))
        })
        .expect("a callback of this member")
        .expect("it has rejoined");
    }
}

/// Rule 13.
#[test]
fn a_member_keeps_its_limit_while_it_rejoins() {
    let mut yard = Yard::new(0);
    let agent = Agent::new(Restless, StateMachine::new(&Pace).with_limit(10));
    assert!(yard.add(1, agent).is_ok());
    yard.update();
    assert_eq!(yard.world, 10);
    yard.update();
    assert_eq!(yard.world, 20);
}
