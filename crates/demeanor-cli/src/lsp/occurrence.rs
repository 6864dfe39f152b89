//! Where states are named, in all files that have to do with one: in keys, in texts, in conditions, and in files that link to it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use demeanor::definition::{Meaning, Outline, StateId, Survey};
use lsp_types::Url;

use super::workspace::{Text, Workspace, path_of};

/// Which file: its path, or how the editor calls what is no file on this machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum File {
    Path(PathBuf),
    Named(Url),
}

/// Which state of all files: the file, and where it is defined.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Site {
    pub(super) file: File,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A place of a file that names a state, and maybe those around it: `fight.aim` names two.
#[derive(Clone, Debug)]
pub(super) struct Occurrence {
    /// With the quotes around it.
    pub(super) span: Range<usize>,
    pub(super) name: String,
    /// The condition in which it stands.
    pub(super) condition: Option<Range<usize>>,
    pub(super) is_key: bool,
    /// Where each part stands in the name.
    pub(super) parts: Vec<(Range<usize>, Site)>,
}

/// A file that has been read.
pub(super) struct Read {
    pub(super) uri: Url,
    pub(super) source: Arc<Text>,
    pub(super) survey: Arc<Survey>,
}

impl File {
    pub(super) fn of(uri: &Url) -> Self {
        path_of(uri).map_or_else(|| Self::Named(uri.clone()), Self::Path)
    }

    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Named(_) => None,
        }
    }
}

impl Site {
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Where a state is defined whose name is read in `file`.
    pub(super) fn of(outline: &Outline, state: StateId, file: &File) -> Self {
        let (linked, Range { start, end }) = outline.state(state).written();
        let linked = linked.and_then(|linked| Some(File::Path(file.path()?.parent()?.join(linked))));
        Self { file: linked.unwrap_or_else(|| file.clone()), start, end }
    }
}

/// All places of a file that name states. One that stands in several machines, because these are alike or run the same one, is
/// there once for each meaning.
pub(super) fn occurrences(survey: &Survey, file: &File) -> Vec<Occurrence> {
    let mut all = Vec::new();
    for outline in survey.outlines() {
        let add = |span: Range<usize>, name: &str, id, condition, is_key| {
            let parts = outline.parts_of_name(id, name)?;
            let parts = parts.into_iter().map(|(part, state)| (part, Site::of(outline, state, file))).collect();
            Some(Occurrence { span, name: name.to_owned(), condition, is_key, parts })
        };
        for mention in outline.mentions() {
            if let Meaning::State(id) = mention.meaning() {
                all.extend(add(mention.span(), mention.name(), *id, mention.condition(), false));
            }
        }
        // By where they are written: a state that is like one of another machine may be written in another form than that.
        let written = outline.states().iter().filter_map(|state| match state.written() {
            (None, at) => Some((at.start, state.id())),
            _ => None,
        });
        let by_start: BTreeMap<usize, StateId> = written.collect();
        let by_name: BTreeMap<&str, StateId> =
            outline.states().iter().map(|state| (state.name(), state.id())).collect();
        for key in survey.keys().iter().filter(|key| key.machine() == outline.machine()) {
            let Some(name) = key.state() else { continue };
            let named = by_name.get(name).filter(|id| outline.state(**id).written().0.is_none());
            all.extend(
                named.or_else(|| by_start.get(&key.span().start)).and_then(|id| add(key.span(), name, *id, None, true)),
            );
        }
    }
    all
}

/// The part of a name in which a byte is, and the states that it means.
pub(super) struct Target {
    pub(super) span: Range<usize>,
    pub(super) name: String,
    pub(super) sites: BTreeSet<Site>,
}

/// What is named at a byte of a file.
pub(super) fn target(read: &Read, file: &File, byte: usize) -> Option<Target> {
    let text = &read.source.text;
    let mut found: Option<Target> = None;
    for occurrence in occurrences(&read.survey, file) {
        if !(occurrence.span.start..=occurrence.span.end).contains(&byte) {
            continue;
        }
        let Some((span, name, site)) = occurrence.part_at(text, byte) else { continue };
        match &mut found {
            Some(target) if target.span == span => drop(target.sites.insert(site)),
            Some(_) => {}
            None => found = Some(Target { span, name, sites: BTreeSet::from([site]) }),
        }
    }
    found
}

impl Occurrence {
    /// The part at a byte: where it is written, what it is, and what it means. Where the name is written with escapes, its parts
    /// cannot be told apart, and it is the last one.
    fn part_at(&self, text: &str, byte: usize) -> Option<(Range<usize>, String, Site)> {
        let (last, site) = self.parts.last()?;
        let whole = || (self.span.clone(), self.name.get(last.clone()).unwrap_or_default().to_owned(), site.clone());
        let Some(begin) = self.verbatim(text) else { return Some(whole()) };
        let at_byte = |part: &&(Range<usize>, Site)| byte <= begin + part.0.end;
        let (part, site) = self.parts.iter().find(at_byte).unwrap_or(self.parts.last()?);
        let name = self.name.get(part.clone())?.to_owned();
        Some((begin + part.start..begin + part.end, name, site.clone()))
    }

    /// Where the name begins, if it is written as it reads.
    pub(super) fn verbatim(&self, text: &str) -> Option<usize> {
        let written = text.get(self.span.clone())?;
        // Escapes and line breaks in a name are rare; one quote, or one that is escaped, stands at each end.
        let before = written.find(self.name.as_str())?;
        (written.len() - self.name.len() == 2 * before && before <= 3).then_some(self.span.start + before)
    }

    /// Where a part is written: the whole name, where the parts cannot be told apart.
    pub(super) fn written(&self, text: &str, part: &Range<usize>) -> Range<usize> {
        self.verbatim(text).map_or(self.span.clone(), |begin| begin + part.start..begin + part.end)
    }
}

impl Workspace {
    /// A file, read: as it is open, or as it is on the disk.
    pub(super) fn read_file(&mut self, file: &File) -> Option<Read> {
        let uri = match file {
            File::Path(path) => self.uri(path)?,
            File::Named(uri) => uri.clone(),
        };
        if let Some(document) = self.document(&uri) {
            let source = Arc::clone(&document.source);
            let survey = self.survey(&uri)?;
            return Some(Read { uri, source, survey });
        }
        let path = file.path()?;
        let source = self.text(path)?;
        let words = self.words(Some(path));
        let nothing = std::collections::HashMap::new();
        let survey = Arc::new(self.read(&uri, Some(path), &source.text, words.as_deref(), &nothing));
        Some(Read { uri, source, survey })
    }

    /// The files in which states of these files may be named: these, and those that link to them.
    pub(super) fn related(&mut self, files: &BTreeSet<File>) -> BTreeMap<File, Read> {
        let mut related = BTreeMap::new();
        for file in files {
            if let Some(read) = self.read_file(file) {
                related.insert(file.clone(), read);
            }
        }
        for path in self.files_with_links() {
            let file = File::Path(path.clone());
            if related.contains_key(&file) {
                continue;
            }
            // Most files link to none.
            let may_link = self.text(&path).is_some_and(|source| source.text.contains("machine"));
            let Some(read) = may_link.then(|| self.read_file(&file)).flatten() else { continue };
            let folder = path.parent().unwrap_or(Path::new(""));
            if read.survey.links().iter().any(|link| files.contains(&File::Path(folder.join(link)))) {
                related.insert(file, read);
            }
        }
        related
    }
}
