//! Tests of the meeting of processes, with strangers that call them.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::deadline::Limited;
use super::*;
use crate::error::WorldError;

/// Longer than any test takes, unless it fails: in these tests no time limit is reached.
const LONG: Duration = Duration::from_secs(100);
/// The first bytes of every connection: eight bytes that identify the protocol, and a nonce.
const BEGIN: usize = 40;

fn secret(text: &str) -> Secret {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    Secret::read(file.path()).unwrap()
}

fn greeter(process: usize, secret: &Secret, time: Duration) -> Greeter {
    Greeter::new(&Hello { process, settings: Settings::default() }, secret.clone(), time).unwrap()
}

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Creates a world of some processes that are about to meet.
fn meetings(processes: usize, secret: &Secret) -> Vec<Meeting> {
    let listeners: Vec<_> = (0..processes).map(|_| listener()).collect();
    let addresses: Vec<_> = listeners.iter().map(|(_, address)| address.to_string()).collect();
    let meeting = |(process, (listener, _))| Meeting {
        process,
        addresses: addresses.clone(),
        listener,
        settings: Settings::default(),
        secret: secret.clone(),
        trusts_network: false,
        greeting: LONG,
        patience: LONG,
    };
    listeners.into_iter().enumerate().map(meeting).collect()
}

type Streams = Vec<Option<TcpStream>>;

fn start(meeting: Meeting) -> JoinHandle<Result<Streams, WorldError>> {
    thread::spawn(|| connect(meeting))
}

/// Waits until all processes have met: each has a connection to every other one.
fn assert_met(processes: Vec<JoinHandle<Result<Streams, WorldError>>>) {
    // A process that drops its connections too early would be gone for the others.
    let streams: Vec<_> = processes.into_iter().map(|process| process.join().unwrap().unwrap()).collect();
    for (nth, streams) in streams.iter().enumerate() {
        let met: Vec<_> = streams.iter().map(Option::is_some).collect();
        assert_eq!(met, (0..streams.len()).map(|other| other != nth).collect::<Vec<_>>());
    }
}

/// Returns how a door reacts to one stranger.
fn ignored(ours: &Secret, time: Duration, stranger: impl FnOnce(TcpStream) + Send + 'static) -> String {
    let ((listener, address), (sender, events)) = (listener(), mpsc::channel());
    let mut door = Door::new(listener, Arc::new(greeter(0, ours, time)), sender).unwrap();
    let stranger = thread::spawn(move || stranger(TcpStream::connect(address).unwrap()));
    let event = loop {
        door.open();
        if let Ok(event) = events.recv_timeout(Duration::from_millis(1)) {
            break event;
        }
    };
    let Event::Ignored(text) = event else { panic!("{event:?}") };
    stranger.join().unwrap();
    let (from, why) = text.split_once(" is ignored: ").unwrap();
    assert!(from.starts_with("a connection from 127.0.0.1:"), "{text}");
    why.to_owned()
}

/// Waits until the other side closes the connection.
fn wait_for_the_end(mut stream: TcpStream) {
    let _ = io::copy(&mut stream, &mut io::sink());
}

/// Sends the bytes of a stranger, and waits until the other side closes the connection.
fn say(mut stream: TcpStream, bytes: &[u8]) {
    stream.write_all(bytes).unwrap();
    // The connection may be closed already.
    let _ = stream.shutdown(Shutdown::Write);
    wait_for_the_end(stream);
}

/// Returns a greeting from before the secret was introduced.
fn old_greeting(text: &str) -> Vec<u8> {
    [b"demeanor", &u32::try_from(text.len()).unwrap().to_le_bytes()[..], text.as_bytes()].concat()
}

#[test]
fn strangers_are_ignored_and_the_reason_is_told() {
    let ours = secret("open sesame");
    let with = |stranger: fn(TcpStream)| ignored(&ours, LONG, stranger);
    let closed = "it has closed the connection during the greeting, as a process with another secret does";
    assert_eq!(with(|stream| say(stream, &[b'x'; BEGIN])), "it is no process of a world");
    assert_eq!(with(drop), closed);
    let said = with(|stream| say(stream, &[&b"demeanor"[..], &[7; 32], &(1_u32 << 20).to_le_bytes()].concat()));
    assert_eq!(said, "its greeting is too long");
    let said = with(|stream| {
        let text = br#"{"process":1,"settings":[]}"#;
        let length = u32::try_from(text.len()).unwrap().to_le_bytes();
        say(stream, &[&b"demeanor"[..], &[7; 32], &length, text, &[0; 32]].concat());
    });
    assert_eq!(said, "it does not know the secret");
    let said = ignored(&ours, Duration::from_millis(1), wait_for_the_end);
    assert_eq!(said, "the greeting takes too long");
}

#[test]
fn two_processes_meet_only_if_both_know_the_same_secret() {
    let secrets = [Secret::none(), secret("open sesame"), secret("open barley")];
    for (nth, ours) in secrets.iter().enumerate() {
        for (other, theirs) in secrets.iter().enumerate() {
            let (listener, address) = listener();
            let calls = greeter(1, theirs, LONG);
            let called = thread::spawn(move || calls.call(&TcpStream::connect(address).unwrap()));
            let (stream, _) = listener.accept().unwrap();
            let answered = greeter(0, ours, LONG).answer(&stream, || true);
            drop(stream);
            let called = called.join().unwrap();
            if nth == other {
                assert_eq!((answered.unwrap().process, called.unwrap().process), (1, 0));
            } else {
                assert_eq!(answered.unwrap_err().to_string(), "it does not know the secret");
                assert!(called.is_err());
            }
        }
    }
}

#[test]
fn a_greeting_that_was_recorded_proves_nothing_later() {
    let ours = secret("open sesame");
    let ((listener, address), (relay, relayed)) = (listener(), self::listener());
    // A stranger forwards the bytes between two processes, and records the bytes of the caller.
    let recorded = thread::spawn(move || {
        let (from, _) = relay.accept().unwrap();
        let to = TcpStream::connect(address).unwrap();
        let (mut back_from, mut back_to) = (to.try_clone().unwrap(), from.try_clone().unwrap());
        thread::spawn(move || io::copy(&mut back_from, &mut back_to));
        let mut recorded = Vec::new();
        let (mut from, mut to, mut piece) = (from, to, [0; 1024]);
        while let Ok(read @ 1..) = from.read(&mut piece) {
            recorded.extend(&piece[..read]);
            to.write_all(&piece[..read]).unwrap();
        }
        recorded
    });
    let calls = greeter(1, &ours, LONG);
    let called = thread::spawn(move || calls.call(&TcpStream::connect(relayed).unwrap()));
    let answered = greeter(0, &ours, LONG).answer(&listener.accept().unwrap().0, || true);
    assert_eq!((answered.unwrap().process, called.join().unwrap().unwrap().process), (1, 0));
    let recorded = recorded.join().unwrap();
    let said = ignored(&ours, LONG, move |stream| say(stream, &recorded));
    assert_eq!(said, "it does not know the secret");
}

#[test]
fn what_a_process_says_itself_is_no_answer_to_it() {
    let (listener, address) = listener();
    thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        io::copy(&mut stream.try_clone().unwrap(), &mut { stream })
    });
    let error = greeter(1, &secret("open sesame"), LONG).call(&TcpStream::connect(address).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "it does not know the secret");
}

#[test]
fn a_process_that_may_not_take_part_is_told_nothing() {
    let (listener, address) = listener();
    let ours = secret("open sesame");
    let stranger = thread::spawn(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(&[&b"demeanor"[..], &[7; 32], &[0; 4], &[0; 32]].concat()).unwrap();
        let mut told = Vec::new();
        // The connection may be reset, because some bytes were not read.
        let _ = stream.read_to_end(&mut told);
        told
    });
    greeter(0, &ours, LONG).answer(&listener.accept().unwrap().0, || true).unwrap_err();
    let told = stranger.join().unwrap();
    assert!(told.len() <= BEGIN, "{told:?}");
}

#[test]
fn strangers_that_stall_hold_up_no_process() {
    for secret in [Secret::none(), secret("open sesame")] {
        let meetings = meetings(3, &secret);
        // Strangers call all processes before these check their doors for the first time.
        let addresses = meetings[0].addresses.clone();
        let begin = [&b"demeanor"[..], &[7; 32], &4000_u32.to_le_bytes(), br#"{"process":1"#].concat();
        let stalled: Vec<_> = addresses
            .iter()
            .flat_map(|address| [0, 1, 8, 20, 40, 41, 44, 45].map(|length| (address, length)))
            .map(|(address, length)| {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.write_all(&begin[..length]).unwrap();
                stream
            })
            .collect();
        assert_met(meetings.into_iter().map(start).collect());
        drop(stalled);
    }
}

#[test]
fn five_hundred_strangers_at_once_keep_no_process_from_joining() {
    let mut meetings = meetings(2, &secret("open sesame"));
    let address = meetings[0].addresses[0].clone();
    let last = meetings.pop().unwrap();
    let first = start(meetings.pop().unwrap());
    let garbage = [
        Vec::new(),
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        vec![0xff; 5000],
        b"demeanor".to_vec(),
        [&b"demeanor"[..], &[7; 32]].concat(),
        [&b"demeanor"[..], &[7; 32], &u32::MAX.to_le_bytes()].concat(),
        old_greeting(r#"{"process":1,"settings":[]}"#),
        old_greeting(r#"{"process":0,"settings":[["-n","9"]]}"#),
    ];
    let strangers: Vec<_> = (0..500)
        .map(|nth: usize| {
            let mut stream = TcpStream::connect(&address).unwrap();
            // Some connections are closed during the write.
            let _ = stream.write_all(&garbage[nth % garbage.len()]);
            stream
        })
        .collect();
    assert_met(vec![first, start(last)]);
    drop(strangers);
}

/// A connection on which a process waits before its last word.
struct Pausing {
    stream: TcpStream,
    writes: usize,
    answered: mpsc::Sender<()>,
    goes_on: mpsc::Receiver<()>,
}

impl Read for Pausing {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.read(bytes)
    }
}

impl Write for Pausing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes += 1;
        // After the nonce and the greeting.
        if self.writes == 3 {
            self.answered.send(()).unwrap();
            self.goes_on.recv().unwrap();
        }
        self.stream.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn strangers_that_call_without_end_leave_time_for_everything_else() {
    let ((listener, address), (sender, _events)) = (listener(), mpsc::channel());
    let mut door = Door::new(listener, Arc::new(greeter(0, &secret("open sesame"), LONG)), sender).unwrap();
    let strangers: Vec<_> = (0..=door::MOST_AT_ONCE).map(|_| TcpStream::connect(address).unwrap()).collect();
    assert!(door.open(), "the first of them have called");
    assert!(door.open(), "the last one has, too");
    assert!(!door.open());
    drop(strangers);
}

#[test]
fn if_there_are_too_many_strangers_the_oldest_is_closed_and_a_process_with_the_secret_is_not() {
    let ((listener, address), (sender, events)) = (listener(), mpsc::channel());
    let ours = secret("open sesame");
    let mut door = Door::new(listener, Arc::new(greeter(0, &ours, LONG)), sender).unwrap();
    let ((answered, is_answered), (go_on, goes_on)) = (mpsc::channel(), mpsc::channel());
    let process = thread::spawn(move || {
        let stream = TcpStream::connect(address).unwrap();
        let mut stream = Pausing { stream, writes: 0, answered, goes_on };
        greeter(1, &ours, LONG).call_on(&mut stream).map(|_| stream)
    });
    while is_answered.try_recv().is_err() {
        door.open();
    }
    let mut strangers: Vec<_> = (0..door::MOST)
        .map(|_| {
            let stranger = TcpStream::connect(address).unwrap();
            while !door.open() {}
            stranger
        })
        .collect();
    assert!(events.try_recv().is_err());
    strangers.push(TcpStream::connect(address).unwrap());
    while !door.open() {}
    let Ok(Event::Ignored(text)) = events.recv() else { panic!() };
    let oldest = strangers[0].local_addr().unwrap();
    assert_eq!(text, format!("a connection from {oldest} is ignored: there are too many connections"));
    wait_for_the_end(strangers.remove(0));
    go_on.send(()).unwrap();
    let Ok(Event::Answered(Hello { process: 1, .. }, _)) = events.recv() else { panic!() };
    process.join().unwrap().unwrap();
}

#[test]
fn processes_without_a_secret_meet_only_where_no_other_computer_reaches_them() {
    let how = "give all processes a secret with --secret FILE, or say with --trust-network that every computer in this \
               network may take part";
    let everywhere = || {
        let mut meetings = meetings(2, &Secret::none());
        meetings[0].listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = meetings[0].listener.local_addr().unwrap().port();
        for meeting in &mut meetings {
            meeting.addresses[0] = format!("127.0.0.1:{port}");
        }
        (meetings, port)
    };
    let (mut both, port) = everywhere();
    let error = connect(both.remove(0)).unwrap_err();
    let what = format!("process 0 listens at 0.0.0.0:{port}, which other computers can reach: {how}");
    assert_eq!(error, WorldError::Connect(what));
    // An address reserved for documentation, which no computer has.
    both[0].addresses[0] = "192.0.2.1:2101".to_owned();
    let error = connect(both.remove(0)).unwrap_err();
    let what = format!("process 0 is at 192.0.2.1:2101, which other computers can reach: {how}");
    assert_eq!(error, WorldError::Connect(what));

    let trust: fn(&mut Meeting) = |meeting| meeting.trusts_network = true;
    let share: fn(&mut Meeting) = |meeting| meeting.secret = secret("open sesame");
    for allow in [trust, share] {
        let (mut both, _) = everywhere();
        both.iter_mut().for_each(allow);
        assert_met(both.into_iter().map(start).collect());
    }
}

#[test]
fn a_greeting_is_less_than_4_kb() {
    let mut settings = Settings::default();
    for nth in 0..10 {
        settings.add(&format!("setting {nth}"), &"x".repeat(100_000));
    }
    let hello = |settings: &Settings| Hello { process: 1, settings: settings.clone() };
    let ours = Greeter::new(&hello(&settings), Secret::none(), LONG).unwrap();
    let (listener, address) = listener();
    let called = thread::spawn(move || {
        let (mut stream, mut said) = (TcpStream::connect(address).unwrap(), Vec::new());
        stream.write_all(&[&b"demeanor"[..], &[7; 32]].concat()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        stream.read_to_end(&mut said).unwrap();
        said.len()
    });
    ours.call(&listener.accept().unwrap().0).unwrap_err();
    let said = called.join().unwrap();
    assert!((1000..=4096).contains(&said), "{said}");
    for nth in 10..100 {
        settings.add(&format!("setting {nth}"), &"x".repeat(100));
    }
    let error = Greeter::new(&hello(&settings), Secret::none(), LONG).unwrap_err().to_string();
    assert!(error.starts_with("the settings of this process take 1"), "{error}");
    assert!(error.ends_with(" bytes; at most 4000 are compared"), "{error}");
}

#[test]
fn a_long_setting_that_differs_only_at_its_end_differs() {
    let with = |end: &str| {
        let mut settings = Settings::default();
        settings.add("the book", &("é".repeat(300) + end));
        settings
    };
    assert_eq!(with("a").compare(1, &with("a")), Ok(()));
    let Err(WorldError::Differs { process: 1, settings }) = with("a").compare(1, &with("b")) else { panic!() };
    assert_eq!(settings[0][0], "the book");
    assert_ne!(settings[0][1], settings[0][2]);
}

/// A client that sends one byte whenever it is asked for one, each a moment before the time limit.
struct Drip {
    now: std::rc::Rc<std::cell::Cell<Instant>>,
    limit: Duration,
    begin: std::vec::IntoIter<u8>,
}

impl Read for Drip {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.now.set(self.now.get() + self.limit.min(Duration::from_millis(300)));
        bytes[0] = self.begin.next().unwrap_or(b' ');
        Ok(1)
    }
}

impl Write for Drip {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Limited for Drip {
    fn limit(&mut self, time: Duration) -> io::Result<()> {
        self.limit = time;
        Ok(())
    }
}

#[test]
fn a_client_that_sends_byte_by_byte_is_given_no_more_time_than_another_one() {
    let begin = Instant::now();
    let now = std::rc::Rc::new(std::cell::Cell::new(begin));
    let clock = std::rc::Rc::clone(&now);
    let said = [&b"demeanor"[..], &[7; 32], &4000_u32.to_le_bytes()].concat();
    let drip = Drip { now: std::rc::Rc::clone(&now), limit: LONG, begin: said.into_iter() };
    let mut stream = deadline::Deadline::new(drip, Greeter::TIME, move || clock.get());
    let error = greeter(0, &Secret::none(), LONG).answer_on(&mut stream, || true).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert_eq!(now.get() - begin, Duration::from_secs(2));
}

#[test]
fn frames_that_no_process_writes_are_refused() {
    let head = |kind: u8, length: u32| {
        let bytes = [&[kind][..], &length.to_le_bytes()].concat();
        frame::read_head(&mut &bytes[..]).map_err(|error| error.to_string())
    };
    assert_eq!(head(frame::DATA, 1 << 24), Ok((frame::DATA, 1 << 24)));
    assert_eq!(head(frame::ERROR, 1 << 16), Ok((frame::ERROR, 1 << 16)));
    for (kind, longest) in [(frame::DATA, 1 << 24), (frame::ERROR, 1 << 16), (frame::END, 0), (frame::ALIVE, 0)] {
        let length = longest + 1;
        let text = format!("a frame of kind {kind} has {length} bytes; at most {longest} are sent");
        assert_eq!(head(kind, length), Err(text));
    }
    assert_eq!(head(0, 0), Err("there are no frames of kind 0".to_owned()));
    assert_eq!(head(5, 0), Err("there are no frames of kind 5".to_owned()));
    assert!(frame::write(&mut io::sink(), frame::DATA, &vec![0; (1 << 24) + 1]).is_err());
}
