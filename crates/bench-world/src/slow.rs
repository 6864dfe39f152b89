//! A slow network: bytes between two processes arrive a little later, in the same order.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Connections between processes that pass through this process if they are to be delayed.
pub(crate) struct SlowNetwork {
    latency: Duration,
}

impl SlowNetwork {
    pub(crate) fn new(latency: Duration) -> Self {
        Self { latency }
    }

    /// Returns the addresses that a process is given: its own address, and a local port for each other process.
    pub(crate) fn addresses_for(&self, process: usize, all: &[String]) -> Vec<String> {
        let of = |(nth, address): (usize, &String)| {
            if nth == process || self.latency.is_zero() { address.clone() } else { self.detour(address.clone()) }
        };
        all.iter().enumerate().map(of).collect()
    }

    fn detour(&self, to: String) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are free ports");
        let address = listener.local_addr().expect("it is bound").to_string();
        let latency = self.latency;
        thread::spawn(move || {
            while let Ok((from, _)) = listener.accept() {
                let Ok(to) = TcpStream::connect(&to) else { continue };
                for stream in [&from, &to] {
                    let _ = stream.set_nodelay(true);
                }
                if let (Ok(back_from), Ok(back_to)) = (to.try_clone(), from.try_clone()) {
                    pass_on(from, to, latency);
                    pass_on(back_from, back_to, latency);
                }
            }
        });
        address
    }
}

/// Two threads pass the bytes on: one reads them and notes the time, and the other writes them after the delay.
fn pass_on(mut from: TcpStream, mut to: TcpStream, latency: Duration) {
    let (sender, pieces) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            let _ = sender.send((Instant::now() + latency, buffer[..read].to_vec()));
        }
    });
    thread::spawn(move || {
        for (due, piece) in pieces {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let _ = to.write_all(&piece);
        }
        let _ = to.shutdown(Shutdown::Write);
    });
}
