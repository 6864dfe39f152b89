//! Converts durations from their written form to seconds. This needs the tick rate, and checks values of the game.

use std::ops::Range;

use super::resolve::Resolver;
use crate::format::draft::duration::{DraftDuration, DraftLength, Time};
use crate::format::duration::{Drawn, Duration, Length};
use crate::format::problems::Mistake;
use crate::format::words::ValueKind;

impl Resolver<'_> {
    pub(super) fn duration(&mut self, written: DraftDuration) -> Option<Duration> {
        let DraftDuration { text, length, span } = written;
        let length = match length {
            DraftLength::Fixed(time) => Length::Fixed(self.seconds(time, &span)?),
            DraftLength::Drawn(least, most) => {
                self.chance(span.clone());
                let tick = if least.is_ticks && most.is_ticks {
                    Some(self.seconds(Time { number: 1.0, is_ticks: true }, &span)?)
                } else {
                    None
                };
                let (least, most) = (self.seconds(least, &span)?, self.seconds(most, &span)?);
                if least > most {
                    return Mistake::error("no-time", span, format!("`{text}` ends before it begins"))
                        .label(format!("from {least} s to {most} s"))
                        .help("write the shorter time first")
                        .fail(self.findings);
                }
                Length::Drawn(Drawn { least, most, tick })
            }
            DraftLength::Value(name) => {
                if self.words.is_some_and(|words| words.values.get(&name.text) == Some(&ValueKind::Flag)) {
                    return Mistake::error("comparison", span, format!("`{name}` is true or false, not a time"))
                        .label("a duration is a number")
                        .help("write a time such as `0.5`; what is true or false is asked in a `when`")
                        .fail(self.findings);
                }
                self.value(&name, ValueKind::Number);
                Length::Value(name)
            }
        };
        Some(Duration { text, length, span })
    }

    /// Returns a time as a finite number of seconds. For ticks of unknown length, returns NaN, or reports an error if the game's
    /// words are known.
    fn seconds(&mut self, time: Time, at: &Range<usize>) -> Option<f64> {
        if !time.is_ticks {
            return Some(time.number);
        }
        if let Some(rate) = self.rate {
            let seconds = time.number / rate;
            if seconds.is_finite() {
                return Some(seconds);
            }
            return Mistake::error("no-time", at.clone(), "the duration is too long")
                .label(format!("with {rate} ticks in a second"))
                .fail(self.findings);
        }
        if self.words.is_none() {
            self.unchecked.ticks = true;
            return Some(f64::NAN);
        }
        // The caller stops at `None`, so this is reported only once for each duration.
        Mistake::error("no-rate", at.clone(), "nobody says how long a tick is")
            .label("in ticks")
            .help("write `ticks_per_second = 60` at the top of the file, or a time in seconds")
            .fail(self.findings)
    }
}
