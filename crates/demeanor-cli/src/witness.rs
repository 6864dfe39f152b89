//! Shows how a finding can be reproduced: as a command that plays its values, and as JSON.

use std::fmt::Write as _;
use std::path::Path;

use demeanor::definition::{Witness, WitnessValue};
use serde_json::{Map, Value, json};

/// The line that ends a table on the command line.
const END: &str = "END";

/// Returns the command that plays a witness, with the table that it reads, if there is one. `watches` says whether the witness shows
/// that a property fails.
pub(crate) fn command(
    witness: &Witness,
    file: &str,
    machine: Option<&str>,
    words: Option<&Path>,
    watches: bool,
) -> String {
    let mut command = format!("demeanor run {}{}", quoted_file(file), if watches { " --watch-properties" } else { "" });
    let mut option = |name: &str, value: &str| {
        // Otherwise the value would look like another option.
        let joint = if value.starts_with('-') { '=' } else { ' ' };
        let _ = write!(command, " --{name}{joint}{}", quoted(value));
    };
    if let Some(words) = words {
        option("vocabulary", &words.display().to_string());
    }
    for (name, value) in [("machine", machine), ("from", witness.from())] {
        if let Some(value) = value {
            option(name, value);
        }
    }
    option("tick", &witness.tick().to_string());
    option("seconds", &witness.seconds().to_string());
    match witness.rows() {
        [] => command,
        [row] if row.time <= 0.0 || row.values.is_empty() => {
            for (name, value) in &row.values {
                option("set", &format!("{name}={value}"));
            }
            if let Some(message) = row.sent() {
                option("send", &format!("{message}@{}", row.time));
            }
            command
        }
        _ => format!("{command} --values - <<{END}\n{}{END}", witness.to_csv()),
    }
}

/// Returns the name of a file as a word of a command. Without a folder, a file such as `-f.toml` would look like an option.
pub(crate) fn quoted_file(file: &str) -> String {
    let folder = if file.starts_with('-') && file != "-" { "./" } else { "" };
    quoted(&format!("{folder}{file}"))
}

/// Returns a word of a command, in quotes if a shell needs them.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=@+:,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Returns the witness as JSON.
pub(crate) fn document(witness: &Witness) -> Value {
    let rows: Vec<_> = witness
        .rows()
        .iter()
        .map(|row| {
            let values: Map<_, _> = row.values.iter().map(|(name, of)| (name.clone(), value(*of))).collect();
            json!({ "time": row.time, "values": values, "message": row.sent() })
        })
        .collect();
    let changes = witness.changes().iter();
    let changes: Vec<_> =
        changes.map(|change| json!({ "time": change.time, "from": change.from, "to": change.to })).collect();
    json!({
        "from": witness.from(),
        "tick": witness.tick(),
        "seconds": witness.seconds(),
        "rows": rows,
        "table": witness.to_csv(),
        "changes": changes,
        "end": witness.end(),
    })
}

/// A number that is not finite becomes a text, because JSON cannot represent it.
fn value(of: WitnessValue) -> Value {
    match of {
        WitnessValue::Flag(is) => json!(is),
        WitnessValue::Number(number) if number.is_finite() => json!(number),
        WitnessValue::Number(number) => json!(number.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::{quoted, quoted_file};

    #[test]
    fn a_word_is_in_quotes_where_a_shell_needs_them() {
        assert_eq!(quoted("run.toml"), "run.toml");
        assert_eq!(quoted("run to 'cover'"), r"'run to '\''cover'\'''");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted_file("-f.toml"), "./-f.toml");
        assert_eq!(quoted_file("-my f.toml"), "'./-my f.toml'");
        assert_eq!(quoted_file("-"), "-", "standard input");
    }
}
