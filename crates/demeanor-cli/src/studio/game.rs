//! A running game that a page watches. The studio's server asks the game's inspector, as the inspector's own page does, and passes
//! its news on to the page: no other origin needs to be allowed anywhere.

use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use demeanor_loopback::{Client, decoded, event};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::shared::{Shared, lock};
use super::source::Refusal;

/// How long a game may say nothing. An inspector sends a heartbeat every 5 seconds.
const SILENCE: Duration = Duration::from_secs(15);
/// The time between two attempts to reach a game.
const PAUSE: Duration = Duration::from_secs(1);
/// How long an answer may take, or its head if news follow.
const ANSWER: Duration = Duration::from_secs(5);
/// The longest head of an answer, in bytes.
const LONGEST_HEAD: u64 = 16 << 10;
/// The longest line of an inspector, in bytes.
const LONGEST: u64 = 8 << 20;

/// A game, and what a page wants to see of it.
pub(super) struct Game {
    written: String,
    /// The query for the inspector: a crowd, and one of its owners or a search.
    query: String,
}

impl Game {
    /// Reads the wish of a page: `game=127.0.0.1:7878`, and behind it the query for the inspector.
    pub(super) fn wished(query: &str) -> Option<Self> {
        let (game, query) = query.split_once('&').unwrap_or((query, ""));
        Some(Self { written: decoded(game.strip_prefix("game=")?)?, query: query.to_owned() })
    }
}

/// Reads an address as a user writes it: the page's address, or only its port. Other computers are refused, so that the studio
/// connects to none.
pub(super) fn address(written: &str) -> Result<SocketAddr, String> {
    let short = written.trim().trim_start_matches("http://").trim_end_matches('/');
    let port = short.strip_prefix("localhost:").unwrap_or(short);
    let here = port.parse().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let address = here.or_else(|_| short.parse());
    let address = address.map_err(|_| format!("`{written}` is not the address of a game, such as 127.0.0.1:7878"))?;
    if address.ip().is_loopback() {
        return Ok(address);
    }
    Err(format!("{address} is on another computer: only a game on this one is watched"))
}

/// Passes on the news of a game until the page is closed.
pub(super) fn follow(shared: &Arc<Shared>, page: Client, game: Game) -> io::Result<()> {
    let page = Page { shared: Arc::clone(shared), page };
    let follow = move || match address(&game.written) {
        Ok(address) => {
            while let Err(why) = page.listen(address, &game.query) {
                page.tell("gone", "", &json!(why));
                thread::sleep(PAUSE);
            }
        }
        Err(why) => page.tell("gone", "", &json!(why)),
    };
    thread::Builder::new().name("studio-game".into()).spawn(follow)?;
    Ok(())
}

/// The page that watches a game.
struct Page {
    shared: Arc<Shared>,
    page: Client,
}

impl Page {
    /// Sends news of a kind, in place of unsent news of this kind about the same thing.
    fn tell(&self, kind: &str, about: &str, told: &Value) {
        self.shared.tell(self.page, &format!("{kind} {about}"), event("game", &json!({ "kind": kind, "told": told })));
    }

    /// Passes on news until the page is closed. Fails with why the game cannot be watched.
    fn listen(&self, address: SocketAddr, query: &str) -> Result<(), String> {
        let over = |_| format!("the game at {address} has ended: waiting until it starts again");
        if !self.shared.is_open(self.page) {
            return Ok(());
        }
        let mut news = request(address, &format!("GET /events?{query}"), "", "", ANSWER)?;
        news.get_mut().until = None;
        let mut name = String::new();
        loop {
            let line = line(&mut news).map_err(over)?;
            if !self.shared.is_open(self.page) {
                return Ok(());
            }
            if let Some(told) = line.strip_prefix("event: ") {
                told.clone_into(&mut name);
            } else if let Some(told) = line.strip_prefix("data: ") {
                let told = serde_json::from_str(told).map_err(|_| no_inspector(address))?;
                self.pass_on(address, &name, told);
            }
        }
    }

    fn pass_on(&self, address: SocketAddr, name: &str, mut told: Value) {
        let crowd = told["crowd"].as_str().unwrap_or_default().to_owned();
        if let Some(Value::String(token)) = told.as_object_mut().and_then(|told| told.remove("token")) {
            // The page has no use for it: its commands come to this server.
            lock(&self.shared.tokens).insert(address, token);
        }
        self.tell(name, &crowd, &told);
    }
}

/// A command to a game.
#[derive(Deserialize)]
pub(super) struct OfGame {
    game: String,
    #[serde(flatten)]
    command: Command,
}

/// The commands of an inspector that a page may send.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case", tag = "do")]
enum Command {
    Pause,
    Resume,
    Step,
    Break(Breakpoint),
    Unbreak(Breakpoint),
}

#[derive(Deserialize, Serialize)]
struct Breakpoint {
    crowd: String,
    #[serde(flatten)]
    at: StopAt,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum StopAt {
    State(String),
    /// With `None`, any property.
    Property(Option<String>),
}

/// Passes a command on to a game that a page has watched.
pub(super) fn command(shared: &Shared, of: &OfGame) -> Result<Value, Refusal> {
    let address = address(&of.game)?;
    let token = lock(&shared.tokens).get(&address).cloned().ok_or_else(|| "this game is not watched".to_owned())?;
    let body = json!(of.command).to_string();
    let headers = format!("X-Demeanor-Token: {token}\r\nContent-Type: application/json\r\n");
    request(address, "POST /command", &headers, &body, ANSWER)?;
    Ok(json!({}))
}

/// The characters of a game.
#[derive(Deserialize)]
pub(super) struct OfCrowd {
    game: String,
    /// Their name, as it is written in a query.
    crowd: String,
}

/// Returns how many characters were in each state before, as far as a game that a page has watched remembers it.
pub(super) fn history(shared: &Shared, of: &OfCrowd) -> Result<Value, Refusal> {
    let address = address(&of.game)?;
    if !lock(&shared.tokens).contains_key(&address) || !of.crowd.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("this game is not watched".to_owned().into());
    }
    let answer = request(address, &format!("GET /history?crowd={}", of.crowd), "", "", ANSWER)?;
    let history = rest(answer).map_err(|error| unanswered(address, &error))?;
    serde_json::from_slice(&history).map_err(|_| no_inspector(address).into())
}

/// What a game sends. A game that sends it byte by byte has no more time than another one.
struct Answer {
    socket: TcpStream,
    /// With `None`, only a silence has a limit.
    until: Option<Instant>,
}

impl Read for Answer {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.until.map_or(SILENCE, |until| until.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.socket.set_read_timeout(Some(left))?;
        self.socket.read(bytes)
    }
}

/// Sends a request to an inspector, and reads the head of its answer. Fails with why there is no answer that is as it should be.
fn request(
    address: SocketAddr,
    what: &str,
    headers: &str,
    body: &str,
    within: Duration,
) -> Result<BufReader<Answer>, String> {
    let gone = |_| format!("no game answers at {address}: waiting until it starts");
    let length = body.len();
    let request = format!("{what} HTTP/1.1\r\nHost: {address}\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
    let mut socket = TcpStream::connect_timeout(&address, ANSWER).map_err(gone)?;
    socket.set_write_timeout(Some(ANSWER)).map_err(gone)?;
    socket.write_all(request.as_bytes()).map_err(gone)?;
    let mut answer = BufReader::new(Answer { socket, until: Some(Instant::now() + within) });
    let mut head = answer.by_ref().take(LONGEST_HEAD);
    let mut line = || self::line(&mut head).map_err(|error| unanswered(address, &error));
    let first = line()?;
    let status =
        first.strip_prefix("HTTP/1.1 ").and_then(|status| status.get(..3)).ok_or_else(|| no_inspector(address))?;
    while !line()?.is_empty() {}
    if status.starts_with('2') {
        return Ok(answer);
    }
    // An inspector answers a page like this only if too many are open.
    if !body.is_empty() || status == "503" {
        let why = rest(answer).map_err(|error| unanswered(address, &error))?;
        return Err(format!("the game answers: {}", String::from_utf8_lossy(&why)));
    }
    Err(no_inspector(address))
}

fn rest(answer: BufReader<Answer>) -> io::Result<Vec<u8>> {
    let mut rest = Vec::new();
    answer.take(LONGEST).read_to_end(&mut rest)?;
    Ok(rest)
}

/// Says why an answer cannot be read.
fn unanswered(address: SocketAddr, error: &io::Error) -> String {
    match error.kind() {
        // The kind of error depends on the operating system.
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            format!("the game at {address} takes too long to answer")
        }
        _ => no_inspector(address),
    }
}

fn no_inspector(address: SocketAddr) -> String {
    format!("what answers at {address} is not the inspector of a game")
}

/// Reads a line. Fails at the end, and if a line is too long.
fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    from.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
    match line.strip_suffix(b"\n") {
        // A line that is no UTF-8 is not the end of the game.
        Some(line) => Ok(String::from_utf8_lossy(line).trim_end_matches('\r').to_owned()),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Duration;

    use super::{address, request};

    #[test]
    fn a_game_that_takes_too_long_keeps_no_page_waiting() {
        // It accepts the connection, and never answers.
        let game = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = game.local_addr().unwrap();
        let why = request(address, "GET /history?crowd=guards", "", "", Duration::ZERO).err().unwrap();
        assert_eq!(why, format!("the game at {address} takes too long to answer"));
    }

    #[test]
    fn only_games_on_this_computer_have_an_address() {
        for written in ["127.0.0.1:7878", "http://127.0.0.1:7878/", " localhost:7878", "http://localhost:7878", "7878"]
        {
            assert_eq!(address(written).unwrap().to_string(), "127.0.0.1:7878", "{written}");
        }
        assert_eq!(address("[::1]:7878").unwrap().to_string(), "[::1]:7878");
        for written in
            ["192.168.0.7:7878", "0.0.0.0:7878", "evil.example:80", "127.0.0.1", "https://127.0.0.1:1", "", "/"]
        {
            assert!(address(written).is_err(), "{written}");
        }
    }
}
