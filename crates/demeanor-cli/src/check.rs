//! `demeanor check`: every mistake of every file.

use std::path::PathBuf;

use demeanor::definition::Words;

use crate::{Outcome, complain, outline, report, tell};

/// Returns whether no file has an error.
pub(crate) fn check(files: &[PathBuf], words: Option<&Words>) -> Outcome {
    let mut is_well = true;
    for file in files {
        let shown = file.display();
        let outline = match outline(file, words) {
            Ok(outline) => outline,
            Err(why) => {
                complain(&format!("error: {why}"));
                is_well = false;
                continue;
            }
        };
        match outline {
            Ok(outline) => {
                report(outline.warnings());
                let (states, warnings) = (outline.states().len(), outline.warnings().len());
                tell(&format!("{shown}: {}, {}\n", count(states, "state"), count(warnings, "warning")))?;
                let unchecked = outline.unchecked();
                for (kind, names) in [
                    ("values", unchecked.values.keys().map(String::as_str).collect::<Vec<_>>()),
                    ("behaviours", unchecked.behaviours.iter().map(String::as_str).collect()),
                    ("messages", unchecked.messages.iter().map(String::as_str).collect()),
                ] {
                    if !names.is_empty() {
                        let names = names.join(", ");
                        tell(&format!("{shown}: {kind} not checked without --vocabulary: {names}\n"))?;
                    }
                }
            }
            Err(problems) => {
                is_well = false;
                report(&problems);
                let warnings = problems.iter().filter(|problem| problem.is_warning()).count();
                let errors = problems.iter().len() - warnings + problems.unlisted();
                tell(&format!("{shown}: {}, {}\n", count(errors, "error"), count(warnings, "warning")))?;
            }
        }
    }
    Ok(is_well)
}

fn count(number: usize, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}
