//! A request: its head and body as they came, and what it asks for, if it may.

use std::net::IpAddr;

use serde::Deserialize;

use super::answer::Answer;
use super::page;
use crate::command::{Command, Outcome};
use crate::shared::{Shared, Wanted};

const MOST_HEADERS: usize = 64;
pub(super) const LONGEST_HEAD: usize = 8 << 10;
pub(super) const LONGEST_BODY: usize = 4 << 10;

/// A request that is complete.
#[derive(Debug, Default)]
pub(super) struct Request {
    method: String,
    path: String,
    query: String,
    host: Option<String>,
    origin: Option<String>,
    /// `Sec-Fetch-Site`: where the browser says that the request comes from.
    site: Option<String>,
    content_type: Option<String>,
    token: Option<String>,
    body: Vec<u8>,
}

/// What some bytes are.
pub(super) enum Read {
    Part,
    Whole(Request),
    Wrong(Answer),
}

impl Request {
    /// Reads the first request in some bytes.
    pub(super) fn read(bytes: &[u8]) -> Read {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        let body = match head.parse(bytes) {
            Ok(httparse::Status::Complete(length)) if length <= LONGEST_HEAD => &bytes[length..],
            Ok(httparse::Status::Partial) if bytes.len() <= LONGEST_HEAD => return Read::Part,
            Ok(_) | Err(httparse::Error::TooManyHeaders) => {
                return Read::Wrong(Answer::text(431, "the request's head is too long"));
            }
            Err(why) => return Read::Wrong(Answer::text(400, format!("not a request: {why}"))),
        };
        let mut request = Self { method: head.method.unwrap_or_default().to_owned(), ..Self::default() };
        let target = head.path.unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        (request.path, request.query) = (path.to_owned(), query.to_owned());
        let mut length = None;
        for header in head.headers.iter() {
            let Ok(value) = std::str::from_utf8(header.value) else { continue };
            let name = header.name.to_ascii_lowercase();
            let field = match name.as_str() {
                "host" => &mut request.host,
                "origin" => &mut request.origin,
                "sec-fetch-site" => &mut request.site,
                "content-type" => &mut request.content_type,
                "x-demeanor-token" => &mut request.token,
                "transfer-encoding" => return Read::Wrong(Answer::text(411, "a body needs its length")),
                "content-length" => {
                    length = Some(value.trim().parse::<usize>().unwrap_or(usize::MAX));
                    continue;
                }
                _ => continue,
            };
            if field.replace(value.trim().to_owned()).is_some() {
                return Read::Wrong(Answer::text(400, format!("{name} comes twice")));
            }
        }
        let length = length.unwrap_or(0);
        if length > LONGEST_BODY {
            return Read::Wrong(Answer::text(413, "the body is too long"));
        }
        match body.get(..length) {
            Some(body) => Read::Whole(Self { body: body.to_vec(), ..request }),
            None => Read::Part,
        }
    }
}

/// What is done about a request.
#[derive(Debug)]
pub(super) enum Action {
    Answer(Answer),
    /// The connection stays open, and is told what happens; and what it wants to see besides.
    Events(Option<(String, Wanted)>),
    Command(PageCommand),
}

/// What a page may ask the game to do.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub(super) enum PageCommand {
    Pause,
    Resume,
    Step,
    Owner(Command),
}

impl PageCommand {
    /// Returns the answer, or the number of a command for which it comes from the game.
    pub(super) fn carry_out(self, shared: &Shared) -> Result<Answer, u64> {
        match self {
            Self::Pause => shared.pause(true),
            Self::Resume => shared.pause(false),
            Self::Step => shared.step(),
            Self::Owner(command) => {
                let full = || Answer::text(503, "too many commands wait for the game");
                return shared.add_command(command).map_or_else(|| Ok(full()), Err);
            }
        }
        Ok(later())
    }
}

/// The answer to what the game has not done yet.
pub(super) fn later() -> Answer {
    Answer::text(202, "the game will do it")
}

/// The answer to what it has.
pub(super) fn done(outcome: &Outcome) -> Answer {
    let status = match outcome {
        Outcome::Done => 200,
        Outcome::Taken => 202,
        Outcome::Unknown(_) => 404,
        Outcome::Impossible(_) => 409,
    };
    Answer::text(status, outcome.to_string())
}

/// Who may ask for what.
pub(super) struct Rules {
    /// Whether only this computer can reach the server.
    pub(super) is_local: bool,
    /// What only a page of this server knows.
    pub(super) token: String,
}

impl Rules {
    pub(super) fn action(&self, request: &Request) -> Action {
        match self.checked(request) {
            Ok(action) => action,
            Err(answer) => Action::Answer(answer),
        }
    }

    fn checked(&self, request: &Request) -> Result<Action, Answer> {
        let host = request.host.as_deref().ok_or_else(|| Answer::text(400, "no Host"))?;
        if !self.is_own(host) {
            // A page of another site whose name has been made to lead here would see the game.
            return Err(Answer::text(403, "this is not a name of this server: use its IP address, or localhost"));
        }
        let is_foreign = request.origin.as_deref().is_some_and(|origin| {
            origin.strip_prefix("http://").is_none_or(|origin| !origin.eq_ignore_ascii_case(host))
        });
        if is_foreign {
            return Err(Answer::text(403, "requests from other origins are refused"));
        }
        let is_get = matches!(&*request.method, "GET" | "HEAD");
        match (&*request.path, &*request.method) {
            ("/", _) if is_get => {
                let page = page::page().map_err(|why| Answer::text(503, why.to_string()))?;
                Ok(Action::Answer(if request.method == "HEAD" { page.without_body() } else { page }))
            }
            ("/events", "GET") => {
                self.check_site(request)?;
                Ok(Action::Events(wanted(&request.query)))
            }
            ("/command", "POST") => self.command(request).map(Action::Command),
            ("/" | "/events", _) => Err(Answer::text(405, "only GET").with_header("Allow: GET")),
            ("/command", _) => Err(Answer::text(405, "only POST").with_header("Allow: POST")),
            _ => Err(Answer::text(404, "there is nothing here")),
        }
    }

    fn command(&self, request: &Request) -> Result<PageCommand, Answer> {
        self.check_site(request)?;
        if request.token.as_deref() != Some(&self.token) {
            return Err(Answer::text(403, "only the inspector's page may request this"));
        }
        let content_type = request.content_type.as_deref().and_then(|written| written.split(';').next());
        if content_type.map(str::trim) != Some("application/json") {
            return Err(Answer::text(415, "only application/json"));
        }
        serde_json::from_slice(&request.body).map_err(|why| Answer::text(400, format!("not a command: {why}")))
    }

    #[expect(clippy::unused_self, reason = "one of the rules")]
    fn check_site(&self, request: &Request) -> Result<(), Answer> {
        match request.site.as_deref() {
            None | Some("same-origin" | "none") => Ok(()),
            Some(_) => Err(Answer::text(403, "requests from other sites are refused")),
        }
    }

    /// Whether a host is this server by a number, or by the one name that no other site can have. The port may be another one, where
    /// a tunnel leads here.
    fn is_own(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split_once(']').map_or("", |(name, _)| name),
            None => host.split(':').next().unwrap_or_default(),
        };
        name.eq_ignore_ascii_case("localhost")
            || name.parse::<IpAddr>().is_ok_and(|number| !self.is_local || number.is_loopback())
    }
}

/// What a page wants to see: `crowd=enemies&owner=3v1`, or `crowd=enemies&search=bob`.
fn wanted(query: &str) -> Option<(String, Wanted)> {
    let (mut crowd, mut wanted) = (None, None);
    for (name, value) in query.split('&').filter_map(|part| part.split_once('=')) {
        match name {
            "crowd" => crowd = Some(decoded(value)),
            "owner" => wanted = Some(Wanted::Owner(decoded(value))),
            "search" => wanted = Some(Wanted::Search(decoded(value))),
            _ => {}
        }
    }
    Some((crowd?, wanted?))
}

/// Text in which `%20` is a space.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        let hex = others.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            bytes.push(byte);
            rest = &others[2..];
        } else {
            bytes.push(*first);
            rest = others;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Action, LONGEST_HEAD, Read, Request, Rules, wanted};
    use crate::shared::Wanted;

    fn status(is_local: bool, request: &str) -> u16 {
        let rules = Rules { is_local, token: "secret".to_owned() };
        match Request::read(request.replace('\n', "\r\n").as_bytes()) {
            Read::Part => 0,
            Read::Wrong(answer) => answer.status,
            Read::Whole(request) => match rules.action(&request) {
                Action::Answer(answer) => answer.status,
                Action::Events(_) => 1,
                Action::Command(_) => 2,
            },
        }
    }

    #[test]
    fn only_own_names_are_answered() {
        let page = |is_local, host: &str| status(is_local, &format!("GET / HTTP/1.1\nHost: {host}\n\n"));
        for host in ["127.0.0.1:7878", "localhost", "LocalHost:1", "[::1]:7878", "127.1.2.3"] {
            assert_eq!(page(true, host), 200, "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:7878", "192.168.0.7", "", "[::1", "127.0.0.1.evil.example"]
        {
            assert_eq!(page(true, host), 403, "{host}");
        }
        assert_eq!(page(false, "192.168.0.7:7878"), 200);
        assert_eq!(page(false, "evil.example:7878"), 403);
        assert_eq!(status(true, "GET / HTTP/1.1\n\n"), 400);
        assert_eq!(status(true, "GET / HTTP/1.1\nHost: localhost\nHost: evil.example\n\n"), 400);
    }

    #[test]
    fn other_origins_are_not_answered() {
        let events = |more: &str| status(true, &format!("GET /events HTTP/1.1\nHost: localhost:7878\n{more}\n"));
        assert_eq!(events(""), 1);
        assert_eq!(events("Origin: http://localhost:7878\n"), 1);
        assert_eq!(events("Sec-Fetch-Site: same-origin\n"), 1);
        for more in [
            "Origin: http://evil.example\n",
            "Origin: null\n",
            "Origin: https://localhost:7878\n",
            "Origin: http://localhost:80\n",
            "Sec-Fetch-Site: cross-site\n",
            "Sec-Fetch-Site: same-site\n",
        ] {
            assert_eq!(events(more), 403, "{more}");
        }
    }

    #[test]
    fn a_command_needs_the_token_and_its_type() {
        let command = |more: &str, body: &str| {
            let length = body.len();
            status(true, &format!("POST /command HTTP/1.1\nHost: localhost\nContent-Length: {length}\n{more}\n{body}"))
        };
        let whole = "X-Demeanor-Token: secret\nContent-Type: application/json\n";
        assert_eq!(command(whole, r#"{"do":"pause"}"#), 2);
        let owner = r#"{"do":"owner","crowd":"a","owner":"1v1","kind":"force","state":"Idle"}"#;
        assert_eq!(command(whole, owner), 2);
        assert_eq!(command("Content-Type: application/json\n", r#"{"do":"pause"}"#), 403);
        assert_eq!(command("X-Demeanor-Token: guess\nContent-Type: application/json\n", r#"{"do":"pause"}"#), 403);
        assert_eq!(command("X-Demeanor-Token: secret\nContent-Type: text/plain\n", r#"{"do":"pause"}"#), 415);
        assert_eq!(command(whole, r#"{"do":"explode"}"#), 400);
        assert_eq!(command(whole, ""), 400);
    }

    #[test]
    fn what_is_no_request_or_too_long_is_refused() {
        assert_eq!(status(true, "GET / HTTP/1.1\nHost: localhost"), 0);
        assert_eq!(status(true, "\u{1}\u{2}rubbish\n\n"), 400);
        assert_eq!(status(true, &format!("GET /{} HTTP/1.1\n", "a".repeat(LONGEST_HEAD))), 431);
        assert_eq!(status(true, &format!("GET / HTTP/1.1\n{}\n", "A: b\n".repeat(65))), 431);
        assert_eq!(status(true, "POST /command HTTP/1.1\nHost: localhost\nContent-Length: 5000\n\n"), 413);
        assert_eq!(status(true, "POST /command HTTP/1.1\nHost: localhost\nContent-Length: -1\n\n"), 413);
        assert_eq!(status(true, "POST /command HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\n"), 411);
        assert_eq!(status(true, "GET /etc/passwd HTTP/1.1\nHost: localhost\n\n"), 404);
        assert_eq!(status(true, "DELETE / HTTP/1.1\nHost: localhost\n\n"), 405);
    }

    #[test]
    fn what_a_page_wants_to_see_is_in_its_query() {
        let owner = Some(("the enemies".to_owned(), Wanted::Owner("3v1".to_owned())));
        assert_eq!(wanted("crowd=the%20enemies&owner=3v1"), owner);
        let search = Some(("a".to_owned(), Wanted::Search("100% Jörg".to_owned())));
        assert_eq!(wanted("search=100%25%20J%C3%B6rg&crowd=a"), search);
        assert_eq!(wanted("crowd=a"), None);
        assert_eq!(wanted("%=%&&="), None);
    }
}
