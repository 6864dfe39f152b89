//! From an outline and a vocabulary to a graph that runs.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use toml::de::DeTable;

use super::condition::Condition;
use super::fault::Fault;
use super::graph::{Content, Exit, Graph, MessageExit, Node, Place};
use super::outline::{ExitOutline, Outline, Spot, StateOutline, When};
use super::problem::{Findings, Problems};
use super::vocabulary::{Params, Vocabulary};
use crate::owner::Owner;

/// A graph, and the places in it of the outline's states.
type Built<T> = (Graph<T>, Vec<Arc<Place<T>>>);

/// Builds the graph. States that `before` has, nested as they are now, keep their places; those that are gone keep theirs,
/// with where their owners go.
pub(crate) fn graph<T: Owner>(
    outline: &Outline,
    vocabulary: &Vocabulary<T>,
    folder: Option<&Path>,
    before: &[Node<T>],
) -> Result<Built<T>, Problems> {
    let source = Arc::clone(&outline.source);
    let has_params = outline.states.iter().any(|state| state.params.is_some());
    let table = has_params.then(|| DeTable::parse_recoverable(&source.text).0);
    let states = table.as_ref().and_then(|table| table.get_ref().get("states")?.get_ref().as_table());
    let params_of =
        |state: &StateOutline| states?.get(state.name.as_str())?.get_ref().as_table()?.get("params").cloned();
    let places = places(outline, before);
    let findings = Findings::new(Arc::clone(&outline.source));
    #[cfg(feature = "script")]
    let states = Arc::new(places.iter().map(|place| (place.name.clone(), place.index)).collect());
    let mut builder = Builder {
        outline,
        vocabulary,
        folder,
        findings,
        #[cfg(feature = "script")]
        states,
    };
    let contents: Vec<_> =
        outline.states.iter().map(|state| builder.content(state, params_of(state), &places)).collect();
    builder.findings.finish()?;

    let index_of: HashMap<&str, usize> = places.iter().map(|place| (place.name.as_str(), place.index)).collect();
    let initial = places[outline.initial].index;
    let mut nodes: Vec<Option<Node<T>>> = Vec::new();
    nodes.resize_with(before.len().max(places.iter().map(|place| place.index + 1).max().unwrap_or(0)), || None);
    for (place, content) in places.iter().zip(contents) {
        nodes[place.index] = Some(Node { place: Arc::clone(place), content: Arc::new(content), gone_to: None });
    }
    let nodes = nodes.into_iter().enumerate().filter_map(|(index, node)| {
        node.or_else(|| {
            let gone = before.get(index)?;
            Some(Node {
                place: Arc::clone(&gone.place),
                content: Arc::clone(&gone.content),
                gone_to: Some(index_of.get(gone.place.name.as_str()).copied().unwrap_or(initial)),
            })
        })
    });
    let graph = Graph {
        file: outline.source.name.clone(),
        initial,
        global: outline.global.map(|global| places[global].index),
        nodes: nodes.collect(),
    };
    Ok((graph, places))
}

/// The place of each state of the outline.
fn places<T: Owner>(outline: &Outline, before: &[Node<T>]) -> Vec<Arc<Place<T>>> {
    // The latest place of a name is the one in use.
    let known: HashMap<&str, &Arc<Place<T>>> = before
        .iter()
        .filter(|node| node.gone_to.is_none())
        .map(|node| (node.place.name.as_str(), &node.place))
        .collect();
    let name = |place: &usize| outline.states[*place].name.as_str();
    let name_before = |index: &usize| before[*index].place.name.as_str();
    let mut kept: Vec<Option<&Arc<Place<T>>>> = outline
        .states
        .iter()
        .map(|state| {
            let place = *known.get(state.name.as_str())?;
            let is_as_before = place.parent.as_ref().map(name_before) == state.parent.as_ref().map(name)
                && place.initial.as_ref().map(name_before) == state.initial.as_ref().map(name)
                && place.keeps_history == state.keeps_history;
            is_as_before.then_some(place)
        })
        .collect();
    // A state whose parent or initial child has a new place has one itself.
    loop {
        let moved: Vec<usize> = (0..kept.len())
            .filter(|&i| {
                let state = &outline.states[i];
                kept[i].is_some() && state.parent.into_iter().chain(state.initial).any(|near| kept[near].is_none())
            })
            .collect();
        if moved.is_empty() {
            break;
        }
        for i in moved {
            kept[i] = None;
        }
    }
    let mut next = before.len();
    let indices: Vec<usize> = kept
        .iter()
        .map(|place| {
            place.map_or_else(
                || {
                    next += 1;
                    next - 1
                },
                |place| place.index,
            )
        })
        .collect();
    let state = |i: usize| &outline.states[i];
    kept.into_iter()
        .enumerate()
        .map(|(i, place)| match place {
            Some(place) => Arc::clone(place),
            None => Arc::new(Place::new(
                indices[i],
                &state(i).name,
                state(i).parent.map(|parent| indices[parent]),
                state(i).initial.map(|initial| indices[initial]),
                state(i).keeps_history,
            )),
        })
        .collect()
}

struct Builder<'a, T: Owner> {
    outline: &'a Outline,
    vocabulary: &'a Vocabulary<T>,
    folder: Option<&'a Path>,
    findings: Findings,
    /// The places of the states, for scripts to change to.
    #[cfg(feature = "script")]
    states: Arc<HashMap<String, usize>>,
}

impl<T: Owner> Builder<'_, T> {
    fn content(&mut self, state: &StateOutline, params: Params<'_>, places: &[Arc<Place<T>>]) -> Content<T> {
        let made = state.behaviour.as_ref().and_then(|word| {
            let made = self.vocabulary.make(&word.text, params)?;
            match made {
                Ok(behaviour) => Some(behaviour),
                Err(error) => {
                    let params = state.params.clone().unwrap_or_else(|| word.span.clone());
                    let span = error.span().filter(|span| !span.is_empty()).unwrap_or(params);
                    let fault = Fault::BadParameter { behaviour: word.text.clone(), why: error.message().into() };
                    self.findings.add(span, fault);
                    None
                }
            }
        });
        let (mut exits, mut message_exits) = (Vec::new(), Vec::new());
        for exit in &state.exits {
            let built = self.exit(exit, &state.name, places);
            match &exit.on {
                None => exits.push(built),
                Some(on) => {
                    if let Some(is) = self.vocabulary.message_of(&on.text) {
                        message_exits.push(MessageExit { is, exit: built });
                    }
                }
            }
        }
        Content {
            has_update: made.as_ref().is_some_and(|behaviour| !behaviour.is_passive()),
            behaviour: made,
            enter_when: state.enter_when.as_ref().and_then(|when| self.condition(when, &state.name)),
            exits,
            message_exits,
            #[cfg(feature = "script")]
            script: self.hooks(state),
        }
    }

    fn exit(&mut self, exit: &ExitOutline, of: &str, places: &[Arc<Place<T>>]) -> Exit<T> {
        let mut enters = self.outline.path(exit.to);
        enters.extend(self.outline.descent(exit.to).into_iter().skip(1));
        Exit {
            to: places[exit.to].index,
            enters: enters.into_iter().map(|place| places[place].index).collect(),
            when: exit.when.as_ref().and_then(|when| self.condition(when, of)),
        }
    }

    fn condition(&mut self, when: &When, of: &str) -> Option<Condition<T>> {
        match when {
            When::Expr { expr, .. } => Some(Condition::compile(expr, self.vocabulary)),
            When::Script(script) => self.question(script, of),
        }
    }

    #[cfg(not(feature = "script"))]
    fn question(&mut self, script: &Spot, _: &str) -> Option<Condition<T>> {
        let _ = self.folder;
        self.findings.add(script.span.clone(), Fault::ScriptsAreOff);
        None
    }

    #[cfg(feature = "script")]
    fn question(&mut self, script: &Spot, of: &str) -> Option<Condition<T>> {
        match super::script::Question::new(&script.text, of, self.folder, self.vocabulary, &self.states) {
            Ok(question) => Some(Condition::script(Arc::new(question))),
            Err(why) => self.refuse(script, why),
        }
    }

    #[cfg(feature = "script")]
    fn hooks(&mut self, state: &StateOutline) -> Option<super::script::Hooks<T>> {
        let script = state.script.as_ref()?;
        match super::script::Hooks::new(&script.text, self.folder, self.vocabulary, &self.states) {
            Ok(hooks) => Some(hooks),
            Err(why) => self.refuse(script, why),
        }
    }

    #[cfg(feature = "script")]
    fn refuse<O>(&mut self, script: &Spot, why: String) -> Option<O> {
        self.findings.add(script.span.clone(), Fault::Script { file: script.text.clone(), why });
        None
    }
}
