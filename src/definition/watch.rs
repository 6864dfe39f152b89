//! Reading a definition anew when its file is saved, while a game is in development.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

use log::{info, warn};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use super::{Definition, LoadError};
use crate::owner::Owner;

/// Watches a definition's file, and reads it anew when it has been saved.
///
/// The reading happens in [`poll`](Self::poll), between two ticks of the game's own choice, never by itself.
///
/// # Examples
///
/// ```no_run
/// use demeanor::definition::{Definition, Vocabulary, Watch};
/// # struct Guard;
/// # impl demeanor::Owner for Guard { type Context<'a> = (); type Message = (); }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let definition = Definition::load("guard.toml", &Vocabulary::<Guard>::new())?;
/// let mut watch = Watch::new(&definition, "guard.toml")?;
/// loop {
///     if let Err(problems) = watch.poll() {
///         eprintln!("{problems}");
///     }
///     // .. a tick of the game
/// #   break Ok(());
/// }
/// # }
/// ```
pub struct Watch<T: Owner> {
    definition: Definition<T>,
    path: PathBuf,
    events: Receiver<notify::Result<Event>>,
    /// Watches for as long as it lives.
    _watcher: RecommendedWatcher,
}

impl<T: Owner> Watch<T> {
    /// Begins to watch a file, and the scripts beside it.
    ///
    /// # Errors
    ///
    /// When the file's folder cannot be watched.
    pub fn new(definition: &Definition<T>, path: impl AsRef<Path>) -> Result<Self, notify::Error> {
        let path = path.as_ref();
        let (send, events) = channel();
        let mut watcher = notify::recommended_watcher(send)?;
        // The folder, since many editors save by putting a new file in the place of the old one.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
        Ok(Self { definition: definition.clone(), path: path.into(), events, _watcher: watcher })
    }

    /// Reads the file anew if it, or a script beside it, has been saved since the last call. Returns whether it was.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or with all that is wrong with it. Then the definition is as it was.
    pub fn poll(&mut self) -> Result<bool, LoadError> {
        let mut is_saved = false;
        for event in self.events.try_iter() {
            match event {
                Ok(event) => is_saved |= self.concerns(&event),
                Err(error) => warn!("{}: {error}", self.path.display()),
            }
        }
        if is_saved {
            info!("{} has been saved", self.path.display());
            self.definition.reload_from(&self.path)?;
        }
        Ok(is_saved)
    }

    fn concerns(&self, event: &Event) -> bool {
        let is_ours = |path: &PathBuf| {
            path.file_name() == self.path.file_name() || path.extension().is_some_and(|extension| extension == "rhai")
        };
        (event.kind.is_create() || event.kind.is_modify()) && event.paths.iter().any(is_ours)
    }
}

impl<T: Owner> fmt::Debug for Watch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("path", &self.path).finish_non_exhaustive()
    }
}
