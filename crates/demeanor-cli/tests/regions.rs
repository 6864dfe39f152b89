//! Regions on the command line: in pictures and in runs.

use std::collections::BTreeMap;

use running::Folder;

mod running;

const SOLDIER: &str = "initial = 'rest'
[states.rest]
exits = [{ to = 'fight', when = 'seen' }]
[states.fight]
regions = { legs = 'walk', arms = 'ready' }
exits = [{ to = 'rest', when = 'not seen' }]
[states.walk]
parent = 'fight'
exits = [{ to = 'run', when = 'health < 50' }]
[states.run]
parent = 'fight'
region = 'legs'
exits = [{ to = 'walk', after = 3 }, { to = 'rest', when = 'health < 10' }]
[states.ready]
parent = 'fight'
exits = [{ to = 'strike', after = 1 }]
[states.strike]
parent = 'fight'
region = 'arms'
regions = ['left', 'right']
exits = [{ to = 'walk', when = 'tired' }, { to = 'ready', after = 1 }]
states.left = {}
states.right = {}
";

/// The edges of a box: left, top, right, bottom.
type Edges = [f64; 4];

/// What a picture contains.
#[derive(Default)]
struct Drawn {
    /// The boxes, by the names of their states.
    boxes: BTreeMap<String, Edges>,
    /// The lines between regions.
    borders: Vec<Edges>,
    dots: Vec<(f64, f64)>,
    /// The names of regions, with their places.
    regions: Vec<(String, (f64, f64))>,
}

impl Drawn {
    fn of(svg: &str) -> Self {
        let mut drawn = Self::default();
        let mut edges = Edges::default();
        for line in svg.lines() {
            let value = |name: &str| {
                let begin = line.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
                &line[begin..begin + line[begin..].find('"').unwrap()]
            };
            let number = |name| value(name).parse::<f64>().unwrap();
            let said = || line.rsplit('>').nth(1).unwrap().trim_end_matches("</text").to_owned();
            if line.starts_with("<rect class=\"box") || line.starts_with("<rect class=\"composite") {
                let (x, y) = (number("x"), number("y"));
                edges = [x, y, x + number("width"), y + number("height")];
            } else if line.starts_with("<text class=\"name") {
                drawn.boxes.insert(said(), edges);
            } else if line.starts_with("<text class=\"region") {
                drawn.regions.push((said(), (number("x"), number("y"))));
            } else if line.starts_with("<circle") {
                drawn.dots.push((number("cx"), number("cy")));
            } else if line.starts_with("<path class=\"border") {
                // `M10 20 V90` or `M10 20 H90`.
                let parts: Vec<_> =
                    value("d").split([' ', 'M', 'V', 'H']).filter_map(|part| part.parse().ok()).collect();
                let [x, y, end] = parts[..] else { panic!("{line}") };
                drawn.borders.push(if line.contains('V') { [x, y, x, end] } else { [x, y, end, y] });
            }
        }
        drawn
    }

    /// Returns whether a box lies in another, or a border in the box that it divides.
    fn is_inside(&self, [left, top, right, bottom]: Edges, of: &str) -> bool {
        let around = self.boxes[of];
        around[0] <= left && around[1] <= top && right <= around[2] && bottom <= around[3]
    }

    /// Returns whether a border has the first place on its left or above it, and the second one on the other side.
    fn divides([left, top, right, bottom]: Edges, first: Edges, second: Edges) -> bool {
        first[2] < left && right < second[0] || first[3] < top && bottom < second[1]
    }
}

#[test]
fn a_picture_divides_the_box_of_a_state_by_its_regions() {
    let folder = Folder::new("picture_of_regions").with("soldier.toml", SOLDIER);
    let (code, svg, complained) = folder.run(&["graph", "soldier.toml", "--format", "svg"]);
    assert_eq!((code, complained.as_str()), (0, ""));
    let drawn = Drawn::of(&svg);
    let boxes = &drawn.boxes;
    assert_eq!(boxes.len(), 8);
    assert_eq!(drawn.borders.len(), 2, "one line for the two regions of each");
    let of = |state| {
        drawn.borders.iter().copied().find(|border| {
            drawn.is_inside(*border, state) && (state == "strike" || !drawn.is_inside(*border, "strike"))
        })
    };
    let (fight, strike) = (of("fight").unwrap(), of("strike").unwrap());
    for legs in ["walk", "run"] {
        for arms in ["ready", "strike"] {
            assert!(Drawn::divides(fight, boxes[legs], boxes[arms]), "{legs} and {arms}\n{svg}");
            assert!(drawn.is_inside(boxes[legs], "fight") && drawn.is_inside(boxes[arms], "fight"), "{svg}");
        }
    }
    assert!(Drawn::divides(strike, boxes["left"], boxes["right"]), "{svg}");
    let at = |(x, y)| [x, y, x, y];
    // Regions that have no names of their own show none.
    let [(legs, legs_at), (arms, arms_at)] = &drawn.regions[..] else { panic!("{svg}") };
    assert_eq!((legs.as_str(), arms.as_str()), ("legs", "arms"));
    assert!(Drawn::divides(fight, at(*legs_at), at(*arms_at)), "{svg}");
    // The machine and each region have a dot at their initial state.
    assert_eq!(drawn.dots.len(), 5);
    for initial in ["rest", "walk", "ready", "left", "right"] {
        let is_above = |(x, y): &(f64, f64)| {
            let [left, top, right, _] = boxes[initial];
            (left..right).contains(x) && (top - 40.0..top).contains(y)
        };
        assert_eq!(drawn.dots.iter().filter(|dot| is_above(dot)).count(), 1, "the dot of {initial}\n{svg}");
    }
    assert!(svg.contains(".border { fill: none; stroke: #4a6178; stroke-width: 1.1; stroke-dasharray"), "{svg}");
}

#[test]
fn a_diagram_as_text_names_the_regions_that_have_names() {
    let folder = Folder::new("text_of_regions").with("soldier.toml", SOLDIER).with("flow.json", NO_FLOW);
    let (_, dot, _) = folder.run(&["graph", "soldier.toml", "--format", "dot"]);
    for line in [
        "subgraph cluster_1_1 {\n            label = \"arms\";",
        "subgraph cluster_5_0 {\n                    label = \"\";",
    ] {
        assert!(dot.contains(line), "{line}\n{dot}");
    }
    let (_, flowchart, _) = folder.run(&["graph", "soldier.toml", "--observed", "flow.json"]);
    for line in ["subgraph s1_0[\"legs\"]", "subgraph s5_1[\" \"]"] {
        assert!(flowchart.contains(line), "{line}\n{flowchart}");
    }
}

const NO_FLOW: &str = r#"{ "version": 1, "changes": [], "refusals": [], "stays": [], "ended": [] }"#;

#[test]
fn a_run_begins_in_all_regions() {
    let begins_in_fight = SOLDIER.replace("initial = 'rest'", "initial = 'fight'");
    let folder = Folder::new("run_of_regions").with("soldier.toml", &begins_in_fight);
    let (_, told, _) =
        folder.run(&["run", "soldier.toml", "--seconds", "0", "--set", "seen=true", "--set", "health=90"]);
    assert_eq!(told.lines().next(), Some("   0.00 s  begins in fight (walk, ready)"), "{told}");
    let (_, told, _) = folder.run(&["run", "soldier.toml", "--seconds", "0", "--from", "strike", "--set", "seen=true"]);
    assert_eq!(told.lines().next(), Some("   0.00 s  begins in fight (walk, strike (left, right))"), "{told}");
}
