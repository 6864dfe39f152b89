//! Regions of states in files (rule 32): a machine in a file does what the same one by hand does, alone and in a batch.

use std::borrow::Cow;

use demeanor::{Fsm, State, StateRef};
use proptest::prelude::*;

use crate::cases::cases;
use crate::guard::{Guard, Told, vocabulary};
use crate::runs::{Played, assert_runs_have, by_hand, go, is_hit, run};
use crate::troop::{WAYS, Way};

const FILE: &str = "
    initial = 'wander'
    [states.wander]
    exits = [{ to = 'combat', when = 'enemy_visible' }, { to = 'shoot', on = 'hit', when = 'enemy_visible' }]
    [states.combat]
    regions = { legs = 'walk', arms = 'ready' }
    history = true
    exits = [
        { to = 'wander', when = 'not enemy_visible and ammo < 2' },
        { to = 'run', when = 'health < 30' },
        { to = 'wander', on = 'alarm' },
    ]
    [states.walk]
    parent = 'combat'
    exits = [{ to = 'run', when = 'health < 60' }, { to = 'shoot', on = 'hit', when = 'ammo > 4' }]
    [states.run]
    parent = 'combat'
    region = 0
    initial = 'jog'
    exits = [{ to = 'walk', when = 'health >= 60' }, { to = 'fall', when = 'health <= 5' }]
    [states.run.states.jog]
    exits = [{ to = 'dash', after = 1 }]
    [states.run.states.dash]
    exits = [{ to = 'jog', after = 0.5 }, { to = 'ready', when = 'ammo >= 5' }]
    [states.fall]
    parent = 'combat'
    region = 'legs'
    final = true
    [states.ready]
    parent = 'combat'
    region = 'arms'
    exits = [{ to = 'shoot', when = 'ammo > 0 and in(walk)' }]
    [states.shoot]
    parent = 'combat'
    region = 'arms'
    regions = ['hold', 'breathe']
    enter_when = 'health > 10'
    exits = [{ to = 'ready', after = 2 }]
    [states.hold]
    parent = 'shoot'
    exits = [{ to = 'loose', after = 0.5 }]
    [states.loose]
    parent = 'shoot'
    region = 'hold'
    exits = [{ to = 'hold', when = 'time_in(breathe) > 1' }]
    [states.breathe]
    parent = 'shoot'
    exits = [{ to = 'gasp', on = 'hit' }]
    [states.gasp]
    parent = 'shoot'
    region = 'breathe'
    exits = [{ to = 'breathe', after = 0.5 }, { to = 'wander', when = 'health < 20' }]
";

/// Where a state lies.
macro_rules! lies {
    (in $parent:ident $region:literal) => {
        fn parent(&self) -> Option<StateRef<Guard>> {
            Some((&$parent).into())
        }
        fn region(&self) -> usize {
            $region
        }
    };
    (around $($initial:ident)*) => {
        fn regions(&self) -> Vec<StateRef<Guard>> {
            vec![$((&$initial).into()),*]
        }
    };
}

by_hand! {
    Wander "wander" {} |guard, fsm, clock| {
        go(fsm, &Combat, guard.enemy_visible);
    }, told => is_hit(told) && go(fsm, &Shoot, guard.enemy_visible && guard.health > 10.0);
    Combat "combat" {
        lies!(around Walk Ready);
        fn keeps_history(&self) -> bool {
            true
        }
    } |guard, fsm, clock| {
        let has_fallen = fsm.is_in_state(&Fall);
        let _ = go(fsm, &Wander, !guard.enemy_visible && guard.ammo < 2.0 && !has_fallen)
            || go(fsm, &Run, guard.health < 30.0 && !fsm.is_in_state(&Run) && !has_fallen);
    }, told => matches!(told, Told::Alarm) && go(fsm, &Wander, !fsm.is_in_state(&Fall));
    Walk "walk" { lies!(in Combat 0); } |guard, fsm, clock| {
        go(fsm, &Run, guard.health < 60.0);
    }, told => is_hit(told) && go(fsm, &Shoot, guard.ammo > 4.0 && !fsm.is_in_state(&Shoot) && guard.health > 10.0);
    Run "run" {
        lies!(in Combat 0);
        fn initial(&self) -> Option<StateRef<Guard>> {
            Some((&Jog).into())
        }
    } |guard, fsm, clock| {
        let _ = go(fsm, &Walk, guard.health >= 60.0) || go(fsm, &Fall, guard.health <= 5.0);
    }, told => false;
    Jog "jog" { lies!(in Run 0); } |guard, fsm, clock| {
        go(fsm, &Dash, fsm.time_in_state(clock) >= 1.0);
    }, told => false;
    Dash "dash" { lies!(in Run 0); } |guard, fsm, clock| {
        let _ = go(fsm, &Jog, fsm.time_in_state(clock) >= 0.5)
            || go(fsm, &Ready, guard.ammo >= 5.0 && !fsm.is_in_state(&Ready));
    }, told => false;
    Fall "fall" { lies!(in Combat 0); } |guard, fsm, clock| (), told => false;
    Ready "ready" { lies!(in Combat 1); } |guard, fsm, clock| {
        go(fsm, &Shoot, guard.ammo > 0.0 && fsm.is_in_state(&Walk) && guard.health > 10.0);
    }, told => false;
    Shoot "shoot" {
        lies!(in Combat 1);
        lies!(around Hold Breathe);
        fn can_enter(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &f64) -> bool {
            guard.health > 10.0
        }
    } |guard, fsm, clock| {
        go(fsm, &Ready, fsm.time_in_state(clock) >= 2.0);
    }, told => false;
    Hold "hold" { lies!(in Shoot 0); } |guard, fsm, clock| {
        go(fsm, &Loose, fsm.time_in_state(clock) >= 0.5);
    }, told => false;
    Loose "loose" { lies!(in Shoot 0); } |guard, fsm, clock| {
        go(fsm, &Hold, fsm.time_in(&Breathe, clock).is_some_and(|time| time > 1.0));
    }, told => false;
    Breathe "breathe" { lies!(in Shoot 1); } |guard, fsm, clock| (), told => go(fsm, &Gasp, is_hit(told));
    Gasp "gasp" { lies!(in Shoot 1); } |guard, fsm, clock| {
        let _ = go(fsm, &Breathe, fsm.time_in_state(clock) >= 0.5)
            || go(fsm, &Wander, guard.health < 20.0 && !fsm.is_in_state(&Fall));
    }, told => false;
}

/// A machine of which no state is written by hand: with turns, drawn times, cooldowns, a choice, actions, and exits that lead back.
const BUSY: &str = "
    initial = 'wander'
    [states.wander]
    exits = [{ to = 'combat', when = 'enemy_visible' }]
    [states.combat]
    regions = { legs = 'walk', arms = 'ready', mind = 'calm' }
    history = true
    exits = [
        { to = 'wander', when = 'not enemy_visible', do = 'shout' },
        { to = 'wander', on = 'alarm', when = 'ammo < 3', even_final = true, do = { lose = 2 } },
        { push = 'talk', on = 'noise', set = { patience = 'patience + 1' } },
        { to = 'run', when = 'health < 30' },
    ]
    [states.walk]
    parent = 'combat'
    every = '0.5 s'
    exits = [{ to = 'run', when = 'health < 60', do = { lose = 1 }, cooldown = '2 s' }]
    [states.run]
    parent = 'combat'
    region = 'legs'
    regions = ['left', 'head up']
    exits = [{ to = 'walk', after = '1 s .. 3 s', set = { brave = true } }, { to = '$previous', on = 'alarm' }]
    [states.left]
    parent = 'run'
    exits = [{ to = 'right', after = '0.25 s .. 0.5 s' }]
    [states.right]
    parent = 'run'
    exits = [{ to = 'left', after = '0.25 s .. 0.5 s' }]
    [states.'head up']
    parent = 'run'
    enter = 'shout'
    exits = [{ pop = true, on = 'hit' }]
    [states.ready]
    parent = 'combat'
    exits = [{ push = 'aim', when = 'ammo > 0', do = 'shout' }]
    [states.aim]
    parent = 'combat'
    region = 'arms'
    exits = [{ pop = true, after = '0.5 s .. 1.5 s', set = { patience = 'patience + 1' } }, { to = 'ready', on = 'hit' }]
    [states.calm]
    parent = 'combat'
    every = '1 s .. 2 s'
    choose = 'random'
    exits = [{ to = 'rage', weight = 1 }, { to = 'dream', weight = 'ammo' }]
    [states.rage]
    parent = 'combat'
    region = 'mind'
    exits = [{ to = 'calm', after = 2 }]
    [states.dream]
    parent = 'combat'
    region = 'mind'
    final = true
    [states.talk]
    exits = [{ pop = true, after = 1 }, { resume = 'combat', on = 'alarm' }]
";

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn a_machine_with_regions_from_a_file_does_what_the_same_one_by_hand_does((guards, events) in run(8)) {
        let expected = Played::by_hand(all_by_hand(), None).play(Way::Alone, &guards, &events);
        for way in WAYS {
            let found = Played::of_file(FILE, &vocabulary()).saved().play(*way, &guards, &events);
            prop_assert_eq!(&found, &expected, "{:?}", way);
        }
    }

    #[test]
    fn owners_with_regions_do_the_same_on_all_hosts_saved_and_reloaded_or_not((guards, events) in run(8)) {
        let expected = Played::of_file(BUSY, &vocabulary()).explained().play(Way::Alone, &guards, &events);
        for way in WAYS {
            let found = Played::of_file(BUSY, &vocabulary()).saved().play(*way, &guards, &events);
            prop_assert_eq!(&found, &expected, "{:?}", way);
        }
    }
}

#[test]
fn the_runs_change_in_every_region() {
    let played = [Played::by_hand(all_by_hand(), None), Played::of_file(BUSY, &vocabulary())];
    assert_runs_have(
        200,
        8,
        &played,
        "
        combat -> talk (push)
        talk -> combat (pop)
        talk -> combat (resume)
        walk -> run in combat (change)
        run -> walk in combat (revert)
        left -> right in run (change)
        ready -> aim in combat (push)
        aim -> ready in combat (pop)
        aim -> ready in combat (change)
        calm -> rage in combat (change)
        rage -> calm in combat (change)
        calm -> dream in combat (change)
        wander -> combat (change)
        combat -> wander (change)
        walk -> jog in combat (change)
        jog -> dash in combat (change)
        dash -> walk in combat (change)
        jog -> fall in combat (change)
        ready -> shoot in combat (change)
        shoot -> ready in combat (change)
        hold -> loose in shoot (change)
        loose -> hold in shoot (change)
        breathe -> gasp in shoot (change)
        gasp -> breathe in shoot (change)
        ",
    );
}
