//! The output text, line by line.

use std::fmt::{Arguments, Write as _};
use std::mem;

use anstyle::{AnsiColor, Color, Style};

/// Bob speaks in red and Elsa in green, and telegrams are white on red.
pub(crate) const BOB: Style = AnsiColor::BrightRed.on_default();
pub(crate) const ELSA: Style = AnsiColor::BrightGreen.on_default();
pub(crate) const TELEGRAM: Style = AnsiColor::White.on_default().bg_color(Some(Color::Ansi(AnsiColor::Red)));
pub(crate) const PLAIN: Style = Style::new();

/// A text with an open last line, to which more text can be appended.
#[derive(Default)]
pub(crate) struct Page {
    is_colored: bool,
    text: String,
    /// The style of the open line, if there is one.
    open_line: Option<Style>,
}

impl Page {
    pub(crate) fn new(is_colored: bool) -> Self {
        Self { is_colored, ..Self::default() }
    }

    /// Begins a line.
    pub(crate) fn line(&mut self, style: Style, line: Arguments<'_>) {
        self.close_line();
        let style = if self.is_colored { style } else { PLAIN };
        self.open_line = Some(style);
        write!(self.text, "{style}{line}").expect("a string takes any text");
    }

    /// Appends to the last line.
    pub(crate) fn append(&mut self, more: &str) {
        self.text.push_str(more);
    }

    /// Closes the last line, and returns the text since the last call.
    pub(crate) fn take(&mut self) -> String {
        self.close_line();
        mem::take(&mut self.text)
    }

    fn close_line(&mut self) {
        if let Some(style) = self.open_line.take() {
            writeln!(self.text, "{style:#}").expect("a string takes any text");
        }
    }
}
