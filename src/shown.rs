//! Makes texts from files and from games safe to display. Such texts may contain characters that move the cursor or reverse the
//! direction of the text.

use std::borrow::Cow;

/// Returns whether a character is a control character, ends a line or paragraph, changes the direction of the text around it, or
/// is not allowed in XML.
pub(crate) fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
}

/// Returns a text for display in one line. The characters for which [`is_control`] is true are escaped. Only the first `most`
/// characters of the text are kept; `…` stands for the rest.
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

/// Returns a text with the first `most` of some names, and with the number of the others.
pub(crate) fn listed(names: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let text = names.take(most).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{text} and {more} more") } else { text }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn what_is_shown_is_escaped_and_cut_off() {
        assert_eq!(shown("run to cover", 20), "run to cover");
        assert_eq!(shown("a\u{1b}[2Jb\nc\u{202e}\u{ffff}", 20), "a\\u{1b}[2Jb\\nc\\u{202e}\\u{ffff}");
        assert_eq!(shown("ääääääää", 4), "ääää…");
        assert_eq!(shown("ääää", 4), "ääää");
    }
}
