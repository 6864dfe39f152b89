//! A definition as text that Graphviz draws.

use std::fmt::Write as _;

use demeanor::definition::{ExitOutline, StateId};

use crate::layout::{Caption, captions};
use crate::shown::escaped;
use crate::view::View;

/// A digraph; nested states are clusters.
pub(crate) fn dot(view: &View<'_>) -> String {
    let mut text = String::from(
        "digraph {\n    compound = true;\n    node [shape = box, style = rounded, fontname = \"sans-serif\"];\n    \
         edge [fontname = \"sans-serif\", fontsize = 10];\n",
    );
    if view.initial(None).is_some() {
        text.push_str("    start [shape = point];\n");
    }
    children(&mut text, view, None, 1);
    if let Some(initial) = view.initial(None) {
        let _ = writeln!(text, "    start -> {};", Head::of(view, None, initial));
    }
    for state in view.states() {
        for exit in view.exits(state) {
            edge(&mut text, view, state.id(), exit);
        }
    }
    text.push_str("}\n");
    text
}

fn children(text: &mut String, view: &View<'_>, parent: Option<StateId>, depth: usize) {
    let indent = "    ".repeat(depth);
    for &id in view.children(parent) {
        let state = view.state(id);
        let lines: Vec<_> = captions(state)
            .into_iter()
            .map(|caption| match caption {
                Caption::Name(text) | Caption::Behaviour(text) | Caption::Condition(text) => text,
            })
            .collect();
        let name = quoted(&lines);
        if view.is_composite(id) {
            let _ = writeln!(
                text,
                "{indent}subgraph cluster_{id} {{\n{indent}    label = {name};\n{indent}    style = rounded;"
            );
            let inner = format!("{indent}    ");
            // Where arrows within the cluster begin or end that are its own.
            match view.initial(Some(id)) {
                Some(initial) => {
                    let _ = writeln!(
                        text,
                        "{inner}c{id} [shape = point];\n{inner}c{id} -> {};",
                        Head::of(view, None, initial)
                    );
                }
                None => {
                    let _ = writeln!(text, "{inner}c{id} [shape = point, style = invis];");
                }
            }
            children(text, view, Some(id), depth + 1);
            let _ = writeln!(text, "{indent}}}");
        } else {
            let more = match (state.is_final(), view.is_global(id)) {
                (true, _) => ", peripheries = 2",
                (_, true) => ", style = \"rounded,dashed\"",
                _ => "",
            };
            let _ = writeln!(text, "{indent}s{id} [label = {name}{more}];");
        }
    }
}

fn edge(text: &mut String, view: &View<'_>, from: StateId, exit: &ExitOutline) {
    let to = exit.target();
    // Arrows lead from leaf to leaf, and are cut off at the borders of clusters: but not where the one is in the other.
    let (tail, cut) = match (view.is_composite(from), view.is_within(to, from)) {
        (false, _) => (format!("s{from}"), None),
        (true, true) => (format!("c{from}"), None),
        (true, false) => (leaf(view, from), Some(from)),
    };
    let mut attributes = Vec::new();
    let label = exit.label();
    if !label.is_empty() {
        attributes.push(format!("label = {}", quoted(&[label])));
    }
    attributes.extend(cut.map(|cut| format!("ltail = cluster_{cut}")));
    let head = Head::of(view, Some(from), to);
    attributes.extend(head.cut.map(|cut| format!("lhead = cluster_{cut}")));
    let attributes = if attributes.is_empty() { String::new() } else { format!(" [{}]", attributes.join(", ")) };
    let _ = writeln!(text, "    {tail} -> {}{attributes};", head.node);
}

/// Where an arrow leads.
struct Head {
    node: String,
    /// The cluster at whose border it ends.
    cut: Option<StateId>,
}

impl Head {
    fn of(view: &View<'_>, from: Option<StateId>, to: StateId) -> Self {
        match (view.is_composite(to), from.is_some_and(|from| view.is_within(from, to))) {
            (false, _) => Self { node: format!("s{to}"), cut: None },
            (true, true) => Self { node: format!("c{to}"), cut: None },
            (true, false) => Self { node: leaf(view, to), cut: Some(to) },
        }
    }
}

/// A leaf in a state: the initial one where there is one.
fn leaf(view: &View<'_>, mut id: StateId) -> String {
    while let Some(child) = view.initial(Some(id)).or_else(|| view.children(Some(id)).first().copied()) {
        id = child;
    }
    format!("s{id}")
}

impl std::fmt::Display for Head {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.node)?;
        match self.cut {
            Some(cut) => write!(f, " [lhead = cluster_{cut}]"),
            None => Ok(()),
        }
    }
}

fn quoted(lines: &[String]) -> String {
    let line = |line: &String| escaped(line).replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", lines.iter().map(line).collect::<Vec<_>>().join("\\n"))
}
