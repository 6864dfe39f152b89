//! The default name of a state, which is made from the name of its type.

use alloc::borrow::Cow;
use alloc::string::String;

/// Returns the name of a type without paths: `GoTo<Cover>` for `enemy::GoTo<level::Cover>`. A path may lead through a closure or
/// method: `<Enemy as Owner>::now::{{closure}}::Idle`.
pub(crate) fn short_name(full: &str) -> Cow<'_, str> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '{' | '}');
    let plain = full.rsplit("::").next().unwrap_or(full);
    if full.chars().all(|c| is_word(c) || c == ':') {
        return Cow::Borrowed(plain);
    }
    let mut short = String::with_capacity(full.len());
    let mut rest = full.chars().peekable();
    while let Some(c) = rest.next() {
        if c == ':' && rest.peek() == Some(&':') {
            rest.next();
            // Angle brackets that are closed before this `::` are part of the path.
            let mut open = 0;
            let start = short.rfind(|c| {
                open += match c {
                    '>' => 1,
                    '<' => -1,
                    _ => 0,
                };
                open < 0 || open == 0 && c != '<' && !is_word(c)
            });
            short.truncate(start.map_or(0, |before| before + 1));
        } else {
            short.push(c);
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
        assert_eq!(short_name("a::main::{{closure}}::Idle"), "Idle");
        assert_eq!(short_name("a::GoTo<b::main::{{closure}}::Cover>"), "GoTo<Cover>");
        assert_eq!(short_name("<a::GoTo<b::C> as d::State<e::F>>::enter::Idle"), "Idle");
        assert_eq!(short_name("a::Both<<b::C as d::E>::f::G, h::I<j::K>::l::M>"), "Both<G, M>");
    }
}
