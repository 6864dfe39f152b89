//! What two processes say when they meet: who they are, and how they were started.

use std::fmt::Display;
use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use crate::error::WorldError;

const MAGIC: &[u8; 8] = b"demeanor";
/// More than any process says; a stranger may say anything.
const LONGEST: u32 = 1 << 20;

/// How a process was started: names and values, which have to be the same in all processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Settings(pub(crate) Vec<(String, String)>);

impl Settings {
    pub(crate) fn add(&mut self, name: &str, value: &(impl Display + ?Sized)) {
        self.0.push((name.to_owned(), format!("{value}")));
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

/// The first thing that is said on a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) process: usize,
    pub(crate) settings: Settings,
}

impl Hello {
    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let text = serde_json::to_vec(self)?;
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let mut bytes = MAGIC.to_vec();
        bytes.extend(length.to_le_bytes());
        bytes.extend(text);
        to.write_all(&bytes)
    }

    pub(crate) fn read(from: &mut impl Read) -> io::Result<Self> {
        let stranger = |text: &str| io::Error::new(io::ErrorKind::InvalidData, text.to_owned());
        let mut head = [0; 12];
        from.read_exact(&mut head)?;
        let (magic, length) = head.split_at(8);
        let length = u32::from_le_bytes(length.try_into().unwrap_or_default());
        if magic != MAGIC || length > LONGEST {
            return Err(stranger("this is not a process of a world"));
        }
        let mut text = vec![0; length as usize];
        from.read_exact(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }
}
