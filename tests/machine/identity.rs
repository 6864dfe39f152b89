//! The chapter "Identity": rule 17, and the kinds of references to states.

use std::collections::HashSet;
use std::marker::PhantomData;
use std::sync::Arc;

use demeanor::{Agent, Fsm, Owner, State, StateMachine, StateRef};

#[derive(Clone, Default)]
struct Guard {
    steps: Vec<u32>,
}

impl Owner for Guard {
    type Context<'a> = ();
    type Message = ();
}

#[derive(Clone)]
struct Idle;
impl State<Guard> for Idle {}

/// A state of size zero, with a type for each `K`.
struct Hunt<K>(PhantomData<K>);
impl<K: Send + Sync + 'static> State<Guard> for Hunt<K> {}

struct Wolf;
struct Bear;

/// A state with a size.
struct GoTo {
    x: i32,
}
impl State<Guard> for GoTo {}

static NORTH: GoTo = GoTo { x: 1 };
static SOUTH: GoTo = GoTo { x: -1 };
static SOUTH_AGAIN: GoTo = GoTo { x: -1 };

/// An owned state.
#[derive(Clone, Debug, PartialEq)]
struct Patrol {
    route: Vec<u32>,
}

impl State<Guard> for Patrol {
    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, (): &mut ()) {
        guard.steps.extend(&self.route);
    }
}

fn patrol(route: &[u32]) -> StateRef<Guard> {
    Box::new(Patrol { route: route.to_vec() }).into()
}

mod elsewhere {
    use demeanor::StateRef;

    pub(crate) fn idle() -> StateRef<super::Guard> {
        StateRef::from(&super::Idle)
    }
}

/// Rule 17.
#[test]
fn two_references_are_to_one_state_or_to_two() {
    static WOLF: Hunt<Wolf> = Hunt(PhantomData);
    static BEAR: Hunt<Bear> = Hunt(PhantomData);
    struct Outer {
        inner: GoTo,
    }
    impl State<Guard> for Outer {}
    static OUTER: Outer = Outer { inner: GoTo { x: 0 } };
    struct Named<const N: u8>;
    impl<const N: u8> State<Guard> for Named<N> {
        fn name(&self) -> std::borrow::Cow<'_, str> {
            "Named".into()
        }
    }
    let (shared, own) = (Arc::new(GoTo { x: 3 }), patrol(&[1]));
    let cases: [(&str, StateRef<Guard>, StateRef<Guard>, bool); 17] = [
        ("a unit struct here and elsewhere", (&Idle).into(), elsewhere::idle(), true),
        ("a unit struct behind its trait", (&Idle).into(), (&Idle as &'static dyn State<Guard>).into(), true),
        ("a unit struct that is shared", (&Idle).into(), Arc::new(Idle).into(), true),
        ("a unit struct that is boxed", (&Idle).into(), Box::new(Idle).into(), true),
        ("a unit struct that is boxed twice", Box::new(Idle).into(), Box::new(Idle).into(), true),
        ("two types without a size", (&WOLF).into(), (&BEAR).into(), false),
        ("two types without a size and of two names", (&WOLF).into(), (&Idle).into(), false),
        ("one type without a size", (&WOLF).into(), (&Hunt::<Wolf>(PhantomData)).into(), true),
        ("two types of one name", (&Named::<1>).into(), (&Named::<2>).into(), false),
        ("a static", (&NORTH).into(), (&NORTH).into(), true),
        ("two statics of one type", (&NORTH).into(), (&SOUTH).into(), false),
        ("two statics with equal data", (&SOUTH).into(), (&SOUTH_AGAIN).into(), false),
        ("a field at the same address", (&OUTER).into(), (&OUTER.inner).into(), false),
        ("shared by two", shared.clone().into(), (shared.clone() as Arc<dyn State<Guard>>).into(), true),
        ("shared with equal data", shared.into(), Arc::new(GoTo { x: 3 }).into(), false),
        ("owned and its clone", own.clone(), own.clone(), true),
        ("owned with equal data", own.clone(), patrol(&[1]), false),
    ];
    for (what, first, second, is_same) in cases {
        assert_eq!(first == second, is_same, "{what}");
        assert_eq!(first.is_owned(), what.starts_with("owned"), "{what}");
        let machine = StateMachine::new(first.clone());
        assert!(machine.is_in_state(&*first), "{what}");
        assert_eq!(machine.is_in_state(&*second), is_same, "{what}");
    }
    assert!(StateMachine::new(elsewhere::idle()).is_in_state(&Idle));
    assert!(StateMachine::new(elsewhere::idle()).is_in_state::<dyn State<Guard>>(&Idle));
    assert!(StateMachine::<Guard>::new(&NORTH).is_in::<GoTo>() && StateMachine::new(own).is_in::<Patrol>());
    let wolf = StateMachine::<Guard>::new(&WOLF);
    assert!(wolf.is_in::<Hunt<Wolf>>() && !wolf.is_in::<Hunt<Bear>>());
}

/// Rule 17.
#[test]
fn an_owned_state_that_is_edited_is_a_new_state_and_previous_keeps_the_old_one() {
    let old = patrol(&[1]);
    let mut guard = Guard::default();
    let mut machine = StateMachine::new(&Idle);
    machine.change_state(&mut guard, old.clone(), &mut ());
    machine.change_state(&mut guard, old.clone(), &mut ());
    assert_eq!(machine.previous(), Some(&old));

    machine.current_mut::<Patrol>().unwrap().route.push(2);
    assert_ne!(machine.current(), Some(&old));
    assert_eq!(machine.previous(), Some(&old));
    assert_eq!(old.downcast_ref::<Patrol>(), Some(&Patrol { route: vec![1] }));
    machine.update(&mut guard, &mut ());
    assert_eq!(guard.steps, [1, 2]);

    assert!(machine.revert_state(&mut guard, &mut ()));
    assert_eq!(machine.current(), Some(&old));
}

/// Rules 16 and 17.
#[test]
fn history_keeps_the_owned_state_as_it_was_left() {
    struct Duty;
    impl State<Guard> for Duty {
        fn keeps_history(&self) -> bool {
            true
        }
    }
    #[derive(Clone)]
    struct Beat(u32);
    impl State<Guard> for Beat {
        fn parent(&self) -> Option<StateRef<Guard>> {
            Some((&Duty).into())
        }
    }

    let mut guard = Guard::default();
    let mut machine = StateMachine::new(Box::new(Beat(1)));
    machine.change_state(&mut guard, &Idle, &mut ());
    assert!(machine.resume_state(&mut guard, &Duty, &mut ()));
    machine.current_mut::<Beat>().unwrap().0 = 2;
    // The machine has not left this state yet, so the history still refers to the state that it left before.
    machine.set_current(&Idle);
    assert!(machine.resume_state(&mut guard, &Duty, &mut ()));
    assert_eq!(machine.current().unwrap().downcast_ref::<Beat>().unwrap().0, 1);
}

/// Rule 17.
#[test]
fn editing_after_a_clone_edits_one_machines_state_only() {
    let mut guard = Guard::default();
    let prefab = StateMachine::new(patrol(&[7]));
    let mut first = prefab.clone();
    let mut second = prefab.clone();
    assert_eq!(first.current(), second.current());

    first.current_mut::<Patrol>().unwrap().route = vec![8];
    assert_ne!(first.current(), second.current());
    first.update(&mut guard, &mut ());
    second.update(&mut guard, &mut ());
    assert_eq!(guard.steps, [8, 7]);
    assert_eq!(second.current(), prefab.current());
    second.current_mut::<Patrol>().unwrap().route.clear();
    assert_eq!(prefab.current().unwrap().downcast_ref::<Patrol>().unwrap().route, [7]);
}

/// Rule 17.
#[test]
fn editing_what_nobody_else_refers_to_copies_nothing() {
    #[derive(Default)]
    struct Counted {
        value: u32,
        clones: u32,
    }
    impl Clone for Counted {
        fn clone(&self) -> Self {
            Self { value: self.value, clones: self.clones + 1 }
        }
    }
    impl State<Guard> for Counted {}

    let mut machine = StateMachine::<Guard>::new(Box::new(Counted::default()));
    machine.current_mut::<Counted>().unwrap().value = 5;
    let edited = machine.current_mut::<Counted>().unwrap();
    assert_eq!((edited.value, edited.clones), (5, 0));
    let _snapshot = machine.clone();
    assert_eq!(machine.current_mut::<Counted>().unwrap().clones, 1);
}

/// Rule 17: only an owned state can be edited, and only as its own type.
#[test]
fn what_is_shared_or_of_another_type_is_not_lent_for_editing() {
    assert!(StateMachine::<Guard>::new(&NORTH).current_mut::<GoTo>().is_none());
    assert!(StateMachine::<Guard>::new(Arc::new(GoTo { x: 1 })).current_mut::<GoTo>().is_none());
    assert!(StateMachine::new(patrol(&[1])).current_mut::<GoTo>().is_none());
    assert!(StateMachine::new(patrol(&[1])).current_mut::<Patrol>().is_some());
    assert!(StateMachine::<Guard>::new(Box::new(Idle)).current_mut::<Idle>().is_none());
    assert!(StateMachine::<Guard>::idle().current_mut::<Patrol>().is_none());
}

/// Rule 17.
#[test]
fn a_hash_agrees_with_identity() {
    let own = patrol(&[1]);
    let states: HashSet<StateRef<Guard>> = [
        StateRef::from(&Idle),
        elsewhere::idle(),
        StateRef::from(&NORTH),
        StateRef::from(&SOUTH),
        StateRef::from(&NORTH),
        own.clone(),
        own,
        patrol(&[1]),
    ]
    .into_iter()
    .collect();
    assert_eq!(states.len(), 5);
}

#[test]
fn a_state_can_be_asked_what_it_is() {
    let machine = StateMachine::new(patrol(&[4]));
    let current = machine.current().unwrap();
    assert!(current.is::<Patrol>());
    assert!(!current.is::<Idle>());
    assert_eq!(current.downcast_ref::<Patrol>(), Some(&Patrol { route: vec![4] }));
    assert!(current.downcast_ref::<GoTo>().is_none());

    let machine = StateMachine::<Guard>::new(&SOUTH);
    assert_eq!(machine.current().unwrap().downcast_ref::<GoTo>().unwrap().x, -1);
}

#[test]
fn a_state_is_written_by_its_name() {
    let hunt = StateRef::<Guard>::from(&Hunt::<Wolf>(PhantomData));
    assert_eq!(hunt.name(), "Hunt<Wolf>");
    assert_eq!(format!("{hunt:?}"), "Hunt<Wolf>");
    assert_eq!(format!("{hunt:>12}|"), "  Hunt<Wolf>|");
    let machine = StateMachine::<Guard>::new(&Idle);
    assert_eq!(format!("{machine:?}"), r"StateMachine { current: Idle, previous: (no state), global: (no state), .. }");
}

#[test]
fn machines_and_states_go_to_other_threads() {
    fn goes_anywhere<T: Send + Sync>() {}

    /// An owner that cannot be sent to another thread. Its machine can.
    struct Homebody(PhantomData<*const ()>);
    impl Owner for Homebody {
        type Context<'a> = ();
        type Message = ();
    }

    goes_anywhere::<StateRef<Guard>>();
    goes_anywhere::<StateMachine<Guard>>();
    goes_anywhere::<Agent<Guard>>();
    goes_anywhere::<StateRef<Homebody>>();
    goes_anywhere::<StateMachine<Homebody>>();
}

/// The size of a machine matters to games with a million of them.
#[test]
#[cfg(target_pointer_width = "64")]
fn a_machine_takes_56_bytes() {
    assert_eq!(size_of::<StateMachine<Guard>>(), 56);
    assert_eq!(size_of::<StateRef<Guard>>(), 16);
}
