//! Files of another kind altogether, and files that a version control system has left halfway.

use std::ops::Range;

use crate::format::problems::mistake::{Mistake, Origin};

/// What is said of a text of another format.
pub(super) fn other_format(text: &str) -> Option<Mistake> {
    let first = text.find(|c: char| !c.is_whitespace() && c != '\u{feff}')?;
    let line = text[first..].lines().next()?.trim_end();
    let format = if line.starts_with('{') || line.starts_with("[{") || line == "[" {
        "JSON"
    } else if line.starts_with("<?xml") || line.starts_with("<!") || line.starts_with('<') && line.ends_with('>') {
        "XML"
    } else if line.starts_with('(') || line.starts_with("#![") {
        "RON"
    } else if is_yaml(text) {
        "YAML"
    } else {
        return None;
    };
    let at = first..first + line.len();
    Some(
        Mistake::error("syntax", at, format!("this is {format}: a definition is written in TOML"))
            .label("the first line")
            .help("begin with `initial = \"idle\"`, and write a state as `[states.idle]`")
            .origin(Origin::Unread),
    )
}

/// Whether the lines are keys of YAML, `initial: idle`, and none is a key of TOML.
fn is_yaml(text: &str) -> bool {
    let mut keys = 0;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).take(20) {
        let line = line.trim_start_matches("- ");
        let key = line.find(|c: char| !(c.is_alphanumeric() || "_-\"'".contains(c))).unwrap_or(line.len());
        match line[key..].trim_start().chars().next() {
            Some('=') => return false,
            _ if line.starts_with('[') => return false,
            Some(':') if key > 0 => keys += 1,
            _ => {}
        }
    }
    keys > 1
}

/// The versions of lines that a merge has left.
#[derive(Default)]
pub(super) struct Conflicts {
    /// The first of them.
    pub(super) listed: Vec<Conflict>,
    /// How many more there are.
    pub(super) more: usize,
    /// What is left out for one version of each to remain.
    pub(super) left_out: Vec<Range<usize>>,
}

/// Two versions of some lines.
pub(super) struct Conflict {
    begin: Range<usize>,
    end: Range<usize>,
}

impl Conflict {
    pub(super) fn mistake(&self) -> Mistake {
        let second = (self.begin != self.end).then(|| self.end.clone());
        Mistake::error("merge", self.begin.clone(), "two versions of this part have not been merged")
            .label("a mark of the version control")
            .second(second, "up to here")
            .help("keep one of them, and remove the lines with `<<<<<<<`, `=======` and `>>>>>>>`")
            .origin(Origin::Unread)
    }
}

impl Conflicts {
    /// Finds the marks of a merge.
    pub(super) fn of(text: &str) -> Self {
        let mut found = Self::default();
        // Where the conflict begins, and where its second version does.
        let mut open: Option<(Range<usize>, Option<usize>)> = None;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let whole = at..at + line.trim_end().len();
            let is_mark = |mark: &str| {
                line.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\n', '\r']))
            };
            if is_mark("<<<<<<<") {
                if let Some((begin, second)) = open.replace((whole.clone(), None)) {
                    found.note_without_end(text, begin, second);
                }
            } else if is_mark("=======") || is_mark("|||||||") {
                let (_, second) = open.get_or_insert((whole.clone(), None));
                second.get_or_insert(at);
            } else if is_mark(">>>>>>>") {
                let (begin, second) = open.take().unwrap_or((whole.clone(), None));
                found.leave_out(begin.clone());
                found.leave_out(second.unwrap_or(whole.start)..whole.end);
                found.note(begin, whole.clone());
            }
            at += line.len();
        }
        if let Some((begin, second)) = open {
            found.note_without_end(text, begin, second);
        }
        found
    }

    fn note(&mut self, begin: Range<usize>, end: Range<usize>) {
        const MOST: usize = 300;
        if self.listed.len() < MOST {
            self.listed.push(Conflict { begin, end });
        } else {
            self.more += 1;
        }
    }

    fn note_without_end(&mut self, text: &str, begin: Range<usize>, second: Option<usize>) {
        self.leave_out(begin.clone());
        if let Some(second) = second {
            self.leave_out(line_at(text, second));
        }
        self.note(begin.clone(), begin);
    }

    /// Parts come in the order of the text. Parts of consecutive lines become one.
    fn leave_out(&mut self, part: Range<usize>) {
        match self.left_out.last_mut() {
            Some(last) if last.end + 1 >= part.start => last.end = last.end.max(part.end),
            _ => self.left_out.push(part),
        }
    }
}

fn line_at(text: &str, start: usize) -> Range<usize> {
    start..text[start..].find('\n').map_or(text.len(), |end| start + end)
}
