//! Commands that wait until the game takes them, and the outcomes of commands that it never takes.

use crate::command::{Outcome, Sent};
use crate::shared::Shared;

/// The largest number of waiting commands, for all crowds together.
const MOST_COMMANDS: usize = 256;
/// The largest number of names of crowds that are stored.
const MOST_NAMES: usize = 256;

/// The waiting commands, and the outcomes for the page.
#[derive(Default)]
pub(crate) struct Waiting {
    commands: Vec<Sent>,
    /// The outcomes of commands, until they can be sent to the page.
    outcomes: Vec<(u64, Outcome)>,
    /// The crowds whose commands the game takes, even if there were none.
    obeyed: Vec<String>,
    /// The crowds that are shown.
    shown: Vec<String>,
    /// While a command waits for a crowd whose commands the game has never taken: the crowd that was shown first in this time.
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

    /// Notes that a crowd is shown. Commands for crowds whose commands the game has never taken are dropped after a whole tick.
    pub(crate) fn shown(&mut self, crowd: &str, shared: &Shared) {
        remember(&mut self.shown, crowd);
        let Self { commands, obeyed, shown, .. } = self;
        let is_obeyed = |sent: &Sent| obeyed.contains(&sent.command.crowd);
        if commands.iter().all(is_obeyed) {
            self.round = None;
        } else if self.round.as_deref() != Some(crowd) {
            self.round.get_or_insert_with(|| crowd.to_owned());
        } else {
            // The crowd is shown for the second time, so a whole tick of the game has passed.
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

    /// Hands the outcomes of commands to the server, unless it is busy.
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

/// Stores a name, once.
fn remember(names: &mut Vec<String>, name: &str) {
    if names.len() < MOST_NAMES && !names.iter().any(|other| other == name) {
        names.push(name.to_owned());
    }
}
