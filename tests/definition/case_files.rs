//! Plays files of cases: definitions, each with what is found in it.
//!
//! ```text
//! ## A sentence, which is true of the cases below it
//! initial = 'a'
//! states.a.exits = [{ to = 'bb' }]
//! #^ 26 error: unknown state `bb`: did you mean `b`?
//! states.b.final = true
//!
//! - to = 'bb'
//! + to = bb
//! > 2:26: error: a text stands in quotes: write `"bb"`
//! ```
//!
//! An empty line divides the cases. Lines with `-` and `+` change the last definition that is written in full: `-` has a text that
//! stands in it once, and `+` what stands there instead, or nothing, if the line of that text goes. Lines that begin with `#^` or
//! `>` are what a test finds; those that begin with `//` are comments. `UPDATE=1 cargo test --all-features --test definition`
//! writes what is found into the files: read the difference. Those of `reported.txt` are written by `--test reported`.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// A case without what is expected of it.
pub(crate) struct Case<'a> {
    /// As they are in the file, with the comments.
    pub(crate) lines: Vec<&'a str>,
    /// The last definition that was written in full, in an earlier case.
    base: &'a str,
}

impl Case<'_> {
    /// How many lines there are before the first step, which begins with `$`.
    pub(crate) fn head(&self) -> usize {
        self.lines.iter().position(|line| line.starts_with("$ ")).unwrap_or(self.lines.len())
    }

    /// Whether the case changes a definition that stands elsewhere.
    fn is_change(&self) -> bool {
        self.lines.iter().any(|line| line.starts_with("- "))
    }

    /// The definition that the case writes or changes, or else the last one.
    pub(crate) fn definition(&self) -> String {
        let head = &self.lines[..self.head()];
        let written: String = head.iter().filter(|line| is_definition(line)).flat_map(|line| [*line, "\n"]).collect();
        if !self.is_change() {
            return if written.is_empty() { self.base.to_owned() } else { written };
        }
        let mut definition = self.base.to_owned();
        let changed: Vec<_> = head.iter().filter(|line| line.starts_with(['-', '+'])).collect();
        for change in changed.chunk_by(|line, next| line.starts_with('-') || next.starts_with('+')) {
            let lines = |sign: char| change.iter().filter_map(move |line| line.strip_prefix(sign));
            let of = |sign: char| lines(sign).map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>();
            let (mut right, wrong) = (of('-').join("\n"), of('+'));
            if wrong.is_empty() {
                right.push('\n');
            }
            assert_eq!(definition.matches(&right).count(), 1, "`{right}` stands in the definition once");
            definition = definition.replace(&right, &wrong.join("\n"));
        }
        definition
    }
}

fn is_definition(line: &str) -> bool {
    !line.starts_with("## ") && !line.starts_with("//")
}

/// Plays all cases of a file, and then panics if any of them has failed.
///
/// `answer` returns the lines of a case together with what is found.
#[track_caller]
pub(crate) fn assert_cases(file: &str, mut answer: impl FnMut(&Case<'_>) -> Vec<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/definition/case_files").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (mut sentence, mut base, mut failures, mut played) = ("", String::new(), String::new(), Vec::new());
    for expected in text.trim_end().split("\n\n") {
        let lines: Vec<_> = expected.lines().filter(|line| !line.starts_with("#^") && !line.starts_with('>')).collect();
        sentence = lines.iter().find_map(|line| line.strip_prefix("## ")).unwrap_or(sentence);
        let case = Case { lines, base: &base };
        let is_empty = !case.lines.iter().any(|line| is_definition(line));
        let found =
            catch_unwind(AssertUnwindSafe(|| if is_empty { expected.to_owned() } else { answer(&case).join("\n") }));
        if !found.as_ref().is_ok_and(|found| found == expected) {
            let found = found.as_deref().unwrap_or("a panic");
            writeln!(failures, "{sentence}\n\nexpected:\n{expected}\n\nfound:\n{found}\n").expect("a string takes it");
        }
        if !case.is_change() {
            base = case.definition();
        }
        played.push(found.unwrap_or_else(|_| expected.to_owned()));
    }
    assert!(played.len() > 1, "{file} has no case");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, played.join("\n\n") + "\n").expect("the file can be written");
    }
    assert!(failures.is_empty(), "{file}\n\n{failures}");
}

/// Plays cases of which a text is found, such as a drawing. It stands behind `>` below the definition.
#[track_caller]
pub(crate) fn assert_texts(file: &str, text_of: impl Fn(&str) -> String) {
    assert_cases(file, |case| {
        let text = text_of(&case.definition());
        let found = text.trim_end().lines().map(|line| format!("> {line}").trim_end().to_owned());
        case.lines.iter().map(|line| (*line).to_owned()).chain(found).collect()
    });
}

/// Plays cases of which notes on lines are found. `notes_of` returns the number of the line, the column and the text of each.
///
/// A note stands behind `#^` below its line, or behind `>`, where the definition is written elsewhere.
#[track_caller]
pub(crate) fn assert_notes(file: &str, notes_of: impl Fn(&str) -> Vec<(usize, usize, String)>) {
    assert_cases(file, |case| {
        let notes = notes_of(&case.definition());
        let mut found: Vec<_> = case.lines.iter().map(|line| (*line).to_owned()).collect();
        if case.is_change() {
            found.extend(notes.into_iter().map(|(line, column, text)| format!("> {line}:{column}: {text}")));
            return found;
        }
        assert!(notes.is_sorted_by_key(|(line, ..)| *line), "{notes:?}");
        let places: Vec<_> = (0..case.lines.len()).filter(|at| is_definition(case.lines[*at])).collect();
        for (line, column, text) in notes.into_iter().rev() {
            found.insert(places[line - 1] + 1, format!("#^ {column} {text}"));
        }
        found
    });
}
