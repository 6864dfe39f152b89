//! `demeanor check`: reports the mistakes of all files.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use demeanor::definition::{Finding, Outline, Proof, PropertyAnswer, Words};

use crate::checked::{Checked, Content};
use crate::input::Input;
use crate::shown::{escaped, listed};
use crate::{Exit, Outcome, WordsFile, complain, count, json, report, tell, witness};

#[derive(Args)]
pub(crate) struct Check {
    /// The files; `-` is standard input.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Exit with 1 also if there is only a warning.
    #[arg(long)]
    deny_warnings: bool,
    /// Also look at all situations: find conditions that never hold, exits that are never taken, and states that are never
    /// reached, that change to each other in every tick, or that have no way out; and decide whether the file's properties hold. Each finding comes with a command that
    /// shows it.
    #[arg(long)]
    prove: bool,
    /// The format of the report: text for people, or one JSON document on standard output.
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    pub(crate) words: WordsFile,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// Checks all files. If a file cannot be read, the others are still checked.
pub(crate) fn check(check: &Check, words: Option<&Words>) -> Outcome {
    let mut exit = Exit::Fine;
    let mut all = Vec::new();
    for path in &check.files {
        let checked = Input::new(path).and_then(|input| checked(&input, words, check.prove));
        match &checked {
            Ok(checked) if checked.errors > 0 || check.deny_warnings && checked.warnings > 0 => {
                exit = exit.max(Exit::Found);
            }
            Ok(_) => {}
            Err(_) => exit = Exit::Failed,
        }
        match (check.format, checked) {
            (Format::Json, checked) => all.push(checked.map_err(|why| (path.display().to_string(), why))),
            (Format::Text, Ok(checked)) => say(&checked, check)?,
            (Format::Text, Err(why)) => complain(&format!("error: {}", escaped(&why))),
        }
    }
    if check.format == Format::Json {
        tell(&json::document(&all))?;
    }
    Ok(exit)
}

pub(crate) fn checked(input: &Input, words: Option<&Words>, proves: bool) -> Result<Checked, String> {
    let file = input.name();
    let mut checked = match input.outlines(words)? {
        Ok(outlines) => {
            // Each machine has the warnings of the whole file.
            let (problems, unlisted) = outlines
                .first()
                .map_or((Vec::new(), 0), |first| (first.warnings().to_vec(), first.unlisted_warnings()));
            Checked {
                file,
                errors: 0,
                warnings: problems.len() + unlisted,
                problems,
                content: Some(Content {
                    machines: outlines.len(),
                    states: outlines.iter().map(|outline| outline.states().len()).sum(),
                    unchecked: unchecked(&outlines),
                    proof: proves.then(|| Proof::of(&outlines)),
                }),
            }
        }
        Err(problems) => Checked {
            file,
            errors: problems.errors(),
            warnings: problems.warnings(),
            problems: problems.iter().cloned().collect(),
            content: None,
        },
    };
    if let Some(proof) = checked.proof() {
        let unlisted = checked.warnings - checked.problems.len() + proof.unlisted();
        let all = checked.all();
        let errors = all.iter().filter(|(problem, _)| !problem.is_warning()).count();
        (checked.errors, checked.warnings) = (errors, all.len() - errors + unlisted);
    }
    Ok(checked)
}

fn unchecked(outlines: &[Outline]) -> Vec<(&'static str, Vec<String>)> {
    let unchecked = || outlines.iter().map(Outline::unchecked);
    let field = |message: &String, field: &String| format!("{message}.{field}");
    let fields = unchecked().flat_map(|of| &of.message_fields);
    let fields = fields.flat_map(|(of, names)| names.keys().map(move |name| field(of, name)));
    let of_file = unchecked().any(|of| of.ticks).then(|| "ticks_per_second".to_owned());
    let kinds: [(_, BTreeSet<String>); 7] = [
        ("values", unchecked().flat_map(|of| of.values.keys().cloned()).collect()),
        ("behaviors", unchecked().flat_map(|of| of.behaviors.iter().cloned()).collect()),
        ("messages", unchecked().flat_map(|of| of.messages.iter().cloned()).collect()),
        ("actions", unchecked().flat_map(|of| of.actions.keys().cloned()).collect()),
        ("fields", fields.collect()),
        ("scripts", unchecked().flat_map(|of| of.scripts.iter().cloned()).collect()),
        ("rate", of_file.into_iter().collect()),
    ];
    kinds.into_iter().map(|(kind, names)| (kind, names.into_iter().collect())).collect()
}

/// Draws the problems and findings, and prints a summary.
fn say(checked: &Checked, check: &Check) -> Result<(), String> {
    let all = checked.all();
    for (problem, finding) in &all {
        report([*problem]);
        if finding.is_some_and(Finding::is_assumed) {
            complain("  assumed: no behavior refuses a change\n");
        }
        let Some(witness) = finding.and_then(Finding::witness) else { continue };
        let machine = finding.and_then(Finding::machine);
        let watches = problem.code_name() == "property-fails";
        let command = witness::command(witness, &checked.file, machine, check.words.path(), watches);
        let lines: Vec<_> = command.lines().map(escaped).collect();
        complain(&format!("  to see it:\n\n{}\n", lines.join("\n")));
    }
    let shown = escaped(&checked.file);
    let first = match &checked.content {
        Some(_) if checked.errors > 0 => count(checked.errors, "error"),
        Some(content) => {
            let machines =
                if content.machines > 1 { format!(" in {} machines", content.machines) } else { String::new() };
            format!("{}{machines}", count(content.states, "state"))
        }
        None => count(checked.errors, "error"),
    };
    let unlisted = checked.errors + checked.warnings - all.len();
    let more = if unlisted > 0 { format!(", {unlisted} of them not shown") } else { String::new() };
    let unchecked: Vec<_> = checked.content.iter().flat_map(|content| &content.unchecked).collect();
    let unchecked = || unchecked.iter().filter(|(_, names)| !names.is_empty());
    // Even a single line must say that the words were not checked.
    let doubt =
        if unchecked().next().is_some() { "; the game's words are not checked without --vocabulary" } else { "" };
    tell(&format!("{shown}: {first}, {}{more}{doubt}\n", count(checked.warnings, "warning")))?;
    for (kind, names) in unchecked() {
        tell(&format!("{shown}: {kind} not checked: {}\n", listed(names)))?;
    }
    for property in checked.proof().into_iter().flat_map(Proof::properties) {
        let answer = match property.answer() {
            PropertyAnswer::Holds if property.is_assumed() => "holds if no behavior refuses a change".to_owned(),
            PropertyAnswer::Holds => "holds".to_owned(),
            PropertyAnswer::Fails(_) => "fails".to_owned(),
            PropertyAnswer::NotDecided(on) => format!("is not decided: it depends {on}"),
            _ => continue,
        };
        let of = property.machine().map_or(String::new(), |machine| format!(" of {machine}"));
        tell(&format!("{shown}: property {}{of} {}\n", escaped(property.name()), escaped(&answer)))?;
    }
    for note in checked.proof().into_iter().flat_map(Proof::notes) {
        tell(&format!("{shown}: {}\n", escaped(note)))?;
    }
    Ok(())
}
