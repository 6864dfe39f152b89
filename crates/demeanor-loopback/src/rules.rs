//! Which requests are answered: those of this server's own page.

use std::net::{IpAddr, Ipv4Addr};

use crate::answer::Answer;
use crate::request::{Request, is_number};

/// The permissions of requests.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Whether only this computer can reach the server.
    pub is_local: bool,
    /// The secret that only a page of this server knows.
    pub token: String,
}

impl Rules {
    /// Checks that a request names this server, and does not come from a page of another origin. The server checks this for every
    /// request.
    ///
    /// # Errors
    ///
    /// The answer to a request that is refused.
    pub fn check_origin(&self, request: &Request) -> Result<(), Answer> {
        let host = request.host.as_deref().ok_or_else(|| Answer::text(400, "no Host"))?;
        if !self.is_own(host) {
            // Otherwise a page of another site whose host name resolves to this computer could see the page.
            return Err(Answer::text(403, "this is not a name of this server: use its IP address, or localhost"));
        }
        let is_foreign = request.origin.as_deref().is_some_and(|origin| {
            origin.strip_prefix("http://").is_none_or(|origin| !origin.eq_ignore_ascii_case(host))
        });
        if is_foreign { Err(Answer::text(403, "requests from other origins are refused")) } else { Ok(()) }
    }

    /// Checks that the browser does not say that a request comes from another site.
    ///
    /// # Errors
    ///
    /// The answer to a request that is refused.
    pub fn check_site(&self, request: &Request) -> Result<(), Answer> {
        match request.site.as_deref() {
            None | Some("same-origin" | "none") => Ok(()),
            Some(_) => Err(Answer::text(403, "requests from other sites are refused")),
        }
    }

    /// Checks that a command comes from this server's page: it has the token, and its body is JSON.
    ///
    /// # Errors
    ///
    /// The answer to a request that is refused.
    pub fn check_command(&self, request: &Request) -> Result<(), Answer> {
        self.check_site(request)?;
        if request.token.as_deref() != Some(&self.token) {
            return Err(Answer::text(403, "only this server's page may request this"));
        }
        let content_type = request.content_type.as_deref().and_then(|written| written.split(';').next());
        if content_type.map(str::trim) != Some("application/json") {
            return Err(Answer::text(415, "only application/json"));
        }
        Ok(())
    }

    /// Returns whether a host is this server: an IP address, or `localhost`, the one name that no other site can have. The port
    /// may be different, because of a tunnel.
    fn is_own(&self, host: &str) -> bool {
        let (name, port) = if let Some((name, port)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            (name.parse().map(IpAddr::V6).ok(), port)
        } else {
            let (name, port) = host.split_at(host.find(':').unwrap_or(host.len()));
            let localhost = name.eq_ignore_ascii_case("localhost").then_some(Ipv4Addr::LOCALHOST);
            (localhost.or_else(|| name.parse().ok()).map(IpAddr::V4), port)
        };
        let has_port = port.is_empty()
            || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok() && is_number(port));
        has_port && name.is_some_and(|number| !self.is_local || number.is_loopback())
    }
}
