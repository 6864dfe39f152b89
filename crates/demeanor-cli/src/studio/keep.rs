//! Keeps a run as a test: a row of the table that `demeanor run --tests` replays.

use serde_json::{Value, json};

use super::project::Project;
use super::runner::{OfRun, moments};
use super::source::Refusal;
use crate::loaded::Loaded;
use crate::simulate::tick_of;
use crate::tests::Test;

/// Plays the run again, and adds it to the table beside the file.
pub(super) fn keep(project: &Project, run: &OfRun) -> Result<Value, Refusal> {
    let input = run.of.input(project)?;
    let outlines = run.of.outlines(&input, project)?;
    let tick = run.tick.filter(|tick| *tick > 0.0).unwrap_or_else(|| tick_of(&outlines, project.words.as_ref()));
    let moments = moments(&run.inputs, tick)?;
    let machine = run.of.machine.as_deref().filter(|_| outlines.len() > 1);
    let loaded = Loaded::load(&input, machine, &outlines, project.words.clone(), tick, &moments)?;
    let loaded = loaded.map_err(|problems| run.of.broken(&problems))?;
    let test = Test::of_run(&loaded, machine, moments, tick, run.to)?;
    let table = table_of(&run.of.path);
    project.folder.append(&run.of.path, &table, &format!("\n{test}"))?;
    Ok(json!({ "table": table, "run": test.to_string() }))
}

/// Returns the name of the table beside a file: `guard.tests.toml` for `guard.toml` and for `guard.fsm.toml`.
fn table_of(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.strip_suffix(".toml").unwrap_or(name);
    format!("{}.tests.toml", stem.strip_suffix(".fsm").unwrap_or(stem))
}

#[cfg(test)]
mod tests {
    use super::table_of;

    #[test]
    fn a_table_is_beside_its_file() {
        assert_eq!(table_of("guard.toml"), "guard.tests.toml");
        assert_eq!(table_of("enemies/boss.fsm.toml"), "boss.tests.toml");
    }
}
