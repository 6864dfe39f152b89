//! Saving and loading the queue of delayed telegrams.

use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::cast::SavedTelegram;
use super::seconds::Seconds;
use crate::message::{Dispatcher, Telegram};

/// Writes the telegrams in the order in which they arrive and, if the queue merges telegrams, the window for merging.
impl<K: Serialize, M: Serialize> Serialize for Dispatcher<K, M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let queue = self.iter().map(|(due, telegram)| (Seconds(due), telegram)).collect();
        DispatcherFields { merging_within: self.merging_window().map(Seconds), queue }.serialize(serializer)
    }
}

/// A queue that merged telegrams when it was saved merges them again. Therefore keys and messages must be comparable.
impl<'de, K, M> Deserialize<'de> for Dispatcher<K, M>
where
    K: Deserialize<'de> + Clone + Ord,
    M: Deserialize<'de> + PartialEq,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let DispatcherFields { merging_within, queue } = DispatcherFields::deserialize(deserializer)?;
        let mut dispatcher = match merging_within {
            Some(Seconds(window)) => Self::merging_within(window),
            None => Self::new(),
        };
        for (Seconds(due), telegram) in queue {
            if due.is_nan() {
                return Err(de::Error::custom("the due time of a telegram is not a number"));
            }
            dispatcher.send_at(due, telegram);
        }
        Ok(dispatcher)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename = "Dispatcher")]
struct DispatcherFields<T> {
    #[serde(deserialize_with = "Option::deserialize")]
    merging_within: Option<Seconds>,
    queue: Vec<(Seconds, T)>,
}

impl<K: Clone, M> Dispatcher<K, M> {
    /// Returns the queue as plain data, with references to the messages.
    pub(crate) fn saved(&self) -> Vec<SavedTelegram<K, &M>> {
        let saved = |(due, telegram)| SavedTelegram { due: Seconds(due), telegram: borrowed(telegram) };
        self.iter().map(saved).collect()
    }
}

/// Returns the telegram with a reference to its message.
pub(crate) fn borrowed<K: Clone, M>(telegram: &Telegram<K, M>) -> Telegram<K, &M> {
    let Telegram { sender, receiver, message } = telegram;
    Telegram { sender: sender.clone(), receiver: receiver.clone(), message }
}
