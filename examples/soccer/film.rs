//! The animation: the last seconds of a match in a loop, as an animated SVG. A program that does not animate SVG shows one frame.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};

use super::game::{Match, TICK, Who};
use super::picture::{BALL, FAINT, INK, LEFT, MARK, PAGE, color, draw_mark, draw_pitch, on_page};
use super::pitch::{Point, Shirt, Side};

/// The number of ticks between two frames. The viewer interpolates the movement.
const TICKS_PER_FRAME: u64 = 4;
/// The number of frames: twelve seconds.
const FRAMES: usize = 60;

/// The last frames of a match.
#[derive(Default)]
pub(crate) struct Film {
    frames: VecDeque<Frame>,
}

/// A match at one moment.
struct Frame {
    /// The places of the ten players and, last, of the ball.
    places: [Point; 11],
    /// The texts for each player and each team.
    states: Vec<String>,
    score: [u32; 2],
}

/// Returns the characters whose states are shown: all players, then both teams.
fn shown() -> impl Iterator<Item = Who> {
    let players = Side::BOTH.into_iter().flat_map(Side::players).map(Who::from);
    players.chain(Side::BOTH.map(Who::Team))
}

impl Film {
    /// Records the match after a tick.
    pub(crate) fn record(&mut self, game: &Match) {
        if game.ticks % TICKS_PER_FRAME != 0 {
            return;
        }
        let Some(places) = game.tracks.back().copied() else { return };
        if self.frames.len() == FRAMES {
            self.frames.pop_front();
        }
        let states = shown().map(|who| game.members().state_of(&who).unwrap_or_default().into_owned()).collect();
        self.frames.push_back(Frame { places, states, score: game.score });
    }

    /// Returns the animation as SVG.
    pub(crate) fn svg(&self) -> String {
        let mut page = String::new();
        self.draw(&mut page).expect("a string takes any text");
        page
    }

    /// Returns the length of the film, in seconds.
    fn seconds(&self) -> f64 {
        let ticks = u32::try_from(self.frames.len()).map_or(0.0, f64::from) * 4.0;
        ticks * TICK.as_secs_f64()
    }

    /// Returns the frame for programs that do not animate SVG: a shot, shortly before the last goal. Without a goal, the last frame.
    fn still(&self) -> usize {
        let last = self.frames.len() - 1;
        let goal = (1..=last).rev().find(|&index| self.frames[index].score != self.frames[index - 1].score);
        goal.map_or(last, |goal| goal.saturating_sub(2))
    }

    fn draw(&self, page: &mut String) -> fmt::Result {
        let (width, height) = PAGE;
        writeln!(
            page,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif">"#
        )?;
        writeln!(page, r#"<rect width="{width}" height="{height}" fill="white"/>"#)?;
        draw_pitch(page)?;
        if self.frames.is_empty() {
            return writeln!(page, "</svg>");
        }
        self.draw_title(page)?;
        for (index, shirt) in Side::BOTH.into_iter().flat_map(Side::players).enumerate() {
            self.draw_player(page, index, shirt)?;
        }
        let place = self.still_place(10);
        writeln!(page, r#"<circle r="6" fill="white" stroke="{BALL}" stroke-width="3" transform="{place}">"#)?;
        self.move_along(page, 10)?;
        writeln!(page, "</circle>\n</svg>")
    }

    fn draw_title(&self, page: &mut String) -> fmt::Result {
        let (left, right, middle, below) = (LEFT, PAGE.0 - LEFT, PAGE.0 / 2.0, PAGE.1 - 22.0);
        let score = |frame: &Frame| format!("{} : {}", frame.score[0], frame.score[1]);
        self.draw_texts(page, score, |page| {
            write!(page, r#"x="{middle}" y="70" text-anchor="middle" font-size="34" font-weight="bold" fill="{INK}""#)
        })?;
        for (index, side, x, anchor) in [(10, Side::Orange, left, "start"), (11, Side::Blue, right, "end")] {
            let place = format!(r#"x="{x}" text-anchor="{anchor}" fill="{}""#, color(side));
            writeln!(page, r#"<text {place} y="52" font-size="26" font-weight="bold">{side:?}</text>"#)?;
            self.draw_texts(
                page,
                |frame| frame.states[index].clone(),
                |page| write!(page, r#"{place} y="86" font-size="20""#),
            )?;
        }
        writeln!(
            page,
            r#"<text x="{middle}" y="{below}" text-anchor="middle" font-size="17" fill="{FAINT}">each player, and each team, has a state machine; its state is written beside it</text>"#
        )
    }

    fn draw_player(&self, page: &mut String, index: usize, shirt: Shirt) -> fmt::Result {
        writeln!(page, r#"<g transform="{}">"#, self.still_place(index))?;
        draw_mark(page, shirt, Point::default())?;
        // The labels of one side are above the marks, and those of the other below: players who are close to each other are
        // mostly opponents.
        let y = if shirt.side == Side::Orange { -MARK - 6.0 } else { MARK + 17.0 };
        let color = color(shirt.side);
        self.draw_texts(
            page,
            |frame| frame.states[index].clone(),
            |page| {
                write!(
                    page,
                    r#"y="{y}" text-anchor="middle" font-size="16" fill="{color}" stroke="white" stroke-width="3" stroke-opacity="0.8" paint-order="stroke""#
                )
            },
        )?;
        self.move_along(page, index)?;
        writeln!(page, "</g>")
    }

    /// Returns the place of a player or the ball in the frame for programs that do not animate, as a transformation.
    fn still_place(&self, index: usize) -> String {
        let place = on_page(self.frames[self.still()].places[index]);
        format!("translate({:.0},{:.0})", place.x, place.y)
    }

    /// Writes the movement of the surrounding element.
    fn move_along(&self, page: &mut String, index: usize) -> fmt::Result {
        write!(page, r#"<animateTransform attributeName="transform" type="translate" values=""#)?;
        for frame in &self.frames {
            let place = on_page(frame.places[index]);
            write!(page, "{:.0},{:.0};", place.x, place.y)?;
        }
        writeln!(page, r#"" dur="{:.1}s" repeatCount="indefinite"/>"#, self.seconds())
    }

    /// Writes the texts one after the other, each visible while it applies.
    fn draw_texts(
        &self,
        page: &mut String,
        text: impl Fn(&Frame) -> String,
        attributes: impl Fn(&mut String) -> fmt::Result,
    ) -> fmt::Result {
        let texts: Vec<String> = self.frames.iter().map(text).collect();
        let mut different = texts.clone();
        different.sort();
        different.dedup();
        for text in different {
            let is_in_still = u8::from(texts[self.still()] == text);
            write!(page, r#"<text opacity="{is_in_still}" "#)?;
            attributes(page)?;
            write!(page, r#">{text}<animate attributeName="opacity" calcMode="discrete" values=""#)?;
            for shown in &texts {
                write!(page, "{};", u8::from(*shown == text))?;
            }
            writeln!(page, r#"" dur="{:.1}s" repeatCount="indefinite"/></text>"#, self.seconds())?;
        }
        Ok(())
    }
}
