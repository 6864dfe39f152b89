//! A definition as a picture.

use std::fmt::Write as _;

use demeanor::definition::StateId;

use crate::layout::{Caption, LINE, captions, layout};
use crate::picture::{Arrow, Dot, Point, Rect};
use crate::ports::facing;
use crate::view::View;

/// How far below its middle a line of text stands.
const BASELINE: f64 = 4.0;

const STYLE: &str = "text { font: 12px sans-serif; fill: #1d2733; text-anchor: middle }
.name { font-size: 13px; font-weight: 600 }
.does { fill: #5b6b7c; font-size: 11px; font-style: italic }
.label { font-size: 11px }
.box { fill: #eef3f8; stroke: #4a6178; stroke-width: 1.3 }
.composite { fill: #4a6178; fill-opacity: .06; stroke: #4a6178; stroke-width: 1.3 }
.global { stroke-dasharray: 5 3 }
.end { fill: none; stroke: #4a6178 }
.arrow { fill: none; stroke: #7a8b9c; stroke-width: 1.2 }
.paper { fill: #fff }
.behind { fill: #fff; fill-opacity: .8 }
.dot, .head { fill: #4a6178 }";

pub(crate) fn svg(view: &View<'_>) -> String {
    let picture = layout(view);
    let (width, height) = (picture.width, picture.height);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\">\n\
         <style>{STYLE}</style>\n\
         <defs><marker id=\"head\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto-start-reverse\">\
         <path class=\"head\" d=\"M0 1 L10 5 L0 9 z\"/></marker></defs>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n"
    );
    // Those around come before those within.
    let mut states: Vec<_> = view.states().collect();
    states.sort_by_cached_key(|state| view.path(state.id()).len());
    for state in states {
        draw_state(&mut text, view, state.id(), picture.state(state.id()));
    }
    for arrow in &picture.arrows {
        path(&mut text, arrow, picture.state(arrow.from), picture.state(arrow.to));
    }
    // The labels lie on the arrows of others.
    for arrow in picture.arrows.iter().filter(|arrow| !arrow.lines.is_empty()) {
        let Rect { x, y, width, height } = arrow.label;
        let _ = writeln!(
            text,
            "<rect class=\"behind\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>",
            x - width / 2.0,
            y - height / 2.0
        );
        let top = y - LINE * (lines(arrow.lines.len()) - 1.0) / 2.0 + BASELINE;
        for (i, line) in arrow.lines.iter().enumerate() {
            let y = top + LINE * lines(i);
            let _ = writeln!(text, "<text class=\"label\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>", x, escaped(line));
        }
    }
    for Dot { at: dot, end, .. } in &picture.dots {
        let _ = writeln!(text, "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\"/>", dot.x, dot.y);
        let _ = writeln!(
            text,
            "<path class=\"arrow\" marker-end=\"url(#head)\" d=\"M{:.1} {:.1} L{:.1} {:.1}\"/>",
            dot.x, dot.y, end.0, end.1
        );
    }
    text.push_str("</svg>\n");
    text
}

fn draw_state(text: &mut String, view: &View<'_>, id: StateId, rect: Rect) {
    let state = view.state(id);
    let (left, top) = (rect.x - rect.width / 2.0, rect.y - rect.height / 2.0);
    let class = match (view.is_composite(id), view.is_global(id)) {
        (true, _) => "composite",
        (_, true) => "box global",
        _ => "box",
    };
    let _ = writeln!(
        text,
        "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"8\"/>",
        rect.width, rect.height
    );
    if state.is_final() {
        let _ = writeln!(
            text,
            "<rect class=\"end\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"6\"/>",
            left + 3.0,
            top + 3.0,
            rect.width - 6.0,
            rect.height - 6.0
        );
    }
    let first = top + 7.0 + LINE / 2.0 + BASELINE;
    for (i, caption) in captions(state).into_iter().enumerate() {
        let (class, caption) = match caption {
            Caption::Name(text) => ("name", text),
            Caption::Behaviour(text) => ("does", text),
            Caption::Condition(text) => ("label", text),
        };
        let (x, y) = (rect.x, first + LINE * lines(i));
        let _ = writeln!(text, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(&caption));
    }
}

/// From one state to another by way of the label: two curves that meet behind it.
fn path(text: &mut String, arrow: &Arrow, begin: Rect, end: Rect) {
    let (Arrow { begin: from, end: to, .. }, [into, out]) = (arrow, facing(arrow, begin, end));
    let _ = writeln!(
        text,
        "<path class=\"arrow\" d=\"M{:.1} {:.1} {}\"/>\n<path class=\"arrow\" marker-end=\"url(#head)\" d=\"M{:.1} {:.1} {}\"/>",
        from.0,
        from.1,
        curve(*from, into),
        out.0,
        out.1,
        curve(out, *to)
    );
}

/// A curve that is upright where it begins and where it ends.
fn curve(from: Point, to: Point) -> String {
    let bend = (to.1 - from.1) / 2.0;
    format!("C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}", from.0, from.1 + bend, to.0, to.1 - bend, to.0, to.1)
}

#[expect(clippy::cast_precision_loss, reason = "a label has few lines")]
fn lines(count: usize) -> f64 {
    count as f64
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
