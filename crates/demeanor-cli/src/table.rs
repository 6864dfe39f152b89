//! Values from the command line: single values, and a table of values over time.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::input::{LONGEST, is_standard};
use crate::puppet::Told;
use crate::setting::Setting;

/// One row of a table: the values from this time on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Moment {
    pub(crate) time: f64,
    pub(crate) settings: Vec<(String, Setting)>,
    /// The message that is sent at this time.
    pub(crate) message: Option<Told>,
}

/// Reads a table, in CSV with a column `time`, or in TOML with `[[at]]` and `time = ..`; a column `message` sends messages.
/// Standard input is read as CSV.
pub(crate) fn read(path: &Path) -> Result<Vec<Moment>, String> {
    let named = |why: String| format!("{}: {why}", path.display());
    let text = if is_standard(path) { io::read_to_string(io::stdin().take(LONGEST)) } else { fs::read_to_string(path) };
    let text = text.map_err(|error| named(error.to_string()))?;
    let is_toml = path.extension().is_some_and(|extension| extension == "toml");
    let mut moments = if is_toml { from_toml(&text) } else { from_csv(&text) }.map_err(named)?;
    sort(&mut moments);
    Ok(moments)
}

pub(crate) fn sort(moments: &mut [Moment]) {
    moments.sort_by(|a, b| a.time.total_cmp(&b.time));
}

fn from_csv(text: &str) -> Result<Vec<Moment>, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    let names = reader.headers().map_err(|error| error.to_string())?.clone();
    if !names.iter().any(|name| name == "time") {
        return Err("there is no column `time`; columns are separated by commas".into());
    }
    let is_twice =
        |(nth, name): &(usize, &str)| !name.is_empty() && names.iter().take(*nth).any(|other| other == *name);
    if let Some((_, name)) = names.iter().enumerate().find(is_twice) {
        return Err(format!("there are two columns `{name}`"));
    }
    let mut moments = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|error| error.to_string())?;
        let line = row.position().map_or(0, csv::Position::line);
        let cells = names.iter().zip(&row).filter(|(_, cell)| !cell.is_empty());
        moments.push(
            moment(cells.map(|(name, cell)| (name, cell.to_owned()))).map_err(|why| format!("line {line}: {why}"))?,
        );
    }
    Ok(moments)
}

fn from_toml(text: &str) -> Result<Vec<Moment>, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Table {
        at: Vec<toml::Table>,
    }
    parsed::<Table>(text).and_then(|table| moments(&table.at))
}

/// Parses TOML. The error is one line.
pub(crate) fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|at| text.get(..at.start)).unwrap_or_default();
        format!("line {}: {}", before.matches('\n').count() + 1, error.message())
    })
}

/// Reads the rows `at` of a table.
pub(crate) fn moments(rows: &[toml::Table]) -> Result<Vec<Moment>, String> {
    let row = |(i, row): (usize, &toml::Table)| {
        let text = |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        moment(row.iter().map(|(name, value)| (name.as_str(), text(value))))
            .map_err(|why| format!("`at` number {}: {why}", i + 1))
    };
    rows.iter().enumerate().map(row).collect()
}

/// Parses the time at which something is set or sent, in seconds.
pub(crate) fn time(text: &str) -> Result<f64, String> {
    let time = text.parse().ok().filter(|time: &f64| time.is_finite() && *time >= 0.0);
    time.ok_or_else(|| format!("the time `{text}` is not a number from 0 on"))
}

fn moment<'a>(cells: impl Iterator<Item = (&'a str, String)>) -> Result<Moment, String> {
    let mut moment = Moment { time: f64::NAN, settings: Vec::new(), message: None };
    for (name, cell) in cells {
        match name {
            "time" => {
                moment.time = time(&cell)?;
            }
            "message" => moment.message = Some(Told::parse(&cell)?),
            _ => {
                let value = Setting::parse(&cell).map_err(|why| format!("{name}: {why}"))?;
                moment.settings.push((name.strip_prefix("value.").unwrap_or(name).into(), value));
            }
        }
    }
    if moment.time.is_nan() { Err("there is no `time`".into()) } else { Ok(moment) }
}

#[cfg(test)]
mod tests {
    use super::{Moment, Setting, Told, from_csv, from_toml};

    #[test]
    fn a_table_in_csv_is_the_same_as_in_toml() {
        let csv = from_csv("time, health, alarm, message\n0, 50, false,\n1.5, , true, hit\n").unwrap();
        let toml = from_toml(
            "[[at]]\ntime = 0\nhealth = 50\nalarm = false\n[[at]]\ntime = 1.5\nalarm = true\nmessage = \"hit\"\n",
        );
        assert_eq!(
            csv,
            [
                Moment {
                    time: 0.0,
                    settings: vec![("health".into(), Setting::Number(50.0)), ("alarm".into(), Setting::Flag(false))],
                    message: None
                },
                Moment {
                    time: 1.5,
                    settings: vec![("alarm".into(), Setting::Flag(true))],
                    message: Some(Told::parse("hit").unwrap())
                },
            ]
        );
        let mut toml = toml.unwrap();
        toml[0].settings.reverse();
        assert_eq!(csv, toml);
    }

    #[test]
    fn a_table_with_a_mistake_tells_its_line() {
        assert_eq!(from_csv("time,health\nnan,4\n").unwrap_err(), "line 2: the time `nan` is not a number from 0 on");
        assert_eq!(from_csv("time\n-1\n").unwrap_err(), "line 2: the time `-1` is not a number from 0 on");
        assert_eq!(
            from_csv("time,health\n0,many\n").unwrap_err(),
            "line 2: health: `many` is neither a number nor true or false"
        );
        assert_eq!(from_csv("time,health\n,1\n").unwrap_err(), "line 2: there is no `time`");
        assert_eq!(from_csv("time,x,y,x\n0,1,2,3\n").unwrap_err(), "there are two columns `x`");
        assert_eq!(
            from_csv("time;health\n0;1\n").unwrap_err(),
            "there is no column `time`; columns are separated by commas"
        );
        assert_eq!(
            from_toml("[[at]]\ntime = 0\nhealth = { a =\n").unwrap_err(),
            "line 3: unclosed inline table, expected `}`"
        );
        assert_eq!(
            from_toml("[[at]]\ntime = 0\n\n[[att]]\ntime = 1\n").unwrap_err(),
            "line 4: unknown field `att`, expected `at`"
        );
        assert_eq!(from_toml("").unwrap_err(), "line 1: missing field `at`");
    }
}
