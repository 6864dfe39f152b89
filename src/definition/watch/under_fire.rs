//! Tests [`Watch`] with random sequences of file changes, as editors, version control and mistakes cause them, while machines run
//! on the files.
//!
//! `PROPTEST_CASES=10000 cargo test --release --all-features --lib under_fire` tests more cases than the usual run.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};

use allocation_counter::measure;
use notify::event::{AccessKind, CreateKind, DataChange, ModifyKind, RemoveKind, RenameMode};
use notify::{Event, EventKind};
use proptest::collection::vec;
use proptest::prelude::*;

use super::Watch;
use crate::batch::Batch;
use crate::definition::{Definition, LoadError, Vocabulary};
use crate::format::problems::problem::Problem;
use crate::machine::state_machine::StateMachine;
use crate::owner::Owner;

#[derive(Clone, Default)]
struct Guard {
    speed: f64,
}

impl Owner for Guard {
    type Context<'a> = f64;
    type Message = ();

    fn now(seconds: &f64) -> f64 {
        *seconds
    }
}

fn vocabulary() -> Vocabulary<Guard> {
    Vocabulary::new().field("speed", |guard: &Guard, _| guard.speed, |guard, speed| guard.speed = speed)
}

/// The names of the files, by number: the definition, a file that it links to, its script, and a file that no other file names.
const FILES: [&str; 4] = ["guard.toml", "round.toml", "guard.rhai", "other.toml"];

/// The content of a file.
#[derive(Clone, Copy, Debug)]
enum Content {
    /// A valid file that contains this number.
    Valid(u8),
    /// The beginning of a valid file.
    Half(u8),
    /// A file with mistakes.
    Mistaken(u8),
    Empty,
    /// Bytes that are not UTF-8.
    NotText,
}

impl Content {
    fn bytes(self, file: usize) -> Vec<u8> {
        let valid = |number: u8| match FILES[file] {
            "guard.toml" => format!(
                "initial = 'a{number}'\n[states.a{number}]\nscript = 'guard.rhai'\nexits = [{{ to = 'run', after = 0.5 }}]\n\
                 [states.run]\nmachine = 'round.toml'\nexits = [{{ to = 'a{number}', on = 'done' }}]\n"
            ),
            "guard.rhai" => {
                format!("fn enter() {{ this.speed = {number}.0; }}\nfn update() {{ this.speed += 1.0; }}\n")
            }
            _ => format!(
                "initial = 'x{number}'\n[states.x{number}]\nexits = [{{ to = 'y', after = 0.5 }}]\n[states.y]\nfinal = true\n"
            ),
        };
        match self {
            Self::Valid(number) => valid(number).into_bytes(),
            Self::Half(number) => {
                let mut bytes = valid(number).into_bytes();
                bytes.truncate(bytes.len() * usize::from(number % 9) / 10);
                bytes
            }
            Self::Mistaken(number) => valid(number).replace(['y', ';'], "?").into_bytes(),
            Self::Empty => vec![],
            Self::NotText => vec![0xff, 0, 0xc3, 0x28],
        }
    }
}

/// A change to a file.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// The file is overwritten.
    Write(Content),
    /// The file is replaced with a new one.
    Rename(Content),
    Remove,
    /// The file is replaced with a link: to another file, to itself, to nothing, to a folder, to a file outside of the folder,
    /// or to the next file.
    Link(u8),
    /// The file is replaced with an empty folder of the same name.
    Folder,
    /// The permission to read the file is given or taken away.
    Mode(bool),
    /// The link to the folder of the definition gets another target.
    Exchange,
}

#[derive(Clone, Debug)]
struct Step {
    file: usize,
    act: Act,
    /// The kinds of the events that the operating system sends.
    kinds: Vec<u8>,
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        6 => any::<u8>().prop_map(Content::Valid),
        1 => any::<u8>().prop_map(Content::Half),
        1 => any::<u8>().prop_map(Content::Mistaken),
        1 => Just(Content::Empty),
        1 => Just(Content::NotText),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let act = prop_oneof![
        5 => content().prop_map(Act::Write),
        5 => content().prop_map(Act::Rename),
        2 => Just(Act::Remove),
        3 => (0..6_u8).prop_map(Act::Link),
        1 => Just(Act::Folder),
        1 => any::<bool>().prop_map(Act::Mode),
        2 => Just(Act::Exchange),
    ];
    (0..FILES.len(), act, vec(0..9_u8, 0..4)).prop_map(|(file, act, kinds)| Step { file, act, kinds })
}

/// Two folders that each contain all files, a link to one of the folders, and machines that run on the definition in it.
struct Stage {
    root: PathBuf,
    leads_to_second: bool,
    send: Sender<notify::Result<Event>>,
    watch: Watch<Guard>,
    definition: Definition<Guard>,
    machine: (Guard, StateMachine<Guard>),
    batch: Batch<Guard>,
    now: f64,
}

impl Stage {
    fn new() -> Self {
        static STAGES: AtomicU32 = AtomicU32::new(0);
        let nth = STAGES.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("demeanor-under-fire-{}-{nth}", std::process::id()));
        for folder in ["first", "second"] {
            fs::create_dir_all(root.join(folder)).unwrap();
            for (file, name) in FILES.iter().enumerate() {
                fs::write(root.join(folder).join(name), Content::Valid(1).bytes(file)).unwrap();
            }
        }
        fs::write(root.join("outside.toml"), Content::Valid(2).bytes(1)).unwrap();
        symlink("first", root.join("now")).unwrap();
        let path = root.join("now/guard.toml");
        let definition = Definition::load(&path, &vocabulary()).unwrap();
        let (send, events) = channel();
        let watch = Watch::hearing(&definition, &path, events);
        let machine = (Guard::default(), definition.machine());
        let mut batch = Batch::new();
        for _ in 0..3 {
            batch.insert(Guard::default(), definition.initial());
        }
        Self { root, leads_to_second: false, send, watch, definition, machine, batch, now: 0.0 }
    }

    fn path(&self, file: usize) -> PathBuf {
        self.root.join("now").join(FILES[file])
    }

    /// Makes the change of a step. The operating system may refuse some changes, which are then left out.
    fn act(&mut self, step: &Step) {
        let path = self.path(step.file);
        match step.act {
            Act::Write(content) => _ = fs::write(&path, content.bytes(step.file)),
            Act::Rename(content) => {
                let new = path.with_extension("new");
                fs::write(&new, content.bytes(step.file)).unwrap();
                if path.is_dir() && !path.is_symlink() {
                    remove(&path);
                }
                fs::rename(&new, &path).unwrap();
            }
            Act::Remove => remove(&path),
            Act::Link(to) => {
                remove(&path);
                let to = match to {
                    0 => FILES[3].into(),
                    1 => FILES[step.file].into(),
                    2 => "nothing.toml".into(),
                    3 => ".".into(),
                    4 => "../outside.toml".into(),
                    _ => Path::new("../now").join(FILES[(step.file + 1) % FILES.len()]),
                };
                symlink(to, &path).unwrap();
            }
            Act::Folder => {
                remove(&path);
                fs::create_dir(&path).unwrap();
            }
            Act::Mode(is_readable) => {
                _ = fs::set_permissions(&path, Permissions::from_mode(if is_readable { 0o644 } else { 0 }));
            }
            Act::Exchange => {
                self.leads_to_second = !self.leads_to_second;
                let now = self.root.join("now");
                let new = self.root.join("new");
                symlink(if self.leads_to_second { "second" } else { "first" }, &new).unwrap();
                fs::rename(&new, &now).unwrap();
            }
        }
    }

    /// Sends an event, or an error, as the operating system does for a path.
    fn hear(&self, kind: u8, path: &Path) {
        let kind = match kind {
            0 => EventKind::Create(CreateKind::Any),
            1 => EventKind::Modify(ModifyKind::Data(DataChange::Any)),
            2 => EventKind::Modify(ModifyKind::Name(RenameMode::To)),
            3 => EventKind::Modify(ModifyKind::Name(RenameMode::From)),
            4 => EventKind::Remove(RemoveKind::Any),
            5 => EventKind::Access(AccessKind::Any),
            6 => EventKind::Any,
            7 => EventKind::Modify(ModifyKind::Metadata(notify::event::MetadataKind::Any)),
            _ => return self.send.send(Err(notify::Error::generic("too many files"))).unwrap(),
        };
        self.send.send(Ok(Event::new(kind).add_path(path.into()))).unwrap();
    }

    /// Returns the names of a definition's states, and the state and the speed of a new guard after each of six ticks.
    fn fate(definition: &Definition<Guard>) -> Vec<String> {
        let (mut guard, mut machine) = (Guard::default(), definition.machine());
        machine.start(&mut guard, &mut 0.0);
        let mut fate: Vec<_> = definition.states().iter().map(ToString::to_string).collect();
        for tick in 1..7 {
            machine.update(&mut guard, &mut (f64::from(tick) / 4.0));
            fate.push(format!("{:?} {}", machine.current().map(ToString::to_string), guard.speed));
        }
        fate
    }

    /// Polls the watch, and checks the result against a new definition from the same files. Returns whether the definition was
    /// reloaded, or the text of the error.
    fn poll(&mut self) -> Result<bool, String> {
        let before = Self::fate(&self.definition);
        let polled = self.watch.poll();
        let after = Self::fate(&self.definition);
        let fresh = Definition::load(self.path(0), &vocabulary());
        let polled = match (polled, fresh) {
            (Ok(false), _) => {
                assert_eq!(after, before, "nothing was reloaded");
                Ok(false)
            }
            (Ok(true), Ok(fresh)) => {
                assert_eq!(after, Self::fate(&fresh), "the new definition runs");
                Ok(true)
            }
            (Err(error), Err(fresh)) => {
                assert_eq!(after, before, "the old definition runs on");
                assert_eq!(error.to_string(), fresh.to_string());
                Err(all_of(&error))
            }
            (polled, fresh) => panic!("polled: {polled:?}, fresh: {fresh:?}"),
        };
        if let Err(error) = &polled {
            assert!(FILES.iter().any(|file| error.contains(file)), "it names the file: {error}");
        }
        polled
    }

    /// Updates all machines that run on the definition.
    fn tick(&mut self) {
        self.now += 0.25;
        let (guard, machine) = &mut self.machine;
        machine.update(guard, &mut self.now);
        self.batch.update(&mut self.now);
        assert_eq!(self.batch.len(), 3);
        // Whatever has become of the states of the file, the machine is in some state.
        assert!(machine.current().is_some());
    }

    fn run(&mut self, step: &Step) {
        self.act(step);
        let path = if matches!(step.act, Act::Exchange) { self.root.join("now") } else { self.path(step.file) };
        for kind in &step.kinds {
            self.hear(*kind, &path);
        }
        _ = self.poll();
        self.tick();
        // When all events have been sent, the last of them for the definition's own file, the current files must be loaded.
        self.hear(0, &path);
        _ = self.poll();
        self.hear(1, &self.path(0));
        let polled = self.poll();
        assert_eq!(polled.is_ok(), Definition::load(self.path(0), &vocabulary()).is_ok());
        assert_ne!(polled, Ok(false));
        self.tick();
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // The folder may already be gone.
        _ = fs::remove_dir_all(&self.root);
    }
}

fn remove(path: &Path) {
    if path.is_dir() && !path.is_symlink() {
        _ = fs::remove_dir_all(path);
    } else {
        _ = fs::remove_file(path);
    }
}

fn all_of(error: &LoadError) -> String {
    match error {
        LoadError::Problems(problems) => problems.iter().map(Problem::located).collect(),
        other => other.to_string(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_becomes_of_the_files_the_new_definition_runs_or_the_old_one(steps in vec(step(), 1..16)) {
        let mut stage = Stage::new();
        for step in &steps {
            stage.run(step);
        }
    }
}

#[test]
fn a_game_does_not_grow_while_its_files_are_damaged_and_mended() {
    let contents = [Content::Half(6), Content::Mistaken(3), Content::Empty, Content::NotText, Content::Valid(3)];
    let acts = contents.into_iter().flat_map(|content| [Act::Write(content), Act::Rename(content)]);
    let acts = acts.chain((0..6).map(Act::Link)).chain([Act::Remove, Act::Folder, Act::Exchange]);
    let steps: Vec<_> = acts
        .flat_map(|act| [0, 2].map(|file| Step { file, act, kinds: vec![0] }))
        .flat_map(|step| [step.clone(), Step { act: Act::Rename(Content::Valid(1)), ..step }])
        .collect();
    let mut stage = Stage::new();
    let mut run_all = || steps.iter().for_each(|step| stage.run(step));
    run_all();
    let growth = measure(run_all).bytes_current;
    assert!(growth < 500, "{growth} bytes");
}
