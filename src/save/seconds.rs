//! Times in saved values.

use core::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A time or a span of time in a saved value, in seconds.
///
/// In human-readable formats, a value that is not finite is a text: `inf`, `-inf` or `NaN`. JSON has no numbers for these values.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Seconds(pub f64);

impl From<f64> for Seconds {
    fn from(seconds: f64) -> Self {
        Self(seconds)
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0)
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() || !serializer.is_human_readable() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.collect_str(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(NumberOrText)
        } else {
            f64::deserialize(deserializer).map(Self)
        }
    }
}

struct NumberOrText;

impl Visitor<'_> for NumberOrText {
    type Value = Seconds;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of seconds")
    }

    fn visit_f64<E: Error>(self, seconds: f64) -> Result<Seconds, E> {
        Ok(Seconds(seconds))
    }

    #[expect(clippy::cast_precision_loss, reason = "a time that is written without a point is a small number")]
    fn visit_i64<E: Error>(self, seconds: i64) -> Result<Seconds, E> {
        Ok(Seconds(seconds as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "a time that is written without a point is a small number")]
    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Seconds, E> {
        Ok(Seconds(seconds as f64))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Seconds, E> {
        text.parse().map(Seconds).map_err(|_| E::custom(format_args!("`{text}` is not a number of seconds")))
    }
}
