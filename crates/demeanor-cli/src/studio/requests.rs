//! The requests of the page, and their answers in JSON.

use std::fmt::Display;

use demeanor::definition::{Outline, Problems, Proof, Words};
use demeanor_loopback::Answer;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::folder::NotSaved;
use super::offsets::Offsets;
use super::server::{Shared, lock};
use super::{change, drawing, keep, problems, runner};
use crate::edit::{Of, written_states};
use crate::input::Input;
use crate::json;
use crate::puppet::words_of;
use crate::simulate::tick_of;

/// Answers a request by its body.
pub(super) type Handler = fn(&Shared, &[u8]) -> Answer;

/// Returns the handler of the requests with this name.
pub(super) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "file" => |shared, body| answered(body, |of| file(shared, &of)),
        "picture" => |shared, body| answered(body, |of| picture(shared, &of)),
        "change" => |shared, body| answered(body, |of| change::change(shared, &of)),
        "prove" => |shared, body| answered(body, |of| prove(shared, &of)),
        "save" => |shared, body| answered(body, |of| save(shared, &of)),
        "run" => |shared, body| answered(body, |of| run(shared, &of)),
        "keep" => |shared, body| answered(body, |of| keep::keep(shared, &of)),
        _ => return None,
    })
}

/// Why a request is not carried out: a status, and what the page is told.
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

fn answered<R: DeserializeOwned>(body: &[u8], act: impl FnOnce(R) -> Result<Value, Refusal>) -> Answer {
    let request = serde_json::from_slice(body).map_err(|why| Refusal::new(400, why));
    let (status, content) = match request.and_then(act) {
        Ok(content) => (200, content),
        Err(Refusal(status, content)) => (status, content),
    };
    Answer::of(status, "application/json", content.to_string())
}

#[derive(Deserialize)]
struct OfFile {
    path: String,
}

/// Returns the text of a file, with its version.
fn file(shared: &Shared, of: &OfFile) -> Result<Value, Refusal> {
    let read = shared.folder.read(&of.path)?;
    Ok(json!({ "path": of.path, "text": read.text, "hash": read.hash }))
}

/// The text of the page, which need not have been saved.
#[derive(Clone, Deserialize)]
pub(super) struct OfText {
    pub(super) path: String,
    pub(super) text: String,
    pub(super) machine: Option<String>,
}

impl OfText {
    pub(super) fn input(&self, shared: &Shared) -> Result<Input, Refusal> {
        let path = shared.folder.resolve(&self.path)?;
        Ok(Input::Text { path, text: self.text.clone() })
    }

    /// Returns the machines, or the problems for the page.
    pub(super) fn outlines(&self, input: &Input, words: Option<&Words>) -> Result<Vec<Outline>, Refusal> {
        input.outlines(words)?.map_err(|problems| self.broken(&problems))
    }

    pub(super) fn broken(&self, problems: &Problems) -> Refusal {
        let offsets = Offsets::new(&self.text);
        let problems: Vec<_> = problems.iter().map(|problem| problems::problem(problem, None, &[], &offsets)).collect();
        Refusal(422, json!({ "error": "there is a mistake in the file", "problems": problems }))
    }
}

#[derive(Deserialize)]
struct OfPicture {
    #[serde(flatten)]
    of: OfText,
    #[serde(flatten)]
    seen: drawing::Seen,
}

/// Returns the picture of a machine, its words, and the warnings of the file.
fn picture(shared: &Shared, of: &OfPicture) -> Result<Value, Refusal> {
    let input = of.of.input(shared)?;
    let outlines = of.of.outlines(&input, shared.words.as_ref())?;
    let outline = machine(&input, &outlines, of.of.machine.as_deref())?;
    let offsets = Offsets::new(&of.of.text);
    let path = shared.folder.resolve(&of.of.path)?;
    let place = Of { path: &path, root: shared.folder.root(), machine: outline.machine() };
    let written = written_states(&place, &of.of.text).unwrap_or_default();
    let tick = tick_of(&outlines, shared.words.as_ref());
    let words = shared.words.clone().unwrap_or_else(|| words_of(&outlines, tick));
    let warnings = outline.warnings().iter();
    let warnings: Vec<_> = warnings.map(|warning| problems::problem(warning, None, &outlines, &offsets)).collect();
    Ok(json!({
        "machines": outlines.iter().filter_map(Outline::machine).collect::<Vec<_>>(),
        "machine": outline.machine(),
        "tick": tick,
        "picture": drawing::drawing(outline, &of.seen, &written, &offsets),
        "words": drawing::words(outline, &words),
        "is_vocabulary_known": shared.words.is_some(),
        "problems": warnings,
    }))
}

pub(super) fn machine<'o>(
    input: &Input,
    outlines: &'o [Outline],
    machine: Option<&str>,
) -> Result<&'o Outline, Refusal> {
    // A machine that the text has no longer gives way to the first one.
    let machine = machine.filter(|machine| outlines.iter().any(|outline| outline.machine() == Some(machine)));
    Ok(input.machine(outlines, machine)?)
}

/// Returns what `check --prove` finds.
fn prove(shared: &Shared, of: &OfText) -> Result<Value, Refusal> {
    let input = of.input(shared)?;
    let outlines = of.outlines(&input, shared.words.as_ref())?;
    let checked = crate::check::checked(&input, shared.words.as_ref(), true)?;
    let offsets = Offsets::new(&of.text);
    let all = checked.all().into_iter();
    let all: Vec<_> = all.map(|(problem, finding)| problems::problem(problem, finding, &outlines, &offsets)).collect();
    let proof = checked.proof();
    let properties = proof.map_or(&[][..], Proof::properties).iter();
    Ok(json!({
        "problems": all,
        "properties": properties.map(json::decided).collect::<Vec<_>>(),
        "notes": proof.map(Proof::notes),
    }))
}

#[derive(Deserialize)]
struct OfSave {
    #[serde(flatten)]
    of: OfText,
    /// The version of the text with which the edit began.
    hash: String,
    /// Whether the text is saved although it has errors.
    #[serde(default)]
    even_broken: bool,
}

/// Saves a text. It is not saved if it has an error, or if another program has changed the file.
fn save(shared: &Shared, save: &OfSave) -> Result<Value, Refusal> {
    let OfText { path, text, .. } = &save.of;
    let input = save.of.input(shared)?;
    if !save.even_broken {
        save.of.outlines(&input, shared.words.as_ref())?;
    }
    match shared.folder.save(path, text, &save.hash) {
        Ok(hash) => Ok(json!({ "hash": hash })),
        Err(NotSaved::Failed(why)) => Err(Refusal::new(500, why)),
        Err(NotSaved::Changed) => {
            let theirs = shared.folder.read(path)?;
            let why = "the file has been changed outside";
            Err(Refusal(409, json!({ "error": why, "text": theirs.text, "hash": theirs.hash })))
        }
    }
}

/// Plays a machine.
fn run(shared: &Shared, of: &runner::OfRun) -> Result<Value, Refusal> {
    // Two pages with different runs take turns; each continues its own if it was the last.
    let before = lock(&shared.runner).take();
    let (runner, content) = runner::play(shared, of, before)?;
    *lock(&shared.runner) = Some(runner);
    Ok(content)
}
