//! How much memory reading a file needs, in proportion to its length: also where the file is mistaken from its first line to its
//! last, or says more than anybody would write.
#![cfg(feature = "definition")]

use std::fmt::Write as _;

use allocation_counter::measure;
use demeanor::definition::{Outline, Problems, Proof};

/// Reads a file. Returns what was read, and how many bytes were allocated at once for each byte of the file.
fn read(text: &str) -> (Result<usize, Problems>, u64) {
    let mut read = None;
    let memory = measure(|| {
        read = Some(Outline::parse_all("many.toml", text, None).map(|outlines| outlines.len()));
    });
    (read.unwrap(), memory.bytes_max / text.len() as u64)
}

/// A file is refused with one report, and needs no more memory for each of its bytes than so much.
#[track_caller]
fn assert_refused(text: &str, report: &str, most: u64) {
    let (read, per_byte) = read(text);
    let problems: Vec<_> = read.unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(problems, [report]);
    assert!(per_byte <= most, "{per_byte} bytes for each byte of the file");
}

fn many(count: usize, of: impl Fn(usize) -> String) -> String {
    (0..count).map(of).collect()
}

#[test]
fn a_file_full_of_merge_marks_needs_a_few_bytes_for_each_of_its_own() {
    let text = "<<<<<<< HEAD\n".repeat(80_000);
    let report = "two versions of this part have not been merged (and at least 199 more like this, in lines 2, 3, 4, 5, 6, 7 and so on)";
    assert_refused(&text, report, 4);
}

#[test]
fn all_merge_marks_are_counted() {
    let text = "<<<<<<< HEAD\ninitial = 'a'\n=======\n>>>>>>> theirs\n".repeat(5_000);
    assert_eq!(read(&text).0.unwrap_err().errors(), 5_000);
}

#[test]
fn a_file_full_of_missing_quotes_needs_a_few_bytes_for_each_of_its_own() {
    let states = many(20_000, |i| format!("[states.s{i}]\nexits = [{{ to = s{i}, when = 'x > {i}' }}]\n"));
    let report = "a text stands in quotes (and 199 more like this, in lines 5, 7, 9, 11, 13, 15 and so on)";
    assert_refused(&format!("initial = 's0'\n{states}"), report, 6);
}

#[test]
fn a_value_of_very_many_parts_is_refused_unread() {
    let behaviors = many(300_000, |i| format!("'b{i}', "));
    let text = format!("initial = 'a'\n[states.a]\nbehavior = [\n{behaviors}]\n");
    assert_refused(&text, "the value is too long", 12);
}

#[test]
fn more_machines_than_anybody_would_write_are_refused() {
    let mut text = many(40_000, |i| format!("[machines.m{i}]\nlike = 'm{}'\n", i + 1));
    write!(text, "[machines.m40000]\ninitial = 'a'\nstates.a.final = true\n").unwrap();
    assert_refused(&text, "a file may have 10000 machines, and this one has 40001", 12);
}

#[test]
fn more_exits_than_anybody_would_write_are_refused() {
    let of = |count| {
        let exits = many(count, |i| format!("[[states.a.exits]]\nto = 'a'\nafter = 1.{i}\n"));
        format!("initial = 'a'\n{exits}")
    };
    assert_eq!(read(&of(10_000)).0.unwrap(), 1);
    assert_refused(&of(10_001), "a state may have 10000 exits, and this one has more", 40);
}

#[test]
fn a_state_needs_about_a_kilobyte() {
    let of = |key: &str| {
        let states = many(20_000, |i| format!("[states.s{i}]\nexits = [{{ to = 's{}', {key} }}]\n", (i + 1) % 20_000));
        format!("initial = 's0'\n{states}")
    };
    let (outlines, per_byte) = read(&of("after = 1"));
    assert_eq!(outlines.unwrap(), 1);
    assert!(per_byte <= 20, "{per_byte} bytes for each byte of the file");
    let (circle, per_byte) = read(&of("always = true"));
    assert_eq!(circle.unwrap_err().errors(), 1);
    assert!(per_byte <= 20, "{per_byte} bytes for each byte of the file");
}

/// The place of each state was stored as a text with the names of all states around it.
#[test]
fn states_within_each_other_need_little_more_memory_than_others() {
    let states = many(20_000, |i| format!("[states.s{i}]\nparent = 's{}'\n", i + 1));
    let text = format!("initial = 's0'\n{states}[states.s20000]\n");
    assert_refused(&text, "state `s19936` is nested deeper than 64 states", 30);
}

#[test]
fn a_proof_of_many_states_and_their_properties_needs_a_few_kilobytes_for_each_state() {
    let states = many(300, |i| {
        format!(
            "[states.s{i}]\nexits = [{{ to = 's{}', when = 'x > {}' }}, {{ to = 's0', after = 2 }}]\n",
            (i + 1) % 300,
            i % 7
        )
    });
    let text = format!(
        "initial = 's0'\n[properties]\na.never = 'in(s3) and x > 2'\nb.never = 'in(s17) and in(s23)'\n{states}"
    );
    let outlines = Outline::parse_all("many.toml", &text, None).unwrap();
    let memory = measure(|| assert_eq!(Proof::of(&outlines).properties().len(), 2));
    let per_state = memory.bytes_max / 300;
    assert!(per_state <= 16_000, "{per_state} bytes for each state");
}
