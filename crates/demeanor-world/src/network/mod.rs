//! The connections between processes: where they are, how they meet, and what goes over them.
//!
//! timely is given connected streams. They are ours, so that a process that is gone is known by its name, and so that a process
//! that ends with an error can say which.

mod connect;
mod deadline;
mod door;
mod frame;
mod handshake;
mod hosts;
mod link;
mod secret;
#[cfg(test)]
mod tests;

pub(crate) use self::connect::{Meeting, cannot_listen, connect};
pub(crate) use self::door::{Door, Event};
pub(crate) use self::handshake::{Greeter, Hello, Settings};
pub(crate) use self::hosts::read as read_hosts;
pub(crate) use self::link::Links;
pub(crate) use self::secret::{Secret, VARIABLE};
