//! The language server, as an editor speaks with it.

mod any_text;
mod completion;
mod documented;
mod editor;
mod hover;
mod navigation;
mod problems;
mod process;
mod rename;
