//! Finds slips in a script when the file is loaded: code that can only fail when it runs, or whose effect is lost.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::OnceLock;

use rhai::{AST, ASTNode, Expr, FnCallExpr, Position, Stmt};

use super::engine::{engine, place, several_states, unknown_state};
use crate::format::name::Name;
use crate::format::outline::StateId;
use crate::format::outline::scopes::{Meant, Scopes};
use crate::format::problems::findings::nearest;
use crate::format::problems::mistake::listed;
use crate::format::script_effects::ScriptEffects;

/// The names that a script can use.
pub(crate) struct ScriptNames<'a> {
    /// The values that can be read, if they are known.
    pub(crate) values: Option<Vec<&'a str>>,
    /// Whether the value with this name can be written.
    pub(crate) is_field: &'a dyn Fn(&str) -> bool,
    /// The states to which the script can change. The script looks up their names from the state `from`.
    pub(crate) scopes: &'a Scopes,
    pub(crate) from: StateId,
}

/// The position of a slip, and its message.
pub(crate) type ScriptSlip = (Position, String);

/// The time in the state: a value that every script can read, although the game does not offer it.
const TIME: &str = "time_in_state";

/// The function with which a script asks for a change.
const CHANGE_STATE: &str = "change_state";

/// The maximum number of ranges in a `switch`. The engine compares all of them in one operation.
const MOST_RANGES: usize = 100;

/// Functions that the engine has without registration.
const BUILT_IN: [&str; 6] = ["print", "debug", "type_of", "is_def_var", "is_def_fn", "is_shared"];

/// Functions that Rhai scripts can call in other programs, but not here. The docs of `engine` explain why.
const LEFT_OUT: &str = "sort sort_by sort_desc map filter reduce sleep timestamp eval parse_json exit Fn";

/// Finds the first slip in a script.
pub(crate) fn check(ast: &AST, names: &ScriptNames<'_>) -> Option<ScriptSlip> {
    let own: HashMap<&str, Vec<&str>> = ast.iter_functions().map(|f| (f.name, f.params)).collect();
    let mut changed = HashSet::new();
    each_node(ast, |node| {
        if let ASTNode::Stmt(Stmt::Assignment(assigned)) = node {
            changed.extend(variable_within(&assigned.1.lhs).map(str::to_owned));
        }
    });
    let mut slips = Vec::new();
    let lint = Lint { names, own: &own, changed: &changed };
    each_node(ast, |node| slips.extend(lint.node(node)));
    slips.into_iter().min_by_key(|(at, _)| (at.line(), at.position()))
}

/// Returns the first place at which a script writes each value. The empty name stands for everything that is not a value of
/// `this`.
pub(crate) fn writes(ast: &AST) -> HashMap<String, Position> {
    let mut writes = HashMap::new();
    each_node(ast, |node| {
        if let ASTNode::Stmt(Stmt::Assignment(assigned)) = node {
            let to = &assigned.1.lhs;
            let (name, at) = value_of_this(to).unwrap_or_else(|| ("", to.position()));
            writes.entry(name.to_owned()).or_insert(at);
        }
    });
    writes
}

/// Returns the effects of a state's script. `None` if the text is not a script.
pub(crate) fn effects(text: &str) -> Option<ScriptEffects> {
    let ast = engine().compile(text).ok()?;
    let (mut named, mut leads_anywhere, mut writes) = (Vec::new(), false, Some(BTreeSet::new()));
    each_node(&ast, |node| match node {
        ASTNode::Expr(Expr::FnCall(call, _) | Expr::MethodCall(call, _)) | ASTNode::Stmt(Stmt::FnCall(call, _))
            if call.name == CHANGE_STATE =>
        {
            match &call.args[..] {
                [Expr::StringConstant(state, at)] => {
                    named.push(Name { text: state.to_string(), span: literal(text, state, *at) });
                }
                _ => leads_anywhere = true,
            }
        }
        ASTNode::Stmt(Stmt::Assignment(assigned)) => match (value_of_this(&assigned.1.lhs), &assigned.1.lhs) {
            (Some((name, _)), _) => writes.iter_mut().for_each(|all| all.extend([name.to_owned()])),
            (None, Expr::Variable(..)) => {}
            (None, Expr::Dot(parts, ..) | Expr::Index(parts, ..)) if matches!(parts.lhs, Expr::Variable(..)) => {}
            (None, _) => writes = None,
        },
        _ => {}
    });
    Some(ScriptEffects { named, leads_anywhere, writes })
}

/// Returns the range of a string in a script, including its quotes. It is empty if the string is not written as it is, but with
/// an escape or as a sum.
fn literal(text: &str, string: &str, at: Position) -> Range<usize> {
    let start = place(text, at, 0).start;
    let quoted = ['"', '`'].into_iter().map(|quote| format!("{quote}{string}{quote}"));
    let written = { quoted }.find(|quoted| text[start..].starts_with(quoted.as_str()));
    start..start + written.map_or(0, |written| written.len())
}

/// Visits each expression and statement of a script.
fn each_node(ast: &AST, mut see: impl FnMut(&ASTNode<'_>)) {
    ast.walk(&mut |nodes| {
        nodes.last().into_iter().for_each(&mut see);
        true
    });
}

struct Lint<'a> {
    names: &'a ScriptNames<'a>,
    /// The script's own functions, with their parameters.
    own: &'a HashMap<&'a str, Vec<&'a str>>,
    /// The variables and parameters whose parts the script writes, such as `t` in `t.speed = 2.0`.
    changed: &'a HashSet<String>,
}

impl Lint<'_> {
    fn node(&self, node: &ASTNode<'_>) -> Option<ScriptSlip> {
        match node {
            ASTNode::Expr(expr @ (Expr::Dot(..) | Expr::Index(..))) => {
                value_of_this(expr).and_then(|(name, at)| self.value(name, at))
            }
            ASTNode::Expr(Expr::FnCall(call, at) | Expr::MethodCall(call, at))
            | ASTNode::Stmt(Stmt::FnCall(call, at)) => self.call(call, *at),
            ASTNode::Stmt(Stmt::Assignment(assigned)) => self.written(&assigned.1.lhs),
            ASTNode::Stmt(Stmt::Switch(switch, at)) => {
                let has_too_many = switch.1.ranges.len() > MOST_RANGES;
                has_too_many.then(|| (*at, format!("a `switch` has more than {MOST_RANGES} ranges")))
            }
            ASTNode::Stmt(Stmt::Var(declared, _, at)) => {
                let name = declared.0.as_str();
                let is_copy = matches!(declared.1, Expr::ThisPtr(_)) && self.changed.contains(name);
                is_copy.then(|| (*at, lost(name)))
            }
            _ => None,
        }
    }

    fn value(&self, name: &str, at: Position) -> Option<ScriptSlip> {
        let values = self.names.values.as_ref()?;
        if name == TIME || values.contains(&name) {
            return None;
        }
        Some((at, unknown_value(name, values.iter().copied())))
    }

    fn written(&self, to: &Expr) -> Option<ScriptSlip> {
        if let Expr::ThisPtr(at) = to {
            return Some((*at, "`this` cannot be written: write one of its values, as in `this.speed = 2.0`".into()));
        }
        let (name, at) = value_of_this(to)?;
        let is_known = self.names.values.as_ref()?.contains(&name) || name == TIME;
        (is_known && !(self.names.is_field)(name)).then(|| (at, not_written(name)))
    }

    fn call(&self, call: &FnCallExpr, at: Position) -> Option<ScriptSlip> {
        let name = call.name.as_str();
        if call.op_token.is_some() || !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return None;
        }
        if let (CHANGE_STATE, [Expr::StringConstant(state, at)]) = (name, &call.args[..]) {
            let ScriptNames { scopes, from, .. } = self.names;
            return match scopes.meant(state, Some(*from)) {
                Meant::One(_) => None,
                Meant::Several => {
                    let places = scopes.places(state, Some(*from));
                    let places: Vec<_> = places.iter().map(String::as_str).collect();
                    Some((*at, format!("{}: write one of {}", several_states(state), listed(&places))))
                }
                Meant::Nothing => {
                    let meant = nearest(state, scopes.names());
                    Some((*at, format!("{}{}", unknown_state(state), did_you_mean(meant))))
                }
            };
        }
        if let Some(params) = self.own.get(name) {
            let mut given = params.iter().zip(&call.args);
            return given.find_map(|(param, given)| match given {
                Expr::ThisPtr(at) if self.changed.contains(*param) => Some((*at, lost(param))),
                _ => None,
            });
        }
        if registered().contains(name) || BUILT_IN.contains(&name) {
            return None;
        }
        let known = registered().iter().map(String::as_str).chain(self.own.keys().copied());
        // A script that calls a function that is left out means exactly this function, so there is no suggestion.
        let meant = nearest(name, known).filter(|_| LEFT_OUT.split(' ').all(|left_out| left_out != name));
        Some((at, format!("there is no function `{name}`{}", did_you_mean(meant))))
    }
}

/// Returns the error text for a value that the game does not offer.
pub(crate) fn unknown_value<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    format!("`{name}` is not a value of the game{}", did_you_mean(nearest(name, known)))
}

/// Returns the error text for a value that cannot be written.
pub(crate) fn not_written(name: &str) -> String {
    format!("`{name}` can be read, but not written")
}

fn lost(name: &str) -> String {
    format!("`{name}` is a copy of `this`, so that what is written to it is lost: write to `this` itself")
}

fn did_you_mean(meant: Option<String>) -> String {
    meant.map_or(String::new(), |meant| format!(": did you mean `{meant}`?"))
}

/// Returns the value in `this.value` or `this["value"]`, and its position.
fn value_of_this(expr: &Expr) -> Option<(&str, Position)> {
    let (Expr::Dot(parts, ..) | Expr::Index(parts, ..)) = expr else { return None };
    let Expr::ThisPtr(_) = parts.lhs else { return None };
    let mut first = &parts.rhs;
    while let Expr::Dot(parts, ..) | Expr::Index(parts, ..) = first {
        first = &parts.lhs;
    }
    match first {
        Expr::Property(property, at) => Some((property.2.as_str(), *at)),
        Expr::StringConstant(name, at) => Some((name.as_str(), *at)),
        _ => None,
    }
}

/// Returns the variable whose part an expression names: `t` in `t.speed`.
fn variable_within(expr: &Expr) -> Option<&str> {
    let Expr::Dot(parts, ..) = expr else { return None };
    let Expr::Variable(variable, ..) = &parts.lhs else { return None };
    Some(variable.1.as_str())
}

/// Returns the names of the functions that scripts can call.
fn registered() -> &'static HashSet<String> {
    static NAMES: OnceLock<HashSet<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let signatures = engine().gen_fn_signatures(true);
        signatures
            .iter()
            .filter_map(|signature| signature.split('(').next())
            .map(|name| name.trim().to_owned())
            .collect()
    })
}
