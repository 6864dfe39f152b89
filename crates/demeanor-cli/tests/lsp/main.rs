//! The language server, with a fake editor.

mod any_text;
#[path = "../../../../tests/cases/mod.rs"]
mod cases;
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
