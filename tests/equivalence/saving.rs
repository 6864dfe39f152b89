//! A batch and a machine saved and loaded, by way of bytes.

use std::cell::Cell;

use demeanor::{Batch, SavedBatch, StateBook, StateMachine};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::program::Id;
use crate::puppet::{Forms, Node, Puppet, ids};

thread_local! {
    /// Whose states are being loaded.
    static FORMS: Cell<Option<&'static Forms>> = const { Cell::new(None) };
}

/// All states by their numbers; those that are made anew, or are edited, by their types.
pub(crate) fn book(forms: &'static Forms) -> StateBook<Puppet> {
    let named = ids().fold(StateBook::new(), |book, id| book.with_name(id.to_string(), forms.fixed(id)));
    named.with_owned_name::<Node<2>>("evens").with_owned_name::<Node<3>>("odds").with_messages()
}

/// What is saved has every owner's number, and the owners are put back by it.
pub(crate) fn save_and_load(batch: &mut Batch<Puppet>, book: &StateBook<Puppet>, forms: &'static Forms, now: f64) {
    FORMS.set(Some(forms));
    let digest = digest(batch);
    let saved = batch.save(book, now).expect("the book knows all states");
    let bytes = postcard::to_allocvec(&saved.map_owners(|puppet| puppet.number)).expect("it can be written");
    let saved: SavedBatch<usize> = postcard::from_bytes(&bytes).expect("it has just been written");
    let mut puppets: Vec<_> = Vec::new();
    for (_, puppet) in batch.iter() {
        puppets.resize_with(puppets.len().max(puppet.number + 1), || None);
        puppets[puppet.number] = Some(puppet.clone());
    }
    let saved = saved.map_owners(|number| puppets[number].take().expect("every owner is there once"));
    let mut loaded = Batch::load(saved, book, now).expect("it has just been saved");
    let again = loaded.save(book, now).expect("it has just been loaded").map_owners(|puppet| puppet.number);
    assert!(postcard::to_allocvec(&again).expect("it can be written") == bytes, "it is saved again as it was loaded");
    if let Some(global) = batch.global() {
        loaded.set_global(global.clone());
    }
    assert_eq!(self::digest(&loaded), digest, "the digest");
    *batch = loaded;
}

pub(crate) fn save_and_load_machine(
    machine: &mut StateMachine<Puppet>,
    book: &StateBook<Puppet>,
    forms: &'static Forms,
    now: f64,
) {
    FORMS.set(Some(forms));
    let global = machine.global().cloned();
    let write = |machine: &StateMachine<Puppet>| {
        ron::to_string(&machine.save(book, now).expect("the book knows all states")).expect("it can be written")
    };
    let text = write(machine);
    *machine = book.load(ron::from_str(&text).expect("it has just been written"), now).expect("it has just been saved");
    assert_eq!(write(machine), text, "it is saved again as it was loaded");
    if let Some(global) = global {
        machine.set_global(global);
    }
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
        Ok(Self { id, edits, forms: FORMS.get().expect("somebody's states are being loaded") })
    }
}
