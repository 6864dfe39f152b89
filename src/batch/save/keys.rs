//! The keys of a batch that was saved: the same ones, and the same ones to come.

use serde::de::value::{Error, MapDeserializer, SeqDeserializer, UnitDeserializer};
use serde::de::{IntoDeserializer, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};
use slotmap::SlotMap;

use super::data::SavedKey;
use crate::batch::known::key::Key;
use crate::batch::rows::store::{Place, SharedPlace};
use crate::save::LoadError;

/// The keys that the next owners would get, up to the first whose place has never been used.
///
/// The map does not tell in which order it uses free places again. A clone of it shows.
pub(super) fn next_keys(places: &SlotMap<Key, SharedPlace>) -> Vec<SavedKey> {
    let mut places = places.clone();
    let mut next_keys = Vec::new();
    loop {
        let key = places.insert(SharedPlace::new(Place { bucket: 0, slot: 0 }));
        let (index, version) = (key.index(), key.version());
        // A new place is behind all others.
        if version == 1 && index as usize == places.len() {
            return next_keys;
        }
        next_keys.push(SavedKey { index, version });
    }
}

/// The keys of a batch while it is loaded.
#[derive(Default)]
pub(super) struct Versions {
    /// The version at each place, from 1 on; 0 where there is none yet.
    versions: Vec<u32>,
}

impl Versions {
    /// Room for so many keys.
    pub(super) fn new(count: usize) -> Result<Self, LoadError> {
        // As many as a key map holds at most.
        if count >= u32::MAX as usize - 1 {
            return Err(LoadError::damaged("keys", format_args!("there are {count}")));
        }
        Ok(Self { versions: vec![0; count + 1] })
    }

    /// Takes a key, of an owner or one to come. No two have the same place.
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

    /// A map in which all taken keys are in use, except the ones to come.
    pub(super) fn into_places(mut self, next_keys: &[SavedKey]) -> Result<SlotMap<Key, SharedPlace>, LoadError> {
        // Each has been in use before, in the version before. It is free from when it is removed; the last one is the next.
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

/// A place of a key map, as the map reads it, `{ value, version }`, and what is in it.
#[derive(Clone, Copy)]
enum SavedSlot {
    /// It is in use if its version is odd.
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
