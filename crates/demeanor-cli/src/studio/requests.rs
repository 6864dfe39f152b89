//! The requests of the page, and their answers in JSON.

use demeanor::definition::{Outline, Proof};
use demeanor_loopback::Answer;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::folder::NotSaved;
use super::offsets::Offsets;
use super::project::Project;
use super::shared::{Shared, lock};
use super::source::{OfText, Refusal};
use super::{change, drawing, game, keep, problems, runner};
use crate::edit::{Of, written_states, written_words};
use crate::input::Input;
use crate::json;
use crate::puppet::words_of;
use crate::simulate::tick_of;

/// Answers a request by its body.
pub(super) type Handler = fn(&Shared, &[u8]) -> Answer;

/// Returns the handler of the requests with this name.
pub(super) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "create" => |shared, body| answered(body, |of| create(&shared.project, &of)),
        "file" => |shared, body| answered(body, |of| file(&shared.project, &of)),
        "picture" => |shared, body| answered(body, |of| picture(&shared.project, &of)),
        "change" => |shared, body| answered(body, |of| change::change(&shared.project, &of)),
        "prove" => |shared, body| answered(body, |of| prove(&shared.project, &of)),
        "save" => |shared, body| answered(body, |of| save(&shared.project, &of)),
        "run" => |shared, body| answered(body, |of| run(shared, &of)),
        "game" => |shared, body| answered(body, |of| game::command(shared, &of)),
        "history" => |shared, body| answered(body, |of| game::history(shared, &of)),
        "keep" => |shared, body| answered(body, |of| keep::keep(&shared.project, &of)),
        _ => return None,
    })
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

/// Creates an empty file.
fn create(project: &Project, of: &OfFile) -> Result<Value, Refusal> {
    project.folder.create(&of.path)?;
    Ok(json!({ "path": of.path }))
}

/// Returns the text of a file, with its version.
fn file(project: &Project, of: &OfFile) -> Result<Value, Refusal> {
    let read = project.folder.read(&of.path)?;
    Ok(json!({ "path": of.path, "text": read.text, "hash": read.hash }))
}

#[derive(Deserialize)]
struct OfPicture {
    #[serde(flatten)]
    of: OfText,
    #[serde(flatten)]
    seen: drawing::Seen,
}

/// Returns the picture of a machine, its words, and the warnings of the file.
fn picture(project: &Project, of: &OfPicture) -> Result<Value, Refusal> {
    let input = of.of.input(project)?;
    let outlines = of.of.outlines(&input, project)?;
    let outline = machine(&input, &outlines, of.of.machine.as_deref())?;
    let offsets = Offsets::new(&of.of.text);
    let path = project.folder.resolve(&of.of.path)?;
    let place = Of { path: &path, root: project.folder.root(), machine: outline.machine() };
    let written = written_states(&place, &of.of.text).unwrap_or_default();
    let of_file = written_words(&place, &of.of.text).unwrap_or_default();
    let tick = tick_of(&outlines, project.words.as_ref());
    let words = project.words.clone().unwrap_or_else(|| words_of(&outlines, tick));
    let warnings = outline.warnings().iter();
    let warnings: Vec<_> = warnings.map(|warning| problems::problem(warning, None, &outlines, &offsets)).collect();
    Ok(json!({
        "machines": outlines.iter().filter_map(Outline::machine).collect::<Vec<_>>(),
        "machine": outline.machine(),
        "tick": tick,
        "picture": drawing::drawing(outline, &of.seen, &written, &offsets),
        "exits": exits(outline),
        "like": outline.like().map(|(machine, _)| machine),
        "written_words": of_file,
        "words": drawing::words(outline, &words),
        "is_vocabulary_known": project.words.is_some(),
        "problems": warnings,
    }))
}

/// Returns the exits as an inspector names those of a running game.
fn exits(outline: &Outline) -> Vec<Value> {
    let states = outline.states().iter();
    let exits = states.flat_map(|state| {
        let from = (Some(state.id()) != outline.global()).then(|| state.name());
        let exits = state.exits().iter();
        exits.map(move |exit| json!({ "from": from, "to": outline.state(exit.target()).name(), "label": exit.label() }))
    });
    exits.collect()
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
fn prove(project: &Project, of: &OfText) -> Result<Value, Refusal> {
    let input = of.input(project)?;
    let outlines = of.outlines(&input, project)?;
    let checked = crate::check::checked(&input, project.words.as_ref(), true)?;
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
fn save(project: &Project, save: &OfSave) -> Result<Value, Refusal> {
    let OfText { path, text, .. } = &save.of;
    let input = save.of.input(project)?;
    if !save.even_broken {
        save.of.outlines(&input, project)?;
    }
    match project.folder.save(path, text, &save.hash) {
        Ok(hash) => Ok(json!({ "hash": hash })),
        Err(NotSaved::Failed(why)) => Err(Refusal::new(500, why)),
        Err(NotSaved::Changed) => {
            let theirs = project.folder.read(path)?;
            let why = "the file has been changed outside";
            Err(Refusal(409, json!({ "error": why, "text": theirs.text, "hash": theirs.hash })))
        }
    }
}

/// Plays a machine.
fn run(shared: &Shared, of: &runner::OfRun) -> Result<Value, Refusal> {
    // Two pages with different runs take turns; each continues its own if it was the last.
    let before = lock(&shared.runner).take();
    let (runner, content) = runner::play(&shared.project, of, before)?;
    *lock(&shared.runner) = Some(runner);
    Ok(content)
}
