//! Watching a running game: what the studio's server asks of an inspector, and what it passes on.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::json;

use crate::client::{GUARD, Studio};

/// A stand-in for the inspector of a game.
struct Game(TcpListener);

impl Game {
    fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    fn address(&self) -> String {
        self.0.local_addr().unwrap().to_string()
    }

    /// Takes the next connection. Returns the head of its request in lines, and then its body.
    fn request(&self) -> (Vec<String>, TcpStream) {
        let (socket, _) = self.0.accept().unwrap();
        let mut lines = BufReader::new(socket.try_clone().unwrap());
        let mut request = Vec::new();
        let mut length = 0;
        loop {
            let mut line = String::new();
            lines.read_line(&mut line).unwrap();
            let line = line.trim_end().to_owned();
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
            request.push(line);
        }
        let mut body = vec![0; length];
        lines.read_exact(&mut body).unwrap();
        request.push(String::from_utf8(body).unwrap());
        (request, socket)
    }

    /// Takes the connection of a page, and begins to send it events.
    fn events(&self) -> (Vec<String>, TcpStream) {
        let (request, mut socket) = self.request();
        write!(socket, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nretry: 500\n\n").unwrap();
        send(&mut socket, "hello", &json!({ "version": "1", "token": "secret", "commands": true }));
        (request, socket)
    }
}

fn send(socket: &mut TcpStream, name: &str, content: &serde_json::Value) {
    write!(socket, "event: {name}\ndata: {content}\n\n").unwrap();
}

#[test]
fn the_news_of_a_game_reach_the_page_that_watches_it_and_its_secret_does_not() {
    let (studio, game) = (Studio::new(&[("guard.toml", GUARD)]), Game::new());
    let mut page = studio.events_of(&format!("&game={}&crowd=the%20guards&owner=1v1", game.address()));
    let mut other = studio.events_of("");
    let (request, mut socket) = game.events();
    let host = format!("Host: {}", game.address());
    assert_eq!(request[..2], ["GET /events?crowd=the%20guards&owner=1v1 HTTP/1.1", &host]);
    assert_eq!(page.game("hello"), json!({ "version": "1", "commands": true }), "without the secret");
    send(&mut socket, "picture", &json!({ "crowd": "the guards", "owners": 3 }));
    assert_eq!(page.game("picture"), json!({ "crowd": "the guards", "owners": 3 }));
    // A line end in the middle of the news would begin other news.
    write!(socket, "event: picture\ndata: {{\"crowd\": \"a\\nevent: files\"}}\n\n").unwrap();
    assert_eq!(page.game("picture")["crowd"], "a\nevent: files");
    // The other page hears only of the files.
    other.wait(|told| told["files"].is_array());
    std::fs::write(studio.path("new.toml"), "[states.a]\n").unwrap();
    let told = other.next(|_| true);
    assert!(told["files"].is_array(), "{told}");
}

#[test]
fn a_command_goes_to_a_game_that_is_watched_with_its_secret() {
    let (studio, game) = (Studio::new(&[("guard.toml", GUARD)]), Game::new());
    let pause = json!({ "game": game.address(), "do": "pause" });
    let (status, told) = studio.ask("game", &pause);
    assert_eq!((status, &told["error"]), (422, &json!("this game is not watched")));
    let mut page = studio.events_of(&format!("&game={}", game.address()));
    let (_, _socket) = game.events();
    page.game("hello");
    for (status, body) in [("202 Accepted", 200), ("403 Forbidden", 422)] {
        let answered = std::thread::scope(|scope| {
            let asked = scope.spawn(|| studio.ask("game", &pause));
            let (request, mut socket) = game.request();
            assert_eq!(request[0], "POST /command HTTP/1.1");
            assert!(request.contains(&"X-Demeanor-Token: secret".to_owned()), "{request:?}");
            assert_eq!(request.last().unwrap(), r#"{"do":"pause"}"#);
            write!(socket, "HTTP/1.1 {status}\r\n\r\nno").unwrap();
            drop(socket);
            asked.join().unwrap()
        });
        assert_eq!(answered.0, body, "{answered:?}");
    }
    let owner = json!({ "game": game.address(), "do": "owner" });
    assert_eq!(studio.ask("game", &owner).0, 400, "the studio changes no character by hand");
}

#[test]
fn a_page_is_told_why_a_game_cannot_be_watched() {
    let (studio, game) = (Studio::new(&[("guard.toml", GUARD)]), Game::new());
    let why = |address: &str| {
        let why = studio.events_of(&format!("&game={address}")).game("gone");
        why.as_str().unwrap().to_owned()
    };
    assert_eq!(why("192.0.2.1%3A80"), "192.0.2.1:80 is on another computer: only a game on this one is watched");
    assert_eq!(why("nowhere"), "`nowhere` is not the address of a game, such as 127.0.0.1:7878");
    assert_eq!(why(&studio.address), format!("what answers at {} is not the inspector of a game", studio.address));
    // A game that ends, and starts again.
    let address = game.address();
    let mut page = studio.events_of(&format!("&game={address}"));
    drop(game.events());
    assert_eq!(page.game("gone"), format!("the game at {address} has ended: waiting until it starts again"));
    let (_, mut socket) = game.events();
    send(&mut socket, "picture", &json!({ "crowd": "guards" }));
    page.game("picture");
    // What is no UTF-8 is not the end of the game.
    socket.write_all(b"event: picture\ndata: {\"crowd\": \"\xff\"}\n\n").unwrap();
    assert_eq!(page.game("picture")["crowd"], "\u{fffd}");
    // What is no JSON is no inspector.
    write!(socket, "event: picture\ndata: no\n\n").unwrap();
    assert_eq!(page.game("gone"), format!("what answers at {address} is not the inspector of a game"));
    drop(game);
    assert_eq!(why(&address), format!("no game answers at {address}: waiting until it starts"));
    let get = |query: &str| {
        let Studio { address, token, .. } = &studio;
        studio.send(&format!("GET /events?token={token}&{query} HTTP/1.1\r\nHost: {address}\r\n\r\n")).0
    };
    assert_eq!(get("owner=1v1"), 400);
    assert_eq!(get("game=%"), 400);
}

#[test]
fn an_answer_whose_head_does_not_end_is_not_read_forever() {
    let (studio, game) = (Studio::new(&[("guard.toml", GUARD)]), Game::new());
    let address = game.address();
    let mut page = studio.events_of(&format!("&game={address}"));
    let (_, mut socket) = game.request();
    socket.write_all(b"HTTP/1.1 200 OK\r\n").unwrap();
    // Until the studio closes the connection.
    while socket.write_all(b"X-Nothing: yet\r\n").is_ok() {}
    assert_eq!(page.game("gone"), format!("what answers at {address} is not the inspector of a game"));
}
