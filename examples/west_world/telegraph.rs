//! Telegrams, and the lines that the book prints around them.

use std::fmt;

use demeanor::{Delivery, Telegram};

use super::page::TELEGRAM;
use super::town::{Name, News, Town};

/// A telegram is dropped if another one with the same content is due at nearly the same time: less than this apart, in seconds.
pub(crate) const WINDOW: f64 = 0.25;

/// Sends a telegram that is delivered within the call.
pub(crate) fn send(town: &mut Town, sender: Name, receiver: Name, news: News) {
    let (now, news_name) = (Seconds(town.now()), printed_name(news));
    town.world.page.line(
        TELEGRAM,
        format_args!("Instant telegram dispatched at time: {now} by {sender} for {receiver}. Msg is {news_name}"),
    );
    deliver(town, Telegram::new(sender, receiver, news));
}

/// Sends a telegram that arrives after `delay`, in seconds.
pub(crate) fn send_after(town: &mut Town, delay: f64, sender: Name, receiver: Name, news: News) {
    if town.send_after(delay, sender, receiver, news) == Delivery::Delayed {
        let (now, news_name) = (Seconds(town.now()), printed_name(news));
        town.world.page.line(
            TELEGRAM,
            format_args!("Delayed telegram from {sender} recorded at time {now} for {receiver}. Msg is {news_name}"),
        );
    }
}

/// Delivers the telegrams that are due.
pub(crate) fn deliver_due(town: &mut Town) {
    while let Some(telegram) = town.pop_due() {
        let (receiver, news_name) = (telegram.receiver, printed_name(telegram.message));
        town.world
            .page
            .line(TELEGRAM, format_args!("Queued telegram ready for dispatch: Sent to {receiver}. Msg is {news_name}"));
        deliver(town, telegram);
    }
}

/// Prints the lines for a telegram that a state handles. `verb` is "handled" or "received".
pub(crate) fn acknowledge(town: &mut Town, verb: &str, by: Name) {
    let now = Seconds(town.now());
    town.world.page.line(TELEGRAM, format_args!("Message {verb} by {by} at time: {now}"));
}

fn deliver(town: &mut Town, telegram: Telegram<Name, News>) {
    match town.deliver(telegram) {
        // The book's program does not begin a new line here.
        Ok(Delivery::Declined) => town.world.page.append("Message not handled"),
        Ok(_) => {}
        Err(unknown) => town.world.page.line(TELEGRAM, format_args!("{unknown}")),
    }
}

/// Returns the name that the book's program prints for a message: its names are off by one.
fn printed_name(news: News) -> &'static str {
    match news {
        News::HiHoneyImHome => "Not recognized!",
        News::StewReady => "HiHoneyImHome",
    }
}

/// A time in the format of C's `%g`: six significant digits, without zeros at the end.
struct Seconds(f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scientific = format!("{:.5e}", self.0);
        let (mantissa, exponent) = scientific.split_once('e').ok_or(fmt::Error)?;
        let exponent: i32 = exponent.parse().map_err(|_| fmt::Error)?;
        match usize::try_from(5 - exponent) {
            Ok(decimals) if exponent >= -4 => f.write_str(trimmed(&format!("{:.decimals$}", self.0))),
            _ => write!(f, "{}e{exponent:+03}", trimmed(mantissa)),
        }
    }
}

fn trimmed(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

#[cfg(test)]
mod tests {
    use super::Seconds;

    #[test]
    fn times_are_printed_as_c_prints_them() {
        let printed = |tenths: u32| Seconds(f64::from(tenths) / 10.0).to_string();
        assert_eq!([0, 8, 40, 112, 15_984, 999_992].map(printed), ["0", "0.8", "4", "11.2", "1598.4", "99999.2"]);
        assert_eq!([1_000_000, 1_000_008, 9_999_984].map(printed), ["100000", "100001", "999998"]);
        assert_eq!([10_000_000, 12_345_672, 9_999_996].map(printed), ["1e+06", "1.23457e+06", "1e+06"]);
    }
}
