//! The table at the end: the score, and how often each character has entered each state.

use std::io::{self, Write};

use super::game::{Match, Questions, TICK, Who};
use super::pitch::{Shirt, Side};
use super::{field_player, keeper, team};

pub(crate) fn write(game: &Match, seed: u64, out: &mut dyn Write) -> io::Result<()> {
    let [orange, blue] = game.score;
    let seconds = TICK.as_secs_f64() * u32::try_from(game.ticks).map_or(f64::INFINITY, f64::from);
    writeln!(out, "Orange {orange} : {blue} Blue, after {} ticks ({seconds:.0} seconds), seed {seed}\n", game.ticks)?;
    let Questions { asked, answered } = game.questions;
    writeln!(out, "{asked} times a player asked for a pass; {answered} times he got it within the same call\n")?;
    writeln!(out, "how often each state was taken")?;

    write_table("a team", &team::STATES, game, &Side::BOTH.map(|side| vec![Who::Team(side)]), out)?;
    let keepers = Side::BOTH.map(|side| vec![Shirt { side, number: 1 }.into()]);
    write_table("a keeper", &keeper::STATES, game, &keepers, out)?;
    let field_players = Side::BOTH.map(|side| side.field_players().map(Who::from).collect());
    write_table("a field player", &field_player::STATES, game, &field_players, out)
}

/// Writes a table with a row for each state, and a column for each character that can be in it, Orange first.
fn write_table(
    title: &str,
    states: &[&str],
    game: &Match,
    sides: &[Vec<Who>; 2],
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out)?;
    write_row(title, sides, out, |who| who.to_string())?;
    for state in states {
        write_row(state, sides, out, |who| game.census.taken(state, who).to_string())?;
    }
    Ok(())
}

fn write_row(title: &str, sides: &[Vec<Who>; 2], out: &mut dyn Write, cell: impl Fn(Who) -> String) -> io::Result<()> {
    write!(out, "{title:<18}")?;
    for who in sides.iter().flatten() {
        write!(out, "{:>10}", cell(*who))?;
    }
    writeln!(out)
}
