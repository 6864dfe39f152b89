//! The tables at the end: the fates of each kind, and how its creatures have spent their time.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use super::creature::{Creature, Side, Told};
use super::game::Game;
use super::world::TICKS_PER_SECOND;

/// The width of the column of kinds.
const NAME: usize = 13;

pub(crate) fn write(game: &Game, seed: u64, out: &mut dyn Write) -> io::Result<()> {
    let states: usize = game.kinds.iter().map(|kind| kind.definition.states().len()).sum();
    let (creatures, kinds, halls) = (game.crowd.len(), game.kinds.len(), game.world.halls.count());
    let (ticks, minutes) = (game.world.tick, game.world.seconds() / 60.0);
    writeln!(out, "{creatures} creatures of {kinds} kinds with {states} states, in {halls} halls")?;
    writeln!(out, "{ticks} ticks at {TICKS_PER_SECOND} a second ({minutes:.1} minutes), seed {seed}")?;
    write_fates(game, out)?;
    write_events(game, out)?;
    write_shares(game, out)?;
    write_states(game, out)?;
    writeln!(out, "\nchecksum {:016x}", checksum(game))
}

/// Writes how many creatures live, lie dead, and are gone; and how many they have killed.
fn write_fates(game: &Game, out: &mut dyn Write) -> io::Result<()> {
    let titles =
        ["side", "began", "live", "dead", "gone", "kills", "raised"].map(|title| format!("{title:>8}")).concat();
    writeln!(out, "\n{:NAME$}{titles}", "")?;
    for (kind, Row { side, creatures }) in rows(game) {
        let count = |is: fn(&Creature) -> bool| creatures.iter().filter(|creature| is(creature)).count();
        let [live, gone] = [count(Creature::is_alive), count(|creature| creature.is_gone)];
        let dead = creatures.len() - live - gone;
        let kills: u32 = creatures.iter().map(|creature| creature.kills).sum();
        let raised: u32 = creatures.iter().map(|creature| creature.raised).sum();
        let (side, began) = (format!("{side:?}").to_lowercase(), creatures.len());
        writeln!(out, "{kind:NAME$}{side:>8}{began:>8}{live:>8}{dead:>8}{gone:>8}{kills:>8}{raised:>8}")?;
    }
    Ok(())
}

/// Writes how often each message was sent, and how often it was handled.
fn write_events(game: &Game, out: &mut dyn Write) -> io::Result<()> {
    let titles = Told::NAMES.map(|name| format!("{name:>16}")).concat();
    writeln!(out, "\n{:NAME$}{titles}", "heeded/told")?;
    for (kind, counts) in game.kinds.iter().zip(&game.counts) {
        let cells = counts.told.map(|(times, heeded)| format!("{:>16}", format!("{heeded}/{times}"))).concat();
        writeln!(out, "{:NAME$}{cells}", kind.name)?;
    }
    Ok(())
}

/// Writes how the creatures have spent their time, in percent.
fn write_shares(game: &Game, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nwhat they did with their time, in percent")?;
    for (kind, counts) in game.kinds.iter().zip(&game.counts) {
        let all = counts.seconds.values().sum::<u32>().max(1);
        let percent = |seconds: u32| (100 * seconds + all / 2) / all;
        let shares = counts.seconds.iter().map(|(state, seconds)| (state.clone(), percent(*seconds)));
        writeln!(out, "{:NAME$}{}", kind.name, listed(shares.filter(|(_, percent)| *percent > 0).collect()))?;
    }
    Ok(())
}

/// Writes the states at the end, each counted separately.
fn write_states(game: &Game, out: &mut dyn Write) -> io::Result<()> {
    const MOST: usize = 5;

    writeln!(out, "\nwhere they ended")?;
    for (number, kind) in game.kinds.iter().enumerate() {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for (id, _) in game.kind_of.iter().enumerate().filter(|(_, of)| **of == number) {
            let name = game.crowd.state(id).map(|state| state.name().into_owned()).unwrap_or_default();
            *counts.entry(name).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| Reverse(*count));
        let rest: u32 = counts.drain(MOST.min(counts.len())..).map(|(_, count)| count).sum();
        let others = if rest > 0 { format!(", others {rest}") } else { String::new() };
        writeln!(out, "{:NAME$}{}{others}", kind.name, listed(counts))?;
    }
    Ok(())
}

/// One kind, with its creatures.
struct Row<'g> {
    side: Side,
    creatures: Vec<&'g Creature>,
}

fn rows(game: &Game) -> impl Iterator<Item = (&str, Row<'_>)> {
    game.kinds.iter().enumerate().map(|(number, kind)| {
        let all = game.crowd.creatures().zip(&game.kind_of);
        let creatures = all.filter(|(_, of)| **of == number).map(|(creature, _)| creature).collect();
        (kind.name.as_str(), Row { side: kind.side, creatures })
    })
}

/// Returns names with numbers, the largest first.
fn listed(mut numbers: Vec<(String, u32)>) -> String {
    numbers.sort_by_key(|(_, number)| Reverse(*number));
    numbers.iter().map(|(name, number)| format!("{name} {number}")).collect::<Vec<_>>().join(", ")
}

/// Returns a checksum of the places, states, health and random numbers of all creatures.
pub(crate) fn checksum(game: &Game) -> u64 {
    // FNV-1a, which is the same everywhere.
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            sum = (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for creature in game.crowd.creatures() {
        let state = game.crowd.state(creature.id).map(|state| state.name().into_owned());
        add(format!("{state:?} {creature:?}").as_bytes());
    }
    sum
}
