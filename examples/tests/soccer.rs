//! The output of the example `soccer`, and the match that it plays.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::LazyLock;

use crate as soccer;
use broken::Broken;
use soccer::Match;
use soccer::game::{Questions, Who};
use soccer::pitch::{LENGTH, Point, Shirt, Side, WIDTH};

mod broken;

/// Runs the example with a command line. Returns the exit code, the output, and the error output.
fn run(arguments: &str) -> (u8, String, String) {
    let (mut out, mut err) = (vec![], vec![]);
    let code = soccer::answer(arguments.split_whitespace().map(OsString::from), &mut out, &mut err);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// Returns the path of a file for one test, beside the program that runs the tests.
fn picture(name: &str) -> PathBuf {
    env::current_exe().unwrap().with_extension("files").join(name)
}

fn players() -> impl Iterator<Item = Shirt> {
    Side::BOTH.into_iter().flat_map(Side::players)
}

/// Plays a match, and checks all members after each tick.
fn play(seed: u64, ticks: u64) -> Match {
    let is_on_pitch = |place: Point| (0.0..=LENGTH).contains(&place.x) && (0.0..=WIDTH).contains(&place.y);
    let mut game = Match::new(seed);
    for tick in 0..ticks {
        game.tick();
        for shirt in players() {
            let place = game.body(shirt).place;
            assert!(is_on_pitch(place), "tick {tick}: {shirt} is at {place:?}");
        }
        assert!(is_on_pitch(game.ball.place), "tick {tick}: the ball is at {:?}", game.ball.place);
    }
    game
}

/// A match of a quarter of an hour, which several tests check.
static MATCH: LazyLock<Match> = LazyLock::new(|| play(1, 20_000));

#[test]
fn both_sides_score() {
    let [orange, blue] = MATCH.score;
    assert!(orange > 5 && blue > 5, "{orange} : {blue}");
}

#[test]
fn everybody_takes_each_state_that_there_is() {
    let never = |states: &[&str], who: Vec<Who>| -> Vec<String> {
        let taken = |state: &str| who.iter().map(|who| MATCH.census.taken(state, *who)).collect::<Vec<_>>();
        let never = states.iter().filter(|state| taken(state).contains(&0));
        never.map(|state| format!("{state}: {:?}", taken(state))).collect()
    };
    let teams = Side::BOTH.map(Who::Team).to_vec();
    let keepers = players().filter(|shirt| shirt.is_keeper()).map(Who::from).collect();
    let field_players = players().filter(|shirt| !shirt.is_keeper()).map(Who::from).collect();
    let never = [
        never(&soccer::team::STATES, teams),
        never(&soccer::keeper::STATES, keepers),
        never(&soccer::field_player::STATES, field_players),
    ];
    assert_eq!(never.concat(), Vec::<String>::new());
}

#[test]
fn some_of_those_who_ask_for_a_pass_get_it_before_they_go_on() {
    let Questions { asked, answered } = MATCH.questions;
    assert!(0 < answered && answered < asked, "{answered} of {asked}");
}

#[test]
fn a_team_has_a_kick_off_for_each_goal() {
    let goals: u32 = MATCH.score.iter().sum();
    for side in Side::BOTH {
        assert_eq!(MATCH.census.taken("PrepareForKickOff", Who::Team(side)), goals, "{side:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_match_and_another_seed_another() {
    let end = |seed| {
        let game = play(seed, 3000);
        (game.score, game.census, game.questions, game.tracks)
    };
    assert_eq!(end(7), end(7));
    assert_ne!(end(7), end(8));
}

/// The physics consist of sums, products and square roots, which are the same on every system.
#[test]
fn the_match_of_the_first_seed_is_the_golden_one() {
    assert_eq!(run("--ticks 20000 --seed 1"), (0, include_str!("golden/soccer.txt").to_owned(), String::new()));
}

#[test]
fn the_score_and_a_table_for_each_type_of_owner_are_printed() {
    let printed = include_str!("golden/soccer.txt");
    let [orange, blue] = MATCH.score;
    let Questions { asked, answered } = MATCH.questions;
    let first_words = |line: &str| line.split("  ").next().unwrap().to_owned();
    let lines: Vec<String> = printed.lines().map(first_words).collect();
    let mut expected = vec![
        format!("Orange {orange} : {blue} Blue, after 20000 ticks (1000 seconds), seed 1"),
        String::new(),
        format!("{asked} times a player asked for a pass; {answered} times he got it within the same call"),
        String::new(),
        "how often each state was taken".to_owned(),
    ];
    for (title, states) in [
        ("a team", soccer::team::STATES.as_slice()),
        ("a keeper", &soccer::keeper::STATES),
        ("a field player", &soccer::field_player::STATES),
    ] {
        expected.extend([String::new(), title.to_owned()]);
        expected.extend(states.iter().map(|state| (*state).to_owned()));
    }
    assert_eq!(lines, expected);

    let blue_5 = Shirt { side: Side::Blue, number: 5 }.into();
    let chases = printed.lines().find(|line| line.starts_with("Chase")).unwrap();
    assert_eq!(chases.split_whitespace().last().unwrap(), MATCH.census.taken("Chase", blue_5).to_string());
}

#[test]
fn a_match_of_no_time_has_no_goals() {
    let file = picture("no-time.svg");
    let (code, printed, complaints) = run(&format!("--ticks 0 --svg {}", file.display()));
    assert_eq!((code, complaints.as_str()), (0, ""));
    assert!(printed.starts_with("Orange 0 : 0 Blue, after 0 ticks (0 seconds), seed 1\n"), "{printed}");
    assert!(fs::read_to_string(file).unwrap().ends_with("</svg>\n"));
}

#[test]
fn the_picture_has_the_score_a_track_of_everybody_and_the_state_of_each_player() {
    let file = picture("end.svg");
    let (code, printed, complaints) = run(&format!("--ticks 3000 --seed 7 --svg {}", file.display()));
    assert_eq!((code, complaints.as_str()), (0, ""));
    assert!(printed.ends_with(&format!("\nThe last seconds: {}\n", file.display())), "{printed}");

    let svg = fs::read_to_string(file).unwrap();
    let game = play(7, 3000);
    let [orange, blue] = game.score;
    assert!(svg.contains(&format!("</tspan> {orange} : {blue} <tspan")), "the score");
    assert_eq!(svg.matches("<g fill=\"none\" stroke=\"#").count(), 1 + 11, "the lines, and a track for each");
    let mut states: Vec<_> = players().map(|shirt| game.members().state_of(&shirt.into()).unwrap()).collect();
    states.sort();
    let labels = svg.lines().filter(|line| line.contains("paint-order"));
    let mut labels: Vec<&str> = labels.map(|line| line.split(['<', '>']).nth(2).unwrap()).collect();
    labels.sort_unstable();
    assert_eq!(labels, states);
}

/// If the file were written in place, it would also change under its other name.
#[test]
fn a_picture_takes_the_place_of_the_old_one_only_once_it_is_complete() {
    let (file, other_name) = (picture("again.svg"), picture("old-again.svg"));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    for name in [&file, &other_name] {
        let _ = fs::remove_file(name);
    }
    fs::write(&file, "the old one").unwrap();
    fs::hard_link(&file, &other_name).unwrap();
    assert_eq!(run(&format!("--ticks 1 --svg {}", file.display())).0, 0);
    assert!(fs::read_to_string(&file).unwrap().ends_with("</svg>\n"));
    assert_eq!(fs::read_to_string(&other_name).unwrap(), "the old one");
}

#[test]
fn a_picture_that_cannot_be_written_is_an_error_and_leaves_nothing_behind() {
    let directory = picture("taken").join("taken.svg");
    fs::create_dir_all(&directory).unwrap();
    let (code, _, complaints) = run(&format!("--ticks 1 --svg {}", directory.display()));
    assert_eq!(code, 1);
    assert!(complaints.starts_with(&format!("soccer: {}: ", directory.display())), "{complaints}");
    let left: Vec<_> = fs::read_dir(picture("taken")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["taken.svg"]);
}

#[test]
fn who_watches_sees_everybody_on_the_pitch_and_what_they_do() {
    let game = play(1, 100);
    let frame = without_escapes(&soccer::watch::frame(&game));
    let lines: Vec<&str> = frame.lines().collect();
    let state_of = |who: Who| game.members().state_of(&who).unwrap().into_owned();

    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let [orange, blue] = Side::BOTH.map(|side| state_of(Who::Team(side)));
    assert_eq!(words(lines[0]), ["Orange", &orange, "0", ":", "0", &blue, "Blue"]);

    let (pitch, beside): (Vec<&str>, Vec<&str>) = lines[1..22].iter().map(|row| row.split_at(63)).unzip();
    let pitch = pitch.concat();
    assert!(pitch.contains('o') && (1..=5).all(|number| pitch.contains(&number.to_string())), "{frame}");
    let beside: Vec<&str> = beside.into_iter().map(str::trim).filter(|text| !text.is_empty()).collect();
    let states: Vec<String> = players().map(|shirt| format!("{} {}", shirt.number, state_of(shirt.into()))).collect();
    assert_eq!(beside, states);

    assert_eq!(lines[22..], ["5.0 s"]);
}

#[test]
fn what_is_watched_fits_into_80_by_24_letters() {
    for ticks in [1, 300, 630] {
        let frame = without_escapes(&soccer::watch::frame(&play(1, ticks)));
        let columns = frame.lines().map(|line| line.chars().count()).max();
        assert!(frame.lines().count() <= 24 && columns <= Some(80), "{frame}");
    }
}

/// The picture in the README. To draw it again: `cargo run --example soccer -- --ticks 660 --film docs/images/soccer.svg`.
#[test]
fn the_film_is_the_golden_one() {
    let file = picture("film.svg");
    let (code, printed, complaints) = run(&format!("--ticks 660 --film {}", file.display()));
    assert_eq!((code, complaints.as_str()), (0, ""));
    assert!(printed.ends_with(&format!("\nThe last seconds, moving: {}\n", file.display())), "{printed}");
    assert!(fs::read_to_string(file).unwrap() == include_str!("../../docs/images/soccer.svg"));
}

/// A program that does not animate SVG shows the attributes of the elements.
#[test]
fn the_film_standing_still_shows_a_shot_with_the_state_of_everybody() {
    let svg = include_str!("../../docs/images/soccer.svg");
    let places: Vec<&str> =
        svg.split("transform=\"translate(").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
    let mut different = places.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!((places.len(), different.len()), (11, 11), "ten players and the ball, each at a place of its own");
    let ball: Vec<f64> = places[10].split(',').map(|number| number.parse().unwrap()).collect();
    assert!(ball[0] < 250.0 && (ball[1] - 392.0).abs() < 60.0, "the ball is in front of a goal: {ball:?}");
    assert_eq!(
        svg.matches("<text opacity=\"1\"").count(),
        13,
        "the score, and the states of ten players and two teams"
    );
}

#[test]
fn a_film_of_no_time_has_nobody_who_moves() {
    let file = picture("no-film.svg");
    assert_eq!(run(&format!("--ticks 3 --film {}", file.display())).0, 0);
    let svg = fs::read_to_string(file).unwrap();
    assert!(svg.ends_with("</svg>\n") && !svg.contains("animate"), "{svg}");
}

/// Returns the text without the escapes for colors and cursor movement.
fn without_escapes(text: &str) -> String {
    let (first, rest) = text.split_once('\x1b').unwrap();
    let rest = rest.split('\x1b').map(|part| part.trim_start_matches(|c: char| !c.is_ascii_alphabetic()));
    rest.fold(first.to_owned(), |text, part| text + &part[1..])
}

#[test]
fn a_wrong_option_is_answered_with_the_usage_and_exit_code_2() {
    let usage = soccer::USAGE;
    for (arguments, complaint) in [
        ("--bogus", "invalid option '--bogus'"),
        ("west", "unexpected argument \"west\""),
        ("--ticks soon", "cannot parse argument \"soon\": invalid digit found in string"),
        ("--seed -1", "cannot parse argument \"-1\": invalid digit found in string"),
        ("--svg", "missing argument for option '--svg'"),
        ("--watch=1", "unexpected argument for option '--watch': \"1\""),
    ] {
        assert_eq!(run(arguments), (2, String::new(), format!("soccer: {complaint}\n{usage}\n")));
    }
}

#[test]
fn help_is_the_usage() {
    assert_eq!(run("--help"), (0, format!("{}\n", soccer::USAGE), String::new()));
    assert_eq!(run("-h"), (0, format!("{}\n", soccer::USAGE), String::new()));
}

#[test]
fn a_reader_who_stops_early_is_no_error() {
    for arguments in ["--ticks 1", "--ticks 100000 --watch"] {
        let mut err = vec![];
        let arguments = arguments.split_whitespace().map(OsString::from);
        assert_eq!(soccer::answer(arguments, &mut Broken(ErrorKind::BrokenPipe), &mut err), 0);
        assert_eq!(err, b"");
    }
}
