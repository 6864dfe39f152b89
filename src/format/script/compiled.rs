//! Compiles the text of a script.

use std::ops::Range;

use rhai::{AST, Position, Scope};

use super::budget::ScriptBudget;
use super::engine::{self, Failure, engine, place, position};
use super::lint::{self, ScriptNames};
use super::{Constants, HOOKS};
use crate::format::problems::findings::nearest;

/// The text that is put before an expression to make it the body of a function, because `this` exists only in functions.
const BEFORE: &str = "fn when() { ";

/// The maximum length of a word in a script, in bytes.
const LONGEST_WORD: usize = 1_000;

/// A script that has been compiled.
pub(crate) struct Compiled {
    pub(crate) ast: AST,
    pub(crate) constants: Constants,
    /// For each function in [`HOOKS`], whether the script has it.
    pub(crate) has: [bool; 3],
}

/// The reason why a text is not a valid script, and the place.
#[derive(Debug, PartialEq)]
pub(crate) struct Unfit {
    pub(crate) why: String,
    pub(crate) at: Range<usize>,
}

/// The purpose of a script.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// It answers a condition, as an expression or with a function `when`.
    Condition,
    /// It has functions that a state calls.
    Hooks,
}

/// Checks and compiles a text. Also runs the statements outside of its functions, except for a condition that is written as an
/// expression.
pub(crate) fn check(
    text: &str,
    purpose: Purpose,
    budget: ScriptBudget,
    names: &ScriptNames<'_>,
) -> Result<Compiled, Unfit> {
    let has_function = |ast: &AST, name: &str| ast.iter_functions().any(|f| f.name == name && f.params.is_empty());
    let mut has = [false; 3];
    let ast = match (purpose, engine().compile(text)) {
        (Purpose::Hooks, Ok(ast)) => {
            has = HOOKS.map(|name| has_function(&ast, name));
            if let Some(unfit) = not_called(&ast, text) {
                return Err(unfit);
            }
            if has == [false; 3] {
                let why = "it has none of the functions `enter()`, `update()` and `exit()`".into();
                return Err(Unfit { why, at: 0..0 });
            }
            ast
        }
        (Purpose::Condition, Ok(ast)) if has_function(&ast, "when") => ast,
        (Purpose::Condition, compiled) if compiled.is_ok() || !text.contains("fn when") => {
            let ast = engine().compile(format!("{BEFORE}{text}\n}}"));
            let ast = ast.map_err(|error| unreadable(&error, text, BEFORE.len()))?;
            without_slips(&ast, text, BEFORE.len(), names)?;
            return Ok(Compiled { ast, constants: Constants::new(), has });
        }
        (_, compiled) => compiled.map_err(|error| unreadable(&error, text, 0))?,
    };
    without_slips(&ast, text, 0, names)?;
    let constants = constants(&ast, text, budget)?;
    Ok(Compiled { ast, constants, has })
}

/// Fails with the first slip that would otherwise appear only when the script runs.
fn without_slips(ast: &AST, text: &str, shift: usize, names: &ScriptNames<'_>) -> Result<(), Unfit> {
    if let Some((at, why)) = lint::check(ast, names) {
        return Err(Unfit { why, at: place(text, at, shift) });
    }
    // Long words are not allowed, because the engine looks up a name in one operation, however long the name is.
    let mut begin = 0;
    for word in text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_') {
        if word.len() > LONGEST_WORD {
            return Err(Unfit {
                why: format!("a word is longer than {LONGEST_WORD} bytes"),
                at: begin..begin + word.len(),
            });
        }
        begin += word.len();
    }
    Ok(())
}

/// Returns the error for a function that a state was probably meant to call, but that has parameters or a misspelled name.
fn not_called(ast: &AST, text: &str) -> Option<Unfit> {
    ast.iter_functions().find_map(|function| {
        let name = function.name;
        let at = text.match_indices(name).find(|(at, _)| text[..*at].trim_end().ends_with("fn"))?.0;
        let why = if HOOKS.contains(&name) {
            if function.params.is_empty() {
                return None;
            }
            format!("`{name}` is called without anything: write `fn {name}()`; what it needs is in `this`")
        } else {
            // A function that the script itself calls may have any name.
            let is_used = text.matches(name).count() > 1;
            let meant =
                nearest(name, HOOKS).filter(|meant| !is_used && ast.iter_functions().all(|f| f.name != meant))?;
            format!("nothing calls `{name}`: did you mean `{meant}`?")
        };
        Some(Unfit { why, at: at..at + name.len() })
    })
}

/// Returns the constants outside of a script's functions.
fn constants(ast: &AST, text: &str, budget: ScriptBudget) -> Result<Constants, Unfit> {
    let (mut scope, mut at) = (Scope::new(), Position::NONE);
    let (ran, _) = engine::run(budget, 0, |engine| {
        engine.run_ast_with_scope(&mut scope, ast).inspect_err(|error| at = engine::innermost(error).position())
    });
    ran.map_err(|Failure { why, .. }| {
        let why = why.strip_prefix(&position(at)).unwrap_or(&why).into();
        Unfit { why, at: place(text, at, 0) }
    })?;
    if let Some((name, ..)) = scope.iter_raw().find(|(_, is_constant, _)| !is_constant) {
        let why = format!(
            "`{name}` is a variable outside of the functions, which do not know it: write `const {name}`, or put it into a function"
        );
        return Err(Unfit { why, at: variable(text, name).unwrap_or(0..0) });
    }
    Ok(scope.iter_raw().map(|(name, _, value)| (name.to_owned(), value.clone())).collect())
}

fn unreadable(error: &rhai::ParseError, text: &str, shift: usize) -> Unfit {
    Unfit { why: error.err_type().to_string(), at: place(text, error.position(), shift) }
}

/// Returns the range of the name where a variable is declared.
fn variable(text: &str, name: &str) -> Option<Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).find_map(|(at, _)| {
        let before = text[..at].trim_end();
        let is_declared = before.len() < at && before.ends_with("let") && !text[at + name.len()..].starts_with(is_part);
        is_declared.then_some(at..at + name.len())
    })
}

#[cfg(test)]
mod tests {
    use super::{Purpose, ScriptBudget, ScriptNames, check};
    use crate::format::outline::StateId;
    use crate::format::outline::scopes::{Placed, Scopes};

    /// Returns the error for a text, and the part of the text that it refers to.
    fn told(text: &str, purpose: Purpose) -> (String, &str) {
        let scopes = Scopes::new(&[Placed { name: "flee", parent: None, root: None }]);
        let values = Some(vec!["speed"]);
        let names = ScriptNames { values, is_field: &|name| name == "speed", scopes: &scopes, from: StateId::new(0) };
        let unfit = check(text, purpose, ScriptBudget::default(), &names).err().expect("it is no script");
        (unfit.why, &text[unfit.at])
    }

    #[test]
    fn what_cannot_be_read_is_found_in_the_text() {
        let name = "Expecting name of a variable".to_owned();
        assert_eq!(told("fn update() {\n    let = 3;\n}", Purpose::Hooks), (name.clone(), "="));
        assert_eq!(told("// ä\nlet = 3; 4 < 5", Purpose::Condition), (name.clone(), "="));
        assert_eq!(told("let = 3; 4 < 5", Purpose::Condition), (name.clone(), "="));
        assert_eq!(told("fn when() { let = 3; }", Purpose::Condition), (name, "="));
        let (why, at) = told("const A = 3;\nconst B = missing(3);\nfn update() {}", Purpose::Hooks);
        assert_eq!((why.as_str(), at), ("there is no function `missing`", "missing"));
        let (why, at) = told("let letter = 1;\nfn update() { letter }", Purpose::Hooks);
        assert!(why.starts_with("`letter` is a variable outside of the functions"), "{why}");
        assert_eq!(at, "letter");
    }
}
