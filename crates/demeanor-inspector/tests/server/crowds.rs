//! Events about crowds and about single owners.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use demeanor::journal::MessageLog;
use demeanor::{
    Agent, Batch, Cast, Change, Fsm, Journal, MachineReport, Owner, State, StateMachine, StateRef, Telegram,
};
use demeanor_inspector::{Count, Crowd, Machines};
use serde_json::{Value, json};

use super::client::{Page, answer_to};
use super::{Guard, Patrol, Rest, Stunned, guards, inspector, page_of, wait_until};

/// Returns a picture without the parts that differ between runs.
fn picture(mut picture: Value) -> Value {
    let fields = picture.as_object_mut().unwrap();
    fields.remove("at");
    if let Some(Value::Object(flow)) = fields.get_mut("flow") {
        flow.remove("stays");
    }
    picture
}

#[test]
fn the_counts_and_the_flow_of_a_batch_are_told() {
    let mut inspector = inspector();
    let (mut batch, _) = guards();
    batch.update(&mut 4.0);
    let page = page_of(&inspector);
    let told = page.wait("picture", || inspector.show("guards", &batch, &5.0), |_| true);
    assert_eq!(
        picture(told),
        json!({
            "crowd": "guards", "seconds": 5.0, "owners": 3, "awake": 2,
            "states": [{ "path": ["Duty", "Patrol"], "owners": 2 }, { "path": ["Rest"], "owners": 1 }],
            "exits": null,
            "flow": {
                "version": 1,
                "changes": [{ "from": "Patrol", "to": "Rest", "cause": "change", "count": 1 }],
                "refusals": [
                    { "from": "Patrol", "to": "Rest", "cause": "change", "guard": "can_enter", "state": "Rest", "count": 2 }
                ],
                "ended": [],
            },
            "longest": [
                { "owner": "2v1", "label": "Elsa", "state": "Patrol", "seconds": 5.0 },
                { "owner": "3v1", "label": "Joe", "state": "Patrol", "seconds": 5.0 },
                { "owner": "1v1", "label": "Bob", "state": "Rest", "seconds": 1.0 },
            ],
            "recent": {
                "one_in": 1,
                "refused": [
                    { "owner": "3v1", "label": "Joe", "count": 1, "to": "Rest", "guard": "Rest.can_enter" },
                    { "owner": "2v1", "label": "Elsa", "count": 1, "to": "Rest", "guard": "Rest.can_enter" },
                ],
                "flickering": [],
                "violated": [],
            },
        })
    );
}

#[test]
fn who_changes_back_and_forth_stands_out() {
    let mut inspector = inspector();
    let (mut batch, [bob, elsa, _]) = guards();
    for tick in 0..6 {
        let mut seconds = f64::from(tick);
        batch.force_state(bob, &Stunned, &mut seconds);
        batch.force_state(bob, &Patrol, &mut seconds);
    }
    batch.force_state(elsa, &Stunned, &mut 6.0);
    batch.force_state(elsa, &Patrol, &mut 6.0);
    let page = page_of(&inspector);
    let told = page.wait("picture", || inspector.show("guards", &batch, &6.0), |_| true);
    assert_eq!(
        told["recent"]["flickering"],
        json!([{ "owner": "1v1", "label": "Bob", "count": 11, "between": ["Patrol", "Stunned"] }])
    );
}

#[test]
fn an_owner_that_is_watched_is_followed_and_the_others_are_not() {
    let mut inspector = inspector();
    let (mut batch, [bob, ..]) = guards();
    batch.push_state(bob, &Stunned, &mut 2.0);
    let page = Page::open(inspector.address(), "?crowd=guards&owner=1v1");
    let mut told = page.wait("owner", || inspector.show("guards", &batch, &3.0), |_| true);
    told.as_object_mut().unwrap().remove("at");
    assert_eq!(
        told,
        json!({
            "crowd": "guards", "owner": "1v1", "seconds": 3.0, "is_asleep": false,
            "report": {
                "label": "Bob", "path": [{ "name": "Stunned", "seconds": 1.0 }], "previous": "Patrol", "global": null,
                "stack": [[{ "name": "Duty", "seconds": 2.0 }, { "name": "Patrol", "seconds": 2.0 }]],
                "timers": [], "sleeps_for": null,
            },
            "entries": [
                { "seconds": 2.0, "from": "Patrol", "to": "Stunned", "cause": "push", "refused": null, "ended": null, "time_in_state": 2.0 }
            ],
            "exits": null,
            "are_guards": false,
        })
    );
    batch.change_state(bob, &Rest, &mut 4.0);
    let told = page.wait("owner", || inspector.show("guards", &batch, &6.0), |told| told["is_asleep"] == true);
    assert_eq!(
        told["report"]["timers"],
        json!([{ "asks_for": "change to Patrol", "ends_with": "Rest", "due_in": 98.0 }])
    );
    batch.remove(bob);
    let told = page.wait("owner", || inspector.show("guards", &batch, &6.0), |told| told["report"].is_null());
    assert_eq!(told["entries"], json!(null));
}

struct Gate;
struct Post;

impl State<Guard> for Gate {
    fn enter(&self, _: &mut Guard, fsm: &mut Fsm<'_, Guard>, _: &mut f64) {
        fsm.stay();
    }
}

impl State<Guard> for Post {
    fn parent(&self) -> Option<StateRef<Guard>> {
        Some((&Gate).into())
    }
}

#[test]
fn a_change_that_ended_early_is_told_of_its_owner_and_in_the_flow() {
    let mut inspector = inspector();
    let (mut batch, [bob, ..]) = guards();
    batch.change_state(bob, &Post, &mut 2.0);
    let page = Page::open(inspector.address(), "?crowd=guards&owner=1v1");
    let told = page.wait("owner", || inspector.show("guards", &batch, &3.0), |_| true);
    let entry = |ended| {
        json!({
            "seconds": 2.0, "from": "Patrol", "to": "Post", "cause": "change", "refused": null, "ended": ended,
            "time_in_state": 2.0,
        })
    };
    assert_eq!(told["entries"], json!([entry(json!(null)), entry(json!("stayed in Gate"))]));
    let told = page.wait("picture", || inspector.show("guards", &batch, &3.0), |_| true);
    assert_eq!(
        told["flow"]["ended"],
        json!([{ "from": "Patrol", "to": "Post", "cause": "change", "end": "stayed", "state": "Gate", "count": 1 }])
    );
}

#[test]
fn of_states_in_code_it_is_told_what_their_guards_say() {
    let mut inspector = inspector();
    let (mut batch, [bob, ..]) = guards();
    batch.change_state(bob, &Rest, &mut 2.0);
    let page = Page::open(inspector.address(), "?crowd=guards&owner=2v1");
    let tick = || {
        inspector.explain_guards("guards", &mut batch, &mut 3.0);
        inspector.show("guards", &batch, &3.0);
    };
    let mut told = page.wait("owner", tick, |told| told["exits"].as_array().is_some_and(|all| all.len() == 3));
    assert_eq!(told["are_guards"], true);
    let mut said: Vec<_> = told["exits"]
        .take()
        .as_array()
        .unwrap()
        .iter()
        .map(|exit| {
            let questions = exit["questions"].as_array().unwrap().iter().map(|question| question[0].as_str().unwrap());
            format!(
                "{} -> {}: {}: {}",
                exit["of"],
                exit["to"],
                exit["verdict"],
                questions.collect::<Vec<_>>().join(", ")
            )
        })
        .collect();
    said.sort_unstable();
    let leaves = "Patrol.can_exit says yes, Duty.can_exit says yes";
    assert_eq!(
        said,
        [
            format!("\"Patrol\" -> \"Duty\": \"no guard refuses it\": {leaves}, Duty.can_enter says yes"),
            "\"Patrol\" -> \"Patrol\": \"no guard refuses it\": Patrol.can_exit says yes, Patrol.can_enter says yes"
                .into(),
            format!("\"Patrol\" -> \"Rest\": \"refused\": {leaves}, Rest.can_enter says no"),
        ]
    );
}

#[cfg(feature = "definition")]
#[test]
fn each_definition_of_a_crowd_and_the_guards_explain_their_own_owners() {
    use demeanor::definition::{Definition, Vocabulary};

    let definitions = ["walk", "sit"].map(|state| {
        let file = format!("initial = '{state}'\nstates.{state}.exits = [{{ to = '{state}', after = 9 }}]\n");
        Definition::parse(&file, &Vocabulary::<Guard>::new()).unwrap()
    });
    let mut inspector = inspector();
    let (mut batch, [bob, ..]) = guards();
    batch.change_state(bob, &Rest, &mut 2.0);
    for definition in &definitions {
        batch.insert(Guard { name: "Ann", is_tired: false }, definition.initial());
    }
    for (owner, of) in [("4v1", "walk"), ("5v1", "sit"), ("2v1", "Patrol")] {
        let page = Page::open(inspector.address(), &format!("?crowd=guards&owner={owner}"));
        let tick = || {
            for definition in &definitions {
                inspector.explain("guards", definition, &mut batch, &mut 3.0);
            }
            inspector.explain_guards("guards", &mut batch, &mut 3.0);
            inspector.show("guards", &batch, &3.0);
        };
        page.wait("owner", tick, |told| told["owner"] == owner && told["exits"][0]["of"] == of);
    }
}

#[test]
fn a_search_finds_owners_by_key_and_by_label() {
    let mut inspector = inspector();
    let mut batch = Batch::new();
    for number in 0..3000 {
        let name = if number == 2999 { "The Boss" } else { "guard" };
        batch.spawn(Guard { name, is_tired: false }, &Rest, &mut 0.0);
    }
    let page = Page::open(inspector.address(), "?crowd=guards&search=boss");
    let is_through = |told: &Value| told["seen"] == told["of"];
    let told = page.wait("found", || inspector.show("guards", &batch, &0.0), is_through);
    let owners = json!([["3000v1", "The Boss"]]);
    let whole = json!({ "crowd": "guards", "text": "boss", "owners": owners, "matches": 1, "seen": 3000, "of": 3000 });
    assert_eq!(told, whole);
    let page = Page::open(inspector.address(), "?crowd=guards&search=17v1");
    let told = page.wait("found", || inspector.show("guards", &batch, &0.0), |_| true);
    assert_eq!(told["owners"][0], json!(["17v1", "guard"]));
}

#[test]
fn who_is_called_exactly_what_is_searched_for_comes_first() {
    let mut inspector = inspector();
    let mut batch = Batch::new();
    for number in 0..3000 {
        let name = if number == 2999 { "Guard" } else { "guard of the gate" };
        batch.spawn(Guard { name, is_tired: false }, &Rest, &mut 0.0);
    }
    let page = Page::open(inspector.address(), "?crowd=guards&search=guard");
    let is_through = |told: &Value| told["seen"] == told["of"];
    let told = page.wait("found", || inspector.show("guards", &batch, &0.0), is_through);
    assert_eq!(told["owners"][0], json!(["3000v1", "Guard"]));
    assert_eq!(told["owners"].as_array().map(Vec::len), Some(30));
    assert_eq!(told["matches"], 3000, "also those that are not listed are counted");
}

#[test]
fn a_search_finds_the_owners_in_a_state_and_in_those_within_it() {
    let mut inspector = inspector();
    let mut batch = Batch::new();
    for number in 0..4 {
        let state: StateRef<Guard> = if number < 3 { (&Rest).into() } else { (&Patrol).into() };
        batch.spawn(Guard { name: "Rest", is_tired: false }, state, &mut 0.0);
    }
    for (state, owners) in [("Rest", 3), ("Patrol", 1), ("Duty", 1), ("Nothing", 0)] {
        let page = Page::open(inspector.address(), &format!("?crowd=guards&state={state}"));
        let told = page.wait("found", || inspector.show("guards", &batch, &0.0), |told| told["seen"] == 4);
        assert_eq!(told["matches"], owners, "{state}: {told}");
    }
}

/// A crowd that counts how often it is read.
struct Counted<'c>(&'c Batch<Guard>, &'c Cell<u32>);

impl Crowd for Counted<'_> {
    type Key = demeanor::Key;
    type Context<'a> = f64;

    fn now(&self, cx: &f64) -> f64 {
        *cx
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn census(&self, cx: &f64) -> Vec<Count> {
        self.1.set(self.1.get() + 1);
        Crowd::census(self.0, cx)
    }

    fn stays(&self, places: Range<usize>, cx: &f64, visit: &mut dyn FnMut(demeanor::Key, f64)) {
        self.1.set(self.1.get() + 1);
        Crowd::stays(self.0, places, cx, visit);
    }

    fn label(&self, key: demeanor::Key) -> Option<String> {
        Crowd::label(self.0, key)
    }

    fn report(&self, key: demeanor::Key, cx: &f64) -> Option<MachineReport> {
        Crowd::report(self.0, key, cx)
    }

    fn find(&self, text: &str) -> Option<demeanor::Key> {
        self.0.find(text)
    }
}

#[test]
fn without_a_page_a_crowd_is_counted_once_a_second_and_the_counts_are_kept_for_the_next_page() {
    let mut inspector = inspector();
    let address = inspector.address();
    let (mut batch, [bob, ..]) = guards();
    let looks = Cell::new(0);
    let history = |crowd: &str| {
        let answer =
            answer_to(address, format!("GET /history?crowd={crowd} HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes());
        answer.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str::<Value>(body).ok())
    };
    assert_eq!(history("guards"), None);
    let moments =
        |history: &Option<Value>| history.as_ref().map_or(0, |told| told["moments"].as_array().unwrap().len());
    let mut told = None;
    for wanted in 1..=2 {
        let mut seconds = f64::from(wanted);
        wait_until(|| {
            inspector.show("guards", &Counted(&batch, &looks), &seconds);
            inspector.show("others", &batch, &seconds);
            told = history("guards");
            moments(&told) >= wanted as usize
        });
        assert!(looks.get() <= wanted + 1, "{} looks for {wanted} moments", looks.get());
        batch.force_state(bob, &Rest, &mut seconds);
    }
    let told = told.unwrap();
    assert_eq!(told["paths"], json!([["Duty", "Patrol"], ["Rest"]]));
    let of = |nth: usize| ["seconds", "owners", "counts"].map(|name| told["moments"][nth][name].clone());
    assert_eq!(of(0), [json!(1.0), json!(3), json!([0, 3])]);
    assert_eq!(of(1), [json!(2.0), json!(3), json!([0, 2, 1, 1])]);
    assert!(moments(&history("others")) > 0, "every crowd of a tick is counted");
}

#[test]
fn agents_and_machines_are_shown_with_a_journal_of_the_games() {
    let mut inspector = inspector();
    let mut game = Game { seconds: 1.0, journal: Journal::new(10) };
    let mut doors: Vec<_> = (0..2).map(|number| Agent::new(Door { number }, StateMachine::new(&Closed))).collect();
    doors[1].change_state(&Open, &mut game);
    let page = Page::open(inspector.address(), "?crowd=doors&owner=1");
    let told = page.wait("picture", || inspector.show("doors", &doors.with_journal(&game.journal), &game), |_| true);
    assert_eq!(told["states"], json!([{ "path": ["Closed"], "owners": 1 }, { "path": ["Open"], "owners": 1 }]));
    assert_eq!(told["flow"]["changes"], json!([{ "from": "Closed", "to": "Open", "cause": "change", "count": 1 }]));
    let told = page.wait("owner", || inspector.show("doors", &doors.with_journal(&game.journal), &game), |_| true);
    assert_eq!(told["entries"][0]["to"], "Open");

    let guard = |name| Guard { name, is_tired: true };
    let (bob, machine) = (guard("Bob"), StateMachine::new(&Stunned));
    let crowd = || Machines::new([("first", &bob, &machine)]);
    let told =
        page.wait("picture", || inspector.show_with("machines", crowd, &3.0), |told| told["crowd"] == "machines");
    assert_eq!(told["states"], json!([{ "path": ["Stunned"], "owners": 1 }]));
    assert_eq!(told["longest"][0]["owner"], "\"first\"");
}

/// A key that counts how often keys are compared.
#[derive(Clone, Copy, Debug)]
struct CountedKey(usize);

static COMPARISONS: AtomicUsize = AtomicUsize::new(0);

impl PartialEq for CountedKey {
    fn eq(&self, other: &Self) -> bool {
        COMPARISONS.fetch_add(1, Ordering::Relaxed);
        self.0 == other.0
    }
}

impl Eq for CountedKey {}

impl Hash for CountedKey {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.hash(hasher);
    }
}

#[test]
fn a_search_does_not_go_through_all_machines_for_each_of_them() {
    let mut inspector = inspector();
    let (guard, machine) = (Guard { name: "Bob", is_tired: false }, StateMachine::new(&Rest));
    let crowd = || Machines::new((0..1024).map(|key| (CountedKey(key), &guard, &machine)));
    let page = Page::open(inspector.address(), "?crowd=guards&state=Rest");
    let is_through = |told: &Value| told["seen"] == told["of"];
    let told = page.wait("found", || inspector.show_with("guards", crowd, &0.0), is_through);
    assert_eq!(told["matches"], 1024);
    // Looking for each owner among all of them would take a million.
    let comparisons = COMPARISONS.load(Ordering::Relaxed);
    assert!(comparisons < 100_000, "{comparisons}");
}

struct Game {
    seconds: f64,
    journal: Journal<usize>,
}

struct Door {
    number: usize,
}

impl Owner for Door {
    type Context<'a> = Game;
    type Message = ();

    fn now(game: &Game) -> f64 {
        game.seconds
    }

    fn on_change(&mut self, change: &Change<'_, Self>, game: &mut Game) {
        game.journal.note(self.number, change, game.seconds);
    }
}

struct Closed;
struct Open;
impl State<Door> for Closed {}
impl State<Door> for Open {}

struct Miner;

impl Owner for Miner {
    type Context<'a> = Cast<&'static str, (), ()>;
    type Message = Telegram<&'static str, ()>;
}

struct Wife;

impl Owner for Wife {
    type Context<'a> = Cast<&'static str, (), ()>;
    type Message = Telegram<&'static str, ()>;
}

struct Dig;
struct Cook;
impl State<Miner> for Dig {}
impl State<Wife> for Cook {}

#[test]
fn the_members_of_a_cast_are_shown_whatever_their_types() {
    let mut inspector = inspector();
    let mut cast = Cast::new(());
    cast.spawn("Bob", Agent::new(Miner, StateMachine::new(&Dig))).ok().unwrap();
    cast.spawn("Elsa", Agent::new(Wife, StateMachine::new(&Cook))).ok().unwrap();
    let page = Page::open(inspector.address(), "?crowd=town&owner=%22Elsa%22");
    let told = page.wait("picture", || inspector.show("town", &cast, &cast), |_| true);
    assert_eq!(told["states"], json!([{ "path": ["Dig"], "owners": 1 }, { "path": ["Cook"], "owners": 1 }]));
    let told = page.wait("owner", || inspector.show("town", &cast, &cast), |_| true);
    assert_eq!(told["report"]["path"], json!([{ "name": "Cook", "seconds": 0.0 }]));
}

/// Defines a state with regions, or in a region.
macro_rules! part {
    ($name:ident $(in $parent:ident, $region:literal)? $(has $($inside:ident)+)?) => {
        struct $name;
        impl<T: Owner> State<T> for $name {
            $(fn parent(&self) -> Option<StateRef<T>> {
                Some((&$parent).into())
            }
            fn region(&self) -> usize {
                $region
            })?
            $(fn regions(&self) -> Vec<StateRef<T>> {
                vec![$((&$inside).into()),+]
            })?
        }
    };
}

part!(Shift has Sing Haul);
part!(Sing in Shift, 0);
part!(Haul in Shift, 1 has Pull Look);
part!(Pull in Haul, 0);
part!(Look in Haul, 1);

#[test]
fn an_owner_with_regions_is_counted_in_each_region() {
    let count = |path: &str| Count { path: path.split(' ').map(String::from).collect(), owners: 1 };
    let counts = ["Shift", "Shift Sing", "Shift Haul", "Shift Haul Pull", "Shift Haul Look"].map(count);
    let guard = || Guard { name: "Bob", is_tired: false };
    let mut agent = Agent::new(guard(), StateMachine::new(&Shift));
    agent.start(&mut 0.0);
    assert_eq!(Crowd::census(&vec![agent], &0.0), counts);
    let mut batch = Batch::new();
    batch.spawn(guard(), &Shift, &mut 0.0);
    assert_eq!(Crowd::census(&batch, &0.0), counts);
    let mut cast = Cast::new(());
    cast.spawn("Bob", Agent::new(Miner, StateMachine::new(&Shift))).ok().unwrap();
    assert_eq!(Crowd::census(&cast, &cast), counts);
}

#[test]
fn the_owners_in_a_state_are_listed_up_to_a_thousand_and_all_are_counted() {
    let mut inspector = inspector();
    let mut batch: Batch<Guard> = (0..1200).map(|_| (Guard { name: "Bob", is_tired: false }, &Rest)).collect();
    batch.insert(Guard { name: "Elsa", is_tired: false }, &Patrol);
    let page = Page::open(inspector.address(), "?crowd=guards&state=Rest");
    let told = page.wait("found", || inspector.show("guards", &batch, &0.0), |told| told["seen"] == 1201);
    assert_eq!(told["matches"], 1200);
    assert_eq!(told["owners"].as_array().unwrap().len(), 1000);
}

#[test]
fn the_messages_of_a_crowd_are_told_with_who_handled_them() {
    let mut inspector = inspector();
    let (batch, [bob, elsa, _]) = guards();
    let mut log = MessageLog::new(250);
    for _ in 0..299 {
        log.note(None, bob, "hey", None::<&str>, 0.5);
    }
    log.note(Some(bob), elsa, "help", Some("Duty"), 2.0);
    let page = page_of(&inspector);
    let told = page.wait("picture", || inspector.show("guards", &batch.with_messages(&log), &2.0), |_| true);
    let messages = &told["messages"];
    assert_eq!(messages["written"], 300);
    let list = messages["last"].as_array().unwrap();
    assert_eq!(list.len(), 200);
    let bob = json!({ "owner": "1v1", "label": "Bob" });
    assert_eq!(list[0], json!({ "seconds": 0.5, "from": null, "to": bob, "text": "hey", "handled_by": null }));
    let elsa = json!({ "owner": "2v1", "label": "Elsa" });
    assert_eq!(list[199], json!({ "seconds": 2.0, "from": bob, "to": elsa, "text": "help", "handled_by": "Duty" }));
}

#[test]
fn what_the_game_shows_of_an_owner_is_told_while_it_is_watched() {
    let mut inspector = inspector();
    let (batch, _) = guards();
    let looks = Cell::new(0);
    let shows = |key| {
        looks.set(looks.get() + 1);
        batch.get(key).map(|guard| json!({ "name": guard.name, "is_tired": guard.is_tired }))
    };
    let page = page_of(&inspector);
    page.wait("picture", || inspector.show("guards", &batch.with_data(shows), &1.0), |_| true);
    assert_eq!(looks.get(), 0, "no owner is watched");
    let page = Page::open(inspector.address(), "?crowd=guards&owner=1v1");
    // The other wrappers of a crowd keep the data.
    let log = MessageLog::new(1);
    let told =
        page.wait("owner", || inspector.show("guards", &batch.with_data(shows).with_messages(&log), &1.0), |_| true);
    assert_eq!(told["data"], json!({ "name": "Bob", "is_tired": true }));
    let text = "x".repeat(100_000);
    let told = page.wait(
        "owner",
        || inspector.show("guards", &batch.with_data(|_| Some(&text)), &2.0),
        |told| told["seconds"] == 2.0,
    );
    assert_eq!(told["data"], "too long: 100002 bytes");
}
