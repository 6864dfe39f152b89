//! Resolves names: names of states become state ids, and other names are looked up in the words of the game. After a mistake,
//! it continues with the next name, so that all mistakes are found.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem;
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use super::mention::{ConditionPlace, Meaning, Mention};
use super::scopes::{Meant, Scopes};
use super::{
    BehaviorOutline, Checked, ExitOutline, Outline, RegionOutline, StateId, StateOutline, Unchecked, params, regions,
};
use crate::format::choose::Choose;
use crate::format::draft::defined::DefinedWords;
use crate::format::draft::keys::quoted;
use crate::format::draft::read::missing_key;
use crate::format::draft::{Draft, DraftBehavior, DraftExit, DraftRegion, DraftState, Params};
use crate::format::expression::{RESERVED, When};
use crate::format::name::Name;
use crate::format::problems::mistake::listed;
use crate::format::problems::{Findings, Mistake, Origin};
use crate::format::words::{ValueKind, WordKind, Words};

/// The name of the pseudo-message for exits that are taken when the machine that their state runs has ended.
const DONE: &str = "done";

/// What the machines of a file have in common, such as the states that several of them share: the draft of each state, and its
/// resolved form.
#[derive(Default)]
pub(crate) struct Common<'i> {
    /// The kinds of words whose game is unknown: the kinds of their first uses in the file.
    assumed: Unchecked,
    resolved: HashMap<*const DraftState<'i>, Resolved<'i>>,
}

struct Resolved<'i> {
    /// Keeps the draft in memory, because its address is the key of the map.
    _draft: Rc<DraftState<'i>>,
    state: Arc<StateOutline>,
    params: Rc<[Option<Params<'i>>]>,
}

impl<'i> Common<'i> {
    /// Returns a state and its parameters, shared with other machines if possible. Machines with the same draft of a state
    /// share its parameters, and also the state if it is resolved to the same result. `draft` is `None` if no other machine
    /// has it.
    fn share(
        &mut self,
        draft: Option<Rc<DraftState<'i>>>,
        state: Arc<StateOutline>,
        params: Vec<Option<Params<'i>>>,
    ) -> (Arc<StateOutline>, Rc<[Option<Params<'i>>]>) {
        let Some(draft) = draft else { return (state, params.into()) };
        let place = Rc::as_ptr(&draft);
        let known = self.resolved.get(&place);
        if let Some(known) = known.filter(|known| known.state == state) {
            return (Arc::clone(&known.state), Rc::clone(&known.params));
        }
        let params: Rc<[_]> = known.map_or_else(|| params.into(), |known| Rc::clone(&known.params));
        let resolved = Resolved { _draft: draft, state: Arc::clone(&state), params: Rc::clone(&params) };
        self.resolved.insert(place, resolved);
        (state, params)
    }
}

/// Resolves a draft. `None` if it has no states.
pub(crate) fn resolve<'i>(
    draft: Draft<'i>,
    words: Option<&Words>,
    common: &mut Common<'i>,
    findings: &mut Findings,
) -> Option<Checked<'i>> {
    let scopes = Scopes::new(&draft.states.iter().map(|state| state.placed()).collect::<Vec<_>>());
    for (later, first) in scopes.taken() {
        findings.add(at_one_place(&draft.states, later, first));
    }
    let of_game = words.and_then(|words| words.ticks_per_second).filter(|rate| rate.is_finite() && *rate > 0.0);
    let rate = draft.ticks_per_second.or(of_game);
    for (name, _) in &draft.defined.places {
        if words.is_some_and(|words| words.values.contains_key(&name.text)) {
            Mistake::error("duplicate-word", name.span.clone(), format!("`{name}` is also a value of the game"))
                .label("which of the two?")
                .help("give it another name in the file")
                .report(findings);
        }
    }
    let linked = draft.states.iter().filter_map(|state| Some(state.machine.as_ref()?.span.start)).collect();
    let mut resolver = Resolver {
        findings,
        words,
        machine: draft.name.as_ref().map(|name| name.text.as_str()),
        scopes,
        from: None,
        is_foreign: false,
        rate,
        global: None,
        within: None,
        defined: Arc::clone(&draft.defined),
        linked,
        mentions: Vec::new(),
        unchecked: Unchecked::default(),
        assumed: &mut common.assumed,
    };
    let initial = draft.initial.and_then(|initial| resolver.state_named(initial));
    let global = draft.global.and_then(|global| resolver.global(global, initial));
    resolver.global = global;
    let asked = |resolver: &mut Resolver<'_>, mut when: Box<When>| {
        resolver.condition(&mut when, ConditionPlace::Property);
        Some(when)
    };
    let properties = draft.properties.into_iter();
    let properties = properties.filter_map(|of| of.map(&mut resolver, asked, Resolver::duration)).collect();
    let beside_states = mem::take(&mut resolver.mentions);
    let mut written = Vec::with_capacity(draft.states.len());
    let mut states = Vec::with_capacity(draft.states.len());
    let mut written_regions = Vec::new();
    let mut mistaken_regions = Vec::new();
    for (i, state) in draft.states.into_iter().enumerate() {
        resolver.from = Some(StateId::new(i));
        written_regions.extend(state.region.as_deref().map(|region| (StateId::new(i), region.clone())));
        let count = state.regions.as_ref().map(|regions| regions.len());
        let shared = (Rc::strong_count(&state) > 1).then(|| Rc::clone(&state));
        let (state, of_behaviors) = resolver.state(StateId::new(i), Rc::unwrap_or_clone(state));
        if count != Some(state.regions.len()) {
            mistaken_regions.push(state.id);
        }
        states.push(Arc::new(state));
        written.push((shared, of_behaviors));
    }
    let (unchecked, scopes) = (resolver.unchecked, resolver.scopes);
    if states.is_empty() {
        if findings.errors() == 0 {
            findings.add(missing_key("states", "the file", 0..0));
        }
        return None;
    }
    let outermost = link(&mut states);
    regions::place(&mut states, written_regions, &mistaken_regions, findings);
    let with_drafts = states.into_iter().zip(written);
    let (states, params) = with_drafts.map(|(state, (draft, params))| common.share(draft, state, params)).unzip();
    let outline = Outline {
        source: Arc::clone(findings.source()),
        machine: draft.name.map(|name| name.text),
        like: draft.like,
        // A missing or unknown initial state is an error. Only tools for editors use an outline with an error.
        initial: initial.unwrap_or(StateId::new(0)),
        global,
        ticks_per_second: draft.ticks_per_second,
        properties,
        ranges: words.map(|words| words.ranges.clone()).unwrap_or_default(),
        states,
        outermost,
        defined: draft.defined,
        warnings: Arc::default(),
        unlisted_warnings: 0,
        unchecked,
        scripts: BTreeMap::new(),
        named_by_scripts: BTreeMap::new(),
        named: beside_states,
        mentions: OnceLock::new(),
    };
    let has_scripts = outline.states.iter().any(|state| state.scripts().next().is_some());
    Some(Checked { outline, params, scopes: Some(scopes).filter(|_| has_scripts) })
}

/// Returns the mistake for two states at the same place: for example, `fight.aim` and a state `aim` with `parent = "fight"`,
/// or `fight.aim` and the state `aim` of a machine that `fight` runs.
fn at_one_place(states: &[Rc<DraftState<'_>>], later: usize, first: usize) -> Mistake {
    let names = [later, first].map(|i| &states[i].name);
    // The states of linked machines come after all states of the machine itself. So if the roots differ, `later` is the linked
    // state.
    let link = states[later].root.and_then(|root| states[root].machine.as_ref());
    let Some(link) = link.filter(|_| states[first].root != states[later].root) else {
        let [again, name] = names;
        let message = format!("state `{name}` is defined twice");
        return Mistake::error("duplicate-state", again.span.clone(), message)
            .label(if again.text == name.text {
                "defined again here".into()
            } else {
                format!("`{again}` is the same one")
            })
            .second(Some(name.span.clone()), "first defined here")
            .help("put both into one table, or rename one");
    };
    let own = names[1];
    let message = format!("state `{own}` is defined twice: machine `{link}` has it, too");
    Mistake::error("duplicate-state", own.span.clone(), message)
        .label("named as one of the machine's states")
        .second(Some(link.span.clone()), "the machine runs here")
        .help("rename this state: the states of a machine are changed where that is written")
}

/// Sets the children of each state. Returns the states without a parent.
fn link(states: &mut [Arc<StateOutline>]) -> Vec<StateId> {
    let mut outermost = Vec::new();
    for i in 0..states.len() {
        match states[i].parent {
            Some(parent) => Arc::make_mut(&mut states[parent.index()]).children.push(StateId::new(i)),
            None => outermost.push(StateId::new(i)),
        }
    }
    outermost
}

pub(super) struct Resolver<'a> {
    pub(super) findings: &'a mut Findings,
    pub(super) words: Option<&'a Words>,
    /// The machine's name, if the machine has a table of its own.
    machine: Option<&'a str>,
    scopes: Scopes,
    /// The state in which the current names are written. `None` for names outside of all states.
    from: Option<StateId>,
    /// Whether the state `from` is written in another file.
    is_foreign: bool,
    /// The number of ticks per second, to convert durations in ticks.
    pub(super) rate: Option<f64>,
    pub(super) global: Option<StateId>,
    /// The range of the condition whose names are being resolved.
    pub(super) within: Option<Range<usize>>,
    /// The places at which states name the machines that they run, as byte offsets. Names from a linked file get
    /// the place of the link, so a name at such a place is not a mention.
    linked: HashSet<usize>,
    /// The words that the file defines.
    pub(super) defined: Arc<DefinedWords>,
    mentions: Vec<Mention>,
    pub(super) unchecked: Unchecked,
    /// The kinds of words in all machines of the file so far.
    pub(super) assumed: &'a mut Unchecked,
}

impl Resolver<'_> {
    fn global(&mut self, name: Name, initial: Option<StateId>) -> Option<StateId> {
        let at = name.span.clone();
        let global = self.state_named(name)?;
        if Some(global) == initial {
            let message = format!("state `{}` is both the initial and the global state", self.name_of(global));
            Mistake::error("global", at, message)
                .label("runs beside every other state")
                .help("the global state is never entered: name another initial state")
                .report(self.findings);
        }
        Some(global)
    }

    fn state<'i>(&mut self, id: StateId, state: DraftState<'i>) -> (StateOutline, Vec<Option<Params<'i>>>) {
        let DraftState { name, behaviors, script, mut enter_when, parent, initial, machine, .. } = state;
        let of_file = self.rate;
        self.rate = state.rate.or(of_file);
        self.is_foreign = state.written.is_some();
        let runs = machine.is_some();
        let (choose, at) = state.choose.map_or((Choose::First, 0..0), |choose| *choose);
        let may_pass = choose != Choose::First || state.every.is_some() || enter_when.is_some();
        if choose == Choose::Random {
            self.chance(at);
        }
        let (behaviors, params) = behaviors.into_iter().map(|behavior| self.behavior(behavior)).unzip();
        if let Some(script) = &script {
            self.script(script);
        }
        if let Some(when) = &mut enter_when {
            self.condition(when, ConditionPlace::Entry);
        }
        let span = |named: Option<&Name>| named.map_or(name.span.clone(), |named| named.span.clone());
        let (parent_span, initial_span) = (span(parent.as_ref()), span(initial.as_deref()));
        let mut outline = StateOutline {
            id,
            behaviors,
            script,
            every: state.every.and_then(|every| self.duration(every)).map(Box::new),
            enter_when,
            parent: self.parent(id, parent),
            parent_span,
            initial: initial.and_then(|initial| self.state_named(*initial)),
            initial_span,
            regions: state.regions.into_iter().flatten().filter_map(|region| self.region(region)).collect(),
            region: 0,
            children: Vec::new(),
            keeps_history: state.keeps_history,
            is_final: state.is_final,
            is_entry: state.is_entry,
            note: state.note,
            ends: state.ends.map(StateId::new),
            machine,
            part: name.text.len() - self.scopes.part(id).len(),
            is_linked: state.root.is_some(),
            is_foreign: self.is_foreign,
            written: state.written,
            ignores: {
                for message in &state.ignores {
                    self.message(message, id);
                }
                state.ignores
            },
            enter: self.actions(state.enter, ConditionPlace::Tick),
            exit: self.actions(state.exit, ConditionPlace::Tick),
            choose,
            exits: {
                // An exact capacity, because most states have few exits.
                let mut exits = Vec::with_capacity(state.exits.len());
                exits.extend(state.exits.into_iter().filter_map(|exit| self.exit(exit, id, runs, may_pass)));
                exits
            },
            mentions: Vec::new(),
            name,
        };
        // The exact size, because the outline stays in memory.
        outline.mentions = mem::take(&mut self.mentions).into_boxed_slice().into_vec();
        self.rate = of_file;
        (outline, params)
    }

    fn region(&mut self, region: DraftRegion) -> Option<RegionOutline> {
        let DraftRegion { name, initial } = region;
        let (span, is_named) = (initial.span.clone(), name.is_some());
        let name = name.unwrap_or_else(|| initial.clone());
        Some(RegionOutline { name, is_named, initial: self.state_named(initial)?, span })
    }

    fn behavior<'i>(&mut self, behavior: DraftBehavior<'i>) -> (BehaviorOutline, Option<Params<'i>>) {
        let DraftBehavior { name, params } = behavior;
        let mut named = Vec::new();
        self.mention(&name, Meaning::Behavior);
        match self.words {
            None => drop(self.unchecked.behaviors.insert(name.text.clone())),
            Some(words) => match words.behaviors.get(&name.text) {
                Some(schema) => {
                    params::check(self.findings, &name, schema.as_ref(), params.as_ref());
                    for state in params::states(schema.as_ref(), params.as_ref()) {
                        let text = state.text.clone();
                        named.extend(self.state_named(state).map(|id| (text, id)));
                    }
                }
                None => self.unknown(WordKind::Behaviour, &name, words.behaviors.keys()),
            },
        }
        (BehaviorOutline { name, params: params.as_ref().map(|params| params.span()), named }, params)
    }

    /// Resolves an exit. `runs` says whether the state of the exit runs a machine, and `may_pass` whether a tick may pass
    /// without this exit although its condition holds: the state chooses among exits, has turns, or has an `enter_when`.
    fn exit(&mut self, exit: DraftExit, from: StateId, runs: bool, may_pass: bool) -> Option<ExitOutline> {
        let DraftExit { to, after, at: from_time, is_same, mut when, on, mut rank, cooldown, always, .. } = exit;
        let DraftExit { leads, restarts, even_final, has_condition, note, actions, span, .. } = exit;
        let to = if leads.is_named() { to.and_then(|to| self.state_named(to)) } else { Some(from) };
        let place = on.as_ref().map_or(ConditionPlace::Tick, |on| ConditionPlace::Message(&on.text));
        if let Some(when) = &mut when {
            self.condition(when, place);
        }
        if let Some(rank) = &mut rank {
            self.rank(rank, place);
        }
        let actions = self.actions(actions, place);
        let is_done = runs && on.as_ref().is_some_and(|on| on.text == DONE);
        if let Some(on) = on.as_ref().filter(|_| !is_done) {
            self.message(on, from);
        }
        let after = after.and_then(|after| self.duration(after));
        if let Some(at) = &from_time {
            self.value(at, ValueKind::Number);
            if let Some(after) = &after {
                Mistake::error("exit", after.span.clone(), "an exit has `after` or `at`, not both")
                    .label("a second time")
                    .help("write the one of the two for which the exit has to wait")
                    .report(self.findings);
            }
        }
        let cooldown = cooldown.and_then(|cooldown| self.duration(*cooldown)).map(Box::new);
        if let Some(at) = always.clone().filter(|_| after.is_some() || from_time.is_some() || on.is_some()) {
            Mistake::error("always", at, "an exit that is always tried cannot wait for a time or a message")
                .label("tried as soon as the state is entered")
                .help("remove `always`, or put the `after` or `on` into an exit of its own")
                .report(self.findings);
        }
        let to = to?;
        let is_always = always.is_some();
        let exit = ExitOutline {
            to,
            leads,
            after,
            at: from_time,
            is_same,
            when,
            on,
            rank,
            cooldown,
            actions,
            is_always,
            restarts,
            even_final,
            is_done,
            note,
            span,
        };
        // If the condition of an exit has a mistake, the exit only looks like an exit without a condition.
        let is_mistaken =
            has_condition && exit.after.is_none() && exit.at.is_none() && exit.when.is_none() && exit.on.is_none();
        if to == from && !is_mistaken && !may_pass && exit.is_always_from() == Some(0.0) {
            let message = format!("state `{}` would change to itself in every tick", self.name_of(to));
            Mistake::error("spins", exit.span.clone(), message)
                .label("to itself, with no condition")
                .help("give the exit a `when`, or remove it")
                .origin(Origin::MayFollow)
                .report(self.findings);
        }
        Some(exit)
    }

    fn message(&mut self, on: &Name, from: StateId) {
        self.mention(on, Meaning::Message);
        match self.words {
            None => drop(self.unchecked.messages.insert(on.text.clone())),
            Some(words) if words.messages.contains(&on.text) => {}
            Some(_) if on.text == DONE => {
                let message = format!("state `{}` runs no machine whose end it could wait for", self.name_of(from));
                Mistake::error(WordKind::Message.unknown(), on.span.clone(), message)
                    .label("the end of a machine within the state")
                    .help("write `machine = \"..\"` in the state, or wait for a message that the game offers")
                    .report(self.findings);
            }
            Some(words) => self.unknown(WordKind::Message, on, &words.messages),
        }
    }

    pub(super) fn script(&mut self, script: &Name) {
        self.mention(script, Meaning::Script);
        if !cfg!(feature = "script") || self.words.is_some_and(|words| !words.scripts) {
            Mistake::error("script", script.span.clone(), "scripts are turned off")
                .label("a script")
                .help("the feature `script` turns them on: in the game, and in the tool (`cargo install .. --features script`)")
                .report(self.findings);
        }
    }

    /// Returns the parent of a state: the state that the key `parent` names, or else the parent in the state's own name, as
    /// in `fight.aim`.
    fn parent(&mut self, of: StateId, named: Option<Name>) -> Option<StateId> {
        let parent = self.scopes.parent(of);
        let Some(name) = named else { return parent };
        let Some(parent) = parent else { return self.unknown_state(name) };
        self.mention(&name, Meaning::State(parent));
        Some(parent)
    }

    pub(super) fn state_named(&mut self, name: Name) -> Option<StateId> {
        match self.scopes.meant(&name.text, self.from) {
            Meant::One(id) => {
                self.mention(&name, Meaning::State(id));
                Some(id)
            }
            Meant::Several => {
                let places = self.scopes.places(&name.text, self.from);
                let places: Vec<_> = places.iter().map(String::as_str).collect();
                Mistake::error("ambiguous-state", name.span, format!("`{}` is the name of several states", name.text))
                    .label("which of them?")
                    .help(format!("write one of {}", listed(&places)))
                    .fail(self.findings)
            }
            Meant::Nothing => self.unknown_state(name),
        }
    }

    /// Adds a mention of a name.
    pub(super) fn mention(&mut self, name: &Name, meaning: Meaning) {
        if self.is_foreign || self.linked.contains(&name.span.start) {
            return;
        }
        let Name { text, span } = name.clone();
        // A name in a condition of `[conditions]` is written there, and not where this condition is used.
        let is_around = |at: &Range<usize>| at.start <= span.start && span.end <= at.end;
        let defined = || self.defined.places.iter().map(|(_, at)| at).find(|at| is_around(at)).cloned();
        let condition =
            self.within.clone().and_then(|within| if is_around(&within) { Some(within) } else { defined() });
        self.mentions.push(Mention { name: text, span, meaning, condition });
    }

    fn unknown_state(&mut self, name: Name) -> Option<StateId> {
        if name.text.starts_with('$') || ["previous", "prev"].iter().any(|word| name.text.eq_ignore_ascii_case(word)) {
            return Mistake::error("unknown-state", name.span, format!("unknown state `{}`", name.text))
                .label("no state of this file")
                .help("an exit leads back to the state before with `to = \"$previous\"`")
                .origin(Origin::MayFollow)
                .fail(self.findings);
        }
        let nearest = self.findings.nearest(&name.text, self.scopes.names());
        let machine = self.machine.map_or(String::new(), |machine| format!("machines.{}.", quoted(machine)));
        Mistake::error("unknown-state", name.span, format!("unknown state `{}`", name.text))
            .label("no state of this file")
            .help(format!("define it: `[{machine}states.{}]`", quoted(&name.text)))
            .meant(nearest)
            .origin(Origin::MayFollow)
            .fail(self.findings)
    }

    /// Reports a word that the game does not offer. The help text says how to use the name if it is a word of another kind. If
    /// not, it contains the word that was probably meant, or a list of the known words.
    pub(super) fn unknown<'k>(&mut self, kind: WordKind, name: &Name, offered: impl IntoIterator<Item = &'k String>) {
        let offered: Vec<&str> = offered.into_iter().map(String::as_str).collect();
        let grammar = RESERVED.into_iter().filter(|_| kind == WordKind::Value);
        let of_file = self.defined.places.iter().map(|(name, _)| name.text.as_str());
        let of_file = of_file.filter(|_| kind == WordKind::Value);
        let nearest = self.findings.nearest(&name.text, offered.iter().copied().chain(of_file).chain(grammar));
        let mistake = Mistake::error(kind.unknown(), name.span.clone(), format!("unknown {kind} `{name}`"))
            .label(format!("no {kind} that the game offers"));
        if let Some(help) = self.word_of_another_kind(kind, &name.text) {
            self.findings.add(mistake.help(help));
            return;
        }
        self.findings.add(match nearest {
            None if !offered.is_empty() => mistake.help(format!("the game offers {}", listed(&offered))),
            nearest => mistake.meant(nearest),
        });
    }

    /// Returns what to write if the word exists, but is a word of another kind.
    fn word_of_another_kind(&self, kind: WordKind, name: &str) -> Option<String> {
        if kind == WordKind::Value && self.defined.has(name) {
            return Some(format!(
                "`{name}` is a word of this file: a condition uses it below its definition, alone or in a comparison"
            ));
        }
        let words = self.words?;
        match kind {
            WordKind::Value if words.messages.contains(name) => {
                Some(format!("`{name}` is a message: an exit waits for it with `on = \"{name}\"`"))
            }
            WordKind::Value if words.behaviors.contains_key(name) => {
                Some(format!("`{name}` is a behavior: a state does it with `behavior = \"{name}\"`"))
            }
            WordKind::Value if self.scopes.names().any(|state| state == name) => {
                Some(format!("`{name}` is a state: write `in({name})`"))
            }
            WordKind::Message if words.values.contains_key(name) => {
                Some(format!("`{name}` is a value: an exit asks for it with `when = \"{name}\"`"))
            }
            _ => None,
        }
    }

    pub(super) fn name_of(&self, id: StateId) -> &str {
        self.scopes.name(id)
    }
}
