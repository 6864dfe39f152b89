//! The program's identity, so that two different builds do not run one world together.

use std::env;
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read};

/// Returns the digest of this process's executable file, or the reason why it cannot be read.
pub(crate) fn digest() -> String {
    digest_of_file().map_or_else(|error| format!("unknown ({error})"), |digest| format!("{digest:016x}"))
}

fn digest_of_file() -> io::Result<u64> {
    // On Linux, this name leads to the running executable even if a newer build has replaced the file.
    let mut file = File::open("/proc/self/exe").or_else(|_| File::open(env::current_exe()?))?;
    let mut hasher = rustc_hash::FxHasher::default();
    let mut piece = Vec::with_capacity(1 << 20);
    while (&mut file).take(1 << 20).read_to_end(&mut piece)? > 0 {
        hasher.write(&piece);
        piece.clear();
    }
    Ok(hasher.finish())
}
