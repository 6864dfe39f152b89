//! Writes a diagram as text for Mermaid.

use std::fmt::Write as _;

use super::text::{escaped, folded};
use super::{Diagram, DiagramState, Region};

/// Returns a state diagram, in which states are nested as in the diagram.
pub(super) fn mermaid(diagram: &Diagram) -> String {
    let mut text = String::from("stateDiagram-v2\n");
    children(&mut text, diagram, None, 1);
    // The arrow to a nested state follows the states, as all arrows into composite states do.
    if let Some(initial) = diagram.initial(None).filter(|initial| diagram.states[*initial].parent.is_some()) {
        let _ = writeln!(text, "    [*] --> s{initial}");
    }
    for from in diagram.shown() {
        for arrow in diagram.arrows_from(from) {
            let _ = write!(text, "    s{from} --> s{}", arrow.to);
            let label = arrow.numbered();
            if !label.is_empty() {
                let _ = write!(text, " : {}", plain(&label));
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
    for (nth, Region { initial, states, .. }) in diagram.regions(parent).into_iter().enumerate() {
        if nth > 0 {
            let _ = writeln!(text, "{}--", "    ".repeat(depth));
        }
        region(text, diagram, initial.filter(|initial| diagram.states[*initial].parent == parent), &states, depth);
    }
}

/// Writes the children of a state, or the children in one of its regions.
fn region(text: &mut String, diagram: &Diagram, initial: Option<usize>, of_region: &[usize], depth: usize) {
    let indent = "    ".repeat(depth);
    if let Some(initial) = initial {
        let _ = writeln!(text, "{indent}[*] --> s{initial}");
    }
    for &id in of_region {
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
            if let Some(folded) = folded(state) {
                let _ = writeln!(text, "{indent}s{id} : {folded}");
            }
        }
    }
}

/// Writes the note beside a state, if there is anything to note. Mermaid draws only one note for each state.
fn note(text: &mut String, diagram: &Diagram, id: usize) {
    let DiagramState { behaviors, every, enter_when, note, .. } = &diagram.states[id];
    let mut lines = Vec::new();
    if diagram.is_global(id) {
        lines.push("beside every other state".to_owned());
    }
    if diagram.is_composite(id) {
        // Mermaid allows no description of a composite state.
        lines.extend(behaviors.iter().map(|behavior| plain(behavior)));
    }
    lines.extend(every.iter().map(|every| format!("every {}", plain(every))));
    lines.extend(enter_when.iter().map(|when| format!("if {}", plain(when))));
    lines.extend(note.iter().map(|note| plain(note)));
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

/// Words of Mermaid, in upper and lower case, that it finds in any text. If their first space is an entity, or else their first
/// character, they are texts.
const KEYWORDS: [&str; 6] = ["end note", "direction tb", "direction bt", "direction rl", "direction lr", "[["];

/// Returns a text in which characters that have a meaning in Mermaid are entities. Mermaid has no empty texts.
pub(super) fn plain(label: &str) -> String {
    if label.is_empty() {
        return " ".into();
    }
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
            '`' => text.push_str("#96;"),
            _ => text.push(c),
        }
    }
    for keyword in KEYWORDS {
        while let Some(at) = text.to_ascii_lowercase().find(keyword) {
            let at = at + keyword.find(' ').unwrap_or_default();
            let code = format!("#{};", text.as_bytes()[at]);
            text.replace_range(at..=at, &code);
        }
    }
    text
}
