//! Commands that wait until the game asks for them, and what is told of those that it never asks for.

use crate::command::{Outcome, Sent};
use crate::shared::Shared;

/// The most commands that wait for a crowd whose game does not ask for them.
const MOST_COMMANDS: usize = 256;
/// No more names of crowds are kept.
const MOST_NAMES: usize = 256;

/// What waits for the game, and for the page.
#[derive(Default)]
pub(crate) struct Waiting {
    commands: Vec<Sent>,
    /// What has become of commands, until the page can be told.
    outcomes: Vec<(u64, Outcome)>,
    /// The crowds of which commands have been taken, be it none.
    obeyed: Vec<String>,
    /// The crowds that are shown.
    shown: Vec<String>,
    /// The first crowd that is shown in a tick, since a command has been waiting that the game may never ask for.
    round: Option<String>,
}

impl Waiting {
    pub(crate) fn add(&mut self, commands: impl IntoIterator<Item = Sent>) {
        self.commands.extend(commands);
        let forgotten = self.commands.len().saturating_sub(MOST_COMMANDS);
        self.commands.drain(..forgotten);
    }

    /// Takes the commands for a crowd.
    pub(crate) fn take(&mut self, crowd: &str) -> Vec<Sent> {
        remember(&mut self.obeyed, crowd);
        let (own, others) =
            std::mem::take(&mut self.commands).into_iter().partition(|sent| sent.command.crowd == crowd);
        self.commands = others;
        own
    }

    pub(crate) fn note(&mut self, number: u64, outcome: Outcome) {
        self.outcomes.push((number, outcome));
    }

    /// A crowd is shown. Once each crowd has been shown, commands for others are dropped.
    pub(crate) fn shown(&mut self, crowd: &str, shared: &Shared) {
        remember(&mut self.shown, crowd);
        let Self { commands, obeyed, shown, .. } = self;
        let is_obeyed = |sent: &Sent| obeyed.contains(&sent.command.crowd);
        if commands.iter().all(is_obeyed) {
            self.round = None;
        } else if self.round.as_deref() != Some(crowd) {
            self.round.get_or_insert_with(|| crowd.to_owned());
        } else {
            // It comes for the second time: all that the game does in a tick has been done.
            let (waiting, nobodys) = std::mem::take(commands).into_iter().partition(is_obeyed);
            *commands = waiting;
            for Sent { number, command } in nobodys {
                let crowd = &command.crowd;
                let outcome = if shown.contains(crowd) {
                    Outcome::Impossible(format!("the game does not allow commands for {crowd}"))
                } else {
                    Outcome::Unknown(format!("there is no crowd {crowd}"))
                };
                log::warn!(target: "demeanor_inspector", "{command}: {outcome}");
                self.outcomes.push((number, outcome));
            }
            self.round = None;
        }
        self.tell(shared);
    }

    /// Tells the page what has become of commands, if the server is not busy.
    pub(crate) fn tell(&mut self, shared: &Shared) {
        if self.outcomes.is_empty() {
            return;
        }
        let outcomes = std::mem::take(&mut self.outcomes);
        if let Some(outcomes) = shared.post(outcomes, |news, outcomes| news.outcomes.extend(outcomes)) {
            self.outcomes = outcomes;
        }
    }
}

/// Keeps a name, once.
fn remember(names: &mut Vec<String>, name: &str) {
    if names.len() < MOST_NAMES && !names.iter().any(|other| other == name) {
        names.push(name.to_owned());
    }
}
