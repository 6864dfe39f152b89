//! The problems of a document, which the editor gets as soon as the user stops typing for a moment.

use std::collections::BTreeMap;
use std::path::Path;

use demeanor::definition::{Problem, Problems};
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, PublishDiagnosticsParams,
    Url,
};

use super::documents::{Documents, file_of};
use super::position::Text;
use crate::workspace::File;

/// The other files for which diagnostics were last sent, by the document that names them.
#[derive(Default)]
pub(super) struct Said {
    of_others: BTreeMap<Url, Vec<Url>>,
}

/// Returns the diagnostics of a document, and of the files that it names and that are not open.
pub(super) fn of_document(documents: &mut Documents, said: &mut Said, file: &File) -> Vec<PublishDiagnosticsParams> {
    let Some(survey) = documents.workspace.survey(file) else { return Vec::new() };
    let Some((source, uri)) = documents.source(file).zip(documents.uri(file)) else { return Vec::new() };
    let version = documents.version(file);
    let is_definition = file.name().ends_with(".fsm.toml") || survey.is_definition();
    let mut by_file: BTreeMap<Url, Vec<Diagnostic>> = BTreeMap::new();
    let mut own = Vec::new();
    if is_definition {
        own = own_problems(survey.problems(), &uri, &source);
        if let Some(folder) = file.folder() {
            for link in survey.links() {
                of_linked(documents, &File::Path(folder.join(link)), &mut by_file);
            }
            of_scripts(documents, survey.problems(), folder, &mut by_file);
        }
    }
    let mut all = vec![PublishDiagnosticsParams::new(uri.clone(), own, version)];
    // A file that has been opened in the meantime has its own diagnostics.
    let says_itself = |file: File| documents.is_open(&file) && !file.is_script();
    all.extend(said.instead(&uri, by_file).filter(|other| !says_itself(file_of(&other.uri))));
    all
}

impl Said {
    /// Replaces the diagnostics of the other files that a document names. Returns the messages to send: the diagnostics that
    /// there are `now`, and an empty list for each file that has none left.
    fn instead(
        &mut self,
        uri: &Url,
        now: BTreeMap<Url, Vec<Diagnostic>>,
    ) -> impl Iterator<Item = PublishDiagnosticsParams> + use<> {
        let now: BTreeMap<_, _> = now.into_iter().filter(|(_, problems)| !problems.is_empty()).collect();
        let before = self.of_others.insert(uri.clone(), now.keys().cloned().collect()).unwrap_or_default();
        let is_said = |file: &Url| now.contains_key(file) || self.of_others.values().any(|files| files.contains(file));
        let mended: Vec<_> = before.into_iter().filter(|file| !is_said(file)).collect();
        let mended = mended.into_iter().map(|file| PublishDiagnosticsParams::new(file, Vec::new(), None));
        now.into_iter().map(|(file, problems)| PublishDiagnosticsParams::new(file, problems, None)).chain(mended)
    }

    /// Returns the diagnostics to send when a document is closed.
    pub(super) fn closed(&mut self, uri: &Url) -> Vec<PublishDiagnosticsParams> {
        let mut all = vec![PublishDiagnosticsParams::new(uri.clone(), Vec::new(), None)];
        all.extend(self.instead(uri, BTreeMap::new()));
        self.of_others.remove(uri);
        all
    }
}

fn own_problems(problems: &Problems, uri: &Url, source: &Text) -> Vec<Diagnostic> {
    let own = problems.iter().filter(|problem| problem.file() == problems.file());
    let mut all: Vec<_> = own.map(|problem| diagnostic(problem, uri, source)).collect();
    let more = problems.unlisted();
    if more > 0 {
        let message = format!("{more} more problems are not listed");
        all.push(Diagnostic {
            severity: Some(DiagnosticSeverity::INFORMATION),
            source: Some("demeanor".into()),
            message,
            ..Diagnostic::default()
        });
    }
    all
}

/// Adds the diagnostics of a linked file that is not open. An open file has its own diagnostics.
fn of_linked(documents: &mut Documents, file: &File, by_file: &mut BTreeMap<Url, Vec<Diagnostic>>) {
    let Some(uri) = documents.uri(file).filter(|_| !documents.is_open(file)) else { return };
    let Some(read) = documents.workspace.read_file(file) else { return };
    let (source, survey) = (documents.with_lines(&read.source), read.survey);
    by_file.entry(uri.clone()).or_default().extend(own_problems(survey.problems(), &uri, &source));
}

/// Adds the diagnostics of the scripts that a document names.
fn of_scripts(documents: &Documents, problems: &Problems, folder: &Path, by_file: &mut BTreeMap<Url, Vec<Diagnostic>>) {
    for problem in problems.iter().filter(|problem| problem.file() != problems.file()) {
        let file = File::Path(folder.join(problem.file()));
        let Some(uri) = documents.uri(&file) else { continue };
        let Some(source) = documents.workspace.text(&file).map(|text| documents.with_lines(&text)) else { continue };
        by_file.entry(uri.clone()).or_default().push(diagnostic(problem, &uri, &source));
    }
}

fn diagnostic(problem: &Problem, uri: &Url, source: &Text) -> Diagnostic {
    let mut message = problem.to_string();
    if let Some(advice) = problem.advice() {
        message.push('\n');
        message.push_str(&advice);
    }
    let others = problem.labeled_spans().skip(1).map(|(span, text)| DiagnosticRelatedInformation {
        location: Location::new(uri.clone(), source.range(&span)),
        message: text.to_owned(),
    });
    let others: Vec<_> = others.collect();
    Diagnostic {
        range: source.range(&problem.span()),
        severity: Some(if problem.is_warning() { DiagnosticSeverity::WARNING } else { DiagnosticSeverity::ERROR }),
        code: Some(NumberOrString::String(problem.code_name().into())),
        source: Some("demeanor".into()),
        message,
        related_information: Some(others).filter(|others| !others.is_empty()),
        ..Diagnostic::default()
    }
}
