//! The outline of a document: its machines, and in them the states as they are nested.

use std::collections::HashSet;
use std::ops::Range;

use demeanor::definition::{Outline, StateId, Survey};
use lsp_types::{DocumentSymbol, SymbolKind};

use super::workspace::Text;

/// How deep the tree is at most.
const DEEPEST: usize = 70;

/// The states of a document as a tree.
pub(super) fn symbols(survey: &Survey, source: &Text) -> Vec<DocumentSymbol> {
    let tree = Tree { source, ends: headers(&source.text) };
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
    /// Where the headers of tables begin.
    ends: Vec<usize>,
}

impl Tree<'_> {
    /// The states of a machine that are written in this file, in it.
    fn states(&self, outline: &Outline, own: &HashSet<usize>) -> Vec<DocumentSymbol> {
        let is_shown = |id: StateId| {
            let state = outline.state(id);
            // Those of a machine that a state runs are in its own outline; so are those of a machine that this one is like.
            !state.is_linked() && own.contains(&state.written().1.start)
        };
        // From the outermost inwards. What is hidden or too deep is shown where its parent would be.
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
        let behind = self.ends.partition_point(|end| *end <= span.start);
        let end = self.ends.get(behind).copied().unwrap_or(self.source.text.len()).max(span.end);
        let end = span.start + self.source.text[span.start..end].trim_end().len().max(span.len());
        let begin = self.ends.get(behind.wrapping_sub(1)).copied().unwrap_or(span.start);
        // The header's own line, or a key within a table.
        let is_in_header = !self.source.text[begin..span.start].contains('\n');
        let start = if is_in_header { begin } else { span.start };
        #[expect(deprecated, reason = "the struct has a field that is, and no constructor")]
        DocumentSymbol {
            // An empty one is refused by editors.
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

/// Where lines begin with a bracket. Where that is a list in a list, a range ends early.
fn headers(text: &str) -> Vec<usize> {
    let mut at = 0;
    let mut headers = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.starts_with('[') {
            headers.push(at);
        }
        at += line.len();
    }
    headers
}
