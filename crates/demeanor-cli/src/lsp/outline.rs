//! The outline of a document: its machines with their nested states.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use demeanor::definition::{Outline, StateId, Survey};
use lsp_types::{DocumentSymbol, SymbolKind};

use super::position::Text;

/// The largest depth of the tree.
const DEEPEST: usize = 70;

/// Returns the states of a document as a tree.
pub(super) fn symbols(survey: &Survey, source: &Text) -> Vec<DocumentSymbol> {
    let sections = survey.keys().iter().map(|key| (key.span().start, key.section())).collect();
    let tree = Tree { source, sections };
    let mut all = Vec::new();
    for outline in survey.outlines() {
        let own = survey.keys().iter().filter(|key| key.state().is_some() && key.machine() == outline.machine());
        let states = tree.states(outline, &own.map(|key| key.span().start).collect());
        let Some(machine) = outline.machine() else {
            all.extend(states);
            continue;
        };
        let key = survey.keys().iter().find(|key| key.state().is_none() && key.machine() == Some(machine));
        let Some(key) = key else { continue };
        let detail = outline.like().map(|(like, _)| format!("like {like}"));
        all.push(tree.symbol(machine, detail, SymbolKind::CLASS, key.span(), states));
    }
    all
}

struct Tree<'t> {
    source: &'t Text,
    /// The range of each section in the text, by the position of its name.
    sections: HashMap<usize, Range<usize>>,
}

impl Tree<'_> {
    /// Returns the states of a machine that are written in this file.
    fn states(&self, outline: &Outline, own: &HashSet<usize>) -> Vec<DocumentSymbol> {
        let is_shown = |id: StateId| {
            let state = outline.state(id);
            // The states of a machine that a state runs are in that machine's outline; so are the states of the machine that
            // this one is like.
            !state.is_linked() && own.contains(&state.written().1.start)
        };
        // From the outside to the inside. A state whose parent is hidden or too deep is shown in the parent's place.
        let mut order: Vec<StateId> = outline.children(None).to_vec();
        let mut hosts: Vec<(Option<StateId>, usize)> = vec![(None, 0); outline.states().len()];
        let mut at = 0;
        while let Some(&id) = order.get(at) {
            let (host, depth) = hosts[id.index()];
            let inner = if is_shown(id) && depth < DEEPEST { (Some(id), depth + 1) } else { (host, depth) };
            for &child in outline.children(id) {
                hosts[child.index()] = inner;
                order.push(child);
            }
            at += 1;
        }
        let mut within: Vec<Vec<DocumentSymbol>> = outline.states().iter().map(|_| Vec::new()).collect();
        let mut outermost = Vec::new();
        for id in order.into_iter().rev().filter(|id| is_shown(*id)) {
            let state = outline.state(id);
            let mut children = std::mem::take(&mut within[id.index()]);
            children.reverse();
            let detail = state.behaviors().collect::<Vec<_>>().join(", ");
            let detail = Some(detail).filter(|detail| !detail.is_empty());
            let kind = if state.is_composite() { SymbolKind::NAMESPACE } else { SymbolKind::FIELD };
            let symbol = self.symbol(state.name(), detail, kind, state.written().1, children);
            match hosts[id.index()].0 {
                Some(host) => within[host.index()].push(symbol),
                None => outermost.push(symbol),
            }
        }
        outermost.reverse();
        outermost
    }

    fn symbol(
        &self,
        name: &str,
        detail: Option<String>,
        kind: SymbolKind,
        span: Range<usize>,
        children: Vec<DocumentSymbol>,
    ) -> DocumentSymbol {
        let Range { start, end } = self.sections.get(&span.start).cloned().unwrap_or(span.clone());
        let end = start + self.source.text[start..end].trim_end().len().max(span.end - start);
        #[expect(deprecated, reason = "the struct has a field that is, and no constructor")]
        DocumentSymbol {
            // Editors reject an empty name.
            name: if name.is_empty() { "\"\"".into() } else { name.to_owned() },
            detail,
            kind,
            tags: None,
            deprecated: None,
            range: self.source.range(&(start..end)),
            selection_range: self.source.range(&span),
            children: Some(children).filter(|children| !children.is_empty()),
        }
    }
}
