//! `demeanor check`: every mistake of every file.

use std::collections::BTreeSet;
use std::path::PathBuf;

use demeanor::definition::{Outline, Words};

use crate::{Outcome, complain, outlines, report, tell};

/// Returns whether no file has an error.
pub(crate) fn check(files: &[PathBuf], words: Option<&Words>) -> Outcome {
    let mut is_well = true;
    for file in files {
        let shown = file.display();
        let outlines = match outlines(file, words) {
            Ok(outlines) => outlines,
            Err(why) => {
                complain(&format!("error: {why}"));
                is_well = false;
                continue;
            }
        };
        match outlines {
            Ok(outlines) => {
                // Each has the warnings of the whole file.
                let warnings = outlines.first().map_or(&[][..], Outline::warnings);
                report(warnings);
                let states = outlines.iter().map(|outline| outline.states().len()).sum();
                let states = count(states, "state");
                let machines =
                    if outlines.len() > 1 { format!(" in {} machines", outlines.len()) } else { String::new() };
                tell(&format!("{shown}: {states}{machines}, {}\n", count(warnings.len(), "warning")))?;
                let unchecked = || outlines.iter().map(Outline::unchecked);
                let field = |message: &String, field: &String| format!("{message}.{field}");
                let fields = unchecked().flat_map(|of| &of.message_fields);
                let fields = fields.flat_map(|(of, names)| names.keys().map(move |name| field(of, name)));
                let of_file = unchecked().any(|of| of.ticks).then(|| "ticks_per_second".to_owned());
                for (kind, names) in [
                    ("values", unchecked().flat_map(|of| of.values.keys().cloned()).collect::<BTreeSet<_>>()),
                    ("behaviors", unchecked().flat_map(|of| of.behaviours.iter().cloned()).collect()),
                    ("messages", unchecked().flat_map(|of| of.messages.iter().cloned()).collect()),
                    ("fields", fields.collect()),
                    ("rate", of_file.into_iter().collect()),
                ] {
                    if !names.is_empty() {
                        let names = names.into_iter().collect::<Vec<_>>().join(", ");
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
