//! Makes names safe for a terminal: names from files can contain control characters, and can be very long.

/// The longest list of names, in bytes.
const LONGEST_LIST: usize = 2_000;

/// Returns a text in one line, with escapes for control characters.
pub(crate) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_control(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Returns names as a list: `none` for no names. A long list ends with the number of the remaining names.
pub(crate) fn listed<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> String {
    let (mut list, mut left) = (String::new(), 0);
    for name in names {
        let name = name.as_ref();
        if left > 0 || list.len() + name.len() > LONGEST_LIST {
            left += 1;
            continue;
        }
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push_str(&escaped(name));
    }
    match (left, list.is_empty()) {
        (0, true) => "none".to_owned(),
        (0, false) => list,
        (left, true) => format!("{left} with long names"),
        (left, false) => format!("{list} and {left} more"),
    }
}

/// Returns whether a character is invisible and controls the terminal, changes the direction of text, or is not allowed in XML.
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::{escaped, listed};

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(escaped("run to 'cover'"), "run to 'cover'");
        assert_eq!(escaped("a\u{1b}[2J\r\nb\u{202e}"), "a\\u{1b}[2J\\r\\nb\\u{202e}");
    }

    #[test]
    fn of_many_names_some_are_listed() {
        assert_eq!(listed(["a", "b\n"]), "a, b\\n");
        assert_eq!(listed([""; 0]), "none");
        assert_eq!(listed(["x".repeat(3000)]), "1 with long names");
        let many: Vec<_> = (0..1000).map(|i| format!("name {i}")).collect();
        let list = listed(&many);
        assert!(list.len() < 2_100 && list.ends_with("name 209, name 210 and 789 more"), "{list}");
    }
}
