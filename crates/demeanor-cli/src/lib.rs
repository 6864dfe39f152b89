//! Checks, draws and runs the state machines of `demeanor` definition files.
//!
//! [`main`] is the tool `demeanor`. A game that wants the same subcommands in its own binary, with its own vocabulary, calls
//! [`run`].

#![cfg_attr(docsrs, feature(doc_cfg))]

/// Compiles the code in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(test)]
#[path = "../../../tests/cases/mod.rs"]
mod cases;
mod check;
mod checked;
mod columns;
mod edit;
mod fmt;
mod former;
mod graph;
mod input;
mod json;
mod layers;
mod layout;
mod loaded;
#[cfg(feature = "lsp")]
mod lsp;
mod observed;
mod picture;
mod plan;
mod progress;
mod puppet;
mod rows;
mod setting;
mod shown;
mod simulate;
mod spread;
mod stage;
mod studio;
mod svg;
mod table;
mod tests;
mod vertices;
mod whole_file;
mod witness;
mod workspace;

use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use demeanor::Owner;
use demeanor::definition::{Problem, Vocabulary, Words};
#[cfg(feature = "lsp")]
pub use lsp::serve;
use miette::{Diagnostic as _, GraphicalReportHandler, GraphicalTheme};
pub use svg::svg;

use shown::escaped;

/// Checks, draws and runs state machines that are written in files.
#[derive(Parser)]
#[command(name = "demeanor", version, after_help = EXIT_CODES)]
struct Command {
    #[command(subcommand)]
    action: Action,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  a definition has an error; with --deny-warnings, also if there is a warning;
     with `fmt --check`, also if a file is not formatted;
     with --fail-under, also if fewer exits were taken;
     with `run --tests`, also if the machine behaves differently;
     with `run --watch-properties`, also if a property does not hold
  2  the command could not be carried out: wrong arguments, or a file that cannot
     be read or written";

#[derive(Subcommand)]
enum Action {
    /// Report every error in definition files, and in the scripts that they name.
    #[command(after_help = EXIT_CODES)]
    Check(check::Check),
    /// Draw the state diagram of a definition, also with what was recorded of it.
    #[command(after_help = EXIT_CODES)]
    Graph(graph::Graph),
    /// Run a machine without the game, and say why it changes state or stays.
    #[command(after_help = EXIT_CODES)]
    Run(simulate::Run),
    /// Write a table of runs that take every exit of a machine, for `run --tests`.
    #[command(after_help = EXIT_CODES)]
    Tests(tests::Tests),
    /// See a machine in the browser, change it, try it, prove it, and watch it in the running game, with the text of its file beside it.
    Studio(studio::Studio),
    /// Write definition files in one order and style, with their comments.
    #[command(after_help = EXIT_CODES)]
    Fmt(fmt::Fmt),
    /// Write the JSON Schema of definition files, for editors.
    Schema,
    /// Run the language server for editors: problems while you type, completion, renaming.
    Lsp {
        #[command(flatten)]
        words: WordsFile,
        /// Use standard input and output; it always does, and editors pass this option.
        #[arg(long)]
        stdio: bool,
    },
    /// Write the game's words, for `--vocabulary`.
    Vocabulary {
        #[command(flatten)]
        words: WordsFile,
    },
}

#[derive(Args)]
pub(crate) struct WordsFile {
    /// The game's words: a file that the game's own tool has written, with `vocabulary`.
    #[arg(long, value_name = "FILE")]
    vocabulary: Option<PathBuf>,
}

/// The result of a subcommand, or why it failed.
pub(crate) type Outcome = Result<Exit, String>;

/// The exit codes of the tool, from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    Fine = 0,
    /// A definition has a mistake, or too few of its exits were taken.
    Found = 1,
    /// The subcommand failed.
    Failed = 2,
}

/// Runs the tool `demeanor` with the arguments of the process.
#[must_use]
pub fn main() -> ExitCode {
    answer(std::env::args_os(), None)
}

/// Runs the tool's subcommands in a game's own binary, with the arguments of the process and the game's vocabulary.
///
/// # Examples
///
/// ```no_run
/// use demeanor::definition::Vocabulary;
/// struct Guard { health: f64 }
/// impl demeanor::Owner for Guard { type Context<'a> = (); type Message = (); }
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
    let outcome = match command.action {
        Action::Check(check) => check.words.or(words).and_then(|words| check::check(&check, words.as_ref())),
        Action::Graph(graph) => graph.words.or(words).and_then(|words| graph::graph(&graph, words.as_ref())),
        Action::Run(run) => run.words.or(words).and_then(|words| simulate::run(&run, words)),
        Action::Tests(tests) => tests.words.or(words).and_then(|words| tests::tests(&tests, words.as_ref())),
        Action::Studio(studio) => studio.words().or(words).and_then(|words| studio::studio(&studio, words)),
        Action::Fmt(fmt) => Ok(fmt::fmt(&fmt)),
        #[cfg(feature = "lsp")]
        Action::Lsp { words: file, stdio: _ } => lsp::lsp(words, file.vocabulary.as_deref()),
        #[cfg(not(feature = "lsp"))]
        Action::Lsp { .. } => {
            Err("the feature `lsp` adds the language server: install it with `cargo install .. --features lsp`".into())
        }
        Action::Schema => tell(&format!("{:#}\n", demeanor::definition::schema())).map(|()| Exit::Fine),
        Action::Vocabulary { words: file } => file.or(words).and_then(|words| match words {
            Some(words) => tell(&words.to_json()).map(|()| Exit::Fine),
            None => Err("there are no words to write: only a game's own tool has some".into()),
        }),
    };
    let exit = outcome.unwrap_or_else(|why| {
        complain(&format!("error: {}", escaped(&why)));
        Exit::Failed
    });
    ExitCode::from(exit as u8)
}

impl WordsFile {
    /// Returns the path of the file, if an option names one.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.vocabulary.as_deref()
    }

    /// Returns the words of the file, if an option names one; otherwise `words`.
    fn or(&self, words: Option<Words>) -> Result<Option<Words>, String> {
        let Some(path) = &self.vocabulary else { return Ok(words) };
        let json = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let words = Words::from_json(&json);
        words
            .map(Some)
            .map_err(|error| format!("{} is not a vocabulary that a game has written: {error}", path.display()))
    }
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

/// Writes a line to standard error. If it is closed, the line is lost.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Returns a number with what it counts: `3 states`.
pub(crate) fn count(number: usize, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}

/// A reader that closes the pipe early, as `head` does, is not an error.
pub(crate) fn written(done: io::Result<()>) -> Result<(), String> {
    match done {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.to_string()),
        _ => Ok(()),
    }
}
