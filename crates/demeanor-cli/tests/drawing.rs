//! Pictures of random machines: arrows lead around boxes, labels do not overlap, and exits have the numbers of their order.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cases::cases;
use proptest::prelude::*;
use running::Folder;

#[path = "../../../tests/cases/mod.rs"]
mod cases;
mod running;

/// A machine of a random file. States are numbered.
#[derive(Clone, Debug)]
struct Machine {
    states: Vec<State>,
}

#[derive(Clone, Debug)]
struct State {
    parent: Option<usize>,
    /// The targets of the exits, and how they are written.
    exits: Vec<(usize, u8)>,
    has_regions: bool,
    is_in_first: bool,
}

fn machine() -> impl Strategy<Value = Machine> {
    let state =
        (any::<prop::sample::Index>(), 0..4_u8, prop::collection::vec((any::<prop::sample::Index>(), 0..6_u8), 0..5));
    prop::collection::vec((state, any::<bool>(), any::<bool>()), 1..=40).prop_map(|drawn| {
        let count = drawn.len();
        let state = |(at, ((parent, nested, exits), has_regions, is_in_first)): (usize, (_, bool, bool))| {
            let (parent, nested): (prop::sample::Index, u8) = (parent, nested);
            let exits: Vec<(prop::sample::Index, u8)> = exits;
            State {
                parent: (at > 0 && nested > 0).then(|| parent.index(at)),
                exits: exits.into_iter().map(|(to, kind)| (to.index(count), kind)).collect(),
                has_regions,
                is_in_first,
            }
        };
        Machine { states: drawn.into_iter().enumerate().map(state).collect() }
    })
}

impl Machine {
    fn children(&self, parent: usize) -> Vec<usize> {
        (0..self.states.len()).filter(|state| self.states[*state].parent == Some(parent)).collect()
    }

    /// Returns the first two children of a state if it has regions, which are named after them.
    fn regions(&self, state: usize) -> Option<[usize; 2]> {
        let children = self.children(state);
        (self.states[state].has_regions && children.len() > 1).then(|| [children[0], children[1]])
    }

    fn path(&self, state: usize) -> Vec<usize> {
        std::iter::successors(Some(state), |state| self.states[*state].parent).collect()
    }

    fn file(&self) -> String {
        let mut text = "initial = 's0'\n".to_owned();
        for (at, state) in self.states.iter().enumerate() {
            writeln!(text, "[states.s{at}]").unwrap();
            if let Some(parent) = state.parent {
                writeln!(text, "parent = 's{parent}'").unwrap();
                if let Some([first, second]) = self.regions(parent).filter(|regions| !regions.contains(&at)) {
                    writeln!(text, "region = 's{}'", if state.is_in_first { first } else { second }).unwrap();
                }
            }
            if let Some([first, second]) = self.regions(at) {
                writeln!(text, "regions = ['s{first}', 's{second}']").unwrap();
            } else if let [first, ..] = self.children(at)[..] {
                writeln!(text, "initial = 's{first}'").unwrap();
            }
            let exits = state.exits.iter().map(|(to, kind)| {
                [
                    "to = 's' , when = 'health < 20'",
                    "to = 's', when = 'seen and health < 50 or rage > 3'",
                    "to = 's', after = '2 s'",
                    "to = 's', on = 'hit'",
                    "push = 's', when = 'tired'",
                    "to = 's', on = 'noise', cooldown = '4 s'",
                ][usize::from(*kind)]
                .replace("'s'", &format!("'s{to}'"))
            });
            let exits: Vec<_> = exits.map(|exit| format!("{{ {exit} }}")).collect();
            writeln!(text, "exits = [{}]", exits.join(", ")).unwrap();
        }
        text
    }
}

/// The edges of a box: left, top, right, bottom.
type Edges = [f64; 4];

/// An arrow or a label, with the numbers of the two states.
struct Of<T> {
    from: usize,
    to: usize,
    what: T,
}

#[derive(Default)]
struct Drawn {
    boxes: BTreeMap<usize, Edges>,
    /// The points of each half of an arrow.
    arrows: Vec<Of<Vec<(f64, f64)>>>,
    /// The place and the first line of each label.
    labels: Vec<Of<(Edges, String)>>,
}

impl Drawn {
    fn of(svg: &str) -> Self {
        let mut drawn = Self::default();
        let (mut edges, mut ends, mut is_new) = (Edges::default(), None, false);
        for line in svg.lines() {
            let value = |name: &str| {
                let begin = line.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
                &line[begin..begin + line[begin..].find('"').unwrap()]
            };
            let said = || line.rsplit('>').nth(1).unwrap().trim_end_matches("</text").trim_end_matches("</title");
            let state = |name: &str| name[1..].parse::<usize>().unwrap();
            if line.starts_with("<g><title>") {
                ends = said().split_once(" -&gt; ").map(|(from, to)| (state(from), state(to)));
            } else if line == "</g>" {
                ends = None;
            } else if line.starts_with("<rect class=\"box")
                || line.starts_with("<rect class=\"composite")
                || line.starts_with("<rect class=\"behind")
            {
                let [x, y, width, height] =
                    ["x", "y", "width", "height"].map(|name| value(name).parse::<f64>().unwrap());
                (edges, is_new) = ([x, y, x + width, y + height], true);
            } else if line.starts_with("<text class=\"name") {
                drawn.boxes.insert(state(said()), edges);
            } else if line.starts_with("<path class=\"arrow") {
                let Some((from, to)) = ends else { continue };
                drawn.arrows.push(Of { from, to, what: points(value("d")) });
            } else if let Some((from, to)) = ends.filter(|_| line.starts_with("<text") && std::mem::take(&mut is_new)) {
                drawn.labels.push(Of { from, to, what: (edges, said().to_owned()) });
            }
        }
        drawn
    }
}

/// Returns points on a path of straight lines and curves.
fn points(path: &str) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for part in path.replace(" C", "|C").replace(" V", "|V").split('|') {
        let numbers: Vec<f64> = part[1..].split(' ').map(|number| number.parse().unwrap()).collect();
        let Some(&begin) = points.last() else {
            points.push((numbers[0], numbers[1]));
            continue;
        };
        let ends = match (&part[..1], &numbers[..]) {
            ("V", [end]) => [begin, begin, (begin.0, *end), (begin.0, *end)],
            ("C", [right, down, more @ ..]) => [begin, (*right, *down), (more[0], more[1]), (more[2], more[3])],
            _ => panic!("{path}"),
        };
        points.extend((1..=40).map(|step| {
            let at = f64::from(step) / 40.0;
            let weights =
                [(1.0 - at).powi(3), 3.0 * (1.0 - at).powi(2) * at, 3.0 * (1.0 - at) * at.powi(2), at.powi(3)];
            let mix = |of: fn(&(f64, f64)) -> f64| ends.iter().zip(weights).map(|(end, weight)| of(end) * weight).sum();
            (mix(|end| end.0), mix(|end| end.1))
        }));
    }
    points
}

fn is_inside((x, y): (f64, f64), [left, top, right, bottom]: Edges) -> bool {
    left + 0.2 < x && x < right - 0.2 && top + 0.2 < y && y < bottom - 0.2
}

fn overlap(a: Edges, b: Edges) -> bool {
    a[0] + 0.2 < b[2] && b[0] + 0.2 < a[2] && a[1] + 0.2 < b[3] && b[1] + 0.2 < a[3]
}

/// Returns whether a point is on the edge of a box.
fn touches((x, y): (f64, f64), [left, top, right, bottom]: Edges) -> bool {
    (left..=right).contains(&x) && ((y - top).abs() < 0.2 || (y - bottom).abs() < 0.2)
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn arrows_lead_around_boxes_and_labels(machine in machine()) {
        let file = machine.file();
        let folder = Folder::new("drawing").with("drawn.toml", &file);
        let (code, svg, complained) = folder.run(&["graph", "drawn.toml", "--format", "svg"]);
        prop_assert_eq!(code, 0, "{}\n{}", complained, file);
        let drawn = Drawn::of(&svg);
        prop_assert_eq!(drawn.boxes.len(), machine.states.len());
        let exits: usize = machine.states.iter().map(|state| state.exits.len()).sum();
        prop_assert_eq!(drawn.labels.len(), exits);
        prop_assert_eq!(drawn.arrows.len(), 2 * exits);
        for halves in drawn.arrows.chunks(2) {
            let [Of { from, to, what: first }, Of { what: second, .. }] = halves else { panic!("two halves") };
            prop_assert!(touches(first[0], drawn.boxes[from]), "s{from} -> s{to} begins at s{from}\n{file}");
            prop_assert!(touches(second[second.len() - 1], drawn.boxes[to]), "s{from} -> s{to} ends at s{to}\n{file}");
            let own = [machine.path(*from), machine.path(*to)].concat();
            for (state, edges) in drawn.boxes.iter().filter(|(state, _)| !own.contains(state)) {
                let crosses = first.iter().chain(second).any(|point| is_inside(*point, *edges));
                prop_assert!(!crosses, "s{from} -> s{to} crosses s{state}\n{file}");
            }
            for label in drawn.labels.iter().filter(|label| (label.from, label.to) != (*from, *to)) {
                let crosses = first.iter().chain(second).any(|point| is_inside(*point, label.what.0));
                prop_assert!(!crosses, "s{from} -> s{to} crosses the label `{}`\n{file}", label.what.1);
            }
        }
        for (nth, Of { from, to, what: (edges, text) }) in drawn.labels.iter().enumerate() {
            for other in &drawn.labels[..nth] {
                prop_assert!(!overlap(*edges, other.what.0), "`{text}` of s{from} -> s{to} and `{}`\n{file}", other.what.1);
            }
            let leaves = drawn.boxes.iter().filter(|(state, _)| machine.children(**state).is_empty());
            for (state, of_state) in leaves {
                prop_assert!(!overlap(*edges, *of_state), "`{text}` of s{from} -> s{to} and s{state}\n{file}");
            }
        }
        for (at, state) in machine.states.iter().enumerate() {
            let of_state = drawn.labels.iter().filter(|label| label.from == at);
            let numbered: BTreeMap<_, _> = of_state.map(|label| (number(&label.what.1), label.to)).collect();
            let place = |nth| if state.exits.len() > 1 { Some(nth + 1) } else { None };
            let in_order = state.exits.iter().enumerate().map(|(nth, (to, _))| (place(nth), *to)).collect();
            prop_assert_eq!(numbered, in_order, "the exits of s{}\n{}", at, file);
        }
    }
}

/// Returns the number at the beginning of a label.
fn number(label: &str) -> Option<usize> {
    label.split_once(": ")?.0.parse().ok()
}
