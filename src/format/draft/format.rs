//! The format of a definition file: its keys, as the JSON Schema for editors has them.

#![expect(
    dead_code,
    reason = "the types describe the format; `DraftReader`, which knows where each word stands, reads it"
)]

use std::collections::BTreeMap;

use schemars::JsonSchema;

/// The keys of a machine.
pub(crate) const MACHINE_KEYS: &[&str] = &["like", "initial", "global", "properties", "states"];

/// The keys of a file.
pub(crate) const FILE_KEYS: &[&str] =
    &["initial", "global", "ticks_per_second", "constants", "conditions", "properties", "states", "machines"];

/// The keys of a state.
pub(crate) const STATE_KEYS: &[&str] = &[
    "behavior",
    "behaviour",
    "params",
    "script",
    "every",
    "enter_when",
    "enter",
    "exit",
    "exits",
    "states",
    "choose",
    "parent",
    "initial",
    "regions",
    "region",
    "history",
    "final",
    "entry",
    "machine",
    "ignore",
    "note",
];

/// The keys of an exit.
pub(crate) const EXIT_KEYS: &[&str] = &[
    "to",
    "push",
    "pop",
    "resume",
    "after",
    "at",
    "when",
    "on",
    "score",
    "weight",
    "cooldown",
    "do",
    "set",
    "always",
    "restart",
    "even_final",
    "note",
];

/// The keys of a property.
pub(crate) const PROPERTY_KEYS: &[&str] = &["never", "always", "from", "reach", "within"];

/// The keys of a condition that is a script.
pub(crate) const SCRIPT_KEYS: &[&str] = &["script"];

/// A file with one machine, or with several.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("anyOf" = [{ "required": ["initial", "states"] }, { "required": ["machines"] }]))]
struct DefinitionFile {
    /// The state that a machine begins in.
    initial: Option<String>,
    /// A state that runs beside every other.
    global: Option<String>,
    /// How often the game updates its characters: how long a tick is, for durations in ticks. Without it, the game says.
    #[schemars(extend("exclusiveMinimum" = 0))]
    ticks_per_second: Option<f64>,
    /// Numbers by name, for conditions, scores, weights and durations (in seconds).
    constants: Option<BTreeMap<String, f64>>,
    /// Conditions by name, for other conditions.
    conditions: Option<BTreeMap<String, String>>,
    /// What must hold of the machine, by name. `demeanor check --prove` proves it.
    properties: Option<BTreeMap<String, Property>>,
    /// The states by name.
    states: Option<BTreeMap<String, DefinedState>>,
    /// Several machines by name.
    machines: Option<BTreeMap<String, Machine>>,
}

/// One of several machines in a file.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Machine {
    /// Another machine of the file, all of which is in this one too. What is written again replaces what is there: of a state,
    /// key by key.
    like: Option<String>,
    /// The state that a machine begins in.
    initial: Option<String>,
    /// A state that runs beside every other.
    global: Option<String>,
    /// What must hold of the machine, by name. `demeanor check --prove` proves it.
    properties: Option<BTreeMap<String, Property>>,
    /// The states by name.
    states: Option<BTreeMap<String, DefinedState>>,
}

/// What must hold at the end of each tick.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [
    { "required": ["never"] },
    { "required": ["always"] },
    { "required": ["from", "reach", "within"] },
]))]
struct Property {
    /// What does not hold at the end of any tick.
    never: Option<String>,
    /// What holds at the end of each tick.
    always: Option<String>,
    /// After each tick at whose end this holds, `reach` holds at the end of a tick `within` some time.
    from: Option<String>,
    /// What holds then.
    reach: Option<String>,
    /// How long it may take: a fixed time.
    within: Option<Duration>,
}

/// One state.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct DefinedState {
    /// What an owner in this state does: a word of the game's vocabulary, or several of them. Without one it does nothing.
    behavior: Option<Behaviors>,
    /// The same as `behavior`.
    behaviour: Option<Behaviors>,
    /// The parameters of a behavior that is given by its name alone.
    params: Option<BTreeMap<String, serde_json::Value>>,
    /// A Rhai script with the functions `enter`, `update` or `exit`, which run after the behavior's.
    script: Option<String>,
    /// How often the behavior is updated and the exits are tried, counted from the state's entry. Without it, in each tick.
    every: Option<Duration>,
    /// When this state can be entered. Without it, always.
    enter_when: Option<Condition>,
    /// What is done when this state has been entered: actions of the game's vocabulary.
    enter: Option<Actions>,
    /// What is done when this state is left.
    exit: Option<Actions>,
    /// The ways out, tried in order after each update: the first whose condition holds and whose guards allow it is taken.
    exits: Option<Vec<Exit>>,
    /// Which of the exits that hold is taken: the first one in the file, the one with the best `score`, or a random one by `weight`.
    /// Without it, the first one.
    choose: Option<Choose>,
    /// The states in this one, by name. Each may instead be written beside this one, with this one as its `parent`.
    states: Option<BTreeMap<String, DefinedState>>,
    /// The state around this one. Its behavior and exits run too.
    parent: Option<String>,
    /// The child to go on to when this state is entered.
    initial: Option<String>,
    /// The regions of this state, instead of `initial`: the initial state of each. They are active together, one child in each.
    /// In a table, each region has a name.
    regions: Option<Regions>,
    /// In which of its parent's regions this state lies: its name, or its position from 0. A region in a list has the name of
    /// its initial state. Without it, in the region that begins with this state, or else in the first one.
    region: Option<Region>,
    /// Whether the game can come back to the child that was left last.
    history: Option<bool>,
    /// Whether this state is an end: no exit of a parent or of the global state leads out of it, unless it says `even_final`.
    r#final: Option<bool>,
    /// Whether the game's code changes to this state, so that no exit has to lead to it.
    entry: Option<bool>,
    /// A machine that runs while this state is active: a machine of this file, or a file beside it, such as `patrol.fsm.toml`, or one
    /// of several in it, `creatures.toml#imp`. An exit with `on = "done"` is tried when it reaches a final state.
    machine: Option<String>,
    /// Messages that neither the states around this one nor the global state get while it is active.
    ignore: Option<Messages>,
    /// A text for the people who read the file. Tools show it.
    note: Option<String>,
}

/// A way out of a state.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [
    { "required": ["to"] }, { "required": ["push"] }, { "required": ["pop"] }, { "required": ["resume"] }
]))]
struct Exit {
    /// The state that it leads to, or `$previous`: the state that was active before. An exit has one of `to`, `push`, `pop` and
    /// `resume`.
    to: Option<String>,
    /// The state that it puts on top of the active ones, which are suspended until an exit with `pop` leads back to them.
    push: Option<String>,
    /// Whether it leads back to the states that were suspended last.
    pop: Option<bool>,
    /// The state with `history` that it leads to, down to the states that were active last in it.
    resume: Option<String>,
    /// How long after this state was entered the way is open. Without it, at once.
    after: Option<Duration>,
    /// The value with the time of the game's clock, in seconds, from which on the way is open. Instead of `after`.
    at: Option<String>,
    /// The condition, such as `health < 20 and not enemy_visible`. Without it, always.
    when: Option<Condition>,
    /// The message that is waited for. Without it, the exit is tried after each update.
    on: Option<Messages>,
    /// How good the exit is, in a state with `choose = "best"`: a number, or a calculation such as `hunger * 2`. Without it, 0.
    score: Option<Rank>,
    /// How likely the exit is beside the others, in a state with `choose = "random"`: a number, or a calculation. Without it, 1.
    weight: Option<Rank>,
    /// For how long after it was taken the exit is not taken again.
    cooldown: Option<Duration>,
    /// What is done when the exit is taken, between leaving and entering states: actions of the game's vocabulary.
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

/// The regions of a state.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Regions {
    /// The initial state of each.
    List(#[schemars(length(min = 1, max = 16))] Vec<String>),
    /// The initial state of each, by the region's name.
    Named(#[schemars(extend("minProperties" = 1, "maxProperties" = 16))] BTreeMap<String, String>),
}

/// One of the regions of a state.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Region {
    /// Its name.
    Name(String),
    /// Its position.
    Number(#[schemars(range(max = 15))] u8),
}

/// One behavior or more.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Behaviors {
    /// One of them.
    One(Behavior),
    /// Several: they are entered and updated in this order, and left in the reverse one.
    Several(Vec<Behavior>),
}

/// What an owner does.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Behavior {
    /// A word of the game's vocabulary.
    Name(String),
    /// The same with its parameters.
    WithParams(BehaviorWithParams),
}

/// A word of the game's vocabulary, and its parameters.
#[derive(JsonSchema)]
struct BehaviorWithParams {
    /// The word.
    name: String,
    /// Its parameters.
    #[serde(flatten)]
    params: BTreeMap<String, serde_json::Value>,
}

/// Which exit is taken of those that hold.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum Choose {
    /// The first one in the file.
    First,
    /// The one with the highest `score`.
    Best,
    /// A random one, by `weight`.
    Random,
}

/// One action or more.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Actions {
    /// One of them.
    One(Action),
    /// Several, in this order.
    Several(Vec<Action>),
}

/// What is done.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Action {
    /// A word of the game's vocabulary.
    Name(String),
    /// Such words, each with its number.
    WithNumber(BTreeMap<String, Rank>),
}

/// What a value is set to.
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
    /// One of them.
    One(String),
    /// Several, of which any counts.
    Several(Vec<String>),
}

/// A number.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Rank {
    /// The number.
    Number(f64),
    /// A calculation with values, as in conditions.
    Text(String),
}

/// How long something lasts.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Duration {
    /// A number of seconds.
    Seconds(#[schemars(range(min = 0.0))] f64),
    /// A time with its unit: `10 ticks`, `0.3 s`, `200 ms`. Two of them, `2 s .. 4 s`, of which one is drawn. Or the name of a
    /// value: as many seconds as that says when the state is entered.
    Text(String),
}

/// A condition, or a script that answers it.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Condition {
    /// Comparisons and flags, joined by `and`, `or`, `not` and parentheses.
    Text(String),
    /// A Rhai script.
    Script(ConditionScript),
}

/// A condition that is answered by a script.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct ConditionScript {
    /// The script's file, beside this one.
    script: String,
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{EXIT_KEYS, FILE_KEYS, MACHINE_KEYS, PROPERTY_KEYS, SCRIPT_KEYS, STATE_KEYS, schema};

    #[test]
    fn the_schema_has_the_keys_that_the_reader_knows() {
        let schema = schema();
        let keys = |of: &serde_json::Value| of["properties"].as_object().unwrap().keys().cloned().collect();
        let defined = |name: &str| keys(&schema["$defs"][name]);
        let known = |keys: &[&str]| keys.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        assert_eq!(known(FILE_KEYS), keys(&schema));
        assert_eq!(known(MACHINE_KEYS), defined("Machine"));
        assert_eq!(known(STATE_KEYS), defined("DefinedState"));
        assert_eq!(known(EXIT_KEYS), defined("Exit"));
        assert_eq!(known(PROPERTY_KEYS), defined("Property"));
        assert_eq!(known(SCRIPT_KEYS), defined("ConditionScript"));
    }
}
