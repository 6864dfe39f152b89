//! The hosts file. Each line is the address of a process, in the order of their numbers.

use std::fs;
use std::path::Path;

use crate::error::WorldError;

/// Reads the first `processes` addresses of a file. Empty lines, and lines that begin with `#`, are ignored.
pub(crate) fn read(path: &Path, processes: usize) -> Result<Vec<String>, WorldError> {
    let file = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| WorldError::Hosts {
        file: file.clone(),
        line: None,
        text: error.to_string(),
    })?;
    let mut hosts: Vec<(usize, &str)> = Vec::new();
    // Some editors write a byte order mark at the beginning of a file.
    for (nth, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let (line, host) = (nth + 1, line.trim());
        if host.is_empty() || host.starts_with('#') {
            continue;
        }
        let wrong = |text: String| WorldError::Hosts { file: file.clone(), line: Some(line), text };
        check(host).map_err(wrong)?;
        if let Some((first, _)) = hosts.iter().find(|(_, other)| other.eq_ignore_ascii_case(host)) {
            return Err(wrong(format!("`{host}` is the address of another process already, on line {first}")));
        }
        hosts.push((line, host));
    }
    if hosts.len() < processes {
        let text = format!("there are {} addresses, but {processes} processes", hosts.len());
        return Err(WorldError::Hosts { file, line: None, text });
    }
    Ok(hosts.into_iter().take(processes).map(|(_, host)| host.to_owned()).collect())
}

fn check(host: &str) -> Result<(), String> {
    let Some((name, port)) = host.rsplit_once(':') else {
        return Err(format!("`{host}` has no port: write `{host}:2101`"));
    };
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err(format!("`{host}` has no host name before the port"));
    }
    if name.contains(':') && !(name.starts_with('[') && name.ends_with(']')) {
        return Err(format!(
            "`{host}` has more than one colon: write an IPv6 address in brackets, as in `[fd00::1]:2101`"
        ));
    }
    match port.parse::<u16>() {
        Ok(0) | Err(_) => Err(format!("`{port}` is not a port: a port is a number from 1 to 65535")),
        Ok(_) => Ok(()),
    }
}
