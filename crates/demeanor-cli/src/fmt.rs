//! `demeanor fmt`: writes definition files in one order and style, and converts between the two forms of nested states.
//!
//! The meaning of a file stays the same: this is checked before anything is written. Comments stay with what they are about.

mod comments;
pub(crate) mod layout;
pub(crate) mod states;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::input::{Input, is_standard};
use crate::shown::escaped;
use crate::{Exit, Outcome, complain, report, tell, whole_file};

#[derive(Args)]
pub(crate) struct Fmt {
    /// The definitions; `-` reads standard input and writes to standard output.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Change nothing. Name the files that would change, and exit with 1 if there are any.
    #[arg(long)]
    check: bool,
    /// Write each state with a `parent` in the table of this state: `[states.fight.states.aim]`.
    #[arg(long, conflicts_with = "flat")]
    nested: bool,
    /// Write all states beside each other: `[states.aim]` with `parent = "fight"`.
    #[arg(long)]
    flat: bool,
}

/// The form in which states with a parent are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    AsItIs,
    Nested,
    Flat,
}

pub(crate) fn fmt(fmt: &Fmt) -> Exit {
    let form = match (fmt.nested, fmt.flat) {
        (true, _) => Form::Nested,
        (_, true) => Form::Flat,
        _ => Form::AsItIs,
    };
    let mut exit = Exit::Fine;
    for path in &fmt.files {
        exit = exit.max(of_file(path, form, fmt.check).unwrap_or_else(|why| {
            complain(&format!("error: {}", escaped(&why)));
            Exit::Failed
        }));
    }
    exit
}

/// Formats a file, or says whether it is formatted.
fn of_file(path: &Path, form: Form, is_check: bool) -> Outcome {
    let input = Input::new(path)?;
    let name = input.name();
    if let Err(problems) = input.outlines(None)? {
        report(problems.iter().filter(|problem| !problem.is_warning()));
        return Ok(Exit::Found);
    }
    let text = match &input {
        Input::File(path) => fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?,
        Input::Standard(bytes) => String::from_utf8(bytes.clone()).map_err(|error| format!("{name}: {error}"))?,
        Input::Text { text, .. } => text.clone(),
    };
    let formatted = formatted(&text, form).map_err(|why| format!("{name}: {why}"))?;
    if is_check && formatted != text {
        tell(&format!("{name}\n"))?;
        return Ok(Exit::Found);
    }
    if !is_check && is_standard(path) {
        tell(&formatted)?;
    } else if !is_check && formatted != text {
        whole_file::write(path, &formatted).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(Exit::Fine)
}

/// Returns a text in the one order and style. All lines end with `\r\n` if one did before.
///
/// # Errors
///
/// When the text is not TOML, or when the result would have another meaning.
pub(crate) fn formatted(text: &str, form: Form) -> Result<String, String> {
    let before = states::Written::read(&text.replace("\r\n", "\n"))?;
    let formatted = layout::write(&before, form);
    let after = states::Written::read(&formatted)?;
    let (before, after) = (before.meaning(), after.meaning());
    let mut about = before.keys().chain(after.keys());
    if let Some(about) = about.find(|about| before.get(*about) != after.get(*about)) {
        return Err(format!("the file cannot be written in this form without another meaning of {about}"));
    }
    Ok(if text.contains("\r\n") { formatted.replace('\n', "\r\n") } else { formatted })
}
