//! The pictures of the gallery show what the examples print, as a terminal does. Set `UPDATE` to draw them again.

use std::env;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate as west_world;

/// The size of a letter's cell, in pixels.
const CELL: (usize, usize) = (9, 20);
/// The distance of the text from the border, in pixels.
const MARGIN: usize = 16;
/// The colors 0 to 7 of a terminal, and the bright ones.
const COLORS: [&str; 8] = ["#1e2127", "#b3262e", "#98c379", "#d19a66", "#61afef", "#c678dd", "#56b6c2", "#ffffff"];
const BRIGHT: [&str; 8] = ["#5c6370", "#ff7b86", "#a9e08a", "#e5c07b", "#7cc3ff", "#d99bee", "#6fd3e0", "#ffffff"];
const PAPER: &str = COLORS[0];
const INK: &str = "#d7dae0";

/// Compares a picture in `docs/images` with a command and a part of its output.
#[track_caller]
fn assert_drawn(name: &str, command: &str, lines: &[&str]) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/images").join(name);
    let drawn = draw(command, lines);
    if env::var_os("UPDATE").is_some() {
        fs::write(&file, &drawn).unwrap();
    }
    assert!(fs::read_to_string(file).unwrap() == drawn, "docs/images/{name} is not what `{command}` prints");
}

/// Draws a terminal with a command and its output.
fn draw(command: &str, lines: &[&str]) -> String {
    let command = format!("\x1b[90m$\x1b[0m {command}");
    let lines = || [command.as_str()].into_iter().chain(lines.iter().copied()).map(parts);
    let most = lines().map(|parts| parts.iter().map(|part| columns(part.text)).sum::<usize>()).max().unwrap_or(0);
    let (width, height) = (most * CELL.0 + 2 * MARGIN, lines().count() * CELL.1 + 2 * MARGIN);
    let mut page = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"15\">\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{PAPER}\"/>\n"
    );
    for (row, parts) in lines().enumerate() {
        let top = MARGIN + row * CELL.1;
        let mut left = MARGIN;
        for Part { text, color, behind } in parts {
            let wide = columns(text) * CELL.0;
            if let Some(behind) = behind {
                let height = CELL.1;
                writeln!(page, r#"<rect x="{left}" y="{top}" width="{wide}" height="{height}" fill="{behind}"/>"#)
                    .unwrap();
            }
            let spaces = columns(text) - columns(text.trim_start());
            let (x, y) = (left + spaces * CELL.0, top + 15);
            left += wide;
            let text = text.trim();
            if !text.is_empty() {
                let long = columns(text) * CELL.0;
                let text = text.replace('&', "&amp;").replace('<', "&lt;");
                writeln!(
                    page,
                    r#"<text x="{x}" y="{y}" textLength="{long}" fill="{color}" xml:space="preserve">{text}</text>"#
                )
                .unwrap();
            }
        }
    }
    page + "</svg>\n"
}

/// A part of a line in one color.
struct Part<'t> {
    text: &'t str,
    color: &'static str,
    behind: Option<&'static str>,
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Splits a line at its escape sequences, which set colors.
fn parts(line: &str) -> Vec<Part<'_>> {
    let (mut color, mut behind) = (INK, None);
    let mut parts = Vec::new();
    for (at, part) in line.split("\x1b[").enumerate() {
        let (codes, text) = if at == 0 { ("", part) } else { part.split_once('m').unwrap() };
        for code in codes.split(';').filter(|code| !code.is_empty()) {
            match code.parse::<usize>().unwrap() {
                0 => (color, behind) = (INK, None),
                code @ 30..38 => color = COLORS[code - 30],
                code @ 40..48 => behind = Some(COLORS[code - 40]),
                code @ 90..98 => color = BRIGHT[code - 90],
                code => panic!("the color {code}"),
            }
        }
        if !text.is_empty() {
            parts.push(Part { text, color, behind });
        }
    }
    parts
}

/// Returns some lines of an output that another test compares with what the example prints.
fn part_of<'t>(golden: &'t str, from: &str, count: usize) -> Vec<&'t str> {
    let lines: Vec<&str> = golden.lines().skip_while(|line| !line.starts_with(from)).take(count).collect();
    assert_eq!(lines.len(), count, "{from}");
    lines
}

#[test]
fn the_gallery_has_a_command_for_each_example() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(here.join("../docs/gallery.md")).unwrap();
    let manifest = fs::read_to_string(here.join("Cargo.toml")).unwrap();
    let names = manifest.split("[[example]]\nname = \"").skip(1).map(|rest| rest.split('"').next().unwrap());
    for name in names.chain(["horde", "crowd", "idle_patrol", "guards_from_a_file", "swarm"]) {
        assert!(page.contains(&format!("--example {name}")), "docs/gallery.md has no command for {name}");
    }
}

#[test]
fn the_enemy_sees_the_player_and_chases_it() {
    let shown = part_of(include_str!("golden/enemy.txt"), " 7.0 s", 18);
    assert_drawn("enemy.svg", "cargo run --example enemy", &shown);
}

#[test]
fn the_miner_and_his_wife_talk_in_the_colors_of_the_book() {
    let mut out = Vec::new();
    assert_eq!(west_world::answer(Vec::<OsString>::new(), true, &mut out, &mut Vec::new()), 0);
    let printed = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = printed.lines().collect();
    let telegram = lines.iter().position(|line| line.contains("telegram")).unwrap();
    assert_drawn("west_world.svg", "cargo run --release --example west_world", &lines[telegram - 4..telegram + 14]);
}

#[test]
fn the_lever_of_the_door_is_pulled() {
    let shown = part_of(include_str!("golden/door_and_menu.txt"), "THE DOOR", 22);
    assert_drawn("door_and_menu.svg", "cargo run --release --example door_and_menu", &shown);
}

#[test]
fn the_player_walks_past_a_hopper_a_bat_and_a_gunner() {
    let shown = part_of(include_str!("golden/critters.txt"), "tick 90", 22);
    assert_drawn("critters.svg", "cargo run --release --example critters", &shown);
}

#[test]
fn the_unit_works_off_its_orders() {
    let shown = part_of(include_str!("golden/orders.txt"), "  8  --  enemy 0", 24);
    assert_drawn("orders.svg", "cargo run --release --example orders", &shown);
}

#[test]
fn the_giant_staggers_and_becomes_angry() {
    let shown = part_of(include_str!("golden/boss.txt"), "  7.0 s", 20);
    assert_drawn("boss.svg", "cargo run --release --example boss --features definition", &shown);
}

#[test]
fn the_creatures_of_the_bestiary_are_counted() {
    let shown = part_of(include_str!("golden/bestiary.txt"), "300 creatures", 14);
    assert_drawn("bestiary.svg", "cargo run --release --example bestiary --features definition,script", &shown);
}

#[test]
fn the_report_of_a_bug_is_played_up_to_a_tick() {
    let shown: Vec<&str> = include_str!("golden/replay.txt").lines().collect();
    let command = "cargo run --example replay --features serde -- --report target/replay.ron --to 57";
    assert_drawn("replay.svg", command, &shown);
}
