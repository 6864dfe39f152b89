//! The keys of a definition file. Their descriptions are part of the JSON Schema for editors.

#![expect(
    dead_code,
    reason = "the types describe the format; `DraftReader`, which knows where each word stands, reads it"
)]

use std::collections::BTreeMap;
use std::str;

use schemars::JsonSchema;

/// Defines the tables of the format, and the keys of each, in the order in which messages list them. The schema keeps the line
/// breaks of the descriptions.
macro_rules! tables {
    ($($(#[$about:meta])* $keys:ident: struct $table:ident { $($(#[$of:meta])* $key:ident: $type:ty,)* })*) => {$(
        pub(crate) const $keys: &[&str] = &[$(bare(stringify!($key))),*];

        #[derive(JsonSchema)]
        #[schemars(deny_unknown_fields)]
        $(#[$about])*
        struct $table {
            $($(#[$of])* $key: $type,)*
        }
    )*};
}

/// Returns the key that an identifier stands for: `final` for `r#final`.
const fn bare(key: &'static str) -> &'static str {
    match key.as_bytes() {
        [b'r', b'#', rest @ ..] => match str::from_utf8(rest) {
            Ok(key) => key,
            Err(_) => key,
        },
        _ => key,
    }
}

tables! {
/// A file with one machine, or with several.
#[schemars(extend("anyOf" = [{ "required": ["initial", "states"] }, { "required": ["machines"] }]))]
FILE_KEYS: struct DefinitionFile {
    /// The state that a machine begins in.
    initial: Option<String>,
    /// A state that runs beside every other.
    global: Option<String>,
    /// How often the game updates its characters per second, for durations in ticks. Without this key, the game's own rate
    /// applies.
    #[schemars(extend("exclusiveMinimum" = 0))]
    ticks_per_second: Option<f64>,
    /// Numbers by name, for conditions, scores, weights and durations (in seconds).
    constants: Option<BTreeMap<String, f64>>,
    /// Conditions by name, for other conditions.
    conditions: Option<BTreeMap<String, String>>,
    /// The properties of the machine, by name. `demeanor check --prove` proves them.
    properties: Option<BTreeMap<String, Property>>,
    /// The states by name.
    states: Option<BTreeMap<String, DefinedState>>,
    /// Several machines by name.
    machines: Option<BTreeMap<String, Machine>>,
}

/// One of several machines in a file.
MACHINE_KEYS: struct Machine {
    /// Another machine of the file, which this machine copies. A key that is written again replaces the copied key, also within a
    /// state.
    like: Option<String>,
    /// The state that a machine begins in.
    initial: Option<String>,
    /// A state that runs beside every other.
    global: Option<String>,
    /// The properties of the machine, by name. `demeanor check --prove` proves them.
    properties: Option<BTreeMap<String, Property>>,
    /// The states by name.
    states: Option<BTreeMap<String, DefinedState>>,
}

/// A property of a machine, which must hold at the end of each tick.
#[schemars(extend("oneOf" = [
    { "required": ["never"] },
    { "required": ["always"] },
    { "required": ["from", "reach", "within"] },
]))]
PROPERTY_KEYS: struct Property {
    /// A condition that does not hold at the end of any tick.
    never: Option<String>,
    /// A condition that holds at the end of each tick.
    always: Option<String>,
    /// A condition. After each tick at whose end it holds, `reach` holds at the end of a tick `within` the given time.
    from: Option<String>,
    /// The condition that follows `from`.
    reach: Option<String>,
    /// How long it may take: a fixed time.
    within: Option<Duration>,
}

/// One state.
STATE_KEYS: struct DefinedState {
    /// The behavior of an owner in this state: one or more words of the game's vocabulary. Without this key, the owner does
    /// nothing.
    behavior: Option<Behaviors>,
    /// The same as `behavior`.
    behaviour: Option<Behaviors>,
    /// The parameters of a behavior that is given by its name alone.
    params: Option<BTreeMap<String, serde_json::Value>>,
    /// A Rhai script with the functions `enter`, `update` or `exit`, which run after the callbacks of the behavior.
    script: Option<String>,
    /// How often the behavior is updated and the exits are tried, counted from the state's entry. Without it, in each tick.
    every: Option<Duration>,
    /// The condition for entering this state. Without this key, the state can always be entered.
    enter_when: Option<Condition>,
    /// The actions that run when this state has been entered, from the game's vocabulary.
    enter: Option<Actions>,
    /// The actions that run when this state is left.
    exit: Option<Actions>,
    /// The ways out, tried in order after each update: the first whose condition holds and whose guards allow it is taken.
    exits: Option<Vec<Exit>>,
    /// The states inside this state, by name. A child can also be written beside this state, with the key `parent`.
    states: Option<BTreeMap<String, DefinedState>>,
    /// The exit that is taken if several hold: the first exit in the file, the exit with the best `score`, or a random exit by
    /// `weight`. Without this key, the first exit.
    choose: Option<Choose>,
    /// The state that contains this state. The behavior and the exits of the parent run, too.
    parent: Option<String>,
    /// The child that is entered when this state is entered.
    initial: Option<String>,
    /// The initial state of each region of this state, instead of `initial`. The regions are active together, one child in each.
    /// In a table, each region has a name.
    regions: Option<Regions>,
    /// The region of the parent in which this state lies: the region's name, or its position, counted from 0. A region in a list
    /// has the name of its initial state. Without this key, the state lies in the region that begins with it, or else in the
    /// first region.
    region: Option<Region>,
    /// Whether the machine remembers the states that were active last inside this state, so that `resume` leads back to them.
    history: Option<bool>,
    /// Whether this state is an end: no exit of a parent or of the global state leads out of it, unless the exit has
    /// `even_final`.
    r#final: Option<bool>,
    /// Whether the game's code changes to this state, so that no exit has to lead to it.
    entry: Option<bool>,
    /// A machine that runs while this state is active: a machine of this file, another file, such as `patrol.fsm.toml`, or a
    /// machine of another file, such as `creatures.toml#imp`. An exit with `on = "done"` is tried when the machine reaches a
    /// final state.
    machine: Option<String>,
    /// Messages that the ancestors of this state and the global state do not get while this state is active.
    ignore: Option<Messages>,
    /// A text for the people who read the file. Tools show it.
    note: Option<String>,
}

/// A way out of a state.
#[schemars(extend("oneOf" = [
    { "required": ["to"] }, { "required": ["push"] }, { "required": ["pop"] }, { "required": ["resume"] }
]))]
EXIT_KEYS: struct Exit {
    /// The state to which the exit leads, or `$previous`: the state that was active before. An exit has one of `to`, `push`,
    /// `pop` and `resume`.
    to: Option<String>,
    /// The state that the exit pushes over the active states. They are suspended until an exit with `pop` leads back to them.
    push: Option<String>,
    /// Whether the exit leads back to the states that were suspended last.
    #[schemars(extend("const" = true))]
    pop: Option<bool>,
    /// A state with `history`. The exit leads to this state, and in it to the states that were active last.
    resume: Option<String>,
    /// How long after the entry of its state the exit opens. Without this key, the exit is open at once.
    after: Option<Duration>,
    /// A value of the game, instead of `after`: the time of the game's clock, in seconds, at which the exit opens.
    at: Option<String>,
    /// The condition of the exit, such as `health < 20 and not enemy_visible`. Without this key, it always holds.
    when: Option<Condition>,
    /// The message for which the exit waits. Without this key, the exit is tried after each update.
    on: Option<Messages>,
    /// How good the exit is, in a state with `choose = "best"`: a number, or a calculation such as `hunger * 2`. Without this
    /// key, 0.
    score: Option<Rank>,
    /// How likely the exit is beside the others, in a state with `choose = "random"`: a number, or a calculation. Without this
    /// key, 1.
    weight: Option<Rank>,
    /// How long the exit is not taken again after it was taken.
    cooldown: Option<Duration>,
    /// The actions that run when the exit is taken, after states are left and before states are entered, from the game's
    /// vocabulary.
    r#do: Option<Actions>,
    /// The values that are set when the exit is taken, each to true, to false, to a number or to a calculation such as
    /// `stamina - 20`.
    set: Option<BTreeMap<String, NewValue>>,
    /// Whether the exit is also tried as soon as its state is entered, before any update.
    always: Option<bool>,
    /// Whether the exit of a parent or of the global state is also taken while its target is active already.
    restart: Option<bool>,
    /// Whether the exit of a parent or of the global state also leads out of final states.
    even_final: Option<bool>,
    /// A text for the people who read the file. Tools show it.
    note: Option<String>,
}

/// A condition as a script.
SCRIPT_KEYS: struct ConditionScript {
    /// The script's file, beside this one.
    script: String,
}
}

/// The regions of a state.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Regions {
    /// The initial state of each region.
    List(#[schemars(length(min = 1, max = 16))] Vec<String>),
    /// The initial state of each region, by the region's name.
    Named(#[schemars(extend("minProperties" = 1, "maxProperties" = 16))] BTreeMap<String, String>),
}

/// One of the regions of a state.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Region {
    /// The region's name.
    Name(String),
    /// The region's position, counted from 0.
    Number(#[schemars(range(max = 15))] u8),
}

/// One behavior or more.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Behaviors {
    /// One behavior.
    One(Behavior),
    /// Several behaviors. They are entered and updated in this order, and left in the reverse order.
    Several(Vec<Behavior>),
}

/// A behavior of an owner.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Behavior {
    /// A word of the game's vocabulary.
    Name(String),
    /// A word with its parameters.
    WithParams(BehaviorWithParams),
}

/// A word of the game's vocabulary, and its parameters.
#[derive(JsonSchema)]
struct BehaviorWithParams {
    /// The word.
    name: String,
    /// The parameters of the behavior.
    #[serde(flatten)]
    params: BTreeMap<String, serde_json::Value>,
}

/// How an exit is chosen if several hold.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum Choose {
    /// The first exit in the file is taken.
    First,
    /// The exit with the highest `score` is taken.
    Best,
    /// A random exit is taken, by `weight`.
    Random,
}

/// One action or more.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Actions {
    /// One action.
    One(Action),
    /// Several actions, which run in this order.
    Several(#[schemars(length(min = 1))] Vec<Action>),
}

/// An action.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Action {
    /// A word of the game's vocabulary.
    Name(String),
    /// Words of the game's vocabulary, each with its number.
    WithNumber(BTreeMap<String, Rank>),
}

/// A new value for `set`.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum NewValue {
    /// True or false.
    Flag(bool),
    /// A number, or a calculation.
    Number(Rank),
}

/// One message or more.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Messages {
    /// One message.
    One(#[schemars(length(min = 1))] String),
    /// Several messages, any of which counts.
    Several(#[schemars(length(min = 1))] Vec<String>),
}

/// A number, or a calculation.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Rank {
    /// The number.
    Number(f64),
    /// A calculation with values, as in conditions.
    Text(String),
}

/// A length of time.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Duration {
    /// A number of seconds.
    Seconds(#[schemars(range(min = 0.0))] f64),
    /// A time with its unit: `10 ticks`, `0.3 s`, `200 ms`. Or a range, `2 s .. 4 s`, from which a time is drawn. Or the name of
    /// a value that has a number of seconds when the state is entered.
    Text(String),
}

/// A condition, as a text or as a script.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Condition {
    /// Comparisons and flags, joined by `and`, `or`, `not` and parentheses.
    Text(String),
    /// A Rhai script.
    Script(ConditionScript),
}

/// Returns the JSON Schema of a definition file, for editors that check and complete it.
///
/// # Examples
///
/// ```
/// let schema = demeanor::definition::schema();
/// assert_eq!(schema["anyOf"][0]["required"], serde_json::json!(["initial", "states"]));
/// ```
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(DefinitionFile).to_value()
}
