//! Writes a diagram as text for Graphviz.

use std::collections::HashMap;
use std::fmt::{self, Write as _};

use super::shade::{UNWRITTEN, WRITTEN};
use super::text::escaped;
use super::{Arrow, Diagram, Region};

/// Returns a directed graph. States with children are clusters. The label of an arrow is a node between two edges, because
/// Graphviz keeps nodes apart, but not the labels of edges.
pub(super) fn dot(diagram: &Diagram) -> String {
    let mut text = String::from(
        "digraph {\n    compound = true;\n    node [shape = box, style = rounded, fontname = \"sans-serif\"];\n",
    );
    if diagram.initial(None).is_some() {
        text.push_str("    start [shape = point];\n");
    }
    let mut labels = Labels::new();
    for (nth, arrow) in diagram.arrows().enumerate().filter(|(_, arrow)| !arrow.lines().is_empty()) {
        labels.entry(around(diagram, arrow)).or_default().push((nth, arrow));
    }
    states(&mut text, diagram, &labels, diagram.children(None), 1);
    nodes(&mut text, &labels, (None, None), 1);
    if let Some(initial) = diagram.initial(None) {
        let _ = writeln!(text, "    start -> {};", ArrowEnd::of(diagram, None, initial));
    }
    diagram.arrows().enumerate().for_each(|(nth, arrow)| edge(&mut text, diagram, nth, arrow));
    text.push_str("}\n");
    text
}

/// The arrows with labels, and their numbers, by the cluster in which the label is: of a state and of one of its regions.
type Labels<'d> = HashMap<(Option<usize>, Option<usize>), Vec<(usize, &'d Arrow)>>;

/// Returns the innermost cluster that contains both ends of an arrow.
fn around(diagram: &Diagram, arrow: &Arrow) -> (Option<usize>, Option<usize>) {
    let (from, to) = (diagram.path(arrow.from), diagram.path(arrow.to));
    let shared = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
    // If one state contains the other, this is the cluster around the outer state.
    let shared = shared.min(from.len() - 1).min(to.len() - 1);
    let region = |state: usize| diagram.states[state].region;
    let parent = shared.checked_sub(1).map(|last| from[last]);
    (parent, Some(region(from[shared])).filter(|of| *of == region(to[shared]) && parent.is_some()))
}

/// Writes the labels in a cluster.
fn nodes(text: &mut String, labels: &Labels<'_>, within: (Option<usize>, Option<usize>), depth: usize) {
    for (nth, arrow) in labels.get(&within).into_iter().flatten() {
        let _ = writeln!(
            text,
            "{}e{nth} [shape = plain, fontsize = 10, label = {}];",
            "    ".repeat(depth),
            quoted(&arrow.lines())
        );
    }
}

/// Writes the content of a cluster. Each region is a cluster of its own, if there are several.
fn regions(text: &mut String, diagram: &Diagram, labels: &Labels<'_>, id: usize, depth: usize) {
    let regions = diagram.regions(id);
    let (around, are_many) = ("    ".repeat(depth + 1), regions.len() > 1);
    let inner = "    ".repeat(depth + 1 + usize::from(are_many));
    for (nth, Region { name, initial, states: of_region }) in regions.into_iter().enumerate() {
        if are_many {
            let name = quoted(name.as_slice());
            let _ = writeln!(
                text,
                "{around}subgraph cluster_{id}_{nth} {{\n{inner}label = {name};\n{inner}style = dashed;"
            );
        }
        // This point is the end of each arrow between the cluster itself and a state inside it.
        let point = if nth == 0 { format!("c{id}") } else { format!("c{id}_{nth}") };
        match initial {
            Some(initial) => {
                let head = ArrowEnd::of(diagram, None, initial);
                let _ = writeln!(text, "{inner}{point} [shape = point];\n{inner}{point} -> {head};");
            }
            None => {
                let _ = writeln!(text, "{inner}{point} [shape = point, style = invis];");
            }
        }
        states(text, diagram, labels, &of_region, depth + 1 + usize::from(are_many));
        nodes(text, labels, (Some(id), Some(nth)), depth + 1 + usize::from(are_many));
        if are_many {
            let _ = writeln!(text, "{around}}}");
        }
    }
}

fn states(text: &mut String, diagram: &Diagram, labels: &Labels<'_>, ids: &[usize], depth: usize) {
    let indent = "    ".repeat(depth);
    for &id in ids {
        let lines: Vec<_> = diagram.captions(id).iter().map(|caption| caption.text().to_owned()).collect();
        let name = quoted(&lines);
        let is_dashed = diagram.is_global(id) || diagram.is_never_entered(id);
        if diagram.is_composite(id) {
            let style = if diagram.is_never_entered(id) { "\"rounded,dashed\"" } else { "rounded" };
            let _ = writeln!(
                text,
                "{indent}subgraph cluster_{id} {{\n{indent}    label = {name};\n{indent}    style = {style};"
            );
            regions(text, diagram, labels, id, depth);
            nodes(text, labels, (Some(id), None), depth + 1);
            let _ = writeln!(text, "{indent}}}");
        } else {
            let state = &diagram.states[id];
            let mut more = String::new();
            if state.is_final {
                more.push_str(", peripheries = 2");
            }
            match state.visits {
                Some(visits) => {
                    let (dashed, shade) = (if is_dashed { ",dashed" } else { "" }, visits.shade());
                    let _ = write!(
                        more,
                        ", style = \"rounded,filled{dashed}\", fillcolor = \"{}\", fontcolor = \"{}\"",
                        shade.fill, shade.text
                    );
                }
                None if is_dashed && !state.is_final => more.push_str(", style = \"rounded,dashed\""),
                None => {}
            }
            let _ = writeln!(text, "{indent}s{id} [label = {name}{more}];");
        }
    }
}

fn edge(text: &mut String, diagram: &Diagram, nth: usize, arrow: &Arrow) {
    let (from, to) = (arrow.from, arrow.to);
    let (tail, head) = (ArrowEnd::of(diagram, Some(to), from), ArrowEnd::of(diagram, Some(from), to));
    let mut attributes = Vec::new();
    if arrow.seen.is_some() {
        attributes.push(format!("penwidth = {:.1}", arrow.width()));
        if arrow.is_untaken() {
            attributes.push("style = dashed".into());
        }
        let color = if arrow.is_unwritten && diagram.has_written() { UNWRITTEN } else { WRITTEN };
        attributes.push(format!("color = \"{color}\""));
    }
    let cut = |end: &ArrowEnd, name| end.cut.map(|cut| format!("{name} = cluster_{cut}"));
    let mut write = |from: &str, to: &str, more: Vec<String>| {
        let attributes = [more, attributes.clone()].concat().join(", ");
        let attributes = if attributes.is_empty() { attributes } else { format!(" [{attributes}]") };
        let _ = writeln!(text, "    {from} -> {to}{attributes};");
    };
    let (tail_cut, head_cut) = (cut(&tail, "ltail"), cut(&head, "lhead"));
    if arrow.lines().is_empty() {
        return write(&tail.node, &head.node, tail_cut.into_iter().chain(head_cut).collect());
    }
    let label = format!("e{nth}");
    write(&tail.node, &label, tail_cut.into_iter().chain(["arrowhead = none".into()]).collect());
    write(&label, &head.node, head_cut.into_iter().collect());
}

/// Where an arrow begins or ends. Graphviz draws arrows only between nodes, not between clusters. So an arrow of a cluster is
/// drawn to a leaf inside the cluster, and clipped at the cluster's border. If the other end of the arrow is inside the same
/// cluster, the arrow is drawn to the cluster's point instead.
struct ArrowEnd {
    node: String,
    /// The cluster at whose border the arrow is clipped.
    cut: Option<usize>,
}

impl ArrowEnd {
    /// Returns the end of an arrow at `state`. `other` is the state at the other end, if there is one.
    fn of(diagram: &Diagram, other: Option<usize>, state: usize) -> Self {
        match (diagram.is_composite(state), other.is_some_and(|other| diagram.is_within(other, state))) {
            (false, _) => Self { node: format!("s{state}"), cut: None },
            (true, true) => Self { node: format!("c{state}"), cut: None },
            (true, false) => Self { node: leaf(diagram, state), cut: Some(state) },
        }
    }
}

impl fmt::Display for ArrowEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.node)?;
        match self.cut {
            Some(cut) => write!(f, " [lhead = cluster_{cut}]"),
            None => Ok(()),
        }
    }
}

/// Returns the node of a leaf inside a state: the initial child, or else the first child, and so on inward.
fn leaf(diagram: &Diagram, mut id: usize) -> String {
    while let Some(child) = diagram.regions(id)[0].initial.or_else(|| diagram.children(id).first().copied()) {
        id = child;
    }
    format!("s{id}")
}

/// Returns a label. In Graphviz, `&` may begin the name of a character.
fn quoted(lines: &[String]) -> String {
    let line = |line: &String| escaped(line).replace('&', "&amp;").replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", lines.iter().map(line).collect::<Vec<_>>().join("\\n"))
}
