//! Renames a state wherever it is named, in all files. It refuses a rename that would change the meaning of a file.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use demeanor::definition::{Problem, StateOutline, Survey};

use super::occurrence::{Occurrence, Site, Target, occurrences, target};
use super::{File, Origin, Read, Related, Vocabularies, Workspace};

/// The texts that replace ranges of a file, in the order of the file.
pub(crate) type Edits = Vec<(Range<usize>, String)>;

/// Returns the name that would be changed at a byte, or why it cannot be renamed.
pub(crate) fn name_at(workspace: &mut Workspace, file: &File, byte: usize) -> Result<Target, String> {
    let read = workspace.read_file(file).ok_or("the file is not open")?;
    target(&read, file, byte).ok_or_else(|| "there is no name of a state here".into())
}

/// Returns the edits of each file, or why the state cannot have this name.
pub(crate) fn rename(
    workspace: &mut Workspace,
    file: &File,
    byte: usize,
    new: &str,
) -> Result<BTreeMap<File, Edits>, String> {
    let target = name_at(workspace, file, byte)?;
    checked_name(new)?;
    let mut files: BTreeSet<File> = target.sites.iter().map(|site| site.file.clone()).chain([file.clone()]).collect();
    let Related { files: mut related, mut unread } = workspace.related(&files);
    let sites = all_that_are_one(&target.sites, &related);
    if sites.iter().any(|site| !files.contains(&site.file)) {
        files.extend(sites.iter().map(|site| site.file.clone()));
        Related { files: related, unread } = workspace.related(&files);
    }
    if let Some(file) = unread {
        let path = file.path().unwrap_or(Path::new("")).display();
        return Err(format!("{path} may name the state, too, but cannot be read"));
    }
    is_free(new, &sites, &related)?;
    let edits = edits_in(workspace, &related, &sites, new)?;
    stays_the_same(workspace, &related, &edits)?;
    Ok(edits)
}

/// Returns why a state cannot have this name in any file.
pub(crate) fn checked_name(name: &str) -> Result<(), String> {
    if name.trim() != name || name.is_empty() || name.contains(char::is_control) {
        return Err("a name has no spaces at its ends, no control characters, and is not empty".into());
    }
    if name == "$previous" {
        return Err("`$previous` means the previous state".into());
    }
    Ok(())
}

/// Returns a text in which the state whose name is at a byte has another name. `root` is the folder with the files that may name it,
/// too: then it is not renamed.
pub(crate) fn renamed(path: &Path, root: &Path, text: &str, byte: usize, new: &str) -> Result<String, String> {
    if !path.is_absolute() {
        return Err(format!("{}: not a whole path", path.display()));
    }
    let mut workspace = Workspace::new(vec![root.into()], Vocabularies::new(Origin::Beside));
    let file = File::Path(path.into());
    workspace.open(file.clone(), text.into());
    let mut edits = rename(&mut workspace, &file, byte, new)?;
    let own = edits.remove(&file).unwrap_or_default();
    if let Some(other) = edits.keys().find_map(File::path) {
        return Err(format!(
            "{} names this state, too: an editor with the language server renames it in both files",
            other.display()
        ));
    }
    Ok(edited(text, &own))
}

fn edited(text: &str, edits: &Edits) -> String {
    let mut text = text.to_owned();
    for (span, new) in edits.iter().rev() {
        text.replace_range(span.clone(), new);
    }
    text
}

/// Returns the states that must be renamed together: states that are named by the same text, in machines that are alike, and
/// states that replace each other.
fn all_that_are_one(sites: &BTreeSet<Site>, related: &BTreeMap<File, Read>) -> BTreeSet<Site> {
    let mut together: Vec<BTreeSet<Site>> = Vec::new();
    let mut by_part: BTreeMap<(File, usize, usize), BTreeSet<Site>> = BTreeMap::new();
    for (file, read) in related {
        for occurrence in occurrences(&read.survey, file) {
            let within = occurrence.script.as_ref().unwrap_or(file);
            for (part, site) in occurrence.parts {
                let at = (within.clone(), occurrence.span.start, occurrence.name.len() - part.end);
                by_part.entry(at).or_default().insert(site);
            }
        }
        let outlines = read.survey.outlines();
        for outline in outlines {
            let Some((like, _)) = outline.like() else { continue };
            let Some(base) = outlines.iter().find(|base| base.machine() == Some(like)) else { continue };
            let of_base: HashMap<_, _> = base.states().iter().map(|state| (state.name(), state.id())).collect();
            for state in outline.states() {
                if let Some(id) = of_base.get(state.name()) {
                    let pair = [Site::of(base, *id, file), Site::of(outline, state.id(), file)];
                    together.push(BTreeSet::from(pair));
                }
            }
        }
    }
    together.extend(by_part.into_values());
    together.retain(|sites| sites.len() > 1);
    let mut all = sites.clone();
    loop {
        let before = all.len();
        for sites in &together {
            if !sites.is_disjoint(&all) {
                all.extend(sites.iter().cloned());
            }
        }
        if all.len() == before {
            return all;
        }
    }
}

/// Checks that no other state has this name.
fn is_free(new: &str, sites: &BTreeSet<Site>, related: &BTreeMap<File, Read>) -> Result<(), String> {
    for (file, read) in related {
        for outline in read.survey.outlines() {
            for state in outline.states().iter().filter(|state| sites.contains(&Site::of(outline, state.id(), file))) {
                let named = state.name().strip_suffix(state.part()).map(|around| format!("{around}{new}"));
                let is_taken = |other: &&Arc<StateOutline>| {
                    let is_beside = other.parent() == state.parent() && other.part() == new;
                    (is_beside || named.as_deref() == Some(other.name()))
                        && !sites.contains(&Site::of(outline, other.id(), file))
                };
                if let Some(taken) = outline.states().iter().find(is_taken) {
                    return Err(format!("there is a state `{}` already", taken.name()));
                }
            }
        }
    }
    Ok(())
}

/// Returns the edits of each file and of its scripts.
fn edits_in(
    workspace: &Workspace,
    related: &BTreeMap<File, Read>,
    sites: &BTreeSet<Site>,
    new: &str,
) -> Result<BTreeMap<File, Edits>, String> {
    let mut edits: BTreeMap<File, BTreeMap<usize, (usize, String)>> = BTreeMap::new();
    let all = related.iter().flat_map(|(file, read)| {
        occurrences(&read.survey, file).into_iter().map(move |occurrence| (file, read, occurrence))
    });
    for (file, read, occurrence) in all {
        let mut name = occurrence.name.clone();
        let renamed = occurrence.parts.iter().filter(|(_, site)| sites.contains(site));
        let mut is_renamed = false;
        for (part, _) in { renamed }.rev() {
            name.replace_range(part.clone(), new);
            is_renamed = true;
        }
        if is_renamed {
            let (file, text) = occurrence.place(workspace, file, read).ok_or("a script cannot be read")?;
            let written = written(&occurrence, &text, &name)?;
            edits.entry(file).or_default().insert(occurrence.span.start, (occurrence.span.end, written));
        }
    }
    let in_order = |edits: BTreeMap<_, _>| edits.into_iter().map(|(start, (end, text))| (start..end, text)).collect();
    Ok(edits.into_iter().map(|(file, edits)| (file, in_order(edits))).collect())
}

/// Returns the new name in the form in which the old one is written.
fn written(occurrence: &Occurrence, text: &str, name: &str) -> Result<String, String> {
    let before = text.get(occurrence.span.clone()).unwrap_or_default();
    let quote = before.chars().next().unwrap_or('"');
    if let Some(condition) = &occurrence.condition {
        let around = text[condition.start..].chars().next().unwrap_or('"');
        return in_condition(name, around).ok_or_else(|| format!("`{name}` cannot be written in a condition"));
    }
    if occurrence.is_key && !matches!(quote, '"' | '\'') && is_bare(name) {
        return Ok(name.to_owned());
    }
    Ok(in_quotes(name, quote))
}

/// Returns a name in quotes: in the preferred kind, if the name does not contain it.
pub(crate) fn in_quotes(name: &str, preferred: char) -> String {
    if preferred == '\'' && !name.contains('\'') {
        return format!("'{name}'");
    }
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns whether TOML accepts a key without quotes.
fn is_bare(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Returns a name in quotes for a condition with these outer quotes, if this is possible.
pub(crate) fn in_condition(name: &str, around: char) -> Option<String> {
    let begins = |c: char| c.is_alphabetic() || c == '_';
    let continues = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    if name.starts_with(begins) && name.chars().all(continues) {
        return Some(name.to_owned());
    }
    let escaped = |name: &str| name.replace('\\', "\\\\").replace('"', "\\\"");
    match around {
        '\'' if !name.contains(['\'', '"']) => Some(format!("\"{name}\"")),
        '"' if !name.contains('\'') => Some(format!("'{}'", escaped(name))),
        '"' if !name.contains('"') => Some(format!("\\\"{}\\\"", escaped(name))),
        _ => None,
    }
}

/// Reads all files as they would be after the rename. Fails if anything except the name would change.
fn stays_the_same(
    workspace: &mut Workspace,
    related: &BTreeMap<File, Read>,
    edits: &BTreeMap<File, Edits>,
) -> Result<(), String> {
    let edited = |(file, edits): (&File, &Edits)| Some((file.clone(), edited(&workspace.text(file)?, edits)));
    let instead: HashMap<File, String> = edits.iter().filter_map(edited).collect();
    for (file, read) in related {
        let words = workspace.words(file);
        let text = instead.get(file).map_or(&*read.source, String::as_str);
        let after = workspace.read(file, text, words.as_deref(), &instead);
        if let Some(why) = difference(&read.survey, &after, edits.get(file).map_or(&[], Vec::as_slice)) {
            return Err(why);
        }
    }
    Ok(())
}

/// Returns a difference in a file besides the names, if there is any.
fn difference(before: &Survey, after: &Survey, edits: &[(Range<usize>, String)]) -> Option<String> {
    let codes = |survey: &Survey| {
        let mut codes: Vec<_> = survey.problems().iter().map(Problem::code_name).collect();
        codes.sort_unstable();
        codes
    };
    let (codes_before, codes_after) = (codes(before), codes(after));
    if codes_before != codes_after {
        let is_new = |problem: &&Problem| {
            let count = |codes: &[&str]| codes.iter().filter(|code| **code == problem.code_name()).count();
            count(&codes_after) > count(&codes_before)
        };
        let new = after.problems().iter().find(is_new).map(Problem::located);
        return Some(new.unwrap_or_else(|| "what is wrong with the file would change".into()));
    }
    // Ids are in the order of the file, which stays the same.
    for (before, after) in before.outlines().iter().zip(after.outlines()) {
        let own = before.mentions().iter().zip(after.mentions()).map(|(was, is)| (was.clone(), is.clone()));
        let scripts =
            before.mentions_in_scripts().zip(after.mentions_in_scripts()).map(|((_, was), (_, is))| (was, is));
        for (was, is) in own.chain(scripts) {
            if was.meaning() != is.meaning() {
                return Some(format!("`{}` would then mean another state", is.name()));
            }
        }
        for (was, is) in before.states().iter().zip(after.states()) {
            if (was.parent(), was.initial()) != (is.parent(), is.initial()) {
                return Some(format!("`{}` would then be in another state", is.name()));
            }
        }
    }
    let counts = |survey: &Survey| -> Vec<_> {
        survey.outlines().iter().map(|outline| (outline.states().len(), outline.mentions().len())).collect()
    };
    let is_as_long = counts(before) == counts(after) && before.keys().len() == after.keys().len();
    (!is_as_long && !edits.is_empty()).then(|| "the file would then be read in another way".into())
}
