//! A script on a batch and, beside it, on one machine per owner: the twins. After each deed, both must agree.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use demeanor::{Batch, Fsm, Journal, Key, StateMachine, StateRef};

use crate::program::{LIMIT, Verb, Wait};
use crate::puppet::{Corner, Forms, Node, Origin, Puppet, Seen, Table, ids, mark, seen};
use crate::script::{Act, Deed, Script};
use crate::told_panic::{Panicked, caught};

/// How the batch is updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Update,
    #[cfg(feature = "parallel")]
    Parallel {
        threads: usize,
    },
    KeyOrder,
    /// By `update_one`, the last key first.
    OneByOne,
}

impl Way {
    pub(crate) const ALL: &'static [Self] = &[
        Self::Update,
        Self::KeyOrder,
        Self::OneByOne,
        #[cfg(feature = "parallel")]
        Self::Parallel { threads: 1 },
        #[cfg(feature = "parallel")]
        Self::Parallel { threads: 2 },
        #[cfg(feature = "parallel")]
        Self::Parallel { threads: 4 },
    ];

    /// Those of the scripts of files, each of which reads its files again.
    #[cfg(feature = "definition")]
    pub(crate) const OF_FILES: &'static [Self] = &[
        Self::Update,
        Self::KeyOrder,
        Self::OneByOne,
        #[cfg(feature = "parallel")]
        Self::Parallel { threads: 3 },
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
    /// What there was when the batch was cloned the last time.
    former: (Batch<Puppet>, Vec<Place>, Vec<Twin>),
    /// Where each owner is, by its number.
    places: Vec<Place>,
    twins: Vec<Twin>,
    /// In seconds.
    now: f64,
    /// What the clock shows in place of the time.
    odd: Option<f64>,
    /// Whether the file may have been reloaded since the last tick. Owners that slept before wake in the next tick, or in a batch
    /// as soon as they are moved. Only `awake`, `wake` and the digest show the difference.
    is_reloaded: bool,
    run: Run,
}

#[derive(Clone)]
enum Place {
    In(Key),
    Alone(Twin),
}

#[derive(Clone)]
struct Twin {
    puppet: Puppet,
    machine: StateMachine<Puppet>,
}

impl Twin {
    /// Whether the other one has done the same, and then more, while regions are open here.
    fn stands_before_a_region(&self, other: &Self) -> bool {
        let (events, others) = (self.puppet.events(), other.puppet.events());
        let is_behind = events.len() < others.len() && others.starts_with(&events);
        is_behind && self.machine.active_states().count() > self.machine.path().count()
    }
}

/// Runs the script in one way. Panics where batch and twins part.
pub(crate) fn run(script: &Script, way: Way) -> Run {
    run_saving(script, way, usize::MAX)
}

/// Likewise, and saves and loads the batch after every so-manieth deed, if that can be.
pub(crate) fn run_saving(script: &Script, way: Way, every: usize) -> Run {
    let forms = Forms::of(&script.program, &script.passive, &script.orders);
    #[cfg(feature = "definition")]
    let batch = script
        .files
        .as_ref()
        .map_or_else(Batch::new, |[file, _]| forms.definition.get_or_init(|| file.parsed(forms)).batch());
    #[cfg(not(feature = "definition"))]
    let batch = Batch::new();
    let mut stage = Stage {
        script,
        #[cfg(feature = "serde")]
        book: crate::saving::book(forms),
        forms,
        way,
        batch,
        former: (Batch::new().with_limit(LIMIT), Vec::new(), Vec::new()),
        places: Vec::new(),
        twins: Vec::new(),
        now: 0.0,
        odd: None,
        is_reloaded: false,
        run: Run { layouts: Vec::new(), journals: Vec::new(), has_panicked: false, corners: BTreeSet::new() },
    };
    if let Some(global) = script.program.global.filter(|_| stage.batch.global().is_none()) {
        stage.batch.set_global(forms.reference(global));
    }
    stage.batch.set_limit(LIMIT);
    for (nth, deed) in (1..).zip(&script.deeds) {
        stage.do_deed(deed);
        let is_saved = nth % every == 0;
        if (is_saved || way == Way::Update && stage.places.len() < 64) && !script.is_edited() {
            stage.save_and_load(is_saved);
        }
    }
    stage.shake();
    stage.check_memory()
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
                self.all_twins().for_each(|twin| twin.machine.set_global(global.clone()));
            }
            // Where a panic cuts short the ticks of others, their twins have no more updates, but would try the exits of the file.
            Deed::Fuse(..) if self.way != Way::OneByOne && self.script.is_of_a_file() => {}
            Deed::Fuse(every, after) => {
                for (_, puppet) in self.batch.iter_mut().filter(|(_, puppet)| puppet.number % every == 0) {
                    puppet.fuse.set(*after);
                }
                for twin in self.all_twins().filter(|twin| twin.puppet.number % every == 0) {
                    twin.puppet.fuse.set(*after);
                }
            }
            Deed::Rebuild => self.rebuild(),
            Deed::Clone => {
                let Self { former: (batch, places, twins), .. } = self;
                batch.clone_from(&self.batch);
                std::mem::swap(batch, &mut self.batch);
                places.clone_from(&self.places);
                twins.clone_from(&self.twins);
            }
            Deed::Restore => {
                let (batch, places, twins) = &self.former;
                self.batch.clone_from(batch);
                self.places.clone_from(places);
                self.twins.clone_from(twins);
                self.is_reloaded = self.script.is_of_a_file();
            }
            Deed::Extend(ids) => self.extend(ids),
            Deed::Retain(every) => {
                self.batch.retain(|_, puppet| puppet.number % every > 0);
                self.part_with(|number| number % every == 0);
            }
            Deed::Drain(count) => {
                let len = self.batch.len();
                let drained: Vec<_> = self.batch.drain().take(*count).collect();
                assert_eq!(drained.len(), len.min(*count), "as many as there are");
                for (key, puppet, machine) in drained {
                    let number = puppet.number;
                    assert_eq!(self.key(number), key, "each once, with its key");
                    self.places[number] = Place::Alone(Twin { puppet, machine });
                }
                self.part_with(|_| true);
            }
            Deed::Clear => {
                self.batch.clear();
                self.part_with(|_| true);
            }
            Deed::Reserve(id, count) => self.batch.reserve(*count, self.forms.reference(*id)),
            Deed::Shrink => self.batch.shrink_to_fit(),
            Deed::To(number, act) => {
                if let Some(number) = number.checked_rem(self.places.len()) {
                    self.act_on(number, act);
                }
            }
            Deed::Set(number, [x, y], is_lit) => self.set_words(*number, [*x, *y].map(f64::from), *is_lit),
            Deed::Reload(nth) => self.reload(*nth),
        }
        self.compare(deed);
    }

    fn set_words(&mut self, number: usize, [x, y]: [f64; 2], is_lit: bool) {
        let Some(number) = number.checked_rem(self.places.len()) else { return };
        let puppet = match &mut self.places[number] {
            Place::In(key) => &mut self.batch[*key],
            Place::Alone(twin) => &mut twin.puppet,
        };
        for puppet in [puppet, &mut self.twins[number].puppet] {
            (puppet.words.x, puppet.words.y, puppet.words.is_lit) = (x, y, is_lit);
        }
    }

    #[cfg_attr(not(feature = "definition"), expect(unused_variables, clippy::unused_self, reason = "there is no file"))]
    fn reload(&mut self, nth: usize) {
        #[cfg(feature = "definition")]
        if let (Some(definition), Some(files)) = (self.forms.definition.get(), &self.script.files) {
            files[nth].reload(definition);
            self.is_reloaded = true;
        }
    }

    /// What the clock shows.
    fn clock(&self) -> f64 {
        self.odd.unwrap_or(self.now)
    }

    /// Saves and loads the batch, and the owners that have left it: each can be loaded, and is saved again the same (rule 27).
    #[cfg_attr(not(feature = "serde"), expect(unused_variables, clippy::unused_self, reason = "nothing can be saved"))]
    fn save_and_load(&mut self, goes_on_with_it: bool) {
        #[cfg(feature = "serde")]
        {
            let now = self.clock();
            let Self { batch, book, forms, places, .. } = self;
            let loaded = crate::saving::saved_and_loaded(batch, book, forms, now);
            if goes_on_with_it {
                *batch = loaded;
                batch.set_journal(Some(Journal::new(1_000_000)));
            }
            for twin in places.iter_mut().filter_map(Place::alone) {
                let loaded = crate::saving::saved_and_loaded_machine(&twin.machine, book, forms, now);
                if goes_on_with_it {
                    twin.machine = loaded;
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

    /// The batch keeps no state but those of its machines: it has forgotten all others within 64 ticks in which nothing happens.
    /// A batch without owners gets one, because its global state is the state of no machine.
    fn check_memory(mut self) -> Run {
        let Self { forms, script, ref mut batch, .. } = self;
        if batch.len() < 24 {
            self.former = (Batch::new(), Vec::new(), Vec::new());
            batch.iter_mut().for_each(|(_, puppet)| (puppet.fuel, puppet.fuse) = (0, Cell::new(0)));
            let guest = batch.insert(Puppet::new(0), Arc::new(Node::<0>::new(0, 0, forms)));
            if batch.len() > 1 {
                drop(batch.remove(guest));
            }
            let mut table = Table::new(&script.program, self.now);
            (0..64).for_each(|_| batch.update(&mut table));
            let kept = forms.live_states();
            let machines: Vec<_> = std::mem::take(batch).into_machines().collect();
            assert_eq!(kept, forms.live_states(), "{:?}: states that {} machines need", self.way, machines.len());
        }
        self.run
    }

    fn refuel(&mut self) {
        let fuel = self.script.program.fuel;
        self.batch.iter_mut().for_each(|(_, puppet)| puppet.fuel = fuel);
        self.all_twins().for_each(|twin| twin.puppet.fuel = fuel);
    }

    /// The twins, and the owners that go on alone.
    fn all_twins(&mut self) -> impl Iterator<Item = &mut Twin> {
        self.twins.iter_mut().chain(self.places.iter_mut().filter_map(Place::alone))
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
            machine.set_global(global);
        }
        machine.set_limit(LIMIT);
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

    fn extend(&mut self, ids: &[crate::program::Id]) {
        let states = ids.iter().map(|id| self.forms.reference(*id));
        let added = (self.places.len()..).map(Puppet::new).zip(states).collect::<Vec<_>>();
        self.batch.extend(added);
        let keys: BTreeMap<_, _> = self.batch.iter().map(|(key, puppet)| (puppet.number, key)).collect();
        for id in ids {
            let number = self.places.len();
            let machine = self.with_global(StateMachine::new(self.forms.reference(*id)));
            self.add(keys[&number], Twin { puppet: Puppet::new(number), machine });
        }
    }

    /// The batch has dropped some owners. In the place of each, a copy of its twin goes on alone.
    fn part_with(&mut self, is_dropped: impl Fn(usize) -> bool) {
        for (number, twin) in self.twins.iter().enumerate().filter(|(number, _)| is_dropped(*number)) {
            if let Place::In(key) = self.places[number] {
                assert!(!self.batch.contains_key(key), "the key is stale");
                self.places[number] = Place::Alone(twin.clone());
            }
        }
    }

    fn rebuild(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Batch::new().with_limit(LIMIT));
        let global = batch.global();
        if let Some(global) = global {
            self.batch.set_global(global);
        }
        for (_, puppet, machine) in batch.into_machines() {
            let number = puppet.number;
            let key = self.batch.insert_machine(puppet, machine).expect("the same global");
            self.places[number] = Place::In(key);
        }
    }

    /// One tick for all. After a panic some owners of the batch have not had all of it: a twin then has as many `update`s and
    /// `after_update`s as its owner had, so that both can go on together. The tick of a region begins with what is due in it: if
    /// only the twin has had this part, it goes on where its owner is.
    fn tick(&mut self, parts: Option<usize>) {
        let mut outcome = Ok(());
        match parts {
            _ if self.way == Way::OneByOne => outcome = self.each_alone(Batch::update_one).map(drop),
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
        let is_cut_short = outcome.is_err() && self.way != Way::OneByOne;
        let after_panic: Option<HashMap<_, _>> = is_cut_short.then(|| {
            let owners = self.batch.clone().into_machines();
            owners.map(|(key, puppet, machine)| (key, Twin { puppet, machine })).collect()
        });
        for (number, twin) in twins.iter_mut().enumerate() {
            if after_panic.as_ref().is_some_and(|owners| !self.has_begun_tick(number, twin, owners)) {
                continue;
            }
            let owner_panicked = match &mut self.places[number] {
                Place::In(key) => {
                    if is_cut_short {
                        let owner = self.batch.get(*key).expect("no owner is lost");
                        (twin.puppet.updates_left, twin.puppet.ends_left) = (owner.updates(), owner.ends());
                    }
                    false
                }
                Place::Alone(alone) => {
                    let mut table = Table::new(&self.script.program, self.odd.unwrap_or(self.now));
                    caught(|| alone.machine.update(&mut alone.puppet, &mut table)).is_err()
                }
            };
            let twin_panicked = self.twin_verb(|_, table| twin.machine.update(&mut twin.puppet, table)).is_err();
            if let (Some(owners), Place::In(key)) = (&after_panic, &self.places[number])
                && !twin_panicked
                && owners[key].stands_before_a_region(twin)
            {
                twin.clone_from(&owners[key]);
            }
            twin.puppet.end_limits();
            if let Place::Alone(_) = self.places[number] {
                assert_eq!(owner_panicked, twin_panicked, "owner {number}, alone");
            } else {
                panicked += usize::from(twin_panicked);
            }
        }
        self.twins = twins;
        self.is_reloaded &= is_cut_short;
        // The count of what else `update` may do is the twin's alone.
        self.batch.iter_mut().for_each(|(_, puppet)| puppet.end_limits());
        self.places.iter_mut().filter_map(Place::alone).for_each(|twin| twin.puppet.end_limits());
        assert_eq!(outcome.is_err(), panicked > 0, "the panic reaches the caller");
    }

    /// Whether an owner has begun the tick in which another one has panicked: whether any timer of it that is due has been
    /// carried out, and whether it has woken. The owners are those of the batch.
    fn has_begun_tick(&self, number: usize, twin: &Twin, owners: &HashMap<Key, Twin>) -> bool {
        let Place::In(key) = self.places[number] else { return true };
        if self.batch.get(key).expect("no owner is lost").has_events() {
            return true;
        }
        let mut trial = twin.clone();
        (trial.puppet.updates_left, trial.puppet.ends_left) = (0, 0);
        let outcome = self.twin_verb(|_, table| trial.machine.update(&mut trial.puppet, table));
        // It may have woken, and nothing else.
        outcome.is_ok() && !trial.puppet.has_events() && owners[&key].machine.digest() == trial.machine.digest()
    }

    fn tick_batch(&mut self, table: &mut Table<'_>) {
        match self.way {
            Way::Update => self.batch.update(table),
            Way::KeyOrder => self.batch.update_in_key_order(table),
            Way::OneByOne => unreachable!("each alone"),
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

    /// Has the batch do something for one owner after the other, the last key first, and counts for how many it is done. A
    /// panic of one owner concerns no other.
    fn each_alone(&mut self, act: impl Fn(&mut Batch<Puppet>, Key, &mut Table<'_>) -> bool) -> Result<usize, Panicked> {
        let mut count = Ok(0);
        for key in self.batch.keys().collect::<Vec<_>>().into_iter().rev() {
            let is_done = self.batch_verb(|stage, table| act(&mut stage.batch, key, table));
            count = count.and_then(|count| is_done.map(|is_done| count + usize::from(is_done)));
        }
        count
    }

    /// As with a tick, not all owners are offered the message when one panics.
    fn broadcast(&mut self) {
        let is_one_by_one = self.way == Way::OneByOne;
        let outcome = if is_one_by_one {
            self.each_alone(|batch, key, table| batch.send(key, &Origin::Game, table))
        } else {
            self.batch_verb(Self::broadcast_to_batch)
        };
        let mut handled = 0;
        let mut panicked = false;
        let mut twins = std::mem::take(&mut self.twins);
        for (twin, place) in twins.iter_mut().zip(&self.places) {
            let Place::In(key) = place else { continue };
            if outcome.is_err() && !is_one_by_one && !self.batch.get(*key).expect("no owner is lost").has_events() {
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

    fn broadcast_to_batch(&mut self, table: &mut Table<'_>) -> usize {
        match self.way {
            #[cfg(feature = "parallel")]
            Way::Parallel { threads } => {
                let (program, now) = (&self.script.program, self.clock());
                let make = |_: usize| Table::new(program, now);
                let all = || self.batch.par_broadcast(&Origin::Game, make);
                crate::pool(threads).install(all).0
            }
            _ => self.batch.broadcast(&Origin::Game, table),
        }
    }

    fn act_on(&mut self, number: usize, act: &Act) {
        let forms = self.forms;
        let mut twins = std::mem::take(&mut self.twins);
        let twin = &mut twins[number];
        let expected = self.twin_verb(|_, table| act_on(act, twin.host(), forms, table));
        self.twins = twins;
        let outcome = self.batch_verb(|stage, table| {
            let host = match &mut stage.places[number] {
                Place::In(key) => Host::Batch(&mut stage.batch, *key),
                Place::Alone(twin) => twin.host(),
            };
            act_on(act, host, forms, table)
        });
        if !self.is_reloaded || !matches!(act, Act::Wake) {
            assert_eq!(outcome, expected, "owner {number}, {act:?}");
        }
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
        // A search of the journal for each owner would take minutes where thousands of changes are a cycle.
        let mut written = self.batch.journal().map(|journal| {
            let mut written = HashMap::<Key, Vec<String>>::new();
            for entry in journal.entries() {
                let name = format!("{:?}: ", entry.owner);
                written.entry(entry.owner).or_default().push(entry.to_string().replacen(&name, "", 1));
            }
            written
        });
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
            assert_eq!(puppet.words, twin.puppet.words, "{way:?}, {deed:?}: the words of owner {number}");
            if let Place::Alone(Twin { machine: alone, .. }) = place {
                let is_same = self.is_reloaded || self.script.is_edited() || alone.digest() == machine.digest();
                assert!(is_same, "{way:?}, {deed:?}: the digest of owner {number}");
            }
            assert_eq!(puppet.told(), twin.puppet.told(), "{way:?}, {deed:?}: the changes of owner {number}");
            if let (Place::In(key), Some(written)) = (place, &mut written) {
                let entries = written.remove(key).unwrap_or_default();
                assert_eq!(entries, puppet.told(), "{way:?}, {deed:?}: what the journal says of owner {number}");
            }
        }
        self.check_places();
        self.check_sleepers();
        self.check_buckets();
        // After an edit, the history of an owner in a batch has states that are gone for longer than that of a machine.
        if self.places.len() < 24 && !self.script.is_edited() && !self.is_reloaded {
            for (_, puppet, machine) in self.batch.clone().into_machines() {
                let twin = &self.twins[puppet.number].machine;
                assert_eq!(machine.digest(), twin.digest(), "{way:?}, {deed:?}: the digest of owner {}", puppet.number);
            }
        }
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
        self.all_twins().for_each(|twin| twin.puppet.forget_events());
    }

    /// Each owner is in one bucket, in the order of `iter`, with its key and with the states that it is in.
    fn check_buckets(&mut self) {
        let (way, mut in_buckets, mut states) = (self.way, Vec::new(), HashSet::new());
        let buckets: Vec<_> = self
            .batch
            .buckets_mut()
            .map(|bucket| {
                let owners: Vec<_> = bucket.keys().zip(bucket.owners().iter().map(|puppet| puppet.number)).collect();
                assert!(!owners.is_empty() && owners.len() == bucket.owners().len(), "{way:?}: a key for each owner");
                (bucket.state().cloned(), bucket.path().cloned().collect::<Vec<_>>(), owners)
            })
            .collect();
        for (state, path, owners) in buckets {
            assert_eq!(path.last(), state.as_ref(), "{way:?}: the innermost state");
            for (key, _) in &owners {
                assert_eq!(self.batch.state_of(*key), state.as_ref(), "{way:?}: the state of {key:?}");
                assert!(self.batch.path(*key).expect("the key is not stale").eq(&path), "{way:?}: the path of {key:?}");
            }
            // Owners can share an owned state, and each of them has a bucket to itself.
            let is_owned = state.as_ref().is_some_and(StateRef::is_owned);
            assert!(is_owned && owners.len() == 1 || states.insert(state.clone()), "{way:?}: the buckets of a state");
            in_buckets.extend(owners);
        }
        assert!(self.batch.iter().map(|(key, puppet)| (key, puppet.number)).eq(in_buckets), "{way:?}: the owners");
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

        let mut in_rows = batch.iter().filter_map(|(key, _)| batch.state_of(key));
        for (state, count) in batch.census() {
            let is_of = |own: &&StateRef<Puppet>| {
                // All owned states of a type lie together.
                *own == state || own.is_owned() && state.is_owned() && mark(own).id % 2 == mark(state).id % 2
            };
            let here = in_rows.by_ref().take(count).filter(is_of).count();
            assert_eq!(here, count, "the rows lie by state, in the order of the census");
        }
        assert!(in_rows.next().is_none(), "every row is counted");

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
        if self.is_reloaded {
            return;
        }
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

impl Twin {
    fn host(&mut self) -> Host<'_> {
        Host::Machine(&mut self.puppet, &mut self.machine)
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

/// The machine of an owner: its own, or that in a batch.
pub(crate) enum Host<'h> {
    Machine(&'h mut Puppet, &'h mut StateMachine<Puppet>),
    Batch(&'h mut Batch<Puppet>, Key),
}

/// Calls a method that machines and batches have, a batch by the owner's key.
macro_rules! call {
    ($host:ident.$method:ident($($argument:expr),*; $table:ident)) => {
        match $host {
            Host::Machine(puppet, machine) => machine.$method(puppet, $($argument,)* $table),
            Host::Batch(batch, key) => batch.$method(key, $($argument,)* $table),
        }
    };
}

/// What an act returns, where a batch and a machine return the same.
pub(crate) fn act_on(act: &Act, host: Host<'_>, forms: &'static Forms, table: &mut Table<'_>) -> Option<bool> {
    match act {
        Act::Send => return Some(call!(host.send(&Origin::Game; table))),
        Act::Verb(verb) => return use_verb(*verb, host, forms, table),
        Act::With(verbs) => {
            let act = |puppet: &mut Puppet, fsm: &mut Fsm<'_, Puppet>, table: &mut Table<'_>| {
                for verb in verbs {
                    puppet.use_verb(*verb, None, forms, fsm, table);
                }
            };
            match host {
                Host::Machine(puppet, machine) => machine.with(puppet, table, act),
                Host::Batch(batch, key) => batch.with(key, table, act).expect("the key is not stale"),
            }
        }
        Act::Start => match host {
            Host::Machine(puppet, machine) => machine.start(puppet, table),
            Host::Batch(batch, key) => assert!(batch.start(key, table)),
        },
        Act::Stop => match host {
            Host::Machine(puppet, machine) => machine.stop(puppet, table),
            Host::Batch(batch, key) => assert!(batch.stop(key, table)),
        },
        Act::SetCurrent(id) => match host {
            Host::Machine(_, machine) => machine.set_current(forms.reference(*id)),
            Host::Batch(batch, key) => assert!(batch.set_current(key, forms.reference(*id))),
        },
        Act::SetPrevious(id) => match host {
            Host::Machine(_, machine) => machine.set_previous(forms.reference(*id)),
            Host::Batch(batch, key) => assert!(batch.set_previous(key, forms.reference(*id))),
        },
        Act::Wake => {
            return Some(match host {
                Host::Machine(_, machine) => machine.wake(),
                Host::Batch(batch, key) => batch.wake(key),
            });
        }
        Act::Edit => {
            let is_edited = match host {
                Host::Machine(_, machine) => {
                    machine.current_mut::<Node<2>>().map(Node::edit).is_some()
                        || machine.current_mut::<Node<3>>().map(Node::edit).is_some()
                }
                Host::Batch(batch, key) => {
                    batch.current_mut::<Node<2>>(key).map(Node::edit).is_some()
                        || batch.current_mut::<Node<3>>(key).map(Node::edit).is_some()
                }
            };
            if is_edited {
                table.reached(Corner::Edited);
            }
            return Some(is_edited);
        }
    }
    None
}

fn use_verb(verb: Verb, host: Host<'_>, forms: &'static Forms, table: &mut Table<'_>) -> Option<bool> {
    let done = match verb {
        Verb::Change(to) => call!(host.change_state(forms.reference(to); table)),
        Verb::Ensure(to) => call!(host.ensure_state(forms.reference(to); table)),
        Verb::Force(to) => call!(host.force_state(forms.reference(to); table)),
        Verb::Revert => call!(host.revert_state(; table)),
        Verb::Push(over) => call!(host.push_state(forms.reference(over); table)),
        Verb::Pop => call!(host.pop_state(; table)),
        Verb::Resume(composite) => call!(host.resume_state(forms.reference(composite); table)),
        Verb::ChangeAfter(wait, to) => call!(host.change_state_after(wait.seconds(), forms.reference(to); table)),
        Verb::ChangeNext(to) => call!(host.change_state_next(forms.reference(to); table)),
        Verb::SendAfter(wait) => call!(host.send_after(wait.seconds(), Origin::Own; table)),
        Verb::SendEvery(wait) => call!(host.send_every(wait.seconds(), Origin::Own; table)),
        Verb::Sleep(wait) => {
            match (host, wait) {
                (Host::Machine(_, machine), Wait::ForEver) => machine.sleep(),
                (Host::Machine(puppet, machine), _) => machine.sleep_for(puppet, wait.seconds(), table),
                (Host::Batch(batch, key), Wait::ForEver) => assert!(batch.sleep(key), "the key is not stale"),
                (Host::Batch(batch, key), _) => assert!(batch.sleep_for(key, wait.seconds(), table)),
            }
            return None;
        }
        // Only a handle has the others.
        _ => return None,
    };
    Some(done)
}
