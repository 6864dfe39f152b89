//! The picture: the pitch at the end of the match, the tracks of the last seconds, and the states of the players.

use std::fmt::{self, Write as _};
use std::fs;
use std::io;
use std::path::Path;
use std::process;

use super::game::{Match, TICK, Who};
use super::pitch::{CENTER, GOAL_WIDTH, LENGTH, Point, Shirt, Side, WIDTH};

/// Pixels per meter.
const SCALE: f64 = 24.0;
/// The position of the pitch on the page, in pixels.
pub(crate) const LEFT: f64 = 50.0;
pub(crate) const TOP: f64 = 104.0;
pub(crate) const PAGE: (f64, f64) = (LENGTH * SCALE + 2.0 * LEFT, WIDTH * SCALE + TOP + 64.0);

/// The size of a player's mark, in pixels from its middle.
pub(crate) const MARK: f64 = 12.0;
/// The size of a letter in a label, in pixels.
const LETTER: (f64, f64) = (6.9, 15.0);

/// The two colors can be distinguished without red and green; the marks also differ in their shapes.
const ORANGE: &str = "#d55e00";
const BLUE: &str = "#0072b2";
pub(crate) const BALL: &str = "#222222";
const GRASS: &str = "#eff4ea";
const LINES: &str = "#b4c2a6";
pub(crate) const INK: &str = "#2b2f36";
pub(crate) const FAINT: &str = "#6b7280";

/// The number of pieces of a track. Each piece is darker than the previous one.
const SHADES: u32 = 8;
/// A longer distance in one tick, in meters, is not a movement: the ball is put back after a goal.
const JUMP: f64 = 3.0;

/// Writes a picture to a file. Creates the file's directory if it does not exist.
///
/// # Errors
///
/// When the file cannot be written.
pub(crate) fn write(svg: &str, file: &Path) -> io::Result<()> {
    let failed = |error: io::Error| io::Error::other(format!("{}: {error}", file.display()));
    let directory = file.parent().filter(|directory| *directory != Path::new("")).unwrap_or(Path::new("."));
    fs::create_dir_all(directory).map_err(failed)?;
    // The picture is written to a file beside the target, which is then renamed: after an error, no incomplete picture is left.
    let beside = file.with_extension(format!("{}.svg", process::id()));
    let written = fs::write(&beside, svg).and_then(|()| fs::rename(&beside, file));
    written.map_err(|error| {
        let _ = fs::remove_file(&beside);
        failed(error)
    })
}

/// Returns the picture as SVG.
pub(crate) fn svg(game: &Match) -> String {
    let mut page = String::new();
    draw(&mut page, game).expect("a string takes any text");
    page
}

fn draw(page: &mut String, game: &Match) -> fmt::Result {
    let (width, height) = PAGE;
    writeln!(
        page,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif">"#
    )?;
    writeln!(page, r#"<rect width="{width}" height="{height}" fill="white"/>"#)?;
    draw_title(page, game)?;
    draw_pitch(page)?;
    let movers = Side::BOTH.into_iter().flat_map(Side::players).map(|shirt| color(shirt.side)).chain([BALL]);
    for (index, color) in movers.enumerate() {
        let track: Vec<Point> = game.tracks.iter().map(|places| places[index]).collect();
        draw_track(page, &track, color)?;
    }
    draw_players(page, game)?;
    writeln!(page, "</svg>")
}

pub(crate) fn color(side: Side) -> &'static str {
    match side {
        Side::Orange => ORANGE,
        Side::Blue => BLUE,
    }
}

/// Returns the position of a place on the page, in pixels.
pub(crate) fn on_page(place: Point) -> Point {
    Point::new(LEFT, TOP) + place * SCALE
}

fn draw_title(page: &mut String, game: &Match) -> fmt::Result {
    let [orange, blue] = game.score;
    let (left, right, middle) = (LEFT, PAGE.0 - LEFT, PAGE.0 / 2.0);
    let tracked = TICK.as_secs_f64() * u32::try_from(game.tracks.len()).map_or(0.0, f64::from);
    let teams = Side::BOTH.map(|side| game.members().state_of(&Who::Team(side)).unwrap_or_default().into_owned());
    let [orange_does, blue_does] = teams;
    writeln!(
        page,
        r#"<text x="{middle}" y="56" text-anchor="middle" font-size="34" font-weight="bold" fill="{INK}"><tspan fill="{ORANGE}">Orange</tspan> {orange} : {blue} <tspan fill="{BLUE}">Blue</tspan></text>"#
    )?;
    writeln!(page, r#"<text x="{left}" y="86" font-size="17" fill="{ORANGE}">{orange_does}</text>"#)?;
    writeln!(page, r#"<text x="{right}" y="86" text-anchor="end" font-size="17" fill="{BLUE}">{blue_does}</text>"#)?;
    let below = PAGE.1 - 22.0;
    let at = game.now();
    writeln!(
        page,
        r#"<text x="{middle}" y="{below}" text-anchor="middle" font-size="14" fill="{FAINT}">{at:.0} seconds after the first kick-off; the tracks of the last {tracked:.0} seconds, and the state of each player</text>"#
    )
}

pub(crate) fn draw_pitch(page: &mut String) -> fmt::Result {
    let (width, height) = (LENGTH * SCALE, WIDTH * SCALE);
    let center = on_page(CENTER);
    writeln!(page, r#"<g fill="none" stroke="{LINES}" stroke-width="2.5">"#)?;
    writeln!(page, r#"<rect x="{LEFT}" y="{TOP}" width="{width}" height="{height}" rx="4" fill="{GRASS}"/>"#)?;
    let bottom = TOP + height;
    writeln!(page, r#"<path d="M{x} {TOP}V{bottom}"/>"#, x = center.x)?;
    writeln!(page, r#"<circle cx="{}" cy="{}" r="{}"/>"#, center.x, center.y, 3.0 * SCALE)?;
    for side in Side::BOTH {
        let goal = on_page(side.goal());
        let (half, area) = (GOAL_WIDTH / 2.0 * SCALE, 6.0 * SCALE);
        let sweep = u8::from(side == Side::Orange);
        writeln!(
            page,
            r#"<path d="M{x} {} A{area} {area} 0 0 {sweep} {x} {}"/>"#,
            goal.y - area,
            goal.y + area,
            x = goal.x
        )?;
        let (x, stroke) = (if side == Side::Orange { goal.x - 16.0 } else { goal.x }, color(side));
        let (y, height) = (goal.y - half, 2.0 * half);
        writeln!(page, r#"<rect x="{x}" y="{y}" width="16" height="{height}" fill="white" stroke="{stroke}"/>"#)?;
    }
    writeln!(page, "</g>")
}

/// Draws a track, whose older pieces are fainter.
fn draw_track(page: &mut String, track: &[Point], color: &str) -> fmt::Result {
    if track.len() < 2 {
        return Ok(());
    }
    let dashes = if color == BALL { r#" stroke-linecap="round" stroke-dasharray="1 5""# } else { "" };
    writeln!(page, r#"<g fill="none" stroke="{color}" stroke-width="2.5"{dashes}>"#)?;
    let piece = track.len().div_ceil(SHADES as usize);
    for (shade, start) in (1..=SHADES).zip((0..track.len()).step_by(piece)) {
        // Includes the first point of the next piece, so that there is no gap.
        let end = (start + piece + 1).min(track.len());
        let opacity = 0.08 + 0.62 * f64::from(shade) / f64::from(SHADES);
        for part in track[start..end].chunk_by(|one, next| one.distance(*next) < JUMP) {
            write!(page, r#"<polyline opacity="{opacity:.2}" points=""#)?;
            for place in part.iter().map(|place| on_page(*place)) {
                write!(page, "{:.1},{:.1} ", place.x, place.y)?;
            }
            writeln!(page, r#""/>"#)?;
        }
    }
    writeln!(page, "</g>")
}

fn draw_players(page: &mut String, game: &Match) -> fmt::Result {
    let shirts: Vec<Shirt> = Side::BOTH.into_iter().flat_map(Side::players).collect();
    let ball = on_page(game.ball.place);
    let mut taken = vec![Area::around(ball, MARK / 2.0, MARK / 2.0)];
    for shirt in &shirts {
        let place = on_page(game.body(*shirt).place);
        draw_mark(page, *shirt, place)?;
        taken.push(Area::around(place, MARK, MARK));
    }
    // The labels come after all marks, so that no mark covers a label.
    for shirt in shirts {
        let state = game.members().state_of(&shirt.into()).unwrap_or_default();
        let label = place_label(on_page(game.body(shirt).place), &state, &taken);
        let (x, y, color) = (label.middle.x, label.middle.y + 4.0, color(shirt.side));
        writeln!(
            page,
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="middle" font-size="12" fill="{color}" stroke="white" stroke-width="3" stroke-opacity="0.8" paint-order="stroke">{state}</text>"#
        )?;
        taken.push(label);
    }
    let (x, y) = (ball.x, ball.y);
    writeln!(page, r#"<circle cx="{x:.1}" cy="{y:.1}" r="6" fill="white" stroke="{BALL}" stroke-width="3"/>"#)
}

pub(crate) fn draw_mark(page: &mut String, shirt: Shirt, place: Point) -> fmt::Result {
    let (left, top, size) = (place.x - MARK, place.y - MARK, 2.0 * MARK);
    let (color, number) = (color(shirt.side), shirt.number);
    let rounding = if shirt.side == Side::Orange { MARK } else { 3.0 };
    writeln!(
        page,
        r#"<rect x="{left:.1}" y="{top:.1}" width="{size}" height="{size}" rx="{rounding}" fill="{color}" stroke="white" stroke-width="2"/>"#
    )?;
    let (x, y) = (place.x, place.y + 5.0);
    writeln!(
        page,
        r#"<text x="{x:.1}" y="{y:.1}" text-anchor="middle" font-size="14" font-weight="bold" fill="white">{number}</text>"#
    )
}

/// A rectangle on the page.
#[derive(Clone, Copy)]
struct Area {
    middle: Point,
    half_width: f64,
    half_height: f64,
}

impl Area {
    fn around(middle: Point, half_width: f64, half_height: f64) -> Self {
        Self { middle, half_width, half_height }
    }

    /// Returns the overlap with another area, in square pixels.
    fn overlap(&self, other: &Self) -> f64 {
        let way = other.middle - self.middle;
        let width = (self.half_width + other.half_width - way.x.abs()).max(0.0);
        let height = (self.half_height + other.half_height - way.y.abs()).max(0.0);
        width * height
    }
}

/// Returns the area of a mark's label: below, above or beside the mark, where it covers the least.
fn place_label(mark: Point, label: &str, taken: &[Area]) -> Area {
    let letters = u32::try_from(label.len()).map_or(0.0, f64::from);
    let (half_width, half_height) = (LETTER.0 * letters / 2.0, LETTER.1 / 2.0);
    let (above, beside) = (MARK + half_height + 1.0, MARK + half_width + 4.0);
    let ways = [(0.0, above), (0.0, -above), (beside, 0.0), (-beside, 0.0), (beside, above), (-beside, -above)];
    let areas = ways.map(|(x, y)| {
        let wanted = mark + Point::new(x, y);
        let middle = Point::new(wanted.x.clamp(half_width, PAGE.0 - half_width), wanted.y);
        Area::around(middle, half_width, half_height)
    });
    let covered = |area: &Area| taken.iter().map(|other| area.overlap(other)).sum::<f64>();
    let best = areas.into_iter().min_by(|one, other| covered(one).total_cmp(&covered(other)));
    best.unwrap_or(Area::around(mark, half_width, half_height))
}
