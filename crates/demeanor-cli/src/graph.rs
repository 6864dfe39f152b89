//! `demeanor graph`: the state diagram of a machine, or of a part of it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use demeanor::definition::{Outline, StateId, StateOutline, Words};

use crate::dot::dot;
use crate::input::Input;
use crate::mermaid::mermaid;
use crate::shown::listed;
use crate::svg::svg;
use crate::view::View;
use crate::{Exit, Outcome, WordsFile, report, tell, whole_file};

#[derive(Args)]
pub(crate) struct Graph {
    /// The file; `-` is standard input.
    file: PathBuf,
    /// Which of several machines in the file. By default the first.
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    /// Draw only this state, with what is in it, and what is near it.
    #[arg(long, value_name = "NAME")]
    state: Option<String>,
    /// How many exits away a state is that is near.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "state")]
    depth: usize,
    /// What to draw it as.
    #[arg(long, short, value_enum, default_value_t = Format::Mermaid)]
    format: Format,
    /// Where to write it, instead of to the terminal.
    #[arg(long, short)]
    output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) words: WordsFile,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Mermaid,
    Dot,
    Svg,
}

pub(crate) fn graph(graph: &Graph, words: Option<&Words>) -> Outcome {
    let outline = match Input::new(&graph.file)?.outline(graph.machine.as_deref(), words)? {
        Ok(outline) => outline,
        Err(problems) => {
            report(&problems);
            return Ok(Exit::Found);
        }
    };
    let view = match &graph.state {
        Some(name) => View::around(&outline, state_named(&outline, name)?, graph.depth),
        None => View::whole(&outline),
    };
    let drawn = match graph.format {
        Format::Mermaid => mermaid(&view),
        Format::Dot => dot(&view),
        Format::Svg => svg(&view),
    };
    match &graph.output {
        Some(path) => whole_file::write(path, &drawn).map_err(|error| format!("{}: {error}", path.display()))?,
        None => tell(&drawn)?,
    }
    Ok(Exit::Fine)
}

/// The state of a name that is given on the command line.
pub(crate) fn state_named(outline: &Outline, name: &str) -> Result<StateId, String> {
    let found = outline.states().iter().find(|state| state.name() == name).map(StateOutline::id);
    found.ok_or_else(|| {
        let names = outline.states().iter().map(StateOutline::name);
        format!("{}: there is no state `{name}`; there are: {}", outline.file(), listed(names))
    })
}
