//! The chapter "Requests": how many changes one callback may lead to, rule 13.

#[cfg(feature = "std")]
use crate::captured_log::log_lines;
use crate::play::{EVERYWHERE, play};
#[cfg(feature = "std")]
use crate::trace::places::{A, B, C, HALL, KITCHEN, STEP};
#[cfg(feature = "std")]
use crate::trace::{Actor, Place, Stage};
#[cfg(feature = "std")]
use demeanor::{Batch, Fsm, Owner, State, StateMachine, StateRef};
#[cfg(feature = "std")]
use std::thread;

#[test]
fn cycles_of_changes() {
    play(
        EVERYWHERE,
        r"
        # a_cycle_ends_after_exactly_as_many_changes_as_the_limit (rules 13 and 23)
        // C -> A, then 63 more changes. The machine stays in the last target. C is not part of the cycle.
        in C
        limit 64
        C.update: change A
        A.enter: change B
        B.enter: change A
        update => C.update; C.exit; C -> A (change); A.enter
            31x A.exit, A -> B (change), B.enter, B.exit, B -> A (change), A.enter; A.exit; A -> B (change); B.enter
        view => B, was A
        warnings =>
            ERROR demeanor: Elsa: change to A dropped in state B: one callback has led to 64 changes and messages to itself, most recently: change to A, change to B

        # as_many_changes_for_one_callback_as_the_limit_are_no_cycle (rule 13)
        in A
        limit 64
        A.update: 64x change B
        update => A.update; A.exit; A -> B (change); B.enter; 63x B.exit, B -> B (change), B.enter
        warnings =>

        # the_first_change_beyond_the_limit_and_all_behind_it_are_dropped (rule 13)
        in A
        limit 64
        A.update: 64x change B; change C; change D
        update => A.update; A.exit; A -> B (change); B.enter; 63x B.exit, B -> B (change), B.enter
        view => B, was B
        warnings =>
            ERROR demeanor: Elsa: change to C dropped in state B: one callback has led to 64 changes and messages to itself, most recently: change to B
        update => B.update

        # a_cycle_of_changes_now_ends_and_unwinds (rule 13)
        in A
        limit 64
        A.update: now B is refused
        A.enter: now B
        B.enter: now A
        update => A.update; 32x A.exit, A -> B (change), B.enter, B.exit, B -> A (change), A.enter
            A -> B (change), abandoned in B; 31x B -> A (change), abandoned in A, A -> B (change), abandoned in B
        view => A, was B
        warnings =>
            ERROR demeanor: Elsa: change to B dropped in state A: one callback has led to 64 changes and messages to itself, most recently: change to B, change to A

        # calls_within_callbacks_are_nested_at_most_three_hundred_and_twenty_deep (rule 13)
        in A
        A.update: now B is refused
        A.enter: now B
        B.enter: now A
        update => A.update; 160x A.exit, A -> B (change), B.enter, B.exit, B -> A (change), A.enter
            A -> B (change), abandoned in B; 159x B -> A (change), abandoned in A, A -> B (change), abandoned in B
        view => A, was B
        warnings =>
            ERROR demeanor: Elsa: change to B dropped in state A: one callback has led to 320 changes and messages to itself, 320 calls deep, most recently: change to B, change to A
        in A; handling A
        A.hit: hear hit
        with hear hit => 320x A.hit
        warnings =>
            ERROR demeanor: Elsa: message to oneself dropped in state A: one callback has led to 320 changes and messages to itself, 320 calls deep, most recently: message in state A

        # after_the_error_of_a_cycle_the_callback_leads_to_nothing_more_and_no_second_error (rule 13)
        // Each handler would ask twice, so that there would be more calls than stars in the sky.
        in A; handling A
        A.hit: hear hit; hear hit; change B; send hit
        with hear hit; change C => 320x A.hit
        warnings =>
            ERROR demeanor: Elsa: message to oneself dropped in state A: one callback has led to 320 changes and messages to itself, 320 calls deep, most recently: message in state A
        A.update: change B
        update => A.update; A.exit; A -> B (change); B.enter

        # a_hundred_orders_that_end_at_once_come_to_their_end_within_one_call (rules 13 and 24)
        // As in 0 A.D.: an order is a message; its handler changes state; the state finds nothing to do, and sends the next order.
        in A; handling A; handling House
        A.hit: change Kitchen
        Kitchen.enter, 99x: hear order
        House.order: change Hall
        Hall.enter, 99x: now Kitchen
        send hit => A.hit; A.exit; A -> Kitchen (change); House.enter; Kitchen.enter
            99x Kitchen.order, House.order, Kitchen.exit, Kitchen -> Hall (change), Hall.enter, Hall.exit, Hall -> Kitchen (change), Kitchen.enter
            98x Kitchen -> Hall (change), abandoned in Hall, Hall -> Kitchen (change), abandoned in Kitchen
            Kitchen -> Hall (change), abandoned in Hall; A -> Kitchen (change), abandoned in Kitchen; handled
        warnings =>
        in A; handling A; handling B; handling C
        A.hit, 1x: now B
        B.enter, 100x: hear hit is done
        B.hit: now C is refused
        C.enter: now B
        send hit => A.hit; A.exit; A -> B (change); B.enter
            100x B.hit, B.exit, B -> C (change), C.enter, C.exit, C -> B (change), B.enter
            99x B -> C (change), abandoned in C, C -> B (change), abandoned in B
            B -> C (change), abandoned in C; A -> B (change), abandoned in B; handled
        warnings =>

        # a_thousand_orders_that_wait_in_line_come_to_their_end (rules 13 and 24)
        in A; handling A
        A.enter, 1000x: send hit
        A.hit: change B
        B.enter: change A
        change B => A.exit; A -> B (change); B.enter; B.exit; B -> A (change); A.enter
            1000x A.hit, A.exit, A -> B (change), B.enter, B.exit, B -> A (change), A.enter
            done
        warnings =>

        # messages_that_wait_in_line_take_nothing_of_the_stack (rules 13, 14 and 24)
        // The requests of a state that declines a message are carried out before the message is offered to the parent.
        in Kitchen; handling House
        with 3000x send order => 3000x Kitchen.order, House.order
        in Kitchen; handling House
        Kitchen.order, 3000x: send order
        with send order => 3001x Kitchen.order; 3001x House.order
        in Kitchen
        House.order, 3000x: send order
        with send order => 3001x Kitchen.order, House.order
        in Kitchen; handling Kitchen
        Kitchen.order, 3000x: send order
        with send order => 3001x Kitchen.order
        warnings =>

        # a_cycle_ends_after_four_thousand_changes_unless_the_limit_is_set (rule 13)
        in A
        A.enter: change B
        B.enter: change A
        change A => A.exit; A -> A (change); A.enter; 1999x A.exit, A -> B (change), B.enter, B.exit, B -> A (change), A.enter; A.exit; A -> B (change); B.enter; done
        warnings =>
            ERROR demeanor: Elsa: change to A dropped in state B: one callback has led to 4000 changes and messages to itself, most recently: change to A, change to B

        # a_clone_has_the_limit (rule 13)
        in A; handling A
        limit 5
        clone
        A.hit: send hit
        with send hit => 5x A.hit
        warnings =>
            ERROR demeanor: Elsa: message to oneself dropped in state A: one callback has led to 5 changes and messages to itself, most recently: message in state A

        # a_limit_of_zero_counts_as_one (rule 13)
        in A
        limit 0
        A.update: 2x change B
        update => A.update; A.exit; A -> B (change); B.enter
        warnings =>
            ERROR demeanor: Elsa: change to B dropped in state B: one callback has led to 1 changes and messages to itself, most recently: change to B

        # refused_requests_are_not_counted (rule 13)
        in A; refusing B.can_enter
        limit 64
        A.update: 100x change B; 100x pop; change C
        update
        view => C, was A

        # each_callback_of_a_tick_has_a_count_of_its_own (rule 13)
        in Kitchen
        limit 64
        House.update: 64x change Hall
        Hall.update: 64x change Hall
        update => House.update; Kitchen.exit; Kitchen -> Hall (change); Hall.enter; 63x Hall.exit, Hall -> Hall (change), Hall.enter
            Hall.update; 64x Hall.exit, Hall -> Hall (change), Hall.enter

        # a_machine_goes_on_after_a_cycle (rule 13)
        in A
        limit 64
        A.update: change A
        A.enter, 70x: change A
        update => A.update; 64x A.exit, A -> A (change), A.enter
        update => A.update; 7x A.exit, A -> A (change), A.enter
        change B => A.exit; A -> B (change); B.enter; done
        ",
    );
}

/// Rule 13.
#[cfg(feature = "std")]
#[test]
fn a_machine_has_the_limit_of_the_batch_that_it_joins() {
    let restless = || Stage::new(&A).when("A.enter", |_, fsm, _| fsm.change_state(&A));
    let entered = |stage: &mut Actor| stage.take_trace().iter().filter(|line| *line == "A.enter").count();
    let Stage { actor, machine, mut time } = restless();
    let mut batch = Batch::new().with_limit(20);
    let key = batch.insert_machine(actor, machine.with_limit(10)).expect("no global");
    batch.change_state(key, &A, &mut time);
    assert_eq!(entered(&mut batch[key]), 20);
    batch.clone().change_state(key, &A, &mut time);
    let (mut actor, mut machine) = batch.remove(key).expect("it is there");
    actor.take_trace();
    machine.change_state(&mut actor, &A, &mut time);
    assert_eq!(entered(&mut actor), 20);
}

/// Rule 13. On Windows, the stack of the main thread has one mebibyte.
#[cfg(feature = "std")]
#[test]
fn the_deepest_calls_within_callbacks_fit_on_a_stack_of_a_mebibyte() {
    type Entry = (&'static Place, &'static str);
    let entered = |[first, second]: [Entry; 2]| {
        let mut stage = Stage::new(&C);
        for ((_, enter), (next, _)) in [(first, second), (second, first)] {
            stage = stage.when(enter, move |actor, fsm, time| _ = fsm.change_state_now(actor, next, time));
        }
        stage.machine.change_state(&mut stage.actor, first.0, &mut stage.time);
        stage.actor.take_trace().iter().filter(|line| *line == first.1 || *line == second.1).count()
    };
    let flat = [(&A, "A.enter"), (&B, "B.enter")];
    let siblings = [(&HALL, "Hall.enter"), (&KITCHEN, "Kitchen.enter")];
    let deep = [(&A, "A.enter"), (&STEP, "Step.enter")];
    let deepest = thread::Builder::new().stack_size(1 << 20).spawn(move || [flat, siblings, deep].map(entered));
    assert_eq!(deepest.expect("a thread starts").join().expect("no panic"), [321; 3]);
}

/// Counts how often its states have been entered.
#[cfg(feature = "std")]
struct Climber(u32);

#[cfg(feature = "std")]
impl Owner for Climber {
    type Context<'a> = ();
    type Message = ();
}

/// A state of a climber. Its `enter` changes to `other` within the call, if there is one.
#[cfg(feature = "std")]
struct Hold {
    around: Option<&'static Hold>,
    inside: Option<&'static Hold>,
    other: Option<&'static Hold>,
}

#[cfg(feature = "std")]
impl State<Climber> for Hold {
    fn parent(&self) -> Option<StateRef<Climber>> {
        self.around.map(StateRef::from)
    }

    fn regions(&self) -> Vec<StateRef<Climber>> {
        self.inside.into_iter().map(StateRef::from).collect()
    }

    fn enter(&self, climber: &mut Climber, fsm: &mut Fsm<'_, Climber>, (): &mut ()) {
        if let Some(other) = self.other {
            climber.0 += 1;
            fsm.change_state_now(climber, other, &mut ());
        }
    }
}

/// Rule 13. If each call counted as one, the stack would overflow.
#[cfg(feature = "std")]
#[test]
fn a_call_of_a_state_in_a_region_counts_as_one_more_for_each_region_around_it() {
    static LEFT: Hold = Hold { around: None, inside: Some(&LEFT_ARM), other: None };
    static LEFT_ARM: Hold = Hold { around: Some(&LEFT), inside: None, other: Some(&RIGHT) };
    static RIGHT: Hold = Hold { around: None, inside: Some(&RIGHT_ARM), other: None };
    static RIGHT_ARM: Hold = Hold { around: Some(&RIGHT), inside: None, other: Some(&LEFT) };
    static UPPER: Hold = Hold { around: None, inside: Some(&UPPER_ARM), other: None };
    static UPPER_ARM: Hold = Hold { around: Some(&UPPER), inside: Some(&UPPER_HAND), other: None };
    static UPPER_HAND: Hold = Hold { around: Some(&UPPER_ARM), inside: None, other: Some(&LOWER) };
    static LOWER: Hold = Hold { around: None, inside: Some(&LOWER_ARM), other: None };
    static LOWER_ARM: Hold = Hold { around: Some(&LOWER), inside: Some(&LOWER_HAND), other: None };
    static LOWER_HAND: Hold = Hold { around: Some(&LOWER_ARM), inside: None, other: Some(&UPPER) };
    let climb = |start: &'static Hold| {
        let (mut climber, mut machine) = (Climber(0), StateMachine::new(start));
        let lines = log_lines(|| machine.start(&mut climber, &mut ()));
        let error = lines.into_iter().find(|line| line.starts_with("ERROR")).expect("a cycle");
        let (_, error) = error.split_once("one callback has led to ").expect("the number of changes");
        (climber.0, error.split_once(", most").expect("the last changes").0.to_owned())
    };
    let climbed = thread::Builder::new().stack_size(2 << 20).spawn(move || [&LEFT, &UPPER].map(climb));
    let depth = "nested as deep as calls in regions can be";
    let told = |changes| format!("{changes} changes and messages to itself, {depth}");
    assert_eq!(climbed.expect("a thread starts").join().expect("no panic"), [(161, told(160)), (107, told(106))]);
}
