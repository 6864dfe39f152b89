//! The handshake of two processes: their numbers, their settings, and a proof that they know the same secret.
//!
//! First both send a nonce, which is a number that is used only once. Then the calling process sends its greeting, with a proof
//! that depends on both nonces, so that bytes from another connection prove nothing. Then the other process does the same.
//! Finally the calling process confirms that it has received the answer.

use std::fmt::Display;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use demeanor::DigestHasher;
use serde::{Deserialize, Serialize};

use super::deadline::Deadline;
use super::secret::{PROOF, Secret};
use crate::error::WorldError;

const MAGIC: &[u8; 8] = b"demeanor";
const NONCE: usize = 32;
/// The longest greeting of a process. With nonce and proof it has less than 4 kB, so a stranger can make this process read only
/// that much.
const LONGEST: usize = 4000;
/// The longest value that is sent whole. A longer value is sent as its beginning and its digest.
const LONGEST_VALUE: usize = 200;
/// The caller's confirmation that it has received the answer. If it has stopped waiting before, the connection does not count.
const HEARD: u8 = b'+';
const CALLER: &[u8] = b"c";
const CALLED: &[u8] = b"d";

/// The settings of a process: names and values, which must be the same in all processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Settings(pub(crate) Vec<(String, String)>);

impl Settings {
    pub(crate) fn add(&mut self, name: &str, value: &(impl Display + ?Sized)) {
        self.0.push((name.to_owned(), shortened(value.to_string())));
    }

    /// Compares the settings of another process with these.
    pub(crate) fn compare(&self, process: usize, there: &Self) -> Result<(), WorldError> {
        let find = |settings: &Self, name: &str| {
            let found = settings.0.iter().find(|(other, _)| other == name);
            found.map_or_else(|| "not known".to_owned(), |(_, value)| value.clone())
        };
        let mut names: Vec<&str> = self.0.iter().chain(&there.0).map(|(name, _)| name.as_str()).collect();
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(*name));
        let all = names.into_iter().map(|name| [name.to_owned(), find(there, name), find(self, name)]);
        let settings: Vec<_> = all.filter(|[_, there, here]| there != here).collect();
        if settings.is_empty() { Ok(()) } else { Err(WorldError::Differs { process, settings }) }
    }
}

/// Shortens a value. A program's values can have any length, such as a list of all state names.
fn shortened(value: String) -> String {
    use std::hash::Hasher;
    if value.len() <= LONGEST_VALUE {
        return value;
    }
    let mut hasher = DigestHasher::new();
    hasher.write(value.as_bytes());
    let begin: String = value.chars().take(LONGEST_VALUE / 2).collect();
    format!("{begin}.. (digest {:016x})", hasher.finish())
}

/// The greeting of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) process: usize,
    pub(crate) settings: Settings,
}

/// Greets other processes.
#[derive(Debug)]
pub(crate) struct Greeter {
    /// The greeting of this process, as text.
    text: Vec<u8>,
    secret: Secret,
    /// How long a greeting may take.
    time: Duration,
}

impl Greeter {
    /// The usual time limit of a greeting.
    pub(crate) const TIME: Duration = Duration::from_secs(2);

    pub(crate) fn new(hello: &Hello, secret: Secret, time: Duration) -> Result<Self, WorldError> {
        let text = serde_json::to_vec(hello).map_err(|error| WorldError::Setup(error.to_string()))?;
        if text.len() > LONGEST {
            let text =
                format!("the settings of this process take {} bytes; at most {LONGEST} are compared", text.len());
            return Err(WorldError::Setup(text));
        }
        Ok(Self { text, secret, time })
    }

    /// Greets a process that this process has called.
    pub(crate) fn call(&self, stream: &TcpStream) -> io::Result<Hello> {
        self.in_time(stream, |stream| self.call_on(stream))
    }

    /// Answers the greeting of a caller. `know` is called as soon as the caller has proved that it knows the secret; if `know`
    /// returns `false`, the greeting ends.
    pub(crate) fn answer(&self, stream: &TcpStream, know: impl FnOnce() -> bool) -> io::Result<Hello> {
        self.in_time(stream, |stream| self.answer_on(stream, know))
    }

    fn in_time<R>(
        &self,
        stream: &TcpStream,
        greet: impl FnOnce(&mut Deadline<&TcpStream, fn() -> Instant>) -> io::Result<R>,
    ) -> io::Result<R> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        let result = greet(&mut Deadline::new(stream, self.time, Instant::now))?;
        stream.set_read_timeout(None)?;
        stream.set_write_timeout(None)?;
        Ok(result)
    }

    pub(super) fn call_on(&self, stream: &mut (impl Read + Write)) -> io::Result<Hello> {
        let [ours, theirs] = exchange_nonces(stream)?;
        self.say(stream, &[CALLER, &ours, &theirs])?;
        let hello = self.hear(stream, &[CALLED, &ours, &theirs])?;
        stream.write_all(&[HEARD])?;
        Ok(hello)
    }

    pub(super) fn answer_on(&self, stream: &mut (impl Read + Write), know: impl FnOnce() -> bool) -> io::Result<Hello> {
        let [ours, theirs] = exchange_nonces(stream)?;
        let hello = self.hear(stream, &[CALLER, &theirs, &ours])?;
        if !know() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        self.say(stream, &[CALLED, &theirs, &ours])?;
        let mut heard = [0];
        stream.read_exact(&mut heard)?;
        if heard == [HEARD] { Ok(hello) } else { Err(stranger("it does not end its greeting as a process does")) }
    }

    fn say(&self, to: &mut impl Write, begin: &[&[u8]; 3]) -> io::Result<()> {
        let length = u32::try_from(self.text.len()).unwrap_or(u32::MAX).to_le_bytes();
        let proof = self.secret.prove(&[begin[0], begin[1], begin[2], &self.text]);
        to.write_all(&[&length[..], &self.text, &proof].concat())
    }

    fn hear(&self, from: &mut impl Read, begin: &[&[u8]; 3]) -> io::Result<Hello> {
        let (mut length, mut proof) = ([0; 4], [0; PROOF]);
        from.read_exact(&mut length)?;
        let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        if length > LONGEST {
            return Err(stranger("its greeting is too long"));
        }
        let mut text = vec![0; length];
        from.read_exact(&mut text)?;
        from.read_exact(&mut proof)?;
        if !self.secret.accepts(&proof, &[begin[0], begin[1], begin[2], &text]) {
            return Err(stranger("it does not know the secret"));
        }
        Ok(serde_json::from_slice(&text)?)
    }
}

/// Sends a nonce, and receives one. Returns this process's nonce and the other's.
fn exchange_nonces(stream: &mut (impl Read + Write)) -> io::Result<[[u8; NONCE]; 2]> {
    let (mut ours, mut magic, mut theirs) = ([0; NONCE], [0; MAGIC.len()], [0; NONCE]);
    getrandom::fill(&mut ours)?;
    stream.write_all(&[&MAGIC[..], &ours].concat())?;
    stream.read_exact(&mut magic)?;
    if magic != *MAGIC {
        return Err(stranger("it is no process of a world"));
    }
    stream.read_exact(&mut theirs)?;
    Ok([ours, theirs])
}

fn stranger(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text.to_owned())
}
