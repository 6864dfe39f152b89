//! `demeanor graph`: draws the state diagram of a machine, or of a part of it, with recorded changes.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use demeanor::Flow;
use demeanor::definition::{Coverage, Outline, Words};
use demeanor::diagram::{Diagram, DiagramState};

use crate::input::{Input, spare};
use crate::observed::{merged, of_machine};
use crate::shown::{escaped, listed};
use crate::svg::svg;
use crate::{Exit, Outcome, WordsFile, complain, json, report, tell, whole_file};

#[derive(Args)]
pub(crate) struct Graph {
    /// The file; `-` is standard input. Without a file, only what was recorded is drawn: for machines in code.
    #[arg(required_unless_present = "observed")]
    file: Option<PathBuf>,
    /// Which of several machines in the file. By default the first.
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    /// Draw only this state, with the states in it and the states near it.
    #[arg(long, value_name = "NAME")]
    state: Option<String>,
    /// A state counts as near if it is at most this many exits away.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "state")]
    depth: usize,
    /// Draw at most this many levels of nested states; without a number, 1. A state with more levels in it is one box, with the
    /// number of its states. By default, only as many levels are drawn as have 60 states or fewer; `never` draws all.
    #[arg(
        long,
        value_name = "LEVELS",
        num_args = 0..=1,
        default_missing_value = "1",
        value_parser = fold,
        allow_negative_numbers = true
    )]
    fold: Option<Fold>,
    /// Also draw what was recorded: a flow that a game, a test or `run --flow` has written, as JSON. The more often a change
    /// happened, the wider is its arrow; the longer owners stayed in a state, the darker it is; what never happened is dashed.
    /// Can be given several times: the flows are added up.
    #[arg(long, value_name = "FILE")]
    observed: Vec<PathBuf>,
    /// Exit with 1 if fewer than this percentage of the exits were taken, and list those that were not.
    #[arg(long, value_name = "PERCENT", requires = "observed", requires = "file", value_parser = percent)]
    fail_under: Option<f64>,
    /// The format of the output. `json` is not a drawing: it lists which exits were taken.
    #[arg(long, short, value_enum, default_value_t = Format::Mermaid)]
    format: Format,
    /// The file to write, instead of standard output.
    #[arg(long, short)]
    output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) words: WordsFile,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    Mermaid,
    Dot,
    Svg,
    Json,
}

#[derive(Clone, Copy)]
enum Fold {
    Levels(usize),
    Never,
}

/// The largest number of states that are drawn without folding.
const MOST_UNFOLDED: usize = 60;

fn fold(text: &str) -> Result<Fold, String> {
    let levels = text.parse().ok().filter(|levels| *levels > 0).map(Fold::Levels);
    levels.or((text == "never").then_some(Fold::Never)).ok_or("it must be a number from 1, or `never`".into())
}

fn percent(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|percent| (0.0..=100.0).contains(percent))
        .ok_or("it must be a number from 0 to 100".into())
}

pub(crate) fn graph(graph: &Graph, words: Option<&Words>) -> Outcome {
    let inputs = graph.file.iter().chain(&graph.observed).map(PathBuf::as_path);
    spare(graph.output.as_deref(), inputs.chain(graph.words.path()))?;
    let flow = if graph.observed.is_empty() { None } else { Some(merged(&graph.observed)?) };
    match (&graph.file, flow) {
        (Some(file), flow) => of_file(graph, file, flow.as_ref(), words),
        (None, Some(flow)) => {
            if graph.format == Format::Json {
                return Err("--format json says which exits of a file were taken, and no file is given".into());
            }
            let names: Vec<_> = graph.observed.iter().map(|path| path.display().to_string()).collect();
            draw(graph, Diagram::of_flow(&flow), &names.join(", "))?;
            Ok(Exit::Fine)
        }
        (None, None) => Err("there is no file to draw".into()),
    }
}

fn of_file(graph: &Graph, file: &Path, flow: Option<&Flow>, words: Option<&Words>) -> Outcome {
    let input = Input::new(file)?;
    let outlines = match input.outlines(words)? {
        Ok(outlines) => outlines,
        Err(problems) => {
            report(&problems);
            return Ok(Exit::Found);
        }
    };
    let outline = input.machine(&outlines, graph.machine.as_deref())?;
    let Some(flow) = flow else {
        if graph.format == Format::Json {
            return Err("--format json says which exits were taken, and needs --observed".into());
        }
        draw(graph, outline.diagram(), outline.file())?;
        return Ok(Exit::Fine);
    };
    let (flow, notes) = of_machine(flow, outline, &outlines);
    for note in notes {
        complain(&format!("{}: {note}", escaped(&name_of(outline))));
    }
    let unknown = |unknown| format!("{}: {unknown}", name_of(outline));
    let coverage = outline.coverage(&flow).map_err(unknown)?;
    if graph.format == Format::Json {
        write(graph, &json::coverage(outline, &coverage))?;
    } else {
        draw(graph, outline.diagram().observe(&flow).map_err(unknown)?, outline.file())?;
    }
    Ok(judge(graph, outline, &coverage))
}

/// Returns the name of the file, with the name of the machine if its machines have names.
fn name_of(outline: &Outline) -> String {
    let machine = outline.machine().map(|machine| format!(", machine {machine}")).unwrap_or_default();
    format!("{}{machine}", outline.file())
}

/// Writes how many exits were taken, and, if these are too few, which were not. Returns the exit code.
fn judge(graph: &Graph, outline: &Outline, coverage: &Coverage) -> Exit {
    let told = coverage.to_string();
    let summary = told.lines().next().unwrap_or_default();
    let percent = coverage.percent();
    let file = escaped(&name_of(outline));
    match graph.fail_under {
        Some(least) if percent < least => {
            // The JSON document contains the list.
            let told = if graph.format == Format::Json { summary } else { &told };
            let lines: Vec<_> = told.lines().map(escaped).collect();
            complain(&format!("{file}: {percent:.1} %, less than {least} %: {}", lines.join("\n")));
            Exit::Found
        }
        _ => {
            complain(&format!("{file}: {percent:.1} %: {summary}"));
            Exit::Fine
        }
    }
}

fn draw(graph: &Graph, diagram: Diagram, of: &str) -> Result<(), String> {
    let (diagram, state) = match &graph.state {
        Some(name) => {
            let state = diagram.index_of(name).ok_or_else(|| no_state(&diagram, name, of))?;
            (diagram.around(state, graph.depth), Some(state))
        }
        None => (diagram, None),
    };
    let diagram = folded(graph.fold, diagram, state, of);
    write(
        graph,
        &match graph.format {
            Format::Dot => diagram.to_dot(),
            Format::Svg => svg(&diagram),
            Format::Mermaid | Format::Json => diagram.to_mermaid(),
        },
    )
}

/// Folds the states with too many levels in them. The state that the user asked for and its ancestors are not folded.
fn folded(fold: Option<Fold>, diagram: Diagram, state: Option<usize>, of: &str) -> Diagram {
    let unfolded = state.map(|state| diagram.path(state)).unwrap_or_default();
    let deep = |levels| {
        let is_deep = |state: &usize| diagram.is_composite(*state) && diagram.path(*state).len() >= levels;
        diagram.shown().filter(is_deep).filter(|state| !unfolded.contains(state)).collect::<Vec<_>>()
    };
    match fold {
        Some(Fold::Never) => diagram,
        Some(Fold::Levels(levels)) => {
            let deep = deep(levels);
            diagram.fold(&deep)
        }
        None => {
            let all = diagram.shown().count();
            if all <= MOST_UNFOLDED || deep(1).is_empty() {
                return diagram;
            }
            let at = |levels| diagram.clone().fold(&deep(levels));
            // With each level, there are more states.
            let mut most = 1;
            while at(most + 1).shown().count() <= MOST_UNFOLDED {
                most += 1;
            }
            complain(&format!(
                "{}: {all} states are drawn as with `--fold {most}`; `--fold never` draws them all",
                escaped(of)
            ));
            at(most)
        }
    }
}

fn write(graph: &Graph, text: &str) -> Result<(), String> {
    match &graph.output {
        Some(path) => whole_file::write(path, text).map_err(|error| format!("{}: {error}", path.display())),
        None => tell(text),
    }
}

fn no_state(diagram: &Diagram, name: &str, of: &str) -> String {
    let names = diagram.states().iter().map(DiagramState::name);
    format!("{of}: there is no state `{name}`; there are: {}", listed(names))
}
