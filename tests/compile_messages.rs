//! What the compiler says of the mistakes that a newcomer makes: each message has to say what to write instead.
//!
//! Each file in `tests/compile_fail` is one mistake, with the message beside it. To the mistakes in `by_rust` only Rust itself
//! says something: a table of docs/cookbook.md has these errors, and says what to write. Another Rust words its part of the messages in
//! another way, so they are compared on one version only; and with every feature, for it also lists what implements a trait.
//! `cargo test --all-features --test compile_messages -- --ignored` compares them, and with `TRYBUILD=overwrite` writes them again.

use std::process::Command;

/// The Rust whose messages are compared.
const RUST: &str = "rustc 1.95.";

#[test]
#[ignore = "checks the library and what it depends on a second time: a minute"]
fn each_mistake_gets_a_message_that_says_what_to_write() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().expect("cargo has found it, too").stdout;
    let version = String::from_utf8(version).expect("a version is written in letters");
    if !version.starts_with(RUST) {
        println!("left out: the messages are those of {RUST}*, and this is {version}");
        return;
    }
    if !cfg!(all(feature = "definition", feature = "mock", feature = "parallel")) {
        println!("left out: the messages are those with every feature");
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/compile_fail/*.rs");
    cases.compile_fail("tests/compile_fail/by_rust/*.rs");
}
