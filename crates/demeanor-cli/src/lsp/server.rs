//! The loop of the server: it handles the editor's messages in order, and sends problems when the editor is silent for a
//! moment.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use demeanor::definition::Words;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    CodeActionOrCommand, CodeActionProviderCapability, CompletionOptions, CompletionResponse,
    DidChangeWatchedFilesRegistrationOptions, DocumentSymbolResponse, FileSystemWatcher, GlobPattern,
    GotoDefinitionResponse, HoverProviderCapability, InitializeParams, InitializeResult, MessageType, OneOf,
    PositionEncodingKind, PrepareRenameResponse, PublishDiagnosticsParams, Registration, RegistrationParams,
    RenameOptions, ServerCapabilities, ServerInfo, ShowMessageParams, TextDocumentPositionParams,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, TextEdit,
    WorkDoneProgressOptions, WorkspaceEdit,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::diagnostics::{self, Said};
use super::documents::{Documents, by_uri, file_of, path_of};
use super::position::Encoding;
use super::{completion, fix, goto, hover, outline};
use crate::workspace::{File, Origin, Vocabularies, Workspace, name_at, rename};

/// How long the editor must be silent before problems are sent, so that a half-written word does not cause any.
const SILENCE: Duration = Duration::from_millis(20);

/// The silence for a long document, which takes longer to read.
const LONG_SILENCE: Duration = Duration::from_millis(300);

const LEFT: &str = "the editor has left without a shutdown";

/// Why a request was not answered.
struct Refusal {
    code: ErrorCode,
    why: String,
}

type Answer = Result<serde_json::Value, Refusal>;

/// A server for one editor.
pub(super) struct Server<'c> {
    connection: &'c Connection,
    documents: Documents,
    said: Said,
    /// Whether the editor can report changed files.
    tells_of_files: bool,
    /// Whether the editor has announced its end.
    is_over: bool,
}

impl<'c> Server<'c> {
    /// Negotiates the capabilities with the editor.
    pub(super) fn start(connection: &'c Connection, words: Option<Words>, file: Option<&Path>) -> Result<Self, String> {
        let (id, params) = wait_for(connection, |message| match message {
            Message::Request(request) if request.method == request::Initialize::METHOD => {
                Ok((request.id, request.params))
            }
            message => Err(message),
        })?;
        let params: InitializeParams = serde_json::from_value(params).map_err(|error| error.to_string())?;
        let encoding = encoding(&params);
        let agreed = InitializeResult {
            capabilities: capabilities(encoding),
            server_info: Some(ServerInfo { name: "demeanor".into(), version: Some(env!("CARGO_PKG_VERSION").into()) }),
        };
        let _ = connection.sender.send(Message::Response(Response::new_ok(id, agreed)));
        wait_for(connection, |message| match message {
            Message::Notification(told) if told.method == notification::Initialized::METHOD => Ok(()),
            message => Err(message),
        })?;
        let roots = roots(&params);
        let named = params.initialization_options.as_ref().and_then(|options| options["vocabulary"].as_str());
        let named = named.map(|named| roots.first().map_or_else(|| PathBuf::from(named), |root| root.join(named)));
        let origin = match (file, named, words) {
            (Some(file), ..) => Origin::File(file.to_owned()),
            (None, Some(named), _) => Origin::File(named),
            (None, None, Some(words)) => Origin::Game(Arc::new(words)),
            (None, None, None) => Origin::Beside,
        };
        let documents = Documents::new(Workspace::new(roots, Vocabularies::new(origin)), encoding);
        let watched = params.capabilities.workspace.and_then(|workspace| workspace.did_change_watched_files);
        let tells_of_files = watched.and_then(|watched| watched.dynamic_registration).unwrap_or(false);
        Ok(Self { connection, documents, said: Said::default(), tells_of_files, is_over: false })
    }

    /// Serves until the editor ends the connection.
    pub(super) fn run(mut self) -> Result<(), String> {
        self.watch();
        loop {
            let due = self.documents.due();
            let message = if due.is_empty() {
                match self.connection.receiver.recv() {
                    Ok(message) => message,
                    // The editor has disconnected.
                    Err(_) => return Ok(()),
                }
            } else {
                let silence = if self.documents.has_long() { LONG_SILENCE } else { SILENCE };
                // An editor that ends without a message is noticed in the next iteration.
                let Ok(message) = self.connection.receiver.recv_timeout(silence) else {
                    self.say(&due[0]);
                    continue;
                };
                message
            };
            match message {
                Message::Request(request) => self.request(request),
                Message::Notification(notification) if notification.method == notification::Exit::METHOD => {
                    return if self.is_over { Ok(()) } else { Err(LEFT.into()) };
                }
                Message::Notification(notification) => self.notification(notification),
                Message::Response(_) => {}
            }
        }
    }

    /// Asks the editor to report changed files: a linked file and the vocabulary often are not open.
    fn watch(&self) {
        if !self.tells_of_files {
            return;
        }
        let watcher = |glob: &str| FileSystemWatcher { glob_pattern: GlobPattern::String(glob.into()), kind: None };
        let watchers = ["**/*.toml", "**/*.rhai", "**/*.json"].into_iter().map(watcher).collect();
        let options = serde_json::to_value(DidChangeWatchedFilesRegistrationOptions { watchers });
        let registration = Registration {
            id: "files".into(),
            method: notification::DidChangeWatchedFiles::METHOD.into(),
            register_options: options.ok(),
        };
        let params = RegistrationParams { registrations: vec![registration] };
        let id = RequestId::from("watch".to_owned());
        self.send(Message::Request(Request::new(id, request::RegisterCapability::METHOD.into(), params)));
    }

    /// Sends the problems of a document.
    fn say(&mut self, file: &File) {
        self.documents.said(file);
        for params in diagnostics::of_document(&mut self.documents, &mut self.said, file) {
            self.publish(params);
        }
        for complaint in self.documents.workspace.vocabularies.complaints() {
            let params = ShowMessageParams { typ: MessageType::ERROR, message: complaint };
            let method = notification::ShowMessage::METHOD.to_owned();
            self.send(Message::Notification(Notification::new(method, params)));
        }
    }

    fn publish(&self, params: PublishDiagnosticsParams) {
        let method = notification::PublishDiagnostics::METHOD.to_owned();
        self.send(Message::Notification(Notification::new(method, params)));
    }

    fn send(&self, message: Message) {
        // If the editor no longer receives, it no longer sends, either: that ends the loop.
        let _ = self.connection.sender.send(message);
    }

    fn notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match method.as_str() {
            notification::DidOpenTextDocument::METHOD => {
                if let Some(params) = read::<notification::DidOpenTextDocument>(params) {
                    let document = params.text_document;
                    self.documents.open(document.uri, document.version, document.text);
                }
            }
            notification::DidChangeTextDocument::METHOD => {
                if let Some(params) = read::<notification::DidChangeTextDocument>(params) {
                    let document = params.text_document;
                    self.documents.change(&file_of(&document.uri), document.version, params.content_changes);
                }
            }
            notification::DidCloseTextDocument::METHOD => {
                if let Some(params) = read::<notification::DidCloseTextDocument>(params) {
                    let uri = params.text_document.uri;
                    self.documents.close(&file_of(&uri));
                    for params in self.said.closed(&uri) {
                        self.publish(params);
                    }
                }
            }
            // A saved script or vocabulary.
            notification::DidSaveTextDocument::METHOD | notification::DidChangeWatchedFiles::METHOD => {
                self.documents.all_changed();
            }
            _ => {}
        }
    }

    fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        let response = match self.answer(&method, params) {
            Ok(answer) => Response::new_ok(id, answer),
            Err(Refusal { code, why }) => Response::new_err(id, code as i32, why),
        };
        self.send(Message::Response(response));
    }

    fn answer(&mut self, method: &str, params: serde_json::Value) -> Answer {
        match method {
            // Neovim 0.7 sends this twice.
            request::Shutdown::METHOD => {
                self.is_over = true;
                told(())
            }
            _ if self.is_over => {
                Err(Refusal { code: ErrorCode::InvalidRequest, why: "the server has been told to shut down".into() })
            }
            request::Completion::METHOD => {
                let params = asked::<request::Completion>(params)?;
                let (file, byte) = self.place(&params.text_document_position)?;
                told(completion::complete(&mut self.documents, &file, byte).map(CompletionResponse::List))
            }
            request::HoverRequest::METHOD => {
                let params = asked::<request::HoverRequest>(params)?;
                let (file, byte) = self.place(&params.text_document_position_params)?;
                told(hover::hover(&mut self.documents, &file, byte))
            }
            request::GotoDefinition::METHOD => {
                let params = asked::<request::GotoDefinition>(params)?;
                let (file, byte) = self.place(&params.text_document_position_params)?;
                told(GotoDefinitionResponse::Array(goto::definition(&mut self.documents, &file, byte)))
            }
            request::References::METHOD => {
                let params = asked::<request::References>(params)?;
                let (file, byte) = self.place(&params.text_document_position)?;
                let with_definition = params.context.include_declaration;
                told(goto::references(&mut self.documents, &file, byte, with_definition))
            }
            request::PrepareRenameRequest::METHOD => {
                let params = asked::<request::PrepareRenameRequest>(params)?;
                let (file, byte) = self.place(&params)?;
                let target = name_at(&mut self.documents.workspace, &file, byte).map_err(failed)?;
                let range = self.documents.source(&file).ok_or_else(not_open)?.range(&target.span);
                told(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder: target.name })
            }
            request::Rename::METHOD => {
                let params = asked::<request::Rename>(params)?;
                let (file, byte) = self.place(&params.text_document_position)?;
                told(self.rename(&file, byte, &params.new_name).map_err(failed)?)
            }
            request::CodeActionRequest::METHOD => {
                let params = asked::<request::CodeActionRequest>(params)?;
                let file = file_of(&params.text_document.uri);
                let source = self.documents.source(&file).ok_or_else(not_open)?;
                let range = source.byte(params.range.start)..source.byte(params.range.end);
                let fixes = fix::fixes(&mut self.documents, &file, &range);
                told(fixes.map(|fixes| fixes.into_iter().map(CodeActionOrCommand::CodeAction).collect::<Vec<_>>()))
            }
            request::DocumentSymbolRequest::METHOD => {
                let params = asked::<request::DocumentSymbolRequest>(params)?;
                let file = file_of(&params.text_document.uri);
                let survey = self.documents.workspace.survey(&file).ok_or_else(not_open)?;
                let source = self.documents.source(&file).ok_or_else(not_open)?;
                told(DocumentSymbolResponse::Nested(outline::symbols(&survey, &source)))
            }
            method => {
                let why = format!("`{method}` is not among what this server can do");
                Err(Refusal { code: ErrorCode::MethodNotFound, why })
            }
        }
    }

    fn place(&self, at: &TextDocumentPositionParams) -> Result<(File, usize), Refusal> {
        let file = file_of(&at.text_document.uri);
        let byte = self.documents.source(&file).ok_or_else(not_open)?.byte(at.position);
        Ok((file, byte))
    }

    fn rename(&mut self, file: &File, byte: usize, new: &str) -> Result<WorkspaceEdit, String> {
        let by_file = rename(&mut self.documents.workspace, file, byte, new)?;
        let edits = by_file.into_iter().filter_map(|(file, edits)| {
            let source = self.documents.with_lines(&self.documents.workspace.text(&file)?);
            let edits: Vec<_> =
                edits.into_iter().map(|(span, text)| TextEdit::new(source.range(&span), text)).collect();
            Some((file, edits))
        });
        Ok(WorkspaceEdit::new(by_uri(&self.documents, edits)))
    }
}

/// Waits for a message without which the server does not begin. Until then it refuses requests, and notifications do nothing.
fn wait_for<R>(connection: &Connection, find: impl Fn(Message) -> Result<R, Message>) -> Result<R, String> {
    loop {
        let message = connection.receiver.recv().map_err(|_| "the editor has left before the server could begin")?;
        match find(message) {
            Ok(found) => return Ok(found),
            Err(Message::Request(Request { id, method, .. })) => {
                let why = format!("`{method}` is too early: the server waits until it is initialized");
                let refused = Response::new_err(id, ErrorCode::ServerNotInitialized as i32, why);
                let _ = connection.sender.send(Message::Response(refused));
            }
            Err(Message::Notification(told)) if told.method == notification::Exit::METHOD => return Err(LEFT.into()),
            Err(_) => {}
        }
    }
}

fn not_open() -> Refusal {
    Refusal { code: ErrorCode::InvalidParams, why: "the document is not open".into() }
}

fn failed(why: String) -> Refusal {
    Refusal { code: ErrorCode::RequestFailed, why }
}

fn read<N: notification::Notification>(params: serde_json::Value) -> Option<N::Params>
where
    N::Params: DeserializeOwned,
{
    // A notification gets no answer, not even an error.
    serde_json::from_value(params).ok()
}

fn asked<R: request::Request>(params: serde_json::Value) -> Result<R::Params, Refusal>
where
    R::Params: DeserializeOwned,
{
    serde_json::from_value(params).map_err(|error| Refusal { code: ErrorCode::InvalidParams, why: error.to_string() })
}

fn told(answer: impl Serialize) -> Answer {
    serde_json::to_value(answer).map_err(|error| Refusal { code: ErrorCode::InternalError, why: error.to_string() })
}

fn encoding(params: &InitializeParams) -> Encoding {
    let general = params.capabilities.general.as_ref();
    let offered = general.and_then(|general| general.position_encodings.as_ref());
    let has_utf8 = offered.is_some_and(|offered| offered.contains(&PositionEncodingKind::UTF8));
    if has_utf8 { Encoding::Utf8 } else { Encoding::Utf16 }
}

fn roots(params: &InitializeParams) -> Vec<PathBuf> {
    let folders = params.workspace_folders.iter().flatten().filter_map(|folder| path_of(&folder.uri));
    let mut roots: Vec<_> = folders.collect();
    if roots.is_empty() {
        #[expect(deprecated, reason = "editors without workspace folders have only this")]
        let root = params.root_uri.as_ref();
        roots.extend(root.and_then(path_of));
    }
    roots
}

fn capabilities(encoding: Encoding) -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(TextDocumentSyncSaveOptions::Supported(true)),
        ..TextDocumentSyncOptions::default()
    };
    let rename =
        RenameOptions { prepare_provider: Some(true), work_done_progress_options: WorkDoneProgressOptions::default() };
    let triggers = ["\"", "'", ".", "(", "[", "{", "="];
    ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(triggers.map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(rename)),
        code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}
