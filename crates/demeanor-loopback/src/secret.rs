//! Random numbers that cannot be guessed.

use std::io;

/// Returns 128 random bits as text.
///
/// # Errors
///
/// When the operating system has no random numbers.
pub fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|why| io::Error::other(why.to_string()))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
