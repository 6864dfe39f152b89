//! Reloading a definition when its file is saved, while a game is in development.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

use log::{info, warn};
use notify::event::{ModifyKind, RenameMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::{Definition, LoadError};
use crate::format::beside::FilesBeside;
use crate::format::library::{Library, script_of};
use crate::format::text::text_at;
use crate::owner::Owner;

/// Watches a definition's file, and reloads the definition when the file, a script or a linked file has been saved.
///
/// The definition is reloaded only in [`poll`](Self::poll). Call it between two ticks.
///
/// # Examples
///
/// ```no_run
/// use demeanor::definition::{Definition, Vocabulary, Watch};
/// struct Guard;
/// impl demeanor::Owner for Guard { type Context<'a> = (); type Message = (); }
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
    /// The connection to the operating system, which sends events until it is dropped. `None` in tests.
    watcher: Option<RecommendedWatcher>,
    concerned: Concerned,
}

/// The files and links that belong to a definition. [`Concerned::of`] finds them, and runs again after each event about them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Concerned {
    /// The definition's own file, and the files that it names. The set contains two paths of each file: one with all links
    /// resolved, and one with only the links of its folder resolved.
    files: BTreeSet<PathBuf>,
    /// The folder of the definition, with all links resolved. It may contain scripts that are not in `files`.
    folder: PathBuf,
    /// The links on the way to the definition's own file: the file itself if it is a link, and folders that are links.
    links: BTreeSet<PathBuf>,
}

impl<T: Owner> Watch<T> {
    /// Starts to watch a definition's file at `path`, the scripts in its folder, and the scripts and other files that it names,
    /// including those in subfolders. If the file or a folder on the way to it is a symbolic link, both the link and its target
    /// are watched.
    ///
    /// # Errors
    ///
    /// When the file's folder cannot be watched.
    pub fn new(definition: &Definition<T>, path: impl AsRef<Path>) -> Result<Self, notify::Error> {
        let path = path.as_ref();
        let (send, events) = channel();
        let mut watcher = notify::recommended_watcher(send)?;
        // The folder is watched instead of the file, because many editors save by replacing the file with a new one.
        watcher.watch(folder_of(path), RecursiveMode::NonRecursive)?;
        let mut watch = Self::hearing(definition, path, events);
        watch.watcher = Some(watcher);
        watch.watch_links();
        Ok(watch)
    }

    /// Creates a watch that gets its events from `events`.
    fn hearing(definition: &Definition<T>, path: &Path, events: Receiver<notify::Result<Event>>) -> Self {
        let concerned = Concerned::of(path);
        Self { definition: definition.clone(), path: path.into(), events, watcher: None, concerned }
    }

    /// Watches the folders of all links and files. If a folder cannot be watched, this is logged, and the others are still
    /// watched.
    fn watch_links(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        let Concerned { files, folder, links } = &self.concerned;
        // The folder of the definition is watched again, because it may have been replaced. Its subfolders are watched only if
        // they contain a named file, because there may be very many subfolders.
        let around =
            files.iter().flat_map(|file| file.ancestors().skip(1).take_while(|around| around.starts_with(folder)));
        let folders = links.iter().chain(files).map(|path| folder_of(path)).chain(around).chain([folder.as_path()]);
        for other in folders.filter(|other| other.is_dir()).collect::<BTreeSet<_>>() {
            if let Err(error) = watcher.watch(other, RecursiveMode::NonRecursive) {
                warn!("{}: {error}", other.display());
            }
        }
    }

    /// Reloads the definition if its file, a script or a linked file has been saved since the last call, or if a symbolic link
    /// on the way to the definition's file has a new target. Returns whether the definition was reloaded.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or when it has mistakes; the error then lists all of them. The definition stays as it was.
    pub fn poll(&mut self) -> Result<bool, LoadError> {
        let mut is_saved = false;
        let mut is_link_changed = false;
        for event in self.events.try_iter() {
            match event {
                Ok(event) => {
                    is_saved |= self.concerned.by(&event);
                    is_link_changed |= self.concerned.has_link(&event);
                }
                Err(error) => warn!("{}: {error}", self.path.display()),
            }
        }
        if is_link_changed || is_saved {
            // The paths are resolved before the file is read. If a link changes between these two steps, its event leads to
            // another reload.
            let now = Concerned::of(&self.path);
            // If the file is missing, the new one has perhaps not been written yet. It may be in another folder.
            is_saved |= now.files != self.concerned.files && self.path.exists();
            self.concerned = now;
            self.watch_links();
        }
        if is_saved {
            info!("{} has been saved", self.path.display());
            self.definition.reload_from(&self.path)?;
        }
        Ok(is_saved)
    }
}

impl Concerned {
    fn of(path: &Path) -> Self {
        let folder = folder_of(path);
        let named = text_at(path).map(|text| named_in(&text, folder)).unwrap_or_default();
        let paths: Vec<_> = named.iter().map(|named| folder.join(named)).chain([path.into()]).collect();
        let files = paths.iter().flat_map(both).collect();
        let links = paths.iter().flat_map(|path| links(path)).collect();
        Self { files, folder: folder.canonicalize().unwrap_or_else(|_| folder.into()), links }
    }

    /// Whether an event says that a file of the definition has been written.
    fn by(&self, event: &Event) -> bool {
        // A folder on the way to a file may be replaced as a whole.
        let is_around = |path: &Path| {
            path.starts_with(&self.folder)
                && path != self.folder
                && self.files.iter().any(|file| file.starts_with(path))
        };
        let is_ours = |path: PathBuf| {
            self.files.contains(&path) || is_around(&path) || (is_script(&path) && path.starts_with(&self.folder))
        };
        let is_written = match event.kind {
            // The file was moved away, and the file that replaces it is not there yet.
            EventKind::Modify(ModifyKind::Name(RenameMode::From)) => false,
            kind => kind.is_create() || kind.is_modify(),
        };
        is_written && event.paths.iter().flat_map(both).any(is_ours)
    }

    /// Whether an event concerns a link on the way to the file.
    fn has_link(&self, event: &Event) -> bool {
        let is_link = |path: &PathBuf| self.links.contains(&placed(path));
        !event.kind.is_access() && event.paths.iter().any(is_link)
    }
}

/// Returns the scripts and the files that a text names, and the ones that these files name in turn.
fn named_in(text: &str, folder: &Path) -> Vec<PathBuf> {
    let library = Library::of(text, Some(&FilesBeside::Folder(folder.into())));
    // This also finds the scripts of a file with mistakes, so that saving a script reloads the file.
    let texts = library.texts().chain([(Path::new(""), text)]);
    let quoted = texts.flat_map(|(file, text)| text.split(['"', '\'']).map(|quoted| script_of(file, quoted)));
    let scripts = quoted.filter(|quoted| is_script(quoted));
    library.paths().cloned().chain(scripts).collect()
}

fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rhai")
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the path with all links resolved, and the path with only the links of its folder resolved. They differ if the file is
/// a link.
fn both(path: impl AsRef<Path>) -> [PathBuf; 2] {
    [whole(path.as_ref()), placed(path.as_ref())]
}

/// Resolves all links of a path. If there is no file, resolves the links of its folder.
fn whole(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| placed(path))
}

/// Resolves the links of a path's folder, but not the path itself.
fn placed(path: &Path) -> PathBuf {
    match (folder_of(path).canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.into(),
    }
}

/// The maximum number of links that are followed, the same as in Linux.
const MOST_LINKS: usize = 40;

/// Returns the paths of all links on the way to a file, with the links of the folder resolved in each path.
fn links(path: &Path) -> BTreeSet<PathBuf> {
    let mut links = BTreeSet::new();
    let mut waiting = vec![path.to_path_buf()];
    while let Some(path) = waiting.pop() {
        for on_the_way in path.ancestors().filter(|path| !path.as_os_str().is_empty()) {
            let Ok(to) = fs::read_link(on_the_way) else { continue };
            if links.len() < MOST_LINKS && links.insert(placed(on_the_way)) {
                waiting.push(folder_of(on_the_way).join(to));
            }
        }
    }
    links
}

impl<T: Owner> fmt::Debug for Watch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("path", &self.path).finish_non_exhaustive()
    }
}

#[cfg(all(test, unix, feature = "script"))]
mod under_fire;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::sync::mpsc::{Sender, channel};

    use notify::event::{AccessKind, CreateKind, DataChange, ModifyKind, RemoveKind, RenameMode};
    use notify::{Event, EventKind};

    use super::{Watch, named_in};
    use crate::definition::{Definition, LoadError, Vocabulary};
    use crate::owner::Owner;

    struct Guard;
    impl Owner for Guard {
        type Context<'a> = ();
        type Message = ();
    }

    /// A file, a definition from it, and a sender that takes the place of the operating system's events.
    struct Stage {
        path: PathBuf,
        definition: Definition<Guard>,
        send: Sender<notify::Result<Event>>,
        watch: Watch<Guard>,
    }

    const WRITTEN: EventKind = EventKind::Modify(ModifyKind::Data(DataChange::Any));

    impl Stage {
        fn new(test: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("demeanor-watch-{}-{test}", std::process::id()));
            fs::create_dir_all(&folder).unwrap();
            let path = folder.join("guard.toml");
            fs::write(&path, "initial = 'a'\nstates.a.final = true\n").unwrap();
            let definition = Definition::load(&path, &Vocabulary::new()).unwrap();
            let (send, events) = channel();
            let watch = Watch::hearing(&definition, &path, events);
            Self { path, definition, send, watch }
        }

        fn save(&self, text: &str) {
            fs::write(&self.path, text).unwrap();
        }

        fn beside(&self, name: &str) -> PathBuf {
            self.path.with_file_name(name)
        }

        fn hear(&self, kind: EventKind, of: impl Into<PathBuf>) {
            self.send.send(Ok(Event::new(kind).add_path(of.into()))).unwrap();
        }

        fn initial(&self) -> String {
            self.definition.initial().name().into_owned()
        }

        #[track_caller]
        fn reloads(&mut self, initial: &str) {
            assert!(self.watch.poll().unwrap());
            assert_eq!(self.initial(), initial);
        }

        #[track_caller]
        fn stays(&mut self, initial: &str) {
            assert!(!self.watch.poll().unwrap());
            assert_eq!(self.initial(), initial);
        }

        /// Sets the target of the link `now`.
        #[cfg(unix)]
        fn lead(&self, to: &str) {
            let _ = fs::remove_file(self.beside("now"));
            std::os::unix::fs::symlink(to, self.beside("now")).unwrap();
        }

        /// Watches the definition through the link `now`. Returns a function that sends an event for a path, and then polls.
        #[cfg(unix)]
        fn watch_link(&self) -> impl FnMut(PathBuf) -> bool + use<> {
            let (send, events) = channel();
            let mut watch = Watch::hearing(&self.definition, &self.beside("now/guard.toml"), events);
            move |path| {
                send.send(Ok(Event::new(EventKind::Create(CreateKind::Any)).add_path(path))).unwrap();
                watch.poll().unwrap()
            }
        }
    }

    impl Drop for Stage {
        fn drop(&mut self) {
            // The folder may already be gone.
            let _ = fs::remove_dir_all(self.path.parent().unwrap());
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
        stage.reloads("b");
        assert!(!stage.watch.poll().unwrap());
    }

    #[test]
    fn a_file_that_another_was_moved_to_is_reloaded() {
        let mut stage = Stage::new("moved");
        stage.save("initial = 'b'\nstates.b.final = true\n");
        stage.hear(EventKind::Modify(ModifyKind::Name(RenameMode::To)), stage.path.clone());
        stage.reloads("b");
    }

    /// Some editors move the old file away before they write the new one.
    #[test]
    fn a_file_that_is_gone_for_a_while_is_waited_for() {
        let mut stage = Stage::new("gone");
        fs::remove_file(&stage.path).unwrap();
        stage.hear(EventKind::Modify(ModifyKind::Name(RenameMode::From)), stage.path.clone());
        stage.hear(EventKind::Remove(RemoveKind::File), stage.path.clone());
        stage.stays("a");
    }

    #[test]
    fn what_happens_to_other_files_or_without_a_change_is_of_no_concern() {
        let mut stage = Stage::new("other");
        stage.save("initial = 'b'\nstates.b.final = true\n");
        stage.hear(WRITTEN, stage.beside("other.toml"));
        stage.hear(WRITTEN, std::env::temp_dir().join("elsewhere.rhai"));
        stage.hear(EventKind::Access(AccessKind::Any), stage.path.clone());
        stage.stays("a");
    }

    #[test]
    fn a_script_that_was_saved_beside_it_has_the_file_reloaded() {
        let mut stage = Stage::new("script");
        stage.save("initial = 'b'\nstates.b.final = true\n");
        stage.hear(WRITTEN, stage.beside("guard.rhai"));
        stage.reloads("b");
        stage.save("initial = 'c'\nstates.c.final = true\n");
        fs::create_dir(stage.beside("scripts")).unwrap();
        stage.hear(WRITTEN, stage.beside("scripts/guard.rhai"));
        stage.reloads("c");
    }

    #[test]
    fn the_scripts_of_a_linked_file_are_in_the_folder_of_that_file() {
        let stage = Stage::new("below");
        fs::create_dir_all(stage.beside("below")).unwrap();
        fs::write(stage.beside("below/b.toml"), "states.b.script = 'scripts/a.rhai'\n").unwrap();
        let named = named_in("states.a.machine = 'below/b.toml'\n", stage.path.parent().unwrap());
        assert_eq!(named, ["below/b.toml", "below/scripts/a.rhai"].map(PathBuf::from));
    }

    #[test]
    fn a_file_that_it_links_to_has_it_reloaded_when_it_is_saved() {
        let mut stage = Stage::new("linked");
        let linked = |initial: &str| format!("initial = '{initial}'\nstates.{initial}.final = true\n");
        fs::write(stage.beside("round.toml"), linked("x")).unwrap();
        stage.save("initial = 'a'\n[states.a]\nmachine = 'round.toml'\nfinal = true\n");
        stage.hear(WRITTEN, &stage.path);
        stage.reloads("a.x");
        fs::write(stage.beside("round.toml"), linked("y")).unwrap();
        stage.hear(WRITTEN, stage.beside("round.toml"));
        stage.reloads("a.y");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_to_another_file_has_that_loaded() {
        let mut stage = Stage::new("links");
        let (old, new) = (stage.beside("old"), stage.beside("new"));
        for (folder, state) in [(&old, "b"), (&new, "c")] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("guard.toml"), format!("initial = '{state}'\nstates.{state}.final = true\n"))
                .unwrap();
        }
        stage.lead("old");
        let mut hear = stage.watch_link();
        assert!(!hear(stage.beside("now")), "it leads where it did");
        assert!(hear(old.join("guard.toml")), "by the path of the file itself");
        assert_eq!(stage.initial(), "b");
        stage.lead("new");
        assert!(hear(stage.beside("now")));
        assert_eq!(stage.initial(), "c");
        assert!(!hear(old.join("guard.toml")));
        assert!(hear(new.join("guard.toml")));
        stage.watch.poll().unwrap();
    }

    /// A regression test: an event for the link was compared only with the path of its target.
    #[cfg(unix)]
    #[test]
    fn a_link_that_takes_the_place_of_a_file_has_it_reloaded() {
        let mut stage = Stage::new("in-place");
        fs::write(stage.beside("other.toml"), "initial = 'b'\nstates.b.final = true\n").unwrap();
        fs::remove_file(&stage.path).unwrap();
        std::os::unix::fs::symlink("other.toml", &stage.path).unwrap();
        stage.hear(EventKind::Create(CreateKind::Any), &stage.path);
        stage.reloads("b");
    }

    /// A regression test: the target folder of a link was not watched if it contained no file.
    #[cfg(unix)]
    #[test]
    fn a_file_that_comes_later_to_where_a_link_leads_is_loaded() {
        let mut stage = Stage::new("later");
        fs::create_dir(stage.beside("new")).unwrap();
        stage.lead(".");
        let mut hear = stage.watch_link();
        stage.lead("new");
        assert!(!hear(stage.beside("now")), "it is still to come");
        fs::write(stage.beside("new/guard.toml"), "initial = 'b'\nstates.b.final = true\n").unwrap();
        assert!(hear(stage.beside("new/guard.toml")));
        assert_eq!(stage.initial(), "b");
        stage.watch.poll().unwrap();
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
        stage.reloads("b");
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
