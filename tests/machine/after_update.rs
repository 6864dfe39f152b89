//! The chapter "After the update": rule 35.

use crate::play::{EVERYWHERE, play};

#[test]
fn the_end_of_a_tick() {
    play(
        EVERYWHERE,
        r"
        # after_update_ends_a_tick_once_whatever_was_updated (rule 35)
        in Stove; end; global Always
        update => Always.update; House.update; Kitchen.update; Stove.update; end in House/Kitchen/Stove
        update => Always.update; House.update; Kitchen.update; Stove.update; end in House/Kitchen/Stove

        # after_update_sees_the_machine_as_the_tick_leaves_it (rule 35)
        in A; end; completion
        A.update: change B
        update => A.update; A.exit; A -> B (change); B.enter; complete: A -> B (change); end in B, was A
        update => B.update; end in B, was A

        # after_update_follows_all_requests_of_the_tick (rule 35)
        in A; end; handling A
        A.update: send hit; after 0 change C
        A.hit: change B
        B.enter: change Stove
        update => A.update; A.hit; A.exit; A -> B (change); B.enter; B.exit; B -> Stove (change); House.enter; Kitchen.enter
            Stove.enter; end in House/Kitchen/Stove, was B

        # after_update_follows_a_change_within_the_call (rule 35)
        in A; end
        A.update: now B is done; note rest of A.update
        update => A.update; A.exit; A -> B (change); B.enter; rest of A.update; end in B, was A

        # after_update_is_called_after_a_refused_change (rules 8 and 35)
        in A; end; refusing B.can_enter
        A.update: change B
        update => A.update; A -> B (change), refused by B.can_enter; end in A

        # after_update_is_called_after_requests_were_withdrawn (rules 35 and 37)
        in A; end
        A.update: change B; clear
        update => A.update; end in A

        # after_update_follows_what_was_due (rules 25 and 35)
        in A; end
        A.enter: after 1 change B
        start => A.enter
        update => A.update; end in A
        advance 2
        update => A.exit; A -> B (change); B.enter; B.update; end in B, was A

        # after_update_is_called_if_an_ancestor_ends_the_tick (rules 4 and 35)
        in Stove; end
        House.update: change A
        update => House.update; Stove.exit; Kitchen.exit; House.exit; Stove -> A (change); A.enter; end in A, was Stove

        # after_update_is_not_called_for_calls_from_outside (rule 35)
        in A; end; handling A
        start => A.enter
        send hit => A.hit; handled
        change B => A.exit; A -> B (change); B.enter; done
        push C => B.suspend; B -> C (push); C.enter; done
        pop => C.exit; C -> B (pop); B.resume; done
        with change A => B.exit; B -> A (change); A.enter
        stop => A.exit
        update =>

        # after_update_is_not_called_where_nothing_is_updated (rules 4 and 35)
        in Statue; end
        update =>
        change A => Statue.exit; Statue -> A (change); A.enter; done

        # after_update_is_not_called_in_a_tick_that_only_leads_into_a_passive_state (rules 25 and 35)
        in A; end
        after 1 change Statue => done
        update => A.update; end in A
        advance 2
        update => A.exit; A -> Statue (change); Statue.enter
        update =>

        # after_update_is_called_in_the_tick_in_which_a_state_falls_asleep_and_then_not (rules 26 and 35)
        in A; end
        A.update: sleep 2
        update => A.update; end in A
        update =>
        advance 1
        2x update =>
        advance 2
        update => A.update; end in A

        # after_update_is_called_for_a_sleeper_whose_global_was_updated (rules 26 and 35)
        in A; end; global Always
        A.update: sleep
        update => Always.update; A.update; end in A
        2x update => Always.update; end in A; Always.update; end in A

        # after_update_is_called_for_a_machine_with_no_state_whose_global_was_updated (rule 35)
        in A; end; global Always
        stop => A.exit
        update => Always.update; end in nowhere, was A

        # a_panic_in_an_update_leaves_no_after_update (rules 22 and 35)
        in A; end; panicking A.update
        panicking update => A.update
        update => A.update; end in A

        # a_panic_in_after_update_leaves_the_machine_as_the_tick_has_left_it (rules 22 and 35)
        in A; end; panicking after_update
        A.update: change B
        panicking update => A.update; A.exit; A -> B (change); B.enter; end in B, was A
        view => B, was A
        update => B.update; end in B, was A
        ",
    );
}

/// A state from a file that can only leave after some time has nothing to do until then, and a machine skips its ticks. Its owner
/// is told of the end of each tick nevertheless.
#[cfg(feature = "definition")]
#[test]
fn after_update_is_called_for_a_state_from_a_file_that_has_nothing_to_do() -> Result<(), demeanor::definition::Problems>
{
    use demeanor::definition::{Definition, Vocabulary};
    use demeanor::{Batch, Fsm, Owner};

    #[derive(Clone, Default)]
    struct Door(Vec<String>);

    impl Owner for Door {
        type Context<'a> = f64;
        type Message = ();

        fn now(seconds: &f64) -> f64 {
            *seconds
        }

        fn after_update(&mut self, fsm: &Fsm<'_, Self>, seconds: &mut f64) {
            let state = fsm.current().map(ToString::to_string).unwrap_or_default();
            self.0.push(format!("{state} at {seconds} for {}", fsm.time_in_state(seconds)));
        }
    }

    let file = r#"
        initial = "open"
        [states.open]
        exits = [{ to = "closed", when = "time_in_state >= 3" }]
        [states.closed]
        exits = [{ to = "open", when = "time_in_state >= 100" }]
    "#;
    let definition = Definition::parse(file, &Vocabulary::<Door>::new())?;
    let (mut door, mut machine) = (Door::default(), definition.machine());
    let mut batch = Batch::new();
    let keys: Vec<_> =
        (0..3).map(|_| batch.insert_machine(door.clone(), machine.clone()).expect("the same global")).collect();
    machine.start(&mut door, &mut 0.0);
    for &key in &keys {
        batch.start(key, &mut 0.0);
    }
    for mut seconds in [1.0, 2.0, 3.0, 4.0, 5.0] {
        machine.update(&mut door, &mut seconds);
        batch.update(&mut seconds);
    }
    let expected =
        ["open at 1 for 1", "open at 2 for 2", "closed at 3 for 0", "closed at 4 for 1", "closed at 5 for 2"];
    assert_eq!(door.0, expected);
    for key in keys {
        assert_eq!(batch[key].0, expected);
    }
    Ok(())
}
