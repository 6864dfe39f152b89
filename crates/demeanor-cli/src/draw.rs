//! A definition as text that other tools draw: Mermaid and Graphviz' DOT.

use std::fmt::Write as _;

use demeanor::definition::{Outline, StateId};

/// A Mermaid state diagram; nested states are nested.
pub(crate) fn mermaid(outline: &Outline) -> String {
    let mut text = String::from("stateDiagram-v2\n");
    mermaid_children(&mut text, outline, None, 1);
    for state in outline.states() {
        let from = state.id();
        for exit in state.exits() {
            let _ = write!(text, "    s{from} --> s{}", exit.target());
            let label = exit.label();
            if !label.is_empty() {
                let _ = write!(text, " : {}", mermaid_text(&label));
            }
            text.push('\n');
        }
        if state.is_final() {
            let _ = writeln!(text, "    s{from} --> [*]");
        }
    }
    if let Some(global) = outline.global() {
        let _ = writeln!(text, "    note right of s{global} : beside every other state");
    }
    for state in outline.states() {
        if let Some(every) = state.every() {
            let _ = writeln!(text, "    note right of s{} : every {every}", state.id());
        }
        if let Some(when) = state.enter_when() {
            let _ = writeln!(text, "    note right of s{} : if {}", state.id(), mermaid_text(&when));
        }
    }
    text
}

fn mermaid_children(text: &mut String, outline: &Outline, parent: Option<StateId>, depth: usize) {
    let indent = "    ".repeat(depth);
    let initial = match parent {
        Some(parent) => outline.state(parent).initial(),
        None => Some(outline.initial()).filter(|&initial| outline.state(initial).parent().is_none()),
    };
    if let Some(initial) = initial {
        let _ = writeln!(text, "{indent}[*] --> s{initial}");
    }
    for &id in outline.children(parent) {
        let state = outline.state(id);
        let _ = writeln!(text, "{indent}state \"{}\" as s{id}", state.name().replace('"', "#quot;"));
        if state.is_composite() {
            let _ = writeln!(text, "{indent}state s{id} {{");
            mermaid_children(text, outline, Some(id), depth + 1);
            let _ = writeln!(text, "{indent}}}");
        }
    }
}

/// What Mermaid would take for its own is written as an entity.
fn mermaid_text(label: &str) -> String {
    let mut text = String::new();
    for c in label.chars() {
        match c {
            ';' => text.push_str("#59;"),
            ':' => text.push_str("#58;"),
            '#' => text.push_str("#35;"),
            '<' => text.push_str("#lt;"),
            '>' => text.push_str("#gt;"),
            _ => text.push(c),
        }
    }
    text
}

/// A DOT digraph; nested states are clusters.
pub(crate) fn dot(outline: &Outline) -> String {
    let mut text = String::from(
        "digraph {\n    compound = true;\n    node [shape = box, style = rounded, fontname = \"sans-serif\"];\n    \
         edge [fontname = \"sans-serif\", fontsize = 10];\n    start [shape = point];\n",
    );
    dot_children(&mut text, outline, None, 1);
    edge(&mut text, outline, "start", None, outline.initial(), "");
    for state in outline.states() {
        for exit in state.exits() {
            let begin = format!("s{}", within(outline, state.id()));
            edge(&mut text, outline, &begin, Some(state.id()), exit.target(), &exit.label());
        }
    }
    text.push_str("}\n");
    text
}

fn dot_children(text: &mut String, outline: &Outline, parent: Option<StateId>, depth: usize) {
    let indent = "    ".repeat(depth);
    for &id in outline.children(parent) {
        let state = outline.state(id);
        let mut lines = vec![state.name().to_owned()];
        lines.extend(state.behaviors().map(str::to_owned));
        lines.extend(state.every().map(|every| format!("every {every}")));
        lines.extend(state.enter_when().map(|when| format!("if {when}")));
        let name = dot_text(&lines.join("\n"));
        if state.is_composite() {
            let _ = writeln!(
                text,
                "{indent}subgraph cluster_{id} {{\n{indent}    label = {name};\n{indent}    style = rounded;"
            );
            dot_children(text, outline, Some(id), depth + 1);
            let _ = writeln!(text, "{indent}}}");
        } else {
            let more = match (state.is_final(), Some(id) == outline.global()) {
                (true, _) => ", peripheries = 2",
                (_, true) => ", style = \"rounded,dashed\"",
                _ => "",
            };
            let _ = writeln!(text, "{indent}s{id} [label = {name}{more}];");
        }
    }
}

/// An arrow. DOT's lead from leaf to leaf, and are cut off at the borders of clusters.
fn edge(text: &mut String, outline: &Outline, begin: &str, from: Option<StateId>, to: StateId, label: &str) {
    let _ = write!(text, "    {begin} -> s{} [label = {}", within(outline, to), dot_text(label));
    if let Some(from) = from.filter(|from| outline.state(*from).is_composite()) {
        let _ = write!(text, ", ltail = cluster_{from}");
    }
    if outline.state(to).is_composite() {
        let _ = write!(text, ", lhead = cluster_{to}");
    }
    text.push_str("];\n");
}

/// The state itself, or a leaf within it: the initial one where there is one.
fn within(outline: &Outline, mut id: StateId) -> StateId {
    while let Some(child) = outline.state(id).initial().or_else(|| outline.children(id).first().copied()) {
        id = child;
    }
    id
}

fn dot_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
