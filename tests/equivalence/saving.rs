//! A batch and a machine saved and loaded, by way of bytes.

use std::cell::Cell;

use demeanor::{Batch, SavedBatch, StateBook, StateMachine};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::program::{Id, LIMIT};
use crate::puppet::{Forms, Node, Puppet, ids};

thread_local! {
    /// Whose states are being loaded.
    static FORMS: Cell<Option<&'static Forms>> = const { Cell::new(None) };
}

/// All states by their numbers; those that are made anew, or are edited, by their types.
pub(crate) fn book(forms: &'static Forms) -> StateBook<Puppet> {
    let book = StateBook::new();
    #[cfg(feature = "definition")]
    let book = forms.definition.get().into_iter().fold(book, StateBook::with_definition);
    let named = ids().fold(book, |book, id| book.with_name(id.to_string(), forms.fixed(id)));
    named.with_owned_name::<Node<2>>("evens").with_owned_name::<Node<3>>("odds").with_messages()
}

/// What is saved has every owner's number, and the owners are put back by it. It is saved again the same.
pub(crate) fn saved_and_loaded(
    batch: &Batch<Puppet>,
    book: &StateBook<Puppet>,
    forms: &'static Forms,
    now: f64,
) -> Batch<Puppet> {
    FORMS.set(Some(forms));
    let bytes = bytes(batch, book, now);
    let saved: SavedBatch<usize> = postcard::from_bytes(&bytes).expect("it has just been written");
    let mut puppets: Vec<_> = Vec::new();
    for (_, puppet) in batch {
        puppets.resize_with(puppets.len().max(puppet.number + 1), || None);
        puppets[puppet.number] = Some(puppet.clone());
    }
    let saved = saved.map_owners(|number| puppets[number].take().expect("every owner is there once"));
    let mut loaded = Batch::load(saved, book, now).expect("it has just been saved");
    assert!(self::bytes(&loaded, book, now) == bytes, "it is saved again the same");
    if let Some(global) = batch.global() {
        loaded.set_global(global);
    }
    loaded.set_limit(LIMIT);
    assert_eq!(digest(&loaded), digest(batch), "the digest");
    loaded
}

fn bytes(batch: &Batch<Puppet>, book: &StateBook<Puppet>, now: f64) -> Vec<u8> {
    let saved = batch.save(book, now).expect("the book knows all states");
    postcard::to_allocvec(&saved.map_owners(|puppet| puppet.number)).expect("it can be written")
}

pub(crate) fn saved_and_loaded_machine(
    machine: &StateMachine<Puppet>,
    book: &StateBook<Puppet>,
    forms: &'static Forms,
    now: f64,
) -> StateMachine<Puppet> {
    FORMS.set(Some(forms));
    let text = |machine: &StateMachine<Puppet>| {
        ron::to_string(&machine.save(book, now).expect("the book knows all states")).expect("it can be written")
    };
    let saved = text(machine);
    let loaded = ron::from_str(&saved).expect("it has just been written");
    let mut loaded = book.load(loaded, now).expect("it has just been saved");
    assert_eq!(text(&loaded), saved, "it is saved again the same");
    if let Some(global) = machine.global() {
        loaded.set_global(global);
    }
    loaded.set_limit(LIMIT);
    loaded
}

fn digest(batch: &Batch<Puppet>) -> u64 {
    use std::hash::Hasher;
    batch.digest(|puppet, hasher| hasher.write_usize(puppet.number))
}

impl<const KIND: u8> Serialize for Node<KIND> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.id, self.edits).serialize(serializer)
    }
}

impl<'de, const KIND: u8> Deserialize<'de> for Node<KIND> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (id, edits) = <(Id, u8)>::deserialize(deserializer)?;
        Ok(Self::new(id, edits, FORMS.get().expect("a test sets the forms before it loads their states")))
    }
}
