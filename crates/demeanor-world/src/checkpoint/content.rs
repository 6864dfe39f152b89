//! What is in a part of a checkpoint.

use std::hash::Hasher;
use std::io::{self, Read, Write};

use demeanor::{DigestHasher, SavedBatch};
use serde::{Deserialize, Serialize};

use crate::citizen::Citizen;
use crate::mail::Mail;
use crate::parcel::Packed;

/// What a part begins with.
pub(super) const MAGIC: &[u8; 8] = b"demeanor";
/// The version of parts and manifests that this crate writes.
pub(super) const VERSION: u32 = 1;

/// All that one worker holds after a tick, as it is read.
#[derive(Deserialize)]
#[serde(bound = "")]
pub(crate) struct Content<T: Citizen> {
    pub(crate) citizens: Packed<T>,
    pub(crate) newborn: Packed<T>,
    pub(crate) mail: Vec<Mail<T::Message>>,
    /// Sender and receiver of the mail that was written to nobody.
    pub(crate) returned: Vec<(u64, u64)>,
}

/// The same, as it is written.
#[derive(Serialize)]
#[serde(bound = "")]
pub(crate) struct ContentRef<'a, T: Citizen> {
    /// As [`Packed`], without a copy of each citizen.
    pub(crate) citizens: (f64, SavedBatch<&'a T>),
    pub(crate) newborn: Packed<T>,
    pub(crate) mail: &'a [Mail<T::Message>],
    pub(crate) returned: Vec<(u64, u64)>,
}

/// A part, as the manifest names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// The name of the file, beside the manifest.
    pub(crate) file: String,
    pub(crate) bytes: u64,
    /// The digest of the bytes.
    pub(crate) digest: u64,
    pub(crate) citizens: u64,
}

/// Counts and digests what goes through it.
pub(super) struct Summed<I> {
    inner: I,
    pub(super) bytes: u64,
    hasher: DigestHasher,
    /// Why nothing can be written. A format tells no more than that.
    pub(super) error: Option<io::Error>,
}

impl<I> Summed<I> {
    pub(super) fn new(inner: I) -> Self {
        Self { inner, bytes: 0, hasher: DigestHasher::new(), error: None }
    }

    pub(super) fn digest(&self) -> u64 {
        self.hasher.finish()
    }

    fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.hasher.write(bytes);
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match self.inner.write(bytes) {
            Ok(written) => written,
            Err(error) => {
                let kind = error.kind();
                self.error = Some(error).filter(|_| kind != io::ErrorKind::Interrupted);
                return Err(kind.into());
            }
        };
        self.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.add(&bytes[..read]);
        Ok(read)
    }
}
