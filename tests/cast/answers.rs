//! The chapter "Messages": a telegram that has room for an answer, which sender and receiver share.

use std::sync::{Arc, OnceLock};

use demeanor::{Agent, Cast, Delivery, Fsm, Owner, State, StateMachine, Telegram};

type Answer = Arc<OnceLock<u32>>;
type Market = Cast<&'static str, Answer, Vec<String>>;

#[derive(Default)]
struct Trader {
    /// The answer of a telegram that was put off.
    later: Answer,
}

impl Owner for Trader {
    type Context<'a> = Market;
    type Message = Telegram<&'static str, Answer>;
}

/// Asks the merchant, the bank and himself, as soon as he comes.
struct Ask;
impl State<Trader> for Ask {
    fn enter(&self, trader: &mut Trader, fsm: &mut Fsm<'_, Trader>, market: &mut Market) {
        for receiver in ["merchant", "bank", "trader", "nobody"] {
            let answer = Answer::default();
            let delivery = market.send("trader", receiver, answer.clone());
            market.world.push(format!("{receiver}: {delivery:?}, {:?}", answer.get()));
            if delivery == Delivery::PutOff {
                trader.later = answer;
            }
        }
        let answer = Answer::default();
        let delivery = market
            .rejoin(&"trader", trader, fsm, |market| market.send("trader", "trader", answer.clone()))
            .expect("a callback of the trader");
        market.world.push(format!("rejoined: {delivery:?}, {:?}", answer.get()));
    }

    fn on_message(
        &self,
        _: &mut Trader,
        telegram: &Telegram<&'static str, Answer>,
        _: &mut Fsm<'_, Trader>,
        _: &mut Market,
    ) -> bool {
        telegram.message.set(7).is_ok()
    }
}

struct Sell;
impl State<Trader> for Sell {
    fn on_message(
        &self,
        _: &mut Trader,
        telegram: &Telegram<&'static str, Answer>,
        _: &mut Fsm<'_, Trader>,
        _: &mut Market,
    ) -> bool {
        telegram.message.set(3).is_ok()
    }
}

struct Closed;
impl State<Trader> for Closed {}

#[test]
fn an_answer_is_there_as_soon_as_the_telegram_has_been_delivered() {
    let mut market = Market::new(vec![]);
    let trader = |state: StateMachine<Trader>| Agent::new(Trader::default(), state);
    market.spawn("merchant", trader(StateMachine::new(&Sell))).expect("a new key");
    market.spawn("bank", trader(StateMachine::new(&Closed))).expect("a new key");
    market.spawn("trader", trader(StateMachine::new(&Ask))).expect("a new key");
    assert_eq!(
        market.world,
        [
            "merchant: Handled, Some(3)",
            "bank: Declined, None",
            "trader: PutOff, None",
            "nobody: UnknownReceiver, None",
            "rejoined: Handled, Some(7)",
        ]
    );
    // It has been delivered when the turn was over.
    assert_eq!(market.get::<Trader>(&"trader").expect("he is not acting").later.get(), Some(&7));
}
