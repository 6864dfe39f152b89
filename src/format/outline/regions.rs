//! Finds the region of its parent in which each state lies, and checks the regions: their initial states, their names and their
//! number.

use std::collections::HashSet;
use std::iter;
use std::sync::Arc;

use super::mention::{Meaning, Mention};
use super::{RegionOutline, StateId, StateOutline};
use crate::format::draft::RegionRef;
use crate::format::name::Name;
use crate::format::problems::mistake::listed;
use crate::format::problems::{Findings, Mistake, Origin};

/// The maximum number of regions of a state.
const MOST_REGIONS: usize = 16;

/// The maximum number of steps outward in the search for a state's region. There is a limit because parents may form a circle.
const DEEPEST: usize = 64;

/// Sets the region of each state. `written` has the states that say in which region they lie. Any other state lies in the
/// region whose initial state it is, or else in the first region. `mistaken` has the states whose regions have mistakes that
/// have been reported.
pub(super) fn place(
    states: &mut [Arc<StateOutline>],
    written: Vec<(StateId, RegionRef)>,
    mistaken: &[StateId],
    findings: &mut Findings,
) {
    for i in 0..states.len() {
        for nth in (0..states[i].regions.len()).rev() {
            let initial = states[i].regions[nth].initial.index();
            if states[initial].parent == Some(StateId::new(i)) {
                Arc::make_mut(&mut states[initial]).region = nth;
            }
        }
    }
    let are_written: HashSet<StateId> = written.iter().map(|(of, _)| *of).collect();
    let is_default = |state: &&Arc<StateOutline>| {
        let around = state.parent.map(|parent| &*states[parent.index()]).filter(|around| around.regions.len() > 1);
        around.is_some_and(|around| around.regions.iter().all(|region| region.initial != state.id))
            && !state.is_linked
            && !are_written.contains(&state.id)
    };
    let defaults: Vec<StateId> = states.iter().filter(is_default).map(|state| state.id).collect();
    for state in states.iter_mut().filter(|state| !state.regions.is_empty() && !state.is_foreign && !state.is_linked) {
        let named = state.regions.iter().enumerate().filter(|(_, region)| region.is_named);
        let mentions: Vec<_> = named.map(|(nth, of)| mention(&of.name, Meaning::Region(state.id, nth))).collect();
        if !mentions.is_empty() {
            Arc::make_mut(state).mentions.extend(mentions);
        }
    }
    for (of, region) in written {
        let state = &states[of.index()];
        let around = state.parent.map(|parent| &*states[parent.index()]);
        match found(state, around, &region, findings) {
            Ok((nth, mention)) => {
                let state = Arc::make_mut(&mut states[of.index()]);
                state.region = nth;
                state.mentions.extend(mention);
            }
            Err(_) if state.parent.is_some_and(|parent| mistaken.contains(&parent)) => {}
            Err(mistake) => findings.add(*mistake),
        }
    }
    for state in states.iter().filter(|state| !state.regions.is_empty()) {
        check(state, states, findings);
    }
    if findings.errors() > 0 {
        // If a `region` has a mistake, the region of its state is unknown, and a warning about the state could be wrong.
        return;
    }
    for state in defaults {
        perhaps_elsewhere(&states[state.index()], states, findings);
    }
}

/// Warns about a state that lies in the first region only because it has no `region`, if all exits to it come from states of one
/// other region.
fn perhaps_elsewhere(state: &StateOutline, states: &[Arc<StateOutline>], findings: &mut Findings) {
    let Some(around) = state.parent.map(|parent| &states[parent.index()]) else { return };
    let region = |of: &StateOutline| {
        let outward = iter::successors(Some(of), |state| state.parent.map(|parent| &*states[parent.index()]));
        { outward }.take(DEEPEST).find(|state| state.parent == Some(around.id)).map(|state| state.region)
    };
    let leads = states.iter().filter(|from| from.exits.iter().any(|exit| exit.to == state.id && from.id != state.id));
    let mut regions = leads.map(|from| region(from));
    let Some(other) = regions.next().flatten().filter(|other| *other > 0) else { return };
    if regions.all(|region| region == Some(other)) {
        let [first, other] = [0, other].map(|nth| &around.regions[nth].name);
        let message =
            format!("state `{}` lies in region `{first}`, but only states of region `{other}` lead to it", state.name);
        Mistake::warning("region", state.name.span.clone(), message)
            .label("does not say in which region it lies")
            .help(format!("write `region = \"{other}\"`, or `region = \"{first}\"`"))
            .report(findings);
    }
}

/// Returns the index of the region of `around` in which a state says that it lies, and the mention, if the state gives the name
/// of the region.
fn found(
    state: &StateOutline,
    around: Option<&StateOutline>,
    region: &RegionRef,
    findings: &Findings,
) -> Result<(usize, Option<Mention>), Box<Mistake>> {
    let (RegionRef::Number(_, span) | RegionRef::Name(Name { span, .. })) = region;
    let mistake = |message: String| Mistake::error("region", span.clone(), message).origin(Origin::MayFollow);
    let Some(around) = around else {
        return mistake(format!("state `{}` has no parent in whose region it could lie", state.name))
            .label("a region of no state")
            .help("give it a `parent` with `regions`, or remove `region`")
            .refuse();
    };
    let regions = &around.regions;
    if regions.is_empty() {
        return mistake(format!("`{}`, the parent of `{}`, has no regions", around.name, state.name))
            .label("a region of a state without regions")
            .help(format!(
                "write `regions = [..]` in `{}`, with the initial state of each, or remove `region`",
                around.name
            ))
            .refuse();
    }
    let is_it = |(nth, of): (usize, &RegionOutline)| match region {
        #[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "a whole number in the file is exact")]
        RegionRef::Number(number, _) => nth as f64 == *number,
        RegionRef::Name(name) => of.name.text == name.text,
    };
    if let Some(nth) = regions.iter().enumerate().position(is_it) {
        let RegionOutline { is_named, initial, .. } = regions[nth];
        let meaning = if is_named { Meaning::Region(around.id, nth) } else { Meaning::State(initial) };
        let mention = match region {
            RegionRef::Name(name) if !state.is_foreign && !state.is_linked => Some(mention(name, meaning)),
            _ => None,
        };
        return Ok((nth, mention));
    }
    let names: Vec<_> = regions.iter().map(|region| region.name.text.as_str()).collect();
    let (shown, nearest) = match region {
        RegionRef::Number(number, _) => (number.to_string(), None),
        RegionRef::Name(name) => (format!("`{name}`"), findings.nearest(&name.text, names.iter().copied())),
    };
    let numbers = if regions.len() == 1 { "0".into() } else { format!("0 to {}", regions.len() - 1) };
    mistake(format!("`{}`, the parent of `{}`, has no region {shown}", around.name, state.name))
        .label("no region of it")
        .help(format!("its regions are {}, or {numbers}", listed(&names)))
        .meant(nearest)
        .refuse()
}

fn mention(name: &Name, meaning: Meaning) -> Mention {
    Mention { name: name.text.clone(), span: name.span.clone(), meaning, condition: None }
}

fn check(state: &StateOutline, states: &[Arc<StateOutline>], findings: &mut Findings) {
    let (name, regions) = (&state.name, &state.regions);
    let at = |nth: usize| regions[nth].span.clone();
    if state.initial.is_some() {
        Mistake::error("regions", at(0), format!("state `{name}` has both `initial` and `regions`"))
            .label("where its regions begin")
            .second(Some(state.initial_span.clone()), "where it begins without regions")
            .help("remove `initial`: each region has its own initial state")
            .report(findings);
    }
    if regions.len() > MOST_REGIONS {
        let message = format!("state `{name}` has {} regions, and at most {MOST_REGIONS} are possible", regions.len());
        Mistake::error("regions", at(MOST_REGIONS), message)
            .label("too many from here")
            .help("put states that are never active together into one region")
            .report(findings);
    }
    for (nth, region) in regions.iter().enumerate() {
        let initial = &states[region.initial.index()];
        let twice =
            regions[..nth].iter().find(|other| other.name.text == region.name.text || other.initial == initial.id);
        if let Some(first) = twice {
            let message = format!("two regions of `{name}` have one name or one initial state");
            Mistake::error("regions", at(nth), message)
                .label("the second of them")
                .second(Some(first.span.clone()), "the first one")
                .help("give each region an initial state of its own")
                .report(findings);
        } else if initial.parent != Some(state.id) {
            let message =
                format!("`{}` is the initial state of a region of `{name}`, but not a child of it", initial.name);
            Mistake::error("initial-not-a-child", region.span.clone(), message)
                .label(format!("its parent is not `{name}`"))
                .help(format!("give `{}` the key `parent = \"{name}\"`", initial.name))
                .origin(Origin::MayFollow)
                .report(findings);
        } else if initial.region != nth {
            let other = regions.get(initial.region).map(|other| other.name.text.as_str()).unwrap_or_default();
            let message =
                format!("`{}` begins region `{}` of `{name}`, but lies in region `{other}`", initial.name, region.name);
            Mistake::error("regions", region.span.clone(), message)
                .label("lies in another region")
                .help(format!("remove `region` from `{}`", initial.name))
                .report(findings);
        }
    }
}
