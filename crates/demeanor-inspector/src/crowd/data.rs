//! A crowd with data of its owners.

use std::ops::Range;

use demeanor::journal::MessageLog;
use demeanor::{Journal, MachineReport};
use serde::Serialize;
use serde_json::Value;

use super::{Count, Crowd, Exit};

/// The longest data of an owner, in bytes of JSON.
const LONGEST: usize = 64 << 10;

/// What a game shows of an owner: anything that can be serialized. [`Crowd::data`] returns it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Data(Value);

impl Data {
    /// Takes a value. If its JSON is longer than 64 kB, or it cannot be serialized, the page shows why instead.
    pub fn new(value: &impl Serialize) -> Self {
        let value = serde_json::to_value(value).unwrap_or_else(|why| Value::String(why.to_string()));
        let length = value.to_string().len();
        Self(if length > LONGEST { Value::String(format!("too long: {length} bytes")) } else { value })
    }
}

/// A crowd with data of its owners. [`Crowd::with_data`] creates it.
pub struct WithData<'c, C: ?Sized, F> {
    pub(super) crowd: &'c C,
    pub(super) data: F,
}

impl<C, D, F> Crowd for WithData<'_, C, F>
where
    C: Crowd + ?Sized,
    D: Serialize,
    F: Fn(C::Key) -> Option<D>,
{
    type Key = C::Key;
    type Context<'a> = C::Context<'a>;

    super::delegate!(journal, messages, exits);

    fn data(&self, key: C::Key) -> Option<Data> {
        (self.data)(key).map(|data| Data::new(&data))
    }
}
