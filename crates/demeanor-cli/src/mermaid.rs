//! A definition as text that Mermaid draws.

use std::fmt::Write as _;

use demeanor::definition::{StateId, StateOutline};

use crate::shown::escaped;
use crate::view::View;

/// A state diagram; nested states are nested.
pub(crate) fn mermaid(view: &View<'_>) -> String {
    let mut text = String::from("stateDiagram-v2\n");
    children(&mut text, view, None, 1);
    for state in view.states() {
        let from = state.id();
        for exit in view.exits(state) {
            let _ = write!(text, "    s{from} --> s{}", exit.target());
            let label = exit.label();
            if !label.is_empty() {
                let _ = write!(text, " : {}", plain(&label));
            }
            text.push('\n');
        }
        if state.is_final() {
            let _ = writeln!(text, "    s{from} --> [*]");
        }
    }
    view.states().for_each(|state| note(&mut text, view, state));
    text
}

fn children(text: &mut String, view: &View<'_>, parent: Option<StateId>, depth: usize) {
    let indent = "    ".repeat(depth);
    let initial = view.initial(parent).filter(|initial| view.state(*initial).parent() == parent);
    if let Some(initial) = initial {
        let _ = writeln!(text, "{indent}[*] --> s{initial}");
    }
    for &id in view.children(parent) {
        let state = view.state(id);
        let _ = writeln!(text, "{indent}state \"{}\" as s{id}", plain(state.name()));
        if view.is_composite(id) {
            let _ = writeln!(text, "{indent}state s{id} {{");
            children(text, view, Some(id), depth + 1);
            let _ = writeln!(text, "{indent}}}");
        } else {
            for behavior in state.behaviors() {
                let _ = writeln!(text, "{indent}s{id} : {}", plain(behavior));
            }
        }
    }
}

/// What is said beside a state. Mermaid draws one note for each.
fn note(text: &mut String, view: &View<'_>, state: &StateOutline) {
    let mut lines = Vec::new();
    if view.is_global(state.id()) {
        lines.push("beside every other state".to_owned());
    }
    if view.is_composite(state.id()) {
        // Mermaid takes no description of a state with states in it.
        lines.extend(state.behaviors().map(plain));
    }
    lines.extend(state.every().map(|every| format!("every {}", plain(&every.to_string()))));
    lines.extend(state.enter_when().map(|when| format!("if {}", plain(&when))));
    let id = state.id();
    match &lines[..] {
        [] => {}
        [line] => {
            let _ = writeln!(text, "    note right of s{id} : {line}");
        }
        lines => {
            let _ = writeln!(text, "    note right of s{id}\n        {}\n    end note", lines.join("\n        "));
        }
    }
}

/// What Mermaid would take for its own is written as an entity.
fn plain(label: &str) -> String {
    let mut text = String::new();
    for c in escaped(label).chars() {
        match c {
            ';' => text.push_str("#59;"),
            ':' => text.push_str("#58;"),
            '#' => text.push_str("#35;"),
            '<' => text.push_str("#lt;"),
            '>' => text.push_str("#gt;"),
            '"' => text.push_str("#quot;"),
            '{' => text.push_str("#123;"),
            '}' => text.push_str("#125;"),
            '%' => text.push_str("#37;"),
            _ => text.push(c),
        }
    }
    // It would end a note.
    text.replace("end note", "end#32;note")
}
