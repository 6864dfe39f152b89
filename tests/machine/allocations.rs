//! A machine with static states does not allocate once it is running.

use std::hint::black_box;

use allocation_counter::measure;
use demeanor::{Change, Fsm, Owner, State, StateMachine, StateRef};

#[derive(Default)]
struct Sentry {
    ticks: u32,
    entered: u32,
    handled: u32,
    changes: u32,
}

enum Told {
    Noise,
    Silence,
}

impl Owner for Sentry {
    type Context<'a> = f64;
    type Message = Told;

    fn now(clock: &f64) -> f64 {
        *clock
    }

    fn on_change(&mut self, change: &Change<'_, Self>, _: &mut f64) {
        self.changes += u32::from(change.is_taken());
    }
}

/// A global state.
struct Always;

impl State<Sentry> for Always {
    fn update(&self, sentry: &mut Sentry, fsm: &mut Fsm<'_, Sentry>, clock: &mut f64) {
        sentry.ticks += 1;
        if sentry.ticks % 7 == 0 && fsm.time_in_state(clock) >= 0.0 {
            fsm.change_state(&CHASE);
        }
    }

    fn on_message(&self, sentry: &mut Sentry, message: &Told, fsm: &mut Fsm<'_, Sentry>, _: &mut f64) -> bool {
        sentry.handled += 1;
        if matches!(message, Told::Noise) {
            fsm.change_state(&CHASE);
        }
        true
    }
}

type Update = fn(&mut Sentry, &mut Fsm<'_, Sentry>, &mut f64);

/// A state with a given update and a given place among the states.
struct Post {
    update: Update,
    around: Option<&'static Post>,
    opens_on: Option<&'static Post>,
}

impl Post {
    const fn new(update: Update) -> Self {
        Self { update, around: None, opens_on: None }
    }

    const fn inside(mut self, around: &'static Self) -> Self {
        self.around = Some(around);
        self
    }

    const fn opening_on(mut self, initial: &'static Self) -> Self {
        self.opens_on = Some(initial);
        self
    }

    fn is(&self, other: &'static Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl State<Sentry> for Post {
    fn enter(&self, sentry: &mut Sentry, _: &mut Fsm<'_, Sentry>, _: &mut f64) {
        sentry.entered += u32::from(self.is(&IDLE));
    }

    fn update(&self, sentry: &mut Sentry, fsm: &mut Fsm<'_, Sentry>, clock: &mut f64) {
        (self.update)(sentry, fsm, clock);
    }

    fn can_enter(&self, sentry: &Sentry, _: &Fsm<'_, Sentry>, _: &f64) -> bool {
        !self.is(&LOCKED) || sentry.ticks % 2 == 0
    }

    fn parent(&self) -> Option<StateRef<Sentry>> {
        self.around.map(Into::into)
    }

    fn initial(&self) -> Option<StateRef<Sentry>> {
        self.opens_on.map(Into::into)
    }

    fn keeps_history(&self) -> bool {
        self.is(&KITCHEN)
    }
}

static IDLE: Post = Post::new(|_, fsm, _| fsm.change_state(&PATROL));
/// Makes two requests in one callback.
static PATROL: Post = Post::new(|_, fsm, _| {
    fsm.change_state(&LOCKED);
    fsm.change_state(&IDLE);
});
static CHASE: Post = Post::new(|sentry, fsm, clock| {
    fsm.revert_state();
    fsm.change_state_now(sentry, &IDLE, clock);
});
/// A state whose guard sometimes refuses.
static LOCKED: Post = Post::new(|_, _, _| ());

/// Three levels. The innermost states request changes in `update`.
static HOUSE: Post = Post::new(|_, _, _| ()).opening_on(&KITCHEN);
static KITCHEN: Post = Post::new(|_, _, _| ()).inside(&HOUSE).opening_on(&STOVE);
static STOVE: Post = Post::new(|_, fsm, _| fsm.change_state(&TABLE)).inside(&KITCHEN);
static TABLE: Post = Post::new(|_, fsm, _| fsm.change_state(&HALL)).inside(&KITCHEN);
static HALL: Post = Post::new(|sentry, fsm, _| {
    sentry.ticks += 1;
    if sentry.ticks % 2 == 0 { fsm.resume_state(&KITCHEN) } else { fsm.change_state(&HOUSE) }
})
.inside(&HOUSE);

/// Six states, each inside the one before.
static LEVELS: [Post; 6] = [
    COUNT,
    COUNT.inside(&LEVELS[0]),
    COUNT.inside(&LEVELS[1]),
    COUNT.inside(&LEVELS[2]),
    COUNT.inside(&LEVELS[3]),
    COUNT.inside(&LEVELS[4]),
];
const COUNT: Post = Post::new(|sentry, _, _| sentry.ticks += 1);

/// Returns how many allocations `act` makes on this thread.
fn allocations(act: impl FnOnce()) -> u64 {
    measure(act).count_total
}

#[test]
fn what_is_allocated_is_counted() {
    // `black_box` prevents the optimizer from removing the allocation.
    assert_eq!(allocations(|| drop(black_box(Box::new(7)))), 1);
    assert_eq!(allocations(|| drop(black_box(StateRef::<Sentry>::from(std::sync::Arc::new(Always))))), 2);
}

#[test]
fn a_machine_on_flat_static_states_never_allocates() {
    let mut sentry = Sentry::default();
    let mut clock = 0.0;
    let mut machines = [StateMachine::new(&IDLE).with_global(&Always), StateMachine::new(&IDLE)];
    let count = allocations(|| {
        let [machine, snapshot] = &mut machines;
        machine.start(&mut sentry, &mut clock);
        for _ in 0..1000 {
            clock += 1.0;
            machine.update(&mut sentry, &mut clock);
            assert!(machine.send(&mut sentry, &Told::Silence, &mut clock));
        }
        assert!(machine.send(&mut sentry, &Told::Noise, &mut clock));
        assert!(machine.is_in_state(&CHASE));
        assert!(machine.revert_state(&mut sentry, &mut clock));
        assert!(machine.change_state(&mut sentry, &IDLE, &mut clock));
        drop(black_box(snapshot.clone()));
        machine.stop(&mut sentry, &mut clock);
    });
    assert_eq!(count, 0);
    // A global state needs one allocation, in a clone, too.
    assert_eq!(allocations(|| drop(black_box(StateMachine::new(&IDLE).with_global(&Always)))), 1);
    assert_eq!(allocations(|| drop(black_box(machines[0].clone()))), 1);
    let [machine, copy] = &mut machines;
    *copy = machine.clone();
    assert_eq!(allocations(|| copy.clone_from(machine)), 0);
    assert_eq!((sentry.ticks, sentry.handled), (1000, 1001));
    assert!(sentry.changes > 1000 && sentry.entered > 500, "{} {}", sentry.changes, sentry.entered);
}

#[test]
fn an_idle_machine_never_allocates() {
    let mut sentry = Sentry::default();
    let count = allocations(|| {
        let mut machine = StateMachine::<Sentry>::idle();
        machine.update(&mut sentry, &mut 0.0);
        assert!(!machine.send(&mut sentry, &Told::Noise, &mut 0.0));
        assert!(!machine.revert_state(&mut sentry, &mut 0.0));
    });
    assert_eq!(count, 0);
}

#[test]
fn nested_static_states_allocate_nothing_once_each_has_been_entered() {
    let mut sentry = Sentry::default();
    let mut machine = StateMachine::new(&IDLE);
    machine.change_state(&mut sentry, &HOUSE, &mut 0.0);
    machine.change_state(&mut sentry, &HALL, &mut 0.0);
    let before = sentry.changes;
    let count = allocations(|| {
        for _ in 0..1000 {
            machine.update(&mut sentry, &mut 0.0);
            machine.send(&mut sentry, &Told::Noise, &mut 0.0);
        }
        assert!(machine.change_state(&mut sentry, &IDLE, &mut 0.0));
        assert!(machine.revert_state(&mut sentry, &mut 0.0));
        assert!(machine.revert_state(&mut sentry, &mut 0.0));
        assert!(machine.revert_state(&mut sentry, &mut 0.0));
    });
    assert_eq!(count, 0);
    assert_eq!(sentry.changes - before, 1004);
}

#[cfg(feature = "std")]
#[test]
fn owners_of_a_batch_in_nested_static_states_allocate_nothing_once_there_is_room_for_all() {
    let mut batch = demeanor::Batch::new().with_global(&Always);
    let keys: Vec<_> = (0..50).map(|ticks| batch.insert(Sentry { ticks, ..Sentry::default() }, &HOUSE)).collect();
    let mut rounds = |count: usize| {
        for round in 0..count {
            batch.update(&mut 0.0);
            let key = keys[round % keys.len()];
            batch.send(key, &Told::Noise, &mut 0.0);
            batch.change_state(key, &HALL, &mut 0.0);
            batch.change_state(key, &IDLE, &mut 0.0);
            batch.change_state(key, &HOUSE, &mut 0.0);
        }
        batch.iter().map(|(_, sentry)| sentry.changes).sum::<u32>()
    };
    let before = rounds(1000);
    let mut after = 0;
    assert_eq!(allocations(|| after = rounds(1000)), 0);
    assert!(after - before > 20_000, "{before} {after}");
}

#[test]
fn shared_and_owned_states_are_allocated_when_made_and_never_again() {
    #[derive(Clone)]
    struct GoTo(u32);
    impl State<Sentry> for GoTo {
        fn update(&self, sentry: &mut Sentry, _: &mut Fsm<'_, Sentry>, _: &mut f64) {
            sentry.ticks += self.0;
        }
    }

    let mut sentry = Sentry::default();
    let shared = StateRef::from(std::sync::Arc::new(GoTo(1)));
    let owned = StateRef::from(Box::new(GoTo(2)));
    let mut machine = StateMachine::new(&IDLE);
    let count = allocations(|| {
        for _ in 0..100 {
            machine.change_state(&mut sentry, shared.clone(), &mut 0.0);
            machine.update(&mut sentry, &mut 0.0);
            machine.change_state(&mut sentry, owned.clone(), &mut 0.0);
            machine.update(&mut sentry, &mut 0.0);
            machine.revert_state(&mut sentry, &mut 0.0);
        }
    });
    assert_eq!(count, 0);
    assert_eq!(sentry.ticks, 300);
}

/// Counts only the allocations on the calling thread. The other thread runs the same code.
#[cfg(feature = "parallel")]
#[test]
fn a_parallel_tick_allocates_nothing_but_its_contexts_once_there_is_room() {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, Ordering};

    use demeanor::{Batch, FsmSlice};

    struct Drone(u32);
    impl Owner for Drone {
        type Context<'a> = ();
        type Message = ();
    }

    /// While this is set, all chunks but the first one wait for each other, so that each thread gets some. Debug builds always
    /// use both threads.
    static ARE_WAITING: AtomicBool = AtomicBool::new(false);
    static BOTH: Barrier = Barrier::new(2);

    struct Up;
    struct Down;
    impl State<Drone> for Up {
        fn update(&self, drone: &mut Drone, fsm: &mut Fsm<'_, Drone>, (): &mut ()) {
            drone.0 += 1;
            fsm.change_state(&Down);
        }

        fn update_all(&self, drones: &mut [Drone], fsm: &mut FsmSlice<'_, Drone>, cx: &mut ()) {
            if ARE_WAITING.load(Ordering::Relaxed) && drones[0].0 > 0 {
                BOTH.wait();
            }
            for (i, drone) in drones.iter_mut().enumerate() {
                self.update(drone, fsm.at(i), cx);
            }
        }
    }
    impl State<Drone> for Down {
        fn update(&self, drone: &mut Drone, fsm: &mut Fsm<'_, Drone>, (): &mut ()) {
            drone.0 += 1;
            if drone.0 % 8 < 3 {
                fsm.change_state(&Up);
            }
        }
    }

    for threads in [1, 2] {
        let mut batch = Batch::new();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            for _ in 0..4 {
                // Five chunks, in each of which owners are removed.
                let keys: Vec<_> = batch.keys().collect();
                for key in keys {
                    batch.remove(key);
                }
                batch.extend((0..5 * 2048).map(|number| (Drone(number), &Up)));
                ARE_WAITING.store(threads == 2, Ordering::Relaxed);
                batch.par_update(|_| ());
            }
            ARE_WAITING.store(false, Ordering::Relaxed);
            let mut ticks = |count: usize| (0..count).map(|_| batch.par_update(|_| ()).len()).sum::<usize>();
            ticks(50);
            // Which thread takes which buffer depends on the threads. A buffer that has had small chunks only grows with the first
            // large one, so that a later round may allocate once more.
            let mut contexts = 0;
            let rounds = 0..if threads == 1 { 1 } else { 10 };
            let counts: Vec<_> = rounds.map(|_| allocations(|| contexts = ticks(50))).collect();
            assert!(counts.contains(&0), "on {threads} threads: {counts:?}");
            assert!(contexts >= 250, "{contexts}");
        });
        assert!(batch.iter().map(|(_, drone)| u64::from(drone.0)).sum::<u64>() > 5 * 2048 * 100);
    }
}

/// An owned state, either alone or inside six others.
#[derive(Clone)]
struct Own {
    is_deep: bool,
}

impl State<Sentry> for Own {
    fn update(&self, sentry: &mut Sentry, _: &mut Fsm<'_, Sentry>, _: &mut f64) {
        sentry.ticks += 1;
    }

    fn parent(&self) -> Option<StateRef<Sentry>> {
        self.is_deep.then(|| (&LEVELS[5]).into())
    }
}

/// Creates owners in flat states, in states nested six deep, and in owned states that are flat or inside six others.
#[cfg(feature = "std")]
fn flat_deep_and_owned() -> (demeanor::Batch<Sentry>, Vec<demeanor::Key>) {
    let mut batch = demeanor::Batch::new();
    let mut clock = 1.0;
    let states: [StateRef<Sentry>; 4] = [
        (&LOCKED).into(),
        (&LEVELS[5]).into(),
        Box::new(Own { is_deep: false }).into(),
        Box::new(Own { is_deep: true }).into(),
    ];
    let keys = states.map(|state| {
        let key = batch.insert(Sentry::default(), &IDLE);
        assert!(batch.change_state(key, state, &mut clock));
        key
    });
    (batch, keys.into())
}

#[cfg(feature = "std")]
#[test]
fn questions_about_an_owner_of_a_batch_allocate_nothing() {
    let (mut batch, keys) = flat_deep_and_owned();
    batch.update(&mut 2.0);
    let idle = StateRef::from(&IDLE);
    let mut answers = Vec::with_capacity(100);
    let count = allocations(|| {
        for &key in &keys {
            let own = batch.state_of(key).unwrap();
            let path = batch.path(key).unwrap();
            answers.push((
                path.clone().count(),
                path.rev().take_while(|state| **state != StateRef::from(&LEVELS[0])).count(),
                batch.is_in_state(key, &**own) && batch.contains_key(key) && batch.get(key).is_some(),
                batch.is_in_state(key, &LEVELS[1]),
                batch.is_in::<Own>(key),
                batch.time_in_state(key, &5.0),
                batch.time_in(key, &LEVELS[2], &6.0),
                batch.previous_of(key) == Some(&idle),
                batch.owners_in(&**own).len(),
            ));
        }
    });
    assert_eq!(count, 0);
    assert_eq!(
        answers,
        [
            (1, 1, true, false, false, Some(4.0), None, true, 1),
            (6, 5, true, true, false, Some(4.0), Some(5.0), true, 1),
            (1, 1, true, false, true, Some(4.0), None, true, 1),
            (7, 6, true, true, true, Some(4.0), Some(5.0), true, 1),
        ]
    );
}

#[test]
fn an_update_of_an_owned_state_six_ancestors_deep_allocates_nothing() {
    let mut machine = StateMachine::new(Box::new(Own { is_deep: true }));
    let mut sentry = Sentry::default();
    assert_eq!(allocations(|| (0..10).for_each(|_| machine.update(&mut sentry, &mut 0.0))), 0);
    assert_eq!(sentry.ticks, 10 * 7);
}

#[cfg(feature = "std")]
#[test]
fn an_update_of_many_owned_states_six_ancestors_deep_allocates_nothing() {
    let mut batch = demeanor::Batch::new();
    for _ in 0..100 {
        batch.insert(Sentry::default(), Box::new(Own { is_deep: true }));
    }
    let count = allocations(|| {
        for _ in 0..10 {
            batch.update(&mut 0.0);
            batch.update_part(0, 1, &mut 0.0);
        }
    });
    assert_eq!(count, 0);
    assert!(batch.iter().all(|(_, sentry)| sentry.ticks == 20 * 7));
}
