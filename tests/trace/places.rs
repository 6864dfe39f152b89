//! The places that most tests of a machine use.

use super::Place;

pub(crate) static A: Place = Place::new("A");
pub(crate) static B: Place = Place::new("B");
pub(crate) static C: Place = Place::new("C");
pub(crate) static D: Place = Place::new("D");

/// A global state.
pub(crate) static ALWAYS: Place = Place::new("Always");

/// A house without initial children.
pub(crate) static HOUSE: Place = Place::new("House");
pub(crate) static KITCHEN: Place = Place::new("Kitchen").inside(&HOUSE);
pub(crate) static STOVE: Place = Place::new("Stove").inside(&KITCHEN);
pub(crate) static TABLE: Place = Place::new("Table").inside(&KITCHEN);
pub(crate) static HALL: Place = Place::new("Hall").inside(&HOUSE);
pub(crate) static STAIRS: Place = Place::new("Stairs").inside(&HALL);
pub(crate) static STEP: Place = Place::new("Step").inside(&STAIRS);

/// A dungeon that keeps its history. Its cells keep theirs, too.
pub(crate) static DUNGEON: Place = Place::new("Dungeon").opening_on(&GATE).keeping_history();
pub(crate) static GATE: Place = Place::new("Gate").inside(&DUNGEON);
pub(crate) static CELLS: Place = Place::new("Cells").inside(&DUNGEON).opening_on(&CORRIDOR).keeping_history();
pub(crate) static CORRIDOR: Place = Place::new("Corridor").inside(&CELLS);
pub(crate) static CELL: Place = Place::new("Cell").inside(&CELLS);

/// Passive states: alone, and around and inside a state that is updated.
pub(crate) static STATUE: Place = Place::new("Statue").passive();
pub(crate) static YARD: Place = Place::new("Yard").passive();
pub(crate) static SHED: Place = Place::new("Shed").inside(&YARD);
pub(crate) static BENCH: Place = Place::new("Bench").inside(&SHED).passive();

/// Two composite states with an initial child.
pub(crate) static X: Place = Place::new("X").opening_on(&X1);
pub(crate) static X1: Place = Place::new("X1").inside(&X);
pub(crate) static X2: Place = Place::new("X2").inside(&X);
pub(crate) static Y: Place = Place::new("Y").opening_on(&Y1);
pub(crate) static Y1: Place = Place::new("Y1").inside(&Y);

/// A state whose `initial` returns a child of another state.
pub(crate) static LOST: Place = Place::new("Lost").opening_on(&STOVE);

/// A state without children that keeps history.
pub(crate) static LONE: Place = Place::new("Lone").keeping_history();

/// A fight in which legs walk while arms aim. Arms that shoot have regions themselves: two hands.
pub(crate) static FIGHT: Place = Place::new("Fight").with_regions(&[&WALK, &READY]);
pub(crate) static WALK: Place = Place::new("Walk").inside(&FIGHT);
pub(crate) static RUN: Place = Place::new("Run").inside(&FIGHT);
pub(crate) static JUMP: Place = Place::new("Jump").inside(&FIGHT).opening_on(&RISE).keeping_history();
pub(crate) static RISE: Place = Place::new("Rise").inside(&JUMP);
pub(crate) static FALL: Place = Place::new("Fall").inside(&JUMP);
pub(crate) static READY: Place = Place::new("Ready").inside(&FIGHT).in_region(1);
pub(crate) static SHOOT: Place = Place::new("Shoot").inside(&FIGHT).in_region(1).with_regions(&[&DRAW, &HOLD]);
pub(crate) static DRAW: Place = Place::new("Draw").inside(&SHOOT);
pub(crate) static LOOSE: Place = Place::new("Loose").inside(&SHOOT);
pub(crate) static HOLD: Place = Place::new("Hold").inside(&SHOOT).in_region(1);

/// A ship that keeps the history of its two regions.
pub(crate) static SHIP: Place = Place::new("Ship").with_regions(&[&SAIL, &COOK]).keeping_history();
pub(crate) static SAIL: Place = Place::new("Sail").inside(&SHIP);
pub(crate) static ANCHOR: Place = Place::new("Anchor").inside(&SHIP);
pub(crate) static COOK: Place = Place::new("Cook").inside(&SHIP).in_region(1);
pub(crate) static SERVE: Place = Place::new("Serve").inside(&SHIP).in_region(1);

/// States with mistakes in their regions.
pub(crate) static BOTH: Place = Place::new("Both").opening_on(&OF_BOTH).with_regions(&[&OF_BOTH]);
pub(crate) static OF_BOTH: Place = Place::new("OfBoth").inside(&BOTH);
pub(crate) static STRAY: Place = Place::new("Stray").with_regions(&[&WALK]);
pub(crate) static MIXED: Place = Place::new("Mixed").with_regions(&[&OF_MIXED, &OF_MIXED]);
pub(crate) static OF_MIXED: Place = Place::new("OfMixed").inside(&MIXED);
pub(crate) static BEYOND: Place = Place::new("Beyond").inside(&FIGHT).in_region(2);

/// Returns the place with a name, from the open house if `is_open`.
pub(crate) fn named(name: &str, is_open: bool) -> &'static Place {
    static OPEN: [&Place; 6] = [&open::HOUSE, &open::KITCHEN, &open::STOVE, &open::TABLE, &open::HALL, &open::STAIRS];
    static ALL: [&Place; 49] = [
        &A, &B, &C, &D, &ALWAYS, &HOUSE, &KITCHEN, &STOVE, &TABLE, &HALL, &STAIRS, &STEP, &DUNGEON, &GATE, &CELLS,
        &CORRIDOR, &CELL, &STATUE, &YARD, &SHED, &BENCH, &LOST, &LONE, &X, &X1, &X2, &Y, &Y1, &FIGHT, &WALK, &RUN,
        &JUMP, &RISE, &FALL, &READY, &SHOOT, &DRAW, &LOOSE, &HOLD, &SHIP, &SAIL, &ANCHOR, &COOK, &SERVE, &BOTH,
        &OF_BOTH, &STRAY, &MIXED, &BEYOND,
    ];
    let open = OPEN.iter().filter(|_| is_open);
    open.chain(&ALL).find(|place| place.name == name).unwrap_or_else(|| panic!("there is no place {name}"))
}

/// A house whose initial child is the kitchen, whose initial child is the stove.
pub(crate) mod open {
    use super::Place;

    pub(crate) static HOUSE: Place = Place::new("House").opening_on(&KITCHEN);
    pub(crate) static KITCHEN: Place = Place::new("Kitchen").inside(&HOUSE).opening_on(&STOVE);
    pub(crate) static STOVE: Place = Place::new("Stove").inside(&KITCHEN);
    pub(crate) static TABLE: Place = Place::new("Table").inside(&KITCHEN);
    pub(crate) static HALL: Place = Place::new("Hall").inside(&HOUSE);
    pub(crate) static STAIRS: Place = Place::new("Stairs").inside(&HALL);
}
