//! Many timers of one owner: that a machine and a batch do the same with them, and that nothing that happens to the owner takes time
//! for all of them (rule 31).

use allocation_counter::measure;
use demeanor::{Batch, Fsm, Key, NextWake, Owner, State, StateMachine, StateRef};
use proptest::prelude::*;

/// An owner that does what it is told in its next update.
#[derive(Clone, Default)]
struct Unit {
    told: Vec<Told>,
    heard: Vec<u32>,
}

#[derive(Clone, Debug)]
enum Told {
    Send(f64, u32),
    ChangeAfter(f64, usize),
    Change(usize),
    Push(usize),
    Pop,
    SendNow(u32),
    SleepFor(f64),
}

impl Owner for Unit {
    type Context<'a> = f64;
    type Message = u32;

    fn now(now: &f64) -> f64 {
        *now
    }
}

/// The last two are inside the one before them.
struct Place<const N: usize>;

const PLACES: usize = 5;

fn place(number: usize) -> StateRef<Unit> {
    match number % PLACES {
        0 => (&Place::<0>).into(),
        1 => (&Place::<1>).into(),
        2 => (&Place::<2>).into(),
        3 => (&Place::<3>).into(),
        _ => (&Place::<4>).into(),
    }
}

impl<const N: usize> State<Unit> for Place<N> {
    fn enter(&self, unit: &mut Unit, fsm: &mut Fsm<'_, Unit>, now: &mut f64) {
        if unit.told.len() % 3 == 2 {
            self.update(unit, fsm, now);
        }
    }

    fn update(&self, unit: &mut Unit, fsm: &mut Fsm<'_, Unit>, now: &mut f64) {
        for told in std::mem::take(&mut unit.told) {
            match told {
                Told::Send(seconds, message) => fsm.send_after(seconds, message),
                Told::ChangeAfter(seconds, to) => match to % 3 {
                    0 => fsm.change_state_after(seconds, &Place::<0>),
                    1 => fsm.change_state_after(seconds, &Place::<1>),
                    _ => fsm.change_state_after(seconds, &Place::<3>),
                },
                Told::Change(to) => fsm.change_state(place(to)),
                Told::Push(over) => fsm.push_state(place(over)),
                Told::Pop => fsm.pop_state(),
                Told::SendNow(message) => {
                    fsm.send_now(unit, &message, now);
                }
                Told::SleepFor(seconds) => fsm.sleep_for(seconds),
            }
        }
    }

    fn on_message(&self, unit: &mut Unit, message: &u32, _: &mut Fsm<'_, Unit>, _: &mut f64) -> bool {
        unit.heard.push(*message);
        message % 4 != 0
    }

    fn can_enter(&self, unit: &Unit, _: &Fsm<'_, Unit>, _: &f64) -> bool {
        unit.heard.last().is_none_or(|last| last % 7 != 3)
    }

    fn parent(&self) -> Option<StateRef<Unit>> {
        (N > 2).then(|| (&Place::<2>).into())
    }
}

/// One owner, on a machine or in a batch.
enum Host {
    Machine(Unit, StateMachine<Unit>),
    Batch(Box<Batch<Unit>>, Key, Way),
}

/// How a batch is updated.
#[derive(Clone, Copy, Debug)]
enum Way {
    Together,
    InKeyOrder,
    #[cfg(feature = "parallel")]
    Parallel,
}

const WAYS: &[Way] = &[
    Way::Together,
    Way::InKeyOrder,
    #[cfg(feature = "parallel")]
    Way::Parallel,
];

impl Host {
    fn machine() -> Self {
        let (mut unit, mut machine) = (Unit::default(), StateMachine::new(&Place::<0>));
        machine.start(&mut unit, &mut 0.0);
        Self::Machine(unit, machine)
    }

    fn batch(way: Way) -> Self {
        let mut batch = Batch::new();
        batch.spawn(Unit::default(), &Place::<3>, &mut 0.0);
        let key = batch.spawn(Unit::default(), &Place::<0>, &mut 0.0);
        batch.spawn(Unit::default(), &Place::<0>, &mut 0.0);
        Self::Batch(Box::new(batch), key, way)
    }

    fn unit(&mut self) -> &mut Unit {
        match self {
            Self::Machine(unit, _) => unit,
            Self::Batch(batch, key, _) => &mut batch[*key],
        }
    }

    fn update(&mut self, mut now: f64) {
        match self {
            Self::Machine(unit, machine) => machine.update(unit, &mut now),
            Self::Batch(batch, _, Way::Together) => batch.update(&mut now),
            Self::Batch(batch, _, Way::InKeyOrder) => batch.update_in_key_order(&mut now),
            #[cfg(feature = "parallel")]
            Self::Batch(batch, _, Way::Parallel) => {
                batch.par_update(|_| now);
            }
        }
    }

    fn tell(&mut self, told: Vec<Told>, now: f64) {
        self.unit().told = told;
        self.update(now);
    }

    fn send(&mut self, message: u32, mut now: f64) -> bool {
        match self {
            Self::Machine(unit, machine) => machine.send(unit, &message, &mut now),
            Self::Batch(batch, key, _) => batch.send(*key, &message, &mut now),
        }
    }

    fn broadcast(&mut self, message: u32, mut now: f64) {
        match self {
            Self::Machine(unit, machine) => {
                machine.send(unit, &message, &mut now);
            }
            Self::Batch(batch, _, _) => {
                batch.broadcast(&message, &mut now);
            }
        }
    }

    fn send_after(&mut self, seconds: f64, message: u32, mut now: f64) {
        match self {
            Self::Machine(unit, machine) => machine.send_after(unit, seconds, message, &mut now),
            Self::Batch(batch, key, _) => batch.send_after(*key, seconds, message, &mut now),
        };
    }

    fn change(&mut self, to: usize, mut now: f64) -> bool {
        match self {
            Self::Machine(unit, machine) => machine.change_state(unit, place(to), &mut now),
            Self::Batch(batch, key, _) => batch.change_state(*key, place(to), &mut now),
        }
    }

    fn push(&mut self, over: usize, mut now: f64) -> bool {
        match self {
            Self::Machine(unit, machine) => machine.push_state(unit, place(over), &mut now),
            Self::Batch(batch, key, _) => batch.push_state(*key, place(over), &mut now),
        }
    }

    fn pop(&mut self, mut now: f64) -> bool {
        match self {
            Self::Machine(unit, machine) => machine.pop_state(unit, &mut now),
            Self::Batch(batch, key, _) => batch.pop_state(*key, &mut now),
        }
    }

    fn wake(&mut self) -> bool {
        match self {
            Self::Machine(_, machine) => machine.wake(),
            Self::Batch(batch, key, _) => batch.wake(*key),
        }
    }

    fn next_wake(&self) -> NextWake {
        match self {
            Self::Machine(_, machine) => machine.next_wake(),
            Self::Batch(batch, key, _) => batch.next_wake(*key).unwrap(),
        }
    }

    /// Into a clone, and to a machine of its own and back.
    fn move_house(&mut self) {
        match self {
            Self::Machine(unit, machine) => (*unit, *machine) = (unit.clone(), machine.clone()),
            Self::Batch(batch, key, _) => {
                let mut clone = batch.clone();
                clone.clone_from(batch);
                let (unit, machine) = clone.remove(*key).unwrap();
                *key = clone.insert_machine(unit, machine).ok().unwrap();
                *batch = clone;
            }
        }
    }

    #[cfg(feature = "serde")]
    fn save_and_load(&mut self, now: f64) {
        let mut book = demeanor::StateBook::<Unit>::new().with_messages();
        for number in 0..PLACES {
            book = book.with(place(number));
        }
        match self {
            Self::Machine(_, machine) => *machine = book.load(machine.save(&book, now).unwrap(), now).unwrap(),
            Self::Batch(batch, _, _) => {
                let saved = batch.save(&book, now).unwrap().map_owners(Unit::clone);
                **batch = Batch::load(saved, &book, now).unwrap();
            }
        }
    }

    /// All that can be seen of it.
    fn look(&mut self) -> (Vec<u32>, String, NextWake, u64) {
        let heard = self.unit().heard.clone();
        let (state, digest) = match self {
            Self::Machine(_, machine) => (machine.current().cloned(), machine.digest()),
            Self::Batch(batch, key, _) => {
                (batch.state_of(*key).cloned(), batch.clone().remove(*key).unwrap().1.digest())
            }
        };
        (heard, format!("{state:?}"), self.next_wake(), digest)
    }
}

#[derive(Clone, Debug)]
enum Step {
    Tell(Vec<Told>),
    Send(u32),
    Broadcast(u32),
    SendAfter(f64, u32),
    Change(usize),
    Push(usize),
    Pop,
    Wake,
    Tick(f64),
    MoveHouse,
    #[cfg(feature = "serde")]
    SaveAndLoad,
}

fn told() -> impl Strategy<Value = Told> {
    let seconds = || (0..40_u8).prop_map(|quarters| f64::from(quarters) / 4.0);
    prop_oneof![
        8 => (seconds(), 0..100_u32).prop_map(|(seconds, message)| Told::Send(seconds, message)),
        8 => (seconds(), 0..PLACES).prop_map(|(seconds, to)| Told::ChangeAfter(seconds, to)),
        1 => (0..PLACES).prop_map(Told::Change),
        1 => (0..PLACES).prop_map(Told::Push),
        1 => Just(Told::Pop),
        1 => (0..100_u32).prop_map(Told::SendNow),
        1 => seconds().prop_map(Told::SleepFor),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => prop::collection::vec(told(), 0..45).prop_map(Step::Tell),
        2 => (0..100_u32).prop_map(Step::Send),
        1 => (0..100_u32).prop_map(Step::Broadcast),
        4 => (0..40_u8, 0..100_u32).prop_map(|(quarters, message)| Step::SendAfter(f64::from(quarters) / 4.0, message)),
        2 => (0..PLACES).prop_map(Step::Change),
        2 => (0..PLACES).prop_map(Step::Push),
        2 => Just(Step::Pop),
        1 => Just(Step::Wake),
        6 => (0..12_u8).prop_map(|quarters| Step::Tick(f64::from(quarters) / 4.0)),
        1 => Just(Step::MoveHouse),
        #[cfg(feature = "serde")]
        1 => Just(Step::SaveAndLoad),
    ];
    prop::collection::vec(step, 0..40)
}

fn take(step: &Step, host: &mut Host, now: &mut f64) -> bool {
    match step {
        Step::Tell(told) => host.tell(told.clone(), *now),
        Step::Send(message) => return host.send(*message, *now),
        Step::Broadcast(message) => host.broadcast(*message, *now),
        Step::SendAfter(seconds, message) => host.send_after(*seconds, *message, *now),
        Step::Change(to) => return host.change(*to, *now),
        Step::Push(over) => return host.push(*over, *now),
        Step::Pop => return host.pop(*now),
        Step::Wake => return host.wake(),
        Step::Tick(seconds) => {
            *now += seconds;
            host.update(*now);
        }
        Step::MoveHouse => host.move_house(),
        #[cfg(feature = "serde")]
        Step::SaveAndLoad => host.save_and_load(*now),
    }
    true
}

/// Rules 19 and 25, with so many timers that they are kept in another way than a few.
#[test]
fn many_timers_of_one_owner_come_in_a_batch_as_on_a_machine() {
    proptest!(|(steps in steps())| {
        for &way in WAYS {
            let (mut machine, mut batch) = (Host::machine(), Host::batch(way));
            let (mut now, mut too) = (0.0, 0.0);
            for (nth, step) in steps.iter().enumerate() {
                let was_done = take(step, &mut machine, &mut now);
                prop_assert_eq!(take(step, &mut batch, &mut too), was_done, "step {}, {:?}", nth, way);
                prop_assert_eq!(batch.look(), machine.look(), "after step {}, {:?}: {:?}", nth, way, step);
            }
        }
    });
}

/// Rules 19 and 25.
#[test]
fn the_many_timers_of_a_state_end_when_its_owners_leave_it_together() {
    let mut batch = Batch::new();
    let told: Vec<_> = (0..40).map(|number| Told::Send(5.0, number)).collect();
    let keys = [0, 1].map(|_| batch.insert(Unit { told: told.clone(), ..Unit::default() }, &Place::<0>));
    // So that the batch knows the state, and the changes are made in bulk.
    batch.insert(Unit::default(), &Place::<1>);
    batch.update(&mut 0.0);
    for key in keys {
        batch.get_mut(key).unwrap().told = vec![Told::Change(1)];
    }
    batch.update(&mut 1.0);
    batch.update(&mut 9.0);
    for key in keys {
        assert!(batch.is_in_state(key, &Place::<1>));
        assert_eq!(batch.get(key).unwrap().heard, [0; 0]);
    }
}

/// What happens to an owner with timers, as often as it has timers, or to as many timers as it has.
type Course = fn(&mut Host, u32);

fn later(nth: u32) -> f64 {
    1000.0 + f64::from(nth)
}

/// Sets timers of the state, in one callback.
fn set(host: &mut Host, count: u32) {
    host.tell((0..count).map(|nth| Told::Send(later(nth), 4 * nth)).collect(), 0.0);
}

/// Sets timers of the machine, one by one.
fn set_from_outside(host: &mut Host, count: u32) {
    (0..count).for_each(|nth| host.send_after(later(nth), 4 * nth, 0.0));
}

const COURSES: [(&str, Course); 17] = [
    ("set from outside", set_from_outside),
    ("set in one callback", set),
    ("changes set in one callback", |host, count| {
        host.tell((0..count).map(|nth| Told::ChangeAfter(later(nth), 0)).collect(), 0.0);
    }),
    ("set over many ticks", |host, count| {
        (0..count).for_each(|nth| host.tell(vec![Told::Send(1e6, 0)], f64::from(nth) / 64.0));
    }),
    ("changes set over many ticks", |host, count| {
        (0..count).for_each(|nth| host.tell(vec![Told::ChangeAfter(1e6, 0)], f64::from(nth) / 64.0));
    }),
    ("left all at once", |host, count| {
        set(host, count);
        host.change(1, 0.0);
    }),
    ("left one by one, beside others", |host, count| {
        set_from_outside(host, count);
        for nth in 0..count as usize {
            host.tell(vec![Told::ChangeAfter(1e6, 0)], 0.0);
            host.change(nth % 2, 0.0);
        }
    }),
    ("pushed over and resumed", |host, count| {
        set(host, count);
        host.push(1, 0.0);
        host.update(1.0);
        host.pop(2.0);
    }),
    ("pushed over, then messages", |host, count| {
        set(host, count);
        host.push(1, 0.0);
        (0..count).for_each(|nth| {
            host.send(nth, 0.0);
        });
        host.pop(0.0);
    }),
    ("all due at once", |host, count| {
        set(host, count);
        host.update(1e9);
    }),
    ("due one by one", |host, count| {
        set(host, count);
        (0..count).for_each(|nth| host.update(later(nth)));
        assert_eq!(host.unit().heard.len(), count as usize);
    }),
    ("ticks in which nothing is due", |host, count| {
        set_from_outside(host, count);
        (0..count).for_each(|_| host.update(1.0));
    }),
    ("messages", |host, count| {
        set_from_outside(host, count);
        (0..count).for_each(|nth| {
            host.send(nth, 0.0);
        });
    }),
    ("messages to oneself, in each tick", |host, count| {
        set_from_outside(host, count);
        (0..count).for_each(|nth| host.tell(vec![Told::SendNow(nth)], 0.0));
    }),
    ("changes beside them", |host, count| {
        set_from_outside(host, count);
        for nth in 0..count as usize {
            host.change(nth % 2, 0.0);
            assert!(!matches!(host.next_wake(), NextWake::Never));
        }
    }),
    ("pushes and pops beside them", |host, count| {
        set_from_outside(host, count);
        for _ in 0..count {
            host.push(1, 0.0);
            host.pop(0.0);
        }
    }),
    ("cloned, inserted, saved", |host, count| {
        set_from_outside(host, count);
        host.move_house();
        #[cfg(feature = "serde")]
        host.save_and_load(0.0);
        host.look();
    }),
];

/// Rule 31. What is allocated counts what is copied: a call that goes over all timers of its owner copies them, or notes their
/// places.
#[test]
fn what_happens_to_an_owner_costs_the_same_however_many_timers_it_has() {
    let hosts: [fn() -> Host; 2] = [Host::machine, || Host::batch(Way::Together)];
    for (name, course) in COURSES {
        for host in hosts {
            let [few, many] = [1000, 4000].map(|count| {
                let mut host = host();
                measure(|| course(&mut host, count))
            });
            let (bytes, times) = (many.bytes_total / few.bytes_total.max(1), many.count_total / few.count_total.max(1));
            assert!(bytes < 6 && times < 6, "{name}: {few:?} for 1000 timers, {many:?} for 4000");
        }
    }
}

/// Rule 31. A machine that went over all its timers in each of these calls would look at one thirty thousand million times.
#[test]
fn a_hundred_thousand_timers_of_one_owner_are_no_burden() {
    let hosts: [fn() -> Host; 2] = [Host::machine, || Host::batch(Way::Together)];
    let no_burden =
        ["due one by one", "ticks in which nothing is due", "left one by one, beside others", "changes beside them"];
    for (_, course) in COURSES.into_iter().filter(|(name, _)| no_burden.contains(name)) {
        for host in hosts {
            course(&mut host(), 100_000);
        }
    }
}

/// Rule 31.
#[test]
fn the_room_of_many_timers_is_given_back_when_they_have_ended() {
    let memory = measure(|| {
        let mut host = Host::batch(Way::Together);
        let before = measure(|| set_from_outside(&mut host, 100_000)).bytes_current;
        assert!(before > 0);
        let ended = measure(|| host.update(1e9)).bytes_current;
        host.unit().heard = Vec::new();
        assert!(-ended > before * 9 / 10 - 600_000, "{before} bytes were taken and {ended} given back");
    });
    assert_eq!(memory.bytes_current, 0);
}

/// Of a thousand owners, each with as many as fill their vectors, so that there is no room for more.
#[test]
fn each_of_many_timers_takes_less_than_60_bytes() {
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..1000).map(|_| batch.spawn(Unit::default(), &Place::<0>, &mut 0.0)).collect();
    let memory = measure(|| {
        for (nth, key) in (0..1024).flat_map(|nth| keys.iter().map(move |key| (nth, *key))) {
            batch.change_state_after(key, later(nth), &Place::<1>, &mut 0.0);
        }
    });
    assert!(memory.bytes_current < 60 * 1_024_000, "{memory:?}");
}
