//! Every format of serde will do: two that describe themselves, and two that do not.

use demeanor::save::Seconds;
use demeanor::{
    Agent, Batch, Cast, CastBook, Owner, SavedAgent, SavedBatch, SavedCast, SavedMachine, State, StateBook,
    StateMachine, Telegram,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::barracks::{Guard, batch, book, machines};

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
        match self {
            Self::Json => serde_json::to_vec(value).map_err(|error| error.to_string()),
            Self::JsonValue => {
                let value = serde_json::to_value(value).map_err(|error| error.to_string())?;
                Ok(value.to_string().into_bytes())
            }
            Self::Ron => ron::to_string(value).map(String::into_bytes).map_err(|error| error.to_string()),
            Self::PrettyRon => {
                let text = ron::ser::to_string_pretty(value, ron::ser::PrettyConfig::default());
                text.map(String::into_bytes).map_err(|error| error.to_string())
            }
            Self::Postcard => postcard::to_allocvec(value).map_err(|error| error.to_string()),
            Self::Bincode => {
                let standard = bincode::config::standard();
                bincode::serde::encode_to_vec(value, standard).map_err(|error| error.to_string())
            }
            Self::LegacyBincode => {
                let legacy = bincode::config::legacy();
                bincode::serde::encode_to_vec(value, legacy).map_err(|error| error.to_string())
            }
        }
    }

    pub(crate) fn read<D: DeserializeOwned>(self, bytes: &[u8]) -> Result<D, String> {
        match self {
            Self::Json => serde_json::from_slice(bytes).map_err(|error| error.to_string()),
            Self::JsonValue => {
                let value: serde_json::Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
                serde_json::from_value(value).map_err(|error| error.to_string())
            }
            Self::Ron | Self::PrettyRon => ron::de::from_bytes(bytes).map_err(|error| error.to_string()),
            Self::Postcard => postcard::from_bytes(bytes).map_err(|error| error.to_string()),
            Self::Bincode => {
                let read = bincode::serde::decode_from_slice(bytes, bincode::config::standard());
                read.map(|(value, _)| value).map_err(|error| error.to_string())
            }
            Self::LegacyBincode => {
                let read = bincode::serde::decode_from_slice(bytes, bincode::config::legacy());
                read.map(|(value, _)| value).map_err(|error| error.to_string())
            }
        }
    }
}

/// A value that has gone through each format.
fn through_each<S: Serialize, D: DeserializeOwned>(value: &S) -> Vec<D> {
    Format::ALL.into_iter().map(|format| format.read(&format.write(value).unwrap()).unwrap()).collect()
}

#[test]
fn machines_and_agents_are_the_same_in_each_format() {
    for (guard, machine) in machines() {
        let saved = machine.save(&book(), 4.9).unwrap();
        for again in through_each::<_, SavedMachine>(&saved) {
            assert_eq!(again, saved);
        }
        let agent = Agent::new(guard, machine);
        for again in through_each::<_, SavedAgent<Guard>>(&agent.save(&book(), 4.9).unwrap()) {
            assert_eq!(again, agent.save(&book(), 4.9).unwrap().map_owner(Guard::clone));
            assert_eq!(Agent::load(again, &book(), 4.9).unwrap().machine().save(&book(), 4.9).unwrap(), saved);
        }
    }
}

#[test]
fn a_batch_is_the_same_in_each_format() {
    let (batch, _) = batch();
    let saved = batch.save(&book(), 4.9).unwrap().map_owners(Guard::clone);
    for again in through_each::<_, SavedBatch<Guard>>(&batch.save(&book(), 4.9).unwrap()) {
        assert_eq!(again, saved);
        let loaded = Batch::load(again, &book(), 4.9).unwrap();
        assert_eq!(loaded.save(&book(), 4.9).unwrap().map_owners(Guard::clone), saved);
    }
}

#[test]
fn a_cast_is_the_same_in_each_format() {
    type Level = Cast<u32, String, ()>;
    #[derive(Serialize, Deserialize)]
    struct Goblin(f32);
    impl Owner for Goblin {
        type Context<'a> = Level;
        type Message = Telegram<u32, String>;
    }
    struct Lurk;
    impl State<Goblin> for Lurk {}
    let book = CastBook::<Level>::new().with("goblin", StateBook::<Goblin>::new().with(&Lurk));
    let mut level = Level::new(());
    level.add(7, Agent::new(Goblin(0.1), StateMachine::new(&Lurk))).unwrap();
    level.send_after(f64::INFINITY, 7, 7, "never".to_string());
    for again in through_each::<_, SavedCast<u32, String>>(&level.save(&book).unwrap()) {
        let loaded = Level::load(again, &book, ()).unwrap();
        assert_eq!(loaded.get::<Goblin>(&7).unwrap().0.to_bits(), 0.1_f32.to_bits());
        assert!(loaded.dispatcher().iter().eq(level.dispatcher().iter()));
    }
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
