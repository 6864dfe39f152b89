//! A fake editor: it opens files, types, and sends requests.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use demeanor::definition::Words;
use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The words of the game in these tests.
pub(crate) const WORDS: &str = r#"{
    "values": { "health": "number", "enemy_visible": "flag" },
    "behaviors": {
        "look": null,
        "walk": {
            "type": "object",
            "description": "Walks somewhere.",
            "properties": {
                "speed": { "type": "number", "description": "In meters a second." },
                "then": { "type": "string", "format": "state" },
                "gait": { "enum": ["slow", "fast"] },
                "quietly": { "type": "boolean" }
            },
            "required": ["speed"]
        }
    },
    "messages": ["hit", "noise"],
    "message_fields": { "hit": { "damage": "number", "is_critical": "flag" } },
    "actions": { "roar": null, "spawn": "number" },
    "fields": ["enemy_visible"],
    "descriptions": { "health": "From 0 to 100.", "spawn": "Children appear.", "hit.damage": "What armor has left.", "look": "Looks around." },
    "random": true,
    "scripts": true
}"#;

/// An editor with its own folder.
pub(crate) struct Editor {
    connection: Connection,
    serving: Option<JoinHandle<Result<(), String>>>,
    folder: TempDir,
    last_id: i32,
    pub(crate) agreed: Value,
}

impl Editor {
    /// Creates an editor for a game with [`WORDS`].
    pub(crate) fn new() -> Self {
        Self::with(Some(Words::from_json(WORDS).unwrap()), &json!({}), &json!(null))
    }

    pub(crate) fn with(words: Option<Words>, capabilities: &Value, options: &Value) -> Self {
        let (server, connection) = Connection::memory();
        let serving = thread::spawn(move || demeanor_cli::serve(&server, words));
        // The path has no symbolic links, as the path that an editor sends.
        let folder = TempDir::new_in(fs::canonicalize(env!("CARGO_TARGET_TMPDIR")).unwrap()).unwrap();
        let mut editor = Self { connection, serving: Some(serving), folder, last_id: 0, agreed: json!(null) };
        let root = editor.uri("");
        let params = json!({
            "capabilities": capabilities,
            "initializationOptions": options,
            "workspaceFolders": [{ "uri": root, "name": "game" }],
        });
        editor.agreed = editor.ask("initialize", params).unwrap();
        editor.tell("initialized", json!({}));
        editor
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    pub(crate) fn uri(&self, file: &str) -> String {
        let path = self.path(file);
        format!("file://{}", path.to_str().unwrap().trim_end_matches('/'))
    }

    /// Writes a file to the disk without opening it.
    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn tell(&self, method: &str, params: Value) {
        self.connection.sender.send(Message::Notification(Notification::new(method.into(), params))).unwrap();
    }

    /// Sends a request, and waits for the answer: a result or an error.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.last_id += 1;
        let id = RequestId::from(self.last_id);
        self.connection.sender.send(Message::Request(Request::new(id.clone(), method.into(), params))).unwrap();
        loop {
            match self.connection.receiver.recv().unwrap() {
                Message::Response(response) if response.id == id => {
                    return response.response_result.map_err(|error| error.message);
                }
                _ => {}
            }
        }
    }

    pub(crate) fn open(&self, file: &str, text: &str) {
        let document = json!({ "uri": self.uri(file), "languageId": "toml", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces the text of a file.
    pub(crate) fn replace(&self, file: &str, version: i32, text: &str) {
        self.change(file, version, &json!([{ "text": text }]));
    }

    pub(crate) fn change(&self, file: &str, version: i32, changes: &Value) {
        let document = json!({ "uri": self.uri(file), "version": version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    /// Waits for the next problems of a file.
    pub(crate) fn problems(&self, file: &str) -> Value {
        let uri = self.uri(file);
        loop {
            let (method, params) = self.told();
            if method == "textDocument/publishDiagnostics" && params["uri"] == uri.as_str() {
                return params["diagnostics"].clone();
            }
        }
    }

    /// Waits for the server's next message.
    pub(crate) fn told(&self) -> (String, Value) {
        loop {
            match self.connection.receiver.recv().unwrap() {
                Message::Notification(Notification { method, params })
                | Message::Request(Request { method, params, .. }) => return (method, params),
                Message::Response(_) => {}
            }
        }
    }

    /// Returns the problems of a file in short form: the code and the position of each.
    pub(crate) fn problems_in_short(&self, file: &str) -> Vec<String> {
        let problems = self.problems(file);
        let problems = problems.as_array().unwrap().iter();
        problems.map(|one| format!("{} {}", range(&one["range"]), one["code"].as_str().unwrap_or_default())).collect()
    }

    /// Opens a text and sends a request at its `|`.
    pub(crate) fn at(&mut self, method: &str, text: &str) -> Result<Value, String> {
        let (text, line, column) = cursor(text);
        self.open("guard.toml", &text);
        self.ask_at(method, "guard.toml", line, column, &json!({}))
    }

    pub(crate) fn ask_at(
        &mut self,
        method: &str,
        file: &str,
        line: usize,
        column: usize,
        more: &Value,
    ) -> Result<Value, String> {
        let mut params = json!({
            "textDocument": { "uri": self.uri(file) },
            "position": { "line": line, "character": column },
        });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.ask(method, params)
    }

    /// Ends the connection as an editor does.
    pub(crate) fn close(mut self) {
        self.ask("shutdown", json!(null)).unwrap();
        self.tell("exit", json!(null));
        assert_eq!(self.serving.take().unwrap().join().unwrap(), Ok(()));
    }
}

/// Returns a text without its `|`, and the line and the column of the `|`, counted from 0.
pub(crate) fn cursor(text: &str) -> (String, usize, usize) {
    let at = text.find('|').unwrap();
    let before = &text[..at];
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap().encode_utf16().count();
    (format!("{before}{}", &text[at + 1..]), line, column)
}

/// Returns a range in short form: `2:3-2:7`.
pub(crate) fn range(range: &Value) -> String {
    let at = |end: &str| format!("{}:{}", range[end]["line"], range[end]["character"]);
    format!("{}-{}", at("start"), at("end"))
}

/// Returns a text after edits.
pub(crate) fn edited(text: &str, edits: &Value) -> String {
    let offset = |at: &Value| {
        let line = usize::try_from(at["line"].as_u64().unwrap()).unwrap();
        let column = usize::try_from(at["character"].as_u64().unwrap()).unwrap();
        let begin: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        // The texts in the tests have characters of one UTF-16 unit.
        begin + text[begin..].chars().take(column).map(char::len_utf8).sum::<usize>()
    };
    let mut edits: Vec<_> = edits.as_array().unwrap().iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(offset(&edit["range"]["start"])));
    let mut text_now = text.to_owned();
    for edit in edits {
        let (start, end) = (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]));
        text_now.replace_range(start..end, edit["newText"].as_str().unwrap());
    }
    text_now
}
