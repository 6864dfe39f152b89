//! Characters that call each other in the middle of their callbacks (rule 30).

#[path = "../captured_log/mod.rs"]
mod captured_log;
#[path = "../cases/mod.rs"]
mod cases;
#[path = "../told_panic/mod.rs"]
mod told_panic;
#[path = "../trace/mod.rs"]
mod trace;

mod answers;
mod cost;
mod dispatcher;
mod exchanges;
#[cfg(feature = "std")]
mod journal;
mod messages;
mod model;
mod panics;
mod play;
mod queries;
#[cfg(all(feature = "serde", feature = "std"))]
mod random;
mod rejoin;
