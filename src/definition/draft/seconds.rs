//! Spans of time in a file: `after` of an exit and `every` of a state, in seconds.

use toml::Spanned;
use toml::de::DeValue;

use super::super::findings::Findings;
use super::super::mistake::{Mistake, Origin};
use super::{Seconds, type_of};

type Value<'i> = Spanned<DeValue<'i>>;

/// What other programs write behind a number, and how many seconds that is. The longer before the shorter.
const UNITS: [(&str, f64); 12] = [
    ("milliseconds", 0.001),
    ("seconds", 1.0),
    ("second", 1.0),
    ("minutes", 60.0),
    ("minute", 60.0),
    ("min", 60.0),
    ("sec", 1.0),
    ("ms", 0.001),
    ("us", 0.000_001),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
];

/// From when on an exit is open.
pub(crate) fn after(value: &Value<'_>, findings: &mut Findings) -> Option<Seconds> {
    let seconds = seconds(value, "`after`", "0 or more", findings)?;
    if seconds.number == 0.0 {
        findings.add(
            Mistake::warning("no-time", value.span(), "`after = 0` says nothing: an exit is open at once")
                .label("no time at all")
                .help("remove it, or write after how many seconds the exit is open: `after = 2.5`"),
        );
    }
    Some(seconds)
}

/// How often a state is tried.
pub(crate) fn every(value: &Value<'_>, findings: &mut Findings) -> Option<Seconds> {
    let seconds = seconds(value, "`every`", "more than 0", findings)?;
    if seconds.number == 0.0 {
        findings.add(
            Mistake::error("no-time", value.span(), "`every` must be a time in seconds, more than 0")
                .label("no time at all")
                .help("remove it, if the state is to be tried in each tick"),
        );
        return None;
    }
    Some(seconds)
}

fn seconds(value: &Value<'_>, what: &str, range: &str, findings: &mut Findings) -> Option<Seconds> {
    let number = match value.get_ref() {
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
        DeValue::Integer(number) => i32::from_str_radix(number.as_str(), number.radix()).ok().map(f64::from),
        DeValue::Float(number) => number.as_str().parse().ok(),
        other => {
            let message = format!("{what} must be a number of seconds, not {}", type_of(other));
            let mistake = Mistake::error("wrong-type", value.span(), message)
                .label("expected a number")
                .origin(Origin::MayFollow);
            let meant = other.as_str().and_then(with_unit);
            findings.add(match meant {
                Some(seconds) => mistake.help(format!("times are in seconds, without a unit: write `{seconds}`")),
                None => mistake.help("times are in seconds: `2.5`"),
            });
            return None;
        }
    };
    let number = number.filter(|number: &f64| number.is_finite() && *number >= 0.0);
    if number.is_none() {
        let message = format!("{what} must be a time in seconds, {range}");
        findings.add(Mistake::error("no-time", value.span(), message).label("not such a time"));
    }
    Some(Seconds { number: number?, span: value.span() })
}

/// The seconds of a text such as `200ms`.
fn with_unit(text: &str) -> Option<f64> {
    let text = text.trim().to_lowercase();
    let (number, unit) =
        UNITS.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit))).unwrap_or((text.as_str(), 1.0));
    let seconds = number.trim().parse::<f64>().ok()? * unit;
    // Without the tail that a product of floats may have.
    let seconds = (seconds * 1e9).round() / 1e9;
    (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}
