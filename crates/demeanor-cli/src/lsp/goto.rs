//! Goes to the definition of a state, a machine or a script, and to all references to a state.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lsp_types::Location;

use demeanor::definition::{Meaning, Outline};

use super::documents::Documents;
use super::position::Text;
use crate::workspace::{File, Read, Site, occurrences, path_beside, target};

/// Returns the definition of the name at a byte.
pub(super) fn definition(documents: &mut Documents, file: &File, byte: usize) -> Vec<Location> {
    let Some(read) = documents.workspace.read_file(file) else { return Vec::new() };
    if let Some(target) = target(&read, file, byte) {
        return target.sites.iter().filter_map(|site| location(documents, site)).collect();
    }
    machine(documents, &read, file, byte).or_else(|| script(documents, &read, file, byte)).into_iter().collect()
}

/// Returns the references to the state whose name is at a byte.
pub(super) fn references(documents: &mut Documents, file: &File, byte: usize, with_definition: bool) -> Vec<Location> {
    let Some(target) = documents.workspace.read_file(file).and_then(|read| target(&read, file, byte)) else {
        return Vec::new();
    };
    let files: BTreeSet<File> = target.sites.iter().map(|site| site.file.clone()).chain([file.clone()]).collect();
    let mut found: BTreeMap<File, (Text, BTreeSet<(usize, usize)>)> = BTreeMap::new();
    for (file, read) in documents.workspace.related(&files).files {
        for occurrence in occurrences(&read.survey, &file) {
            let is_definition = |site: &Site| occurrence.is_in(&site.file, &file) && site.span() == occurrence.span;
            if !with_definition && target.sites.iter().any(is_definition) {
                continue;
            }
            for (part, _) in occurrence.parts.iter().filter(|(_, site)| target.sites.contains(site)) {
                let Some((within, text)) = occurrence.place(&documents.workspace, &file, &read) else { continue };
                let (_, spans) = found.entry(within).or_insert_with(|| (documents.with_lines(&text), BTreeSet::new()));
                let span = occurrence.written(&text, part);
                spans.insert((span.start, span.end));
            }
        }
    }
    let locations = found.iter().flat_map(|(file, (source, spans))| {
        spans.iter().filter_map(|(start, end)| documents.location(file, source, &(*start..*end)))
    });
    locations.collect()
}

fn location(documents: &Documents, site: &Site) -> Option<Location> {
    let source = documents.with_lines(&documents.workspace.text(&site.file)?);
    documents.location(&site.file, &source, &site.span())
}

/// Returns the location of the machine that `like` or `machine` names at a byte.
fn machine(documents: &mut Documents, read: &Read, file: &File, byte: usize) -> Option<Location> {
    let outlines = read.survey.outlines();
    let likes = outlines.iter().filter_map(|outline| outline.like());
    let runs = outlines.iter().flat_map(Outline::states).filter(|state| state.written().0.is_none());
    let runs = runs.filter_map(|state| Some((state.machine()?, state.machine_span()?)));
    let (name, _) = likes.chain(runs).find(|(_, span)| (span.start..=span.end).contains(&byte))?;
    // The name of a file may contain a `#`, too.
    let end = name.match_indices('#').map(|(at, _)| at).find(|at| is_file(&name[..*at]));
    let (linked, name) = match end {
        Some(end) => (&name[..end], Some(&name[end + 1..])),
        None if is_file(name) => (name, None),
        None => ("", Some(name)),
    };
    let name = name.map(str::to_owned);
    let file = if linked.is_empty() { file.clone() } else { File::Path(file.folder()?.join(linked)) };
    let read = documents.workspace.read_file(&file)?;
    let is_it = |key: &&demeanor::definition::Key| key.state().is_none() && key.machine() == name.as_deref();
    let span = read.survey.keys().iter().find(is_it).map_or(0..0, demeanor::definition::Key::span);
    documents.location(&file, &documents.with_lines(&read.source), &span)
}

/// Returns whether a machine's name is that of another file.
pub(super) fn is_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// Returns the location of the script that is named at a byte.
fn script(documents: &Documents, read: &Read, file: &File, byte: usize) -> Option<Location> {
    let mentions = read.survey.outlines().iter().flat_map(Outline::mentions);
    let scripts = mentions.filter(|mention| *mention.meaning() == Meaning::Script);
    let script = { scripts }.find(|mention| (mention.span().start..=mention.span().end).contains(&byte))?;
    let path = path_beside(file.folder()?, script.name());
    let is_there = path.is_file();
    is_there.then(|| Some(Location::new(documents.uri(&File::Path(path))?, lsp_types::Range::default())))?
}
