//! Texts that come from files and from games, as they can be shown: they may hold what moves a cursor, or turns the text around.

use std::borrow::Cow;

/// Whether a character is not shown, but does something, or turns the order of what is around it.
pub(crate) fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text as it can be shown in one line: control characters as escapes, and no more than so many characters.
pub(crate) fn shown(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most && !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == most {
            shown.push('…');
            break;
        }
        if is_control(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn what_is_shown_is_escaped_and_cut_off() {
        assert_eq!(shown("run to cover", 20), "run to cover");
        assert_eq!(shown("a\u{1b}[2Jb\nc\u{202e}", 20), "a\\u{1b}[2Jb\\nc\\u{202e}");
        assert_eq!(shown("ääääääää", 4), "ääää…");
        assert_eq!(shown("ääää", 4), "ääää");
    }
}
