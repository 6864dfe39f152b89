//! Processes on this machine: a launcher starts them, and tells them where they are.
//!
//! Each process takes a free port from the operating system, says which to the launcher, and gets the addresses of all. So no
//! port is written anywhere, and many worlds can run side by side.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::error::WorldError;

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
        let mut local = Self { children: Vec::new() };
        for process in 0..processes {
            let [n, p] = [processes, process].map(|number| number.to_string());
            let started = command(process).args(["-n", &n, "-p", &p, "--meet", &meet]).spawn();
            // On an error those that run already end with `local`.
            local.children.push(started?);
        }
        // One process alone has nobody to meet.
        if processes > 1 {
            local.tell(&listener, &mut addresses_for)?;
        }
        Ok(local)
    }

    fn tell(
        &mut self,
        listener: &TcpListener,
        addresses_for: &mut impl FnMut(usize, &[String]) -> Vec<String>,
    ) -> io::Result<()> {
        listener.set_nonblocking(true)?;
        let mut met: Vec<Option<(TcpStream, String)>> = self.children.iter().map(|_| None).collect();
        while met.iter().any(Option::is_none) {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false)?;
                    let mut line = String::new();
                    BufReader::new(stream.try_clone()?).read_line(&mut line)?;
                    let said = line.trim().split_once(' ');
                    let said = said.and_then(|(process, address)| Some((process.parse::<usize>().ok()?, address)));
                    if let Some((process, address)) = said.filter(|(process, _)| *process < met.len()) {
                        met[process] = Some((stream, address.to_owned()));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    for (process, child) in self.children.iter_mut().enumerate() {
                        if let (None, Some(status)) = (&met[process], child.try_wait()?) {
                            return Err(io::Error::other(format!("process {process} ended at once: {status}")));
                        }
                    }
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(error) => return Err(error),
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

/// The other side: takes a port, and asks the launcher where the others are.
pub(crate) fn meet(launcher: &str, process: usize, processes: usize) -> Result<(TcpListener, Vec<String>), WorldError> {
    let asked = (|| {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let mut stream = TcpStream::connect(launcher)?;
        writeln!(stream, "{process} {}", listener.local_addr()?)?;
        let mut line = String::new();
        let since = Instant::now();
        BufReader::new(stream).read_line(&mut line)?;
        let addresses: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        if addresses.len() != processes {
            let (count, passed) = (addresses.len(), since.elapsed().as_millis());
            return Err(io::Error::other(format!("{count} addresses of {processes} came after {passed} ms")));
        }
        Ok((listener, addresses))
    })();
    asked.map_err(|error| {
        WorldError::Connect(format!("the launcher at {launcher} does not say where the others are: {error}"))
    })
}
