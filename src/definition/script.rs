//! Conditions and behaviours written in Rhai.
//!
//! A script reads the vocabulary's values as `this.health`, writes the fields that the vocabulary exposes in the same way,
//! and asks for `change_state("flee")`. It works on a copy, which is written back when the script has returned: a script that
//! fails changes nothing.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use log::{error, info};
use rhai::module_resolvers::DummyModuleResolver;
use rhai::{AST, CallFnOptions, Dynamic, Engine, EvalAltResult, Map, NativeCallContext, Position, Scope};

use super::hook::Hook;
use super::vocabulary::scripts::Setter;
use super::vocabulary::{Value, Vocabulary};
use crate::owner::{Label, Owner};

/// The most steps of one run. A hundred thousand take some milliseconds.
const MOST_OPERATIONS: u64 = 100_000;

/// A script that answers a condition: an expression, or a function `when`.
pub(crate) struct ScriptCondition<T: Owner> {
    script: Script<T>,
    /// The state that it is a condition of.
    state: String,
}

/// A script with some of the functions `enter`, `update` and `exit`.
pub(crate) struct Hooks<T: Owner> {
    script: Script<T>,
    has: [bool; 3],
}

struct Script<T: Owner> {
    file: String,
    ast: AST,
    /// The values that the text mentions.
    reads: Vec<(String, Value<T>)>,
    /// The fields among them.
    writes: Vec<(String, Setter<T>)>,
    mentions_time: bool,
    states: Arc<HashMap<String, usize>>,
    failures: AtomicU64,
}

/// The change that a run asks for.
#[derive(Clone)]
struct AskedChange {
    states: Arc<HashMap<String, usize>>,
    to: Arc<Mutex<Option<usize>>>,
}

impl<T: Owner> ScriptCondition<T> {
    pub(crate) fn new(
        file: &str,
        state: &str,
        folder: Option<&Path>,
        vocabulary: &Vocabulary<T>,
        states: &Arc<HashMap<String, usize>>,
    ) -> Result<Self, String> {
        let text = vocabulary.scripts.text_of(file, folder)?;
        let has_function = |ast: &AST| ast.iter_functions().any(|f| f.name == "when" && f.params.is_empty());
        let as_written = engine().compile(&text);
        let ast = match as_written {
            Ok(ast) if has_function(&ast) => ast,
            // An expression: `this` is only known in functions.
            _ => {
                let before = "fn when() { ";
                engine().compile(format!("{before}{text}\n}}")).map_err(|error| located(&error, before.len()))?
            }
        };
        Ok(Self { script: Script::new(file, &text, ast, vocabulary, states), state: state.into() })
    }

    pub(crate) fn file(&self) -> &str {
        &self.script.file
    }

    pub(crate) fn holds(&self, owner: &T, cx: &T::Context<'_>, time_in_state: f64) -> bool {
        let run = self.script.call("when", owner, cx, time_in_state);
        let answer = run.and_then(|run| {
            let of_type = run.result.type_name();
            run.result.as_bool().map_err(|_| format!("the answer is neither true nor false, but of type {of_type}"))
        });
        answer.unwrap_or_else(|why| {
            self.script.fail(owner, "when", &self.state, &why);
            false
        })
    }
}

impl<T: Owner> Hooks<T> {
    pub(crate) fn new(
        file: &str,
        folder: Option<&Path>,
        vocabulary: &Vocabulary<T>,
        states: &Arc<HashMap<String, usize>>,
    ) -> Result<Self, String> {
        let text = vocabulary.scripts.text_of(file, folder)?;
        let ast = engine().compile(&text).map_err(|error| located(&error, 0))?;
        let has = [Hook::Enter, Hook::Update, Hook::Exit]
            .map(|hook| ast.iter_functions().any(|f| f.name == name_of(hook) && f.params.is_empty()));
        if has == [false; 3] {
            return Err("it has none of the functions `enter()`, `update()` and `exit()`".into());
        }
        Ok(Self { script: Script::new(file, &text, ast, vocabulary, states), has })
    }

    /// Runs a function, and returns the state that it asks for.
    pub(crate) fn run(
        &self,
        hook: Hook,
        state: &str,
        owner: &mut T,
        time_in_state: impl FnOnce(&T::Context<'_>) -> f64,
        cx: &T::Context<'_>,
    ) -> Option<usize> {
        if !self.has[hook as usize] {
            return None;
        }
        let name = name_of(hook);
        let ran = self.script.call(name, owner, cx, time_in_state(cx));
        let done = ran.and_then(|run| {
            let written = self.script.written(&run)?;
            for (set, number) in written {
                set(owner, number);
            }
            Ok(run.to)
        });
        done.unwrap_or_else(|why| {
            self.script.fail(owner, name, state, &why);
            None
        })
    }
}

/// What came of a run.
struct Run {
    result: Dynamic,
    before: Map,
    after: Map,
    to: Option<usize>,
}

impl<T: Owner> Script<T> {
    fn new(file: &str, text: &str, ast: AST, vocabulary: &Vocabulary<T>, states: &Arc<HashMap<String, usize>>) -> Self {
        let is_mentioned = |name: &str| text.contains(name);
        let reads = vocabulary.values().filter(|(name, _)| is_mentioned(name));
        let writes = vocabulary.scripts.fields.iter().filter(|(name, _)| is_mentioned(name));
        Self {
            file: file.into(),
            ast,
            reads: reads.map(|(name, value)| (name.clone(), value.clone())).collect(),
            writes: writes.map(|(name, set)| (name.clone(), Arc::clone(set))).collect(),
            mentions_time: is_mentioned("time_in_state"),
            states: Arc::clone(states),
            failures: AtomicU64::new(0),
        }
    }

    fn call(&self, function: &str, owner: &T, cx: &T::Context<'_>, time_in_state: f64) -> Result<Run, String> {
        let mut before = Map::new();
        for (name, value) in &self.reads {
            let value = match value {
                Value::Number(number) => Dynamic::from_float(number.read(owner, cx)),
                Value::Flag(flag) => Dynamic::from_bool(flag.read(owner, cx)),
            };
            before.insert(name.into(), value);
        }
        if self.mentions_time {
            before.insert("time_in_state".into(), Dynamic::from_float(time_in_state));
        }
        let asked = AskedChange { states: Arc::clone(&self.states), to: Arc::default() };
        let mut this = Dynamic::from_map(before.clone());
        let options =
            CallFnOptions::new().eval_ast(false).bind_this_ptr(&mut this).with_tag(Dynamic::from(asked.clone()));
        let result = engine()
            .call_fn_with_options::<Dynamic>(options, &mut Scope::new(), &self.ast, function, ())
            .map_err(|error| failure(&error))?;
        let to = *asked.to.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Run { result, before, after: this.try_cast::<Map>().unwrap_or_default(), to })
    }

    /// What a run has written.
    fn written(&self, run: &Run) -> Result<Vec<(&Setter<T>, f64)>, String> {
        let mut written = Vec::new();
        for (name, after) in &run.after {
            let Some(before) = run.before.get(name) else { continue };
            let as_number = |value: &Dynamic| {
                #[expect(clippy::cast_precision_loss, reason = "what a script counts is small")]
                value.as_float().or_else(|_| value.as_int().map(|number| number as f64)).ok()
            };
            let is_same = match (before.as_bool(), after.as_bool()) {
                (Ok(before), Ok(after)) => before == after,
                _ => as_number(before).map(f64::to_bits) == as_number(after).map(f64::to_bits),
            };
            if is_same {
                continue;
            }
            let Some((_, set)) = self.writes.iter().find(|(field, _)| field.as_str() == name.as_str()) else {
                return Err(format!("`{name}` can be read, but not written"));
            };
            let number =
                as_number(after).ok_or_else(|| format!("`{name}` is a number, not of type {}", after.type_name()))?;
            written.push((set, number));
        }
        Ok(written)
    }

    /// Logs a failure: the first, the second, the fourth and so on, since there may be one for every owner in every tick.
    #[cold]
    fn fail(&self, owner: &T, function: &str, state: &str, why: &str) {
        let times = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
        if !times.is_power_of_two() {
            return;
        }
        let (owner, file) = (Label(owner), &self.file);
        let times = if times == 1 { String::new() } else { format!(" ({times} times)") };
        error!("{owner}: script {file}, function {function}, in state {state}: {why}{times}");
    }
}

/// The engine of all scripts.
fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let mut engine = Engine::new();
        engine.set_max_operations(MOST_OPERATIONS);
        engine.set_max_call_levels(32);
        engine.set_max_expr_depths(64, 32);
        engine.set_max_string_size(10_000);
        engine.set_max_array_size(1_000);
        engine.set_max_map_size(1_000);
        engine.set_max_variables(1_000);
        engine.set_max_functions(100);
        engine.set_max_modules(0);
        engine.set_module_resolver(DummyModuleResolver::new());
        engine.disable_symbol("eval");
        engine.set_fail_on_invalid_map_property(true);
        engine.on_print(|text| info!("script: {text}"));
        engine.on_debug(|text, _, at| info!("script: {at:?}: {text}"));
        engine.register_fn("change_state", change_state);
        engine
    })
}

#[expect(clippy::needless_pass_by_value, reason = "the engine passes it so")]
fn change_state(context: NativeCallContext<'_>, name: &str) -> Result<(), Box<EvalAltResult>> {
    let asked = context.tag().and_then(|tag| tag.clone().try_cast::<AskedChange>());
    let asked = asked.ok_or("there is no state to change here")?;
    let index = asked.states.get(name).copied().ok_or_else(|| format!("unknown state `{name}`"))?;
    *asked.to.lock().unwrap_or_else(PoisonError::into_inner) = Some(index);
    Ok(())
}

fn name_of(hook: Hook) -> &'static str {
    match hook {
        Hook::Enter => "enter",
        Hook::Update => "update",
        Hook::Exit => "exit",
    }
}

/// Where a text cannot be read, and why; `shift` characters stand before its first line.
fn located(error: &rhai::ParseError, shift: usize) -> String {
    format!("{}{}", position(error.position(), shift), error.err_type())
}

/// Where a run failed, and why.
fn failure(error: &EvalAltResult) -> String {
    let mut innermost = error;
    while let EvalAltResult::ErrorInFunctionCall(_, _, inner, _) = innermost {
        innermost = inner;
    }
    let mut bare = innermost.to_string();
    let at = innermost.position();
    if !at.is_none() {
        if let Some(end) = bare.rfind(" (line ") {
            bare.truncate(end);
        }
    }
    format!("{}{bare}", position(at, 0))
}

fn position(at: Position, shift: usize) -> String {
    match (at.line(), at.position()) {
        (Some(1), Some(column)) => format!("line 1, column {}: ", column.saturating_sub(shift).max(1)),
        (Some(line), Some(column)) => format!("line {line}, column {column}: "),
        (Some(line), None) => format!("line {line}: "),
        _ => String::new(),
    }
}
