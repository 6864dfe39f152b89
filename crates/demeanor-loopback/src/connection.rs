//! One connection: it reads a request, and writes an answer, or events for an open page. It never blocks.

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use mio::net::TcpStream;

use crate::answer::Answer;
use crate::events::{self, Bytes, Latest};
use crate::request::{LONGEST_HEAD, Read, Request};

/// How long a request may take to arrive.
const REQUEST: Duration = Duration::from_secs(5);
/// How long a client may accept no bytes.
const STALL: Duration = Duration::from_secs(15);
/// How long a client may take to close a finished connection.
const CLOSE: Duration = Duration::from_secs(2);
/// How long a page may get no news. After this time, the server sends a heartbeat to check whether the page is still there.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// An open page has nothing more to send: only this many bytes are read and ignored.
const MOST_CHATTER: usize = 4 << 10;

pub(crate) struct Connection {
    socket: TcpStream,
    phase: Phase,
    /// The bytes that are being written, and how many of them have been.
    out: Option<(Bytes, usize)>,
    /// The time at which the connection ends, unless there is progress before.
    deadline: Instant,
    /// Number of bytes that were read and ignored.
    chatter: usize,
    /// The longest body of a request, in bytes.
    longest_body: usize,
}

enum Phase {
    /// The bytes of the request so far.
    Reading(Vec<u8>),
    /// The application answers later. If it has not until this time, this is the answer.
    Asking(Instant, Answer),
    Answering,
    /// The answer has been written. Further input is read and ignored; otherwise the client might not read the answer.
    Closing,
    Page(Box<Page>),
}

struct Page {
    hello: Option<Bytes>,
    /// The news for this page alone, by name.
    own: Vec<(String, Bytes)>,
    /// The version of the news that it was sent last.
    seen: u64,
    next_heartbeat: Instant,
}

/// The result of an operation on a connection.
pub(crate) enum Progress {
    Waits,
    Asks(Box<Request>),
    Ends,
}

impl Connection {
    pub(crate) fn new(socket: TcpStream, longest_body: usize, now: Instant) -> Self {
        // Events are small and must arrive at once. If this fails, they arrive a bit later.
        let _ = socket.set_nodelay(true);
        Self { socket, phase: Phase::Reading(Vec::new()), out: None, deadline: now + REQUEST, chatter: 0, longest_body }
    }

    pub(crate) fn is_page(&self) -> bool {
        matches!(self.phase, Phase::Page(_))
    }

    pub(crate) fn is_answering(&self) -> bool {
        matches!(self.phase, Phase::Answering)
    }

    /// Waits for the application's answer. If there is none until then, `answer` is sent.
    pub(crate) fn ask(&mut self, until: Instant, answer: Answer) {
        self.phase = Phase::Asking(until, answer);
        self.deadline = until + STALL;
    }

    pub(crate) fn is_asking(&self) -> bool {
        matches!(self.phase, Phase::Asking(..))
    }

    /// Sends the answer for an application that has not answered in time.
    pub(crate) fn answer_late(&mut self, now: Instant) {
        if let Phase::Asking(until, answer) = &self.phase
            && *until <= now
        {
            let answer = answer.clone();
            self.answer(&answer, now);
        }
    }

    /// Returns whether a time limit has passed.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        match self.phase {
            Phase::Page(_) => self.out.is_some() && self.deadline <= now,
            _ => self.deadline <= now,
        }
    }

    /// Reads the bytes that have arrived.
    pub(crate) fn read(&mut self, now: Instant) -> Progress {
        let mut buffer = [0; 2048];
        loop {
            match self.socket.read(&mut buffer) {
                // A client that has closed its sending side may still read the answer.
                Ok(0) if matches!(self.phase, Phase::Asking(..) | Phase::Answering) => return Progress::Waits,
                Ok(0) => return Progress::Ends,
                Ok(count) => match self.take(&buffer[..count], now) {
                    Progress::Waits => {}
                    progress => return progress,
                },
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => return Progress::Waits,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Progress::Ends,
            }
        }
    }

    fn take(&mut self, bytes: &[u8], now: Instant) -> Progress {
        let Phase::Reading(request) = &mut self.phase else {
            self.chatter += bytes.len();
            let most = if self.is_page() { MOST_CHATTER } else { 16 * MOST_CHATTER };
            return if self.chatter > most { Progress::Ends } else { Progress::Waits };
        };
        request.extend_from_slice(bytes);
        match Request::read(request, self.longest_body) {
            Read::Whole(request) => Progress::Asks(request.into()),
            Read::Wrong(answer) => {
                self.answer(&answer, now);
                self.write_out(now)
            }
            Read::Part if request.len() > LONGEST_HEAD + self.longest_body => Progress::Ends,
            Read::Part => Progress::Waits,
        }
    }

    pub(crate) fn answer(&mut self, answer: &Answer, now: Instant) {
        self.phase = Phase::Answering;
        self.out = Some((answer.bytes().into(), 0));
        self.deadline = now + STALL;
    }

    /// Makes it the connection of an open page, to which events are sent.
    pub(crate) fn open_page(&mut self, hello: Bytes, now: Instant) {
        let next_heartbeat = now + HEARTBEAT;
        self.phase = Phase::Page(Box::new(Page { hello: Some(hello), own: Vec::new(), seen: 0, next_heartbeat }));
        self.out = Some((events::head().into(), 0));
        self.deadline = now + STALL;
    }

    /// Sets the next news of a name for this page alone, which replaces unsent news of this name.
    pub(crate) fn tell(&mut self, name: &str, news: Bytes) {
        let Phase::Page(page) = &mut self.phase else { return };
        match page.own.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = news,
            None => page.own.push((name.to_owned(), news)),
        }
    }

    /// Writes as many bytes as the client accepts.
    pub(crate) fn write(&mut self, latest: &Latest, now: Instant) -> Progress {
        loop {
            if let Progress::Ends = self.write_out(now) {
                return Progress::Ends;
            }
            let Phase::Page(page) = &mut self.phase else { return Progress::Waits };
            if self.out.is_some() {
                return Progress::Waits;
            }
            let Some(next) = page.next(latest, now) else { return Progress::Waits };
            page.next_heartbeat = now + HEARTBEAT;
            self.out = Some((next, 0));
            self.deadline = now + STALL;
        }
    }

    fn write_out(&mut self, now: Instant) -> Progress {
        while let Some((bytes, written)) = &mut self.out {
            match self.socket.write(&bytes[*written..]) {
                Ok(0) => return Progress::Ends,
                Ok(count) => {
                    *written += count;
                    self.deadline = now + STALL;
                    if *written == bytes.len() {
                        self.out = None;
                    }
                }
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => return Progress::Waits,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Progress::Ends,
            }
        }
        if let Phase::Answering = self.phase {
            self.phase = Phase::Closing;
            self.deadline = now + CLOSE;
            if self.socket.shutdown(Shutdown::Write).is_err() {
                return Progress::Ends;
            }
        }
        Progress::Waits
    }
}

impl Page {
    /// Returns the next event to send.
    fn next(&mut self, latest: &Latest, now: Instant) -> Option<Bytes> {
        if let Some(hello) = self.hello.take() {
            return Some(hello);
        }
        if !self.own.is_empty() {
            return Some(self.own.remove(0).1);
        }
        if let Some((version, bytes)) = latest.next(self.seen) {
            self.seen = version;
            return Some(bytes);
        }
        (self.next_heartbeat <= now).then(events::heartbeat)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream as StdStream};
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use mio::net::TcpStream;

    use super::{CLOSE, Connection, Progress, REQUEST, STALL};
    use crate::answer::Answer;
    use crate::events::Latest;

    /// Returns a connection, and the client at its other end.
    fn connection(now: Instant) -> (Connection, StdStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = StdStream::connect(listener.local_addr().unwrap()).unwrap();
        let (socket, _) = listener.accept().unwrap();
        socket.set_nonblocking(true).unwrap();
        (Connection::new(TcpStream::from_std(socket), 4096, now), client)
    }

    #[test]
    fn a_request_that_comes_byte_by_byte_has_as_long_as_any() {
        let start = Instant::now();
        let (mut connection, mut client) = connection(start);
        for (second, byte) in (0..).zip(b"GET /") {
            client.write_all(&[*byte]).unwrap();
            assert!(matches!(connection.read(start + Duration::from_secs(second)), Progress::Waits));
        }
        assert!(!connection.is_over(start + REQUEST * 9 / 10));
        assert!(connection.is_over(start + REQUEST));
    }

    #[test]
    fn a_page_that_reads_nothing_is_closed_and_one_that_has_nothing_to_read_is_not() {
        let start = Instant::now();
        let (mut connection, client) = connection(start);
        connection.open_page(Arc::from(&b"hello"[..]), start);
        assert!(matches!(connection.write(&Latest::default(), start), Progress::Waits));
        assert!(!connection.is_over(start + 100 * STALL));
        let much: Arc<[u8]> = vec![b'a'; 64 << 20].into();
        connection.tell("owner", Arc::clone(&much));
        assert!(matches!(connection.write(&Latest::default(), start), Progress::Waits));
        connection.tell("owner", much);
        assert!(!connection.is_over(start + STALL * 9 / 10));
        assert!(connection.is_over(start + STALL));
        drop(client);
    }

    #[test]
    fn a_client_that_never_closes_after_its_answer_is_closed() {
        let start = Instant::now();
        let (mut connection, mut client) = connection(start);
        connection.answer(&Answer::text(404, "nothing"), start);
        assert!(matches!(connection.write(&Latest::default(), start), Progress::Waits));
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 404 Not Found\r\n") && answer.ends_with("\r\n\r\nnothing"), "{answer}");
        assert!(!connection.is_over(start + CLOSE * 9 / 10));
        assert!(connection.is_over(start + CLOSE));
    }
}
