//! The chapter "Update": rule 4.

use crate::play::{EVERYWHERE, play};
use crate::trace::{Actor, Stage};
use demeanor::{Fsm, GameTime, State};

/// Rule 4.
#[test]
fn the_order_of_a_tick() {
    play(
        EVERYWHERE,
        r"
        # a_tick_updates_the_global_then_the_path_from_the_outermost
        in Stove; global Always
        update => Always.update; House.update; Kitchen.update; Stove.update
        update => Always.update; House.update; Kitchen.update; Stove.update

        # a_state_entered_by_the_global_is_updated_in_the_same_tick
        in A; global Always
        Always.update, 1x: change B
        update => Always.update; A.exit; A -> B (change); B.enter; B.update
        update => Always.update; B.update

        # a_whole_path_entered_by_the_global_is_updated_in_the_same_tick
        in A; global Always
        Always.update: change Kitchen
        update => Always.update; A.exit; A -> Kitchen (change); House.enter; Kitchen.enter; House.update; Kitchen.update

        # a_state_entered_by_its_predecessor_is_first_updated_in_the_next_tick
        in A
        A.update: change B
        update => A.update; A.exit; A -> B (change); B.enter
        update => B.update

        # a_path_entered_by_its_predecessor_is_first_updated_in_the_next_tick
        in A
        A.update: change Stove
        update => A.update; A.exit; A -> Stove (change); House.enter; Kitchen.enter; Stove.enter
        update => House.update; Kitchen.update; Stove.update

        # a_child_asked_for_by_the_innermost_state_is_first_updated_in_the_next_tick
        in Kitchen
        Kitchen.update, 1x: change Stove
        update => House.update; Kitchen.update; Kitchen -> Stove (change); Stove.enter
        update => House.update; Kitchen.update; Stove.update

        # a_state_entered_by_its_ancestor_is_updated_in_the_same_tick
        in Stove
        Kitchen.update: change Table
        update => House.update; Kitchen.update; Stove.exit; Stove -> Table (change); Table.enter; Table.update

        # an_ancestor_that_leads_deeper_has_all_that_it_entered_updated
        in Kitchen
        House.update: change Step
        update => House.update; Kitchen.exit; Kitchen -> Step (change); Hall.enter; Stairs.enter; Step.enter
            Hall.update; Stairs.update; Step.update

        # each_depth_runs_once_a_tick_so_an_ancestor_that_leaves_ends_it
        in Stove
        House.update: change A
        update => House.update; Stove.exit; Kitchen.exit; House.exit; Stove -> A (change); A.enter

        # each_depth_runs_on_the_path_as_it_is_by_then
        in Stove
        Kitchen.update: change Step
        update => House.update; Kitchen.update
            Stove.exit; Kitchen.exit; Stove -> Step (change); Hall.enter; Stairs.enter; Step.enter
            Stairs.update; Step.update

        # the_tick_ends_with_the_state_that_was_innermost_when_its_update_began
        in Kitchen
        Kitchen.update: now Step; note rest of Kitchen.update
        update => House.update; Kitchen.update
            Kitchen.exit; Kitchen -> Step (change); Hall.enter; Stairs.enter; Step.enter; rest of Kitchen.update

        # requests_are_carried_out_before_the_next_callback
        in Stove; global Always
        Always.update: change Table
        House.update: change Hall
        Hall.update: change C
        update => Always.update; Stove.exit; Stove -> Table (change); Table.enter
            House.update; Table.exit; Kitchen.exit; Table -> Hall (change); Hall.enter
            Hall.update; Hall.exit; House.exit; Hall -> C (change); C.enter

        # a_passive_state_is_not_updated
        in Statue
        Statue.update: change A
        start => Statue.enter
        update =>
        send hit => Statue.hit; not handled
        change A => Statue.exit; Statue -> A (change); A.enter; done
        update => A.update

        # a_passive_global_is_not_updated_and_hears_messages
        in Stove; global Statue
        update => House.update; Kitchen.update; Stove.update
        send hit => Stove.hit; Kitchen.hit; House.hit; Statue.hit; not handled

        # passive_states_on_a_path_are_passed_over
        in Bench
        Shed.update: change Table
        update => Shed.update; Bench.exit; Shed.exit; Yard.exit; Bench -> Table (change)
            House.enter; Kitchen.enter; Table.enter; Table.update

        # a_state_pushed_by_the_global_is_updated_and_the_suspended_one_is_not
        in A; global Always
        Always.update, 1x: push B
        update => Always.update; A.suspend; A -> B (push); B.enter; B.update
        update => Always.update; B.update
        ",
    );
}

/// Rule 4.
#[test]
fn a_passive_state_that_is_owned_or_shared_is_not_updated_either() {
    #[derive(Clone)]
    struct Frozen(&'static str);
    impl State<Actor> for Frozen {
        fn update(&self, actor: &mut Actor, _: &mut Fsm<'_, Actor>, _: &mut GameTime) {
            actor.note(self.0);
        }

        fn is_passive(&self) -> bool {
            true
        }
    }
    assert_eq!(Stage::new(Box::new(Frozen("owned"))).update(), "");
    assert_eq!(Stage::new(std::sync::Arc::new(Frozen("shared"))).update(), "");
}
