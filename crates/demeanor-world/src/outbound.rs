//! The parcels that one worker sends to the others in a round, sorted by worker.

use std::collections::BTreeMap;

use demeanor::{SaveError, StateBook, StateMachine, StateRef};

use crate::citizen::Citizen;
use crate::mail::Mail;
use crate::parcel::{Notice, Parcel};
use crate::residents::pack;

/// The number of messages or citizens in one piece: few enough for buffers of moderate size, and enough that the cost of a
/// piece is negligible.
const PIECE: usize = 8192;

type Living<T> = (T, StateMachine<T>);

/// The content of future parcels, by worker.
pub(crate) struct Outbound<T: Citizen> {
    mail: BTreeMap<u32, Vec<Mail<T::Message>>>,
    leaving: BTreeMap<u32, Vec<Living<T>>>,
    newborn: BTreeMap<u32, Vec<Living<T>>>,
    notices: BTreeMap<u32, Vec<Notice>>,
    returned: BTreeMap<u32, Vec<(u64, u64)>>,
}

impl<T: Citizen> Outbound<T> {
    pub(crate) fn new() -> Self {
        Self {
            mail: BTreeMap::new(),
            leaving: BTreeMap::new(),
            newborn: BTreeMap::new(),
            notices: BTreeMap::new(),
            returned: BTreeMap::new(),
        }
    }

    pub(crate) fn mail(&mut self, to: u32, mail: Mail<T::Message>) {
        self.mail.entry(to).or_default().push(mail);
    }

    pub(crate) fn leaving(&mut self, to: u32, citizen: Living<T>) {
        self.leaving.entry(to).or_default().push(citizen);
    }

    pub(crate) fn newborn(&mut self, to: u32, citizen: Living<T>) {
        self.newborn.entry(to).or_default().push(citizen);
    }

    pub(crate) fn notice(&mut self, to: u32, notice: Notice) {
        self.notices.entry(to).or_default().push(notice);
    }

    pub(crate) fn returned(&mut self, to: u32, sender: u64, receiver: u64) {
        self.returned.entry(to).or_default().push((sender, receiver));
    }

    /// Packs everything into parcels. `now` is the time of the citizens' clock.
    pub(crate) fn into_parcels(
        self,
        global: Option<&StateRef<T>>,
        book: &StateBook<T>,
        now: f64,
    ) -> Result<Vec<(u32, Parcel<T>)>, SaveError> {
        let mut parcels = Vec::new();
        for (to, mail) in self.mail {
            parcels.extend(pieces(mail).map(|piece| (to, Parcel::Mail(piece))));
        }
        for (to, citizens) in self.leaving {
            for piece in pieces(citizens) {
                parcels.push((to, Parcel::Arrivals(pack(piece, global, book, now)?)));
            }
        }
        for (to, citizens) in self.newborn {
            for piece in pieces(citizens) {
                parcels.push((to, Parcel::Newborn(pack(piece, global, book, now)?)));
            }
        }
        for (to, notices) in self.notices {
            parcels.extend(pieces(notices).map(|piece| (to, Parcel::Notices(piece))));
        }
        for (to, returned) in self.returned {
            parcels.extend(pieces(returned).map(|piece| (to, Parcel::Returned(piece))));
        }
        Ok(parcels)
    }
}

/// Divides a vector into pieces. The last piece is the vector itself, which usually is the only piece.
fn pieces<X>(mut all: Vec<X>) -> impl Iterator<Item = Vec<X>> {
    std::iter::from_fn(move || match all.len() {
        0 => None,
        len if len <= PIECE => Some(std::mem::take(&mut all)),
        len => Some(all.split_off(len - PIECE)),
    })
}
