//! The engine of all scripts: the functions that scripts can call, the maximum size of their data, and when they are cut off.
//!
//! The engine counts operations. A function call counts as one operation, however long it takes. So each function that a script
//! can call must be fast even with the largest data. Therefore there are few functions, and data is small. The following is
//! left out:
//! - `sleep`, `timestamp`: scripts do not wait, and a run can be repeated.
//! - Function pointers and closures: a closure shares its variables. So its captured values are not counted as data, and can
//!   form cycles, which are never freed. `curry` doubles data that no limit counts.
//! - `sort`, `filter` and other functions with callbacks: the engine's own versions continue after they have been cut off.
//! - `parse_json`, `eval`, modules: all code of a script is in its file.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::{OnceLock, PoisonError};
use std::time::Instant;

use rhai::module_resolvers::DummyModuleResolver;
use rhai::packages::{
    ArithmeticPackage, BasicIteratorPackage, BasicMathPackage, BasicStringPackage, LogicPackage, MoreStringPackage,
    Package,
};
use rhai::{Array, Dynamic, Engine, EvalAltResult, INT, Map, NativeCallContext, Position};

use super::Told;
use super::budget::ScriptBudget;
use crate::format::outline::scopes::Meant;

/// How many operations pass between two reads of the clock, if real time is limited. Reading the clock takes about as long as
/// one operation.
const OPERATIONS_PER_LOOK: u64 = 16;

/// The maximum length of a string in a script, in bytes.
const LONGEST_STRING: usize = 1_000;

/// The maximum number of elements of an array or a map, including nested elements.
const MOST_ELEMENTS: usize = 200;

/// The maximum number of lines that one run prints.
const MOST_PRINTED: usize = 8;

/// The maximum number of characters of a printed line.
const LONGEST_PRINTED: usize = 200;

thread_local! {
    /// After how many operations the current run of this thread is cut off.
    static MOST_OPERATIONS: Cell<u64> = const { Cell::new(u64::MAX) };
    /// How many operations the run has used.
    static OPERATIONS: Cell<u64> = const { Cell::new(0) };
    /// When the run is cut off, if real time is limited.
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
    /// The lines that the run of this thread has printed.
    static PRINTED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// The reason why a run has failed.
pub(crate) struct Failure {
    pub(crate) why: String,
    /// Whether the run has exceeded its limit.
    pub(crate) is_cut_off: bool,
}

/// The number of operations that a run has used, and the lines that it has printed.
pub(crate) struct Effort {
    pub(crate) operations: u64,
    pub(crate) printed: Vec<String>,
}

/// Runs a part of a script, in a callback whose scripts have already used `used` operations.
pub(crate) fn run<R>(
    budget: ScriptBudget,
    used: u64,
    run: impl FnOnce(&Engine) -> Result<R, Box<EvalAltResult>>,
) -> (Result<R, Failure>, Effort) {
    let left = budget.callback.saturating_sub(used);
    MOST_OPERATIONS.set(budget.call.min(left));
    OPERATIONS.set(0);
    // If the deadline is beyond the range of the clock, there is no limit.
    DEADLINE.set(budget.real_time.and_then(|most| Instant::now().checked_add(most)));
    PRINTED.take();
    let result = run(engine()).map_err(|error| failure(&error, budget, left));
    (result, Effort { operations: OPERATIONS.get(), printed: PRINTED.take() })
}

/// Returns the engine, which compiles and runs all scripts.
pub(crate) fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let mut engine = Engine::new_raw();
        engine.set_max_call_levels(32);
        engine.set_max_expr_depths(64, 32);
        engine.set_max_string_size(LONGEST_STRING);
        engine.set_max_array_size(MOST_ELEMENTS);
        engine.set_max_map_size(MOST_ELEMENTS);
        engine.set_max_variables(1_000);
        engine.set_max_functions(100);
        engine.set_max_modules(0);
        engine.set_module_resolver(DummyModuleResolver::new());
        engine.set_allow_anonymous_fn(false);
        for symbol in ["eval", "Fn", "call", "curry"] {
            engine.disable_symbol(symbol);
        }
        engine.set_fail_on_invalid_map_property(true);
        engine.on_progress(|operations| {
            OPERATIONS.set(operations);
            let is_late = || DEADLINE.get().is_some_and(|deadline| Instant::now() >= deadline);
            if operations > MOST_OPERATIONS.get() {
                return Some(Dynamic::FALSE);
            }
            (operations % OPERATIONS_PER_LOOK == 0 && is_late()).then_some(Dynamic::TRUE)
        });
        know_constants(&mut engine);
        engine.on_print(print);
        engine.on_debug(|text, _, at| print(&format!("{}{text}", position(at))));
        ArithmeticPackage::new().register_into_engine(&mut engine);
        LogicPackage::new().register_into_engine(&mut engine);
        BasicMathPackage::new().register_into_engine(&mut engine);
        BasicStringPackage::new().register_into_engine(&mut engine);
        MoreStringPackage::new().register_into_engine(&mut engine);
        BasicIteratorPackage::new().register_into_engine(&mut engine);
        register_arrays(&mut engine);
        register_maps(&mut engine);
        for name in ["to_string", "to_debug", "print", "debug"] {
            engine.register_fn(name, |array: &mut Array| listed(array.iter().map(brief), "[", "]"));
            engine.register_fn(name, |map: &mut Map| {
                listed(map.iter().map(|(name, value)| format!("{}: {}", name.as_str(), brief(value))), "#{", "}")
            });
        }
        engine.register_fn("change_state", change_state);
        engine
    })
}

/// Makes the constants outside of functions visible inside functions, unless a local variable or a parameter hides them.
///
/// The engine could insert the constants when it compiles a script. But then it would also replace parameters with the same
/// name.
#[expect(deprecated, reason = "it is not, says its documentation, but may change")]
fn know_constants(engine: &mut Engine) {
    engine.on_var(|name, _, context| {
        let told = context.tag().read_lock::<Told>();
        let constant = told.as_ref().and_then(|told| told.constants.get(name));
        Ok(constant.filter(|_| !context.scope().contains(name)).cloned())
    });
}

fn register_arrays(engine: &mut Engine) {
    let length = |array: &mut Array| count(array.len());
    engine
        .register_fn("len", length)
        .register_get("len", length)
        .register_fn("is_empty", |array: &mut Array| array.is_empty())
        .register_fn("push", |array: &mut Array, element: Dynamic| array.push(element))
        .register_fn("pop", |array: &mut Array| array.pop().unwrap_or_default())
        .register_fn("remove", |array: &mut Array, at: INT| match usize::try_from(at) {
            Ok(at) if at < array.len() => array.remove(at),
            _ => Dynamic::UNIT,
        })
        .register_fn("clear", |array: &mut Array| array.clear())
        .register_fn("contains", |array: &mut Array, element: Dynamic| array.iter().any(|one| is_same(one, &element)));
}

fn register_maps(engine: &mut Engine) {
    engine
        .register_fn("len", |map: &mut Map| count(map.len()))
        .register_fn("is_empty", |map: &mut Map| map.is_empty())
        .register_fn("contains", |map: &mut Map, name: &str| map.contains_key(name))
        .register_fn("keys", |map: &mut Map| map.keys().map(|name| name.as_str().into()).collect::<Array>())
        .register_fn("values", |map: &mut Map| map.values().cloned().collect::<Array>())
        .register_fn("remove", |map: &mut Map, name: &str| map.remove(name).unwrap_or_default());
}

/// Returns the elements of an array or a map as text. The engine's own function takes 30 ms for the deepest map.
fn listed(elements: impl Iterator<Item = String>, begin: &str, end: &str) -> String {
    let mut text = begin.to_owned();
    for element in elements {
        if text.len() >= LONGEST_PRINTED {
            text.push_str("..");
            break;
        }
        if text.len() > begin.len() {
            text.push_str(", ");
        }
        text.push_str(&element);
    }
    text + end
}

/// Returns an element as text, without nested elements.
fn brief(element: &Dynamic) -> String {
    if element.is_array() {
        "[..]".into()
    } else if element.is_map() {
        "#{..}".into()
    } else {
        shown(&element.to_string())
    }
}

fn count(count: usize) -> INT {
    INT::try_from(count).unwrap_or(INT::MAX)
}

/// Whether two numbers, strings or flags are equal, or both values are `()`.
fn is_same(one: &Dynamic, other: &Dynamic) -> bool {
    match (number(one), number(other)) {
        (Some(one), Some(other)) => one.total_cmp(&other).is_eq(),
        (None, None) => {
            let text = |of: &Dynamic| of.clone().into_immutable_string().ok();
            let is_text = text(one).is_some_and(|one| Some(one) == text(other));
            let is_flag = one.as_bool().is_ok_and(|one| Ok(one) == other.as_bool());
            is_text || is_flag || (one.is_unit() && other.is_unit())
        }
        _ => false,
    }
}

/// Returns a number of a script, whether it is an integer or a float.
pub(crate) fn number(of: &Dynamic) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "what a script counts is small")]
    of.as_float().or_else(|_| of.as_int().map(|whole| whole as f64)).ok()
}

fn print(text: &str) {
    PRINTED.with_borrow_mut(|printed| {
        if printed.len() < MOST_PRINTED {
            printed.push(shown(text));
        }
    });
}

/// Returns a text of a script in the form for the log: limited in length, and without control characters, which could imitate
/// other log lines.
fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(LONGEST_PRINTED));
    for character in text.chars().take(LONGEST_PRINTED) {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    let is_longer = text.chars().nth(LONGEST_PRINTED).is_some();
    shown + if is_longer { ".." } else { "" }
}

#[expect(clippy::needless_pass_by_value, reason = "the engine passes it so")]
fn change_state(context: NativeCallContext<'_>, name: &str) -> Result<(), Box<EvalAltResult>> {
    let told = context.tag().and_then(Dynamic::read_lock::<Told>);
    let told = told.ok_or("there is no state to change here")?;
    match told.scopes.meant(name, Some(told.from)) {
        Meant::One(id) => *told.to.lock().unwrap_or_else(PoisonError::into_inner) = Some(id),
        Meant::Several => return Err(several_states(&shown(name)).into()),
        Meant::Nothing => return Err(unknown_state(&shown(name)).into()),
    }
    Ok(())
}

pub(super) fn unknown_state(name: &str) -> String {
    format!("unknown state `{name}`")
}

pub(super) fn several_states(name: &str) -> String {
    format!("`{name}` is the name of several states")
}

/// Returns the original error, without the function calls around it.
pub(crate) fn innermost(error: &EvalAltResult) -> &EvalAltResult {
    let mut innermost = error;
    while let EvalAltResult::ErrorInFunctionCall(_, _, inner, _) = innermost {
        innermost = inner;
    }
    innermost
}

/// Returns where a run failed, and why. `left` is the number of operations that were left for the callback before this run.
fn failure(error: &EvalAltResult, budget: ScriptBudget, left: u64) -> Failure {
    let innermost = innermost(error);
    let at = innermost.position();
    if let EvalAltResult::ErrorTerminated(is_late, _) = innermost {
        let ScriptBudget { call, callback, real_time } = budget;
        let why = match real_time {
            Some(most) if is_late.as_bool() == Ok(true) => format!("it runs longer than {most:?}"),
            _ if left < call => format!("the state's scripts take more than {callback} operations together"),
            _ => format!("it takes more than {call} operations"),
        };
        return Failure { why: format!("{}{why}", position(at)), is_cut_off: true };
    }
    let mut bare = innermost.to_string();
    if !at.is_none() {
        if let Some(end) = bare.rfind(" (line ") {
            bare.truncate(end);
        }
    }
    Failure { why: format!("{}{}", position(at), shown(&bare)), is_cut_off: false }
}

/// Returns a position as the prefix of a message.
pub(crate) fn position(at: Position) -> String {
    match (at.line(), at.position()) {
        (Some(line), Some(column)) => format!("line {line}, column {column}: "),
        (Some(line), None) => format!("line {line}: "),
        _ => String::new(),
    }
}

/// Returns the range of the word or character at a position. `shift` characters were put before the first line of the text.
pub(super) fn place(text: &str, at: Position, shift: usize) -> Range<usize> {
    let Some(line) = at.line() else { return 0..0 };
    let begin = text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
    let column = at.position().unwrap_or(1).saturating_sub(if line == 1 { shift } else { 0 }).max(1);
    let rest = text[begin..].lines().next().unwrap_or_default();
    let start = rest.char_indices().nth(column - 1).map_or(rest.len(), |(start, _)| start);
    let word = &rest[start..];
    let length = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
    let length = if length == 0 { word.chars().next().map_or(0, char::len_utf8) } else { length };
    begin + start..begin + start + length
}

#[cfg(test)]
mod tests {
    use rhai::{Dynamic, Scope};

    use super::{Failure, engine, run};
    use crate::format::script::budget::ScriptBudget;

    /// The largest data that the variables of a script can hold.
    const LARGEST: &str = "
        let flat = []; for i in 0..200 { flat.push(i); }
        let text = \"a\"; for i in 1..1000 { text += 'a'; }
        let texts = []; for i in 0..200 { texts.push(\"aaaaa\"); }
        let deep = []; for i in 0..199 { deep = [deep]; }
        let map = #{}; for i in 0..200 { map[`k${i}`] = i; }
        let maps = #{}; for i in 0..199 { maps = #{ m: maps }; }
        let mixed = #{}; for i in 0..99 { mixed = #{ m: [mixed] }; }
    ";

    /// Returns the slowest operations that a script can do with this data.
    fn calls() -> Vec<String> {
        let data = ["flat", "texts", "deep", "map", "maps", "mixed"];
        let each = "{}.to_string()|{}.to_debug()|{} == {}|let copy = {};|print({})|debug({})|type_of({})";
        let each = data.iter().flat_map(|data| each.split('|').map(|call| call.replace("{}", data)));
        let others = [
            "flat.contains(-1)",
            "texts.contains(text)",
            "map.keys()",
            "map.values()",
            "`${mixed}${mixed}`",
            "text.replace(\"a\", text)",
            "text.replace('a', text)",
            "text.replace(\"\", text)",
            "text.index_of(\"ab\")",
            "text.contains(text)",
            "text.split(\"\")",
            "text.split('a')",
            "text.to_chars()",
            "text.to_upper()",
            "text.pad(1000000000, \"ab\")",
            "text.remove('a')",
            "text.sub_string(500)",
            "text + deep",
            "text += maps",
            "for c in text { }",
            "for x in flat { }",
            "[deep, deep]",
            "#{ a: maps, b: maps }",
            "parse_int(text)",
            "7 ** 1000000000",
            "2.0 ** 1000000000.0",
            "for x in range(0, 9223372036854775807, 9223372036854775807) { }",
            "deep[0]",
            "deep.tag",
            "text.bytes",
            "text.to_blob()",
            "blob(1000000000)",
            "text[0..999]",
            "text.chars()",
        ];
        each.chain(others.map(str::to_owned)).collect()
    }

    /// Returns a scope in which the variables have the largest data.
    fn largest() -> Scope<'static> {
        let mut scope = Scope::new();
        let ast = engine().compile(LARGEST).unwrap();
        assert!(run(ScriptBudget::default(), 0, |engine| engine.run_ast_with_scope(&mut scope, &ast)).0.is_ok());
        scope
    }

    fn call(text: &str, scope: &Scope<'static>) -> Result<Dynamic, Failure> {
        let ast = engine().compile(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut scope = scope.clone();
        run(ScriptBudget::default(), 0, |engine| engine.eval_ast_with_scope(&mut scope, &ast)).0
    }

    /// The functions that drop, copy and print deep data work by recursion.
    #[test]
    fn no_call_with_the_largest_data_overflows_the_stack_or_is_cut_off() {
        let scope = largest();
        for one in calls() {
            assert!(call(&one, &scope).err().is_none_or(|failure| !failure.is_cut_off), "{one}");
        }
    }

    /// Measures the slowest operations of a script with the largest data: `cargo test --release --all-features --lib
    /// slowest_operations -- --ignored --nocapture`. One measurement: 44 µs for `maps == maps`, so that a call that does
    /// nothing else takes 4 s until it is cut off.
    #[test]
    #[ignore = "it measures, and takes minutes"]
    fn how_long_the_slowest_operations_take() {
        let scope = largest();
        let mut slowest: Vec<_> = calls()
            .into_iter()
            .map(|one| {
                let text = format!(
                    "loop {{ try {{ {one}{} }} catch {{ }} }}",
                    if one.ends_with(['}', ';']) { "" } else { ";" }
                );
                let ast = engine().compile(&text).unwrap();
                let mut scope = scope.clone();
                let begun = std::time::Instant::now();
                let (ran, effort) =
                    run(ScriptBudget::default(), 0, |engine| engine.run_ast_with_scope(&mut scope, &ast));
                let why = ran.err().map_or(String::new(), |failure| failure.why);
                (begun.elapsed(), effort.operations, one, why)
            })
            .collect();
        slowest.sort();
        for (time, operations, one, why) in slowest {
            let each = time / u32::try_from(operations).unwrap().max(1);
            println!("{time:>12.1?}, {operations:>6} operations, {each:>10.1?} each: {one}: {why}");
        }
    }
}
