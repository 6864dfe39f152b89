//! Slow clients, many clients, and clients that send garbage: the game is not affected, and others are answered.

use std::io::Write;

use demeanor::{Batch, Journal};
use demeanor_inspector::{BindError, Inspector};
use serde_json::json;

use super::client::{Page, answer_to, connected, status_of};
use super::{Guard, Rest, guards, inspector, page_of, wait_until};

#[test]
fn a_port_that_is_taken_is_an_error_that_names_it() {
    let inspector = inspector();
    let address = inspector.address();
    let why = Inspector::bind(address).unwrap_err();
    assert_eq!(
        why.to_string(),
        format!(
            "port {} is taken: another program, or another copy of the game, listens on {address}; port 0 takes a free one",
            address.port()
        )
    );
    assert!(matches!(why, BindError::Taken { .. }));
    drop(inspector);
    assert_eq!(Inspector::bind(address).unwrap().address(), address, "free again");
}

#[test]
fn other_computers_reach_it_only_if_the_game_says_so() {
    let why = Inspector::bind("0.0.0.0:0").unwrap_err();
    assert_eq!(
        why.to_string(),
        "other computers could reach 0.0.0.0:0: use 127.0.0.1, or `Inspector::bind_anywhere` if they should see the game"
    );
    assert!(Inspector::bind_anywhere("0.0.0.0:0").unwrap().address().ip().is_unspecified());
    assert!(matches!(Inspector::bind("no address"), Err(BindError::NoAddress { .. })));
}

#[test]
fn the_page_has_a_policy_that_lets_it_load_nothing() {
    let inspector = inspector();
    let address = inspector.address();
    let page = answer_to(address, format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes());
    let (head, body) = page.split_once("\r\n\r\n").unwrap();
    let policy = head.lines().find_map(|line| line.strip_prefix("Content-Security-Policy: ")).unwrap();
    let nonce = policy.split('\'').find_map(|part| part.strip_prefix("nonce-")).unwrap();
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; \
             img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
    );
    assert!(body.contains(&format!("<script nonce=\"{nonce}\">")));
    assert!(!head.to_lowercase().contains("access-control"));
}

#[test]
fn rubbish_and_other_paths_are_answered_and_forgotten() {
    let inspector = inspector();
    let address = inspector.address();
    assert_eq!(status_of(address, "/"), "HTTP/1.1 200 OK");
    assert_eq!(status_of(address, "/../../etc/passwd"), "HTTP/1.1 404 Not Found");
    let first = |request: &[u8]| answer_to(address, request).lines().next().unwrap_or_default().to_owned();
    assert_eq!(first(b"\0\x01\x02 what is this\r\n\r\n"), "HTTP/1.1 400 Bad Request");
    assert_eq!(first(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "HTTP/1.1 403 Forbidden");
    assert_eq!(first(&vec![b'A'; 20_000]), "HTTP/1.1 431 Request Header Fields Too Large");
    let mut endless = connected(address);
    // The server closes the connection at some time; otherwise this would not end.
    wait_until(|| endless.write_all(&[b'A'; 4096]).is_err());
    assert_eq!(status_of(address, "/"), "HTTP/1.1 200 OK");
}

/// It must not be treated like a request without an origin.
#[test]
fn an_origin_that_is_not_utf8_is_refused_as_a_foreign_one_is() {
    let inspector = inspector();
    let address = inspector.address();
    for path in ["/", "/events"] {
        for origin in [&b"http://evil.example"[..], b"\xff", b"http://\xffevil.example"] {
            let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nOrigin: ");
            let answer = answer_to(address, &[head.as_bytes(), origin, b"\r\n\r\n"].concat());
            assert_eq!(answer.lines().next(), Some("HTTP/1.1 403 Forbidden"), "{}", origin.escape_ascii());
        }
    }
    assert_eq!(status_of(address, "/events?crowd=guards&search=%ff"), "HTTP/1.1 400 Bad Request");
}

#[test]
fn no_more_than_sixteen_pages_are_open() {
    let mut inspector = inspector();
    let (batch, _) = guards();
    let pages: Vec<_> = (0..16).map(|_| page_of(&inspector)).collect();
    assert_eq!(status_of(inspector.address(), "/events"), "HTTP/1.1 503 Service Unavailable");
    for page in &pages {
        page.wait("picture", || inspector.show("guards", &batch, &0.0), |_| true);
    }
}

#[test]
fn a_page_that_reads_nothing_holds_up_nobody() {
    let mut inspector = inspector();
    let mut batch = Batch::new();
    batch.set_journal(Some(Journal::new(10)));
    batch.spawn(Guard { name: "Bob", is_tired: true }, &Rest, &mut 0.0);
    let address = inspector.address();
    let mut deaf = connected(address);
    write!(deaf, "GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let page = page_of(&inspector);
    // Crowds with long names, which need more than a socket's buffers.
    let names: Vec<_> = (0..60).map(|number| format!("{number}{}", "x".repeat(100_000))).collect();
    for round in 0..4 {
        let seconds = f64::from(round);
        for name in &names {
            let tick = || inspector.show(name, &batch, &seconds);
            page.wait("picture", tick, |told| told["crowd"] == **name && told["seconds"] == json!(seconds));
        }
    }
    drop(deaf);
}

#[test]
fn no_more_than_sixty_four_crowds_are_shown() {
    let mut inspector = inspector();
    let (batch, _) = guards();
    let page = page_of(&inspector);
    let mut tick = || {
        for number in 0..100 {
            inspector.show(&number.to_string(), &batch, &0.0);
        }
    };
    page.wait("picture", &mut tick, |told| told["crowd"] == "63");
    let second = Page::open(inspector.address(), "?crowd=64&owner=1v1");
    let mut crowds = std::collections::BTreeSet::new();
    let count = std::cell::RefCell::new(&mut crowds);
    second.wait(
        "picture",
        || {
            for number in 0..100 {
                inspector.show(&number.to_string(), &batch, &0.0);
            }
        },
        |told| {
            count.borrow_mut().insert(told["crowd"].to_string());
            count.borrow().len() == 64
        },
    );
    assert!(!crowds.contains("\"64\""));
}
