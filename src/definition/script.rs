//! Conditions and behaviors written in Rhai.
//!
//! A script reads the vocabulary's values as `this.health`, writes the vocabulary's fields as `this.speed = 2.0`, and requests a
//! change with `change_state("flee")`. It works on a copy of the values. When the script has returned, the changed fields are
//! written to the owner. So a script that fails changes nothing.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use log::{error, info};
use rhai::{AST, CallFnOptions, Dynamic, Map, Position, Scope};

use super::closures::{Setter, Value};
use super::vocabulary::by_name::ByName;
use crate::format::beside::{FilesBeside, script_text};
use crate::format::hook::Hook;
use crate::format::name::Name;
use crate::format::outline::scopes::Scopes;
use crate::format::outline::{StateId, StateOutline};
use crate::format::problems::Findings;
use crate::format::script::budget::{ScriptBudget, Usage};
use crate::format::script::compiled::{Compiled, Purpose};
use crate::format::script::engine::{Failure, number, position};
use crate::format::script::lint::ScriptNames;
use crate::format::script::{Constants, HOOKS, Told, compiled, engine, lint, mistake, no_script, source};
use crate::owner::{Label, Owner};

/// How often a state's scripts may be cut off for an owner, because they exceed their budget. After that, they do not run for
/// this owner until it leaves the state.
pub(crate) const MOST_CUT_OFFS: u32 = 3;

/// The maximum number of lines that a script may print, for all owners together, until the file is reloaded.
const MOST_PRINTED: u64 = 100;

/// The names, texts and limits for compiling the scripts of a definition.
pub(crate) struct Offered<'a, T: Owner> {
    pub(crate) beside: Option<&'a FilesBeside>,
    pub(crate) values: &'a ByName<Value<T>>,
    pub(crate) setters: &'a ByName<Setter<T>>,
    /// The texts of scripts that the game offers, by the names of their files.
    pub(crate) texts: &'a BTreeMap<String, String>,
    /// The indices of the states, by id.
    pub(crate) indices: Arc<[usize]>,
    /// What names of states mean.
    pub(crate) scopes: Option<Arc<Scopes>>,
    pub(crate) budget: ScriptBudget,
}

/// A script of a state. It answers a condition, or it has some of the functions `enter`, `update` and `exit`.
pub(crate) struct Script<T: Owner> {
    state: StateId,
    name: String,
    /// Which of the functions in [`HOOKS`] the script has.
    has: [bool; 3],
    pub(crate) file: String,
    ast: AST,
    constants: Arc<Constants>,
    /// The values that the text mentions.
    reads: Vec<(String, Value<T>)>,
    /// The fields that the text mentions.
    writes: Vec<(String, Setter<T>)>,
    /// Where the text first writes each value, for messages about wrong writes. The empty name stands for all other writes.
    written_at: HashMap<String, Position>,
    /// All values that the game offers, for messages about unknown ones.
    known: Vec<String>,
    mentions_time: bool,
    /// The indices of the states, by id.
    indices: Arc<[usize]>,
    scopes: Arc<Scopes>,
    budget: ScriptBudget,
    /// How often a call has failed.
    failures: AtomicU64,
    /// How often the script has been stopped for an owner, because it was cut off too often.
    stops: AtomicU64,
    /// How many lines the script has printed.
    printed: AtomicU64,
}

/// The result of running a function of a state's script.
#[derive(Default)]
pub(crate) struct Ran {
    /// The index of the state to which the script has requested a change.
    pub(crate) to: Option<usize>,
    pub(crate) is_cut_off: bool,
    pub(crate) operations: u64,
}

/// The result of one call of the script engine.
struct ScriptRun {
    result: Dynamic,
    before: Map,
    after: Dynamic,
    to: Option<usize>,
}

impl<T: Owner> Script<T> {
    pub(crate) fn new(
        script: &Name,
        state: &StateOutline,
        purpose: Purpose,
        offered: &Offered<'_, T>,
        findings: &mut Findings,
    ) -> Option<Self> {
        let Offered { beside, values, setters, texts, indices, scopes, budget } = offered;
        let scopes = scopes.as_ref().expect("a machine with a script has its scopes");
        let file = &script.text;
        let text = match script_text(texts, file, *beside) {
            Ok(text) => text,
            Err(why) => return no_script(script, &why).fail(findings),
        };
        let names = ScriptNames {
            values: Some(values.iter().map(|(name, _)| name.as_str()).collect()),
            is_field: &|name| setters.get(name).is_some(),
            scopes,
            from: state.id(),
        };
        let Compiled { ast, constants, has } = match compiled::check(&text, purpose, *budget, &names) {
            Ok(compiled) => compiled,
            Err(unfit) => {
                let folder = beside.filter(|_| !texts.contains_key(file)).map(FilesBeside::folder);
                let mistake = mistake(unfit, &findings.source().name);
                findings.add_in(&Arc::new(source(folder, file, &text)), mistake);
                return None;
            }
        };
        let is_mentioned = |name: &str| text.contains(name);
        let reads = values.iter().filter(|(name, _)| is_mentioned(name));
        let writes = setters.iter().filter(|(name, _)| is_mentioned(name));
        Some(Self {
            state: state.id(),
            name: state.name().to_owned(),
            has,
            file: file.clone(),
            written_at: lint::writes(&ast),
            ast,
            constants: Arc::new(constants),
            reads: reads.map(|(name, value)| (name.clone(), value.clone())).collect(),
            writes: writes.map(|(name, set)| (name.clone(), Arc::clone(set))).collect(),
            known: values.iter().map(|(name, _)| name.clone()).collect(),
            mentions_time: is_mentioned("time_in_state"),
            indices: Arc::clone(indices),
            scopes: Arc::clone(scopes),
            budget: *budget,
            failures: AtomicU64::new(0),
            stops: AtomicU64::new(0),
            printed: AtomicU64::new(0),
        })
    }

    /// Answers a condition. `usage` is how much the scripts of the state have used for the owner. It is `None` where nothing is
    /// counted: for an `enter_when` (a count that all owners share would depend on their order), for the exits at the end of a
    /// linked machine, and in an explanation.
    pub(crate) fn holds(&self, owner: &T, cx: &T::Context<'_>, time_in_state: f64, usage: Option<&Usage>) -> bool {
        let unused = Usage::default();
        let usage = usage.unwrap_or(&unused);
        let so_far = usage.cut_offs.get();
        if so_far >= MOST_CUT_OFFS {
            return false;
        }
        let (run, operations) = self.call("when", owner, cx, time_in_state, usage.operations.get());
        usage.operations.set(usage.operations.get() + operations);
        let answer = run.and_then(|run| {
            let why = format!("the answer is neither true nor false, but of type {}", run.result.type_name());
            run.result.as_bool().map_err(|_| Failure { why, is_cut_off: false })
        });
        answer.unwrap_or_else(|why| {
            let is_cut_off = self.fail(owner, "when", why, so_far);
            usage.cut_offs.set(so_far + u32::from(is_cut_off));
            false
        })
    }

    /// Runs a function for an owner, and writes the changed fields to it. `cut_offs` is how often the state's scripts have
    /// already been cut off for this owner.
    pub(crate) fn run(
        &self,
        hook: Hook,
        owner: &mut T,
        time_in_state: impl FnOnce(&T::Context<'_>) -> f64,
        cx: &T::Context<'_>,
        cut_offs: u32,
    ) -> Ran {
        if !self.has[hook as usize] || cut_offs >= MOST_CUT_OFFS {
            return Ran::default();
        }
        let name = HOOKS[hook as usize];
        let (ran, operations) = self.call(name, owner, cx, time_in_state(cx), 0);
        let done = ran.and_then(|run| {
            let written = self.written(&run).map_err(|why| Failure { why, is_cut_off: false })?;
            for (set, number) in written {
                set(owner, number);
            }
            Ok(Ran { to: run.to, is_cut_off: false, operations })
        });
        done.unwrap_or_else(|why| Ran { to: None, is_cut_off: self.fail(owner, name, why, cut_offs), operations })
    }

    /// Calls a function. The scripts of the current callback have already used `used` operations. Also returns the number of
    /// operations of this call.
    fn call(
        &self,
        function: &str,
        owner: &T,
        cx: &T::Context<'_>,
        time_in_state: f64,
        used: u64,
    ) -> (Result<ScriptRun, Failure>, u64) {
        let before = self.read(owner, cx, time_in_state);
        let told = Told {
            constants: Arc::clone(&self.constants),
            scopes: Arc::clone(&self.scopes),
            from: self.state,
            to: Arc::default(),
        };
        let mut this = Dynamic::from_map(before.clone());
        let options =
            CallFnOptions::new().eval_ast(false).bind_this_ptr(&mut this).with_tag(Dynamic::from(told.clone()));
        let (result, effort) = engine::run(self.budget, used, |engine| {
            engine.call_fn_with_options::<Dynamic>(options, &mut Scope::new(), &self.ast, function, ())
        });
        self.print(owner, &effort.printed);
        let to = told.to.lock().unwrap_or_else(PoisonError::into_inner).map(|id| self.indices[id.index()]);
        (result.map(|result| ScriptRun { result, before, after: this, to }), effort.operations)
    }

    /// Returns the current values of the owner, which become `this` in the script.
    fn read(&self, owner: &T, cx: &T::Context<'_>, time_in_state: f64) -> Map {
        let mut values = Map::new();
        for (name, value) in &self.reads {
            let value = match value {
                Value::Number(number) => Dynamic::from_float(number.read(owner, cx)),
                Value::Flag(flag) => Dynamic::from_bool(flag.read(owner, cx)),
            };
            values.insert(name.into(), value);
        }
        if self.mentions_time {
            values.insert("time_in_state".into(), Dynamic::from_float(time_in_state));
        }
        values
    }

    /// Returns the fields that a run has written, with their new values.
    fn written(&self, run: &ScriptRun) -> Result<Vec<(&Setter<T>, f64)>, String> {
        let Ok(after) = run.after.as_map_ref() else {
            return Err("`this` cannot be written: write one of its values, as in `this.speed = 2.0`".into());
        };
        if let Some(name) = run.before.keys().find(|name| !after.contains_key(*name)) {
            return Err(format!("`{name}` has been taken out of `this`"));
        }
        let mut written = Vec::new();
        for (name, after) in after.iter() {
            let written_at = self.written_at.get(name.as_str()).or_else(|| self.written_at.get(""));
            let at = || written_at.map_or(String::new(), |at| position(*at));
            let Some(before) = run.before.get(name) else {
                let known = self.known.iter().map(String::as_str);
                return Err(format!("{}{}", at(), lint::unknown_value(name, known)));
            };
            let is_same = match (before.as_bool(), after.as_bool()) {
                (Ok(before), Ok(after)) => before == after,
                _ => number(before).map(f64::to_bits) == number(after).map(f64::to_bits),
            };
            if is_same {
                continue;
            }
            let Some((_, set)) = self.writes.iter().find(|(field, _)| field.as_str() == name.as_str()) else {
                return Err(format!("{}{}", at(), lint::not_written(name)));
            };
            let new = match before.as_bool() {
                Ok(_) => after.as_bool().ok().map(|is| f64::from(u8::from(is))).ok_or("true or false"),
                Err(_) => number(after).ok_or("a number"),
            };
            let new = new.map_err(|is| format!("{}`{name}` is {is}, not of type {}", at(), after.type_name()))?;
            written.push((set, new));
        }
        Ok(written)
    }

    /// Logs what a run has printed.
    fn print(&self, owner: &T, printed: &[String]) {
        for line in printed {
            let before = self.printed.fetch_add(1, Ordering::Relaxed);
            let (owner, file) = (Label(owner), &self.file);
            if before < MOST_PRINTED {
                info!(target: LOG, "{owner}: script {file}: {line}");
            } else if before == MOST_PRINTED {
                info!(target: LOG, "script {file} has printed {MOST_PRINTED} lines: no more are shown");
            }
        }
    }

    /// Logs the first failure, the second, the fourth, the eighth and so on, because there may be one for each owner in each
    /// tick. If the script has been cut off too often, also logs that it is stopped. Returns whether it was cut off this time.
    #[cold]
    fn fail(&self, owner: &T, function: &str, Failure { why, is_cut_off }: Failure, cut_offs: u32) -> bool {
        let place = format!("{}: script {}, function {function}, in state {}", Label(owner), self.file, self.name);
        if let Some(times) = now_and_then(&self.failures) {
            error!(target: LOG, "{place}: {why}{times}");
        }
        let cut_offs = cut_offs + 1;
        if is_cut_off && cut_offs >= MOST_CUT_OFFS {
            if let Some(times) = now_and_then(&self.stops) {
                error!(
                    target: LOG,
                    "{place}: it has been cut off {cut_offs} times: it is stopped for this owner until it leaves the state{times}"
                );
            }
        }
        is_cut_off
    }
}

/// The log target of scripts, which is the same as for the rest of a definition.
const LOG: &str = "demeanor::definition";

/// Counts an event. Returns a text with the count if the event should be logged: if the count is a power of two.
fn now_and_then(counter: &AtomicU64) -> Option<String> {
    let times = counter.fetch_add(1, Ordering::Relaxed) + 1;
    let said = if times == 1 { String::new() } else { format!(" ({times} times)") };
    times.is_power_of_two().then_some(said)
}
