//! The connections between processes: their addresses, the meeting of the processes, and the data on the connections.
//!
//! This crate opens the connections, not timely. So an error can name the process that is gone, and a process that ends with an
//! error can send it.

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
