//! A script at and around its limits does the same for its owner on a machine, in a batch, on all cores, and in a cast. So do regions.
#![cfg(all(feature = "script", feature = "parallel"))]

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use demeanor::definition::{Definition, ScriptBudget, Vocabulary};
use demeanor::{Agent, Batch, Cast, Owner, Telegram};
use proptest::prelude::*;

use crate::cases::cases;

/// A member of a cast, or an owner without a context.
struct Counter<C> {
    id: usize,
    /// How often the loops of its scripts turn.
    rounds: f64,
    done: f64,
    context: PhantomData<fn() -> C>,
}

impl<C: 'static> Owner for Counter<C> {
    type Context<'a> = C;
    type Message = Telegram<usize, ()>;

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "counter {}", self.id)
    }
}

type Play = Cast<usize, (), ()>;

const FILE: &str = "
    initial = 'a'
    [states.a]
    script = 'count.rhai'
    exits = [{ to = 'b', when = { script = 'done.rhai' } }]
    [states.b]
    enter_when = { script = 'may.rhai' }
    script = 'count.rhai'
    exits = [{ to = 'a', when = { script = 'done.rhai' } }]
";

fn vocabulary<C: 'static>() -> Vocabulary<Counter<C>> {
    Vocabulary::new().value("rounds", |counter: &Counter<C>, _| counter.rounds).message("shot", |_| true)
}

fn definition<C: 'static>(budget: ScriptBudget) -> Definition<Counter<C>> {
    let count = "let sum = 0; while sum < this.rounds { sum += 1; }";
    let vocabulary = vocabulary()
        .script_budget(budget)
        .field("done", |counter: &Counter<C>, _| counter.done, |counter, done| counter.done = done)
        .script(
            "count.rhai",
            format!("fn enter() {{ this.done += 0.25; }}\nfn update() {{ {count} this.done += 1.0; }}"),
        )
        .script("done.rhai", format!("{count} this.done % 3.0 > 1.5"))
        .script("may.rhai", "let sum = 0; while sum < this.rounds * 2.0 { sum += 1; } true");
    Definition::parse(FILE, &vocabulary).unwrap_or_else(|problems| panic!("{problems}"))
}

/// The state of each counter after each tick, and what it has done.
type Trace = Vec<BTreeMap<usize, (String, f64)>>;

const TICKS: usize = 8;

fn counters<C>(rounds: &[u16]) -> impl DoubleEndedIterator<Item = Counter<C>> {
    rounds.iter().enumerate().map(|(id, rounds)| Counter {
        id,
        rounds: (*rounds).into(),
        done: 0.0,
        context: PhantomData,
    })
}

fn machines(budget: ScriptBudget, rounds: &[u16]) -> Trace {
    let definition = definition::<()>(budget);
    let mut counters: Vec<_> = counters::<()>(rounds).map(|counter| (counter, definition.machine())).collect();
    let mut tick = || {
        let updated = counters.iter_mut().map(|(counter, machine)| {
            machine.update(counter, &mut ());
            (counter.id, (machine.current().unwrap().to_string(), counter.done))
        });
        updated.collect()
    };
    (0..TICKS).map(|_| tick()).collect()
}

/// With the last owner first.
fn batch(budget: ScriptBudget, rounds: &[u16], update: impl Fn(&mut Batch<Counter<()>>)) -> Trace {
    let definition = definition::<()>(budget);
    let mut batch = Batch::new();
    let keys: Vec<_> =
        counters::<()>(rounds).rev().map(|counter| batch.insert(counter, definition.initial())).collect();
    let mut tick = || {
        update(&mut batch);
        let seen = |key| (batch[key].id, (batch.state_of(key).unwrap().to_string(), batch[key].done));
        keys.iter().map(|key| seen(*key)).collect()
    };
    (0..TICKS).map(|_| tick()).collect()
}

fn cast(budget: ScriptBudget, rounds: &[u16]) -> Trace {
    let definition = definition::<Play>(budget);
    let mut cast = Play::new(());
    for counter in counters(rounds).rev() {
        cast.add(counter.id, Agent::new(counter, definition.machine())).unwrap();
    }
    let mut tick = || {
        cast.update();
        let seen = |id| {
            let agent = cast.get::<Counter<Play>>(&id).unwrap();
            (id, (agent.machine().current().unwrap().to_string(), agent.done))
        };
        (0..rounds.len()).map(seen).collect()
    };
    (0..TICKS).map(|_| tick()).collect()
}

fn on_all_hosts(budget: ScriptBudget, rounds: &[u16]) -> Trace {
    let alone = machines(budget, rounds);
    assert_eq!(batch(budget, rounds, |batch| batch.update(&mut ())), alone, "in a batch");
    assert_eq!(batch(budget, rounds, |batch| drop(batch.par_update(|_| ()))), alone, "on all cores");
    assert_eq!(cast(budget, rounds), alone, "in a cast");
    alone
}

#[test]
fn a_script_at_its_limit_does_the_same_on_all_hosts() {
    // From far below the limit of a call, over that of a callback, to far above, in an order that mixes them.
    let rounds: Vec<u16> = (0..100).map(|nth| nth * 37 % 200).collect();
    let trace = on_all_hosts(ScriptBudget::new(600, 900), &rounds);
    let ends: Vec<_> = trace[TICKS - 1].values().collect();
    // Some have never been stopped, some in the condition of an entry, some in an exit, and some in each call.
    for done in [8.75, 8.0, 3.0, 0.0] {
        assert!(ends.iter().any(|(_, end)| end.total_cmp(&done).is_eq()), "{done}: {ends:?}");
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn random_scripts_at_random_limits_do_the_same_on_all_hosts(
        rounds in prop::collection::vec(0..100_u16, 1..20),
        call in 0..500_u64,
        callback in 0..1000_u64,
    ) {
        on_all_hosts(ScriptBudget::new(call, callback), &rounds);
    }
}

#[test]
fn an_agent_and_a_member_of_a_cast_have_regions_from_a_file() {
    const FIGHT: &str = "
        initial = 'combat'
        [states.combat]
        regions = { legs = 'walk', arms = 'ready' }
        exits = [{ to = 'rest', when = 'rounds > 8' }]
        [states.walk]
        parent = 'combat'
        exits = [{ push = 'run', when = 'rounds > 2' }]
        [states.run]
        parent = 'combat'
        exits = [{ pop = true, on = 'shot' }]
        [states.ready]
        parent = 'combat'
        exits = [{ to = 'fire', when = 'rounds > 4 and in(run)' }]
        [states.fire]
        parent = 'combat'
        region = 'arms'
        exits = [{ to = 'ready', on = 'shot' }]
        [states.rest]
        final = true
    ";
    fn agent<C: 'static>(definition: &Definition<Counter<C>>) -> Agent<Counter<C>> {
        Agent::new(counters(&[0]).next().unwrap(), definition.machine())
    }
    fn active<C: 'static>(agent: &Agent<Counter<C>>) -> String {
        agent.machine().active_states().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }
    let alone = Definition::parse(FIGHT, &vocabulary::<()>()).unwrap();
    let in_cast = Definition::parse(FIGHT, &vocabulary::<Play>()).unwrap();
    let (mut soldier, mut cast) = (agent(&alone), Play::new(()));
    cast.add(0, agent(&in_cast)).unwrap();
    soldier.start(&mut ());
    cast.start();
    for (rounds, expected) in [
        (0.0, "combat walk ready"),
        (3.0, "combat run ready"),
        (5.0, "combat run fire"),
        (0.0, "combat walk ready"),
        (9.0, "rest"),
    ] {
        soldier.rounds = rounds;
        cast.get_mut::<Counter<Play>>(&0).unwrap().rounds = rounds;
        if active(&soldier) == "combat run fire" {
            soldier.send(&Telegram { sender: 1, receiver: 0, message: () }, &mut ());
            cast.send(1, 0, ());
        }
        soldier.update(&mut ());
        cast.update();
        assert_eq!(active(&soldier), expected);
        assert_eq!(active(cast.get::<Counter<Play>>(&0).unwrap()), expected);
    }
}
