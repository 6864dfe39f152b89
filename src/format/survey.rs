//! Reads as much of a file as possible, even if it has mistakes. It is for editors.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::chains::Chains;
pub use super::draft::keys::Key;
use super::draft::keys::{has_initial, keys};
use super::outline::check::checked_at;
use super::outline::{Outline, StateId};
use super::problems::Problems;
use super::words::Words;

/// A file that is being edited: its problems, and outlines of everything that has no error.
///
/// Parts with errors are left out of the outlines: for example, an exit to an unknown state. If parents form a circle, one
/// state of the circle has no parent. If the initial state is missing or unknown, the first state takes its place.
///
/// # Examples
///
/// ```
/// use demeanor::definition::Survey;
///
/// let file = "initial = 'aim'\n[states.aim]\nexits = [{ to = 'sit' }, { to = 'aim', after = 2 }]\n[states.shoot\n";
/// let survey = Survey::of("guard.toml", file, None, &|_| None, None);
/// assert!(!survey.problems().iter().all(|problem| problem.is_warning()));
/// let aim = &survey.outlines()[0].states()[0];
/// assert_eq!(aim.name(), "aim");
/// assert_eq!(aim.exits().len(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Survey {
    outlines: Vec<Outline>,
    problems: Problems,
    keys: Vec<Key>,
    links: Vec<PathBuf>,
    is_definition: bool,
}

impl Survey {
    /// Reads a file. `file` is its name in the reports. The scripts that it names and the files that it links to are looked
    /// for in `folder`; for `None`, they are not read. Before one of them is read, `open` is called with its path relative to
    /// the folder. If an editor has this file open, `open` returns the editor's text, which is used instead of the text on the
    /// disk.
    ///
    /// Without `words`, the words of the game are not checked.
    #[must_use]
    pub fn of(
        file: &str,
        text: &str,
        folder: Option<&Path>,
        open: &dyn Fn(&Path) -> Option<String>,
        words: Option<&Words>,
    ) -> Self {
        let (outlines, links, findings) = checked_at(file, text, folder, open, words);
        let outlines = outlines.into_iter().map(as_tree).collect();
        let keys = keys(text);
        let is_definition = !keys.is_empty() || has_initial(text);
        Self { outlines, problems: findings.into_each_problem(), keys, links, is_definition }
    }

    /// Returns whether the file is meant to be a definition: it names a state, a machine or an initial state. An editor may
    /// open any TOML file.
    #[must_use]
    pub fn is_definition(&self) -> bool {
        self.is_definition
    }

    /// Returns the machines that could be read, in the order of the file.
    #[must_use]
    pub fn outlines(&self) -> &[Outline] {
        &self.outlines
    }

    /// Returns the errors and warnings.
    #[must_use]
    pub fn problems(&self) -> &Problems {
        &self.problems
    }

    /// Returns the places where names of states and machines are keys, in the order of the file.
    #[must_use]
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Returns the files that the file links to, directly or through other files, as paths relative to the folder, whether
    /// they exist or not.
    #[must_use]
    pub fn links(&self) -> &[PathBuf] {
        &self.links
    }
}

/// Returns the outline with its states as a tree. In each circle of parents, one state loses its parent. Initial children that
/// are not children are removed.
fn as_tree(mut outline: Outline) -> Outline {
    let count = outline.states.len();
    for circle in Chains::follow(count, |i| outline.states[i].parent.map(StateId::index)).circles {
        let (around, within) = (circle[0], circle[circle.len() - 1]);
        Arc::make_mut(&mut outline.states[within]).parent = None;
        Arc::make_mut(&mut outline.states[around]).children.retain(|child| child.index() != within);
        outline.outermost.push(StateId::new(within));
    }
    for i in 0..count {
        let state = &outline.states[i];
        let is_child = |initial: StateId| outline.states[initial.index()].parent == Some(StateId::new(i));
        let has_no_initial = state.initial.is_some_and(|initial| !is_child(initial));
        let has_no_regions = !state.regions().all(is_child);
        if has_no_initial {
            Arc::make_mut(&mut outline.states[i]).initial = None;
        }
        if has_no_regions {
            Arc::make_mut(&mut outline.states[i]).regions = Box::default();
        }
    }
    outline
}
