//! A running studio, and a client that sends exactly what a test says.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// The longest time for any step, on a busy computer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The machine of most tests.
pub(crate) const GUARD: &str = include_str!("../files/guard.toml");

pub(crate) struct Studio {
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
    folder: tempfile::TempDir,
}

impl Studio {
    /// Starts a studio in a folder with these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join("game").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_demeanor"))
            .arg("studio")
            .arg(folder.path().join("game"))
            .arg("--no-browser")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (address, token) = line.trim().strip_prefix("http://").unwrap().split_once("/#").unwrap();
        let (address, token) = (address.to_owned(), token.to_owned());
        Self { child, address, token, folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("game").join(name)
    }

    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(&self.address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket
    }

    /// Sends a request, and returns the status and the body of the answer.
    pub(crate) fn send(&self, request: &str) -> (u16, String) {
        let mut socket = self.connect();
        socket.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
    }

    /// Sends a request to the API as the page does.
    pub(crate) fn ask(&self, what: &str, body: &Value) -> (u16, Value) {
        let Self { address, token, .. } = self;
        let headers = format!("Host: {address}\r\nOrigin: http://{address}\r\nX-Demeanor-Token: {token}\r\n");
        self.ask_with(what, &headers, body)
    }

    pub(crate) fn ask_with(&self, what: &str, headers: &str, body: &Value) -> (u16, Value) {
        let body = body.to_string();
        let length = body.len();
        let (status, answer) = self.send(&format!(
            "POST /api/{what} HTTP/1.1\r\n{headers}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ));
        (status, serde_json::from_str(&answer).unwrap_or(json!(answer)))
    }

    /// Opens the events of a page.
    pub(crate) fn events(&self) -> Events {
        self.events_of("")
    }

    /// Opens the events of a page that also wishes something else.
    pub(crate) fn events_of(&self, wish: &str) -> Events {
        let mut socket = self.connect();
        let Self { address, token, .. } = self;
        write!(socket, "GET /events?token={token}{wish} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
        Events(BufReader::new(socket).lines())
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Events(std::io::Lines<BufReader<TcpStream>>);

impl Events {
    /// Waits until the list of files is as wanted.
    pub(crate) fn wait(&mut self, is: impl Fn(&Value) -> bool) -> Value {
        self.next(|told| told["files"].is_array() && is(told))
    }

    /// Waits for news of a kind about the game.
    pub(crate) fn game(&mut self, kind: &str) -> Value {
        self.next(|told| told["kind"] == kind)["told"].take()
    }

    /// Waits for news like these.
    pub(crate) fn next(&mut self, is: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.0.next().unwrap().unwrap();
            let told = line.strip_prefix("data: ").and_then(|data| serde_json::from_str::<Value>(data).ok());
            if let Some(told) = told.filter(&is) {
                return told;
            }
        }
    }
}
