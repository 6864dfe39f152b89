//! The list `exits = [..]` of a state. An exit moves with its comments, which are in the lines above it and at the end of its line.

use toml_edit::{Array, Value};

use super::Refused;
use super::keys::{self, EXIT, Style, raw};

/// The widest line, in characters, that a list of several exits may have.
const WIDEST: usize = 120;

/// A list, and the text around its elements.
pub(super) struct List {
    /// What follows `[` in the same line.
    head: String,
    elements: Vec<Element>,
    /// What is before `]`, from the end of the last element's line.
    close: String,
    ends_with_comma: bool,
}

struct Element {
    /// What is before the element, from the end of the previous line.
    lead: String,
    value: Value,
    /// What follows the element and its comma in the same line.
    tail: String,
}

/// Changes a list, and keeps the text around its elements.
pub(super) fn change<R>(array: &mut Array, change: impl FnOnce(&mut List) -> R) -> R {
    let mut list = List::of(array);
    let changed = change(&mut list);
    list.write(array);
    changed
}

/// Sets a key of an exit, or removes it.
pub(super) fn set(array: &mut Array, exit: usize, key: &str, value: Option<&str>, style: Style) -> Result<(), Refused> {
    let exit = array.get_mut(exit).and_then(Value::as_inline_table_mut).ok_or("there is no such exit")?;
    keys::within(exit, |exit| keys::set_in(exit, EXIT, key, value, style))
}

impl List {
    fn of(array: &Array) -> Self {
        let mut list = Self {
            head: String::new(),
            elements: Vec::new(),
            close: String::new(),
            ends_with_comma: array.trailing_comma(),
        };
        for value in array {
            let lead = list.end_line(raw(value.decor().prefix()));
            let tail = raw(value.decor().suffix()).to_owned();
            let mut value = value.clone();
            value.decor_mut().clear();
            list.elements.push(Element { lead, value, tail });
        }
        if !list.ends_with_comma {
            let tail = list.elements.last_mut().map(|last| std::mem::take(&mut last.tail)).unwrap_or_default();
            list.close = list.end_line(&tail);
        }
        let end = list.end_line(raw(Some(array.trailing())));
        list.close.push_str(&end);
        list
    }

    /// Adds the part of a text before the first line break to the line of the last element. Returns the rest.
    fn end_line(&mut self, text: &str) -> String {
        let Some(end) = text.find('\n') else { return text.to_owned() };
        let line = self.elements.last_mut().map_or(&mut self.head, |last| &mut last.tail);
        line.push_str(&text[..end]);
        text[end..].to_owned()
    }

    fn write(&self, array: &mut Array) {
        array.clear();
        let mut before = &self.head;
        for element in &self.elements {
            let mut value = element.value.clone();
            *value.decor_mut() = toml_edit::Decor::new(format!("{before}{}", element.lead), "");
            array.push_formatted(value);
            before = &element.tail;
        }
        let end = format!("{before}{}", self.close);
        array.set_trailing_comma(self.ends_with_comma);
        match array.iter_mut().last() {
            Some(last) if !self.ends_with_comma => last.decor_mut().set_suffix(end),
            _ => return array.set_trailing(end),
        }
        array.set_trailing("");
    }

    fn is_in_one_line(&self) -> bool {
        self.elements.iter().all(|element| !element.lead.contains('\n')) && !self.close.contains('\n')
    }

    /// Puts each element into a line of its own.
    fn break_lines(&mut self) {
        let indented = self.elements.iter().find(|element| element.lead.contains('\n'));
        let indent = indented.map_or("    ", |element| element.lead.rsplit('\n').next().unwrap_or_default()).to_owned();
        for element in self.elements.iter_mut().filter(|element| !element.lead.contains('\n')) {
            element.lead = format!("\n{indent}");
        }
        if !self.close.contains('\n') {
            self.close = "\n".into();
            self.ends_with_comma = true;
        }
    }

    fn has(&self, exit: usize) -> Result<(), Refused> {
        if exit < self.elements.len() { Ok(()) } else { Err("there is no such exit".into()) }
    }

    /// Adds an element at the end. `width` is how many characters are before the list in its line.
    pub(super) fn push(&mut self, value: Value, width: usize) {
        let count = self.elements.len();
        let written = |value: &Value| value.to_string().trim().chars().count() + 2;
        let long = width + written(&value) + self.elements.iter().map(|one| written(&one.value)).sum::<usize>();
        let is_in_line = self.is_in_one_line();
        let lead = if count == 0 { "" } else { " " };
        self.elements.push(Element { lead: lead.into(), value, tail: String::new() });
        // A second exit gets a line of its own, and so does the first one, as `demeanor fmt` writes them. More exits in one line
        // stay in it while there is room.
        if !is_in_line || count == 1 || long > WIDEST {
            self.break_lines();
        }
    }

    pub(super) fn delete(&mut self, exit: usize) -> Result<(), Refused> {
        self.has(exit)?;
        let is_in_line = self.is_in_one_line();
        let gone = self.elements.remove(exit);
        if is_in_line
            && exit == 0
            && let Some(first) = self.elements.first_mut()
        {
            first.lead = gone.lead;
        }
        Ok(())
    }

    /// Moves an element to another place.
    pub(super) fn shift(&mut self, exit: usize, to: usize) -> Result<(), Refused> {
        self.has(exit)?;
        self.has(to)?;
        if self.is_in_one_line() {
            let leads: Vec<_> = self.elements.iter().map(|element| element.lead.clone()).collect();
            let element = self.elements.remove(exit);
            self.elements.insert(to, element);
            for (element, lead) in self.elements.iter_mut().zip(leads) {
                element.lead = lead;
            }
            return Ok(());
        }
        self.break_lines();
        let element = self.elements.remove(exit);
        self.elements.insert(to, element);
        Ok(())
    }
}
