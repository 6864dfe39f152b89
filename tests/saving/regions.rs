//! Machines, agents and casts with regions (rules 27 and 32).

use std::borrow::Cow;
use std::time::Duration;

use demeanor::save::{MachineContent, Missing, SavedState, SavedThen};
use demeanor::{
    Agent, Cast, CastBook, Fsm, IntoState, Owner, SavedMachine, State, StateBook, StateMachine, StateRef, Telegram,
};
use serde::{Deserialize, Serialize};

use crate::barracks::{self, Combat, Guard, Idle, Told, clock};

/// A state, which may lie in a region of another one. Its name says what it requests.
pub(crate) struct Part {
    name: &'static str,
    parent: Option<&'static Part>,
    region: usize,
    regions: &'static [&'static Part],
}

impl Part {
    const fn new(name: &'static str) -> Self {
        Self { name, parent: None, region: 0, regions: &[] }
    }

    const fn inside(self, parent: &'static Part, region: usize) -> Self {
        Self { parent: Some(parent), region, ..self }
    }

    const fn with_regions(self, regions: &'static [&'static Part]) -> Self {
        Self { regions, ..self }
    }
}

/// A duel in which legs walk while arms aim. Arms that fire have regions themselves: two hands.
static DUEL: Part = Part::new("Duel").with_regions(&[&WALK, &READY]);
static WALK: Part = Part::new("Walk").inside(&DUEL, 0);
static RUN: Part = Part::new("Run").inside(&DUEL, 0);
static READY: Part = Part::new("Ready").inside(&DUEL, 1);
static FIRE: Part = Part::new("Fire").inside(&DUEL, 1).with_regions(&[&DRAW, &HOLD]);
static DRAW: Part = Part::new("Draw").inside(&FIRE, 0);
static LOOSE: Part = Part::new("Loose").inside(&FIRE, 0);
static HOLD: Part = Part::new("Hold").inside(&FIRE, 1);

static ALL: [&Part; 8] = [&DUEL, &WALK, &RUN, &READY, &FIRE, &DRAW, &LOOSE, &HOLD];

/// An owner that records what happens.
trait Duelist: Owner<Message: Send + Sync> {
    fn bell() -> Self::Message;
    fn record(&mut self, what: &str, state: &dyn State<Self>, fsm: &Fsm<'_, Self>, cx: &mut Self::Context<'_>);
}

impl Duelist for Guard {
    fn bell() -> Told {
        Told::Bell
    }

    fn record(&mut self, what: &str, state: &dyn State<Self>, fsm: &Fsm<'_, Self>, now: &mut f64) {
        self.note(what, state, fsm, *now);
    }
}

impl<T: Duelist> State<T> for Part {
    fn enter(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        owner.record("enter", self, fsm, cx);
        match self.name {
            "Walk" => fsm.change_state_after(0.35, &RUN),
            "Run" => {
                fsm.send_every(0.5, T::bell());
                fsm.sleep_for(0.25);
            }
            "Draw" => fsm.change_state_after(0.3, &LOOSE),
            "Hold" => fsm.sleep(),
            _ => {}
        }
    }

    fn update(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        owner.record("update", self, fsm, cx);
        let is_over = |seconds: f64| fsm.time_in(self, cx).is_some_and(|time| time > seconds);
        match self.name {
            "Ready" if is_over(0.45) => fsm.push_state(&FIRE),
            "Fire" if is_over(0.95) => fsm.pop_state(),
            "Loose" if is_over(0.15) => fsm.change_state_next(&DRAW),
            _ => {}
        }
    }

    fn exit(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) {
        owner.record("exit", self, fsm, cx);
    }

    fn on_message(&self, owner: &mut T, _: &T::Message, fsm: &mut Fsm<'_, T>, cx: &mut T::Context<'_>) -> bool {
        owner.record("bell", self, fsm, cx);
        if self.name == "Run" {
            fsm.revert_state();
        }
        self.name == "Hold"
    }

    fn parent(&self) -> Option<StateRef<T>> {
        self.parent.map(StateRef::from)
    }

    fn regions(&self) -> Vec<StateRef<T>> {
        self.regions.iter().map(|state| StateRef::from(*state)).collect()
    }

    fn region(&self) -> usize {
        self.region
    }

    fn keeps_history(&self) -> bool {
        self.name == "Duel"
    }

    fn name(&self) -> Cow<'_, str> {
        self.name.into()
    }
}

/// The book of all guards.
pub(crate) fn book() -> StateBook<Guard> {
    ALL.into_iter().fold(barracks::book(), StateBook::with)
}

/// Machines with open, left and suspended regions, as they are at tick 49.
pub(crate) fn machines() -> Vec<(Guard, StateMachine<Guard>)> {
    let open = [31, 40, 44].map(|start| dueling(start, &DUEL));
    let [left, suspended] = [29, 42].map(|start| dueling(start, &LOOSE));
    let not_started = (Guard::new(0), StateMachine::new(&LOOSE));
    let all = open.into_iter().chain([left, suspended, not_started]);
    let each = all.enumerate().map(|(nth, (mut guard, mut machine))| {
        match nth {
            3 => _ = machine.change_state(&mut guard, &Idle, &mut 4.9),
            4 => _ = machine.push_state(&mut guard, &Combat, &mut 4.9),
            _ => {}
        }
        (Guard::new(guard.number), machine)
    });
    each.collect()
}

/// A guard who has dueled from tick `start` to tick 49.
fn dueling(start: u32, at: &'static Part) -> (Guard, StateMachine<Guard>) {
    let (mut guard, mut machine) = (Guard::new(start), StateMachine::new(at));
    machine.start(&mut guard, &mut (f64::from(start) / 10.0));
    clock(start..50).for_each(|now| machine.update(&mut guard, &mut { now }));
    (guard, machine)
}

/// By way of bytes.
fn reloaded(machine: &StateMachine<Guard>, now: f64) -> StateMachine<Guard> {
    let bytes = postcard::to_allocvec(&machine.save(&book(), now).unwrap()).unwrap();
    let loaded = book().load(postcard::from_bytes(&bytes).unwrap(), now).unwrap();
    assert_eq!(loaded.digest(), machine.digest(), "at {now}");
    assert_eq!(postcard::to_allocvec(&loaded.save(&book(), now).unwrap()).unwrap(), bytes, "at {now}");
    loaded
}

#[test]
fn a_machine_with_regions_goes_on_as_if_it_had_not_been_saved() {
    let (mut guard, mut machine) = (Guard::new(0), StateMachine::new(&DUEL));
    machine.start(&mut guard, &mut 0.0);
    let mut twin = (guard.clone(), machine.clone());
    let mut agent = Agent::new(guard.clone(), machine.clone());
    for (tick, now) in clock(0..60).enumerate() {
        machine = reloaded(&machine, now);
        let saved = agent.save(&book(), now).unwrap().map_owner(Guard::clone);
        agent = Agent::load(saved, &book(), now).unwrap();
        let rolled_back = twin.clone();
        for _ in 0..2 {
            twin = rolled_back.clone();
            act(tick, &mut twin.0, &mut twin.1, now);
        }
        act(tick, &mut guard, &mut machine, now);
        let (mut of_agent, mut agents) = agent.into_parts();
        act(tick, &mut of_agent, &mut agents, now);
        agent = Agent::new(of_agent, agents);
        assert_eq!(guard.log, twin.0.log, "in tick {tick}");
        assert_eq!(agent.log, twin.0.log, "in tick {tick}");
        assert_eq!(machine.next_wake(), twin.1.next_wake(), "in tick {tick}");
    }
    for done in ["Draw", "Loose", "Hold", "Idle", "Run"] {
        assert!(guard.log.iter().any(|line| line.starts_with(&format!("enter {done}"))), "{done} is reached");
    }
}

/// What the game does with a machine in a tick.
fn act(tick: usize, guard: &mut Guard, machine: &mut StateMachine<Guard>, now: f64) {
    let now = &mut { now };
    match tick {
        20 => _ = machine.push_state(guard, &Idle, now),
        25 => _ = machine.pop_state(guard, now),
        33 => _ = machine.change_state(guard, &Idle, now),
        36 => _ = machine.resume_state(guard, &DUEL, now),
        40 => machine.sleep(),
        42 => _ = machine.wake(),
        50 => _ = machine.send(guard, &Told::Bell, now),
        _ => {}
    }
    machine.update(guard, now);
}

#[derive(Serialize, Deserialize)]
struct Hero;

type Stage = Cast<u8, (), Vec<String>>;

impl Owner for Hero {
    type Context<'a> = Stage;
    type Message = Telegram<u8, ()>;

    fn now(stage: &Stage) -> f64 {
        stage.now()
    }
}

impl Duelist for Hero {
    fn bell() -> Telegram<u8, ()> {
        Telegram::new(1, 1, ())
    }

    fn record(&mut self, what: &str, state: &dyn State<Self>, fsm: &Fsm<'_, Self>, cast: &mut Stage) {
        let line = format!("{what} {} {:?} at {}", state.name(), fsm.time_in(state, cast), cast.now());
        cast.world.push(line);
    }
}

#[test]
fn a_cast_whose_member_has_regions_goes_on_as_if_it_had_not_been_saved() {
    let states = ALL.into_iter().fold(StateBook::<Hero>::new(), StateBook::with);
    let book = CastBook::<Stage>::new().with("hero", states.with_messages());
    let new = || {
        let mut stage = Stage::new(vec![]);
        stage.spawn(1, Agent::new(Hero, StateMachine::new(&DUEL))).unwrap();
        stage
    };
    let (mut stage, mut twin) = (new(), new());
    for _ in 0..40 {
        let bytes = postcard::to_allocvec(&stage.save(&book).unwrap()).unwrap();
        stage = Stage::load(postcard::from_bytes(&bytes).unwrap(), &book, stage.world).unwrap();
        for stage in [&mut stage, &mut twin] {
            stage.advance(Duration::from_millis(100));
            stage.update();
        }
        assert_eq!(stage.world, twin.world);
    }
    assert!(stage.world.iter().any(|line| line.starts_with("enter Loose")));
}

/// Returns what loading says if a state of the program has another name by now.
fn refused<S: IntoState<Guard>>(saved: SavedMachine, name: &str, state: S) -> String {
    let parts = ALL.into_iter().filter(|part| part.name != name);
    let book = parts.fold(StateBook::new(), StateBook::with).with_name(name.to_owned(), state).with_messages();
    book.load(saved, 0.0).map(|_| ()).unwrap_err().to_string()
}

fn saved(machine: &StateMachine<Guard>) -> SavedMachine {
    machine.save(&book(), 0.0).unwrap()
}

#[test]
fn a_state_that_lies_in_another_region_by_now_is_refused_with_a_line_that_names_both() {
    let machine = StateMachine::new(&WALK);
    let not_in =
        |state: &str, of: &str| format!("the state `{state}` was saved in region 0 of `{of}`, and does not lie in it");
    assert_eq!(refused(saved(&machine), "Walk", &READY), not_in("Ready", "Duel"));
    assert_eq!(refused(saved(&machine), "Walk", &Idle), not_in("Idle", "Duel"));
    // `Combat` has no regions.
    assert_eq!(refused(saved(&machine), "Duel", &Combat), not_in("Walk", "Combat"));
    let outside =
        |state: &str, of: &str| format!("the state `{state}` lies in a region of `{of}`, and was saved outside of it");
    assert_eq!(refused(saved(&StateMachine::new(&Idle)), "Idle", &RUN), outside("Run", "Duel"));
    assert_eq!(refused(saved(&machine), "Walk", &DRAW), not_in("Draw", "Duel"));

    // The same on the stack.
    let mut machine = StateMachine::new(&DUEL);
    machine.start(&mut Guard::new(0), &mut 0.0);
    machine.push_state(&mut Guard::new(0), &Idle, &mut 0.0);
    assert_eq!(refused(saved(&machine), "Walk", &READY), not_in("Ready", "Duel"));
}

/// What [`StateBook::on_missing`] replaces has no regions.
#[test]
fn the_regions_of_a_state_that_is_replaced_are_dropped() {
    let machine = StateMachine::new(&WALK);
    let book = StateBook::new().with(&Idle).on_missing(|_| Missing::Enter((&Idle).into()));
    let mut loaded = book.load(saved(&machine), 0.0).unwrap();
    assert_eq!(loaded.active_states().count(), 1);
    loaded.update(&mut Guard::new(0), &mut 0.0);
    assert!(loaded.is_in_state(&Idle));
}

#[test]
fn what_no_machine_with_regions_can_be_is_refused() {
    let whole = || saved(&StateMachine::new(&DRAW)).content;
    let load = |content: MachineContent| {
        let mut saved = saved(&StateMachine::new(&Idle));
        saved.content = content;
        book().load(saved, 0.0).map(|_| ()).unwrap_err().to_string()
    };
    let regions = |content: &mut MachineContent, to: u32| {
        for timer in &mut content.machine.more.timers {
            if let SavedThen::Regions(numbers) = &mut timer.then {
                numbers[0] = to;
            }
        }
    };
    let mut content = whole();
    regions(&mut content, 99);
    assert_eq!(load(content), "state 99: it is no region, or it has been read already");
    let mut content = whole();
    regions(&mut content, 1);
    assert_eq!(load(content), "state 1: it is no region, or it has been read already");
    // The same region twice, on a machine with two of them.
    let mut content = saved(&StateMachine::new(&LOOSE)).content;
    let Some(timer) = content.machine.more.timers.last_mut() else { panic!("the regions are there") };
    let SavedThen::Regions(numbers) = &mut timer.then else { panic!("the regions come last") };
    let last = numbers[1];
    numbers.push(last);
    assert_eq!(load(content), format!("state {last}: it is no region, or it has been read already"));
    // Two lists of regions, the second one without any.
    let mut content = whole();
    let mut again = content.machine.more.timers[0].clone();
    again.then = SavedThen::Regions(vec![]);
    content.machine.more.timers.push(again);
    assert_eq!(load(content), "timers: they have the regions twice");
    let mut content = whole();
    let region = content.states.iter().position(|state| matches!(state, SavedState::Region(_))).unwrap();
    content.machine.current = u32::try_from(region).unwrap() + 1;
    assert_eq!(load(content), format!("state {}: it is a region", region + 1));
    // A region inside of itself.
    let mut content = whole();
    let itself = content.machine.more.timers.clone();
    let duel = content.machine.current;
    for state in &mut content.states {
        if let SavedState::Region(seat) = state {
            seat.current = duel;
            seat.more.timers.clone_from(&itself);
        }
    }
    assert_eq!(load(content), "the state `Duel` was saved in region 0 of `Duel`, and does not lie in it");
}

/// What replaces a missing state in a region, and is to be entered, is entered by the next tick.
#[test]
fn a_state_of_a_region_may_be_replaced_by_one_of_the_same_region() {
    let (mut guard, mut machine) = (Guard::new(0), StateMachine::new(&DUEL));
    machine.start(&mut guard, &mut 0.0);
    let parts = ALL.into_iter().filter(|part| part.name != "Ready");
    let book = parts.fold(StateBook::new(), StateBook::with).with_messages();
    let book = book.on_missing(|_| Missing::Enter((&FIRE).into()));
    let mut loaded = book.load(saved(&machine), 0.0).unwrap();
    guard.log.clear();
    let mut recorded = loaded.recording(None);
    recorded.update(&mut guard, &mut 0.1);
    assert!(recorded.has_changed());
    let entered: Vec<_> = guard.log.iter().filter_map(|line| line.split(" [").next()?.strip_prefix("enter ")).collect();
    assert_eq!(entered, ["Fire", "Draw", "Hold"]);
    assert_eq!(loaded.regions(&FIRE).count(), 2);
}
