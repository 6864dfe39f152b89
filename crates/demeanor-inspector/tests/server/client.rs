//! A client that sends exactly the bytes of a test, and reads the answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// The longest time for any step, on a busy computer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn connected(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.set_write_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// Sends bytes, and reads the whole answer until the server closes the connection.
pub(crate) fn answer_to(address: SocketAddr, request: &[u8]) -> String {
    let mut socket = connected(address);
    socket.write_all(request).unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// Returns the status of the answer to a request for a path.
pub(crate) fn status_of(address: SocketAddr, path: &str) -> String {
    let answer = answer_to(address, format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes());
    answer.lines().next().unwrap_or_default().to_owned()
}

/// Sends a command as the page does. Returns the status.
pub(crate) fn command(address: SocketAddr, token: &str, body: &Value) -> String {
    let answer = answer_to(address, &command_request(address, token, body));
    answer.lines().next().unwrap_or_default().to_owned()
}

/// Sends a command while the game runs. Returns the status and the text.
pub(crate) fn command_while(address: SocketAddr, token: &str, body: &Value, mut tick: impl FnMut()) -> (u16, String) {
    let request = command_request(address, token, body);
    let asking = thread::spawn(move || answer_to(address, &request));
    while !asking.is_finished() {
        tick();
        thread::yield_now();
    }
    let answer = asking.join().unwrap();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    (status, answer.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned()))
}

/// Returns the request for a command, as the page sends it.
pub(crate) fn command_request(address: SocketAddr, token: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let head = format!(
        "POST /command HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nContent-Type: application/json\r\n\
         X-Demeanor-Token: {token}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    (head + body.as_str()).into_bytes()
}

/// An open page, which gets events by name.
pub(crate) struct Page {
    events: Receiver<(String, Value)>,
    socket: TcpStream,
    pub(crate) token: String,
}

impl Page {
    pub(crate) fn open(address: SocketAddr, query: &str) -> Self {
        let mut socket = connected(address);
        write!(socket, "GET /events{query} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
        let (told, events) = mpsc::channel();
        let lines = BufReader::new(socket.try_clone().unwrap()).lines().map_while(Result::ok);
        thread::spawn(move || {
            let mut name = String::new();
            for line in lines {
                if let Some(event) = line.strip_prefix("event: ") {
                    event.clone_into(&mut name);
                } else if let Some(data) = line.strip_prefix("data: ") {
                    let data = serde_json::from_str(data).unwrap();
                    if told.send((name.clone(), data)).is_err() {
                        return;
                    }
                }
            }
        });
        let page = Self { events, socket, token: String::new() };
        let hello = page.wait("hello", || {}, |_| true);
        Self { token: hello["token"].as_str().unwrap().to_owned(), ..page }
    }

    /// Runs the game until the page gets the expected event.
    pub(crate) fn wait(&self, name: &str, mut tick: impl FnMut(), is: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            tick();
            if let Ok((told, data)) = self.events.recv_timeout(Duration::from_millis(1))
                && told == name
                && is(&data)
            {
                return data;
            }
        }
        panic!("the page is not told of the {name}");
    }

    pub(crate) fn close(self) {
        self.socket.shutdown(std::net::Shutdown::Both).unwrap();
    }
}
