//! The picture: the number of villagers in each state, for each region.

use std::error::Error;
use std::path::Path;

use demeanor_world::Census;
use plotters::prelude::*;
use plotters::style::register_font;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::villager::REGIONS;

const SIZE: (u32, u32) = (1000, 560);
const STATES: [(&str, RGBColor); 4] = [
    ("Work", RGBColor(0x6f, 0xae, 0x7c)),
    ("Market", RGBColor(0xf2, 0xd0, 0x6b)),
    ("Travel", RGBColor(0xd9, 0x5d, 0x4e)),
    ("Rest", RGBColor(0x8f, 0xa3, 0xbf)),
];
const INK: RGBColor = RGBColor(0x2b, 0x2f, 0x36);
const LEFT: i32 = 90;
const TOP: i32 = 110;
const BOTTOM: i32 = 500;

/// Draws the last day as an SVG.
pub(crate) fn draw(census: &Census, days: u64, file: &Path) -> Result<(), Box<dyn Error>> {
    // The font is used to measure letters; the viewer shows the text with its own font.
    register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular()).map_err(|_| "the font cannot be read")?;
    let mut svg = String::new();
    let page = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
    page.fill(&WHITE)?;
    let write = |text: &str, at: (i32, i32), size: i32, side: HPos| {
        page.draw_text(
            text,
            &("sans-serif", size).into_text_style(&page).color(&INK).pos(Pos::new(side, VPos::Center)),
            at,
        )
    };
    let count = |region: u32, state: &str| census.tallies.get(&format!("{region} {state}")).copied().unwrap_or(0);
    let in_region = |region| STATES.iter().map(|(state, _)| count(region, state)).sum::<u64>();
    let most = (0..REGIONS).map(in_region).max().unwrap_or(0).max(1);
    let all = (0..REGIONS).map(in_region).sum::<u64>();
    write(&format!("{all} villagers after {days} days"), (LEFT, 36), 26, HPos::Left)?;
    write("by region and by what they do", (LEFT, 68), 16, HPos::Left)?;
    let height = |owners: u64| i32::try_from(owners * 390 / most).unwrap_or(390);
    for region in 0..REGIONS {
        let left = LEFT + i32::try_from(region)? * 95;
        let mut below = 0;
        for (state, color) in STATES {
            let above = below + count(region, state);
            let corners = [(left, BOTTOM - height(above)), (left + 70, BOTTOM - height(below))];
            page.draw(&Rectangle::new(corners, color.filled()))?;
            below = above;
        }
        write(&below.to_string(), (left + 35, BOTTOM - height(below) - 12), 14, HPos::Center)?;
        write(&format!("region {region}"), (left + 35, BOTTOM + 20), 14, HPos::Center)?;
    }
    for (nth, (state, color)) in STATES.iter().enumerate() {
        let top = TOP + i32::try_from(nth)? * 30;
        page.draw(&Rectangle::new([(870, top - 8), (886, top + 8)], color.filled()))?;
        write(state, (896, top), 16, HPos::Left)?;
    }
    page.present()?;
    drop(page);
    std::fs::write(file, svg)?;
    Ok(())
}
