//! The frames that a connection consists of: each has a kind, a length, and as many bytes.

use std::io::{self, Read, Write};

use crate::error::WorldError;

/// Data of timely.
pub(super) const DATA: u8 = 1;
/// The error with which the process ends.
pub(super) const ERROR: u8 = 2;
/// The process has finished its part of the world.
pub(super) const END: u8 = 3;
/// The process is still running.
pub(super) const ALIVE: u8 = 4;

const HEAD: usize = 5;
/// The limit of a short frame, which is written together with its head. A longer frame is written after its head. No error is
/// longer.
pub(super) const SHORT: usize = 1 << 16;
/// The limit of all frames: longer data of timely is divided into several frames.
pub(super) const LONGEST: usize = 1 << 24;

pub(super) fn write(to: &mut impl Write, kind: u8, bytes: &[u8]) -> io::Result<()> {
    let mut head = [kind, 0, 0, 0, 0];
    let length =
        u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= LONGEST).ok_or(io::ErrorKind::InvalidInput)?;
    head[1..].copy_from_slice(&length.to_le_bytes());
    if bytes.len() > SHORT {
        to.write_all(&head)?;
        return to.write_all(bytes);
    }
    let mut frame = Vec::with_capacity(HEAD + bytes.len());
    frame.extend(head);
    frame.extend(bytes);
    to.write_all(&frame)
}

/// Reads the kind and the length of the next frame.
pub(super) fn read_head(from: &mut impl Read) -> io::Result<(u8, usize)> {
    let mut head = [0; HEAD];
    from.read_exact(&mut head)?;
    let (kind, length) = (head[0], u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize);
    let longest = match kind {
        DATA => LONGEST,
        ERROR => SHORT,
        END | ALIVE => 0,
        _ => return Err(damaged(format!("there are no frames of kind {kind}"))),
    };
    if length > longest {
        return Err(damaged(format!("a frame of kind {kind} has {length} bytes; at most {longest} are sent")));
    }
    Ok((kind, length))
}

fn damaged(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// Writes why `process` ends: with its own error, or with the error that another process has sent to it.
pub(super) fn write_error(to: &mut impl Write, process: usize, error: &WorldError) -> io::Result<()> {
    let (process, text) = match error {
        WorldError::Elsewhere { process, text } => (*process, text.clone()),
        error => (process, error.to_string()),
    };
    let mut bytes = (process as u64).to_le_bytes().to_vec();
    bytes.extend(text.as_bytes());
    bytes.truncate(SHORT);
    write(to, ERROR, &bytes)
}

/// Reads the error that a process has sent.
pub(super) fn read_error(from: &mut impl Read, length: usize, sender: usize) -> io::Result<WorldError> {
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    let (process, text) = bytes.split_at(bytes.len().min(8));
    let process = process.try_into().ok().map(u64::from_le_bytes);
    let process = process.and_then(|process| usize::try_from(process).ok()).unwrap_or(sender);
    Ok(WorldError::Elsewhere { process, text: String::from_utf8_lossy(text).into_owned() })
}
