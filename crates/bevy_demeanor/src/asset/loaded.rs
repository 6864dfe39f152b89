//! The definitions that an owner's plugin has created from files.

use core::any::type_name;
use core::fmt;
use core::mem;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bevy_asset::{AssetId, Assets, Handle};
use bevy_ecs::resource::Resource;
use demeanor::Owner;
use demeanor::definition::{Definition, Definitions, Files, Problems, Vocabulary};
use log::{error, warn};

use super::file::DefinitionFile;
use super::report::drawn;
#[cfg(feature = "serialize")]
use crate::book::SavedBy;

/// The definitions that the plugin for `T` has created from files, with its vocabulary. These are the files that a
/// [`DefinedMachine<T>`](crate::DefinedMachine) names, and the files to [prepare](Self::prepare).
///
/// When a file is loaded again, its definition is reloaded while machines run on it, after the last schedule of a frame:
/// [`Definition::reload`] says how the machines continue. A file with a mistake changes nothing. Its mistakes are logged once,
/// in the format of `demeanor check`; [`problems`](Self::problems) returns them until the file is loaded without a mistake.
///
/// # Examples
///
/// ```
/// use bevy_demeanor::prelude::*;
/// use bevy_demeanor::{DefinedMachine, LoadedDefinitions};
/// use bevy_ecs::prelude::*;
/// #[derive(Component, Owner)]
/// struct Guard;
///
/// /// Makes all guards change to the state `alarm` of their files.
/// fn raise_alarm(
///     guards: Query<(Entity, &DefinedMachine<Guard>)>,
///     loaded: Res<LoadedDefinitions<Guard>>,
///     mut commands: Commands,
/// ) {
///     for (guard, machine) in &guards {
///         if let Some(alarm) = loaded.get(machine.file()).and_then(|definition| definition.state("alarm")) {
///             commands.entity(guard).change_state(alarm);
///         }
///     }
/// }
/// ```
#[derive(Resource)]
pub struct LoadedDefinitions<T: Owner> {
    vocabulary: Vocabulary<T>,
    /// The files, by name.
    files: HashMap<String, LoadedFile<T>>,
    /// The file and the machine of each asset.
    assets: HashMap<AssetId<DefinitionFile>, MachineOfFile>,
    /// Removed assets that machines may still use.
    removed: HashSet<AssetId<DefinitionFile>>,
    /// Assets whose definitions are created before machines use them.
    to_prepare: Vec<Handle<DefinitionFile>>,
    prepared: Vec<Handle<DefinitionFile>>,
    #[cfg(feature = "serialize")]
    has_book: bool,
}

struct LoadedFile<T: Owner> {
    /// The number of the file that was read last.
    number: u64,
    files: Arc<Files>,
    /// The definitions from the last version of the file without mistakes.
    definitions: Option<Definitions<T>>,
    problems: Option<Problems>,
    /// The number of its machines that are in the book for saved games.
    #[cfg(feature = "serialize")]
    in_book: usize,
}

struct MachineOfFile {
    file: String,
    machine: Option<String>,
    /// Whether a warning about this missing machine has been logged.
    is_warned_of: bool,
}

impl<T: Owner> LoadedDefinitions<T> {
    pub(super) fn new(vocabulary: Vocabulary<T>) -> Self {
        Self {
            vocabulary,
            files: HashMap::new(),
            assets: HashMap::new(),
            removed: HashSet::new(),
            to_prepare: Vec::new(),
            prepared: Vec::new(),
            #[cfg(feature = "serialize")]
            has_book: false,
        }
    }

    /// Creates the definition at the end of the frame in which the asset is loaded, even if no entity uses it yet, and keeps the
    /// asset. From then on, [`get`](Self::get) returns the definition. This needs no pass, so it also happens while the game is
    /// paused.
    ///
    /// A game can create it while it shows a loading screen. A game that saves whole machines, with `with_book`, must prepare
    /// the files before it loads a saved game: then the states of a file are in the book, with the name of the file and the
    /// machine, as in `creatures.fsm.toml#imp/chase`.
    pub fn prepare(&mut self, file: Handle<DefinitionFile>) {
        self.to_prepare.push(file);
    }

    /// Returns the definition of an asset's machine. Returns `None` until the asset is loaded and used by a
    /// [`DefinedMachine<T>`](crate::DefinedMachine), and if it has a mistake.
    ///
    /// A reload changes this definition; it does not create a new one.
    #[must_use]
    pub fn get(&self, file: impl Into<AssetId<DefinitionFile>>) -> Option<&Definition<T>> {
        let MachineOfFile { file, machine, .. } = self.assets.get(&file.into())?;
        let definitions = self.files.get(file)?.definitions.as_ref()?;
        match machine {
            Some(machine) => definitions.get(machine),
            None => Some(definitions.first()),
        }
    }

    /// Returns the mistakes in the last loaded version of the file.
    #[must_use]
    pub fn problems(&self, file: impl Into<AssetId<DefinitionFile>>) -> Option<&Problems> {
        let MachineOfFile { file, .. } = self.assets.get(&file.into())?;
        self.files.get(file)?.problems.as_ref()
    }

    /// Returns the vocabulary.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary<T> {
        &self.vocabulary
    }

    pub(super) fn is_to_prepare(&self) -> bool {
        !self.to_prepare.is_empty()
    }

    /// Creates the definitions to prepare whose assets have been loaded.
    pub(super) fn make_prepared(&mut self, assets: &Assets<DefinitionFile>) {
        for file in mem::take(&mut self.to_prepare) {
            if assets.get(&file).is_some_and(|made| self.make(file.id(), made).is_some()) {
                self.prepared.push(file);
            } else {
                self.to_prepare.push(file);
            }
        }
    }

    /// Adds the missing definitions to the book.
    #[cfg(feature = "serialize")]
    pub(super) fn enter_in(&mut self, book: &SavedBy<T>) {
        self.has_book = true;
        for (file, loaded) in &mut self.files {
            let Some(definitions) = &loaded.definitions else { continue };
            for (machine, definition) in definitions.iter().skip(loaded.in_book) {
                let name = if machine.is_empty() { file.clone() } else { format!("{file}#{machine}") };
                book.add_definition(&name, definition);
                loaded.in_book += 1;
            }
        }
    }

    /// Creates the definition of an asset if it does not exist, and returns it.
    pub(super) fn make(&mut self, id: AssetId<DefinitionFile>, file: &DefinitionFile) -> Option<&Definition<T>> {
        if let Entry::Vacant(new) = self.assets.entry(id) {
            let name = file.files().name();
            let machine = file.machine().map(ToOwned::to_owned);
            new.insert(MachineOfFile { file: name.to_owned(), machine, is_warned_of: false });
            // An older definition is reloaded at the end of the frame.
            self.files.entry(name.to_owned()).or_insert_with(|| LoadedFile::new(file, &self.vocabulary));
        }
        if self.get(id).is_none() {
            self.warn_of(id, file);
        }
        self.get(id)
    }

    /// Logs, once, that the file does not have this machine.
    #[cold]
    fn warn_of(&mut self, id: AssetId<DefinitionFile>, file: &DefinitionFile) {
        let Some(MachineOfFile { file: name, machine, is_warned_of }) = self.assets.get_mut(&id) else { return };
        let is_made = |made: &LoadedFile<T>| made.definitions.is_some() && !file.is_newer_than(made.number);
        if self.files.get(name).is_some_and(is_made) && !mem::replace(is_warned_of, true) {
            let machine = machine.as_deref().unwrap_or_default();
            warn!("{name} has no machine `{machine}`: machines of {} wait for it", type_name::<T>());
        }
    }

    /// Reloads a file that is in use, if this version is newer. Returns whether it has been reloaded.
    pub(super) fn reload(&mut self, id: AssetId<DefinitionFile>, file: &DefinitionFile) -> bool {
        if let Some(MachineOfFile { file: before, machine, .. }) = self.assets.get(&id) {
            let name = file.files().name();
            if name != before || file.machine() != machine.as_deref() {
                let owner = type_name::<T>();
                warn!("{name} has replaced {before} under the same handle: machines of {owner} continue with {before}");
                return false;
            }
        }
        match self.files.get_mut(file.files().name()) {
            Some(loaded) if file.is_newer_than(loaded.number) => loaded.reload(file, &self.vocabulary),
            _ => false,
        }
    }

    /// Notes that an asset has been removed.
    pub(super) fn remove(&mut self, id: AssetId<DefinitionFile>) {
        if self.assets.contains_key(&id) {
            self.removed.insert(id);
        }
    }

    /// Removes assets that are removed and unused, and files without assets.
    pub(super) fn forget_unused(
        &mut self,
        assets: &Assets<DefinitionFile>,
        used: impl Iterator<Item = AssetId<DefinitionFile>>,
    ) {
        // The book keeps the definitions that it contains.
        #[cfg(feature = "serialize")]
        if self.has_book {
            return;
        }
        if self.removed.is_empty() {
            return;
        }
        let used: HashSet<_> = used.filter(|id| self.removed.contains(id)).collect();
        for id in self.removed.extract_if(|id| !used.contains(id)) {
            if !assets.contains(id) {
                self.assets.remove(&id);
            }
        }
        let named: HashSet<&str> = self.assets.values().map(|which| &*which.file).collect();
        self.files.retain(|name, _| named.contains(&**name));
    }
}

impl<T: Owner> LoadedFile<T> {
    fn new(file: &DefinitionFile, vocabulary: &Vocabulary<T>) -> Self {
        let mut loaded = Self {
            number: file.number(),
            files: file.shared(),
            definitions: None,
            problems: None,
            #[cfg(feature = "serialize")]
            in_book: 0,
        };
        loaded.load(vocabulary);
        loaded
    }

    fn reload(&mut self, file: &DefinitionFile, vocabulary: &Vocabulary<T>) -> bool {
        self.number = file.number();
        // The file may be loaded once for each of its machines.
        if *self.files == *file.files() {
            return false;
        }
        self.files = file.shared();
        self.load(vocabulary)
    }

    fn load(&mut self, vocabulary: &Vocabulary<T>) -> bool {
        let files = Files::clone(&self.files);
        let loaded = match &mut self.definitions {
            Some(definitions) => definitions.reload_files(files),
            none => Definitions::from_files(files, vocabulary).map(|definitions| *none = Some(definitions)),
        };
        self.problems = loaded.err();
        if let Some(problems) = &self.problems {
            let what = if self.definitions.is_some() {
                "its previous content stays in use"
            } else {
                "its machines do not start"
            };
            error!("{} cannot be used for {}, {what}:\n{}", problems.file(), type_name::<T>(), drawn(problems));
        }
        self.problems.is_none()
    }
}

impl<T: Owner> fmt::Debug for LoadedDefinitions<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LoadedDefinitions").field(&self.files.keys().collect::<Vec<_>>()).finish()
    }
}
