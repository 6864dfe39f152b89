//! The asset: a definition file, and the files that it names.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bevy_asset::io::Reader;
use bevy_asset::{Asset, AssetLoader, AssetPath, Handle, LoadContext};
use bevy_reflect::TypePath;
use demeanor::definition::{Files, LoadError};

/// A definition file, with the scripts and other files that it names, as they were read.
///
/// Bevy's `AssetServer` loads it from a path that ends in `.fsm.toml`: `assets.load("guards.fsm.toml")` is the first machine of
/// the file, `assets.load("guards.fsm.toml#imp")` is `[machines.imp]`. The asset server also reads scripts and linked files:
/// from the same source, in the folder of the file or below it. If Bevy watches for changes, the file is loaded again when one
/// of these files is saved.
///
/// The asset is text, because its meaning depends on an owner's vocabulary. A file that cannot be read as TOML fails to load.
/// The plugins whose owners use the file find all other mistakes in it; see [`LoadedDefinitions`](crate::LoadedDefinitions).
///
/// # Examples
///
/// An asset that the game creates itself:
///
/// ```
/// use bevy_asset::Assets;
/// use bevy_demeanor::DefinitionFile;
/// use demeanor::definition::Files;
///
/// let mut assets = Assets::<DefinitionFile>::default();
/// let text = "[machines.imp]\ninitial = 'wait'\nstates.wait.final = true\n[machines.baron]\nlike = 'imp'\n";
/// let file = DefinitionFile::new(Files::new("creatures.fsm.toml", text));
/// let imp = assets.add(file.clone());
/// let baron = assets.add(file.with_machine("baron"));
/// assert_eq!(assets.get(&baron).unwrap().machine(), Some("baron"));
/// ```
#[derive(Asset, TypePath, Clone, Debug)]
pub struct DefinitionFile {
    files: Arc<Files>,
    machine: Option<String>,
    /// The number of files that were read before this one. It shows which of two files is newer.
    number: u64,
    /// In a machine of a file, the handle of the file: the asset server watches the named files only as long as this handle
    /// exists.
    #[expect(dead_code, reason = "it is there so that the handle is not dropped")]
    whole: Option<Handle<Self>>,
}

impl DefinitionFile {
    /// Creates the asset from files that the game has read. The asset is the first machine of the file.
    ///
    /// Files with the same name count as one file, whose latest version is the asset that was created last.
    #[must_use]
    pub fn new(files: Files) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self { files: Arc::new(files), machine: None, number, whole: None }
    }

    /// Chooses a machine of the file by its name.
    #[must_use]
    pub fn with_machine(mut self, machine: impl Into<String>) -> Self {
        self.machine = Some(machine.into());
        self
    }

    /// Returns the machine's name, or `None` for the first machine of the file.
    #[must_use]
    pub fn machine(&self) -> Option<&str> {
        self.machine.as_deref()
    }

    /// Returns the files that were read.
    #[must_use]
    pub fn files(&self) -> &Files {
        &self.files
    }

    pub(super) fn shared(&self) -> Arc<Files> {
        Arc::clone(&self.files)
    }

    /// Returns whether it was read after the file with this number.
    pub(super) fn is_newer_than(&self, number: u64) -> bool {
        self.number > number
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

/// Loads definition files and the files that they name.
#[derive(TypePath)]
#[type_path = "bevy_demeanor"]
pub(super) struct Loader;

impl AssetLoader for Loader {
    type Asset = DefinitionFile;
    type Settings = ();
    type Error = LoadError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        (): &(),
        context: &mut LoadContext<'_>,
    ) -> Result<DefinitionFile, LoadError> {
        let path = context.path().without_label().into_owned();
        let mut bytes = Vec::new();
        let read = reader.read_to_end(&mut bytes).await;
        read.map_err(|error| LoadError::Io { path: path.path().into(), error })?;
        let mut files = Files::new(path.to_string(), bytes);
        let machines = files.machines()?;
        loop {
            let missing = files.missing();
            if missing.is_empty() {
                break;
            }
            for named in missing {
                let read = context.read_asset_bytes(beside(&path, &named)).await;
                files.insert(named, read);
            }
        }
        let file = DefinitionFile::new(files);
        for machine in machines.into_iter().filter(|machine| !machine.is_empty()) {
            let mut labeled = context.begin_labeled_asset();
            // This path is the asset that is being loaded.
            let whole = Some(labeled.load(path.clone()));
            let one = labeled.finish(DefinitionFile { whole, ..file.clone().with_machine(machine.as_str()) });
            context.add_loaded_labeled_asset(machine, one);
        }
        Ok(file)
    }

    fn extensions(&self) -> &[&str] {
        &["fsm.toml"]
    }
}

/// Returns the path of a named file, relative to the folder of the file that names it.
fn beside(file: &AssetPath<'_>, named: &Path) -> AssetPath<'static> {
    let folder = file.path().parent().unwrap_or(Path::new(""));
    AssetPath::from_path_buf(folder.join(named)).with_source(file.source().clone_owned())
}
