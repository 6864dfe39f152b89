//! The machine by hand.

use std::borrow::Cow;
use std::sync::LazyLock;

use demeanor::{Fsm, State, StateRef};

use super::grunt::{Fire, Go, Grunt, Heal, Speak, Told};

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

        fn enter(&self, grunt: &mut Grunt, fsm: &mut Fsm<'_, Grunt>, clock: &mut f64) {
            $does.enter(grunt, fsm, clock);
        }

        fn exit(&self, grunt: &mut Grunt, fsm: &mut Fsm<'_, Grunt>, clock: &mut f64) {
            $does.exit(grunt, fsm, clock);
        }
    };
}

impl State<Grunt> for Always {
    is!("always", ALIVE);

    fn update(&self, grunt: &mut Grunt, fsm: &mut Fsm<'_, Grunt>, clock: &mut f64) {
        ALIVE.update(grunt, fsm, clock);
        if grunt.health <= 0.0 && !fsm.is_in_state(&Dead) {
            fsm.change_state(&Dead);
        }
    }

    fn on_message(&self, grunt: &mut Grunt, told: &Told, fsm: &mut Fsm<'_, Grunt>, _: &mut f64) -> bool {
        let flees =
            matches!(told, Told::Alarm) && !(grunt.enemy_visible || grunt.ammo > 3.0) && !fsm.is_in_state(&RunToCover);
        if flees {
            fsm.change_state(&RunToCover);
        }
        flees
    }
}

impl State<Grunt> for Wander {
    is!("wander", STROLL);

    fn update(&self, grunt: &mut Grunt, fsm: &mut Fsm<'_, Grunt>, clock: &mut f64) {
        STROLL.update(grunt, fsm, clock);
        if grunt.enemy_visible && grunt.health > 20.0 && Fight.can_enter(grunt, fsm, clock) {
            fsm.change_state(&Fight);
        } else if fsm.time_in_state(clock) >= 1.0 && !grunt.enemy_visible && grunt.chance(0.4) {
            fsm.change_state(&Rest);
        }
    }

    fn on_message(&self, grunt: &mut Grunt, told: &Told, fsm: &mut Fsm<'_, Grunt>, clock: &mut f64) -> bool {
        let is_handled = STROLL.on_message(grunt, told, fsm, clock);
        if matches!(told, Told::Damage(_)) && grunt.enemy_visible && Fight.can_enter(grunt, fsm, clock) {
            fsm.change_state(&Shoot);
            return true;
        }
        is_handled
    }
}

impl State<Grunt> for Fight {
    is!("fight", BATTLE_CRY);

    fn initial(&self) -> Option<StateRef<Grunt>> {
        Some((&Aim).into())
    }

    fn keeps_history(&self) -> bool {
        true
    }

    fn can_enter(&self, grunt: &Grunt, _: &Fsm<'_, Grunt>, _: &f64) -> bool {
        grunt.ammo != 0.0 || grunt.health > 80.0
    }

    fn update(&self, grunt: &mut Grunt, fsm: &mut Fsm<'_, Grunt>, clock: &mut f64) {
        BATTLE_CRY.update(grunt, fsm, clock);
        if !grunt.enemy_visible {
            fsm.change_state(&Wander);
        }
    }

    fn on_message(&self, grunt: &mut Grunt, told: &Told, fsm: &mut Fsm<'_, Grunt>, _: &mut f64) -> bool {
        let flees = matches!(told, Told::Damage(_)) && grunt.health < 50.0;
        if flees {
            fsm.change_state(&RunToCover);
        }
        flees
    }
}

impl State<Grunt> for Aim {
    is!("aim", ADVANCE);

    fn parent(&self) -> Option<StateRef<Grunt>> {
        Some((&Fight).into())
    }

    fn update(&self, grunt: &mut Grunt, fsm: &mut Fsm<'_, Grunt>, clock: &mut f64) {
        ADVANCE.update(grunt, fsm, clock);
        if fsm.time_in_state(clock) > 0.5 || grunt.chance(0.25) {
            fsm.change_state(&Shoot);
        }
    }

    fn on_message(&self, grunt: &mut Grunt, told: &Told, fsm: &mut Fsm<'_, Grunt>, clock: &mut f64) -> bool {
        ADVANCE.on_message(grunt, told, fsm, clock)
    }
}

impl State<Grunt> for Shoot {
    is!("shoot");

    fn parent(&self) -> Option<StateRef<Grunt>> {
        Some((&Fight).into())
    }

    fn update(&self, grunt: &mut Grunt, fsm: &mut Fsm<'_, Grunt>, clock: &mut f64) {
        let reverts = grunt.health < 5.0 && fsm.previous().is_some();
        Fire.update(grunt, fsm, clock);
        if grunt.ammo == 0.0 && Reload.can_enter(grunt, fsm, clock) {
            if !reverts {
                fsm.change_state(&Reload);
            }
        } else if grunt.chance(0.5) && !grunt.chance(0.1) {
            if !reverts {
                fsm.change_state(&Aim);
            }
        } else if grunt.health > grunt.ammo
            && fsm.time_in_state(clock) > 2.0
            && Fight.can_enter(grunt, fsm, clock)
            && !reverts
        {
            fsm.change_state(&Fight);
        }
    }

    fn on_message(&self, grunt: &mut Grunt, told: &Told, fsm: &mut Fsm<'_, Grunt>, clock: &mut f64) -> bool {
        Fire.on_message(grunt, told, fsm, clock)
    }
}

impl State<Grunt> for Reload {
    is!("reload");

    fn parent(&self) -> Option<StateRef<Grunt>> {
        Some((&Fight).into())
    }

    fn can_enter(&self, grunt: &Grunt, _: &Fsm<'_, Grunt>, _: &f64) -> bool {
        grunt.health > 10.0
    }

    fn update(&self, _: &mut Grunt, fsm: &mut Fsm<'_, Grunt>, clock: &mut f64) {
        if fsm.time_in_state(clock) > 2.0 {
            fsm.change_state(&Shoot);
        }
    }
}

impl State<Grunt> for RunToCover {
    is!("run to cover", RETREAT);

    fn update(&self, grunt: &mut Grunt, fsm: &mut Fsm<'_, Grunt>, clock: &mut f64) {
        RETREAT.update(grunt, fsm, clock);
        let time = fsm.time_in_state(clock);
        if grunt.health < 30.0 && !grunt.enemy_visible {
            fsm.change_state(&Rest);
        } else if time >= 1.0 && Fight.can_enter(grunt, fsm, clock) {
            fsm.change_state(&Fight);
        } else if time > 1.5 {
            fsm.change_state(&Wander);
        }
    }

    fn on_message(&self, grunt: &mut Grunt, told: &Told, fsm: &mut Fsm<'_, Grunt>, clock: &mut f64) -> bool {
        RETREAT.on_message(grunt, told, fsm, clock)
    }
}

impl State<Grunt> for Rest {
    is!("rest");

    fn update(&self, grunt: &mut Grunt, fsm: &mut Fsm<'_, Grunt>, clock: &mut f64) {
        Heal.update(grunt, fsm, clock);
        if grunt.health >= 60.0 || grunt.enemy_visible {
            fsm.change_state(&Wander);
        }
    }

    fn on_message(&self, grunt: &mut Grunt, told: &Told, fsm: &mut Fsm<'_, Grunt>, clock: &mut f64) -> bool {
        Heal.on_message(grunt, told, fsm, clock)
    }
}

impl State<Grunt> for Dead {
    is!("dead");
}
