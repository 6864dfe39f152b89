//! HTTP answers.

use std::borrow::Cow;

/// The headers of every answer: the browser must not store it, guess its type, or share it with another origin.
pub(super) const HEADERS: &str = "Cache-Control: no-store\r\n\
    X-Content-Type-Options: nosniff\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\n\
    Referrer-Policy: no-referrer\r\n\
    Connection: close\r\n";

/// An answer to a request, after which the connection is closed.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    content_type: &'static str,
    /// Additional headers, each with a line break at its end.
    headers: String,
    body: Cow<'static, str>,
    /// Whether the body is left out.
    is_head: bool,
}

impl Answer {
    pub(super) fn text(status: u16, body: impl Into<Cow<'static, str>>) -> Self {
        Self { status, content_type: "text/plain", headers: String::new(), body: body.into(), is_head: false }
    }

    pub(super) fn page(body: String, policy: &str) -> Self {
        let headers = format!("Content-Security-Policy: {policy}\r\n");
        Self { status: 200, content_type: "text/html", headers, body: body.into(), is_head: false }
    }

    /// Returns the answer to `HEAD`.
    pub(super) fn without_body(self) -> Self {
        Self { is_head: true, ..self }
    }

    pub(super) fn with_header(mut self, header: &str) -> Self {
        self.headers += header;
        self.headers += "\r\n";
        self
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
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
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Error",
    }
}
