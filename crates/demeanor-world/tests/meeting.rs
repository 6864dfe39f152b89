//! How processes meet, and how they notice that one of them is silent.

mod village;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::{env, io, thread};

use demeanor_world::{Local, World};
use village::process::{Run, be_one, error_of, observed};
use village::{Villager, reference, world};

/// Not a test: what the processes run that the tests start.
#[test]
fn a_process() {
    be_one();
}

fn errors_of(local: &mut Local) -> Vec<String> {
    local.children.iter_mut().map(|child| error_of(child).unwrap()).collect()
}

#[cfg(unix)]
#[test]
fn a_process_that_is_stopped_ends_the_others_when_the_silence_is_too_long() {
    let mut local = Run { processes: 3, ticks: 1_000_000, silence: 1, ..Run::default() }.start();
    let mut ticks = observed(&mut local);
    ticks.find(|(tick, _)| *tick == 5).unwrap();
    let stopped = local.children[1].id().to_string();
    let signal = |name: &str| assert!(Command::new("kill").args([name, &stopped]).status().unwrap().success());
    signal("-STOP");
    ticks.for_each(drop);
    let said_of_it = |error: String| {
        let (_, what) = error.rsplit_once("process 1 (127.0.0.1:").unwrap();
        what.split_once(") ").unwrap().1.to_owned()
    };
    for process in [0, 2] {
        let error = error_of(&mut local.children[process]).unwrap();
        assert_eq!(said_of_it(error), "is gone: it has said nothing for 1 s");
    }
    // When it goes on, it hears why there is nobody left.
    signal("-CONT");
    let error = error_of(&mut local.children[1]).unwrap();
    assert_eq!(said_of_it(error), "is gone: it has said nothing for 1 s");
}

/// Copies this program, with a byte more at its end: another executable that does the same.
#[cfg(unix)]
fn other_build(folder: &Path) -> std::path::PathBuf {
    let other = folder.join("other");
    // By another program: a file that this one has open for writing cannot be executed.
    let mut copy = Command::new("sh");
    copy.args(["-c", r#"cp "$0" "$1" && echo >> "$1""#]).arg(env::current_exe().unwrap()).arg(&other);
    assert!(copy.status().unwrap().success());
    other
}

#[cfg(unix)]
#[test]
fn processes_of_different_builds_do_not_run_together() {
    let folder = tempfile::tempdir().unwrap();
    let (program, other) = (env::current_exe().unwrap(), other_build(folder.path()));
    let run = Run { processes: 2, ..Run::default() };
    let mut local = Local::start(2, |process| run.command(if process == 1 { &other } else { &program })).unwrap();
    for error in errors_of(&mut local) {
        let (_, differs) = error.rsplit_once(" was started differently: the digest of the executable is ").unwrap();
        let (there, here) = differs.split_once(" there and ").unwrap();
        let here = here.strip_suffix(" here").unwrap();
        assert!(there.len() == 16 && here.len() == 16 && there != here, "{error}");
    }
}

#[test]
fn a_program_that_says_which_it_is_is_compared_by_that() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let launcher = thread::spawn(move || meet(&listener, 2));
    let process = |nth: &'static str, version: &'static str| {
        let address = address.clone();
        let world: World<Villager> = world(4).program(format!("village {version}"));
        thread::spawn(move || {
            world.run(["-n", "2", "-p", nth, "--meet", &address], 3).map_err(|error| error.to_string())
        })
    };
    let (first, second) = (process("0", "1.0"), process("1", "1.1"));
    launcher.join().unwrap().unwrap();
    let differs = |process, there, here| {
        Err(format!(
            "process {process} was started differently: the program is village {there} there and village {here} here"
        ))
    };
    assert_eq!(first.join().unwrap(), differs(1, "1.1", "1.0"));
    assert_eq!(second.join().unwrap(), differs(0, "1.0", "1.1"));
}

/// Tells processes where they are, as a launcher does.
fn meet(listener: &TcpListener, processes: usize) -> io::Result<()> {
    let mut met = Vec::new();
    for stream in listener.incoming().take(processes) {
        let mut stream = stream?;
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            line.push(byte[0]);
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        let (process, address) = line.trim().split_once(' ').unwrap();
        met.push((process.parse::<usize>().unwrap(), address.to_owned(), stream));
    }
    met.sort_by_key(|(process, _, _)| *process);
    let addresses: Vec<_> = met.iter().map(|(_, address, _)| address.clone()).collect();
    met.iter_mut().try_for_each(|(_, _, stream)| writeln!(stream, "{}", addresses.join(" ")))
}

/// Stands between two processes. The first connection is closed when the caller has said hello, as if it had not waited for the
/// answer; the second one is let through.
fn impatient(to: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut hello = vec![0; 12];
        client.read_exact(&mut hello).unwrap();
        let length = u32::from_le_bytes(hello[8..].try_into().unwrap());
        let mut text = vec![0; length as usize];
        client.read_exact(&mut text).unwrap();
        let mut server = TcpStream::connect(&to).unwrap();
        server.write_all(&hello).unwrap();
        server.write_all(&text).unwrap();
        server.shutdown(Shutdown::Write).unwrap();
        // It has answered, and counts on the connection if it does not ask whether it was heard.
        server.read_exact(&mut [0]).unwrap();
        drop((client, server));
        let (client, _) = listener.accept().unwrap();
        let server = TcpStream::connect(&to).unwrap();
        let (back_from, back_to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        thread::spawn(move || pass_on(back_from, back_to));
        pass_on(client, server);
    });
    address
}

fn pass_on(mut from: TcpStream, mut to: TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

#[test]
fn a_connection_that_was_given_up_while_the_processes_met_does_not_count() {
    let run = Run { processes: 2, ticks: 20, ..Run::default() };
    let program = env::current_exe().unwrap();
    let by_way_of = |process: usize, addresses: &[String]| match process {
        1 => vec![impatient(addresses[0].clone()), addresses[1].clone()],
        _ => addresses.to_vec(),
    };
    let mut local = Local::start_by_way_of(2, |_| run.command(&program), by_way_of).unwrap();
    let ticks: Vec<_> = observed(&mut local).collect();
    assert_eq!(errors_of(&mut local), ["", ""]);
    assert_eq!(ticks, reference::one_batch(run.shards, run.ticks));
}
