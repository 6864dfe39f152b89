//! Writes an observed diagram as a flowchart for Mermaid. In Mermaid's state diagrams, all arrows have the same width.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::mermaid::plain;
use super::shade::UNWRITTEN;
use super::{Arrow, Diagram, Region};

/// Returns a flowchart. States with children are subgraphs.
pub(super) fn flowchart(diagram: &Diagram) -> String {
    let mut chart = Chart {
        diagram,
        text: String::from("flowchart TD\n"),
        styles: String::new(),
        links: 0,
        inner_ends: inner_ends(diagram),
    };
    if let Some(initial) = diagram.initial(None) {
        chart.dot("    ", "start");
        chart.children(None, 1);
        chart.link("start", "-->", &[], &node(initial));
    } else {
        chart.children(None, 1);
    }
    for from in diagram.shown() {
        diagram.arrows_from(from).for_each(|arrow| chart.arrow(arrow));
    }
    chart.text.push_str("    classDef dot fill:#4a6178,stroke:#4a6178\n");
    chart.text.push_str(&chart.styles);
    chart.text
}

/// Returns the name of the dot in a region of a composite state.
fn dot(id: usize, nth: usize) -> String {
    if nth == 0 { format!("c{id}") } else { format!("c{id}_{nth}") }
}

struct Chart<'d> {
    diagram: &'d Diagram,
    text: String,
    /// The lines with the styles, which follow all states and arrows.
    styles: String,
    /// The number of arrows so far. A style names its arrow by this number.
    links: usize,
    /// See [`inner_ends`].
    inner_ends: HashSet<usize>,
}

impl Chart<'_> {
    fn children(&mut self, parent: Option<usize>, depth: usize) {
        let Self { diagram, .. } = *self;
        let indent = "    ".repeat(depth);
        let regions = diagram.regions(parent);
        if let (Some(parent), true) = (parent, regions.len() > 1) {
            for (nth, Region { name, initial, states }) in regions.iter().enumerate() {
                let inner = format!("{indent}    ");
                let name = plain(name.as_deref().unwrap_or_default());
                let _ = writeln!(self.text, "{indent}subgraph s{parent}_{nth}[\"{name}\"]");
                if initial.is_some() || nth == 0 && self.inner_ends.contains(&parent) {
                    self.dot(&inner, &dot(parent, nth));
                }
                self.states(states, depth + 1);
                let _ = writeln!(self.text, "{indent}end");
                let _ = writeln!(self.styles, "    style s{parent}_{nth} stroke-dasharray:5 3");
            }
            return;
        }
        self.states(diagram.children(parent), depth);
    }

    fn states(&mut self, ids: &[usize], depth: usize) {
        let Self { diagram, .. } = *self;
        let indent = "    ".repeat(depth);
        for &id in ids {
            let lines: Vec<_> = diagram.captions(id).iter().map(|caption| plain(caption.text())).collect();
            // Mermaid has room for only one line above the content of a subgraph.
            let label = lines.join(if diagram.is_composite(id) { " · " } else { "<br/>" });
            if diagram.is_composite(id) {
                let inner = format!("{indent}    ");
                let _ = writeln!(self.text, "{indent}subgraph s{id}[\"{label}\"]");
                let regions = diagram.regions(id);
                if regions.len() == 1 && (regions[0].initial.is_some() || self.inner_ends.contains(&id)) {
                    self.dot(&inner, &format!("c{id}"));
                }
                self.children(Some(id), depth + 1);
                let _ = writeln!(self.text, "{indent}end");
                for (nth, region) in regions.into_iter().enumerate() {
                    if let Some(initial) = region.initial {
                        self.link(&dot(id, nth), "-->", &[], &node(initial));
                    }
                }
            } else {
                let (open, close) = if diagram.states[id].is_final { ("[[", "]]") } else { ("(", ")") };
                let _ = writeln!(self.text, "{indent}s{id}{open}\"{label}\"{close}");
            }
            self.style(id);
        }
    }

    fn style(&mut self, id: usize) {
        let Some(visits) = self.diagram.states[id].visits else { return };
        let mut style = Vec::new();
        if !self.diagram.is_composite(id) {
            let shade = visits.shade();
            style.push(format!("fill:{},color:{}", shade.fill, shade.text));
        }
        if self.diagram.is_never_entered(id) || self.diagram.is_global(id) {
            style.push("stroke-dasharray:5 3".into());
        }
        if !style.is_empty() {
            let _ = writeln!(self.styles, "    style s{id} {}", style.join(","));
        }
    }

    fn arrow(&mut self, arrow: &Arrow) {
        // Mermaid cannot draw an arrow between a subgraph and a state inside it. Such an arrow begins or ends at the dot in the
        // subgraph instead.
        let end = |of: usize, other: usize| {
            let is_around = self.diagram.is_composite(of) && self.diagram.is_within(other, of);
            if is_around { format!("c{of}") } else { node(of) }
        };
        let (from, to) = (end(arrow.from, arrow.to), end(arrow.to, arrow.from));
        let shape = if arrow.is_untaken() { "-.->" } else { "-->" };
        let mut style = vec![format!("stroke-width:{:.1}px", arrow.width())];
        if arrow.is_untaken() {
            style.push("stroke-dasharray:5 3".into());
        }
        if arrow.is_unwritten && self.diagram.has_written() {
            style.push(format!("stroke:{UNWRITTEN}"));
        }
        let _ = writeln!(self.styles, "    linkStyle {} {}", self.links, style.join(","));
        self.link(&from, shape, &arrow.lines(), &to);
    }

    fn link(&mut self, from: &str, shape: &str, lines: &[String], to: &str) {
        let lines: Vec<_> = lines.iter().map(|line| plain(line)).collect();
        let label = if lines.is_empty() { String::new() } else { format!("|\"{}\"|", lines.join("<br/>")) };
        let _ = writeln!(self.text, "    {from} {shape}{label} {to}");
        self.links += 1;
    }

    fn dot(&mut self, indent: &str, name: &str) {
        let _ = writeln!(self.text, "{indent}{name}(( )):::dot");
    }
}

/// Returns the composite states that need a dot for an arrow: the arrow begins or ends at the state, and its other end is the
/// same state or inside it.
fn inner_ends(diagram: &Diagram) -> HashSet<usize> {
    let ends = diagram.arrows().flat_map(|arrow| [(arrow.from, arrow.to), (arrow.to, arrow.from)]);
    ends.filter(|(end, other)| diagram.is_composite(*end) && diagram.is_within(*other, *end))
        .map(|(end, _)| end)
        .collect()
}

fn node(id: usize) -> String {
    format!("s{id}")
}
