//! The match as text, for a terminal: the pitch, and the states of all players.

use std::fmt::Write as _;
use std::iter;

use anstyle::{AnsiColor, Style};

use super::game::{Match, Who};
use super::pitch::{GOAL_WIDTH, LENGTH, Point, Side, WIDTH};

/// A row is 1.2 meters, and a column half as much, because a character is about twice as high as wide. With the text around it,
/// the pitch fits into 80 by 24 characters.
const COLUMNS: u8 = 63;
const ROWS: u8 = 21;

/// The text before the first frame: it clears the screen.
pub(crate) const CLEAR: &str = "\x1b[2J";
/// Moves to the upper left corner. Clearing the screen would flicker.
const HOME: &str = "\x1b[H";
/// Clears the rest of the line.
const END_OF_LINE: &str = "\x1b[K\n";
/// Clears the rest of the screen.
const END_OF_SCREEN: &str = "\x1b[J";

fn style(side: Side) -> Style {
    match side {
        Side::Orange => AnsiColor::Black.on(AnsiColor::Yellow),
        Side::Blue => AnsiColor::White.on(AnsiColor::Blue),
    }
}

/// Returns the current match as text.
pub(crate) fn frame(game: &Match) -> String {
    let mut rows = empty_pitch();
    for shirt in Side::BOTH.into_iter().flat_map(Side::players) {
        let style = style(shirt.side);
        *cell(&mut rows, game.body(shirt).place) = format!("{style}{}{style:#}", shirt.number);
    }
    let ball = AnsiColor::BrightWhite.on_default().bold();
    *cell(&mut rows, game.ball.place) = format!("{ball}o{ball:#}");

    let [orange, blue] = game.score;
    let [orange_does, blue_does] = Side::BOTH.map(|side| state_of(game, Who::Team(side)));
    let title = format!(" {orange_does:<18}{orange:>4} : {blue:<4}{blue_does:>18} ");
    let [orange, blue] = [label(Side::Orange, " Orange "), label(Side::Blue, " Blue ")];
    let mut text = format!("{HOME}{orange}{title}{blue}{END_OF_LINE}");
    for (row, beside) in rows.into_iter().zip(states_of_players(game)) {
        write!(text, "{} {beside}{END_OF_LINE}", row.concat()).expect("a string takes any text");
    }
    write!(text, "{:.1} s", game.now()).expect("a string takes any text");
    text + END_OF_SCREEN
}

/// Returns a text in a side's colors.
fn label(side: Side, text: &str) -> String {
    let style = style(side);
    format!("{style}{text}{style:#}")
}

fn state_of(game: &Match, who: Who) -> String {
    game.members().state_of(&who).unwrap_or_default().into_owned()
}

/// Returns the text beside each row: the states of all players, in the middle.
fn states_of_players(game: &Match) -> impl Iterator<Item = String> {
    let players = Side::BOTH.map(|side| {
        side.players()
            .map(move |shirt| format!("{} {}", label(side, &shirt.number.to_string()), state_of(game, shirt.into())))
    });
    let [orange, blue] = players;
    let nothing = || iter::repeat(String::new());
    nothing().take(5).chain(orange).chain(nothing().take(1)).chain(blue).chain(nothing())
}

fn empty_pitch() -> Vec<Vec<String>> {
    let cell = |row: u8, column: u8| match (row, column) {
        (row, _) if row == 0 || row == ROWS - 1 => "-",
        (row, column) if is_goal(row) && (column == 0 || column == COLUMNS - 1) => " ",
        (_, column) if column == 0 || column == COLUMNS / 2 || column == COLUMNS - 1 => "|",
        _ => " ",
    };
    (0..ROWS).map(|row| (0..COLUMNS).map(|column| cell(row, column).to_owned()).collect()).collect()
}

fn is_goal(row: u8) -> bool {
    let y = f64::from(row) * WIDTH / f64::from(ROWS - 1);
    (y - WIDTH / 2.0).abs() < GOAL_WIDTH / 2.0
}

/// Returns the cell for a place.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "places are on the pitch")]
fn cell(rows: &mut [Vec<String>], place: Point) -> &mut String {
    let on = |part: f64, count: u8| ((part * f64::from(count - 1)).round() as u8).min(count - 1);
    &mut rows[usize::from(on(place.y / WIDTH, ROWS))][usize::from(on(place.x / LENGTH, COLUMNS))]
}
