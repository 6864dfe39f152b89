//! The critters do in each tick what the `switch` does from which they could have been ported.
#![expect(clippy::manual_clamp, reason = "the transcription reads as the original would")]

use std::ffi::OsString;

use crate as critters;
use critters::{
    BAT_REELS, Bat, Critter, Dead, FLOOR, GUNNER_REELS, Gunner, HOPPER_REELS, Hang, Hopper, Level, PIXEL, Reel, Stand,
    WALL, Wait,
};
use demeanor::{Agent, Batch, Key, StateMachine, StateRef};

/// A critter as C has it: the fields, and the number of the case that runs next.
#[derive(Clone)]
struct Npc {
    kind: Kind,
    action: u32,
    own: Critter,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Hopper,
    Bat,
    Gunner,
}

const KINDS: [Kind; 3] = [Kind::Hopper, Kind::Bat, Kind::Gunner];

impl Kind {
    fn reel(self) -> &'static Reel {
        match self {
            Self::Hopper => &HOPPER_REELS,
            Self::Bat => &BAT_REELS,
            Self::Gunner => &GUNNER_REELS,
        }
    }

    fn initial(self) -> StateRef<Critter> {
        match self {
            Self::Hopper => (&Wait).into(),
            Self::Bat => (&Hang).into(),
            Self::Gunner => (&Stand).into(),
        }
    }

    fn parent(self) -> StateRef<Critter> {
        match self {
            Self::Hopper => (&Hopper).into(),
            Self::Bat => (&Bat).into(),
            Self::Gunner => (&Gunner).into(),
        }
    }
}

fn near(npc: &Critter, level: &Level, pixels: i32) -> bool {
    (level.player - npc.x).abs() < pixels * PIXEL
}

fn toward_player(npc: &Critter, level: &Level) -> i32 {
    if level.player < npc.x { -1 } else { 1 }
}

/// What all kinds do when they are hit, and when they are dead.
fn act_common(npc: &mut Npc, after_reeling: u32) {
    if npc.action == 80 {
        npc.own.frame = 7;
        npc.own.count += 1;
        if npc.own.count > 12 {
            npc.own.count = 0;
            npc.action = after_reeling;
        }
    } else if npc.action == 90 {
        npc.own.frame = 9;
        npc.own.vx = 0;
        npc.action = 91;
    }
}

fn fall(npc: &mut Critter) {
    npc.vy += 3;
    if npc.vy > 90 {
        npc.vy = 90;
    }
    npc.x += npc.vx;
    if npc.x < 0 {
        npc.x = 0;
    }
    if npc.x > WALL {
        npc.x = WALL;
    }
    npc.y += npc.vy;
    npc.is_on_floor = false;
    if npc.y >= FLOOR {
        npc.y = FLOOR;
        npc.vy = 0;
        npc.is_on_floor = true;
    }
}

fn act_hopper(npc: &mut Npc, level: &mut Level) {
    // `loop` and `continue` stand for a case that falls through.
    loop {
        match npc.action {
            0 => {
                npc.action = 1;
                continue;
            }
            1 => {
                npc.own.count += 1;
                npc.own.frame = 0;
                if near(&npc.own, level, 120) {
                    npc.own.frame = 1;
                    npc.own.faces = toward_player(&npc.own, level);
                }
                if npc.own.count >= 10 && near(&npc.own, level, 80) {
                    npc.action = 2;
                    npc.own.count = 0;
                }
            }
            2 => {
                npc.own.frame = 2;
                npc.own.count += 1;
                if npc.own.count > 6 {
                    npc.action = 3;
                }
            }
            3 => {
                npc.own.frame = 3;
                npc.own.vy = -level.random(50, 70);
                npc.own.vx = npc.own.faces * level.random(10, 20);
                npc.own.is_on_floor = false;
                npc.action = 4;
                continue;
            }
            4 => {
                if npc.own.is_on_floor {
                    npc.own.vx = 0;
                    npc.own.count = 0;
                    npc.action = 1;
                }
            }
            _ => {
                act_common(npc, 1);
                if npc.action == 91 {
                    return;
                }
            }
        }
        break;
    }
    fall(&mut npc.own);
}

fn act_bat(npc: &mut Npc, level: &mut Level) {
    loop {
        match npc.action {
            0 => {
                npc.own.anchor = npc.own.y;
                npc.own.count = level.random(20, 50);
                npc.action = 1;
                continue;
            }
            1 => {
                npc.own.count -= 1;
                if npc.own.count <= 0 {
                    npc.own.faces = toward_player(&npc.own, level);
                    npc.own.vx = npc.own.faces * 12;
                    npc.own.count = 0;
                    npc.action = 2;
                }
            }
            2 => {
                npc.own.count += 1;
                npc.own.frame = npc.own.count / 4 % 2;
                npc.own.vy += if npc.own.y < npc.own.anchor { 2 } else { -2 };
                if npc.own.vy > 24 {
                    npc.own.vy = 24;
                }
                if npc.own.vy < -24 {
                    npc.own.vy = -24;
                }
                if npc.own.count > 60 && level.random(0, 7) == 0 && near(&npc.own, level, 100) {
                    npc.action = 3;
                }
            }
            3 => {
                npc.own.faces = toward_player(&npc.own, level);
                npc.own.frame = 2;
                npc.own.vx = npc.own.faces * 20;
                npc.own.vy = 40;
                npc.action = 4;
                continue;
            }
            4 => {
                if npc.own.y >= FLOOR {
                    npc.own.vy = -40;
                    npc.own.count = 0;
                    npc.action = 2;
                }
            }
            _ => {
                act_common(npc, 2);
                if npc.action == 91 {
                    return;
                }
            }
        }
        break;
    }
    if npc.own.x < 0 && npc.own.vx < 0 || npc.own.x > WALL && npc.own.vx > 0 {
        npc.own.vx = -npc.own.vx;
    }
    npc.own.x += npc.own.vx;
    npc.own.y += npc.own.vy;
}

fn act_gunner(npc: &mut Npc, level: &mut Level) {
    loop {
        match npc.action {
            0 => {
                npc.action = 10;
                continue;
            }
            10 => {
                npc.own.faces = toward_player(&npc.own, level);
                npc.own.frame = 0;
                npc.own.count += 1;
                if npc.own.count > 40 && near(&npc.own, level, 160) {
                    npc.action = 20;
                    npc.own.count = 0;
                }
            }
            20 => {
                npc.own.count += 1;
                npc.own.frame = 1;
                if npc.own.count % 8 == 0 {
                    npc.own.frame = 2;
                    level.shots.push((npc.own.x, npc.own.faces));
                }
                if npc.own.count == 24 {
                    npc.own.count = 0;
                    npc.action = 10;
                    if level.random(0, 1) == 0 {
                        npc.action = 30;
                    }
                }
            }
            30 => {
                npc.own.vx = -npc.own.faces * 24;
                npc.own.count = level.random(20, 30);
                npc.action = 31;
                continue;
            }
            31 => {
                npc.own.count -= 1;
                npc.own.frame = 3 + npc.own.count / 4 % 2;
                if npc.own.count <= 0 {
                    npc.own.vx = 0;
                    npc.action = 10;
                }
            }
            _ => {
                act_common(npc, 10);
                if npc.action == 91 {
                    return;
                }
            }
        }
        break;
    }
    fall(&mut npc.own);
}

impl Npc {
    fn act(&mut self, level: &mut Level) {
        match self.kind {
            Kind::Hopper => act_hopper(self, level),
            Kind::Bat => act_bat(self, level),
            Kind::Gunner => act_gunner(self, level),
        }
    }

    fn hit(&mut self) {
        self.own.life -= 1;
        self.own.count = 0;
        self.action = if self.own.life > 0 { 80 } else { 90 };
    }
}

/// The critters of the example, on one of the ways to run them.
#[expect(clippy::large_enum_variant, reason = "a test has one of them")]
enum Host {
    Machines(Vec<(Critter, StateMachine<Critter>)>),
    Agents(Vec<Agent<Critter>>),
    Batch(Batch<Critter>, Vec<Key>),
}

impl Host {
    fn new(way: usize, npcs: &[Npc], level: &mut Level) -> Self {
        let all = npcs.iter().map(|npc| (npc.own.clone(), StateMachine::new(npc.kind.initial())));
        match way {
            0 => {
                let mut all: Vec<_> = all.collect();
                for (critter, machine) in &mut all {
                    machine.start(critter, level);
                }
                Self::Machines(all)
            }
            1 => {
                let mut all: Vec<_> = all.map(|(critter, machine)| Agent::new(critter, machine)).collect();
                for agent in &mut all {
                    agent.start(level);
                }
                Self::Agents(all)
            }
            _ => {
                let mut batch = Batch::new();
                let keys: Vec<_> =
                    all.map(|(critter, machine)| batch.insert_machine(critter, machine).unwrap()).collect();
                for &key in &keys {
                    batch.start(key, level);
                }
                Self::Batch(batch, keys)
            }
        }
    }

    fn hit(&mut self, nth: usize, kind: Kind, level: &mut Level) {
        match self {
            Self::Machines(all) => {
                let (critter, machine) = &mut all[nth];
                let next = critter.hit(kind.reel());
                machine.change_state_next(critter, next, level);
            }
            Self::Agents(all) => {
                let next = all[nth].hit(kind.reel());
                all[nth].change_state_next(next, level);
            }
            Self::Batch(batch, keys) => {
                let next = batch.get_mut(keys[nth]).unwrap().hit(kind.reel());
                batch.change_state_next(keys[nth], next, level);
            }
        }
    }

    fn update(&mut self, level: &mut Level) {
        match self {
            Self::Machines(all) => {
                for (critter, machine) in all {
                    machine.update(critter, level);
                }
            }
            Self::Agents(all) => {
                for agent in all {
                    agent.update(level);
                }
            }
            Self::Batch(batch, _) => batch.update_in_key_order(level),
        }
    }

    fn critter(&self, nth: usize) -> &Critter {
        match self {
            Self::Machines(all) => &all[nth].0,
            Self::Agents(all) => &all[nth],
            Self::Batch(batch, keys) => batch.get(keys[nth]).unwrap(),
        }
    }

    fn is_in(&self, nth: usize, state: &StateRef<Critter>) -> bool {
        match self {
            Self::Machines(all) => all[nth].1.is_in_state(&**state),
            Self::Agents(all) => all[nth].machine().is_in_state(&**state),
            Self::Batch(batch, keys) => batch.is_in_state(keys[nth], &**state),
        }
    }
}

/// Runs both, with the same hits and the same player, and compares every field in every tick.
fn compare(way: usize, seed: u64, ticks: i32) -> u32 {
    let mut outside = oorandom::Rand32::new(seed ^ 0xabcd);
    let [mut here, mut in_c] = [Level::new(seed), Level::new(seed)];
    let mut npcs: Vec<Npc> = (0..12)
        .map(|nth| {
            let own = Critter::new(20 + 38 * nth, 30 + 5 * nth);
            Npc { kind: KINDS[outside.rand_range(0..3) as usize], action: 0, own }
        })
        .collect();
    let mut host = Host::new(way, &npcs, &mut here);
    let mut hits = 0;
    for tick in 0..ticks {
        let player = (tick * 24) % WALL;
        (here.player, in_c.player) = (player, player);
        for (nth, npc) in npcs.iter_mut().enumerate() {
            if npc.action < 90 && outside.rand_range(0..400) == 0 {
                npc.hit();
                host.hit(nth, npc.kind, &mut here);
                hits += 1;
            }
        }
        host.update(&mut here);
        for npc in &mut npcs {
            npc.act(&mut in_c);
        }
        for (nth, npc) in npcs.iter().enumerate() {
            let kind = npc.kind;
            assert_eq!(host.critter(nth), &npc.own, "way {way}, seed {seed}, tick {tick}: {kind:?} {nth}");
            let is_gone = host.is_in(nth, &(&Dead).into());
            assert_eq!(is_gone, npc.action == 91, "tick {tick}: whether {kind:?} {nth} is dead");
            assert_eq!(host.is_in(nth, &kind.parent()), !is_gone, "tick {tick}: the kind of {kind:?} {nth}");
        }
        assert_eq!(here.shots, in_c.shots, "way {way}, seed {seed}, tick {tick}");
        assert_eq!(here.dice, in_c.dice, "way {way}, seed {seed}, tick {tick}: the random numbers");
    }
    hits
}

#[test]
fn the_critters_do_what_their_switch_does() {
    for way in 0..3 {
        let hits: u32 = (0..40).map(|seed| compare(way, seed, 1500)).sum();
        assert!(hits > 500, "only {hits} hits");
    }
}

#[test]
fn the_street_is_drawn_as_on_the_page() {
    let (mut out, mut err) = (vec![], vec![]);
    let code = critters::answer(["--ticks", "400"].map(OsString::from), &mut out, &mut err);
    let printed = String::from_utf8(out).unwrap();
    assert_eq!((code, String::from_utf8(err).unwrap()), (0, String::new()));
    assert_eq!(printed, include_str!("golden/critters.txt"));
}
