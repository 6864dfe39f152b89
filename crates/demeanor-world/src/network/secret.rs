//! The secret that the processes of a world share, and the proof that a process knows it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::{env, fmt};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The length of a proof.
pub(super) const PROOF: usize = 32;
/// More bytes than any secret needs.
const LONGEST: u64 = 4096;
/// The environment variable in which a launcher passes the secret to its processes. Other users cannot read it there; arguments
/// are visible to them.
pub(crate) const VARIABLE: &str = "DEMEANOR_WORLD_SECRET";

/// A secret, which is never sent and never shown.
#[derive(Clone)]
pub(crate) struct Secret(Vec<u8>);

impl Secret {
    /// The secret of processes without a secret. Every program knows it.
    pub(crate) fn none() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads a secret from a file: all bytes, without a line break at the end.
    pub(crate) fn read(file: &Path) -> io::Result<Self> {
        let mut bytes = Vec::new();
        File::open(file)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LONGEST {
            return Err(io::Error::other(format!("the file has more than {LONGEST} bytes")));
        }
        let secret = bytes.strip_suffix(b"\n").map_or(&*bytes, |line| line.strip_suffix(b"\r").unwrap_or(line));
        if secret.is_empty() {
            return Err(io::Error::other("the file is empty"));
        }
        Ok(Self(secret.to_vec()))
    }

    /// Creates a secret for the processes of a launcher. Also returns its text for [`VARIABLE`].
    pub(crate) fn random() -> io::Result<(Self, String)> {
        let text = format!("{:016x}{:016x}", getrandom::u64()?, getrandom::u64()?);
        Ok((Self(text.clone().into_bytes()), text))
    }

    /// Returns the secret of the launcher that has started this process.
    pub(crate) fn of_launcher() -> Option<Self> {
        env::var(VARIABLE).ok().filter(|text| !text.is_empty()).map(|text| Self(text.into_bytes()))
    }

    /// Returns the proof that its sender knows the secret and has sent this. All parts except the last have a fixed length.
    pub(super) fn prove(&self, said: &[&[u8]]) -> [u8; PROOF] {
        self.sum(said).finalize().into_bytes().into()
    }

    /// Returns whether a proof is right. The comparison takes constant time, so that its duration reveals nothing about the
    /// right proof.
    pub(super) fn accepts(&self, proof: &[u8; PROOF], said: &[&[u8]]) -> bool {
        self.sum(said).verify_slice(proof).is_ok()
    }

    fn sum(&self, said: &[&[u8]]) -> Hmac<Sha256> {
        let Ok(mut sum) = Hmac::new_from_slice(&self.0) else { unreachable!("an HMAC takes a key of any length") };
        for part in said {
            sum.update(part);
        }
        sum
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_none() { "no secret" } else { "a secret" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<u8>, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        std::fs::write(&file, bytes).unwrap();
        Secret::read(&file).map(|secret| secret.0).map_err(|error| error.to_string())
    }

    #[test]
    fn a_secret_is_the_content_of_a_file_without_one_line_break_at_the_end() {
        assert_eq!(read(b"open sesame").unwrap(), b"open sesame");
        assert_eq!(read(b" open\nsesame\n").unwrap(), b" open\nsesame");
        assert_eq!(read(b"open sesame\n\n").unwrap(), b"open sesame\n");
        assert_eq!(read(b"open sesame\r\n").unwrap(), b"open sesame");
        assert_eq!(read(b"\xff\0").unwrap(), b"\xff\0");
        assert_eq!(read(&[b'x'; 4096]).unwrap(), [b'x'; 4096]);
        assert_eq!(read(b"").unwrap_err(), "the file is empty");
        assert_eq!(read(b"\n").unwrap_err(), "the file is empty");
        assert_eq!(read(&[b'x'; 4097]).unwrap_err(), "the file has more than 4096 bytes");
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(format!("{:?} {:?}", Secret(b"open sesame".to_vec()), Secret::none()), "a secret no secret");
    }

    #[test]
    fn a_proof_counts_only_for_its_secret_and_for_what_was_said() {
        let (ours, other) = (Secret(b"open sesame".to_vec()), Secret(b"open barley".to_vec()));
        let proof = ours.prove(&[b"a", b"hello"]);
        assert!(ours.accepts(&proof, &[b"a", b"hello"]));
        assert!(!ours.accepts(&proof, &[b"a", b"hallo"]));
        assert!(!other.accepts(&proof, &[b"a", b"hello"]));
        assert!(!Secret::none().accepts(&proof, &[b"a", b"hello"]));
        assert!(!ours.accepts(&[0; PROOF], &[b"a", b"hello"]));
    }
}
