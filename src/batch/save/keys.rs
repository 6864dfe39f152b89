//! The keys of a saved batch. A loaded batch has the same keys, and its future owners get the same keys.

use serde::de::value::{Error, MapDeserializer, SeqDeserializer, UnitDeserializer};
use serde::de::{IntoDeserializer, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use slotmap::SlotMap;

use super::data::SavedKey;
use crate::batch::known::key::Key;
use crate::batch::known::key::{Place, SharedPlace};
use crate::save::LoadError;

/// Returns the keys that the next owners would get. The list ends before the first key whose place has never been used.
///
/// The map does not say in which order it reuses free places, so this function inserts into a clone of the map.
pub(super) fn next_keys(places: &SlotMap<Key, SharedPlace>) -> Vec<SavedKey> {
    let mut places = places.clone();
    let mut next_keys = Vec::new();
    loop {
        let key = places.insert(SharedPlace::new(Place { bucket: 0, slot: 0 }));
        let (index, version) = (key.index(), key.version());
        // A new place comes after all others.
        if version == 1 && index as usize == places.len() {
            return next_keys;
        }
        next_keys.push(SavedKey { index, version });
    }
}

/// The keys of owners and future owners that have been read so far, while a batch is loaded.
#[derive(Default)]
pub(super) struct TakenKeys {
    /// By index, the version of the key; 0 if no key with this index has been taken yet. Indices begin at 1.
    versions: Vec<u32>,
}

impl TakenKeys {
    /// Makes room for `count` keys.
    pub(super) fn new(count: usize) -> Result<Self, LoadError> {
        // A key map holds no more keys than this.
        if count >= u32::MAX as usize - 1 {
            return Err(LoadError::damaged("keys", format_args!("there are {count}")));
        }
        Ok(Self { versions: vec![0; count + 1] })
    }

    /// Marks the key of an owner or of a future owner as taken, and returns it. No two keys may have the same place.
    pub(super) fn take(&mut self, index: u32, version: u32) -> Result<Key, LoadError> {
        let damaged = |why: &str| Err(LoadError::damaged(format_args!("key {index}, version {version}"), why));
        match self.versions.get_mut(index as usize) {
            None => damaged("there are fewer keys"),
            Some(_) if index == 0 => damaged("there is no key 0"),
            Some(taken) if *taken != 0 => damaged("another key has its place"),
            Some(_) if version % 2 == 0 => damaged("versions are odd numbers"),
            Some(taken) => {
                *taken = version;
                Ok(Key::new(index, version))
            }
        }
    }

    /// Creates a map in which all taken keys are in use, except `next_keys`.
    pub(super) fn into_places(mut self, next_keys: &[SavedKey]) -> Result<SlotMap<Key, SharedPlace>, LoadError> {
        // Each of these places was in use before, by a key whose version is lower by 2. Removing that key makes the place free.
        // The map reuses the most recently freed place first, so the keys are removed in reverse order.
        for key in next_keys {
            let version = &mut self.versions[key.index as usize];
            *version = version.wrapping_sub(2);
        }
        let slots =
            SeqDeserializer::<_, Error>::new(self.versions.iter().map(|version| SavedSlot::Slot { version: *version }));
        let places = SlotMap::<Key, SharedPlace>::deserialize(slots);
        let mut places = places.map_err(|error| LoadError::damaged("keys", error))?;
        for key in next_keys.iter().rev() {
            places.remove(Key::new(key.index, key.version.wrapping_sub(2)));
        }
        Ok(places)
    }
}

/// A value that a key map reads: a place, `{ value, version }`, or one of the two fields of a place.
#[derive(Clone, Copy)]
enum SavedSlot {
    /// The place is in use if its version is odd.
    Slot {
        version: u32,
    },
    Value {
        is_used: bool,
    },
    Version(u32),
}

impl IntoDeserializer<'_, Error> for SavedSlot {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for SavedSlot {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Slot { version } => {
                let value = Self::Value { is_used: version % 2 == 1 };
                let fields = [("value", value), ("version", Self::Version(version))];
                visitor.visit_map(MapDeserializer::new(fields.into_iter()))
            }
            Self::Value { is_used: true } => visitor.visit_some(UnitDeserializer::new()),
            Self::Value { is_used: false } => visitor.visit_none(),
            Self::Version(version) => visitor.visit_u32(version),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
