//! The default name of a state, which is made from the name of its type.

use alloc::borrow::Cow;
use alloc::string::String;

/// Returns the name of a type without paths: `GoTo<Cover>` for `enemy::GoTo<level::Cover>`.
pub(crate) fn short_name(full: &str) -> Cow<'_, str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let plain = full.rsplit("::").next().unwrap_or(full);
    if full.chars().all(|c| is_word(c) || c == ':') {
        return Cow::Borrowed(plain);
    }
    let mut short = String::with_capacity(full.len());
    let mut word_start = 0;
    let mut rest = full.chars().peekable();
    while let Some(c) = rest.next() {
        if c == ':' && rest.peek() == Some(&':') {
            rest.next();
            short.truncate(word_start);
        } else {
            short.push(c);
            if !is_word(c) {
                word_start = short.len();
            }
        }
    }
    Cow::Owned(short)
}

#[cfg(test)]
mod tests {
    use super::short_name;

    #[test]
    fn a_short_name_has_no_paths() {
        assert_eq!(short_name("Idle"), "Idle");
        assert_eq!(short_name("game::enemy::Idle"), "Idle");
        assert_eq!(short_name("game::GoTo<game::level::Cover>"), "GoTo<Cover>");
        assert_eq!(short_name("a::Both<b::C, (d::E, [f::G; 3])>"), "Both<C, (E, [G; 3])>");
        assert_eq!(short_name("a::main::{{closure}}"), "{{closure}}");
    }
}
