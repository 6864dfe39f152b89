//! The machine by hand.

use std::borrow::Cow;
use std::sync::LazyLock;

use demeanor::{Fsm, State, StateRef};

use super::acts::{Fire, Go, Heal, Speak};
use crate::guard::{Guard, Told};
use crate::runs::{by_hand, go, is_hit};

static ALIVE: LazyLock<Speak> = LazyLock::new(|| Speak { word: "alive".into() });
static STROLL: LazyLock<Go> = LazyLock::new(|| Go { to: "nowhere".into(), speed: 1.5 });
static BATTLE_CRY: LazyLock<Speak> = LazyLock::new(|| Speak { word: "fight".into() });
static ADVANCE: LazyLock<Go> = LazyLock::new(|| Go { to: "the enemy".into(), speed: 0.5 });
static RETREAT: LazyLock<Go> = LazyLock::new(|| Go { to: "cover".into(), speed: 3.0 });

/// What a state does when it is entered and exited.
macro_rules! does {
    ($does:expr) => {
        fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) {
            $does.enter(guard, fsm, clock);
        }

        fn exit(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) {
            $does.exit(guard, fsm, clock);
        }
    };
}

macro_rules! in_fight {
    () => {
        fn parent(&self) -> Option<StateRef<Guard>> {
            Some((&Fight).into())
        }
    };
}

by_hand! {
    Wander "wander" { does!(STROLL); } |guard, fsm, clock| {
        STROLL.update(guard, fsm, clock);
        if guard.enemy_visible && guard.health > 20.0 && Fight.can_enter(guard, fsm, clock) {
            fsm.change_state(&Fight);
        } else if fsm.time_in_state(clock) >= 1.0 && !guard.enemy_visible && guard.chance(0.4) {
            fsm.change_state(&Rest);
        }
    }, told => {
        STROLL.on_message(guard, told, fsm, clock)
            || go(fsm, &Shoot, is_hit(told) && guard.enemy_visible && Fight.can_enter(guard, fsm, clock))
    };
    Fight "fight" {
        does!(BATTLE_CRY);
        fn initial(&self) -> Option<StateRef<Guard>> {
            Some((&Aim).into())
        }
        fn keeps_history(&self) -> bool {
            true
        }
        fn can_enter(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &f64) -> bool {
            guard.ammo != 0.0 || guard.health > 80.0
        }
    } |guard, fsm, clock| {
        BATTLE_CRY.update(guard, fsm, clock);
        go(fsm, &Wander, !guard.enemy_visible);
    }, told => go(fsm, &RunToCover, is_hit(told) && guard.health < 50.0);
    Aim "aim" { does!(ADVANCE); in_fight!(); } |guard, fsm, clock| {
        ADVANCE.update(guard, fsm, clock);
        if fsm.time_in_state(clock) > 0.5 || guard.chance(0.25) {
            fsm.change_state(&Shoot);
        }
    }, told => ADVANCE.on_message(guard, told, fsm, clock);
    Shoot "shoot" { in_fight!(); } |guard, fsm, clock| {
        let reverts = guard.health < 5.0 && fsm.previous().is_some();
        Fire.update(guard, fsm, clock);
        if guard.ammo == 0.0 && Reload.can_enter(guard, fsm, clock) {
            go(fsm, &Reload, !reverts);
        } else if guard.chance(0.5) && !guard.chance(0.1) {
            go(fsm, &Aim, !reverts);
        } else if guard.health > guard.ammo && fsm.time_in_state(clock) > 2.0 && Fight.can_enter(guard, fsm, clock) {
            go(fsm, &Fight, !reverts);
        }
    }, told => Fire.on_message(guard, told, fsm, clock);
    Reload "reload" {
        in_fight!();
        fn can_enter(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &f64) -> bool {
            guard.health > 10.0
        }
    } |guard, fsm, clock| {
        go(fsm, &Shoot, fsm.time_in_state(clock) > 2.0);
    }, told => false;
    RunToCover "run to cover" { does!(RETREAT); } |guard, fsm, clock| {
        RETREAT.update(guard, fsm, clock);
        let time = fsm.time_in_state(clock);
        let _ = go(fsm, &Rest, guard.health < 30.0 && !guard.enemy_visible)
            || go(fsm, &Fight, time >= 1.0 && Fight.can_enter(guard, fsm, clock))
            || go(fsm, &Wander, time > 1.5);
    }, told => RETREAT.on_message(guard, told, fsm, clock);
    Rest "rest" {} |guard, fsm, clock| {
        Heal.update(guard, fsm, clock);
        go(fsm, &Wander, guard.health >= 60.0 || guard.enemy_visible);
    }, told => Heal.on_message(guard, told, fsm, clock);
    Dead "dead" {} |guard, fsm, clock| (), told => false;
    // The global state is the last one.
    Always "always" { does!(ALIVE); } |guard, fsm, clock| {
        ALIVE.update(guard, fsm, clock);
        go(fsm, &Dead, guard.health <= 0.0 && !fsm.is_in_state(&Dead));
    }, told => {
        let is_helpless = !(guard.enemy_visible || guard.ammo > 3.0);
        go(fsm, &RunToCover, matches!(told, Told::Alarm) && is_helpless && !fsm.is_in_state(&RunToCover))
    };
}
