//! Members of a cast that do what a test tells them to, and note what happens.

use std::fmt;

use crate::trace::Trace;
use demeanor::{Agent, Cast, Change, Fsm, Owner, State, StateMachine, StateRef, Telegram};

/// The world is a record of what has happened.
pub(crate) type Stage = Cast<&'static str, &'static str, Trace>;

/// What a player does in a callback.
pub(crate) type Act = fn(&mut Player, &mut Fsm<'_, Player>, &mut Stage);

/// A player who is not told otherwise is the placeholder that nobody is to see.
pub(crate) struct Player {
    pub(crate) name: &'static str,
    pub(crate) energy: u32,
    /// By callback, as in `Idle.update`; of messages, as in `Idle: wake up`.
    script: Vec<(&'static str, Act)>,
}

impl Default for Player {
    fn default() -> Self {
        Self { name: "PLACEHOLDER", energy: 0, script: Vec::new() }
    }
}

impl Player {
    pub(crate) fn new(name: &'static str, script: &[(&'static str, Act)]) -> Self {
        Self { name, energy: 0, script: script.to_vec() }
    }

    /// Notes a callback, and does what the script says. Returns whether it says anything.
    fn perform(&mut self, callback: &str, fsm: &mut Fsm<'_, Self>, stage: &mut Stage) -> bool {
        self.note(callback, stage);
        let act = self.script.iter().find(|(name, _)| *name == callback);
        act.copied().inspect(|(_, act)| act(self, fsm, stage)).is_some()
    }

    pub(crate) fn note(&self, what: impl fmt::Display, stage: &mut Stage) {
        stage.world.push(format!("{} {what}", self.name));
    }
}

impl Owner for Player {
    type Context<'a> = Stage;
    type Message = Telegram<&'static str, &'static str>;

    fn now(stage: &Stage) -> f64 {
        stage.now()
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }

    fn after_change(&mut self, change: &Change<'_, Self>, stage: &mut Stage) {
        self.note(change, stage);
    }
}

macro_rules! states {
    ($($state:ident $(in $parent:ident)?;)*) => {$(
        pub(crate) struct $state;

        impl State<Player> for $state {
            fn enter(&self, player: &mut Player, fsm: &mut Fsm<'_, Player>, stage: &mut Stage) {
                player.perform(concat!(stringify!($state), ".enter"), fsm, stage);
            }

            fn update(&self, player: &mut Player, fsm: &mut Fsm<'_, Player>, stage: &mut Stage) {
                player.perform(concat!(stringify!($state), ".update"), fsm, stage);
            }

            fn exit(&self, player: &mut Player, fsm: &mut Fsm<'_, Player>, stage: &mut Stage) {
                player.perform(concat!(stringify!($state), ".exit"), fsm, stage);
            }

            fn on_message(
                &self,
                player: &mut Player,
                telegram: &Telegram<&'static str, &'static str>,
                fsm: &mut Fsm<'_, Player>,
                stage: &mut Stage,
            ) -> bool {
                let is_told = player.perform(&format!("{}: {}", stringify!($state), telegram.message), fsm, stage);
                // A question is left to the others, too.
                is_told && !telegram.message.ends_with('?')
            }

            $(fn parent(&self) -> Option<StateRef<Player>> {
                Some((&$parent).into())
            })?
        }
    )*};
}

states! {
    Idle;
    Busy;
    Away;
    Inside;
    Left in Inside;
    Right in Inside;
    Always;
}

/// A stage with players who are idle, in this order.
pub(crate) fn stage<const N: usize>(players: [(&'static str, &[(&'static str, Act)]); N]) -> Stage {
    let mut stage = Stage::new(Trace::default());
    for (name, script) in players {
        stage.add(name, idle(name, script)).unwrap();
    }
    stage
}

pub(crate) fn idle(name: &'static str, script: &[(&'static str, Act)]) -> Agent<Player> {
    Agent::new(Player::new(name, script), StateMachine::new(&Idle))
}

/// What has happened since the last time.
pub(crate) fn happened(stage: &mut Stage) -> Trace {
    std::mem::take(&mut stage.world)
}
