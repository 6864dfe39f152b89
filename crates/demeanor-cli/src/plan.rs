//! Which arrow leads through which states, and on which side it enters and leaves them.
//!
//! An arrow's way has a step in each state that it leads through: from a state to its label, from there to the other state, and
//! from the edge of a composite state's box to one of its children. All steps lead down or up, so that each level can be laid out
//! in layers.

use std::collections::HashMap;

use demeanor::diagram::Diagram;

/// What a step begins or ends at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    State(usize),
    /// The label of an arrow.
    Label(usize),
    /// The dot of a beginning.
    Dot(usize),
    /// The upper edge of the box around.
    Top,
    /// The lower edge of the box around.
    Bottom,
}

/// A part of a way among the children of one state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The number of the way. The ways of arrow `i` are `2 * i`, which leads to the label, and `2 * i + 1`; after them come the ways
    /// of the dots.
    pub(crate) way: usize,
    /// The region in which it lies.
    pub(crate) region: usize,
    pub(crate) upper: Node,
    pub(crate) lower: Node,
    /// Whether the arrow leads from the lower end to the upper one.
    pub(crate) is_upward: bool,
    /// Whether the way turns below the region and leads on in another region.
    pub(crate) turns: bool,
}

/// The beginning of the machine, or of a region of a state.
#[derive(Clone, Copy)]
pub(crate) struct Beginning {
    pub(crate) within: Option<usize>,
    region: usize,
    /// The child of `within` that is the initial state or contains it.
    child: usize,
    initial: usize,
}

/// How an arrow leads from one child of a state to another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    Down,
    Up,
    /// To the same child: the label is below it.
    Loop,
    /// To a child in another region.
    Turn,
}

pub(crate) struct Plan {
    /// The steps in each state; `None` for those in no state.
    pub(crate) steps: HashMap<Option<usize>, Vec<Step>>,
    pub(crate) beginnings: Vec<Beginning>,
    courses: Vec<Course>,
    leads: Vec<Lead>,
}

/// An arrow, with the state that contains both of its ends, and the children there that are its ends or contain them.
struct Lead {
    parent: Option<usize>,
    from: usize,
    to: usize,
}

impl Plan {
    /// Plans the ways of the arrows, each given by its two states.
    pub(crate) fn new(diagram: &Diagram, arrows: &[(usize, usize)]) -> Self {
        let mut region_of = vec![0; diagram.states().len()];
        let mut beginnings = Vec::new();
        for within in diagram.shown().filter(|state| diagram.is_composite(*state)).map(Some).chain([None]) {
            for (region, of_region) in diagram.regions(within).into_iter().enumerate() {
                of_region.states.iter().for_each(|state| region_of[*state] = region);
                let child =
                    |initial| diagram.path(initial).into_iter().find(|id| diagram.states()[*id].parent() == within);
                let initial = of_region.initial.and_then(|initial| Some((initial, child(initial)?)));
                beginnings.extend(initial.map(|(initial, child)| Beginning { within, region, child, initial }));
            }
        }
        let leads: Vec<_> = arrows.iter().map(|(from, to)| Lead::new(diagram, *from, *to)).collect();
        let courses = courses(diagram.shown(), &beginnings, &leads, &region_of);
        let mut plan = Self { steps: HashMap::new(), beginnings, courses, leads: Vec::new() };
        for (i, (lead, ends)) in leads.iter().zip(arrows).enumerate() {
            let (from, to, label) = (Node::State(lead.from), Node::State(lead.to), Node::Label(i));
            let course = plan.courses[i];
            let [first, second] = [2 * i, 2 * i + 1];
            let mut add = |way, of: usize, upper, lower, is_upward, turns| {
                let step = Step { way, region: region_of[of], upper, lower, is_upward, turns };
                plan.steps.entry(lead.parent).or_default().push(step);
            };
            match course {
                Course::Up => {
                    add(second, lead.to, to, label, true, false);
                    add(first, lead.from, label, from, true, false);
                }
                Course::Down => {
                    add(first, lead.from, from, label, false, false);
                    add(second, lead.to, label, to, false, false);
                }
                Course::Loop => {
                    add(first, lead.from, from, label, false, false);
                    add(second, lead.to, to, label, true, false);
                }
                Course::Turn => {
                    add(first, lead.from, from, label, false, false);
                    add(second, lead.from, label, Node::Bottom, false, true);
                    add(second, lead.to, to, Node::Bottom, true, true);
                }
            }
            plan.inside(diagram, &region_of, first, (lead.from, ends.0), course == Course::Up, false);
            plan.inside(diagram, &region_of, second, (lead.to, ends.1), course == Course::Down, true);
        }
        for i in 0..plan.beginnings.len() {
            let (way, Beginning { within, region, child, initial }) = (2 * arrows.len() + i, plan.beginnings[i]);
            let (upper, lower) = (Node::Dot(i), Node::State(child));
            plan.steps.entry(within).or_default().push(Step {
                way,
                region,
                upper,
                lower,
                is_upward: false,
                turns: false,
            });
            plan.inside(diagram, &region_of, way, (child, initial), true, true);
        }
        plan.leads = leads;
        plan
    }

    /// Adds the steps of a way inside a child, from its upper or its lower edge to the state in which the way begins or ends.
    fn inside(
        &mut self,
        diagram: &Diagram,
        region_of: &[usize],
        way: usize,
        (child, end): (usize, usize),
        is_above: bool,
        is_end: bool,
    ) {
        let path = diagram.path(end);
        for pair in path.windows(2).skip_while(|pair| pair[0] != child) {
            let state = Node::State(pair[1]);
            let (upper, lower) = if is_above { (Node::Top, state) } else { (state, Node::Bottom) };
            // A way that begins inside leads out of the upper edge upward, and one that ends inside, into the lower edge.
            let step =
                Step { way, region: region_of[pair[1]], upper, lower, is_upward: is_above != is_end, turns: false };
            self.steps.entry(Some(pair[0])).or_default().push(step);
        }
    }

    /// Returns the state that contains the label of each arrow.
    pub(crate) fn around(&self) -> impl Iterator<Item = Option<usize>> {
        self.leads.iter().map(|lead| lead.parent)
    }

    /// Returns whether an arrow's label is near the states below it.
    pub(crate) fn is_upward(&self, arrow: usize) -> bool {
        self.courses[arrow] == Course::Up
    }

    /// Returns whether an arrow leads back to the same box.
    pub(crate) fn is_loop(&self, arrow: usize) -> bool {
        self.courses[arrow] == Course::Loop
    }
}

impl Lead {
    fn new(diagram: &Diagram, from: usize, to: usize) -> Self {
        let (from, to) = (diagram.path(from), diagram.path(to));
        // If one state contains the other, both ends are the outer one.
        let most = from.len().min(to.len()) - 1;
        let shared = from.iter().zip(&to).take(most).take_while(|(a, b)| a == b).count();
        Self { parent: shared.checked_sub(1).map(|last| from[last]), from: from[shared], to: to[shared] }
    }
}

/// Returns how each arrow leads. Arrows back to earlier states lead up, so that the initial state is at the top.
fn courses(
    states: impl Iterator<Item = usize>,
    beginnings: &[Beginning],
    leads: &[Lead],
    region_of: &[usize],
) -> Vec<Course> {
    let course = |lead: &Lead| match lead {
        Lead { from, to, .. } if from == to => Course::Loop,
        Lead { from, to, .. } if region_of[*from] != region_of[*to] => Course::Turn,
        _ => Course::Down,
    };
    let mut courses: Vec<_> = leads.iter().map(course).collect();
    // The children of different states, and of different regions, have no arrows between them here.
    let mut next = HashMap::<usize, Vec<(usize, usize)>>::new();
    for (i, lead) in leads.iter().enumerate().filter(|(i, _)| courses[*i] == Course::Down) {
        next.entry(lead.from).or_default().push((i, lead.to));
    }
    let mut seen = HashMap::<usize, bool>::new();
    for start in beginnings.iter().map(|beginning| beginning.child).chain(states) {
        if seen.contains_key(&start) {
            continue;
        }
        // The path of the walk. Each state has the number of its arrows that have been followed. `true` for a state on the
        // path.
        let mut way = vec![(start, 0)];
        seen.insert(start, true);
        while let Some((at, followed)) = way.last_mut() {
            let Some(&(arrow, to)) = next.get(at).and_then(|next| next.get(*followed)) else {
                seen.insert(*at, false);
                way.pop();
                continue;
            };
            *followed += 1;
            if let Some(is_on_the_way) = seen.get(&to) {
                if *is_on_the_way {
                    courses[arrow] = Course::Up;
                }
            } else {
                seen.insert(to, true);
                way.push((to, 0));
            }
        }
    }
    courses
}
