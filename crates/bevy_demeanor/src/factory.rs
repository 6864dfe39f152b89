//! The function of the game that completes machines.

use std::sync::Arc;

use demeanor::StateMachine;

/// Completes the machines that the plugin creates.
pub(crate) type Factory<T> = Arc<dyn Fn(StateMachine<T>) -> StateMachine<T> + Send + Sync>;
