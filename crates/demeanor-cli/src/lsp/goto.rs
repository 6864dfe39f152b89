//! Goes to the definition of a state, a machine or a script, and to all references to a state.

use std::collections::BTreeSet;
use std::path::Path;

use lsp_types::{Location, Url};

use demeanor::definition::{Meaning, Outline};

use super::occurrence::{File, Read, Site, occurrences, target};
use super::workspace::Workspace;

/// Returns the definition of the name at a byte.
pub(super) fn definition(workspace: &mut Workspace, uri: &Url, byte: usize) -> Vec<Location> {
    let file = File::of(uri);
    let Some(read) = workspace.read_file(&file) else { return Vec::new() };
    if let Some(target) = target(&read, &file, byte) {
        return target.sites.iter().filter_map(|site| location(workspace, site)).collect();
    }
    machine(workspace, &read, &file, byte).or_else(|| script(workspace, &read, &file, byte)).into_iter().collect()
}

/// Returns the references to the state whose name is at a byte.
pub(super) fn references(workspace: &mut Workspace, uri: &Url, byte: usize, with_definition: bool) -> Vec<Location> {
    let file = File::of(uri);
    let Some(target) = workspace.read_file(&file).and_then(|read| target(&read, &file, byte)) else {
        return Vec::new();
    };
    let files: BTreeSet<File> = target.sites.iter().map(|site| site.file.clone()).chain([file]).collect();
    let mut all = Vec::new();
    for (file, read) in workspace.related(&files) {
        let text = &read.source.text;
        let mut found = BTreeSet::new();
        for occurrence in occurrences(&read.survey, &file) {
            let is_definition = target.sites.iter().any(|site| site.file == file && site.span() == occurrence.span);
            if is_definition && !with_definition {
                continue;
            }
            for (part, _) in occurrence.parts.iter().filter(|(_, site)| target.sites.contains(site)) {
                let span = occurrence.written(text, part);
                found.insert((span.start, span.end));
            }
        }
        let found = found.into_iter().map(|(start, end)| read.source.range(&(start..end)));
        all.extend(found.map(|range| Location::new(read.uri.clone(), range)));
    }
    all
}

fn location(workspace: &mut Workspace, site: &Site) -> Option<Location> {
    let (uri, source) = match &site.file {
        File::Path(path) => (workspace.uri(path)?, workspace.text(path)?),
        File::Named(uri) => (uri.clone(), workspace.document(uri)?.source.clone()),
    };
    Some(Location::new(uri, source.range(&site.span())))
}

/// Returns the location of the machine that `like` or `machine` names at a byte.
fn machine(workspace: &mut Workspace, read: &Read, file: &File, byte: usize) -> Option<Location> {
    let outlines = read.survey.outlines();
    let likes = outlines.iter().filter_map(|outline| outline.like());
    let runs = outlines.iter().flat_map(Outline::states).filter(|state| state.written().0.is_none());
    let runs = runs.filter_map(|state| Some((state.machine()?, state.machine_span()?)));
    let (name, _) = likes.chain(runs).find(|(_, span)| (span.start..=span.end).contains(&byte))?;
    let (linked, name) = match name.split_once('#') {
        Some((linked, name)) => (linked, Some(name)),
        None if is_file(name) => (name, None),
        None => ("", Some(name)),
    };
    let name = name.map(str::to_owned);
    let read = if linked.is_empty() {
        workspace.read_file(file)?
    } else {
        workspace.read_file(&File::Path(file.path()?.parent()?.join(linked)))?
    };
    let is_it = |key: &&demeanor::definition::Key| key.state().is_none() && key.machine() == name.as_deref();
    let span = read.survey.keys().iter().find(is_it).map_or(0..0, demeanor::definition::Key::span);
    Some(Location::new(read.uri, read.source.range(&span)))
}

/// Returns whether a machine's name is that of another file.
pub(super) fn is_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// Returns the location of the script that is named at a byte.
fn script(workspace: &Workspace, read: &Read, file: &File, byte: usize) -> Option<Location> {
    let mentions = read.survey.outlines().iter().flat_map(Outline::mentions);
    let scripts = mentions.filter(|mention| *mention.meaning() == Meaning::Script);
    let script = { scripts }.find(|mention| (mention.span().start..=mention.span().end).contains(&byte))?;
    let path = file.path()?.parent()?.join(script.name());
    let is_there = path.is_file();
    is_there.then(|| Some(Location::new(workspace.uri(&path)?, lsp_types::Range::default())))?
}
