//! The address on which an inspector listens, and the errors of listening.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};

/// Why an inspector does not listen.
#[derive(Debug)]
#[non_exhaustive]
pub enum BindError {
    /// The given text is not an address, or its name is unknown.
    NoAddress {
        /// The given text.
        address: String,
        /// The error.
        why: Option<io::Error>,
    },
    /// Other computers could reach the address.
    NotLocal {
        /// The address.
        address: SocketAddr,
    },
    /// Another program listens there.
    Taken {
        /// The address.
        address: SocketAddr,
    },
    /// The operating system reported an error.
    Io {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        why: io::Error,
    },
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAddress { address, why: None } => write!(f, "not an address: {address}"),
            Self::NoAddress { address, why: Some(why) } => write!(f, "not an address: {address}: {why}"),
            Self::NotLocal { address } => write!(
                f,
                "other computers could reach {address}: use 127.0.0.1, or `Inspector::bind_anywhere` if they should see the game"
            ),
            Self::Taken { address } => write!(
                f,
                "port {} is taken: another program, or another copy of the game, listens on {address}; port 0 takes a free one",
                address.port()
            ),
            Self::Io { address, why } => write!(f, "cannot listen on {address}: {why}"),
        }
    }
}

impl std::error::Error for BindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoAddress { why, .. } => why.as_ref().map(|why| why as _),
            Self::Io { why, .. } => Some(why),
            Self::NotLocal { .. } | Self::Taken { .. } => None,
        }
    }
}

/// Listens on the first address that works.
pub(crate) fn listen(
    address: impl ToSocketAddrs + fmt::Debug,
    is_local: bool,
) -> Result<(TcpListener, SocketAddr), BindError> {
    let given = format!("{address:?}");
    let no_address = |why| BindError::NoAddress { address: given.clone(), why };
    let mut refused = None;
    for address in address.to_socket_addrs().map_err(|why| no_address(Some(why)))? {
        if is_local && !address.ip().is_loopback() {
            refused.get_or_insert(BindError::NotLocal { address });
            continue;
        }
        let listener = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        });
        match listener {
            Ok(listening) => return Ok(listening),
            Err(why) if why.kind() == io::ErrorKind::AddrInUse => refused = Some(BindError::Taken { address }),
            Err(why) => refused = Some(BindError::Io { address, why }),
        }
    }
    Err(refused.unwrap_or_else(|| no_address(None)))
}
