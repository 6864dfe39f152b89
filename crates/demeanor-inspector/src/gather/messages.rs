//! The last messages of a crowd.

use demeanor::journal::MessageLog;

use crate::crowd::Crowd;
use crate::picture::{MessagePicture, Messages, Named};

/// The largest number of messages in a picture. A page keeps more of them.
const MOST: usize = 200;

pub(super) fn picture<C: Crowd + ?Sized>(crowd: &C, log: &MessageLog<C::Key>) -> Messages {
    let named = |key| Named { owner: crowd.key_text(key), label: crowd.label(key).unwrap_or_default() };
    let forgotten = log.iter().len().saturating_sub(MOST);
    let last = log.iter().skip(forgotten).map(|message| MessagePicture {
        seconds: message.time,
        from: message.from.map(named),
        to: named(message.to),
        text: message.text.to_string(),
        handled_by: message.handled_by.as_ref().map(ToString::to_string),
    });
    Messages { written: log.written(), last: last.collect() }
}
