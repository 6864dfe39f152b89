//! Reloading a definition when its file is saved, while a game is in development.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

use log::{info, warn};
use notify::event::{ModifyKind, RenameMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::{Definition, LoadError};
use crate::owner::Owner;

/// Watches a definition's file, and reloads the definition when it has been saved.
///
/// The reload happens in [`poll`](Self::poll), between two ticks of the game's own choice, never by itself.
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
    _watcher: Option<RecommendedWatcher>,
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
        Ok(Self { _watcher: Some(watcher), ..Self::hearing(definition, path, events) })
    }

    /// A watch whose events are sent by somebody else.
    fn hearing(definition: &Definition<T>, path: &Path, events: Receiver<notify::Result<Event>>) -> Self {
        Self { definition: definition.clone(), path: path.into(), events, _watcher: None }
    }

    /// Reloads the definition if its file, or a script beside it, has been saved since the last call. Returns whether it was.
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
        let is_written = match event.kind {
            // Moved away: the new one is still to come.
            EventKind::Modify(ModifyKind::Name(RenameMode::From)) => false,
            kind => kind.is_create() || kind.is_modify(),
        };
        is_written && event.paths.iter().any(is_ours)
    }
}

impl<T: Owner> fmt::Debug for Watch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("path", &self.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::sync::mpsc::{Sender, channel};

    use notify::event::{AccessKind, CreateKind, DataChange, ModifyKind, RemoveKind, RenameMode};
    use notify::{Event, EventKind};

    use super::Watch;
    use crate::definition::{Definition, LoadError, Vocabulary};
    use crate::owner::Owner;

    struct Guard;
    impl Owner for Guard {
        type Context<'a> = ();
        type Message = ();
    }

    /// A file, a definition from it, and the events of the operating system.
    struct Stage {
        path: PathBuf,
        definition: Definition<Guard>,
        send: Sender<notify::Result<Event>>,
        watch: Watch<Guard>,
    }

    const WRITTEN: EventKind = EventKind::Modify(ModifyKind::Data(DataChange::Any));

    impl Stage {
        fn new(test: &str) -> Self {
            let path = std::env::temp_dir().join(format!("demeanor-watch-{}-{test}.toml", std::process::id()));
            fs::write(&path, "initial = 'a'\nstates.a.final = true\n").unwrap();
            let definition = Definition::load(&path, &Vocabulary::new()).unwrap();
            let (send, events) = channel();
            let watch = Watch::hearing(&definition, &path, events);
            Self { path, definition, send, watch }
        }

        fn save(&self, text: &str) {
            fs::write(&self.path, text).unwrap();
        }

        fn hear(&self, kind: EventKind, of: impl Into<PathBuf>) {
            self.send.send(Ok(Event::new(kind).add_path(of.into()))).unwrap();
        }

        fn initial(&self) -> String {
            self.definition.initial().name().into_owned()
        }
    }

    impl Drop for Stage {
        fn drop(&mut self) {
            // It may be gone already.
            let _ = fs::remove_file(&self.path);
        }
    }

    #[test]
    fn a_file_that_was_saved_is_reloaded_once_however_many_events_there_are() {
        let mut stage = Stage::new("saved");
        assert!(!stage.watch.poll().unwrap());
        stage.save("initial = 'b'\nstates.b.final = true\n");
        assert_eq!(stage.initial(), "a");
        let path = stage.path.clone();
        for kind in [WRITTEN, WRITTEN, EventKind::Create(CreateKind::File)] {
            stage.hear(kind, &path);
        }
        assert!(stage.watch.poll().unwrap());
        assert_eq!(stage.initial(), "b");
        assert!(!stage.watch.poll().unwrap());
    }

    #[test]
    fn a_file_that_another_was_moved_to_is_reloaded() {
        let mut stage = Stage::new("moved");
        stage.save("initial = 'b'\nstates.b.final = true\n");
        stage.hear(EventKind::Modify(ModifyKind::Name(RenameMode::To)), stage.path.clone());
        assert!(stage.watch.poll().unwrap());
        assert_eq!(stage.initial(), "b");
    }

    /// Some editors move the old file away first, and write the new one after that.
    #[test]
    fn a_file_that_is_gone_for_a_while_is_waited_for() {
        let mut stage = Stage::new("gone");
        fs::remove_file(&stage.path).unwrap();
        stage.hear(EventKind::Modify(ModifyKind::Name(RenameMode::From)), stage.path.clone());
        stage.hear(EventKind::Remove(RemoveKind::File), stage.path.clone());
        assert!(!stage.watch.poll().unwrap());
        assert_eq!(stage.initial(), "a");
    }

    #[test]
    fn what_happens_to_other_files_or_without_a_change_is_of_no_concern() {
        let mut stage = Stage::new("other");
        stage.save("initial = 'b'\nstates.b.final = true\n");
        stage.hear(WRITTEN, "other.toml");
        stage.hear(EventKind::Access(AccessKind::Any), stage.path.clone());
        assert!(!stage.watch.poll().unwrap());
        assert_eq!(stage.initial(), "a");
    }

    #[test]
    fn a_script_that_was_saved_beside_it_has_the_file_reloaded() {
        let mut stage = Stage::new("script");
        stage.save("initial = 'b'\nstates.b.final = true\n");
        stage.hear(WRITTEN, "guard.rhai");
        assert!(stage.watch.poll().unwrap());
        assert_eq!(stage.initial(), "b");
    }

    #[test]
    fn a_file_with_a_mistake_changes_nothing_until_it_is_saved_without() {
        let mut stage = Stage::new("mistake");
        stage.save("initial = 'c'\nstates.b.final = true\n");
        stage.hear(WRITTEN, stage.path.clone());
        assert!(matches!(stage.watch.poll(), Err(LoadError::Problems(_))));
        assert_eq!(stage.initial(), "a");
        assert!(!stage.watch.poll().unwrap());
        stage.save("initial = 'b'\nstates.b.final = true\n");
        stage.hear(WRITTEN, stage.path.clone());
        assert!(stage.watch.poll().unwrap());
        assert_eq!(stage.initial(), "b");
    }

    #[test]
    fn a_file_that_is_not_there_when_it_should_be_is_an_error() {
        let mut stage = Stage::new("missing");
        fs::remove_file(&stage.path).unwrap();
        stage.hear(WRITTEN, stage.path.clone());
        assert!(matches!(stage.watch.poll(), Err(LoadError::Io { .. })));
        assert_eq!(stage.initial(), "a");
    }

    #[test]
    fn a_watcher_that_fails_does_not_stop_the_game() {
        let mut stage = Stage::new("failing");
        stage.send.send(Err(notify::Error::generic("too many files"))).unwrap();
        assert!(!stage.watch.poll().unwrap());
    }
}
