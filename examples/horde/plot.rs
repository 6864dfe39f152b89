//! The picture: the number of enemies in each state over time.

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::{io, iter};

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::register_font;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::enemy::NAMES;
use super::options::is_png;
use super::report::grouped;
use super::run::Record;
use super::world::{FIRST_HOUR, Phase, TICKS_PER_DAY, TICKS_PER_HOUR};

/// The size in pixels: twice the size on a page, because the backends draw only whole pixels.
const SIZE: (u32, u32) = (2000, 1060);

/// The colors of the states, in the order of their names.
const COLORS: [RGBColor; 6] = [
    RGBColor(0x3b, 0x4a, 0x6b),
    RGBColor(0x8f, 0xa3, 0xbf),
    RGBColor(0xf2, 0xd0, 0x6b),
    RGBColor(0x6f, 0xae, 0x7c),
    RGBColor(0xd9, 0x5d, 0x4e),
    RGBColor(0xf0, 0x9a, 0x6a),
];

const INK: RGBColor = RGBColor(0x2b, 0x2f, 0x36);
const FAINT: RGBColor = RGBColor(0x6b, 0x72, 0x80);
const NIGHT: RGBColor = RGBColor(0x1d, 0x25, 0x3d);
const DAY: RGBColor = RGBColor(0xf6, 0xe7, 0xb4);
const RAID: RGBColor = COLORS[4];

/// The largest number of points in time that are drawn.
const MOST_COLUMNS: usize = 720;
/// The largest number of hours that are written below the chart.
const MOST_HOURS: usize = 16;
/// The distance between the names of the states, in pixels.
const ROW: i32 = 48;

/// Draws the record as an SVG or a PNG, by the file's extension. Creates the file's directory if it does not exist.
///
/// # Errors
///
/// When the file cannot be written.
pub(crate) fn draw(record: &Record, file: &Path) -> io::Result<()> {
    // The fonts are used to measure letters, and to draw them in a PNG. An SVG is shown with the viewer's sans-serif font.
    let fonts = [(FontStyle::Normal, dejavu::sans::regular()), (FontStyle::Bold, dejavu::sans::bold())];
    for (style, font) in fonts {
        register_font("sans-serif", style, font).map_err(|_| io::Error::other("the font cannot be read"))?;
    }
    let directory = file.parent().filter(|directory| *directory != Path::new("")).unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let failed = |error: &dyn Error| io::Error::other(format!("{}: {error}", file.display()));
    let suffix = if is_png(file) { ".png" } else { ".svg" };
    // The picture is drawn to a file beside the target, which is deleted unless it is renamed: after an error, no incomplete
    // picture is left.
    let beside = tempfile::Builder::new().suffix(suffix).make_in(directory, |path| File::create_new(path));
    let beside = beside.map_err(|error| failed(&error))?;
    if is_png(file) {
        draw_on(&BitMapBackend::new(beside.path(), SIZE).into_drawing_area(), record)
            .map_err(|error| failed(&error))?;
    } else {
        let mut svg = String::new();
        let page = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        draw_on(&page, record).map_err(|error| failed(&error))?;
        drop(page);
        fs::write(beside.path(), svg).map_err(|error| failed(&error))?;
    }
    beside.persist(file).map_err(|error| failed(&error.error))?;
    Ok(())
}

/// The position of the chart on the page, in pixels from the left and the top, and its content.
struct Layout {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
    ticks: usize,
    owners: usize,
}

impl Layout {
    fn x(&self, tick: usize) -> i32 {
        self.left + scale(tick, self.ticks.saturating_sub(1), self.right - self.left)
    }

    fn y(&self, owners: usize) -> i32 {
        self.bottom - scale(owners, self.owners, self.bottom - self.top)
    }
}

/// Returns the share of `pixels` that corresponds to the share of `part` in `whole`.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "pixels are few")]
fn scale(part: usize, whole: usize, pixels: i32) -> i32 {
    (part as f64 / whole.max(1) as f64 * f64::from(pixels)).round() as i32
}

type Page<DB> = DrawingArea<DB, Shift>;
type Drawn<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

fn draw_on<DB: DrawingBackend>(page: &Page<DB>, record: &Record) -> Drawn<DB> {
    let layout = Layout {
        left: 190,
        right: 1750,
        top: 180,
        bottom: 980,
        ticks: record.ticks.len(),
        owners: record.owners as usize,
    };
    page.fill(&WHITE)?;
    let days = record.ticks.len().div_ceil(TICKS_PER_DAY as usize);
    let title = format!("{} enemies, {days} day{}", grouped(layout.owners), if days == 1 { "" } else { "s" });
    write(page, &title, (layout.left, 46), Letters { size: 46, color: INK, style: FontStyle::Bold, side: HPos::Left })?;
    write(page, "how many are in which state", (layout.left, 98), Letters { size: 30, ..Letters::FAINT })?;
    draw_states(page, record, &layout)?;
    draw_times(page, record, &layout)?;
    draw_owners(page, &layout)?;
    draw_names(page, &layout)?;
    page.present()
}

/// Draws an area for each state, stacked.
fn draw_states<DB: DrawingBackend>(page: &Page<DB>, record: &Record, layout: &Layout) -> Drawn<DB> {
    let stride = layout.ticks.div_ceil(MOST_COLUMNS).max(1);
    let ticks: Vec<_> = record.ticks.iter().enumerate().step_by(stride).collect();
    let (Some((first, _)), Some((last, _))) = (ticks.first(), ticks.last()) else { return Ok(()) };
    let corners = [(layout.x(*last), layout.bottom), (layout.x(*first), layout.bottom)];
    // From the top: each area extends to the bottom, and the next one covers its lower part.
    for (state, color) in COLORS.iter().enumerate().rev() {
        let edge = ticks.iter().map(|(at, tick)| (layout.x(*at), layout.y(tick.populations[..=state].iter().sum())));
        page.draw(&Polygon::new(edge.chain(corners).collect::<Vec<_>>(), color))?;
    }
    Ok(())
}

/// Draws the hours below the chart, and above it the phases of the day.
fn draw_times<DB: DrawingBackend>(page: &Page<DB>, record: &Record, layout: &Layout) -> Drawn<DB> {
    let (top, bottom) = (layout.top - 44, layout.top - 12);
    let mut start = 0;
    for ticks in record.ticks.chunk_by(|one, next| one.phase == next.phase) {
        let end = (start + ticks.len()).min(layout.ticks - 1);
        let (phase, ends) = (ticks[0].phase, (layout.x(start), layout.x(end)));
        let (color, ink, name) = match phase {
            Phase::Night => (NIGHT, WHITE, "night"),
            Phase::Raid => (RAID, WHITE, "the hero is about"),
            Phase::Morning | Phase::Evening => (DAY, FAINT, phase.name()),
        };
        page.draw(&Rectangle::new([(ends.0, top), (ends.1, bottom)], color.filled()))?;
        let letters = Letters { size: 20, color: ink, side: HPos::Center, ..Letters::FAINT };
        if letters.width(name) + 8 < ends.1 - ends.0 {
            write(page, name, ((ends.0 + ends.1) / 2, (top + bottom) / 2), letters)?;
        }
        start = end;
    }

    let quarter = TICKS_PER_DAY as usize / 4;
    let stride = quarter * layout.ticks.div_ceil(MOST_HOURS * quarter).max(1);
    for tick in (0..layout.ticks).step_by(stride) {
        let x = layout.x(tick);
        page.draw(&PathElement::new([(x, layout.bottom), (x, layout.bottom + 10)], FAINT))?;
        let hour = (tick / TICKS_PER_HOUR as usize + FIRST_HOUR as usize) % 24;
        let letters = Letters { side: HPos::Center, ..Letters::FAINT };
        write(page, &format!("{hour}:00"), (x, layout.bottom + 34), letters)?;
    }
    Ok(())
}

/// Draws the numbers of owners at the left, with lines across.
fn draw_owners<DB: DrawingBackend>(page: &Page<DB>, layout: &Layout) -> Drawn<DB> {
    for quarter in 0..=4 {
        let owners = layout.owners * quarter / 4;
        let y = layout.y(owners);
        page.draw(&PathElement::new([(layout.left, y), (layout.right, y)], WHITE.mix(0.35).stroke_width(2)))?;
        let letters = Letters { side: HPos::Right, ..Letters::FAINT };
        write(page, &grouped(owners), (layout.left - 16, y), letters)?;
    }
    Ok(())
}

/// Writes the names at the right, in the order of the areas.
fn draw_names<DB: DrawingBackend>(page: &Page<DB>, layout: &Layout) -> Drawn<DB> {
    let (x, mut y) = (layout.right + 30, layout.top + 18);
    for (name, color) in iter::zip(NAMES, COLORS).rev() {
        page.draw(&Rectangle::new([(x, y - 12), (x + 24, y + 12)], color.filled()))?;
        write(page, name, (x + 40, y), Letters { size: 28, color: INK, ..Letters::FAINT })?;
        y += ROW;
    }
    Ok(())
}

/// The style of a text.
#[derive(Clone, Copy)]
struct Letters {
    size: i32,
    color: RGBColor,
    style: FontStyle,
    /// The part of the text that is at its position: the left end, the right end or the middle.
    side: HPos,
}

impl Letters {
    const FAINT: Self = Self { size: 24, color: FAINT, style: FontStyle::Normal, side: HPos::Left };

    fn font(&self) -> FontDesc<'static> {
        FontDesc::new(FontFamily::SansSerif, self.size.into(), self.style)
    }

    /// Returns the width of a text in pixels. If the font cannot measure it, the result is larger than any page.
    fn width(&self, text: &str) -> i32 {
        self.font().box_size(text).map_or(i32::MAX / 2, |(width, _)| i32::try_from(width).unwrap_or(i32::MAX / 2))
    }
}

fn write<DB: DrawingBackend>(page: &Page<DB>, text: &str, at: (i32, i32), letters: Letters) -> Drawn<DB> {
    let style = TextStyle::from(letters.font()).color(&letters.color).pos(Pos::new(letters.side, VPos::Center));
    page.draw_text(text, &style, at)
}
