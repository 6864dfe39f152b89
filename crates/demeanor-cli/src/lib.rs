//! Checks, draws and runs the state machines of `demeanor` definition files.
//!
//! The tool `demeanor` is [`main`]. A game that wants the same subcommands in a binary of its own, with its own words known
//! to them, calls [`run`] with its vocabulary.

mod check;
mod draw;
mod layout;
mod lsp;
mod picture;
mod ports;
mod progress;
mod puppet;
mod simulate;
mod svg;
mod table;
mod whole_file;

use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use demeanor::Owner;
use demeanor::definition::{LoadError, Outline, Problem, Problems, Vocabulary, Words};
pub use lsp::serve;
use miette::{Diagnostic as _, GraphicalReportHandler, GraphicalTheme};

/// Checks, draws and runs state machines that are written in files.
#[derive(Parser)]
#[command(name = "demeanor", version)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Report every mistake in definition files. Exits with 1 if there is one.
    Check {
        /// The files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        words: WordsFile,
    },
    /// Draw the state diagram of a definition.
    Graph {
        /// The file.
        file: PathBuf,
        /// Which of several machines in the file. By default the first.
        #[arg(long, value_name = "NAME")]
        machine: Option<String>,
        /// What to draw it as.
        #[arg(long, short, value_enum, default_value_t = Format::Mermaid)]
        format: Format,
        /// Where to write it, instead of to the terminal.
        #[arg(long, short)]
        output: Option<PathBuf>,
        #[command(flatten)]
        words: WordsFile,
    },
    /// Step a machine, and say why it changes state or stays.
    Run(simulate::Run),
    /// Write the JSON Schema of definition files, for editors.
    Schema,
    /// Serve an editor: problems while one types, completion, renaming. Speaks the Language Server Protocol.
    Lsp {
        #[command(flatten)]
        words: WordsFile,
        /// Over standard input and output, which is the only way there is.
        #[arg(long)]
        stdio: bool,
    },
    /// Write the words that the game offers, for `--vocabulary`.
    Vocabulary {
        #[command(flatten)]
        words: WordsFile,
    },
}

#[derive(Args)]
pub(crate) struct WordsFile {
    /// The words that the game offers, as it has written them.
    #[arg(long, value_name = "FILE")]
    vocabulary: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Mermaid,
    Dot,
    Svg,
}

/// What a subcommand comes to: whether all is well, or why it could not be done.
pub(crate) type Outcome = Result<bool, String>;

/// Runs the tool `demeanor` on the arguments of the process.
#[must_use]
pub fn main() -> ExitCode {
    answer(std::env::args_os(), None)
}

/// Offers the tool's subcommands from a game's own binary, on the arguments of the process, with the game's own words.
///
/// # Examples
///
/// ```no_run
/// use demeanor::definition::Vocabulary;
/// # struct Guard { health: f64 }
/// # impl demeanor::Owner for Guard { type Context<'a> = (); type Message = (); }
///
/// fn main() -> std::process::ExitCode {
///     demeanor_cli::run(&Vocabulary::<Guard>::new().value("health", |guard: &Guard, ()| guard.health))
/// }
/// ```
#[must_use]
pub fn run<T: Owner>(vocabulary: &Vocabulary<T>) -> ExitCode {
    answer(std::env::args_os(), Some(vocabulary.export()))
}

fn answer(arguments: impl IntoIterator<Item = OsString>, words: Option<Words>) -> ExitCode {
    let command = Command::parse_from(arguments);
    let outcome = match command.verb {
        Verb::Check { files, words: file } => file.or(words).and_then(|words| check::check(&files, words.as_ref())),
        Verb::Graph { file, machine, format, output, words: of } => {
            of.or(words).and_then(|words| graph(&file, machine.as_deref(), format, output.as_deref(), words.as_ref()))
        }
        Verb::Run(run) => run.words.or(words).and_then(|words| simulate::run(&run, words)),
        Verb::Lsp { words: file, stdio: _ } => lsp::lsp(words, file.vocabulary.as_deref()),
        Verb::Schema => tell(&format!("{:#}\n", demeanor::definition::schema())).map(|()| true),
        Verb::Vocabulary { words: file } => file.or(words).and_then(|words| match words {
            Some(words) => tell(&words.to_json()).map(|()| true),
            None => Err("no game is here to offer words: this subcommand is for a game's own binary".into()),
        }),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            complain(&format!("error: {why}"));
            ExitCode::from(2)
        }
    }
}

impl WordsFile {
    /// The words of the file, if one is named.
    fn or(&self, words: Option<Words>) -> Result<Option<Words>, String> {
        let Some(path) = &self.vocabulary else { return Ok(words) };
        let json = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let words = Words::from_json(&json);
        words
            .map(Some)
            .map_err(|error| format!("{} is not a vocabulary that a game has written: {error}", path.display()))
    }
}

fn graph(file: &Path, machine: Option<&str>, format: Format, output: Option<&Path>, words: Option<&Words>) -> Outcome {
    let outline = match outline(file, machine, words)? {
        Ok(outline) => outline,
        Err(problems) => {
            report(&problems);
            return Ok(false);
        }
    };
    let drawn = match format {
        Format::Mermaid => draw::mermaid(&outline),
        Format::Dot => draw::dot(&outline),
        Format::Svg => svg::svg(&outline),
    };
    match output {
        Some(path) => whole_file::write(path, &drawn).map_err(|error| format!("{}: {error}", path.display()))?,
        None => tell(&drawn)?,
    }
    Ok(true)
}

/// Reads all machines of a file.
pub(crate) fn outlines(file: &Path, words: Option<&Words>) -> Result<Result<Vec<Outline>, Problems>, String> {
    match Outline::load_all(file, words) {
        Ok(outlines) => Ok(Ok(outlines)),
        Err(LoadError::Problems(problems)) => Ok(Err(problems)),
        Err(error) => Err(error.to_string()),
    }
}

/// Reads one machine of a file: the first, if none is named.
pub(crate) fn outline(
    file: &Path,
    machine: Option<&str>,
    words: Option<&Words>,
) -> Result<Result<Outline, Problems>, String> {
    let outlines = match outlines(file, words)? {
        Ok(outlines) => outlines,
        Err(problems) => return Ok(Err(problems)),
    };
    let names: Vec<_> = outlines.iter().filter_map(Outline::machine).map(str::to_owned).collect();
    let is_meant = |outline: &Outline| machine.is_none() || outline.machine() == machine;
    let found = { outlines }.into_iter().find(is_meant);
    found.map(Ok).ok_or_else(|| no_machine(file, machine, &names))
}

/// What is said of a machine that a file does not have.
pub(crate) fn no_machine(file: &Path, machine: Option<&str>, names: &[String]) -> String {
    let machine = machine.unwrap_or_default();
    format!("{}: there is no machine `{machine}`; there are: {}", file.display(), names.join(", "))
}

/// Draws problems to the terminal.
pub(crate) fn report<'a>(problems: impl IntoIterator<Item = &'a Problem>) {
    let is_plain = !io::stderr().is_terminal() || std::env::var_os("NO_COLOR").is_some();
    let theme = if is_plain { GraphicalTheme::unicode_nocolor() } else { GraphicalTheme::unicode() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(100).with_links(false);
    for problem in problems {
        let mut text = String::new();
        if problem.source_code().is_none() || handler.render_report(&mut text, problem).is_err() {
            text = problem.located();
        }
        complain(&text);
    }
}

/// Writes to standard output.
pub(crate) fn tell(text: &str) -> Result<(), String> {
    written(io::stdout().write_all(text.as_bytes()))
}

/// Writes a line to standard error. If nobody listens, so be it.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Who reads through a pipe and stops, as `head` does, has read enough: that is no error.
pub(crate) fn written(done: io::Result<()>) -> Result<(), String> {
    match done {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.to_string()),
        _ => Ok(()),
    }
}
