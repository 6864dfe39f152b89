//! The states of villagers.

use demeanor::{Fsm, State, StateBook};
use serde::{Deserialize, Serialize};

use crate::villager::{Day, Letter, Trade, Villager};

/// The global state: all villagers grow old and hungry, read their mail, and have children.
pub(crate) struct Life;
pub(crate) struct Work;
/// Waits for goods that are in the mail.
pub(crate) struct Market;
pub(crate) struct Travel;
pub(crate) struct Rest;
/// The clerk of a village gives each newborn child a unique id.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Office {
    /// Each clerk counts in steps from a different number, so that no two clerks give the same id.
    pub(crate) next_id: u64,
}

const GROWN: u32 = 60;
const OLD: u32 = 500;
const STARVED: u32 = 24;
/// The coins that each child gets.
const DOWRY: i64 = 30;

impl State<Villager> for Life {
    fn update(&self, villager: &mut Villager, _: &mut Fsm<'_, Villager>, day: &mut Day<'_>) {
        if villager.is_clerk() {
            return;
        }
        villager.age += 1;
        villager.hunger += 1;
        let bread = Trade::Baker as usize;
        if villager.hunger >= 6 {
            if villager.goods[bread] > 0 {
                villager.goods[bread] -= 1;
                villager.hunger = 0;
            } else if villager.hunger.is_multiple_of(4) {
                villager.order(Trade::Baker, day);
            }
        }
        let mut random = day.post.random(villager);
        // A message to a villager that is gone is lost. The next order goes to another villager.
        for &gone in &*day.post.returned(villager).to_vec() {
            if let Some(nth) = villager.sellers.iter().position(|seller| *seller == gone) {
                // Another acquaintance may sell the goods, or know a seller.
                villager.sellers[nth] = villager.sellers[(nth + 1) % 3];
            }
        }
        let dies = villager.age > OLD && random.rand_range(0..20) == 0 || villager.hunger > STARVED;
        if dies {
            let (heir, of, coins) = (villager.sellers[0], villager.trade, villager.coins);
            day.post.send(villager, heir, Letter::Refund { of, coins, ask: heir });
            day.post.remove(villager);
        } else if villager.age > GROWN && villager.coins > DOWRY + 10 && random.rand_range(0..100) == 0 {
            villager.coins -= DOWRY;
            day.post.send(villager, Villager::clerk_of(villager.village), Letter::Expecting { parent: villager.id });
        }
    }

    fn on_message(
        &self,
        villager: &mut Villager,
        letter: &Letter,
        _: &mut Fsm<'_, Villager>,
        day: &mut Day<'_>,
    ) -> bool {
        match *letter {
            Letter::Order { of, from, coins } => {
                let count = u32::try_from(coins / of.price()).unwrap_or(0).min(villager.goods[of as usize]);
                if of == villager.trade && count > 0 {
                    villager.goods[of as usize] -= count;
                    let paid = i64::from(count) * of.price();
                    villager.coins += paid;
                    day.post.send(villager, from, Letter::Goods { of, count });
                    if coins > paid {
                        let refund = Letter::Refund { of, coins: coins - paid, ask: villager.id };
                        day.post.send(villager, from, refund);
                    }
                } else {
                    let ask = villager.sellers[of as usize];
                    day.post.send(villager, from, Letter::Refund { of, coins, ask });
                }
            }
            Letter::Goods { of, count } => villager.goods[of as usize] += count,
            Letter::Refund { of, coins, ask } => {
                villager.coins += coins;
                if ask != villager.id {
                    villager.sellers[of as usize] = ask;
                }
            }
            Letter::Greeting { trade, id } => villager.sellers[trade as usize] = id,
            Letter::Named { id } => {
                let trade = match day.post.random_for(villager, 4).rand_range(0..3) {
                    0 => Trade::Farmer,
                    1 => Trade::Baker,
                    _ => Trade::Smith,
                };
                let child = Villager { id, trade, age: 0, hunger: 0, coins: DOWRY, ..villager.clone() };
                for seller in villager.sellers {
                    day.post.send(&child, seller, Letter::Greeting { trade, id });
                }
                day.post.spawn(child, &Rest);
            }
            // These letters are for clerks.
            Letter::Expecting { .. } => return false,
        }
        true
    }
}

impl State<Villager> for Office {
    fn on_message(
        &self,
        clerk: &mut Villager,
        letter: &Letter,
        fsm: &mut Fsm<'_, Villager>,
        day: &mut Day<'_>,
    ) -> bool {
        if let Letter::Expecting { parent } = *letter {
            day.post.send(clerk, parent, Letter::Named { id: self.next_id });
            fsm.change_state(Box::new(Self { next_id: self.next_id + u64::from(day.villages) }));
        }
        true
    }
}

impl State<Villager> for Work {
    fn enter(&self, _: &mut Villager, fsm: &mut Fsm<'_, Villager>, _: &mut Day<'_>) {
        fsm.change_state_after(5.0, &Rest);
    }

    fn update(&self, villager: &mut Villager, fsm: &mut Fsm<'_, Villager>, day: &mut Day<'_>) {
        let (made, needs) = (villager.trade as usize, villager.trade.needs());
        let random = day.post.random_for(villager, 1).rand_range(0..40);
        if villager.goods[needs as usize] == 0 {
            if villager.order(needs, day) {
                fsm.change_state(&Market);
            } else {
                // A poor villager earns a coin by manual work.
                villager.coins += 1;
            }
            return;
        }
        // Tools last for a while; grain is used up at once.
        if villager.trade != Trade::Farmer || random < 2 {
            villager.goods[needs as usize] -= 1;
        }
        villager.goods[made] = (villager.goods[made] + if villager.trade == Trade::Smith { 1 } else { 3 }).min(60);
        if random == 7 {
            fsm.change_state(&Travel);
        }
    }
}

impl State<Villager> for Market {
    fn enter(&self, _: &mut Villager, fsm: &mut Fsm<'_, Villager>, _: &mut Day<'_>) {
        fsm.change_state_after(4.0, &Work);
    }

    fn update(&self, villager: &mut Villager, fsm: &mut Fsm<'_, Villager>, _: &mut Day<'_>) {
        if villager.goods[villager.trade.needs() as usize] > 0 {
            fsm.change_state(&Work);
        }
    }
}

impl State<Villager> for Travel {
    fn enter(&self, _: &mut Villager, fsm: &mut Fsm<'_, Villager>, _: &mut Day<'_>) {
        fsm.change_state_after(2.0, &Rest);
    }

    fn exit(&self, villager: &mut Villager, _: &mut Fsm<'_, Villager>, day: &mut Day<'_>) {
        // The villager moves to a village nearby, or to another part of the nation.
        let mut random = day.post.random_for(villager, 2);
        let far = if random.rand_range(0..10) == 0 { u64::from(day.villages) } else { 4 };
        let steps = u32::try_from(random.rand_range(1..far.max(2))).unwrap_or(1);
        villager.village = (villager.village + steps) % day.villages;
    }
}

impl State<Villager> for Rest {
    fn enter(&self, villager: &mut Villager, fsm: &mut Fsm<'_, Villager>, day: &mut Day<'_>) {
        let days = day.post.random_for(villager, 3).rand_range(2..6);
        fsm.change_state_after(f64::from(u32::try_from(days).unwrap_or(2)), &Work);
        fsm.sleep();
    }
}

pub(crate) fn book() -> StateBook<Villager> {
    StateBook::new()
        .with(&Life)
        .with(&Work)
        .with(&Market)
        .with(&Travel)
        .with(&Rest)
        .with_owned::<Office>()
        .with_messages()
}
