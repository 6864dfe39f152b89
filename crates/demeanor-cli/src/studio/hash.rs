//! The version of a text: by it, the page says which text its edit began with.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Returns a short text that is the same for the same content. Two different texts of one file have the same one only by a chance of
/// 1 to 2⁶⁴.
pub(super) fn hash(content: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
