//! HTTP requests: how they are parsed.

use crate::answer::Answer;

const MOST_HEADERS: usize = 64;
pub(crate) const LONGEST_HEAD: usize = 8 << 10;

/// A complete request.
#[derive(Debug, Default)]
pub struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) host: Option<String>,
    pub(crate) origin: Option<String>,
    /// `Sec-Fetch-Site`: the browser's statement about the origin of the request.
    pub(crate) site: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// The result of parsing some bytes.
pub enum Read {
    /// The beginning of a request.
    Part,
    /// A request.
    Whole(Request),
    /// What is not a request, with the answer.
    Wrong(Answer),
}

impl Request {
    /// Parses the first request in some bytes. Its body must not be longer than `longest_body`, in bytes.
    #[must_use]
    pub fn read(bytes: &[u8], longest_body: usize) -> Read {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        let body = match head.parse(bytes) {
            Ok(httparse::Status::Complete(length)) if length <= LONGEST_HEAD => &bytes[length..],
            Ok(httparse::Status::Partial) if bytes.len() <= LONGEST_HEAD => return Read::Part,
            Ok(_) | Err(httparse::Error::TooManyHeaders) => {
                return Read::Wrong(Answer::text(431, "the request's head is too long"));
            }
            Err(why) => return Read::Wrong(Answer::text(400, format!("not a request: {why}"))),
        };
        let mut request = Self { method: head.method.unwrap_or_default().to_owned(), ..Self::default() };
        let target = head.path.unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        (request.path, request.query) = (path.to_owned(), query.to_owned());
        let mut length = None;
        for header in head.headers.iter() {
            let name = header.name.to_ascii_lowercase();
            let field = match name.as_str() {
                "host" => &mut request.host,
                "origin" => &mut request.origin,
                "sec-fetch-site" => &mut request.site,
                "content-type" => &mut request.content_type,
                "x-demeanor-token" => &mut request.token,
                "transfer-encoding" => return Read::Wrong(Answer::text(411, "a body needs its length")),
                "content-length" => &mut length,
                _ => continue,
            };
            // An unreadable header must not count as a missing one.
            let Ok(value) = std::str::from_utf8(header.value) else {
                let status = if matches!(&*name, "origin" | "sec-fetch-site") { 403 } else { 400 };
                return Read::Wrong(Answer::text(status, format!("{name} is not UTF-8")));
            };
            if field.replace(value.trim().to_owned()).is_some() {
                return Read::Wrong(Answer::text(400, format!("{name} comes twice")));
            }
        }
        let length = length.unwrap_or_else(|| "0".to_owned());
        if !is_number(&length) {
            return Read::Wrong(Answer::text(400, "content-length is not a number"));
        }
        // A number that does not fit in a `usize` is too long, too.
        let length = length.parse().unwrap_or(usize::MAX);
        if length > longest_body {
            return Read::Wrong(Answer::text(413, "the body is too long"));
        }
        match body.get(..length) {
            Some(body) => Read::Whole(Self { body: body.to_vec(), ..request }),
            None => Read::Part,
        }
    }

    /// Returns the method, in capitals.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the path, without the query.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the text after the question mark.
    #[must_use]
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Returns the body.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}

/// Decodes a text in which `%20` is a space. Returns `None` if a percent sign is not followed by two digits, or the text is not
/// UTF-8.
#[must_use]
pub fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let (high, low) = (digit()?, digit()?);
            bytes.push(u8::try_from(16 * high + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Returns whether a text consists only of digits. `parse` would accept a sign, too.
pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
