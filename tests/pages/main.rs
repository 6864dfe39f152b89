//! What the pages say, held against the tests and the files that they name.

#[path = "../captured_log/mod.rs"]
mod captured_log;

mod documented;
mod layers;
mod porting;
