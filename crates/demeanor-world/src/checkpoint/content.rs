//! The content of a part of a checkpoint.

use std::hash::Hasher;
use std::io::{self, Read, Write};

use demeanor::{DigestHasher, SavedBatch};
use serde::{Deserialize, Serialize};

use crate::citizen::Citizen;
use crate::mail::Mail;
use crate::parcel::Packed;

/// The first bytes of each part.
pub(super) const MAGIC: &[u8; 8] = b"demeanor";
/// The version of parts and manifests that this crate writes. Manifests of version 1 had no digest.
pub(super) const VERSION: u32 = 2;

/// The whole state of one worker after a tick, as it is read.
#[derive(Deserialize)]
#[serde(bound = "")]
pub(crate) struct Content<T: Citizen> {
    pub(crate) citizens: Packed<T>,
    pub(crate) newborn: Packed<T>,
    pub(crate) mail: Vec<Mail<T::Message>>,
    /// Sender and receiver of each letter whose receiver does not exist.
    pub(crate) returned: Vec<(u64, u64)>,
}

/// The whole state of one worker after a tick, as it is written.
#[derive(Serialize)]
#[serde(bound = "")]
pub(crate) struct ContentRef<'a, T: Citizen> {
    /// Like [`Packed`], without a copy of each citizen.
    pub(crate) citizens: (f64, SavedBatch<&'a T>),
    pub(crate) newborn: Packed<T>,
    pub(crate) mail: &'a [Mail<T::Message>],
    pub(crate) returned: Vec<(u64, u64)>,
}

/// Returns the digest of bytes.
pub(super) fn digest_of(bytes: &[u8]) -> u64 {
    let mut hasher = DigestHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// A reader or writer that counts and digests the bytes that pass through it.
pub(super) struct Summed<I> {
    inner: I,
    pub(super) bytes: u64,
    hasher: DigestHasher,
    /// The last error of the operating system: the serialization format only reports that there was an error.
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

    /// Stores the error of a result, and returns an error of the same kind.
    fn keep<R>(&mut self, result: io::Result<R>) -> io::Result<R> {
        result.map_err(|error| {
            let kind = error.kind();
            self.error = Some(error);
            kind.into()
        })
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // This writes all bytes or fails, so that the `write_all` of the caller fails only with this error.
        let written = self.inner.write_all(bytes);
        self.keep(written)?;
        self.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.keep(flushed)
    }
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.add(&bytes[..read]);
        Ok(read)
    }
}
