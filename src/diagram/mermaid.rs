//! A diagram as text that Mermaid draws.

use std::fmt::Write as _;

use super::text::escaped;
use super::{Diagram, DiagramState};

/// A state diagram; nested states are nested.
pub(super) fn mermaid(diagram: &Diagram) -> String {
    let mut text = String::from("stateDiagram-v2\n");
    children(&mut text, diagram, None, 1);
    for from in diagram.shown() {
        for arrow in diagram.arrows_from(from) {
            let _ = write!(text, "    s{from} --> s{}", arrow.to);
            if !arrow.label.is_empty() {
                let _ = write!(text, " : {}", plain(&arrow.label));
            }
            text.push('\n');
        }
        if diagram.states[from].is_final {
            let _ = writeln!(text, "    s{from} --> [*]");
        }
    }
    diagram.shown().for_each(|state| note(&mut text, diagram, state));
    text
}

fn children(text: &mut String, diagram: &Diagram, parent: Option<usize>, depth: usize) {
    let indent = "    ".repeat(depth);
    if let Some(initial) = diagram.initial(parent).filter(|initial| diagram.states[*initial].parent == parent) {
        let _ = writeln!(text, "{indent}[*] --> s{initial}");
    }
    for &id in diagram.children(parent) {
        let state = &diagram.states[id];
        let _ = writeln!(text, "{indent}state \"{}\" as s{id}", plain(&state.name));
        if diagram.is_composite(id) {
            let _ = writeln!(text, "{indent}state s{id} {{");
            children(text, diagram, Some(id), depth + 1);
            let _ = writeln!(text, "{indent}}}");
        } else {
            for behavior in &state.behaviors {
                let _ = writeln!(text, "{indent}s{id} : {}", plain(behavior));
            }
        }
    }
}

/// What is said beside a state. Mermaid draws one note for each.
fn note(text: &mut String, diagram: &Diagram, id: usize) {
    let DiagramState { behaviors, every, enter_when, .. } = &diagram.states[id];
    let mut lines = Vec::new();
    if diagram.is_global(id) {
        lines.push("beside every other state".to_owned());
    }
    if diagram.is_composite(id) {
        // Mermaid takes no description of a state with states in it.
        lines.extend(behaviors.iter().map(|behavior| plain(behavior)));
    }
    lines.extend(every.iter().map(|every| format!("every {}", plain(every))));
    lines.extend(enter_when.iter().map(|when| format!("if {}", plain(when))));
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
pub(super) fn plain(label: &str) -> String {
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
