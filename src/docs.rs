//! The pages, which explain what the [front page](crate) leaves out.
//!
//! They are the pages of the folder `docs`, and their code runs as tests.
//!
//! | page | content |
//! |---|---|
//! | [`tour`] | one character that gets more abilities in eleven steps |
//! | [`gallery`] | the examples, with what they print and draw |
//! | [`cookbook`] | short solutions to common problems |
//! | [`semantics`] | the rules: which callbacks are called in which order, and the tests of each rule |
//! | [`porting`] | how to port code from other languages and libraries, one page for each |
//! | [`ports`] | what has been ported, and how it was checked |
//! | [`definitions`] | machines from files, for designers |
//! | [`studio`] | how to see, try and edit a machine from a file in the browser |
//! | [`editors`] | how to set up an editor for these files |
//! | [`waiting`] | timers and sleep, and their costs |
//! | [`saving`] | saved games, rollback, and saves of older versions of a game |
//! | [`why`] | how to find out why a character does not do what it should, from the log to the wrong line |
//! | [`journal`] | recordings of all changes, as diagrams and traces |
//! | [`world`] | a batch that is split over processes, for more characters than one computer can hold |
//! | [`comparison`] | what other libraries for state machines offer |
//! | [`testing`] | tests of a single state, machines with mocks, a fake clock |

/// Declares the module of a page, from the text that `build.rs` has prepared. Its code runs as doc tests if `$runs` is true.
macro_rules! page {
    ($name:ident, $file:literal, $runs:meta $(, { $($inner:tt)* })?) => {
        #[doc = include_str!(concat!(env!("OUT_DIR"), "/docs/", $file))]
        #[cfg(any(not(doctest), $runs))]
        pub mod $name { $($($inner)*)? }
    };
}

page!(comparison, "comparison.md", all());
page!(cookbook, "cookbook.md", feature = "std");
page!(definitions, "definitions.md", feature = "definition");
page!(editors, "editors.md", all());
page!(gallery, "gallery.md", all());
page!(journal, "journal.md", feature = "std");
page!(porting, "porting.md", all(), {
    page!(buckland, "porting/buckland.md", all());
    page!(c, "porting/c.md", feature = "parallel");
    page!(class_notes, "porting/class-notes.md", feature = "definition");
    page!(dots, "porting/dots.md", feature = "std");
    page!(seldom_state, "porting/seldom_state.md", all());
    page!(statecharts, "porting/statecharts.md", all());
    page!(stateless, "porting/stateless.md", all());
    page!(statig, "porting/statig.md", all());
    page!(string_states, "porting/string-states.md", all());
    page!(switch, "porting/switch.md", all());
    page!(unity, "porting/unity.md", all());
    page!(unityhfsm, "porting/unityhfsm.md", all());
    page!(xna, "porting/xna.md", all());
});
page!(ports, "ports.md", all());
page!(saving, "saving.md", all(feature = "serde", feature = "std"));
page!(semantics, "semantics.md", all());
page!(studio, "studio.md", all());
page!(testing, "testing.md", all(feature = "definition", feature = "mock"));
// The code of this page runs in `tests/tour`: its steps together make up complete programs.
page!(tour, "tour.md", any());
page!(waiting, "waiting.md", feature = "std");
page!(why, "why.md", feature = "definition");
page!(world, "world.md", all());
