//! Many timers of one owner: nothing that happens to the owner takes time for all of them (rule 31). That a machine and a batch do
//! the same with many timers is tested in `tests/equivalence`.

use allocation_counter::measure;
use demeanor::{Batch, Fsm, Key, NextWake, Owner, State, StateMachine, StateRef};

/// An owner that does what it is told in its next update.
#[derive(Clone, Default)]
struct Unit {
    told: Vec<Told>,
    heard: u32,
    /// How many timers it has been asked about when it canceled some, and how many these were.
    asked: u32,
    canceled: usize,
}

#[derive(Clone)]
enum Told {
    Send(f64, u32),
    ChangeAfter(f64),
    SendNow(u32),
    SendEvery(f64, u32),
    /// Cancels the timers whose message can be divided by this number.
    Cancel(u32),
}

impl Owner for Unit {
    type Context<'a> = f64;
    type Message = u32;

    fn now(now: &f64) -> f64 {
        *now
    }
}

/// Two states, one for each number.
struct Place<const N: usize>;

fn place(number: usize) -> StateRef<Unit> {
    if number == 0 { (&Place::<0>).into() } else { (&Place::<1>).into() }
}

impl<const N: usize> State<Unit> for Place<N> {
    fn update(&self, unit: &mut Unit, fsm: &mut Fsm<'_, Unit>, now: &mut f64) {
        for told in std::mem::take(&mut unit.told) {
            match told {
                Told::Send(seconds, message) => fsm.send_after(seconds, message),
                Told::ChangeAfter(seconds) => fsm.change_state_after(seconds, &Place::<0>),
                Told::SendEvery(seconds, message) => fsm.send_every(seconds, message),
                Told::Cancel(divisor) => {
                    unit.canceled = fsm.cancel(|pending| {
                        unit.asked += 1;
                        pending.message().is_some_and(|message| message % divisor == 0)
                    });
                }
                Told::SendNow(message) => _ = fsm.send_now(unit, &message, now),
            }
        }
    }

    fn on_message(&self, unit: &mut Unit, message: &u32, _: &mut Fsm<'_, Unit>, _: &mut f64) -> bool {
        unit.heard += 1;
        message % 4 != 0
    }
}

/// One owner, on a machine or in a batch.
enum Host {
    Machine(Unit, StateMachine<Unit>),
    Batch(Box<Batch<Unit>>, Key),
}

const HOSTS: [fn() -> Host; 2] = [Host::machine, Host::batch];

impl Host {
    fn machine() -> Self {
        let (mut unit, mut machine) = (Unit::default(), StateMachine::new(&Place::<0>));
        machine.start(&mut unit, &mut 0.0);
        Self::Machine(unit, machine)
    }

    fn batch() -> Self {
        let mut batch = Batch::new();
        let [_, key, _] = [1, 0, 0].map(|number| batch.spawn(Unit::default(), place(number), &mut 0.0));
        Self::Batch(Box::new(batch), key)
    }

    fn unit(&mut self) -> &mut Unit {
        match self {
            Self::Machine(unit, _) => unit,
            Self::Batch(batch, key) => &mut batch[*key],
        }
    }

    fn update(&mut self, mut now: f64) {
        match self {
            Self::Machine(unit, machine) => machine.update(unit, &mut now),
            Self::Batch(batch, _) => batch.update(&mut now),
        }
    }

    fn tell(&mut self, told: Vec<Told>, now: f64) {
        self.unit().told = told;
        self.update(now);
    }

    fn send(&mut self, message: u32) {
        match self {
            Self::Machine(unit, machine) => machine.send(unit, &message, &mut 0.0),
            Self::Batch(batch, key) => batch.send(*key, &message, &mut 0.0),
        };
    }

    fn send_after(&mut self, seconds: f64, message: u32) {
        match self {
            Self::Machine(unit, machine) => machine.send_after(unit, seconds, message, &mut 0.0),
            Self::Batch(batch, key) => batch.send_after(*key, seconds, message, &mut 0.0),
        };
    }

    fn change(&mut self, to: usize) {
        match self {
            Self::Machine(unit, machine) => machine.change_state(unit, place(to), &mut 0.0),
            Self::Batch(batch, key) => batch.change_state(*key, place(to), &mut 0.0),
        };
    }

    fn push(&mut self, over: usize) {
        match self {
            Self::Machine(unit, machine) => machine.push_state(unit, place(over), &mut 0.0),
            Self::Batch(batch, key) => batch.push_state(*key, place(over), &mut 0.0),
        };
    }

    fn pop(&mut self, mut now: f64) {
        match self {
            Self::Machine(unit, machine) => machine.pop_state(unit, &mut now),
            Self::Batch(batch, key) => batch.pop_state(*key, &mut now),
        };
    }

    fn next_wake(&self) -> NextWake {
        match self {
            Self::Machine(_, machine) => machine.next_wake(),
            Self::Batch(batch, key) => batch.next_wake(*key).unwrap(),
        }
    }

    /// Into a clone, and to a machine of its own and back.
    fn move_house(&mut self) {
        match self {
            Self::Machine(unit, machine) => (*unit, *machine) = (unit.clone(), machine.clone()),
            Self::Batch(batch, key) => {
                let mut clone = batch.clone();
                clone.clone_from(batch);
                let (unit, machine) = clone.remove(*key).unwrap();
                assert!(machine.digest() > 0);
                *key = clone.insert_machine(unit, machine).ok().unwrap();
                *batch = clone;
            }
        }
    }

    #[cfg(feature = "serde")]
    fn save_and_load(&mut self) {
        let book = demeanor::StateBook::<Unit>::new().with_messages().with(&Place::<0>).with(&Place::<1>);
        match self {
            Self::Machine(_, machine) => *machine = book.load(machine.save(&book, 0.0).unwrap(), 0.0).unwrap(),
            Self::Batch(batch, _) => {
                let saved = batch.save(&book, 0.0).unwrap().map_owners(Unit::clone);
                **batch = Batch::load(saved, &book, 0.0).unwrap();
            }
        }
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
    (0..count).for_each(|nth| host.send_after(later(nth), 4 * nth));
}

const COURSES: [(&str, Course); 17] = [
    ("set from outside", set_from_outside),
    ("set in one callback", set),
    ("changes set in one callback", |host, count| {
        host.tell((0..count).map(|nth| Told::ChangeAfter(later(nth))).collect(), 0.0);
    }),
    ("set over many ticks", |host, count| {
        (0..count).for_each(|nth| host.tell(vec![Told::Send(1e6, 0)], f64::from(nth) / 64.0));
    }),
    ("changes set over many ticks", |host, count| {
        (0..count).for_each(|nth| host.tell(vec![Told::ChangeAfter(1e6)], f64::from(nth) / 64.0));
    }),
    ("left all at once", |host, count| {
        set(host, count);
        host.change(1);
    }),
    ("left one by one, beside others", |host, count| {
        set_from_outside(host, count);
        for nth in 0..count as usize {
            host.tell(vec![Told::ChangeAfter(1e6)], 0.0);
            host.change(nth % 2);
        }
    }),
    ("pushed over and resumed", |host, count| {
        set(host, count);
        host.push(1);
        host.update(1.0);
        host.pop(2.0);
    }),
    ("pushed over, then messages", |host, count| {
        set(host, count);
        host.push(1);
        (0..count).for_each(|nth| host.send(nth));
        host.pop(0.0);
    }),
    ("all due at once", |host, count| {
        set(host, count);
        host.update(1e9);
    }),
    ("due one by one", |host, count| {
        set(host, count);
        (0..count).for_each(|nth| host.update(later(nth)));
        assert_eq!(host.unit().heard, count);
    }),
    ("ticks in which nothing is due", |host, count| {
        set_from_outside(host, count);
        (0..count).for_each(|_| host.update(1.0));
    }),
    ("messages", |host, count| {
        set_from_outside(host, count);
        (0..count).for_each(|nth| host.send(nth));
    }),
    ("messages to oneself, in each tick", |host, count| {
        set_from_outside(host, count);
        (0..count).for_each(|nth| host.tell(vec![Told::SendNow(nth)], 0.0));
    }),
    ("changes beside them", |host, count| {
        set_from_outside(host, count);
        for nth in 0..count as usize {
            host.change(nth % 2);
            assert!(!matches!(host.next_wake(), NextWake::Never));
        }
    }),
    ("pushes and pops beside them", |host, count| {
        set_from_outside(host, count);
        for _ in 0..count {
            host.push(1);
            host.pop(0.0);
        }
    }),
    ("cloned, inserted, saved", |host, count| {
        set_from_outside(host, count);
        host.move_house();
        #[cfg(feature = "serde")]
        host.save_and_load();
    }),
];

/// Rule 31. What is allocated counts what is copied: a call that goes over all timers of its owner copies them, or notes their
/// places.
#[test]
fn what_happens_to_an_owner_costs_the_same_however_many_timers_it_has() {
    for (name, course) in COURSES {
        for host in HOSTS {
            let [few, many] = [1000, 4000].map(|count| {
                let mut host = host();
                measure(|| course(&mut host, count))
            });
            let (bytes, times) = (many.bytes_total / few.bytes_total.max(1), many.count_total / few.count_total.max(1));
            assert!(bytes < 6 && times < 6, "{name}: {few:?} for 1000 timers, {many:?} for 4000");
        }
    }
}

/// Rule 31. A machine that went over all its timers in each of these calls would look at one three thousand million times.
#[test]
fn thirty_thousand_timers_of_one_owner_are_no_burden() {
    let no_burden =
        ["due one by one", "ticks in which nothing is due", "left one by one, beside others", "changes beside them"];
    for (_, course) in COURSES.into_iter().filter(|(name, _)| no_burden.contains(name)) {
        for host in HOSTS {
            course(&mut host(), 30_000);
        }
    }
}

/// Rule 31.
#[test]
fn the_room_of_many_timers_is_given_back_when_they_have_ended() {
    let memory = measure(|| {
        let mut host = Host::batch();
        let before = measure(|| set_from_outside(&mut host, 100_000)).bytes_current;
        assert!(before > 0);
        let ended = measure(|| host.update(1e9)).bytes_current;
        assert!(-ended > before * 9 / 10 - 600_000, "{before} bytes were taken and {ended} given back");
    });
    assert_eq!(memory.bytes_current, 0);
}

/// Of a hundred owners, each with as many as fill their vectors, so that there is no room for more.
#[test]
fn each_of_many_timers_takes_less_than_60_bytes() {
    let mut batch = Batch::new();
    let keys: Vec<_> = (0..100).map(|_| batch.spawn(Unit::default(), &Place::<0>, &mut 0.0)).collect();
    let memory = measure(|| {
        for (nth, key) in (0..1024).flat_map(|nth| keys.iter().map(move |key| (nth, *key))) {
            batch.change_state_after(key, later(nth), &Place::<1>, &mut 0.0);
        }
    });
    assert!(memory.bytes_current < 60 * 102_400, "{memory:?}");
}

/// Rule 39.
#[test]
fn to_cancel_many_timers_asks_about_each_of_them_once() {
    const COUNT: u32 = 100_000;
    for host in HOSTS {
        let mut host = host();
        set(&mut host, COUNT);
        set_from_outside(&mut host, COUNT);
        host.tell(vec![Told::Cancel(8)], 1.0);
        let unit = host.unit();
        assert_eq!((unit.asked, unit.canceled), (2 * COUNT, COUNT as usize));
        // The other half, together with as many that wait in the queue.
        let mut told: Vec<_> = (0..COUNT).map(|nth| Told::SendEvery(1.0, nth)).collect();
        told.push(Told::Cancel(1));
        host.tell(told, 1.0);
        assert_eq!(host.unit().canceled, 2 * COUNT as usize);
        host.update(later(COUNT));
        assert_eq!(host.unit().heard, 0);
    }
}

/// Rules 31 and 39.
#[test]
fn many_repeating_timers_of_one_owner_take_no_more_and_more_room() {
    for host in HOSTS {
        let mut host = host();
        // 1000 timers of 20 seconds, of which 50 are due in each second.
        for now in 0..20 {
            host.tell((0..50).map(|nth| Told::SendEvery(20.0, nth)).collect(), now.into());
        }
        let mut tick = |now: u32| {
            let before = host.unit().heard;
            host.update(now.into());
            assert_eq!(host.unit().heard - before, 50);
        };
        (20..100).for_each(&mut tick);
        let grown = measure(|| (100..200).for_each(&mut tick)).bytes_current;
        assert!(grown.abs() < 16 * 1024, "{grown}");
    }
}
