//! A script on a batch and, beside it, on one machine per owner: the twins. After each deed, both must agree.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use demeanor::{Batch, Journal, Key, StateMachine, StateRef};

use crate::program::{Verb, Wait};
use crate::puppet::{Corner, Forms, Mark, Node, Origin, Panicked, Puppet, Seen, Table, caught, ids, mark, seen};
use crate::script::{Act, Deed, Script};

/// How the batch is updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Update,
    #[cfg(feature = "parallel")]
    Parallel {
        threads: usize,
    },
    KeyOrder,
}

impl Way {
    pub(crate) const ALL: &'static [Self] = &[
        Self::Update,
        Self::KeyOrder,
        #[cfg(feature = "parallel")]
        Self::Parallel { threads: 1 },
        #[cfg(feature = "parallel")]
        Self::Parallel { threads: 2 },
        #[cfg(feature = "parallel")]
        Self::Parallel { threads: 4 },
    ];
}

/// What a run comes to.
pub(crate) struct Run {
    /// After each deed, where the batch keeps whom.
    pub(crate) layouts: Vec<u64>,
    /// After each deed, what the journal says of it.
    pub(crate) journals: Vec<u64>,
    pub(crate) has_panicked: bool,
    pub(crate) corners: BTreeSet<Corner>,
}

struct Stage<'s> {
    script: &'s Script,
    /// How states are saved.
    #[cfg(feature = "serde")]
    book: demeanor::StateBook<Puppet>,
    forms: &'static Forms,
    way: Way,
    batch: Batch<Puppet>,
    /// What the batch was before it was cloned the last time.
    former: Batch<Puppet>,
    /// Where each owner is, by its number.
    places: Vec<Place>,
    twins: Vec<Twin>,
    /// In seconds.
    now: f64,
    /// What the clock shows in place of the time.
    odd: Option<f64>,
    run: Run,
}

enum Place {
    In(Key),
    Alone(Twin),
}

#[derive(Clone)]
struct Twin {
    puppet: Puppet,
    machine: StateMachine<Puppet>,
}

/// Runs the script in one way. Panics where batch and twins part.
pub(crate) fn run(script: &Script, way: Way) -> Run {
    run_saving(script, way, usize::MAX)
}

/// Likewise, and saves and loads the batch after every so-manieth deed, if that can be.
pub(crate) fn run_saving(script: &Script, way: Way, every: usize) -> Run {
    let forms = Forms::of(&script.program, &script.passive, &script.orders);
    let mut stage = Stage {
        script,
        #[cfg(feature = "serde")]
        book: crate::saving::book(forms),
        forms,
        way,
        batch: Batch::new(),
        former: Batch::new(),
        places: Vec::new(),
        twins: Vec::new(),
        now: 0.0,
        odd: None,
        run: Run { layouts: Vec::new(), journals: Vec::new(), has_panicked: false, corners: BTreeSet::new() },
    };
    if let Some(global) = script.program.global {
        stage.batch.set_global(forms.reference(global));
    }
    for (nth, deed) in (1..).zip(&script.deeds) {
        stage.do_deed(deed);
        if nth % every == 0 {
            stage.save_and_load();
        } else if way == Way::Update && stage.places.len() < 64 {
            stage.check_saves();
        }
    }
    stage.shake();
    stage.run
}

impl Stage<'_> {
    fn do_deed(&mut self, deed: &Deed) {
        self.refuel();
        match deed {
            Deed::Tick => self.tick(None),
            Deed::Parts(parts) => self.tick(Some(*parts)),
            Deed::Advance(quarters) => {
                self.odd = None;
                self.now += f64::from(*quarters) / 4.0;
            }
            Deed::Odd(odd) => self.odd = Some(*odd),
            Deed::Insert(id, count) => {
                for _ in 0..*count {
                    let puppet = Puppet::new(self.places.len());
                    let key = self.batch.insert(puppet.clone(), self.forms.reference(*id));
                    let machine = self.with_global(StateMachine::new(self.forms.reference(*id)));
                    self.add(key, Twin { puppet, machine });
                }
            }
            Deed::Spawn(id) => {
                let puppet = self.puppet();
                let mut twin = Twin {
                    puppet: puppet.clone(),
                    machine: self.with_global(StateMachine::new(self.forms.reference(*id))),
                };
                let key = self.batch_verb(|stage, table| stage.batch.spawn(puppet, stage.forms.reference(*id), table));
                self.twin_verb(|_, table| twin.machine.start(&mut twin.puppet, table)).expect("no fuse");
                self.add(key.expect("no fuse"), twin);
            }
            Deed::InsertMachine(current, previous, under) => self.insert_machine([*current, *previous, *under]),
            Deed::Remove(number) => {
                if let Some(number) = number.checked_rem(self.places.len()) {
                    self.remove(number);
                }
            }
            Deed::RemoveEvery(every) => {
                for number in (0..self.places.len()).step_by(*every) {
                    self.remove(number);
                }
            }
            Deed::Broadcast => self.broadcast(),
            Deed::SetGlobal(id) => {
                let global = self.forms.reference(*id);
                self.batch.set_global(global.clone());
                let alone = self.places.iter_mut().filter_map(Place::alone);
                for twin in self.twins.iter_mut().chain(alone) {
                    twin.machine.set_global(global.clone());
                }
            }
            Deed::Fuse(every, after) => {
                for (_, puppet) in self.batch.iter_mut().filter(|(_, puppet)| puppet.number % every == 0) {
                    puppet.fuse.set(*after);
                }
                let alone = self.places.iter_mut().filter_map(Place::alone);
                for twin in self.twins.iter_mut().chain(alone).filter(|twin| twin.puppet.number % every == 0) {
                    twin.puppet.fuse.set(*after);
                }
            }
            Deed::Rebuild => self.rebuild(),
            Deed::Clone => {
                self.former.clone_from(&self.batch);
                std::mem::swap(&mut self.former, &mut self.batch);
            }
            Deed::To(number, act) => {
                if let Some(number) = number.checked_rem(self.places.len()) {
                    self.act_on(number, act);
                }
            }
        }
        self.compare(deed);
    }

    /// What the clock shows.
    fn clock(&self) -> f64 {
        self.odd.unwrap_or(self.now)
    }

    /// Saves and loads the batch, and those who have left it.
    #[cfg_attr(not(feature = "serde"), expect(clippy::unused_self, reason = "nothing can be saved"))]
    fn save_and_load(&mut self) {
        #[cfg(feature = "serde")]
        {
            let now = self.clock();
            let Self { batch, book, forms, .. } = self;
            *batch = crate::saving::saved_and_loaded(batch, book, forms, now);
            batch.set_journal(Some(Journal::new(1_000_000)));
            for twin in self.places.iter_mut().filter_map(Place::alone) {
                twin.machine = crate::saving::saved_and_loaded_machine(&twin.machine, book, forms, now);
            }
        }
    }

    /// What is saved of all owners can be loaded, and is saved again the same (rule 27).
    #[cfg_attr(not(feature = "serde"), expect(clippy::unused_self, reason = "nothing can be saved"))]
    fn check_saves(&self) {
        #[cfg(feature = "serde")]
        {
            let now = self.clock();
            let Self { batch, book, forms, .. } = self;
            crate::saving::saved_and_loaded(batch, book, forms, now);
            for place in &self.places {
                if let Place::Alone(Twin { machine, .. }) = place {
                    crate::saving::saved_and_loaded_machine(machine, book, forms, now);
                }
            }
        }
    }

    /// Makes what the owners remember show: their timers, their stacks, their previous states, their histories.
    fn shake(&mut self) {
        self.odd = None;
        for seconds in [0.0, 1.0, 1.0, 3.0, 1e9] {
            self.now += seconds;
            self.refuel();
            self.tick(None);
            self.compare("shaking");
        }
        let resumes = ids().map(Verb::Resume);
        let verbs = [Verb::Pop, Verb::Pop, Verb::Revert].into_iter().chain(resumes).chain([Verb::Pop, Verb::Pop]);
        let acts: Vec<_> = verbs.map(Act::Verb).chain([Act::Stop]).collect();
        self.refuel();
        for number in 0..self.places.len().min(24) {
            for act in &acts {
                self.act_on(number, act);
            }
        }
        self.compare("shaking");
    }

    fn refuel(&mut self) {
        let fuel = self.script.program.fuel;
        self.batch.iter_mut().for_each(|(_, puppet)| puppet.fuel = fuel);
        let alone = self.places.iter_mut().filter_map(Place::alone);
        self.twins.iter_mut().chain(alone).for_each(|twin| twin.puppet.fuel = fuel);
    }

    fn puppet(&self) -> Puppet {
        let mut puppet = Puppet::new(self.places.len());
        puppet.fuel = self.script.program.fuel;
        puppet
    }

    fn add(&mut self, key: Key, twin: Twin) {
        self.places.push(Place::In(key));
        self.twins.push(twin);
    }

    fn with_global(&self, mut machine: StateMachine<Puppet>) -> StateMachine<Puppet> {
        if let Some(global) = self.batch.global() {
            machine.set_global(global.clone());
        }
        machine
    }

    fn insert_machine(&mut self, [current, previous, under]: [Option<crate::program::Id>; 3]) {
        let mut machine = self.with_global(StateMachine::idle());
        let mut puppet = self.puppet();
        let forms = self.forms;
        self.twin_verb(|_, table| {
            if let Some(previous) = previous {
                machine.set_previous(forms.reference(previous));
            }
            if let Some(under) = under {
                machine.change_state(&mut puppet, forms.reference(under), table);
                if let Some(over) = current {
                    machine.push_state(&mut puppet, forms.reference(over), table);
                }
            } else if let Some(current) = current {
                machine.set_current(forms.reference(current));
            }
        })
        .expect("no fuse");
        // That was before the batch's time.
        puppet.forget_told();
        let twin = Twin { puppet: puppet.clone(), machine: machine.clone() };
        let key = self.batch.insert_machine(puppet, machine).expect("the batch's global");
        self.add(key, twin);
    }

    fn remove(&mut self, number: usize) {
        if let Place::In(key) = self.places[number] {
            let (puppet, machine) = self.batch.remove(key).expect("the key is not stale");
            assert_eq!(puppet.number, number, "the owner of that key");
            assert!(self.batch.remove(key).is_none(), "a stale key is nobody's");
            self.places[number] = Place::Alone(Twin { puppet, machine });
        }
    }

    fn rebuild(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        let global = batch.global().cloned();
        if let Some(global) = global {
            self.batch.set_global(global);
        }
        for (_, puppet, machine) in batch.into_machines() {
            let number = puppet.number;
            let key = self.batch.insert_machine(puppet, machine).expect("the same global");
            self.places[number] = Place::In(key);
        }
    }

    /// One tick for all. After a panic some owners of the batch have not had all of it: a twin then has as many `update`s as
    /// its owner had, so that both can go on together.
    fn tick(&mut self, parts: Option<usize>) {
        let mut outcome = Ok(());
        match parts {
            None => outcome = self.batch_verb(Self::tick_batch),
            Some(n) => {
                for k in 0..n {
                    let part = self.batch_verb(|stage, table| stage.batch.update_part(k, n, table));
                    outcome = outcome.and(part);
                }
            }
        }
        let mut twins = std::mem::take(&mut self.twins);
        let mut panicked = 0;
        // One for all owners: whether one of them sleeps says nothing of another.
        let mut to_wake = outcome.is_err().then(|| self.batch.clone());
        for (number, twin) in twins.iter_mut().enumerate() {
            if to_wake.as_mut().is_some_and(|batch| !self.has_begun_tick(number, twin, batch)) {
                continue;
            }
            let owner_panicked = match &mut self.places[number] {
                Place::In(key) => {
                    if outcome.is_err() {
                        twin.puppet.updates_left = self.batch.get(*key).expect("no owner is lost").updates();
                    }
                    false
                }
                Place::Alone(alone) => {
                    let mut table = Table::new(&self.script.program, self.odd.unwrap_or(self.now));
                    caught(|| alone.machine.update(&mut alone.puppet, &mut table)).is_err()
                }
            };
            let twin_panicked = self.twin_verb(|_, table| twin.machine.update(&mut twin.puppet, table)).is_err();
            twin.puppet.updates_left = u32::MAX;
            if let Place::Alone(_) = self.places[number] {
                assert_eq!(owner_panicked, twin_panicked, "owner {number}, alone");
            } else {
                panicked += usize::from(twin_panicked);
            }
        }
        self.twins = twins;
        // The count of what else `update` may do is the twin's alone.
        self.batch.iter_mut().for_each(|(_, puppet)| puppet.updates_left = u32::MAX);
        self.places.iter_mut().filter_map(Place::alone).for_each(|twin| twin.puppet.updates_left = u32::MAX);
        assert_eq!(outcome.is_err(), panicked > 0, "the panic reaches the caller");
    }

    /// Whether an owner has begun the tick in which another one has panicked: whether any timer of it that is due has been
    /// carried out, and whether it has woken. `to_wake` is a copy of the batch, in which the owner is woken if it sleeps.
    fn has_begun_tick(&self, number: usize, twin: &Twin, to_wake: &mut Batch<Puppet>) -> bool {
        let Place::In(key) = self.places[number] else { return true };
        if self.batch.get(key).expect("no owner is lost").has_events() {
            return true;
        }
        let mut trial = twin.clone();
        trial.puppet.updates_left = 0;
        let outcome = self.twin_verb(|_, table| trial.machine.update(&mut trial.puppet, table));
        if outcome.is_err() || trial.puppet.has_events() {
            return false;
        }
        // It may have woken, and nothing else.
        let is_asleep_in_batch = to_wake.wake(key);
        is_asleep_in_batch == is_asleep(&trial.machine) && self.batch.next_wake(key) == Some(trial.machine.next_wake())
    }

    fn tick_batch(&mut self, table: &mut Table<'_>) {
        match self.way {
            Way::Update => self.batch.update(table),
            Way::KeyOrder => self.batch.update_in_key_order(table),
            #[cfg(feature = "parallel")]
            Way::Parallel { threads } => {
                let (program, now) = (&self.script.program, self.clock());
                let make = |_: usize| Table::new(program, now);
                let tables = crate::pool(threads).install(|| self.batch.par_update(make));
                for table in tables {
                    self.run.corners.extend(table.into_corners());
                }
            }
        }
    }

    /// As with a tick, not all owners are offered the message when one panics.
    fn broadcast(&mut self) {
        let outcome = self.batch_verb(|stage, table| stage.batch.broadcast(&Origin::Game, table));
        let mut handled = 0;
        let mut panicked = false;
        let mut twins = std::mem::take(&mut self.twins);
        for (twin, place) in twins.iter_mut().zip(&self.places) {
            let Place::In(key) = place else { continue };
            if outcome.is_err() && !self.batch.get(*key).expect("no owner is lost").has_events() {
                continue;
            }
            let mut table = Table::new(&self.script.program, self.clock());
            match caught(|| twin.machine.send(&mut twin.puppet, &Origin::Game, &mut table)) {
                Ok(is_handled) => handled += usize::from(is_handled),
                Err(Panicked) => panicked = true,
            }
        }
        self.twins = twins;
        assert_eq!(outcome.is_err(), panicked, "the panic reaches the caller");
        assert!(outcome.is_err() || outcome == Ok(handled), "{outcome:?} is not {handled}");
    }

    fn act_on(&mut self, number: usize, act: &Act) {
        let forms = self.forms;
        let mut twins = std::mem::take(&mut self.twins);
        let twin = &mut twins[number];
        let expected =
            self.twin_verb(|_, table| act_on_machine(act, &mut twin.puppet, &mut twin.machine, forms, table));
        self.twins = twins;
        let outcome = if let Place::In(key) = self.places[number] {
            self.batch_verb(|stage, table| act_on_batch(act, &mut stage.batch, key, forms, table))
        } else {
            self.batch_verb(|stage, table| {
                let alone = stage.places[number].alone().expect("it is no longer in the batch");
                act_on_machine(act, &mut alone.puppet, &mut alone.machine, forms, table)
            })
        };
        assert_eq!(outcome, expected, "owner {number}, {act:?}");
    }

    /// Has the batch do something.
    fn batch_verb<R>(&mut self, act: impl FnOnce(&mut Self, &mut Table<'_>) -> R) -> Result<R, Panicked> {
        let mut table = Table::new(&self.script.program, self.clock());
        let outcome = caught(|| act(self, &mut table));
        self.run.has_panicked |= outcome.is_err();
        self.run.corners.extend(table.into_corners());
        outcome
    }

    /// Has a machine do something. What corners it leads to is of no interest.
    fn twin_verb<R>(&self, act: impl FnOnce(&Self, &mut Table<'_>) -> R) -> Result<R, Panicked> {
        caught(|| act(self, &mut Table::new(&self.script.program, self.clock())))
    }

    fn compare(&mut self, deed: impl std::fmt::Debug) {
        let way = self.way;
        let table = Table::new(&self.script.program, self.clock());
        for (place, twin) in self.places.iter().zip(&self.twins) {
            let machine = &twin.machine;
            let number = twin.puppet.number;
            let expected = seen_of(machine, &table);
            let (puppet, is) = match place {
                Place::In(key) => {
                    (self.batch.get(*key).expect("no owner is lost"), self.seen_of(*key, machine, &table))
                }
                Place::Alone(Twin { puppet, machine }) => (puppet, seen_of(machine, &table)),
            };
            assert_eq!(puppet.number, number, "{way:?}, {deed:?}: every owner has its key");
            if puppet.has_events() || twin.puppet.has_events() {
                let (events, expected) = (puppet.events(), twin.puppet.events());
                let same = events.iter().zip(&expected).take_while(|(event, expected)| event == expected).count();
                assert!(
                    same == events.len() && same == expected.len(),
                    "{way:?}, {deed:?}: the trace of owner {number} after {same} events, the last of them {:?}:\n\
                     batch   {:?}\nmachine {:?}",
                    events[..same].last(),
                    events.get(same),
                    expected.get(same)
                );
            }
            assert_eq!(is, expected, "{way:?}, {deed:?}: where owner {number} is");
            assert_eq!(puppet.told(), twin.puppet.told(), "{way:?}, {deed:?}: the changes of owner {number}");
            if let (Place::In(key), Some(journal)) = (place, self.batch.journal()) {
                let name = format!("{key:?}: ");
                let entries: Vec<_> = journal.of(*key).map(|entry| entry.to_string().replacen(&name, "", 1)).collect();
                assert_eq!(entries, puppet.told(), "{way:?}, {deed:?}: what the journal says of owner {number}");
            }
        }
        self.check_places();
        self.check_sleepers();
        let mut layout = DefaultHasher::new();
        self.batch.iter().for_each(|(key, puppet)| (key, puppet.number).hash(&mut layout));
        // States that have only been asked for may be known in one kind of update and not in another.
        for (state, count) in self.batch.census().filter(|(_, count)| *count > 0) {
            (mark(state), count).hash(&mut layout);
        }
        self.run.layouts.push(layout.finish());
        let mut written = DefaultHasher::new();
        if let Some(journal) = self.batch.set_journal(Some(Journal::new(1_000_000))) {
            journal.entries().for_each(|entry| entry.to_string().hash(&mut written));
        }
        self.run.journals.push(written.finish());
        self.batch.iter_mut().for_each(|(_, puppet)| puppet.forget_events());
        let alone = self.places.iter_mut().filter_map(Place::alone);
        self.twins.iter_mut().chain(alone).for_each(|twin| twin.puppet.forget_events());
    }

    /// What the batch tells of an owner.
    fn seen_of(&self, key: Key, twin: &StateMachine<Puppet>, table: &Table<'_>) -> Seen {
        let batch = &self.batch;
        assert_eq!(batch.state_of(key).map(mark), twin.current().map(mark), "the current state");
        for id in ids() {
            let state = self.forms.reference(id);
            assert_eq!(batch.is_in_state(key, &*state), twin.is_in_state(&*state), "whether it is in a state");
            assert_eq!(batch.time_in(key, &*state, table), twin.time_in(&*state, table), "for how long");
        }
        assert_eq!(batch.is_in::<Node<2>>(key), twin.is_in::<Node<2>>(), "whether it is in a state of a type");
        assert_eq!(batch.next_wake(key), Some(twin.next_wake()), "when it next has something to do");
        let time = batch.time_in_state(key, table).expect("the key is not stale");
        assert!(time.total_cmp(&twin.time_in_state(table)).is_eq(), "the time in the current state");
        let path = batch.path(key).expect("the key is not stale");
        seen(path, batch.previous_of(key), |state| batch.time_in(key, state, table))
    }

    /// Everybody is there once, in the place of its state (rule 22).
    fn check_places(&self) {
        let batch = &self.batch;
        let mut here: Vec<_> = batch.iter().map(|(key, puppet)| (puppet.number, key)).collect();
        here.sort_unstable();
        let is_in = |place: &Place| if let Place::In(key) = place { Some(*key) } else { None };
        let expected: Vec<_> =
            self.places.iter().enumerate().filter_map(|(number, place)| Some((number, is_in(place)?))).collect();
        assert_eq!(here, expected, "every owner once");
        assert_eq!((batch.len(), batch.keys().count()), (here.len(), here.len()));

        let counts = |of: &mut dyn Iterator<Item = (StateRef<Puppet>, usize)>| {
            let mut counts: Vec<(Group, usize)> = Vec::new();
            for (state, count) in of.filter(|(_, count)| *count > 0) {
                let group = Group::of(&state);
                match counts.iter_mut().find(|(known, _)| *known == group) {
                    Some((_, known)) => *known += count,
                    None => counts.push((group, count)),
                }
            }
            counts.sort_unstable();
            counts
        };
        let by_key = counts(&mut batch.keys().filter_map(|key| Some((batch.state_of(key)?.clone(), 1))));
        let by_census = counts(&mut batch.census().map(|(state, count)| (state.clone(), count)));
        assert_eq!(by_key, by_census, "the census");
        for (state, count) in batch.census().filter(|(state, _)| !state.is_owned()) {
            let owners = batch.owners_in(&**state);
            assert_eq!(owners.len(), count);
            for puppet in owners {
                let Place::In(key) = self.places[puppet.number] else { panic!("it is no longer in the batch") };
                assert!(batch.state_of(key) == Some(state), "owners lie with their state");
            }
        }
        for (key, puppet) in batch.iter().take(24) {
            if let Some(own) = batch.state_of(key).filter(|state| state.is_owned()) {
                assert!(batch.owners_in(&**own).iter().any(|owner| {
                    // A clone of a reference is the same state, even if it is an owned one.
                    owner.number == puppet.number || batch.state_of(self.key(owner.number)) == Some(own)
                }));
            }
        }
    }

    /// As many are awake as their twins (rule 26).
    fn check_sleepers(&self) {
        let in_batch = self.twins.iter().zip(&self.places).filter(|(_, place)| matches!(place, Place::In(_)));
        let awake = in_batch.filter(|(twin, _)| !is_asleep(&twin.machine)).count();
        assert_eq!(self.batch.awake(), awake, "{:?}: how many are awake", self.way);
    }

    fn key(&self, number: usize) -> Key {
        let Place::In(key) = self.places[number] else { panic!("it is no longer in the batch") };
        key
    }
}

/// What a machine shows.
fn seen_of(machine: &StateMachine<Puppet>, table: &Table<'_>) -> Seen {
    seen(machine.path(), machine.previous(), |state| machine.time_in(state, table))
}

fn is_asleep(machine: &StateMachine<Puppet>) -> bool {
    machine.clone().wake()
}

/// What a census counts together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Group {
    State(crate::program::Id),
    Evens,
    Odds,
}

impl Group {
    fn of(state: &StateRef<Puppet>) -> Self {
        let Mark { id, .. } = mark(state);
        match (state.is_owned(), id % 2) {
            (false, _) => Self::State(id),
            (true, 0) => Self::Evens,
            (true, _) => Self::Odds,
        }
    }
}

impl Place {
    fn alone(&mut self) -> Option<&mut Twin> {
        match self {
            Self::In(_) => None,
            Self::Alone(twin) => Some(twin),
        }
    }
}

pub(crate) fn act_on_machine(
    act: &Act,
    puppet: &mut Puppet,
    machine: &mut StateMachine<Puppet>,
    forms: &'static Forms,
    table: &mut Table<'_>,
) -> Option<bool> {
    match act {
        Act::Send => return Some(machine.send(puppet, &Origin::Game, table)),
        Act::Verb(verb) => {
            return match *verb {
                Verb::Change(to) => Some(machine.change_state(puppet, forms.reference(to), table)),
                Verb::Ensure(to) => Some(machine.ensure_state(puppet, forms.reference(to), table)),
                Verb::Force(to) => Some(machine.force_state(puppet, forms.reference(to), table)),
                Verb::Revert => Some(machine.revert_state(puppet, table)),
                Verb::Push(over) => Some(machine.push_state(puppet, forms.reference(over), table)),
                Verb::Pop => Some(machine.pop_state(puppet, table)),
                Verb::Resume(composite) => Some(machine.resume_state(puppet, forms.reference(composite), table)),
                Verb::ChangeAfter(wait, to) => {
                    Some(machine.change_state_after(puppet, wait.seconds(), forms.reference(to), table))
                }
                Verb::SendAfter(wait) => Some(machine.send_after(puppet, wait.seconds(), Origin::Own, table)),
                Verb::Sleep(Wait::ForEver) => {
                    machine.sleep();
                    None
                }
                Verb::Sleep(wait) => {
                    machine.sleep_for(puppet, wait.seconds(), table);
                    None
                }
                verb => {
                    assert!(verb.is_of_a_handle(), "a machine has it");
                    None
                }
            };
        }
        Act::With(verbs) => machine.with(puppet, table, |puppet, fsm, table| {
            for verb in verbs {
                puppet.use_verb(*verb, None, forms, fsm, table);
            }
        }),
        Act::Start => machine.start(puppet, table),
        Act::Stop => machine.stop(puppet, table),
        Act::SetCurrent(id) => machine.set_current(forms.reference(*id)),
        Act::SetPrevious(id) => machine.set_previous(forms.reference(*id)),
        Act::Wake => return Some(machine.wake()),
        Act::Edit => {
            let evens = machine.current_mut::<Node<2>>().map(Node::edit).is_some();
            return Some(evens || machine.current_mut::<Node<3>>().map(Node::edit).is_some());
        }
    }
    None
}

fn act_on_batch(
    act: &Act,
    batch: &mut Batch<Puppet>,
    key: Key,
    forms: &'static Forms,
    table: &mut Table<'_>,
) -> Option<bool> {
    match act {
        Act::Send => return Some(batch.send(key, &Origin::Game, table)),
        Act::Verb(verb) => {
            return match *verb {
                Verb::Change(to) => Some(batch.change_state(key, forms.reference(to), table)),
                Verb::Ensure(to) => Some(batch.ensure_state(key, forms.reference(to), table)),
                Verb::Force(to) => Some(batch.force_state(key, forms.reference(to), table)),
                Verb::Revert => Some(batch.revert_state(key, table)),
                Verb::Push(over) => Some(batch.push_state(key, forms.reference(over), table)),
                Verb::Pop => Some(batch.pop_state(key, table)),
                Verb::Resume(composite) => Some(batch.resume_state(key, forms.reference(composite), table)),
                Verb::ChangeAfter(wait, to) => {
                    Some(batch.change_state_after(key, wait.seconds(), forms.reference(to), table))
                }
                Verb::SendAfter(wait) => Some(batch.send_after(key, wait.seconds(), Origin::Own, table)),
                Verb::Sleep(Wait::ForEver) => {
                    assert!(batch.sleep(key), "the key is not stale");
                    None
                }
                Verb::Sleep(wait) => {
                    assert!(batch.sleep_for(key, wait.seconds(), table), "the key is not stale");
                    None
                }
                verb => {
                    assert!(verb.is_of_a_handle(), "a machine has it");
                    None
                }
            };
        }
        Act::With(verbs) => {
            let lent = batch.with(key, table, |puppet, fsm, table| {
                for verb in verbs {
                    puppet.use_verb(*verb, None, forms, fsm, table);
                }
            });
            assert!(lent.is_some(), "the key is not stale");
        }
        Act::Start => assert!(batch.start(key, table)),
        Act::Stop => assert!(batch.stop(key, table)),
        Act::SetCurrent(id) => assert!(batch.set_current(key, forms.reference(*id))),
        Act::SetPrevious(id) => assert!(batch.set_previous(key, forms.reference(*id))),
        Act::Wake => return Some(batch.wake(key)),
        Act::Edit => {
            let edited = batch.current_mut::<Node<2>>(key).map(Node::edit).is_some()
                || batch.current_mut::<Node<3>>(key).map(Node::edit).is_some();
            if edited {
                table.reached(Corner::Edited);
            }
            return Some(edited);
        }
    }
    None
}
