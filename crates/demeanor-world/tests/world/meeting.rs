//! How processes meet, and how they notice that another process is silent.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::{env, io, thread};

use crate::village::process::{Run, digests, error_of, observed};
use crate::village::reference;
use demeanor_world::Local;

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
    // When it continues, it receives the reason why the others are gone.
    signal("-CONT");
    let error = error_of(&mut local.children[1]).unwrap();
    assert_eq!(said_of_it(error), "is gone: it has said nothing for 1 s");
}

/// Copies this program with an additional byte at its end: a different executable with the same behavior.
#[cfg(unix)]
fn other_build(folder: &Path) -> std::path::PathBuf {
    let other = folder.join("other");
    // `sh` writes the copy, because a file that this process has open for writing cannot be executed.
    let mut copy = Command::new("sh");
    copy.args(["-c", r#"cp "$0" "$1" && echo >> "$1""#]).arg(env::current_exe().unwrap()).arg(&other);
    assert!(copy.status().unwrap().success());
    other
}

#[test]
fn a_world_of_no_processes_is_not_started() {
    let error = Local::start(0, |_| Command::new("never")).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (io::ErrorKind::InvalidInput, "a world needs at least 1 process")
    );
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
    let version = |process: usize| Some(format!("village 1.{process}"));
    let run = Run { processes: 2, ..Run::default() };
    let mut local = run.start_each(|process, run| Run { program: version(process), ..run });
    let differs = |process, there, here| {
        format!(
            "process {process} was started differently: the program is village {there} there and village {here} here"
        )
    };
    assert_eq!(errors_of(&mut local), [differs(1, "1.1", "1.0"), differs(0, "1.0", "1.1")]);
}

#[test]
fn processes_with_the_same_secret_run_together() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "open sesame\n").unwrap();
    let run = Run { processes: 3, ticks: 20, secret: Some(file.path().to_owned()), ..Run::default() };
    assert_eq!(digests(&run), reference::one_batch(run.shards, run.ticks));
}

#[test]
fn a_process_with_another_secret_does_not_join() {
    let folder = tempfile::tempdir().unwrap();
    let file = |process: usize| {
        let file = folder.path().join(process.to_string());
        std::fs::write(&file, format!("open {process}")).unwrap();
        file
    };
    let run = Run { processes: 2, patience: 1, ..Run::default() };
    let mut local = run.start_each(|process, run| Run { secret: Some(file(process)), ..run });
    assert_eq!(observed(&mut local).next(), None);
    for (process, error) in errors_of(&mut local).into_iter().enumerate() {
        // The process that gives up first may not have reached the other one either.
        let expected = format!("after 1 s there is no connection to process {} (127.0.0.1:", 1 - process);
        let (_, ignored) = error.strip_prefix(&expected).unwrap_or_else(|| panic!("{error}")).split_once(')').unwrap();
        assert!(ignored.is_empty() || ignored.contains(" is ignored: it "), "{error}");
        assert!(!error.contains("open"), "{error}");
    }
}

/// Stands between two processes. The first connection is closed after the caller's greeting, as if the caller had not waited
/// for the answer; the second connection is forwarded.
fn impatient(to: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut server = TcpStream::connect(&to).unwrap();
        // The protocol's bytes and a nonce, both ways.
        let mut begin = [0; 40];
        client.read_exact(&mut begin).unwrap();
        server.write_all(&begin).unwrap();
        server.read_exact(&mut begin).unwrap();
        client.write_all(&begin).unwrap();
        // The length of the text, the text, and the proof.
        let mut length = [0; 4];
        client.read_exact(&mut length).unwrap();
        let mut text = vec![0; u32::from_le_bytes(length) as usize + 32];
        client.read_exact(&mut text).unwrap();
        server.write_all(&length).unwrap();
        server.write_all(&text).unwrap();
        server.shutdown(Shutdown::Write).unwrap();
        // The server has answered. If it did not wait for a confirmation, it would use the connection.
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

/// Reads a frame: its kind, its length and as many bytes.
fn read_frame(from: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 5];
    from.read_exact(&mut frame)?;
    let length = u32::from_le_bytes(frame[1..].try_into().unwrap());
    frame.resize(5 + length as usize, 0);
    from.read_exact(&mut frame[5..])?;
    Ok(frame)
}

/// Stands between two processes. It forwards everything, except that the caller has finished: then it closes the connection, as
/// if the caller had been killed.
fn killer(to: String) -> String {
    const END: u8 = 3;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut server = TcpStream::connect(&to).unwrap();
        let (back_from, back_to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        thread::spawn(move || pass_on(back_from, back_to));
        // The protocol's bytes, a nonce, and the length of the text.
        let mut begin = [0; 44];
        client.read_exact(&mut begin).unwrap();
        server.write_all(&begin).unwrap();
        // The text, the proof, and one byte after the answer.
        let length = u32::from_le_bytes(begin[40..].try_into().unwrap());
        io::copy(&mut (&client).take(u64::from(length) + 33), &mut server).unwrap();
        while let Some(frame) = read_frame(&mut client).ok().filter(|frame| frame[0] != END) {
            server.write_all(&frame).unwrap();
        }
        server.shutdown(Shutdown::Write).unwrap();
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

#[test]
fn a_process_that_is_gone_after_the_last_tick_ends_the_others_with_an_error() {
    let run = Run { processes: 2, ticks: 5, ..Run::default() };
    let program = env::current_exe().unwrap();
    let by_way_of = |process: usize, addresses: &[String]| match process {
        1 => vec![killer(addresses[0].clone()), addresses[1].clone()],
        _ => addresses.to_vec(),
    };
    let mut local = Local::start_by_way_of(2, |_| run.command(&program), by_way_of).unwrap();
    assert_eq!(observed(&mut local).last().unwrap().0, 4);
    let error = errors_of(&mut local).remove(0);
    let (who, what) = error.split_once(" (127.0.0.1:").unwrap();
    let what = what.split_once(") ").unwrap().1;
    assert_eq!((who, what), ("process 1", "is gone: its connection was closed without an error message"));
}
