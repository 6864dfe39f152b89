//! The places that most tests of a machine use.

use super::Place;

pub(crate) static A: Place = Place::new("A");
pub(crate) static B: Place = Place::new("B");
pub(crate) static C: Place = Place::new("C");
pub(crate) static D: Place = Place::new("D");

/// A global state.
pub(crate) static ALWAYS: Place = Place::new("Always");

/// No part of this house opens on another.
pub(crate) static HOUSE: Place = Place::new("House");
pub(crate) static KITCHEN: Place = Place::new("Kitchen").inside(&HOUSE);
pub(crate) static STOVE: Place = Place::new("Stove").inside(&KITCHEN);
pub(crate) static TABLE: Place = Place::new("Table").inside(&KITCHEN);
pub(crate) static HALL: Place = Place::new("Hall").inside(&HOUSE);
pub(crate) static STAIRS: Place = Place::new("Stairs").inside(&HALL);
pub(crate) static STEP: Place = Place::new("Step").inside(&STAIRS);

/// A house that opens on its kitchen, which opens on its stove.
pub(crate) mod open {
    use super::Place;

    pub(crate) static HOUSE: Place = Place::new("House").opening_on(&KITCHEN);
    pub(crate) static KITCHEN: Place = Place::new("Kitchen").inside(&HOUSE).opening_on(&STOVE);
    pub(crate) static STOVE: Place = Place::new("Stove").inside(&KITCHEN);
    pub(crate) static TABLE: Place = Place::new("Table").inside(&KITCHEN);
    pub(crate) static HALL: Place = Place::new("Hall").inside(&HOUSE);
    pub(crate) static STAIRS: Place = Place::new("Stairs").inside(&HALL);
}
