//! Parses durations (`after`, `every`, `cooldown` and `within`) and the tick rate. A duration is a number of seconds, a text such
//! as `"10 ticks"` or `"2 s .. 4 s"`, or the name of a value.

use std::ops::Range;

use super::tree::{SpannedValue, TreeValue};
use super::type_of;
use crate::format::expression::is_name;
use crate::format::name::Name;
use crate::format::problems::findings::{Findings, nearest};
use crate::format::problems::{Mistake, Origin};

/// A duration in its written form.
#[derive(Clone, Debug)]
pub(crate) struct DraftDuration {
    /// The text on one line. A plain number gets the unit `s`.
    pub(crate) text: String,
    pub(crate) length: DraftLength,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum DraftLength {
    Fixed(Time),
    /// From the first time to the second. The second one is longer if both have the same unit.
    Drawn(Time, Time),
    /// The value of the game with this name, in seconds.
    Value(Name),
}

/// A time in seconds or in ticks. It is finite and not negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Time {
    pub(crate) number: f64,
    /// Whether it is in ticks instead of seconds.
    pub(crate) is_ticks: bool,
}

/// The units of time, each with its length in seconds. `None` for ticks.
const UNITS: [(&[&str], Option<f64>); 5] = [
    (&["hours", "hour", "h"], Some(3600.0)),
    (&["minutes", "minute", "min"], Some(60.0)),
    (&["ticks", "tick"], None),
    (&["seconds", "second", "sec", "s"], Some(1.0)),
    (&["milliseconds", "millisecond", "msec", "ms"], Some(0.001)),
];

/// Units that are too short for durations, each with how many of them make a second.
const TOO_SHORT: [(&[&str], f64); 2] =
    [(&["µs", "μs", "us", "usec", "microseconds"], 1e6), (&["ns", "nsec", "nanoseconds"], 1e9)];

/// The help for a duration that cannot be read.
const FORMS: &str = "write seconds, `2.5`, or a text with a unit: `\"200 ms\"`, `\"10 ticks\"`, `\"2 s .. 4 s\"`, or the name of a value";

/// Reads the duration of a key.
pub(super) fn of_key(key: &str, value: &SpannedValue<'_>, findings: &mut Findings) -> Option<DraftDuration> {
    // The help for a key that cannot be 0.
    let help = match key {
        "every" => Some("remove it, if the state is to be tried in each tick"),
        "cooldown" => Some("remove it, if the exit may be taken again at once"),
        _ => None,
    };
    let what = format!("`{key}`");
    let duration = read(value, &what, if help.is_some() { "more than 0" } else { "0 or more" }, findings)?;
    let begins_at_zero = matches!(&duration.length, DraftLength::Drawn(least, _) if least.number == 0.0);
    if let Some(help) = help.filter(|_| is_zero(&duration) || begins_at_zero) {
        return Mistake::error("no-time", value.span(), format!("{what} must be a time in seconds, more than 0"))
            .label("no time at all")
            .help(help)
            .fail(findings);
    }
    if key == "after" && is_zero(&duration) {
        Mistake::warning("no-time", value.span(), "`after = 0` says nothing: an exit is open at once")
            .label("no time at all")
            .help("remove it, or write after how many seconds the exit is open: `after = 2.5`")
            .report(findings);
    }
    Some(duration)
}

fn is_zero(duration: &DraftDuration) -> bool {
    matches!(duration.length, DraftLength::Fixed(time) if time.number == 0.0)
}

fn read(value: &SpannedValue<'_>, what: &str, range: &str, findings: &mut Findings) -> Option<DraftDuration> {
    let span = value.span();
    let mistake = match (value.get_ref().as_str(), number(value.get_ref())) {
        (Some(text), _) => match of_text(text, &span) {
            Ok(length) => {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                return Some(DraftDuration { text, length, span });
            }
            Err(NoDuration { message, help }) => {
                let message = format!("{what} must be a duration: {message}");
                Mistake::error("no-time", span, message).label("not a duration").help(help)
            }
        },
        (None, Some(number)) if number.is_finite() && number >= 0.0 => {
            let length = DraftLength::Fixed(Time { number, is_ticks: false });
            return Some(DraftDuration { text: format!("{number} s"), length, span });
        }
        (None, Some(_)) => {
            let message = format!("{what} must be a time in seconds, {range}");
            Mistake::error("no-time", span, message).label("not such a time")
        }
        (None, None) => {
            let message = format!("{what} must be a duration, not {}", type_of(value.get_ref()));
            let mistake = Mistake::error("wrong-type", span, message).label("expected a number or a text");
            mistake.help(FORMS).origin(Origin::MayFollow)
        }
    };
    mistake.fail(findings)
}

/// Returns the number of a value, if it is a number. NaN if the number cannot be read.
pub(super) fn number(value: &TreeValue<'_>) -> Option<f64> {
    let read = match value {
        TreeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
        TreeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok().map(rounded),
        TreeValue::Float(number) => number.as_str().parse().ok(),
        _ => return None,
    };
    Some(read.unwrap_or(f64::NAN))
}

#[expect(clippy::cast_precision_loss, reason = "a number in decimal digits is rounded, too")]
fn rounded(number: i64) -> f64 {
    number as f64
}

/// Reads `ticks_per_second`.
pub(crate) fn rate(value: &SpannedValue<'_>, findings: &mut Findings) -> Option<f64> {
    let rate = number(value.get_ref()).filter(|rate| rate.is_finite() && *rate > 0.0);
    rate.or_else(|| {
        Mistake::error("no-rate", value.span(), "`ticks_per_second` must be a number, more than 0")
            .label("not such a number")
            .help("write how often the game updates its characters: `ticks_per_second = 60`")
            .fail(findings)
    })
}

/// Returns what to write instead of a text that should be a duration. `None` if it is a duration.
pub(super) fn what_is_wrong(text: &str) -> Option<String> {
    of_text(text, &(0..0)).err().map(|wrong| wrong.help)
}

/// Returns the length of a unit in seconds. `None` for ticks, and for words that are no units.
pub(super) fn seconds_of(unit: &str) -> Option<f64> {
    UNITS.iter().find(|(names, _)| names.contains(&unit)).and_then(|(_, seconds)| *seconds)
}

/// The reason why a text is not a duration, and what to write instead.
struct NoDuration {
    message: String,
    help: String,
}

fn wrong<O>(message: impl Into<String>, help: impl Into<String>) -> Result<O, NoDuration> {
    Err(NoDuration { message: message.into(), help: help.into() })
}

fn of_text(text: &str, span: &Range<usize>) -> Result<DraftLength, NoDuration> {
    let text = text.trim();
    if is_name(text) {
        return Ok(DraftLength::Value(Name { text: text.into(), span: span.clone() }));
    }
    near_miss(text)?;
    let Some((least, most)) = text.split_once("..") else { return time(text, None).map(DraftLength::Fixed) };
    let most = most.strip_prefix('=').unwrap_or(most);
    if most.trim().parse::<f64>().is_ok() {
        return wrong("it has no unit", format!("write `\"{} .. {} s\"`", least.trim(), most.trim()));
    }
    let end = time(most, None)?;
    // In `2 .. 4 s`, the unit applies to both times.
    let begin = time(least, Some(number_and_unit(most).1))?;
    let is_reversed = begin.is_ticks == end.is_ticks && begin.number > end.number;
    if is_reversed {
        let (number, unit) = number_and_unit(most);
        let has_unit = !number_and_unit(least).1.is_empty();
        let (least, most) = if has_unit { (least.trim(), most.trim()) } else { (least.trim(), number) };
        let unit = if has_unit { String::new() } else { format!(" {unit}") };
        return wrong("it ends before it begins", format!("write `\"{most} .. {least}{unit}\"`"));
    }
    Ok(if begin == end { DraftLength::Fixed(end) } else { DraftLength::Drawn(begin, end) })
}

/// Fails for a text that is almost a duration, with the help for it: a decimal comma, a range that is not written with two dots
/// or that contains a name, a calculation, a percentage.
fn near_miss(text: &str) -> Result<(), NoDuration> {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let decimal =
        |(at, _): &(usize, &str)| is_digit(text[..*at].chars().next_back()) && is_digit(text[at + 1..].chars().next());
    if text.match_indices(',').any(|found| decimal(&found)) {
        // If the comma is the decimal separator, points separate thousands.
        let plain = if text.contains("..") { text.to_owned() } else { text.replace('.', "") };
        return wrong("a number has a decimal point, not a comma", format!("write `\"{}\"`", plain.replace(',', ".")));
    }
    for points in ["...", "…"] {
        if let Some((least, most)) = text.split_once(points) {
            let range = format!("{} .. {}", least.trim(), most.trim());
            return wrong("a range is written with two dots", format!("write `\"{range}\"`"));
        }
    }
    if let Some(name) = text.split("..").map(str::trim).find(|end| is_name(end) && text.contains("..")) {
        return wrong(format!("`{name}` is not a time: a range leads from a time to a time"), FORMS);
    }
    if let Some((least, most)) =
        text.split_once(['-', '–']).filter(|(least, most)| !least.is_empty() && !most.is_empty())
    {
        let range = format!("{} .. {}", least.trim(), most.trim());
        if what_is_wrong(&range).is_none() {
            return wrong("a range is written with two dots", format!("write `\"{range}\"`"));
        }
    }
    // The sign of an exponent is part of a number.
    let adds = text.match_indices('+').any(|(at, _)| !text[..at].ends_with(['e', 'E']));
    if adds || text.contains(['*', '/', '×', '(']) || text.contains(" - ") {
        let help = format!("let the game offer the result of `{text}` as a value, and write the name of that");
        return wrong("a duration cannot be calculated", help);
    }
    if text.ends_with('%') {
        return wrong("a time has a unit, not a `%`", FORMS);
    }
    Ok(())
}

/// Splits a time into its number and its unit.
fn number_and_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let is_of_number = |c: char| c.is_ascii_digit() || ".+-_".contains(c);
    let mut end = text.find(|c| !is_of_number(c)).unwrap_or(text.len());
    // An exponent, as in `1e3`.
    if let Some(rest) = text[end..].strip_prefix(['e', 'E']).filter(|rest| rest.starts_with(is_of_number)) {
        end = text.len() - rest.trim_start_matches(is_of_number).len();
    }
    (text[..end].trim(), text[end..].trim())
}

/// Reads a number with its unit. `given` is the unit of a number without one.
fn time(text: &str, given: Option<&str>) -> Result<Time, NoDuration> {
    let (number, unit) = number_and_unit(text);
    let parsed = number.parse::<f64>().ok();
    let too_long = || wrong("it is too long", FORMS);
    if parsed == Some(f64::INFINITY) {
        return too_long();
    }
    let Some(number) = parsed.filter(|number| number.is_finite()) else {
        return wrong(
            if text.trim().is_empty() { "a time is missing" } else { "it does not begin with a number" },
            FORMS,
        );
    };
    if number < 0.0 {
        return wrong("a time is not negative", FORMS);
    }
    let unit = match (unit, given) {
        ("", Some(given)) => given,
        ("", None) => return wrong("it has no unit", format!("write `{number}` or `\"{number} s\"`")),
        (unit, _) => unit,
    };
    let folded = unit.to_lowercase();
    if let Some((_, part)) = TOO_SHORT.iter().find(|(names, _)| names.contains(&&*folded)) {
        return wrong("the shortest unit of time is `ms`", format!("write the seconds: `{}`", number / part));
    }
    let Some((_, seconds)) = UNITS.iter().find(|(names, _)| names.contains(&&*folded)) else {
        let names = UNITS.iter().flat_map(|(names, _)| *names).copied();
        // A single letter may stand for more than one unit.
        let nearest = nearest(unit, names.filter(|name| name.len() > 1)).filter(|_| unit.chars().nth(1).is_some());
        let help = nearest.map_or("units are `s`, `ms`, `min`, `h` and `ticks`".into(), |nearest| {
            format!("did you mean `{nearest}`?")
        });
        let shown: String = unit.chars().take(20).flat_map(char::escape_debug).collect();
        return wrong(format!("`{shown}` is not a unit of time"), help);
    };
    let is_ticks = seconds.is_none();
    let number = match seconds {
        // A division by a whole number, because a product such as `9 * 0.001` has a rounding error.
        Some(seconds) if *seconds < 1.0 => number / (1.0 / seconds).round(),
        Some(seconds) => number * seconds,
        None if number.fract() != 0.0 => return wrong("a tick cannot be divided", "write a whole number of ticks"),
        None => number,
    };
    if number.is_infinite() { too_long() } else { Ok(Time { number, is_ticks }) }
}
