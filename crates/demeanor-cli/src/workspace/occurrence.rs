//! References to states in all related files: in keys, in texts, in conditions, and in files that link to a file.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use demeanor::definition::{Key, Meaning, Outline, StateId, Survey};

use super::{File, Read, Workspace, path_beside};

/// A state or a region among all files: the file, and the position of its definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Site {
    pub(crate) file: File,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// A place in a file that names a state, and maybe the states around it: `fight.aim` names two. Or a place that names a region.
#[derive(Clone, Debug)]
pub(crate) struct Occurrence {
    /// The script that contains it, if it is not in the file itself.
    pub(crate) script: Option<File>,
    /// The range, with the quotes.
    pub(crate) span: Range<usize>,
    pub(crate) name: String,
    /// The range of the condition that contains it.
    pub(crate) condition: Option<Range<usize>>,
    pub(crate) is_key: bool,
    /// The range of each part in the name.
    pub(crate) parts: Vec<(Range<usize>, Site)>,
}

impl Site {
    pub(crate) fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Returns the site of a state whose name is read in `file`.
    pub(crate) fn of(outline: &Outline, state: StateId, file: &File) -> Self {
        let (linked, Range { start, end }) = outline.state(state).written();
        let linked = linked.and_then(|linked| Some(File::Path(file.folder()?.join(linked))));
        Self { file: linked.unwrap_or_else(|| file.clone()), start, end }
    }
}

/// Returns all places of a file and of its scripts that name states or regions. If a place belongs to several machines, because these are alike or run the
/// same machine, it occurs once for each meaning.
pub(crate) fn occurrences(survey: &Survey, file: &File) -> Vec<Occurrence> {
    let mut all = Vec::new();
    for outline in survey.outlines() {
        let add = |span: Range<usize>, name: &str, id, condition, is_key| {
            let parts = outline.parts_of_name(id, name)?;
            let parts = parts.into_iter().map(|(part, state)| (part, Site::of(outline, state, file))).collect();
            Some(Occurrence { script: None, span, name: name.to_owned(), condition, is_key, parts })
        };
        // In the header of a state in the table of its parent, the parent is named by a key.
        let keys: BTreeSet<usize> = survey.keys().iter().map(|key| key.span().start).collect();
        for mention in outline.mentions().iter().filter(|mention| !keys.contains(&mention.span().start)) {
            match mention.meaning() {
                Meaning::State(id) => {
                    all.extend(add(mention.span(), mention.name(), *id, mention.condition(), false));
                }
                Meaning::Region(of, nth) => {
                    let named = outline.state(*of).region_names().nth(*nth);
                    all.extend(named.map(|(name, at)| Occurrence {
                        script: None,
                        span: mention.span(),
                        name: name.to_owned(),
                        condition: None,
                        is_key: at == mention.span(),
                        parts: vec![(0..name.len(), Site { file: file.clone(), start: at.start, end: at.end })],
                    }));
                }
                _ => {}
            }
        }
        for (script, mention) in outline.mentions_in_scripts() {
            let Meaning::State(id) = mention.meaning() else { continue };
            let script = file.folder().map(|folder| File::Path(path_beside(folder, script)));
            let occurrence = add(mention.span(), mention.name(), *id, None, false);
            all.extend(occurrence.map(|occurrence| Occurrence { script, ..occurrence }));
        }
        // By their position in the text: a state that is like a state of another machine may be written in another form.
        let written = outline.states().iter().filter_map(|state| match state.written() {
            (None, at) => Some((at.start, state.id())),
            _ => None,
        });
        let by_start: BTreeMap<usize, StateId> = written.collect();
        let by_name: BTreeMap<&str, StateId> =
            outline.states().iter().map(|state| (state.name(), state.id())).collect();
        for key in survey.keys().iter().filter(|key| key.machine() == outline.machine()) {
            let Some(name) = key.state() else { continue };
            let named = named(outline, key, &by_name).filter(|id| outline.state(*id).written().0.is_none());
            all.extend(
                named
                    .or_else(|| by_start.get(&key.span().start).copied())
                    .and_then(|id| add(key.span(), name, id, None, true)),
            );
        }
    }
    all
}

/// Returns the state that a key names.
fn named(outline: &Outline, key: &Key, by_name: &BTreeMap<&str, StateId>) -> Option<StateId> {
    let mut names = key.around().iter().map(String::as_str).chain(key.state());
    let outermost = names.next().and_then(|name| by_name.get(name)).copied()?;
    names.try_fold(outermost, |around, name| {
        outline.children(around).iter().copied().find(|child| outline.state(*child).part() == name)
    })
}

/// The part of a name that contains a byte, and the states that it means.
pub(crate) struct Target {
    pub(crate) span: Range<usize>,
    pub(crate) name: String,
    pub(crate) sites: BTreeSet<Site>,
}

/// Returns the name at a byte of a file.
pub(crate) fn target(read: &Read, file: &File, byte: usize) -> Option<Target> {
    let text = &read.source;
    let mut found: Option<Target> = None;
    for occurrence in occurrences(&read.survey, file) {
        if occurrence.script.is_some() || !(occurrence.span.start..=occurrence.span.end).contains(&byte) {
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
    /// Whether it is in the file `within`. `file` is the definition in which it was found.
    pub(crate) fn is_in(&self, within: &File, file: &File) -> bool {
        self.script.as_ref().unwrap_or(file) == within
    }

    /// Returns the file that contains it, and its text. `file` and `read` are the definition in which it was found.
    pub(crate) fn place(&self, workspace: &Workspace, file: &File, read: &Read) -> Option<(File, Arc<str>)> {
        match &self.script {
            Some(script) => Some((script.clone(), workspace.text(script)?)),
            None => Some((file.clone(), Arc::clone(&read.source))),
        }
    }

    /// Returns the part at a byte: its range, its text, and its state. If the name contains escapes, its parts cannot be
    /// distinguished, and the last one is returned.
    fn part_at(&self, text: &str, byte: usize) -> Option<(Range<usize>, String, Site)> {
        let (last, site) = self.parts.last()?;
        let whole = || (self.span.clone(), self.name.get(last.clone()).unwrap_or_default().to_owned(), site.clone());
        let Some(begin) = self.verbatim(text) else { return Some(whole()) };
        let at_byte = |part: &&(Range<usize>, Site)| byte <= begin + part.0.end;
        let (part, site) = self.parts.iter().find(at_byte).unwrap_or(self.parts.last()?);
        let name = self.name.get(part.clone())?.to_owned();
        Some((begin + part.start..begin + part.end, name, site.clone()))
    }

    /// Returns the start of the name, if its text contains no escapes.
    pub(crate) fn verbatim(&self, text: &str) -> Option<usize> {
        let written = text.get(self.span.clone())?;
        // Escapes and line breaks in a name are rare; there is one quote at each end, which may be escaped.
        let before = written.find(self.name.as_str())?;
        (written.len() - self.name.len() == 2 * before && before <= 3).then_some(self.span.start + before)
    }

    /// Returns the range of a part; the range of the whole name if its parts cannot be distinguished.
    pub(crate) fn written(&self, text: &str, part: &Range<usize>) -> Range<usize> {
        self.verbatim(text).map_or(self.span.clone(), |begin| begin + part.start..begin + part.end)
    }
}
