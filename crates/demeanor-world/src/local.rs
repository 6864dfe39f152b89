//! Processes on this computer: a launcher starts them, and gives them the addresses of all.
//!
//! Each process gets a free port from the operating system, tells it to the launcher, and receives the addresses of all
//! processes. So no port needs to be configured, and many worlds can run side by side. The processes greet the launcher and
//! each other with a secret that the launcher has created.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::WorldError;
use crate::network::{Door, Event, Greeter, Hello, Secret, Settings, VARIABLE};

/// The name of the only setting that a process sends to its launcher.
const ADDRESS: &str = "address";
/// The pause between two checks while waiting.
const PAUSE: Duration = Duration::from_millis(2);

/// The processes of a world on this computer.
#[derive(Debug)]
pub struct Local {
    /// The processes, by number.
    pub children: Vec<Child>,
}

impl Local {
    /// Starts `processes` processes by a command. The command gets the arguments `-n`, `-p` and `--meet` for
    /// [`World::run`](crate::World::run).
    ///
    /// # Errors
    ///
    /// When a process cannot be started, or ends before it receives the addresses. When `processes` is 0.
    pub fn start(processes: usize, command: impl FnMut(usize) -> Command) -> io::Result<Self> {
        Self::start_by_way_of(processes, command, |_, addresses| addresses.to_vec())
    }

    /// Like [`start`](Self::start), but a process is given the addresses that `addresses_for` returns. Its arguments are the
    /// process and the real addresses of all. A test can use this to put a slow network between the processes.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn start_by_way_of(
        processes: usize,
        mut command: impl FnMut(usize) -> Command,
        mut addresses_for: impl FnMut(usize, &[String]) -> Vec<String>,
    ) -> io::Result<Self> {
        if processes == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a world needs at least 1 process"));
        }
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let meet = listener.local_addr()?.to_string();
        let (secret, text) = Secret::random()?;
        let mut local = Self { children: Vec::new() };
        for process in 0..processes {
            let [n, p] = [processes, process].map(|number| number.to_string());
            let mut command = command(process);
            let started = command.args(["-n", &n, "-p", &p, "--meet", &meet]).env(VARIABLE, &text).spawn();
            // After an error, dropping `local` ends the processes that already run.
            local.children.push(started?);
        }
        // A single process has no other process to meet.
        if processes > 1 {
            local.tell(listener, secret, &mut addresses_for)?;
        }
        Ok(local)
    }

    fn tell(
        &mut self,
        listener: TcpListener,
        secret: Secret,
        addresses_for: &mut impl FnMut(usize, &[String]) -> Vec<String>,
    ) -> io::Result<()> {
        let (sender, events) = mpsc::channel();
        let hello = Hello { process: self.children.len(), settings: Settings::default() };
        let greeter = Greeter::new(&hello, secret, Greeter::TIME).map_err(io::Error::other)?;
        let mut door = Door::new(listener, Arc::new(greeter), sender)?;
        let mut met: Vec<Option<(TcpStream, String)>> = self.children.iter().map(|_| None).collect();
        while met.iter().any(Option::is_none) {
            door.open();
            match events.recv_timeout(PAUSE) {
                Ok(Event::Answered(hello, stream)) => {
                    let address = hello.settings.0.into_iter().find(|(name, _)| name == ADDRESS);
                    if let (Some(place), Some((_, address))) = (met.get_mut(hello.process), address) {
                        *place = Some((stream, address));
                    }
                }
                Ok(Event::Ignored(text)) => log::warn!(target: "demeanor_world", "{text}"),
                _ => {
                    for (process, child) in self.children.iter_mut().enumerate() {
                        if let (None, Some(status)) = (&met[process], child.try_wait()?) {
                            return Err(io::Error::other(format!("process {process} ended at once: {status}")));
                        }
                    }
                }
            }
        }
        let met: Vec<_> = met.into_iter().flatten().collect();
        let addresses: Vec<_> = met.iter().map(|(_, address)| address.clone()).collect();
        for (process, (mut stream, _)) in met.into_iter().enumerate() {
            stream.write_all((addresses_for(process, &addresses).join(" ") + "\n").as_bytes())?;
        }
        Ok(())
    }

    /// Ends all processes that still run.
    pub fn kill(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Waits for all processes, and returns whether all of them ended without an error.
    ///
    /// # Errors
    ///
    /// When the operating system reports an error.
    pub fn wait(mut self) -> io::Result<bool> {
        let mut is_fine = true;
        for child in &mut self.children {
            is_fine &= child.wait()?.success();
        }
        self.children.clear();
        Ok(is_fine)
    }
}

/// When a launcher ends, it ends its processes.
impl Drop for Local {
    fn drop(&mut self) {
        self.kill();
    }
}

/// More bytes than the addresses of all processes take.
const LONGEST_LINE: u64 = 1 << 20;

/// The process's side of the meeting: gets a port, and asks the launcher for the addresses of the other processes.
pub(crate) fn meet(
    launcher: &str,
    secret: &Secret,
    patience: Duration,
    (process, processes): (usize, usize),
) -> Result<(TcpListener, Vec<String>), WorldError> {
    let asked = (|| {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let mut settings = Settings::default();
        settings.add(ADDRESS, &listener.local_addr()?);
        let hello = Hello { process, settings };
        let greeter = Greeter::new(&hello, secret.clone(), Greeter::TIME).map_err(io::Error::other)?;
        let deadline = Instant::now() + patience;
        let stream = loop {
            let called = TcpStream::connect(launcher).and_then(|stream| greeter.call(&stream).map(|_| stream));
            match called {
                // A launcher that is still starting other processes may answer too late; so the process tries again.
                Err(error) if error.kind() != io::ErrorKind::ConnectionRefused && Instant::now() < deadline => {
                    thread::sleep(PAUSE);
                }
                called => break called?,
            }
        };
        let mut line = String::new();
        BufReader::new(stream.take(LONGEST_LINE)).read_line(&mut line)?;
        let addresses: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        if addresses.len() != processes {
            return Err(io::Error::other(format!("{} addresses of {processes} have come", addresses.len())));
        }
        Ok((listener, addresses))
    })();
    asked.map_err(|error| {
        WorldError::Connect(format!("the launcher at {launcher} does not say where the others are: {error}"))
    })
}
