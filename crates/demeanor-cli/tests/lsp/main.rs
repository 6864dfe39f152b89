//! The language server, with a fake editor.

mod any_text;
mod completion;
mod documented;
mod editor;
mod fixes;
mod hover;
mod navigation;
mod problems;
mod process;
mod regions;
mod rename;
