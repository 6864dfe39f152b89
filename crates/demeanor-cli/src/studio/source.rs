//! The text of the page, which need not have been saved, and why a request about it is refused.

use std::fmt::Display;

use demeanor::definition::{Outline, Problems};
use serde::Deserialize;
use serde_json::{Value, json};

use super::offsets::Offsets;
use super::problems;
use super::project::Project;
use crate::input::Input;

/// The answer to a request that is not carried out: an HTTP status, and the JSON that the page gets.
pub(super) struct Refusal(pub(super) u16, pub(super) Value);

impl Refusal {
    pub(super) fn new(status: u16, why: impl Display) -> Self {
        Self(status, json!({ "error": why.to_string() }))
    }
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self::new(422, why)
    }
}

/// A text, with the path of its file and the machine that the page shows.
#[derive(Clone, Deserialize)]
pub(super) struct OfText {
    pub(super) path: String,
    pub(super) text: String,
    pub(super) machine: Option<String>,
}

impl OfText {
    pub(super) fn input(&self, project: &Project) -> Result<Input, Refusal> {
        let path = project.folder.resolve(&self.path)?;
        Ok(Input::Text { path, text: self.text.clone() })
    }

    /// Returns the machines, or the problems for the page.
    pub(super) fn outlines(&self, input: &Input, project: &Project) -> Result<Vec<Outline>, Refusal> {
        input.outlines(project.words.as_ref())?.map_err(|problems| self.broken(&problems))
    }

    pub(super) fn broken(&self, problems: &Problems) -> Refusal {
        let offsets = Offsets::new(&self.text);
        let problems: Vec<_> = problems.iter().map(|problem| problems::problem(problem, None, &[], &offsets)).collect();
        Refusal(422, json!({ "error": "there is a mistake in the file", "problems": problems }))
    }
}
