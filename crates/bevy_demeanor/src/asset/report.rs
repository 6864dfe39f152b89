//! Writes the mistakes in a file to the log.

use core::fmt::Write as _;
use std::collections::HashMap;

use bevy_asset::{AssetEvent, AssetLoadError, AssetLoadFailedEvent, Assets};
use bevy_ecs::message::MessageReader;
use bevy_ecs::system::{Local, Res};
use demeanor::definition::{LoadError, Problems};
use log::error;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};

use super::file::DefinitionFile;

/// Returns the text of the problems, in the format of `demeanor check`.
pub(super) fn drawn(problems: &Problems) -> String {
    let handler =
        GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100).with_links(false);
    let mut text = String::new();
    for problem in problems {
        let mut one = String::new();
        if problem.source_code().is_none() || handler.render_report(&mut one, problem).is_err() {
            one = problem.located();
        }
        text.push_str(&one);
        text.push('\n');
    }
    if problems.unlisted() > 0 {
        // Writing to a string cannot fail.
        _ = writeln!(text, "and {} more", problems.unlisted());
    }
    text
}

/// Logs why files could not be loaded. Each reason is logged once, however many handles wait for the file, until the file is
/// loaded or the reason changes.
pub(super) fn tell_failures(
    mut failures: MessageReader<AssetLoadFailedEvent<DefinitionFile>>,
    mut events: MessageReader<AssetEvent<DefinitionFile>>,
    assets: Res<Assets<DefinitionFile>>,
    mut told: Local<HashMap<String, String>>,
) {
    for event in events.read() {
        if let AssetEvent::Added { id } | AssetEvent::Modified { id } = event
            && let Some(file) = assets.get(*id)
        {
            told.remove(file.files().name());
        }
    }
    for AssetLoadFailedEvent { path, error, .. } in failures.read() {
        let why = why(error);
        let file = path.without_label().to_string();
        if told.get(&file) != Some(&why) {
            error!("{path} could not be loaded:\n{why}");
            told.insert(file, why);
        }
    }
}

fn why(error: &AssetLoadError) -> String {
    if let AssetLoadError::AssetLoaderError(of_loader) = error
        && let Some(LoadError::Problems(problems)) = of_loader.error().downcast_ref()
    {
        return drawn(problems);
    }
    error.to_string()
}
