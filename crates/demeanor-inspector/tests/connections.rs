//! A thousand connections. This test has its own process, whose threads can be counted.

#[path = "server/client.rs"]
#[expect(dead_code, reason = "the other tests need more of it")]
mod client;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use client::{Page, connected, status_of};
use demeanor::{Batch, Owner, State};
use demeanor_inspector::Inspector;

struct Guard;

impl Owner for Guard {
    type Context<'a> = ();
    type Message = ();
}

struct Rest;
impl State<Guard> for Rest {}

fn crowd() -> Batch<Guard> {
    (0..3).map(|_| (Guard, &Rest)).collect()
}

#[test]
fn a_thousand_connections_cost_no_thread_and_others_are_answered() {
    let mut inspector = Inspector::bind("127.0.0.1:0").unwrap();
    let batch = crowd();
    let page = Page::open(inspector.address(), "");
    let threads = threads();
    let mut idle: Vec<TcpStream> = Vec::new();
    for number in 0..1000 {
        let mut socket = connected(inspector.address());
        if number % 2 == 0 {
            // Half of the clients begin a request and never end it; the server may have closed a connection already.
            let _ = socket.write_all(b"GET / HTTP/1.1\r\nHost: ");
        }
        idle.push(socket);
    }
    page.wait("picture", || inspector.show("guards", &batch, &()), |told| told["owners"] == 3);
    assert_eq!(self::threads(), threads);
    assert_eq!(status_of(inspector.address(), "/"), "HTTP/1.1 200 OK");
    // All connections except the few that may wait have been closed: reading returns no bytes.
    let is_closed = |socket: &mut TcpStream| match socket.read(&mut [0]) {
        Ok(count) => count == 0,
        Err(why) => why.kind() == ErrorKind::ConnectionReset,
    };
    assert_eq!(idle[..900].iter_mut().filter_map(|socket| is_closed(socket).then_some(())).count(), 900);
}

/// Returns the number of threads of this process, if the system provides it.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}
