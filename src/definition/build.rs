//! The last stage of loading a definition: builds the graph on which machines run, from an outline and a vocabulary.

use std::collections::{HashMap, HashSet};
use std::hash::Hasher;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

use siphasher::sip::SipHasher13;

use super::action::{Act, Actions, Hooks};
use super::choice::{Choice, Ranking};
use super::closures::MessageKind;
use super::condition::Condition;
use super::formula::{Formula, FormulaAtom};
use super::graph::{Content, Exit, Fixed, Graph, MessageExit, Node, SharedGraph, ToldOnce};
use super::named::{FileStates, Link};
use super::opening::{Interval, Opening};
#[cfg(feature = "script")]
use super::script::{Offered, Script};
use super::several::Several;
use super::vocabulary::{Repeated, Vocabulary};
use crate::format::action::{WrittenAction, WrittenActions};
use crate::format::beside::FilesBeside;
use crate::format::choose::Choose;
use crate::format::draft::Params;
use crate::format::expression::When;
use crate::format::leads::Leads;
use crate::format::name::Name;
use crate::format::operand::Operand;
use crate::format::outline::{BehaviorOutline, Checked, ExitOutline, Outline, StateId, StateOutline};
use crate::format::problems::findings::Findings;
use crate::format::problems::mistake::Mistake;
use crate::format::problems::problem::Problems;
use crate::format::property::Property as WrittenProperty;
#[cfg(feature = "script")]
use crate::format::script::compiled::Purpose;
use crate::format::words::WordKind;
use crate::owner::Owner;
use crate::state::StateRef;

/// The results of a build besides the graph.
pub(crate) struct Built<T: Owner> {
    pub(crate) outline: Outline,
    /// The constant part of each state of the outline, by id.
    pub(crate) states: Arc<[Arc<Fixed<T>>]>,
    /// The link from the states to their shared data. It has not been set yet.
    link: Link<T>,
}

impl<T: Owner> Built<T> {
    pub(crate) fn set_link(&self, shared: &Arc<SharedGraph<T>>) {
        // Setting it cannot fail: the cell was created for these states only.
        let _ = self.link.set(Arc::downgrade(shared));
    }
}

/// Builds the graph. A state of `before` stays the same state if its constant part (name, parent, initial children, region,
/// history) has not changed. A state that is gone from the file stays as long as it is in use, and gets an exit for its
/// owners.
pub(crate) fn build<T: Owner>(
    checked: Checked<'_>,
    vocabulary: &Vocabulary<T>,
    beside: Option<&FilesBeside>,
    before: Option<&Graph<T>>,
) -> Result<(Graph<T>, Built<T>), Problems> {
    let Checked { outline, params, scopes } = checked;
    #[cfg(not(feature = "script"))]
    let _ = (beside, scopes);
    let nodes_before = before.map_or(&[][..], |before| &before.nodes);
    let is_kept = kept(nodes_before);
    let states: Arc<[_]> = fixed(&outline, nodes_before, &is_kept).into();
    let link = Link::<T>::default();
    let by_name = states.iter().map(|state| (state.name.as_str(), state)).collect();
    let mut builder = Builder {
        outline: &outline,
        states: &states,
        vocabulary,
        by_name: &by_name,
        link: &link,
        numbers: HashSet::new(),
        number: 0,
        findings: Findings::new(Arc::clone(&outline.source)),
        #[cfg(feature = "script")]
        offered: Offered {
            beside,
            values: &vocabulary.values,
            setters: &vocabulary.setters,
            texts: &vocabulary.scripts.texts,
            indices: states.iter().map(|fixed| fixed.index).collect(),
            scopes: scopes.map(Arc::new),
            budget: vocabulary.scripts.budget,
        },
    };
    builder.repeated_words();
    let mut contents: Vec<_> =
        outline.states.iter().zip(params).map(|(state, params)| builder.content(state, &params)).collect();
    find_unguarded(&outline, &states, &mut contents);
    let compiled = |property: &WrittenProperty| {
        let condition = |builder: &mut Builder<'_, T>, when: Box<When>| builder.condition(&when, None, None);
        property.clone().map(&mut builder, condition, |_, within| within.seconds())
    };
    let properties = outline.properties.iter().filter_map(compiled).collect();
    builder.findings.finish()?;

    let initial = states[outline.initial.index()].index;
    let global = outline.global.map(|global| states[global.index()].index);
    let leave_to = |to: StateId| Arc::new(exit_to(to, &outline, &states));
    let to_initial = leave_to(outline.initial);
    let id_of: HashMap<_, _> = outline.states.iter().map(|state| (state.name(), state.id)).collect();
    // The owners of a state that is gone go to the state with the same name if there is one, or else to the initial state. If the
    // state lay in a region of a state that stays, they go to a state of the same region.
    let lead = |gone: &Fixed<T>| {
        let named = id_of.get(gone.name.as_str()).copied();
        let mut inner = gone;
        while let Some(parent) = inner.parent {
            let parent = &nodes_before[parent].fixed;
            let stays = id_of.get(parent.name.as_str()).filter(|id| Arc::ptr_eq(&states[id.index()], parent));
            if let Some((id, region)) = stays.and_then(|id| Some((*id, outline.state(*id).regions.get(inner.region)?)))
            {
                let leads_in = |on: &[StateId]| on[0] == id && outline.state(on[1]).region == inner.region;
                let is_there = |named: &StateId| outline.path(*named).windows(2).any(leads_in);
                return leave_to(named.filter(is_there).unwrap_or(region.initial));
            }
            inner = parent;
        }
        named.map_or_else(|| Arc::clone(&to_initial), leave_to)
    };
    let nodes = nodes(&states, contents, nodes_before, &is_kept, lead);
    let version = before.map_or(0, |before| before.version.wrapping_add(1));
    let (file, told) = (outline.source.name.clone(), ToldOnce::default());
    let graph = Graph { version, file, initial, global, nodes, to_initial, properties, told };
    Ok((graph, Built { outline, states, link }))
}

/// Returns which states of the old graph stay: the states of the file, and the states in use with their parents and initial
/// children. If all states stayed, memory would grow with each state that is renamed while a game runs.
fn kept<T: Owner>(before: &[Node<T>]) -> Vec<bool> {
    let mut kept: Vec<bool> = before.iter().map(|node| node.gone.is_none() || node.fixed.is_held()).collect();
    let mut waiting: Vec<usize> = (0..before.len()).filter(|index| kept[*index]).collect();
    while let Some(index) = waiting.pop() {
        let Fixed { parent, initial, regions, .. } = &*before[index].fixed;
        for near in [*parent, *initial].into_iter().flatten().chain(regions.iter().copied()) {
            if !kept[near] {
                kept[near] = true;
                waiting.push(near);
            }
        }
    }
    kept
}

/// Returns an exit that leads to a state and is always open. The owners of a state that is gone take such an exit, and the
/// exits of the file are based on it.
fn exit_to<T: Owner>(to: StateId, outline: &Outline, states: &[Arc<Fixed<T>>]) -> Exit<T> {
    let index = |id: StateId| states[id.index()].index;
    let entered = outline.entered(to);
    // A change that enters a state with regions counts as a change to this state (rule 32).
    let with_regions = entered.iter().find(|id| !outline.state(**id).regions.is_empty());
    let innermost = with_regions.or(entered.last()).copied().unwrap_or(to);
    Exit {
        to: index(to),
        above: outline.path(to).len() - 1,
        innermost: index(innermost),
        route: entered.into_iter().map(index).collect(),
        is_always: false,
        restarts: true,
        even_final: true,
        rank: None,
        leads: Leads::To,
        is_unguarded: false,
        is_plain: true,
        actions: None,
        opens: Opening::AtOnce,
        after: Box::default(),
        when: None,
    }
}

/// Finds the exits for which no guard is asked if their state is the innermost active one.
fn find_unguarded<T: Owner>(outline: &Outline, states: &[Arc<Fixed<T>>], contents: &mut [Content<T>]) {
    // A final state counts as guarded, because exits of states in it may not lead out of it.
    let is_guarded =
        |content: &Content<T>| content.behaviour.is_some() || content.enter_when.is_some() || content.is_final;
    let guarded: HashSet<usize> = states
        .iter()
        .zip(&*contents)
        .filter(|(_, content)| is_guarded(content))
        .map(|(state, _)| state.index)
        .collect();
    for (state, content) in outline.states.iter().zip(contents) {
        let path: Vec<usize> = outline.path(state.id).into_iter().map(|id| states[id.index()].index).collect();
        for exit in &mut content.exits {
            // The change leaves and enters all states below those that both paths share (rule 6).
            let kept = path.iter().zip(&exit.route[..exit.above]).take_while(|(one, other)| one == other).count();
            let asked = path[kept..].iter().chain(&exit.route[kept..]).any(|index| guarded.contains(index));
            exit.is_unguarded = exit.leads == Leads::To && !asked;
        }
    }
}

/// Returns the nodes of the current states, and of the states that are gone and still in use.
fn nodes<T: Owner>(
    states: &[Arc<Fixed<T>>],
    contents: Vec<Content<T>>,
    before: &[Node<T>],
    is_kept: &[bool],
    lead: impl Fn(&Fixed<T>) -> Arc<Exit<T>>,
) -> Vec<Node<T>> {
    let gone = before.iter().zip(is_kept).enumerate().map(|(index, (node, is_kept))| {
        if *is_kept {
            Node::new(Arc::clone(&node.fixed), Arc::clone(&node.content), Some(lead(&node.fixed)))
        } else {
            // The place is free for a later state.
            let fixed = Fixed::new(index, "");
            let to = lead(&fixed);
            Node::without(Arc::new(fixed), to)
        }
    });
    let mut nodes: Vec<_> = gone.collect();
    for (fixed, content) in states.iter().zip(contents) {
        let node = Node::new(Arc::clone(fixed), Arc::new(content), None);
        match nodes.get_mut(node.fixed.index) {
            Some(place) => *place = node,
            // The new states follow the old ones without a gap.
            None => nodes.push(node),
        }
    }
    for fixed in states {
        let path = iter::successors(Some(fixed.index), |index| nodes[*index].fixed.parent);
        let can_rest = { path }.all(|index| nodes[index].content.can_rest());
        let node = &mut nodes[fixed.index];
        node.can_rest = can_rest;
        node.only_decides = node.content.only_tries_exits() && !node.content.decides_alone() && !can_rest;
    }
    nodes
}

/// Returns the constant part of each state of the outline: the old one if nothing in it has changed.
fn fixed<T: Owner>(outline: &Outline, before: &[Node<T>], is_kept: &[bool]) -> Vec<Arc<Fixed<T>>> {
    // If several states have the same name, only the latest one is not gone.
    let known: HashMap<&str, &Arc<Fixed<T>>> =
        before.iter().filter(|node| node.gone.is_none()).map(|node| (node.fixed.name.as_str(), &node.fixed)).collect();
    let name = |id: StateId| outline.state(id).name();
    let name_before = |index: usize| before[index].fixed.name.as_str();
    let mut kept: Vec<Option<&Arc<Fixed<T>>>> = outline
        .states
        .iter()
        .map(|state| {
            let fixed = *known.get(state.name())?;
            let is_as_before = fixed.parent.map(name_before) == state.parent.map(name)
                && fixed.initial.map(name_before) == state.initial.map(name)
                && fixed.regions.iter().copied().map(name_before).eq(state.regions().map(name))
                && fixed.region == state.region
                && fixed.keeps_history == state.keeps_history;
            is_as_before.then_some(fixed)
        })
        .collect();
    // A state whose parent or initial child is new is itself new.
    loop {
        let is_new = |id: StateId| kept[id.index()].is_none();
        let is_moved = |state: &&Arc<StateOutline>| {
            let mut near = state.parent.into_iter().chain(state.initial).chain(state.regions());
            !is_new(state.id) && near.any(is_new)
        };
        let moved: Vec<_> = outline.states.iter().filter(is_moved).map(|state| state.id.index()).collect();
        if moved.is_empty() {
            break;
        }
        for i in moved {
            kept[i] = None;
        }
    }
    let mut free = (0..before.len()).filter(|index| !is_kept[*index]).chain(before.len()..);
    let mut next = || free.next().expect("there are more numbers than states");
    let indices: Vec<usize> = kept.iter().map(|fixed| fixed.map_or_else(&mut next, |fixed| fixed.index)).collect();
    let index = |id: StateId| indices[id.index()];
    kept.into_iter()
        .zip(&outline.states)
        .map(|(fixed, state)| match fixed {
            Some(fixed) => Arc::clone(fixed),
            None => Arc::new(Fixed {
                parent: state.parent.map(index),
                initial: state.initial.map(index),
                regions: state.regions().map(index).collect(),
                region: state.region,
                keeps_history: state.keeps_history,
                ..Fixed::new(index(state.id), state.name())
            }),
        })
        .collect()
}

struct Builder<'a, T: Owner> {
    outline: &'a Outline,
    /// The states, by id.
    states: &'a Arc<[Arc<Fixed<T>>]>,
    by_name: &'a HashMap<&'a str, &'a Arc<Fixed<T>>>,
    link: &'a Link<T>,
    vocabulary: &'a Vocabulary<T>,
    /// The numbers of the exits with a cooldown.
    numbers: HashSet<u32>,
    /// The last of these numbers.
    number: u32,
    findings: Findings,
    #[cfg(feature = "script")]
    offered: Offered<'a, T>,
}

impl<T: Owner> Builder<'_, T> {
    /// Reports words that the game registered twice: it is unknown which of the two the file means.
    fn repeated_words(&mut self) {
        for repeated in &self.vocabulary.repeated {
            let at = first_use(self.outline, repeated).unwrap_or(0..0);
            self.findings.add(
                Mistake::error("duplicate-word", at, format!("the game offers {repeated} twice"))
                    .label("which of the two?")
                    .help("a programmer must remove or rename one of them in the vocabulary"),
            );
        }
    }

    fn content(&mut self, state: &StateOutline, params: &[Option<Params<'_>>]) -> Content<T> {
        let made = state
            .behaviors
            .iter()
            .zip(params)
            .filter_map(|(behavior, params)| self.behavior(behavior, params.clone(), state.is_foreign));
        let mut made: Vec<_> = made.collect();
        let made = if made.len() < 2 { made.pop() } else { Some(Arc::new(Several(made.into())).into()) };
        let (mut exits, mut message_exits) = (Vec::new(), Vec::new());
        for (nth, exit) in state.exits.iter().enumerate() {
            let built = self.exit(exit, nth, state);
            match &exit.on {
                None => exits.push(built),
                Some(on) => {
                    let is = if exit.is_done { Some(never::<T>()) } else { self.vocabulary.message_of(&on.text) };
                    if let Some(is) = is {
                        message_exits.push(MessageExit { on: on.text.clone(), is, is_done: exit.is_done, exit: built });
                    }
                }
            }
        }
        let choice = match state.choose {
            Choose::First => None,
            Choose::Best => Some(Choice::Best),
            Choose::Random => self.vocabulary.random.clone().map(Choice::Random),
        };
        let is_script = |exit: &ExitOutline| matches!(exit.when.as_deref(), Some(When::Script(_)));
        Content {
            has_script: state.script.is_some(),
            asks_scripts: state.exits.iter().any(is_script),
            ignores: {
                let kind = |message: &str| Some((message.to_owned(), self.vocabulary.message_of(message)?));
                state.ignores().filter_map(kind).collect()
            },
            is_final: state.is_final,
            ends: state.ends.map(|of| self.states[of.index()].index),
            has_update: made.as_ref().is_some_and(|behaviour| !behaviour.is_passive()),
            behaviour: made,
            every_written: state.every().map(|every| every.to_string().into()),
            every: state.every.as_ref().map(|every| Interval::new(every, self.vocabulary)),
            enter_when: state.enter_when.as_deref().and_then(|when| self.condition(when, None, Some(state))),
            hooks: self.hooks(state),
            ..Content::of(exits, message_exits, choice)
        }
    }

    fn hooks(&mut self, state: &StateOutline) -> Option<Box<Hooks<T>>> {
        let (enter, exit) = (self.actions(&state.enter, None), self.actions(&state.exit, None));
        #[cfg(feature = "script")]
        let script = state.script.as_ref().and_then(|script| self.script(script, state, Purpose::Hooks));
        let is_empty = enter.0.is_empty() && exit.0.is_empty();
        #[cfg(feature = "script")]
        let is_empty = is_empty && script.is_none();
        let hooks = Hooks {
            enter,
            exit,
            #[cfg(feature = "script")]
            script,
        };
        (!is_empty).then(|| Box::new(hooks))
    }

    /// Compiles actions. First the values are set, and then the actions run.
    fn actions(&self, written: &WrittenActions, message: Option<&str>) -> Actions<T> {
        let compile = |action: &WrittenAction| {
            let WrittenAction { name, sets, argument, .. } = action;
            let run = if *sets { self.vocabulary.setter_of(&name.text) } else { self.vocabulary.action_of(&name.text) };
            let argument = match argument {
                Some(argument) => Formula::compile(argument, self.vocabulary, self.by_name, message)?,
                None => FormulaAtom::Number(0.0).into(),
            };
            Some(Act { run: run?, argument })
        };
        let all = || written.iter().flat_map(|actions| actions.iter());
        let in_order = all().filter(|action| action.sets).chain(all().filter(|action| !action.sets));
        Actions(in_order.filter_map(compile).collect())
    }

    fn behavior(
        &mut self,
        behavior: &BehaviorOutline,
        params: Option<Params<'_>>,
        is_foreign: bool,
    ) -> Option<StateRef<T>> {
        let BehaviorOutline { name, params: at, named } = behavior;
        let states = FileStates {
            named: named.iter().map(|(text, id)| (text.clone(), id.index())).collect(),
            states: Arc::clone(self.states),
            link: Arc::clone(self.link),
        };
        match self.vocabulary.make(&name.text, params, &states)? {
            Ok(behavior) => Some(behavior),
            Err(error) => {
                let of_params = at.clone().filter(|_| !is_foreign).unwrap_or_else(|| name.span.clone());
                let at = error.span().filter(|span| !span.is_empty() && !is_foreign).unwrap_or(of_params);
                let message = format!("behavior `{name}` refuses its parameters: {}", error.message());
                self.findings.add(Mistake::error("parameter-type", at, message).label("refused"));
                None
            }
        }
    }

    fn exit(&mut self, exit: &ExitOutline, nth: usize, of: &StateOutline) -> Exit<T> {
        let opens = match exit.at() {
            Some(value) => Opening::at(value, self.vocabulary),
            None => Opening::new(exit.after(), nth, self.vocabulary),
        };
        let actions = exit.actions.is_some().then(|| Arc::new(self.actions(&exit.actions, exit.on())));
        // An exit for several messages has only one cooldown.
        if exit.cooldown().is_some() && !exit.is_same {
            self.number = self.next_number(of.name(), exit.to);
        }
        Exit {
            is_plain: exit.leads == Leads::To && exit.cooldown().is_none() && actions.is_none(),
            actions,
            leads: exit.leads,
            is_always: exit.is_always,
            restarts: exit.restarts,
            // When a linked machine has ended, it is in a final state.
            even_final: exit.even_final || exit.is_done,
            opens: match exit.cooldown() {
                Some(cooldown) => opens.cooled(cooldown, self.number, self.vocabulary),
                None => opens,
            },
            rank: exit.rank.as_ref().and_then(|rank| self.ranking(&rank.operand, exit.on())),
            after: exit.after().map(ToString::to_string).unwrap_or_default().into(),
            when: exit.when.as_deref().and_then(|when| self.condition(when, exit.on(), Some(of))),
            ..exit_to(exit.to, self.outline, self.states)
        }
    }

    fn ranking(&self, operand: &Operand, message: Option<&str>) -> Option<Box<Ranking<T>>> {
        let formula = Formula::compile(operand, self.vocabulary, self.by_name, message)?;
        Some(Box::new(Ranking::new(formula)))
    }

    /// Returns the number of an exit with a cooldown. It is a hash of the names of its states, so that in a saved game and after
    /// a reload, the number still means the same exit. Each exit with the same hash gets the next free number.
    fn next_number(&mut self, of: &str, to: StateId) -> u32 {
        let mut hasher = SipHasher13::new();
        for name in [of, self.outline.state(to).name()] {
            hasher.write(name.as_bytes());
            hasher.write_u8(0xff);
        }
        #[expect(clippy::cast_possible_truncation, reason = "any bits of the hash will do")]
        let mut number = hasher.finish() as u32 >> 1;
        while !self.numbers.insert(number) {
            number = (number + 1) & u32::MAX >> 1;
        }
        number
    }

    /// Compiles a condition of the state `of`, or one outside of all states, which asks no script. `message` is the message that the
    /// exit waits for.
    fn condition(&mut self, when: &When, message: Option<&str>, of: Option<&StateOutline>) -> Option<Condition<T>> {
        match when {
            When::Expr { expr, .. } => Some(Condition::compile(expr, self.vocabulary, self.by_name, message)),
            #[cfg(feature = "script")]
            When::Script(script) => self.script(script, of?, Purpose::Condition).map(Condition::script),
            #[cfg(not(feature = "script"))]
            When::Script(_) => {
                // The outline has an error.
                let _ = of;
                None
            }
        }
    }

    #[cfg(feature = "script")]
    fn script(&mut self, script: &Name, of: &StateOutline, purpose: Purpose) -> Option<Script<T>> {
        Script::new(script, of, purpose, &self.offered, &mut self.findings)
    }
}

/// Returns a message kind that matches no message.
fn never<T: Owner>() -> MessageKind<T> {
    Arc::new(|_| false)
}

/// Returns where the file first uses a word that the game registered twice.
fn first_use(outline: &Outline, repeated: &Repeated) -> Option<Range<usize>> {
    let span = |name: &Name| name.span.clone();
    let uses = outline.states.iter().flat_map(|state| -> Vec<Range<usize>> {
        let ons = state.exits.iter().filter_map(|exit| exit.on.as_ref()).chain(&state.ignores);
        let (whens, durations) = (state.conditions(), state.durations());
        match repeated {
            Repeated::Word(WordKind::Behaviour, name) => {
                let behaviors = state.behaviors.iter().map(|behavior| &behavior.name);
                behaviors.filter(|behavior| behavior.text == *name).map(span).collect()
            }
            Repeated::Word(WordKind::Action, name) => {
                let actions = state.actions().filter(|action| !action.sets && action.name.text == *name);
                actions.map(|action| span(&action.name)).collect()
            }
            Repeated::Word(WordKind::Message, name) => ons.filter(|on| on.text == *name).map(span).collect(),
            Repeated::Word(WordKind::Field, name) => {
                let is_of = |on: &&Name| name.strip_prefix(&on.text).is_some_and(|rest| rest.starts_with('.'));
                ons.filter(is_of).map(span).collect()
            }
            Repeated::Word(WordKind::Value, name) => {
                let durations = durations.filter(|of| of.value() == Some(name)).map(|of| of.span.clone());
                let ats = state.exits.iter().filter_map(|exit| exit.at.as_deref());
                let ats = ats.filter(|at| at.text == *name).map(span);
                let ranks = state.exits.iter().filter_map(|exit| exit.rank.as_ref());
                let ranks = ranks.filter_map(|rank| rank.operand.first_value(name)).map(span);
                let actions = state.actions().filter_map(|action| {
                    let read = action.argument.as_ref().and_then(|argument| argument.first_value(name));
                    read.or((action.sets && action.name.text == *name).then_some(&action.name)).map(span)
                });
                let others = durations.chain(ranks).chain(ats).chain(actions);
                whens.filter_map(|when| when.first_value(name)).chain(others).collect()
            }
            Repeated::Random => {
                let durations = durations.filter(|of| of.range().is_some()).map(|of| of.span.clone());
                let chooses = (state.choose == Choose::Random).then(|| state.name.span.clone());
                whens.filter_map(When::first_chance).chain(durations).chain(chooses).collect()
            }
            #[cfg(feature = "script")]
            Repeated::Script(file) => state.scripts().filter(|script| script.text == *file).map(span).collect(),
        }
    });
    let in_properties = outline.properties.iter().flat_map(|property| property.rule.conditions());
    let in_properties = in_properties.filter_map(|when| match repeated {
        Repeated::Word(WordKind::Value, name) => when.first_value(name),
        _ => None,
    });
    uses.chain(in_properties).min_by_key(|at| at.start)
}
