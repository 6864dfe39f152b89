//! Scripts: how their text is compiled and checked, and the engine that runs them.

pub(crate) mod budget;
pub(crate) mod compiled;
pub(crate) mod engine;
pub(crate) mod lint;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rhai::Dynamic;

use self::compiled::Unfit;
use super::library::with_slashes;
use super::name::Name;
use super::outline::StateId;
use super::outline::scopes::Scopes;
use super::problems::mistake::Mistake;
use super::source::Source;

/// The constants outside of a script's functions, by name.
pub(crate) type Constants = HashMap<String, Dynamic>;

/// The data of a run in the engine: the names that the script can use, and the change that it requests.
#[derive(Clone)]
pub(crate) struct Told {
    pub(crate) constants: Arc<Constants>,
    /// The states, whose names are looked up from the state `from`.
    pub(crate) scopes: Arc<Scopes>,
    pub(crate) from: StateId,
    pub(crate) to: Arc<Mutex<Option<StateId>>>,
}

/// Returns the source of a script, to which problems refer.
pub(crate) fn source(folder: Option<&Path>, file: &str, text: &str) -> Source {
    let path = folder.map_or_else(|| PathBuf::from(file), |folder| folder.join(file));
    Source::new(&path.display().to_string(), text)
}

/// Returns the mistake for a text that is not a valid script. `definition` is the file that names it.
pub(crate) fn mistake(unfit: Unfit, definition: &str) -> Mistake {
    let message = format!("a script of `{definition}`: {}", unfit.why);
    Mistake::error("script", unfit.at, message)
}

/// Returns the mistake for a script whose file cannot be read. `why` is the reason.
pub(crate) fn no_script(script: &Name, why: &str) -> Mistake {
    Mistake::error("script", script.span.clone(), format!("script `{script}`: {why}"))
        .label("this script")
        .meant(with_slashes(&script.text))
}

/// The functions that a state calls, in the order of [`Hook`](super::hook::Hook).
pub(crate) const HOOKS: [&str; 3] = ["enter", "update", "exit"];
