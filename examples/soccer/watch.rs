//! The match as text, for a terminal: the pitch, and the states that all are in.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use demeanor::Members;

use super::game::{Match, News, Who};
use super::pitch::{GOAL_WIDTH, Point, Shirt, Side, WIDTH};

const COLUMNS: usize = 81;
const ROWS: usize = 25;
/// Moves to the upper left corner, instead of clearing the screen, which would flicker.
const HOME: &str = "\x1b[H";
/// Clears what is right of the text.
const END_OF_LINE: &str = "\x1b[K\n";
/// Clears what is below the text.
const END_OF_SCREEN: &str = "\x1b[J";

fn style(side: Side) -> Style {
    match side {
        Side::Orange => AnsiColor::Black.on(AnsiColor::Yellow),
        Side::Blue => AnsiColor::White.on(AnsiColor::Blue),
    }
}

/// Returns the text that shows the match as it is now.
pub(crate) fn frame(game: &Match) -> String {
    let mut rows = empty_pitch();
    for shirt in Side::BOTH.into_iter().flat_map(Side::players) {
        let style = style(shirt.side);
        *cell(&mut rows, game.body(shirt).place) = format!("{style}{}{style:#}", shirt.number);
    }
    let ball = AnsiColor::BrightWhite.on_default().bold();
    *cell(&mut rows, game.ball.place) = format!("{ball}o{ball:#}");

    let [orange, blue] = game.score;
    let mut text = format!("{HOME}Orange {orange} : {blue} Blue{:>60.1} s{END_OF_LINE}", game.now());
    for row in rows {
        text.push_str(&row.concat());
        text.push_str(END_OF_LINE);
    }
    for number in 0..=5 {
        for side in Side::BOTH {
            let who = if number == 0 { Who::Team(side) } else { Shirt { side, number }.into() };
            write_state(&mut text, game.members(), side, who);
        }
        text.push_str(END_OF_LINE);
    }
    text + END_OF_SCREEN
}

fn write_state(text: &mut String, members: &Members<Who, News, Match>, side: Side, who: Who) {
    let style = style(side);
    let name = who.to_string();
    let state = members.state_of(&who).unwrap_or_default();
    write!(text, "{style} {name:<8}{style:#} {state:<30}").expect("a string takes any text");
}

fn empty_pitch() -> Vec<Vec<String>> {
    let cell = |row: usize, column: usize| match (row, column) {
        (0 | 24, _) => "-",
        (row, 0 | 80) if is_goal(row) => " ",
        (_, 0 | 40 | 80) => "|",
        _ => " ",
    };
    (0..ROWS).map(|row| (0..COLUMNS).map(|column| cell(row, column).to_owned()).collect()).collect()
}

fn is_goal(row: usize) -> bool {
    let y = u32::try_from(row).map_or(0.0, f64::from);
    (y - WIDTH / 2.0).abs() < GOAL_WIDTH / 2.0
}

/// Returns the cell of a place: a row is a meter, a column is half of one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "places are on the pitch")]
fn cell(rows: &mut [Vec<String>], place: Point) -> &mut String {
    let (row, column) = (place.y.round() as usize, (place.x * 2.0).round() as usize);
    &mut rows[row.min(ROWS - 1)][column.min(COLUMNS - 1)]
}
