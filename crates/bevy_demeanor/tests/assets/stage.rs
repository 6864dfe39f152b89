//! Guards whose machines come from files, their game, and a disk in memory.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Once};
use std::thread;

use bevy_app::prelude::*;
use bevy_asset::io::memory::{Dir, MemoryAssetReader};
use bevy_asset::io::{AssetSourceBuilder, AssetSourceEvent, AssetSourceId, AssetWatcher};
use bevy_asset::{AssetApp, AssetPlugin, AssetServer, Assets, Handle};
use bevy_demeanor::demeanor::definition::{Definition, Files, Vocabulary};
use bevy_demeanor::prelude::*;
use bevy_ecs::prelude::*;
use bevy_reflect::TypePath;

/// The time of the callbacks' clock, in seconds.
pub(crate) struct Moment(pub(crate) f64);

#[derive(Resource)]
pub(crate) struct Now(pub(crate) f64);

#[derive(Debug)]
pub(crate) enum Told {
    Noise,
}

#[derive(Component, TypePath, Clone, Debug, Default)]
pub(crate) struct Guard {
    pub(crate) health: f64,
    pub(crate) speed: f64,
    /// The callbacks that have run.
    pub(crate) trace: Vec<String>,
}

impl Owner for Guard {
    type Context<'a> = Moment;
    type Message = Told;

    fn now(moment: &Moment) -> f64 {
        moment.0
    }
}

impl EntityOwner for Guard {
    type Body = ();
    type Param = Res<'static, Now>;
}

impl CallbackContext<Guard> for Moment {
    fn lend<R>(cx: &mut EntityContext<'_, Guard>, call: impl FnOnce(&mut Self) -> R) -> R {
        call(&mut Moment(cx.param.0))
    }
}

/// Records its callbacks.
struct Trace(&'static str);

impl MachineState<Guard> for Trace {
    fn enter(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut Moment) {
        guard.trace.push(format!("{} enter", self.0));
    }

    fn update(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut Moment) {
        guard.trace.push(format!("{} update", self.0));
    }

    fn exit(&self, guard: &mut Guard, _: &mut Fsm<'_, Guard>, _: &mut Moment) {
        guard.trace.push(format!("{} exit", self.0));
    }
}

/// Another type of owner.
#[derive(Component, Debug, Default)]
pub(crate) struct Sheep;

impl Owner for Sheep {
    type Context<'a> = ();
    type Message = ();
}

impl EntityOwner for Sheep {
    type Body = ();
    type Param = ();
}

/// Returns the traced behaviors `stand`, `walk` and `run`.
pub(crate) fn vocabulary() -> Vocabulary<Guard> {
    static STATES: [Trace; 3] = [Trace("stand"), Trace("walk"), Trace("run")];
    let [stand, walk, run] = &STATES;
    Vocabulary::new()
        .value("health", |guard: &Guard, _| guard.health)
        .field("speed", |guard: &Guard, _| guard.speed, |guard, speed| guard.speed = speed)
        .behavior("stand", stand)
        .behavior("walk", walk)
        .behavior("run", run)
        .message("noise", |told| matches!(told, Told::Noise))
}

/// A guard that stands, and walks after two seconds.
pub(crate) const PATROL: &str = "\
initial = 'stand'

[states.stand]
behavior = 'stand'
exits = [{ to = 'walk', after = 2 }]

[states.walk]
behavior = 'walk'
exits = [{ to = 'stand', on = 'noise' }]
";

/// A game with a disk in memory.
pub(crate) struct Stage {
    pub(crate) app: App,
    disk: Dir,
    changes: Changes,
}

type Changes = Arc<Mutex<Option<Box<dyn Fn(AssetSourceEvent) + Send + Sync>>>>;

struct Watcher;
impl AssetWatcher for Watcher {}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with(StateMachinePlugin::new())
    }

    /// Creates the game with a plugin that gets the vocabulary.
    pub(crate) fn with(plugin: StateMachinePlugin<Guard>) -> Self {
        let mut stage = Self::empty();
        stage.app.add_state_machine_with(plugin.with_definitions(vocabulary()));
        stage
    }

    /// Creates the game without a plugin for guards.
    pub(crate) fn empty() -> Self {
        let (mut app, disk, changes) = (App::new(), Dir::default(), Changes::default());
        let (root, heard) = (disk.clone(), Arc::clone(&changes));
        let source = AssetSourceBuilder::new(move || Box::new(MemoryAssetReader { root: root.clone() }));
        let source = source.with_watcher(move |sender| {
            let send = move |event| sender.try_send(event).expect("the asset server listens");
            *heard.lock().unwrap() = Some(Box::new(send));
            Some(Box::new(Watcher))
        });
        app.register_asset_source(AssetSourceId::Default, source);
        app.add_plugins((
            TaskPoolPlugin::default(),
            AssetPlugin { watch_for_changes_override: Some(true), ..AssetPlugin::default() },
        ));
        app.insert_resource(Now(0.0));
        Self { app, disk, changes }
    }

    /// Writes a file to the disk, or changes its text.
    pub(crate) fn save(&self, path: &str, text: &str) {
        self.save_bytes(path, text.as_bytes());
    }

    pub(crate) fn save_bytes(&self, path: &str, bytes: &[u8]) {
        let path = Path::new(path);
        let is_new = self.disk.get_asset(path).is_none();
        self.disk.insert_asset(path, bytes.to_vec());
        let event: fn(PathBuf) -> AssetSourceEvent =
            if is_new { AssetSourceEvent::AddedAsset } else { AssetSourceEvent::ModifiedAsset };
        let changes = self.changes.lock().unwrap();
        changes.as_ref().expect("there is a watcher")(event(path.into()));
    }

    pub(crate) fn load(&self, path: &str) -> Handle<DefinitionFile> {
        self.app.world().resource::<AssetServer>().load(path.to_owned())
    }

    /// Updates the app until a condition holds. The clock stands still.
    #[track_caller]
    pub(crate) fn until(&mut self, mut is_so: impl FnMut(&World) -> bool) {
        for _ in 0..100_000 {
            if is_so(self.app.world()) {
                return;
            }
            self.app.update();
            thread::yield_now();
        }
        panic!("it does not come to be so");
    }

    /// Updates the app until a file is loaded.
    #[track_caller]
    pub(crate) fn until_loaded(&mut self, file: &Handle<DefinitionFile>) {
        self.until(|world| world.resource::<Assets<DefinitionFile>>().contains(file));
    }

    /// Updates the app until the file is loaded as it was saved last. The asset server may load it more often than it is saved,
    /// so a newer version can still have the text of an earlier save.
    #[track_caller]
    pub(crate) fn until_reloaded(&mut self, file: &Handle<DefinitionFile>) {
        let read = |world: &World| {
            let file = world.resource::<Assets<DefinitionFile>>().get(file).expect("it is loaded");
            file.files().clone()
        };
        let saved = self.saved(read(self.app.world()).name());
        self.until(|world| read(world) == saved);
    }

    /// Reads a file from the disk, with the files that it names.
    fn saved(&self, path: &str) -> Files {
        let read = |path: &Path| {
            let saved = self.disk.get_asset(path).ok_or("there is no such file")?;
            Ok::<_, &str>(saved.value().to_vec())
        };
        let mut files = Files::new(path, read(Path::new(path)).unwrap());
        loop {
            let missing = files.missing();
            if missing.is_empty() {
                return files;
            }
            for named in missing {
                let text = read(&Path::new(path).with_file_name(&named));
                files.insert(named, text);
            }
        }
    }

    /// Updates the app `ticks` times, one second each.
    pub(crate) fn ticks(&mut self, ticks: u32) {
        for _ in 0..ticks {
            self.app.world_mut().resource_mut::<Now>().0 += 1.0;
            self.app.update();
        }
    }

    /// Spawns a guard whose machine comes from a file.
    pub(crate) fn guard(&mut self, file: &Handle<DefinitionFile>) -> Entity {
        let guard = Guard { health: 100.0, ..Guard::default() };
        self.app.world_mut().spawn((guard, DefinedMachine::<Guard>::new(file.clone()))).id()
    }

    /// Returns the definition of a file that is in use.
    pub(crate) fn definition(&self, file: &Handle<DefinitionFile>) -> Definition<Guard> {
        self.app.world().resource::<LoadedDefinitions<Guard>>().get(file).expect("it is in use").clone()
    }

    /// Returns the name of a guard's state.
    pub(crate) fn state(&self, guard: Entity) -> String {
        let machine = self.app.world().get::<Machine<Guard>>(guard);
        machine.and_then(|machine| machine.current()).map_or_else(String::new, |state| state.name().into_owned())
    }

    pub(crate) fn speed(&self, guard: Entity) -> f64 {
        self.app.world().get::<Guard>(guard).unwrap().speed
    }

    pub(crate) fn take_trace(&mut self, guard: Entity) -> Vec<String> {
        std::mem::take(&mut self.app.world_mut().get_mut::<Guard>(guard).unwrap().trace)
    }
}

/// The log lines of the plugin and the library in all tests. Each test searches for the name of its own file.
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Lines;

impl log::Log for Lines {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn && metadata.target().contains("demeanor")
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            LINES.lock().unwrap().push(format!("{}: {}", record.level(), record.args()));
        }
    }

    fn flush(&self) {}
}

/// Stores the log lines from now on.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Lines).expect("there is no other logger");
        log::set_max_level(log::LevelFilter::Warn);
    });
}

/// Returns the warnings and errors that contain this text.
pub(crate) fn lines_with(part: &str) -> Vec<String> {
    LINES.lock().unwrap().iter().filter(|line| line.contains(part)).cloned().collect()
}
