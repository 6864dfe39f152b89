//! Which states can be active, and which exits can be taken, over all situations.
//!
//! An exit can be taken in a tick that begins where its state is active, if no exit before it is taken. It can also be
//! tried in the middle of a tick, where an exit of the global state or of a state around has just led to its state; and an exit
//! with `always`, where its state is being entered. What cannot be decided may be either, so that only what can surely not be
//! is missing here.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::iter;

use super::claim::Claim;
use super::machine::{ExitId, Machine, Standing, StateTime};
use super::solver::ClaimAnswer;
use crate::format::outline::StateId;

/// The most ways into a state that are looked at one by one. Of more, any may be.
const MOST_WAYS: usize = 64;

/// What is claimed if an exit is tried in some way, and the path in whose states the times are in order.
type Way<'p> = (Claim, &'p [StateId]);

/// What can be.
pub(super) struct Reached {
    /// The innermost states that the machine can be in, as they were found.
    pub(super) innermost: Vec<StateId>,
    /// By id, the innermost states that are in the state, itself among them.
    within: Vec<Vec<StateId>>,
    /// The exits that can be taken.
    pub(super) taken: HashSet<ExitId>,
    /// The exits of which this is not known.
    pub(super) unknown: BTreeSet<ExitId>,
}

impl Reached {
    /// Whether a state other than the global one can be active.
    pub(super) fn is_active(&self, id: StateId) -> bool {
        !self.within[id.index()].is_empty()
    }

    /// The innermost states with which the exits of a state are tried.
    pub(super) fn active_with(&self, machine: &Machine<'_>, of: StateId) -> &[StateId] {
        if machine.outline.global() == Some(of) { &self.innermost } else { &self.within[of.index()] }
    }
}

/// Finds out what can be.
pub(super) fn reach(machine: &Machine<'_>) -> Reached {
    let outline = machine.outline;
    let reached = Reached {
        innermost: Vec::new(),
        within: vec![Vec::new(); outline.states().len()],
        taken: HashSet::new(),
        unknown: BTreeSet::new(),
    };
    let mut reaching = Reaching {
        machine,
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

struct Reaching<'m> {
    machine: &'m Machine<'m>,
    reached: Reached,
    /// By the innermost state that they lead to, the exits that can be taken.
    leads_to: HashMap<StateId, Vec<ExitId>>,
    /// The innermost states whose exits are still to be looked at.
    waiting: Vec<StateId>,
    /// The innermost states that can be entered in every situation.
    free: HashSet<StateId>,
    /// The innermost states that may be entered in the middle of a tick.
    within: HashSet<StateId>,
    /// Innermost states that have been found. Each may be around others, too: a state with children need not have an initial one.
    seen: HashSet<StateId>,
    /// The innermost states in which the machine can stay from one tick to the next: an exit with `always` need not lead on
    /// at once.
    resting: HashSet<StateId>,
}

impl Reaching<'_> {
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
            let is_new = !self.reached.is_active(id);
            self.reached.within[id.index()].push(at);
            if is_new {
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

    /// Looks at all exits that are tried where `at` is the innermost state: by a tick that begins there, or by all ways.
    fn look(&mut self, at: StateId, by_all_ways: bool) {
        let machine = self.machine;
        let path = machine.outline.path(at);
        let left: Vec<_> = machine.exits_on(&path).filter(|id| !self.reached.taken.contains(id)).collect();
        if left.is_empty() || !by_all_ways && !self.rests(at, &path) {
            return;
        }
        for id in left {
            let answer = if machine.work.is_over() {
                ClaimAnswer::Unknown
            } else if by_all_ways {
                self.by_other_ways(id, &path)
            } else {
                self.by_itself(id, &path)
            };
            if answer == ClaimAnswer::Never {
                continue;
            }
            // If that is unknown, the condition may hold: nothing is reported that follows only if it does not.
            if answer == ClaimAnswer::Unknown {
                self.reached.unknown.insert(id);
            }
            self.reached.taken.insert(id);
            let to = machine.innermost(machine.exit(id).to);
            self.leads_to.entry(to).or_default().push(id);
            self.enter(to);
        }
    }

    /// In a tick that begins on the path, or by a message that is sent there.
    fn by_itself(&self, id: ExitId, path: &[StateId]) -> ClaimAnswer {
        let machine = self.machine;
        let exit = machine.exit(id);
        let at = machine.at(path, StateTime::Varies);
        let own = at.taken(id);
        if own == Claim::NEVER {
            return ClaimAnswer::Never;
        }
        let claim = if exit.is_done {
            // The end of a machine comes when it comes.
            own
        } else if exit.on.is_some() {
            Claim::all([at.none_taken(machine.before(id, path)), own])
        } else {
            Claim::all([at.none_tried(machine.before(id, path)), at.tried(id)])
        };
        machine.solve(&claim, path)
    }

    /// In the middle of a tick that has led to the path, or while the exit's state is being entered.
    fn by_other_ways(&self, id: ExitId, path: &[StateId]) -> ClaimAnswer {
        let exit = self.machine.exit(id);
        if exit.on.is_some() {
            return ClaimAnswer::Never;
        }
        let at = path[path.len() - 1];
        let level = Machine::level(path, id.of);
        let (ways, are_all) = self.ways(at);
        let mut claims = Vec::new();
        if are_all {
            for (way, from) in &ways {
                claims.extend(self.after(*way, from, id, path));
            }
        }
        if !are_all || self.within.contains(&at) {
            claims.push((self.anyhow_in_tick(id, path), path));
        }
        if exit.is_always && level > 0 && (!are_all || self.free.contains(&at)) {
            claims.push((self.anyhow_at_entry(id, path, level - 1), path));
        }
        self.first(&claims)
    }

    /// The first claim that can hold.
    fn first(&self, claims: &[Way<'_>]) -> ClaimAnswer {
        let mut answer = ClaimAnswer::Never;
        for (claim, path) in claims {
            match self.machine.solve(claim, path) {
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
        if self.resting.contains(&at) {
            return true;
        }
        // Where exits with `always` may lead in a circle, the machine stays somewhere in it after 64 changes.
        let is_left = path.iter().any(|of| machine.always_of(*of).next().is_some()) && !self.is_in_circle(at);
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
            let entered = machine.at(path, StateTime::Varies).entered(change.kept);
            let mut claim = vec![self.led(*way, from)];
            if is_left {
                claim.push(stays(entered));
            }
            if is_between {
                let level = Machine::level(from, way.of);
                let left = machine.in_tick(path).into_iter().filter(|id| Machine::level(path, id.of) > level);
                claim.push(entered.none_tried(left));
            }
            claims.push((Claim::all(claim), &from[..]));
        }
        if is_left && (!are_all || is_free) {
            claims.push((stays(machine.at(path, StateTime::Varies).entered(path.len() - 1)), path));
        }
        let is_certain = claims.is_empty() || !is_left && (!are_all || is_free);
        let rests = is_certain || self.first(&claims) != ClaimAnswer::Never;
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
                for id in machine.always_of(of) {
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

    /// That an exit is taken on a path where it comes to it: none before it of the same state is.
    fn led(&self, way: ExitId, from: &[StateId]) -> Claim {
        let machine = self.machine;
        let at = machine.at(from, StateTime::Varies);
        let same = machine.exits_of(way.of).take_while(|same| *same != way);
        let same = same.filter(|same| machine.exit(*same).on() == machine.exit(way).on());
        Claim::all([at.none_taken(same), at.taken(way)])
    }

    /// The exits that lead to an innermost state, each with the paths on which it may be taken, and whether these are all ways
    /// there that depend on the file.
    fn ways(&self, at: StateId) -> (Vec<(ExitId, Vec<StateId>)>, bool) {
        let machine = self.machine;
        let (mut ways, mut are_all) = (Vec::new(), true);
        for way in self.leads_to.get(&at).into_iter().flatten().copied() {
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
    fn leads_on_at_entry(&self, way: ExitId) -> bool {
        let machine = self.machine;
        if !machine.exit(way).is_always {
            return false;
        }
        let path = machine.outline.path(way.of);
        let at = machine.at(&path, StateTime::Varies).entered(path.len() - 1);
        machine.solve(&at.taken(way), &path) != ClaimAnswer::Never
    }

    /// What is claimed if the exit is tried once `way` has been taken on the path `from`.
    fn after<'p>(&self, way: ExitId, from: &'p [StateId], id: ExitId, path: &[StateId]) -> Vec<Way<'p>> {
        let machine = self.machine;
        let Ok(change) = machine.change(from, way) else { return Vec::new() };
        let led = self.led(way, from);
        let at = machine.at(path, StateTime::Varies).entered(change.kept);
        let (from_level, level) = (Machine::level(from, way.of), Machine::level(path, id.of));
        let mut claims = Vec::new();
        // In the same tick, at the depths that have not had their turn.
        if machine.exit(way).on.is_none() && from_level < level && from.last() != Some(&way.of) {
            let mut before = machine.before(id, path);
            before.retain(|before| Machine::level(path, before.of) > from_level);
            claims.push(Claim::all([led.clone(), stays(at), at.none_tried(before), at.tried(id)]));
        }
        // While its state is being entered.
        if machine.exit(id).is_always && level > change.kept {
            let not = (change.kept..level).map(|depth| {
                at.up_to(depth).none_taken(machine.always_of(path[depth]).take_while(|always| *always != id))
            });
            claims.push(Claim::all(iter::once(led).chain(not).chain([at.up_to(level - 1).taken(id)])));
        }
        claims.into_iter().map(|claim| (claim, from)).collect()
    }

    /// What is claimed in the middle of a tick if nothing is known of how the path has come about.
    fn anyhow_in_tick(&self, id: ExitId, path: &[StateId]) -> Claim {
        let machine = self.machine;
        let at = machine.at(path, StateTime::Varies).entered(path.len() - 1);
        let same = machine.exits_of(id.of).take_while(|same| *same != id);
        let same = same.filter(|same| machine.exit(*same).on.is_none());
        Claim::all([at.none_taken(same), stays(at), at.tried(id)])
    }

    /// The same while its state, at a depth, is being entered.
    fn anyhow_at_entry(&self, id: ExitId, path: &[StateId], depth: usize) -> Claim {
        let at = self.machine.at(path, StateTime::Varies).entered(depth).up_to(depth);
        Claim::all([at.none_taken(self.machine.always_of(id.of).take_while(|same| *same != id)), at.taken(id)])
    }
}

/// That no exit with `always` leads on, once the fresh states of a path have been entered.
fn stays(whole: Standing<'_>) -> Claim {
    let machine = whole.machine;
    let mut stays = Vec::new();
    for depth in whole.fresh..whole.path.len() {
        let at = whole.up_to(depth);
        for id in machine.always_of(whole.path[depth]) {
            let Ok(change) = machine.change(at.path, id) else { continue };
            // The guards are asked again when all have been entered. If they may then say something else, it may stay.
            if at.admitted(&change) != whole.admitted(&change) {
                return Claim::ALWAYS;
            }
            stays.push(at.taken(id).negated());
        }
    }
    Claim::all(stays)
}
