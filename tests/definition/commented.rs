//! What is reported of a file of definitions, and files with comments that say it.

use demeanor::definition::{Outline, Problem, Words};

/// What is reported of a file, a line each: its warnings if it works, and otherwise its mistakes.
pub(crate) fn reported(file: &str, words: Option<&Words>) -> Vec<String> {
    match Outline::parse_all("a.toml", file, words) {
        Ok(outlines) => outlines[0].warnings().iter().map(Problem::located).collect(),
        Err(problems) => problems.iter().map(Problem::located).collect(),
    }
}

/// Compares what is reported of files with their comments. `#^ 9 error: this is no value` has the column and the text.
#[track_caller]
pub(crate) fn assert_reported(files: &str, words: Option<&Words>) {
    assert_comments(files, |file| {
        let notes = reported(file, words).into_iter().map(|line| {
            let (line, note) = line.strip_prefix("a.toml:").unwrap().split_once(':').unwrap();
            (line.parse().unwrap(), note.replacen(": ", " ", 1))
        });
        notes.collect()
    });
}

/// Compares the notes on the lines of files with their comments, which begin with `#^` and stand below the line.
///
/// An empty line divides the files. `notes_of` returns the number of the line and the text of each note on a file.
#[track_caller]
pub(crate) fn assert_comments(files: &str, notes_of: impl Fn(&str) -> Vec<(usize, String)>) {
    for file in files.split("\n\n") {
        let commented: Vec<_> = file.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let lines: Vec<_> = commented.iter().filter(|line| !line.starts_with("#^")).copied().collect();
        let notes = notes_of(&(lines.join("\n") + "\n"));
        assert!(notes.is_sorted_by_key(|(line, _)| *line), "{notes:?}");

        let mut found = Vec::new();
        for (line, number) in lines.iter().zip(1..) {
            found.push((*line).to_owned());
            found.extend(notes.iter().filter(|(at, _)| *at == number).map(|(_, note)| format!("#^ {note}")));
        }
        assert_eq!(found.len(), lines.len() + notes.len(), "{notes:?}");
        let (found, expected) = (found.join("\n"), commented.join("\n"));
        assert!(found == expected, "found:\n{found}\n\nexpected:\n{expected}");
    }
}
