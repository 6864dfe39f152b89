//! How states are nested: parents without circles, initial children that are children, a global that stands apart.

use super::fault::Fault;
use super::outline::Outline;
use super::problem::Findings;

/// The deepest that states may be nested.
const DEEPEST: usize = 64;

/// Checks the hierarchy. Where it closes on itself, it is cut, so that what comes after can walk it.
pub(crate) fn check(outline: &mut Outline, findings: &mut Findings) {
    cut_circles(outline, findings);
    initial_children(outline, findings);
    if let Some(global) = outline.global {
        let name = || outline.states[global].name.clone();
        let state = &outline.states[global];
        let has_children = outline.states.iter().any(|other| other.parent == Some(global));
        if state.parent.is_some() || state.initial.is_some() || has_children {
            findings.add(state.span.clone(), Fault::GlobalIsNested(name()));
        }
        for exit in outline.states.iter().flat_map(|state| &state.exits).filter(|exit| exit.to == global) {
            findings.add(exit.span.clone(), Fault::ExitToGlobal(name()));
        }
    }
}

fn cut_circles(outline: &mut Outline, findings: &mut Findings) {
    /// How deep a state is, once that is known.
    #[derive(Clone, Copy, PartialEq)]
    enum Depth {
        Unknown,
        OnTheWay,
        Known(usize),
    }
    let mut depths = vec![Depth::Unknown; outline.states.len()];
    for start in 0..outline.states.len() {
        let mut trail = Vec::new();
        let mut at = Some(start);
        let mut depth = 0;
        while let Some(place) = at {
            match depths[place] {
                Depth::Known(known) => {
                    depth = known + 1;
                    break;
                }
                Depth::OnTheWay => {
                    let begin = trail.iter().position(|&on| on == place).unwrap_or(0);
                    let names = trail[begin..].iter().map(|&on: &usize| outline.states[on].name.clone()).collect();
                    findings.add(outline.states[place].parent_span.clone(), Fault::ParentCycle(names));
                    if let Some(&last) = trail.last() {
                        outline.states[last].parent = None;
                    }
                    break;
                }
                Depth::Unknown => {
                    depths[place] = Depth::OnTheWay;
                    trail.push(place);
                    at = outline.states[place].parent;
                }
            }
        }
        for &place in trail.iter().rev() {
            depths[place] = Depth::Known(depth);
            if depth == DEEPEST {
                let state = &mut outline.states[place];
                let fault = Fault::NestedTooDeep { state: state.name.clone(), most: DEEPEST };
                findings.add(state.parent_span.clone(), fault);
            }
            depth += 1;
        }
    }
}

fn initial_children(outline: &mut Outline, findings: &mut Findings) {
    for place in 0..outline.states.len() {
        let Some(child) = outline.states[place].initial else { continue };
        if outline.states[child].parent != Some(place) {
            let state = &outline.states[place];
            let fault =
                Fault::InitialIsNotAChild { composite: state.name.clone(), child: outline.states[child].name.clone() };
            findings.add(state.initial_span.clone(), fault);
            outline.states[place].initial = None;
        }
    }
}
