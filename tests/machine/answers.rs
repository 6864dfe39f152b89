//! The chapter "Messages": a message that has room for an answer, which is there when the call returns.

use std::sync::OnceLock;

use demeanor::{Agent, Fsm, Owner, State, StateMachine, StateRef};
#[cfg(feature = "std")]
use demeanor::{Batch, GameTime};

/// A merchant, with the answers that he has given himself.
#[derive(Default)]
struct Merchant {
    bread: u32,
    told_himself: Vec<Option<u32>>,
}

enum Told {
    Price { loaves: u32, price: OnceLock<u32> },
    Order { price: OnceLock<u32> },
}

impl Told {
    fn price(loaves: u32) -> Self {
        Self::Price { loaves, price: OnceLock::new() }
    }

    fn answer(&self) -> Option<u32> {
        let (Self::Price { price, .. } | Self::Order { price }) = self;
        price.get().copied()
    }
}

impl Owner for Merchant {
    type Context<'a> = ();
    type Message = Told;
}

struct Shop;
struct Open;
struct Closed;

/// Answers what his innermost state leaves to him.
impl State<Merchant> for Shop {
    fn on_message(&self, merchant: &mut Merchant, told: &Told, _: &mut Fsm<'_, Merchant>, (): &mut ()) -> bool {
        match told {
            Told::Price { loaves, price } => price.set(loaves * merchant.bread).is_ok(),
            Told::Order { .. } => false,
        }
    }
}

impl State<Merchant> for Open {
    fn parent(&self) -> Option<StateRef<Merchant>> {
        Some((&Shop).into())
    }

    /// Asks himself for the price, answers with it and a tenth more, and closes.
    fn on_message(&self, merchant: &mut Merchant, told: &Told, fsm: &mut Fsm<'_, Merchant>, cx: &mut ()) -> bool {
        let Told::Order { price } = told else { return false };
        let asked = Told::price(10);
        let is_handled = fsm.send_now(merchant, &asked, cx);
        merchant.told_himself.push(asked.answer());
        fsm.change_state(&Closed);
        is_handled && price.set(asked.answer().unwrap_or(0) * 11 / 10).is_ok()
    }
}

impl State<Merchant> for Closed {}

/// Sends an order and two questions: to an open shop, then to a closed one.
fn asked(mut send: impl FnMut(&Told) -> bool) -> Vec<(bool, Option<u32>)> {
    let messages = [Told::price(3), Told::Order { price: OnceLock::new() }, Told::price(3)];
    messages.iter().map(|told| (send(told), told.answer())).collect()
}

const ANSWERS: [(bool, Option<u32>); 3] = [(true, Some(6)), (true, Some(22)), (false, None)];

#[test]
fn an_answer_is_in_the_message_when_the_call_returns() {
    let (mut merchant, mut machine) = (Merchant { bread: 2, ..Merchant::default() }, StateMachine::new(&Open));
    assert_eq!(asked(|told| machine.send(&mut merchant, told, &mut ())), ANSWERS);
    assert_eq!(merchant.told_himself, [Some(20)]);

    let mut agent = Agent::new(Merchant { bread: 2, ..Merchant::default() }, StateMachine::new(&Open));
    assert_eq!(asked(|told| agent.send(told, &mut ())), ANSWERS);
    assert_eq!(agent.told_himself, [Some(20)]);
}

#[cfg(feature = "std")]
#[test]
fn an_owner_of_a_batch_answers_in_the_message_too() {
    let mut batch = Batch::new();
    let keys = [2, 4].map(|bread| batch.insert(Merchant { bread, ..Merchant::default() }, &Open));
    assert_eq!(asked(|told| batch.send(keys[0], told, &mut ())), ANSWERS);
    assert_eq!(batch[keys[0]].told_himself, [Some(20)]);
    let told = [Told::price(1), Told::price(1)];
    assert_eq!(batch.send_each(keys.into_iter().zip(&told), &mut ()), 1, "the first shop is closed");
    assert_eq!(told.map(|told| told.answer()), [None, Some(4)]);
}

/// A character that asks itself a question which waits in the queue, or for a time.
#[cfg(feature = "std")]
mod later {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    #[derive(Default)]
    struct Sage(Vec<Arc<OnceLock<u32>>>);

    impl Owner for Sage {
        type Context<'a> = GameTime;
        type Message = Arc<OnceLock<u32>>;

        fn now(time: &GameTime) -> f64 {
            time.total().as_secs_f64()
        }
    }

    struct Think;
    impl State<Sage> for Think {
        fn enter(&self, sage: &mut Sage, fsm: &mut Fsm<'_, Sage>, _: &mut GameTime) {
            sage.0 = vec![Arc::default(), Arc::default()];
            fsm.send(sage.0[0].clone());
            fsm.send_after(5.0, sage.0[1].clone());
            assert_eq!((sage.0[0].get(), sage.0[1].get()), (None, None));
        }

        fn on_message(
            &self,
            _: &mut Sage,
            answer: &Arc<OnceLock<u32>>,
            _: &mut Fsm<'_, Sage>,
            _: &mut GameTime,
        ) -> bool {
            answer.set(42).is_ok()
        }
    }

    #[test]
    fn a_shared_answer_is_there_when_the_message_has_been_handled() {
        let (mut batch, mut time) = (Batch::new(), GameTime::new());
        let sage = batch.spawn(Sage::default(), &Think, &mut time);
        let answers =
            |batch: &Batch<Sage>| batch[sage].0.iter().map(|answer| answer.get().copied()).collect::<Vec<_>>();
        assert_eq!(answers(&batch), [Some(42), None]);
        time.advance(Duration::from_secs(5));
        batch.update(&mut time);
        assert_eq!(answers(&batch), [Some(42), Some(42)]);
    }
}
