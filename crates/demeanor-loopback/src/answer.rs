//! HTTP answers.

use std::borrow::Cow;

/// The headers of every answer: the browser must not store it, guess its type, or share it with another origin.
pub(crate) const HEADERS: &str = "Cache-Control: no-store\r\n\
    X-Content-Type-Options: nosniff\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\n\
    Referrer-Policy: no-referrer\r\n\
    Connection: close\r\n";

/// An answer to a request, after which the connection is closed.
#[derive(Clone, Debug)]
pub struct Answer {
    status: u16,
    content_type: &'static str,
    /// Additional headers, each with a line break at its end.
    headers: String,
    body: Cow<'static, str>,
    /// Whether the body is left out.
    is_head: bool,
}

impl Answer {
    /// Returns an answer with this content, such as `text/css`.
    pub fn of(status: u16, content_type: &'static str, body: impl Into<Cow<'static, str>>) -> Self {
        Self { status, content_type, headers: String::new(), body: body.into(), is_head: false }
    }

    /// Returns a plain text.
    pub fn text(status: u16, body: impl Into<Cow<'static, str>>) -> Self {
        Self::of(status, "text/plain", body)
    }

    /// Returns a page, for which the browser follows this content security policy.
    #[must_use]
    pub fn page(body: String, policy: &str) -> Self {
        Self::of(200, "text/html", body).with_header(&format!("Content-Security-Policy: {policy}"))
    }

    /// Returns the answer to a request with another method than the only one that is allowed.
    #[must_use]
    pub fn only(method: &str) -> Self {
        Self::text(405, format!("only {method}")).with_header(&format!("Allow: {method}"))
    }

    /// Returns the answer to `HEAD`.
    #[must_use]
    pub fn without_body(self) -> Self {
        Self { is_head: true, ..self }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, header: &str) -> Self {
        self.headers += header;
        self.headers += "\r\n";
        self
    }

    /// Returns the status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let Self { status, content_type, headers, body, is_head } = self;
        let reason = reason(*status);
        let length = body.len();
        let mut bytes = format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}; charset=utf-8\r\nContent-Length: {length}\r\n\
             {HEADERS}{headers}\r\n"
        );
        if !is_head {
            bytes += body;
        }
        bytes.into_bytes()
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        411 => "Length Required",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Content",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Error",
    }
}
