//! Changes of a text by the picture and its forms. The page owns the text: it sends it, and gets the changed one.

use demeanor::definition::{Outline, Problem, Problems};
use serde::Deserialize;
use serde_json::{Value, json};

use super::offsets::Offsets;
use super::problems;
use super::project::Project;
use super::source::{OfText, Refusal};
use crate::edit::{Edit, Of, edited};

#[derive(Deserialize)]
pub(super) struct OfChange {
    #[serde(flatten)]
    of: OfText,
    edit: Edit,
}

/// Returns the changed text, with its problems. A change that brings more errors is refused, with what is then wrong.
pub(super) fn change(project: &Project, change: &OfChange) -> Result<Value, Refusal> {
    let OfText { path, text, machine } = &change.of;
    let of = Of { path: &project.folder.resolve(path)?, root: project.folder.root(), machine: machine.as_deref() };
    let refused = |refused: crate::edit::Refused| Refusal(422, json!({ "error": refused.why, "uses": refused.uses }));
    let text = edited(&of, text, &change.edit).map_err(refused)?;
    let after = OfText { text, ..change.of.clone() };
    let machines = |of: &OfText| Ok::<_, Refusal>(of.input(project)?.outlines(project.words.as_ref())?);
    let (was, is) = (machines(&change.of)?, machines(&after)?);
    let told = match is {
        Ok(outlines) => {
            let offsets = Offsets::new(&after.text);
            let warnings = outlines.iter().flat_map(Outline::warnings);
            warnings.map(|warning| problems::problem(warning, None, &outlines, &offsets)).collect()
        }
        Err(problems) => {
            let Refusal(status, mut told) = after.broken(&problems);
            if problems.errors() > was.as_ref().err().map_or(0, Problems::errors) {
                told["error"] = new(&problems, was.as_ref().err()).into();
                told["text"] = after.text.into();
                return Err(Refusal(status, told));
            }
            told["problems"].take()
        }
    };
    Ok(json!({ "text": after.text, "problems": told }))
}

/// Returns the first error that was not there before.
fn new(problems: &Problems, before: Option<&Problems>) -> String {
    let is_old = |problem: &&Problem| {
        before.is_some_and(|before| before.iter().any(|old| old.to_string() == problem.to_string()))
    };
    let mut errors = problems.iter().filter(|problem| !problem.is_warning());
    let error = errors.find(|problem| !is_old(problem)).map(|problem| (problem.to_string(), problem.advice()));
    let (error, advice) = error.unwrap_or_default();
    [error].into_iter().chain(advice).collect::<Vec<_>>().join(": ")
}
