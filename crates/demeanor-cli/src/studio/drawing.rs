//! The picture of a machine, as data for the page: boxes, arrows and texts with their positions, and the machine's words.

use std::collections::{BTreeSet, HashMap};

use demeanor::definition::{ExitOutline, Leads, Meaning, Outline, StateOutline, ValueKind, Words};
use demeanor::diagram::{Caption, Diagram};
use serde::Deserialize;
use serde_json::{Value, json};

use super::offsets::Offsets;
use crate::edit::WrittenState;
use crate::layout::{LINE, heading, layout_near};
use crate::picture::{Border, Picture, Rect};
use crate::svg::line;

/// The largest number of states that are all drawn when a machine is seen for the first time.
const MOST_UNFOLDED: usize = 150;

/// What the page has seen and folded, by the names of states.
#[derive(Default, Deserialize)]
pub(super) struct Seen {
    /// The states that are drawn without the states in them, and those that are not although they run another machine.
    #[serde(default)]
    folded: Vec<String>,
    #[serde(default)]
    unfolded: Vec<String>,
    /// Whether the machine is seen for the first time: if it is large, its outermost states are folded.
    #[serde(default)]
    is_new: bool,
    /// The middle of each state in the picture before, from left to right.
    #[serde(default)]
    former: HashMap<String, f64>,
}

/// Lays out a machine. A state that runs another machine is one box, unless it is unfolded.
/// `written` is what the file says of each state.
pub(super) fn drawing(
    outline: &Outline,
    seen: &Seen,
    written: &[Option<WrittenState>],
    offsets: &Offsets<'_>,
) -> Value {
    let Seen { folded, unfolded, is_new, former } = seen;
    let folds_outermost = *is_new && outline.states().len() > MOST_UNFOLDED;
    let diagram = outline.diagram();
    let is_folded = |state: &StateOutline| {
        let name = state.name();
        let is_large = folds_outermost && state.parent().is_none();
        (state.machine().is_some() || is_large || folded.iter().any(|other| other == name))
            && !unfolded.iter().any(|other| other == name)
    };
    let is_composite = |state: &StateOutline| diagram.is_composite(state.id().index());
    let states = outline.states().iter().filter(|state| is_composite(state));
    let boxes: Vec<_> = states.filter(|state| is_folded(state)).map(|state| state.id().index()).collect();
    let can_open: BTreeSet<_> =
        outline.states().iter().filter(|state| is_composite(state)).map(|state| state.id().index()).collect();
    let diagram = diagram.fold(&boxes);
    let former = outline.states().iter().map(|state| former.get(state.name()).copied()).collect();
    let picture = layout_near(&diagram, former);
    let states = diagram.shown().map(|id| {
        let mut state = state(outline, &diagram, &picture, id, can_open.contains(&id), offsets);
        if let Some(written) = written.get(id).and_then(Option::as_ref) {
            state["keys"] = keys(&written.keys);
            state["inherited"] = keys(&written.inherited);
            state["inherits_exits"] = written.inherits_exits.into();
            state["written_exits"] = written.exits.iter().map(|exit| keys(exit)).collect();
        }
        state
    });
    let arrows = picture.arrows.iter().map(|arrow| {
        json!({
            "from": arrow.from,
            "to": arrow.to,
            "exit": arrow.of.exit(),
            "lines": arrow.lines,
            "label": rect(arrow.label),
            "ways": arrow.ways.each_ref().map(|way| line(way)),
        })
    });
    let dots = picture.dots.iter().map(|dot| json!({ "at": [dot.at.x, dot.at.y], "way": line(&dot.way) }));
    let titles = picture.titles.iter().map(|title| json!({ "at": [title.at.0, title.at.1], "name": title.name }));
    json!({
        "width": picture.width,
        "height": picture.height,
        "line": LINE,
        "states": states.collect::<Vec<_>>(),
        "arrows": arrows.collect::<Vec<_>>(),
        "dots": dots.collect::<Vec<_>>(),
        "borders": picture.borders.iter().map(|at| border(&diagram, &picture, at)).collect::<Vec<_>>(),
        "titles": titles.collect::<Vec<_>>(),
        "hidden": hidden(outline, &diagram),
        "all_states": outline.states().len(),
    })
}

/// Returns keys with their values, as a designer types them.
fn keys(keys: &[(String, String)]) -> Value {
    keys.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect::<serde_json::Map<_, _>>().into()
}

/// Returns the states in folded ones, each with the names of those around it.
fn hidden(outline: &Outline, diagram: &Diagram) -> Vec<Value> {
    let shown: BTreeSet<_> = diagram.shown().collect();
    let states = outline.states().iter().filter(|state| !shown.contains(&state.id().index()));
    let hidden = states.map(|state| {
        let around = outline.path(state.id()).into_iter().filter(|id| *id != state.id());
        let around: Vec<_> = around.map(|id| outline.state(id).name()).collect();
        json!({ "id": state.id().index(), "name": state.name(), "around": around })
    });
    hidden.collect()
}

fn state(
    outline: &Outline,
    diagram: &Diagram,
    picture: &Picture<'_>,
    id: usize,
    can_open: bool,
    offsets: &Offsets<'_>,
) -> Value {
    let of = &outline.states()[id];
    let captions = diagram.captions(id).into_iter().map(|caption| {
        let kind = match caption {
            Caption::Name(_) => "name",
            Caption::Behavior(_) => "does",
            Caption::Note(_) => "note",
            _ => "condition",
        };
        json!([kind, caption.text()])
    });
    let (elsewhere, span) = of.written();
    json!({
        "id": id,
        "name": of.name(),
        "part": of.part(),
        "region": of.region(),
        "regions": of.region_names().map(|(name, _)| name).collect::<Vec<_>>(),
        "parent": of.parent().map(demeanor::definition::StateId::index),
        "rect": rect(picture.state(id)),
        "captions": captions.collect::<Vec<_>>(),
        "is_composite": diagram.is_composite(id),
        "is_folded": can_open && !diagram.is_composite(id),
        "can_open": can_open,
        "is_global": diagram.is_global(id),
        "is_final": of.is_final(),
        "is_initial": outline.initial().index() == id,
        "machine": of.machine(),
        "at": elsewhere.is_none().then(|| offsets.units(&span)),
        "file": elsewhere,
        "note": of.note(),
        "behaviors": of.behaviors().collect::<Vec<_>>(),
        "script": of.script(),
        "enter_when": of.enter_when(),
        "every": of.every().map(ToString::to_string),
        "exits": of.exits().iter().map(|exit| self::exit(outline, exit, offsets)).collect::<Vec<_>>(),
    })
}

fn exit(outline: &Outline, exit: &ExitOutline, offsets: &Offsets<'_>) -> Value {
    let to = match exit.leads() {
        Leads::Back | Leads::Pop => None,
        _ => Some(outline.state(exit.target()).name()),
    };
    json!({
        "to": to,
        "target": exit.target().index(),
        "leads": exit.leads().to_string(),
        "label": exit.label(),
        "note": exit.note(),
        "at": offsets.units(&exit.span()),
    })
}

/// Returns the left and the upper edge, the width and the height.
fn rect(rect: Rect) -> [f64; 4] {
    [rect.x - rect.width / 2.0, rect.y - rect.height / 2.0, rect.width, rect.height]
}

/// Returns the ends of a border, from edge to edge of its box.
fn border(diagram: &Diagram, picture: &Picture<'_>, border: &Border) -> [f64; 4] {
    let Border { at, within, is_upright } = *border;
    let [left, top, width, height] = rect(picture.state(within));
    if is_upright {
        [at, top + heading(diagram.captions(within).len()), at, top + height]
    } else {
        [left, at, left + width, at]
    }
}

/// Returns the values and the messages of a machine, for the controls of a run. Those that the machine reads come first.
pub(super) fn words(outline: &Outline, words: &Words) -> Value {
    let named = |meaning: &Meaning| {
        let mentions = outline.mentions().iter().filter(move |mention| mention.meaning() == meaning);
        mentions.map(|mention| mention.name().to_owned()).collect::<BTreeSet<_>>()
    };
    let (read, heard) = (named(&Meaning::Value), named(&Meaning::Message));
    let mut values: Vec<_> = words.values.iter().collect();
    values.sort_by_key(|(name, _)| !read.contains(*name));
    let values = values.into_iter().map(|(name, kind)| {
        json!({
            "name": name,
            "is_flag": *kind == ValueKind::Flag,
            "range": words.ranges.get(name),
            "about": words.descriptions.get(name),
            "is_read": read.contains(name),
        })
    });
    let mut messages: Vec<_> = words.messages.iter().collect();
    messages.sort_by_key(|name| !heard.contains(*name));
    let messages = messages.into_iter().map(|name| {
        let fields = words.message_fields.get(name).into_iter().flatten();
        let fields = fields.map(|(field, kind)| json!({ "name": field, "is_flag": *kind == ValueKind::Flag }));
        json!({
            "name": name,
            "fields": fields.collect::<Vec<_>>(),
            "about": words.descriptions.get(name),
            "is_read": heard.contains(name),
        })
    });
    json!({
        "values": values.collect::<Vec<_>>(),
        "messages": messages.collect::<Vec<_>>(),
        "behaviors": words.behaviors.keys().collect::<Vec<_>>(),
        "actions": words.actions.keys().collect::<Vec<_>>(),
    })
}
