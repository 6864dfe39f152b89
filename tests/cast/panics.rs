//! Rule 22 for casts: after a panic in any code of the game, no member is lost, and the cast continues.

use std::cell::Cell;
use std::cmp::Ordering;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use demeanor::{Agent, Cast, Delivery, Dispatcher, Fsm, Owner, State, StateMachine, Telegram};

use crate::captured_log::{log_lines, on_record};

thread_local! {
    /// The piece of code that panics, and after how many more calls.
    static ARMED: Cell<Option<(&'static str, u32)>> = const { Cell::new(None) };
    static CITIZENS: Cell<i32> = const { Cell::new(0) };
}

/// Panics if `piece` is armed and its count has run out, without calling the panic hook. A second panic during unwinding would
/// end the process, so there is none.
fn trip(piece: &str) {
    if let Some((armed, left)) = ARMED.get()
        && armed == piece
        && !std::thread::panicking()
    {
        ARMED.set(left.checked_sub(1).map(|left| (armed, left)));
        if left == 0 {
            resume_unwind(Box::new("tripped"));
        }
    }
}

/// The key of a member.
struct Name(u8);

impl Clone for Name {
    fn clone(&self) -> Self {
        trip("key.clone");
        Self(self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        trip("key.debug");
        write!(f, "{}", self.0)
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        trip("key.cmp");
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        trip("key.eq");
        self.0 == other.0
    }
}

impl Eq for Name {}

struct Word(u8);

impl PartialEq for Word {
    fn eq(&self, other: &Self) -> bool {
        trip("message.eq");
        self.0 == other.0
    }
}

impl Drop for Word {
    fn drop(&mut self) {
        trip("message.drop");
    }
}

/// The world counts how often each member has been updated.
type Town = Cast<Name, Word, [u32; 6]>;

struct Citizen(u8);

impl Citizen {
    fn new(number: u8) -> Self {
        CITIZENS.set(CITIZENS.get() + 1);
        Self(number)
    }
}

impl Default for Citizen {
    fn default() -> Self {
        trip("owner.default");
        Self::new(u8::MAX)
    }
}

impl Drop for Citizen {
    fn drop(&mut self) {
        CITIZENS.set(CITIZENS.get() - 1);
        trip("owner.drop");
    }
}

impl Owner for Citizen {
    type Context<'a> = Town;
    type Message = Telegram<Name, Word>;

    fn now(town: &Town) -> f64 {
        trip("now");
        town.now()
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        trip("label");
        write!(f, "{}", self.0)
    }
}

#[derive(Clone)]
struct Own(#[expect(dead_code, reason = "gives it a size")] u8);

impl Drop for Own {
    fn drop(&mut self) {
        trip("state.drop");
    }
}

struct Talk;

impl State<Citizen> for Own {
    fn update(&self, citizen: &mut Citizen, fsm: &mut Fsm<'_, Citizen>, town: &mut Town) {
        town.world[usize::from(citizen.0)] += 1;
        fsm.change_state(&Talk);
    }
}

impl State<Citizen> for Talk {
    fn update(&self, citizen: &mut Citizen, fsm: &mut Fsm<'_, Citizen>, town: &mut Town) {
        let me = citizen.0;
        town.world[usize::from(me)] += 1;
        let other = || Name((me + 1) % 4);
        town.send(Name(me), Name(me), Word(1));
        town.post(Name(me), other(), Word(1));
        town.send_after(1.0, Name(me), other(), Word(2));
        town.send_after(1.0, Name(me), other(), Word(2));
        _ = town.rejoin(&Name(me), citizen, fsm, |town| {
            town.send(Name(me), other(), Word(3));
            town.send(Name(me), Name(me), Word(3));
            town.send(Name(me), Name(77), Word(3));
        });
        fsm.change_state(Box::new(Own(me)));
    }

    fn on_message(
        &self,
        citizen: &mut Citizen,
        telegram: &Telegram<Name, Word>,
        _: &mut Fsm<'_, Citizen>,
        town: &mut Town,
    ) -> bool {
        if telegram.message.0 == 3 {
            town.send(Name(citizen.0), Name(telegram.sender.0), Word(4));
        }
        telegram.message.0 != 4
    }
}

const PIECES: [&str; 13] = [
    "key.clone",
    "key.debug",
    "key.cmp",
    "key.eq",
    "message.eq",
    "message.drop",
    "owner.default",
    "owner.drop",
    "state.drop",
    "now",
    "label",
    "logger.enabled",
    "logger.log",
];

/// Returns what the game does in a tick.
fn acts() -> [fn(&mut Town); 7] {
    [
        |town| town.update(),
        |town| {
            town.send(Name(9), Name(0), Word(3));
            _ = town.report(&Name(0), town);
            _ = format!("{town:?}");
        },
        |town| town.advance(Duration::from_secs(1)),
        |town| drop(town.deliver_due()),
        |town| {
            _ = town.with::<Citizen, _>(&Name(1), |citizen, town| {
                town.send(Name(1), Name(1), Word(1));
                citizen.change_state(Box::new(Own(1)), town);
                citizen.change_state(&Talk, town);
            });
        },
        |town| drop(town.spawn(Name(4), Agent::new(Citizen::new(4), StateMachine::new(&Talk)))),
        |town| {
            town.with::<Citizen, _>(&Name(4), |_, town| {
                town.send(Name(4), Name(4), Word(1));
                town.dismiss(&Name(4));
            })
            .ok();
        },
    ]
}

/// Checks that all members exist, and that everything works with each of them.
fn is_in_order(town: &mut Town) {
    let keys: Vec<_> = town.keys().map(|name| name.0).collect();
    assert!(keys == [0, 1, 2, 3] || keys == [0, 1, 2, 3, 4], "{keys:?}");
    assert_eq!(town.len(), keys.len());
    assert_eq!(
        town.iter::<Citizen>().map(|(name, citizen)| (name.0, citizen.0)).filter(|(a, b)| a == b).count(),
        keys.len()
    );
    let live = i32::try_from(keys.len()).expect("they are few");
    assert_eq!(CITIZENS.get(), live, "nobody is kept who is no member");
    for key in &keys {
        assert!(town.contains(&Name(*key)) && !town.is_acting(&Name(*key)));
        assert!(town.get::<Citizen>(&Name(*key)).is_ok());
        let delivery = town.send(Name(9), Name(*key), Word(1));
        let is_talking = town.is_in_state::<Citizen, _>(&Name(*key), &Talk);
        assert_eq!(delivery, if is_talking { Delivery::Handled } else { Delivery::Declined });
    }
    let before = town.world;
    town.update();
    let updated: Vec<_> = before.iter().zip(&town.world).map(|(before, after)| after - before).collect();
    assert!(keys.iter().all(|key| updated[usize::from(*key)] == 1), "each is updated once: {updated:?}");
    town.advance(Duration::from_secs(10));
    town.deliver_due();
    assert!(town.dispatcher().is_empty());
    let (name, word) = (Name(1), Word(2));
    town.send_after(1.0, name, Name(2), word);
    town.send_after(1.0, Name(1), Name(2), Word(2));
    assert_eq!(town.dispatcher().len(), 1, "alike telegrams are still merged");
}

/// Each piece panics at each of its calls in turn.
#[test]
fn whatever_panics_in_a_cast_no_member_is_lost_and_it_goes_on() {
    on_record(trip);
    let mut panics = 0;
    for piece in PIECES {
        for nth in 0.. {
            CITIZENS.set(0);
            let mut town = Town::new([0; 6]).with_dispatcher(Dispatcher::merging_within(0.5));
            for key in 0..4 {
                assert!(town.add(Name(key), Agent::new(Citizen::new(key), StateMachine::new(&Talk))).is_ok());
            }
            let mut has_panicked = false;
            ARMED.set(Some((piece, nth)));
            'ticks: for _ in 0..2 {
                for (of, act) in acts().into_iter().enumerate() {
                    let mut result = Ok(());
                    log_lines(|| result = catch_unwind(AssertUnwindSafe(|| act(&mut town))));
                    if let Err(payload) = result {
                        assert_eq!(payload.downcast_ref(), Some(&"tripped"), "{piece} {nth} in act {of}");
                        has_panicked = true;
                        break 'ticks;
                    }
                }
            }
            ARMED.set(None);
            if !has_panicked {
                break;
            }
            let checked = catch_unwind(AssertUnwindSafe(|| is_in_order(&mut town)));
            assert!(checked.is_ok(), "after call {nth} of {piece} has panicked");
            panics += 1;
        }
    }
    on_record(|_| ());
    assert!(panics > 500, "{panics}");
}
