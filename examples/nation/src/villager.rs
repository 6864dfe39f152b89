//! A villager: its property, its acquaintances, and its letters.

use std::hash::Hash;

use demeanor::{DigestHasher, Owner};
use demeanor_world::{Citizen, Post};
use serde::{Deserialize, Serialize};

/// The number of regions of the nation. The villages of a region are neighbors.
pub(crate) const REGIONS: u32 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Trade {
    Farmer,
    Baker,
    Smith,
}

impl Trade {
    pub(crate) const ALL: [Self; 3] = [Self::Farmer, Self::Baker, Self::Smith];

    /// Returns the price in coins of this trade's goods.
    pub(crate) fn price(self) -> i64 {
        match self {
            Self::Farmer => 2,
            Self::Baker => 5,
            Self::Smith => 20,
        }
    }

    /// Returns the trade whose goods are needed to work in this trade.
    pub(crate) fn needs(self) -> Self {
        match self {
            Self::Farmer => Self::Smith,
            Self::Baker | Self::Smith => Self::Farmer,
        }
    }
}

/// The letters between villagers. Goods have the name of the trade that makes them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Letter {
    /// An order of goods, with the coins.
    Order {
        of: Trade,
        from: u64,
        coins: i64,
    },
    Goods {
        of: Trade,
        count: u32,
    },
    /// The coins are returned, because there are no goods. Another seller may have them.
    Refund {
        of: Trade,
        coins: i64,
        ask: u64,
    },
    /// A newborn villager of this trade introduces itself.
    Greeting {
        trade: Trade,
        id: u64,
    },
    /// To the clerk of the village: a child will be born.
    Expecting {
        parent: u64,
    },
    /// The clerk's answer: the child's id.
    Named {
        id: u64,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Villager {
    pub(crate) id: u64,
    pub(crate) village: u32,
    pub(crate) trade: Trade,
    pub(crate) age: u32,
    pub(crate) hunger: u32,
    pub(crate) coins: i64,
    /// The amount of each trade's goods that it has.
    pub(crate) goods: [u32; 3],
    /// The seller of each trade's goods.
    pub(crate) sellers: [u64; 3],
}

/// The context of a callback: the day, the nation, the post.
pub(crate) struct Day<'a> {
    pub(crate) number: u64,
    pub(crate) villages: u32,
    pub(crate) post: &'a mut Post<Villager>,
}

impl Owner for Villager {
    type Context<'a> = Day<'a>;
    type Message = Letter;

    #[expect(clippy::cast_precision_loss, reason = "days are few")]
    fn now(day: &Day<'_>) -> f64 {
        day.number as f64
    }
}

impl Citizen for Villager {
    fn id(&self) -> u64 {
        self.id
    }

    fn home(&self) -> u32 {
        self.village
    }

    fn digest(&self, hasher: &mut DigestHasher) {
        self.hash(hasher);
    }
}

impl Villager {
    /// Returns one of the first villagers, which are numbered from 0, with the trades in turns.
    pub(crate) fn first(id: u64, village: u32, villagers: u64) -> Self {
        let third = |nth: u64| (id + 3 * (nth + 7)) / 3 * 3 % (villagers / 3 * 3).max(3);
        Self {
            id,
            village,
            trade: Trade::ALL[(id % 3) as usize],
            age: (id % 50) as u32 * 8,
            hunger: (id % 3) as u32,
            coins: 60,
            goods: [3; 3],
            sellers: [0, 1, 2].map(|trade| third(trade * 11) + trade),
        }
    }

    /// Returns the id of a village's clerk. Clerks are counted from the top, far from the other villagers.
    pub(crate) fn clerk_of(village: u32) -> u64 {
        u64::MAX - u64::from(village)
    }

    /// Returns a clerk, who stays in the village and lives as long as the nation.
    pub(crate) fn clerk(village: u32) -> Self {
        Self {
            id: Self::clerk_of(village),
            village,
            trade: Trade::Farmer,
            age: 0,
            hunger: 0,
            coins: 0,
            goods: [0; 3],
            sellers: [0; 3],
        }
    }

    pub(crate) fn is_clerk(&self) -> bool {
        self.id >= Self::clerk_of(u32::MAX)
    }

    pub(crate) fn region(&self, villages: u32) -> u32 {
        // With 64 bits, because the product may be too large for 32.
        u32::try_from(u64::from(self.village) * u64::from(REGIONS) / u64::from(villages)).unwrap_or(0)
    }

    /// Buys goods by mail. Returns whether there are enough coins.
    pub(crate) fn order(&mut self, of: Trade, day: &mut Day<'_>) -> bool {
        if self.coins < of.price() {
            return false;
        }
        let coins = of.price() * (self.coins / 4 / of.price()).clamp(1, 5);
        self.coins -= coins;
        day.post.send(self, self.sellers[of as usize], Letter::Order { of, from: self.id, coins });
        true
    }
}
