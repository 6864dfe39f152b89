//! What two processes say when they meet: who they are, how they were started, and a proof that they know the same secret.
//!
//! Both begin with a nonce, a number that is used only once. Then the process that calls says who it is, with a proof that depends
//! on both nonces, so that what was said on another connection proves nothing. Then the other process does the same. The last
//! word is that of the process that calls: that it has heard the answer.

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
/// A process says no more than this. With nonce and proof these are less than 4 kB, which a stranger may make this process read.
const LONGEST: usize = 4000;
/// A longer value is not said, but only its beginning and its digest.
const LONGEST_VALUE: usize = 200;
/// What a caller says when it has heard the answer. If it has stopped waiting before, the connection does not count.
const HEARD: u8 = b'+';
const CALLER: &[u8] = b"c";
const CALLED: &[u8] = b"d";

/// How a process was started: names and values, which have to be the same in all processes.
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

/// Values are as long as a program likes, such as the names of all its states.
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

/// What a process says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) process: usize,
    pub(crate) settings: Settings,
}

/// Greets other processes.
#[derive(Debug)]
pub(crate) struct Greeter {
    /// What this process says.
    text: Vec<u8>,
    secret: Secret,
    /// How long a greeting may take.
    time: Duration,
}

impl Greeter {
    /// How long a greeting may take as a rule.
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

    /// Greets a process that this one has called.
    pub(crate) fn call(&self, stream: &TcpStream) -> io::Result<Hello> {
        self.in_time(stream, |stream| self.call_on(stream))
    }

    /// Answers the greeting of a process that has called. `know` is called as soon as it has shown that it knows the secret; if
    /// that returns `false`, the greeting ends.
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

/// Says a nonce, and hears one. Returns this process's and the other's.
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
