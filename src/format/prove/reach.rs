//! Which states can be active, and which exits can be taken, over all situations.
//!
//! An exit can be taken in a tick that begins where its state is active, if no exit before it is taken. It can also be
//! tried in the middle of a tick, where an exit of the global state or of a state around has just led to its state; and an exit
//! with `always`, where its state is being entered. What cannot be decided may be either, so that only what can surely not be
//! is missing here.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::claim::{Claim, Quantity};
use super::machine::{ExitId, Machine, Standing, clock};
use super::reading::StateTime;
use super::solver::{ClaimAnswer, Work, solve};
use crate::format::outline::StateId;

/// The most ways into a state that are looked at one by one. Of more, any may be.
const MOST_WAYS: usize = 64;

/// What is claimed if an exit is tried in some way, and which times are never longer than which.
type Way = (Claim, Vec<(Quantity, Quantity)>);

/// What can be.
pub(super) struct Reached {
    /// By id, whether the state can be active.
    pub(super) is_active: Vec<bool>,
    /// The innermost states that the machine can be in, as they were found.
    pub(super) innermost: Vec<StateId>,
    /// By id, the states that are in the state, itself among them.
    pub(super) within: Vec<Vec<StateId>>,
    /// The exits that can be taken.
    pub(super) taken: HashSet<ExitId>,
    /// The exits of which this is not known.
    pub(super) unknown: BTreeSet<ExitId>,
}

impl Reached {
    /// The innermost states with which the exits of a state are tried.
    pub(super) fn active_with(&self, machine: &Machine<'_>, of: StateId) -> &[StateId] {
        if machine.outline.global() == Some(of) { &self.innermost } else { &self.within[of.index()] }
    }
}

/// Finds out what can be.
pub(super) fn reach(machine: &Machine<'_>, work: &mut Work) -> Reached {
    let outline = machine.outline;
    let reached = Reached {
        is_active: vec![false; outline.states().len()],
        innermost: Vec::new(),
        within: vec![Vec::new(); outline.states().len()],
        taken: HashSet::new(),
        unknown: BTreeSet::new(),
    };
    let mut reaching = Reaching {
        machine,
        work,
        reached,
        leads_to: HashMap::new(),
        waiting: Vec::new(),
        free: HashSet::new(),
        within: HashSet::new(),
        seen: HashSet::new(),
        resting: HashSet::new(),
    };
    reaching.enter_freely(outline.initial());
    for state in outline.states().iter().filter(|state| state.is_entry()) {
        reaching.enter_freely(state.id());
    }
    if outline.states().iter().any(|state| state.script.is_some()) {
        // A script may change to any state.
        for state in outline.states().iter().filter(|state| Some(state.id()) != outline.global()) {
            reaching.enter_within(state.id());
        }
    }
    if let Some(global) = outline.global() {
        reaching.behaviors(global);
    }
    reaching.run();
    reaching.reached
}

struct Reaching<'m, 'o, 'w> {
    machine: &'m Machine<'o>,
    work: &'w mut Work,
    reached: Reached,
    /// By the innermost state that they lead to, the exits that can be taken.
    leads_to: HashMap<StateId, Vec<ExitId>>,
    /// Innermost states whose exits have not been looked at.
    waiting: Vec<StateId>,
    /// Innermost states that are entered in whatever situation.
    free: HashSet<StateId>,
    /// The innermost states that may be entered in the middle of a tick.
    within: HashSet<StateId>,
    /// Innermost states that have been found.
    seen: HashSet<StateId>,
    /// The innermost states in which the machine can stay from one tick to the next: an exit with `always` need not lead on
    /// at once.
    resting: HashSet<StateId>,
}

impl Reaching<'_, '_, '_> {
    fn run(&mut self) {
        // An exit that cannot be taken as things stand may be, once another way into its state has been found.
        loop {
            while let Some(at) = self.waiting.pop() {
                self.look(at, false);
            }
            let before = self.reached.taken.len();
            for at in 0..self.reached.innermost.len() {
                let at = self.reached.innermost[at];
                if !self.resting.contains(&at) {
                    self.waiting.push(at);
                }
                self.look(at, true);
            }
            let resting = self.resting.len();
            while let Some(at) = self.waiting.pop() {
                self.look(at, false);
            }
            if self.reached.taken.len() == before && self.resting.len() == resting {
                return;
            }
        }
    }

    /// A change to a state, between two ticks, that depends on nothing in the file.
    fn enter_freely(&mut self, to: StateId) {
        let at = self.machine.innermost(to);
        self.free.insert(at);
        self.enter(at);
    }

    /// The same, in a tick.
    fn enter_within(&mut self, to: StateId) {
        self.within.insert(self.machine.innermost(to));
        self.enter_freely(to);
    }

    fn enter(&mut self, at: StateId) {
        if !self.seen.insert(at) {
            return;
        }
        self.reached.innermost.push(at);
        self.waiting.push(at);
        for id in self.machine.outline.path(at) {
            self.reached.within[id.index()].push(at);
            if !std::mem::replace(&mut self.reached.is_active[id.index()], true) {
                self.behaviors(id);
            }
        }
    }

    /// A behavior may change to the states that it names.
    fn behaviors(&mut self, of: StateId) {
        let outline = self.machine.outline;
        for behavior in &self.machine.state(of).behaviors {
            for (_, to) in &behavior.named {
                self.enter_within(*to);
            }
            let Some(params) = &behavior.params else { continue };
            if !outline.unchecked.behaviors.contains(&behavior.name.text) {
                continue;
            }
            // Without the game's words, any text in the parameters may be the name of a state; and where they stand in another
            // file, it is not known what it is.
            let text = outline.source.text().get(params.clone()).unwrap_or_default();
            let texts: HashSet<&str> = text.split(['"', '\'']).collect();
            let is_foreign = self.machine.state(of).is_foreign;
            let states = outline.states().iter().filter(|state| Some(state.id()) != outline.global());
            let named = states.filter(|state| {
                if is_foreign { state.is_foreign } else { texts.contains(state.name()) || texts.contains(state.part()) }
            });
            for state in named {
                self.enter_within(state.id());
            }
        }
    }

    fn take(&mut self, id: ExitId) {
        self.reached.unknown.remove(&id);
        if self.reached.taken.insert(id) {
            let to = self.machine.innermost(self.machine.exit(id).to);
            self.leads_to.entry(to).or_default().push(id);
            self.enter(to);
        }
    }

    /// Looks at all exits that are tried where `at` is the innermost state: by a tick that begins there, or by all ways.
    fn look(&mut self, at: StateId, by_all_ways: bool) {
        let path = self.machine.outline.path(at);
        let states = self.machine.outline.global().into_iter().chain(path.iter().copied());
        let left: Vec<_> =
            states.flat_map(|of| self.machine.exits_of(of)).filter(|id| !self.reached.taken.contains(id)).collect();
        if left.is_empty() {
            return;
        }
        let in_tick = self.machine.in_tick(&path);
        if !by_all_ways && !self.rests(at, &path) {
            return;
        }
        for id in left {
            let answer = if self.work.is_over() {
                ClaimAnswer::Unknown
            } else if by_all_ways {
                self.by_other_ways(id, &path, &in_tick)
            } else {
                self.by_itself(id, &path, &in_tick)
            };
            match answer {
                ClaimAnswer::Holds(_) => self.take(id),
                ClaimAnswer::Unknown => {
                    // The condition may hold: nothing is reported that follows only if it does not.
                    self.reached.unknown.insert(id);
                    self.take(id);
                    self.reached.unknown.insert(id);
                }
                ClaimAnswer::Never => {}
            }
        }
    }

    /// In a tick that begins on the path, or by a message that is sent there.
    fn by_itself(&mut self, id: ExitId, path: &[StateId], in_tick: &[ExitId]) -> ClaimAnswer {
        let machine = self.machine;
        let exit = machine.exit(id);
        let at = Standing { path, time: &clock(0) };
        let own = machine.taken(id, &at);
        if own == Claim::Never {
            return ClaimAnswer::Never;
        }
        let claim = match exit.on() {
            // The end of a machine comes when it comes.
            Some(_) if exit.is_done => own,
            Some(message) => {
                let before = machine.for_message(path, message);
                Claim::all(
                    before
                        .iter()
                        .take_while(|before| **before != id)
                        .map(|id| machine.taken(*id, &at).negated())
                        .chain([own]),
                )
            }
            None => {
                let before = in_tick.iter().take_while(|before| **before != id);
                Claim::all(
                    before.map(|before| tried(machine, *before, &at).negated()).chain([machine.turn(id.of), own]),
                )
            }
        };
        solve(&claim, &Machine::order(path, 0), self.work)
    }

    /// In the middle of a tick that has led to the path, or while the exit's state is being entered.
    fn by_other_ways(&mut self, id: ExitId, path: &[StateId], in_tick: &[ExitId]) -> ClaimAnswer {
        let machine = self.machine;
        let exit = machine.exit(id);
        if exit.on.is_some() {
            return ClaimAnswer::Never;
        }
        let at = path[path.len() - 1];
        let level = Machine::level(path, id.of);
        let (ways, are_all) = self.ways(at);
        let mut claims = Vec::new();
        if are_all {
            for (way, from) in &ways {
                claims.extend(self.after(*way, from, id, path, in_tick, level));
            }
        }
        if !are_all || self.within.contains(&at) {
            claims.push(self.anyhow_in_tick(id, path));
        }
        if exit.is_always && level > 0 && (!are_all || self.free.contains(&at)) {
            claims.push(self.anyhow_at_entry(id, path, level));
        }
        self.first(claims)
    }

    /// The first claim that can hold.
    fn first(&mut self, claims: Vec<Way>) -> ClaimAnswer {
        let mut answer = ClaimAnswer::Never;
        for (claim, order) in claims {
            match solve(&claim, &order, self.work) {
                ClaimAnswer::Never => {}
                ClaimAnswer::Unknown => answer = ClaimAnswer::Unknown,
                found @ ClaimAnswer::Holds(_) => return found,
            }
        }
        answer
    }

    /// Whether the machine can be on a path from one tick to the next.
    fn rests(&mut self, at: StateId, path: &[StateId]) -> bool {
        let machine = self.machine;
        let is_always = |id: ExitId| machine.exit(id).is_always;
        if self.resting.contains(&at) {
            return true;
        }
        // Where such exits may lead in a circle, the machine stays somewhere in it after 64 changes.
        let is_left = path.iter().any(|of| machine.exits_of(*of).any(is_always)) && !self.is_in_circle(at);
        let is_free = self.free.contains(&at);
        let (ways, are_all) = if is_free && !is_left { (Vec::new(), false) } else { self.ways(at) };
        let mut claims = Vec::new();
        for (way, from) in &ways {
            let Ok(change) = machine.change(from, *way) else { continue };
            // Where it has led in the middle of a tick, the rest of that has to leave it there.
            let is_between = machine.exit(*way).on.is_none() && from.last() != Some(&way.of);
            if !is_left && !is_between {
                claims.clear();
                break;
            }
            let time = entered(path, change.kept);
            let mut claim = self.led(*way, from);
            if is_left {
                claim.push(self.stays(path, change.kept, &time));
            }
            if is_between {
                let level = Machine::level(from, way.of);
                let rest = Standing { path, time: &time };
                let left = machine.in_tick(path).into_iter().filter(|id| Machine::level(path, id.of) > level);
                claim.extend(left.map(|id| tried(machine, id, &rest).negated()));
            }
            claims.push((Claim::all(claim), Machine::order(from, 0)));
        }
        if is_left && (!are_all || is_free) {
            let innermost = path.len() - 1;
            let time = entered(path, innermost);
            claims.push((self.stays(path, innermost, &time), Machine::order(path, 0)));
        }
        let is_certain = claims.is_empty() || !is_left && (!are_all || is_free);
        let rests = is_certain || self.first(claims) != ClaimAnswer::Never;
        if rests {
            self.resting.insert(at);
        }
        rests
    }

    /// Whether exits with `always` lead from an innermost state to itself, be it in no situation.
    fn is_in_circle(&self, at: StateId) -> bool {
        let machine = self.machine;
        let mut seen = HashSet::new();
        let mut waiting = vec![at];
        while let Some(from) = waiting.pop() {
            for of in machine.outline.path(from) {
                for id in machine.exits_of(of).filter(|id| machine.exit(*id).is_always) {
                    let to = machine.innermost(machine.exit(id).to);
                    if to == at {
                        return true;
                    }
                    if seen.insert(to) {
                        waiting.push(to);
                    }
                }
            }
        }
        false
    }

    /// That no exit with `always` leads on when the states of a path from a depth on have been entered.
    fn stays(&self, path: &[StateId], from: usize, time: &dyn Fn(StateId) -> StateTime) -> Claim {
        let machine = self.machine;
        let mut stays = Vec::new();
        for depth in from..path.len() {
            let at = Standing { path: &path[..=depth], time };
            for id in machine.exits_of(path[depth]).filter(|id| machine.exit(*id).is_always) {
                let Ok(change) = machine.change(at.path, id) else { continue };
                // The guards are asked again when all have been entered. If they may then say something else, it may stay.
                let again = machine.admitted(&change, &Standing { path, time });
                if machine.admitted(&change, &at) != again {
                    return Claim::Always;
                }
                stays.push(machine.taken(id, &at).negated());
            }
        }
        Claim::all(stays)
    }

    /// That an exit is taken on a path where it comes to it: none before it of the same state is.
    fn led(&self, way: ExitId, from: &[StateId]) -> Vec<Claim> {
        let machine = self.machine;
        let at = Standing { path: from, time: &clock(0) };
        let same = machine.exits_of(way.of).take_while(|same| *same != way);
        let same = same.filter(|same| machine.exit(*same).on() == machine.exit(way).on());
        same.map(|same| machine.taken(same, &at).negated()).chain([machine.taken(way, &at)]).collect()
    }

    /// The exits that lead to an innermost state, each with the paths on which it may be taken, and whether these are all ways
    /// there that depend on the file.
    fn ways(&mut self, at: StateId) -> (Vec<(ExitId, Vec<StateId>)>, bool) {
        let machine = self.machine;
        let into = self.leads_to.get(&at).cloned().unwrap_or_default();
        let mut ways = Vec::new();
        // Whether the ways are all that there are.
        let mut are_all = true;
        for way in into {
            let of_way = machine.exit(way);
            // Where an exit with `always` has led on, it is not known from where.
            are_all &= !of_way.is_done && !self.leads_on_at_entry(way);
            let from = self.reached.active_with(machine, way.of).iter().take(MOST_WAYS + 1);
            ways.extend(from.map(|from| (way, machine.outline.path(*from))));
            if ways.len() > MOST_WAYS {
                are_all = false;
                break;
            }
        }
        (ways, are_all)
    }

    /// Whether an exit may be taken as its state is entered.
    fn leads_on_at_entry(&mut self, way: ExitId) -> bool {
        let machine = self.machine;
        if !machine.exit(way).is_always {
            return false;
        }
        let path = machine.outline.path(way.of);
        let time = entered(&path, path.len() - 1);
        let at = Standing { path: &path, time: &time };
        solve(&machine.taken(way, &at), &Machine::order(&path, 0), self.work) != ClaimAnswer::Never
    }

    /// What is claimed if the exit is tried once `way` has been taken on the path `from`.
    fn after(
        &self,
        way: ExitId,
        from: &[StateId],
        id: ExitId,
        path: &[StateId],
        in_tick: &[ExitId],
        level: usize,
    ) -> Vec<Way> {
        let machine = self.machine;
        let Ok(change) = machine.change(from, way) else { return Vec::new() };
        let is_message = machine.exit(way).on.is_some();
        let led = self.led(way, from);
        let time = entered(path, change.kept);
        let order = Machine::order(from, 0);
        let mut claims = Vec::new();
        // In the same tick, at the depths that have not had their turn.
        let from_level = Machine::level(from, way.of);
        if !is_message && from_level < level && from.last() != Some(&way.of) {
            let at = Standing { path, time: &time };
            let before = in_tick.iter().take_while(|before| **before != id);
            let before = before.filter(|before| Machine::level(path, before.of) > from_level);
            let not = before.map(|before| tried(machine, *before, &at).negated());
            let stays = self.stays(path, change.kept, &time);
            let claim =
                led.iter().cloned().chain([stays]).chain(not).chain([machine.turn(id.of), machine.taken(id, &at)]);
            claims.push((Claim::all(claim), order.clone()));
        }
        // While its state is being entered.
        if machine.exit(id).is_always && level > change.kept {
            let mut not = Vec::new();
            for depth in change.kept..level {
                let at = Standing { path: &path[..=depth], time: &time };
                let always = machine.exits_of(path[depth]).filter(|always| machine.exit(*always).is_always);
                not.extend(
                    always.take_while(|always| *always != id).map(|always| machine.taken(always, &at).negated()),
                );
            }
            let at = Standing { path: &path[..level], time: &time };
            let claim = led.into_iter().chain(not).chain([machine.taken(id, &at)]);
            claims.push((Claim::all(claim), order));
        }
        claims
    }

    /// What is claimed in the middle of a tick if nothing is known of how the path has come about.
    fn anyhow_in_tick(&self, id: ExitId, path: &[StateId]) -> Way {
        let machine = self.machine;
        let innermost = path.len() - 1;
        let time = entered(path, innermost);
        let stays = self.stays(path, innermost, &time);
        let at = Standing { path, time: &time };
        let same = machine.exits_of(id.of).take_while(|same| *same != id);
        let same = same.filter(|same| machine.exit(*same).on.is_none());
        let not = same.map(|same| machine.taken(same, &at).negated());
        let claim = Claim::all(not.chain([stays, machine.turn(id.of), machine.taken(id, &at)]));
        (claim, Machine::order(path, 0))
    }

    /// The same while its state is being entered.
    fn anyhow_at_entry(&self, id: ExitId, path: &[StateId], level: usize) -> Way {
        let machine = self.machine;
        let time = |of: StateId| if of == id.of { StateTime::Known(0.0) } else { clock(0)(of) };
        let at = Standing { path: &path[..level], time: &time };
        let same = machine.exits_of(id.of).take_while(|same| *same != id);
        let same = same.filter(|same| machine.exit(*same).is_always);
        let not = same.map(|same| machine.taken(same, &at).negated());
        (Claim::all(not.chain([machine.taken(id, &at)])), Machine::order(path, 0))
    }
}

/// The times in the states of a path whose states from a depth on have just been entered.
fn entered(path: &[StateId], from: usize) -> impl Fn(StateId) -> StateTime {
    move |id| {
        let depth = path.iter().position(|active| *active == id);
        if depth.is_some_and(|depth| depth >= from) { StateTime::Known(0.0) } else { clock(0)(id) }
    }
}

/// That an exit is taken in a tick when it comes to it.
pub(super) fn tried(machine: &Machine<'_>, id: ExitId, at: &Standing<'_>) -> Claim {
    Claim::all([machine.turn(id.of), machine.taken(id, at)])
}
