//! Draws a diagram as an SVG picture.

use std::fmt::Write as _;

use demeanor::diagram::{Caption, Color, Diagram, Visits};

use crate::layout::{LINE, TURN, heading, layout};
use crate::picture::{Arrow, Border, Dot, Point, Rect, Title};

/// The distance of the baseline below the center of a line of text.
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

/// The additional style for a diagram with recorded changes.
const SEEN_STYLE: &str = "
.seen { font-size: 11px; font-weight: 600 }
.never { stroke-dasharray: 5 4 }
.unwritten { stroke: #b3631b }
.unwritten-head { fill: #b3631b }";

/// The additional style for a diagram with regions.
const REGION_STYLE: &str = "
.border { fill: none; stroke: #4a6178; stroke-width: 1.1; stroke-dasharray: 6 4 }
.region { fill: #5b6b7c; font-size: 11px; font-style: italic; text-anchor: start }";

/// Draws a diagram as an SVG.
#[must_use]
pub fn svg(diagram: &Diagram) -> String {
    let picture = layout(diagram);
    let (width, height) = (picture.width, picture.height);
    let seen_style = if diagram.is_observed() { SEEN_STYLE } else { "" };
    let has_regions = !picture.borders.is_empty() || !picture.titles.is_empty();
    let region_style = if has_regions { REGION_STYLE } else { "" };
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\">\n\
         <style>{STYLE}{seen_style}{region_style}</style>\n\
         <defs><marker id=\"head\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto-start-reverse\">\
         <path class=\"head\" d=\"M0 1 L10 5 L0 9 z\"/></marker></defs>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n"
    );
    // Outer states come before inner states, and arrows between both, so that the text in a box is readable.
    let mut states: Vec<_> = diagram.shown().collect();
    states.sort_by_cached_key(|state| diagram.path(*state).len());
    let (around, leaves): (Vec<_>, Vec<_>) = states.into_iter().partition(|state| diagram.is_composite(*state));
    for state in around {
        draw_state(&mut text, diagram, state, picture.state(state));
    }
    for Border { at, within, is_upright } in &picture.borders {
        let Rect { x, y, width, height } = picture.state(*within);
        let [left, right, bottom] = [x - width / 2.0, x + width / 2.0, y + height / 2.0];
        let top = y - height / 2.0 + heading(diagram.captions(*within).len());
        let line = if *is_upright {
            format!("M{at:.1} {top:.1} V{bottom:.1}")
        } else {
            format!("M{left:.1} {at:.1} H{right:.1}")
        };
        let _ = writeln!(text, "<path class=\"border\" d=\"{line}\"/>");
    }
    for Title { at, name, .. } in &picture.titles {
        let (x, y) = (at.0, at.1 + BASELINE);
        let _ = writeln!(text, "<text class=\"region\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(name));
    }
    // Wide arrows are below narrow ones.
    let mut arrows: Vec<_> = picture.arrows.iter().collect();
    arrows.sort_by(|one, other| other.of.width().total_cmp(&one.of.width()));
    for arrow in arrows {
        text.push_str(&title(diagram, arrow));
        path(&mut text, diagram, arrow);
        text.push_str("</g>\n");
    }
    for state in leaves {
        draw_state(&mut text, diagram, state, picture.state(state));
    }
    // The labels are above the arrows of other labels.
    for arrow in picture.arrows.iter().filter(|arrow| !arrow.lines.is_empty()) {
        let Rect { x, y, width, height } = arrow.label;
        text.push_str(&title(diagram, arrow));
        let _ = writeln!(
            text,
            "<rect class=\"behind\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>",
            x - width / 2.0,
            y - height / 2.0
        );
        let top = y - LINE * (lines(arrow.lines.len()) - 1.0) / 2.0 + BASELINE;
        let last = arrow.lines.len() - 1;
        for (i, line) in arrow.lines.iter().enumerate() {
            let y = top + LINE * lines(i);
            let class = if i == last && arrow.of.seen().is_some() { "seen" } else { "label" };
            let _ = writeln!(text, "<text class=\"{class}\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>", x, escaped(line));
        }
        text.push_str("</g>\n");
    }
    for Dot { at: dot, way, .. } in &picture.dots {
        let _ = writeln!(text, "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\"/>", dot.x, dot.y);
        let _ = writeln!(text, "<path class=\"arrow\" marker-end=\"url(#head)\" d=\"{}\"/>", line(way));
    }
    text.push_str("</svg>\n");
    text
}

fn draw_state(text: &mut String, diagram: &Diagram, id: usize, rect: Rect) {
    let (left, top) = (rect.x - rect.width / 2.0, rect.y - rect.height / 2.0);
    let is_composite = diagram.is_composite(id);
    let class = match (is_composite, diagram.is_global(id)) {
        (true, _) => "composite",
        (_, true) => "box global",
        _ => "box",
    };
    let never = if diagram.is_never_entered(id) { " never" } else { "" };
    let state = &diagram.states()[id];
    let shade = state.visits().filter(|_| !is_composite).map(Visits::shade);
    let style = |color: Option<Color>| color.map(|color| format!(" style=\"fill: {color}\"")).unwrap_or_default();
    let _ = writeln!(
        text,
        "<rect class=\"{class}{never}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"8\"{}/>",
        rect.width,
        rect.height,
        style(shade.map(|shade| shade.fill))
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
    let color = style(shade.map(|shade| shade.text));
    for (i, caption) in diagram.captions(id).iter().enumerate() {
        let class = match caption {
            Caption::Name(_) => "name",
            Caption::Behavior(_) => "does",
            Caption::Seen(_) => "seen",
            _ => "label",
        };
        let (x, y) = (rect.x, first + LINE * lines(i));
        let _ = writeln!(
            text,
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\"{color}>{}</text>",
            escaped(caption.text())
        );
    }
}

/// Returns the beginning of a group of elements, which a browser names when the mouse is over them: the two states of an arrow.
fn title(diagram: &Diagram, arrow: &Arrow<'_>) -> String {
    let [from, to] = [arrow.from, arrow.to].map(|state| diagram.captions(state)[0].text().to_owned());
    format!("<g><title>{}</title>\n", escaped(&format!("{from} -> {to}")))
}

/// Writes the arrow from one state to another: two lines that meet behind the label.
fn path(text: &mut String, diagram: &Diagram, arrow: &Arrow<'_>) {
    if diagram.is_observed() {
        return seen_path(text, diagram, arrow);
    }
    let [first, second] = &arrow.ways;
    let _ = writeln!(
        text,
        "<path class=\"arrow\" d=\"{}\"/>\n<path class=\"arrow\" marker-end=\"url(#head)\" d=\"{}\"/>",
        line(first),
        line(second)
    );
}

/// Writes the arrow with a width that shows how often it was taken. The head is not an SVG marker, because it must grow more
/// slowly than the width.
fn seen_path(text: &mut String, diagram: &Diagram, arrow: &Arrow<'_>) {
    let (width, [first, second]) = (arrow.of.width(), &arrow.ways);
    let (half, length) = (3.0 + width * 0.8, 7.0 + width);
    // Every way ends upright. The line ends at the base of the head, so that its edges cannot be seen beside the tip.
    let Some(&end) = second.last() else { return };
    let before = second.iter().rev().find(|at| (at.1 - end.1).abs() > 0.05).unwrap_or(&end);
    let base = (end.0, end.1 - (end.1 - before.1).signum() * length);
    let is_before_head = |at: &&Point| (at.0 - end.0).abs() > 0.05 || (at.1 - end.1).abs() > length;
    let mut second: Vec<_> = second.iter().take_while(is_before_head).copied().collect();
    second.push(base);
    let never = if arrow.of.is_untaken() { " never" } else { "" };
    let (unwritten, head) =
        if arrow.of.is_unwritten() && diagram.has_written() { (" unwritten", "unwritten-head") } else { ("", "head") };
    let style = format!("style=\"stroke-width: {width:.1}\"");
    let _ = writeln!(
        text,
        "<path class=\"arrow{never}{unwritten}\" {style} d=\"{}\"/>\n\
         <path class=\"arrow{never}{unwritten}\" {style} d=\"{}\"/>\n\
         <path class=\"{head}\" d=\"M{:.1} {:.1} L{:.1} {:.1} L{:.1} {:.1} z\"/>",
        line(first),
        line(&second),
        end.0,
        end.1,
        base.0 - half,
        base.1,
        base.0 + half,
        base.1,
    );
}

/// Returns a way as the data of a path.
pub(crate) fn line(way: &[Point]) -> String {
    let mut text = String::new();
    let mut at: Option<Point> = None;
    for &(x, y) in way {
        let _ = match at {
            None => write!(text, "M{x:.1} {y:.1}"),
            Some((left, top)) if (left - x).abs() < 0.05 && (top - y).abs() < 0.05 => Ok(()),
            Some((left, _)) if (left - x).abs() < 0.05 => write!(text, " V{y:.1}"),
            Some((left, top)) => {
                let middle = f64::midpoint(top, y);
                // A turn goes down by three quarters of this.
                let turn = (14.0 + (x - left).abs() / 20.0).min(TURN);
                let bend = if (top - y).abs() < 0.05 { y + turn } else { middle };
                write!(text, " C{left:.1} {bend:.1} {x:.1} {bend:.1} {x:.1} {y:.1}")
            }
        };
        at = Some((x, y));
    }
    text
}

#[expect(clippy::cast_precision_loss, reason = "a label has few lines")]
fn lines(count: usize) -> f64 {
    count as f64
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
