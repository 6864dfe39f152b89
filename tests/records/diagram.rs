//! Pictures of what was seen, and which exits were taken.
#![cfg(feature = "definition")]

use demeanor::definition::{Definition, Outline, Vocabulary};
use demeanor::diagram::Diagram;
use demeanor::{Change, Flow, Fsm, Owner, State, StateMachine, StateRef};
use serde_json::{Value, json};

/// A hare of which the tests say how it is.
#[derive(Default)]
struct Hare {
    afraid: bool,
    hungry: bool,
}

#[derive(Default)]
struct Field {
    seconds: f64,
    flow: Flow,
}

impl Owner for Hare {
    type Context<'a> = Field;
    type Message = &'static str;

    fn now(field: &Field) -> f64 {
        field.seconds
    }

    fn on_change(&mut self, change: &Change<'_, Self>, field: &mut Field) {
        field.flow.note(change);
    }
}

const FILE: &str = "
initial = 'calm'
global = 'watch'
[states.watch]
exits = [{ to = 'dead', on = 'shot' }, { to = 'flee', on = 'bang' }]
[states.calm]
initial = 'sit'
exits = [{ to = 'flee', when = 'afraid' }]
[states.sit]
parent = 'calm'
exits = [{ to = 'eat', when = 'hungry' }, { to = 'eat', on = 'lunch' }]
[states.eat]
parent = 'calm'
exits = [{ to = 'sit', when = 'not hungry' }, { to = 'calm', on = 'enough' }]
[states.flee]
exits = [{ to = 'calm', when = 'not afraid' }]
[states.dead]
final = true
exits = [{ to = 'ghost', after = 100 }]
[states.ghost]
";

fn vocabulary() -> Vocabulary<Hare> {
    let words = Vocabulary::new().flag("afraid", |hare: &Hare, _| hare.afraid).flag("hungry", |hare, _| hare.hungry);
    ["shot", "bang", "lunch", "enough"]
        .into_iter()
        .fold(words, |words, name| words.message(name, move |told| *told == name))
}

fn flow_of(act: impl FnOnce(&mut StateMachine<Hare>, &mut Hare, &mut Field)) -> Flow {
    let definition = Definition::parse(FILE, &vocabulary()).unwrap();
    let (mut field, mut machine) = (Field::default(), definition.machine());
    machine.start(&mut Hare::default(), &mut field);
    act(&mut machine, &mut Hare::default(), &mut field);
    field.flow
}

/// A flow of these changes, each with how often it was made, and of what is written besides.
fn written_flow(changes: &[(&str, &str, u64)], besides: &Value) -> Flow {
    let changes: Vec<_> = changes
        .iter()
        .map(|(from, to, count)| json!({ "from": from, "to": to, "cause": "change", "count": count }))
        .collect();
    let mut flow = json!({ "version": 1, "changes": changes, "refusals": [], "stays": [] });
    flow.as_object_mut().unwrap().extend(besides.as_object().cloned().unwrap_or_default());
    serde_json::from_value(flow).unwrap()
}

fn outline_of(file: &str) -> Outline {
    Outline::parse("hare.toml", file, None).unwrap()
}

fn outline() -> Outline {
    outline_of(FILE)
}

/// The arrows with what was seen of them.
fn arrows(diagram: &Diagram) -> Vec<String> {
    let name = |state: usize| diagram.states()[state].name();
    let arrows = diagram.arrows().map(|arrow| {
        let unwritten = if arrow.is_unwritten() { "not in the file: " } else { "" };
        format!("{unwritten}{} -> {}: {}", name(arrow.from()), name(arrow.to()), arrow.lines().join(" | "))
    });
    arrows.collect()
}

/// The arrows of a machine that were seen in a flow.
fn seen(outline: &Outline, flow: &Flow) -> Vec<String> {
    let arrows = arrows(&outline.diagram().observe(flow).unwrap());
    arrows.into_iter().filter(|arrow| !arrow.ends_with("never")).collect()
}

#[test]
fn a_change_is_counted_for_the_exit_that_it_was() {
    let flow = flow_of(|machine, hare, field| {
        // An exit of the parent leads out of its child, and one to the parent on to its initial child.
        for afraid in [true, false, true, false] {
            hare.afraid = afraid;
            machine.update(hare, field);
        }
        machine.send(hare, &"bang", field);
    });
    assert_eq!(
        arrows(&outline().diagram().observe(&flow).unwrap()),
        [
            "watch -> dead: 1: shot | never",
            "watch -> flee: 2: bang | up to 3×",
            "calm -> flee: afraid | up to 3×",
            "sit -> eat: 1: hungry | never",
            "sit -> eat: 2: lunch | never",
            "eat -> sit: 1: not hungry | never",
            "eat -> calm: 2: enough | never",
            "flee -> calm: not afraid | 2×",
            "dead -> ghost: after 100 s | never",
        ]
    );
}

#[test]
fn changes_that_several_exits_may_have_been_are_in_doubt() {
    let flow = flow_of(|machine, hare, field| {
        hare.hungry = true;
        machine.update(hare, field);
        hare.hungry = false;
        machine.update(hare, field);
    });
    assert_eq!(
        outline().coverage(&flow).unwrap().to_string(),
        "4 of 9 exits were taken, 4 of them in doubt: others lead from the same state to the same one
never taken:
  watch -> dead: shot
  watch -> flee: bang
  calm -> flee: afraid
  flee -> calm: not afraid
  dead -> ghost: after 100 s
in doubt:
  sit -> eat: hungry
  sit -> eat: lunch
  eat -> sit: not hungry
  eat -> calm: enough
never entered: flee, dead, ghost"
    );
}

#[test]
fn no_exit_but_its_own_leads_out_of_a_final_state() {
    let flow = flow_of(|machine, hare, field| {
        machine.send(hare, &"shot", field);
        // The game's code may do what no exit does.
        let flee = Definition::parse(FILE, &vocabulary()).unwrap().state("flee").unwrap();
        machine.change_state(hare, flee, field);
    });
    assert_eq!(seen(&outline(), &flow), ["watch -> dead: 1: shot | 1×", "not in the file: dead -> flee: 1×"]);
}

#[test]
fn an_exit_around_a_linked_machine_leads_out_of_its_end() {
    let file = "
        [machines.guard]
        initial = 'patrol'
        states.patrol = { machine = 'round', exits = [{ to = 'rest', when = 'tired' }] }
        states.rest.final = true
        [machines.round]
        initial = 'walk'
        global = 'ears'
        states.ears.exits = [{ to = 'walk', when = 'noise' }]
        states.walk.exits = [{ to = 'home', after = 2 }]
        states.home.final = true
    ";
    let flow = written_flow(&[("patrol.home", "rest", 1), ("patrol.home", "patrol.walk", 1)], &Value::Null);
    assert_eq!(
        seen(&outline_of(file), &flow),
        ["patrol -> rest: tired | 1×", "not in the file: patrol.home -> patrol.walk: 1×"]
    );
}

#[test]
fn an_exit_from_around_is_not_taken_while_its_target_is_active() {
    let file = "initial = 'calm'\nglobal = 'watch'\n[states.watch]\nexits = [{ to = 'calm', on = 'calm' }, { to = 'calm', on = 'again', restart = true }]\n[states.calm]\ninitial = 'sit'\n[states.sit]\nparent = 'calm'\nexits = [{ to = 'sit', on = 'stretch' }]\n";
    let flow = written_flow(&[("sit", "sit", 5)], &Value::Null);
    assert_eq!(
        arrows(&outline_of(file).diagram().observe(&flow).unwrap()),
        [
            "watch -> calm: 1: calm | never",
            "watch -> calm: 2: again (restart) | up to 5×",
            "sit -> sit: stretch | up to 5×"
        ]
    );
}

#[test]
fn an_exit_that_is_taken_as_its_state_is_entered_may_lead_to_where_that_leads_anyway() {
    let file = "
        initial = 'q'
        [states.q]
        exits = [{ to = 'p', when = 'hungry' }]
        [states.p]
        initial = 'a'
        exits = [{ to = 'a', always = true, when = 'afraid' }]
        [states.a]
        parent = 'p'
        exits = [{ to = 'q', when = 'not hungry' }]
    ";
    let definition = Definition::parse(file, &vocabulary()).unwrap();
    let (mut machine, mut field) = (definition.machine(), Field::default());
    machine.update(&mut Hare { afraid: true, hungry: true }, &mut field);
    assert_eq!(
        arrows(&definition.outline().diagram().observe(&field.flow).unwrap()),
        ["q -> p: hungry | 1×", "p -> a: always [afraid] | 1×", "a -> q: not hungry | never"]
    );
}

#[test]
fn what_no_exit_does_is_an_arrow_of_its_own_with_its_cause() {
    let flow = flow_of(|machine, hare, field| {
        machine.send(hare, &"bang", field);
        machine.revert_state(hare, field);
        let ghost = Definition::parse(FILE, &vocabulary()).unwrap().state("ghost").unwrap();
        machine.push_state(hare, ghost, field);
        machine.pop_state(hare, field);
    });
    let diagram = outline().diagram().observe(&flow).unwrap();
    let unwritten: Vec<_> = arrows(&diagram).into_iter().filter(|arrow| arrow.starts_with("not in")).collect();
    assert_eq!(
        unwritten,
        [
            "not in the file: sit -> ghost: push | 1×",
            "not in the file: flee -> sit: revert | 1×",
            "not in the file: ghost -> sit: pop | 1×"
        ]
    );
}

#[test]
fn a_flow_of_another_machine_is_refused_with_the_states_that_are_unknown() {
    let stays = json!({ "stays": [{ "state": "nap\u{1b}", "seconds": 1.0, "lengths": vec![0; 32] }] });
    let flow = written_flow(&[("sit", "hop", 1)], &stays);
    let unknown = outline().coverage(&flow).unwrap_err();
    assert_eq!(unknown.names(), ["hop", "nap\u{1b}"]);
    assert_eq!(unknown.to_string(), "the flow names states that this machine does not have: hop, nap\\u{1b}");
    let names: Vec<_> = (0..25).map(|i| format!("s{i:02}")).collect();
    let many: Vec<_> = names.iter().map(|name| ("sit", &**name, 1)).collect();
    let told = outline().coverage(&written_flow(&many, &Value::Null)).unwrap_err().to_string();
    assert!(told.ends_with("s18, s19 and 5 more"), "{told}");
}

#[test]
fn machines_that_begin_in_a_nested_state_have_an_arrow_to_it() {
    let file =
        "initial = 'aim'\n[states.fight]\n[states.aim]\nparent = 'fight'\n[states.flee]\nexits = [{ to = 'aim' }]\n";
    let diagram = outline_of(file).diagram();
    assert_eq!(
        diagram.to_mermaid(),
        r#"stateDiagram-v2
    state "fight" as s0
    state s0 {
        state "aim" as s1
    }
    state "flee" as s2
    [*] --> s1
    s2 --> s1
"#
    );
    assert!(diagram.to_dot().contains("    start -> s1;\n"));
    assert!(diagram.observe(&Flow::new()).unwrap().to_mermaid().contains("    start --> s1\n"));
}

/// Contains `Nibble`.
struct Feed;
struct Nibble;
struct Hop;
/// Nobody comes to it.
struct Dream;

impl State<Hare> for Feed {
    fn initial(&self) -> Option<StateRef<Hare>> {
        Some((&Nibble).into())
    }
}

impl State<Hare> for Nibble {
    fn parent(&self) -> Option<StateRef<Hare>> {
        Some((&Feed).into())
    }
}

impl State<Hare> for Hop {
    fn can_exit(&self, hare: &Hare, _: &Fsm<'_, Hare>, _: &Field) -> bool {
        !hare.afraid
    }
}

impl State<Hare> for Dream {}

/// What a hare in code does, seen by its flow.
fn hopping() -> Flow {
    let (mut hare, mut field) = (Hare::default(), Field::default());
    let mut machine = StateMachine::new(&Feed);
    machine.start(&mut hare, &mut field);
    for seconds in [4.0, 5.0, 9.0, 10.0] {
        field.seconds = seconds;
        let to: &'static dyn State<Hare> = if machine.is_in_state(&Hop) { &Feed } else { &Hop };
        machine.change_state(&mut hare, to, &mut field);
    }
    machine.change_state(&mut hare, &Hop, &mut field);
    hare.afraid = true;
    machine.change_state(&mut hare, &Feed, &mut field);
    field.flow
}

#[test]
fn states_in_code_are_drawn_nested_with_what_was_seen() {
    // The state around `Nibble` comes along.
    let diagram = Diagram::of_states::<Hare>([(&Nibble).into(), (&Hop).into(), (&Dream).into()]);
    let diagram = diagram.beginning_in(&Feed).observe(&hopping()).unwrap();
    assert_eq!(
        diagram.to_dot(),
        r##"digraph {
    compound = true;
    node [shape = box, style = rounded, fontname = "sans-serif"];
    start [shape = point];
    subgraph cluster_0 {
        label = "Feed";
        style = rounded;
        c0 [shape = point];
        c0 -> s1;
        s1 [label = "Nibble\n3 stays, mean 2.7 s", style = "rounded,filled", fillcolor = "#143d66", fontcolor = "#ffffff"];
    }
    s2 [label = "Hop\n2 stays, mean 1.0 s", style = "rounded,filled", fillcolor = "#8198af", fontcolor = "#1d2733"];
    s3 [label = "Dream\nnever entered", style = "rounded,filled,dashed", fillcolor = "#eef3f8", fontcolor = "#1d2733"];
    e0 [shape = plain, fontsize = 10, label = "3×"];
    e1 [shape = plain, fontsize = 10, label = "2×, refused 1×"];
    start -> s1 [lhead = cluster_0];
    s1 -> e0 [arrowhead = none, penwidth = 8.0, color = "#7a8b9c"];
    e0 -> s2 [penwidth = 8.0, color = "#7a8b9c"];
    s2 -> e1 [arrowhead = none, penwidth = 6.8, color = "#7a8b9c"];
    e1 -> s1 [penwidth = 6.8, color = "#7a8b9c"];
}
"##
    );
    assert_eq!(
        diagram.to_mermaid(),
        r#"flowchart TD
    start(( )):::dot
    subgraph s0["Feed"]
        c0(( )):::dot
        s1("Nibble<br/>3 stays, mean 2.7 s")
    end
    c0 --> s1
    s2("Hop<br/>2 stays, mean 1.0 s")
    s3("Dream<br/>never entered")
    start --> s0
    s1 -->|"3×"| s2
    s2 -->|"2×, refused 1×"| s1
    classDef dot fill:#4a6178,stroke:#4a6178
    style s1 fill:#143d66,color:#ffffff
    style s2 fill:#8198af,color:#1d2733
    style s3 fill:#eef3f8,color:#1d2733,stroke-dasharray:5 3
    linkStyle 2 stroke-width:8.0px
    linkStyle 3 stroke-width:6.8px
"#
    );
}

#[test]
fn a_flow_by_itself_is_drawn_with_the_states_that_it_names() {
    let flow = hopping();
    let diagram = Diagram::of_flow(&flow);
    assert_eq!(
        arrows(&diagram),
        ["not in the file: Hop -> Nibble: 2×, refused 1×", "not in the file: Nibble -> Hop: 3×"]
    );
    assert_eq!(flow.to_dot(), diagram.to_dot());
    assert!(diagram.to_dot().contains("penwidth") && !diagram.to_dot().contains("#b3631b"));
}

/// Contains `Nap`. A hare that is afraid changes to `Hop` before it comes there, and a hungry one stays at the entrance.
struct Burrow;
struct Nap;

impl State<Hare> for Burrow {
    fn enter(&self, hare: &mut Hare, fsm: &mut Fsm<'_, Hare>, field: &mut Field) {
        if hare.afraid {
            fsm.change_state_now(hare, &Hop, field);
        } else if hare.hungry {
            fsm.stay();
        }
    }
}

impl State<Hare> for Nap {
    fn parent(&self) -> Option<StateRef<Hare>> {
        Some((&Burrow).into())
    }
}

#[test]
fn changes_that_ended_early_are_counted_at_the_arrow_to_their_target() {
    let (mut field, mut machine) = (Field::default(), StateMachine::new(&Feed));
    machine.start(&mut Hare::default(), &mut field);
    for (afraid, hungry) in [(true, false), (true, false), (false, true), (false, false)] {
        let mut hare = Hare { afraid, hungry };
        machine.change_state(&mut hare, &Nap, &mut field);
        hare.afraid = false; // A hare that is afraid cannot leave `Hop`.
        machine.change_state(&mut hare, &Nibble, &mut field);
    }
    let diagram = Diagram::of_states::<Hare>([(&Nibble).into(), (&Nap).into(), (&Hop).into()]).observe(&field.flow);
    let diagram = diagram.unwrap();
    assert_eq!(
        arrows(&diagram),
        [
            "not in the file: Nibble -> Burrow: 1×",
            "not in the file: Nibble -> Nap: 4×, 3 of them ended early",
            "not in the file: Burrow -> Nibble: 1×",
            "not in the file: Burrow -> Hop: 2×",
            "not in the file: Nap -> Nibble: 1×",
            "not in the file: Hop -> Nibble: 2×",
        ]
    );
    let entered = |name| diagram.states()[diagram.index_of(name).unwrap()].visits().unwrap().entered;
    assert_eq!([entered("Burrow"), entered("Nap")], [1, 1]);
    let mermaid = diagram.to_mermaid();
    assert!(mermaid.contains("s1 -->|\"4×, 3 of them ended early\"| s3\n"), "{mermaid}");
    let dot = diagram.to_dot();
    assert!(dot.contains("label = \"4×, 3 of them ended early\"") && dot.contains("-> s3 [penwidth = 8.0"), "{dot}");
}

#[test]
fn an_exit_whose_changes_all_ended_early_was_taken() {
    let file = "initial = 'out'\n[states.out]\nexits = [{ to = 'nap', on = 'tired' }]\n[states.burrow]\n[states.nap]\nparent = 'burrow'\n";
    let outline = outline_of(file);
    let ended = json!({ "from": "out", "to": "nap", "cause": "change", "end": "abandoned", "state": "burrow", "count": u64::MAX });
    let flow = written_flow(&[("out", "nap", u64::MAX)], &json!({ "ended": [ended] }));
    let diagram = outline.diagram().observe(&flow).unwrap();
    assert_eq!(arrows(&diagram), [format!("out -> nap: tired | {0}×, {0} of them ended early", u64::MAX)]);
    assert!(!diagram.arrows().any(demeanor::diagram::Arrow::is_untaken), "it is drawn solid");
    let never: Vec<_> = diagram.never_entered().map(demeanor::diagram::DiagramState::name).collect();
    assert_eq!(never, ["burrow", "nap"], "no owner has come to the end of the change");
    assert_eq!(outline.coverage(&flow).unwrap().to_string(), "1 of 1 exit was taken\nnever entered: burrow, nap");
}

/// Mermaid finds its own words in upper case, too, and has no empty texts.
#[test]
fn names_are_texts_for_mermaid_though_they_are_its_words() {
    let file = "initial = 'End Note'\n[states.'End Note']\nnote = 'wind Direction LR'\n[states.'[[fork]]']\n";
    let drawn = outline_of(file).diagram().to_mermaid();
    for text in ["\"End#32;Note\" as s0\n", " wind Direction#32;LR\n", "\"#91;[fork]]\" as s1\n"] {
        assert!(drawn.contains(text), "{drawn}");
    }
    let drawn = written_flow(&[("", "`a", 1)], &json!({})).to_mermaid();
    assert!(drawn.contains("    s0(\" ") && drawn.contains("    s1(\"#96;a"), "{drawn}");
}

#[test]
fn what_was_seen_before_is_forgotten_when_a_diagram_is_observed_again() {
    let flow = flow_of(|machine, hare, field| {
        machine.send(hare, &"bang", field);
        machine.revert_state(hare, field);
    });
    let once = outline().diagram().observe(&flow).unwrap();
    let again = once.clone().observe(&Flow::new()).unwrap().observe(&flow).unwrap();
    assert_eq!(arrows(&again), arrows(&once));
    assert_eq!(again.to_dot(), once.to_dot());
}

#[test]
fn exits_that_lead_back_are_drawn_and_counted_for_what_they_ask() {
    let file = "
        initial = 'sit'
        states.sit = { note = 'Ears up.', exits = [{ push = 'look', when = 'afraid' }, { to = 'eat', when = 'hungry' }] }
        states.look.exits = [{ pop = true }]
        states.eat.exits = [{ to = '$previous' }, { pop = true, when = 'afraid' }]
    ";
    let hares = Definition::parse(file, &vocabulary()).unwrap();
    let (mut machine, mut field) = (hares.machine(), Field::default());
    for (afraid, hungry) in [(true, false), (false, false), (false, true), (false, false)] {
        machine.update(&mut Hare { afraid, hungry }, &mut field);
    }
    let coverage = hares.coverage(&field.flow).unwrap();
    let exits: Vec<_> = coverage.exits().iter().map(|exit| (exit.to_string(), exit.seen.at_least)).collect();
    let expected = [
        ("sit -> look: push [afraid]", 1),
        ("sit -> eat: hungry", 1),
        ("look -> look: pop", 1),
        ("eat -> eat: back", 1),
        ("eat -> eat: pop [afraid]", 0),
    ];
    assert_eq!(exits, expected.map(|(exit, count)| (exit.to_owned(), count)));
    let drawn = hares.outline().diagram().to_mermaid();
    assert!(
        drawn.contains("    s0 --> s1 : 1#58; push [afraid]\n") && drawn.contains("    s1 --> s1 : pop\n"),
        "{drawn}"
    );
    assert!(drawn.contains("    note right of s0 : Ears up.\n"), "{drawn}");
}

#[test]
fn every_state_is_near_enough_at_any_number_of_arrows() {
    let diagram = outline().diagram();
    let all = diagram.shown().count();
    assert_eq!(diagram.around(1, usize::MAX).shown().count(), all);
}

#[test]
fn a_folded_state_is_drawn_with_the_arrows_of_the_states_in_it() {
    let flow = flow_of(|machine, hare, field| {
        hare.hungry = true;
        machine.update(hare, field);
        field.seconds = 2.0;
        machine.send(hare, &"enough", field);
        machine.send(hare, &"bang", field);
        hare.hungry = false;
        machine.update(hare, field);
        let ghost = Definition::parse(FILE, &vocabulary()).unwrap().state("ghost").unwrap();
        machine.change_state(hare, ghost, field);
    });
    let diagram = outline().diagram().observe(&flow).unwrap();
    let calm = diagram.index_of("calm").unwrap();
    let folded = diagram.fold(&[calm]);
    let boxes: Vec<_> = folded.shown().map(|state| folded.states()[state].name()).collect();
    assert_eq!(boxes, ["watch", "calm", "flee", "dead", "ghost"]);
    assert_eq!(folded.initial(None), Some(calm));
    assert!(
        folded.captions(calm).iter().any(|caption| caption.text() == "2 states in it"),
        "{:?}",
        folded.captions(calm)
    );
    assert!((folded.states()[calm].visits().unwrap().seconds - 2.0).abs() < 1e-9);
    assert_eq!(
        arrows(&folded),
        [
            "watch -> dead: 1: shot | never",
            "watch -> flee: 2: bang | up to 1×",
            "calm -> flee: afraid | up to 1×",
            "not in the file: calm -> ghost: 1×",
            "flee -> calm: not afraid | 1×",
            "dead -> ghost: after 100 s | never",
        ]
    );
}

#[test]
fn exits_of_states_in_a_folded_state_that_lead_to_the_same_state_are_one_arrow() {
    let file = "
        initial = 'sit'
        states.field.exits = [{ to = 'home', when = 'hungry' }]
        states.sit = { parent = 'field', exits = [{ to = 'home', on = 'bang' }, { to = 'den', on = 'bang' }] }
        states.eat = { parent = 'field', exits = [{ to = 'nest', on = 'bang' }, { to = 'sit', when = 'hungry' }] }
        states.home.exits = [{ to = 'eat', when = 'hungry' }, { to = 'sit', when = 'afraid' }]
        states.den.parent = 'home'
        states.nest.parent = 'den'
    ";
    let diagram = outline_of(file).diagram();
    let states = ["field", "home", "den"].map(|name| diagram.index_of(name).unwrap());
    let folded = diagram.fold(&states);
    assert_eq!(
        arrows(&folded),
        ["field -> home: hungry", "field -> home: 3 exits", "home -> field: 1: hungry", "home -> field: 2: afraid"]
    );
}

/// A state of a soldier, which may have regions (rule 32).
struct Part {
    name: &'static str,
    parent: Option<&'static Part>,
    region: usize,
    regions: &'static [&'static Part],
}

static FIGHT: Part = Part { name: "Fight", parent: None, region: 0, regions: &[&WALK, &AIM] };
static WALK: Part = Part { name: "Walk", parent: Some(&FIGHT), region: 0, regions: &[] };
static RUN: Part = Part { name: "Run", parent: Some(&FIGHT), region: 0, regions: &[] };
static AIM: Part = Part { name: "Aim", parent: Some(&FIGHT), region: 1, regions: &[] };
static SHOOT: Part = Part { name: "Shoot", parent: Some(&FIGHT), region: 1, regions: &[] };
static REST: Part = Part { name: "Rest", parent: None, region: 0, regions: &[] };

impl State<Hare> for Part {
    fn name(&self) -> std::borrow::Cow<'_, str> {
        self.name.into()
    }

    fn parent(&self) -> Option<StateRef<Hare>> {
        self.parent.map(StateRef::from)
    }

    fn regions(&self) -> Vec<StateRef<Hare>> {
        self.regions.iter().map(|state| StateRef::from(*state)).collect()
    }

    fn region(&self) -> usize {
        self.region
    }

    /// A hungry hare opens no regions.
    fn enter(&self, hare: &mut Hare, fsm: &mut Fsm<'_, Hare>, _: &mut Field) {
        if hare.hungry {
            fsm.stay();
        }
    }
}

/// Rules 32 and 38: the target that a change names is the state with regions, in which the change ends early.
#[test]
fn a_change_that_stays_in_the_state_with_regions_that_is_its_target_is_counted_once() {
    let (mut field, mut machine) = (Field::default(), StateMachine::new(&REST));
    machine.start(&mut Hare::default(), &mut field);
    for hungry in [true, false] {
        let mut hare = Hare { hungry, ..Hare::default() };
        machine.change_state(&mut hare, &FIGHT, &mut field);
        machine.change_state(&mut hare, &REST, &mut field);
    }
    let states = [&FIGHT, &WALK, &RUN, &AIM, &SHOOT, &REST].map(StateRef::from);
    let diagram = Diagram::of_states::<Hare>(states).observe(&field.flow).unwrap();
    let expected = ["not in the file: Fight -> Rest: 2×", "not in the file: Rest -> Fight: 2×, 1 of them ended early"];
    assert_eq!(arrows(&diagram), expected);
}

#[test]
fn a_diagram_shows_regions_apart_from_each_other() {
    let states = || [&FIGHT, &WALK, &RUN, &AIM, &SHOOT, &REST].map(StateRef::from);
    let diagram = Diagram::of_states::<Hare>(states()).beginning_in(&REST);
    assert_eq!(
        diagram.to_mermaid(),
        r#"stateDiagram-v2
    [*] --> s5
    state "Fight" as s0
    state s0 {
        [*] --> s1
        state "Walk" as s1
        state "Run" as s2
        --
        [*] --> s3
        state "Aim" as s3
        state "Shoot" as s4
    }
    state "Rest" as s5
"#
    );
    let dot = diagram.to_dot();
    let (legs, arms) = (dot.find("subgraph cluster_0_0 {").unwrap(), dot.find("subgraph cluster_0_1 {").unwrap());
    assert!(legs < dot.find("s2 [label").unwrap() && dot.find("s2 [label").unwrap() < arms, "{dot}");
    assert!(arms < dot.find("s3 [label").unwrap() && dot.contains("c0_1 -> s3;"), "{dot}");

    // Regions are opened together.
    let (mut hare, mut field) = (Hare::default(), Field::default());
    let mut machine = StateMachine::new(&REST);
    machine.change_state(&mut hare, &FIGHT, &mut field);
    machine.change_state(&mut hare, &RUN, &mut field);
    let observed = diagram.observe(&field.flow).unwrap();
    let never: Vec<_> = observed.never_entered().map(demeanor::diagram::DiagramState::name).collect();
    assert_eq!(never, ["Shoot"]);
    let flowchart = observed.to_mermaid();
    assert!(flowchart.contains("subgraph s0_1[\" \"]") && flowchart.contains("c0_1 --> s3"), "{flowchart}");
    assert!(flowchart.contains("s1 -->|\"1×\"| s2"), "{flowchart}");
}

#[test]
fn exits_of_states_in_regions_are_counted_wherever_they_lead() {
    let file = "
        initial = 'sit'
        states.sit.exits = [{ to = 'look', when = 'afraid and hungry' }, { to = 'roam', when = 'afraid' }]
        states.roam = { regions = { legs = 'hop', ears = 'up' }, exits = [{ to = 'down', on = 'bang' }] }
        states.hop = { parent = 'roam', exits = [{ to = 'leap', when = 'afraid and hungry' }] }
        states.leap = { parent = 'roam', exits = [{ to = 'up', when = 'not afraid and hungry' }] }
        states.up = { parent = 'roam', region = 'ears', exits = [{ to = 'look', when = 'afraid and not hungry' }] }
        states.look = { parent = 'roam', region = 'ears', exits = [{ to = 'sit', when = 'not afraid and not hungry' }] }
        states.down = { parent = 'roam', region = 'ears', regions = ['left', 'right'] }
        states.left = { parent = 'down' }
        states.right = { parent = 'down', exits = [{ to = 'hop', when = 'afraid' }] }
    ";
    let hares = Definition::parse(file, &vocabulary()).unwrap();
    let (mut machine, mut field, mut hare) = (hares.machine(), Field::default(), Hare::default());
    machine.start(&mut hare, &mut field);
    for (afraid, hungry) in [(true, true), (true, true), (false, true), (true, false), (false, false), (true, false)] {
        (hare.afraid, hare.hungry) = (afraid, hungry);
        machine.update(&mut hare, &mut field);
    }
    machine.change_state(&mut hare, hares.state("leap").unwrap(), &mut field);
    machine.send(&mut hare, &"bang", &mut field);
    machine.update(&mut hare, &mut field);
    let coverage = hares.coverage(&field.flow).unwrap();
    // Both exits of `sit` lead to `roam`, so far as a change says it.
    assert!(coverage.to_string().starts_with("8 of 8 exits were taken, 2 of them in doubt"), "{coverage}");
    let diagram = hares.outline().diagram().observe(&field.flow).unwrap();
    let unwritten = diagram.arrows().filter(|arrow| arrow.is_unwritten()).count();
    assert_eq!(unwritten, 0, "each change is one of an exit: {:?}", arrows(&diagram));
}

#[test]
fn a_name_that_is_a_character_of_html_is_drawn_as_it_is_written() {
    let file = "initial = '&lt;'\nstates.'&lt;'.final = true\n";
    let diagram = Outline::parse("guard.toml", file, None).unwrap().diagram();
    assert!(diagram.to_dot().contains("s0 [label = \"&amp;lt;\""), "{}", diagram.to_dot());
}
