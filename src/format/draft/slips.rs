//! Explains mistakes in statements that are not TOML, in the words of the format, and suggests what to write instead.

use std::ops::Range;

use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use super::duration;
use super::keys::{is_bare, quoted};
use super::statements::HeaderLine;
use crate::format::problems::{Mistake, Origin};
use crate::format::source::boundary;

/// A slip in a statement: the mistake, with positions in the statement, and the part that cannot be read because of it.
pub(super) struct Slip {
    pub(super) mistake: Mistake,
    pub(super) unread: Range<usize>,
}

/// Returns the slip in a statement. `why` and `at` are the text and the place of the first parser error.
pub(super) fn slip(statement: &str, why: &str, at: Range<usize>) -> Slip {
    let at = boundary(statement, at.start)..boundary(statement, at.end);
    let whole = 0..statement.len();
    if let Some((comment, line)) = comment(statement, at.start) {
        let end = comment.start + statement[comment.start..].find('\n').unwrap_or(statement.len() - comment.start);
        let behind = statement[comment.end..end].trim().trim_end_matches("*/").trim_end();
        let mistake = syntax(comment.clone(), "a comment begins with `#`").help(format!("write `# {behind}`"));
        return Slip { mistake, unread: if line.start == comment.start { comment.start..end } else { whole } };
    }
    let found = HeaderLine::of(statement.trim_start())
        .and_then(|header| in_header(statement, &header))
        .or_else(|| curly(statement))
        .or_else(|| value(statement, &at))
        .or_else(|| brackets(statement))
        .unwrap_or_else(|| in_words(statement, why, at));
    Slip { mistake: found.origin(Origin::Unread), unread: whole }
}

fn syntax(at: Range<usize>, message: impl Into<String>) -> Mistake {
    Mistake::error("syntax", at, message).origin(Origin::Unread)
}

/// Returns the range of the line that contains a byte.
fn line_around(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    start..end
}

/// Returns the comment sign of another language in the line of a byte: at the beginning of the line, or after a value. Also
/// returns the rest of the line from the sign on, or the whole line if the sign is after a value.
fn comment(text: &str, at: usize) -> Option<(Range<usize>, Range<usize>)> {
    let around = line_around(text, at);
    let line = &text[around.clone()];
    let indent = line.len() - line.trim_start().len();
    let begin = around.start + indent;
    let sign = ["//", "--", "/*", "<!--", "%", ";"].into_iter().find(|sign| line[indent..].starts_with(sign));
    if let Some(sign) = sign.filter(|_| !line[indent..].starts_with("---")) {
        return Some((begin..begin + sign.len(), begin..around.end));
    }
    // After a value, the parser error is at the sign.
    let found = at + (text[at..].len() - text[at..].trim_start_matches(' ').len());
    let sign = ["//", "--", "/*"].into_iter().find(|sign| text[found..].starts_with(sign))?;
    Some((found..found + sign.len(), around))
}

/// Returns the mistake in a header in which a bracket or a quote is missing, or which has a name with spaces without quotes.
fn in_header(statement: &str, header: &HeaderLine<'_>) -> Option<Mistake> {
    let HeaderLine { line, name, begins, ends } = *header;
    let indent = statement.len() - statement.trim_start().len();
    let whole = indent..indent + line.len();
    let parts: Vec<&str> = name.split('.').map(|part| part.trim().trim_matches(['"', '\''])).collect();
    // If a part is not a bare key, all parts after the words of the format are taken as one name.
    let fixed = match &parts[..] {
        parts if parts.iter().all(|part| is_bare(part)) => parts.join("."),
        ["states", name @ ..] => format!("states.{}", quoted(&name.join("."))),
        ["machines", machine, "states", name @ ..] => {
            format!("machines.{}.states.{}", quoted(machine), quoted(&name.join(".")))
        }
        ["machines", name @ ..] => format!("machines.{}", quoted(&name.join("."))),
        parts => quoted(&parts.join(".")),
    };
    let has_odd_quote = |quote: char| line.matches(quote).count() % 2 == 1;
    let (at, message) = if has_odd_quote('"') || has_odd_quote('\'') {
        (whole, "a quote is missing in the header")
    } else if !begins {
        (whole.start..whole.start, "the header has no `[`")
    } else if !ends {
        (whole.end..whole.end, "the header has no `]`")
    } else if name.contains(' ') && !name.contains(['"', '\'']) {
        (whole, "a name with spaces stands in quotes")
    } else {
        return None;
    };
    Some(syntax(at, message).help(format!("write `[{fixed}]`")))
}

/// Returns the mistake for curly quotes, as a word processor writes them.
fn curly(statement: &str) -> Option<Mistake> {
    const CURLY: [char; 10] = ['“', '”', '„', '‟', '‘', '’', '‚', '«', '»', '″'];
    let lines = statement.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some(*end - line.len()..*end)
    });
    let mut pieces = lines.flat_map(|line| pieces(statement, line));
    let Piece { value, at, .. } = pieces.find(|piece| piece.value.starts_with(CURLY))?;
    let text = value.trim_matches(CURLY).trim_matches(['"', '\'']);
    let mistake = syntax(at, "a text stands in straight quotes").label("curly quotes");
    Some(mistake.help(format!("write `\"{text}\"`")))
}

/// A key and its value in a line.
struct Piece<'s> {
    key: &'s str,
    /// The value without the closing brackets and commas after it.
    value: &'s str,
    /// The range of the value in the statement.
    at: Range<usize>,
}

/// Returns the keys and values in a line of a statement. It guesses, because it does not know where strings end.
fn pieces(statement: &str, around: Range<usize>) -> Vec<Piece<'_>> {
    let line = &statement[around.clone()];
    let is_sign = |c: Option<char>| c.is_some_and(|c| "=<>!~".contains(c));
    // For each key, its range and the start of its value.
    let mut begins: Vec<(Range<usize>, usize)> = Vec::new();
    for (at, _) in line.match_indices('=') {
        if is_sign(line[..at].chars().next_back()) || is_sign(line[at + 1..].chars().next()) {
            continue;
        }
        let before = line[..at].trim_end();
        let start = before.rfind(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)));
        let start = start.map_or(0, |start| start + before[start..].chars().next().map_or(1, char::len_utf8));
        // A key is at the beginning of the line, or after a separator.
        let separates = before[..start].trim_end().chars().next_back().is_none_or(|c| "{,[".contains(c));
        if start < before.len() && separates {
            begins.push((start..before.len(), at + 1));
        }
    }
    let mut pieces = Vec::new();
    for (i, (key, begin)) in begins.iter().enumerate() {
        let end = begins.get(i + 1).map_or(line.len(), |(next, _)| next.start);
        let value = &line[*begin..end];
        let comment = value.find(" #").unwrap_or(value.len());
        let trimmed = value[..comment].trim_end_matches(|c: char| c.is_whitespace() || "{},[]".contains(c));
        let value = trimmed.trim_start();
        let start = around.start + begin + trimmed.len() - value.len();
        pieces.push(Piece { key: &line[key.clone()], value, at: start..start + value.len() });
    }
    pieces
}

/// Returns the mistake in a single value: for example, a missing quote, a unit without quotes, a decimal comma, or a word of
/// another language such as `null`.
fn value(statement: &str, error: &Range<usize>) -> Option<Mistake> {
    let pieces = pieces(statement, line_around(statement, error.start));
    if let Some(mistake) = pieces.iter().find_map(|piece| missing_quote(piece.value, piece.at.clone())) {
        return Some(mistake);
    }
    // In a table, the parser error is behind the comma, or at the end of the line.
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let with_comma = pieces.iter().find_map(|piece| {
        let parts = piece.value.split_once(',').filter(|(whole, part)| is_number(whole) && is_number(part));
        parts.map(|parts| (piece, parts))
    });
    if let Some((piece, (whole, part))) = with_comma {
        let mistake = syntax(piece.at.clone(), "a number has a decimal point, not a comma").label("with a comma");
        return Some(mistake.help(format!("write `{whole}.{part}`")));
    }
    let Piece { key, value, at } = pieces.into_iter().find(|piece| piece.at.end >= error.start)?;
    if value.is_empty() || value.starts_with(['"', '\'', '{', '[']) {
        return None;
    }
    if let Some(number) = value.strip_suffix('%').and_then(|number| number.trim_end().parse::<f64>().ok()) {
        let mistake = syntax(at, "a number has no `%`").label("in percent");
        return Some(mistake.help(format!("write `{}`", number / 100.0)));
    }
    let said = match value.to_lowercase().as_str() {
        "yes" | "on" | "true" => "write `true`".to_owned(),
        "no" | "off" | "false" => "write `false`".to_owned(),
        "none" | "null" | "nil" => format!("remove `{key}`: what is not there is not written"),
        _ if matches!(key, "after" | "every") => match duration::what_is_wrong(value) {
            None => format!("write `\"{value}\"`"),
            Some(help) => help,
        },
        _ => format!("write `\"{value}\"`"),
    };
    // Quotes are advised only for a value that looks like a name, a condition or a duration.
    let is_text = value.contains(char::is_alphabetic)
        && value.chars().all(|c| c.is_alphanumeric() || " _-.<>=!()+*/:&|".contains(c))
        && !value.contains("= ")
        || value.contains('<') && value.contains(' ');
    let is_text = is_text || value.contains("..");
    is_text.then(|| {
        let message = if said.starts_with("write `\"") { "a text stands in quotes" } else { "this is no value" };
        syntax(at, message).help(said)
    })
}

/// Returns the mistake for a text with a quote at only one end, or with two different quotes.
fn missing_quote(value: &str, at: Range<usize>) -> Option<Mistake> {
    let quote = |c: Option<char>| c.filter(|c| matches!(c, '"' | '\''));
    let (first, last) = (quote(value.chars().next()), quote(value.chars().next_back()));
    let is_single = value.len() == 1;
    let (message, label) = match (first, last) {
        (None, None) => return None,
        (Some(first), Some(last)) if first == last && !is_single => return None,
        (Some(_), Some(_)) if !is_single => ("a text ends with the quote that it begins with", "two different quotes"),
        (Some(_), _) => ("a quote is missing behind a text", "has no end"),
        (None, Some(_)) => ("a quote is missing before a text", "has no beginning"),
    };
    let text = value.trim_matches(['"', '\'']);
    // If the text contains more quotes or brackets, the mistake is a different one.
    let is_plain = !text.contains(['"', '\'', '\\', '{', '}', '[', ']']);
    is_plain.then(|| syntax(at, message).label(label).help(format!("write `\"{text}\"`")))
}

/// Returns the mistake for a bracket that is missing or that is one too many.
fn brackets(statement: &str) -> Option<Mistake> {
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut before = '=';
    let mut end_before = 0;
    for (at, c) in significant(statement) {
        match (c, open.last().copied()) {
            ('{', Some((opened, '{'))) if matches!(before, ',' | '}' | '"') => {
                return Some(missing("}", end_before..end_before, opened, '{'));
            }
            ('{' | '[', _) => open.push((at, c)),
            ('}', Some((_, '{'))) | (']', Some((_, '['))) => drop(open.pop()),
            // The list ends while a table in it is still open.
            (']', Some((opened, _))) => return Some(missing("}", at..at, opened, '{')),
            ('}', Some(_)) => {
                let begin = statement[..at].rfind(['{', '[', '\n']).map_or(0, |begin| begin + 1);
                let begin = at - statement[begin..at].trim_start().len();
                let mistake = syntax(begin..at, "a `{` is missing").label("has a `}` behind it");
                return Some(mistake.help("write `{` before it"));
            }
            (']', None) if has_no_list(statement) => {
                let mistake = syntax(value_begin(statement)..at + 1, "a `[` is missing").label("has a `]` behind it");
                return Some(mistake.help("write `[` before it"));
            }
            ('}' | ']', None) => {
                return Some(syntax(at..at + 1, format!("there is one `{c}` too many")).help("remove it"));
            }
            _ => {}
        }
        before = c;
        end_before = at + c.len_utf8();
    }
    let (opened, first) = *open.first()?;
    let missed: String = open.iter().rev().map(|(_, c)| if *c == '{' { '}' } else { ']' }).collect();
    Some(missing(&missed, end_before..end_before, opened, first))
}

/// Returns the start of the value of a statement, after its key. If there is no value, returns the end.
fn value_begin(statement: &str) -> usize {
    let begin = statement.find('=').map_or(statement.len(), |at| at + 1);
    statement.len() - statement[begin..].trim_start().len()
}

/// Whether a statement has a value that is not a list.
fn has_no_list(statement: &str) -> bool {
    let value = &statement[value_begin(statement)..];
    !value.is_empty() && !value.starts_with('[')
}

fn missing(what: &str, at: Range<usize>, opened: usize, with: char) -> Mistake {
    let message = format!("a `{what}` is missing");
    let opens = if with == '{' { "the table begins here" } else { "the list begins here" };
    syntax(at, message).second(Some(opened..opened + 1), opens).help(format!("write `{what}` here"))
}

/// Returns the characters that matter for the structure of a statement, and where they are. A word is represented by its last
/// character, and a string by a `"` at the place of its last character.
fn significant(statement: &str) -> impl Iterator<Item = (usize, char)> {
    Source::new(statement).lex().filter_map(|token| {
        let at = token.span().start()..token.span().end();
        let (last, c) = statement[at.clone()].char_indices().next_back()?;
        match token.kind() {
            TokenKind::Whitespace | TokenKind::Newline | TokenKind::Comment => None,
            _ if token.kind().encoding().is_some() => Some((at.start + last, '"')),
            _ => Some((at.start + last, c)),
        }
    })
}

/// Returns the mistake for a parser error, in words that a designer knows.
pub(super) fn in_words(statement: &str, why: &str, at: Range<usize>) -> Mistake {
    let rest = statement[at.start..].trim_start();
    let before = statement[..at.start].trim_end();
    let key = last_key(before);
    let found = |message: &str, help: String| syntax(at.clone(), message).help(help);
    let header = rest.lines().next().unwrap_or_default().trim_end();
    let header = header.strip_prefix('(').and_then(|header| header.strip_suffix(')'));
    if let Some(header) = header.filter(|header| header.starts_with("states") || header.starts_with("machines")) {
        found("a header stands in square brackets", format!("write `[{header}]`"))
    } else if why.contains("multi-line") {
        found("a text that begins with three quotes ends with three", "write one quote on each side".into())
    } else if rest.starts_with(':') || before.ends_with(':') {
        let key = if key.is_empty() { "key" } else { key };
        found("a key and its value are joined by `=`", format!("write `{key} = ..`"))
    } else if why.starts_with("extra assignment")
        || rest.starts_with("=>")
        || rest.starts_with('>') && before.ends_with('=')
    {
        found("a key and its value are joined by one `=`", "write `=`".into())
    } else if rest.starts_with(';') {
        found("a statement ends where its line ends", "remove the `;`".into())
    } else if why.starts_with("missing comma") && statement[..at.start].ends_with(['"', '\'']) {
        found("a quote within a text ends it", "write one kind of quotes around the text, and the other in it".into())
    } else if why.starts_with("missing comma") {
        found("a comma is missing", "write `,` before this".into())
    } else if why.starts_with("missing assignment") || why.starts_with("key with no value") {
        found("a key and its value are joined by `=`", "write `=` between them".into())
    } else if before.ends_with('=') && (rest.is_empty() || statement[before.len()..at.end].contains('\n')) {
        found(
            "a key has no value",
            format!("write a value behind `{} =`, or remove it", last_key(before.trim_end_matches('=').trim_end())),
        )
    } else if why.contains("unicode") || why.contains("escape") {
        found("`\\` begins an escape in a text", "write `\\\\`, or put the text into single quotes".into())
    } else {
        syntax(at, format!("this is not TOML: {why}"))
    }
}

/// Returns the key at the end of a text.
fn last_key(text: &str) -> &str {
    text.rsplit(|c: char| !(c.is_alphanumeric() || "_-.".contains(c))).next().unwrap_or_default()
}
