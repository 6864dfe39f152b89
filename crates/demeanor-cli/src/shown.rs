//! Names as a terminal shows them: they come from files, and may do anything to it, or fill it.

/// The most bytes of a list of names.
const LONGEST_LIST: usize = 2_000;

/// A text in one line, with control characters as escapes.
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

/// Names in a row; of many, the first, and how many more there are.
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
        (0, _) => list,
        (left, true) => format!("{left} with long names"),
        (left, false) => format!("{list} and {left} more"),
    }
}

/// Whether a character is not shown, but does something, or turns the order of what is around it.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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
        assert_eq!(listed([""; 0]), "");
        assert_eq!(listed(["x".repeat(3000)]), "1 with long names");
        let many: Vec<_> = (0..1000).map(|i| format!("name {i}")).collect();
        let list = listed(&many);
        assert!(list.len() < 2_100 && list.ends_with("name 209, name 210 and 789 more"), "{list}");
    }
}
