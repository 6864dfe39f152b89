//! The machine by hand.

use std::borrow::Cow;
use std::sync::LazyLock;

use demeanor::{Fsm, State, StateRef};

use super::acts::{Fire, Go, Heal, Speak};
use crate::guard::{Guard, Told};

static ALIVE: LazyLock<Speak> = LazyLock::new(|| Speak { word: "alive".into() });
static STROLL: LazyLock<Go> = LazyLock::new(|| Go { to: "nowhere".into(), speed: 1.5 });
static BATTLE_CRY: LazyLock<Speak> = LazyLock::new(|| Speak { word: "fight".into() });
static ADVANCE: LazyLock<Go> = LazyLock::new(|| Go { to: "the enemy".into(), speed: 0.5 });
static RETREAT: LazyLock<Go> = LazyLock::new(|| Go { to: "cover".into(), speed: 3.0 });

pub(crate) struct Always;
pub(crate) struct Wander;
pub(crate) struct Fight;
pub(crate) struct Aim;
pub(crate) struct Shoot;
pub(crate) struct Reload;
pub(crate) struct RunToCover;
pub(crate) struct Rest;
pub(crate) struct Dead;

/// A state's name, and the enter and exit of what it does.
macro_rules! is {
    ($name:literal) => {
        fn name(&self) -> Cow<'_, str> {
            $name.into()
        }
    };
    ($name:literal, $does:expr) => {
        is!($name);

        fn enter(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) {
            $does.enter(guard, fsm, clock);
        }

        fn exit(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) {
            $does.exit(guard, fsm, clock);
        }
    };
}

impl State<Guard> for Always {
    is!("always", ALIVE);

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) {
        ALIVE.update(guard, fsm, clock);
        if guard.health <= 0.0 && !fsm.is_in_state(&Dead) {
            fsm.change_state(&Dead);
        }
    }

    fn on_message(&self, guard: &mut Guard, told: &Told, fsm: &mut Fsm<'_, Guard>, _: &mut f64) -> bool {
        let flees =
            matches!(told, Told::Alarm) && !(guard.enemy_visible || guard.ammo > 3.0) && !fsm.is_in_state(&RunToCover);
        if flees {
            fsm.change_state(&RunToCover);
        }
        flees
    }
}

impl State<Guard> for Wander {
    is!("wander", STROLL);

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) {
        STROLL.update(guard, fsm, clock);
        if guard.enemy_visible && guard.health > 20.0 && Fight.can_enter(guard, fsm, clock) {
            fsm.change_state(&Fight);
        } else if fsm.time_in_state(clock) >= 1.0 && !guard.enemy_visible && guard.chance(0.4) {
            fsm.change_state(&Rest);
        }
    }

    fn on_message(&self, guard: &mut Guard, told: &Told, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) -> bool {
        let is_handled = STROLL.on_message(guard, told, fsm, clock);
        if matches!(told, Told::Hit { .. }) && guard.enemy_visible && Fight.can_enter(guard, fsm, clock) {
            fsm.change_state(&Shoot);
            return true;
        }
        is_handled
    }
}

impl State<Guard> for Fight {
    is!("fight", BATTLE_CRY);

    fn initial(&self) -> Option<StateRef<Guard>> {
        Some((&Aim).into())
    }

    fn keeps_history(&self) -> bool {
        true
    }

    fn can_enter(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &f64) -> bool {
        guard.ammo != 0.0 || guard.health > 80.0
    }

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) {
        BATTLE_CRY.update(guard, fsm, clock);
        if !guard.enemy_visible {
            fsm.change_state(&Wander);
        }
    }

    fn on_message(&self, guard: &mut Guard, told: &Told, fsm: &mut Fsm<'_, Guard>, _: &mut f64) -> bool {
        let flees = matches!(told, Told::Hit { .. }) && guard.health < 50.0;
        if flees {
            fsm.change_state(&RunToCover);
        }
        flees
    }
}

impl State<Guard> for Aim {
    is!("aim", ADVANCE);

    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Fight).into())
    }

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) {
        ADVANCE.update(guard, fsm, clock);
        if fsm.time_in_state(clock) > 0.5 || guard.chance(0.25) {
            fsm.change_state(&Shoot);
        }
    }

    fn on_message(&self, guard: &mut Guard, told: &Told, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) -> bool {
        ADVANCE.on_message(guard, told, fsm, clock)
    }
}

impl State<Guard> for Shoot {
    is!("shoot");

    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Fight).into())
    }

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) {
        let reverts = guard.health < 5.0 && fsm.previous().is_some();
        Fire.update(guard, fsm, clock);
        if guard.ammo == 0.0 && Reload.can_enter(guard, fsm, clock) {
            if !reverts {
                fsm.change_state(&Reload);
            }
        } else if guard.chance(0.5) && !guard.chance(0.1) {
            if !reverts {
                fsm.change_state(&Aim);
            }
        } else if guard.health > guard.ammo
            && fsm.time_in_state(clock) > 2.0
            && Fight.can_enter(guard, fsm, clock)
            && !reverts
        {
            fsm.change_state(&Fight);
        }
    }

    fn on_message(&self, guard: &mut Guard, told: &Told, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) -> bool {
        Fire.on_message(guard, told, fsm, clock)
    }
}

impl State<Guard> for Reload {
    is!("reload");

    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Fight).into())
    }

    fn can_enter(&self, guard: &Guard, _: &Fsm<'_, Guard>, _: &f64) -> bool {
        guard.health > 10.0
    }

    fn update(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) {
        if fsm.time_in_state(clock) > 2.0 {
            fsm.change_state(&Shoot);
        }
    }
}

impl State<Guard> for RunToCover {
    is!("run to cover", RETREAT);

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) {
        RETREAT.update(guard, fsm, clock);
        let time = fsm.time_in_state(clock);
        if guard.health < 30.0 && !guard.enemy_visible {
            fsm.change_state(&Rest);
        } else if time >= 1.0 && Fight.can_enter(guard, fsm, clock) {
            fsm.change_state(&Fight);
        } else if time > 1.5 {
            fsm.change_state(&Wander);
        }
    }

    fn on_message(&self, guard: &mut Guard, told: &Told, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) -> bool {
        RETREAT.on_message(guard, told, fsm, clock)
    }
}

impl State<Guard> for Rest {
    is!("rest");

    fn update(&self, guard: &mut Guard, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) {
        Heal.update(guard, fsm, clock);
        if guard.health >= 60.0 || guard.enemy_visible {
            fsm.change_state(&Wander);
        }
    }

    fn on_message(&self, guard: &mut Guard, told: &Told, fsm: &mut Fsm<'_, Guard>, clock: &mut f64) -> bool {
        Heal.on_message(guard, told, fsm, clock)
    }
}

impl State<Guard> for Dead {
    is!("dead");
}
