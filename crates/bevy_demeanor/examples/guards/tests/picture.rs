//! The picture in the plugin's README shows the level after half a minute, and the way of the player. Set `UPDATE` to draw it
//! again.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use bevy_demeanor::StateMachinePlugin;
use bevy_math::Vec3;
use guards::level::{begin, level, seen};
use guards::yard::{ASSETS, Seen, cameras, prowlers};

/// Pixels per meter.
const SCALE: f32 = 10.0;
/// The distance of the yard from the border of the picture, in meters.
const MARGIN: f32 = 6.0;
/// The states of the characters, with their colors.
const COLORS: [(&str, &str); 13] = [
    ("Patrol", "#5c6370"),
    ("Investigate", "#61afef"),
    ("Chase", "#ff7b86"),
    ("Flee", "#d19a66"),
    ("Stunned", "#e5c07b"),
    ("Dead", "#31353d"),
    ("sweep", "#56b6c2"),
    ("watch", "#e5c07b"),
    ("alarm", "#ff4b58"),
    ("blind", "#31353d"),
    ("Sneak", "#98c379"),
    ("Run", "#98c379"),
    ("Caught", "#ffffff"),
];

fn color(state: &str) -> &'static str {
    COLORS.iter().find(|(name, _)| *name == state).unwrap_or_else(|| panic!("{state} has no color")).1
}

/// Returns a place in the picture, in pixels.
fn pixels(place: Vec3) -> [f32; 2] {
    [place.x, place.y].map(|meters| ((meters + MARGIN) * SCALE).round())
}

fn circle(place: Vec3, radius: f32, attributes: &str) -> String {
    let [x, y] = pixels(place);
    format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" {attributes}/>\n")
}

/// Draws the legend: each state of the guards with its color, and how many guards are in it.
fn legend(seen: &Seen) -> String {
    let mut legend = String::new();
    for (column, (state, color)) in (0_u8..).zip(&COLORS[..6]) {
        let (x, count) =
            (60 + 135 * i32::from(column), seen.guards.iter().filter(|(_, name, _)| name == state).count());
        let text = x + 12;
        writeln!(legend, r#"<circle cx="{x}" cy="535" r="5" fill="{color}"/>"#).unwrap();
        writeln!(legend, r##"<text x="{text}" y="540" fill="#d7dae0">{state} {count}</text>"##).unwrap();
    }
    let alarms: u32 = seen.cameras.iter().map(|(_, _, alarms)| alarms).sum();
    let caught = seen.player[0].2;
    let rest = format!(
        "The player is green, the other intruders are violet. Cameras look at the rings. Alarms: {alarms}. Caught: {caught}."
    );
    writeln!(legend, r##"<text x="48" y="565" fill="#d7dae0">{rest}</text>"##).unwrap();
    legend
}

fn draw() -> String {
    let mut app = level(StateMachinePlugin::new(), ASSETS);
    begin(app.world_mut());
    let (mut way, mut before) = (String::new(), Vec3::INFINITY);
    for tick in 0..30 * 64 {
        app.update();
        let here = seen(&mut app).player[0].0;
        // A player who was caught appears at the entrance.
        let is_new = here.distance(before) > 1.0;
        before = here;
        if is_new || tick % 32 == 0 {
            let (command, [x, y]) = (if is_new { "M" } else { "L" }, pixels(here));
            write!(way, "{command}{x} {y} ").unwrap();
        }
    }
    let seen = seen(&mut app);
    let mut picture = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 920 590\" width=\"920\" height=\"590\" \
         font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" font-size=\"15\">\n\
         <rect width=\"920\" height=\"590\" rx=\"8\" fill=\"#1e2127\"/>\n\
         <rect x=\"60\" y=\"60\" width=\"800\" height=\"400\" fill=\"none\" stroke=\"#5c6370\"/>\n",
    );
    for place in cameras() {
        let nearest = |spot: &Vec3| spot.distance(place);
        let (spot, state, _) = seen.cameras.iter().min_by(|a, b| nearest(&a.0).total_cmp(&nearest(&b.0))).unwrap();
        let (color, [x, y], [to_x, to_y]) = (color(state), pixels(place), pixels(*spot));
        writeln!(picture, r#"<path d="M{x} {y} L{to_x} {to_y}" stroke="{color}"/>"#).unwrap();
        picture += &circle(*spot, 30.0, &format!(r#"fill="{color}" fill-opacity="0.15" stroke="{color}""#));
        picture += &circle(place, 6.0, &format!(r#"fill="{color}""#));
    }
    let circles =
        seen.guards.iter().map(|(place, state, _)| circle(*place, 4.5, &format!(r#"fill="{}""#, color(state))));
    // The order of a query is that of the archetypes.
    let mut circles: Vec<String> = circles.collect();
    circles.sort();
    picture += &circles.concat();
    for place in prowlers(&mut app) {
        picture += &circle(place, 7.0, r##"fill="#c678dd" stroke="#ffffff""##);
    }
    writeln!(picture, r##"<path d="{}" fill="none" stroke="#98c379" stroke-dasharray="4 4"/>"##, way.trim_end())
        .unwrap();
    let (place, state, _) = &seen.player[0];
    picture += &circle(*place, 7.0, &format!(r##"fill="{}" stroke="#ffffff""##, color(state)));
    picture + legend(&seen).as_str() + "</svg>\n"
}

#[test]
fn the_picture_shows_the_level_after_half_a_minute() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../docs/images/guards.svg");
    let drawn = draw();
    if env::var_os("UPDATE").is_some() {
        fs::write(&file, &drawn).unwrap();
    }
    assert!(fs::read_to_string(file).unwrap() == drawn, "docs/images/guards.svg does not show the level");
}
