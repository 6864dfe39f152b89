//! Processes on this machine: a launcher starts them, and tells them where they are.
//!
//! Each process takes a free port from the operating system, says which to the launcher, and gets the addresses of all. So no
//! port is written anywhere, and many worlds can run side by side. They greet the launcher and each other with a secret that the
//! launcher has made for them.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::WorldError;
use crate::network::{Door, Event, Greeter, Hello, Secret, Settings, VARIABLE};

/// The name of the only setting of a process that greets its launcher.
const ADDRESS: &str = "address";
/// How long a process waits before it looks again.
const PAUSE: Duration = Duration::from_millis(2);

/// The processes of a world on this machine.
#[derive(Debug)]
pub struct Local {
    /// The processes, by number.
    pub children: Vec<Child>,
}

impl Local {
    /// Starts `processes` processes by a command, which is given `-n`, `-p` and `--meet` for [`World::run`](crate::World::run).
    ///
    /// # Errors
    ///
    /// When a process cannot be started, or ends before it has been told the addresses.
    pub fn start(processes: usize, command: impl FnMut(usize) -> Command) -> io::Result<Self> {
        Self::start_by_way_of(processes, command, |_, addresses| addresses.to_vec())
    }

    /// As [`start`](Self::start). `addresses_for` is given a process and the addresses of all, and returns those that it is told
    /// of, as a test does that puts a slow network between them.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn start_by_way_of(
        processes: usize,
        mut command: impl FnMut(usize) -> Command,
        mut addresses_for: impl FnMut(usize, &[String]) -> Vec<String>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let meet = listener.local_addr()?.to_string();
        let (secret, text) = Secret::random()?;
        let mut local = Self { children: Vec::new() };
        for process in 0..processes {
            let [n, p] = [processes, process].map(|number| number.to_string());
            let mut command = command(process);
            let started = command.args(["-n", &n, "-p", &p, "--meet", &meet]).env(VARIABLE, &text).spawn();
            // On an error those that run already end with `local`.
            local.children.push(started?);
        }
        // One process alone has no other to meet.
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
    /// When the operating system does not say.
    pub fn wait(mut self) -> io::Result<bool> {
        let mut is_fine = true;
        for child in &mut self.children {
            is_fine &= child.wait()?.success();
        }
        self.children.clear();
        Ok(is_fine)
    }
}

/// A launcher that ends takes its processes with it.
impl Drop for Local {
    fn drop(&mut self) {
        self.kill();
    }
}

/// More than the addresses of all processes take.
const LONGEST_LINE: u64 = 1 << 20;

/// The other side: takes a port, and asks the launcher where the others are.
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
                // A launcher that is still starting other processes may answer too late.
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
