//! The requests that the inspector answers, and their actions.

use demeanor_loopback::{Answer, Request, Rules, decoded};
use serde::Deserialize;

use super::page;
use crate::command::{Command, Outcome};
use crate::shared::{Breakpoint, Shared, Wanted};

/// The action for a request.
#[derive(Debug)]
pub(super) enum Action {
    Answer(Answer),
    /// The connection stays open, and gets events, optionally with the watched owner or the search.
    Events(Option<(String, Wanted)>),
    /// How many owners of a crowd were in each state.
    History(String),
    Command(PageCommand),
}

/// A page's command to the game.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub(super) enum PageCommand {
    Pause,
    Resume,
    Step,
    Break(Breakpoint),
    Unbreak(Breakpoint),
    Owner(Command),
}

impl PageCommand {
    /// Returns the answer, or the number of a command whose answer comes from the game.
    pub(super) fn carry_out(self, shared: &Shared) -> Result<Answer, u64> {
        match self {
            Self::Pause => shared.pause(true),
            Self::Resume => shared.pause(false),
            Self::Step => shared.step(),
            Self::Break(breakpoint) if !shared.add_breakpoint(breakpoint.clone()) => {
                return Ok(Answer::text(503, "there are too many breakpoints"));
            }
            Self::Break(_) => {}
            Self::Unbreak(breakpoint) => shared.remove_breakpoint(&breakpoint),
            Self::Owner(command) => {
                let full = || Answer::text(503, "too many commands wait for the game");
                return shared.add_command(command).map_or_else(|| Ok(full()), Err);
            }
        }
        Ok(later())
    }
}

/// Returns the answer to a command that the game has not carried out yet.
pub(super) fn later() -> Answer {
    Answer::text(202, "the game will do it")
}

/// Returns the answer to a command that the game has carried out.
pub(super) fn done(outcome: &Outcome) -> Answer {
    let status = match outcome {
        Outcome::Done => 200,
        Outcome::Taken => 202,
        Outcome::Unknown(_) => 404,
        Outcome::Impossible(_) => 409,
    };
    Answer::text(status, outcome.to_string())
}

/// Returns the action for a request of this origin.
pub(super) fn action(rules: &Rules, request: &Request) -> Action {
    match checked(rules, request) {
        Ok(action) => action,
        Err(answer) => Action::Answer(answer),
    }
}

fn checked(rules: &Rules, request: &Request) -> Result<Action, Answer> {
    let is_get = matches!(request.method(), "GET" | "HEAD");
    match (request.path(), request.method()) {
        ("/", _) if is_get => {
            let page = page::page().map_err(|why| Answer::text(503, why.to_string()))?;
            Ok(Action::Answer(if request.method() == "HEAD" { page.without_body() } else { page }))
        }
        ("/events", "GET") => {
            rules.check_site(request)?;
            let why = "the query is not `crowd=..&owner=..`, `crowd=..&search=..` or `crowd=..&state=..`";
            let query = Some(request.query()).filter(|query| !query.is_empty());
            let wanted = query.map(|query| wanted(query).ok_or_else(|| Answer::text(400, why))).transpose()?;
            Ok(Action::Events(wanted))
        }
        ("/history", "GET") => {
            rules.check_site(request)?;
            let crowd = request.query().strip_prefix("crowd=").and_then(decoded);
            crowd.map(Action::History).ok_or_else(|| Answer::text(400, "the query is not `crowd=..`"))
        }
        ("/command", "POST") => {
            rules.check_command(request)?;
            let command = serde_json::from_slice(request.body());
            command.map(Action::Command).map_err(|why| Answer::text(400, format!("not a command: {why}")))
        }
        ("/" | "/events" | "/history", _) => Err(Answer::only("GET")),
        ("/command", _) => Err(Answer::only("POST")),
        _ => Err(Answer::text(404, "there is nothing here")),
    }
}

/// Returns the wish of a page: `crowd=enemies&owner=3v1`, `crowd=enemies&search=bob`, or `crowd=enemies&state=Flee`. `None` for any other query.
fn wanted(query: &str) -> Option<(String, Wanted)> {
    let (mut crowd, mut wanted) = (None, None);
    for part in query.split('&') {
        let (name, value) = part.split_once('=')?;
        let value = decoded(value)?;
        let is_repeated = match name {
            "crowd" => crowd.replace(value).is_some(),
            "owner" => wanted.replace(Wanted::Owner(value)).is_some(),
            "search" => wanted.replace(Wanted::Search(value)).is_some(),
            "state" => wanted.replace(Wanted::State(value)).is_some(),
            _ => return None,
        };
        if is_repeated {
            return None;
        }
    }
    Some((crowd?, wanted?))
}

#[cfg(test)]
mod tests {
    use demeanor_loopback::{Application, Read, Request, Rules};

    use super::super::Pages;
    use super::{Action, action, wanted};
    use crate::shared::Wanted;

    /// Longer heads are refused.
    const LONGEST_HEAD: usize = 8 << 10;

    fn status(is_local: bool, request: &str) -> u16 {
        status_of(is_local, request.replace('\n', "\r\n").as_bytes())
    }

    /// Returns 0 for a part of a request, 1 for events, 2 for a command, or the status of the answer.
    fn status_of(is_local: bool, request: &[u8]) -> u16 {
        let rules = Rules { is_local, token: "secret".to_owned() };
        match Request::read(request, <Pages as Application>::LONGEST_BODY) {
            Read::Part => 0,
            Read::Wrong(answer) => answer.status(),
            Read::Whole(request) => match rules.check_origin(&request) {
                Err(answer) => answer.status(),
                Ok(()) => match action(&rules, &request) {
                    Action::Answer(answer) => answer.status(),
                    Action::Events(_) | Action::History(_) => 1,
                    Action::Command(_) => 2,
                },
            },
        }
    }

    #[test]
    fn only_own_names_are_answered() {
        let page = |is_local, host: &str| status(is_local, &format!("GET / HTTP/1.1\nHost: {host}\n\n"));
        for host in ["127.0.0.1:7878", "localhost", "LocalHost:1", "[::1]:7878", "127.1.2.3"] {
            assert_eq!(page(true, host), 200, "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example:7878",
            "192.168.0.7",
            "",
            "[::1",
            "127.0.0.1.evil.example",
            "::1",
            "[::1].evil.example",
            "[127.0.0.1]",
            "[localhost]",
            "localhost:evil.example",
            "localhost:80:80",
            "localhost:",
            "localhost:+80",
            "localhost:65536",
            "127.0.0.1@evil.example",
            "localhost evil.example",
            "127.1",
            "0x7f000001",
        ] {
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
        let history = |more: &str| status(true, &format!("GET /history?{more}\n\n"));
        assert_eq!(history("crowd=a HTTP/1.1\nHost: localhost"), 1);
        assert_eq!(history("crowd=a HTTP/1.1\nHost: localhost\nSec-Fetch-Site: cross-site"), 403);
        assert_eq!(history("owner=a HTTP/1.1\nHost: localhost"), 400);
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
        assert_eq!(command(whole, r#"{"do":"break","crowd":"a","state":"Flee"}"#), 2);
        assert_eq!(command(whole, r#"{"do":"unbreak","crowd":"a","property":null}"#), 2);
        assert_eq!(command(whole, r#"{"do":"break","crowd":"a"}"#), 400);
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
        for length in ["-1", "+2", "2.0", "0x2", "two", "", "2, 2", "2 2"] {
            let request = format!("POST /command HTTP/1.1\nHost: localhost\nContent-Length: {length}\n\n{{}}");
            assert_eq!(status(true, &request), 400, "{length}");
        }
        for length in ["4097", "18446744073709551615", "18446744073709551616", &"9".repeat(1000)] {
            let request = format!("POST /command HTTP/1.1\nHost: localhost\nContent-Length: {length}\n\n{{}}");
            assert_eq!(status(true, &request), 413, "{length}");
        }
        assert_eq!(status(true, "POST /command HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\n"), 411);
        assert_eq!(status(true, "GET /etc/passwd HTTP/1.1\nHost: localhost\n\n"), 404);
        assert_eq!(status(true, "DELETE / HTTP/1.1\nHost: localhost\n\n"), 405);
    }

    #[test]
    fn what_a_page_wants_to_see_is_in_its_query() {
        let owner = Some(("the enemies".to_owned(), Wanted::Owner("3v1".to_owned())));
        assert_eq!(wanted("crowd=the%20enemies&owner=3v1"), owner);
        let search = Some(("a".to_owned(), Wanted::Search("100% Jörg".to_owned())));
        assert_eq!(wanted("crowd=a&state=Flee"), Some(("a".to_owned(), Wanted::State("Flee".to_owned()))));
        assert_eq!(wanted("search=100%25%20J%C3%B6rg&crowd=a"), search);
        assert_eq!(status(true, "GET /events? HTTP/1.1\nHost: localhost\n\n"), 1);
    }

    #[test]
    fn a_query_that_cannot_be_read_is_refused() {
        for query in [
            "crowd=a",
            "owner=1v1",
            "crowd",
            "%=%&&=",
            "crowd=a&owner=1v1&",
            "crowd=a&owner=1v1&other=b",
            "crowd=a&crowd=b&owner=1v1",
            "crowd=a&owner=1v1&owner=2v1",
            "crowd=a&owner=1v1&search=b",
            "crowd=a&state=b&search=b",
            "crowd=a&search=%",
            "crowd=a&search=%2",
            "crowd=a&search=%zz",
            "crowd=a&search=%+f",
            "crowd=a&search=%ff",
            "crowd=%C3&search=b",
        ] {
            assert_eq!(wanted(query), None, "{query}");
            assert_eq!(status(true, &format!("GET /events?{query} HTTP/1.1\nHost: localhost\n\n")), 400, "{query}");
        }
    }

    /// A valid command, in lines.
    const COMMAND: [&str; 7] = [
        "POST /command HTTP/1.1",
        "Host: localhost:7878",
        "Origin: http://localhost:7878",
        "Sec-Fetch-Site: same-origin",
        "X-Demeanor-Token: secret",
        "Content-Type: application/json",
        "Content-Length: 14",
    ];
    const BODY: &str = r#"{"do":"pause"}"#;

    fn command(lines: &[impl AsRef<[u8]>]) -> u16 {
        let lines: Vec<_> = lines.iter().map(AsRef::as_ref).collect();
        status_of(true, &[&lines.join(&b"\r\n"[..]), &b"\r\n\r\n"[..], BODY.as_bytes()].concat())
    }

    #[test]
    fn a_header_that_cannot_be_read_is_refused() {
        assert_eq!(command(&COMMAND), 2);
        let statuses = [400, 403, 403, 400, 400, 400];
        for (nth, status) in (1..).zip(statuses) {
            for bytes in [&b"\xff"[..], b"\xc3", b"\x80\x80", b"\xed\xa0\x80"] {
                let line = COMMAND[nth].as_bytes();
                let colon = COMMAND[nth].find(' ').unwrap() + 1;
                for broken in [
                    [line, bytes].concat(),
                    [&line[..colon], bytes, &line[colon..]].concat(),
                    [&line[..colon], bytes].concat(),
                ] {
                    let mut lines = COMMAND.map(|line| line.as_bytes().to_vec());
                    lines[nth] = broken;
                    assert_eq!(command(&lines), status, "{}", COMMAND[nth]);
                }
            }
        }
        // Other cookies are ignored: a browser may send those of another program on this computer.
        let lines = COMMAND.map(|line| line.as_bytes().to_vec());
        assert_eq!(command(&[&lines[..], &[b"Cookie: \xff".to_vec()]].concat()), 2);
        assert_eq!(command(&[&lines[..], &[b"Transfer-Encoding: \xff".to_vec()]].concat()), 411);
    }

    #[test]
    fn a_header_that_comes_twice_is_refused() {
        for line in &COMMAND[1..] {
            assert_eq!(command(&[&COMMAND[..], &[line]].concat()), 400, "{line}");
        }
        for also in ["content-length: 2", "Content-Length: \u{663}", "origin: null", "HOST: localhost"] {
            assert_eq!(command(&[&COMMAND[..], &[also]].concat()), 400, "{also}");
        }
    }

    #[test]
    fn a_head_that_is_written_in_another_way_is_refused() {
        for also in [
            // An obsolete way to continue the previous line.
            " http://evil.example",
            "\thttp://evil.example",
            "Origin : null",
            " Origin: null",
            "Origin",
            ": null",
            "Or\0igin: null",
            "Origin: \0",
            "Origin: a\rb",
            "\u{f6}rigin: null",
        ] {
            assert_eq!(command(&[&COMMAND[..], &[also]].concat()), 400, "{also:?}");
        }
        let first = |line: &str| {
            let mut lines = COMMAND;
            lines[0] = line;
            command(&lines)
        };
        for line in [
            "POST  /command HTTP/1.1",
            "POST /command",
            "POST /command HTTP/2.0",
            "POST /command HTTP/1.1 ",
            "POST /com mand HTTP/1.1",
        ] {
            assert_eq!(first(line), 400, "{line}");
        }
        for line in [
            "POST /%63ommand HTTP/1.1",
            "POST http://localhost/command HTTP/1.1",
            "POST /command/ HTTP/1.1",
            "POST * HTTP/1.1",
        ] {
            assert_eq!(first(line), 404, "{line}");
        }
        for line in ["GET /command HTTP/1.1", "post /command HTTP/1.1"] {
            assert_eq!(first(line), 405, "{line}");
        }
        // The older HTTP version is treated the same if it has a host.
        assert_eq!(first("POST /command HTTP/1.0"), 2);
        assert_eq!(status(true, "GET / HTTP/1.0\n\n"), 400);
    }

    #[test]
    fn what_follows_a_request_is_not_a_second_one() {
        let with = |rest: &[u8]| [COMMAND.join("\r\n").as_bytes(), b"\r\n\r\n", BODY.as_bytes(), rest].concat();
        assert_eq!(status_of(true, &with(b"")), 2);
        assert_eq!(status_of(true, &with(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")), 2);
        // The rest of the body may still arrive.
        let whole = with(b"");
        assert_eq!(status_of(true, &whole[..whole.len() - 1]), 0);
    }

    #[test]
    fn random_bytes_are_answered_and_never_a_command() {
        let mut random = oorandom::Rand32::new(7);
        let whole = [COMMAND.join("\r\n").as_bytes(), b"\r\n\r\n", BODY.as_bytes()].concat();
        let foreign = String::from_utf8(whole.clone())
            .unwrap()
            .replace("Origin: http://localhost", "Origin: http://evilhost")
            .into_bytes();
        assert_eq!(status_of(true, &foreign), 403);
        // The position of the origin's value.
        let origin = foreign.windows(8).position(|bytes| bytes == b"evilhost").unwrap();
        for _ in 0..20_000 {
            let count = random.rand_range(0..300);
            let bytes: Vec<u8> = (0..count).map(|_| random.rand_u32().to_le_bytes()[0]).collect();
            assert!(status_of(true, &bytes) != 2);
            assert!(status_of(true, &[b"POST /command HTTP/1.1\r\n", &bytes[..]].concat()) != 2);
            let mut changed = whole.clone();
            let at = random.rand_range(0..u32::try_from(changed.len()).unwrap()) as usize;
            changed[at] = random.rand_u32().to_le_bytes()[0];
            let _ = status_of(true, &changed);
            let mut changed = foreign.clone();
            changed[origin + random.rand_range(0..8) as usize] = random.rand_u32().to_le_bytes()[0];
            assert!(status_of(true, &changed) >= 400, "{}", changed.escape_ascii());
        }
    }
}
