//! The fields of a game's messages.

use std::sync::Arc;

use super::by_name::ByName;
use super::{Repeated, Vocabulary, word};
use crate::definition::closures::{Field, Reading};
use crate::format::words::WordKind;
use crate::owner::Owner;

/// The fields of all messages, by the name of the message and then by the name of the field.
pub(crate) type Fields<T> = ByName<ByName<Field<T>>>;

impl<T: Owner> Vocabulary<T> {
    /// Adds a number that is a field of a message, for the conditions of exits that wait for this message:
    /// `message.damage > 30`. `read` is called only for messages of this kind.
    ///
    /// # Panics
    ///
    /// When `name` is not a word: see [`Vocabulary`].
    ///
    /// # Examples
    ///
    /// ```
    /// use demeanor::Owner;
    /// use demeanor::definition::{Definition, Vocabulary};
    ///
    /// struct Guard;
    /// enum Told {
    ///     Hit { damage: f64 },
    /// }
    /// impl Owner for Guard {
    ///     type Context<'a> = ();
    ///     type Message = Told;
    /// }
    ///
    /// let vocabulary = Vocabulary::<Guard>::new()
    ///     .message("hit", |told| matches!(told, Told::Hit { .. }))
    ///     .message_value("hit", "damage", |Told::Hit { damage }| *damage);
    /// let file = "
    ///     initial = 'stand'
    ///     states.stand.exits = [{ to = 'fall', on = 'hit', when = 'message.damage > 30' }]
    ///     states.fall.final = true
    /// ";
    /// let mut machine = Definition::parse(file, &vocabulary)?.machine();
    /// assert!(!machine.send(&mut Guard, &Told::Hit { damage: 10.0 }, &mut ()));
    /// assert!(machine.send(&mut Guard, &Told::Hit { damage: 40.0 }, &mut ()));
    /// # Ok::<(), demeanor::definition::Problems>(())
    /// ```
    #[must_use]
    pub fn message_value<F>(self, message: impl Into<String>, name: impl Into<String>, read: F) -> Self
    where
        F: Fn(&T::Message) -> f64 + Send + Sync + 'static,
    {
        self.with_field(&message.into(), name.into(), Reading::Number(Arc::new(read)))
    }

    /// Adds a field of a message that is true or false, for the conditions of exits that wait for this message:
    /// `message.is_critical`. `read` is called only for messages of this kind.
    ///
    /// # Panics
    ///
    /// When `name` is not a word: see [`Vocabulary`].
    #[must_use]
    pub fn message_flag<F>(self, message: impl Into<String>, name: impl Into<String>, read: F) -> Self
    where
        F: Fn(&T::Message) -> bool + Send + Sync + 'static,
    {
        self.with_field(&message.into(), name.into(), Reading::Flag(Arc::new(read)))
    }

    fn with_field(mut self, message: &str, name: String, field: Field<T>) -> Self {
        let name = word(name);
        self.words.message_fields.entry(message.to_owned()).or_default().insert(name.clone(), field.kind());
        if self.fields.get_or_default(message).insert(name.clone(), field) {
            self.repeated.insert(Repeated::Word(WordKind::Field, format!("{message}.{name}")));
        }
        self
    }

    pub(crate) fn field_of(&self, message: &str, name: &str) -> Option<Field<T>> {
        self.fields.get(message)?.get(name).cloned()
    }
}
