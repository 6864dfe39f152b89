//! Runs the program on real members of two types, in a [`Cast`] and in a struct of the game.

use std::marker::PhantomData;
use std::mem;
use std::rc::Rc;
use std::time::Duration;

use demeanor::{
    Agent, Cast, CastBook, CastContext, Change, Dispatcher, Fsm, Members, Owner, SavedCast, State, StateBook,
    StateMachine, StateRef, Telegram,
};
use serde::{Deserialize, Serialize};

use super::program::{Act, Callback, Deed, GAME, Id, Key, Program, Step};
use super::rules::program::LIMIT;
use crate::told_panic::{caught, panic_as_told};

/// The events so far, and the program.
#[derive(Default)]
pub(crate) struct Record {
    program: Option<Rc<Program>>,
    lines: Vec<String>,
    count: u32,
    fuel: u32,
}

impl Record {
    fn note(&mut self, line: String) {
        self.lines.push(line);
    }

    fn spend(&mut self) -> bool {
        let has_any = self.fuel > 0;
        self.fuel = self.fuel.saturating_sub(1);
        has_any
    }
}

/// A context that contains a record.
trait Scene: CastContext<Key = Key, Message = u8> {
    fn record(&mut self) -> &mut Record;
    fn members(&self) -> &Members<Key, u8, Self>;
    fn new(record: Record, dispatcher: Dispatcher<Key, u8>) -> Self;
    /// Saves the context to bytes and loads it again.
    fn save_and_load(&mut self, book: &CastBook<Self>);
}

type Town = Cast<Key, u8, Record>;

impl Scene for Town {
    fn record(&mut self) -> &mut Record {
        &mut self.world
    }

    fn members(&self) -> &Members<Key, u8, Self> {
        self
    }

    fn new(record: Record, dispatcher: Dispatcher<Key, u8>) -> Self {
        Self::new(record).with_dispatcher(dispatcher)
    }

    fn save_and_load(&mut self, book: &CastBook<Self>) {
        let bytes = postcard::to_allocvec(&self.save(book).expect("the book knows all")).expect("it can be written");
        let saved: SavedCast<Key, u8> = postcard::from_bytes(&bytes).expect("it has just been written");
        *self = Self::load(saved, book, mem::take(&mut self.world)).expect("it has just been saved");
        let again =
            postcard::to_allocvec(&self.save(book).expect("it has just been loaded")).expect("it can be written");
        assert_eq!(again, bytes, "what is loaded is saved as the same bytes");
    }
}

struct Game {
    members: Members<Key, u8, Self>,
    record: Record,
}

impl CastContext for Game {
    type Key = Key;
    type Message = u8;

    fn members_mut(&mut self) -> &mut Members<Key, u8, Self> {
        &mut self.members
    }
}

impl Scene for Game {
    fn record(&mut self) -> &mut Record {
        &mut self.record
    }

    fn members(&self) -> &Members<Key, u8, Self> {
        &self.members
    }

    fn new(record: Record, dispatcher: Dispatcher<Key, u8>) -> Self {
        Self { members: Members::new().with_dispatcher(dispatcher), record }
    }

    fn save_and_load(&mut self, book: &CastBook<Self>) {
        let text = ron::to_string(&self.members.save(book).expect("the book knows all")).expect("it can be written");
        let saved: SavedCast<Key, u8> = ron::from_str(&text).expect("it has just been written");
        self.members = Members::load(saved, book).expect("it has just been saved");
        let again = ron::to_string(&self.members.save(book).expect("it has just been loaded"));
        assert_eq!(again.expect("it can be written"), text, "what is loaded is saved as the same text");
    }
}

/// An owner of one of two types.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
struct Actor<C, const KIND: bool> {
    key: Key,
    #[serde(skip)]
    context: PhantomData<fn(C)>,
}

impl<C, const KIND: bool> Default for Actor<C, KIND> {
    fn default() -> Self {
        Self { key: Key::MAX, context: PhantomData }
    }
}

impl<C: Scene, const KIND: bool> Owner for Actor<C, KIND> {
    type Context<'a> = C;
    type Message = Telegram<Key, u8>;

    fn now(scene: &C) -> f64 {
        scene.members().now()
    }

    fn after_change(&mut self, change: &Change<'_, Self>, scene: &mut C) {
        let to = change.to.expect("nobody stops").name();
        scene.record().note(format!("{} is in {to}", self.key));
    }

    fn after_update(&mut self, fsm: &Fsm<'_, Self>, scene: &mut C) {
        let state = fsm.current().expect("nobody stops").name();
        scene.record().note(format!("{} was updated in {state}", self.key));
    }
}

/// A state: one of three shared states, or a member's own state.
#[derive(Clone, Serialize, Deserialize)]
struct Node(Id);

static NODES: [Node; 3] = [Node(0), Node(1), Node(2)];

fn state<C: Scene, const KIND: bool>(id: Id) -> StateRef<Actor<C, KIND>> {
    NODES.get(usize::from(id)).map_or_else(|| Box::new(Node(id)).into(), Into::into)
}

impl<C: Scene, const KIND: bool> Actor<C, KIND> {
    fn call(&mut self, id: Id, callback: Callback, fsm: &mut Fsm<'_, Self>, scene: &mut C) -> bool {
        let previous = fsm.previous().map(|state| state.name().parse::<Id>().expect("its name is its number"));
        let time = quarters(fsm.time_in_state(scene));
        let Self { key, .. } = *self;
        let record = scene.record();
        record.note(format!("{key} {id} {callback:?} after {previous:?} for {time}"));
        let count = record.count;
        record.count += 1;
        let program = Rc::clone(record.program.as_ref().expect("it runs"));
        for act in program.acts(key, id, callback, count) {
            if scene.record().spend() {
                self.do_act(act, fsm, scene);
            }
        }
        assert_eq!(self.key, key, "the owner is who it was");
        matches!(callback, Callback::Message(word) if program.handles(key, id, word))
    }

    fn do_act(&mut self, act: Act, fsm: &mut Fsm<'_, Self>, scene: &mut C) {
        let key = self.key;
        match act {
            Act::Do(deed) => perform(key, deed, scene),
            Act::Rejoin(deeds) => {
                let result = scene.rejoin(&key, self, fsm, |scene| {
                    for deed in deeds {
                        if scene.record().spend() {
                            perform(key, deed, scene);
                        }
                    }
                });
                let result = result.map_or_else(|error| format!("{error:?}"), |()| "Ok".to_string());
                scene.record().note(format!("rejoined: {result}"));
            }
            Act::ChangeNow(to) => {
                let is_done = fsm.change_state_now(self, state(to), scene);
                scene.record().note(format!("now: {is_done}"));
            }
            Act::TellNow(word) => {
                let is_handled = fsm.send_now(self, &Telegram::new(key, key, word), scene);
                scene.record().note(format!("now: {is_handled}"));
            }
            Act::Change(to) => fsm.change_state(state(to)),
            Act::Push(to) => fsm.push_state(state(to)),
            Act::Pop => fsm.pop_state(),
            Act::Tell(word) => fsm.send(Telegram::new(key, key, word)),
            Act::ChangeAfter(after, to) => fsm.change_state_after(seconds(after), state(to)),
            Act::TellEvery(every, word) => fsm.send_every(seconds(every), Telegram::new(key, key, word)),
            Act::CancelTold(word) => {
                let canceled = fsm.cancel(|pending| pending.message().is_some_and(|told| told.message == word));
                scene.record().note(format!("canceled: {}", canceled > 0));
            }
            Act::TellAfter(after, word) => fsm.send_after(seconds(after), Telegram::new(key, key, word)),
            Act::SleepFor(time) => fsm.sleep_for(seconds(time)),
        }
    }
}

fn seconds(quarters: u8) -> f64 {
    f64::from(quarters) / 4.0
}

#[expect(clippy::cast_possible_truncation, reason = "they are few")]
fn quarters(seconds: f64) -> i64 {
    (seconds * 4.0) as i64
}

fn perform<C: Scene>(by: Key, deed: Deed, scene: &mut C) {
    let line = match deed {
        Deed::Send(receiver, word) => format!("sent: {:?}", scene.send(by, receiver, word)),
        Deed::PassOn(word) => format!("sent: {:?}", scene.send(by, by.wrapping_add(1), word)),
        Deed::Post(receiver, word) => return scene.post(by, receiver, word),
        Deed::SendAfter(delay, receiver, word) => {
            format!("sent: {:?}", scene.send_after(f64::from(delay) / 4.0, by, receiver, word))
        }
        Deed::UpdateOne(key) => format!("updated: {}", scene.update_one(&key)),
        Deed::Update => return scene.update(),
        Deed::DeliverDue => format!("{} to nobody", scene.deliver_due().len()),
        Deed::Dismiss(key) => format!("dismissed: {}", scene.members_mut().dismiss(&key)),
        Deed::Remove(key) => {
            let members = scene.members_mut();
            let is_done = if is_odd(key) {
                members.remove::<Actor<C, true>>(&key).is_ok()
            } else {
                members.remove::<Actor<C, false>>(&key).is_ok()
            };
            format!("removed: {is_done}")
        }
        Deed::Replace(key, state) => {
            perform(by, Deed::Dismiss(key), scene);
            return perform(by, Deed::Spawn(key, state), scene);
        }
        Deed::Spawn(key, state) => {
            let is_done = if is_odd(key) {
                scene.spawn(key, agent::<C, true>(key, state)).is_ok()
            } else {
                scene.spawn(key, agent::<C, false>(key, state)).is_ok()
            };
            format!("spawned: {is_done}")
        }
        Deed::TakeBack(key) => {
            return scene.members_mut().dispatcher_mut().retain(|_, telegram| telegram.receiver != key);
        }
        Deed::Look => return look(scene),
        Deed::Panic => panic_as_told(),
    };
    scene.record().note(line);
}

fn is_odd(key: Key) -> bool {
    key % 2 == 1
}

fn agent<C: Scene, const KIND: bool>(key: Key, id: Id) -> Agent<Actor<C, KIND>> {
    Agent::new(Actor { key, context: PhantomData }, StateMachine::new(state(id)).with_limit(LIMIT))
}

fn look<C: Scene>(scene: &mut C) {
    let members = scene.members();
    assert_eq!(members.keys().len(), members.len());
    let seen = members.keys().map(|key| {
        let acting = if members.is_acting(key) { " acts" } else { "" };
        format!("{key} in {}{acting}", members.state_of(key).expect("it is in one"))
    });
    let queued = members.dispatcher().iter().map(|(due, telegram)| {
        format!("{}: {} {}>{}", quarters(due), telegram.message, telegram.sender, telegram.receiver)
    });
    let line = format!("{:?} {:?}", seen.collect::<Vec<_>>(), queued.collect::<Vec<_>>());
    scene.record().note(line);
}

impl<C: Scene, const KIND: bool> State<Actor<C, KIND>> for Node {
    fn enter(&self, actor: &mut Actor<C, KIND>, fsm: &mut Fsm<'_, Actor<C, KIND>>, scene: &mut C) {
        actor.call(self.0, Callback::Enter, fsm, scene);
    }

    fn update(&self, actor: &mut Actor<C, KIND>, fsm: &mut Fsm<'_, Actor<C, KIND>>, scene: &mut C) {
        actor.call(self.0, Callback::Update, fsm, scene);
    }

    fn exit(&self, actor: &mut Actor<C, KIND>, fsm: &mut Fsm<'_, Actor<C, KIND>>, scene: &mut C) {
        actor.call(self.0, Callback::Exit, fsm, scene);
    }

    fn on_message(
        &self,
        actor: &mut Actor<C, KIND>,
        telegram: &Telegram<Key, u8>,
        fsm: &mut Fsm<'_, Actor<C, KIND>>,
        scene: &mut C,
    ) -> bool {
        assert_eq!(telegram.receiver, actor.key, "it arrives where it is sent to");
        actor.call(self.0, Callback::Message(telegram.message), fsm, scene)
    }

    fn name(&self) -> std::borrow::Cow<'_, str> {
        self.0.to_string().into()
    }
}

fn book<C: Scene>() -> CastBook<C> {
    fn states<C: Scene, const KIND: bool>() -> StateBook<Actor<C, KIND>> {
        (0..3).fold(StateBook::new(), |book, id| book.with(state(id))).with_owned::<Node>().with_messages()
    }
    CastBook::new().with("even", states::<C, false>()).with("odd", states::<C, true>()).with_merging()
}

pub(crate) fn run_cast(program: &Program) -> Vec<String> {
    run::<Town>(program)
}

pub(crate) fn run_game(program: &Program) -> Vec<String> {
    run::<Game>(program)
}

fn run<C: Scene>(program: &Program) -> Vec<String> {
    let record = Record { program: Some(Rc::new(program.clone())), ..Record::default() };
    let merging = program.merges_within.map(|window| Dispatcher::merging_within(seconds(window)));
    let mut scene = C::new(record, merging.unwrap_or_default());
    let book = book::<C>();
    for key in 0..program.members {
        if is_odd(key) {
            assert!(scene.members_mut().add(key, agent::<C, true>(key, key % 3)).is_ok());
        } else {
            assert!(scene.members_mut().add(key, agent::<C, false>(key, key % 3)).is_ok());
        }
    }
    for step in &program.steps {
        scene.record().fuel = program.fuel;
        scene.record().note(format!("{step:?}"));
        if caught(|| take(step, &mut scene, &book)).is_err() {
            scene.record().note("panicked".into());
        }
        look(&mut scene);
    }
    mem::take(&mut scene.record().lines)
}

fn take<C: Scene>(step: &Step, scene: &mut C, book: &CastBook<C>) {
    fn with<C: Scene, const KIND: bool>(key: Key, to: Id, deed: Deed, scene: &mut C) -> bool {
        let lent = scene.with::<Actor<C, KIND>, _>(&key, |actor, scene| {
            actor.change_state(state(to), scene);
            perform(key, deed, scene);
        });
        lent.is_ok()
    }
    match *step {
        Step::Deed(deed) => perform(GAME, deed, scene),
        Step::Advance(quarters) => scene.members_mut().advance(Duration::from_millis(250 * u64::from(quarters))),
        Step::With(key, to, deed) => {
            let is_there = if is_odd(key) {
                with::<C, true>(key, to, deed, scene)
            } else {
                with::<C, false>(key, to, deed, scene)
            };
            if !is_there {
                scene.record().note("unavailable".into());
            }
        }
        Step::SaveAndLoad => {
            scene.save_and_load(book);
            set_limits::<C, false>(scene);
            set_limits::<C, true>(scene);
        }
    }
}

/// Sets the limit of the members of one type. It is not saved.
fn set_limits<C: Scene, const KIND: bool>(scene: &mut C) {
    for (_, agent) in scene.members_mut().iter_mut::<Actor<C, KIND>>() {
        agent.machine_mut().set_limit(LIMIT);
    }
}
