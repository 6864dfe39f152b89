//! Messages over standard input and output, like in `lsp_server`, but with a limit for the length that a message may announce.
//!
//! `lsp_server` allocates the length that a header announces before the message arrives, and reads a header's line of any
//! length: see `docs/reports/lsp-server-content-length.md`.

use std::io::{self, BufRead, Read as _};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use crossbeam_channel::bounded;
use lsp_server::{Connection, Message};

/// The longest message, in bytes: several times the length of the longest definition.
const LONGEST_MESSAGE: u64 = 64_000_000;

/// The longest header, with all its lines.
const LONGEST_HEADER: u64 = 4_000;

/// The threads that read and write.
pub(super) struct Transport {
    reader: JoinHandle<()>,
    writer: JoinHandle<io::Result<()>>,
    mistake: Arc<OnceLock<String>>,
}

impl Transport {
    /// Starts the threads.
    pub(super) fn start() -> (Connection, Self) {
        // Without a buffer, an editor that sends more than the server reads has to wait.
        let (to_server, receiver) = bounded(0);
        let (sender, to_editor) = bounded::<Message>(0);
        let mistake = Arc::new(OnceLock::new());
        let noted = Arc::clone(&mistake);
        let reader = thread::spawn(move || {
            let mut input = io::stdin().lock();
            loop {
                match read(&mut input) {
                    Ok(Some(message)) => {
                        let is_last = matches!(&message, Message::Notification(told) if told.method == "exit");
                        if to_server.send(message).is_err() || is_last {
                            return;
                        }
                    }
                    Ok(None) => return,
                    // This is stored before the server sees that the connection has ended.
                    Err(why) => return drop(noted.set(why)),
                }
            }
        });
        let writer = thread::spawn(move || {
            let mut output = io::stdout().lock();
            to_editor.into_iter().try_for_each(|message| message.write(&mut output))
        });
        (Connection { sender, receiver }, Self { reader, writer, mistake })
    }

    /// Returns the error in the editor's messages that has ended the connection, if there was one.
    pub(super) fn mistake(&self) -> Option<&String> {
        self.mistake.get()
    }

    /// Waits until everything has been written.
    pub(super) fn join(self) -> io::Result<()> {
        let panicked = |_| io::Error::other("a thread of the connection has panicked");
        self.reader.join().map_err(panicked)?;
        self.writer.join().map_err(panicked)?
    }
}

/// Reads a message. Returns `None` if the input ends before a message begins.
fn read(input: &mut impl BufRead) -> Result<Option<Message>, String> {
    let Some(length) = read_header(input)? else { return Ok(None) };
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body).map_err(|error| error.to_string())?;
    if (body.len() as u64) < length {
        return Err(format!("the input ends after {} of the {length} bytes of a message", body.len()));
    }
    serde_json::from_slice(&body).map(Some).map_err(|error| format!("not a message: {error}"))
}

/// Reads a header. Returns the length that it announces.
fn read_header(input: &mut impl BufRead) -> Result<Option<u64>, String> {
    let mut header = input.take(LONGEST_HEADER);
    let mut length = None;
    loop {
        let mut line = Vec::new();
        header.read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
        let Some(field) = line.strip_suffix(b"\r\n") else {
            return match header.limit() {
                LONGEST_HEADER => Ok(None),
                _ if line.ends_with(b"\n") => Err("a line of a message's header does not end with \\r\\n".into()),
                0 => Err(format!("the header of a message is longer than {LONGEST_HEADER} bytes")),
                _ => Err("the input ends within the header of a message".into()),
            };
        };
        if field.is_empty() {
            return length.map(Some).ok_or_else(|| "a message without Content-Length".into());
        }
        let field = str::from_utf8(field).ok().and_then(|field| field.split_once(':'));
        let (name, value) = field.ok_or("a line of a message's header is not `Name: value`")?;
        if name.eq_ignore_ascii_case("Content-Length") && length.replace(announced(value.trim())?).is_some() {
            return Err("a message with two Content-Length".into());
        }
    }
}

/// Returns the length that a header announces.
fn announced(length: &str) -> Result<u64, String> {
    if length.is_empty() || !length.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(format!("a Content-Length that is not a number: {}", length.escape_debug()));
    }
    // A number that does not fit in a `u64` is longer, too.
    let length = length.parse().ok().filter(|length| *length <= LONGEST_MESSAGE);
    length.ok_or_else(|| format!("a Content-Length of more than {LONGEST_MESSAGE} bytes"))
}

#[cfg(test)]
mod tests {
    use lsp_server::Message;
    use proptest::prelude::*;

    use super::{LONGEST_HEADER, LONGEST_MESSAGE, read};
    use crate::cases::cases;

    /// Returns the first message of an input, in short form, or its error.
    fn told(mut input: &[u8]) -> Result<Option<String>, String> {
        let message = read(&mut input)?;
        Ok(message.map(|message| match message {
            Message::Request(request) => request.method,
            Message::Response(response) => response.id.to_string(),
            Message::Notification(notification) => notification.method,
        }))
    }

    fn wrong(input: impl AsRef<[u8]>) -> String {
        told(input.as_ref()).expect_err("it is not a message")
    }

    #[test]
    fn a_message_has_a_header_with_its_length() {
        let body = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let length = body.len();
        for header in [
            format!("Content-Length: {length}\r\n\r\n"),
            format!("content-length:{length}\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n"),
            format!("Other: {}\r\nContent-Length: 0{length} \r\n\r\n", "a".repeat(3_900)),
        ] {
            assert_eq!(told(format!("{header}{body}more").as_bytes()), Ok(Some("exit".into())), "{header}");
        }
        assert_eq!(told(b""), Ok(None));
    }

    #[test]
    fn a_length_that_is_none_or_too_long_is_refused() {
        let announced = |length: &str| wrong(format!("Content-Length: {length}\r\n\r\n{{}}"));
        let too_long = "a Content-Length of more than 64000000 bytes";
        for length in [
            "18446744073709551615",
            "18446744073709551616",
            "9223372036854775808",
            "4294967296",
            "65000000",
            "64000001",
            &"9".repeat(1000),
        ] {
            assert_eq!(announced(length), too_long, "{length}");
        }
        // Nothing is allocated for bytes that do not arrive.
        assert_eq!(announced("64000000"), "the input ends after 2 of the 64000000 bytes of a message");
        for length in ["-1", "+1", "1e3", "0x10", "", "two", "1 2", "2,2", "\u{663}"] {
            assert!(announced(length).starts_with("a Content-Length that is not a number: "), "{length}");
        }
        assert_eq!(wrong("Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"), "a message with two Content-Length");
        assert_eq!(wrong("Content-Type: text\r\n\r\n{}"), "a message without Content-Length");
        assert_eq!(wrong("\r\n\r\n{}"), "a message without Content-Length");
    }

    #[test]
    fn a_header_that_is_none_or_does_not_end_is_refused() {
        let too_long = format!("the header of a message is longer than {LONGEST_HEADER} bytes");
        assert_eq!(wrong("a".repeat(10_000)), too_long);
        assert_eq!(wrong("A: b\r\n".repeat(10_000)), too_long);
        assert_eq!(wrong("Content-Length: 2"), "the input ends within the header of a message");
        assert_eq!(wrong("Content-Length: 2\r\n"), "the input ends within the header of a message");
        assert_eq!(wrong("Content-Length: 2\n\n{}"), "a line of a message's header does not end with \\r\\n");
        for line in [&b"GET / HTTP/1.1"[..], b"\xff\xfe: 2", b"{}"] {
            let input = [line, b"\r\n\r\n"].concat();
            assert_eq!(wrong(input), "a line of a message's header is not `Name: value`");
        }
    }

    #[test]
    fn a_body_that_is_no_message_is_refused() {
        let with_header = |body: &[u8]| [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat();
        let deep = |one: &str| format!("{{\"method\":\"a\",\"params\":{}", one.repeat(1_000_000));
        for body in [
            &b""[..],
            b"{",
            b"[]",
            b"null",
            b"{\"method\":\"\xff\xfe\"}",
            b"{\"id\":1}",
            b"{\"jsonrpc\":\"2.0\",\"params\":{}}",
            b"{\"method\":3}",
            b"{\"id\":1.5,\"result\":null,\"error\":null}",
            deep("[").as_bytes(),
            deep("{\"a\":").as_bytes(),
        ] {
            assert!(wrong(with_header(body)).starts_with("not a message: "), "{}", String::from_utf8_lossy(body));
        }
        assert_eq!(wrong("Content-Length: 3\r\n\r\n{}"), "the input ends after 2 of the 3 bytes of a message");
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn random_bytes_are_a_message_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), length in any::<u64>()) {
            let _ = told(&bytes);
            let announced = [format!("Content-Length: {length}\r\n\r\n").as_bytes(), &bytes].concat();
            let is_too_long = length > LONGEST_MESSAGE;
            prop_assert_eq!(is_too_long, wrong(&announced).ends_with("64000000 bytes"));
            let body = [format!("Content-Length: {}\r\n\r\n", bytes.len()).as_bytes(), &bytes].concat();
            let _ = told(&body);
        }
    }
}
