//! Every format of serde will do: two that describe themselves, and two that do not.

use std::error::Error;

use demeanor::save::Seconds;
use demeanor::{Agent, Batch, SavedMachine, State, StateBook, StateMachine};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::barracks::Guard;
use crate::cast::Town;
use crate::kinds::Host;

/// A format. A value of JSON is one, too: in it, the fields are in the order of their names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Format {
    Json,
    JsonValue,
    Ron,
    PrettyRon,
    Postcard,
    Bincode,
    LegacyBincode,
}

/// The most bytes that bincode reads. Without a limit, it allocates as many as a file says that a text has, before it reads them.
const MOST: usize = 1 << 24;

impl Format {
    pub(crate) const ALL: [Self; 7] =
        [Self::Json, Self::JsonValue, Self::Ron, Self::PrettyRon, Self::Postcard, Self::Bincode, Self::LegacyBincode];

    /// Whether what is written in it has the names of fields.
    pub(crate) fn has_names(self) -> bool {
        matches!(self, Self::Json | Self::JsonValue | Self::Ron | Self::PrettyRon)
    }

    pub(crate) fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::JsonValue)
    }

    pub(crate) fn write<S: Serialize>(self, value: &S) -> Result<Vec<u8>, String> {
        let write = || -> Result<_, Box<dyn Error>> {
            Ok(match self {
                Self::Json => serde_json::to_vec(value)?,
                Self::JsonValue => serde_json::to_value(value)?.to_string().into_bytes(),
                Self::Ron => ron::to_string(value)?.into_bytes(),
                Self::PrettyRon => ron::ser::to_string_pretty(value, ron::ser::PrettyConfig::default())?.into_bytes(),
                Self::Postcard => postcard::to_allocvec(value)?,
                Self::Bincode => bincode::serde::encode_to_vec(value, bincode::config::standard())?,
                Self::LegacyBincode => bincode::serde::encode_to_vec(value, bincode::config::legacy())?,
            })
        };
        write().map_err(|error| error.to_string())
    }

    pub(crate) fn read<D: DeserializeOwned>(self, bytes: &[u8]) -> Result<D, String> {
        let read = || -> Result<_, Box<dyn Error>> {
            Ok(match self {
                Self::Json => serde_json::from_slice(bytes)?,
                Self::JsonValue => serde_json::from_value(serde_json::from_slice(bytes)?)?,
                Self::Ron | Self::PrettyRon => ron::de::from_bytes(bytes)?,
                Self::Postcard => postcard::from_bytes(bytes)?,
                Self::Bincode => {
                    bincode::serde::decode_from_slice(bytes, bincode::config::standard().with_limit::<MOST>())?.0
                }
                Self::LegacyBincode => {
                    bincode::serde::decode_from_slice(bytes, bincode::config::legacy().with_limit::<MOST>())?.0
                }
            })
        };
        read().map_err(|error| error.to_string())
    }
}

/// A value that has gone through each format.
fn through_each<S: Serialize, D: DeserializeOwned>(value: &S) -> Vec<D> {
    Format::ALL.into_iter().map(|format| format.read(&format.write(value).unwrap()).unwrap()).collect()
}

/// What is saved and loaded in a format is saved again the same, and goes on as if it had not been saved.
fn are_the_same_in_each_format<H: Host>() {
    for format in Format::ALL {
        for host in H::all() {
            let bytes = host.write(format).unwrap();
            let load = || H::load(format.read(&bytes).unwrap()).unwrap();
            assert!(load().write(format).as_ref() == Ok(&bytes), "saved again in {format:?}");
            assert_eq!(load().goes_on(), host.goes_on(), "{format:?}");
        }
    }
}

#[test]
fn machines_and_agents_are_the_same_in_each_format() {
    are_the_same_in_each_format::<StateMachine<Guard>>();
    are_the_same_in_each_format::<Agent<Guard>>();
}

#[test]
fn a_batch_is_the_same_in_each_format() {
    are_the_same_in_each_format::<Batch<Guard>>();
}

#[test]
fn a_cast_is_the_same_in_each_format() {
    are_the_same_in_each_format::<Town>();
}

#[test]
fn times_keep_every_bit_and_infinity_in_each_format() {
    for time in [0.1 + 0.2, -0.0, 5.0, 1e300, f64::MIN_POSITIVE / 8.0, f64::INFINITY, f64::NEG_INFINITY] {
        for again in through_each::<_, Seconds>(&Seconds(time)) {
            assert_eq!(again.0.to_bits(), time.to_bits(), "{time}");
        }
    }
    // JSON has no number for it.
    assert_eq!(serde_json::to_string(&Seconds(f64::NEG_INFINITY)).unwrap(), "\"-inf\"");
}

/// An owned state, with what is hard to write down.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Odd {
    doubles: Vec<f64>,
    singles: Vec<f32>,
    text: String,
    letter: char,
    option: Option<(Option<u8>,)>,
    bytes: [u8; 3],
    map: std::collections::BTreeMap<(i32, i32), Kind>,
    big: u128,
    nothing: (),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Kind {
    Unit,
    Pair(i64, bool),
    Fields { of: Box<Option<Kind>> },
}

impl State<Guard> for Odd {}

#[test]
fn the_data_of_owned_states_keeps_every_bit_of_floats_in_each_format() {
    let doubles = vec![0.1 + 0.2, -0.0, 1.0, 1e-310, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN];
    let singles = vec![0.1, -0.0, 16_777_216.0, 1e-45, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    let fields = Kind::Fields { of: Box::new(Some(Kind::Pair(i64::MIN, true))) };
    let odd = Odd {
        doubles,
        singles,
        text: "\"quoted\\\n\u{1F600}\0".to_string(),
        letter: '\'',
        option: Some((None,)),
        bytes: [0, 127, 255],
        map: [((-1, 2), Kind::Unit), ((3, 4), fields)].into(),
        big: u128::from(u64::MAX) * 2,
        nothing: (),
    };
    let book = StateBook::new().with_owned::<Odd>();
    let machine = StateMachine::<Guard>::new(Box::new(odd.clone()));
    for again in through_each::<_, SavedMachine>(&machine.save(&book, 0.0).unwrap()) {
        let loaded = book.load(again, 0.0).unwrap();
        let loaded = loaded.current().unwrap().downcast_ref::<Odd>().unwrap().clone();
        let doubles = |odd: &Odd| odd.doubles.iter().map(|double| double.to_bits()).collect::<Vec<_>>();
        let singles = |odd: &Odd| odd.singles.iter().map(|single| single.to_bits()).collect::<Vec<_>>();
        assert_eq!((doubles(&loaded), singles(&loaded)), (doubles(&odd), singles(&odd)));
        assert_eq!(format!("{loaded:?}"), format!("{odd:?}"));
    }
}
