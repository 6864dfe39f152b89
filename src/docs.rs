//! The pages: what the [front page](crate) leaves out.
//!
//! They are those of the folder `docs`, and their code runs as tests.
//!
//! | page | what it is for |
//! |---|---|
//! | [`tour`] | ten steps with one character, from its first state to a saved game |
//! | [`cookbook`] | small answers to what people ask first |
//! | [`semantics`] | what happens in which order: the rules, and the tests that cover them |
//! | [`porting`] | from other languages and libraries to this one, a page for each |
//! | [`definitions`] | machines from files, for designers |
//! | [`editors`] | such files in an editor |
//! | [`waiting`] | timers, sleep, and what they cost |
//! | [`saving`] | saved games, rolling back, and files of older programs |
//! | [`why`] | why does it not attack? From the log to the line that is wrong |
//! | [`journal`] | what has happened to many owners, in pictures and traces |
//! | [`world`] | more characters than one computer can hold |
//! | [`testing`] | a state alone, a machine with mocks, a fake clock |

/// A page, under a condition for its code to run as a test. `build.rs` prepares it.
macro_rules! page {
    ($name:ident, $file:literal, $runs:meta $(, { $($inner:tt)* })?) => {
        #[doc = include_str!(concat!(env!("OUT_DIR"), "/docs/", $file))]
        #[cfg(any(not(doctest), $runs))]
        pub mod $name { $($($inner)*)? }
    };
}

page!(cookbook, "cookbook.md", feature = "std");
page!(definitions, "definitions.md", feature = "definition");
page!(editors, "editors.md", all());
page!(journal, "journal.md", feature = "std");
page!(porting, "porting.md", all(), {
    page!(buckland, "porting/buckland.md", all());
    page!(c, "porting/c.md", feature = "parallel");
    page!(class_notes, "porting/class-notes.md", feature = "definition");
    page!(dots, "porting/dots.md", feature = "std");
    page!(seldom_state, "porting/seldom_state.md", all());
    page!(stateless, "porting/stateless.md", all());
    page!(statig, "porting/statig.md", all());
    page!(unity, "porting/unity.md", all());
    page!(unityhfsm, "porting/unityhfsm.md", all());
    page!(xna, "porting/xna.md", all());
});
page!(saving, "saving.md", all(feature = "serde", feature = "std"));
page!(semantics, "semantics.md", all());
page!(testing, "testing.md", feature = "mock");
// Its code runs in `tests/tour`, as the programs that the page's steps make together.
page!(tour, "tour.md", any());
page!(waiting, "waiting.md", feature = "std");
page!(why, "why.md", feature = "definition");
page!(world, "world.md", all());
