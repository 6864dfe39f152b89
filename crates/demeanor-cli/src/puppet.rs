//! The puppet, an owner without a game: the command line sets the values that its machine reads.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use demeanor::definition::{Outline, Unchecked, ValueKind, Vocabulary, Words};
use demeanor::{Change, Flow, Owner, State};

use crate::setting::Setting;

#[derive(Clone, Default)]
pub(crate) struct Puppet {
    /// The values, by the indices of their names in the vocabulary; a flag is 1 or 0.
    pub(crate) values: Vec<f64>,
    rng: Option<fastrand::Rng>,
    /// What each random number is, instead of one of the generator.
    pub(crate) chance: Option<f64>,
    /// What has happened since the last time that it was taken.
    pub(crate) events: Vec<Event>,
}

/// The value that stands for random numbers. A condition cannot read a value with this name.
pub(crate) const CHANCE: &str = "chance";

/// Something that happens to a puppet.
#[derive(Clone)]
pub(crate) enum Event {
    /// A change, or a refused one.
    Change { from: String, to: String, refused: Option<String> },
    /// An action.
    Action(String),
}

impl Puppet {
    pub(crate) fn new(values: Vec<f64>, seed: u64) -> Self {
        Self { values, rng: Some(fastrand::Rng::with_seed(seed)), ..Self::default() }
    }
}

/// A message: its name and its fields; a flag is 1 or 0.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) name: String,
    pub(crate) fields: Vec<(String, Setting)>,
}

impl Told {
    /// Reads `hit` or `hit(damage=40, critical=true)`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let Some((name, fields)) = text.trim().split_once('(') else {
            return Ok(Self { name: text.trim().into(), fields: Vec::new() });
        };
        let fields = fields.strip_suffix(')').ok_or_else(|| format!("`{text}` has no `)` at its end"))?;
        let field = |field: &str| {
            let (name, value) =
                field.split_once('=').ok_or_else(|| format!("`{}` is not FIELD=VALUE", field.trim()))?;
            Ok::<_, String>((name.trim().to_owned(), Setting::parse(value)?))
        };
        let fields = fields.split(',').filter(|field| !field.trim().is_empty()).map(field).collect::<Result<_, _>>()?;
        Ok(Self { name: name.trim().into(), fields })
    }

    fn number(&self, field: &str) -> f64 {
        self.fields.iter().find(|(name, _)| name == field).map_or(0.0, |(_, value)| value.number())
    }
}

/// The form that is read.
impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields: Vec<_> = self.fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if fields.is_empty() { f.write_str(&self.name) } else { write!(f, "{}({})", self.name, fields.join(", ")) }
    }
}

/// The time, and the changes until then.
pub(crate) struct Clock {
    /// The time in seconds.
    pub(crate) now: f64,
    pub(crate) flow: Flow,
}

impl Owner for Puppet {
    type Context<'a> = Clock;
    type Message = Told;

    fn now(clock: &Clock) -> f64 {
        clock.now
    }

    fn on_change(&mut self, change: &Change<'_, Self>, clock: &mut Clock) {
        clock.flow.note(change);
        let name = |state: Option<&demeanor::StateRef<Self>>| state.map(ToString::to_string).unwrap_or_default();
        let refused = (!change.is_taken()).then(|| change.to_string());
        self.events.push(Event::Change { from: name(change.from), to: name(change.to), refused });
    }
}

/// Stands for every behavior, because the game's code is not available.
struct Nothing;
impl State<Puppet> for Nothing {}

/// The names of the values, each with its index and kind.
pub(crate) type Names = BTreeMap<String, (usize, ValueKind)>;

/// Returns the words that a file uses, for a file whose game is unknown; `tick` is the length of a tick, in seconds.
pub(crate) fn words_of(outlines: &[Outline], tick: f64) -> Words {
    let mut words = Words::default();
    for unchecked in outlines.iter().map(Outline::unchecked) {
        add_words(&mut words, unchecked, tick);
    }
    words.random = true;
    words.scripts = true;
    words
}

fn add_words(words: &mut Words, unchecked: &Unchecked, tick: f64) {
    for (name, kind) in &unchecked.values {
        words.values.entry(name.clone()).or_insert(*kind);
    }
    for name in &unchecked.behaviors {
        let any = serde_json::json!({ "additionalProperties": true });
        words.behaviors.insert(name.clone(), Some(any));
    }
    words.messages.extend(unchecked.messages.iter().cloned());
    words.actions.extend(unchecked.actions.iter().map(|(name, argument)| (name.clone(), *argument)));
    words.fields.extend(unchecked.fields.iter().cloned());
    for (message, fields) in &unchecked.message_fields {
        let fields = fields.iter().map(|(name, kind)| (name.clone(), *kind));
        words.message_fields.entry(message.clone()).or_default().extend(fields);
    }
    if unchecked.ticks {
        words.ticks_per_second = Some(1.0 / tick);
    }
}

/// Returns a vocabulary of words whose values are those of the puppet.
pub(crate) fn vocabulary(words: &Words) -> (Vocabulary<Puppet>, Names) {
    let mut vocabulary = Vocabulary::new().random(|puppet: &mut Puppet, _| {
        puppet.chance.or(puppet.rng.as_mut().map(fastrand::Rng::f64)).unwrap_or(f64::NAN)
    });
    let mut names = Names::new();
    for (index, (name, kind)) in words.values.iter().enumerate() {
        names.insert(name.clone(), (index, *kind));
        let fields: &BTreeSet<String> = &words.fields;
        vocabulary = match kind {
            ValueKind::Flag if fields.contains(name) => vocabulary.flag_field(
                name.clone(),
                move |puppet: &Puppet, _| puppet.values[index] != 0.0,
                move |puppet, is| puppet.values[index] = f64::from(u8::from(is)),
            ),
            ValueKind::Flag => vocabulary.flag(name.clone(), move |puppet: &Puppet, _| puppet.values[index] != 0.0),
            ValueKind::Number if fields.contains(name) => vocabulary.field(
                name.clone(),
                move |puppet: &Puppet, _| puppet.values[index],
                move |puppet, number| puppet.values[index] = number,
            ),
            ValueKind::Number => vocabulary.value(name.clone(), move |puppet: &Puppet, _| puppet.values[index]),
        };
    }
    for (name, argument) in &words.actions {
        let of = name.clone();
        vocabulary = match argument {
            None => vocabulary.action(name.clone(), move |puppet: &mut Puppet, _| {
                puppet.events.push(Event::Action(of.clone()));
            }),
            Some(_) => vocabulary.action_with(name.clone(), move |puppet: &mut Puppet, number, _| {
                puppet.events.push(Event::Action(format!("{of} {number}")));
            }),
        };
    }
    for (name, schema) in &words.behaviors {
        vocabulary = vocabulary.stand_in(name.clone(), schema.clone(), &Nothing);
    }
    for name in &words.messages {
        let is = name.clone();
        vocabulary = vocabulary.message(name.clone(), move |told: &Told| told.name == is);
    }
    for (message, fields) in &words.message_fields {
        for (field, kind) in fields {
            let name = field.clone();
            vocabulary = match kind {
                ValueKind::Number => {
                    vocabulary.message_value(message.clone(), field.clone(), move |told: &Told| told.number(&name))
                }
                ValueKind::Flag => vocabulary
                    .message_flag(message.clone(), field.clone(), move |told: &Told| told.number(&name) != 0.0),
            };
        }
    }
    if let Some(rate) = words.ticks_per_second.filter(|rate| rate.is_finite() && *rate > 0.0) {
        vocabulary = vocabulary.ticks_per_second(rate);
    }
    (vocabulary, names)
}
