//! The output of the example `horde`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use crate as horde;
use broken::Broken;

#[path = "../../tests/broken/mod.rs"]
mod broken;

/// Runs the example with a command line. Returns the exit code, the output, and the error output.
fn run(arguments: &str) -> (u8, String, String) {
    let (mut out, mut err) = (vec![], vec![]);
    let code = horde::answer(arguments.split_whitespace().map(OsString::from), &mut out, &mut err);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// Returns the path of a file for one test, beside the program that runs the tests.
fn picture(name: &str) -> PathBuf {
    env::current_exe().unwrap().with_extension("files").join(name)
}

/// Runs the horde. Returns the output, without the times that depend on the computer, and the picture.
#[track_caller]
fn play(arguments: &str, name: &str) -> (Vec<String>, Vec<u8>) {
    let file = picture(name);
    let (code, printed, complaints) = run(&format!("{arguments} --output {}", file.display()));
    assert_eq!((code, complaints.as_str()), (0, ""), "{arguments}");
    let is_time = |word: &&str| word.split_once('.').is_some_and(|(_, digits)| digits.len() == 2);
    let words = |line: &str| line.split_whitespace().filter(|word| !is_time(word)).collect::<Vec<_>>().join(" ");
    let Some((table, at)) = printed.rsplit_once("\nPopulation per state over time: ") else { panic!("{printed}") };
    assert_eq!(at, format!("{}\n", file.display()));
    (table.lines().map(words).collect(), fs::read(file).unwrap())
}

const THREE_DAYS: &str = "--owners 20000 --ticks 720 --threads 1";

#[test]
fn the_horde_prints_what_changed_when_and_who_is_where_at_the_end() {
    let (table, _) = play(THREE_DAYS, "table.svg");
    let expected = [
        "20 000 enemies, 720 ticks, 1 thread, churn 100 %",
        "",
        "ticks ns per owner and tick changes per tick",
        "morning 150 910 (4.6 %)",
        "raid 240 953 (4.8 %)",
        "evening 90 687 (3.4 %)",
        "night 240 365 (1.8 %)",
        "all 720 715 (3.6 %)",
        "",
        "at the end owners",
        "Rest 17 799",
        "Idle 2",
        "Think 1 589",
        "Wander 610",
        "Chase 0",
        "Flee 0",
    ];
    assert_eq!(table, expected);
}

#[test]
fn the_horde_rests_by_night_and_chases_the_hero_by_day() {
    let states_after = |ticks: u32| {
        let (table, _) = play(&format!("--owners 3000 --ticks {ticks} --threads 1"), &format!("after-{ticks}.svg"));
        let at_the_end = table.iter().skip_while(|line| *line != "at the end owners").skip(1);
        let population = |line: &String| {
            let (name, digits) = line.split_once(' ').unwrap();
            (name.to_owned(), digits.replace(' ', "").parse::<u32>().unwrap())
        };
        at_the_end.map(population).collect::<Vec<_>>()
    };
    let of = |states: &[(String, u32)], name: &str| states.iter().find(|(state, _)| state == name).unwrap().1;

    let at_noon = states_after(60);
    assert!(of(&at_noon, "Chase") > 600 && of(&at_noon, "Rest") < 600, "{at_noon:?}");
    let before_dawn = states_after(230);
    assert!(of(&before_dawn, "Chase") == 0 && of(&before_dawn, "Rest") > 2000, "{before_dawn:?}");
    for states in [at_noon, before_dawn] {
        assert_eq!(states.iter().map(|(_, population)| population).sum::<u32>(), 3000);
    }
}

#[cfg(feature = "parallel")]
#[test]
fn the_horde_does_the_same_on_any_number_of_threads() {
    let (mut table, picture) = play(THREE_DAYS, "threads-1.svg");
    for threads in [2, 4] {
        let arguments = THREE_DAYS.replace("--threads 1", &format!("--threads {threads}"));
        let (other_table, other_picture) = play(&arguments, &format!("threads-{threads}.svg"));
        table[0] = format!("20 000 enemies, 720 ticks, {threads} threads, churn 100 %");
        assert_eq!(other_table, table);
        assert!(other_picture == picture, "{threads} threads: another picture");
    }
}

#[cfg(feature = "parallel")]
#[test]
fn the_horde_starts_no_more_threads_than_are_of_use() {
    let most = 4 * std::thread::available_parallelism().unwrap().get();
    let file = picture("crowded.svg");
    let arguments = |threads| format!("--owners 10 --ticks 2 --threads {threads} --output {}", file.display());

    let (code, printed, complaints) = run(&arguments(most + 1));
    let told = format!("horde: {most} threads, not {}: more would only wait for work\n", most + 1);
    assert_eq!((code, complaints), (0, told));
    assert!(printed.starts_with(&format!("10 enemies, 2 ticks, {most} threads, ")), "{printed}");

    let (_, printed, complaints) = run(&arguments(most));
    assert_eq!(complaints, "");
    assert!(printed.starts_with(&format!("10 enemies, 2 ticks, {most} threads, ")), "{printed}");
}

#[cfg(not(feature = "parallel"))]
#[test]
fn more_threads_need_the_feature() {
    let (code, _, complaints) = run("--threads 2");
    assert_eq!(code, 2);
    assert!(complaints.contains("more than 1 thread needs `--features parallel`"), "{complaints}");
}

#[test]
fn churn_is_how_often_the_horde_changes() {
    let changes_by = |churn: u32| {
        let arguments = format!("--owners 2000 --ticks 240 --threads 1 --churn {churn}");
        let (table, _) = play(&arguments, &format!("churn-{churn}.svg"));
        let all = table.iter().find(|line| line.starts_with("all ")).unwrap();
        all.split_whitespace().nth(2).unwrap().parse::<u32>().unwrap()
    };
    let [never, half, usual, often] = [0, 50, 100, 1000].map(changes_by);
    assert_eq!(never, 0);
    assert!(0 < half && half < usual && usual < often, "{half}, {usual}, {often}");
}

#[test]
fn the_picture_names_the_states_and_has_an_area_for_each() {
    let (_, svg) = play(THREE_DAYS, "named.svg");
    let svg = String::from_utf8(svg).unwrap();
    for name in ["20 000 enemies, 3 days", "Rest", "Idle", "Think", "Wander", "Chase", "Flee", "18:00", "night"] {
        assert!(svg.lines().any(|line| line == name), "{name}");
    }
    assert_eq!(svg.matches("<polygon").count(), 6);
}

#[test]
fn a_picture_is_a_png_if_its_name_says_so() {
    let (_, png) = play("--owners 100 --ticks 10 --threads 1", "small.PNG");
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
}

#[test]
fn a_horde_of_nobody_and_one_of_no_time_are_drawn_too() {
    for (arguments, name) in [
        ("--owners 0", "nobody"),
        ("--owners 1 --ticks 1", "one"),
        ("--owners 5 --ticks 0", "no-time"),
        ("--owners 5 --ticks 5000", "long"),
    ] {
        let (_, svg) = play(&format!("{arguments} --threads 1"), &format!("{name}.svg"));
        assert!(svg.ends_with(b"</svg>\n"), "{arguments}");
    }
}

#[test]
fn a_picture_that_cannot_be_written_is_an_error_and_leaves_nothing_behind() {
    for name in ["taken.svg", "taken.png"] {
        let directory = picture("taken").join(name);
        fs::create_dir_all(&directory).unwrap();
        let (code, _, complaints) = run(&format!("--owners 1 --ticks 1 --output {}", directory.display()));
        assert_eq!(code, 1);
        assert!(complaints.starts_with(&format!("horde: {}: ", directory.display())), "{complaints}");
    }
    let mut left: Vec<_> = fs::read_dir(picture("taken")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["taken.png", "taken.svg"]);
}

/// If the file were written in place, it would also change under its other name.
#[test]
fn a_picture_takes_the_place_of_the_old_one_only_once_it_is_complete() {
    for name in ["again.svg", "again.png"] {
        let (file, other_name) = (picture(name), picture(&format!("old-{name}")));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "the old one").unwrap();
        let _ = fs::remove_file(&other_name);
        fs::hard_link(&file, &other_name).unwrap();
        let (_, new) = play("--owners 1 --ticks 1 --threads 1", name);
        assert!(new.len() > 1000, "{name}");
        assert_eq!(fs::read(&other_name).unwrap(), b"the old one", "{name}");
    }
}

#[test]
fn a_wrong_option_is_answered_with_the_usage_and_exit_code_2() {
    let usage = horde::USAGE;
    for (arguments, complaint) in [
        ("--bogus", "invalid option '--bogus'"),
        ("west", "unexpected argument \"west\""),
        ("--ticks soon", "cannot parse argument \"soon\": invalid digit found in string"),
        ("--threads 0", "cannot parse argument \"0\": there must be at least 1 thread"),
        ("--output horde.gif", "a picture is written as .svg or .png, not as horde.gif"),
        ("--owners", "missing argument for option '--owners'"),
    ] {
        assert_eq!(run(arguments), (2, String::new(), format!("horde: {complaint}\n{usage}\n")));
    }
}

#[test]
fn help_is_the_usage() {
    assert_eq!(run("--help"), (0, format!("{}\n", horde::USAGE), String::new()));
}

#[test]
fn a_reader_who_stops_early_is_no_error() {
    let arguments = |line: &str| line.split_whitespace().map(OsString::from).collect::<Vec<_>>();
    let mut err = vec![];
    assert_eq!(
        horde::answer(arguments("--owners 1 --ticks 1 --threads 1"), &mut Broken(ErrorKind::BrokenPipe), &mut err),
        0
    );
    assert_eq!(err, b"");
}
