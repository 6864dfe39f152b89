//! All machines of a file.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use log::{info, warn};

use super::{Definition, LoadError, NAMELESS, Problems, Proof, Vocabulary, warn_of};
use crate::format::beside::FilesBeside;
use crate::format::files::Files;
use crate::format::outline::check::check;
use crate::format::text::text_at;
use crate::owner::Owner;

/// All machines of a file with several machines (`[machines.imp]`). Each one is a [`Definition`].
///
/// # Examples
///
/// ```
/// use demeanor::Owner;
/// use demeanor::definition::{Definitions, Vocabulary};
/// struct Guard;
/// impl Owner for Guard { type Context<'a> = f64; type Message = (); fn now(clock: &f64) -> f64 { *clock } }
///
/// let file = "
///     [machines.imp]
///     initial = 'wait'
///     states.wait.exits = [{ to = 'attack', after = 2 }]
///     states.attack.final = true
///
///     [machines.baron]
///     like = 'imp'
///     states.wait.exits = [{ to = 'attack', after = 1 }]
/// ";
/// let creatures = Definitions::parse(file, &Vocabulary::<Guard>::new())?;
/// assert_eq!(creatures.names().collect::<Vec<_>>(), ["imp", "baron"]);
///
/// let mut baron = creatures.get("baron").unwrap().machine();
/// baron.start(&mut Guard, &mut 0.0);
/// baron.update(&mut Guard, &mut 1.0);
/// assert_eq!(baron.current().unwrap().name(), "attack");
/// # Ok::<(), demeanor::definition::Problems>(())
/// ```
pub struct Definitions<T: Owner> {
    file: String,
    beside: Option<FilesBeside>,
    vocabulary: Vocabulary<T>,
    /// The machines, in the order in which the file had them when it was loaded. A reload adds new machines at the end.
    machines: Vec<LoadedMember<T>>,
}

struct LoadedMember<T: Owner> {
    name: String,
    definition: Definition<T>,
    /// Whether the machine is no longer in the file. It is kept while it is in use.
    is_gone: bool,
}

impl<T: Owner> Definitions<T> {
    /// Makes the definitions of all machines in the text of a file. A machine that is written outside of `[machines]` has an
    /// empty name.
    ///
    /// Warnings do not stop the definitions from working. They are logged.
    ///
    /// # Errors
    ///
    /// When the text has mistakes. The error lists all of them.
    pub fn parse(text: &str, vocabulary: &Vocabulary<T>) -> Result<Self, Problems> {
        Self::new(NAMELESS, None, text, vocabulary)
    }

    /// Like [`parse`](Self::parse), but with files that the game has already read. It does not use the file system.
    ///
    /// # Errors
    ///
    /// When the files have mistakes. The error lists all of them. See [`Files`].
    ///
    /// # Examples
    ///
    /// See [`Files`].
    pub fn from_files(files: Files, vocabulary: &Vocabulary<T>) -> Result<Self, Problems> {
        let files = Arc::new(files);
        Self::new(files.name(), Some(FilesBeside::Read(Arc::clone(&files))), files.text()?, vocabulary)
    }

    /// Like [`parse`](Self::parse), but reads the text from a file. Scripts and linked files are looked for in the folder of the
    /// file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or when it has mistakes. The error then lists all of them.
    pub fn load(path: impl AsRef<Path>, vocabulary: &Vocabulary<T>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        Ok(Self::parse_at(path, &text_at(path)?, vocabulary)?)
    }

    /// Like [`load`](Self::load), but with the given text instead of the text of the file: for example, with a text that has not
    /// been saved yet.
    ///
    /// # Errors
    ///
    /// When the text has mistakes. The error lists all of them.
    pub fn parse_at(path: impl AsRef<Path>, text: &str, vocabulary: &Vocabulary<T>) -> Result<Self, Problems> {
        let path = path.as_ref();
        Self::new(&path.display().to_string(), FilesBeside::file(path), text, vocabulary)
    }

    fn new(file: &str, beside: Option<FilesBeside>, text: &str, vocabulary: &Vocabulary<T>) -> Result<Self, Problems> {
        let mut machines = Vec::new();
        let library = vocabulary.library(text, beside.as_ref());
        for checked in check(file, text, &library, Some(&vocabulary.words))? {
            let name = checked.outline.machine().unwrap_or_default().to_owned();
            let definition = Definition::of(checked, beside.clone(), vocabulary)?;
            machines.push(LoadedMember { name, definition, is_gone: false });
        }
        // Each outline has the warnings of the whole file, so one is enough.
        if let Some(first) = machines.first() {
            warn_of(&first.definition.outline());
        }
        Ok(Self { file: file.into(), beside, vocabulary: vocabulary.clone(), machines })
    }

    /// Returns the definition of the file's first machine.
    ///
    /// # Panics
    ///
    /// Never: a file without a mistake has a machine.
    #[must_use]
    pub fn first(&self) -> &Definition<T> {
        &self.machines.first().expect("a file without a mistake has a machine").definition
    }

    /// Returns the definition of a machine.
    #[must_use]
    pub fn get(&self, machine: &str) -> Option<&Definition<T>> {
        self.machines.iter().find(|member| member.name == machine).map(|member| &member.definition)
    }

    /// Returns the machines' names, in the order in which the file had them when it was loaded. A reload adds new machines at
    /// the end.
    #[must_use]
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.machines.iter().map(|member| member.name.as_str())
    }

    /// Returns the machines, in the order of [`names`](Self::names).
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Definition<T>)> {
        self.machines.iter().map(|member| (member.name.as_str(), &member.definition))
    }

    /// Checks all situations that the machines can get into: see [`Proof`].
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::Owner;
    /// use demeanor::definition::{Definitions, Vocabulary};
    /// struct Creature;
    /// impl Owner for Creature { type Context<'a> = (); type Message = (); }
    ///
    /// let vocabulary = Vocabulary::<Creature>::new().flag("seen", |_: &Creature, _| true);
    /// let file = "
    ///     [machines.imp]
    ///     initial = 'hide'
    ///     states.hide.exits = [{ to = 'hunt', when = 'not seen' }]
    ///     states.hunt.exits = [{ to = 'hide', when = 'seen' }]
    ///     [machines.baron]
    ///     like = 'imp'
    /// ";
    /// let proof = Definitions::parse(file, &vocabulary)?.prove();
    /// assert_eq!(proof.findings().len(), 0);
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    #[must_use]
    pub fn prove(&self) -> Proof {
        let outlines: Vec<_> = self.iter().map(|(_, definition)| definition.outline()).collect();
        Proof::of(&outlines)
    }

    /// Reloads all machines, as [`Definition::reload`] does for one. New machines are added. If a machine is no longer in the
    /// text, a warning is logged. Such a machine stays as it was while owners are in its states or the game holds its
    /// [`Definition`], and the first reload after that removes it.
    ///
    /// # Errors
    ///
    /// When the text has mistakes. The error lists all of them. Nothing is changed then.
    pub fn reload(&mut self, text: &str) -> Result<(), Problems> {
        self.reload_beside(text, self.beside.clone())
    }

    /// Like [`reload`](Self::reload), but with files that the game has already read. From now on, scripts and linked files are
    /// looked for among these files.
    ///
    /// # Errors
    ///
    /// When the files have mistakes. The error lists all of them. Nothing is changed then.
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::Owner;
    /// use demeanor::definition::{Definitions, Files, Vocabulary};
    /// struct Guard;
    /// impl Owner for Guard { type Context<'a> = (); type Message = (); }
    ///
    /// let files = |to: &str| Files::new("guard.fsm.toml", format!("initial = '{to}'\nstates.{to}.final = true"));
    /// let mut guards = Definitions::from_files(files("stand"), &Vocabulary::<Guard>::new())?;
    /// let guard = guards.first().clone();
    /// assert_eq!(guard.initial().name(), "stand");
    /// guards.reload_files(files("sit"))?;
    /// assert_eq!(guard.initial().name(), "sit");
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    pub fn reload_files(&mut self, files: Files) -> Result<(), Problems> {
        let files = Arc::new(files);
        self.reload_beside(files.text()?, Some(FilesBeside::Read(Arc::clone(&files))))
    }

    fn reload_beside(&mut self, text: &str, beside: Option<FilesBeside>) -> Result<(), Problems> {
        let library = self.vocabulary.library(text, beside.as_ref());
        let mut all = check(&self.file, text, &library, Some(&self.vocabulary.words))?;
        let name_of = |outline: &super::Outline| outline.machine().unwrap_or_default().to_owned();
        // All machines are built before any of them is replaced, so that a mistake in one of them changes nothing.
        let mut kept = Vec::new();
        let mut gone = Vec::new();
        for (i, LoadedMember { name, definition, .. }) in self.machines.iter().enumerate() {
            match all.iter().position(|checked| name_of(&checked.outline) == *name) {
                Some(at) => kept.push((i, definition.rebuild(all.remove(at), beside.clone())?)),
                None => gone.push(i),
            }
        }
        let mut added = Vec::new();
        for checked in all {
            let name = name_of(&checked.outline);
            let definition = Definition::of(checked, beside.clone(), &self.vocabulary)?;
            added.push(LoadedMember { name, definition, is_gone: false });
        }
        for (i, rebuilt) in kept {
            self.machines[i].is_gone = false;
            let definition = &self.machines[i].definition;
            if !definition.replace(rebuilt) {
                // Meanwhile, the game has reloaded this definition on its own, so the new graph is built again, from the current
                // one.
                definition.reload_silently(text, beside.as_ref())?;
            }
        }
        self.forget(&gone);
        self.machines.extend(added);
        self.beside = beside;
        // The outline of a machine that is still in the file has the warnings of the whole file.
        if let Some(first) = self.machines.iter().find(|member| !member.is_gone) {
            warn_of(&first.definition.outline());
        }
        info!("{} was reloaded", self.file);
        Ok(())
    }

    /// Drops the machines that are no longer in the file and not in use. If they stayed, each renamed machine would make a
    /// running game use more memory.
    fn forget(&mut self, gone: &[usize]) {
        let mut dropped = Vec::new();
        for i in gone.iter().rev() {
            let LoadedMember { name, definition, is_gone } = &mut self.machines[*i];
            let is_in_use = definition.is_in_use();
            if !std::mem::replace(is_gone, true) {
                let stays = if is_in_use { ": it stays as it was" } else { "" };
                warn!("machine {name} is no longer in {}{stays}", self.file);
            }
            if !is_in_use {
                dropped.push(self.machines.remove(*i));
            }
        }
    }

    /// Like [`reload`](Self::reload), but reads the text from a file. Scripts and linked files are looked for in the same folder
    /// as before, even if this file is in another folder.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or when it has mistakes; the error then lists all of them. Nothing is changed then.
    pub fn reload_from(&mut self, path: impl AsRef<Path>) -> Result<(), LoadError> {
        Ok(self.reload(&text_at(path.as_ref())?)?)
    }
}

impl<T: Owner> fmt::Debug for Definitions<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definitions")
            .field("file", &self.file)
            .field("machines", &self.names().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
