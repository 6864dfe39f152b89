//! The table of compile times: what each further kind of character costs a game.
//!
//! A package with one kind and one with eleven are written to a temporary folder. Each kind has two states of its own, and a type of
//! owner of its own unless the row says that all kinds share one. The package is compiled again and again, and its dependencies
//! once; the processor time is that of `cargo` and all processes that it starts, so it does not depend on how many cores are free.
//! A tenth of the difference is the cost of one kind. Linking is included.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process};

use bench_runner::median;
use comfy_table::Table;
use nix::sys::resource::{UsageWho, getrusage};

/// The most kinds in a package. The other package has one.
const MOST: usize = 11;

/// A row of the table: the code that a package runs for each of its kinds.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// Whether all kinds share one type of owner.
    shares_owner: bool,
    /// The body of `fn run`, where `T` is the type of owner and `CALM` the first state of the kind.
    run: &'static str,
}

const MACHINE: Row = Row {
    name: "machine",
    shares_owner: false,
    run: "let mut owner = T(0);
            let mut machine = StateMachine::new(&CALM);
            for _ in 0..100 { machine.update(&mut owner, cx); }
            println!(\"{}\", owner.0);",
};

const BATCH: Row = Row {
    name: "batch",
    shares_owner: false,
    run: "let mut batch = Batch::new();
            for number in 0..100 { batch.insert(T(number), &CALM); }
            for _ in 0..100 { batch.update(cx); }
            println!(\"{}\", batch.len());",
};

/// The rows of the table.
pub(crate) const ROWS: [Row; 7] = [
    MACHINE,
    Row { name: "machine, one owner type", shares_owner: true, ..MACHINE },
    Row {
        name: "agent",
        shares_owner: false,
        run: "let mut agent = Agent::new(T(0), StateMachine::new(&CALM));
            for _ in 0..100 { agent.update(cx); }
            println!(\"{}\", agent.0);",
    },
    BATCH,
    Row { name: "batch, one owner type", shares_owner: true, ..BATCH },
    Row {
        name: "batch on all cores",
        shares_owner: false,
        run: "let mut batch = Batch::new();
            for number in 0..100 { batch.insert(T(number), &CALM); }
            for _ in 0..100 { batch.par_update(|_chunk| ()); }
            println!(\"{} {cx:?}\", batch.len());",
    },
    Row {
        name: "definition",
        shares_owner: false,
        run: "let words = Vocabulary::new().value(\"pulse\", |owner: &T, _| f64::from(owner.0)).behavior(\"calm\", &CALM);
            let text = \"initial = 'calm'\\n[states.calm]\\nbehavior = 'calm'\\nexits = [{ to = 'angry', when = 'pulse > 1' }]\\n[states.angry]\\n\";
            let definition = Definition::parse(text, &words).expect(\"a definition without mistakes\");
            let mut owner = T(0);
            let mut machine = definition.machine();
            for _ in 0..100 { machine.update(&mut owner, cx); }
            println!(\"{}\", owner.0);",
    },
];

/// The profiles that are measured, as cargo names them.
const PROFILES: [&str; 2] = ["release", "dev"];

/// Measures the rows whose names `is_wanted` accepts.
///
/// # Errors
///
/// When a package cannot be written or compiled.
pub(crate) fn table(rounds: usize, is_wanted: impl Fn(&str) -> bool) -> Result<Table, String> {
    let folder = Folder::new()?;
    let mut rows = Vec::new();
    for row in ROWS.iter().filter(|row| is_wanted(row.name)) {
        let mut cells = vec![row.name.to_owned()];
        for profile in PROFILES {
            let [one, most] = [1, MOST].map(|kinds| folder.seconds(row, kinds, profile, rounds));
            let (one, most) = (one?, most?);
            let further = (most - one) / (MOST - 1) as f64;
            cells.extend([one, most, further].map(|seconds| format!("{seconds:.2}")));
        }
        rows.push(cells);
    }
    let header = [
        "processor seconds",
        "release, 1 kind",
        "11 kinds",
        "per further kind",
        "debug, 1 kind",
        "11 kinds",
        "per further kind",
    ];
    Ok(bench_runner::table(header.map(String::from).into(), rows))
}

/// A temporary folder, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, String> {
        let folder = env::temp_dir().join(format!("demeanor-compile-{}", process::id()));
        fs::create_dir_all(folder.join("src")).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self(folder))
    }

    /// Returns the median of the processor seconds that compiling a package takes.
    fn seconds(&self, row: &Row, kinds: usize, profile: &str, rounds: usize) -> Result<f64, String> {
        self.write("Cargo.toml", &manifest())?;
        self.write("src/main.rs", &program(row, kinds))?;
        self.build(profile)?;
        let mut times = Vec::new();
        for round in 0..rounds {
            // The text differs in each round, so that cargo compiles the package again.
            self.write("src/main.rs", &format!("{}// {round}\n", program(row, kinds)))?;
            let before = children()?;
            self.build(profile)?;
            times.push(children()? - before);
        }
        Ok(median(times))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        fs::write(self.0.join(name), text).map_err(|error| format!("{name}: {error}"))
    }

    fn build(&self, profile: &str) -> Result<(), String> {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--quiet", "--profile", profile]).current_dir(&self.0);
        cargo.env("CARGO_TARGET_DIR", self.0.join("target")).env("CARGO_INCREMENTAL", "0");
        match cargo.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("cargo build: {status}")),
            Err(error) => Err(format!("cargo build: {error}")),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A file that cannot be removed stays in the temporary folder.
        _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the processor time of all processes that have been started and waited for, in seconds.
fn children() -> Result<f64, String> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| format!("getrusage: {error}"))?;
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

fn manifest() -> String {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    format!(
        "[package]\nname = \"game\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         demeanor = {{ path = '{}', features = [\"definition\", \"parallel\"] }}\n",
        library.display(),
    )
}

/// Returns a program with several kinds of characters, each in a module of its own.
fn program(row: &Row, kinds: usize) -> String {
    let owner = "struct T(u32);
    impl demeanor::Owner for T {
        type Context<'a> = ();
        type Message = ();
    }
";
    let (shared, own) = if row.shares_owner { (owner, "use super::T;\n") } else { ("", owner) };
    let mut program = format!("{shared}fn main() {{\n");
    for number in 0..kinds {
        writeln!(program, "    kind{number}::run(&mut ());").expect("a text can be written to");
    }
    program.push_str("}\n");
    for number in 0..kinds {
        write!(
            program,
            "mod kind{number} {{
    #![allow(unused_imports)]
    use demeanor::definition::{{Definition, Vocabulary}};
    use demeanor::{{Agent, Batch, Fsm, State, StateMachine}};
    {own}
    struct Calm;
    struct Angry;
    static CALM: Calm = Calm;
    static ANGRY: Angry = Angry;
    impl State<T> for Calm {{
        fn update(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, (): &mut ()) {{
            owner.0 += 1;
            if owner.0 % {factor} == 0 {{
                fsm.change_state(&ANGRY);
            }}
        }}
    }}
    impl State<T> for Angry {{
        fn enter(&self, owner: &mut T, _: &mut Fsm<'_, T>, (): &mut ()) {{
            owner.0 += {number};
        }}
        fn update(&self, owner: &mut T, fsm: &mut Fsm<'_, T>, (): &mut ()) {{
            owner.0 += 3;
            fsm.change_state(&CALM);
        }}
    }}
    pub(super) fn run(cx: &mut ()) {{
        {run}
    }}
}}
",
            factor = number + 3,
            run = row.run,
        )
        .expect("a text can be written to");
    }
    program
}
